#!/usr/bin/env bash
# Tries what packaging/build.sh built, as root: the static binary in a root with nothing else in it, not even
# /proc, /dev or /tmp; the package in a new Debian.
#
# usage: packaging/try.sh [OUT]
#
# OUT as for build.sh. Needs Debian's debootstrap and a mirror of Debian (MIRROR, http://deb.debian.org/debian by
# default; SUITE, bookworm).
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath "${1:-target/package/out}")
[ "$(id -u)" = 0 ] || { echo "chroot(8) needs root" >&2 && exit 1; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
passed=0

inside() { env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" "$@"; }

# expect CODE TEXT COMMAND...: the command ends with CODE, and says TEXT somewhere.
expect() {
    local code=$1 text=$2 ended=0
    shift 2
    inside "$@" > "$work/said" 2>&1 || ended=$?
    if [ "$ended" != "$code" ] || ! grep -qF -e "$text" "$work/said"; then
        cat "$work/said"
        echo "in $root: $*: ended with $ended and should with $code, and say: $text" >&2
        exit 1
    fi
    passed=$((passed + 1))
}

# try OSCOPE CODE PLACE...: what works in every root; a run ends with CODE there.
try() {
    local oscope=$1 measured=$2 store=("$3" "$4")
    shift 2
    expect 0 'An instrument for operating systems' "$oscope" --help
    expect 0 '.TH oscope 1' "$oscope" man
    for shell in bash zsh fish; do expect 0 oscope "$oscope" completions "$shell"; done
    expect 0 memory.latency "$oscope" list
    expect 0 'address translation' "$oscope" explain memory.tlb
    expect "$measured" Findings "$oscope" run process.calls --budget 3s --no-page "$@"
    expect 0 'A system call takes' "$oscope" show "${store[@]}"
    expect 0 process.calls "$oscope" show latest process.calls "${store[@]}"
    # This root has no fonts. A program without the feature would ask for it.
    expect 1 'this system has no fonts' "$oscope" card --output /card.png "${store[@]}"
    expect 0 "The structure of the store is sound" "$oscope" verify "${store[@]}"
    expect 0 rights "$oscope" doctor
}

root=$work/bare
mkdir "$root"
cp "$out/oscope" "$root/"
expect 1 'HOME is not set; set it or name a store' /oscope run process.calls --budget 3s
# Some of its calls are not measured without /dev/null and /bin/true, which the exit code reports.
try /oscope 1 --store /oscope.db --dir /
expect 0 '/proc' /oscope doctor
expect 1 'threads cannot be preempted in a program that is linked statically to its C library' \
    /oscope run threads.inversion --budget 3s --no-page --store /oscope.db --dir /
rm "$root/oscope" "$root/oscope.db"
rmdir "$root" || { echo "something was left behind in the empty root" >&2 && exit 1; }

root=$work/debian
debootstrap --variant=minbase "${SUITE:-bookworm}" "$root" "${MIRROR:-http://deb.debian.org/debian}" > "$work/said" ||
    { tail "$work/said" >&2 && exit 1; }
cp "$out"/oscope_*.deb "$root/oscope.deb"
inside /usr/bin/dpkg --install /oscope.deb > /dev/null
try /usr/bin/oscope 0 --store /tmp/oscope.db --dir /var/tmp
expect 0 'oscope-run' /usr/bin/find /usr/share/man -name 'oscope-run.1.gz'
expect 0 complete /bin/grep complete /usr/share/bash-completion/completions/oscope
inside /usr/bin/dpkg --purge oscope > /dev/null
left=$(find "$root/usr" -name '*oscope*')
[ -z "$left" ] || { echo "left behind after the package was removed: $left" >&2 && exit 1; }
echo "$passed commands did as they should"
