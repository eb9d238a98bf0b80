"""Moves files by many tools in turn, and writes down what each took; run.sh starts it.

usage: rounds.py ROUNDS PART...
"""

import ctypes
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import table

BLOCK = 512 << 10
TICK = 1 / os.sysconf("SC_CLK_TCK")
CONTROL = Path("/proc/sys/net/ipv4/tcp_congestion_control")
LIBC = ctypes.CDLL(None, use_errno=True)
# fallocate(2): give room back, and leave the size as it is.
PUNCH_HOLE = 0x01 | 0x02


def option(name, default):
    return os.environ.get(name) or default


SIZE = int(option("SIZE", 1024))
LARGEST = int(option("LARGEST", 16384))
FILES = int(option("FILES", 10000))
FOREIGN = float(option("FOREIGN", 0.05))
TRIES = int(option("TRIES", 3))
PATIENCE = int(option("PATIENCE", 5))
AHEAD = bool(option("AHEAD", ""))
DIRS = option("DIRS", f"{option('TMPDIR', '/var/tmp')} /dev/shm").split()
OSCOPE, PAIR = os.environ["OSCOPE"], os.environ["PAIR"]
OWN_NETWORK = "OWN_NETWORK" in os.environ


@dataclass
class Tool:
    """Two shell commands; {port}, {to} and the like are filled in. One side may be missing."""

    name: str
    receiver: str | None
    sender: str
    needs: tuple = ()
    # What arrives, if it is written: a file or a directory.
    arrives: str | None = "{to}/big"
    # A server that is given its connection, as inetd did.
    inetd: bool = False
    # The sender gets all names of the source, which are known ahead: to list and sort them is no part
    # of its work.
    lists: bool = False


@dataclass
class Task:
    """What is moved in a part, from where to where, and by whom."""

    part: str
    case: str
    place: str
    tools: list
    amount: float
    folder: Path
    words: dict
    # Bytes that are written: so much memory is made ready.
    warm: int = 0
    # Each measurement gets a directory that stays until the end: ext4 searches long for an inode
    # among those that were freed within the last seconds, whoever is next.
    keeps: bool = False
    congestion: str = "reno"
    controls: dict = field(default_factory=dict)


class Disturbed(Exception):
    """Others had too much of the processors."""


# --- the machine -------------------------------------------------------------------------------


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


# --- one measurement ---------------------------------------------------------------------------


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


# --- the tools ---------------------------------------------------------------------------------

RECEIVE = "{oscope} receive --quiet --once --listen 127.0.0.1:{{port}} %s"
SEND = "{oscope} send --quiet --to 127.0.0.1:{{port}} %s"
TOKEN = "--token-file {{work}}/token "


def oscope(name, receive="{{to}}", send="{{from}}/big", **others):
    """A pair of oscope's commands: what stands in doubled braces is filled in later."""
    fill = lambda template, options: (template % options).format(oscope=OSCOPE)
    return Tool(name, fill(RECEIVE, receive), fill(SEND, send), **others)


def pair(name, settings, to="{to}/big", source="{from}/big", **others):
    return Tool(
        name,
        f"{PAIR} receive {{port}} {to} {settings}",
        f"{PAIR} send {{port}} {source} {settings}",
        **others,
    )


# Where the system's congestion control cannot be set, socat sets that of its sockets.
RENO = "" if OWN_NETWORK else ",setsockopt-string=6:13:reno"
SOCAT = Tool(
    "socat",
    f"socat -u -b1048576 TCP-LISTEN:{{port}},bind=127.0.0.1{RENO} OPEN:{{to}}/big,creat",
    f"socat -u -b1048576 OPEN:{{from}}/big TCP:127.0.0.1:{{port}}{RENO}",
    needs=("socat",),
)
NC = Tool(
    "nc",
    "nc -l 127.0.0.1 {port} > {to}/big",
    "nc -N 127.0.0.1 {port} < {from}/big",
    needs=("nc",),
)
IPERF_SERVER = "iperf3 -s -1 -B 127.0.0.1 -p {port}"
IPERF_CLIENT = "iperf3 -c 127.0.0.1 -p {port} -l 1M"
VERIFIED = oscope("oscope verified")
BARE = oscope("oscope bare", send="--no-checksum {{from}}/big")
SEALED = oscope("oscope sealed", TOKEN + "{{to}}", TOKEN + "{{from}}/big")
PAIR_SUMMED = pair("pair summed", "kind=summed")
PAIR_BARE = pair("pair bare", "kind=bare frame=1024 lowat=512")
SCP_OPTIONS = (
    "-q -B -P {port} -i {work}/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null"
)
SSHD = (
    "/usr/sbin/sshd -i -f /dev/null -h {work}/host -o StrictModes=no -o UsePAM=no"
    " -o AuthorizedKeysFile={work}/key.pub -o Subsystem='sftp internal-sftp' 2> {work}/sshd.log"
    # It tells of a connection that the client closed as of a failure.
    " || true"
)


