# Each wire of each agent: what its messages mean.  The sessions are short versions of
# real ones; test/agent/acp.t and oneshot.t play whole recordings if they are present.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
needs double_acp
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR

# suite CONFIG [GRADERS]: one task
suite() {
	graders='[{type: text, name: t, config: {contains: [hello]}}]'
	cat <<YAML
name: e
skill: s
config: {timeout_seconds: 300, $1}
tasks:
  - id: a
    prompt: x
    graders: ${2:-$graders}
YAML
}

# session AGENT RESULT: a recording in `session` with the updates on stdin
session() {
	p='{"jsonrpc":"2.0",'
	{
		echo '  0.000 -> {}'
		echo "  0.000 <- $p\"id\":1,\"result\":{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"$1\"}}}"
		echo '  0.000 -> {}'
		echo "  0.000 <- $p\"id\":2,\"result\":{\"sessionId\":\"s\"}}"
		echo '  0.000 -> {}'
		while read -r u
		do printf '  0.000 <- %s"method":"session/update","params":{"sessionId":"s","update":%s}}\n' "$p" "$u"
		done
		echo "  0.000 <- $p\"id\":3,\"result\":$2}"
	} >session
}

# play [GRADERS]: run that session
play() {
	ask "executor: acp, acp: {command: [$DOUBLES/double_acp, $tmp/session]}" "$@"
}

# stream FORMAT [GRADERS]: run a program whose output is on stdin
stream() {
	cat >said
	f=$1
	shift
	ask "executor: command, command: [cat, $tmp/said], output_format: $f" "$@"
}

text='{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}'
turn='{"stopReason":"end_turn","usage":{"inputTokens":1,"outputTokens":1}}'

# tool calls over ACP
session gemini-cli '{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":22,"output_tokens":14}}}}' <<OUT
{"sessionUpdate":"tool_call_update","toolCallId":"run_shell_command__run_shell_command_1794_0","status":"completed","title":"rm -rf build","content":[],"locations":[],"kind":"execute"}
$text
OUT
play
has 'gemini over ACP: the title is the command' '"tool_name":"run_shell_command","args":{},"success":true,"tool":"shell","canonical":{"command":"rm -rf build"},"unknown":[[]"arguments","result"]'
has 'gemini over ACP: the command is in the digest of the original, too' '"name":"run_shell_command","arguments":{"path":"","file_text":"","command":"rm -rf build"'

session Copilot "$turn" <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Remove the build","kind":"execute","status":"pending","rawInput":{"command":"rm -rf build","description":"Remove the build"}}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":{"content":"gone"}}
{"sessionUpdate":"tool_call","toolCallId":"c2","title":"Using skill: tidy","kind":"other","status":"pending","rawInput":{"skill":"tidy"}}
{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"failed"}
{"sessionUpdate":"tool_call","toolCallId":"c3","title":"Viewing .../x","kind":"read","status":"completed","rawInput":{"path":"/x"}}
$text
OUT
play
has 'copilot over ACP: the kind is the name, not the prose' '"tool_name":"execute","args":{"command":"rm -rf build","description":"Remove the build"},"result":{"content":"gone"},"success":true,"tool":"shell","canonical":{"command":"rm -rf build"},"unknown":[[]"name"]}'
has 'copilot over ACP: a skill that was not found' '"tool_name":"skill","args":{"skill":"tidy"},"success":false,"tool":"skill","canonical":{"skill":"tidy"}'
has 'copilot over ACP: a file' '"tool_name":"read","args":{"path":"/x"},"success":true,"tool":"read","canonical":{"path":"/x"}'
is 'copilot over ACP: no skill was used' '' "$(grep -o '"skills":\["[^]]*' r)"

