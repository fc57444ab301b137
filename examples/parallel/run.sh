#!/bin/sh
# Runs the suite in evals/ as four shards with GNU parallel, and merges their results.
# usage: run.sh [OPTION OF PARALLEL ...], such as --sshlogin a,b --workdir .
# The same without this script: waza run evals --on parallel --shards 4 -o all.json
shards=4
mkdir -p shards

# Status 1 means that tasks did not pass, which is not a failure of the shard.
seq "$shards" | parallel --jobs "$shards" --joblog shards/joblog "$@" \
    "waza run evals --shard {}/$shards --resume -q -o shards/{}.json >shards/{}.log 2>&1 || [ \$? -eq 1 ]" ||
    echo 'a shard failed: see shards/*.log' >&2

# Names the shards that are missing; run the script again to continue with them.
waza merge -o all.json shards
