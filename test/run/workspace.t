# Runs over the suites of a workspace: which suites, one pool of workers, files,
# the exit status, interrupt and resume.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
cd "$tmp" || exit 1
LC_ALL=C
export LC_ALL

# suite DIR NAME WORD [CONFIG]: two tasks whose answers must contain the word
suite() {
	mkdir -p "$1/tasks"
	cat >"$1/eval.yaml" <<YAML
name: $2-eval
skill: $2
config: {executor: mock${4:-}}
graders: [{type: text, name: word, config: {contains: [$3]}}]
tasks: ["tasks/*.yaml"]
YAML
	printf 'id: one\nname: one\ninputs: {prompt: say hello}\n' >"$1/tasks/1.yaml"
	printf 'id: two\nname: two\ninputs: {prompt: say hello}\n' >"$1/tasks/2.yaml"
}
skill() {
	mkdir -p "$1"
	printf -- '---\nname: %s\ndescription: d\n---\n' "$2" >"$1/SKILL.md"
}
mkdir w
cd w || exit 1
for s in a b c
do
	skill skills/$s $s
	suite evals/$s $s hello
done
skill .claude/skills/bare bare
suite tests/e2e other hello

# which suites
run "$WAZA" run
is 'all suites of the workspace: status' 0 "$rc"
is 'all suites: one table' 'a b c e2e' \
    "$(printf '%s\n' "$out" | sed -n 's/^  + \([a-z0-9]*\)  .*  100.0%  .*/\1/p' | xargs)"
like 'all suites: the totals' '*4 suites: 4 passed; 8 tasks: 8 passed, 0 failed, 0 errors*PASSED  results: .waza/results' "$out"
like 'a skill without a suite is reported' '*1 skill without a suite*' "$err"
ok 'progress names the suite' grep -q '^.8/8. + other-eval: two ' "$tmp/err"
run "$WAZA" run b
like 'the name of a skill: its suite, with its own report' 'b-eval  skill b*PASSED  results: .waza/results/b-eval-*.json' "$out"
run "$WAZA" run a c -q
like 'several names' '*2 suites: 2 passed*' "$out"
run "$WAZA" run evals/a/eval.yaml evals/a a -q
like 'the same suite is run once' 'a-eval  skill a*' "$out"
run "$WAZA" run evals -q
like 'a directory of suites' '*3 suites: 3 passed*' "$out"
(cd skills/b && "$WAZA" run -q >"$tmp/out" 2>&1)
like 'in the directory of a skill: its suite' 'b-eval  skill b*' "$(cat "$tmp/out")"
run "$WAZA" run skills/c -q
like 'the directory of a skill as argument' 'c-eval  skill c*' "$out"
run "$WAZA" run bares
is 'an unknown name: status' 2 "$rc"
like 'an unknown name: what was searched, and the nearest' \
    '*finding skill "bares": not found in workspace*did you mean "bare"*.claude/skills*' "$err"
run "$WAZA" run bare
like 'a skill without a suite' '*skill "bare" has no suite*waza new eval bare*' "$err"
is 'a skill without a suite: status' 2 "$rc"
run "$WAZA" run no/such.yaml
like 'a path that does not exist' '*no/such.yaml: No such file*' "$err"

# --discover
suite elsewhere/x x hello
run "$WAZA" run --discover -q
like '--discover finds suites anywhere' '*5 suites: 5 passed*' "$out"
run "$WAZA" run --discover=elsewhere -q
like '--discover=DIR' 'x-eval*' "$out"
run "$WAZA" run -q --discover elsewhere
like '--discover DIR' 'x-eval*' "$out"
run "$WAZA" run --discover=false -q b
like '--discover=false' 'b-eval*' "$out"
run "$WAZA" run --discover --strict -q
is '--discover --strict: a skill without a suite' 2 "$rc"
like '--discover --strict: which' '*skill "bare" has no suite*' "$err"
rm -r elsewhere

