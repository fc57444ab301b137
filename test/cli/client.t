# The command-line client: connect, call and other commands, against servers that
# work, that require a token, that disconnect, and that send invalid messages.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
waza=$WAZA
other=
trap 'for p in $srv $other; do kill -9 "$p"; done; rm -rf "$tmp"' EXIT

# words NAME WANT: standard error is as wanted
words() {
	is "$1" "$2" "$err"
}

# before the first connect
run "$waza" connect
is 'connect: without a stored connection: status 1' 1 "$rc"
words 'connect: without a stored connection: message' 'waza: not connected to a server: run "waza connect TARGET"'
for c in 'ping' 'call ping' 'delete-session x' 'generate-fix --params-json {}' 'run --remote evals/quick'
do
	# shellcheck disable=SC2086 # words they are
	run "$waza" $c
	is "$c: not connected: status" 2 "$rc"
	words "$c: not connected" 'waza: not connected to a server: run "waza connect TARGET", or give --connect TARGET'
done
run "$waza" disconnect
is 'disconnect: without a stored connection' '0 not connected to a server' "$rc $out"
run "$waza" connect none
is 'connect: no server: status 2' 2 "$rc"
words 'connect: no server: message' "waza: cannot connect to $tmp/none: No such file or directory; is the server running?"
ok 'connect: no server: nothing is stored' [ ! -e "$WAZA_HOME/connection" ]
run "$waza" connect nowhere:x
words 'connect: invalid address' 'waza: "nowhere:x" is neither HOST:PORT nor the path of a socket'

# connect, ping, disconnect; by unix socket and TCP, in both framings
serve
for at in sock "unix:$tmp/sock" "$port" ":$port" "127.0.0.1:$port" "tcp://localhost:$port"
do
	run "$waza" connect "$at"
	like "connect $at" 'connected to *sock (waza [0-9]*)' "$(printf '%s\n' "$out" | sed "s/$port/sock/")"
	like "connect $at: ping" 'answer after * ms from * (waza *)' "$("$waza" ping)"
	for f in line lsp
	do is "call --framing $f, $at" '{"status":"ok"}' "$("$waza" call -q --framing "$f" ping | "$waza" parse)"
	done
done
"$waza" connect sock >/dev/null
is 'connect stores the address' "$tmp/sock" "$(cat "$WAZA_HOME/connection")"
is 'the stored connection is readable by its owner only' '-rw-------' "$(ls -l "$WAZA_HOME/connection" | cut -c 1-10)"
run "$waza" connect
is 'connect without an argument prints the connection' "connected to $tmp/sock" "$out"
is 'call works from another directory' '{"status":"ok"}' "$(cd / && "$waza" call ping | "$waza" parse)"
like 'ping --json' '{"target":"'"$tmp"'/sock","server":"waza *","ms":*}' "$("$waza" ping --json)"
run "$waza" connect "$tmp/none"
is 'connect to a missing server: status 2' 2 "$rc"
is 'connect to a missing server: the stored address is unchanged' "$tmp/sock" "$(cat "$WAZA_HOME/connection")"
"$waza" connect --framing line "$port" >/dev/null
is 'connect stores the framing' "127.0.0.1:$port
framing line" "$(cat "$WAZA_HOME/connection")"
is 'call uses the stored framing' '{"status":"ok"}' "$("$waza" call ping | "$waza" parse)"
is 'WAZA_PORT takes precedence over the stored connection' 2 "$(WAZA_PORT=1 "$waza" ping >/dev/null 2>&1; echo $?)"
is '--connect takes precedence over WAZA_PORT' '{"status":"ok"}' "$(WAZA_PORT=1 "$waza" call --connect sock ping | "$waza" parse)"
run "$waza" disconnect
is 'disconnect' "disconnected from 127.0.0.1:$port" "$out"
ok 'disconnect: the stored connection is removed' [ ! -e "$WAZA_HOME/connection" ]
is 'WAZA_HOST and WAZA_PORT are used' '{"status":"ok"}' "$(WAZA_HOST=127.0.0.1 WAZA_PORT=$port "$waza" call ping | "$waza" parse)"
is 'the port of the settings is used' '{"status":"ok"}' "$("$waza" call --config-json "{\"port\":$port}" ping | "$waza" parse)"
"$waza" connect sock >/dev/null

