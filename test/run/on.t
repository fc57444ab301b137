# waza run --on local: the shards of a run as processes.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
cd "$tmp" || exit 1
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ
TMPDIR=$tmp/tmp
export TMPDIR
mkdir tmp skill

printf -- '---\nname: speller\ndescription: Spells words.\n---\nSpell.\n' >skill/SKILL.md
cat >eval.yaml <<'YAML'
name: whole
skill: speller
config:
  executor: mock
  trials_per_task: 3
  task_pass_threshold: 0.5
  pass_threshold: 0.4
  skill_directories: [skill]
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: a, prompt: yes a}
  - {id: b, name: Second, prompt: no b}
  - {id: c, prompt: "yes 'c' ü"}
  - {id: d, prompt: yes d}
  - {id: e, prompt: yes e, mock: {error: it broke}}
YAML
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts:
  - {prompt: hit, mock: {skills: [speller]}}
should_not_trigger_prompts:
  - {prompt: wrong, mock: {skills: [speller]}}
YAML

# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": *"[^"]*"/"eval_id": ""/g
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
# text FILE: a report without durations and the places of graders
text() {
	tr -s ' \n' '  ' <"$1" | sed 's/ *(*[a-z_/]*\.yaml:[0-9]*)*//g; s/[0-9.][0-9.]*m*s\b//g
		s/[wm]\.json//g; s/ *$//'
}
# same NAME OPTION ...: the run on an engine, with $how, equals the local one
same() {
	name=$1
	shift
	"$WAZA" run -q -o w.json "$@" >w.txt 2>/dev/null
	want=$?
	"$WAZA" run -q -o m.json --on local $how "$@" >m.txt 2>err
	is "$name: status" "$want" "$?"
	is "$name: nothing on stderr" '' "$(cat err)"
	is "$name: results" '' "$(plain w.json >w; plain m.json | diff w - | head -n 5)"
	is "$name: report" '' "$(text w.txt | tr ' ' '\n' >w; text m.txt | tr ' ' '\n' | diff w - | head -n 9)"
	is "$name: no directory is left" '' "$(ls .waza/on)"
}
how=
same 'default'
how='--shards 9'
same 'more shards than tasks'
how=
same 'with a baseline' --baseline
how='--shard-trials --shards 4'
same 'trials'
how="--shard-by time=$tmp/w.json --shards=2"
same 'by time'
how=
same 'words for a shell' --var "x=it's \$HOME
\`new\`"
same 'letters' -vt '[a-c]' --limit=2

# several suites and models: the same files, also with more shards than tasks
mkdir two
sed 's/name: whole/name: other/; s/skill: speller/skill: other/; /skill_directories/d; /id: [cde]/d' eval.yaml >two/eval.yaml
"$WAZA" run -q -o w.json --model m1 --model m2 eval.yaml two/eval.yaml >w.txt 2>/dev/null
run "$WAZA" run -q -o m.json --model m1 --model m2 --on local --shards 7 eval.yaml two/eval.yaml
is 'suites and models: status and messages' '0 ' "$rc $err"
for f in speller_m1 speller_m2 other_m1 other_m2; do
	is "suites and models: $f" '' "$(plain "w_$f.json" >w; plain "m_$f.json" | diff w - | head -n 5)"
done
ok 'suites and models: a summary' [ -s m_summary.json ]
text w.txt | tr ' ' '\n' >w
is 'suites and models: report' '' "$(printf '%s\n' "$out" >m.txt; text m.txt | tr ' ' '\n' | sed '/^[0-9.]*m*s$/d' | diff w - | head -n 9)"
rm -f w*.json m*.json

# results without a name, reporters, events
run "$WAZA" run -q --on local --reporter junit:m.xml
ok 'default place of results' [ -s .waza/results/whole-*.json ]
like 'a reporter' '*<testcase*' "$(cat m.xml)"
run "$WAZA" run --on local --stream-json --no-triggers
is 'events: trials' 15 "$(printf '%s\n' "$out" | grep -c '"trial_complete"')"
is 'events: tasks' 5 "$(printf '%s\n' "$out" | grep -c '"task_complete"')"
like 'events: first and last' '{"type":"eval_start"*"eval_complete"*' "$(printf '%s\n' "$out" | sed -n '1p;$p')"
run "$WAZA" run --on local --no-triggers
like 'the console has the tasks, with the reason of a failure' '*/5] x b*missing "yes"*' "$(printf '%s\n' "$err" | sed 's/✗/x/; s/ Second/ b/' | grep '/5\] x b')"

# what would be submitted
run "$WAZA" run --on local --shards 2 --dry-run --var "x=a b" -q
like '--dry-run' '#!/bin/sh*--shard "$k/2" --resume*shard-$k.json*'"--var 'x=a b'" "$out"
is '--dry-run writes nothing' '' "$(ls .waza/on)"
printf '%s\n' "$out" >job.sh
dir=$(printf '%s\n' "$out" | sed -n 's/^# before:  mkdir -p //p')
mkdir "$dir"
sh job.sh 1 >/dev/null 2>&1
sh job.sh 2 >/dev/null 2>&1
run "$WAZA" merge "$dir"
like '--dry-run: the script can be kept' '0 *5 tasks*' "$rc $out"
rm -r "$dir"

# a shard that fails is named with the end of its log, and repeated alone
mkdir long
cat >long/agent.sh <<'SH'
echo "$WAZA_TASK_ID" >>"$TRACE"
echo $$ >"$TRACE.pid.$WAZA_TASK_ID"
echo $PPID >"$TRACE.pid.of.$WAZA_TASK_ID"
case $WAZA_TASK_ID in
t3)	[ ! -e "$TRACE.die" ] || kill -9 $PPID ;;
esac
while [ -e "$TRACE.wait" ]; do sleep 0.05; done
echo done
SH
cat >long/eval.yaml <<'YAML'
name: long
config: {executor: command, command: [sh, agent.sh], workers: 1}
graders: [{type: text, config: {contains: [done]}}]
tasks:
  - {id: t0, prompt: x}
  - {id: t1, prompt: x}
  - {id: t2, prompt: x}
  - {id: t3, prompt: x}
YAML
cp long/agent.sh .
TRACE=$tmp/trace
export TRACE
: >trace.die
run "$WAZA" run -o m.json --on local --shards 2 long/eval.yaml
is 'a killed shard: status 2' 2 "$rc"
like 'a killed shard is named, with its signal and the end of its log' \
    '*waza: shard 2/2 failed (signal 9); the end of */shard-2.log:*1/2]*t1*not complete; 3 of 4 trials are kept in *; resume with: *run --resume -o m.json --on local*' "$err"
ok 'a killed shard: no results' [ ! -e m.json ]
is 'a killed shard: all tasks were tried' 't0 t1 t2 t3' "$(sort trace | tr '\n' ' ' | sed 's/ $//')"
rm trace.die trace
run "$WAZA" run -o m.json --on local --shards 3 --resume long/eval.yaml
like '--resume with another number of shards: a new run' '*nothing to resume*' "$err"
rm trace m.json
run "$WAZA" run -o m.json --on local --shards 2 --resume long/eval.yaml
is '--resume: status' 0 "$rc"
is '--resume: only the trial that was missing' t3 "$(cat trace)"
like '--resume: the tasks that were done are counted' '*4/4*' "$err"
ok '--resume: the directory is removed' [ -z "$(ls .waza/on)" ]
"$WAZA" run -q -o w.json long/eval.yaml >/dev/null
is '--resume: the results of a whole run' '' "$(plain w.json >w; plain m.json | diff w - | head -n 5)"

# --on-dir stays
run "$WAZA" run -q -o m.json --on local --on-dir here --shards 2 long/eval.yaml
is '--on-dir: the files stay' 'job.sh plan shard-1.json shard-1.log shard-2.json shard-2.log' "$(ls here | tr '\n' ' ' | sed 's/ $//')"
run "$WAZA" run -q -o m.json --on local --on-dir here --shards 2 long/eval.yaml
like '--on-dir: an earlier run needs --resume' '2 *has an earlier run: continue it with --resume*' "$rc $err"
rm -f trace m.json
run "$WAZA" run -q -o m.json --on local --on-dir here --shards 2 --resume long/eval.yaml
is '--on-dir: complete shards are not repeated' '0 no' "$rc $([ -e trace ] && echo yes || echo no)"
is '--on-dir: and merged' '' "$(plain m.json | diff w - | head -n 5)"
is '--on-dir: no warning' '' "$err"
cp long/eval.yaml long.yaml
sed 's/prompt: [^,}]*/prompt: changed/' long.yaml >long/eval.yaml
run "$WAZA" run -q -o m.json --on local --on-dir here --shards 2 --resume long/eval.yaml
like '--on-dir: a changed suite' '0 waza: the suite has changed since the shards ran: *' "$rc $err"
mv long.yaml long/eval.yaml
run "$WAZA" run -q -o m.json --on local --on-dir here --shards 2 --resume --trials 2 long/eval.yaml
like '--on-dir: another run is refused' '2 *cannot be resumed: it has a run with other options*' "$rc $err"

# alive PID ...: those that run; zombies do not count
alive() {
	for p
	do grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$p/status" 2>/dev/null && echo "$p"
	done
}
waiting() { [ -s trace.pid.t0 ] && [ -s trace.pid.t1 ]; }
ended() { [ -z "$(alive $pids)" ]; }
# interrupt NAME SIGNALS: the run ends, and no shard and no agent stays
interrupt() {
	rm -f trace trace.pid.*
	: >trace.wait
	"$WAZA" run -o i.json --on local --shards 2 long/eval.yaml >out 2>err &
	pid=$!
	wait_until 60 waiting
	pids=$(cat trace.pid.*)
	for s in $2
	do kill "-$s" "$pid"
	done
	wait "$pid" 2>/dev/null
	rc=$?
	wait_until 60 ended
	is "$1: no process is left" '' "$(alive $pids)"
	rm trace.wait
}
if [ -e /proc/self/status ]; then
	interrupt 'an interrupt' TERM
	is 'an interrupt: status' 143 "$rc"
	like 'an interrupt: how to resume' '*interrupted; 0 of 4 trials are kept in *; resume with: *--resume -o i.json --on local*' "$(cat err)"
	run "$WAZA" run -q -o i.json --on local --shards 2 --resume long/eval.yaml
	is 'an interrupt: resumed' "0 " "$rc $(plain i.json | diff w - | head -n 5)"
	interrupt 'two interrupts' 'TERM TERM'
	is 'two interrupts: status' 143 "$rc"
	interrupt 'killed' KILL
	run "$WAZA" run -q -o i.json --on local --shards 2 --resume long/eval.yaml
	is 'killed: resumed' "0 " "$rc $(plain i.json | diff w - | head -n 5)"
else
	skip 'no /proc'
fi

# results that cannot be written are not lost
if [ -c /dev/full ]; then
	rm -f trace
	run "$WAZA" run -o /dev/full --on local --shards 2 long/eval.yaml
	like 'a full disk: status and advice' '2 *cannot write the results*4 of 4 trials are kept in*--resume*' "$rc $err"
	rm -f trace
	run "$WAZA" run -q -o full.json --on local --shards 2 --resume long/eval.yaml
	is 'a full disk: resumed without running anything' '0 no' "$rc $([ -e trace ] && echo yes || echo no)"
	is 'a full disk: the results' '' "$(plain full.json | diff w - | head -n 5)"
else
	skip 'no /dev/full'
fi

# refused before anything is written
rm -rf .waza
# refused WORDS OPTION ...
refused() {
	words=$1
	shift
	run "$WAZA" run -q -o m.json "$@" long/eval.yaml
	like "refused: $*" "2 *$words*" "$rc $err"
}
refused '--on must be kubernetes, local' --on locl
refused '--on-option needs --on' --on-option x
refused 'has no options' --on local --on-option x
refused '--fail-fast cannot be used with --on' --on local --fail-fast
refused '--shard cannot be used with --on' --on local --shard 1/2
refused 'more than 10000 shards' --on local --shards 10001
sed 's/^config: {/&fail_fast: true, /' long/eval.yaml >long/fast.yaml
run "$WAZA" run -q -o m.json --on local long/fast.yaml
like 'refused: fail_fast of a suite' '2 *long/fast.yaml: "fail_fast" cannot be used with --on*' "$rc $err"
ok 'refused: nothing is written' [ ! -e .waza ]


# Slurm, by doubles: killed after the jobs were submitted, before their id was known
mkdir bin slurm
cat >bin/sbatch <<'SH'
#!/bin/sh
for a
do
	case $a in
	--job-name=*) name=${a#*=} ;;
	esac
done
echo "$name" >>"$SLURM/submitted"
echo "$a" >"$SLURM/script"
if [ -e "$SLURM/die" ]
then
	rm "$SLURM/die"
	kill -KILL "$PPID"
	exit 0
fi
echo 8
SH
# the jobs run when the queue is asked for their states
cat >bin/squeue <<'SH'
#!/bin/sh
case $* in
*--name=*)
	for a
	do
		case $a in
		--name=*,*) echo 99 ;;	# a list: jobs of others, too
		--name=*) grep -qx "${a#*=}" "$SLURM/submitted" && echo 7 ;;
		esac
	done ;;
*)
	for k in 1 2
	do sh "$(cat "$SLURM/script")" "$k" >/dev/null 2>&1
	done ;;
esac
exit 0
SH
printf '#!/bin/sh\n' >bin/scancel
chmod +x bin/*
SLURM=$tmp/slurm PATH=$tmp/bin:$PATH
export SLURM PATH
: >slurm/die
run "$WAZA" run -q -o s.json --on slurm --shards 2 --on-option --job-name=mine,too
is 'Slurm, killed in sbatch: status' 137 "$rc"
like 'Slurm: the name is that of the user and unique' 'mine-????????????' "$(cat slurm/submitted)"
run "$WAZA" run -o s.json --on slurm --shards 2 --on-option --job-name=mine,too --resume
is 'Slurm, resumed: the jobs are not submitted again' 1 "$(grep -c . slurm/submitted)"
ok 'Slurm, resumed: results' test -s s.json
rm -f s.json*
run "$WAZA" run -o s.json --on slurm --shards 2
is 'Slurm, another run: submitted once' 2 "$(grep -c . slurm/submitted)"
done_testing
