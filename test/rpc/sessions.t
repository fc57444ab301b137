# Sessions: generate_fix and delete_session of seeds/003.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/session.sh"
date='[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]T[0-9][0-9]:[0-9][0-9]:[0-9][0-9]Z'

# the workflow of the document, in its framing, with the mock and a command
for who in mock command
do
	project
	case $who in
	mock) up '{"model":{"provider":"openai","model_id":"gpt-4"},"executor":"mock"}' ;;
	*)    up "$(agent edit.sh '"model":{"provider":"openai","model_id":"gpt-4"}')" ;;
	esac
	block "$(fix 1)" | "$RPCPIPE" talk sock >raw
	unblock <raw >out
	is "$who: the stages" "$four" "$(stages <out)"
	is "$who: five messages, each in its frame" 5 "$(grep -c 'Content-Length: ' raw)"
	last=$(tail -n 1 out)
	id=$(member session_id <out)
	like "$who: the reply is last" \
	    "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"request_id\":\"req-*\",\"session_id\":\"$id\",\"created_at\":\"$date\"*}" "$last"
	like "$who: progress as documented" \
	    "{\"jsonrpc\":\"2.0\",\"method\":\"kaiak/generateFix/progress\",\"params\":{\"session_id\":\"$id\",*\"stage\":\"analyzing\",\"progress\":25,\"timestamp\":\"$date\",\"data\":{\"message\":\"Analyzing code incidents and generating context\"}}}" \
	    "$(sed -n 2p out)"
	is "$who: an id nobody guesses" 36 "${#id}"
	like "$who: delete" \
	    "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"session_id\":\"$id\",\"deleted\":true,\"deleted_at\":\"$date\"}}" \
	    "$(block "$(delete 2 "$id")" | "$RPCPIPE" talk sock | unblock)"
	is "$who: it is gone" \
	    "{\"jsonrpc\":\"2.0\",\"id\":3,\"error\":{\"code\":-32003,\"message\":\"Session not found\",\"data\":{\"kind\":\"session_not_found\",\"session_id\":\"$id\"}}}" \
	    "$(block "$(delete 3 "$id")" | "$RPCPIPE" talk sock | unblock)"
	# word for word as the document has it
	"$WAZA" connect "$tmp/sock" >said || ok "$who: connect" false
	"$WAZA" generate-fix --params-json "{\"incidents\":[$incident],\"agent_config\":$config}" >said
	is "$who: generate-fix: status" 0 $?
	is "$who: generate-fix: what it prints" '[kaiak/generateFix/progress] stage=started progress=0%
[kaiak/generateFix/progress] stage=analyzing progress=25%
[kaiak/generateFix/progress] stage=generating progress=50%
[kaiak/generateFix/progress] stage=completed progress=100%

--- Final Result ---
{' "$(sed 7q said)"
	like "$who: generate-fix: the result" '*"request_id": "req-*",*"session_id": "*",*"created_at": "*' "$(sed 1,7d said | tr '\n' ' ')"
	id=$(sed -n 's/^  "session_id": "\(.*\)",$/\1/p' said)
	"$WAZA" delete-session "$id" >said
	is "$who: delete-session" "0   \"deleted\": true," "$? $(grep deleted\": said)"
	ok "$who: disconnect" sh -c '"$WAZA" disconnect >said'
	[ "$who" = command ] || like 'mock: nothing has changed' '*"changes":\[\],*' "$last"
	stop
	is "$who: a signal: status" 0 "$rc"
	ok "$who: nothing is left" nothing_left
done
is 'the file is fixed' '    void f() { list.sort(null); }' "$(sed -n 2p proj/A.java)"
like 'the diff' '*"changes":\[{"path":"A.java","status":"modified","diff":"--- a/A.java\\n+++ b/A.java\\n@@ -1,3 +1,3 @@\\n class A {\\n-    void f() { Collections.sort(list); }\\n+    void f() { list.sort(null); }\\n }\\n"}\]*' "$last"
like 'what the agent said' '*"output":"Replaced it.\\n"*' "$last"

# the document's own first request names its session: a fresh server creates it
up '{"executor":"mock"}'
uuid=550e8400-e29b-41d4-a716-446655440000
upper=550E8400-E29B-41D4-A716-446655440000
like 'named: an agent that cannot start does not use up the id' '*"error":{"code":-32011*' \
    "$(ask sock "$(fix 1 "\"session_id\":\"$uuid\"" | sed 's/proj/nowhere/')")"
block "$(fix 1 "\"session_id\":\"$uuid\"")" | "$RPCPIPE" talk sock | unblock >out
is 'named: the stages' "$four" "$(stages <out)"
is 'named: all messages have the id' 5 "$(grep -c "\"session_id\":\"$uuid\"" out)"
like 'named: the second request continues it' '*Mock response for: This is what was said so far*' \
    "$(ask sock "$(fix 2 "\"session_id\":\"$upper\"")" | tail -n 1)"
like "named: the original's delete_session" "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{\"session_id\":\"$uuid\",\"deleted\":true,*" \
    "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"kaiak/delete_session\",\"params\":{\"inner\":{\"session_id\":\"$uuid\"}}}")"
for id in $uuid $upper
do
	like "named: $id was deleted" "*\"error\":{\"code\":-32003,*\"session_id\":\"$id\"*" "$(ask sock "$(fix 4 "\"session_id\":\"$id\"")")"
