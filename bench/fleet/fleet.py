"""Makes fleets of synthetic runs from real ones, has oscope judge them, and prints what it found.

usage: fleet.py FOLDER NODES FLEETS SPREAD OSCOPE RUN...
"""

import json
import math
import multiprocessing
import os
import random
import statistics
import sys
import time

from faults import FAULTS

# Visits of each point in a synthetic run: as many as the quick profile makes passes.
VISITS = 10
BAD = 0.01
BOUNDS = {"found": 0.99, "false": 0.001, "seconds": 60, "bytes": 2 << 30, "page": 3e6}


def cost(reading):
    """The time of a reading for each unit of work; None for what is not timed."""
    (kind, of), = reading.items()
    if kind == "legs":
        return statistics.quantiles(of["wall_ns"], n=4)[0] / of["iterations"] if len(of["wall_ns"]) > 1 else None
    return {"once": lambda: of["wall_ns"], "latencies": lambda: of["p50_ns"]}.get(kind, lambda: None)()


def scaled(sample, factor, metric):
    """The same sample, taking `factor` times as long."""
    (kind, of), = sample["reading"].items()
    if kind == "value":
        better = metric["better"]
        of = of if better == "neither" else of / factor if better == "higher" else of * factor
    else:
        of = dict(of)
        for name in ("wall_ns", "short_wall_ns", "p5_ns", "p50_ns", "p95_ns", "p99_ns"):
            if isinstance(of.get(name), list):
                of[name] = [round(ns * factor) for ns in of[name]]
            elif name in of:
                of[name] = round(of[name] * factor)
    return {**sample, "reading": {kind: of}}


class Point:
    """A point with the visits of all real runs, and how these runs differ in each metric."""

    def __init__(self, experiment, records):
        self.template = next(record for record in records if record)
        self.levels = dict(self.template["point"])
        self.metrics = {metric["name"]: metric for metric in experiment["metrics"]}
        self.visits = [(run, batch) for run, record in enumerate(records) if record for batch in record["batches"]]
        self.levels_of = {name: self.levels_between(name, len(records)) for name in self.metrics}

    def levels_between(self, metric, runs):
        """The logarithm of each run's value over the geometric mean of the runs."""
        found = [[] for _ in range(runs)]
        for run, batch in self.visits:
            costs = [cost(it["reading"]) for it in batch["samples"] if it["metric"] == metric]
            costs = [it for it in costs if it and it > 0]
            if costs:
                found[run].append(math.log(statistics.median(costs)))
        medians = [statistics.median(of_run) if of_run else None for of_run in found]
        known = [it for it in medians if it is not None]
        centre = statistics.mean(known) if known else 0.0
        return [0.0 if it is None else it - centre for it in medians]

    def record(self, draw, own_of, factor_of):
        """The point in a node: visits drawn from all runs, whose levels are replaced by the node's own."""
        factors = {}
        for name, levels in self.levels_of.items():
            own = own_of(levels)
            factors[name] = [factor_of(self.levels, name) * math.exp(own - level) for level in levels]
        batches = []
        for number in range(VISITS):
            run, batch = draw.choice(self.visits)
            samples = [scaled(it, factors[it["metric"]][run], self.metrics[it["metric"]]) for it in batch["samples"]]
            batches.append({**batch, "samples": samples, "pass": number})
        return {**self.template, "batches": batches}


class Fleet:
    """Everything that a node is made of."""

    def __init__(self, documents, folder, spread=None):
        self.spread = spread
        runs = [document["run"] for document in documents]
        self.folder, self.runs = folder, runs
        self.experiments = []
        ids = dict.fromkeys(it["definition"]["id"] for run in runs for it in run["experiments"])
        for name in ids:
            records = [next((it for it in run["experiments"] if it["definition"]["id"] == name), None) for run in runs]
            definition = next(record["definition"] for record in records if record)
            by_point = [{json.dumps(it["point"]): it for it in record["points"] if it["batches"]} if record else {}
                        for record in records]
            keys = dict.fromkeys(key for points in by_point for key in points)
            points = [Point(definition, [points.get(key) for points in by_point]) for key in keys]
            if points:
                self.experiments.append((definition, points))

    def own_levels(self, draw):
        """How a node differs in an experiment: a function from the levels of the real runs to its own."""
        if self.spread is not None:
            shared = draw.gauss(0, self.spread)
            return lambda levels: shared + draw.gauss(0, self.spread)
        # Normal weights give nodes the same differences as the real runs have, and keep their correlations.
        weights = [draw.gauss(0, 1) / math.sqrt(max(1, len(self.runs) - 1)) for _ in self.runs]
        return lambda levels: sum(weight * level for weight, level in zip(weights, levels))

    def write(self, node):
        """Writes the run of a node; `node` has its index, the seed of its fleet and its fault, if any."""
        index, seed, fault = node
        draw = random.Random(seed * 1_000_003 + index)
        factor = FAULTS[fault][0] if fault is not None else lambda *_: 1.0
        run = {**self.runs[0], "experiments": []}
        machine = f"{seed:08x}{index:08x}"
        run["header"] = {**run["header"], "proven": False, "id": f"{draw.getrandbits(128):032x}",
                         "machine_fingerprint": machine, "tags": {"host": f"node{index:04}"}, "seed": index}
        run["machine"] = {**run["machine"], "installation": machine}
        if fault is not None and FAULTS[fault][0].__name__ == "no_huge_pages":
            run["environment"] = {**run["environment"], "transparent_huge_pages": "never"}
        for definition, points in self.experiments:
            own_of = self.own_levels(draw)
            factor_of = lambda levels, metric, name=definition["id"]: factor(name, levels, metric)
            records = [point.record(draw, own_of, factor_of) for point in points]
            run["experiments"].append({"definition": definition, "skipped": None, "points": records})
        document = {"format": "oscope-run", "version": 6, "run": run}
        with open(f"{self.folder}/runs/node{index:04}.oscope.json", "w", encoding="utf-8") as file:
            file.write(json.dumps(document, ensure_ascii=False))


