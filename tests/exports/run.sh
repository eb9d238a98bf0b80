#!/usr/bin/env bash
# Reads what `oscope export` writes with the programs that it is written for:
#   tests/exports/run.sh OSCOPE STORE
# promtool (Debian's prometheus), Google Benchmark's compare.py (Debian's libbenchmark-tools). What
# is not installed is skipped, with its reason; what is there and refuses a file fails.
set -euo pipefail
if (($# != 2)); then
    echo "usage: $0 OSCOPE STORE" >&2
    exit 2
fi
oscope=$1 store=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export_as() { "$oscope" --store "$store" export latest --format "$1" --output "$work/run.$2"; }

export_as json oscope.json
export_as csv csv
python3 - "$work/run.oscope.json" "$work/run.csv" <<'PYTHON'
import csv, json, sys
run = json.load(open(sys.argv[1]))["run"]
rows = list(csv.DictReader(open(sys.argv[2], newline="")))
samples = sum(len(batch["samples"]) for experiment in run["experiments"]
              for point in experiment["points"] for batch in point["batches"])
assert len(rows) == samples > 0, (len(rows), samples)
print(f"csv: {samples} samples, as in the JSON")
PYTHON

export_as markdown md
grep -q '^| --- |' "$work/run.md"
echo 'markdown: has its tables'

export_as openmetrics prom
[ "$(tail -n 1 "$work/run.prom")" = '# EOF' ]
if command -v promtool >/dev/null; then
    promtool check metrics <"$work/run.prom"
    echo 'openmetrics: promtool has nothing to say against it'
else
    echo 'openmetrics: not checked, since promtool is missing (apt-get install prometheus)'
fi

export_as google-benchmark gb.json
compare=$(command -v compare.py || find /usr/share /usr/lib -path '*benchmark*' -name compare.py -print -quit 2>/dev/null || true)
python=
for candidate in python3 /usr/bin/python3; do
    if "$candidate" -c 'import scipy' 2>/dev/null; then python=$candidate; fi
done
if [ -n "$compare" ] && [ -n "$python" ]; then
    "$python" "$compare" benchmarks "$work/run.gb.json" "$work/run.gb.json" >"$work/compared"
    grep -q 'oscope\|process\|memory' "$work/compared"
    echo 'google-benchmark: compare.py reads it'
else
    echo 'google-benchmark: not checked, since compare.py or scipy is missing (apt-get install libbenchmark-tools python3-scipy)'
fi
