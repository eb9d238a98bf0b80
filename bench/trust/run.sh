#!/usr/bin/env bash
# How far comparisons can be trusted on this machine:
#   bench/trust/run.sh [-n COMPARISONS] [-b BUDGET] [-w WHAT] [-k FOLDER] [aa] [again] [ab] [OSCOPE]
# aa: whole comparisons of this machine with itself, 3 + 3 sessions, alternated; counted is how many raise
# any alarm (at most 1 of 20 may). ab: known disturbances, three sessions without and three with one; shown
# is what is found and which warnings name it. Both if none is named. 20 comparisons take 20 minutes at the
# usual 10s a session, the disturbances 5. With -k the sessions and what aa found stay in FOLDER: a further
# call goes on until that number of comparisons is reached, and `again` compares the same sessions with OSCOPE as
# it is now. -w names other experiments for aa. Leave the machine alone until it ends.
set -euo pipefail
comparisons=20 budget=10s keep=
what=(memory.bandwidth process.calls)
usage() { sed -n '2,/^set/{s/^# //p}' "$0" >&2; exit 2; }
while getopts n:b:w:k: option; do
    case "$option" in
    n) comparisons=$OPTARG ;;
    b) budget=$OPTARG ;;
    w) read -ra what <<<"$OPTARG" ;;
    k) mkdir -p "$OPTARG" && keep=$(realpath "$OPTARG") ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))
parts=()
while [[ "${1-}" =~ ^(aa|again|ab)$ ]]; do parts+=("$1"); shift; done
((${#parts[@]})) || parts=(aa ab)
(($# <= 1)) || usage
oscope=${1:+$(realpath "$1")}
cd "$(dirname "$0")/../.."
if [ -z "$oscope" ]; then
    # With the feature, and only with it, workers can do more than they count.
    cargo build --release --locked -p oscope --features extra-work
    oscope=$(realpath "${CARGO_TARGET_DIR:-target}/release/oscope")
fi
work=$(mktemp -d)
store=${keep:-$work}/oscope.db
found=${keep:-$work}/aa.txt
wanted() { [[ " ${parts[*]} " = *" $1 "* ]]; }
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

# Prints counts, the typical ratio of each metric and the warnings of a comparison that comes as JSON.
summary() {
    python3 -c '
import json, statistics, sys
one = json.load(sys.stdin)["comparisons"][0]
values = one["values"]
line = ", ".join(f"{n} {v}" for v, n in one["counts"].items() if n)
typical = {}
for v in values:
    typical.setdefault(v["metric"], []).append(v["ratio"])
line += "; median ratio of " + ", ".join(f"{m} {statistics.median(r):.3f}" for m, r in typical.items())
differ = [v for v in values if v["verdict"] in ("faster", "slower")]
if differ:
    line += ", of what is reported %.3f" % statistics.median(v["ratio"] for v in differ)
doubtful = sum(v["doubtful"] for v in values)
line += f"; {doubtful} of {len(values)} carry a warning"
for v in differ[:3] if len(differ) <= 3 else []:
    levels = ", ".join(map(str, v["levels"].values()))
    line += "; %s %s, %s %.3f" % (v["experiment"], levels, v["metric"], v["ratio"])
print(line)'
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
print(", ".join(f"{name} {count}" for name, count in found.most_common()) or "none")'
}

join() { local IFS=,; echo "$*"; }

# Compares the sides $1 and $2 of one machine, and prints a line that begins with calm or ALARM.
compare() {
    local code=0
    "$oscope" compare "$1" "$2" --store "$store" --json --fail-on different >"$work/compared" || code=$?
    case "$code" in 0) alarm=calm ;; 3) alarm=ALARM ;; *) return "$code" ;; esac
    echo "$alarm: $1 against $2: $(summary <"$work/compared")"
}

# Counts the lines of $1.
closing() {
    awk '{ alarms += /^ALARM/ } END { printf "A/A: %d of %d comparisons raised an alarm, %s\n",
        alarms, NR, alarms <= NR / 20 ? "no more than 1 of 20" : "MORE than 1 of 20" }' "$1"
}

if wanted aa; then
    touch "$found"
    echo "A/A: $comparisons comparisons of ${what[*]}, 3 + 3 sessions of $budget each; $(wc -l <"$found") are there"
    while (($(wc -l <"$found") < comparisons)); do
        a=() b=()
        for _ in 1 2 3; do
            a+=("$(session "$work")")
            b+=("$(session "$work")")
        done
        line=$(compare "$(join "${a[@]}")" "$(join "${b[@]}")")
        tee -a "$found" <<<"$line"
    done
    closing "$found"
fi

if wanted again; then
    while read -r _ a _ b _; do compare "$a" "${b%:}"; done <"$found" | tee "$work/again"
    closing "$work/again"
fi
wanted ab || exit 0

# Three sessions without and three with a disturbance, alternated: ab NAME DIRECTORY OPTION [COMMAND...].
# OPTION is one for `oscope run` on the disturbed side, or empty.
ab() {
    local name=$1 directory=$2 option=$3
    shift 3
    local a=() b=()
    for _ in 1 2 3; do
        a+=("$(session "$directory")")
        b+=("$(extra=(${option:+"$option"}); session "$directory" "$@")")
    done
    "$oscope" compare "$(join "${a[@]}")" "$(join "${b[@]}")" --store "$store" --json >"$work/compared"
    echo "A/B $name: $(summary <"$work/compared")"
    echo "  warnings without: $(warnings "$(join "${a[@]}")")"
    echo "  warnings with it: $(warnings "$(join "${b[@]}")")"
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

# Makes a control group where the controller $1 is, of either version, and sets $2 (version 2) or $3
# (version 1), each FILE=VALUE; its directory is then in $group.
limit() {
    local root file
    for setting in "$2" "$3"; do
        file=${setting%%=*}
        for root in /sys/fs/cgroup /sys/fs/cgroup/unified "/sys/fs/cgroup/$1"; do
            group=$root/oscope-trust-$$
            mkdir "$group" 2>/dev/null || continue
            if [ -w "$group/$file" ] && echo "${setting#*=}" >"$group/$file"; then
                undo=("rmdir $group" "${undo[@]}")
                return 0
            fi
            rmdir "$group"
        done
    done
    return 1
}
limited() { (echo "$BASHPID" >"$group/cgroup.procs"; exec "$@"); }

if limit cpu 'cpu.max=50000 100000' cpu.cfs_quota_us=50000; then
    ab 'half a processor by a control group' "$work" '' limited
else
    echo 'A/B control group: left out, since no control group can limit processors here (as root)'
fi

what=(file.cold_warm)
if [ "$(id -u)" = 0 ] && truncate -s 1G "$work/disk" && device=$(losetup --find --show "$work/disk" 2>/dev/null); then
    undo=("umount $work/mounted" "losetup -d $device" "${undo[@]}")
    mkfs.ext4 -q "$device" && mkdir "$work/mounted" && mount "$device" "$work/mounted"
    numbers=$(cat "/sys/block/$(basename "$device")/dev")
    if limit blkio "io.max=$numbers rbps=104857600" "blkio.throttle.read_bps_device=$numbers 104857600"; then
        ab 'a loop device of 100 MiB/s' "$work/mounted" '' limited
    else
        echo 'A/B rate-limited device: left out, since no control group can limit devices here'
    fi
else
    echo 'A/B rate-limited device: left out, since it takes root and a loop device'
fi
