# Checkpoints: graders after a turn of the conversation.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp bin
TMPDIR=$tmp/tmp
export TMPDIR

# an agent that counts its calls in the workspace and answers their number
cat >agent.sh <<'SH'
n=$(($(cat n 2>/dev/null || echo 0) + 1))
echo $n >n
echo "answer $n"
SH

# suite ON_FAILURE WANT [MORE]: three turns; a checkpoint after turn 2 wants WANT
suite() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: command, timeout_seconds: 60, command: ['sh', '$tmp/agent.sh']}
tasks:
  - id: a
    inputs: {prompt: one, follow_up_prompts: [two, three]}
    graders: [{type: text, name: last, config: {contains: ['answer 3']}}]
    checkpoints:
      - after_turn: 2
        on_failure: $1
        graders:
          - {type: text, name: so far, config: {contains: ['$2'], not_contains: ['answer 3']}}
          - {type: file, name: count, config: {content_patterns: [{path: n, must_match: ['^2']}]}}
    ${3:-}
YAML
}
ask() {
	suite "$@"
	rm -f r.json*
	run "$WAZA" run -q -o r.json e.yaml
	json=$([ -f r.json ] && "$WAZA" parse r.json)
}

ask continue 'answer 1'
is 'passes: status' 0 "$rc"
like 'passes: entry' '*"checkpoints":[[]{"after_turn":2,"status":"passed","validations":{"count":{*"so far":{*' "$json"
like 'passes: among the verdicts, with its turn' '*"validations":{"last":{*"turn 2: count":{*"turn 2: so far":{*' "$json"
like 'passes: all turns' '*"final_output":"answer 1*answer 2*answer 3*' "$json"

ask continue 'answer 7'
is 'fails: status' 1 "$rc"
like 'fails: entry' '*"checkpoints":[[]{"after_turn":2,"status":"failed","validations":*' "$json"
like 'fails: the conversation continues' '*answer 3*' "$json"
like 'fails: console' '*turn 2: so far*' "$out"
run "$WAZA" run -q --reporter junit:j.xml e.yaml
like 'fails: JUnit' '*turn 2: so far*' "$(cat j.xml)"

ask stop 'answer 7'
is 'stops: status' 1 "$rc"
like 'stops: entry' '*"status":"failed","validations":*"stopped":true*' "$json"
like 'stops: no third turn' '*"final_output":"answer 1*answer 2*","checkpoints"*"turns":[[]{*},{*}],"exit_status"*' "$json"
case $json in
*'"last":{'*) is 'stops: no other grader runs' absent present ;;
*)	is 'stops: no other grader runs' absent absent ;;
esac
run "$WAZA" grade -o g.json e.yaml --results r.json
like 'graded again: the verdicts stay' '*"status":"failed"*"turn 2: so far"*"stopped":true*' "$("$WAZA" parse g.json)"
is 'graded again: status' 1 "$rc"
run "$WAZA" run -q --skip-graders -o r.json e.yaml
case $("$WAZA" parse r.json) in
*checkpoints*) is '--skip-graders' absent present ;;
*)	is '--skip-graders' absent absent ;;
esac

ask continue 'answer 1' 'requirements: [{id: r, category: outcome, description: d, checks: [{scope: checkpoint, grader: so far, after_turn: 2}]}]'
is 'a requirement: status' 0 "$rc"
run "$WAZA" validate e.yaml
is 'a requirement: no complaint' '' "$(printf %s "$out$err" | grep -i 'grader\|turn')"
suite continue 'answer 1' 'requirements: [{id: r, category: outcome, description: d, checks: [{scope: checkpoint, grader: other, after_turn: 2}, {scope: checkpoint, grader: so far, after_turn: 1}]}]'
run "$WAZA" validate e.yaml
like 'a requirement without its grader' '*"other" names no grader of the checkpoint*' "$out$err"
like 'a requirement without its checkpoint' '*no checkpoint after turn 1*' "$out$err"

# wrong
suite continue x
sed -i.bak 's/after_turn: 2/after_turn: 9/' e.yaml
run "$WAZA" validate e.yaml
like 'a turn that is never reached' '*turn 9 is never reached: the conversation has at most 3*' "$out$err"
sed -i.bak 's/after_turn: 9/after_turn: 0/' e.yaml
run "$WAZA" validate e.yaml
is 'turn 0' 2 "$rc"
cat >two.yaml <<'YAML'
name: e
skill: s
tasks:
  - id: a
    prompt: x
    checkpoints:
      - {after_turn: 1, graders: [{type: text, name: t, config: {contains: [x]}}]}
      - {after_turn: 1, graders: [{type: text, name: t, config: {contains: [x]}}]}
YAML
run "$WAZA" validate two.yaml
like 'twice after a turn' '*two.yaml:8:*duplicate checkpoint after turn 1*' "$out$err"
sed -i.bak '$d' two.yaml
run "$WAZA" run -q two.yaml
is 'one turn, no other grader' 0 "$rc"
is 'nothing is left' '' "$(ls tmp)"
done_testing
