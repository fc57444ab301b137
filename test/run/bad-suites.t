# Suites that cannot be run: one clear line each with its place, an error
# event, status 2, and nothing half-written.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# refused NAME WORDS: bad.yaml is, in those words
refused() {
	run "$WAZA" run bad.yaml -o r.json
	is "$1: status" 2 "$rc"
	is "$1: nothing on stdout" '' "$out"
	like "$1: words" "$2" "$err"
	is "$1: no results" '' "$(ls r.json* 2>/dev/null)"
	run "$WAZA" run --stream-json bad.yaml
	is "$1: status of the stream" 2 "$rc"
	like "$1: an error event" '{"type":"error","error_type":"eval_load_failed","message":"?*' "$out"
	is "$1: whole lines of JSON" '' "$(printf '%s\n' "$out" | while IFS= read -r l
	do printf '%s' "$l" | "$WAZA" parse --json >/dev/null || echo bad; done)"
}

# with LINE: a suite with this line, which is its third
with() {
	printf 'name: x\nskill: s\n%s\ntasks: [{id: a, prompt: x, expected: {output_contains: [x]}}]\n' "$1" >bad.yaml
}

refused 'missing file' '*bad.yaml: No such file*'
printf '\000\001\002ELF' >bad.yaml
refused 'binary file' '*bad.yaml: *binary*'
printf 'name: x\n\tskill: s\n' >bad.yaml
refused 'YAML error' '*bad.yaml:2:1: *tab*'
with 'config: {trials_per_task: many}'
refused 'wrong type' '*bad.yaml:3:27: "trials_per_task" must be a whole number*'
with 'inputs: {v: x}'
# actions of Go's templates do not reach an agent as text
sed 's/prompt: x/prompt: "{{if .Vars.v}}x{{end}}"/' bad.yaml >b2
mv b2 bad.yaml
refused 'a condition in a prompt' \
    '*bad.yaml:4:25: line 1 of "prompt": "{{if .Vars.v}}" is not supported in templates (write {{"{{"}} for literal braces)'
with 'hooks: {before_run: [{command: "echo {{end}}"}]}'
refused 'an action in a hook' '*bad.yaml:3:32: line 1 of "command": "{{end}}" is not supported*'
printf 'name: x\nskill: s\ntasks_from: rows.csv\ngraders: [{type: text, contains: ["{{range .Vars.list}}"]}]\n' >bad.yaml
printf 'id,prompt\na,ok\nb,"say\n {{- .Vars.id -}}"\n' >rows.csv
refused 'a trim marker in a row' '*rows.csv:3:3: line 2 of "prompt": "{{- .Vars.id -}}" is not supported*'
echo 'id,prompt' >rows.csv
echo 'a,b' >>rows.csv
refused 'a loop in a grader' '*bad.yaml:4:35: template: "{{range .Vars.list}}" is not supported*'
with 'config: {executor: command, command: [echo, "{{.Vars.none}}{{if .Vars.v}}"]}'
refused 'an action in the command of an executor' '*bad.yaml:3:*: template: "{{if .Vars.v}}" is not supported*'
printf 'name: x\nskill: s\ntasks_from: rows.csv\nhooks: {before_task: [{command: "echo {{.Vars.id}} {{end}}"}]}\ngraders: [{type: text, contains: [x]}]\n' >bad.yaml
refused 'an action in a hook of rows' '*bad.yaml:4:33: line 1 of "command": "{{end}}" is not supported*'
cat >foreign.yaml <<'YAML'
name: x
skill: s
tasks:
  - id: a
    prompt: &p '${{ secrets.X }} {{#if a}}b{{else}}c{{/if}} {{end of text}}'
    expected: {output_contains: [*p]}
YAML
run "$WAZA" run -q foreign.yaml
is 'braces of other programs are text' '0 ' "$rc $err"
with 'inputs: {limit: .inf}'
refused 'a number that JSON does not have' '*bad.yaml:3:17: JSON has no number .inf (quote it if it is text)'
with 'config: {trials_per_task: many}'
sed 's/trials_per_task: many/executor: mokc/' bad.yaml >b2
mv b2 bad.yaml
refused 'unknown executor' '*bad.yaml:3:*mokc*did you mean "mock"*'
printf 'name: x\nskill: s\ntasks: [none/*.yaml]\n' >bad.yaml
refused 'no tasks' '*bad.yaml:3:9: *none/\*.yaml*'
printf 'skill: s\ntasks: [{id: a, prompt: x}]\n' >bad.yaml
refused 'no name' '*bad.yaml:1:1: Missing required field: name*'
cat >bad.yaml <<'YAML'
name: x
skill: s
tasks:
  - {id: same, prompt: x, expected: {output_contains: [x]}}
  - {id: same, prompt: y, expected: {output_contains: [y]}}
YAML
refused 'duplicate ids' '*bad.yaml:5:*same*'
cat >bad.yaml <<'YAML'
name: x
skill: s
tasks:
  - id: a
    prompt: x
    graders:
      - {type: text, config: {regex_match: ['a(b', '[z-a]']}}
      - {type: txet, config: {contains: [x]}}
      - {type: text, config: {}}
YAML
refused 'bad graders' '*bad.yaml:7:*'
like 'all of them at once' '*bad.yaml:7:*bad.yaml:7:*bad.yaml:8:*text*bad.yaml:9:*' "$(printf '%s' "$err")"
with 'config: {executor: command}'
refused 'no command' '*bad.yaml:3:*config.command*'
cat >bad.yaml <<YAML
name: x
skill: s
config: {executor: openai, openai: {base_url: "http://127.0.0.1:1", model: m}}
mcp_mocks: [{name: m, tools: {a: {responses: [{return: 1}]}}}]
tasks:
  - {id: a, prompt: x, command_mocks: [{name: git, responses: [{args: [], stdout: x}]}], expected: {output_contains: [x]}}
YAML
refused 'mocks' '*bad.yaml:4:*"mcp_mocks" cannot be given to executor "openai"*bad.yaml:6:*"command_mocks"*'
run "$WAZA" validate bad.yaml
like 'mocks: validate reports them' '2 *bad.yaml:4:*"mcp_mocks" cannot be given to*' "$rc $out$err"
run "$WAZA" run --executor mock bad.yaml
is 'mocks: mock runs the suite' '0' "$rc"
with 'nmae: y'
run "$WAZA" run bad.yaml
is 'an unknown key: runs' 0 "$rc"
like 'an unknown key: warns' '*bad.yaml:3:1: warning: *nmae*did you mean "name"*' "$err"
run "$WAZA" run --strict bad.yaml
is 'an unknown key: --strict refuses' 2 "$rc"
mkdir d
run "$WAZA" run d
is 'a directory without a suite' 2 "$rc"
like 'a directory without a suite: words' '*no suite found in workspace d: *' "$err"
done_testing
