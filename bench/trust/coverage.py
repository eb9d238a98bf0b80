#!/usr/bin/env python3
"""Do printed intervals contain the value of the next run?

    bench/trust/coverage.py FOLDER...

Each FOLDER is a series: files of `oscope show --json`, taken in the order of their names. Series are
pooled; README.md says what the tables mean.
"""

import collections
import json
import math
import pathlib
import statistics
import sys

TARGET = 0.05
LEAST_RUNS = 3  # for a spread, and for a median of runs
WORST = 3

Number = collections.namedtuple("Number", "value low high quiet")


def numbers(run):
    """The estimates of a run by (experiment, levels, metric); without those that are not sound."""
    found = {}
    for experiment in run["experiments"]:
        for point in experiment["points"]:
            levels = ", ".join(str(level) for level in point["levels"].values())
            for estimate in point["estimates"]:
                interval = estimate["interval"]
                if estimate["verdict"] == "sound" and interval is not None:
                    key = (experiment["id"], levels, estimate["metric"])
                    found[key] = Number(
                        estimate["value"], interval["low"], interval["high"], not estimate["doubtful"]
                    )
    return found


def certain(run):
    """The numbers of certain findings by (experiment, finding, name)."""
    found = {}
    for finding in run["findings"]:
        if finding["grade"] == "certain":
            for name, number in finding["numbers"].items():
                interval = number["interval"]
                if interval is not None:
                    key = (finding["experiment"], finding["key"], name)
                    found[key] = Number(number["value"], interval["low"], interval["high"], True)
    return found


def stated(run):
    """The values of the numbers of all findings, whatever their grade, by the same keys."""
    return {
        (finding["experiment"], finding["key"], name): number["value"]
        for finding in run["findings"]
        for name, number in finding["numbers"].items()
    }


def holds(number, value):
    return number.low <= value <= number.high


def half_width(number):
    return (number.high - number.low) / 2 / abs(number.value) if number.value else math.inf


class Share:
    """A share of cases, which are counted by the runs that they rest on."""

    def __init__(self):
        self.by_runs = collections.defaultdict(lambda: [0, 0])

    def add(self, runs, true):
        count = self.by_runs[runs]
        count[0] += bool(true)
        count[1] += 1

    def total(self, without=None):
        counts = [count for runs, count in self.by_runs.items() if without not in runs]
        return sum(true for true, _ in counts), sum(cases for _, cases in counts)

    def error(self):
        """The standard error by the jackknife over runs, since the numbers of a run, and the pairs
        that share one, go wrong together."""
        runs = sorted({run for runs in self.by_runs for run in runs})
        parts = [self.total(run) for run in runs]
        shares = [true / cases for true, cases in parts if cases]
        if len(shares) < LEAST_RUNS:
            return None
        return math.sqrt((len(shares) - 1) * statistics.pvariance(shares))

    def __str__(self):
        true, cases = self.total()
        if cases == 0:
            return "none"
        error = self.error()
        around = "" if error is None else f" ± {196 * error:.1f}"
        return f"{100 * true / cases:.1f}{around} % of {cases}"

    def percent(self):
        true, cases = self.total()
        return f"{100 * true / cases:.0f} %" if cases else "-"


class Part:
    """What is counted of the whole, of an experiment, or of one value."""

    def __init__(self):
        self.next_run = Share()
        self.next_run_quiet = Share()
        self.known = Share()
        self.spreads = []
        self.half_widths = []

    def spread(self):
        return f"{100 * statistics.median(self.spreads):.1f} %" if self.spreads else "-"

    def half_width(self):
        return f"{100 * statistics.median(self.half_widths):.1f} %" if self.half_widths else "-"


