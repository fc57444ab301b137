# Who is a peer on TCP without a token: the user of the server and root, not
# another user; --no-token; the errors in each protocol, and the server's log.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/web.sh"

# other and listening addresses that need no other user
run "$WAZA" jsonrpc --tcp 0.0.0.0:0
is 'a remote address: status' 2 "$rc"
like 'a remote address: names the option and the token' \
    '*"0.0.0.0:0"*--allow-remote*token*WAZA_AUTH_TOKEN*--token-file*' "$err"
WAZA_AUTH_TOKEN=t run "$WAZA" serve --http 0.0.0.0:0
is 'a remote address with a token: names the option' \
    'waza: "0.0.0.0:0" is not a loopback address; to listen there, use --allow-remote' "$err"

serve
is 'its own user is served' "$pong" "$(ask "$port" "$ping")"
stop

# as another user
if [ "$(id -u)" != 0 ] || ! setpriv --reuid 65534 --clear-groups true 2>/dev/null
then
	skip 'another user: only root with setpriv(1) can act as one'
	done_testing
fi
# another user can run the programs and read the suites
mkdir bin other
cp "$RPCPIPE" "$HTTPGET" "$WAZA" bin
chmod 755 "$tmp" bin bin/* other
chown 65534 other
as_other() {
	setpriv --reuid 65534 --regid 65534 --clear-groups "$@"
}
run_it='{"jsonrpc":"2.0","id":7,"method":"eval.run","params":{"path":"evals/hang"}}'
denied='{"jsonrpc":"2.0","id":7,"error":{"code":-32034,"message":"Access denied: this server serves only the user who started it; its owner can set a token, or use --no-token","data":{"kind":"forbidden"}}}'

# block TEXT: as a block; unblock: the body of blocks
block() {
	printf 'Content-Length: %s\r\n\r\n%s' "${#1}" "$1"
}
unblock() {
	sed -n 's/^\({.*\)/\1/p'
}

: >"$LOG"
began=$(date +%s)
serve
is 'line: refused' "$denied" "$(printf '%s\n%s\n' "$run_it" "$ping" | as_other bin/rpcpipe talk "$port")"
is 'block: refused' "$denied" "$(block "$run_it" | as_other bin/rpcpipe talk "$port" | unblock)"
like 'a batch: refused' '{"jsonrpc":"2.0","id":null,"error":{"code":-32034,*' "$(printf '[%s]\n' "$run_it" | as_other bin/rpcpipe talk "$port")"
like 'HTTP to JSON-RPC: refused' '{"jsonrpc":"2.0","id":null,"error":{"code":-32034,*' \
    "$(printf 'GET / HTTP/1.1\r\n\r\n' | as_other bin/rpcpipe talk "$port")"
is 'hello does not help' 1 "$(printf '%s\n%s\n' '{"jsonrpc":"2.0","id":1,"method":"hello","params":{"name":"a","version":"1","agent":"a","pid":1}}' "$run_it" |
    as_other bin/rpcpipe talk "$port" | grep -c 'Access denied')"
run as_other bin/waza ping --connect "127.0.0.1:$port"
like 'the client reports it' '*Access denied*' "$err"
is 'its own user is still served' "$pong" "$(ask "$port" "$ping")"
is 'nothing was executed' '' "$(cat "$LOG")"
is 'the log has a line for each' 6 "$(grep -c 'refused a connection from 127.0.0.1:[0-9]*: its socket belongs to another user (uid 65534); set a token (WAZA_AUTH_TOKEN, --token-file) or use --no-token' log)"
# silent ones do not take the place of others
as_other bin/rpcpipe talk -k "$port" </dev/null >silent &
pid_a=$!
i=0
while [ $((i += 1)) -le 100 ]
do printf '%s\n' "$ping" | as_other bin/rpcpipe talk "$port" 2>/dev/null
done >many
is 'a hundred more: none is served' 0 "$(grep -c '"status"' many)"
# 20 lines in 10 seconds, in as many such periods as the clients took
ok 'a hundred more: the log is limited' [ "$(grep -c refused log)" -le $((20 * (($(date +%s) - began) / 10 + 2))) ]
like 'the last line says so' '*more of these are not logged for 10 seconds' "$(grep refused log | tail -n 1)"
wait "$pid_a"
pid_a=
like 'a silent one is refused after a while' '{"jsonrpc":"2.0","id":null,"error":{"code":-32034,*' "$(cat silent)"
stop

for framing in line lsp
do
	serve --framing "$framing"
	case $framing in
	line) got=$(printf '%s\n' "$run_it" | as_other bin/rpcpipe talk "$port") ;;
	lsp) got=$(block "$run_it" | as_other bin/rpcpipe talk "$port" | unblock) ;;
	esac
	is "--framing $framing: refused" "$denied" "$got"
	stop
done

# HTTP, the page and WebSockets
web
for path in / /health /api/v1/runs /style.css
do like "GET $path: refused" '403 {"error":{"code":403,"kind":"forbidden","message":"Access denied: *' \
    "$(as_other bin/httpget -s "$port" "$path" | tr '\n' ' ')"
done
like 'POST: refused' '403 *' "$(as_other bin/httpget -s -H 'Content-Type: application/json' -d '{"path":"evals/hang"}' "$port" "$v1/runs" | tr '\n' ' ')"
for path in / /ws /rpc
do
	printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n' "$path" "$port" |
	    as_other bin/rpcpipe talk "$port" >got
	like "WebSocket $path: refused" 'HTTP/1.1 403 Forbidden*' "$(head -n 1 got)"
done
run as_other env HOME="$tmp/other" WAZA_HOME="$tmp/other" bin/waza worker "ws://127.0.0.1:$port" --tool t=cat --attempts 3
is 'waza worker: refused for good' '2 waza: ws://127.0.0.1:'"$port"': the server refused the connection: Access denied: this server serves only the user who started it; its owner can set a token, or use --no-token' "$rc $err"
is 'HEAD: no body' '' "$(printf 'HEAD / HTTP/1.1\r\nHost: localhost\r\n\r\n' | as_other bin/rpcpipe talk "$port" | sed '1,/^.$/d')"
is 'lines on the same port: refused' "$denied" "$(printf '%s\n' "$run_it" | as_other bin/rpcpipe talk "$port")"
is 'nothing was executed by HTTP' '' "$(cat "$LOG")"
like 'its own user gets the page' '200 *' "$(code / | cut -c 1-10)"
stop

# --no-token; with a token; another user's server
serve --no-token
is '--no-token: all users are served' "$pong" "$(printf '%s\n' "$ping" | as_other bin/rpcpipe talk "$port")"
is '--no-token: nothing in the log' '' "$(grep refused log)"
stop
web --no-token
like '--no-token: HTTP' '200 *' "$(as_other bin/httpget -s "$port" /health | tr '\n' ' ')"
stop
echo s3cret >token
chmod 600 token
serve --token-file token
like 'with a token: it is asked for' '*"kind":"auth_failed"*' "$(printf '%s\n' "$ping" | as_other bin/rpcpipe talk "$port")"
hello='{"jsonrpc":"2.0","id":1,"method":"hello","params":{"name":"a","version":"1","agent":"a","pid":1'
like 'with a token: who shows it is served' "*\"success\":true*$pong" \
    "$(printf '%s,"token":"s3cret"}}\n%s\n' "$hello" "$ping" | as_other bin/rpcpipe talk "$port" | tr '\n' ' ' | sed 's/ $//')"
stop
serve --token-file token --no-token
is 'a token and --no-token: not asked for here' "$pong" "$(printf '%s\n' "$ping" | as_other bin/rpcpipe talk "$port")"
like 'a token and --no-token: hello without it' '*"success":true*' "$(printf '%s}}\n' "$hello" | as_other bin/rpcpipe talk "$port")"
stop
cd other || exit 1
: >log
# not as_other: $! must be the server, not a shell that waits for it
setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$tmp/other" WAZA_HOME="$tmp/other" ../bin/waza jsonrpc --tcp 127.0.0.1:0 </dev/null >served 2>log &
srv=$!
wait_until 120 has log 'listening on 127'
port=$(sed -n 's/.*listening on 127.0.0.1://p' log)
is 'root is served by all' "$pong" "$(ask "$port" "$ping")"
stop

# evaluation clients of `waza run --http`
cd "$tmp" || exit 1
mkdir evals/remote
cat >evals/remote/eval.yaml <<'YAML'
name: far
skill: s
config: {executor: remote, timeout_seconds: 300}
tasks: [{id: a, tool: t, prompt: x, expected: {output_contains: [x]}}]
YAML
: >log
"$WAZA" run evals/remote --http 127.0.0.1:0 </dev/null >report 2>log &
srv=$!
wait_until 120 has log 'listening for evaluation clients'
port=$(sed -n 's|.*ws://127.0.0.1:||p' log)
like 'run --http: refused' '403 *' "$(as_other bin/httpget -s "$port" /health | tr '\n' ' ')"
like 'run --http: in the log' '*refused a connection*' "$(cat log)"
kill "$srv"
wait "$srv" 2>/dev/null
srv=
# a log that nobody reads: its lines are dropped, and the server answers
if dd if=/dev/null of=/dev/null oflag=nonblock 2>/dev/null
then
	mkfifo unread
	exec 7<>unread
	"$WAZA" jsonrpc --tcp 127.0.0.1:0 --unix unread.sock 2>unread 7>&- &
	unread=$!
	port=
	until [ -n "$port" ] || ! read -r line <&7
	do port=$(expr "$line" : '.*listening on 127\.0\.0\.1:\([0-9]*\)')
	done
	wait_until 60 test -S unread.sock
	# it is full if the second call cannot write a byte
	dd if=/dev/zero of=unread bs=4096 count=10000 oflag=nonblock 2>/dev/null
	ok 'the pipe of the log is full' [ "$(dd if=/dev/zero of=unread bs=4096 count=1 oflag=nonblock 2>&1 | grep -c 'unavailable')" = 1 ]
	like 'no reader of the log: another user is refused' '*-32034*' "$(printf '%s\n' "$ping" | as_other bin/rpcpipe talk "$port")"
	run "$WAZA" ping --connect "$tmp/unread.sock"
	is 'no reader of the log: the server answers' 0 "$rc"
	kill $unread
	wait $unread
	exec 7<&-
else skip 'dd(1) cannot write without waiting'
fi
done_testing
