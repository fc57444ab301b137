# A server answers while its graders compute.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
[ -z "${SHORT-}" ] || skip_all 'a megabyte takes too long a byte at a time'

# a quarter of a megabyte that makes patterns slow
awk 'BEGIN { srand(7); for (i = 0; i < 4000; i++) { s = ""
	for (k = 0; k < 62; k++) s = s substr("abcdefgh ", int(rand() * 9) + 1, 1)
	printf "%s%s", s, i % 8 ? "  " : "x " } }' >text
mkdir evals/heavy
sed "s|TEXT|$tmp/text|" >evals/heavy/eval.yaml <<'YAML'
name: heavy
skill: s
config: {executor: command, command: [cat, TEXT]}
tasks:
  - id: pattern
    prompt: x
    graders:
      - {type: regex, name: repeat, config: {must_not_match: ['[^x]{900}y']}}
      - {type: regex, name: dense, config: {must_not_match: ['(\w*\s*,?){600}!']}}
    expected: {output_contains: [a b]}
  - id: code
    prompt: x
    graders:
      - type: code
        name: loop
        config:
          assertions:
            - 'len([w for w in output.split() if len(w) > 3 and w.upper() != w]) > 1000'
            - 'len(re.findall("[^x]{100}x", output)) > 10'
            - 'output.count("a") > 10'
YAML

# own_time: ticks of the processor that the server has used, and its ended children
own_time() {
	sed 's/.*) //' "/proc/$srv/stat" | awk '{ print $12 + $13, $14 + $15 }'
}

serve
"$RPCPIPE" ping end "$port" >busy & pid_b=$!
echo '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/heavy","workers":2,"trials":20}}' |
    "$RPCPIPE" talk sock >got
: >end
wait "$pid_b"
pid_b=
read -r n longest <busy
echo "# $n answers, after at most $longest ms"
like 'all verdicts are there' '*"method":"eval.complete"*"total":2,"passed":2,"failed":0,"errors":0*' "$(tail -n 1 got)"
ok 'many pings are answered meanwhile' [ "$n" -ge 20 ]
# processor time, because the time to an answer depends on what else runs here; a
# server that grades itself has no copies.  Answering the pings takes time, too
if [ -r "/proc/$srv/stat" ]
then
	own_time >ticks
	read -r own copies <ticks
	echo "# ticks of the server: $own, of the copies that grade: $copies"
	ok 'the server itself hardly computes' [ "$own" -lt "$copies" ]
else
	skip 'no /proc'
fi
alive 'graders compute'

# cancelling ends the computation at once
sed 's/prompt: x/prompt: y/; s/{600}!/{990}!/' evals/heavy/eval.yaml >evals/heavy/eval2.yaml
say_run() {
	echo '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/heavy/eval2.yaml","detach":true}}'
}
children() {
	cat "/proc/$1/task/$1/children" 2>/dev/null
}
# the server keeps a child that guards the others
guardian=$(children "$srv")
say_run | "$RPCPIPE" talk -k -n 1 sock >got
run_id=$(sed -n 's/.*"runId":"\([^"]*\)".*/\1/p' got)
computes() {
	[ "$(children "$srv")" != "$guardian" ]
}
if [ -r "/proc/$srv/task/$srv/children" ]
then
	ok 'a copy computes' wait_until 120 computes
	echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$run_id\"}}" |
	    "$RPCPIPE" talk -k -n 1 sock >got
	ok 'cancelled: it ends' wait_until 120 sh -c '[ "$(cat "/proc/$1/task/$1/children")" = "$2" ]' sh "$srv" "$guardian"
else
	skip 'nobody lists children here'
	skip 'nobody lists children here'
fi
stop
is 'SIGTERM: status' 0 "$rc"
done_testing
