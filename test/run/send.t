# --send: shards on their own send journals and results to a server, which shows
# one run; killed shards, a server that is restarted, and refusals.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/web.sh"
needs double_model
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ
kept_open='^anon_inode:\|/\.shards/lock$'

mkdir go results
GO=$tmp/go
export GO
cat >meet.yaml <<'YAML'
name: meet
skill: s
config: {executor: command, trials_per_task: 2, command: 'echo "$WAZA_TASK_ID" >>"$LOG"; until [ -e "$GO/all" ] || [ -e "$GO/$WAZA_TASK_ID" ]; do "$RPCPIPE" nap; done; echo "yes $WAZA_TASK_ID"'}
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: a, prompt: 1}
  - {id: b, prompt: 2}
  - {id: c, prompt: 3, graders: [{type: text, name: never, config: {contains: [zebra]}}]}
  - {id: d, prompt: 4}
  - {id: e, prompt: 5}
  - {id: f, prompt: 6}
  - {id: g, prompt: 7}
  - {id: h, prompt: 8}
  - {id: i, prompt: 9}
  - {id: j, prompt: 10}
YAML

# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": "[^"]*"/"eval_id": ""/
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
# runs WORD: the list has a run with this text
runs() {
	get $v1/runs | grep -q "$1"
}
# again: start the server again at the same address
again() {
	: >log
	"$WAZA" serve --http "127.0.0.1:$port" --results-dir results </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log "listening on http://127.0.0.1:$port"
	listens
}
# shard K OPTION ...: run a shard in the background
shard() {
	k=$1
	shift
	"$WAZA" run -w 1 --shard "$k/8" --send "http://127.0.0.1:$port/" -o "s$k.json" "$@" meet.yaml >"out$k" 2>"err$k" &
	eval "pid$k=$!"
}

touch go/all
"$WAZA" run -q -o whole.json meet.yaml >/dev/null
rm go/all
: >"$LOG"

web --results-dir results
for k in 1 2 3 4 5 6 7
do shard "$k"
done
ok 'the run appears while its shards run; the missing one is named' wait_until 120 \
    runs '"status":"running".*"progress":{"done":0,"total":10}.*"shards":{"total":8,"begun":7,"ended":0,"missing":\[8\]}'
touch go/a go/b go/c
ok 'trials count when their lines have arrived' wait_until 120 runs '"progress":{"done":3,"total":10}'
fits 'the tasks of the run' '*{"id":"a",*"status":"passed",*{"id":"c",*"status":"failed",*' \
    "$(get "$v1/runs/$(get $v1/runs | value runId | tr -d '"')")"

# a shard is killed, then repeated; the server is killed in between
ok 'shard 2 is in its second task' wait_until 120 has "$LOG" j
kill -9 "$pid2"
wait "$pid2" 2>/dev/null
stop KILL
touch go/d
again
ok 'after a restart: the shards go on' wait_until 120 runs '"progress":{"done":4,"total":10}.*"begun":7'
shard 2 --resume
shard 8
touch go/all
status=
for k in 1 2 3 4 5 6 7 8
do
	eval "wait \$pid$k"
	status="$status$? "
done
is 'the exit status is that of the shard' '0 0 1 0 0 0 0 0 ' "$status"
ok 'the run is complete' wait_until 120 runs '"status":"completed","ok":false,.*"total":10,"passed":9,"failed":1,'
is 'one run' 1 "$(get $v1/runs | value total | tail -n 1)"
is 'it equals the whole run' '' "$(plain whole.json >w; plain results/meet-*.json | diff w - | head -n 5)"
is 'a journalled trial is not repeated' 2 "$(grep -c '^b$' "$LOG")"
fits 'the delivery is reported' "*
waza: results delivered to http://127.0.0.1:$port/ (run-*, shard 8 of 8)" "$(cat err8)"
is 'the results are kept here, too' 8 "$(ls s?.json | grep -c .)"
ok 'no part is left on the server' wait_until 60 sh -c '[ -z "$(find results/.shards -name "[0-9]*-*.json*")" ]'

# a whole run is shard 1 of 1, with a baseline
mkdir skill
printf -- '---\nname: speller\ndescription: Spells words.\n---\nSpell.\n' >skill/SKILL.md
cat >base.yaml <<'YAML'
name: base
skill: speller
config: {executor: mock, skill_directories: [skill]}
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks: [{id: a, prompt: yes a}, {id: b, prompt: no b}]
YAML
"$WAZA" run -q --baseline -o w.json base.yaml >/dev/null
run "$WAZA" run --baseline --send "http://127.0.0.1:$port" -o base.json base.yaml
is 'a whole run: status' 1 "$rc"
ok 'a whole run: is shown' wait_until 60 runs '"name":"base".*"status":"completed","ok":false.*"total":2,'
is 'a whole run: its results, with the baseline' '' "$(plain w.json >w
    plain results/base-*.json | diff w - | head -n 5)"
