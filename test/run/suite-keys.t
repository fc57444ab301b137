# Keys of later versions of the format: acted on, or refused with the reason.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir fixtures own tasks
echo 'rule of the fixtures' >fixtures/rules.md
echo 'rule of the suite' >rules.md
echo 'rule beside the suite' >beside.md
echo 'rule of the task' >own/rules.md
cat >eval.yaml <<'YAML'
name: t
scenario: release
config: {executor: command, command: cat, instruction_files: [rules.md, beside.md]}
tasks:
- {id: a, prompt: p, graders: [{type: text, contains: [rule of the fixtures, rule beside the suite], not_contains: rule of the suite}]}
- {id: b, prompt: p, context_dir: own, graders: [{type: text, contains: [rule of the task], not_contains: rule of the fixtures}]}
YAML
run "$WAZA" validate eval.yaml
is 'scenario: the skill is optional' '0 eval.yaml: ok (2 tasks)' "$rc $out"
run "$WAZA" run -q eval.yaml
is 'instruction files come from the fixtures, else from the suite' 0 "$rc"
mkdir other
echo 'rule of the run' >other/rules.md
sed 's/rule of the fixtures, //; s/not_contains: rule of the suite/not_contains: rule of the fixtures/' eval.yaml >other.yaml
run "$WAZA" run -q --task a --context-dir other other.yaml
is 'instruction files of --context-dir' 0 "$rc"

# finds NAME KEYS MESSAGE STATUS: validate reports this about a suite with these keys
finds() {
	printf 'name: t\nskill: s\n%s\n' "$2" >k.yaml
	run "$WAZA" validate k.yaml
	like "$1" "$3" "$out"
	is "$1: status" "$4" "$rc"
}
finds 'an empty scenario' 'scenario: " "
tasks: [{id: a, prompt: p, expected: {output_contains: [p]}}]' 'k.yaml:3:11: "scenario" is empty*' 2
finds 'adversarial' 'adversarial: {packs: [jailbreak], on_unsafe_outcome: fail}
tasks: [{id: a, prompt: p, expected: {output_contains: [p]}}]' 'k.yaml:3:14: warning: "adversarial" has no effect on a run: *' 0
finds 'adversarial without packs' 'adversarial: {on_unsafe_outcome: fail}
tasks: [{id: a, prompt: p, expected: {output_contains: [p]}}]' '*Missing required field: packs*' 2
finds 'a preset of a registry' 'graders: [{ref: org/preset@1, name: x}]
tasks: [{id: a, prompt: p}]' 'k.yaml:3:17: "org/preset@1" is not a file: presets of a registry are not fetched*' 2
finds 'checkpoints' 'tasks: [{id: a, prompt: p, expected: {output_contains: [p]}, checkpoints: [{after_turn: 1, graders: [{type: text, contains: x}]}]}]' \
    'k.yaml: ok*' 0
finds 'an empty list of checkpoints' 'tasks: [{id: a, prompt: p, expected: {output_contains: [p]}, checkpoints: []}]' 'k.yaml: ok*' 0
finds 'requirements' 'graders: [{type: text, name: g, contains: p}]
tasks:
- id: a
  prompt: p
  graders: [{type: text, name: own, contains: p}]
  requirements:
  - {id: r1, category: outcome, description: d, checks: [{scope: eval, grader: g}, {scope: task, grader: own}]}
  - {id: r2, category: quality, description: d}' 'k.yaml: ok*' 0
finds 'a requirement that names no grader' 'tasks:
- id: a
  prompt: p
  expected: {output_contains: [p]}
  requirements: [{id: r1, category: outcome, description: d, checks: [{scope: task, grader: own}]}]' \
    'k.yaml:7:*: warning: "own" names no grader of the task*' 0
finds 'requirements with the same id' 'tasks:
- id: a
  prompt: p
  expected: {output_contains: [p]}
  requirements:
  - {id: r1, category: outcome, description: d}
  - {id: r1, category: outcome, description: e}' 'k.yaml:9:10: duplicate requirement "r1"*' 2
finds 'a requirement of an unknown category' 'tasks:
- id: a
  prompt: p
  expected: {output_contains: [p]}
  requirements: [{id: r1, category: speed, description: d}]' '*"category" must be one of outcome, boundary, recovery, quality, not "speed"*' 2
finds 'after_turn without a checkpoint' 'tasks:
- id: a
  prompt: p
  expected: {output_contains: [p]}
  requirements: [{id: r1, category: outcome, description: d, checks: [{scope: task, grader: g, after_turn: 2}]}]' \
    '*"after_turn" belongs to scope "checkpoint", and only to it*' 2
finds 'model beside the type' 'config: {judge: {mock: {output: "{\"passed\": true}"}}}
tasks: [{id: a, prompt: p, graders: [{type: prompt, rubric: helpfulness, model: m}]}]' 'k.yaml: ok*' 0
finds 'script is not a setting' 'tasks: [{id: a, prompt: p, graders: [{type: text, contains: p, script: x.py}]}]' '*warning: unknown key "script"*' 0
done_testing
