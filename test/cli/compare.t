# waza compare and waza gate: which results changed, whether the change is
# significant, and whether it passes the gate.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
unset COLUMNS NO_COLOR
LC_ALL=C.UTF-8
export LC_ALL

# results FILE MODEL ID:STATUS:SCORE ...: as the original writes them
results() {
	file=$1 model=$2
	shift 2
	{
		printf '{"eval_id":"run-1","skill":"s","eval_name":"%s","timestamp":"2026-02-16T14:45:23.1+01:00",' "${suite-demo}"
		printf '"config":{"runs_per_test":1,"model_id":"%s","engine_type":"mock","timeout_sec":60},' "$model"
		printf '"summary":{"total_tests":%d,"duration_ms":1500},"metrics":{},"tasks":[' $#
		sep=
		for t
		do
			IFS=: read -r id status score golden <<-T
				$t
			T
			rate=0
			[ "$status" != passed ] || rate=1
			printf '%s\n{"test_id":"%s","display_name":"Task %s","status":"%s",' "$sep" "$id" "$id" "$status"
			printf '"runs":[{"run_number":1,"status":"%s","duration_ms":10,"validations":{"g":{"name":"g","type":"text","score":%s,"passed":%s,"feedback":"x"}}}],' \
			    "$status" "$score" "$([ $rate = 1 ] && echo true || echo false)"
			printf '"stats":{"pass_rate":%d,"avg_score":%s,"min_score":0,"max_score":1,"std_dev_score":0,"flaky":false,"avg_duration_ms":10}%s}' \
			    $rate "$score" "${golden:+,\"golden\":true}"
			sep=,
		done
		printf ']}\n'
	} >"$file"
}

results a.json gpt-4o t1:passed:1 t2:passed:0.9:g t3:failed:0.2 t4:passed:1
results b.json gpt-5 t1:passed:1 t2:failed:0.4:g t3:passed:0.8 t5:error:0

# the table
run "$WAZA" compare a.json b.json
is 'two results are compared: status 0' 0 $rc
is 'the table lists runs, tasks and the verdict' '    file    model    success   score  duration
  1 a.json  gpt-4o     75.0%   0.775      1.5s
  2 b.json  gpt-5      50.0%   0.550      1.5s
    change            -25.0%  -0.225      +0ms

    task        1     2   delta
  ✓ Task t1  1.00  1.00   +0.00
  ✗ Task t2  0.90  0.40   -0.50  pass -> fail
  ✓ Task t3  0.20  0.80   +0.60  fail -> pass
  - Task t4  1.00   n/a     n/a  not in 2
  ! Task t5   n/a  0.00     n/a  not in 1

b.json vs a.json: 3 tasks in both, 1 better, 1 worse, 1 unchanged
  1 task fixed, 1 task broke; not significant (p = 1; at least 8 changes in one
    direction against 1 are needed)
  too few tasks to tell: +0.03 over 3; at least 6 changes in one direction are
    needed' "$out"
is 'nothing on stderr' '' "$err"
like 'the table contains no NaN' '' "$(printf %s "$out" | grep -i nan)"
run env LC_ALL=C "$WAZA" compare a.json b.json
is '--ascii prints only ASCII' '' "$(printf %s "$out" | LC_ALL=C tr -d '\n -~')"
run "$WAZA" compare a.json a.json
like 'a file compared with itself has no change' '*no change: all 4 tasks scored the same' "$out"

# significance
set -- ; i=0
while [ $i -lt 12 ]; do set -- "$@" "t$i:failed:0.5"; i=$((i + 1)); done
results low.json m "$@"
set -- ; i=0
while [ $i -lt 12 ]; do set -- "$@" "t$i:passed:$([ $i -lt 2 ] && echo 0.5 || echo 0.9)"; i=$((i + 1)); done
results high.json m "$@"
run "$WAZA" compare low.json high.json
like 'better: significant improvement' '*12 tasks fixed; significant (p < 0.001)*better: +0.33 (95 % interval 0.23 to 0.40), p = 0.002' "$out"
run "$WAZA" compare high.json low.json
like 'worse: significant regression' '*worse: -0.33 (95 % interval -0.40 to -0.23), p = 0.002' "$out"
"$WAZA" compare -f json low.json high.json >one.json
"$WAZA" compare -f json low.json high.json >two.json
ok 'the comparison is reproducible' cmp one.json two.json
suite=other
results c.json m t1:passed:1
unset suite
run "$WAZA" compare a.json b.json c.json
like 'each of three files is compared with the first' '*b.json vs a.json:*c.json vs a.json:*' "$out"
like 'different suites are a warning' '*warning: these are different suites: "demo" in 1, "other" in 3' "$out"
results d.json m x:passed:1
run "$WAZA" compare a.json d.json
like 'no task in common' '*d.json vs a.json: nothing to compare: no task in common' "$out"
set --; i=0
while [ $i -lt 30 ]; do set -- "$@" a.json; i=$((i + 1)); done
run "$WAZA" compare "$@" b.json
like 'more files than fit the width are summarized' '*task        1    31   delta*  not in 1, 2, 3 and 27 more*' "$out"
set -- "$@" "$@" a.json a.json a.json a.json a.json
run "$WAZA" compare "$@"
is 'too many files: status 2' 2 $rc

