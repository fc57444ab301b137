# Files of a killed run are removed by the next one, and only these.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
TMPDIR=$tmp/tmp LOG=$tmp/log
export TMPDIR LOG
mkdir tmp
lines() {
	[ -f "$1" ] && [ "$(grep -c . "$1")" -ge "$2" ]
}
cat >hang.yaml <<'YAML'
name: hang
skill: s
config: {executor: command, command: 'echo $$ >>$LOG; echo x >deep; exec tail -f /dev/null', workers: 2, trials_per_task: 2}
tasks: [{id: a, prompt: p, inputs: {files: [{path: d/f, content: c}]}, expected: {output_contains: [x]}}]
YAML
cat >mock.yaml <<'YAML'
name: mock
skill: s
config: {executor: mock}
tasks: [{id: a, prompt: p, inputs: {files: [{path: f, content: c}]}, expected: {output_contains: [p]}}]
YAML
# hang OPTION...: start a run whose agents hang; sets $pid
hang() {
	: >log
	"$WAZA" run -q hang.yaml "$@" >/dev/null 2>&1 &
	pid=$!
	wait_until 120 lines log 2
}

hang -o h.json
kill -9 "$pid"
wait "$pid" 2>/dev/null
ok 'a killed run leaves a directory' [ "$(ls tmp | grep -c .)" -eq 1 ]
# what others have made there, under such names
mkdir tmp/waza-77-abcdef tmp/waza-notes secret
echo mine >tmp/waza-77-abcdef/file
echo mine >secret/file
: >secret/.owner
ln -s ../secret tmp/waza-78-abcdef
mkdir tmp/waza-79-abcdef
ln -s ../../secret/file tmp/waza-79-abcdef/.owner
mkdir tmp/waza-80-abcdef
mkfifo tmp/waza-80-abcdef/.owner
# and a run that is alive, and workspaces that are kept
hang -o live.json
live=$pid
"$WAZA" run -q mock.yaml --keep-workspace -o k.json >/dev/null
kept=$("$WAZA" parse k.json | sed 's/.*"workspace":"\([^"]*\)".*/\1/')
old=$(ls -d tmp/waza-* | grep -v -e notes -e abcdef | grep -c .)
run "$WAZA" run -q mock.yaml -o m.json
is 'the next run: status' 0 "$rc"
is 'the killed one is removed, the others stay' '2 2 waza-77-abcdef waza-78-abcdef waza-79-abcdef waza-80-abcdef waza-notes ' \
    "$old $(ls -d tmp/waza-* | grep -v -e notes -e abcdef | grep -c .) $(ls tmp | grep -e notes -e abcdef | tr '\n' ' ')"
is 'a file of others' 'mine mine' "$(cat tmp/waza-77-abcdef/file secret/file | tr '\n' ' ' | sed 's/ $//')"
ok 'a kept workspace' [ -f "$kept/f" ]
ok 'the one that is alive' sh -c '[ -f "$(ls -d "$1"/waza-"$2"-*)/1-1-1/deep" ]' sh "$tmp/tmp" "$live"
kill "$live"
wait "$live" 2>/dev/null
ok 'it has removed its own' [ -z "$(ls -d tmp/waza-"$live"-* 2>/dev/null)" ]

# the temporary file of results
echo part >m.json.tmp.12345.0
echo mine >m.json.tmp.notes
echo mine >x.m.json.tmp.12345.0
ln -s secret/file m.json.tmp.12345.1
"$WAZA" run -q mock.yaml -o m.json >/dev/null
is 'a temporary file of results' 'm.json.tmp.12345.1 m.json.tmp.notes x.m.json.tmp.12345.0 ' "$(ls | grep 'json\.tmp' | tr '\n' ' ')"
is 'a link is not followed' mine "$(cat secret/file)"
(umask 027; "$WAZA" run -q mock.yaml -o new.json >/dev/null)
is 'a new file has the usual mode' -rw-r----- "$(ls -l new.json | cut -c 1-10)"
chmod 600 new.json
"$WAZA" run -q mock.yaml -o new.json >/dev/null
is 'a replaced file keeps its mode' -rw------- "$(ls -l new.json | cut -c 1-10)"
done_testing
