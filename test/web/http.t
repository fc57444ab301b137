# waza serve --http: curl, wget and requests by hand; addresses, tokens, Host
# and Origin; consecutive requests, and all framings on one port.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
(umask 077; echo s3cret >token)

# serve_http OPTION...: on $port, and on sock
serve_http() {
	: >log
	"$WAZA" serve --http 127.0.0.1:0 --unix sock "$@" </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log 'listening on sock'
	port=$(sed -n 's|.*listening on http://127.0.0.1:||p' log)
	listens
	url=http://127.0.0.1:$port
}

# raw TEXT: printf's, as it is; status TEXT: the status of each answer
raw() {
	printf "$1" | "$RPCPIPE" talk "$port"
}
status() {
	raw "$1" | sed -n 's|^HTTP/1.1 \([0-9]*\) .*|\1|p' | tr '\n' ' ' | sed 's/ $//'
}
healthy='*"status":"ok","version":"*","runs":0,"clients":0}'

# addresses
for at in 0.0.0.0:0 '[::]:0'
do
	run "$WAZA" serve --http "$at" </dev/null
	is "$at without --allow-remote: status" 2 "$rc"
	like "$at without --allow-remote: why" '*not a loopback address*' "$err"
done
run "$WAZA" serve --http 0.0.0.0:0 --allow-remote </dev/null
is '--allow-remote without a token: status' 2 "$rc"
for at in localhost localhost:x localhost:99999 http:// ''
do
	run "$WAZA" serve --http "$at" </dev/null
	is "--http '$at': status" 2 "$rc"
done
run "$WAZA" jsonrpc --config-json '{"listen":["http:127.0.0.1:0"]}' </dev/null
is 'jsonrpc has no HTTP of its own: status' 0 "$rc"

serve_http
like 'it prints the address' "waza: listening on http://127.0.0.1:[1-9]*" "$(head -n 1 log)"
run "$WAZA" serve --http "127.0.0.1:$port" </dev/null
is 'a port that is in use: status' 2 "$rc"

# by hand
get='GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n'
like 'a request' "HTTP/1.1 200 OK*$healthy" "$(raw "$get")"
is 'three at once' '200 200 200' "$(status "$get$get$get")"
like 'HTTP/1.0' "HTTP/1.1 200 OK*Connection: close*$healthy" "$(raw 'GET /health HTTP/1.0\r\n\r\n')"
is 'on a unix socket, by any name' 200 "$(printf 'GET /health HTTP/1.1\r\nHost: x\r\n\r\n' |
    "$RPCPIPE" talk sock | sed -n 's|^HTTP/1.1 \([0-9]*\) .*|\1|p')"
is 'no path' 404 "$(status 'GET /no/such HTTP/1.1\r\nHost: localhost\r\n\r\n')"
is 'no method' '405 501 501' "$(status 'PUT /health HTTP/1.1\r\nHost: localhost\r\n\r\nBREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\nTRACE / HTTP/1.1\r\nHost: localhost\r\n\r\n')"
is 'CONNECT' 501 "$(status 'CONNECT localhost:1 HTTP/1.1\r\nHost: localhost\r\n\r\n')"
is 'no WebSocket' 426 "$(status 'GET /rpc HTTP/1.1\r\nHost: localhost\r\n\r\n')"
is 'no request' 400 "$(status 'GET /health\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')"
is 'no Host' 400 "$(status 'GET /health HTTP/1.1\r\n\r\n')"
is 'HTTP/2' 505 "$(status 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')"
is 'a body that is too long' 413 "$(status 'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n')"
is 'an unknown transfer coding' 501 "$(status 'POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n')"
is 'Content-Length and Transfer-Encoding' 400 "$(status 'POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n')"
is 'a name that is too long' 414 "$({ printf 'GET /'; awk 'BEGIN { for (i = 0; i < 9000; i++) printf "a" }'
    printf ' HTTP/1.1\r\nHost: localhost\r\n\r\n'; } | "$RPCPIPE" talk "$port" | sed -n 's|^HTTP/1.1 \([0-9]*\) .*|\1|p')"
is 'endless headers' 431 "$({ printf 'GET / HTTP/1.1\r\nHost: localhost\r\n'
    awk 'BEGIN { for (i = 0; i < 100000; i++) print "X: y" }'; } | "$RPCPIPE" talk "$port" 2>/dev/null | sed -n 's|^HTTP/1.1 \([0-9]*\) .*|\1|p')"
