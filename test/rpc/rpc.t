# waza jsonrpc: transcripts over stdio, TCP and unix sockets, in both framings,
# and with waza serve over WebSocket; message by message, byte by byte, and all
# at once (test/tool/rpcpipe.c).
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
unset WAZA_CONFIG WAZA_AUTH_TOKEN WAZA_HOST WAZA_PORT WAZA_TIMEOUT
HOME=$tmp WAZA_HOME=$tmp/home TMPDIR=$tmp/tmp
export HOME WAZA_HOME TMPDIR
mkdir "$TMPDIR"
cd "$tmp" || exit 1
cp -r "$top/test/rpc/evals" "$top/test/rpc/ruby.sh" .
ln -s ../slow evals/quick/away
mkdir evals/quick2 evals/quick/.linked
ln -s ../../slow/eval.yaml evals/quick/.linked/eval.yaml
cp evals/quick/eval.yaml evals/quick2
(umask 077; echo s3cret >token)

# play VIA FILE [OPTION...]: a transcript
play() {
	via=$1 file=$2 command=jsonrpc
	shift 2
	rc=0
	[ "$via" != ws ] || command=serve
	"$RPCPIPE" play "$via" "$file" "$tmp/log" "$WAZA" "$command" "$@" \
	    >"$tmp/play" 2>&1 || rc=$?
	[ "$rc" -ne 77 ] || return 0
	name=${file##*/}
	is "$via: ${name%.rpc}${1:+ $*}" '' "$(cut -c 1-2000 "$tmp/play" | sed 's/^# *//')"
	[ "$rc" -eq 0 ] || ok "$via: ${name%.rpc}: status $rc" false
}

# where a checker makes everything slow, one way is enough
ways='stdio tcp unix ws'
[ -z "${T_SLOW-}" ] || ways=tcp
for f in "$top"/test/rpc/*.rpc
do
	for via in $ways
	do play "$via" "$f"
	done
done

# a fixed framing; the other one is malformed then
cat >ping <<'EOT'
> {"jsonrpc":"2.0","id":1,"method":"ping"}
< {"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}
EOT
ping='{"jsonrpc":"2.0","id":1,"method":"ping"}'
pong='{"jsonrpc":"2.0","id":1,"result":{"status":"ok"}}'
block() {
	printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"
}
for via in stdio tcp unix
do play "$via" ping
done
is 'line, pinned' "$pong" "$(echo "$ping" | "$WAZA" jsonrpc --framing line)"
is 'lsp, pinned' "$(block "$pong")" "$(block "$ping" | "$WAZA" jsonrpc --framing lsp)"
like 'a line where blocks are pinned' '*"code":-32700*' "$(printf '%s\n\n' "$ping" |
    "$WAZA" jsonrpc --framing lsp)"
like 'a block where lines are pinned' '*"code":-32700*"id":1,"result"*' \
    "$(printf 'Content-Length: %d\n\n%s\n' "${#ping}" "$ping" | "$WAZA" jsonrpc --framing line | tr '\n' ' ')"
run "$WAZA" jsonrpc --framing http </dev/null
is 'an unknown framing' 2 "$rc"

# from the shell
is 'echo' "$pong" "$(echo "$ping" | "$WAZA" jsonrpc)"
is 'printf without a newline' "$pong" "$(printf %s "$ping" | "$WAZA" jsonrpc)"
bom=$(printf '\357\273\277')
is 'a byte order mark' "$pong" "$(echo "$bom$ping" | "$WAZA" jsonrpc)"
like 'a byte order mark, with headers' "Content-Length: *$pong" "$(printf '%sContent-Length: %d\r\n\r\n%s' "$bom" "${#ping}" "$ping" | "$WAZA" jsonrpc)"
like 'a second byte order mark' '*"code":-32700*' "$(echo "$bom$bom$ping" | "$WAZA" jsonrpc)"
is 'a byte order mark later' "$pong 1" "$(printf '%s\n%s%s\n' "$ping" "$bom" "$ping" | "$WAZA" jsonrpc | sed 's/.*-32700.*/1/' | tr '\n' ' ' | sed 's/ $//')"
is 'half a byte order mark' 1 "$(printf '\357\273' | "$WAZA" jsonrpc | grep -c -e -32700)"
is 'CRLF, and blank lines' "$pong" "$(printf '\r\n\n%s\r\n \t\n\r\n' "$ping" | "$WAZA" jsonrpc)"
is 'a header without CR, in other letters, with others beside it' "$(block "$pong")" \
    "$(printf 'CONTENT-LENGTH:%d \nContent-Type: application/json\n\n%s' "${#ping}" "$ping" | "$WAZA" jsonrpc)"
is 'content-type first' "$(block "$pong")" \
    "$(printf 'Content-Type: x\r\nContent-Length: %d\r\n\r\n%s' "${#ping}" "$ping" | "$WAZA" jsonrpc)"
run "$WAZA" jsonrpc </dev/null
is 'nothing at all: status' 0 "$rc"
is 'nothing at all: no output' '' "$out$err"
run sh -c 'printf %s "$1" | "$WAZA" jsonrpc 2>&1' sh '{"jsonrpc":"2.0","id":1,"meth'
like 'half a line' '*"id":null*"code":-32700*' "$out"
is 'half a line: status' 0 "$rc"
like 'an invalid length' '*"code":-32700*' "$(printf 'Content-Length: 1x\r\n\r\n{}' | "$WAZA" jsonrpc)"
like 'no length' '*"code":-32700*' "$(printf 'Content-Type: x\r\n\r\n{}' | "$WAZA" jsonrpc)"
like 'two lengths' '*"code":-32700*' "$(printf 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{} ' | "$WAZA" jsonrpc)"
like '2^40 bytes' '*"code":-32600,"message":"Message exceeds maximum size"*' \
    "$(printf 'Content-Length: 1099511627776\r\n\r\n{}' | "$WAZA" jsonrpc)"
like 'a line that is too long' '*"code":-32600,"message":"Message exceeds maximum size"*' \
    "$(awk 'BEGIN { for (i = 0; i < 3000; i++) printf "x" }' |
    "$WAZA" jsonrpc --config-json '{"limits":{"message_bytes":2000}}')"
# shellcheck disable=SC2010 # no odd names here
is 'no file is left' '' "$(ls "$TMPDIR" | grep -v '^vgdb-')"
done_testing
