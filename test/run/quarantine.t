#!/bin/sh
# quarantine.yaml: tasks that run and are reported, but do not count
. "${0%/*}/../tool/lib.sh"

cd "$tmp" || exit 1
mkdir s
cat >s/eval.yaml <<'E'
name: s
skill: x
config: {executor: mock}
graders:
  - {type: text, name: g, config: {regex_match: ['good']}}
tasks:
  - {id: a, inputs: {prompt: good}}
  - {id: b, inputs: {prompt: bad}}
  - {id: c, inputs: {prompt: good}}
E
run "$WAZA" run s -q -o before.json
is 'without it the task counts' 1 "$rc"
echo "- {task: b, why: 'flaky service, #12', until: 2999-12-31}" >s/quarantine.yaml
run "$WAZA" run s -o q.json --reporter junit:q.xml --reporter tap:q.tap --reporter github:q.gh \
    --reporter markdown:q.md
is 'a failure in quarantine does not fail the run' 0 "$rc"
like 'it is reported' '* b *0.00*in quarantine until 2999-12-31*' "$out"
like 'and counted apart' '*3 tasks: 2 passed, 0 failed, 1 in quarantine*pass rate 100.0%*' "$out"
is 'results: the reason' '"quarantine": "flaky service, #12",' "$(sed -n 's/^ *\("quarantine": .*\)/\1/p' q.json)"
ok 'results: the last day' grep -q '"quarantine_until": "2999-12-31"' q.json
ok 'results: the summary' grep -q '"quarantined": 1' q.json
is 'results: the numbers are of the others' '"total_tests": 2, "succeeded": 2, "failed": 0, "success_rate": 1,' \
    "$(grep -E '"(total_tests|succeeded|failed|success_rate)": ' q.json | tr -s ' \n' ' ' | sed 's/^ //; s/ $//')"
ok 'results: its status is its own' grep -q '"status": "failed"' q.json
ok 'junit: skipped, with the reason' grep -q '<skipped message="failed in quarantine: flaky service, #12"/>' q.xml
ok 'tap: TODO' grep -q '^not ok 2 - .*# TODO in quarantine: flaky service, #12' q.tap
ok 'github: a warning' grep -q '^::warning ' q.gh
ok 'github: no error' test "$(grep -c '^::error ' q.gh)" = 0
ok 'markdown' grep -q 'In quarantine, not counted: 1' q.md
ok 'markdown: the row of the task' grep -q '^| [^|]*b | 0.00 | .* failed (in quarantine) |' q.md
ok 'markdown: the reason' grep -q '^In quarantine: flaky service' q.md
"$WAZA" schema results >schema.json
ok 'results follow the schema' "$WAZA" schema-check schema.json q.json

mkdir g
sed 's/{executor: mock}/{executor: mock, group_by: tags}/; s/{id: [abc],/&  tags: [all],/' s/eval.yaml >g/eval.yaml
cp s/quarantine.yaml g
run "$WAZA" run g -o grouped.json
like 'nor in groups' '*Groups
  group  passed  score
  all       2/2   1.00
*' "$out"
ok 'nor in those of results' grep -q '"total": 2,' grouped.json

run "$WAZA" run s -q --fail-fast --no-results
is 'it does not stop a run' 0 "$rc"
run "$WAZA" run s -q --max-failures 1 --no-results
is 'nor count as a failure' 0 "$rc"
run "$WAZA" grade s --results q.json -o g.json -q
is 'grade: does not count' '0 1' "$rc $(grep -c '"quarantined": 1' g.json)"
run "$WAZA" compare before.json q.json
like 'compare: not a change' '*all 2 tasks scored the same*' "$out"
sed 's/good}}/bad}}/' s/eval.yaml >t && mv t s/eval.yaml
printf '%s\n' '- {task: a, why: broken, until: 2999-12-31}' '- {task: c, why: broken, until: 2999-12-31}' >s/quarantine.yaml
run "$WAZA" run s -q -o now.json
is 'the others decide' 1 "$rc"
run "$WAZA" gate --baseline before.json --current now.json --on-removed-tasks fail
like 'gate: they count in neither file' '0 Gate passed: 0.0% of the tasks passed, 0.0% in the baseline*2 in quarantine, not counted*' "$rc $out"

# shards
printf '%s\n' '- {task: b, why: broken, until: 2999-12-31}' >s/quarantine.yaml
sed 's/prompt: bad}}/prompt: good}}/' s/eval.yaml >t && mv t s/eval.yaml
for k in 1 2
do "$WAZA" run s -q --shard $k/2 -o "part$k.json" >/dev/null 2>&1
done
run "$WAZA" merge -o whole.json part1.json part2.json
"$WAZA" run s -q -o alone.json >/dev/null 2>&1
is 'merged equals whole' "$(grep -c quarantine alone.json) $(grep '"quarantine' alone.json) $(sed -n '/"summary"/,/}/p' alone.json | grep -v duration)" \
    "$(grep -c quarantine whole.json) $(grep '"quarantine' whole.json) $(sed -n '/"summary"/,/}/p' whole.json | grep -v duration)"

run "$WAZA" run s -q --task b --no-results
like 'all tasks: nothing was graded' '1 *pass rate 0.0%, score*FAILED: *nothing was graded: all tasks are in quarantine*' "$rc $out"

# mistakes
one() {
	printf '%s\n' "$2" >s/quarantine.yaml
	run "$WAZA" validate s
	like "$1" "$3" "$rc $out$err"
}
one 'a day that has passed' "- {task: b, why: w, until: 2020-02-29}" \
    '2 *s/quarantine.yaml:1:*: *the quarantine of task "b" ended on 2020-02-29: repair the task and remove the entry, or set a later date*'
run "$WAZA" run s --no-results
like 'it stops a run' '2 *the quarantine of task "b" ended on 2020-02-29*' "$rc $err"
one 'not a day' '- {task: b, why: w, until: 2999-02-29}' '2 *"2999-02-29" is not a date: write YYYY-MM-DD*'
one 'no day' '- {task: b, why: w}' '2 *quarantine.yaml:1:3: Missing required field: until*'
one 'no reason' '- {task: b, until: 2999-01-01}' '2 *quarantine.yaml:1:3: Missing required field: why*'
one 'twice' '[{task: b, why: w, until: 2999-01-01}, {task: b, why: w, until: 2999-01-01}]' '2 *task "b" is listed twice*'
one 'no such task' '- {task: z, why: w, until: 2999-01-01}' '0 *the suite has no task "z"*'
one 'not a list' 'task: b' '2 *quarantine.yaml*'
printf -- '- {task: b, why: w, until: %s}\n' "$(date -u +%Y-%m-%d)" >s/quarantine.yaml
run "$WAZA" validate s
is 'today is the last day' 0 "$rc"
done_testing
