# waza schema: the schemas are valid, accept every file that waza accepts, and
# refuse wrong ones.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

names='check config eval results task trigger'
for n in $names
do
	"$WAZA" schema $n >$n.json
	"$WAZA" schema --strict $n >$n.strict.json
	like "$n: draft 7" '*"$schema": "http://json-schema.org/draft-07/schema#"*' "$(cat $n.json)"
	for s in $n $n.strict
	do
		# a schema that does not compile is status 2
		echo null >null.json
		run "$WAZA" schema-check $s.json null.json
		is "$s is a valid schema, and null is not valid by it" 1 "$rc"
	done
done
run "$WAZA" schema evl
is 'unknown name: status' 2 "$rc"
like 'unknown name: message' 'waza: unknown schema "evl" (did you mean "eval"?) (schemas: check, config, eval, *' "$err"
run "$WAZA" schema
is 'missing name: status' 2 "$rc"
for n in $names
do like "the usage names $n" "*$n*" "$("$WAZA" help schema | sed -n 3p)"
done

# accepted NAME FILE: the schema accepts it
accepted() {
	"$WAZA" schema-check -q "$1.json" "$2" >>refused 2>&1
}
# suites FILE...: how many of them waza accepts; their findings are in refused
suites() {
	n=0
	for f
	do
		"$WAZA" validate "$f" >/dev/null 2>&1 || continue
		n=$((n + 1))
		accepted eval "$f"
	done
	echo $n
}
: >refused
n=$(suites "$top"/examples/*/eval.yaml "$top"/test/suite/good/eval.yaml)
ok "suites of the repository: $n" [ "$n" -gt 5 ]
is 'no false finding about them' '' "$(cat refused)"
for f in "$top"/examples/*/tasks/*.yaml
do accepted task "$f"
done
for f in "$top"/examples/*/trigger_tests.yaml
do accepted trigger "$f"
done
is 'no false finding about tasks and trigger tests' '' "$(cat refused)"
echo '[{"query": "a", "should_trigger": true}]' >list.json
accepted trigger list.json
is 'no false finding about a list of queries' '' "$(cat refused)"
if [ -d "$CORPUS/waza-wild" ]
then
	find "$CORPUS/waza-wild" -name '*eval*.y*ml' | sort >list
	n=0
	while read -r f
	do n=$((n + $(suites "$f")))
	done <list
	ok "suites of the corpus: $n" [ "$n" -gt 100 ]
	find "$CORPUS/waza-wild" -name trigger_tests.yaml | sort >list
	while read -r f
	do accepted trigger "$f"
	done <list
	is 'no false finding about them and their trigger tests' '' "$(cat refused)"
else
	skip "no $CORPUS/waza-wild"
fi

# refused NAME TEXT FINDING: the schema reports this place
refused() {
	printf "$2" >f.yaml
	like "$1" "$3" "$("$WAZA" schema-check -q "${4-eval.json}" f.yaml)"
}
refused 'a missing name' 'tasks: [a.yaml]\n' 'f.yaml:1:1: *name*'
refused 'a wrong type' 'name: a\nconfig: {trials_per_task: x}\n' 'f.yaml:2:27: /config/trials_per_task*'
refused 'a number out of range' 'name: a\nconfig: {pass_threshold: 2}\n' 'f.yaml:2:26: *'
refused 'an unknown kind' 'name: a\ngraders: [{type: txt}]\n' 'f.yaml:2:18: *'
refused 'a setting in config' 'name: a\ngraders: [{type: code, config: {memory_mb: 1}}]\n' 'f.yaml:2:44: *'
refused 'a setting beside the type' 'name: a\ngraders: [{type: code, memory_mb: 1}]\n' 'f.yaml:2:35: *'
refused 'a missing setting' 'name: a\ngraders: [{type: program, args: [a]}]\n' 'f.yaml:2:11: *'
refused 'a setting of a task' 'name: a\ntasks: [{id: a, inputs: {repos: [{commit: a}]}}]\n' 'f.yaml:2:* *'
refused 'a word that is not one of the words' 'name: a\nconfig: {skills: both}\n' 'f.yaml:2:18: *'
refused 'an unknown key, strictly' 'name: a\ntask: 1\n' 'f.yaml:2:1: *' eval.strict.json
refused 'an unknown setting, strictly' 'name: a\ngraders: [{type: text, contain: a}]\n' \
    'f.yaml:2:24: *' eval.strict.json
is 'an unknown key is accepted otherwise' '' \
    "$(printf 'name: a\ntask: 1\n' >f.yaml; "$WAZA" schema-check -q eval.json f.yaml)"
printf 'limits: {depth: 0}\n' >f.yaml
like 'a setting of .waza.yaml' 'f.yaml:1:17: *' "$("$WAZA" schema-check -q config.json f.yaml)"
printf 'defaults: {engine: mock, workers: 2}\ngraders: {codeTimeout: 3}\nlog_level: info\n' >f.yaml
is 'settings, strictly' '' "$("$WAZA" schema-check -q config.strict.json f.yaml)"

# the schema of results has every key that is written
cat >all.yaml <<'YAML'
name: all
skill: s
config: {executor: mock, trials_per_task: 2, group_by: group}
metrics: [{name: task_completion, threshold: 0.1}]
graders: [{type: text, name: t, contains: a}, {type: tool_calls, max_calls: 9}]
tasks:
- id: a
  group: g
  golden: true
  prompt: p
  mock: {output: a, tool_calls: [{name: bash, arguments: {command: ls}, result: x}], usage: {turns: 1, cost: 2}, skills: [s]}
- {id: b, prompt: q, mock: {error: broken}}
- {id: c, inputs: {prompt: q, follow_up_prompts: [again]}, expected: {output_contains: [q]}}
YAML
cp "$top/examples/trigger/trigger_tests.yaml" .
run "$WAZA" run -q --baseline -o all.json all.yaml
run "$WAZA" schema-check -q results.strict.json all.json
is 'results, strictly' '0 ' "$rc $out$err"
run "$WAZA" run -q -o hello.json "$top/examples/hello"
run "$WAZA" schema-check -q results.strict.json hello.json
is 'results of an example, strictly' '0 ' "$rc $out$err"
run "$WAZA" grade -q -o graded.json --results hello.json "$top/examples/hello/eval.yaml"
[ ! -f graded.json ] || run "$WAZA" schema-check -q results.strict.json graded.json
is 'results that were graded again, strictly' '0 ' "$rc $out$err"

# the same for the report of waza check
mkdir skill
printf -- '---\nname: other\ndescription: "Spells. INVOKES: speller"\n---\n[a](no.md) [b](../x.md) [c](#no) <http://localhost/>\n' >skill/SKILL.md
echo orphan >skill/orphan.md
cp all.yaml skill/eval.yaml
run "$WAZA" check --format json skill
printf '%s\n' "$out" >check-report.json
run "$WAZA" schema-check -q check.strict.json check-report.json
is 'a report of check, strictly' '0 ' "$rc $out$err"
if [ -d "$CORPUS/skills" ]
then
	find "$CORPUS/skills" -name SKILL.md | sort | head -n 200 | xargs "$WAZA" check --format json >all-skills.json 2>/dev/null
	run "$WAZA" schema-check -q check.strict.json all-skills.json
	is 'a report about the corpus, strictly' '0 ' "$rc $(printf %s "$out$err" | head -n 5)"
else
	skip "no $CORPUS/skills"
fi
done_testing
