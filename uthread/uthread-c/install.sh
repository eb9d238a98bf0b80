#!/bin/sh
# Installs the libraries, headers, pkg-config and CMake files after `cargo build --release -p uthread-c`:
#     [DESTDIR=/staging] [PREFIX=/usr/local] [CC=cc] uthread/uthread-c/install.sh [FOLDER_OF_THE_BUILT_LIBRARIES]
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
compile() { ${CC:-cc} ${CFLAGS:--O2} -std=gnu11 -fPIC -fexceptions -I "$here/include" "$@"; }
# libuthread-pthread knows the mutexes of glibc only.
names=cxx
if printf '#include <limits.h>\n#ifndef __GLIBC__\n#error\n#endif\n' | compile -E -x c - >/dev/null 2>&1; then
    names="cxx pthread"
fi
for name in $names; do
    compile -c "$here/interpose/$name.c" -o "$work/$name.o"
    ${AR:-ar} rcs "$work/libuthread-$name.a" "$work/$name.o"
    compile ${LDFLAGS:-} -shared "-Wl,-soname,libuthread-$name.so.0" -Wl,-rpath,'$ORIGIN' "$work/$name.o" \
        "$built/libuthread_c.so" -o "$work/libuthread-$name.so"
done

mkdir -p "$root/lib/pkgconfig" "$root/lib/cmake/uthread" "$root/include"
install_library() {
    install -m 644 "$1.a" "$root/lib/$2.a"
    install -m 755 "$1.so" "$root/lib/$2.so.$version"
    ln -sf "$2.so.$version" "$root/lib/$2.so.0"
    ln -sf "$2.so.0" "$root/lib/$2.so"
}
install_library "$built/libuthread_c" libuthread
for name in $names; do
    install_library "$work/libuthread-$name" "libuthread-$name"
done
install -m 644 "$here/include/uthread.h" "$here/include/uthread.hpp" "$root/include"
# sed would take `|` and `&` of the prefix for its own.
escaped=$(printf '%s' "$prefix" | sed 's/[&|\\]/\\&/g')
for module in uthread $(printf 'uthread-%s ' $names); do
    sed "s|@PREFIX@|$escaped|; s|@VERSION@|$version|" "$here/$module.pc.in" >"$root/lib/pkgconfig/$module.pc"
done
install -m 644 "$here/cmake/uthread-config.cmake" "$root/lib/cmake/uthread"
echo "installed in $root"
