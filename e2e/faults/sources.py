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
    "somebody on the way between two machines": ("transfer", "suite", ["attacks", "damage"]),
    "faults of transfers: planted files, crowds, lost connections":
        ("transfer", "suite", ["--skip=attacks", "--skip=damage"]),
    "a recorder that is killed": ("record", "runs", ["killed"]),
    "faults of a store's file": ("record", "runs", ["faults"]),
    "flips in a store and in exported files": ("record", "runs", ["flips"]),
    "faults of files": ("files", "suite", ["faults"]),
    "the program: signals, stores, disks": ("oscope", "cli", ["signals", "stores", "disks"]),
    "the program: outputs, limits, file systems": ("oscope", "cli", ["outputs", "limits", "file_systems"]),
}

part = Part()
for name, (package, program, filters) in CAMPAIGNS.items():
    with part.fault(name) as fault:
        if part.is_short:
            raise Skip("`cargo test` runs it anyway")
        if not shutil.which("cargo") or not (TREE / "Cargo.toml").exists():
            raise Skip("there is no cargo, or no tree of sources")
        package = package if package == "oscope" else f"oscope-{package}"
        tests = subprocess.run(["cargo", "test", "--release", "--locked", "--package", package, "--test", program, "--",
                                *filters], cwd=TREE, capture_output=True, text=True)
        results = re.findall(r"^test result: \w+\. (\d+) passed; (\d+) failed", tests.stdout, re.MULTILINE)
        passed, failed = (sum(int(result[index]) for result in results) for index in (0, 1))
        fault.tried, fault.failed = passed + failed, failed
        # Nothing runs if it does not compile, or if no test has such a name.
        if (tests.returncode != 0 and failed == 0) or fault.tried == 0:
            fault.tried, fault.failed = fault.tried + 1, 1
        if fault.failed:
            print(tests.stdout[-4000:], tests.stderr[-2000:])
