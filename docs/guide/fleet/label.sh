#!/bin/sh
# Judges exported runs, and labels the nodes of a Kubernetes cluster: oscope/fleet=slower, faster or alike, and
# oscope/component with the first component that differs. With --cordon, slower nodes get no new pods.
#
# usage: label.sh RUNS [--cordon]
#
# Ends as `oscope fleet judge` does: 0 all are alike, 3 a node is slower. Needs kubectl and jq.
set -eu

runs=${1:?usage: label.sh RUNS [--cordon]}
cordon=${2:-}
judged=$(mktemp)
trap 'rm -f "$judged"' EXIT
code=0
oscope fleet judge "$runs" --json > "$judged" || code=$?
case $code in
    0 | 1 | 3) ;;
    *) exit "$code" ;;
esac
jq -r '.nodes[] | [.node, .verdict, (.because[0] // "none" | gsub(" "; "-"))] | @tsv' "$judged" |
    while IFS="$(printf '\t')" read -r node verdict component; do
        kubectl label node "$node" --overwrite "oscope/fleet=$verdict" "oscope/component=$component"
        if [ "$cordon" = --cordon ] && [ "$verdict" = slower ]; then
            kubectl cordon "$node"
        fi
    done
exit "$code"