done
stop
is 'by pipes, to the end of input' "$four" "$(fix 1 | stdio --config-json '{"executor":"mock"}' | stages)"
is 'aliases' 'true' "$( { fix 1 | sed 's/kaiak/waza/'; echo '{"jsonrpc":"2.0","id":2,"method":"waza/client/user_message"}'; } |
    stdio --config-json '{"executor":"mock"}' | sed -n 's/.*"received":\([a-z]*\).*/\1/p')"

# the prompt
project
up "$(agent echo.sh)"
full='{"id":"i-1","rule_id":"r-1","message":"First {{.Vars.x}}","description":"More\nof it","effort":"trivial","severity":"critical","uri":"file:///a/B.java","lineNumber":7,"codeSnip":"x = 1"}'
more='"migration_context":{"source_technology":"Java 8","target_technology":"Java 17","migration_hints":["Use Base64","And more"]}'
ask sock "$(incident=$full; fix 1 "$more")" >out
last=$(tail -n 1 out)
like 'prompt: the incident' '*\\nIncidents (1):\\n\\n1. i-1: r-1 (severity critical, effort trivial)\\n   First {{.Vars.x}}\\n   More\\n   of it\\n   In file:///a/B.java, line 7\\n   Code: x = 1\\n\\n*' "$last"
like 'prompt: the migration' '*They are about a migration from Java 8 to Java 17.\\nHints:\\n- Use Base64\\n- And more\\n\\n*' "$last"
like 'prompt: where' "*$tmp/proj, your working directory*" "$last"
like 'prompt: the files' '*Its files:\\n\\nA.java\\nsrc/B.java\\ntarget/out\\n\\n*' "$last"
id=$(member session_id <out)

# the second request: the prompt has the conversation of this session only
ask sock "$(fix 2 "\"session_id\":\"$id\"")" >out
last=$(tail -n 1 out)
like 'again: the conversation' '*"output":"This is what was said so far; continue with the last message of the user.\\n\\nUser:\\nThey are about a migration from Java 8*1. i-1: r-1*Assistant:\\n*User:\\nFix the incidents below*1. dep-1: *' "$last"
like 'again: the same session' "*\"session_id\":\"$id\"*" "$last"
like 'another session knows nothing' '*"output":"Fix the incidents below*' "$(ask sock "$(fix 3)" | tail -n 1)"
like 'transcript: on request' '*"transcript":\[*\]*' "$(ask sock "$(fix 3 '"include_transcript":true')" | tail -n 1)"
like 'transcript: not by default' '*"duration_ms":*[0-9]}}' "$(ask sock "$(fix 3)" | tail -n 1)"

# patterns
old=$config
config="{\"workspace\":{\"working_dir\":\"$tmp/proj\",\"include_patterns\":[\"**/*.{java,kt}\"],\"exclude_patterns\":[\"./target/**\",\"src\"]},\"model\":{\"provider\":\"openai\",\"model_id\":\"gpt-4\"}}"
last=$(ask sock "$(fix 4)" | tail -n 1)
like 'patterns: only included files are listed' '*Its files:\\n\\nA.java\\n\\nChange only files that match: **/\*.{java,kt}\\nDo not change files that match: ./target/**, src\\n*' "$last"
stop
cat >stray.sh <<'SH'
#!/bin/sh
cat >/dev/null
echo 2 >>target/out; echo n >target/new; echo n >src/N.java; echo k >K.kt; rm A.java
SH
chmod +x stray.sh
up "$(agent stray.sh)"
last=$(ask sock "$(fix 4)" | tail -n 1)
like 'patterns: an excluded change is reported' '*{"path":"src/N.java","status":"added","diff":null,"no_diff":"excluded","excluded":true},{"path":"target/new","status":"added",*{"path":"target/out","status":"modified","diff":null,"no_diff":"excluded","excluded":true}\]*' "$last"
like 'patterns: the others with a diff' '*"changes":\[{"path":"A.java","status":"deleted","diff":"--- a/A.java\\n+++ /dev/null\\n*},{"path":"K.kt","status":"added","diff":"*},*' "$last"
config=$old
stop