# selection, errors, status
run "$WAZA" run -q --task one
like '--task in all suites' '*4 tasks: 4 passed*' "$out"
sed -i.bak 's/id: one/id: only/' evals/b/tasks/1.yaml
run "$WAZA" run -q --task only
like 'suites without a selected task are left out' 'b-eval*1 task: 1 passed*' "$out"
run "$WAZA" run -q --task nothing
is 'no task anywhere: status' 2 "$rc"
like 'no task anywhere' 'waza: no task matches --task *' "$err"
run "$WAZA" run --task nothing -d none
is 'no task anywhere: no directory of results' '' "$(printf '%s' "$err" | grep results)$(ls none)"
run "$WAZA" run b --task nothing -d none
like 'no task in one suite: no directory of results' 'waza: no task matches --task *(tasks: *) ' "$err $(ls none)"
rm -r none
suite evals/b b zebra
run "$WAZA" run -q
is 'one suite fails: status' 1 "$rc"
like 'one suite fails: the table' '*4 suites: 3 passed, 1 failed*FAILED  results: *' "$out"
like 'one suite fails: its tasks with the reason' 'Failures*b: one  missing "zebra"*' "$out"
run "$WAZA" run -q --fail-fast
like '--fail-fast starts no further suite' '*c *not run*4 suites: 1 passed, 1 failed, 2 not run*' "$out"
printf 'name: x\nconfig: {workers: many}\n' >evals/c/eval.yaml
run "$WAZA" run -q
is 'a suite that cannot be read: status' 2 "$rc"
is 'a suite that cannot be read: nothing is run' '' "$out"
like 'a suite that cannot be read: its place' '*evals/c/eval.yaml:2:*' "$err"
suite evals/b b hello
suite evals/c c hello

# files
run "$WAZA" run -q -o out/r.json --reporter junit:out/all.xml
is 'one results file per suite, and a summary' \
    'all.xml r_a.json r_b.json r_c.json r_e2e.json r_summary.json' \
    "$(cd out && ls | grep -v journal | xargs)"
is 'the JUnit file has a testsuite each' 4 "$(grep -c '<testsuite ' out/all.xml)"
like 'JUnit: the sums' '*<testsuites tests="8" failures="0" errors="0"*' "$(cat out/all.xml)"
"$WAZA" parse out/r_summary.json >sum.json
ok 'the summary: the keys of the original of a suite' grep -q '"skill_name":"a","models":\[\],"pass_rate":1,"aggregate_score":1,"output_files":\["out/r_a.json"\]' sum.json
ok 'the summary: the keys of the original of all' grep -q '"overall":{"total_skills":4,"total_models":0,"avg_pass_rate":1,"avg_aggregate_score":1,' sum.json
like 'the summary: everything has run' '*"complete":true}}' "$(cat sum.json)"
rm out/r_summary.json
run "$WAZA" run -q -o out/r.json --no-summary
ok '--no-summary' [ ! -e out/r_summary.json ]
run "$WAZA" run -q -d dir --reporter junit:j.xml --model m/1 --model m2
is '--output-dir: status' 0 "$rc"
stamp=$(ls dir)
like '--output-dir: the name is the time' '20??-??-??T??????.???' "$stamp"
is '--output-dir: a directory per suite, a file per model' 'j.xml m-1.json m2.json' \
    "$(cd "dir/$stamp/a" && ls | grep -v journal | xargs)"
ok '--output-dir: the summary' [ -s "dir/$stamp/summary.json" ]
like 'several models: a row each' '*a (m/1)*a (m2)*' "$out"
run "$WAZA" run -q a b --model longer-name --model m2
like 'several models: the longest name is complete' '*a (longer-name)  *b (m2)  *' "$out"
for s in a b
do cat >evals/$s/trigger_tests.yaml <<YAML
skill: $s
should_trigger_prompts: [{prompt: say hello}]
YAML
done
run "$WAZA" run a b -v
is 'trigger tests of many suites name the suite' 'a-eval b-eval' \
    "$(printf '%s\n' "$err" | sed -n 's/^.trigger. [^ ]* \([a-z-]*\): .*/\1/p' | xargs)"
rm evals/[ab]/trigger_tests.yaml
run "$WAZA" run -q -d dir -o x.json
is '--output with --output-dir' 2 "$rc"
printf 'paths: {results: here}\n' >.waza.yaml
run "$WAZA" run -q b
ok 'paths.results: the default of --output-dir' [ -s here/20*/results.json ]
rm -r .waza.yaml here dir out
run "$WAZA" run -q --stream-json
is 'events of all suites' 4 "$(printf '%s\n' "$out" | grep -c '"type":"eval_complete"')"

