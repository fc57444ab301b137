# Graders of traces, on the command line: the mock plays the tool calls and
# skills of an agent.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# verdict NAME: the object of that grader in r.json
verdict() {
	"$WAZA" parse r.json | sed "s/.*\"$1\":{\"identifier\"/{\"identifier\"/; s/,\"duration_ms\":.*//"
}

mkdir -p skills/greet
cat >skills/greet/SKILL.md <<'MD'
---
name: greet
description: |
  Greets people politely. USE FOR: "say hello", "wish a good morning".
  DO NOT USE FOR: insults.
---
Greet somebody by name.
MD
cat >eval.yaml <<'YAML'
name: trace
skill: greet
config:
  executor: mock
  mock:
    output: done
    skills: [greet, extra]
    usage: {turns: 2, input_tokens: 70, output_tokens: 50}
    tool_calls:
      - {name: view, arguments: {path: a.txt, lines: [1, 20]}}
      - {name: bash, arguments: {command: "azd  up", options: {force: true}}}
      - {name: view, arguments: {path: b.txt}}
inputs: {tool: view}
tasks:
  - id: good
    prompt: Please say hello to Ada
    graders:
      - {type: behavior, name: b, max_tool_calls: 3, required_tools: [bash], forbidden_tools: [rm]}
      - {type: action_sequence, name: s, matching_mode: in_order_match, expected_actions: ["{{.Vars.tool}}", view]}
      - {type: tool_constraint, name: c, expect_tools: [{tool: ^ba, command_pattern: 'AZD\s+up'}, view], reject_tools: [rm]}
      - type: tool_calls
        name: t
        config:
          max_calls: 3
          expect:
            - {tool: bash, args: {options.force: true, command: {contains: azd}}}
            - {tool: view, args: {lines: {json_schema: {type: array, items: {type: integer}, maxItems: 2}}}}
            - {tool: view, args: {lines.1: {range: {gte: 20, lt: 21}}, path: {regex: '^a'}}}
      - {type: skill_invocation, name: k, mode: any_order, required_skills: [greet], allow_extra: false}
      - {type: trigger, name: g, skill_path: skills/greet, mode: positive}
  - id: bad
    prompt: Mend the car
    graders:
      - {type: behavior, name: b, max_tool_calls: 2, max_tokens: 100, required_tools: [Grep], forbidden_tools: [VIEW]}
      - {type: action_sequence, name: s, matching_mode: exact_match, expected_actions: [view, view]}
      - {type: tool_constraint, name: c, expect_tools: [{tool: bash, command_pattern: npm}], allow_only: [view]}
      - {type: tool_calls, name: t, expect: [{tool: bash, args: {options.force: false}}], min_calls: 4}
      - {type: skill_invocation, name: k, forbidden_skills: [extra]}
      - {type: trigger, name: g, skill_path: skills/greet/SKILL.md, mode: positive}
YAML
run "$WAZA" run -q --task good -o r.json
is 'all pass: status 0' 0 "$rc"
is 'all pass: nothing on stderr' '' "$err"
like 'behavior' '*"score":1,"weight":1,"passed":true,"feedback":"within all limits"*' "$(verdict b)"
like 'behavior: details' '*"max_tool_calls":3,"max_tokens":0,"max_duration_ms":0,"required_tools":?"bash"?,"forbidden_tools":?"rm"?,"failures":null,"tool_call_count":3,*"tools_used":?"view","bash","view"?,"tokens_total":120}' "$(verdict b)"
like 'action_sequence: F1' '*"score":0.8,*"passed":true*"precision":0.6666666666666666,"recall":1,"f1":0.8}' "$(verdict s)"
like 'tool_constraint: labels' '*"expect_tools":?"^ba (command_pattern: AZD?\\s+up)","view"?,"reject_tools":?"rm"?,"failures":null*"tokens_total":120,"total_turns":2}' "$(verdict c)"
like 'tool_calls: the matching call is named' '*"total_calls":3*"passed_checks":4,"total_checks":4*"matched_call_index":1}*"matched_call_index":0}*' "$(verdict t)"
like 'skill_invocation: extra skills lower the score' '*"score":0.46666*"passed":true*2 used, only 1 expected*"actual_skills":?"greet","extra"?,"allow_extra":false*' "$(verdict k)"
like 'trigger' '*"passed":true,*"mode":"positive","threshold":0.6,"skill_path":"skills/greet","matched_keywords":?"say","hello"?*"phrase_score":1}' "$(verdict g)"

