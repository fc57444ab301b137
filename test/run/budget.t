# Budgets of a run, a suite and a task: which trials start, what is reported about the others, how
# the run is continued, and agents that do not report what they use.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LOG=$tmp/log
export LOG

# asked: how often the agent was started since the last call
asked() {
	grep -c . log
	: >log
}
: >log
cat >agent <<'SH'
#!/bin/sh
echo "$WAZA_TASK_ID" >>"$LOG"
echo '{"output":"hello","tool_calls":[],"usage":{"input_tokens":80,"output_tokens":20,"cost":0.1}}'
SH
cat >silent <<'SH'
#!/bin/sh
echo "$WAZA_TASK_ID" >>"$LOG"
echo '{"output":"hello","tool_calls":[]}'
SH
cat >tokens <<'SH'
#!/bin/sh
echo "$WAZA_TASK_ID" >>"$LOG"
echo '{"output":"hello","tool_calls":[],"usage":{"input_tokens":80,"output_tokens":20,"cached_input_tokens":0}}'
SH
cat >slow <<'SH'
#!/bin/sh
echo "$WAZA_TASK_ID" >>"$LOG"
sleep 2.5
echo '{"output":"hello","tool_calls":[],"usage":{"input_tokens":80,"output_tokens":20,"cost":0.1}}'
SH
chmod +x agent silent tokens slow
# suite CONFIG [TASK-KEYS]: three tasks
suite() {
	cat <<YAML
name: ${name:-e}
skill: s
config: {executor: command, command: [$tmp/${agent:-agent}], output_format: ${format:-json}, timeout_seconds: 60${1:+, $1}}
tasks:
  - {id: a, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]${2:+, $2}}
  - {id: b, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]}
  - {id: c, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]}
YAML
}

# money
suite 'trials_per_task: 2' >e.yaml
run "$WAZA" run -q --budget-usd 0.3 -o r.json --reporter junit:j.xml --reporter markdown:m.md \
    --reporter tap:t.tap --reporter html:r.html e.yaml
is 'dollars: status' 3 "$rc"
is 'dollars: trials that started' 3 "$(asked)"
why='budget: 0.3 of 0.3 dollars of the run spent, a trial takes 0.1 on average'
like 'dollars: the report' "*b * 1/2 trials, others skipped: budget*c * skipped: budget*resume with a larger budget:*--resume*OUT OF BUDGET: ${why#budget: }*" "$out"
is 'dollars: the reason in the results' "\"$why\" " "$(values r.json skip_reason)"
is 'dollars: the statuses in the results' '"failed" "passed" "skipped" ' "$(values r.json status)"
is 'dollars: the summary' '1 2' "$(values r.json succeeded)$(values r.json skipped | tr -d ' ')"
like 'dollars: JUnit skips the task' "*<testcase name=\"c\"*<skipped message=\"$why\"/>*" "$(cat j.xml)"
like 'dollars: JUnit skips the trial' "*<testcase name=\"b \[trial 2 of 2\]\"*<skipped message=\"$why\"/>*<testcase name=\"c\"*" "$(cat j.xml)"
like 'dollars: JUnit counts both' '*<testsuite *tests="6" failures="0" errors="1" skipped="2"*' "$(cat j.xml)"
like 'dollars: JUnit has an error for the run' "*errors=\"1\"*<error message=\"$why\"*" "$(cat j.xml)"
like 'dollars: Markdown' "*| c |*skipped: budget*" "$(cat m.md)"
like 'dollars: Markdown has the reason' "*Incomplete*budget*: ${why#budget: }*" "$(cat m.md)"
like 'dollars: TAP' "*c # SKIP $why*" "$(cat t.tap)"
like 'dollars: HTML' "*\"skip_reason\":\"$why\"*" "$(cat r.html)"
ok 'dollars: there is a journal' test -s r.json.journal
"$WAZA" schema results >schema.json
run "$WAZA" schema-check schema.json r.json
is 'dollars: the results have the documented keys' 0 "$rc"
run "$WAZA" grade --results r.json -o g.json e.yaml
like 'dollars: graded again' "3 *b * 1/1 trials, others skipped: budget*c * skipped: budget*OUT OF BUDGET: ${why#budget: }*" "$rc $out"
is 'dollars: graded again, the reason is kept' "\"$why\" 3" "$(values g.json skip_reason)$(grep -c skip_reason g.json)"
cp r.json old.json
sed 's/"status": "skipped"/"status": "passed"/; s/"skip_reason"/"note"/; s/"skipped": 2/"skipped": 0/' r.json >whole.json
for pair in 'whole.json r.json' 'r.json whole.json'; do
	run "$WAZA" gate --baseline "${pair% *}" --current "${pair#* }"
	like "dollars: gate cannot decide, ${pair% *} first" "3 waza: r.json: the run is not complete ($why): *" "$rc $out$err"
