# waza doctor: which executors can run, with fake programs.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir bin home tmp
TMPDIR=$tmp/tmp
export TMPDIR
HOME=$tmp/home
export HOME
for v in ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY \
    CODEX_API_KEY COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN GEMINI_API_KEY GOOGLE_API_KEY \
    OPENAI_BASE_URL ANTHROPIC_BASE_URL COPILOT_CLI_PATH
do unset "$v"
done

# doctor ARGUMENT...: run it with PATH=bin
doctor() { run env PATH="$tmp/bin" "$WAZA" doctor "$@"; }

# program NAME BODY
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

doctor
is 'overview: status 0' 0 "$rc"
like 'overview: executors without requirements' '*ok  command *ok  mock *ok  replay *' "$out"
like 'overview: missing programs and how to install them' '*no  claude *`claude` is not installed (not found in PATH)
* fix: npm install -g @anthropic-ai/claude-code*' "$out"
like 'overview: programs for graders' '*no  python3 *for: code graders*fix: install Python 3*' "$out"
is 'overview: every executor is listed' "$("$WAZA" doctor --format json | grep -o '"name":"[a-z0-9:-]*"' | sort -u | wc -l | tr -d ' ')" \
    "$(printf '%s\n' "$out" | grep -c '^  [on][ko]  ')"
like 'overview: whether agents can be confined' '*  landlock     agents are *confined*' "$out"
is 'overview: it fits 80 columns' '' "$(printf '%s\n' "$out" | awk 'length($0) > 80')"
doctor claude
is 'a named executor is missing: status 1' 1 "$rc"
doctor mock replay
is 'a named executor is available: status 0' 0 "$rc"
is 'only named executors are listed' 'executors:         version   login                    skills         confined
  ok  mock         built in
  ok  replay       built in' "$out"
doctor copilot-skd
is 'unknown executor: status 2' 2 "$rc"
like 'unknown executor: message' '*unknown executor "copilot-skd" (did you mean "copilot-sdk"? executors: acp, *' "$err"
doctor --format xml
is 'unknown format: status 2' 2 "$rc"

# claude answers `auth status`; its HOME tells which question it was
program claude 'case $1 in
--version) echo "$HOME" >"$SEEN"; echo "2.3.4 (Claude Code)" ;;
auth) echo "$HOME" >"$SEEN.login"; cat "$HOME/reply" ;;
esac'
SEEN=$tmp/seen
export SEEN
cp /bin/cat bin/cat
echo '{"loggedIn":false,"authMethod":"none","apiProvider":"firstParty"}' >home/reply
doctor claude
is 'no login: status' 1 "$rc"
like 'no login: report' "*no  claude       2.3.4     no  *program: $tmp/bin/claude*fix: run \`claude auth login\`, or set ANTHROPIC_API_KEY" "$out"
like 'the version is asked in a private HOME' "$TMPDIR/waza-doctor.*" "$(cat seen)"
is 'the login is asked in the HOME of the user' "$HOME" "$(cat seen.login)"
is 'nothing is left behind' '' "$(find "$TMPDIR" -name 'waza-doctor*')"
mkdir home/.claude
echo '{}' >home/.claude/.credentials.json
doctor claude
is 'a file does not prove a login' 1 "$rc"
echo '{"loggedIn":true,"authMethod":"oauth","apiProvider":"firstParty"}' >home/reply
doctor claude
is 'a login: status' 0 "$rc"
like 'a login: report' '*ok  claude       2.3.4     oauth *' "$out"
echo 'unknown command: auth' >home/reply
doctor claude
is 'a reply that is not understood: status' 0 "$rc"
like 'a reply that is not understood: unknown' '*ok  claude       2.3.4     unknown *' "$out"
ANTHROPIC_API_KEY=sk-canary-0123456789
export ANTHROPIC_API_KEY
doctor claude
is 'a key: status' 0 "$rc"
like 'a key: report' '*2.3.4     key in ANTHROPIC_API_KEY *' "$out"
doctor claude --format json
like '--format json' "{\"executors\":\[{\"name\":\"claude\",\"ok\":true,\"says\":*\"program\":\"$tmp/bin/claude\",\"version\":\"2.3.4\",\"login\":\"yes\",\"login_by\":\"key in ANTHROPIC_API_KEY\",\"skills\":\".claude/skills\",\"confined\":*}\],\"tools\":\[\]}" "$out"
doctor
like 'keys are not printed' 'executors:*' "$out"
case $out$err in
*canary*) ok 'keys are not printed anywhere' false ;;
*) ok 'keys are not printed anywhere' true ;;
esac
unset ANTHROPIC_API_KEY

