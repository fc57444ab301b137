# The original's example suites, under mock, with the scores it gives them.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
wild=$CORPUS/waza-wild/microsoft__waza@upstream-examples/examples
[ -d "$wild" ] || skip_all 'no suites from the wild here'

# take SUITE: copy it without the other files beside each YAML file
take() {
	cp -R "$wild/$1" "$1"
	chmod -R u+w "$1"
	find "$1" -name '*.yaml.json' -exec rm {} +
}

# scores FILE: "task status score", scores with six decimals
scores() {
	"$WAZA" parse "$1" | tr '{' '\n' | awk -F'"' '
		/"test_id":/ { for (i = 1; i < NF; i++) {
			if ($i == "test_id") id = $(i + 2)
			if ($i == "status") st = $(i + 2) } }
		/"pass_rate":/ { for (i = 1; i < NF; i++) if ($i == "avg_score") {
			v = $(i + 1); gsub(/[:,]/, "", v); printf "%s %s %.6f\n", id, st, v } }'
}

take code-explainer
run "$WAZA" run -q -o a.json code-explainer
is 'code-explainer: status' 0 "$rc"
is 'code-explainer: scores' 'explain-js-async-001 passed 1.000000
explain-list-comprehension-001 passed 1.000000
explain-python-recursion-001 passed 1.000000
explain-sql-join-001 passed 1.000000' "$(scores a.json)"
like 'code-explainer: triggers' '*"true_positives":7,"false_positives":0,"true_negatives":7,"false_negatives":0*"accuracy":1*' \
    "$("$WAZA" parse a.json)"
like 'expectations on the echo of a prompt are a warning and do not count' \
    '*"_output_contains":{*"passed":false,*"advisory":true}*' "$("$WAZA" parse a.json)"
like 'missing input files are named' '*fetch_user.js*does not exist*' "$err"

take grader-showcase
run "$WAZA" run -q -o b.json grader-showcase
is 'grader-showcase: status' 1 "$rc"
is 'grader-showcase: scores' 'action-sequence-demo-001 failed 0.666667
behavior-demo-001 failed 0.944444
code-demo-001 failed 0.958333
file-demo-001 failed 0.722222
regex-demo-001 failed 0.916667
skill-invocation-001 failed 0.500000' "$(scores b.json)"
is 'grader-showcase: aggregate' 0.784722 "$("$WAZA" parse b.json |
    sed 's/.*"aggregate_score":\([0-9.]*\).*/\1/' | awk '{ printf "%.6f", $1 }')"
done_testing
