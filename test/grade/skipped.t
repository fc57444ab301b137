# Graders without evidence are skipped: trials, tasks, totals, reports, resume,
# grade, compare and gate.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

cat >mix.yaml <<'YAML'
name: mix
skill: s
config: {executor: command, command: [cat]}
tasks:
  - {id: none, prompt: hello, graders: [{type: skill_invocation, name: k, config: {mode: any_order, required_skills: [s]}}]}
  - {id: some, prompt: hello, graders: [{type: text, name: t, config: {contains: [hello]}}, {type: skill_invocation, name: k, config: {forbidden_skills: [s]}}]}
YAML
why='grader "k": command does not report the skills that it used'
run "$WAZA" run mix.yaml -o r.json --reporter junit:j.xml --reporter tap:t.tap \
    --reporter csv:c.csv --reporter markdown:m.md --reporter html:h.html
is 'a skipped task does not fail the run' 0 "$rc"
like 'console: counted apart' '*2 tasks: 1 passed, 0 failed, 1 skipped*pass rate 100.0%*PASSED*' "$out"
like 'console: the reason' "*Skipped*none*$why*" "$out"
"$WAZA" parse r.json >r
like 'results: the trial and the task are skipped' '*"test_id":"none",*"status":"skipped","runs":?{*"status":"skipped"*' "$(cat r)"
like 'results: a skipped verdict has no weight' '*"k":{*"weight":0,"passed":false,*"skipped":true}*' "$(cat r)"
like 'results: it does not lower the score of others' '*"test_id":"some",*"status":"passed",*"score":1,"weighted_score":1*' "$(cat r)"
like 'results: the summary' '*"succeeded":1,"failed":0,"errors":0,"skipped":1,"success_rate":1,*"status":"passed"*' "$(cat r)"
like 'JUnit' '*tests="2" failures="0" errors="0" skipped="1"*<skipped message="grader &quot;k&quot;: command does not report*' "$(cat j.xml)"
like 'TAP' "*ok 1 - none # SKIP $why*ok 2 - some*" "$(cat t.tap)"
like 'CSV' '*1,1,skipped,,0,0,*' "$(cat c.csv)"
like 'Markdown' '*1 passed, 0 failed, 0 errors, 1 skipped*| none | 0.00 | * skipped |*' "$(cat m.md)"
like 'HTML' '*"test_id":"none",*"status":"skipped"*' "$(cat h.html)"
run "$WAZA" run -q --stream-json mix.yaml
like 'events' '*"type":"task_complete"*"task":"none"*"status":"skipped"*"skipped":1*' "$out"

# resume
sed "s|\[cat\]|[sh, -c, 'echo x >>$tmp/asked; cat']|" mix.yaml >again.yaml
"$WAZA" run -q again.yaml -o a.json >/dev/null
run "$WAZA" run -q again.yaml -o a.json --resume --retry-errors
is 'a resumed run does not repeat a skipped trial' '0 2' "$rc $(($(wc -l <asked)))"

# read back
run "$WAZA" grade mix.yaml --results r.json -o g.json
like 'grade: graded again, skipped again' '0 *1 passed, 0 failed, 1 skipped*' "$rc $out"
sed 's/"status":"skipped"/"status":"passed"/g; s/"skipped":1/"skipped":0/' r >was.json
run "$WAZA" compare was.json r.json
like 'compare: a skipped task is not a regression' '0 *1 task was skipped in 2*none*n/a*skipped in 2*' "$rc $out$err"
run "$WAZA" gate --baseline was.json --current r.json
like 'gate: a skipped task is not a regression' '0 *1 task in both, 0 new, 1 removed*' "$rc $out"
run "$WAZA" gate --baseline was.json --current r.json --on-removed-tasks fail
like 'gate: but its result is missing' '1 *task "none" was skipped*' "$rc $out"

# a baseline has no skills
cat >base.yaml <<'YAML'
name: base
skill: s
config: {executor: command, command: [sh, -c, 'cat >/dev/null; echo "{\"output\":\"hello\",\"skills\":[\"s\"]}"'], output_format: json}
tasks:
  - {id: some, prompt: hello, graders: [{type: text, name: t, config: {contains: [hello]}}, {type: skill_invocation, name: k, config: {mode: any_order, required_skills: [x]}}]}
YAML
sed 's/,\\"skills\\":\[\\"s\\"\]//' base.yaml >none.yaml
run "$WAZA" run base.yaml -o b.json
like 'reported skills are graded' '1 *1 failed*' "$rc $out"
mkdir -p s
printf -- '---\nname: s\ndescription: greets\n---\nSay hello.\n' >s/SKILL.md
sed 's/config: {/config: {skill_directories: [s], /' none.yaml >n2.yaml
"$WAZA" run -q --baseline n2.yaml -o b.json >/dev/null 2>&1
like 'the baseline skips graders of skills' '*"baseline_outcome":*"feedback":"the baseline has no skills"*"skipped":true*' "$("$WAZA" parse b.json)"

# all of it
sed '/id: some/d' mix.yaml >all.yaml
run "$WAZA" run all.yaml
like 'a run that graded nothing is not a success' '1 *0 passed, 0 failed, 1 skipped*FAILED: nothing was graded: all tasks were skipped*' "$rc $out"

# fail_fast, attempts
cat >should.yaml <<'YAML'
name: should
skill: s
config: {executor: command, command: [cat], fail_fast: true, max_attempts: 3}
tasks:
  - {id: a, prompt: x, expected: {should_trigger: true}}
  - {id: b, prompt: hello, expected: {should_trigger: true, output_contains: [hello]}}
YAML
run "$WAZA" run should.yaml -o r.json
like 'expected.should_trigger is skipped; fail_fast continues' '0 *2 tasks: 1 passed, 0 failed, 1 skipped*' "$rc $out"
"$WAZA" parse r.json >r
like 'a skipped trial has one attempt' '*"test_id":"a",*"attempts":1,"status":"skipped"*"_skill":{*"skipped":true}*' "$(cat r)"
cat >mock.yaml <<'YAML'
name: mock
skill: s
config: {executor: mock}
graders: [{type: skill_invocation, name: k, config: {mode: any_order, required_skills: [s]}}]
tasks:
  - {id: a, prompt: p, mock: {output: x}}
  - {id: b, prompt: p}
YAML
run "$WAZA" run mock.yaml
like 'mock: it uses no skills but those that its script names' '1 *0 passed, 2 failed*' "$rc $out"
done_testing
