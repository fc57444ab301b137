# Text of suites, agents and peers does not become a command in the log of a CI
# system: "##[", "##vso[", "##teamcity[" anywhere, "::" at the start of a line.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LC_ALL=C.UTF-8
export LC_ALL

zwsp=$(printf '\342\200\213') shy=$(printf '\302\255') vs=$(printf '\357\270\217')
# commands FILE: print each line that a CI system could obey.  Some of them
# ignore control characters and others without a width.
commands() {
	tr '\r\013\014' '\n\n\n' <"$1" | sed "s/$zwsp//g; s/$shy//g; s/$vs//g" |
	    LC_ALL=C tr -d '\000-\010\016-\037\177' |
	    LC_ALL=C grep -inE '##(vso|teamcity)?\[|^(\[[0-9;]*m|[[:space:]])*::'
}
# safe NAME FILE: the file has none, but it has the text between them
safe() {
	is "$1: no command" '' "$(commands "$2" | head -3)"
	is "$1: the text is there" yes "$(grep -q 'N4m3' "$2" && echo yes)"
}

# text PREFIX: all variants as a YAML string
text() {
	printf '"%s N4m3 ##vso[task.x]y #\\u200B#vso[a] #\\xAD#\\uFE0F[b] ##teamcity[c] ##TeamCity[d]' "$1"
	printf ' ###[e] #\\x01#vso[f] ##vs\\u2060o[g]\\n::error::N4m3\\n  ::h::\\r::i::'
	printf '\\n\\u200B::j::\\n:\\u200B:k::\\n\\t\\u00A0::l::\\n\\e[31m::m::\\n::n"'
}
cat >agent.sh <<'SH'
printf 'N4m3 ##vso[task.x]y\n::error::out\n'
printf 'N4m3 ##vso[task.x]y\n::error::err\n' >&2
exit 3
SH
cat >eval.yaml <<YAML
name: $(text suite)
skill: $(text skill)
config: {executor: mock, mock: {output: $(text answer), tool_calls: [{name: $(text tool), result: $(text result)}], files: [{path: '##vso[N4m3]', content: $(text file)}]}}
graders:
  - {type: text, name: $(text grader), config: {contains: [zzz, $(text check)]}}
  - {type: program, name: p, config: {command: sh, args: [-c, "cat; exit 1"]}}
tasks:
  - {id: "##vso[N4m3]", name: $(text task), prompt: $(text prompt)}
  - {id: b, name: "::N4m3", prompt: x, mock: {error: $(text wrong)}}
YAML

is 'the oracle finds them' 3 "$(printf 'a ##vso[x]\nb\n :%s:x\n#\001#[c]\n' "$zwsp" >o; commands o | wc -l | tr -d ' ')"
run "$WAZA" run eval.yaml -o r.json
is 'status' 1 "$rc"
safe 'report' out
safe 'progress' err
is 'the results file is exact' yes "$(grep -q 'N4m3 ##vso\[task.x\]y' r.json && echo yes)"
like 'a backslash breaks it up' '*N4m3 #\\#vso[[]task.x[]]y*' "$(cat out)"
run "$WAZA" run -v eval.yaml
safe 'verbose report' out
safe 'verbose progress' err
for kind in csv html junit markdown tap
do
	run "$WAZA" run -q --reporter $kind:- eval.yaml
	safe "$kind on stdout" out
	"$WAZA" run -q --reporter $kind:/dev/stdout eval.yaml 2>/dev/null | cat >pipe
	safe "$kind on a pipe" pipe
done
run "$WAZA" run -q --reporter csv:f.csv eval.yaml
is 'a file of CSV is exact' yes "$(grep -q 'N4m3 ##vso\[task.x\]y' f.csv && echo yes)"
run "$WAZA" run -q --reporter github eval.yaml
grep -v '^::error file=eval.yaml,' out >others
safe 'github' others
is 'the annotations are there' 2 "$(grep -c '^::error file=eval.yaml,' out)"
is 'annotations: no other command' '' "$(sed 's/^:://' out >o; commands o)"
run "$WAZA" run -q --stream-json eval.yaml
safe 'events' out
is 'events: the value is unchanged' yes \
    "$(sed 's/\\u0023/#/g' out | grep -q 'N4m3 ##vso\[task.x\]y' && echo yes)"
mkfifo fifo
cat fifo >pipe &
"$WAZA" run -q -o fifo eval.yaml >/dev/null
wait $!
is 'no journal beside a pipe' fifo "$(ls fifo*)"
"$WAZA" run -q -o /dev/stdout eval.yaml | cat >pipe
safe 'results on a pipe' pipe

sed "s|executor: mock.*|executor: command, command: [sh, $tmp/agent.sh]}|; /type: program/d" eval.yaml >c.yaml
run "$WAZA" run -v c.yaml -o c.json
safe 'a failing agent: report' out
safe 'a failing agent: progress' err

# other commands
sed 's/zzz, .*/N4m3]}}/; /type: program/d' eval.yaml >p.yaml
run "$WAZA" run -q p.yaml -o p.json
for args in 'parse r.json' 'parse --pretty eval.yaml' 'list .' 'list --format json .' \
    'compare p.json r.json' 'compare --format json p.json r.json' \
    'compare --format markdown p.json r.json' 'gate --baseline p.json --current r.json' \
    'gate --baseline p.json --current r.json --format json' 'grade --results r.json eval.yaml' \
    'grade --results r.json --format json eval.yaml'
do
	# shellcheck disable=SC2086 # words
	run "$WAZA" $args
	cat out err >both
	safe "$args" both
done
run "$WAZA" gate --baseline p.json --current r.json --format github-actions
sed 's/^:://' out >o
is 'gate for GitHub: no other command' '' "$(commands o)"

printf '"::N4m3 ##vso[x]": 1\n"N4m3\\e[31m": 2\nname: n\ntasks: [{id: a, prompt: p, graders: [{type: "##[N4m3]"}]}]\n' >bad.yaml
for args in 'run bad.yaml' 'validate bad.yaml' 'validate --format json bad.yaml'
do
	# shellcheck disable=SC2086 # words
	run "$WAZA" $args
	cat out err >both
	safe "$args" both
	is "$args: no escape sequence" '' "$(LC_ALL=C grep -c "$(printf '\033')" both | grep -v '^0')"
done
printf '{"const": 1}' >schema.json
printf '{"::N4m3 ##vso[x]": 2}' >v.json
printf '{"properties": {"::N4m3 ##vso[x]": {"const": 1}}}' >schema.json
run "$WAZA" schema-check schema.json v.json
cat out err >both
safe 'schema-check' both
done_testing
