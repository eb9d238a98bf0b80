#!/usr/bin/env bash
# Measures transfer.file to a receiver in a network namespace of its own: over a line as fast as the
# machine is, over one held to 100 Mbit/s, of which 11.7 MB/s are left for data, and over one that is
# taken away in the middle.
#
#     e2e/remote/transfer.sh OSCOPE
#
# Needs root and network namespaces; without them it says so and succeeds. Everything is its own, in a
# temporary directory, and undone at the end.
set -euo pipefail

oscope=$(realpath "${1:?the program oscope}")
# shellcheck source=e2e/remote/link.sh
source "$(dirname "$0")/link.sh"
check=$(realpath "$(dirname "$0")/check_transfer.py")
receiver=

undo_first() {
    [ -n "$receiver" ] && kill "$receiver" 2>/dev/null && wait "$receiver" 2>/dev/null
    mountpoint -q "$work/local" && umount -l "$work/local"
    mountpoint -q "$work/received" && umount -l "$work/received"
}

join
mkdir "$work/received" "$work/local"
# In memory, so that the line is all there is to wait for.
mount -t tmpfs -o size=1g tmpfs "$work/received"
mount -t tmpfs -o size=1g tmpfs "$work/local"
head -c 32 /dev/urandom | base64 >"$work/token"
there "$oscope" receive "$work/received" --measure --listen 0.0.0.0:5735 --token-file "$work/token" \
    2>"$work/receiver.log" >/dev/null &
receiver=$!
for attempt in $(seq 100); do
    grep -q '^listening' "$work/receiver.log" && break
    [ "$attempt" -lt 100 ] || { cat "$work/receiver.log"; exit 1; }
    sleep 0.1
done

measure() {
    "$oscope" run transfer --to "$far:5735" --token-file "$work/token" --dir "$work/local" \
        --store "$work/oscope.db" --no-page --seed 1 --json "$@"
}

measure --budget 20s >"$work/fast.json"
python3 "$check" fast "$far:5735" "$work/fast.json"

slow_down
measure --budget 30s >"$work/slow.json"
python3 "$check" slow "$far:5735" "$work/slow.json"

# The line goes down under the run: it ends all the same, and says why.
measure --budget 30s >"$work/lost.json" 2>"$work/lost.log" &
run=$!
sleep 6
ip link set "$near_device" down
code=0
wait "$run" || code=$?
[ "$code" = 1 ] || { echo "the run ended with $code"; cat "$work/lost.log"; exit 1; }
python3 "$check" lost "$far:5735" "$work/lost.json"

kill -TERM "$receiver"
wait "$receiver" || true
receiver=
[ -z "$(ls -A "$work/received")" ] || { echo 'scratch files were left at the receiver'; exit 1; }
[ -z "$(ls -A "$work/local")" ] || { echo 'scratch files were left here'; exit 1; }
