# What people see: screens of terminals at several widths, and pipes.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
cd "$tmp" || exit 1
mkdir tmp
TMPDIR=$tmp/tmp LC_ALL=C.UTF-8 TERM=xterm
export TMPDIR LC_ALL TERM
unset COLUMNS NO_COLOR FORCE_COLOR
esc=$(printf '\033')

# results whose times are known: waza grade prints them without running an agent
long='Says goodbye in a friendly way and does not forget to mention the weather'
cat >eval.yaml <<YAML
name: greetings
skill: greeter
config: {executor: mock, trials_per_task: 2}
tasks:
  - {id: hello, name: Says hello, prompt: hi, expected: {output_contains: [Hello]}}
  - id: bye
    name: $long
    prompt: bye
    expected: {output_contains: [bye]}
    graders:
      - {type: keyword, name: polite, keywords: [please]}
  - {id: wide, name: 挨拶を日本語でする 👋 café, prompt: やあ, expected: {output_contains: [こんにちは]}}
  - {id: slow, name: Slow one, prompt: s, expected: {output_contains: [x]}}
YAML
# trial N MS OUTPUT
trial() {
	printf '{"run_number":%d,"attempts":1,"status":"passed","duration_ms":%d,"validations":{},"final_output":"%s"}' "$@"
}
# task ID MS OUTPUT
task() {
	printf '{"test_id":"%s","display_name":"%s","status":"passed","runs":[%s,%s],"stats":{"avg_score":1}}' \
	    "$1" "$1" "$(trial 1 "$2" "$3")" "$(trial 2 "$2" "$3")"
}
cat >r.json <<JSON
{"eval_id":"run-1","skill":"greeter","eval_name":"greetings","timestamp":"2026-01-01T00:00:00Z",
"config":{"runs_per_test":2,"model_id":"m","engine_type":"mock","timeout_sec":9},
"summary":{"total_tests":4,"duration_ms":9100},"metrics":{},
"tasks":[$(task hello 300 Hello),$(task bye 500 'See you'),$(task wide 200 こんにちは),$(task slow 4500 x)]}
JSON

# in a pipe: nothing is cut, at any COLUMNS; colours by the options and variables
run env COLUMNS=20 "$WAZA" grade --results r.json eval.yaml -q
whole=$out
run "$WAZA" grade --results r.json eval.yaml -q
is 'pipe: COLUMNS is ignored' "$whole" "$out"
like 'pipe: nothing is cut' "*  ✗ $long     0/2   0.00     500ms
*
  ✗ $long \[bye\]  eval.yaml:6
*
    ✗ polite (keyword) eval.yaml:11: missing \"please\" (the output is \"See you\")
*" "$out"
run env COLUMNS=20 "$WAZA" run --no-results eval.yaml
like 'pipe: progress is not cut' "*] ✗ $long  0.00  *ms  missing \"please\" (the output is \"Mock response for: bye\")
*" "$err"
# colored COMMAND...: whether it prints colours
colored() {
	"$@" 2>&1 | grep -q "$esc"
}
while read -r want vars option
do
	got=never
	# shellcheck disable=SC2086 # the option may be missing
	if colored env ${vars%-} "$WAZA" grade --results r.json eval.yaml -q ${option-}
	then got=always
	fi
	is "colours: ${vars%-} ${option-}" "$want" "$got"
