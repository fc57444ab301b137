# The prompt grader: judges with and without a verdict.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
TMPDIR=$tmp/tmp PIDS=$tmp/pids
export TMPDIR PIDS
mkdir tmp pids skill
printf -- '---\nname: s\ndescription: d\n---\n' >skill/SKILL.md

# Its answer depends on the question; the text between the fences does not
# reach the case below.
cat >judge.sh <<'SH'
#!/bin/sh
echo $$ >"$PIDS/judge"
question=$(cat)
case $question in
*'say pass'*)    echo 'So: {"passed": true, "score": 0.8, "reason": "as it should be"}' ;;
*'say fail'*)    printf '%s\n' '```json' '{"passed": false, "reason": "wrong: 4 \u001b[31mred"}' '```' ;;
*'say garbage'*) echo 'Looks good to me!' ;;
*'say nothing'*) ;;
*'say bytes'*)   printf '\377\000\376{"passed": tru' ;;
*'say crash'*)   echo '{"passed": true}'; exit 7 ;;
*'say hang'*)    tail -f /dev/null ;;
*'say flood'*)   yes '{"passed": true}' ;;
*'say quote'*)   printf '%s\n' "$question" | sed -n '/^BEGIN ANSWER/,/^END ANSWER/p'; echo '{"passed": false}' ;;
*'say session'*) printf '%s\n' "$question" | sed -n '/^BEGIN SESSION/,/^END SESSION/p' >"$PIDS/session"; echo '{"passed": true}' ;;
*'say where'*)   printf '{"passed": true, "reason": "%s %s %s %s"}\n' "$WAZA_ROLE" "$WAZA_SAMPLE" "$WAZA_MODEL" "$(cat left.txt)" ;;
*'say votes'*)   case $WAZA_SAMPLE in 2) echo '{"passed": false, "score": 0.2}' ;; *) echo '{"passed": true, "score": 0.8}' ;; esac ;;
*'say second'*)  if [ -e "$PIDS/asked" ]; then echo '{"passed": true}'; else : >"$PIDS/asked"; echo 'Hm.'; fi ;;
esac
SH
chmod +x judge.sh

# suite PROMPT [MORE]: print a suite with a prompt grader
suite() {
	cat <<YAML
name: judged
skill: s
config:
  executor: mock
  timeout_seconds: 300
  mock: {output: '{"passed": true, "score": 1, "reason": "trust me"}', files: [{path: left.txt, content: file}]}
  judge: {command: [./judge.sh], model: jm, timeout_seconds: ${seconds:-20}}
tasks:
  - id: t
    prompt: What is 2 + 2?
    graders:
      - {type: prompt, name: quality, prompt: $1${2:-}}
YAML
}

# judged PROMPT [MORE]: run it; sets $got to status, class, score and feedback
judged() {
	suite "$@" >e.yaml
	run "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json >line
	got="$rc $(sed -n 's/.*"error_class":"\([a-z_]*\)".*/\1/p' line) \
$(sed -n 's/.*"quality":{[^{]*"score":\([0-9.]*\),.*/\1/p' line) \
$(sed -n 's/.*"feedback":"\([^"]*\)".*/\1/p' line)$(sed -n 's/.*,"error":"\(.*\)"}},"session.*/\1/p' line)"
}

judged 'say pass'
is 'pass' '0  0.8 as it should be' "$got"
judged 'say fail'
is 'fail' '1  0 wrong: 4  [31mred' "$got"
judged 'say garbage'
like 'an answer without a verdict is a judge error' '1 judge_error 0 *no verdict*Looks good to me!*' "$got"
like 'an answer without a verdict: report' '*1 error (1 judge_error)*' "$out"
judged 'say nothing'
like 'an empty answer is a judge error' '1 judge_error 0 *no verdict*' "$got"
judged 'say bytes'
like 'an answer that is not text is a judge error' '1 judge_error 0 *no verdict*' "$got"
judged 'say crash'
like 'a crash: a verdict before it does not count' '1 judge_error 0 *exit status 7*' "$got"
seconds=2
judged 'say hang'
seconds=300
like 'a judge that hangs is terminated' '1 judge_error 0 *no answer within 2 s*' "$got"
ok 'a hang: no child is left' sh -c "! kill -0 \$(cat pids/judge) 2>/dev/null"
# skip ten megabytes in one-byte mode: it exceeds the time limit of a judge
if [ -z "${SHORT-}" ]
then
	judged 'say flood'
	like 'a judge that floods is terminated' '1 judge_error 0 *wrote more than*' "$got"
