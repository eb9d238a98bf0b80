#!/usr/bin/env bash
# `oscope fleet run` under Open MPI: four network namespaces with host names of their own stand for nodes. One node
# is slowed down and must be named with its component; then one process is killed, and the others are judged.
#
#     tests/fleet/openmpi.sh PROGRAM
#
# Needs root, iproute2, util-linux, python3 and Debian's openmpi-bin; without them it says so and succeeds. Nodes
# measure in turn, since they share the processors. It ends all that it starts.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)

skip() {
    echo "skipped: $1"
    exit 0
}
[ "$(id -u)" = 0 ] || skip 'namespaces need root'
for tool in mpirun ip nsenter unshare python3; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done

readonly network=198.18.77 bridge=oscope-fleet
readonly nodes='1 2 3 4'
work=$(mktemp -d)
finish() {
    for node in $nodes; do
        ip netns pids "oscope-node$node" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
        ip netns delete "oscope-node$node" 2>/dev/null || true
    done
    ip link delete "$bridge" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

ip link add "$bridge" type bridge 2>/dev/null || skip 'this kernel makes no bridge here'
ip address add "$network.254/24" dev "$bridge"
ip link set "$bridge" up
for node in $nodes; do
    ip netns add "oscope-node$node" 2>/dev/null || skip 'this system makes no network namespaces here'
    ip link add "oscope-link$node" type veth peer name eth0 netns "oscope-node$node"
    ip link set "oscope-link$node" master "$bridge" up
    ip -n "oscope-node$node" address add "$network.$node/24" dev eth0
    ip -n "oscope-node$node" link set eth0 up
    ip -n "oscope-node$node" link set lo up
done

# Open MPI starts its daemons with it, as with ssh: ADDRESS COMMAND...
# `ip netns exec` would hide the control groups.
cat >"$work/agent" <<'AGENT'
#!/usr/bin/env bash
node=${1##*.}
shift
slowed=()
[ "$node" != "${SLOW_NODE:-}" ] || slowed=(python3 "$SLOWER")
exec nsenter --net="/run/netns/oscope-node$node" unshare --uts \
    "${slowed[@]}" bash -c "hostname node$node; $*"
AGENT
chmod +x "$work/agent"
export SLOWER=$here/slow_node.py TMPDIR=$work

# fleet [OPTION]...: measures and judges; the JSON goes to $work/judged.json, the words to $work/words.
fleet() {
    local hosts code=0
    hosts=$(printf "$network.%s," $nodes)
    timeout 200 mpirun --allow-run-as-root --mca plm_rsh_agent "$work/agent" \
        --mca oob_tcp_if_include "$network.0/24" --mca btl_tcp_if_include "$network.0/24" \
        --host "${hosts%,}" --map-by ppr:1:node --bind-to none --enable-recovery \
        "$program" fleet run process.calls --budget 10s --wait 20s --dir "$work" --output "$work/$1" --json "${@:2}" \
        >"$work/judged.json" 2>"$work/words" || code=$?
    echo "mpirun ended with $code"
}
fail() {
    echo "$1"
    cat "$work/words" "$work/judged.json"
    exit 1
}

echo 'four nodes, of which one has slow system calls'
export SLOW_NODE=3
is_told() {
    python3 - "$work/judged.json" <<'CHECK'
import json, sys

nodes = {node["node"]: (node["verdict"], node["because"]) for node in json.load(open(sys.argv[1]))["nodes"]}
print(nodes)
# What threads and processes do with each other are system calls as well.
verdict, because = nodes.pop("node3")
is_named = verdict == "slower" and "system calls" in because and set(because) <= {"system calls", "threads", "processes"}
others = {name: verdict for name, (verdict, _) in nodes.items()}
sys.exit(not is_named or "slower" in others.values() or sorted(others) != ["node1", "node2", "node4"])
CHECK
}
fleet slow --in-turn
if ! is_told; then
    # Other work on the host may have slowed one node while it measured: once more.
    rm -rf "$work/slow"
    fleet slow --in-turn
    is_told || fail 'the slow node was not told from the others'
fi
[ "$(find "$work/slow" -name '*.oscope.json' | wc -l)" = 4 ] || fail 'not all runs are in files'
find "$work" -name 'oscope-scratch-*' | grep . && fail 'scratch files are left'

echo 'a process that is killed'
unset SLOW_NODE
(
    # Once it measures.
    for _ in $(seq 100); do
        sleep 0.2
        victim=$(ip netns pids oscope-node2 | xargs -r ps -o pid=,args= -p | awk '/fleet run/ && !/mpirun|orted/ {print $1}')
        [ -z "$victim" ] || { sleep 3; kill -KILL $victim; break; }
    done
) &
killer=$!
fleet killed
wait "$killer" || true
grep -q 'rank 1 on .*has not answered in time' "$work/words" || fail 'the killed process was not named'
python3 - "$work/judged.json" <<'CHECK' || fail 'the others were not judged'
import json, sys

names = sorted(node["node"] for node in json.load(open(sys.argv[1]))["nodes"])
assert names == ["node1", "node3", "node4"], names
CHECK
echo 'the fleet under Open MPI: all is well'
