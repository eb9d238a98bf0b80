#!/usr/bin/env bash
# `oscope fleet run` under Open MPI: network namespaces with host names of their own stand for nodes. One of eight nodes
# is slowed down and must be named with its component after a second measurement. It is slow in the first measurement
# only, and must not be named. Nodes that measure at the same time begin each pass together. Then one process is killed,
# another has a full disk, and the others are judged.
#
#     e2e/fleet/openmpi.sh PROGRAM
#
# Needs root, iproute2, util-linux, python3, a C compiler and Debian's openmpi-bin; without them it says so and
# succeeds. Nodes measure in turn where they are judged, since they share the processors. It ends all that it starts.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
# With the spread of seven healthy nodes the slow one is found on a busy host too; with that of three it often is not.
nodes='1 2 3 4 5 6 7 8'
# shellcheck source=e2e/fleet/namespaces.sh
. "$here/namespaces.sh"
needs mpirun
make_nodes

# Open MPI starts its daemons with it, as with ssh: ADDRESS COMMAND...
# `ip netns exec` would hide the control groups.
cat >"$work/agent" <<'AGENT'
#!/usr/bin/env bash
node=${1##*.}
shift
[ "$node" != "${SLOW_NODE:-}" ] || export LD_PRELOAD=$SLOWER
small=:
[ "$node" != "${FULL_NODE:-}" ] || small="mount -t tmpfs -o size=64k tmpfs '$SCRATCH'"
exec nsenter --net="/run/netns/oscope-node$node" unshare --uts --mount bash -c "hostname node$node; $small; $*"
AGENT
chmod +x "$work/agent"
mkdir "$work/scratch"
cc -O2 -DCOMPARISONS=4000 -DFILTERS=8 -shared -fPIC -o "$work/slow_node.so" "$here/slow_node.c"
export SLOWER=$work/slow_node.so SLOW_WHILE=$work/is-slow SCRATCH=$work/scratch TMPDIR=$work

readonly calls='process.calls --at optimisation=3'
# fleet OUTPUT WHAT...: measures $measured and judges; the JSON goes to $work/judged.json, the words to $work/words.
measured=$nodes budget=4s
fleet() {
    local hosts code=0
    hosts=$(printf "$network.%s," $measured)
    rm -rf "${work:?}/$1"
    timeout 200 mpirun --allow-run-as-root --mca plm_rsh_agent "$work/agent" \
        --mca oob_tcp_if_include "$network.0/24" --mca btl_tcp_if_include "$network.0/24" \
        --host "${hosts%,}" --map-by ppr:1:node --bind-to none --enable-recovery \
        "$program" fleet run --budget "$budget" --wait 12s --dir "$SCRATCH" --output "$work/$1" --json "${@:2}" \
        >"$work/judged.json" 2>"$work/words" || code=$?
    echo "mpirun ended with $code, after $SECONDS s of this script"
}
# Other work on the host slows some nodes while they measure, so that any of them may be the odd one. The intervals of the
# healthy nodes show it: a ratio of 1.5 is within some of them.
is_noisy() {
    python3 - "$work/judged.json" <<'CHECK'
import json, sys

nodes = [node for node in json.load(open(sys.argv[1]))["nodes"] if node["node"] != "node3"]
intervals = [part["interval"] for node in nodes for part in node["components"].values()]
sys.exit(all(it["high"] < 1.5 * it["low"] for it in intervals if it))
CHECK
}
# attempts FAILURE HOLDS MEASURE: measures until HOLDS succeeds, at most four times. Fails after that, but skips the
# check with code 1 where the last measurement was noisy.
attempts() {
    for _ in 1 2 3 4; do
        "$3"
        ! "$2" || return 0
    done
    is_noisy || fail "$1"
    echo "skipped: $1, where healthy nodes differ as much by other work on the host"
    return 1
}

echo 'eight nodes, of which one has slow system calls'
export SLOW_NODE=3
touch "$SLOW_WHILE"
is_found() {
    python3 - "$work/judged.json" <<'CHECK'
import json, sys

judged = json.load(open(sys.argv[1]))
nodes = {node["node"]: (node["verdict"], node["because"]) for node in judged["nodes"]}
alarms = [(it["node"], it["component"], it["outcome"]) for it in (judged["second"] or {"alarms": []})["alarms"]]
print(nodes, alarms)
# What threads and processes do with each other are system calls as well.
verdict, because = nodes.pop("node3")
is_named = verdict == "slower" and "system calls" in because and set(because) <= {"system calls", "threads", "processes"}
is_confirmed = ("node3", "system calls", "confirmed") in alarms
others = [verdict for verdict, _ in nodes.values()]
sys.exit(not (is_named and is_confirmed) or "slower" in others or len(others) != 7)
CHECK
}
measure_slow() { fleet slow $calls --in-turn --page "$work/slow.html" --force; }
if attempts 'the slow node was not distinguished from the others' is_found measure_slow; then
    grep -q 'node3 looks slower by its .*: measuring node3, node[1245678] and node[1245678] again' "$work/words" ||
        fail 'the second measurement was not announced'
    grep -q 'Measured again' "$work/slow.html" || fail 'the page does not show the second measurement'
    [ "$(files_in slow)" -ge 11 ] || fail 'not all runs are in files'
fi
find "$work" -name 'oscope-scratch-*' | grep . && fail 'scratch files are left'

echo 'passes that begin together'
# The nodes have one clock here: no process of a pass may start on a node before the last one of the pass before it has
# started on all.
start_together() {
    python3 - "$@" <<'CHECK'
import json, sys

first, last = {}, {}
for file in sys.argv[1:]:
    for experiment in json.load(open(file))["run"]["experiments"]:
        for point in experiment["points"]:
            for batch in point["batches"]:
                number, start = batch["pass"], batch["started_ns"]
                first[number] = min(start, first.get(number, start))
                last[number] = max(start, last.get(number, start))
early = [number for number in sorted(first)[1:] if first[number] <= last[number - 1]]
print(f"{len(first)} passes of {len(sys.argv) - 1} nodes, {len(early)} of them began before the one before had ended")
sys.exit(bool(early) or len(first) < 3 or len(sys.argv) != 5)
CHECK
}
# Nodes do not wait for one that is late by a tenth of its budget, and other work on the host may make it late.
together() {
    budget=30s fleet together $calls --once
    # shellcheck disable=SC2046
    start_together $(find "$work/together" -name '*.oscope.json')
}
rm -f "$SLOW_WHILE"
measured='1 2 3 4'
together || together || fail 'the passes of the nodes did not begin together'

echo 'an alarm that does not come again'
is_seen_once() {
    python3 - "$work/judged.json" <<'CHECK'
import json, sys

judged = json.load(open(sys.argv[1]))
alarms = [(it["node"], it["component"], it["outcome"]) for it in (judged["second"] or {"alarms": []})["alarms"]]
print(judged["counts"], alarms)
is_seen_once = ("node3", "system calls", "seen_once") in alarms
sys.exit(not is_seen_once or any(node["verdict"] == "slower" for node in judged["nodes"]))
CHECK
}
# Node 3 is slow until it has measured once.
slow_once() {
    touch "$SLOW_WHILE"
    rm -rf "$work/once"
    (
        until [ -n "$(find "$work/once/node3" -name '*.oscope.json' 2>/dev/null)" ]; do sleep 0.2; done
        rm -f "$SLOW_WHILE"
    ) &
    fleet once $calls --in-turn
    kill $! 2>/dev/null || true
}
measured=$nodes
attempts 'an alarm that did not come again was raised, or there was none' is_seen_once slow_once || true

echo 'a full disk'
rm -f "$SLOW_WHILE"
unset SLOW_NODE
measured='1 2 3 4'
FULL_NODE=4 fleet full file.sync --once
grep -q 'rank 3 on .*: file.sync: it needs .* free in ' "$work/words" || fail 'the full disk was not reported'
python3 - "$work/judged.json" <<'CHECK' || fail 'the nodes with room were not judged'
import json, sys

measured = {node["node"]: list(node["components"]) for node in json.load(open(sys.argv[1]))["nodes"]}
disk = {"node1": ["disk"], "node2": ["disk"], "node3": ["disk"], "node4": []}
assert measured == disk, measured
CHECK

echo 'a process that is killed'
kill_once_it_measures 2 &
killer=$!
fleet killed $calls --once
wait "$killer" || true
grep -q 'rank 1 on .*has not answered in time' "$work/words" || fail 'the killed process was not named'
judged_are node1 node3 node4 || fail 'the others were not judged'
echo 'the fleet under Open MPI: all is well'
