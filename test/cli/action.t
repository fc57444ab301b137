# The steps of action.yml that install and run: outputs, annotations, the summary,
# the JUnit file, exit statuses and wrong inputs.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/action.sh"

# action.yml and its script agree, and no expression is part of a command
script=$top/pkg/action.sh
is 'action.yml: the inputs of the issue' 'suite executor model baseline changed budget shards comment ' \
    "$(sed -n '/^inputs:/,/^outputs:/s/^  \([a-z]*\):$/\1/p' "$top/action.yml" | tr '\n' ' ')"
is 'action.yml: inputs are variables of the script' "$(grep -o 'INPUT_[A-Z][A-Z]*' "$script" | sort -u)" \
    "$(grep -o 'INPUT_[A-Z]*:' "$top/action.yml" | tr -d : | sort -u)"
is 'action.yml: outputs of the script' "$(sed -n 's/^	put \([a-z-]*\) .*/\1/p' "$script" | sort -u)" \
    "$({ grep -o 'steps\.run\.outputs\.[a-z-]*' "$top/action.yml" | sed 's/.*\.//'; } | sort -u)"
is 'action.yml: commands without expressions' '' "$(grep '^ *\(- \)\{0,1\}run:' "$top/action.yml" | grep -F '${{')"
is 'action.yml: one step has the token' 1 "$(grep -c 'github.token' "$top/action.yml")"

# install: a release on disk
version=$("$WAZA" --version)
version=${version#waza }
release=$tmp/release
mkdir "$release"
machine=$(uname -m)
case $machine in
amd64) machine=x86_64 ;;
i[3-6]86) machine=i686 ;;
arm64) machine=aarch64 ;;
armv7*|armv8l) machine=armv7 ;;
esac
if [ "$(uname -s)" = Linux ] && command -v sha256sum >/dev/null; then
	printf '#!/bin/sh\nexec %s "$@"\n' "'$WAZA'" >"$release/waza-$version-linux-$machine"
	(cd "$release" && sha256sum waza-* >SHA256SUMS)
	act install WAZA_RELEASE="$release"
	is 'install: status' 0 "$rc"
	ok 'install: waza is in the PATH of later steps' test -x "$(cat "$tmp/path")/waza"
	is 'install: it runs' "$("$WAZA" --version)" "$("$(cat "$tmp/path")/waza" --version)"
	echo '# damaged' >>"$release/waza-$version-linux-$machine"
	act install WAZA_RELEASE="$release"
	like 'install: a wrong sum' "2 ::error title=waza::install.sh: the sum of waza-$version-linux-* is *, not *" "$rc $out"
	is 'install: then nothing is in the PATH' '' "$(cat "$tmp/path")"
	act install ACTION_REPOSITORY=o/waza GITHUB_SERVER_URL=http://github.example
	like 'install: the release of the repository of the action' \
	    '2 *http://github.example/o/waza/releases/download/v* is not an https:// address' "$rc $out"
else
	skip 'no Linux, or no sha256sum'
fi

# a suite that passes
suite good 'yes a' 'yes b'
act run INPUT_SUITE=good
is 'passed: status' 0 "$rc"
is 'passed: outputs' 'passed 0 2 2' "$(output status) $(output exit-code) $(output tasks) $(output passed)"
dir=$(output results)
ok 'passed: results' grep -q '"eval_name": "good"' "$dir/results.json"
ok 'passed: JUnit' grep -q '<testsuite name="good"[^>]* tests="2"' "$(output junit)"
like 'passed: the summary' '## Waza results: good*Passed*' "$(cat "$tmp/summary")"
is 'passed: the report' "$(cat "$tmp/summary")" "$(cat "$(output report)")"
is 'passed: no annotation' '' "$(printf '%s\n' "$out" | grep '^::')"
is 'passed: nothing in the working directory' 'good' "$(ls -A)"

# a suite that fails; names that contain commands
cat >"$tmp/hostile" <<'YAML'
name: "a\n::error::$(touch owned)"
skill: "s`touch owned`"
config: {executor: mock}
graders: [{type: text, name: echo, config: {contains: ["yes"]}}]
tasks:
  - {id: "x' \"; touch owned;", name: "\n::set-output name=status::passed\nstatus=passed\n<!-- @all -->", prompt: "$(touch owned)\n::stop-commands::x"}
