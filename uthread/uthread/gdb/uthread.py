"""Shows the user threads of programs that use uthread, in gdb 11 or newer, of a running program or a core file:

    (gdb) source uthread/uthread/gdb/uthread.py
    (gdb) info uthreads              all user threads
    (gdb) uthread-backtrace          the stacks of all of them
    (gdb) uthread-backtrace 3        the stack of the thread with this number

The program needs its symbols, but no debug information. The core file must be one of the kernel: gdb's own
(generate-core-file) has no stacks, since it cannot read their guard pages.
"""

import re

import gdb
import gdb.unwinder

# The states and waits of src/thread/control.rs and src/thread/wait.rs, in their order.
STATES = ["free", "has not begun", "is ready", "runs", "waits", "has ended"]
WAITS = [
    "waits for a lock",
    "has signalled and waits for its lock",
    "waits for a condition",
    "joins a thread",
    "is suspended",
    "waits for a semaphore",
    "waits for a channel",
    "waits at a barrier",
    "waits for a function that runs once",
    "waits for input or output",
    "sleeps",
]
FREE, NEW, READY, RUNNING, BLOCKED, FINISHED = range(6)

WORD = 8
LINE_BYTES = 64

# The registers that a switch saves, in the order of the context: the stack pointer, the program counter, and two more.
REGISTERS = {
    "i386:x86-64": ["rsp", "rip", "rbp", "rbx"],
    "aarch64": ["sp", "pc", "x29", "x19"],
}


def memory(address, count):
    return bytes(gdb.selected_inferior().read_memory(address, count))


def number(address, count=WORD):
    return int.from_bytes(memory(address, count), "little")


def words(address, count):
    return [number(address + i * WORD) for i in range(count)]


def tables():
    """The addresses of the tables of all copies of the library."""
    found = gdb.execute("info variables uthread::debugger::TABLE", to_string=True)
    return {int(address, 16) for address in re.findall(r"^(0x[0-9a-f]+) .*TABLE", found, re.M)}


class Thread:
    def __init__(self, places, slot, end):
        size, context, state, wait, identity, name = places
        # As `Control::at_end` has it.
        mixed = ((end >> 14) * 0x9E3779B97F4A7C15) & (2**64 - 1)
        self.control = end - LINE_BYTES - (mixed >> 59) * LINE_BYTES - size
        self.slot = range(slot, end)
        self.state = number(self.control + state, 1)
        self.wait = number(self.control + wait, 1)
        self.id = number(self.control + identity)
        self.context = words(self.control + context, 4)
        start, length = words(self.control + name, 2)
        self.name = memory(start, length).decode(errors="replace") if start and length < 4096 else ""

    def label(self):
        return f"'{self.name}'" if self.name else f"thread {self.id}"

    def does(self):
        return WAITS[self.wait] if self.state == BLOCKED else STATES[self.state]


def threads():
    """All threads that have not ended, by number."""
    found = []
    for table in tables():
        slabs, *places = words(table, 7)
        extent = number(slabs)
        while extent:
            older, start, slot_bytes, carved = words(extent, 4)
            for slot in range(start, start + carved * slot_bytes, slot_bytes):
                thread = Thread(places, slot, slot + slot_bytes)
                if thread.state not in (FREE, FINISHED):
                    found.append(thread)
            extent = older
    return sorted(found, key=lambda thread: thread.id)


class Switched(gdb.unwinder.Unwinder):
    """Makes the newest frame of the selected kernel thread appear to be called by a thread that does not run."""

    def __init__(self):
        super().__init__("uthread")
        self.thread = None

    def __call__(self, frame):
        if self.thread is None or frame.level() != 0:
            return None
        names = REGISTERS[frame.architecture().name()]
        values = dict(zip(names, self.thread.context))
        stack, program = names[0], names[1]
        kind = {name: frame.read_register(name).type for name in names}
        # gdb expects the frames of callers at higher addresses.
        below = gdb.Value(values[stack] - 16).cast(kind[stack])
        caller = frame.create_unwind_info(FrameId(below, frame.read_register(program)))
        for name in names:
            caller.add_saved_register(name, gdb.Value(values[name]).cast(kind[name]))
        return caller


class FrameId:
    def __init__(self, sp, pc):
        self.sp = sp
        self.pc = pc


SWITCHED = Switched()
gdb.unwinder.register_unwinder(None, SWITCHED, replace=True)


def stack_of_kernel_thread(thread):
    """The stack of a thread that runs, if the frame of a kernel thread is on it."""
    selected = gdb.selected_thread()
    try:
        for kernel in gdb.selected_inferior().threads():
            kernel.switch()
            if int(gdb.newest_frame().read_register("sp")) in thread.slot:
                return gdb.execute("backtrace", to_string=True)
    finally:
        selected.switch()
    return "It is on the stack of its kernel thread: see `thread apply all backtrace`.\n"


def stack_of(thread):
    if thread.state == NEW:
        return ""
    if thread.state == RUNNING:
        return stack_of_kernel_thread(thread)
    SWITCHED.thread = thread
    gdb.invalidate_cached_frames()
    try:
        text = gdb.execute("backtrace", to_string=True)
    finally:
        SWITCHED.thread = None
        gdb.invalidate_cached_frames()
    # The first frame is that of the kernel thread.
    frames = re.split(r"^(?=#\d)", text, flags=re.M)
    return "".join(frames[2:])


class InfoUthreads(gdb.Command):
    """Lists all user threads."""

    def __init__(self):
        super().__init__("info uthreads", gdb.COMMAND_STATUS)

    def invoke(self, argument, from_tty):
        for thread in threads():
            print(f"{thread.id:>6}  {thread.label()} {thread.does()}")


class UthreadBacktrace(gdb.Command):
    """Prints the stacks of all user threads, or of those with the numbers given."""

    def __init__(self):
        super().__init__("uthread-backtrace", gdb.COMMAND_STACK)

    def invoke(self, argument, from_tty):
        wanted = {int(word) for word in argument.split()}
        for thread in threads():
            if not wanted or thread.id in wanted:
                print(f"\nUser thread {thread.id}: {thread.label()} {thread.does()}")
                print(stack_of(thread), end="")


InfoUthreads()
UthreadBacktrace()
