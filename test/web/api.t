# The HTTP API: every route, every refusal, live streams, and results after a
# restart.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/web.sh"
TZ=UTC0
export TZ

# a suite whose tasks wait for files
mkdir evals/steps go
GO=$tmp/go
export GO
cat >evals/steps/eval.yaml <<'YAML'
name: steps
skill: walking
config: {executor: command, command: 'echo $$ >>$LOG; until [ -e "$GO/$WAZA_TASK_ID" ]; do $NAP; done; echo "$WAZA_TASK_ID"'}
tasks:
  - {id: a, prompt: step a, expected: {output_contains: [a]}}
  - {id: "b/2 ü", prompt: step b, graders: [{name: says, type: text, config: {contains: [zebra]}}]}
  - {id: c, prompt: step c, expected: {output_contains: [c]}}
YAML
cat >evals/steps/odd.yaml <<'YAML'
name: "../odd name: é"
skill: s
config: {executor: mock}
tasks: [{id: x, prompt: x, expected: {output_contains: [x]}}]
YAML
cat >evals/steps/brisk.yaml <<'YAML'
name: brisk
skill: s
config: {executor: mock, mock: {delay_ms: 1}, trials_per_task: 150}
tasks: [{id: x, prompt: x, expected: {output_contains: [x]}}]
YAML
: >"$LOG"

mkdir results
web --results-dir results

fits 'health' '{"status":"ok","version":"*","runs":0,"clients":0}' "$(get /health)"
is 'no runs yet' '{"runs":[],"total":0,"skippedFiles":0}' "$(get $v1/runs)"

