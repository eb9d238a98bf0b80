"""Writes statistics.json: golden values for the statistics of oscope-instrument, from SciPy.

    python3 -m venv venv && venv/bin/pip install scipy==1.17.1 numpy==2.4.6
    venv/bin/python make.py > statistics.json

What SciPy has no function for is computed here from the published formula, on SciPy's
distributions, and marked "formula".
"""

import json

import numpy as np
import scipy
from scipy import optimize, stats

random = np.random.default_rng(20130620)

CONFIDENCE = 0.95


def samples():
    yield "normal 5", random.normal(100, 3, 5)
    yield "lognormal 8", random.lognormal(3, 0.5, 8)
    yield "lognormal 31", random.lognormal(-2, 1.0, 31)
    yield "ties 40", np.round(random.normal(20, 2, 40))
    yield "signed 60", random.normal(0.1, 1.0, 60)
    yield "exponential 500", random.exponential(1e-6, 500)
    yield "rising 25", np.arange(25) * 0.1 + random.normal(0, 1, 25)


def pair(interval):
    low, high = (float(end) for end in interval)
    return None if np.isnan(low) or np.isnan(high) else [low, high]


def t_interval(x):
    return pair(stats.t.interval(CONFIDENCE, len(x) - 1, np.mean(x), stats.sem(x)))


def mann_kendall(x):
    """formula: continuity-corrected normal approximation; tau-b by kendalltau"""
    n = len(x)
    s = sum(np.sign(x[j] - x[i]) for i in range(n) for j in range(i + 1, n))
    _, ties = np.unique(x, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - sum(ties * (ties - 1) * (2 * ties + 5))) / 18
    z = max(abs(s) - 1, 0) / np.sqrt(variance)
    return {
        "tau": float(stats.kendalltau(np.arange(n), x).statistic),
        "p_value": float(2 * stats.norm.sf(z)),
    }


def dip(x):
    """formula: the dip (Hartigan and Hartigan 1985) by its definition: the smallest distance to a
    unimodal distribution function, found by a linear programme for each mode at a data point"""
    x, counts = np.unique(x, return_counts=True)
    n = len(x)
    above = np.cumsum(counts) / counts.sum()
    below = above - counts / counts.sum()
    best = 1.0
    for mode in range(n):
        # Unknowns: G left of each point up to the mode, G right of it from the mode, the distance.
        left, right = list(range(mode + 1)), list(range(mode + 1, n + 1))
        where = x[: mode + 1].tolist() + x[mode:].tolist()
        rows, bounds = [], []

        def constrain(terms, bound):
            row = np.zeros(n + 2)
            for index, factor in terms:
                row[index] += factor
            rows.append(row)
            bounds.append(bound)

        for index in left + right:
            point = index if index <= mode else index - 1
            is_left_limit = index <= mode
            reached = [below[point]] if is_left_limit else [above[point]]
            if point != mode:  # continuous away from the mode
                reached = [below[point], above[point]]
            for value in reached:
                constrain([(index, 1), (n + 1, -1)], value)
                constrain([(index, -1), (n + 1, -1)], -value)
        for index in range(n):
            constrain([(index, 1), (index + 1, -1)], 0)
        for part, sign in ((left, 1), (right, -1)):
            for a, b, c in zip(part, part[1:], part[2:]):
                first, second = 1 / (where[b] - where[a]), 1 / (where[c] - where[b])
                terms = [(a, -first), (b, first + second), (c, -second)]
                constrain([(index, sign * factor) for index, factor in terms], 0)
        goal = np.zeros(n + 2)
        goal[n + 1] = 1
        found = optimize.linprog(goal, A_ub=np.array(rows), b_ub=bounds, bounds=[(0, 1)] * (n + 2))
        assert found.success, found.message
        best = min(best, found.fun)
    return float(best)


