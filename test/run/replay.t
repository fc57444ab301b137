# Recordings: answers of agents are stored without secrets and replayed.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LOG=$tmp/log SOME_API_KEY=sk-canary-0123456789 PLAIN=canary-by-name TMPDIR=$tmp
# shellcheck disable=SC2089,SC2090 # the quotes are meant
ODD_TOKEN='canary"with\quotes'
# shellcheck disable=SC2090
export LOG SOME_API_KEY PLAIN TMPDIR ODD_TOKEN
: >log

cat >agent.sh <<'SH'
#!/bin/sh
echo "$WAZA_TASK_ID $WAZA_TRIAL $WAZA_ATTEMPT" >>"$LOG"
echo "answer $WAZA_TASK_ID/$WAZA_TRIAL/$WAZA_ATTEMPT: $SOME_API_KEY $PLAIN $ODD_TOKEN"
mkdir -p sub
echo "made by $SOME_API_KEY" >sub/made.txt
SH
chmod +x agent.sh
cat >eval.yaml <<'YAML'
name: rec
skill: s
config:
  executor: command
  command: [./agent.sh]
  trials_per_task: 2
  executors: {openai: {api_key_env: PLAIN}}
tasks:
  - id: ../../a b/..
    prompt: 'say {{.JobID}} at {{.Timestamp}}'
    expected: {output_contains: [answer]}
    graders: [{type: file, name: f, config: {must_exist: [sub/made.txt]}}]
  - {id: B, prompt: answer b, expected: {output_contains: [answer]}}
  - {id: b, prompt: answer b, expected: {output_contains: [answer]}}
YAML
run "$WAZA" run -q eval.yaml --record rec -o live.json
is 'recorded: status' 0 "$rc"
is 'recorded: one file per trial' 6 "$(find rec -type f -name '*.1.jsonl' | wc -l | tr -d ' ')"
is 'recorded: no other and no temporary files' 6 "$(find rec . -name '*.jsonl*' | sort -u | grep -c '^rec')"
is 'recorded: each line is JSON' '' "$(for f in rec/*; do while IFS= read -r l; do
	printf '%s' "$l" | "$WAZA" parse >/dev/null 2>&1 || echo "$f"; done <"$f"; done)"
is 'no secret is recorded' '' "$(grep -rl canary rec)"
ok 'secrets are replaced by stars' grep -q '\*\*\*' rec/t-b-*.1.1.jsonl

: >log
run "$WAZA" run -q eval.yaml --replay rec -o again.json
is 'replayed: status' 0 "$rc"
is 'replayed: no agent runs' 0 "$(grep -c . log)"
is 'replayed: no warnings' '' "$err"
took() { grep -o '"run_number":[0-9]*,"attempts":[0-9]*,"status":"[a-z]*","duration_ms":[0-9]*' "$1"; }
is 'replayed: the durations are those of the recording' \
    "$(took live.json | sed 's/:0$/:-/')" "$(took again.json | sed 's/:0$/:-/')"
cp -R rec marked
find marked -type f | while IFS= read -r f
do
	{ printf '\357\273\277'; cat "$f"; } >with
	mv with "$f"
done
run "$WAZA" run -q eval.yaml --replay marked
is 'recordings with a byte order mark: status' '0 ' "$rc $err"
cat >replay.yaml <<'YAML'
name: rec
skill: s
config: {executor: replay, replay: {dir: rec}}
tasks:
  - {id: b, prompt: answer b, expected: {output_contains: [b/1/1]}}
  - {id: B, prompt: answer b, expected: {output_contains: [other]}}
YAML
run "$WAZA" validate --strict replay.yaml
is 'executor replay: the suite is valid' 0 "$rc"
run "$WAZA" run -q replay.yaml
is 'executor replay: answers are graded again' 1 "$rc"
like 'executor replay: one passes, one fails' '*2 tasks: 1 passed, 1 failed*' "$out"
run "$WAZA" run -q replay.yaml --trials 3 -o three.json
like 'no recording: the message names the file' '*no recording of this trial: *rec/t-b-*.3.1.jsonl: *' "$(cat three.json)"
like 'no recording: error class infrastructure' '*"error_class":"infrastructure"*' "$(cat three.json)"
sed 's/prompt: answer b/prompt: another/' replay.yaml >changed.yaml
run "$WAZA" run -q changed.yaml
like 'a recording of another prompt is a warning' '*t-b-*recorded with another prompt than the task has now*' "$err"
sed 's/, replay: {dir: rec}//' replay.yaml >nodir.yaml
run "$WAZA" run -q nodir.yaml
is 'missing directory setting: status 2' 2 "$rc"
like 'missing directory setting: message' '*needs a directory of recordings*' "$err"
run "$WAZA" run -q eval.yaml --replay nowhere
is 'missing directory: status 2' 2 "$rc"
run "$WAZA" run -q eval.yaml --replay rec --executor mock
is '--replay with --executor: status 2' 2 "$rc"

