# session.sh: sourced after lib.sh and rpc.sh by the tests of sessions: a project,
# agents, requests.
mkdir proj elsewhere
# agents that are kept for a next fix have one directory together
kept_open="$kept_open\\|/waza-[0-9]*-[^/]*/\.owner\$"

# an agent that edits a file, one that repeats its prompt, one that fails
cat >edit.sh <<'SH'
#!/bin/sh
cat >/dev/null
echo $$ >>"$LOG"
sed 's/Collections.sort(list)/list.sort(null)/' A.java >A.new && mv A.new A.java
echo 'Replaced it.'
SH
printf '#!/bin/sh\necho $$ >>"$LOG"\ncat\n' >echo.sh
printf '#!/bin/sh\ncat >/dev/null\necho half >half\necho "no luck" >&2\nexit 3\n' >fail.sh
printf '#!/bin/sh\necho $$ >>"$LOG"\ntail -f /dev/null & echo $! >>"$LOG"; wait\n' >hang.sh
chmod +x ./*.sh

# project: restore the project
project() {
	rm -rf proj
	mkdir -p proj/src proj/target proj/.git
	printf 'class A {\n    void f() { Collections.sort(list); }\n}\n' >proj/A.java
	echo b >proj/src/B.java
	echo o >proj/target/out
	echo ref >proj/.git/HEAD
}

# print settings with a command, or an executor, as the agent of all sessions
agent() {
	echo "{\"executor\":\"command\",\"executors\":{\"command\":{\"command\":[\"$tmp/$1\"]}}${2:+,$2}}"
}

# up SETTINGS [OPTION...]: start waza serve on sock
up() {
	: >log
	: >"$LOG"
	set_json=$1
	shift
	"$WAZA" serve --socket sock --config-json "$set_json" "$@" </dev/null >served 2>log &
	srv=$!
	wait_until 120 has log 'listening on'
	listens
}

config="{\"workspace\":{\"working_dir\":\"$tmp/proj\"},\"model\":{\"provider\":\"openai\",\"model_id\":\"gpt-4\"}}"
incident='{"id":"dep-1","rule_id":"deprecated-api","message":"Replace Collections.sort() with List.sort()"}'

# fix ID [MORE]: print a request, with further parameters
fix() {
	printf '%s\n' "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"kaiak/generate_fix\",\"params\":{\"incidents\":[$incident],\"agent_config\":$config${2:+,$2}}}"
}

# delete ID SESSION
delete() {
	echo "{\"jsonrpc\":\"2.0\",\"id\":$1,\"method\":\"kaiak/delete_session\",\"params\":{\"session_id\":\"$2\"}}"
}

# block TEXT: print it with headers; unblock: print the messages of a stream, one
# per line
block() {
	printf 'Content-Length: %d\r\n\r\n%s' "${#1}" "$1"
}
unblock() {
	tr -d '\r' | sed 's/Content-Length: [0-9]*$//' | grep .
}

# member NAME: the value of a member in the last line that has it
member() {
	sed -n "s/.*\"$1\":\"\\([^\"]*\\)\".*/\\1/p" | tail -n 1
}

# stages: the stages of progress in a stream
stages() {
	sed -n 's/.*"stage":"\([a-z]*\)","progress":\([0-9]*\).*/\1 \2/p' | tr '\n' ' '
}
four='started 0 analyzing 25 generating 50 completed 100 '

# nothing_left: all children have ended, all files are removed
nothing_left() {
	children_gone && ! ls "$TMPDIR" | grep -q '^waza'
}
