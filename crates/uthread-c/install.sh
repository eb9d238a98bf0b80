#!/bin/sh
# Installs the libraries, headers, pkg-config and CMake files after `cargo build --release -p uthread-c`:
#     [DESTDIR=/staging] [PREFIX=/usr/local] [CC=cc] crates/uthread-c/install.sh [FOLDER_OF_THE_BUILT_LIBRARIES]
set -eu
here=$(cd "$(dirname "$0")" && pwd)
built=${1:-${CARGO_TARGET_DIR:-$here/../../target}/release}
prefix=${PREFIX:-/usr/local}
version=0.1.0
root=${DESTDIR:-}$prefix

for library in libuthread_c.a libuthread_c.so; do
    [ -f "$built/$library" ] || {
        echo "install.sh: $built/$library is missing: run cargo build --release -p uthread-c" >&2
        exit 1
    }
done
case $prefix in
/*) ;;
*) echo "install.sh: PREFIX must be an absolute path, not $prefix" >&2; exit 1 ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compile() { ${CC:-cc} ${CFLAGS:--O2} -std=gnu11 -fPIC -I "$here/include" "$@"; }
compile -c "$here/cxx/guard.c" -o "$work/guard.o"
${AR:-ar} rcs "$work/libuthread-cxx.a" "$work/guard.o"
compile ${LDFLAGS:-} -shared -Wl,-soname,libuthread-cxx.so.0 -Wl,-rpath,'$ORIGIN' "$work/guard.o" \
    "$built/libuthread_c.so" -o "$work/libuthread-cxx.so"

mkdir -p "$root/lib/pkgconfig" "$root/lib/cmake/uthread" "$root/include"
install -m 644 "$built/libuthread_c.a" "$root/lib/libuthread.a"
install -m 755 "$built/libuthread_c.so" "$root/lib/libuthread.so.$version"
ln -sf "libuthread.so.$version" "$root/lib/libuthread.so.0"
ln -sf libuthread.so.0 "$root/lib/libuthread.so"

install -m 644 "$work/libuthread-cxx.a" "$root/lib/libuthread-cxx.a"
install -m 755 "$work/libuthread-cxx.so" "$root/lib/libuthread-cxx.so.$version"
ln -sf "libuthread-cxx.so.$version" "$root/lib/libuthread-cxx.so.0"
ln -sf libuthread-cxx.so.0 "$root/lib/libuthread-cxx.so"
install -m 644 "$here/include/uthread.h" "$here/include/uthread.hpp" "$root/include"
# sed would take `|` and `&` of the prefix for its own.
escaped=$(printf '%s' "$prefix" | sed 's/[&|\\]/\\&/g')
for module in uthread uthread-cxx; do
    sed "s|@PREFIX@|$escaped|; s|@VERSION@|$version|" "$here/$module.pc.in" >"$root/lib/pkgconfig/$module.pc"
done
install -m 644 "$here/cmake/uthread-config.cmake" "$root/lib/cmake/uthread"
echo "installed in $root"