# an agent with conversations continues its own
project
if [ -x "$DOUBLES/double_acp" ]
then
	printf '#!/bin/sh\necho $$ >>"$LOG"\nexec "%s/double_acp" "$@"\n' "$DOUBLES" >acp.sh
	chmod +x acp.sh
	up "{\"executor\":\"acp\",\"executors\":{\"acp\":{\"command\":[\"$tmp/acp.sh\"]}}}"
	say_again='{"id":"a","rule_id":"r","message":"[[again]]"}'
	ask sock "$(incident=$say_again; fix 1)" >out
	id=$(member session_id <out)
	ask sock "$(incident=$say_again; fix 2 "\"session_id\":\"$id\"")" >out
	like 'acp: the second prompt of one session' '*"output":"prompt 2, *' "$(tail -n 1 out)"
	is 'acp: one process' 1 "$(grep -c . "$LOG")"
	kill -9 "$(cat "$LOG")"
	wait_until 120 children_gone
	ask sock "$(incident=$say_again; fix 3 "\"session_id\":\"$id\"")" >out
	like 'acp: after the agent died, another one continues' '*"output":"prompt 1, *' "$(tail -n 1 out)"
	ask sock "$(incident='{"id":"a","rule_id":"r","message":"[[crash:7]]"}'; fix 4 "\"session_id\":\"$id\"")" >out
	like 'acp: it dies' '*"code":-32010,*exit status 7*' "$(tail -n 1 out)"
	like 'acp: deleted' '*"deleted":true*' "$(ask sock "$(delete 5 "$id")")"
	ok 'acp: no process is left' wait_until 120 children_gone
	# asks KIND: print the option that the agent gets: b allows, n refuses
	asks() {
		ask sock "$(incident="{\"id\":\"a\",\"rule_id\":\"r\",\"message\":\"[[ask:$1|x]]\"}"; fix 6)" | member output
	}
	is 'acp: files may be read and edited, nothing else' 'b b b b n n n n' \
	    "$(asks read) $(asks edit) $(asks delete) $(asks move) $(asks execute) $(asks fetch) $(asks switch_mode) $(asks other)"
	stop_busy
	up "{\"executor\":\"acp\",\"executors\":{\"acp\":{\"command\":[\"$tmp/acp.sh\"],\"permissions\":\"approve\"}}}"
	is 'acp: its entry decides: approve' 'b b' "$(asks edit) $(asks execute)"
	stop_busy
	up "{\"executor\":\"acp\",\"executors\":{\"acp\":{\"command\":[\"$tmp/acp.sh\"],\"permissions\":[\"execute\"]}}}"
	is 'acp: its entry decides: a list' 'n b' "$(asks edit) $(asks execute)"
	stop_busy
	ok 'acp: nothing is left' nothing_left
else
	skip 'no double_acp (make check builds it)'
fi

if [ -x "$DOUBLES/double_copilot" ]
then
	DOUBLE_LOG=$tmp/copilot.log COPILOT_CLI_PATH=$DOUBLES/double_copilot
	export DOUBLE_LOG COPILOT_CLI_PATH
	up '{"executor":"copilot-sdk"}'
	tool='{"id":"a","rule_id":"r","message":"[[say:well]] [[write:c.txt|by copilot]]"}'
	ask sock "$(incident=$tool; fix 1)" >out
	like 'copilot: in the directory itself' '*"changes":\[{"path":"c.txt","status":"added",*by copilot*' "$(tail -n 1 out)"
	like 'copilot: usage' '*"usage":{"turns":2,*' "$(tail -n 1 out)"
	like 'copilot: tool calls are reported' 'started 0 analyzing 25 generating 50 generating 5*completed 100 ' "$(stages <out)"
	id=$(member session_id <out)
	ask sock "$(incident='{"id":"b","rule_id":"r","message":"[[say:again]]"}'; fix 2 "\"session_id\":\"$id\"")" >out
	like 'copilot: again' '*"output":"again"*' "$(tail -n 1 out)"
	is 'copilot: one process, one session' '1 1' "$(grep -c ^start copilot.log) $(grep -c session.create copilot.log)"
	is 'copilot: commands are refused' 'denied: ' "$(ask sock "$(incident='{"id":"b","rule_id":"r","message":"[[shell:ls]]"}'; fix 4 "\"session_id\":\"$id\"")" | member output)"
	ask sock "$(delete 3 "$id")" >out
	ok 'copilot: deleted, it ends' wait_until 120 sh -c "! kill -0 \$(sed -n 's/^start //p' copilot.log) 2>/dev/null"
	stop
	ok 'copilot: nothing is left' nothing_left
else
	skip 'no double_copilot (make check builds it)'