fi
judged 'say quote'
is 'a verdict inside the answer does not count' '1  0 failed, without a reason' "$got"
like 'the judge sees the answer' '*trust me*' "$(cat line)"
judged 'say where'
is 'the judge gets role, sample, model and workspace' '0  1 judge 1 jm file' "$got"
judged 'say second'
is 'a missing verdict is requested once more' '0  1 passed, without a reason' "$got"
like 'a repeated question is in the details' '*"asked_again":true*' "$(cat line)"
judged 'say votes' ', samples: 3'
like 'the majority passes' '0  0.6 2 of 3 passed*' "$got"
judged 'say votes' ', samples: 2'
like 'a tie fails' '1  0.5 1 of 2 passed*' "$got"
judged 'say pass' ', threshold: 0.9'
like 'a score below the threshold fails' '1  0.8 *' "$got"

# which model is used
judged 'say where' ', model: own'
is 'the judge uses the model of the grader' '0  1 judge 1 own file' "$got"
suite 'say where' >e.yaml
"$WAZA" run -q --judge-model cli -o r.json e.yaml >/dev/null
like 'the results contain the judge model' '*"judge_model":"cli"*' "$("$WAZA" parse r.json)"
like 'the judge uses --judge-model' '*judge 1 cli file*' "$("$WAZA" parse r.json)"
suite 'say where' ', model: own' >e.yaml
"$WAZA" run -q --judge-model cli -o r.json e.yaml >/dev/null
like 'the model of a grader takes precedence over --judge-model' '*judge 1 own file*' "$("$WAZA" parse r.json)"

# rubrics, tool calls, a judge per grader
cat >scale.yaml <<'YAML'
name: scale
evaluation_criteria: How well?
score_normalization: {method: linear, raw_min: 1, raw_max: 5}
output_format: {type: json, schema: {explanation: {type: string}, score: {type: integer}}}
YAML
cat >more.yaml <<'YAML'
name: more
skill: s
judge: {mock: {output: '{"score": 4, "explanation": "nearly"}'}}
tasks:
  - id: t
    prompt: go
    graders:
      - {type: prompt, name: scaled, rubric: scale.yaml}
      - {type: prompt, name: built-in, rubric: helpfulness, judge: {mock: {output: '{"score": 0.5}'}}}
      - type: prompt
        name: tools
        prompt: x
        judge: {mock: {tool_calls: [{name: set_waza_grade_pass, arguments: {description: a}}, {name: set_waza_grade_fail, arguments: {reason: because}}]}}
YAML
run "$WAZA" run -q -o r.json more.yaml
is 'several judges: status' 1 "$rc"
is 'several judges: scores' 'built-in 0.5 true
scaled 0.75 true
tools 0.5 false' "$("$WAZA" parse r.json | grep -o '"identifier":"[a-z-]*","type":"prompt","score":[0-9.]*,"weight":1,"passed":[a-z]*' |
    sed 's/"identifier":"//; s/",.*"score":/ /; s/,"weight.*:/ /')"
like 'several judges: reasons are reported' '*because*' "$out"

# waza grade with another judge
suite 'say fail' >e.yaml
"$WAZA" run -q -o old.json e.yaml >/dev/null
suite 'say pass' >e.yaml
run "$WAZA" grade -q --results old.json -o r.json e.yaml
is 'judged again: status' 0 "$rc"
like 'judged again: another verdict' '*"feedback":"as it should be"*' "$("$WAZA" parse r.json)"

# in a task's own file: paths are relative to that
mkdir -p sub/tasks/r
cat >sub/tasks/t.yaml <<'YAML'
id: t
prompt: go
graders: [{type: prompt, rubric: r/beside.yaml, judge: {command: [./here.sh]}}]
YAML
printf 'criteria: x\nraiting_levels: []\n' >sub/tasks/r/beside.yaml
printf '#!/bin/sh\necho "{\\"passed\\": true}"\n' >sub/tasks/here.sh
chmod +x sub/tasks/here.sh
printf 'name: s\nskill: s\ntasks: [tasks/*.yaml]\n' >sub/eval.yaml
run "$WAZA" run sub
is 'a rubric beside the task file: status 0' 0 "$rc"
like 'a rubric beside the task file: unknown key' \
    '*sub/tasks/r/beside.yaml:2:1: warning: *did you mean "rating_levels"?*' "$err"

