#!/usr/bin/env bash
# oscope send and receive beside other ways of moving files over loopback, interleaved: in each round
# every tool moves the same file once, and ratios are taken within a round.
#
# usage: bench/transfer/run.sh [ROUNDS]
#
# Needs python3; uses nuttcp, socat, nc (netcat-openbsd), iperf3, scp with a server of its own, and tar
# where they are installed, and cc for the bare calls (bare.c). OSCOPE names the program, which is built
# if it is not set; DIRS the directories to move files in (by default one on disk and /dev/shm); SIZE the
# file's size in MiB (1024); LARGEST that up to which linearity is looked at, in MiB (16384); FILES the
# number of small files (10000).
set -euo pipefail
export LC_ALL=C

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
size=${SIZE:-1024}
largest=${LARGEST:-16384}
files=${FILES:-10000}
work=$(mktemp -d)
read -ra dirs <<< "${DIRS:-${TMPDIR:-/var/tmp} /dev/shm}"
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
children=()
folders=()
cleanup() {
    for child in "${children[@]}"; do kill "$child" 2> /dev/null || true; done
    rm -rf "$work" "${folders[@]}"
}
trap cleanup EXIT
port=21700

has() {
    command -v "$1" > /dev/null || {
        [ "$round" -gt 1 ] || echo "left out: $1 is not installed" >&2
        return 1
    }
}

