# Totals of tokens and cost: all attempts count, a total that lacks a trial says so, and
# cached or replayed answers cost nothing and tell what they had cost.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# member NAME: the object of that name in the results
member() {
	"$WAZA" parse r.json | grep -o "\"$1\":{[^}]*}" | tail -n 1
}
# summed NAME: that of the summary
summed() {
	"$WAZA" parse r.json | grep -o '"summary":{.*"metrics":' | grep -o "\"$1\":{[^{}]*\({[^{}]*}\)\{0,1\}[^{}]*}" | head -n 1
}
cat >say <<'SH'
#!/bin/sh
# the second task reports nothing; the cost of the first is known at its first attempt
case $WAZA_TASK_ID.$WAZA_ATTEMPT in
a.*) echo '{"output":"hello '"$WAZA_ATTEMPT"'","tool_calls":[],"usage":{"turns":1,"input_tokens":1000,"output_tokens":50,"cached_input_tokens":200,"reasoning_tokens":0,"cost":0.5}}' ;;
b.*) echo '{"output":"hello","tool_calls":[]}' ;;
esac
SH
chmod +x say
suite() {
	cat <<YAML
name: e
skill: s
config: {executor: command, command: [$tmp/say], output_format: json, max_attempts: 3, timeout_seconds: 60}
tasks:
YAML
	for id
	do echo "  - {id: $id, prompt: x, graders: [{type: text, name: t, config: {contains: ['${want:-hello}']}}]}"
	done
}

want='hello 3' suite a >e.yaml
run "$WAZA" run -o r.json --reporter csv:r.csv e.yaml
is 'three attempts: status' 0 "$rc"
like 'three attempts: the total' '*"turns":3,"input_tokens":3000,"output_tokens":150,"cache_read_tokens":600,*"cost":1.5,*' "$(summed usage)"
like 'three attempts: the last one' '*"turns":1,"input_tokens":1000,"output_tokens":50,*"cost":0.5,*' "$(member usage)"
like 'three attempts: the earlier ones' '*"turns":2,"input_tokens":2000,"output_tokens":100,*"cost":1,*' "$(member earlier_usage)"
like 'three attempts: the report' '*3.1k*$1.5000*usage: 3,000 tokens in, 150 out, 3 turns, cost $1.5000*' "$out"
is 'three attempts: the total is complete' '' "$(grep -o unknown_trials r.json)"
like 'three attempts: CSV' '*,3000,150,*1.5*' "$(cat r.csv)"
sed 's/name: t/name: u/' e.yaml >g.yaml
run "$WAZA" grade -o r.json --results r.json g.yaml
like 'graded again: the total' '*"turns":3,"input_tokens":3000,*"cost":1.5,*' "$(summed usage)"
like 'graded again: the report' '*usage: 3,000 tokens in*' "$out"
sed 's/{type: text.*]}}/{type: behavior, name: b, config: {max_tokens: 1050}}/' e.yaml >g.yaml
run "$WAZA" grade -q -o r.json --results r.json g.yaml
is 'limits see the last attempt' 0 "$rc"

suite a b >e.yaml
run "$WAZA" run -o r.json --reporter markdown:r.md --reporter html:r.html --reporter csv:r.csv e.yaml
like 'a trial that reports nothing: the summary' '*"input_tokens":1000,*"unknown_trials":{"turns":1,"input_tokens":1,"output_tokens":1,"cached_input_tokens":1,"reasoning_tokens":1,"cost":1}}' "$(summed usage)"
like 'a trial that reports nothing: the report' '*usage: at least 1,000 tokens in, 50 out, at least 1 turns, cost at least $0.5000*' "$out"
like 'a trial that reports nothing: Markdown' '*at least 1,000 tokens in, 50 out, at least 1 turns, cost at least *0.5000*' "$(cat r.md)"
like 'a trial that reports nothing: HTML' '*"unknown_trials":{"turns":1,"input_tokens":1,*' "$(cat r.html)"
like 'a trial that reports nothing: its cells in CSV are empty' '*,0,,,,*' "$(grep '"b","b"' r.csv)"
mv r.json s.json
run "$WAZA" grade -o r.json --results s.json e.yaml
like 'graded again, the total still says so' '*usage: at least 1,000 tokens*' "$out"

suite a >e.yaml
run "$WAZA" run -q --cache -o r.json e.yaml
run "$WAZA" run --cache -o r.json e.yaml
like 'a cached run costs nothing, which is known' '*"turns":0,"input_tokens":0,"output_tokens":0,*"cost":0,*' "$(summed usage)"
is 'a cached run: nothing is unknown' '' "$(grep -o '"unknown' r.json)"
like 'a cached run: what it had cost' '*"turns":1,"input_tokens":1000,*"cost":0.5,*' "$(summed saved_usage)"
like 'a cached run: the report' '*saved (cached or replayed): 1,000 tokens in, 50 out, 1 turns, cost $0.5000*' "$out"
run "$WAZA" run -q --record rec -o r.json e.yaml
run "$WAZA" run --replay rec -o r.json e.yaml
like 'a replayed run costs nothing, which is known' '*"turns":0,"input_tokens":0,"output_tokens":0,*"cost":0,*' "$(summed usage)"
like 'a replayed run: what it had cost' '*"input_tokens":1000,*"cost":0.5,*' "$(summed saved_usage)"
done_testing