# a run, from its start to its results
run "$HTTPGET" -i -d '{"path":"evals/quick"}' "$port" $v1/runs
id=$(printf '%s\n' "$out" | sed -n 's/.*"runId":"\([^"]*\)".*/\1/p')
quick=$id
fits 'POST: 202' 'HTTP/1.1 202 Accepted*' "$out"
fits 'POST: where it is' "*
Location: $v1/runs/$id?
*{\"runId\":\"run-*\",\"status\":\"running\"}" "$out"
ok 'it is over' wait_until 120 over "$id"
brief="\"runId\":\"$id\",\"name\":\"quick\",\"skill\":\"greeting\",\"path\":\"evals/quick\",\"source\":\"live\",\"status\":\"completed\",\"ok\":false,\"executor\":\"mock\",\"model\":\"\",\"startedAt\":\"20*\",\"durationMs\":*,\"summary\":{\"total\":5,\"passed\":4,\"failed\":1,\"errors\":0,\"skipped\":0,\"passRate\":0.8,\"score\":0.8,\"durationMs\":*,\"ok\":false},\"tokens\":null,\"cost\":null"
fits 'in the list' "{\"runs\":[{$brief}],\"total\":1,\"skippedFiles\":0}" "$(get $v1/runs)"
fits 'alone, with its tasks' "{$brief,\"tasks\":[{\"id\":\"one\",\"name\":\"The first\",\"status\":\"passed\",\"score\":1,\"trials\":1,\"passed\":1,\"durationMs\":*},*{\"id\":\"five\",\"name\":\"five\",\"status\":\"failed\",\"score\":0,\"trials\":1,\"passed\":0,\"durationMs\":*}],\"resultsUrl\":\"$v1/runs/$id/result\"}" \
    "$(get "$v1/runs/$id")"
fits 'a failed task names its graders' '*"id":"five",*"failedGraders":["*"]}]*' "$(get "$v1/runs/$id")"
is 'the same again' "$(get "$v1/runs/$id")" "$(get "$v1/runs/$id")"
fits 'its results' "{\"eval_id\":\"$id\",\"skill\":\"greeting\",\"eval_name\":\"quick\",*\"tasks\":[*" "$(get "$v1/runs/$id/result")"
fits 'a task of it' '{"test_id":"five",*"status":"failed","runs":[{"run_number":1,*"validations":{*"final_output":*}*' \
    "$(get "$v1/runs/$id/tasks/five")"
fits 'a file of its own' "results/quick-${id#run-}.json" "$(ls results/*.json)"
is 'and no other' 1 "$(find results -type f | grep -c .)"

# HEAD: the same without a body
fits 'HEAD' "HTTP/1.1 200 OK*Content-Type: application/json*Content-Length: $(get "$v1/runs/$id" | wc -c | tr -d ' ')*" \
    "$(get -i -X HEAD "$v1/runs/$id" | tr -d '\r')"

# refusals
is 'no JSON' '400 {"error":{"code":400,"kind":"parse_error","message":"Parse error","data":{"detail":"unexpected end of input at byte 2"}}}' \
    "$(code -d '{' $v1/runs)"
fits 'no object' '400 {"error":{"code":400,"kind":"invalid_params",*object*' "$(code -d '[]' $v1/runs)"
fits 'no body' '400 {"error":{"code":400,"kind":"parse_error",*' "$(code -X POST $v1/runs)"
fits 'no path' '400 {"error":{"code":400,"kind":"invalid_params",*"field":"path"*' "$(code -d '{}' $v1/runs)"
fits 'a wrong type' '400 *"invalid_params"*"field":"trials"*' "$(code -d '{"path":"evals/quick","trials":"x"}' $v1/runs)"
fits 'no such suite' '404 *"kind":"eval_not_found"*"path":"evals/none"*' "$(code -d '{"path":"evals/none"}' $v1/runs)"
fits 'a suite elsewhere' '403 *"kind":"path_denied"*"path":"/etc"*' "$(code -d '{"path":"/etc"}' $v1/runs)"
fits 'an output elsewhere' '403 *"kind":"path_denied"*' "$(code -d '{"path":"evals/quick","output":"/tmp/x.json"}' $v1/runs)"
fits 'a bad suite' '422 *"kind":"validation_failed"*"errors":["*' "$(code -d '{"path":"evals/bad"}' $v1/runs)"
fits 'POST with a query' '400 *"field":"x"*' "$(code -d '{"path":"evals/quick"}' "$v1/runs?x=1")"
for t in "runs/nope" "runs/nope/result" "runs/nope/tasks/a" "runs/nope/stream" "runs/nope/compare/$id" \
    "runs/$id/compare/nope" "runs/..%2f..%2fetc%2fpasswd" "runs/%2e%2e" "runs/quick-${id#run-}"
do fits "no such run: $t" '404 *"kind":"run_not_found","message":"Run not found","data":{"runId":"*"}}}' "$(code "$v1/$t")"
done
fits 'DELETE of none' '404 *"kind":"run_not_found"*' "$(code -X DELETE $v1/runs/nope)"
fits 'no such task' '404 *"kind":"task_not_found"*"taskId":"six"*' "$(code "$v1/runs/$id/tasks/six")"
fits 'DELETE when it is over' "409 *\"kind\":\"run_over\"*\"runId\":\"$id\"*" "$(code -X DELETE "$v1/runs/$id")"
fits 'no such path' '404 *"kind":"not_found"*' "$(code $v1/nothing)"
fits 'no such method' 'HTTP/1.1 405 *Allow: *GET*POST*' "$(get -i -X PUT $v1/runs | tr -d '\r')"

# lists
post evals/steps/odd.yaml
ok 'another run' wait_until 120 over "$id"
odd=$id
is 'its name does not become a path' 2 "$(find results -name '*.json' | grep -c .)"
post evals/quick ',"output":"mine.json"'
ok 'a run with an output' wait_until 120 over "$id"
is 'is written there' yes "$([ -f mine.json ] && echo yes)"
is 'and only there' 2 "$(find results -name '*.json' | grep -c .)"
mine=$id
is 'the youngest first' "\"$mine\" \"$odd\" \"$quick\" " "$(get $v1/runs | value runId | tr '\n' ' ')"
fits 'a part of them' "{\"runs\":[{\"runId\":\"$odd\",*}],\"total\":3,\"skippedFiles\":0}" "$(get "$v1/runs?limit=1&offset=1")"
is 'none of them' '{"runs":[],"total":3,"skippedFiles":0}' "$(get "$v1/runs?limit=0")"
is 'searched' "\"$odd\"" "$(get "$v1/runs?q=ODD+name" | value runId)"
is 'searched without a match' '{"runs":[],"total":0,"skippedFiles":0}' "$(get "$v1/runs?q=zebra")"
is 'of a suite' "\"$mine\" \"$quick\" " "$(get "$v1/runs?suite=quick" | value runId | tr '\n' ' ')"
is 'of a suite, encoded' "\"$odd\"" "$(get "$v1/runs?suite=..%2Fodd%20name%3A%20%C3%A9" | value runId)"
is 'with a status' '{"runs":[],"total":0,"skippedFiles":0}' "$(get "$v1/runs?status=failed")"
for q in limit=x limit=-1 limit=1001 limit= offset=1.5 status=done 'q=%zz' 'limit=1&limit=2' nothing=1 access_token=x 'q=%ff'
do fits "a bad query: $q" '400 *"kind":"invalid_params"*"field":"*' "$(code "$v1/runs?$q")"
done

# suites
fits 'suites' '{"evals":[*{"path":"evals/quick/eval.yaml","name":"quick","skill":"greeting","version":"2"}*]*' "$(get "$v1/evals?dir=evals")"
fits 'suites from here' '{"evals":[*"path":"evals/quick/eval.yaml"*' "$(get $v1/evals)"
fits 'suites elsewhere' '403 *"path_denied"*' "$(code "$v1/evals?dir=/")"
fits 'no such directory' '404 *"eval_not_found"*' "$(code "$v1/evals?dir=evals/none")"
fits 'tasks of a suite' '{"tasks":[{"id":"one","name":"The first",*]}' "$(get "$v1/tasks?path=evals/quick")"
fits 'tasks of none' '404 *"eval_not_found"*' "$(code "$v1/tasks?path=evals/none")"
fits 'tasks of nothing' '400 *"field":"path"*' "$(code $v1/tasks)"
fits 'a suite' '{"path":"evals/quick","name":"quick",*"tasks":5}' "$(get "$v1/eval?path=evals/quick")"
fits 'executors' '{"executors":[*{"name":"claude","needs":"program","installed":*},*{"name":"mock","needs":"nothing"}*],"models":[]*}' "$(get $v1/executors)"
fits 'executors: a query is refused' '400 *"field":"x"*' "$(code "$v1/executors?x=1")"
is 'clients' '{"clients":[],"queued":0}' "$(get $v1/clients)"

# comparing
is 'compare: as the command has it' "$("$WAZA" compare --format json results/quick-*.json mine.json |
    tr -d ' \n' | sed 's/"files":\[[^]]*\]//')" \
    "$(get "$v1/runs/$quick/compare/$mine" | tr -d ' \n' | sed 's/"files":\[[^]]*\]//')"
