"""The numbers that the five published reports print in text, tables and consoles, as they are printed there.
Of their graphs, which are pictures, it has what the text says of each, in other words, and the charts of oscope
that show the same.

`make.py` writes `figures.json` of this, which the program includes, and the reference runs. A figure keeps its
digits as printed; units are converted by the program. Where a figure has a counterpart, the point of oscope
that does the same work is next to it. Spread and cache state were printed nowhere and are unknown.
"""

KIB = 1 << 10
MIB = 1 << 20

TABLES = []


def table(id, report, place, title, kind="table", system="linux", machine=None, shapes=(), why=None,
          because=None, inferred=None, rivals=None, axes=None):
    """A new table. `why`: the reason why its figures have no counterpart; `because`: a known cause of a
    difference; `inferred`: the part of the work that was not printed, and what it follows from; `rivals`: pairs of
    series of which the first that wins is found by a crossover; `axes`: the horizontal axis of its graph, and both
    scales."""
    TABLES.append({"id": id, "report": report, "place": place, "title": title, "kind": kind, "system": system,
                   "machine": machine, "shapes": list(shapes), "why": why, "because": because,
                   **({"inferred": inferred} if inferred else {}),
                   "rivals": list(rivals or []), "axes": axes, "figures": []})


def picture(id, report, place, title, says, experiment, charts=(), systems=("linux",), machine=None, **levels):
    """A graph that is a picture. `says`: what the text says of it; `charts`: the charts of the experiment that show
    the same, all of them without one; `levels`: those that the charts need and that a quick run leaves out."""
    table(id, report, place, title, kind="picture", system=systems[0], machine=machine)
    TABLES[-1]["picture"] = {"says": says, "experiment": experiment, "charts": list(charts), "levels": levels,
                             "systems": list(systems)}


def axes(x, unit, x_scale="Logarithmic", y_scale=None, as_reported=False):
    """A graph along `x`. `as_reported`: the report has this graph and names its axes; else the scales are ours."""
    return {"x": x, "unit": unit, "x_scale": x_scale, "y_scale": y_scale, "as_reported": as_reported}


def figure(what, series, printed, unit, here=None, x=None, system=None, why=None):
    """A figure of the last table. `x`: its place along the table's numeric axis."""
    TABLES[-1]["figures"].append({"what": what, "series": series, "printed": printed, "unit": unit,
                                  "here": here, "x": x, "system": system, "why": why})


def at(experiment, metric, levels, **more):
    """The value of a metric at a point. `inverse_of`: the time of so much work at the rate measured. `times`: the
    value is so many times that of the metric. `or`: other levels that the report may have meant as well.
    `any_for_shapes`: an axis on which any level will do for the shapes.
    `over`, `minus`: levels of a second point, by whose value this one is divided or lessened.
    `proportional`: the amount of work was not printed, so that only ratios can be compared."""
    return {"experiment": experiment, "metric": metric, "levels": levels, **more}


def knee(experiment, metric, along, levels, side, less=None):
    """A place on a curve. `side`: `from`, where the plateau begins; `until`, where it ends; `best`, its top.
    `less`: another metric, which is subtracted."""
    place = {"along": along, "side": side, **({"less": less} if less else {})}
    return {"experiment": experiment, "metric": metric, "levels": levels, "knee": place}


# Report A: MacBook Air M1, macOS.
M1 = "MacBook Air M1, 16 GB, 512 GB SSD"
DD = [("409600", "0.00171", "0.002449"), ("4096000", "0.005807", "0.016384"),
      ("40960000", "0.045815", "0.084664"), ("409600000", "0.290108", "0.517696"),
      ("4096000000", "2.655796", "3.422016")]
table("a_dd", "a", "section 2, table of dd", "Files of five sizes by dd and by the report's program",
      system="macos", machine=M1, shapes=["ratio", "growth", "crossover"], rivals=[["dd", "Part1"]],
      inferred="Blocks of 4096 B were not printed with the table. They are those of the report's console, and each "
               "size is a round number of them.",
      because="one time there covers a file that is made and read, and its own program draws each byte at random; here "
              "a file is read and written over another",
      axes=axes("file size", "bytes"))


def against_dd(program, work, block, size, **more):
    """The time of a whole file."""
    return at("file.against_dd", "throughput", {"work": work, "program": program, "block_size": block, "file_size": size},
              inverse_of=size, **more)


for size, dd, own in DD:
    for series, program, printed in [("dd", "dd", dd), ("Part1", "oscope", own)]:
        figure(f"{size} B", series, printed, "s", against_dd(program, "copy", 4 * KIB, int(size)), x=int(size))
table("a_size", "a", "section 2, console", "File size that takes a reasonable time to read", "console", "macos", M1,
      why="the size depends on where a doubling stops; `oscope file size` finds it for a file of yours")
