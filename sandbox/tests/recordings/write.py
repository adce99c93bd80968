"""Writes WARC files as other programs do, with warcio. Argument: the folder to write into.

The files are kept beside this script, for machines without warcio.
"""

import gzip
import io
import sys

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

HTML = "<html><title>tides</title><p>high water at 09:12</p></html>".encode()
CHINESE = "潮汐表：高潮 09:12".encode()


def reply(writer, url, body, headers=(), status="200 OK"):
    http = StatusAndHeaders(status, list(headers), protocol="HTTP/1.1")
    return writer.create_warc_record(url, "response", payload=io.BytesIO(body), http_headers=http)


def request(writer, answer, url, method="GET", headers=(), body=b""):
    http = StatusAndHeaders(f"{method} / HTTP/1.1", list(headers), is_http_request=True)
    about = {"WARC-Concurrent-To": answer.rec_headers.get_header("WARC-Record-ID")}
    return writer.create_warc_record(
        url, "request", payload=io.BytesIO(body), http_headers=http, warc_headers_dict=about
    )


def write(path, version, compressed):
    with open(path, "wb") as file:
        writer = WARCWriter(file, gzip=compressed, warc_version=version)
        writer.write_record(writer.create_warcinfo_record(path, {"software": "a script"}))
        page = reply(writer, "http://a.test/", HTML, [("Content-Type", "text/html")])
        writer.write_request_response_pair(request(writer, page, "http://a.test/"), page)
        url = "http://a.test/chunked"
        chunks = b"5\r\n" + HTML[:5] + b"\r\n" + b"%x\r\n" % len(HTML[5:]) + HTML[5:]
        chunks += b"\r\n0\r\n\r\n"
        writer.write_record(reply(writer, url, chunks, [("Transfer-Encoding", "chunked")]))
        url = "http://a.test/gzip"
        body = gzip.compress(CHINESE, mtime=0)
        headers = [("Content-Encoding", "gzip"), ("Content-Length", str(len(body)))]
        writer.write_record(reply(writer, url, body, headers))
        same = writer.create_revisit_record(
            "http://a.test/again",
            digest=page.rec_headers.get_header("WARC-Payload-Digest"),
            refers_to_uri="http://a.test/",
            refers_to_date=page.rec_headers.get_header("WARC-Date"),
            http_headers=StatusAndHeaders("200 OK", [("X-Again", "yes")], protocol="HTTP/1.1"),
        )
        writer.write_record(same)
        url = "http://a.test/api?key=K1"
        answer = reply(writer, url, b'{"hits": 2}', [("Content-Type", "application/json")])
        asked = request(
            writer, answer, url, "POST", [("Content-Type", "application/json")], b'{"q":"tide","n":1}'
        )
        writer.write_request_response_pair(asked, answer)
        moved = reply(writer, "http://a.test/old", b"", [("Location", "/")], "301 Moved")
        writer.write_record(moved)
        for body in [b"first", b"second"]:
            writer.write_record(reply(writer, "http://a.test/news", body))


if __name__ == "__main__":
    folder = sys.argv[1]
    write(f"{folder}/warcio.warc", "1.0", False)
    write(f"{folder}/warcio.warc.gz", "1.1", True)
