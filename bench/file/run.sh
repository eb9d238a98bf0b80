#!/bin/sh
# Files beside the tools that everybody has, interleaved: in each round oscope and every peer run one
# after the other on the same file, and ratios are taken within a round.
#
# usage: bench/file/run.sh [ROUNDS]
#
# Needs python3. Peers: cat, dd, cksum (coreutils), xxhsum (xxhash), fio; what is missing is left out
# and named. OSCOPE and RANDOM_READS name the programs, which are built if they are not set; DIR where
# files are made (default: here); SIZE_MIB the size of the files that are summed (default 1024);
# LARGEST_MIB how far file sizes go in the last part (default 16384, or what there is room for).
set -eu

here=$(cd "$(dirname "$0")" && pwd)
root=$here/../..
if [ -z "${OSCOPE:-}" ]; then
    cargo build --release --manifest-path "$root/Cargo.toml" -p oscope
    OSCOPE=$root/target/release/oscope
fi
if [ -z "${RANDOM_READS:-}" ]; then
    cargo build --release --manifest-path "$root/Cargo.toml" -p oscope-files --example random_reads
    RANDOM_READS=$root/target/release/examples/random_reads
fi
export OSCOPE RANDOM_READS
exec python3 "$here/compare.py" "${1:-7}"
