# Assertions of code graders: in process, and by an interpreter.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir empty fake tmp
TMPDIR=$tmp/tmp
export TMPDIR

# suite [MOCK]: one grader, with the settings on stdin
suite() {
	cat <<YAML
name: code
skill: s
config: {executor: mock, mock: ${1:-$usual}}
graders:
  - type: code
    name: c
    config: {$(cat)}
tasks: [{id: a, prompt: p}]
YAML
}
usual='{output: "Hello World\nDone in 3 steps"}'

# verdict KEY FILE: of the only grader
verdict() {
	"$WAZA" parse "$2" | sed 's/.*"validations":{"c":{\(.*\)"session_digest".*/\1/' |
	    sed "s/.*\"$1\":\\(\"\\([^\"\\\\]\\|\\\\.\\)*\"\\|[^,}]*\\).*/\\1/"
}

# graded [MOCK]: as suite; leaves r.json; $path is where interpreters are
graded() {
	suite "$@" >e.yaml
	run env PATH="$path" "$WAZA" run -q -o r.json e.yaml
}
path=$PATH

path=$tmp/empty
graded <<'Y'
assertions: ["len(output) > 3", "'Hello' in output", "any(w in output.lower() for w in ['hello', 'x'])", "output.splitlines()[1].split()[-2] == '3'", "re.search(r'in \\d+ steps', output)", "duration_ms < 60000 and not errors", "outcome.get('status') == 'completed'", "len([t for t in transcript if t.get('type') == 'x']) == 0"]
Y
path=$PATH
is 'assertions of suites need no interpreter' 0 "$rc"
is 'all assertions pass: score 1' 1 "$(verdict score r.json)"

graded <<'Y'
assertions: ["'zzz' in output", "len(output) > 1", "1 / 0", "unknown > 1"]
Y
is 'failed: status' 1 "$rc"
is 'failed: score' 0.25 "$(verdict score r.json)"
is 'failed: feedback' \
    '"Failed: '"'zzz'"' in output (output is \"Hello World\\nDone in 3 steps\"); Failed: 1 / 0: division by zero; Failed: unknown > 1: name '"'unknown'"' is not defined"' \
    "$(verdict feedback r.json)"
like 'failed: details' '*"details":{"total_assertions":4,"passed_assertions":1,"failures":[[]"Failed: *' "$("$WAZA" parse r.json)"

graded '{output: "an error", tool_calls: [{name: bash, arguments: {command: ls -la}}]}' <<'Y'
assertions: ["tool_calls[0]['name'] == 'bash'", "tool_calls[0]['arguments']['command'].startswith('ls')", "tool_calls[0]['arguments']['path'] == ''", "tool_calls[0]['success']", "len(errors) == 1"]
Y
is 'assertions on tool calls, arguments and errors' '0 1' "$rc $(verdict score r.json)"
graded '{output: x, tool_calls: [{name: a, arguments: [1, 2], result: {n: 3}}, {name: b, arguments: "ls", result: "a\nb"}]}' <<'Y'
assertions: ["tool_calls[0]['arguments'][1] == 2", "tool_calls[0]['result']['n'] == 3", "tool_calls[1]['arguments'] == 'ls'", "tool_calls[1]['result'].splitlines() == ['a', 'b']"]
Y
is 'assertions on arguments that are not objects, and on results' '0 1' "$rc $(verdict score r.json)"

# invalid settings
for s in 'assertions: []' 'language: python' '{}'
do
	echo "$s" | sed 's/^{}$//' >settings
	graded <settings
	is "$s: status" 2 "$rc"
	like "$s: words" '*e.yaml:5:5: *checks nothing*' "$err"
done
graded <<'Y'
assertions: ["  "]
Y
like 'an empty assertion' '*e.yaml:7:27: *empty assertion*' "$err"
graded <<'Y'
assertions: [a], language: pyton
Y
like 'unknown language' '*e.yaml:7:41: *"language" cannot be "pyton"*"python"*' "$err"
graded <<'Y'
assertions: [a], timeout: 99999
Y
like 'timeout too large' '*e.yaml:7:*timeout*' "$err"

# without an interpreter: assertions that need one are reported before the run
path=$tmp/empty
graded <<'Y'
assertions: ["len(output) > 0", "(lambda: True)()"]
Y
path=$PATH
is 'no python3: status' 2 "$rc"
like 'no python3: message' '*e.yaml:7:46: *needs python3, which is not installed (not found in PATH)*' "$err"
path=$tmp/empty
graded <<'Y'
assertions: ["output.length > 0"], language: javascript
Y
path=$PATH
is 'no node: status' 2 "$rc"
like 'no node: message' '*e.yaml:7:*needs node, which is not installed (not found in PATH)*' "$err"

