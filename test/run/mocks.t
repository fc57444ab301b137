# Mocked commands and MCP servers, with an agent that is a shell script.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
cd "$tmp" || exit 1
command -v python3 >/dev/null || skip_all 'no python3'

# mcp SERVER LINE...: send lines to a server of WAZA_MCP_CONFIG, print its answers
cat >mcp.py <<'PY'
import json, os, subprocess, sys
s = json.load(open(os.environ["WAZA_MCP_CONFIG"]))["mcpServers"][sys.argv[1]]
env = dict(os.environ, **s.get("env", {}))
p = subprocess.run([s["command"]] + s["args"], env=env, text=True,
    input="".join(l + "\n" for l in sys.argv[2:]), stdout=subprocess.PIPE)
sys.stdout.write(p.stdout)
PY

# call ID TOOL ARGUMENTS: a line for it
call() {
	printf '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"%s","arguments":%s}}' "$1" "$2" "$3"
}

# suite AGENT [TASK KEYS]: write eval.yaml around keys.yaml; the agent is a script
suite() {
	printf '%s\n' "$1" >agent.sh
	{
		printf 'name: m\nskill: s\nconfig: {executor: command, command: [sh, %s/agent.sh]%s}\n' \
		    "$tmp" "${config:+, $config}"
		cat keys.yaml
		printf 'tasks: [{id: a, prompt: x, expected: {output_contains: [done]}%s}]\n' "${2:+, $2}"
	} >eval.yaml
}

# trial KEY: the value of a key of the trial, as JSON
trial() {
	python3 -c '
import json, sys
t = json.load(open("r.json"))["tasks"][0]["runs"][0]
v = t.get(sys.argv[1])
print(v if isinstance(v, str) else json.dumps(v, separators=(",", ":")))' "$1"
}

cat >keys.yaml <<'YAML'
command_mocks:
  - name: git
    responses:
      - {args: [push, origin], stdout: "pushed\n", stderr: "slow\n", exit_code: 3}
      - {args_regex: ["sta.us"], stdout: {clean: true}}
      - {args: [log], fixture: log.txt}
      - {args: [env], environment: {STAGE: test}, stdout: in test}
      - {args: [where], workdir: sub/dir, stdout: below}
      - {args: [], stdout: none}
  - name: deploy
    responses: [{args_regex: [".*", ".*"], stdout: ok}]
YAML
printf 'line\000two' >log.txt
suite 'git push origin; echo "status $?"; git status; git log | od -An -c | tr -d " \n"
STAGE=test git env; mkdir -p sub/dir; (cd sub/dir && git where); git
deploy --token secret-value-1; bash -lc "git status" 2>/dev/null || git status; echo done'
run "$WAZA" run -o r.json eval.yaml
is 'commands: passed' 0 "$rc"
is 'commands: their output' 'pushed
status 3
{"clean":true}line\0twoin testbelownoneok{"clean":true}done' "$(trial final_output)"
like 'commands: standard error' '*slow*' "$(trial stderr_tail)"
is 'commands: recorded, without secrets' \
    '[{"command":"git","args":["push","origin"],"exit_code":3,"response_index":0},{"command":"git","args":["status"],"exit_code":0,"response_index":1},{"command":"git","args":["log"],"exit_code":0,"response_index":2},{"command":"git","args":["env"],"exit_code":0,"response_index":3},{"command":"git","args":["where"],"exit_code":0,"response_index":4},{"command":"git","args":[],"exit_code":0,"response_index":5},{"command":"deploy","args":["--token","[REDACTED]"],"exit_code":0,"response_index":0},{"command":"git","args":["status"],"exit_code":0,"response_index":1}]' \
    "$(trial command_invocations)"
config='confine: workspace'
suite 'git push origin; echo done'
config=
run "$WAZA" run -o r.json eval.yaml
like 'commands: under confinement' '*"git"*"push"*' "$(trial command_invocations)"

