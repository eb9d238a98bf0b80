"""Medians of oscope and of each peer, and the ratio of the two with its spread over the rounds; then
the cycles beside those of the instruction tables.

usage: table.py FOLDER, with peers.tsv, oscope-ROUND.json and perhaps published.txt in it
"""

import json
import re
import statistics
import sys
from collections import defaultdict
from pathlib import Path

# The levels of oscope's axes that a peer's operation is set against, in the order of instructions.s.
OPERATIONS = {
    "add_u64": ("add", "integer 64"),
    "multiply_u64": ("multiply", "integer 64"),
    "divide_u64": ("divide", "integer 64"),
    "add_f64": ("add", "float 64"),
    "multiply_f64": ("multiply", "float 64"),
    "divide_f64": ("divide", "float 64"),
    "fused_f64": ("multiply and add", "float 64"),
    "root_f64": ("square root", "float 64"),
}


def divisions_of_an_event(largest):
    """Divisions by which sysbench finds the primes up to `largest`, as its source does."""
    count = 0
    for candidate in range(3, largest + 1):
        divisor = 2
        while divisor * divisor <= candidate:
            count += 1
            if candidate % divisor == 0:
                break
            divisor += 1
    return count


def oscope(folder, round_number):
    """Value by operation and metric, for Rust at optimisation 3, where it is sound."""
    run = json.loads((folder / f"oscope-{round_number}.json").read_text())
    (experiment,) = run["experiments"]
    names = {levels: name for name, levels in OPERATIONS.items()}
    found = {}
    for point in experiment["points"]:
        levels = point["levels"]
        name = names.get((levels["operation"], levels["type"]))
        if name and levels["optimisation"] == 3 and levels["compiler"] == "Rust":
            for estimate in point["estimates"]:
                if estimate["verdict"] == "sound":
                    found[name, estimate["metric"]] = estimate["value"]
    return found


def published(folder):
    """Latency in cycles by operation, as llvm-mca prints it."""
    path = folder / "published.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [re.match(r"\s*\d+\s+(\d+)\s+\d+\.\d+\s+[\sU*]*[a-z]", line) for line in lines]
    return dict(zip(OPERATIONS, (float(row[1]) for row in rows if row)))


def main(folder):
    rounds, own, theirs, ratios = {}, defaultdict(list), defaultdict(list), defaultdict(list)
    for line in (folder / "peers.tsv").read_text().splitlines():
        number, tool, name, kind, value = line.split("\t")
        if number not in rounds:
            rounds[number] = oscope(folder, number)
        peer_ns = float(value)
        if tool == "sysbench":
            peer_ns = 1e9 / (peer_ns * divisions_of_an_event(10000))
        key = (list(OPERATIONS).index(name), name, kind, tool)
        theirs[key].append(peer_ns)
        mine = rounds[number].get((name, kind))
        if mine is None:
            continue
        mine_ns = mine if kind == "latency" else 1e9 / mine
        own[key].append(mine_ns)
        ratios[key].append(mine_ns / peer_ns)
    print(f"medians of {len(rounds)} rounds, in ns; ratio: oscope over the peer (least to most)")
    print(f"{'operation':13}  {'kind':10}  {'peer':8}  {'oscope':>8}  {'peer':>8}  ratio")
    for key in sorted(ratios):
        _, name, kind, tool = key
        mine, peer, ratio = (statistics.median(v[key]) for v in (own, theirs, ratios))
        spread = f"{min(ratios[key]):.2f} to {max(ratios[key]):.2f}"
        print(f"{name:13}  {kind:10}  {tool:8}  {mine:8.3f}  {peer:8.3f}  {ratio:.2f} ({spread})")

    tables = published(folder)
    print("\ncycles of latency; those of the assembly are multiples of its own addition")
    print(f"{'operation':13}  {'oscope':>8}  {'assembly':>8}  {'llvm-mca':>8}")
    additions = theirs[0, "add_u64", "latency", "assembly"]
    for index, name in enumerate(OPERATIONS):
        key = (name, "latency_cycles")
        cycles = [found[key] for found in rounds.values() if key in found]
        shown = f"{statistics.median(cycles):.2f}" if cycles else "-"
        peers = zip(theirs[index, name, "latency", "assembly"], additions)
        peers = [peer / addition for peer, addition in peers]
        peer = f"{statistics.median(peers):.2f}" if peers else "-"
        print(f"{name:13}  {shown:>8}  {peer:>8}  {tables.get(name, '-'):>8}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
