#!/usr/bin/env python3
"""Transfers whose sender or receiver is killed at random moments and gone on with: each file is whole under
its name or not there, and nothing unfinished stays in the end."""

import filecmp
import os
import signal
import time

from campaign import Part, Receiver, finish, require

SENDERS = ["auto", "file", "mmap", "uring"]
RECEIVERS = ["auto", "file", "mmap", "uring"]
SIGNALS = [signal.SIGKILL, signal.SIGKILL, signal.SIGTERM, signal.SIGINT]
FILES = {"large": 192 << 20, "odd": (32 << 20) + 12345, "empty": 0, "small": 17}
MOST_KILLS = 5


def no_wrong_file(here, to):
    for name in FILES:
        arrived = to / name
        if arrived.exists():
            require(filecmp.cmp(here / name, arrived, shallow=False), f"{name} is not what was sent")


def names_in(directory):
    return sorted(os.listdir(directory)) if directory.exists() else []


def carry(fault, place, here, token, kill_receiver, undisturbed_s):
    """Sends until all has arrived, killing one side up to a few times on the way; how often it was killed."""
    draw = fault.random
    to = place.root / "to"
    to.mkdir()
    send_method, receive_method = draw.choice(SENDERS), draw.choice(RECEIVERS)
    receiver = Receiver(place, to, "--method", receive_method, *token)
    kills = 0
    try:
        for attempt in range(MOST_KILLS + 1):
            rest = [name for name in FILES if not (to / name).exists()]
            if not rest:
                break
            child = place.start("send", *(here / name for name in rest), "--to", receiver.address, "--resume",
                                "--method", send_method, *token)
            is_last = attempt == MOST_KILLS
            if not is_last:
                time.sleep(draw.uniform(0, undisturbed_s))
                kills += child.poll() is None
                if kill_receiver:
                    receiver.end(draw.choice(SIGNALS))
                    receiver = Receiver(place, to, "--method", receive_method, *token)
                else:
                    child.send_signal(draw.choice(SIGNALS))
            ended = finish(child, 120)
            require("panicked at" not in ended.stderr, ended.stderr)
            # What a killed sender has sent may be stored only after the next one has begun.
            is_right = ended.code == 0 or "a file of this name is there" in ended.stderr
            require(not is_last or is_right, f"{send_method} to {receive_method}: {ended.stderr}")
            no_wrong_file(here, to)
    finally:
        receiver.end()
    missing = [name for name in FILES if not (to / name).exists()]
    require(not missing, f"{missing} did not arrive ({send_method} to {receive_method})")
    left = names_in(to / ".oscope-partial")
    require(not left, f"unfinished copies stayed next to whole files: {left} ({send_method} to {receive_method})")
    require(names_in(to) == sorted(FILES), f"strange files: {names_in(to)}")
    return kills


def usual_s(part, here):
    """How long a transfer takes that nobody disturbs."""
    with part.place() as place:
        (place.root / "to").mkdir()
        receiver = Receiver(place, place.root / "to")
        began = time.monotonic()
        place.oscope("send", *(here / name for name in FILES), "--to", receiver.address).must(0)
        receiver.end()
        return time.monotonic() - began


def main():
    part = Part()
    with part.place() as home:
        here = home.root / "here"
        here.mkdir()
        for name, size in FILES.items():
            (here / name).write_bytes(os.urandom(size // part.count(1, 4)))
        token_file = home.root / "token"
        home.oscope("token", "--output", token_file).must(0)
        # A machine that is busy for a moment would put off all kills until after the end.
        undisturbed_s = min(usual_s(part, here) for _ in range(3))
        for side in ["sender", "receiver"]:
            with part.fault(f"kills of a {side}, gone on with by --resume") as fault:
                kills = 0
                for index in range(part.count(20, 2)):
                    token = ["--token-file", token_file] if index % 2 else []
                    with fault.trial(f"transfer {index}, {'with' if token else 'without'} a token"):
                        with part.place() as place:
                            kills += carry(fault, place, here, token, side == "receiver", undisturbed_s)
                fault.remark = f"{kills} kills of a {side} at work"


main()
