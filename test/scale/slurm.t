# waza run --on slurm, with a real Slurm of one node.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
[ -n "${SCALE-}" ] || skip_all 'make check-scale runs it'
[ "$(id -u)" = 0 ] || skip_all 'Slurm needs root'
for p in sbatch slurmctld slurmd munged
do command -v "$p" >/dev/null || skip_all "no $p (Debian: slurm-wlm, munge)"
done
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ
sh "$top/test/tool/slurm" start "$tmp/slurm" || { is 'Slurm starts' yes "$(tail -n 5 "$tmp"/slurm/*.log)"; done_testing; }
trap 'sh "$top/test/tool/slurm" stop "$tmp/slurm"; rm -rf "$tmp"' EXIT
SLURM_CONF=$tmp/slurm/slurm.conf TRACE=$tmp/w/trace
export SLURM_CONF TRACE
mkdir "$tmp/w" && cd "$tmp/w" || exit 1
. "$top/test/scale/suite.sh"

queue() { squeue -h -r -o '%i %T'; }
empty() { [ -z "$(queue)" ]; }

# an array of eight shards equals the local run
"$WAZA" run -q -o w.json >w.txt 2>/dev/null
want=$?
run "$WAZA" run -o m.json --on slurm --shards 8
is 'an array of 8: status' "$want" "$rc"
is 'an array of 8: results' '' "$(plain w.json >w; plain m.json | diff w - | head -n 5)"
like 'an array of 8: the console has the tasks' '*submitted Slurm job *12/12]*' "$err"
is 'an array of 8: no directory is left' '' "$(ls .waza/on)"
plain w.json >whole

# refused by Slurm
run "$WAZA" run -o m2.json --on slurm --on-option --partition=none
like 'a refusal: the words of sbatch' '2 *sbatch refused the jobs*invalid partition*none*' "$rc $err"
is 'a refusal: no directory is left' '' "$(ls .waza/on)"

# a job that is killed and requeued continues with its journal
rm -f trace; : >trace.hold.t4
"$WAZA" run -o r.json --on slurm --shards 2 >out 2>err &
pid=$!
wait_until 60 grep -q '^t4$' trace
wait_until 60 grep -q 'Slurm job' err
job=$(sed -n 's/.*Slurm job \([0-9]*\).*/\1/p' err)
scontrol requeue "${job}_1"
requeued() { squeue -h -r -j "$job" -o '%K %T' | grep -q '^1 PENDING'; }
ok 'requeued' wait_until 30 requeued
rm trace.hold.t4
wait "$pid"
is 'requeued: status' "$want" "$?"
is 'requeued: results' '' "$(plain r.json | diff whole - | head -n 5)"
is 'requeued: only the trial that was killed ran twice' t4 "$(sort trace | uniq -d)"

# a shard that fails is named, and repeated alone
rm -f trace; : >trace.die.t5
run "$WAZA" run -o f.json --on slurm --shards 2
like 'a failed shard is named with its log' '2 *waza: shard 2/2 failed*the end of */shard-2.log:*t3*11 of 12 trials are kept*--resume*' \
    "$rc $(printf '%s\n' "$err" | sed 's/; [0-9]* of 12 trials/; 11 of 12 trials/')"
ok 'a failed shard: no results' [ ! -e f.json ]
rm trace.die.t5 trace
run "$WAZA" run -o f.json --on slurm --shards 2 --resume
is 'a failed shard, resumed: status' "$want" "$rc"
is 'a failed shard, resumed: results' '' "$(plain f.json | diff whole - | head -n 5)"
is 'a failed shard, resumed: nothing is repeated' '' "$(grep 't[024681]$\|t10$\|t3$' trace | sort)"

# Ctrl-C leaves nothing in the queue
rm -f trace; : >trace.hold.t0; : >trace.hold.t1
"$WAZA" run -o i.json --on slurm --shards 4 >out 2>err &
pid=$!
wait_until 60 grep -q '^t1$' trace
kill -TERM "$pid"
wait "$pid"
is 'an interrupt: status' 143 "$?"
is 'an interrupt: no job in the queue' '' "$(queue)"
like 'an interrupt: how to resume' '*interrupted;*trials are kept in*resume with:*--resume*' "$(cat err)"

# killed: the jobs run on, and --resume follows them.  A job can start before sbatch
# has printed its id: the kill waits until the id is kept
rm -f trace .waza/on/*/job
"$WAZA" run -q -o i.json --on slurm --shards 4 --resume >out 2>err &
pid=$!
wait_until 60 grep -q '^t1$' trace
# shellcheck disable=SC2144 # one directory
kept() { grep -q '^[0-9]' .waza/on/*/job; }
ok 'killed: the id of the jobs is kept' wait_until 60 kept
kill -KILL "$pid"
wait "$pid" 2>/dev/null
before=$(queue | sed 's/[_ ].*//' | sort -u)
ok 'killed: the jobs run on' [ -n "$before" ]
"$WAZA" run -q -o i.json --on slurm --shards 4 --resume >out 2>err &
pid=$!
$NAP
rm trace.hold.t0 trace.hold.t1
wait "$pid"
is 'killed, resumed: status and messages' "$want " "$? $(cat err)"
is 'killed, resumed: results' '' "$(plain i.json | diff whole - | head -n 5)"
is 'killed, resumed: no trial ran twice' '' "$(sort trace | uniq -d)"
# killed after the jobs were submitted, before their id was known
real=$(command -v sbatch)
mkdir bin
cat >bin/sbatch <<SH
#!/bin/sh
"$real" "\$@" >/dev/null
kill -KILL \$PPID
SH
chmod +x bin/sbatch
rm -f trace i.json*; : >trace.hold.t0
PATH=$PWD/bin:$PATH "$WAZA" run -q -o i.json --on slurm --shards 4 >out 2>err
is 'killed in sbatch: status' 137 "$?"
wait_until 60 grep -q '^t0$' trace
"$WAZA" run -o i.json --on slurm --shards 4 --resume >out 2>err &
pid=$!
# shellcheck disable=SC2144 # one directory
ok 'killed in sbatch, resumed: the jobs are found' wait_until 60 kept
is 'killed in sbatch, resumed: one array' 1 "$(queue | sed 's/[_ ].*//' | sort -u | grep -c .)"
rm trace.hold.t0
wait "$pid"
is 'killed in sbatch, resumed: status' "$want" "$?"
is 'killed in sbatch, resumed: results' '' "$(plain i.json | diff whole - | head -n 5)"
is 'killed in sbatch, resumed: no trial ran twice' '' "$(sort trace | uniq -d)"
ok 'nothing is left in the queue' wait_until 30 empty
done_testing
