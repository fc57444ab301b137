#!/bin/sh
# waza new and waza init: files that are valid and pass at once, never replace
# anything, and are created as a whole.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# A PATH without agents: the executor is mock.
mkdir bin
for p in sh cat ls find sort grep sed diff cp rm mkdir chmod id cksum
do ln -s "$(command -v $p)" "bin/$p"
done
ln -s "$WAZA" bin/waza
PATH=$tmp/bin

# sums DIR: names and contents of all files
sums() {
	(cd "$1" && find . -type f | sort | while read -r f
	do printf '%s ' "$f"; cksum <"$f"
	done)
}

# skill DIR DESCRIPTION
skill() {
	mkdir -p "$1"
	printf -- '---\nname: %s\ndescription: "%s"\n---\n# T\n' \
	    "${1##*/}" "$2" >"$1/SKILL.md"
}

#
# new skill
#
mkdir alone && cd alone || exit 1
run "$WAZA" new skill pdf-reader
is 'new skill: exit 0' 0 "$rc"
like 'it lists what it created' \
    '*"+ pdf-reader/SKILL.md"*8 files created, 0 kept*next: write pdf-reader/SKILL.md and the tasks, then: waza run pdf-reader/evals/eval.yaml' \
    "$(printf '%s' "$out" | sed 's/+ pdf-reader.SKILL.md/"&"/')"
run "$WAZA" validate --strict pdf-reader/evals
is 'its suite is valid' 'pdf-reader/evals/eval.yaml: ok (3 tasks)' "$out$err"
run "$WAZA" run -q --executor mock pdf-reader/evals
is 'its suite passes with mock' 0 "$rc"
before=$(sums pdf-reader)
run "$WAZA" new pdf-reader
is 'again, as "new NAME": exit 0' 0 "$rc"
like 'again: nothing to do' '*nothing to do: everything exists*' "$out"
is 'again: nothing changed' "$before" "$(sums pdf-reader)"
rm pdf-reader/.gitignore
echo 'mine' >pdf-reader/evals/tasks/mine.txt
run "$WAZA" new skill pdf-reader
like 'only the missing file is created' '*1 file created, 3 kept*' "$out"
: >pdf-reader/SKILL.md
run "$WAZA" new skill pdf-reader --description 'Reads PDF.'
ok 'an empty SKILL.md is filled' grep -q 'description: Reads PDF' \
    pdf-reader/SKILL.md
printf -- '---\nname: [\n---\n' >pdf-reader/SKILL.md
run "$WAZA" new skill pdf-reader
is 'a broken SKILL.md is an error' 2 "$rc"
like 'with its place' 'pdf-reader/SKILL.md:*' "$err"
for name in '' . .. a/b 'a\b' A_B claude-x x--y
do
	run "$WAZA" new skill "$name"
	is "new skill \"$name\" is refused" 2 "$rc"
done
like 'with a name that is possible' '*did you mean "x-y"?*' "$err"
mkdir -p ../project/skills ../project/a/b
cd ../project/a/b || exit 1
run "$WAZA" new skill deep
like 'in a project above' '*+ ../../skills/deep/SKILL.md*' "$out"
ok 'its suite is there, too' test -f ../../evals/deep/eval.yaml
run "$WAZA" new skill other -d sub/dir
ok '--output-dir is created' test -f ../../skills/other/SKILL.md
cd "$tmp" || exit 1

#
# new eval, as the extension of VS Code calls it
#
skill ws/skills/mail 'Sorts mail. USE FOR: sort my inbox, archive {{.X}} mail. DO NOT USE FOR: writing mail.'
cd ws || exit 1
run "$WAZA" --version
is 'waza --version: exit 0' 0 "$rc"
run "$WAZA" new eval mail </dev/null
is 'new eval: exit 0' 0 "$rc"
is 'its files' 'evals/mail/eval.yaml
evals/mail/tasks/negative-trigger-1.yaml
evals/mail/tasks/positive-trigger-1.yaml
evals/mail/tasks/positive-trigger-2.yaml
evals/mail/trigger_tests.yaml' "$(find evals -type f | sort)"
ok 'a prompt of USE FOR' grep -q 'prompt: sort my inbox$' \
    evals/mail/tasks/positive-trigger-1.yaml
ok 'a prompt of DO NOT USE FOR' grep -q 'prompt: writing mail$' \
    evals/mail/tasks/negative-trigger-1.yaml
run "$WAZA" validate --strict evals
is 'it is valid' 'evals/mail/eval.yaml: ok (3 tasks)' "$out$err"
run "$WAZA" run evals/mail/eval.yaml --context-dir skills/mail \
    --output r.json --executor mock
