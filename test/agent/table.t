# The table of waza-agents(7): what each agent reports, seen in short sessions of each
# wire, and how its permissions are set.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs double_acp double_copilot
mkdir tmp bin
TMPDIR=$tmp/tmp PATH=$tmp/bin:$PATH
export TMPDIR PATH
page=$top/man/waza-agents.7

# cell WIRE CELLS COLUMN: a cell of the table of the page that has CELLS behind the name
cell() {
	sed -n "s/^\\.It Cm $1 Ta //p" "$page" |
	    awk -v cells="$2" -v n="$3" 'split($0, c, / Ta /) == cells { print c[n] }'
}

# word KEY WHEN ELSE: WHEN if the results name KEY as unknown, else ELSE
word() {
	if grep -q "\"unknown\":\\[[^]]*\"$1\"" r
	then echo "$2"
	else echo "$3"
	fi
}

# check WIRE CONFIG [PROMPT]: run it; names, arguments, results, tokens and cost of the page hold
check() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {timeout_seconds: 60, $2}
tasks: [{id: a, prompt: '${3:-Say hello}', graders: [{type: text, name: t, config: {contains: [hello]}}]}]
YAML
	run "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json >r
	tokens=$(word input_tokens no yes)
	grep -q '"input_tokens":[1-9]' r || tokens=no
	is "$1: status" 0 "$rc"
	like "$1: calls" '*"tool_call_count":[12],*' "$(cat r)"
	is "$1: names" "$(cell "$1" 5 1)" "$(word name kind yes)"
	is "$1: arguments" "$(cell "$1" 5 2)" "$(word arguments some yes)"
	is "$1: results" "$(cell "$1" 5 3)" "$(word result some yes)"
	is "$1: tokens" "$(cell "$1" 5 4)" "$tokens"
	cost=$(word cost no yes)
	grep -q '"cost":[0-9]' r || cost=no
	is "$1: cost" "$(cell "$1" 5 5)" "$cost"
}

# acp NAME AGENT RESULT: a session of the agent with the updates on stdin
acp() {
	p='{"jsonrpc":"2.0",'
	{
		echo '  0.000 -> {}'
		echo "  0.000 <- $p\"id\":1,\"result\":{\"protocolVersion\":1,\"agentInfo\":{\"name\":\"$2\"}}}"
		echo '  0.000 -> {}'
		echo "  0.000 <- $p\"id\":2,\"result\":{\"sessionId\":\"s\"}}"
		echo '  0.000 -> {}'
		while read -r u
		do printf '  0.000 <- %s"method":"session/update","params":{"sessionId":"s","update":%s}}\n' "$p" "$u"
		done
		printf '  0.000 <- %s"method":"session/update","params":{"sessionId":"s","update":%s}}\n' "$p" \
		    '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hello"}}'
		echo "  0.000 <- $p\"id\":3,\"result\":{\"stopReason\":\"end_turn\"$3}}"
	} >session
	check "acp:$1" "executor: acp, acp: {command: [$DOUBLES/double_acp, $tmp/session]}"
}