done <<'TABLE'
never -
always - --color=always
always NO_COLOR=1 --color=always
never FORCE_COLOR=1 --color=never
never FORCE_COLOR=1 --no-color
always FORCE_COLOR=1 --color=auto
always FORCE_COLOR=1
never FORCE_COLOR=0
never NO_COLOR=1
never NO_COLOR=
always TERM=dumb --color=always
TABLE
ok 'NO_COLOR takes precedence over FORCE_COLOR' sh -c '! FORCE_COLOR=1 NO_COLOR=1 "$WAZA" grade --results r.json eval.yaml -q | grep -q "$1"' sh "$esc"
cp r.json s.json
for c in "run --no-results -q" "compare r.json s.json" "gate --baseline r.json --current s.json" coverage check
do
	mkdir -p skills/greeter
	printf -- '---\nname: greeter\ndescription: Greets people.\n---\n' >skills/greeter/SKILL.md
	# shellcheck disable=SC2086 # words
	ok "${c%% *} --color=always" colored "$WAZA" $c --color=always
	# shellcheck disable=SC2086 # words
	run "$WAZA" $c --color=blue
	like "${c%% *} --color=blue" 'waza: *--color*auto, always*' "$err"
done
rm -r skills

# an interrupted run prints the command that resumes it
mkdir "it's here"
cat >"it's here/e 1.yaml" <<'YAML'
name: naps
skill: s
config: {executor: command, command: 'read -r p; if [ "$p" = nap ]; then : >"$NAPS"; while [ -e "$NAPS" ]; do $NAP; done; fi; printf %s "$p"', workers: 1}
tasks:
  - {id: a, prompt: one, expected: {output_contains: [one]}}
  - {id: b, prompt: nap, expected: {output_contains: [nap]}}
  - {id: c, prompt: two, expected: {output_contains: [two]}}
YAML
NAPS=$tmp/naps
export NAPS
"$WAZA" run --task '*' -o 'r $1.json' "it's here/e 1.yaml" >out 2>err &
pid=$!
ok 'interrupt: the second task runs' wait_until 20 [ -e naps ]
kill -INT "$pid"
wait "$pid" || rc=$?
is 'interrupt: status' 130 "$rc"
rm -f naps
is 'interrupt: the end of the report' '1 of 3 tasks done: 1 passed, 0 failed; 2 not run
time N

resume with:
    WAZA run --resume --task '"'*' -o 'r \$1.json' 'it'\\''s here/e 1.yaml'"'

INTERRUPTED  results: r $1.json  journal: r $1.json.journal' \
    "$(sed -n '/tasks done/,$p' out | sed "s/time [0-9.]*m*s/time N/; s| $WAZA | WAZA |; s|    $WAZA |    WAZA |")"
sed -n '/^resume/,/^$/p' out | sed 1d >again
sh ./again >out 2>err &
pid=$!
wait_until 20 [ -e naps ]
rm -f naps
wait "$pid" && rc=0
is 'the command resumes it: status' 0 "$rc"
like 'the command resumes it: how much was reused' '*3 tasks: 3 passed, 0 failed*
reused 1 of 3 trials from the earlier run

PASSED  results: r $1.json' "$(cat out)"

# reuse
run "$WAZA" run -q --no-results --cache --cache-dir c eval.yaml
like 'cache: nothing yet' '*
reused 0 of 8 trials from the cache
*' "$out"
run "$WAZA" run -q --no-results --cache --cache-dir c eval.yaml
like 'cache: the second time' '*
reused 8 of 8 trials from the cache
*' "$out"
run "$WAZA" run -q --no-results --shard 7/9 eval.yaml
is 'an empty shard' '0 greetings  skill greeter  executor mock  2 trials each

NOTHING TO DO: shard 7 of 9 has no task' "$rc $out"

