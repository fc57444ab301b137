# The executor acp: against a double in C (test/tool/double_acp.c), against the one
# of ../shared if Python is installed, and against recorded sessions.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
needs double_acp
mkdir tmp pids bin
cp "$DOUBLES/double_acp" bin/
TMPDIR=$tmp/tmp PIDS=$tmp/pids CANARY_API_KEY=canary-0815-4711
export TMPDIR PIDS CANARY_API_KEY
agent="command: [./bin/double_acp]"

# suite PROMPT [ACP] [CONFIG] [EXPECTED]: one task with that prompt
suite() {
	want=${4:+"output_contains: ['$4']"}
	cat <<YAML
name: e
skill: s
config:
  executor: acp
  timeout_seconds: 300
  acp: {${2:-$agent}}
  ${3:-parallel: false}
tasks:
  - id: a
    prompt: '$1'
    expected: {${want:-output_not_contains: [zzzz]}}
YAML
}

gone() {
	! kill -0 "$1" 2>/dev/null
}

# long tests run in the background
mkdir slow slow/tmp
suite '[[run:echo $PPID >$PIDS/stubborn]] [[stubborn]]' "$agent" 'timeout_seconds: 1' |
    sed '/timeout_seconds: 300/d; s|\./bin|../bin|' >slow/e.yaml
(cd slow && TMPDIR=$tmp/slow/tmp "$WAZA" run -q -o r.json e.yaml >out 2>err) &
slow=$!

ask '[[say:hello there]]' "$agent" '' hello
is 'say: status' 0 "$rc"
has 'say: words are joined' '"final_output":"hello there"'
has 'say: session' '"session_id":"s-1"'
has 'say: usage' '"turns":0,"input_tokens":11,"output_tokens":7*"unknown":[[]"turns",'
has 'say: transcript' '{"type":"assistant.message","content":"hello there"}'
is 'say: the workspace is gone' '' "$(ls tmp)"

ask 'x [[say:first]] [[write:sub.txt|new text]]' "$agent" 'graders: []' 'done: wrote sub.txt'
is 'write: status' 0 "$rc"
has 'write: messages have lines of their own' '"final_output":"first??done: wrote sub.txt"'
has 'write: the call' '"name":"write"'
has 'write: in its order' '"content":"first"},{"type":"tool.execution_complete","tool_call_id":"c-1","tool_name":"write"'
has 'write: arguments' '"arguments":{"filePath":"sub.txt"}'
has 'write: result' '"tool_result":{"output":"Wrote it."},"success":true'
suite '[[write:sub.txt|new text]]' >e.yaml
cat >>e.yaml <<'YAML'
    graders: [{type: file, name: f, config: {content_patterns: [{path: sub.txt, must_match: ['^new text$']}]}}]
YAML
run "$WAZA" run -q e.yaml
is 'write: the file is there' 0 "$rc"
ask '[[strid]] [[write:x|y]]' "$agent" '' 'done: wrote'
is 'ids that are strings' 0 "$rc"
ask '[[late-call]] [[write:x|y]]' "$agent" '' 'done: wrote'
has 'a call that is first heard of in an update' '"tool_call_count":1'
ask '[[twice]] [[write:x|y]]' "$agent" '' 'done: wrote'
has 'a call that is reported twice is one' '"tool_call_count":1'
has 'and keeps its first title, and its last arguments' '"tool_name":"write","title":"write","kind":"edit","arguments":{"filePath":"x","content":"x"}'
ask '[[skill:tidy]] [[say:ok]]'
has 'a skill' '"skills":\["tidy"\]'
ask '[[noise]] [[say:ok]]' "$agent" '' ok
is 'noise is passed over' 0 "$rc"
ask '[[say:ok]] [[late]]'
has 'what comes late is not in the answer' '"final_output":"ok"'
ask '[[fs]]' "$agent" '' 'terminal/create -32601. no/such -32601.'
is 'every question is answered' 0 "$rc"
ask '[[big:3000000]]' "$agent" '' 0000000
is 'a message of 3 MB' 0 "$rc"

