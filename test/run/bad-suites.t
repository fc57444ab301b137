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
with 'nmae: y'
run "$WAZA" run bad.yaml
is 'an unknown key: runs' 0 "$rc"
like 'an unknown key: warns' '*bad.yaml:3:1: warning: *nmae*did you mean "name"*' "$err"
run "$WAZA" run --strict bad.yaml
is 'an unknown key: --strict refuses' 2 "$rc"
mkdir d
run "$WAZA" run d
is 'a directory without a suite' 2 "$rc"
like 'a directory without a suite: words' '*d/eval.yaml: No such file*' "$err"
done_testing
