# Trigger tests: whether a skill is used, and how a run reports it.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
TMPDIR=$tmp/tmp LOG=$tmp/log
export TMPDIR LOG
mkdir tmp
: >log

# value FILE KEY: print the first value of that key in a results file
value() {
	"$WAZA" parse "$1" | grep -o "\"$2\":\(\"[^\"]*\"\|[^,}]*\)" |
	    head -n 1 | sed 's/^[^:]*://'
}
# answers FILE: print should_trigger and did_trigger of each prompt
answers() {
	"$WAZA" parse "$1" | grep -o '"should_trigger":[a-z]*,"did_trigger":[a-z]*' |
	    sed 's/[^:]*:\(.\)[^:]*:\(.\).*/\1\2/' | tr '\n' ' '
}
calls() {
	grep -c . log
}

# suite CONFIG [METRICS]: two tasks that pass
suite() {
	cat <<YAML
name: speaks
skill: speller
config: {$1}
metrics: [${2:-}]
tasks:
  - {id: a, tags: [x], prompt: task a, expected: {output_contains: [task]}}
  - {id: b, prompt: task b, expected: {output_contains: [task]}}
YAML
}
accuracy='{name: trigger_accuracy, weight: 0.3, threshold: '

# the mock simulates trigger tests and reports that
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts:
  - {prompt: spell this, reason: it is about spelling, confidence: high}
  - {prompt: is this right, confidence: medium}
should_not_trigger_prompts:
  - prompt: add numbers
YAML
suite 'executor: mock' "$accuracy 0.9}" >eval.yaml
run "$WAZA" validate eval.yaml
is 'a valid trigger file is accepted' 'eval.yaml: ok (2 tasks)' "$out"
run "$WAZA" run -o r.json --reporter tap:t.tap
is 'mock: status 0' 0 "$rc"
is 'mock: TAP reports the simulation' 1 "$(grep -c '^# .*simulated' t.tap)"
like 'mock: the report names the simulation' '*accuracy 100.0%*3 of 3 prompts correct; simulated by mock*' "$out"
is 'mock: the results name the simulation' 'true 2 1 1' \
    "$(value r.json simulated) $(value r.json true_positives) $(value r.json true_negatives) $(value r.json accuracy)"
is 'mock: every prompt is answered as expected' 'tt tt ff ' "$(answers r.json)"
is 'the results contain the metric' '{"trigger_accuracy":{"identifier":"trigger_accuracy","value":1,"threshold":0.9,"passed":true,"weight":0.3}}' \
    "$("$WAZA" parse r.json | grep -o '"metrics":{[^}]*}}' | sed 's/[^:]*://')"
is 'the summary counts tasks' 2 "$(value r.json total_tests)"
run "$WAZA" list eval.yaml
is 'waza list counts tasks only' 'eval.yaml: speaks (skill speller)
  a
  b' "$out"

# the error message of an agent is not truncated
long=$(printf 'é%.0s' 1 2 3 4 5 6 7 8 9 10)
long=x$long$long$long$long$long$long$long$long$long$long
cat >trigger_tests.yaml <<YAML
skill: speller
should_trigger_prompts: [{prompt: a, mock: {error: $long}}]
YAML
suite 'executor: mock' >eval.yaml
run "$WAZA" run -q -o r.json
is 'a long error message is kept' "\"$long\"" "$(value r.json error_msg)"

# scripted answers of the mock
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts:
  - {prompt: hit, confidence: high, mock: {skills: [other, speller]}}
  - {prompt: miss, confidence: medium, mock: {skills: [Speller, spell]}}
should_not_trigger_prompts:
  - {prompt: "wrong <&> hit", mock: {skills: [speller]}}
YAML
suite 'executor: mock' "$accuracy 0.4}" >eval.yaml
run "$WAZA" run -o r.json
is 'script: the accuracy equals the threshold: status 0' 0 "$rc"
is 'script: not simulated' '' "$(value r.json simulated)"
is 'script: answers' 'tt tf ft ' "$(answers r.json)"
is 'script: accuracy, precision, recall and F1' '1 1 0 1 0.5 0.6667 0.5714 0.4' \
    "$(for k in true_positives false_positives true_negatives false_negatives precision recall f1 accuracy
       do value r.json $k; done | tr '\n' ' ' | sed 's/ $//')"