fits 'compare: with itself' '*"files": [*"no_real_change"*' "$(get "$v1/runs/$quick/compare/$quick")"

# a stream when it is over
get "$v1/runs/$quick/stream" >whole
is 'a stream: how it begins' 'retry: 1000' "$(head -n 1 whole)"
is 'a stream: its events' "$(printf '1 eval_start\n22 eval_complete')" \
    "$(awk '/^id:/ { i = $2 } /^event:/ { print i, $2 }' whole | sed -n '1p; $p')"
is 'a stream: numbers without a gap' 22 "$(awk '/^id:/ && $2 == n + 1 { n++ } END { print n }' whole)"
is 'a stream: each says which run it is' 22 "$(grep -c "^data: {\"type\":\".*\"run_id\":\"$quick\",\"seq\":[0-9]*,\"runId\":\"$quick\"}\$" whole)"
get -H 'Last-Event-ID: 20' "$v1/runs/$quick/stream" >rest
is 'a stream: from where it was left' "$(sed -n '/^id: 21$/,$p' whole)" "$(sed 1,2d rest)"
is 'a stream: the same by query' "$(cat rest)" "$(get "$v1/runs/$quick/stream?lastEventId=20")"
is 'a stream: an empty one is none' "$(cat whole)" "$(get "$v1/runs/$quick/stream?lastEventId=")"
is 'a stream: seen to its end' 204 "$(code -H 'Last-Event-ID: 22' "$v1/runs/$quick/stream")"
is 'a stream: seen beyond' 204 "$(code "$v1/runs/$quick/stream?lastEventId=1000")"
fits 'a stream: no number' '400 *"field":"lastEventId"*' "$(code -H 'Last-Event-ID: x' "$v1/runs/$quick/stream")"
fits 'a stream: what it is' '*
Content-Type: text/event-stream
*
Transfer-Encoding: chunked*' "$(get -i -X HEAD "$v1/runs/$quick/stream" | tr -d '\r')"

