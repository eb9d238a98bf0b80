#!/usr/bin/env python3
"""Reads the exports of `oscope ab` in the ways of hyperfine's scripts: whiskers, histogram, statistics, parameters,
progression and Welch's test.

    e2e/exports/hyperfine.py OSCOPE

If hyperfine is installed, its own export must have no field that the export of oscope is without."""

import csv
import json
import math
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path


def exported(work, program, *options):
    """The results in the JSON that `program` writes."""
    path = work / "export.json"
    path.unlink(missing_ok=True)
    command = [*program, "--runs", "12", "--export-json", path, *options]
    ended = subprocess.run(command, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr
    return json.loads(path.read_text())["results"]


def is_near(one, other):
    return math.isclose(one, other, rel_tol=1e-9, abs_tol=1e-12)


def check_whiskers(results):
    for result in results:
        low, middle, high = statistics.quantiles(result["times"], n=4, method="inclusive")
        assert low <= result["median"] <= high and is_near(middle, result["median"]), result
    labels = [result["command"] for result in sorted(results, key=lambda result: result["median"])]
    assert set(labels) == {"sleep 0.01", "sleep 0.05"}, labels


def check_histogram(results):
    times = [result["times"] for result in results]
    low, high = min(map(min, times)), max(map(max, times))
    assert is_near(low, min(result["min"] for result in results))
    assert is_near(high, max(result["max"] for result in results))
    bins = [0] * 10
    for time in (time for all_times in times for time in all_times):
        bins[min(int((time - low) / (high - low) * len(bins)), len(bins) - 1)] += 1
    assert sum(bins) == sum(map(len, times))


def check_statistics(results):
    for result in results:
        times = result["times"]
        for name, value in [("mean", statistics.mean(times)), ("stddev", statistics.stdev(times))]:
            assert is_near(result[name], value), (name, result[name], value)
        assert 0 <= result["user"] + result["system"] <= result["max"], result


def check_parameters(results):
    names = {name for result in results for name in result["parameters"]}
    assert names == {"time"}, names
    places = [float(result["parameters"]["time"]) for result in results]
    assert places == [0.01, 0.02, 0.03], places
    means = [result["mean"] for result in results]
    assert all(mean >= place for mean, place in zip(means, places)), means
    assert all(result["stddev"] >= 0 for result in results)


def check_progression(results):
    for result in results:
        times = result["times"]
        assert len(times) == 12 and result["exit_codes"] == [0] * 12 and len(result["memory_usage_byte"]) == 12
        moving = [statistics.mean(times[max(at - 3, 0):at + 1]) for at in range(len(times))]
        assert min(times) <= min(moving) <= max(moving) <= max(times)


def check_welch(results):
    (one, other) = (result["times"] for result in results)
    error = math.sqrt(sum(statistics.variance(times) / len(times) for times in (one, other)))
    t = (statistics.mean(one) - statistics.mean(other)) / error
    assert math.isfinite(t), (one, other)


def check_csv(path, results):
    rows = list(csv.DictReader(open(path, newline="")))
    assert [row["command"] for row in rows] == [result["command"] for result in results]
    for row, result in zip(rows, results):
        for name in ["mean", "stddev", "median", "user", "system", "min", "max"]:
            assert is_near(float(row[name]), result[name]), name
        assert row["parameter_time"] == result["parameters"]["time"]


def main():
    with tempfile.TemporaryDirectory() as work:
        work = Path(work)
        ours = [sys.argv[1], "ab", "--no-store", "--quiet", "--force"]
        pair = exported(work, ours, "sleep 0.05", "sleep 0.01")
        for check in [check_whiskers, check_histogram, check_statistics, check_progression, check_welch]:
            check(pair)
        table = work / "export.csv"
        scan = exported(work, ours, "-P", "time", "0.01", "0.03", "-D", "0.01", "--export-csv", table, "sleep {time}")
        check_parameters(scan)
        check_csv(table, scan)
        print("hyperfine's formats: read in the ways of its six scripts, and as CSV")
        if shutil.which("hyperfine"):
            theirs = exported(work, ["hyperfine", "-N"], "-L", "time", "0.01,0.02", "sleep {time}")
            missing = {name for result in theirs for name in result} - set(scan[0])
            assert not missing, missing
            print("hyperfine's own export has no further field")
        else:
            print("hyperfine's own export: not checked, since it is not installed")


main()