def scp(what, arrives="{to}/big"):
    return Tool(
        "scp",
        SSHD,
        f"scp {SCP_OPTIONS} {what} 127.0.0.1:{{to}}/",
        needs=("scp", "ssh-keygen", "/usr/sbin/sshd"),
        arrives=arrives,
        inetd=True,
    )


def file_tools():
    return [
        VERIFIED,
        BARE,
        SEALED,
        PAIR_SUMMED,
        PAIR_BARE,
        pair("pair sealed, 64 KiB messages", "kind=sealed"),
        pair("pair sealed, 512 KiB messages", "kind=sealed message=512"),
        SOCAT,
        Tool(
            "socat OpenSSL",
            "env OPENSSL_CONF={work}/openssl.conf socat -u -b1048576 OPENSSL-LISTEN:{port},bind=127.0.0.1,"
            "cert={work}/cert.pem,key={work}/key.pem,verify=0" + RENO + " OPEN:{to}/big,creat",
            "env OPENSSL_CONF={work}/openssl.conf socat -u -b1048576 OPEN:{from}/big OPENSSL:127.0.0.1:{port},"
            "cafile={work}/cert.pem,commonname=localhost" + RENO,
            needs=("socat", "openssl"),
        ),
        scp("{from}/big"),
        NC,
        Tool(
            "nuttcp",
            "nuttcp -1 --nofork -P {port} -p {port2} -s > {to}/big",
            "nuttcp -t -P {port} -p {port2} -s -l512k 127.0.0.1 < {from}/big",
            needs=("nuttcp",),
        ),
        Tool("cp", None, "cp {from}/big {to}/big"),
        Tool("dd, 512 KiB", None, "dd if={from}/big of={to}/big bs=512k status=none"),
    ]


def memory_tools(mib):
    nowhere = {"arrives": None}
    zeros = f"--zeros {mib}MiB"
    iperf, client = IPERF_SERVER, f"{IPERF_CLIENT} -n {mib}M"
    minimal = {"to": "-", "source": "-", **nowhere}
    return [
        oscope("oscope verified", "--discard", zeros, **nowhere),
        oscope("oscope verified, 2 streams", "--discard", f"{zeros} --streams 2", **nowhere),
        oscope("oscope bare", "--discard", f"{zeros} --no-checksum", **nowhere),
        oscope("oscope sealed", TOKEN + "--discard", TOKEN + zeros, **nowhere),
        pair("pair plain", f"kind=plain zeros={mib}", **minimal),
        pair("pair summed", f"kind=summed zeros={mib}", **minimal),
        pair("pair sealed, 64 KiB messages", f"kind=sealed zeros={mib}", **minimal),
        pair("pair sealed, 512 KiB messages", f"kind=sealed message=512 zeros={mib}", **minimal),
        Tool("iperf3 -C reno", iperf, f"{client} -C reno", ("iperf3",), None),
        Tool("iperf3 -Z -C reno", iperf, f"{client} -Z -C reno", ("iperf3",), None),
    ]


def small_tools():
    many = {"arrives": "{to}", "lists": True}
    return [
        oscope("oscope verified", "{{to}}", "", **many),
        oscope("oscope verified, 1 connection", "{{to}}", "--streams 1", **many),
        oscope("oscope sealed", TOKEN + "{{to}}", TOKEN, **many),
        Tool(
            "tar and nc",
            "nc -l 127.0.0.1 {port} | tar x -C {to}",
            "tar c -C {from} . | nc -N 127.0.0.1 {port}",
            ("nc", "tar"),
            "{to}",
        ),
        scp("-r {from}", "{to}/small"),
    ]


