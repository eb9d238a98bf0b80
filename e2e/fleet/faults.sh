#!/usr/bin/env bash
# Faults of a node, each with its size: four network namespaces with disks of their own stand for nodes, one of them has
# the fault, and `oscope fleet judge` must name that node with the component, and no other. A row for each fault.
#
#     e2e/fleet/faults.sh PROGRAM [FAULT...]
#
# FAULT is one of: quota calls disk pages link. Needs root, iproute2, util-linux, python3, a C compiler, loop devices and
# mkfs.ext4, and for two of the faults control groups of version 1; what is missing is reported and left out. Nodes measure
# in turn, since they share the processors. Takes about twenty minutes, and ends and removes all that it made.
set -euo pipefail
[ $# -ge 1 ] || { echo "usage: $0 PROGRAM [FAULT...]" >&2; exit 2; }
program=$(realpath "$1")
shift
chosen=${*:-quota calls disk pages link}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=e2e/fleet/namespaces.sh
. "$here/namespaces.sh"
needs losetup mkfs.ext4 tc

readonly groups=/sys/fs/cgroup port=5735
started=()
clean_up() {
    ((${#started[@]} == 0)) || kill "${started[@]}" 2>/dev/null || true
    wait 2>/dev/null || true
    for node in $nodes; do
        umount -l "$work/disk$node" 2>/dev/null || true
    done
    rmdir "$groups"/{cpu,blkio}/oscope-fault 2>/dev/null || true
}
make_nodes
for node in $nodes; do
    truncate -s 600M "$work/disk$node.image"
    mkfs.ext4 -q "$work/disk$node.image"
    mkdir "$work/disk$node"
    mount -o loop "$work/disk$node.image" "$work/disk$node" || skip 'this system has no loop devices'
done
cc -O2 -shared -fPIC -o "$work/slow_node.so" "$here/slow_node.c"

# on NODE COMMAND...: on that node, with its host name. FAULT is what comes before the command on node 3.
on() {
    local node=$1
    shift
    local before=()
    [ "$node" != 3 ] || before=("${FAULT[@]}")
    nsenter --net="/run/netns/oscope-node$node" unshare --uts --mount bash -c "hostname node$node; exec \"\$@\"" bash \
        "${before[@]}" "$@"
}
# in_group CONTROLLER COMMAND...: in the control group of the fault.
cat >"$work/in_group" <<'GROUP'
#!/usr/bin/env bash
echo $$ >"/sys/fs/cgroup/$1/oscope-fault/cgroup.procs"
exec "${@:2}"
GROUP
cat >"$work/without_huge_pages" <<'PAGES'
#!/usr/bin/env python3
import ctypes, os, sys

PR_SET_THP_DISABLE = 41
assert ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
PAGES
chmod +x "$work/in_group" "$work/without_huge_pages"

# judge NAME WHAT...: measures all nodes twice, and judges them.
judge() {
    local name=$1 round node
    shift
    for round in 1 2; do
        for node in $nodes; do
            mkdir -p "$work/$name/node$node"
            on "$node" "$program" run "$@" --budget "${BUDGET:-10s}" --dir "$work/disk$node" --store "$work/$name.db" \
                --tag "host=node$node" --no-page --quiet >"$work/words" 2>&1 || true
            "$program" --store "$work/$name.db" export latest --output "$work/$name/node$node/$round.oscope.json" \
                2>>"$work/words" || { cat "$work/words"; exit 1; }
        done
    done
    "$program" fleet judge "$work/$name" --json >"$work/judged.json" 2>"$work/words" || true
}

# reported FAULT SIZE MARK...: one of the marks must distinguish node 3 from the others: a component, a missing one, or a fact.
reported() {
    python3 - "$work/judged.json" "$@" <<'CHECK'
import json, sys

file, fault, size, *expected = sys.argv[1:]
nodes = {node["node"]: node for node in json.load(open(file))["nodes"]}
bad = nodes.pop("node3")
missing = [name for name in expected if name not in bad["components"] and all(name in it["components"] for it in nodes.values())]
found = {name: bad["components"][name]["ratio"] for name in bad["because"]} if bad["verdict"] == "slower" else {}
facts = [it["name"] for it in bad["circumstances"]][:4]
is_found = bool((set(found) | set(facts)) & set(expected) or missing)
others = [name for name, it in nodes.items() if it["verdict"] == "slower"]
words = ", ".join([f"{name} {ratio:.2f} ×" for name, ratio in found.items()] + [f"no {name}" for name in missing])
print(f"| {fault} | {size} | {words or 'nothing'} | {'; '.join(facts)} | {', '.join(others) or 'none'} |")
sys.exit(not is_found or bool(others))
CHECK
}

failed=0
is_chosen() { [[ " $chosen " == *" $1 "* ]]; }
can_limit() {
    [ -d "$groups/$1" ] && mkdir -p "$groups/$1/oscope-fault" 2>/dev/null && return
    echo "left out: this system has no control groups of version 1 for $1"
    return 1
}
echo '| fault of node3 | size | reported of node3 | facts next to it | other nodes named |'
echo '| --- | --- | --- | --- | --- |'

if is_chosen calls; then
    touch "$work/is-slow"
    FAULT=(env "LD_PRELOAD=$work/slow_node.so" "SLOW_WHILE=$work/is-slow")
    judge calls process.calls --at optimisation=3
    reported 'seccomp filter' '1600 comparisons a call' 'system calls' || failed=1
fi
if is_chosen quota && can_limit cpu; then
    echo 10000 >"$groups/cpu/oscope-fault/cpu.cfs_period_us"
    echo 5000 >"$groups/cpu/oscope-fault/cpu.cfs_quota_us"
    FAULT=("$work/in_group" cpu)
    BUDGET=30s judge quota process.fork_size memory.copy compute.arithmetic
    # Short timings run between the pauses of a quota, so no cost is higher: a fact is all that tells it.
    reported 'CPU quota' 'half of a processor' 'environment: cgroup cpus' || failed=1
fi
if is_chosen disk && can_limit blkio; then
    device=$(losetup --noheadings --output NAME --associated "$work/disk3.image" | head -1)
    numbers=$(lsblk --noheadings --nodeps --output MAJ:MIN "$device" | tr -d ' ')
    for limit in read_bps_device write_bps_device; do
        echo "$numbers 52428800" >"$groups/blkio/oscope-fault/blkio.throttle.$limit"
    done
    FAULT=("$work/in_group" blkio)
    BUDGET=45s judge disk file.cold_warm
    reported 'slow loop device' '50 MiB/s' disk || failed=1
fi
if is_chosen pages; then
    FAULT=("$work/without_huge_pages")
    BUDGET=20s judge pages memory.tlb memory.page_fault memory.bandwidth
    reported 'huge pages off' 'prctl' 'huge pages' || failed=1
fi
if is_chosen link; then
    head -c 32 /dev/urandom | base64 >"$work/token"
    mkdir "$work/received"
    "$program" receive "$work/received" --measure --listen "$network.254:$port" --token-file "$work/token" \
        >/dev/null 2>"$work/receiver" &
    started+=($!)
    for _ in $(seq 100); do
        ! grep -q '^listening' "$work/receiver" || break
        sleep 0.1
    done
    tc -n oscope-node3 qdisc add dev eth0 root tbf rate 200mbit burst 32kb latency 50ms
    FAULT=()
    BUDGET=15s judge link transfer.file --to "$network.254:$port" --token-file "$work/token"
    reported 'token bucket on a link' '200 Mbit/s' network || failed=1
fi
exit "$failed"
