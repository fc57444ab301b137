# The executor command, with well-behaved and misbehaving agents.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

cat >agent.sh <<'SH'
#!/bin/sh
prompt=$(cat)
echo "prompt: $prompt"
echo "file: $(cat "$WAZA_PROMPT_FILE")"
echo "task $WAZA_TASK_ID trial $WAZA_TRIAL attempt $WAZA_ATTEMPT model $WAZA_MODEL"
echo "token ${WAZA_AUTH_TOKEN-none} own ${OWN-none}"
[ "$PWD" = "$(cd "$WAZA_WORKSPACE" && pwd)" ] && echo "in its workspace"
find . -type f | sort
echo "to stderr" >&2
case $prompt in
*crash*)  exit 3 ;;
*signal*) kill -ABRT $$ ;;
*hang*)   tail -f /dev/null ;;
*stubborn*) trap '' TERM; while :; do tail -f /dev/null; done ;;
*flood*)  yes ;;
*daemon*) (tail -f /dev/null & echo $! >"$PIDS/daemon") ;;
*vanish*) rm -rf "$WAZA_WORKSPACE" ;;
*leave*)  mkdir -p deep/er; : >deep/er/file; chmod 0 deep/er; ln -s / out ;;
*abyss*)  d=$(awk 'BEGIN { while (n++ < 900) printf "d/" }'); mkdir -p "$d"; mkdir -p moved.0/x
	: >"${d}file"; chmod 0 "$d" ;;
esac
SH
chmod +x agent.sh
mkdir fixtures pids
echo fixture >fixtures/given.txt
PIDS=$tmp/pids WAZA_AUTH_TOKEN=canary-4711 TMPDIR=$tmp/tmp
export PIDS WAZA_AUTH_TOKEN TMPDIR
mkdir tmp

# suite NAME [SECONDS] [MORE]: one task with that prompt
suite() {
	cat <<YAML
name: $1
skill: s
config: {executor: command, command: [./agent.sh], model: m-1, timeout_seconds: ${2:-20}${3:-}}
tasks:
  - id: $1
    prompt: $1 {{.TaskName}} {{.Vars.who}}
    inputs: {environment: {OWN: mine}, files: [{path: sub/x, content: y}, {path: given.txt}]}
    expected: {output_contains: [prompt]}
inputs: {who: Ada}
YAML
}

# answer FILE: the answer of the agent
answer() {
	"$WAZA" parse "$1" | sed 's/.*"final_output":"\([^"]*\)".*/\1/'
}

suite well >e.yaml
cat >>e.yaml <<'YAML'
graders: [{type: program, config: {command: sh, args: [-c, 'echo "token ${WAZA_AUTH_TOKEN-none}"']}}]
hooks: {before_run: [{command: 'echo "token ${WAZA_AUTH_TOKEN-none}" >>$PIDS/hook'}]}
YAML
run "$WAZA" run -q -o r.json e.yaml
is 'no secret in a hook' 'token none' "$(cat pids/hook)"
is 'well: status' 0 "$rc"
is 'well: answer' 'prompt: well well Ada\nfile: well well Ada\ntask well trial 1 attempt 1 model m-1\ntoken none own mine\nin its workspace\n./given.txt\n./sub/x\n' \
    "$(answer r.json)"
is 'well: the workspace is gone' '' "$(ls tmp)"
is 'no secret in what is kept' '' "$(grep -l canary-4711 r.json r.json.journal)"
# the system shows the environment that a process has started with
if [ -r "/proc/$$/environ" ]
then
	cat >spy.sh <<'SH'
#!/bin/sh
cat >/dev/null
echo "token: $(tr '\0' '\n' <"/proc/$PPID/environ" | grep -c canary-4711), process: $(tr '\0' ' ' <"/proc/$PPID/cmdline" | grep -c "${WAZA_NAME:-waza}")" >>"$PIDS/spy"
echo '{"ok": true}'
SH
	chmod +x spy.sh
	cat >spy.yaml <<'YAML'
