# Sourced by the scripts next to it: network namespaces stand for the nodes of a cluster, joined by a bridge: node1 to
# node4, or those that `nodes` has. Sets `work` (a directory of its own), `network` and `nodes`; all that is made here is
# removed at the end.
# shellcheck shell=bash

skip() {
    echo "skipped: $1"
    exit 0
}
# needs TOOL...: skips without one of them or without root.
needs() {
    [ "$(id -u)" = 0 ] || skip 'namespaces need root'
    for tool in ip nsenter unshare python3 cc "$@"; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
}

readonly network=198.18.77 bridge=oscope-fleet
readonly nodes=${nodes:-1 2 3 4}
work=$(mktemp -d)
# A script that starts more than processes in the namespaces redefines it.
clean_up() { :; }
finish() {
    clean_up
    for node in $nodes; do
        ip netns pids "oscope-node$node" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || true
        ip netns delete "oscope-node$node" 2>/dev/null || true
    done
    ip link delete "$bridge" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

make_nodes() {
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
}

# fail WORDS: ends the script with what the last fleet said.
fail() {
    echo "$1"
    cat "$work/words" "$work/judged.json"
    exit 1
}

files_in() {
    find "$work/$1" -name '*.oscope.json' | wc -l
}

# kill_once_it_measures NODE: kills its process of the fleet, in the background.
kill_once_it_measures() {
    local victim
    for _ in $(seq 100); do
        sleep 0.2
        victim=$(ip netns pids "oscope-node$1" | xargs -r ps -o pid=,args= -p |
            awk '/fleet (run|network)/ && !/mpirun|orted|slurm|srun/ {print $1}')
        # shellcheck disable=SC2086
        [ -z "$victim" ] || { sleep 2; kill -KILL $victim; break; }
    done
}

# judged_are NAME...: fails unless the judgement is of these nodes.
judged_are() {
    python3 - "$work/judged.json" "$@" <<'CHECK'
import json, sys

names = sorted(node["node"] for node in json.load(open(sys.argv[1]))["nodes"])
assert names == sys.argv[2:], names
CHECK
}
