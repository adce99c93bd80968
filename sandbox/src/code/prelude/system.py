"""What the standard library needs so that it works, or fails clearly, without a system.

Threads, processes and sockets refuse with a sentence, executors and `asyncio` run on the one thread there is,
and directory listings are sorted, so that one seed gives one result on every machine.
"""

import asyncio as _asyncio
import concurrent.futures as _futures
import os as _os
import socket as _socket
import subprocess as _subprocess
import sys as _sys
import threading as _threading
import time as _time

_list, _scan = _os.listdir, _os.scandir


def _listdir(path="."):
    return sorted(_list(path))


class _Scan:
    """The entries of a directory, by name; iterable and closable as the original."""

    def __init__(self, path="."):
        with _scan(path) as entries:
            self._entries = iter(sorted(entries, key=lambda entry: entry.name))

    def __iter__(self):
        return self

    def __next__(self):
        return next(self._entries)

    def close(self):
        self._entries = iter(())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def _start(self):
    raise RuntimeError(
        "this sandbox has no threads; call the function directly, or use asyncio or an executor, "
        "which run on the one thread there is"
    )


def _no_process(*_, **__):
    raise OSError("this sandbox has no processes and no shell; do it in Python")


def _no_socket(*_, **__):
    raise OSError("this sandbox has no sockets; use `fetch`, `requests` or `urllib.request`")


class _Executor(_futures.Executor):
    """Runs each task at once, on the thread that submits it."""

    def __init__(self, max_workers=None, *args, initializer=None, initargs=(), **options):
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if initializer is not None:
            initializer(*initargs)
        self._max_workers, self._closed = max_workers or 1, False

    def submit(self, fn, /, *args, **options):
        if self._closed:
            raise RuntimeError("cannot schedule new futures after shutdown")
        future = _futures.Future()
        future.set_running_or_notify_cancel()
        try:
            future.set_result(fn(*args, **options))
        except Exception as error:
            future.set_exception(error)
        return future

    def shutdown(self, wait=True, *, cancel_futures=False):
        self._closed = True


class _Selector:
    """Waits for time alone: there is nothing else to wait for."""

    def select(self, timeout=None):
        if timeout is None:
            raise RuntimeError("every task waits for something that cannot happen")
        if timeout > 0:
            _time.sleep(timeout)
        return []

    def close(self):
        pass


class _Loop(_asyncio.BaseEventLoop):
    """An event loop without sockets."""

    def __init__(self):
        super().__init__()
        self._selector = _Selector()

    def _process_events(self, event_list):
        pass

    def _write_to_self(self):
        pass

    def run_in_executor(self, executor, func, *args):
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    async def shutdown_default_executor(self, timeout=None):
        pass


def install():
    """Puts all of this in its place."""
    _os.listdir, _os.scandir = _listdir, _Scan
    _threading.Thread.start = _start
    _subprocess.Popen.__init__ = _os.system = _os.popen = _no_process
    _socket.socket.__init__ = _socket.create_connection = _no_socket
    _socket.getaddrinfo = _socket.gethostbyname = _no_socket
    _futures.ThreadPoolExecutor = _futures.ProcessPoolExecutor = _Executor
    _asyncio.new_event_loop = _asyncio.events.new_event_loop = _Loop
    # What was printed before a limit ends the code must not be lost in a buffer.
    _sys.stdout.reconfigure(line_buffering=True)
    _sys.dont_write_bytecode = True
    _sys.path[:] = ["/workspace", *(path for path in _sys.path if path not in ("", "/workspace"))]


install()