fi
if [ -x "$DOUBLES/double_model" ]
then
	printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n%s' \
	    '{"choices":[{"message":{"role":"assistant","content":"like this"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}' >said
	mkfifo model
	"$DOUBLES/double_model" asked said said said said said said >model 2>/dev/null &
	pid_c=$!
	read -r port <model
	OPENAI_API_KEY=k
	export OPENAI_API_KEY
	up "{\"executors\":{\"openai\":{\"base_url\":\"http://127.0.0.1:$port/v1\"}},\"model\":{\"temperature\":0.5}}"
	ask sock "$(fix 1 | sed 's/"gpt-4"/"gpt-4","temperature":0.25,"max_tokens":99/')" >out
	like 'openai: what the model says' '*"executor":"openai","model":"gpt-4","output":"like this","changes":\[\],"usage":{*"input_tokens":7,"output_tokens":2,*' "$(tail -n 1 out)"
	like 'openai: temperature and tokens are those of the call' '*"temperature":0.25*' "$(tr '\n' ' ' <asked)"
	like 'openai: tokens' '*99*' "$(tr '\n' ' ' <asked)"
	ask sock "$(fix 2 "\"session_id\":\"$(member session_id <out)\"" | sed 's/"gpt-4"/"gpt-4","temperature":0.25,"max_tokens":99/')" >out
	like 'openai: it is asked on' '*"role":"assistant","content":"like this"*' "$(tail -n 1 asked)"
	ask sock "$(fix 3)" >out
	like 'openai: the settings'\'' temperature' '*"temperature":0.5*' "$(tail -n 1 asked)"
	stop
	kill "$pid_c"
	wait "$pid_c" 2>/dev/null
	pid_c=
else
	skip 'no double_model (make check builds it)'
fi

# one fix at a time in a session, others meanwhile; progress is sent at once
up "$(agent hang.sh)"
client a sock
say a "$(fix 1)"
ok 'progress comes while it works' wait_until 120 has a.out '"stage":"generating"'
wait_until 120 lines "$LOG" 2
id=$(member session_id <a.out)
is 'and no reply' 0 "$(grep -c '"id":1' a.out)"
say a "$ping"
ok 'another request on the same connection' wait_until 120 has a.out "$pong"
client b sock
say b "$ping"
ok 'another connection' wait_until 120 has b.out "$pong"
say b "$(fix 2 "\"session_id\":\"$id\"")"
ok 'busy: -32013' wait_until 120 has b.out "\"id\":2,\"error\":{\"code\":-32013,\"message\":\"Session in use\",\"data\":{\"kind\":\"session_busy\",\"session_id\":\"$id\"}}"
say b "$(delete 3 "$id")"
ok 'busy: delete, too' wait_until 120 has b.out '"id":3,"error":{"code":-32013'
say b "$(fix 4)"
ok 'another session on the same connection' wait_until 120 has b.out '"stage":"generating"'
wait_until 120 lines "$LOG" 4

# cancelled
say a '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}'
ok 'cancel: -32031' wait_until 120 has a.out '"id":1,"error":{"code":-32031,"message":"Cancelled","data":{"kind":"cancelled",'
is 'cancel: the stages' 'started 0 analyzing 25 generating 50 failed 50 ' "$(stages <a.out)"
like 'cancel: its changes are reported' '*"changes":\[\]*' "$(grep '"id":1' a.out)"
# shellcheck disable=SC2046 # two numbers
ok 'cancel: its children are gone' pids_gone $(sed 2q "$LOG")
is 'cancel: the reply is last' "$(tail -n 1 a.out)" "$(grep '"id":1,' a.out)"
like 'cancel: the session still exists' '*"deleted":true*' "$(ask sock "$(delete 9 "$id")")"

# a disconnect ends the fix and deletes the new session
id=$(member session_id <b.out)
die b
ok 'gone: children' wait_until 120 children_gone
ok 'gone: the session' wait_until 120 sh -c "printf '%s\n' '$(delete 1 "$id")' | $RPCPIPE talk sock | grep -q -e -32003"
client b sock
say b "$(fix 1 '"session_id":"6ba7b810-9dad-41d1-80b4-00c04fd430c8"')"
wait_until 120 has b.out '"stage":"generating"'
die b
ok 'gone: a session that the client named is kept' wait_until 120 sh -c "printf '%s\n' '$(delete 1 6ba7b810-9dad-41d1-80b4-00c04fd430c8)' | $RPCPIPE talk sock | grep -q deleted"
say a "$ping"
is 'gone: others continue' 2 "$(wait_until 120 sh -c '[ "$(grep -c status...ok a.out)" -eq 2 ]' && grep -c 'status":"ok' a.out)"
say a "$(fix 6)"
ok 'gone: new requests work' wait_until 120 sh -c '[ "$(grep -c stage...generating a.out)" -eq 2 ]'
stop
ok 'a signal ends the fix' children_gone_now
is 'a signal: status' 0 "$rc"
die a

# fixes beyond the limit wait; a fix is a run like any other
project
up "$(agent hang.sh '"limits":{"runs":1}')"
client a sock
say a "$(fix 1)"
wait_until 120 has a.out '"stage":"generating"'
say a "$(fix 2)"
ok 'beyond the limit: it waits' wait_until 120 sh -c '[ "$(grep -c stage...analyzing a.out)" -eq 2 ]'
say a '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":2}}'
ok 'beyond the limit: cancelled' wait_until 120 has a.out '"id":2,"error":{"code":-32031'
say a '{"jsonrpc":"2.0","id":3,"method":"run.list"}'
ok 'run.list has it' wait_until 120 has a.out '"id":3,"result":{"runs":[{"runId":"'
like 'run.list: what it is' "*\"status\":\"running\",\"path\":\"$tmp/proj\",\"name\":\"generate_fix\"*" "$(grep '"id":3,' a.out)"
run_id=$(sed -n 's/.*"id":3,"result":{"runs":\[{"runId":"\([^"]*\)".*/\1/p' a.out)
say a "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$run_id\"}}"
ok 'run.cancel ends it' wait_until 120 has a.out '"id":1,"error":{"code":-32031'
ok 'run.cancel: children' wait_until 120 children_gone
leave a
stop
ok 'run.cancel: nothing is left' nothing_left

# input that crashes or hangs the original program
project
up "$(agent edit.sh)"
client a sock
n=$(fds)
fix 1 | sed 's/"id":1,//' >note
is 'notification: no reply, but progress' "$four" "$(printf '%s\n' "$(cat note)" "$ping" |
    "$RPCPIPE" talk sock | stages)"
like 'id null: a reply' '*{"jsonrpc":"2.0","id":null,"result":{*' "$(ask sock "$(fix null)" | tail -n 1)"
for m in '{"jsonrpc":"2.0","method":"kaiak/client/user_message","params":{"kind":"user_input"}}' \
    '{"jsonrpc":"2.0","method":"kaiak/no_such"}' '{"jsonrpc":"2.0","method":"kaiak/delete_session"}' \
    '{"jsonrpc":"2.0","method":"kaiak/generate_fix","params":[1]}' \
    '{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":77}}'
