#!/bin/sh
# memory.latency, memory.tlb, memory.copy, memory.parallel and memory.page_fault beside other ways of
# measuring the same, interleaved: in each round oscope and every peer run one after the other, and
# ratios are taken within a round.
#
# usage: bench/memory/others.sh [ROUNDS]
#
# Needs a C compiler and python3; uses stress-ng and lmbench's lat_mem_rd where they are installed.
# OSCOPE names the program, which is built if it is not set; CPU the processor to use; DIR a
# directory on a device.
set -eu

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cpu=${CPU:-$(($(nproc) - 1))}
dir=${DIR:-.}

if [ -z "${OSCOPE:-}" ]; then
    cargo build --release --manifest-path "$here/../../Cargo.toml" -p oscope
    OSCOPE=$here/../../target/release/oscope
fi
cc -O2 -o "$work/chase" "$here/chase.c"
cc -O2 -o "$work/fault" "$here/fault.c"
cc -O3 -march=native -pthread -o "$work/stream" "$here/stream.c"
cc -O3 -march=native -o "$work/scan" "$here/scan.c"

on_one_cpu() {
    if command -v taskset > /dev/null; then taskset -c "$cpu" "$@"; else "$@"; fi
}

has() {
    command -v "$1" > /dev/null || {
        [ "$round" -gt 1 ] || echo "left out: $1 is not installed" >&2
        return 1
    }
}

# One line for each measurement: round, experiment, metric, levels as JSON, tool, value.
put() { printf '%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$@" >> "$work/others.tsv"; }

l1=$(getconf LEVEL1_DCACHE_SIZE)
l2=$(getconf LEVEL2_CACHE_SIZE)
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    "$OSCOPE" run memory.latency memory.copy memory.tlb memory.parallel memory.page_fault --json \
        --no-page --quiet --store "$work/store" --dir "$dir" --budget "${BUDGET:-60s}" \
        > "$work/oscope-$round.json"
    for size in 8192 $((l1 / 2)) $((l2 / 2)) 16777216 134217728; do
        for pages in 4 2; do
            if [ $pages = 4 ]; then name='4 KiB pages' huge=''; else name='2 MiB pages' huge=huge; fi
            # shellcheck disable=SC2086
            put memory.latency load "{\"working_set\":$size,\"stride\":64,\"pages\":\"$name\"}" C \
                "$(on_one_cpu "$work/chase" "$size" 64 $huge)"
        done
    done
    if has lat_mem_rd; then
        # In random order (-t), the last line is the largest working set.
        put memory.latency load '{"working_set":134217728,"stride":64,"pages":"4 KiB pages"}' \
            lmbench "$(on_one_cpu lat_mem_rd -t 128 64 2>&1 | awk 'NF == 2 { ns = $2 } END { print ns }')"
    fi
    for threads in 1 $(nproc); do
        put memory.parallel copy "{\"threads\":$threads}" STREAM \
            "$("$work/stream" "$threads" 268435456)"
    done
    if has stress-ng; then
        put memory.parallel read '{"threads":1}' stress-ng "$(on_one_cpu stress-ng --memrate 1 \
            --memrate-bytes 256M -t 20 --metrics 2>&1 |
            awk '{ for (i = 2; i <= NF; i++) if ($i == "read128") rate = $(i - 1) }
                 END { print rate * 1048576 }')"
    fi
    put memory.page_fault cost '{"touch":"first touch"}' C \
        "$(on_one_cpu "$work/fault" first_touch)"
    put memory.page_fault cost '{"touch":"copy on write"}' C \
        "$(on_one_cpu "$work/fault" copy_on_write)"
    put memory.page_fault cost '{"touch":"file, in page cache"}' C \
        "$(on_one_cpu "$work/fault" file "$work/file")"
done
python3 "$here/others.py" "$work"