# files that a recording lacks: whatever reads the workspace cannot judge it
mkdir lacks
cat >lacks.yaml <<'YAML'
name: lacks
skill: s
config: {executor: command, command: 'echo hello; ln -s nowhere link'}
tasks:
  - {id: p, prompt: p, graders: [{type: program, name: g, config: {command: 'true'}}]}
  - {id: f, prompt: p, graders: [{type: file, name: g, config: {must_not_exist: [other]}}]}
  - {id: t, prompt: p, graders: [{type: text, name: g, config: {contains: [hello]}}]}
YAML
run "$WAZA" run -q lacks.yaml --record lacks
is 'files that a recording lacks: the run passes' 0 "$rc"
run "$WAZA" run -q lacks.yaml --replay lacks -o lacks.json
like 'files that a recording lacks: what needs none passes' '*3 tasks: 1 passed, 0 failed, 2 errors (2 grader_error)*' "$out"
like 'files that a recording lacks: a program' '*cannot be checked: not all files of the workspace are recorded*' "$out"

# a file that the agent removed is not there again
mkdir fixtures
echo given >fixtures/given.txt
cat >gone.yaml <<'YAML'
name: gone
skill: s
config: {executor: command, command: 'rm -f given.txt; echo hello'}
tasks:
  - id: a
    prompt: p
    inputs: {files: [{path: given.txt}, {path: kept.txt, content: k}]}
    graders: [{type: file, name: f, config: {must_exist: [kept.txt], must_not_exist: [given.txt]}}]
YAML
run "$WAZA" run -q gone.yaml --record gone
is 'a removed file: the run passes' 0 "$rc"
run "$WAZA" run -q gone.yaml --replay gone
is 'a removed file: so does the replay' 0 "$rc"

# the same for fixtures and for repositories, also if not all files can be recorded
mkdir -p ctx/sub/deep
echo a >ctx/a.txt
echo b >ctx/sub/deep/b.txt
echo c >ctx/c.txt
repos='environment: {A: b}'
if command -v git >/dev/null 2>&1
then
	mkdir origin
	echo code >origin/code.txt
	echo more >origin/more.txt
	(cd origin && git init -q && git add . && git -c user.name=x -c user.email=x@y commit -qm x) >/dev/null 2>&1
	repos="repos: [{source: $tmp/origin, dest: src}]"
fi
# fixed GRADERS
fixed() {
	cat <<YAML
name: ctx
skill: s
config: {executor: command, command: 'rm -rf a.txt sub src/code.txt; echo hello'}
tasks: [{id: a, prompt: p, inputs: {context: {fixture: ctx}, $repos}, graders: [{type: file, name: f, config: {$1}}]}]
YAML
}
fixed 'must_exist: [c.txt], must_not_exist: [a.txt, sub, src/code.txt]' >ctx.yaml
fixed 'must_exist: [a.txt]' >was.yaml
run "$WAZA" run -q ctx.yaml --record ctx-rec
is 'removed fixtures: the run passes' 0 "$rc"
run "$WAZA" run -q ctx.yaml --replay ctx-rec
is 'removed fixtures: so does the replay' '0 ' "$rc $err"
printf '\377\376' >ctx/binary
run "$WAZA" run -q ctx.yaml --record ctx-bin
run "$WAZA" run -q was.yaml --replay ctx-bin
like 'removed fixtures, not all files recorded: not there again' '1 *cannot be checked: *a.txt*' "$rc $out"
fixed 'must_exist: [binary, c.txt]' >ctx.yaml
run "$WAZA" run -q ctx.yaml --replay ctx-bin
is 'removed fixtures, not all files recorded: others stay' 0 "$rc"

