"""A small look-alike of the `requests` package over the task's own web.

It has what scripts use: the verb functions, `Session`, `Response` and the exceptions.
`timeout`, `verify`, `proxies` and the like are accepted and mean nothing here.
"""

import base64 as _base64
import http.client as _client
import json as _json
import sys as _sys
import types as _types
import urllib.parse as _parse

import _wildgym_web as _web


class RequestException(OSError):
    """Any failure of a request."""

    def __init__(self, *args, response=None, request=None):
        super().__init__(*args)
        self.response, self.request = response, request


class ConnectionError(RequestException):
    """No host answered."""


class HTTPError(RequestException):
    """The status is 400 or above and `raise_for_status` was asked."""


class Timeout(RequestException):
    """Never raised: requests here do not wait."""


class InvalidURL(RequestException, ValueError):
    """The URL is none."""


class MissingSchema(RequestException, ValueError):
    """The URL has no scheme."""


class JSONDecodeError(RequestException, _json.JSONDecodeError):
    """The body is not JSON."""

    def __init__(self, error):
        _json.JSONDecodeError.__init__(self, error.msg, error.doc, error.pos)
        self.response = self.request = None


class Headers(dict):
    """Header fields, found whatever the case of their names."""

    def __init__(self, pairs=()):
        super().__init__()
        for name, value in dict(pairs).items():
            self[name] = value

    def _key(self, name):
        wanted = str(name).lower()
        return next((key for key in self if key.lower() == wanted), name)

    def __setitem__(self, name, value):
        super().__setitem__(self._key(name), value)

    def __getitem__(self, name):
        return super().__getitem__(self._key(name))

    def __delitem__(self, name):
        super().__delitem__(self._key(name))

    def __contains__(self, name):
        return super().__contains__(self._key(name))

    def get(self, name, default=None):
        return super().get(self._key(name), default)

    def update(self, other=(), /):
        for name, value in dict(other).items():
            self[name] = value


class Response:
    """What came back."""

    def __init__(self, reply):
        self.status_code = reply.status
        self.url = reply.url
        self.headers = Headers()
        for name, value in reply.headers:
            known = self.headers.get(name)
            self.headers[name] = value if known is None else f"{known}, {value}"
        self.content = reply.body
        self.encoding = _web.charset(reply.headers)
        self.reason = _client.responses.get(reply.status, "")
        self.history = []

    @property
    def ok(self):
        return self.status_code < 400

    @property
    def text(self):
        return self.content.decode(self.encoding or "utf-8", "replace")

    @property
    def apparent_encoding(self):
        return self.encoding or "utf-8"

    def json(self, **options):
        try:
            return _json.loads(self.content, **options)
        except _json.JSONDecodeError as error:
            raise JSONDecodeError(error) from None

    def raise_for_status(self):
        if not self.ok:
            side = "Client" if self.status_code < 500 else "Server"
            text = f"{self.status_code} {side} Error: {self.reason} for url: {self.url}"
            raise HTTPError(text, response=self)

    def iter_content(self, chunk_size=1, decode_unicode=False):
        step = chunk_size or len(self.content) or 1
        for start in range(0, len(self.content), step):
            yield self.content[start : start + step]

    def iter_lines(self, decode_unicode=False, **_):
        yield from self.text.splitlines() if decode_unicode else self.content.splitlines()

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def __bool__(self):
        return self.ok

    def __iter__(self):
        return self.iter_content(128)

    def __repr__(self):
        return f"<Response [{self.status_code}]>"


def _with_params(url, params):
    if not params:
        return url
    if isinstance(params, (dict, list, tuple)):
        pairs = params.items() if isinstance(params, dict) else params
        params = _parse.urlencode([(k, v) for k, v in pairs if v is not None], doseq=True)
    parts = _parse.urlsplit(url)
    query = "&".join(filter(None, (parts.query, str(params))))
    return _parse.urlunsplit(parts._replace(query=query))


def _body(headers, data, json):
    if json is not None and not data:
        headers.setdefault("Content-Type", "application/json")
        return _json.dumps(json).encode("utf-8")
    if isinstance(data, (dict, list, tuple)):
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        return _parse.urlencode(data, doseq=True).encode("ascii")
    return data.read() if hasattr(data, "read") else data


class Session:
    """Requests that share headers and parameters."""

    def __init__(self):
        self.headers = Headers({"User-Agent": "python-requests", "Accept": "*/*"})
        self.params = {}
        self.auth = None
        self.cookies = {}

    def request(self, method, url, params=None, data=None, headers=None, json=None, auth=None,
                files=None, **_):
        if files is not None:
            raise NotImplementedError("`files` is not supported here; send the bytes as `data`")
        if not _parse.urlsplit(str(url)).scheme:
            raise MissingSchema(f"Invalid URL {url!r}: no scheme; perhaps https://{url}?")
        fields = Headers(self.headers)
        fields.update({k: v for k, v in (headers or {}).items() if v is not None})
        auth = auth or self.auth
        if isinstance(auth, (tuple, list)):
            pair = _base64.b64encode(":".join(map(str, auth)).encode()).decode("ascii")
            fields["Authorization"] = f"Basic {pair}"
        query = {**self.params, **params} if isinstance(params, dict) else params or self.params
        body = _body(fields, data, json)
        try:
            reply = _web.fetch(_with_params(str(url), query), method, fields, body)
        except OSError as error:
            raise ConnectionError(str(error)) from None
        return Response(reply)

    def get(self, url, **options):
        return self.request("GET", url, **options)

    def head(self, url, **options):
        return self.request("HEAD", url, **options)

    def options(self, url, **options):
        return self.request("OPTIONS", url, **options)

    def post(self, url, data=None, json=None, **options):
        return self.request("POST", url, data=data, json=json, **options)

    def put(self, url, data=None, **options):
        return self.request("PUT", url, data=data, **options)

    def patch(self, url, data=None, **options):
        return self.request("PATCH", url, data=data, **options)

    def delete(self, url, **options):
        return self.request("DELETE", url, **options)

    def mount(self, prefix, adapter):
        pass

    def close(self):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def request(method, url, **options):
    """Sends one request."""
    return Session().request(method, url, **options)


def get(url, params=None, **options):
    """Sends a `GET`."""
    return request("GET", url, params=params, **options)


def head(url, **options):
    """Sends a `HEAD`."""
    return request("HEAD", url, **options)


def options(url, **options):
    """Sends an `OPTIONS`."""
    return request("OPTIONS", url, **options)


def post(url, data=None, json=None, **options):
    """Sends a `POST`."""
    return request("POST", url, data=data, json=json, **options)


def put(url, data=None, **options):
    """Sends a `PUT`."""
    return request("PUT", url, data=data, **options)


def patch(url, data=None, **options):
    """Sends a `PATCH`."""
    return request("PATCH", url, data=data, **options)


def delete(url, **options):
    """Sends a `DELETE`."""
    return request("DELETE", url, **options)


session = Session
codes = _types.SimpleNamespace(ok=200, created=201, not_found=404, too_many_requests=429)

exceptions = _types.ModuleType("requests.exceptions")
for _class in (RequestException, ConnectionError, HTTPError, Timeout, InvalidURL, MissingSchema,
               JSONDecodeError):
    setattr(exceptions, _class.__name__, _class)
exceptions.ReadTimeout = exceptions.ConnectTimeout = Timeout
_sys.modules["requests.exceptions"] = exceptions
