# Evaluation clients (seeds/004): the flow of the document over a real socket, the
# behaviour of real clients, clients that die, reconnect or never answer, secrets;
# `waza run --http`, `waza serve` and `waza worker`.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
needs double_evalclient
talker=$DOUBLES/double_evalclient
go= one= two=
trap 'for p in $srv $go $one $two $pid_a; do kill -9 "$p"; done; rm -rf "$tmp"' EXIT

# how a server that ends says so; byte by byte there is not time enough
bye='end 1001*'
[ -z "${SHORT-}" ] || bye='end *'

# begin OPTION...: waza run in the background, until clients can come
begin() {
	: >log
	"$WAZA" run --http 127.0.0.1:0 -o r.json "$@" </dev/null >report 2>log &
	go=$!
	wait_until 120 has log 'evaluation clients on'
	port=$(sed -n 's/.*evaluation clients on ws:.*://p' log)
}

# over: the run has ended; its status in $rc
over() {
	rc=0
	wait "$go" || rc=$?
	go=
}

# field FILE KEY: the values of a key in a results file, in order
field() {
	"$WAZA" parse --pretty "$1" | sed -n "s/^ *\"$2\": \(.*[^,]\),*\$/\1/p"
}

# classes: of the errors of a results file, in the order of its tasks
classes() {
	"$WAZA" parse --pretty r.json | awk '/^ *"runs": / { on = 1 } /^ *"error_class": / && on { gsub(/,/, "", $2); print $2; on = 0 }'
}

# get PATH: what HTTP has there
get() {
	printf 'GET %s HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n' "$1" | "$RPCPIPE" talk -k "$port"
}
# gone: no client is there
gone() {
	get /health | grep -q '"clients":0'
}

register='> {"type":"register","clientId":"550e8400-e29b-41d4-a716-446655440000","capabilities":{"tools":["extract_schema_data"],"maxConcurrency":3,"version":"1.0.0"}}'

#
# Checks before anything runs.
#
cat >suite.yaml <<'YAML'
name: remote
skill: s
config: {executor: remote}
tasks:
  - id: test-001
    name: Example
    tool: extract_schema_data
    url: https://example.com
    input: {schema: {type: object, properties: {title: {type: string}}}}
    timeout: 30000
    metadata: {tags: [x], retries: 2, priority: high, owner: me}
    expected: {output_contains: [Example Domain]}
YAML
run "$WAZA" run suite.yaml -o none.json
is 'no listener: status' 2 "$rc"
like 'no listener: what to do' '*give --http HOST:PORT, or run the suite in "waza serve"*' "$err"
ok 'no listener: nothing was run' [ ! -e none.json ]
run "$WAZA" validate suite.yaml
is 'a suite for clients is valid' 0 "$rc"
cat >bad.yaml <<'YAML'
name: bad
skill: s
config: {executor: remote, remote: {retries: 1, timeout: soon}}
tasks:
  - {id: none, prompt: x, expected: {output_contains: [x]}}
  - {id: types, tool: 7, timeout: 0, metadata: {retries: -1, priority: soon}, expected: {output_contains: [x]}}
  - {id: list, tool: [a], metadata: [b], expected: {output_contains: [x]}}
  - {id: twice, tool: a, evaluation: {tool: b, tmeout: 5}, expected: {output_contains: [x]}}
  - {id: tmpl, tool: a, url: 'x/{{.Vars.y}}', input: [{a: '{{.Foo}}'}], expected: {output_contains: [x]}}
  - {id: turns, tool: a, timeout: 5, inputs: {follow_up_prompts: [more]}, expected: {output_contains: [x]}}
