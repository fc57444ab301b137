# waza doctor: which executors can run, with fake programs.
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
is 'overview: every executor is listed' "$("$WAZA" doctor --format json | grep -o '"name":"[a-z0-9-]*"' | sort -u | wc -l | tr -d ' ')" \
    "$(printf '%s\n' "$out" | grep -c '^  [on][ko]  ')"
doctor claude
is 'a named executor is missing: status 1' 1 "$rc"
doctor mock replay
is 'a named executor is available: status 0' 0 "$rc"
is 'only named executors are listed' 'executors:
  ok  mock         built in
  ok  replay       built in' "$out"
doctor copilot-skd
is 'unknown executor: status 2' 2 "$rc"
like 'unknown executor: message' '*unknown executor "copilot-skd"; did you mean "copilot-sdk"?' "$err"
doctor --format xml
is 'unknown format: status 2' 2 "$rc"

program claude 'echo "2.3.4 (Claude Code)"'
doctor claude
is 'no login: status' 1 "$rc"
is 'no login: report' "executors:
  no  claude       $tmp/bin/claude, version 2.3.4; no login found
                   fix: run claude and log in, or set ANTHROPIC_API_KEY" "$out"
ANTHROPIC_API_KEY=sk-canary-0123456789
export ANTHROPIC_API_KEY
doctor claude
is 'a key: status' 0 "$rc"
like 'a key: report' '*version 2.3.4; key in ANTHROPIC_API_KEY' "$out"
doctor claude --format json
like '--format json' "{\"executors\":\[{\"name\":\"claude\",\"ok\":true,\"says\":*\"program\":\"$tmp/bin/claude\",\"version\":\"2.3.4\"}\],\"tools\":\[\]}" "$out"
doctor
like 'keys are not printed' 'executors:*' "$out"
case $out$err in
*canary*) ok 'keys are not printed anywhere' false ;;
*) ok 'keys are not printed anywhere' true ;;
esac
unset ANTHROPIC_API_KEY
mkdir home/.claude
echo '{}' >home/.claude/.credentials.json
doctor claude
like 'a login' '*login in ~/.claude/.credentials.json' "$out"
is 'a login: status' 0 "$rc"

# programs that misbehave
program gemini 'exit 7'
program codex 'printf "\033[31m\001 1.\0332 x\n"'
program opencode 'while :; do echo 123456789012345678901234567890; done'
doctor gemini codex opencode
like 'a program that fails has no version' '*bin/gemini, unknown version; no login found*' "$out"
is 'control characters are not printed' "$out" "$(printf '%s' "$out" | tr -d '\001\033')"
like 'a program that floods is listed' '*opencode     *bin/opencode*' "$out"

# settings
program my-copilot 'echo 9.9'
MY_OWN=sk-canary-x
export MY_OWN
doctor --config-json '{"executors":{"copilot-sdk":{"cli_path":"my-copilot","provider":{"base_url":"http://x","api_key_env":"MY_OWN"}}}}' copilot-sdk
is 'cli_path and provider' "executors:
  ok  copilot-sdk  $tmp/bin/my-copilot, version 9.9; key in MY_OWN" "$out"
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
is 'a server of one'\''s own' 0 "$rc"
doctor --config-json '{"executors":{"acp":{"command":["x"]}}}' acp
is 'acp with a command: status 0' 0 "$rc"
doctor --config-json '{'
is 'invalid settings: status 2' 2 "$rc"
done_testing