command -v tmux >/dev/null || skip_all 'no tmux: screens are not tested'
TMUX_TMPDIR=$tmp
export TMUX_TMPDIR
unset TMUX
# tm ARG...: tmux with a server of its own
tm() {
	tmux -u -f /dev/null -S "$tmp/tmux" "$@"
}
tm new-session -d -s keep cat
tm set-option -g history-limit 20000
trap 'tm kill-server 2>/dev/null; rm -rf "$tmp"' EXIT
# start COLUMNS COMMAND: in a new terminal; .status is written at the end, and
# the bytes of the terminal are in raw
start() {
	rm -f .status raw
	printf 'trap : INT QUIT\nulimit -c 0\n%s\necho $? >.status\nexec cat\n' "$2" >cmd
	tm new-session -d -s s -x "$1" -y 40 "exec sh -c 'while [ ! -e raw ]; do $RPCPIPE nap; done; exec sh ./cmd'"
	tm pipe-pane -t s "cat >raw"
}
# screen [OPTION...]: its text, with everything that was scrolled out
screen() {
	tm capture-pane -p -S - -E - -t s "$@" | sed 's/ *$//' | sed -e :a -e '/^\n*$/{$d;N;ba' -e '}'
}
ended() {
	[ -s .status ]
}
# shows TEXT: whether the screen has it
shows() {
	screen | grep -q -e "$1"
}
stop() {
	tm kill-session -t s
}
# finish NAME [TEXT]: wait for the end, and for a verdict or the text; no line may
# be wider than the terminal: then tmux would have wrapped it.  Only a path on a
# line of its own may be.
finish() {
	ok "$1: ends" wait_until 60 ended
	wait_until 10 shows "${2:-PASSED\|FAILED\|INTERRUPTED\|NOTHING}"
	screen >text
	is "$1: nothing is wider than the terminal" '' "$(screen -J | grep -vxF -f text | grep -v '^ *[^ ]*/[^ ]*$')"
}

start 60 '"$WAZA" grade --results r.json eval.yaml'
finish 'table, 60 columns'
stop
is 'table, 60 columns' '✗ Says goodbye in a friendly wa…  missing "bye" (the output…

greetings  skill greeter  executor mock  model m  2 trials
  each

    task                             trials  score  avg time
  ✓ Says hello                          2/2   1.00     300ms
  ✗ Says goodbye in a friendly way      0/2   0.00     500ms
    and does not forget to mention
    the weather
  ✓ 挨拶を日本語でする 👋 café          2/2   1.00     200ms
  ✓ Slow one                            2/2   1.00      4.5s

