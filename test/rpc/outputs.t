# The output file of eval.run: what a peer may name, and one run per file.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/rpc.sh"
TMPDIR=$tmp/tmp
export TMPDIR
mkdir made made/sub secret
cp -r evals made/evals

# start OUTPUT [SUITE [ID]]: a request
start() {
	printf '{"jsonrpc":"2.0","id":%s,"method":"eval.run","params":{"path":"made/evals/%s","output":"%s"}}' \
	    "${3:-1}" "${2:-quick}" "$1"
}
# refused NAME WORDS OUTPUT: -32602 with these words, and nothing is executed
refused() {
	ask sock "$(start "$3")" >got
	like "$1: refused" "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":\"Invalid params: output: *$2*\",\"data\":{\"kind\":\"invalid_params\",\"field\":\"output\"*" \
	    "$(cat got)"
	is "$1: nothing else is sent" 1 "$(grep -c . got)"
}

serve --root made --root evals
cp -r evals/hang made/evals/

# what is there is kept
before=$(cksum <made/evals/quick/eval.yaml)
refused 'a suite' 'eval.yaml: exists and is not a results file: name another file, or remove it' made/evals/quick/eval.yaml
is 'a suite: it is unchanged' "$before" "$(cksum <made/evals/quick/eval.yaml)"
echo 'my notes' >made/x.json.journal
refused 'a foreign journal' 'x.json.journal: exists and is not a journal of waza*remove it' made/x.json
is 'a foreign journal: it is unchanged' 'my notes' "$(cat made/x.json.journal)"
ok 'a foreign journal: no results' [ ! -e made/x.json ]
echo precious >secret/file
ln -s ../secret/file made/y.json.journal
refused 'a journal that is a link' 'y.json.journal: is a symbolic link: name a new file' made/y.json
ln -s ../secret/none made/z.json.journal
refused 'a journal that is a dangling link' 'z.json.journal: is a symbolic link' made/z.json
ok 'a dangling link: its target is not made' [ ! -e secret/none ]
is 'a link: its target is unchanged' precious "$(cat secret/file)"
ln -s sub/r.json made/link.json
refused 'an output that is a link' 'link.json: is a symbolic link' made/link.json
mkfifo made/fifo made/f.json.journal
refused 'a pipe' 'fifo: is a pipe' made/fifo
refused 'a journal that is a pipe' 'f.json.journal: is a pipe' made/f.json
refused 'a directory' 'sub: is a directory' made/sub
alive 'after all these'

# new files, empty files and earlier results are written
: >made/empty.json
for f in new empty new
do
	like "$f.json" '*"method":"eval.complete"*"passed":4*' "$(ask sock "$(start "made/$f.json")" | tail -n 1)"
	like "$f.json: it is there" '{"eval_id":"run-*"status":"failed"}' "$("$WAZA" parse "made/$f.json")"
done
ok 'new.json: the journal of a complete run is removed' [ ! -e made/new.json.journal ]
echo '{"waza_journal":2}' >made/new.json.journal
refused 'a journal as output' 'new.json.journal: exists and is not a results file' made/new.json.journal

# one run per file, under whatever name
client a sock
: >"$LOG"
say a "$(start made/same.json hang)"
wait_until 120 lines "$LOG" 2
run_id
mkdir made/sub/in
ln -s ../.. made/sub/in/up
ln made/same.json.journal made/hard.json.journal
for f in made/same.json "$tmp/made/same.json" made/./sub/../same.json made/sub/in/up/same.json made/same.json.journal made/hard.json
do
	refused "a run writes it: $f" "$id writes this file: wait for its end, cancel it, or name another file" "$f"
	like "a run writes it: $f: its id" "*\"runId\":\"$id\"}}}" "$(cat got)"
done
like 'another file is free' '*"method":"eval.complete"*' "$(ask sock "$(start made/third.json)" | tail -n 1)"
# outside of the server, the lock protects it, also after the server has read the file
ask sock '{"jsonrpc":"2.0","id":1,"method":"eval.validate","params":{"path":"made/same.json.journal"}}' >got
run "$WAZA" run -q evals/quick -o made/same.json
is 'a run outside of the server: status' 2 "$rc"
like 'a run outside of the server: message' '*same.json.journal: another run is writing this journal' "$err"
"$WAZA" run -q evals/hang -o made/theirs.json >/dev/null 2>&1 &
pid_b=$!
ok 'a run outside of the server has started' wait_until 120 lines "$LOG" 4
like 'its file is refused in the server' '{"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Run failed: *theirs.json.journal: another run is writing this journal"*' \
    "$(ask sock "$(start made/theirs.json)")"
