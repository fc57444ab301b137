# waza results and waza session: views of stored results and session logs.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

run "$WAZA" results list
is 'no directory of results: exit 0' '0 No results in .waza/results.' "$rc $out"
run "$WAZA" results list --format json
is 'no directory of results, as JSON' '0 []' "$rc $out"
run "$WAZA" results list --dir none
is 'a directory that is named must exist' 2 "$rc"

# results NAME ID SKILL MODEL TIME SCORE: a results file with one task
results() {
	cat >"results/$1.json" <<JSON
{"eval_id": "$2", "run_id": "$2", "eval_name": "e", "skill": "$3", "timestamp": "$5",
 "config": {"model_id": "$4", "engine_type": "mock"},
 "summary": {"total_tests": 1, "succeeded": $6, "failed": $((1 - $6)), "errors": 0,
  "success_rate": $6, "aggregate_score": $6, "duration_ms": 5},
 "tasks": [{"test_id": "t", "display_name": "t", "status": "$([ "$6" = 1 ] && echo passed || echo failed)",
  "runs": [{"run_number": 1, "status": "$([ "$6" = 1 ] && echo passed || echo failed)", "duration_ms": 5,
   "validations": {"v": {"identifier": "v", "type": "text", "score": $6, "passed": $([ "$6" = 1 ] && echo true || echo false), "feedback": ""}}}],
  "stats": {"pass_rate": $6, "avg_score": $6, "avg_duration_ms": 5}}]}
JSON
}
mkdir results
results one run-1 pdf gpt-x 2026-01-02T03:04:05Z 1
results two run-2 pdf a-model-with-a-name-that-is-long 2026-02-03T04:05:06Z 0
results three run-3 csv gpt-x 2026-03-04T05:06:07Z 1
printf 'not results' >results/other.json
ln -s /dev/zero results/zero.json
ids() { printf '%s\n' "$out" | awk 'NR > 1 { print $NF }' | xargs; }

TZ=UTC run "$WAZA" results list
is 'list: the newest first' 'run-3 run-2 run-1' "$(ids)"
is 'list: nothing is cut in a pipe' '  suite  passed        started (UTC)                             model  skill  run id
  e      100.0%  2026-03-04T05:06:07                             gpt-x    csv   run-3
  e        0.0%  2026-02-03T04:05:06  a-model-with-a-name-that-is-long    pdf   run-2
  e      100.0%  2026-01-02T03:04:05                             gpt-x    pdf   run-1' "$out"
mkdir plain
results ../plain/one run-1 '' '' 2026-01-02T03:04:05Z 1
run "$WAZA" results list --dir plain
is 'list: no column without a value' '  suite  passed        started (UTC)  run id
  e      100.0%  2026-01-02T03:04:05   run-1' "$out"
dd if=/dev/null of=plain/large.json bs=1024 seek=65537 2>/dev/null
run "$WAZA" results list --dir plain
like 'list: reports a file that is too large' '*: 1 file is larger than 64 MiB: not listed' "$err"
rm -r plain
run "$WAZA" results list --color=blue
like 'list: --color=blue' '2 waza: --color must be auto, *' "$rc $err"
run "$WAZA" results list --skill pdf --model gpt-x
is 'list: --skill and --model' 'run-1' "$(ids)"
run "$WAZA" results list --since 2026-02-03
is 'list: --since' 'run-3 run-2' "$(ids)"
run "$WAZA" results list --limit 1
is 'list: --limit' 'run-3' "$(ids)"
run "$WAZA" results list --since yesterday
is 'list: a bad date' '2 waza: --since must be a date YYYY-MM-DD, not "yesterday"' "$rc $err"
run "$WAZA" results list --format json --skill csv
like 'list: JSON' '\[*"run_id": "run-3",*"skill": "csv",*"model": "gpt-x",*"timestamp": "2026-03-04T*"pass_rate": 100,*"blob_path": "results/three.json"*\]' "$out"
run "$WAZA" results compare run-1 run-2
like 'compare: by id' '0 *results/one.json*results/two.json*1 task broke*' "$rc $out"
run "$WAZA" results compare run-1 run-2 --format json
like 'compare: JSON' '*"results/two.json"*"success_rate_delta": -1,*' "$out"
run "$WAZA" results compare run-1 run-9
like 'compare: an unknown id' '2 waza: no run "run-9" in results; *results list*' "$rc $err"
run "$WAZA" results compare run-1
like 'compare: one id' '2 *needs two ids*' "$rc $err"
run "$WAZA" results lst
like 'an unknown subcommand' '2 *use list or compare' "$rc $err"

run "$WAZA" session list
is 'session list: none' '0 No session logs in .' "$rc $out"
cat >20260101T000000Z-session.jsonl <<'JSON'
{"timestamp":"2026-01-01T00:00:00Z","type":"session_start","data":{"spec_path":"eval.yaml","model":"m","engine":"mock","task_count":1}}
{"timestamp":"2026-01-01T00:00:00.25Z","type":"task_start","data":{"task_name":"greet","task_num":1,"total_tasks":1}}
{"timestamp":"2026-01-01T00:00:01.5Z","type":"grader_result","data":{"grader_name":"g","grader_type":"text","passed":false,"score":0.5,"feedback":"one\n::error::two"}}
not an event
{"timestamp":"2026-01-01T00:00:02Z","type":"task_complete","data":{"task_name":"greet","status":"failed","score":0.5,"duration_ms":1750}}
{"timestamp":"2026-01-01T00:00:02Z","type":"own","data":{"a":1}}
{"timestamp":"2026-01-01T00:00:02Z","type":"session_complete","data":{"total_tests":1,"passed":0,"failed":1,"errors":0,"duration_ms":2000}}
JSON
cp 20260101T000000Z-session.jsonl 20260202T000000Z-session.jsonl
touch -t 202601010000 20260101T000000Z-session.jsonl
ln -s /dev/zero zero-session.jsonl
run "$WAZA" session list
is 'session list: the newest first, with their events' \
    '20260202T000000Z-session.jsonl 7 20260101T000000Z-session.jsonl 7' \
    "$(printf '%s\n' "$out" | awk 'NR > 1 { print $1, $2 }' | xargs)"
run "$WAZA" session list --dir none
is 'session list: no such directory' 2 "$rc"
run "$WAZA" session view 20260101T000000Z-session.jsonl
is 'session view: a timeline' '[     0ms] run of eval.yaml, mock, m, 1 tasks
[   250ms] start greet, task 1
[   1.5s] grader g (text): failed, score 0.50: one' "$(printf '%s\n' "$out" | head -n 3 | sed 's/\[  *1.5s/[   1.5s/')"
like 'session view: other types as they are' '*own {"a":1}*run ended, 0 passed, 1 failed, 0 errors, 2000 ms*' "$out"
is 'session view: no line is a command' '' "$(printf '%s\n' "$out" | grep '^ *::')"
like 'session view: malformed lines are counted' '*: 1 lines are not events and were skipped' "$err"
run "$WAZA" session view none.jsonl
is 'session view: no such file' 2 "$rc"
done_testing
