#!/usr/bin/env bash
# system.noise against other ways of measuring the same; ../peers.sh says how, and which variables there are.
#
# usage: bench/noise/run.sh [ROUNDS]
#
# A round takes about 20 s. Needs a C compiler and python3; uses cyclictest (rt-tests) where it is installed.
# OTHER is a second processor.
#
# cyclictest's thread sleeps, so that its greatest lateness has a wake-up and the timer's slack in it as well.
# Left out: `rtla osnoise`, since few kernels have its tracer (CONFIG_OSNOISE_TRACER).
set -euo pipefail

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/peers.sh
. "$here/../peers.sh"
other=${OTHER:-$((cpu > 0 ? cpu - 1 : 0))}
processes=10

cc -O2 -pthread -o "$work/jitter" "$here/jitter.c"

# middle FIELD: the median of a field of all lines.
middle() { awk -v field="$1" '{ print $field }' | sort -g | awk '{ all[NR] = $1 } END { print all[int((NR + 1) / 2)] }'; }

noise() {
    measure system.noise
    while IFS='|' read -r second there; do
        # shellcheck disable=SC2086
        for _ in $(seq "$processes"); do "$work/jitter" "$cpu" 200 $there; done > "$work/lines"
        field=0
        for metric in lost gaps gap longest delay; do
            field=$((field + 1))
            value=$(middle "$field" < "$work/lines")
            # Without a gap there is no ratio.
            [ "$value" = 0 ] || put C "$value" system.noise "$metric" "\"second\":\"$second\",\"length\":200"
        done
    done << EOF
alone|
on another core|$other
on the same processor|$cpu
EOF
    if has cyclictest; then
        # Its greatest lateness in 150 ms, in whole µs.
        for _ in $(seq "$processes"); do
            on_one_cpu cyclictest -q -t1 -i 200 -l 750 2> /dev/null | sed -n 's/.*Max: *\([0-9]*\).*/\1000/p'
        done > "$work/lines"
        put cyclictest "$(middle 1 < "$work/lines")" system.noise longest '"second":"alone","length":200'
    fi
}

in_rounds "$rounds" noise
