# Several executors, models and skills in one run: the cells of a matrix, their files, the tables and
# the comparisons.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LOG=$tmp/log
export LOG

# asked: what was asked since the last call, as "m1/a 2, m2/b 1"
asked() {
	sort log | uniq -c | awk '{ printf "%s%s %s", s, $2, $1; s = ", " }'
	: >log
}
: >log
# files NAME: what follows NAME in the names of results files
files() {
	for f in "$1".json "$1"_*.json
	do [ -e "$f" ] && printf '%s ' "${f#"$1"}"
	done | sed 's/ $//'
}
# logs model and task; answers "good" with model m1, else the prompt
cat >agent <<'SH'
#!/bin/sh
echo "$WAZA_MODEL/$WAZA_TASK_ID" >>"$LOG"
case $WAZA_MODEL in
m1) echo good ;;
*) cat ;;
esac
SH
chmod +x agent
# suite ID...: tasks that pass with the answer "good"
suite() {
	cat <<YAML
name: e
skill: s
config: {command: [$tmp/agent], timeout_seconds: 60, mock: {output: bad}}
tasks:
YAML
	for id
	do printf -- '- {id: %s, prompt: go, graders: [{type: keyword, keywords: [good]}]}\n' "$id"
	done
}
suite a b >e.yaml

# --executor
run "$WAZA" run -q --executor mock,command --model m1 -o o.json e.yaml
is 'two executors: status' 1 "$rc"
is 'a results file for each, and a summary' '_command.json _mock.json _summary.json' "$(files o)"
is 'its executor' '"command" ' "$(values o_command.json engine_type)"
is 'its cell' '{"name":"command","executor":"command"}' "$("$WAZA" parse o_command.json | grep -o '"cell":{[^}]*}' | cut -d: -f2-)"
like 'a row for each cell' '*
  mock        0/2       0.0%   0.00*
  command     2/2     100.0%   1.00*' "$out"
like 'a table of tasks and cells' '*
  task    mock  command
  a     ? 0.00   ? 1.00
  b     ? 0.00   ? 1.00
*' "$(printf '%s\n' "$out" | sed 's/[✓✗]/?/g')"
like 'a comparison' '*command vs mock: cannot tell: 2 of 2 tasks scored higher, none lower; at least 6 tasks must change in the same direction before chance is unlikely*' "$out"
like 'the report names the summary' '*
FAILED  summary: o_summary.json' "$out"
run "$WAZA" run -q --executor mock,command --model m1 -o o.json --reporter markdown:m.md e.yaml
like 'Markdown: the matrix' '## Waza matrix: e

| Cell | Passed | Pass rate | Score | Duration |
| --- | ---: | ---: | ---: | ---: |
| mock | 0/2 | 0.0% | 0.00 | * |
| command | 2/2 | 100.0% | 1.00 | * |

| Task | mock | command |
| --- | --- | --- |
| a | ❌ 0.00 | ✅ 1.00 |
| b | ❌ 0.00 | ✅ 1.00 |

- **command** vs **mock**: cannot tell*

## Waza results: e*## Waza results: e*' "$(sed 's/^- \*/- */; s/cannot tell.*/cannot tell/' m.md)"
is 'Markdown: once' 1 "$(grep -c 'Waza matrix' m.md)"
run "$WAZA" run -q --executor mock --executor command --model m1 -o p.json e.yaml
is 'repeated' '_command.json _mock.json _summary.json' "$(files p)"
rm log
: >log

