# Everyday options of waza run: -j, -k, --list, --dry-run, --limit,
# --max-failures, --json, --var, --seed.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
LOG=$tmp/log
export LOG
mkdir a b skills skills/help
printf -- '---\nname: help\ndescription: d\n---\n' >skills/help/SKILL.md
cat >a/eval.yaml <<'YAML'
name: alpha
skill: s
config: {executor: mock, trials_per_task: 2, model: m1, skill_directories: [../skills]}
inputs: {who: world, kept: kept}
tasks:
  - {id: one, name: The First, tags: [Slow, net], prompt: 'hello {{.Vars.who}} {{.Vars.kept}}', expected: {output_contains: [hello]}}
  - {id: two, prompt: x, expected: {output_contains: [x]}}
  - {id: three, name: "\u00dcber", prompt: x, expected: {output_contains: [x]}}
YAML
sed 's/alpha/beta/' a/eval.yaml >b/eval.yaml
ids() {
	"$WAZA" run --list a "$@" 2>&1 | sed 's/ .*//' | tr '\n' ' '
}

# --list
run "$WAZA" run --list a
is '--list: status' 0 "$rc"
is '--list: ids, names, tags' 'one  The First  [Slow, net]
two
three  Über' "$out"
is '--list: nothing on stderr' '' "$err"
ok '--list: nothing is written' [ ! -e .waza ]
run "$WAZA" run --list a b --task one
is '--list: several suites' 'a/eval.yaml:
  one  The First  [Slow, net]
b/eval.yaml:
  one  The First  [Slow, net]' "$out"
run "$WAZA" run --list missing.yaml
is '--list: a suite that does not exist' 2 "$rc"

# -k
is '-k: part of an id' 'one ' "$(ids -k on)"
is '-k: case-insensitive' 'one ' "$(ids -k SLOW)"
is '-k: part of a name' 'one ' "$(ids -k 'the f')"
is '-k: other letters, too' 'three ' "$(ids -k über)"
is '-k: a pattern matches the whole' 'two three ' "$(ids -k 'T[wh]*[oe]')"
is '-k: a pattern that matches a part only' 'waza: ' "$(ids -k 'h?')"
is '-k is repeatable' 'one two ' "$(ids -k one --keyword two)"
is '-k and --task' 'three ' "$(ids -k hr --task '*e')"
is '-k and --tags' 'one ' "$(ids -k e --tags net)"
run "$WAZA" run a -k tow
is '-k without a match: status' 2 "$rc"
is '-k without a match: message' 'waza: no task matches -k tow (did you mean "two"? tasks: one, two, three)' "$err"
run "$WAZA" run --list a -k tow
is '-k without a match: --list' 2 "$rc"
run "$WAZA" run -q a b -k two
like '-k: the tasks that run, of several suites' '*2 tasks: 2 passed*' "$out"

# --limit
is '--limit' 'one two ' "$(ids --limit 2)"
is '--limit: of the selected ones' 'two ' "$(ids -k t --limit 1 --task 't*')"
is '--limit before --shard' 'two ' "$(ids --limit 2 --shard 2/2)"
run "$WAZA" run -q a b --limit 1
like '--limit: of each suite' '*2 tasks: 2 passed*' "$out"
run "$WAZA" run a --limit 0
like '--limit 0' '2 *--limit must be from 1 to 2147483647, not 0*' "$rc $err"

# --dry-run
run "$WAZA" run --dry-run a -j 3
is '--dry-run: status' 0 "$rc"
is '--dry-run' 'a/eval.yaml: alpha
  executor mock, model m1, 3 at a time
  skills: help
  3 tasks, 2 trials each: 6 agent calls
    one  The First  [Slow, net]
    two
    three  Über
3 tasks, 6 agent calls; nothing was run' "$out"
run "$WAZA" run --dry-run a b -j 1 --limit 1 --baseline -m x -m y --trials 5
is '--dry-run: models, baseline, several suites' 'a/eval.yaml: alpha
  executor mock, model x and y, 1 at a time
  skills: help
  1 task, 5 trials each, with and without skills: 20 agent calls
  2 combinations: x; y
    one  The First  [Slow, net]
b/eval.yaml: beta
  executor mock, model x and y, 1 at a time
  skills: help
  1 task, 5 trials each, with and without skills: 20 agent calls
  2 combinations: x; y
    one  The First  [Slow, net]
2 tasks, 40 agent calls; nothing was run' "$out"
run "$WAZA" run --dry-run --format json a -k two -j 2
is '--dry-run --format json' '{"suites":[{"path":"a/eval.yaml","name":"alpha","skill":"s","executor":"mock","models":["m1"],"trials":2,"workers":2,"baseline":false,"skills":["help"],"triggers":0,"agent_calls":2,"tasks":[{"id":"two","name":"two","file":"a/eval.yaml","line":7,"tags":[],"trials":2}]}],"tasks":1,"agent_calls":2}' \
    "$(printf '%s\n' "$out" | "$WAZA" parse -)"
is '--json is --format json' "$out" "$("$WAZA" run --dry-run --json a -k two -j 2)"
run "$WAZA" run --dry-run --executor none a
is '--dry-run: an unknown executor' 2 "$rc"
sed 's/output_contains: \[x\]/output_contians: [x]/' a/eval.yaml >bad.yaml
run "$WAZA" run --dry-run --strict bad.yaml
is '--dry-run checks the suite' 2 "$rc"
ok '--dry-run: nothing is written' [ ! -e x ]

