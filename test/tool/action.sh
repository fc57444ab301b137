# action.sh: sourced after lib.sh by the tests of action.yml.  Its steps run with the
# environment of a runner of GitHub, below $tmp.
mkdir "$tmp/bin" "$tmp/runner" "$tmp/work" "$tmp/home"
ln -s "$WAZA" "$tmp/bin/waza"
cd "$tmp/work" || exit 1
printf '{"action": "opened", "number": 7, "pull_request": {"number": 7, "title": "a \\" b\\\\", "head": {"sha": "%s"}}}\n' \
    0123456789abcdef0123456789abcdef01234567 >"$tmp/event.json"

# act STEP [NAME=VALUE ...]: run a step; sets $out, $err, $rc
act() {
	step=$1
	shift
	for file in output summary env path; do
		: >"$tmp/$file"
	done
	run env -i PATH="$tmp/bin:$PATH" HOME="$tmp/home" WAZA_HOME="$WAZA_HOME" RUNNER_TEMP="$tmp/runner" \
	    LC_ALL=C.UTF-8 CI=true GITHUB_ACTIONS=true GITHUB_ACTION_PATH="$top" GITHUB_OUTPUT="$tmp/output" \
	    GITHUB_STEP_SUMMARY="$tmp/summary" GITHUB_ENV="$tmp/env" GITHUB_PATH="$tmp/path" \
	    GITHUB_EVENT_NAME=pull_request GITHUB_EVENT_PATH="$tmp/event.json" GITHUB_REPOSITORY=o/r \
	    GITHUB_SERVER_URL=https://github.example GITHUB_RUN_ID=42 GITHUB_RUN_NUMBER=3 \
	    GIT_CONFIG_NOSYSTEM=1 GIT_CONFIG_GLOBAL=/dev/null INPUT_COMMENT=true "$@" \
	    sh "$top/pkg/action.sh" "$step"
}

# output NAME: an output of the step
output() {
	sed -n "s/^$1=//p" "$tmp/output"
}

# suite NAME TEXT...: a suite whose tasks pass if their prompt contains yes
suite() {
	mkdir -p "$1"
	printf 'name: %s\nskill: s\nconfig: {executor: mock}\n' "$1" >"$1/eval.yaml"
	printf 'graders: [{type: text, name: echo, config: {contains: ["yes"]}}]\ntasks:\n' >>"$1/eval.yaml"
	dir=$1 task=0
	shift
	for text; do
		task=$((task + 1))
		printf '  - {id: t%d, prompt: "%s"%s}\n' $task "$text" "${keys:+, $keys}" >>"$dir/eval.yaml"
	done
}
