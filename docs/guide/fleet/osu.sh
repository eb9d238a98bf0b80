#!/bin/sh
# Runs osu_latency and osu_bw between all pairs of hosts, one pair after the other, and judges them.
#
# usage: osu.sh OUTPUT HOST...
#
# OUTPUT is a folder for what the benchmarks print. RUNS is how often each pair is measured (3). OSU is the folder with
# both benchmarks (those in the path), OSU_OPTIONS what they are called with; MPIRUN starts two processes on two hosts
# (mpirun --map-by ppr:1:node); OSCOPE names the program (that in the path). Ends as `oscope fleet fabric` does.
set -eu

[ $# -ge 5 ] || { sed -n '2,8s/^# \{0,1\}//p' "$0" >&2; exit 2; }
output=$1
shift
program=${OSCOPE:-$(command -v oscope)}
start=${MPIRUN:-mpirun --map-by ppr:1:node}
prefix=${OSU:+$OSU/}
mkdir -p "$output"

# measure FROM TO BENCHMARK: appends what it prints. Both options hold several words. If the first one fails, so would
# all others.
works=
measure() {
    if $start -n 2 --host "$1,$2" "${prefix}$3" ${OSU_OPTIONS:-} >> "$output/$1,$2,$run.part"; then
        works=1
    else
        echo "$3 from $1 to $2 failed" >&2
        [ -n "$works" ] || exit 1
    fi
}

for run in $(seq "${RUNS:-3}"); do
    seen=
    for from; do
        for to; do
            [ "$from" != "$to" ] || continue
            : > "$output/$from,$to,$run.part"
            # A round trip is the same from either end; a stream is not.
            case " $seen " in
            *" $to "*) ;;
            *) measure "$from" "$to" osu_latency ;;
            esac
            measure "$from" "$to" osu_bw
            mv "$output/$from,$to,$run.part" "$output/$from,$to,$run.osu"
        done
        seen="$seen $from"
    done
done
exec "$program" fleet fabric "$output"