# one pool: never more than two trials at a time, and two at some time: the first
# trials wait for each other
cat >agent.sh <<'SH'
cat >/dev/null
mkdir "$TOP/busy/$$"
n=$(ls "$TOP/busy" | wc -l)
echo $n >>"$TOP/most"
[ "$n" -lt "$MEET" ] || : >"$TOP/met"
until [ -e "$TOP/met" ]
do $NAP
done
$NAP
rmdir "$TOP/busy/$$"
echo hello
SH
mkdir busy
TOP=$PWD
export TOP
for s in a b c
do suite evals/$s $s hello ", command: [sh, $PWD/agent.sh]"
   sed -i.bak 's/mock/command/' evals/$s/eval.yaml
done
rm -r tests
MEET=2 run "$WAZA" run -q --workers 2
is 'one pool: status' 0 "$rc"
is 'one pool: two trials at a time, never three' 2 "$(sort -n most | tail -n 1 | tr -d ' ')"

# more suites at a time than workers: all of them run to their end
for s in d e f g h i j k
do suite evals/$s $s hello ", command: [sh, $PWD/agent.sh]"
   sed -i.bak 's/mock/command/' evals/$s/eval.yaml
   echo 'hooks: {before_run: [{command: "$RPCPIPE nap"}]}' >>evals/$s/eval.yaml
done
rm -f most met
MEET=3 run "$WAZA" run -q --workers 3
like 'suites that wait for a worker are completed' '*11 suites: 11 passed; 22 tasks: 22 passed*' "$out"
is 'suites that wait for a worker: three trials at a time' 3 "$(sort -n most | tail -n 1 | tr -d ' ')"
for s in d e f g h i j k
do rm -r evals/$s
done

# interrupt and resume
cat >agent.sh <<'SH'
cat >/dev/null
echo x >>"$TOP/asked"
until [ -e "$TOP/go" ]
do $NAP
done
echo hello
SH
asked() { [ "$(wc -l 2>/dev/null <asked)" -ge "$1" ]; }
finished() { [ "$(cat dir/*/*/*.journal 2>/dev/null | grep -c '"status":"passed"')" -ge "$1" ]; }
rm -f asked
"$WAZA" run -q -d dir --workers 2 >partial 2>&1 &
pid=$!
wait_until 120 asked 2
kill -INT $pid
wait $pid
is 'interrupted: status' 130 $?
like 'interrupted: the table has all suites' '*a *interrupted*b *not run*c *not run*3 suites: 0 passed, 1 interrupted, 2 not run*' "$(cat partial)"
"$WAZA" parse dir/*/summary.json >sum.json
like 'interrupted: the summary' '*"suite":"a"*"status":"incomplete"*"suite":"b"*"status":"not_run"*"suites_failed":0,"suites_interrupted":1*"complete":false}}' "$(cat sum.json)"
ok 'interrupted: partial results' [ -s dir/*/a/results.json ]
rm -f asked
touch go
run "$WAZA" run -q -d dir --workers 2 --resume
is 'resumed: status' 0 "$rc"
is 'resumed in the same directory' 1 "$(ls dir | wc -l | tr -d ' ')"
is 'resumed: the six trials' 6 "$(wc -l <asked | tr -d ' ')"
like 'resumed: complete' '*3 suites: 3 passed; 6 tasks: 6 passed*' "$out"
run "$WAZA" run -d dir --resume
like 'nothing to resume: a new directory' '*nothing to resume in dir*' "$err"
is 'nothing to resume: directories' 2 "$(ls dir | wc -l | tr -d ' ')"

run "$WAZA" run -d dir --resume a
like 'other suites are not resumed' '*nothing to resume in dir*' "$err"

