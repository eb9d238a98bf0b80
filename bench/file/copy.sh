#!/usr/bin/env bash
# `oscope file copy` against cp and dd, and `oscope file write` against dd and fallocate, interleaved, on several
# file systems: a dense file, a sparse one four times as long, and a new file.
#
# usage: bench/file/copy.sh [ROUNDS]
#
# Takes the file system of DIR (/var/tmp) and tmpfs (/dev/shm); as root also btrfs and xfs on loop devices, one
# after the other, where mkfs.btrfs and mkfs.xfs are installed. OSCOPE names the program, which is built if it is
# not set; SIZE_MIB the size of the dense file (1024). Needs python3, memory for three files, and room for six.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
export OSCOPE
size=${SIZE_MIB:-1024}
rounds=${1:-9}
work=$(mktemp -d -p "${DIR:-/var/tmp}")
shared=$(mktemp -d -p /dev/shm)
undo() {
    mountpoint -q "$work/mounted" && umount "$work/mounted"
    rm -rf "$work" "$shared"
}
trap undo EXIT
trap 'exit 130' INT TERM

measure() { python3 "$here/copy.py" "$rounds" "$1" "$2"; }

echo '| file system | work | tool | wall, s | its time over oscope'"'"'s |'
echo '| --- | --- | --- | ---: | --- |'
mkdir "$work/own" "$work/mounted"
measure "$(findmnt --noheadings --output FSTYPE --target "$work")" "$work/own"
rm -r "$work/own"
measure tmpfs "$shared"
for kind in btrfs xfs; do
    if [ "$(id -u)" != 0 ] || ! command -v "mkfs.$kind" > /dev/null; then
        echo "left out: $kind needs root and mkfs.$kind" >&2
        continue
    fi
    # What was removed a moment ago may still take its room, and metadata take some on btrfs.
    truncate -s "$((6 * size + 1024))M" "$work/image"
    "mkfs.$kind" -q "$work/image" > /dev/null
    # With `discard`, what is removed takes no room below the image either.
    mount -o loop,discard "$work/image" "$work/mounted"
    measure "$kind" "$work/mounted"
    umount "$work/mounted"
    rm "$work/image"
done
