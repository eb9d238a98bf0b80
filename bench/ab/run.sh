#!/usr/bin/env bash
# How soon `oscope ab` finds 1 %, how wide its intervals are compared with those of hyperfine in the same time on the
# same pairs, and how often it calls equal pairs different.
#
# usage: bench/ab/run.sh [ROUNDS [EQUAL_PAIRS]]
#
# Takes about 20 s a round, and 2 s for each equal pair. hyperfine must be installed, and a C compiler. OSCOPE
# names the program, which is built if it is not set.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"${CC:-cc}" -O2 -o "$work/spin" "$here/spin.c"
python3 "$here/compare.py" "$OSCOPE" "$work/spin" "$work" "${1:-10}" "${2:-100}"
