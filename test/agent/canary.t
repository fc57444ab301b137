# Secrets of agents: each variable contains a canary, and agents print all of
# them; no output of waza may contain one.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs double_acp double_copilot double_model
mkdir bin tmp kept
bird=yellow-bird-$$ seek="yellow[-]bird-$$"	# grep is not to find itself
TMPDIR=$tmp/tmp PATH=$tmp/bin:$PATH
export TMPDIR PATH DOUBLES
n=0
for v in OPENAI_API_KEY ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN GEMINI_API_KEY \
    GOOGLE_API_KEY GITHUB_TOKEN GH_TOKEN COPILOT_GITHUB_TOKEN \
    COPILOT_PROVIDER_API_KEY CODEX_API_KEY OPENROUTER_API_KEY \
    AZURE_OPENAI_API_KEY AWS_SECRET_ACCESS_KEY MY_KEY MY_TOKEN MY_SECRET MY_PASSWORD
do
	n=$((n + 1))
	export "$v=$bird-$n"
done
unset OPENAI_BASE_URL ANTHROPIC_BASE_URL COPILOT_OFFLINE COPILOT_CLI_PATH \
    http_proxy https_proxy HTTPS_PROXY ALL_PROXY
server=
trap 'touch stop; kill $server 2>/dev/null; wait; rm -rf "$tmp"' EXIT

# agent NAME: a program of that name, with its body on stdin
agent() {
	{
		echo '#!/bin/sh'
		echo 'echo "${0##*/} $*" >>"$ARGV"'
		cat
	} >"bin/$1"
	chmod +x "bin/$1"
}
ARGV=$tmp/argv
export ARGV
: >argv

# all secrets on one line
k='$(env | grep bird | tr "\n" " ")'
for a in claude codex gemini opencode; do agent $a <<SH
cat >/dev/null
k="$k"
echo "stderr: \$k" >&2
SH
done
cat >>bin/claude <<'SH'
cat <<OUT
{"type":"system","subtype":"init","session_id":"$k"}
{"type":"assistant","message":{"content":[{"type":"text","text":"$k"},{"type":"tool_use","id":"t","name":"$MY_KEY","input":{"command":"$k"}}]}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"$k"}]}}
{"type":"result","subtype":"success","is_error":true,"result":"bad key $k"}
OUT
SH
cat >>bin/codex <<'SH'
cat <<OUT
{"type":"item.completed","item":{"id":"i","type":"command_execution","command":"$k","aggregated_output":"$k","exit_code":2}}
{"type":"turn.failed","error":{"message":"bad key $k"}}
OUT
exit 1
SH
cat >>bin/gemini <<'SH'
cat <<OUT
{"type":"message","role":"assistant","content":"$k"}
{"type":"tool_use","tool_name":"t","tool_id":"i","parameters":{"a":"$k"}}
{"type":"tool_result","tool_id":"i","status":"error","output":"$k"}
{"type":"result","status":"error","error":{"message":"bad key $k"}}
OUT
exit 144
SH
cat >>bin/opencode <<'SH'
cat <<OUT
{"type":"tool_use","sessionID":"s","part":{"tool":"bash","callID":"c","state":{"status":"completed","input":{"a":"$k"},"output":"$k"}}}
{"type":"text","part":{"text":"$k"}}
{"type":"error","error":{"name":"APIError","data":{"message":"bad key $k"}}}
OUT
exit 1
SH
agent copilot <<'SH'
case $* in
*--headless*) exec "$DOUBLES/double_copilot" "$@" ;;
esac
k=$(env | grep bird | tr '\n' ' ')
echo "stderr: $k" >&2
echo '{"type":"assistant.message","data":{"content":"'"$k"'"}}'
echo '{"type":"session.error","data":{"message":"bad key '"$k"'"}}'
exit 1
SH
agent acp <<'SH'
exec "$DOUBLES/double_acp" "$@"
SH
agent leak <<'SH'
env | grep bird
env | grep bird >&2
exit 1
SH
agent curl <<'SH'
cat >/dev/null
cat /dev/fd/3 >&2
echo "bad key $(cat /dev/fd/3 2>/dev/null) $MY_KEY"
echo 401
exit 0
SH

