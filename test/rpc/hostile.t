# Hostile or broken peers: messages that are too many, nested too deeply, too
# long or incomplete; peers that never read or never disconnect.  Other peers
# are served meanwhile, and nothing is left behind.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
[ -z "${SHORT-}" ] || skip_all 'so much takes too long a byte at a time'
: "${T_RPC_NOTES:=1000000}"
start='{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/quick"}}'

# small NAME KIB: the server has not grown by more than that since $rss0.  Freed
# memory returns to the system after a while; a sanitizer keeps its own
small() {
	if [ -z "$rss0" ]
	then skip "$1: no way to measure memory"
	elif [ "$rss0" -gt 12000 ]
	then skip "$1: the build uses $rss0 KiB from the start"
	else ok "$1: memory (from $rss0 KiB, at most $2 more)" wait_until 120 below $((rss0 + $2))
	fi
}
below() {
	[ "$(rss)" -lt "$1" ]
}

# repeat N TEXT
repeat() {
	awk -v n="$1" -v s="$2" 'BEGIN { while (n-- > 0) print s }'
}

serve
alive 'before'
rss0=$(rss) fds0=$(fds)

# many notifications
ok 'a million notifications' sh -c 'awk -v n="$1" '\''BEGIN { while (n-- > 0) print "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}"; print "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}" }'\'' |
    "$RPCPIPE" talk sock >got' sh "$T_RPC_NOTES"
is 'a million notifications: one answer' '{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}' "$(cat got)"
small 'a million notifications' 2000

# a page in a browser can send an HTTP request whose lines are calls
printf 'POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n%s\n' "$ping" >post
for at in "$port" sock
do is "calls within HTTP, $at" '-32700 ' "$("$RPCPIPE" talk "$at" <post 2>/dev/null | sed 's/.*"code":\(-[0-9]*\).*/\1/' | tr '\n' ' ')"
done
alive 'calls within HTTP'

# garbage; on TCP a connection must begin with a message, else it is closed
dd if=/dev/urandom bs=1000 count=500 2>/dev/null | cat evals/quick/eval.yaml - >garbage
"$RPCPIPE" talk sock <garbage >got
is 'garbage (unix): every line is answered as invalid JSON or request' '' "$(grep -v '"error":{"code":-32[67]00' got)"
ok 'garbage (unix): more than one line' [ "$(grep -c . got)" -gt 100 ]
alive 'garbage'
printf 'Content-Length: 100\r\n\r\n' | cat - garbage | "$RPCPIPE" talk sock >got
like 'garbage in blocks' '*"code":-32700*"code":-32700*' "$(tr '\n' ' ' <got)"
awk 'BEGIN { while (n++ < 1000000) printf "[" }' | "$RPCPIPE" talk sock >got
like 'a million brackets' '*"code":-32700*' "$(cat got)"
awk 'BEGIN { printf "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":"; while (n++ < 127) printf "[";
    while (n-- > 1) printf "]"; print "}}" }' | "$RPCPIPE" talk sock >got
like 'nested too deep' '*"code":-32700*' "$(cat got)"

# too long
awk 'BEGIN { printf "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"a\":\"";
    for (i = 0; i < 9 * 1024 * 16; i++) printf "0123456789012345678901234567890123456789012345678901234567890123"; print "\"}}" }' |
    "$RPCPIPE" talk sock >got
is '9 MiB: answered' '{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}' "$(cat got)"
awk 'BEGIN { for (i = 0; i < 12 * 1024 * 16; i++) printf "0123456789012345678901234567890123456789012345678901234567890123" }' |
    "$RPCPIPE" talk sock >got
like '12 MiB: refused' '*"id":null,"error":{"code":-32600,"message":"Message exceeds maximum size"*' "$(cat got)"
printf 'Content-Length: 1099511627776\r\n\r\n{}' | "$RPCPIPE" talk -k "$port" >got
like '2^40 bytes: refused and disconnected' '*"code":-32600,"message":"Message exceeds maximum size"*' "$(cat got)"
repeat 10000 'Content-Type: x' | "$RPCPIPE" talk sock >got
like 'an endless head' '*"code":-32600,"message":"header block is too long"*' "$(cat got)"
# malloc may keep the memory of one large message
small 'too long' 16000

# a batch of a thousand; one of a thousand and one
batch() {
	awk -v n="$1" 'BEGIN { printf "["; while (n-- > 0) printf "%s{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}", c++ ? "," : "", n; print "]" }'
}
is 'a batch of 1000' 1000 "$(batch 1000 | "$RPCPIPE" talk sock | grep -o '"status":"ok"' | grep -c .)"
like 'a batch of 1001' '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,*' "$(batch 1001 | "$RPCPIPE" talk sock)"