like 'report: accuracy' '*Triggers of speller*accuracy 40.0%, precision 50.0%, recall 66.7%, F1 0.57; 1 of 3 prompts correct*' "$out"
like 'report: wrong answers with their places' '*should trigger, did not: miss  trigger_tests.yaml:4*should not trigger, did: wrong <&> hit  trigger_tests.yaml:6*' "$out"
run "$WAZA" run -q --reporter junit:j.xml --reporter tap:t.tap
is 'junit: without a metric wrong answers are not failures' 'tests="5" failures="0" errors="0"' \
    "$(sed -n 's/.*<testsuites \(.*\) time.*/\1/p' j.xml)"
is 'tap: without a metric wrong answers are TODO' 2 "$(grep -c '^not ok .* # TODO' t.tap)"
suite 'executor: mock' "$accuracy 0.41}, {name: task_completion, threshold: 1}" >eval.yaml
run "$WAZA" run -o r.json --reporter junit:j.xml --reporter tap:t.tap --reporter github --reporter html:h.html --reporter markdown:m.md
is 'a missed metric: status 1' 1 "$rc"
like 'a missed metric: message' '*FAILED: metric trigger_accuracy is 40.0%, required 41.0%*' "$out"
is 'a missed metric: results' 'false "failed"' \
    "$("$WAZA" parse r.json | grep -o '"trigger_accuracy":{[^}]*}' | grep -o '"passed":[a-z]*' | sed 's/.*://') $("$WAZA" parse r.json | grep -o '"status":"[a-z]*"}$' | sed 's/.*:\(.*\)}/\1/')"
is 'the results contain both metrics' '"task_completion"
"trigger_accuracy"' "$("$WAZA" parse r.json | grep -o '"identifier":"t[a-z_]*"' | sed 's/.*://')"
is 'junit: with a metric wrong answers are failures' 'tests="5" failures="2" errors="0"' \
    "$(sed -n 's/.*<testsuites \(.*\) time.*/\1/p' j.xml)"
is 'tap: with a metric wrong answers are failures' 2 "$(grep -c '^not ok [0-9]* - trigger: [^#]*$' t.tap)"
like 'github: an annotation at the prompt' '*::error file=trigger_tests.yaml,line=4,*::miss*' "$out"
like 'html contains wrong answers, escaped' '*"trigger_results":*wrong \\u003c&> hit*' "$(cat h.html)"
like 'markdown lists wrong answers' '*### Triggers of speller*wrong &lt;&amp;&gt; hit*' "$(cat m.md)"
run "$WAZA" grade eval.yaml --results r.json -o g.json -q
is 'waza grade keeps the trigger tests unchanged' "1 tt tf ft  $("$WAZA" parse r.json | grep -o '"metrics":{.*}},"tasks"')" \
    "$rc $(answers g.json) $("$WAZA" parse g.json | grep -o '"metrics":{.*}},"tasks"')"
suite 'executor: mock' "$accuracy 0.4001}" >near.yaml
run "$WAZA" run -q near.yaml
like 'a metric that is nearly reached: more decimals are printed' '1 *is 40.0000%, required 40.0100%*' "$rc $out"
run "$WAZA" run --stream-json
is 'stream: trigger tests have their own events' '"type":"trigger_complete" "idx":0 "prompt":"hit" "should_trigger":true "did_trigger":true "status":"passed" "took_ms":0 "total":3 ' \
    "$(grep trigger_complete out | head -n 1 | sed 's/"took_ms":[0-9]*/"took_ms":0/' | tr ',{}' '\n\n\n' | grep -v 'timestamp\|run_id\|seq\|^$' | tr '\n' ' ')"
