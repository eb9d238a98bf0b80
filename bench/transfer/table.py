"""Tables of what rounds.py wrote down, and a verdict on each goal.

usage: table.py DIRECTORY
"""

import statistics
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))
from figures import interval, spread, with_interval

WALL, CPU = "wall", "CPU"

# Part of a case's name, place (or any), what of oscope, which peer, of what, and how many times as
# good it is to be.
GOALS = [
    ("one file", None, "oscope verified", "pair summed", WALL, 0.95),
    ("one file", "tmpfs", "oscope verified", "socat", WALL, 1.0),
    ("one file", "ext4", "oscope verified", "socat", WALL, 1.1),
    ("one file", "tmpfs", "oscope bare", "socat", WALL, 1.1),
    ("one file", "ext4", "oscope bare", "socat", WALL, 1.25),
    ("one file", "tmpfs", "oscope sealed", "socat OpenSSL", WALL, 2.0),
    ("one file", "ext4", "oscope sealed", "socat OpenSSL", WALL, 3.0),
    ("one file", None, "oscope sealed", "scp", WALL, 3.0),
    ("memory to memory", None, "oscope verified", "iperf3 -C reno", WALL, 1.0),
    ("one file", None, "oscope verified", "socat", CPU, 1.0),
    ("one file", None, "oscope bare", "socat", CPU, 1.0),
    ("one file", None, "oscope sealed", "socat OpenSSL", CPU, 1.0),
    ("files of 1 KiB", None, "oscope verified", "tar and nc", WALL, 1.0),
]
# Whose ratios the tables show.
PEERS = ["pair summed", "pair bare", "socat", "socat OpenSSL", "scp", "iperf3 -C reno", "tar and nc"]


def read(path):
    return [line.split("\t") for line in path.read_text().splitlines()]


def ratios(measured, own, peer, what):
    """How many times as good as the peer, in each round that has both."""
    return [
        measured[peer][number][what] / measured[own][number][what]
        for number in measured.get(own, {})
        if number in measured.get(peer, {})
    ]


def show_case(case, place, measured, controls, per):
    print(f"\n### {case}, {place}\n")
    names = sorted(measured, key=lambda name: statistics.median(r[WALL] for r in measured[name].values()))
    peers = [peer for peer in PEERS if peer in measured]
    head = ["", "wall, s", f"CPU, s {per}", "congestion control", *(f"× {peer}" for peer in peers)]
    print("| " + " | ".join(head) + " |")
    print("| --- | --- | --- | --- |" + " --- |" * len(peers))
    for name in names:
        rounds = measured[name].values()
        cells = [name, spread([r[WALL] for r in rounds], ".3f"), spread([r[CPU] for r in rounds]),
                 controls[name]]
        for peer in peers:
            found = ratios(measured, name, peer, WALL) if peer != name else []
            cells.append(with_interval(found) if found else "")
        print("| " + " | ".join(cells) + " |")


def verdict(values, goal):
    _, bounds = interval(values)
    if bounds is None:
        return "too few rounds"
    if bounds[0] >= goal:
        return "reached"
    return "missed" if bounds[1] < goal else "undecided"


def show_goals(cases):
    rows = []
    for (case, place), measured in cases.items():
        for part, where, own, peer, what, goal in GOALS:
            if not (case == part or case.endswith(part)) or where not in (None, place):
                continue
            found = ratios(measured, own, peer, what)
            if found:
                rows.append([f"{own}, {case}, {place}", what, peer, f"{goal}", with_interval(found),
                             str(len(found)), verdict(found, goal)])
    if not rows:
        return
    print("\n### Goals\n")
    print("Peer's time by oscope's, within a round: median with its 95 % interval, by order.\n")
    print("| | of | × | goal | reached | rounds | verdict |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for row in rows:
        print("| " + " | ".join(row) + " |")


def show_dropped(out, times):
    dropped = read(out / "dropped.tsv")
    print(f"\nMeasured: {len(times)}. Dropped: {len(dropped)}", end="")
    reasons = Counter(line[4] for line in dropped)
    print(f" ({', '.join(f'{reason}: {count}' for reason, count in reasons.most_common())})." if reasons else ".")
    measured = {tuple(line[:4]) for line in times}
    without = {tuple(line[:4]) for line in dropped} - measured
    if without:
        print(f"Without a measurement in a round, since each try was disturbed: {len(without)}.")


def show_sizes(out):
    lines = read(out / "sizes.tsv")
    if not lines:
        return
    print(f"\n### By size, {lines[0][0]}\n")
    print("| MiB | wall, s | MiB/s | CPU, s a GiB | peak memory of sender and receiver, MiB |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for _, *numbers in lines:
        mib, wall, sent, received, of_sender, of_receiver = map(float, numbers)
        print(f"| {mib:.0f} | {wall:.2f} | {mib / wall:.0f} | {(sent + received) / mib * 1024:.2f} "
              f"| {of_sender:.0f}, {of_receiver:.0f} |")


def show(out):
    out = Path(out)
    times = read(out / "times.tsv")
    cases = defaultdict(lambda: defaultdict(dict))
    controls = defaultdict(dict)
    for number, place, case, tool, control, amount, wall, sent, received in times:
        # Many files are one task; bytes are reported by the GiB.
        scale = 1 if case.endswith("files of 1 KiB") else 1024 / float(amount)
        cases[case, place][tool][int(number)] = {
            WALL: float(wall), CPU: (float(sent) + float(received)) * scale
        }
        controls[case, place][tool] = control
    for (case, place), measured in cases.items():
        per = "in all" if case.endswith("files of 1 KiB") else "a GiB"
        show_case(case, place, measured, controls[case, place], per)
    show_sizes(out)
    show_goals(cases)
    if times:
        show_dropped(out, times)


if __name__ == "__main__":
    show(sys.argv[1])