# permissions
ask '[[ask:edit|in/side]]' "$agent" '' b
has 'approve is the default, once' '"final_output":"b"'
ask '[[ask:edit|x]]' "$agent, permissions: deny"
has 'deny, once' '"final_output":"n"'
ask '[[ask:execute|x]]' "$agent, permissions: [read, edit]"
has 'a kind that is not in the list' '"final_output":"n"'
ask '[[ask:edit|x]]' "$agent, permissions: [read, edit]"
has 'a kind that is' '"final_output":"b"'
ask '[[ask:edit|/etc/passwd]]' "$agent, permissions: [edit, path]"
has 'a path outside, where that is in the list' '"final_output":"b"'
fails 'outside' agent_error 'tried to leave the workspace: edit /etc/passwd' '[[ask:edit|/etc/passwd]]'
has 'outside: refused' '"final_output":"n"'
mkdir -p skills/tidy
printf -- '---\nname: tidy\ndescription: d\n---\nx\n' >skills/tidy/SKILL.md
ask "[[ask:read|$tmp/skills/tidy/SKILL.md]]" "$agent" 'skill_directories: [skills]'
has 'a skill may be read' '"final_output":"b"'
fails 'a skill, written' agent_error 'tried to leave the workspace: edit' "[[ask:edit|$tmp/skills/tidy/SKILL.md]]" "$agent" 'skill_directories: [skills]'
fails 'upwards' agent_error 'tried to leave the workspace: read ../../x' '[[ask:read|../../x]]'
fails 'at home' agent_error 'tried to leave the workspace: edit ~/.profile' '[[ask:edit|~/.profile]]'
fails 'by a link' agent_error 'tried to leave the workspace: edit out/x' '[[run:ln -s /etc out]] [[ask:edit|out/x]]'

# failures
fails error agent_error 'the agent failed: Internal error: no model' '[[error:no model]]'
fails crash agent_error 'the agent exited during its turn: exit status 7' '[[crash:7]]'
has 'crash: the end of stderr' 'the last words'
has 'crash: what it had said' '"final_output":"about to crash"'
fails 'closes its output and stays' agent_error 'the agent closed its output during its turn and was ended' '[[run:echo $PPID >$PIDS/shut]] [[shut]]'
ok 'closes its output: it is gone' gone "$(cat pids/shut)"
fails max_tokens agent_error 'limit of tokens' '[[stop:max_tokens]]'
fails cancelled agent_error 'the agent cancelled its turn' '[[stop:cancelled]]'
fails 'a new reason' agent_error 'the agent stopped: pause' '[[stop:pause]]'
fails 'no program' infrastructure 'nothing*No such file' x 'command: [./nothing]'
fails 'exits' agent_error 'exited before it was ready: exit status 5' x "$agent, env: {DOUBLE_ACP: exit}"
has 'exits: the end of stderr' 'double: no such option'
fails 'another version' infrastructure 'uses version 2 of the Agent Client Protocol; waza supports 1' x "$agent, env: {DOUBLE_ACP: v2}"
fails 'errors as text' agent_error 'the agent failed: Error: 400 no model' '[[error:no model]]' "$agent, env: {DOUBLE_ACP: copilot}"
ask '[[say:Error: 5 is what it says]]' "$agent, env: {DOUBLE_ACP: copilot}" '' Error
is 'errors as text: only without usage' 0 "$rc"
[ -n "${SHORT-}" ] ||
fails flood agent_error 'more than 10 MiB' '[[flood]]'
[ -n "${SHORT-}" ] ||
fails garbage agent_error 'invalid message' x "$agent, env: {DOUBLE_ACP: garbage}"

# login
fails 'a login, two ways' infrastructure 'needs a login (Authentication required)*auth_method to one of: key (A key), sso (Web)' x "$agent, env: {DOUBLE_ACP: auth2}"
ask '[[say:in]]' "$agent, env: {DOUBLE_ACP: auth1}" '' in
is 'a login, one way' 0 "$rc"
ask '[[say:in]]' "$agent, auth_method: key, env: {DOUBLE_ACP: auth2}" '' in
is 'a login, the way that is set' 0 "$rc"
fails 'a login, the wrong way' infrastructure 'needs a login' x "$agent, auth_method: sso, env: {DOUBLE_ACP: auth2}"