# one child evaluates all assertions that lib/py declines
cat >fake/python3 <<'SH'
#!/bin/sh
echo call >>"$LOG"
cat >"$LOG.in"
printf 'a word of its own\nwaza:true\nwaza:false\n\nwaza:"the text"\n'
SH
chmod +x fake/python3
LOG=$tmp/log
export LOG
path=$tmp/fake:$PATH
graded <<'Y'
assertions: ["(lambda: 1)()", "len(output) > 0", "(lambda: 2)()", "(lambda: 3)()"]
Y
path=$PATH
is 'one child evaluates all assertions' 1 "$(wc -l <log | tr -d ' ')"
is 'the child gets only open assertions' '["(lambda: 1)()","(lambda: 2)()","(lambda: 3)()"]' \
    "$("$WAZA" parse log.in | sed 's/.*"assertions":\(.*\)}/\1/')"
is 'the verdicts of the child count' '1 0.5' "$rc $(verdict score r.json)"
is 'the messages of the child are reported' '"Failed: (lambda: 2)(); Failed: (lambda: 3)(): the text"' "$(verdict feedback r.json)"

# assertions that take long are evaluated in a copy of waza, whose verdicts count
path=$tmp/fake:$PATH
graded <<'Y'
assertions: ["(lambda: 1)()", "len([c for c in 'l' * 90000 if c in output]) == 90000", "len([c for c in 'l' * 90000 if c in output]) == 1", "(lambda: 2)()", "(lambda: 3)()"]
Y
path=$PATH
is 'the child gets what the copy declines' '["(lambda: 1)()","(lambda: 2)()","(lambda: 3)()"]' \
    "$("$WAZA" parse log.in | sed 's/.*"assertions":\(.*\)}/\1/')"
like 'the verdicts of copy and child count' \
    '1 0.4 "Failed: len(* == 1 (*; Failed: (lambda: 2)(); Failed: (lambda: 3)(): the text"' \
    "$rc $(verdict score r.json) $(verdict feedback r.json)"

# interpreters that misbehave
# broken NAME STATUS WORDS: with the body of fake/python3 on stdin
broken() {
	{ echo '#!/bin/sh'; cat; } >fake/python3
	path=$tmp/fake:$PATH
	graded <<'Y'
timeout: 0.3, assertions: ["(lambda: 1)()", "(lambda: 2)()"]
Y
	path=$PATH
	is "$1: status" "$2" "$rc"
	like "$1: words" "$3" "$("$WAZA" parse r.json)"
}
broken 'garbage' 1 '*"error_class":"grader_error"*' <<'SH'
echo 'waza:{"results"'
SH
broken 'too few verdicts' 1 '*no verdict from python3: exit status 0*"error_class":"grader_error"*' <<'SH'
echo waza:true
SH
broken 'too many verdicts' 1 '*"error_class":"grader_error"*' <<'SH'
printf 'waza:true\nwaza:true\nwaza:true\n'
SH
broken 'exit status 3' 1 '*python3: exit status 3: *no such thing*' <<'SH'
echo 'no such thing' >&2
exit 3
SH
broken 'endless output' 1 '*"error_class":"grader_error"*' <<'SH'
yes waza:true
SH
broken 'a child that is killed' 1 '*"error":"assertion *(lambda: 2)()* has no verdict: python3: killed by signal 9"*"error_class":"grader_error"*' <<'SH'
echo waza:false
kill -9 $$
SH
broken 'an unknown reason' 1 '*no verdict from python3*"error_class":"grader_error"*' <<'SH'
echo 'waza:{"limit":"patience"}'
SH
broken 'a child that hangs' 1 '*"error":"assertion *(lambda: 2)()* has no verdict: python3: timed out after 0.3 s; *"error_class":"grader_error"*' <<'SH'
echo waza:true
tail -f /dev/null
SH

# an assertion without a verdict: the error names it, and nothing has failed
# no_verdict NAME WORDS: the settings are on stdin
no_verdict() {
	graded
	is "$1: status, score, passed" '1 0 false' "$rc $(verdict score r.json) $(verdict passed r.json)"
	like "$1: error" "$2" "$(verdict error r.json)"
	like "$1: class" '*"summary":*"failed":0,"errors":1,*"error_class":"grader_error"*' "$("$WAZA" parse r.json)"
}

# what exceeds a limit here is not passed to Python
printf '#!/bin/sh\necho call >>"$LOG"\necho waza:true\n' >fake/python3
rm -f log
path=$tmp/fake:$PATH
while IFS='	' read -r text words
do
	printf 'assertions: ["len(output) > 1", "%s"]\n' "$text" >settings
	no_verdict "$text" "*$words*" <settings
