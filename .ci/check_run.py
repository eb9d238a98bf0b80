#!/usr/bin/env python3
"""Checks what the main job printed: every experiment measured, every number usable, findings said.

How narrow the intervals are is not checked: that depends on the machine.
"""

import json
import math
import sys

run = json.load(open(sys.argv[1], encoding="utf-8"))
experiments = {experiment["id"]: experiment for experiment in run["experiments"]}

for experiment in run["experiments"]:
    if experiment["skipped"]:
        print(f"{experiment['id']}: not here: {experiment['skipped']}")
    for failure in experiment["failures"]:
        print(f"{experiment['id']}: not measured: {failure}")

for wanted in ("memory.bandwidth", "file.block_size", "process.calls"):
    experiment = experiments[wanted]
    assert experiment["skipped"] is None, f"{wanted}: {experiment['skipped']}"
    assert not experiment["failures"], f"{wanted}: {experiment['failures']}"
    assert experiment["points"], f"{wanted} measured nothing"
    sound = 0
    for point in experiment["points"]:
        for estimate in point["estimates"]:
            if estimate["verdict"] == "sound":
                sound += 1
                assert math.isfinite(estimate["value"]), (wanted, point["levels"], estimate)
                assert estimate["value"] >= 0, (wanted, point["levels"], estimate)
    total = sum(len(point["estimates"]) for point in experiment["points"])
    assert sound >= 0.8 * total, f"{wanted}: only {sound} of {total} values are sound"
    print(f"{wanted}: {len(experiment['points'])} points, {sound} of {total} values sound")

assert run["finished"], "the run did not come to its end"
assert len(run["findings"]) >= 5, f"only {len(run['findings'])} findings"
assert run["machine"], "the machine is missing"
print(f"{len(run['findings'])} findings")
