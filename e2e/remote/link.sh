# shellcheck shell=bash
# Sourced: a network namespace next to ours, joined to it by a pair of devices, and a temporary
# directory. Everything is undone at the end.
#
#     join                 makes them, or skips
#     slow_down            holds the line to 100 Mbit/s both ways, or skips
#     there COMMAND... &   runs a command in the namespace, in the background; it sees the same files
#
# It sets `work`, the directory, and `here` and `far`, the addresses of both ends. What is to be
# undone first can be added to `undo_first`.

name=oscope-remote-$$
near_device=osc$(($$ % 100000))n
far_device=osc$(($$ % 100000))f
subnet=10.$((200 + $$ % 50)).$((RANDOM % 250))
# shellcheck disable=SC2034 # for whoever sources this
here=$subnet.1
far=$subnet.2
work=

skip() {
    echo "skipped: $1"
    exit 0
}

undo_first() { :; }

undo() {
    set +e
    undo_first
    if [ -e "/run/netns/$name" ]; then
        # What was started there lives in its namespace and nobody else does.
        ip netns pids "$name" | xargs -r kill 2>/dev/null
        ip netns delete "$name"
    fi
    ip link delete "$near_device" 2>/dev/null
    rm -rf --one-file-system "$work"
}

join() {
    [ "$(id -u)" = 0 ] || skip 'it takes root to make network namespaces and mounts'
    for tool in ip tc nsenter; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
    work=$(mktemp -d)
    trap undo EXIT
    ip netns add "$name" 2>/dev/null || skip 'this system lets nobody make network namespaces'
    ip link add "$near_device" type veth peer name "$far_device" netns "$name" ||
        skip 'this system has no veth devices'
    ip address add "$here/30" dev "$near_device"
    ip link set "$near_device" up
    ip -n "$name" address add "$far/30" dev "$far_device"
    ip -n "$name" link set "$far_device" up
    ip -n "$name" link set lo up
}

slow_down() {
    local limit=(root tbf rate 100mbit burst 16kb latency 50ms)
    tc qdisc add dev "$near_device" "${limit[@]}" 2>/dev/null || skip 'this kernel has no TBF'
    tc -n "$name" qdisc add dev "$far_device" "${limit[@]}"
}

# Not by `ip netns exec`, which would hide mounts made later.
there() {
    exec nsenter --net="/run/netns/$name" "$@"
}