# JSON: the original's keys, null for missing values
run "$WAZA" compare --format json a.json b.json
is '--format json: status 0' 0 $rc
printf '%s\n' "$out" >c.out
ok '--format json prints valid JSON' sh -c '"$WAZA" parse --json c.out >c.flat'
flat=$(cat c.flat)
like '--format json has the keys of the original' '{"files":\["a.json","b.json"\],"models":\["gpt-4o","gpt-5"\],"aggregate_scores":\[0.775,0.55\],"success_rates":\[0.75,0.5\],"aggregate_score_delta":-0.22*,"success_rate_delta":-0.25,"task_deltas":\[{"task_id":"t1","display_name":"Task t1","scores":\[1,1\],"pass_rates":\[1,1\],"statuses":\["passed","passed"\],"score_delta":0,"pass_rate_delta":0},*"total_tests":\[4,4\],"durations_ms":\[1500,1500\],"duration_delta_ms":0,*' "$flat"
like 'a missing task is null' '*"task_id":"t4","display_name":"Task t4","scores":\[1,null\],"pass_rates":\[1,null\],"statuses":\["passed","n/a"\],"score_delta":null,"pass_rate_delta":null,"missing_in":\[1\]}*' "$flat"
like '--format json lists flips and significance' '*"fail_to_pass":\["t3"\],"pass_to_fail":\["t2"\],*"sign_test_p":1,"mcnemar_p":1,"verdict":"too_few"*' "$flat"
like '--format json lists missing tasks' '*"missing":\[{"task_id":"t4","files":\[1\]},{"task_id":"t5","files":\[0\]}\]*' "$flat"
run "$WAZA" compare -f json a.json d.json
like '--format json: nothing to compare is null' '*"mean_delta": null,*"interval": null,*"verdict": "nothing_to_compare",*' "$out"

# Markdown: names are escaped
sed 's/Task t2/a|b <i> @you/' b.json >m.json
sed 's/Task t2/a|b <i> @you/' a.json >n.json
run "$WAZA" compare -f markdown n.json m.json
like '--format markdown begins with the verdict' '## Comparison

- 2 vs 1: \*\*too few tasks to tell*' "$out"
like '--format markdown lists changed tasks' '*| a\\|b &lt;i&gt; @<!-- -->you | 0.90 | 0.40 | -0.50 | ❌ pass -> fail |*' "$out"
like '--format markdown omits unchanged tasks' '*
1 task unchanged.' "$out"

# errors
run "$WAZA" compare a.json
is 'one file only: status 2' 2 $rc
run "$WAZA" compare -f xml a.json b.json
is 'an unknown format' 'waza: --format must be table, json or markdown, not "xml"' "$err"
echo '{"tasks": [' >bad.json
run "$WAZA" compare a.json bad.json
is 'a file that is not JSON' '2 bad.json:2:1: unexpected end of input' "$rc $err"
run "$WAZA" compare a.json none.json
is 'a missing file' '2 waza: none.json: No such file or directory' "$rc $err"

# the gate
run "$WAZA" gate --baseline a.json --current a.json
is 'gate: not worse: status 0' 0 $rc
like 'gate: not worse: report' 'gate passed
*' "$out"
run "$WAZA" gate --baseline a.json --current b.json
is 'gate: worse: status 1' 1 $rc
is 'gate: worse: report with reasons' 'gate failed
  baseline   75.0% of 4 tasks passed  score 0.775  a.json  gpt-4o
  current    50.0% of 4 tasks passed  score 0.550  b.json  gpt-5
  drop of the pass rate: 25.00 percentage points (allowed: 0.00)
  3 tasks in both, 1 new, 1 removed
  too few tasks to tell: +0.03 over 3; at least 6 changes in one direction are
    needed

