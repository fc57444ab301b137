#!/bin/sh
# waza run --baseline-ref: the skills of a git revision, none, and the current
# ones, in one run
. "${0%/*}/../tool/lib.sh"

command -v git >/dev/null 2>&1 || { echo '1..0 # SKIP git is not installed'; exit 0; }
GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org
GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
export GIT_CONFIG_GLOBAL GIT_CONFIG_NOSYSTEM GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL
export GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL
# nothing else uses this directory for temporary files
TMPDIR=$tmp/t ORDER=$tmp/order
export TMPDIR ORDER
mkdir "$TMPDIR"

r=$tmp/repo
mkdir -p "$r/evals" "$r/skills/s/scripts"
cd "$r" || exit 1
skill() {
	printf -- '---\nname: s\ndescription: d\n---\n%s\n' "$1" >skills/s/SKILL.md
}
skill old
printf '#!/bin/sh\necho script\n' >skills/s/scripts/run.sh
chmod +x skills/s/scripts/run.sh
ln -s scripts/run.sh skills/s/link
# notes its task, trial and skill, and answers with the skill's body
cat >evals/agent.sh <<'E'
skill=none
[ -z "${WAZA_SKILLS-}" ] || skill=$(tail -n 1 "$WAZA_SKILLS/s/SKILL.md")
[ "$skill" = none ] || "$WAZA_SKILLS/s/scripts/run.sh" >/dev/null || skill=broken
[ "$skill" = none ] || [ -x "$WAZA_SKILLS/s/link" ] || skill=broken
echo "$WAZA_TASK_ID$WAZA_TRIAL $skill" >>"$ORDER"
echo "$skill"
E
suite() {
	printf 'name: e\nskill: s\nconfig:\n  executor: command\n'
	printf '  command: [sh, agent.sh]\n  skill_directories: [../skills]\n'
	printf '  trials_per_task: 2\n  workers: %s\n' "$1"
	printf 'graders:\n  - {type: text, name: g, config: {regex_match: [new]}}\n'
	printf 'tasks:\n'
	for i in a b c d e f
	do printf '  - {id: %s, inputs: {prompt: hi}}\n' $i
	done
}
suite 1 >evals/eval.yaml
git init -q -b main . && git add -A && git commit -qm first
skill new

run "$WAZA" run evals --baseline-ref main -o "$tmp/r.json" --reporter "csv:$tmp/r.csv" \
    --reporter "junit:$tmp/r.xml" --reporter "tap:$tmp/r.tap" --reporter "markdown:$tmp/r.md"
is 'the working tree decides the exit status' 0 "$rc"
like 'the effect of the skill' '*effect of the skill: better:*0.0% without, 100.0% with it*' "$out"
like 'the change since the revision' \
    "*change of the skill since main ($(git rev-parse HEAD | cut -c1-12)): better: 6 of 6 tasks scored higher*pass rate 0.0% at main, 100.0% now*" "$out"
like 'progress counts all passes and names them' '*/18] * a (skills of main) *' "$err"
is 'three trials of each number' '3 3 3 3 3 3 3 3 3 3 3 3' \
    "$(cut -d' ' -f1 "$ORDER" | uniq -c | awk '{ printf "%s%s", s, $1; s = " " }')"
is 'each with all three' 12 "$(awk '{ t[$1] = t[$1] $2 }
    END { for (k in t) if (t[k] ~ /old/ && t[k] ~ /new/ && t[k] ~ /none/) n++; print n }' "$ORDER")"