# call
run "$waza" call eval.validate '{"path": "evals/quick"}'
is 'call: status 0' 0 "$rc"
is 'call: the result is printed' '{
  "valid": true,
  "name": "quick",
  "skill": "greeting"
}' "$out"
run "$waza" call eval.get '{"path":"none"}'
is 'call: an error: status 1' 1 "$rc"
is 'call: an error: nothing on stdout' '' "$out"
words 'call: an error: message' 'waza: eval.get: Eval not found (-32000)
  kind: eval_not_found
  path: none'
run "$waza" call --json eval.get '{"path":"none"}'
is 'call --json: an error' '1 {"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Eval not found","data":{"kind":"eval_not_found","path":"none"}}}' "$rc $out$err"
run "$waza" call no.such
is 'call: unknown method: status 1' 1 "$rc"
run "$waza" call ping '{'
is 'call: parameters are not JSON' '2 PARAMS:1:2: unexpected end of input' "$rc $err"
run "$waza" call ping 5
is 'call: parameters are not an object' '2 PARAMS:1:1: parameters must be an object' "$rc $err"
printf '{"path":\n "evals/quick",}' >params
run "$waza" call --params-file params eval.get
like 'call --params-file: invalid JSON: place' '2 params:2:16: *' "$rc $err"
printf '{"path":\n "evals/quick"}' >params
is 'call --params-file' '"quick"' "$("$waza" call --params-file params eval.get | grep -o '"quick"')"
is 'call --params-file -' '"quick"' "$("$waza" call --params-file - eval.get <params | grep -o '"quick"')"
is 'call --params-json' '"quick"' "$("$waza" call --params-json "$(cat params)" --framing line eval.get | grep -o '"quick"')"
run "$waza" call --params-file none eval.get
is 'call --params-file: missing file' '2 waza: none: No such file or directory; check the path' "$rc $err"
run "$waza" call --params-file params eval.get '{}'
is 'call: parameters given twice' '2 waza: parameters are given twice' "$rc $err"
run "$waza" call --timeout x ping
like 'call --timeout: not a number' '2 --timeout: *' "$rc $err"
is 'call tools/call: the client sends hello first' '"{\"status\":\"ok\"}"' "$("$waza" call tools/call '{"name":"ping"}' | sed -n 's/.*"result": \(.*\),/\1/p')"

# call eval.run prints progress and waits for the end of the run
run "$waza" call eval.run '{"path":"evals/quick","tasks":["one"]}'
is 'call eval.run: status 0' 0 "$rc"
like 'call eval.run: progress on standard error' '\[eval.progress\] runId=run-* event=run_start totalTasks=1
\[eval.progress\] runId=run-* event=task_start taskName=one displayName="The first" taskNum=1 totalTasks=1*

