# waza validate and waza list.  test/suite/bad/X.want is the whole output of
# validate for X.yaml; paths are relative to that directory.
. "${0%/*}/../tool/lib.sh"
cd "$top/test/suite/bad" || exit 1

for want in *.want */*.want
do
	[ -f "${want%.want}.yaml" ] || continue
	run "$WAZA" validate "${want%.want}.yaml"
	is "${want%.want}: findings" "$(cat "$want")" "$out"
	is "${want%.want}: status" 2 "$rc"
	is "${want%.want}: nothing on stderr" '' "$err"
done

cd "$top" || exit 1
# the keys of all rows in the tables of the suite loader
cat suite/spec*.c | tr ')' '\n' | awk -F '[(,] *' '
/^[\t ,]*(FIELD|SPEC_KEY|SPEC_RANGE)\(/ { print $3 }
/^[\t ,]*SPEC_PART\(/ { print $4 }
/^[\t ,]*SPEC_(ROW|AS|OTHER)\([a-z_]*, "/ { print $3 }
/^[\t ,]*(TASK|EXPECTED|LIMIT|OTHER|HOOKS|EXECUTOR_KEY)\(/ {
	print $1 == "" ? $3 : $2 }
' | tr -d '"' | grep .. | sort -u >"$tmp/rows"
while read -r key
do grep -qw -e "$key" man/waza-eval.5 man/waza-config.5 || echo "$key"
done <"$tmp/rows" >"$tmp/keys"
is 'the manuals have every key' '' "$(cat "$tmp/keys")"
is 'the tables have more than 100 keys' 1 "$(($(wc -l <"$tmp/rows") > 100))"
run "$WAZA" validate examples/hello
is 'a valid suite' 'examples/hello/eval.yaml: ok (1 task)' "$out"
is 'a valid suite: status 0' 0 "$rc"
run "$WAZA" validate examples
like 'a directory: errors with their places' 'examples/broken/eval.yaml:5:3: ?*' "$out"
is 'a directory: the other suites are valid' "$("$WAZA" list --format json examples |
    grep -c '"path"')" "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
is 'a directory: status' 2 "$rc"

# one error at a time, with its place
cd "$tmp" || exit 1
mkdir sub empty
# suite TEXT: run validate on a suite with that text
suite() {
	printf '%b' "$1" >s.yaml
	run "$WAZA" validate s.yaml
}
run "$WAZA" validate none.yaml
is 'missing file' 'none.yaml: No such file or directory; check the path' "$out"
is 'missing file: status 2' 2 "$rc"
mkdir sub/eval.yaml
run "$WAZA" validate empty
is 'a directory without suites' 2 "$rc"
like 'a directory without suites: message' 'waza: empty: no suite found*' "$err"
printf 'a\000b' >bin.yaml
run "$WAZA" validate bin.yaml
is 'a binary file' 'bin.yaml: binary file, not YAML' "$out"
suite 'name: a\nskill: b\ntasks: [{id: x, prompt: y}]\ngraders: [{name: g, type: text, contains: y}]\n'
is 'the smallest suite' 's.yaml: ok (1 task)' "$out"
suite 'name: a\ntasks: [{id: x, prompt: y}]\ngraders: [{name: g, type: text, contains: y}]\n'
is 'no skill: a warning' 's.yaml:1:1: warning: "skill" is missing
s.yaml: ok (1 task)' "$out"
is 'a warning: status 0' 0 "$rc"
run "$WAZA" validate --strict s.yaml
is 'a warning with --strict: status 2' 2 "$rc"
suite 'name: a\nskill: b\ntask: []\ntasks: [{id: x, prompt: y}]\ngraders: [{name: g, type: text, contains: y}]\n'
is 'an unknown key' 's.yaml:3:1: warning: unknown key "task" (did you mean "tasks"?)
s.yaml: ok (1 task)' "$out"
run "$WAZA" validate --strict s.yaml
is 'an unknown key with --strict' 's.yaml:3:1: unknown key "task" (did you mean "tasks"?)' "$out"
suite 'name: a\nskill: b\ntasks: ["*.task"]\ngraders: [{name: g, type: text, contains: y}]\n'
is 'no file matches the pattern of tasks' 's.yaml:3:9: no task file matches *.task (relative to this file)' "$out"
printf 'id: from a task file\nprompt: x\n' >1.task
suite 'name: a\nskill: b\ntasks: ["*.task"]\ngraders: [{name: g, type: text, contains: y}]\n'
is 'a pattern with a suffix' 's.yaml: ok (1 task)' "$out"
suite 'name: a\nskill: b\ntasks: sub/../1.task\ngraders: [{name: g, type: text, contains: y}]\n'
is 'one file name with dots' 's.yaml: ok (1 task)' "$out"
suite 'name: a\nskill: b\ntasks: [{id: x, prompt: y}, nowhere.yaml]\ngraders: [{name: g, type: text, contains: y}]\n'
is 'a missing file beside other tasks' \
    's.yaml:3:29: warning: no task file matches nowhere.yaml (relative to this file)
s.yaml: ok (1 task)' "$out"

# a suite named by a path from another directory
mkdir -p a/b/c
printf 'name: a\nskill: b\nconfig: {executor: mock}\ntasks: [t/*.yaml]\n' >a/b/c/eval.yaml
mkdir a/b/c/t
printf 'id: one\nprompt: x\n' >a/b/c/t/1.yaml
printf 'defaults: {workers: lots}\n' >a/.waza.yaml
run "$WAZA" validate a/b/c/eval.yaml
is 'settings of parent directories are found' \
    'a/.waza.yaml:1:21: "workers" must be a whole number, not a string' "$out"
cd a/b/c || exit 1
run "$WAZA" validate eval.yaml
is 'settings are found from within the directory' \
    '../../.waza.yaml:1:21: "workers" must be a whole number, not a string' "$out"
rm ../../.waza.yaml
run "$WAZA" list --format json ../..
is 'list: JSON' '{
  "evals": [
    {
      "path": "../../b/c/eval.yaml",
      "name": "a",
      "skill": "b",
      "version": "",
      "tasks": [
        {
          "id": "one",
          "name": "one",
          "file": "../../b/c/t/1.yaml"
        }
      ]
    }
  ]
}' "$out"
run "$WAZA" list
is 'list without an argument: the working directory' 'eval.yaml: a (skill b)
  one' "$out"
run "$WAZA" list nowhere
is 'list: no such directory' 2 "$rc"
like 'list: no such directory: message' 'waza: finding skill "nowhere": not found in workspace*' "$err"
printf 'name: [\n' >../eval.yml
mkdir ../node_modules ../.hidden ../.github ../vendor
for d in node_modules .hidden .github vendor
do cp eval.yaml ../$d; mkdir ../$d/t; cp t/1.yaml ../$d/t
done
run "$WAZA" list ..
is 'list: sorted, without hidden directories, with errors' '../.github/eval.yaml: a (skill b)
  one
../c/eval.yaml: a (skill b)
  one
../eval.yml
  error: ../eval.yml:2:1: this flow collection is not closed' "$(
    printf '%s\n' "$out" | sed 's/\(eval.yml:[0-9:]* \).*/\1this flow collection is not closed/')"
