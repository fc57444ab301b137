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

seconds=300 prompt='say "hello"'
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
{"type":"assistant","message":{"id":"m1","model":"opus-4","content":[{"type":"text","text":"let me see"}]}}
{"type":"assistant","message":{"id":"m1","model":"opus-4","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"assistant","message":{"id":"m2","model":"opus-4","content":[{"type":"tool_use","id":"t2","name":"Skill","input":{"skill":"none"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":[{"type":"text","text":"no"}],"is_error":true}]}}
{"type":"assistant","message":{"id":"m3","model":"opus-4","content":[{"type":"tool_use","id":"t3","name":"Skill","input":{"skill":"greeting"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t3","content":"Launching skill: greeting"}]}}
noise on its own line
{"type":"assistant","message":{"id":"m4","model":"opus-4","content":[{"type":"text","text":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"num_turns":5,"result":"hello","total_cost_usd":0.25,"usage":{"input_tokens":11,"output_tokens":7,"cache_read_input_tokens":3,"cache_creation_input_tokens":2}}
OUT
SH
ARGS=$tmp/args
export ARGS
ask claude 'persistent: true'
is 'a preset ignores persistent' 0 "$rc"
ask claude 'model: opus'
is 'claude: status' 0 "$rc"
has 'claude: answer' '"final_output":"hello"'
has 'claude: calls, in full' '"tool_events":[[]{"sequence":1,"tool_name":"Bash","args":{"command":"ls"},"result":"a.txt","success":true,"tool":"shell","canonical":{"command":"ls"}},{"sequence":2,"tool_name":"Skill","args":{"skill":"none"},"result":[[]{"type":"text","text":"no"}],"success":false,"tool":"skill","canonical":{"skill":"none"}},'
has 'claude: only the skill that was loaded' '"skills":[[]"greeting"]'
has 'claude: usage' '"usage":{"turns":4,"input_tokens":16,"output_tokens":7,"cache_read_tokens":3,"cache_write_tokens":2,"premium_requests":0,"cost":0.25,"cached_input_tokens":3,"reasoning_tokens":0,"unknown":[[]"reasoning_tokens"]}'
has 'claude: session' '"session_id":"s-1"'
like 'claude: the model, and not the prompt, is an argument' '*--model=opus' "$(cat args)"
like 'claude: no questions in a workspace' '*--permission-mode bypassPermissions --model=opus' "$(cat args)"
ask claude 'permissions: deny'
like 'claude: permissions: deny' '*--permission-mode default' "$(cat args)"
ask claude 'claude: {permissions: [edit, shell]}, permissions: deny'
like 'claude: permissions: a list' '*--permission-mode acceptEdits --allowedTools=Bash' "$(cat args)"
ask claude 'permissions: {a: b}'
is 'claude: invalid permissions: status' 2 "$rc"
like 'claude: invalid permissions' 'e.yaml:3:20: "permissions" must be approve, deny, or a list of read, edit, execute and fetch' "$err"

agent claude <<'SH'
cat >/dev/null
echo '{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400 no","usage":{}}'
exit 1
SH
ask claude
has 'claude: an error that calls itself success' '"error_msg":"API Error: 400 no"*"error_class":"agent_error"'

agent codex <<'SH'
[ "$1" != app-server ] || exit 1	# nobody can be asked about the login
[ "$(cat)" = 'say "hello"' ] || exit 9
echo "$*" >"$ARGS"
cat <<'OUT'
{"type":"thread.started","thread_id":"th-1"}
{"type":"item.completed","item":{"id":"i0","type":"error","message":"only a warning"}}
{"type":"item.started","item":{"id":"i1","type":"command_execution","command":"/bin/bash -lc \"ls -a\"","aggregated_output":"","exit_code":null}}
{"type":"item.completed","item":{"id":"i1","type":"command_execution","command":"/bin/bash -lc \"ls -a\"","aggregated_output":"x","exit_code":2}}
{"type":"item.completed","item":{"id":"i2","type":"agent_message","text":"hello"}}
{"type":"turn.completed","usage":{"input_tokens":22,"cached_input_tokens":1,"output_tokens":14}}
OUT
SH
ask codex
is 'codex: status' 0 "$rc"
has 'codex: answer' '"final_output":"hello"'
has 'codex: a command that failed' '"tool_name":"shell","args":{*"command":"/bin/bash -lc ?"ls -a?""*"result":"x","success":false,"tool":"shell","canonical":{"command":"ls -a"}'
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

agent qwen <<'SH'
[ "$1" != --acp ] || exit 1
echo "$*" >"$ARGS"
cat <<'OUT'
{"type":"system","subtype":"init","session_id":"q-1"}
{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"run_shell_command","input":{"command":"ls"}}],"usage":{"input_tokens":1000,"output_tokens":50,"cache_read_input_tokens":200}}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"a.txt"}]}}
{"type":"assistant","message":{"content":[{"type":"text","text":"hello"}]}}
{"type":"result","subtype":"success","is_error":false,"result":"hello","num_turns":2,"usage":{"input_tokens":2000,"output_tokens":100,"cache_read_input_tokens":400}}
OUT
SH
ask qwen 'model: q3'
is 'qwen: status' 0 "$rc"
has 'qwen: cached tokens are part of the input' '"input_tokens":2000,"output_tokens":100'
is 'qwen: arguments' '--output-format stream-json --approval-mode yolo --model=q3 --prompt=say "hello"' "$(cat args)"
ask qwen 'permissions: [edit]'
like 'qwen: permissions' '*--approval-mode auto-edit --prompt=*' "$(cat args)"

agent qwen <<'SH'
[ "$1" != --acp ] || exit 1
cat <<'OUT'
{"type":"system","subtype":"init","session_id":"q-1"}
{"type":"assistant","message":{"content":[{"type":"text","text":"[API Error: 400 hello]"}],"stop_reason":null,"usage":{"input_tokens":0,"output_tokens":0}}}
{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"[API Error: 400 hello]","usage":{"input_tokens":0,"output_tokens":0,"cache_read_input_tokens":0},"permission_denials":[]}
OUT
SH
ask qwen
has 'qwen: an error that is text' '"error_msg":"[[]API Error: 400 hello[]]"*"error_class":"agent_error"'

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
has 'opencode: steps are summed' '"turns":2,"input_tokens":25,"output_tokens":14,"cache_read_tokens":1,"cache_write_tokens":2,"premium_requests":0,"cost":0.75'

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
has 'copilot-cli: result' '"tool_name":"create","args":{"path":"x"},"result":"made","success":true,"tool":"write","canonical":{"path":"x"}'
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

agent copilot <<'SH'
for a
do case $a in --usage-output-file=*)
	cat >"${a#*=}" <<'USAGE'
{"modelMetrics":{"m":{"requests":{"count":2,"cost":1},"usage":{"inputTokens":2000,"outputTokens":100,"cacheReadTokens":400,"cacheWriteTokens":0}}}}
USAGE
esac
done
echo '{"type":"assistant.turn_end","data":{}}'
echo '{"type":"assistant.message","data":{"content":"hello"}}'
SH
ask copilot-cli
has 'copilot-cli: tokens from its file' '"usage":{"turns":1,"input_tokens":2000,"output_tokens":100,"cache_read_tokens":400,*"unknown":[[]"reasoning_tokens","cost"]'

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
agent doc <<'SH'
printf '\357\273\277{"tool_calls": [{"name": "t"}]}\n\n{"output": "hello"}\n{"usage": {"turns": 2}}'
SH
ask command 'command: [doc], output_format: json'
is 'json: an object on each line: status' 0 "$rc"
has 'json: the answer is that of the line that has one' '"tool_call_count":1*"final_output":"hello"'
agent doc <<'SH'
printf '\357\273\277{"output": "hello"}'
SH
ask command 'command: [doc], output_format: json'
is 'json: a byte order mark is ignored' 0 "$rc"
# not_json OUTPUT WORDS: the trial is an error of the agent, never a pass
not_json() {
	printf '%s' "$1" >"$tmp/said"
	ask command "command: [cat, $tmp/said], output_format: json"
	is "json: $1: status" 1 "$rc"
	has "json: $1: words" "\"status\":\"error\"*\"error_msg\":\"$2*\"error_class\":\"agent_error\""
}
not_json '' 'the output is empty; output_format ?"json?" needs an object'
not_json 'just hello' 'the output is not json: *at line 1, column 1'
not_json '{"output": "hello"' 'the output is not json: '
not_json '["hello"]' 'the output is not an object'
not_json '{}' 'the output has no answer: '
not_json '{"output": null}' 'the output has no answer: '
not_json '{"output": {"text": "hello"}}' 'the output has no answer: '
not_json 'starting
{"output": "hello"}' 'line 1 of the output is not a JSON object; logs belong on standard error'
not_json '{"output": "hello"}
bye' 'line 2 of the output is not a JSON object'
not_json '{"error": "the reason"}' 'the reason'
ask command 'command: ["sh", "-c", "echo no; exit 3"], output_format: json'
has 'json: the exit status comes first' '"error_msg":"exit status 3"'
ask command 'command: ["printf", "just hello"], output_format: claude'
is 'events that are none are the answer' 0 "$rc"
ask command 'command: ["true"], output_format: clod'
is 'unknown format: status' 2 "$rc"
like 'unknown format: words' '*e.yaml:3:*unknown output_format "clod"; it must be text, json*' "$err"
seconds=1
ask command 'command: ["yes", "{}"], output_format: claude'
seconds=300
has 'a flood of events ends' '"error_class":"timeout"'

# a program that is not installed
rm bin/gemini
sed 's/executor: command.*/executor: gemini}/' e.yaml >g.yaml
run env PATH="$tmp/bin" "$WAZA" validate g.yaml
like 'a program that is not in PATH' '*needs `gemini`, which is not installed (not found in PATH)*' "$out"

# the others would fail for the same reason: the run stops
# suite EXECUTOR: six trials on three workers
suite() {
	printf 'name: e\nskill: s\nconfig: {executor: %s, trials_per_task: 3, workers: 3, parallel: true}\ntasks:\n' "$1"
	for i in a b
	do printf "  - {id: %s, prompt: hi, graders: [{type: text, name: t, config: {contains: [hello]}}]}\n" $i
	done
}
suite gemini >e.yaml
run env PATH="$tmp/bin:/usr/bin:/bin" "$WAZA" run -o r.json e.yaml
is 'not installed: status' 1 "$rc"
like 'not installed: once, with the way to mend it' 'waza: gemini is not installed (*): npm install -g @google/gemini-cli; the other trials are not started' "$(echo "$err" | grep -v '^e.yaml:.*warning')"
is 'not installed: one trial' 1 "$("$WAZA" parse r.json | grep -o '"error_class":"infrastructure"' | wc -l | tr -d ' ')"

agent claude <<'SH'
[ "$1 $2" = 'auth status' ] || { echo run >>"$ARGS"; exit 3; }
echo asked >>"$ARGS"
[ -n "${ANTHROPIC_BASE_URL-}" ] && echo 'not JSON' ||
    echo '{"loggedIn": false, "authMethod": "none", "apiProvider": "firstParty"}'
exit 1
SH
suite claude >e.yaml
rm -f args
run env PATH="$tmp/bin:$PATH" "$WAZA" run -o r.json e.yaml
is 'not logged in: status' 1 "$rc"
is 'not logged in: once, with the way to mend it' 'waza: claude is not logged in: run `claude auth login`, or set ANTHROPIC_API_KEY; the other trials are not started' "$err"
is 'not logged in: one trial' 1 "$("$WAZA" parse r.json | grep -o '"error_class":"infrastructure"' | wc -l | tr -d ' ')"
is 'not logged in: found before the first trial' asked "$(cat args)"
rm args
run env PATH="$tmp/bin:$PATH" ANTHROPIC_BASE_URL=x "$WAZA" run -o r.json e.yaml
is 'a reply that is not understood: trials run' 'asked 6' "$(head -n 1 args) $(grep -c run args)"
rm args
run env PATH="$tmp/bin:$PATH" ANTHROPIC_API_KEY=k "$WAZA" run -o r.json e.yaml
is 'a key: nobody is asked' 'run 6' "$(head -n 1 args) $(grep -c run args)"
agent claude <<'SH'
[ "$1 $2" != 'auth status' ] || exec tail -f /dev/null
SH
seconds=1
ask claude
has 'a question without a reply ends with the trial' '"error_class":"timeout"'
seconds=300
agent gemini <<'SH'
[ "$1" = --acp ] || { echo run >>"$ARGS"; exit 3; }
while read -r line
do
	case $line in
	*'"initialize"'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1}}' ;;
	*'"session/new"'*) echo '{"jsonrpc":"2.0","id":2,"error":{"code":-32000,"message":"API key is missing"}}' ;;
	esac