name: spy
skill: s
config: {executor: command, command: [./spy.sh]}
tasks: [{id: a, prompt: x, expected: {output_contains: [ok]}}]
graders: [{type: program, config: {command: ./spy.sh}}]
hooks: {before_run: [{command: exec ./spy.sh}]}
YAML
	WAZA_NAME=${WAZA##*/}
	export WAZA_NAME
	spied() {
		is "$1: no secret in the environment of its parent" "$2 token: 0, process: 1" "$(sort pids/spy | uniq -c | sed 's/^ *//')"
		rm -f pids/spy
	}
	"$WAZA" run -q -o spy.json spy.yaml >/dev/null 2>&1
	spied run 3
	"$WAZA" grade -q --results spy.json --workspace . spy.yaml >/dev/null 2>&1
	spied grade 1
	for c in jsonrpc 'serve --stdio'
	do
		# shellcheck disable=SC2086 # words
		echo '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"spy.yaml"}}' | "$WAZA" $c >/dev/null 2>&1
		spied "${c%% *}" 3
	done
else skip 'this system does not show the environment of a process'
fi
run "$WAZA" run -q --keep-workspace e.yaml
is '--keep-workspace' 1 "$(find tmp -name given.txt | grep -c .)"
rm -rf tmp/*

# bad NAME CLASS WORDS [SECONDS]: an error of that class with that message
bad() {
	suite "$1" "${4:-20}" >e.yaml
	run "$WAZA" run -q -o r.json e.yaml
	is "$1: status" 1 "$rc"
	# a flood in short: shells take seconds to match megabytes
	like "$1: class" "*\"error_class\":\"$2\"*" "$("$WAZA" parse r.json | sed 's/\(y\\n\)\{100,\}/y/g')"
	like "$1: words" "*$3*" "$out"
	is "$1: nothing is left" '' "$(ls tmp)"
}
bad crash agent_error 'exit status 3'
like 'crash: the end of stderr' '*to stderr*' "$out"
bad signal agent_error 'killed by signal 6'
bad hang timeout 'no answer within 1 s' 1
bad stubborn timeout 'no answer within 1 s' 1
if [ -z "${SHORT-}" ]
then bad flood agent_error 'more than 10 MiB'
else skip 'ten megabytes, byte by byte'
fi
suite daemon >e.yaml
run "$WAZA" run -q e.yaml
is 'daemon: status' 0 "$rc"
ok 'daemon: it is gone' pids_gone "$(cat pids/daemon)"
suite leave >e.yaml
run "$WAZA" run -q e.yaml
is 'locked directories: status' 0 "$rc"
is 'locked directories: removed' '' "$(ls tmp)"
ok 'a link out of the workspace leads nowhere' [ -d /etc ]
suite abyss >e.yaml
run "$WAZA" run -q e.yaml
is 'directories 900 deep: status' 0 "$rc"
is 'directories 900 deep: removed' '' "$(ls tmp)"
suite vanish >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'vanished workspace: an error of the agent' 1 "$rc"

sed 's/command: \[.*sh\]/command: [.\/none.sh]/' e.yaml >none.yaml
run "$WAZA" run -q -o r.json none.yaml
is 'no such program: status' 1 "$rc"
like 'no such program: class' '*"error_class":"infrastructure"*' "$("$WAZA" parse r.json)"
like 'no such program: words' '*none.sh*No such file*' "$out"
sed 's/{path: given.txt}/{path: absent.txt}/' e.yaml >absent.yaml
run "$WAZA" run -q -o r.json absent.yaml
is 'a missing input file is an error' 1 "$rc"
like 'a missing input file: words' '*absent.txt*' "$out"
sed 's/{path: given.txt}/{path: ..\/up.txt, content: z}/' e.yaml >up.yaml
run "$WAZA" run -q up.yaml
ok 'nothing is written outside' [ ! -e tmp/up.txt ]
TMPDIR=tmp
suite relative >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'a relative TMPDIR: status' 0 "$rc"
like 'a relative TMPDIR: the prompt is found' '*file: relative relative Ada*' "$(answer r.json)"
TMPDIR=$tmp/tmp
suite quiet 20 ', first_event_timeout_seconds: 1' | sed 's/\[.\/agent.sh\]/[tail, -f, \/dev\/null]/' >e.yaml
run "$WAZA" run -q e.yaml
like 'first event timeout' '*no sign of life within 1 s*' "$out"

# a shell command; hooks with templates, and their order
cat >shell.yaml <<'YAML'
name: shell
skill: s
config: {executor: command, command: 'echo "$WAZA_TASK_ID says hi"', workers: 2}
hooks:
  before_run: [{command: 'echo start >>$HOOKS'}]
  before_task: [{command: 'echo "before {{.TaskName}}" >>$HOOKS'}]
  after_task: [{command: 'exit 3', exit_codes: [3], error_on_fail: true}, {command: 'echo after >>$HOOKS'}]
  after_run: [{command: 'echo end >>$HOOKS'}]
tasks: [{id: a, prompt: x, expected: {output_contains: [a says hi]}}]
YAML
HOOKS=$tmp/hooks "$WAZA" run -q shell.yaml >out 2>err
is 'shell line: status' 0 $?
is 'hooks: order' 'start
before a
after
end' "$(cat hooks)"
sed "s/'echo start.*}\]/'echo no; exit 1', error_on_fail: true}]/" shell.yaml >badhook.yaml
run env HOOKS="$tmp/hooks2" "$WAZA" run -q badhook.yaml
is 'before_run fails: status' 2 "$rc"
like 'before_run fails: words' '*exit status 1: no*' "$err"
is 'before_run fails: no task, but the end' 'end' "$(cat hooks2)"
sed "s/'echo \"before.*}\]/'exit 1', error_on_fail: true}]/" shell.yaml >badhook.yaml
run env HOOKS="$tmp/hooks3" "$WAZA" run -q -o r.json badhook.yaml
is 'before_task fails: status' 1 "$rc"
like 'before_task fails: words' '*exit status 1*' "$out"
run env HOOKS="$tmp/hooks3" "$WAZA" run -q --no-results --trials 3 badhook.yaml
ok 'before_task fails: no word about trials, which did not run' test "${out#*did not pass}" = "$out"

# an agent that saves its workspace and restores it, with the directory's times
cat >restore.yaml <<'YAML'
name: restore
skill: s
config: {executor: command, workers: 1, trials_per_task: 3, command: '
  [ ! -e left ] && cp -a . "$COPIES/copy" && echo x >left && cp -a "$COPIES/copy/." . && rm -r "$COPIES/copy" && echo clean'}
tasks: [{id: a, prompt: x, expected: {output_contains: [clean]}}]
YAML
mkdir copies
run env COPIES="$tmp/copies" "$WAZA" run -q --no-results restore.yaml
like 'its files are gone in the next trial' '0 *3/3*' "$rc $out"

# persistent workers: one child for many trials
cat >worker.sh <<'SH'
#!/bin/sh
echo start >>"$PIDS/starts"
while IFS= read -r line
do
	case $line in
	*die*) exit 5 ;;
	*garbage*) echo 'no JSON' ;;
	*) echo '{"output":"echo","tool_calls":[{"name":"bash"}],"usage":{"input_tokens":2}}' ;;
	esac
done
echo end >>"$PIDS/ends"
SH
chmod +x worker.sh
cat >persist.yaml <<'YAML'
name: persist
skill: s
config: {executor: command, command: [./worker.sh], persistent: true, trials_per_task: 5}
tasks:
  - {id: a, prompt: a, expected: {output_contains: [echo], behavior: {required_tools: [bash]}}}
YAML
run "$WAZA" run -q persist.yaml
is 'persistent: status' 0 "$rc"
is 'persistent: one child' 1 "$(grep -c . pids/starts)"
is 'persistent: which saw the end of its stdin' 1 "$(grep -c . pids/ends)"
rm -f pids/starts
sed 's/prompt: a/prompt: die/' persist.yaml >die.yaml
run "$WAZA" run -q die.yaml
like 'a worker that dies: words' '*exit status 5*' "$out"
is 'a worker that dies is started again' 5 "$(grep -c . pids/starts)"
rm -f pids/starts
cat >once.sh <<'SH'
#!/bin/sh
echo start >>"$PIDS/starts"
read -r line
echo '{"output":"echo","tool_calls":[{"name":"bash"}]}'
SH
chmod +x once.sh
sed 's/worker.sh/once.sh/' persist.yaml >once.yaml
run "$WAZA" run -q once.yaml
is 'a worker good for one answer: all pass' 0 "$rc"
is 'a worker good for one answer: one each' 5 "$(grep -c . pids/starts)"
cat >chatty.sh <<'SH'
#!/bin/sh
while IFS= read -r line
do
	id=${line#*task_id\":\"}
	id=${id%%\"*}
	[ "$id" != a ] || echo "log: starting $id"
	echo "{\"output\":\"answer for $id\"}"
done
SH
chmod +x chatty.sh
cat >chatty.yaml <<'YAML'
name: chatty
skill: s
config: {executor: command, command: [./chatty.sh], persistent: true}
tasks:
  - {id: a, prompt: x, expected: {output_contains: [answer for a]}}
  - {id: b, prompt: x, expected: {output_contains: [answer for b]}}
  - {id: c, prompt: x, expected: {output_contains: [answer for c]}}
YAML
run "$WAZA" run -q -o r.json chatty.yaml
is 'a stray line spoils one answer, not the next' 'error passed passed ' \
    "$("$WAZA" parse r.json | grep -o '"display_name":"[a-z]*","status":"[a-z]*"' |
    sed 's/.*:"//; s/"//' | tr '\n' ' ')"
sed 's/prompt: a/prompt: garbage/' persist.yaml >garbage.yaml
run "$WAZA" run -q garbage.yaml
like 'a worker that talks nonsense' '*not JSON*' "$out"
# an agent that removes its workspace
cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: command, command: 'rm -rf "$WAZA_WORKSPACE"; echo hello'}
tasks:
  - {id: a, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]}
  - id: b
    prompt: x
    inputs: {follow_up_prompts: [y]}
    graders: [{type: file, name: f, config: {must_exist: [x]}}]
YAML
run "$WAZA" run -q -o r.json e.yaml
is 'a removed workspace: status' 1 "$rc"
is 'a removed workspace is an error of the agent' '2' "$("$WAZA" parse r.json |
    grep -o '"error_msg":"the agent removed its workspace","error_class":"agent_error"' | grep -c .)"

done_testing
