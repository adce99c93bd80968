"""The same programs as `execute_code.rs`, under bubblewrap and a native Python.

    python3 bwrap_python.py /path/to/venv

The virtual environment has pandas and openpyxl; bubblewrap is on the PATH. Every run is
a new process in new namespaces, without a network, as a sandbox of this kind does it.
"""

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
PROGRAMS = [
    ("print", "print(1)", 40),
    ("group-by", (HERE / "group_by.py").read_text(), 20),
    ("workbook", (HERE / "workbook.py").read_text(), 10),
]


def sales():
    lines = ["shop,day,amount"]
    for row in range(10_000):
        amount = row * 2_654_435_761 % 2**32 % 100_000
        lines.append(f"s{row % 40},{row % 365},{amount // 100}.{amount % 100:02}")
    return "\n".join(lines) + "\n"


def command(venv, workspace, program):
    base = pathlib.Path(venv, "bin/python3").resolve().parent.parent
    binds = ["/usr", "/lib", "/lib64", "/bin", str(base)]
    arguments = ["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"]
    for path in dict.fromkeys(path for path in binds if pathlib.Path(path).exists()):
        arguments += ["--ro-bind", path, path]
    arguments += ["--ro-bind", venv, "/opt/venv", "--proc", "/proc", "--dev", "/dev"]
    arguments += ["--tmpfs", "/tmp", "--bind", workspace, "/workspace", "--chdir", "/workspace"]
    arguments += ["--uid", "65534", "--gid", "65534", "--cap-drop", "ALL"]
    return arguments + ["/opt/venv/bin/python3", "-c", program]


def main():
    venv = sys.argv[1]
    with tempfile.TemporaryDirectory() as workspace:
        pathlib.Path(workspace, "sales.csv").write_text(sales())
        pathlib.Path(workspace).chmod(0o777)
        for name, program, runs in PROGRAMS:
            took = []
            for _ in range(runs + 3):
                start = time.perf_counter()
                subprocess.run(
                    command(venv, workspace, program), check=True, stdout=subprocess.PIPE
                )
                took.append(time.perf_counter() - start)
            took = sorted(took[3:])
            median = statistics.median(took) * 1e3
            late = took[int(len(took) * 0.95)] * 1e3
            print(f"{name:<9} median {median:8.2f}ms  p95 {late:8.2f}ms  least {took[0] * 1e3:8.2f}ms")


main()
