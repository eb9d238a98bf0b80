#!/usr/bin/env bash
# `oscope fleet fabric` with the OSU benchmarks under Open MPI: four network namespaces stand for nodes, and
# docs/guide/fleet/osu.sh measures between them. Nothing is named in a healthy network; a token bucket on one node's port
# is reported as a slow port.
#
#     e2e/fleet/fabric.sh PROGRAM OSU
#
# OSU is the folder with osu_latency and osu_bw, built with Debian's libopenmpi-dev: `./configure CC=mpicc CXX=mpicxx
# && make -C mpi/pt2pt` in their source. Needs what network.sh needs, and ten minutes of an otherwise idle machine.
set -euo pipefail
[ $# -eq 2 ] || { echo "usage: $0 PROGRAM OSU" >&2; exit 2; }
program=$(realpath "$1")
osu=$(realpath "$2")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=e2e/fleet/namespaces.sh
. "$here/namespaces.sh"
needs mpirun tc
[ -x "$osu/osu_bw" ] || skip "there is no $osu/osu_bw"
make_nodes

# Open MPI starts its daemons with it, as with ssh: ADDRESS COMMAND...
cat >"$work/agent" <<'AGENT'
#!/usr/bin/env bash
node=${1##*.}
shift
exec nsenter --net="/run/netns/oscope-node$node" unshare --uts bash -c "hostname node$node; $*"
AGENT
chmod +x "$work/agent"
export TMPDIR=$work OSCOPE=$work/judge OSU=$osu RUNS=2
# Messages must go over the network, though all nodes have one memory.
MPIRUN="timeout 300 mpirun --allow-run-as-root --mca plm_rsh_agent $work/agent --mca btl tcp,self
    --mca oob_tcp_if_include $network.0/24 --mca btl_tcp_if_include $network.0/24 --map-by ppr:1:node --bind-to none"
export MPIRUN
cat >"$work/judge" <<JUDGE
#!/bin/sh
exec "$program" "\$@" --json --page "$work/fabric.html" --force
JUDGE
chmod +x "$work/judge"

# measure FOLDER: measures all pairs; the JSON goes to $work/judged.json, the words to $work/words.
measure() {
    local code=0
    # shellcheck disable=SC2086
    "$here/../../docs/guide/fleet/osu.sh" "$work/$1" $(printf "$network.%s " $nodes) \
        >"$work/judged.json" 2>"$work/words" || code=$?
    echo "osu.sh ended with $code, after $SECONDS s of this script"
}

# named_are WHAT: fails unless the slower ports are these.
named_are() {
    python3 - "$work/judged.json" "$1" <<'CHECK' || fail "not reported: $1"
import json, sys

judged = json.load(open(sys.argv[1]))
assert judged["origin"] == "osu"
for matrix in judged["matrices"]:
    print(matrix["title"], "%.3g" % matrix["typical"])
named = sorted({it["name"] for it in judged["ports"] if it["verdict"] == "slower"})
print("named:", named, judged["remarks"])
sys.exit(", ".join(named) != sys.argv[2])
CHECK
}

echo 'a healthy network'
measure healthy
named_are ''

echo 'a port of 8 Gbit/s'
tc -n oscope-node2 qdisc add dev eth0 root tbf rate 8gbit burst 8mb latency 50ms
tc qdisc add dev oscope-link2 root tbf rate 8gbit burst 8mb latency 50ms
measure slow
named_are "$network.2"
grep -q '>MPI latency, 1 B</h' "$work/fabric.html" || fail 'the page has no matrix'
[ -z "${KEEP:-}" ] || cp -r "$work/slow" "$work/fabric.html" "$KEEP"
echo 'ok'