session @agentclientprotocol/codex-acp "$turn" <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c1","name":"exec_command","kind":"execute","title":"make","status":"in_progress","content":[{"type":"terminal","terminalId":"c1"}],"rawInput":{"command":"/bin/bash -lc 'make -k'","cwd":"/w"}}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","_meta":{"terminal_output_delta":{"data":"one\n","terminal_id":"c1"}}}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"failed","_meta":{"terminal_output_delta":{"data":"two\n","terminal_id":"c1"},"terminal_exit":{"exit_code":2,"signal":null}}}
{"sessionUpdate":"tool_call","toolCallId":"guardian_assessment:1","kind":"think","title":"Guardian Review","rawInput":{"review":{}}}
{"sessionUpdate":"tool_call","toolCallId":"c2","name":"exec_command","kind":"read","title":"Read file '/w/s/tidy/SKILL.md'","status":"in_progress","locations":[{"path":"/w/s/tidy/SKILL.md"}]}
{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed","rawOutput":{"exit_code":0},"_meta":{"terminal_output_delta":{"data":"# Tidy\n"}}}
$text
OUT
play
has 'codex over ACP: output in parts, and no wrapper' '"result":"one*two*","success":false,"tool":"shell","canonical":{"command":"make -k"}}'
has 'codex over ACP: a command that reads is a read' '"tool_name":"exec_command","args":{},"result":"# Tidy*","success":true,"tool":"read","canonical":{"path":"/w/s/tidy/SKILL.md"},"unknown":[[]"arguments"]'
has 'codex over ACP: its review is not a call' '"tool_call_count":2'

session claude-agent-acp "$turn" <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Terminal","kind":"execute","status":"pending","rawInput":{},"_meta":{"claudeCode":{"toolName":"Bash"}}}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"rm -rf build","rawInput":{"command":"rm -rf build"},"_meta":{"claudeCode":{"toolName":"Bash"}}}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"","_meta":{"claudeCode":{"toolName":"Bash"}}}
{"sessionUpdate":"tool_call","toolCallId":"c2","title":"Skill","kind":"other","rawInput":{},"_meta":{"claudeCode":{"toolName":"Skill"}}}
{"sessionUpdate":"tool_call_update","toolCallId":"c2","rawInput":{"skill":"tidy"},"status":"completed"}
$text
OUT
play
has 'claude over ACP: the command comes later' '"tool_name":"Bash","args":{"command":"rm -rf build"},"result":"","success":true,"tool":"shell","canonical":{"command":"rm -rf build"}}'
has 'claude over ACP: a skill' '"skills":[[]"tidy"]'

session OpenCode "$turn" <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c1","title":"bash","kind":"execute","status":"pending","rawInput":{"cwd":"/w"},"locations":[{"path":"/w"}]}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","title":"rm -rf build","kind":"execute","status":"completed","rawInput":{"command":"rm -rf build","cwd":"/w"},"rawOutput":{"output":""}}
{"sessionUpdate":"tool_call","toolCallId":"c2","title":"skill","kind":"other","rawInput":{}}
{"sessionUpdate":"tool_call_update","toolCallId":"c2","status":"completed","title":"Loaded skill: tidy","rawInput":{"name":"tidy"},"rawOutput":{"output":"x"}}
$text
OUT
play
has 'opencode over ACP: the first title is the name' '"tool_name":"bash",*"tool":"shell","canonical":{"command":"rm -rf build"}}'
has 'opencode over ACP: a skill' '"skills":[[]"tidy"]'
is 'opencode over ACP: the tokens of the last call are not the total' '' "$(grep -o '"input_tokens"' r)"

session qwen-code '{"stopReason":"end_turn"}' <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c1","title":"Shell: rm -rf build (clean)","kind":"execute","status":"pending","rawInput":{"command":"rm -rf build"},"_meta":{"toolName":"run_shell_command"}}
{"sessionUpdate":"tool_call_update","toolCallId":"c1","status":"completed","rawOutput":"","_meta":{"toolName":"run_shell_command"}}
{"sessionUpdate":"tool_call","toolCallId":"c2","title":"Skill: Use skill: \"tidy\"","kind":"read","status":"completed","rawInput":{"skill":"tidy"},"_meta":{"toolName":"skill"}}
$text
OUT
play
has 'qwen over ACP: names' '"tool_name":"run_shell_command",*"tool":"shell","canonical":{"command":"rm -rf build"}}*"skills":[[]"tidy"]'