# --json wherever a command has the format
for c in 'results' 'list a' 'validate a'
do
	# shellcheck disable=SC2086 # a command and its operand
	is "$c --json" "$("$WAZA" $c --format json)" "$("$WAZA" $c --json)"
done
like '--json: help' '*--json              the same as --format json*' "$("$WAZA" help compare)"
run "$WAZA" parse --jsno
is '--json: not for other commands' 2 "$rc"

# --max-failures
cat >f.yaml <<'YAML'
name: f
skill: s
config: {executor: command, command: 'echo "$WAZA_TASK_ID" >>$LOG; cat'}
tasks:
  - {id: a, prompt: x, expected: {output_contains: [no]}}
  - {id: b, prompt: x, expected: {output_contains: [x]}}
  - {id: c, prompt: x, expected: {output_contains: [no]}}
  - {id: d, prompt: x, expected: {output_contains: [x]}}
YAML
for n in 1 2 3
do
	: >log
	"$WAZA" run -q f.yaml --max-failures $n >/dev/null
	case $n in
	1) want=a ;;
	2) want='a b c' ;;
	3) want='a b c d' ;;
	esac
	is "--max-failures $n" "$want" "$(tr '\n' ' ' <log | sed 's/ $//')"
done
: >log
"$WAZA" run -q f.yaml --fail-fast >/dev/null
is '--fail-fast is --max-failures 1' a "$(cat log)"
sed 's/name: f/name: g/' f.yaml >g.yaml
: >log
run "$WAZA" run -q f.yaml g.yaml --max-failures 3
is '--max-failures: of all suites' 'a b c d a ' "$(tr '\n' ' ' <log)"
is '--max-failures: status' 1 "$rc"

# --var
run "$WAZA" run -q a --task one --var who=there --var 'odd name={{x' -o v.json
is '--var: status' 0 "$rc"
like '--var takes precedence over the suite' '*"prompt":"hello there kept"*' "$("$WAZA" parse v.json)"
sed 's/Vars.who/Vars.given/' a/eval.yaml >given.yaml
run "$WAZA" run -q given.yaml
is 'a variable that is not set: status' 2 "$rc"
run "$WAZA" run -q given.yaml --var given=1 --var given=2 -o v.json
like '--var: the last value counts' '*"prompt":"hello 2 kept"*' "$("$WAZA" parse v.json)"
for v in x =y ''
do
	run "$WAZA" run -q a --var "$v"
	is "--var \"$v\": message" "2 waza: --var must be NAME=VALUE, not \"$v\"" "$rc $err"
done

# --seed
cat >s.yaml <<'YAML'
name: s
skill: s
config: {executor: command, command: 'case $WAZA_TRIAL in [147]) cat;; *) echo no;; esac', trials_per_task: 9}
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
interval() {
	"$WAZA" run -q s.yaml -o s.json "$@" >/dev/null
	"$WAZA" parse s.json | grep -o '"config":{.*"seed":[0-9]*\|"ci95_lo":[^,]*\|"ci95_hi":[^,]*' | sed 's/.*"seed"/seed/' | tr '\n' ' '
}
is '--seed: the same numbers each time' "$(interval --seed 7)" "$(interval --seed 7)"
like '--seed is recorded' 'seed:7 *' "$(interval --seed 7)"
like 'without --seed nothing is recorded' '"ci95_lo"*' "$(interval)"

# -j: N trials at a time
cat >j.yaml <<'YAML'
name: j
skill: s
config: {executor: command, command: 'echo x >>$LOG; until [ "$(grep -c . <$LOG)" -ge "$WANT" ]; do :; done; cat'}
tasks:
  - {id: a, prompt: x, expected: {output_contains: [x]}}
  - {id: b, prompt: x, expected: {output_contains: [x]}}
  - {id: c, prompt: x, expected: {output_contains: [x]}}
YAML
: >log
WANT=3 run "$WAZA" run -q j.yaml -j 3 --timeout 60
is '-j 3: three at a time' 0 "$rc"
workers() {
	"$WAZA" run --dry-run "$@" | sed -n 's/.*, \([0-9]*\) at a time/\1/p'
}
if n=$(getconf _NPROCESSORS_ONLN 2>/dev/null || nproc 2>/dev/null)
then
	[ "$n" -le 4 ] || n=4
	is 'default: the processors, at most 4' "$n" "$(workers j.yaml)"
else skip 'neither getconf nor nproc counts processors'
fi
sed 's/executor: command/executor: mock/' j.yaml >w.yaml
is 'mock answers at once: one at a time, in order' 1 "$(workers w.yaml)"
is '-j is --workers' '7 7' "$(workers j.yaml -j 7) $(workers j.yaml --workers 7)"
is '--parallel' 4 "$(workers j.yaml --parallel)"
sed 's/command, /command, workers: 3, /' j.yaml >w.yaml
is "the suite's workers take precedence over the default" 3 "$(workers w.yaml)"
sed 's/command, /command, parallel: false, /' j.yaml >w.yaml
is 'parallel: false is one at a time' 1 "$(workers w.yaml)"
is '-j takes precedence over the suite' 2 "$(workers w.yaml -j 2)"
sed 's/command, /command, persistent: true, /' j.yaml >w.yaml
is 'a persistent program: one at a time' 1 "$(workers w.yaml)"
echo 'hooks: {before_task: [{command: "true"}]}' | cat j.yaml - >w.yaml
is 'hooks around tasks: one at a time' 1 "$(workers w.yaml)"
is '--fail-fast: one at a time' 1 "$(workers j.yaml --fail-fast)"
done_testing
