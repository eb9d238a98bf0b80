#!/usr/bin/env bash
# How fast a store of many runs answers:
#   bench/store/run.sh [RUNS] [OSCOPE]
# A real run of process.calls is measured once and stored RUNS times (default 10 000) with other ids, other
# times of day and values that differ by a few per mille; then list, compare and history are timed, five
# times each. Takes a few minutes and some GB in the directory for temporary files.
set -euo pipefail
cd "$(dirname "$0")/../.."
runs=${1:-10000}
if (($# > 1)); then oscope=$2; else
    cargo build --release --locked -p oscope
    oscope=${CARGO_TARGET_DIR:-target}/release/oscope
fi
oscope=$(realpath "$oscope")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$oscope" run process.calls --budget 5s --no-page --quiet --dir "$work" --store "$work/one.db" >/dev/null || [ $? -eq 1 ]
"$oscope" export latest --store "$work/one.db" --output "$work/template.json"

for ((from = 0; from < runs; from += 250)); do
    mkdir "$work/part"
    python3 bench/scale/runs.py "$work/template.json" "$work/part" "$from" "$((from + 250 < runs ? from + 250 : runs))"
    "$oscope" import --quiet --store "$work/oscope.db" "$work"/part/*.json
    rm -r "$work/part"
    printf '\r%s runs stored' "$((from + 250))" >&2
done
echo >&2
echo "$runs runs, $(du -h "$work/oscope.db" | cut -f1)"

timed() {
    local name=$1
    shift
    python3 - "$name" "$oscope" "$@" --store "$work/oscope.db" <<'PYTHON'
import statistics, subprocess, sys, time
name, command = sys.argv[1], sys.argv[2:]
times = []
for _ in range(5):
    started = time.monotonic()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    times.append(time.monotonic() - started)
print(f"{name:<40} median {statistics.median(times):.3f} s, worst {max(times):.3f} s")
PYTHON
}
timed 'history (the list)' history
middle=$((runs / 2))
timed 'compare, three sessions a side' compare 1,2,3 "$((middle + 1)),$((middle + 2)),$((middle + 3))"
timed 'history of a metric, the newest 1000' history process.calls.rate --at call=getpid
timed 'history of a metric, all runs' history process.calls.rate --at call=getpid --last "$runs"