is 'one endless header' 431 "$({ printf 'GET / HTTP/1.1\r\nHost: localhost\r\nX: '
    awk 'BEGIN { for (i = 0; i < 100000; i++) printf "aaaaaaaaaa" }'; } | "$RPCPIPE" talk "$port" 2>/dev/null | sed -n 's|^HTTP/1.1 \([0-9]*\) .*|\1|p')"

# pages from elsewhere
for host in evil.example 'localhost.evil.example' 192.168.0.1
do is "Host: $host" 403 "$(status "GET /health HTTP/1.1\r\nHost: $host\r\n\r\n")"
done
for path in /%68ealth /%68%65%61%6C%74%68 /api/v%31/health
do is "an encoded path: $path" 200 "$(status "GET $(printf %s "$path" | sed 's/%/%%/g') HTTP/1.1\r\nHost: localhost\r\n\r\n")"
done
for path in /api%2Fv1/health /%6 /%zzealth /health%00 /%2568ealth
do is "not a path: $path" 404 "$(status "GET $(printf %s "$path" | sed 's/%/%%/g') HTTP/1.1\r\nHost: localhost\r\n\r\n")"
done
is 'Origin: another' 403 "$(status "GET /health HTTP/1.1\r\nHost: localhost:$port\r\nOrigin: http://evil.example\r\n\r\n")"
is 'Origin: null' 403 "$(status "GET /health HTTP/1.1\r\nHost: localhost:$port\r\nOrigin: null\r\n\r\n")"
is 'Origin: itself' 200 "$(status "GET /health HTTP/1.1\r\nHost: localhost:$port\r\nOrigin: http://localhost:$port\r\n\r\n")"
like 'refusals are JSON' '*"error":{"code":403,"kind":"forbidden","message":"*"}}' \
    "$(raw 'GET /health HTTP/1.1\r\nHost: evil.example\r\n\r\n')"

# everything else on the same port
alive 'JSON-RPC beside HTTP'
is 'blocks beside HTTP' "Content-Length: ${#pong}" "$(printf 'Content-Length: %d\r\n\r\n%s' "${#ping}" "$ping" |
    "$RPCPIPE" talk "$port" | head -n 1 | tr -d '\r')"
is 'a block in capitals is not a method' "Content-Length: ${#pong}" "$(printf 'CONTENT-LENGTH: %d\r\n\r\n%s' "${#ping}" "$ping" |
    "$RPCPIPE" talk "$port" | head -n 1 | tr -d '\r')"
like 'neither' '*"code":-32700*' "$(ask "$port" 'hello there')"
like 'half a method' '*"code":-32700*' "$(raw 'GET\n\n')"
is 'nothing' '' "$(printf '' | "$RPCPIPE" talk "$port")"

if command -v curl >/dev/null
then
	like 'curl' "$healthy" "$(curl -sS "$url/health")"
	is 'curl: one connection' '200 1 200 0 404 0 ' \
	    "$(curl -sS -o /dev/null -w '%{http_code} %{num_connects} ' "$url/health" -o /dev/null "$url/api/v1/health" -o /dev/null "$url/nothing")"
	is 'curl -I' 200 "$(curl -sSI "$url/health" | sed -n 's|^HTTP/1.1 \([0-9]*\) .*|\1|p')"
	like 'curl -X OPTIONS' '*Allow: OPTIONS, GET, HEAD*' "$(curl -sSi -X OPTIONS "$url/health")"
	like 'curl --http1.0' "$healthy" "$(curl -sS --http1.0 "$url/health")"
	like 'curl --http2 stays with 1.1' "$healthy" "$(curl -sS --http2 "$url/health" 2>&1)"
	like 'curl, localhost' "$healthy" "$(curl -sS "http://localhost:$port/health")"
	like 'curl --unix-socket' "$healthy" "$(curl -sS --unix-socket sock http://any.name/health)"
	is 'curl, a page elsewhere' 403 "$(curl -sS -o /dev/null -w '%{http_code}' -H 'Origin: https://evil.example' "$url/health")"
else skip 'no curl here'
fi
if command -v wget >/dev/null
then like 'wget' "$healthy" "$(wget -qO- "$url/health")"
else skip 'no wget here'
fi

# it ends while a client is connected
client a "$port" -k
printf 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /hea' >&3
ok 'a client that stays' wait_until 120 has a.out '"status":"ok"'
stop
is 'SIGTERM: status' 0 "$rc"
leave a
is 'nothing on stdout' '' "$(cat served)"
is 'only the addresses on stderr' 2 "$(grep -c . log)"

