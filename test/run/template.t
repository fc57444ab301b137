# Tables with task_template, and a script beside the suite as the agent.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir s elsewhere
cat >s/agent.sh <<'X'
read -r question
echo "$question $(cat ./*.txt) $FLAG $(basename "$PWD")"
X
cat >s/eval.yaml <<'X'
name: capitals
skill: s
config: {executor: command, command: [sh, agent.sh]}
tasks_from: q.csv
task_template:
  id: "q-{{.Vars.n}}"
  tags: [geo]
  prompt: "Capital of {{.Vars.country}}?"
  inputs:
    files: [{path: "{{.Vars.country}}.txt", content: "{{.Vars.capital}}"}]
    environment: {FLAG: "flag-{{.Vars.n}}"}
  expected: {output_contains: ["{{.Vars.country}}"]}
  graders:
    - {type: text, contains: ["{{.Vars.capital}}", "flag-{{.Vars.n}}"]}
X
printf 'n,country,capital\n1,France,Paris\n2,Italy,Rome\n' >s/q.csv
run "$WAZA" validate s
is 'a template: valid' 's/eval.yaml: ok (2 tasks)' "$out"
cd elsewhere || exit 1
run "$WAZA" run -q ../s --reporter tap
is 'a template, and a script beside the suite' '0 ok 1 - q-1
ok 2 - q-2
1..2' "$rc $(printf '%s\n' "$out" | grep -E '^(ok|not ok|1\.\.)')"
cd .. || exit 1
run "$WAZA" run -q s --tags geo --task q-2
is 'tags of the template' 0 "$rc"
sed 's/sh, agent/sh, -u, agent/' s/eval.yaml >s/u.yaml
run "$WAZA" run -q s/u.yaml
is 'a script after an option, beside the suite' 0 "$rc"
printf 'n,country,capital\n1,France,Paris\n2,Italy,Oslo\n' >s/q.csv
sed 's/content: .*"/content: "Rome"/' s/eval.yaml >s/e.yaml
run "$WAZA" run -q s/e.yaml --reporter tap
is 'each row has its own expectation' 'not ok 1 - q-1
not ok 2 - q-2
1..2' "$(printf '%s\n' "$out" | grep -E '^(ok|not ok|1\.\.)')"

# JSON lines: a row that lacks a column, an id of its own, its own prompt
cat >s/q.jsonl <<'X'
{"n": 1, "country": "France", "capital": "Paris", "id": "own"}
{"n": 2, "capital": "Rome"}
X
sed 's/q.csv/q.jsonl/' s/eval.yaml >s/j.yaml
run "$WAZA" validate s/j.yaml
like 'a row without the column' '*s/q.jsonl:2:1: *unknown variable "country"*' "$out"
is 'a row without the column: status' 2 "$rc"
printf '%s\n' 'name: c' 'skill: s' 'tasks_from: p.csv' \
    'task_template: {graders: [{type: text, contains: "{{.Vars.want}}"}]}' >s/p.yaml
printf 'id,prompt,want\na,say x,x\nb,say y,y\n' >s/p.csv
run "$WAZA" run -q s/p.yaml --reporter tap
is 'prompts of the table' 'ok 1 - a
ok 2 - b
1..2' "$(printf '%s\n' "$out" | grep -E '^(ok|not ok|1\.\.)')"
printf 'id,question\na,say x\n' >s/p.csv
run "$WAZA" validate s/p.yaml
like 'no prompt anywhere' '*s/p.csv:2:1: the table has no column "prompt" (columns: id, question): add it, or give*' "$out"
is 'no prompt anywhere: status' 2 "$rc"
printf 'id,prompt,want\na,,x\n' >s/p.csv
run "$WAZA" validate s/p.yaml
like 'an empty prompt' 's/p.csv:2:1: warning: "prompt" of this row is empty*' "$out"
printf '%s\n' 'name: c' 'skill: s' 'tasks: [{id: a, prompt: b}]' 'task_template: {prompt: x}' \
    'graders: [{type: text, contains: b}]' >s/n.yaml
run "$WAZA" validate s/n.yaml
like 'a template without a table' 's/n.yaml:4:16: warning: "task_template" has no effect without "tasks_from"*' "$out"
printf '%s\n' 'name: c' 'skill: s' 'tasks_from: p.csv' 'task_template: [x]' >s/n.yaml
run "$WAZA" validate s/n.yaml
like 'a template that is a list' 's/n.yaml:4:16: "task_template" must be a mapping with keys of a task, not a list*' "$out"

# cells that are decoded, in a CSV table and in JSON lines: prompts, ids, groups,
# variables of graders and hooks, and a range that does not begin at the first row
cat >s/cells.yaml <<'X'
name: cells
skill: s
config: {group_by: kind}
range: [2, 3]
hooks: {before_task: [{command: "echo '{{.Vars.id}} {{.Vars.kind}}' >>hook.log"}]}
task_template: {graders: [{type: text, contains: "{{.Vars.want}}"}]}
X
cat >s/cells.csv <<'X'
id,prompt,want,kind
zero,nothing,nothing,none
"a ""1""","say ""x""
twice","""x""
twice","big ""k"""

b,say y,say y,plain
c,not in the range,q,none
X
cat >s/cells.jsonl <<'X'
{"id": "zero", "prompt": "nothing", "want": "nothing", "kind": "none"}

{"id": "a \"1\"", "prompt": "say \"x\"\ntwice", "want": "\"x\"\ntwice", "kind": "big \"k\""}
{"id": "b", "prompt": "say y", "want": "say y", "kind": "plain"}
{"id": "c", "prompt": "not in the range", "want": "q", "kind": "none"}
X
{ echo '['; grep . s/cells.jsonl | sed '$!s/$/,/'; echo ']'; } >s/cells.json
for kind in csv jsonl json
do
	{ cat s/cells.yaml; echo "tasks_from: cells.$kind"; } >"s/cells-$kind.yaml"
	rm -f hook.log
	run "$WAZA" run -q "s/cells-$kind.yaml" -o cells.out
	is "cells of a $kind table" '0 "a \"1\"" "b" "say \"x\"\ntwice" "say y" "big \"k\"" "plain" ' \
	    "$rc $(for key in test_id prompt group; do values cells.out "$key"; done | tr '\n' ' ')"
	is "variables of a $kind table in hooks" 'a "1" big "k"
b plain' "$(cat hook.log)"
done
done_testing
