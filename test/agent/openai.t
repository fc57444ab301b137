# The executor openai: against recorded answers (test/tool/double_model.c), against
# the model server of ../shared if Python is installed, and through curl.
. "${0%/*}/../tool/lib.sh"
shared=$top/../shared/agents
cd "$tmp" || exit 1
needs double_model
mkdir tmp bin
canary=sk-canary-0815-4711
TMPDIR=$tmp/tmp OPENAI_API_KEY=$canary
export TMPDIR OPENAI_API_KEY
unset OPENAI_BASE_URL ANTHROPIC_BASE_URL ANTHROPIC_API_KEY http_proxy https_proxy \
    HTTPS_PROXY ALL_PROXY
pids= seconds=300
trap 'kill $pids 2>/dev/null; rm -rf "$tmp"' EXIT

# serve FILE...: a server of these answers; its port is in $port
serve() {
	rm -f log fifo
	mkfifo fifo
	"$DOUBLES/double_model" log "$@" >fifo 2>/dev/null &
	pids="$pids $!"
	read -r port <fifo
}

# answer NAME STATUS TYPE: an answer of that name, with its body on stdin
answer() {
	{ printf 'HTTP/1.1 %s\r\nContent-Type: %s\r\n\r\n' "$2" "$3"; cat; } >"$1"
}

# suite SETTINGS [CONFIG]: e.yaml; SETTINGS follow base_url
suite() {
	cat >e.yaml <<YAML
name: e
skill: s
config:
  executor: openai
  model: m-1
  timeout_seconds: $seconds
  openai: {base_url: "http://127.0.0.1:$port/v1"${1:+, $1}}
  ${2:-parallel: false}
tasks:
  - id: a
    prompt: say "hello"
    graders: [{type: text, name: t, config: {contains: [hello]}}]
YAML
}

# edit SCRIPT: changes it, by sed
edit() {
	sed "$1" e.yaml >e.new && mv e.new e.yaml
}

