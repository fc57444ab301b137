# Listeners, tokens, roots, and tools that are commands.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
hello='{"jsonrpc":"2.0","id":"h","method":"hello","params":{"name":"t","version":"1","agent":"a","pid":1}}'

# call NAME ARGUMENTS: a tool
call() {
	printf '{"jsonrpc":"2.0","id":"c","method":"tools/call","params":{"name":"%s","arguments":%s}}' "$1" "$2"
}

# where it may listen
for at in 0.0.0.0:0 '[::]:0' '*:0'
do
	run "$WAZA" jsonrpc --tcp "$at" </dev/null
	is "$at without --allow-remote: status" 2 "$rc"
	ok "$at without --allow-remote: why" [ -n "$err" ]
done
run "$WAZA" jsonrpc --tcp 0.0.0.0:0 --allow-remote </dev/null
is '--allow-remote without a token: status' 2 "$rc"
like '--allow-remote without a token: why' '*token*' "$err"
for at in localhost localhost:x localhost:99999 ::1:0 ''
do
	run "$WAZA" jsonrpc --tcp "$at" </dev/null
	is "--tcp '$at': status" 2 "$rc"
done

# one server a socket; a socket that nobody listens on is replaced; a file is not
serve
run "$WAZA" jsonrpc --unix sock </dev/null
is 'a socket that is in use: status' 2 "$rc"
like 'a socket that is in use: why' '*sock*in use*' "$err"
is 'a socket that is in use: still the same' "$pong" "$(ask sock "$ping")"
run "$WAZA" jsonrpc --tcp "127.0.0.1:$port" </dev/null
is 'a port that is in use: status' 2 "$rc"
kill -9 "$srv"
wait "$srv" 2>/dev/null
ok 'a dead socket: it is there' [ -S sock ]
serve
is 'a dead socket: replaced' "$pong" "$(ask sock "$ping")"
stop INT
is 'SIGINT: status' 0 "$rc"
echo mine >file
run "$WAZA" jsonrpc --unix file </dev/null
is 'a file instead of a socket: status' 2 "$rc"
is 'a file instead of a socket: unchanged' mine "$(cat file)"

# several listeners and stdio; the end of stdin does not end the server
mkfifo both.in
: >log
"$WAZA" jsonrpc --stdio --unix s1 --unix s2 --tcp 127.0.0.1:0 --tcp 0 <both.in >both.out 2>log &
srv=$!
exec 6>both.in
printf '%s\n' "$ping" >&6
ok 'several: stdio' wait_until 120 has both.out '"status":"ok"'
is 'several: all are printed' 4 "$(grep -c listening log)"
exec 6>&-
is 'several: the others after the end of stdin' "$pong $pong" "$(ask s1 "$ping") $(ask s2 "$ping")"
stop

# IPv6, where there is one
: >log
"$WAZA" jsonrpc --tcp '[::1]:0' --unix sock </dev/null >served 2>log &
srv=$!
if wait_until 120 has log 'listening on sock' && has log '[::1]:'
then like 'IPv6' '*listening on \[::1\]:[1-9]*' "$(cat log)"
else skip 'no IPv6 here'
fi
kill "$srv" 2>/dev/null
wait "$srv" 2>/dev/null
srv=

# a token from the environment, from a private file
(umask 077; echo s3cret >token)
WAZA_AUTH_TOKEN=s3cret
export WAZA_AUTH_TOKEN
serve
unset WAZA_AUTH_TOKEN
like 'WAZA_AUTH_TOKEN: none shown' '*"code":-32001*' "$(ask "$port" "$ping")"
like 'WAZA_AUTH_TOKEN: shown' '*"success":true*"status":"ok"*' \
    "$(printf '%s\n%s\n' "$(printf %s "$hello" | sed 's/"pid":1/"pid":1,"token":"s3cret"/')" "$ping" | "$RPCPIPE" talk "$port" | tr '\n' ' ')"
stop
chmod 644 token
run "$WAZA" jsonrpc --token-file token --tcp 0 </dev/null
is 'a token that others can read: status' 2 "$rc"
like 'a token that others can read: why' '*token*' "$err"
run "$WAZA" jsonrpc --token-file nowhere --tcp 0 </dev/null
is 'no token file: status' 2 "$rc"
run "$WAZA" jsonrpc --root nowhere </dev/null
is 'a missing root: status' 2 "$rc"
run "$WAZA" jsonrpc --config-json '{"tools":{"x":{"command":[]}}}' </dev/null
is 'a tool without a command: status' 2 "$rc"
run "$WAZA" jsonrpc --config-json '{"tools":{"x":{"command":["a"],"input_schema":{"type":7}}}}' </dev/null
is 'an invalid schema: status' 2 "$rc"