done
SH
suite gemini >e.yaml
rm -f args
run env PATH="$tmp/bin:$PATH" "$WAZA" run -o r.json e.yaml
is 'not logged in, by a session: message' 'waza: gemini is not logged in (API key is missing): run gemini and log in, or set GEMINI_API_KEY; the other trials are not started' "$err"
ok 'not logged in, by a session: no trial ran' test ! -e args

# the same for a judge: found before the agent has worked for nothing
# judged EXECUTOR JUDGE: six trials on three workers
judged() {
	printf 'name: e\nskill: s\nconfig: {executor: %s, trials_per_task: 3, workers: 3, parallel: true, judge: %s}\ntasks:\n' "$1" "$2"
	for i in a b
	do printf "  - {id: %s, prompt: hi, graders: [{type: prompt, name: p, config: {prompt: good}}]}\n" $i
	done
}
agent codex <<'SH'
echo run >>"$ARGS"
cat >/dev/null
echo '{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"{\"passed\": true}"}}'
echo '{"type":"turn.completed","usage":{}}'
SH
agent claude <<'SH'
[ "$1 $2" = 'auth status' ] || { echo judged >>"$ARGS"; exit 3; }
echo asked >>"$ARGS"
echo '{"loggedIn": false, "authMethod": "none", "apiProvider": "firstParty"}'
exit 1
SH
judged codex '{executor: claude}' >e.yaml
rm -f args
run env PATH="$tmp/bin:$PATH" CODEX_API_KEY=k "$WAZA" run -o r.json e.yaml
is 'judge not logged in: status' 1 "$rc"
is 'judge not logged in: once, with the way to mend it' 'waza: the judge cannot be used: claude is not logged in: run `claude auth login`, or set ANTHROPIC_API_KEY; the other trials are not started' "$err"
is 'judge not logged in: found before the first trial' asked "$(cat args)"
is 'judge not logged in: an infrastructure error' 1 "$("$WAZA" parse r.json | grep -o '"error_class":"infrastructure"' | wc -l | tr -d ' ')"
rm args
run env PATH="$tmp/bin:$PATH" CODEX_API_KEY=k "$WAZA" run -q --executor mock -o r.json e.yaml
is 'judge not logged in: the same with the mock' "1 asked" "$rc $(cat args)"
rm args
run env PATH="$tmp/bin:$PATH" CODEX_API_KEY=k ANTHROPIC_API_KEY=k "$WAZA" run -q -o r.json e.yaml
is 'judge with a key: it is not asked beforehand' 'run judged' "$(sort -u -r args | tr '\n' ' ' | sed 's/ $//')"
run env PATH="$tmp/bin:$PATH" "$WAZA" grade e.yaml --results r.json -o g.json
like 'judge not logged in: grade finds it, too' '1 *the judge cannot be used: claude is not logged in*' "$rc $err"
judged codex '{executor: acp, agent: goose}' >e.yaml
rm -f args
run env PATH="$tmp/bin:/usr/bin:/bin" CODEX_API_KEY=k "$WAZA" run -o r.json e.yaml
like 'judge not installed: once, with the way to mend it' 'waza: the judge cannot be used: goose is not installed (`goose` is not found in PATH): install goose, see its documentation; the other trials are not started' "$(echo "$err" | grep -v 'e.yaml:.*warning')"
ok 'judge not installed: no trial ran' test ! -e args
judged codex '{executor: codex, model: big}' >e.yaml
run env PATH="$tmp/bin:$PATH" CODEX_API_KEY=k "$WAZA" run -q -o r.json e.yaml
is 'the agent as judge: its program is not asked again' 0 "$rc"
# cancelled while the judge is asked
agent claude <<'SH'
echo asked >>"$ARGS"
exec tail -f /dev/null
SH
judged codex '{executor: claude}' >e.yaml
rm -f args
env PATH="$tmp/bin:$PATH" CODEX_API_KEY=k "$WAZA" run -q -o r.json e.yaml >/dev/null 2>err &
pid=$!
wait_until 20 test -s args
kill -INT $pid
wait $pid
is 'cancelled while a judge is asked: status' '130 asked' "$? $(cat args)"

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
	ask command "command: [cat, '$rec/oneshot-claude-json.out'], output_format: claude"
	has 'claude, one document: a part is unknown' '"input_tokens":22,"output_tokens":14,*"unknown":[[]"turns","reasoning_tokens"]*"unknown":[[]"tool_calls"]'
	ask command "command: [cat, '$rec/oneshot-gemini-json.out'], output_format: gemini"
	has 'gemini, one document: calls of the model' '"usage":{"turns":2,"input_tokens":22,"output_tokens":14,'
	ask command "command: [cat, '$rec/oneshot-codex.out'], output_format: codex"
	has 'codex, recorded: no wrapper' '"tool":"shell","canonical":{"command":"printf %s *hello world* > *hello.txt'
	ask command "command: [cat, '$rec/oneshot-opencode-hello.out'], output_format: opencode"
	has 'opencode, recorded: one step' '"usage":{"turns":1,"input_tokens":11,"output_tokens":7,'
else skip 'no recordings here'
fi
is 'nothing is left behind' '' "$(find tmp -mindepth 1)"
done_testing