suite 'git push --force || echo done'
run "$WAZA" run -o r.json eval.yaml
is 'unknown call: not passed' 1 "$rc"
is 'unknown call: an error of the setup' 'infrastructure' "$(trial error_class)"
like 'unknown call: named' 'mocks: no response for "git push --force"; add one*' "$(trial error_msg)"
like 'unknown call: in the report' '*no response for "git push --force"*' "$out"
like 'unknown call: recorded' '*"exit_code":127,"response_index":-1*' "$(trial command_invocations)"
run "$WAZA" run -v -o r.json eval.yaml
like 'unknown call: -v lists the calls of commands' '*mocked commands (1):*git push --force*=> no response fits*' "$out"
run "$WAZA" run --reporter html:r.html -o r.json eval.yaml
like 'unknown call: in the HTML report' '*command_invocations*' "$(cat r.html)"
suite 'git push --force; exit 1'
run "$WAZA" run -o r.json eval.yaml
is 'unknown call: not an error of the agent that gives up' 'infrastructure' "$(trial error_class)"

suite 'git; echo done' 'command_mocks: []'
run "$WAZA" run -o r.json eval.yaml
is 'a task without mocks: the real command' '0 null' "$rc $(trial command_invocations)"
suite 'git; echo done' 'command_mocks: [{name: git, expect_calls: 2, responses: [{args: [], stdout: mine}]}]'
run "$WAZA" run -o r.json eval.yaml
is 'a task: its own mocks, and their number' \
    '1 agent_error mocked command "git": expected 2 calls, got 1' "$rc $(trial error_class) $(trial error_msg)"

mkdir bin
printf '#!/bin/sh\necho "real $*"\nexit 4\n' >bin/tool
chmod +x bin/tool
cat >keys.yaml <<'YAML'
command_mocks:
  - name: tool
    passthrough: true
    responses: [{args: [a], stdout: "mock\n", delay_ms: 30}]
YAML
suite 'tool a; tool b c; echo "$? done"'
PATH=$tmp/bin:$PATH run "$WAZA" run -o r.json eval.yaml
is 'passthrough: output' 'mock
real b c
4 done' "$(trial final_output)"
is 'passthrough: recorded' \
    '[{"command":"tool","args":["a"],"exit_code":0,"response_index":0},{"command":"tool","args":["b","c"],"exit_code":4,"response_index":-1,"passthrough":true}]' \
    "$(trial command_invocations)"
suite 'PATH=/usr/bin:/bin; cd /; tool a; echo done' 'inputs: {prompt: x, environment: {PATH: "/usr/bin:/bin"}}'
sed 's/prompt: x, expected/expected/' eval.yaml >e2 && mv e2 eval.yaml
sed 's/^PATH=[^;]*; //' agent.sh >a2 && mv a2 agent.sh
run "$WAZA" run -o r.json eval.yaml
like 'a PATH of the task: mocks are before it' '*"tool"*"response_index":0*' "$(trial command_invocations)"

# MCP
cat >keys.yaml <<'YAML'
mcp_mocks:
  - name: hub
    fixtures: hub
    tools:
      find:
        description: Find
        input_schema: {type: object, properties: {n: {type: integer}}}
        responses:
          - {match: {n: 7}, return: {title: seven}, delay_ms: 20}
          - {match_regex: {s: "^a.c$"}, return: text}
          - {match_schema: {required: [deep]}, error: too deep}
          - {match: {whole: true}, result: {content: [{type: text, text: as is}]}}
