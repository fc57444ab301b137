# --cache: unchanged trials are not run again, changed ones are.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LOG=$tmp/log TMPDIR=$tmp SOME_API_KEY=sk-canary-0123456789
export LOG TMPDIR SOME_API_KEY
mkdir -p skills/a/ref fixtures/tree
printf -- '---\nname: a\ndescription: d\n---\nbody\n' >skills/a/SKILL.md
echo more >skills/a/ref/x.md
echo one >fixtures/in.txt
echo leaf >fixtures/tree/leaf
echo '{"type": "string"}' >schema.json
printf '#!/bin/sh\nexit 0\n' >check.sh
printf '#!/bin/sh\necho x >>"$LOG"\necho "\\"answer\\""\n' >agent.sh
chmod +x agent.sh check.sh
cat >eval.yaml <<'YAML'
name: c
skill: s
config: {executor: command, command: [./agent.sh], trials_per_task: 2, skill_directories: [skills/a]}
tasks:
  - id: a
    inputs: {prompt: p, files: [{path: in.txt}], context: {fixture: tree}}
    graders:
      - {type: json_schema, name: j, config: {schema_file: schema.json}}
      - {type: program, name: p, config: {command: ./check.sh}}
  - {id: b, prompt: q, expected: {output_contains: [nothing]}}
YAML

# ran OPTION...: print how many trials the agent ran
ran() {
	: >log
	"$WAZA" run -q eval.yaml "$@" >out 2>err
	rc=$?
	grep -c . log
}
is 'without --cache all trials run' 4 "$(ran)"
ok 'without --cache nothing is stored' [ ! -e .waza-cache ]
is 'the first run with --cache runs all trials' 4 "$(ran --cache -o r1.json)"
is 'the second run with --cache runs none' 0 "$(ran --cache -o r2.json)"
is 'cached failures still fail the run' 1 "$("$WAZA" run -q eval.yaml --cache >/dev/null 2>&1; echo $?)"
facts() { grep -o '"\(status\|score\|final_output\|duration_ms\|feedback\|succeeded\|failed\)":[^,}]*' "$1" | sed '/"duration_ms"/d'; }
is 'the results are the same' "$(facts r1.json)" "$(facts r2.json)"
is 'cached trials are marked in the results' 4 "$(grep -o '"cached":true' r2.json | wc -l | tr -d ' ')"
is 'cached trials are marked in the events' 4 "$("$WAZA" run --cache --stream-json eval.yaml | grep -c '"type":"trial_complete".*"cached":true')"
is '--no-cache runs all trials' 4 "$(ran --cache --no-cache)"
is '--rerun-failed runs failures' 2 "$(ran --cache --rerun-failed)"
is 'more trials run only the new ones' 2 "$(ran --cache --trials 3)"
is 'the number of workers does not matter' 0 "$(ran --cache --workers 3)"
is 'another cache directory is empty' 4 "$(ran --cache --cache-dir other)"
is 'another time-out runs all trials' 4 "$(ran --cache --timeout 17)"
is 'another model runs all trials' 4 "$(ran --cache --model m)"
is '--no-skills runs all trials' 4 "$(ran --cache --no-skills)"
is '--keep-workspace runs all trials' 4 "$(ran --cache --keep-workspace)"
is '--record runs all trials' 4 "$(ran --cache --record rec)"

# a changed file and the number of trials that run again
while read -r file cost
do
	rm -f saved
	cp -p "$file" saved
	echo '# changed' >>"$file"
	case $file in schema.json) echo '{"type": ["string"]}' >"$file" ;; esac
	is "$file is changed: trials run again" "$cost" "$(ran --cache)"
	is "$file is unchanged since: no trial runs" 0 "$(ran --cache)"
	cp -p saved "$file"
	is "$file is restored: no trial runs" 0 "$(ran --cache)"
done <<'LIST'
skills/a/SKILL.md 4
skills/a/ref/x.md 4
agent.sh 4
fixtures/in.txt 2
fixtures/tree/leaf 2
schema.json 2
check.sh 2
LIST
sed 's/prompt: q/prompt: r/' eval.yaml >e2 && mv e2 eval.yaml
is 'a changed prompt runs its trials again' 2 "$(ran --cache)"
sed 's/\[nothing\]/[something]/' eval.yaml >e2 && mv e2 eval.yaml
is 'a changed "a changed "expected" runs its trials again" runs its trials again' 2 "$(ran --cache)"