done
run "$WAZA" compare whole.json r.json
like 'dollars: compare names the run' "*Warning: the run of 2 is not complete ($why)*2 tasks are not finished in 2*" "$(echo "$out" | tr -s '\n ' '  ')"
run "$WAZA" gate --baseline new.json --current r.json --update-baseline --min-trials 1
like 'dollars: the results do not become a baseline' '3 *r.json is not complete*' "$rc $err"
run "$WAZA" run -q --resume --budget-usd 0.3 -o r.json e.yaml
is 'the same budget again: status' 3 "$rc"
is 'the same budget again: nothing starts' 0 "$(asked)"
run "$WAZA" run -q --resume --budget-usd 0.5 -o r.json e.yaml
is 'a larger one: status' 3 "$rc"
is 'a larger one: the rest starts' 2 "$(asked)"
run "$WAZA" run -q --resume -o r.json e.yaml
is 'without one: status' 0 "$rc"
is 'without one: the rest starts' 1 "$(asked)"
is 'without one: no reason is left' '' "$(grep -o skip_reason r.json)"
run "$WAZA" run -q --resume --budget-usd 0.1 -o r.json e.yaml
is 'nothing is left to run: a spent budget does not matter' '0 0' "$rc $(asked)"
mv old.json r.json
run "$WAZA" run -q --resume --budget-usd 1 -o r.json e.yaml
is 'resumed from the results file' '0 3' "$rc $(asked)"

# at the same time: the expected cost of running trials is reserved
suite 'trials_per_task: 6, workers: 6' >e.yaml
run "$WAZA" run -q --budget-usd 0.55 -o r.json e.yaml
is 'six workers: as many trials as the budget allows' '3 5' "$rc $(asked)"
run "$WAZA" run -q --budget-usd 1.8 -o r.json e.yaml
is 'enough for all: the run passes' '0 18' "$rc $(asked)"

# tokens, time
suite >e.yaml
run "$WAZA" run -q --budget-tokens 250 -o r.json e.yaml
is 'tokens' '3 2' "$rc $(asked)"
like 'tokens: the reason' '"budget: 200 of 250 tokens of the run spent, a trial takes 100 on average" ' "$(values r.json skip_reason)"
agent=slow suite >e.yaml
# the first trial must start within the budget, however slow the machine is
run "$WAZA" run -q -w 1 --budget-time 2s -o r.json e.yaml
is 'time: a trial that runs is completed, others do not start' '3 1' "$rc $(asked)"
like 'time: the reason' '"budget: [0-9.]* of 2 seconds of the run spent, a trial takes [0-9.]* on average" ' "$(values r.json skip_reason)"
for w in 0 x 5x -1 1e9m ''
do
	run "$WAZA" run --budget-time="$w" e.yaml
	like "--budget-time=$w" "2 waza: --budget-time must be seconds, or a number with m, h or d, such as 10m, not \"$w\"" "$rc $err"
	run "$WAZA" run --budget-usd="$w" e.yaml
	like "--budget-usd=$w" '2 waza: --budget-usd must be a number of dollars above 0, *' "$rc $err"
done
is 'malformed budgets start nothing' 0 "$(asked)"

