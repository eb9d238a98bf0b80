#!/usr/bin/env python3
"""Writes the reference runs: `python3 reference/make.py` from the root of the checkout.

Every number here was printed in one of the five published reports that `docs/reports.md` names.
Units are converted (million/s to 1/s, µs to ns, MB to bytes: 2^20, as report E's own costs of a page
follow from its speeds only so);
nothing is computed, smoothed or guessed. What maps exactly onto a point of an experiment of oscope,
the same thing counted the same way at known levels, carries that experiment's name, axes and
metrics. What does not, since a file size or a number of steps was not printed, stands under a name
that ends in `_reported`: it is listed, and never compared.
"""

import hashlib
import json
from pathlib import Path

MIB = 1 << 20
KIB = 1 << 10
HERE = Path(__file__).parent


def axis(name, title, kind):
    return {"name": name, "title": title, "kind": kind}


def metric(name, title, unit, better):
    return {"name": name, "title": title, "unit": unit, "better": better, "version": 1, "bound": None}


RATE = metric("rate", "rate", "operations_per_second", "higher")
THROUGHPUT = metric("throughput", "throughput", "bytes_per_second", "higher")
WALL = metric("wall", "wall time", "nanoseconds", "lower")
LOCK_RUN = metric("run", "run, each enters once", "nanoseconds", "lower")
CALL = [axis("call", "call", "choice")]
OPTIMISATION = axis("optimisation", "optimisation", "count")
BLOCK_SIZE = axis("block_size", "block size", "bytes")
FILE_SIZE = axis("file_size", "file size", "bytes")


def experiment(id, title, section, axes, metrics, points):
    """`points`: a list of levels, in the order of the axes, and of values, in that of the metrics."""
    batch = {"remarks": [], "warm": True, "cpu": None, "started_ns": 0, "wall_ns": 0,
             "disturbance": {"stolen_ns": None, "others_ns": None, "frequency_hz": None}}
    usage = {"user_ns": 0, "system_ns": 0, "minor_faults": 0, "major_faults": 0,
             "voluntary_switches": 0, "involuntary_switches": 0}

    def point(levels, values):
        samples = [{"metric": m["name"], "reading": {"value": float(value)}, "usage": usage, "at_ns": 0}
                   for m, value in zip(metrics, values) if value is not None]
        return {"point": [[a["name"], level] for a, level in zip(axes, levels)],
                "batches": [{**batch, "samples": samples}],
                "closing": {"ending": "target_reached", "warnings": []}}

    definition = {"id": id, "title": title, "question": "What did the report print?",
                  "method": "As the report describes it; no samples and no spread were printed.",
                  "source": section, "axes": axes, "metrics": metrics, "isolation": "one_process"}
    return {"definition": definition, "skipped": None,
            "points": [point(levels, values) for levels, values in points]}


def write(name, title, year, report, machine, system, experiments):
    cpu = {"architecture": machine.pop("architecture"), "vendor": machine.pop("vendor", None),
           "model": machine.pop("model"), "family": None, "model_number": None, "stepping": None,
           "features": []}
    description = {"cpu": cpu, "topology": {}, "caches": machine.pop("caches", []),
                   "memory_bytes": machine.pop("memory_bytes", None), "page_bytes": None,
                   "huge_page_bytes": None, "hypervisor": None, "product": machine.pop("product", None),
                   "installation": None}
    assert not machine, machine
    digest = hashlib.sha256(name.encode()).hexdigest()
    # A run has to have started at some moment: that of a report without a year is the epoch's.
    moment = f"{year or 1970}-01-01T00:00:00Z"
    header = {"id": digest[:32], "name": name,
              "tags": {"source": report, "year": str(year or "not printed"), "reported": title},
              "started": moment, "ended": moment,
              "interrupted": False, "profile": "quick", "budget_ns": 0.0, "seed": 0,
              "command_line": [], "version": "reported", "directory": ".",
              "machine_fingerprint": digest[32:48]}
    environment = {**system, "build": {"program_version": "reported"}, "command_line": [],
                   "mitigations": {}, "frequency": {}, "cgroup": {}}
    run = {"header": header, "machine": description, "environment": environment, "storage": None,
           "calibration": {"resolution_ns": 0.0, "cost_ns": 0.0}, "experiments": experiments}
    document = {"format": "oscope-run", "version": 1, "run": run}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (HERE / f"{name}.oscope.json").write_text(text)


def calls(section, per_second):
    """Rates of calls out of an optimised program, which the report counted as `process.calls` does."""
    return experiment("process.calls", "Calls per second", section, [*CALL, OPTIMISATION], [RATE],
                      [([call, 3], [rate]) for call, rate in per_second])


def byte_calls(section, per_second):
    """Rates of calls for a byte each; at what optimisation was not printed."""
    return experiment("file.call_reported", "System calls per byte", section, CALL, [RATE],
                      [([call], [rate]) for call, rate in per_second])


