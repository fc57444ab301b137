# waza merge: shards in any order become the results of one run.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ
TMPDIR=$tmp/tmp
export TMPDIR
mkdir tmp skill

printf -- '---\nname: speller\ndescription: Spells words.\n---\nSpell.\n' >skill/SKILL.md
cat >eval.yaml <<'YAML'
name: whole
skill: speller
config:
  executor: mock
  trials_per_task: 3
  task_pass_threshold: 0.5
  pass_threshold: 0.4
  mock: {usage: {input_tokens: 10, output_tokens: 3}, cost: 0.001}
  skill_directories: [skill]
metrics: [{name: task_completion, weight: 1, threshold: 0.1}, {name: trigger_accuracy, weight: 0.3, threshold: 0.1}]
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: a, prompt: yes a, group: g1}
  - {id: b, name: Second, prompt: no b, group: g2, graders: [{type: text, name: two, weight: 3, config: {contains: [b]}}]}
  - {id: c, prompt: "yes \"c\" ü ##[x", group: g1}
  - {id: d, prompt: yes d}
  - {id: e, prompt: yes e, mock: {error: it broke}}
  - {id: f, prompt: no f, group: g2}
  - {id: g, prompt: yes g}
YAML
cat >trigger_tests.yaml <<'YAML'
skill: speller
should_trigger_prompts:
  - {prompt: hit, confidence: high, mock: {skills: [other, speller]}}
  - {prompt: miss, confidence: medium, mock: {skills: [Speller, spell]}}
should_not_trigger_prompts:
  - {prompt: wrong, mock: {skills: [speller]}}
YAML

# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": *"[^"]*"/"eval_id": ""/g
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
# text FILE: a report without durations, and without the places of graders, which
# are not in results
text() {
	tr -s ' \n' '  ' <"$1" | sed 's/ *(*[a-z_/]*\.yaml:[0-9]*)*//g; s/[0-9.][0-9.]*m*s\b//g
		s/[wm]\.json//; s/ *$//'
}
# same NAME OPTION ...: the merged shards equal the whole run
same() {
	name=$1 n=$2
	shift 2
	rm -rf s
	mkdir s
	"$WAZA" run -q -o w.json "$@" >w.txt
	want=$?
	for k in $(seq "$n" -1 1); do
		"$WAZA" run -q -o "s/x$k.json" --shard "$k/$n" $how "$@" >/dev/null
	done
	"$WAZA" merge -o m.json $order >m.txt 2>err
	is "$name: status" "$want" "$?"
	is "$name: nothing on stderr" '' "$(cat err)"
	is "$name: results" '' "$(plain w.json >w; plain m.json | diff w - | head -n 5)"
	is "$name: report" '' "$(text w.txt | tr ' ' '\n' >w; text m.txt | tr ' ' '\n' | diff w - | head -n 9)"
}
how='' order=s
same 'two shards' 2
same 'more shards than tasks' 12
same 'with a baseline' 3 --baseline
how='--shard-by hash' order='s/x2.json s/x3.json s/x1.json'
same 'by hash, in another order' 3 --baseline
how=--shard-trials
same 'trials' 3 --baseline
how="--shard-by time=$tmp/w.json"
same 'by time' 3
how='--shard-trials --shard-by hash'
same 'trials by hash' 3 --trials 10
how= order=s
same 'one shard' 1
same 'a seed' 2 --seed 7
same 'the first tasks' 2 --limit 4
same 'some tasks' 2 --task '[a-c]'
same 'no triggers' 2 --no-triggers --trials 1
same 'without grading' 2 --skip-graders
same 'recorded answers' 2 --executor mock --model gpt-4o

# the same reporters
"$WAZA" run -q -o w.json --reporter junit:w.xml --reporter csv:w.csv >/dev/null
for k in 1 2; do
	"$WAZA" run -q -o "s/x$k.json" --shard $k/2 >/dev/null
done
run "$WAZA" merge s/x1.json s/x2.json --reporter junit:m.xml --reporter csv:m.csv
is 'reporters: csv' "$(sed 's/,[0-9]*$//; s/T[0-9:.]*Z//g' w.csv | cut -d, -f1-6)" \
    "$(sed 's/,[0-9]*$//; s/T[0-9:.]*Z//g' m.csv | cut -d, -f1-6)"