do is "notification: $m" "$pong" "$(printf '%s\n%s\n' "$m" "$ping" | "$RPCPIPE" talk sock)"
done
like '2^40 bytes' '*"code":-32600,"message":"Message exceeds maximum size"*' \
    "$(printf 'Content-Length: 1099511627776\r\n\r\n{' | "$RPCPIPE" talk sock)"
is 'nothing but EOF' '' "$("$RPCPIPE" talk sock </dev/null)"
is 'half a frame' '' "$(printf 'Content-Length: 100\r\n\r\n{"a"' | "$RPCPIPE" talk sock | grep result)"
is 'three in one write' '1 2 3 ' "$(printf '%s%s%s' "$(block "$(fix 1)")" "$(block "$(fix 2)")" "$(block "$(fix 3)")" |
    "$RPCPIPE" talk sock | unblock | sed -n 's/.*"id":\([0-9]\),"result".*/\1/p' | sort | tr '\n' ' ')"
is 'in a batch' "[2]$four" "$(ask sock "[$(fix 1),$ping]" | sed 's/^\[.*"id":1,.*\]$/[2]/' | sort -r | grep -v progress | head -n 1
    )$(ask sock "[$(fix 1),$ping]" | stages)"
say a "$ping"
ok 'after all that it answers' wait_until 120 has a.out "$pong"
[ -z "$n" ] || ok 'and has no more descriptors' wait_until 120 sh -c "[ \$(find /proc/$srv/fd -type l | grep -c .) -le $n ]"
leave a
stop
ok 'and nothing is left' nothing_left

# what goes wrong
project
up "$(agent fail.sh)"
ask sock "$(fix 1)" >out
like 'the agent fails: -32010' '*"id":1,"error":{"code":-32010,"message":"Agent error: exit status 3","data":{"kind":"run_failed","request_id":"req-*","stderr":"no luck","session_id":"*' "$(tail -n 1 out)"
like 'the agent fails: its changes are reported' '*"changes":\[{"path":"half","status":"added",*' "$(tail -n 1 out)"
is 'the agent fails: the stages' 'started 0 analyzing 25 generating 50 failed 50 ' "$(stages <out)"
like 'the agent fails: the session still exists' '*"deleted":true*' "$(ask sock "$(delete 2 "$(member session_id <out)")")"
stop
up "$(agent no-such-program)"
ask sock "$(fix 1)" >out
like 'no agent: -32012' '*"error":{"code":-32012,"message":"Agent initialization failed: *' "$(tail -n 1 out)"
like 'no agent: no session' '*-32003*' "$(ask sock "$(delete 2 "$(member session_id <out)")")"
stop
up "$(agent hang.sh '"sessions":{"timeout_seconds":1}')"
like 'timeout: -32010' '*"error":{"code":-32010,"message":"Agent error: no answer within 1 s","data":{"kind":"timeout",*' "$(ask sock "$(fix 1)" | tail -n 1)"
ok 'timeout: children' wait_until 120 children_gone
stop
up '{"executor":"command"}'
like 'invalid settings: -32014' '*"error":{"code":-32014,"message":"Configuration error: executor \\"command\\" needs config.command, such as command: *","data":{"kind":"config",*' "$(ask sock "$(fix 1)" | tail -n 1)"
stop

# the provider; requests never go to another one
project
up '{"executors":{"databricks":{"base_url":"http://127.0.0.1:9/v1"}}}'
unset DATABRICKS_TOKEN
like 'databricks: its own key' '*"code":-32012,*DATABRICKS_TOKEN is not set*' "$(ask sock "$(fix 1 | sed 's/openai/databricks/')" | tail -n 1)"
stop
up '{"executors":{"openai":{"base_url":"http://127.0.0.1:9/v1"}}}'
like 'databricks: its own base_url' '*"code":-32014,*"Configuration error: provider \\"databricks\\" needs its base_url: executors.databricks.base_url"*' "$(ask sock "$(fix 1 | sed 's/openai/databricks/')" | tail -n 1)"
stop
up "{\"executors\":{\"databricks\":{\"executor\":\"command\",\"command\":[\"$tmp/edit.sh\"]},\"mine\":{\"executor\":\"mock\"}}}"
like 'provider: from the settings' '*"executor":"command"*' "$(ask sock "$(fix 1 | sed 's/openai/databricks/')" | tail -n 1)"
like 'provider: a name of their own' '*"executor":"mock"*' "$(ask sock "$(fix 1 | sed 's/openai/mine/')" | tail -n 1)"
refused='*"code":-32602,"message":"Invalid params: \\"provider\\" cannot be \\"PROVIDER\\": the settings of this server do not name it (model.provider, executor, sessions.executor or executors)","data":{"kind":"invalid_params","field":"agent_config.model.provider"}*'
# refuses NAME PROVIDER: a request for it is refused and starts nothing
refuses() {
	: >"$LOG"
	like "$1: $2 is refused" "$(printf '%s' "$refused" | sed "s/PROVIDER/$2/")" "$(ask sock "$(fix 1 | sed "s/openai/$2/")" | tail -n 1)"
	is "$1: $2 is not started" '' "$(cat "$LOG")"
}
refuses 'only named executors' mock
refuses 'only named executors' openai
refuses 'only named executors' anthropic
stop

