#!/usr/bin/env bash
# Do intervals and comparisons hold where the load changes from run to run?
#   bench/trust/changing.sh OSCOPE [-n RUNS] [-b BUDGET] [-d DIR] [-k FOLDER] [-s SEED] [WHAT...]
# Measures WHAT (process.calls, memory.latency and file.block_size by default) RUNS times (12), each for BUDGET
# (60s), one after the other. During a third of the runs, in an order drawn from SEED, the first processor is
# idle, during a third it has bursts, and during a third it is busy; workers are pinned to the last one. Then
# prints the tables of coverage.py, and compares three of these runs with three others, twenty times. If OSCOPE
# was built with the feature extra-work, three runs for each known change follow, under loads that are drawn, and
# are compared with three of the first. Takes 12 minutes, 21 with the known changes. Scratch files go into a new
# directory in DIR (/tmp). With -k, what each run said stays in FOLDER as JSON, with its load.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
usage() { sed -n '2,/^set/{s/^# //p}' "$0" >&2; exit 2; }
runs=12 budget=60s directory=/tmp keep='' seed=$RANDOM what=()
[ $# -gt 0 ] && [[ "$1" != -* ]] || usage
oscope=$(realpath "$1")
[ -x "$oscope" ] || { echo "changing.sh: '$1' is no program" >&2; exit 2; }
shift
while [ $# -gt 0 ]; do
    case "$1" in
    -n | -b | -d | -k | -s) [ $# -gt 1 ] || usage ;;&
    -n) runs=$2; shift ;;
    -b) budget=$2; shift ;;
    -d) directory=$2; shift ;;
    -k) keep=$2; shift ;;
    -s) seed=$2; shift ;;
    -*) usage ;;
    *) what+=("$1") ;;
    esac
    shift
done
[[ "$runs" =~ ^[1-9][0-9]*$ && "$seed" =~ ^[0-9]+$ ]] && ((runs >= 6)) || usage
((${#what[@]})) || what=(process.calls memory.latency file.block_size)
RANDOM=$seed

work=$(mktemp -d -p "$directory" oscope-changing-XXXXXX)
children=()
stop_children() {
    ((${#children[@]} == 0)) || kill "${children[@]}" 2>/dev/null || true
    wait
    children=()
}
finish() {
    stop_children
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
series=${keep:-$work/series}
mkdir -p "$series"
[ -z "$(ls "$series")" ] || { echo "changing.sh: '$series' is not empty" >&2; exit 2; }
store=$work/store.db
gcc -O2 -o "$work/neighbour" "$here/neighbour.c"
first=$(python3 -c 'import os; print(min(os.sched_getaffinity(0)))')

# Measures under the load $1 with the options that follow.
measure() {
    local load=$1 code=0
    shift
    case "$load" in
    idle) ;;
    bursts) "$work/neighbour" "$first" "$RANDOM" & children+=($!) ;;
    busy) "$work/neighbour" "$first" "$RANDOM" busy & children+=($!) ;;
    esac
    # In the background, so that a signal ends this script, and with it the run, at once.
    "$oscope" run "$@" --profile quick --budget "$budget" --store "$store" --dir "$work" --no-page --quiet >/dev/null &
    local run=$!
    children+=("$run")
    wait "$run" || code=$?
    # 1: something could not be measured here, which the run says.
    ((code <= 1)) || { echo "changing.sh: a run ended with code $code" >&2; exit 1; }
    stop_children
}

echo "$runs runs of ${what[*]}, $budget each, seed $seed"
loads=(idle bursts busy)
order=()
for ((run = 0; run < runs; run++)); do order+=("${loads[run % 3]}"); done
for ((run = runs - 1; run > 0; run--)); do
    other=$((RANDOM % (run + 1)))
    moved=${order[run]} order[run]=${order[other]} order[other]=$moved
done
for ((run = 1; run <= runs; run++)); do
    load=${order[run - 1]}
    measure "$load" "${what[@]}"
    "$oscope" show latest --store "$store" --json >"$(printf '%s/run-%04d-%s.json' "$series" "$run" "$load")"
    echo "run $run of $runs: $load" >&2
done
python3 "$here/coverage.py" "$series"
python3 "$here/splits.py" "$oscope" "$store" "$seed"

if ! "$oscope" run --extra-work 0 --help >/dev/null 2>&1; then
    echo 'known changes: left out, since this oscope was built without the feature extra-work'
    exit
fi
echo
next=$((runs + 1))
for percent in 5 20 500; do
    # Calls, since a pass over a large block is done too few times for 5 % more to be a whole one.
    for _ in 1 2 3; do measure "${loads[RANDOM % 3]}" process.calls "--extra-work=$percent"; done
    "$oscope" compare 1,2,3 "$next,$((next + 1)),$((next + 2))" --store "$store" --json |
        python3 -c '
import collections, json, sys
values = json.load(sys.stdin)["comparisons"][0]["values"]
found = collections.Counter(v["verdict"] for v in values if (v["experiment"], v["metric"]) == ("process.calls", "rate"))
print(f"{sys.argv[1]} % more work than is counted: " + ", ".join(f"{n} {v}" for v, n in found.most_common()))' "$percent"
    next=$((next + 3))
done
