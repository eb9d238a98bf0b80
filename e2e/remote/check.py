#!/usr/bin/env python3
"""Checks what file.remote found on a line of 100 Mbit/s: its speed, its type and its round trip."""

import json
import sys

run = json.load(open(sys.argv[1], encoding="utf-8"))
(experiment,) = [e for e in run["experiments"] if e["id"] == "file.remote"]
assert experiment["skipped"] is None, experiment["skipped"]
assert not experiment["failures"], experiment["failures"]

rates = {}
remarks = set()
for point in experiment["points"]:
    levels = point["levels"]
    for estimate in point["estimates"]:
        if estimate["metric"] == "throughput":
            rates[levels["place"], levels["chunk_size"]] = estimate["value"]
    remarks.update(point["remarks"])
assert any("fuse.sshfs" in remark for remark in remarks), remarks

largest = max(size for _, size in rates)
remote = rates["remote", largest]
print(f"remote, chunks of {largest} bytes: {remote / 1e6:.2f} MB/s")
# Headers leave 11.7 MB/s of the line, and waiting for each write a little less. No faster than the
# line it can be at all; how much slower is a matter of what else this machine does meanwhile.
assert 5e6 <= remote <= 12.5e6, remote

findings = {finding["key"]: finding for finding in run["findings"] if finding["experiment"] == "file.remote"}
# On a busy machine the local writes may be too vague for a comparison, and then nothing is said of them.
for key in ("round_trip", "line"):
    if key in findings:
        print(findings[key]["sentence"])
local = rates["local", min(size for _, size in rates)]
remote = rates["remote", min(size for _, size in rates)]
print(f"smallest chunks: local {local / 1e6:.3f} MB/s, remote {remote / 1e6:.3f} MB/s")
assert remote < local, "a write on another machine waits for the line"
