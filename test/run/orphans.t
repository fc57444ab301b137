# No process of an agent outlives waza, however waza ends, whatever session the process
# is in.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir bin tmp home pids
TMPDIR=$tmp/tmp HOME=$tmp/home PIDS=$tmp/pids PATH=$tmp/bin:$PATH
export TMPDIR HOME PIDS PATH
if ! command -v setsid >/dev/null || [ ! -e /proc/self/environ ]
then
	echo "ok 1 - # SKIP no setsid or no /proc"
	echo 1..1
	exit
fi

# the agent: leaves programs in sessions of their own, and waits if $WAITS is set
cat >bin/claude <<'SH'
#!/bin/sh
cat >/dev/null
setsid sh -c 'echo $$ >"$PIDS/shell"; exec sleep 600' >/dev/null 2>&1 &
setsid sh -c 'trap "" TERM; echo $$ >"$PIDS/deaf"; while :; do sleep 1; done' >/dev/null 2>&1 &
setsid sh -c 'setsid sh -c "echo \$\$ >$PIDS/nested; exec sleep 600" & echo $$ >"$PIDS/parent"; wait' >/dev/null 2>&1 &
for f in shell deaf nested parent
do while [ ! -s "$PIDS/$f" ]; do :; done
done
echo $$ >"$PIDS/agent"
[ -z "${WAITS-}" ] || sleep 600
echo '{"type":"result","subtype":"success","is_error":false,"result":"hello","usage":{}}'
SH
chmod +x bin/claude
cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: claude, timeout_seconds: 600}
tasks: [{id: a, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]}]
YAML

started() { [ -s pids/agent ]; }
# gone: no process of the agent is left; zombies do not count
gone() {
	for p in $(cat pids/*)
	do grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$p/status" 2>/dev/null && return 1
	done
	return 0
}
left() {
	for f in pids/*
	do p=$(cat "$f")
	   grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$p/status" 2>/dev/null && echo "${f#pids/} $p" && kill -9 "$p"
	done
}
# ends NAME SIGNAL [-]: a run that gets that signal; "-": with its process group
ends() {
	rm -f pids/*
	WAITS=1 setsid "$WAZA" run -q -o r.json e.yaml >out 2>err &
	pid=$!
	wait_until 120 started || { kill -9 "$pid"; is "$1" started "$(cat err)"; return; }
	kill "-$2" "${3-}$pid"
	wait "$pid" 2>/dev/null
	wait_until 120 gone
	is "$1" '' "$(left)"
}

ends 'waza is killed: nothing is left' KILL
ends 'waza and its process group are killed: nothing is left' KILL -
ends 'waza is terminated: nothing is left' TERM

rm -f pids/*
run "$WAZA" run -q -o r.json e.yaml
is 'waza ends in order: status' 0 "$rc"
wait_until 120 gone
is 'waza ends in order: nothing is left' '' "$(left)"
done_testing
