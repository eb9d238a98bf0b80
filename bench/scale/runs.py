"""Writes runs for stores of any size: copies of an exported run that differ in id, time of day and values.

usage: runs.py TEMPLATE FOLDER FIRST LAST [POINTS [BATCHES [EXPERIMENT]]]

Writes FOLDER/NUMBER.oscope.json for the numbers from FIRST to below LAST. With POINTS, a run has that number of
points of the template, experiment by experiment, and then again under other names; with BATCHES, a point has at most
that number of batches; with EXPERIMENT, only points of that experiment.
"""

import copy
import json
import random
import sys


def cut(run, points, batches=None, only=None):
    """Leaves `points` points in `run`: its experiments from the first, as often as it takes."""
    measured = []
    for experiment in run["experiments"]:
        experiment["points"] = [point for point in experiment["points"] if point["batches"]]
        for point in experiment["points"]:
            point["batches"] = point["batches"][:batches]
        if experiment["points"] and only in (None, experiment["definition"]["id"]):
            measured.append(experiment)
    if not measured:
        sys.exit(f"the template has no measured point of {only or 'anything'}")
    run["experiments"] = []
    turn = 1
    while points:
        for experiment in copy.deepcopy(measured):
            experiment["points"] = experiment["points"][:points]
            points -= len(experiment["points"])
            if turn > 1:
                experiment["definition"]["id"] += f"-{turn}"
            if experiment["points"]:
                run["experiments"].append(experiment)
        turn += 1


def scale(run, factor):
    """Lets the legs of a run take `factor` times as long."""
    for experiment in run["experiments"]:
        for point in experiment["points"]:
            for batch in point["batches"]:
                for sample in batch["samples"]:
                    legs = sample["reading"].get("legs", {})
                    for times in ("wall_ns", "short_wall_ns"):
                        if times in legs:
                            legs[times] = [int(ns * factor) for ns in legs[times]]


def main():
    """Files appear in the order of their numbers."""
    template, folder, first, last, *shape = sys.argv[1:]
    with open(template) as file:
        document = json.load(file)
    # What is changed below would not agree with its checksums.
    document.pop("checksums", None)
    document["run"]["header"]["proven"] = False
    if shape:
        cut(document["run"], *(int(number) for number in shape[:2]), *shape[2:])
    text = json.dumps(document)
    for number in range(int(first), int(last)):
        random.seed(number)
        run = (document := json.loads(text))["run"]
        run["header"]["id"], run["header"]["name"] = f"{number + 1:032x}", None
        started = (f"{2010 + number // 1200:04}-{1 + number // 100 % 12:02}-{1 + number % 28:02}"
                   f"T{number // 60 % 24:02}:{number % 60:02}:00Z")
        run["header"]["started"] = run["header"]["ended"] = started
        # A change of level for `history` to find.
        scale(run, (1.1 if number % 1000 > 700 else 1.0) * random.gauss(1, 0.003))
        with open(f"{folder}/{number:05}.oscope.json", "w") as file:
            # Not dump, which is several times slower.
            file.write(json.dumps(document))


if __name__ == "__main__":
    main()