Broke:
  ✗ Task t2  pass -> fail

Fixed:
  ✓ Task t3  fail -> pass

Failures:
  the pass rate fell by 25.00 percentage points, more than 0.00

Warnings:
  task "Task t4" [t4] was removed' "$out"
run "$WAZA" gate --baseline a.json --current b.json --max-regression-pct 25
is 'gate: a regression within the limit: status 0' 0 $rc
run "$WAZA" gate --baseline a.json --current b.json --max-regression-pct 24.99
is 'gate: a regression beyond the limit: status 1' 1 $rc
run "$WAZA" gate --baseline a.json --current b.json --golden-must-pass --max-regression-pct 100
is 'gate: a golden task fails: status 2' 2 $rc
like 'gate: the golden task is named' '*golden task "Task t2" \[t2\] did not pass: failed*' "$out"
results e.json m t1:passed:1 t3:passed:1 t4:passed:1
run "$WAZA" gate --baseline a.json --current e.json --golden-must-pass
is 'gate: a golden task is missing: status 2' 2 $rc
run "$WAZA" gate --baseline a.json --current e.json
is 'gate: removed tasks are a warning' 0 $rc
run "$WAZA" gate --baseline a.json --current e.json --on-removed-tasks fail
is 'gate: removed tasks can be refused' 1 $rc
run "$WAZA" gate --baseline e.json --current a.json --max-regression-pct 50
is 'gate: new tasks are allowed' '0 0' "$rc $(printf %s "$out" | grep -c 'is new')"
run "$WAZA" gate --baseline e.json --current a.json --max-regression-pct 50 --on-new-tasks warn
is 'gate: new tasks can be a warning' '0 1' "$rc $(printf %s "$out" | grep -c 'is new')"
run "$WAZA" gate --baseline e.json --current a.json --max-regression-pct 50 --on-new-tasks fail
is 'gate: new tasks can be refused' 1 $rc
run "$WAZA" gate --baseline a.json --current b.json --significant
is 'gate: a regression that is not significant: status 0' 0 $rc
run "$WAZA" gate --baseline high.json --current low.json --significant
is 'gate: a significant regression: status 1' 1 $rc
sed 's/"status":"passed","runs"/"status":"cancelled","runs"/' high.json >stopped.json
run "$WAZA" gate --baseline high.json --current stopped.json --significant
is 'gate: an interrupted run: status 1' 1 $rc
run "$WAZA" gate --baseline a.json --current a.json --min-pass-pct 80
is 'gate: pass rate below the minimum: status 1' 1 $rc
awk 'BEGIN { printf "{\"tasks\":["
	for (i = 0; i < 3000; i++)
		printf "%s{\"test_id\":\"%d\",\"status\":\"%s\"}", i ? "," : "", i, i ? "passed" : "failed"
	print "]}" }' >most.json
run "$WAZA" gate --baseline most.json --current most.json
like 'gate: 99.97 % is not rounded to 100 %' '*current    99.9% of 3000 tasks passed*' "$out"

