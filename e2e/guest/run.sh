#!/usr/bin/env bash
# Runs tests in a machine made for them: two memory nodes, control groups of version 2 and a disk that
# holds swap, all of which few machines have together and no container may touch. It is emulated
# (qemu without KVM), with Debian's kernel; what is measured there is no measure of anything.
#
#     e2e/guest/run.sh [CARGO_ARGUMENT]...
#
# Needs Debian's packages busybox-static, e2fsprogs, kmod, python3 and qemu-system-x86, and downloads its
# package of a kernel, which is unpacked and not installed; without them it says so and succeeds. The
# arguments tell cargo what to build: by default all tests, as the gate has built them already.
set -euo pipefail
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
    echo "skipped: $1"
    exit 0
}

[ "$(uname -m)" = x86_64 ] || skip 'the guest is an x86-64'
for tool in apt-get busybox dpkg-deb mkfs.ext4 prlimit python3 qemu-system-x86_64 setpriv; do
    command -v "$tool" >/dev/null || skip "$tool is not installed"
done
kernel=$(apt-cache depends linux-image-cloud-amd64 2>/dev/null | sed -n 's/.*Depends: //p' | head -1)
[ -n "$kernel" ] || skip 'apt knows of no linux-image-cloud-amd64'
(cd "$work" && apt-get download -q "$kernel" >/dev/null 2>&1) || skip "$kernel cannot be downloaded"
dpkg-deb -x "$work"/*.deb "$work/kernel"

# The programs, at the paths where the tests look for them.
cargo test --release --locked --no-run --message-format=json "$@" >"$work/built.json"
mapfile -t programs < <(python3 - "$work/built.json" <<'PYTHON'
import json, sys

wanted = {("oscope", "bin"): None, ("machine", "test"): None, ("oscope_platform", "lib"): None}
for line in open(sys.argv[1]):
    built = json.loads(line)
    if built["reason"] == "compiler-artifact" and built["executable"]:
        target = built["target"]
        is_test = built["profile"]["test"]
        if (key := (target["name"], target["kind"][0])) in wanted and is_test == (key[1] != "bin"):
            wanted[key] = built["executable"]
assert all(wanted.values()), wanted
print(*wanted.values(), sep="\n")
PYTHON
)
oscope=${programs[0]} machine=${programs[1]} platform=${programs[2]}

# A file system in memory with them, what they need, and what the kernel needs to see a disk.
root=$work/root
mkdir -p "$root"/{bin,dev,disk,etc,proc,sys,tmp}
with_libraries() {
    install -D "$1" "$root$1"
    ldd "$1" | grep -o '/[^ ]*' | while read -r library; do
        [ -e "$root$library" ] || install -D "$library" "$root$library"
    done
}
for program in "${programs[@]}"; do
    with_libraries "$program"
    strip "$root$program"
done
for tool in setpriv prlimit; do
    with_libraries "$(command -v "$tool")"
done
cp "$(command -v busybox)" "$root/bin/busybox"
for applet in chmod kill sh; do
    ln -s busybox "$root/bin/$applet"
done
echo 'root:x:0:0::/:/bin/sh' >"$root/etc/passwd"
modules='virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev virtio_pci virtio_blk'
for module in $modules; do
    cp "$(find "$work/kernel/lib/modules" -name "$module.ko")" "$root/$module.ko"
done
cat >"$root/init" <<EOF
#!/bin/busybox sh
export PATH=/usr/bin:/bin TMPDIR=/disk HOME=/
/bin/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t cgroup2 cgroup2 /sys/fs/cgroup
for module in $modules; do insmod /\$module.ko; done
mount -t ext4 /dev/vda /disk
chmod 1777 /disk
failed=0
test_here() {
    "\$@" --test-threads=1 --nocapture || failed=1
}
test_here $machine memory
test_here $platform linux::confinement linux::cgroup linux::node
echo 'without overcommitment of memory'
echo 2 >/proc/sys/vm/overcommit_memory
echo 25 >/proc/sys/vm/overcommit_ratio
$oscope run memory.bandwidth process.call_styles --quiet --json --budget 20s --dir /disk --store /disk/oscope.db --no-page >/disk/out
# 1 is that the time was used up, which it is here.
[ \$? -le 1 ] || failed=1
! grep 'map memory\|signal' /disk/out || failed=1
# What is promised at most is a quarter of the memory, and no block may take more than a quarter of that.
largest=\$(grep -o '"block_size": *[0-9]*' /disk/out | grep -o '[0-9]*\$' | sort -n | tail -n 1)
[ "\$largest" -gt 0 ] && [ "\$largest" -le \$((1536 / 16 * 1048576)) ] || { echo "blocks of up to \$largest bytes"; failed=1; }
[ "\$(wc -l </proc/swaps)" = 1 ] || { echo 'swap was left on'; failed=1; }
[ -z "\$(ls -d /sys/fs/cgroup/oscope-* 2>/dev/null)" ] || { echo 'a control group was left'; failed=1; }
echo "guest: \$failed failed"
poweroff -f
EOF
chmod +x "$root/init"
(cd "$root" && find . | busybox cpio -o -H newc 2>/dev/null) >"$work/initramfs"
truncate -s 1G "$work/disk"
mkfs.ext4 -q "$work/disk"

# The output of a serial line has carriage returns.
timeout 600 qemu-system-x86_64 -accel tcg -cpu max -smp 2 -m 1536 -nographic -no-reboot \
    -object memory-backend-ram,id=near,size=768M -numa node,nodeid=0,cpus=0,memdev=near \
    -object memory-backend-ram,id=far,size=768M -numa node,nodeid=1,cpus=1,memdev=far \
    -kernel "$work"/kernel/boot/vmlinuz-* -initrd "$work/initramfs" \
    -append 'console=ttyS0 panic=-1 quiet transparent_hugepage=madvise' \
    -drive file="$work/disk",format=raw,if=virtio </dev/null | sed -u 's,\r,,g' | tee "$work/log"
grep -q '^guest: 0 failed' "$work/log"
# What is emulated may be too slow for a point, which is no want of anything.
if grep 'skipped:' "$work/log" | grep -v 'the time was used up'; then
    echo 'a test was skipped in the machine that was made for it'
    exit 1
fi