YAML
mkdir 'a $(touch owned) "b"' && mv "$tmp/hostile" 'a $(touch owned) "b"/eval.yaml'
act run INPUT_SUITE='a $(touch owned) "b"'
is 'failed: status' 1 "$rc"
is 'failed: outputs' 'failed 1 1 0' "$(output status) $(output exit-code) $(output tasks) $(output passed)"
is 'failed: one line for each output' 8 "$(grep -c . "$tmp/output")"
like 'failed: an annotation at the grader' '*::error file=a $(touch owned) "b"/eval.yaml,line=*' "$out"
is 'failed: no other command' 1 "$(printf '%s\n' "$out" "$err" | grep -c '^[[:space:]]*::')"
ok 'failed: no text became a command' test ! -e owned
like 'failed: JUnit' '*<failure*' "$(cat "$(output junit)")"
rm -rf 'a $(touch owned) "b"'

# files of later steps are not for agents
mkdir spy
cat >spy/eval.yaml <<'YAML'
name: spy
skill: s
config: {executor: command, command: [sh, -c, 'env; cat >/dev/null']}
tasks: [{id: a, prompt: x, graders: [{type: text, name: t, config: {contains: ["PATH="]}}]}]
YAML
act run INPUT_SUITE=spy
is 'an agent does not get the files of the runner' '0 ' \
    "$rc $(grep -oE 'GITHUB_(ENV|OUTPUT|PATH|STATE|STEP_SUMMARY)=|INPUT_[A-Z]*' "$(output results)/results.json")"
rm -rf spy

# several suites and models
suite more 'yes'
act run INPUT_SUITE='good
  more
' INPUT_MODEL='m1
m2'
is 'several suites and models: outputs' 'passed 6 6' "$(output status) $(output tasks) $(output passed)"
is 'several suites and models: files' 4 "$(ls "$(output results)" | grep -c '^results.*json$')"

# the gate
suite gated 'yes a' 'no b' 'yes c'
act run INPUT_SUITE=gated
is 'without a baseline the suite decides' '1 failed' "$rc $(output status)"
mkdir "$tmp/accepted"
cp "$(output results)/results.json" "$tmp/accepted/gated.json"
act run INPUT_SUITE=gated INPUT_BASELINE="$tmp/accepted/gated.json"
is 'gate: no worse than the baseline' '0 passed' "$rc $(output status)"
like 'gate: an annotation' '*::notice *title=waza gate::gate passed*' "$out"
like 'gate: the summary begins with it' '## Gate: * passed*## Waza results: gated*' "$(cat "$tmp/summary")"
suite gated 'yes a' 'no b' 'no c'
act run INPUT_SUITE=gated INPUT_BASELINE="$tmp/accepted/gated.json"
is 'gate: a regression' '1 failed' "$rc $(output status)"
like 'gate: the regression is named' '*::error *the pass rate fell*' "$out"
keys='golden: true' suite gated 'yes a' 'no b' 'yes c'
act run INPUT_SUITE=gated INPUT_BASELINE="$tmp/accepted/gated.json"
is 'gate: a golden task' '2 failed' "$rc $(output status)"
suite gated 'yes a' 'no b' 'yes c'
# the thresholds of a suite that reached them before
sed 's/^  "status": "failed"/  "status": "passed"/' "$tmp/accepted/gated.json" >"$tmp/accepted/reached.json"
act run INPUT_SUITE=gated INPUT_BASELINE="$tmp/accepted/reached.json"
is 'gate: thresholds that the baseline reached' '1 failed' "$rc $(output status)"
like 'gate: thresholds are named' '*::error title=waza::the suite "gated" does not reach its thresholds*' "$out"
echo '{}' >"$tmp/accepted/damaged.json"
act run INPUT_SUITE=gated INPUT_BASELINE="$tmp/accepted/damaged.json"
like 'gate: a baseline that is not a results file' '3 error *::error title=waza::the results cannot be compared with the baseline*' \
    "$rc $(output status) $out"
