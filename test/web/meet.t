# A server as the place where shards meet: files in pieces, repetition, restarts,
# refusals; one run, which equals the whole one.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/web.sh"
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ
kept_open='^anon_inode:\|/\.shards/lock$'

mkdir go results
GO=$tmp/go
export GO
cat >meet.yaml <<'YAML'
name: meet
skill: s
config: {executor: command, trials_per_task: 2, command: 'until [ -e "$GO/$WAZA_TASK_ID" ]; do $NAP; done; echo "yes $WAZA_TASK_ID"'}
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: a, prompt: one}
  - {id: b, prompt: two}
  - {id: c, prompt: three, graders: [{type: text, name: never, config: {contains: [zebra]}}]}
  - {id: d, prompt: four}
  - {id: e, prompt: five}
YAML

# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": "[^"]*"/"eval_id": ""/
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
# send FILE [OPTION ...]: send a whole file, print status and answer
send() {
	file=$1
	shift
	code "$@" -d - $v1/results <"$file"
}
# piece FILE FROM TO: the bytes of a file
piece() {
	head -c "$3" "$1" | tail -c "+$(($2 + 1))"
}
# runs WORD: the list has a run with this text
runs() {
	get $v1/runs | grep -q "$1"
}

# the files: a whole run, its shards, and the journal of shard 2 in the middle
(cd go && touch a b d)
"$WAZA" run -q -w 1 --shard 2/3 -o s2.json meet.yaml >/dev/null &
shard=$!
ok 'shard 2: a journal in the middle' wait_until 120 sh -c '[ "$(grep -c "\"run\":" s2.json.journal)" -ge 2 ]'
cp s2.json.journal middle.journal
touch go/e go/c
wait "$shard"
for k in 1 3
do "$WAZA" run -q --shard "$k/3" -o "s$k.json" meet.yaml >/dev/null
done
"$WAZA" run -q -o whole.json meet.yaml >/dev/null

web --results-dir results
fits 'shard 1: stored' '200 {"id":"run-*.1-*","offset":*,"runId":"run-*","shard":{"k":1,"n":3},"over":false}' "$(send s1.json)"
ok 'one run, with what is there' wait_until 60 runs '"progress":{"done":2,"total":5}.*"shards":{"total":3,"begun":1,"ended":1,"missing":\[2,3\]}'
id=$(get $v1/runs | value runId | tr -d '"')
fits 'alone: the missing shards are named' '*"status":"running"*"shards":{"total":3,"begun":1,"ended":1,"missing":[2,3]}*"tasks":[{"id":"a",*' "$(get "$v1/runs/$id")"
fits 'the same again: no effect' "200 *\"runId\":\"$id\",\"shard\":{\"k\":1,\"n\":3}*" "$(send s1.json)"

fits 'JSON-RPC: run.list' "*{\"runs\":[{\"runId\":\"$id\",\"status\":\"running\",\"path\":\"results/meet-*.json\",\"name\":\"meet\",*\"progress\":{\"totalTasks\":5,\"tasksDone\":2},\"shards\":{\"total\":3,*}]}*" \
    "$(ask "$port" '{"jsonrpc":"2.0","id":1,"method":"run.list"}')"
fits 'JSON-RPC: run.status' "*{\"runId\":\"$id\",\"status\":\"running\",\"result\":null,\"error\":null,*\"missing\":[2,3]}}*" \
    "$(ask "$port" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run.status\",\"params\":{\"runId\":\"$id\"}}")"

# a journal in pieces, repeated as after a lost connection
all=$(wc -c <middle.journal | tr -d ' ')
line=$(head -n 1 middle.journal | wc -c | tr -d ' ')
piece middle.journal 0 $((line + 5)) >begin
fits 'journal: its beginning' "200 {\"id\":\"$id.2-*\",\"offset\":$((line + 5)),\"runId\":\"$id\",\"shard\":{\"k\":2,\"n\":3},\"over\":false}" "$(send begin)"
fits 'journal: its beginning again' "200 *\"offset\":$((line + 5)),*" "$(send begin)"
part=$(get -d - $v1/results <begin | value id | tr -d '"')
fits 'journal: bytes are missing' "409 *\"kind\":\"conflict\"*\"offset\":$((line + 5))}*" "$(piece middle.journal $((line + 9)) "$all" | code -d - "$v1/results/$part?offset=$((line + 9))")"
fits 'journal: other bytes' "409 *\"conflict\"*" "$(echo xxxxxxxxxxxxx | code -d - "$v1/results/$part?offset=$line")"
fits 'journal: the next piece, with some bytes twice' "200 *\"offset\":$((all - 7)),*" "$(piece middle.journal $((line - 3)) $((all - 7)) | code -d - "$v1/results/$part?offset=$((line - 3))")"
fits 'journal: the rest' "200 *\"offset\":$all,*" "$(piece middle.journal $((all - 7)) "$all" | code -d - "$v1/results/$part?offset=$((all - 7))")"
fits 'journal: the rest again' "200 *\"offset\":$all,*" "$(piece middle.journal $((all - 7)) "$all" | code -d - "$v1/results/$part?offset=$((all - 7))")"
fits 'journal: a sign of life' "200 *\"offset\":$all,*" "$(code -X POST "$v1/results/$part?offset=$all")"
ok 'its trials count' wait_until 60 runs '"progress":{"done":3,"total":5}.*"begun":2,"ended":1,"missing":\[3\]'
is 'still one run' 1 "$(get $v1/runs | value total | tail -n 1)"

