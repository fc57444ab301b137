# Taint: an agent that has seen what grades it does not pass.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir -p tmp suite/tasks suite/graders suite/fixtures
TMPDIR=$tmp/tmp
export TMPDIR

cat >suite/graders/check.sh <<'SH'
#!/bin/sh
# Copyright (c) the authors of the suite, all rights reserved
grep -qi -e quokka -e 'the smallest marsupial'
SH
cat >suite/graders/plain.py <<'PY'
import sys
from pathlib import Path
def main(argument):
    return sys.stdin.read().strip()
if __name__ == "__main__":
    sys.exit(0 if main(1) else 1)
PY
cat >suite/tasks/a.yaml <<'YAML'
id: a
name: the name of an animal
inputs: {prompt: 'Name the animal in notes.txt', files: [{path: notes.txt}]}
expected:
  output_contains: ['quokka']
graders:
  - {type: text, name: says what the notes say, config: {contains: ['quokka']}}
  - {type: program, name: check, config: {command: sh, args: [graders/check.sh]}}
YAML
cat >suite/tasks/b.yaml <<'YAML'
id: b
inputs: {prompt: 'Repeat the three lines of the report'}
graders:
  - type: text
    name: whole
    config:
      contains:
        - the total revenue was five thousand dollars
        - |-
          Result: the second line of the expected report
YAML
cat >suite/eval.yaml <<'YAML'
name: s
skill: s
config: {executor: command, timeout_seconds: 60, output_format: claude,
  command: ['sh', '../agent.sh']}
tasks: ['tasks/a.yaml', 'tasks/b.yaml']
metrics: [{name: quality}]
graders: [{type: program, name: plain, config: {command: 'true', args: [graders/plain.py]}}]
YAML
echo 'the animal is a quokka, in a line of its own' >suite/fixtures/notes.txt

# answer TEXT [TOOL ARGUMENTS RESULT]: what the agent reports
say() {
	{
		[ $# -lt 4 ] || {
			printf '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"%s","input":%s}]}}\n' "$2" "$3"
			printf '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","is_error":%s,"content":%s}]}}\n' "${5:-false}" "$4"
		}
		printf '{"type":"result","subtype":"success","is_error":false,"result":%s}\n' "$1"
	} >answer.ndjson
	printf 'cat "%s/answer.ndjson"\n' "$tmp" >agent.sh
}

# ask TASK: runs it
ask() {
	rm -f r.json*
	run "$WAZA" run -q -t "$1" -o r.json suite/eval.yaml
	json=$("$WAZA" parse r.json)
}

# clean NAME, tainted NAME REASON: the status of the task, the reason
clean() {
	is "$1: status" 0 "$rc"
	is "$1: not tainted" 0 "$(printf '%s\n' "$json$out" | grep -c tainted)"
}
tainted() {
	is "$1: status" 1 "$rc"
	like "$1: class" '*"error_class":"tainted"*' "$json"
	like "$1: reason" "*$2*" "$json"
	like "$1: report" "*$2*" "$out"
}

# what is not evidence
say '"It is a quokka."'
ask a
clean 'a right answer'
say '"the animal is a quokka, in a line of its own"' Read '{"file_path":"notes.txt"}' '"the animal is a quokka, in a line of its own"'
ask a
clean 'a fixture'
say '"the total revenue was five thousand dollars\n- the total revenue was five thousand dollars\nResult: the second line of the expected report"'
ask b
clean 'the expected values'
say '"quokka\nfrom pathlib import Path\nif __name__ == \"__main__\":\n# Copyright (c) the authors of the suite, all rights reserved"'
ask a
clean 'common lines of code'
say '"quokka\nmetrics: [{name: quality}]"'
ask a
clean 'a short setting'
say '"quokka: I did not read eval.yaml or tasks/a.yaml"' Write '{"file_path":"x","content":"see tasks/a.yaml"}' '"ok"'
ask a
clean 'a text that mentions files'
say '"quokka"' Read "{\"file_path\":\"$tmp/suite/tasks/b.yaml\"}" '"permission denied"' true
ask a
clean 'a call that failed'
say '"quokka"' Bash "{\"command\":\"cat $tmp/suite/tasks/b.yaml\"}" "\"cat: $tmp/suite/tasks/b.yaml: Permission denied\\nexit code 1\""
ask a
clean 'a command that could not open it'
say '"quokka"' Bash "{\"command\":\"ls $tmp/suite\"}" '"eval.yaml\ntasks"'
ask a
clean 'a list of names'
# commands that look at names, and those that may do more
listing() {
	say '"quokka"' Bash "{\"command\":\"$1\"}" '"..."'
	ask a
}
listing "ls -l $tmp/suite/tasks/b.yaml $tmp/suite/graders/*.py"
clean 'a list of sealed files'
listing "cd $tmp/suite && test -f tasks/a.yaml; [ -e eval.yaml ] || echo none | ls"
clean 'tests whether they exist'
while IFS='|' read -r name command
do
	listing "$command"
	tainted "$name" 'the agent may have read tasks/b.yaml'
