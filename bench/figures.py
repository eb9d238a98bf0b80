"""What the tables of several benchmarks need: times of programs, medians and their intervals, and files to read."""

import math
import os
import subprocess
import time
from statistics import median

MIB = 1 << 20


def seconds(command):
    """Wall time of a whole program, its start included."""
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return time.perf_counter() - begin


def spread(values, form=".2f"):
    """The median, and the least and the greatest value."""
    return f"{median(values):{form}} ({min(values):{form}} to {max(values):{form}})"


def interval(values):
    """The median, and an interval that contains it in 95 of 100 cases, by order; without one if the
    values are too few (fewer than six)."""
    ordered, count = sorted(values), len(values)
    below, rank = 0.0, 0
    for index in range(count // 2):
        below += math.comb(count, index) / 2**count
        if 2 * below > 0.05:
            break
        rank = index + 1
    return median(ordered), (ordered[rank - 1], ordered[-rank]) if rank else None


def with_interval(values):
    """The median with its interval; with the least and the greatest of too few values."""
    middle, bounds = interval(values)
    if bounds is None:
        return f"{middle:.2f} [{min(values):.2f} to {max(values):.2f}, n={len(values)}]"
    return f"{middle:.2f} ({bounds[0]:.2f} to {bounds[1]:.2f})"


def make_file(path, size):
    """A file of random bytes, on the device. No two of its MiB are the same."""
    chunk = os.urandom(MIB)
    with open(path, "wb") as file:
        for number in range(size // MIB):
            file.write(number.to_bytes(8, "little") + chunk[8:])
        file.flush()
        os.fsync(file.fileno())
