#!/usr/bin/env bash
# Builds for aarch64 what has code of its own for it, the kernels (NEON, C) and user threads, and runs
# their tests, emulated (qemu): that they are right is shown, not how fast they are.
#
#     e2e/arm/run.sh [CARGO_ARGUMENT]...
#
# Needs rustup's target aarch64-unknown-linux-gnu and Debian's packages gcc-aarch64-linux-gnu,
# libc6-dev-arm64-cross and qemu-user; without them it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/../.."

skip() {
    echo "skipped: $1"
    exit 0
}

target=aarch64-unknown-linux-gnu
for tool in aarch64-linux-gnu-gcc aarch64-linux-gnu-objdump qemu-aarch64; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
[ -d "$(rustc --print target-libdir --target $target)" ] || skip "rustc has no $target (rustup target add)"

export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc
# Some tests start themselves anew.
export UTHREAD_EMULATOR="qemu-aarch64 -L /usr/aarch64-linux-gnu"
export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER=$UTHREAD_EMULATOR
export OBJDUMP=aarch64-linux-gnu-objdump

# Much of what `platform` asks of the system, qemu does not know: that it builds is what can be shown.
cargo clippy --release --locked --target $target -p oscope-kernels -p oscope-platform -p uthread \
    -p uthread-c --all-targets -- -D warnings

cargo test --release --locked --target $target -p oscope-kernels -p uthread-workload --lib --tests "$@"

# Left out: in the child of a fork, qemu 7.2 starts no kernel thread; `failures` starts itself anew hundreds of times; qemu
# itself needs more memory than one test allows; and it does not install guards (MADV_GUARD_INSTALL), but says that it did.
tests=(--test model_sync)
for file in uthread/uthread/tests/*.rs; do
    name=$(basename "$file" .rs)
    [ "$name" = failures ] || tests+=(--test "$name")
done
cargo test --release --locked --target $target -p uthread --lib "${tests[@]}" "$@" -- \
    --skip no_memory_for_a_stack_is_an_error_and_the_rest_goes_on --skip an_overflow_names_the_thread

# Its other tests build programs with the system's compiler, which makes none for ARM.
cargo test --release --locked --target $target -p uthread-c --lib
