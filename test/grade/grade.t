# waza grade: grades stored answers again; no agent runs.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# of FILE: print id, status and score of each task and trial, one per line
of() {
	"$WAZA" parse "$1" | tr '\n' ' ' | sed 's/"test_id"/\
&/g; s/"run_number"/\
&/g' | sed -n 's/^"test_id":"\([^"]*\)"[^{]*"status":"\([a-z]*\)".*/\1 \2/p
	s/^"run_number":\([0-9]*\),"attempts":[0-9]*,"status":"\([a-z]*\)".*,"score":\([0-9.]*\),"weighted_score".*/\1 \2 \3/p
	t
	s/^"run_number":\([0-9]*\),"attempts":[0-9]*,"status":"\([a-z]*\)".*/\1 \2/p'
}
# task ID FILE: print the status of a task
task() {
	of "$2" | sed -n "s/^$1 \([a-z]*\)$/\1/p"
}

# an agent that logs its start and gives an answer for many graders
cat >agent.sh <<'SH'
echo x >>"$TRACE"
case $WAZA_TASK_ID in
broken) echo 'no way' >&2; exit 3 ;;
esac
echo made >made.txt
echo "hello from $WAZA_TASK_ID"
SH
TRACE=$tmp/trace
export TRACE
cat >eval.yaml <<YAML
name: again
skill: s
config: {executor: command, command: [sh, $tmp/agent.sh], trials_per_task: 2}
hooks:
  before_run: [{command: echo hook >>$tmp/hooks}]
  before_task: [{command: echo hook >>$tmp/hooks}]
graders:
  - {type: text, name: greets, config: {contains: [hello]}}
tasks:
  - id: plain
    prompt: greet
    graders: [{type: text, name: more, config: {contains: [from, plain]}}]
  - id: filed
    prompt: make a file
    graders: [{type: file, name: files, config: {must_exist: [made.txt]}}]
  - id: broken
    prompt: fail
  - id: spare
    prompt: greet
    expected: {output_contains: [spare]}
YAML
"$WAZA" run -q -o r.json >/dev/null
is 'the run starts one agent per trial' 8 "$(grep -c . trace)"
: >trace
: >hooks

# unchanged graders: the same results
run "$WAZA" grade --results r.json -o o.json
is 'unchanged: same status as the run' 1 "$rc"
is 'no agent was started' '' "$(cat trace)"
is 'no hook was run' '' "$(cat hooks)"
is 'unchanged: the same statuses and scores' "$(of r.json)" "$(of o.json)"
like 'unchanged: report' '*Graded again: 4 of 4 tasks; no changes*' "$out"
like 'file graders without a workspace keep their verdict: warning' \
    "*agent's files are missing*files*--workspace*" "$err"
is 'file graders without a workspace: only one warning' 1 "$(grep -c 'files are missing' "$tmp/err")"
ok 'the new results are JSON' sh -c '"$WAZA" parse o.json >/dev/null'
is 'no journal is left' '' "$(ls | grep 'o.json.' || :)"
like 'the new results are marked as regraded' '*"metadata"*"regraded"*"tasks":4*' \
    "$("$WAZA" parse o.json)"
like 'the summary is the same' "*$("$WAZA" parse r.json |
    sed -n 's/.*\("success_rate":[^,]*,"aggregate_score":[^,]*\).*/\1/p')*" \
    "$("$WAZA" parse o.json)"
is 'an error stays an error' error "$(task broken o.json)"
like 'an error keeps its message' '*"error_msg":"*exit status 3*' "$("$WAZA" parse o.json)"
is 'the tool that ran the suite is still named' "$("$WAZA" parse r.json |
    grep -o '"engine_type":"[a-z]*"')" "$("$WAZA" parse o.json |
    grep -o '"engine_type":"[a-z]*"')"

# changed graders: tasks change in both directions
sed 's/contains: \[from, plain\]/contains: [from, zebra]/; s/\[spare\]/[zebra]/' \
    eval.yaml >strict.yaml
run "$WAZA" grade strict.yaml --results r.json -o o2.json
is 'a stricter grader: status 1' 1 "$rc"
is 'a stricter grader: the task fails' failed "$(task plain o2.json)"
is '"expected" is graded again' failed "$(task spare o2.json)"
is 'other tasks are unchanged' 'passed error' \
    "$(task filed o2.json) $(task broken o2.json)"
like 'old and new are printed' '*plain*passed*failed*1.00*0.75*' "$out"
run "$WAZA" grade eval.yaml --results o2.json -o o2.json
is 'results can be graded in place, and back' 'passed passed' \
    "$(task plain o2.json) $(task spare o2.json)"
