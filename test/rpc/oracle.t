# The checks that rpc.sh adds to every test of a server: that they can fail, and
# that they do not fail without a reason.  The server is a script.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
cd "$tmp" || exit 1
cat >fake <<'SH'
#!/bin/sh
trap 'exec 7</dev/null' USR1
trap 'echo noise' USR2
trap 'exit 0' TERM
echo 'listening on 127.0.0.1:1' >&2
echo 'listening on sock' >&2
while :
do $NAP
done
SH
chmod +x fake

# nested SCRIPT: run it as a test of that server; print its last lines
nested() {
	WAZA=$tmp/fake PATIENCE=1 sh -c '. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
serve
'"$1"'
done_testing' "$top/test/rpc/nested" 2>&1 | tail -n 4
}

# finds NAME FINDING SCRIPT
finds() {
	like "$1" "not ok 1 - wire, descriptors, temporary files
*
# got:  $2*" "$(nested "$3" | grep -v '^1\.\.')"
}

# received BYTES: a script whose client receives them
received() {
	echo "printf '$1' | \"\$RPCPIPE\" talk -k -l s 2>/dev/null &
wait_until 120 test -S s
\"\$RPCPIPE\" talk s </dev/null >/dev/null
wait \$!"
}

is 'nothing is wrong' 'ok 1 - wire, descriptors, temporary files
1..1' "$(nested :)"
finds 'a file in TMPDIR' 'file left in TMPDIR: left' 'echo x >"$TMPDIR/left"'
finds 'output of a server' 'noise on stdout: noise' 'kill -USR2 "$srv"; wait_until 120 test -s served'
finds 'a sanitizer' '==7==ERROR' 'echo ==7==ERROR >>log'
if [ -d /proc/self/fd ]
then finds 'a descriptor' 'descriptor left open: /dev/null' 'kill -USR1 "$srv"
wait_until 120 eval "! no_more"'
else skip 'no /proc'
fi

json='HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n'
stream='HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n'
ws='HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
finds 'a line' 'a line is not JSON: oops' "$(received '{}\noops\n{}\n')"
finds 'two values in a line' 'a line is not JSON: {}{}' "$(received '{}{}\n')"
finds 'half a line that is not JSON' 'noise at the end: oops' "$(received '{}\noops')"
finds 'a block' 'a block is not JSON: {]' "$(received 'Content-Length: 2\r\n\r\n{}Content-Length: 2\r\n\r\n{]')"
finds 'noise after a block' 'a line is not JSON: x' "$(received 'Content-Length: 2\r\n\r\n{}x\n')"
finds 'a body' 'a body is not JSON: {' "$(received "${json}Content-Length: 1\r\n\r\n{")"
finds 'a body in chunks' 'a body is not JSON: {]' "$(received "${json}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n]\r\n0\r\n\r\n")"
finds 'an event' 'an event is not JSON: x' "$(received "${stream}data: x\n\n")"
finds 'a WebSocket message' 'a WebSocket message is not JSON: x' "$(received "$ws\201\001x")"
is 'valid messages in every form' 'ok 1 - wire, descriptors, temporary files
1..1' "$(nested "$(received "{}\n[1]\nContent-Length: 2\r\n\r\n{}${json}Content-Length: 2\r\n\r\n{}${json}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n1\r\n}\r\n0\r\n\r\n$ws\201\002{}")
$(received "${stream}data: {}\n\n")")"
done_testing