# ask [OPTION...]: runs it; leaves $rc, $out, $err and the results in r
ask() {
	run "$WAZA" run -q -o r.json "$@" e.yaml
	"$WAZA" parse r.json >r 2>/dev/null || : >r
	cat out err r.json ./*.journal log >>everything 2>/dev/null
}

# has NAME PATTERN: in the results
has() {
	like "$1" "*$2*" "$(cat r)"
}

# bad NAME CLASS WORDS [SETTINGS] [CONFIG]: an error of that class
bad() {
	suite "${4:-retries: 0}" "${5-}"
	ask
	is "$1: status" 1 "$rc"
	has "$1: words" "\"error_msg\":\"$3*\"error_class\":\"$2\""
}

answer chat '200 OK' text/event-stream <<'SSE'
: a comment

data: {"id":"c-1","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"hel"},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{"content":"lo"},"finish_reason":null}]}

data: {"id":"c-1","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"id":"c-1","choices":[],"usage":{"prompt_tokens":11,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":3}}}

data: [DONE]

SSE
cp chat chat.hang
cp chat chat.slow
answer whole '200 OK' application/json <<'JSON'
{"id":"c-2","choices":[{"index":0,"message":{"role":"assistant","content":"hello, whole"},"finish_reason":"stop"}],
 "usage":{"prompt_tokens":11,"completion_tokens":7}}
JSON

serve chat.hang
suite 'temperature: 0.5, max_tokens: 50, system: "You are {{.TaskName}}", body: {seed: 7}, headers: {X-More: "a ${MORE}"}'
MORE=more-canary-1 ask --stream-json >events
cat events >>everything
is 'chat: status' 0 "$rc"
has 'chat: the answer' '"final_output":"hello"'
has 'chat: usage' '"usage":{"turns":1,"input_tokens":11,"output_tokens":7,"cache_read_tokens":3,'
has 'chat: id' '"session_id":"c-1"'
request=$(tr -d '\r' <log)
like 'chat: where' 'POST /v1/chat/completions HTTP/1.1*' "$request"
like 'chat: the key' "*
Authorization: Bearer $canary
*" "$request"
like 'chat: headers' '*
X-More: a more-canary-1
*' "$request"
is 'chat: the question' '{"model":"m-1","messages":[{"role":"system","content":"You are a"},{"role":"user","content":"say \"hello\""}],"max_tokens":50,"temperature":0.5,"stream":true,"stream_options":{"include_usage":true},"seed":7}' \
    "$(tail -n 1 log)"
cat events >>everything
ok 'no secret in what it prints and writes' sh -c '! grep -q "canary" events e.yaml r.json'
like 'events: it answers' '*"step":"answering"*' "$out"

serve chat.slow
suite ''
ask
is 'chat, a byte at a time' 0 "$rc"
serve whole
suite ''
ask
has 'a server that does not stream' '"final_output":"hello, whole"'
suite 'stream: false'
ask
is 'stream: false' '{"model":"m-1","messages":[{"role":"user","content":"say \"hello\""}],"stream":false}' "$(tail -n 1 log)"
sed 's/^Content-Type:/X-Type:/' chat >untyped
serve untyped
suite ''
ask
is 'a stream that does not say so' 0 "$rc"

answer responses '200 OK' text/event-stream <<'SSE'
event: response.created
data: {"type":"response.created","response":{"id":"r-1","status":"in_progress","output":[],"error":null}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","output_index":0,"delta":"hel"}

data: {"type":"response.output_text.delta","output_index":0,"delta":"lo"}

data: {"type":"response.completed","response":{"id":"r-1","status":"completed","error":null,"output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":5,"output_tokens":6,"input_tokens_details":{"cached_tokens":1}}}}

SSE
cp responses responses.hang
serve responses.hang
suite 'api: responses, max_tokens: 9, system: S'
ask
has 'responses: the answer, once' '"final_output":"hello"'
has 'responses: usage' '"input_tokens":5,"output_tokens":6,"cache_read_tokens":1,'
like 'responses: where' 'POST /v1/responses *' "$(cat log)"
is 'responses: the question' '{"model":"m-1","instructions":"S","input":[{"role":"user","content":"say \"hello\""}],"max_output_tokens":9,"store":false,"stream":true}' "$(tail -n 1 log)"

answer anthropic '200 OK' 'text/event-stream; charset=utf-8' <<'SSE'
event: message_start
data: {"type":"message_start","message":{"id":"msg-1","content":[],"usage":{"input_tokens":5,"cache_read_input_tokens":2,"cache_creation_input_tokens":4,"output_tokens":1}}}

event: ping
data: {"type":"ping"}

data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}

data: {"type":"content_block_stop","index":0}

data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":8}}

data: {"type":"message_stop"}

SSE
cp anthropic anthropic.hang
serve anthropic.hang
suite 'api: anthropic, system: S'
ANTHROPIC_API_KEY=$canary ask
has 'anthropic: the answer' '"final_output":"hello"'
has 'anthropic: usage' '"input_tokens":11,"output_tokens":8,"cache_read_tokens":2,"cache_write_tokens":4,'
like 'anthropic: where' 'POST /v1/messages *' "$(cat log)"
like 'anthropic: the key, and the version' "*anthropic-version: 2023-06-01*x-api-key: $canary*" "$(tr -d '\r' <log)"
is 'anthropic: the question' '{"model":"m-1","system":"S","messages":[{"role":"user","content":"say \"hello\""}],"max_tokens":4096,"stream":true}' "$(tail -n 1 log)"

answer ollama '200 OK' application/x-ndjson <<'NDJSON'
{"model":"m-1","message":{"role":"assistant","content":"hel"},"done":false}

{"model":"m-1","message":{"role":"assistant","content":"lo"},"done":false}
{"model":"m-1","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":3,"eval_count":4}
NDJSON
cp ollama ollama.hang
serve ollama.hang
suite "api: ollama, base_url: \"http://127.0.0.1:$port\", temperature: 0, max_tokens: 5"
edit "s|base_url: \"[^\"]*/v1\", ||"
ask
has 'ollama: the answer' '"final_output":"hello"'
has 'ollama: usage' '"input_tokens":3,"output_tokens":4,'
like 'ollama: where' 'POST /api/chat *' "$(cat log)"
ok 'ollama: no key' sh -c '! grep -qi authorization log'
sed 's/"prompt_eval_count":3,//' ollama >ollama.part.hang
mv log asked
serve ollama.part.hang
edit "s|http://127.0.0.1:[0-9]*|http://127.0.0.1:$port|"
ask
has 'ollama: a count that it leaves out' '"unknown":[[]"input_tokens","output_tokens",'
mv asked log
is 'ollama: the question' '{"model":"m-1","messages":[{"role":"user","content":"say \"hello\""}],"stream":true,"options":{"temperature":0,"num_predict":5}}' "$(tail -n 1 log)"

# failures
answer e401 '401 Unauthorized' application/json <<JSON
{"error":{"message":"Incorrect API key provided: $canary.","type":"invalid_request_error"}}
JSON
serve e401
bad 'a wrong key' infrastructure "HTTP 401 from 127.0.0.1:$port (the key is from OPENAI_API_KEY): Incorrect API key provided: [*][*][*]."
is 'a wrong key is not tried again' 1 "$(grep -c '^POST' log)"
answer nokey '401 Unauthorized' application/json <<'JSON'
{"error":{"message":"You did not provide a key."}}
JSON
serve nokey
suite 'retries: 0'
OPENAI_API_KEY='' ask
has 'an empty variable of the key' "HTTP 401 from 127.0.0.1:$port (no key was sent: OPENAI_API_KEY is not set)"
answer e400 '400 Bad Request' text/plain <<'TXT'
no such
model
TXT
serve e400
bad 'a bad request' agent_error "HTTP 400 from 127.0.0.1:$port: no such model"
printf 'HTTP/1.1 302 Found\r\nLocation: https://elsewhere/v2\r\nContent-Length: 0\r\n\r\n' >e302
serve e302
bad 'a redirect' agent_error 'HTTP 302: redirects are not followed*https://elsewhere/v2'
printf 'HTTP/1.1 429 Too Many\r\nRetry-After: 0\r\nContent-Length: 0\r\n\r\n' >e429
serve e429 e429 chat
suite ''
ask --stream-json
is '429, twice: it is tried again' 0 "$rc"
is '429, twice: three requests' 3 "$(grep -c '^POST' log)"
like '429: it says that it waits' '*HTTP 429, waiting*' "$out"
printf 'HTTP/1.1 503 No\r\nRetry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: 0\r\n\r\n' >e503
serve e503
bad '503, again and again' infrastructure "HTTP 503 from 127.0.0.1:$port (3 attempts)" 'retries: 2'
is '503: as often as it says' 3 "$(grep -c '^POST' log)"
answer quota '429 Too Many' application/json <<'JSON'
{"error":{"message":"You exceeded your current quota","type":"insufficient_quota","code":"insufficient_quota"}}
JSON
serve quota
bad 'a quota that is used up' infrastructure "HTTP 429 from 127.0.0.1:$port: You exceeded your current quota" 'retries: 4'
is 'a quota: waiting does not help' 1 "$(grep -c '^POST' log)"
printf 'SSH-2.0-OpenSSH_9.2\r\n' >ssh
serve ssh
bad 'no HTTP' agent_error 'the response is not HTTP'
serve none.gone
bad 'no answer' infrastructure "127.0.0.1:$port closed the connection without a response"
serve none.gone chat
suite 'retries: 1'
ask
is 'no answer, and then one' 0 "$rc"
head -n 8 chat >half
serve half
bad 'half a stream' infrastructure "127.0.0.1:$port closed the connection before the end of its answer"
printf 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\nContent-Type: application/json\r\n\r\n{"id":"x"' >nine
serve nine
bad 'half an answer' infrastructure 'the body was cut off after 9 bytes'
printf 'HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{' >x.reset
serve x.reset
bad 'reset' infrastructure '*'
answer junk '200 OK' application/json <<'TXT'
<html>hello</html>
TXT
serve junk
bad 'a page of HTML' agent_error 'the server reported an error: its message is not JSON*<html>hello'
answer broken '200 OK' text/event-stream <<'SSE'
data: {"error":{"message":"the engine is on fire","type":"fire"}}

SSE
serve broken
bad 'an error in the stream' agent_error 'the server reported an error: the engine is on fire'
answer filter '200 OK' application/json <<'JSON'
{"choices":[{"message":{"content":null},"finish_reason":"content_filter"}]}
JSON
serve filter
bad 'a refusal' agent_error 'the server refused to answer: content_filter'
printf 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n' >x.never
dd if=/dev/zero bs=65536 count=4 2>/dev/null | tr '\0' ':' >>x.never
if [ -z "${SHORT-}" ]
then
	serve x.never
	bad 'a stream without an end' agent_error 'the body is larger than 67108864 bytes'
else
	skip '64 MiB take long, a byte at a time'
fi
head -n 9 chat >partial.hang
serve partial.hang
seconds=1
bad 'a server that hangs' timeout 'no answer within 1 s'
seconds=300
serve none.hang
printf '' >none.hang
bad 'a server that says nothing' timeout 'no sign of life within 1 s' '' 'first_event_timeout_seconds: 1'
printf 'HTTP/1.1 429 Too Many\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n' >later
serve later
seconds=1
bad 'a wait that is too long' timeout 'no answer within 1 s' 'retries: 1'
seconds=300
kill "${pids##* }"
wait "${pids##* }" 2>/dev/null
bad 'nobody is there' infrastructure "cannot connect to 127.0.0.1:$port: Connection refused"

# an interrupt during an answer
serve partial.hang
suite ''
rm -f r.json
"$WAZA" run --stream-json e.yaml >events 2>/dev/null &
pid=$!
wait_until 120 grep -q answering events
kill -INT $pid
rc=0
wait $pid || rc=$?
is 'interrupted: status' 130 "$rc"

# a child resolves the host name, once per run, without blocking others
cat >bin/getent <<'SH'
#!/bin/sh
echo "$*" >>"$LOOKED"
case $2 in
model.test) printf '::1              STREAM model.test\n::1              DGRAM\n127.0.0.1       STREAM\n127.0.0.1       DGRAM\n' ;;
slow.test)  exec tail -f /dev/null ;;
none.test)  exit 2 ;;
*)          exit 1 ;;
esac
SH
chmod +x bin/getent
LOOKED=$tmp/looked
export LOOKED
serve chat
suite '' 'trials_per_task: 3'
edit 's/127.0.0.1:/model.test:/'
with=$PATH PATH=$tmp/bin:$PATH
ask
is 'a name: status' 0 "$rc"
is 'a name: looked up once' 'ahosts model.test' "$(cat looked)"
suite 'retries: 0' 'trials_per_task: 3'
edit 's/127.0.0.1:/none.test:/'
ask
has 'a name that is none: words' 'cannot resolve none.test: no such host'
seconds=1
suite 'retries: 0'
edit 's/127.0.0.1:/slow.test:/'
ask
has 'a name that nobody answers for: words' 'no answer within 1 s'
seconds=300 PATH=$with

