"""Medians of oscope and of each peer, and the ratio of the two with its spread over the rounds.

usage: table.py FOLDER, with peers.tsv and oscope-ROUND.json in it
"""

import json
import statistics
import sys
from collections import defaultdict
from pathlib import Path

# The level of oscope's axis that a peer's operation is set against.
CALL = {
    "getpid": "getpid",
    "read": "read 1 byte",
    "lseek": "lseek",
    "open": "open+close",
    "fopen": "fopen+fclose",
    "create": "create+delete",
    "malloc": "malloc+free",
    "fork": "fork+exit+wait",
}


def oscope(folder, round_number):
    """Time of one operation in ns by call, where it is sound."""
    run = json.loads((folder / f"oscope-{round_number}.json").read_text())
    (experiment,) = run["experiments"]
    return {
        point["levels"]["call"]: 1e9 / estimate["value"]
        for point in experiment["points"]
        for estimate in point["estimates"]
        if estimate["metric"] == "rate" and estimate["verdict"] == "sound"
    }


def main(folder):
    own, theirs, ratios = defaultdict(list), defaultdict(list), defaultdict(list)
    rounds = {}
    for line in (folder / "peers.tsv").read_text().splitlines():
        round_number, tool, operation, time_ns = line.split("\t")
        if round_number not in rounds:
            rounds[round_number] = oscope(folder, round_number)
        mine, peer = rounds[round_number].get(CALL[operation]), float(time_ns)
        if mine is None:
            continue
        key = (list(CALL).index(operation), operation, tool)
        own[key].append(mine)
        theirs[key].append(peer)
        ratios[key].append(mine / peer)
    print(f"medians of {len(rounds)} rounds, in ns; ratio: oscope over the peer (least to most)")
    print(f"{'call':14}  {'peer':5}  {'oscope':>9}  {'peer':>9}  ratio")
    for key in sorted(ratios):
        _, operation, tool = key
        mine, peer, ratio = (statistics.median(v[key]) for v in (own, theirs, ratios))
        spread = f"{min(ratios[key]):.2f} to {max(ratios[key]):.2f}"
        print(
            f"{CALL[operation]:14}  {tool:5}  {mine:9.1f}  {peer:9.1f}  {ratio:.2f} ({spread})"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