# the suite's and the task's
suite 'budget: {usd: 0.2}' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'config.budget' '3 2' "$rc $(asked)"
like 'config.budget: the reason' '*dollars of the suite spent*' "$(values r.json skip_reason)"
sed 's/usd: 0.2/usd: 0.9/' e.yaml >e2.yaml
mv e2.yaml e.yaml
run "$WAZA" run --resume -o r.json e.yaml
is 'config.budget: resumed with a larger one' '0 1' "$rc $(asked)"
is 'config.budget: a larger one is not another suite' '' "$(echo "$err" | grep -o 'has changed')"
suite 'trials_per_task: 3, budget: {tokens: 10000}' 'budget: {tokens: 200}' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'budget of a task: the others go on' '3 a a b b b c c c ' "$rc $(sort log | tr '\n' ' ')"
asked >/dev/null
like 'budget of a task: the reason' '*tokens of the task spent*' "$(values r.json skip_reason)"
run "$WAZA" run -q --resume -o r.json e.yaml
is 'budget of a task: resumed with the same one' '3 0' "$rc $(asked)"
suite 'budget: {usd: -1}' >e.yaml
run "$WAZA" validate e.yaml
like 'a negative budget' '*e.yaml:3:*usd*' "$out$err"

# judges, the baseline and trigger tests
suite 'judge: {executor: mock, mock: {output: "{\"passed\": true, \"score\": 1}", usage: {input_tokens: 1, output_tokens: 1, cost: 0.4}}}' |
    sed 's/type: text, name: t, config: {contains: .hello.}/type: prompt, name: t, config: {prompt: Is it good?}/' >e.yaml
run "$WAZA" run -q --budget-usd 1 -o r.json e.yaml
is 'judges count' '3 2' "$rc $(asked)"
like 'judges count: the reason' '"budget: 1 of 1 dollars of the run spent, a trial takes 0.5 on average" ' "$(values r.json skip_reason)"
mkdir -p k/s
printf -- '---\nname: s\ndescription: d\n---\nbody\n' >k/s/SKILL.md
suite 'skill_directories: [k]' >e.yaml
run "$WAZA" run -q --baseline --budget-usd 0.4 -o r.json e.yaml
is 'the baseline counts' '3 4' "$rc $(asked)"
run "$WAZA" run -q --baseline --resume --budget-usd 0.6 -o r.json e.yaml
is 'the baseline is resumed' '2' "$(asked)"
is 'the baseline is resumed: status' 1 "$((rc != 3))"
cat >trigger_tests.yaml <<'YAML'
skill: s
should_trigger_prompts: [{prompt: one}, {prompt: two}]
should_not_trigger_prompts: [{prompt: three}]
YAML
sed 's/"tool_calls":\[\]/"tool_calls":[],"skills":[]/' agent >skilled
chmod +x skilled
agent=skilled suite 'skill_directories: [k]' >e.yaml
run "$WAZA" run -q --budget-usd 0.4 -o r.json e.yaml
is 'trigger tests count' '3 4' "$rc $(asked)"
like 'trigger tests: the reason' '*dollars of the run spent*' "$(values r.json skip_reason)"
run "$WAZA" run -q --resume --budget-usd 0.5 -o r.json e.yaml
is 'trigger tests: resumed' '3 1' "$rc $(asked)"
rm trigger_tests.yaml

# several suites, and several models of one
mkdir p q
name=p suite >p/eval.yaml
name=q suite 'budget: {usd: 0.1}' >q/eval.yaml
run "$WAZA" run -w 4 --budget-usd 0.5 p/eval.yaml q/eval.yaml
is 'two suites: a budget of one of them' '3 4' "$rc $(asked)"
like 'two suites: the report' '*OUT OF BUDGET*' "$out"
run "$WAZA" run -w 4 --budget-usd 0.2 p/eval.yaml q/eval.yaml
is 'two suites share the budget of the run' '3 2' "$rc $(asked)"
suite 'budget: {usd: 0.4}' >e.yaml
run "$WAZA" run -q --model m --model n e.yaml
is 'two models share the budget of their suite' '3 4' "$rc $(asked)"

