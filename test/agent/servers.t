# MCP servers and reasoning effort, as each kind of agent gets them.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp bin srv
TMPDIR=$tmp/tmp ARGS=$tmp/args PATH=$tmp/bin:$PATH
export TMPDIR ARGS PATH
unset OPENAI_BASE_URL COPILOT_OFFLINE COPILOT_HOME
servers='mcp_servers: {one: {command: ./srv/one, args: [a b, 2], env: {A: 1, B: true}, cwd: srv}, two: {url: "http://127.0.0.1:9/x", headers: {K: v}, tools: [t]}}'

# ask CONFIG [OPTION...]: one trial; leaves r.json and r
ask() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {timeout_seconds: 99, $1}
${mocks-}
tasks:
  - id: a
    prompt: '[[params]] [[say:hello]]'
    graders: [{type: code, name: any, config: {assertions: ['True']}}]
YAML
	shift
	run "$WAZA" run -q -o r.json "$@" e.yaml
	"$WAZA" parse r.json >r 2>/dev/null || : >r
}

# problems are reported before anything runs
ask 'executor: acp, acp: {command: [x]}, mcp_servers: {a: {}, b: {url: x, type: stdio}, c: 7, d: {command: x, env: [1]}, e: {command: x, arg: 1}}'
is 'servers that are none: status' 2 "$rc"
run "$WAZA" validate e.yaml
is 'servers that are none: where' 'e.yaml:3:62: warning: `x` is not installed (not found in PATH)
e.yaml:3:84: the MCP server needs a "command"
e.yaml:3:91: the MCP server needs a "command"
e.yaml:3:117: an MCP server must be a mapping, not a number
e.yaml:3:141: "env" must be a mapping of names to values
e.yaml:3:163: warning: unknown key "arg" (did you mean "args"?)' "$(printf '%s\n' "$out" "$err" | grep '^e.yaml:3')"
ask 'executor: acp, acp: {command: [x]}, mcp_servers: [a]'
is 'no mapping: status' 2 "$rc"
ask "executor: mock, reasoning_effort: high, $servers"
is 'an executor that takes neither: status' 0 "$rc"
run "$WAZA" validate e.yaml
like 'an executor that takes neither: servers' '*warning: "mcp_servers" has no effect with executor "mock"*' "$out$err"
like 'an executor that takes neither: effort' '*warning: "reasoning_effort" has no effect with executor "mock"*' "$out$err"

# Copilot, by the protocol of its SDK
if [ -x "$DOUBLES/double_copilot" ]
then
	COPILOT_CLI_PATH=$DOUBLES/double_copilot
	export COPILOT_CLI_PATH
	ask "executor: copilot-sdk, reasoning_effort: high, $servers"
	is 'copilot-sdk: status' 0 "$rc"
	said=$(sed 's/.*"final_output":"//; s/\\\\"/\\"/g; s/\\"/"/g' r)
	like 'copilot-sdk: effort' '*"reasoningEffort":"high"*' "$said"
	like 'copilot-sdk: a command' "*\"mcpServers\":{\"one\":{\"type\":\"stdio\",\"command\":\"/bin/sh\",\"args\":[[]\"-c\",*,\"$tmp/srv\",\"$tmp/*srv/one\",\"a b\",\"2\"],\"env\":{\"A\":\"1\",\"B\":\"true\"},\"tools\":[[]\"[*]\"]}*" "$said"
	like 'copilot-sdk: an address' '*"two":{"type":"http","url":"http://127.0.0.1:9/x","headers":{"K":"v"},"tools":[[]"t"]}*' "$said"
	ask "executor: copilot-sdk, judge_reasoning_effort: low, $servers"
	is 'copilot-sdk: no effort but the judge'"'"'s' '' "$(grep reasoningEffort r)"
else skip 'no double_copilot (make check builds it)'
fi

# ACP, by its protocol
if [ -x "$DOUBLES/double_acp" ]
then
	cp "$DOUBLES/double_acp" bin/
	ask "executor: acp, acp: {command: [double_acp]}, $servers" --record rec
	is 'acp: status' 0 "$rc"
	like 'acp: a command' "*\"method\":\"session/new\"*\"mcpServers\":[[]{\"name\":\"one\",\"command\":\"/bin/sh\",\"args\":[[]*\"a b\",\"2\"],\"env\":[[]{\"name\":\"A\",\"value\":\"1\"},{\"name\":\"B\",\"value\":\"true\"}]}*" "$(cat rec/*)"
	like 'acp: an address' '*{"name":"two","type":"http","url":"http://127.0.0.1:9/x","headers":[[]{"name":"K","value":"v"}]}*' "$(cat rec/*)"
	ask 'executor: acp, acp: {command: [double_acp]}, reasoning_effort: high'
	like 'acp: no effort to set' '*the agent has no setting for reasoning effort*' "$(cat r)"
else skip 'no double_acp (make check builds it)'
fi

# programs that run once: by flags and a temporary file
for p in claude codex copilot opencode
do
	cat >"bin/$p" <<'SH'