figure("blocks of 128 B", "Max Filesize", "2818738176", "B")
figure("blocks of 128 B", "Final Block Count", "33554432", "count",
       why="33554432 blocks of 128 B are 4294967296 B, more than the file size printed next to it")
table("a_bounds", "a", "section 2, text", "A reasonable time", "prose", "macos", M1,
      why="the report chose it; it measured nothing")
figure("least", "reasonable time", "5", "s")
figure("most", "reasonable time", "15", "s")
table("a_block_size", "a", "section 3, text", "Block size of the fastest reading", "prose", "macos", M1)
figure("reading", "fastest", "524288", "B", knee("file.block_size", "throughput", "block_size",
                                                 {"pass": "read warm"}, "best"))
CALLS_A = [
    ("281873817", "79.302903", "3554394.685904", "3.389735", "39.992212", "7048217.712989", "6.721704"),
    ("563747634", "159.244219", "3540145.052299", "3.376145", "80.146826", "7033935.866656", "6.708084"),
    ("845621451", "239.079816", "3536983.862327", "3.373131", "121.288424", "6971988.118174", "6.649006"),
    ("1127495268", "318.199525", "3543359.368623", "3.379211", "159.818650", "7054841.647079", "6.728021"),
    ("1409369085", "397.529714", "3545317.583480", "3.381078", "198.619846", "7095811.991517", "6.767094"),
    ("1691242902", "473.444248", "3572211.319800", "3.406726", "239.251300", "7068897.439638", "6.741426"),
    ("1973116719", "557.055597", "3542046.304940", "3.377959", "279.929652", "7048616.339508", "6.722084"),
    ("2254990536", "635.757722", "3546933.773618", "3.382620", "319.885830", "7049360.504653", "6.722794"),
    ("2536864353", "715.130166", "3547416.223804", "3.383080", "357.659686", "7092955.824493", "6.764370"),
    ("2818738170", "794.535839", "3547653.902620", "3.383306", "398.003321", "7082197.613120", "6.754110"),
]
table("a_calls", "a", "section 5, table", "read and lseek of 1 byte over files of growing size", system="macos",
      machine=M1, shapes=["ratio", "growth", "crossover"], rivals=[["READ Wall Time", "LSEEK Wall Time"]],
      axes=axes("file size", "bytes", "Linear", "Linear", as_reported=True))
for size, *row in CALLS_A:
    for call, name, cells in [("READ", "read 1 byte", row[:3]), ("LSEEK", "lseek 1 byte", row[3:])]:
        for column, unit, metric, printed in zip(["Wall Time", "Speed (B/s)", "Speed (MiB/s)"], ["s", "B/s", "MiB/s"],
                                                 ["wall", "throughput", "throughput"], cells):
            figure(f"{size} B", f"{call} {column}", printed, unit, x=int(size),
                   here=at("file.call", metric, {"call": name, "file_size": int(size)}))
SUM_A = [("without threads", 1, "0.234221", "11477.016165", "12034523701.973776"),
         ("3 threads", 3, "0.285919", "9401.817309", "9858519986.429724"),
         ("final code", 1, "0.227792", "11800.933321", "12374175458.312847")]
table("a_sum", "a", "section 6, consoles", "The fastest reader", "console", "macos", M1, shapes=["ratio"],
      because="its program takes processor time, which adds up over threads")
for what, threads, wall, mib, bytes_ in SUM_A:
    here = at("file.sum", "throughput", {"state": "warm", "method": "pread", "block_size": 512 * KIB, "threads": threads})
    figure(what, "Wall Time", wall, "s", why="the same as the speed, which is compared")
    figure(what, "Speed (MiB/s)", mib, "MiB/s", here)
    figure(what, "Speed (B/s)", bytes_, "B/s", here)
for id, place, title, says, experiment, charts in [
    ("a_dd_graph", "section 2, graph", "Files of five sizes by dd and by the report's program",
     "dd is faster at every size.", "file.against_dd", ()),
    ("a_block_time", "section 3, graph of the wall time", "Reading a file by block size",
     "Larger blocks take less time, up to a point from which on nothing is gained.", "file.block_size", ()),
    ("a_block_speed", "section 3, graph of the speed", "The same as speeds",
     "Blocks of 512 KiB are the fastest.", "file.block_size", ()),
    ("a_cache_time", "section 4, graph of the wall time", "Reading with and without cached data, by block size",
     "Cached data is read faster; the machine was restarted to empty the cache.", "file.cold_warm", ()),
    ("a_cache_speed", "section 4, graph of the speed", "The same as speeds",
     "Cached data is read faster.", "file.cold_warm", ()),
    ("a_calls_time", "section 5, graph of the wall time", "read and lseek of 1 byte by file size",
     "lseek takes less time than read, since it does less work; the table has the numbers.", "file.call", ["wall"]),
    ("a_calls_speed", "section 5, graph of the speed", "The same as speeds",
     "The table has the numbers.", "file.call", ["rate"]),
    ("a_threads_time", "section 6, graph of the wall time", "The fastest reader by block size and threads",
     "More threads take longer, above all with small blocks; beyond some block size nothing is gained.",
     "file.sum", ["throughput"]),
    ("a_threads_speed", "section 6, chart of the speed", "The same as speeds",
     "Threads gain nothing; the speed is highest without them.", "file.sum", ["throughput"]),
]:
    picture(id, "a", place, title, says, experiment, charts, ["macos"], M1)

