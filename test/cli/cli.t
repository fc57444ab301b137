# Usage of commands: help, options, parse and match.
. "${0%/*}/../tool/lib.sh"

run "$WAZA" --version
ok '--version: status 0' [ "$rc" -eq 0 ]
like '--version prints the version' 'waza [0-9]*.[0-9]*' "$out"
run "$WAZA"
is 'no command: status' 2 "$rc"
is 'no command: nothing on stdout' '' "$out"
like 'no command: usage and the next steps on stderr' 'usage: waza COMMAND*waza init*waza run*waza help*' "$err"
ok 'no command: a few lines' [ "$(wc -l <"$tmp/err")" -le 6 ]
run "$WAZA" prase
is 'misspelt command: status' 2 "$rc"
is 'misspelt command: message' \
    'waza: unknown command "prase" (did you mean "parse"?); "waza help" lists the commands' "$err"
run "$WAZA" parse --prety x.json
is 'misspelt option: status' 2 "$rc"
is 'misspelt option: message' \
    'usage: waza parse [--yaml|--json] [--pretty] [FILE|-]
waza: unknown option "--prety" (did you mean "--pretty"?); see "waza help parse"' "$err"
run "$WAZA" parse -z
is 'unknown short option' 'waza: unknown option "-z"; see "waza help parse"' "$(tail -n 1 "$tmp/err")"
run "$WAZA" parse --pretty=yes
is 'a value for a flag' 'waza: --pretty is true or false, not "yes"; see "waza help parse"' "$(tail -n 1 "$tmp/err")"
run "$WAZA" parse a b
is 'one argument too many' 'waza: unexpected argument: b; see "waza help parse"' "$(tail -n 1 "$tmp/err")"
run "$WAZA" match
is 'an argument is missing' 'waza: missing argument: PATTERN; see "waza help match"' "$(tail -n 1 "$tmp/err")"
is 'an argument is missing: status' 2 "$rc"
run "$WAZA" help
is 'help: status' 0 "$rc"
is 'help: nothing on stderr' '' "$err"
is 'help: by purpose' 'Run: Results: Suites and skills: Server: Tools:' \
    "$(printf '%s\n' "$out" | grep '^[A-Z].*:$' | paste -sd ' ' -)"
run "$WAZA" help match
like 'help match: usage' 'Find a regular expression in a text.*usage: waza match*' "$out"
run "$WAZA" match --help
like 'match --help: the same' 'Find a regular expression in a text.*usage: waza match*' "$out"
run "$WAZA" parse --pretty --help x
like 'help after other options' 'Print YAML or JSON as JSON.*usage: waza parse*' "$out"
run "$WAZA" --verison
is 'misspelt first option: status' 2 "$rc"
is 'misspelt first option: message' 'waza: unknown option "--verison" (did you mean "--version"?); "waza help" lists the commands' "$err"
run "$WAZA" help nonsense
is 'help of an unknown command: status 2' 2 "$rc"

# parse
printf 'a: 1\nb: [x, "y"]\n' >"$tmp/x.yaml"
printf '{"a":1,\n "b":[0.10,1E3],"c":"\\u00e9"}' >"$tmp/x.json"
run "$WAZA" parse "$tmp/x.yaml"
is 'YAML by name' '{"a":1,"b":["x","y"]}' "$out"
run "$WAZA" parse "$tmp/x.json"
is 'JSON by name, numbers as spelt' '{"a":1,"b":[0.10,1E3],"c":"é"}' "$out"
run "$WAZA" parse --pretty "$tmp/x.yaml"
is 'pretty' '{
  "a": 1,
  "b": [
    "x",
    "y"
  ]
}' "$out"
out=$(printf 'a\n---\n- b\n' | "$WAZA" parse -)
is 'several documents, one per line' '"a"
["b"]' "$out"
out=$(printf '[1,2]' | "$WAZA" parse --json)
is 'standard input is the default' '[1,2]' "$out"
out=$(printf '' | "$WAZA" parse | wc -c | tr -d ' ')
ok 'empty YAML' [ "$out" -le 5 ]
printf 'a: 1\n\tb: 2\n' >"$tmp/bad.yaml"
run "$WAZA" parse "$tmp/bad.yaml"
is 'bad YAML: status' 2 "$rc"
is 'bad YAML: nothing on stdout' '' "$out"
like 'bad YAML: place' "$tmp/bad.yaml:2:1: ?*" "$err"
printf '{"a":\n  tru}' >"$tmp/bad.json"
run "$WAZA" parse "$tmp/bad.json"
is 'bad JSON: status' 2 "$rc"
is 'bad JSON: nothing on stdout' '' "$out"
is 'bad JSON: place' "$tmp/bad.json:2:3: expected a value" "$err"
for number in .inf -.Inf +.INF .nan .NaN
do
	printf 'a: 1\n---\nb:\n- {c: "%s", d: %s}\n' "$number" "$number" >"$tmp/inf.yaml"
	run "$WAZA" parse "$tmp/inf.yaml"
	is "$number is not JSON" "2 $tmp/inf.yaml:4:$((14 + ${#number})): JSON has no number $number (quote it if it is text)" \
	    "$rc $out$err"
