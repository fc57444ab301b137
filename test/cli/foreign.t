#!/bin/sh
# Other people's evals: evals.json and lists of queries run as they are;
# waza import; tables as JSON; patterns with **.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

#
# evals.json
#
mkdir -p skill/evals/files && cd skill || exit 1
printf -- '---\nname: pdf\ndescription: Reads PDF.\n---\n# T\n' >SKILL.md
echo 'a form' >evals/files/form.txt
cat >evals/evals.json <<'X'
{
  "skill_name": "pdf",
  "notes": "other keys are ignored",
  "evals": [
    {"id": 1, "prompt": "Fill {{.form}}", "expected_output": "A filled form",
     "files": ["evals/files/form.txt"],
     "expectations": ["The form is filled", "Nothing else changes"]},
    {"id": "two", "name": "Second", "prompt": "Read it",
     "assertions": [{"id": "a", "text": "Names the title", "type": "semantic"}]},
    {"id": 3, "eval_name": "third", "prompt": "Only described", "expected_output": "Works"}
  ]
}
X
run "$WAZA" run evals/evals.json
is 'without a judge: exit 2' 2 "$rc"
like 'with the line to add' \
    '*evals/evals.json:5:5: *need a judge*judge: {executor: NAME}*' "$err"
is 'once' 1 "$(printf '%s\n' "$err" | grep -c judge)"
is 'and nothing was run' '' "$(find . -name '*.journal')"
run "$WAZA" list
like 'list finds it in the workspace' '*evals/evals.json: pdf*Second*' "$out"
run "$WAZA" validate
like 'so does validate' '2 *evals/evals.json:5:5: *need a judge*' "$rc $out$err"
cat >judge.sh <<'X'
#!/bin/sh
{ cat; ls; } >>"${LOG:?}"
case $(tail -n 200 "$LOG") in
*'Names the title'*) echo '{"passed": false, "reason": "no title"}' ;;
*) echo '{"passed": true, "reason": "fine"}' ;;
esac
X
chmod +x judge.sh
printf 'judge: {executor: command, command: [%s]}\n' "$PWD/judge.sh" >.waza.yaml
LOG=$tmp/log
export LOG
run "$WAZA" validate --trust
is 'validate sees the judge of .waza.yaml' '0 evals/evals.json: ok (3 tasks)' "$rc $out$err"
run "$WAZA" run --trust -q evals/evals.json --task 1 --task 3
is 'with a judge that agrees: exit 0' 0 "$rc"
ok 'the judge gets the expectations' grep -q '2. Nothing else changes' "$LOG"
ok 'and the description' grep -q 'A filled form' "$LOG"
ok 'the prompt is not a template' grep -q 'Fill {{.form}}' "$LOG"
ok 'the files are in the workspace' grep -q '^evals$' "$LOG"
run "$WAZA" run --trust -q evals/evals.json --task two
is 'with a judge that disagrees: exit 1' 1 "$rc"
sed 's/"expected_output": "Works"/"scorers": [1]/' evals/evals.json >evals/b.json
run "$WAZA" run --trust evals/b.json --task 3
is 'an entry without a check that is known does not pass' 1 "$rc"
like 'with a warning' '*"scorers" is not supported here*' "$err"
echo '{"evals": [{"id": 1}, 2]}' >evals/c.json
run "$WAZA" validate evals/c.json
like 'an entry without a prompt has its place' '*c.json:1:12: *no "prompt"*' "$out"
like 'an entry that is not an object, too' '*c.json:1:23: expected an object*' "$out"

# a list of queries
cat >evals/trigger_eval.json <<'X'
[
  {"query": "read this pdf", "should_trigger": true},
  {"prompt": "capital of France", "should_trigger": false, "id": "paris"}
]
X
cat >agent.sh <<'X'
#!/bin/sh
case $(cat) in
*pdf*) echo '{"output": "x", "skills": ["pdf"]}' ;;
*) echo '{"output": "x", "skills": []}' ;;
esac
X
chmod +x agent.sh
printf 'executors: {command: {command: [%s], output_format: json}}\n' \
    "$PWD/agent.sh" >.waza.yaml
run "$WAZA" validate evals/trigger_eval.json
like 'a list of queries is a suite' '*trigger_eval.json: ok (2 tasks)' "$out"
run "$WAZA" run -q evals/trigger_eval.json
is 'mock shows nothing: exit 1' 1 "$rc"
like 'and says so' '*all tasks were skipped*' "$out"
echo '[{"query": "x", "should_trigger": 1}]' >evals/q.json
run "$WAZA" validate evals/q.json
like 'a query with a wrong type has its place' \
    '*q.json:1:2: *must be true or false*' "$out"
