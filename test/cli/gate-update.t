#!/bin/sh
# waza gate --update-baseline: a baseline that one noisy run does not move
. "${0%/*}/../tool/lib.sh"

cd "$tmp" || exit 1
# results NAME TRIALS PASSED-TASKS TASKS [STATUS]: every trial of a task is alike
results() {
	awk -v n="$2" -v good="$3" -v all="$4" -v status="${5:-failed}" 'BEGIN {
		printf "{\"eval_name\":\"s\",\"config\":{\"model_id\":\"m\"},\"tasks\":["
		for (i = 1; i <= all; i++) {
			w = i <= good ? "passed" : "failed"
			printf "%s{\"test_id\":\"t%d\",\"status\":\"%s\",\"runs\":[", (i > 1 ? "," : ""), i, w
			for (k = 1; k <= n; k++)
				printf "%s{\"run_number\":%d,\"status\":\"%s\",\"validations\":{\"g\":{\"passed\":%s,\"score\":%d}}}",
				    (k > 1 ? "," : ""), k, w, (w == "passed" ? "true" : "false"), (w == "passed")
			printf "]}"
		}
		printf "],\"schema_version\":\"1.0\",\"status\":\"%s\"}\n", status
	}' >"$1"
}
gate() {
	run "$WAZA" gate --baseline base.json --current "$1" --update-baseline --min-trials 3 "${2:---no-color}"
}

results few.json 2 4 10
gate few.json
is 'too few trials' '3 waza: the baseline base.json is kept: task "t1" has 2 trials with a verdict, fewer than 3 (--min-trials): run it with --trials 3' "$rc $err"
ok 'nothing was written' test ! -e base.json
results few.json 3 4 10
sed 's/"run_number":2,"status":"passed"/"run_number":2,"status":"error"/' few.json >err.json
gate err.json
like 'trials that ended in errors' '3 *task "t1" has 2 trials with a verdict, *: repeat the others with waza run --retry-errors' "$rc $err"
sed 's/"status":"failed","runs":\[[^]]*\]/"status":"skipped","skip_reason":"decided: x","runs":[]/' few.json >skip.json
gate skip.json
like 'a task that a rule left out' '3 *task "t5" has 0 trials with a verdict, *: run it without --stop' "$rc $err"
results old.json 3 2 10
gate old.json
is 'the first baseline' '0 waza: the baseline base.json was created from old.json' "$rc $err"
ok 'is a copy' cmp -s old.json base.json

results luck.json 3 3 10
gate luck.json
like 'a chance improvement' '0 *The baseline base.json is kept: the difference is not significant' "$rc $out"
ok 'does not move it' cmp -s old.json base.json
results best.json 3 10 10
results partial.json 3 10 10 cancelled
gate partial.json
like 'a run that is not complete' '3 waza: partial.json: the run is not complete *' "$rc $err"
ok 'does not move it, either' cmp -s old.json base.json
gate best.json --format=json
like 'a significant improvement' '0 *"baseline_updated": true,*"baseline_update": "the baseline base.json was replaced: the results are significantly better"*' "$rc $out"
ok 'moves it' cmp -s best.json base.json

results worse.json 3 9 10
gate worse.json
like 'a regression' '1 *The baseline base.json is kept: the gate failed' "$rc $out"
run "$WAZA" gate --baseline base.json --current worse.json --update-baseline --min-trials 3 --max-regression-pct 20
like 'an allowed fall does not move it down' '0 *the pass rate fell, which the rules allow, but a baseline does not move down*' "$rc $(printf '%s' "$out" | tr -s ' \n' ' ')"
ok 'after all that' cmp -s best.json base.json
results more.json 3 12 12
gate more.json --format=markdown
like 'new tasks' '0 *- the baseline base.json was replaced\\: tasks were added or removed*' "$rc $out"
ok 'are taken over' cmp -s more.json base.json
gate more.json --format=github
like 'github: on stderr' '0 *waza: the baseline base.json is kept: the difference is not significant' "$rc $err"

echo 'not results' >base.json
gate more.json
is 'a file of somebody else' 3 "$rc"
is 'is not replaced' 'not results' "$(cat base.json)"
run "$WAZA" gate --baseline best.json --current best.json --min-trials 3
is 'an option alone' '3 waza: --min-trials is for --update-baseline: add it' "$rc $err"
run "$WAZA" gate --baseline old.json --current best.json --update-baseline
like 'five trials by default' '3 *fewer than 5 (--min-trials)*' "$rc $err"
done_testing