done
printf '\357\273\277{"a":\n1}' >"$tmp/mark.json"
run "$WAZA" parse "$tmp/mark.json"
is 'JSON with a byte order mark' '0 {"a":1}' "$rc $out$err"
run "$WAZA" parse --json - <"$tmp/mark.json"
is 'JSON with a byte order mark, from stdin' '0 {"a":1}' "$rc $out$err"
printf '\357\273\277{"a" 1}' >"$tmp/mark.json"
run "$WAZA" parse "$tmp/mark.json"
like 'JSON with a byte order mark: place of an error' "$tmp/mark.json:1:6: *" "$err"
printf 'ok: 1\n---\n{' | "$WAZA" parse - >"$tmp/out" 2>/dev/null
is 'a bad second document: nothing on stdout' '' "$(cat "$tmp/out")"
run "$WAZA" parse "$tmp/none.yaml"
is 'missing file: status' 2 "$rc"
like 'missing file: message' "waza: $tmp/none.yaml: No such file*" "$err"
run "$WAZA" parse "$tmp"
is 'a directory: status' 2 "$rc"
like 'a directory: message' '*directory*' "$err"
run "$WAZA" parse --yaml --json "$tmp/x.json"
is '--yaml and --json together: status 2' 2 "$rc"
if [ -c /dev/full ]
then
	"$WAZA" parse "$tmp/x.json" >/dev/full 2>"$tmp/err"
	is 'a full disk: status 2' 2 $?
	is 'a full disk: message' 'waza: cannot write to standard output: No space left on device' "$(cat "$tmp/err")"
else
	skip 'no /dev/full here'
fi

# closed descriptors are errors
rc=0
printf 'a: 1\n' | "$WAZA" parse 2>"$tmp/err" >&- || rc=$?
is 'closed output: status' 2 "$rc"
like 'closed output: message' 'waza: cannot write to standard output: Bad file*' "$(cat "$tmp/err")"
run sh -c '"$WAZA" parse <&-'
is 'closed input: status' 2 "$rc"
is 'closed input: nothing on stdout' '' "$out"
like 'closed input: message' 'waza: *: Bad file*' "$err"
run sh -c '"$WAZA" match "a*" <&-'
is 'match, closed input: status' 2 "$rc"
is 'match, closed input: nothing on stdout' '' "$out"
if [ -z "${WRAP-}" ]
then
	rc=0
	out=$("$WAZA" parse "$tmp/x.yaml" <&- 2>&-) || rc=$?
	is 'closed but unused: status 0' 0 "$rc"
	is 'closed but unused: output' '{"a":1,"b":["x","y"]}' "$out"
else
	skip "closed descriptors are $WRAP's, too"
fi

# match
printf 'say hello, world' >"$tmp/t"
run "$WAZA" match 'h(el+)o' "$tmp/t"
is 'match' '4-9' "$out"
run "$WAZA" match -g '(h)(x)?(el+)o' "$tmp/t"
is 'groups' '4-9,4-5,-,5-8' "$out"
run "$WAZA" match nothing "$tmp/t"
is 'no match: status' 1 "$rc"
is 'no match: no output' '' "$out$err"
run "$WAZA" match 'a(b' "$tmp/t"
is 'bad pattern: status' 2 "$rc"
is 'bad pattern: nothing on stdout' '' "$out"
like 'bad pattern: place' 'pattern:1:[0-9]*: ?*' "$err"
out=$(printf 'x\303\251y' | "$WAZA" match '\pL\pL' -)
is 'standard input, UTF-8' '0-3' "$out"
out=$(printf 'abc' | "$WAZA" match -- '-|b')
is 'a pattern after --' '1-2' "$out"
# commands of the original that are not here
for c in adversarial dev get migrate preflight registry replay spec update
do
	run "$WAZA" "$c" x
	is "$c: exit 2" 2 "$rc"
	like "$c: the message says what to do instead" \
	    "waza: \"$c\" is not a command here: ?*" "$err"
done
run "$WAZA" help migrate
is 'help for such a word: exit 0' 0 "$rc"
like 'help for such a word' '*waza validate*' "$out"
done_testing