# messages
run "$WAZA" run -q --executor mock,nix e.yaml
is 'an unknown executor: status' 2 "$rc"
like 'an unknown executor is named' '*--executor: Invalid executor type: nix*' "$err"
run "$WAZA" run -q --executor mock,mock e.yaml
like 'an executor twice' '2 *--executor mock is given twice: remove one*' "$rc $err"
run "$WAZA" run -q --executor mock, e.yaml
like 'an empty executor' '2 *--executor has an empty value*' "$rc $err"
set --
for i in 1 2 3 4 5 6 7 8 9 10 11
do set -- "$@" --model "m$i"
done
run "$WAZA" run -q --executor mock,command,claude "$@" e.yaml
like 'too many cells' '2 *3 executors with 11 models: more than 32 combinations*' "$rc $err"
run "$WAZA" run -q --executor mock,command --replay r e.yaml
like '--replay uses no executor' '2 *--replay uses no executor*' "$rc $err"
run "$WAZA" run -q --executor mock,command --connect unix:no.sock e.yaml
like 'a server' '2 *several executors cannot run on a server*' "$rc $err"
is 'nothing ran' '' "$(asked)"

# the matrix of a suite
{ suite a b c; echo 'matrix: {executor: [mock, command], model: [m1, m2]}'; } >m.yaml
run "$WAZA" validate m.yaml
is 'a matrix is valid' 0 "$rc"
run "$WAZA" run -q -o m.json m.yaml
is 'a matrix: status' 1 "$rc"
is 'a matrix: files' '_command_m1.json _command_m2.json _mock_m1.json _mock_m2.json _summary.json' "$(files m)"
is 'a matrix: each cell runs' 'm1/a 1, m1/b 1, m1/c 1, m2/a 1, m2/b 1, m2/c 1' "$(asked)"
like 'a matrix: corrected for all pairs' '*p values are corrected for 6 comparisons (Holm)*' "$out"
is 'the summary: cells' '"command, m1" "command, m2" "mock, m1" "mock, m2" ' "$(values m_summary.json name)"
is 'the summary: comparisons' 6 "$("$WAZA" parse m_summary.json | grep -o '"p_corrected"' | grep -c .)"
like 'the summary: tasks' '*"tasks":\[{"id":"a","status":\["failed","failed","passed","failed"],"score":\[0,0,1,0]}*' "$("$WAZA" parse m_summary.json)"
is 'all cells are in each results file' '"command, m1" "command, m2" "mock, m1" "mock, m2" ' "$(values m_mock_m2.json name)"
run "$WAZA" run -q --no-summary -o n.json m.yaml
is '--no-summary' '_command_m1.json _command_m2.json _mock_m1.json _mock_m2.json' "$(files n)"
: >log
run "$WAZA" run -q --executor command --model m3 -o one.json m.yaml
is 'options replace both lists' 'm3/a 1, m3/b 1, m3/c 1' "$(asked)"
is 'a single cell has the plain name' '.json' "$(files one)"
ok 'a single cell is not in the results' sh -c '! grep -q "\"cell\"" one.json'
run "$WAZA" run -q --model m2 -o two.json m.yaml
is 'an option replaces its list alone' '_command.json _mock.json _summary.json' "$(files two)"
: >log
run "$WAZA" run --dry-run m.yaml
like '--dry-run' '*executor mock and command, model m1 and m2,*12 agent calls
  4 combinations: mock, m1; mock, m2; command, m1; command, m2
*' "$out"
run "$WAZA" run --list m.yaml
like '--list' '4 combinations: mock, m1; *' "$out"
run "$WAZA" run --dry-run --format json m.yaml
like '--dry-run --format json' '*"cells":\[{"name":"mock, m1","executor":"mock","model":"m1"},*' "$(printf '%s\n' "$out" | "$WAZA" parse -)"

{ suite a | sed 's|command: \[[^]]*\]|command: [no-such-program]|'; echo 'matrix: {executor: [mock, command]}'; } >d.yaml
run "$WAZA" doctor d.yaml
like 'doctor looks at all executors' '*  ok  mock *  no  command      no-such-program is not installed*' "$out"
{ suite a; echo 'matrix: {executor: [mock, nix]}'; } >v.yaml
like 'eval.validate does as well' '*"valid":false*Invalid executor type: nix*' \
    "$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"eval.validate","params":{"path":"v.yaml"}}' | "$WAZA" serve --stdio 2>/dev/null)"

