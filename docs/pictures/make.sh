#!/usr/bin/env bash
# Makes the README's pictures anew, out of a real run on this machine.
# Needs chromium, and script(1) and stty(1) for a terminal to draw on.
set -euo pipefail
cd "$(dirname "$0")/../.."

cargo build --release --locked
oscope=$(realpath "${CARGO_TARGET_DIR:-target}/release/oscope")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Progress stays out of the picture.
script --quiet --command "stty columns 100; $oscope run --store $work/oscope.db --dir $work \
    --page $work/page.html 2>$work/progress.txt" "$work/terminal.txt" >/dev/null
python3 docs/pictures/terminal.py "$work/terminal.txt" 60 >docs/pictures/terminal.svg
chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
    --disable-background-networking --disable-component-update --disable-sync --hide-scrollbars \
    --user-data-dir="$work/browser" --window-size=1280,1400 \
    --screenshot="$PWD/docs/pictures/page.png" "file://$work/page.html"