YAML
run "$WAZA" validate bad.yaml
is 'invalid: status' 2 "$rc"
for want in \
    'bad.yaml:3:37: warning: unknown key "retries"' \
    'bad.yaml:3:58: "timeout" must be a whole number, not a string' \
    'bad.yaml:5:10: executor "remote" needs a "tool"' \
    'bad.yaml:6:35: "timeout" must be from 1 to ' \
    'bad.yaml:6:58: "retries" must be from 0 to 100' \
    'bad.yaml:6:72: warning: "priority" must be low, normal, high or critical' \
    'bad.yaml:7:22: "tool" must be a string' \
    'bad.yaml:7:37: "metadata" must be a mapping, not a list' \
    'bad.yaml:8:45: "tool" is given twice' \
    'bad.yaml:8:48: warning: unknown key "tmeout" (did you mean "timeout"?)' \
    'bad.yaml:9:30: line 1 of "url"' \
    'bad.yaml:9:59: line 1 of "input"' \
    'bad.yaml:10:35: warning: "timeout" is in milliseconds' \
    'bad.yaml:10:10: warning: executor "remote" sends one prompt'
do ok "what is wrong: $want" has "$tmp/out" "$want"
done
cat >slip.yaml <<'YAML'
name: slip
skill: s
tasks:
  - {id: a, input: {prompt: x}, timeout: 9, prompt: x, expected: {output_contains: [x]}}
  - {id: b, tool: t, prompt: x, expected: {output_contains: [x]}}
YAML
run "$WAZA" run -q slip.yaml
is 'slips: status' 0 "$rc"
run "$WAZA" run slip.yaml
ok 'slips: input' has "$tmp/err" 'slip.yaml:4:13: warning: "input" has no effect without "tool" (did you mean "inputs"?)'
ok 'slips: timeout' has "$tmp/err" '"timeout" has no effect without "tool" (did you mean "timeout_seconds"?)'
ok 'slips: a tool that no client has' has "$tmp/err" 'slip.yaml:5:5: warning: "tool" has no effect: it is for executor "remote", not "mock"'
# the executor of the run decides, not that of the suite
cat >given.yaml <<'YAML'
name: given
skill: s
config: {remote: {tool: t}}
tasks:
  - {id: a, input: {prompt: x}, timeout: many, prompt: x, expected: {output_contains: [x]}}
YAML
run "$WAZA" run --executor remote given.yaml
is 'remote by option: the keys of tasks are read' \
    '2 given.yaml:5:42: "timeout" must be a whole number, not a string' "$rc $err"
run "$WAZA" run -q --executor mock given.yaml
is 'mock by option: the keys of tasks are ignored' '0 ' "$rc $err"
mkdir -p evals
cat >evals/flights.yaml <<'YAML'
id: "google-flights-001"
name: "Extract Google Flights Search Results"
description: "Extract flight options"
enabled: true
target:
  url: "https://www.google.com/travel/flights/search?tfs=CBwQAhoj"
  wait_for: "networkidle"
  wait_timeout: 5000
tool: "extract_schema_data"
timeout: 60000
input: {schema: {type: "object"}, instruction: "Extract"}
validation:
  type: "llm_judge"
  llm_judge:
    model: "gpt-4.1-mini"
    temperature: 0.3
    criteria:
      - "Flight times are in proper format"
      - "Prices are numeric values with currency"
metadata:
  tags: ["travel"]
  priority: "high"
  timeout: 60000
  retries: 2
  flaky: true
YAML
cat >files.yaml <<'YAML'
name: files
skill: s
config:
  executor: remote
  judge: {executor: mock, mock: {output: '{"passed": true, "score": 1, "reason": "fine"}'}}
