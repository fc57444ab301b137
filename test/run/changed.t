#!/bin/sh
# waza run --changed: which tasks a change since a git revision selects, and why
. "${0%/*}/../tool/lib.sh"

command -v git >/dev/null 2>&1 || { echo '1..0 # SKIP git is not installed'; exit 0; }
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
unset GITHUB_BASE_REF CI_MERGE_REQUEST_TARGET_BRANCH_NAME

r=$tmp/repo
mkdir -p "$r/evals/one/tasks" "$r/evals/one/fixtures" "$r/evals/two" \
    "$r/skills/s/references"
cat >"$r/evals/one/eval.yaml" <<'E'
name: one
skill: s
config:
  trials_per_task: 1
  executor: mock
  skill_directories: [../../skills]
graders:
  - type: text
    name: any
    config: {regex_match: ['.']}
tasks: ['tasks/*.yaml']
E
for i in a b c
do
	printf 'id: %s\nname: task %s\ninputs:\n  prompt: hello %s\n' $i $i $i \
	    >"$r/evals/one/tasks/$i.yaml"
done
cat >>"$r/evals/one/tasks/b.yaml" <<'E'
  files:
    - path: data.txt
graders:
  - type: program
    name: p
    config: {command: sh, args: [check.sh]}
E
echo data >"$r/evals/one/fixtures/data.txt"
echo 'exit 0' >"$r/evals/one/check.sh"
cat >"$r/evals/one/trigger_tests.yaml" <<'E'
skill: s
should_trigger_prompts:
  - prompt: do it
E
cat >"$r/evals/two/eval.yaml" <<'E'
name: two
skill: s
config: {executor: mock}
graders:
  - {type: text, name: any, config: {regex_match: ['.']}}
tasks:
  - {id: x, inputs: {prompt: hello}}
  - {id: y, inputs: {prompt: hello}}
E
cat >"$r/skills/s/SKILL.md" <<'E'
---
name: s
description: does it
---
Body.
E
echo more >"$r/skills/s/references/more.md"
cd "$r" || exit 1
git init -q -b main . && git add -A && git commit -qm first

# changed WANT NAME: the tasks of --changed --list against HEAD, on one line
suites='evals/one/eval.yaml evals/two/eval.yaml'
changed() {
	# shellcheck disable=SC2086
	run "$WAZA" run $suites --changed=HEAD --list
	is "$1" "$2" "$(printf '%s' "$out" | tr '\n' '|')"
	git checkout -q . && git clean -fdq
}

changed 'nothing has changed' \
    "nothing that the suites use has changed since HEAD ($(git rev-parse HEAD | cut -c1-12))"
echo '# a comment' >>evals/one/tasks/a.yaml
changed 'a comment selects nothing' \
    "nothing that the suites use has changed since HEAD ($(git rev-parse HEAD | cut -c1-12))"
sed 's/hello a/goodbye/' evals/one/tasks/a.yaml >t && mv t evals/one/tasks/a.yaml
changed 'a task file' 'a  task a: evals/one/tasks/a.yaml changed'
echo other >evals/one/fixtures/data.txt
changed 'an input file' 'b  task b: evals/one/fixtures/data.txt changed'
rm evals/one/fixtures/data.txt
changed 'a deleted input file' 'b  task b: evals/one/fixtures/data.txt was deleted'
echo 'exit 1' >evals/one/check.sh
changed 'the script of a grader' 'b  task b: evals/one/check.sh changed'
git mv evals/one/tasks/c.yaml evals/one/tasks/d.yaml
run "$WAZA" run evals/one/eval.yaml --changed=HEAD --list
is 'a renamed task file' 'c  task c: evals/one/tasks/d.yaml is new' "$out"
git reset -q --hard
printf 'id: n\ninputs: {prompt: hi}\n' >evals/one/tasks/n.yaml
changed 'a file that git does not track' 'n: evals/one/tasks/n.yaml is new'
printf -- '- {task: %s, why: w, until: 2999-01-01}\n' a b >evals/one/quarantine.yaml
git add . && git commit -qm quarantine
sed 1d evals/one/quarantine.yaml >t && mv t evals/one/quarantine.yaml
changed 'the end of a quarantine' 'a  task a: its quarantine ended'
git reset -q --hard HEAD~1
rm evals/one/tasks/c.yaml
changed 'a deleted task selects nothing' \
    "nothing that the suites use has changed since HEAD ($(git rev-parse HEAD | cut -c1-12))"
sed 's/id: y, inputs: {prompt: hello}/id: y, inputs: {prompt: other}/' evals/two/eval.yaml >t &&
    mv t evals/two/eval.yaml
changed 'one task inside eval.yaml' 'y: evals/two/eval.yaml changed'
sed "s/'\\.'/'e'/" evals/one/eval.yaml >t && mv t evals/one/eval.yaml
changed 'graders of the suite' \
    'a  task a: graders changed|b  task b: graders changed|c  task c: graders changed'
sed 's/trials_per_task: 1/trials_per_task: 2/' evals/one/eval.yaml >t && mv t evals/one/eval.yaml
changed 'settings of the suite' \
    'a  task a: config changed|b  task b: config changed|c  task c: config changed|(trigger tests): config changed'