# Report B. It names a machine for two consoles of section 6 alone; section 2 ran in WSL.
RAZER = "Razer Blade 15 (2020)"
WSL = "a machine with WSL that the report does not name"
ISO = 2048 * MIB
table("b_dd", "b", "section 2, consoles", "A file of 2 GiB by dd and by the report's program", "console",
      machine=WSL, shapes=["ratio"],
      because="which device held the files there, and what of them was in memory, was not printed; here they are in "
              "the page cache")
COPY_2_GIB = against_dd("dd", "copy", 4 * KIB, ISO)
figure("dd, copy", "time", "50.3539", "s", COPY_2_GIB)
figure("dd, copy", "speed", "42.6", "MB/s", at("file.against_dd", "throughput", COPY_2_GIB["levels"]))
figure("run -r, 4096 × 524288", "time", "24.017378", "s", against_dd("oscope", "read", 4 * KIB, ISO))
figure("run -w, 4096 × 524288", "time", "25.299178", "s", against_dd("oscope", "write", 4 * KIB, ISO))
table("b_dd_text", "b", "section 2, text", "The same in words", "prose", machine=WSL,
      why="the consoles have it with more digits")
figure("dd", "time", "50", "s")
figure("run", "time", "49", "s")
table("b_reasonable", "b", "section 2, text on block_count", "A reasonable time", "prose", machine=WSL,
      why="the report chose it; it measured nothing")
figure("more than", "reasonable time", "5", "s")
BENCHMARK = [("BM_read_and_write", "oscope", "512", "1.2601e+10", "181507"),
             ("BM_read_and_write", "oscope", "1024", "8060205591", "67053"),
             ("BM_read_and_write", "oscope", "2048", "6564216220", "117544"),
             ("BM_read_and_write", "oscope", "4096", "5702071011", "196581"),
             ("BM_dd", "dd", "512", "9296277143", "63828"), ("BM_dd", "dd", "1024", "6122079373", "168342"),
             ("BM_dd", "dd", "2048", "5338524615", "169010"), ("BM_dd", "dd", "4096", "4366228072", "90932")]
table("b_benchmark", "b", "section 2, table of Google Benchmark", "Reading and writing against dd by block size",
      machine=WSL, shapes=["ratio", "order", "growth", "crossover"],
      inferred="The size of the file was not printed: it is taken to be the 2 GiB of the section's consoles.",
      rivals=[["BM_read_and_write Time", "BM_dd Time"]],
      axes=axes("block size", "bytes"))
for name, program, size, time, cpu in BENCHMARK:
    figure(f"{name}/{size}", f"{name} Time", time, "ns", x=int(size),
           here=against_dd(program, "copy", int(size), ISO, any_for_shapes="file_size"))
    figure(f"{name}/{size}", f"{name} CPU", cpu, "ns", x=int(size),
           why="processor time of the process that waits, not of the one that copies")
table("b_plateau", "b", "section 3, text", "Speed of the plateau", "prose")
figure("reading", "plateau", "2.5", "GB/s",
       at("file.block_size", "throughput", {"block_size": MIB, "pass": "read warm"}))
table("b_caching", "b", "section 4, text", "Block size from which the gain of the page cache is stable", "prose")
figure("second less first reading", "stable from", "8192", "B",
       knee("file.cold_warm", "warm", "block_size", {}, "from", less="cold"))
picture("b_block_graph", "b", "section 3, graph", "Reading a file by block size",
        "The speed grows with the block size up to about 2.5 GB/s.", "file.block_size")
picture("b_cache_graph", "b", "section 4, graph", "First and second reading, by block size",
        "The second reading is much faster than the first, and than a second one with an emptied cache; the gap grows "
        "up to blocks of about 8 KiB.", "file.cold_warm")