act run INPUT_SUITE=gated INPUT_BASELINE=missing.json
like 'gate: the baseline is missing' '2 ::error title=waza::input baseline: "missing.json" does not exist: *' "$rc $out"
is 'gate: then nothing runs' 'error 0' "$(output status) $(output tasks)"
mkdir "$tmp/many"
act run INPUT_SUITE='good
more'
cp "$(output results)"/results_*.json "$tmp/many"
act run INPUT_SUITE='good
more' INPUT_BASELINE="$tmp/many"
is 'gate: a directory of baselines' '0 passed 2' "$rc $(output status) $(grep -c '^## Gate' "$tmp/summary")"
rm "$tmp"/many/*
act run INPUT_SUITE='good
more' INPUT_BASELINE="$tmp/many"
like 'gate: results without a baseline' '0 *::warning title=waza::suite "good", executor "mock": it has no baseline in *, so its own thresholds decide; to accept *' "$rc $out"
act run INPUT_SUITE='good
gated' INPUT_BASELINE="$tmp/many"
is 'gate: results without a baseline must pass' '1 failed' "$rc $(output status)"

# several suites: baselines belong to suites and agents, whatever their files are named
# accept [NAME=VALUE ...]: the results of a run become the baselines in $tmp/many
accept() {
	rm -f "$tmp"/many/*
	act run "$@"
	cp "$(output results)"/results*.json "$tmp/many"
}
accept INPUT_SUITE='good
gated'
act run INPUT_SUITE='gated
good' INPUT_BASELINE="$tmp/many"
is 'suites: another order, and one fails as it did before' '0 passed 2' "$rc $(output status) $(grep -c '^## Gate: .* passed' "$tmp/summary")"
act run INPUT_SUITE=good INPUT_BASELINE="$tmp/many"
like 'suites: one did not run' '3 error *::error title=waza::suite "gated", executor "mock": it has a baseline, */many/results_s*.json, but did not run: *' \
    "$rc $(output status) $out"
act run INPUT_SUITE='good
gated' INPUT_BASELINE="$tmp/accepted/gated.json"
like 'suites: a file cannot be the baseline of two' '3 error *::error title=waza::the baseline */gated.json belongs to another suite than "good": *' \
    "$rc $(output status) $out"
act run INPUT_SUITE='good
gated
more' INPUT_BASELINE="$tmp/many"
like 'suites: a new one that passes' '0 *::warning title=waza::suite "more", executor "mock": it has no baseline in *' "$rc $out"
suite fresh 'no'
act run INPUT_SUITE='good
gated
fresh' INPUT_BASELINE="$tmp/many"
like 'suites: a new one that fails' '1 failed *::error title=waza::suite "fresh", executor "mock": it has no baseline in * and does not pass; to accept *' \
    "$rc $(output status) $out"
rm -r fresh
act run INPUT_SUITE=good INPUT_MODEL=m1 INPUT_BASELINE="$tmp/many" INPUT_CHANGED=
like 'suites: another model is not a new suite' '3 error *::error title=waza::suite "good", executor "mock", model "m1": the baseline of this suite, *' \
    "$rc $(output status) $out"
sed 's/^name: good/name: better/' good/eval.yaml >good/new && mv good/new good/eval.yaml
act run INPUT_SUITE='good
gated' INPUT_BASELINE="$tmp/many"
like 'suites: another name is not a new suite' '3 error *::error title=waza::suite "better", executor "mock": the baseline of this suite, *' \
    "$rc $(output status) $out"
suite good 'yes a' 'yes b'
cp "$tmp/many/results_s.json" "$tmp/many/copy.json"
act run INPUT_SUITE='good
gated' INPUT_BASELINE="$tmp/many"
like 'suites: two baselines' '3 error *: several files in * belong to it: *' "$rc $(output status) $out"
echo '{}' >"$tmp/many/copy.json"
act run INPUT_SUITE='good
gated' INPUT_BASELINE="$tmp/many"
like 'suites: a damaged baseline' '3 error *::error title=waza::the baseline */copy.json is not a results file*' "$rc $(output status) $out"
accept INPUT_SUITE=good INPUT_MODEL='m1
m2'
act run INPUT_SUITE=good INPUT_MODEL='m2
m1' INPUT_BASELINE="$tmp/many"
is 'models: each has its baseline' '0 passed 2' "$rc $(output status) $(grep -c '^## Gate: .* passed' "$tmp/summary")"
act run INPUT_SUITE=good INPUT_MODEL=m2 INPUT_BASELINE="$tmp/many"
like 'models: one did not run' '3 *::error title=waza::suite "good", executor "mock", model "m1": it has a baseline, *' "$rc $out"
# suites with the same name: their places decide
for name in one two; do
	suite $name 'yes a'
	sed 's/^name: .*/name: same/' $name/eval.yaml >$name/new && mv $name/new $name/eval.yaml
done
accept INPUT_SUITE='one
two'
act run INPUT_SUITE='two
one' INPUT_BASELINE="$tmp/many"
is 'names: places tell suites of the same name apart' '0 passed 2' "$rc $(output status) $(grep -c '^## Gate: .* passed' "$tmp/summary")"
rm "$tmp/many/results_s.json"
act run INPUT_SUITE='two
one' INPUT_BASELINE="$tmp/many"
like 'names: one baseline is not that of two suites' '3 *::error title=waza::the baseline * belongs to several results: *' "$rc $out"
rm -r one two
# a skill of the name of the summary
suite summary 'no'
sed 's/^skill: .*/skill: summary/' summary/eval.yaml >summary/new && mv summary/new summary/eval.yaml
act run INPUT_SUITE='good
summary'
is 'a skill named summary counts' 3 "$(output tasks)"
rm -r summary