# One rule for all agents: a forbidden command is found on each wire, and again when the
# stored results are graded.
rule='[{type: tool_constraint, name: t, config: {reject_tools: [{tool: shell, command_pattern: "rm -rf"}]}}]'
elsewhere='[{type: tool_constraint, name: t, config: {reject_tools: [bash, local_shell]}}, {type: behavior, name: u, config: {forbidden_tools: [RUN_SHELL_COMMAND]}}, {type: tool_constraint, name: v, config: {expect_tools: [execute_command]}}]'
# forbidden NAME: the rule has failed, and so have those on another agent's names
forbidden() {
	has "$1: a forbidden command fails" 'call 1 matches rejected'
	run "$WAZA" grade -q --results r.json -o g.json e.yaml
	"$WAZA" parse g.json >r
	has "$1: and fails again when it is graded again" 'call 1 matches rejected'
	suite 'executor: mock' "$elsewhere" >b.yaml
	run "$WAZA" grade -q --results r.json -o g.json b.yaml
	"$WAZA" parse g.json >r
	has "$1: another agent's name of the tool fails, too" '"identifier":"t",*"passed":false,*"identifier":"u",*"passed":false,*"identifier":"v",*"passed":true,'
}
# acp AGENT UPDATE...: a session with these updates, and the rule
acp() {
	a=$1
	shift
	for u
	do printf '%s\n' "$u"
	done >updates
	echo "$text" >>updates
	session "$a" "$turn" <updates
	play "$rule"
	forbidden "$a"
}
acp gemini-cli '{"sessionUpdate":"tool_call_update","toolCallId":"run_shell_command__run_shell_command_1_0","status":"completed","title":"rm -rf build","kind":"execute"}'
acp Copilot '{"sessionUpdate":"tool_call","toolCallId":"c","title":"Clean","kind":"execute","status":"completed","rawInput":{"command":"rm -rf build"}}'
acp @agentclientprotocol/codex-acp '{"sessionUpdate":"tool_call","toolCallId":"c","name":"exec_command","kind":"execute","title":"rm -rf build","status":"completed","rawInput":{"command":"rm -rf build"}}'
acp claude-agent-acp '{"sessionUpdate":"tool_call","toolCallId":"c","title":"Terminal","kind":"execute","rawInput":{},"_meta":{"claudeCode":{"toolName":"Bash"}}}' \
    '{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"rm -rf build","status":"completed","rawInput":{"command":"rm -rf build"}}'
acp OpenCode '{"sessionUpdate":"tool_call","toolCallId":"c","title":"bash","kind":"execute","rawInput":{}}' \
    '{"sessionUpdate":"tool_call_update","toolCallId":"c","title":"rm -rf build","status":"completed","rawInput":{"command":"rm -rf build"}}'
acp qwen-code '{"sessionUpdate":"tool_call","toolCallId":"c","title":"Shell: rm -rf build (x)","kind":"execute","status":"completed","rawInput":{"command":"rm -rf build"},"_meta":{"toolName":"run_shell_command"}}'
stream claude "$rule" <<'OUT'
{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"rm -rf build"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":""}]}}
{"type":"result","subtype":"success","result":"hello","usage":{"input_tokens":1,"output_tokens":1}}
OUT
forbidden claude
stream codex "$rule" <<'OUT'
{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc 'rm -rf build'","aggregated_output":"","exit_code":0}}
{"type":"item.completed","item":{"id":"j","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
OUT
forbidden codex
stream gemini "$rule" <<'OUT'
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"t","parameters":{"command":"rm -rf build"}}
{"type":"tool_result","tool_id":"t","status":"success","output":""}
{"type":"message","role":"assistant","content":"hello"}
{"type":"result","status":"success"}
OUT
forbidden gemini
stream opencode "$rule" <<'OUT'
{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"rm -rf build"},"output":""}}}
{"type":"text","part":{"text":"hello"}}
{"type":"step_finish","part":{"reason":"stop"}}
OUT
forbidden opencode
stream copilot "$rule" <<'OUT'
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"rm -rf build"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":""}}}
{"type":"assistant.message","data":{"content":"hello"}}
{"type":"result","exitCode":0}
OUT
forbidden copilot-cli