YAML
mkdir -p hub/.hidden hub/sub
echo '{"description":"Close","responses":[{"return":null}]}' >hub/sub/close.json
echo '{"tools":{"find":{"responses":[{"return":1}]},"list":{"responses":[{"return":[1,2]}]}}}' >hub/all.json
echo 'not JSON' >hub/.hidden/x.json
suite "python3 $tmp/mcp.py hub '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2024-11-05\"}}' \
'{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}' '{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}' \
'$(call 3 find '{"n":7}')' '$(call 4 find '{"s":"abc"}')' '$(call 5 find '{"deep":1}')' '$(call 6 close '{}')' \
'$(call 7 find '{"whole":true}')' '$(call 8 find '[]')' '{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"resources/list\"}' 'junk'; echo done"
run "$WAZA" run -o r.json eval.yaml
is 'MCP: passed' 0 "$rc"
trial final_output | sort >answers
is 'MCP: answers' '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2024-11-05","capabilities":{"tools":{}},"serverInfo":{"name":"hub","version":"0.0.0-mock"}}}
{"jsonrpc":"2.0","id":2,"result":{"tools":[{"name":"close","description":"Close","inputSchema":{"type":"object"}},{"name":"find","description":"Find","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"list","inputSchema":{"type":"object"}}]}}
{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"{\"title\":\"seven\"}"}],"isError":false}}
{"jsonrpc":"2.0","id":4,"result":{"content":[{"type":"text","text":"\"text\""}],"isError":false}}
{"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"mock server \"hub\", tool \"find\": too deep"}],"isError":true}}
{"jsonrpc":"2.0","id":6,"result":{"content":[{"type":"text","text":"null"}],"isError":false}}
{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"as is"}]}}
{"jsonrpc":"2.0","id":8,"error":{"code":-32602,"message":"\"arguments\" must be an object"}}
{"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"method not found"}}
{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"message is not JSON"}}' "$(LC_ALL=C sort answers | grep jsonrpc)"
like 'MCP: calls are tool events' '\[{"sequence":1,"tool_name":"find","args":{"n":7},"result":{"title":"seven"},"success":true,"tool":"other","mock":"hub"},*"success":false*' "$(trial tool_events)"

suite "python3 $tmp/mcp.py hub '$(call 1 find '{"x":1}')' '$(call 2 none '{}')'; echo done"
run "$WAZA" run -o r.json eval.yaml
is 'MCP: an unknown call is an error of the setup' \
    '1 infrastructure mocks: no response for tool "find" of MCP server "hub"; add one, or set "passthrough: true"' \
    "$rc $(trial error_class) $(trial error_msg)"
like 'MCP: the agent gets an error' '*no response fits these arguments*unknown tool*"isError":true*' "$(trial final_output)"
sed 's/find:$/find:\n        expect_calls: 2/' keys.yaml >k2 && mv k2 keys.yaml
suite "python3 $tmp/mcp.py hub '$(call 1 find '{"n":7}')'; echo done"
run "$WAZA" run -o r.json eval.yaml
is 'MCP: the number of calls' 'mocked tool "find": expected 2 calls, got 1' "$(trial error_msg)"

# a mock before a real server, which is itself a mock of another name
echo '{"tools":{"one":{"responses":[{"return":"real one"}]},"two":{"responses":[{"match":{"a":1},"return":"real two"}]}}}' >real.json
cat >keys.yaml <<'YAML'
mcp_mocks: [{name: hub, passthrough: true, tools: {one: {responses: [{match: {a: 1}, return: mocked}]}}}]
YAML
config="mcp_servers: {hub: {command: \"$WAZA\", args: [mcp-mock, --name=real, $tmp/real.json]}}"
suite "python3 $tmp/mcp.py hub '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-06-18\"}}' \
'{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}' '$(call 3 one '{"a":1}')' '$(call 4 one '{"b":1}')' '$(call 5 two '{"a":1}')'; echo done"
run "$WAZA" run -o r.json eval.yaml
is 'MCP passthrough: passed' 0 "$rc"
like 'MCP passthrough: the real server' '*"serverInfo":{"name":"real"*' "$(trial final_output)"
is 'MCP passthrough: all tools, once' '2' "$(trial final_output | grep '"id":2' | grep -o '"name"' | wc -l | tr -d ' ')"
is 'MCP passthrough: who answered' 'mocked real one real two' \
    "$(trial final_output | sed -n 's/.*"text":"\\"\([a-z ]*\)\\"".*/\1/p' | sort | tr '\n' ' ' | sed 's/ $//')"
