# Controls: made-up answers, and the tasks that accept them.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR

# the agent of the command executor leaves a mark for each call
cat >agent.sh <<'SH'
echo asked >>"$MARKS"
cat >/dev/null
echo "The capital is Paris, founded 250"
echo done >out.txt
SH
MARKS=$tmp/marks
export MARKS

# suite EXECUTOR [CONTROLS]
suite() {
	cat >e.yaml <<YAML
name: e
skill: s
config:
  executor: $1
  command: ['sh', '$tmp/agent.sh']
  mock: {output: 'The capital is Paris, founded 250', files: [{path: out.txt, content: done}]}
  ${2:-}
tasks:
  - {id: good, prompt: Name the capital, expected: {output_contains: [Paris]}}
  - id: limits
    prompt: Be brief
    expected: {output_not_contains: [sorry], behavior: {max_response_time_ms: 600000}}
  - id: words
    prompt: Tell me about the capital
    graders: [{type: text, name: has word, config: {contains: [capital]}}]
  - id: file
    prompt: Change the file
    inputs: {files: [{path: in.txt, content: old}]}
    graders: [{type: file, name: there, config: {must_exist: [in.txt]}}]
  - id: changed
    prompt: Write a file
    graders: [{type: file, name: new, config: {must_exist: [out.txt]}}]
  - id: program
    prompt: Anything
    graders: [{type: program, name: prog, config: {command: 'true'}}]
YAML
}
# control WORD...: runs with controls; $json: the results, $block: their block
control() {
	rm -f r.json
	: >"$MARKS"
	run "$WAZA" run -q -o r.json "$@" e.yaml
	json=$([ -f r.json ] && "$WAZA" parse r.json)
	block=${json#*'],"controls":'}
	block=${block%%,'"source"'*}
}

for ex in mock command
do
	suite $ex
	control --control null
	is "$ex: a vacuous task does not fail the run" 0 "$rc"
	is "$ex: the block" '[{"control":"null","tasks":6,"passed":3,"failed":3,"unknown":0,"passed_tasks":["limits","file","program"]}]' "$block"
	like "$ex: a good task rejects it" '*"test_id":"good"*"controls":[[]{"control":"null","verdict":"failed"}]*"test_id":"limits"*' "$json"
	like "$ex: graders and reasons in the results" '*"test_id":"limits"*"controls":[[]{"control":"null","verdict":"passed","graders":[[]"_behavior","_output_not_contains"],"note":"_behavior: doing nothing exceeds no limit; _output_not_contains: an empty answer contains nothing unwanted; if doing nothing is right here, also check what the agent answers*' "$json"
	like "$ex: the untouched fixtures" '*"note":"there: the untouched files satisfy it"*' "$json"
	like "$ex: the report" '*Controls*null: 3 of 6 tasks pass although the agent does nothing: vacuous*limits*_behavior*program*prog: its program accepts that nothing was done*' "$out"
	control --control null --strict
	is "$ex: --strict fails the run" 1 "$rc"
	like "$ex: ... with the reason" '*FAILED: tasks that accept a control: 3*' "$out"
	like "$ex: ... in the results" '*"status":"failed"}' "$json"
	control --control null --strict --task good --task changed
	is "$ex: --strict without such a task" 0 "$rc"
	like "$ex: ... in the report" '*null: no task of 2 passes*' "$out"
done
control --control null
is 'the agent is asked once a task, not by controls' 6 "$(wc -l <"$MARKS" | tr -d ' ')"

run "$WAZA" run -q --no-results --control null --reporter markdown:c.md e.yaml
like 'Markdown' '*### Controls*- null: 3 of 6 tasks pass although the agent does nothing: vacuous
  - limits: *_behavior*' "$(cat c.md)"
mkdir many
cp e.yaml many/eval.yaml
run "$WAZA" run -q --no-results --control null many e.yaml
like 'many suites' '*Controls of e*null: 3 of 6 tasks*Controls of e*null: 3 of 6 tasks*' "$out"
control --control echo
like 'echo: words of the prompt' '*"passed":4*"passed_tasks":[[]"limits","words","file","program"]*' "$block"
control --control null --control echo
like 'echo lists only tasks that are not vacuous' '*echo: 4 of 6 tasks pass if the answer only repeats the prompt
    words *
      graders: has word

*' "$out"
echo 'it is Paris' >answer.txt
control --control answer.txt
like 'a file is the answer' '*"control":"answer.txt"*"passed_tasks":[[]"good","limits","file","program"]*' "$block"
printf 'output: Paris\nfiles: [{path: out.txt, content: x}]\n' >answer.yaml
control --control answer.yaml
like 'a script is the answer' '*"passed_tasks":[[]"good","limits","file","changed","program"]*' "$block"

suite mock 'controls: [none, echo, answer.txt]'
control
like 'config.controls' '*"control":"null"*"control":"echo"*"control":"answer.txt"*' "$block"
control --control echo
case $block in
*'"null"'*) is 'the option replaces those of the suite' no yes ;;
*) is 'the option replaces those of the suite' yes yes ;;
esac
run "$WAZA" run -q --baseline --no-results e.yaml
is 'a suite without skills' 0 "$rc"
run "$WAZA" run -q --skip-graders -o s.json e.yaml
case $(cat s.json) in
*'"controls"'*) is 'nothing is tried without graders' no yes ;;
*) is 'nothing is tried without graders' yes yes ;;
esac
suite mock 'controls: [mutate]'
run "$WAZA" validate e.yaml
like 'mutate: validate warns' '0 *warning*control "mutate" alters recorded answers: the suite runs only with --replay DIR*' "$rc $out$err"
run "$WAZA" run -q --no-results e.yaml
like 'mutate: the run is refused' '2 *control "mutate" alters recorded answers: *' "$rc $err"
suite mock 'controls: [nix.txt]'
run "$WAZA" run -q --no-results e.yaml
is 'a missing file: status' 2 "$rc"
like 'a missing file: message' '*e.yaml:7:14: control "nix.txt": *nix.txt: No such file*none, echo, mutate*' "$err"
suite mock
run "$WAZA" run -q --no-results --control nix e.yaml
is 'a missing file of the option: status' 2 "$rc"
like 'a missing file of the option: message' '*--control nix: No such file*null, echo, mutate*' "$err"

