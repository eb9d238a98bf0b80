#!/bin/sh
# process.calls beside other ways of measuring the same, interleaved: in each round oscope and every
# peer run one after the other, and ratios are taken within a round.
#
# usage: bench/calls/run.sh [ROUNDS]
#
# Needs a C compiler and python3; uses `perf bench syscall` where it is installed. OSCOPE names the
# program, which is built if it is not set; CPU the processor to use; DIR where files are made.
set -eu

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
dir=${DIR:-.}
work=$(mktemp -d -p "$dir")
trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)
cpu=${CPU:-$(($(nproc) - 1))}

if [ -z "${OSCOPE:-}" ]; then
    cargo build --release --manifest-path "$here/../../Cargo.toml" -p oscope
    OSCOPE=$here/../../target/release/oscope
fi
cc -O3 -march=native -o "$work/calls" "$here/calls.c"
mkdir "$work/peer-scratch"

on_one_cpu() {
    if command -v taskset > /dev/null; then taskset -c "$cpu" "$@"; else "$@"; fi
}

# One line for each measurement: round, tool, operation, ns.
put() { printf '%s\t%s\t%s\t%s\n' "$round" "$@" >> "$work/peers.tsv"; }

round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    "$OSCOPE" run process.calls --json --no-page --quiet --store "$work/store" --dir "$work" \
        > "$work/oscope-$round.json"
    for operation in getpid read lseek open fopen create malloc fork; do
        put C "$operation" "$(on_one_cpu "$work/calls" "$operation" "$work/peer-scratch")"
    done
    if perf bench syscall basic > /dev/null 2>&1; then
        # It calls getppid, which does a little more than getpid.
        put perf getpid "$(on_one_cpu perf bench syscall basic --loop 3000000 2> /dev/null |
            awk '/usecs\/op/ { print $1 * 1000 }')"
    elif [ "$round" -eq 1 ]; then
        echo "left out: perf bench syscall does not run here" >&2
    fi
done
python3 "$here/table.py" "$work"
