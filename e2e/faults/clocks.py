#!/usr/bin/env python3
"""Clocks that jump: the wall clock of the program alone, by a preloaded library, and the monotonic clock in a
time namespace. What was measured stays what it is, and the run can be read."""

import json
import subprocess
from pathlib import Path

from campaign import BRIEF, Part, Skip, finish, need_root, need_tools, require

YEAR_S = 365 * 24 * 3600
JUMPS = {
    "a second back": -1, "an hour back": -3600, "a day forward": 86400, "ten years forward": 10 * YEAR_S,
    "ten years back": -10 * YEAR_S,
    "to before 1970": -80 * YEAR_S, "to the year 2300": 274 * YEAR_S, "beyond the year 9999": 8000 * YEAR_S,
    "to before the year 0": -2100 * YEAR_S,
}
IN_SHORT = ["an hour back"]


def library(part):
    need_tools("cc", "ldd")
    dynamic = subprocess.run(["ldd", part.oscope], capture_output=True, text=True)
    if "libc" not in dynamic.stdout:
        raise Skip("the program is linked statically, and nothing can be loaded before it")
    built = part.work / "clock.so"
    source = Path(__file__).with_name("clock.c")
    subprocess.run(["cc", "-O1", "-Wall", "-shared", "-fPIC", "-o", built, source], check=True)
    return built


def latencies_ns(run):
    """What calls cost, by call and optimisation: no clock on the wall may change that."""
    (experiment,) = run["experiments"]
    found = {tuple(point["levels"].values()): estimate["value"] for point in experiment["points"]
             for estimate in point["estimates"] if estimate["metric"] == "latency" and estimate["value"]}
    require(found, "nothing was measured")
    return found


def reads_well(place, number, env=None):
    env = env or {}
    for words in [["show", number], ["history"], ["history", "process.calls"], ["report", number],
                  ["export", number], ["verify"], ["cleanup", "--dir", place.scratch]]:
        place.oscope(*words, env=env).must(0)
    require(not place.leftovers(), "scratch files stay")


def wall_clock(part):
    with part.fault("wall clock set during a run") as fault:
        preload = str(library(part))
        for what, by_s in JUMPS.items():
            if part.is_short and what not in IN_SHORT:
                continue
            for at_s in [0, 1.5][: part.count(2, 1)]:
                with fault.trial(f"{what} after {at_s} s"), part.place() as place:
                    usual_ns = latencies_ns(place.run(*BRIEF, budget="3s").must(0, 1).json())
                    env = {"LD_PRELOAD": preload, "OSCOPE_JUMP_AT": str(at_s), "OSCOPE_JUMP_BY": str(by_s)}
                    run = place.run(*BRIEF, budget="3s", env=env).must(0, 1).json()
                    # Those that start processes wait for others on a busy machine.
                    for call, ns in latencies_ns(run).items():
                        usual = usual_ns.get(call, ns) if call[0] == "getpid" else ns
                        require(usual / 20 < ns < usual * 20, f"{call}: {ns} ns and not {usual} ns")
                    reads_well(place, "2")
                    reads_well(place, "2", env)
                    # The run after that, when the clock is right again.
                    place.run(*BRIEF, budget="2s").must(0, 1)
                    reads_well(place, "3")

    with part.fault("another's clock set while a run is at work") as fault:
        preload = str(library(part))
        for what in ["ten years forward", "ten years back"][: part.count(2, 1)]:
            by_s = JUMPS[what]
            with fault.trial(what), part.place() as place:
                place.measure()
                shown = place.root / "run.json"
                with open(shown, "wb") as stdout:
                    run = place.start("run", "process.calls", "file.block_size", "--budget", f"{part.count(8, 4)}s",
                                      "--no-page", "--quiet", "--json", "--dir", place.scratch, stdout=stdout)
                env = {"LD_PRELOAD": preload, "OSCOPE_JUMP_BY": str(by_s)}
                sweeps = 0
                while run.poll() is None:
                    # At the very end of the run it may help to remove what nobody needs any more.
                    place.oscope("cleanup", "--dir", place.scratch, env=env).must(0, 1)
                    sweeps += 1
                finish(run).must(0, 1)
                require(sweeps > 0, "the run was over at once")
                experiments = json.loads(shown.read_bytes())["experiments"]
                require(any(experiment["points"] for experiment in experiments), "nothing was measured")
                for experiment in experiments:
                    reasons = [failure["reason"] for failure in experiment["failures"]]
                    require(not any("No such file" in reason for reason in reasons),
                            f"something was taken from under {experiment['id']}: {reasons}")
                place.oscope("verify").must(0)


def monotonic_clock(part):
    with part.fault("monotonic clock far from zero") as fault:
        need_root()
        need_tools("unshare")
        for days in [20_000] if part.is_short else [1, 20_000]:
            offset = str(days * 86400)
            wrapper = ["unshare", "--time", "--fork", "--monotonic", offset, "--boottime", offset]
            with part.place() as place:
                if place.oscope("--version", wrapper=wrapper).code != 0:
                    raise Skip("no time namespaces here")
                with fault.trial(f"{days} days ahead"):
                    place.run(*BRIEF, "process.wakeup", "threads.io", budget=f"{part.count(5, 3)}s", wrapper=wrapper).must(0, 1)
                    reads_well(place, "1")


part = Part()
wall_clock(part)
monotonic_clock(part)
