#!/usr/bin/env bash
# The experiments of the group `file` against tools that give the same number, interleaved: in each
# round oscope and every peer run one after the other, and ratios are taken within a round.
#
# usage: bench/file_experiments/run.sh [ROUNDS]
#
# Needs python3; uses fio and dd where they are installed. OSCOPE names the program, which is built
# if it is not set; DIR where files are made, on the disk that is to be measured. Peers run on the last
# processor, as oscope's workers do: where a disk has one interrupt, it matters who is near to it.
set -euo pipefail

rounds=${1:-5}
cpu=$(($(nproc --all) - 1))
here=$(cd "$(dirname "$0")" && pwd)
dir=${DIR:-.}
work=$(mktemp -d -p "$dir")
trap 'rm -rf "$work"' EXIT
work=$(cd "$work" && pwd)

# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
for tool in fio dd; do
    command -v "$tool" > /dev/null || echo "left out: $tool is not installed" >&2
done

# One line for each measurement: round, tool, what, value.
put() { printf '%s\t%s\t%s\t%s\n' "$round" "$@" >> "$work/peers.tsv"; }

# fio_value PATH ARGUMENTS...: the value at PATH in the report of fio.
fio_value() {
    local path=$1
    shift
    # Its usual random order takes the next block that is free where it has been before, so that more
    # and more reads follow one that is cached, and the kernel reads ahead. This one does not.
    taskset -c "$cpu" fio --name=job --directory="$work" --filename=fio.dat --size=16m \
        --ioengine=psync --bs=4k --randrepeat=0 --random_generator=lfsr --output-format=json "$@" \
        2> /dev/null > "$work/fio.json"
    python3 - "$work/fio.json" "$path" << 'EOF'
import json, sys
value = json.load(open(sys.argv[1]))["jobs"][0]
for key in sys.argv[2].split("/"):
    value = value[key]
print(value)
EOF
}

cold() { dd of="$1" oflag=nocache conv=notrunc,fdatasync count=0 2> /dev/null; }

: > "$work/peers.tsv"
dd if=/dev/urandom of="$work/dd.dat" bs=1M count=16 conv=fsync 2> /dev/null || true
round=0
while [ "$round" -lt "$rounds" ]; do
    round=$((round + 1))
    "$OSCOPE" run file.cold_warm file.random file.sync file.metadata --json --no-page --quiet \
        --store "$work/store" --dir "$work" > "$work/oscope-$round.json" || true
    if command -v dd > /dev/null; then
        cold "$work/dd.dat"
        put dd 'read cold, 1 MiB' "$(dd if="$work/dd.dat" of=/dev/null bs=1M 2>&1 |
            awk -F, 'END { split($(NF - 1), t, " "); print 16 * 1048576 / t[1] }')"
        put dd 'read warm, 1 MiB' "$(dd if="$work/dd.dat" of=/dev/null bs=1M 2>&1 |
            awk -F, 'END { split($(NF - 1), t, " "); print 16 * 1048576 / t[1] }')"
    fi
    if command -v fio > /dev/null; then
        put fio 'random 4 KiB, cold' "$(fio_value read/bw_bytes --rw=randread --invalidate=1 \
            --fadvise_hint=0)"
        put fio 'write+fsync, median ns' "$(fio_value sync/lat_ns/percentile/50.000000 \
            --rw=write --overwrite=1 --fallocate=none --fsync=1 --runtime=2 --time_based)"
    fi
done
python3 "$here/table.py" "$work"
