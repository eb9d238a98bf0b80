#!/usr/bin/env python3
"""Disks that are full or become full: the reason is printed, nothing half written stays, and what was there
before is read as ever."""

import os
from contextlib import contextmanager

from campaign import Part, Receiver, ext4, fill, mounted, require

NO_ROOM = r"(?i)no space|full|it needs"
MIB = 1 << 20
OLD = b"what was there before"
# Commands that write a file, its name last.
WRITERS = {
    "page": ["report", "1", "--output"],
    "JSON": ["export", "1", "--output"],
    "CSV": ["export", "1", "--format", "csv", "--output"],
    "Markdown": ["export", "1", "--format", "markdown", "--output"],
    "chart": ["plot", "process.calls.latency", "--run", "1", "--output"],
}
# Commands that print something.
PRINTERS = [
    ["list"], ["explain", "process"], ["show", "1"], ["show", "1", "process.calls"], ["show", "1", "--json"],
    ["history"], ["history", "process.calls"], ["claims", "1"], ["advise", "1"], ["advise", "1", "--json"],
    ["report", "1"], ["export", "1"], ["export", "1", "--format", "csv"], ["export", "1", "--format", "openmetrics"],
    ["compare", "1", "reference:pentium4-2003-linux"], ["verify"], ["verify", "1"], ["cleanup"],
    ["completions", "bash"], ["man"], ["token"], ["--help"], ["run", "--help"], ["--version"],
]


@contextmanager
def small_disk(place, size_bytes, on_device):
    at = place.root / "small"
    if on_device:
        with ext4(place.root / "image", at, size_bytes) as disk:
            yield disk
    else:
        with mounted(at, f"size={size_bytes}") as disk:
            yield disk


def scratch_files(part):
    for on_device, smallest in [(False, 16), (True, 21)]:
        with part.fault(f"scratch directory too small, {'ext4' if on_device else 'tmpfs'}") as fault:
            for _ in range(part.count(10, 1)):
                size_bytes = int(2 ** fault.random.uniform(smallest, 24))
                with fault.trial(f"{size_bytes} bytes"), part.place() as place:
                    with small_disk(place, size_bytes, on_device) as disk:
                        place.scratch = disk
                        # It needs more than there is.
                        place.run("process.calls", "file.size", budget=f"{part.count(5, 3)}s").must_fail(NO_ROOM)
                        require(not place.leftovers(), "scratch files stay")
                    place.oscope("verify").must(0)


def stores(part):
    for on_device in [False, True]:
        with part.fault(f"store on a disk that becomes full, {'ext4' if on_device else 'tmpfs'}") as fault:
            for _ in range(part.count(10, 1)):
                left_bytes = int(2 ** fault.random.uniform(12, 19))
                with fault.trial(f"{left_bytes} bytes are left"), part.place() as place:
                    with small_disk(place, 8 * MIB, on_device) as disk:
                        place.store = disk / "oscope.db"
                        shown = place.measure()
                        filler = fill(disk, left_bytes)
                        # More samples than there is room for, or hardly enough of it.
                        place.run("process.calls", "process.ipc", "process.switch", budget=f"{part.count(8, 4)}s").must(0, 1)
                        require(not place.leftovers(), "scratch files stay")
                        require(place.oscope("show", "1").must(0).text == shown, "an older run reads otherwise")
                        place.oscope("verify").must(0)
                        filler.unlink()
                        place.run("process.calls", budget="2s").must(0, 1)
                        require(place.oscope("show", "1").must(0).text == shown, "an older run reads otherwise")
                        place.oscope("verify").must(0)

    with part.fault("store on a full disk") as fault:
        for _ in range(part.count(5, 1)):
            with fault.trial("no byte is left"), part.place() as place:
                with small_disk(place, 8 * MIB, False) as disk:
                    place.store = disk / "oscope.db"
                    shown = place.measure()
                    fill(disk)
                    place.run("process.calls", budget="2s").must_fail(NO_ROOM)
                    require(not place.leftovers(), "scratch files stay")
                    require(place.oscope("show", "1").must(0).text == shown, "an older run reads otherwise")
                    place.oscope("history").must(0)
                    place.oscope("verify").must(0)


def files(part):
    """Whole files compared with the room that there is: too little by a byte, by half, or nothing at all."""
    with part.fault("file for output on a full disk") as fault, part.place() as place:
        place.measure()
        for kind, words in WRITERS.items():
            whole = place.root / "whole.svg"
            place.oscope(*words, whole).must(0)
            size = whole.stat().st_size
            whole.unlink()
            for room in [0, size // 2, size - 4096] if size > 8192 else [0]:
                for is_there in [False, True]:
                    for on_device in [False, True][: part.count(2, 1)]:
                        with fault.trial(f"{kind}, room for {room} of {size} bytes"):
                            too_little(place, words, room, is_there, on_device)


def too_little(place, words, room, is_there, on_device):
    with small_disk(place, 16 * MIB, on_device) as disk:
        output = disk / "output.svg"
        if is_there:
            output.write_bytes(OLD)
        fill(disk, room)
        before = sorted(os.listdir(disk))
        force = ["--force"] if is_there else []
        place.oscope(*words, output, *force).must_fail(NO_ROOM)
        require(sorted(os.listdir(disk)) == before, f"it left {sorted(os.listdir(disk))}")
        if is_there:
            require(output.read_bytes() == OLD, "the file that was there has changed")


def receivers(part):
    with part.fault("directory for received files on a full disk") as fault:
        for index in range(part.count(10, 1)):
            with fault.trial(f"transfer {index}"), part.place() as place, small_disk(place, 8 * MIB, index % 2) as disk:
                sent = place.root / "sent"
                sent.write_bytes(os.urandom(fault.random.randrange(9 * MIB, 32 * MIB)))
                small = place.root / "small-file"
                small.write_bytes(b"x" * 1000)
                receiver = Receiver(place, disk)
                try:
                    place.oscope("send", sent, "--to", receiver.address).must_fail(NO_ROOM)
                    require(not (disk / "sent").exists(), "a part of a file has its name")
                    for left in (disk / ".oscope-partial").glob("*"):
                        left.unlink()
                    place.oscope("send", small, "--to", receiver.address).must(0)
                    require((disk / small.name).read_bytes() == small.read_bytes(), "a small file came wrong")
                finally:
                    receiver.end()


def standard_output(part):
    for kind, redirection in [("full", ">/dev/full"), ("closed", ">&-")]:
        with part.fault(f"standard output {kind}") as fault, part.place() as place:
            place.measure()
            written = place.root / "written"
            written.write_bytes(os.urandom(10000))
            # It watches the machine for two seconds.
            watching = [] if part.is_short else [["doctor"]]
            for words in [*PRINTERS, *watching, ["file", "sum", written], ["file", "read", written, "--block-size", "512"]]:
                with fault.trial(" ".join(map(str, words))):
                    shell = ["sh", "-c", f'exec "$@" {redirection}', "sh"]
                    place.oscope(*words, wrapper=shell, cwd=place.root).must_fail("(?i)standard output|no space")
            with fault.trial("run"):
                shell = ["sh", "-c", f'exec "$@" {redirection}', "sh"]
                place.run("process.calls", budget="2s", wrapper=shell).must_fail("(?i)standard output|no space")
                require(not place.leftovers(), "scratch files stay")
                place.oscope("verify").must(0)


part = Part()
scratch_files(part)
stores(part)
files(part)
receivers(part)
standard_output(part)