# cases FILE: what a JUnit file contains, without times and places
cases() {
	sed 's/time[a-z]*="[^"]*"//g; s/\(file\|line\)="[^"]*"//g; /run_id/d; s/[a-z_]*\.yaml:[0-9]*//; s/ *$//' "$1"
}
cases w.xml >w
is 'reporters: junit' '' "$(cases m.xml | diff w - | head -n 5)"

# pairwise comparisons with the baseline, by a judge that prefers long answers; its
# words cannot be part of the random marks around them, which are hexadecimal
mkdir pair
cat >pair/agent.sh <<'SH'
case ${WAZA_SKILLS-}:$WAZA_TASK_ID$WAZA_TRIAL in
:*)	echo an answer ;;
*:two*) echo poor ;;
*:one2) echo an answer ;;
*)	echo a long and good answer ;;
esac
SH
cat >pair/judge.sh <<'SH'
first=$(cat)
case ${first%%BEGIN ANSWER B*} in
*'a long and'*) echo '{"winner": "A", "magnitude": "much-better", "reasoning": "it is long"}' ;;
*poor*)	echo '{"winner": "B", "magnitude": "much-better", "reasoning": "that is not poor"}' ;;
*)	case $first in
	*poor*)	echo '{"winner": "A", "magnitude": "much-better", "reasoning": "it is not poor"}' ;;
	*'a long and'*) echo '{"winner": "B", "magnitude": "much-better", "reasoning": "that is long"}' ;;
	*)	echo '{"winner": "tie", "magnitude": "equal", "reasoning": "both"}' ;;
	esac ;;
esac
SH
cat >pair/eval.yaml <<'YAML'
name: pair
skill: s
baseline: true
config: {executor: command, command: [sh, agent.sh], skill_directories: [../skill], judge: {command: [sh, judge.sh]}, trials_per_task: 3}
tasks:
  - {id: one, prompt: go, graders: [{type: prompt, name: better, mode: pairwise, prompt: Which is better?}]}
  - {id: two, prompt: go, graders: [{type: prompt, name: better, mode: pairwise, prompt: Which is better?}]}
  - {id: three, prompt: go, graders: [{type: text, config: {contains: [answer]}}]}
