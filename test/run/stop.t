# Rules that end trials early: which trials run, what results and reports record, and what compare
# and gate do with them.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LOG=$tmp/log
export LOG

# asked: the tasks that were asked since the last call, as "a2 b1"
asked() {
	sort log | uniq -c | awk '{ printf "%s%s%s", s, $2, $1; s = " " }'
	: >log
}
: >log
# same FILE: its contents without times and ids
same() {
	"$WAZA" parse "$1" | sed 's/"[a-z_]*_ms":[0-9]*//g; s/"\(started_at\|timestamp\|eval_id\)":"[^"]*"//g; s/"index":[0-9]*,//g'
}
# ids with g pass, with f fail, with s pass every second time
cat >agent <<'SH'
#!/bin/sh
echo "$WAZA_TASK_ID" >>"$LOG"
case $WAZA_TASK_ID.$((WAZA_TRIAL % 2)) in
g*|s*.1) echo good ;;
*) echo bad ;;
esac
SH
chmod +x agent
# suite CONFIG ID...
suite() {
	cat <<YAML
name: e
skill: s
config: {executor: command, command: [$tmp/agent], timeout_seconds: 60, workers: 1, $1}
tasks:
YAML
	shift
	for id
	do echo "  - {id: $id, prompt: x, graders: [{type: text, name: t, config: {contains: [good]}}]}"
	done
}

# a task is decided
suite 'trials_per_task: 5, task_pass_threshold: 0.6, pass_threshold: 0.7' g1 f1 s1 g2 >e.yaml
run "$WAZA" run -q -o full.json e.yaml
full=$rc
asked >/dev/null
run "$WAZA" run -q --stop decided -o r.json e.yaml
is 'decided: trials' 'f13 g13 g23 s15' "$(asked)"
is 'decided: the status is that of all trials' "$full" "$rc"
is 'decided: so are the statuses' "$(values full.json status)" "$(values r.json status)"
like 'decided: the report' '*up to 5 trials each  stop decided*g1 * 3/3 * pass rate *' "$out"
is 'decided: the results record the rule' '"decided" 5 ' "$(values r.json stop)$(values r.json runs_per_test)"
is 'decided: and the numbers of trials' '3 5 ' "$(values r.json trials)"
is 'decided: the interval is of a confidence sequence' '"confidence_sequence" ' "$(values r.json method)"
is 'decided: no bootstrap' '' "$(grep -o bootstrap_ci r.json)"
"$WAZA" schema results >schema.json
run "$WAZA" schema-check schema.json r.json
is 'decided: the results have the documented keys' 0 "$rc"
ok 'decided: the run is complete' test ! -e r.json.journal
suite 'trials_per_task: 5' g1 f1 >e.yaml
run "$WAZA" run -q --stop decided -o r.json e.yaml
is 'decided: all must pass' 'f11 g15' "$(asked)"
run "$WAZA" run -q --resume --stop decided -o r.json e.yaml
is 'decided: resumed, nothing is left' '1 ' "$rc $(asked)"
run "$WAZA" run -q --resume -o r.json e.yaml
is 'without the rule, the rest runs' '1 f14' "$rc $(asked)"
is 'without the rule, it is not recorded' '' "$(values r.json stop)"