tasks: [evals/*.yaml]
YAML
run "$WAZA" validate files.yaml
is 'the files of evaluation servers are tasks' 0 "$rc"
is 'the files of evaluation servers: nothing to say' '' "$(grep -i warning "$tmp/out")"

begin files.yaml
printf '%s\n' '<welcome' '> {"type":"register","clientId":"a"}' '> {"type":"ready"}' '<evaluate' \
    '> {"jsonrpc":"2.0","result":{"status":"success","output":{"flights":[]}},"id":"@1@"}' end | "$talker" talk "$port" >said
over
is 'the files of evaluation servers: passes' 0 "$rc"
like 'the files of evaluation servers: what is asked' '*"url":"https://www.google.com/*","target":{"url":"https://www.google.com/*","wait_for":"networkidle","wait_timeout":5000},"tool":"extract_schema_data",*"timeout":60000,"metadata":{"tags":\["travel"],"priority":"high","timeout":60000,"retries":2,"flaky":true}*' "$(grep evaluate said)"
like 'the files of evaluation servers: a judge is asked' '*"validations":{"validation":{"identifier":"validation","type":"prompt","score":1*' "$("$WAZA" parse r.json)"
printf 'id,q,page\none,what,a.html\ntwo,"why ""so""",b.html\n' >rows.csv
cat >rows.yaml <<'YAML'
name: rows
skill: s
config: {executor: remote, remote: {tool: ask, url: 'https://example.org/{{.Vars.page}}', input: {q: '{{.Vars.q}}?', n: 7}}}
tasks_from: rows.csv
graders: [{type: text, config: {contains: [ok]}}]
YAML
begin rows.yaml
printf '%s\n' '<welcome' '> {"type":"register","clientId":"a"}' '> {"type":"ready"}' '<evaluate' \
    '> {"jsonrpc":"2.0","result":"ok","id":"@1@"}' '<evaluate' '> {"jsonrpc":"2.0","result":"ok","id":"@2@"}' end |
    "$talker" talk "$port" >said
over
is 'rows of a table: pass' 0 "$rc"
is 'rows of a table: each its own question' '"url":"https://example.org/a.html","tool":"ask","input":{"q":"what?","n":7}
"url":"https://example.org/b.html","tool":"ask","input":{"q":"why \"so\"?","n":7}' \
    "$(sed -n 's/.*\("url".*\),"timeout".*/\1/p' said)"

#
# The complete flow.
#
begin suite.yaml --stream-json
cat >flow <<SCRIPT
<
$register
<
> {"type":"ready","timestamp":"2024-01-01T00:00:00Z"}
<
> {"type":"status","evaluationId":"test-001","status":"running","progress":0.5,"message":"Processing page content..."}
> {"jsonrpc":"2.0","result":{"status":"success","output":{"title":"Example Domain"},"executionTime":1500,"toolCalls":[{"tool":"extract_schema_data","timestamp":"2024-01-01T00:00:00Z","duration":1400,"status":"success"}],"metadata":{"pageLoadTime":800}},"id":"@1@"}
end
SCRIPT
"$talker" talk "$port" <flow >said
over
is 'the flow: the run passes' 0 "$rc"
like 'the flow: welcome' '{"type":"welcome","serverId":"*","version":"1.0.0",*"timestamp":"????-??-??T??:??:??.???Z"}' "$(sed -n 1p said)"
is 'the flow: registration_ack' '{"type":"registration_ack","clientId":"550e8400-e29b-41d4-a716-446655440000","status":"accepted","message":"Client registered successfully","evaluationsCount":1}' "$(sed -n 2p said)"
is 'the flow: evaluate' '{"jsonrpc":"2.0","method":"evaluate","params":{"evaluationId":"test-001","name":"Example","url":"https://example.com","tool":"extract_schema_data","input":{"schema":{"type":"object","properties":{"title":{"type":"string"}}}},"timeout":30000,"metadata":{"tags":["x"],"retries":2,"priority":"high","owner":"me"}},"id":"ID"}' \
    "$(sed -n 3p said | sed 's/"id":"rpc-[0-9a-f]*-[0-9]*"/"id":"ID"/')"
like 'the flow: the end' "$bye" "$(sed -n 4p said)"
is 'the flow: the output' '"{\"title\":\"Example Domain\"}"' "$(field r.json final_output)"
like 'the flow: its own time is kept' '*"executionTime":1500,"metadata":{"pageLoadTime":800}*' "$("$WAZA" parse r.json)"
like 'the flow: the call is kept' '*"tool_name":"extract_schema_data"*"duration":1400*' "$("$WAZA" parse r.json)"
ok 'the flow: progress is reported' has report '"step":"executing","detail":"50%: Processing page content..."'

# what BrowserOperator's client does: no tools, no key, its own test of the
# connection, auth_verify, pings, a status after the reply
cat >real.yaml <<'YAML'
name: real
skill: s
config: {executor: remote, trials_per_task: 2, model: gpt-x}
tasks: [{id: a, tool: anything, prompt: 'do {{.Iteration}}', expected: {output_contains: ['null']}}]
YAML
begin real.yaml
cat >real <<'SCRIPT'
<welcome
> {"id":"test-connection","method":"ping","params":{}}
<
> {"type":"register","clientId":"base:tab","capabilities":{"tools":[],"maxConcurrency":3,"version":"1.0.0"}}
<
> {"type":"auth_verify","clientId":"base:tab","verified":true}
> {"type":"ready","timestamp":"x"}
<
> {"type":"ping","timestamp":"x"}
<
ping
> {"jsonrpc":"2.0","result":null,"id":"@1@"}
> {"type":"status","evaluationId":"a","status":"completed","progress":1}
<
> {"jsonrpc":"2.0","result":{"status":"success","output":null},"id":"@2@"}
> {"jsonrpc":"2.0","result":"late","id":"@1@"}
end
SCRIPT
"$talker" talk "$port" <real >said
over
is 'a real client: passes, for null is a result' 0 "$rc"
like 'a real client: its test is answered' '{"jsonrpc":"2.0","result":{"type":"pong",*},"id":"test-connection"}' "$(sed -n 2p said)"
like 'a real client: pong' '{"type":"pong","timestamp":"*"}' "$(sed -n 5p said)"
like 'a real client: the prompt is its message' '*"input":{"message":"do 1"},"model":{"main_model":"gpt-x"},"timeout":300000,"metadata":{"tags":\[],"retries":0,"priority":"normal"}*' "$(sed -n 4p said)"
is 'a real client: both answers' '"null"
"null"' "$(field r.json final_output)"

# each code of the document as the class of an error
cat >codes.yaml <<'YAML'
name: codes
skill: s
config: {executor: remote, workers: 8}
tasks:
  - {id: c-32000, tool: t, expected: {output_contains: [x]}}
  - {id: c-32001, tool: t, expected: {output_contains: [x]}}
  - {id: c-32002, tool: t, expected: {output_contains: [x]}}
  - {id: c-32003, tool: t, expected: {output_contains: [x]}}
  - {id: c-32004, tool: t, expected: {output_contains: [x]}}
  - {id: c-32005, tool: t, expected: {output_contains: [x]}}
  - {id: c-32601, tool: t, expected: {output_contains: [x]}}
  - {id: c-32602, tool: t, expected: {output_contains: [x]}}
YAML
begin codes.yaml
{
	echo '<welcome'
	echo '> {"type":"register","clientId":"a","capabilities":{"maxConcurrency":8}}'
	echo '> {"type":"ready"}'
	echo '< 9'
	n=0
	for code in 32000 32001 32002 32003 32004 32005 32601 32602
	do
		n=$((n + 1))
		echo "> {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-$code,\"message\":\"M$n\",\"data\":{\"error\":\"because\"}},\"id\":\"@$n@\"}"
	done
	echo end
} >codes
"$talker" talk "$port" <codes >said
over
is 'codes: status' 1 "$rc"
is 'codes: their classes' '"agent_error" "timeout" "infrastructure" "infrastructure" "infrastructure" "infrastructure" "infrastructure" "agent_error"' \
    "$(classes | tr '\n' ' ' | sed 's/ $//')"
ok 'codes: in words' has report 'M1: because (-32000)'

#
# Clients that are lost.
#
cat >lost.yaml <<'YAML'
name: lost
skill: s
config: {executor: remote, workers: 2}
tasks:
  - {id: keeps, tool: t, metadata: {retries: 1}, expected: {output_contains: [done]}}
  - {id: fails, tool: t, expected: {output_contains: [done]}}
YAML
begin lost.yaml --config-json '{"remote":{"lost_seconds":1}}'
printf '%s\n' '<welcome' '> {"type":"register","clientId":"doomed","capabilities":{"maxConcurrency":2}}' \
    '> {"type":"ready"}' '< 3' 'signal both' 'wait never' | "$talker" talk "$port" >doomed &
one=$!
wait_until 120 [ -e both ]
printf '%s\n' '<welcome' '> {"type":"register","clientId":"other"}' '<registration_ack' '> {"type":"ready"}' 'signal there' \
    '<evaluate' '> {"jsonrpc":"2.0","result":"done","id":"@1@"}' end | "$talker" talk "$port" >other &
two=$!
wait_until 120 [ -e there ]
kill -9 "$one"
wait "$one" 2>/dev/null
one=
wait "$two"
two=
over
is 'killed in the middle: status' 1 "$rc"
is 'killed in the middle: with a retry the other does it' '"passed"' "$("$WAZA" parse --pretty r.json | grep -A8 '"test_id": "keeps"' | sed -n 's/^ *"status": \("[a-z]*"\),*/\1/p' | head -n 1)"
ok 'killed in the middle: without one it is the resource that failed' has report 'resource: client doomed disconnected'
is 'killed in the middle: nothing is counted twice' 2 "$(grep -o '"run_number"' r.json | grep -c .)"
ok 'killed in the middle: as infrastructure' has r.json infrastructure
is 'killed in the middle: once at the other' 1 "$(grep -c '"evaluate"' other)"

# a client that reconnects keeps its queue, and its late answers count
cat >back.yaml <<'YAML'
name: back
skill: s
config: {executor: remote, workers: 3}
tasks:
  - {id: a, tool: t, expected: {output_contains: [done]}}
  - {id: b, tool: t, expected: {output_contains: [done]}}
  - {id: c, tool: t, expected: {output_contains: [done]}}
YAML
begin back.yaml
printf '%s\n' '<welcome' '> {"type":"register","clientId":"me","capabilities":{"maxConcurrency":2}}' \
    '> {"type":"ready"}' '< 3' '> {"jsonrpc":"2.0","result":"done","id":"@1@"}' '<' drop | "$talker" talk "$port" >first
id=$(sed -n 's/.*"id":"\(rpc-[^"]*\)"}$/\1/p' first | sed -n 2p)
{
	printf '%s\n' '<welcome' '> {"type":"register","clientId":"me","capabilities":{"maxConcurrency":2}}' '<'
	printf '> {"jsonrpc":"2.0","result":"done","id":"%s"}\n' "$id"
	printf '%s\n' '> {"type":"ready"}' '<' '> {"jsonrpc":"2.0","result":"done","id":"@1@"}' end
} | "$talker" talk "$port" >second
over
is 'back again: passes' 0 "$rc"
like 'back again: what it has' '*"status":"accepted"*"evaluationsCount":2}' "$(sed -n 2p second)"
like 'back again: only what is left is sent again' '*"evaluationId":"c"*' "$(sed -n 3p second)"
like 'back again: then the end' "$bye" "$(sed -n 4p second)"
is 'back again: each once' 3 "$(grep -o '"run_number"' r.json | grep -c .)"

# the newest connection wins, the old one is closed cleanly
begin lost.yaml --task keeps
printf '%s\n' '<welcome' '> {"type":"register","clientId":"me"}' '> {"type":"ready"}' '<evaluate' 'signal has' end |
    "$talker" talk "$port" >first &
one=$!
wait_until 120 [ -e has ]
printf '%s\n' '<welcome' '> {"type":"register","clientId":"me"}' '> {"type":"ready"}' '<evaluate' \
    '> {"jsonrpc":"2.0","result":"done","id":"@1@"}' end | "$talker" talk "$port" >second
wait "$one"
one=
over
is 'the newest wins: passes' 0 "$rc"
like 'the newest wins: the old one is closed' 'end 1000 *' "$(tail -n 1 first)"

# late: the client's own error takes precedence; a silent client times out
cat >late.yaml <<'YAML'
name: late
skill: s
config: {executor: remote, workers: 2}
tasks:
  - {id: mute, tool: t, timeout: 300, expected: {output_contains: [x]}}
  - {id: nobody, tool: unknown, timeout_seconds: 1, expected: {output_contains: [x]}}
YAML
begin late.yaml --config-json '{"remote":{"grace_seconds":1}}'
printf '%s\n' '<welcome' '> {"type":"register","clientId":"mute","capabilities":["t"]}' '> {"type":"ready"}' '<evaluate' end |
    "$talker" talk "$port" >said
over
ok 'late: no answer' has report 'client mute did not answer within 300 ms'
ok 'late: nobody has it' has report 'resource: no client with tool "unknown" connected within 1 s'
is 'late: classes' '"timeout" "infrastructure"' "$(classes | tr '\n' ' ' | sed 's/ $//')"

#
# Secrets.
#
secret=sEcReT-$$-pp
for key in '' ',"secretKey":"wrong"' ",\"secretKey\":\"$secret\""
do
	WAZA_AUTH_TOKEN=$secret begin lost.yaml --task keeps
	printf '%s\n' '<' '> {"type":"ping"}' '<' "> {\"type\":\"register\",\"clientId\":\"me\"$key}" '<' \
	    '> {"type":"ready"}' '<' '> {"jsonrpc":"2.0","result":"done","id":"@1@"}' end |
	    "$talker" talk "$port" >"said$key" 2>&1 || :
	case $key in
	*EcReT*)
		over
		is 'the right key: passes' 0 "$rc" ;;
	*)	kill "$go"
		over
		like "no right key$key: rejected" '*"status":"rejected","message":"*","reason":"Invalid secret key"}' "$(sed -n 3p "said$key")" ;;
	esac
