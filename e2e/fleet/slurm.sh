#!/usr/bin/env bash
# `oscope fleet run` under Slurm: a controller and four network namespaces with host names of their own as nodes. One
# node is slowed down and must be named with its component, its switches must be on the record, and a process for each
# core must be judged as such. Then one process is killed, and the others are judged.
#
#     e2e/fleet/slurm.sh PROGRAM
#
# Needs root, iproute2, util-linux, python3, a C compiler and Debian's slurm-wlm, munge and libpmix-dev (Slurm
# looks for the library by its name without a version); without them it says so and succeeds. It uses keys, ports and
# directories of its own, and ends all that it starts.
set -euo pipefail
[ $# -eq 1 ] || { echo "usage: $0 PROGRAM" >&2; exit 2; }
program=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=e2e/fleet/namespaces.sh
. "$here/namespaces.sh"
needs srun slurmctld slurmd munged setpriv

started=()
clean_up() {
    scancel --state=running --quiet 2>/dev/null || true
    ((${#started[@]} == 0)) || kill "${started[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
}
make_nodes
cc -O2 -DCOMPARISONS=4000 -shared -fPIC -o "$work/slow_node.so" "$here/slow_node.c"
mkdir "$work/scratch" "$work/state"
export SLOWER=$work/slow_node.so SLOW_WHILE=$work/is-slow SCRATCH=$work/scratch

# munge wants a directory that only its user can write.
chmod 755 "$work"
dd if=/dev/urandom of="$work/munge.key" bs=1024 count=1 status=none
chmod 600 "$work/munge.key"
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" \
    --log-file="$work/munge.log" --seed-file="$work/munge.seed" 2>"$work/munged" &
started+=($!)

cpus=$(nproc)
cat >"$work/slurm.conf" <<CONF
ClusterName=oscope
SlurmctldHost=controller($network.254)
SlurmctldPort=16817
SlurmdPort=16818
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool.%n
SlurmctldPidFile=$work/controller.pid
SlurmdPidFile=$work/node.%n.pid
SlurmctldLogFile=$work/controller.log
SlurmdLogFile=$work/node.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/builtin
TopologyPlugin=topology/tree
ReturnToService=2
$(for node in $nodes; do echo "NodeName=node$node NodeAddr=$network.$node CPUs=$cpus RealMemory=500 State=UNKNOWN"; done)
PartitionName=all Nodes=ALL Default=YES State=UP OverSubscribe=FORCE:4
CONF
cat >"$work/topology.conf" <<CONF
SwitchName=leaf1 Nodes=node[1-2]
SwitchName=leaf2 Nodes=node[3-4]
SwitchName=top Switches=leaf[1-2]
CONF
export SLURM_CONF=$work/slurm.conf
srun --mpi=pmix --version >/dev/null 2>&1 && srun --mpi=list 2>&1 | grep -q pmix || skip 'this Slurm has no plug-in for PMIx'

unshare --uts bash -c 'hostname controller; exec slurmctld -D' 2>"$work/controller" &
started+=($!)
for node in $nodes; do
    # The plug-ins of four nodes on one system would share one directory.
    mkdir -p "$work/node$node/tmp"
    cp "$work/slurm.conf" "$work/topology.conf" "$work/node$node"
    echo "PMIxCliTmpDirBase=$work/node$node/tmp" >"$work/node$node/mpi.conf"
    nsenter --net="/run/netns/oscope-node$node" unshare --uts --mount \
        bash -c "hostname node$node; exec slurmd -D -N node$node -f $work/node$node/slurm.conf" 2>"$work/slurmd.$node" &
    started+=($!)
done
is_ready() { [ "$(sinfo --noheader --format=%D --states=idle 2>/dev/null)" = 4 ]; }
for _ in $(seq 60); do
    ! is_ready || break
    sleep 0.5
done
is_ready || { tail "$work"/*.log; sinfo || true; echo 'Slurm has no four nodes'; exit 1; }

# Slurm starts it on each node, and it the program.
cat >"$work/on_node" <<'NODE'
#!/usr/bin/env bash
[ "$(hostname)" != "node${SLOW_NODE:-}" ] || export LD_PRELOAD=$SLOWER
exec "$@"
NODE
chmod +x "$work/on_node"
readonly calls='process.calls --at optimisation=3'
# fleet TASKS OUTPUT WHAT...: measures and judges; the JSON goes to $work/judged.json, the words to $work/words.
fleet() {
    local code=0
    timeout 200 unshare --uts bash -c 'hostname controller; exec "$@"' bash \
        srun --mpi=pmix --nodes=4 --ntasks-per-node="$1" --overcommit --kill-on-bad-exit=0 --quiet \
        --export=ALL "$work/on_node" "$program" fleet run --budget 4s --dir "$SCRATCH" \
        --output "$work/$2" --json "${@:3}" >"$work/judged.json" 2>"$work/words" || code=$?
    echo "srun ended with $code, after $SECONDS s of this script"
    ! grep -q 'launch failed' "$work/words" || tail -n 20 "$work"/node.*.log
}

echo 'four nodes, of which one has slow system calls'
export SLOW_NODE=3
touch "$SLOW_WHILE"
is_found() {
    python3 - "$work/judged.json" <<'CHECK'
import json, sys

judged = json.load(open(sys.argv[1]))
nodes = {node["node"]: node for node in judged["nodes"]}
alarms = [(it["node"], it["component"], it["outcome"]) for it in (judged["second"] or {"alarms": []})["alarms"]]
print({name: (node["verdict"], node["because"], node["switch"]) for name, node in nodes.items()}, alarms)
slow = nodes.pop("node3")
is_named = slow["verdict"] == "slower" and "system calls" in slow["because"]
healthy = sorted(nodes) == ["node1", "node2", "node4"] and all(it["verdict"] != "slower" for it in nodes.values())
switches = [slow["switch"], nodes["node1"]["switch"]]
sys.exit(not is_named or not healthy or switches != ["top.leaf2", "top.leaf1"])
CHECK
}
fleet 1 slow $calls --in-turn
if ! is_found; then
    # Other work on the host may have slowed one node while it measured: once more.
    rm -rf "$work/slow"
    fleet 1 slow $calls --in-turn
    is_found || fail 'the slow node was not distinguished from the others'
fi
[ "$(files_in slow)" -ge 7 ] || fail 'not all runs are in files'

echo 'a process for each core'
rm -f "$SLOW_WHILE"
fleet "$cpus" cores $calls --in-turn --per core --once
python3 - "$work/judged.json" "$cpus" <<'CHECK' || fail 'not each core was judged'
import json, sys

names = sorted(node["node"] for node in json.load(open(sys.argv[1]))["nodes"])
print(names)
assert len(names) == 4 * int(sys.argv[2]) and all(" cpu " in name for name in names)
CHECK
! grep -q 'cpu.* have one identity' "$work/judged.json" || fail 'the cores of a host were reported as clones'

echo 'a process that is killed'
kill_once_it_measures 2 &
# Slurm's daemons try for half a minute to reach the one of a node whose only process has died.
fleet 1 killed $calls --once --wait 60s
grep -q 'rank 1 on .*has not answered in time' "$work/words" || fail 'the killed process was not named'
judged_are node1 node3 node4 || fail 'the others were not judged'
echo 'the fleet under Slurm: all is well'
