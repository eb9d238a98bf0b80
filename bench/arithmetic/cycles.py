"""Cycles of latency: oscope's, the assembly's as multiples of its own addition, and llvm-mca's.

usage: cycles.py FOLDER, which arithmetic/run.sh has filled
"""

import json
import re
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median

sys.path.append(str(Path(__file__).parent.parent))
from peers import estimate


def published(folder):
    """llvm-mca's latencies, in the order of instructions.s."""
    path = folder / "published.txt"
    lines = path.read_text().splitlines() if path.exists() else []
    rows = [re.match(r"\s*\d+\s+(\d+)\s+\d+\.\d+\s+[\sU*]*[a-z]", line) for line in lines]
    return [row[1] for row in rows if row]


def main(folder):
    own, assembly = defaultdict(list), defaultdict(list)
    for line in (folder / "peers.tsv").read_text().splitlines():
        number, experiment, metric, peer, levels, value = line.split("\t")
        if metric != "latency" or peer != "assembly":
            continue
        levels = json.loads(levels)
        name = f"{levels['operation']}, {levels['type']}"
        assembly[name].append(float(value))
        found = estimate(folder, experiment, number, "latency_cycles", levels)
        if found:
            own[name].append(found["value"])
    tables = published(folder)
    additions = assembly["add, integer 64"]
    print("compute.arithmetic, cycles of latency:\n")
    print("| operation | oscope | assembly | llvm-mca |")
    print("| --- | ---: | ---: | ---: |")
    for index, (name, times) in enumerate(assembly.items()):
        mine = f"{median(own[name]):.2f}" if own[name] else "-"
        peer = median(time / addition for time, addition in zip(times, additions))
        table = tables[index] if index < len(tables) else "-"
        print(f"| {name} | {mine} | {peer:.2f} | {table} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