def line(x, y, w):
    """formula: weighted normal equations; equal weights are checked against linregress"""
    design = np.column_stack([np.ones_like(x), x])
    information = design.T @ (w[:, None] * design)
    intercept, slope = np.linalg.solve(information, design.T @ (w * y))
    residual = np.sum(w * (y - intercept - slope * x) ** 2) / (len(x) - 2)
    errors = np.sqrt(np.diag(np.linalg.inv(information)) * residual)
    t = stats.t.ppf((1 + CONFIDENCE) / 2, len(x) - 2)
    if np.all(w == w[0]):
        check = stats.linregress(x, y)
        ours = [slope, intercept, errors[1], errors[0]]
        theirs = [check.slope, check.intercept, check.stderr, check.intercept_stderr]
        assert np.allclose(ours, theirs, rtol=1e-9)
    return {
        "x": x.tolist(),
        "y": y.tolist(),
        "weights": w.tolist(),
        "intercept": [intercept, intercept - t * errors[0], intercept + t * errors[0]],
        "slope": [slope, slope - t * errors[1], slope + t * errors[1]],
    }


def describe(name, x):
    return {
        "name": name,
        "values": x.tolist(),
        "mean": float(np.mean(x)),
        "standard_deviation": float(np.std(x, ddof=1)),
        "median_absolute_deviation": float(stats.median_abs_deviation(x)),
        "quantiles": [[p, float(np.quantile(x, p))] for p in (0, 0.05, 0.25, 0.5, 0.9, 0.99, 1)],
        "interval": t_interval(x),
        "mann_kendall": mann_kendall(x) if len(x) >= 8 else None,
        "theil_sen_slope": float(stats.theilslopes(x, np.arange(len(x))).slope),
        "dip": dip(x) if len(x) <= 60 else None,
    }


def ratio(x, y):
    test = stats.ttest_ind(np.log(x), np.log(y), equal_var=False)
    return {
        "numerator": x.tolist(),
        "denominator": y.tolist(),
        "centre": float(stats.gmean(x) / stats.gmean(y)),
        "interval": np.exp(test.confidence_interval(CONFIDENCE)).tolist(),
    }


def walk(n, factor):
    x = [random.normal()]
    while len(x) < n:
        x.append(factor * x[-1] + random.normal())
    return np.array(x)


x = np.linspace(1, 64, 12)
y = 120 + 3.5 * x + random.normal(0, 5, 12)
values = {
    "made_by": f"SciPy {scipy.__version__}, NumPy {np.__version__}, make.py",
    "t_quantiles": [
        [level, degrees, float(stats.t.ppf((1 + level) / 2, degrees))]
        for level in (0.5, 0.9, 0.95, 0.999)
        for degrees in (1, 2, 2.7, 4, 9, 19.3, 29, 99, 999, 1e5)
    ],
    "samples": [describe(name, x) for name, x in samples()]
    + [
        describe("autoregressive 0.8, 100", walk(100, 0.8)),
        describe("alternating -0.6, 80", walk(80, -0.6)),
        describe(
            "two modes 30",
            np.concatenate([random.normal(100, 1, 24), random.normal(110, 1, 6)]),
        ),
    ],
    "ratios": [
        ratio(random.lognormal(3, 0.1, 10), random.lognormal(2.9, 0.02, 15)),
        ratio(random.lognormal(0, 0.5, 3), random.lognormal(0, 0.5, 4)),
    ],
    "lines": [
        line(x, y, np.ones_like(x)),
        line(x, y, 1 / y**2),
        line(x[:3], y[:3], np.array([1.0, 2.0, 5.0])),
    ],
}

# One line for each record, so that a change can be read.
fields = []
for name, value in values.items():
    if isinstance(value, list):
        records = ",\n".join(json.dumps(record) for record in value)
        fields.append(f"{json.dumps(name)}: [\n{records}\n]")
    else:
        fields.append(f"{json.dumps(name)}: {json.dumps(value)}")
print("{\n" + ",\n".join(fields) + "\n}")
