# What agents did, in all reports: tool calls, patches, tokens and cost.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp LC_ALL=C.UTF-8
export TMPDIR LC_ALL
cat >eval.yaml <<'YAML'
name: work
skill: s
config: {executor: mock}
tasks:
  - id: one
    name: Fix it
    prompt: go
    inputs: {files: [{path: a.txt, content: "one\ntwo\n"}]}
    mock:
      output: I fixed it.
      usage: {turns: 3, input_tokens: 12000, output_tokens: 345, cost: 0.0345}
      files: [{path: a.txt, content: "one\n\t2\n"}]
      tool_calls:
        - {name: bash, arguments: {command: make all}, result: "##[error]3 tests <passed>"}
        - {name: view, arguments: {path: missing.txt}, result: {why: no such file}, success: false}
    expected: {output_contains: [fixed]}
  - id: two
    name: Explain
    prompt: why
    mock: {output: nothing, files: [{path: n.md, content: "````\n"}],
      tool_calls: [{name: web_fetch, arguments: {url: 'http://x/'}, result: page}]}
    expected: {output_contains: [because]}
YAML
run "$WAZA" run -q -v eval.yaml --reporter junit:r.xml --reporter csv:r.csv \
    --reporter html:r.html --reporter markdown:r.md -o r.json
is 'status 1' 1 "$rc"

# inside FILE.html: the results in a report
inside() {
	sed -n 's/.*class="results"[^>]*>\(.*\)<\/script>.*/\1/p' "$1"
}

# the console
lines() { printf '%s\n' "$out" | sed -n "$1"; }
is 'table: columns' '    task     score  time  calls  tokens     cost' "$(lines '/^    task/p')"
like 'table: tokens and cost' '  ✓ Fix it    1.00 *s      2   12.3k  $0.0345' "$(lines '/^  ✓ Fix it  *1/p')"
like 'table: a known 0' '  ✗ Explain   0.00 *s      1       0  $0.0000' "$(lines '/^  ✗ Explain  *0/p')"
is '-v: the calls of a task that passed' '    tool calls (2):
      ✓ bash (shell) make all => #\#[error]3 tests <passed>
      ✗ view (read) missing.txt [failed] => {"why":"no such file"}' "$(lines '/^    tool calls (2)/,/✗ view/p')"
is '-v: its patch' '    patch:
      │ diff --git a/a.txt b/a.txt
      │ --- a/a.txt
      │ +++ b/a.txt
      │ @@ -1,2 +1,2 @@
      │  one
      │ -two
      │ +    2' "$(lines '/^    patch/,/+    2/p; /+    2/q')"
is '-v: the calls of a task that failed' '      ✓ web_fetch (fetch) http://x/ => page' "$(lines '/web_fetch/p')"
like 'the usage of the run' '*usage: 12,000 tokens in, 345 out, 3 turns, cost $0.0345*' "$out"
run "$WAZA" run -q eval.yaml
like 'without -v: no calls' '*
FAILED  results: .waza/results/work-*.json' "$out"
is 'without -v: no patch' '' "$(lines '/tool calls\|patch/p')"

# files
like 'csv: columns' '*,output,tool_calls,input_tokens,output_tokens,cost,saved_cost,skills_ref' "$(head -n 1 r.csv)"
is 'csv: numbers' 'I fixed it.",2,12000,345,0.0345,0,""
nothing",1,0,0,0,0,""' "$(sed -n 's/.*,"\(I fixed\)/\1/p; s/.*,"\(nothing\)/\1/p' r.csv)"
ok 'junit: calls' grep -q '^view (read) missing.txt \[failed\] =&gt; {&quot;why&quot;' r.xml
ok 'junit: patch' grep -q '^+++ b/a.txt$' r.xml
ok 'markdown: calls are collapsed' grep -q '^<details><summary>tool calls (2)</summary>$' r.md
ok 'markdown: the patch is a diff' grep -q '^```diff$' r.md
ok 'markdown: the fence is longer than those of the patch' grep -q '^`````diff$' r.md
ok 'markdown: usage' grep -q '^- Usage: 12,000 tokens in' r.md
# the HTML report is the page with the results inside
inside r.html >inside.json
"$WAZA" parse r.json >whole.json
"$WAZA" parse inside.json >part.json
ok 'html: contains the results' cmp -s whole.json part.json
is 'html: results cannot end their element' '' "$(tr -d '\n' <inside.json | grep -o '[<#]')"
is 'html: loads nothing' '' "$(grep -oE '(src|href)="[^#][^"]*"|url\([^)]*\)|@import' r.html)"
policy=$(sed -n 's/.*http-equiv="Content-Security-Policy" content="\([^"]*\)".*/\1/p' r.html)
like 'html: the policy forbids all but its own scripts and style' \
    "default-src 'none'; script-src 'sha256-*' 'sha256-*'; style-src 'sha256-*'; base-uri 'none'*" "$policy"
is 'html: the policy has no exception' '' "$(echo "$policy" | grep -oE 'unsafe|http|[*]|data:|blob:|self')"
is 'html: one document' '<!doctype html> </html>' "$(sed -n '1p; $p' r.html | tr '\n' ' ' | sed 's/ $//')"

ln -s target.csv link.csv
run "$WAZA" run -q eval.yaml --reporter csv:link.csv
ok 'a link is not replaced' test -L link.csv
is 'the target of a link has the report' 3 "$(wc -l <target.csv | tr -d ' ')"

# an agent that does not report everything
cat >agent.sh <<'SH'
read -r p
case $p in
go) echo '{"output":"go","usage":{"turns":1,"input_tokens":1200,"output_tokens":3,"cost":0.02},"tool_calls":[{"name":"bash","arguments":{"command":"ls"}}]}' ;;
*) echo '{"output":"stay"}' ;;
esac
SH
cat >unknown.yaml <<YAML
name: unknown
skill: s
config: {executor: command, command: 'sh $tmp/agent.sh', output_format: json}
tasks:
  - {id: a, prompt: go, expected: {output_contains: [go]}}
  - {id: b, prompt: stay, expected: {output_contains: [stay]}}
