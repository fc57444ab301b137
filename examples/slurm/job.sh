#!/bin/sh
# One shard of the suite in evals/: sbatch job.sh, in a directory that all nodes see.
#SBATCH --array=1-4
#SBATCH --requeue
#SBATCH --time=2:00:00
#SBATCH --cpus-per-task=2
#SBATCH --mem=4G
#SBATCH --output=shards/%a.log
shards=4	# as in --array
mkdir -p shards

# A job that was requeued continues from its journal.
waza run evals --shard auto --shards "$shards" --resume -q \
    -o "shards/$SLURM_ARRAY_TASK_ID.json"

# Status 1 means that tasks did not pass, which is not a failure of the job.
[ $? -le 1 ]