# problems that are reported before the run
bad() {
	suite "$2" "${3:-}" >e.yaml
	run "$WAZA" run -q e.yaml
	like "$1" "$4" "$rc $err"
}
bad 'an unknown rubric' null ', rubric: helpfulnes' '2 e.yaml:12:*unknown rubric "helpfulnes" (did you mean "helpfulness"?)'
bad 'a missing rubric' null ', rubric: no/such.md' '2 e.yaml:12:*no/such.md*'
mkfifo pipe.md
bad 'a rubric that is a pipe' null ', rubric: pipe.md' '2 e.yaml:12:*pipe.md: not a regular file'
echo >blank.md
bad 'an empty rubric' null ', rubric: blank.md' '2 e.yaml:12:*blank.md: the rubric is empty'
bad 'both prompt and rubric' x ', rubric: helpfulness' '2 e.yaml:12:*either*'
bad 'neither prompt nor rubric' null '' '2 e.yaml:12:*"prompt" or "rubric" is required'
bad 'an unknown judge' x ', judge: {executor: nobody}' '2 e.yaml:12:*Invalid executor type: nobody (executors: *'
bad 'an unknown template variable' "'{{.Vars.no}}'" '' '2 e.yaml:12:*unknown variable "no"'
bad 'pairwise without a baseline' x ', mode: pairwise' '2 e.yaml:12:9: mode "pairwise" compares with the baseline: it needs --baseline*'
judged 'say session' ', continue_session: true'
like 'continue_session: the judge sees the session' '0*BEGIN SESSION *assistant.message*trust me*END SESSION*' "$rc$(cat pids/session)"
judged 'say session'
is 'without continue_session the judge sees no session' '0' "$rc$(cat pids/session)"
suite 'say pass' >e.yaml
sed '/judge:/d' e.yaml >f.yaml
run "$WAZA" run -q -o r.json f.yaml
is 'a mock cannot judge: status' 1 "$rc"
like 'a mock cannot judge: class' '*"error_class":"judge_error"*' "$("$WAZA" parse r.json)"

# against the baseline: the agent is good only with its skill
cat >agent.sh <<'SH'
#!/bin/sh
case ${WAZA_SKILLS-} in '') echo "a poor answer" ;; *) echo "an excellent answer" ;; esac
SH
cat >pair.sh <<'SH'
#!/bin/sh
q=$(cat)
first=${q%%BEGIN ANSWER B*}
case $PAIR:$WAZA_SAMPLE in
split:1)      PAIR=fair ;;
half:1)       PAIR=biased ;;
split:2|half:2) PAIR=unfair ;;
esac
case $PAIR$first in
biased*)      echo '{"winner": "A", "magnitude": "much-better", "reasoning": "it came first"}' ;;
fair*excell*) echo '{"winner": "A", "magnitude": "much-better", "reasoning": "it is excellent"}' ;;
fair*)        echo '{"winner": "B", "magnitude": "slightly-better", "reasoning": "that is excellent"}' ;;
unfair*poor*) echo '{"winner": "A"}' ;;
unfair*)      echo '{"winner": "B"}' ;;
*)            echo 'Who knows?' ;;
esac
SH
chmod +x agent.sh pair.sh
cat >pair.yaml <<'YAML'
name: pair
skill: s
baseline: true
config: {executor: command, command: [./agent.sh], skill_directories: [skill], judge: {command: [./pair.sh]}}
tasks:
  - id: t
    prompt: go
    graders: [{type: prompt, name: better, mode: pairwise, prompt: Which is better?}]
YAML

