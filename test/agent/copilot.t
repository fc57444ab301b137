# copilot-sdk against doubles of the Copilot CLI: test/tool/double_copilot, and
# ../shared/agents/fake_copilot.py if it is present.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
needs double_copilot
double=$DOUBLES/double_copilot
DOUBLE_LOG=$tmp/log TMPDIR=$tmp/tmp
COPILOT_CLI_PATH=$double
export DOUBLE_LOG TMPDIR COPILOT_CLI_PATH
unset COPILOT_OFFLINE COPILOT_HOME
mkdir tmp

# suite PROMPT [MORE [SECONDS]]: one task; MORE is added to its config
suite() {
	cat <<YAML
name: t
skill: s
config: {executor: copilot-sdk, model: m-1, timeout_seconds: ${3:-20}${2:+, $2}}
tasks:
  - id: a
    inputs:
      prompt: |-
        $1
    graders: [{type: code, name: any, config: {assertions: ['True']}}]
YAML
}

# ask PROMPT [MORE [SECONDS]]: runs it; $rc $out $err, and $json of the results
ask() {
	suite "$@" >e.yaml
	: >log
	rm -f r.json*
	run "$WAZA" run -q -o r.json e.yaml
	json=
	# floods in short: shells take seconds to match megabytes
	[ ! -f r.json ] || json=$("$WAZA" parse r.json | sed 's/x\{100,\}/x/g')
}

answer() {
	printf '%s' "$json" | sed 's/.*"final_output":"\(\([^"\\]\|\\.\)*\)".*/\1/'
}

# count WORD: number of lines of the log that begin with it
count() {
	grep -c "^$1" log
}

# gone: all processes named in the log have terminated
gone() {
	for pid in $(sed -n 's/^start //p' log)
	do ! kill -0 "$pid" 2>/dev/null || return 1
	done
}

ask '[[say:hello there]]'
is 'well: status' 0 "$rc"
is 'well: answer' 'hello there' "$(answer)"
like 'well: usage is that of session.shutdown' \
    '*"turns":1,"input_tokens":111,"output_tokens":8,"cache_read_tokens":5,"cache_write_tokens":0,"premium_requests":3*' "$json"
suite '[[say:hello]]' >e.yaml
DOUBLE_COUNTED=1 run "$WAZA" run -q -o r.json --config-json '{"prices":{"m-1":{"input":1000,"output":2000,"cache_read":500}}}' e.yaml
like 'well: the counts and the cost are as on other wires (wires.t)' \
    '*"turns":1,"input_tokens":1000,"output_tokens":50,"cache_read_tokens":200,*"cost":1,"cached_input_tokens":200,*' "$("$WAZA" parse r.json)"
ask '[[say:hello there]]'
like 'well: the session has a name' '*"session_id":"????????-????-4???-????-????????????"*' "$json"
is 'well: what was said to it' 'session.create
session.send
session.destroy
session.delete
shutdown
end of stdin' "$(grep -v '^start' log)"
ok 'well: nothing is left' gone
is 'well: the workspace is gone' '' "$(ls tmp)"
suite '[[say:by the other name]]' | sed 's/copilot-sdk/copilot/' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'the name copilot: status' 0 "$rc"

ask '[[params]]' 'skill_directories: [sk], disabled_skills: [other], copilot: {system: Be brief.}'
said=$(answer | sed 's/\\//g')
like 'a session has its model' '*"model":"m-1"*' "$said"
like 'a session works in the workspace' "*\"workingDirectory\":\"$tmp/tmp/*" "$said"
like 'a session asks for permission' '*"requestPermission":true*' "$said"
like 'a session has the skills' "*\"skillDirectories\":\[\"$tmp/sk\"\],\"enableSkills\":true,\"disabledSkills\":\[\"other\"\]*" "$said"
like 'a session has the system message' '*"systemMessage":{"mode":"append","content":"Be brief."}*' "$said"
suite '[[params]]' 'skill_directories: [sk]' >e.yaml
run "$WAZA" run -q --no-skills -o r.json e.yaml
json=$("$WAZA" parse r.json)
like '--no-skills: none at all' '*"enableSkills\\":false*' "$(answer)"
ask '[[params]]' 'skill_directories: [sk], disabled_skills: ["*"]'
like 'all skills disabled' '*"enableSkills\\":false*' "$(answer)"

