#!/usr/bin/env bash
# How far comparisons can be trusted on this machine:
#   bench/trust/run.sh [short|long] [OSCOPE]
# A/A: whole comparisons of this machine with itself, their sessions alternated; counted is how many
# raise any alarm (at most 1 of 20 may). A/B: known disturbances, one side with and one without; shown is
# what is found and which warnings name it. long (the default): 20 comparisons of 3 + 3 sessions, an hour
# or more; short: 3 comparisons. Leave the machine alone meanwhile.
set -euo pipefail
cd "$(dirname "$0")/../.."
length=${1:-long}
case "$length" in
long) comparisons=20 budget=30s ;;
short) comparisons=3 budget=10s ;;
*) echo "usage: $0 [short|long] [OSCOPE]" >&2; exit 2 ;;
esac
if (($# > 1)); then oscope=$2; else
    # With the feature, and only with it, workers can be told to do more than they count.
    cargo build --release --locked -p oscope --features extra-work
    oscope=${CARGO_TARGET_DIR:-target}/release/oscope
fi
oscope=$(realpath "$oscope")
work=$(mktemp -d)
store=$work/oscope.db
what=(memory.bandwidth process.calls)
undo=()
finish() {
    for command in "${undo[@]}"; do eval "$command" || true; done
    rm -rf "$work"
}
trap finish EXIT

# Options that the session of the disturbed side gets.
extra=()

# Measures one session in the directory $1, under a command that may follow; prints its number.
session() {
    local directory=$1
    shift
    "$@" "$oscope" run "${what[@]}" "${extra[@]}" --store "$store" --dir "$directory" --budget "$budget" --no-page --quiet \
        --json >/dev/null || [ $? -eq 1 ]
    "$oscope" history --store "$store" --json | python3 -c 'import json, sys; print(max(r["number"] for r in json.load(sys.stdin)))'
}

# Prints counts, the typical ratio and the warnings of a comparison that comes as JSON.
summary() {
    python3 -c '
import json, statistics, sys
one = json.load(sys.stdin)["comparisons"][0]
ratios = [v["ratio"] for v in one["values"]]
told = [v["ratio"] for v in one["values"] if v["verdict"] in ("faster", "slower")]
line = ", ".join(f"{n} {v}" for v, n in one["counts"].items() if n)
line += f"; median ratio {statistics.median(ratios):.3f}"
if told:
    line += f", of what is told {statistics.median(told):.3f}"
doubtful = sum(v["doubtful"] for v in one["values"])
print(f"{line}; {doubtful} of {len(ratios)} carry a warning")'
}

# The warnings that the sessions named in $1 carry, and how often.
warnings() {
    for run in ${1//,/ }; do "$oscope" show "$run" --store "$store" --json; done | python3 -c '
import collections, json, sys
decoder, text, found = json.JSONDecoder(), sys.stdin.read(), collections.Counter()
while text.strip():
    run, end = decoder.raw_decode(text.lstrip())
    text = text.lstrip()[end:]
    for experiment in run["experiments"]:
        for point in experiment["points"]:
            for warning in point["warnings"]:
                w = warning["warning"]
                found[next(iter(w)) if isinstance(w, dict) else w] += 1
print("  warnings:", ", ".join(f"{name} {count}" for name, count in found.most_common()) or "none")'
}

join() { local IFS=,; echo "$*"; }

echo "A/A: $comparisons comparisons of ${what[*]}, 3 + 3 sessions of $budget each"
alarmed=0
for ((comparison = 1; comparison <= comparisons; comparison++)); do
    a=() b=()
    for _ in 1 2 3; do
        a+=("$(session "$work")")
        b+=("$(session "$work")")
    done
    code=0
    "$oscope" compare "$(join "${a[@]}")" "$(join "${b[@]}")" --store "$store" --json --fail-on different \
        >"$work/compared" || code=$?
    [ "$code" = 0 ] || [ "$code" = 3 ] || exit "$code"
    [ "$code" = 0 ] || alarmed=$((alarmed + 1))
    echo "  $comparison: $(summary <"$work/compared")"
done
echo "A/A: $alarmed of $comparisons raised an alarm"

# Three sessions without and three with a disturbance, alternated: ab NAME DIRECTORY OPTION [COMMAND...].
# OPTION is one for `oscope run` on the disturbed side, or empty.
ab() {
    local name=$1 directory=$2 option=$3
    shift 3
    local a=() b=()
    for _ in 1 2 3; do
        a+=("$(session "$directory")")
        b+=("$(extra=($option); session "$directory" "$@")")
    done
    "$oscope" compare "$(join "${a[@]}")" "$(join "${b[@]}")" --store "$store" --json >"$work/compared"
    echo "A/B $name: $(summary <"$work/compared")"
    warnings "$(join "${b[@]}")"
}

# Calls, since a pass over a large block is done too few times for 5 % more to be a whole one.
what=(process.calls)
if "$oscope" run --extra-work 0 --help >/dev/null 2>&1; then
    for percent in 5 20; do
        ab "$percent % more iterations than are counted" "$work" "--extra-work=$percent"
    done
else
    echo 'A/B counted extra work: left out, since this oscope was built without the feature extra-work'
fi

what=(memory.bandwidth process.calls)
if command -v stress-ng >/dev/null; then
    under_stress() {
        stress-ng --cpu 1 --taskset 0 --quiet &
        local stress=$!
        "$@" || { local code=$?; kill "$stress"; wait "$stress" || true; return "$code"; }
        kill "$stress"
        wait "$stress" || true
    }
    ab 'stress-ng on processor 0' "$work" '' under_stress
else
    echo 'A/B stress-ng: left out, since it is missing (apt-get install stress-ng)'
fi

group=/sys/fs/cgroup/oscope-trust-$$
if mkdir "$group" 2>/dev/null && [ -w "$group/cpu.max" ]; then
    undo+=("rmdir $group")
    echo '50000 100000' >"$group/cpu.max"
    limited() { (echo "$BASHPID" >"$group/cgroup.procs"; exec "$@"); }
    ab 'half a processor by a control group' "$work" '' limited
else
    rmdir "$group" 2>/dev/null || true
    echo 'A/B control group: left out, since cgroup v2 with cpu.max cannot be written here (as root)'
fi

what=(file.block_size)
if [ "$(id -u)" = 0 ] && truncate -s 1G "$work/disk" && device=$(losetup --find --show "$work/disk" 2>/dev/null); then
    undo=("umount $work/mounted" "losetup -d $device" "${undo[@]}")
    mkfs.ext4 -q "$device" && mkdir "$work/mounted" && mount "$device" "$work/mounted"
    numbers=$(cat "/sys/block/$(basename "$device")/dev")
    if mkdir "$group-io" 2>/dev/null && [ -w "$group-io/io.max" ]; then
        undo=("rmdir $group-io" "${undo[@]}")
        echo "$numbers rbps=52428800" >"$group-io/io.max"
        slow_disk() { (echo "$BASHPID" >"$group-io/cgroup.procs"; exec "$@"); }
        ab 'a loop device of 50 MiB/s' "$work/mounted" '' slow_disk
    else
        echo 'A/B rate-limited device: left out, since cgroup v2 with io.max cannot be written here'
    fi
else
    echo 'A/B rate-limited device: left out, since it takes root and a loop device'
fi
