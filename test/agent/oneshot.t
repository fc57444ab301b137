# Agents that run once per trial: their output, from recordings and from
# scripts that replace the programs.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir bin tmp
TMPDIR=$tmp/tmp
export TMPDIR

# agent NAME: a program of that name, with its body on stdin
agent() {
	{ echo '#!/bin/sh'; cat; } >"bin/$1"
	chmod +x "bin/$1"
}

seconds=20 prompt='say "hello"'
# ask EXECUTOR [CONFIG]: one trial with $prompt; leaves r.json
ask() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: $1, timeout_seconds: $seconds${2:+, $2}}
tasks:
  - id: a
    prompt: '$prompt'
    graders: [{type: text, name: t, config: {contains: [hello]}}]
YAML
	run env PATH="$tmp/bin:$PATH" "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json >r
}

# has NAME PATTERN: in the results
has() {
	like "$1" "*$2*" "$(cat r)"
}

agent claude <<'SH'
read -r line
case $line in
'{"type":"user","message":{"role":"user","content":[{"type":"text","text":"say \"hello\""}]}}') ;;
*) echo "unexpected: $line" >&2; exit 9 ;;
esac
echo "$*" >"$ARGS"
cat <<'OUT'
{"type":"system","subtype":"init","session_id":"s-1","tools":["Bash"]}
{"type":"assistant","message":{"content":[{"type":"text","text":"let me see"},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t2","name":"Skill","input":{"skill":"greeting"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"no"}],"is_error":true}]}}
noise on its own line
{"type":"assistant","message":{"content":[{"type":"text","text":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"hello","total_cost_usd":0.25,"usage":{"input_tokens":11,"output_tokens":7,"cache_read_input_tokens":3,"cache_creation_input_tokens":2}}
OUT
SH
ARGS=$tmp/args
export ARGS
ask claude 'persistent: true'
is 'a preset ignores persistent' 0 "$rc"
ask claude 'model: opus'
is 'claude: status' 0 "$rc"
has 'claude: answer' '"final_output":"hello"'
has 'claude: calls, in full' '"tool_events":[[]{"sequence":1,"tool_name":"Bash","args":{"command":"ls"},"result":"a.txt","success":true},{"sequence":2,"tool_name":"Skill","args":{"skill":"greeting"},"result":[[]{"type":"text","text":"no"}],"success":false}]'
has 'claude: skills' '"skills":[[]"greeting"]'
has 'claude: usage' '"usage":{"turns":3,"input_tokens":11,"output_tokens":7,"cache_read_tokens":3,"cache_write_tokens":2,"premium_requests":0,"cost":0.25}'
has 'claude: session' '"session_id":"s-1"'
like 'claude: the model, and not the prompt, is an argument' '*--model opus' "$(cat args)"

agent claude <<'SH'
cat >/dev/null
echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 no","usage":{}}'
exit 1
SH
ask claude
has 'claude: an error that calls itself success' '"error_msg":"API Error: 400 no"*"error_class":"agent_error"'

agent codex <<'SH'
[ "$(cat)" = 'say "hello"' ] || exit 9
echo "$*" >"$ARGS"
cat <<'OUT'
{"type":"thread.started","thread_id":"th-1"}
{"type":"item.completed","item":{"id":"i0","type":"error","message":"only a warning"}}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"","exit_code":null}}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"ls","aggregated_output":"x","exit_code":2}}
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":22,"cached_input_tokens":1,"output_tokens":14}}
OUT
SH
ask codex
is 'codex: status' 0 "$rc"
has 'codex: answer' '"final_output":"hello"'
has 'codex: a command that failed' '"tool_name":"shell","args":{*"command":"ls"*"result":"x","success":false'
has 'codex: usage' '"input_tokens":22,"output_tokens":14,"cache_read_tokens":1'
like 'codex: reads its prompt from stdin' '*workspace-write -' "$(cat args)"

agent gemini <<'SH'
for a; do last=$a; done
[ "$last" = '--prompt=say "hello"' ] || exit 9
cat <<'OUT'
{"type":"init","session_id":"g","model":"m"}
{"type":"message","role":"user","content":"say"}
{"type":"message","role":"assistant","content":"hel","delta":true}
{"type":"message","role":"assistant","content":"lo","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":5,"output_tokens":6}}
OUT
SH
ask gemini
is 'gemini: status' 0 "$rc"
has 'gemini: deltas are one answer' '"final_output":"hello"'

agent opencode <<'SH'
cat <<'OUT'
{"type":"step_start","sessionID":"o","part":{}}
{"type":"tool_use","part":{"tool":"write","callID":"c","state":{"status":"completed","input":{"filePath":"x"},"output":"ok"}}}
{"type":"step_finish","part":{"tokens":{"input":11,"output":7,"cache":{"read":1,"write":2}},"cost":0.5}}
{"type":"text","part":{"text":"hello"}}
{"type":"step_finish","part":{"tokens":{"input":11,"output":7},"cost":0.25}}
OUT
SH
ask opencode
is 'opencode: status' 0 "$rc"
has 'opencode: steps are summed' '"turns":2,"input_tokens":22,"output_tokens":14,"cache_read_tokens":1,"cache_write_tokens":2,"premium_requests":0,"cost":0.75'

agent copilot <<'SH'
cat <<'OUT'
{"type":"assistant.message_delta","data":{"deltaContent":"hello"}}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"create","arguments":{"path":"x"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"made"}}}
{"type":"assistant.message","data":{"content":"hello"}}
{"type":"result","sessionId":"z","exitCode":0,"usage":{"premiumRequests":1}}
OUT
SH
ask copilot-cli
is 'copilot-cli: status' 0 "$rc"
has 'copilot-cli: deltas do not count twice' '"final_output":"hello"'
has 'copilot-cli: result' '"tool_name":"create","args":{"path":"x"},"result":"made","success":true'
agent copilot <<'SH'
cat <<'OUT'
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"skill","arguments":{"skill":"one"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"loaded"}}}
{"type":"tool.execution_start","data":{"toolCallId":"d","toolName":"skill","arguments":{"skill":"none"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"d","success":false,"error":{"message":"not found"}}}
{"type":"tool.execution_start","data":{"toolCallId":"e","toolName":"skill","arguments":{"skill":"two"}}}
{"type":"skill.invoked","data":{"name":"two"}}
{"type":"tool.execution_complete","data":{"toolCallId":"e","success":true,"result":{"content":"loaded"}}}
{"type":"assistant.message","data":{"content":"hello"}}
OUT
SH
ask copilot-cli
has 'copilot-cli: skills, each once, and none that failed' '"skills":[[]"one","two"]'
agent copilot <<'SH'
printf '{"type":"assistant.message","data":{"content":"hello %s in %s"}}\n' "$OF_BOTH" "${PWD##*/}"
SH
OF_BOTH=theirs; export OF_BOTH
ask copilot-cli 'copilot-cli: {env: {OF_BOTH: ours}}'
unset OF_BOTH
has 'settings hold against the environment, and PWD is the workspace' '"final_output":"hello ours in 1-1-1"'

# a prompt that looks like an option is not taken for one
for p in copilot gemini opencode
do agent $p <<'SH'
for a; do before=${last-} last=$a; done
printf '%s\n' "$before" "$last" >"$ARGS"
echo '{"type":"assistant.message","data":{"content":"hello"}}'
SH
done
prompt='--help, - and "hello"'
ask copilot-cli
is 'a prompt with a dash: copilot-cli' "--prompt=$prompt" "$(tail -n 1 args)"
ask gemini
is 'a prompt with a dash: gemini' "--prompt=$prompt" "$(tail -n 1 args)"
ask opencode
is 'a prompt with a dash: opencode' "-- $prompt" "$(tr '\n' ' ' <args | sed 's/ $//')"
prompt='say "hello"'

# an agent that reports tools, or skills, without end
agent copilot <<'SH'
awk -v what="$WHAT" 'BEGIN {
	while (n++ < 40000)
		if (what == "skills")
			printf "{\"type\":\"skill.invoked\",\"data\":{\"name\":\"s%d\"}}\n", n
		else
			printf "{\"type\":\"tool.execution_start\",\"data\":{\"toolCallId\":\"%d\",\"toolName\":\"x\"}}\n", n
	print "{\"type\":\"assistant.message\",\"data\":{\"content\":\"hello\"}}"
}'
SH
for WHAT in tools skills
do
	export WHAT
	ask copilot-cli
	is "endless $WHAT: status" 1 "$rc"
	has "endless $WHAT: why" '"error_msg":"the agent reported more than 32 MiB about its tools, or more than 10000 calls"'