table("b_calls", "b", "section 5", "read and lseek of 1 byte", "console", shapes=["ratio"])
READ_1 = {"call": "read 1 byte"}
figure("block size 1", "MiB/s", "3.680185", "MiB/s", at("file.call", "throughput", READ_1))
figure("block size 1", "B/s", "3858954", "B/s", at("file.call", "throughput", READ_1))
figure("read", "per second", "3844769.056968", "1/s", at("file.call", "rate", READ_1))
figure("lseek", "per second", "10240425.108437", "1/s", at("file.call", "rate", {"call": "lseek 1 byte"}))
BLOCKS_B = ["1526.655714", "1603.575004", "1209.278412", "1474.531972", "1697.912052", "2031.445693", "2028.09023",
            "2459.476549", "2799.858341", "2790.164123", "2799.223313"]
# Each thread has a descriptor of its own.
SUM_B = {"state": "warm", "method": "lseek, read", "threads": 16}
table("b_blocks", "b", "section 6, table of block sizes", "Sum of a file by block size",
      shapes=["ratio", "order", "growth", "plateau"],
      axes=axes("block size", "bytes", y_scale="Linear"))
for exponent, printed in enumerate(BLOCKS_B, 12):
    size = 1 << exponent
    figure(f"{size // KIB}KB" if size < MIB else f"{size // MIB}MB", "Speed(MiB/s)", printed, "MiB/s", x=size,
           here=at("file.sum", "throughput", {**SUM_B, "block_size": size}, **{"or": {"state": "cold"}}))
table("b_sum", "b", "section 6, consoles", "Two sums of a file of 4 GiB, one after the other", "console", machine=RAZER,
      shapes=["ratio"])
for state, runtime, speed in [("cold", "2.031659", "2016.086472"), ("warm", "0.436227", "9382.727844")]:
    figure(state, "Runtime", runtime, "s", why="the same as the speed, which is compared")
    figure(state, "Runtime per MiB", speed, "MiB/s",
           at("file.sum", "throughput", {**SUM_B, "state": state, "block_size": MIB}))
table("b_sum_text", "b", "section 6, text", "Threads, block size and mmap", "prose")
figure("16 threads over 1", "times as fast", "4", "ratio",
       at("file.sum", "throughput", {**SUM_B, "block_size": 4 * KIB}, over={"threads": 1}))
figure("block size", "no gain after", "1", "MB",
       knee("file.sum", "throughput", "block_size", SUM_B, "from"))
figure("cold", "speed", "2016", "MiB/s", at("file.sum", "throughput", {**SUM_B, "state": "cold", "block_size": MIB}))
figure("warm", "speed", "9382", "MiB/s", at("file.sum", "throughput", {**SUM_B, "block_size": MIB}))
figure("mmap over read, blocks of 4096", "times as long", "2", "ratio",
       at("file.sum", "throughput", {**SUM_B, "block_size": 4 * KIB}, over={"method": "mmap"}))

# Report C. It names no machine and prints no number.
for id, place, title, says, chart in [
    ("c_slave", "Slave: mmap I/O vs file I/O", "A file by size to the end of the slave",
     "A slave that maps is a little slower at all sizes; for small files there is no clear trend.", "receivers"),
    ("c_master", "Master: mmap I/O vs file I/O", "A file by size to the end of the master",
     "A master that maps is faster for large files, by little in all; for small files there is no clear trend.",
     "senders"),
    ("c_file", "File I/O: master vs slave", "Both sides by read and write",
     "The slave takes longer than the master; for large files the difference is small.", "file"),
    ("c_mmap", "mmap I/O: master vs slave", "Both sides by mmap",
     "The slave takes longer than the master; for large files the difference is small.", "mmap"),
]:
    picture(id, "c", place, title, says, "transfer.growth", [chart], step=4 * KIB)

# Report D.
TABLE_1 = [("1", "11", "5", "9", "6", "24", "23"), ("3", "23", "12", "33", "47432", "73", "66"),
           ("10", "57", "34", "96", "716165", "228", "215"), ("30", "240", "124", "335", "6958118", "776", "661"),
           ("99", "517", "341", "969", "77634089", "2294", "2152")]
BODIES = [("Simple", "simple", False), ("Simple_yield", "simple yield", False), ("Complex", "complex, 1000 steps", True)]
table("d_locks", "d", "Table 1", "Lock and SpinLock by number of threads",
      shapes=["ratio", "growth", "crossover"],
      because="the report's slice was not printed: where threads yield, its times by SpinLock are n(n - 1)/2 slices of 16.0 ms, "
              "and here they are measured with that slice",
      rivals=[[f"{name} SpinLock", f"{name} Lock"] for name, _, _ in BODIES],
      axes=axes("threads", "count"))