# The same traffic, 1000 tokens in (200 of them cached) and 50 out, is counted in the
# same way for every API, and costs the same as with agents (wires.t).
answer chat.same '200 OK' application/json <<'JSON'
{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000,"completion_tokens":50,"prompt_tokens_details":{"cached_tokens":200}}}
JSON
answer responses.same '200 OK' application/json <<'JSON'
{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":1000,"output_tokens":50,"input_tokens_details":{"cached_tokens":200}}}
JSON
answer anthropic.same '200 OK' application/json <<'JSON'
{"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":"end_turn","usage":{"input_tokens":800,"output_tokens":50,"cache_read_input_tokens":200,"cache_creation_input_tokens":0}}
JSON
for api in chat responses anthropic
do
	serve $api.same
	suite "api: $api"
	ask --config-json '{"prices":{"m-1":{"input":1000,"output":2000,"cache_read":500}}}'
	has "$api: the same counts and cost" '"input_tokens":1000,"output_tokens":50,"cache_read_tokens":200,*"cost":1,"cached_input_tokens":200,'
done
answer empty.same '200 OK' application/json <<'JSON'
{"choices":[{"message":{"content":"hello"},"finish_reason":"stop"}],"usage":{}}
JSON
serve empty.same
suite ''
ask
has 'a usage without counts is unknown' '"unknown":[[]"input_tokens","output_tokens",'

# budgets and prices
serve chat
suite 'max_tokens_total: 40' 'trials_per_task: 4'
ask
is 'max_tokens_total: questions' 2 "$(grep -c '^POST' log)"
is 'max_tokens_total: status' 3 "$rc"
has 'max_tokens_total: words' 'budget: 36 of 40 tokens of the suite spent, a trial takes 18 on average'
serve chat
suite 'max_tokens_total: 30' 'trials_per_task: 2'
edit 's/type: text, name: t, config: .*/type: prompt, name: t, config: {prompt: Is it well}}]/'
ask
is 'max_tokens_total: the judge takes its share' 3 "$(grep -c '^POST' log)"
has 'max_tokens_total: the judge takes its share, words' 'budget: 54 of 30 tokens of the suite spent'
serve chat
suite 'max_cost: 0.00001' 'trials_per_task: 2'
ask
is 'max_cost without a price' 2 "$rc"
like 'max_cost without a price: words' '*e.yaml:7:*max_cost needs the price of model "m-1"*' "$err"
ask --config-json '{"prices":{"m-1":{"input":2,"output":3,"cache_read":1}}}'
has 'the cost' '"cost":0.00004'
has 'max_cost: words' 'budget: 4e-05 of 1e-05 dollars of the suite spent'
serve empty.same
suite 'max_tokens_total: 40' 'trials_per_task: 4'
ask
is 'max_tokens_total, and a server that does not report tokens' '2 1' "$rc $(grep -c '^POST' log)"

# precedence of settings
serve chat
cat >s.yaml <<YAML
executors: {openai: {base_url: "http://127.0.0.1:$port", retries: 0}}
prices: {m-2: {input: 1000000}}
YAML
cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: mock}
tasks: [{id: a, prompt: x, graders: [{type: text, config: {contains: [hello]}}]}]
YAML
ask --executor openai --model m-2 --config-path s.yaml
is 'settings, and options: status' 0 "$rc"
has 'settings: prices' '"cost":11,'
run env OPENAI_BASE_URL="http://127.0.0.1:$port/x" "$WAZA" run -q --executor openai --model m-2 e.yaml
is 'OPENAI_BASE_URL: status' 0 "$rc"
like 'OPENAI_BASE_URL' '*POST /x/chat/completions *' "$(cat log)"
run "$WAZA" run -q --executor openai e.yaml
is 'no model: status' 2 "$rc"
like 'no model: words' '*executor "openai" needs a model: set config.model, or use --model*' "$err"
suite 'api: grpc, basurl: x'
run "$WAZA" run e.yaml
like 'an api that is none' '*e.yaml:7:*"api" must be one of chat, responses, anthropic, ollama, not "grpc"*' "$err"
like 'an unknown setting' '*e.yaml:7:*unknown key "basurl" (did you mean "base_url"?)*' "$err"
suite 'base_url: "ftp://x"'
edit 's|base_url: "http[^"]*", ||'
run "$WAZA" validate e.yaml
like 'an address that is none' '*e.yaml:7:*base_url: the URL must begin with http:// or https://*' "$out$err"
suite 'headers: {Host: x, "a b": y, c: [1]}'
run "$WAZA" run -q e.yaml
like 'headers that are ours' '*header "Host" cannot be set*"a b" cannot be*header "c" must be a string*' "$err"
suite 'api_key_env: NO_SUCH_KEY'
run "$WAZA" run e.yaml
is 'a key that is not there: status' 2 "$rc"
like 'a key that is not there: words' '*warning: executor "openai" takes its key from NO_SUCH_KEY, which is not set*NO_SUCH_KEY is not set*' "$err"
cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: openai, model: m, base_url: "http://llm.example:1/v1"}
tasks: [{id: a, prompt: x, inputs: {files: [{path: a, content: b}]}, graders: [{type: text, config: {contains: [hello]}}]}]
YAML
run "$WAZA" run e.yaml --task none
like 'a key in the open' '*the key is sent to llm.example unencrypted*' "$err"
like 'files that nobody sees' '*does not see input files*' "$err"