# a stream of a live run; the client that started it has disconnected
get "$v1/events" >feed 2>&1 &
feed=$!
ok 'events: it begins with the clients' wait_until 120 has feed 'data: {"clients":[],"queued":0}'
post evals/steps
ok 'live: it runs' wait_until 120 lines "$LOG" 1
fits 'live: progress' "*\"status\":\"running\",\"ok\":null,*\"summary\":null,\"progress\":{\"done\":0,\"total\":3},*\"tasks\":[{\"id\":\"a\",\"name\":\"a\",\"status\":\"running\",*{\"id\":\"c\",*\"status\":\"pending\",*],\"resultsUrl\":null}" \
    "$(get "$v1/runs/$id")"
fits 'live: in the list' "*\"runId\":\"$id\",*\"status\":\"running\"*" "$(get "$v1/runs?status=running")"
fits 'live: no results' '404 *"kind":"no_result"*' "$(code "$v1/runs/$id/result")"
fits 'live: no comparison' '404 *"kind":"no_result"*' "$(code "$v1/runs/$id/compare/$quick")"
fits 'live: a task of it' '{"test_id":"a","display_name":"a","status":"running","runs":[]}' "$(get "$v1/runs/$id/tasks/a")"
fits 'live: no such task' '404 *"task_not_found"*' "$(code "$v1/runs/$id/tasks/nope")"
is 'live: health counts it' 1 "$(get /health | value runs)"
"$HTTPGET" "$port" "$v1/runs/$id/stream" >live 2>&1 &
reader=$!
ok 'a reader: the first events' wait_until 120 has live 'event: trial_start'
touch go/a
ok 'a reader: more of them' wait_until 120 has live '"task":"b/2 ü"'
get -e 3 "$v1/runs/$id/stream" >early
is 'a reader disconnects: what it has seen' 2 "$(grep -c ^id: early)"
mkdir go/b
touch 'go/b/2 ü'
ok 'a task of it, with its trials' wait_until 120 sh -c '"$HTTPGET" "$1" "$2" | grep -q "\"run_number\":1"' sh "$port" "$v1/runs/$id/tasks/b%2F2%20%C3%BC"
get -H 'Last-Event-ID: 2' -e 5 "$v1/runs/$id/stream" >middle
is 'a reader reconnects: nothing is lost' '3 4 5 6 ' "$(sed -n 's/^id: //p' middle | tr '\n' ' ')"
touch go/c
wait "$reader"
is 'a reader: it ends with the run' 0 "$?"
fits 'a reader: the end' 'event: eval_complete*"passed":2,"failed":1,*' "$(tail -n 3 live)"
is 'a reader: the same as a late one' "$(get "$v1/runs/$id/stream" | grep .)" "$(grep . live | grep -v '^:')"
is 'a task with a name like a path' '"says"' "$(get "$v1/runs/$id/tasks/b%2F2%20%C3%BC" | value identifier)"
steps=$id
ok 'events: the run is over' wait_until 120 has feed "\"runId\":\"$id\",\"name\":\"steps\",\"skill\":\"walking\",\"path\":\"evals/steps\",\"source\":\"live\",\"status\":\"completed\""
is 'events: it was running before' running "$(sed -n "s/^data: {\"runId\":\"$id\".*\"status\":\"\([a-z]*\)\",\"ok\".*/\1/p" feed | sort -u | sed -n '$p')"
kill "$feed"
wait "$feed" 2>/dev/null