done <<'T'
'a' * 10**9 == output	needs more than 64 MiB of memory
[0] * 10**9	needs more than 64 MiB of memory
10**10**8 > 0	takes more than 16777216 steps
[x for x in 'a' * 10**4 for y in 'a' * 10**4]	needs more than 64 MiB of memory
any(0 for x in [1] * 10**5 for y in [1] * 10**5)	takes more than 16777216 steps
T
path=$PATH
is 'Python is not asked' '' "$(cat log 2>&1 | grep call)"
graded <<Y
assertions: ["$(printf '%0150d' 0 | sed 's/0/(/g')1$(printf '%0150d' 0 | sed 's/0/)/g')"]
Y
is 'nesting beyond the limit: status' 2 "$rc"
like 'nesting beyond the limit: message' '*e.yaml:7:27: *nests deeper than 100 levels*' "$err"

if command -v python3 >/dev/null
then
	no_verdict 'a syntax error' '*assertion *(lambda:* is not valid: *' <<'Y'
assertions: ["(lambda: True)()", "(lambda:"]
Y
	while IFS='	' read -r seconds text words
	do
		printf 'timeout: %s, assertions: ["(lambda: 1)()", "%s", "1 == 2"]\n' "$seconds" "$text" >settings
		no_verdict "$text" "*assertion *$words*" <settings
	done <<'T'
60	(lambda: 'a' * 10**9)()	needs more than 256 MiB of memory; *memory_mb*
60	(lambda: [0] * 10**9)()	needs more than 256 MiB of memory
60	'%1000000000d' % 1	needs more than 256 MiB of memory
60	'{:>1000000000}'.format(1)	needs more than 256 MiB of memory
60	(lambda: 'a' * 10**30)()	too large
60	(lambda f: f(f))(lambda f: f(f))	recurses too deeply
1	(lambda: 10**10**8)()	timed out after 1 s; *timeout*
1	re.search('(a+)+\\\\1b', 'a' * 40)	timed out after 1 s
T
	graded <<'Y'
memory_mb: 600, timeout: 60, assertions: ["(lambda: len('a' * 4 * 10**8))() == 4 * 10**8"]
Y
	is 'memory_mb allows more' '0 1' "$rc $(verdict score r.json)"
	mkdir project
	echo 'graders: {codeMemoryMb: 600}' >project/.waza.yaml
	suite <<'Y' >project/e.yaml
timeout: 60, assertions: ["(lambda: len('a' * 4 * 10**8))() == 4 * 10**8"]
Y
	run "$WAZA" run -q -o r.json project/e.yaml
	is 'codeMemoryMb allows more' '0 1' "$rc $(verdict score r.json)"
	echo 'graders: {codeTimeout: 1}' >project/.waza.yaml
	suite <<'Y' >project/e.yaml
assertions: ["(lambda: 10**10**8)()"]
Y
	run "$WAZA" run -q -o r.json project/e.yaml
	like 'codeTimeout is a limit' '*timed out after 1 s*' "$(verdict error r.json)"
	graded <<'Y'
assertions: ["(lambda: int(float('inf')))()", "(lambda: {}['x'])()"]
Y
	is 'exceptions fail the check' '1 0' "$rc $(verdict score r.json)"
	like 'exceptions are failures' '*"failed":1,"errors":0,*' "$("$WAZA" parse r.json)"
	graded <<'Y'
assertions: ["(lambda: True)()", "(lambda: output)() == output", "any((lambda w: w in output)(w) for w in ['Done'])"]
Y
	is 'python3: passes' '0 1' "$rc $(verdict score r.json)"
	graded <<'Y'
assertions: ["(lambda: 1 / 0)()", "(lambda: open(1))()"]
Y
	is 'python3: fails' '1 0' "$rc $(verdict score r.json)"
	like 'python3: messages' '*division by zero*name '"'open'"' is not defined*' "$(verdict feedback r.json)"
	graded '{output: "a\0b\xE9\u2028"}' <<'Y'
assertions: ["(lambda s: len(s))(output) == 5"]
Y
	is 'special characters are passed unchanged' '0 1' "$rc $(verdict score r.json)"
else skip 'no python3 here'
fi

if command -v node >/dev/null
then
	graded <<'Y'
language: javascript, assertions: ["output.length > 3", "output.includes('zzz')", "nope.x", "JSON.parse(output)"]
Y
	is 'node: score' '1 0.25' "$rc $(verdict score r.json)"
	like 'node: messages' '*nope is not defined*JSON*' "$(verdict feedback r.json)"
	while IFS='	' read -r text words
	do
		printf 'language: javascript, assertions: ["true", "%s"]\n' "$text" >settings
		no_verdict "node: $text" "*assertion *$words*" <settings
	done <<'T'
while(1);	takes longer than 5 s
output.(	is not valid: *
(function f() { return f() + 1 })()	recurses too deeply
'a'.repeat(1e10)	MiB
new Uint8Array(2e9).fill(1).length > 0	needs more than 256 MiB of memory
Array(2e8).fill('x').map(String).length	has no verdict: node:
T
else skip 'no node here'
fi

is 'no files are left' '' "$(find tmp -mindepth 1)"
done_testing