# mode and model
ask '[[again]]' "$agent, mode: code, env: {DOUBLE_ACP: modes}" 'model: m-1' 'mode http://x/modes#code, model p/m-1'
is 'mode and model' 0 "$rc"
ask '[[again]]' "$agent, mode: code, env: {DOUBLE_ACP: options}" 'model: m-1' 'mode code, model p/m-1'
is 'mode and model, as options' 0 "$rc"
# level AGENT MODES PERMISSIONS WANTED: the mode that the permissions set; - for unset
level() {
	ask '[[again]]' "agent: $1, $agent, env: {DOUBLE_ACP_MODES: '$2'}${3:+, permissions: $3}" '' "mode $4,"
	is "$1 with ${3:-no} permissions: mode ${4:-unchanged}" 0 "$rc"
}
new='agent read-only workspace-write agent-full-access' old='read-only auto full-access'
level codex "$new" '' workspace-write
level codex "$new" approve workspace-write
level codex "$new" deny read-only
level codex "$new" '[read, search]' read-only
level codex "$new" '[edit]' workspace-write
level codex "$new" '[edit, execute, path]' agent-full-access
level codex "$old" approve auto
level codex "$old" deny ''
level codex "$old" '[edit, execute, path]' full-access
level codex 'agent read-only' approve ''
level claude 'bypassPermissions default plan' deny default
level claude 'default bypassPermissions' '' ''
level gemini 'yolo default autoEdit' '[read]' default
ask '[[again]]' "agent: codex, $agent, mode: agent-full-access, permissions: deny, env: {DOUBLE_ACP_MODES: '$new'}" '' 'mode agent-full-access,'
is 'a mode of the settings takes precedence' 0 "$rc"
fails 'no mode for the permissions' infrastructure 'has no mode \\"read-only\\", which the permissions need; it offers: x, y' x "agent: codex, $agent, permissions: deny, env: {DOUBLE_ACP_MODES: 'x y'}"
fails 'a mode that the agent refuses' infrastructure 'refused the mode or model: Invalid params' x "agent: codex, $agent, permissions: deny, env: {DOUBLE_ACP: refuse, DOUBLE_ACP_MODES: '$new'}"
ask '[[run:echo "$OPENCODE_PERMISSION" >$PIDS/permission]]' "agent: opencode, $agent, permissions: [edit]"
like 'opencode asks nothing: it gets the permissions in a variable' '*"edit":"allow","bash":"deny"*"external_directory":"deny"*' "$(cat pids/permission)"
rm pids/permission
fails 'no such mode' infrastructure 'has no mode \\"cook\\"; it offers: ask, http://x/modes#code' x "$agent, mode: cook, env: {DOUBLE_ACP: modes}"
fails 'no such model' infrastructure 'has no model \\"m-2\\"; it offers: p/m-1' x "$agent, env: {DOUBLE_ACP: modes}" 'model: m-2'