# cancelled
rm -rf go/*
: >"$LOG"
post evals/hang
ok 'cancel: it runs' wait_until 120 lines "$LOG" 2
"$HTTPGET" "$port" "$v1/runs/$id/stream" >live &
reader=$!
ok 'cancel: it is read' wait_until 120 has live 'event: task_start'
is 'cancel' "202 {\"runId\":\"$id\",\"status\":\"cancelled\"}" "$(code -X DELETE "$v1/runs/$id")"
wait "$reader"
is 'cancel: the stream ends' 0 "$?"
fits 'cancel: as it ended' 'event: eval_complete*"status":"cancelled"*' "$(tail -n 3 live)"
ok 'cancel: no child is left' wait_until 120 children_gone
fits 'cancel: in the list' "*\"runId\":\"$id\",*\"status\":\"cancelled\",\"ok\":false,*" "$(get "$v1/runs?status=cancelled")"
fits 'cancel: once more' '409 *"kind":"run_over"*' "$(code -X DELETE "$v1/runs/$id")"
gone=$id

# files that others put there
cat >results/theirs.json <<'JSON'
{
  "eval_id": "run-1700000000",
  "skill": "code-explainer",
  "eval_name": "code-explainer-eval",
  "timestamp": "2025-11-02T10:11:12.123456789+01:00",
  "config": {"runs_per_test": 1, "model_id": "gpt-4o", "engine_type": "copilot-sdk", "timeout_sec": 300, "judge_model": "o3"},
  "summary": {"total_tests": 2, "succeeded": 1, "failed": 1, "errors": 0, "skipped": 0, "success_rate": 0.5,
    "aggregate_score": 0.75, "weighted_score": 0.75, "min_score": 0.5, "max_score": 1, "std_dev": 0.25, "duration_ms": 4200,
    "usage": {"turns": 3, "input_tokens": 1000, "output_tokens": 200, "cache_read_tokens": 0, "cache_write_tokens": 0, "premium_requests": 1}},
  "metrics": {},
  "tasks": [
    {"test_id": "t1", "display_name": "Explains \u003cb\u003e", "status": "passed",
     "runs": [{"run_number": 1, "attempts": 1, "status": "passed", "duration_ms": 2100,
       "validations": {"has_words": {"identifier": "has_words", "type": "text", "score": 1, "weight": 1, "passed": true, "feedback": "fine", "duration_ms": 0}},
       "session_digest": {"tool_call_count": 1, "tools_used": ["bash"], "errors": [], "usage": {"turns": 3, "input_tokens": 1000, "output_tokens": 200}},
       "transcript": [{"type": "assistant.message", "content": "hello"}], "final_output": "hello"}],
     "stats": {"pass_rate": 1, "avg_score": 1, "avg_weighted_score": 1, "min_score": 1, "max_score": 1, "std_dev_score": 0, "avg_duration_ms": 2100,
       "bootstrap_ci": {"lower": 1, "upper": 1, "mean": 1, "confidence_level": 0.95, "num_bootstraps": 10000}, "is_significant": true}},
    {"test_id": "t2", "display_name": "Fails", "status": "failed",
     "runs": [{"run_number": 1, "attempts": 1, "status": "error", "duration_ms": 9, "validations": null,
       "session_digest": {"tool_call_count": 0, "tools_used": null, "errors": null}, "final_output": "", "error_msg": "no agent"}],
     "stats": {"pass_rate": 1, "avg_score": 0.5, "avg_weighted_score": 0.5, "min_score": 0.5, "max_score": 0.5, "std_dev_score": 0, "avg_duration_ms": 9}}
  ]
}
JSON
there() {
	get "$v1/runs?q=$1" | grep -q "\"total\":$2,\"skippedFiles\""
}
ok 'a file of the original is found' wait_until 120 there code-explainer 1
fits 'a file of the original: its numbers' '*"runId":"run-1700000000","name":"code-explainer-eval","skill":"code-explainer","path":"results/theirs.json","source":"file","status":"completed","ok":false,"executor":"copilot-sdk","model":"gpt-4o","startedAt":"2025-11-02T09:11:12.123456789Z","durationMs":4200,"summary":{"total":2,"passed":1,"failed":1,"errors":0,"skipped":0,"passRate":0.5,"score":0.75,"durationMs":4200,"ok":false},"tokens":1200,"cost":null*' \
    "$(get "$v1/runs?q=gpt-4o")"
fits 'a file of the original: its tasks' '*"tasks":[{"id":"t1","name":"Explains <b>","status":"passed","score":1,"trials":1,"passed":1,"durationMs":2100},{"id":"t2","name":"Fails","status":"failed","score":0.5,"trials":1,"passed":0,"durationMs":9,"error":"no agent"}],"resultsUrl":"*/result"}' \
    "$(get "$v1/runs/run-1700000000")"
is 'a file of the original: as it is' "$(cat results/theirs.json)" "$(get "$v1/runs/run-1700000000/result")"
fits 'a file of the original: a task' '{"test_id":"t1",*"transcript":[{"type":"assistant.message","content":"hello"}]*' "$(get "$v1/runs/run-1700000000/tasks/t1")"
fits 'a file of the original: its end as an event' '*event: eval_complete
data: {"type":"eval_complete","eval":"code-explainer-eval","passed":1,"failed":1,"total":2,*"runId":"run-1700000000"}' \
    "$(get "$v1/runs/run-1700000000/stream")"
