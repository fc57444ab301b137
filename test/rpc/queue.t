# Runs that wait for their turn: they hold no descriptor, a full queue says so.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
TMPDIR=$tmp/tmp
export TMPDIR
mkdir tmp results

many=${SHORT:+100}
many=${many:-2000}
# shellcheck disable=SC3045 # every shell of POSIX systems has it
ulimit -n 256
serve --config-json '{"limits":{"runs":2}}'
client a sock
hang_on a
first=$run_id
say a '{"jsonrpc":"2.0","id":2,"method":"eval.run","params":{"path":"evals/hang"}}'
ok 'two runs are active' wait_until 120 lines "$LOG" 4
before=$(fds)
awk -v n="$many" 'BEGIN { for (i = 1; i <= n; i++)
	printf "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"eval.run\",\"params\":{\"path\":\"evals/quick\"%s}}\n", i,
	    i % 40 ? "" : ",\"output\":\"results/" i ".json\"" }' >calls
"$RPCPIPE" talk sock <calls >got &
pid_b=$!
ok "$many are queued" wait_until 120 sh -c '[ "$(grep -c "\"status\":\"running\",\"queued\":true}}$" got)" -eq "$1" ]' sh "$many"
is 'they have no files yet' '' "$(ls results)"
if [ -n "$before" ]
then ok 'and no descriptors' [ "$(fds)" -le $((before + 3)) ]
else skip 'nobody counts descriptors here'
fi
say a "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$first\"}}"
wait "$pid_b"
pid_b=
is 'when a run has ended, all of them run' "$many" "$(grep -c '"method":"eval.complete".*"passed":4,"failed":1,"errors":0,.*"status":"completed"' got)"
is 'each has its results' $((many / 40)) "$(ls results | grep -c 'json$')"
alive 'after the queue'

# a full queue: the bytes count, not the runs
awk 'BEGIN { s = "x"; while (length(s) < 2000000) s = s s
	print "name: big\nskill: s\nconfig: {executor: mock}\ntasks: [{id: a, prompt: \"" s "\", expected: {output_contains: [x]}}]" }' >evals/big.yaml
say a '{"jsonrpc":"2.0","id":3,"method":"eval.run","params":{"path":"evals/hang"}}'
ok 'two runs are active again' wait_until 120 lines "$LOG" 6
i=0
while [ "$i" -lt 60 ]
do
	i=$((i + 1))
	echo '{"jsonrpc":"2.0","id":7,"method":"eval.run","params":{"path":"evals/big.yaml","detach":true}}'
done | "$RPCPIPE" talk -k -n 60 sock >got
ok 'large runs: some are queued' grep -q '"queued":true' got
like 'large runs: a full queue says so' \
    '{"jsonrpc":"2.0","id":7,"error":{"code":-32027,"message":"Rate limit exceeded: the queue is full: * runs of * MiB wait; call again when one has started","data":{"kind":"rate_limited"*' \
    "$(tail -n 1 got)"
alive 'a full queue'

# waiting runs are cancelled with the server
stop
is 'SIGTERM: status' 0 "$rc"
ok 'SIGTERM: no child is left' children_gone_now
is 'SIGTERM: no temporary file' '' "$(ls tmp)"
done_testing
