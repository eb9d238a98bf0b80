#!/bin/sh
# The group process beside other ways of measuring the same, interleaved: in each round oscope and
# every peer run one after the other, and ratios are taken within a round.
#
# usage: bench/process/run.sh [ROUNDS]
#
# Needs a C compiler and python3; uses `perf bench` (linux-perf), stress-ng and cyclictest (rt-tests)
# where they are installed. OSCOPE names the program, which is built if it is not set; CPU the
# processor to use, OTHER a second one; DIR where files are made; PROFILE how long oscope takes.
set -eu

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
dir=${DIR:-.}
work=$(mktemp -d -p "$dir")
trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)
cpu=${CPU:-$(($(nproc) - 1))}
other=${OTHER:-$((cpu > 0 ? cpu - 1 : 0))}

if [ -z "${OSCOPE:-}" ]; then
    cargo build --release --manifest-path "$here/../../Cargo.toml" -p oscope
    OSCOPE=$here/../../target/release/oscope
fi
cc -O3 -march=native -pthread -o "$work/calls" "$here/calls.c"
cc -O3 -march=native -o "$work/talk" "$here/talk.c"
mkdir "$work/peer-scratch"

on_one_cpu() {
    if command -v taskset > /dev/null; then taskset -c "$cpu" "$@"; else "$@"; fi
}

# One line for each measurement: round, tool, what, value (ns, or bytes a second of a stream).
put() {
    if [ -n "$3" ]; then printf '%s\t%s\t%s\t%s\n' "$round" "$@" >> "$work/peers.tsv"; fi
}

left_out() { if [ "$round" -eq 1 ]; then echo "left out: $*" >&2; fi; }

calls='getpid clock clock_syscall read write lseek stat open fopen create mmap malloc signal_install
    signal_deliver thread vfork fork spawn exec'

round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    "$OSCOPE" run process.calls process.switch process.ipc process.wakeup \
        --profile "${PROFILE:-quick}" --json --no-page --quiet --store "$work/store" --dir "$work" \
        > "$work/oscope-$round.json" || echo "oscope could not measure everything" >&2

    for call in $calls; do
        put C "$call" "$(on_one_cpu "$work/calls" "$call" "$work/peer-scratch")"
    done
    for there in "$cpu" "$other"; do
        if [ "$there" = "$cpu" ]; then cores=one; else cores=two; fi
        for means in pipe unix tcp eventfd futex; do
            size=1
            [ "$means" = eventfd ] && size=8
            put C "trip_${means}_$cores" "$("$work/talk" "$means" trip "$size" "$cpu" "$there")"
        done
        for means in pipe unix tcp; do
            put C "stream_${means}_$cores" "$("$work/talk" "$means" stream 65536 "$cpu" "$there")"
        done
        put C "switch_2_0_$cores" "$("$work/talk" ring 2 0 "$cpu" "$there")"
        [ "$other" = "$cpu" ] && break
    done
    put C switch_8_16384_one "$("$work/talk" ring 8 16384 "$cpu" "$cpu")"
    put C switch_32_65536_one "$("$work/talk" ring 32 65536 "$cpu" "$cpu")"

    if perf bench sched pipe -l 10 > /dev/null 2>&1; then
        # getppid does a little more than getpid; the pipe's operation is a message and one back.
        put perf getpid "$(on_one_cpu perf bench syscall basic --loop 3000000 2> /dev/null |
            awk '/usecs\/op/ { print $1 * 1000 }')"
        put perf trip_pipe_one "$(on_one_cpu perf bench sched pipe -l 100000 2> /dev/null |
            awk '/usecs\/op/ { print $1 * 1000 }')"
    else
        left_out "perf bench does not run here (linux-perf)"
    fi
    if command -v stress-ng > /dev/null; then
        # With the pipe's own cost in it.
        put stress-ng pass_2_0_one "$(on_one_cpu stress-ng --switch 1 --switch-method pipe \
            --switch-ops 200000 --metrics 2>&1 |
            awk '/nanosecs per context switch/ {
                for (i = 1; i <= NF; i++) if ($i ~ /^[0-9.]+$/) { print $i; exit } }')"
    else
        left_out "stress-ng is not installed"
    fi
    if command -v cyclictest > /dev/null; then
        # Its average, in whole µs.
        put cyclictest late_nanosleep "$(on_one_cpu cyclictest -q -t1 -i 200 -l 5000 2> /dev/null |
            sed -n 's/.*Avg: *\([0-9]*\).*/\1/p' | awk '{ print $1 * 1000 }')"
    else
        left_out "cyclictest is not installed (rt-tests)"
    fi
done
echo "left out: lmbench is not in Debian's main section; hackbench and sysbench threads time whole" \
    "crowds, which no experiment here does" >&2
python3 "$here/table.py" "$work"
