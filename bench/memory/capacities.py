"""Capacities of caches as memory.bandwidth and memory.latency found them in each round, and those
that the processor documents; the factor is that of the worst round.

usage: capacities.py FOLDER, which memory/run.sh has filled
"""

import json
import sys
from collections import defaultdict
from pathlib import Path

KIB = 1024


def main(folder):
    found = defaultdict(list)
    for experiment in ("memory.bandwidth", "memory.latency"):
        for path in sorted(folder.glob(f"{experiment}-*.json")):
            for finding in json.loads(path.read_text())["findings"]:
                numbers = finding["numbers"]
                if "capacity" in numbers and "documented" in numbers:
                    documented = numbers["documented"]["value"]
                    found[experiment, documented].append(numbers["capacity"]["value"])
    print("| experiment | documented | found (least to most) | factor | rounds |")
    print("| --- | ---: | --- | ---: | ---: |")
    for (experiment, documented), sizes in found.items():
        factor = max(max(size / documented, documented / size) for size in sizes)
        shown = f"{min(sizes) / KIB:.0f} to {max(sizes) / KIB:.0f} KiB"
        print(f"| {experiment} | {documented / KIB:.0f} KiB | {shown} | {factor:.2f} | {len(sizes)} |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
