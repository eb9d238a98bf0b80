#!/usr/bin/env bash
# Reads what `oscope export` and `oscope ab` write with the programs that it is written for:
#   e2e/exports/run.sh OSCOPE STORE
# promtool, and a Prometheus with a node exporter that answers the Grafana dashboard (Debian's prometheus and
# prometheus-node-exporter), Google Benchmark's compare.py (Debian's libbenchmark-tools), pyarrow (from PyPI,
# into a virtual environment that is thrown away), and Python in the ways of hyperfine's scripts. What is not installed is skipped, with its reason; what is
# there and refuses a file fails.
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
def timings(reading):
    legs = reading.get("legs")
    return len(legs["wall_ns"]) + len(legs.get("short_wall_ns", [])) if legs else 1
timed = sum(timings(sample["reading"]) for experiment in run["experiments"]
            for point in experiment["points"] for batch in point["batches"] for sample in batch["samples"])
assert len(rows) == timed > 0, (len(rows), timed)
print(f"csv: {timed} timings, as in the JSON")
PYTHON

if export_as parquet parquet 2>"$work/refused"; then
    if python3 -m venv "$work/venv" && "$work/venv/bin/pip" install -q --disable-pip-version-check pyarrow; then
        "$work/venv/bin/python" - "$work/run.csv" "$work/run.parquet" <<'PYTHON'
import csv, json, math, sys
import pyarrow, pyarrow.parquet
rows = list(csv.DictReader(open(sys.argv[1], newline="")))
file = pyarrow.parquet.ParquetFile(sys.argv[2])
table = file.read()
assert table.num_rows == len(rows) > 0, (table.num_rows, len(rows))
assert table.column_names == list(rows[0]), table.column_names
kinds = {pyarrow.string(): str, pyarrow.uint64(): int, pyarrow.float64(): float}
counted = {kind: 0 for kind in kinds}
for field in table.schema:
    kind = kinds[field.type]
    counted[field.type] += 1
    ours = [kind(row[field.name]) if row[field.name] else None for row in rows]
    theirs = table[field.name].to_pylist()
    assert theirs == ours, field.name
    if kind is not str:
        total = math.fsum(value for value in theirs if value is not None)
        assert total == math.fsum(value for value in ours if value is not None), field.name
for name, type in [("wall_ns", pyarrow.uint64()), ("value", pyarrow.float64()), ("metric", pyarrow.string())]:
    assert table.schema.field(name).type == type, table.schema.field(name)
units = json.loads(file.schema_arrow.metadata[b"oscope.units"])
assert units["wall_ns"] == "nanoseconds", units
print("parquet: pyarrow", pyarrow.__version__, "reads", table.num_rows, "rows of",
      ", ".join(f"{number} {type}" for type, number in counted.items()), "columns, as in the CSV")
PYTHON
    else
        echo 'parquet: not checked, since pyarrow cannot be installed'
    fi
elif grep -q -- '--features parquet' "$work/refused"; then
    echo 'parquet: not checked, since this oscope was built without the feature'
else
    cat "$work/refused" >&2
    exit 1
fi

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

if command -v prometheus >/dev/null && command -v prometheus-node-exporter >/dev/null; then
    python3 "$(dirname "$0")/dashboard.py" "$work/run.prom" "$(dirname "$0")/../../packaging/grafana/oscope.json"
else
    echo 'dashboard: not checked (apt-get install prometheus prometheus-node-exporter)'
fi

python3 "$(dirname "$0")/hyperfine.py" "$oscope"

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