run "$WAZA" grade strict.yaml --results r.json --format json -q
is 'json: status' 1 "$rc"
ok 'json: is JSON' sh -c '"$WAZA" parse "$1" >/dev/null' - "$tmp/out"
out=$("$WAZA" parse "$tmp/out")
like 'json: overall' '{"score":*,"passed":false,*"tasks":{*' "$out"
like 'json: a task' '*"plain":{"score":0.75,"passed":false,"regraded":true,"old":{"status":"passed","score":1},"new":{"status":"failed","score":0.75}}*' "$out"
like 'json: an error' '*"broken":*"error_class":"agent_error"*' "$out"
is 'no agent runs' '' "$(cat trace)"

# --task: other tasks stay unchanged
run "$WAZA" grade strict.yaml --results r.json --task plain -o o3.json
is '--task grades the named task' failed "$(task plain o3.json)"
is '--task leaves the others unchanged' passed "$(task spare o3.json)"
like '--task: report' '*Graded again: 1 of 4 tasks, 1 changed*' "$out"
run "$WAZA" grade strict.yaml --results r.json --task nobody
is '--task: unknown task: status 2' 2 "$rc"
like '--task: unknown task: message' '*no task*--task*' "$err"

# tasks that only one of the two has
sed 's/id: spare/id: newer/' eval.yaml >other.yaml
run "$WAZA" grade other.yaml --results r.json -o o4.json
like 'a task missing in the results is reported' '*task "newer" is not in the results file*' "$err"
like 'a task missing in the suite is reported' '*task "spare" is not in the suite*' "$err"
is 'a task missing in the suite keeps its result' passed "$(task spare o4.json)"
is 'a task missing in the results is not added' '' "$(task newer o4.json)"
sed 's/  - id: /&x-/' eval.yaml >none.yaml
run "$WAZA" grade none.yaml --results r.json
is 'no task in common: status 2' 2 "$rc"
like 'no task in common: message' '*no task of this suite*' "$err"

# the agent's files
mkdir ws
run "$WAZA" grade --results r.json --workspace ws --task filed -o o5.json
is '--workspace: empty, so the file is missing' failed "$(task filed o5.json)"
echo made >ws/made.txt
run "$WAZA" grade --results o5.json --workspace ws --task filed -o o5.json
is '--workspace: with the file' passed "$(task filed o5.json)"
sed 's/name: files/name: newfiles/' eval.yaml >named.yaml
run "$WAZA" grade named.yaml --results r.json --task filed -o o6.json
is 'no files, no old verdict: an error' error "$(task filed o6.json)"
like 'no files, no old verdict: message' '*newfiles*use --workspace DIR*' "$out"
run "$WAZA" grade --results o6.json --workspace ws --task filed -o o6.json
is 'a grader error can be graded again' passed "$(task filed o6.json)"
run "$WAZA" grade --results r.json --workspace nowhere
is '--workspace: missing directory: status 2' 2 "$rc"
TMPDIR=$tmp "$WAZA" run -q --keep-workspace --task filed -o kept.json >/dev/null
sed 's/made.txt/absent.txt/' eval.yaml >absent.yaml
run "$WAZA" grade absent.yaml --results kept.json --task filed -o o7.json
is 'kept workspaces are found' failed "$(task filed o7.json)"
is 'kept workspaces: no warning' '' "$(grep 'not there' "$tmp/err")"
: >trace

# results of the original, without waza's extra fields
cat >orig.json <<'JSON'
{"eval_id":"run-1","skill":"s","eval_name":"again","timestamp":"2026-01-02T03:04:05Z",
"config":{"runs_per_test":2,"model_id":"m","engine_type":"copilot-sdk","timeout_sec":60},
"summary":{"total_tests":2,"succeeded":1,"failed":1,"duration_ms":77},"metrics":{},
"tasks":[{"test_id":"plain","display_name":"plain","status":"failed","runs":[
 {"run_number":1,"attempts":1,"status":"failed","duration_ms":5,
  "validations":{"greets":{"identifier":"greets","type":"text","score":0,"weight":1,"passed":false,"feedback":"no"}},
  "session_digest":{"tool_call_count":1,"tools_used":["bash"],"tool_calls":[
   {"name":"bash","arguments":{"path":"","file_text":"","command":"ls","description":"","skill":""},"success":true}],"errors":[]},
  "final_output":"hello from plain"},
 {"run_number":2,"attempts":1,"status":"error","duration_ms":5,"validations":null,
  "session_digest":{"tool_call_count":0,"tools_used":null,"errors":null},"final_output":"","error_msg":"it broke"}]},
 {"test_id":"elsewhere","display_name":"Else","status":"passed","runs":null,
  "stats":{"pass_rate":1,"avg_score":0.5,"avg_weighted_score":0.5},"checkpoints":[7]}],
"trigger_metrics":{"accuracy":0.5},"metadata":{"recommendation":"none"}}
JSON
run "$WAZA" grade --results orig.json -o o8.json
is "the original's: passes now, but for the error" 'plain error
1 passed 1
2 error
elsewhere passed' "$(of o8.json)"
o8=$("$WAZA" parse o8.json)
like "the original's: error words" '*"error_msg":"it broke"*' "$o8"
like "the original's: what is not ours stays" '*"checkpoints":\[7\]*' "$o8"
like "the original's: trigger metrics stay" '*"trigger_metrics":{"accuracy":0.5}*' "$o8"
like "the original's: metadata is added to" \
    '*"metadata":{"recommendation":"none","regraded":*' "$o8"