is 'it passes with mock' 0 "$rc"
ok 'the results are written' test -s r.json
find evals -name '*.journal' -exec rm {} +
before=$(sums evals)
run "$WAZA" new eval mail
is 'again: exit 0' 0 "$rc"
is 'again: nothing changed' "$before" "$(sums evals)"
run "$WAZA" new eval male
is 'an unknown skill: exit 2' 2 "$rc"
like 'with the words that the extension looks for' \
    '*finding skill*not found in workspace*' "$err"
mkdir -p ../real/evals
run "$WAZA" new eval mail --output ../real/evals/mail/wazaEval.yaml
is '--output elsewhere: exit 0' 0 "$rc"
is 'a suite elsewhere does not name the copy of the skill' '' \
    "$(grep skills ../real/evals/mail/wazaEval.yaml)"
skill ../real/.github/skills/mail 'Sorts mail.'
rm -r ../real/evals/mail
run "$WAZA" new eval mail --output ../real/evals/mail/wazaEval.yaml
ok 'but the skill that is there' grep -q -- '- "../../.github/skills/mail"' \
    ../real/evals/mail/wazaEval.yaml
run "$WAZA" new eval mail --executor nobody --output x/eval.yaml
is 'an unknown executor is an error' 2 "$rc"
ok 'and nothing was written' test ! -e x
run "$WAZA" new eval mail --executor openai --output y/eval.yaml
ok 'no trigger tests where the executor cannot tell' \
    test ! -e y/trigger_tests.yaml
cd "$tmp" || exit 1

# inside of a skill that is not in a project
skill solo 'Does it.'
cd solo || exit 1
run "$WAZA" new eval solo
like 'the suite of a skill alone is in its directory' \
    '*+ evals/eval.yaml*' "$out"
cd "$tmp" || exit 1

# names of .waza.yaml
skill named/abilities/x 'Does it.'
cd named || exit 1
printf 'paths: {skills: abilities, evals: tests}\nfiles: {evalFile: suite.yaml, taskGlob: "t/*.task", taskFileSuffix: .task}\ndefaults: {engine: mock, model: m1}\n' >.waza.yaml
run "$WAZA" new eval x
ok 'paths and names of .waza.yaml' test -f tests/x/t/positive-trigger-1.task
run "$WAZA" validate --strict tests/x/suite.yaml
is 'and it is valid' 'tests/x/suite.yaml: ok (3 tasks)' "$out$err"
ok 'with its model' grep -q '  model: m1' tests/x/suite.yaml
run "$WAZA" new task more --eval x
ok 'a new task has the directory and the ending, too' test -f tests/x/t/more.task
is 'the suite lists it' '' "$err"
cd "$tmp" || exit 1

run "$WAZA" new eval x --scenario repository
like '--scenario is refused, with what to do instead' '2 *--scenario is not supported: write a suite*' "$rc $err"

#
# Nothing is left half-written.
#
if [ "$(id -u)" = 0 ]
then skip 'root can write to read-only directories'
     skip 'root can write to read-only directories'
     skip 'root can write to read-only directories'
else
	skill ro/skills/x 'Does it.'
	cd ro && chmod 555 .
	run "$WAZA" new eval x
	is 'a read-only directory is an error' 2 "$rc"
	run "$WAZA" new skill y -d sub
	like 'with its reason' '*sub: *denied*' "$err"
	chmod 755 .
	is 'and nothing was written' 'skills' "$(ls)"
	cd "$tmp" || exit 1
fi
skill full/skills/x 'Does it.'
cd full || exit 1
got=$( (ulimit -f 0; "$WAZA" new eval x) 2>&1; echo "$?")
like 'a file that cannot be written is an error' '*evals/x/*2' "$got"
is 'and nothing was written, not even directories' 'skills' "$(ls -A)"
cd "$tmp" || exit 1
skill way/skills/x 'Does it.'
mkdir -p way/evals/x && : >way/evals/x/tasks && cd way || exit 1
run "$WAZA" new eval x
is 'a file in the way is an error' 2 "$rc"
is 'and nothing was written' 'evals/x/tasks' "$(find evals -type f)"
cd "$tmp" || exit 1

