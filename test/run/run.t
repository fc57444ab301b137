# waza run, as a person, an IDE and a CI job use it: the mock executor.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# field KEY [N]: print the first N values of a key in lines of JSON, as spelt
field() {
	sed -n "s/.*\"$1\":\(\"[^\"]*\"\|[^,}]*\).*/\1/p" | head -n "${2:-1}"
}

cat >eval.yaml <<'YAML'
name: demo
skill: greet
config: {executor: mock, trials_per_task: 2}
graders:
  - {type: text, name: echo, config: {contains: [Mock]}}
tasks:
  - id: one
    tags: [fast, easy]
    prompt: Say hello to Ada
    graders: [{type: text, config: {regex_match: ['(?i)HELLO']}}]
  - id: two
    name: Second task
    tags: [slow]
    prompt: Fail please
    graders: [{type: text, name: must, config: {contains: [Zebra, fail]}}]
YAML

run "$WAZA" run
is 'a failed task: status 1' 1 "$rc"
like 'the report names the failed task' '*Second task*' "$out"
like 'the report shows the expectation' '*Zebra*' "$out"
like 'the report shows the place of the grader' '*eval.yaml:15*' "$out"
like 'progress is on stderr, one line per task' '*one*' "$err"
is 'the report has no colours' '' "$(printf '%s%s' "$out" "$err" | tr -dc '\033')"
run "$WAZA" run -q --task one
is 'a passed task: status 0' 0 "$rc"
is '-q: nothing on stderr' '' "$err"
run "$WAZA" run -q --task 'Sec*'
is '--task accepts a display name' 1 "$rc"
run "$WAZA" run -q --tags 'ea*'
is '--tags' 0 "$rc"
run "$WAZA" run -q --task nobody
is 'no task selected: status 2' 2 "$rc"
like 'no task selected: message' '*no task*' "$err"
run "$WAZA" run -q --trials 3 --task one -o r.json
is '--trials' 3 "$(grep -o '"run_number"' r.json | grep -c .)"
ok 'the results are JSON' sh -c '"$WAZA" parse r.json >/dev/null'

# shards: together they run each task once
"$WAZA" run -q --shard 1/2 -o a.json >/dev/null
"$WAZA" run -q --shard 2/2 -o b.json >/dev/null
is 'shards run each task once' 'one two ' "$(for f in a b; do "$WAZA" parse $f.json |
    grep -o '"test_id":"[a-z]*"' | sed 's/.*:"//; s/"//'; done | tr '\n' ' ')"
run "$WAZA" run --shard 3/2
is 'an invalid shard: status 2' 2 "$rc"

# the stream: seeds/001, pattern 1
run "$WAZA" run eval.yaml -v --format json
is 'stream: status' 1 "$rc"
is 'stream: nothing else on stderr' '' "$err"
is 'stream: one complete object per line' "$(grep -c . out)" \
    "$(while IFS= read -r l; do printf '%s' "$l" | "$WAZA" parse --json; done <out | grep -c '^{.*}$')"
is 'stream: order of events' 'eval_start task_start trial_start trial_complete trial_start trial_complete task_complete task_start trial_start trial_complete trial_start trial_complete task_complete eval_complete ' \
    "$(field type 99 <out | tr -d '"' | tr '\n' ' ')"
is 'stream: eval' '"demo"' "$(head -n 1 out | field eval)"
is 'stream: tasks' 2 "$(head -n 1 out | field tasks)"
is 'stream: idx from 0' '0 1 ' "$(grep task_start out | field idx 9 | tr '\n' ' ')"
is 'stream: task and name' '"two" "Second task"' \
    "$(grep task_start out | tail -n 1 | field task) $(grep task_start out | tail -n 1 | field name)"
is 'stream: status' '"passed" "failed" ' "$(grep task_complete out | field status 9 | tr '\n' ' ')"
is 'stream: rate' 0.5 "$(tail -n 1 out | field rate)"
is 'stream: passed, failed, total' '1 1 2' \
    "$(tail -n 1 out | field passed) $(tail -n 1 out | field failed) $(tail -n 1 out | field total)"

# results: pattern 2
"$WAZA" run -q -o r.json >/dev/null
is 'results: succeeded' 1 "$("$WAZA" parse r.json | field succeeded)"
is 'results: rate' 0.5 "$("$WAZA" parse r.json | field success_rate)"
is 'results: neither a temporary file nor the journal is left' r.json "$(ls | grep '^r\.json')"

# thresholds
sed 's/trials_per_task: 2/trials_per_task: 2, pass_threshold: 0.5/' eval.yaml >half.yaml
run "$WAZA" run -q half.yaml
is 'pass_threshold reached: status 0' 0 "$rc"
sed 's/trials_per_task: 2/trials_per_task: 2, pass_threshold: 0.6/' eval.yaml >half.yaml
run "$WAZA" run -q half.yaml
is 'pass_threshold missed: status 1' 1 "$rc"

# a script for the mock: answers, tools, files, errors
cat >script.yaml <<'YAML'
name: script
skill: s
config: {executor: mock, max_attempts: 2}
tasks:
  - id: files
    prompt: write
    mock: {output: written, files: [{path: d/x.txt, content: hello}]}
    graders: [{type: file, config: {must_exist: [d/x.txt], content_patterns: [{path: d/x.txt, must_match: [^hello$]}]}}]
  - id: tools
    prompt: tools
    mock: {output: done, tool_calls: [{name: bash, arguments: {command: ls}}, {name: edit, success: false}]}
    expected: {behavior: {max_tool_calls: 2, required_tools: [bash], forbidden_tools: [rm]}}
  - id: error
    prompt: error
    mock: {error: it broke}
    expected: {output_contains: [x]}
  - id: again
    prompt: never right
    expected: {output_contains: [zzz]}
  - id: ungraded
    prompt: nobody looks
