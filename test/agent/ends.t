# How the output of one-shot agents ends, and what they did not do: an output that is cut
# is never an answer, and a call that the agent's own rules stopped was not made.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp
export TMPDIR

# suite CONFIG [GRADERS]: one task
suite() {
	graders='[{type: text, name: t, config: {not_contains: [rude]}}]'
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

# play FORMAT FILE [GRADERS]: run a program that prints the file
play() {
	f=$1
	said=$2
	shift 2
	ask "executor: command, command: [cat, $tmp/$said], output_format: $f" "$@"
}

cat >claude <<'OUT'
{"type":"system","subtype":"init","session_id":"s","model":"m"}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a"}]}}
{"type":"assistant","message":{"id":"m2","content":[{"type":"text","text":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"hello","usage":{"input_tokens":1,"output_tokens":1}}
OUT
cp claude qwen
cat >codex <<'OUT'
{"type":"thread.started","thread_id":"t"}
{"type":"turn.started"}
{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"ls","aggregated_output":"a","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"j","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}
OUT
cat >gemini <<'OUT'
{"type":"init","session_id":"s","model":"m"}
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"t","parameters":{"command":"ls"}}
{"type":"tool_result","tool_id":"t","status":"success","output":"a"}
{"type":"message","role":"assistant","content":"hello","delta":true}
{"type":"result","status":"success","stats":{"total_tokens":2,"input_tokens":1,"output_tokens":1}}
OUT
cat >opencode <<'OUT'
{"type":"step_start","part":{"type":"step-start"}}
{"type":"tool_use","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{"command":"ls"},"output":"a"}}}
{"type":"step_finish","part":{"reason":"tool-calls","tokens":{"input":1,"output":1}}}
{"type":"step_start","part":{"type":"step-start"}}
{"type":"text","part":{"text":"hello"}}
{"type":"step_finish","part":{"reason":"stop","tokens":{"input":1,"output":1}}}
OUT
cat >copilot <<'OUT'
{"type":"assistant.turn_start","data":{"turnId":"0"}}
{"type":"tool.execution_start","data":{"toolCallId":"r","toolName":"report_intent","arguments":{"intent":"List"}}}
{"type":"tool.execution_start","data":{"toolCallId":"c","toolName":"bash","arguments":{"command":"ls"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"r","success":true,"result":{"content":"noted"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"c","success":true,"result":{"content":"a"}}}
{"type":"assistant.message","data":{"content":"hello"}}
{"type":"assistant.turn_end","data":{"turnId":"0"}}
{"type":"result","exitCode":0}
OUT
calls='[{type: tool_calls, name: t, config: {min_calls: 1, max_calls: 1}}]'
for f in claude qwen codex gemini opencode copilot
do
	play $f $f "$calls"
	is "$f: the whole output is an answer with one call" 0 "$rc"
	n=$(wc -l <$f)
	passed=
	i=0
	while [ $((i += 1)) -lt "$n" ]
	do
		head -n $i $f >part
		play $f part
		[ "$rc" -eq 1 ] || passed="$passed $i"
		grep -q '"error_class":"agent_error"' r || passed="$passed $i?"
	done
	is "$f: an output without its last lines is not" '' "$passed"
	has "$f: the reason" '"error_msg":"the output ended early: its last event, ?"*?", is missing"'
	size=$(wc -c <$f)
	head -c $((size - 9)) $f >part
	play $f part
	is "$f: half a last line is not an answer" 1 "$rc"
	head -c 9 $f >part
	play $f part
	is "$f: half a first line is not an answer" 1 "$rc"
done
# cut by a limit of tokens: half an answer is not graded, as over ACP and HTTP
limit='"error_msg":"the answer is incomplete: the model reached a limit of tokens ('
sed 's/"is_error":false/&,"stop_reason":"max_tokens"/' claude >part
play claude part
has 'claude: an answer cut by a limit' "$limit"'max_tokens)"*"error_class":"agent_error"'
has 'claude: an answer cut by a limit is marked' '"truncated":true'
sed 's/"reason":"stop"/"reason":"length"/' opencode >part
play opencode part
has 'opencode: an answer cut by a limit' "$limit"'length)"*"error_class":"agent_error"'
sed 's/"reason":"tool-calls"/"reason":"length"/' opencode >part
play opencode part
is 'opencode: only the last step counts' 0 "$rc"
printf hello >plain
play claude plain
is 'text without events is an answer' 0 "$rc"

# a result of a call that was not reported: there are calls that nobody knows
quiet='[{type: tool_constraint, name: t, config: {reject_tools: [shell]}}]'
for f in claude qwen gemini copilot
do
	grep -v '"tool_use"\|"toolName":"bash"' $f >part
	play $f part "$quiet"
	has "$f: a result without its call" 'cannot be checked: command does not report tool calls'
done

# gemini reports errors as events, too
sed 's/^{"type":"message".*/&\
{"type":"error","severity":"error","message":"Maximum session turns exceeded"}/' gemini >error
play gemini error
has 'gemini: an error before a result without one' '"error_msg":"Maximum session turns exceeded"*"error_class":"agent_error"'
sed 's/^{"type":"message".*/&\
{"type":"error","severity":"warning","message":"blocked"}/' gemini >error
play gemini error
is 'gemini: a warning is not an error' 0 "$rc"

# denied NAME: a rule against the call passes, and one that requires it fails
require='[{type: tool_constraint, name: t, config: {expect_tools: [shell]}}]'
denied() {
	play "$1" denied "$quiet"
	is "$2: not made" 0 "$rc"
	has "$2: marked" '"denied":true'
	play "$1" denied "$require"
	is "$2: required, but not made" 1 "$rc"
}
# made NAME: an error of the tool is a call
made() {
	play "$1" denied "$quiet"
	has "$2: made" 'call 1 matches rejected'
}
# gemini_error TYPE MESSAGE
gemini_error() {
	sed 's/"status":"success","output":"a"/"status":"error","error":{"type":"'"$1"'","message":"'"$2"'"}/' gemini >denied
}
gemini_error policy_violation 'Tool execution denied by policy.'
denied gemini 'gemini, by its policy'
gemini_error tool_not_registered 'not found in registry'
denied gemini 'gemini, an excluded tool'
gemini_error unhandled_exception 'Tool execution for \\"Shell\\" requires user confirmation, which is not supported in non-interactive mode.'
denied gemini 'gemini, a tool that needs confirmation'
gemini_error shell_execute_error 'exit code 1'
made gemini 'gemini, a command that failed'
gemini_error mcp_tool_error 'Tool execution for \\"x\\" requires'
made gemini 'gemini, a tool that imitates it'
opencode_error() {
	sed 's/"status":"completed","input":{"command":"ls"},"output":"a"/"status":"error","input":{"command":"ls"},"error":"'"$1"'"/' opencode >denied
}
opencode_error 'The user has specified a rule which prevents you from using this specific tool call. Here are some of the relevant rules []'
denied opencode 'opencode, by a rule'
opencode_error 'The user rejected permission to use this specific tool call.'
denied opencode 'opencode, without a permission'
head -n 3 denied >part
play opencode part "$quiet"
is 'opencode, which stops when it may not go on: not made' 0 "$rc"
opencode_error 'bash: ls: The user rejected permission to use this specific tool call'
made opencode 'opencode, a command that failed'
sed 's/"toolCallId":"c","success":true,"result":{"content":"a"}/"toolCallId":"c","success":false,"error":{"message":"no","code":"denied"}/' copilot >denied
denied copilot 'copilot, without a permission'
sed 's/"content":"a"}]/"content":"no","is_error":true}]/; s/"usage"/"permission_denials":[{"tool_use_id":"t1"}],"usage"/' claude >denied
denied claude 'claude, without a permission'
sed 's/"usage"/"permission_denials":[{"tool_use_id":"t1"}],"usage"/' claude >denied
made claude 'claude, a call with a result'
sed 's/"exit_code":0,"status":"completed"/"exit_code":null,"status":"declined"/' codex >denied
denied codex 'codex, declined'
is 'nothing is left behind' '' "$(ls tmp)"
done_testing