YAML
run "$WAZA" run -q unknown.yaml --reporter csv:r.csv
like 'unknown: the table shows dashes, not 0' '*
  ✓ a      1.00 *s      1    1.2k  $0.0200
  ✓ b      1.00 *s      –       –        –
*' "$out"
is 'unknown: empty cells' '1,1200,3,0.02,0,""
,,,,,""' "$(sed -n 's/.*,"go",//p; s/.*,"stay",//p' r.csv)"

# judges, the cache
cat >judge.yaml <<'YAML'
name: judged
skill: s
config:
  executor: mock
  judge: {executor: mock, mock: {output: '{"passed": true, "score": 1}', usage: {turns: 1, input_tokens: 70, output_tokens: 5, cost: 0.5}}}
tasks:
  - id: a
    prompt: p
    mock: {output: x, usage: {turns: 2, input_tokens: 1000, output_tokens: 10, cost: 0.25}}
    graders: [{type: prompt, name: q, prompt: good?}]
YAML
run "$WAZA" run -q judge.yaml -o r.json
like 'the usage of judges is separate' '*
usage: 1,000 tokens in, 10 out, 2 turns, cost $0.2500
usage of judges: 70 tokens in, 5 out, 1 turns, cost $0.5000
*' "$out"
"$WAZA" parse r.json >r
like 'results: the trial' '*"judge_usage":{"turns":1,"input_tokens":70,*"usage":*' "$(sed 's/.*"grading_ms"//' r)x\"usage\":"
like 'results: the summary' '*"usage":{"turns":2,"input_tokens":1000,*"judge_usage":{"turns":1,"input_tokens":70,*"metrics"*' "$(cat r)"
run "$WAZA" run -q judge.yaml -o r.json --resume
like 'resume: both are kept' '*cost $0.2500
usage of judges: 70 tokens in*' "$out"
run "$WAZA" run -q judge.yaml --cache --cache-all --cache-dir c
run "$WAZA" run -q judge.yaml --cache --cache-all --cache-dir c -o r.json
like 'cached: costs nothing, and had cost' '*$0.0000  had cost $0.2500*
saved (cached or replayed): 1,070 tokens in, 15 out, 3 turns, cost $0.7500
*' "$out"
is 'cached: nothing else was used' '' "$(lines '/^usage/p')"
ok 'cached: the summary' grep -q '"usage": {"turns":0,"input_tokens":0,' r.json

# one meaning of duration: the mean of the agent's time
cat >slow.yaml <<'YAML'
name: slow
skill: s
config: {executor: mock, trials_per_task: 2, workers: 1}
tasks:
  - {id: a, prompt: p, mock: {output: p, delay_ms: 150}, expected: {output_contains: [p]}}
YAML
run "$WAZA" run slow.yaml --reporter html:r.html -o r.json
ms=$(sed -n 's/.*"avg_duration_ms":\([0-9]*\).*/\1/p' r.json)
ok 'duration: the mean, not the sum' test "$ms" -ge 150 -a "$ms" -lt 290
like 'duration: table' "*trials  score  avg time
  ✓ a        2/2   1.00     ${ms}ms
*" "$out"
like 'duration: progress' "*1.00  ${ms}ms*" "$err"
ok 'duration: HTML' grep -q "\"avg_duration_ms\":$ms" r.html
done_testing
