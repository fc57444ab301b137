# suite.sh: sourced by the tests of engines: a suite whose agent is a script that notes
# its tasks in $TRACE and its processes in $TRACE.pids, waits while $TRACE.hold.TASK exists, and kills its shard if
# $TRACE.die.TASK exists.
cat >agent.sh <<'SH'
echo "$$ $PPID" >>"$TRACE.pids"
echo "$WAZA_TASK_ID" >>"$TRACE"
[ ! -e "$TRACE.die.$WAZA_TASK_ID" ] || kill -9 $PPID
while [ -e "$TRACE.hold.$WAZA_TASK_ID" ]; do sleep 0.05; done
case $WAZA_TASK_ID in
t7)	echo wrong ;;
*)	echo done ;;
esac
SH
{
	cat <<'YAML'
name: engines
skill: none
config: {executor: command, command: [sh, agent.sh], workers: 1}
graders: [{type: text, config: {contains: [done]}}]
tasks:
YAML
	for i in 0 1 2 3 4 5 6 7 8 9 10 11
	do echo "  - {id: t$i, prompt: x}"
	done
} >eval.yaml
# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": "[^"]*"/"eval_id": ""/
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