done <<CALLS
a list, then the file|ls $tmp/suite; cat $tmp/suite/tasks/b.yaml
the file from a pipe|ls $tmp/suite/tasks/b.yaml & xargs cat
a substitution|echo \$(cat $tmp/suite/tasks/b.yaml)
a redirection|echo <$tmp/suite/tasks/b.yaml
a function|ls() { cat \$1; }; ls $tmp/suite/tasks/b.yaml
a variable|A=cat; echo; \$A $tmp/suite/tasks/b.yaml
another program of that name|./ls $tmp/suite/tasks/b.yaml
CALLS

# calls that name sealed files
say '"quokka"' Read "{\"file_path\":\"$tmp/suite/tasks/b.yaml\"}" '"..."'
ask a
tainted 'another task' 'the agent opened tasks/b.yaml, which grades it (tool call 1, Read)'
say '"quokka"' Bash "{\"command\":\"cat $tmp/suite/graders/check.sh | head\"}" '"..."'
ask a
tainted 'a grader in a command' 'the agent may have read graders/check.sh'
say '"quokka"' Bash "{\"command\":\"cat $tmp/other $tmp/suite/graders/check.sh\"}" '"the text of check.sh\ncat: other: Permission denied\n..."'
ask a
tainted 'a command that could not open another file' 'the agent may have read graders/check.sh'
say '"quokka"' Bash "{\"command\":\"cd $tmp/suite && cat tasks/a.yaml\"}" '"..."'
ask a
tainted 'its own task, after cd' 'the agent may have read tasks/a.yaml'
say '"quokka"' Bash "{\"command\":\"cat $tmp/suite/graders/*.py\"}" '"..."'
ask a
tainted 'a pattern' 'the agent may have read graders/plain.py'
ln -s suite link
say '"quokka"' Read "{\"file_path\":\"$tmp/link/../suite/eval.yaml\"}" '"..."'
ask a
tainted 'another path to the suite' 'the agent opened eval.yaml'

# an agent that reports a command as the title of its call, and no arguments
cat >acp.sh <<SH
while read -r line
do
	id=\$(printf '%s\n' "\$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
	case \$line in
	*'"initialize"'*) r='{"protocolVersion":1,"agentCapabilities":{}}' ;;
	*'"session/new"'*) r='{"sessionId":"s"}' ;;
	*'"session/prompt"'*)
		r='{"stopReason":"end_turn"}'
		for u in '"sessionUpdate":"tool_call","toolCallId":"1","kind":"execute","status":"completed","title":"cat $tmp/suite/tasks/b.yaml"' \
		    '"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"quokka"}'
		do printf '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{%s}}}\n' "\$u"
		done ;;
	*) r='{}' ;;
	esac
	[ -z "\$id" ] || printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "\$id" "\$r"
done
SH
sed "s|executor: command.*|executor: acp, acp: {command: [sh, $tmp/acp.sh]},|; s|^  command:.*|  timeout_seconds: 60}|" suite/eval.yaml >suite/acp.yaml
rm -f r.json*
run "$WAZA" run -q -t a -o r.json suite/acp.yaml
json=$("$WAZA" parse r.json)
tainted 'a command without arguments' 'the agent may have read tasks/b.yaml'

# text of sealed files
say '"quokka"' Bash '{"command":"grep -r . /"}' '"     3\t  output_contains: x\n     7\t  - {type: text, name: says what the notes say, config: {contains: [\u0027quokka\u0027]}}"'
ask a
tainted 'a result with a line of a task' 'the agent read tasks/a.yaml, which grades it: line 7 is in the result of tool call 1, Bash'
say '"quokka\n  - {type: text, name: says what the notes say, config: {contains: [\u0027quokka\u0027]}}"'
ask a
tainted 'an answer with a line of a task' 'the answer contains line 7 of tasks/a.yaml, which grades it'
say '"quokka\ngrep -qi -e quokka -e \u0027the smallest marsupial\u0027"'
ask a
tainted 'an answer with a line of a grader' 'the answer contains line 3 of graders/check.sh'
say '"quokka\nfrom pathlib import Path\n    return sys.stdin.read().strip()\nif __name__ == \"__main__\":\n    sys.exit(0 if main(1) else 1)"'
ask a
tainted 'an answer with most of a script' 'of graders/plain.py'

# a stored answer is judged in the same way
run "$WAZA" grade -o g.json --results r.json suite/eval.yaml
like 'grade' '*"error_class":"tainted"*' "$("$WAZA" parse g.json)"

# an agent that fails is tainted, too: its failure says nothing
say '"wombat"' Read "{\"file_path\":\"$tmp/suite/tasks/b.yaml\"}" '"..."'
ask a
tainted 'a wrong answer' 'the agent opened tasks/b.yaml'

# text that the suite gives is not evidence
cp suite/tasks/a.yaml suite/fixtures/notes.txt
say '"quokka\n  - {type: text, name: says what the notes say, config: {contains: [\u0027quokka\u0027]}}"'
ask a
clean 'a line that a fixture contains'
sed -i.old 's/files: .{path: notes.txt}./context: {fixture: ..}/' suite/tasks/a.yaml
say '"quokka\n  - {type: text, name: says what the notes say, config: {contains: [\u0027quokka\u0027]}}"'
rm suite/fixtures/notes.txt
ask a
clean 'the suite itself is the fixture'
done_testing