# errors over ACP
session @agentclientprotocol/codex-acp '{"stopReason":"end_turn","usage":null}' <<'OUT'
{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Warning: Model metadata for `m` not found. hello"}}
{"sessionUpdate":"session_info_update","_meta":{"codex":{"threadStatus":{"type":"systemError"}}}}
{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"message\": \"no such model\"}"}}
OUT
play
is 'codex over ACP, an error of the model: status' 1 "$rc"
has 'codex over ACP, an error of the model: message' '"error_msg":"the agent failed: {*no such model*","error_class":"agent_error"'
session any '{"stopReason":"end_turn"}' </dev/null
play
has 'an empty turn is not an answer' '"error_msg":"the agent ended its turn without an answer, a tool call or token usage","error_class":"agent_error"'
session any '{"stopReason":"refusal"}' <<OUT
$text
OUT
play
is 'a refusal is an answer: status' 0 "$rc"
has 'a refusal is an answer: marked' '"refused":true*"note":"the agent refused to answer"'
play '[{type: text, name: t, config: {contains: [bye]}}]'
has 'a refusal is graded' '"status":"failed"'
run "$WAZA" grade -q --results r.json -o g.json e.yaml
"$WAZA" parse g.json >r
has 'a refusal stays one when it is graded again' '"refused":true'

# The same traffic, two calls of the model with 1000 tokens in (200 of them cached) and
# 50 out, is counted in the same way on every wire, and costs the same.
cat >prices.yaml <<'YAML'
prices: {m: {input: 1000, output: 2000, cache_read: 500}}
YAML
ask() {
	suite "$@" >e.yaml
	run "$WAZA" run -q --model m --config-path prices.yaml -o r.json e.yaml
	"$WAZA" parse r.json >r
}
counted() {
	has "$1: tokens" '"session_digest":*"input_tokens":2000,"output_tokens":100,"cache_read_tokens":400,*"cost":2,"cached_input_tokens":400,'
}
call='{"sessionUpdate":"tool_call","toolCallId":"c1","title":"bash","kind":"execute","status":"completed","rawInput":{"command":"ls"}}'
# usage_of AGENT USAGE: an ACP session with that usage
usage_of() {
	session "$1" "{\"stopReason\":\"end_turn\",\"usage\":$2}" <<OUT
$call
$text
OUT
	play
}
usage_of Copilot '{"inputTokens":2000,"cachedReadTokens":400,"outputTokens":100,"totalTokens":2100}'
counted 'copilot over ACP'
usage_of claude-agent-acp '{"inputTokens":1600,"cachedReadTokens":400,"cachedWriteTokens":0,"outputTokens":100,"totalTokens":2100}'
counted 'claude over ACP'
usage_of @agentclientprotocol/codex-acp '{"inputTokens":1600,"cachedReadTokens":400,"outputTokens":100,"thoughtTokens":30}'
counted 'codex over ACP'
has 'codex over ACP: reasoning is a part of the output' '"reasoning_tokens":30,"unknown":[[]"turns"]'
usage_of another '{"inputTokens":1600,"cachedReadTokens":400,"outputTokens":100,"totalTokens":2100}'
counted 'an unknown agent, by its total'
session gemini-cli '{"stopReason":"end_turn","_meta":{"quota":{"token_count":{"input_tokens":2000,"output_tokens":100}}}}' <<OUT
$text
OUT
play
has 'gemini over ACP: cached tokens are unknown, and so is the cost' '"input_tokens":2000,"output_tokens":100,"cache_read_tokens":0,"cache_write_tokens":0,"premium_requests":0,"cached_input_tokens":0,"reasoning_tokens":0,"unknown":[[]"turns","cached_input_tokens","reasoning_tokens","cost"]'
one='{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":1000,"outputTokens":50,"cachedReadTokens":200,"thoughtTokens":0}}}'
session qwen-code '{"stopReason":"end_turn"}' <<OUT
$one
$text
$one
OUT
play
counted 'qwen over ACP'
has 'qwen over ACP: calls of the model are counted' '"usage":{"turns":2,'