config=
suite 'echo done'
run "$WAZA" run -o r.json eval.yaml
like 'MCP passthrough: needs a server' '2 *eval.yaml:4:*"passthrough" of the mock "hub" needs a server*' "$rc $err"

# executor mock: the calls of its script
cat >eval.yaml <<'YAML'
name: m
skill: s
config: {executor: mock}
mcp_mocks:
  - {name: hub, expect_calls: 1, tools: {find: {responses: [{match: {n: 7}, return: {title: seven}}, {match: {n: 8}, error: gone}]}}}
command_mocks: [{name: git, expect_calls: 1, responses: [{args: [push, "a b"], exit_code: 2}]}]
graders:
  - {type: tool_calls, required_tools: [mcp__hub__find]}
  - {type: tool_constraint, expect_tools: [{tool: find, args: {n: 7}}]}
  - {type: code, assertions: ['command_invocations[0]["exit_code"] == 2']}
tasks: [{id: a, prompt: x, mock: {output: y, tool_calls: [{name: hub-find, arguments: {n: 7}}, {name: bash, arguments: {command: "git push 'a b'"}}]}}]
YAML
run "$WAZA" run -o r.json eval.yaml
is 'mock: its script calls them, graders see it' '0 [{"command":"git","args":["push","a b"],"exit_code":2,"response_index":0}]' "$rc $(trial command_invocations)"
like 'mock: the result is that of the mock' '*"tool_name":"hub-find","args":{"n":7},"result":{"title":"seven"},"success":true*"mock":"hub"*' "$(trial tool_events)"
# what is masked is unknown: that a password was not given, too
sed "s/a b'/https:\/\/u:hunter22@h'/; s/\"a b\"/\"https:\/\/u:hunter22@h\"/; s/'command_inv.*2'/'\"hunter22\" not in str(command_invocations)', 'all(\"hunter22\" not in x for c in command_invocations for x in c[\"args\"])', 'command_invocations[0][\"exit_code\"] == 2'/" eval.yaml >e2.yaml
run "$WAZA" run -o r.json e2.yaml
like 'mock: arguments with a secret' '*"https://u:\*\*\*@h"*' "$(trial command_invocations)"
like 'mock: they cannot be checked' '1 grader_error *cannot be checked: mock does not report secrets in arguments of mocked commands*' "$rc $(trial error_class) $(trial validations)"
sed "s/'\"hunter22.*\"args\"\])', //" e2.yaml >e3.yaml
run "$WAZA" run -o r.json e3.yaml
is 'mock: the rest of such a call can' 0 "$rc"
sed 's/{n: 7}}, {name: b/{n: 9}}, {name: b/' eval.yaml >e2.yaml
run "$WAZA" run -o r.json e2.yaml
is 'mock: an unknown call' '1 infrastructure' "$rc $(trial error_class)"
like 'mock: it has failed' '\[{"sequence":1,"tool_name":"hub-find","args":{"n":9},"success":false,*' "$(trial tool_events)"
sed 's/hub-find/mcp__hub__none/' eval.yaml >e2.yaml
run "$WAZA" run -o r.json e2.yaml
like 'mock: an unknown tool' 'mocks: no response for tool "mcp__hub__none" of MCP server "hub"*' "$(trial error_msg)"
sed "s/git push 'a b'/git push 'a b' | cat/" eval.yaml >e2.yaml
run "$WAZA" run -o r.json e2.yaml
is 'mock: a number of calls' 'mocked command "git": expected 1 call, got 0' "$(trial error_msg)"

