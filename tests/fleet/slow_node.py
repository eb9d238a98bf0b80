"""Runs a command behind a long seccomp filter, which makes its system calls slower and nothing else.

usage: slow_node.py COMMAND...
"""

import ctypes
import os
import struct
import sys

PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2
LOAD, JUMP_IF_EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW = 0x7FFF0000
# The first argument: the kernel remembers which calls a filter allows whatever their arguments, and skips it for them.
FIRST_ARGUMENT = 16
COMPARISONS = 400


class Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def instruction(code, value, if_true=0):
    return struct.pack("HBBI", code, if_true, 0, value)


def main():
    instructions = [instruction(LOAD, FIRST_ARGUMENT)]
    instructions += [instruction(JUMP_IF_EQUAL, 0xABCD0000 + number) for number in range(COMPARISONS)]
    instructions.append(instruction(RETURN, ALLOW))
    buffer = ctypes.create_string_buffer(b"".join(instructions))
    program = Program(len(instructions), ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, ctypes.byref(program), 0, 0) != 0:
        sys.exit(f"no filter: {os.strerror(ctypes.get_errno())}")
    os.execvp(sys.argv[1], sys.argv[1:])


if __name__ == "__main__":
    main()
