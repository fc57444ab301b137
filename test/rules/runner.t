# The runner of the tests (test/tool/run): what fails, what is printed, in which order.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
unset TIMES
cat >good.t <<'T'
echo 'ok 1 - a'
echo 'ok 2 - # SKIP no reason'
echo 1..2
T
printf '%s\n' 'echo "ok 1 - a"; echo "not ok 2 - b"; echo "# got: c"; echo 1..2; exit 1' >bad.t
printf '%s\n' 'echo "ok 1 - a"; echo 1..2' >count.t
printf '%s\n' 'echo "ok 1 - a"' >plan.t
printf '%s\n' 'echo "ok 1 - a"; echo 1..1; exit 3' >status.t
printf '%s\n' '# alone' 'ls' 'echo "ok 1 - a"; echo 1..1; rm met' >alone.t
# first and second wait for each other: they run at the same time
cat >meet.sh <<'T'
: >"$1"
n=0
until [ -e "$2" ]
do
	n=$((n + 1))
	[ "$n" -lt 3000 ] || { echo 'not ok 1 - nobody there'; break; }
	"$RPCPIPE" nap
done
echo 'ok 1 - met'
echo 1..1
T
echo 'set -- here there; . ./meet.sh' >first.t
echo 'set -- there here; . ./meet.sh' >second.t

# tests ARGUMENT...: run the runner
tests() {
	run env "JOBS=$1" sh "$top/test/tool/run" $2
}

tests 1 good.t
is 'a good test, and its skipped part' "ok   good.t (1)
     skipped: no reason
1 passed, 0 failed, 1 skipped 0" "$out $rc"
tests 2 'good.t bad.t good.t'
is 'a failure: its lines, in the order of the arguments' "ok   good.t (1)
     skipped: no reason
FAIL bad.t (exit 1)
     not ok 2 - b
     # got: c
     1..2
ok   good.t (1)
     skipped: no reason
3 passed, 1 failed, 2 skipped 1" "$out $rc"
for t in count:0 plan:0 status:3
do
	tests 2 "${t%:*}.t"
	is "a wrong plan or status fails: ${t%:*}" "FAIL ${t%:*}.t (exit ${t#*:}) 1 passed, 1 failed, 0 skipped 1" \
	    "$(printf '%s\n' "$out" | sed -n '1p;$p' | tr '\n' ' ')$rc"
done
tests 2 no-such.t
is 'a missing test fails' 'FAIL 0 passed, 1 failed, 0 skipped 1' \
    "$(printf '%s\n' "$out" | sed -n '1s/ .*//p;$p' | tr '\n' ' ')$rc"
if timeout --foreground 9 true 2>/dev/null
then
	echo 'echo "ok 1 - a"; exec tail -f /dev/null' >hang.t
	run env LIMIT=1 sh "$top/test/tool/run" hang.t good.t
	is 'a test that does not end is ended, and fails' 'FAIL hang.t (did not end within 1 s) 2 passed, 1 failed, 1 skipped 1' \
	    "$(printf '%s\n' "$out" | sed -n '1p;$p' | tr '\n' ' ')$rc"
else skip 'timeout --foreground is not installed'
fi

if [ -x "$RPCPIPE" ]
then
	tests 2 'first.t second.t'
	is 'two at a time' '2 passed, 0 failed, 0 skipped 0' "$(printf '%s\n' "$out" | tail -n 1) $rc"
	# an alone test comes last, but its report stays in its place
	echo ': >met; echo "ok 1 - a"; echo 1..1' >meets.t
	tests 3 'alone.t meets.t'
	is 'alone: after the others' 'ok   alone.t (1) ok   meets.t (1) 2 passed, 0 failed, 0 skipped ' \
	    "$(printf '%s\n' "$out" | tr '\n' ' ')"

	# ended from outside: the test that runs is named, with its output
	cat >stuck.t <<-'T'
	echo 'ok 1 - a'
	echo '# stuck here'
	echo $PPID $$ >stuck
	exec tail -f /dev/null
	T
	JOBS=2 LIMIT=0 sh "$top/test/tool/run" stuck.t good.t >out 2>&1 &
	wait_until 120 test -s stuck
	# its worker first
	# shellcheck disable=SC2046 # two numbers
	kill $(cat stuck)
	wait $!
	is 'a test that was ended did not finish' 'FAIL stuck.t (did not finish) # stuck here' \
	    "$(sed -n 's/^     //; /^FAIL/p; /^#/p' out | tr '\n' ' ' | sed 's/ $//')"
	ok 'and counts as failed' grep -q '^2 passed, 1 failed, 1 skipped$' out
else
	skip 'no rpcpipe (make check builds it)'
fi
done_testing