# a budget
suite dear yes yes yes yes
printf '#!/bin/sh\ncat >/dev/null\necho '\''%s'\''\n' \
    '{"output":"yes","tool_calls":[],"usage":{"input_tokens":80,"output_tokens":20,"cost":0.1}}' >"$tmp/agent"
chmod +x "$tmp/agent"
sed "s|executor: mock|executor: command, command: [$tmp/agent], output_format: json|" dear/eval.yaml >dear/new &&
    mv dear/new dear/eval.yaml
act run INPUT_SUITE=dear INPUT_BUDGET=250
is 'budget: enough' '0 passed' "$rc $(output status)"
act run INPUT_SUITE=dear INPUT_BUDGET='tokens=250, time=1h'
is 'budget: spent' '3 budget 3' "$rc $(output status) $(output exit-code)"
like 'budget: an annotation' '*::error title=waza::the budget is spent: not all tasks have run*' "$out"
like 'budget: the summary' '\*\*The budget is spent*' "$(cat "$tmp/summary")"
ok 'budget: JUnit' grep -q '<skipped' "$(output junit)"
rm -rf dear

# an error of the suite
act run INPUT_SUITE=nowhere
is 'error: status' '2 error 2' "$rc $(output status) $(output exit-code)"
like 'error: the summary' 'waza could not run*' "$(cat "$tmp/summary")"

