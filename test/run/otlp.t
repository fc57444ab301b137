# --otlp: traces of runs, in a file and over HTTP (test/tool/double_model.c is the
# collector), and what happens if the collector is missing, slow or unwilling.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs double_model
unset OTEL_EXPORTER_OTLP_ENDPOINT OTEL_EXPORTER_OTLP_HEADERS http_proxy HTTP_PROXY ALL_PROXY
pids=
trap 'kill $pids 2>/dev/null; rm -rf "$tmp"' EXIT
secret=sk-canary-0815-4711

cat >e.yaml <<'YAML'
name: traced
skill: s
config:
  executor: mock
  mock: {output: "the answer is 42", tool_calls: [{name: bash, arguments: {command: ls}}]}
graders:
- {type: regex, name: number, config: {must_match: ["42"]}}
- {type: regex, name: word, config: {must_match: [forty]}}
tasks:
- {id: one, prompt: what is it, expected: {output_contains: [answer]}}
YAML

# objects FILE KEY: the spans or log records of a file, a line each
objects() {
	sed -n "s/.*\"$2\":\\[{\\(.*\\)}\\]}\\]}\\]}\$/\\1/p" "$1" |
	    sed 's/},{"\(traceId\|timeUnixNano\)"/\n"\1"/g'
}
# attribute KEY, member KEY: the values in objects on stdin
attribute() {
	sed -n "s/.*\"key\":\"$1\",\"value\":{\"[a-zA-Z]*\":\"*\\([^\"}]*\\).*/\\1/p"
}
member() {
	sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p"
}

# A file.
run "$WAZA" run e.yaml --no-results --trials 2 --otlp traces/t.jsonl
is 'the exit status is that of the run' 1 "$rc"
is 'nothing is printed about traces' '' "$(echo "$err" | grep -i 'otlp\|span')"
ok 'each line is JSON' sh -c 'while read -r l; do printf %s "$l" >l.json
    "$WAZA" parse l.json >/dev/null || exit 1; done <traces/t.jsonl'
objects traces/t.jsonl spans >spans
objects traces/t.jsonl logRecords >events
is 'a span for each part' 'evaluate _output_contains
evaluate _output_contains
evaluate number
evaluate number
evaluate word
evaluate word
execute_tool bash
execute_tool bash
invoke_agent mock
invoke_agent mock
run traced
task one
trial
trial' "$(member name <spans | sort)"
is 'one trace' 1 "$(cat spans events | member traceId | sort -u | wc -l | tr -d ' ')"
is 'ids of spans are unique' 14 "$(member spanId <spans | sort -u | wc -l | tr -d ' ')"
is 'ids are hexadecimal' '' "$(cat spans events | member traceId | grep -v '^[0-9a-f]\{32\}$'
    cat spans events | member spanId | grep -v '^[0-9a-f]\{16\}$')"
# tree: the name of each span's parent
tree() {
	while read -r line
	do
		parent=$(echo "$line" | member parentSpanId)
		echo "$(echo "$line" | member name) < $([ -n "$parent" ] || echo -
		    grep "\"spanId\":\"$parent\",*\"" spans | member name)"
	done <spans | sort -u
}
is 'spans are in their parents' 'evaluate _output_contains < trial
evaluate number < trial
evaluate word < trial
execute_tool bash < invoke_agent mock
invoke_agent mock < trial
run traced < -
task one < run traced
trial < task one' "$(tree)"
is 'an event for each verdict' '_output_contains pass
number pass
word fail' "$(while read -r l
    do echo "$(echo "$l" | attribute gen_ai.evaluation.name)" \
	"$(echo "$l" | attribute gen_ai.evaluation.score.label)"
    done <events | sort -u)"
is 'events have their name' 6 "$(grep -c '"eventName":"gen_ai.evaluation.result"' events)"
is 'and belong to the agent' 'invoke_agent mock' "$(member spanId <events | sort -u |
    while read -r id; do grep "\"spanId\":\"$id\"" spans | member name; done | sort -u)"
is 'graders follow the order of the suite' 'number word _output_contains' \
    "$(grep '"name":"evaluate' spans | head -3 | attribute gen_ai.evaluation.name | tr '\n' ' ' |
    sed 's/ $//')"
is 'integers are strings' 1 "$(grep '"name":"task' spans |
    grep -c '"key":"waza.trials","value":{"intValue":"2"}')"
ok 'no payloads by default' sh -c '! grep -q "the answer is\|what is it\|forty\|\"ls\"" traces/t.jsonl'

run "$WAZA" run e.yaml --no-results -q --otlp traces/t.jsonl
is 'a second run is appended, with its own trace' 2 \
    "$(grep -o '"traceId":"[0-9a-f]*"' traces/t.jsonl | sort -u | wc -l | tr -d ' ')"

plain=odd-canary-2718
OPENAI_API_KEY=$secret PLAIN=$plain
export OPENAI_API_KEY PLAIN
sed "s/the answer is 42/the answer is 42 $secret $plain/
    s/^  executor: mock/&\n  executors: {openai: {api_key_env: PLAIN}}/" e.yaml >secret.yaml