like "the original's: when it was run" '*"timestamp":"2026-01-02T03:04:05Z"*' "$o8"
like "the original's: its model" '*"model_id":"m","engine_type":"copilot-sdk"*' "$o8"

# tool calls, with all of their arguments; limits on time
cat >tools.yaml <<'YAML'
name: tools
skill: s
config: {executor: mock}
tasks:
  - id: t
    prompt: p
    mock:
      output: 'done'
      tool_calls: [{name: deploy, arguments: {region: west, count: 3}, result: ok}]
      usage: {input_tokens: 40, output_tokens: 2}
      skills: [alpha]
    graders: [{type: text, name: d, config: {contains: [done]}}]
YAML
"$WAZA" run -q tools.yaml -o t.json >/dev/null
sed 's/^    graders.*/    graders:\
      - {type: tool_calls, config: {required_tools: [deploy], expect: [{tool: deploy, args: {region: {equals: west}, count: {range: {gte: 3}}}}]}}\
      - {type: behavior, config: {max_tokens: 42, max_tool_calls: 1}}\
      - {type: skill_invocation, config: {required_skills: [alpha], mode: exact_match}}\
      - {type: action_sequence, config: {matching_mode: exact_match, expected_actions: [deploy]}}/' \
    tools.yaml >tools2.yaml
run "$WAZA" grade tools2.yaml --results t.json
is 'graders of tool calls, tokens and skills' 0 "$rc"

# an interrupted run: its trials are graded, and it stays unfinished
"$WAZA" parse t.json | sed 's/"passed","runs"/"cancelled","runs"/' >c.json
run "$WAZA" grade tools.yaml --results c.json -o c2.json
is 'unfinished: status 1' 1 "$rc"
is 'unfinished: the results stay unfinished' 'cancelled
1 passed 1' "$(of c2.json | sed 's/^t //')"

# an interrupted grading: how far it came, and the command to repeat
cat >slow.sh <<'E'
if grep -q two && [ -e "$1" ]; then : >"$1.at"; exec sleep 600; fi
exit 0
E
cat >slow.yaml <<'YAML'
name: slow
skill: s
config: {executor: mock, workers: 1}
graders:
  - {type: program, name: p, config: {command: sh, args: [slow.sh, SLOW]}}
tasks:
  - {id: a, prompt: one}
  - {id: b, prompt: two}
  - {id: c, prompt: three}
YAML
sed "s|SLOW|$tmp/slow.now|" slow.yaml >t && mv t slow.yaml
"$WAZA" run -q -o slow.json slow.yaml >/dev/null
: >slow.now
"$WAZA" grade slow.yaml --results slow.json --workers 1 --workspace . -o 'a b.json' >out 2>err &
pid=$!
ok 'interrupted: the second trial is graded' wait_until 120 test -e slow.now.at
kill -INT "$pid"
wait "$pid"
is 'interrupted: status' 130 "$?"
is 'interrupted: what was done, and what to do' "waza: interrupted after 1 of 3 trials; nothing was written; repeat with: $WAZA grade slow.yaml --results slow.json --workers 1 --workspace . -o 'a b.json'" "$(grep interrupted err)"
ok 'interrupted: no file' test ! -e 'a b.json'

# a baseline: graded with the same graders, and compared
mkdir -p skills/s
printf -- '---\nname: s\ndescription: greets\n---\nSay hello.\n' >skills/s/SKILL.md
cat >base.yaml <<'YAML'
name: base
skill: s
config: {executor: mock, skill_directories: [skills]}
tasks:
  - {id: t, prompt: hello there, graders: [{type: text, name: g, config: {contains: [hello]}}]}
YAML
"$WAZA" run -q base.yaml --baseline -o b.json >/dev/null
sed 's/\[hello\]/[zebra]/' base.yaml >base2.yaml
run "$WAZA" grade base2.yaml --results b.json -o b2.json
is 'baseline: status' 1 "$rc"
is 'baseline: both are graded again' 't failed
1 failed 0
t failed
1 failed 0' "$(of b2.json)"
like 'baseline: the impact is computed again' '*"pass_rate_with_skills":0,"pass_rate_baseline":0,*' \
    "$("$WAZA" parse b2.json)"