# a judge, by its tools
answer verdict '200 OK' text/event-stream <<'SSE'
data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t1","type":"function","function":{"name":"set_waza_grade_pass","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"reason\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"good enough\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: [DONE]

SSE
serve verdict
cat >e.yaml <<YAML
name: e
skill: s
config: {executor: mock, judge: {executor: openai, model: j-1, base_url: "http://127.0.0.1:$port/v1", temperature: 0}}
tasks: [{id: a, prompt: x, graders: [{type: prompt, config: {prompt: is it good}}]}]
YAML
ask
is 'judge: status' 0 "$rc"
is 'judge: no warnings' '' "$err"
has 'judge: the reason' 'good enough'
like 'judge: it has to call one of the tools' '{"model":"j-1",*"temperature":0,*"tools":[[]{"type":"function","function":{"name":"set_waza_grade_pass",*"tool_choice":"required"}' "$(tail -n 1 log)"
answer toolless '400 Bad Request' application/json <<'JSON'
{"error":"m does not support tools"}
JSON
answer prose '200 OK' application/json <<'JSON'
{"choices":[{"message":{"content":"{\"passed\": true, \"score\": 1, \"reason\": \"fine\"}"},"finish_reason":"stop"}]}
JSON
serve toolless prose
edit "s|127.0.0.1:[0-9]*|127.0.0.1:$port|"
ask
is 'judge: a model without tools is asked again without' '0 2' "$rc $(grep -c '^POST' log)"