done
printf '%s\n' '<' '> {"type":"register","clientId":"me"}' '<' end >no-key
WAZA_AUTH_TOKEN=$secret begin lost.yaml --task keeps
"$talker" talk "$port" <no-key >closed
kill "$go"
over
is 'no key: closed' 'end 1008 Invalid secret key' "$(tail -n 1 closed)"
ok 'the secret is never sent, nor written' sh -c "! grep -l '$secret' said* closed r.json log report | grep ."
# pages from elsewhere are allowed by the settings only
knock() {
	printf 'GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nOrigin: devtools://devtools\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n' |
	    "$RPCPIPE" talk -k -n 1 "$port" | tr -d '\r'
}
begin lost.yaml --task keeps
like 'a page from elsewhere is refused' 'HTTP/1.1 403 *' "$(knock)"
kill "$go"
over
begin lost.yaml --task keeps --config-json '{"origins":["devtools://devtools"]}'
like 'an allowed page from elsewhere is accepted' 'HTTP/1.1 101 *' "$(knock)"
kill "$go"
over
: >readable
chmod 644 readable
run "$WAZA" run lost.yaml --http 127.0.0.1:0 --token-file readable
is 'a token that others can read: status' 2 "$rc"
run "$WAZA" run lost.yaml --http 0.0.0.0:0
is 'not loopback: status' 2 "$rc"
run "$WAZA" run lost.yaml --http 0.0.0.0:0 --allow-remote
like 'not loopback: needs a token' '*--allow-remote needs a token*' "$err"