is 'a file of the original: no more than that' 204 "$(code -H 'Last-Event-ID: 1' "$v1/runs/run-1700000000/stream")"
fits 'a file of the original: compared with ours' '*"missing": [*' "$(get "$v1/runs/run-1700000000/compare/$quick")"
fits 'a file of the original: DELETE' '409 *' "$(code -X DELETE "$v1/runs/run-1700000000")"
cp results/theirs.json results/copy.json
ok 'an equal id hides no run' wait_until 120 there code-explainer 2
ids=$(get "$v1/runs?q=code-explainer" | value runId | tr -d '"' | sort)
fits 'an equal id has a mark' 'run-1700000000
run-1700000000~????????' "$ids"
for i in $ids
do fits "found by its id: $i" '200 *"name":"code-explainer-eval"*' "$(code "$v1/runs/$i")"
done
echo '{"eval_id": "half' >results/half.json
echo '[]' >results/list.json
ln -s /etc/passwd results/link.json
skipped() {
	get "$v1/runs" | grep -q "\"skippedFiles\":$1}"
}
ok 'other files are counted' wait_until 120 skipped 3
deep=results/deep/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17
mkdir -p "$deep"
incomplete() {
	get "$v1/runs" | grep -q '"skippedFiles":3,"incomplete":true}'
}
ok 'directories that are not read are reported' wait_until 120 incomplete
rm -r results/deep results/copy.json results/half.json results/list.json results/link.json
ok 'a removed file disappears' wait_until 120 there code-explainer 1

# the original's shapes
fits 'old: health' '{"status":"ok","version":"*"}' "$(get /api/health)"
is 'old: storage' '{"configured":false}' "$(get /api/storage/status)"
fits 'old: summary' '{"totalRuns":6,"totalTasks":1*,"passRate":*,"avgTokens":200,"avgCost":0,"avgDuration":*}' "$(get /api/summary)"
is 'old: runs' "\"$gone\" \"$steps\" \"$mine\" \"$odd\" \"$quick\" \"run-1700000000\" " "$(get /api/runs | value id | tr '\n' ' ')"
is 'old: the other way round' "\"run-1700000000\"" "$(get '/api/runs?order=asc' | value id | head -n 1)"
is 'old: by tokens' "\"run-1700000000\"" "$(get '/api/runs?sort=tokens&order=desc' | value id | head -n 1)"
fits 'old: a run' '{"id":"run-1700000000","spec":"code-explainer-eval","model":"gpt-4o","judgeModel":"o3","outcome":"failed","passCount":1,"taskCount":2,"tokens":1200,"cost":0,"duration":4.2,"timestamp":"2025-11-02T*","source":"local","tasks":[{"name":"Explains <b>","outcome":"passed","score":1,"duration":2.1,"graderResults":[{"name":"has_words","type":"text","passed":true,"score":1,"weight":1,"message":"fine"}],"transcript":[{"type":"assistant.message","content":"hello"}],"sessionDigest":{"totalTurns":3,"toolCallCount":1,"tokensIn":1000,"tokensOut":200,"tokensTotal":1200,"toolsUsed":["bash"],"errors":[]},"bootstrapCI":{"lower":1,"upper":1,"mean":1,"confidenceLevel":0.95},"isSignificant":true},{"name":"Fails","outcome":"failed","score":0.5,*"graderResults":[],*"toolsUsed":[],"errors":[]}}]}' \
    "$(get /api/runs/run-1700000000)"
fits 'old: a run of this server' "{\"id\":\"$quick\",\"spec\":\"quick\",*\"outcome\":\"failed\",\"passCount\":4,\"taskCount\":5,*" "$(get "/api/runs/$quick")"
is 'old: no such run' '404 {"error":"run not found","code":404}' "$(code /api/runs/nope)"

# events of a brisk run share their pieces, each with those of 20 ms at least
post evals/steps/brisk.yaml
printf 'GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n' "$v1/runs/$id/stream" |
    "$RPCPIPE" talk -k "$port" | tr -d '\r' >raw
fits 'a brisk run: the end' 'event: eval_complete*' "$(grep -A 1 '^event: eval_complete' raw)"
ms=$(get "$v1/runs/$id" | value durationMs | head -n 1)
pieces=$(grep -Ec '^[0-9a-f]+$' raw)
ok 'a brisk run: few pieces' test "$pieces" -le $((ms / 20 + 6))

