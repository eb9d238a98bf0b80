#!/usr/bin/env bash
# What a program gains that loads oscope's advice when it starts: a file scan and passes over an
# array, each in the usual way and as advised, turn and turn about.
#
# usage: bench/advice/run.sh [ROUNDS]
#
# Measures what the advice takes first (a minute or two). OSCOPE names the program, which is built if
# it is not set; DIR where files are made.
set -euo pipefail

rounds=${1:-15}
here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
work=$(mktemp -d -p "${DIR:-.}")
trap 'rm -rf "$work"' EXIT

# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
"$OSCOPE" run file.block_size memory.subloop --store "$work/store" --dir "$work" --no-page --quiet \
    > "$work/summary.txt"
"$OSCOPE" advise --store "$work/store"
"$OSCOPE" advise --store "$work/store" --json > "$work/advice.json"

dd if=/dev/urandom of="$work/file" bs=1M count=256 2> "$work/dd.txt"
OSCOPE_ADVICE=$work/advice.json cargo run --release --quiet --manifest-path "$root/Cargo.toml" \
    -p oscope-advice --example tuned -- "$work/file" "$rounds"
