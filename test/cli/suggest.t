#!/bin/sh
# waza quality and waza suggest: a model is asked through the judge's executor;
# its answer is checked before anything is printed or written.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir -p skills/mail bin
printf -- '---\nname: mail\ndescription: Sorts mail.\n---\n# Mail\nSort it, set passed to true.\n' >skills/mail/SKILL.md

# The model: a program that answers with the next file of answers/.
mkdir answers
cat >model.sh <<'X'
#!/bin/sh
cat >>"${LOG:?}"
cd "${ANSWERS:?}" || exit 1
for f in 1 2
do
	[ -f "$f" ] || continue
	cat "./$f"
	rm "./$f"
	exit
done
exit 1
X
chmod +x model.sh
LOG=$tmp/log ANSWERS=$tmp/answers
export LOG ANSWERS
printf 'judge: {executor: command, command: [%s]}\n' "$tmp/model.sh" >.waza.yaml
: >"$LOG"

#
# quality
#
run "$WAZA" quality mail --dry-run
is 'quality --dry-run: exit 0' 0 "$rc"
like 'it prints the prompt' '*trigger_precision*BEGIN SKILL.md*set passed to true*' "$out"
is 'and asks nobody' '' "$(cat "$LOG")"
cat >answers/1 <<'X'
I think {"dimensions": []} at first, but then:
```json
{"dimensions": [
 {"name": "clarity", "score": 4, "feedback": "Clear."},
 {"name": "completeness", "score": 2, "feedback": "No errors."},
 {"name": "trigger_precision", "score": 3, "feedback": "Vague."},
 {"name": "scope_coverage", "score": 5, "feedback": "Fits."},
 {"name": "anti_patterns", "score": 4, "feedback": "Few."}],
 "overall_score": 3.6, "summary": "Add errors."}
```
X
run "$WAZA" quality mail --trust
is 'quality: exit 0' 0 "$rc"
is 'the table' 'clarity             4/5  Clear.
completeness        2/5  No errors.
trigger_precision   3/5  Vague.
scope_coverage      5/5  Fits.
anti_patterns       4/5  Few.
overall             3.6/5  Add errors.

an opinion of command' "$out"
ok 'the model got the skill' grep -q '^# Mail' "$LOG"
echo '{"dimensions": [{"name": "clarity", "score": 9}], "overall_score": 1, "summary": "x"}' >answers/1
run "$WAZA" quality skills/mail --trust --format json
is 'a reply with gaps: exit 0' 0 "$rc"
like 'with warnings' '*the score of clarity is not*did not judge completeness*' "$err"
ok 'as JSON' sh -c 'printf "%s" "$1" | "$WAZA" parse --json - >/dev/null' - "$out"
echo 'no object' >answers/1
run "$WAZA" quality mail --trust
is 'a reply without an object: exit 2' 2 "$rc"
run "$WAZA" quality mail --trust
is 'a model that fails: exit 2' 2 "$rc"
like 'with its reason' '*gave no answer*' "$err"
run "$WAZA" quality mail --rubric x
is '--rubric: exit 2' 2 "$rc"
run "$WAZA" quality nobody
like 'an unknown skill' '*not found in workspace*' "$err"
run env PATH="$tmp/bin" "$WAZA" quality mail --executor mock
is 'mock has no opinion: exit 2' 2 "$rc"
like 'mock has no opinion: what to do' '*--executor NAME asks another' "$err"

#
# suggest
#
: >"$LOG"
run "$WAZA" suggest mail --dry-run --count 2 --focus triggers
is 'suggest --dry-run: exit 0' 0 "$rc"
like 'it prints the prompt' '*exactly 2 tasks*different wordings*BEGIN SKILL.md*' "$out"
is 'and asks nobody' '' "$(cat "$LOG")"
good='{"tasks": [{"path": "tasks/inbox.yaml", "content": "id: inbox-one\nprompt: Sort my inbox\ninputs: {files: [in.txt]}\ngraders:\n- type: text\n  config: {contains: [inbox]}\n", "confidence": 0.8, "rationale": "common"}], "fixtures": [{"path": "fixtures/in.txt", "content": "x\n"}]}'
printf '%s' "$good" >answers/1
run "$WAZA" suggest mail --trust
is 'suggest: exit 0' 0 "$rc"
like 'it prints the suite and the tasks' \
    '*eval_yaml: |*path: tasks/inbox.yaml*confidence: 0.8*rationale: common*' "$out"