for threads, *cells in TABLE_1:
    for (name, body, is_proportional), pair in zip(BODIES, zip(cells[::2], cells[1::2])):
        for lock, printed in zip(["Lock", "SpinLock"], pair):
            # Where threads yield, those that spin burn their slices: only there does its length count.
            burns = (body, lock) == ("simple yield", "SpinLock") and threads != "1"
            figure(f"{threads} threads", f"{name} {lock}", printed, "us", x=int(threads),
                   here=at("threads.lock", "run", {"body": body, "lock": lock, "threads": int(threads),
                                                   **({"slice": 16_000} if burns else {})},
                           **({"proportional": True} if is_proportional else {})))
TABLE_2 = [("IO = 1*x, COMP = 1*1", "preemptive, by length", lambda x: (1, x, 1),
            [("1", "82", "6870"), ("10", "94", "8674"), ("100", "112", "8228"), ("1000", "173", "8482"),
             ("10000", "185", "6350"), ("100000", "116", "8882")]),
           ("IO = x*10000000, COMP = 1*1", "preemptive, by threads", lambda x: (x, 10_000_000, 1),
            [("1", "902", "7415"), ("3", "195", "8101"), ("10", "2873", "8918"), ("30", "10394", "18446"),
             ("90", "208920", "206022")]),
           ("IO = 1*10000000, COMP = x*100000", "preemptive, by computing", lambda x: (1, 10_000_000, x),
            [("1", "1284", "4545"), ("3", "2755", "6358"), ("10", "6835", "19658"), ("30", "20492", "56192"),
             ("90", "57977", "156638")])]
table("d_io", "d", "Table 2", "Synchronous and asynchronous I/O by threads",
      because="which device held its files, and how long its computation is, was not printed: here they are in the page "
              "cache, and a unit of work is a step of a generator of random numbers",
      shapes=["ratio", "growth", "crossover"],
      rivals=[[f"{sweep} async", f"{sweep} sync"] for sweep, *_ in TABLE_2],
      axes=axes("x of the sweep", "count"))
for sweep, name, threads, rows in TABLE_2:
    for x, sync, async_ in rows:
        io_threads, length, computing = threads(int(x))
        for way, mode, printed in [("sync", "synchronous", sync), ("async", "asynchronous", async_)]:
            figure(f"x = {x}", f"{sweep} {way}", printed, "us", x=int(x),
                   here=at("threads.io", "run", {"mode": mode, "sweep": name, "io_threads": io_threads,
                                                 "length": length, "computing_threads": computing}))

# Report E: one Pentium 4, two systems.
P4 = "Pentium 4 at 1.7 GHz, 512 KB cache, 256 MB RAM"
LISTED = {"listing": "as printed"}
PLACES = {"Cache": {"block_size": 64 * KIB, **LISTED}, "RAM": {"block_size": 256 * MIB, **LISTED},
          "Swap Disk": {"pages": "swap, memory limited", **LISTED}}
BANDWIDTH = [("Linux", ["2035.709", "2888.2118", "527.997", "1264.58296", "7.455528", "12.0370933"]),
             ("Windows", ["2132.011", "2749.24728", "563.9692", "1323.843481", "2.670522", "13.10448265"])]
table("e_bandwidth", "e", "section 3.1.2, table of bandwidths", "Bandwidth of cache, RAM and swap", machine=P4,
      shapes=["ratio", "order"])
for system, cells in BANDWIDTH:
    for (place, levels), pair in zip(PLACES.items(), zip(cells[::2], cells[1::2])):
        for metric, printed in zip(["write", "read"], pair):
            figure(place, f"{system} {metric}", printed, "MiB/s", at("memory.bandwidth", metric, levels),
                   system=system.lower())
table("e_bandwidth_text", "e", "section 3.1.2, text", "Cache over RAM", "prose", machine=P4)
for metric, printed in [("write", "4"), ("read", "3")]:
    figure(f"{metric}, cache over RAM", "times as fast", printed, "ratio",
           at("memory.bandwidth", metric, PLACES["Cache"], over=PLACES["RAM"]))
LATENCY = [("Linux", "3.088e-6", "1.352e-6", "1.736e-6", "324.57e-6", "3.088e-6", "321.482e-6"),
           ("Windows", "2.950e-6", "1.420e-6", "1.53e-6", "298.06e-6", "2.950e-6", "295.11e-6")]
table("e_page_cost", "e", "section 3.1.2, table of latencies", "Time of a page of 4 KiB in cache, RAM and swap",
      machine=P4, shapes=["ratio"])
for system, *cells in LATENCY:
    page = {"inverse_of": 4 * KIB}
    read = lambda levels, **more: at("memory.bandwidth", "read", levels, **page, **more)
    ram, cache, swap = PLACES["RAM"], PLACES["Cache"], PLACES["Swap Disk"]
    heres = [read(ram), read(cache), read(ram, minus=cache), read(swap), read(ram), read(swap, minus=ram)]
    whats = ["RAM, next to the cache", "Cache", "RAM less Cache", "Swap", "RAM, next to swap", "Swap less RAM"]
    for what, printed, here in zip(whats, cells, heres):
        figure(what, system, printed, "s", here, system=system.lower())
