# Trials that have not changed are not run again; whatever changes, they are.
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

# ran OPTION...: how many trials an agent was asked for
ran() {
	: >log
	"$WAZA" run -q eval.yaml "$@" >out 2>err
	rc=$?
	grep -c . log
}
is 'without: all are run' 4 "$(ran)"
ok 'without: nothing is kept' [ ! -e .waza-cache ]
is 'first: all are run' 4 "$(ran --cache -o r1.json)"
is 'second: none is' 0 "$(ran --cache -o r2.json)"
is 'failures are failures' 1 "$("$WAZA" run -q eval.yaml --cache >/dev/null 2>&1; echo $?)"
facts() { grep -o '"\(status\|score\|final_output\|duration_ms\|feedback\|succeeded\|failed\)":[^,}]*' "$1" | sed '/"duration_ms"/d'; }
is 'the results are the same' "$(facts r1.json)" "$(facts r2.json)"
is 'and marked' 4 "$(grep -o '"cached":true' r2.json | wc -l | tr -d ' ')"
is 'events are marked, too' 4 "$("$WAZA" run --cache --stream-json eval.yaml | grep -c '"type":"trial_complete".*"cached":true')"
is '--no-cache' 4 "$(ran --cache --no-cache)"
is '--rerun-failed runs failures' 2 "$(ran --cache --rerun-failed)"
is 'another trial is another' 2 "$(ran --cache --trials 3)"
is 'workers make no difference' 0 "$(ran --cache --workers 3)"
is 'in another place' 4 "$(ran --cache --cache-dir other)"
is 'timeout' 4 "$(ran --cache --timeout 17)"
is 'model' 4 "$(ran --cache --model m)"
is 'no skills' 4 "$(ran --cache --no-skills)"
is 'a kept workspace has to be made' 4 "$(ran --cache --keep-workspace)"
is 'a recording has to be made' 4 "$(ran --cache --record rec)"

# what a change costs: file, trials
while read -r file cost
do
	rm -f saved
	cp -p "$file" saved
	echo '# changed' >>"$file"
	case $file in schema.json) echo '{"type": ["string"]}' >"$file" ;; esac
	is "$file was changed" "$cost" "$(ran --cache)"
	is "$file: again" 0 "$(ran --cache)"
	cp -p saved "$file"
	is "$file as it was" 0 "$(ran --cache)"
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
is 'prompt' 2 "$(ran --cache)"
sed 's/\[nothing\]/[something]/' eval.yaml >e2 && mv e2 eval.yaml
is 'expected' 2 "$(ran --cache)"

# entries that are none, and several at a time
for f in .waza-cache/*.json
do echo '{"waza_cache":1' >"$f"
done
is 'broken entries are passed over' 4 "$(ran --cache)"
is 'and replaced' 0 "$(ran --cache)"
rm -rf .waza-cache
for i in 1 2 3 4
do "$WAZA" run -q eval.yaml --cache -o "p$i.json" >/dev/null 2>&1 &
done
wait
is 'parallel runs leave whole entries' 0 "$(ran --cache)"
is 'and nothing else' '' "$(find .waza-cache -type f ! -name '*.json')"
is 'no secret in it' '' "$(grep -rl canary .waza-cache)"

# what is never kept
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
is 'judged and behaved are run again' 2 "$(never --cache)"
never --cache-all >/dev/null
is '--cache-all keeps them' 0 "$(never --cache-all)"
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
is 'errors are not kept' 2 "$(grep -c . log)"

# settings
printf 'cache: {enabled: true, dir: mine}\n' >.waza.yaml
is 'by the settings: first' 4 "$(ran)"
is 'by the settings: second' 0 "$(ran)"
ok 'by the settings: the directory' [ -d mine ]
is 'the settings are not in the way' 4 "$(ran --no-cache)"
is 'no warning about them' '' "$(cat err)"
mkdir -p below
like 'waza cache goes by them' '*"directory":"../mine","entries":4,*' "$(cd below && "$WAZA" cache stats --format json)"
printf 'cache: {dir: [1]}\n' >.waza.yaml
run "$WAZA" cache clear
is 'settings that make no sense: status' 2 "$rc"
like 'settings that make no sense: where' '.waza.yaml:1:*' "$err"
rm .waza.yaml

# the command
run "$WAZA" cache stats --cache-dir mine
like 'stats' '*entries   4
bytes     [1-9]*oldest*' "$out"
run "$WAZA" cache stats --cache-dir mine --format json
like 'stats as JSON' '{"directory":"mine","entries":4,"bytes":[1-9]*' "$out"
run "$WAZA" cache stats --cache-dir nowhere
is 'stats of none' 0 "$rc"
echo mine >mine/notes.txt
run "$WAZA" cache clear --cache-dir mine
is 'clear refuses what is not its own' 2 "$rc"
like 'and says what' '*notes.txt*nothing was removed*' "$err"
is 'and removes nothing' 4 "$(find mine -name '*.json' | wc -l | tr -d ' ')"
rm mine/notes.txt
mkdir mine/sub
run "$WAZA" cache clear --cache-dir mine
is 'nor directories' 2 "$rc"
rmdir mine/sub
run "$WAZA" cache clear --cache-dir mine
is 'clear' '4 entries removed from mine' "$out"
ok 'clear: it is gone' [ ! -e mine ]
run "$WAZA" cache clear --cache-dir mine
is 'clear of none' 0 "$rc"
run "$WAZA" cache burn
is 'no such thing' 2 "$rc"
ok 'elsewhere nothing was removed' [ -d .waza-cache ]
done_testing