echo 'ouput: text' >typo.yaml
run "$WAZA" run -q --no-results --control typo.yaml e.yaml
like 'a file without an answer' '2 *--control typo.yaml: is not an answer*output, files or tool_calls*' "$rc $err"

# what cannot be known is not called vacuous
cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: mock, mock: {output: hello}, judge: {executor: mock, mock: {output: '{"passed": true, "score": 1, "reason": "r"}'}}}
graders: [{type: text, name: no x, config: {not_contains: [xyz]}}]
tasks:
  - {id: judged, prompt: a, graders: [{type: prompt, name: nice, config: {prompt: is it nice}}]}
  - {id: both, prompt: a, graders: [{type: prompt, name: nice, config: {prompt: is it nice}}, {type: text, name: hello, config: {contains: [hello]}}]}
  - {id: broken, prompt: a, graders: [{type: code, name: code, config: {assertions: ['"a" in undefined_name.b()', 'len(output) >= 0']}}]}
YAML
control --control null -v
is 'unknown: the block' '[{"control":"null","tasks":3,"passed":0,"failed":2,"unknown":1,"passed_tasks":[]}]' "$block"
like 'unknown: the reason' '*unknown: grader "nice": not run: controls ask no judge*' "$out"

# calls that mocks expect
for ex in mock command
do
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: $ex, command: ['sh', '-c', 'gh pr list'], mock: {tool_calls: [{name: bash, arguments: {command: gh pr list}}]}}
command_mocks: [{name: gh, expect_calls: 1, responses: [{args: [pr, list], stdout: none}]}]
tasks:
  - {id: calls, prompt: a, expected: {output_not_contains: [sorry]}}
YAML
	control --control null
	like "$ex: nothing calls no mock" '*"tasks":1,"passed":0,"failed":1,"unknown":0*' "$block"
done