# changed tasks
rm -rf good more
suite gated 'yes a' 'no b' 'yes c'
if git init -q . 2>/dev/null && git add . && git -c user.name=a -c user.email=a@example.com commit -q -m first; then
	act run INPUT_SUITE=gated INPUT_CHANGED=HEAD
	is 'changed: nothing' '0 unchanged 0' "$rc $(output status) $(output tasks)"
	like 'changed: a notice' '*::notice title=waza::No task has changed: nothing was run.' "$out"
	for k in 1 2; do
		act run INPUT_SUITE=gated INPUT_CHANGED=HEAD INPUT_SHARDS=$k/2
		is "changed: nothing in shard $k" '0 unchanged' "$rc $(output status)"
		mkdir -p "$tmp/none/$k" && cp "$(output results)"/* "$tmp/none/$k"
	done
	act run INPUT_CHANGED=HEAD INPUT_SHARDS="merge:$tmp/none"
	is 'changed: nothing in any shard' '0 unchanged ' "$rc $(output status) $err"
	rm -r "$tmp/none/2"
	act run INPUT_CHANGED=HEAD INPUT_SHARDS="merge:$tmp/none"
	is 'changed: a shard is missing' '2 error' "$rc $(output status)"
	suite gated 'yes a' 'no b2' 'yes c'
	act run INPUT_SUITE=gated INPUT_CHANGED=HEAD INPUT_BASELINE="$tmp/accepted/gated.json"
	is 'changed: others count as in the baseline' '0 passed 1' "$rc $(output status) $(output tasks)"
	# of three suites of a skill, only the last two have changed
	for name in a b c; do
		suite $name 'yes a' 'yes b'
	done
	accept INPUT_SUITE='a
b
c'
	git add . && git -c user.name=a -c user.email=a@example.com commit -q -m second
	suite c 'yes a' 'no b'
	act run INPUT_SUITE='a
b
c' INPUT_CHANGED=HEAD INPUT_BASELINE="$tmp/many"
	is 'changed: a regression of the last suite' '1 failed 1' "$rc $(output status) $(output tasks)"
	like 'changed: the regression is named' '*::error *the pass rate fell*' "$out"
	suite b 'yes a' 'yes b2'
	suite c 'yes a' 'yes b2'
	act run INPUT_SUITE='a
b
c' INPUT_CHANGED=HEAD INPUT_BASELINE="$tmp/many"
	is 'changed: two suites and their baselines' '0 passed 2 2' \
	    "$rc $(output status) $(output tasks) $(grep -c '^## Gate: .* passed' "$tmp/summary")"
	is 'changed: no suite is compared with another' '' "$(printf '%s\n' "$out" | grep '^::[we]')"
	rm -r a b c
	act run INPUT_SUITE=gated INPUT_CHANGED=nowhere
	is 'changed: an unknown revision' '2 error' "$rc $(output status)"
	act run INPUT_SUITE=gated INPUT_CHANGED='--upload-pack=x'
	like 'changed: an option' '2 ::error title=waza::input changed: *begins with "-"' "$rc $out"
else
	skip 'no git'
fi

# shards
for k in 1 2; do
	act run INPUT_SUITE=gated INPUT_SHARDS=$k/2
	is "shard $k: status" 0 "$rc"
	is "shard $k: no annotation, no summary" '' "$(printf '%s\n' "$out" | grep '^::')$(cat "$tmp/summary")"
	mkdir -p "$tmp/shards/$k" && cp "$(output results)/results.json" "$tmp/shards/$k"
done
is 'shard 1: tasks' 1 "$(output tasks)"
act run INPUT_SHARDS="merge:$tmp/shards"
is 'merge: the verdict of the suite' '1 failed 3 2' "$rc $(output status) $(output tasks) $(output passed)"
like 'merge: annotations' '*::error file=gated/eval.yaml*' "$out"
act run INPUT_SHARDS="merge:$tmp/shards" INPUT_BASELINE="$tmp/accepted/gated.json"
is 'merge: gated' '0 passed' "$rc $(output status)"
suite other yes
accept INPUT_SUITE='gated
other'
for k in 1 2; do
	act run INPUT_SUITE='gated
other' INPUT_SHARDS=$k/2
	mkdir -p "$tmp/shards2/$k" && cp "$(output results)"/* "$tmp/shards2/$k"
done
act run INPUT_SHARDS="merge:$tmp/shards2" INPUT_BASELINE="$tmp/many"
is 'merge: several suites, without the summary' '0 passed 4 2' \
    "$rc $(output status) $(output tasks) $(ls "$(output results)" | grep -c '^results.*json$')"
rm -r other "$tmp/shards/2"
act run INPUT_SHARDS="merge:$tmp/shards"
is 'merge: a shard is missing' '2 error' "$rc $(output status)"

# wrong inputs: nothing runs, and the message is one command
wrong() {
	act run "$2"
	like "wrong: $1" "2 ::error title=waza::input $3" "$rc $out"
	is "wrong: $1: one line" 1 "$(printf '%s\n' "$out" | grep -c .)"
}
wrong 'a second line' "INPUT_EXECUTOR=mock
::add-mask::x" 'executor: "mock%0A::add-mask::x" is not one line of text'
wrong 'executor' 'INPUT_EXECUTOR=$(id)' 'executor: "$(id)" is not the name of an executor'
wrong 'an option as suite' 'INPUT_SUITE=--trust' 'suite: "--trust" begins with "-"'
wrong 'an option as baseline' 'INPUT_BASELINE=-x' 'baseline: "-x" begins with "-"'
wrong 'budget' 'INPUT_BUDGET=much' 'budget: "much" is not a number of dollars,*'
wrong 'budget: twice' 'INPUT_BUDGET=usd=1=2' 'budget: "usd=1=2" is not*'
wrong 'budget: a pattern' 'INPUT_BUDGET=*' 'budget: "\*" has characters that no budget has'
wrong 'shards' 'INPUT_SHARDS=4' 'shards: "4" is neither K/N,*'
wrong 'shards: three numbers' 'INPUT_SHARDS=1/2/3' 'shards: "1/2/3" is neither K/N,*'
wrong 'shards: a directory that is missing' 'INPUT_SHARDS=merge:nowhere' 'shards: the directory "nowhere" does not exist*'
wrong 'comment' 'INPUT_COMMENT=--> @all' 'comment: "--> @all" is not true, false or a name*'
act run INPUT_SUITE=gated INPUT_SHARDS=5/2
is 'wrong: the fifth of two shards' '2 error' "$rc $(output status)"
act other
is 'wrong: another step' '2 usage: action.sh install|run|comment' "$rc $err"

# a cancelled job: results of the tasks that are done, and the status of the signal
mkdir slow
cat >slow/eval.yaml <<'YAML'
name: slow
skill: s
config: {executor: command, command: [sh, -c, 'cat >/dev/null; : >"$STARTED"; exec sleep 600'], timeout_seconds: 900}
tasks: [{id: a, prompt: x, graders: [{type: text, name: t, config: {contains: ["x"]}}]}]
YAML
if [ -x "$RPCPIPE" ]; then
	: >"$tmp/output"
	STARTED=$tmp/started INPUT_SUITE=slow RUNNER_TEMP=$tmp/runner GITHUB_OUTPUT=$tmp/output PATH=$tmp/bin:$PATH \
	    sh "$script" run >"$tmp/out" 2>&1 &
	job=$!
	ok 'cancelled: the agent has started' wait_until 120 test -e "$tmp/started"
	kill -s TERM "$job"
	rc=0
	wait "$job" || rc=$?
	is 'cancelled: status' '143 error' "$rc $(output status)"
else
	skip 'no rpcpipe (make check builds it)'
fi
done_testing