#
# waza worker
#
worker() {
	"$WAZA" worker --once "$@" "ws://127.0.0.1:$port" >work.out 2>work.log
}
cp -r "$top/examples/remote" example
out=$(sh example/run.sh "$WAZA" | sed '/^TAP/d')
is 'the example' 'ok 1 - Count the words of a text
ok 2 - greet
ok 3 - The same, but louder
1..3' "$out"
cat >work.yaml <<'YAML'
name: work
skill: s
config: {executor: remote, workers: 8}
tasks:
  - {id: json, tool: json, input: [1, {a: b}], expected: {output_contains: ['{"got":[1,{"a":"b"}]}']}}
  - {id: text, tool: text, input: null, url: u, expected: {output_contains: [u text]}}
  - {id: fails, tool: fails, expected: {output_contains: [x]}}
  - {id: slow, tool: slow, timeout: 300, expected: {output_contains: [x]}}
  - {id: lacks, tool: lacks, timeout_seconds: 1, expected: {output_contains: [x]}}
YAML
begin work.yaml
worker --tool 'json=printf "{\"got\": "; cat; echo "}"' --tool 'text=echo $WAZA_URL $WAZA_EVALUATION_ID' \
    --tool 'fails=echo oh dear >&2; exit 3' --tool 'slow=tail -f /dev/null' --concurrency 3
