#!/bin/sh
# waza coverage: which skills have suites; text, Markdown, JSON and a badge.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# skill DIR NAME
skill() {
	mkdir -p "$1"
	printf -- '---\nname: %s\n---\n' "$2" >"$1/SKILL.md"
}
# suite DIR LINES
suite() {
	mkdir -p "$1"
	printf '%b' "$2" >"$1/eval.yaml"
}
two='graders: [{name: g, type: text, contains: x}, {name: h, type: regex, pattern: x}]\n'
one='graders: [{name: g, type: text, contains: x}]\n'

run "$WAZA" coverage
is 'no skill: exit 2' 2 "$rc"
like 'no skill: the places that were searched' '*no skill found (searched: skills*--path*' "$err"
run "$WAZA" coverage none
is 'no directory: exit 2' 2 "$rc"

skill p/skills/full full
suite p/evals/full "name: a\nskill: full\ntasks: ['tasks/*.yaml', {id: y, prompt: z}]\n$two"
mkdir p/evals/full/tasks
for i in 1 2 3; do printf 'id: t%s\nprompt: x\n' $i >p/evals/full/tasks/$i.yaml; done
printf 'skill: full\nshould_trigger_prompts: [{prompt: a}, {prompt: b}]\nshould_not_trigger_prompts: [{prompt: c}]\n' >p/evals/full/trigger_tests.yaml
skill p/skills/half half
suite p/skills/half/evals "name: a\ntasks: [{id: x, prompt: y}]\n$one"
skill p/.github/skills/dir-name own
suite p/evals/other "name: a\nskill: own\ntasks: [{id: x, prompt: y, graders: [{name: k, type: file, must_exist: [x]}]}]\n$one"
skill p/skills/bare bare
skill p/skills/again full
mkdir p/skills/node_modules && skill p/skills/node_modules/no no
mkdir p/skills/agents && printf -- '---\ndescription: x\n---\n' >p/skills/agents/helper.agent.md
suite p/evals/scene "name: a\nscenario: s\ntasks: [{id: x, prompt: y}]\n$two"
run "$WAZA" coverage p
is 'exit 0' 0 "$rc"
is 'a table; the first skill of a name counts, task graders count' '  Skill       Coverage  Tasks  Triggers  Graders
x bare        none          0         0  -
+ full        full          4         3  regex, text
! half        partial       1         0  text
x helper      none          0         0  -
+ own         full          1         0  file, text

2 of 5 skills are covered (40.0%), 1 partially, 2 not' "$(LC_ALL=C "$WAZA" coverage p)"
run "$WAZA" coverage -f json p
is 'JSON: the original'\''s keys' '"total_skills": 5,
"covered": 2,
"partial": 1,
"uncovered": 2,
"coverage_pct": 40,' "$(printf '%s\n' "$out" | sed -n 's/^  \("[tcpu].*\)/\1/p')"
like 'JSON: patterns and tasks' '*"skill": "full"*"tasks": 2*"graders": \[*"coverage": "* Full"*"task_count": 4*"triggers": 3*' "$out"
like 'JSON: no graders are null' '*"skill": "bare"*"graders": null*"coverage": "* None"*' "$out"
run "$WAZA" coverage --format markdown p
like 'Markdown' '## Coverage: 40.0%*| full | 4 | 3 | regex, text |*' "$out"
run "$WAZA" coverage --badge b.svg p
like 'a badge' '<svg *eval coverage: 40%*</svg>' "$(cat b.svg)"
run "$WAZA" coverage --badge none/is/b.svg --format xml p
is 'an unknown format: exit 2, no badge' '2 no' "$rc $([ -e none ] && echo yes || echo no)"
if [ "$(id -u)" -ne 0 ]
then
	mkdir ro && chmod 500 ro
	run "$WAZA" coverage --badge ro/b.svg p
	is 'a badge that cannot be written: exit 2' 2 "$rc"
else
	skip 'root may write everywhere'
fi
skill p/lib/extra extra
suite p/lib/extra "name: a\ntasks: [{id: x, prompt: y}]\n$two"
run "$WAZA" coverage -f json --path lib p
like '--path: skills and suites' '*"total_skills": 6,*"skill": "extra"*"coverage": "* Full"*' "$out"
printf 'paths: {skills: lib}\n' >p/.waza.yaml
run "$WAZA" coverage -f json p
like 'paths.skills of .waza.yaml' '*"total_skills": 6,*"skill": "extra"*' "$out"
skill q/skills/only only
suite q "name: a\nskill: only\ntasks: [{id: x, prompt: y}]\n$two"
run "$WAZA" coverage q
like 'the suite in the root, for the skill that it names' '*1 of 1 skills are covered*' "$out"
run sh -c 'cd q && exec "$WAZA" check only'
like 'check finds it, too' '*Suite *eval.yaml (1 task)*' "$out"
printf 'a: [\n' >p/evals/scene/eval.yaml
run "$WAZA" coverage p
is 'a suite that cannot be read: exit 0' 0 "$rc"
like 'a suite that cannot be read: a warning' '*evals/scene/eval.yaml: *not counted*' "$err"
printf 'name: a\nskill: a|b`c\n' >p/evals/scene/eval.yaml
skill p/skills/odd "'a|b\`c'"
run "$WAZA" coverage -f markdown p
like 'Markdown: names are escaped' '*| a\\|b\\`c |*' "$out"
done_testing