# checkpoints: their graders see the calls so far, those at the end all, each once
cat >eval.yaml <<YAML
name: m
skill: s
config: {executor: command, command: [sh, $tmp/agent.sh]}
command_mocks: [{name: tool, expect_calls: 3, responses: [{args: [x], stdout: mocked}]}]
tasks:
  - id: a
    inputs: {prompt: x, follow_up_prompts: [y, z]}
    graders: [{type: code, name: end, config: {assertions: ['len(command_invocations) == 3']}}]
    checkpoints:
      - {after_turn: 2, graders: [{type: code, name: c, config: {assertions: ['len(command_invocations) == 2']}}]}
YAML
echo 'tool x' >agent.sh
run "$WAZA" run -o r.json eval.yaml
is 'a checkpoint sees the calls so far' 0 "$rc"
like 'a checkpoint sees the calls so far: verdict' '*"turn 2: c":{*' "$(trial validations)"
sed "s/'len.*== 2'/'False'/; s/after_turn: 2/&, on_failure: stop/" eval.yaml >e2.yaml
echo 'tool z || :' >agent.sh
run "$WAZA" run -o r.json e2.yaml
is 'a checkpoint after an unknown call: an error of the setup' '1 infrastructure' "$rc $(trial error_class)"
cat >eval.yaml <<'YAML'
name: m
skill: s
config: {executor: mock}
mcp_mocks: [{name: hub, tools: {find: {responses: [{return: found}]}}}]
command_mocks: [{name: git, responses: [{args: [push], exit_code: 2}]}]
tasks:
  - id: a
    inputs: {prompt: x, follow_up_prompts: [y, z]}
    mock: {output: y, tool_calls: [{name: hub-find, arguments: {}}, {name: bash, arguments: {command: git push}}]}
    graders:
      - {type: code, name: all, config: {assertions: ['len(command_invocations) == 3']}}
      - {type: tool_calls, name: find, config: {required_tools: [mcp__hub__find], min_calls: 6, max_calls: 6}}
    checkpoints:
      - after_turn: 2
        graders:
          - {type: code, name: c, config: {assertions: ['len(command_invocations) == 2']}}
          - {type: tool_calls, name: find, config: {required_tools: [mcp__hub__find], min_calls: 4, max_calls: 4}}
YAML
run "$WAZA" run -o r.json eval.yaml
is 'mock: a checkpoint sees the calls so far' 0 "$rc"

# a process that serves all trials finds the trial by its working directory
cat >worker.py <<'PY'
import json, os, subprocess, sys
for line in sys.stdin:
    r = json.loads(line)
    s = json.load(open(r["mcp_config"]))["mcpServers"]["hub"]
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "find"}}
    a = subprocess.run([s["command"]] + s["args"], input=json.dumps(call) + "\n", text=True, stdout=subprocess.PIPE).stdout
    where = "/" if r["prompt"] == "away" else r["workspace"]
    b = subprocess.run(["tool", r["task_id"]], cwd=where, text=True, stdout=subprocess.PIPE).stdout
    print(json.dumps({"output": a + b}), flush=True)
PY
cat >eval.yaml <<YAML
name: m
skill: s
config: {executor: command, command: [python3, $tmp/worker.py], persistent: true, workers: 2, parallel: true}
mcp_mocks: [{name: hub, expect_calls: 1, tools: {find: {responses: [{return: found}]}}}]
command_mocks: [{name: tool, expect_calls: 1, responses: [{args_regex: ["[ab]"], stdout: mocked}]}]
graders: [{type: text, contains: [found, mocked]}]
tasks: [{id: a, prompt: x}, {id: b, prompt: x}]
YAML
run "$WAZA" run -o r.json eval.yaml
is 'a persistent program: both trials' 0 "$rc"
sed 's/{id: a, prompt: x}, {id: b, prompt: x}/{id: a, prompt: away}/' eval.yaml >e2.yaml
run "$WAZA" run -o r.json e2.yaml
like 'a persistent program: a call of no trial' '1 infrastructure mocks: a mocked command was called outside*' "$rc $(trial error_class) $(trial error_msg)"

