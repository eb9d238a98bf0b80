#!/usr/bin/env bash
# compute.arithmetic against other ways of measuring the same; ../peers.sh says how, and which variables
# there are.
#
# usage: bench/arithmetic/run.sh [ROUNDS]
#
# A round takes about 35 s. Needs an x86-64 processor with FMA, a C compiler and python3; uses
# `sysbench` and the newest `llvm-mca` (Debian: llvm) where they are installed.
#
# Left out: stress-ng and `perf bench`, since neither tells what an operation takes (a bogo operation
# is a mix); lmbench's lat_ops, since Debian has no package of it.
set -euo pipefail

rounds=${1:-5}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=bench/peers.sh
. "$here/../peers.sh"

if [ "$(uname -m)" != x86_64 ]; then
    echo "the instructions of operations.c are those of x86-64" >&2
    exit 1
fi
cc -O2 -o "$work/operations" "$here/operations.c"
mca=$(compgen -G "/usr/bin/llvm-mca*" | sort -V | tail -n 1) || true
if [ -n "$mca" ]; then
    "$mca" -instruction-tables "$here/instructions.s" > "$out/published.txt" 2> /dev/null ||
        echo "left out: $mca does not know this processor" >&2
else
    echo "left out: llvm-mca is not installed" >&2
fi

# Divisions in an event of sysbench, which divides each number from 3 to 10000 by 2 and on, up to its
# root or the first that leaves nothing.
divisions=117527

arithmetic() {
    measure compute.arithmetic
    while read -r name operation type; do
        put_at() {
            put "$1" "$2" compute.arithmetic "$3" \
                "\"operation\":\"$operation\",\"type\":\"$type\",\"optimisation\":3,\"compiler\":\"Rust\""
        }
        operation=$(echo "$operation" | tr _ ' ') type=$(echo "$type" | tr _ ' ')
        for metric in latency throughput; do
            put_at assembly "$(on_one_cpu "$work/operations" "$name" $metric)" $metric
        done
        if [ "$name" = divide_u64 ] && has sysbench; then
            put_at sysbench "$(on_one_cpu sysbench cpu --cpu-max-prime=10000 --time=2 run |
                awk -v each="$divisions" '/events per second/ { print 1e9 / $4 / each }')" throughput
        fi
    done << 'EOF'
add_u64 add integer_64
multiply_u64 multiply integer_64
divide_u64 divide integer_64
add_f64 add float_64
multiply_f64 multiply float_64
divide_f64 divide float_64
fused_f64 multiply_and_add float_64
root_f64 square_root float_64
EOF
}

in_rounds "$rounds" arithmetic
python3 "$here/cycles.py" "$out"