YAML
cp -R pair/*.sh .
same 'pairwise' 2 pair/eval.yaml
like 'pairwise: both sides win' '*"winner": "skill"*"winner": "baseline"*' "$(cat m.json)"
how=--shard-trials
same 'pairwise, trials' 2 pair/eval.yaml
how=

# several models, several suites
mkdir two
sed 's/name: whole/name: other/; s/skill: speller/skill: other/; /skill_directories/d' eval.yaml >two/eval.yaml
rm -rf s
"$WAZA" run -q -o w.json --model m1 --model m2 eval.yaml two/eval.yaml >w.txt
for k in 1 2 3; do
	"$WAZA" run -q --output-dir "s/$k" --shard $k/3 --model m1 --model m2 eval.yaml two/eval.yaml >/dev/null 2>&1
done
run "$WAZA" merge -o m.json s
is 'suites and models: status' 0 "$rc"
for f in speller_m1 speller_m2 other_m1 other_m2; do
	is "suites and models: $f" '' "$(plain "w_$f.json" >w; plain "m_$f.json" | diff w - | head -n 5)"
done
ok 'suites and models: a summary' [ -s m_summary.json ]
rm -f w*.json m*.json

# what is missing is named, and nothing is written
rm -rf s && mkdir s
for k in 1 2 3; do
	"$WAZA" run -q -o "s/$k.json" --shard $k/3 >/dev/null
done
run "$WAZA" merge -o m.json s/1.json s/3.json
is 'a missing shard: status 2' 2 "$rc"
is 'a missing shard is named' 'waza: missing: shard 2/3' "$(printf '%s\n' "$err" | head -n 1)"
ok 'a missing shard: nothing is written' [ ! -e m.json ]
run "$WAZA" merge -o m.json --allow-missing s/1.json s/3.json
is '--allow-missing: status 1' 1 "$rc"
like '--allow-missing: the shard is named' '*missing: shard 2/3*' "$err"
like '--allow-missing: a task of the missing shard has a name' '* task [0-9]* not run*' "$out"
like '--allow-missing: the verdict' '*[0-9] not run*INTERRUPTED*' "$out"
like '--allow-missing: the results are not complete' '*"status": "cancelled"*' "$(tail -n 3 m.json)"
run "$WAZA" gate --baseline m.json --current m.json
like '--allow-missing: gate refuses the results' '3 waza: m.json: the run is not complete (status: cancelled): *' "$rc $err"
run "$WAZA" gate --baseline new.json --current m.json --update-baseline --min-trials 1
like '--allow-missing: the results do not become a baseline' '3 *the run in m.json is not complete' "$rc $err"
is '--allow-missing: the tasks that there are' 'a c d f g ' "$(sed -n 's/.*"test_id": "\(.*\)",/\1/p' m.json | tr '\n' ' ')"
rm m.json
sed '/"test_id": "c"/,/"stats"/s/"run_number":2/"run_number":3/' s/3.json >x.json
run "$WAZA" merge -o m.json s/1.json s/2.json x.json
like 'a missing trial is named' '2 *missing: task "c" of shard 3/3: trial 2*' "$rc $err"
ok 'a missing trial: nothing is written' [ ! -e m.json ]

# what does not belong together
# refused NAME WORDS FILE ...: status 2, the words, nothing written
refused() {
	name=$1 words=$2
	shift 2
	run "$WAZA" merge -o m.json "$@"
	like "$name" "2 *$words*" "$rc $err"
	ok "$name: nothing is written" [ ! -e m.json ]
}
cp eval.yaml keep.yaml
printf '  - {id: h, prompt: yes h}\n' >>eval.yaml
"$WAZA" run -q -o more.json --shard 3/3 >/dev/null
refused 'another suite' 'another fingerprint: the suite or a file that it names' s/1.json s/2.json more.json
cp keep.yaml eval.yaml
echo 'Spell better.' >>skill/SKILL.md
"$WAZA" run -q -o skill.json --shard 3/3 >/dev/null
refused 'another skill' 'another fingerprint' s/1.json s/2.json skill.json
printf -- '---\nname: speller\ndescription: Spells words.\n---\nSpell.\n' >skill/SKILL.md
"$WAZA" run -q -o n.json --shard 3/4 >/dev/null
refused 'another number of shards' 'another number of shards (4, not 3)' s/1.json s/2.json n.json
"$WAZA" run -q -o t.json --shard 3/3 --trials 2 >/dev/null
refused 'another number of trials' 'another number of trials (2, not 3)' s/1.json s/2.json t.json
"$WAZA" run -q -o t.json --shard 3/3 --timeout 7 >/dev/null
refused 'another time limit' 'another time limit' s/1.json s/2.json t.json
"$WAZA" run -q -o h.json --shard 3/3 --shard-by hash >/dev/null
refused 'another division' 'another division of tasks' s/1.json s/2.json h.json
"$WAZA" run -q -o k.json --shard 3/3 --no-skills >/dev/null
refused 'a shard without skills' 'k.json: does not belong to s/1.json: it ran without skills' s/1.json s/2.json k.json
"$WAZA" run -q -o w.json >/dev/null
refused 'a whole run' 'whole run, not of a shard' s/1.json s/2.json w.json
refused 'a copy' 'is a copy of s/3.json' s s/3.json
cp s/1.json copy.json
refused 'a copy with another name' 'is a copy of copy.json' copy.json s
refused 'no file' 'none.json' s/1.json none.json
refused 'a suite' 'neither a results file nor a journal' s/1.json eval.yaml
mkdir empty
refused 'an empty directory' 'has no results of shards' empty
: >zero.json
refused 'an empty file' 'is empty' zero.json
sed 's/"version": 1,/"version": 2,/' s/3.json >v.json
refused 'a newer shard' 'another version of waza (shard version 2, not 1)' s/1.json v.json
sed 's/"schema_version": "1.0"/"schema_version": "2.0"/' s/3.json >v.json
refused 'a newer file' 'another version of waza (schema_version "2.0"' s/1.json v.json
size=$(wc -c <s/3.json)
for n in 300 900 2000 $((size / 2)) $((size - 3)); do
	head -c "$n" s/3.json >cut.json
	refused "cut off after $n bytes" 'cut off at byte' s/1.json s/2.json cut.json
done
sed 's/"index": 2,/"index": 99999999999,/' s/3.json >bad.json
refused 'an index out of range' 'is not in the run' s/1.json s/2.json bad.json
sed 's/"index": 2,//' s/3.json >bad.json
refused 'a task without an index' 'a task without an index' s/1.json s/2.json bad.json
sed 's/"index": 2,/"index": -2,/' s/3.json >bad.json
refused 'an index below 0' 'a task without an index' s/1.json s/2.json bad.json
sed 's/"run_number":/"run":/' s/3.json >bad.json
refused 'a trial without a number' 'a trial without a number' s/1.json s/2.json bad.json
echo '{"waza_journal":1,"key":"x"}' >bad.journal
refused 'a journal with another key' 'another version of waza (journal version 1' s/1.json s/2.json bad.journal
sed 's/"tasks": 7,/"tasks": 1e18,/' s/3.json >bad.json
refused 'a number of tasks out of range' 'out of range' bad.json
sed 's/"k": 3,/"k": 4,/' s/3.json >bad.json
refused 'a shard out of range' 'not K of N' bad.json
sed "s/\"final_output\":\"/&$(printf '\001')/" s/3.json >bad.json
refused 'a trial that is not JSON' 'is not JSON' s/1.json s/2.json bad.json
is 'no temporary file is left' '' "$(ls tmp)"

# two suites of one skill
mkdir twins
for n in left right; do
	printf 'name: %s\nskill: s\nconfig: {executor: mock}\ntasks: [{id: a, prompt: yes, expected: {output_contains: [yes]}}]\n' "$n" >twins.yaml
	"$WAZA" run -q -o "twins/$n.json" --shard 1/1 twins.yaml >/dev/null
done
run "$WAZA" merge -q -o both.json twins
is 'two suites of one skill: files by the names of the suites' '0 both_left.json both_right.json' "$rc $(echo both_[lr]*.json)"

# gate and compare point to merge
run "$WAZA" gate --baseline w.json --current s/1.json
like 'gate: a shard' '*waza merge*' "$err"
run "$WAZA" compare s/1.json s/2.json
like 'compare: shards' '*waza merge*' "$err"

# a trial that two runs did is taken once
"$WAZA" run -q -o again.json --shard 2/3 >/dev/null
"$WAZA" run -q -o w.json >/dev/null
# starts FILE: when the trials of task b started
starts() {
	sed -n '/"test_id": "b"/,/"stats"/s/.*"started_at":"\([^"]*\)".*/\1/p' "$1"
}
run "$WAZA" merge -q -o m.json s again.json
is 'a requeued shard: the same results' '1' "$(plain w.json >w; plain m.json | diff w - >/dev/null; echo $((1 - $?)))"
is 'a requeued shard: the newest trials' "$(starts again.json)" "$(starts m.json)"
run "$WAZA" merge -q -o m.json --prefer first again.json s
is '--prefer first' "$(starts s/2.json)" "$(starts m.json)"
run "$WAZA" merge -q -o m.json --prefer oldest s
like '--prefer: a wrong word' '2 *newest or first*' "$rc $err"

