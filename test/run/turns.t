# Tasks with several turns: follow-up prompts, and responders that play the user.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp LOG=$tmp/log PIDS=$tmp
export TMPDIR LOG PIDS

# suite CONFIG INPUTS [TASK]: print a suite with one task whose prompt is "First"
suite() {
	cat <<YAML
name: e
skill: s
config: {timeout_seconds: 300, $1}
tasks:
  - id: a
    prompt: First
    inputs: {$2}
    ${3:-"expected: {output_not_contains: [zzzz]}"}
YAML
}

# the mock: the output joins the answers of all turns
ask 'executor: mock' "follow_up_prompts: [Second, 'Third of {{.TaskName}}']"
is 'mock: status 0' 0 "$rc"
has 'mock: the output joins all answers' '"final_output":"Mock response for: First\\n\\nMock response for: Second\\n\\nMock response for: Third of a"'
has 'mock: the results list the turns' '"turns":\[{"prompt":"First","output":"Mock response for: First"},{"prompt":"Second","output":"Mock response for: Second"},{"prompt":"Third of a",'
has 'mock: the prompt in the results is the first one' '"prompt":"First","turns"'
ask 'executor: mock' 'environment: {A: b}'
ok 'one turn: the results have no list of turns' sh -c '! grep -q "\"turns\":\[" r'

# the command executor gets the conversation so far with each prompt
cat >agent.sh <<'SH'
#!/bin/sh
text=$(cat)
echo "$WAZA_ATTEMPT" >>"$LOG"
echo "[$text]"
SH
chmod +x agent.sh
command='executor: command, command: [./agent.sh]'
ask "$command" 'follow_up_prompts: Second'
is 'command: status 0' 0 "$rc"
has 'command: the prompt contains the conversation so far' \
    '\[This is what was said so far; go on with the last message of the user.\\n\\nUser:\\nFirst\\n\\nAssistant:\\n\[First\]\\n\\n\\nUser:\\nSecond\]'
has 'command: the results list the plain prompt of a turn' '{"prompt":"Second","output"'

# persistent workers get the conversation so far with each prompt
cat >worker.sh <<'SH'
#!/bin/sh
n=0
while read -r line
do
	n=$((n + 1))
	case $line in *'Assistant:'*) told=yes ;; *) told=no ;; esac
	echo "{\"output\":\"answer $n, told: $told\",\"usage\":{\"turns\":1,\"input_tokens\":5},\"skills\":[\"k$n\"],\"tool_calls\":[{\"name\":\"t$n\"}]}"
done
SH
chmod +x worker.sh
ask 'executor: command, command: [./worker.sh], persistent: true' 'follow_up_prompts: [Second, Third]'
has 'worker: each request contains the earlier turns' 'answer 1, told: no\\n\\nanswer 2, told: yes\\n\\nanswer 3, told: yes'
has 'worker: usage is the sum' '"usage":{"turns":3,"input_tokens":15,'
has 'worker: tools of all turns are listed' '"tools_used":\["t1","t2","t3"\]'
has 'worker: skills of all turns are listed' '"skills":\["k1","k2","k3"\]'
has 'worker: the transcript has the events of all turns' '"transcript":\[{*answer 1*answer 2*answer 3*\],"final_output"'

# agents with sessions get only the next prompt
if [ -x "$DOUBLES/double_acp" ]
then
	cp "$DOUBLES/double_acp" .
	ask 'executor: acp, acp: {command: [./double_acp]}' "follow_up_prompts: ['[[again]]', '[[again]]']"
	has 'acp: all turns use one session and plain prompts' '{"prompt":"\[\[again\]\]","output":"prompt 2, *{"prompt":"\[\[again\]\]","output":"prompt 3, '
	fails 'acp: a crash in the second turn' agent_error 'exit status 7' \
	    'executor: acp, acp: {command: [./double_acp]}' "follow_up_prompts: ['[[crash:7]]', never]"
	has 'acp: a crash keeps the turns so far' '"turns":\[{"prompt":"First",*{"prompt":"\[\[crash:7\]\]"'