is 'worker: ends with the server' 0 $?
over
is 'worker: what it did' '"{\"got\":[1,{\"a\":\"b\"}]}"
"u text"
""
""
""' "$(field r.json final_output)"
is 'worker: what it could not' '"agent_error" "timeout" "infrastructure"' "$(classes | tr '\n' ' ' | sed 's/ $//')"
ok 'worker: why' has report 'oh dear (-32000)'

# a worker that is terminated reports that and ends its command
begin lost.yaml --task keeps
: >"$LOG"
"$WAZA" worker -q "ws://127.0.0.1:$port" --id w --tool "t=echo \$\$ >>$LOG; tail -f /dev/null" &
one=$!
wait_until 120 lines "$LOG" 1
"$WAZA" worker -q --once "ws://127.0.0.1:$port" --tool 't=echo done' &
two=$!
kill "$one"
rc=0
wait "$one" || rc=$?
one=
is 'a worker that is asked to end: status' 0 "$rc"
ok 'a worker that is asked to end: its command has ended' children_gone_now
wait "$two"
two=
over
is 'a worker that is asked to end: another does it' 0 "$rc"

# a worker that the server lost and that reconnects: its work counts, also if the
# reply went into the lost connection
for when in before after
do
	rm -f go-on
	begin work.yaml --task text --config-json '{"remote":{"idle_seconds":3,"ping_seconds":1,"lost_seconds":100}}'
	: >"$LOG"
	"$WAZA" worker --once -q "ws://127.0.0.1:$port" \
	    --tool "text=echo x >>$LOG; until [ -e go-on ]; do \"$RPCPIPE\" nap; done; echo \$WAZA_URL text; echo y >>$LOG" &
	one=$!
	wait_until 120 lines "$LOG" 1
	kill -STOP "$one"
	ok "a silent worker, whose command ends $when it wakes up: is lost" wait_until 120 gone
	if [ "$when" = after ]
	then kill -CONT "$one"; : >go-on
	else : >go-on; wait_until 120 lines "$LOG" 2; kill -CONT "$one"
	fi
	over
	is "a silent worker: comes back, $when" 0 "$rc"
	is "a silent worker: did it once, $when" 1 "$(grep -c x "$LOG")"
	wait "$one"
	is "a silent worker: ends with the server, $when" 0 $?
