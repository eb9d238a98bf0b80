#!/usr/bin/env python3
"""Compares what oscope measured with its peers, round by round."""

import glob
import json
import statistics
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from figures import spread

work = sys.argv[1]


def value(run, experiment, metric, **levels):
    for found in run["experiments"]:
        for point in found["points"] if found["id"] == experiment else []:
            if all(point["levels"].get(axis) == level for axis, level in levels.items()):
                for estimate in point["estimates"]:
                    if estimate["metric"] == metric:
                        return estimate["value"]
    return None


ASKED = {
    "read cold, 1 MiB": ("file.cold_warm", "cold", {"block_size": 1 << 20}),
    "read warm, 1 MiB": ("file.cold_warm", "warm", {"block_size": 1 << 20}),
    "random 4 KiB, cold": ("file.random", "random", {"chunk_size": 4096}),
    # fio times the fsync alone, oscope the write before it too.
    "write+fsync, median ns": (
        "file.sync",
        "latency",
        {"method": "write+fsync", "place": "overwrite"},
    ),
}

runs = {}
for path in glob.glob(f"{work}/oscope-*.json"):
    runs[path.rsplit("-", 1)[1].split(".")[0]] = json.load(open(path, encoding="utf-8"))
pairs = {}
for line in open(f"{work}/peers.tsv", encoding="utf-8"):
    number, tool, what, peer = line.rstrip("\n").split("\t")
    experiment, metric, levels = ASKED[what]
    ours = value(runs[number], experiment, metric, **levels)
    if ours and peer:
        pairs.setdefault((what, tool), []).append((ours, float(peer)))

print("| what | peer | oscope | peer's | ratio (least to most) |")
print("| --- | --- | ---: | ---: | --- |")
for (what, tool), found in sorted(pairs.items()):
    ratios = [ours / peer for ours, peer in found]
    ours = statistics.median(ours for ours, _ in found)
    peer = statistics.median(peer for _, peer in found)
    print(f"| {what} | {tool} | {ours:.4g} | {peer:.4g} | {spread(ratios)} |")