# a suite is decided
suite 'pass_threshold: 0.5' f1 f2 f3 g1 g2 >e.yaml
run "$WAZA" run -q --stop decided -o r.json --reporter junit:j.xml --reporter tap:t.tap e.yaml
is 'a suite that fails: status, tasks' '1 f11 f21 f31' "$rc $(asked)"
why='decided: the suite fails, whatever other tasks do'
is 'a suite that fails: the reason' "\"$why\" " "$(values r.json skip_reason)"
like 'a suite that fails: the report' "*g1 * skipped: decided*Skipped*g1*$why*FAILED*" "$out"
like 'a suite that fails: JUnit' "*<testcase name=\"g1\"*<skipped message=\"$why\"/>*" "$(cat j.xml)"
is 'a suite that fails: JUnit has no error' 1 "$(grep -c 'errors="0".*skipped="2"' j.xml)"
like 'a suite that fails: TAP' "*g2 # SKIP $why*" "$(cat t.tap)"
like 'a suite that fails: the interval' '*"summary":{*"skipped":2,*' "$("$WAZA" parse r.json)"
run "$WAZA" grade -q --results r.json -o g.json e.yaml
is 'a suite that fails: graded again' "1 \"$why\" " "$rc $(values g.json skip_reason)"
suite 'pass_threshold: 0.4' g1 g2 f1 f2 f3 >e.yaml
run "$WAZA" run -q --stop decided -o r.json e.yaml
is 'a suite that passes: status, tasks' '0 g11 g21' "$rc $(asked)"
is 'a suite that passes' '"decided: the suite passes, whatever other tasks do" ' "$(values r.json skip_reason)"
run "$WAZA" run -q --resume -o r.json e.yaml
is 'a suite that passes: the others can be run later' '0 f11 f21 f31' "$rc $(asked)"
suite 'pass_threshold: 0.4' g1 g2 f1 f2 f3 | sed 's/^tasks:/metrics: [{name: task_completion, threshold: 0.6}]\ntasks:/' >e.yaml
run "$WAZA" run -q --stop decided -o r.json e.yaml
is 'all thresholds of the suite count' '1 f11 f21 f31 g11 g21' "$rc $(asked)"
mkdir -p k/s
printf -- '---\nname: s\ndescription: d\n---\nbody\n' >k/s/SKILL.md
suite 'pass_threshold: 0.4, skill_directories: [k]' g1 g2 f1 >e.yaml
run "$WAZA" run -q --baseline --stop decided e.yaml
is 'with a baseline all tasks run' 'f12 g12 g22' "$(asked)"

# an interval
suite 'trials_per_task: 2' g1 f1 >e.yaml
run "$WAZA" run -q --stop ci=0.1 -o r.json e.yaml
is 'ci: trials' 'f129 g129' "$(asked)"
is 'ci: status' 1 "$rc"
is 'ci: the results record the rule' '"ci=0.1" 200 29 ' "$(values r.json stop)$(values r.json runs_per_test)$(values r.json trials)"
like 'ci: the interval' '*"pass_rate_ci":{"lower":0.8*,"upper":1,"confidence_level":0.95,"method":"confidence_sequence"}*' "$("$WAZA" parse r.json)"
cp r.json ci.json
suite 'trials_per_task: 2, task_pass_threshold: 0.5' s1 >e.yaml
run "$WAZA" run -q --stop ci=0.1 --max-trials 12 -o r.json e.yaml
is 'ci: at most' '0 s112' "$rc $(asked)"
run "$WAZA" run -q --stop ci=0.1 --max-trials 12 -w 4 -o r.json e.yaml
is 'ci: at most, with workers' '0 s112' "$rc $(asked)"

# resumed, with a budget, and in shards
sed 's/echo good/echo "{\\"output\\":\\"good\\",\\"tool_calls\\":[],\\"usage\\":{\\"input_tokens\\":1,\\"output_tokens\\":0}}"/; s/echo bad/echo "{\\"output\\":\\"bad\\",\\"tool_calls\\":[],\\"usage\\":{\\"input_tokens\\":1,\\"output_tokens\\":0}}"/' agent >json
chmod +x json
suite 'output_format: json' g1 f1 | sed "s:/agent:/json:" >e.yaml
run "$WAZA" run -q --stop ci=0.1 --budget-tokens 40 -o r.json e.yaml
is 'a budget ends a task that the rule does not' '3 f111 g129' "$rc $(asked)"
is 'the other task has ended' '"failed" "passed" "skipped" ' "$(values r.json status | sed 's/"failed"  *"passed"/"failed" "passed"/')"
run "$WAZA" run -q --resume --stop ci=0.1 -o r.json e.yaml
is 'resumed until the rule ends it' '1 f118' "$rc $(asked)"
run "$WAZA" run -q --stop ci=0.1 -o w.json e.yaml
is 'resumed: the same results' "$(same w.json)" "$(same r.json)"
for k in 1 2
do run "$WAZA" run -q --shard $k/2 --stop ci=0.1 -o s$k.json e.yaml
done
run "$WAZA" merge -o m.json s1.json s2.json
is 'merged: the same results' "$(same w.json)" "$(same m.json)"
run "$WAZA" run -q --shard 2/2 --stop ci=0.2 -o s2.json e.yaml
run "$WAZA" merge -o m.json s1.json s2.json
like 'shards with different rules are not merged' '2 *another rule --stop (*' "$rc $err"
: >log

