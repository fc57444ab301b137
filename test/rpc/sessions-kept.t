# Many sessions: at once and in a row, limits, expiry, and sessions that
# outlive the server.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/session.sh"
# too slow with one-byte reads or under valgrind
[ -z "${SHORT-}${WRAP-}" ] || AT_ONCE=20 IN_A_ROW=30
[ -z "${T_LARGE-}" ] || AT_ONCE=200 IN_A_ROW=1000
: "${AT_ONCE:=50}" "${IN_A_ROW:=200}"

# ids: the sessions of the results in a stream
ids() {
	sed -n 's/.*"result":{"request_id":"[^"]*","session_id":"\([^"]*\)".*/\1/p'
}

# steady NAME N: the server has no more descriptors than that
steady() {
	[ -n "$2" ] || return 0
	ok "$1: no descriptor is left" wait_until 120 sh -c "[ \$(find /proc/$srv/fd -type l | grep -c .) -le $2 ]"
}

# at once, each with an agent of its own
project
cat >own.sh <<'SH'
#!/bin/sh
cat >/dev/null
echo $$ >>"$LOG"
echo x >"f.$$"
echo "fixed by $$"
SH
chmod +x own.sh
up "$(agent own.sh)"
ask sock "$ping" >warm
n=$(fds)
i=0
while [ "$i" -lt "$AT_ONCE" ]
do
	i=$((i + 1))
	fix "$i"
done >requests
"$RPCPIPE" talk sock <requests >out
ids <out >made
is 'at once: all are answered' "$AT_ONCE" "$(grep -c . made)"
is 'at once: each has its own session' "$AT_ONCE" "$(sort -u made | grep -c .)"
is 'at once: each has its own agent' "$AT_ONCE" "$(sort -u "$LOG" | grep -c .)"
is 'at once: the stages of each' "$((AT_ONCE * 4))" "$(grep -c '"stage":' out)"
is 'at once: none has failed' 0 "$(grep -c -e '"error":' -e '"failed"' out)"
while read -r id
do delete 1 "$id"
done <made | "$RPCPIPE" talk sock >out
is 'at once: all are deleted' "$AT_ONCE" "$(grep -c '"deleted":true' out)"
steady 'at once' "$n"
ok 'at once: no child, no file' wait_until 120 nothing_left
stop

# in a row, and in parallel
up '{"executor":"mock"}'
ask sock "$ping" >warm
n=$(fds)
i=0
while [ "$i" -lt "$IN_A_ROW" ]
do
	i=$((i + 1))
	fix "$i"
done >requests
"$RPCPIPE" talk sock <requests | ids >made
is 'in a row: made' "$IN_A_ROW" "$(sort -u made | grep -c .)"
while read -r id
do delete 1 "$id"
done <made | "$RPCPIPE" talk sock >out
is 'in a row: deleted' "$IN_A_ROW" "$(grep -c '"deleted":true' out)"
steady 'in a row' "$n"
like 'in a row: the last is gone' '*-32003*' "$(ask sock "$(delete 1 "$(tail -n 1 made)")")"
stop
ok 'in a row: nothing is left' nothing_left

# the maximum number of sessions
up '{"executor":"mock","sessions":{"max":2}}'
{ fix 1; fix 2; fix 3; } | "$RPCPIPE" talk sock >out
like 'too many: -32015' '*"error":{"code":-32015,"message":"Resource exhausted: there are 2 sessions, the maximum; delete some","data":{"kind":"resource"}}*' "$(grep error out)"
id=$(ids <out | head -n 1)
like 'too many: existing sessions still work' '*"result"*' "$(ask sock "$(fix 4 "\"session_id\":\"$id\"")" | tail -n 1)"
ask sock "$(delete 5 "$id")" >out
like 'too many: after one is deleted' '*"result"*' "$(ask sock "$(fix 6)" | tail -n 1)"
stop

