# Custom agents (NAME.agent.md): where they are found, how executors get them, and
# their tools.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs double_copilot double_acp
mkdir tmp bin
TMPDIR=$tmp/tmp COPILOT_CLI_PATH=$DOUBLES/double_copilot
export TMPDIR COPILOT_CLI_PATH
unset COPILOT_OFFLINE COPILOT_HOME
cp "$DOUBLES/double_acp" bin/

# custom TOOLS: the agent "helper", in the file helper.agent.md
custom() {
	cat >helper.agent.md <<MD
---
name: helper
description: Reviews code for mistakes and explains each of them to the author.
model: m-2
$1
---
Always begin with OK.
MD
}

# ask EXECUTOR PROMPT [GRADERS]: one trial; $rc $out $err, results in r
ask() {
	cat >e.yaml <<YAML
name: e
skill: helper
config: {executor: $1, timeout_seconds: 60, acp: {command: [./bin/double_acp]}}
graders: [${3:-}]
tasks:
  - id: a
    prompt: '$2'
    graders: [{type: text, name: any, config: {regex_match: ['.']}}]
YAML
	rm -f r.json* r
	run env PATH="$tmp/bin:$PATH" "$WAZA" run -q -o r.json e.yaml
	[ ! -f r.json ] || "$WAZA" parse r.json >r
}

has() {
	like "$1" "*$2*" "$(cat r)"
}
hasnt() {
	case $(cat r) in *"$2"*) is "$1" absent present ;; *) is "$1" absent absent ;; esac
}

# copilot-sdk: the body is the system message, the tools are enforced
custom 'tools: [fileRead, runCommand, "mcp:github-list_issues"]'
ask copilot-sdk '[[params]]'
is 'system message: status' 0 "$rc"
has 'system message: base directory and body' "Base directory for this skill: $tmp"
has 'system message: body' 'Always begin with OK'
has 'tools: given to the agent' 'availableTools*fileRead*view*runCommand*bash*github-list_issues'
has 'tools: hooks are asked' 'hooks*true'
has 'implicit grader' '"agent_tools_implicit":{"identifier":"agent_tools_implicit","type":"tool_constraint","score":1'
has 'policy in the results' '"tool_policy_mode":"allow_list"'

ask copilot-sdk '[[shell:ls]]'
is 'a declared tool: status' 0 "$rc"
ask copilot-sdk '[[write:x.txt|text]]'
is 'an undeclared tool: status' 1 "$rc"
has 'an undeclared tool: denied' '"tool_policy_denials":[[]{"tool":"create","kind":"tool"'
has 'an undeclared tool: verdict' '"agent_tools_policy":{*"passed":false*denied before they ran: *create'
has 'an undeclared tool: failed, not an error' '"status":"failed"'
run "$WAZA" grade -o g.json e.yaml --results r.json
"$WAZA" parse g.json >r
has 'graded again: still failed' '"agent_tools_policy":{*"passed":false'
ask copilot-sdk '[[write:x.txt|text]]' '{type: tool_constraint, name: own, config: {expect_tools: [create]}}'
is 'a constraint of its own does not replace the policy' 1 "$rc"
hasnt 'a constraint of its own replaces the grader' agent_tools_implicit
has 'a constraint of its own: policy' '"agent_tools_policy"'

ask copilot-sdk '[[hook:view]]'
is 'hook, declared: status' 0 "$rc"
has 'hook, declared: no decision' '"final_output":"hook: ;'
ask copilot-sdk '[[hook:web_search]]'
is 'hook, undeclared: status' 1 "$rc"
has 'hook, undeclared: denied' '"final_output":"hook: deny;'
has 'hook, undeclared: recorded' '"tool_policy_denials":[[]{"tool":"web_search"'

# a request that names no call is judged by its kind
ask copilot-sdk '[[shell:ls]] [[nameless]]'
is 'a request without a call, declared: status' 0 "$rc"
ask copilot-sdk '[[write:x.txt|text]] [[nameless]]'
is 'a request without a call, undeclared: status' 1 "$rc"
has 'a request without a call, undeclared: denied' '"tool_policy_denials":[[]{"tool":"edit","kind":"tool"'

custom 'tools: "bash, , fileRead"'
ask copilot-sdk '[[shell:ls]]'
is 'tools in one text: status' 0 "$rc"
ask copilot-sdk '[[write:x.txt|text]]'
is 'tools in one text, undeclared: status' 1 "$rc"
custom 'tools: {bash: true}'
ask copilot-sdk '[[shell:ls]]'
is 'tools that are not a list: status' 2 "$rc"

