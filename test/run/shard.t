# Shards: which tasks and trials belong to each, and what the results say.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ

cat >eval.yaml <<'YAML'
name: demo
skill: greet
config: {executor: mock}
graders:
  - {type: text, name: echo, config: {contains: [Mock]}}
tasks:
  - {id: a, prompt: one}
  - {id: b, prompt: two}
  - {id: c, prompt: three}
  - {id: d, prompt: four}
  - {id: e, prompt: five}
YAML

# ids FILE: the tasks of a results file, with the numbers of their trials
ids() {
	tr ',' '\n' <"$1" | sed -n 's/.*"test_id": "\(.*\)"/\1/p
		s/.*"run_number":\([0-9]*\)/\1/p' | tr '\n' ' '
}
# shard OPTION ...: the tasks that a call runs
shard() {
	rm -f s.json*
	"$WAZA" run -q -o s.json "$@" >/dev/null 2>err
	rc=$?
	[ -f s.json ] && ids s.json
}

is '--shard 2/2' 'b 1 d 1 ' "$(shard --shard 2/2)"
is '--shard 2 --shards 2' 'b 1 d 1 ' "$(shard --shard 2 --shards 2)"
is "--shard-trials: trials keep their numbers" "a 2 b 1 4 c 3 d 2 e 1 4 " \
    "$(shard --shard 2/3 --trials 4 --shard-trials)"
is '--shard-trials: one task on two shards' 'a 2 4 ' \
    "$(shard --shard 2/2 --trials 4 --shard-trials --task a)"

# together the shards run each task once, however they are divided
whole() {
	for k in 1 2 3; do
		shard --shard "$k/3" "$@"
	done | tr ' ' '\n' | grep '[a-z]' | sort | tr '\n' ' '
}
is 'count: each task once' 'a b c d e ' "$(whole)"
is 'hash: each task once' 'a b c d e ' "$(whole --shard-by hash)"
"$WAZA" run -q -o old.json >/dev/null
# task a took an hour, the others a second
sed 's/"avg_duration_ms":[0-9][0-9]*/"avg_duration_ms":1000/
	1,/"avg_duration_ms"/s/"avg_duration_ms":[0-9][0-9]*/"avg_duration_ms":3600000/
	s/"duration_ms":[0-9][0-9]*/"duration_ms":1000/' old.json >times.json
is 'time: each task once' 'a b c d e ' "$(whole --shard-by time=times.json)"
is 'time: the longest task has a shard for itself' 'a 1 ' \
    "$(shard --shard 1/2 --shard-by time=times.json)"
hash=$(shard --shard 1/2 --shard-by hash)
printf '  - {id: f, prompt: six}\n' >>eval.yaml
like 'hash: a new task does not move others' "$hash*" \
    "$(shard --shard 1/2 --shard-by hash)"

# the environment of engines
is 'Slurm' 'b 1 d 1 f 1 ' "$(SLURM_ARRAY_TASK_ID=2 SLURM_ARRAY_TASK_MIN=1 \
    SLURM_ARRAY_TASK_MAX=2 SLURM_ARRAY_TASK_COUNT=2 shard --shard auto)"
is 'Slurm, from 0 in steps of 4' 'c 1 f 1 ' "$(SLURM_ARRAY_TASK_ID=8 \
    SLURM_ARRAY_TASK_MIN=0 SLURM_ARRAY_TASK_MAX=8 SLURM_ARRAY_TASK_COUNT=3 \
    SLURM_ARRAY_TASK_STEP=4 shard --shard auto)"
is 'Slurm, a part of an array again' 'c 1 f 1 ' "$(SLURM_ARRAY_TASK_ID=3 \
    SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1 \
    shard --shard auto --shards 3)"
is 'Kubernetes counts from 0' 'c 1 f 1 ' \
    "$(JOB_COMPLETION_INDEX=2 JOB_COMPLETIONS=3 shard --shard auto)"
is 'Kubernetes with --shards' 'a 1 d 1 ' \
    "$(JOB_COMPLETION_INDEX=0 shard --shard auto --shards 3)"
is 'GitLab' 'b 1 e 1 ' "$(CI_NODE_INDEX=2 CI_NODE_TOTAL=3 shard --shard auto)"
is 'GNU parallel' 'b 1 e 1 ' "$(PARALLEL_SEQ=2 shard --shard auto --shards 3)"

# fails WORDS OPTION ...: status 2, and a message with the words
fails() {
	words=$1
	shift
	run "$WAZA" run -q "$@"
	is "${*}: status 2" 2 "$rc"
	like "${*}: the reason" "*$words*" "$err"
}
fails 'none of SLURM_ARRAY_TASK_ID' --shard auto
fails 'K from 1 to N' --shard 3/2
fails 'contradict' --shard 1/2 --shards 3
fails 'needs --shard' --shards 3
fails 'needs --shard' --shard-by hash
fails 'time=FILE' --shard 1/2 --shard-by size
fails 'time=FILE' --shard 1/2 --shard-by time
fails 'none.json' --shard 1/2 --shard-by time=none.json
export PARALLEL_SEQ=2
fails 'give --shards N' --shard auto
fails '1 shards, numbered from 1' --shard auto --shards 1
export CI_NODE_INDEX=1 CI_NODE_TOTAL=2
fails 'both CI_NODE_INDEX (GitLab) and PARALLEL_SEQ (GNU parallel)' --shard auto
unset PARALLEL_SEQ
export CI_NODE_TOTAL=two
fails 'CI_NODE_TOTAL is "two"' --shard auto
unset CI_NODE_INDEX CI_NODE_TOTAL
export SLURM_ARRAY_TASK_ID=7 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7 \
    SLURM_ARRAY_TASK_COUNT=3
is 'Slurm, a step that is not in the environment' 'c 1 f 1 ' \
    "$(shard --shard auto)"
SLURM_ARRAY_TASK_ID=3
fails 'no regular step' --shard auto
unset SLURM_ARRAY_TASK_ID

# a journal is resumed by the same shard only
rm -f s.json*
"$WAZA" run -q -o s.json --shard 1/3 >/dev/null
fails 'of another shard' -o s.json --shard 2/3 --resume
fails 'of a shard' -o s.json --resume
fails 'other tasks' -o s.json --shard 1/3 --shard-trials --trials 2 --resume
sed 's/Mock/Other/' eval.yaml >new && mv new eval.yaml
cp s.json old.json
fails 'the suite has changed, and shards must be of one suite' -o s.json --shard 1/3 --resume
ok 'a shard of a changed suite keeps its results' cmp -s old.json s.json

# files that an agent writes are not part of the suite, files that graders read are
print_of() {
	"$WAZA" run -q -o p.json --shard 1/3 >/dev/null
	sed -n 's/.*"fingerprint": "\([0-9a-f]*\)".*/\1/p' p.json
	rm -f p.json*
}
cat >>eval.yaml <<'YAML'
  - id: written
    prompt: six
    graders:
      - {type: file, name: f, config: {must_exist: [out.txt]}}
      - {type: text, name: t, config: {contains: [see out.txt]}}
      - {type: diff, name: d, config: {expected_files: [{path: out.txt, snapshot: want.txt}]}}
YAML
echo want >want.txt
old=$(print_of)
like 'there is a fingerprint' '????????????????*' "$old"
echo written >out.txt
is 'the fingerprint does not depend on outputs' "$old" "$(print_of)"
echo other >want.txt
ok 'but on snapshots' [ "$old" != "$(print_of)" ]
done_testing
