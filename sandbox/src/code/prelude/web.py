"""The network as executed code sees it: `fetch`, and what `urllib.request` needs.

Every request is a call to the host, which sends it through the task's own web. There
are no sockets: a host that this web does not know is unreachable.
"""

import base64 as _base64
import email.message as _message
import http.client as _client
import io as _io
import json as _json
import urllib.error as _error
import urllib.request as _request

import host as _bridge


class Reply:
    """What came back: `status`, `url`, `headers` (a list of pairs), `body` (bytes)."""

    def __init__(self, value):
        self.status = value["status"]
        self.url = value["url"]
        self.headers = [tuple(pair) for pair in value["headers"]]
        self.body = _base64.b64decode(value["body"])

    @property
    def text(self):
        """The body as text, in the charset that the headers name, else UTF-8."""
        return self.body.decode(charset(self.headers) or "utf-8", "replace")

    def json(self):
        """The body as JSON."""
        return _json.loads(self.body)

    def __repr__(self):
        return f"<Reply [{self.status}] {self.url}>"


def charset(headers):
    """Returns the charset that the content type names, if Python knows it."""
    fields = _message.Message()
    for name, value in headers:
        if name.lower() == "content-type":
            fields["content-type"] = value
            break
    name = fields.get_content_charset()
    try:
        return name and "".encode(name) is not None and name or None
    except LookupError:
        return None


def fetch(url, method="GET", headers=None, data=None):
    """Sends one request, follows redirects, and returns a `Reply`, whatever its status."""
    if isinstance(data, str):
        data = data.encode("utf-8")
    pairs = headers.items() if hasattr(headers, "items") else headers or []
    arguments = {
        "url": str(url),
        "method": str(method).upper(),
        "headers": [[str(name), str(value)] for name, value in pairs],
        "body": _base64.b64encode(bytes(data or b"")).decode("ascii"),
    }
    try:
        return Reply(_bridge.call("fetch", arguments))
    except _bridge.HostError as error:
        raise ConnectionError(str(error)) from None


class _Response(_io.BytesIO):
    """A reply in the shape that callers of `urlopen` expect."""

    def __init__(self, reply):
        super().__init__(reply.body)
        self.status = self.code = reply.status
        self.reason = self.msg = _client.responses.get(reply.status, "")
        self.url = reply.url
        self.headers = _client.HTTPMessage()
        for name, value in reply.headers:
            self.headers[name] = value

    def getcode(self):
        return self.status

    def geturl(self):
        return self.url

    def info(self):
        return self.headers

    def getheader(self, name, default=None):
        return self.headers.get(name, default)

    def getheaders(self):
        return self.headers.items()


def urlopen(url, data=None, timeout=None, *, context=None):
    """Opens a URL or a `urllib.request.Request`; a status of 400 and above is an `HTTPError`."""
    request = url if isinstance(url, _request.Request) else _request.Request(url)
    if data is not None:
        request.data = data
    if request.type not in ("http", "https"):
        raise _error.URLError(f"unknown url type: {request.type}")
    body = request.data
    if body is not None and not isinstance(body, (bytes, bytearray, memoryview)):
        body = body.read() if hasattr(body, "read") else b"".join(body)
    try:
        reply = fetch(request.full_url, request.get_method(), request.header_items(), body)
    except ConnectionError as error:
        raise _error.URLError(str(error)) from None
    response = _Response(reply)
    if reply.status >= 400:
        raise _error.HTTPError(
            reply.url, reply.status, response.reason, response.headers, response
        )
    return response


def _open(self, fullurl, data=None, timeout=None):
    return urlopen(fullurl, data, timeout)


_request.urlopen = urlopen
_request.OpenerDirector.open = _open
