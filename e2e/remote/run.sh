#!/usr/bin/env bash
# Measures file.remote on a real remote mount: sshfs from a server in a network namespace of its
# own, behind a line held to 100 Mbit/s. What travels there can be no faster than 12.5 MB/s, and 11.7
# MB/s are left of it for data.
#
#     e2e/remote/run.sh OSCOPE
#
# Needs root, FUSE and network namespaces; without them it says so and succeeds. Keys, settings and
# files are its own, in a temporary directory; everything is undone at the end.
set -euo pipefail

oscope=$(realpath "${1:?the program oscope}")
# shellcheck source=e2e/remote/link.sh
source "$(dirname "$0")/link.sh"
server=

undo_first() {
    mountpoint -q "$work/mount" && umount -l "$work/mount"
    [ -n "$server" ] && kill "$server" 2>/dev/null && wait "$server" 2>/dev/null
    for place in served local; do
        mountpoint -q "$work/$place" && umount -l "$work/$place"
    done
}

[ -c /dev/fuse ] || skip 'this system has no FUSE'
for tool in sshfs ssh ssh-keygen; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
sshd=$(command -v sshd || true)
[ -n "$sshd" ] || skip 'sshd is not installed'
join
slow_down
mkdir "$work/mount" "$work/served" "$work/local"
ssh-keygen -q -t ed25519 -N '' -f "$work/host"
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
cat >"$work/sshd_config" <<END
Port 2222
ListenAddress $far
HostKey $work/host
AuthorizedKeysFile $work/key.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin yes
Subsystem sftp internal-sftp
END
# In memory, so that the line is all there is to wait for.
for place in served local; do
    mount -t tmpfs -o size=64m tmpfs "$work/$place"
done
# sshd wants this directory, which a package makes only when its service starts.
mkdir -p /run/sshd
there "$sshd" -D -e -f "$work/sshd_config" 2>"$work/sshd.log" &
server=$!

mount_it() {
    sshfs "root@$far:$work/served" "$work/mount" -p 2222 -F /dev/null \
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
echo "the round trip as TCP sees it: $(ss -tin dst "$far" | grep -o 'minrtt:[0-9.]*' | head -1) ms"
python3 "$(dirname "$0")/check.py" "$work/run.json"
[ -z "$(ls -A "$work/served")" ] || { echo 'scratch files were left on the server'; exit 1; }
[ -z "$(ls -A "$work/local")" ] || { echo 'scratch files were left here'; exit 1; }
