"""Runs oscope and its peers in turn and prints tables of medians and ratios; see run.sh."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from figures import MIB, make_file, seconds, spread

OSCOPE = os.environ["OSCOPE"]
RANDOM_READS = os.environ["RANDOM_READS"]
SIZE = int(os.environ.get("SIZE_MIB", "1024")) * MIB
LARGEST = int(os.environ.get("LARGEST_MIB", "16384")) * MIB
SECONDS = "2"
ROUNDS = int(sys.argv[1])


def available(programs):
    """Those of the programs that are installed; names the others."""
    found = {}
    for name, command in programs.items():
        if shutil.which(command[0]):
            found[name] = command
        else:
            print(f"left out: {command[0]} is not installed", file=sys.stderr)
    return found


def evict(path):
    with open(path, "rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def read_in(path):
    with open(path, "rb") as file:
        while file.read(MIB):
            pass


def show(title, rows, unit, better="more"):
    """A table: medians, and the ratio of the first row to each other within the rounds."""
    print(f"\n### {title}\n\n| tool | {unit} | first row over it (least to most) |\n| --- | ---: | --- |")
    first = next(iter(rows.values()))
    for name, values in rows.items():
        ratios = [a / b for a, b in zip(first, values)]
        print(f"| {name} | {statistics.median(values):.4g} | {spread(ratios)} |")
    peers = [values for name, values in rows.items() if not name.startswith("oscope")]
    if peers:
        best = [max(of_round) for of_round in zip(*peers)]
        ratios = [a / b for a, b in zip(first, best)]
        print(f"\nfirst row over the best peer of each round: {spread(ratios)}")


def interleave(rows):
    """Runs each measurement in turn for a number of rounds; each round begins with the next one."""
    names = list(rows)
    results = {name: [] for name in names}
    for number in range(ROUNDS):
        for index in range(len(names)):
            name = names[(index + number) % len(names)]
            results[name].append(rows[name]())
    return results


def warm_sums(path, how):
    speed = lambda command: lambda: SIZE / seconds(command) / 1e9
    one = [OSCOPE, "--quiet", "file", "sum", "--threads", "1", path]
    rows = {
        "oscope file sum, 1 thread": speed(one),
        "oscope file sum, 2 threads": speed(one[:5] + ["2", path]),
        "oscope file sum, its own choice": speed([OSCOPE, "--quiet", "file", "sum", path]),
    }
    peers = available({
        "cat": ["cat", path],
        "dd bs=512K": ["dd", f"if={path}", "of=/dev/null", "bs=512K", "status=none"],
        "cksum": ["cksum", path],
        "xxhsum -H3": ["xxhsum", "-H3", path],
    })
    rows.update({name: speed(command) for name, command in peers.items()})
    show(f"Sum of a warm file of {SIZE // MIB} MiB, {how}", interleave(rows), "GB/s")


def cold_sums(path):
    def cold(command):
        def run():
            evict(path)
            return SIZE / seconds(command) / 1e9
        return run
    rows = {"oscope file sum": cold([OSCOPE, "--quiet", "file", "sum", path])}
    peers = available({
        "dd iflag=direct bs=1M": ["dd", f"if={path}", "of=/dev/null", "bs=1M", "iflag=direct", "status=none"],
        "fio direct, 1M, depth 8": [
            "fio", "--name=r", f"--filename={path}", "--rw=read", "--bs=1M", "--direct=1",
            "--iodepth=8", "--ioengine=libaio", "--allow_file_create=0", "--readonly",
        ],
    })
    rows.update({name: cold(command) for name, command in peers.items()})
    show(f"Sum of a cold file of {SIZE // MIB} MiB", interleave(rows), "GB/s")


def fio_iops(path, jobs, engine, lean):
    command = [
        "fio", "--name=r", f"--filename={path}", "--rw=randread", "--bs=4k", f"--ioengine={engine}",
        f"--size={SIZE}", "--time_based", f"--runtime={SECONDS}", f"--numjobs={jobs}", "--thread",
        "--group_reporting", "--output-format=json", "--readonly", "--invalidate=0",
    ]
    if lean:
        command += ["--gtod_reduce=1", "--norandommap", "--randrepeat=0"]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(output[output.index("{"):])["jobs"][0]["read"]["iops"]


def random_reads(path, jobs, engine):
    command = [RANDOM_READS, path, str(jobs), SECONDS, engine]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return float(output.split()[0])


def iops(path):
    has_fio = bool(available({"fio": ["fio"]}))
    for jobs in (1, 2):
        rows = {"oscope's loop, pread": lambda jobs=jobs: random_reads(path, jobs, "pread")}
        if has_fio:
            for engine, lean in (("psync", False), ("psync", True), ("pvsync2", True)):
                name = f"fio {engine}{', lean' if lean else ''}"
                rows[name] = lambda e=engine, l=lean, j=jobs: fio_iops(path, j, e, l)
        show(f"Random 4 KiB reads out of the page cache, {jobs} job(s)", interleave(rows), "reads/s")
    null = [1e9 / random_reads(path, 1, "null") for _ in range(ROUNDS)]
    print(f"\nthe loop alone, without the call: {statistics.median(null):.2f} ns a turn"
          f" ({min(null):.2f} to {max(null):.2f})")
    if has_fio:
        null = [1e9 / fio_iops(path, 1, "null", False) for _ in range(ROUNDS)]
        print(f"fio's loop alone (ioengine=null): {spread(null)} ns a turn")


def growth(directory):
    print("\n### Sparse files of growing size\n\n| size | s | ns/KiB | memory of the process, MiB |")
    print("| ---: | ---: | ---: | ---: |")
    path = os.path.join(directory, "sparse")
    size = 64 * MIB
    while size <= LARGEST:
        with open(path, "wb") as file:
            file.truncate(size)
        command = [OSCOPE, "--quiet", "file", "sum", "--method", "pread", "--threads", "1", path]
        evict(path)
        read_in(path)
        begin = time.perf_counter()
        child = os.posix_spawn(command[0], command, os.environ,
                               file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)])
        _, status, usage = os.wait4(child, 0)
        took = time.perf_counter() - begin
        assert status == 0
        print(f"| {size // MIB} MiB | {took:.3f} | {took * 1e9 * 1024 / size:.1f} |"
              f" {usage.ru_maxrss / 1024:.1f} |")
        os.remove(path)
        size *= 4


def memory_bandwidth(directory):
    """What one pass over memory gives, as memory.bandwidth says."""
    store = os.path.join(directory, "store")
    command = [OSCOPE, "run", "memory.bandwidth", "--json", "--quiet", "--no-page",
               "--store", store, "--dir", directory]
    output = subprocess.run(command, check=False, capture_output=True, text=True).stdout
    found = []

    def search(value):
        if isinstance(value, dict):
            for estimate in value.get("estimates", []):
                if estimate.get("metric") == "read":
                    found.append((json.dumps(value["levels"]), estimate["value"]))
            for inner in value.values():
                search(inner)
        elif isinstance(value, list):
            for inner in value:
                search(inner)

    search(json.loads(output))
    print("\nmemory.bandwidth, read, of the last blocks measured:")
    for point, centre in found[-4:]:
        print(f"  {point}: {centre / 1e9:.2f} GB/s")


def main():
    directory = tempfile.mkdtemp(prefix="oscope-bench-", dir=os.environ.get("DIR", "."))
    try:
        path = os.path.join(directory, "file")
        make_file(path, SIZE)
        warm_sums(path, "as it was written")
        evict(path)
        read_in(path)
        warm_sums(path, "as it was read in")
        iops(path)
        cold_sums(path)
        os.remove(path)
        growth(directory)
        memory_bandwidth(directory)
    finally:
        shutil.rmtree(directory)


main()
