# The diff grader: snapshots that differ, are missing, are updated; fragments.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir suite suite/tasks
cat >suite/eval.yaml <<'YAML'
name: diff
skill: s
config: {executor: mock, trials_per_task: 3, parallel: true}
tasks: [tasks/*.yaml]
YAML
cat >suite/tasks/a.yaml <<'YAML'
id: a
prompt: write
mock:
  output: done
  files: [{path: out/list.txt, content: "red\ngreen\nblue\n"}, {path: b.txt, content: b}]
graders:
  - type: diff
    config:
      expected_files:
        - {path: out/list.txt, snapshot: ../snap/list.txt, contains: [+green, -grey]}
        - {path: b.txt, snapshot: ../snap/b.txt}
YAML

run "$WAZA" validate suite
is 'a missing snapshot is not an error' 0 "$rc"
like 'a missing snapshot is a warning with its place' '*suite/tasks/a.yaml:10:42: warning: snapshot "suite/snap/list.txt" is missing*' "$out"
run "$WAZA" run -q suite
is 'missing snapshot: status 1' 1 "$rc"
like 'missing snapshot: message' '*snapshot*list.txt*is missing*--update-snapshots*' "$out"
like 'missing snapshot: 4 of 6 checks' '*diff 0.67*' "$out"
ok 'missing snapshot: no file is created' [ ! -e suite/snap ]

run "$WAZA" run --update-snapshots -o r.json suite
is 'update: status 0' 0 "$rc"
is 'update: no warning' '' "$(grep warning err)"
is 'update: the snapshot is written' 'red green blue ' "$(tr '\n' ' ' <suite/snap/list.txt)"
is 'update: no newline is added' b "$(cat suite/snap/b.txt)"
is 'update: no other files are written' 'b.txt
list.txt' "$(ls -A suite/snap)"
is 'update: one trial reports it' 1 "$("$WAZA" parse r.json | grep -o 'as expected; snapshot updated: [^;]*list.txt' | grep -c .)"
run "$WAZA" run -q suite
is 'the next run passes' 0 "$rc"

printf 'red\nyellow\nblue\n' >suite/snap/list.txt
cp suite/snap/list.txt old
run "$WAZA" run -q -o r.json suite
is 'changed snapshot: status 1' 1 "$rc"
like 'changed snapshot: message with both paths' '*out/list.txt*differs from snapshot*' "$out"
like 'changed snapshot: a diff' '*--- *snap/list.txt
*+++ out/list.txt
*@@ -1,3 +1,3 @@
* red
*-yellow
*+green
* blue
*' "$out"
"$WAZA" parse r.json >r.line
ok 'details have the fields of the original' grep -qF \
    '"details":{"expected_files":[{"path":"out/list.txt","snapshot":"../snap/list.txt","contains":["+green","-grey"],"diff":"--- suite/snap/list.txt' r.line
ok 'details: failures, workspace_dir' grep -q '"failures":\["file .*"workspace_dir":"/' r.line
ok 'a failed run does not change the snapshot' cmp -s old suite/snap/list.txt
if patch --version >/dev/null 2>&1	# BusyBox has another
then
	# the diff of the results, given to patch(1), makes the file
	printf '%b' "$(sed 's/.*"diff":"\([^"]*\)".*/\1/' r.line)" | sed '1,2d' >p.diff
	cp old p.txt
	patch -s p.txt p.diff >/dev/null 2>&1
	is 'patch(1) accepts the diff' 'red green blue ' "$(tr '\n' ' ' <p.txt)"
else
	skip 'no patch(1) here'
fi

# update_snapshots in the settings; no snapshot is written after an error
sed 's/config:/config: {update_snapshots: true, expected_files: [{path: b.txt, snapshot: s.txt}]}/; /expected_files:$/,$d' \
    suite/tasks/a.yaml >one.yaml
printf 'name: one\nskill: s\ntasks: [one.yaml]\n' >eval.yaml
run "$WAZA" run -q
is 'update_snapshots: status 0' 0 "$rc"
is 'update_snapshots: relative to the file that names it' b "$(cat s.txt)"
rm s.txt
sed 's/output: done/error: broke/' one.yaml >two.yaml
printf 'name: two\nskill: s\ntasks: [two.yaml]\n' >eval.yaml
run "$WAZA" run -q --update-snapshots
is 'an error: status 1' 1 "$rc"
ok 'an error: no snapshot is written' [ ! -e s.txt ]
sed 's/^graders:/graders: [{type: program, config: {command: .\/none}},/; s/  - type: diff/  {type: diff,/; s/]}$/]}}]/' \
    one.yaml >two.yaml
run "$WAZA" run -q --update-snapshots
is 'an error of an earlier grader: status 1' 1 "$rc"
like 'an error of an earlier grader: report' '*none*' "$out"
ok 'an error of an earlier grader: no snapshot is written' [ ! -e s.txt ]

# invalid settings are reported before the run
cat >bad.yaml <<'YAML'
name: bad
skill: s
tasks:
  - id: a
    prompt: x
    graders:
      - type: diff
        config:
          expected_files:
            - path: a.txt
            - {path: ../a.txt, contains: x}
YAML
run "$WAZA" run bad.yaml
is 'invalid settings: status 2' 2 "$rc"
like 'invalid settings: no check' '*bad.yaml:10:15: "snapshot" or "contains" is missing*' "$err"
like 'invalid settings: a path outside the workspace' '*bad.yaml:11:22: path "../a.txt" leads out of the workspace*' "$err"
done_testing
