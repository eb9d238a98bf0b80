#!/usr/bin/env bash
# Builds what people install on Windows:
#
#     OUT/oscope-VERSION-x86_64-windows.zip    the program, the licences that go with it, and a hint how to start
#     OUT/winget/oscope.oscope*.yaml           manifests for winget
#     OUT/oscope.json                          a manifest for scoop
#
# usage: [RELEASES=URL] packaging/windows.sh [OUT]
#
# RELEASES is the address of the folder in which people will find the zip; without it, only the zip is made. OUT is
# target/package/out by default. Needs Debian's gcc-mingw-w64-x86-64-win32, binutils and python3, and Rust's target
# x86_64-pc-windows-gnu (`rustup target add x86_64-pc-windows-gnu`). The same sources and tools make the same zip,
# byte by byte.
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-pc-windows-gnu
out=${1:-target/package/out}
mkdir -p "$out"
out=$(realpath "$out")
case ${RELEASES:=} in
'' | http://?* | https://?*) ;;
*) echo "RELEASES is no address: $RELEASES" >&2 && exit 1 ;;
esac

. packaging/compile.sh
mingw=gcc-mingw-w64-x86-64-win32
need "$target" "x86_64-w64-mingw32-gcc:$mingw" "x86_64-w64-mingw32-strip:$mingw" strings:binutils python3:python3

# Linker and strip write the time into a program. This is the earliest one that a zip can hold.
export SOURCE_DATE_EPOCH=315532800
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=$PWD/packaging/windows/gcc.sh
program=$(compiled "$target")/oscope.exe
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
x86_64-w64-mingw32-strip --strip-all -o "$work/oscope.exe" "$program"
nameless "$program" "$work/oscope.exe"
{
    python3 packaging/licences.py "$target"
    printf '\n%s\nThe C runtime of mingw-w64:\n\n' "$(printf '%.0s-' {1..78})"
    cat /usr/share/doc/mingw-w64-x86-64-dev/copyright
} > "$work/LICENCES.txt"
cat > "$work/README.txt" << README
oscope $version for Windows on x86-64. Open a terminal in this folder and start it: .\\oscope.exe --help
It was tried under Wine only, and never on Windows itself. Its licences are in LICENCES.txt.
README

zip=$out/oscope-$version-x86_64-windows.zip
python3 - "$zip" "$work"/* << 'PYTHON'
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

with ZipFile(sys.argv[1], "w", ZIP_DEFLATED, compresslevel=9) as archive:
    for file in sorted(map(Path, sys.argv[2:])):
        # A new ZipInfo has a fixed time.
        archive.writestr(ZipInfo(file.name), file.read_bytes(), ZIP_DEFLATED)
PYTHON

hash=$(sha256sum "$zip" | cut -d ' ' -f 1)
# fill TEMPLATE TO: TEMPLATE with the values of this release.
fill() {
    local text
    text=$(< "$1")
    text=${text//@VERSION@/"$version"}
    text=${text//@SHA256@/"$hash"}
    text=${text//@RELEASES@/"${RELEASES%/}"}
    printf '%s\n' "$text" > "$2"
}
# Manifests of an earlier zip would name its hash.
rm -f "$out"/winget/oscope.oscope*.yaml "$out/oscope.json"
if [ -n "$RELEASES" ]; then
    mkdir -p "$out/winget"
    for template in packaging/windows/winget/*.yaml; do fill "$template" "$out/winget/$(basename "$template")"; done
    fill packaging/windows/scoop.json "$out/oscope.json"
else
    echo 'no manifests for winget and scoop: RELEASES, the address of the folder of the zip, is not set'
fi
ls -l "$out"
