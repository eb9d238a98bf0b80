#!/usr/bin/env bash
# Measures uthread and its peers, interleaved, each round in fresh processes, and prints two tables: medians with the lowest
# and the highest of all rounds, and the ratios to uthread in the same round.
#
#   uthread/bench/run.sh [ROUNDS [PEER]...]
#
# Without names, all peers: uthread c fifo cooperative kernel corosensei may tokio go boost dill st ossrs. c is uthread through
# its interface of C, fifo its lock that is handed over in the order of coming.
# Go, Boost.Fiber and State Threads (Debian: golang, g++, libboost-fiber-dev, libst-dev) are left out if they are not there.
# So are those that Debian does not have. Variables name the folders where they were built: DILL for libdill, with libdill.h
# and libdill.a, and OSSRS for State Threads of github.com/ossrs/state-threads, with st.h and libst.a.
# Processes run on the first two processors, so that no peer has more than another.
set -euo pipefail
cd "$(dirname "$0")"
rounds=${1:-7}
wanted=("${@:2}")
target=${CARGO_TARGET_DIR:-target}
mkdir -p "$target"
cargo build --release --quiet
peers="$target/release/uthread-peers"

names=(uthread fifo cooperative kernel corosensei may tokio)
if command -v cc >/dev/null; then
    cargo rustc --release --quiet --manifest-path ../uthread-c/Cargo.toml --lib --crate-type staticlib \
        --target-dir "$target"
    cc -O2 -I ../uthread-c/include uthread.c "$target/release/libuthread_c.a" -pthread -ldl -lm \
        -o "$target/peer-c" && names=(uthread c "${names[@]:1}")
fi
if command -v go >/dev/null; then
    go build -o "$target/peer-go" go/main.go && names+=(go)
fi
if command -v g++ >/dev/null &&
    g++ -O2 -std=c++17 boost.cpp -o "$target/peer-boost" -lboost_fiber -lboost_context 2>/dev/null
then
    names+=(boost)
fi

if [ -n "${DILL:-}" ]; then
    cc -O2 -I "$DILL" dill.c "$DILL/libdill.a" -pthread -o "$target/peer-dill" && names+=(dill)
fi
if command -v cc >/dev/null && cc -O2 st.c -lst -o "$target/peer-st" 2>/dev/null; then
    names+=(st)
fi
if [ -n "${OSSRS:-}" ]; then
    cc -O2 -I "$OSSRS" st.c "$OSSRS/libst.a" -o "$target/peer-ossrs" && names+=(ossrs)
fi

if ((${#wanted[@]})); then
    for peer in "${wanted[@]}"; do
        [[ " ${names[*]} " == *" $peer "* ]] || { echo "there is no peer $peer here" >&2; exit 2; }
    done
    names=("${wanted[@]}")
fi

results=$(mktemp)
trap 'rm -f "$results"' EXIT
for round in $(seq "$rounds"); do
    for peer in "${names[@]}"; do
        echo "round $round of $rounds: $peer" >&2
        case $peer in
        c | go | boost | dill | st | ossrs) command=("$target/peer-$peer") ;;
        *) command=("$peers" measure "$peer") ;;
        esac
        taskset -c 0,1 "${command[@]}" | sed "s/^/$peer /" >>"$results" || echo "$peer failed" >&2
    done
done
"$peers" table <"$results"