table("e_code_size", "e", "section 3.2.2, table", "Cache that code and all else hold", machine=P4,
      because="the cache that the drop shows is another one; its level O4 is O3 to its compiler, as here")
for system, drop, code in [("Linux", "436", "76"), ("Windows", "476", "36")]:
    figure("drop", system, drop, "KB", knee("memory.footprint", "optimisation_3", "block_size", {}, "until"),
           system=system.lower())
    figure("code", system, code, "KB", system=system.lower(),
           why="512 KB less the drop; how much of a cache is lost is reported by the findings of memory.footprint")
table("e_drop_text", "e", "section 3.2.2, text", "Where the bandwidth drops", "prose", machine=P4,
      why="the table has the sizes of each system")
figure("from", "drop", "400", "KB")
figure("to", "drop", "550", "KB")
table("e_pieces", "e", "section 3.3.2, text", "Looping over pieces", "prose", machine=P4)
PIECES = {"block_size": 8 * MIB}
figure("best piece", "piece", "64", "KB", knee("memory.subloop", "write", "piece_size", PIECES, "best"))
figure("the whole over pieces of 64 KB", "times as long", "3", "ratio",
       at("memory.subloop", "write", {**PIECES, "piece_size": 64 * KIB}, over={"piece_size": 8 * MIB}))
table("e_fread", "e", "section 4.1.1.2, text", "Time of a KiB by fread", "prose", machine=P4,
      because="the chunks that the average was taken over were not printed: here they are 64 KiB")
CHUNK = {"chunk_size": 64 * KIB}
figure("fread", "Linux, time of a KiB", "45.142e-6", "s",
       at("file.rewrite_passes", "read", {"way": "fread, fwrite", **CHUNK}))
figure("fread", "Windows, time of a KiB", "36.558e-6", "s",
       at("file.rewrite_passes", "read", {"way": "fread, fwrite", **CHUNK}), system="windows")
figure("fread without buffer", "Windows, time of a run", "27", "min", system="windows",
       why="what a run of it read was not printed")
figure("default buffer of a stream", "size", "8", "KB", why="a fact of its C library; it was not measured")
table("e_mmap", "e", "section 4.1.3, text under Fig. 13", "Time of a KiB by mmap", "prose", machine=P4,
      because="its listing maps offset 0 each time and moves on by lseek, which a mapping does not follow: the first "
              "chunk is touched again and again, from memory; here too, and the way 'mmap, msync' is what was meant")
figure("mmap, as printed", "time of a KiB", "2.579e-6", "s",
       at("file.rewrite_passes", "read", {"way": "mmap of offset 0, as printed", **CHUNK}))
table("e_order", "e", "section 4.2.1.2, text", "Where order ceases to matter", "prose", machine=P4,
      why="the curves' nearest places are a finding of file.random")
figure("similar from", "chunk", "256", "KB")
figure("similar to", "chunk", "1", "MB")
figure("least distance", "chunk", "512", "KB")
table("e_read_ahead", "e", "section 4.2.2.2, text", "Read-ahead", "prose", machine=P4)
figure("drop, from", "chunk", "60", "KB", why="the window is counted by oscope, not guessed from a drop")
figure("drop, to", "chunk", "65", "KB", why="the window is counted by oscope, not guessed from a drop")
figure("window", "size", "64", "KB", at("file.read_ahead", "window", {}))
figure("window", "pages", "16", "count", why="the window in pages of 4 KiB")
FIG_22 = """
1 26.487 1.340 21.289 2.257 519.436 2.429 9.949 504.905
2 23.216 0.682 20.569 1.138 280.510 1.241 9.690 268.498
4 20.890 0.359 19.559 0.567 95.227 1.030 9.676 83.976
8 20.080 0.180 19.397 0.291 77.656 0.912 9.645 66.823
16 19.713 0.091 19.360 0.148 67.543 0.853 9.671 56.871
32 19.543 0.042 19.352 0.089 65.375 0.893 9.672 54.735
64 19.466 0.022 19.362 0.047 65.755 0.971 9.609 55.134
128 19.447 0.013 19.380 0.030 90.765 1.288 9.720 79.725
256 19.604 0.009 19.561 0.026 77.520 1.802 9.763 65.935
512 19.992 0.011 19.928 0.048 67.992 2.339 9.626 56.015
1024 20.086 0.007 20.012 0.064 57.188 30.655 9.849 16.678
2048 20.147 0.004 20.063 0.078 63.309 31.656 9.780 21.870
4096 20.255 0.002 20.175 0.076 59.698 25.563 9.776 24.357
8192 20.787 0.394 20.325 0.066 60.346 24.324 9.771 26.251
16384 20.554 0.008 20.481 0.065 62.089 23.913 9.763 28.412
32768 21.191 0.404 20.723 0.064 61.896 23.766 9.833 28.297
65536 21.322 0.000 21.253 0.069 60.677 22.124 9.775 28.778
"""
COLUMNS = [("MMAP Total", "start_total_timed"), ("MMAP Read", "start_map"), ("MMAP Loop", "start_loop"),
           ("MMAP Write", "start_unmap"),
           ("RW Total", "total_timed"), ("Read", "read"), ("Loop", "loop"), ("Write", "write")]
