#!/usr/bin/env bash
# Growth: time and memory of run, show, compare, history, report, export and import by the number of runs in a
# store, from 10 to RUNS (10000), and of points in a run, from 1 to POINTS (2000), with the exponent of the last
# step and its bound. Ends with 1 where one is exceeded.
#
# usage: bench/scale/run.sh [TEMPLATE]
#
# The runs are copies of TEMPLATE, an exported run of everything, which is measured if none is named (four minutes).
# OSCOPE names the program, which is built if it is not set; DIR where stores are made (/var/tmp): about 2 GB.
# Needs python3 and GNU time.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
export OSCOPE
[ -x /usr/bin/time ] || { echo "GNU time is missing: install Debian's time" >&2 && exit 1; }
work=$(mktemp -d -p "${DIR:-/var/tmp}")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
if [ $# -gt 0 ]; then
    cp "$1" "$work/template.oscope.json"
else
    "$OSCOPE" run --no-page --quiet --dir "$work" --store "$work/one.db" > /dev/null || [ $? -eq 1 ]
    "$OSCOPE" export latest --store "$work/one.db" --output "$work/template.oscope.json"
fi
python3 "$here/scale.py" "$work"
