#!/bin/sh
# A health check for Slurm: measures this node, at most once a day, and leaves the exported run in a shared folder.
# In slurm.conf, for nodes without jobs:
#
#   HealthCheckProgram=/usr/share/oscope/fleet/slurm-measure.sh
#   HealthCheckInterval=3600
#   HealthCheckNodeState=IDLE
#
# Slurm ends a health check after a minute, so the measurement runs in the background. It is left out while a job
# runs here. OSCOPE_RUNS (/shared/oscope/runs) is the folder, OSCOPE_SCRATCH (/var/tmp/oscope) is on this node.
set -eu

runs=${OSCOPE_RUNS:-/shared/oscope/runs}
scratch=${OSCOPE_SCRATCH:-/var/tmp/oscope}
node=${SLURMD_NODENAME:-$(hostname -s)}
run=$runs/$node.oscope.json

mkdir -p "$scratch"
# One measurement at a time, and none where today's is there.
[ -z "$(find "$run" -mtime -1 2> /dev/null)" ] || exit 0
[ -z "$(squeue --noheader --nodelist="$node" --states=running 2> /dev/null)" ] || exit 0
(
    flock -n 9 || exit 0
    code=0
    oscope run process.calls compute.arithmetic memory threads.switch file.sync --budget 4min \
        --no-page --quiet --tag "host=$node" --dir "$scratch" --store "$scratch/oscope.db" || code=$?
    [ "$code" -le 1 ] || exit "$code"
    oscope export latest --store "$scratch/oscope.db" --output "$run.new" --force
    mv "$run.new" "$run"
) 9> "$scratch/lock" > /dev/null 2>&1 < /dev/null &
exit 0