is 'nothing is delivered twice: two runs' 2 "$(get $v1/runs | value total | tail -n 1)"

# a results file that is sent in pieces
cat >large.yaml <<'YAML'
name: large
skill: s
config: {executor: command, command: 'head -c 1300000 /dev/zero | tr "\0" x'}
graders: [{type: text, name: echo, config: {contains: [xx]}}]
tasks: [{id: a, prompt: 1}, {id: b, prompt: 2}]
YAML
"$WAZA" run -q -o w.json large.yaml >/dev/null
run "$WAZA" run -q --send "http://127.0.0.1:$port" -o large.json large.yaml
is 'large results: status' '0 ' "$rc $err"
ok 'large results: arrive' wait_until 60 runs '"name":"large".*"status":"completed","ok":true'
is 'large results: whole' '' "$(plain w.json >w; plain results/large-*.json | cmp - w)"
stop

# refusals and failures never change the exit status
"$WAZA" run --send "http://127.0.0.1:$port" -o lost.json base.yaml >lost.out 2>lost.err &
pid_a=$!
ok 'no server: the wait is explained' wait_until 60 has lost.err "waza: delivering the results to http://127.0.0.1:$port; Ctrl-C stops that"
kill -TERM "$pid_a"
rc=0
wait "$pid_a" || rc=$?
pid_a=
err=$(tail -n 1 lost.err)
like 'no server: a warning names the file' \
    "waza: warning: the results were not delivered to http://127.0.0.1:$port: *; they are in lost.json: *" "$err"
is 'no server: the status of the run' 1 "$rc"
WAZA_AUTH_TOKEN=right web --results-dir results
WAZA_AUTH_TOKEN=wrong run "$WAZA" run -q --send "http://127.0.0.1:$port" -o lost.json base.yaml
like 'a wrong token' "*not delivered to*HTTP status 401*they are in lost.json*" "$err"
WAZA_AUTH_TOKEN=right run "$WAZA" run -q --send "http://127.0.0.1:$port" -o base.json base.yaml
is 'the right token' '1 ' "$rc $err"
printf 'right\n' >token
chmod 600 token
run "$WAZA" run -q --send "http://127.0.0.1:$port" --token-file token -o base.json base.yaml
is 'the right token in a file' '1 ' "$rc $err"
is 'the token is in no file' '' "$(grep -rl right results base.json)"
stop

# answered NAME STATUS BODY WORDS: with such an answer the results stay in the file
answered() {
	printf 'HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s' "$2" ${#3} "$3" >reply
	: >fake
	"$DOUBLES/double_model" asked reply >fake &
	double=$!
	wait_until 60 [ -s fake ]
	rm -f kept.json
	run "$WAZA" run -q --send "http://127.0.0.1:$(cat fake)" -o kept.json base.yaml
	kill "$double"
	like "$1" "1 *warning: $4*" "$rc $err"	# b fails
	ok "$1: the results are kept" [ -s kept.json ]
}
lost='the results were not delivered to http://127.0.0.1:*: '
answered 'a file that is refused' '422 No' '{"error":{"message":"the shard is damaged"}}' "${lost}the shard is damaged (HTTP status 422); they are in kept.json"
answered 'a file that is too large' '413 No' x "${lost}HTTP status 413"
answered 'an offset below 0' '200 OK' '{"id":"i","offset":-1}' "${lost}the answer is not that of waza serve"
answered 'an answer that is not JSON' '200 OK' no "${lost}the answer is not that of waza serve"
answered 'an offset after the end' '200 OK' '{"id":"i","offset":999999999}' "${lost}the server has another file of this run"
answered 'a run that is over' '200 OK' '{"id":"i","offset":0,"over":true}' 'http://127.0.0.1:* has completed the run without these results, which are in kept.json'

# options
for o in --watch --remote '--connect :1' --no-results
do
	# shellcheck disable=SC2086 # options
	run "$WAZA" run --send http://127.0.0.1:9 $o base.yaml
	like "with $o" "2 waza: ${o%% *} cannot be used with --send: *" "$rc $err"
done
run "$WAZA" run --send ftp://x base.yaml
like 'not an address' '2 waza: --send: *give the address of a server, such as http://127.0.0.1:3000' "$rc $err"
done_testing