# cached and stored results know the calls
printf 'x' >log.txt
cat >keys.yaml <<'YAML'
command_mocks: [{name: tool, responses: [{args: [], fixture: log.txt}]}]
YAML
suite 'tool; echo done'
run "$WAZA" run --cache --cache-dir "$tmp/cache" -o r.json eval.yaml
run "$WAZA" run --cache --cache-dir "$tmp/cache" -o r.json eval.yaml
like 'cache: used, with the calls' '*cache*\[{"command":"tool"*' "$out$err $(trial command_invocations)"
printf 'y' >log.txt
run "$WAZA" run --cache --cache-dir "$tmp/cache" -o r.json eval.yaml
is 'cache: a changed fixture is noticed' 'ydone' "$(trial final_output)"
run "$WAZA" grade --results r.json -o g.json eval.yaml
cp g.json r.json
like 'grade keeps the calls' '\[{"command":"tool"*' "$(trial command_invocations)"

# a message over 64 MiB
[ -n "${SHORT-}${WRAP-}" ] || {
	echo '{"tools":{"one":{"responses":[{"return":7}]}}}' >big.json
	head -c 68000000 /dev/zero | tr '\0' x >long
	run "$WAZA" mcp-mock big.json <long
	like 'mcp-mock: a message that is too long' '2 *"code":-32700,*Message exceeds maximum size*' "$rc $out$err"
	rm long
}

# a call that waits is cancelled: the server does not wait for it at the end
echo '{"tools":{"one":{"responses":[{"return":7,"delay_ms":600000}]}}}' >late.json
printf '%s\n' "$(call '"a"' one '{}')" '{"jsonrpc":"2.0","id":2,"method":"ping"}' \
    '{"jsonrpc":"2.0","method":"notifications/cancelled"}' \
    '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}' >ask
run "$WAZA" mcp-mock late.json <ask
is 'mcp-mock: ping, and a call that is cancelled' '0 {"jsonrpc":"2.0","id":2,"result":{}}' "$rc $out"

# recordings
cat >real.json <<'JSON'
{"tools":{"one":{"description":"One","inputSchema":{"type":"object"},"responses":[{"match":{"k":"topsecret-99"},"return":{"echo":"topsecret-99"}},{"match":{"a":1},"result":{"content":[{"type":"text","text":"plain"}]}},{"return":7}]}}}
JSON
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}' \
    '{"jsonrpc":"2.0","id":2,"method":"tools/list"}' "$(call 3 one '{"k":"topsecret-99"}')" "$(call 4 one '{"a":1}')" \
    "$(call 5 one '{}')" "$(call 6 one '{"a":1}')" >ask
MY_API_KEY=topsecret-99 run "$WAZA" mcp-record hub -o rec.json -- "$WAZA" mcp-mock real.json <ask
is 'mcp-record: transparent' '0 6' "$rc $(printf '%s\n' "$out" | grep -c jsonrpc)"
is 'mcp-record: the fixture, without the secret' '{"name":"hub","tools":{"one":{"description":"One","input_schema":{"type":"object"},"responses":[{"match":{"k":"***"},"return":{"echo":"***"}},{"match":{"a":1},"result":{"content":[{"type":"text","text":"plain"}]}},{"match_schema":{"maxProperties":0},"return":7}]}}}' \
    "$("$WAZA" parse --json rec.json)"
call 1 one '{"a":1}' >one
echo >>one
is 'mcp-record: the fixture answers like the server' "$("$WAZA" mcp-mock real.json <one)" "$("$WAZA" mcp-mock rec.json <one)"
{ call 1 one '{"user":{"password":"hunter22"},"page_token":"p1p2"}'; echo; } >one
run "$WAZA" mcp-record hub -o rec3.json -- "$WAZA" mcp-mock real.json <one
is 'mcp-record: an argument that is secret by its name' '"match":{"user":{"password":"***"},"page_token":"p1p2"}' \
    "$("$WAZA" parse --json rec3.json | grep -o '"match":{.*}}*,"return' | sed 's/,"return//')"