stream claude <<'OUT'
{"type":"assistant","message":{"id":"m1","model":"claude","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}],"usage":{"input_tokens":800,"output_tokens":1}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":""}]}}
{"type":"assistant","message":{"id":"m2","model":"claude","content":[{"type":"text","text":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"num_turns":3,"result":"hello","total_cost_usd":0.5,"usage":{"input_tokens":1600,"output_tokens":100,"cache_read_input_tokens":400,"cache_creation_input_tokens":0}}
OUT
counted claude
has 'claude: calls of the model are counted' '"usage":{"turns":2,'
stream qwen <<'OUT'
{"type":"assistant","message":{"id":"m1","model":"qwen","content":[{"type":"tool_use","id":"t1","name":"run_shell_command","input":{"command":"ls"}},{"type":"tool_use","id":"t2","name":"skill","input":{"skill":"tidy"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a"},{"type":"tool_result","tool_use_id":"t2","content":"Tidy."}]}}
{"type":"assistant","message":{"id":"m2","model":"qwen","content":[{"type":"text","text":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"hello","usage":{"input_tokens":2000,"output_tokens":100,"cache_read_input_tokens":400}}
OUT
counted qwen
has 'qwen: calls and skills' '"tool_name":"run_shell_command",*"tool":"shell","canonical":{"command":"ls"}*"skills":[[]"tidy"]'
stream codex <<'OUT'
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":2000,"cached_input_tokens":400,"output_tokens":100,"reasoning_output_tokens":30}}
OUT
counted codex
stream gemini <<'OUT'
{"type":"message","role":"assistant","content":"hello","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":2100,"input_tokens":2000,"output_tokens":70,"cached":400,"input":1600}}
OUT
counted 'gemini, whose output lacks reasoning'
step='{"type":"step_finish","part":{"tokens":{"total":1050,"input":800,"output":20,"reasoning":30,"cache":{"read":200,"write":0}},"cost":0}}'
stream opencode <<OUT
$step
{"type":"text","part":{"text":"hello"}}
$step
OUT
counted opencode
has 'opencode: reasoning' '"reasoning_tokens":60'
echo '{"output":"hello","usage":{"turns":2,"input_tokens":2000,"output_tokens":100,"cached_input_tokens":400}}' |
    stream json
counted 'our own format'
has 'our own format: a list that is absent is unknown' '"unknown":[[]"tool_calls"]'
stream copilot <<'OUT'
{"type":"assistant.turn_end","data":{"turnId":"0"}}
{"type":"assistant.message","data":{"content":"hello","model":"m"}}
{"type":"result","exitCode":0}
OUT
has 'copilot-cli: tokens are unknown, turns are not' '"usage":{"turns":1,*"unknown":[[]"input_tokens","output_tokens","cached_input_tokens","reasoning_tokens","cost"]'
stream text <<'OUT'
hello
OUT
has 'plain text: nothing is known of tools' '"unknown":[[]"tool_calls"]'
is 'plain text: nothing is known of tokens' '' "$(grep -o '"input_tokens"' r)"
# graded AGENT UPDATE RULE: a session of one call, graded by one rule on its tools
graded() {
	printf '%s\n' "$2" "$text" | session "$1" "$turn"
	b='{type: behavior, name: b, config: {forbidden_tools: [shell]}}'
	play "[{type: tool_constraint, name: t, config: {reject_tools: [$3]}}, $b]"
}
edit='{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit files","kind":"edit","status":"completed","locations":[{"path":"/w/a"},{"path":"/w/secret"}]}'
graded Copilot "$edit" shell
has 'a kind decides which tool it is not' '"status":"passed"'
graded Copilot "$edit" '{tool: edit, path_pattern: /a$}'
has 'the first of several files' 'call 1 matches rejected'
graded Copilot "$edit" '{tool: edit, path_pattern: secret}'
has 'several files over ACP: only the first is known' 'cannot be checked: *does not report which files a call changes'
run "$WAZA" grade -q --results r.json -o g.json e.yaml
like 'and again when it is graded again' '*does not report which files a call changes*' "$("$WAZA" parse g.json)"
graded other '{"sessionUpdate":"tool_call","toolCallId":"c","title":"reboot","kind":"execute","status":"completed"}' \
    '{tool: exec_command}, {tool: shell, command_pattern: ^reboot$}'
has 'a command of one word is not a name' '"tool":"shell","canonical":{"command":"reboot"},"unknown":[[]"name",'
has 'a command of one word is forbidden' 'call 1 matches rejected'
graded other '{"sessionUpdate":"tool_call","toolCallId":"c","title":"Clean all up","status":"completed"}' '{tool: fetch}'
has 'a title does not tell which tool it is' '"b":{*cannot be checked: *does not report the names of tools*"t":{*cannot be checked: *does not report the names of tools'
play '[{type: code, name: c, config: {assertions: ["'"'rm' not in str(tool_calls)"'"]}}]'
has 'text of calls whose arguments are unknown' 'cannot be checked: *does not report arguments'
# unread NAME: an event that cannot be read may have been a call, with tokens
unread() {
	stream opencode "$rule"
	has "$1: calls are unknown" 'cannot be checked: command does not report tool calls'
	has "$1: tokens are unknown" '"unknown":[[]"turns","input_tokens","output_tokens"'
}
end='{"type":"text","part":{"text":"hello"}}
{"type":"step_finish","part":{"tokens":{"input":800,"output":20}}}'
printf '{"type":"tool_use","part":{"tool":"bash","state":{\n%s\n' "$end" >events
unread 'half an event' <events
# lines of megabytes take too long with one byte at a time
if [ -z "${SHORT-}" ]
then
{ head -c 9000000 /dev/zero | tr '\0' 0; printf '\n%s\n' "$end"; } >events
unread 'a line that is too long' <events
# a part of the answer that cannot be read: what follows is not the whole answer
long=$tmp/long
head -c 9000000 /dev/zero | tr '\0' x >"$long"
# torn FORMAT BEFORE AFTER NEXT: an event with a long text between these, then other lines
torn() {
	{ printf '%s' "$2"; cat "$long"; printf '%s\n%s\n' "$3" "$4"; } >events
	stream "$1" <events
}
gone='line 1 of the output could not be read, because it is too long or damaged: the answer may be incomplete'
last='{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
message='{"type":"item.completed","item":{"id":"k","type":"agent_message","text":"'
torn codex "$message" '"}}' "$last"
has 'codex: the answer is too long a line' "\"status\":\"error\"*$gone"
torn codex "$message" '"}}' "${message}hello\"}}
$last"
has 'codex: a later answer replaces it' '"status":"passed"'
torn codex '{"type":"item.completed","item":{"id":"k","type":"command_execution","aggregated_output":"' '"}}' "${message}hello\"}}
$last"
has 'codex: a result of a tool is not a part of the answer' '"status":"passed"'
said='{"type":"message","role":"assistant","content":"'
last='{"type":"result","status":"success","stats":{"total_tokens":2,"input_tokens":1,"output_tokens":1,"cached":0}}'
torn gemini "$said" '","delta":true}' "${said}hello\",\"delta\":true}
$last"
has 'gemini: a part of the answer is too long a line' "\"status\":\"error\"*$gone"
torn gemini "{ ${said#?}" '","delta":true}' "${said}hello\",\"delta\":true}
$last"
has 'gemini: so with a blank after the brace' "\"status\":\"error\"*$gone"
torn gemini '{ type: ' ' }' "${said}hello\",\"delta\":true}
$last"
has 'gemini: a log is not' '"status":"passed"'
torn gemini '{"type":"tool_result","tool_id":"i","output":"' '"}' "${said}hello\",\"delta\":true}
$last"
has 'gemini: a result of a tool is not a part of the answer' '"status":"passed"'
torn copilot '{"type":"assistant.message","data":{"content":"' '"}}' '{"type":"assistant.message","data":{"content":"hello"}}
{"type":"result","exitCode":0}'
has 'copilot-cli: a part of the answer is too long a line' "\"status\":\"error\"*$gone"

# skilled CONFIG: the skill tidy was used; another use may be in the line that cannot be read
skilled() {
	{
		echo '{"type":"assistant","message":{"id":"m","model":"x","content":[{"type":"tool_use","id":"u","name":"Skill","input":{"skill":"tidy"}}]}}'
		echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"u","content":"ok"}]}}'
		printf '{"type":"user","message":{"content":"'
		cat "$long"
		printf '"}}\n'
		echo '{"type":"result","subtype":"success","result":"hello","usage":{"input_tokens":1,"output_tokens":1}}'
	} >events
	stream claude "[{type: skill_invocation, name: s, config: {$1}}]" <events
}
skilled 'forbidden_skills: [deploy]'
has 'a skill that a lost event may have used is not known to be unused' '"status":"error"*does not report all skills that it used'
run "$WAZA" grade -q --results r.json -o g.json e.yaml
like 'and again when it is graded again' '*does not report all skills that it used*' "$("$WAZA" parse g.json)"
skilled 'forbidden_skills: [tidy]'
has 'a forbidden skill that was seen' '"status":"failed"*forbidden skills were used'
skilled 'required_skills: [tidy], mode: any_order'
has 'a required skill that was seen' '"status":"passed"'
skilled 'required_skills: [tidy], mode: exact_match'
has 'whether others were used is unknown' '"status":"error"*does not report all skills that it used'
else skip 'lines that are too long, one byte at a time'
fi

# rules on arguments use either form: the agent's, or that of all agents
ruled() {
	stream codex "[{type: tool_constraint, name: r, config: {reject_tools: [$1]}}]" <<'OUT'
{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"/bin/bash -lc 'rm -rf build'","aggregated_output":"","exit_code":null,"status":"failed"}}
{"type":"item.completed","item":{"id":"j","type":"file_change","changes":[{"path":"/w/a"},{"path":"/w/secret"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"k","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
OUT
}
ruled '{tool: shell, args: {command: rm -rf build}}'
has 'a condition on the command without its wrapper' 'call 1 matches rejected'
has 'a command that failed without an exit status' '"result":"","success":false'
ruled '{tool: shell, args: {command: {contains: bash -lc}}}'
has 'a condition on the command with its wrapper' 'call 1 matches rejected'
ruled '{tool: edit, path_pattern: secret}'
has 'the second file of a change' 'call 2 matches rejected'
ruled '{tool: edit, path_pattern: other}'
has 'no file of a change' '"status":"passed"'
echo '{"output":"hello","tool_calls":[{"name":"apply_patch","arguments":{"input":"*** Update File: secret"}}]}' |
    stream json '[{type: tool_constraint, name: r, config: {reject_tools: [{tool: edit, path_pattern: secret}]}}]'
has 'files that only a patch names are unknown' 'cannot be checked: command does not report which files a call changes'
echo '{"output":"hello","tool_calls":[{"name":"exec_command","arguments":{"cmd":"rm -rf build"}}]}' |
    stream json '[{type: tool_constraint, name: r, config: {reject_tools: [{tool: shell, args: {command: {contains: rm -rf}}}]}}]'
has 'a condition on an argument with another name' 'call 1 matches rejected'
echo '{"output":"hello","usage":{"input_tokens":"5000","output_tokens":"5000","turns":-1}}' |
    stream json '[{type: behavior, name: r, config: {max_tokens: 10}}]'
has 'tokens that are not numbers are unknown' 'cannot be checked: command does not report tokens'
stream codex <<'OUT'
{"type":"error","message":"Reconnecting... 1/5"}
{"type":"item.completed","item":{"id":"k","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
OUT
has 'codex: a turn that was completed after an error' '"status":"passed"'
stream codex <<'OUT'
{"type":"item.completed","item":{"id":"k","type":"agent_message","text":"hello"}}
{"type":"error","message":"no quota"}
OUT
has 'codex: an error without a completed turn' '"error_class":"agent_error"'
# counts that are not numbers, or lack a part, are unknown
limit='[{type: behavior, name: r, config: {max_tokens: 10}}]'
session qwen-code '{"stopReason":"end_turn"}' <<OUT
{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":"1000","outputTokens":"50"}}}
$text
OUT
play "$limit"
has 'qwen over ACP: tokens that are not numbers' 'cannot be checked: *does not report tokens'
session Copilot '{"stopReason":"end_turn","usage":{"inputTokens":-9000,"outputTokens":9}}' <<OUT
$text
OUT
play "$limit"
has 'copilot over ACP: tokens below zero' 'cannot be checked: *does not report tokens'
is 'copilot over ACP: no total below zero' '' "$(grep -o -- '-9000' r)"
stream gemini "$limit" <<'OUT'
{"type":"message","role":"assistant","content":"hello","delta":true}
{"type":"result","status":"success","stats":{"input_tokens":2,"output_tokens":2,"cached":0}}
OUT
has 'gemini: an output that may lack reasoning' 'cannot be checked: command does not report tokens'

# replies REPLY...: a session of these replies
replies() {
	for r
	do printf '  0.000 -> {}\n  0.000 <- {"jsonrpc":"2.0",%s}\n' "$r"
	done >session
	play
}
first='"id":1,"result":{"protocolVersion":1,"authMethods":[{"id":"key","name":"Key"}]}'
login='"error":{"code":-32000,"message":"log in"}'
replies '"id":1,"error":{"code":-32603,"message":"no thanks"}'
has 'ACP: initialize is refused' '"status":"error"*the agent refused to initialize: no thanks'
replies "$first" '"id":2,"result":{"sessionId":7}'
has 'ACP: a session without an id' '"status":"error"*session has no id'
replies "$first" "\"id\":2,$login" '"id":3,"error":{"code":-1,"message":"wrong key"}'
has 'ACP: a login that fails' "\"status\":\"error\"*login failed: wrong key (methods: key (Key))"

# one document instead of events; errors in it
stream gemini <<'OUT'
{"response":"hello","stats":{"models":{"g":{"api":{"totalRequests":2},"tokens":{"prompt":5,"candidates":2,"cached":1,"thoughts":1}}}}}
OUT
has 'gemini: a document' '"status":"passed"'
has 'gemini: a document: usage' '"usage":{"turns":2,'
stream gemini <<'OUT'
{"response":"hello","error":{"type":"Fatal","message":"quota is used up"}}
OUT
has 'gemini: a document with an error' '"status":"error"*quota is used up'
stream gemini <<'OUT'
{"response":"hello","error":{}}
OUT
has 'gemini: a document with an error without a message' '"status":"error"*the agent reported a failure'
stream gemini <<'OUT'
{"error":{"message":"quota is used up"}}
OUT
has 'gemini: only an error' '"status":"error"*quota is used up'
stream codex '[{type: tool_constraint, name: r, config: {expect_tools: [find]}}]' <<'OUT'
{"type":"item.started","item":{"id":"i1","type":"mcp_tool_call","server":"hub","tool":"find","arguments":{"n":7},"status":"in_progress"}}
{"type":"item.completed","item":{"id":"i1","type":"mcp_tool_call","server":"hub","tool":"find","arguments":{"n":7},"result":null,"error":{"message":"down"},"status":"failed"}}
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}
OUT
has 'codex: a call of an MCP tool' '"status":"passed"'
has 'codex: a call of an MCP tool that failed' '"tool_name":"find",*"success":false'

# permission STATUS OUTPUT: a session whose command we do not permit, and its end
permission() {
	session other "$turn" <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c","title":"rm -rf build","kind":"execute","status":"pending","rawInput":{"command":"rm -rf build"}}
{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"$1","rawOutput":$2}
$text
OUT
	awk '{ print } /"pending"/ {
		print "  0.000 <- {\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"session/request_permission\",\"params\":{\"sessionId\":\"s\",\"toolCall\":{\"toolCallId\":\"c\",\"kind\":\"execute\"},\"options\":[{\"optionId\":\"n\",\"kind\":\"reject_once\"}]}}"
		print "  0.000 -> {}"
	}' session >asked
	ask "executor: acp, acp: {command: [$DOUBLES/double_acp, $tmp/asked], permissions: deny}" "$rule"
}
permission failed '"no"'
has 'a call that was not permitted was not made' '"status":"passed"*"denied":true'
permission completed '"gone"'
has 'an agent that makes the call nevertheless' 'call 1 matches rejected'
session OpenCode "$turn" <<OUT
{"sessionUpdate":"tool_call","toolCallId":"c","title":"bash","kind":"execute","rawInput":{}}
{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed","rawInput":{"command":"rm -rf build"},"rawOutput":{"error":"The user has specified a rule which prevents you from using this specific tool call."}}
$text
OUT
play "$rule"
has "opencode over ACP: a call that its own rules stopped" '"status":"passed"*"denied":true'
is 'nothing is left behind' '' "$(ls tmp)"
done_testing
