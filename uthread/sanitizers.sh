#!/usr/bin/env bash
# Runs tests of the user threads under tools that find what tests alone do not: ThreadSanitizer (races),
# miri (undefined behaviour) and valgrind (memory). By hand, since each takes minutes; what they found
# is in uthread/README.md.
#
#     uthread/sanitizers.sh [thread|miri|valgrind]...
#
# Needs rustup's nightly toolchain with the components rust-src and miri, and Debian's package valgrind.
# What is missing is named, and the script fails.
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-gnu
export CARGO_TARGET_DIR=${CARGO_TARGET_DIR:-target}/sanitizers

# Races between user threads of different workers, and of the same one in what the library does. The sanitizer
# learns of each switch (`context/fiber.rs`), and the standard library is built with it. Runtimes are
# cooperative: the sanitizer is part of the program's own text, where ticks would interrupt it. So tests that
# need ticks are left out, and one that limits address space, of which the sanitizer takes its own.
thread() {
    RUSTFLAGS="-Zsanitizer=thread --cfg uthread_tsan" \
        cargo +nightly test --release --locked -Zbuild-std --target "$target" -p uthread --no-fail-fast \
        --test barging --test cancelling --test locks --test monitor --test net --test outside --test random --test scopes \
        --test select --test sharing --test threads --test timeouts --test transfers --test workers -- \
        --skip under_ticks --skip the_condition_holds_for_every_waiter_that_is_signalled \
        --skip preempted_threads --skip next_to_a_thread_that_computes --skip ticks_in_cached_reads \
        --skip no_memory_for_a_stack
}

# Undefined behaviour and races in what needs no switch, since miri runs no inline assembly: the scheduler,
# control blocks, and the structures that workers share, on kernel threads. What a thread never frees is
# meant to stay.
miri() {
    export MIRIFLAGS="-Zmiri-disable-isolation -Zmiri-ignore-leaks"
    cargo +nightly miri test --locked -p uthread --lib -- scheduler thread::tests
    cargo +nightly miri test --locked -p uthread --test model
}

# Memory that is not there or was never written. The library tells valgrind of its stacks.
valgrind() {
    CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER="valgrind --quiet --leak-check=no --error-exitcode=1" \
        cargo test --release --locked --target "$target" -p uthread --test threads --test locks --test sharing --test select
}

tools=("$@")
((${#tools[@]})) || tools=(thread miri valgrind)
for tool in "${tools[@]}"; do
    case $tool in
    thread | miri | valgrind) ;;
    *)
        echo "usage: $0 [thread|miri|valgrind]..." >&2
        exit 2
        ;;
    esac
done
for tool in "${tools[@]}"; do
    printf '\n== %s\n' "$tool"
    "$tool"
done
