"""Tables of oscope and its peers: medians over the rounds, and the ratio, taken within a round.

usage: peers.py FOLDER

FOLDER is what a script that sources peers.sh has filled: EXPERIMENT-ROUND.json by oscope, and peers.tsv
with round, experiment, metric, peer, levels as JSON and the peer's value on each line.
"""

import json
import sys
from collections import defaultdict
from functools import cache
from pathlib import Path
from statistics import median

from figures import spread

# How oscope's values are shown, and by what a peer's must be multiplied for that.
SHOWN = {
    "nanoseconds": ("ns", lambda value: value, 1),
    "operations_per_second": ("ns", lambda value: 1e9 / value, 1),
    "bytes_per_second": ("GB/s", lambda value: value / 1e9, 1e-9),
    "bytes": ("MiB", lambda value: value / 2**20, 2**-20),
    "share": ("%", lambda value: value * 100, 100),
    "count": ("", lambda value: value, 1),
}
SIZES = ("block_size", "working_set", "message_size", "piece_size", "resident_size")


@cache
def points(folder, experiment, number):
    run = json.loads((folder / f"{experiment}-{number}.json").read_text())
    return [point for found in run["experiments"] for point in found["points"]]


def estimate(folder, experiment, number, metric, levels):
    """oscope's sound estimate of a metric at the point with these levels; None without one."""
    for point in points(folder, experiment, number):
        if levels.items() <= point["levels"].items():
            for found in point["estimates"]:
                if found["metric"] == metric and found["verdict"] == "sound":
                    return found
    return None


def level_name(axis, level):
    if axis not in SIZES or level == 0:
        return str(level)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if level % 1024 or unit == "GiB":
            return f"{level} {unit}"
        level //= 1024


def digits(value):
    return f"{value:.0f}" if value >= 1000 else f"{value:.3g}"


def pairs(folder):
    """oscope's value and a peer's by experiment, metric and unit, then by levels and peer."""
    found = defaultdict(lambda: defaultdict(list))
    for line in (folder / "peers.tsv").read_text().splitlines():
        number, experiment, metric, peer, levels, value = line.split("\t")
        levels = json.loads(levels)
        own = estimate(folder, experiment, number, metric, levels)
        if own is None:
            continue
        unit, own_value, factor = SHOWN[own["unit"]]
        row = found[experiment, metric, unit][(tuple(levels.items()), peer)]
        row.append((own_value(own["value"]), float(value) * factor))
    return found


def table(experiment, metric, unit, rows):
    """The axes on which all rows agree are left out."""
    axes = list(next(iter(rows))[0])
    axes = [axis for axis, _ in axes]
    kept = [axis for axis in axes if len({dict(levels).get(axis) for levels, _ in rows}) > 1]
    print(f"{experiment}, {metric}:\n")
    headings = [axis.replace("_", " ") for axis in kept] + ["peer"]
    print("| " + " | ".join(headings) + f" | oscope {unit} | peer {unit} | ratio (least to most) |")
    print("|" + " --- |" * len(headings) + " ---: | ---: | --- |")
    for (levels, peer), values in rows.items():
        levels = dict(levels)
        own, theirs = zip(*values)
        cells = [level_name(axis, levels[axis]) for axis in kept] + [peer]
        cells += [digits(median(own)), digits(median(theirs))]
        cells.append(spread([mine / peer for mine, peer in values]))
        print("| " + " | ".join(cells) + " |")
    print()


if __name__ == "__main__":
    for (experiment, metric, unit), rows in pairs(Path(sys.argv[1])).items():
        table(experiment, metric, unit, rows)
