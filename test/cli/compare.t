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
is 'the verdict is first, then the tasks by name, then the numbers' 'Cannot tell: 1 of 3 tasks scored higher, 1 lower; at least 6 tasks must change in the same direction before chance is unlikely

    task        1     2  change
Broke (1)
  ✗ Task t2  0.90  0.40   -0.50  pass -> fail
Fixed (1)
  ✓ Task t3  0.20  0.80   +0.60  fail -> pass
Not in all results, or not finished (2)
  - Task t4  1.00   n/a     n/a  not in 2
  ! Task t5   n/a  0.00     n/a  not in 1
Same score and result (1); use -v to list them

  1  a.json  gpt-4o   75.0% of 4 tasks passed
  2  b.json  gpt-5    50.0% of 4 tasks passed

  3 tasks in both         1        2  difference                95 % interval
  pass rate           66.7%    66.7%  +0.0 percentage points    -64.0 to +64.0
  score               0.700    0.733  +0.033                    -0.500 to +0.600
  time per trial       10ms     10ms  +0.0%
  1 task broke, 1 was fixed; chance alone can explain this (p = 1, McNemar'"'"'s test)' "$out"
is 'nothing on stderr' '' "$err"
like 'the table contains no NaN' '' "$(printf %s "$out" | grep -i nan)"
run env LC_ALL=C "$WAZA" compare a.json b.json
is '--ascii prints only ASCII' '' "$(printf %s "$out" | LC_ALL=C tr -d '\n -~')"
run "$WAZA" compare a.json a.json
like 'equal results are not called equivalent' 'Same results: all 4 tasks scored the same; a change that affects less than 53% of such tasks can go unnoticed
*  score               0.775    0.775  +0.000                    n/a
*' "$out"
run "$WAZA" compare -v a.json a.json
like '-v lists the tasks that are the same' '*Same score and result (4)
  ✓ Task t1  1.00  1.00   +0.00
*' "$out"

# significance
set -- ; i=0
while [ $i -lt 12 ]; do set -- "$@" "t$i:failed:0.5"; i=$((i + 1)); done
results low.json m "$@"
set -- ; i=0
while [ $i -lt 12 ]; do set -- "$@" "t$i:passed:$([ $i -lt 2 ] && echo 0.5 || echo 0.9)"; i=$((i + 1)); done
results high.json m "$@"
run "$WAZA" compare low.json high.json
like 'better: significant improvement' "Better: 10 of 12 tasks scored higher, none lower; this is unlikely to be chance (p = 0.002)*+100.0 percentage points  +65.7 to +100.0*+0.333                    +0.233 to +0.400*12 tasks were fixed, none broke; this is unlikely to be chance (p < 0.001, McNemar's test)" "$out"
run "$WAZA" compare high.json low.json
like 'worse: significant regression' 'Worse: 10 of 12 tasks scored lower, none higher; this is unlikely to be chance (p = 0.002)*-100.0 percentage points  -100.0 to -65.7*' "$out"
sed -e 's/"t2","display_name":"Task t2","status":"failed"/"t2","display_name":"Task t2","status":"passed"/' -e '/"t[3-5]"/s/0\.5/0.6/g' low.json >some.json
run "$WAZA" compare low.json some.json
like 'a few changes: how many tasks would be needed' 'Cannot tell: 3 of 12 tasks scored higher, none lower; chance alone can explain this (p = 0.25)*1 task was fixed, none broke;*
  About 29 tasks like these are needed to tell a difference of this size from chance; there are 12' "$out"
"$WAZA" compare -f json low.json high.json >one.json
"$WAZA" compare -f json low.json high.json >two.json
ok 'the comparison is reproducible' cmp one.json two.json
suite=other
results c.json m t1:passed:1
unset suite
run "$WAZA" compare a.json b.json c.json
like 'each of three files is compared with the first' '- b.json (2) against 1: cannot tell: *- c.json (3) against 1: same results: 1 task scored the same*' "$out"
like 'different suites are a warning' '*
Warning: these are different suites: "demo" in 1, "other" in 3
*' "$out"
results d.json m x:passed:1
run "$WAZA" compare a.json d.json
like 'no task in common' 'Cannot compare: no task is finished in both
*' "$out"
set --; i=0
while [ $i -lt 30 ]; do set -- "$@" a.json; i=$((i + 1)); done
run "$WAZA" compare "$@" b.json
like 'many files: absent tasks name the first' '*task        1     2 *    31  change*  not in 1, 2, 3 and 27 more*' "$out"
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
like '--format json has the interval of the pass rate, and means per trial' '*"pass_rates":\[0.666*,0.666*\],"pass_rate_delta":0,"pass_rate_interval":{"lower":-0.639*,"upper":0.639*,"confidence_level":0.95},"tasks_needed":null,"per_trial":{"duration_ms":\[10,10\],"tokens":\[null,null\],"cost":\[null,null\]}*' "$flat"
like '--format json lists flips and significance' '*"fail_to_pass":\["t3"\],"pass_to_fail":\["t2"\],*"sign_test_p":1,"mcnemar_p":1,"verdict":"too_few"*' "$flat"
like '--format json lists missing tasks' '*"missing":\[{"task_id":"t4","files":\[1\]},{"task_id":"t5","files":\[0\]}\]*' "$flat"
run "$WAZA" compare -f json a.json d.json
like '--format json: nothing to compare is null' '*"mean_delta": null,*"interval": null,*"verdict": "nothing_to_compare",*' "$out"

# Markdown: names are escaped
sed 's/Task t2/a|b <i> @you/' b.json >m.json
sed 's/Task t2/a|b <i> @you/' a.json >n.json
run "$WAZA" compare -f markdown n.json m.json
like '--format markdown begins with the verdict' '## Comparison

- 2 vs 1: \*\*cannot tell: *66.7% → 66.7% (+0.0 percentage points, 95 % interval -64.0 to +64.0)*' "$out"
like '--format markdown lists changed tasks' '*| a\\|b &lt;i&gt; @<!-- -->you | 0.90 | 0.40 | -0.50 | ❌ pass -> fail |*' "$out"
like '--format markdown omits unchanged tasks' '*
1 task unchanged.' "$out"

# errors
run "$WAZA" compare a.json
is 'one file without a baseline: status 2' '2 waza: a.json has no results without the skill; name a second file, or run the suite with --baseline' "$rc $err"
run "$WAZA" compare -f xml a.json b.json
is 'an unknown format' 'waza: --format must be table, json or markdown, not "xml"' "$err"
echo '{"tasks": [' >bad.json
run "$WAZA" compare a.json bad.json
is 'a file that is not JSON' '2 bad.json:2:1: unexpected end of input; name a results file (waza run -o FILE writes one)' "$rc $err"
run "$WAZA" compare a.json none.json
is 'a missing file' '2 waza: none.json: No such file or directory; check the path' "$rc $err"

# the gate
run "$WAZA" gate --baseline a.json --current a.json
is 'gate: not worse: status 0' 0 $rc
like 'gate: not worse: report' 'Gate passed: 75.0% of the tasks passed, 75.0% in the baseline
*' "$out"
run "$WAZA" gate --baseline a.json --current b.json
is 'gate: worse: status 1' 1 $rc
is 'gate: worse: report with reasons' 'Gate failed: the pass rate fell by 25.0 percentage points, from 75.0% to 50.0% (allowed: 0.0)

Broke:
  ✗ Task t2  pass -> fail

Fixed:
  ✓ Task t3  fail -> pass

Warnings:
  task "Task t4" [t4] was removed

  baseline   75.0% of 4 tasks passed  a.json  gpt-4o
  current    50.0% of 4 tasks passed  b.json  gpt-5
  3 tasks in both, 1 new, 1 removed
  Cannot tell: 1 of 3 tasks scored higher, 1 lower; at least 6 tasks must change in the same direction before chance is unlikely' "$out"
for word in running cancelled; do
	sed "1s/{/{\"status\":\"$word\",/" a.json >part.json
	run "$WAZA" gate --baseline a.json --current part.json
	like "gate: a run that is $word has no verdict" "3 waza: part.json: the run is not complete (status: $word): *" "$rc $err"
	run "$WAZA" gate --baseline part.json --current a.json
	like "gate: a run that is $word cannot be a baseline" "3 waza: part.json: the run is not complete (status: $word): *" "$rc $err"
	is "gate: a run that is $word: no verdict is printed" '' "$out"
	run "$WAZA" compare part.json a.json
	like "compare names the run that is $word" "0 *Warning: the run of 1 is not complete (status: $word)*" "$rc $out"
done
# fail_fast: the run has failed, tasks are cancelled
results part.json gpt-4o t1:failed:0 t2:cancelled:0:g t3:failed:0.2 t4:cancelled:0
run "$WAZA" gate --baseline part.json --current b.json
like 'gate: a run with tasks that did not run cannot be a baseline' '3 waza: part.json: the run is not complete: a baseline needs all tasks, but 2 had no end; *' "$rc $err"
run "$WAZA" gate --baseline a.json --current part.json
like 'gate: such a current run has not passed' '1 *the pass rate fell by 75.0 percentage points*' "$rc $out"
# a part of the tasks
results part.json gpt-4o t1:passed:1 t3:failed:0.2
run "$WAZA" gate --baseline a.json --current part.json
is 'gate: a part of the tasks is worse' 1 $rc
run "$WAZA" gate --baseline a.json --current part.json --partial --golden-must-pass
like 'gate --partial: others count as in the baseline' '0 Gate passed: 75.0% of the tasks passed, 75.0% in the baseline
*
  4 tasks in both, 0 new, 0 removed; 2 not run, counted as in the baseline
*' "$rc $out"
run "$WAZA" gate --baseline a.json --current part.json --partial --format json
like 'gate --partial: in JSON' '*"removed_tasks":*\[\]*"kept_task_count": 2,*' "$out"
run "$WAZA" gate --baseline a.json --current part.json --partial --format markdown
like 'gate --partial: in Markdown' '*- 2 not run, counted as in the baseline*' "$out"
results part.json gpt-4o t1:failed:0 t3:failed:0.2
run "$WAZA" gate --baseline a.json --current part.json --partial
like 'gate --partial: a regression' '1 Gate failed: the pass rate fell by 25.0 percentage points, from 75.0% to 50.0% *' "$rc $out"
results part.json gpt-4o t9:passed:1
run "$WAZA" gate --baseline a.json --current part.json --partial
like 'gate --partial: only a new task, which passes' '0 Gate passed: 80.0% of the tasks passed, 75.0% in the baseline
*' "$rc $out"
results part.json gpt-4o t9:failed:0
run "$WAZA" gate --baseline a.json --current part.json --partial
like 'gate --partial: only a new task, which fails' '1 Gate failed: the pass rate fell by 15.0 percentage points, from 75.0% to 60.0% *' "$rc $out"
suite=other
results part.json gpt-4o t9:passed:1
unset suite
run "$WAZA" gate --baseline a.json --current part.json --partial
is 'gate --partial: another suite' '3 waza: a.json and part.json have no task in common' "$rc $err"
run "$WAZA" gate --baseline a.json --current part.json --partial --update-baseline
is 'gate --partial: no new baseline' '3 waza: --update-baseline needs results of all tasks: remove --partial' "$rc $err"
run "$WAZA" gate --baseline a.json --current b.json --max-regression-pct 25
like 'gate: a regression within the limit' '0 Gate passed: 50.0% of the tasks passed, 75.0% in the baseline; 1 task broke, which the rules allow
*' "$rc $out"
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
like 'gate: a regression that is not significant' '0 Gate passed:*
  the pass rate fell by 25.0 percentage points, from 75.0% to 50.0% (allowed: 0.0), but chance alone can explain this
*' "$rc $out"
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

sed 's/failed/passed/' most.json >every.json
run "$WAZA" gate --baseline every.json --current most.json
like 'gate: a drop below 0.1 percentage points is not rounded to 0' 'Gate failed: the pass rate fell by 0.03 percentage points, from 100.0% to 99.9% (allowed: 0.0)
*' "$out"
sed -e 's/passed/error/g' -e 's/failed/passed/' most.json >few.json
run "$WAZA" gate --baseline few.json --current few.json
like 'gate: 0.03 % is not rounded to 0 %' '*current     0.1% of 3000 tasks passed*' "$out"

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
run "$WAZA" gate --baseline a.json --current x,y:z.json -f github
is 'gate --format github: status 1' 1 $rc
is 'gate --format github: without a known suite the annotations have no place' '::error title=regression::the pass rate fell by 25.0 percentage points, from 75.0%25 to 50.0%25 (allowed: 0.0)
::warning title=removed_task::task "Task t4" [t4] was removed
::error title=broke::Task t2: pass -> fail' "$(printf '%s\n' "$out" | sed '$d')"
like 'gate --format github: a notice with the verdict' '::notice title=waza gate::gate failed: the pass rate fell by 25.0 percentage points, from 75.0%25 to 50.0%25 (allowed: 0.0); cannot tell: *' "$(printf '%s\n' "$out" | tail -n 1)"
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
mkdir x,y
cp worse.yaml x,y/eval.yaml
"$WAZA" run -q -o placed.json ./x,y/eval.yaml >/dev/null 2>&1
run "$WAZA" gate --baseline own.json --current placed.json --golden-must-pass -f github-actions
is 'gate --format github: annotations are at the tasks in the suite' '::error file=x%2Cy/eval.yaml,title=regression::the pass rate fell by 100.0 percentage points, from 100.0%25 to 0.0%25 (allowed: 0.0)
::error file=x%2Cy/eval.yaml,line=6,title=golden_failure::golden task "one" did not pass: failed
::error file=x%2Cy/eval.yaml,line=6,title=broke::one: pass -> fail
::error file=x%2Cy/eval.yaml,line=7,title=broke::two: pass -> fail' "$(printf '%s\n' "$out" | sed '$d')"
"$WAZA" grade -q --results placed.json -o again.json ./x,y/eval.yaml >/dev/null 2>&1
is 'grade keeps the places of tasks' 3 "$(grep -c '"source"' again.json)"
sed 's/trials_per_task: 2/trials_per_task: 2, skill_directories: [.]/' eval.yaml >skilled.yaml
run "$WAZA" run --baseline -o skilled.json skilled.yaml
like 'run --baseline reports the effect of the skill' '*
effect of the skill: same results: all 2 tasks scored the same; *; pass rate 100.0% without, 100.0% with it (+0.0 percentage points)
*' "$out"
run "$WAZA" compare skilled.json
like 'one file: the effect of the skill' '0 Effect of the skill: same results: all 2 tasks scored the same*
  1  without the skill *
  2  skilled.json *' "$rc $out"
run "$WAZA" compare own.json worse.json
like 'results written by waza can be compared' '*one   1.00  0.00   -1.00  pass -> fail*' "$out"

# one task
run "$WAZA" compare --task one own.json worse.json
is 'compare --task: what the agents did' 'one
1  own.json: passed, score 1.00, trial 1 of 2
2  worse.json: failed, score 0.00, trial 1 of 2

Verdicts
- passed t 1.00
+ failed t 0.00: missing "nothing like it" (the output is "Mock response for: Hi")

Answer: the same in both
  Mock response for: Hi' "$out"
run "$WAZA" compare --task 'Task t2' a.json b.json
like 'compare --task takes a name, too' '0 Task t2
*' "$rc $out"
run "$WAZA" compare --task tw own.json worse.json
is 'compare --task: an unknown id names the near ones' '2 waza: no task "tw" in the results (did you mean "two"? tasks: one, two)' "$rc $err"
run "$WAZA" compare --task t4 a.json b.json
like 'compare --task: a task of one file' '0 *
2  b.json  gpt-5: the task is missing
*Verdicts: only in 1
*' "$rc $out"
run "$WAZA" compare --task t1 a.json b.json c.json
is 'compare --task: of three files' '2 waza: --task compares two results, not 3' "$rc $err"
run "$WAZA" compare --task t1 -f json a.json b.json
is 'compare --task: as JSON' '2 waza: --task prints text: omit --format' "$rc $err"
run "$WAZA" compare --task one skilled.json
like 'compare --task: with and without the skill' '0 one
1  without the skill*
2  skilled.json*' "$rc $out"

# what changed in the calls of a task that broke
# called FILE STATUS CALLS [MORE]: one task with two equal trials
called() {
	trial="\"status\":\"$2\",\"duration_ms\":1,\"validations\":{},\"tool_events\":[$3]${4-}"
	rate=1
	[ "$2" = passed ] || rate=0
	printf '{"eval_name":"demo","config":{},"summary":{},"tasks":[{"test_id":"t","display_name":"T","status":"%s","runs":[{"run_number":1,%s},{"run_number":2,%s}],"stats":{"pass_rate":%d,"avg_score":%d}}]}' \
	    "$2" "$trial" "$trial" $rate $rate >"$1"
}
ran='{"tool_name":"bash","success":true}' saw='{"tool_name":"read","success":true}'
bad='{"tool_name":"bash","success":false}' no='{"tool_name":"bash","success":false,"denied":true}'
called one.json passed "$ran,$ran,$ran,$saw" ',"skills":["greet"]'
called two.json failed "$saw,$saw,$bad,$no" ',"skills":[]'
run "$WAZA" compare one.json two.json
like 'calls of a task that broke' '*pass -> fail
    per trial: calls of bash 3 → 2, calls of read 1 → 2, uses of the skill greet 1 → 0, failed calls 0 → 1, denied calls 0 → 1
*' "$out"
run "$WAZA" compare two.json one.json
ok 'calls of a task that was fixed are not' sh -c '! grep -q "per trial: calls" out'
run "$WAZA" compare -f json one.json two.json
like 'calls, as JSON' '*"call_changes": [[]*"what": "calls of",*"name": "bash",*"from": 3,*"to": 2*' "$out"
called same.json failed "$ran,$ran,$ran,$saw" ',"skills":["greet"]'
run "$WAZA" compare one.json same.json
ok 'equal calls are not printed' sh -c '! grep -q "per trial: " out'
called dark.json failed "" ',"unknown":["tool_calls"]'
run "$WAZA" compare one.json dark.json
ok 'unknown calls are not compared' sh -c '! grep -q "per trial: " out'

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
Same score and result (9999); use -v to list them*' "$out"
done_testing
