#!/usr/bin/env python3
"""Stores and exported files with one wrong bit, or cut short: everything that reads them prints what it printed
before, or refuses."""

import json

from campaign import BRIEF, Part, require

# By the number of a run, which names the same run in any state of the store.
READERS = [
    ["show", "1"], ["show", "2", "process.calls"], ["show", "2", "--json"], ["claims", "1"], ["advise", "1"],
    ["report", "1"], ["export", "1"], ["export", "2", "--format", "csv"], ["compare", "1", "2", "--all"],
    ["plot", "process.calls.latency", "--run", "2"],
]
# These read the store as a whole: `verify` reports runs that are damaged.
LISTS = [["history"], ["history", "--json"]]
FILE_READERS = [["show"], ["report"], ["compare", "reference:pentium4-2003-linux"], ["import"]]


def flip(draw, data):
    at, bit = draw.randrange(len(data)), draw.randrange(8)
    damaged = bytearray(data)
    damaged[at] ^= 1 << bit
    return bytes(damaged), f"bit {bit} of byte {at}"


def cut(draw, data):
    length = draw.randrange(len(data))
    return data[:length], f"the first {length} bytes"


def write_store(place, data):
    for log in ["-wal", "-shm", "-journal"]:
        (place.root / f"oscope.db{log}").unlink(missing_ok=True)
    place.store.write_bytes(data)


def true_or_refused(ended, true):
    """Whether a command printed what it printed of the whole store."""
    ended.must(0, 1, 2)
    if ended.code == 0 and ended.stdout == true:
        return True
    require(ended.code != 0, f"{ended.words} tells something else, and exit code 0")
    require(ended.stderr.strip(), f"{ended.words} refuses without a reason")
    return False


def stores(part, name, damage, count):
    with part.fault(name) as fault, part.place() as place:
        place.run(*BRIEF, budget="2s").must(0, 1)
        place.run(*BRIEF, "process.switch", budget="3s").must(0, 1)
        require(not (place.root / "oscope.db-wal").exists(), "a log stays next to the store")
        whole = place.store.read_bytes()
        true = {tuple(words): place.oscope(*words).must(0).stdout for words in READERS + LISTS}
        found = 0
        for _ in range(count):
            damaged, what = damage(fault.random, whole)
            with fault.trial(what):
                write_store(place, damaged)
                verified = place.oscope("verify").must(0, 1, 2)
                found += verified.code != 0
                ended = [(place.oscope(*words), true[tuple(words)]) for words in READERS]
                refused = [f"{one.words}: {one.stderr.strip()}" for one, printed in ended if not true_or_refused(one, printed)]
                require(not refused or verified.code != 0, f"`verify` finds nothing, and these refuse: {refused}")
                for words in LISTS:
                    ended = place.oscope(*words).must(0, 1, 2)
                    is_true = ended.code == 0 and ended.stdout == true[tuple(words)]
                    require(is_true or verified.code != 0, "the list of runs has changed, and `verify` finds nothing")
                ended = place.oscope("history", "process.calls").must(0, 1, 2)
        fault.remark = f"damage found in {found}"


def exports(part, name, damage, count):
    with part.fault(name) as fault, part.place() as place:
        place.run(*BRIEF, budget="2s").must(0, 1)
        file = place.root / "run.oscope.json"
        place.oscope("export", "1", "--output", file).must(0)
        whole = file.read_bytes()
        place.store = place.root / "other.db"
        true = {words[0]: place.oscope(*words, file).must(0).stdout for words in FILE_READERS[:-1]}
        found = 0
        for _ in range(count):
            damaged, what = damage(fault.random, whole)
            with fault.trial(what):
                file.write_bytes(damaged)
                verified = place.oscope("verify", file).must(0, 1, 2)
                found += verified.code != 0
                printed = [true_or_refused(place.oscope(*words, file), true[words[0]]) for words in FILE_READERS[:-1]]
                place.store.unlink(missing_ok=True)
                imported = place.oscope("import", file).must(0, 1, 2)
                if imported.code == 0:
                    again = place.oscope("export", "1").must(0).stdout
                    require(json.loads(again) == json.loads(whole), "the import is another run, and exit code 0")
                require(all(printed) and imported.code == 0 or verified.code != 0,
                        "a reader refuses, and `verify` finds nothing")
        fault.remark = f"damage found in {found}"


part = Part()
stores(part, "one wrong bit in a store", flip, part.count(400, 8))
stores(part, "a store cut short", cut, part.count(400, 4))
exports(part, "one wrong bit in an exported file", flip, part.count(400, 8))
exports(part, "an exported file cut short", cut, part.count(400, 4))