ok 'results: the pass of the revision' grep -q '"ref_outcome": {' "$tmp/r.json"
ok 'results: its commit' grep -q "\"commit\": \"$(git rev-parse HEAD)\"" "$tmp/r.json"
ok 'results: the test' grep -q '"ref_effect": {.*"interleaved":true,"tasks":6,"better":6,"worse":0.*"verdict":"better"}' "$tmp/r.json"
is 'results: each task' 6 "$(grep -c '"ref_impact"' "$tmp/r.json")"
"$WAZA" schema results >"$tmp/schema.json"
ok 'results follow the schema' "$WAZA" schema-check "$tmp/schema.json" "$tmp/r.json"
is 'CSV: the trials of each pass' '12 24 12' "$(grep -c '"command",[^,]*,false,' "$tmp/r.csv") $(grep -c '"command",[^,]*,true,' "$tmp/r.csv") $(grep -c ',"main"$' "$tmp/r.csv")"
ok 'JUnit: a suite for the revision' grep -q '<testsuite name="e (baseline, skills of main)" tests="12" failures="0"' "$tmp/r.xml"
ok 'JUnit: its failures are not counted' grep -q '<testsuites.* tests="36" failures="0"' "$tmp/r.xml"
ok 'JUnit: their reason' grep -q 'failed in the baseline, with the skills of a revision: ' "$tmp/r.xml"
is 'TAP: the tasks of the revision' 6 "$(grep -c '^not ok .* (baseline, skills of main) # TODO baseline, with the skills of a revision$' "$tmp/r.tap")"
ok 'Markdown: a section for the revision' grep -q '^## Waza results: e (baseline, skills of main)$' "$tmp/r.md"
is 'no copies are left' '' "$(ls "$TMPDIR")"
ok 'no journal is left' test ! -e "$tmp/r.json.ref.journal"

# several at a time
suite 4 >evals/eval.yaml
: >"$ORDER"
run "$WAZA" run evals --baseline-ref main -q -o "$tmp/four.json"
is 'four at a time: all trials' '0 36' "$rc $(wc -l <"$ORDER" | tr -d ' ')"
is 'four at a time: no pass is far ahead' 0 "$(awk '{ n[$2]++
    lo = n["old"] + 0; hi = lo
    for (k in n) { if (n[k] < lo) lo = n[k]; if (n[k] > hi) hi = n[k] }
    if (hi - lo > 5) bad++ } END { print bad + 0 }' "$ORDER")"
suite 1 >evals/eval.yaml

# resume, cache, grade
: >"$ORDER"
run "$WAZA" run evals --baseline-ref main --resume -q -o "$tmp/r.json"
is 'resume: nothing runs again' '0 0' "$rc $(wc -l <"$ORDER" | tr -d ' ')"
is 'resume: all passes are kept' '1 1 1' "$(grep -c '"ref_outcome"' "$tmp/r.json") $(grep -c '"baseline_outcome"' "$tmp/r.json") $(grep -c '"ref_effect"' "$tmp/r.json")"
run "$WAZA" run evals --baseline --resume -q -o "$tmp/r.json"
like 'resume: the revision would be lost' '2 *cannot be resumed without its baseline, which would be lost; add --baseline-ref*' "$rc $err"
run "$WAZA" run evals --baseline-ref main --trials 3 --resume -q -o "$tmp/r.json"
is 'resume: more trials of each pass' '0 18' "$rc $(wc -l <"$ORDER" | tr -d ' ')"
: >"$ORDER"
run "$WAZA" run evals --baseline-ref main -q --cache --cache-dir "$tmp/cache" -o "$tmp/c.json"
run "$WAZA" run evals --baseline-ref main -q --cache --cache-dir "$tmp/cache" -o "$tmp/c.json"
is 'cache: by content' 36 "$(wc -l <"$ORDER" | tr -d ' ')"
git commit -qam second
skill newer
run "$WAZA" run evals --baseline-ref main -q --cache --cache-dir "$tmp/cache" -o "$tmp/c.json"
is 'cache: skills that were current are now those of the revision' '48 12' \
    "$(wc -l <"$ORDER" | tr -d ' ') $(grep -c newer "$ORDER")"