else
	skip 'no double_acp (make check builds it)'
fi

# a responder is run like a judge, with another role
cat >user.sh <<'SH'
#!/bin/sh
text=$(cat)
echo "$WAZA_ROLE" >>"$LOG"
case $text in
*'Assistant:
Mock'*'Mock response for: And more'*) echo DONE ;;
*'You play the user'*'a plumber'*) echo '  And more  ' ;;
*) echo "unexpected: $text" >&2; exit 3 ;;
esac
SH
chmod +x user.sh
judge='judge: {command: [./user.sh]}'
: >log
ask "executor: mock, $judge" 'responder: {instructions: You are a plumber.}'
is 'responder: status 0' 0 "$rc"
has 'responder: DONE ends the conversation' '"final_output":"Mock response for: First\\n\\nMock response for: And more"'
is 'responder: WAZA_ROLE is responder' 'responder
responder' "$(cat log)"
ask 'executor: mock, judge: {mock: {output: Go on}}' 'responder: {max_followups: 3}'
is 'responder: max_followups limits the turns' 4 "$(grep -o '"output":"Mock' r | grep -c .)"
ask 'executor: mock, judge: {mock: {output: Go on}}' 'responder: {model: m}'
is 'responder: the default of max_followups is 5' 6 "$(grep -o '"output":"Mock' r | grep -c .)"
ask 'executor: mock, judge: {mock: {output: Go on}}' 'follow_up_prompts: [x, y], responder: {max_followups: 1}'
has 'responder: starts after follow_up_prompts' '"prompt":"x",*"prompt":"y",*"prompt":"Go on"'
ask 'executor: mock, judge: {mock: {output: Go on}}' 'responder: {max_followups: 0}'
ok 'responder: max_followups 0 adds no turn' sh -c '! grep -q "\"turns\":\[" r'
fails 'responder: an exit status other than 0' infrastructure 'responder: exit status 3' "$command, $judge" 'responder: {}'
has 'responder: a failure keeps the earlier answers' '"final_output":"\[First\]'
fails 'responder: the mock cannot respond' infrastructure 'responder: *mock' 'executor: mock' 'responder: {}'

# timeout_seconds covers all turns; first_event_timeout applies to each
cat >slow.sh <<'SH'
#!/bin/sh
echo $$ >"$PIDS/pid"
case $(cat) in *Second*) exec tail -f /dev/null ;; esac
echo fine
SH
chmod +x slow.sh
slow='executor: command, command: [./slow.sh]'
gone() {
	ok "$1" sh -c '! kill -0 "$(cat pid)" 2>/dev/null'
}
suite "$slow" 'follow_up_prompts: [Second]' | sed 's/timeout_seconds: 300/timeout_seconds: 1/' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
has 'time-out: class' '"error_class":"timeout"'
has 'time-out: the first answer is kept' '"turns":\[{"prompt":"First","output":"fine\\n"}'
gone 'time-out: the agent is terminated'
ask "$slow, first_event_timeout_seconds: 1" 'follow_up_prompts: [Second]'
has 'first event time-out applies to the second turn' 'no sign of life within 1 s'
gone 'first event time-out: the agent is terminated'
suite 'executor: mock, judge: {command: [./slow.sh]}' 'responder: {instructions: Second}' |
    sed 's/timeout_seconds: 300/timeout_seconds: 1/' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
has 'time-out of a responder: class' '"error_class":"timeout"'
gone 'time-out of a responder: it is terminated'
is 'time-out of a responder: no files are left' '' "$(ls tmp)"

