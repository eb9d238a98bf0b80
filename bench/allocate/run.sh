#!/usr/bin/env bash
# memory.allocate against the same in C, for the C library's allocator and those installed of jemalloc,
# mimalloc and tcmalloc (Debian: libjemalloc2, libmimalloc2.0, libtcmalloc-minimal4); ../peers.sh says how,
# and which variables there are.
#
# usage: bench/allocate/run.sh [ROUNDS]
#
# LIBRARIES names other libraries, separated by spaces. Needs a C compiler and python3. Processors are those up to
# CPU, the last. A round takes about half a minute.
set -euo pipefail

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/peers.sh
. "$here/../peers.sh"

cc -O3 -march=native -pthread -o "$work/allocate" "$here/allocate.c"

libraries=()
if [ -n "${LIBRARIES:-}" ]; then
    read -ra libraries <<< "$LIBRARIES"
else
    for name in jemalloc mimalloc tcmalloc_minimal; do
        library=$(PATH=$PATH:/sbin ldconfig -p |
            awk -v name="lib$name.so" 'index($1, name) == 1 && !found++ { print $1 }')
        if [ -n "$library" ]; then libraries+=("$library"); else echo "left out: $name is not installed" >&2; fi
    done
fi
all=$(nproc)

# allocate ALLOCATOR SIZE THREADS same|another: what it prints; LD_PRELOAD is for it alone.
allocate() {
    local allocator=$1
    shift
    if [ "$allocator" = 'C library' ]; then
        "$work/allocate" "$@" "$cpu"
    else
        LD_PRELOAD=$allocator "$work/allocate" "$@" "$cpu"
    fi
}

each() {
    local allocator size threads means freed_by values
    local options=(--at 'allocator=C library')
    for library in "${libraries[@]}"; do options+=(--at "allocator=$library"); done
    measure memory.allocate "${options[@]}"
    for allocator in 'C library' "${libraries[@]}"; do
        for size in 16 1024 65536 1048576; do
            while read -r threads means freed_by; do
                # oscope's value is that of several processes.
                values=$(for _ in 1 2 3; do allocate "$allocator" "$size" "$threads" "$means"; done |
                    sort -n | sed -n 2p)
                put_at() {
                    put C "$2" memory.allocate "$1" \
                        "\"allocator\":\"$allocator\",\"block_size\":$size,\"threads\":$threads,\"freed_by\":\"$freed_by\""
                }
                put_at cost "${values%% *}"
                # Less than that is nothing, of which there is no ratio.
                put_at faults "$(awk '$2 > 0.1 { print $2 }' <<< "$values")"
                put_at taken "$(awk '$3 > 1048576 { print $3 }' <<< "$values")"
                put_at held "$(awk '$4 > 1048576 { print $4 }' <<< "$values")"
            done < <(
                echo '1 same same thread'
                if [ "$all" -gt 1 ]; then
                    echo "$all same same thread"
                    echo "$all another another thread"
                fi
            )
        done
    done
}

in_rounds "$rounds" each