# working directory and environment
ask '[[run:pwd >$PIDS/pwd; env >$PIDS/env]]' "$agent, env: {OWN: yes, N: 7}" 'model: m-9'
like 'it works in the workspace' "$tmp/tmp/*" "$(cat pids/pwd)"
is 'its environment' 'N=7
OWN=yes
WAZA_MODEL=m-9
WAZA_TASK_ID=a' "$(grep -E '^(OWN|N|WAZA_MODEL|WAZA_TASK_ID)=' pids/env | sort)"
fails 'a line for the shell, in the workspace' agent_error 'before it was ready' x 'command: "exec ./bin/double_acp"'
ask '[[say:hi]]' "command: \"exec $tmp/bin/double_acp\"" '' hi
is 'a line for the shell' 0 "$rc"
cat >bin/gemini <<'GEMINI'
#!/bin/sh
echo "$* $GEMINI_CLI_TRUST_WORKSPACE" >"$PIDS/argv"
exec "${0%/*}/double_acp"
GEMINI
cp bin/gemini bin/claude-code-acp
cp bin/gemini bin/codex-acp
chmod +x bin/*
PATH=$tmp/bin:$PATH
ask '[[say:hi]]' 'agent: gemini' 'model: m-7' hi
is 'a known agent' '0 --acp --model=m-7 true' "$rc $(cat pids/argv)"
command -v claude-agent-acp >/dev/null || {
	ask '[[say:hi]]' 'agent: claude' 'model: m-7' hi
	is 'a known agent by its other name' 0 "$rc"
}
ask '[[run:echo $PPID >$PIDS/deaf]] [[say:hi]]' 'agent: codex, env: {DOUBLE_ACP: noend}' '' hi
is 'an agent that outlives its stdin' 0 "$rc"
ok 'is ended' gone "$(cat pids/deaf)"

# secrets
ask '[[env:CANARY_API_KEY]]' "$agent" '' 'the value is \*\*\*!'
has 'a secret is masked' '"final_output":"the value is \*\*\*!"'
suite '[[env:CANARY_API_KEY]] [[error:$CANARY_API_KEY]]' >e.yaml
run "$WAZA" run -v -o r.json --stream-json e.yaml
like 'a secret in an error is masked' '*the agent failed: Internal error: \*\*\**' "$out"
is 'a secret is nowhere' '' "$(grep -l canary-0815 r.json r.json.journal out err)"

# time and signals
sed 's/timeout_seconds: 300/timeout_seconds: 1/' >e.yaml <<YAML
$(suite '[[run:echo $PPID >$PIDS/hang]] [[hang]]')
YAML
run "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
has 'hang: class' '"error_class":"timeout"'
has 'hang: what it had said' '"final_output":"ranpartial"'
ok 'hang: it is gone' gone "$(cat pids/hang)"
suite x "$agent, env: {DOUBLE_ACP: mute}" 'first_event_timeout_seconds: 1' >e.yaml
run "$WAZA" run -q e.yaml
like 'first event timeout' '*no sign of life within 1 s*' "$out"
suite '[[run:echo $PPID >$PIDS/int]] [[hang]]' >e.yaml
"$WAZA" run -q --stream-json e.yaml >events 2>err &
waza=$!
ok 'interrupt: it has begun' wait_until 120 grep -q answering events
kill -INT "$waza"
wait "$waza"
is 'interrupt: status' 130 $?
ok 'interrupt: it is gone' gone "$(cat pids/int)"
suite '[[tree]]' "$agent" '' planted >e.yaml
run "$WAZA" run -q e.yaml
is 'tree: status' 0 "$rc"
ok 'tree: it is gone' gone "$(cat pids/tree)"

# parallel trials
suite '[[say:hello]] [[write:x|y]]' "$agent" 'workers: 64
  trials_per_task: 256' 'done: wrote' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is '64 at once: status' 0 "$rc"
is '64 at once: all' 256 "$("$WAZA" parse r.json | grep -o 'hello\\ndone: wrote x"' | grep -c .)"
is '64 at once: nothing is left' '' "$(ls tmp)"

# several prompts in one session
suite '[[again]]' >e.yaml
echo "    inputs: {follow_up_prompts: ['[[again]]', '[[skill:tidy]] [[again]]']}" >>e.yaml
run "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
is 'follow-ups: status' 0 "$rc"
has 'follow-ups: one session' 'prompt 1, *prompt 2, *prompt 3, '
has 'follow-ups: cost is not counted twice' '"cost":3.5,'

# settings
cat >e.yaml <<'YAML'
name: e
skill: s
config:
  executor: acp
  acp:
    agent: gemni
    permission: deny
    permissions: [edits]
    env: [X]
tasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]
YAML
run "$WAZA" validate e.yaml
is 'settings: status' 2 "$rc"
like 'settings: agent' '*e.yaml:6:12: unknown agent "gemni" (did you mean "gemini"?)*' "$out$err"
like 'settings: an unknown key' '*e.yaml:7:5: *unknown key "permission" (did you mean "permissions"?)*' "$out$err"
like 'settings: permissions' '*e.yaml:8:19: a kind in "permissions" must be *' "$out$err"
like 'settings: env' '*e.yaml:9:10: "env" must be a mapping*' "$out$err"
sed '/^  acp:/,/env:/d' e.yaml >none.yaml
run "$WAZA" validate none.yaml
like 'settings: neither agent nor command' '*executor "acp" needs config.acp.agent*' "$out$err"

# recorded sessions
rec=$top/../shared/agents/transcripts
if [ -d "$rec" ]
then
	# play NAME [PROMPT]: one trial with that recording
	play() {
		ask "${2-x}" "command: [./bin/double_acp, $rec/acp-$1.txt]${3-}"
	}
	play claude-agent-acp
	has 'recorded claude: text' '"final_output":"done: File created successfully at: */hello.txt (file state'
	has 'recorded claude: the tool has its name' '"tool_name":"Write"*"tool":"write","canonical":{"path":"*/hello.txt"}'
	has 'recorded claude: arguments' '"content":"hello world"}'
	has 'recorded claude: cost' '0.00046'
	play codex-acp2
	has 'recorded codex: the tool has its name' '"tool_name":"exec_command"*"result":"","success":true,"tool":"shell","canonical":{"command":"echo hello > '
	has 'recorded codex: usage' '"input_tokens":22,"output_tokens":14'
	play copilot
	has 'recorded copilot: call' '"tool_name":"edit"*"file_text":"hello world"*"tool":"edit","canonical":{"path":"/*/hello.txt"}'
	play copilot-err
	has 'recorded copilot, an error' 'the agent failed: Error: 400 fakellm'
	play gemini x ', auth_method: gemini-api-key'
	has 'recorded gemini: usage' '"input_tokens":22,"output_tokens":14'
	has 'recorded gemini: call' '"tool_name":"write_file","args":{},"success":true,"tool":"write","canonical":{"path":"*hello.txt"},"unknown":[[]"arguments","result"]'
	sed 's/write_file__write_file_/activate_skill__activate_skill_/g
	    s/"title":"Writing[^"]*"/"title":"\\"greeting\\": How to greet."/g' \
	    "$rec/acp-gemini.txt" >acp-skill.txt
	ask x "command: [./bin/double_acp, $tmp/acp-skill.txt], auth_method: gemini-api-key"
	has 'gemini: a skill' '"tool_name":"activate_skill"*"tool":"skill","canonical":{"skill":"greeting"}'
	has 'gemini: the skill is known' '"skills":[[]"greeting"]'
	play gemini-err x ', auth_method: gemini-api-key'
	has 'recorded gemini, an error' 'fakellm forced HTTP 400'
	play opencode
	has 'recorded opencode: call' '"tool_name":"write","title":"write","kind":"edit","arguments":{"content":"hello world","filePath":"*/hello.txt"}'
	has 'recorded opencode: the tool' '"tool":"write","canonical":{"path":"*hello.txt"}}]'
	is 'recorded opencode: the tokens of the turn are unknown' '' "$(grep -o '"input_tokens":[0-9]*' r)"
	has 'recorded opencode: text' '"final_output":"done: Wrote file successfully."'