# a server that is killed and started again
stop KILL
web --results-dir results
ok 'after kill -9: the same run' wait_until 60 runs "\"runId\":\"$id\".*\"shards\":{\"total\":3,\"begun\":2,\"ended\":1,\"missing\":\[3\]}"
fits 'after kill -9: the journal continues' "200 *\"offset\":$all,*" "$(send begin)"

# a larger file in pieces
size=$(wc -c <s3.json | tr -d ' ')
piece s3.json 0 700 >begin
fits 'results: the first piece' '202 {"id":"*","offset":700,"over":false}' "$(code -d - "$v1/results?size=$size" <begin)"
up=$(get -d - "$v1/results?size=$size" <begin | value id | tr -d '"')
fits 'results: the first piece again' "202 {\"id\":\"$up\",\"offset\":700,\"over\":false}" "$(code -d - "$v1/results?size=$size" <begin)"
fits 'results: a gap' '409 *"conflict"*"offset":700}*' "$(piece s3.json 900 1000 | code -d - "$v1/results/$up?offset=900")"
fits 'results: the rest' "200 *\"offset\":$size,\"runId\":\"$id\",\"shard\":{\"k\":3,\"n\":3},*" "$(piece s3.json 700 "$size" | code -d - "$v1/results/$up?offset=700")"
fits 'results: the rest again, too late' '404 *"not_found"*' "$(piece s3.json 700 "$size" | code -d - "$v1/results/$up?offset=700")"
ok 'no shard is missing' wait_until 60 runs '"progress":{"done":4,"total":5}.*"begun":3,"ended":2,"missing":\[\]'
fits 'shard 2: its results' "200 *\"runId\":\"$id\",\"shard\":{\"k\":2,\"n\":3},*" "$(send s2.json)"
ok 'the run is complete' wait_until 60 runs "\"runId\":\"$id\".*\"status\":\"completed\",\"ok\":false"
fits 'JSON-RPC: run.status, at the end' '*"status":"completed","result":{"ok":false,"summary":{"total":5,"passed":4,"failed":1,*},"error":null,*' \
    "$(ask "$port" "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"run.status\",\"params\":{\"runId\":\"$id\"}}")"
is 'one file of results' 1 "$(find results -name '*.json' ! -path '*/.shards/*' | grep -c .)"
cp results/meet-*.json merged.json
is 'it equals the whole run' '' "$(plain whole.json >w; plain merged.json | diff w - | head -n 5)"
is 'download' "$(cat merged.json)" "$(get "$v1/runs/$id/result")"
ok 'the parts are gone' wait_until 60 sh -c '[ -z "$(find results/.shards -name "[0-9]*-*.json*")" ]'
fits 'a late repetition has no effect' '200 {"offset":0,"shard":{"k":2,"n":3},"over":true}' "$(send s2.json)"
fits 'nor has a late journal' '200 *"over":true}' "$(send middle.journal)"
is 'compare' 0 "$("$WAZA" compare whole.json results/meet-*.json >/dev/null; echo $?)"

# the next run of the same suite is another one; so is another selection
for k in 1 2 3
do "$WAZA" run -q --shard "$k/3" -o "t$k.json" meet.yaml >/dev/null
   send "t$k.json" >sent &
done
wait $!
ok 'again: a run of its own, from shards that arrive together' wait_until 60 runs '"status":"completed".*"status":"completed".*"total":2,'
"$WAZA" run -q --task a --task b --shard 1/2 -o u.json meet.yaml >/dev/null
fits 'another selection: another run' '200 *"shard":{"k":1,"n":2}*' "$(send u.json)"
ok 'another selection: in the list' wait_until 60 runs '"shards":{"total":2,"begun":1,"ended":1,"missing":\[2\]}.*"total":3,'

sed 's/zebra/lion/' meet.yaml >lion.yaml
"$WAZA" run -q --shard 1/3 -o lion.json lion.yaml >/dev/null
fits 'another grader: another run' '200 *"shard":{"k":1,"n":3}*' "$(send lion.json)"
ok 'another grader: in the list' wait_until 60 runs '"shards":{"total":3,"begun":1,"ended":1,"missing":\[2,3\]}.*"total":4,'

