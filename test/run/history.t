# The default place for results: .waza/results.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
TOP=$tmp LOG=$tmp/log
export TOP LOG
mkdir project
cd project || exit 1

# suite NAME [WORD]: two tasks, b passes if the answer has the word
suite() {
	cat <<YAML
name: $1
skill: s
config: {executor: command, command: 'echo "\$WAZA_TASK_ID" >>\$LOG; cat'}
tasks:
  - {id: a, prompt: hello, expected: {output_contains: [hello]}}
  - {id: b, prompt: hello, expected: {output_contains: [${2:-hello}]}}
YAML
}
files() {
	(cd .waza/results && ls | sed 's/-[0-9-]*T[0-9]*\.[0-9]*-run-[0-9]*-[0-9a-f]*\.json$/ file/')
}
run_id() {
	"$WAZA" parse "$1" | sed 's/{"eval_id":"\([^"]*\)".*/\1/'
}

suite 'my suite' other >eval.yaml
run "$WAZA" run
is 'a run without -o: status' 1 "$rc"
is 'a run without -o: a file with the name of the suite' 'my-suite file' "$(files)"
file=$(ls .waza/results/*)
like 'a run without -o: the path is printed' "*  results: $file" "$out"
like 'the name has the id of the run' "*-$(run_id "$file").json" "$file"
is 'no journal is left' '.gitignore results ' "$(ls -A .waza | tr '\n' ' ')"
if command -v git >/dev/null
then
	git init -q . >/dev/null 2>&1
	is 'a repository stays clean' '?? eval.yaml' "$(git status --short)"
	mkdir .waza/schemas
	: >.waza/schemas/x.json
	is 'schemas can be part of the repository' '?? .waza/schemas/x.json' "$(git status --short -uall | grep waza)"
	rm -r .waza/schemas
else
	skip 'no git'
	skip 'no git'
fi
run "$WAZA" run -q
is '-q: no path is printed' '' "$err"
is 'a second run: another file' 2 "$(files | grep -c .)"

# a complete run is resumed from its results
rm -r .waza
"$WAZA" run -q >/dev/null
: >"$LOG"
run "$WAZA" run -q --resume
is '--resume: status' 1 "$rc"
is '--resume: no trial runs' '' "$(cat "$LOG")"
is '--resume: the same file' 1 "$(files | grep -c .)"
suite 'my suite' >eval.yaml
run "$WAZA" run -q --rerun-failed
is '--rerun-failed: status' 0 "$rc"
is '--rerun-failed: the failed task runs' b "$(cat "$LOG")"
is '--rerun-failed: a new file' 2 "$(files | grep -c .)"
: >"$LOG"
"$WAZA" run -q --trials 2 --resume >/dev/null
is '--resume with more trials: only the new ones run' 'a
b' "$(sort "$LOG")"
: >"$LOG"
"$WAZA" run -q -m other --resume >/dev/null
is '--resume with another model: everything runs' 2 "$(grep -c . "$LOG")"

# with a baseline
mkdir -p skills/s
printf -- '---\nname: s\ndescription: d\n---\n' >skills/s/SKILL.md
suite base | sed 's/config: {/&skill_directories: [skills], /' >base.yaml
: >"$LOG"
"$WAZA" run -q --baseline base.yaml >/dev/null 2>&1
is 'a baseline: two passes' 4 "$(grep -c . "$LOG")"
is 'a baseline: no journal is left' '' "$(ls .waza | grep journal)"
: >"$LOG"
"$WAZA" run -q --baseline --resume base.yaml >/dev/null 2>&1
is 'a baseline: resumed from the results' 0 "$(grep -c . "$LOG")"
like 'a baseline: the file still has both' '*"baseline_outcome":{*' "$("$WAZA" parse .waza/results/base-*)"

# nothing stored gets lost
base=$(ls .waza/results/base-*)
cp "$base" "$tmp/want"
: >"$LOG"
run "$WAZA" run -q --resume base.yaml
is 'resumed without its baseline: status' 2 "$rc"
is 'resumed without its baseline: the reason' "waza: $base: cannot be resumed without its baseline, which would be lost; add --baseline, or start a new run" "$err"
for o in '--task a' '-k a' '--limit 1'
do
	# shellcheck disable=SC2086
	run "$WAZA" run -q --baseline --resume $o base.yaml
	is "resumed with $o: status" 2 "$rc"
	is "resumed with $o: the reason" "waza: $base: cannot be resumed with fewer tasks: the results of \"b\" would be lost; select the same tasks, or start a new run" "$err"
done
is 'refused: no agent runs' 0 "$(grep -c . "$LOG")"
ok 'refused: the file is unchanged' cmp -s "$tmp/want" "$base"
is 'refused: no journal is left' '' "$(ls .waza | grep journal)"
"$WAZA" run -q --trials 2 -o t.json base.yaml >/dev/null
run "$WAZA" run -q --resume -o t.json base.yaml
is 'resumed with fewer trials: status' 2 "$rc"
is 'resumed with fewer trials: the reason' 'waza: t.json: cannot be resumed with fewer trials: some of task "a" would be lost; repeat --trials, or start a new run' "$err"
run "$WAZA" run -q --rerun-failed --task a base.yaml
is '--rerun-failed of some tasks starts a new file' '0 2' "$rc $(ls .waza/results/base-* | grep -c .)"
ok '--rerun-failed of some tasks keeps the old file' cmp -s "$tmp/want" "$base"

# another suite of the same name
suite base | sed 's/id: a/id: x/; s/id: b/id: y/' >twin.yaml
"$WAZA" run -q twin.yaml >/dev/null
twin=$(ls .waza/results/base-* | tail -n 1)
cp "$twin" "$tmp/want"
own=$(ls .waza/results/base-* | grep -vxF "$twin" | tail -n 1)
: >"$LOG"
run "$WAZA" run -q --resume base.yaml
like 'another suite of the same name: the own results are resumed' "*results: $own*" "$out"
is 'another suite of the same name: only what these results lack runs' 1 "$(grep -c . "$LOG")"
sed 's/id: x/id: z/' twin.yaml >third.yaml
run "$WAZA" run -q --resume third.yaml
is 'another suite of the same name: status' 2 "$rc"
is 'another suite of the same name: the reason' "waza: $twin: cannot be resumed: it is of twin.yaml, another suite of the same name; start a new run, or rename a suite" "$err"
ok 'another suite of the same name: its results are kept' cmp -s "$tmp/want" "$twin"

# the same with files whose beginning is not the whole
for f in mine other
do
	printf 'name: wide\nskill: s\nconfig: {executor: mock}\ntasks:\n' >"$f.yaml"
	for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
	do echo "  - {id: $f$i, prompt: say, expected: {output_contains: [never]}}"
	done >>"$f.yaml"
	"$WAZA" run -q "$f.yaml" >/dev/null
done
run "$WAZA" run -q --resume mine.yaml
like 'another suite of the same name: the own results of many tasks' '1 *reused 20 of 20 trials*' "$rc $out$err"
rm "$twin"

# trials with skills are not those without
: >"$LOG"
run "$WAZA" run -q --resume --no-skills base.yaml
is '--no-skills does not continue a run with skills' '0 2' "$rc $(grep -c . "$LOG")"
: >"$LOG"
run "$WAZA" run -q --resume --no-skills base.yaml
is '--no-skills continues a run without' '0 0' "$rc $(grep -c . "$LOG")"
run "$WAZA" run -q --resume --no-skills --trials 2 -o t.json base.yaml
is 'a file with skills and --no-skills: status' 2 "$rc"
is 'a file with skills and --no-skills: the reason' 'waza: t.json: cannot be resumed: it ran with skills; remove --no-skills, or start a new run' "$err"
"$WAZA" run -q --no-skills -o n.json base.yaml >/dev/null
"$WAZA" grade -q base.yaml --results n.json -o n.json >/dev/null
run "$WAZA" run -q --resume -o n.json base.yaml
is 'a file without skills, resumed with them: status' 2 "$rc"
is 'a file without skills, resumed with them: the reason' 'waza: n.json: cannot be resumed: it ran without skills; add --no-skills, or start a new run' "$err"

# a changed suite
sed 's/prompt: hello/prompt: hello you/' base.yaml >x && mv x base.yaml
run "$WAZA" run --resume --trials 2 -o t.json base.yaml
like 'a changed suite: a warning' '*the suite has changed since the resumed trials ran*' "$err"
"$WAZA" run -q -o c.json base.yaml >/dev/null
run "$WAZA" run --resume -o c.json base.yaml
is 'the same suite: no warning' 0 "$(echo "$err" | grep -c changed)"

# an interrupted run continues its file
sed 's/cat.}/[ -e "$TOP\/go" ] || [ $WAZA_TASK_ID = a ] || exec tail -f \/dev\/null; &/' eval.yaml >hang.yaml
sed 's/my suite/hang/' hang.yaml >x && mv x hang.yaml
: >"$LOG"
"$WAZA" run -q hang.yaml >/dev/null 2>&1 &
pid=$!
# two: the second task runs, and the journal has the first one
two() { [ "$(grep -c . <"$LOG")" -ge 2 ] && grep -q '"task":"a"' .waza/hang.journal; }
wait_until 120 two
kill -TERM "$pid"
wait "$pid"
is 'interrupted: status' 143 $?
ok 'interrupted: the journal is kept' [ -s .waza/hang.journal ]
before=$(ls .waza/results/hang-*)
like 'interrupted: partial results' '*"status":"cancelled"}' "$("$WAZA" parse "$before")"
: >../go
: >"$LOG"
run "$WAZA" run -q hang.yaml --resume
is 'resumed: status' 0 "$rc"
is 'resumed: the missing task runs' b "$(cat "$LOG")"
is 'resumed: the same file' "$before" "$(ls .waza/results/hang-*)"
like 'resumed: it is complete' '*"status":"passed"}' "$("$WAZA" parse "$before")"
ok 'resumed: the journal is removed' [ ! -e .waza/hang.journal ]

# an interrupted run with a selection keeps its journal
rm ../go
: >"$LOG"
"$WAZA" run -q hang.yaml >/dev/null 2>&1 &
pid=$!
wait_until 120 two
kill -TERM "$pid"
wait "$pid"
cp .waza/hang.journal "$tmp/want"
run "$WAZA" run -q hang.yaml --resume --task b
is 'an interrupted run, fewer tasks: status' 2 "$rc"
like 'an interrupted run, fewer tasks: the reason' '*hang.journal: cannot be resumed with fewer tasks: the results of "a" would be lost; *' "$err"
ok 'an interrupted run, fewer tasks: the journal is unchanged' cmp -s "$tmp/want" .waza/hang.journal

# the report names no file that was not written
cat >gone.yaml <<YAML
name: gone
skill: s
config: {executor: command, command: 'rm -rf $PWD/.waza/results; echo hello'}
tasks: [{id: a, prompt: hello, expected: {output_contains: [hello]}}]
YAML
run "$WAZA" run -q gone.yaml
like 'results that cannot be written: the reason' '*cannot write the results*' "$err"
like 'results that cannot be written: the journal has them' '*PASSED  journal: .waza/gone.journal' "$out"
run "$WAZA" run -q gone.yaml --resume
like 'results that cannot be written: resumed' '*reused 1 of 1 trials*PASSED  results: .waza/results/gone-*' "$out"
run "$WAZA" run -q gone.yaml --no-skills
like '--no-skills has a journal of its own' '*PASSED  journal: .waza/gone.no-skills.journal' "$out"
run "$WAZA" run -q gone.yaml --no-skills --resume
like '--no-skills: its journal is resumed' '*reused 1 of 1 trials*PASSED  results: .waza/results/gone-*' "$out"

# two runs at the same time
: >"$LOG"
"$WAZA" run -q hang.yaml >/dev/null 2>&1 &
pid=$!
wait_until 120 two
run "$WAZA" run -q hang.yaml --task a
is 'a second run at the same time: status' 0 "$rc"
kill -TERM "$pid"
wait "$pid"
is 'the first one is not disturbed' 143 $?

# only the last ones are kept
cd .. && rm -rf project && mkdir project && cd project || exit 1
suite many | sed 's/executor: .*/executor: mock}/' >eval.yaml
printf 'keep_results: 3\n' >.waza.yaml
"$WAZA" run -q >/dev/null
first=$(ls .waza/results/*)
run "$WAZA" view
is 'view: beside the results' "${first%.json}.html" "$out"
# never: a link, a second name, another program's file, an interrupted run
old=many-2020-01-01T000000.000-run-1577836800
ln -s "$tmp/keep" ".waza/results/$old-00000001.json"
cp "$first" "$tmp/keep"
sed "s/run-[0-9]*-[0-9a-f]*/run-1577836800-00000002/" "$first" >".waza/results/$old-00000002.json"
ln ".waza/results/$old-00000002.json" "$tmp/second"
echo '{"mine": true}' >".waza/results/$old-00000003.json"
sed 's/run-[0-9]*-[0-9a-f]*/run-1577836800-00000004/; s/^  "status": "passed"/  "status": "cancelled"/' "$first" >".waza/results/$old-00000004.json"
sed 's/run-[0-9]*-[0-9a-f]*/run-1577836800-00000005/' "$first" >".waza/results/$old-00000005.json"
echo mine >".waza/results/$old-00000005.html"
echo notes >.waza/results/notes.json
suite few | sed 's/executor: .*/executor: mock}/' >few.yaml
"$WAZA" run -q few.yaml >/dev/null
for _ in 1 2 3 4
do "$WAZA" run -q >/dev/null
done
is 'three files are kept' 3 "$(ls .waza/results | grep -v "$old" | grep -c many-)"
ok 'the oldest one is removed' [ ! -e "$first" ]
ok 'its page is removed' [ ! -e "${first%.json}.html" ]
ok 'also one with an old date' [ ! -e ".waza/results/$old-00000005.json" ]
is 'links and files of others stay' '00000001.json
00000002.json
00000003.json
00000004.json
00000005.html' "$(ls .waza/results | sed -n "s/^$old-//p")"
ok 'the target of the link stays' [ -s "$tmp/keep" ]
ok 'other files and suites stay' sh -c '[ -s .waza/results/notes.json ] && [ -s .waza/results/few-*.json ]'
# from a directory below
mkdir sub
cd sub || exit 1
"$WAZA" run -q ../few.yaml >/dev/null
is 'from a directory below: in the project' 2 "$(ls ../.waza/results | grep -c few-)"
ok 'from a directory below: nothing is made there' [ ! -e .waza ]
cd .. || exit 1

# several suites, several models
rm -r .waza
run "$WAZA" run eval.yaml few.yaml
like 'several suites: the directory is printed' '*  results: .waza/results' "$out"
is 'several suites: a file for each' 'few file
many file' "$(files)"
"$WAZA" run -q -m x -m y few.yaml >/dev/null
is 'several models: a file for each' 3 "$(files | grep -c few)"
run "$WAZA" run -q eval.yaml few.yaml --resume
is 'several suites are resumed' '0 4' "$rc $(files | grep -c .)"

# named places take precedence
rm -r .waza
"$WAZA" run -q -o r.json >/dev/null
"$WAZA" run -q -d dir >/dev/null
echo 'paths: {results: out}' >.waza.yaml
"$WAZA" run -q >/dev/null
ok '-o, --output-dir and paths.results take precedence' [ ! -e .waza ]
is 'paths.results is used' 1 "$(ls out | grep -c .)"
rm -r .waza.yaml out dir r.json
"$WAZA" run -q --no-results >/dev/null
ok '--no-results writes nothing' [ ! -e .waza ]
for o in '-o x.json' '-d x' --resume
do
	# shellcheck disable=SC2086 # an option and its value
	run "$WAZA" run -q --no-results $o
	is "--no-results $o: status" 2 "$rc"
	like "--no-results $o: message" 'waza: --no-results writes neither results nor a journal: remove it, or *' "$err"
done

# other commands take the latest results
for c in view compare
do
	run "$WAZA" $c
	like "$c without results: message" '2 *no results in .waza/results: name a results file, or write one with waza run' "$rc $err"
done
run "$WAZA" results
is 'results: none' '0 No results in .waza/results.' "$rc $out"
run "$WAZA" grade -q few.yaml
like 'grade without results: message' '2 *suite "few" has 0 results in .waza/results: name a results file, or write one with waza run' "$rc $err"
"$WAZA" run -q >/dev/null
suite many other | sed 's/executor: .*/executor: mock}/' >eval.yaml
"$WAZA" run -q >/dev/null
"$WAZA" run -q few.yaml >/dev/null
"$WAZA" run -q >/dev/null
run "$WAZA" results
is 'results lists all runs' '0 4' "$rc $(printf '%s\n' "$out" | grep -c run-)"
run "$WAZA" results list --limit 1
like 'results list: the newest first' '*50.0%* s *run-*' "$out"
run "$WAZA" compare
is 'compare: the last two of the suite: status' 0 "$rc"
last=$(ls .waza/results/many-* | tail -n 1)
# at N: the name of the Nth file of the suite, up to its time
at() {
	(cd .waza/results && ls many-* | sed -n "$1s/-run-.*//p")
}
like 'compare: the last two of the suite' "*$(at 2)*$(at 3)*" "$out"
run "$WAZA" compare s s~2
like 'compare SKILL: files of the default place' "*$(at 3)*$(at 2)*" "$out"
run "$WAZA" gate --baseline "$(ls .waza/results/many-* | head -n 1)"
is 'gate: the current results are the latest' 1 "$rc"
run "$WAZA" gate --baseline "$last"
is 'gate: no regression' 0 "$rc"
run "$WAZA" view
is 'view: the latest' "0 ${last%.json}.html" "$rc $out"
rm "$out"
run "$WAZA" grade -q few.yaml
is 'grade: the latest of its suite' 0 "$rc"
run "$WAZA" grade -q eval.yaml
is 'grade: the latest of another suite' 1 "$rc"
rm -r .waza
suite many | sed 's/executor: .*/executor: mock}/' >eval.yaml

# directories of a hostile repository
mkdir "$tmp/away"
for link in .waza .waza/results
do
	rm -rf .waza
	[ "$link" = .waza ] || mkdir .waza
	ln -s "$tmp/away" "$link"
	run "$WAZA" run
	is "$link is a link: status" 0 "$rc"
	like "$link is a link: warning" "*waza: warning: results are not kept: $link: is a symbolic link, not a directory; name a file with -o, or use --no-results*" "$err"
	is "$link is a link: nothing is written there" '' "$(ls -A "$tmp/away")"
	run "$WAZA" run -q --resume
	is "$link is a link: nothing is resumed" 2 "$rc"
done
rm -rf .waza
mkdir .waza
echo precious >"$tmp/file"
ln -s "$tmp/file" .waza/many.journal
ln -s "$tmp/file" .waza/.gitignore
run "$WAZA" run -q
is 'a journal that is a link: status' 0 "$rc"
is 'a journal that is a link: its target is unchanged' precious "$(cat "$tmp/file")"
is 'a journal that is a link: results are kept' 1 "$(files | grep -c .)"
rm -rf .waza
: >.waza
run "$WAZA" run
like 'a file instead of the directory' '0 *results are not kept: .waza: is a file, not a directory*' "$rc $err"
run "$WAZA" run -q
is 'a file instead of the directory: -q' '0 waza: warning: results are not kept: .waza: is a file, not a directory; name a file with -o, or use --no-results' "$rc $err"
rm .waza
if [ "$(id -u)" != 0 ]
then
	chmod 555 .
	run "$WAZA" run
	chmod 755 .
	like 'a read-only directory' '0 *results are not kept: .waza: Permission denied*' "$rc $err"
	ok 'a read-only directory: nothing is left' [ ! -e .waza ]
else
	skip 'root can write anywhere'
	skip 'root can write anywhere'
fi
done_testing
