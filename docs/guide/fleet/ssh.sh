#!/bin/sh
# Measures hosts by ssh, all at the same time, and judges them. Only oscope itself is copied to them.
#
# usage: ssh.sh RUNS HOST...
#
# RUNS is a folder for the exported runs. OSCOPE names the program (that in the path); WHAT the experiments;
# IN_TURN=1 measures one host after the other, for hosts that share storage or a network. Ends as `oscope fleet
# judge` does.
set -eu

[ $# -ge 4 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
runs=$1
shift
program=${OSCOPE:-$(command -v oscope)}
what=${WHAT:-process.calls compute.arithmetic memory threads.switch file.sync}
mkdir -p "$runs"

measure() {
    # The host makes a folder, takes the program from its standard input, and leaves nothing behind.
    ssh -o BatchMode=yes "$1" 'd=$(mktemp -d) && trap "rm -rf $d" EXIT && cat > $d/oscope && chmod +x $d/oscope &&
        { $d/oscope run '"$what"' --budget 4min --no-page --quiet --tag host='"$1"' --dir $d --store $d/oscope.db \
            > $d/log || [ $? -eq 1 ]; } && $d/oscope export latest --store $d/oscope.db' \
        < "$program" > "$runs/$1.part" && mv "$runs/$1.part" "$runs/$1.oscope.json" ||
        { rm -f "$runs/$1.part"; echo "$1 could not be measured" >&2; }
}

for host; do
    if [ -n "${IN_TURN:-}" ]; then
        measure "$host"
    else
        measure "$host" &
    fi
done
wait
exec "$program" fleet judge "$runs"
