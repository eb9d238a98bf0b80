"""Checks what `oscope run memory.bandwidth process.calls --json` wrote under Wine."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    document = json.load(file)
assert document["environment"]["stand_in"].startswith("Wine "), document["environment"]
assert document["environment"]["build"]["target"] == "x86_64-pc-windows-gnu"
assert document["machine"]["topology"]["cores"] > 0, document["machine"]
assert document["storage"]["free_bytes"] > 0, document["storage"]

experiments = {experiment["id"]: experiment for experiment in document["experiments"]}
assert set(experiments) == {"memory.bandwidth", "process.calls"}, set(experiments)
for name, experiment in experiments.items():
    points, failures = experiment["points"], experiment["failures"]
    print(f"{name}: {len(points)} points, {len(failures)} without a value")
    assert all(failure["reason"] for failure in failures), failures
    for failure in failures:
        print("   ", *failure["levels"].values(), "|", failure["reason"])
calls = {point["levels"]["call"] for point in experiments["process.calls"]["points"]}
assert {"ReadFile 1 byte", "CreateProcess+wait", "malloc+free"} <= calls, calls
assert not {"read 1 byte", "getpid", "fork+exec+wait"} & calls, calls
estimates = experiments["memory.bandwidth"]["points"][0]["estimates"]
assert estimates, "memory.bandwidth was not measured"