# Host and Origin
fits 'a foreign Host' '403 *"kind":"forbidden"*' "$(code -H 'Host: evil.example' $v1/runs)"
fits 'a foreign Origin' '403 *"kind":"forbidden"*' "$(code -H 'Origin: http://evil.example' -d '{"path":"evals/quick"}' $v1/runs)"
# a page elsewhere: Sec-Fetch-Site without an Origin; a body that is not JSON
for site in cross-site same-site
do
	fits "Sec-Fetch-Site: $site" '403 *"kind":"forbidden","message":"Sec-Fetch-Site is not this server"*' \
	    "$(code -H "Sec-Fetch-Site: $site" -d '{"path":"evals/quick"}' $v1/runs)"
	fits "Sec-Fetch-Site: $site, a form" '403 *' "$(code -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: navigate' -d '{"path":"evals/quick"}' $v1/runs)"
	fits "Sec-Fetch-Site: $site, GET" '403 *' "$(code -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: no-cors' $v1/runs)"
	fits "Sec-Fetch-Site: $site, a link" '200 *' "$(code -H "Sec-Fetch-Site: $site" -H 'Sec-Fetch-Mode: navigate' /)"
done
fits 'Sec-Fetch-Site: same-origin' '200 *' "$(code -H 'Sec-Fetch-Site: same-origin' $v1/runs)"
fits 'Sec-Fetch-Site: none' '200 *' "$(code -H 'Sec-Fetch-Site: none' $v1/runs)"
for type in text/plain 'text/plain; a=application/json' application/x-www-form-urlencoded application/json2 ''
do fits "a body of type '$type'" '415 *"kind":"invalid_request","message":"Content-Type must be application/json"*' \
    "$(code -H "Content-Type: $type" -d '{"path":"evals/quick"}' $v1/runs)"
done
fits 'a body of type application/json; charset=utf-8' '400 *"invalid_params"*' \
    "$(code -H 'Content-Type: Application/JSON; charset=utf-8' -d '{"path":7}' $v1/runs)"
fits 'a body with a byte order mark' '400 *"invalid_params"*' \
    "$(code -H 'Content-Type: application/json' -d "$(printf '\357\273\277{"path":7}')" $v1/runs)"
fits 'its own Origin' '200 *' "$(code -H "Host: localhost:$port" -H "Origin: http://localhost:$port" $v1/runs)"

# common clients
if command -v curl >/dev/null
then
	fits 'curl' "{\"runId\":\"$quick\",*" "$(curl -s "http://127.0.0.1:$port$v1/runs/$quick")"
	is 'curl: a stream' "$(cat whole)" "$(curl -sN "http://127.0.0.1:$port$v1/runs/$quick/stream")"
	fits 'curl: a run' '*202 Accepted*"status":"running"}' "$(curl -si -H 'Content-Type: application/json' -d '{"path":"evals/quick","output":"c.json"}' "http://localhost:$port$v1/runs")"
	is 'curl: many in a row' '200200200' "$(curl -s -o /dev/null -w '%{http_code}' "http://127.0.0.1:$port$v1/runs" \
	    -o /dev/null "http://127.0.0.1:$port$v1/runs" -o /dev/null "http://127.0.0.1:$port$v1/runs")"
else skip 'no curl'
fi
if command -v wget >/dev/null
then fits 'wget' "{\"runId\":\"$quick\",*" "$(wget -qO- "http://127.0.0.1:$port$v1/runs/$quick")"
else skip 'no wget'
fi