# what is wrong with a matrix
# finds NAME MATRIX WORDS
finds() {
	{ suite a; echo "matrix: $2"; } >w.yaml
	run "$WAZA" validate w.yaml
	like "$1" "$3" "$rc $out$err"
}
finds 'an unknown executor' '{executor: [mock, nix]}' '2 w.yaml:6:27: Invalid executor type: nix*'
finds 'a value twice' '{model: [a, b, a]}' '2 w.yaml:6:24: "a" is given twice: remove one*'
finds 'an empty list' '{model: []}' '2 *"model" is empty: give at least one value*'
finds 'an unknown key' '{models: [a]}' '0 *warning: unknown key "models" (did you mean "model"?)*'
finds 'too many' '{executor: [mock, command, claude], model: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]}' '2 *"matrix" has more than 32 combinations*'

# skills
mkdir -p skills/one skills/two other
for s in one two
do printf -- '---\nname: %s\ndescription: d\n---\nSay %s.\n' $s $s >skills/$s/SKILL.md
done
printf -- '---\nname: three\ndescription: d\n---\nSay three.\n' >other/SKILL.md
# the answer is all skills that the agent has
cat >s.yaml <<'YAML'
name: k
skill: one
config: {executor: command, command: [sh, -c, 'cat ${WAZA_SKILLS:-.}/SKILL.md || true'], timeout_seconds: 60, skill_directories: [skills]}
matrix: {skill: [one, two, ./other/, none]}
tasks:
- {id: a, prompt: go, graders: [{type: regex, pattern: "Say one"}]}
- {id: b, prompt: go, graders: [{type: regex, pattern: "Say two"}]}
- {id: c, prompt: go, graders: [{type: regex, pattern: "Say three"}]}
YAML
run "$WAZA" run -q -o s.json s.yaml
is 'skills: files' '_none.json _one.json _other.json _summary.json _two.json' "$(files s)"
like 'skills: each cell has one' '*"tasks":\[{"id":"a","status":\["passed","failed","failed","failed"],*{"id":"b","status":\["failed","passed","failed","failed"],*{"id":"c","status":\["failed","failed","passed","failed"]*' "$("$WAZA" parse s_summary.json)"
like 'skills: the names of cells' '*  skill one*  skill two*  skill other*  no skill*' "$out"
is 'skills: the results name it' '  "skill": "three",' "$(grep -m 1 '"skill"' s_other.json)"
run "$WAZA" run -q --no-skills -o t.json s.yaml
is '--no-skills replaces the skills' '.json' "$(files t)"
run "$WAZA" run -q --baseline -o b.json s.yaml
is 'a baseline of each skill, not of none' 3 "$(grep -l baseline_outcome b_*.json | grep -c .)"
sed 's|./other/, none|nix|' s.yaml >x.yaml
run "$WAZA" run -q x.yaml
like 'an unknown skill' '2 *x.yaml:4:28: skill "nix" is not in "skill_directories" (found: one, two), and not a directory with a SKILL.md*' "$rc $err"

# --resume: the trials of a cell continue in their own files
: >log
run "$WAZA" run -q -d runs --budget-time 3600 m.yaml
is '--output-dir: a file for each cell' 'command_m1.json command_m2.json mock_m1.json mock_m2.json summary.json' "$(cd runs/* && echo *.json)"
: >log
run "$WAZA" run -q --resume -o m.json m.yaml
is '--resume: nothing is left to do' '' "$(asked)"
run "$WAZA" run -q --rerun-failed -o m.json m.yaml
is '--rerun-failed: the trials that failed' 'm2/a 1, m2/b 1, m2/c 1' "$(asked)"
run "$WAZA" run -q m.yaml
is 'the default place: a file for each cell' 4 "$(grep -l '"cell"' .waza/results/*.json | grep -c .)"
: >log
run "$WAZA" run -q --resume m.yaml
is 'the default place: --resume' '' "$(asked)"
is 'the default place: no new files' 4 "$(grep -l '"cell"' .waza/results/*.json | grep -c .)"
run "$WAZA" run -q s.yaml
run "$WAZA" run -q --rerun-failed s.yaml
is 'the default place: skills do not resume each other' '' "$err"

