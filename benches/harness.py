"""What the harness itself costs, beside Inspect AI: trials of three calls and an answer.

    python3 harness.py VENV [TRIALS …]

The virtual environment has `inspect-ai`. wildgym and the scripted model are those of
`target/release` (`cargo build --release --workspace --bins`). wildgym asks the scripted
model over HTTP in another process, which is not counted, sends the schemas of all its
tools, and calls its real encyclopedia; Inspect AI asks its mock model in its own process.
Processor time and memory are the whole process's, start and end included.
"""

import json
import pathlib
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).parent
RELEASE = HERE.parent / "target" / "release"
CALLS = 3


def suite(root):
    """Writes a suite of one task over a small encyclopedia."""
    task = root / "tasks" / "ds-river"
    articles = root / "sites" / "wiki.example" / "articles"
    (task / "reference").mkdir(parents=True)
    articles.mkdir(parents=True)
    (root / "suite.toml").write_text(
        'format = 1\nname = "harness"\nversion = "1"\ndescription = "One task"\n'
    )
    (root / "sites" / "wiki.example" / "site.toml").write_text(
        'title = "Wiki"\nlanguage = "en"\nkind = "encyclopedia"\n'
    )
    for name in ["River", "Bridge", "Mill", "Ferry"]:
        text = f"The **{name}** is one of the sights of the county. " * 4
        (articles / f"{name}.md").write_text(
            f'+++\ntitle = "{name}"\ndate = "2025-11-02"\n+++\n\n{text}\n'
        )
    (task / "task.toml").write_text(
        'format = 1\nid = "ds-river"\ntitle = "A river"\nscenario = "deep-search"\n'
        'domain = "geography"\nlanguage = "en"\nfactors = []\nnow = "2026-03-02T09:00:00Z"\n\n'
        '[environment]\nweb = "hermetic"\n\n[answer]\nkind = "number"\nvalue = 42.0\n'
    )
    (task / "instruction.md").write_text("How long is the river of the county, in miles?\n")
    (task / "reference" / "solution.toml").write_text(
        'format = 1\n\n[[round]]\n[[round.call]]\nname = "page"\ntool = "search_wiki"\n'
        'arguments = { entity = "river" }\n\n[answer]\nexpression = "page | length"\n'
    )


def watch(process, peak):
    """Notes the largest anonymous memory of a process, in MiB."""
    status = pathlib.Path(f"/proc/{process.pid}/status")
    while process.poll() is None:
        try:
            found = re.search(r"RssAnon:\s+(\d+) kB", status.read_text())
        except OSError:
            break
        if found:
            peak[0] = max(peak[0], int(found[1]) / 1024)
        time.sleep(0.02)


def measured(command):
    """Runs a command; returns its output, processor seconds, seconds and anonymous MiB."""
    before, start, peak = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter(), [0.0]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    watcher = threading.Thread(target=watch, args=(process, peak))
    watcher.start()
    output = process.stdout.read()
    process.wait()
    took = time.perf_counter() - start
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return output, used, took, peak[0]


def wildgym(trials, url, folder):
    command = [RELEASE / "wildgym", "run", folder / "suite", "--model", "scripted"]
    command += ["--base-url", url, "-k", str(trials), "--runs-dir", folder / "runs"]
    command += ["--name", f"r{trials}", "--json", "--quiet"]
    output, used, took, memory = measured(list(map(str, command)))
    passed = json.loads(output)["trials"]["pass"]
    if passed != trials:
        sys.exit(f"only {passed} of {trials} passed")
    return used, took, memory


def main():
    venv, counts = sys.argv[1], [int(n) for n in sys.argv[2:]] or [1000, 20000]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        suite(folder / "suite")
        command = [RELEASE / "scripted-model", "--rounds", str(CALLS + 1), "--tool", "search_wiki"]
        command += ["--arguments", '{"entity": "River"}']
        model = subprocess.Popen(list(map(str, command)), stdout=subprocess.PIPE, text=True)
        try:
            url = model.stdout.readline().strip()
            wildgym(50, url, folder)  # builds the search index once
            print("                 trials   processor        wall   anonymous memory")
            ours = [(trials, *wildgym(trials, url, folder)) for trials in counts]
            for trials, used, took, memory in ours:
                print(f"wildgym       {trials:9}  {used:8.2f} s  {took:8.2f} s  {memory:8.1f} MiB")
            run = folder / "runs" / f"r{counts[-1]}"
            _, used, took, memory = measured([str(RELEASE / "wildgym"), "report", str(run)])
            print(f"  its report  {counts[-1]:9}  {used:8.2f} s  {took:8.2f} s  {memory:8.1f} MiB")
        finally:
            model.kill()
    _, used, took, _ = measured([str(RELEASE / "wildgym"), "--version"])
    print(f"  --version                {used:8.3f} s  {took:8.3f} s")
    peer = [f"{venv}/bin/python3", str(HERE / "inspect_peer.py"), str(counts[0]), str(CALLS)]
    output, used, took, memory = measured(peer)
    inner = json.loads(output.strip().splitlines()[-1])
    if not inner["passed"]:
        sys.exit("Inspect AI did not pass")
    print(f"Inspect AI    {counts[0]:9}  {used:8.2f} s  {took:8.2f} s  {memory:8.1f} MiB")
    print(f"  its eval only            {inner['processor']:8.2f} s  {inner['wall']:8.2f} s")
    faster, grown = inner["processor"] / ours[0][1], ours[-1][3] / ours[0][3]
    print(f"processor time, eval only to all of wildgym: {faster:.1f} x")
    print(f"memory of {counts[-1]} trials to {counts[0]}: {grown:.2f} x")
    if faster < 40 or grown > 1.2 or ours[0][3] > 90:
        sys.exit("an aim is missed: 40 x, 1.2 x, 90 MiB")


main()