# a journal whose later pieces do not fit its beginning
sed '1s/"tasks":5/"tasks":2/' middle.journal >false.journal
head -n 1 false.journal >begin
part=$(get -d - $v1/results <begin | value id | tr -d '"')
line=$(wc -c <begin | tr -d ' ')
fits 'a false journal: its beginning' 'run-*.2-*' "$part"
is 'a false journal: the rest' 200 "$(piece false.journal "$line" "$(wc -c <false.journal | tr -d ' ')" | code -d - "$v1/results/$part?offset=$line" | cut -c 1-3)"
ok 'a false journal: is refused' wait_until 60 sh -c '"$HTTPGET" -s -d "" "$1" "$2" | grep -q "the journal cannot be merged"' sh "$port" "$v1/results/$part?offset=0"
fits 'a false journal: and again' '422 *"an earlier file of this shard cannot be merged*' "$(send begin)"

# refusals
fits 'a whole run' '422 *"validation_failed"*"the file is of a whole run, not of a shard*' "$(send whole.json)"
fits 'not results' '422 *"validation_failed"*' "$(code -d '{"a":1}' $v1/results)"
fits 'not JSON' '422 *"validation_failed"*' "$(code -d 'zebra' $v1/results)"
piece s1.json 0 900 >part.cut
fits 'truncated' '422 *"validation_failed"*' "$(send part.cut)"
sed 's/"version":1,/"version":9,/; s/"version": 1,/"version": 9,/' s1.json >newer.json
fits 'a newer version' '422 *another version of waza*' "$(send newer.json)"
head -c 100 middle.journal >part.cut
fits 'a journal without its first line' '422 *"the file is cut off in its first line"*' "$(send part.cut)"
fits 'an empty body' '422 *"the body is empty"*' "$(code -X POST $v1/results)"
fits 'announced as too large' '400 *"field":"size"*' "$(code -d '{' "$v1/results?size=1073741825")"
head -c 11000000 /dev/zero >large
fits 'a body that is too large' '413*' "$(code -d - $v1/results <large 2>&1)"
fits 'more than announced' '413 *longer than its announced size"*' "$(code -d - "$v1/results?size=10" <s1.json)"
fits 'no such file' '404 *' "$(code -d x "$v1/results/..%2f..%2fetc?offset=0")"
fits 'no such part' '404 *' "$(code -d x "$v1/results/$id.9-0000000000000000?offset=0")"
fits 'a bad offset' '400 *"field":"offset"*' "$(code -d x "$v1/results/$part?offset=x")"
fits 'a foreign Origin' '403 *' "$(send s1.json -H 'Origin: http://evil.example')"
fits 'a foreign Host' '403 *' "$(send s1.json -H 'Host: evil.example')"
fits 'as a form' '415 *' "$(send s1.json -H 'Content-Type: text/plain')"
for f in "$top"/test/fuzz/corpus/merge/* "$top"/test/fuzz/corpus/journal/* "$top"/test/fuzz/corpus/results/*
do send "$f" | cut -c 1-4
done >codes
is 'hostile files' '' "$(grep -v '^200 $\|^422 $' codes)"
is 'refused files leave nothing' '' "$(find results/.shards -name 'in-*')"
# a seed that is whole is a shard of its own run, which is listed once it is merged
ok 'and no run' [ "$(get $v1/runs | value total | tail -n 1)" -le $((4 + $(grep -c '^200' codes))) ]

# a second server with the same directory
"$WAZA" serve --http 127.0.0.1:0 --results-dir results </dev/null >/dev/null 2>log2 &
other=$!
wait_until 120 has log2 'listening on http://127.0.0.1:'
fits 'two servers: one of them receives' '503 *another server receives shards there*' \
    "$("$HTTPGET" -s -d - "$(sed -n 's|.*listening on http://127.0.0.1:||p' log2)" $v1/results <s1.json | tr '\n' ' ')"
kill "$other"
wait "$other"
stop

# a token, and a directory that is not there yet
mkdir empty
cd empty || exit 1
WAZA_AUTH_TOKEN=secret web
fits 'without the token' '401 *' "$(send ../s1.json)"
fits 'a wrong token' '401 *' "$(send ../s1.json -H 'Authorization: Bearer no')"
is 'nothing was created' '' "$(find . -name .waza)"
fits 'with the token' '200 *' "$(send ../s1.json -H 'Authorization: Bearer secret')"
ok 'the directory is created' wait_until 60 sh -c 'ls .waza/results/meet-*.json >/dev/null 2>&1'
stop
rm -rf .waza served log
cd ..
done_testing
