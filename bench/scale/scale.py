"""Time and memory of oscope's commands by the number of runs in a store and of points in a run; see run.sh."""

import math
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from figures import seconds

OSCOPE = os.environ["OSCOPE"]
HERE = Path(__file__).resolve().parent
WORK = Path(sys.argv[1])
TEMPLATE = WORK / "template.oscope.json"
MOST_RUNS = int(os.environ.get("RUNS", "10000"))
MOST_POINTS = int(os.environ.get("POINTS", "2000"))
ROUNDS = 5
BUDGET_S = 10
# An exponent near its bound is a matter of chance.
TOLERANCE = 0.15

rows = {}


def generate(first, last, *shape):
    """The exported runs from `first` to below `last`, in a folder of their own."""
    folder = WORK / "files"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    command = [sys.executable, HERE / "runs.py", TEMPLATE, folder, str(first), str(last), *map(str, shape)]
    subprocess.run(command, check=True)
    return sorted(folder.iterdir())


def peak_mib(command):
    """By GNU time: a child of this process would be charged with this process's own memory."""
    report = WORK / "peak"
    subprocess.run(["/usr/bin/time", "-f", "%M", "-o", report, *command], check=True, stdout=subprocess.DEVNULL)
    return int(report.read_text().split()[-1]) / 1024


def put(name, size, took_s, peak, bound):
    rows.setdefault((name, bound), []).append((size, took_s, peak))
    print(f"  {name}: {took_s:.3f} s, {peak:.1f} MiB", file=sys.stderr, flush=True)


def ask(name, size, bound, *command):
    """A question that can be put again and again: the median of its times."""
    command = [OSCOPE, *map(str, command)]
    peak = peak_mib(command)
    put(name, size, statistics.median(seconds(command) for _ in range(ROUNDS)), peak, bound)


def imported(name, size, store, files, bound):
    """Stores the files once and once more, in another store, for the memory that it takes."""
    command = [OSCOPE, "import", "--quiet", "--store"]
    took = seconds([*command, store, *files])
    peak = peak_mib([*command, WORK / "again.db", *files])
    for left in WORK.glob("again.db*"):
        left.unlink()
    if name:
        put(name, size, took, peak, bound)


def by_runs():
    count = 10
    while count <= MOST_RUNS:
        print(f"{count} runs", file=sys.stderr)
        store = WORK / f"{count}.db"
        at = ("--store", store)
        files = generate(0, count, 5, 5, "process.calls")
        imported("`import` of all", count, store, files, 1)
        out = WORK / "out"
        ask("`show`, the newest run", count, 1, "show", *at)
        ask("`show N`", count, 0, "show", count, *at)
        ask("`compare`, three runs with three", count, 0, "compare", "1,2,3", f"{count - 2},{count - 1},{count}", *at)
        ask("`history`, the list", count, 1, "history", *at)
        metric = ("process.calls.rate", "--at", "call=getpid")
        ask("`history` of a metric, 1000 runs at most", count, 1, "history", *metric, *at)
        ask("`history` of a metric, all runs", count, 1, "history", *metric, "--last", count, *at)
        ask("`report N`", count, 0, "report", count, "--force", "--output", out, *at)
        ask("`export N`", count, 0, "export", count, "--force", "--output", out, *at)
        ask("`run`, 1 point and 1 s", count, 0, "run", "process.calls", "--at", "call=getpid", "--at", "optimisation=3",
            "--budget", "1s", "--no-page", "--quiet", "--dir", WORK, *at)
        count *= 10


def by_points():
    for count in (1, 10, 100, 1000, MOST_POINTS):
        print(f"{count} points", file=sys.stderr)
        store = WORK / f"points-{count}.db"
        at = ("--store", store)
        imported("`import`", count, store, generate(0, 1, count), 1)
        imported(None, count, store, generate(1, 2, count), 1)
        out = WORK / "out"
        first = [OSCOPE, "show", "1", *at]
        took = seconds(first)
        put("`show`, the first time", count, took, peak_mib([OSCOPE, "show", "2", *at]), 1)
        ask("`show`, again", count, 1, "show", 1, *at)
        ask("`compare`, two runs", count, 1, "compare", 1, 2, *at)
        ask("`report`", count, 1, "report", 1, "--force", "--output", out, *at)
        ask("`export`", count, 1, "export", 1, "--force", "--output", out, *at)


def run_by_points():
    """What a run takes beyond its budget, and the memory of its main process: workers take what they measure."""
    for what in (["process.wakeup"], ["process.calls"], ["process"], ["process", "memory"], ["--profile", "thorough"]):
        command = [OSCOPE, "run", *what, "--budget", f"{BUDGET_S}s", "--no-page", "--dir", WORK, "--store", WORK / "run.db"]
        begin = time.perf_counter()
        said = open(WORK / "said", "w")
        child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=said)
        peak = 0.0
        while child.poll() is None:
            status = Path(f"/proc/{child.pid}/status").read_text()
            found = re.search(r"VmHWM:\s+(\d+)", status)
            peak = int(found[1]) / 1024 if found else peak
            time.sleep(0.002)
        took = time.perf_counter() - begin - BUDGET_S
        count = int(re.search(r"(\d+) points?", (WORK / "said").read_text())[1])
        put(f"`run`, beyond {BUDGET_S} s of budget", count, max(took, 0.0), peak, 1)


def exponent(found):
    """That of the last step: before it, much of the time is the start of the process."""
    (small, less, _), (large, more, _) = found[-2:]
    return math.log(max(more, 1e-3) / max(less, 1e-3)) / math.log(large / small)


def table(heading, names):
    print(f"\n| {heading} | s, by number | exponent (bound) | memory, MiB |\n| --- | --- | --- | --- |")
    worst = 0
    for (name, bound), found in rows.items():
        if name not in names:
            continue
        times = ", ".join(f"{size}: {took:.3g}" for size, took, _ in found)
        peaks = [peak for _, _, peak in found]
        power = exponent(found)
        verdict = "" if power <= bound + TOLERANCE else " **exceeded**"
        worst += bool(verdict)
        print(f"| {name} | {times} | {power:.2f} ({bound}){verdict} | {peaks[0]:.0f} to {peaks[-1]:.0f} |")
    return worst


def main():
    by_runs()
    of_runs = {name for name, _ in rows}
    by_points()
    run_by_points()
    worst = table("by the number of runs", of_runs)
    worst += table("by the points of a run", {name for name, _ in rows} - of_runs)
    sys.exit(1 if worst else 0)


if __name__ == "__main__":
    main()