def judged(oscope, folder):
    """What oscope says of the fleet, with the time and memory that it took, and the size of the page."""
    page, answer = f"{folder}/fleet.html", f"{folder}/fleet.json"
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        out = os.open(answer, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(out, 1)
        os.execv(oscope, [oscope, "fleet", "judge", f"{folder}/runs", "--json", "--quiet", "--page", page, "--force"])
    _, status, usage = os.wait4(child, 0)
    seconds = time.monotonic() - started
    if os.waitstatus_to_exitcode(status) not in (0, 3):
        sys.exit(f"oscope ended with {os.waitstatus_to_exitcode(status)}")
    with open(answer) as file:
        return json.load(file), seconds, usage.ru_maxrss * 1024, os.path.getsize(page)


def main():
    """A line for each fault, then one for the healthy nodes and one for the cost."""
    folder, nodes, fleets, spread, oscope, *paths = sys.argv[1:]
    nodes, fleets, oscope = int(nodes), int(fleets), os.path.abspath(oscope)
    documents = []
    for path in paths:
        with open(path) as file:
            documents.append(json.load(file))
    global FLEET
    FLEET = Fleet(documents, folder, float(spread) / 100 if spread else None)
    os.makedirs(f"{folder}/runs", exist_ok=True)
    found, of, false, healthy, wrong = [0] * len(FAULTS), [0] * len(FAULTS), 0, 0, []
    most = {"seconds": 0, "bytes": 0, "page": 0}
    for seed in range(1, fleets + 1):
        bad = random.Random(seed).sample(range(nodes), max(len(FAULTS), round(nodes * BAD)))
        fault = {index: number % len(FAULTS) for number, index in enumerate(bad)}
        with multiprocessing.Pool() as pool:
            pool.map(write, [(index, seed, fault.get(index)) for index in range(nodes)], chunksize=8)
        answer, seconds, size, page = judged(oscope, folder)
        most = {"seconds": max(most["seconds"], seconds), "bytes": max(most["bytes"], size),
                "page": max(most["page"], page)}
        for node in answer["nodes"]:
            index = int(node["node"].removeprefix("node"))
            if index in fault:
                of[fault[index]] += 1
                is_found = node["verdict"] == "slower" and FAULTS[fault[index]][1] & set(node["because"])
                found[fault[index]] += bool(is_found)
                if not is_found:
                    components = sorted(FAULTS[fault[index]][1])
                    wrong.append((seed, node["node"], [node["components"].get(it) for it in components]))
            else:
                healthy += 1
                false += node["verdict"] != "alike"
                if node["verdict"] != "alike":
                    wrong.append((seed, node["node"], node["verdict"], node["because"]))
    for (kind, _), count, all_of_kind in zip(FAULTS, found, of):
        print(f"{kind.__name__.replace('_', ' '):16} {count} of {all_of_kind} found")
    print(f"{'healthy':16} {false} of {healthy} named")
    print(f"{'cost':16} {most['seconds']:.1f} s, {most['bytes'] / 2**20:.0f} MiB, page {most['page'] / 1e6:.2f} MB, "
          f"{answer['values']} values a node")
    for line in wrong:
        print("  ", *line, file=sys.stderr)
    reached = {"found": sum(found) / sum(of), "false": false / healthy, **most}
    exceeded = [name for name, bound in BOUNDS.items()
                if (reached[name] < bound if name == "found" else reached[name] > bound)]
    if exceeded:
        sys.exit(f"beyond its bound: {', '.join(exceeded)}")


def write(node):
    """Each worker has the fleet from its parent."""
    FLEET.write(node)


if __name__ == "__main__":
    main()