#
# new task
#
mkdir tasks && cd tasks || exit 1
cat >eval.yaml <<'X'
name: x
skill: y
config: {executor: mock}
tasks:
  - tasks/*.yaml
X
run "$WAZA" new task first
is 'new task: exit 0' 0 "$rc"
run "$WAZA" validate --strict eval.yaml
is 'it is valid' 'eval.yaml: ok (1 task)' "$out$err"
cat >seen.yaml <<'X'
name: seen
skill: y
config: {executor: mock}
tasks:
  - id: a
    prompt: "Use {{.TaskName}} (x.y)"
    mock:
      output: "Done: a+b (c).\n\n```\ncode\n```\nAll {{.Good}} now."
      skills: [y]
      tool_calls:
        - {name: bash, arguments: {command: "ls -l *.c | wc"}}
        - {name: bash, arguments: {command: "ls -l *.c | wc"}}
        - {name: edit, arguments: {path: src/a.c}}
      files:
        - {path: out/made.txt, content: "diff --git a/fake b/fake\n"}
    graders: [{type: text, config: {contains: [done]}}]
X
run "$WAZA" run -q seen.yaml -o r.json
run "$WAZA" new task from-answer --from-results r.json
is 'from results: exit 0' 0 "$rc"
is 'its graders' '- type: skill_invocation
- type: tool_constraint
- type: file
- type: text' "$(grep -o -- '- type: .*' tasks/from-answer.yaml)"
ok 'the file that was made' grep -q -- '- out/made.txt' tasks/from-answer.yaml
is 'one entry for equal calls' 2 "$(grep -c 'tool: ' tasks/from-answer.yaml)"
# the answer passes its own graders
sed -n '/^graders:/,$p' tasks/from-answer.yaml | sed 's/^/    /' >g
sed '/^    graders:/d' seen.yaml >again.yaml && cat g >>again.yaml
run "$WAZA" run -q again.yaml --strict
is 'the answer passes its graders' 0 "$rc"
run "$WAZA" new task b --from-results r.json --task nope
is 'an unknown task is an error' 2 "$rc"
like 'which names the file' '*r.json has no task "nope"*' "$err"
run "$WAZA" run -q seen.yaml --transcript-dir t
run "$WAZA" new task c --from-transcript t/a-*.json
is 'from a transcript: exit 0' 0 "$rc"
ok 'with its calls' grep -q 'command_pattern: "ls -l \\\\\*\\\\.c \\\\| wc"' \
    tasks/c.yaml
cat >events.jsonl <<'X'
{"type":"session.start","data":{}}
{"type":"user.message","data":{"content":"Say hi"}}
{"type":"tool.execution_start","data":{"toolName":"bash","arguments":{"command":"echo hi"}}}
{"type":"assistant.message","data":{"content":"hi"}}
{"type":"assistant.message","data":{"content":"bye now"}}
X
run "$WAZA" new task d --from-transcript events.jsonl
ok 'events of a session' grep -q 'prompt: Say hi' tasks/d.yaml
ok 'with the answer' grep -q -- '- bye now' tasks/d.yaml
echo '{"type":' >>events.jsonl
run "$WAZA" new task e --from-transcript events.jsonl
like 'a broken line has its place' 'events.jsonl:6:*' "$err"
is 'and is an error' 2 "$rc"
run "$WAZA" new task ../x
is 'a path is not a name' 2 "$rc"
run "$WAZA" validate eval.yaml
like 'all of them are valid' '*eval.yaml: ok (4 tasks)' "$out$err"
run "$WAZA" new task from-prompt 'Say {{.hello}}' p.yaml --executor mock \
    --tags 'a, b' --timeout 1m
is 'from-prompt: exit 0' 0 "$rc"
ok 'with the prompt' grep -q 'prompt: "Say {{' p.yaml
ok 'with tags' grep -q -- '- b$' p.yaml
run "$WAZA" new task from-prompt again p.yaml --executor mock
is 'an existing file is an error' 2 "$rc"
run "$WAZA" new task from-prompt again p.yaml --executor mock --overwrite
ok 'unless --overwrite' grep -q 'prompt: again' p.yaml
run "$WAZA" new task from-prompt again q.yaml --timeout 5x
is 'a wrong time is an error' 2 "$rc"
is 'nothing is left in TMPDIR' '' "$(ls "$TMPDIR")"
cd "$tmp" || exit 1

#
# init
#
skill init/skills/a 'Does a. USE FOR: x y z.'
run "$WAZA" init init
is 'init: exit 0' 0 "$rc"
cd init || exit 1
is 'its files' './.github/workflows/waza.yml
./.gitignore
./.waza.yaml
./.waza/schemas/config.schema.json
./.waza/schemas/eval.schema.json
./.waza/schemas/task.schema.json
./.waza/schemas/trigger.schema.json
./README.md
./evals/a/eval.yaml
./evals/a/tasks/negative-trigger-1.yaml
./evals/a/tasks/positive-trigger-1.yaml
./evals/a/tasks/positive-trigger-2.yaml
./evals/a/trigger_tests.yaml
./skills/a/SKILL.md' "$(find . -type f | sort)"
run "$WAZA" validate --strict .
is 'all suites are valid' 'evals/a/eval.yaml: ok (3 tasks)' "$out$err"
schema=$(sed -n 's/^# yaml-language-server: $schema=//p' \
    evals/a/tasks/positive-trigger-1.yaml)
ok 'a task names its schema' test -s "evals/a/tasks/$schema"
run "$WAZA" schema-check "evals/a/tasks/$schema" \
    evals/a/tasks/positive-trigger-1.yaml
is 'and is valid under it' 0 "$rc"
run "$WAZA" config
is 'the settings are valid' '' "$err"
sed -n 's/^ *run: //p' .github/workflows/waza.yml >../commands
bad=
while read -r c
do sh -c "$c" >/dev/null 2>&1 </dev/null || bad="$bad $c;"
done <../commands
is 'the commands of the workflow but check pass' ' waza check;' "$bad"
rm -r results
before=$(sums .)
run "$WAZA" init
is 'again: exit 0' 0 "$rc"
is 'again: nothing changed' "$before" "$(sums .)"
cd "$tmp" || exit 1
run "$WAZA" init new/dir --skills-dir abilities --no-evals --executor mock
ok 'the directory and its parents are created' test -d new/dir/abilities
for dir in /abs ../up a/../../b 'a:b' 'a#b' ''
do
	run "$WAZA" init bad --evals-dir "$dir"
	is "--evals-dir \"$dir\" is refused" 2 "$rc"
done
ok 'a refused call creates no directory' test ! -e bad
skill found/my/skills/z 'Does z.'
run "$WAZA" init found --no-evals
ok 'existing skills are found' grep -q 'skills: my/skills' found/.waza.yaml

# nothing is written through a symbolic link
mkdir -p linked/skills/x linked/evals elsewhere
printf -- '---\nname: x\ndescription: Does x.\n---\nbody\n' >linked/skills/x/SKILL.md
command -p ln -s ../../elsewhere linked/evals/x
cd linked || exit 1
run "$WAZA" new eval x --executor mock
cd .. || exit 1
is 'symbolic link: status' 2 "$rc"
like 'symbolic link: message' '*evals/x is a symbolic link*' "$err"
is "symbolic link: nothing is written" "" "$(command -p ls elsewhere)"
# linked_at PATH COMMAND...: PATH leads out of the project; nothing is written there
linked_at() {
	rm -rf linked
	mkdir -p linked/skills/x
	printf -- '---\nname: x\ndescription: Does x.\n---\nbody\n' >linked/skills/x/SKILL.md
	mkdir -p "linked/${1%/*}"
	rm -rf "linked/${1:?}"
	command -p ln -s "$tmp/elsewhere" "linked/$1"
	at=$1
	shift
	cd linked || exit 1
	run "$@" </dev/null
	cd .. || exit 1
	like "$2 ${3-}, $at is a symbolic link" "2 *${at#./} is a symbolic link*" "$rc $err"
	is "$2 ${3-}, $at: nothing is written" '' "$(command -p ls elsewhere)"
}
linked_at ./evals "$WAZA" new eval x --executor mock
linked_at evals/x/tasks "$WAZA" new eval x --executor mock
linked_at skills/y "$WAZA" new skill y
linked_at ./evals "$WAZA" init
printf 'prompts: [hello]\nproviders: [echo]\ntests: [{assert: [{type: contains, value: hello}]}]\n' >cases.yaml
linked_at ./cases "$WAZA" import promptfoo ../cases.yaml
# a task made from an answer of a new suite passes in that suite
mkdir "$tmp/seen" && cd "$tmp/seen" || exit 1
skill skills/spell 'Spells words. USE FOR: spell this word, check the spelling. DO NOT USE FOR: translate it.'
"$WAZA" new eval spell --executor mock >/dev/null && "$WAZA" run -q spell -o r.json >/dev/null
run "$WAZA" new task seen --from-results r.json --task positive-trigger-001
is 'new task from results that used a skill: exit 0' 0 "$rc"
ok 'it has a grader of the skill' grep -q required_skills evals/spell/tasks/seen.yaml
run "$WAZA" validate --strict
is 'the suite is valid with it' '0 evals/spell/eval.yaml: ok (4 tasks)' "$rc $out$err"
run "$WAZA" run -q spell -o r2.json
is 'and passes' 0 "$rc"
run "$WAZA" run -q spell --skip-graders -o r3.json
like 'answers that are not graded miss no metric' '0 *NOT GRADED: *  results: r3.json' "$rc $out"
is 'and none is named' 0 "$(printf '%s\n' "$out" | grep -c 'metric ')"

done_testing
