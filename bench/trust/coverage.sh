#!/usr/bin/env bash
# Do printed intervals contain the value of the next run?
#   bench/trust/coverage.sh OSCOPE [-n RUNS] [-p SECONDS] [-b BUDGET] [-d DIR] [-k FOLDER] [--neighbours]
#       [WHAT...]
# Measures WHAT (all by default) RUNS times (12) with the program OSCOPE, in the quick profile or within
# BUDGET, with a pause of SECONDS (120; 0 is back to back) between runs, and prints the tables of coverage.py.
# Scratch files go into a new directory in DIR (/tmp): what it lies on is what file experiments measure.
# With --neighbours, two loads of bursts run next to it: one on the processor that workers are pinned to, the
# last one, and one on the first. With -k, what each run said stays in FOLDER as JSON, and a further call adds
# runs to it. Leave the machine alone meanwhile.
set -euo pipefail
here=$(dirname "$(realpath "$0")")
usage() { sed -n '2,/^set/{s/^# //p}' "$0" >&2; exit 2; }
runs=12 pause=120 budget=() directory=/tmp keep='' neighbours=0 what=()
[ $# -gt 0 ] && [[ "$1" != -* ]] || usage
oscope=$(realpath "$1")
[ -x "$oscope" ] || { echo "coverage.sh: '$1' is no program" >&2; exit 2; }
shift
while [ $# -gt 0 ]; do
    case "$1" in
    -n | -p | -b | -d | -k) [ $# -gt 1 ] || usage ;;&
    -n) runs=$2; shift ;;
    -p) pause=$2; shift ;;
    -b) budget=(--budget "$2"); shift ;;
    -d) directory=$2; shift ;;
    -k) keep=$2; shift ;;
    --neighbours) neighbours=1 ;;
    -*) usage ;;
    *) what+=("$1") ;;
    esac
    shift
done
[[ "$runs" =~ ^[1-9][0-9]*$ && "$pause" =~ ^[0-9]+$ ]] || usage

work=$(mktemp -d -p "$directory" oscope-coverage-XXXXXX)
started=()
finish() {
    ((${#started[@]})) && kill "${started[@]}" 2>/dev/null
    wait
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
series=${keep:-$work/series}
mkdir -p "$series"
there=$(find "$series" -name 'run-*.json' | wc -l)

if ((neighbours)); then
    gcc -O2 -o "$work/neighbour" "$here/neighbour.c"
    seed=$there
    for cpu in $(python3 -c 'import os; cpus = sorted(os.sched_getaffinity(0)); print(cpus[-1], cpus[0])'); do
        "$work/neighbour" "$cpu" "$((++seed))" &
        started+=($!)
    done
fi

# In the background, so that a signal ends this script, and with it the run, at once.
attended() {
    "$@" &
    local child=$! code=0
    started+=("$child")
    wait "$child" || code=$?
    unset 'started[-1]'
    return "$code"
}

for ((run = there + 1; run <= there + runs; run++)); do
    if ((run > there + 1 && pause > 0)); then attended sleep "$pause"; fi
    for neighbour in "${started[@]}"; do
        kill -0 "$neighbour" 2>/dev/null || { echo 'coverage.sh: a neighbour has ended' >&2; exit 1; }
    done
    code=0
    attended "$oscope" run "${what[@]}" "${budget[@]}" --profile quick --store "$work/store.db" --dir "$work" \
        --no-page --quiet >/dev/null || code=$?
    # 1: something could not be measured here, which the run says.
    ((code <= 1)) || { echo "coverage.sh: run $run ended with code $code" >&2; exit 1; }
    file=$(printf '%s/run-%04d.json' "$series" "$run")
    "$oscope" show latest --store "$work/store.db" --json >"$work/shown"
    mv "$work/shown" "$file"
    echo "run $run of $((there + runs))" >&2
done
python3 "$here/coverage.py" "$series"
if ((runs >= 6)); then python3 "$here/splits.py" "$oscope" "$work/store.db"; fi