# shards that run, or were killed: their journals; then resumed
cat >eval.yaml <<'YAML'
name: kill
skill: s
config: {executor: command, command: [sh, agent.sh], trials_per_task: 2}
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: one, prompt: x}
  - {id: slow, prompt: x}
  - {id: flaky, prompt: x}
  - {id: crash, prompt: x}
  - {id: none, prompt: x}
YAML
rm -f trigger_tests.yaml
cat >agent.sh <<SH
case \$WAZA_TASK_ID\$WAZA_TRIAL in
slow2|none2) while [ -f "$tmp/hold" ]; do sleep 0.05; done ;;
esac
case \$WAZA_TASK_ID\$WAZA_TRIAL in
flaky2|none*) echo no ;;
crash*) echo boom >&2; exit 3 ;;
*) echo "yes \$WAZA_TASK_ID" ;;
esac
SH
"$WAZA" run -q -o w.json >/dev/null
rm -rf s && mkdir s
: >hold
"$WAZA" run -q -w 1 -o s/1.json --shard 1/2 >/dev/null 2>&1 &
one=$!
"$WAZA" run -q -w 1 -o s/2.json --shard 2/2 >/dev/null 2>&1 &
two=$!
# lines FILE N: wait for the Nth trial in a journal
lines() {
	i=0
	until [ "$(cat "$1" 2>/dev/null | grep -c '"trial"')" -ge "$2" ]; do
		i=$((i + 1))
		[ $i -lt 600 ] || break
		sleep 0.1
	done
}
lines s/1.json.journal 5
lines s/2.json.journal 1
run "$WAZA" merge -o m.json s
like 'shards that run: the missing trials' '2 *missing: task "slow" of shard 2/2: trial 2*missing: task "crash" of shard 2/2: trial 1, 2*missing: task "none" of shard 1/2: trial 2*' "$rc $err"
kill -9 $one $two
wait $one $two 2>/dev/null
rm hold
rm -f s/1.json		# killed before it was written
printf '{"check":"0000000000000000","task":"none","index":4,"trial":2,"status":"passed","score":1,"weighted":1,"run":{"run_number":2,"status":"passed"}}\n' >>s/2.json.journal
run "$WAZA" merge -o m.json --allow-missing s/1.json s/2.json
like 'killed shards, without one results file' '1 *missing: task "none" of shard 1/2: trial 2*1 line of journals was not written by waza*' "$rc $err"
is 'killed shards: all trials of the journals' 6 "$(grep -c '"run_number"' m.json)"
rm -f m.json
for k in 1 2; do
	"$WAZA" run -q --resume -o s/$k.json --shard $k/2 >/dev/null 2>&1
