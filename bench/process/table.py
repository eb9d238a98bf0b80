"""Medians of oscope and of each peer, and the ratio of the two with its spread over the rounds.

usage: table.py FOLDER, with peers.tsv and oscope-ROUND.json in it
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

# The level of the axis `call` that a peer's operation is set against.
CALL = {
    "getpid": "getpid",
    "clock": "clock_gettime",
    "clock_syscall": "clock_gettime, system call",
    "read": "read 1 byte",
    "write": "write 1 byte",
    "lseek": "lseek",
    "stat": "stat",
    "open": "open+close",
    "fopen": "fopen+fclose",
    "create": "create+delete",
    "mmap": "mmap+munmap",
    "malloc": "malloc+free",
    "signal_install": "signal, install",
    "signal_deliver": "signal, deliver",
    "thread": "thread create+join",
    "vfork": "vfork+exit+wait",
    "fork": "fork+exit+wait",
    "spawn": "posix_spawn+wait",
    "exec": "fork+exec+wait",
}
MEANS = {"pipe": "pipe", "unix": "Unix socket", "tcp": "TCP", "eventfd": "eventfd", "futex": "futex"}


CORES = {"one": "one core", "two": "two cores"}


def place(what):
    """Experiment, levels and metric of what a peer measured."""
    first, *rest = what.split("_")
    if what in CALL:
        return "process.calls", {"call": CALL[what], "optimisation": 3}, "rate"
    if first == "late":
        return "process.wakeup", {"waker": rest[0], "load": "idle"}, "late"
    levels = {"placement": CORES[rest[-1]]}
    if first in ("switch", "pass"):
        levels |= {"kind": "processes", "count": int(rest[0]), "working_set": int(rest[1])}
        return "process.switch", levels, first
    levels["mechanism"] = MEANS[rest[0]]
    if first == "stream":
        return "process.ipc", levels | {"message_size": 65536}, "bandwidth"
    smallest = {"eventfd": 8, "futex": 4}.get(rest[0], 1)
    return "process.ipc", levels | {"message_size": smallest}, "round_trip"


def oscope(run, what):
    """What oscope found, in the unit of the peer; None where it is not sound."""
    identity, levels, metric = place(what)
    for experiment in run["experiments"]:
        for point in experiment["points"] if experiment["id"] == identity else []:
            if any(levels.get(axis) != level for axis, level in point["levels"].items()):
                continue
            for estimate in point["estimates"]:
                if estimate["metric"] == metric and estimate["verdict"] == "sound":
                    return 1e9 / estimate["value"] if metric == "rate" else estimate["value"]
    return None


def main(folder):
    own, theirs, ratios = defaultdict(list), defaultdict(list), defaultdict(list)
    runs = {}
    for line in (folder / "peers.tsv").read_text().splitlines():
        round_number, tool, what, value = line.split("\t")
        if round_number not in runs:
            runs[round_number] = json.loads((folder / f"oscope-{round_number}.json").read_text())
        mine, peer = oscope(runs[round_number], what), float(value)
        if mine is None:
            continue
        key = (what, tool)
        own[key].append(mine)
        theirs[key].append(peer)
        ratios[key].append(mine / peer)
    print(f"medians of {len(runs)} rounds, in ns (streams in MB/s)")
    print("ratio: oscope over the peer (least to most)")
    print(f"{'what':20}  {'peer':10}  {'oscope':>10}  {'peer':>10}  ratio")
    for what, tool in ratios:
        scale = 1e-6 if what.startswith("stream") else 1
        mine, peer, ratio = (statistics.median(v[what, tool]) for v in (own, theirs, ratios))
        spread = f"{min(ratios[what, tool]):.2f} to {max(ratios[what, tool]):.2f}"
        print(
            f"{CALL.get(what, what):26}  {tool:10}  {mine * scale:10.1f}  {peer * scale:10.1f}"
            f"  {ratio:.2f} ({spread})"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
