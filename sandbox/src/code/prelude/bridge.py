"""Calls from the code to its host; nothing else leaves the sandbox.

Runs as the module `host`. A call is one JSON frame each way over the import
`host::call`; an error of the host becomes a `HostError` with its message.
"""

import json as _json

import _host


class HostError(OSError):
    """The host refused or failed a call."""


def call(name, arguments):
    """Makes the call `name` with `arguments`, which must be JSON, and returns its value."""
    frame = _json.dumps({"name": name, "arguments": arguments}, ensure_ascii=True)
    try:
        reply = _json.loads(_host.call(frame.encode("ascii")))
    except OSError as error:
        raise HostError(f"the host did not answer `{name}`: {error}") from None
    if "error" in reply:
        raise HostError(reply["error"])
    return reply["value"]


class _Tools:
    """The task's tools: `tools.call("search_wiki", query="ferry")` or `tools.search_wiki(...)`."""

    def call(self, name, /, **arguments):
        """Calls the tool `name` and returns the text that it answers."""
        return call("tool", {"name": name, "arguments": arguments})

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda **arguments: self.call(name, **arguments)


tools = _Tools()
