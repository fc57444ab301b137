# A run that is interrupted, killed, or cannot write: finished trials are kept and
# not repeated, and the results report the interruption.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# a run of about 20 ms
nap() {
	"$WAZA" run -q nap.yaml >/dev/null 2>&1
}
cat >nap.yaml <<'YAML'
name: nap
skill: s
config: {executor: mock, mock: {delay_ms: 20}}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML

cat >slow.yaml <<'YAML'
name: slow
skill: s
config: {executor: command, command: 'echo "$WAZA_TASK_ID $WAZA_TRIAL" >>$LOG; [ -z "$AT" ] || [ "$(grep -c . <$LOG)" -le "$AT" ] || exec tail -f /dev/null; cat', workers: 2, trials_per_task: 4}
tasks:
  - {id: a, prompt: answer a, expected: {output_contains: [answer]}}
  - {id: b, prompt: answer b, expected: {output_contains: [answer]}}
  - {id: c, prompt: answer c, expected: {output_contains: [nothing]}}
  - {id: d, prompt: answer d, expected: {output_contains: [answer]}}
YAML
LOG=$tmp/log TMPDIR=$tmp/tmp
export LOG TMPDIR
mkdir tmp

# numbers FILE: the results that must not depend on interruptions
numbers() {
	"$WAZA" parse "$1" | grep -o '"\(test_id\|status\|run_number\|score\|pass_rate\|final_output\|succeeded\|failed\|errors\|total_tests\)":\("[^"]*"\|[^,}]*\)'
}
lines() {
	[ -f "$1" ] && [ "$(grep -c . "$1")" -ge "$2" ]
}

: >log
"$WAZA" run -q slow.yaml -o whole.json >/dev/null
numbers whole.json >want
is 'an uninterrupted run has sixteen trials' 16 "$(grep -c . log)"

# kill -9 after some trials (the agents of those after AT wait), then --resume
for at in 2 5 9 14
do
	rm -f r.json r.json.journal
	: >log
	AT=$at "$WAZA" run -q slow.yaml -o r.json >/dev/null 2>&1 &
	pid=$!
	wait_until 120 lines r.json.journal "$at"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	done=$(($(wc -l <r.json.journal) - 1))	# whole lines, without the first
	: >log2			# a child of the killed one may still write
	LOG=$tmp/log2 "$WAZA" run -q slow.yaml -o r.json --resume >/dev/null
	is "killed after $at lines: no finished trial is run again" $((16 - done)) "$(grep -c . log2)"
	numbers r.json >got
	ok "killed after $at lines: the results are the same" cmp -s want got
done
# the agent of a killed run is terminated
if [ "$(uname)" = Linux ]
then
	cat >nap9.yaml <<'YAML'
name: nap9
skill: s
config: {executor: command, command: 'echo $$ >agent.pid.new; mv agent.pid.new "$AGENT_PID"; exec tail -f /dev/null'}
tasks: [{id: a, prompt: p, graders: [{type: text, contains: [x]}]}]
YAML
	AGENT_PID=$tmp/agent.pid "$WAZA" run -q nap9.yaml -o nap9.json >/dev/null 2>&1 &
	pid=$!
	ok 'killed: the agent runs' wait_until 120 test -s "$tmp/agent.pid"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	ok 'killed: the agent is terminated' wait_until 120 \
	    sh -c '! kill -0 "$(cat "$1")" 2>/dev/null' sh "$tmp/agent.pid"
else
	skip 'only Linux tells children of it'
fi

# poll fails: an error, and nothing is left.  Linux refuses more descriptors than
# the limit allows.
if command -v prlimit >/dev/null
then
	cat >stuck.yaml <<'YAML'
