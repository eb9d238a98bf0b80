"""Medians of oscope and of each peer, and the ratio of the two with its spread over the rounds.

usage: table.py FOLDER, with peers.tsv and oscope-ROUND.json in it
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

# What of oscope's a peer's operation is set against.
METRIC = {"read": "read", "memchr": "read", "write": "write", "memset": "write"}


def oscope(folder, round_number):
    """Sound bandwidths in B/s by (metric, block size), with base pages."""
    run = json.loads((folder / f"oscope-{round_number}.json").read_text())
    pages = f"{run['machine']['page_bytes'] // 1024} KiB pages"
    experiment = next(e for e in run["experiments"] if e["id"] == "memory.bandwidth")
    return {
        (estimate["metric"], point["levels"]["block_size"]): estimate["value"]
        for point in experiment["points"]
        if point["levels"]["pages"] == pages
        for estimate in point["estimates"]
        if estimate["verdict"] == "sound"
    }


def expected(own, operation, size):
    """What oscope's figures say that the operation should reach, in B/s; None without a figure."""
    wanted = ["read", "write"] if operation == "copy" else [METRIC[operation]]
    if any((metric, size) not in own for metric in wanted):
        return None
    if operation == "copy":
        # As many bytes read as written, one after the other.
        return 2 / (1 / own["read", size] + 1 / own["write", size])
    return own[METRIC[operation], size]


def size_name(size):
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def main(folder):
    own, theirs, ratios = defaultdict(list), defaultdict(list), defaultdict(list)
    rounds = {}
    for line in (folder / "peers.tsv").read_text().splitlines():
        round_number, tool, operation, size, rate = line.split("\t")
        size, rate = int(size), float(rate)
        if round_number not in rounds:
            rounds[round_number] = oscope(folder, round_number)
        mine = expected(rounds[round_number], operation, size)
        if mine is None:
            continue
        key = (size, operation, tool)
        own[key].append(mine)
        theirs[key].append(rate)
        ratios[key].append(mine / rate)
    print(f"medians of {len(rounds)} rounds, in GB/s; ratio: oscope over the peer (least to most)")
    print(f"{'block':>8}  {'operation':9}  {'peer':8}  {'oscope':>8}  {'peer':>8}  ratio")
    for key in sorted(ratios):
        size, operation, tool = key
        mine, peer, ratio = (statistics.median(v[key]) for v in (own, theirs, ratios))
        spread = f"{min(ratios[key]):.2f} to {max(ratios[key]):.2f}"
        print(
            f"{size_name(size):>8}  {operation:9}  {tool:8}  {mine / 1e9:8.2f}  {peer / 1e9:8.2f}"
            f"  {ratio:.2f} ({spread})"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
