# waza run --on kubernetes: with a double of kubectl that runs pods as processes, and
# manifests and queries with the real kubectl.
. "${0%/*}/../tool/lib.sh"
needs rpcpipe
[ -n "${SCALE-}" ] || skip_all 'make check-scale runs it'
command -v python3 >/dev/null || skip_all 'no python3'
unset SLURM_ARRAY_TASK_ID JOB_COMPLETION_INDEX CI_NODE_INDEX PARALLEL_SEQ KUBECONFIG
unset KUBE_FAIL KUBE_LOG_MAX
KUBE_STATE=$tmp/state
export KUBE_STATE
mkdir "$tmp/bin" "$tmp/state" "$tmp/state/secrets" "$tmp/tmp"
cat >"$tmp/bin/kubectl" <<SH
#!/bin/sh
exec python3 "$top/test/tool/double_kubectl.py" "\$@"
SH
cat >"$tmp/bin/waza" <<SH
#!/bin/sh
if [ -f "$tmp/break" ] && [ "\${JOB_COMPLETION_INDEX-}" = 1 ]; then
	echo 'no licence' >&2
	exit 5
fi
exec "$WAZA" "\$@"
SH
chmod +x "$tmp/bin/kubectl" "$tmp/bin/waza"
plain_path=$PATH
PATH=$tmp/bin:$PATH
TMPDIR=$tmp/tmp
export PATH TMPDIR
python3 "$top/test/tool/double_kubectl.py" serve 2>"$tmp/cluster.err" &
cluster=$! api=
trap 'kill $cluster $api 2>/dev/null; wait; rm -rf "$tmp"' EXIT
mkdir "$tmp/project" && cd "$tmp/project" || exit 1

# a suite with a program, bytes that are not text, and a skill outside of its directory
mkdir -p evals/fixtures skills/speller
printf -- '---\nname: speller\ndescription: Spells words.\n---\nSpell.\n' >skills/speller/SKILL.md
printf '\377\000yes' >evals/fixtures/data.bin
cat >evals/agent.sh <<SH
#!/bin/sh
echo "\$WAZA_TASK_ID" >>"$tmp/asked"
while [ -f "$tmp/hold" ] || [ -f "$tmp/hold-\$WAZA_TASK_ID" ]; do sleep 0.05; done
case \$WAZA_TASK_ID in
b) echo no ;;
e) exit 3 ;;
*) [ "\${API_KEY-}" != of-the-secret ] || echo key
	echo "yes \$(wc -c <data.bin)" ;;
esac
SH
chmod +x evals/agent.sh
cat >evals/eval.yaml <<'YAML'
name: pods
skill: speller
config:
  executor: command
  command: [./agent.sh]
  trials_per_task: 2
  skill_directories: [../skills]
graders: [{type: text, name: echo, config: {contains: [yes]}}]
tasks:
  - {id: a, prompt: x, inputs: {files: [data.bin]}}
  - {id: b, prompt: x, inputs: {files: [data.bin]}}
  - {id: c, prompt: "it's ü", inputs: {files: [data.bin]}}
  - {id: d, prompt: x, inputs: {files: [data.bin]}}
  - {id: e, prompt: x}
YAML

