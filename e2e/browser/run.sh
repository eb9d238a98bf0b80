#!/usr/bin/env bash
# Opens the pages that oscope makes in Chromium, tries everything a reader can do with that of a run, looks for labels
# that overlap or are cut on all of them, and keeps screenshots:  e2e/browser/run.sh PROGRAM STORE OUT_DIR
# The first run in STORE is one of everything. Needs Node and Debian's chromium (CHROMIUM names another).
set -euo pipefail
if [ $# -ne 3 ]; then
    echo "usage: $0 PROGRAM STORE OUT_DIR" >&2
    exit 2
fi
mkdir -p "$3"
out=$(realpath "$3")
here=$(cd "$(dirname "$0")" && pwd)
"$here/pages.sh" "$1" "$2" "$out"
cd "$here"
[ -d node_modules ] || npm ci --no-audit --no-fund --silent
code=0
node labels.js "$out" "$out"/*.html "$out"/*.svg || code=1
node check.js "$out/run.html" "$out" || code=1
exit $code
