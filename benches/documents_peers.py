"""The files of `documents.rs`, read by openpyxl and pdfminer.six.

    python3 documents_peers.py DIR

`DIR` is what `cargo bench --bench documents -- DIR` left there. Run it with an interpreter
that has both packages. openpyxl reads in its read-only mode, the faster of its two, and
only values; imports are not counted. With `--large` the large files are read too, once.
"""

import pathlib
import resource
import statistics
import sys
import time

import openpyxl
from pdfminer.high_level import extract_text


def workbook(path):
    book = openpyxl.load_workbook(path, read_only=True, data_only=True)
    return sum(1 for sheet in book for _ in sheet.iter_rows(values_only=True))


def measure(path, read, runs):
    took = []
    for _ in range(runs):
        start = time.perf_counter()
        read(path)
        took.append(time.perf_counter() - start)
    median = statistics.median(took)
    size = path.stat().st_size / 1e6
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    print(
        f"{path.name:<16} {size:6.1f} MB  median {median:8.3f}s  {size / median:7.2f} MB/s"
        f"  peak memory {peak:4} MiB",
        flush=True,
    )


def main():
    folder = pathlib.Path(sys.argv[1])
    measure(folder / "sales-50k.xlsx", workbook, 3)
    measure(folder / "report-100.pdf", extract_text, 3)
    if "--large" in sys.argv:
        measure(folder / "sales-1m.xlsx", workbook, 1)
        measure(folder / "report-2000.pdf", extract_text, 1)


main()