Failures

  ✗ Says goodbye in a friendly way and does not forget to
    mention the weather [bye]  eval.yaml:6
    none of 2 trials passed; the first one:
    ✗ output_contains: missing "bye" (the output is "See
      you")
    ✗ polite (keyword) eval.yaml:11: missing "please" (the
      output is "See you")
    answer:
      │ See you

Slowest (median 300ms)
     4.5s  Slow one

Graded again: 4 of 4 tasks, 1 changed
  ✗ Says goodbye in a friendly way and does not forget to
      mention the weather  passed → failed  1.00 → 0.00

4 tasks: 3 passed, 1 failed
pass rate 75.0% (95% interval: 30–95%), score 0.75, 9.1s

FAILED' "$(cat text)"
for cols in 40 80 120
do
	start "$cols" '"$WAZA" grade --results r.json eval.yaml'
	finish "table, $cols columns"
	stop
	sed -n '/^    task/,/^$/p' text >"table$cols"
done
is 'table, 40 columns: without times' '    task                   trials  score
  ✓ Says hello                2/2   1.00' "$(sed 2q table40)"
is 'table, 80 columns' "    task                                                 trials  score  avg time
  ✓ Says hello                                              2/2   1.00     300ms
  ✗ Says goodbye in a friendly way and does not forget      0/2   0.00     500ms
    to mention the weather
  ✓ 挨拶を日本語でする 👋 café                              2/2   1.00     200ms
  ✓ Slow one                                                2/2   1.00      4.5s" "$(cat table80)"
is 'table, 120 columns' "    task                                                                       trials  score  avg time
  ✓ Says hello                                                                    2/2   1.00     300ms
  ✗ $long     0/2   0.00     500ms
  ✓ 挨拶を日本語でする 👋 café                                                    2/2   1.00     200ms
  ✓ Slow one                                                                      2/2   1.00      4.5s" "$(cat table120)"

# colours on a terminal
start 80 'NO_COLOR=1 "$WAZA" grade --results r.json eval.yaml'
finish 'NO_COLOR'
is 'NO_COLOR: no colours' 0 "$(tm capture-pane -p -e -t s | grep -c "$esc")"
stop
start 80 '"$WAZA" grade --results r.json eval.yaml'
finish 'colours'
ok 'a verdict in red' sh -c 'tm=$1; shift; "$@" | grep -q "31mFAILED"' sh tm tmux -u -S "$tmp/tmux" capture-pane -p -e -t s
stop
start 80 'TERM=dumb "$WAZA" run --no-results eval.yaml'
finish 'TERM=dumb'
stop
is 'TERM=dumb: no escape sequence' 0 "$(grep -c "$esc" raw)"
like 'TERM=dumb: a line for each task' '\[1/4\] *' "$(cat text)"

# the progress line: one, at the end, as wide as the terminal, also after that has
# changed
cat >live.yaml <<'YAML'
name: live
skill: s
config: {executor: command, command: 'read -r p; if [ "$p" = nap ]; then : >"$NAPS"; while [ -e "$NAPS" ]; do $NAP; done; fi; printf %s "$p"', workers: 1}
tasks:
  - {id: a, name: First of them, prompt: one, expected: {output_contains: [one]}}
  - {id: b, name: The second task has failed, prompt: two, expected: {output_contains: [three]}}
  - {id: c, name: The third task, prompt: nap, expected: {output_contains: [nap]}}
  - {id: d, name: Last, prompt: four, expected: {output_contains: [four]}}
YAML
# progress: the screen with its times replaced
progress() {
	screen | sed 's/[0-9ms]*, [0-9ms]* left/TIME/'
}
start 80 '"$WAZA" run --no-results live.yaml'
ok 'progress: the third task runs' wait_until 20 shows '2/4 .* left .*The third'
is 'progress, 80 columns' '✗ The second task has failed  missing "three" (the output is "two")
██████████░░░░░░░░░░  2/4  1 failed  TIME  The third task' "$(progress)"
tm resize-window -t s -x 60 -y 40
ok 'progress: is fitted to 60 columns' wait_until 20 shows '^█████░░░░░  2/4 '
is 'progress, 60 columns: nothing else stays' '✗ The second task has failed  missing "three" (the output is
 "two")
█████░░░░░  2/4  1 failed  TIME  The third task' "$(progress)"
tm resize-window -t s -x 120 -y 40
ok 'progress: is fitted to 120 columns' wait_until 20 shows '^███████████████░░░'
is 'progress, 120 columns' '✗ The second task has failed  missing "three" (the output is "two")
███████████████░░░░░░░░░░░░░░░  2/4  1 failed  TIME  The third task' "$(progress)"
rm naps
finish 'progress'
stop
is 'progress: is gone at the end' 0 "$(grep -c '█' text)"
is 'progress: the failure stays' 'The second task has failed' "$(sed -n '1s/✗ \(.*\)  missing.*/\1/p' text)"

# Ctrl-C
start 60 '"$WAZA" run -o part.json live.yaml'
wait_until 20 shows '2/4 .*The third'
tm send-keys -t s C-c
finish 'Ctrl-C'
stop
rm -f naps
is 'Ctrl-C: the end of the report' '2 of 4 tasks done: 1 passed, 1 failed; 2 not run' "$(grep 'tasks done' text)"
is 'Ctrl-C: no pass rate' 0 "$(grep -c 'pass rate' text)"
like 'Ctrl-C: the last line' 'INTERRUPTED  results: part.json  journal: part.json.journal*' "$(sed -n '/^INT/,$p' text)"

# Ctrl-\ ends it at once
start 60 '"$WAZA" run -o quit.json live.yaml'
wait_until 20 shows '2/4 .*The third'
tm send-keys -t s 'C-\'
ok 'Ctrl-\: ends' wait_until 20 ended
is 'Ctrl-\: status' 131 "$(cat .status)"
is_cleared() {
	! shows '2/4\|The third'
}
ok 'Ctrl-\: the progress line is gone' wait_until 10 is_cleared
stop
rm -f naps

