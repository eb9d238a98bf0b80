#!/usr/bin/env python3
"""The campaigns among the tests of cargo: attackers between two machines, files planted where others arrive, stores
that fail at any write. Each test counts as one try."""

import re
import shutil
import subprocess
from pathlib import Path

from campaign import Part, Skip

TREE = Path(__file__).parents[2]
CAMPAIGNS = {
    "somebody on the way between two machines": ["-p", "oscope-transfer", "--test", "attacks"],
    "faults of transfers: planted files, crowds, lost connections": ["-p", "oscope-transfer", "--test", "faults"],
    "a recorder that is killed": ["-p", "oscope-record", "--test", "killed_recorder"],
    "faults of a store's file": ["-p", "oscope-record", "--test", "store_faults", "--test", "file_faults"],
    "flips in a store and in exported files": ["-p", "oscope-record", "--test", "flips"],
    "faults of files": ["-p", "oscope-files", "--test", "faults"],
    "the program: signals, streams, stores, directories": ["-p", "oscope", "--test", "faults"],
    "the program: outputs, limits, file systems": ["-p", "oscope", "--test", "outputs", "--test", "limits", "--test",
                                                   "file_systems"],
}

part = Part()
for name, words in CAMPAIGNS.items():
    with part.fault(name) as fault:
        if part.is_short:
            raise Skip("`cargo test` runs it anyway")
        if not shutil.which("cargo") or not (TREE / "Cargo.toml").exists():
            raise Skip("there is no cargo, or no tree of sources")
        tests = subprocess.run(["cargo", "test", "--release", "--locked", "--no-fail-fast", *words], cwd=TREE,
                               capture_output=True, text=True)
        results = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", tests.stdout, re.MULTILINE)
        passed, failed = (sum(int(result[index]) for result in results) for index in (0, 1))
        fault.tried, fault.failed = passed + failed, failed
        if tests.returncode != 0 and failed == 0:
            fault.tried, fault.failed = fault.tried + 1, 1
        elif fault.tried == 0:
            # A program with a `main` of its own counts nothing.
            fault.tried = 1
        if fault.failed:
            print(tests.stdout[-4000:], tests.stderr[-2000:])
