# waza models: lists of model servers, of the Copilot CLI and of agents of acp.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs double_model
needs double_acp
needs double_copilot
unset OPENAI_BASE_URL OPENAI_API_KEY http_proxy HTTP_PROXY ALL_PROXY
canary=sk-canary-0815-4711
pids=
trap 'kill $pids 2>/dev/null; rm -rf "$tmp"' EXIT

# serve STATUS BODY: a server of this answer; its port is in $port
serve() {
	printf 'HTTP/1.1 %s\r\nContent-Type: application/json\r\n\r\n%s' "$1" "$2" >answer
	rm -f log fifo
	mkfifo fifo
	"$DOUBLES/double_model" log answer >fifo 2>/dev/null &
	pids="$pids $!"
	read -r port <fifo
}
# ask SETTINGS [ARGUMENT...]: of the executor openai
ask() {
	set -- '{"executors":{"openai":{"base_url":"http://127.0.0.1:'"$port$1"'}}}' "$@"
	json=$1
	shift 2
	run "$WAZA" models openai --config-json "$json" "$@"
}

serve '200 OK' '{"object":"list","data":[{"id":"m-2","owned_by":"x"},{"id":"m-1","context_length":131072}]}'
OPENAI_API_KEY=$canary ask /v1'"'
is 'openai: the table, by id' 'EXECUTOR        MODEL ID                          NAME                          VISION  CONTEXT WINDOW
openai          m-1                                                             -       131k
openai          m-2                                                             -       -

2 models' "$out"
is 'openai: exit 0' 0 "$rc"
like 'openai: the request' "GET /v1/models HTTP/1.1*Authorization: Bearer $canary*" "$(tr -d '\r' <log)"
ask /v1'"' --json
like 'openai: JSON' '\[*"executor": "openai",*"id": "m-1",*"context_length": 131072*"id": "m-2",*"owned_by": "x"*\]' "$out"
serve '200 OK' '{"models":[{"name":"llama3:8b","size":5}]}'
ask '","api":"ollama"'
like 'ollama: its tags' '*openai          llama3:8b *1 models' "$out"
like 'ollama: the request' 'GET /api/tags HTTP/1.1*' "$(cat log)"
serve '401 Unauthorized' '{"error":{"message":"wrong key '"$canary"'"}}'
OPENAI_API_KEY=$canary ask /v1'"'
is 'openai: an error of the server, without the key' '2 waza: openai: HTTP 401 (the key is from OPENAI_API_KEY): wrong key ***' "$rc $err"
serve '200 OK' 'no json'
ask /v1'"'
is 'openai: a reply that is not JSON' '2 waza: openai: the reply is not JSON' "$rc $err"
serve '200 OK' '{"data":5}'
ask /v1'"'
is 'openai: a reply without a list' '2 waza: openai: the reply has no list of models' "$rc $err"
kill "${pids##* }"
wait "${pids##* }" 2>/dev/null
ask /v1'"'
like 'openai: nobody listens' '2 waza: openai: cannot connect to 127.0.0.1:*' "$rc $err"

# acp HOW: asks the double
acp() {
	run env DOUBLE_ACP="$1" "$WAZA" models acp --config-json \
	    '{"executors":{"acp":{"command":["'"$DOUBLES"'/double_acp"]}}}'
}
acp modes
like 'acp: models of a session' '0 *acp             p/m-1                             M1 *1 models' "$rc $out"
acp options
like 'acp: the newer form' '0 *acp             p/m-1 *1 models' "$rc $out"
acp auth1
is 'acp: not logged in' '2 waza: acp: Authentication required' "$rc $err"
acp none
is 'acp: an agent without a list' '2 waza: acp: the agent does not list models' "$rc $err"
acp exit
like 'acp: an agent that ends' '2 waza: acp: the agent ended without a reply*' "$rc $err"

copilot='{"executors":{"copilot-sdk":{"cli_path":"'"$DOUBLES"'/double_copilot"}}}'
run "$WAZA" models --config-json "$copilot"
is 'copilot-sdk: asked without arguments; vision and window' \
    'copilot-sdk     gpt-x                             GPT X                         no      128k
copilot-sdk     gpt-y                             GPT Y                         yes     1M' \
    "$(printf '%s\n' "$out" | grep gpt)"
run env DOUBLE_NO_CONNECT=1 "$WAZA" models --json --config-json "$copilot"
like 'copilot-sdk: an older version, as JSON' '0 *"id": "gpt-x",*"capabilities": {*' "$rc $out"

run "$WAZA" models mock
is 'an executor that cannot be asked' '2 waza: mock: executor "mock" cannot be asked for its models' "$rc $err"
done_testing