# tools
WAZA_AUTH_TOKEN=s3cret
export WAZA_AUTH_TOKEN
serve --config-json '{"tools":{"hang":{"command":["sh","-c","echo $$ >>$LOG; tail -f /dev/null & echo $! >>$LOG; wait"]},
    "late":{"command":["sh","-c","echo $$ >>$LOG; tail -f /dev/null"],"timeout_seconds":1},
    "much":{"command":["sh","-c","exec yes"]},
    "binary":{"command":["printf","a\\000b\\377c"]},
    "large":{"command":["awk","BEGIN { printf \"{\\\"k\\\":1,\\\"s\\\":\\\"\"; for (i = 0; i < 10000; i++) printf \"%0100d\", 7; print \"\\\",\\\"end\\\":1}\" }"]},
    "env":{"command":["sh","-c","echo ${WAZA_AUTH_TOKEN-none}"]}}}'

unset WAZA_AUTH_TOKEN

# both NAME ARGUMENTS: hello, and then the tool
both() {
	printf '%s\n%s\n' "$hello" "$(call "$1" "$2")" | "$RPCPIPE" talk sock | tail -n 1
}
: >"$LOG"
like 'a tool that takes too long' '*"code":-32000,"message":"no answer within 1 s","data":{"kind":"timeout"*' "$(both late '{}')"
ok 'a tool that takes too long: ended' wait_until 120 children_gone
[ -n "${SHORT-}" ] ||
    like 'a tool that prints for ever' '*"code":-32000,"message":"*too large*' "$(both much '{}')"
like 'a tool that prints anything: valid JSON' '*"success":true,"result":"a*b*c"*' "$(both binary '{}' | "$WAZA" parse --json)"
like 'a tool does not see the token' '*"result":"none"*' "$(both env '{}')"

# MCP: a large result is sent once, and the schema of eval_run has `wait`
start='{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18"}}'
[ -n "${SHORT-}" ] || {
printf '%s\n%s\n' "$start" "$(call large '{}')" | "$RPCPIPE" talk sock | tail -n 1 >got
like 'MCP: a large result' '{"jsonrpc":"2.0","id":"c","result":{"content":\[{"type":"text","text":"{\\"k\\":1,*\\"end\\":1}"}\],"isError":false}}' "$(tr -s 0 <got)"
ok "MCP: $(wc -c <got) bytes for 1000019" [ "$(wc -c <got)" -lt 1000200 ]
}
like 'MCP: eval_run has wait' '*"name":"eval_run"*"wait":{"type":"boolean",*' \
    "$(printf '%s\n%s\n' "$start" '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' | "$RPCPIPE" talk sock | tail -n 1)"
ok 'eval.run does not have wait' sh -c "! printf '%s\n' '{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"rpc.discover\"}' | $RPCPIPE talk sock | grep -q '\"wait\"'"

# MCP: progress while a run is waited for, one trial after the other
mkdir evals/steps
cat >evals/steps/eval.yaml <<'YAML'
name: steps
skill: s
config: {executor: mock, workers: 1, mock: {delay_ms: 100}}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}, {id: b, prompt: x, expected: {output_contains: [y]}}]
YAML
printf '%s\n%s\n' "$start" "$(call eval_run '{"path":"evals/steps","trials":2},"_meta":{"progressToken":1.5}')" | "$RPCPIPE" talk sock >got
is 'MCP: progress' '0 of 4: the run has started
1 of 4: a, trial 1: passed
2 of 4: a, trial 2: passed
3 of 4: b, trial 1: failed
4 of 4: b, trial 2: failed' \
    "$(sed -n 's/.*"notifications\/progress","params":{"progressToken":1.5,"progress":\([0-9]\),"total":\(.\),"message":"\(.*\)"}}/\1 of \2: \3/p' got)"
like 'MCP: progress precedes the answer' '*"id":"c","result":{"content"*' "$(tail -n 1 got)"