# tools, skills, text
ask '[[write:f.txt|text]] [[skill:sk]] [[intent]] [[delta]] [[sub]] [[noise]] [[say:it is]]'
is 'write: status' 0 "$rc"
is 'write: answer, without deltas and sub-agents' 'done: it is' "$(answer)"
like 'write: one call, in full' '*"tool_call_count":1,"tools_used":\["create"\]*' "$json"
like 'write: arguments and result' '*"arguments":{"a":\[1,{}\]}*"tool_result":"Created file","success":true*' "$json"
like 'write: the skill' '*"skills":\["sk"\]*' "$json"
is 'write: report_intent is not counted as a tool call' '' "$(printf '%s' "$json" | grep -o report_intent | head -1)"
cat >file.yaml <<YAML
name: t
skill: s
config: {executor: copilot-sdk, timeout_seconds: 300}
tasks:
  - id: a
    prompt: "[[write:deep.txt|made by the agent]]"
    graders: [{type: file, name: f, config: {must_exist: [deep.txt], content_patterns: [{path: deep.txt, must_match: [made by the agent]}]}}]
YAML
run "$WAZA" run -q file.yaml
is 'write: a grader finds the file' 0 "$rc"
ask '[[early]] [[say:before the answer to session.send]]'
is 'events before responses' 'before the answer to session.send' "$(answer)"
ask '[[request]] [[say:.]]'
is 'unknown requests are refused' 'refused by -32601: .' "$(answer)"

# permissions
ask "[[outside:$tmp/out.txt|text]]"
is 'outside: the model continues' 'denied: ' "$(answer)"
is 'outside: it has failed' 1 "$rc"
like 'outside: words' '*tried to leave the workspace: * '"$tmp/out.txt"'*"error_class":"agent_error"*' "$json"
like 'outside: the call failed' '*"success":false*' "$json"
ok 'outside: nothing is written' [ ! -e out.txt ]
ask "[[write:$tmp/out.txt|text]]"
is 'outside, asked once' 'denied: ' "$(answer)"
ask '[[write:../up.txt|text]]'
is 'outside, upwards' 'denied: ' "$(answer)"
ask '[[write:in.txt|text]]' 'permissions: deny'
is 'deny' 'denied: ' "$(answer)"
ask '[[write:in.txt|text]]' 'permissions: [shell, read]'
is 'a list without write' 'denied: ' "$(answer)"
ask '[[shell:ls]]' 'permissions: [shell]'
is 'a list with shell' 'ran: ' "$(answer)"
ask '[[shell:ls]]'
is 'commands are approved' 'ran: ' "$(answer)"
ask "[[outside:$tmp/out.txt|text]]" 'copilot: {permissions: [write, path]}'
is 'a list with path' 'done: ' "$(answer)"
ok 'a list with path: written' [ -e out.txt ]

# failures; bad NAME CLASS WORDS PROMPT [MORE [SECONDS]]
bad() {
	name=$1 class=$2 text=$3
	shift 3
	ask "$@"
	is "$name: status" 1 "$rc"
	like "$name: class" "*\"error_class\":\"$class\"*" "$json"
	like "$name: words" "*$text*" "$out"
	ok "$name: nothing is left" gone
}
bad 'an error' agent_error 'query: it went wrong' '[[error:query|it went wrong]]'
is 'an error: the session is ended' 1 "$(count session.delete)"
bad 'rate limit' infrastructure 'rate_limit: slow down' '[[error:rate_limit|slow down]]'
bad 'an answer cut by a limit' agent_error 'the answer is incomplete: the model reached a limit of tokens (length)' '[[cut]] [[say:half]]'
suite '[[orphan]] [[say:x]]' | sed 's/type: code.*/type: tool_constraint, name: t, config: {reject_tools: [shell]}}]/' >e.yaml
run "$WAZA" run -q -o r.json e.yaml
is 'a result without its call: status' 1 "$rc"
like 'a result without its call: not known' '*cannot be checked: copilot-sdk does not report tool calls*' "$("$WAZA" parse r.json)"
bad 'aborted by itself' agent_error 'aborted' '[[abort]]'
bad 'send refused' agent_error 'session.send failed' '[[badsend]]'
bad 'crash' agent_error 'exited with status 7' '[[crash:7]]'
like 'crash: the end of stderr' '*double: dying as told*' "$out"
bad 'killed' agent_error 'killed by signal 9' '[[kill]]'
bad 'garbage' agent_error 'invalid message' '[[garbage]]'
bad 'hang' timeout 'no answer within 1 s' '[[hang]]' '' 1
is 'hang: it was aborted, and the session ended' '1 1' "$(count session.abort) $(count session.destroy)"
if [ -z "${SHORT-}${WRAP-}" ]
then
	bad 'deaf' timeout 'no answer within 1 s' '[[deaf]]' '' 1
	bad 'too many calls' agent_error 'more than 10000 tool calls' '[[calls]]'
	bad 'flood' agent_error 'more than 32 MiB' '[[flood]]'
