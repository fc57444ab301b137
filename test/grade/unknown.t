# Unknown is not passed: rules on what an answer, a results file or a workspace does not
# tell end as errors of the grader.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR

# suite CONFIG GRADERS: one task
suite() {
	cat <<YAML
name: e
skill: s
config: {timeout_seconds: 60, $1}
tasks:
  - {id: a, prompt: x, graders: $2}
YAML
}
reject='[{type: tool_constraint, name: t, config: {reject_tools: [shell]}}]'
# told NAME WHAT ANSWER: the object of a program, and a rule against a tool
told() {
	printf '%s\n' "$3" >said
	ask "executor: command, command: [cat, $tmp/said], output_format: json" "$reject"
	has "$1" "cannot be checked: command does not report $2"
}
told 'calls that are null' 'tool calls' '{"output":"hi","tool_calls":null}'
told 'calls that are not a list' 'tool calls' '{"output":"hi","tool_calls":{}}'
told 'a call without a name' 'the names of tools' '{"output":"hi","tool_calls":[{"arguments":{"command":"rm"}}]}'
printf '#!/bin/sh\nwhile read -r line; do echo '"'"'{"output":"hi","tool_calls":[{"name":"bash"}]}'"'"'; done\n' >worker
chmod +x worker
ask "executor: command, command: [$tmp/worker], persistent: true" '[{type: tool_constraint, name: t, config: {reject_tools: [{tool: bash, command_pattern: rm}]}}]'
has 'a worker that does not tell arguments' 'cannot be checked: command does not report arguments'
ask "executor: command, command: [$tmp/worker], persistent: true" '[{type: code, name: t, config: {assertions: ["'"'fatal' not in str([t['result'] for t in tool_calls])"'"]}}]'
has 'a worker that does not tell results' 'cannot be checked: command does not report '

# stored NAME WHAT TRIAL GRADERS: grade a results file of the original
stored() {
	suite 'executor: mock' "$4" >e.yaml
	cat >o.json <<JSON
{"eval_id":"r","skill":"s","eval_name":"e","timestamp":"2026-01-01T00:00:00Z",
"config":{"model_id":"m","engine_type":"copilot-sdk"},"summary":{"total_tests":1},
"tasks":[{"test_id":"a","display_name":"a","status":"passed","runs":[
{"run_number":1,"status":"passed","final_output":"hi",$3}]}]}
JSON
	run "$WAZA" grade -q --results o.json -o r.json e.yaml
	"$WAZA" parse r.json >r
	has "$1" "cannot be checked: *does not report $2"
}
stored 'a digest without calls' 'tool calls' '"duration_ms":5,"session_digest":{"session_id":"x"}' "$reject"
stored 'calls that only the events contain' 'tool calls' '"duration_ms":5,"session_digest":{"tool_call_count":0,"tool_calls":[]},"transcript":[{"type":"tool.execution_start","tool_name":"bash","arguments":{"command":"rm"}}]' "$reject"
call='"session_digest":{"tool_call_count":1,"tool_calls":[{"name":"web_fetch","arguments":{"path":"","description":"d"},"success":true}]}'
stored 'an argument that the original does not store' arguments "\"duration_ms\":5,$call" '[{type: tool_constraint, name: t, config: {reject_tools: [{tool: web_fetch, args: {url: {contains: evil}}}]}}]'
stored 'a path that it may have stored under another name' arguments "\"duration_ms\":5,$call" '[{type: tool_constraint, name: t, config: {reject_tools: [{tool: web_fetch, path_pattern: secret}]}}]'
stored 'a duration that is null' 'ms until' "\"duration_ms\":null,$call" '[{type: behavior, name: t, config: {max_duration_ms: 10}}]'
stored 'a duration that is missing, in code' 'how long it took' "$call" '[{type: code, name: t, config: {assertions: ["duration_ms < 10"]}}]'
stored 'events that are missing' 'its events' "$call" '[{type: code, name: t, config: {assertions: ["not errors"]}}]'
stored 'tokens of which only the reasoning is stored' 'tokens' '"session_digest":{"tool_call_count":0,"tool_calls":[],"usage":{"reasoning_tokens":5}}' '[{type: behavior, name: t, config: {max_tokens: 10}}]'

# files
printf '#!/bin/sh\nln -s nowhere evil; mkdir shut && : >shut/evil && chmod 0 shut; echo hi\n' >agent
chmod +x agent
ask "executor: command, command: [$tmp/agent]" '[{type: file, name: t, config: {must_not_exist: [evil]}}]'
has 'a link to nothing is an unwanted file' 'unwanted file *evil'
ask "executor: command, command: [$tmp/agent]" '[{type: file, name: t, config: {must_exist: [evil]}}]'
has 'a link to nothing is a missing file' 'missing file *evil'
if [ "$(id -u)" -eq 0 ]
then skip 'a file that cannot be examined' 'root can read everything'
else
	ask "executor: command, command: [$tmp/agent]" '[{type: file, name: t, config: {must_not_exist: [shut/evil]}}]'
	has 'a file that cannot be examined' 'cannot be checked: file *shut/evil'
fi
chmod -R u+rwx tmp

# A recording contains text only: nobody knows which other files there were.
printf '#!/bin/sh\nprintf "\\377" >evil.bin; echo good >good.txt; echo hi\n' >agent
suite "executor: command, command: [$tmp/agent]" '[{type: file, name: t, config: {must_exist: [good.txt]}}]' >e.yaml
run "$WAZA" run -q --record rec e.yaml
# replay GRADERS: grade the recording
replay() {
	suite "executor: command, command: [$tmp/agent]" "$1" >e.yaml
	run "$WAZA" run -q --replay rec -o r.json e.yaml
	"$WAZA" parse r.json >r
}
replay '[{type: file, name: t, config: {must_exist: [good.txt]}}]'
is 'a recorded file' 0 "$rc"
for rule in 'must_not_exist: [evil.bin]' 'must_exist: [evil.bin]' 'content_patterns: [{path: evil.bin, must_not_match: [x]}]'
do
	replay "[{type: file, name: t, config: {$rule}}]"
	has "a file that is not recorded: $rule" 'cannot be checked: file *evil.bin*is not recorded'
done
replay '[{type: diff, name: t, config: {expected_files: [{path: evil.bin, contains: ["-x"]}]}}]'
has 'a file that is not recorded: diff' 'cannot be checked: file *evil.bin*is not recorded'
done_testing