# an interrupt in the third of four cells
cat >stopper <<'SH'
#!/bin/sh
echo "$WAZA_MODEL/$WAZA_TASK_ID" >>"$LOG"
case $WAZA_MODEL/$WAZA_TASK_ID in
m1/b) [ -e "$LOG.calm" ] || { kill -INT "$PPID"; exec cat /dev/zero; } ;;
esac
echo good
SH
chmod +x stopper
sed "s|$tmp/agent|$tmp/stopper|" m.yaml >i.yaml
: >log
run "$WAZA" run -q -w 1 -o i.json i.yaml
is 'interrupted: status' 130 "$rc"
is 'interrupted: the last cell did not start' 'm1/a 1, m1/b 1' "$(asked)"
like 'interrupted: the table has what there is' '*
  command, m1     1/3 *not finished*
*INTERRUPTED*' "$out"
: >log.calm
run "$WAZA" run -q -w 1 --resume -o i.json i.yaml
is 'interrupted: --resume does the rest' 'm1/b 1, m1/c 1, m2/a 1, m2/b 1, m2/c 1' "$(asked)"
is 'interrupted: all cells are compared' '"command, m1" "command, m2" "mock, m1" "mock, m2" ' "$(values i_mock_m1.json name)"

# shards
for k in 1 2
do "$WAZA" run -q --output-dir "sh/$k" --shard $k/2 m.yaml >/dev/null 2>&1
done
run "$WAZA" merge -o merged.json sh
is 'merge: status' 1 "$rc"
is 'merge: the same files' '_command_m1.json _command_m2.json _mock_m1.json _mock_m2.json _summary.json' "$(files merged)"
like 'merge: the same comparisons' '*p values are corrected for 6 comparisons (Holm)*' "$out"
for k in 1 2
do "$WAZA" run -q --output-dir "sk/$k" --shard $k/2 s.yaml >/dev/null 2>&1
done
run "$WAZA" merge -o sk.json sk
is 'merge: skills' '_none.json _one.json _other.json _summary.json _two.json' "$(files sk)"
run "$WAZA" run -q --on local --shards 2 -o on.json m.yaml
is '--on: the same files' '_command_m1.json _command_m2.json _mock_m1.json _mock_m2.json _summary.json' "$(files on)"
like '--on: the same comparisons' '*p values are corrected for 6 comparisons (Holm)*' "$out"
is '--on: cells are in the results' '"command, m1" "command, m2" "mock, m1" "mock, m2" ' "$(values on_mock_m1.json name)"

# budget, recommendation, recordings, reports
cat >bu.yaml <<'YAML'
name: bu
skill: s
config: {mock: {output: good, usage: {input_tokens: 80, output_tokens: 20, cost: 0.1}}, command: [echo, '{"output":"good","tool_calls":[],"usage":{"input_tokens":80,"output_tokens":20,"cost":0.1}}'], output_format: json, timeout_seconds: 60, budget: {usd: 0.3}}
matrix: {executor: [mock, command]}
tasks:
- {id: a, prompt: go, graders: [{type: keyword, keywords: [good]}]}
- {id: b, prompt: go, graders: [{type: keyword, keywords: [good]}]}
YAML
run "$WAZA" run -q -o bu.json bu.yaml
is 'executors share the budget of their suite: status' 3 "$rc"
like 'executors share the budget: the rest is skipped' '*
  mock        2/2     100.0%*
  command     1/2              1.00*not finished*
  a     ? 1.00   ? 1.00
  b     ? 1.00        -