# LSP: the exit status tells whether shutdown came first
exit='{"jsonrpc":"2.0","method":"exit"}'
for how in '' '{"jsonrpc":"2.0","id":1,"method":"shutdown"}'
do
	mkfifo lsp
	"$WAZA" jsonrpc <lsp >got &
	one=$!
	exec 6>lsp
	printf '%s\n%s\n' "$how" "$exit" >&6
	rc=0
	wait "$one" || rc=$?
	exec 6>&-
	rm lsp
	is "LSP: exit ends the server: ${how:-without shutdown}" "${how:+0 {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":null\}}" "$(echo "$rc $(cat got)" | sed 's/^1 $//')"
done

# a run without waiting: its caller is not notified
printf '%s\n%s\n' "$hello" "$(call eval_run '{"path":"evals/quick","wait":false}')" | "$RPCPIPE" talk sock >got
is 'a run that is not waited for: two answers and no more' 2 "$(grep -c . got)"
like 'a run that is not waited for' '*"structured":{"runId":"run-*","status":"running"}*' "$(tail -n 1 got)"

# the caller disconnects or cancels, or the server stops: no child is left
client a sock
: >"$LOG"
say a "$hello"
say a "$(call hang '{}')"
ok 'a tool at work' wait_until 120 lines "$LOG" 2
say a "$ping"
ok 'a tool at work: others are answered' wait_until 120 has a.out '"id":"p","result"'
say a '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"c"}}'
ok 'a tool that is cancelled: answered' wait_until 120 has a.out '"id":"c","error":{"code":-32031'
ok 'a tool that is cancelled: ended' wait_until 120 children_gone
: >"$LOG"
say a "$(call hang '{}')"
wait_until 120 lines "$LOG" 2
die a
ok 'its caller has gone: ended' wait_until 120 children_gone
is 'its caller has gone: others are answered' "$pong" "$(ask sock "$ping")"
client a sock
: >"$LOG"
say a "$hello"
say a "[$(call hang '{}'),$ping]"
wait_until 120 lines "$LOG" 2
die a
ok 'in a batch: ended' wait_until 120 children_gone
is 'in a batch: others are answered' "$pong" "$(ask sock "$ping")"
client a sock
: >"$LOG"
say a "$hello"
say a "$(call hang '{}')"
wait_until 120 lines "$LOG" 2
stop
is 'SIGTERM while a tool works: status' 0 "$rc"
ok 'SIGTERM while a tool works: no child is left' children_gone_now
die a

# the maximum of tools and one more; deeply nested arguments
serve --config-json '{"limits":{"tools":2,"depth":300},"tools":{"hang":{"command":["sh","-c","echo $$ >>$LOG; tail -f /dev/null"]},
    "cat":{"command":["cat"]}}}'
: >"$LOG"
client a sock
say a "$hello"
say a "$(call hang '{}')"
say a "$(call hang '{}')"
ok 'two tools at work' wait_until 120 lines "$LOG" 2
like 'one too many' '*"code":-32027*"kind":"rate_limited"*' "$(both cat '{}')"
die a
ok 'two tools: ended' wait_until 120 children_gone
like 'accepted again' '*"success":true,"result":"{}"*' "$(both cat '{}')"
deep=$(awk 'BEGIN { while (n++ < 200) printf "{\"a\":"; printf "1"; while (--n > 0) printf "}" }')
like 'deep arguments' '*"id":"c","result":{"success":true,*' "$(both cat "$deep")"
stop

# at the end of a pipe the server waits for the tool; with stdout closed it does not
like 'a pipe that ends' '*"id":"c","result":{"success":true,"result":"{\\"a\\":1}"*' "$(printf '%s\n%s' "$hello" "$(call x '{"a":1}')" |
    stdio --config-json '{"tools":{"x":{"command":["cat"]}}}' | tail -n 1)"
: >"$LOG"
mkfifo gone
"$WAZA" jsonrpc --config-json '{"tools":{"x":{"command":["sh","-c","echo $$ >>$LOG; tail -f /dev/null"]}}}' <gone 2>err | head -n 1 >first &
exec 6>gone
printf '%s\n%s\n' "$hello" "$(call x '{}')" >&6
ok 'nobody reads: it has started' wait_until 120 lines "$LOG" 1
exec 6>&-
ok 'nobody reads: it is ended' wait_until 120 children_gone
wait
is 'nobody reads: nothing on stderr' '' "$(cat err)"
done_testing