else
	skip 'ten seconds of patience'
	skip 'twenty thousand calls'
	skip 'two hundred megabytes'
fi
DOUBLE_MUTE=1; export DOUBLE_MUTE
bad 'never ready' timeout 'no answer within 1 s' '[[say:x]]' '' 1
unset DOUBLE_MUTE
DOUBLE_EXIT=3; export DOUBLE_EXIT
bad 'ends at once' infrastructure 'exited with status 3 before it was ready' '[[say:x]]'
like 'ends at once: the end of stderr' '*double: cannot start*' "$out"
unset DOUBLE_EXIT
DOUBLE_BAD_CREATE=1; export DOUBLE_BAD_CREATE
bad 'no session' agent_error 'session.create failed' '[[say:x]]'
unset DOUBLE_BAD_CREATE
DOUBLE_PROTOCOL=2; export DOUBLE_PROTOCOL
bad 'an old protocol' infrastructure 'speaks protocol 2*update the CLI' '[[say:x]]'
DOUBLE_PROTOCOL=null
bad 'no version' infrastructure 'too old' '[[say:x]]'
unset DOUBLE_PROTOCOL
DOUBLE_NO_CONNECT=1; export DOUBLE_NO_CONNECT
ask '[[say:by ping]]'
is 'a CLI that only knows ping' 'by ping' "$(answer)"
DOUBLE_REFUSE=ping; export DOUBLE_REFUSE
bad 'a CLI that refuses ping' infrastructure 'does not answer ping: not today' '[[say:x]]'
unset DOUBLE_NO_CONNECT
DOUBLE_REFUSE=connect
bad 'a CLI that refuses to connect' infrastructure 'refused to connect: not today' '[[say:x]]'
unset DOUBLE_REFUSE
DOUBLE_NO_AUTH=1; export DOUBLE_NO_AUTH
bad 'nobody is logged in' infrastructure 'not logged in to Copilot*copilot login' '[[say:x]]'
is 'nobody is logged in: nothing was asked' 0 "$(count session.create)"
ask '[[say:x]]' 'provider: {base_url: "http://127.0.0.1:1/v1"}'
is 'a provider needs no login' 0 "$rc"
is 'a provider: no login is tried' 1 "$(count --no-auto-login)"
unset DOUBLE_NO_AUTH
COPILOT_CLI_PATH=$tmp/none
bad 'no CLI' infrastructure 'cannot start the Copilot CLI*none*' '[[say:x]]'
ask '[[say:x]]' "cli_path: $double"
is 'cli_path comes before COPILOT_CLI_PATH' 0 "$rc"
COPILOT_CLI_PATH=$double
printf '#!/bin/sh\nshift; exec "%s" "$@"\n' "$double" >node
printf 'x' >cli.js
chmod +x node
PATH=$tmp:$PATH ask '[[say:x]]' 'cli_path: ./cli.js'
is 'a .js is run by node' 0 "$rc"

# parallel trials in one process
cat >many.yaml <<YAML
name: t
skill: s
config: {executor: copilot-sdk, workers: 64, parallel: true, trials_per_task: 64, timeout_seconds: 300}
tasks:
  - {id: a, prompt: "[[write:x.txt|y]] [[say:one of many]]", expected: {output_contains: [one of many]}}
YAML
: >log
run "$WAZA" run -q -o r.json many.yaml
is '64 at once: status' 0 "$rc"
is '64 at once: sessions, processes' '64 64 1' "$(count session.create) $(count session.delete) $(count start)"

