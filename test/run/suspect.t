# Suspects: why a trial may have failed, in results, in --interpret, after grading
# again and after a merge.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp bin home skills skills/greet
TMPDIR=$tmp/tmp HOME=$tmp/home SAY=$tmp/say PATH=$tmp/bin:$PATH
export TMPDIR HOME SAY PATH
printf -- '---\nname: greet\n# a comment\ndescription: How to greet\n---\nBody.\n' >skills/greet/SKILL.md

# an agent whose calls are in $SAY
cat >bin/claude <<'SH'
#!/bin/sh
cat >/dev/null
cat "$SAY"
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":1}'"$(cat "$SAY.end")"'}'
SH
chmod +x bin/claude
# call NAME INPUT [ERROR]: a call of a tool, as claude reports it
call() {
	id=$(printf '%s' "$*" | cksum | tr ' ' -)
	echo "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"$id\",\"name\":\"$1\",\"input\":$2}]}}"
	echo "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"$id\",\"content\":\"x\"${3:+,\"is_error\":true}}]}}"
}
: >say.end
# ask [WANTED] [DIRS]: run it; $got is the suspect
ask() {
	cat >e.yaml <<YAML
name: e
skill: greet
config: {executor: claude, timeout_seconds: 300, skill_directories: [${2-skills}]}
graders:
- {type: regex, name: wanted, config: {must_match: [${1:-hello}]}}
tasks:
- {id: a, prompt: Say hello}
YAML
	rm -f r.json
	run "$WAZA" run -q --interpret -o r.json e.yaml
	suspect r.json
}
suspect() {
	"$WAZA" parse "$1" >line
	got=$(sed -n 's/.*"suspect":\({[^}]*}\).*/\1/p' line)
}

call Bash '{"command":"ls"}' >say
ask
is 'a skill that was not used' '{"kind":"skill_not_used","evidence":"the agent had the skill \"greet\" and did not use it (1 tool call); its description decides that","look_at":"skills/greet/SKILL.md:4"}' "$got"
like 'a skill that was not used: --interpret' '*
  a: the skill was not used: the agent had the skill "greet" and did not use it (1 tool call); its description decides that  look at: skills/greet/SKILL.md:4
*' "$out"
ask 'done'
is 'a trial that passed has no suspect' 0 "$rc$got"
call Skill '{"skill":"greet"}' >say
ask
is 'a skill that was used is not suspected' '' "$got"
call Skill '{"skill":"great"}' error >say
ask
like 'a skill that was not found' '{"kind":"skill_not_found","evidence":"tool call 1 could not load the skill \\"great\\"","look_at":"skills/greet/SKILL.md:4","tool_call":1}' "$got"
: >say
mkdir empty
ask hello ''
is 'no skills at all' '{"kind":"skill_not_found","evidence":"the agent had no skills: no directory of skill_directories has the skill \"greet\"","look_at":"e.yaml"}' "$got"
run "$WAZA" run -q --no-skills -o n.json e.yaml
suspect n.json
is 'unless they are left out on purpose' '' "$got"

call Write '{"file_path":"/etc/x","content":"y"}' error >say
id=$(sed -n 's/.*"tool_use","id":"\([^"]*\)".*/\1/p' say)
printf ',"permission_denials":[{"tool_name":"Write","tool_use_id":"%s","tool_input":{}}]' "$id" >say.end
ask
is 'a denied tool goes before an unused skill' '{"kind":"tool_denied","evidence":"tool call 1, Write, was denied","look_at":"e.yaml:7","tool_call":1}' "$got"
: >say.end

# a judge of two minds
cat >judge.sh <<'SH'
#!/bin/sh
cat >/dev/null
case $WAZA_SAMPLE in 2) echo '{"passed": true}' ;; *) echo '{"passed": false}' ;; esac
SH
chmod +x judge.sh
cat >j.yaml <<'YAML'
name: j
skill: s
config: {executor: mock, judge: {command: [./judge.sh]}}
tasks:
- id: a
  prompt: p
  graders:
  - {type: prompt, name: taste, prompt: good, samples: 3}
