"""Medians of each tool, and how many times as fast oscope is, with its spread over the rounds.

usage: table.py TIMES, lines of round, place, case, tool, begin, end and amount
"""

import statistics
import sys
from collections import defaultdict
from pathlib import Path


def main(path):
    rates = defaultdict(dict)
    for line in Path(path).read_text().splitlines():
        number, place, case, tool, begin, end, amount = line.split("\t")
        rates[place, case][int(number), tool] = float(amount) / (float(end) - float(begin))
    for (place, case), measured in rates.items():
        unit = "files/s" if case == "small files" else "MiB/s"
        print(f"\n{case}, {place}: medians in {unit}; ratio: that to each peer (least to most)")
        tools = sorted({tool for _, tool in measured})
        rounds = sorted({number for number, _ in measured})
        own = [tool for tool in tools if tool.startswith("oscope")]
        peers = [tool for tool in tools if tool not in own]
        for tool in own + peers:
            values = [measured[key] for key in measured if key[1] == tool]
            line = f"  {tool:32} {statistics.median(values):10.0f}"
            for peer in peers if tool in own else []:
                ratios = [
                    measured[number, tool] / measured[number, peer]
                    for number in rounds
                    if (number, tool) in measured and (number, peer) in measured
                ]
                if ratios:
                    spread = f"{min(ratios):.2f} to {max(ratios):.2f}"
                    line += f"   {peer} {statistics.median(ratios):.2f} ({spread})"
            print(line)


if __name__ == "__main__":
    main(sys.argv[1])