# it dies: its trials are errors, the others get a new process
cat >die.yaml <<YAML
name: t
skill: s
config: {executor: copilot-sdk, timeout_seconds: 300}
tasks:
  - {id: a, prompt: "[[say:x]]", expected: {output_contains: [x]}}
  - {id: b, prompt: "[[crash:1]]", expected: {output_contains: [x]}}
  - {id: c, prompt: "[[say:x]]", expected: {output_contains: [x]}}
YAML
: >log
run "$WAZA" run -q -o r.json die.yaml
is 'it dies: the others go on' 'passed error passed ' \
    "$("$WAZA" parse r.json | grep -o '"display_name":"[a-z]*","status":"[a-z]*"' |
    sed 's/.*:"//; s/"//' | tr '\n' ' ')"
is 'it dies: another one' 2 "$(count start)"
ok 'it dies: nothing is left' gone

# cancel
suite '[[hang]]' '' 60 >e.yaml
: >log
"$WAZA" run -q -o r.json e.yaml >out 2>err &
pid=$!
wait_until 60 grep -q session.send log
kill -INT $pid
wait $pid
is 'interrupted: status' 130 $?
is 'interrupted: the session was ended' '1 1' "$(count session.abort) $(count session.delete)"
ok 'interrupted: nothing is left' gone

# a judge, by its tools
judge() {
	cat <<YAML
name: t
skill: s
config: {executor: mock, judge: {executor: copilot-sdk, model: j-1}, copilot: {system: not for judges}}
tasks:
  - id: a
    prompt: x
    graders: [{type: prompt, name: j, config: {prompt: '$1'}}]
YAML
}
judge '[[tool:set_waza_grade_pass|{"description":"fine","reason":"well done"}]]' >judge.yaml
: >log
run "$WAZA" run -q -o r.json judge.yaml
is 'a judge that passes: status' 0 "$rc"
is 'a judge that passes: one session' '1 1' "$(count session.create) $(count session.delete)"
judge '[[tool:set_waza_grade_fail|{"description":"bad","reason":"not done"}]]' >judge.yaml
run "$WAZA" run -q -o r.json judge.yaml
is 'a judge that fails: status' 1 "$rc"
like 'a judge that fails: status' '*"status":"failed"*' "$("$WAZA" parse r.json)"
judge '[[write:j.txt|x]] [[say:{"passed": true, "score": 1}]]' >judge.yaml
run "$WAZA" run -q -o r.json judge.yaml
like 'a judge may not write' '*denied*' "$("$WAZA" parse r.json)$out"

sed 's/model: j-1/model: j-1, system: for judges/; s/{prompt: .*}}/{prompt: "[[params]] [[say:{\\"passed\\": true}]]"}}/' judge.yaml >params.yaml
run "$WAZA" run -q -o r.json params.yaml
json=$("$WAZA" parse r.json)
like 'a judge has its own system message' '*for judges*' "$json"
is 'a judge has not that of agents' '' "$(printf '%s' "$json" | grep 'not for judges')"

# several prompts in one session
cat >talk.yaml <<YAML
name: t
skill: s
config: {executor: copilot-sdk, timeout_seconds: 300}
tasks:
  - id: a
    inputs: {prompt: "[[say:one]]", follow_up_prompts: ["[[write:t.txt|x]] [[say:two]]", "[[say:three]]"]}
    expected: {output_contains: [one, two, three]}
YAML
: >log
run "$WAZA" run -q -o r.json talk.yaml
is 'talk: status' 0 "$rc"
is 'talk: one session' 'session.create
session.send
session.send
session.permissions.handlePendingPermissionRequest
session.send
session.destroy
session.delete
shutdown
end of stdin' "$(grep -v '^start' log)"
like 'talk: usage is the sum' '*"turns":4,"input_tokens":44,"output_tokens":28*' "$("$WAZA" parse r.json)"
sed 's/say:one./say:one]] [[late]/; s/say:three./say:three]] [[late]/' talk.yaml >e.yaml
: >log
run "$WAZA" run -q e.yaml
is 'talk: an error after the end of a turn is not heard' 0 "$rc"
sed 's/.say:three./[crash:5]/' talk.yaml >e.yaml
: >log
run "$WAZA" run -q e.yaml
like 'talk: it dies' '*exited with status 5*' "$out"
sed 's/.say:three./[hang]/; s/seconds: 300/seconds: 1/' talk.yaml >e.yaml
: >log
run "$WAZA" run -q e.yaml
like 'talk: it hangs' '*no answer within 1 s*' "$out"
is 'talk: it hangs, and is ended' 1 "$(count session.delete)"
ok 'talk: nothing is left' gone