# One line for each measurement: round, place, case, tool, begin and end in seconds, MiB (or files).
# The shell reads the clock itself: to start a program for it would count as time of the tool.
put() { printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$round" "$place" "$@" >> "$work/times.tsv"; }

# Waits until somebody listens at the port.
listening() {
    for _ in $(seq 200); do
        [ -z "$(ss -Hltn "sport = :$port" 2> /dev/null)" ] || return 0
        sleep 0.01
    done
}

# timed CASE TOOL AMOUNT RECEIVER SENDER: starts the receiver, then times sender and receiver both to
# their end, since a sender alone may be done before the file is there.
timed() {
    local case=$1 tool=$2 amount=$3 receiver=$4 sender=$5
    port=$((port + 1))
    rm -rf "$to"
    mkdir "$to"
    sync
    eval "$receiver" > "$work/receiver.log" 2>&1 &
    local child=$!
    children+=("$child")
    listening
    local begin end
    begin=$EPOCHREALTIME
    if eval "$sender" > "$work/sender.log" 2>&1 && wait "$child"; then
        end=$EPOCHREALTIME
        put "$case" "$tool" "$begin" "$end" "$amount"
    else
        echo "failed: $tool, $case: $(tail -n 1 "$work/sender.log" "$work/receiver.log")" >&2
        kill "$child" 2> /dev/null || true
    fi
}

# alone TOOL AMOUNT COMMAND...: a part of the work by itself.
alone() {
    local tool=$1 amount=$2
    shift 2
    rm -rf "$to"
    mkdir "$to"
    sync
    local begin end
    begin=$EPOCHREALTIME
    "$@" 2> /dev/null
    end=$EPOCHREALTIME
    put "file to file" "$tool" "$begin" "$end" "$amount"
}

oscope_pair() {
    local case=$1 tool=$2 amount=$3 receive=$4 send=$5
    timed "$case" "$tool" "$amount" "\"$OSCOPE\" receive --quiet --once --listen 127.0.0.1:\$port $receive" \
        "\"$OSCOPE\" send --quiet --to 127.0.0.1:\$port $send"
}

# Names a new directory to receive in, which stays until the end: ext4 searches long for an inode among
# those that were freed within the last seconds, whoever is next.
elsewhere() { to=$folder/to-$((port + 1)); }

# The ways in which one file is moved: oscope as it chooses and by pairs of methods, its peers, the bare
# calls with nothing around them, and a part of the work.
file_tools=(oscope "oscope uring to file" "oscope file to file" "oscope sendfile to file" "oscope mmap to file"
    "oscope splice to file" "oscope zerocopy to file" "oscope file to uring" "oscope uring to uring"
    "oscope sendfile to splice" "oscope sendfile to mmap" "oscope, no checksum" "oscope, 2 streams"
    nuttcp socat "socat, xxhsum" nc "bare read, one thread" "bare read, two threads"
    "bare sendfile, one thread" "bare sendfile, two threads" "writing alone")

# file_to_file TOOL: moves the large file by one of them, if it is there.
file_to_file() {
    local tool=$1 case="file to file"
    case $tool in
        oscope)
            oscope_pair "$case" "$tool" "$size" "$to" "$from/big" ;;
        "oscope, no checksum")
            oscope_pair "$case" "$tool" "$size" "$to" "--no-checksum $from/big" ;;
        "oscope, 2 streams")
            oscope_pair "$case" "$tool" "$size" "$to" "--streams 2 $from/big" ;;
        "oscope "*)
            local pair=${tool#oscope }
            oscope_pair "$case" "$tool" "$size" \
                "--method ${pair#* to } $to" "--method ${pair% to *} $from/big" ;;
        nuttcp)
            # nuttcp sends a file to a server started for one transfer.
            has nuttcp || return 0
            timed "$case" "$tool" "$size" "nuttcp -1 -P \$port -p \$((port + 5000)) -s > $to/big" \
                "nuttcp -t -P \$port -p \$((port + 5000)) -s -l1m 127.0.0.1 < $from/big" ;;
        socat)
            has socat || return 0
            timed "$case" "$tool" "$size" \
                "socat -u -b1048576 TCP-LISTEN:\$port,bind=127.0.0.1 OPEN:$to/big,creat" \
                "socat -u -b1048576 OPEN:$from/big TCP:127.0.0.1:\$port" ;;
        "socat, xxhsum")
            # What it costs to make sure of it as oscope does: a sum on either side.
            { has socat && has xxhsum; } || return 0
            timed "$case" "$tool" "$size" \
                "socat -u -b1048576 TCP-LISTEN:\$port,bind=127.0.0.1 OPEN:$to/big,creat; xxhsum -H2 $to/big" \
                "socat -u -b1048576 OPEN:$from/big TCP:127.0.0.1:\$port & xxhsum -H2 $from/big; wait \$!" ;;
        nc)
            has nc || return 0
            timed "$case" "$tool" "$size" "nc -l 127.0.0.1 \$port > $to/big" \
                "nc -N 127.0.0.1 \$port < $from/big" ;;
        bare*)
            has cc || return 0
            [ -x "$work/bare" ] || cc -O2 -pthread -o "$work/bare" "$here/bare.c"
            local way=${tool#bare }
            way=${way% thread*}
            # The ways are two words each.
            # shellcheck disable=SC2086
            alone "$tool" "$size" "$work/bare" "$from/big" "$to/big" ${way/,/} ;;
        "writing alone")
            # A receiver cannot be faster than what it does with the bytes.
            alone "$tool" "$size" dd if=/dev/zero of="$to/big" bs=512k count="$((size * 2))" ;;
    esac
}

ssh_server() {
    has scp && command -v /usr/sbin/sshd > /dev/null || return 1
    ssh-keygen -q -t ed25519 -N '' -f "$work/host" < /dev/null
    ssh-keygen -q -t ed25519 -N '' -f "$work/key" < /dev/null
    mkdir -p /run/sshd 2> /dev/null || true
    ssh_port=21699
    /usr/sbin/sshd -D -p "$ssh_port" -h "$work/host" -o ListenAddress=127.0.0.1 -o PidFile=none \
        -o StrictModes=no -o AuthorizedKeysFile="$work/key.pub" -o UsePAM=no 2> "$work/sshd.log" &
    children+=("$!")
    sleep 0.5
    scp_options="-q -B -P $ssh_port -i $work/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
}

