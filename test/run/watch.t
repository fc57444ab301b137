# --watch: runs again what a changed file affects.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs rpcpipe
LOG=$tmp/log
export LOG
mkdir w w/tasks w/fixtures w/skills w/skills/help other
cd w || exit 1
cat >eval.yaml <<'YAML'
name: watched
skill: s
config: {executor: command, command: 'echo "$WAZA_TASK_ID" >>$LOG; cat', workers: 1, skill_directories: [skills]}
tasks: [tasks/*.yaml]
YAML
printf -- '---\nname: help\ndescription: d\n---\n' >skills/help/SKILL.md
for t in a b c
do echo "{id: $t, prompt: hello $t, expected: {output_contains: [hello]}}" >tasks/$t.yaml
done
echo "{id: c, prompt: hello, inputs: {files: [data.txt]}, expected: {output_contains: [hello]}}" >tasks/c.yaml
echo one >fixtures/data.txt
: >../log

# ran N LINES: N rounds have ended, and this is what ran
rounds() {
	[ "$(grep -c 'watching [0-9]* files; Ctrl-C ends' <../err)" -ge "$1" ]
}
ran() {
	ok "$1: the round ends" wait_until 120 rounds "$2"
	is "$1: what ran" "$3" "$(tr '\n' ' ' <../log)"
	: >../log
}
# change FILE: a time and a size that differ
change() {
	echo '#' >>"$1"
}

"$WAZA" run --watch -o out.json >../out 2>../err &
pid=$!
ran 'the first round' 1 'a b c '
change tasks/b.yaml
ran 'a task file' 2 'b '
like 'a task file: it is named' '*waza: tasks/b.yaml changed*' "$(cat ../err)"
change fixtures/data.txt
ran 'an input file' 3 'c '
change eval.yaml
ran 'the suite' 4 'a b c '
change skills/help/SKILL.md
ran 'a skill' 5 'a b c '
echo new >helper.sh
ran 'a new file beside the suite' 6 'a b c '
echo "{id: d, prompt: hello d, expected: {output_contains: [hello]}}" >tasks/d.yaml
ran 'a new task' 7 'd '
rm tasks/a.yaml
ran 'a task is removed' 8 'b c d '
echo 'name: [' >eval.yaml
ok 'a broken suite: the round ends' wait_until 120 rounds 9
like 'a broken suite: message' '*eval.yaml:*' "$(cat ../err)"
is 'a broken suite: nothing runs' '' "$(cat ../log)"
kill -TERM "$pid"
wait "$pid"
is 'a signal ends it' 143 $?

# the results of a round replace those of the round before, except the first
mkdir ../kept
cd ../kept || exit 1
cat >eval.yaml <<'YAML'
name: kept
skill: s
config: {executor: command, command: 'echo "$WAZA_TASK_ID" >>$LOG; cat', workers: 1}
tasks: [{id: a, prompt: hello, expected: {output_contains: [hello]}}]
YAML
: >../log
: >../err
"$WAZA" run -q >/dev/null
"$WAZA" run --watch -m x -m y >../out 2>../err &
pid=$!
ok 'kept results: the first round ends' wait_until 120 rounds 1
ls .waza/results >../first
is 'kept results: those of the first round' 3 "$(grep -c . ../first)"
change eval.yaml
ok 'kept results: the second round ends' wait_until 120 rounds 2
ls .waza/results >../second
is 'kept results: those of the second round' 5 "$(grep -c . ../second)"
change eval.yaml
ok 'kept results: the third round ends' wait_until 120 rounds 3
ls .waza/results >../third
is 'kept results: as many as before' 5 "$(grep -c . ../third)"
is 'kept results: earlier ones stay' "$(cat ../first)" "$(comm -12 ../first ../third)"
is 'kept results: the others are new' "$(cat ../first)" "$(comm -12 ../second ../third)"
kill -TERM "$pid"
wait "$pid"

# a signal during a round ends the round as well
cd ../other || exit 1
cat >eval.yaml <<'YAML'
name: hang
skill: s
config: {executor: command, command: 'echo $$ >>$LOG; exec tail -f /dev/null'}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
: >../log
"$WAZA" run --watch >../out 2>../err &
pid=$!
ok 'a round: the agent runs' wait_until 120 test -s ../log
kill -TERM "$pid"
wait "$pid"
is 'a signal during a round: status' 143 $?
ok 'a signal during a round: no child is left' sh -c '! kill -0 $(tail -n 1 ../log) 2>/dev/null'
run "$WAZA" run --watch missing.yaml --remote
is '--watch and --remote' 2 "$rc"
run "$WAZA" run --watch none/none
is 'nothing to watch' 2 "$rc"
done_testing
