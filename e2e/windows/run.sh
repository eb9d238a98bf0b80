#!/usr/bin/env bash
# Builds oscope for Windows and runs it under Wine: unit tests, then the program from a measurement to its
# page. Times that are measured there say nothing about Windows.
#
#     e2e/windows/run.sh [PROGRAM | --units]
#
# PROGRAM is an oscope.exe that exists already. With --units, only unit tests, compiled without optimisation, which
# takes a quarter of the time. Needs Rust's target x86_64-pc-windows-gnu, Debian's packages
# gcc-mingw-w64-x86-64-win32, wine64 and python3, and for one comparison an oscope for this system, which it
# builds unless OSCOPE names one. Without the packages it says so and succeeds. It installs nothing, and ends
# all that it starts.
set -euo pipefail
cd "$(dirname "$0")/../.."
readonly target=x86_64-pc-windows-gnu
. e2e/windows/wine.sh

skip() {
    echo "skipped: $1"
    exit 0
}

for tool in x86_64-w64-mingw32-gcc wine64 wineserver python3; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
[ -d "$(rustc --print target-libdir --target "$target")" ] || skip "Rust has no target $target here"

new_prefix

export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER='timeout 600 wine64'
# units [OPTION]...: the unit tests, the workers' checks, and all tests of user threads.
units() {
    local crates=(-p oscope-platform -p oscope-instrument -p oscope-record -p oscope-choice
        -p oscope-files -p oscope-transfer)
    cargo test "$@" --locked --target "$target" "${crates[@]}" --lib
    cargo test "$@" --locked --target "$target" "${crates[@]}" --test workers
    cargo test "$@" --locked --target "$target" -p uthread -p uthread-workload --tests
}
if [ "${1:-}" = --units ]; then
    units
    echo 'oscope for Windows: the unit tests passed'
    exit 0
fi

program=${1:-}
if [ -z "$program" ]; then
    cargo build --release --locked --target "$target" -p oscope
    program=${CARGO_TARGET_DIR:-target}/$target/release/oscope.exe
fi
units --release

# From here on, the real program.
oscope() {
    local words=$work/words code=0
    timeout 300 wine64 "$program" --store "Z:$work/store.db" "$@" 2>"$words" || code=$?
    if grep -q 'panicked' "$words"; then
        cat "$words"
        exit 1
    fi
    return "$code"
}
holds() {
    grep -q "$2" "$1" || { echo "no '$2' in:"; cat "$1"; exit 1; }
}
readonly caution='not on Windows NT: its times say nothing about that system'

oscope list >"$work/list"
holds "$work/list" memory.bandwidth
oscope explain memory.bandwidth >"$work/explained"
holds "$work/explained" bandwidth

# Some points cannot be measured there: that is exit code 1, with a reason for each.
code=0
oscope run memory.bandwidth process.calls --budget 20s --dir "Z:$work" --no-page --json \
    >"$work/run.json" || code=$?
((code <= 1)) || { cat "$work/words"; exit 1; }
python3 e2e/windows/check.py "$work/run.json"

oscope show latest >"$work/shown"
holds "$work/shown" "$caution"
head -1 "$work/shown" | grep -q "$caution"
oscope report latest --output "Z:$work/page.html"
holds "$work/page.html" "How far to trust it</a>: Measured under Wine"
oscope verify >"$work/verified"

linux=${OSCOPE:-}
if [ -z "$linux" ]; then
    cargo build --release --locked -p oscope
    linux=${CARGO_TARGET_DIR:-target}/release/oscope
fi
"$linux" --store "$work/linux.db" run memory.bandwidth process.calls --budget 20s --dir "$work" --no-page >"$work/linux" 2>&1
"$linux" --store "$work/linux.db" export latest --output "$work/linux.oscope.json"
code=0
oscope compare "Z:$work/linux.oscope.json" latest >"$work/compared" || code=$?
# 3 says that something differs.
((code == 0 || code == 3)) || { cat "$work/words"; exit 1; }
holds "$work/compared" 'stand in'
tr '\n' ' ' <"$work/compared" | sed 's/  */ /g' | grep -q "latest: Measured under Wine [0-9.]*, $caution" ||
    { cat "$work/compared"; exit 1; }
holds "$work/compared" 'memory.bandwidth'
code=0
oscope compare "Z:$work/linux.oscope.json" latest --only process.calls --all >"$work/calls" || code=$?
((code == 0 || code == 3)) || { cat "$work/words"; exit 1; }
holds "$work/calls" 'read 1 byte against ReadFile 1 byte'
holds "$work/calls" 'read, write and lseek; ReadFile'

echo 'files, by pipes and to a device'
head -c 3000000 /dev/urandom >"$work/big"
by_name=$(oscope file sum "Z:$work/big" | awk '{ print $1 }')
by_pipe=$( (head -c 1000000 "$work/big" && sleep 1 && tail -c +1000001 "$work/big") | oscope file sum - |
    awk '{ print $1 }')
[ -n "$by_name" ]
[ "$by_name" = "$by_pipe" ]
if oscope file copy "Z:$work/big" NUL; then
    echo 'a device was written without --force' && exit 1
fi
oscope file copy "Z:$work/big" NUL --force >/dev/null
[ ! -e "$work/NUL" ]

echo 'a transfer'
oscope token --output "Z:$work/token"
mkdir "$work/incoming"
: >"$work/received"
timeout 300 wine64 "$program" receive "Z:$work/incoming" --once --listen 127.0.0.1:0 --token-file "Z:$work/token" \
    >"$work/received" 2>&1 &
for _ in $(seq 100); do
    place=$(sed -n 's/^listening on //p' "$work/received" | tr -d '\r')
    [ -n "$place" ] && break
    sleep 0.1
done
oscope send "Z:$work/big" --to "$place" --token-file "Z:$work/token" >/dev/null
wait $!
cmp "$work/big" "$work/incoming/big"
[ ! -e "$work/incoming/.oscope-partial" ]

echo 'a pipe that nobody reads any more'
oscope list | head -1 >/dev/null || true
[ ! -s "$work/words" ] || { cat "$work/words"; exit 1; }
find "$work" -maxdepth 1 -name 'oscope-scratch-*' | grep . && { echo 'scratch files are left'; exit 1; }
echo 'oscope for Windows: all is well'
