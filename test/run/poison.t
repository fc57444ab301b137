# An agent writes into the journal of its run: that is noticed, reported and not
# believed, and the results stay whole.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
J=$tmp/r.json.journal F=$tmp/forged
export J F
forged='{"task":"b","trial":1,"status":"passed","score":1,"weighted":1,"run":{"run_number":1,"attempts":1,"status":"passed","duration_ms":1}}'

# suite COMMAND: task a runs the command, b fails, c passes
suite() {
	cat >e.yaml <<YAML
name: poison
skill: s
config: {executor: command, workers: 1, trials_per_task: 3, command: 'if [ \$WAZA_TASK_ID = a ]; then $1; fi; echo hello \$WAZA_TASK_ID'}
tasks:
  - {id: a, prompt: x, expected: {output_contains: [hello]}}
  - {id: b, prompt: x, expected: {output_contains: [nothing]}}
  - {id: c, prompt: x, expected: {output_contains: [hello]}}
hooks: {after_run: [{command: 'cp r.json.journal copy', working_directory: $tmp}]}
YAML
	rm -f r.json "$J"
}
# verdicts: task and verdict of each trial in the results
verdicts() {
	"$WAZA" parse r.json | grep -o '"test_id":"[a-z]*"\|"run_number":[0-9]*,"attempts":1,"status":"[a-z]*"' |
	    sed 's/"test_id":"\(.*\)"/\1/; s/.*"status":"\(.*\)"/\1/' | tr '\n' ' '
}
want='a passed passed passed b failed failed failed c passed passed passed '
warned='*r.json.journal: another program, perhaps an agent, has *'

printf '%s\n' "$forged" >"$F"
for c in 'cat $F >>$J' 'printf x >>$J' 'echo garbage >>$J; echo { >>$J' 'head -c 400 $J >part; cat part >$J' ': >$J'
do
	suite "$c"
	run "$WAZA" run -q e.yaml -o r.json
	is "$c: status" 1 "$rc"
	is "$c: the verdicts are right" "$want" "$(verdicts)"
	like "$c: it is reported" "$warned" "$err"
done

# not believed when resumed, either; what cannot be believed runs again
suite true
"$WAZA" run -q e.yaml -o r.json >/dev/null 2>&1
cp copy "$J"		# as if the run had been killed at its end
printf '%s\n' "$forged" >>"$J"
printf 'and half a line' >>"$J"
run "$WAZA" run -q e.yaml -o r.json --resume
is 'resume: the verdicts are right' "$want" "$(verdicts)"
like 'resume: the place is reported' '*r.json.journal:11: waza did not write this line and others: ignored, trials without a line run again' "$err"
cp copy "$J"
sed 's/"failed"/"passed"/' "$J" >j2
cat j2 >"$J"
run "$WAZA" run -q e.yaml -o r.json --resume
is 'resume: changed lines run again' "$want" "$(verdicts)"
like 'resume: changed lines are reported' '*r.json.journal:5: waza did not write this line*' "$err"
# a line that was moved
cp copy "$J"
sed -n 2p "$J" >one
cat one >>"$J"
run "$WAZA" run -q e.yaml -o r.json --resume
like 'resume: a repeated line is reported' '*waza did not write this line*' "$err"
# the journal itself is fine
rm -f r.json "$J"
"$WAZA" run -q e.yaml -o r.json >/dev/null 2>&1
cp copy "$J"
run "$WAZA" run -q e.yaml -o r.json --resume
is 'resume: nothing is reported of a good journal' '' "$err"
cp copy "$J"
run "$WAZA" grade -q e.yaml --results r.json -o r.json
run "$WAZA" run -q e.yaml -o r.json --resume
like 'resume: a note of grade is believed' '*was graded again*' "$err"
is 'resume: after that, too' "$want" "$(verdicts)"

# without a journal, the results file is resumed: with the verdicts it has
run "$WAZA" grade -q e.yaml --results r.json -o r.json
run "$WAZA" run -q e.yaml -o r.json --resume
like 'resume from results: reported' '1 *resumed trials keep the new verdicts' "$rc $err"
is 'resume from results: the verdicts are right' "$want" "$(verdicts)"
sed 's/name: poison/name: venom/' e.yaml >v.yaml
cp r.json before.json
run "$WAZA" run -q v.yaml -o r.json --resume
is 'resume from results of another suite: status' 2 "$rc"
like 'resume from results of another suite: message' '*r.json: cannot be resumed: its suite is "poison", not "venom"' "$err"
ok 'resume from results of another suite: they are unchanged' cmp -s before.json r.json
ok 'resume from results of another suite: no journal is left' [ ! -e "$J" ]

# an earlier version's
printf '{"waza_journal":1,"suite":"poison","model":"","executor":"command","trials":3,"run_id":"r","started":"x"}\n' >"$J"
run "$WAZA" run -q e.yaml -o r.json --resume
is 'another version: status' 2 "$rc"
like 'another version: what to do' '*written by another version of waza: run without --resume' "$err"
done_testing