YAML
run "$WAZA" run -q -o s.json script.yaml
is 'script: status' 1 "$rc"
"$WAZA" parse s.json >s.line
is 'script: statuses' 'passed passed error failed error ' "$(grep -o '"display_name":"[a-z]*","status":"[a-z]*"' s.line |
    sed 's/.*:"//; s/"//' | tr '\n' ' ')"
like 'script: tool arguments are kept' '*"command":"ls"*' "$(cat s.line)"
like 'script: the error is reported' '*it broke*' "$out"
like 'max_attempts repeats a failed trial' '*"attempts":2*' "$(cat s.line)"
like 'a task without graders does not pass' '*nothing graded*' "$out"

# fail_fast, several models, baseline
run "$WAZA" run -q --fail-fast --task two --task one
is 'fail_fast continues while tasks pass' '1 1' "$(printf '%s' "$out" | grep -c '✓\|+ one\|ok .*one' ) $rc"
run "$WAZA" run -q --model m1 --model m/2 --task one -o m.json
is 'models: status' 0 "$rc"
is 'models: one results file each, and a summary' 'm_m-2.json m_m1.json m_summary.json ' "$(ls m_*.json | tr '\n' ' ')"
run "$WAZA" run -q --model m1 --model m1
is 'the same model twice: status 2' 2 "$rc"
run "$WAZA" run -q --baseline --task one -o base.json
like 'baseline without skills: a warning' '*warning: *no baseline*' "$("$WAZA" run --baseline --task one 2>&1)"
sed 's/trials_per_task: 2/trials_per_task: 2, skill_directories: [.]/' eval.yaml >skilled.yaml
run "$WAZA" run -q --baseline --task one -o base.json skilled.yaml
is 'baseline: status' 0 "$rc"
like 'baseline: the results contain it' '*"baseline_outcome":{*' "$("$WAZA" parse base.json)"

run "$WAZA" run -q --shard 3/3 -o empty.json
is 'more shards than tasks: status 0' 0 "$rc"
sed 's/name: demo/name: demo\nnmae: x/' eval.yaml >odd.yaml
run "$WAZA" run -q --strict --task one odd.yaml
is '--strict: status' 2 "$rc"
run "$WAZA" run -q --trials 1 --task one -o eval.yaml/x
is 'missing directory for the results: status 2' 2 "$rc"
mkdir dir
run "$WAZA" run -q --task one -o dir
is 'a directory for the results: status' 2 "$rc"
is 'a directory for the results: one message' 1 "$(grep -c . err)"
ok 'a directory for the results: no journal' [ ! -e dir.journal ]

# reporters, whatever the outcome
run "$WAZA" run -q --reporter junit:j.xml --reporter csv:c.csv --reporter html:h.html \
    --reporter markdown:m.md --reporter tap:t.tap --reporter json:copy.json
is 'reporters: status' 1 "$rc"
is 'reporters: files' 'c.csv copy.json h.html j.xml m.md t.tap ' \
    "$(ls c.csv copy.json h.html j.xml m.md t.tap | tr '\n' ' ')"
like 'junit: a failure' '*<failure*' "$(cat j.xml)"
run "$WAZA" run --reporter junitt:j.xml
is 'unknown reporter: status' 2 "$rc"
like 'unknown reporter: suggestion' '*junit*' "$err"
run "$WAZA" run --reporter junit:eval.yaml/j.xml
is 'reporter without a path: status 2' 2 "$rc"

# directories for results are made, for one letter as well
run "$WAZA" run -q --trials 1 --task one -o new/dir/r.json --reporter junit:d/j.xml
is 'results in a new directory: status' '0 ' "$rc $err"
like 'results in a new directory' '*"eval_name":"demo"*' "$("$WAZA" parse new/dir/r.json)"
like 'a report in a new directory' '*<testsuite *' "$(cat d/j.xml)"
run "$WAZA" grade -q --results new/dir/r.json --task one -o d/2/r.json
is 'grade: results in a new directory: status' '0 ' "$rc $err"
ok 'grade: results in a new directory' [ -s d/2/r.json ]

# context_dir: beside the task file, else beside the suite
mkdir -p ctx/tasks/data ctx/data ctx/common
echo task >ctx/tasks/data/in.txt
echo suite >ctx/data/in.txt
echo common >ctx/common/in.txt
cat >ctx/eval.yaml <<'YAML'
name: ctx
skill: s
config: {executor: command, command: [cat, in.txt]}
tasks:
  - tasks/*.yaml
  - id: inline
    prompt: p
    context_dir: data
    inputs: {files: [in.txt]}
    expected: {output_contains: [suite]}
YAML
for d in data common
do
	cat >ctx/tasks/$d.yaml <<YAML
id: $d
prompt: p
context_dir: $d
inputs: {files: [in.txt]}
expected: {output_contains: [$(echo $d | sed s/data/task/)]}
YAML
done
run "$WAZA" run -q ctx -o ctx.json
is 'context_dir: status' '0 ' "$rc $err"
(cd ctx && exec "$WAZA" run -q) >out 2>err
is 'context_dir, from within the directory: status' 0 $?

# a run that cannot start has no reports: an empty one looks like success
run "$WAZA" run -q --task none --reporter junit:none/j.xml --reporter html:none/h.html --reporter tap
like 'no run: status, message, no report' '2 waza: no task matches --task none (did you mean "one"? tasks: one, two)' "$rc $err$out"
ok 'no run: no report file' [ ! -e none ]
done_testing