custom 'tools: []'
ask copilot-sdk '[[shell:ls]]'
is 'no tools: status' 1 "$rc"
has 'no tools: mode' '"tool_policy_mode":"deny_all"'
custom 'handoffs: [{name: other}]'
ask copilot-sdk '[[write:x.txt|text]] [[params]]'
is 'any tool: status' 0 "$rc"
has 'any tool: mode' '"tool_policy_mode":"unrestricted"'
hasnt 'any tool: no grader' agent_tools_implicit
hasnt 'any tool: no list' availableTools

# ACP: permissions are answered, the body is in the prompt
custom 'tools: [bash]'
ask acp '[[ask:execute|x]]'
is 'acp, declared: status' 0 "$rc"
has 'acp: note' 'the custom agent was given in the prompt'
ask acp '[[ask:edit|x]]'
is 'acp, undeclared: status' 1 "$rc"
has 'acp, undeclared: denied' '"tool_policy_denials":[[]{"tool":"edit"'

# agents that know custom agents get a file and its name
cat >bin/copilot <<'SH'
#!/bin/sh
cat "$PWD/.github/agents/helper.agent.md" >"$SEEN" 2>&1
echo "$*" >>"$SEEN"
echo '{"type":"assistant.message","data":{"content":"OK"}}'
echo '{"type":"result","sessionId":"z","exitCode":0,"usage":{"premiumRequests":1}}'
SH
chmod +x bin/copilot
SEEN=$tmp/seen; export SEEN
custom 'tools: [bash]'
ask copilot-cli 'say it'
is 'copilot-cli: status' 0 "$rc"
like 'copilot-cli: file' '*name: "helper"*Always begin with OK.*--agent=helper*' "$(cat seen)"
has 'copilot-cli: cannot deny' 'cannot deny tools'

# a prompt, for others
cat >bin/qwen <<'SH'
#!/bin/sh
echo "$* END" | tr '\n' ' ' >>"$SEEN"
echo >>"$SEEN"
echo '{"type":"result","subtype":"success","is_error":false,"result":"OK"}'
SH
chmod +x bin/qwen
rm seen
ask qwen 'say it'
like 'qwen: prompt' '*<agent name="helper">*Always begin with OK.*</agent>*say it*' "$(cat seen)"

# the baseline has neither the agent nor its grader
sed -i.bak 's/^skill: helper/skill: helper\nbaseline: true/' e.yaml
rm seen
run env PATH="$tmp/bin:$PATH" "$WAZA" run -q -o r.json e.yaml
is 'baseline: two prompts' 2 "$(grep -c END seen)"
is 'baseline: one of them without the agent' 1 "$(grep -c '<agent' seen)"

# a broken agent is an error, not an agent without limits
custom 'tools: {a: b}'
run "$WAZA" validate e.yaml
is 'broken: status' 2 "$rc"
like 'broken: place and reason' '*helper.agent.md:5:*"tools" must be a list of names*' "$out$err"
custom 'tools: ["*"]'
run "$WAZA" validate e.yaml
like 'a star is not a pattern' '*"[*]" is the name of a tool, not a pattern*' "$out$err"

# a SKILL.md in the same directory takes precedence
custom 'tools: [bash]'
cat >SKILL.md <<'MD'
---
name: helper
description: x
---
body
MD
ask copilot-sdk '[[write:x.txt|text]]'
is 'SKILL.md takes precedence' 0 "$rc"
rm SKILL.md

# the workspace: found by name, checked, counted, scaffolded
mkdir -p w/skills w/agents
custom 'tools: [bash]'
mv helper.agent.md w/skills/
sed 's/name: helper/name: second/' w/skills/helper.agent.md >w/agents/other.agent.md
cd w || exit 1
run "$WAZA" new eval helper --executor mock
is 'new eval: status' 0 "$rc"
is 'new eval: place' evals/helper/eval.yaml "$(ls evals/helper/eval.yaml)"
run "$WAZA" validate --strict evals/helper/eval.yaml
is 'new eval: valid' 0 "$rc"
run "$WAZA" run helper -q --executor mock
is 'run NAME: status' 0 "$rc"
run "$WAZA" run second
like 'run NAME without a suite' '*"second" has no suite*' "$err"
run "$WAZA" check --format json
like 'check: both' '*"name":*"helper"*"name":*"second"*' "$(printf %s "$out" | tr '\n' ' ')"
run "$WAZA" check agents/other.agent.md --format json
like 'check: one file' '*"path":*other.agent.md*' "$(printf %s "$out" | tr '\n' ' ')"
run "$WAZA" coverage --format json
like 'coverage' '*helper*' "$out"
done_testing