# compare and gate
run "$WAZA" compare ci.json ci.json
like 'compare names the rule' '*trials ended by the rule ci=0.1 in all files*' "$out"
run "$WAZA" compare --format json ci.json ci.json
like 'compare names the rule, JSON' '*"stop": "ci=0.1"*"sign_test_p": 1*' "$out"
suite 'trials_per_task: 5' g1 f1 >e.yaml
run "$WAZA" run -q -o five.json e.yaml
run "$WAZA" run -q --stop decided -o decided.json e.yaml
run "$WAZA" run -q --trials 2 -o two.json e.yaml
run "$WAZA" compare five.json ci.json
like 'different rules: no test' 'Cannot tell: *but trials ended by different rules, so that no test is valid*Warning: trials ended by different rules (5 trials in 1, ci=0.1, at most 200 trials in 2): no test is valid*' "$out"
run "$WAZA" compare --format json five.json ci.json
like 'different rules: JSON' '*"interval": null,*"sign_test_p": null,*"mcnemar_p": null,*"verdict": "not_tested"*' "$out"
run "$WAZA" compare --format json five.json decided.json
like 'decided against all trials: only the status' '*"interval": null,*"sign_test_p": null,*"mcnemar_p": 1,*scores are not tested, only changes of status*' "$out"
run "$WAZA" compare --format json five.json two.json
like 'other numbers of trials: only the scores' '*"sign_test_p": 1,*"mcnemar_p": null,*scores are compared over the trials that both have*' "$out"
sed 's/"status": "failed"/"status": "passed"/' five.json >better.json
run "$WAZA" gate --significant --baseline better.json --current five.json
is 'gate: a drop that can be chance' 0 "$rc"
run "$WAZA" gate --significant --baseline better.json --current ci.json
like 'gate: a drop that cannot be tested' '1 *whether by chance cannot be tested*' "$rc $out"
suite 'trials_per_task: 5' f1 f2 f3 f4 f5 f6 >e2.yaml
run "$WAZA" run -q -o f.json e2.yaml
sed 's/"status": "failed"/"status": "passed"/' f.json >g.json
run "$WAZA" run -q --stop decided -o f.json e2.yaml
run "$WAZA" gate --significant --baseline g.json --current f.json
like 'gate: the rule left out tasks' '1 *whether by chance cannot be tested*the rule decided left out tasks in 2: no test is valid*but a rule left out tasks, so that no test is valid*' "$rc $out"
run "$WAZA" compare f.json f.json
like 'compare: in both' '*the rule decided left out tasks in 1 and 2: no test is valid*' "$out"
like 'compare: tasks that were left out are not counted' '*1  f.json *0.0% of 1 task passed*' "$out"
# a suite that passes: tasks that were not run are neither removed nor passed
suite 'trials_per_task: 1, pass_threshold: 0.5' g1 g2 g3 g4 >e3.yaml
run "$WAZA" run -q -o all.json e3.yaml
run "$WAZA" run -q --stop decided -o some.json e3.yaml
like 'decided: the suite passed before its end' '*"skip_reason"*' "$(cat some.json)"
run "$WAZA" gate --baseline all.json --current some.json --on-removed-tasks allow
like 'gate: tasks that were not run have no verdict' '3waza: some.json: cannot be decided: * of the baseline were not run (decided); *' "$rc$out$err"
run "$WAZA" gate --baseline all.json --current some.json --partial
like 'gate --partial: they count as in the baseline' '0 Gate passed: 100.0% *4 tasks in both, 0 new, 0 removed; * not run, counted as in the baseline*' "$rc $out"
run "$WAZA" gate --baseline some.json --current all.json
like 'gate: such results cannot be a baseline' '3 waza: some.json: the run is not complete: a baseline needs all tasks, *' "$rc $err"
sed 's/"status": "passed"/"status": "failed"/' some.json >worse.json
run "$WAZA" gate --baseline all.json --current worse.json
like 'gate: what was run has failed' '1 Gate failed: *Warnings:*task "g4" was not run: *0 new, 0 removed, * not run*' "$rc $out"
# nothing has changed: the tasks that were left out are not a fall
suite 'pass_threshold: 0.8' f1 f2 f3 g1 g2 g3 >e4.yaml
run "$WAZA" run -q -o all.json e4.yaml
run "$WAZA" run -q --stop decided -o some.json e4.yaml
run "$WAZA" gate --baseline all.json --current some.json
like 'gate: the tasks that pass were not run' '3 waza: some.json: cannot be decided: 4 tasks of the baseline *' "$rc $out$err"
run "$WAZA" gate --baseline all.json --current some.json --min-pass-pct 60
like 'gate: they could reach the required rate' '3 waza: some.json: cannot be decided: *' "$rc $out$err"
run "$WAZA" gate --baseline all.json --current some.json --min-pass-pct 70
like 'gate: they could not' '1 Gate failed: at most 66.7% of the tasks passed, less than the required 70%*' "$rc $out"
# fail_fast does not list the tasks that it left out
run "$WAZA" run -q --fail-fast -o fast.json e4.yaml
run "$WAZA" gate --baseline all.json --current fast.json
like 'gate, fail_fast: tasks that were not run have no verdict' '3 waza: fast.json: cannot be decided: 5 tasks of the baseline were not run (*' "$rc $out$err"
run "$WAZA" gate --baseline fast.json --current all.json
like 'gate, fail_fast: such results cannot be a baseline' '3 waza: fast.json: the run is not complete: a baseline needs all tasks, but 5 had no end;*' "$rc $out$err"
run "$WAZA" gate --baseline new.json --current fast.json --update-baseline --min-trials 1
like 'gate, fail_fast: nor become one' '3 *fast.json is not complete*' "$rc $out$err"
sed 's/"status": "failed"/"status": "passed"/' all.json >better.json
run "$WAZA" gate --baseline better.json --current fast.json
like 'gate, fail_fast: what was run has failed' '1 Gate failed: the pass rate fell by at least 16.7 percentage points, from 100.0% to at most 83.3% *task "f2" was not run: the run had ended*1 task in both, 0 new, 0 removed, 5 not run*' "$rc $out"
run "$WAZA" gate --baseline ci.json --current ci.json
like 'gate names the rule' '0 *both ended trials by the rule ci=0.1*' "$rc $out"
run "$WAZA" gate --format json --baseline ci.json --current ci.json
like 'gate names the rule, JSON' '*"stop": "ci=0.1"*' "$out"

# the mock; wrong options
cat >m.yaml <<'YAML'
name: e
skill: s
config: {executor: mock, trials_per_task: 9, task_pass_threshold: 0.5}
tasks: [{id: a, prompt: good, expected: {output_contains: [good]}}]
YAML
run "$WAZA" run -q --stop decided -o r.json -w 1 m.yaml
is 'mock' '0 5 ' "$rc $(values r.json trials)"
for w in x ci ci= ci=0 ci=0.5 ci=1 ci=x decided=1 ''
do
	run "$WAZA" run --stop="$w" m.yaml
	like "--stop=$w" '2 waza: --stop *' "$rc $err"
done
run "$WAZA" run --max-trials 5 m.yaml
like '--max-trials alone' '2 waza: --max-trials needs --stop ci=WIDTH*' "$rc $err"
run "$WAZA" run --trials 5 --stop ci=0.1 m.yaml
like '--trials and --stop ci' '2 waza: --trials and --stop ci=0.1 contradict each other*' "$rc $err"
run "$WAZA" run --stop decided --shard 1/2 --shard-trials m.yaml
like '--stop and --shard-trials' '2 waza: --stop needs all trials of a task*' "$rc $err"
done_testing
