"""The tools that move files, and the keys that they need."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import OWN_NETWORK

OSCOPE, PAIR = os.environ["OSCOPE"], os.environ["PAIR"]


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
        oscope("oscope verified, a directory", "{{to}}", "{{from}}", arrives="{to}/small"),
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


def is_there(tool):
    missing = [need for need in tool.needs if shutil.which(need) is None]
    if missing:
        print(f"left out: {tool.name} needs {', '.join(missing)}", file=sys.stderr)
    return not missing


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
