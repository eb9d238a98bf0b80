#!/usr/bin/env python3
"""Crowds at a receiver's door: hundreds of connections that say nothing, nonsense or half a greeting. Whoever
has something to send gets through, and the receiver has no more descriptors in the end than before."""

import os
import socket
import time

from campaign import Part, Receiver, require, wait_until

GREETING = b"oscope\r\n"


def nothing(draw, connection):
    """It only waits."""


def nonsense(draw, connection):
    connection.sendall(draw.randbytes(draw.randrange(1, 4096)))


def half_a_greeting(draw, connection):
    connection.sendall(GREETING[: draw.randrange(1, len(GREETING) + 1)])


def reset(draw, connection):
    # Closed without a goodbye.
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    connection.close()


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def crowd(part, fault, kind, count):
    with part.place() as place:
        to, sent = place.root / "to", place.root / "sent"
        to.mkdir()
        sent.write_bytes(os.urandom(1 << 20))
        receiver = Receiver(place, to, "--timeout", "3s")
        host, port = receiver.address.rsplit(":", 1)
        at_rest = descriptors(receiver.child)
        connections = []
        try:
            for _ in range(count):
                connection = socket.create_connection((host, int(port)), timeout=10)
                connections.append(connection)
                try:
                    kind(fault.random, connection)
                except OSError:
                    # The receiver has shown it out already.
                    pass
            began = time.monotonic()
            place.oscope("send", sent, "--to", receiver.address, timeout=60).must(0)
            took = time.monotonic() - began
            require((to / "sent").read_bytes() == sent.read_bytes(), "what arrived is not what was sent")
            require(wait_until(lambda: descriptors(receiver.child) <= at_rest + 2, 30),
                    f"{descriptors(receiver.child)} descriptors and not {at_rest}")
            require(receiver.child.poll() is None, "the receiver is gone")
            return took
        finally:
            for connection in connections:
                connection.close()
            receiver.end()


part = Part()
for kind in [nothing, nonsense, half_a_greeting, reset]:
    with part.fault(f"a crowd of connections: {kind.__name__.replace('_', ' ')}") as fault:
        slowest = 0.0
        for count in [200, 500][: part.count(2, 1)]:
            with fault.trial(f"{count} connections"):
                slowest = max(slowest, crowd(part, fault, kind, count))
        fault.remark = f"a sender took at most {slowest:.1f} s"
