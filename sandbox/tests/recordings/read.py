"""Prints every record of a WARC file as warcio reads it, one JSON object a line."""

import json
import sys

from warcio.archiveiterator import ArchiveIterator

with open(sys.argv[1], "rb") as file:
    for record in ArchiveIterator(file, check_digests=True):
        body = record.content_stream().read()
        http = record.http_headers
        line = {
            "type": record.rec_type,
            "url": record.rec_headers.get_header("WARC-Target-URI"),
            "first": http and (http.protocol + " " + http.statusline),
            "headers": http and http.headers,
            "body": body.decode("utf-8", "replace"),
            "attempt": record.rec_headers.get_header("WARC-Wildgym-Attempt"),
            "digests": record.digest_checker.passed,
        }
        print(json.dumps(line))
