#!/usr/bin/env bash
# Files against the tools that everybody has, interleaved: in each round oscope and every peer run one
# after the other on the same file, and ratios are taken within a round.
#
# usage: bench/file/run.sh [ROUNDS]
#
# Needs python3. Peers: cat, dd, cksum (coreutils), xxhsum (xxhash), fio; what is missing is left out
# and named. OSCOPE and RANDOM_READS name the programs, which are built if they are not set; DIR where
# files are made (default: here); SIZE_MIB the size of the files that are summed (default 1024);
# LARGEST_MIB how far file sizes go in the last part (default 16384, or what there is room for).
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/program.sh
. "$here/../program.sh"
OSCOPE=$(built "${OSCOPE:-}" oscope -p oscope)
RANDOM_READS=$(built "${RANDOM_READS:-}" examples/random_reads -p oscope-files --example random_reads)
export OSCOPE RANDOM_READS
exec python3 "$here/compare.py" "${1:-7}"
