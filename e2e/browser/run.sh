#!/usr/bin/env bash
# Opens a page that oscope made in Chromium, tries everything a reader can do with it, and keeps
# screenshots:  e2e/browser/run.sh PAGE.html OUT_DIR
# Needs Node and Debian's chromium (CHROMIUM names another).
set -euo pipefail
if [ $# -ne 2 ]; then
    echo "usage: $0 PAGE.html OUT_DIR" >&2
    exit 2
fi
page=$(realpath "$1")
mkdir -p "$2"
out=$(realpath "$2")
cd "$(dirname "$0")"
[ -d node_modules ] || npm ci --no-audit --no-fund --silent
exec node check.js "$page" "$out"