run "$WAZA" run secret.yaml --no-results -q --otlp pay.jsonl --otlp-payloads
ok 'payloads on demand' grep -q 'the answer is 42' pay.jsonl
ok 'with the prompt' grep -q 'what is it' pay.jsonl
ok 'with arguments of tools' grep -q 'gen_ai.tool.call.arguments' pay.jsonl
ok 'with the reasons of graders' grep -q 'gen_ai.evaluation.explanation' pay.jsonl
ok 'without secrets of the environment' sh -c "! grep -q $secret pay.jsonl"
ok 'or those that the suite names' sh -c "! grep -q $plain pay.jsonl"
awk -v s="$secret" '{ if (/what is it/) { while (i++ < 8000) t = t s; sub(/what is it/, t) } print }' \
    e.yaml >cut.yaml
run "$WAZA" run cut.yaml --no-results -q --otlp cut.jsonl --otlp-payloads
ok 'a long text is cut' grep -q '\*\*\*\*\*\*' cut.jsonl
ok 'not inside a secret' sh -c '! grep -q sk-c cut.jsonl'
unset OPENAI_API_KEY PLAIN

# Errors, and the cache.
printf 'exit 3\n' >bad.sh
cat >bad.yaml <<'YAML'
name: bad
skill: s
config: {executor: command, command: [sh, bad.sh]}
tasks: [{id: one, prompt: p, expected: {output_contains: [x]}}]
YAML
run "$WAZA" run bad.yaml --no-results -q --otlp bad.jsonl
objects bad.jsonl spans >spans
is 'an error has its class' 'agent_error agent_error agent_error' \
    "$(attribute error.type <spans | tr '\n' ' ' | sed 's/ $//')"
is 'and a status' 3 "$(grep -c '"status":{"code":2}' spans)"
sed '/forty/d' e.yaml >good.yaml
run "$WAZA" run good.yaml --no-results -q --cache --cache-dir c --otlp c1.jsonl
run "$WAZA" run good.yaml --no-results -q --cache --cache-dir c --otlp c2.jsonl
objects c2.jsonl spans >spans
is 'a cached trial has no agent' 'run traced
task one
trial' "$(member name <spans | sort)"
is 'but its verdicts are events' 2 "$(objects c2.jsonl logRecords | grep -c waza.cached)"

# Trigger tests: spans of their own, in the run.
mkdir trigger
sed '/forty/d' e.yaml >trigger/e.yaml
cat >trigger/trigger_tests.yaml <<'YAML'
skill: s
should_trigger_prompts: [{prompt: spell this}]
should_not_trigger_prompts: [{prompt: add numbers}]
YAML
run "$WAZA" run trigger/e.yaml --no-results -q --otlp t1.jsonl
objects t1.jsonl spans | grep '"name":"trigger"' >spans
is 'trigger tests: what was wanted' '1 true
2 false' "$(while read -r l
    do echo "$(echo "$l" | attribute waza.trigger)" "$(echo "$l" | attribute waza.should_trigger)"
    done <spans | sort)"
is 'trigger tests: verdicts' 2 "$(grep -c '"key":"test.case.result.status","value":{"stringValue":"pass"}' spans)"
ok 'trigger tests: no prompts by default' sh -c '! grep -q "spell this" t1.jsonl'
run "$WAZA" run trigger/e.yaml --no-results -q --otlp t2.jsonl --otlp-payloads
ok 'trigger tests: prompts on demand' grep -q 'spell this' t2.jsonl

# Resume: the same trace, each trial once.
cat >r.yaml <<'YAML'
name: resumed
skill: s
config: {executor: command, command: [sh, agent.sh], trials_per_task: 1}
tasks:
- {id: one, prompt: p, expected: {output_contains: [answer]}}
- {id: two, prompt: p, expected: {output_contains: [answer]}}
YAML
cat >agent.sh <<'SH'
[ ! -e "$MARK" ] || { touch "$MARK.2"; while :; do "$RPCPIPE" nap; done; }
touch "$MARK"
echo answer
SH
MARK=$tmp/mark
export MARK
"$WAZA" run r.yaml -q -w 1 -o r.json --otlp r.jsonl >/dev/null 2>&1 &
first=$!
wait_until 20 [ -e mark.2 ]
kill -INT "$first"
wait "$first"
ok 'an interrupted run does not send its own span' sh -c '! grep -q "\"name\":\"run " r.jsonl'
printf 'echo answer\n' >agent.sh
run "$WAZA" run r.yaml -q -w 1 -o r.json --resume --otlp r.jsonl
is 'it is resumed' 0 "$rc"
objects r.jsonl spans >spans
is 'in the same trace' 1 "$(member traceId <spans | sort -u | wc -l | tr -d ' ')"
is 'each trial was sent once' 'one
two' "$(grep '"name":"trial"' spans | attribute test.case.name | sort)"
is 'no span was sent twice' '' "$(member spanId <spans | sort | uniq -d)"
is 'the run once' 1 "$(grep -c '"name":"run ' spans)"

