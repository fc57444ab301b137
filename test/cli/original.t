# The commands of the original's documentation: each is accepted, or refused with a
# sentence that names the replacement.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
WAZA_HOME=$tmp/home
export WAZA_HOME
unset GITHUB_REPOSITORY WAZA_NO_UPDATE_CHECK

project() {
	rm -rf p
	mkdir -p p/skills/greet p/evals/greet/tasks p/fixtures
	cd p || exit 1
	cat >skills/greet/SKILL.md <<'MD'
---
name: greet
description: "Greets people by name. USE FOR: say hello, greet a person. DO NOT USE FOR: sums."
---
# Greet
Say hello.
MD
	cat >evals/greet/eval.yaml <<'YAML'
name: greet-eval
skill: greet
version: "1.0"
config: {trials_per_task: 1, timeout_seconds: 60, executor: mock, model: m, skill_directories: [../../skills]}
metrics: [{name: task_completion, weight: 1, threshold: 0.5}]
graders: [{type: text, name: hello, config: {contains: [hello]}}]
tasks: ["tasks/*.yaml"]
YAML
	printf 'id: greet-1\nname: Greet\ntags: [fast]\ninputs: {prompt: say hello}\n' >evals/greet/tasks/one.yaml
	sed 's|../../skills|skills|' evals/greet/eval.yaml >eval.yaml
	cp -R evals/greet/tasks tasks
	"$WAZA" run eval.yaml -q -o old.json >log 2>&1
	cp old.json new.json
	cd ..
}

# Commands that work: exit 0, or 1 for a verdict
project
cd p || exit 1
while IFS= read -r line
do
	case $line in
	''|'#'*) continue ;;
	esac
	eval "set -- $line"
	run "$WAZA" "$@" </dev/null
	case $rc in
	0|1) is "waza $line" '' '' ;;
	*) is "waza $line" "0 or 1" "$rc: $err" ;;
	esac
done <<'LIST'
--version
run
run greet
run eval.yaml
run eval.yaml -v
run eval.yaml --verbose --debug --no-update-check
run eval.yaml --context-dir fixtures -o r1.json
run eval.yaml -c fixtures -w 2 -t 'greet*' -m m -f default
run eval.yaml --output r2.json --transcript-dir transcripts
run eval.yaml --output-dir results
run eval.yaml -d results
run eval.yaml --task 'greet*' --tags fast
run eval.yaml --parallel --workers 4
run eval.yaml --trials 2
run eval.yaml --interpret
run eval.yaml --format default
run eval.yaml --format github-comment
run eval.yaml --cache --cache-dir .waza-cache
run eval.yaml --no-cache
run eval.yaml --model a --model b --recommend
run eval.yaml --judge-model j
run eval.yaml --baseline
run eval.yaml --suggest
run eval.yaml --session-log --session-dir .
run eval.yaml --no-summary
run eval.yaml --reporter json --reporter junit:j.xml
run --discover
run --discover .
run --discover --strict
run eval.yaml --update-snapshots
run eval.yaml --skip-graders
run eval.yaml --no-skills
run eval.yaml --keep-workspace=false
run eval.yaml --timeout 300
init ../made --no-skill
init ../made2 --skills-dir s --evals-dir e --results-dir r
new skill added
new eval added --executor mock
new greet2
check
check greet
check skills/greet
check --format json
tokens count
tokens count greet
tokens count --min-tokens 1 --sort tokens
tokens count --sort name --no-total
tokens count --format json --tokenizer estimate
tokens check
tokens check --quiet
tokens check --strict
tokens profile
tokens suggest
tokens suggest --min-savings 5 --format json
coverage
coverage -f json --path skills
coverage --format markdown
results list
session list --dir .
grade eval.yaml --results old.json
grade eval.yaml --results old.json --task greet-1 --workspace . --judge-model j -o g.json -v
compare old.json new.json
compare old.json new.json --format json
gate --baseline old.json --current new.json
gate --baseline old.json --current new.json --max-regression-pct 5 --golden-must-pass --on-new-tasks allow --on-removed-tasks warn -f json
gate --baseline old.json --current new.json --format github-actions
cache clear
suggest skills/greet --dry-run --count 3 --focus triggers --model m --format json
suggest skills/greet --dry-run --apply --force --output-dir o
quality skills/greet --dry-run --model m --format json
new task from-prompt hi t.yaml --model m --testname x --tags a,b --timeout 5m --overwrite --root .
serve --port 0 --no-browser --help
serve --tcp '' --help
results list --since 2020-01-01 --limit 5 --format json
completion bash
check --verbose
LIST
cd .. || exit 1

# Commands that stay out: exit 2, and a message that names what to use instead
cd p || exit 1
while IFS='|' read -r line want
do
	case $line in
	''|'#'*) continue ;;
	esac
	eval "set -- $line"
	run "$WAZA" "$@" </dev/null
	is "waza $line: refused" 2 "$rc"
	like "waza $line: says what to use" "$want" "$err"
done <<'LIST'
run eval.yaml --auto-file-issue|*gh issue create*
run eval.yaml --otel-exporter stdout|*--otlp URL*
run eval.yaml --snapshot snaps|*--record*
run eval.yaml --redact policy.yaml|*
new eval flow --scenario|*without "skill"*
adversarial --list-packs|*tasks of a suite*
assure plan|*waza gate*
compare-plan x|*
compare-collect x|*
dev skills/greet|*waza check*
get eval.yaml|*
migrate eval.yaml|*
preflight eval.yaml|*waza validate*
registry search --kind grader|*
replay snap.json|*waza *
spec verify skills/greet eval.yaml|*waza *
update --yes|*
metadata|*
generate greet|*waza new skill*
tokens diff origin/main|*waza tokens compare --skills*
tokens suggest --copilot --model x|*waza quality*
tokens count --tokenizer bpe|*--vocab FILE*
quality skills/greet --rubric r.yaml|*prompt grader*
compare-assurance-plan x|*waza gate*
LIST
cd .. || exit 1
done_testing