echo 'defaults: {timeout: 100}' >.waza.yaml
# shellcheck disable=SC2086
run "$WAZA" run $suites --changed=HEAD --list
is 'shared settings select all' 6 "$(printf '%s\n' "$out" | grep -c '.waza.yaml is new')"
rm .waza.yaml
echo 'More.' >>skills/s/SKILL.md
changed 'a skill' \
    'a  task a: skills/s/SKILL.md changed|b  task b: skills/s/SKILL.md changed|c  task c: skills/s/SKILL.md changed|(trigger tests): skills/s/SKILL.md changed'
echo 'x' >>skills/s/references/more.md
changed 'another file of the skill' \
    'a  task a: skills/s/references/more.md changed|b  task b: skills/s/references/more.md changed|c  task c: skills/s/references/more.md changed|(trigger tests): skills/s/references/more.md changed'
sed 's/does it/does that/' skills/s/SKILL.md >t && mv t skills/s/SKILL.md
changed 'its description alone' '(trigger tests): the description in skills/s/SKILL.md changed'
sed 's/does it/does that/' skills/s/SKILL.md >t && mv t skills/s/SKILL.md
run "$WAZA" run evals/one/eval.yaml --changed=HEAD --no-results
is 'the trigger tests alone run and pass' 0 "$rc"
like 'and none of the tasks' 'waza: 0 of 3 tasks changed since HEAD*' "$err"
sed 's/executor: mock/executor: copilot-sdk/' evals/one/eval.yaml >t && mv t evals/one/eval.yaml
git commit -qam native
sed 's/does that/does both/' skills/s/SKILL.md >t && mv t skills/s/SKILL.md
run "$WAZA" run evals/one/eval.yaml --changed=HEAD --list
is 'where skills are native, the tasks as well' 4 \
    "$(printf '%s\n' "$out" | grep -c 'the description in skills/s/SKILL.md changed')"
git reset -q --hard HEAD~1
# a matrix: its skills, and any of its executors
mkdir -p other
printf -- '---\nname: o\ndescription: does it\n---\nBody.\n' >other/SKILL.md
cat >>evals/two/eval.yaml <<'E'
matrix: {executor: [mock, copilot-sdk], skill: [../../other, none]}
E
git add -A && git commit -qm matrix
echo 'More.' >>other/SKILL.md
changed 'a skill of a matrix' '4 combinations: mock, skill other; mock, no skill; copilot-sdk, skill other; copilot-sdk, no skill|x: other/SKILL.md changed|y: other/SKILL.md changed'
sed 's/does it/does that/' other/SKILL.md >t && mv t other/SKILL.md
run "$WAZA" run evals/two --changed=HEAD --list
is 'an executor of a matrix has native skills' 2 \
    "$(printf '%s\n' "$out" | grep -c 'the description in other/SKILL.md changed')"
git checkout -q .
sed 's/, none//' evals/two/eval.yaml >t && mv t evals/two/eval.yaml
run "$WAZA" run evals/two --changed=HEAD --list
is 'another matrix' 2 "$(printf '%s\n' "$out" | grep -c 'config changed')"
git reset -q --hard HEAD~1
echo lib >evals/one/lib.sh && git add -A
run "$WAZA" run evals/one/eval.yaml --changed=HEAD --list
like 'a file that nothing names may be used by any task' \
    '*a  task a: evals/one/lib.sh is new, and any task may use it*' "$out"
git reset -q --hard

for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22
do printf 'id: many%s\ninputs: {prompt: hi}\n' $i >"evals/one/tasks/many$i.yaml"
done
git add -A && git commit -qm many
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22
do echo '# comment' >>"evals/one/tasks/many$i.yaml"
done
echo 'name: seven' >>evals/one/tasks/many7.yaml
git rm -rq --cached evals/one/tasks
changed 'many files, which are not in the index any more' \
    'many7  seven: evals/one/tasks/many7.yaml changed'
git reset -q --hard HEAD~1

# revisions
git checkout -q -b work
sed 's/hello a/bye/' evals/one/tasks/a.yaml >t && mv t evals/one/tasks/a.yaml
git commit -qam second
git checkout -q main
sed 's/hello b/bye/' evals/one/tasks/b.yaml >t && mv t evals/one/tasks/b.yaml
git commit -qam third
git checkout -q work
run "$WAZA" run evals/one --changed --list
is 'the default is where the branch began' \
    'a  task a: evals/one/tasks/a.yaml changed' "$out"