# Over HTTP.
serve() {
	rm -f log fifo
	mkfifo fifo
	"$DOUBLES/double_model" log "$@" >fifo 2>/dev/null &
	pids="$pids $!"
	read -r port <fifo
}
printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}' >good
printf 'HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n' >busy
printf 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n' >missing
body='{"partialSuccess":{"rejectedSpans":"2","errorMessage":"too old"}}'
printf 'HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s' "${#body}" "$body" >part
printf 'HTTP/1.1 200 OK\r\n' >quiet.hang

serve good
run "$WAZA" run e.yaml --no-results -q --otlp "http://127.0.0.1:$port/base/"
is 'a collector gets both signals' 'POST /base/v1/logs HTTP/1.1
POST /base/v1/traces HTTP/1.1' "$(grep -a '^POST' log | tr -d '\r' | sort -u)"
is 'as JSON' 'Content-Type: application/json' "$(grep -a '^Content-Type' log | tr -d '\r' | sort -u)"
is 'without a word' '' "$err"
serve good
OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20tok-4711,x-team=a" \
    run "$WAZA" run e.yaml --no-results -q --otlp "http://127.0.0.1:$port"
is 'headers of the environment are not sent to a URL of the command line' 0 \
    "$(grep -ac 'tok-4711' log)"
serve good
OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:$port/v1/traces \
    OTEL_EXPORTER_OTLP_HEADERS="authorization=Bearer%20tok-4711,x-team=a" \
    run "$WAZA" run e.yaml --no-results -q --otlp env
is 'but to its own endpoint' 'authorization: Bearer tok-4711' \
    "$(grep -a '^authorization' log | tr -d '\r' | sort -u)"
is 'where the path of a signal is replaced' 'POST /v1/logs HTTP/1.1
POST /v1/traces HTTP/1.1' "$(grep -a '^POST' log | tr -d '\r' | sort -u)"
serve busy good
run "$WAZA" run e.yaml --no-results -q --otlp "http://127.0.0.1:$port"
is 'a busy collector is asked again' '' "$err"
is 'with the same spans' 2 "$(grep -ac '^POST /v1/traces' log)"
serve missing
run "$WAZA" run e.yaml --no-results -q --otlp "http://127.0.0.1:$port"
is 'a refusal is reported once' "waza: warning: 11 of 11 spans and events of --otlp were dropped: HTTP status 404 from 127.0.0.1:$port/v1/traces" \
    "$err"
is 'and does not change the exit status' 1 "$rc"
serve part good
run "$WAZA" run e.yaml --no-results -q --otlp "http://127.0.0.1:$port"
is 'a partial refusal is counted' 'waza: warning: 2 of 11 spans and events of --otlp were dropped: the collector rejected them: too old' \
    "$err"
run "$WAZA" run e.yaml --no-results -q --otlp http://127.0.0.1:1
like 'a missing collector is reported' \
    'waza: warning: 11 of 11 spans and events of --otlp were dropped: cannot connect to 127.0.0.1:1:*' "$err"
is 'and does not change the report' FAILED "$(echo "$out" | tail -n 1)"
serve quiet.hang
run "$WAZA" run e.yaml --no-results -q --otlp "http://127.0.0.1:$port"
is 'a silent collector is given up' \
    'waza: warning: 11 of 11 spans and events of --otlp were dropped: the collector did not answer in time' "$err"

# a queue that is full delays nothing and loses no trial
{
	printf 'name: big\nskill: s\nconfig: {executor: mock}\ntasks:\n'
	printf -- '- {id: a, expected: {output_contains: [x]}, prompt: "'
	head -c 60000 /dev/zero | tr '\0' x
	printf '"}\n'
} >big.yaml
serve quiet.hang
run "$WAZA" run big.yaml -q --trials 300 -o big.json --otlp "http://127.0.0.1:$port" --otlp-payloads
like 'a full queue is reported' \
    'waza: warning: * spans and events of --otlp were dropped: the collector is too slow: more than 8 MiB were waiting' "$err"
is 'a full queue: all trials are there' '0 300' "$rc $(grep -c '"run_number"' big.json)"

# Wrong options.
run "$WAZA" run e.yaml --no-results --otlp e.yaml
is 'another file is not touched' "2 waza: --otlp e.yaml: the file exists and does not contain traces: choose another name" \
    "$rc $err"
run "$WAZA" run e.yaml --otlp /dev/null
is 'a device is refused' '2 waza: --otlp /dev/null: not a regular file' "$rc $err"
run "$WAZA" run e.yaml --otlp env
is 'env without an endpoint' \
    '2 waza: --otlp env needs OTEL_EXPORTER_OTLP_ENDPOINT: set it, or give a URL' "$rc $err"
run "$WAZA" run e.yaml --otlp-payloads
is 'payloads without traces' '2 waza: --otlp-payloads needs --otlp URL or --otlp FILE' "$rc $err"
run "$WAZA" run e.yaml --otel-exporter otlp
like 'the names of other versions are explained' '*--otlp URL*' "$err"
done_testing