# a client chooses among the executors that the settings name, and adds none
mkdir presets
for p in claude codex copilot gemini opencode
do
	cat >"presets/$p" <<'SH'
#!/bin/sh
# the question for the login
case $* in 'auth status' | app-server* | --acp*) exit 0 ;; esac
cat >/dev/null
printf '%s\n' "${0##*/} $*" | sed 's/ --model=gpt-4.*//; q' >>"$LOG"
echo "${OPENCODE_PERMISSION-}" >"$LOG.env"
SH
	chmod +x "presets/$p"
done
path=$PATH
PATH=$tmp/presets:$PATH
up '{}'
for p in openai anthropic databricks claude codex copilot-cli gemini opencode acp copilot-sdk command mock replay remote
do refuses 'no settings' $p
done
stop
mkdir -p there
printf 'executor: claude\nsessions: {executor: claude}\nmodel: {provider: claude}\nexecutors: {claude: {temperature: 0.5}}\n' >there/.waza.yaml
(cd there && exec "$WAZA" serve --socket ../sock --root .. </dev/null >../served 2>../log) &
srv=$!
wait_until 120 has log 'listening on'
refuses "a project's file is not the user's" claude
refuses "a project's file is not the user's" openai
stop
up '{"model":{"provider":"openai"}}'
refuses 'model.provider' claude
like 'model.provider: the documented ones are accepted' '*"code":-32014,*"Configuration error: provider \\"databricks\\" needs its base_url*' "$(ask sock "$(fix 1 | sed 's/openai/databricks/')" | tail -n 1)"
stop
up '{"model":{"provider":"mock"}}'
like 'model.provider: an executor' '*"executor":"mock"*' "$(ask sock "$(fix 1 | sed 's/openai/mock/')" | tail -n 1)"
refuses 'model.provider is an executor' openai
stop
up '{"executor":"mock"}'
for p in openai anthropic databricks mock
do like "executor: $p" '*"result":*"executor":"mock"*' "$(ask sock "$(fix 1 | sed "s/openai/$p/")" | tail -n 1)"
done
refuses 'executor' claude
stop
is 'stdio is the same' 1 "$(fix 1 | sed 's/openai/claude/' | "$WAZA" jsonrpc | grep -c '"code":-32602')"

# permissions: a preset asks for nothing only if its own entry says so
permits() {
	up "{\"executor\":\"$1\"${2:+,\"executors\":{\"$1\":{\"permissions\":$2\}\}}}"
	ask sock "$(fix 1)" >out
	is "$1, ${2:-default}" "$3" "$(cat "$LOG")"
	stop
}
c='claude -p --input-format stream-json --output-format stream-json --verbose'
permits claude '' "$c --permission-mode acceptEdits"
permits claude '"deny"' "$c --permission-mode default"
permits claude '["read","edit","execute","fetch"]' "$c --permission-mode acceptEdits --allowedTools=Bash --allowedTools=WebFetch,WebSearch"
permits claude '"approve"' "$c --permission-mode bypassPermissions"
c='codex exec --json --skip-git-repo-check --ephemeral -s'
permits codex '' "$c workspace-write"
permits codex '["read"]' "$c read-only"
c='copilot --output-format json --no-auto-update --no-ask-user --no-color'
permits copilot-cli '' "$c --allow-tool=write"
permits copilot-cli '"deny"' "$c"
permits copilot-cli '["shell","url"]' "$c --allow-tool=shell --allow-all-urls"
c='gemini --output-format stream-json --approval-mode'
permits gemini '' "$c auto_edit"
permits gemini '["execute"]' "$c default --allowed-tools=run_shell_command"
permits opencode '"approve"' 'opencode run --format json --auto'
permits opencode '' 'opencode run --format json'
like 'opencode: the rest is denied' '*{"\*":"deny",*"edit":"allow","bash":"deny","webfetch":"deny","websearch":"deny","external_directory":"deny"}' "$(cat "$LOG.env")"
# a model is never an option
for p in claude codex copilot-cli gemini opencode
do
	up "{\"executor\":\"$p\"}"
	ask sock "$(fix 1 | sed 's/"gpt-4"/"--yolo"/')" >out
	is "$p: a model that looks like an option" 1 "$(grep -c -e ' --model=--yolo' "$LOG")"
	stop
done
up '{"executor":"claude","executors":{"claude":{"permissions":7}}}'
like 'permissions of a wrong type' '*"code":-32014,*"Configuration error: \\"permissions\\" must be approve, deny, or a list of read, edit, execute and fetch"*' "$(ask sock "$(fix 1)" | tail -n 1)"
stop
PATH=$path
up "{\"sessions\":{\"executor\":\"mock\"},\"executor\":\"command\",\"model\":{\"provider\":\"openai\",\"model_id\":\"gpt-4\",\"temperature\":0.1},\"workspace\":{\"working_dir\":\"$tmp/proj\"}}"
like 'settings: defaults for a call' '*"executor":"mock","model":"gpt-4"*' \
    "$(ask sock "$(config='{}'; fix 1)" | tail -n 1)"
stop

