#!/usr/bin/env python3
"""Writes the reference runs, and the list of the printed figures as `figures.json` and `docs/guide/figures.md`:
`python3 reference/make.py` from the root of the checkout.

Every number here was printed in one of the five published reports that `docs/guide/reports.md` names.
Units are converted (million/s to 1/s, µs to ns, MB to bytes: 2^20, as report E's own costs of a page
follow from its speeds only so);
nothing is computed, smoothed or guessed. What maps exactly onto a point of an experiment of oscope,
the same thing counted the same way at known levels, carries that experiment's name, axes and
metrics. What does not, since a file size or a number of steps was not printed, has a name
that ends in `_reported`: it is listed, and never compared.
"""

import hashlib
import json
from pathlib import Path

from printed import KIB, MIB, TABLES

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
    """`points`: a list of levels, in the order of the axes, and of values, in that of the metrics. A point has no
    level on an axis where the level is `None`."""
    batch = {"remarks": [], "warm": True, "cpu": None, "started_ns": 0, "wall_ns": 0,
             "disturbance": {"stolen_ns": None, "others_ns": None}}
    usage = {"user_ns": 0, "system_ns": 0, "minor_faults": 0, "major_faults": 0,
             "voluntary_switches": 0, "involuntary_switches": 0}

    def point(levels, values):
        samples = [{"metric": m["name"], "reading": {"value": float(value)}, "usage": usage, "at_ns": 0}
                   for m, value in zip(metrics, values) if value is not None]
        return {"point": [[a["name"], level] for a, level in zip(axes, levels) if level is not None],
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
    document = {"format": "oscope-run", "version": 6, "run": run}
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    (HERE / f"{name}.oscope.json").write_text(text)


# Of one printed unit, in the unit of oscope.
UNITS = {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1.0, "min": 60e9, "MiB/s": float(MIB), "B/s": 1.0, "MB/s": 1e6,
         "GB/s": 1e9, "Mbit/s": 1e6 / 8, "B": 1.0, "KB": float(KIB), "MB": float(MIB), "count": 1.0, "1/s": 1.0,
         "million/s": 1e6, "ratio": 1.0}


def figures(table, series=None, system=None):
    """The figures of a table, of one series or one system."""
    found = next(it for it in TABLES if it["id"] == table)
    return [it for it in found["figures"] if series in (None, it["series"])
            and system in (None, it["system"] or found["system"])]


def value(figure):
    # Fifteen digits: what the conversion adds behind them was not printed.
    return float(f"{float(figure['printed']) * UNITS[figure['unit']]:.15g}")


def reported(table, id, title, metric, unit=None, **which):
    """A table whose figures are listed and never compared: all, or those printed in one unit."""
    place = next(it for it in TABLES if it["id"] == table)
    section = f"Report {place['report'].upper()}, {place['place']}"
    axes = [axis("what", "what", "choice"), axis("column", "column", "choice")]
    # Both systems of report E have the same points, so that they can be compared with each other. Two columns of
    # Windows have the same head; the fourth has the place that this head has for Linux.
    column = lambda it: (it["series"].removeprefix("Linux").removeprefix("Windows").lstrip(", ")
                         .removesuffix(" (fourth column)") or "value")
    return experiment(id, title, section, axes, [metric],
                      [([it["what"], column(it)], [value(it)]) for it in figures(table, **which)
                       if unit in (None, it["unit"])])


def size_calls(table, section):
    """Calls of a byte: time and rates by the size of the file."""
    metrics = [WALL, RATE, THROUGHPUT]
    rows = {}
    for it in figures(table):
        call, column = it["series"].split(" ", 1)
        rows.setdefault((call.lower(), it["x"]), {})[column] = value(it)
    columns = ["Wall Time", "Speed (B/s)", "Speed (MiB/s)"]
    return experiment("file.call_reported", "System calls per byte", section, [*CALL, FILE_SIZE], metrics,
                      [([call, size], [row[column] for column in columns]) for (call, size), row in rows.items()])


BYTES = metric("size", "size", "bytes", "neither")

# Report A: MacBook Air M1.
write("macbook-air-m1", "a MacBook Air M1", None, "report A",
      {"architecture": "aarch64", "vendor": "Apple", "model": "Apple M1", "memory_bytes": 16 << 30,
       "product": "MacBook Air"}, {"os_name": "macOS"}, [
    size_calls("a_calls", "Report A, section 5"),
    experiment("file.plateau_reported", "Block size from which nothing is gained", "Report A, section 3",
               [], [metric("block_size", "block size", "bytes", "neither")],
               [([], [value(it)]) for it in figures("a_block_size")]),
    experiment("file.dd_reported", "Files by dd and by the report's program",
               "Report A, section 2", [FILE_SIZE, axis("program", "program", "choice")], [WALL],
               [([it["x"], it["series"]], [value(it)]) for it in figures("a_dd")]),
    experiment("file.reasonable_size_reported", "File size that takes a reasonable time to read",
               "Report A, section 2", [BLOCK_SIZE], [metric("size", "file size", "bytes", "neither")],
               [([128], [value(it)]) for it in figures("a_size", "Max Filesize")]),
    # Its published program takes processor time, which adds up over threads: with 3 threads it is no speed.
    experiment("file.sum_reported", "The fastest reader", "Report A, section 6",
               [axis("program", "program", "choice")], [WALL, THROUGHPUT],
               [([wall["what"]], [value(wall), value(speed)])
                for wall, speed in zip(figures("a_sum", "Wall Time"), figures("a_sum", "Speed (B/s)"))]),
])

# Report B: two consoles are of a Razer Blade 15, section 2 ran in WSL, and the rest names no machine.
write("razer-blade-2020", "a Razer Blade 15 of 2020", None, "report B",
      {"architecture": "x86_64", "model": "Razer Blade 15 (2020)", "product": "Razer Blade 15 (2020)"},
      {"os_name": "Linux"}, [
    experiment("file.sum_reported", "The fastest reader, 16 threads", "Report B, section 6",
               [axis("state", "state", "choice")], [WALL, THROUGHPUT],
               [([wall["what"]], [value(wall), value(speed)])
                for wall, speed in zip(figures("b_sum", "Runtime"), figures("b_sum", "Runtime per MiB"))]),
])
write("unnamed-files", "a machine that report B does not name", None, "report B",
      {"architecture": "unknown", "model": "not printed"}, {"os_name": "Linux"}, [
    experiment("file.call_reported", "System calls per byte", "Report B, section 5", CALL, [RATE],
               [([it["what"]], [value(it)]) for it in figures("b_calls", "per second")]),
    experiment("file.block_size_reported", "Sum of a file by block size, file size not printed",
               "Report B, section 6", [BLOCK_SIZE], [THROUGHPUT],
               [([it["x"]], [value(it)]) for it in figures("b_blocks")]),
])
write("unnamed-wsl", "a machine with WSL that report B does not name", None, "report B",
      {"architecture": "unknown", "model": "not printed"}, {"os_name": "Linux in WSL"}, [
    reported("b_dd", "file.dd_reported", "A file of 2 GiB by dd and by the report's program", WALL, "s"),
    reported("b_benchmark", "file.dd_benchmark_reported",
             "Reading and writing against dd, file size not printed", WALL, "ns"),
])

# Report D: user-level threads.
LOCK_AXES = [axis("body", "body", "choice"), axis("lock", "lock", "choice"),
             axis("threads", "threads", "count"), axis("slice", "slice in µs", "count")]
IO_AXES = [axis("sweep", "sweep", "choice"), axis("x", "x of the sweep", "count")]
LOCKS = figures("d_locks")
write("threads-linux", "user-level threads on one kernel thread", None, "report D",
      {"architecture": "unknown", "model": "not printed"}, {"os_name": "Linux"}, [
    experiment("threads.lock", "Locks that spin and locks that block", "Report D, Table 1",
               LOCK_AXES, [LOCK_RUN],
               [([it["here"]["levels"].get(axis["name"]) for axis in LOCK_AXES], [value(it)])
                for it in LOCKS if "proportional" not in it["here"]]),
    experiment("threads.lock_complex_reported", "The long body, whose length was not printed",
               "Report D, Table 1", [axis("threads", "threads", "count"), axis("lock", "lock", "choice")],
               [LOCK_RUN], [([it["x"], it["series"].split()[-1]], [value(it)])
                            for it in LOCKS if "proportional" in it["here"]]),
    experiment("threads.io_reported", "Synchronous against asynchronous I/O", "Report D, Table 2", IO_AXES, [WALL],
               [([it["series"], it["x"]], [value(it)]) for it in figures("d_io")]),
])


# Report E: one Pentium 4, two systems.
def pentium4(name, title, system, description, extra):
    write(name, title, 2003, "report E",
          {"architecture": "x86", "vendor": "Intel", "model": "Pentium 4, 1.7 GHz", "memory_bytes": 256 << 20,
           "caches": [{"level": 2, "kind": "unified", "size_bytes": 512 * KIB, "line_bytes": None, "ways": None,
                       "shared_by_cpus": 1, "instances": 1}]}, description, [
        *extra,
        reported("e_bandwidth", "memory.levels_reported", "Bandwidth of each level, block sizes not printed",
                 THROUGHPUT, system=system),
        reported("e_page_cost", "memory.page_cost_reported", "Time of a page of 4 KiB", WALL, system=system),
        reported("e_code_size", "memory.code_and_data_reported", "Cache that code and all else hold", BYTES,
                 system=system),
        reported("e_fread", "file.passes_reported", "Cost of a KiB, chunk sizes not printed", WALL, "s", system=system),
    ])


pentium4("pentium4-2003-linux", "a Pentium 4 of 2003 with Red Hat 8.0", "linux",
         {"os_name": "Red Hat Linux", "os_version": "8.0", "kernel_name": "Linux"}, [
    experiment("process.calls", "Calls per second", "Report E, Figure 26", [*CALL, OPTIMISATION], [RATE],
               [([it["here"]["levels"]["call"], it["here"]["levels"]["optimisation"]], [value(it)])
                for it in figures("e_calls", system="linux")]),
    # The same again by the names of columns, as the reference for Windows has them.
    reported("e_calls", "process.calls_reported", "Calls per second by the heads of the columns", RATE,
             system="linux"),
    reported("e_mmap", "file.mmap_reported", "Cost of a KiB by mmap of offset 0", WALL),
    reported("e_read_ahead", "file.read_ahead_reported", "Read-ahead window", BYTES, "KB"),
    reported("e_phases", "file.change_in_place_reported", "Changing every byte in place, file size not printed",
             WALL),
    experiment("memory.loops_reported", "Best piece of a loop", "Report E, section 3.3.2", [],
               [metric("piece_size", "piece size", "bytes", "neither")],
               [([], [value(it)]) for it in figures("e_pieces", "piece")]),
])
# Its third column has the same head as its fourth: which of them was optimised was not printed.
pentium4("pentium4-2003-windows", "a Pentium 4 of 2003 with Windows XP", "windows",
         {"os_name": "Windows XP", "os_version": "SP1, Cygwin", "kernel_name": "Windows"}, [
    reported("e_calls", "process.calls_reported", "Calls per second by the heads of the columns", RATE,
             system="windows"),
])
write("unnamed-ethernet", "a machine on Ethernet of 100 Mbit/s", 2003, "report E",
      {"architecture": "unknown", "model": "not printed"}, {"os_name": "Linux"}, [
    reported("e_remote", "file.remote_reported", "Waiting for the remote directory", WALL, "ms"),
])



def line(figure):
    return json.dumps({key: of for key, of in figure.items() if of is not None}, ensure_ascii=False)


def listed(table):
    head = json.dumps({key: of for key, of in table.items() if key != "figures"}, ensure_ascii=False)
    if not table["figures"]:
        return head[:-1] + ', "figures": []}'
    return head[:-1] + ', "figures": [\n  ' + ",\n  ".join(map(line, table["figures"])) + "\n ]}"


(HERE / "figures.json").write_text("[\n " + ",\n ".join(map(listed, TABLES)) + "\n]\n")


def published():
    """The list for readers."""
    text = ["# All figures of the five reports", "",
            "`reference/make.py` writes this list. `oscope reproduce` compares each figure with a run, and "
            "[reports.md](reports.md) describes the reports.", "Every digit is as printed. The reports print no spread "
            "and no state of the caches. No figure has a grade.", ""]
    systems = {"linux": "Linux", "macos": "macOS", "windows": "Windows"}
    for it in TABLES:
        text += [f"## Report {it['report'].upper()}, {it['place']}", ""]
        if "picture" in it:
            text += [f"A picture: {it['title']} (`{it['id']}`). {it['picture']['says']} "
                     f"`{it['picture']['experiment']}` draws the same.", ""]
            continue
        text += [
                 f"{it['title']} (`{it['id']}`, {len(it['figures'])} figures). "
                 f"Machine: {it['machine'] or 'not named'}."
                 f"{' ' + it['inferred'] if 'inferred' in it else ''}", "",
                 "| | | printed | unit | system |", "| --- | --- | ---: | --- | --- |"]
        text += [f"| {of['what']} | {of['series']} | {of['printed']} | {of['unit']} | "
                 f"{systems[of['system'] or it['system']]} |" for of in it["figures"]]
        text.append("")
    return "\n".join(text)


(HERE.parent / "docs" / "guide" / "figures.md").write_text(published())
