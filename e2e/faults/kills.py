#!/usr/bin/env python3
"""Runs that are killed or stopped at random moments: nothing that was measured is lost or damaged, and
nothing that was made for them stays."""

import hashlib
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path

from campaign import Part, Skip, age, need_root, require, wait_until

SELECTION = ["process.calls", "process.ipc", "file.block_size", "file.metadata", "memory.copy",
             "threads.lock", "transfer.file"]
CONFINED = ["memory.bandwidth", "--allow-swap-file"]
# A run that is asked to end stops its worker, shows what it has, and cleans up. The machine may be busy.
DEADLINE_S = 10
GROUPS = [Path("/sys/fs/cgroup/memory"), Path("/sys/fs/cgroup")]


def memory_groups():
    return {group for root in GROUPS for group in root.glob("**/oscope-????????????????")}


def swap_in(place):
    return [line for line in Path("/proc/swaps").read_text().splitlines() if str(place.root) in line]


class History:
    """The runs of a store as they were when they were read first."""

    def __init__(self, place):
        self.place = place
        self.known = {}

    def check(self):
        """All runs can be shown and exported, are proven, and are what they were."""
        if not self.place.store.exists():
            return
        self.place.oscope("verify").must(0)
        runs = self.place.oscope("history", "--json").must(0).json()
        require(len(runs) >= len(self.known), "a run is missing")
        for number in (run["number"] for run in runs):
            if number in self.known and number != runs[0]["number"]:
                continue
            self.place.oscope("show", number).must(0)
            exported = self.place.oscope("export", number).must(0).stdout
            digest = hashlib.sha256(exported).hexdigest()
            require(self.known.setdefault(number, digest) == digest, f"run {number} has changed")
            file = self.place.root / "run.oscope.json"
            file.write_bytes(exported)
            self.place.oscope("verify", file).must(0)

    def check_all(self):
        """The same for each run, also those that were looked at before."""
        for number, digest in self.known.items():
            exported = self.place.oscope("export", number).must(0).stdout
            require(hashlib.sha256(exported).hexdigest() == digest, f"run {number} has changed")


@contextmanager
def running(place, what, budget):
    words = ["run", *what, "--budget", budget, "--no-page", "--dir", place.scratch]
    said = open(place.root / "said", "wb+")
    child = place.start(*words, stdout=said, stderr=subprocess.STDOUT)
    try:
        yield child
    finally:
        if child.poll() is None:
            child.kill()
        child.wait()
        said.close()


def said(place):
    return (place.root / "said").read_text(errors="replace")


def killed(place, what, delay_s, number):
    """Whether the run was still there to be killed."""
    with running(place, what, "120s") as child:
        time.sleep(delay_s)
        if child.poll() is not None:
            raise AssertionError(f"the run ended too soon: {said(place)[-1000:]}")
        child.send_signal(number)
        asked = time.monotonic()
        require(wait_until(lambda: child.poll() is not None, DEADLINE_S), f"it went on for {DEADLINE_S} s")
        took = time.monotonic() - asked
    require("panicked at" not in said(place), said(place))
    return child.returncode, took


def is_clean(place, before):
    require(not swap_in(place), f"swap stays on: {swap_in(place)}")
    # Another oscope on this machine may have groups of its own, which come and go.
    ours = memory_groups() - before
    require(wait_until(lambda: not any(group.exists() for group in ours), 30), f"control groups stay: {ours}")


def swept(place, by_next_run):
    """What was left behind goes with `oscope cleanup`, or when the next run starts."""

    def sweep():
        if by_next_run:
            place.run("process.calls", budget="1s").must(0, 1)
        else:
            place.oscope("cleanup", "--dir", place.scratch).must(0)
        return not with_lock()

    def with_lock():
        return [path for path in place.leftovers() if (path / "lock").exists()]

    # A worker that was being started when its parent was killed holds the lock for a moment more.
    require(wait_until(sweep, 10), f"scratch files stay: {place.leftovers()}")
    # Without a lock it is left alone for a day: the run was killed as it made the lock.
    for path in place.leftovers():
        age(path)
    if place.leftovers():
        place.oscope("cleanup", "--dir", place.scratch).must(0)
    require(not place.leftovers(), f"scratch files stay: {place.leftovers()}")


def main():
    part = Part()
    for name, code in [("KILL", None), ("TERM", 143), ("INT", 130)]:
        with part.fault(f"SIG{name} of a run") as fault, part.place() as place:
            history = History(place)
            slowest = 0.0
            for index in range(part.count(16, 2)):
                delay_s = fault.random.uniform(0, part.count(10, 2))
                before = memory_groups()
                with fault.trial(f"after {delay_s:.3f} s"):
                    ended, took = killed(place, SELECTION, delay_s, getattr(signal, f"SIG{name}"))
                    slowest = max(slowest, took)
                    if code is None:
                        require(ended == -signal.SIGKILL, f"it ended with {ended}")
                        swept(place, by_next_run=index % 2 == 1)
                    else:
                        # Before it catches signals they have their usual effect.
                        is_early = not place.leftovers() and ended == -getattr(signal, f"SIG{name}")
                        require(ended == code or is_early, f"it ended with {ended}: {said(place)[-1000:]}")
                        require(not place.leftovers(), f"scratch files stay: {place.leftovers()}")
                    is_clean(place, before)
                    history.check()
            with fault.trial("all runs at the end"):
                history.check_all()
            if code:
                fault.remark = f"ended within {slowest:.2f} s"

    with part.fault("SIGKILL of a run with a control group and swap") as fault, part.place() as place:
        need_root()
        if part.is_short:
            raise Skip("it takes minutes; not in the short form")
        history = History(place)
        with_swap = 0
        for _ in range(8):
            delay_s = fault.random.uniform(2, 20)
            before = memory_groups()
            with fault.trial(f"after {delay_s:.3f} s"):
                killed(place, CONFINED, delay_s, signal.SIGKILL)
                with_swap += bool(swap_in(place))
                swept(place, by_next_run=False)
                is_clean(place, before)
                history.check()
        fault.remark = f"swap was on in {with_swap}"


main()
