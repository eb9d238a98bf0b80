"""The ways in which a node of a simulated fleet is bad: the factor by which each of its values takes longer."""

import re

MIB = 1 << 20


def size(levels):
    """The block that a point works on, in bytes."""
    sizes = [levels.get(axis) for axis in ("block_size", "working_set", "piece_size")]
    return next((found for found in sizes if isinstance(found, int)), 0)


def in_huge_pages(levels):
    """True for blocks in huge pages beyond the caches of a core, where translating addresses costs."""
    pages = re.match(r"\d+ MiB", str(levels.get("pages", "")))
    return bool(pages) and (size(levels) > MIB or "strides" in levels)


def cpu_quota(experiment, levels, metric):
    """A limit below what several threads or processes use together."""
    together = experiment.startswith("threads.") or experiment in (
        "process.switch", "process.ipc", "process.wakeup", "memory.parallel", "memory.false_sharing")
    return 1.5 if together else 1.0


def seccomp_filter(experiment, levels, metric):
    """A long filter before each system call."""
    calls = experiment in ("process.calls", "process.scale", "process.poll", "file.call")
    return 1.12 if calls else 1.0


def slow_disk(experiment, levels, metric):
    """A worn or busy device."""
    waits = (experiment in ("file.sync", "file.group_commit", "file.random")
             or experiment == "file.cold_warm" and metric.startswith("cold")
             or levels.get("pass") == "read cold" or levels.get("through") == "direct")
    return 1.5 if waits else 1.0


def slow_memory(experiment, levels, metric):
    """A memory channel that is missing."""
    beyond = experiment in ("memory.bandwidth", "memory.copy", "memory.latency") and size(levels) >= 64 * MIB
    return 1.3 if beyond or experiment == "memory.parallel" else 1.0


def slow_link(experiment, levels, metric):
    """A link that is slower than it should be."""
    return 1.3 if experiment.startswith("transfer.") else 1.0


def no_huge_pages(experiment, levels, metric):
    """Huge pages that are off, so that base pages stand in their place."""
    return 1.25 if in_huge_pages(levels) else 1.0


# Each with the components that may be named for it: one of them must be.
FAULTS = [
    (cpu_quota, {"threads"}),
    (seccomp_filter, {"system calls"}),
    (slow_disk, {"disk"}),
    (slow_memory, {"memory"}),
    (slow_link, {"network"}),
    (no_huge_pages, {"huge pages"}),
]
