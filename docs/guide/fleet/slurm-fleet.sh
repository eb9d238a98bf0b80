#!/bin/sh
# A job for Slurm that measures its nodes and judges them against each other:
#
#     sbatch --nodes=16 slurm-fleet.sh
#
# Needs a Slurm with PMIx (`srun --mpi=list` shows pmix) and oscope on each node. Not tried on a cluster yet.
#SBATCH --job-name=oscope-fleet
#SBATCH --ntasks-per-node=1
#SBATCH --exclusive
#SBATCH --time=00:15:00
exec srun --mpi=pmix --cpu-bind=none --kill-on-bad-exit=0 \
    oscope fleet run process.calls memory --budget 4min --dir /tmp --output "fleet-$SLURM_JOB_ID"