cd "$tmp" || exit 1

#
# Tables, and patterns that walk directories
#
mkdir -p deep/tasks/a/b deep/tasks/.hidden && cd deep || exit 1
for f in tasks/z tasks/a/y tasks/a/b/x tasks/.hidden/w
do printf 'id: %s\nprompt: hello\nexpected: {output_contains: [hello]}\n' \
    "${f##*/}" >$f.yaml
done
printf 'name: d\nskill: s\ntasks: ["tasks/**/*.yaml"]\n' >eval.yaml
ids() {
	"$WAZA" list --format json "$1" |
	    "$WAZA" parse --json --pretty - | sed -n 's/^ *"id": "\(.*\)",*/\1/p' |
	    tr '\n' ' '
}
is '** walks all directories but hidden ones' 'x y z ' "$(ids eval.yaml)"
printf 'name: d\nskill: s\ntasks: ["tasks/**"]\n' >all.yaml
echo 'no task' >tasks/a/README
is '** at the end matches all files' 'x y z ' "$(ids all.yaml)"
printf 'name: d\nskill: s\ntasks: ["tasks/a/**/x.yaml", "**/b/**/*.yaml"]\n' >two.yaml
run "$WAZA" validate two.yaml
like 'a file that two patterns match is one task' '*ok (1 task)*' "$out"
printf '{"id": "one", "prompt": "say {{.Vars.word}}", "word": "hi", "n": 1}\n\n{"name": "b", "prompt": "x {{.Vars.n}}", "n": 2}\n' >t.jsonl
printf 'name: d\nskill: s\ngraders: [{type: text, config: {contains: [hi, "x 2"], regex_match: []}}]\ntasks_from: t.jsonl\n' >j.yaml
is 'a table of JSON lines' 'one b ' "$(ids j.yaml)"
printf 'name: d\nskill: s\ngraders: [{type: text, config: {regex_match: ["say hi|x 2"]}}]\ntasks_from: t.jsonl\n' >j.yaml
run "$WAZA" run -q j.yaml
is 'with its variables' 0 "$rc"
echo '[{"id": "k", "prompt": "x"}]' >t.json
printf 'name: d\nskill: s\ntasks_from: t.json\n' >k.yaml
is 'a table of a JSON list' 'k ' "$(ids k.yaml)"
printf '{"id": 1}\n{"id": }\n' >t.jsonl
run "$WAZA" validate j.yaml
like 'a wrong line has its place' '*t.jsonl:2:8: *' "$out"
echo '[1]' >t.json
run "$WAZA" validate k.yaml
like 'a row that is not an object has its place' '*t.json:1:2: a row must*' "$out"
cd "$tmp" || exit 1

#
# import
#
mkdir import && cd import || exit 1
cat >p.yaml <<'X'
description: Greetings
prompts:
  - 'Say {{ greeting }} to {{name}} {{{x}}}'
  - file://prompt.txt
providers: [openai:gpt-4]
defaultTest:
  assert:
    - {type: icontains, value: HELLO}
tests:
  - description: polite
    vars: {greeting: hello, name: 'Ada (x)', '{x': braces}
    assert:
      - {type: contains, value: '{{name}}', weight: 2}
      - {type: not-contains, value: goodbye}
      - {type: contains-any, value: [Ada, Bob]}
      - {type: regex, value: 'hel+o'}
      - {type: regex, value: '(?<=a)b'}
      - {type: javascript, value: 'output.length > 3'}
      - {type: starts-with, value: 'Mock response'}
  - vars: {greeting: [a, b], name: x}
  - file://more.yaml
X
run "$WAZA" import promptfoo p.yaml -o out
is 'import promptfoo: exit 0' 0 "$rc"
like 'a provider is left out, with its place' \
    '*p.yaml:5:12: left out: "providers"*' "$out"