# half a message, then a pause; other peers do not wait
client a sock
client b "$port"
printf '{"jsonrpc":"2.0","id":1,' >&3
printf 'Content-Length: 40\r\n\r\n{"jsonrpc"' >&4
alive 'half a message'
printf '"method":"ping"}\n' >&3
ok 'half a message, and the rest' wait_until 120 has a.out '"status":"ok"'
printf ':"2.0","id":2,"method":"ping"}' >&4
ok 'half a block, and the rest' wait_until 120 has b.out '"status":"ok"'
leave a
leave b

# a peer that sends many requests and never reads: its input is paused
client a "$port" -q
client b sock -q
(repeat 20000 '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}' >&3) 2>/dev/null &
one=$!
(repeat 20000 '{"jsonrpc":"2.0","id":1,"method":"rpc.discover"}' >&4) 2>/dev/null &
two=$!
for i in 1 2 3 4 5 6 7 8 9 10
do alive "never reading, $i"
done
small 'never reading' 18000
die a
die b
wait "$one" "$two" 2>/dev/null

# a hundred runs at once on fifty connections
is 'a hundred runs at once: all notifications' 2400 "$(printf '%s\n' "$start" | "$RPCPIPE" crowd 50 2 sock)"
is 'two hundred connections' 200 "$(printf '%s\n' "$ping" | "$RPCPIPE" crowd 200 1 "$port")"

# first bytes on TCP that are not a message, in every framing: at most one error,
# then the connection is closed, and nothing is executed
mkdir evals/mark
sed 's/^name: .*/name: mark/; s/command: .*/command: "echo ran >>$LOG"}/' evals/hang/eval.yaml >evals/mark/eval.yaml
page='{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/mark"}}'
# as Chromium sends fetch("http://127.0.0.1:PORT/a:b", {method: "POST",
# mode: "no-cors", body: ...}) from a page of another origin
{
	printf 'POST /a:b HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: keep-alive\r\nContent-Length: %s\r\n' "$port" "${#page}"
	printf 'sec-ch-ua-platform: "Linux"\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/120.0.0.0\r\n'
	printf 'Content-Type: text/plain;charset=UTF-8\r\nAccept: */*\r\nOrigin: http://page.example\r\n'
	printf 'Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: empty\r\nReferer: http://page.example/\r\n'
	printf 'Accept-Encoding: gzip, deflate, br, zstd\r\nAccept-Language: en-US,en;q=0.9\r\n\r\n%s' "$page"
} >http.first
printf '\026\003\001\002\000\001\000\001\374\003\003' >tls.first
{ cat tls.first; printf '\n%s\n' "$page"; } >tls-and-call.first
{ printf 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'; printf '%s\n' "$page"; } >http2.first
printf 'garbage\n%s\n' "$page" >garbage.first
printf 'X: y\r\nContent-Length: %s\r\n\r\n%s' "${#page}" "$page" >header.first
printf '"text"\n%s\n' "$page" >text.first
: >"$LOG"
# first_bytes NAME PORT: send each of them; only one error is answered
first_bytes() {
	for f in *.first
	do
		"$RPCPIPE" talk "$2" <"$f" >got 2>/dev/null
		is "first bytes ($1): ${f%.first}" '-32700 ' "$(grep -o '"code":-[0-9]*' got | sed 's/.*://' | tr '\n' ' ')$(grep -o '"result"' got)"
	done
}
first_bytes 'detected framing' "$port"
for framing in line lsp
do
	: >log.2
	"$WAZA" jsonrpc --tcp 127.0.0.1:0 --framing "$framing" </dev/null >served.2 2>log.2 &
	srv2=$!
	wait_until 120 has log.2 'listening on 127'
	first_bytes "framing $framing" "$(sed -n 's/.*listening on 127.0.0.1://p' log.2)"
	kill "$srv2"
	wait "$srv2"
done
is 'first bytes: nothing was executed' '' "$(cat "$LOG")"
# after a message, and for a message that is only malformed, the connection stays
is 'a malformed line after a message' "$pong -32700 $pong " "$(printf '%s\ngarbage\n%s\n' "$ping" "$ping" |
    "$RPCPIPE" talk "$port" | sed 's/.*"code":\(-[0-9]*\).*/\1/' | tr '\n' ' ')"
is 'a malformed first message' "-32700 $pong " "$(printf ' \n {"jsonrpc"\n%s\n' "$ping" |
    "$RPCPIPE" talk "$port" | sed 's/.*"code":\(-[0-9]*\).*/\1/' | tr '\n' ' ')"

# peers that disconnect in the middle of a run
: >"$LOG"
for i in 1 2 3 4 5 6 7 8 9 10
do
	client a sock
	hang_on a
	die a
