#!/usr/bin/env bash
# Tries what packaging/windows.sh built: unpacks the zip into an empty folder, and runs its program under Wine in a new
# prefix. Times that are measured there say nothing about Windows.
#
# usage: packaging/windows-try.sh [OUT]
#
# OUT as for windows.sh. Needs Debian's wine64, gcc-mingw-w64-x86-64-win32 and python3.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:-target/package/out}")
zip=$(echo "$out"/oscope-*-x86_64-windows.zip)
[ -f "$zip" ] || { echo "no zip, or several: $zip" >&2 && exit 1; }

. e2e/windows/wine.sh
new_prefix
trap 'exit 130' INT TERM
passed=0

# A folder with a space, as many have on Windows.
folder="$work/new folder"
python3 -m zipfile -e "$zip" "$folder"
contents=$(ls "$folder")

# expect CODE TEXT ARGUMENT...: the program ends with CODE, and says TEXT somewhere.
expect() {
    local code=$1 text=$2 ended=0
    shift 2
    (cd "$folder" && timeout 300 wine64 oscope.exe "$@") > "$work/said" 2>&1 || ended=$?
    if [ "$ended" != "$code" ] || ! grep -qF -e "$text" "$work/said"; then
        cat "$work/said"
        echo "oscope.exe $*: ended with $ended and should with $code, and say: $text" >&2
        exit 1
    fi
    passed=$((passed + 1))
}

store=(--store "Z:$work/oscope.db")
expect 0 'An instrument for operating systems' --help
expect 0 '.TH oscope 1' man
expect 0 Register-ArgumentCompleter completions powershell
expect 0 memory.latency list
expect 0 'address translation' explain memory.tlb
# So few points are measured in time on a busy machine too.
expect 0 Findings run compute.arithmetic --at operation=add --at optimisation=3 --budget 10s --no-page "${store[@]}"
expect 0 'Measured under Wine' show "${store[@]}"
expect 0 compute.arithmetic show latest compute.arithmetic "${store[@]}"
expect 0 'The structure of the store is sound' verify "${store[@]}"
expect 0 rights doctor

[ "$(ls "$folder")" = "$contents" ] || { echo "something was left behind: $(ls "$folder")" >&2 && exit 1; }
for manifest in "$out"/winget/*.installer.yaml "$out/oscope.json"; do
    [ ! -f "$manifest" ] || grep -qF "$(sha256sum "$zip" | cut -d ' ' -f 1)" "$manifest" ||
        { echo "$manifest is of another zip" >&2 && exit 1; }
done
echo "$passed commands did as they should"
