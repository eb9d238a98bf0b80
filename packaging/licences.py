"""The copyright file of the package: oscope's licences, and those of all crates that are in the program.

usage: licences.py TARGET
"""

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAMES = ("LICENSE", "LICENCE", "COPYING", "NOTICE", "COPYRIGHT", "UNLICENSE")


def cargo(*arguments):
    command = ["cargo", *arguments, "--locked"]
    return subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def texts(folder):
    """The texts of the licences in a crate's folder and one below, as C libraries have theirs there."""
    files = [*folder.glob("*"), *folder.glob("*/*")]
    named = [file for file in files if file.is_file() and file.name.upper().startswith(NAMES)]
    return [file.read_text(errors="replace").strip() for file in sorted(named)]


def main():
    """Cargo's own tree says what `compile.sh` compiles in; procedural macros are not."""
    tree = cargo("tree", "-p", "oscope", "--features", "png", "-e", "normal,no-proc-macro", "--prefix", "none",
                 "--target", sys.argv[1], "--format", "{p}")
    compiled = {tuple(line.split()[:2]) for line in tree.splitlines() if line}
    packages = json.loads(cargo("metadata", "--format-version", "1", "--all-features"))["packages"]
    crates = defaultdict(list)
    print("oscope\n\nLicence: MIT or Apache-2.0, as you like.\n")
    for name in ("LICENSE-MIT", "LICENSE-APACHE"):
        print((ROOT / name).read_text())
    print("The program contains the following crates.\n")
    for package in sorted(packages, key=lambda package: package["name"]):
        name, version = package["name"], package["version"]
        if package["source"] is None or (name, f"v{version}") not in compiled:
            continue
        print(f"{name} {version}: {package['license']}; {', '.join(package['authors']) or 'its authors'}")
        for text in texts(Path(package["manifest_path"]).parent):
            crates[text].append(name)
    for text, names in crates.items():
        print(f"\n{'-' * 78}\n{', '.join(dict.fromkeys(names))}:\n\n{text}")


if __name__ == "__main__":
    main()