# a path is not broken, so that it can be copied: it begins a line if it is long
mkdir dir
while read -r cols file want
do
	start "$cols" '"$WAZA" run -q --task d -o "'"$file"'" live.yaml'
	finish "a path, $cols columns"
	is "a path, $cols columns: the end" "$want" "$(screen -J | sed -n '/^PASSED/,$p' | paste -s -d '|' -)"
	stop
done <<'TABLE'
60 dir/the-results-of-a-run-which-is-live.json PASSED  results: dir/the-results-of-a-run-which-is-live.json
55 dir/the-results-of-a-run-which-is-live.json PASSED|  results: dir/the-results-of-a-run-which-is-live.json
50 dir/the-results-of-a-run-which-is-live.json PASSED  results:|  dir/the-results-of-a-run-which-is-live.json
30 dir/the-results-of-a-run-which-is-live.json PASSED  results:|  dir/the-results-of-a-run-which-is-live.json
TABLE

# stored results: the id stays whole, on a line of its own if there is no room
mkdir stored
sed 's/run-1/run-1700000000-12345678/; s/"greetings"/"greetings in a friendly way, and farewells"/' r.json >stored/1.json
sed 's/run-1/run-1700000001-12345678/; s/2026-01-01/2026-01-02/' r.json >stored/2.json
for cols in 40 60 80
do
	start "$cols" '"$WAZA" results --dir stored'
	finish "results, $cols columns" run-1700000000
	stop
	cp text "stored$cols"
done
is 'results, 40 columns' '  suite                           passed
  greetings                       100.0%
  run-1700000001-12345678
  greetings in a friendly way,    100.0%
  and farewells
  run-1700000000-12345678' "$(cat stored40)"
is 'results, 60 columns' '  suite                      passed                   run id
  greetings                  100.0%  run-1700000001-12345678
  greetings in a friendly    100.0%  run-1700000000-12345678
  way, and farewells' "$(cat stored60)"
is 'results, 80 columns' '  suite                     passed        started (UTC)                   run id
  greetings                 100.0%  2026-01-02T00:00:00  run-1700000001-12345678
  greetings in a friendly   100.0%  2026-01-01T00:00:00  run-1700000000-12345678
  way, and farewells' "$(cat stored80)"

# help, and lists of what would run
"$WAZA" help | sed -n 's/^  \([a-z-]*\) .*/\1/p' >commands
ok 'help: commands' [ "$(wc -l <commands)" -gt 20 ]
for cols in 40 60
do
	start "$cols" 'for c in "" $(cat commands); do "$WAZA" help $c; done; "$WAZA" help preflight; echo THE END'
	finish "help, $cols columns" 'THE END'
	stop
	cp text "help$cols"
done
is 'help, 60 columns: a command' '  doctor         Report which executors can run here, and
                 what is missing' "$(sed -n '/^  doctor/,/missing/p' help60)"
is 'help, 60 columns: an option' '      --watch             run again what a changed file
                          affects' "$(sed -n '/^ *--watch/,/affects/p' help60)"
is 'help, 60 columns: a usage' 'usage: waza results [list] [OPTION ...] | compare [OPTION
    ...] ID ID' "$(sed -n '/^usage: waza results/,/ID/p' help60)"
is 'help, 40 columns: an option' '      --watch             run again what
        a changed file affects' "$(sed -n '/^ *--watch/,/affects/p' help40)"
is 'help, in a pipe' '      --watch             run again what a changed file affects' "$("$WAZA" help run | grep -e ' --watch ')"

# tables and messages of the commands for skills, and the usage after a mistake
mkdir -p shop/skills/review-pull-requests-of-large-repositories
cd shop || exit 1
printf -- '---\nname: review-pull-requests-of-large-repositories\ndescription: Reviews.\n---\n# Review\n' \
    >skills/review-pull-requests-of-large-repositories/SKILL.md
