#!/bin/sh
# memory.bandwidth beside other ways of measuring the same, interleaved: in each round oscope and
# every peer run one after the other, and ratios are taken within a round.
#
# usage: bench/memory/run.sh [ROUNDS]
#
# Needs a C compiler and python3; uses sysbench and dd where they are installed. OSCOPE names the
# program, which is built if it is not set; CPU the processor to use.
set -eu

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=${CPU:-$(($(nproc) - 1))}

if [ -z "${OSCOPE:-}" ]; then
    cargo build --release --manifest-path "$here/../../Cargo.toml" -p oscope
    OSCOPE=$here/../../target/release/oscope
fi
cc -O3 -march=native -o "$work/scan" "$here/scan.c"
# The same loops, unrolled with several accumulators in the widest registers, where cc can do that.
cc -O3 -march=native -mprefer-vector-width=512 -funroll-loops -fvariable-expansion-in-unroller \
    -o "$work/scan-wide" "$here/scan.c" 2> /dev/null || echo "left out: C wide" >&2

on_one_cpu() {
    if command -v taskset > /dev/null; then taskset -c "$cpu" "$@"; else "$@"; fi
}

has() {
    command -v "$1" > /dev/null || {
        [ "$round" -gt 1 ] || echo "left out: $1 is not installed" >&2
        return 1
    }
}

# One line for each measurement: round, tool, operation, block size, bytes per second.
put() { printf '%s\t%s\t%s\t%s\t%s\n' "$round" "$@" >> "$work/peers.tsv"; }

sizes="16384 1048576 16777216 268435456"
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    "$OSCOPE" run memory.bandwidth --json --no-page --quiet --store "$work/store" \
        --budget "${BUDGET:-20s}" > "$work/oscope-$round.json"
    for size in $sizes; do
        for operation in read memchr write memset copy; do
            put C "$operation" "$size" "$(on_one_cpu "$work/scan" "$operation" "$size")"
        done
        if [ -x "$work/scan-wide" ]; then
            for operation in read write copy; do
                put "C wide" "$operation" "$size" "$(on_one_cpu "$work/scan-wide" $operation "$size")"
            done
        fi
        # The GNU C library's memset without `rep stosb`, which fills without fetching lines first.
        put "C stores" memset "$size" "$(GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000 \
            on_one_cpu "$work/scan" memset "$size")"
        if has sysbench; then
            for operation in read write; do
                put sysbench "$operation" "$size" "$(on_one_cpu sysbench memory \
                    --memory-block-size="$size" --memory-total-size=100T --memory-oper=$operation \
                    --time=1 run | awk '/MiB\/sec/ { gsub(/\(/, ""); print $4 * 1048576 }')"
            done
        fi
    done
    if has dd; then
        # The kernel fills one buffer with zeros again and again.
        put dd write 1048576 "$(LC_ALL=C on_one_cpu dd if=/dev/zero of=/dev/null bs=1M count=20000 \
            2>&1 | awk '/copied/ { print $1 / $8 }')"
    fi
done
python3 "$here/table.py" "$work"
