#!/usr/bin/env bash
# The group process against other ways of measuring the same; ../peers.sh says how, and which variables
# there are.
#
# usage: bench/process/run.sh [ROUNDS [PART...]]
#
# PART: calls, switch, ipc, wakeup; without one, all. A round of all takes about 70 s. Needs a C
# compiler and python3; uses `perf bench` (linux-perf), stress-ng and cyclictest (rt-tests) where they
# are installed. OTHER is a second processor.
#
# Left out: `perf bench sched messaging`, hackbench and sysbench's threads and mutex, which time whole
# crowds, as no experiment here does; stress-ng's pthread, open, fault and mmap, each a mix of calls.
set -euo pipefail

rounds=${1:-5}
[ $# -eq 0 ] || shift
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/peers.sh
. "$here/../peers.sh"
other=${OTHER:-$((cpu > 0 ? cpu - 1 : 0))}

cc -O3 -march=native -pthread -o "$work/calls" "$here/calls.c"
cc -O3 -march=native -o "$work/talk" "$here/talk.c"
mkdir "$work/as-deep-as-oscope"

# stress_ng NAME ARGUMENTS...: what it prints before these words, in its metrics.
stress_ng() {
    words=$1
    shift
    on_one_cpu stress-ng "$@" --metrics 2>&1 | sed -n "s/.* \([0-9.]*\) $words.*/\1/p"
}

# stress_ng_each ARGUMENTS...: ns of an operation, by its count of them in real time.
stress_ng_each() {
    on_one_cpu stress-ng "$@" --metrics-brief 2>&1 |
        awk '$4 ~ /^[a-z]+$/ && $5 + 0 > 0 { print 1e9 * $6 / $5; exit }'
}

calls() {
    measure process.calls
    put_at() { put "$1" "$2" process.calls rate "\"call\":\"$call\",\"optimisation\":3"; }
    while IFS='|' read -r name call; do
        # What the journal of the file system has to do changes within seconds.
        if [ "$name" = create ]; then processes=8; else processes=1; fi
        put_at C "$(over_processes $processes on_one_cpu "$work/calls" "$name" "$work/as-deep-as-oscope")"
        case $name in
        getpid)
            # It calls getppid, which does a little more.
            has perf && put_at 'perf bench' "$(on_one_cpu perf bench syscall basic --loop 3000000 \
                2> /dev/null | awk '/usecs\/op/ { print $1 * 1000 }')"
            ;;
        clock)
            has stress-ng && put_at stress-ng "$(stress_ng 'nanosecs per call' \
                --vdso 1 --vdso-func clock_gettime -t 1)"
            ;;
        fork | vfork) has stress-ng && put_at stress-ng "$(stress_ng_each "--$name" 1 -t 1)" ;;
        esac || true
    done << 'EOF'
getpid|getpid
clock|clock_gettime
clock_syscall|clock_gettime, system call
read|read 1 byte
write|write 1 byte
lseek|lseek
stat|stat
open|open+close
fopen|fopen+fclose
create|create+delete
mmap|mmap+munmap
malloc|malloc+free
signal_install|signal, install
signal_deliver|signal, deliver
thread|thread create+join
vfork|vfork+exit+wait
fork|fork+exit+wait
spawn|posix_spawn+wait
exec|fork+exec+wait
EOF
}

switch() {
    measure process.switch
    put_at() {
        put "$1" "$2" process.switch "$3" "\"kind\":\"processes\",\"count\":$count,\"working_set\":$set,\"placement\":\"$cores\""
    }
    while read -r count set there cores; do
        cores="$cores $(if [ "$cores" = one ]; then echo core; else echo cores; fi)"
        put_at C "$(over_processes 4 "$work/talk" ring "$count" "$set" "$cpu" "$there")" switch
    done << EOF
2 0 $cpu one
2 0 $other two
8 16384 $cpu one
32 65536 $cpu one
EOF
    count=2 set=0 cores='one core'
    # With the pipe's own cost in it, as in oscope's `pass`.
    if has stress-ng; then
        put_at stress-ng "$(stress_ng 'nanosecs per context switch' \
            --switch 1 --switch-method pipe --switch-ops 200000)" pass
    fi
}

ipc() {
    measure process.ipc
    put_at() {
        put "$1" "$2" process.ipc "$3" "\"mechanism\":\"$mechanism\",\"message_size\":$size,\"placement\":\"$cores\""
    }
    for there in "$cpu" "$other"; do
        if [ "$there" = "$cpu" ]; then cores='one core'; else cores='two cores'; fi
        while read -r metric what means size mechanism; do
            put_at C "$(over_processes 8 "$work/talk" "$means" "$what" "$size" "$cpu" "$there")" "$metric"
        done << 'EOF'
round_trip trip pipe 1 pipe
round_trip trip unix 1 Unix socket
round_trip trip tcp 1 TCP
round_trip trip eventfd 8 eventfd
round_trip trip futex 4 futex
bandwidth stream pipe 65536 pipe
bandwidth stream unix 65536 Unix socket
bandwidth stream tcp 65536 TCP
EOF
    done
    # An operation is a message and one back.
    if has perf; then
        mechanism=pipe size=1 cores='one core'
        put_at 'perf bench' "$(on_one_cpu perf bench sched pipe -l 100000 2> /dev/null |
            awk '/usecs\/op/ { print $1 * 1000 }')" round_trip
    fi
}

wakeup() {
    measure process.wakeup
    if has cyclictest; then
        # Its average, in whole µs.
        put cyclictest "$(on_one_cpu cyclictest -q -t1 -i 200 -l 5000 2> /dev/null |
            sed -n 's/.*Avg: *\([0-9]*\).*/\1000/p')" process.wakeup late \
            '"waker":"nanosleep","load":"idle"'
    fi
}

[ $# -gt 0 ] || set -- calls switch ipc wakeup
in_rounds "$rounds" "$@"