def method_tools():
    pairs = [
        ("uring", "file"),
        ("file", "file"),
        ("sendfile", "file"),
        ("mmap", "file"),
        ("splice", "file"),
        ("zerocopy", "file"),
        ("file", "uring"),
        ("uring", "uring"),
        ("sendfile", "splice"),
        ("sendfile", "mmap"),
    ]
    tools = [
        oscope(f"oscope {sent} to {received}", f"--method {received} {{{{to}}}}",
               f"--method {sent} {{{{from}}}}/big")
        for sent, received in pairs
    ]
    streams = oscope("oscope, 2 streams", send="--streams 2 {{from}}/big")
    return [VERIFIED, *tools, streams, PAIR_SUMMED, PAIR_BARE, SOCAT]


# --- the parts ---------------------------------------------------------------------------------


def make_secrets(work):
    """A token, keys for ssh, and a certificate of our own."""
    run = lambda *words: subprocess.run(words, check=True, capture_output=True)
    token = subprocess.run("head -c 32 /dev/urandom | base64", shell=True, capture_output=True)
    (work / "token").write_bytes(token.stdout)
    (work / "token").chmod(0o600)
    if shutil.which("ssh-keygen"):
        for name in ("host", "key"):
            run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(work / name))
        # The place in which sshd locks up its unprivileged part.
        if os.geteuid() == 0:
            Path("/run/sshd").mkdir(exist_ok=True)
    if shutil.which("openssl"):
        run("openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
            "/CN=localhost", "-keyout", str(work / "key.pem"), "-out", str(work / "cert.pem"))
    (work / "openssl.conf").write_text(
        "openssl_conf = default\n[default]\nssl_conf = ssl\n[ssl]\nsystem_default = forced\n"
        "[forced]\nMinProtocol = TLSv1.3\nCiphersuites = TLS_AES_256_GCM_SHA384\n"
    )


def tasks(parts, folders, work, system_control):
    """What is to be done in each round."""
    common = {"work": work}
    for folder in folders:
        place = file_system(folder)
        big = {**common, "from": folder / "from", "source": folder / "from/big"}
        one_file = {"amount": SIZE, "folder": folder, "words": big, "warm": SIZE << 20}
        if "file" in parts:
            yield Task("file", "one file", place, file_tools(), **one_file)
        if "methods" in parts:
            yield Task("methods", "by methods", place, method_tools(), **one_file)
        if "default" in parts:
            tools = [VERIFIED, BARE, SOCAT, NC, pair("pair summed", "kind=summed congestion=-")]
            yield Task("default", f"one file, by {system_control} where the system chooses", place, tools, **one_file,
                       congestion=system_control)
        if "small" in parts:
            yield Task("small", f"{FILES} files of 1 KiB", place, small_tools(), FILES, folder,
                       {**common, "from": folder / "small", "source": folder / "small"},
                       warm=FILES << 13, keeps=True)
    if "memory" in parts:
        yield Task("memory", "memory to memory", "memory", memory_tools(4 * SIZE), 4 * SIZE, work,
                   common)
    if "default" in parts:
        mib = 4 * SIZE
        tools = [
            oscope("oscope verified", "--discard", f"--zeros {mib}MiB", arrives=None),
            Tool("iperf3", IPERF_SERVER, f"{IPERF_CLIENT} -n {mib}M", ("iperf3",), None),
        ]
        yield Task("default", f"memory to memory, by {system_control} where the system chooses", "memory", tools, mib,
                   work, common, congestion=system_control)


def make_sources(parts, folder):
    (folder / "from").mkdir(parents=True)
    (folder / "small").mkdir()
    if {"file", "methods", "default"} & set(parts):
        with (folder / "from/big").open("wb") as file:
            for _ in range(SIZE):
                file.write(os.urandom(1 << 20))
    if "small" in parts:
        for index in range(FILES):
            (folder / "small" / str(index)).write_bytes(os.urandom(1024))


def new_target(task, bench):
    to = task.folder / (f"to-{bench.port + 1}" if task.keeps else "to")
    empty(to)
    return {**task.words, "to": to}


def set_control(name):
    if OWN_NETWORK and CONTROL.exists():
        CONTROL.write_text(name)


def is_there(tool):
    missing = [need for need in tool.needs if shutil.which(need) is None]
    if missing:
        print(f"left out: {tool.name} needs {', '.join(missing)}", file=sys.stderr)
    return not missing


