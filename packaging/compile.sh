# For build.sh and windows.sh, which read this file in the project's folder: compiles programs that name no folder of
# the builder.

export OSCOPE_SOURCES=$PWD
OSCOPE_CARGO_HOME=$(realpath "${CARGO_HOME:-$HOME/.cargo}")
export OSCOPE_CARGO_HOME
version=$(cargo pkgid --locked -p oscope | sed 's/.*[@#]//')

# need TARGET COMMAND:PACKAGE...: ends the script if Rust's target or a command is missing.
need() {
    local tool target=$1
    shift
    for tool in "$@"; do
        command -v "${tool%%:*}" > /dev/null || { echo "${tool%%:*} is missing: install Debian's ${tool#*:}" >&2 && exit 1; }
    done
    rustc --print target-libdir --target "$target" | xargs test -d ||
        { echo "Rust's target is missing: rustup target add $target" >&2 && exit 1; }
}

# compiled TARGET: the folder of the program for TARGET.
compiled() {
    local maps="-ffile-prefix-map=$PWD=/oscope -ffile-prefix-map=$OSCOPE_CARGO_HOME=/cargo"
    env "CC_$(uname -m)_unknown_linux_musl=musl-gcc" "CFLAGS=$maps" RUSTC_WRAPPER="$PWD/packaging/rustc.sh" \
        CARGO_TARGET_DIR=target/package CARGO_PROFILE_RELEASE_DEBUG=line-tables-only CARGO_PROFILE_RELEASE_STRIP=none \
        cargo build --release --locked -p oscope --features png --target "$1" >&2 &&
        echo "target/package/$1/release"
}

# nameless FULL STRIPPED: ends the script if STRIPPED, made from FULL, names a folder of the builder.
nameless() {
    if strings -a "$2" | grep -F -e "$OSCOPE_SOURCES" -e "$OSCOPE_CARGO_HOME" -e "$HOME/"; then
        echo "$2 names folders of the builder: see above" >&2
        exit 1
    fi
    echo "$2: $(stat -c %s "$1") bytes with symbols, $(stat -c %s "$2") without" >&2
}
