#!/usr/bin/env python3
"""Systems where something is missing: a run of everything ends all the same, and each point that it could not
measure has its reason on the record."""

import sys
from pathlib import Path

from campaign import Part, Skip, need_root, require

SANDBOX = [sys.executable, Path(__file__).with_name("sandbox.py")]
HIDDEN = [["/proc"], ["/sys"], ["/proc", "/sys"]]
# What containers and older kernels refuse: by a profile with EPERM, by age with ENOSYS.
CALLS = ["clone3", "io_uring_setup", "userfaultfd", "perf_event_open", "copy_file_range", "memfd_create",
         "sched_setaffinity", "timerfd_create", "fallocate", "getcpu", "statx"]
BY_AGE = ["clone3", "io_uring_setup", "userfaultfd", "statx"]
IN_SHORT = ["clone3", "io_uring_setup"]
SOME = ["process.calls", "threads.create", "file.sum"]
# What these ask for is everywhere.
PLAIN = {"process.calls"}
# A worker that cannot be pinned to a processor measures nothing.
NEEDED = ["sched_setaffinity"]


def every_gap_has_a_reason(run):
    for experiment in run["experiments"]:
        name = experiment["id"]
        measured, failures = experiment["points"], experiment["failures"]
        require(measured or failures or experiment["skipped"], f"{name} has neither points nor a reason")
        for failure in failures:
            require(failure["reason"], f"{name}: a point was not measured, and nobody says why")


def measured(run):
    return {experiment["id"] for experiment in run["experiments"] if experiment["points"]}


def lives_without(part, fault, wrapper, what, plain=PLAIN):
    with fault.trial(what), part.place() as place:
        run = place.run(*SOME, budget="3s", wrapper=wrapper, timeout=240).must(0, 1).json()
        every_gap_has_a_reason(run)
        require(measured(run) >= plain, f"{plain - measured(run)} was not measured")
        if not part.is_short:
            # On a busy machine, the time may be used up before the turn of any one of them comes.
            every_gap_has_a_reason(place.run(budget="30s", wrapper=wrapper, timeout=240).must(0, 1).json())
        require(not place.leftovers(), "scratch files stay")
        place.oscope("verify").must(0)
        place.oscope("show", "1", wrapper=wrapper).must(0)
        if not part.is_short:
            place.oscope("doctor", wrapper=wrapper).must(0, 1)
        place.oscope("list", wrapper=wrapper).must(0)


def probe(part, wrapper):
    """Whether the sandbox can be had at all."""
    with part.place() as place:
        tried = place.oscope("--version", wrapper=wrapper)
        if "sandbox: " in tried.stderr:
            raise Skip(tried.stderr.strip())


part = Part()
for hidden in HIDDEN[: part.count(3, 2)]:
    with part.fault(f"no {' and no '.join(hidden)}") as fault:
        need_root()
        wrapper = [*SANDBOX, *(word for directory in hidden for word in ("--hide", directory)), "--"]
        probe(part, wrapper)
        lives_without(part, fault, wrapper, "a run, show, doctor, list")
for call in CALLS if not part.is_short else IN_SHORT:
    with part.fault(f"no {call}") as fault:
        for error in ["EPERM", "ENOSYS"] if call in BY_AGE and not part.is_short else ["EPERM"]:
            wrapper = [*SANDBOX, "--deny", f"{call}={error}", "--"]
            probe(part, wrapper)
            lives_without(part, fault, wrapper, error, set() if call in NEEDED else PLAIN)