usage=',"usage":{"inputTokens":100,"cachedReadTokens":10,"outputTokens":10,"totalTokens":110}'
acp claude claude-agent-acp "$usage" <<'OUT'
{"sessionUpdate":"tool_call","toolCallId":"a","title":"Terminal","kind":"execute","status":"pending","rawInput":{},"_meta":{"claudeCode":{"toolName":"Bash"}}}
{"sessionUpdate":"tool_call_update","toolCallId":"a","title":"ls","status":"completed","rawInput":{"command":"ls"},"rawOutput":"x","_meta":{"claudeCode":{"toolName":"Bash"}}}
{"sessionUpdate":"tool_call","toolCallId":"b","title":"Write a","kind":"edit","status":"completed","rawInput":{"file_path":"a","content":"x"},"rawOutput":"done","_meta":{"claudeCode":{"toolName":"Write"}}}
{"sessionUpdate":"usage_update","used":110,"size":1000,"cost":{"amount":0.1,"currency":"USD"}}
OUT
acp codex @agentclientprotocol/codex-acp "$usage" <<'OUT'
{"sessionUpdate":"tool_call","toolCallId":"a","name":"exec_command","kind":"execute","title":"make","status":"in_progress","rawInput":{"command":"make","cwd":"/w"}}
{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","_meta":{"terminal_output_delta":{"data":"two\n","terminal_id":"a"},"terminal_exit":{"exit_code":0,"signal":null}}}
{"sessionUpdate":"tool_call","toolCallId":"b","name":"exec_command","kind":"read","title":"Read file '/w/a'","status":"in_progress","locations":[{"path":"/w/a"}]}
{"sessionUpdate":"tool_call_update","toolCallId":"b","status":"completed","rawOutput":{"exit_code":0},"_meta":{"terminal_output_delta":{"data":"x\n"}}}
OUT
acp copilot Copilot "$usage" <<'OUT'
{"sessionUpdate":"tool_call","toolCallId":"a","title":"List the files","kind":"execute","status":"pending","rawInput":{"command":"ls","description":"List the files"}}
{"sessionUpdate":"tool_call_update","toolCallId":"a","status":"completed","rawOutput":{"content":"x"}}
{"sessionUpdate":"tool_call","toolCallId":"b","title":"Creating a","kind":"edit","status":"completed","rawInput":{"path":"a","file_text":"x"},"locations":[{"path":"a"}],"rawOutput":{"content":"done"}}
OUT
acp gemini gemini-cli ',"_meta":{"quota":{"token_count":{"input_tokens":100,"output_tokens":10}}}' <<'OUT'
{"sessionUpdate":"tool_call_update","toolCallId":"run_shell_command__run_shell_command_1_0","status":"completed","title":"ls","content":[],"locations":[],"kind":"execute"}
{"sessionUpdate":"tool_call","toolCallId":"write_file__write_file_2_1","status":"completed","title":"Writing to a","content":[{"type":"diff","path":"a","oldText":"","newText":"x"}],"locations":[{"path":"a"}],"kind":"edit"}
OUT
acp opencode OpenCode "$usage" <<'OUT'
{"sessionUpdate":"tool_call","toolCallId":"a","title":"bash","kind":"execute","status":"pending","rawInput":{"cwd":"/w"},"locations":[{"path":"/w"}]}
{"sessionUpdate":"tool_call_update","toolCallId":"a","title":"ls","kind":"execute","status":"completed","rawInput":{"command":"ls","cwd":"/w"},"rawOutput":{"output":"x"}}
{"sessionUpdate":"tool_call","toolCallId":"b","title":"write","kind":"edit","status":"completed","rawInput":{"filePath":"a","content":"x"},"rawOutput":{"output":"done"}}
OUT
acp qwen qwen-code '' <<'OUT'
{"sessionUpdate":"tool_call","toolCallId":"a","title":"Shell: ls (list)","kind":"execute","status":"completed","rawInput":{"command":"ls"},"rawOutput":"x","_meta":{"toolName":"run_shell_command"}}
{"sessionUpdate":"tool_call","toolCallId":"b","title":"WriteFile","kind":"edit","status":"completed","rawInput":{"file_path":"a","content":"x"},"rawOutput":"done","_meta":{"toolName":"write_file"}}
{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":""},"_meta":{"usage":{"inputTokens":100,"outputTokens":10,"cachedReadTokens":10,"thoughtTokens":0}}}
OUT

# once EXECUTOR [PROGRAM]: a program that prints the events on stdin
once() {
	cat >"said-$1"
	cat >"bin/${2:-$1}" <<SH
#!/bin/sh
for a
do case \$a in
--usage-output-file=*) echo '{"modelMetrics":{"m":{"requests":{"count":2},"usage":{"inputTokens":100,"outputTokens":10,"cacheReadTokens":10,"cacheWriteTokens":0}}}}' >"\${a#*=}" ;;
esac
done
cat '$tmp/said-$1'
SH
	chmod +x "bin/${2:-$1}"
	check "$1" "executor: $1"
}
ANTHROPIC_API_KEY=k CODEX_API_KEY=k GEMINI_API_KEY=k OPENAI_API_KEY=k GH_TOKEN=k
export ANTHROPIC_API_KEY CODEX_API_KEY GEMINI_API_KEY OPENAI_API_KEY GH_TOKEN
once claude <<'OUT'
{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"Bash","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"Write","input":{"file_path":"a","content":"x"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","content":"done"}]}}
{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"hello","total_cost_usd":0.5,"usage":{"input_tokens":90,"output_tokens":10,"cache_read_input_tokens":10,"cache_creation_input_tokens":0}}
OUT
once codex <<'OUT'
{"type":"item.completed","item":{"id":"a","type":"command_execution","command":"/bin/bash -lc ls","aggregated_output":"x","exit_code":0,"status":"completed"}}
{"type":"item.completed","item":{"id":"b","type":"file_change","changes":[{"path":"/w/a","kind":"add"}],"status":"completed"}}
{"type":"item.completed","item":{"id":"c","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":10,"output_tokens":10}}
OUT
once copilot-cli copilot <<'OUT'
{"type":"tool.execution_start","data":{"toolCallId":"a","toolName":"bash","arguments":{"command":"ls"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"a","success":true,"result":{"content":"x"}}}
{"type":"tool.execution_start","data":{"toolCallId":"b","toolName":"create","arguments":{"path":"a","file_text":"x"}}}
{"type":"tool.execution_complete","data":{"toolCallId":"b","success":true,"result":{"content":"done"}}}
{"type":"assistant.message","data":{"content":"hello"}}
{"type":"result","exitCode":0}
OUT
once gemini <<'OUT'
{"type":"tool_use","tool_name":"run_shell_command","tool_id":"a","parameters":{"command":"ls"}}
{"type":"tool_result","tool_id":"a","status":"success","output":"x"}
{"type":"tool_use","tool_name":"write_file","tool_id":"b","parameters":{"file_path":"a","content":"x"}}
{"type":"tool_result","tool_id":"b","status":"success","output":"done"}
{"type":"message","role":"assistant","content":"hello"}
{"type":"result","status":"success","stats":{"total_tokens":110,"input_tokens":100,"output_tokens":10,"cached":10,"input":90}}
OUT
once opencode <<'OUT'
{"type":"tool_use","part":{"tool":"bash","callID":"a","state":{"status":"completed","input":{"command":"ls"},"output":"x"}}}
{"type":"tool_use","part":{"tool":"write","callID":"b","state":{"status":"completed","input":{"filePath":"a","content":"x"},"output":"done"}}}
{"type":"text","part":{"text":"hello"}}
{"type":"step_finish","part":{"reason":"stop","tokens":{"total":110,"input":90,"output":10,"reasoning":0,"cache":{"read":10,"write":0}},"cost":0.1}}
OUT
once qwen <<'OUT'
{"type":"assistant","message":{"id":"m","content":[{"type":"tool_use","id":"a","name":"run_shell_command","input":{"command":"ls"}},{"type":"tool_use","id":"b","name":"write_file","input":{"file_path":"a","content":"x"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"a","content":"x"},{"type":"tool_result","tool_use_id":"b","content":"done"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"hello","usage":{"input_tokens":100,"output_tokens":10,"cache_read_input_tokens":10}}
OUT

COPILOT_CLI_PATH=$DOUBLES/double_copilot
export COPILOT_CLI_PATH
check copilot-sdk 'executor: copilot-sdk' '[[write:a|x]] [[shell:ls]] [[say:hello]]'

# how permissions reach each agent
run "$WAZA" doctor --format json
printf '%s\n' "$out" | grep -o '{"name":"[^}]*}' | sed -n 's/.*"name":"\([^"]*\)".*"permissions":"\([^"]*\)".*/\1 \2/p' >permits
is 'all agents of the page have permissions' "$(sed -n 's/^\.It Cm \([a-z:-]*\) Ta .* Ta .* Ta .* Ta .*/\1/p' "$page" | sort)" "$(cut -d ' ' -f 1 permits | sort)"
while read -r wire how
do is "$wire: permissions" "$(cell "$wire" 3 2)" "$how"
done <permits
is 'nothing is left behind' '' "$(ls tmp)"
done_testing