else
	skip 'no recorded sessions'
fi

wait "$slow"
is 'stubborn: status' 1 $?
"$WAZA" parse slow/r.json >r
has 'stubborn: class' '"error_class":"timeout"'
ok 'stubborn: it is gone' gone "$(cat pids/stubborn)"

# the other double
fake=$top/../shared/agents/fake_acp_agent.py
if ! command -v python3 >/dev/null
then skip_all 'no python3'
elif [ ! -f "$fake" ]
then skip_all 'no ../shared/agents'
fi
cat >py.yaml <<YAML
name: py
skill: s
config: {executor: acp, timeout_seconds: 300, workers: 4, acp: {command: [python3, $fake]}}
tasks:
  - {id: say, prompt: '[[say:hello there]]', expected: {output_contains: [hello there]}}
  - {id: write, prompt: '[[write:x.txt|content]]', expected: {output_contains: ['done: wrote x.txt']}}
  - {id: strid, prompt: '[[strid]] [[write:x.txt|z]]', expected: {output_contains: ['done: wrote x.txt']}}
  - {id: only, prompt: '[[update-only]] [[write:x.txt|z]]', expected: {output_contains: ['done: wrote x.txt']}}
  - {id: noise, prompt: '[[noise]] [[say:hi]]', expected: {output_contains: [hi]}}
  - {id: split, prompt: '[[split]] [[say:hi you]]', expected: {output_contains: [hi you]}}
  - {id: big, prompt: '[[big:300000]]', expected: {output_contains: [xxxxxxxx]}}
  - {id: late, prompt: '[[late]] [[say:hi]]', expected: {output_not_contains: [late-chunk]}}
YAML
run "$WAZA" run -q -o r.json py.yaml
is 'the other double: status' 0 "$rc"
agent="command: [python3, $fake]"
fails 'the other double: outside' agent_error "edit $tmp/x" "[[write:$tmp/x|y]]"
ok 'the other double: not written' [ ! -e x ]
fails 'the other double: error' agent_error 'the agent failed: Internal error: oops' '[[error:oops]]'
fails 'the other double: crash' agent_error 'exit status 3' '[[crash:3]]'
fails 'the other double: stop' agent_error 'limit of model requests' '[[stop:max_turn_requests]]'
fails 'the other double: version' infrastructure 'version 7' x "$agent, env: {FAKE_ACP_VERSION: 7}"
ask '[[say:in]]' "$agent, env: {FAKE_ACP_AUTH: 1}" '' in
is 'the other double: login' 0 "$rc"
suite '[[hang:60]]' | sed 's/timeout_seconds: 300/timeout_seconds: 2/' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
has 'the other double: cancel' '"error_class":"timeout"'
has 'the other double: what it had said' '"final_output":"partial "'
done_testing
