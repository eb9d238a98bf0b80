#!/usr/bin/env python3
"""Copies and writes by oscope beside other tools, on one file system; see copy.sh."""

import math
import os
import random
import statistics
import subprocess
import sys
import time
from pathlib import Path

OSCOPE = os.environ["OSCOPE"]
SIZE = int(os.environ.get("SIZE_MIB", "1024")) << 20
ROUNDS = int(sys.argv[1])
MIB = 1 << 20
BLOCK = 128 << 10


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


def copies(source, target, is_sparse):
    """Two pairs: each tool as it is, and reading and writing where it would share blocks or leave it to the kernel."""
    oscope = [OSCOPE, "--quiet", "file", "copy", source, target]
    dd = ["dd", f"if={source}", f"of={target}", "bs=512K", "status=none"]
    return {
        "oscope": oscope,
        "cp": ["cp", source, target],
        "oscope --method read-write": [*oscope, "--method", "read-write"],
        "cp --reflink=never": ["cp", "--reflink=never", source, target],
        "dd conv=sparse" if is_sparse else "dd": [*dd, "conv=sparse"] if is_sparse else dd,
    }


def writes(target):
    blocks = str(SIZE // BLOCK)
    oscope = [OSCOPE, "--quiet", "file", "write", target, "--block-size", str(BLOCK), "--count", blocks]
    return {
        "oscope": oscope,
        "dd if=/dev/zero": ["dd", "if=/dev/zero", f"of={target}", f"bs={BLOCK}", f"count={blocks}", "status=none"],
        "fallocate, which writes nothing": ["fallocate", "-l", str(SIZE), target],
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


def compare(kind, work, commands, warming, target, peers):
    """Each peer is set against the tool of oscope's that `peers` names."""
    times = {tool: [] for tool in commands}
    order = list(commands)
    shuffle = random.Random(0).shuffle
    for _ in range(ROUNDS):
        # Memory that the host took back would cost the first tool of a round its faults.
        seconds(commands[warming], target)
        # By turns alone, a tool would always follow the same one, and meet the caches that it leaves.
        shuffle(order)
        for tool in order:
            times[tool].append(seconds(commands[tool], target))
    target.unlink()
    for tool, values in times.items():
        row = f"| {kind} | {work} | {tool} | {statistics.median(values):.4g} ({min(values):.4g}–{max(values):.4g})"
        if tool not in peers:
            print(f"{row} | |")
        else:
            middle, low, high = interval([peer / ours for peer, ours in zip(values, times[peers[tool]])])
            print(f"{row} | {middle:.2f} ({low:.2f}–{high:.2f}) |", flush=True)


def main():
    kind, place = sys.argv[2], Path(sys.argv[3])
    source, target = place / "source", place / "target"
    for shape, make in (("dense", make_dense), ("sparse", make_sparse)):
        make(source)
        commands = copies(str(source), str(target), shape == "sparse")
        subprocess.run(commands["oscope"], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["cmp", source, target], check=True)
        peers = {tool: list(commands)[2] for tool in list(commands)[3:]} | {"cp": "oscope"}
        compare(kind, f"copy, {shape}", commands, "cp --reflink=never", target, peers)
        source.unlink()
    commands = writes(str(target))
    peers = dict.fromkeys(list(commands)[1:], "oscope")
    compare(kind, "write", commands, "dd if=/dev/zero", target, peers)


if __name__ == "__main__":
    main()
