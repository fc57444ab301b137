#!/bin/sh
# Runs the suite in evals/ as an array of four jobs, waits, and merges their results.
# The same without this script: waza run evals --on slurm --shards 4 -o all.json
here=$(dirname "$0")
mkdir -p shards
sbatch --wait "$here/job.sh" || echo 'a job failed: see shards/*.log' >&2

# Names the shards that are missing; start them again alone, with sbatch --array=3.
waza merge -o all.json shards
