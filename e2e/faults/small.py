#!/usr/bin/env python3
"""Small machines, narrow limits, users without rights and odd environments: what can be measured is, and
what cannot has its reason."""

import os
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path

from campaign import Part, Skip, need_root, need_tools, require

FEW = ["process.calls", "threads.create", "file.sum"]
MIB = 1 << 20
# Nobody's, so that limits on a user's processes count ours alone.
NOBODY = 61239
MEMORY_CONTROLLERS = [(Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes"), (Path("/sys/fs/cgroup"), "memory.max")]


def lives(part, place, what=(), codes=(0, 1), **options):
    """A run, what reads it, and nothing left behind."""
    what, budget = (what or FEW, "3s") if part.is_short else (what, "30s")
    run = place.run(*what, budget=budget, timeout=240, **options).must(*codes).json()
    points = sum(len(experiment["points"]) for experiment in run["experiments"])
    require(points > 0, "nothing was measured at all")
    for experiment in run["experiments"]:
        require(experiment["points"] or experiment["failures"] or experiment["skipped"],
                f"{experiment['id']} has neither points nor a reason")
    require(not place.leftovers(), "scratch files stay")
    place.oscope("verify", **options).must(0)
    place.oscope("show", "1", **options).must(0)
    if not part.is_short:
        place.oscope("doctor", **options).must(0, 1)


@contextmanager
def little_memory(limit_bytes):
    """A wrapper that starts a program in a control group with so much memory."""
    need_root()
    for root, limit in MEMORY_CONTROLLERS:
        group = root / f"oscope-faults-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            (group / limit).write_text(str(limit_bytes))
            yield ["sh", "-c", f'echo $$ >"{group}/cgroup.procs" && exec "$@"', "sh"]
            return
        except FileNotFoundError:
            continue
        finally:
            group.rmdir()
    raise Skip("no control group for memory can be made here")


def limits(part):
    with part.fault("one processor") as fault:
        need_tools("taskset")
        cpu = min(os.sched_getaffinity(0))
        with fault.trial("a run, verify, show, doctor"), part.place() as place:
            lives(part, place, wrapper=["taskset", "--cpu-list", str(cpu)])

    with part.fault("256 MiB of memory") as fault, little_memory(256 * MIB) as wrapper:
        with fault.trial("a run, verify, show, doctor"), part.place() as place:
            lives(part, place, wrapper=wrapper)

    with part.fault("few descriptors") as fault:
        need_tools("prlimit")
        for count in [24] if part.is_short else [24, 16, 40]:
            with fault.trial(f"{count}"), part.place() as place:
                lives(part, place, wrapper=["prlimit", f"--nofile={count}"])
        for count in range(part.count(3, 4), 14, part.count(1, 5)):
            with fault.trial(f"{count}, too few for anything"), part.place() as place:
                # It may not even start; what it must not do is panic or hang.
                place.run("process.calls", budget="1s", json=False,
                          wrapper=["prlimit", f"--nofile={count}"]).must(0, 1, 127)
                # Looking into a directory takes descriptors, too.
                if place.leftovers():
                    place.store = None
                    place.oscope("cleanup", "--dir", place.scratch, env={"HOME": str(place.root)}).must(0)
                require(not place.leftovers(), "scratch files stay")

    with part.fault("little address space") as fault:
        need_tools("prlimit")
        # The kernel loads no program whose own mappings do not fit: those of oscope take 25 MiB.
        for size in [512] if part.is_short else [512, 256, 128, 64, 40, 32]:
            with fault.trial(f"{size} MiB"), part.place() as place:
                ended = place.run("process.calls", "threads.create", "memory.copy", budget=f"{part.count(4, 2)}s", timeout=240,
                                  # Each arena of the C library reserves 64 MiB: how many there are is chance.
                                  wrapper=["env", "MALLOC_ARENA_MAX=1", "prlimit", f"--as={size * MIB}"])
                ended.must(0, 1)
                require(not place.leftovers(), "scratch files stay")

    with part.fault("files of a limited size") as fault:
        need_tools("prlimit")
        for size in [8192] if part.is_short else [0, 8192, MIB]:
            with fault.trial(f"{size} bytes"), part.place() as place:
                place.run("process.calls", "file.block_size", budget="3s",
                          wrapper=["prlimit", f"--fsize={size}"]).must(0, 1)
                require(not place.leftovers(), "scratch files stay")


@contextmanager
def somebody(part, home_mode=0o700):
    """A place for a user without rights, the program and a wrapper that becomes that user."""
    need_root()
    need_tools("setpriv")
    with part.place() as place:
        place.root.chmod(0o755)
        home = place.root / "home"
        home.mkdir()
        copy = place.root / "oscope"
        shutil.copy(part.oscope, copy)
        for path in [home, place.scratch]:
            os.chown(path, NOBODY, NOBODY)
        home.chmod(home_mode)
        wrapper = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
        yield place, home, copy, wrapper


def users(part):
    with part.fault("a user without rights") as fault:
        for most in [None] if part.is_short else [None, 3]:
            with fault.trial("a home of its own" if most is None else f"{most} processes at most"):
                with somebody(part) as (place, home, copy, wrapper):
                    place.store = home / "oscope.db"
                    place.program = copy
                    few = [] if most is None else ["prlimit", f"--nproc={most}"]
                    lives(part, place, wrapper=[*wrapper, *few], env={"HOME": str(home)}, cwd=home)
    with part.fault("a home that cannot be written") as fault:
        for words in [["run", "process.calls", "--budget", "1s", "--dir"], ["doctor", "--dir"]]:
            with fault.trial(words[0]), somebody(part, home_mode=0o500) as (place, home, copy, wrapper):
                place.store, place.program = None, copy
                ended = place.oscope(*words, place.scratch, wrapper=wrapper, cwd=home,
                                     env={"HOME": str(home), "XDG_DATA_HOME": None})
                ended.must_fail("(?i)permission|right") if words[0] == "run" else ended.must(0, 1)
                require(not place.leftovers(), "scratch files stay")


def environments(part):
    # It watches the machine for two seconds each time.
    watching = [] if part.is_short else [["doctor"]]
    with part.fault("no home") as fault, part.place() as place:
        place.store = None
        for home in [None, "", "here"]:
            with fault.trial(f"HOME={home}"):
                environment = {"HOME": home, "XDG_DATA_HOME": None}
                run = ["run", "process.calls", "--budget", "1s", "--no-page", "--dir", place.scratch]
                place.oscope(*run, env=environment).must_fail("HOME is not set")
                place.oscope("history", env=environment).must_fail("HOME is not set")
                for words in watching:
                    place.oscope(*words, env=environment).must(0, 1)
                require(not place.leftovers(), "scratch files stay")

    odd = [{"HOME": "/proc/nobody", "XDG_DATA_HOME": None}, {"TZ": "Nowhere/Atlantis"}, {"TZ": ":"}, {"TZ": "Pacific/Apia"}, {"TZ": "XXX-99:99"}, {"TZ": "/dev/full"},
           {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8"}, {"LC_ALL": "nonsense"}, {"LANG": "\udcff"},
           {"TERM": "dumb"}, {"TERM": ""}, {"TERM": None}, {"COLUMNS": "1"}, {"COLUMNS": "99999999999999"},
           {"COLUMNS": "-3"}, {"NO_COLOR": None, "CLICOLOR_FORCE": "1"}, {"TMPDIR": "/nonexistent"}, {"PATH": ""},
           {"RUST_BACKTRACE": "full", "RUST_LOG": "trace"}]
    with part.fault("odd environments") as fault, part.place() as place:
        place.measure()
        true = place.oscope("export", "1").must(0).stdout
        for environment in odd:
            with fault.trial(str(environment)):
                for words in [["show", "1"], ["history"], ["list"], ["report", "1"], ["--help"], *watching]:
                    place.oscope(*words, env=environment).must(0, 1)
                require(place.oscope("export", "1", env=environment).must(0).stdout == true, "another export")

    with part.fault("narrow terminals") as fault, part.place() as place:
        need_tools("script", "stty")
        place.measure()
        for columns in [1, 2, 7, 20, 39, 0, 1000] if not part.is_short else [1, 20]:
            for term in ["xterm", "dumb"][: part.count(2, 1)]:
                with fault.trial(f"{columns} columns, TERM={term}"):
                    for words in [["show", "1"], ["show", "1", "process.calls"], ["history"], ["list"], *watching]:
                        in_terminal(place, columns, term, words)
                    in_terminal(place, columns, term, ["run", "process.calls", "--budget", "1s", "--no-page", "--dir",
                                                       str(place.scratch)])


def in_terminal(place, columns, term, words):
    """Runs the program on a terminal of `columns` columns."""
    inner = subprocess.list2cmdline(place.command(*words))
    command = f"stty cols {columns} rows 5; exec {inner}"
    ended = subprocess.run(["script", "--quiet", "--return", "--command", command, "/dev/null"], timeout=120,
                           env={**os.environ, "TERM": term}, stdin=subprocess.DEVNULL, capture_output=True)
    require(b"panicked at" not in ended.stdout, ended.stdout.decode(errors="replace")[-2000:])
    require(ended.returncode in (0, 1), f"{words} ended with {ended.returncode}: {ended.stdout[-500:]}")
    require(ended.stdout, f"{words} shows nothing")


part = Part()
limits(part)
users(part)
environments(part)