is 'list: errors do not change the status' 0 "$rc"
run "$WAZA" list --format xml
is 'unknown format: status 2' 2 "$rc"

# the places that a project's settings name
mkdir "$tmp/places" && cd "$tmp/places" || exit 1
for d in evals/a mine/b other/c
do mkdir -p $d; printf 'name: %s\nskill: s\ntasks: [{id: x, prompt: y}]\ngraders: [{name: g, type: text, contains: y}]\n' $d >$d/eval.yaml
done
printf 'paths: {evals: mine}\n' >.waza.yaml
run "$WAZA" list
is 'list: only the suites in the places of .waza.yaml' 'mine/b/eval.yaml: mine/b (skill s)
  x' "$out"
run "$WAZA" validate
is 'validate: the same suites' 'mine/b/eval.yaml: ok (1 task)' "$out"
printf '{"jsonrpc":"2.0","id":1,"method":"eval.list"}\n{"jsonrpc":"2.0","id":2,"method":"eval.get","params":{"path":"b"}}\n' >ask
is 'eval.list: the same suites' mine/b/eval.yaml \
    "$("$WAZA" jsonrpc <ask 2>err | sed -n '/"id":1/s/.*"path":"\([^"]*\)".*/\1/p')"
like 'eval.get: a name in these places' '*"name":"mine/b"*' "$("$WAZA" jsonrpc <ask 2>err | grep '"id":2')"
run "$WAZA" list other
is 'list: another directory that is named' 'other/c/eval.yaml: other/c (skill s)
  x' "$out"

# JSON of findings
cd "$tmp" || exit 1
printf 'name: a\nskil: b\ntasks: [{id: x, prompt: y}]\nconfig: 3\n' >s.yaml
run "$WAZA" validate --format json s.yaml
is 'findings as JSON' '{
  "valid": false,
  "files": [
    {
      "path": "s.yaml",
      "errors": [
        {
          "line": 4,
          "col": 9,
          "message": "\"config\" must be a mapping, not a number",
          "key": "config"
        }
      ],
      "warnings": [
        {
          "line": 1,
          "col": 1,
          "message": "\"skill\" is missing",
          "key": "skill"
        },
        {
          "line": 2,
          "col": 1,
          "message": "unknown key \"skil\" (did you mean \"skill\"?)",
          "key": "skil"
        }
      ]
    }
  ]
}' "$out"
is 'findings as JSON: status' 2 "$rc"
run "$WAZA" validate --format json 1.task a/b/c/eval.yaml
like 'several files' '*"path": "1.task"*"path": "a/b/c/eval.yaml"*' "$out"
# the same finding in two files is two findings
for d in one two
do
	mkdir -p "$tmp/twins/$d"
	printf 'name: x\nskill: s\ntaks: 1\n' >"$tmp/twins/$d/eval.yaml"
done
run "$WAZA" validate "$tmp/twins"
is 'the same slip in two suites is reported for both' 2 \
    "$(printf '%s\n' "$out" "$err" | grep -c 'eval.yaml:3:1: warning: unknown key "taks"')"

# tasks_from outside of the suite's directory
mkdir -p "$tmp/far/suite" "$tmp/far/data"
printf 'id,prompt\na,x\n' >"$tmp/far/data/rows.csv"
ln -s ../data/rows.csv "$tmp/far/suite/link.csv"
for from in ../data/rows.csv link.csv "$tmp/far/data/rows.csv"
do
	printf 'name: x\nskill: s\ntasks_from: %s\ngraders: [{type: text, contains: [x]}]\n' "$from" >"$tmp/far/suite/eval.yaml"
	run "$WAZA" validate "$tmp/far/suite"
	like "tasks_from $from: a warning" "0 $tmp/far/suite/eval.yaml:3:13: warning: *.csv is outside the suite's directory*" "$rc $out$err"
done
cp "$tmp/far/data/rows.csv" "$tmp/far/suite"
printf 'name: x\nskill: s\ntasks_from: rows.csv\ngraders: [{type: text, contains: [x]}]\n' >"$tmp/far/suite/eval.yaml"
run "$WAZA" validate "$tmp/far/suite"
is 'tasks_from beside the suite: no warning' "0 $tmp/far/suite/eval.yaml: ok (1 task)" "$rc $out$err"


# inputs and programs that are missing
missing() {
	suite "name: a\nskill: b\nconfig: {executor: command, command: [cat]$2}\ntasks: [{id: x, prompt: y, inputs: {files: [{path: none.txt}]}}]\n$3graders: [{type: text, contains: y}]\n"
	like "$1" "$4" "$rc $out"
}
mkdir -p fixtures
missing 'an input file that does not exist' '' '' '2 s.yaml:4:45: input file "none.txt" does not exist (searched fixtures, and beside the suite)'
missing 'a hook may create it' '' 'hooks: {before_run: [{command: "true"}]}\n' '0 *warning: input file*'
echo >fixtures/none.txt
missing 'an input file that exists' '' '' '0 s.yaml: ok (1 task)'
rm -r fixtures
missing 'no fixtures at all: --context-dir can name them' '' '' '0 *warning: input file*'
suite 'name: a\nskill: b\nconfig: {executor: command, command: [no-such-program, x]}\ntasks: [{id: x, prompt: y}]\ngraders: [{type: text, contains: y}, {type: program, command: ./none.sh}]\n'
is 'programs that are not installed are warnings' '0 s.yaml:3:39: warning: `no-such-program` is not installed (not found in PATH)
s.yaml:5:63: warning: "./none.sh" does not exist beside the suite
s.yaml: ok (1 task)' "$rc $out"
echo 'echo y' >agent.sh
suite 'name: a\nskill: b\nconfig: {executor: command, command: sh agent.sh}\ntasks: [{id: x, prompt: y}]\ngraders: [{type: text, contains: y}]\n'
is 'a script beside the suite, run by the shell' 's.yaml:3:38: warning: the shell runs in the workspace of the trial, not beside the suite: write the command as a list, [sh, agent.sh]
s.yaml: ok (1 task)' "$out"
# script COMMAND: what is reported about it
script() {
	suite "name: a\nskill: b\nconfig: {executor: command, command: $1}\n${2-}tasks: [{id: x, prompt: y}]\ngraders: [{type: text, contains: y}]\n"
}
for c in '[sh, none.sh]' '[sh, -eu, none.sh]' '[/bin/sh, ./none, x.py]'
do
	script "$c"
	like "$c: the script is missing" '0 s.yaml:3:*: warning: script "*none*" was not found (searched beside the suite and in fixtures; the command runs in the workspace of the trial): check the path*' "$rc $out"
done
script '[sh, none.sh]'
like 'the place of a script that is missing' 's.yaml:3:43: *' "$out"
script "[sh, $tmp/none.sh]"
like 'an absolute script that is missing' "*:43: warning: script \"$tmp/none.sh\" does not exist*" "$out"
for c in '[sh, agent.sh]' '[sh, -eu, ./agent.sh]' '[sh, -c, ./none.sh]' '[sh, -c, cat a/b]' '[sh, "{{ .Vars.x }}.sh"]' '[sh, none]' '[cat, none.sh]' '[sh, -s, "-", ./none.sh]'
do
	script "$c"
	is "$c: no script is missing" '0 s.yaml: ok (1 task)' "$rc $out"
done
script '[sh, none.sh]' 'hooks: {before_task: [{command: "true"}]}\n'
is 'a hook may create the script' '0 s.yaml: ok (1 task)' "$rc $out"
mkdir fixtures && : >fixtures/none.sh
script '[sh, none.sh]'
is 'a script in the fixtures' '0 s.yaml: ok (1 task)' "$rc $out"
rm -r fixtures
suite 'name: a\nskill: b\nconfig: {executor: command, command: [sh, agent.sh]}\ntasks: [{id: x, prompt: y}]\nhooks: {before_run: [{command: no-such-program -x}, {command: cd / && no-such-program}, {command: test -d x}]}\ngraders: [{type: text, contains: y}]\n'
is 'a hook whose program is not installed' 's.yaml:5:32: warning: `no-such-program` is not installed (not found in PATH)
s.yaml: ok (1 task)' "$out"
suite 'name: a\nskill: b\nconfig: {workers: 0}\ntasks: [{id: x, prompt: y}]\ngraders: [{type: text, contains: y}]\n'
like 'no workers' 's.yaml:3:19: warning: "workers: 0" is the same as no value*' "$out"

# a skill beside the suite: its own path, once
mkdir -p "$tmp/near/evals/s" "$tmp/near/skills/s" "$tmp/else/t"
cd "$tmp/near" || exit 1
printf -- '---\nname: s\ndescription: Does it. USE FOR: this\n---\n# T\n' >skills/s/SKILL.md
printf 'name: x\nskill: s\nconfig: {skill_directories: [../../skills/s]}\ntasks: [{id: a, prompt: b, graders: [{type: text, contains: b}]}]\n' >evals/s/eval.yaml
run "$WAZA" validate
like 'the path of a skill has no ".."' '0 skills/s/SKILL.md:3:14: warning: *not quoted*' "$rc $err$out"
run "$WAZA" check --format github
like 'check: an annotation of the file' '*::warning file=skills/s/SKILL.md,line=3,col=14,*not quoted*' "$out"
is 'check: one annotation' 1 "$(printf '%s\n' "$out" | grep -c 'not quoted')"
mv evals/s "$tmp/else/t/s" && ln -s "$tmp/else/t/s" evals/s
mkdir "$tmp/else/skills" && mv skills/s "$tmp/else/skills/"
run "$WAZA" validate evals/s/eval.yaml
like 'a path through a symbolic link stays' '0 evals/s/../../skills/s/SKILL.md:3:14: warning: *' "$rc $err$out"

done_testing
