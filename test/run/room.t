# Too few descriptors or processes: trials wait for others, none fails.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
TMPDIR=$tmp/scratch
export TMPDIR
mkdir scratch fixtures
echo text >fixtures/f

# suite EXECUTOR [GRADER]
suite() {
	cat <<YAML
name: room
skill: s
config: {executor: command, command: $1, trials_per_task: 12}
hooks: {before_task: [{command: 'true', error_on_fail: true}], after_task: [{command: 'true', error_on_fail: true}]}
graders: [$2]
tasks:
YAML
	for i in 0 1 2 3 4 5 6 7 8 9
	do echo "  - {id: t$i, prompt: answer, inputs: {files: [{path: f}]}, expected: {output_contains: [answer]}}"
	done
}
# all NAME: 120 trials have passed, nothing is left
all() {
	is "$1: status" 0 "$rc"
	is "$1: nothing on stderr" '' "$err"
	is "$1: all trials pass" 120 "$("$WAZA" parse r.json | grep -o '"run_number":[0-9]*,"attempts":1,"status":"passed"' | grep -c .)"
	is "$1: no files are left" '' "$(ls scratch)"
}

suite '"cat; echo to stderr >&2"' '{type: program, name: p, config: {command: /bin/sh, args: ["-c", "cat >/dev/null"]}}' >e.yaml
run sh -c 'ulimit -n 64 && exec "$WAZA" run -q e.yaml -o r.json --workers 40'
all '40 workers, 64 descriptors'
run sh -c 'ulimit -n 24 && exec "$WAZA" run -q e.yaml -o r.json --workers 8'
all '8 workers, 24 descriptors'
# the mock needs none, its graders do
sed 's/executor: command, command: .*, trials/executor: mock, trials/' e.yaml >m.yaml
run sh -c 'ulimit -n 64 && exec "$WAZA" run -q m.yaml -o r.json --workers 100'
all '100 workers, 64 descriptors, graders only'

# connections to a model server, for answers and for judges
suite x '{type: prompt, name: p, config: {prompt: judge it, samples: 2}}' |
    sed '/^hooks/d' >q.yaml
if [ -x "$DOUBLES/double_model" ]
then
	printf 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n%s' '{"choices":[{"message":{"content":"the answer: {\"passed\": true, \"score\": 1, \"reason\": \"good\"}"}}]}' >reply
	mkfifo fifo
	"$DOUBLES/double_model" log reply >fifo &
	model=$!
	read -r port <fifo
	rm fifo
	settings="openai: {base_url: 'http://127.0.0.1:$port/v1', stream: false, retries: 0}"
	sed "s|executor: command, command: x|executor: openai, model: m, $settings|" q.yaml >o.yaml
	run sh -c 'ulimit -n 64 && exec "$WAZA" run -q o.yaml -o r.json --workers 40'
	all '40 workers, 64 descriptors, a model server'
	sed "s|executor: command, command: x|executor: mock, judge: {executor: openai, model: m, $settings}|" q.yaml >j.yaml
	run sh -c 'ulimit -n 64 && exec "$WAZA" run -q j.yaml -o r.json --workers 100'
	all '100 workers, 64 descriptors, a model server as judge'
	kill "$model"
	wait "$model" 2>/dev/null
else
	skip 'no double_model (make check builds it)'
fi
sed 's|executor: command, command: x|executor: mock, judge: {executor: command, command: ["printf", "%s", "{\\"passed\\": true, \\"score\\": 1, \\"reason\\": \\"good\\"}"]}|' q.yaml >c.yaml
run sh -c 'ulimit -n 64 && exec "$WAZA" run -q c.yaml -o r.json --workers 100'
all '100 workers, 64 descriptors, a program as judge'

# runs of a server share what there is
. "$top/test/tool/rpc.sh"
# shellcheck disable=SC3045 # every shell of POSIX systems has it
ulimit -n 64
serve
sed 's/trials_per_task: 12/trials_per_task: 5/' e.yaml >few.yaml
i=0
while [ "$i" -lt 20 ]
do
	i=$((i + 1))
	printf '{"jsonrpc":"2.0","id":%d,"method":"eval.run","params":{"path":"few.yaml","workers":20,"tasks":["t1"]}}\n' "$i"
done | "$RPCPIPE" talk sock >got
is 'twenty runs at once: all trials pass' 20 "$(grep -c '"method":"eval.complete".*"passed":1,"failed":0,"errors":0' got)"
alive 'twenty runs at once'
stop

# nothing will be released: an error with its reason, never a hang
sed '/^hooks/d; s/, inputs: .files: [^]]*\]\}//' e.yaml >plain.yaml
bad= left=
for s in e plain
do
	for n in 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20
	do
		run sh -c 'ulimit -n "$1" && exec "$WAZA" run -q "$2.yaml" -o s.json --task t1 --trials 1' sh "$n" $s
		case $rc:$out$err in
		0:* | [12]:*'oo many open files'* | [12]:*'o file descriptors available'*) ;;
		*) bad="$bad$s, $n: status $rc $out$err" ;;
		esac
		[ -z "$(ls "$TMPDIR")" ] || left="$left$s, $n: $(cd "$TMPDIR" && find . ! -name .) "
		rm -rf "${TMPDIR:?}"/*
	done
done
is 'too few for one child: the reason' '' "$bad"
is 'too few for one child: no files are left' '' "$left"

# processes; root has no limit
threads=$(ps -L -U "$(id -u)" 2>/dev/null | grep -c .)
if [ "$(id -u)" = 0 ]
then skip 'processes of root are not limited'
elif [ "$threads" = 0 ] || ! command -v prlimit >/dev/null
then skip 'no prlimit, or no ps that lists threads'
else
	sed 's/command: "cat; .*", trials/command: [tail, -n, "3"], trials/; s/{command: .bin.sh, args.*}}/{command: tail, args: ["-n", "1"]}}/; /^hooks/d' e.yaml >p.yaml
	run prlimit --nproc=$((threads + 10)) "$WAZA" run -q p.yaml -o r.json --workers 40
	all '40 workers, 10 processes'
fi
done_testing
