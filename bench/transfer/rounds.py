"""Moves files by many tools in turn, and writes down what each took; run.sh starts it.

usage: rounds.py ROUNDS PART...
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import table
from machine import CONTROL, Pool, await_quiet, empty, file_system, option, read_through, set_control, write_zeros
from moving import Bench, Disturbed, controls_in_use
from tools import (
    BARE,
    IPERF_CLIENT,
    IPERF_SERVER,
    NC,
    SOCAT,
    VERIFIED,
    Tool,
    file_tools,
    is_there,
    make_secrets,
    memory_tools,
    method_tools,
    oscope,
    pair,
    small_tools,
)

SIZE = int(option("SIZE", 1024))
LARGEST = int(option("LARGEST", 16384))
FILES = int(option("FILES", 10000))
TRIES = int(option("TRIES", 3))
DIRS = option("DIRS", f"{option('TMPDIR', '/var/tmp')} /dev/shm").split()


@dataclass
class Task:
    """What is moved in a part, from where to where, and by whom."""

    part: str
    case: str
    place: str
    tools: list
    amount: float
    folder: Path
    words: dict
    # Bytes that are written: so much memory is made ready.
    warm: int = 0
    # Each measurement gets a directory that stays until the end: ext4 searches long for an inode
    # among those that were freed within the last seconds, whoever is next.
    keeps: bool = False
    congestion: str = "reno"
    controls: dict = field(default_factory=dict)


def tasks(parts, folders, work, system_control):
    """What is to be done in each round."""
    common = {"work": work}
    for folder in folders:
        place = file_system(folder)
        big = {**common, "from": folder / "from", "source": folder / "from/big"}
        one_file = {"amount": SIZE, "folder": folder, "words": big, "warm": SIZE << 20}
        if "file" in parts:
            yield Task("file", "one file", place, file_tools(), **one_file)
        if "methods" in parts:
            yield Task("methods", "by methods", place, method_tools(), **one_file)
        if "default" in parts:
            tools = [VERIFIED, BARE, SOCAT, NC, pair("pair summed", "kind=summed congestion=-")]
            yield Task("default", f"one file, by {system_control} where the system chooses", place, tools, **one_file,
                       congestion=system_control)
        if "small" in parts:
            yield Task("small", f"{FILES} files of 1 KiB", place, small_tools(), FILES, folder,
                       {**common, "from": folder / "small", "source": folder / "small"},
                       warm=FILES << 13, keeps=True)
    if "memory" in parts:
        yield Task("memory", "memory to memory", "memory", memory_tools(4 * SIZE), 4 * SIZE, work,
                   common)
    if "default" in parts:
        mib = 4 * SIZE
        tools = [
            oscope("oscope verified", "--discard", f"--zeros {mib}MiB", arrives=None),
            Tool("iperf3", IPERF_SERVER, f"{IPERF_CLIENT} -n {mib}M", ("iperf3",), None),
        ]
        yield Task("default", f"memory to memory, by {system_control} where the system chooses", "memory", tools, mib,
                   work, common, congestion=system_control)


def make_sources(parts, folder):
    (folder / "from").mkdir(parents=True)
    (folder / "small").mkdir()
    if {"file", "methods", "default"} & set(parts):
        with (folder / "from/big").open("wb") as file:
            for _ in range(SIZE):
                file.write(os.urandom(1 << 20))
    if "small" in parts:
        for index in range(FILES):
            (folder / "small" / str(index)).write_bytes(os.urandom(1024))


def new_target(task, bench):
    to = task.folder / (f"to-{bench.port + 1}" if task.keeps else "to")
    empty(to)
    return {**task.words, "to": to}


def rehearse(task, bench):
    """Each tool once, unmeasured: does it arrive, and under what congestion control?"""
    task.tools = [tool for tool in task.tools if is_there(tool)]
    for tool in list(task.tools):
        words = new_target(task, bench)
        seen = set()

        def look(sender, _receiver, port, seen=seen):
            # While the sender is there; its end is waited for elsewhere.
            while os.waitid(os.P_PID, sender.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                seen |= controls_in_use(port)
                time.sleep(0.01)

        try:
            bench.move(tool, words, look if tool.receiver else None)
            if tool.arrives:
                arrived = tool.arrives.format(**words)
                same = subprocess.run(["diff", "-rq", words["source"], arrived], capture_output=True)
                if same.returncode != 0:
                    raise RuntimeError("what arrived is not what was sent")
        except RuntimeError as error:
            print(f"left out: {tool.name}, {task.case}, {task.place}: {error}", file=sys.stderr)
            bench.stop()
            task.tools.remove(tool)
        task.controls[tool.name] = "+".join(sorted(seen)) or "-"


def measure_task(task, number, bench, pool, record):
    set_control(task.congestion)
    if task.warm and not task.keeps:
        read_through(task.words["from"] / "big")
    random.shuffle(task.tools)
    for tool in task.tools:
        for _ in range(TRIES):
            words = new_target(task, bench)
            # Nothing of what came before is still to be written.
            if task.place != "tmpfs":
                os.sync()
            await_quiet()
            try:
                wall, sent, received = bench.measure(tool, words)
            except Disturbed as reason:
                record("dropped", number, task.place, task.case, tool.name, reason)
                continue
            except RuntimeError as error:
                print(f"failed: {tool.name}, {task.case}, {task.place}: {error}", file=sys.stderr)
                bench.stop()
                break
            record("times", number, task.place, task.case, tool.name, task.controls[tool.name],
                   task.amount, wall, sent, received)
            break
        if not task.keeps and "to" in words:
            shutil.rmtree(words["to"], ignore_errors=True)


def measure_sizes(folder, bench, record):
    """Linear from 64 MiB to the largest, and bounded in memory."""
    place, source = file_system(folder), folder / "from/sized"
    mib = 64
    while mib <= LARGEST:
        write_zeros(source, mib << 20)
        peaks = {}

        def watch(sender, receiver, _port, peaks=peaks):
            # The kernel's own account, as long as there is one: that of a process which is gone holds
            # what its parent had, too.
            while os.waitid(os.P_PID, sender.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                for name, child in (("sender", sender), ("receiver", receiver)):
                    try:
                        status = Path(f"/proc/{child.pid}/status").read_text()
                    except OSError:
                        continue
                    found = re.search(r"VmHWM:\s+(\d+)", status)
                    peaks[name] = int(found[1]) / 1024 if found else peaks.get(name, 0)
                time.sleep(0.02)

        empty(folder / "to")
        os.sync()
        tool = oscope("oscope", send="{{from}}/sized")
        wall, sent, received = bench.move(tool, {"from": folder / "from", "to": folder / "to"}, watch)
        record("sizes", place, mib, wall, sent, received,
               peaks.get("sender", 0), peaks.get("receiver", 0))
        source.unlink()
        shutil.rmtree(folder / "to")
        mib *= 4


def main():
    rounds, parts = int(sys.argv[1]), sys.argv[2:]
    work = Path(tempfile.mkdtemp())
    out = Path(option("OUT", work / "out"))
    out.mkdir(parents=True, exist_ok=True)
    for name in ("times", "dropped", "sizes"):
        (out / f"{name}.tsv").write_text("")

    def record(name, *values):
        with (out / f"{name}.tsv").open("a") as file:
            file.write("\t".join(str(value) for value in values) + "\n")

    system_control = CONTROL.read_text().strip() if CONTROL.exists() else "unknown"
    folders = [Path(each) / f"oscope-bench-{os.getpid()}" for each in DIRS]
    bench, pool = Bench(work), Pool((SIZE << 20) * 5 // 2)
    try:
        make_secrets(work)
        for folder in folders:
            make_sources(parts, folder)
        todo = list(tasks(parts, folders, work, system_control))
        if todo:
            pool.refill()
        for task in todo:
            set_control(task.congestion)
            rehearse(task, bench)
        for number in range(1, rounds + 1):
            for task in todo:
                if task.warm:
                    pool.refill()
                measure_task(task, number, bench, pool, record)
            print(f"round {number} of {rounds} is done", file=sys.stderr)
        pool.remove()
        if "size" in parts:
            set_control("reno")
            measure_sizes(folders[0], bench, record)
        table.show(out)
    finally:
        # Files by the hundred thousand take a while: whoever is impatient should not leave them.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        bench.stop()
        pool.remove()
        for folder in [*folders, work]:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    # So that what was begun is ended, and what was made removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