# several prompts: earlier turns are repeated
serve chat
suite ''
edit 's|prompt: say "hello"|inputs: {prompt: one, follow_up_prompts: [two]}|'
ask
is 'a talk: status' 0 "$rc"
is 'a talk: the second question' '{"model":"m-1","messages":[{"role":"user","content":"one"},{"role":"assistant","content":"hello"},{"role":"user","content":"two"}],"stream":true,"stream_options":{"include_usage":true}}' "$(tail -n 1 log)"

# an answer that contains the key, and a truncated one
answer echo '200 OK' application/json <<JSON
{"choices":[{"message":{"content":"hello, your key is $canary"},"finish_reason":"length"}]}
JSON
serve echo
suite ''
ask
has 'an answer that has the key' '"final_output":"hello, your key is [*][*][*]"'
has 'an answer that was cut' '"truncated":true'
bad 'an answer that was cut' agent_error 'the answer is incomplete: the model reached a limit of tokens (length)'
answer cut '200 OK' application/json <<'JSON'
{"type":"message","content":[{"type":"text","text":"hello"}],"stop_reason":"max_tokens","usage":{"input_tokens":8,"output_tokens":5}}
JSON
serve cut
bad 'anthropic: an answer that was cut' agent_error 'the answer is incomplete: the model reached a limit of tokens (max_tokens)' 'api: anthropic'
answer cut '200 OK' application/json <<'JSON'
{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[{"type":"message","content":[{"type":"output_text","text":"hello"}]}],"usage":{"input_tokens":8,"output_tokens":5}}
JSON
serve cut
bad 'responses: an answer that was cut' agent_error 'the answer is incomplete: the model reached a limit of tokens (max_output_tokens)' 'api: responses'
answer cut '200 OK' application/json <<'JSON'
{"choices":[{"message":{"content":"hello"},"finish_reason":"content_filter"}]}
JSON
serve cut
bad 'an answer that a filter cut' agent_error 'the server cut the answer: content_filter'