YAML
run "$WAZA" run -q --interpret -o j.json j.yaml
suspect j.json
is 'a judge that disagrees with itself' '{"kind":"judge_disagrees","evidence":"1 of 3 samples of the judge passed the same answer","look_at":"j.yaml:8","grader":"taste"}' "$got"
like 'a judge that disagrees: --interpret' '*a: the judge disagrees with itself: 1 of 3 samples of the judge passed the same answer; grader taste  look at: j.yaml:8*' "$out"

# graders that contradict the examples of their task
cat >t.yaml <<'YAML'
name: t
skill: s
config: {executor: mock, mock: {output: hello}}
tasks:
- id: a
  prompt: p
  graders:
  - {type: regex, name: case, config: {must_match: [Hello]}}
  tests:
  - {output: bye, expect: fail}
  - {output: hello, expect: pass, why: case does not matter}
- id: b
  prompt: p
  graders:
  - {type: regex, name: case, config: {must_match: [Hello]}}
  tests:
  - {output: Hello, expect: pass}
YAML
run "$WAZA" run -q --interpret -o t.json t.yaml
suspect t.json
like 'graders that contradict their tests' '{"kind":"grader_contradicts_tests","evidence":"test 2 of the task must pass, but the graders fail it: case: *","look_at":"t.yaml:11"}' "$got"
is 'only those' 1 "$(grep -o '"suspect"' line | wc -l | tr -d ' ')"
like 'graders that contradict their tests: --interpret' "*a: the graders contradict the task's own tests: test 2 of the task must pass, *look at: t.yaml:11*" "$out"
run "$WAZA" grade -q --results t.json -o t2.json t.yaml
suspect t2.json
like 'the same when they grade again' '{"kind":"grader_contradicts_tests"*' "$got"

# the executor command, whose use of skills is not visible
printf 'echo no\n' >agent.sh
cat >c.yaml <<'YAML'
name: c
skill: s
config: {executor: command, command: [sh, agent.sh], skill_directories: [skills]}
tasks: [{id: a, prompt: p, expected: {output_contains: [x]}}, {id: b, prompt: p, expected: {output_contains: [x]}}]
YAML
run "$WAZA" run -q -o c.json c.yaml
suspect c.json
is 'an invisible use is not suspected' '' "$got"
cat >i.yaml <<'YAML'
name: i
skill: s
config: {executor: command, command: [./no-such-program]}
tasks: [{id: a, prompt: p, expected: {output_contains: [x]}}]
YAML
run "$WAZA" run -q --interpret -o i.json i.yaml
suspect i.json
like 'infrastructure' '{"kind":"infrastructure","evidence":"*no-such-program*","look_at":"i.yaml:4"}' "$got"
like 'infrastructure: --interpret' '*a: not the agent: it could not be run or graded: *' "$out"

# graded again, merged, schema
call Bash '{"command":"ls"}' >say
ask
sed 's/hello\]/done]/' e.yaml >e2.yaml && mv e2.yaml e.yaml
run "$WAZA" grade -q --results r.json -o g.json e.yaml
suspect g.json
is 'graded again: no suspect any more' '' "$got"
ok 'it has passed' grep -q '"status":"passed"' line
sed 's/done\]/hello]/' e.yaml >e2.yaml && mv e2.yaml e.yaml
run "$WAZA" grade -q --results g.json -o h.json e.yaml
suspect h.json
like 'and again: the same suspect' '{"kind":"skill_not_used"*' "$got"
ok 'results fit their schema' sh -c '"$WAZA" schema results >schema.json &&
    "$WAZA" schema-check schema.json r.json j.json i.json t.json >/dev/null'
sed -i.bak 's/^- {id: a, prompt: Say hello}/- {id: a, prompt: Say hello}\n- {id: b, prompt: Say hello}/' e.yaml
mkdir s
run "$WAZA" run -q --shard 1/2 -o s/1.json e.yaml
run "$WAZA" run -q --shard 2/2 -o s/2.json e.yaml
run "$WAZA" merge -q s -o m.json --interpret
is 'merged results have the suspects' 2 "$("$WAZA" parse m.json | grep -o '"suspect":{"kind":"skill_not_used"' | wc -l | tr -d ' ')"
like 'and their report' '*b: the skill was not used*' "$out"
done_testing