name: stuck
skill: s
config: {executor: command, workers: 8, trials_per_task: 8, command: 'echo $$ >>"$LOG"; exec tail -f /dev/null'}
tasks: [{id: a, prompt: p, inputs: {files: [{path: f, content: c}]}, graders: [{type: text, contains: [x]}]}]
YAML
	: >log
	rm -rf tmp/*
	"$WAZA" run -q stuck.yaml -o stuck.json >/dev/null 2>err &
	pid=$!
	ok 'poll fails: the agents run' wait_until 120 lines log 8
	prlimit --pid "$pid" --nofile=12:12
	rc=0
	wait "$pid" || rc=$?
	is 'poll fails: status' 2 "$rc"
	like 'poll fails: message' '*poll: *' "$(cat err)"
	ok 'poll fails: the agents are terminated' sh -c 'for p in $(cat log); do ! kill -0 "$p" 2>/dev/null || exit 1; done'
	is 'poll fails: no files are left' '' "$(ls tmp)"
else
	skip 'no prlimit'
fi

"$WAZA" run -q slow.yaml -o r.json --resume >/dev/null
: >log
"$WAZA" run -q slow.yaml -o r.json --resume >/dev/null
is 'resuming a finished run starts no trial' 0 "$(grep -c . log)"
"$WAZA" run -q slow.yaml -o r.json --rerun-failed >/dev/null
is '--rerun-failed runs the failed task only' 'c 1
c 2
c 3
c 4' "$(sort log)"
numbers r.json >got
ok '--rerun-failed: the results are the same' cmp -s want got

# resuming a run that passed
sed 's/\[nothing\]/[answer]/' slow.yaml >pass.yaml
"$WAZA" run -q pass.yaml -o p.json >/dev/null
for o in --resume --retry-errors --rerun-failed
do
	run "$WAZA" run -q pass.yaml -o p.json $o
	is "$o of a run that passed: status" 0 "$rc"
	like "$o of a run that passed: results" '*"status":"passed"}' "$("$WAZA" parse p.json)"
done
# a run stopped by fail_fast is not continued
: >log
sed 's/workers: 2, trials_per_task: 4/fail_fast: true/' slow.yaml >ff.yaml
"$WAZA" run -q ff.yaml -o ff.json >/dev/null
is 'fail_fast: the trials that ran' 'a 1
b 1
c 1' "$(cat log)"
"$WAZA" run -q ff.yaml -o ff.json --resume >/dev/null
is 'fail_fast and --resume: no further trial runs' 3 "$(grep -c . log)"

# without -o the journal is in .waza
: >log
AT=5 "$WAZA" run -q slow.yaml >/dev/null 2>&1 &
pid=$!
ok 'without -o: the journal is in .waza' wait_until 120 lines .waza/slow.journal 5
kill -9 "$pid"
wait "$pid" 2>/dev/null
done=$(($(wc -l <.waza/slow.journal) - 1))
: >log2
LOG=$tmp/log2 "$WAZA" run -q slow.yaml --resume >/dev/null
is '--resume without -o uses the journal in .waza' $((16 - done)) "$(grep -c . log2)"
ok '--resume without -o: the journal of the complete run is removed' [ ! -e .waza/slow.journal ]
numbers .waza/results/slow-*.json >got
ok '--resume without -o: the results are the same' cmp -s want got
: >log
"$WAZA" run -q slow.yaml --resume >/dev/null
is '--resume of a complete run without -o starts no trial' 0 "$(grep -c . log)"

# another suite's journal
sed 's/name: slow/name: other/' slow.yaml >other.yaml
run "$WAZA" run -q other.yaml -o r.json --resume
is 'the journal of another suite: status' 2 "$rc"
like 'the journal of another suite: message' '*slow*' "$err"

# an interrupt: children are terminated, partial results, status 128 + signal
cat >hang.yaml <<'YAML'
name: hang
skill: s
config: {executor: command, command: 'echo $$ >>$LOG; [ "$WAZA_TASK_ID" = a ] || tail -f /dev/null; echo hi'}
tasks:
  - {id: a, prompt: x, expected: {output_contains: [hi]}}
  - {id: b, prompt: x, expected: {output_contains: [hi]}}
  - {id: c, prompt: x, expected: {output_contains: [hi]}}
YAML
# a shell that is not interactive starts its background with SIGINT ignored
interrupted() {
	: >log
	rm -f h.json h.json.journal
	"$WAZA" run -q -w 1 hang.yaml -o h.json >out 2>err &
	pid=$!
	wait_until 120 lines log 2
	kill "-$1" "$pid"
	wait "$pid"
	is "$1: status" "$2" $?
	is "$1: finished tasks are kept" 1 "$("$WAZA" parse h.json | grep -o '"test_id"' | grep -c .)"
	like "$1: the results report the cancellation" '*"status":"cancelled"*' "$("$WAZA" parse h.json)"
	ok "$1: no child is left" sh -c '! kill -0 $(tail -n 1 log) 2>/dev/null'
}
interrupted INT 130
interrupted TERM 143
interrupted HUP 129

# a reader that stalls: the run waits, but reacts to signals
mkfifo fifo
cat >flood.yaml <<'YAML'
name: flood
skill: s
config: {executor: mock, trials_per_task: 20000}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
"$WAZA" run --stream-json flood.yaml -o f.json >fifo 2>err &
pid=$!
exec 3<fifo
wait_until 120 lines f.json.journal 300
kill -TERM "$pid"
wait "$pid"
is 'a reader that stalls: SIGTERM: status 143' 143 $?
exec 3<&-
"$WAZA" run --stream-json flood.yaml --trials 2000 | head -n 1 >first
like 'a reader that closes its pipe gets its first line' '{"type":"eval_start"*' "$(cat first)"

# the results can be read at any time
cat >many.yaml <<'YAML'
name: many
skill: s
config: {executor: mock, trials_per_task: 120, mock: {delay_ms: 20}}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
"$WAZA" run -q many.yaml -o m.json >/dev/null &
pid=$!
bad=0 seen=0
while kill -0 "$pid" 2>/dev/null
do
	if [ -f m.json ]
	then
		seen=$((seen + 1))
		"$WAZA" parse m.json >/dev/null 2>&1 || bad=$((bad + 1))
	fi
	nap
done
wait "$pid"
is 'the results file is complete whenever it is read' 0 "$bad"
ok 'the results file is written during the run' [ "$seen" -gt 1 ]

# places that cannot be written
mkdir d
run "$WAZA" run -q nap.yaml -o d
is 'the results path is a directory: status' 2 "$rc"
run "$WAZA" run -q nap.yaml -o nap.yaml/r.json
is 'no such directory: status' 2 "$rc"
like 'no such directory: message' '*nap.yaml/r.json*' "$err"
if [ "$(id -u)" != 0 ]
then
	mkdir ro
	chmod 555 ro
	run "$WAZA" run -q nap.yaml -o ro/r.json
elif [ -d /proc/self ]
then	# where even root makes no file
	run "$WAZA" run -q nap.yaml -o /proc/self/r.json
else
	rc=
fi
if [ -n "$rc" ]
then
	is 'a read-only directory: status' 2 "$rc"
	like 'a read-only directory: message' '*r.json*: *' "$err"
	is 'a read-only directory: nothing on stdout' '' "$out"
else
	skip 'root writes everywhere, and there is no /proc'
fi
if [ -c /dev/full ]
then
	ln -s /dev/full full.json	# lest its journal be beside the device
	run "$WAZA" run -q nap.yaml -o full.json
	is 'a full disk: status' 2 "$rc"
	"$WAZA" run --stream-json nap.yaml >/dev/full 2>err
	is 'events cannot be written: status 2' 2 $?
	is 'events cannot be written: message' \
	    'waza: cannot write to standard output: No space left on device' "$(cat err)"
	"$WAZA" run --stream-json none.yaml >/dev/full 2>err
	is 'no suite, and events cannot be written: status 2' 2 $?
	is 'no suite, and events cannot be written: messages' \
	    'none.yaml: No such file or directory; check the path
waza: cannot write to standard output: No space left on device' "$(cat err)"
	"$WAZA" run --stream-json nap.yaml 2>err | :
	is 'the reader of events has gone: no message' '' "$(cat err)"
else
	skip 'no /dev/full here'
fi
# a disk that is full: no file may grow beyond 8 blocks
(ulimit -f 8 && exec "$WAZA" run -q many.yaml -o small.json --trials 200) >out 2>err
is 'the disk fills up: status' 2 $?
like 'the disk fills up: message' '*small.json*' "$(cat err)"
is 'the disk fills up: no temporary file is left' '' "$(ls | grep 'small.json\.t')"

# --retry-errors repeats only the first of three trials
cat >first.yaml <<'YAML'
name: first
skill: s
config: {executor: command, command: '[ -f "$LOG.go" ] || [ "$WAZA_TRIAL" != 1 ] && cat', trials_per_task: 3}
tasks: [{id: a, prompt: answer a, expected: {output_contains: [answer]}}]
YAML
run "$WAZA" run -q first.yaml -o first.json
is 'an error in the first trial: status 1' 1 "$rc"
: >"$LOG.go"
run "$WAZA" run -q first.yaml -o first.json --retry-errors
is 'the repeated trial completes its task: status 0' 0 "$rc"
like 'the repeated trial completes its task: report' '*1 passed*' "$out"
done_testing
