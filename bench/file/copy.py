#!/usr/bin/env python3
"""Copies and writes by oscope and by other tools, on one file system; see copy.sh."""

import os
import random
import subprocess
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from figures import MIB, make_file, seconds, spread, with_interval

OSCOPE = os.environ["OSCOPE"]
SIZE = int(os.environ.get("SIZE_MIB", "1024")) << 20
ROUNDS = int(sys.argv[1])
BLOCK = 128 << 10


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


def seconds_anew(command, target):
    """Wall time of a command that makes `target`."""
    target.unlink(missing_ok=True)
    return seconds(command)


def compare(kind, work, commands, warming, target, peers):
    """Each peer is set against the tool of oscope's that `peers` names."""
    times = {tool: [] for tool in commands}
    order = list(commands)
    shuffle = random.Random(0).shuffle
    for _ in range(ROUNDS):
        # Memory that the host took back would cost the first tool of a round its faults.
        seconds_anew(commands[warming], target)
        # By turns alone, a tool would always follow the same one, and meet the caches that it leaves.
        shuffle(order)
        for tool in order:
            times[tool].append(seconds_anew(commands[tool], target))
    target.unlink()
    for tool, values in times.items():
        row = f"| {kind} | {work} | {tool} | {spread(values, '.4g')}"
        if tool not in peers:
            print(f"{row} | |")
        else:
            ratios = [peer / ours for peer, ours in zip(values, times[peers[tool]])]
            print(f"{row} | {with_interval(ratios)} |", flush=True)


def main():
    kind, place = sys.argv[2], Path(sys.argv[3])
    source, target = place / "source", place / "target"
    for shape in ("dense", "sparse"):
        if shape == "dense":
            make_file(source, SIZE)
        else:
            make_sparse(source)
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