# a token
serve_http --token-file token
auth='Authorization: Bearer'
is 'a token: health needs none' '200 200' "$(status 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n\r\n')"
up='Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n'
is 'a token: a wrong one' 401 "$(status "GET /rpc HTTP/1.1\r\nHost: localhost\r\n$up$auth s3cre\r\n\r\n")"
is 'a token: the right one' 101 "$(status "GET /rpc HTTP/1.1\r\nHost: localhost\r\n$up$auth s3cret\r\n\r\n")"
is 'a token: in the query' 101 "$(status "GET /rpc?access_token=s3cret HTTP/1.1\r\nHost: localhost\r\n$up\r\n")"
frame=$(printf '\\201\\252\\0\\0\\0\\0%s' "$ping")
like 'a token: shown' "*$pong*" "$(raw "GET /rpc HTTP/1.1\r\nHost: localhost\r\n$up$auth s3cret\r\n\r\n$frame" | LC_ALL=C tr -d '\000-\011\013-\037\177-\377')"
like 'a token: not shown' '*"code":-32001*' "$(raw "GET /rpc HTTP/1.1\r\nHost: localhost\r\n$up\r\n$frame" | LC_ALL=C tr -d '\000-\011\013-\037\177-\377')"
stop

# other names and pages
serve_http --config-json '{"hosts":["waza.example"],"origins":["https://ci.example"]}'
is 'hosts' '200 403' "$(status 'GET /health HTTP/1.1\r\nHost: waza.example:80\r\n\r\nGET /health HTTP/1.1\r\nHost: example\r\n\r\n')"
is 'origins' '200 403' "$(status 'GET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: https://ci.example\r\n\r\nGET /health HTTP/1.1\r\nHost: localhost\r\nOrigin: http://ci.example\r\n\r\n')"
stop

# listeners from the settings; with a fixed framing HTTP only works on its port
: >log
"$WAZA" serve --config-json '{"listen":["http:localhost:0","unix:sock"],"framing":"line"}' </dev/null >served 2>log &
srv=$!
wait_until 120 has log 'listening on sock'
port=$(sed -n 's|.*listening on http://127.0.0.1:||p' log)
listens
is 'listen in the settings' 200 "$(status 'GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')"
is 'listen in the settings: JSON-RPC' "$pong" "$(ask sock "$ping")"
like 'a fixed framing' '*"code":-32700*' "$(printf 'GET / HTTP/1.1\n' | "$RPCPIPE" talk sock)"
is 'a fixed framing: only HTTP' 400 "$(status '{"jsonrpc":"2.0"}\r\n\r\n')"
stop

# slow bodies and answers, with ws_echo, which does not send JSON
ORACLE=
: >log
"$DOUBLES/ws_echo" </dev/null >/dev/null 2>log &
srv=$!
wait_until 120 has log 'listening on'
port=$(sed -n 's/.*:\([0-9]*\)$/\1/p' log)
url=http://127.0.0.1:$port
late='GET /late?ms=50 HTTP/1.1\r\nHost: localhost\r\n\r\n'
quick='GET /big?n=3 HTTP/1.1\r\nHost: localhost\r\n\r\n'
ticks='GET /ticks?n=3 HTTP/1.1\r\nHost: localhost\r\n\r\n'
is 'answers come in order' 'ms=50 abc ms=50 id: 1 id: 2 id: 3 abc' \
    "$(raw "$late$quick$late$ticks$quick" | tr -d '\r' | grep -E '^(ms=|id:|abc)' | sed 's/HTTP.*//' | tr '\n' ' ' | sed 's/ $//')"
if command -v curl >/dev/null
then
	awk 'BEGIN { for (i = 0; i < 200000; i++) print i }' >upload
	ok 'curl --data-binary' sh -c 'curl -sS --data-binary @upload "$1/echo" | cmp - upload' sh "$url"
	ok 'curl -T, in chunks, waiting for 100' sh -c 'curl -sS -T - "$1/echo" <upload | cmp - upload' sh "$url"
	ok 'curl, Expect' sh -c 'curl -sSv -H "Expect: 100-continue" --data-binary @upload "$1/echo" 2>err | cmp - upload' sh "$url"
	ok 'curl, Expect: it came' grep -q 'HTTP/1.1 100 Continue' err
	is 'curl, a long answer' 5000000 "$(curl -sS "$url/big?n=5000000" | wc -c | tr -d ' ')"
	is 'curl -N, a stream that ends' '3 200 0' "$(curl -sSN -w '%{http_code} %{exitcode}' "$url/ticks?n=3" | awk '/^id:/ { n++ } END { print n, $0 }')"
	is 'curl --http1.0, the same' '3 200 0' "$(curl -sSN --http1.0 -w '%{http_code} %{exitcode}' "$url/ticks?n=3" | awk '/^id:/ { n++ } END { print n, $0 }')"
else skip 'no curl here'
fi
done_testing