# Report A: MacBook Air M1.
DD_SIZES = [409_600, 4_096_000, 40_960_000, 409_600_000, 4_096_000_000]
write("macbook-air-m1", "a MacBook Air M1", None, "report A",
      {"architecture": "aarch64", "vendor": "Apple", "model": "Apple M1", "memory_bytes": 16 << 30,
       "product": "MacBook Air"}, {"os_name": "macOS"}, [
    byte_calls("Report A, section 5", [("read 1 byte", 3.54e6), ("lseek", 7.05e6)]),
    experiment("file.plateau_reported", "Block size from which nothing is gained", "Report A, section 3",
               [], [metric("block_size", "block size", "bytes", "neither")], [([], [512 * KIB])]),
    experiment("file.dd_reported", "The same copy by dd and by the report's program",
               "Report A, section 2", [FILE_SIZE, axis("program", "program", "choice")], [WALL],
               [([size, program], [seconds * 1e9])
                for size, pair in zip(DD_SIZES, [(0.00171, 0.002449), (0.005807, 0.016384),
                                                 (0.045815, 0.084664), (0.290108, 0.517696),
                                                 (2.655796, 3.422016)])
                for program, seconds in zip(["dd", "the report's"], pair)]),
    experiment("file.reasonable_size_reported", "File size that takes a reasonable time to read",
               "Report A, section 2", [BLOCK_SIZE],
               [metric("size", "file size", "bytes", "neither")], [([128], [2_818_738_176])]),
    # Timed with processor time, which adds up over threads: with 3 threads it is no speed.
    experiment("file.sum_reported", "The fastest reader, in processor time", "Report A, section 6",
               [axis("threads", "threads", "count")], [THROUGHPUT],
               [([1], [11_801 * MIB]), ([3], [9_402 * MIB])]),
])

# Report B: Razer Blade 15.
write("razer-blade-2020", "a Razer Blade 15 of 2020", None, "report B",
      {"architecture": "x86_64", "model": "Razer Blade 15 (2020)", "product": "Razer Blade 15 (2020)"},
      {"os_name": "Linux"}, [
    byte_calls("Report B, section 5", [("read 1 byte", 3.84e6), ("lseek", 10.24e6)]),
    experiment("file.block_size_reported", "File throughput by block size, file size not printed",
               "Report B, section 3", [BLOCK_SIZE], [THROUGHPUT],
               [([4 * KIB], [1526 * MIB]), ([MIB], [2800 * MIB])]),
    experiment("file.sum_reported", "The fastest reader", "Report B, section 6",
               [axis("state", "state", "choice")], [THROUGHPUT],
               [(["cold"], [2_016 * MIB]), (["warm"], [9_383 * MIB])]),
])

# Report D: user-level threads.
COUNTS = [1, 3, 10, 30, 99]
LOCK_AXES = [axis("body", "body", "choice"), axis("lock", "lock", "choice"),
             axis("threads", "threads", "count")]
SIMPLE = [(11, 5), (23, 12), (57, 34), (240, 124), (517, 341)]
SIMPLE_YIELD = [(9, 6), (33, 47_432), (96, 716_165), (335, 6_958_118), (969, 77_634_089)]
COMPLEX = [(24, 23), (73, 66), (228, 215), (776, 661), (2294, 2152)]
LOCKS = ["Lock", "SpinLock"]
IO_AXES = [axis("sweep", "sweep", "choice"), axis("way", "way", "choice"),
           axis("step", "step of the sweep", "count")]
SWEEPS = {"length of the I/O": [(82, 6870), (116, 8882)],
          "I/O threads": [(902, 7415), (195, 8101), (2873, 8918), (10_394, 18_446), (208_920, 206_022)],
          "I/O and computing threads": [(1284, 4545), (2755, 6358), (6835, 19_658), (20_492, 56_192),
                                        (57_977, 156_638)]}
write("threads-linux", "user-level threads on one kernel thread", None, "report D",
      {"architecture": "unknown", "model": "not printed"}, {"os_name": "Linux"}, [
    experiment("threads.lock", "Locks that spin and locks that block", "Report D, section 3.2",
               LOCK_AXES, [LOCK_RUN],
               [([body, lock, threads], [us * 1e3])
                for body, rows in [("simple", SIMPLE), ("simple yield", SIMPLE_YIELD)]
                for threads, pair in zip(COUNTS, rows) for lock, us in zip(LOCKS, pair)]),
    experiment("threads.lock_complex_reported", "The long body, whose length was not printed",
               "Report D, section 3.2", [axis("threads", "threads", "count"), axis("lock", "lock", "choice")],
               [LOCK_RUN], [([threads, lock], [us * 1e3])
                            for threads, pair in zip(COUNTS, COMPLEX) for lock, us in zip(LOCKS, pair)]),
    experiment("threads.io_reported", "Synchronous against asynchronous I/O, first and last of each sweep "
               "or all that was printed", "Report D, section 3.3", IO_AXES, [WALL],
               [([sweep, way, step], [us * 1e3]) for sweep, rows in SWEEPS.items()
                for step, pair in enumerate(rows, 1)
                for way, us in zip(["synchronous", "asynchronous"], pair)]),
])