# shards: merged equals whole
suite mock 'controls: [none, echo]'
control
# the findings of all tasks, a line each
findings() {
	printf '%s' "$1" | sed 's/"controls":/\
&/g' | sed -n 's/^"controls":\(.*\),"source":.*/\1/p'
}
whole=$(findings "$json")
wblock=$block
rm -rf sh
mkdir sh
for k in 1 2 3
do "$WAZA" run -q -o sh/$k.json --shard $k/3 e.yaml >/dev/null 2>&1
done
run "$WAZA" merge -o m.json sh
json=$("$WAZA" parse m.json)
block=${json#*'],"controls":'}
block=${block%%,'"source"'*}
is 'merged: the block' "$wblock" "$block"
is 'merged: the tasks' "$whole" "$(findings "$json")"
is 'merged: their number' 7 "$(findings "$json" | grep -c .)"
like 'merged: the report' '*null: 3 of 6 tasks pass although the agent does nothing: vacuous*' "$out"

# grade replaces what controls had found
control
sed 's/must_exist: .in.txt./must_exist: [other.txt]/' e.yaml >f.yaml
run "$WAZA" grade -q --results r.json -o g.json f.yaml
like 'graded again: new findings' '*"passed_tasks":[[]"limits","program"]*' "$("$WAZA" parse g.json)"

# validate
suite mock
run "$WAZA" validate e.yaml
case $out in
*vacuous*) is 'validate alone tries nothing' no yes ;;
*) is 'validate alone tries nothing' yes yes ;;
esac
cat >hook.yaml <<'YAML'
name: h
skill: s
hooks: {before_run: [{command: 'echo hook >>"$MARKS"'}], before_task: [{command: 'echo hook >>"$MARKS"'}]}
tasks:
  - {id: p, prompt: a, graders: [{type: program, name: prog, config: {command: sh, args: [-c, 'echo prog >>"$MARKS"']}}]}
  - {id: q, prompt: a, graders: [{type: code, name: js, config: {language: javascript, assertions: ['true']}}]}
  - {id: v, prompt: a, expected: {output_not_contains: [x]}}
YAML
# an interpreter that leaves a mark, whether or not this machine has one
mkdir bin
printf '#!/bin/sh\necho node >>"$MARKS"\n' >bin/node
chmod +x bin/node
PATH=$tmp/bin:$PATH
: >"$MARKS"
run "$WAZA" validate --controls hook.yaml
is 'validate --controls: status' 0 "$rc"
like 'validate --controls: a warning at the task' '*hook.yaml:7:10: warning: task "v" is vacuous: it passes although the agent does nothing (_output_not_contains: *' "$out"
like 'validate --controls: what is not known' '*hook.yaml: controls: 1 of 3 tasks vacuous, 2 unknown
  p: unknown: grader "prog": not run: it starts a program
  q: unknown: grader "js": not run: *' "$out"
is 'validate --controls starts no program' '' "$(cat "$MARKS")"
run "$WAZA" validate --controls --strict hook.yaml
is 'validate --controls --strict: status' 1 "$rc"
run "$WAZA" validate --controls --run-programs hook.yaml
like 'validate --run-programs: programs are run' '*task "p" is vacuous*prog: its program accepts that nothing was done*' "$out"
like 'validate --run-programs: hooks are run' 'hook
hook
prog
*' "$(cat "$MARKS")"
run "$WAZA" validate --controls --format json hook.yaml
like 'validate --format json' '*"controls": {*"tasks": 3,*"vacuous": 1,*"unknown": 2*' "$out"
suite mock 'controls: [none, echo]'
run "$WAZA" validate --controls e.yaml
like 'validate: other controls of the suite' '*task "words" passes if the answer only repeats the prompt (graders: has word)*e.yaml: controls: 2 of 6 tasks vacuous, 1 unknown, 1 with another control
*' "$out"
run "$WAZA" validate --run-programs hook.yaml
is '--run-programs alone: status' 2 "$rc"
is 'no workspace is left' '' "$(ls tmp)"

