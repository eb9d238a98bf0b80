#!/usr/bin/env bash
# The group memory against other ways of measuring the same; ../peers.sh says how, and which variables
# there are.
#
# usage: bench/memory/run.sh [ROUNDS [PART...]]
#
# PART: bandwidth, latency, copy, parallel, loaded, page_fault; without one, all. A round of all takes
# about two minutes. Needs a C compiler and python3; uses sysbench, stress-ng, likwid-bench and `perf bench`
# (linux-perf) where they are installed, and lmbench's lat_mem_rd and bw_mem (Debian: non-free).
set -euo pipefail

rounds=${1:-5}
[ $# -eq 0 ] || shift
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/peers.sh
. "$here/../peers.sh"

cc -O3 -march=native -o "$work/scan" "$here/scan.c"
# The same loops, unrolled with several accumulators in the widest registers, where cc can do that.
cc -O3 -march=native -mprefer-vector-width=512 -funroll-loops -fvariable-expansion-in-unroller \
    -o "$work/scan-wide" "$here/scan.c" 2> /dev/null || echo "left out: C wide" >&2
cc -O2 -o "$work/chase" "$here/chase.c"
cc -O2 -o "$work/fault" "$here/fault.c"
cc -O3 -march=native -pthread -o "$work/stream" "$here/stream.c"
cc -O3 -march=native -pthread -o "$work/loaded" "$here/loaded.c"

base_pages='"pages":"4 KiB pages"'

# The widest vectors that likwid-bench and this processor have.
width() {
    case " $(grep -m1 '^flags' /proc/cpuinfo) " in
        *' avx512f '*) echo _avx512 ;;
        *' avx '*) echo _avx ;;
        *) echo _sse ;;
    esac
}

bandwidth() {
    measure memory.bandwidth
    for size in 16384 262144 16777216 268435456; do
        put_at() { put "$1" "$2" memory.bandwidth "$3" "\"block_size\":$size,$base_pages"; }
        for metric in read write; do
            put_at C "$(on_one_cpu "$work/scan" $metric $size)" $metric
            if [ -x "$work/scan-wide" ]; then
                put_at 'C wide' "$(on_one_cpu "$work/scan-wide" $metric $size)" $metric
            fi
            if has sysbench; then
                put_at sysbench "$(on_one_cpu sysbench memory --memory-block-size=$size \
                    --memory-total-size=100T --memory-oper=$metric --time=1 run |
                    awk '/MiB\/sec/ { gsub(/\(/, ""); print $4 * 1048576 }')" $metric
            fi
            if has likwid-bench; then
                if [ $metric = read ]; then kernel=load; else kernel=store; fi
                put_at likwid "$(on_one_cpu likwid-bench -t "$kernel$(width)" -w "N:$((size / 1024))kB:1" |
                    awk '/^MByte\/s/ { print $2 * 1e6 }')" $metric
            fi
            if has bw_mem; then
                if [ $metric = read ]; then operation=rd; else operation=wr; fi
                put_at lmbench "$(on_one_cpu bw_mem $size $operation 2>&1 | awk '{ print $2 * 1e6 }')" $metric
            fi
        done
        put_at 'C memchr' "$(on_one_cpu "$work/scan" memchr $size)" read
        put_at 'C memset' "$(on_one_cpu "$work/scan" memset $size)" write
        # Without `rep stosb`, which fills without fetching lines first.
        put_at 'C memset, stores' "$(GLIBC_TUNABLES=glibc.cpu.x86_rep_stosb_threshold=1000000000 \
            on_one_cpu "$work/scan" memset $size)" write
    done
}

latency() {
    measure memory.latency
    l1=$(getconf LEVEL1_DCACHE_SIZE)
    l2=$(getconf LEVEL2_CACHE_SIZE)
    for size in 16384 $((l1 / 2)) $((l2 / 2)) 16777216 134217728; do
        for pages in 4 2; do
            if [ $pages = 4 ]; then name='4 KiB' huge=''; else name='2 MiB' huge=huge; fi
            # shellcheck disable=SC2086
            put C "$(on_one_cpu "$work/chase" "$size" 64 $huge)" memory.latency load \
                "\"working_set\":$size,\"stride\":64,\"pages\":\"$name pages\""
        done
    done
    if has lat_mem_rd; then
        # In random order (-t), the last line is the largest working set.
        put lmbench "$(on_one_cpu lat_mem_rd -t 128 64 2>&1 | awk 'NF == 2 { ns = $2 } END { print ns }')" \
            memory.latency load "\"working_set\":134217728,\"stride\":64,$base_pages"
    fi
}

copy() {
    measure memory.copy
    for size in 8192 262144 8388608 134217728; do
        levels="\"block_size\":$size,\"method\":\"memcpy\""
        # The program halves its block: one half is copied to the other.
        put C "$(on_one_cpu "$work/scan" memcpy $((2 * size)))" memory.copy copy "$levels"
        if has perf; then
            put 'perf bench' "$(on_one_cpu perf bench mem memcpy -f default -s ${size}B \
                -l $((4294967296 / size)) 2> /dev/null |
                awk '/B\/sec/ { unit["GB/sec"] = 2^30; unit["MB/sec"] = 2^20; print $1 * unit[$2] }')" \
                memory.copy copy "$levels"
        fi
    done
}

parallel() {
    measure memory.parallel
    for threads in 1 $(nproc); do
        put STREAM "$("$work/stream" "$threads" 268435456)" memory.parallel copy "\"threads\":$threads"
    done
    if has stress-ng; then
        on_one_cpu stress-ng --memrate 1 --memrate-bytes 256M -t 6 --metrics > "$work/memrate" 2>&1
        for metric in read write; do
            put stress-ng "$(awk -v name=${metric}256 \
                '{ for (i = 2; i <= NF; i++) if ($i == name) print $(i - 1) * 1048576 }' \
                "$work/memrate")" memory.parallel $metric '"threads":1'
        done
    fi
}

loaded() {
    measure memory.loaded
    for rate in 0 50 90 100; do
        read -r latency bandwidth <<< "$(on_one_cpu "$work/loaded" $rate read)"
        levels="\"traffic\":\"read\",\"rate\":$rate"
        put C "$latency" memory.loaded latency "$levels"
        if [ $rate -gt 0 ]; then put C "$bandwidth" memory.loaded bandwidth "$levels"; fi
    done
}

page_fault() {
    measure memory.page_fault
    put_at() { put C "$(on_one_cpu "$work/fault" "$@")" memory.page_fault cost "\"touch\":\"$touch\""; }
    touch='first touch' && put_at first_touch
    touch='copy on write' && put_at copy_on_write
    touch='file, in page cache' && put_at file "$work/file"
}

[ $# -gt 0 ] || set -- bandwidth latency copy parallel loaded page_fault
in_rounds "$rounds" "$@"
python3 "$here/capacities.py" "$out"
