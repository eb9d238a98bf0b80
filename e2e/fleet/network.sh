#!/usr/bin/env bash
# `oscope fleet network` under Open MPI: four network namespaces stand for nodes. The links of a healthy network are
# measured; a token bucket on both directions of one node's port is reported as a slow port, one on the way between two nodes
# as a slow link; and where one process is killed, the links of the others are measured.
#
#     e2e/fleet/network.sh PROGRAM
#
# Needs root, iproute2, util-linux, python3, a C compiler and Debian's openmpi-bin; without them it says so and
# succeeds. Links are measured in turn, since the nodes share the processors. It ends all that it starts.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=e2e/fleet/namespaces.sh
. "$here/namespaces.sh"
needs mpirun tc
make_nodes

# Open MPI starts its daemons with it, as with ssh: ADDRESS COMMAND...
cat >"$work/agent" <<'AGENT'
#!/usr/bin/env bash
node=${1##*.}
shift
exec nsenter --net="/run/netns/oscope-node$node" unshare --uts bash -c "hostname node$node; $*"
AGENT
chmod +x "$work/agent"
export TMPDIR=$work

# measure WHAT...: measures the network; the JSON goes to $work/judged.json, the words to $work/words.
measure() {
    local hosts code=0
    hosts=$(printf "$network.%s," $nodes)
    timeout 200 mpirun --allow-run-as-root --mca plm_rsh_agent "$work/agent" \
        --mca oob_tcp_if_include "$network.0/24" --mca btl_tcp_if_include "$network.0/24" \
        --host "${hosts%,}" --map-by ppr:1:node --bind-to none --enable-recovery \
        "$program" fleet network --wait 12s --json "$@" >"$work/judged.json" 2>"$work/words" || code=$?
    echo "mpirun ended with $code, after $SECONDS s of this script"
}

# named_are WHAT: succeeds if the slower ports and links are these.
named_are() {
    python3 - "$work/judged.json" "$1" <<'CHECK'
import json, sys

judged = json.load(open(sys.argv[1]))
slower = lambda kind: sorted({it["name"] for it in judged[kind] if it["verdict"] == "slower"})
pairs = {frozenset(name.replace(" to ", " and ").split(" and ")) for name in slower("links")}
named = slower("ports") + sorted(" and ".join(sorted(pair)) for pair in pairs)
for matrix in judged["matrices"]:
    print(matrix["title"], "%.3g" % matrix["typical"])
print("named:", named, judged["remarks"])
sys.exit(", ".join(named) != sys.argv[2])
CHECK
}
# measured_are WHAT: measures until the slower ports and links are these, at most four times, since other work on the host
# slows single links.
measured_are() {
    for _ in 1 2 3 4; do
        measure --in-turn --budget 12s --force --page "$work/network.html"
        ! named_are "$1" || return 0
    done
    fail "reported is not: $1"
}

echo 'a healthy network'
measured_are ''
grep -q '>TCP round trip, 1 B</h' "$work/network.html" || fail 'the page has no matrix'

echo 'a port of 200 Mbit/s'
tc -n oscope-node2 qdisc add dev eth0 root tbf rate 200mbit burst 64kb latency 50ms
tc qdisc add dev oscope-link2 root tbf rate 200mbit burst 64kb latency 50ms
measured_are 'node2'
tc -n oscope-node2 qdisc delete dev eth0 root
tc qdisc delete dev oscope-link2 root

echo 'a link of 200 Mbit/s'
# Both nodes reach each other by an interface of its own.
ip link add direct netns oscope-node1 type veth peer name direct netns oscope-node3
for end in 1:3 3:1; do
    node=oscope-node${end%:*}
    ip -n "$node" link set direct up
    ip -n "$node" route add "$network.${end#*:}/32" dev direct src "$network.${end%:*}"
    tc -n "$node" qdisc add dev direct root tbf rate 200mbit burst 64kb latency 50ms
done
measured_are 'node1 and node3'
ip -n oscope-node1 link delete direct

echo 'a process that is killed'
kill_once_it_measures 4 &
measure --in-turn --budget 12s
wait
python3 - "$work/judged.json" <<'CHECK' || fail 'the links of the others are not measured'
import json, sys

judged = json.load(open(sys.argv[1]))
alive = [node for node, name in enumerate(judged["nodes"]) if name != "node4"]
cells = judged["matrices"][0]["cells"]
missing = [(a, b) for a in alive for b in alive if a != b and cells[a][b] is None]
assert len(alive) == 3 and not missing, (alive, missing)
assert any("node4" in remark for remark in judged["remarks"]), judged["remarks"]
CHECK
echo 'ok'