class Tables:
    def __init__(self):
        self.whole = Part()
        self.experiments = collections.defaultdict(Part)
        self.values = collections.defaultdict(Part)
        self.counts = Share()
        self.findings = Share()
        self.findings_missed = collections.Counter()
        self.runs = 0
        self.pairs = 0

    def add(self, series, runs):
        of_runs = [numbers(run) for run in runs]
        exact = counted(of_runs)
        for place, found in enumerate(of_runs):
            following = of_runs[place + 1] if place + 1 < len(of_runs) else {}
            for key, number in found.items():
                self.add_number(key, key in exact, number, following.get(key), (series, place))
        for key in set().union(*of_runs) - exact:
            self.add_spread(key, [found[key].value for found in of_runs if key in found])
        self.add_findings(series, runs)
        self.runs += len(runs)
        self.pairs += max(0, len(runs) - 1)

    def parts(self, key):
        return self.whole, self.experiments[key[0]], self.values[key]

    def add_number(self, key, exact, number, following, place):
        both = (place, (place[0], place[1] + 1))
        if exact:
            if following:
                self.counts.add(both, holds(number, following.value))
            return
        for part in self.parts(key):
            part.known.add((place,), half_width(number) <= TARGET)
            part.half_widths.append(half_width(number))
            if following:
                part.next_run.add(both, holds(number, following.value))
                if number.quiet and following.quiet:
                    part.next_run_quiet.add(both, holds(number, following.value))

    def add_spread(self, key, values):
        if len(values) < LEAST_RUNS or statistics.fmean(values) == 0:
            return
        if min(values) > 0:
            spread = statistics.stdev(math.log(value) for value in values)
        else:
            spread = statistics.stdev(values) / abs(statistics.fmean(values))
        for part in self.parts(key):
            part.spreads.append(spread)

    def add_findings(self, series, runs):
        values = collections.defaultdict(list)
        for run in runs:
            for key, value in stated(run).items():
                values[key].append(value)
        for place, run in enumerate(runs):
            for key, number in certain(run).items():
                if len(values[key]) >= LEAST_RUNS:
                    inside = holds(number, statistics.median(values[key]))
                    self.findings.add(((series, place),), inside)
                    self.findings_missed[key] += not inside

    def print(self):
        whole = self.whole
        print(f"{self.runs} runs, {self.pairs} pairs of following runs, {len(self.values)} values\n")
        for title, what in (
            ("next run's value inside the interval, all values", whole.next_run),
            ("  without warning in either run", whole.next_run_quiet),
            ("numbers in certain findings that contain the median of runs", self.findings),
            ("values with an interval within ±5 %", whole.known),
            ("half-width of the intervals, median over values", whole.half_width()),
            ("standard deviation between runs, median over values", whole.spread()),
            ("exact counts that the next run repeats", self.counts),
        ):
            print(f"{title:<62}{what}")
        self.print_experiments()
        missed = [(count, key) for key, count in self.findings_missed.items() if count]
        if missed:
            print("\ncertain numbers that miss the median of runs, and in how many runs:")
            for count, (experiment, finding, name) in sorted(missed, reverse=True)[:10]:
                print(f"  {count}  {experiment} {finding}: {name}")

    def print_experiments(self):
        print(f"\n{'experiment':<26}{'values':>7}{'inside':>8}{'±5 %':>7}{'half':>8}{'spread':>8}  worst values")
        for experiment, part in sorted(self.experiments.items()):
            values = [(key, value) for key, value in self.values.items() if key[0] == experiment]
            row = f"{experiment:<26}{len(values):>7}{part.next_run.percent():>8}{part.known.percent():>7}"
            print(f"{row}{part.half_width():>8}{part.spread():>8}  {worst(values)}")


def counted(of_runs):
    """The values whose every interval has no width: counts that are known exactly."""
    keys = set().union(*of_runs)
    return {
        key
        for key in keys
        if all(found[key].low == found[key].high for found in of_runs if key in found)
    }


def worst(values):
    """The values that held least often, and of equal ones the widest."""

    def badness(entry):
        true, cases = entry[1].next_run.total()
        return (true / cases if cases else 1.0, -statistics.median(entry[1].half_widths))

    said = []
    for (_, levels, metric), part in sorted(values, key=badness)[:WORST]:
        true, cases = part.next_run.total()
        said.append(f"{levels} {metric} {true} of {cases}, ±{part.half_width()}")
    return "; ".join(said)


def main(folders):
    if not folders or any(folder.startswith("-") for folder in folders):
        sys.exit(__doc__.strip())
    tables = Tables()
    for folder in folders:
        files = sorted(pathlib.Path(folder).glob("*.json"))
        if not files:
            sys.exit(f"coverage.py: no runs in '{folder}'")
        tables.add(folder, [json.loads(file.read_text()) for file in files])
    tables.print()


if __name__ == "__main__":
    main(sys.argv[1:])