sed 's/\[new\]/[old]/' evals/eval.yaml >t && mv t evals/eval.yaml
run "$WAZA" grade evals --results "$tmp/r.json" -o "$tmp/g.json" -q
like 'grade: all passes are graded again' '*change of the skill since main*worse: 6 of 6 tasks scored lower*' "$out"
git checkout -q evals
skill worse
run "$WAZA" run evals --baseline-ref main -q -o "$tmp/w.json"
is 'a skill that got worse fails' 1 "$rc"
like 'and is reported' '*change of the skill since main*: worse: 6 of 6*' "$out"
skill new

# with hooks passes run one after the other
git checkout -q HEAD~1 -- skills
skill new
printf 'hooks:\n  before_run:\n    - command: "true"\n' >>evals/eval.yaml
: >"$ORDER"
run "$WAZA" run evals --baseline-ref HEAD~1 -q -o "$tmp/h.json"
is 'hooks: one pass after the other' '0 none old new' \
    "$rc $(cut -d' ' -f2 "$ORDER" | uniq | tr '\n' ' ' | sed 's/ $//')"
ok 'hooks: the results say so' grep -q '"interleaved":false' "$tmp/h.json"
git checkout -q evals

# plans and mistakes
run "$WAZA" run evals --baseline-ref main --dry-run
like 'a plan' '*6 tasks, 2 trials each, with and without skills, and with those of main: 36 agent calls*' "$out"
run "$WAZA" run evals --baseline-ref nosuch
like 'no such revision' '2 *git knows no commit "nosuch" here' "$rc $err"
run "$WAZA" run evals --baseline-ref=--upload-pack=x
like 'an option is not a revision' '2 *"--upload-pack=x" is not a revision' "$rc $err"
run "$WAZA" run evals --baseline-ref main --shard 1/2
like 'not with shards' '2 *--baseline-ref cannot be used with --shard: its passes alternate' "$rc $err"
ln -s skills linked
sed 's/\.\.\/skills/..\/linked/' evals/eval.yaml >evals/linked.yaml
: >"$ORDER"
run "$WAZA" run evals/linked.yaml --baseline-ref main -q --trials 1 --no-results
is 'a link to the skills' '0 12' "$rc $(grep -c ' new' "$ORDER")"
mkdir -p more/n && cp skills/s/SKILL.md more/n
sed 's/\.\.\/skills/..\/more/' evals/eval.yaml >evals/more.yaml
run "$WAZA" run evals/more.yaml --baseline-ref main
like 'a new skill' '2 *more does not exist at main (*): there is nothing to compare with; use --baseline' "$rc $err"
cp -R more "$tmp/outside"
sed "s|\\.\\./skills|$tmp/outside|" evals/eval.yaml >evals/out.yaml
run "$WAZA" run evals/out.yaml --baseline-ref main
like 'a skill elsewhere' "2 *skill directory $tmp/outside is not in the repository *: it has no revision main" "$rc $err"
ln -s ../../../etc skills/s/out
git add -A && git commit -qm link
run "$WAZA" run evals --baseline-ref main
like 'a link that leads out' '2 *skills/s/out at main (*) is a link that leads out of its skill directory: it cannot be copied' "$rc $err"
git reset -q --hard HEAD~1
blob=$(echo evil | git hash-object -w --stdin)
t=$(printf '100644 blob %s\t..\n' "$blob" | git mktree)
t=$(printf '100644 blob %s\tSKILL.md\n040000 tree %s\tx\n' "$blob" "$t" | git mktree)
t=$(printf '040000 tree %s\ts\n' "$t" | git mktree)
t=$(printf '040000 tree %s\tskills\n' "$t" | git mktree)
run "$WAZA" run evals --baseline-ref "$(git commit-tree -m evil "$t")"
like 'a tree with a name that leads out' '2 *"skills/s/x/.." at * is not a path inside the repository' "$rc $err"
is 'no copies are left after errors' '' "$(ls "$TMPDIR")"
done_testing