# invalid recordings
for f in rec/t-b-*.1.1.jsonl
do cp "$f" keep
done
for bad in '' '{' '{"waza_record":1}' '[]
{"answer":{}}
' '{"waza_record":1}
{"answer":' '{"waza_record":1,"prompt_sha256":7}
{"answer":[]}
' '{"waza_record":1}
{"answer":{"files":[{"path":{},"content":[1]}]}}
'
do
	printf '%s' "$bad" >"$f"
	run "$WAZA" run -q replay.yaml --task b -o bad.json
	ok "not a recording: $(printf '%s' "$bad" | tr '\n' ' ')" [ "$rc" -eq 1 ]
done
head -c 300 keep >"$f"
run "$WAZA" run -q replay.yaml --task b -o bad.json
like 'a truncated recording: message' '*not a recording, or an incomplete one*' "$(cat bad.json)"

# errors, timeouts, attempts, several turns, calls, models
cat >more.yaml <<'YAML'
name: more
skill: s
config: {executor: mock, max_attempts: 2, timeout_seconds: 1}
tasks:
  - {id: bad, prompt: p, mock: {error: it broke}, expected: {output_contains: [x]}}
  - {id: late, prompt: p, mock: {output: x, delay_ms: 5000}, expected: {output_contains: [x]}}
  - {id: twice, prompt: p, mock: {output: y}, expected: {output_contains: [x]}}
  - id: talk
    inputs: {prompt: p, follow_up_prompts: [go on, and on]}
    mock: {output: said, skills: [k], usage: {turns: 1, input_tokens: 5, output_tokens: 7},
      tool_calls: [{name: edit, arguments: {path: a, deep: {n: 1}}, result: done}]}
    graders: [{type: tool_calls, name: c, config: {required_tools: [edit]}}]
YAML
run "$WAZA" run -q more.yaml --record rec2 -o m1.json
is 'attempts are recorded' 2 "$(find rec2 -name 't-twice-*' | wc -l | tr -d ' ')"
run "$WAZA" run -q more.yaml --replay rec2 -o m2.json
facts() { grep -v '^ *"[a-z_]*usage": ' "$1" | grep -o '"\(status\|attempts\|final_output\|error_class\|tool_call_count\|input_tokens\|skills\|args\)":[^,}]*'; }
is 'replayed errors, attempts and turns are the same' "$(facts m1.json)" "$(facts m2.json)"
like 'a run pays for its answers' '*"usage": {"turns":3,"input_tokens":15,"output_tokens":21,*' "$(grep '^ *"usage"' m1.json)"
like 'a replay costs nothing' '*"usage": {"turns":0,"input_tokens":0,"output_tokens":0,*' "$(grep '^ *"usage"' m2.json)"
like 'a replay: what its answers had cost' '*"saved_usage": {"turns":3,"input_tokens":15,"output_tokens":21,*' "$(grep '^ *"saved_usage"' m2.json)"
is 'replayed trials are marked' 4 "$(grep -c '"replayed":true' m2.json)"
is 'other trials are not' 0 "$(grep -c '"replayed"' m1.json)"
rm rec2/t-twice-*.1.2.jsonl
run "$WAZA" run -q more.yaml --replay rec2 --task twice -o m3.json
like 'attempts end where recordings end' '*"attempts":1,"status":"failed"*' "$(cat m3.json)"
run "$WAZA" run -q replay.yaml --executor mock --model m/1 --model ../m2 --record rec3
is 'models do not share recordings' '-.-m2 m-1' "$(ls rec3 | tr '\n' ' ' | sed 's/ $//')"
mkdir ro && chmod 500 ro
if [ "$(id -u)" -eq 0 ]
then skip 'root can write anywhere'
else run "$WAZA" run -q more.yaml --record ro/x
     is '--record: the directory cannot be created' 2 "$rc"
fi
run "$WAZA" run -q more.yaml --record eval.yaml
is '--record: a file is not a directory' 2 "$rc"

# the messages of agents with a protocol
d=${DOUBLES:-$top/test/tool}
wire() {	# NAME PROMPT CONFIG: a suite that is recorded, and played again
	cat >wire.yaml <<YAML
name: wire
skill: s
config: {timeout_seconds: 300, $3}
tasks: [{id: w, prompt: '$2', graders: [{type: code, name: any, config: {assertions: ['len(output) > 0']}}]}]
YAML
	run "$WAZA" run -q wire.yaml --record "wire-$1" -o w1.json
	is "$1: status" 0 "$rc"
	ok "$1: what we said" grep -q '^{"way":">","ms":[0-9]*,"message":{' "wire-$1"/*
	ok "$1: what it said" grep -q '^{"way":"<","ms":[0-9]*,"message":{' "wire-$1"/*
	is "$1: no secret is recorded" '' "$(grep -rl canary "wire-$1")"
	run "$WAZA" run -q wire.yaml --replay "wire-$1" -o w2.json
	is "$1: played again" "$(facts w1.json)" "$(facts w2.json)"
}
if [ -x "$d/double_acp" ]
then wire acp '[[env:SOME_API_KEY]]' "executor: acp, acp: {command: ['$d/double_acp']}"
else skip 'no double_acp (make check builds it)'
fi
if [ -x "$d/double_copilot" ]
then wire copilot '[[env:SOME_API_KEY]]' "executor: copilot-sdk, cli_path: '$d/double_copilot'"
else skip 'no double_copilot (make check builds it)'
fi

# trigger tests are recorded as well
mkdir trig
cat >trig/eval.yaml <<'YAML'
name: trig
skill: k
config: {executor: mock, mock: {output: yes, skills: [k]}}
tasks: [{id: a, prompt: p, expected: {output_contains: ['yes']}}]
YAML
cat >trig/trigger_tests.yaml <<'YAML'
skill: k
should_trigger_prompts: [{prompt: use it}]
should_not_trigger_prompts: [{prompt: leave it}]
YAML
run "$WAZA" run -q trig --record rec4 -o t1.json
is 'trigger tests: recorded' 3 "$(find rec4 -type f | wc -l | tr -d ' ')"
run "$WAZA" run -q trig --replay rec4 -o t2.json
did() { grep -o '"did_trigger":[a-z]*\|"accuracy":[0-9.]*' "$1"; }
is 'trigger tests: replayed answers are the same' "$(did t1.json)" "$(did t2.json)"
ok 'trigger tests: the results contain them' [ -n "$(did t2.json)" ]
done_testing
