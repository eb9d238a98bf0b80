"""Medians of oscope and of each peer, and the ratio of the two with its spread over the rounds.

usage: others.py FOLDER, with others.tsv and oscope-ROUND.json in it
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path


def value(run, experiment, metric, levels):
    """oscope's sound value of a metric at the point with these levels; None without one."""
    for measured in run["experiments"]:
        if measured["id"] != experiment:
            continue
        for point in measured["points"]:
            if any(point["levels"].get(axis) != level for axis, level in levels.items()):
                continue
            for estimate in point["estimates"]:
                if estimate["metric"] == metric and estimate["verdict"] == "sound":
                    return estimate["value"]
    return None


def name(levels):
    sizes = lambda level: f"{level >> 10} KiB" if isinstance(level, int) and level >= 1024 else level
    return ", ".join(str(sizes(level)) for level in levels.values())


def main(folder):
    own, theirs, ratios = defaultdict(list), defaultdict(list), defaultdict(list)
    runs = {}
    for line in (folder / "others.tsv").read_text().splitlines():
        round_number, experiment, metric, levels, tool, peer = line.split("\t")
        if round_number not in runs:
            runs[round_number] = json.loads((folder / f"oscope-{round_number}.json").read_text())
        levels = json.loads(levels)
        mine = value(runs[round_number], experiment, metric, levels)
        if mine is None or not peer or not float(peer):
            continue
        key = (experiment, metric, name(levels), tool)
        own[key].append(mine)
        theirs[key].append(float(peer))
        ratios[key].append(mine / float(peer))
    print(f"medians of {len(runs)} rounds, in ns or B/s; ratio: oscope over the peer (least to most)")
    for key in sorted(ratios):
        mine, peer, ratio = (statistics.median(v[key]) for v in (own, theirs, ratios))
        spread = f"{min(ratios[key]):.2f} to {max(ratios[key]):.2f}"
        experiment, metric, levels, tool = key
        print(
            f"{experiment:17}  {metric:5}  {levels:34}  {tool:9}  {mine:10.4g}  {peer:10.4g}"
            f"  {ratio:.2f} ({spread})"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
