# WebSocket: the cases of Autobahn, section by section, against a server that
# sends back what comes (test/tool/ws_cases.c, test/tool/ws_echo.c); and what waza serve
# does with bad or many connections.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
needs ws_cases ws_echo

# echo_on: the server that sends back, on $port
echo_on() {
	: >log
	"$DOUBLES/ws_echo" </dev/null >/dev/null 2>log &
	srv=$!
	wait_until 120 has log 'listening on'
	port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' log)
}

# too slow with one-byte reads: 16 MiB
most=
[ -z "${SHORT-}" ] || most='-m 10000'

# section NAME PREFIX...
section() {
	what=$1
	shift
	# shellcheck disable=SC2086 # an option and its value
	got=$("$DOUBLES/ws_cases" $most "$port" "$@") || true
	all=$(printf '%s\n' "$got" | sed -n 's/^\([0-9]*\) of \1$/all/p')
	[ "$all" = all ] || all=$got
	is "$what" all "$all"
}

echo_on
section '1: frames of all lengths' 1.
section '2: pings and pongs' 2.
section '3: reserved bits' 3.
section '4: unknown opcodes' 4.
section '5: fragments' 5.
section '6: UTF-8, checked on arrival' 6.
section '7: the end, and its codes' 7.
if [ -z "$most" ]
then
	section '9: large messages, whole, in fragments and in pieces' 9.1 9.2 9.3 9.4 9.5 9.6
	section '9: many messages' 9.7 9.8
else section '9: many messages' 9.7.1 9.8.1
fi
section '10: fragments of its own making' 10.
kill "$srv"
wait "$srv" 2>/dev/null
srv=

# serve_http: on $port
serve_http() {
	: >log
	"$WAZA" serve --http 127.0.0.1:0 --unix sock </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log 'listening on sock'
	port=$(sed -n 's|.*listening on http://127.0.0.1:||p' log)
	listens
}

# open_ws: what a client sends first; ws: the same, what it reads, the answers
open_ws() {
	printf 'GET /rpc HTTP/1.1\r\nHost: localhost:%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n' \
	    "$port"
}
ws() {
	{ open_ws; cat; } | "$RPCPIPE" talk "$port" | LC_ALL=C tr -d '\000-\011\013-\037\177-\377'
}

serve_http
like 'one call and its answer' "*101 Switching Protocols*$pong*" \
    "$({ printf '\201\252\0\0\0\0'; printf %s "$ping"; } | ws)"
like 'a call in a binary frame' "*$pong*" "$({ printf '\202\252\0\0\0\0'; printf %s "$ping"; } | ws)"
like 'in fragments, with a ping between' "*hey*$pong*" \
    "$({ printf '\001\212\0\0\0\0'; printf %s "$ping" | head -c 10; printf '\211\203\0\0\0\0hey'
	printf '\200\240\0\0\0\0'; printf %s "$ping" | tail -c +11; } | ws)"
like 'a batch' "*\\[$pong,$pong\\]*" \
    "$({ printf '\201\327\0\0\0\0'; printf '[%s,%s]' "$ping" "$ping"; } | ws)"
like 'no JSON' '*"code":-32700*' "$(printf '\201\203\0\0\0\0{x}' | ws)"
like 'on a unix socket' "*$pong*" "$({ open_ws; printf '\201\252\0\0\0\0'; printf %s "$ping"; } |
    "$RPCPIPE" talk sock | LC_ALL=C tr -d '\000-\011\013-\037\177-\377')"
like '2^63 bytes' '*length is 2^63 or more*' "$(printf '\202\377\200\0\0\0\0\0\0\0\0\0\0\0' | ws)"
like '2^40 bytes' '*Message exceeds maximum size*' "$(printf '\202\377\0\0\001\0\0\0\0\0\0\0\0\0' | ws)"
like 'a frame without a mask' '*did not mask*' "$(printf '\201\001x' | ws)"

# a million pings, of which the pongs are not read, and then are
before=$(rss)
awk 'BEGIN { for (i = 0; i < 1000000; i++) printf "\211\200\001\001\001\001" }' >pings
{ open_ws; cat pings; } >flood
client a "$port" -q -k
cat flood >&3 &
flood=$!
alive_http() {
	like "$1" '*200 OK*"status":"ok"*' "$(printf 'GET /health HTTP/1.0\r\n\r\n' | "$RPCPIPE" talk "$port")"
}
alive_http 'a million pings whose pongs are not read: others are served'
die a
wait "$flood" 2>/dev/null
is 'a million pings: as many pongs' 1000000 "$("$RPCPIPE" talk "$port" <flood |
    LC_ALL=C tr -cd '\212' | wc -c | tr -d ' ')"
after=$(rss)
[ -z "$before" ] || ok "a million pings: no more memory ($before to $after KiB)" [ "$after" -lt $((before + 20000)) ]
alive_http 'and it is still there'
alive 'and for JSON-RPC'
stop
is 'SIGTERM: status' 0 "$rc"
done_testing