*' "$(printf '%s\n' "$out" | sed 's/[✓✗]/?/g')"
like 'a comparison over the tasks of both' '*command vs mock: same results: 1 task scored the same*' "$out"
run "$WAZA" run -q --resume --budget-usd 1 -o bu.json bu.yaml
run "$WAZA" run -q --recommend -o r.json m.yaml
like '--recommend' '*recommended: command, m1 (*best of 4 combinations*' "$out"
ok '--recommend: the results' grep -q '"recommended_cell":"command, m1"' r_mock_m1.json
run "$WAZA" run -q --recommend e.yaml
like '--recommend without a choice' '2 *give --model or --executor at least twice, or add "matrix"*' "$rc $err"
run "$WAZA" run -q --record rec -o r.json m.yaml
is '--record: a directory for each cell' 'command_m1 command_m2 mock_m1 mock_m2' "$(cd rec && echo *)"
: >log
run "$WAZA" run -q --replay rec -o re.json m.yaml
is '--replay: the answers of each cell' '_command_m1.json _command_m2.json _mock_m1.json _mock_m2.json _summary.json ' "$(files re) $(asked)"
like '--replay: the same results' '*
  command, m1     3/3*' "$out"
run "$WAZA" run -q --reporter junit:j.xml --reporter html:h.html --reporter json:j.json -o r.json m.yaml
is 'JUnit: a suite for each cell' 4 "$(grep -c '<testsuite name="e - [a-z]*, m[12]"' j.xml)"
is 'HTML: results of each cell' 4 "$(grep -c 'data-name="[a-z]*, m[12]"' h.html)"
ok 'HTML: comparisons' grep -q '"p_corrected":' h.html
is 'JSON: a file for each cell' '_command_m1.json _command_m2.json _mock_m1.json _mock_m2.json' "$(files j)"
run "$WAZA" grade -o g.json --results r_command_m1.json m.yaml
is 'graded again: status' 0 "$rc"
is 'graded again: the cell stays' '{"name":"command, m1","executor":"command","model":"m1"}' "$("$WAZA" parse g.json | grep -o '"cell":{[^}]*}' | cut -d: -f2-)"
ok 'graded again: the comparisons do not' sh -c '! grep -q p_corrected g.json'

# many suites
mkdir -p x y
suite a b >x/eval.yaml
{ suite a b; echo 'matrix: {executor: [mock, command]}'; } | sed 's/^name: e/name: f/; s/^skill: s/skill: z/' >y/eval.yaml
run "$WAZA" run -q --model m1 -o many.json x y
is 'many suites: files' '_s.json _summary.json _z_command.json _z_mock.json' "$(files many)"
like 'many suites: rows' '* z (mock) * z (command) *command vs mock: *' "$out"

# errors that are not the agent's
{ suite a b c d e f g h i; echo 'matrix: {executor: [mock, command]}'; } |
    sed 's|command: \[[^]]*\]|command: [no-such-program]|' >err.yaml
run "$WAZA" run -q -o err.json err.yaml
like 'a program that is missing does not make it worse' '*
  a     ? 0.00        !
*command vs mock: cannot compare: no task is finished in both
  9 tasks with errors of the infrastructure, a grader or a judge are not compared there*' "$(printf '%s\n' "$out" | sed 's/[✓✗]/?/g')"
like 'nor in the summary' '*"tasks_left_out":9,"comparisons":\[{"cell":"command","than":"mock","verdict":"nothing_to_compare",*' "$("$WAZA" parse err_summary.json)"

# a difference that is significant
ids=
for i in 1 2 3 4 5 6 7 8 9 10
do ids="$ids t$i"
done
# shellcheck disable=SC2086 # many words
{ suite $ids; echo 'matrix: {executor: [mock, command], model: [m1, m2]}'; } >big.yaml
run "$WAZA" run -q -o big.json big.yaml
like 'significant after the correction' '*command, m1 vs mock, m1: better: 10 of 10 tasks scored higher, none lower; this is unlikely to be chance (p = 0.012)*' "$out"
like 'and in the summary' '*"cell":"command, m1","than":"mock, m1","verdict":"better",*"p_value":0.001953125,"p_corrected":0.01171875}*' "$("$WAZA" parse big_summary.json)"
done_testing