# Report E: one Pentium 4, two systems.
def pentium4(name, title, system, per_second, extra, bandwidth, per_page, boundary, fread):
    way = axis("where", "where", "choice")
    write(name, title, 2003, "report E",
          {"architecture": "x86", "vendor": "Intel", "model": "Pentium 4, 1.7 GHz", "memory_bytes": 256 << 20,
           "caches": [{"level": 2, "kind": "unified", "size_bytes": 512 * KIB, "line_bytes": None, "ways": None,
                       "shared_by_cpus": 1, "instances": 1}]}, system, [
        calls("Report E, section 5.1, optimised", per_second),
        *extra,
        experiment("memory.levels_reported", "Bandwidth of each level, block sizes not printed",
                   "Report E, section 3.1", [way],
                   [metric("write", "write", "bytes_per_second", "higher"),
                    metric("read", "read", "bytes_per_second", "higher")],
                   [([where], [write * MIB, read * MIB]) for where, write, read in bandwidth]),
        experiment("memory.page_cost_reported", "Extra cost of a page of 4 KiB", "Report E, section 3.1",
                   [way], [metric("cost", "extra cost", "nanoseconds", "lower")],
                   [([where], [us * 1e3]) for where, us in per_page]),
        experiment("memory.code_and_data_reported", "Cache that code and all else hold",
                   "Report E, section 3.2", [], [metric("size", "size", "bytes", "neither")],
                   [([], [boundary * KIB])]),
        experiment("file.passes_reported", "Cost of a KiB, chunk sizes not printed", "Report E, section 4.1",
                   [axis("way", "way", "choice")], [metric("cost", "cost of a KiB", "nanoseconds", "lower")],
                   [([way], [us * 1e3]) for way, us in fread]),
    ])


READ_AGAINST_MMAP = [(KIB, 26.487, 519.436), (4 * KIB, 20.890, 95.227), (64 * KIB, 19.466, 65.755),
                     (MIB, 20.086, 57.188), (64 * MIB, 21.322, 60.677)]
LINUX_EXTRA = [
    experiment("file.read_ahead_reported", "Read-ahead window", "Report E, section 4.2.2", [],
               [metric("window", "window", "bytes", "neither")], [([], [64 * KIB])]),
    experiment("file.change_in_place_reported", "Changing every byte in place, file size not printed",
               "Report E, section 4.3", [axis("buffer", "buffer", "bytes"), axis("way", "way", "choice")], [WALL],
               [([size, way], [seconds * 1e9]) for size, mmap, read in READ_AGAINST_MMAP
                for way, seconds in [("mmap", mmap), ("read and write", read)]]),
    experiment("file.remote_reported", "Round trip to the remote directory", "Report E, section 4.4",
               [axis("from", "from", "choice")], [metric("round_trip", "round trip", "nanoseconds", "lower")],
               [(["chunks of 64 bytes"], [63.52e6]), (["ping"], [0.207e6])]),
    experiment("memory.loops_reported", "Best piece of a loop", "Report E, section 3.3", [],
               [metric("piece_size", "piece size", "bytes", "neither")], [([], [64 * KIB])]),
]
pentium4("pentium4-2003-linux", "a Pentium 4 of 2003 with Red Hat 8.0",
         {"os_name": "Red Hat Linux", "os_version": "8.0", "kernel_name": "Linux"},
         [("getpid", 1.4867e6), ("fopen+fclose", 0.0946e6), ("open+close", 0.3895e6),
          ("create+delete", 0.0551e6), ("malloc+free", 11.69e6), ("fork+exit+wait", 0.00333e6)],
         LINUX_EXTRA, [("cache", 2036, 2888), ("RAM", 528, 1265), ("swap", 7.46, 12.04)],
         [("RAM over cache", 1.736), ("swap over RAM", 321.5)], 512 - 436,
         [("fread and fwrite", 45.142), ("mmap", 2.579)])
# Its getpid answers from a value that is kept, so that it is another call than Linux's.
CACHED = experiment("process.cached_getpid_reported", "getpid from a value that is kept", "Report E, section 5.1",
                    [], [RATE], [([], [125e6])])
pentium4("pentium4-2003-windows", "a Pentium 4 of 2003 with Windows XP",
         {"os_name": "Windows XP", "os_version": "SP1, Cygwin", "kernel_name": "Windows"},
         [("fopen+fclose", 0.0048e6), ("open+close", 0.0074e6), ("create+delete", 0.0022e6),
          ("malloc+free", 1.30e6), ("fork+exit+wait", 0.0001e6)],
         [CACHED], [("cache", 2132, 2749), ("RAM", 564, 1324), ("swap", 2.67, 13.10)],
         [("RAM over cache", 1.53), ("swap over RAM", 295.1)], 512 - 476,
         [("fread and fwrite", 36.558)])
