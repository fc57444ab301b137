# waza doctor: what could run here, with programs of the test's own.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir bin home
HOME=$tmp/home
export HOME
for v in ANTHROPIC_API_KEY ANTHROPIC_AUTH_TOKEN CLAUDE_CODE_OAUTH_TOKEN OPENAI_API_KEY \
    CODEX_API_KEY COPILOT_GITHUB_TOKEN GH_TOKEN GITHUB_TOKEN GEMINI_API_KEY GOOGLE_API_KEY \
    OPENAI_BASE_URL ANTHROPIC_BASE_URL COPILOT_CLI_PATH
do unset "$v"
done

# doctor ARGUMENT...: only with what is in bin
doctor() { run env PATH="$tmp/bin" "$WAZA" doctor "$@"; }

# program NAME BODY
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"bin/$1"
	chmod +x "bin/$1"
}

doctor
is 'overview: status' 0 "$rc"
like 'overview: what needs nothing' '*ok  command *ok  mock *ok  replay *' "$out"
like 'overview: what is missing, and the fix' '*no  claude *`claude` is not installed (not found in PATH)
* fix: npm install -g @anthropic-ai/claude-code*' "$out"
like 'overview: for graders' '*no  python3 *for: code graders*fix: install Python 3*' "$out"
is 'every executor is there' "$("$WAZA" doctor --format json | grep -o '"name":"[a-z0-9-]*"' | sort -u | wc -l | tr -d ' ')" \
    "$(printf '%s\n' "$out" | grep -c '^  [on][ko]  ')"
doctor claude
is 'named and missing' 1 "$rc"
doctor mock replay
is 'named and there' 0 "$rc"
is 'only those' 'executors:
  ok  mock         built in
  ok  replay       built in' "$out"
doctor copilot-skd
is 'unknown: status' 2 "$rc"
like 'unknown: said' '*unknown executor "copilot-skd"; did you mean "copilot-sdk"?' "$err"
doctor --format xml
is 'unknown format' 2 "$rc"

program claude 'echo "2.3.4 (Claude Code)"'
doctor claude
is 'no login: status' 1 "$rc"
is 'no login: said' "executors:
  no  claude       $tmp/bin/claude, version 2.3.4; no login found
                   fix: run claude and log in, or set ANTHROPIC_API_KEY" "$out"
ANTHROPIC_API_KEY=sk-canary-0123456789
export ANTHROPIC_API_KEY
doctor claude
is 'a key: status' 0 "$rc"
like 'a key: said' '*version 2.3.4; key in ANTHROPIC_API_KEY' "$out"
doctor claude --format json
like 'as JSON' "{\"executors\":\[{\"name\":\"claude\",\"ok\":true,\"says\":*\"program\":\"$tmp/bin/claude\",\"version\":\"2.3.4\"}\],\"tools\":\[\]}" "$out"
doctor
like 'a key is never shown' 'executors:*' "$out"
case $out$err in
*canary*) ok 'not anywhere' false ;;
*) ok 'not anywhere' true ;;
esac
unset ANTHROPIC_API_KEY
mkdir home/.claude
echo '{}' >home/.claude/.credentials.json
doctor claude
like 'a login' '*login in ~/.claude/.credentials.json' "$out"
is 'a login: status' 0 "$rc"

# programs that are no help
program gemini 'exit 7'
program codex 'printf "\033[31m\001 1.\0332 x\n"'
program opencode 'while :; do echo 123456789012345678901234567890; done'
doctor gemini codex opencode
like 'fails' '*bin/gemini, unknown version; no login found*' "$out"
is 'control characters stay out' "$out" "$(printf '%s' "$out" | tr -d '\001\033')"
like 'floods' '*opencode     *bin/opencode*' "$out"

# settings
program my-copilot 'echo 9.9'
MY_OWN=sk-canary-x
export MY_OWN
doctor --config-json '{"executors":{"copilot-sdk":{"cli_path":"my-copilot","provider":{"base_url":"http://x","api_key_env":"MY_OWN"}}}}' copilot-sdk
is 'cli_path and provider' "executors:
  ok  copilot-sdk  $tmp/bin/my-copilot, version 9.9; key in MY_OWN" "$out"
doctor openai
is 'openai without a key' 1 "$rc"
OPENAI_API_KEY=sk-canary-y
export OPENAI_API_KEY
doctor openai
like 'openai without curl' '*https needs `curl`, which is not installed*' "$out"
program curl 'echo curl 8.0'
doctor openai
is 'openai with both' 0 "$rc"
unset OPENAI_API_KEY
doctor --config-json '{"executors":{"openai":{"base_url":"http://127.0.0.1:1/v1"}}}' openai
is 'a server of one'\''s own' 0 "$rc"
doctor --config-json '{"executors":{"acp":{"command":["x"]}}}' acp
is 'acp by command' 0 "$rc"
doctor --config-json '{'
is 'settings that are none' 2 "$rc"
done_testing