# saved sessions are there after a restart
project
up "$(agent echo.sh '"sessions":{"persist_dir":"kept"}')"
ask sock "$(fix 1)" >out
id=$(ids <out)
ask sock "$(fix 2)" >out
other=$(ids <out)
is 'kept: a file each' 2 "$(ls kept | grep -c '^session-.*\.json$')"
is 'kept: file names do not contain the id' 0 "$(ls kept | grep -c -e "$id" -e "$other")"
is 'kept: readable by the owner only' '-rw------- -rw-------' "$(ls -l kept | sed -n 's/^\(-[rwx-]*\).*/\1/p' | tr '\n' ' ' | sed 's/ $//')"
kill -9 "$srv"
wait "$srv" 2>/dev/null
srv=
echo junk >kept/session-00000000-0000-4000-8000-000000000000.json
echo '{"version":1,"id":"../x","created_ns":1,"used_ns":1}' >kept/session-00000000-0000-4000-8000-000000000001.json
echo '{"version":1,"id":"00000000-0000-4000-8000-000000000003","created_ns":1,"used_ns":-9223372036854775808}' >kept/session-00000000-0000-4000-8000-000000000003.json
echo half >kept/session-00000000-0000-4000-8000-000000000002.json.new
echo mine >kept/notes.txt
up "$(agent echo.sh '"sessions":{"persist_dir":"kept"}')"
ask sock "$(fix 3 "\"session_id\":\"$id\"")" >out
like 'kept: the conversation is remembered' "*\"session_id\":\"$id\"*This is what was said so far*1. dep-1: *Assistant:*User:*" "$(tail -n 1 out)"
like 'kept: an invalid file is logged' '*session-00000000-0000-4000-8000-00000000000*' "$(cat log)"
like 'kept: with the reason' '*session-00000000-0000-4000-8000-000000000003.json: "used_ns" must be at least 0*' "$(cat log)"
is 'kept: the invalid file stays' 'junk mine' "$(cat kept/session-00000000-0000-4000-8000-000000000000.json) $(cat kept/notes.txt)"
ok 'kept: an incomplete file is removed' [ ! -e kept/session-00000000-0000-4000-8000-000000000002.json.new ]
like 'kept: deleted' '*"deleted":true*' "$(ask sock "$(delete 4 "$other")")"
stop
rm kept/session-0000*
is 'kept: the other file has gone' 1 "$(ls kept | grep -c '^session-.*\.json$')"
up "$(agent echo.sh '"sessions":{"persist_dir":"kept"}')"
like 'kept: the deleted session is not found' '*-32003*' "$(ask sock "$(delete 5 "$other")")"
ask sock "$(fix 6 "\"session_id\":\"$id\"")" >out
stop
is 'kept: three fixes' '"fixes":3' "$(grep -o '"fixes":[0-9]*' kept/session-*)"

# a killed server leaves the directory of an agent; the next one removes it
private='{"executor":"command","executors":{"command":{"home":"private","command":["'$tmp'/hang.sh"]}}}'
up "$private"
fix 1 | "$RPCPIPE" talk sock >/dev/null 2>&1 &
client=$!
wait_until 120 sh -c '[ "$(grep -c . "$LOG")" -eq 2 ]'
ok 'killed: the directory of an agent' [ -d "$(echo "$TMPDIR"/waza-*/session-1)" ]
kill -9 "$srv"
wait "$srv" "$client" 2>/dev/null
# shellcheck disable=SC2046 # numbers
kill -9 $(cat "$LOG") 2>/dev/null
up "$(echo "$private" | sed 's/hang/echo/')"
ask sock "$(fix 2)" >out
like 'killed: the next server' '*"result":{"request_id"*' "$(tail -n 1 out)"
ok 'killed: it has its own' [ -d "$(echo "$TMPDIR"/waza-"$srv"-*/session-1)" ]
ask sock "$(delete 3 "$(ids <out)")" >out
stop
is 'killed: the next server has removed the directory' '' "$(ls "$TMPDIR")"

# more files than sessions.max: the oldest are deleted, and that is logged
up '{"executor":"mock","sessions":{"persist_dir":"few"}}'
ask sock "$(fix 1)" >out
ask sock "$(fix 2)" >last
stop
up '{"executor":"mock","sessions":{"persist_dir":"few","max":1}}'
like 'fewer: logged' '*few: deleted the 1 oldest sessions: more than sessions.max*' "$(cat log)"
like 'fewer: the oldest' '*-32003*' "$(ask sock "$(delete 3 "$(ids <out)")")"
like 'fewer: not the last' '*"deleted":true*' "$(ask sock "$(delete 4 "$(ids <last)")")"
stop

# idle sessions expire, on disk as well
up '{"executor":"mock","sessions":{"persist_dir":"brief","idle_seconds":1}}'
ask sock "$(fix 1)" >out
ok 'expiry: the file is removed' wait_until 120 sh -c '[ -z "$(ls brief)" ]'
like 'expiry: the session is not found' '*-32003*' "$(ask sock "$(delete 1 "$(ids <out)")")"
like 'expiry: its id cannot be used again' '*-32003*' "$(ask sock "$(fix 1 "\"session_id\":\"$(ids <out)\"")")"
stop
up '{"executor":"mock","sessions":{"persist_dir":"brief"}}'
ask sock "$(fix 1)" >out
stop
is 'expiry: it was kept' 1 "$(ls brief | grep -c .)"
up '{"executor":"mock","sessions":{"persist_dir":"brief","idle_seconds":1}}'
ok 'expiry: also after a restart' wait_until 120 sh -c '[ -z "$(ls brief)" ]'
stop
run "$WAZA" serve --socket sock --config-json '{"sessions":{"persist_dir":"/dev/null/x"}}' </dev/null
is 'an impossible directory: status' 2 "$rc"
done_testing