run "$WAZA" mcp-record hub -o rec4.json -- sh -c 'echo "ready" >&2; exec "$0" mcp-mock real.json' "$WAZA" <one
is 'mcp-record: what the server prints for people' '0 ready' "$rc $err"
run "$WAZA" mcp-record hub -o rec2.json -- false <ask
like 'mcp-record: a server that ends' '2 *the MCP server "hub" ended with status 1*' "$rc $err"
run "$WAZA" mcp-record hub -o rec2.json -- "$tmp/nowhere" <ask
like 'mcp-record: no server' '2 *nowhere*' "$rc $err"

rm -f tool.json
for n in 1 2 3 4 5 6
do MY_API_KEY=topsecret-99 "$WAZA" command-record tool -o tool.json -- sh -c 'cat; echo "$1" >&2; echo topsecret-99; exit 5' sh "$n" --password=pw <log.txt >c$n 2>&1 &
done
wait
run "$WAZA" command-record tool -o tool.json -- sh -c 'exit 5'
is 'command-record: the exit status' 5 "$rc"
is 'command-record: the output is unchanged' 'y topsecret-99' "$(printf 'y'; "$WAZA" command-record tool -o t2.json -- echo ' topsecret-99')"
is 'command-record: all calls at once, once each' 7 "$(grep -c exit_code tool.json)"
is 'command-record: no secret' 0 "$(grep -c 'topsecret\|=pw' tool.json)"
run "$WAZA" command-record tool -o t4.json -- sh -c 'echo "-u me:hunter2222 is wrong: hunter2222"' sh -u me:hunter2222 https://me:swordfish9@host/x \
    'curl -u b:open1 https://b:sesame@host' --token tok1
like 'command-record: secrets by their form' '*"args":[[]"-c","echo *","sh","-u","me:***","https://me:***@host/x","curl -u b:*** https://b:***@host","--token","[[]REDACTED]"],"stdout":"-u me:*** is wrong: ***\\n"*' "$("$WAZA" parse --json t4.json)"
is 'command-record: none is left' 0 "$(grep -c 'hunter\|swordfish\|open1\|sesame\|tok1' t4.json)"
{ call 1 one '{"cmd":"git push https://me:hunter2222@host --token tok1","k":"hunter2222"}'; echo; } >one
run "$WAZA" mcp-record hub -o rec4.json -- "$WAZA" mcp-mock real.json <one
is 'mcp-record: secrets by their form' '"match":{"cmd":"git push https://me:***@host --token ***","k":"***"}' \
    "$("$WAZA" parse --json rec4.json | grep -o '"match":{[^}]*}')"
command -p ln -s nowhere.json t5.json
run "$WAZA" command-record tool -o t5.json -- echo x
is 'command-record: not through a symbolic link' '2 x' "$rc $out$(command -p ls nowhere.json 2>/dev/null)"
cat >keys.yaml <<'YAML'
command_mocks: [{name: tool, fixtures: t3.json}]
YAML
"$WAZA" command-record tool -o t3.json -- echo from the record >c1
suite 'tool from the record; echo done'
run "$WAZA" run -o r.json eval.yaml
is 'command-record: a suite uses the file' 'from the record
done' "$(trial final_output)"