# a restarted server has the saved results
: >"$LOG"
rm -rf go/*
post evals/steps
ok 'before the end: a run is live' wait_until 120 lines "$LOG" 1
stop_busy
is 'the end: status' 0 "$rc"
ok 'the end: no child is left' wait_until 120 children_gone
web --results-dir results
fits 'back: the earlier runs' "*\"runId\":\"$id\",\"name\":\"steps\",*\"status\":\"cancelled\"*\"runId\":\"$quick\",\"name\":\"quick\",\"skill\":\"greeting\",\"path\":\"results/quick-${quick#run-}.json\",\"source\":\"file\",\"status\":\"completed\",\"ok\":false,\"executor\":\"mock\",*\"summary\":{\"total\":5,\"passed\":4,\"failed\":1,*" \
    "$(get "$v1/runs")"
fits 'back: its tasks' "{\"runId\":\"$quick\",*\"tasks\":[{\"id\":\"one\",\"name\":\"The first\",\"status\":\"passed\",*" "$(get "$v1/runs/$quick")"
fits 'back: what it was cancelled with' "*\"runId\":\"$gone\",*\"status\":\"cancelled\",\"ok\":false*" "$(get "$v1/runs?q=hang")"
is 'back: compared' "$(get "$v1/runs/$quick/compare/$steps" | value verdict)" "$(get "$v1/runs/$quick/compare/$steps" | value verdict)"
stop

# a token
printf 'open-sesame\n' >token
chmod 600 token
web --results-dir results --token-file token
fits 'token: none' 'HTTP/1.1 401 Unauthorized
*
WWW-Authenticate: Bearer
*"kind":"auth_failed"*' "$(get -i $v1/runs | tr -d '\r')"
fits 'token: a wrong one' '401 *' "$(code -H 'Authorization: Bearer open-sesam' $v1/runs)"
fits 'token: the right one' '200 {"runs":[*' "$(code -H 'Authorization: Bearer open-sesame' $v1/runs)"
fits 'token: required to start a run' '401 *' "$(code -d '{"path":"evals/quick"}' $v1/runs)"
fits 'token: health is open' '200 {"status":"ok"*' "$(code /health)"
fits 'token: health of the API, too' '200 {"status":"ok"*' "$(code $v1/health)"
fits 'token: in the address of a stream' '200 retry:*' "$(code "$v1/runs/$quick/stream?access_token=open-sesame")"
fits 'token: and of all events' '*event: clients*' "$(get -e 2 "$v1/events?access_token=open-sesame")"
fits 'token: a wrong one there' '401 *' "$(code "$v1/runs/$quick/stream?access_token=x")"
fits 'token: nowhere else' '401 *' "$(code "$v1/runs?access_token=open-sesame")"
fits 'token: required by the API of the original, too' '401 *' "$(code /api/runs)"
stop

# by a unix socket, without results; and what cannot be a directory of them
: >log
"$WAZA" serve --socket s.sock </dev/null >served 2>log &
srv=$!
wait_until 120 has log 'listening on s.sock'
fits 'a unix socket' '{"runs":[],"total":0}' "$("$HTTPGET" s.sock $v1/runs)"
fits 'a unix socket: any type of body' '*"invalid_params"*' "$("$HTTPGET" -H 'Content-Type: text/plain' -d '{"path":7}' s.sock $v1/runs)"
stop
run "$WAZA" serve --http 127.0.0.1:0 --results-dir nowhere
is 'no such directory: status' 2 "$rc"
fits 'no such directory: why' '*nowhere*' "$err"

# the results that `waza run` keeps are shown, and nothing is added to them
"$WAZA" run -q evals/steps/odd.yaml >/dev/null
web
ok 'kept results are shown' wait_until 120 sh -c "'$HTTPGET' $port $v1/runs | grep -q '\"total\":1'"
post evals/quick
ok 'beside the runs of the server' wait_until 120 over "$id"
is 'which are not kept' 1 "$(find .waza/results -type f | grep -c .)"
stop
rm -r .waza

# many runs
web --config-json '{"limits":{"runs":1}}'
: >"$LOG"
awk 'BEGIN { body = "{\"path\":\"evals/hang\"}"
	for (i = 1; i <= 1003; i++)
		printf "POST /api/v1/runs HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n%s",
		    length(body), i == 1003 ? "Connection: close\r\n" : "", body }' |
    "$RPCPIPE" talk "$port" >many
is 'many runs: they wait' 1003 "$(grep -c '^HTTP/1.1 202' many)"
is 'many runs: they are counted' 1003 "$(get /health | value runs)"
is 'many runs: a page of them' 1000 "$(get "$v1/runs?limit=1000" | value runId | grep -c .)"
# their bytes are limited
awk 'BEGIN { s = "x"; while (length(s) < 5000000) s = s s
	print "name: big\nskill: s\nconfig: {executor: mock}\ntasks: [{id: a, prompt: \"" s "\", expected: {output_contains: [x]}}]" }' >evals/big.yaml
full() {
	code -d '{"path":"evals/big.yaml"}' $v1/runs >last
	grep -q '^429' last
}
ok 'too many runs: refused' wait_until 120 full
fits 'too many runs: why' '429 *"kind":"rate_limited",*the queue is full*' "$(cat last)"
stop_busy
is 'many runs: the end' 0 "$rc"
done_testing