# secrets
CANARY=sk-canary-4711 DOUBLE_TOKEN=ghu-canary-4712
export CANARY DOUBLE_TOKEN
more='provider: {type: anthropic, base_url: "http://127.0.0.1:1", api_key_env: CANARY, model: w-1, headers: {X-A: b}}, github_token_env: DOUBLE_TOKEN'
ask '[[params]] [[env:CANARY]]' "$more"
is 'a provider: status' 0 "$rc"
like 'a provider: as the wire has it' \
    '*"provider\\":{\\"type\\":\\"anthropic\\",\\"baseUrl\\":\\"http://127.0.0.1:1\\",\\"apiKey\\":\\"\*\*\*\\",\\"wireModel\\":\\"w-1\\",\\"headers\\":{\\"X-A\\":\\"b\\"}}*' "$(answer)"
like 'a provider: its key is not in the environment' '*CANARY is unset*' "$(answer)"
is 'a token is named, not told' 1 "$(count --auth-token-env)"
ask '[[env:COPILOT_SDK_AUTH_TOKEN]]' "$more"
is 'a token is in the environment' 'COPILOT_SDK_AUTH_TOKEN is ***' "$(answer)"
suite '[[leak]]' "$more" >e.yaml
run "$WAZA" run -v -o r.json --transcript-dir tr --reporter junit:j.xml --reporter markdown:m.md e.yaml
is 'no secret anywhere' '' "$(grep -l canary-471 r.json r.json.journal j.xml m.md tr/* "$tmp/out" "$tmp/err" log 2>/dev/null)"
like 'but the error, and the end of stderr' '*bad key \*\*\*, \*\*\**"stderr_tail":"bad key \*\*\*"*' "$("$WAZA" parse r.json)"
suite '[[leak]]' "$more, trials_per_task: 2, parallel: true" >e.yaml
run "$WAZA" run -q --record rec e.yaml
is 'recorded: one session each' 2 "$(for f in rec/*; do grep -o '"sessionId":"[^"]*"' "$f" | sort -u; done | grep -c .)"
is 'recorded: both directions' 14 "$(grep -c '^{"way":".","ms":[0-9]*,"message":{"jsonrpc":"2.0","id":[0-9]*,"\(method\|result\)":' rec/* | awk -F: '{ n += $2 } END { print n }')"
is 'recorded: no secret' '' "$(grep -l canary-471 rec/*)"
unset CANARY
ask '[[say:x]]' "$more"
is 'a key that is not set: status' 2 "$rc"
like 'a key that is not set: words' '*"CANARY"*is not set*' "$err"

# settings
note() {
	suite x "$2" >e.yaml
	run "$WAZA" validate e.yaml
	like "$1" "*$3*" "$out$err"
}
note 'unknown setting' 'copilot: {cli_pth: x}' 'e.yaml:3:*unknown key "cli_pth" (did you mean "cli_path"?)'
note 'unknown key of the provider' 'provider: {base_url: x, typ: openai}' 'e.yaml:3:*"typ" (did you mean "type"?)'
note 'a provider without its place' 'copilot: {provider: {type: openai}}' 'e.yaml:3:*base_url'
note 'a type there is not' 'provider: {base_url: x, type: none}' 'e.yaml:3:*openai'
note 'permissions' 'permissions: maybe' 'e.yaml:3:*approve, deny, or a list of kinds'
note 'a kind there is not' 'permissions: [shel]' 'e.yaml:3:*(did you mean "shell"?)'
note 'an environment' 'env: [a]' 'e.yaml:3:*"env" must be a mapping'
ask '[[env:OWN]]' 'copilot: {env: {OWN: mine}}'
is 'env' 'OWN is mine' "$(answer)"
ask '[[env:OWN]]' 'copilot: {env: {OWN: "a\0b"}}'
like 'env: a NUL is an error' '*environment variable "OWN" contains a NUL*' "$out$err"

# recorded sessions of the real program
rec=$top/../shared/agents/transcripts
if [ -d "$rec" ]
then
	# play NAME: one trial with that recording
	play() {
		export DOUBLE_PLAY="$rec/copilot-sdk-$1.txt"
		ask x 'provider: {base_url: "http://127.0.0.1:1/v1"}' "${2-}"
		unset DOUBLE_PLAY
	}
	play write
	like 'recorded: a file' '*"usage":{"turns":2,"input_tokens":22,"output_tokens":14,*"tool_name":"create","args":{"path":"*/hello.txt","file_text":"hello world"},*"success":true,"tool":"write","canonical":{"path":"*/hello.txt"}}*' "$json"
	play skill
	like 'recorded: a skill' '*"tool":"skill","canonical":{"skill":"waza-demo"}}*"skills":\["waza-demo"\]*' "$json"
	play exttool
	like 'recorded: a tool of the client' '*"tool_name":"waza_echo","args":{"text":"abc"},*"success":true,"tool":"other"}*' "$json"
	play http400
	like 'recorded: an error of the model' '*"error_msg":"query: 400 fakellm forced HTTP 400","error_class":"agent_error"*' "$json"
	play nologin
	like 'recorded: no login' '*"error_msg":"*No GitHub OAuth token*","error_class":"infrastructure"*' "$json"
	play abort 1
	like 'recorded: a turn that is stopped' '*"error_class":"timeout"*' "$json"
else skip 'no recorded sessions'
fi


# the other double
fake=$top/../shared/agents/fake_copilot.py
if ! command -v python3 >/dev/null || [ ! -f "$fake" ]
then
	skip 'no python3, or no fake_copilot.py'
	done_testing
fi
COPILOT_CLI_PATH=$fake
ask '[[say:from the other]]'
is 'fake: status' 0 "$rc"
is 'fake: answer' 'from the other' "$(answer)"
ask '[[write:f.txt|text]]'
like 'fake: write' 'done: Created file f.txt*' "$(answer)"
rm -f f.txt
ask "[[write:$tmp/o.txt|text]]"
like 'fake: outside' 'done: Permission denied*' "$(answer)"
ask '[[skill:sk]] [[coalesce]] [[say:one write]]'
is 'fake: coalesced' 'one write' "$(answer)"
like 'fake: skill' '*"skills":\["sk"\]*' "$json"
ask '[[split]] [[say:one byte at a time]]'
is 'fake: split' 'one byte at a time' "$(answer)"
big=${SHORT:+30000}
ask "[[big:${big:=3000000}]]"
json=$("$WAZA" parse r.json)
is 'fake: big' "$big" "$(answer | tr -d '\n' | wc -c | tr -d ' ')"
bad 'fake: error' agent_error 'it broke' '[[error:it broke]]'
bad 'fake: crash' agent_error 'exited with status 9' '[[crash:9]]'
bad 'fake: hang' timeout 'no answer within 1 s' '[[hang:60]]' '' 1
bad 'fake: no session.idle' timeout 'no answer within 1 s' '[[noidle]]' '' 1
export FAKE_COPILOT_NOAUTH=1
bad 'fake: no login' infrastructure 'not logged in' '[[say:x]]'
unset FAKE_COPILOT_NOAUTH
export FAKE_COPILOT_PROTOCOL=4
bad 'fake: a protocol to come' infrastructure 'speaks protocol 4*update waza' '[[say:x]]'
unset FAKE_COPILOT_PROTOCOL
export FAKE_COPILOT_NO_CONNECT=1
ask '[[say:pinged]]'
is 'fake: ping' pinged "$(answer)"
unset FAKE_COPILOT_NO_CONNECT
: >log
sed 's/.write:x.txt.y..//' many.yaml >more.yaml
run "$WAZA" run -q more.yaml
is 'fake: 64 at once' 0 "$rc"
judge '[[tool:set_waza_grade_pass|{"description":"fine"}]]' >judge.yaml
# with a token, nobody asks the double for a login by ACP, which it does not know
GH_TOKEN=t run "$WAZA" run -q judge.yaml
is 'fake: a judge' 0 "$rc"
done_testing
