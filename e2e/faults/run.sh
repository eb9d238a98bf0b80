#!/usr/bin/env bash
# The fault campaign: everything that is likely to go wrong around oscope, done to the real program.
#
#     e2e/faults/run.sh OSCOPE [--short] [--seed N] [PART]...
#
# Each part is a file next to this one: kills, transfers, disks, missing, small, clocks, flips, crowds,
# sources. Without names all of them run: for about forty minutes, or for two with --short, which tries
# each fault a few times and leaves out `sources`, the campaigns that `cargo test` runs anyway.
#
# At the end it prints a table of what was tried, what survived and what failed, and ends with 1 if
# anything failed. What this machine does not allow is skipped, with the reason. Everything it makes lies
# in a temporary directory and is undone, also after Ctrl-C.
set -euo pipefail

usage() {
    echo "usage: $0 OSCOPE [--short] [--seed N] [PART]..." >&2
    exit 2
}

here=$(realpath "$(dirname "$0")")
all=(kills transfers disks missing small clocks flips crowds sources)
oscope= parts=() options=()
seed=$((RANDOM * 32768 + RANDOM))
while (($#)); do
    case "$1" in
    --short) options+=(--short) ;;
    --seed) seed=${2:?a number} && shift ;;
    -*) usage ;;
    *) if [ -z "$oscope" ]; then oscope=$1; else parts+=("$1"); fi ;;
    esac
    shift
done
[ -n "$oscope" ] || usage
oscope=$(realpath -e "$oscope")
((${#parts[@]})) || parts=("${all[@]}")
for part in "${parts[@]}"; do
    [[ " ${all[*]} " == *" $part "* ]] || { echo "there is no part '$part'; there are ${all[*]}" >&2; exit 2; }
done

work=$(mktemp -d -t oscope-faults-XXXXXX)
running=
undo() {
    set +e
    # A part ends what it has started before it ends itself.
    [ -n "$running" ] && kill -TERM "$running" 2>/dev/null && wait "$running" 2>/dev/null
    while read -r mount; do
        umount -l "$mount"
    done < <(awk -v work="$work/" 'index($2, work) == 1 { print $2 }' /proc/self/mounts | sort -r)
    rm -rf --one-file-system "$work"
}
trap undo EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

chmod 755 "$work"
touch "$work/rows"
echo "the fault campaign, seed $seed: ${parts[*]}"
for part in "${parts[@]}"; do
    echo "$part"
    # In the background, so that a signal is heeded at once; there, a shell ignores some signals.
    PYTHONDONTWRITEBYTECODE=1 env --default-signal python3 "$here/$part.py" "$oscope" "$work" \
        --seed "$seed" "${options[@]}" &
    running=$!
    wait "$running" || echo "$part ended with $?" | tee -a "$work/broken"
    running=
done

printf '\n%s seconds, seed %s\n\n' "$SECONDS" "$seed"
python3 "$here/table.py" "$work/rows"
[ ! -e "$work/broken" ] || { cat "$work/broken" && exit 1; }