git init -q . && git add -A && git -c user.name=a -c user.email=a@example.org commit -qm first
i=0
while [ $i -lt 900 ]
do i=$((i + 1)); echo "words of a long skill"
done >>skills/review-pull-requests-of-large-repositories/SKILL.md
cd ..
start 60 'cd shop
for c in "tokens count" "tokens check" "tokens compare HEAD" "tokens profile" "tokens suggest" check coverage list "doctor acp command"
do "$WAZA" $c
done
echo THE END
cd ..'
finish 'commands for skills, 60 columns' 'THE END'
stop
like 'tokens compare, 60 columns' '*~ ..tories/SKILL.md        22      4972     +4950  +22500.0%
*' "$(cat text)"
like 'doctor, 60 columns' '*executors:         version   login   skills         confined
*  ok  command      runs a command of the suite or the
                   settings*' "$(cat text)"
start 60 'for c in $(cat commands); do "$WAZA" $c --bogus; done; echo THE END'
finish 'usage, 60 columns' 'THE END'
stop
like 'usage, 60 columns' '*usage: waza tokens count|check|compare|profile|suggest
    \[OPTION ...\] \[SKILL|PATH ... | REF \[REF\]\]
waza: unknown option "--bogus"; *' "$(cat text)"
like 'usage, not on a terminal' 'usage: waza tokens count|check|compare|profile|suggest \[OPTION ...\] \[SKILL|PATH ... | REF \[REF\]\]
*' "$("$WAZA" tokens --bogus 2>&1)"
deep=a-directory-with-a-name-that-is-longer/than-the-terminal-is-wide/by-far
mkdir -p "$deep"
cp eval.yaml "$deep"
start 60 '"$WAZA" run --dry-run eval.yaml '"$deep"'; "$WAZA" run --list eval.yaml'
finish 'run --dry-run, 60 columns' '^slow'
is 'run --dry-run, --list, 60 columns' "$deep/eval.yaml:
    greetings
  executor mock, N at a time
  4 tasks, 2 trials each: 8 agent calls
    hello  Says hello
    bye  Says goodbye in a friendly way and does not forget
      to mention the weather
    wide  挨拶を日本語でする 👋 café
    slow  Slow one
8 tasks, 16 agent calls; nothing was run
hello  Says hello
bye  Says goodbye in a friendly way and does not forget to
    mention the weather
wide  挨拶を日本語でする 👋 café
slow  Slow one" "$(screen -J | sed -n '/^a-dir/,$s/[0-9]* at a time/N at a time/; /^a-dir/,$p')"
stop

# 2,000 tasks, of which 20 fail
awk 'BEGIN {
	print "name: large\nskill: s\nconfig: {executor: mock, workers: 8}\ntasks:"
	for (i = 1; i <= 2000; i++)
		printf "  - {id: t%d, name: Task number %d of many, prompt: p, expected: {output_contains: [%s]}}\n",
		    i, i, i % 100 ? "p" : "zebra"
}' >large.yaml
start 60 '"$WAZA" run --no-results large.yaml'
finish '2,000 tasks'
stop
is '2,000 tasks: failures in the order of the suite' "$(seq -s ' ' 100 100 2000)" \
    "$(sed -n 's/^  ✗ Task number \([0-9]*\) of many \[t.*/\1/p' text | xargs)"
is '2,000 tasks: the table has those that failed' 20 "$(grep -c '^  ✗ .*  0.00  ' text)"
is '2,000 tasks: the others are counted' '  1980 tasks that passed or did not run are not listed; use
  -v to list them' "$(sed -n '/^  1980/,/list them/p' text)"
is '2,000 tasks: the sum' '2000 tasks: 1980 passed, 20 failed' "$(grep '^2000 tasks' text)"
done_testing
