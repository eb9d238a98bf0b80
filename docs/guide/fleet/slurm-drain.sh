#!/bin/sh
# Judges the runs that slurm-measure.sh left, and drains the slower nodes, on the controller and once a day:
#
#   0 6 * * * /usr/share/oscope/fleet/slurm-drain.sh /shared/oscope/runs
#
# usage: slurm-drain.sh RUNS [--dry-run]
#
# Drains at most one node in twenty: more at once are no odd nodes, and a person should look. Ends as `oscope fleet
# judge` does: 0 all are alike, 3 a node is slower; 4 where too many are slower to be drained. Needs jq.
set -eu

runs=${1:?usage: slurm-drain.sh RUNS [--dry-run]}
dry=${2:-}
judged=$(mktemp)
trap 'rm -f "$judged"' EXIT
code=0
oscope fleet judge "$runs" --json > "$judged" || code=$?
[ "$code" -eq 3 ] || exit "$code"
if jq -e '.counts.slower * 20 > (.nodes | length) and .counts.slower > 1' "$judged" > /dev/null; then
    echo "too many nodes are slower than the others to drain them all:" >&2
    jq -r '.nodes[] | select(.verdict == "slower") | .node' "$judged" >&2
    exit 4
fi
jq -r '.nodes[] | select(.verdict == "slower") | [.node, (.because | join(", "))] | @tsv' "$judged" |
    while IFS="$(printf '\t')" read -r node because; do
        if [ "$dry" = --dry-run ]; then
            echo "would drain $node: $because"
        else
            scontrol update NodeName="$node" State=DRAIN Reason="oscope: slow $because"
        fi
    done
exit 3