# invalid entries; parallel runs
for f in .waza-cache/*.json
do echo '{"waza_cache":1' >"$f"
done
is 'invalid entries are ignored' 4 "$(ran --cache)"
is 'invalid entries are replaced' 0 "$(ran --cache)"
rm -rf .waza-cache
for i in 1 2 3 4
do "$WAZA" run -q eval.yaml --cache -o "p$i.json" >/dev/null 2>&1 &
done
wait
is 'parallel runs write complete entries' 0 "$(ran --cache)"
is 'parallel runs leave no other files' '' "$(find .waza-cache -type f ! -name '*.json')"
is 'the cache contains no secrets' '' "$(grep -rl canary .waza-cache)"

# trials that are not cached by default
cat >never.yaml <<'YAML'
name: n
skill: s
config: {executor: command, command: [./agent.sh], judge: {executor: mock, mock: {output: '{"passed": true, "score": 1}'}}}
tasks:
  - {id: judged, prompt: p, graders: [{type: prompt, name: j, config: {prompt: good?}}]}
  - {id: behaved, prompt: p, graders: [{type: behavior, name: b, config: {max_duration_ms: 60000}}]}
YAML
never() {
	: >log
	"$WAZA" run -q never.yaml "$@" >out 2>err
	grep -c . log
}
never --cache >/dev/null
is 'trials with judges or behavior graders run again' 2 "$(never --cache)"
never --cache-all >/dev/null
is '--cache-all caches them' 0 "$(never --cache-all)"
cat >err.yaml <<'YAML'
name: e
skill: s
config: {executor: command, command: 'echo x >>$LOG; exit 3'}
tasks: [{id: e, prompt: p, expected: {output_contains: [x]}}]
YAML
: >log
for i in 1 2
do "$WAZA" run -q err.yaml --cache >/dev/null 2>&1
done
is 'errors are not cached' 2 "$(grep -c . log)"

# settings
printf 'cache: {enabled: true, dir: mine}\n' >.waza.yaml
is 'cache in the settings: the first run runs all trials' 4 "$(ran)"
is 'cache in the settings: the second run runs none' 0 "$(ran)"
ok 'cache in the settings: the directory is used' [ -d mine ]
is '--no-cache takes precedence over the settings' 4 "$(ran --no-cache)"
is '--no-cache causes no warning' '' "$(cat err)"
mkdir -p below
like 'waza cache uses the directory of the settings' '*"directory":"../mine","entries":4,*' "$(cd below && "$WAZA" cache stats --format json)"
printf 'cache: {dir: [1]}\n' >.waza.yaml
run "$WAZA" cache clear
is 'invalid settings: status 2' 2 "$rc"
like 'invalid settings: place' '.waza.yaml:1:*' "$err"
rm .waza.yaml

# the command
run "$WAZA" cache stats --cache-dir mine
like 'stats' '*entries   4
bytes     [1-9]*oldest*' "$out"
run "$WAZA" cache stats --cache-dir mine --format json
like 'stats as JSON' '{"directory":"mine","entries":4,"bytes":[1-9]*' "$out"
run "$WAZA" cache stats --cache-dir nowhere
is 'stats without a cache: status 0' 0 "$rc"
echo mine >mine/notes.txt
run "$WAZA" cache clear --cache-dir mine
is 'clear refuses a directory with other files' 2 "$rc"
like 'clear names the other file' '*notes.txt*nothing was removed*' "$err"
is 'clear removes nothing if it refuses' 4 "$(find mine -name '*.json' | wc -l | tr -d ' ')"
rm mine/notes.txt
mkdir mine/sub
run "$WAZA" cache clear --cache-dir mine
is 'clear refuses a directory with directories' 2 "$rc"
rmdir mine/sub
run "$WAZA" cache clear --cache-dir mine
is 'clear' '4 entries removed from mine' "$out"
ok 'clear removes the directory' [ ! -e mine ]
run "$WAZA" cache clear --cache-dir mine
is 'clear without a cache: status 0' 0 "$rc"
run "$WAZA" cache burn
is 'unknown subcommand: status 2' 2 "$rc"
ok 'other caches are unchanged' [ -d .waza-cache ]

# a grader finds its snapshot in fixtures/ although the task has a context_dir
mkdir -p context
echo answer >fixtures/snap.txt
cat >eval.yaml <<'YAML'
name: c
skill: s
config: {executor: command, command: ['sh', '-c', 'echo x >>"$LOG"; echo answer >a.txt']}
tasks:
  - id: a
    prompt: p
    context_dir: context
    graders: [{type: diff, config: {expected_files: [{path: a.txt, snapshot: snap.txt}]}}]
YAML
is 'a snapshot in fixtures: the first run' 1 "$(ran --cache --cache-dir snaps)"
is 'a snapshot in fixtures: unchanged' 0 "$(ran --cache --cache-dir snaps)"
echo other >fixtures/snap.txt
is 'a changed snapshot in fixtures runs again' 1 "$(ran --cache --cache-dir snaps)"
done_testing
