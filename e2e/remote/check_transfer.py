#!/usr/bin/env python3
"""Checks what transfer.file found on a fast line, on one of 100 Mbit/s, or on one that was lost."""

import json
import sys

kind, address, path = sys.argv[1:]
run = json.load(open(path, encoding="utf-8"))
(experiment,) = [e for e in run["experiments"] if e["id"] == "transfer.file"]
assert experiment["skipped"] is None, experiment["skipped"]

if kind == "lost":
    reasons = {failure["reason"] for failure in experiment["failures"]}
    print("\n".join(sorted(reasons)))
    assert reasons
    sys.exit()

assert not experiment["failures"], experiment["failures"]
times = {}
for point in experiment["points"]:
    levels = point["levels"]
    assert levels["to"] == address, levels
    assert any("sealed by" in remark for remark in point["remarks"]), point["remarks"]
    if levels["reading"] == "first":
        for estimate in point["estimates"]:
            if estimate["metric"] == "time":
                times[levels["sender"], levels["receiver"], levels["size"]] = estimate["value"]
sizes = sorted({size for _, _, size in times})
largest = sizes[-1]
print(f"{kind}: {len(times)} points, sizes up to {largest} bytes")
for finding in run["findings"]:
    if finding["experiment"] == "transfer.file":
        print("  " + finding["sentence"])
        assert finding["sentence"].startswith(f"To {address}, "), finding["sentence"]

rates = {tuple(pair): size / time * 1e3 for (*pair, size), time in times.items() if size == largest}
for (sender, receiver), rate in rates.items():
    print(f"  {sender} to {receiver}: {rate:.2f} MB/s")
assert largest >= 1 << 20, largest
if kind == "slow":
    # Headers leave 11.7 MB/s of the line. No faster than the line it can be at all, but for what the
    # bucket lets through at once; how much slower is a matter of what else this machine does meanwhile.
    assert largest < 64 << 20, largest
    assert all(5 <= rate <= 12.5 for rate in rates.values()), rates
else:
    assert max(rates.values()) > 12.5, rates
