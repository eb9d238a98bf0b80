"""What the measurements ask of the machine: quiet, memory that is ready, and congestion control."""

import ctypes
import os
import shutil
import subprocess
import time
from pathlib import Path

BLOCK = 512 << 10
TICK = 1 / os.sysconf("SC_CLK_TCK")
CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")
LIBC = ctypes.CDLL(None, use_errno=True)
# fallocate(2): give room back, and leave the size as it is.
PUNCH_HOLE = 0x01 | 0x02


def option(name, default):
    return os.environ.get(name) or default


FOREIGN = float(option("FOREIGN", 0.05))
PATIENCE = int(option("PATIENCE", 5))
AHEAD = bool(option("AHEAD", ""))
OWN_NETWORK = "OWN_NETWORK" in os.environ


def processor_times():
    """Seconds in which the processors worked in processes, and those that were stolen from them."""
    fields = Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    user, nice, system, steal = (int(fields[index]) * TICK for index in (0, 1, 2, 7))
    return user + nice + system, steal


def await_quiet():
    """Waits, but not for ever, until others leave the processors alone: a transfer that they disturb
    is made in vain."""
    if AHEAD:
        return
    for _ in range(PATIENCE * 5):
        busy, _ = processor_times()
        time.sleep(0.2)
        if processor_times()[0] - busy <= FOREIGN * 0.2 * os.cpu_count() + 2 * TICK:
            return


class Pool:
    """Free memory that the host has given already, and does not take back.

    A guest reports free memory to its host, which takes it away; the next write pays the host's
    faults, and a transfer takes two to four times as long. Only large blocks are reported (2 MiB and
    more). So a file is written once, and given back all but a page of each 2 MiB: what is free
    between the pages stays in small blocks, which are taken first. Writing and removing a file before
    each transfer is not enough: every two seconds the guest reports anew.
    """

    def __init__(self, size):
        self.size = size
        folder = Path("/dev/shm")
        self.path = folder / f"oscope-bench-pool-{os.getpid()}" if folder.is_dir() else None

    def refill(self):
        if self.path is None:
            return
        write_zeros(self.path, self.size)
        with self.path.open("r+b") as file:
            for offset in range(0, self.size, 2 << 20):
                length = min(2 << 20, self.size - offset) - 4096
                LIBC.fallocate(
                    file.fileno(), PUNCH_HOLE, ctypes.c_long(offset + 4096), ctypes.c_long(length)
                )

    def remove(self):
        if self.path is not None:
            self.path.unlink(missing_ok=True)


def write_zeros(path, size):
    block = memoryview(bytearray(BLOCK))
    with open(os.open(path, os.O_WRONLY | os.O_CREAT, 0o600), "wb", buffering=0) as file:
        for _ in range(size // BLOCK):
            file.write(block)


def read_through(path):
    buffer = bytearray(BLOCK)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


def empty(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)


def file_system(folder):
    named = subprocess.run(["stat", "-f", "-c", "%T", folder], capture_output=True, text=True)
    return named.stdout.strip().replace("ext2/ext3", "ext4")


def set_control(name):
    if OWN_NETWORK and CONTROL.exists():
        CONTROL.write_text(name)
