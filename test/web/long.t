# Answers longer than a socket takes at once come to their end: a results file
# of several megabytes, and the events of a run that has had thousands.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
. "$top/test/tool/web.sh"
[ -z "${SHORT-}" ] || skip_all 'so much takes too long a byte at a time'

# fetch PATH: in the background, since it must not wait for ever
fetch() {
	printf 'GET %s HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nConnection: close\r\n\r\n' \
	    "$1" "$port" >question
	"$RPCPIPE" talk "$port" <question >answer &
	pid_a=$!
}

# ended: the whole answer has come
ended() {
	! kill -0 "$pid_a" 2>/dev/null
}

mkdir results evals/many
awk 'BEGIN {
	print "{\"eval_id\":\"long\",\"eval_name\":\"long\",\"skill\":\"s\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"config\":{\"runs_per_test\":1,\"model_id\":\"m\",\"engine_type\":\"mock\",\"timeout_sec\":1},"
	print "\"summary\":{\"total_tests\":1,\"succeeded\":1,\"failed\":0,\"errors\":0,\"skipped\":0,\"success_rate\":1,\"aggregate_score\":1,\"duration_ms\":1},\"metrics\":{},"
	printf "\"tasks\":[{\"test_id\":\"t\",\"display_name\":\"t\",\"status\":\"passed\",\"runs\":[{\"run_number\":1,\"attempts\":1,\"status\":\"passed\",\"duration_ms\":1,\"validations\":{},\"final_output\":\""
	for (i = 0; i < 200000; i++) printf "forty bytes of what an agent has to say "
	print "\"}]}]}"
}' >results/long.json
awk 'BEGIN {
	print "name: many\nskill: s\nconfig: {executor: mock}\ntasks:"
	for (i = 0; i < 2000; i++)
		print "  - {id: t" i ", prompt: p, expected: {output_contains: [p]}}"
}' >evals/many/eval.yaml
web --results-dir results

fetch /api/v1/runs/long/result
ok 'a large file: it ends' wait_until 120 ended
pid_a=
ok 'a large file: all of it came' \
    [ "$(wc -c <answer)" -gt "$(wc -c <results/long.json)" ]

body='{"path":"evals/many"}'
printf 'POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' \
    "$port" "${#body}" "$body" | "$RPCPIPE" talk "$port" >started
id=$(sed -n 's/.*"runId":"\([^"]*\)".*/\1/p' started)
over() {
	fetch "/api/v1/runs/$id"
	wait "$pid_a"
	pid_a=
	has answer '"status":"completed"'
}
ok 'a run of many tasks' wait_until 120 over
fetch "/api/v1/runs/$id/stream"
ok 'its events: they end' wait_until 120 ended
pid_a=
is 'its events: to the last' 1 "$(grep -c '^event: eval_complete' answer)"
is 'its events: without a heartbeat' 0 "$(grep -c '^:' answer)"
ok 'its events: thousands' [ "$(grep -c '^id: ' answer)" -gt 3000 ]

# results too large to keep are sent from their file, as long as it is that file
mkdir evals/large
cat >evals/large/eval.yaml <<'YAML'
name: large
skill: s
config: {executor: command, command: 'yes text | head -c 3000000'}
tasks: [{id: a, prompt: p}, {id: b, prompt: p}, {id: c, prompt: p}]
graders: [{type: text, name: g, config: {contains: [text]}}]
YAML
body='{"path":"evals/large","output":"large.json"}'
printf 'POST /api/v1/runs HTTP/1.1\r\nHost: 127.0.0.1:%s\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s' \
    "$port" "${#body}" "$body" | "$RPCPIPE" talk "$port" >started
id=$(sed -n 's/.*"runId":"\([^"]*\)".*/\1/p' started)
ok 'a run with large results' wait_until 120 over
ok 'its results are larger than 8 MiB' [ "$(wc -c <large.json)" -gt 8388608 ]
fetch "/api/v1/runs/$id/result"
ok 'its results: they end' wait_until 120 ended
pid_a=
ok 'its results: all of them' [ "$(wc -c <answer)" -gt "$(wc -c <large.json)" ]
echo 'not JSON' >large.json
fetch "/api/v1/runs/$id/result"
wait "$pid_a"
pid_a=
like 'a changed file is not sent' '*large.json has changed since the run ended*' "$(cat answer)"
stop
done_testing