# roots: the working directory of the server, or those that are set
cd elsewhere || exit 1
up '{"executor":"mock"}'
like 'outside of the roots: -32011' "*\"error\":{\"code\":-32011,\"message\":\"Path access denied\",\"data\":{\"kind\":\"path_denied\",\"field\":\"agent_config.workspace.working_dir\",\"path\":\"$tmp/proj\"}}*" "$(ask sock "$(fix 1)" | tail -n 1)"
stop
up '{"executor":"mock"}' --root "$tmp/proj"
like 'inside of them' '*"result":*' "$(ask sock "$(fix 1)" | tail -n 1)"
like 'out of them by a link' '*"code":-32011*' "$(ln -s "$tmp/elsewhere" "$tmp/proj/out"
    ask sock "$(fix 1 | sed 's|/proj"|/proj/out"|')" | tail -n 1)"
odd=$(printf 'o\377d') && mkdir "$tmp/proj/$odd" && ln -s "$odd" "$tmp/proj/fine"
like 'a path that is not UTF-8: -32011' '*"code":-32011,"message":"Workspace error: its path is not UTF-8"*' "$(ask sock "$(fix 1 | sed 's|/proj"|/proj/fine"|')" | tail -n 1)"
like 'a missing directory: -32011' '*"code":-32011,"message":"Workspace error: *' "$(ask sock "$(fix 1 | sed 's|/proj"|/proj/none"|')" | tail -n 1)"
like 'a file: -32011' '*"code":-32011,"message":"Workspace error: not a directory"*' "$(ask sock "$(fix 1 | sed 's|/proj"|/proj/A.java"|')" | tail -n 1)"
stop
cd "$tmp" || exit 1

# every wrong field: its number, its path, and nothing is started
project
up "$(agent edit.sh)"
: >"$LOG"
wrong() {
	ask sock "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kaiak/generate_fix\",\"params\":$3}" >out
	like "$1: $2" "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":$1,\"message\":\"*\",\"data\":{\"kind\":\"invalid_params\",\"field\":\"$2\"*}}" "$(cat out)"
}
w="\"workspace\":{\"working_dir\":\"$tmp/proj\"}" m='"model":{"provider":"openai","model_id":"gpt-4"}'
c="\"agent_config\":{$w,$m}" i="\"incidents\":[$incident]"
wrong -32602 'agent_config.workspace.exclude_patterns\[1\]' "{$i,\"agent_config\":{\"workspace\":{\"working_dir\":\"$tmp/proj\",\"exclude_patterns\":[\"./a\",\"a/../b\"]},$m}}"
wrong -32602 incidents "{$c}"
wrong -32602 incidents "{$c,\"incidents\":null}"
wrong -32602 incidents "{$c,\"incidents\":[]}"
is 'verbatim' '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: Must provide 1-1000 incidents","data":{"kind":"invalid_params","field":"incidents"}}}' "$(cat out)"
many=$(awk 'BEGIN { for (i = 0; i < 1001; i++) printf "%s{\"id\":\"%d\",\"rule_id\":\"r\",\"message\":\"m\"}", i ? "," : "", i }')
wrong -32602 incidents "{$c,\"incidents\":[$many]}"
like 'more than a thousand' '*"Invalid params: Must provide 1-1000 incidents"*' "$(cat out)"
wrong -32602 incidents "{$c,\"incidents\":\"x\"}"
wrong -32602 'incidents\[0\]' "{$c,\"incidents\":[1]}"
wrong -32602 'incidents\[0\].id' "{$c,\"incidents\":[{\"rule_id\":\"r\",\"message\":\"m\"}]}"
wrong -32602 'incidents\[0\].id' "{$c,\"incidents\":[{\"id\":7,\"rule_id\":\"r\",\"message\":\"m\"}]}"
wrong -32602 'incidents\[0\].id' "{$c,\"incidents\":[{\"id\":\"\",\"rule_id\":\"r\",\"message\":\"m\"}]}"
wrong -32602 'incidents\[0\].rule_id' "{$c,\"incidents\":[{\"id\":\"a\",\"message\":\"m\"}]}"
wrong -32602 'incidents\[0\].message' "{$c,\"incidents\":[{\"id\":\"a\",\"rule_id\":\"r\"}]}"
wrong -32602 'incidents\[1\].message' "{$c,\"incidents\":[$incident,{\"id\":\"a\",\"rule_id\":\"r\",\"message\":{}}]}"
wrong -32602 'incidents\[1\].id' "{$c,\"incidents\":[$incident,$incident]}"
wrong -32602 'incidents\[0\].description' "{$c,\"incidents\":[{\"id\":\"a\",\"rule_id\":\"r\",\"message\":\"m\",\"description\":1}]}"
wrong -32602 'incidents\[0\].effort' "{$c,\"incidents\":[{\"id\":\"a\",\"rule_id\":\"r\",\"message\":\"m\",\"effort\":\"huge\"}]}"
wrong -32602 'incidents\[0\].severity' "{$c,\"incidents\":[{\"id\":\"a\",\"rule_id\":\"r\",\"message\":\"m\",\"severity\":\"fatal\"}]}"
wrong -32602 migration_context "{$c,$i,\"migration_context\":\"x\"}"
wrong -32602 migration_context.source_technology "{$c,$i,\"migration_context\":{\"source_technology\":8}}"
wrong -32602 migration_context.migration_hints "{$c,$i,\"migration_context\":{\"migration_hints\":{}}}"
wrong -32602 agent_config "{$i}"
wrong -32602 agent_config "{$i,\"agent_config\":[]}"
wrong -32602 agent_config.workspace.working_dir "{$i,\"agent_config\":{$m}}"
wrong -32602 agent_config.workspace "{$i,\"agent_config\":{\"workspace\":7,$m}}"
wrong -32602 agent_config.workspace.working_dir "{$i,\"agent_config\":{\"workspace\":{\"working_dir\":7},$m}}"
wrong -32602 agent_config.workspace.working_dir "{$i,\"agent_config\":{\"workspace\":{\"working_dir\":\"proj\"},$m}}"
wrong -32602 agent_config.workspace.working_dir "{$i,\"agent_config\":{\"workspace\":\"proj\",$m}}"
wrong -32602 agent_config.workspace.include_patterns "{$i,\"agent_config\":{\"workspace\":{\"working_dir\":\"/\",\"include_patterns\":{}},$m}}"
wrong -32602 'agent_config.workspace.include_patterns\[1\]' "{$i,\"agent_config\":{\"workspace\":{\"working_dir\":\"$tmp/proj\",\"include_patterns\":[\"a\",\"[\"]},$m}}"
wrong -32602 'agent_config.workspace.exclude_patterns\[0\]' "{$i,\"agent_config\":{\"workspace\":{\"working_dir\":\"$tmp/proj\",\"exclude_patterns\":[\"\"]},$m}}"
wrong -32602 agent_config.model.provider "{$i,\"agent_config\":{$w}}"
wrong -32602 agent_config.model "{$i,\"agent_config\":{$w,\"model\":\"gpt-4\"}}"
wrong -32602 agent_config.model.provider "{$i,\"agent_config\":{$w,\"model\":{\"model_id\":\"x\"}}}"
wrong -32602 agent_config.model.provider "{$i,\"agent_config\":{$w,\"model\":{\"provider\":\"nobody\",\"model_id\":\"x\"}}}"
wrong -32602 agent_config.model.model_id "{$i,\"agent_config\":{$w,\"model\":{\"provider\":\"openai\"}}}"
wrong -32602 agent_config.model.temperature "{$i,\"agent_config\":{$w,\"model\":{\"provider\":\"openai\",\"model_id\":\"x\",\"temperature\":1.5}}}"
wrong -32602 agent_config.model.temperature "{$i,\"agent_config\":{$w,\"model\":{\"provider\":\"openai\",\"model_id\":\"x\",\"temperature\":\"hot\"}}}"
wrong -32602 agent_config.model.max_tokens "{$i,\"agent_config\":{$w,\"model\":{\"provider\":\"openai\",\"model_id\":\"x\",\"max_tokens\":0}}}"
wrong -32602 agent_config.override_base_config.model.max_tokens "{$i,\"agent_config\":{$w,$m,\"override_base_config\":{\"model\":{\"max_tokens\":\"x\"}}}}"
wrong -32602 session_id "{$i,$c,\"session_id\":7}"
wrong -32602 include_transcript "{$i,$c,\"include_transcript\":\"yes\"}"
like 'an unknown id' '*"error":{"code":-32003,"message":"Session not found","data":{"kind":"session_not_found","session_id":"../../etc/passwd"}}}' \
    "$(ask sock "$(fix 1 '"session_id":"../../etc/passwd"')")"