# agents that do not report it
format=text suite >e.yaml
run "$WAZA" run -q --budget-usd 1 e.yaml
is 'plain text: nothing starts' '2 0' "$rc $(asked)"
like 'plain text: words' '*executor "command" reports neither tokens nor cost here: the budget cannot be kept*--allow-unmetered*' "$err"
run "$WAZA" run -q --budget-usd 1 --allow-unmetered e.yaml
is 'plain text, allowed' '0 3' "$rc $(asked)"
run "$WAZA" run -q --budget-time 1h e.yaml
is 'plain text: time needs no meter' '0 3' "$rc $(asked)"
agent=silent suite 'workers: 3' >e.yaml
run "$WAZA" run -q --budget-tokens 1000 -o r.json e.yaml
is 'no usage: only the first trial starts' '2 1' "$rc $(asked)"
like 'no usage: words' '*executor "command" or a judge does not report its tokens: the budget cannot be kept (--allow-unmetered continues without it)*' "$err"
like 'no usage: the verdict' '*resume with:*NOT FINISHED: executor "command" or a judge does not report its tokens*' "$out"
run "$WAZA" run -q --resume --allow-unmetered --budget-tokens 1000 -o r.json e.yaml
is 'no usage, allowed: resumed' '0 2' "$rc $(asked)"
agent=tokens suite 'model: m-1' >e.yaml
run "$WAZA" run -q --budget-usd 1 -o r.json e.yaml
is 'no price: status' '2 1' "$rc $(asked)"
like 'no price: words' '*the cost of a trial is not known*add the price of model "m-1" to the settings*' "$err"
run "$WAZA" run -q --budget-usd 0.5 --config-json '{"prices":{"m-1":{"input":2000,"output":2000}}}' -o r.json e.yaml
is 'a price' '3 2' "$rc $(asked)"

# the same with the mock, which costs nothing or what its script says
cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: mock}
tasks:
  - {id: a, prompt: x, mock: {output: hello, usage: {input_tokens: 1, output_tokens: 1, cost: 2}}, expected: {output_contains: [hello]}}
  - {id: b, prompt: hello, expected: {output_contains: [hello]}}
YAML
run "$WAZA" run -q --budget-usd 2 e.yaml
is 'mock: spent by its script' 3 "$rc"
run "$WAZA" run -q --budget-usd 2 -k b e.yaml
is 'mock: without a script it is free' 0 "$rc"

# shards: each has the budget
suite >e.yaml
for k in 1 2
do run "$WAZA" run -q --shard $k/2 --budget-usd 0.1 -o s$k.json e.yaml
done
is 'shards: each has the whole budget' '0 2' "$rc $(asked)"
run "$WAZA" merge -o m.json s1.json s2.json
is 'shards: merge finds what is missing' 2 "$rc"
run "$WAZA" merge --allow-missing -o m.json s1.json s2.json
like 'shards: the merged results have the reason' '*dollars of the run spent*' "$(values m.json skip_reason)"
run "$WAZA" run -q --resume --shard 1/2 --budget-usd 0.2 -o s1.json e.yaml
is 'shards: resumed' '0 1' "$rc $(asked)"
run "$WAZA" merge -q -o m.json s1.json s2.json
is 'shards: merged' '0' "$rc"
is 'shards: merged, without a reason' '' "$(grep -o skip_reason m.json)"

# cached answers are free
suite 'trials_per_task: 2' >e.yaml
run "$WAZA" run -q --cache -o r.json e.yaml
asked >/dev/null
run "$WAZA" run -q --cache --budget-usd 0.1 -o r.json e.yaml
is 'cached answers are free' '0 0' "$rc $(asked)"

# --dry-run
suite 'budget: {usd: 0.5, seconds: 90}' 'budget: {tokens: 1000}' >e.yaml
run "$WAZA" run --dry-run --budget-tokens 5000 --budget-time 10m --stop ci=0.1 e.yaml
like '--dry-run: budgets and the stop rule' '*3 tasks, at most 200 trials each: at most 600 agent calls
  budget of the suite: $0.5, 90 s
    a  (budget 1000 tokens)
    b
    c
stop rule: ci=0.1
budget of the run: 5000 tokens, 600 s
3 tasks, at most 600 agent calls; nothing was run' "$out"
run "$WAZA" run --dry-run --format json --budget-usd 2 --stop decided e.yaml
like '--dry-run: as JSON' '*"stop":"decided","budget":{"usd":0.5,"seconds":90},*"id":"a",*"budget":{"tokens":1000}}*"agent_calls":3,"budget":{"usd":2}}' "$(printf '%s\n' "$out" | tr -d ' \n')"
suite >e.yaml
run "$WAZA" run --dry-run e.yaml
case $out in
*udget*|*stop*|*'at most'*) is '--dry-run: nothing about budgets that are not set' '' "$out" ;;
*) is '--dry-run: nothing about budgets that are not set' 0 "$rc" ;;
esac
done_testing