run "$WAZA" run -q --task bad -o r.json
is 'all fail: status 1' 1 "$rc"
like 'all fail: the report has the reasons' '*3 tool calls, at most 2 expected; 120 tokens, at most 100*' "$out"
like 'all fail: the report shows where a sequence differs' '*first difference at 2: "view" expected, "bash" found*' "$out"
like 'behavior' '*required tool ?"Grep?" was not called (called: ?"bash?", ?"view?"); forbidden tool ?"VIEW?" was called (2 of 3 calls)*' "$(verdict b)"
like 'action_sequence' '*; expected 2 calls exactly: ?"view?", ?"view?"; found 3: ?"view?", ?"bash?", ?"view?"; calls: view ?"a.txt?", bash ?"azd  up?", view ?"b.txt?"",*"calls":?{"name":"view","tool":"read","path":"a.txt","success":true},*' "$(verdict s)"
like 'tool_constraint' '*no call matches ?"bash (command_pattern: npm)?": command is ?"azd  up?"; called: ?"bash?"; allowed: ?"view?"; calls: *' "$(verdict c)"
like 'tool_calls' '*3 tool calls, at least 4 expected; no call matches ?"bash (args: ?options.force?)?": argument ?"options.force?": false expected, true found; calls: *' "$(verdict t)"
like 'skill_invocation' '*"score":0,*forbidden skills were used: ?"extra?"*' "$(verdict k)"
like 'trigger' '*the prompt does not match the skill, but should: score 0.00*' "$(verdict g)"

# skill_path is relative to the file or to the working directory
mkdir -p elsewhere deep/tasks
run sh -c "cd elsewhere && \"\$WAZA\" run -q ../eval.yaml --task good"
is 'a skill relative to the suite' 0 "$rc"
cp eval.yaml deep/
run "$WAZA" run -q deep/eval.yaml --task good
is 'a skill relative to the working directory' 0 "$rc"
run sh -c "cd elsewhere && \"\$WAZA\" run -q ../deep/eval.yaml --task good"
is 'missing skill: status 2 before the run' 2 "$rc"
like 'missing skill: place' '*../deep/eval.yaml:30:46: skill "skills/greet" not found beside*' "$err"

# settings are checked with their places
refuse() {
	printf 'name: t\nskill: s\ntasks: [{id: a, prompt: p}]\ngraders:\n  - type: %s\n    config: %s\n' \
	    "$2" "$3" >bad.yaml
	run "$WAZA" validate bad.yaml
	is "$1: status" 2 "$rc"
	like "$1" "*bad.yaml:$4*" "$out$err"
}
refuse 'a behavior grader without limits' behavior '{max_tool_calls: 0}' '5:*: this grader checks nothing'
refuse 'a mode without actions' action_sequence '{matching_mode: in_order, expected_actions: []}' '6:*: "expected_actions" is empty'
refuse 'a misspelt mode' trigger '{skill_path: skills/greet, mode: positiv}' '6:*(did you mean "positive"?)'
refuse 'an invalid pattern' tool_calls '{expect: [{tool: "("}]}' '6:30: invalid pattern "("'
refuse 'an invalid schema' tool_calls '{expect: [{tool: a, args: {x: {json_schema: {type: 7}}}}]}' '6:*json_schema: '
refuse 'two matchers' tool_constraint '{expect_tools: [{tool: a, args: {x: {equals: 1, regex: b}}}]}' '6:*exactly one of'
refuse 'a tool_calls grader without checks' tool_calls '{min_calls: 0}' '5:*: this grader checks nothing'
refuse 'a skill_invocation grader without skills' skill_invocation '{allow_extra: true}' '5:*: this grader checks nothing'

# an expected skill that was not used fails
cat >unused.yaml <<'YAML'
name: t
skill: s
config: {executor: mock}
tasks:
  - {id: used, prompt: p, mock: {output: x, skills: [s]}, expected: {should_trigger: true}}
  - {id: unused, prompt: p, mock: {output: x, skills: []}, expected: {should_trigger: true, output_contains: [x]}}
  - {id: unwanted, prompt: p, mock: {output: x, skills: []}, expected: {should_trigger: false}}
YAML
run "$WAZA" run -q unused.yaml
is 'a skill not used: status' 1 "$rc"
like 'a skill not used: feedback' '*unused*skill: skill "s" was not used*3 tasks: 2 passed, 1 failed*' "$out"

run "$WAZA" run -q -o unused.json unused.yaml
run "$WAZA" grade unused.yaml --results unused.json
is 'a skill not used: graded again' 1 "$rc"

# huge counts do not overflow
cat >most.yaml <<'YAML'
name: t
skill: s
config:
  executor: mock
  mock: {output: x, usage: &most {input_tokens: 9223372036854775807, output_tokens: 9223372036854775807, turns: 9223372036854775807}}
  judge: {mock: {output: '{"passed": true}', usage: *most}}
graders:
  - {type: behavior, max_tokens: 100}
  - {type: prompt, prompt: good?, samples: 3}
tasks: [{id: a, prompt: p}]
YAML
run "$WAZA" run -q most.yaml
like 'counts at the integer limit' '*behavior *9223372036854775807 tokens, at most 100*' "$out"