# plain FILE: the results without ids, times and durations
plain() {
	sed 's/"eval_id": "[^"]*"/"eval_id": ""/
		s/"timestamp": "[^"]*"/"timestamp": ""/
		s/"started_at":"[^"]*"/"started_at":""/g
		s/\("[a-z_]*_ms": *\)[0-9]*/\1 0/g' "$1"
}
# on [OPTION ...]: the run on Kubernetes
on() {
	run "$WAZA" run -q evals -o m.json --on kubernetes --on-option image=img "$@"
}
# equals: the merged results are those of the local run
equals() {
	plain w.json >w
	plain m.json | diff w - | head -n 5
}
# left: pods, and directories of runs
left() {
	ls "$tmp/state/state.json" .waza/on/* 2>/dev/null
}
"$WAZA" run -q evals -o w.json >w.txt 2>/dev/null
want=$?

on --shards 3
is 'status as of a local run' "$want" "$rc"
is 'nothing on stderr' '' "$err"
is 'results as of a local run' '' "$(equals)"
like 'report' "*5 tasks: 3 passed, 1 failed, 1 error*" "$out"
is 'Job and ConfigMap are deleted' 1 "$(wc -l <"$tmp/state/deleted" | tr -d ' ')"
is 'nothing is left' '' "$(left)"
is 'the pods ran at the same time' '"parallelism": 3' "$(grep -o '"parallelism": 3' "$tmp/state/created")"

on --shards 5 --on-option parallelism=2 --shard-trials --baseline
"$WAZA" run -q evals -o w.json --baseline >w.txt 2>/dev/null
is 'trials, with a baseline' '' "$(equals)"
"$WAZA" run -q evals -o w.json >w.txt 2>/dev/null

# a pod that is killed
: >"$tmp/state/kill-1"
on --shards 3
rm -f "$tmp/state/kill-1"
is 'a killed pod: status' "$want" "$rc"
like 'a killed pod: is named' '*shard 2/3: a pod failed (Error, exit status 137); Kubernetes starts another one*' "$err"
is 'a killed pod: results' '' "$(equals)"

# with a claim, a killed pod continues from its journal
rm -f "$tmp/asked"
: >"$tmp/hold-c"
"$WAZA" run -q evals -o m.json --on kubernetes --on-option image=img --shards 2 \
    --on-option claim=volume -w 1 >/dev/null 2>err &
pid=$!
ok 'a claim: some trials are done' wait_until 60 grep -q c "$tmp/asked"
: >"$tmp/state/kill-0"
ok 'a claim: the pod was killed' wait_until 60 grep -q 'a pod failed' err
rm -f "$tmp/hold-c"
wait $pid
rm -f "$tmp/state/kill-0"
is 'a claim: results' '' "$(equals)"
is 'a claim: no finished trial is repeated' 2 "$(grep -c a "$tmp/asked")"

# a shard that fails, and is repeated alone
: >"$tmp/break"
rm -f m.json "$tmp/asked" "$tmp/state/created"
run "$WAZA" run evals -o m.json --on kubernetes --on-option image=img --shards 3 --on-option retries=1
is 'a failed shard: status' 2 "$rc"
like 'a failed shard: is named with its log' '*shard 2/3 failed (Error, exit status 5); the end of */shard-2.log:*no licence*resume with: *--resume*' "$err"
is 'a failed shard: no results' '' "$(ls m.json 2>/dev/null)"
is 'a failed shard: no pod is left' '' "$(ls "$tmp/state/state.json" 2>/dev/null)"
rm -f "$tmp/break" "$tmp/state/created" "$tmp/asked"
on --shards 3 --on-option retries=1 --resume
is 'resumed: status' "$want" "$rc"
is 'resumed: results' '' "$(equals)"
is 'resumed: only the shard that failed' 'b b e e ' "$(sort "$tmp/asked" | tr '\n' ' ')"
like 'resumed: a Job of one pod' '*"completions": 1,*for k in 2;*' "$(cat "$tmp/state/created")"

# secrets
rm -f "$tmp/state/created"
echo 'API_KEY=of-the-secret' >"$tmp/state/secrets/keys"
API_KEY=of-the-user
export API_KEY
on --shards 2 --on-option secret=keys --on-option memory=1Gi --on-option cpu=500m
is 'a Secret: status' "$want" "$rc"
is 'a Secret: agents get it' 6 "$(grep -c '"final_output":"key' m.json)"
is 'the environment of the user is not submitted' '' "$(grep -o of-the-user "$tmp/state/created" m.json)"
like 'resources' '*"requests": {"cpu": "500m", "memory": "1Gi"}, "limits": {"memory": "1Gi"}*' "$(cat "$tmp/state/created")"
unset API_KEY
on --shards 2 --on-option secret=keys -m 'a$(API_KEY)$$b'
is 'an argument with dollar signs: status and messages' "$want " "$rc $err"
like 'an argument with dollar signs: the model' '*"model_id": "a$(API_KEY)$$b"*' "$(cat m.json)"

# --dry-run prints what is submitted
rm -f "$tmp/state/created"
cp w.json evals/old-results.json
echo '{"a": 1}' >evals/of-the-suite.json
on --shards 2 --dry-run
is 'dry run: status' 0 "$rc"
is 'dry run: results beside the suite are left out' of-the-suite "$(grep -o 'old-results\|of-the-suite' "$tmp/out" | sort -u)"
is 'dry run: nothing is submitted' '' "$(ls "$tmp/state/created" 2>/dev/null)"
cp "$tmp/out" dry.json
on --shards 2
python3 - "$tmp/state/created" <<'PY' >same
import json, re, sys
name = re.compile('waza-[0-9a-f]{10}')
dry = name.sub('', json.dumps(json.load(open('dry.json'))['items']))
print(dry == name.sub('', open(sys.argv[1]).read().strip()))
PY
is 'dry run: exactly what is submitted' True "$(cat same)"

# Ctrl-C
: >"$tmp/hold"
rm -f "$tmp/asked"
"$WAZA" run evals -o m.json --on kubernetes --on-option image=img --shards 2 >/dev/null 2>err &
pid=$!
ok 'interrupt: agents run' wait_until 60 test -s "$tmp/asked"
kill -INT $pid
wait $pid
is 'interrupt: status' 130 "$?"
rm -f "$tmp/hold"
is 'interrupt: no pod is left' '' "$(ls "$tmp/state/state.json" 2>/dev/null)"
like 'interrupt: how to continue' '*interrupted*resume with*' "$(cat err)"
rm -rf .waza/on

# logs that were rotated, a suite that differs, and failures of kubectl
KUBE_LOG_MAX=3000
export KUBE_LOG_MAX
on --shards 2
unset KUBE_LOG_MAX
like 'a rotated log' '2 *shard 1/2 failed (shard-1.json in its log lacks its beginning*shard 2/2 failed*' "$rc $err"
rm -rf .waza/on
KUBE_FAIL=create
export KUBE_FAIL
on --shards 2
like 'kubectl create fails' '2 *kubectl create failed*the server does not answer*' "$rc $err"
KUBE_FAIL=delete
on --shards 2
unset KUBE_FAIL
like 'kubectl delete fails' "$want *could not be deleted*delete it with: kubectl delete job,configmap*" "$rc $err"
python3 "$top/test/tool/double_kubectl.py" delete --selector=all
on --shards 2 --on-option keep=true
like 'a Job that is kept' "$want *is kept; delete it with: kubectl delete*" "$rc $err"
like 'a Job that is kept: exists' '*state.json' "$(ls "$tmp/state/state.json")"
python3 "$top/test/tool/double_kubectl.py" delete --selector=all

# the settings of the project are those of the pods, also above the suite
cat >.waza.yaml <<'YAML'
defaults: {model: special}
YAML
"$WAZA" run -q evals -o w.json >w.txt 2>/dev/null
on --shards 2 --dry-run --on-option send=http://127.0.0.1:9
like 'settings are sent' '*"path": "suite/.waza.yaml"*' "$out"
like 'a server to send to' '*"--send=http://127.0.0.1:9"*' "$out"
on --shards 2
is 'settings: results' '' "$(equals)"
is 'settings: have an effect' '"model_id": "special"' "$(grep -o '"model_id": "special"' m.json)"
rm .waza.yaml
"$WAZA" run -q evals -o w.json >w.txt 2>/dev/null

# the suite in the image, which is this machine
mkdir "$tmp/image" && cp -R evals skills "$tmp/image/"
on --shards 2 --on-option suite="$tmp/image/evals"
is 'a suite in the image: status' "$want" "$rc"
sed "s|$tmp/image/||" m.json >m && mv m m.json
is 'a suite in the image: results' '' "$(equals)"
sed 's/prompt: x}/prompt: y}/' evals/eval.yaml >"$tmp/image/evals/eval.yaml"
on --shards 2 --on-option suite="$tmp/image/evals"
like 'another suite in the image' '2 *shard 1/2 failed (the suite or its settings in the pod differ from the local ones)*' "$rc $err"
rm -rf .waza/on

# refused before anything is submitted
rm -f "$tmp/state/created"
head -c 1100000 /dev/zero >evals/big
on
like 'too large for a ConfigMap' '2 *more than 1 MiB (evals/big has 1075 KiB)*--on-option suite=PATH*' "$rc $err"
rm evals/big
on --on-option imge=x
like 'an unknown option' '2 *no option "imge" (did you mean "image"*' "$rc $err"
on --on-option retries=many
like 'not a number' '2 *retries must be a number from 0 to 100, not "many"*' "$rc $err"
on --on-option keep=perhaps
like 'not a truth value' '2 *keep must be true or false*' "$rc $err"
run "$WAZA" run evals --on kubernetes
like 'no image' '2 *needs an image that contains waza: --on-option image=NAME*' "$rc $err"
cd evals || exit 1
run "$WAZA" run --on kubernetes --on-option image=x
like 'files outside of the working directory' '2 *skills*outside of the working directory*' "$rc $err"
cd ..
mkdir "$tmp/none"
run env PATH="$tmp/none" "$WAZA" run evals --on kubernetes --on-option image=x
# shellcheck disable=SC2016 # not a command
like 'no kubectl' '2 *`kubectl` is not installed*' "$rc $err"
is 'nothing was submitted' '' "$(ls "$tmp/state/created" 2>/dev/null)"

# the real kubectl
PATH=$plain_path
if command -v kubectl >/dev/null; then
	"$WAZA" run evals --on kubernetes --on-option image=img --shards 4 --on-option secret=s \
	    --on-option cpu=1 --on-option memory=1Gi --on-option claim=c --on-option namespace=evals \
	    --on-option service-account=runner --on-option parallelism=2 --dry-run >job.json
	python3 "$top/test/tool/double_kubeapi.py" "$tmp/port" >"$tmp/requests" 2>&1 &
	api=$!
	ok 'the API double listens' wait_until 20 test -s "$tmp/port"
	cat >"$tmp/kubeconfig" <<YAML
{apiVersion: v1, kind: Config, current-context: x, clusters: [{name: x, cluster: {server: "http://127.0.0.1:$(cat "$tmp/port")"}}],
contexts: [{name: x, context: {cluster: x, user: x, namespace: evals}}], users: [{name: x, user: {token: t}}]}
YAML
	KUBECONFIG=$tmp/kubeconfig HOME=$tmp
	export KUBECONFIG HOME
	run kubectl apply --dry-run=client --validate=false -f job.json
	is 'kubectl apply accepts the manifest' 0 "$rc"
	like 'kubectl apply: both objects' 'configmap/waza-* created (dry run)*job.batch/waza-* created (dry run)' "$out"
	run kubectl create --dry-run=client --validate=false -f job.json
	is 'kubectl create accepts it' 0 "$rc"
	# decoded as types of the API and written again: no member is lost
	python3 -c 'import json; json.dump(json.load(open("job.json"))["items"][1], open("only.json", "w"))'
	run kubectl set image --local -f only.json waza=other -o json
	is 'every member has its type' 0 "$rc"
	is 'every member is known to the API' '/spec/template/spec/containers/0/image' "$(python3 - only.json "$tmp/out" <<'PY'
import json, sys
def lost(a, b, at=''):
    if isinstance(a, dict):
        for k in a:
            if k not in b and a[k] not in ({}, []):
                yield at + '/' + k
            elif k in b:
                yield from lost(a[k], b[k], at + '/' + k)
    elif isinstance(a, list):
        for i, x in enumerate(a):
            yield from lost(x, b[i], at + '/' + str(i))
    elif a != b:
        yield at
print('\n'.join(lost(*(json.load(open(f)) for f in sys.argv[1:]))))
PY
)"
	cat >"$tmp/bin/kubectl" <<SH