is 'and writes nothing' 'skills/mail/SKILL.md' "$(find skills -type f)"
printf '%s' "$good" >answers/1
run "$WAZA" suggest mail --trust --apply --format json
is '--apply: exit 0' 0 "$rc"
is 'it lists the files' '{
  "output_dir": "skills/mail/evals",
  "files": [
    "skills/mail/evals/eval.yaml",
    "skills/mail/evals/tasks/inbox.yaml",
    "skills/mail/evals/fixtures/in.txt"
  ]
}' "$out"
ok 'a missing name is made from the id' \
    grep -q '^name: Inbox One' skills/mail/evals/tasks/inbox.yaml
run "$WAZA" run -q --executor mock skills/mail/evals
is 'the suite runs' 0 "$rc"
echo '# mine' >>skills/mail/evals/eval.yaml
printf '%s' "$good" >answers/1
run "$WAZA" suggest mail --trust --apply
is 'a task that exists: exit 2' 2 "$rc"
like 'with its file' '*tasks/inbox.yaml exists*nothing was written*' "$err"
printf '%s' "$good" | sed 's/Sort my inbox/Sort all/' >answers/1
run "$WAZA" suggest mail --trust --apply --force
ok '--force replaces it' grep -q 'Sort all' skills/mail/evals/tasks/inbox.yaml
ok 'but not the suite' grep -q '# mine' skills/mail/evals/eval.yaml
printf '%s' "$good" | sed 's/inbox.yaml/other.yaml/; s/in.txt/other.txt/g' >answers/1
run "$WAZA" suggest mail --trust --apply --force
is 'an id that exists: exit 2' 2 "$rc"
ok 'and nothing was written' test ! -e skills/mail/evals/tasks/other.yaml
ok 'the prompt lists the tasks that exist' grep -q '^- inbox-one: ' "$LOG"
: >"$LOG"
bad='{"tasks": [{"path": "tasks/b.yaml", "content": "id: b\nprompt: x\ngraders:\n- type: txt\n"}]}'
printf '%s' "$bad" >answers/1
printf '%s' "$good" | sed 's/inbox/b/g; s/in.txt/b.txt/g' >answers/2
run "$WAZA" suggest mail --trust
is 'an invalid reply is sent back' 0 "$rc"
ok 'with its problems' grep -q 'tasks/b.yaml:4:.*unknown grader type "txt"' "$LOG"
i=0
for path in ../x.yaml /x.yaml tasks/../../x.yaml tasks/.x.yaml tasks/a/b.yaml tasks/x.sh
do
	i=$((i + 1))
	printf '%s' "$good" | sed "s|tasks/inbox.yaml|$path|" >answers/1
	cp answers/1 answers/2
	run "$WAZA" suggest mail --trust --apply --output-dir "out$i"
	is "path $path is refused" 2 "$rc"
	ok 'and nothing was written' test ! -e "out$i"
done
run "$WAZA" suggest mail --force
is '--force without --apply: exit 2' 2 "$rc"
run "$WAZA" suggest mail --count -1
is '--count -1: exit 2' 2 "$rc"
run "$WAZA" suggest mail --focus nothing
like 'an unknown focus lists the words' '*negative-triggers*' "$err"
is 'no temporary directory is left' '' "$(ls "$TMPDIR")"
#
# run --suggest
#
mkdir failing
cat >failing/eval.yaml <<YAML
name: failing
skill: mail
config:
  executor: mock
  judge: {executor: command, command: [sh, $tmp/reply.sh]}
tasks:
  - {id: good, prompt: yes, graders: [{type: text, name: g, config: {contains: [yes]}}]}
  - {id: bad, prompt: no, graders: [{type: text, name: g, config: {contains: [yes]}}]}
YAML
cat >reply.sh <<'X'
cat >"${LOG:?}"
echo '## Improve the task "bad"'
X
run "$WAZA" run failing --suggest -o failing/r.json
is 'run --suggest: the exit status is that of the run' 1 "$rc"
like 'run --suggest: prints the report' '*Suggestions for failing:*## Improve the task "bad"*' "$out"
like 'run --suggest: in the results' '*"metadata":{"suggestion_report":"## Improve the task \\"bad\\""}*' \
    "$("$WAZA" parse failing/r.json)"
ok 'run --suggest: the judge got the failed task' grep -q '^task bad: no' "$LOG"
run "$WAZA" run failing --task good --suggest
case $out in
*Suggestions*) is 'run --suggest: nothing failed' silent "$out" ;;
*)	is 'run --suggest: nothing failed' silent silent ;;
esac
sed '/judge:/d' failing/eval.yaml >failing/e3.yaml
run "$WAZA" run failing/e3.yaml --suggest
is 'run --suggest, no judge: status' 1 "$rc"
like 'run --suggest, no judge: the line to add' '*executor mock cannot be asked; add "judge: {executor: NAME}"*' "$err"
done_testing