# executors that do not report calls or skills are named
cat >mute.yaml <<'YAML'
name: t
skill: s
config: {executor: command, command: [echo, hi]}
graders: [{type: tool_calls, config: {max_calls: 0}}]
tasks: [{id: a, prompt: p}]
YAML
run "$WAZA" validate mute.yaml
like 'an executor that does not report calls' '*mute.yaml:4:*warning: command does not report tool calls: rules on that cannot be checked*' "$out$err"
cat >acp.yaml <<'YAML'
name: acp
skill: s
config: {executor: acp, acp: {agent: gemini}}
graders: [{type: behavior, config: {max_iterations: 3, max_tokens: 9}}, {type: tool_constraint, config: {expect_tools: [{tool: shell, args: {x: 1}}]}}]
tasks: [{id: a, prompt: p}]
YAML
run "$WAZA" validate acp.yaml
like 'validate: what an agent never reports' '*acp.yaml:4:*warning: gemini over ACP does not report turns*acp.yaml:4:*gemini over ACP does not report arguments*' "$out$err"
is 'validate: and nothing else' 0 "$(printf '%s\n' "$out$err" | grep -c tokens)"

# what is not reported is not passed
cat >mute.yaml <<'YAML'
name: mute
skill: s
config: {executor: command, command: [echo, hi]}
tasks:
  - {id: calls, prompt: p, graders: [{type: tool_calls, name: g, config: {max_calls: 0}}]}
  - {id: reject, prompt: p, graders: [{type: tool_constraint, name: g, config: {reject_tools: [rm]}}]}
  - {id: order, prompt: p, graders: [{type: action_sequence, name: g, config: {mode: any_order, expected_actions: [rm]}}]}
  - {id: tokens, prompt: p, graders: [{type: behavior, name: g, config: {max_tokens: 9, max_iterations: 9}}]}
  - {id: code, prompt: p, graders: [{type: code, name: g, config: {assertions: ['len(tool_calls) == 0']}}]}
  - {id: expected, prompt: p, expected: {behavior: {max_tool_calls: 3}}}
  - {id: time, prompt: p, graders: [{type: behavior, name: g, config: {max_duration_ms: 60000}}]}
YAML
run "$WAZA" run mute.yaml -o r.json
like 'unknown is not passed: status' '1 *7 tasks: 1 passed, 0 failed, 6 errors (6 grader_error)*' "$rc $out"
like 'unknown is not passed: reason' '*grader "g": cannot be checked: command does not report tool calls*does not report tokens, turns*' "$out"
run "$WAZA" grade mute.yaml --results r.json
like 'unknown is not passed: graded again' '1 *1 passed, 0 failed, 6 errors (6 grader_error)*' "$rc $out"
"$WAZA" parse r.json | sed 's/"duration_ms":[0-9]*,//g' >d.json
run "$WAZA" grade mute.yaml --results d.json --task time
like 'a duration that the file does not have' '*command does not report ms until the answer*' "$out$err"
"$WAZA" run -q --record rec mute.yaml >/dev/null 2>&1
run "$WAZA" run --replay rec mute.yaml
like 'a recording keeps what is unknown' '1 *the recorded agent does not report tool calls*1 passed, 0 failed, 6 errors (6 grader_error)*' "$rc $out"
run "$WAZA" run --executor mock mute.yaml
like 'mock: what a script does not mention is zero' '1 *6 passed, 1 failed*' "$rc $out"
cat >names.yaml <<'YAML'
name: names
skill: s
config:
  executor: mock
  mock: {output: x, tool_calls: [{name: run_shell_command, arguments: {command: "/bin/bash -lc 'rm -rf build'"}}, {name: read_file, arguments: {absolute_path: a.txt}}]}
tasks:
  - id: a
    prompt: p
    graders:
      - {type: action_sequence, name: s, config: {mode: exact_match, expected_actions: [shell, read]}}
      - {type: action_sequence, name: r, config: {mode: exact_match, expected_actions: [run_shell_command, read_file]}}
      - {type: tool_constraint, name: c, config: {expect_tools: [{tool: shell, command_pattern: '^rm -rf'}, {tool: read, path_pattern: '^a.txt$'}], allow_only: [shell, read]}}
      - {type: tool_calls, name: t, config: {required_tools: [shell, read_file], forbidden_tools: [fetch, write]}}
      - {type: behavior, name: b, config: {required_tools: [read], forbidden_tools: [edit]}}
      - {type: code, name: x, config: {assertions: ['[t["tool"] for t in tool_calls] == ["shell", "read"]', 'tool_calls[0]["command"] == "rm -rf build"', 'tool_calls[1]["path"] == "a.txt"']}}
    expected: {outcomes: [{type: tool_called, tool_name: shell}], tool_calls: {required: [{pattern: '^shell rm -rf build'}], forbidden: [{tool: fetch}]}}
  - {id: b, prompt: p, graders: [{type: tool_constraint, name: g, config: {reject_tools: [{tool: ^shell$, command_pattern: '^rm '}]}}]}
YAML
run "$WAZA" run names.yaml
like 'tools by what they do' '1 *2 tasks: 1 passed, 1 failed*' "$rc $out"
like 'tools by what they do: rejected, with the calls' '*call 1 matches rejected*calls: run_shell_command "rm -rf build", read_file "a.txt"*' "$(printf '%s' "$out" | tr -s '\n ' '  ')"
done_testing
