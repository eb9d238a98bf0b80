#!/usr/bin/env python3
"""Brings exported runs of versions 1 to 5 of the document to version 6.

usage: e2e/convert.py FILE...    changes each file, `.json` or `.json.gz`, in place

A difference of n and 2n iterations becomes a leg of 2n and a short leg of n. A run without passes gets one for each
process of a point, in their order. Warnings of the activity of other programs go: it is inside the intervals. Checksums
go, so that the run is unproven. The recorded runs among the test data
(`crates/record/tests/fixtures`, `crates/oscope/tests/fixtures/load`, `reference/runs`) were converted by this script.
"""

import gzip
import json
import sys

VERSION = 6
FORMER_WARNINGS = {"stolen", "other_load", "preempted", "frequency_changed"}


def reading(old):
    """A reading of a sample."""
    difference = old.get("difference")
    if difference is None:
        return old
    n = difference["iterations"]
    return {"legs": {"iterations": 2 * n, "work": difference["work"], "wall_ns": [difference["long_ns"]],
                     "short_iterations": n, "short_wall_ns": [difference["short_ns"]]}}


def kind(warning):
    """The name of a warning, which has fields or none."""
    return warning if isinstance(warning, str) else next(iter(warning))


def convert(document):
    found = document.get("version")
    if document.get("format") != "oscope-run" or found not in range(1, VERSION):
        sys.exit(f"version {found} is none of 1 to 5")
    document["version"] = VERSION
    document.pop("checksums", None)
    run = document["run"]
    run["header"]["proven"] = False
    is_measured = run["header"]["version"] != "reported"
    for experiment in run["experiments"]:
        for point in experiment["points"]:
            closing = point["closing"]
            if closing:
                closing["warnings"] = [it for it in closing["warnings"] if kind(it) not in FORMER_WARNINGS]
            for number, batch in enumerate(point["batches"]):
                batch.pop("full_speed_ns", None)
                if is_measured:
                    batch.setdefault("pass", number)
                for sample in batch["samples"]:
                    sample["reading"] = reading(sample["reading"])


def main(names):
    for name in names:
        is_packed = name.endswith(".gz")
        with (gzip.open if is_packed else open)(name, "rt", encoding="utf-8") as file:
            document = json.load(file)
        convert(document)
        text = json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"
        contents = text.encode()
        if is_packed:
            contents = gzip.compress(contents, mtime=0)
        with open(name, "wb") as file:
            file.write(contents)


if __name__ == "__main__":
    main(sys.argv[1:])
