# waza run --on parallel, with GNU parallel on this machine.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
parallel --version 2>/dev/null | grep -q 'GNU parallel' || skip_all 'no GNU parallel'
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ PARALLEL
HOME=$tmp TRACE=$tmp/w/trace
export HOME TRACE
mkdir "$tmp/w" && cd "$tmp/w" || exit 1
. "$top/test/scale/suite.sh"
"$WAZA" run -q -o w.json >/dev/null 2>&1
want=$?
plain w.json >whole

# same NAME OPTION ...
same() {
	name=$1
	shift
	run "$WAZA" run -q -o m.json --on parallel --shards 6 "$@"
	is "$name: status and messages" "$want " "$rc $err"
	is "$name: results" '' "$(plain m.json | diff whole - | head -n 5)"
	is "$name: no directory is left" '' "$(ls .waza/on)"
	rm -f m.json
}
same 'four jobs at a time' --on-option -j4
same 'a machine' --on-option --sshlogin --on-option :
mkdir "it's a place"
same 'a path with blanks and quotes' --on-option -j4 --on-dir "it's a place/x"

# a shard that fails is named, and repeated alone
rm -f trace; : >trace.die.t5
run "$WAZA" run -o f.json --on parallel --shards 2
like 'a failed shard is named with its log' '2 *waza: shard 2/2 failed (exit status 137); the end of */shard-2.log:*t3*--resume*' "$rc $err"
rm trace.die.t5 trace
run "$WAZA" run -q -o f.json --on parallel --shards 2 --resume
is 'a failed shard, resumed: status and messages' "$want " "$rc $err"
is 'a failed shard, resumed: results' '' "$(plain f.json | diff whole - | head -n 5)"
is 'a failed shard, resumed: the rest of it' 't11 t5 t7 t9' "$(sort trace | tr '\n' ' ' | sed 's/ $//')"

# refused by parallel
run "$WAZA" run -o f2.json --on parallel --on-option --no-such-option
like 'a refusal: the words of parallel' '2 *parallel could not run the jobs*no-such-option*' "$rc $err"
is 'a refusal: no directory is left' '' "$(ls .waza/on)"

# Ctrl-C leaves no job
[ -e /proc/self/status ] || { skip 'no /proc'; done_testing; }
# alive: the processes of shards and agents; zombies do not count
alive() {
	for p in $(cat trace.pids)
	do grep -q '^State:[[:space:]]*[^ZX[:space:]]' "/proc/$p/status" 2>/dev/null && echo "$p"
	done
}
none() { [ -z "$(alive)" ]; }
rm -f trace trace.pids; : >trace.hold.t2; : >trace.hold.t3
"$WAZA" run -o i.json --on parallel --shards 2 >out 2>err &
pid=$!
wait_until 60 grep -q '^t2$' trace && wait_until 60 grep -q '^t3$' trace
kill -TERM "$pid"
wait "$pid"
is 'an interrupt: status' 143 "$?"
like 'an interrupt: the finished trials are counted' '*interrupted; 2 of 12 trials are kept in *' "$(cat err)"
wait_until 30 none
is 'an interrupt: no process is left' '' "$(alive)"
rm trace.hold.t2 trace.hold.t3
run "$WAZA" run -q -o i.json --on parallel --shards 2 --resume
is 'an interrupt, resumed: status and messages' "$want " "$rc $err"
is 'an interrupt, resumed: results' '' "$(plain i.json | diff whole - | head -n 5)"
done_testing
