"""Compares `oscope ab` with hyperfine on pairs of a spin loop, and counts its alarms on equal pairs.

Called by run.sh with the program, the spin loop, a directory for files, the number of rounds, and the number
of equal pairs.
"""
import json
import math
import os
import statistics
import subprocess
import sys
import time

OSCOPE, SPIN, WORK, ROUNDS, EQUAL = sys.argv[1:4] + [int(n) for n in sys.argv[4:6]]
COUNT = 20_000_000
SECONDS = 4
# Quantile of the normal distribution for an interval of 99.5 %, the level of `oscope ab`.
Z = 2.807


def spin(percent):
    return f"{SPIN} {round(COUNT * (1 + percent / 100))}"


def oscope(pair, *options):
    begin = time.monotonic()
    result = subprocess.run(
        [OSCOPE, "ab", "--store", f"{WORK}/store", "--json", "--quiet", *options, "--", *pair],
        check=True, capture_output=True, text=True)
    return json.loads(result.stdout), time.monotonic() - begin


def hyperfine(pair, runs):
    begin = time.monotonic()
    file = f"{WORK}/hyperfine.json"
    subprocess.run(["hyperfine", "-N", "--warmup", "1", "--runs", str(runs), "--export-json", file, *pair],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with open(file) as results:
        first, second = json.load(results)["results"]
    return first, second, time.monotonic() - begin


def printed(first, second):
    """The ratio of the means, with the deviation that hyperfine prints next to it."""
    ratio = second["mean"] / first["mean"]
    shares = [result["stddev"] / result["mean"] for result in (first, second)]
    deviation = ratio * math.hypot(*shares)
    return ratio, ratio - deviation, ratio + deviation


def welch(first, second):
    """The interval of 99.5 % that the exported times give, if runs were independent."""
    logs = [[math.log(t) for t in result["times"]] for result in (first, second)]
    ratio = statistics.mean(logs[1]) - statistics.mean(logs[0])
    error = math.sqrt(sum(statistics.variance(log) / len(log) for log in logs))
    return math.exp(ratio), math.exp(ratio - Z * error), math.exp(ratio + Z * error)


def percentiles(values):
    values = sorted(values)
    def at(share):
        return values[min(int(share * len(values)), len(values) - 1)]
    return f"{at(0.5):.2f} ({at(0.1):.2f} to {at(0.9):.2f})"


def in_turn(percent):
    pair = [spin(0), spin(percent)]
    known, _ = oscope(pair, "--budget", f"{SECONDS}s", "--min-runs", "1000000")
    runs = known["programs"][0]["runs"]
    rows = {"oscope ab": [], "hyperfine, as printed (±σ)": [], "hyperfine's times, Welch at 99.5 %": []}
    times = {"oscope ab": [], "hyperfine": []}
    for number in range(ROUNDS):
        tools = ["oscope ab", "hyperfine"]
        for tool in tools if number % 2 == 0 else reversed(tools):
            if tool == "hyperfine":
                first, second, took = hyperfine(pair, runs)
                rows["hyperfine, as printed (±σ)"].append(printed(first, second))
                rows["hyperfine's times, Welch at 99.5 %"].append(welch(first, second))
            else:
                result, took = oscope(pair, "--budget", f"{SECONDS}s", "--min-runs", "1000000")
                judged = result["pairs"][0]
                rows[tool].append((judged["ratio"], judged["low"], judged["high"]))
                runs = result["programs"][0]["runs"]
            times[tool].append(took)
    print(f"\n{percent} % more work, {ROUNDS} rounds; s a comparison: oscope ab "
          f"{percentiles(times['oscope ab'])}, hyperfine {percentiles(times['hyperfine'])}\n")
    print("| interval | half width, % | error of the ratio, % | contains the truth | excludes 1 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    truth = 1 + percent / 100
    for name, intervals in rows.items():
        widths = [50 * (high - low) for _, low, high in intervals]
        errors = [100 * abs(ratio - truth) for ratio, _, _ in intervals]
        holds = sum(low <= truth <= high for _, low, high in intervals)
        excludes = sum(low > 1 or high < 1 for _, low, high in intervals)
        print(f"| {name} | {percentiles(widths)} | {percentiles(errors)} | {holds} of {ROUNDS} "
              f"| {excludes} of {ROUNDS} |", flush=True)


def until_told():
    took, right = [], 0
    for _ in range(ROUNDS):
        result, seconds = oscope([spin(0), spin(1)], "--budget", "60s")
        took.append(seconds)
        right += result["pairs"][0]["verdict"] == "slower"
    print(f"\n1 % more work, until a verdict: {right} of {ROUNDS} found slower, in {percentiles(took)} s", flush=True)


def equal():
    alarms = 0
    verdicts = {}
    for _ in range(EQUAL):
        result, _ = oscope([spin(0), spin(0)], "--budget", "2s")
        judged = result["pairs"][0]
        verdicts[judged["verdict"]] = verdicts.get(judged["verdict"], 0) + 1
        alarms += judged["low"] is not None and (judged["low"] > 1 or judged["high"] < 1)
    print(f"\n{EQUAL} equal pairs of at most 2 s: {alarms} alarms; verdicts {verdicts}", flush=True)


print(f"load average before: {os.getloadavg()[0]:.2f}")
until_told()
in_turn(1)
in_turn(0)
equal()
print(f"load average after: {os.getloadavg()[0]:.2f}")
