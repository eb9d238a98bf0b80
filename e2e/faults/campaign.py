"""What all parts of the fault campaign share: places of their own, the program in them, and the count."""

import argparse
import atexit
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager, suppress
from pathlib import Path

# Of 24 hours, after which a scratch directory without a lock counts as abandoned.
LONG_AGO_S = 2 * 24 * 3600
started = []


# A run of few points, so that also a busy machine gives each the processes and passes that an estimate takes.
BRIEF = ["process.calls", "--at", "call=getpid", "--at", "call=open+close", "--at", "call=fork+exit+wait"]


class Skip(Exception):
    """This machine does not allow a fault; the text says why."""


def require(condition, reason):
    """As `assert`, which Python can leave out."""
    if not condition:
        raise AssertionError(reason)


def need_root():
    if os.geteuid() != 0:
        raise Skip("it takes root")


def need_tools(*tools):
    for tool in tools:
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed")


class Part:
    """One file of the campaign, with the command line that run.sh gives it."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument("oscope", type=Path)
        parser.add_argument("work", type=Path)
        parser.add_argument("--seed", type=int, default=1)
        parser.add_argument("--short", action="store_true")
        arguments = parser.parse_args()
        self.name = Path(sys.argv[0]).stem
        self.oscope = arguments.oscope
        self.work = arguments.work
        self.is_short = arguments.short
        self.seed = arguments.seed
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))

    def count(self, whole, short):
        """How often something is tried."""
        return short if self.is_short else whole

    @contextmanager
    def fault(self, name):
        """A line of the table. A `Skip` in the body ends it."""
        fault = Fault(self, name)
        try:
            yield fault
        except Skip as reason:
            fault.remark = f"skipped: {reason}"
        fault.write()

    @contextmanager
    def place(self):
        """A directory of its own, removed with all that lies in it."""
        root = Path(tempfile.mkdtemp(prefix=f"{self.name}-", dir=self.work))
        try:
            yield Place(self, root)
        finally:
            shutil.rmtree(root, ignore_errors=True)


class Fault:
    """Something that goes wrong, and how often the program survived it."""

    def __init__(self, part, name):
        self.part = part
        self.name = name
        self.tried = 0
        self.failed = 0
        self.remark = ""
        self.began = time.monotonic()
        # The same draws for the same seed, whichever other parts run.
        self.random = random.Random(f"{part.seed} {part.name} {name}")

    @contextmanager
    def trial(self, what):
        """One try. Whatever it raises has failed it, but for a `Skip`, which goes on."""
        self.tried += 1
        try:
            yield
        except Skip:
            self.tried -= 1
            raise
        except Exception as error:
            self.failed += 1
            reason = str(error) if isinstance(error, AssertionError) else repr(error)
            print(f"FAILED {self.part.name}: {self.name}: {what}: {reason}", flush=True)

    def write(self):
        row = {"part": self.part.name, "fault": self.name, "tried": self.tried,
               "survived": self.tried - self.failed, "failed": self.failed, "remark": self.remark}
        with open(self.part.work / "rows", "a", encoding="utf-8") as rows:
            rows.write(json.dumps(row) + "\n")
        took = f"{time.monotonic() - self.began:.0f} s"
        print(f"  {took:>6}  {self.name}: {self.tried} tried, {self.failed} failed  {self.remark}", flush=True)


class Ended:
    """A program that has ended, and all that it said."""

    def __init__(self, words, code, stdout, stderr):
        self.words = words
        self.code = code
        self.stdout = stdout
        self.stderr = stderr.decode(errors="replace")

    @property
    def text(self):
        return self.stdout.decode(errors="replace")

    def json(self):
        require(self.stdout, f"{self.words} shows nothing: {self.stderr[-2000:]}")
        return json.loads(self.stdout)

    def must(self, *codes):
        """Checks the exit code, and that nothing panicked."""
        said = f"{self.words} ended with {self.code}: {self.stderr[-2000:]}"
        require("panicked at" not in self.stderr, said)
        require(self.code in codes, said)
        return self

    def must_fail(self, pattern, *codes):
        """The same for a command that has to give a reason."""
        self.must(*(codes or (1,)))
        require(re.search(pattern, self.stderr), f"{self.words} does not say {pattern}: {self.stderr[-2000:]}")
        return self


class Place:
    """A directory with a store and a directory for scratch files."""

    def __init__(self, part, root):
        self.program = part.oscope
        self.root = root
        # Where runs are kept; `None` leaves that to the program.
        self.store = root / "oscope.db"
        self.scratch = root / "scratch"
        self.scratch.mkdir()

    def command(self, *words):
        store = ["--store", str(self.store)] if self.store else []
        return [str(self.program), *store, *map(str, words)]

    def start(self, *words, wrapper=(), **options):
        """Starts the program; it is killed at the end of this one, if not before."""
        words = [*map(str, wrapper), *self.command(*words)]
        return start(words, **options)

    def oscope(self, *words, timeout=300, **options):
        """Runs the program to its end."""
        return finish(self.start(*words, **options), timeout)

    def run(self, *what, budget="4s", json=True, **options):
        """Measures something in a short time."""
        form = ["--json"] if json else []
        return self.oscope("run", *what, "--budget", budget, "--no-page", "--dir", self.scratch, *form, **options)

    def leftovers(self):
        """What runs have left behind in the scratch directory."""
        return sorted(self.scratch.glob("oscope-scratch-*"))

    def measure(self, *what):
        """A run to come back to: what is shown of it, which has to stay the same."""
        self.run(*(what or BRIEF), budget="2s").must(0, 1)
        return self.oscope("show", "1").must(0).text


class Receiver:
    """`oscope receive` on this machine, in the background."""

    def __init__(self, place, to, *words):
        self.log = place.root / "receiver.log"
        with open(self.log, "wb") as log:
            self.child = place.start("receive", to, "--listen", "127.0.0.1:0", *words, stdout=log, stderr=log)
        require(wait_until(lambda: self.said("listening on") or self.child.poll() is not None), "it never listened")
        require(self.said("listening on"), self.log.read_text())
        self.address = self.said("listening on").split()[-1]

    def said(self, beginning):
        """The first line that begins so."""
        lines = self.log.read_text(errors="replace").splitlines()
        return next((line for line in lines if line.startswith(beginning)), None)

    def end(self, number=signal.SIGTERM):
        self.child.send_signal(number)
        self.child.wait(timeout=30)
        said = self.log.read_text(errors="replace")
        require("panicked at" not in said, said)


def start(words, **options):
    options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    environment = {**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8", **options.pop("env", {})}
    environment = {name: value for name, value in environment.items() if value is not None}
    child = subprocess.Popen(words, env=environment, **options)
    started.append(child)
    return child


def finish(child, timeout=300):
    """Waits for a program; one that hangs is killed, and has failed."""
    words = " ".join(map(str, child.args))
    try:
        stdout, stderr = child.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        child.kill()
        child.communicate()
        raise AssertionError(f"{words} had not ended after {timeout} s") from None
    return Ended(words, child.returncode, stdout or b"", stderr or b"")


@atexit.register
def end_all():
    for child in started:
        if child.poll() is None:
            child.kill()
            child.wait()


def wait_until(is_true, limit_s=30):
    until = time.monotonic() + limit_s
    while time.monotonic() < until:
        if is_true():
            return True
        time.sleep(0.01)
    return False


@contextmanager
def mounted(at, options):
    """A small file system in memory."""
    need_root()
    at.mkdir(exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", at], capture_output=True)
    if made.returncode != 0:
        raise Skip("this system lets nobody mount a tmpfs")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)


@contextmanager
def ext4(image, at, size_bytes):
    """A small file system on a loop device."""
    need_root()
    need_tools("mkfs.ext4")
    at.mkdir(exist_ok=True)
    with open(image, "wb") as file:
        file.truncate(size_bytes)
    subprocess.run(["mkfs.ext4", "-q", image], check=True, capture_output=True)
    made = subprocess.run(["mount", "-o", "loop", image, at], capture_output=True)
    if made.returncode != 0:
        raise Skip("this system has no loop devices")
    try:
        yield at
    finally:
        subprocess.run(["umount", "-l", at], check=True)


def fill(directory, leave_bytes=0):
    """Fills a small file system but for `leave_bytes`."""
    filler = directory / "filler"
    with open(filler, "wb", buffering=0) as file:
        before = -1
        # After a sync, ext4 has again what it set aside for delayed allocation, and it lets the last blocks go
        # to small writes alone.
        while before < file.tell():
            before = file.tell()
            for size in [4096, 1]:
                with suppress(OSError):
                    while True:
                        file.write(b"x" * size)
                os.fsync(file)
        file.truncate(max(0, file.tell() - leave_bytes))
    return filler


def age(directory):
    """Makes a scratch directory look as if nothing had happened in it for days."""
    long_ago = time.time() - LONG_AGO_S
    for path in [*directory.rglob("*"), directory]:
        os.utime(path, (long_ago, long_ago), follow_symlinks=False)
