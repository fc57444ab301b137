# A run that is interrupted, killed, or cannot write: nothing is lost, nothing
# is done twice, and the results say so.
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
config: {executor: command, command: 'echo "$WAZA_TASK_ID $WAZA_TRIAL" >>$LOG; cat', workers: 2, trials_per_task: 4}
tasks:
  - {id: a, prompt: answer a, expected: {output_contains: [answer]}}
  - {id: b, prompt: answer b, expected: {output_contains: [answer]}}
  - {id: c, prompt: answer c, expected: {output_contains: [nothing]}}
  - {id: d, prompt: answer d, expected: {output_contains: [answer]}}
YAML
LOG=$tmp/log TMPDIR=$tmp/tmp
export LOG TMPDIR
mkdir tmp

# numbers FILE: what has to be the same, however often we were interrupted
numbers() {
	"$WAZA" parse "$1" | grep -o '"\(test_id\|status\|run_number\|score\|pass_rate\|final_output\|succeeded\|failed\|errors\|total_tests\)":\("[^"]*"\|[^,}]*\)'
}
lines() {
	[ -f "$1" ] && [ "$(grep -c . "$1")" -ge "$2" ]
}

: >log
"$WAZA" run -q slow.yaml -o whole.json >/dev/null
numbers whole.json >want
is 'whole: sixteen trials' 16 "$(grep -c . log)"

# kill -9 after so many trials, then --resume
for at in 2 5 9 14
do
	rm -f r.json r.json.journal
	: >log
	"$WAZA" run -q slow.yaml -o r.json >/dev/null 2>&1 &
	pid=$!
	wait_until 20 lines r.json.journal "$at"
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	done=$(($(wc -l <r.json.journal) - 1))	# whole lines, without the first
	: >log2			# a child of the killed one may still write
	LOG=$tmp/log2 "$WAZA" run -q slow.yaml -o r.json --resume >/dev/null
	is "killed after $at lines: no finished trial is run again" $((16 - done)) "$(grep -c . log2)"
	numbers r.json >got
	ok "killed after $at lines: the results are the same" cmp -s want got
done
# the agent of one that was killed goes with it
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
	ok 'killed: its agent runs' wait_until 20 test -s "$tmp/agent.pid"
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	ok 'killed: its agent goes with it' wait_until 20 \
	    sh -c '! kill -0 "$(cat "$1")" 2>/dev/null' sh "$tmp/agent.pid"
else
	skip 'only Linux tells children of it'
fi

"$WAZA" run -q slow.yaml -o r.json --resume >/dev/null
: >log
"$WAZA" run -q slow.yaml -o r.json --resume >/dev/null
is 'resuming what is finished runs nothing' 0 "$(grep -c . log)"
"$WAZA" run -q slow.yaml -o r.json --rerun-failed >/dev/null
is '--rerun-failed runs the failed task only' 'c 1
c 2
c 3
c 4' "$(sort log)"
numbers r.json >got
ok '--rerun-failed: the results are the same' cmp -s want got

# a suite that passes is still one that passed
sed 's/\[nothing\]/[answer]/' slow.yaml >pass.yaml
"$WAZA" run -q pass.yaml -o p.json >/dev/null
for o in --resume --retry-errors --rerun-failed
do
	run "$WAZA" run -q pass.yaml -o p.json $o
	is "$o of what has passed: status" 0 "$rc"
	like "$o of what has passed: results" '*"status":"passed"}' "$("$WAZA" parse p.json)"
done
# what fail_fast has stopped stays so
: >log
sed 's/workers: 2, trials_per_task: 4/fail_fast: true/' slow.yaml >ff.yaml
"$WAZA" run -q ff.yaml -o ff.json >/dev/null
is 'fail_fast: what ran' 'a 1
b 1
c 1' "$(cat log)"
"$WAZA" run -q ff.yaml -o ff.json --resume >/dev/null
is 'fail_fast and --resume: nothing more' 3 "$(grep -c . log)"

# without -o the journal is in .waza
: >log
"$WAZA" run -q slow.yaml >/dev/null
: >log
"$WAZA" run -q slow.yaml --resume >/dev/null
is '--resume without -o' 0 "$(grep -c . log)"

# another suite's journal
sed 's/name: slow/name: other/' slow.yaml >other.yaml
run "$WAZA" run -q other.yaml -o r.json --resume
is 'the journal of another suite: status' 2 "$rc"
like 'the journal of another suite: words' '*slow*' "$err"

# an interrupt: children end, partial results, 128 + signal
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
	"$WAZA" run -q hang.yaml -o h.json >out 2>err &
	pid=$!
	wait_until 20 lines log 2
	kill "-$1" "$pid"
	wait "$pid"
	is "$1: status" "$2" $?
	is "$1: what is finished is kept" 1 "$("$WAZA" parse h.json | grep -o '"test_id"' | grep -c .)"
	like "$1: the results say so" '*"status":"cancelled"*' "$("$WAZA" parse h.json)"
	ok "$1: no child is left" sh -c '! kill -0 $(tail -n 1 log) 2>/dev/null'
}
interrupted INT 130
interrupted TERM 143
interrupted HUP 129

# a reader that does not read: the run waits, but hears a signal
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
wait_until 20 lines f.json.journal 300
kill -TERM "$pid"
wait "$pid"
is 'a reader that does not read: status' 143 $?
exec 3<&-
"$WAZA" run --stream-json flood.yaml --trials 2000 | head -n 1 >first
like 'a reader that goes away has its line' '{"type":"eval_start"*' "$(cat first)"

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
is 'a watcher sees only whole files' 0 "$bad"
ok 'a watcher sees the file while the run goes on' [ "$seen" -gt 1 ]

# places that cannot be written
mkdir d
run "$WAZA" run -q nap.yaml -o d
is 'the results path is a directory: status' 2 "$rc"
run "$WAZA" run -q nap.yaml -o nap.yaml/r.json
is 'no such directory: status' 2 "$rc"
like 'no such directory: words' '*nap.yaml/r.json*' "$err"
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
	like 'a read-only directory: words' '*r.json*: *' "$err"
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
	is 'nobody hears the events: status' 2 $?
else
	skip 'no /dev/full here'
fi
# a disk that is full: no file may grow beyond 8 blocks
(ulimit -f 8 && exec "$WAZA" run -q many.yaml -o full.json --trials 200) >out 2>err
is 'the disk fills up: status' 2 $?
like 'the disk fills up: words' '*full.json*' "$(cat err)"
is 'the disk fills up: nothing half-written' '' "$(ls | grep 'full.json\.t')"

# only the first trial of three is to be run again
cat >first.yaml <<'YAML'
name: first
skill: s
config: {executor: command, command: '[ -f "$LOG.go" ] || [ "$WAZA_TRIAL" != 1 ] && cat', trials_per_task: 3}
tasks: [{id: a, prompt: answer a, expected: {output_contains: [answer]}}]
YAML
run "$WAZA" run -q first.yaml -o first.json
is 'the first trial is an error: status' 1 "$rc"
: >"$LOG.go"
run "$WAZA" run -q first.yaml -o first.json --retry-errors
is 'run again, it ends its task: status' 0 "$rc"
like 'run again, it ends its task: words' '*1 passed*' "$out"
done_testing
