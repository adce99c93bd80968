"""Runs one piece of code as a fresh `__main__`, and ends the instance with its status.

The value of a last expression is echoed, as in a notebook. A traceback starts at the
code's own first frame and shows its lines under the name `<code>`.

What a call touches of the frozen heap is copied page by page, so what few calls need is
left alone: generators are seeded when the code first looks at them, exit functions run
where there are any, and an instance that can simply return does.
"""

import ast
import atexit
import linecache
import logging
import os
import random
import sys
import traceback
import types

import numpy

NAME = "<code>"
STREAMS = (sys.stdout, sys.stderr)
SEEDED_LATE = (random, numpy.random, numpy.random.mtrand)
HANDLERS = len(logging._handlerList)
HOLES = []
# What packages registered for an exit before the snapshot has nothing to clear up.
atexit._clear()


class _Unseeded(types.ModuleType):
    """A module whose generator gets its seed at the first look."""

    seed = "0"

    def __getattribute__(self, name):
        for module in SEEDED_LATE:
            module.__class__ = types.ModuleType
        seed = _Unseeded.seed
        random.seed(int(seed, 16))
        numpy.random.seed([int(seed[at : at + 8], 16) for at in range(0, len(seed), 8)])
        return getattr(self, name)


def reseed(seed):
    """Makes `random` and numpy's global generator start at `seed`, a hexadecimal number."""
    _Unseeded.seed = seed
    for module in SEEDED_LATE:
        module.__class__ = _Unseeded


def execute(source):
    """Compiles and runs `source` in the namespace of `__main__`."""
    linecache.cache[NAME] = (len(source), None, source.splitlines(keepends=True), NAME)
    scope = sys.modules["__main__"].__dict__
    parts = split(source)
    if parts:
        head, last = parts
        if head is not None:
            exec(head, scope)
        sys.displayhook(eval(last, scope))
        return
    tree = ast.parse(source, NAME)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, NAME, "exec", dont_inherit=True), scope)
    if last is not None:
        exec(compile(ast.Interactive([last]), NAME, "single", dont_inherit=True), scope)


def split(source):
    """Compiles `source` without a tree where its last line is an expression of its own.

    If that line alone is an expression, and what stands before it is whole without it, then
    the two one after the other are the source. Trees cost as much as all else of a short call.
    """
    text = source.rstrip()
    at = text.rfind("\n") + 1
    if not text or text[at].isspace() or "__future__" in text:
        return None
    try:
        last = compile("\n" * text.count("\n", 0, at) + text[at:], NAME, "eval", 0, True)
        head = compile(text[:at], NAME, "exec", 0, True) if at else None
    except (SyntaxError, ValueError, OverflowError, MemoryError):
        return None
    return head, last


def report(error):
    """Writes the traceback of `error` without the frames of this module."""
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename == __file__:
        frames = frames.tb_next
    if isinstance(error, SyntaxError) and error.filename == NAME:
        frames = None
    try:
        traceback.print_exception(type(error), error.with_traceback(frames), frames)
    except BaseException:
        sys.__stderr__.write(f"{type(error).__name__}\n")


def status_of(stop):
    """Returns the exit status that a `SystemExit` asks for, and writes its text, if it has one."""
    code = stop.code
    if code is None:
        return 0
    if isinstance(code, int):
        return code & 0xFF
    print(code, file=sys.stderr)
    return 1


def leave():
    """Runs what the code registered for its end."""
    if atexit._ncallbacks():
        atexit._run_exitfuncs()
    if len(logging._handlerList) > HANDLERS:
        logging.shutdown()


def flush(streams):
    """Hands over all that was written, whatever the code did to its streams."""
    failed = False
    for stream in streams:
        try:
            stream.flush()
        except BaseException:
            failed = True
    return failed


def main(source, seed):
    """Runs `source`; returns when that went well, else ends the instance."""
    status, stopped = 0, False
    try:
        reseed(seed)
        execute(source)
    except SystemExit as stop:
        status, stopped = status_of(stop), True
    except BaseException as error:
        report(error)
        status = 1
    try:
        leave()
    except BaseException:
        status = status or 1
    # A stream that the code closed or put in the place of ours must not be asked again.
    changed = sys.stdout is not STREAMS[0] or sys.stderr is not STREAMS[1]
    streams = (sys.stdout, sys.stderr, *STREAMS) if changed else STREAMS
    if flush(streams) or changed or stopped or status:
        os._exit(status)


def fill_holes():
    """Fills what freed memory the heap has between its objects, for good: a call that
    allocates in such holes copies a page for each, and one behind them all does not."""
    kept = HOLES
    kept.append(bytes(1 << 20))
    end, size = id(kept[0]), 1 << 19
    while size > 600:
        piece = bytes(size)
        if id(piece) > end:
            size = size * 15 // 16
        else:
            kept.append(piece)
    # Room behind them, so that memory need not grow at once.
    bytes(4 << 20)