# parallel trials
serve chat.slow
suite '' 'workers: 64
  trials_per_task: 64'
ask
is '64 trials at once' '0 64' "$rc $(grep -c '^POST' log)"

# https: the input of curl, by a script that replaces it
cat >bin/curl <<'SH'
#!/bin/sh
printf '%s\n' "$*" >"$ARGS"
cat >"$ARGS.in"
env >"$ARGS.env"
[ -z "$FAIL" ] || { echo "curl: ($FAIL) something about $OPENAI_API_KEY" >&2; exit "$FAIL"; }
cat "$ANSWER"
SH
chmod +x bin/curl
ARGS=$tmp/args ANSWER=$tmp/chat FAIL=
export ARGS ANSWER FAIL
old=$PATH PATH=$tmp/bin:$PATH
suite ''
edit 's|http://[^/]*|https://llm.example|'
ask
is 'https: status' 0 "$rc"
is 'https: curl gets no settings as arguments' '-q -K -' "$(cat args)"
like 'https: but by its stdin' '*url = "https://llm.example/v1/chat/completions"*header = "Authorization: Bearer sk-canary-0815-4711"*data-binary = "{\\"model\\":*say \\\\\\"hello\\\\\\"*' "$(cat args.in)"
ok 'https: curl has no key in its environment' sh -c '! grep -q canary-0815 args.env'
FAIL=60
ask
has 'https: not who it should be' '"error_msg":"curl: (60) something about "'
FAIL=7
suite 'retries: 1'
edit 's|http://[^/]*|https://llm.example|'
ask
has 'https: no connection' '(2 attempts)'
PATH=$tmp/none:$(dirname "$(command -v grep)")
if ! command -v curl >/dev/null
then
	run "$WAZA" run e.yaml
	like 'https: without curl' '*needs `curl` for https*https needs `curl`, which*' "$err$out"