like 'a pattern that is not supported' '*p.yaml:17:9: left out: a pattern*' "$out"
like 'code' '*left out: assertion "javascript"*' "$out"
like 'a prompt in a file' '*left out: test 1: its prompt is in a file*' "$out"
like 'tests in a file' '*left out: tests in another file*' "$out"
cat >q.yaml <<'X'
prompts: ['Say {{ greeting }} to {{name}}']
tests:
  - description: polite
    vars: {greeting: hello, name: 'Ada {{.x}}'}
    assert:
      - {type: contains, value: '{{name}}', weight: 2}
      - {type: not-contains, value: goodbye}
      - {type: icontains-any, value: [ADA, Bob]}
      - {type: regex, value: 'hel+o'}
      - {type: starts-with, value: 'Mock response'}
      - {type: equals, value: 'Mock response for: Say hello to Ada {{ "{{" }}'}
  - {vars: {greeting: a, name: b}, assert: [{type: python, value: x}]}
X
run "$WAZA" import promptfoo q.yaml
is 'the directory has the name of the file' \
    'q/eval.yaml: 1 task imported, 1 disabled, 3 things left out' \
    "$(printf '%s\n' "$out" | sed -n '$p')"
run "$WAZA" run -q --strict q
is 'the suite is valid and means the same' 0 "$rc"
run "$WAZA" import promptfoo q.yaml
is 'an existing suite is kept: exit 2' 2 "$rc"
run "$WAZA" import promptfoo ../deep/eval.yaml
is 'another file is an error' 2 "$rc"
cat >j.yaml <<'X'
prompts: ['{{ x }}']
tests:
  - vars: {x: '```json {"a": 1} ```'}
    assert:
      - {type: contains-json, value: {type: object, required: [a]}, weight: 2}
  - vars: {x: not JSON}
    assert:
      - {type: is-json}
      - {type: is-json, value: 'file://s.json'}
      - {type: not-is-json}
  - vars: {x: y}
    assert:
      - {type: llm-rubric, value: 'is about {{ x }}', threshold: 0.5}
      - {type: g-eval, value: [one, two]}
X
run "$WAZA" import promptfoo j.yaml
is 'schemas and rubrics: what was left out' 'j.yaml:9:9: left out: a schema that is not an object here
j.yaml:10:9: left out: assertion "not-is-json"
j.yaml:14:9: left out: an assertion whose value is not a text
j/eval.yaml: 3 tasks imported, 0 disabled, 3 things left out' "$out"
run "$WAZA" run -q j --task test-1
is 'JSON in a text' 0 "$rc"
run "$WAZA" run -q j --task test-2
like 'a text that is not JSON' '1 *the output is not JSON*' "$rc $out"
like 'a rubric, with its threshold' '*- type: prompt*prompt: is about y*threshold: 0.5*' "$(cat j/eval.yaml)"
cat >s.jsonl <<'X'
{"input": "Say hello", "target": "HELLO", "metadata": {"a": 1}}
{"id": "pick", "input": [{"role": "system", "content": "Be short"}, {"role": "user", "content": "Which?"}], "choices": ["one", "two"], "target": "B"}
{"id": "any", "input": "x (y)", "target": ["(y)", "z"], "files": {"a.txt": "text"}}
{"id": "none", "input": "x", "files": {"a.txt": "dir/a.txt"}}
X
run "$WAZA" import inspect-jsonl s.jsonl --skill s
is 'import inspect-jsonl: exit 0' 0 "$rc"
like 'what was left out' '*s.jsonl:1:1: left out: "metadata"*s.jsonl:4:1: left out: "files"*s.jsonl:4:1: left out: task "none"*3 tasks imported, 1 disabled*' "$out"
run "$WAZA" run -q s --task sample-1 --task any
is 'targets are found' 0 "$rc"
run "$WAZA" run -q s --task pick
is 'a choice needs its letter' 1 "$rc"
printf '{"input": "x"\n' >bad.jsonl
run "$WAZA" import inspect-jsonl bad.jsonl
like 'a wrong line has its place' 'bad.jsonl:1:*' "$err"
is 'and is an error' 2 "$rc"
run "$WAZA" import yaml s.jsonl
like 'an unknown format lists the formats' '*inspect-jsonl or promptfoo*' "$err"

echo '{"skill_name": "x", "evals": []}' >none.json
run "$WAZA" run none.json
is 'no evals: status' 2 "$rc"
like 'no evals: message' '*none.json:1:*the file has no evals: "evals" is empty*' "$err"
echo '{"skill_name": "x", "evals": {"id": 1}}' >none.json
run "$WAZA" validate none.json
is 'evals that are not a list' 'none.json:1:1: warning: no SKILL.md found in or above this directory: the agent gets no skill
none.json:1:30: "evals" must be a list, not a mapping' "$out"
done_testing
