# waza serve: where it listens, by options and by settings.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"

# start OPTION...: waza serve in the background, until it has said N places
start() {
	n=$1
	shift
	: >log
	"$WAZA" serve "$@" </dev/null >served 2>log &
	srv=$!
	wait_until 120 lines log "$n"
	listens
}

start 2 --socket one --tcp 127.0.0.1:0
port=$(sed -n 's/.*listening on 127.0.0.1://p' log)
is '--socket and --tcp: both answer' "$pong $pong" "$(ask one "$ping") $(ask "$port" "$ping")"
stop
is 'a signal: status' 0 "$rc"
ok 'a signal: the socket is gone' [ ! -e one ]
is 'stdout has nothing' '' "$(cat served)"

start 1 --unix one
is '--unix is the same' "$pong" "$(ask one "$ping")"
stop

echo '{"listen": ["unix:set", "tcp:127.0.0.1:0"]}' >settings.json
start 2 --config-path settings.json
is 'where the settings say' "$pong" "$(ask set "$ping")"
stop
start 1 --config-path settings.json --socket one
is 'options win: they answer' "$pong" "$(ask one "$ping")"
is 'options win: nothing else listens' 'waza: listening on one' "$(cat log)"
stop
mkdir -p home
echo 'listen: [unix:mine]' >home/config
start 1
is "the user's own settings" "$pong" "$(ask home/mine "$ping")"
stop
start 1 --config-json '{"listen":["unix:json"]}' --config-path settings.json
is '--config-json over all' "$pong" "$(ask json "$ping")"
stop
rm home/config
is '--stdio' "$pong" "$(echo "$ping" | "$WAZA" serve --stdio)"

run "$WAZA" serve --tcp 192.0.2.1:0 --quiet </dev/null
is 'not loopback: status' 2 "$rc"
run "$WAZA" serve --allow-remote --socket x </dev/null
is 'remote without a token: status' 2 "$rc"
like 'remote without a token: why' '*--allow-remote needs a token*' "$err"
ok 'remote without a token: nothing was opened' [ ! -e x ]
run "$WAZA" serve surplus </dev/null
is 'an operand: status' 2 "$rc"
done_testing