--- Final Result ---
{
  "runId": "run-*",
  "summary": {
    "total": 1,
    "passed": 1,*
  "status": "completed"
}' "$out"
run "$waza" call -q eval.run '{"path":"evals/quick"}'
is 'call eval.run: a task failed: status 1' 1 "$rc"
like 'call -q prints only the result' '{
  "runId"*' "$out"
run "$waza" call --json eval.run '{"path":"evals/quick","tasks":["one"]}'
is 'call --json prints one message per line' 'result eval.progress eval.progress eval.progress eval.progress eval.progress eval.progress eval.complete ' \
    "$(printf '%s\n' "$out" | sed 's/.*"method":"\([^"]*\)".*/\1/; s/.*"result".*/result/' | tr '\n' ' ')"
run "$waza" call eval.run '{"path":"evals/hang","detach":true}'
like 'call eval.run with detach returns at once' '{
  "runId": "run-*",
  "status": "*"
}' "$out"
run_id=$(printf '%s\n' "$out" | sed -n 's/.*"runId": "\(.*\)".*/\1/p')
ok 'call eval.run with detach: the run continues' wait_until 120 lines "$LOG" 2
is 'run.cancel' cancelled "$("$waza" call run.cancel "{\"runId\":\"$run_id\"}" | sed -n 's/.*"status": "\(.*\)".*/\1/p')"
ok 'run.cancel: the agents are terminated' wait_until 120 children_gone

# an interrupt ends the client at once and cancels the call on the server
# interrupt SIGNAL COMMAND...: send the signal once two children run
interrupt() {
	sig=$1
	shift
	: >"$LOG"
	"$@" >out 2>err &
	other=$!
	ok "$sig: the command runs" wait_until 120 lines "$LOG" 2
	kill "-$sig" "$other"
	rc=0
	wait "$other" || rc=$?
	other=
	ok "$sig: the children are terminated" wait_until 120 children_gone
}

interrupt INT "$waza" call eval.run '{"path":"evals/hang"}'
is 'call eval.run: SIGINT: status 130, no message' '130 ' "$rc $(cat err)"
interrupt TERM "$waza" call --connect "$port" eval.run '{"path":"evals/hang"}'
is 'call eval.run: SIGTERM: status 143, no message' '143 ' "$rc $(cat err)"
stop
serve --config-json '{"tools":{"hang":{"command":["sh","-c","echo $$ >>$LOG; tail -f /dev/null & echo $! >>$LOG; wait"]}}}'
interrupt INT "$waza" call tools/call '{"name":"hang"}'
is 'call tools/call: SIGINT: status 130, no message' '130 ' "$rc $(cat err)"

# a reader that closes its pipe early
run sh -c '"$WAZA" call eval.run "{\"path\":\"evals/quick\",\"trials\":500}" | head -n 1'
like 'a reader that closes its pipe early gets its first line' '\[eval.progress\]*' "$out"

# run --remote prints the same as a local run; with one worker, whose order is fixed
# plain: remove times and places from reports
plain() {
	sed 's/  *results: .*//; s/   */  /g; s/[0-9.m]*s$/N/; s/  *[0-9]*ms/ N/; s/, [0-9.]*m*s$/, N/
	    s/  *N$/ N/; s/  *N  missing/ N missing/'
}

for s in evals/quick "$top/examples/demo" "$top/examples/trigger"
do
	cp -r "$s" ./suite
	run "$waza" run --workers 1 --no-results suite
	here=$rc$(printf '%s\n' "$out" "$err" | plain)
	run "$waza" run --remote --workers 1 suite
	is "run --remote ${s##*/}: same output as a local run" "$here" "$rc$(printf '%s\n' "$out" "$err" | plain)"
	mkdir elsewhere
	run "$waza" run --remote -q suite suite
	is "run --remote ${s##*/}: two suites, two reports" 2 \
	    "$(printf '%s\n' "$out" | grep -c '^PASSED\|^FAILED')"
	run sh -c 'cd elsewhere && exec "$WAZA" run --remote -q ../suite'
	is "run --remote ${s##*/}: same status from another directory" "${here%"${here#?}"}" "$rc"
	rm -r suite elsewhere
done
run "$waza" run --remote -o r.json --reporter json:r2.json --reporter junit:r.xml -q evals/quick
is 'run -o: status 1' 1 "$rc"
ok 'run -o and --reporter json write the same file' cmp r.json r2.json
"$waza" run -o l.json -q evals/quick >/dev/null
# shape FILE: its lines without ids, times, the directory of the suite, and the
# fingerprint, which a server does not compute
shape() {
	"$waza" parse --pretty "$1" | sed 's/"[a-z_]*_ms":[ 0-9]*//g; s/"[a-z_]*at": "[^"]*"//g
	    s/"timestamp": ".*//; s/"eval_id": .*//; s|"file": ".*/evals/|"file": "evals/|
	    /"fingerprint"/d; s/"timeout_sec": 300,/"timeout_sec": 300/'
}
is 'run -o: same file as of a local run' "$(shape l.json)" "$(shape r.json)"
like 'run --reporter' '*<testsuite name="quick" tests="5" failures="1"*' "$(cat r.xml)"
like 'compare' 'Same results: all 5 tasks scored the same*' "$("$waza" compare l.json r.json)"
run "$waza" run --remote --workers 1 --stream-json -o r.json evals/quick
is 'run --stream-json: status' 1 "$rc"
types() {
	sed 's/{"type":"\([a-z_]*\)".*/\1/' | tr '\n' ' '
}
is 'run --stream-json: same events as of a local run' "$("$waza" run --workers 1 --stream-json evals/quick | types)" "$(echo "$out" | types)"
like 'run --stream-json: the last event' '*"status":"failed","results":"r.json"*' "$(echo "$out" | tail -n 1)"
run "$waza" run --remote --task one --trials 3 --model m --executor mock -v evals/quick
like 'run: options are sent to the server' '0 quick  skill greeting  executor mock  model m  3 trials each*1 task: 1 passed, 0 failed*PASSED' "$rc $out"
run "$waza" run --remote --model m1 --model m2 -q -o two.json evals/quick
like 'run: two models are compared' '1 *model  pass rate*m1*80.0%*m2*80.0%*' "$rc $out"
ok 'run: two models write two files' [ -s two_m1.json ] && [ -s two_m2.json ]
run sh -c 'cd home && exec "$WAZA" run --remote -q --task five evals/quick'
like 'run: a path on the server' '1 quick*? five *missing "zebra"*FAILED' "$rc $out"
run "$waza" run --remote evals/none
is 'run: missing suite' '2 evals/none: Eval not found (-32000)' "$rc $err"
run "$waza" run --remote evals/bad
is 'run: invalid suite' "2 $tmp/evals/bad: Missing required field: name" "$rc $err"
run "$waza" run --remote --stream-json evals/bad
like 'run --stream-json: invalid suite is an event' '2 {"type":"error","error_type":"eval_load_failed","message":"Missing required field: name",*' "$rc $out"
run "$waza" run --remote /etc
like 'run: a path outside the roots' '2 /etc: Path access denied (-32025)' "$rc $err"
run "$waza" run --remote --resume evals/quick
is 'run: an option that cannot be used with --remote' '2 waza: --resume cannot be used with --remote' "$rc $err"
run "$waza" run --remote --session-dir logs -q evals/quick
is 'run --session-dir writes one log' 1 "$(ls logs | grep -c session.jsonl)"
run "$waza" run --remote --fail-fast -q evals/quick
is 'run --fail-fast: status 1' 1 "$rc"

# an interrupt cancels the run and reports partial results
cat >evals/hang/eval.yaml <<'YAML'
name: hang
skill: s
config: {executor: command, command: 'case $WAZA_TASK_ID in a) echo x; exit;; esac; echo $$ >>$LOG; tail -f /dev/null & echo $! >>$LOG; wait'}
tasks:
  - {id: a, prompt: x, expected: {output_contains: [x]}}
  - {id: b, prompt: x, expected: {output_contains: [x]}}
YAML
interrupt INT "$waza" run --remote -o part.json evals/hang
is 'run: interrupted: status 130' 130 "$rc"
like 'run: interrupted: report of the finished task' '*? a *1.00*1 of 2 tasks done*INTERRUPTED  results: part.json' "$(cat out)"
like 'run: interrupted: partial results' '*"test_id": "a"*"status": "passed"*"status": "cancelled"*' "$(cat part.json)"

# the server is killed
: >"$LOG"
"$waza" run --remote evals/hang >out 2>err &
other=$!
ok 'run: the server is killed: the run has started' wait_until 120 lines "$LOG" 2
stop KILL
rc=0
wait "$other" || rc=$?
other=
is 'run: the server is killed: message' "2 waza: the server at $tmp/sock disconnected" "$rc $(tail -n 1 err)"
# shellcheck disable=SC2046 # one each
kill -9 $(cat "$LOG") 2>/dev/null
run "$waza" call ping
is 'connect to an abandoned socket' "2 waza: cannot connect to $tmp/sock: Connection refused; is the server running?" "$rc $err"
rm -f sock

# tokens
(umask 077; echo s3cret >token; echo wrong >wrong)
serve --token-file token --config-json '{"unix_token": true}'
for at in sock "$port"
do
	run "$waza" connect "$at"
	like "token, $at: missing" '2 waza: the server at * requires a token: set WAZA_AUTH_TOKEN, or give --token-file' "$rc $err"
	run "$waza" connect --token-file wrong "$at"
	like "token, $at: wrong" '2 waza: the server at * rejects this token' "$rc $err"
	run env WAZA_AUTH_TOKEN=s3cret "$waza" connect "$at"
	is "token, $at: from the environment" 0 "$rc"
	ok "token, $at: the token is not stored" [ "$(grep -c s3cret "$WAZA_HOME/connection")" -eq 0 ]
	run "$waza" ping
	is "token, $at: the next call needs it again" 2 "$rc"
	run "$waza" connect --token-file token "$at"
	is "token, $at: from a file" 0 "$rc"
	is "token, $at: the path of the file is stored" "token_file $tmp/token" "$(tail -n 1 "$WAZA_HOME/connection")"
	is "token, $at: the stored file is used" '{"status":"ok"}' "$(cd / && "$waza" call ping | "$waza" parse)"
	run env WAZA_AUTH_TOKEN=nonsense "$waza" ping
	is "token, $at: WAZA_AUTH_TOKEN takes precedence" 2 "$rc"
	run "$waza" run --remote -q --task one evals/quick
	is "token, $at: run --remote" 0 "$rc"
done
chmod 644 token
run "$waza" ping
like 'token: a file that other users can read is refused' "2 waza: $tmp/token: other users can read*" "$rc $err"
stop

# a server that also serves HTTP
: >log
"$waza" serve --http 127.0.0.1:0 2>log &
srv=$!
wait_until 120 has log 'listening on http://'
run "$waza" connect "$(sed -n 's/.*listening on //p' log)"
like 'serve --http: connect' 'connected to 127.0.0.1:* (waza *)' "$out"
is 'serve --http: call' '{"status":"ok"}' "$("$waza" call ping | "$waza" parse)"
stop

# invalid servers.  act TEXT [OPTION...]: send the text to a client that connects
act() {
	text=$1
	shift
	printf '%b' "$text" | "$RPCPIPE" talk -l "$@" bad >heard 2>/dev/null &
	other=$!
	wait_until 120 test -S bad
}
# ask_bad COMMAND...: run the command against that server; sets $rc
ask_bad() {
	run "$waza" "$@"
	kill "$other" 2>/dev/null
	wait "$other" 2>/dev/null
	other=
	rm -f bad bad-
}
hi='{"id":2,"result":{"server":{"name":"x\\u001b[2J"}}}\n'
act 'SSH-2.0-OpenSSH_9.2\r\n'
ask_bad call --connect bad ping
is 'a server of another protocol' "2 waza: $tmp/bad does not speak JSON-RPC: it sent [\"SSH-2.0-OpenSSH_9.2\\r\"]" "$rc $err"
act "$hi"'{"id":1,"resu'
ask_bad call --connect bad ping
is 'a truncated message' "2 waza: the server at $tmp/bad disconnected in the middle of a message" "$rc $err"
act "$hi"
ask_bad call --connect bad ping
is 'disconnect before the answer' "2 waza: the server at $tmp/bad disconnected before it answered ping" "$rc $err"
act 'Content-Length: 999999999999\r\n\r\n'
ask_bad call --connect bad ping
is 'a message beyond the size limit' "2 waza: invalid message from $tmp/bad: Message exceeds maximum size" "$rc $err"
act '' -k
ask_bad call --connect bad --timeout 1 ping
is 'no answer within the time-out' "2 waza: the server at $tmp/bad did not answer within 1 s" "$rc $err"
act "$hi" -k
ask_bad call --connect bad --timeout 5 some.method
is 'a server that stops answering' "2 waza: the server at $tmp/bad stopped answering: no message for 5 s" "$rc $err"
ok 'the client pings a silent server' has heard '"method":"ping"'
act "$hi"'{"id":99,"result":1}\n{"id":"1","result":1}\n{"id":null,"result":1}\n[]\n7\n{"id":1,"result":"mine"}\n' -k
ask_bad call --connect bad ping
is 'unsolicited responses are ignored' '0 "mine"' "$rc $out"
act "$hi"'{"method":"\\u001b]0;x\\u0007","params":{"a":"\\u001b[2J","b\\u009b":"\\u202e"}}\n{"id":1,"result":"\\u001b[2J\\u009b\\u007f"}\n' -k
ask_bad call --connect bad ping
is 'control characters in results are escaped' '0 ["\u001b]0;x\u0007"] a="\u001b[2J" "b\u009b"="\u202e"

--- Final Result ---
"\u001b[2J\u009b\u007f"' "$rc $out"
act "$hi"'{"id":1,"error":{"code":1,"message":"\\u001b[2J\\u009b","data":{"\\u001b":"\\u001b"}}}\n' -k
ask_bad call --connect bad ping
is 'control characters in errors are replaced' '1 waza: ping: ?[2J? (1)
  "\u001b": "\u001b"' "$rc $err"
# a server may disconnect after its answer while the client still writes output
mib=${SHORT:+1}
awk -v mib="${mib:-11}" 'BEGIN { s = "yyyyyyyy"; while (length(s) < mib * 2^20) s = s s; printf "%s", s }' >long
{ printf '%b' "$hi"'{"id":1,"result":"'; cat long; echo '"}'; } | "$RPCPIPE" talk -l bad >heard 2>/dev/null &
other=$!
wait_until 120 test -S bad
mkfifo slow
wc -c <slow >size &
run sh -c '"$1" call --connect bad ping >slow' sh "$waza"
wait $!
is 'a long answer is complete after the server disconnects' "0 $(($(wc -c <long) + 3)) " "$rc $(($(cat size))) $err"
ask_bad ping --connect nowhere
if [ -c /dev/full ]
then
	act "$hi"'{"id":1,"result":1}\n' -k
	rc=0
	"$waza" call --connect bad ping >/dev/full 2>err || rc=$?
	is 'standard output is full' '2 waza: cannot write to standard output: No space left on device' "$rc $(cat err)"
	ask_bad ping --connect nowhere
else
	skip 'no /dev/full here'
fi
act "$hi" -k
ask_bad connect bad --timeout 1
is 'connect: the server must answer' 2 "$rc"
act "$hi"'{"id":1,"result":1}\n' -k
ask_bad connect bad
is 'connect: control characters in the name of the server are replaced' "connected to $tmp/bad (x?[2J)" "$out"
rm -f "$WAZA_HOME/connection"

# a server that floods and a reader that stalls: memory stays bounded, and
# an interrupt ends it
exec 7<>slow
(printf '%b' "$hi"; yes '{"method":"n","params":{"text":"again and again and again and again"}}') 2>/dev/null |
    "$RPCPIPE" talk -l bad >heard 2>/dev/null &
other=$!
wait_until 120 test -S bad
"$waza" call --connect bad ping >slow 2>err 7>&- &
client=$!
ok 'a flood: the client sends its call' wait_until 120 has heard '"ping"'
n=0
while [ "$n" -lt 20 ]
do
	n=$((n + 1))
	$NAP
done
size=$(ps -o rss= -p "$client" 2>/dev/null | tr -d ' ')
ok 'a flood: memory stays below 200 MB' [ "${size:-0}" -lt 200000 ]
kill -INT "$client"
rc=0
wait "$client" || rc=$?
exec 7>&-
wait "$other" 2>/dev/null
other=
is 'a flood: SIGINT: status 130, no message' '130 ' "$rc $(cat err)"
rm -f bad bad-

# an interrupt before the first answer
# in_hello NAME COMMAND...: the client is interrupted while it waits for the greeting
in_hello() {
	name=$1
	shift
	act '' -k
	"$waza" "$@" >out 2>err &
	client=$!
	ok "$name: the greeting is sent" wait_until 120 has heard hello
	kill -INT "$client"
	rc=0
	wait "$client" || rc=$?
	wait "$other"
	other=
	is "$name: status 130, no message" '130 ' "$rc $(cat err)"
}
in_hello 'interrupted in hello' call --connect bad ping
in_hello 'run: interrupted in hello' run --connect bad evals/quick

mkfifo lines
"$RPCPIPE" talk -l -k bad <lines >heard 2>/dev/null &
other=$!
exec 6>lines
wait_until 120 test -S bad
"$waza" run --connect bad evals/quick >out 2>err 6>&- &
client=$!
printf '%b' "$hi"'{"id":1,"result":{"runId":"r","status":"running"}}\n{"method":"eval.event","params":{"runId":"r","type":"task_complete","name":"\\u001b[2J","idx":-1,"score":1e999,"status":7}}\n{"method":"eval.complete","params":{"runId":"r"}}\n' >&6
ok 'run: the client asks for the results' wait_until 120 has heard run.status
printf '{"id":3,"result":{"result":[],"error":"\\u001b[2J"}}\n' >&6
rc=0
wait "$client" || rc=$?
exec 6>&-
wait "$other"
other=
is 'run: a server without results: message' '2 waza: the server has no results: ["\u001b[2J"]' "$rc $(tail -n 1 err)"
is 'run: no control characters are printed' 0 "$(cat out err | tr -cd '\033' | grep -c .)"

# The complete workflow of seeds/003: its four blocks unchanged, except for
# the name of the program and two paths; the agent is named in the settings.
cat >blocks <<'SH'
kaiak serve --socket /tmp/kaiak.sock --config-json '{
  "model": {"provider": "openai", "model_id": "gpt-4"}
}'
#
kaiak connect /tmp/kaiak.sock
#
kaiak generate-fix --params-json '{
  "incidents": [{
    "id": "dep-1",
    "rule_id": "deprecated-api",
    "message": "Replace Collections.sort() with List.sort()"
  }],
  "agent_config": {
    "workspace": {"working_dir": "/home/user/project"},
    "model": {"provider": "openai", "model_id": "gpt-4"}
  }
}'
#
kaiak delete-session goose-generated-session-id
kaiak disconnect
#
SH
cat >output <<'TEXT'
[kaiak/generateFix/progress] stage=started progress=0%
[kaiak/generateFix/progress] stage=analyzing progress=25%
[kaiak/generateFix/progress] stage=generating progress=50%
[kaiak/generateFix/progress] stage=completed progress=100%

--- Final Result ---
{
  "request_id": "X",
  "session_id": "X",
  "created_at": "X"
TEXT
seed=$(ls "$CORPUS"/../seeds/003*.txt 2>/dev/null)
if [ -n "$seed" ]
then
	sed -n '/^## Complete Workflow/,/^## Integration/p' "$seed" >example
	is 'seeds/003: the blocks are those of the document' "$(cat blocks)" "$(awk '/^```bash/ { on = 1; next } /^```/ { if (on) print "#"; on = 0 } on' example)"
	is 'seeds/003: the output is that of the document' "$(cat output)" "$(awk '/^```/ { plain = !on && $0 == "```"; on = !on; next } on && plain' example | sed '/^}/d; s/: ".*"/: "X"/')"
fi
# block N [SESSION]: one of them, to be run
block() {
	awk -v n="$1" '/^#$/ { n--; next } n == 1' blocks | sed "s|kaiak |\"\$WAZA\" |; s|/tmp/kaiak.sock|$tmp/k.sock|; \
	    s|/home/user/project|$tmp/project|; s|goose-generated-session-id|${2-}|"
}
cat >agent.sh <<'SH'
case $(cat) in
*'Replace Collections.sort() with List.sort()'*) ;;
*) echo 'what?' >&2; exit 1 ;;
esac
sed 's/Collections.sort(list)/list.sort(null)/' A.java >new && mv new A.java
echo Done.
SH
mkdir project
run sh -c "$(block 2)"
is 'workflow: without a server: status 2' 2 "$rc"
for executor in mock command
do
	echo 'Collections.sort(list);' >project/A.java
	printf 'executor: %s\nexecutors: {command: {command: "sh %s/agent.sh"}}\n' "$executor" "$tmp" >"$WAZA_HOME/config"
	: >log
	sh -c "exec $(block 1)" </dev/null >served 2>log &
	srv=$!
	ok "workflow, $executor: serve" wait_until 120 has log 'listening on'
	run sh -c "$(block 2)"
	like "workflow, $executor: connect" "0 connected to $tmp/k.sock (waza *)" "$rc $out"
	run sh -c "$(block 3)"
	is "workflow, $executor: generate-fix: status" '0 ' "$rc $err"
	is "workflow, $executor: generate-fix" "$(cat output)" "$(printf '%s\n' "$out" | sed 's/: "[^"]*",*$/: "X",/; s/\("created_at": "X"\),/\1/' | head -n 10)"
	like "workflow, $executor: times" '*"created_at": "20[0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z"*' "$out"
	case $executor in
	mock)    is 'workflow, mock: no file has changed' 'Collections.sort(list);' "$(cat project/A.java)" ;;
	command) is 'workflow, command: the file is fixed' 'list.sort(null);' "$(cat project/A.java)"
	         like 'workflow, command: the change' '*"path": "A.java",*"diff": "*-Collections.sort(list);\\n+list.sort(null);\\n"*' "$out" ;;
	esac
	session=$(printf '%s\n' "$out" | sed -n 's/.*"session_id": "\(.*\)".*/\1/p')
	run sh -c "$(block 4 "$session")"
	like "workflow, $executor: delete-session, disconnect" "0 {
  \"session_id\": \"$session\",
  \"deleted\": true,
  \"deleted_at\": \"20*Z\"
}
disconnected from $tmp/k.sock" "$rc $out"
	run "$waza" delete-session --connect k.sock "$session"
	is "workflow, $executor: it is gone" "1 waza: kaiak/delete_session: Session not found (-32003)
  kind: session_not_found
  session_id: $session" "$rc $err"
	[ "$executor" = command ] || stop
done

# output for programs; errors; a session with several requests
"$waza" connect k.sock >/dev/null
block 3 | sed "1d; 2i\\
{
	\$d" >fix.json
echo '}' >>fix.json
run "$waza" generate-fix --json --params-file fix.json
is 'generate-fix --json' 'started analyzing generating completed result ' \
    "$(printf '%s\n' "$out" | sed 's/.*"stage":"\([a-z]*\)".*/\1/; s/.*"result":.*/result/' | tr '\n' ' ')"
run "$waza" generate-fix -q --params-file - <fix.json
session=$(printf '%s\n' "$out" | sed -n 's/.*"session_id": "\(.*\)".*/\1/p')
like 'generate-fix -q prints only the result' '{
  "request_id": "req-*' "$out"
sed "s/^{/{\"session_id\": \"$session\",/" fix.json >again.json
run "$waza" generate-fix -q --params-file again.json
is 'generate-fix: a second request in the session' "0 $session" "$rc $(printf '%s\n' "$out" | sed -n 's/.*"session_id": "\(.*\)".*/\1/p')"
run "$waza" generate-fix --params-json "{\"incidents\":[],\"agent_config\":{\"workspace\":\"$tmp/project\",\"model\":{\"provider\":\"openai\",\"model_id\":\"m\"}}}"
like 'generate-fix: no incidents' '1 waza: kaiak/generate_fix: Invalid params: Must provide 1-1000 incidents (-32602)*' "$rc $err"
run "$waza" generate-fix
is 'generate-fix: no parameters' '2 waza: missing parameters: give --params-json or --params-file' "$rc $err"
cat >agent.sh <<'SH'
echo $$ >>"$LOG"
tail -f /dev/null &
echo $! >>"$LOG"
wait
SH
interrupt INT "$waza" generate-fix --params-file again.json
is 'generate-fix: SIGINT: status 130, no message' '130 ' "$rc $(cat err)"
# the server cancels the request; until then the session is busy
free_again() {
	"$waza" delete-session "$session" >/dev/null 2>&1
}
ok 'generate-fix: interrupted: the session is free again' wait_until 120 free_again
stop
done_testing
