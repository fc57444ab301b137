# The reason of a verdict or an error is whole: in results up to 64 KiB, on a
# pipe up to 4 KiB, wrapped on a terminal.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# words N: print the numbers from 1 to N and the word "end" on one line
words() {
	awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) printf "%d ", i; print "end" }'
}
words 500 >short
words 1500 >long
words 20000 >huge

# suite FILE: a program whose reason is the file, and an agent with that error
suite() {
	cat >e.yaml <<YAML
name: reasons
skill: s
config: {executor: mock}
tasks:
  - id: a
    prompt: p
    graders: [{type: program, name: g, config: {command: sh, args: [-c, "cat $tmp/$1 >&2; exit 1"]}}]
  - id: b
    prompt: p
    mock: {error: "wrong: $(cat "$1")"}
    graders: [{type: text, config: {contains: [x]}}]
YAML
	run "$WAZA" run -o r.json e.yaml
}

suite short
like 'a short reason is whole in results' '*exit status 1; stderr: 1 2 3 *499 500 end"*' "$(grep -o '"feedback":"[^"]*"' r.json | head -1)"
like 'and the reason of an error' '*"error_msg":"wrong: 1 2 3 *499 500 end"*' "$(cat r.json)"
like 'and in the progress' '*agent_error: wrong: 1 2 3 *499 500 end*' "$err"
like 'and in the report' '*exit status 1; stderr: 1 2 3 *499 500 end*' "$out"
suite long
like 'a longer one is whole in results' '*stderr: 1 2 3 *1499 1500 end"*' "$(grep -o '"feedback":"[^"]*"' r.json | head -1)"
like 'and the reason of an error' '*"error_msg":"wrong: 1 2 3 *1499 1500 end"*' "$(cat r.json)"
like 'the progress has 4 KiB of it' '*agent_error: wrong: 1 2 3 *900 *more bytes)*' "$err"
like 'the report has 4 KiB and the rest is counted' '*stderr: 1 2 3 *900 *(*more bytes)*' "$out"
is 'not more' '' "$(grep -o ' 1499 1500 end' out)"
is 'its lines are not cut at 80 columns' yes "$(awk 'length > 4000 { print "yes"; exit }' out)"
run "$WAZA" run -v e.yaml
like 'nor is the progress' '*stderr: 1 2 3 *800 *more bytes)*' "$err"
suite huge
like 'a huge one has 60 KiB, and the rest is counted' '*stderr: 1 2 3 *12000 *... (* more bytes)"*' "$(grep -o '"feedback":"[^"]*"' r.json | head -1)"

like 'of a huge error, 64 KiB' '*"error_msg":"wrong: 1 2 3 *12000 *... (* more bytes)"*' "$(cat r.json)"

# an error of the grader is in the feedback, too
sed 's/exit 1"/kill -9 $$"/' e.yaml >k.yaml
run "$WAZA" run -q -o k.json k.yaml
like 'an error of a grader is in the feedback' '*"feedback":"program sh: killed by signal 9*"error":"program sh: killed by signal 9*' \
    "$("$WAZA" parse k.json)"

# the original's vector: 5 checks, 5 failures
cat >f.yaml <<'YAML'
name: files
skill: s
config: {executor: mock}
tasks:
  - id: a
    prompt: p
    graders:
      - {type: file, name: g, config: {must_exist: [x], content_patterns: [{path: y, must_match: [m1, m2], must_not_match: [m3]}]}}
YAML
run "$WAZA" run -q -o f.json f.yaml
is 'every failed check is in details.failures' 5 \
    "$("$WAZA" parse f.json | sed 's/.*"failures":\[\([^]]*\)\].*/\1/; s/","/"\n"/g' | grep -c '')"
like 'score' '*"score":0,"weight":1,"passed":false*' "$("$WAZA" parse f.json)"

# a path is shortened in its middle; the reason stays
deep=$(words 60 | tr -d ' \n')/$(words 70 | tr ' ' x | tr -d '\n')
mkdir -p "$deep"
run "$WAZA" parse "$deep/gone.yaml"
like 'a long path: the reason is there' '*No such file or directory; check the path' "$err"
is 'a long path is whole' "waza: $deep/gone.yaml: No such file or directory; check the path" "$err"
run "$WAZA" parse "$deep/$deep/$deep/gone.yaml"
like 'a longer path lacks its middle' 'waza: 12345*...*/gone.yaml: No such file or directory; check the path' "$err"
TMPDIR=$tmp/$deep
export TMPDIR
run "$WAZA" run -q f.yaml
is 'a run with a long TMPDIR' 1 "$rc"
done_testing