like 'an empty id' '*-32003*' "$(ask sock "$(fix 1 '"session_id":""')")"
like 'null means none' '*"result"*' "$(ask sock "$(fix 1 '"session_id":null')")"
is 'delete without an id' '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: Missing required field: session_id","data":{"kind":"invalid_params","field":"session_id"}}}' \
    "$(ask sock '{"jsonrpc":"2.0","id":1,"method":"kaiak/delete_session"}')"
is 'nothing was started by all that but one' 1 "$(grep -c . "$LOG")"
like "the original's spelling" '*"result"*' "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"kaiak/generate_fix\",\"params\":{$i,\"agent_config\":{\"workspace\":\"$tmp/proj\",\"override_base_config\":{\"model\":{\"provider\":\"openai\",\"model\":\"m\"}}}}}" | tail -n 1)"
stop

# a custom template
printf 'In {{.Vars.working_dir}}: {{.Vars.incidents_json}} {{.Vars.migration_json}}{{.Vars.count}}' >t.txt
up "$(agent echo.sh '"sessions":{"prompt_template":"t.txt"}')"
like 'template' "*\"output\":\"In $tmp/proj: \[{\\\\\"id\\\\\":\\\\\"dep-1\\\\\",*}\] 1\"*" "$(ask sock "$(fix 1)" | tail -n 1)"
stop
printf 'ok\n {{.Vars.incidnts}}' >t.txt
run "$WAZA" serve --socket sock --config-json '{"sessions":{"prompt_template":"t.txt"}}' </dev/null
is 'an invalid template: status' 2 "$rc"
is 'an invalid template: its place' 'waza: t.txt:2:2: unknown variable "incidnts" (did you mean "incidents"?)' "$err"
run "$WAZA" serve --socket sock --config-json '{"sessions":{"prompt_template":"none.txt"}}' </dev/null
is 'no template: status' 2 "$rc"
done_testing
