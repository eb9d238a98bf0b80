#!/usr/bin/env bash
# A simulated fleet: NODES (1000) exported runs are made from real ones, one in a hundred of them bad in one of six
# ways, and `oscope fleet judge` judges them. Prints for each way how many were found, how many healthy nodes were
# named, the time, the largest memory and the size of the page. Ends with 1 where a bound is exceeded: found at
# least 99 %, at most 0.1 % false, 60 s, 2 GiB, 3 MB.
#
# usage: bench/fleet/run.sh OSCOPE RUN.oscope.json...
#
# The runs are of one machine: what differs between them is how nodes differ, and what differs between the processes
# of each is the noise within a run. Of a busy machine, runs differ more than nodes do: SPREAD (in per cent) is then how
# nodes differ in each experiment, and again in each value. Two runs are the least; `oscope run` and `oscope export`
# make them. DIR is where the files are written (/var/tmp): about 1 MB a node. FLEETS (1) fleets with other seeds are
# judged one after the other.
# Needs python3.
set -euo pipefail

[ $# -ge 3 ] || { sed -n '2,14s/^# \{0,1\}//p' "$0" >&2 && exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d -p "${DIR:-/var/tmp}")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
python3 "$here/fleet.py" "$work" "${NODES:-1000}" "${FLEETS:-1}" "${SPREAD:-}" "$@"
