# shellcheck shell=bash
# What the scripts have in common that compare oscope with other tools; they source it, and call
# `in_rounds`. In each round oscope and every peer run one after the other, so that a drift of the
# machine meets all of them; peers.py takes ratios within a round.
#
# OSCOPE names the program, which is built if it is not set; CPU the processor to use; DIR where files
# are made; OUT a directory that keeps what was measured, and to which later rounds are added (without
# it, nothing is kept); PROFILE and BUDGET how long oscope takes for an experiment.

cpu=${CPU:-$(($(nproc) - 1))}
work=$(mktemp -d -p "${DIR:-.}")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
work=$(cd "$work" && pwd)
out=${OUT:-$work/out}
mkdir -p "$out"

bench=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=bench/program.sh
. "$bench/program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)

# Those that are there count on.
done_before=$(cat "$out/rounds" 2> /dev/null || echo 0)
round=$done_before

# in_rounds ROUNDS PART...: measures all parts in turn, ROUNDS times, and prints a table. Each part is the name
# of a function; any other name is an error.
in_rounds() {
    local rounds=$1 part
    shift
    for part; do
        declare -F "$part" > /dev/null || { echo "there is no part '$part'" >&2 && exit 2; }
    done
    while ((round < done_before + rounds)); do
        round=$((round + 1))
        for part; do "$part"; done
    done
    python3 "$bench/peers.py" "$out"
}

# measure EXPERIMENT [OPTION...]: oscope's part of a round.
measure() {
    echo "$round" > "$out/rounds"
    "$OSCOPE" run "$@" --json --no-page --quiet --store "$work/store" --dir "$work" \
        --profile "${PROFILE:-quick}" ${BUDGET:+--budget "$BUDGET"} \
        > "$out/$1-$round.json" || left_out "part of $1, which oscope could not measure"
}

on_one_cpu() {
    if command -v taskset > /dev/null; then taskset -c "$cpu" "$@"; else "$@"; fi
}

# over_processes NUMBER COMMAND...: the geometric mean of what NUMBER processes print, one after the other, as
# oscope's value is the mean over its own.
over_processes() {
    local number=$1
    shift
    for _ in $(seq "$number"); do "$@"; done |
        awk '{ sum += log($1) } END { if (NR) printf "%.2f\n", exp(sum / NR) }'
}

left_out() { if [ "$round" -eq $((done_before + 1)) ]; then echo "left out: $*" >&2; fi; }

has() { command -v "$1" > /dev/null || { left_out "$1 is not installed" && false; }; }

# A peer's part: its name, the value (ns for a time or a rate, bytes a second for a bandwidth, others as they are), and
# what of oscope's it is to be set against: experiment, metric, levels as in JSON.
put() {
    if [ -n "$2" ]; then
        printf '%s\t%s\t%s\t%s\t{%s}\t%s\n' "$round" "$3" "$4" "$1" "$5" "$2" >> "$out/peers.tsv"
    fi
}
