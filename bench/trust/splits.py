#!/usr/bin/env python3
"""How often does a machine differ from itself?

    bench/trust/splits.py OSCOPE STORE [SEED]

Compares the runs 1 to 6 of STORE with each other, three against the other three, in all ten ways. With SEED,
compares three runs of STORE with three others, drawn twenty times. README.md says what the lines mean.
"""

import collections
import itertools
import json
import random
import subprocess
import sys

SIDE = 3
DRAWN = 20
MARGIN_PERCENT = 5


def all_splits(runs):
    """Each way to put half of the runs on one side; the first run is always there."""
    for side in itertools.combinations(runs, SIDE):
        if runs[0] in side:
            yield side, [run for run in runs if run not in side]


def drawn_splits(runs, seed):
    """Different runs on two sides, as often as DRAWN."""
    draw = random.Random(seed)
    for _ in range(DRAWN):
        drawn = draw.sample(runs, 2 * SIDE)
        yield drawn[:SIDE], drawn[SIDE:]


def stored(oscope, store):
    command = [oscope, "history", "--store", store, "--json"]
    history = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return sorted(run["number"] for run in json.loads(history))


def compared(oscope, store, sides):
    command = [oscope, "compare", *(",".join(map(str, side)) for side in sides)]
    command += ["--store", store, "--margin", str(MARGIN_PERCENT), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"splits.py: {' '.join(command)}: {done.stderr.strip()}")
    return json.loads(done.stdout)["comparisons"][0]["values"]


def main(oscope, store, seed=None):
    if seed is None:
        title, splits = "all ten ways to compare three of six runs with the others", all_splits(range(1, 7))
    else:
        title, splits = "three runs and three others, drawn", drawn_splits(stored(oscope, store), int(seed))
    alarms, comparisons, verdicts = 0, 0, collections.Counter()
    for sides in splits:
        found = collections.Counter(value["verdict"] for value in compared(oscope, store, sides))
        comparisons += 1
        alarms += bool(found["faster"] or found["slower"])
        verdicts += found
    total = sum(verdicts.values())
    print(f"\n{title}, margin {MARGIN_PERCENT} %:")
    print(f"{'comparisons that raise an alarm':<62}{alarms} of {comparisons}")
    for verdict, count in verdicts.most_common():
        print(f"{'  ' + verdict:<62}{100 * count / total:.1f} % of {total}")


if __name__ == "__main__":
    if len(sys.argv) not in (3, 4):
        sys.exit(__doc__.strip())
    main(*sys.argv[1:])