done
one=
WAZA_AUTH_TOKEN=$secret begin work.yaml --task text
run "$WAZA" worker "ws://127.0.0.1:$port" --tool text=x
is 'worker without the token: status' 2 "$rc"
like 'worker without the token: why' '*registration rejected: Invalid secret key' "$err"
WAZA_AUTH_TOKEN=$secret worker --tool 'text=echo "$WAZA_URL text $WAZA_AUTH_TOKEN"'
is 'worker with the token: status' 0 $?
over
is 'worker with the token: passes' 0 "$rc"
is 'worker with the token: its commands do not have it' '"u text"' "$(field r.json final_output | sed 's/ "$/"/')"
# other servers: their answers to the registration
"$DOUBLES/ws_echo" 2>address &
one=$!
wait_until 120 lines address 1
talk="ws://$(sed 's/.*http:\/\///; s/\/$//' address)/talk?first=%7B%22type%22:%22welcome%22%7D&then=%7B%22type%22:%22registration_ack%22,"
run "$WAZA" worker "$talk%22status%22:%22deferred%22%7D" --tool a=b
is 'worker: an unknown status: status' 2 "$rc"
like 'worker: an unknown status is named' '*/talk*: the server answered the registration with the unknown status "deferred" (known: accepted, rejected)' "$err"
run "$WAZA" worker "$talk%22status%22:%22pending%22,%22message%22:%22wait%22%7D" --tool a=b
like 'worker: and what the server says about it' '*unknown status "pending" (known: accepted, rejected): wait' "$err"
run "$WAZA" worker "$talk%22x%22:1%7D" --tool a=b
like 'worker: no status' '*unknown status "" *' "$err"
run "$WAZA" worker "$talk%22status%22:%22rejected%22,%22message%22:%22full%22%7D" --tool a=b
like 'worker: rejected without a reason' '*: registration rejected: full' "$err"
kill "$one"
wait "$one" 2>/dev/null
one=
run "$WAZA" worker wss://example.org/ --tool a=b
like 'worker: only ws' '*wss:// is not supported*' "$err"
run "$WAZA" worker ws://127.0.0.1:1 --tool a
like 'worker: a tool without a command' '*--tool must be NAME=COMMAND, not "a"*' "$err"
run "$WAZA" worker ws://127.0.0.1:1
like 'worker: no tool' '*needs at least one --tool*' "$err"
run "$WAZA" worker --attempts 2 ws://127.0.0.1:1 --tool a=b
is 'worker: gives up: status' 2 "$rc"
like 'worker: gives up: why' '*onnection refused*' "$err"