kill "$pid_b"
wait "$pid_b" 2>/dev/null
pid_b=
say a "{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"run.cancel\",\"params\":{\"runId\":\"$id\"}}"
ok 'the first ends' wait_until 120 has a.out '"error":"Run cancelled"'
# at once, on the same connection: the name is free again
say a "$(start made/same.json quick 10)"
ok 'its name is free again' wait_until 120 has a.out '"passed":4'
for f in made/*.json
do [ "$f" = made/link.json ] || ok "$f is valid" sh -c '"$WAZA" parse "$1" >/dev/null' sh "$f"
done

# two at the same time, in one message
printf '[%s,%s]\n' "$(start made/twice.json quick 1)" "$(start made/twice.json quick 2)" | "$RPCPIPE" talk sock >got
is 'two in a batch: one runs, one is refused' '1 1' "$(grep -c '"status":"completed"' got) $(grep -o '"code":-32602' got | grep -c .)"
is 'each line parses' "$(grep -c . got)" "$(while read -r l; do printf '%s' "$l" | "$WAZA" parse - >/dev/null && echo ok; done <got | grep -c ok)"

# a file that appears during the run is kept
printf 'name: late\nskill: s\nconfig: {executor: command, command: "echo notes >%s; echo x"}\ntasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]\n' \
    "$tmp/made/late.json" >made/evals/late.yaml
like 'a file that appears during the run' '*"method":"eval.complete"*"error":"made/late.json: exists and is not a results file*"status":"failed"*' \
    "$(ask sock "$(start made/late.json late.yaml)" | tail -n 1)"
is 'a file that appears during the run: it is unchanged' notes "$(cat made/late.json)"

# a refused run leaves nothing
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/quick","tasks":["none"]}}' |
    "$RPCPIPE" talk sock >got
like 'no task matches' '*"error"*no task matches*' "$(cat got)"
cat >evals/replay.yaml <<'YAML'
name: replay
skill: s
config: {executor: replay}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
ask sock '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/replay.yaml"}}' >got
like 'an executor that does not open' '*"error"*' "$(cat got)"
leave a
# input files: below the roots, also from the caller's context_dir
deep=made/evals/deep/er
mkdir -p $deep/fixtures
for from in 'files: [../../../x/f]' 'context: {fixture: ../../../x/f}'
do
	printf 'name: deep\nskill: s\ntasks:\n  - id: a\n    prompt: p\n    inputs: {%s}\n    graders: [{type: text, contains: [p]}]\n' "$from" >$deep/eval.yaml
	like "context_dir: $from is outside" '*"code":-32001,*"made/sub/../../../x/f is outside the server*' \
	    "$(ask sock "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"eval.run\",\"params\":{\"path\":\"$deep\",\"context_dir\":\"made/sub\"}}")"
done
stop
is 'the temporary directory is empty' '' "$(ls tmp)"
is 'no temporary file is left' '' "$(find made -name '*.tmp.*')"

# a file that the server names
mkdir kept
serve_results() {
	: >log	# of the server before it
	"$WAZA" serve --unix sock --results-dir kept </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log 'sock'
	listens
}
serve_results
client a sock
: >"$LOG"
say a '{"jsonrpc":"2.0","id":1,"method":"eval.run","params":{"path":"evals/hang"}}'
wait_until 120 lines "$LOG" 2
run_id
refused 'a file that the server names' "$id writes this file" "kept/hang-${id#run-}.json"
die a
stop

# the command line: a mistyped -o does not destroy the suite
cp evals/quick/eval.yaml mine.yaml
run "$WAZA" run -q mine.yaml -o mine.yaml
is '-o SUITE: status' 2 "$rc"
like '-o SUITE: message' '*mine.yaml: exists and is not a results file: name another file, or remove it' "$err"
ok '-o SUITE: it is unchanged' cmp -s mine.yaml evals/quick/eval.yaml
echo 'my notes' >r.json.journal
run "$WAZA" run -q mine.yaml -o r.json
is '-o beside a foreign journal: status' 2 "$rc"
is '-o beside a foreign journal: it is unchanged' 'my notes' "$(cat r.json.journal)"
done_testing