done
ok 'ten peers disconnect: no child is left' wait_until 120 children_gone
# on TCP this looks like half-closing
if [ "$(uname)" = Linux ]
then
	client a "$port"
	hang_on a
	die a
	ok 'one that closes its end of TCP: no child is left' wait_until 120 children_gone
	client a "$port"
	hang_on a
	exec 3>&-
	alive 'one that says no more'
	# shellcheck disable=SC2046 # one or more of them
	ok 'a silent client: its run continues' kill -0 $(cat "$LOG")
	ask sock "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$run_id\"}}" >/dev/null
	ok 'one that says no more: it hears of the end' wait_until 120 has a.out 'Run cancelled'
	leave a
else skip 'nobody can tell here when a peer closes its end of TCP'
fi

# afterwards
alive 'after'
small 'after' 18000
# (the set of those that sleep is one, once there is one)
if [ -n "$fds0" ]
then ok 'descriptors are what they were' wait_until 120 sh -c "[ \$(find /proc/$srv/fd -type l | grep -c .) -le $((fds0 + 1)) ]"
else skip 'nobody counts descriptors here'
fi
stop
is 'SIGTERM: status' 0 "$rc"
is 'nothing on stdout' '' "$(cat served)"
is 'only the addresses on stderr' 2 "$(grep -c . log)"

# a peer that never reads notifications is disconnected, its run cancelled
cat >evals/hang/flood.yaml <<'YAML'
name: flood
skill: s
config: {executor: mock, trials_per_task: 100000}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
serve --config-json '{"limits":{"queue_bytes":1048576,"connections":3,"runs":2,"kept_runs":2}}'
rss0=$(rss)
client a sock -q
say a '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/hang/flood.yaml","verbose":true}}'
ok 'a full queue: its run is cancelled' wait_until 120 sh -c \
    'printf "%s\n" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run.list\"}" | "$RPCPIPE" talk sock | grep -q cancelled'
small 'a full queue' 12000
leave a

# as many connections as are allowed, and one more
client a sock
client b sock
client c sock
for x in a b c
do
	say $x "$ping"
	wait_until 120 has $x.out '"status":"ok"'
done
is 'one connection too many: closed' '' "$(printf '%s\n' "$ping" | "$RPCPIPE" talk sock 2>/dev/null)"
leave c
ok 'accepted again' wait_until 120 sh -c 'printf "%s\n" "$1" | "$RPCPIPE" talk sock 2>/dev/null | grep -q ok' sh "$ping"

# the maximum of runs; others wait for their turn
: >"$LOG"
hang_on a
for i in 2 3 4
do say a "{\"jsonrpc\":\"2.0\",\"id\":$i,\"method\":\"eval.run\",\"params\":{\"path\":\"evals/hang\"}}"
done
ok 'runs: all are answered' wait_until 120 has a.out '"id":4,"result"'
is 'runs: two at a time, the others are queued' '"running"} "running"} "running","queued":true} "running","queued":true} ' \
    "$(sed -n 's/.*"result":{"runId":[^,]*,"status":\(.*}\)}$/\1/p' a.out | tr '\n' ' ')"
id=$(sed -n 's/.*"id":4,"result":{"runId":"\([^"]*\)".*/\1/p' a.out)
like 'runs: run.status agrees' "*{\"runId\":\"$id\",\"status\":\"running\",\"queued\":true,\"result\":null*" \
    "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"run.status\",\"params\":{\"runId\":\"$id\"}}")"
like 'runs: run.list agrees' "*{\"runId\":\"$run_id\",\"status\":\"running\",\"path\"*{\"runId\":\"$id\",\"status\":\"running\",\"queued\":true,\"path\"*" \
    "$(ask sock '{"jsonrpc":"2.0","id":8,"method":"run.list"}')"
say a "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$id\"}}"
ok 'runs: a waiting run is cancelled' wait_until 120 has a.out "{\"runId\":\"$id\",\"error\":\"Run cancelled\""
say a "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$run_id\"}}"
ok 'runs: the next one starts' wait_until 120 lines "$LOG" 6
die a
ok 'runs: all end with their peer' wait_until 120 children_gone
stop
is 'limits: status' 0 "$rc"
leave b

# silence
serve --config-json '{"limits":{"idle_seconds":1}}'
client a sock -k
client b sock
client c sock
hang_on b
say c "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run.subscribe\",\"params\":{\"runId\":\"$run_id\"}}"
wait_until 120 has c.out '"id":1,"result"'
ok 'a silent peer is disconnected' wait_until 120 sh -c "! kill -0 $pid_a"
is 'a peer that waits for its run is not' "$pong" "$(say b "$ping"; wait_until 120 has b.out '"status":"ok"'; grep '"p"' b.out)"
leave a
is 'nor a subscriber' "$pong" "$(say c "$ping"; wait_until 120 has c.out '"status":"ok"'; grep '"p"' c.out)"
die b
ok 'silence: no child is left' wait_until 120 children_gone
leave c
like 'a half-closed subscriber gets the end' '*"method":"eval.complete"*' "$(tail -n 1 c.out)"
stop
done_testing