def rehearse(task, bench):
    """Each tool once, unmeasured: does it arrive, and under what congestion control?"""
    task.tools = [tool for tool in task.tools if is_there(tool)]
    for tool in list(task.tools):
        words = new_target(task, bench)
        seen = set()

        def look(sender, _receiver, port, seen=seen):
            # While the sender is there; its end is waited for elsewhere.
            while os.waitid(os.P_PID, sender.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                seen |= controls_in_use(port)
                time.sleep(0.01)

        try:
            bench.move(tool, words, look if tool.receiver else None)
            if tool.arrives:
                arrived = tool.arrives.format(**words)
                same = subprocess.run(["diff", "-rq", words["source"], arrived], capture_output=True)
                if same.returncode != 0:
                    raise RuntimeError("what arrived is not what was sent")
        except RuntimeError as error:
            print(f"left out: {tool.name}, {task.case}, {task.place}: {error}", file=sys.stderr)
            bench.stop()
            task.tools.remove(tool)
        task.controls[tool.name] = "+".join(sorted(seen)) or "-"


def measure_task(task, number, bench, pool, record):
    set_control(task.congestion)
    if task.warm and not task.keeps:
        read_through(task.words["from"] / "big")
    random.shuffle(task.tools)
    for tool in task.tools:
        for _ in range(TRIES):
            words = new_target(task, bench)
            # Nothing of what came before is still to be written.
            if task.place != "tmpfs":
                os.sync()
            await_quiet()
            try:
                wall, sent, received = bench.measure(tool, words)
            except Disturbed as reason:
                record("dropped", number, task.place, task.case, tool.name, reason)
                continue
            except RuntimeError as error:
                print(f"failed: {tool.name}, {task.case}, {task.place}: {error}", file=sys.stderr)
                bench.stop()
                break
            record("times", number, task.place, task.case, tool.name, task.controls[tool.name],
                   task.amount, wall, sent, received)
            break
        if not task.keeps and "to" in words:
            shutil.rmtree(words["to"], ignore_errors=True)


def measure_sizes(folder, bench, record):
    """Linear from 64 MiB to the largest, and bounded in memory."""
    place, source = file_system(folder), folder / "from/sized"
    mib = 64
    while mib <= LARGEST:
        write_zeros(source, mib << 20)
        peaks = {}

        def watch(sender, receiver, _port, peaks=peaks):
            # The kernel's own account, as long as there is one: that of a process which is gone holds
            # what its parent had, too.
            while os.waitid(os.P_PID, sender.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
                for name, child in (("sender", sender), ("receiver", receiver)):
                    try:
                        status = Path(f"/proc/{child.pid}/status").read_text()
                    except OSError:
                        continue
                    found = re.search(r"VmHWM:\s+(\d+)", status)
                    peaks[name] = int(found[1]) / 1024 if found else peaks.get(name, 0)
                time.sleep(0.02)

        empty(folder / "to")
        os.sync()
        tool = oscope("oscope", send="{{from}}/sized")
        wall, sent, received = bench.move(tool, {"from": folder / "from", "to": folder / "to"}, watch)
        record("sizes", place, mib, wall, sent, received,
               peaks.get("sender", 0), peaks.get("receiver", 0))
        source.unlink()
        shutil.rmtree(folder / "to")
        mib *= 4


def main():
    rounds, parts = int(sys.argv[1]), sys.argv[2:]
    work = Path(tempfile.mkdtemp())
    out = Path(option("OUT", work / "out"))
    out.mkdir(parents=True, exist_ok=True)
    for name in ("times", "dropped", "sizes"):
        (out / f"{name}.tsv").write_text("")

    def record(name, *values):
        with (out / f"{name}.tsv").open("a") as file:
            file.write("\t".join(str(value) for value in values) + "\n")

    system_control = CONTROL.read_text().strip() if CONTROL.exists() else "unknown"
    folders = [Path(each) / f"oscope-bench-{os.getpid()}" for each in DIRS]
    bench, pool = Bench(work), Pool((SIZE << 20) * 5 // 2)
    try:
        make_secrets(work)
        for folder in folders:
            make_sources(parts, folder)
        todo = list(tasks(parts, folders, work, system_control))
        if todo:
            pool.refill()
        for task in todo:
            set_control(task.congestion)
            rehearse(task, bench)
        for number in range(1, rounds + 1):
            for task in todo:
                if task.warm:
                    pool.refill()
                measure_task(task, number, bench, pool, record)
            print(f"round {number} of {rounds} is done", file=sys.stderr)
        pool.remove()
        if "size" in parts:
            set_control("reno")
            measure_sizes(folders[0], bench, record)
        table.show(out)
    finally:
        # Files by the hundred thousand take a while: whoever is impatient should not leave them.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        bench.stop()
        pool.remove()
        for folder in [*folders, work]:
            shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    # So that what was begun is ended, and what was made removed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    main()