is 'stream: other events are unchanged' 'eval_start task_start trial_start trial_complete task_complete task_start trial_start trial_complete task_complete trigger_complete trigger_complete trigger_complete eval_complete ' \
    "$(sed 's/{"type":"\([a-z_]*\)".*/\1/' out | tr '\n' ' ')"
is 'stream: totals count tasks only' '"total":2 "tasks":2' \
    "$(tail -n 1 out | grep -o '"total":[0-9]*') $(head -n 1 out | grep -o '"tasks":[0-9]*')"
suite 'executor: mock, mock: {skills: [speller]}' >eval.yaml
sed 's/, mock: .*}}/}/' trigger_tests.yaml >x && mv x trigger_tests.yaml
run "$WAZA" run -q -o r.json
is 'one script for all prompts: status 0 without a metric' 0 "$rc"
is 'one script for all prompts: answers' 'tt tt ft ' "$(answers r.json)"

# an agent that reports its skills
cat >agent.sh <<'SH'
#!/bin/sh
while IFS= read -r line
do
	prompt=$(printf '%s\n' "$line" | sed 's/.*"prompt":"\([^"]*\)".*/\1/')
	where=$(printf '%s\n' "$line" | sed 's/.*"workspace":"\([^"]*\)".*/\1/')
	echo "$prompt" >>"$LOG"
	case $prompt in
	task*)  echo "{\"output\": \"$prompt\"}" ;;
	*both*) echo '{"output": "both", "skills": ["other", "speller"], "usage": {"turns": 2, "input_tokens": 5}, "tool_calls": [{"name": "skill", "arguments": {"skill": "speller"}}]}' ;;
	*hit*)  echo '{"output": "done", "skills": ["speller"]}' ;;
	*files*) echo "{\"output\": \"$(cd "$where" && ls | tr '\n' ' ')\", \"skills\": [\"speller\"]}" ;;
	*error*) [ -e "$LOG.well" ] || { echo '{"error": "no credit"}'; continue; }
		echo '{"output": "", "skills": ["speller"]}' ;;
	*crash*) exit 3 ;;
	*hang*) echo "$$" >"$LOG.pid"; tail -f /dev/null ;;
	*)      echo '{"output": "no"}' ;;
	esac
done
SH
chmod +x agent.sh
mkdir fixtures skills
echo given >fixtures/given.txt
agent='executor: command, command: [./agent.sh], persistent: true, skill_directories: [skills]'
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts:
  - {prompt: hit one}
  - {prompt: both skills}
  - {prompt: files}
  - {prompt: nothing}
should_not_trigger_prompts:
  - {prompt: no thanks}
  - {prompt: an error, confidence: medium}
YAML
suite "$agent, workers: 2" "$accuracy 0.9}" >eval.yaml
# the journal of a complete run is removed: a copy for later
echo "hooks: {after_run: [{command: 'cp r.json.journal whole.journal 2>/dev/null || :', working_directory: $tmp}]}" >>eval.yaml
: >log
run "$WAZA" run -q -o r.json
is 'agent: status 1' 1 "$rc"
is 'agent: each prompt runs once, after the tasks' 'task|task|8' \
    "$(head -n 2 log | sed 's/ .*//' | tr '\n' '|')$(calls)"
is 'agent: answers' 'tt tt tt tf ff ft ' "$(answers r.json)"
is 'agent: an error counts as a wrong answer' '1 0.7273 "no credit" "agent_error"' \
    "$("$WAZA" parse r.json | grep -o '"trigger_metrics":.*' >m; grep -o '"errors":[0-9]*' m | sed 's/.*://' | head -n 1) $(value r.json accuracy) $(value r.json error_msg) $(value r.json error_class)"
