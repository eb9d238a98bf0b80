#!/usr/bin/env python3
"""Prints the table of a campaign from the rows that its parts have written; ends with 1 if anything failed."""

import json
import sys

TEXTS, COUNTS = ["part", "fault"], ["tried", "survived", "failed"]
HEADS = [*TEXTS, *COUNTS, "remark"]

rows = [json.loads(line) for line in open(sys.argv[1], encoding="utf-8")]
rows.append({"part": "all", "fault": "", "remark": "", **{head: sum(row[head] for row in rows) for head in COUNTS}})
widths = {head: max(len(str(row[head])) for row in [*rows, dict(zip(HEADS, HEADS))]) for head in HEADS}


def show(row):
    cells = [str(row[head]).rjust(widths[head]) if head in COUNTS else row[head].ljust(widths[head]) for head in HEADS]
    print(f"| {' | '.join(cells)} |")


show(dict(zip(HEADS, HEADS)))
show({head: "-" * (widths[head] - 1) + (":" if head in COUNTS else "-") for head in HEADS})
for row in rows:
    show(row)
sys.exit(1 if rows[-1]["failed"] else 0)
