#!/usr/bin/env python3
"""Draws what script(1) recorded of a terminal as an SVG: terminal.py RECORDING LINES > PICTURE."""

import re
import sys
from html import escape

ADVANCE, LEADING, MARGIN, COLUMNS = 8.4, 18, 16, 100
COLOURS = {"36": "#4ec9d0", "33": "#e0b050", "31": "#f07070", "35": "#c792ea", "32": "#8fce6a", "34": "#7aa2f7"}

lines = open(sys.argv[1], encoding="utf-8").read().replace("\r", "").split("\n")
lines = [line for line in lines if not line.startswith("Script ")][: int(sys.argv[2])]
width = COLUMNS * ADVANCE + 2 * MARGIN
height = len(lines) * LEADING + 2 * MARGIN

print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">')
print("<title>The terminal after a run</title>")
print(f'<rect width="100%" height="100%" rx="8" fill="#15181d"/>')
print('<g font-family="ui-monospace, DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="14"'
      ' fill="#d8dee6">')
for row, line in enumerate(lines):
    column, style = 0, ""
    for code, text in re.findall(r"(?:\x1b\[([0-9;]*)m)?([^\x1b]*)", line):
        if code:
            style = ""
            if code in COLOURS:
                style = f' fill="{COLOURS[code]}"'
            elif code == "1":
                style = ' font-weight="bold"'
            elif code == "2":
                style = ' opacity="0.6"'
        # Renderers collapse spaces, so that each word gets a place of its own.
        for word in re.finditer(r"\S+", text):
            x, y = MARGIN + (column + word.start()) * ADVANCE, MARGIN + (row + 0.75) * LEADING
            length = f' textLength="{len(word[0]) * ADVANCE:.1f}"'
            print(f'<text x="{x:.1f}" y="{y:.1f}"{length}{style}>{escape(word[0])}</text>')
        column += len(text)
print("</g>\n</svg>")
