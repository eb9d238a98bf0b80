#!/usr/bin/env bash
# Builds what people install:
#
#     OUT/oscope                            a static binary, which needs nothing but a kernel
#     OUT/oscope.licences                   what must go with it to others
#     OUT/oscope.debug                      its symbols; next to it, debuggers and backtraces find them
#     OUT/oscope_VERSION_ARCH.deb           a package for Debian 12 and newer, with manual pages and completions
#     OUT/oscope-dbgsym_VERSION_ARCH.deb    the symbols of the package's program
#
# usage: packaging/build.sh [OUT]
#
# OUT is target/package/out by default. Needs Debian's dpkg-dev and musl-tools, python3, and Rust's target
# x86_64-unknown-linux-musl (`rustup target add x86_64-unknown-linux-musl`). Takes some minutes: everything is
# compiled twice, in a folder of its own, so that the program names no folder of this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

machine=$(uname -m)
gnu=$machine-unknown-linux-gnu
musl=$machine-unknown-linux-musl
out=${1:-target/package/out}
mkdir -p "$out"
out=$(realpath "$out")

. packaging/compile.sh
need "$musl" musl-gcc:musl-tools dpkg-shlibdeps:dpkg-dev dpkg-deb:dpkg python3:python3 objcopy:binutils

# split PROGRAM TO SYMBOLS: PROGRAM without its symbols, which go to a file of their own.
split() {
    objcopy --only-keep-debug --compress-debug-sections "$1" "$3"
    objcopy --strip-all --add-gnu-debuglink="$3" "$1" "$2"
    chmod 755 "$2"
    chmod 644 "$3"
    nameless "$1" "$2"
}

static=$(compiled "$musl")/oscope
split "$static" "$out/oscope" "$out/oscope.debug"
{
    python3 packaging/licences.py "$musl"
    printf '\n%s\nThe C library musl:\n\n' "$(printf '%.0s-' {1..78})"
    cat /usr/share/doc/musl-dev/copyright
} > "$out/oscope.licences"

dynamic=$(compiled "$gnu")/oscope
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
architecture=$(dpkg --print-architecture)
id=$(readelf -n "$dynamic" | awk '/Build ID:/ { print $3 }')

# dpkg-shlibdeps reads debian/control of the folder in which it runs, and finds a package by its DEBIAN.
mkdir "$work/debian"
printf 'Source: oscope\n\nPackage: oscope\nArchitecture: any\n' > "$work/debian/control"
root=$work/debian/oscope
mkdir -p "$root/DEBIAN" "$root/usr/bin" "$root/usr/share/doc/oscope" "$root/usr/share/fish/vendor_completions.d" \
    "$root/usr/share/bash-completion/completions" "$root/usr/share/zsh/vendor-completions"
symbols=$work/debian/oscope-dbgsym
mkdir -p "$symbols/DEBIAN" "$symbols/usr/lib/debug/.build-id/${id:0:2}"
split "$dynamic" "$root/usr/bin/oscope" "$symbols/usr/lib/debug/.build-id/${id:0:2}/${id:2}.debug"

program=$root/usr/bin/oscope
"$program" --quiet man --dir "$root/usr/share/man/man1"
"$program" completions bash > "$root/usr/share/bash-completion/completions/oscope"
"$program" completions zsh > "$root/usr/share/zsh/vendor-completions/_oscope"
"$program" completions fish > "$root/usr/share/fish/vendor_completions.d/oscope.fish"
cp CHANGELOG.md "$root/usr/share/doc/oscope/changelog"
cp README.md "$root/usr/share/doc/oscope/"
python3 packaging/licences.py "$gnu" > "$root/usr/share/doc/oscope/copyright"
gzip -9n "$root"/usr/share/man/man1/*.1 "$root/usr/share/doc/oscope/changelog"

depends=$(cd "$work" && dpkg-shlibdeps -O debian/oscope/usr/bin/oscope | sed 's/^shlibs:Depends=//')

# package FOLDER FIELDS: FOLDER as a package, whose control file has these fields.
package() {
    {
        printf 'Version: %s\nArchitecture: %s\n' "$version" "$architecture"
        printf 'Maintainer: The oscope authors <oscope@localhost>\nInstalled-Size: %s\n' "$(du -sk "$1" | cut -f1)"
        cat
    } > "$1/DEBIAN/control"
    dpkg-deb --root-owner-group -Zxz --build "$1" "$out/$(basename "$1")_${version}_$architecture.deb"
}
package "$root" << CONTROL
Package: oscope
Depends: $depends
Section: utils
Priority: optional
Description: instrument for operating systems
 Measures what memory, files, processes and threads cost on this machine,
 with intervals that predict the next run, and keeps the results.
CONTROL
package "$symbols" << CONTROL
Package: oscope-dbgsym
Depends: oscope (= $version)
Section: debug
Priority: optional
Build-Ids: $id
Description: debug symbols for oscope
CONTROL
ls -l "$out"