# altered recordings
cat >m.yaml <<'YAML'
name: m
skill: s
config: {executor: mock}
tasks:
  - id: rich
    prompt: Write a file and count
    mock: {output: "The answer is 42, see out.txt", files: [{path: out.txt, content: hello}], tool_calls: [{name: write, arguments: {path: out.txt}}]}
    graders:
      - {type: text, name: number, config: {regex_match: ['answer is 42']}}
      - {type: file, name: file, config: {must_exist: [out.txt]}}
      - {type: tool_calls, name: calls, config: {required_tools: [write]}}
      - {type: code, name: code, config: {assertions: ["'out.txt' in output"]}}
      - {type: text, name: lazy, config: {not_contains: [sorry]}}
  - {id: loose, prompt: Say 7, mock: {output: 'it is 7'}, graders: [{type: text, name: blind, config: {not_contains: [sorry]}}]}
  - {id: red, prompt: p, mock: {output: no}, expected: {output_contains: [yes]}}
YAML
suite command
"$WAZA" run -q --no-results --record crec --task good --task changed e.yaml >/dev/null 2>&1
run "$WAZA" run -q --no-results --replay crec --control mutate --task good --task changed e.yaml
like 'mutate: recordings of a command' '*mutate: no task of 2 accepts every altered answer
*' "$out"
"$WAZA" run -q --no-results --record rec m.yaml >/dev/null 2>&1
rm -f r.json
run "$WAZA" run -q -o r.json --replay rec --control mutate m.yaml
json=$("$WAZA" parse r.json)
block=${json#*'],"controls":'}
block=${block%%,'"source"'*}
is 'mutate: the block' '[{"control":"mutate","tasks":3,"passed":1,"failed":1,"unknown":1,"passed_tasks":["loose"]}]' "$block"
like 'mutate: each part is noticed, by another grader' '*"test_id":"rich"*"controls":[[]{"control":"mutate","verdict":"failed","altered":7,"accepted":0,"graders":[[]"lazy"]}]*' "$json"
like 'mutate: what was accepted' '*"controls":[[]{"control":"mutate","verdict":"passed","altered":4,"accepted":4,"graders":[[]"blind"],"note":"accepted with: second half of the text removed, numbers changed, text removed, everything removed"}]*' "$json"
like 'mutate: a failed recording shows nothing' '*"verdict":"unknown","altered":0,"accepted":0,"note":"the recorded answer does not pass"}*' "$json"
like 'mutate: the report' '*mutate: 1 of 3 tasks accept every altered answer; 1 unknown*rich*0 of 7 altered answers pass; never notice: lazy*loose*4 of 4 altered answers pass; never notice: blind*' "$out"
run "$WAZA" run -q --no-results --control mutate m.yaml
is 'mutate without recordings: status' 2 "$rc"
like 'mutate without recordings: message' '*control "mutate" alters recorded answers: record them with --record DIR, then use --replay DIR*' "$err"

# examples of good and bad answers
cat >t.yaml <<'YAML'
name: t
skill: s
config: {executor: command, command: ['sh', '-c', 'echo asked >>"$MARKS"'], judge: {executor: mock, mock: {output: '{"passed": false, "score": 0, "reason": "rude"}'}}}
hooks: {before_task: [{command: 'echo hook >>"$MARKS"'}]}
tasks:
  - id: a
    prompt: Name the capital
    inputs: {files: [{path: in.txt, content: old}]}
    graders:
      - {type: text, name: city, config: {contains: [Paris]}}
      - {type: file, name: files, config: {must_exist: [in.txt, out.txt]}}
    tests:
      - {output: It is Paris, files: [{path: out.txt, content: x}], expect: pass, why: the plain answer}
      - {output: It is Rome, files: [{path: out.txt, content: x}], expect: fail}
      - {output: It is Paris, expect: fail, why: without the file}
  - id: b
    prompt: Use the tool
    graders: [{type: tool_calls, name: calls, config: {required_tools: [grep]}}, {type: program, name: prog, config: {command: 'true'}}]
    tests:
      - {tool_calls: [{name: grep}], expect: pass}
      - {output: none, expect: fail}
YAML
: >"$MARKS"
run "$WAZA" grade --self-test t.yaml
is 'self-test: status' 0 "$rc"
is 'self-test: all as expected' '5 tests of graders: 5 as expected' "$out"
is 'self-test: neither agent nor hook' '' "$(cat "$MARKS")"
sed 's/It is Rome/It is not Paris/; s/contains: .Paris./contains: [Paris]/; s/name: grep}. *, expect: pass/name: cat}], expect: pass, why: another tool/; s/{name: grep}\], expect: pass/{name: cat}], expect: pass, why: another tool/' t.yaml >u.yaml
run "$WAZA" grade --self-test u.yaml
is 'self-test: a contradiction fails' 1 "$rc"
like 'self-test: a bad answer that passes' '*u.yaml:14:9: test 2 of task "a" must fail, but the graders pass it: city: *' "$out"
like 'self-test: a good answer that fails' '*u.yaml:20:9: test 1 of task "b" must pass, but the graders fail it (another tool): calls: required tool "grep" was not called*' "$out"
like 'self-test: the sum' '*5 tests of graders: 3 as expected, 2 not' "$out"
run "$WAZA" grade --self-test --task b --format json u.yaml
like 'self-test: JSON' '*"tests": 2,*"as_expected": 1,*"unexpected": 1,*"unknown": 0,*"task": "b",*"expect": "pass",*"found": "fail",*"ok": false,*' "$out"
cat >j.yaml <<'YAML'
name: j
skill: s
config: {executor: mock}
tasks:
  - {id: a, prompt: p, graders: [{type: prompt, name: nice, config: {prompt: is it nice}}], tests: [{output: x, expect: fail}]}
YAML
run "$WAZA" grade --self-test j.yaml
is 'self-test: what is not decided fails' 1 "$rc"
like 'self-test: undecided, with the reason' '*test 1 of task "a" is undecided: grader "nice": *1 undecided' "$out"
run "$WAZA" grade --self-test m.yaml
is 'self-test without tests: status' 2 "$rc"
like 'self-test without tests: message' '*no selected task has "tests"*' "$err"
for bad in 'expect: maybe' 'why: nothing' 'expect: pass, files: [{content: x}]'
do
	sed "s/{output: x, expect: fail}/{$bad}/" j.yaml >k.yaml
	run "$WAZA" validate k.yaml
	is "a test with $bad is an error" 2 "$rc"
done

# check
mkdir -p skills/walk/evals
cp hook.yaml skills/walk/evals/eval.yaml
cat >skills/walk/SKILL.md <<'MD'
---
name: walk
description: "**UTILITY SKILL** Walks along a road and reports what it has seen on the way. USE FOR: walk to town, take a walk, report a walk. DO NOT USE FOR: running, driving a car."
license: ISC
metadata: {version: "1.0"}
---
# Walk

1. Walk.

Example: `walk town`. On errors, stop.
MD
: >"$MARKS"
run "$WAZA" check --format json skills/walk
like 'check: a warning' '*"rule": "eval-vacuous"*"severity": "warning"*"message": "task ??v?? is vacuous: it passes although the agent does nothing*' "$(printf %s "$out" | tr -d '\n')"
like 'check: what is not known' '*"rule": "eval-vacuous"*"severity": "note"*"message": "not known of 2 of 3 tasks: graders that ask a judge or start a program are not run*' "$(printf %s "$out" | tr -d '\n')"
is 'check starts no program' '' "$(cat "$MARKS")"
run "$WAZA" check skills/walk
is 'check: a vacuous task leaves the skill ready' 0 "$rc"
like 'check: the report' '*task "v" is vacuous*' "$out"
run "$WAZA" check --strict skills/walk
is 'check --strict: status' 1 "$rc"
sed 's/output_not_contains/output_contains/' hook.yaml >skills/walk/evals/eval.yaml
run "$WAZA" check --strict skills/walk
is 'check --strict without a vacuous task' 0 "$rc"

# strangers' suites: none of their programs is run
if [ -d "$CORPUS/waza-wild" ]
then
	run "$WAZA" validate --controls "$CORPUS/waza-wild"
	n=$(printf '%s\n' "$out" | grep -c 'is vacuous: it passes although')
	s=$(printf '%s\n' "$out" | grep 'controls: [0-9]* of [0-9]* task' |
	    awk '{ t += $5; u += $8 } END { print t, u }')
	echo "# $n vacuous of ${s% *} tasks in waza-wild, ${s#* } unknown"
	ok 'vacuous tasks in waza-wild' [ "$n" -ge 50 ]
fi
done_testing