# formats of the gate
run "$WAZA" gate --baseline a.json --current b.json --golden-must-pass -f json
is 'gate --format json: status 2' 2 $rc
printf '%s\n' "$out" >g.out
ok 'gate --format json prints valid JSON' sh -c '"$WAZA" parse --json g.out >g.flat'
like 'gate --format json: keys and values' '{"passed":false,"exit_code":2,"verdict":"golden-failure","baseline_file":"a.json","current_file":"b.json","baseline_success_rate":0.75,"current_success_rate":0.5,"regression_pct":25,"max_regression_pct":0,"golden_must_pass":true,"golden_failures":\[{"task_id":"t2","display_name":"Task t2","golden":true,"status":"failed","pass_rate":0}\],*"regressions":\[{"task_id":"t2"*"warnings":\[{"kind":"removed_task","severity":"warning",*"failures":\[{"kind":"regression","severity":"error"*' "$(cat g.flat)"
sed 's/,"golden":true//' b.json >plain.json
run "$WAZA" gate --baseline a.json --current plain.json --golden-must-pass -f json
like 'gate: a task is golden if either file says so' '2 *"golden": true*' "$rc $out"
run "$WAZA" gate --baseline n.json --current m.json -f markdown
like 'gate --format markdown' '## Gate: ❌ failed
*- ❌ a\\|b &lt;i&gt; @<!-- -->you (pass -> fail)*' "$out"
sed 's/Task t2/100% a\\n::error::b/' b.json >'x,y:z.json'
run "$WAZA" gate --baseline a.json --current x,y:z.json -f github-actions
is 'gate --format github: status 1' 1 $rc
is 'gate --format github: annotations are single lines' '::error file=x%2Cy%3Az.json,title=regression::the pass rate fell by 25.00 percentage points, more than 0.00
::warning file=x%2Cy%3Az.json,title=removed_task::task "Task t4" [t4] was removed
::error file=x%2Cy%3Az.json,title=broke::Task t2: pass -> fail' "$(printf '%s\n' "$out" | sed '$d')"
like 'gate --format github: a notice with the verdict' '::notice file=x%2Cy%3Az.json,title=waza gate::gate failed: 50.0%25 passed, 75.0%25 before; *' "$(printf '%s\n' "$out" | tail -n 1)"
sed 's/Task t2/100% a\\n::error::b/' a.json >w.json
run "$WAZA" gate --baseline w.json --current b.json -f github-actions
like 'gate --format github: names are escaped' '*::100%25 a ::error::b: pass -> fail
*' "$out"

# usage errors of the gate have status 3
for args in '' '--baseline a.json' '--current a.json' '--nonsense' 'a.json' \
    '--baseline a.json --current none.json' '--baseline bad.json --current a.json' \
    '--baseline a.json --current d.json' '--baseline a.json --current b.json -f xml' \
    '--baseline a.json --current b.json --on-new-tasks maybe' \
    '--baseline a.json --current b.json --max-regression-pct -1' \
    '--baseline a.json --current b.json --max-regression-pct 1e2' \
    '--baseline a.json --current b.json --max-regression-pct 101' \
    '--baseline a.json --current b.json --min-pass-pct .'
do
	# shellcheck disable=SC2086 # words they are
	run "$WAZA" gate $args
	is "gate $args" 3 $rc
	ok 'gate: a usage error has a message' [ -n "$err" ]
done
run "$WAZA" gate --help
is 'gate --help: status 0' 0 $rc

# results written by waza, with a golden task and several trials
cat >eval.yaml <<'Y'
name: own
skill: s
config: {executor: mock, trials_per_task: 2}
graders: [{type: text, name: t, config: {contains: [mock]}}]
tasks:
  - {id: one, prompt: Hi, golden: true}
  - {id: two, prompt: Ho}
Y
run "$WAZA" run -q -o own.json eval.yaml
ok 'the results mark golden tasks' [ "$(grep -c '"golden": *true' own.json)" = 1 ]
run "$WAZA" gate --baseline own.json --current own.json --golden-must-pass
is 'gate of results written by waza: status 0' 0 $rc
sed 's/\[mock\]/[nothing like it]/' eval.yaml >worse.yaml
"$WAZA" run -q -o worse.json worse.yaml >/dev/null 2>&1
run "$WAZA" gate --baseline own.json --current worse.json --golden-must-pass
is 'gate of results written by waza: a golden task fails: status 2' 2 $rc
run "$WAZA" compare own.json worse.json
like 'results written by waza can be compared' '*one   1.00  0.00   -1.00  pass -> fail*' "$out"

# many tasks
awk 'BEGIN {
	printf "{\"eval_name\":\"demo\",\"config\":{},\"summary\":{},\"tasks\":["
	for (i = 0; i < 10000; i++)
		printf "%s{\"test_id\":\"t%d\",\"display_name\":\"Task %d\",\"status\":\"%s\",\"runs\":[],\"stats\":{\"pass_rate\":%d,\"avg_score\":%.4f}}", i ? "," : "", i, i, i % 3 ? "passed" : "failed", i % 3 != 0, i / 10000
	print "]}"
}' >many.json
sed 's/"t7","display_name":"Task 7","status":"passed"/"t7","display_name":"Task 7","status":"failed"/' many.json >most.json
run "$WAZA" compare many.json most.json
like 'many tasks: only changed ones are listed' '*✗ Task 7*pass -> fail
  (9999 unchanged tasks are not listed; use -v to list them)*' "$out"
done_testing
