#!/usr/bin/env python3
"""`oscope file copy` beside cp and dd; see copy.sh."""

import math
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

OSCOPE = os.environ["OSCOPE"]
SIZE = int(os.environ.get("SIZE_MIB", "1024")) << 20
ROUNDS = int(sys.argv[1])
MIB = 1 << 20


def make_dense(path):
    chunk = os.urandom(MIB)
    with open(path, "wb") as file:
        for number in range(SIZE // MIB):
            file.write(number.to_bytes(8, "little") + chunk[8:])
        file.flush()
        os.fsync(file.fileno())


def make_sparse(path):
    """Four times as long, with data at three places."""
    with open(path, "wb") as file:
        for place in (0, 2 * SIZE, 4 * SIZE - MIB):
            file.seek(place)
            file.write(os.urandom(MIB))
        file.flush()
        os.fsync(file.fileno())


def tools(source, target):
    return {
        "oscope": [OSCOPE, "--quiet", "file", "copy", source, target],
        "cp": ["cp", source, target],
        "dd bs=512K": ["dd", f"if={source}", f"of={target}", "bs=512K", "status=none"],
    }


def seconds(command, target):
    target.unlink(missing_ok=True)
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def interval(ratios):
    """The median, and the order statistics that hold it in at least 95 of 100 cases."""
    ratios = sorted(ratios)
    count = len(ratios)
    outside = 0
    while 2 * sum(math.comb(count, below) for below in range(outside + 1)) <= 0.05 * 2**count:
        outside += 1
    outside = max(outside - 1, 0)
    return statistics.median(ratios), ratios[outside], ratios[-1 - outside]


def compare(name, source, target):
    commands = tools(str(source), str(target))
    times = {tool: [] for tool in commands}
    order = list(commands)
    for number in range(ROUNDS):
        # Memory that the host took back would cost the first tool of a round its faults.
        seconds(commands["cp"], target)
        for index in range(len(order)):
            tool = order[(index + number) % len(order)]
            times[tool].append(seconds(commands[tool], target))
    subprocess.run(commands["oscope"][:4] + ["--force"] + commands["oscope"][4:], check=True,
                   stdout=subprocess.DEVNULL)
    subprocess.run(["cmp", str(source), str(target)], check=True)
    target.unlink()
    for tool, values in times.items():
        row = f"| {name} | {tool} | {statistics.median(values):.4g} ({min(values):.4g}–{max(values):.4g})"
        if tool == "oscope":
            print(f"{row} | |")
        else:
            middle, low, high = interval([peer / ours for peer, ours in zip(values, times["oscope"])])
            print(f"{row} | {middle:.2f} ({low:.2f}–{high:.2f}) |", flush=True)


print("| file | tool | wall, s | its time over oscope's |\n| --- | --- | ---: | --- |")
for named in sys.argv[2:]:
    kind, place = named.split("=", 1)
    for shape, make in (("dense", make_dense), ("sparse", make_sparse)):
        source = Path(place) / "source"
        make(source)
        compare(f"{kind}, {shape}", source, Path(place) / "target")
        source.unlink()
