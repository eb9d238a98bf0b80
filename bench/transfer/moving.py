"""One measurement: both sides are started, timed and ended."""

import os
import re
import socket
import subprocess
import time
from pathlib import Path

from machine import AHEAD, FOREIGN, TICK, processor_times


class Disturbed(Exception):
    """Others had too much of the processors."""


def await_listener(port):
    wanted = f":{port:04X}"
    for _ in range(5000):
        for table_of in ("/proc/net/tcp", "/proc/net/tcp6"):
            if not os.path.exists(table_of):
                continue
            for line in Path(table_of).read_text().splitlines()[1:]:
                words = line.split()
                if words[1].endswith(wanted) and words[3] == "0A":
                    return
        time.sleep(0.001)
    raise RuntimeError("nobody listens")


def controls_in_use(port):
    """The congestion controls of the connections at these ports, as the kernel names them."""
    ports = " or ".join(f"{side} = :{each}" for each in (port, port + 5000) for side in ("sport", "dport"))
    shown = subprocess.run(["ss", "-tinH", ports], capture_output=True, text=True).stdout
    known = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    return set(re.findall(rf"^\s+(?:.*\s)?({'|'.join(known)})\s", shown, re.MULTILINE))


def go_ahead():
    """Puts the process before all that are not as urgent, whatever these do."""
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))


class Bench:
    def __init__(self, work):
        self.work = work
        self.port = 20000
        self.log = work / "log"
        self.running = []

    def start(self, command, names=(), **options):
        # A shell that is only there to begin a program gives its place to it.
        script = command if re.search(r"[|;&]", command) else f'exec {command} "$@"'
        if AHEAD:
            options["preexec_fn"] = go_ahead
        with self.log.open("ab") as log:
            child = subprocess.Popen(
                ["bash", "-c", script, "-", *names], **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log} | options
            )
        self.running.append(child)
        return child

    def end(self, child):
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        self.running.remove(child)
        if child.returncode != 0:
            lines = self.log.read_text(errors="replace").strip().splitlines()
            raise RuntimeError(lines[-1] if lines else f"exit status {child.returncode}")
        return usage.ru_utime + usage.ru_stime

    def stop(self):
        for child in self.running:
            child.kill()
            child.wait()
        self.running = []

    def move(self, tool, words, during=None):
        """Wall seconds until both sides have ended, and the processor seconds of either."""
        self.port += 1
        words = {**words, "port": self.port, "port2": self.port + 5000}
        self.log.write_bytes(b"")
        names = sorted(map(str, words["source"].iterdir())) if tool.lists else ()
        receiver = door = None
        if tool.inetd:
            door = socket.create_server(("127.0.0.1", self.port))
        elif tool.receiver:
            receiver = self.start(tool.receiver.format(**words))
            await_listener(self.port)
        begin = time.monotonic()
        sender = self.start(tool.sender.format(**words), names)
        if door:
            with door, door.accept()[0] as connection:
                receiver = self.start(
                    tool.receiver.format(**words), stdin=connection, stdout=connection
                )
        if during:
            during(sender, receiver, self.port)
        sent = self.end(sender)
        received = self.end(receiver) if receiver else 0.0
        return time.monotonic() - begin, sent, received

    def measure(self, tool, words):
        busy, stolen = processor_times()
        wall, sent, received = self.move(tool, words)
        busy_after, stolen_after = processor_times()
        room = wall * os.cpu_count()
        foreign, steal = busy_after - busy - sent - received, stolen_after - stolen
        # The kernel counts ticks: a few more or less mean nothing.
        if not AHEAD and foreign > FOREIGN * room + 4 * TICK:
            raise Disturbed(f"other processes\t{foreign / room:.2f}")
        if steal > FOREIGN / 2 * room + 2 * TICK:
            raise Disturbed(f"time stolen by the host\t{steal / room:.2f}")
        return wall, sent, received