#!/bin/sh
for w; do
	case \$w in --output=*) printf '%s' "\${w#--output=}" >"$tmp/query" ;; esac
done
exec python3 "$top/test/tool/double_kubectl.py" "\$@"
SH
	PATH=$tmp/bin:$plain_path
	on --shards 2
	PATH=$plain_path
	query=$(cat "$tmp/query")
	run kubectl get jobs,pods --selector=waza-run=x --output="$query"
	is 'the query: status' 0 "$rc"
	tab=$(printf '\t')
	is 'the query: a Job' "Job${tab}waza-1$tab$tab$tab$tab$tab$tab${tab}1,3-5${tab}FailedIndexes" "$(sed -n 1p "$tmp/out")"
	is 'the query: a pod that failed' "Pod${tab}waza-1-1-x${tab}1${tab}Failed$tab${tab}OOMKilled${tab}137$tab$tab$tab" "$(sed -n 2p "$tmp/out")"
	is 'the query: a pod that waits' "Pod${tab}waza-1-2-x${tab}2${tab}Pending${tab}ErrImagePull$tab$tab$tab$tab$tab" "$(sed -n 3p "$tmp/out")"
	is 'the query: a pod that was evicted' "Pod${tab}waza-1-3-x${tab}3${tab}Failed$tab$tab$tab${tab}Evicted$tab$tab" "$(sed -n 4p "$tmp/out")"
	run kubectl delete job,configmap --selector=waza-run=x --cascade=foreground --wait=true --timeout=25s --ignore-not-found
	is 'kubectl delete accepts the options' 0 "$rc"
	kill $api
	wait $api 2>/dev/null
else
	skip 'no kubectl'
fi
done_testing
