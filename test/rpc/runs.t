# Runs over JSON-RPC: from the shell, by the client of seeds/000, cancelled,
# detached, with subscribers.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
start='{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/quick"}}'

# field KEY: its values on stdin, not decoded
field() {
	grep -o "\"$1\":[^,}]*" | sed 's/^[^:]*://'
}

# seeds/000's Python client, unchanged; the path and the executor of its
# example are made to be there
seed=$(ls "$CORPUS"/../seeds/000*.txt 2>/dev/null)
if ! command -v python3 >/dev/null || ! python3 -c 'import json, subprocess' 2>/dev/null
then skip 'no python3'
elif [ -z "$seed" ]
then skip "no seeds beside $CORPUS"
else
	mkdir bin
	ln -s "$WAZA" bin/waza
	sed -n '/^```python/,/^```/p' "$seed" | sed '/^```/d' >client.py
	like 'the client of seeds/000: its code' '*class WazaClient*client.close()*' "$(cat client.py)"
	sed 's|/path/to/eval.yaml|evals/quick/eval.yaml|; s|"copilot-sdk"|"mock"|' client.py >mine.py
	is 'only its example has other words' 2 "$(diff client.py mine.py | grep -c '^>')"
	run env PATH="$tmp/bin:$PATH" python3 mine.py
	is 'the client of seeds/000: status' 0 "$rc"
	like 'the client of seeds/000: started' 'Started run: run-*' "$out"
	like 'the client of seeds/000: complete' "*Run complete: {'runId': 'run-*'summary': {'total': 5, 'passed': 4, 'failed': 1,*'passRate': 0.8*" "$out"
fi

# the end of a pipe: its requests are still completed
run sh -c 'printf %s "$1" | "$WAZA" jsonrpc' sh "$start"
is 'a pipe that ends: status' 0 "$rc"
is 'a pipe that ends: nothing on stderr' '' "$err"
like 'a pipe that ends: the answer is first' '{"jsonrpc":"2.0","id":1,"result":{"runId":"run-*","status":"running"}}' \
    "$(head -n 1 out)"
like 'a pipe that ends: eval.complete is last' '*"method":"eval.complete"*"summary":{"total":5,"passed":4,"failed":1,*"passRate":0.8*' \
    "$(tail -n 1 out)"
is 'a pipe that ends: five tasks' 5 "$(grep -c '"event":"task_complete"' out)"
is 'the six events, in order' 'run_start task_start trial_start trial_complete task_complete run_complete ' \
    "$(field event <out | tr -d '"' | awk '!seen[$0]++' | tr '\n' ' ')"
like 'an output file' '*"output":"r.json"*' "$(printf '%s' \
    '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/quick","output":"r.json","trials":2}}' |
    stdio | tail -n 1)"
is 'an output file: it is there' 10 "$("$WAZA" parse r.json | grep -o '"run_number"' | grep -c .)"

# a closed stdout ends the run
: >"$LOG"
mkfifo gone
"$WAZA" jsonrpc <gone 2>err | head -n 4 >first &
exec 6>gone
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/hang"}}' >&6
ok 'stdout is closed: the run has started' wait_until 120 lines "$LOG" 2
exec 6>&-
ok 'stdout is closed: its children are ended' wait_until 120 children_gone
wait

serve
like 'port 0: the real port is printed' '[1-9]*' "$port"
ok 'the unix socket is for its owner only' [ "$(ls -l sock | cut -c 1-10)" = 'srw-------' ]

# the shell's examples: a client that half-closes, one that does not
for at in sock "$port"
do
	ask "$at" "$start" >got
	like "half-closed ($at): answered to the end" '*"id":1,"result"*eval.complete*"passed":4*' "$(tr '\n' ' ' <got)"
	printf '%s\n' "$start" | "$RPCPIPE" talk -k -n 24 "$at" >got
	like "not half-closed ($at): the same" '*"id":1,"result"*eval.complete*"passed":4*' "$(tr '\n' ' ' <got)"
done
list='{"jsonrpc":"2.0","id":1,"method":"eval.list","params":{"directory":"evals/quick"}}'
if command -v nc >/dev/null
then
	like 'nc' '*"evals":*"quick"*' "$(printf '%s\n' "$list" | nc -w 2 127.0.0.1 "$port")"
	if nc -h 2>&1 | grep -q -e ' -N'
	then like 'nc -N' '*"evals":*"quick"*' "$(printf '%s\n' "$list" | nc -N 127.0.0.1 "$port")"
	fi
else skip 'no nc'
fi

# many runs in one write: each answer precedes its notifications
i=0
while [ "$i" -lt 20 ]
do
	i=$((i + 1))
	printf '%s\n' "$start"
done | "$RPCPIPE" talk sock >got
is 'twenty in one write: all end' 20 "$(grep -c '"method":"eval.complete"' got)"
is 'twenty in one write: answers come first' '' "$(awk '{
	match($0, /"runId":"[^"]*"/); id = substr($0, RSTART, RLENGTH)
	if (/"id":1,/) known[id] = 1
	else if (!known[id]) print "too early: " $0
	if (over[id]) print "too late: " $0
	if (/eval.complete/) over[id] = 1
}' got)"