#!/bin/sh
printf '%s\n' "$@" >"$ARGS"
for a
do case $a in
*mcp-config=*) f=${a#*=}; cat "${f#@}" >"$ARGS.json" ;;
esac
done
echo '{"type":"result","result":"hello","exitCode":0}'
SH
	chmod +x "bin/$p"
done
for e in claude:--effort=high codex:model_reasoning_effort=high copilot-cli:--reasoning-effort=high opencode:--variant=high
do
	ask "executor: ${e%%:*}, reasoning_effort: high"
	ok "${e%%:*}: effort" grep -qx -e "${e#*:}" args
done
for e in claude copilot-cli
do
	rm -f args.json
	ask "executor: $e, $servers"
	like "$e: servers" '{"mcpServers":{"one":{"type":"stdio",*"two":{"type":"http",*' "$(cat args.json)"
	is "$e: nothing is left" '' "$(ls tmp)"
done
ask "executor: claude, $servers"
ok 'claude: only these' grep -qx -e --strict-mcp-config args

# a mock replaces the server of its name, for every kind of agent
mocks='mcp_mocks: [{name: one, tools: {t: {responses: [{return: 1}]}}}]'
words='"mcp-mock","--name=one","--calls=*/calls.jsonl","*/mcp-0.json"'
if [ -x "$DOUBLES/double_copilot" ]
then
	ask "executor: copilot-sdk, $servers"
	said=$(sed 's/.*"final_output":"//; s/\\\\"/\\"/g; s/\\"/"/g' r)
	like 'mocks: copilot-sdk' "*\"two\":{\"type\":\"http\"*\"one\":{\"type\":\"stdio\",\"command\":\"/*\",\"args\":[[]$words]*" "$said"
fi
if [ -x "$DOUBLES/double_acp" ]
then
	rm -rf rec
	ask "executor: acp, acp: {command: [double_acp]}, $servers" --record rec
	like 'mocks: acp' "*\"mcpServers\":[[]{\"name\":\"two\"*{\"name\":\"one\",\"command\":\"/*\",\"args\":[[]$words],\"env\":[[]]}*" "$(cat rec/*)"
fi
for e in claude copilot-cli
do
	rm -f args.json
	ask "executor: $e, $servers"
	like "mocks: $e" "*\"two\":{\"type\":\"http\"*\"one\":{\"type\":\"stdio\",\"command\":\"/*\",\"args\":[[]$words]*" "$(cat args.json)"
done
ask 'executor: codex'
like 'mocks: codex' "*mcp_servers={\"one\"={\"command\"=\"/*\",\"args\"=[[]$words],\"env\"={},\"default_tools_approval_mode\"=\"approve\"}}*" "$(cat args)"
cat >bin/opencode <<'SH'
#!/bin/sh
printf '%s' "$OPENCODE_CONFIG_CONTENT" >"$ARGS"
SH
OPENCODE_CONFIG_CONTENT='{"theme":"x","mcp":{"mine":{}}}' ask 'executor: opencode'
like 'mocks: opencode, beside its other settings' "{\"theme\":\"x\",\"mcp\":{\"one\":{\"type\":\"local\",\"command\":[[]\"/*\",$words],\"environment\":{},\"enabled\":true}}}" "$(cat args)"
cat >bin/gemini <<'SH'
#!/bin/sh
cat .gemini/settings.json >"$ARGS"
SH
chmod +x bin/gemini
ask 'executor: gemini'
like 'mocks: gemini' "{\"mcpServers\":{\"one\":{\"command\":\"/*\",\"args\":[[]$words],\"env\":{},\"trust\":true}}}" "$(cat args)"
is 'mocks: the file of gemini is not in the patch' '' "$(grep -o '"patch"' r)"
mkdir -p fixtures/.gemini
echo '{}' >fixtures/.gemini/settings.json
ask 'executor: gemini'
sed 's/^    prompt:/    inputs: {files: [.gemini\/settings.json]}\n    prompt:/' e.yaml >e2.yaml
run "$WAZA" run -q e2.yaml
like 'mocks: gemini, with a file of the task' '*MCP servers cannot be given to the agent*' "$out$err"
ask 'executor: openai, model: m, openai: {base_url: "http://127.0.0.1:9"}'
like 'mocks: an executor that cannot take them' '2 *"mcp_mocks" cannot be given to executor "openai"*' "$rc $err"
is 'mocks: nothing is left' '' "$(ls tmp)"
mocks=

# a model, and a judge
if [ -x "$DOUBLES/double_model" ]
then
	printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}]}' >answer
	mkfifo fifo
	"$DOUBLES/double_model" log answer >fifo 2>/dev/null &
	pid=$!
	trap 'kill $pid 2>/dev/null; rm -rf "$tmp"' EXIT
	read -r port <fifo
	ask "executor: openai, model: m, reasoning_effort: high, openai: {base_url: \"http://127.0.0.1:$port\"}"
	like 'openai: chat' '*"reasoning_effort":"high"*' "$(cat log)"
	ask "executor: openai, model: m, reasoning_effort: low, openai: {base_url: \"http://127.0.0.1:$port\", api: responses}"
	like 'openai: responses' '*"reasoning":{"effort":"low"}*' "$(cat log)"
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: mock, reasoning_effort: max, judge_reasoning_effort: medium, judge: {executor: openai, model: j, base_url: "http://127.0.0.1:$port"}}
tasks: [{id: a, prompt: x, graders: [{type: prompt, name: p, config: {prompt: Is it well}}, {type: prompt, name: q, config: {prompt: And now, reasoning_effort: minimal}}]}]
YAML
	run "$WAZA" run -q e.yaml
	like 'a judge: its own effort' '*"reasoning_effort":"medium"*' "$(cat log)"
	like 'a judge: the grader'"'"'s' '*"reasoning_effort":"minimal"*' "$(cat log)"
	is 'a judge: not that of the agent' '' "$(grep '"max"' log)"
else skip 'no double_model (make check builds it)'
fi
done_testing