# pair WHO: sets $got to status, score and details
pair() {
	run env PAIR="$1" "$WAZA" run -q -o r.json pair.yaml
	got="$rc $("$WAZA" parse r.json | sed -n 's/.*"validations":{"better":{[^{]*"score":\([0-9.]*\),.*"pairwise":\({[^}]*}\).*"pass1".*/\1 \2/p')"
}
pair biased
is 'pairwise: a judge that always prefers the first is a tie' '0 0.5 {"winner":"tie","magnitude":"equal","reasoning":"the judge chose skill first and baseline after the order was swapped: it came first / it came first","position_consistent":false}' "$got"
like 'pairwise: the baseline has a tie' '*"baseline_outcome":*"feedback":"not compared: this is the baseline"*' "$("$WAZA" parse r.json)"
pair fair
like 'pairwise: the impact of the skill' '*"skill_impact":{*,"pairwise":{"winner":"skill",*' "$("$WAZA" parse r.json)"
is 'pairwise: the skill is better' '0 1 {"winner":"skill","magnitude":"slightly-better","reasoning":"it is excellent","position_consistent":true}' "$got"
pair unfair
like 'pairwise: the skill is worse' '1 0 {"winner":"baseline"*"position_consistent":true}' "$got"
cp pair.yaml pair.bak
sed 's/mode: pairwise/mode: pairwise, samples: 2/' pair.bak >pair.yaml
pair split
like 'pairwise: one for each is a tie, which passes' '0 0.5 {"winner":"tie",*' "$got"
pair half
like 'pairwise: a tie, and one for the baseline' '1 0.25 {"winner":"baseline",*' "$got"
mv pair.bak pair.yaml
run env PAIR=none "$WAZA" run -q -o r.json pair.yaml
like 'pairwise: no verdict' '1 *"error_class":"judge_error"*' "$rc $("$WAZA" parse r.json)"
sed 's/skill_directories: .skill., //' pair.yaml >f.yaml
run "$WAZA" run -q f.yaml
like 'pairwise: a suite without skills is refused' '2 *f.yaml:8:15: mode "pairwise"*' "$rc $err"

# persistent: one process for all questions, terminated at the end
cat >worker.sh <<'SH'
#!/bin/sh
echo $$ >>"$PIDS/worker"
while read -r q
do case $q in
   *'"role":"judge"'*) echo '{"output": "{\"passed\": true}"}' ;;
   *) echo '{"output": ""}' ;;
   esac
done
SH
chmod +x worker.sh
cat >keep.yaml <<'YAML'
name: keep
skill: s
config: {executor: mock, workers: 1, trials_per_task: 4, judge: {command: [./worker.sh], persistent: true}}
tasks: [{id: t, prompt: go, graders: [{type: prompt, prompt: x, samples: 3}]}]
YAML
run "$WAZA" run -q keep.yaml
is 'persistent: status' 0 "$rc"
is 'persistent: one process' 1 "$(grep -c . pids/worker)"
ok 'persistent: the process is terminated' sh -c "! kill -0 \$(cat pids/worker) 2>/dev/null"

# an interrupt while the judge runs
seconds=60
suite 'say hang' >e.yaml
rm -f pids/judge
"$WAZA" run -q -o r.json e.yaml >/dev/null 2>&1 &
pid=$!
ok 'SIGINT: the judge runs' wait_until 120 test -s pids/judge
kill -INT "$pid"
wait "$pid"
is 'SIGINT: status' 130 "$?"
ok 'SIGINT: no child is left' sh -c "! kill -0 \$(cat pids/judge) 2>/dev/null"
is 'no run leaves files' '' "$(ls tmp)"

# every prompt grader of the corpus: accepted, or refused with a reason
if [ -d "$CORPUS/waza-wild" ] || [ -d "$top/$CORPUS/waza-wild" ]
then
	cd "$top" || exit 1
	grep -rl 'type: prompt' "$CORPUS/waza-wild" --include='*.yaml' |
	    sed -n 's|/tasks/[^/]*$|/eval.yaml|p' | sort -u >"$tmp/wild"
	while IFS= read -r f
	do "$WAZA" validate "$f"
	done <"$tmp/wild" >"$tmp/found" 2>&1
	ok 'corpus: there are suites with prompt graders' test -s "$tmp/wild"
	is 'corpus: prompt graders are valid' '' \
	    "$(grep -E 'not available|rubric|"prompt"|judge|continue_session' "$tmp/found")"
else skip 'no suites from the wild here'
fi
done_testing