run "$WAZA" run evals/one --changed=main... --list
is 'REF... is the merge base' 'a  task a: evals/one/tasks/a.yaml changed' "$out"
run "$WAZA" run evals/one --changed=main --list
is 'REF is the revision itself' 'a  task a: evals/one/tasks/a.yaml changed
b  task b: evals/one/tasks/b.yaml changed' "$out"
run env GITHUB_BASE_REF=release "$WAZA" run evals/one --changed --list
is 'the target of a CI job must be there' '2 waza: git knows no branch origin/release, the target of this job (GITHUB_BASE_REF): fetch it with its history' "$rc $err"
run "$WAZA" run evals/one --changed=nosuch --list
is 'no such revision' '2 waza: git knows no commit "nosuch" here' "$rc $err"
run "$WAZA" run evals/one --changed=--output=x --list
is 'an option is not a revision' '2 waza: "--output=x" is not a revision' "$rc $err"
run "$WAZA" run evals/one --changed=HEAD --task nosuch
like 'a task that does not exist is an error' '2 waza: no task matches --task nosuch*' "$rc $err"
run "$WAZA" run evals/one --changed --task 'b*' --no-results
is 'both selections must match' '0 ' "$rc $out"
run "$WAZA" run evals/one --changed --watch
is 'not with --watch' '2 waza: --watch selects what changes from now on: remove --changed' "$rc $err"

# output
run "$WAZA" run $suites --changed --dry-run --format json
is 'a matrix for CI' '0 {"include":[{"suite":"evals/one/eval.yaml","name":"one","tasks":["a"],"triggers":0,"why":["evals/one/tasks/a.yaml changed"]}]}' "$rc $out"
run "$WAZA" run $suites --changed=HEAD --dry-run --format json
is 'an empty matrix' '0 {"include":[]}' "$rc $out"
run "$WAZA" run $suites --changed --list --format json
like 'a list in JSON has the reasons' '*"why": "evals/one/tasks/a.yaml changed"*' "$out"
run "$WAZA" run evals/one --changed --dry-run
like 'a plan has them' '*    a  task a: evals/one/tasks/a.yaml changed*' "$out"
run "$WAZA" run $suites --changed=HEAD -o "$tmp/none.json"
is 'nothing to run is a success' "0 waza: nothing that the suites use has changed since HEAD ($(git rev-parse HEAD | cut -c1-12)): no task to run" "$rc $err"
ok 'and writes no results' test ! -e "$tmp/none.json"
run "$WAZA" run $suites --changed -o "$tmp/some.json"
like 'the run reports the selection' '*waza: 1 of 3 tasks changed since main (*' "$err"
is 'and has only those tasks' 1 "$(grep -c '"test_id"' "$tmp/some.json")"
because='"selected_because": "evals/one/tasks/a.yaml changed"'
ok 'with the reason' grep -q "$because" "$tmp/some.json"
for k in 1 2
do "$WAZA" run evals/one --changed=main -q --shard $k/2 -o "$tmp/part$k.json" >/dev/null 2>&1
done
"$WAZA" run evals/one --changed=main -q -o "$tmp/alone.json" >/dev/null 2>&1
run "$WAZA" merge -o "$tmp/whole.json" "$tmp/part1.json" "$tmp/part2.json"
is 'shards: both have reasons' 2 "$(grep -c selected_because "$tmp/whole.json")"
is 'shards: merged equals whole' "$(grep -E 'test_id|selected_because' "$tmp/alone.json")" \
    "$(grep -E 'test_id|selected_because' "$tmp/whole.json")"
for k in 1 2 3
do "$WAZA" run evals/one --changed=main -q --shard $k/3 -o "$tmp/third$k.json" >/dev/null 2>&1
done
run "$WAZA" merge "$tmp/third1.json" "$tmp/third2.json" "$tmp/third3.json"
like 'shards: more of them than changed tasks' '0 *2 tasks: 2 passed*' "$rc $out"

# where there is no repository
mkdir "$tmp/plain" && cp -R evals/two "$tmp/plain"
cd "$tmp/plain" || exit 1
run env GIT_CEILING_DIRECTORIES="$tmp" "$WAZA" run two --changed
like 'not a repository' '2 waza: two is not in the working tree of a git repository, which --changed needs*' "$rc $err"
mkdir "$tmp/nogit"
for p in sh cat; do ln -s "$(command -v $p)" "$tmp/nogit"; done
run env PATH="$tmp/nogit" "$WAZA" run two --changed
is 'without git' '2 waza: git is not installed (not found in PATH); --changed needs it' "$rc $err"

# a hostile repository starts no program
cd "$r" || exit 1
printf '#!/bin/sh\ntouch %s/owned\ncat\n' "$tmp" >"$tmp/evil" && chmod +x "$tmp/evil"
git config core.fsmonitor "$tmp/evil"
git config core.pager "$tmp/evil"
git config diff.external "$tmp/evil"
git config diff.x.textconv "$tmp/evil"
git config diff.x.command "$tmp/evil"
git config filter.x.clean "$tmp/evil"
git config filter.x.process "$tmp/evil"
git config filter.x.required true
mkdir -p .git/hooks && cp "$tmp/evil" .git/hooks/post-index-change
echo '* filter=x diff=x' >.git/info/attributes
touch evals/one/tasks/b.yaml
sed 's/bye/again/' evals/one/tasks/a.yaml >t && mv t evals/one/tasks/a.yaml
rm -f "$tmp/owned"
run "$WAZA" run evals/one --changed=HEAD --list
is 'a hostile repository: the selection' 'a  task a: evals/one/tasks/a.yaml changed' "$out"
ok 'a hostile repository: no program was started' test ! -e "$tmp/owned"
done_testing