# only the owner and subscribers of a run are notified
client a sock
client b sock
client c "$port"
hang_on a
say b "$ping"
say c "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"run.subscribe\",\"params\":{\"runId\":\"$run_id\"}}"
ok 'subscribed' wait_until 120 has c.out "\"id\":2,\"result\":{\"runId\":\"$run_id\",\"status\":\"running\"}"
like 'run.list has it' "*\"runId\":\"$run_id\",\"status\":\"running\",\"path\":\"evals/hang\",\"name\":\"hang\",\"startedAt\":\"20*" \
    "$(ask sock '{"jsonrpc":"2.0","id":1,"method":"run.list"}')"
like 'run.status, asked by another' "*\"runId\":\"$run_id\",\"status\":\"running\",\"result\":null,\"error\":null*" \
    "$(ask "$port" "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"run.status\",\"params\":{\"runId\":\"$run_id\"}}")"

# cancelled by another; no child is left
is 'run.cancel' "{\"jsonrpc\":\"2.0\",\"id\":8,\"result\":{\"runId\":\"$run_id\",\"status\":\"cancelled\"}}" \
    "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":8,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$run_id\"}}")"
ok 'run.cancel: no child is left' wait_until 120 children_gone
ok 'the owner gets the end' wait_until 120 has a.out '"status":"cancelled"}}'
like 'run.cancel: how it ended' "*\"runId\":\"$run_id\",\"error\":\"Run cancelled\",\"status\":\"cancelled\"*" "$(tail -n 1 a.out)"
ok 'the subscriber gets it, too' wait_until 120 has c.out '"method":"eval.complete"'
is 'the subscriber gets only later notifications' 0 "$(grep -c '"event":"run_start"' c.out)"
say b "$ping"
ok 'the third is answered' wait_until 120 lines b.out 2
is 'the third gets nothing else' "$pong
$pong" "$(cat b.out)"
like 'run.status: cancelled' "*\"runId\":\"$run_id\",\"status\":\"cancelled\"*" \
    "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"run.status\",\"params\":{\"runId\":\"$run_id\"}}")"
leave b
leave c

# a client disconnects: its run and the children end
hang_on a
die a
ok 'vanished (unix): its children are ended' wait_until 120 children_gone
alive 'vanished (unix)'
# (on TCP the next notification detects it)
cat >evals/hang/chatty.yaml <<'YAML'
name: chatty
skill: s
config: {executor: command, workers: 2, parallel: true,
  command: 'echo $$ >>$LOG; [ "$WAZA_TRIAL" = 1 ] || exec "$RPCPIPE" nap; tail -f /dev/null & wait'}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
client a "$port"
: >"$LOG"
say a '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/hang/chatty.yaml","trials":500}}'
ok 'disconnect (TCP): the run has started' wait_until 120 lines "$LOG" 4
die a
ok 'vanished (TCP): its children are ended' wait_until 120 children_gone
alive 'vanished (TCP)'

# a detached run continues
client a sock
: >"$LOG"
say a '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/hang","detach":true}}'
wait_until 120 lines "$LOG" 2
run_id
before=$(fds)
die a
if [ -n "$before" ]
then ok 'detached: its peer has gone' wait_until 120 sh -c "[ \$(find /proc/$srv/fd -type l | grep -c .) -lt $before ]"
else skip 'nobody counts descriptors here'
fi
like 'detached: it continues' "*\"runId\":\"$id\",\"status\":\"running\"*" \
    "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"run.status\",\"params\":{\"runId\":\"$id\"}}")"
ok 'detached: so do its children' sh -c 'for p in $(cat "$LOG"); do kill -0 "$p" || exit 1; done'

# SIGTERM ends the server and its runs
stop_busy
is 'SIGTERM: status' 0 "$rc"
ok 'SIGTERM: no child is left' children_gone_now
ok 'SIGTERM: nor the socket' [ ! -e sock ]

# several suites in one call: a run for each, or none
mkdir many
cd many || exit 1
for s in one two
do
	mkdir -p evals/$s skills/$s
	printf -- '---\nname: %s\ndescription: d\n---\n' $s >skills/$s/SKILL.md
	printf 'name: %s\nskill: %s\ntasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]\n' \
	    $s $s >evals/$s/eval.yaml
done
many() {
	printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eval.run\",\"params\":$1}" \
	    '{"jsonrpc":"2.0","id":2,"method":"run.list"}' | "$WAZA" jsonrpc 2>/dev/null
}
out=$(many '{"paths":["evals/one","two"]}')
like 'several suites: a run for each, by path and by name' \
    '*"id":1,"result":{"runs":[[]{"runId":*"path":"evals/one"},{"runId":*"path":"two"}]}*' "$out"
is 'several suites: all complete' 2 "$(printf '%s\n' "$out" | grep -c eval.complete)"
out=$(many '{"paths":["evals/one","none"]}')
like 'one is missing: an error' '*"id":1,"error":*"path":"none"*' "$out"
is 'one is missing: none runs' 0 "$(printf '%s\n' "$out" | grep -c runId)"
out=$(many '{"paths":["evals/one"],"output":"r.json"}')
like 'no output for several' '*"id":1,"error":*"paths\\" excludes*' "$out"
out=$(many '{"path":"one"}')
is 'one by name' 1 "$(printf '%s\n' "$out" | grep -c eval.complete)"
out=$(many '{}')
like 'neither' '*"id":1,"error":*Missing required field: path*' "$out"
cd .. || exit 1
done_testing
