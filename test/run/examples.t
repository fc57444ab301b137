# The examples of shards and of CI systems: their commands run with a small suite.
. "${0%/*}/../tool/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX CI_NODE_TOTAL PARALLEL_SEQ PARALLEL
ex=$top/examples
mkdir "$tmp/bin" "$tmp/project"
ln -s "$WAZA" "$tmp/bin/waza"
PATH=$tmp/bin:$PATH
export PATH
cd "$tmp/project" || exit 1
mkdir evals
cat >evals/eval.yaml <<'YAML'
name: small
skill: s
config: {executor: mock, trials_per_task: 2}
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: a, prompt: yes a}
  - {id: b, prompt: no b}
  - {id: c, prompt: yes c}
  - {id: d, prompt: yes d}
  - {id: e, prompt: yes e}
YAML

# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": "[^"]*"/"eval_id": ""/
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
waza run -q evals -o whole.json >/dev/null 2>&1
plain whole.json >whole

# merged NAME STATUS [FILE]: the merged results are those of the whole run
merged() {
	is "$1: status" 1 "$2"
	is "$1: results" '' "$(plain "${3-all.json}" | diff whole - | head -n 5)"
	rm -rf shards all.json junit.xml
}
for f in "$ex"/slurm/*.sh "$ex"/parallel/*.sh
do ok "${f#"$ex"/}: sh -n" sh -n "$f"
done

# a double of sbatch runs the array of the script, job by job
cat >"$tmp/bin/sbatch" <<'SH'
#!/bin/sh
[ "$1" = --wait ] && shift
array=$(sed -n 's/^#SBATCH --array=1-//p' "$1")
status=0
for id in $(seq "$array"); do
	SLURM_ARRAY_TASK_ID=$id SLURM_ARRAY_TASK_COUNT=$array SLURM_ARRAY_TASK_MIN=1 \
	    SLURM_ARRAY_TASK_MAX=$array sh "$1" >"shards/$id.log" 2>&1 || status=1
done
exit $status
SH
chmod +x "$tmp/bin/sbatch"
sh "$ex/slurm/run.sh" >out 2>err
merged slurm $?
is 'slurm: no job failed' '' "$(cat err)"
if parallel --version 2>/dev/null | grep -q 'GNU parallel'; then
	HOME=$tmp sh "$ex/parallel/run.sh" >out 2>err
	merged parallel $?
	is 'parallel: no shard failed' '' "$(cat err)"
else
	skip 'no GNU parallel'
fi

# get FILE PATH...: a value of a YAML file, as waza reads it
get() {
	file=$1
	shift
	waza parse "$file" | python3 -c '
import json, sys
v = json.loads(sys.stdin.readline())
for k in sys.argv[1:]:
    v = v[int(k) if k.isdigit() else k]
print(v if isinstance(v, str) else json.dumps(v))' "$@"
}
k=$ex/kubernetes
is 'kubernetes: a Secret' '"Secret"' "\"$(get "$k/secret.yaml" kind)\""
is 'kubernetes: indexed' Indexed "$(get "$k/job.yaml" spec completionMode)"
pod='spec template spec containers 0'
# shellcheck disable=SC2086 # words
get "$k/job.yaml" $pod command 2 >pod.sh
# shellcheck disable=SC2086 # words
get "$k/merge.yaml" $pod command 2 >merge.sh
mkdir results
n=0
while [ $n -lt "$(get "$k/job.yaml" spec completions)" ]; do
	JOB_COMPLETION_INDEX=$n SUITE=evals RESULTS=results sh pod.sh >/dev/null 2>&1
	is "kubernetes: pod $n" 0 "$?"
	n=$((n + 1))
done
RESULTS=results sh merge.sh >out 2>err
merged kubernetes $? results/all.json

# the pipelines of examples/ci; the results of the whole run are the accepted ones
ci=$ex/ci
cp whole.json evals/baseline.json
# inputs FILE JOB: the inputs of the action in a job of a workflow, as its variables
inputs() {
	get "$1" jobs "$2" steps | python3 -c '
import json, sys
for step in json.load(sys.stdin):
    if step.get("uses", "").startswith("OWNER/waza@"):
        for name, value in step["with"].items():
            print("INPUT_%s=%s" % (name.upper(), str(value).lower() if value is True else value))'
}
# action NAME=VALUE...: run the step of the action
action() {
	: >"$tmp/output"
	env RUNNER_TEMP="$tmp" GITHUB_OUTPUT="$tmp/output" "$@" sh "$top/pkg/action.sh" run >out 2>err
}
results() {
	sed -n 's/^results=//p' "$tmp/output"
}
f=$ci/github-shards.yml
is 'github: the version of the action' "v$(waza --version | cut -d ' ' -f 2)" \
    "$(sed -n 's|.*uses: OWNER/waza@||p' "$ci"/github*.yml | sort -u)"
is 'github: the token is not left in .git/config' 3 "$(cat "$ci"/github*.yml | grep -A 4 'uses: actions/checkout@' |
    grep -c 'persist-credentials: false')"
is 'github-shards: the token of agents cannot write' '{"contents": "read"}' "$(get "$f" permissions)"
for n in $(get "$f" jobs shard strategy matrix k | tr -d '[],'); do
	# shellcheck disable=SC2046 # words
	action $(inputs "$f" shard | sed "s/\${{ matrix.k }}/$n/")
	is "github-shards: job $n" 0 "$?"
	mkdir -p "shards/shard-$n" && cp "$(results)"/* "shards/shard-$n"
done
# shellcheck disable=SC2046 # words
action $(inputs "$f" merge)
is 'github-shards: status' 0 "$?"
is 'github-shards: results' '' "$(plain "$(results)/results.json" | diff whole - | head -n 5)"
rm -rf shards

f=$ci/gitlab.yml
get "$f" shard script 0 >shard.sh
get "$f" merge script 0 >merge.sh
get "$f" merge script 1 >>merge.sh
total=$(get "$f" shard parallel)
for n in $(seq "$total"); do
	CI_NODE_INDEX=$n CI_NODE_TOTAL=$total sh shard.sh >/dev/null 2>&1
	is "gitlab: job $n" 0 "$?"
done
sh -e merge.sh >out 2>err
is 'gitlab: status' 0 "$?"
is 'gitlab: results' '' "$(plain all.json | diff whole - | head -n 5)"
rm -rf shards all.json junit.xml .waza-cache

# pipeline NAME: its commands, in the file NAME.sh, pass with the accepted results and
# fail with a regression
pipeline() {
	HOME=$tmp sh -e "$1.sh" >out 2>err
	is "$1: status" 0 "$?"
	ok "$1: JUnit" grep -q '<testsuite ' junit.xml
	sed 's/yes e/no e/' evals/eval.yaml >evals/new && mv evals/new evals/eval.yaml
	HOME=$tmp sh -e "$1.sh" >out 2>err
	is "$1: a regression" 1 "$?"
	sed 's/no e/yes e/' evals/eval.yaml >evals/new && mv evals/new evals/eval.yaml
	rm -rf results.json junit.xml .waza-cache "$tmp/cache" "$tmp/.cache"
}
for n in 0 1; do get "$ci/woodpecker.yml" steps 0 commands $n; done | sed "s|/cache |$tmp/cache |" >woodpecker.sh
pipeline woodpecker
for n in 0 1; do get "$ci/buildkite.yml" steps 0 command $n; done | sed 's/\$\$/$/g' >buildkite.sh
pipeline buildkite
mkdir -p .local/bin && ln -s "$WAZA" .local/bin/waza
sed -n "s/^ *sh '\(.*\)'$/\1/p" "$ci/Jenkinsfile" >all.sh
is 'jenkins: the release is installed' 'PREFIX="$WORKSPACE/.local" sh ci/install.sh' "$(head -n 1 all.sh)"
sed 1d all.sh >jenkins.sh
pipeline jenkins
# two suites, in a workspace with the results of an earlier job
cp whole.json results.json
mkdir evals/first evals/second
sed 's/^name: .*/name: second/' evals/eval.yaml >evals/second/eval.yaml
mv evals/eval.yaml evals/first
sh -e jenkins.sh >out 2>err
is 'jenkins: earlier results are not those of this job' 3 "$?"
ok 'jenkins: earlier results are removed' test ! -e results.json
mv evals/first/eval.yaml evals
rm -rf evals/first evals/second results*.json junit.xml .waza-cache

# github.yml runs what has changed
if git init -q . 2>/dev/null && git add evals && git -c user.name=a -c user.email=a@example.com commit -q -m first &&
    git branch -M main; then
	sed 's/yes a/yes, a/' evals/eval.yaml >evals/new && mv evals/new evals/eval.yaml
	# the mock reports no cost, so that the budget cannot be kept
	# shellcheck disable=SC2046 # words
	action $(inputs "$ci/github.yml" evaluate | sed 's/^INPUT_BUDGET=5$/INPUT_BUDGET=time=5h/')
	is 'github: a changed task' '0 passed 1' "$? $(sed -n 's/^status=//p' "$tmp/output") $(sed -n 's/^tasks=//p' "$tmp/output")"
else
	skip 'no git'
fi
done_testing
