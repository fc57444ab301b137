# waza lsp: a language server on stdin and stdout.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
mkdir -p "$tmp/project/evals"
cd "$tmp/project/evals" || exit 1
tmp_real=$(pwd -P)
mkdir -p s/tasks s/skills/speller s/fixtures
cat >s/eval.yaml <<'YAML'
name: t
skill: speller
config:
  executor: mock
tasks:
- id: one
  prompt: p
  graders: [{type: text, contains: a}]
- tasks/*.yaml
YAML
printf 'id: two\nprompt: q\nexpected: {output_contains: [q]}\n' >s/tasks/two.yaml
printf -- '---\nname: speller\ndescription: Spells.\n---\nText.\n' >s/skills/speller/SKILL.md
find s -type f -exec cksum {} + | sort >before
: >missing

# start: a server; its messages are lines of the file raw
start() {
	rm -f in
	mkfifo in
	: >raw
	"$WAZA" lsp <in >raw 2>err &
	srv=$!
	exec 3>in
	echo 0 >id
}
trap 'kill -9 "$srv" 2>/dev/null; rm -rf "$tmp"' EXIT
send() {
	# shellcheck disable=SC2059 # bytes
	printf 'Content-Length: %d\r\n\r\n%s' "$(printf %s "$1" | wc -c)" "$1" >&3
}
# lines: the messages that are whole; the server may be writing
lines() {
	tr -d '\r' <raw | LC_ALL=C awk '{
		next_n = 0
		if (match($0, /Content-Length: [0-9]+$/)) {
			next_n = substr($0, RSTART + 16) + 0
			$0 = substr($0, 1, RSTART - 1)
		}
		if (n > 0 && length($0) == n)
			print
		if (next_n > 0)
			n = next_n
	}'
}
has() {
	lines | grep -qF -e "$1"
}
# answer PATTERN: the message that contains this, once it is there
answer() {
	wait_until 60 has "$1" || echo "$1" >>missing
	lines | grep -F -e "$1" | tail -n 1
}
# lacks FILE TEXT: the last diagnostics of the file do not contain the text
lacks() {
	! lines | grep publishDiagnostics | grep -F "\"$(uri "$1")\"" | tail -n 1 | grep -qF -e "$2"
}
# ask METHOD PARAMS: the answer
ask() {
	id=$(($(cat id) + 1))
	echo $id >id
	send "{\"jsonrpc\":\"2.0\",\"id\":$id,\"method\":\"$1\",\"params\":$2}"
	answer "\"id\":$id,"
}
tell() {
	send "{\"jsonrpc\":\"2.0\",\"method\":\"$1\",\"params\":$2}"
}
uri() {
	printf 'file://%s/%s' "$tmp_real" "$1"
}
doc() {
	printf '"textDocument":{"uri":"%s"}' "$(uri "$1")"
}
# open FILE TEXT: TEXT is JSON without quotes
open() {
	tell textDocument/didOpen "{\"textDocument\":{\"uri\":\"$(uri "$1")\",\"languageId\":\"yaml\",\"version\":1,\"text\":\"$2\"}}"
}
# at METHOD FILE LINE CHARACTER
at() {
	ask "textDocument/$1" "{$(doc "$2"),\"position\":{\"line\":$3,\"character\":$4}}"
}
# holds NAME TEXT... GOT: GOT contains every TEXT
holds() {
	holds_name=$1 holds_all=
	shift
	while [ $# -gt 1 ]
	do
		holds_all="$holds_all $1"
		for holds_got
		do :
		done
		printf '%s\n' "$holds_got" | grep -qF -e "$1" || {
			is "$holds_name" "$1" "$holds_got"
			return
		}
		shift
	done
	is "$holds_name" "$holds_all" "$holds_all"
}
labels() {
	grep -o '"label":"[^"]*"' | sed 's/"label":"//; s/"//' | tr '\n' ' '
}

start
like 'initialize' '*"textDocumentSync":*"change":2*"completionProvider":*"hoverProvider":true*' \
    "$(ask initialize '{"processId":null,"rootUri":null,"capabilities":{}}')"
tell initialized '{}'

open s/eval.yaml 'name: t\nskill: speller\nconfig:\n  executor: mock\n  trials_per_task: é many\ntasks: [{id: a, prompt: p, graders: [{type: txt}]}]\n'
d=$(answer '"line":4,"character":19')
holds 'diagnostics: a wrong type' '"range":{"start":{"line":4,"character":19},"end":{"line":4,"character":25}},"severity":1,"source":"waza","message":"\"trials_per_task\" must be a whole number' "$d"
holds 'diagnostics: an unknown grader' 'unknown grader type \"txt\" (did you mean \"text\"? kinds: ' "$d"
tell textDocument/didChange "{$(doc s/eval.yaml),\"contentChanges\":[{\"range\":{\"start\":{\"line\":4,\"character\":19},\"end\":{\"line\":4,\"character\":25}},\"text\":\"2\"}]}"
ok 'diagnostics follow a change' wait_until 60 lacks s/eval.yaml trials_per_task
tell textDocument/didChange "{$(doc s/eval.yaml),\"contentChanges\":[{\"text\":\"name: [\"}]}"
like 'diagnostics: text that is not YAML' '*"severity":1*' "$(answer '"line":0,"character":7')"

# a task file: the suite is checked with the text in the editor
open s/eval.yaml 'name: t\nskill: speller\ntasks:\n- tasks/*.yaml\n'
open s/tasks/two.yaml 'id: two\nprompt: q\ngraders:\n- type: regx\n'
d=$(answer 'regx')
holds 'diagnostics of a task that is not saved' "\"uri\":\"$(uri s/tasks/two.yaml)\"" "$d"
printf 'id: three\nprompt: q\ngraders:\n- type: keywrd\n' >s/tasks/three.yaml
tell textDocument/didSave "{$(doc s/tasks/two.yaml)}"
like 'a file was saved: all are checked again' '*keywrd*' "$(answer keywrd)"
rm s/tasks/three.yaml
tell textDocument/didSave "{$(doc s/tasks/two.yaml)}"
tell textDocument/didChange "{$(doc s/tasks/two.yaml),\"contentChanges\":[{\"text\":\"id: two\\nprompt: q\\nexpected: {output_contains: [q]}\\n\"}]}"
ok 'diagnostics are withdrawn' wait_until 60 lacks s/tasks/two.yaml regx
open s/tasks/alone.yaml 'id: alone\nprompt: p\ntimeout_seconds: soon\n'
like 'diagnostics of a task' '*timeout_seconds*' "$(answer 'timeout_seconds')"
open .waza.yaml 'limits: [\n'
holds 'diagnostics of settings that are not YAML' "\"uri\":\"$(uri .waza.yaml)\"" '"severity":1' "$(answer '.waza.yaml",')"
tell textDocument/didClose "{$(doc .waza.yaml)}"
open .waza.yaml 'limits: {depth: 0}\n'
holds 'diagnostics of settings' "\"uri\":\"$(uri .waza.yaml)\"" "/limits/depth" "$(answer '/limits/depth')"
open s/skills/speller/SKILL.md '---\nname: [\n---\n'
like 'diagnostics of a skill' '*"severity":1*' "$(answer 'SKILL.md","diagnostics":[{')"

open s/skills/speller/SKILL.md '---\nname: other\ndescription: Spells.\n---\nSee [it](nosuch.md).\n'
d=$(answer '"code":"spec-dir-match"')
holds 'diagnostics of waza check, with the rule' '"start":{"line":1,"character":6},"end":{"line":1,"character":11}},"severity":1' 'differs from that of its directory' "$d"
ok 'no suite is searched for' lacks s/skills/speller/SKILL.md eval-missing

# completion, also of text that cannot be parsed
open s/eval.yaml 'name: t\nconfig:\n  executor: \n  exe\ngraders:\n- type: json_schema\n  con\n  config: {e\n- type: \n  - [\ntasks:\n- tasks/\n- prompt_file: tasks/t\n'
like 'completion of keys' '*trials_per_task *executors *' "$(at completion s/eval.yaml 3 5 | labels) "
like 'a key that is given is not offered' 'no' "$(at completion s/eval.yaml 3 5 | labels | grep -q 'executor ' && echo yes || echo no)"
holds 'completion replaces the word' '"range":{"start":{"line":3,"character":2},"end":{"line":3,"character":5}},"newText":"model: "' \
    "$(at completion s/eval.yaml 3 5)"
like 'completion of executors' 'acp claude *mock *' "$(at completion s/eval.yaml 2 12 | labels)"
is 'settings of the type' 'schema schema_file extract_json ' "$(at completion s/eval.yaml 7 12 | labels)"
like 'completion of grader kinds' 'action_sequence *trigger ' "$(at completion s/eval.yaml 8 8 | labels)"
like 'completion of files' '*tasks/two.yaml*' "$(at completion s/eval.yaml 11 8 | labels)"
is 'completion of files of a key' 'tasks/two.yaml ' "$(at completion s/eval.yaml 12 22 | labels)"
is 'nothing in a comment' '' "$(open s/c.yaml 'tasks: x\n# a\n'; at completion s/c.yaml 1 3 | labels)"
open s/eval.yaml 'name: t\nskill: \nbaseline: \n'
is 'completion of skills' 'speller ' "$(at completion s/eval.yaml 1 7 | labels)"
is 'completion of truth' 'true false ' "$(at completion s/eval.yaml 2 10 | labels)"
open s/trigger_tests.yaml 'skill: s\nshould_trigger_prompts:\n- prompt: p\n  confidence: \n'
is 'completion in trigger tests' 'high medium ' "$(at completion s/trigger_tests.yaml 3 14 | labels)"

open s/eval.yaml 'name: t\nskill: s\nconfig:\n  trials_per_task: 2\ntasks:\n- id: one\n  prompt: p\n- {id: two, prompt: q}\ngraders:\n- type: text\n  name: g\n  contains: x\n'
holds 'hover' '"value":"trials of each task\n\ndefault: `1`\n\nminimum: `1`' "$(at hover s/eval.yaml 3 4)"
like 'hover over a value' '*kind of the grader*`json_schema`*' "$(at hover s/eval.yaml 9 9)"
like 'hover over the value of a key' '*text that the agent gets*' "$(at hover s/eval.yaml 6 11)"
like 'hover over an unknown key' '*"result":null*' "$(open s/u.yaml 'tasks: x\nnosuch: y\n'; at hover s/u.yaml 1 2)"
is 'symbols' 'name skill config tasks one two graders g ' \
    "$(ask textDocument/documentSymbol "{$(doc s/eval.yaml)}" | grep -o '"name":"[^"]*"' | sed 's/.*:"//; s/"//' | tr '\n' ' ')"
l=$(ask textDocument/codeLens "{$(doc s/eval.yaml)}")
holds 'code lens of a suite' "\"command\":\"waza.runSuite\",\"arguments\":[\"$tmp_real/s/eval.yaml\"]" "$l"
holds 'code lens of tasks' "\"line\":5," "\"title\":\"Run this task\",\"command\":\"waza.runTask\",\"arguments\":[\"$tmp_real/s/eval.yaml\",\"one\"]" "\"line\":7," "\"two\"]" "$l"
tell textDocument/didClose "{$(doc s/eval.yaml)}"
holds 'code lens of a task file' "\"arguments\":[\"$tmp_real/s/eval.yaml\",\"two\"]" \
    "$(ask textDocument/codeLens "{$(doc s/tasks/two.yaml)}")"

# hostile and odd messages
holds 'a document that is not open' '"items":[]' "$(at completion nosuch.yaml 0 0)"
holds 'a position beyond the end' '"items":[' "$(at completion s/tasks/two.yaml 99999 99999)"
holds 'a position that is none' '"items":[]' "$(ask textDocument/completion "{$(doc s/tasks/two.yaml),\"position\":{\"line\":-1,\"character\":\"x\"}}")"
holds 'no parameters' '"items":[]' "$(ask textDocument/completion '{}')"
like 'an unknown method' '*"code":-32601*' "$(ask textDocument/rename '{}')"
tell textDocument/didChange "{$(doc s/tasks/two.yaml),\"contentChanges\":[{\"range\":{\"start\":{\"line\":3,\"character\":0},\"end\":{\"line\":0,\"character\":0}},\"text\":\"\"}]}"
holds 'a change that cannot be applied closes the document' '"items":[]' "$(at completion s/tasks/two.yaml 0 0)"
tell textDocument/didOpen '{"textDocument":{"uri":"untitled:a","text":"tasks: x"}}'
tell textDocument/didOpen '{}'
tell textDocument/didOpen '[]'
tell '$/setTrace' '{"value":"off"}'
like 'it still answers' '*"result":null*' "$(ask shutdown null)"
tell exit null
exec 3>&-
wait "$srv"
is 'exit after shutdown: status' '0 ' "$? $(cat err)"
is 'no answer is missing' '' "$(cat missing)"
find s -type f -exec cksum {} + | sort >after
is 'no file was changed' '' "$(diff before after)"

start
ask initialize '{}' >/dev/null
tell exit null
exec 3>&-
wait "$srv"
is 'exit without shutdown: status' 1 "$?"
start
ask initialize '{}' >/dev/null
exec 3>&-
wait "$srv"
is 'the client closes its end: status' 0 "$?"
is 'options of other servers are accepted' 0 "$("$WAZA" lsp --stdio </dev/null >/dev/null 2>&1; echo $?)"
done_testing