else
	skip 'curl is where grep is'
fi
PATH=$old

ok 'the key is nowhere' sh -c '! grep -v -e "^Authorization: Bearer" -e "^x-api-key:" -e "^X-More" everything | grep -q canary'
is 'nothing is left behind' '' "$(ls tmp)"

# the model server of ../shared
if ! command -v python3 >/dev/null || ! [ -f "$shared/fakellm.py" ]
then
	skip 'no python3, or no ../shared/agents/fakellm.py'
	done_testing
fi
rm -f fifo
mkfifo fifo
python3 "$shared/fakellm.py" >fifo 2>/dev/null &
pids="$pids $!"
read -r line <fifo
port=${line##*:}
for api in chat responses anthropic ollama
do
	for stream in true false
	do
		suite "api: $api, stream: $stream"
		edit 's|say "hello"|"[[say:hello there, w\\u00f6rld]]"|'
		[ $api != ollama ] || edit 's|/v1"|"|'
		ask
		has "fakellm, $api, stream $stream" '"final_output":"hello there, wörld"'
		has "fakellm, $api, stream $stream: usage" '"input_tokens":11,"output_tokens":7,'
	done
	[ $api != ollama ] || continue
	suite "api: $api, retries: 0"
	edit 's|say "hello"|"[[http:400]]"|'
	ask
	has "fakellm, $api: an error" '"error_msg":"HTTP 400 from 127.0.0.1:'"$port"': fakellm forced HTTP 400"'
	edit 's|http:400|hang:60|; s|timeout_seconds: 300|timeout_seconds: 1|'
	ask
	has "fakellm, $api: hangs" '"error_msg":"no answer within 1 s"'
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: mock, judge: {executor: openai, model: j-1, api: $api, base_url: "http://127.0.0.1:$port/v1"}}
tasks: [{id: a, prompt: x, graders: [{type: prompt, config: {prompt: '[[tool:set_waza_grade_fail|{"reason": "so so"}]]'}}]}]
YAML
	ask
	has "fakellm, $api: a judge" '"so so"'
done

# real TLS
if ! command -v curl >/dev/null || ! command -v openssl >/dev/null ||
    ! openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem \
    -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 >/dev/null 2>&1
then
	skip 'no curl, or no openssl that makes certificates'
	done_testing
fi
cat >tls.py <<'PY'
import ssl, sys
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import fakellm
s = fakellm.ThreadingHTTPServer(("127.0.0.1", 0), fakellm.H)
s.daemon_threads = True
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain("cert.pem", "key.pem")
s.socket = c.wrap_socket(s.socket, server_side=True)
print(s.server_address[1], flush=True)
s.serve_forever()
PY
rm -f fifo
mkfifo fifo
python3 tls.py "$shared" >fifo 2>/dev/null &
pids="$pids $!"
read -r port <fifo
for api in chat responses anthropic
do
	suite "api: $api"
	edit 's|http://|https://|; s|say "hello"|"[[say:hello]] \\"a\\\\b\\" \\n"|'
	CURL_CA_BUNDLE=$tmp/cert.pem ask
	has "https, $api" '"final_output":"hello"'
done
unset CURL_CA_BUNDLE SSL_CERT_FILE SSL_CERT_DIR
ask
like 'https: a certificate that nobody knows' '*"error_msg":"curl: (60) *' "$(cat r)"
printf '[[say:hello]]' >long.txt
[ -n "${SHORT-}" ] || dd if=/dev/zero bs=1000 count=6000 2>/dev/null | tr '\0' '"' >>long.txt
suite ''
edit 's|http://|https://|; s|prompt: say "hello"|prompt_file: long.txt|'
CURL_CA_BUNDLE=$tmp/cert.pem ask
is 'https: a long question' 0 "$rc"
is 'https: nothing is left behind' '' "$(ls tmp)"
done_testing