#
# waza serve has them as well: a run by an API, the list of clients
#
: >log
"$WAZA" serve --http 127.0.0.1:0 </dev/null 2>log &
srv=$!
wait_until 120 has log 'listening on'
port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' log)
get /api/v1/events >feed 2>/dev/null &
ok 'serve: the stream of changes begins with the list' wait_until 120 has feed '{"clients":[],'
"$WAZA" worker -q "ws://127.0.0.1:$port" --id w1 --name Worker --tool 'text=echo $WAZA_URL text' &
one=$!
ok 'serve: a client is announced' wait_until 120 has feed '"clientId":"w1"'
ready() {
	get /api/v1/clients | grep -q '"ready":true'
}
ok 'serve: a client is there' wait_until 120 ready
like 'serve: its entry' '*{"clients":\[{"clientId":"w1","name":"Worker","tools":\["text"],"maxConcurrency":1,"version":"*","connected":true,"ready":true,"running":0,"done":0,"failed":0,"connectedAt":"*","lastSeen":"*"}],"queued":0}' "$(get /api/v1/clients | tail -n 1)"
like 'serve: it is counted' '*"clients":1}' "$(get /health | tail -n 1)"
is 'serve: a run by its clients' '"completed"' "$(printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"work.yaml","tasks":["text"]}}' |
    "$RPCPIPE" talk "$port" | sed -n 's/.*"method":"eval.complete".*"status":\("[a-z]*"\).*/\1/p')"
like 'serve: it has done one' '*"done":1,"failed":0*' "$(get /api/v1/clients | tail -n 1)"
kill "$one"
wait "$one"
one=
ok 'serve: it has disconnected' wait_until 120 gone
# the owner of a run disconnects: the client gets a cancellation
: >"$LOG"
"$WAZA" worker -q "ws://127.0.0.1:$port" --tool "text=echo \$\$ >>$LOG; tail -f /dev/null" &
one=$!
client a "$port"
say a '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"work.yaml","tasks":["text"]}}'
ok 'serve: a run that hangs' wait_until 120 lines "$LOG" 1
die a
ok 'serve: it is cancelled, and its command ended' wait_until 120 children_gone
kill "$one"
wait "$one"
one=
stop
is 'serve: status' 0 "$rc"
done_testing
