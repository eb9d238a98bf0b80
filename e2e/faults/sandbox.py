#!/usr/bin/env python3
"""Starts a program without something that most systems have:

    sandbox.py [--hide DIR]... [--deny CALL=ERROR]... -- PROGRAM [ARGUMENT]...

--hide puts an empty file system in memory over a directory, in a mount namespace of its own, and takes
root. --deny lets a system call fail by a seccomp(2) filter, as in `clone3=ENOSYS`.
"""

import argparse
import ctypes
import errno
import os
import platform
import struct
import sys

# Numbers of calls on x86-64 and on aarch64, from the kernel's tables.
CALLS = {
    "clone3": (435, 435),
    "copy_file_range": (326, 285),
    "fallocate": (285, 47),
    "getcpu": (309, 168),
    "io_uring_setup": (425, 425),
    "memfd_create": (319, 279),
    "perf_event_open": (298, 241),
    "sched_setaffinity": (203, 122),
    "statx": (332, 291),
    "timerfd_create": (283, 85),
    "userfaultfd": (323, 282),
}
PROCESSORS = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
CLONE_NEWNS = 0x00020000
MS_REC, MS_PRIVATE = 0x4000, 1 << 18
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
# linux/bpf_common.h and linux/seccomp.h
LOAD_WORD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, FAIL = 0x7FFF0000, 0x00050000

libc = ctypes.CDLL(None, use_errno=True)


def check(outcome, what):
    if outcome != 0:
        sys.exit(f"sandbox: {what}: {os.strerror(ctypes.get_errno())}")


def hide(directories):
    check(libc.unshare(CLONE_NEWNS), "a mount namespace")
    check(libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None), "a private mount")
    for directory in directories:
        check(libc.mount(b"tmpfs", directory.encode(), b"tmpfs", 0, None), f"a mount on {directory}")


def deny(calls):
    """A filter that looks at the processor, then compares the call's number with each that fails."""
    column, processor = PROCESSORS[platform.machine()]
    program = [(LOAD_WORD, 0, 0, 4), (JUMP_IF_EQUAL, 1, 0, processor), (RETURN, 0, 0, ALLOW), (LOAD_WORD, 0, 0, 0)]
    for text in calls:
        call, error = text.split("=")
        program += [(JUMP_IF_EQUAL, 0, 1, CALLS[call][column]), (RETURN, 0, 0, FAIL | getattr(errno, error))]
    program.append((RETURN, 0, 0, ALLOW))
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("HxxxxxxP", len(program), ctypes.addressof(buffer))
    check(libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no new privileges")
    check(libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, header, 0, 0), "a filter")


parser = argparse.ArgumentParser()
parser.add_argument("--hide", action="append", default=[])
parser.add_argument("--deny", action="append", default=[])
parser.add_argument("command", nargs="+")
arguments = parser.parse_args()
if arguments.hide:
    hide(arguments.hide)
if arguments.deny:
    deny(arguments.deny)
os.execvp(arguments.command[0], arguments.command)
