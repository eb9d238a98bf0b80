#!/bin/sh
# compute.arithmetic beside other ways of measuring the same, interleaved: in each round oscope and
# every peer run one after the other, and ratios are taken within a round.
#
# usage: bench/arithmetic/run.sh [ROUNDS]
#
# Needs an x86-64 processor with FMA, a C compiler and python3; uses `sysbench` and the newest
# `llvm-mca` (Debian: llvm) where they are installed. OSCOPE names the program, which is built if it
# is not set; CPU the processor to use.
#
# Left out: stress-ng and `perf bench`, since neither tells what an operation takes (a bogo operation
# is a mix); lmbench's lat_ops, since Debian has no package of it.
set -eu

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=${CPU:-$(($(nproc) - 1))}

if [ "$(uname -m)" != x86_64 ]; then
    echo "the instructions of operations.c are those of x86-64" >&2
    exit 1
fi
if [ -z "${OSCOPE:-}" ]; then
    cargo build --release --manifest-path "$here/../../Cargo.toml" -p oscope
    OSCOPE=$here/../../target/release/oscope
fi
cc -O2 -o "$work/operations" "$here/operations.c"
mca=$(ls /usr/bin/llvm-mca* 2> /dev/null | sort -V | tail -n 1)
if [ -n "$mca" ]; then
    "$mca" -instruction-tables "$here/instructions.s" > "$work/published.txt" 2> /dev/null ||
        echo "left out: $mca does not know this processor" >&2
else
    echo "left out: llvm-mca is not installed" >&2
fi

on_one_cpu() {
    if command -v taskset > /dev/null; then taskset -c "$cpu" "$@"; else "$@"; fi
}

# One line for each measurement: round, tool, operation, kind, ns.
put() { printf '%s\t%s\t%s\t%s\t%s\n' "$round" "$@" >> "$work/peers.tsv"; }

round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    "$OSCOPE" run compute.arithmetic --json --no-page --quiet --store "$work/store" --dir "$work" \
        > "$work/oscope-$round.json"
    for name in add_u64 multiply_u64 divide_u64 add_f64 multiply_f64 divide_f64 fused_f64 root_f64; do
        for kind in latency throughput; do
            put assembly "$name" "$kind" "$(on_one_cpu "$work/operations" "$name" "$kind")"
        done
    done
    if command -v sysbench > /dev/null; then
        # Events a second; table.py knows how many divisions an event is.
        put sysbench divide_u64 throughput "$(on_one_cpu sysbench cpu --cpu-max-prime=10000 --time=2 run |
            awk '/events per second/ { print $4 }')"
    elif [ "$round" -eq 1 ]; then
        echo "left out: sysbench is not installed" >&2
    fi
done
python3 "$here/table.py" "$work"
