#!/usr/bin/env bash
# Measures file.remote on a real remote mount: sshfs from a server in a network namespace of its
# own, behind a line held to 100 Mbit/s. What travels there can be no faster than 12.5 MB/s, and 11.7
# MB/s are left of it for data.
#
#     tests/remote/run.sh OSCOPE
#
# Needs root, FUSE and network namespaces; without them it says so and succeeds. Keys, settings and
# files are its own, in a temporary directory; everything is undone at the end.
set -euo pipefail

oscope=$(realpath "${1:?the program oscope}")
name=oscope-remote-$$
near=osc$(($$ % 100000))n
far=osc$(($$ % 100000))f
work=$(mktemp -d)
server=

skip() {
    echo "skipped: $1"
    exit 0
}

undo() {
    set +e
    mountpoint -q "$work/mount" && umount -l "$work/mount"
    [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
    if [ -e "/run/netns/$name" ]; then
        # Sessions of the server live in its namespace and nobody else does.
        ip netns pids "$name" | xargs -r kill 2>/dev/null
        ip netns delete "$name"
    fi
    ip link delete "$near" 2>/dev/null
    for place in served local; do
        mountpoint -q "$work/$place" && umount -l "$work/$place"
    done
    rm -rf --one-file-system "$work"
}

[ "$(id -u)" = 0 ] || skip 'it takes root to make network namespaces and mounts'
[ -c /dev/fuse ] || skip 'this system has no FUSE'
for tool in sshfs ssh ssh-keygen ip tc nsenter; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
sshd=$(command -v sshd || true)
[ -n "$sshd" ] || skip 'sshd is not installed'
trap undo EXIT
ip netns add "$name" 2>/dev/null || skip 'this system lets nobody make network namespaces'

# The server's namespace, joined to ours by a pair of devices, each slowed down where it sends.
ip link add "$near" type veth peer name "$far" netns "$name" || skip 'this system has no veth devices'
subnet=10.$((200 + $$ % 50)).$((RANDOM % 250))
ip address add "$subnet.1/30" dev "$near"
ip link set "$near" up
ip -n "$name" address add "$subnet.2/30" dev "$far"
ip -n "$name" link set "$far" up
ip -n "$name" link set lo up
limit=(root tbf rate 100mbit burst 16kb latency 50ms)
tc qdisc add dev "$near" "${limit[@]}" 2>/dev/null || skip 'this kernel has no TBF'
tc -n "$name" qdisc add dev "$far" "${limit[@]}"
mkdir "$work/mount" "$work/served" "$work/local"
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
cat >"$work/sshd_config" <<EOF
Port 2222
ListenAddress $subnet.2
HostKey $work/host
AuthorizedKeysFile $work/key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
EOF
# In memory, so that the line is all there is to wait for.
for place in served local; do
    mount -t tmpfs -o size=64m tmpfs "$work/$place"
done
# sshd wants this directory, which a package makes only when its service starts.
mkdir -p /run/sshd
# Not by `ip netns exec`, which would hide mounts made later.
nsenter --net="/run/netns/$name" "$sshd" -D -e -f "$work/sshd_config" 2>"$work/sshd.log" &
server=$!

mount_it() {
    sshfs "root@$subnet.2:$work/served" "$work/mount" -p 2222 -F /dev/null \
        -o IdentityFile="$work/key" -o IdentitiesOnly=yes -o BatchMode=yes \
        -o StrictHostKeyChecking=accept-new -o UserKnownHostsFile="$work/known_hosts" 2>"$work/sshfs.log"
}
for attempt in $(seq 50); do
    mount_it && break
    [ "$attempt" -lt 50 ] || { cat "$work/sshfs.log" "$work/sshd.log"; exit 1; }
    sleep 0.1
done

"$oscope" run file.remote --dir "$work/local" --remote "$work/mount" --store "$work/oscope.db" \
    --no-page --quiet --budget 20s --json >"$work/run.json"
echo "the round trip as TCP sees it: $(ss -tin dst "$subnet.2" | grep -o 'minrtt:[0-9.]*' | head -1) ms"
python3 "$(dirname "$0")/check.py" "$work/run.json"
[ -z "$(ls -A "$work/served")" ] || { echo 'scratch files were left on the server'; exit 1; }
[ -z "$(ls -A "$work/local")" ] || { echo 'scratch files were left here'; exit 1; }
