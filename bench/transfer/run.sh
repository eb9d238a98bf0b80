#!/usr/bin/env bash
# oscope send and receive against other ways of moving files over loopback.
set -euo pipefail
export LC_ALL=C

usage() {
    cat << 'END'
usage: bench/transfer/run.sh [ROUNDS] [PART...]

In each round (9) every tool moves the same, in another order, and ratios are taken within a round.
Before the rounds each tool moves it once unmeasured: what arrived is compared, and the congestion
control is taken from the kernel. PART is one or more of

    file      one file: oscope verified, bare and sealed, its peers, and the floors
    memory    zeros, from memory to nowhere, against iperf3
    small     many files of 1 KiB, against tar and nc, and scp
    methods   one file by pairs of oscope's methods
    default   some tools once more under the system's own congestion control
    size      files of 64 MiB and more: linear growth, and the peak memory of both sides

by default all of them. `file memory small` is what the goals are judged by.

Run as root, or where user namespaces are allowed, everything runs in a network namespace of its own,
in which Reno is the congestion control: nothing of the machine is changed. Elsewhere the tools that
can use Reno, and the others are shown with what they take.

Needs python3 and cargo; uses socat, iperf3, nc (netcat-openbsd), nuttcp, tar, openssl, and scp with
sshd where they are installed. Takes memory for three times the file, plus what a place in memory
takes. From the environment:

    OSCOPE    the program, which is built if it is not named
    PAIR      the minimal pair, likewise (bench/transfer/pair)
    DIRS      directories to move files in (/var/tmp and /dev/shm)
    SIZE      the file's size in MiB (1024)
    LARGEST   the size up to which linearity is looked at, in MiB (16384)
    FILES     how many small files (10000)
    FOREIGN   the part of the processors that others may have during a measurement (0.05)
    TRIES     how often a measurement that was disturbed is made in a round before it is dropped (3)
    PATIENCE  how many seconds to wait for others to be quiet before each try (5)
    AHEAD     1: for a machine with other work, as root: tools run before everything else (SCHED_FIFO),
              and what others have of the processors is no reason to drop a measurement
    OUT       a directory that keeps what was measured
END
}

known=(file memory small methods default size)
rounds=9
if [[ ${1:-} =~ ^[1-9][0-9]*$ ]]; then
    rounds=$1
    shift
fi
for part; do
    case $part in
        -h | --help) usage && exit ;;
    esac
    [[ " ${known[*]} " == *" $part "* ]] || { echo "there is no part '$part'" >&2 && exit 2; }
done
[ $# -gt 0 ] || set -- "${known[@]}"

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
if [ -z "${PAIR:-}" ]; then
    cargo build --release --locked --manifest-path "$here/pair/Cargo.toml" >&2
    PAIR=${CARGO_TARGET_DIR:-$here/pair/target}/release/transfer-pair
fi
export OSCOPE PAIR

own=(unshare --net)
"${own[@]}" true 2> /dev/null || own=(unshare --map-root-user --net)
if "${own[@]}" true 2> /dev/null; then
    # What is in quotes is for the shell in there.
    # shellcheck disable=SC2016
    exec "${own[@]}" bash -c 'ip link set lo up && exec "$@"' - \
        env OWN_NETWORK=1 python3 "$here/rounds.py" "$rounds" "$@"
fi
echo "no network namespace of its own: some peers keep the system's congestion control" >&2
exec python3 "$here/rounds.py" "$rounds" "$@"
