# The first start of an agent in a new home: alone, whatever the number of workers.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir bin tmp
TMPDIR=$tmp/tmp PATH=$tmp/bin:$PATH
export TMPDIR PATH
unset XDG_DATA_HOME CODEX_HOME

# an agent that fails if another one creates the database
cat >bin/agent <<'SH'
case $0 in
*codex) dir=${CODEX_HOME:-$HOME/.codex} db=state_5.sqlite ;;
*) dir=$HOME/.local/share/opencode db=opencode.db ;;
esac
mkdir -p "$dir"
if [ ! -e "$dir/$db" ]
then
	mkdir "$dir/busy" 2>/dev/null || { echo 'Failed query: CREATE TABLE' >&2; exit 1; }
	i=0
	while [ $i -lt 5000 ]; do i=$((i + 1)); done
	: >"$dir/$db"
	rmdir "$dir/busy"
	echo first >>"$FIRST"
fi
SH
cat - bin/agent >bin/opencode <<'SH'
#!/bin/sh
SH
cp bin/opencode bin/codex
echo 'echo '"'"'{"type":"text","part":{"text":"hello"}}'"'"'; echo '"'"'{"type":"step_finish","part":{"tokens":{"input":1,"output":1},"cost":0}}'"'" >>bin/opencode
echo 'case $* in *app-server*) exit ;; esac; cat >/dev/null; echo '"'"'{"type":"item.completed","item":{"id":"i","type":"agent_message","text":"hello"}}'"'"'; echo '"'"'{"type":"turn.completed","usage":{}}'"'" >>bin/codex
chmod +x bin/*

# suite EXECUTOR TRIALS [CONFIG]
suite() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: $1, timeout_seconds: 300, trials_per_task: $2${3:+, $3}}
tasks: [{id: a, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]}]
YAML
}

FIRST=$tmp/first
export FIRST
suite opencode 8
good=0
for workers in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
do
	HOME=$tmp/home-$workers
	export HOME
	mkdir "$HOME"
	run "$WAZA" run -q --workers "$workers" -o r.json e.yaml
	[ "$rc" = 0 ] && good=$((good + 1))
done
is 'opencode: 20 new homes, 1 to 20 workers: all runs pass' 20 "$good"

HOME=$tmp/home-x CODEX_HOME=$tmp/codex
export HOME CODEX_HOME
mkdir "$HOME"
suite codex 6
run "$WAZA" run -q --workers 6 -o r.json e.yaml
is 'codex: status' 0 "$rc"
rm -f first
suite codex 6 "env: {CODEX_HOME: $tmp/other}"
run "$WAZA" run -q --workers 6 -o r.json e.yaml
is 'codex: a home from the settings: status' 0 "$rc"
is 'codex: a home from the settings: one first start' first "$(cat first)"

HOME=$tmp/home-y
export HOME
mkdir "$HOME"
suite opencode 6 'home: private'
rm -f first
run "$WAZA" run -q --workers 6 -o r.json e.yaml
is 'private homes: status' 0 "$rc"
done_testing