{ printf '\357\273\277'; cat r.json; } >mark.json
run "$WAZA" grade -q --results mark.json -o unmarked.json
is 'results with a byte order mark' "$(of r.json)" "$(of unmarked.json)"

# files that cannot be read or written
run "$WAZA" grade --results r.json -o eval.yaml/o.json
is 'the results cannot be written: status 2' 2 "$rc"
is 'the results cannot be written: no output' '' "$out"
run "$WAZA" grade
is 'no --results: status 2' 2 "$rc"
like 'no --results: message' '*name a results file*' "$err"
run "$WAZA" grade --results absent.json
is 'no such file: status 2' 2 "$rc"
like 'no such file: message' '*absent.json*' "$err"
printf '{"tasks":\n [}' >bad.json
run "$WAZA" grade --results bad.json
like 'not JSON: the place' 'bad.json:2:3: *' "$err"
printf '{"tasks":[],\n "schemaVersion":"2.0"}' >bad.json
run "$WAZA" grade --results bad.json
like 'another version' 'bad.json:2:*version 2.0*' "$err"
printf '{"skills":[]}' >bad.json
run "$WAZA" grade --results bad.json
like 'not results' 'bad.json:1:1: not a results file*tasks*' "$err"
run "$WAZA" grade --results r.json --format yaml
is 'no such format: status 2' 2 "$rc"
run "$WAZA" grade --results r.json --reporter junit:j.xml --reporter "json:$tmp/j.json" -q
ok 'waza grade writes reports' test -s j.xml

# a results file may have data that the executor does not report
cat >told.yaml <<'YAML'
name: told
skill: s
config: {executor: command, command: [cat]}
graders: [{type: skill_invocation, name: g, config: {required_skills: [s], mode: any_order}},
  {type: tool_calls, name: h, config: {required_tools: [bash]}}]
tasks: [{id: a, prompt: p}]
YAML
printf '{"tasks":[{"test_id":"a","status":"failed","runs":[{"status":"failed","final_output":"x","skills":["s"],"session_digest":{"tools_used":["bash"]}}]}]}' >told.json
run "$WAZA" grade --strict --results told.json told.yaml
like 'no warnings about an executor that is not asked' '0 *' "$rc $err"
printf '{"tasks":[{"test_id":"a","status":"passed","runs":null}]}' >told.json
run "$WAZA" grade --results told.json told.yaml
like 'nothing to grade' '*task "a" has no answers: its results are kept*' "$err"

# many trials
{
	printf 'name: many\nskill: s\nconfig: {executor: mock, trials_per_task: 100}\n'
	printf 'graders: [{type: text, name: g, config: {contains: [Mock]}}]\ntasks:\n'
	i=0
	while [ $i -lt 100 ]
	do printf '  - {id: t%d, prompt: p}\n' $i
	   i=$((i + 1))
	done
} >many.yaml
"$WAZA" run -q many.yaml -o m.json >/dev/null
run "$WAZA" grade many.yaml --results m.json -o m2.json
is '10 000 trials' 0 "$rc"
is '10 000 trials: all are in the results' 10000 "$(grep -o '"run_number"' m2.json | grep -c .)"
is '10 000 trials: same verdicts' "$(of m.json | cksum)" "$(of m2.json | cksum)"

# grading a run's own file: resuming the run keeps the new verdicts, and warns
cat >own.yaml <<'YAML'
name: own
skill: s
config: {executor: mock}
tasks: [{id: a, prompt: x, graders: [{type: text, name: t, config: {contains: [x]}}]}]
YAML
run "$WAZA" run -q -o own.json own.yaml
sed 's/contains: .x./contains: [zzz]/' own.yaml >other.yaml
run "$WAZA" grade other.yaml --results own.json -o own.json
is 'graded over the file of the run: status' 1 "$rc"
run "$WAZA" run -o own.json --resume own.yaml
is 'then resumed: status' 1 "$rc"
like 'then resumed: warning' '*graded again after its run: resumed trials keep the new verdicts*' "$err"
run "$WAZA" run -o own.json --resume own.yaml
is 'resumed once more: no warning' '' "$(printf '%s' "$err" | grep 'graded again')"

# a file without a digest does not tell whether tools were called
cat >told.yaml <<'YAML'
name: told
skill: s
config: {executor: mock}
tasks:
  - id: t
    prompt: x
    graders: [{type: behavior, name: b, config: {forbidden_tools: [shell]}}]
YAML
echo '{"tasks":[{"test_id":"t","runs":[{"status":"passed","final_output":"x"}]}]}' >told.json
run "$WAZA" grade -q --results told.json told.yaml
like 'calls that a file does not contain are unknown' \
    '*cannot be checked:*does not report tool calls*' "$out"
done_testing
