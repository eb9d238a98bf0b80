# shellcheck shell=bash
# Sourced by the scripts that measure a program of oscope's: cargo builds it if it is not named.

# built NAMED PATH CARGO_ARGUMENT...: NAMED, or the program at PATH below the target directory's
# `release`, where `cargo build` with these arguments leaves it.
built() {
    local named=$1 path=$2 root
    shift 2
    root=$(dirname "${BASH_SOURCE[0]}")/..
    if [ -z "$named" ]; then
        cargo build --release --locked --manifest-path "$root/Cargo.toml" "$@" >&2 || return
        named=$(realpath "${CARGO_TARGET_DIR:-$root/target}/release/$path")
    fi
    echo "$named"
}