# kill -9 in the middle: finished trials are not repeated
rm -rf dir go
cat >agent.sh <<'SH'
cat >/dev/null
# one directory can be made once: three of the agents end
mkdir "$TOP/turn1" || mkdir "$TOP/turn2" || mkdir "$TOP/turn3" || until [ -e "$TOP/go" ]
do $NAP
done
echo hello
SH
"$WAZA" run -q -d dir >/dev/null 2>&1 &
pid=$!
wait_until 120 finished 3
kill -9 $pid
wait $pid 2>/dev/null
touch go
cat >agent.sh <<'SH'
cat >/dev/null
echo x >>"$TOP/again"
echo hello
SH
run "$WAZA" run -q -d dir --resume
is 'killed: resumed' 0 "$rc"
is 'killed: only three trials are run again' 3 "$(wc -l <again | tr -d ' ')"
like 'killed: all are in the results' '*6 tasks: 6 passed*' "$out"

# without a directory of results, journals are in .waza
rm -rf .waza go again once
cat >agent.sh <<'SH'
cat >/dev/null
echo x >>"$TOP/again"
mkdir "$TOP/once" 2>/dev/null && exit 1
echo hello
SH
run "$WAZA" run -q
is 'no directory: an error' 1 "$rc"
run "$WAZA" run -q --retry-errors
is 'no directory: retried' 0 "$rc"
is 'no directory: only one trial is run again' 7 "$(wc -l <again | tr -d ' ')"
run "$WAZA" run --remote a b -o r.json
like 'results of several suites on a server' '*--output is for one suite: call waza run --remote for each suite*' "$err"

# other commands take names, too
run "$WAZA" run -q -o g.json a
run "$WAZA" grade -q --results g.json a
is 'grade NAME' 0 "$rc"
run "$WAZA" grade -q --results g.json zz
like 'grade: an unknown name' '*finding skill "zz"*' "$err"
mkdir -p .agents/skills/hid
skill .agents/skills/hid hid
suite .agents/skills/hid/evals hid hello
run "$WAZA" list
like 'list: the suites of the workspace' '.agents/skills/hid/evals/eval.yaml: hid-eval*evals/a/eval.yaml: a-eval*' "$out"
run "$WAZA" list b
like 'list NAME' 'evals/b/eval.yaml: b-eval (skill b)*' "$out"
run "$WAZA" validate hid
is 'validate NAME' '.agents/skills/hid/evals/eval.yaml: ok (2 tasks)' "$out"
run "$WAZA" validate
like 'validate without arguments: all suites' '*evals/a/eval.yaml: ok*evals/c/eval.yaml: ok*' "$out"
run "$WAZA" validate hidd
is 'validate: an unknown name' 2 "$rc"
printf '{"jsonrpc":"2.0","id":1,"method":"eval.list","params":{"dir":"."}}\n' | "$WAZA" jsonrpc >"$tmp/out" 2>/dev/null
like 'eval.list: the suites of the workspace' '*.agents/skills/hid/evals/eval.yaml*evals/a/eval.yaml*' "$(cat "$tmp/out")"
rm -rf .waza
run "$WAZA" compare a a~1
is 'compare NAME without results: status' 2 "$rc"
like 'compare NAME without results' '*"a" has 0 results in results and .waza/results: write some with waza run a' "$err"
"$WAZA" run -q -d results >/dev/null 2>&1
"$WAZA" run -q -d results a >/dev/null 2>&1
run "$WAZA" compare a~1 a
is 'compare NAME~1 NAME' 0 "$rc"
like 'compare NAME~1 NAME: the files' 'Same results*1  results/20*/a/results.json *2  results/20*/results.json *' "$out"
run "$WAZA" gate --baseline a~1 --current a
is 'gate NAME' 0 "$rc"
run "$WAZA" gate --baseline a --current a
is 'gate NAME with itself' '3 waza: --baseline and --current are the same results: "a~1" names those before them' "$rc $err"
rm -r .agents results

# evals.json of agentskills.io, where a skill has no suite
mkdir -p skills/far/evals
skill skills/far far
printf '{"skill_name": "far", "evals": [{"id": 1, "prompt": "say hello", "expected_output": "hello", "expectations": ["It greets"]}]}' >skills/far/evals/evals.json
run "$WAZA" run -q far
is 'evals.json of a skill without a judge: status' 2 "$rc"
like 'evals.json of a skill without a judge: refused with its place' '*skills/far/evals/evals.json:*judge*' "$err"
run "$WAZA" validate far
like 'validate NAME of evals.json' '*skills/far/evals/evals.json*' "$out"
run "$WAZA" coverage
like 'coverage counts evals.json' '*far *partial *1 *0 *prompt*' "$out"
call='{"jsonrpc":"2.0","id":1,"method":"eval.list","params":{"directory":"."}}'
like 'eval.list has it' '*"path":"skills/far/evals/evals.json"*' \
    "$(printf '%s\n' "$call" | "$WAZA" jsonrpc 2>&1)"