done
run "$WAZA" merge -o m.json s
is 'killed and resumed: status' 1 "$rc"
is 'killed and resumed: results' '' "$(plain w.json >w; plain m.json | diff w - | head -n 5)"

# many trials, of which passed tasks are not in memory for the report
cat >eval.yaml <<'YAML'
name: many
skill: s
config: {executor: mock}
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: one, prompt: yes}
  - {id: two, prompt: yes}
YAML
rm -rf s && mkdir s
"$WAZA" run -q --trials 10001 -o w.json >w.out
for k in 1 2; do
	"$WAZA" run -q --trials 10001 -o s/$k.json --shard $k/2 >/dev/null
done
run "$WAZA" merge -o m.json s
like 'many trials: the report' '0 *2 tasks: 2 passed, 0 failed*PASSED*' "$rc $out"
is 'many trials: results' '' "$(plain w.json >w; plain m.json | diff w - | head -n 5)"

# a skill with the name of the file for all suites
for k in summary other; do
	mkdir "$k"
	printf 'name: %s\nskill: %s\nconfig: {executor: mock}\ntasks: [{id: a, prompt: yes, expected: {output_contains: [yes]}}]\n' \
	    "$k" "$k" >"$k/eval.yaml"
done
rm -rf s && mkdir s
run "$WAZA" run -q summary other -o s/r.json
is 'a skill named summary: its results and the summary' '0 r_other.json r_summary-2.json r_summary.json' \
    "$rc $(ls s | tr '\n' ' ' | sed 's/ $//')"
is 'a skill named summary: its results' '"summary" ' "$(values s/r_summary-2.json eval_name)"
rm s/*
for k in 1 2; do
	"$WAZA" run -q summary other --no-summary -o s/$k.json --shard $k/2 >/dev/null
done
run "$WAZA" merge -o m.json s
is 'merged with a skill named summary' '0 "summary" ' "$rc $(values m_summary-2.json eval_name)"
ok 'merged with a skill named summary: the summary' [ -s m_summary.json ]
is 'no temporary file is left' '' "$(ls tmp)"
done_testing