done

# any command with events, or one document
agent doc <<'SH'
printf '\n{\n  "output": "hello",\n  "skills": ["k"]\n}\n'
SH
ask command 'command: [doc], output_format: json'
is 'json: status' 0 "$rc"
has 'json: over several lines' '"final_output":"hello"'
has 'json: skills' '"skills":[[]"k"]'
ask command 'command: ["printf", "just hello"], output_format: claude'
is 'events that are none are the answer' 0 "$rc"
ask command 'command: ["true"], output_format: clod'
is 'unknown format: status' 2 "$rc"
like 'unknown format: words' '*e.yaml:3:*unknown output_format "clod"; it must be text, json*' "$err"
seconds=1
ask command 'command: ["yes", "{}"], output_format: claude'
seconds=20
has 'a flood of events ends' '"error_class":"timeout"'

# a program that is not installed
rm bin/gemini
sed 's/executor: command.*/executor: gemini}/' e.yaml >g.yaml
run env PATH="$tmp/bin" "$WAZA" validate g.yaml
like 'a program that is not in PATH' '*needs `gemini`, which is not installed (not found in PATH)*' "$out"

# recordings of the real programs, if present
rec=${AGENTS:-$top/../shared/agents}/transcripts
if [ -d "$rec" ]
then
	for f in claude codex gemini opencode copilot
	do
		ask command "command: [cat, '$rec/oneshot-$f.out'], output_format: $f"
		has "$f, recorded: answer" '"final_output":"done: *'
		has "$f, recorded: a call" '"tool_call_count":1'
		[ $f = copilot ] || has "$f, recorded: usage" '"input_tokens":22,"output_tokens":14'
		ask command "command: [cat, '$rec/oneshot-$f-err.out'], output_format: $f"
		has "$f, recorded error" 'fakellm forced HTTP 400*"error_class":"agent_error"'
	done
else skip 'no recordings here'
fi
is 'nothing is left behind' '' "$(find tmp -mindepth 1)"
done_testing