record=$("$WAZA" run --help | grep -e --record)
# try NAME CONFIG [PROMPT]: runs it, and keeps everything it wrote
try() {
	mkdir -p "kept/$1"
	cat >e.yaml <<YAML
name: $1
skill: s
config: {$2, timeout_seconds: 300, max_attempts: 1}
tasks:
  - id: a
    prompt: |-
      ${3:-tell me}
    graders: [{type: text, name: t, config: {contains: [nothing like this]}}]
YAML
	cp e.yaml "kept/$1"
	"$WAZA" run -v --stream-json -o "kept/$1/r.json" ${record:+--record "kept/$1/rec"} \
	    --transcript-dir "kept/$1/tr" --session-dir "kept/$1/log" \
	    --reporter "junit:kept/$1/j.xml" --reporter "markdown:kept/$1/m.md" \
	    --reporter "html:kept/$1/h.html" --reporter "tap:kept/$1/t.tap" \
	    e.yaml >"kept/$1/out" 2>"kept/$1/err"
	rc=$?
	is "$1: status" 1 "$rc"
	ok "$1: there are results" [ -s "kept/$1/r.json" ]
	[ -z "$record" ] || ok "$1: there is a recording" [ -n "$(ls "kept/$1/rec")" ]
	is "$1: no key in what is left" '' "$(grep -rl "$seek" "kept/$1")"
}

# stars NAME: the agent printed its secrets, and they were masked
stars() {
	ok "$1: stars in its place" grep -q '\*\*\*' "kept/$1/r.json"
}

# all command lines, which every user can read
if [ -r /proc/self/cmdline ]
then
	while [ ! -e stop ]
	do grep -al "$seek" /proc/[0-9]*/cmdline >>seen 2>/dev/null
	done &
fi

for a in claude codex gemini opencode copilot-cli
do
	try $a "executor: $a"
	stars $a
done
try command 'executor: command, command: [leak]'
stars command
try acp 'executor: acp, acp: {command: [acp]}' '[[env:MY_KEY]] [[error:bad key $MY_TOKEN]]'
stars acp
try copilot-sdk 'executor: copilot-sdk, github_token_env: MY_TOKEN, provider: {base_url: "http://127.0.0.1:1/v1", api_key_env: MY_KEY}' '[[leak]]'
stars copilot-sdk
try sdk-env 'executor: copilot-sdk, github_token_env: MY_TOKEN, provider: {base_url: "http://127.0.0.1:1/v1", api_key_env: MY_KEY}' '[[params]] [[env:GEMINI_API_KEY]] [[env:MY_TOKEN]]'

{
	printf 'HTTP/1.1 401 No\r\nContent-Type: application/json\r\n\r\n'
	printf '{"error":{"message":"bad key %s"}}' "$MY_KEY"
} >answer
mkfifo fifo
"$DOUBLES/double_model" log answer >fifo 2>/dev/null &
server=$!
read -r port <fifo
for api in chat responses anthropic
do
	try openai-$api "executor: openai, model: m, openai: {api: $api, base_url: 'http://127.0.0.1:$port/v1', api_key_env: MY_KEY}"
	stars openai-$api
done
ok 'openai: the key was sent' grep -q "$seek" log
try openai-curl "executor: openai, model: m, openai: {base_url: 'https://127.0.0.1:$port/v1', api_key_env: MY_KEY}"

touch stop
ok 'all of them were started' sh -c \
    'for a in acp claude codex copilot curl gemini leak opencode
    do grep -q "^$a" argv || { echo "# $a was not"; exit 1; }; done'
is 'no key is an argument, says each program' '' "$(grep -n "$seek" argv)"
if [ -e seen ]
then is 'no key is an argument, says /proc' '' "$(cat seen)"
else skip 'no /proc here'
fi
is 'no key in a file that stays' '' "$(grep -rl "$seek" tmp)"
done_testing