is 'agent: the workspace contains the fixtures' '"given.txt "' \
    "$("$WAZA" parse r.json | grep -o '"final_output":"given[^"]*"' | sed 's/.*://')"
is 'agent: its usage is counted' 2 "$(value r.json turns)"
like 'agent: its tool calls and skills are kept' '*"tool_calls":\[{"name":"skill"*"skills":\["other","speller"\]*' "$("$WAZA" parse r.json)"
is 'no files are left' '' "$(ls tmp)"

# --resume does not repeat finished prompts
ok 'agent: the journal is removed' [ ! -e r.json.journal ]
sed 6q whole.journal >r.json.journal
printf '{"trigger":4,"skill":"spel' >>r.json.journal
: >log
run "$WAZA" run -q -o r.json --resume
is 'resume: only missing prompts run' 3 "$(calls)"
ok 'resume: the results are the same' [ "$(answers r.json)" = 'tt tt tt tf ff ft ' ]
: >log
run "$WAZA" run -q -o r.json --resume
is 'resume: nothing runs if all prompts are finished' 0 "$(calls)"
is 'resume: status and answers are unchanged' '1 tt tt tt tf ff ft ' "$rc $(answers r.json)"
: >log.well
run "$WAZA" run -q -o r.json --retry-errors
is '--retry-errors repeats prompts with errors' 'an error' "$(cat log)"
: >log
run "$WAZA" run -q -o r.json --rerun-failed
is '--rerun-failed repeats wrong prompts' 'an error|nothing|' "$(sort log | tr '\n' '|')"
rm log.well
: >log
sed 's/no thanks/thank you/' trigger_tests.yaml >x && mv x trigger_tests.yaml
run "$WAZA" run -q -o r.json --resume
is 'resume: a changed prompt runs' 'thank you' "$(cat log)"

# options and conditions that skip trigger tests
for o in --no-triggers '--task *' '--tags x' '--shard 2/2' --no-skills
do
	: >log
	# shellcheck disable=SC2086 # an option and its value
	(set -f; "$WAZA" run -q -o o.json $o >/dev/null)
	is "$o: no trigger tests" ' 0' "$(value o.json accuracy) $(grep -vc task log)"
done
: >log
"$WAZA" run -q -o o.json --shard 1/2 >/dev/null
is '--shard 1/2 runs them' '1 6' "$(grep -c task log) $(grep -vc task log)"
: >log
"$WAZA" run -q -o o.json --baseline >/dev/null
is 'the baseline skips them' '4 6' "$(grep -c task log) $(grep -vc task log)"
: >log
suite "$agent, fail_fast: true" | sed 's/\[task\]/[nothing]/' >ff.yaml
run "$WAZA" run -q -o o.json ff.yaml
is 'a run stopped by fail_fast skips them' '1 1' "$rc $(calls)"
suite "$agent, fail_fast: true" | sed 's/task b, .*/task b, expected: {output_contains: [nothing]}}/' >ff.yaml
: >log
run "$WAZA" run -q -o o.json ff.yaml
is 'a run whose last task failed with fail_fast skips them' '1 2' "$rc $(calls)"
suite "executor: command, command: cat" "$accuracy 0.9}" >cat.yaml
run "$WAZA" run -o o.json cat.yaml
is 'an executor that does not report skills skips them' '0 ' "$rc $(value o.json accuracy)"
like 'an executor that does not report skills: warning' 'trigger_tests.yaml: warning: executor "command" does not report which skills it used: trigger tests are skipped, and the threshold of trigger_accuracy is ignored*' "$err"

# deadlines, crashes, interrupts
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts: [{prompt: please hang}, {prompt: hit after that}]
should_not_trigger_prompts: [{prompt: crash now}]
YAML
suite "$agent, timeout_seconds: 2" >eval.yaml
run "$WAZA" run -q -o r.json
is 'timeout: status 0' 0 "$rc"
is 'timeout: answers' 'tf tt ft ' "$(answers r.json)"
is 'timeout: error classes' '"timeout" "agent_error" ' \
    "$("$WAZA" parse r.json | grep -o '"error_class":"[a-z_]*"' | sed 's/.*://' | tr '\n' ' ')"
ok 'timeout: the agent is terminated' sh -c '! kill -0 "$(cat "$LOG.pid")" 2>/dev/null'
suite "$agent" "$accuracy 0.1}" >eval.yaml
rm -f log.pid
"$WAZA" run -q -o r.json >out 2>err &
pid=$!
wait_until 120 [ -s log.pid ]
kill -INT "$pid"
rc=0
wait "$pid" || rc=$?
is 'interrupt: status' 130 "$rc"
is 'interrupt: tasks are kept, the unfinished prompt is not' '2 "cancelled"  ' \
    "$(value r.json succeeded) $("$WAZA" parse r.json | grep -o '"status":"[a-z]*"}$' | sed 's/.*:\(.*\)}/\1/') $(answers r.json) $(value r.json identifier | grep trigger)"
ok 'interrupt: the agent is terminated' sh -c '! kill -0 "$(cat "$LOG.pid")" 2>/dev/null'
is 'interrupt: no files are left' '' "$(ls tmp)"
: >log
sed 's/please hang/hit/' trigger_tests.yaml >x && mv x trigger_tests.yaml
run "$WAZA" run -q -o r.json --resume
is 'interrupt: --resume runs the missing prompts' '0 3' "$rc $(sort -u log | grep -c .)"
: >log
suite "executor: command, command: [./nobody], persistent: true" >none.yaml
run "$WAZA" run -q -o o.json none.yaml
is 'a missing agent is an infrastructure error' '1 "infrastructure"' "$rc $(value o.json error_class)"

# the file is checked before the run
bad() {
	cat >trigger_tests.yaml
	: >log
	run "$WAZA" run -q
	like "$1" "$2" "$err"
	is "$1: nothing ran" "${3:-2} ${4:-0}" "$rc $(calls)"
}
suite "$agent" >eval.yaml
bad 'missing skill' '*trigger_tests.yaml:1:1: Missing required field: skill*' <<'YAML'
should_trigger_prompts: [{prompt: a}]
YAML
bad 'an empty skill' '*trigger_tests.yaml:1:8: "skill" is empty*' <<'YAML'
skill: " "
should_trigger_prompts: [{prompt: a}]
YAML
bad 'missing prompts' '*trigger_tests.yaml: no prompts: "should_trigger_prompts"*' <<'YAML'
skill: s
YAML
bad 'an empty prompt' '*trigger_tests.yaml:3:5: "prompt" is empty*' <<'YAML'
skill: s
should_not_trigger_prompts:
  - {prompt: ""}
YAML
bad 'unknown confidence' '*trigger_tests.yaml:2:52: "confidence" must be one of high, medium, not "low"*' <<'YAML'
skill: s
should_trigger_prompts: [{prompt: hit, confidence: low}]
YAML
bad 'a prompt that is not a mapping' '*trigger_tests.yaml:3:5: expected a mapping*' <<'YAML'
skill: s
should_trigger_prompts:
  - hit
YAML
bad 'not a trigger file' '*trigger_tests.yaml:1:1: *' <<'YAML'
- a
YAML
bad 'a script that is not a mapping' '*trigger_tests.yaml:2:46: "mock" must be a mapping, not a number*' <<'YAML'
skill: s
should_trigger_prompts: [{prompt: hit, mock: 1}]
YAML
rm -rf .waza/*
suite 'executor: mock' >eval.yaml
cat >trigger_tests.yaml <<'YAML'
skill: s
should_triger_prompts: []
should_trigger_prompts:
  - {prompt: a, confidense: high, mock: {skils: [s]}}
YAML
run "$WAZA" validate eval.yaml
like 'unknown keys: suggestion' '*trigger_tests.yaml:2:1: warning: *did you mean "should_trigger_prompts"*trigger_tests.yaml:4:17: warning: *did you mean "confidence"*trigger_tests.yaml:4:42: warning: *did you mean "skills"*' "$out$err"
run "$WAZA" validate --strict eval.yaml
is 'unknown keys with --strict: status 2' 2 "$rc"
awk 'BEGIN { print "skill: s\nshould_trigger_prompts:"; for (i = 0; i < 10001; i++) print "  - {prompt: p}" }' >trigger_tests.yaml
run "$WAZA" validate eval.yaml
like 'too many prompts' '*more than 10000 prompts*' "$out$err"
rm trigger_tests.yaml
suite 'executor: mock' "$accuracy 0.9}" >eval.yaml
run "$WAZA" run
like 'a metric without trigger tests: warning' 'eval.yaml:4:11: warning: metric "trigger_accuracy" has no effect without trigger tests*' "$err"
is 'a metric without trigger tests: status 0' 0 "$rc"

# the confusion matrix; errors are not in it
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts:
  - {prompt: hit, mock: {skills: [other, speller]}}
  - {prompt: wrong one, mock: {skills: [other]}}
  - {prompt: miss, mock: {skills: []}}
  - {prompt: bad, mock: {error: no credit}}
  - {prompt: bake, expected_skill: baker, mock: {skills: [baker]}}
should_not_trigger_prompts:
  - {prompt: quiet, mock: {skills: []}}
  - {prompt: loud, mock: {skills: [baker, speller]}}
  - {prompt: cook, expected_skill: baker, mock: {skills: [baker]}}
YAML
suite 'executor: mock' >eval.yaml
run "$WAZA" run -o r.json --reporter html:h.html --reporter markdown:m.md
is 'confusion: answers' 'tt tf tf tf tt ff ft ff ' "$(answers r.json)"
is 'confusion: results' '"confusion":[{"expected":"speller","used":"speller","count":1},{"expected":"speller","used":"other","count":1},{"expected":"speller","used":null,"count":1},{"expected":"baker","used":"baker","count":2},{"expected":null,"used":null,"count":1},{"expected":null,"used":"speller","count":1}]' \
    "$("$WAZA" parse r.json | grep -o '"confusion":[^]]*]')"
is 'confusion: an error is neither a positive nor a negative' '2 1 2 2 0.6667 0.5' \
    "$(for k in true_positives false_positives true_negatives false_negatives precision recall
       do value r.json $k; done | tr '\n' ' ' | sed 's/ $//')"
like 'confusion: report' '*
  expected  used: speller   other     baker     none
  speller         1         1         0         1
  baker           0         0         2         0
  none            1         0         0         1
*' "$out"
like 'confusion: html' '*{"expected":"baker","used":"baker","count":2}*' "$(cat h.html)"
like 'confusion: markdown' '*| baker | 0 | 0 | 2 | 0 |*' "$(cat m.md)"
run "$WAZA" run -q -o r.json --resume
like 'confusion: the same after --resume' '*{"expected":"baker","used":"baker","count":2}*' "$("$WAZA" parse r.json)"
rm trigger_tests.yaml

# lists of other tools
printf '[\n\t{"query": "spell it", "should_trigger": true, "mock": {"skills": ["speller"]}},\n\t{"query": "bake it", "should_trigger": true, "expected_skill": "baker", "mock": {"skills": ["speller"]}},\n\t{"query": "no", "should_trigger": false, "mock": {"skills": []}}\n]\n' >list
for f in trigger_eval.json trigger-eval.json trigger_evals.json trigger-evals.json evals/trigger-eval.json
do
	mkdir -p evals
	cp list $f
	run "$WAZA" run -q -o r.json
	is "$f: answers" '0 tt tf ff ' "$rc $(answers r.json)"
	like "$f: place" "*should trigger, did not: bake it  $f:3*" "$out"
	rm $f
done
cp list trigger-eval.json
cp list evals/trigger_evals.json
run "$WAZA" validate eval.yaml
like 'two files: a warning names the one that is used' '*evals/trigger_evals.json: warning: ignored: the trigger tests are taken from trigger-eval.json*' "$out$err"
rm evals/trigger_evals.json
echo '{"query": "x"}' >trigger-eval.json
run "$WAZA" validate eval.yaml
like 'not a list: message' '*trigger-eval.json:1:1: expected a list of*' "$out$err"
echo '[{"should_trigger": true}, {"query": "x"}, 1]' >trigger-eval.json
run "$WAZA" validate eval.yaml
like 'a list with errors: messages' '*trigger-eval.json:1:2: Missing required field: query*trigger-eval.json:1:28: Missing required field: should_trigger*trigger-eval.json:1:44: expected a mapping*' "$out$err"

# without evidence, the tests are skipped
cp list trigger-eval.json
suite "executor: command, command: cat" "$accuracy 0.9}" >cat.yaml
run "$WAZA" run -o o.json cat.yaml
is 'no evidence: status 0, no rates' '0 ' "$rc $(value o.json accuracy)"
is 'no evidence: the results contain the reason' 3 "$("$WAZA" parse o.json | grep -o '"error_msg":"executor ."command." does not report which skills it used"' | grep -c .)"
like 'no evidence: report' '*all 3 prompts skipped: the agent does not report*' "$out"
rm trigger-eval.json

# public suites
if [ -d "$CORPUS/waza-wild" ]
then
	case $CORPUS in
	/*) ;;
	*)  CORPUS=$top/$CORPUS ;;
	esac
	find "$CORPUS/waza-wild" -name trigger_tests.yaml | sort >files
	while IFS= read -r f
	do "$WAZA" validate "${f%/*}" 2>&1 | grep trigger_tests.yaml
	done <files >findings
	ok 'corpus: at least 40 trigger files' [ "$(grep -c . files)" -ge 40 ]
	is 'corpus: all trigger files are valid' '' "$(cat findings)"
	cp -R "$(sed -n 's,/trigger_tests.yaml$,,; /upstream-examples.*code-explainer$/p' files | head -n 1)" explain
	run "$WAZA" run -q -o e.json explain
	is 'code-explainer under mock: same counts as the original' '1 7 7 0 0 true' \
	    "$(value e.json accuracy) $(value e.json true_positives) $(value e.json true_negatives) $(value e.json false_positives) $(value e.json false_negatives) $(value e.json simulated)"
	is 'code-explainer: the metric passes' 'true' "$("$WAZA" parse e.json |
	    grep -o '"trigger_accuracy":{[^}]*}' | grep -o '"passed":[a-z]*' | sed 's/.*://')"
else
	skip "no $CORPUS/waza-wild"
fi
# a worker that lists skills or calls reports them, another one does not
cat >worker <<'SH'
#!/bin/sh
while read -r l; do echo "{\"output\":\"x\"$MORE}"; done
SH
chmod +x worker
mkdir w
cat >w/eval.yaml <<'YAML'
name: w
skill: k
config: {executor: command, command: [../worker], persistent: true}
tasks: [{id: a, prompt: p, graders: [{type: skill_invocation, name: k, config: {forbidden_skills: [k]}}]}]
YAML
cd w || exit 1
run "$WAZA" run -q eval.yaml
like 'a worker that lists neither: skipped' '*0 passed, 0 failed, 1 skipped*' "$out"
# shellcheck disable=SC2089,SC2090 # JSON, not words
for MORE in ',"skills":[]' ',"tool_calls":[]'
do
	export MORE
	run "$WAZA" run -q eval.yaml
	is "a worker with $MORE: graded" 0 "$rc"
done
cd .. || exit 1

# an event that cannot be read may have been the use of the skill
mkdir lost
cat >lost/agent <<'SH'
#!/bin/sh
printf '{"type":"tool_use","part":{\n{"type":"tool_use","part":{"tool":"read","callID":"c","state":{"status":"completed","input":{},"output":"x"}}}\n'
printf '{"type":"text","part":{"text":"task"}}\n{"type":"step_finish","part":{"tokens":{"input":8,"output":2}}}\n'
SH
chmod +x lost/agent
printf 'skill: speller\nshould_not_trigger_prompts: [{prompt: add numbers}]\n' >lost/trigger_tests.yaml
suite "executor: command, command: [$tmp/lost/agent], output_format: opencode" "$accuracy 0.9}" >lost/eval.yaml
run "$WAZA" run -q -o lost/r.json lost/eval.yaml
like 'lost events: a trigger test cannot be checked' '*cannot be checked: events of the agent were lost*' "$rc $out"
is 'lost events: nothing is counted as right' 0 "$(value lost/r.json true_negatives)"
done_testing
