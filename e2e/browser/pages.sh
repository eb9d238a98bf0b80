#!/usr/bin/env bash
# Makes a page and a picture of each kind that oscope writes:  e2e/browser/pages.sh PROGRAM STORE OUT_DIR
# The first run in STORE is one of everything; three short ones are measured for the pages of several runs.
set -euo pipefail
[ $# -eq 3 ] || { echo "usage: $0 PROGRAM STORE OUT_DIR" >&2; exit 2; }
program=$(realpath "$1") store=$(realpath "$2") out=$(realpath "$3")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$program" report 1 --store "$store" --output "$out/run.html"
"$program" card 1 --store "$store" --output "$out/card.svg"
"$program" plot memory.latency.load --run 1 --store "$store" --output "$out/plot.svg"
"$program" reproduce --all --store "$store" --output "$out/reproduction.html"

for node in 1 2 3; do
    "$program" run process.calls process.ipc memory file.block_size --budget 20s --seed "$node" --tag "host=node$node.rack-with-a-long-name" --no-page --quiet \
        --store nodes.db >/dev/null || [ $? -eq 1 ]
    "$program" export "$node" --store nodes.db --output "node$node.oscope.json" --quiet
done
"$program" compare node1.oscope.json node2.oscope.json node3.oscope.json --page "$out/comparison.html" >/dev/null
"$program" fleet judge node?.oscope.json --page "$out/fleet.html" >/dev/null || [ $? -eq 1 ]

mkdir pairs
for from in 1 2 3 4 5 6; do
    for to in 1 2 3 4 5 6; do
        [ "$from" != "$to" ] || continue
        for round in 1 2 3; do
            printf '# OSU MPI Latency Test v7\n1 1.%d\n# OSU MPI Bandwidth Test v7\n1048576 120%d.0\n' \
                "$round" "$round" >"pairs/compute-node-$from,compute-node-$to,$round.osu"
        done
    done
done
"$program" fleet fabric pairs --page "$out/fabric.html" >/dev/null || [ $? -eq 1 ]

for student in Ada Grace; do
    "$program" lab start caches --questions | sed -e "s/^student = *$/student = $student/" -e 's/^near = *$/near = 5 ns/' \
        -e 's/^far = *$/far = 90 ns/' -e 's/^\([a-z_]*\) = *$/\1 = 2/' -e 's/^\(.*why\) = *$/\1 = caches/' >answers
    "$program" lab start caches --answers answers --of node1.oscope.json --output . --quiet
done
cp lab-caches-ada.html "$out/lab.html"
"$program" lab collect lab-caches-*.json --output "$out/class.html"
"$program" report reference:razer-blade-2020 --output "$out/report.html"
ls "$out"