table("e_phases", "e", "Figure 22", "Changing a file in place by mmap and by read and write", machine=P4,
      shapes=["ratio", "growth", "crossover"], rivals=[["MMAP Total", "RW Total"]],
      because="its listing (Fig. 19) maps offset 0 each time: by mmap the same first chunk is changed again and again, "
              "in memory, here too; file.phases has next to it the traversal that was meant (map_total)",
      inferred="The size of the file was not printed here. It is the 512 MB of section 4.1: a total less its phases is "
               "the time of the timers, it halves with each doubling of the buffer, and at 512 MB it is 0.5 µs for a "
               "timer.",
      axes=axes("buffer size", "bytes"))
for row in FIG_22.split("\n")[1:-1]:
    size, *cells = row.split()
    for (column, metric), printed in zip(COLUMNS, cells):
        figure(f"{size} KB", column, printed, "s", x=int(size) * KIB,
               here=at("file.phases", metric, {"buffer_size": int(size) * KIB, "file_size": 512 * MIB},
                       times=512 * MIB // KIB, any_for_shapes="file_size"))
table("e_remote", "e", "section 4.4.2, text", "Remote file access", "prose",
      machine="a machine on 100 Mbit/s Ethernet, not the Pentium 4")
figure("chunks of 64 bytes", "time", "63.52", "ms", at("file.remote", "write", {"place": "remote", "chunk_size": 64}))
figure("ping", "time", "0.207", "ms", why="a statistic of ping, which oscope does not run")
figure("link", "speed", "100", "Mbit/s", why="the label of its network; it was not measured")
CALLS_E = [("Getpid", "getpid", ["1.486661667", "1.466027333", "125", "42.65089633"]),
           ("File Open-Close-fopen-fclose", "fopen+fclose", ["0.094614333", "0.073689667", "0.004799", "0.057701"]),
           ("File Open-Close-open-close", "open+close", ["0.389528", "0.387609", "0.007438", "0.261525"]),
           ("File Create-Delete", "create+delete", ["0.055121333", "0.04593", "0.002204", "0.034418444"]),
           ("Malloc Free", "malloc+free", ["11.692463", "9.627664667", "1.297353", "7.539160222"]),
           ("Process Fork", "fork+exit+wait", ["0.003328667", "0.00332", "0.000101", "0.002249889"])]
CALL_COLUMNS = [("Linux, With Optimizations", 3), ("Linux, Without Optimizations", 0),
                ("Windows, Without Optimizations (third column)", None),
                ("Windows, Without Optimizations (fourth column)", None)]
table("e_calls", "e", "Figure 26", "Million calls per second", machine=P4, shapes=["ratio", "order"])
for what, call, cells in CALLS_E:
    for (column, optimisation), printed in zip(CALL_COLUMNS, cells):
        is_linux = optimisation is not None
        # The report opens with "w", which cuts the file to nothing.
        name = {"fopen+fclose": "fopen w+fclose", "open+close": "open O_SYNC+close",
                "create+delete": "create O_SYNC+delete"}.get(call, call)
        figure(what, column, printed, "million/s", system="linux" if is_linux else "windows",
               here=at("process.calls", "rate", {"call": name, "optimisation": optimisation}) if is_linux else None,
               why=None if is_linux else "two columns of Windows have the same head: which was optimised was not printed")
BOTH = ["linux", "windows"]
CHUNKS_FROM = {"chunk_size": KIB}
LISTED_IN_C = {**LISTED, "compiler": "C"}
for number, title, says, experiment, charts, systems, *levels in [
    (2, "Memory by block size", "The bandwidth drops at the sizes of the cache and of the RAM.", "memory.bandwidth",
     ["read", "write", "listed"], BOTH, LISTED),
    (3, "Memory near the cache's size", "The bandwidth drops between 400 and 550 KB. Its level O4 is O3 to its compiler, "
     "as here.", "memory.footprint", (), BOTH, {"block_size": 436 * KIB}),
    (5, "8 MB in pieces", "Pieces of 64 KB are the best; pieces beyond the cache take about three times as long.",
     "memory.subloop", (), ["linux"]),
    (6, "8 MB in pieces", "As on Linux.", "memory.subloop", (), ["windows"]),
    (8, "fread and fwrite by chunk size", "fread is constant up to the size of the RAM, with and without a buffer of "
     "the stream; fwrite gains with the chunk.", "file.rewrite_passes", (), ["linux"],
     {"way": "fread, fwrite", **CHUNKS_FROM}),
    (9, "fread and fwrite by chunk size", "fread without a buffer is far slower.", "file.rewrite_passes", (),
     ["windows"]),
    (11, "read and write by chunk size", "Both readings show similar trends with O_SYNC; without it the second is much "
     "slower. Writes with O_SYNC are slower.", "file.rewrite_passes", (), ["linux"],
     {"way": "read, write O_SYNC", **CHUNKS_FROM}),
    (12, "read and write by chunk size", "O_SYNC makes no difference; the speed of reading drops at the cache's size.",
     "file.rewrite_passes", (), ["windows"]),
    (14, "mmap by chunk size", "Readings and writes show similar trends, with a peak just below the cache's size.",
     "file.rewrite_passes", (), ["linux"], {"way": "mmap of offset 0, as printed", **CHUNKS_FROM}),
    (16, "Sequential and random reads by chunk size", "Sequential reads are faster; around the cache's size both are "
     "alike, and nearest at 512 KB.", "file.random", (), BOTH),
    (17, "Fine chunks", "Sequential reads are ten times as fast and less noisy; both drop between 60 and 65 KB.",
     "file.read_ahead", ["throughput"], ["linux"], {"chunk_size": 60 * KIB}),
    (18, "Fine chunks", "Sequential reads are ten times as fast and less noisy; no drop shows.", "file.read_ahead",
     ["throughput"], ["windows"]),
    (20, "Changing a file in place, by buffer size", "mmap is much faster than read and write.", "file.phases",
     ["totals"], ["linux"]),
    (21, "Its phases", "Reading and writing are faster by mmap, the loop is faster by read and write.", "file.phases",
     ["calls", "mapping"], ["linux"]),
    (24, "Local and remote files by chunk size", "Remote access is two orders of magnitude slower.", "file.remote", (),
     ["linux"]),
    (28, "Ways to call by the number of calls", "Time grows linearly; the slope of recursion is the steepest. Inline "
     "code is faster than functions without optimisation, and slower with it.", "process.call_styles", (), ["linux"],
     LISTED_IN_C),
    (29, "Ways to call by the number of calls", "Beyond some number of calls nothing is linear.",
     "process.call_styles", (), ["windows"]),
    (30, "Forks by their number", "Optimisation makes no difference on Linux; time grows linearly on both systems.",
     "process.call_styles", (), BOTH, LISTED_IN_C),
    (32, "Arithmetic", "Integers are faster than floats; all but the division of integers gain from optimisation; both "
     "systems are alike.", "compute.arithmetic", (), BOTH),
    (33, "Linux and Windows: memory", "The bandwidth of Windows drops much earlier.", "memory.bandwidth",
     ["read", "write", "listed"], BOTH, LISTED),
    (34, "Levels of optimisation", "Without optimisation cache and RAM do not differ; with less of it curves are "
     "noisier.", "memory.footprint", (), ["linux"]),
    (35, "Levels of optimisation", "As on Linux.", "memory.footprint", (), ["windows"]),
    (36, "Linux and Windows, optimised", "The curves of Windows are smoother at the cache's size and drop later.",
     "memory.footprint", (), BOTH),
    (37, "Linux and Windows: pieces", "Both are alike; Linux gets slower before the cache's size.", "memory.subloop",
     (), BOTH),
    (38, "Linux and Windows: reading", "Linux is faster in synchronous reads, Windows in asynchronous ones.",
     "file.rewrite_passes", ["read", "read_again"], BOTH),
    (39, "Linux and Windows: writing", "Windows is faster in synchronous writes at any size; asynchronous writes are "
     "alike.", "file.rewrite_passes", ["rewrite"], BOTH),
    (40, "Linux and Windows: order", "Linux is faster in sequential reads of chunks below 64 KB; above, and in random "
     "order, both are alike.", "file.random", (), BOTH),
    (41, "Linux and Windows: read-ahead", "The drop shows on Linux alone.", "file.read_ahead", ["throughput"], BOTH),
    (42, "Linux and Windows: ways to call", "Linux is faster in all of them.", "process.call_styles", (), BOTH,
     LISTED_IN_C),
]:
    picture(f"e_figure_{number}", "e", f"Figure {number}", title, says, experiment, charts, systems, P4,
            **(levels[0] if levels else {}))