# programs that misbehave
program gemini 'exit 7'
program codex 'printf "\033[31m\001 1.\0332 x\n"'
program opencode 'while :; do echo 123456789012345678901234567890; done'
doctor gemini codex opencode
like 'a program that fails has no version' '*gemini       unknown   unknown *' "$out"
like 'a program that fails is reported' '*no  gemini *note: `gemini --version` failed with status 7*fix: install it again: npm install*' "$out"
is 'a program that fails: status' 1 "$rc"
is 'control characters are not printed' "$out" "$(printf '%s' "$out" | tr -d '\001\033')"
like 'a program that floods is listed' '*opencode     *bin/opencode*' "$out"

# settings
program my-copilot 'echo 9.9'
MY_OWN=sk-canary-x
export MY_OWN
doctor --config-json '{"executors":{"copilot-sdk":{"cli_path":"my-copilot","provider":{"base_url":"http://x","api_key_env":"MY_OWN"}}}}' copilot-sdk
like 'cli_path and provider' "*ok  copilot-sdk  9.9       key in MY_OWN *program: $tmp/bin/my-copilot
*server: http://x" "$out"
COPILOT_CLI_PATH=$tmp/nothing
export COPILOT_CLI_PATH
doctor copilot-sdk
like 'COPILOT_CLI_PATH that is not a program' "*no  copilot-sdk *nothing\` is not installed (COPILOT_CLI_PATH is not a program)*" "$out"
COPILOT_CLI_PATH=$tmp/bin/my-copilot
doctor copilot
like 'COPILOT_CLI_PATH' "*copilot-sdk  9.9 *path from: COPILOT_CLI_PATH*" "$out"
unset COPILOT_CLI_PATH
# account RESULT: codex answers so when it is asked for its account
account() {
	program codex "[ \"\$1\" = app-server ] || { echo 1.2; exit; }
while read -r l
do
	case \$l in
	*initialize*) echo '{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}' ;;
	*account/read*) echo '{\"jsonrpc\":\"2.0\",\"id\":2,$1}' ;;
	esac
done"
	doctor codex
}
account '"result":{"account":{"type":"chatgpt"},"requiresOpenaiAuth":true}'
like 'an account' '0 *ok  codex        1.2       chatgpt *' "$rc $out"
account '"result":{"account":null,"requiresOpenaiAuth":true}'
like 'no account' '1 *no  codex *fix: run `codex login`*' "$rc $out"
account '"result":{"account":null,"requiresOpenaiAuth":false}'
like 'no account is needed' '0 *ok  codex        1.2       its own provider *' "$rc $out"
account '"result":{"account":null}'
like 'a reply about no account' '0 *ok  codex        1.2       unknown *' "$rc $out"
account '"error":{"code":-32601,"message":"what?"}'
like 'an account that cannot be asked for' '0 *ok  codex        1.2       unknown *' "$rc $out"
program codex-acp 'while read -r l
do
	case $l in
	*initialize*) echo "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"protocolVersion\":1}}" ;;
	*session/new*) echo "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"Log in first\"}}" ;;
	esac
