#!/usr/bin/env python3
"""How often does a machine differ from itself?

    bench/trust/splits.py OSCOPE STORE

Compares the runs 1 to 6 of STORE with each other, three against the other three, in all ten ways.
README.md says what the lines mean.
"""

import collections
import itertools
import json
import subprocess
import sys

RUNS = range(1, 7)
MARGIN_PERCENT = 5


def splits():
    """Each way to put half of the runs on one side; the first run is always there."""
    for side in itertools.combinations(RUNS, len(RUNS) // 2):
        if RUNS[0] in side:
            yield side, [run for run in RUNS if run not in side]


def compared(oscope, store, sides):
    command = [oscope, "compare", *(",".join(map(str, side)) for side in sides)]
    command += ["--store", store, "--margin", str(MARGIN_PERCENT), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"splits.py: {' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["comparisons"][0]["values"]


def main(oscope, store):
    alarms, verdicts = 0, collections.Counter()
    for sides in splits():
        found = collections.Counter(value["verdict"] for value in compared(oscope, store, sides))
        alarms += bool(found["faster"] or found["slower"])
        verdicts += found
    total = sum(verdicts.values())
    print(f"\nall ten ways to compare three of six runs with the others, margin {MARGIN_PERCENT} %:")
    print(f"{'comparisons that raise an alarm':<62}{alarms} of 10")
    for verdict, count in verdicts.most_common():
        print(f"{'  ' + verdict:<62}{100 * count / total:.1f} % of {total}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
