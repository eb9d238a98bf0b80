#!/usr/bin/env bash
# `oscope file copy` beside cp and dd, interleaved, on several file systems: a dense file, and a sparse
# one four times as long.
#
# usage: bench/file/copy.sh [ROUNDS]
#
# Takes the file system of DIR (/var/tmp) and tmpfs (/dev/shm); as root also btrfs and xfs on loop devices,
# where mkfs.btrfs and mkfs.xfs are installed. OSCOPE names the program, which is built if it is not set;
# SIZE_MIB the size of the dense file (1024). Needs python3, and memory for three files.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
export OSCOPE
size=${SIZE_MIB:-1024}
work=$(mktemp -d -p "${DIR:-/var/tmp}")
shared=$(mktemp -d -p /dev/shm)
undo() {
    for kind in btrfs xfs; do
        mountpoint -q "$work/$kind" 2> /dev/null && umount "$work/$kind"
    done
    rm -rf "$work" "$shared"
}
trap undo EXIT
trap 'exit 130' INT TERM

mkdir "$work/own"
places=("$(stat -f -c %T "$work")=$work/own" "tmpfs=$shared")
for kind in btrfs xfs; do
    if [ "$(id -u)" != 0 ] || ! command -v "mkfs.$kind" > /dev/null; then
        echo "left out: $kind needs root and mkfs.$kind" >&2
        continue
    fi
    truncate -s "$((3 * size + 1024))M" "$work/$kind.image"
    "mkfs.$kind" -q "$work/$kind.image"
    mkdir "$work/$kind"
    mount -o loop "$work/$kind.image" "$work/$kind"
    places+=("$kind=$work/$kind")
done
python3 "$here/copy.py" "${1:-9}" "${places[@]}"