round=1
scp_options=""
ssh_server || echo "left out: scp needs sshd" >&2

round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    for dir in "${dirs[@]}"; do
        place=$(stat -f -c %T "$dir")
        folder=$dir/oscope-bench-$$
        folders+=("$folder")
        from=$folder/from to=$folder/to
        mkdir -p "$from/small"
        [ -f "$from/big" ] || head -c "$((size << 20))" /dev/urandom > "$from/big"
        [ -f "$from/small/1" ] || for index in $(seq "$files"); do
            head -c 1024 /dev/urandom > "$from/small/$index"
        done
        cat "$from/big" > /dev/null

        # In another order each time: what a tool leaves behind is nothing to the same neighbour always.
        readarray -t order < <(shuf -e "${file_tools[@]}")
        for tool in "${order[@]}"; do
            to=$folder/to
            file_to_file "$tool"
        done

        small=("$from"/small/*)
        elsewhere
        oscope_pair "small files" oscope "$files" "$to" '"${small[@]}"'
        elsewhere
        oscope_pair "small files" "oscope, 1 connection" "$files" "$to" '--streams 1 "${small[@]}"'
        if has nc && has tar; then
            elsewhere
            timed "small files" "tar | nc" "$files" "nc -l 127.0.0.1 \$port | tar x -C $to" \
                "tar c -C $from/small . | nc -N 127.0.0.1 \$port"
        fi
        if [ -n "$scp_options" ]; then
            elsewhere
            timed "small files" scp "$files" true "scp $scp_options -r $from/small 127.0.0.1:$to/"
        fi
    done

    place=memory to=$work/to
    for streams in 1 2; do
        oscope_pair "memory to memory" "oscope, $streams stream(s), no checksum" "$((4 * size))" --discard \
            "--zeros $((4 * size))MiB --no-checksum --streams $streams"
        oscope_pair "memory to memory" "oscope, $streams stream(s)" "$((4 * size))" --discard \
            "--zeros $((4 * size))MiB --streams $streams"
    done
    if has iperf3; then
        for option in "" -Z; do
            timed "memory to memory" "iperf3 $option" "$((4 * size))" \
                "iperf3 -s -1 -B 127.0.0.1 -p \$port" \
                "iperf3 -c 127.0.0.1 -p \$port -l 1M -n $((4 * size))M $option"
        done
    fi
done

# Linear from 64 MiB to the largest, and bounded in memory: the kernel's own account of each side.
round=0
for dir in "${dirs[@]:0:1}"; do
    place=$(stat -f -c %T "$dir")
    folder=$dir/oscope-bench-$$
    folders+=("$folder")
    from=$folder/from to=$folder/to
    rm -rf "$from"
    mkdir -p "$from"
    mib=64
    while [ "$mib" -le "$largest" ]; do
        head -c "$((mib << 20))" /dev/zero > "$from/big"
        rm -rf "$to"
        mkdir "$to"
        port=$((port + 1))
        # VmHWM of a process that is gone can only be had from its parent.
        python3 "$here/peak.py" "$work/peak-receiver" "$OSCOPE" receive --quiet --once \
            --listen "127.0.0.1:$port" "$to" > /dev/null &
        child=$!
        listening
        begin=$EPOCHREALTIME
        python3 "$here/peak.py" "$work/peak-sender" "$OSCOPE" send --quiet "$from/big" \
            --to "127.0.0.1:$port" > /dev/null
        wait "$child"
        end=$EPOCHREALTIME
        peaks="$(cat "$work/peak-sender") and $(cat "$work/peak-receiver") MiB"
        put "by size, with peak memory of both sides" "oscope $(printf %5d "$mib") MiB, $peaks" \
            "$begin" "$end" "$mib"
        mib=$((mib * 4))
    done
done
python3 "$here/table.py" "$work/times.tsv"