rm -r skills/far

# options of the original
run "$WAZA" run -q a -t one -w 2 -m m1 -c . -f default --no-update-check --cache=false
is 'short options' 0 "$rc"
like 'short options: one task, the model' '*model m1*1 task: 1 passed*' "$out"
run "$WAZA" --no-update-check --debug run -q a
is 'global options before the command' 0 "$rc"
run "$WAZA" run -q a --reporter json
is '--reporter json' 0 "$rc"
run "$WAZA" run a --format github-comment
like '--format github-comment prints Markdown only' '## Waza results: a-eval*' "$out"
run "$WAZA" run a --format xml
like '--format: others are refused' '*--format must be text, json or github-comment, not "xml"*' "$err"
run "$WAZA" run a --auto-file-issue
is 'an option without a counterpart: status' 2 "$rc"
like 'an option without a counterpart: what to use' '*--auto-file-issue is not supported: *gh issue create*' "$err"
run "$WAZA" run -q a --quiet=false --parallel=true
like 'flags with values' '*[[]1/2]*' "$err"
run "$WAZA" run a --quiet=maybe
like 'flags with a bad value' '*--quiet is true or false, not "maybe"*' "$err"
run "$WAZA" run -q a --skip-graders -o s.json
is '--skip-graders: status' 0 "$rc"
like '--skip-graders: nothing has passed' '*0 passed, 0 failed, 2 skipped*NOT GRADED*' "$out"
like '--skip-graders: the status in the results' '*"status":"skipped"*' "$("$WAZA" parse s.json)"
run "$WAZA" grade -q --results s.json a
is '--skip-graders, then grade' 0 "$rc"
like '--skip-graders, then grade: the verdicts' '*2 tasks: 2 passed*' "$out"
run "$WAZA" run -q --skip-graders
like '--skip-graders with many suites' '*3 suites: 0 passed, 3 not graded*NOT GRADED  results: *' "$out"
printf 'exit 3\n' >agent.sh
run "$WAZA" run -q a --skip-graders
is '--skip-graders: an error of the agent' 1 "$rc"
printf 'cat >/dev/null; echo hello\n' >agent.sh
run "$WAZA" run -q a --recommend
like '--recommend needs models' '*give --model or --executor at least twice*' "$err"
run "$WAZA" run -q a --recommend -m x -m y -o rec.json
is '--recommend: status' 0 "$rc"
like '--recommend: the line' '*recommended model: *' "$out"
like '--recommend: the results' '*"metadata":{"recommendation":{"recommended_model":*"weights":{"aggregate_score":0.4,"pass_rate":0.3,"consistency":0.2,"speed":0.1},"all_models":*' "$("$WAZA" parse rec_y.json)"
# as Visual Studio Code calls it
run "$WAZA" --version
is 'waza --version' 0 "$rc"
run "$WAZA" run "$PWD/evals/a/eval.yaml" --context-dir "$PWD/skills/a" --output "$PWD/code.json"
is 'waza run E --context-dir D --output R' 0 "$rc"
ok 'waza run E --context-dir D --output R: the file' [ -s code.json ]

# many suites: the table is complete, descriptors are few
cd "$tmp" || exit 1
mkdir many
cd many || exit 1
i=0
while [ $i -lt 120 ]
do i=$((i + 1)); suite evals/s$i s$i hello
done
run sh -c 'ulimit -n 64; exec "$WAZA" run -q -d out --workers 4 --reporter junit:all.xml'
is '120 suites with 64 descriptors: status' 0 "$rc"
like '120 suites: the table' '*120 suites: 120 passed; 240 tasks: 240 passed*' "$out"
is '120 suites: the JUnit file' 120 "$(grep -c '<testsuite ' all.xml)"
done_testing