# messages with their places
bad() {
	printf 'name: m\nskill: s\nconfig: {executor: command, command: [true]}\n%s\ntasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]\n' "$2" >eval.yaml
	run "$WAZA" validate eval.yaml
	like "$1" "2 *$3*" "$rc $out$err"
}
bad 'no name' 'mcp_mocks: [{tools: {a: {responses: [{return: 1}]}}}]' 'eval.yaml:4:*name*'
bad 'no tools' 'mcp_mocks: [{name: a}]' 'eval.yaml:4:13: the mock "a" has no tools'
bad 'no responses' 'mcp_mocks: [{name: a, tools: {t: {}}}]' 'eval.yaml:4:*tool "t" has no responses'
bad 'a wrong pattern' 'mcp_mocks: [{name: a, tools: {t: {responses: [{match_regex: {x: "("}, return: 1}]}}}]' 'eval.yaml:4:65: "match_regex": '
bad 'a wrong schema' 'mcp_mocks: [{name: a, tools: {t: {responses: [{match_schema: {type: 7}, return: 1}]}}}]' 'eval.yaml:4:*"match_schema": '
bad 'no answer' 'mcp_mocks: [{name: a, tools: {t: {responses: [{match: {}}]}}}]' 'eval.yaml:4:47: a response needs "return" or "error"'
bad 'no fixtures' 'mcp_mocks: [{name: a, fixtures: nowhere}]' 'nowhere: No such file'
echo '{"responses": [{"return": 1}' >broken.json
bad 'a broken fixture' 'mcp_mocks: [{name: a, fixtures: broken.json}]' 'broken.json:2:1: '
bad 'a twin' 'mcp_mocks: [{name: a, tools: {t: {responses: [{return: 1}]}}}, {name: a, tools: {t: {responses: [{return: 1}]}}}]' 'eval.yaml:4:*duplicate mock "a"'
bad 'a wrong name' 'command_mocks: [{name: "a b", responses: [{args: []}]}]' 'eval.yaml:4:24: "a b" is not the name of a command'
bad 'a twin in other case' 'command_mocks: [{name: a, responses: [{args: []}]}, {name: A, responses: [{args: []}]}]' 'eval.yaml:4:*duplicate mock "A"'
bad 'no arguments' 'command_mocks: [{name: a, responses: [{stdout: x}]}]' 'eval.yaml:4:39: a response needs "args" or "args_regex"'
bad 'two outputs' 'command_mocks: [{name: a, responses: [{args: [], stdout: x, fixture: y}]}]' '"stdout" and "fixture" exclude each other'
bad 'a fixture outside' 'command_mocks: [{name: a, responses: [{args: [], fixture: ../y}]}]' 'eval.yaml:4:*"fixture" must be a path below the suite'
bad 'a missing fixture' 'command_mocks: [{name: a, responses: [{args: [], fixture: y}]}]' 'eval.yaml:4:*y: No such file'
bad 'a status' 'command_mocks: [{name: a, responses: [{args: [], exit_code: 256}]}]' 'eval.yaml:4:*exit_code*255'

# starting a server with 1,000 tools: the least of ten times, with tools/list; it is
# below 5 ms on a machine of this decade; a loaded one has ten times as much
if [ -n "${SHORT-}${WRAP-}${T_SLOW-}" ] || grep -q __asan_init "$WAZA"
then skip 'the time to start: too slow here'
else
	is '1,000 tools: at most 50 ms of processor time' ok "$(python3 - "$WAZA" <<'PY'
import json, resource, subprocess, sys
schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
tools = {"tool_%d" % i: {"description": "Tool %d" % i, "input_schema": schema,
    "responses": [{"match": {"a": "x"}, "return": i}]} for i in range(1000)}
json.dump({"tools": tools}, open("tools.json", "w"))
ask = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n{"jsonrpc":"2.0","id":2,"method":"tools/list"}\n'
best = 1
for i in range(10):
    a = resource.getrusage(resource.RUSAGE_CHILDREN)
    p = subprocess.run([sys.argv[1], "mcp-mock", "tools.json"], input=ask, text=True, stdout=subprocess.PIPE)
    b = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert p.stdout.count("inputSchema") == 1000
    best = min(best, b.ru_utime + b.ru_stime - a.ru_utime - a.ru_stime)
print("ok" if best <= 0.05 else "%.1f ms" % (best * 1000))
PY
)"
fi

is 'nothing is left' '' "$(ls "$TMPDIR")"
done_testing