# interrupts in the first and in a later turn
for who in agent responder
do
	rm -f pid
	case $who in
	agent) suite "$slow" 'follow_up_prompts: [Second]' ;;
	*) suite 'executor: mock, judge: {command: [./slow.sh]}' 'responder: {instructions: Second}' ;;
	esac >e.yaml
	"$WAZA" run -q -o r.json e.yaml >/dev/null 2>&1 &
	waza=$!
	ok "interrupt, $who: the agent is running" wait_until 120 [ -s pid ]
	kill -INT "$waza"
	wait "$waza"
	is "interrupt, $who: status" 130 "$?"
	gone "interrupt, $who: the agent is terminated"
	is "interrupt, $who: no files are left" '' "$(ls tmp)"
done

# another attempt starts a new conversation
: >log
ask "$command, max_attempts: 2" 'follow_up_prompts: [Second]' 'expected: {output_contains: [zzzz]}'
is 'attempts: each repeats all turns' '1 1 2 2 ' "$(tr '\n' ' ' <log)"
has 'attempts: the results count both' '"attempts":2'
is 'attempts: the results list the turns of the last one only' 2 "$(grep -o '"output":"\[' r | grep -c .)"

# --resume does not repeat conversations
: >log
suite "$command, trials_per_task: 3" 'follow_up_prompts: [Second]' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'trials: each has its own conversation' 6 "$(grep -c . log)"
run "$WAZA" run -q -o r.json --resume e.yaml
is '--resume: status' 0 "$rc"
is '--resume: no agent runs' 6 "$(grep -c . log)"

# graders see all turns, in the run and in waza grade
cat >judge.sh <<'SH'
#!/bin/sh
case $(cat) in
*'BEGIN TASK'*First*'BEGIN ANSWER'*'[First]'*'BEGIN NEXT MESSAGE OF THE USER'*Second*'BEGIN ANSWER'*)
	echo '{"passed": true, "reason": "all turns"}' ;;
*) echo '{"passed": false, "reason": "no turns"}' ;;
esac
SH
chmod +x judge.sh
ask "$command, judge: {command: [./judge.sh]}" 'follow_up_prompts: [Second]' \
    'graders: [{type: prompt, name: p, config: {prompt: Is it all there?}}, {type: text, name: t, config: {contains_cs: [First, Second]}}]'
is 'judge: status' 0 "$rc"
has 'judge: the question contains all turns' 'all turns'
: >log
run "$WAZA" grade --results r.json -o g.json e.yaml
is 'grade: status' 0 "$rc"
is 'grade: no agent runs' 0 "$(grep -c . log)"
turns() {
	"$WAZA" parse "$1" | sed 's/.*"turns":\[{/{/; s/}\].*//'
}
is 'grade: the turns are unchanged' "$(turns r.json)" "$(turns g.json)"

# limits
cat >big.sh <<'SH'
#!/bin/sh
cat >/dev/null
dd if=/dev/zero bs=1000000 count=5 2>/dev/null | tr '\0' x
SH
chmod +x big.sh
[ -n "${SHORT-}" ] || fails 'too much' infrastructure 'the conversation is too long to repeat' \
    'executor: command, command: [./big.sh]' 'follow_up_prompts: [b, c, d, e]'

# invalid settings are reported before the run
check() {
	suite 'executor: mock' "$2" >e.yaml
	run "$WAZA" validate e.yaml
	like "$1" "*e.yaml:7:*$3*" "$out$err"
}
check 'check: range' 'responder: {max_followups: 101}' 'max_followups'
check 'check: unknown key' 'responder: {max_folowups: 1}' 'did you mean "max_followups"'
check 'check: type' 'responder: [a]' 'mapping'
suite 'executor: mock' 'responder: {}' >e.yaml
run "$WAZA" validate e.yaml
like 'check: a responder needs an executor or script' '*e.yaml:5:*responder*script*' "$out$err"
check 'check: template' 'follow_up_prompts: ["{{.Vars.nobody}}"]' 'nobody'
check 'check: too many' "follow_up_prompts: [$(awk 'BEGIN { for (i = 0; i < 1001; i++) printf "a," }')]" 'more than 1000'
done_testing