done'
doctor acp:codex
is 'acp: no login: status' 1 "$rc"
like 'acp: no login: the words of the agent' '*no  acp:codex *agent: Log in first*fix: run `codex login`*' "$out"
doctor goose
like 'an agent of acp by its name' '*no  acp:goose    `goose` is not installed*' "$out"
program opencode 'echo 1.2'
doctor opencode
like 'opencode without ripgrep' '*note: `rg` is not installed: skills fail without it*' "$out"
doctor openai
is 'openai without a key: status 1' 1 "$rc"
OPENAI_API_KEY=sk-canary-y
export OPENAI_API_KEY
doctor openai
like 'openai without curl' '*https needs `curl`, which is not installed*' "$out"
program curl 'echo curl 8.0'
doctor openai
is 'openai with key and curl: status 0' 0 "$rc"
unset OPENAI_API_KEY
doctor --config-json '{"executors":{"openai":{"base_url":"http://127.0.0.1:1/v1"}}}' openai
is 'a server that does not answer: status' 1 "$rc"
like 'a server that does not answer' '*no  openai       cannot reach http://127.0.0.1:1/v1*note: *' "$out"
doctor --config-json '{"executors":{"acp":{"command":["x"]}}}' acp
is 'acp with a command: status 0' 0 "$rc"

# suites
suite() {
	printf 'name: s\nskill: s\nconfig: {%s}\ntasks: [{id: a, prompt: hi, graders: [{type: %s}]}]\n' "$1" "$2" >eval.yaml
}
suite 'executor: mock' 'text, name: t, config: {contains: [x]}'
doctor eval.yaml
is 'a suite that can run: status' 0 "$rc"
like 'a suite that can run' '*ok  mock         built in' "$out"
suite 'executor: acp, acp: {agent: codex}' 'text, name: t, config: {contains: [x]}'
doctor ./eval.yaml
is 'a suite without a login: status' 1 "$rc"
like 'a suite without a login' '*no  acp:codex *fix: run `codex login`*' "$out"
suite 'executor: openai, model: m, base_url: "http://127.0.0.1:1/v1"' 'code, name: t, config: {language: javascript, assertions: ["1"]}'
doctor eval.yaml
is 'a suite without its server and interpreter: status' 1 "$rc"
like 'a suite without its server' '*no  openai       cannot reach http://127.0.0.1:1*' "$out"
like 'a suite without its interpreter' '*no  suite *node, which is not installed*' "$out"
suite 'executor: mock, judge: {executor: openai, model: m, base_url: "http://127.0.0.1:1"}' 'prompt, name: t, config: {prompt: good?}'
doctor eval.yaml
like 'the server of a judge' '*ok  mock *no  openai       cannot reach*' "$out"
suite 'executor: command, command: [no-such-program]' 'text, name: t, config: {contains: [x]}'
doctor eval.yaml
like 'the command of a suite' '*no  command      no-such-program is not installed*' "$out"
doctor none.yaml
is 'no such suite: status 1' 1 "$rc"
doctor --config-json '{'
is 'invalid settings: status 2' 2 "$rc"

# the table of waza-agents(7): the same agents, skills and confinement
page=$top/man/waza-agents.7
unset ANTHROPIC_API_KEY
doctor --format json
printf '%s\n' "$out" | grep -o '{"name":"[^}]*}' | sed -n 's/.*"name":"\([^"]*\)".*"confined":"\([^"]*\)".*/& \1|\2/p' |
    sed 's/.*"skills":"\([^"]*\)".* \([^ |]*\)|\(.*\)/\2|\1|\3/; t
    s/.* \([^ |]*\)|\(.*\)/\1|-|\2/' | sort >program
sed -n 's/\\ / /g; s/^\.It Cm \([a-z:-]*\) Ta \([^ ]*\( [a-z]* [a-z]*\)\{0,1\}\) Ta .* Ta \([a-z ]*\)$/\1|\2|\4/p' "$page" |
    grep 'workspace$\|sandbox$' | sort >page
ok 'waza-agents(7): the table has rows' test -s page
if grep -q '|no$' program
then skip 'waza-agents(7): this system cannot confine agents'
else is 'waza-agents(7): the table of agents' "$(cat program)" "$(cat page)"
fi
done_testing
