# waza schema-check, and the kind json_schema in a run.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

cat >s.json <<'JSON'
{"type": "object",
 "properties": {"name": {"type": "string"}, "size": {"minimum": 1}},
 "required": ["name"],
 "additionalProperties": false}
JSON
echo '{"name": "a"}' >good.json
printf 'name: b\nsize: 2\n' >good.yaml
printf 'nmae: 12\nsize: 0\n' >bad.yaml
run "$WAZA" schema-check s.json good.json good.yaml
is 'valid files' 'good.json: valid
good.yaml: valid' "$out"
is 'valid files: status' 0 "$rc"
for f in s good
do
	{ printf '\357\273\277'; cat $f.json; } >mark-$f.json
done
cp mark-good.json mark-good
run "$WAZA" schema-check mark-s.json mark-good.json mark-good
is 'byte order marks in all files' '0 mark-good.json: valid
mark-good: valid' "$rc $out$err"
cat >mark.yaml <<'YAML'
name: mark
skill: s
tasks: [{id: a, prompt: p, mock: {output: '{"name": "x"}'}, graders: [{type: json_schema, schema_file: mark-s.json}]}]
YAML
run "$WAZA" run -q mark.yaml
is 'schema_file with a byte order mark: status' '0 ' "$rc $err"
echo '{"required": ["name"], "properties": {"loop": {"$ref": "#/$defs/a"}},
 "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}' >cycle.json
run "$WAZA" schema-check cycle.json good.json
is 'a cycle that the value does not reach' '0 good.json: valid' "$rc $out$err"
echo '{"name": "a", "loop": 1}' >loop.json
run "$WAZA" schema-check cycle.json loop.json
like 'a cycle that the value reaches' '2 loop.json: *a reference may lead back to itself' "$rc $out$err"
run "$WAZA" schema-check -q s.json good.json
is '-q prints nothing' '' "$out$err"
run "$WAZA" schema-check s.json bad.yaml good.json
is 'findings, each with its place' 'bad.yaml:1:1: /nmae: is not allowed (did you mean "name"?)
bad.yaml:2:7: /size: must be at least 1, is 0
bad.yaml:1:1: /: must have the property "name"
good.json: valid' "$out"
is 'findings: status' 1 "$rc"
is 'findings: nothing on stderr' '' "$err"
run "$WAZA" schema-check --format json s.json good.json bad.yaml
is 'as JSON: status' 1 "$rc"
is 'as JSON: one line' 1 "$(printf '%s\n' "$out" | wc -l | tr -d ' ')"
like 'as JSON: findings' '{"files":\[{"path":"good.json","errors":\[\],"valid":true},{"path":"bad.yaml","errors":\[{"line":1,"col":1,"at":"/nmae","keyword":"/additionalProperties","message":*\],"valid":false}\],"valid":false}' "$out"
out=$(echo '{"name": 1}' | "$WAZA" schema-check s.json -)
is 'standard input' 'stdin:1:10: /name: must be a string, is a number (1)' "$out"
run sh -c 'echo {} | "$WAZA" schema-check - -'
is 'standard input twice' '2 waza: standard input (-) can only be read once' "$rc $err"
out=$(echo '{"type": "null"}' | "$WAZA" schema-check - good.json)
is 'the schema on standard input' 'good.json:1:1: /: must be null, is an object (1 property)' "$out"
printf 'type: object\nrequired: [name]\n' >s.yaml
run "$WAZA" schema-check s.yaml good.json
is 'a schema in YAML' 'good.json: valid' "$out"
printf '1\n---\nx\n' >two.yaml
printf 'type: integer\n' >int.yaml
run "$WAZA" schema-check int.yaml two.yaml
is 'several documents in a file' 'two.yaml:3:1: /: must be an integer, is a string ("x")' "$out"

# inputs that cannot be checked
printf '{"a":\n  tru}' >broken.json
run "$WAZA" schema-check s.json broken.json none.json good.json
is 'unreadable files: status' 2 "$rc"
is 'unreadable files: the others are checked' 'good.json: valid' "$out"
like 'unreadable files: messages' 'broken.json:2:3: *none.json: No such file*' "$err"
run "$WAZA" schema-check broken.json good.json
is 'invalid schema file: status 2' 2 "$rc"
like 'invalid schema file: message' 'broken.json:2:3: *' "$err"
printf '{\n  "properties": {"a": {"type": "strnig"}}}\n' >wrong.json
run "$WAZA" schema-check wrong.json good.json
is 'invalid schema: status 2' 2 "$rc"
like 'invalid schema: message and place' 'wrong.json:2:32: /properties/a/type: must be a type *' "$err"
echo '{"$ref": "http://example.org/s.json"}' >far.json
run "$WAZA" schema-check far.json good.json
is 'a remote reference: status' 2 "$rc"
is 'a remote reference: message' 'far.json:1:10: /$ref: "http://example.org/s.json" is outside this document; remote references are not fetched' "$err"
echo '{"$id": "http://example.org/s.json", "required": ["x"]}' >near.json
run "$WAZA" schema-check --ref near.json far.json good.json
is 'a reference to another schema that is given' 'good.json:1:1: /: must have the property "x"' "$out"
echo '{"items": [{"type": "null"}]}' >list.json
echo '[1]' >one.json
run "$WAZA" schema-check --draft 7 list.json one.json
is 'draft 7' 'one.json:1:2: /0: must be null, is a number (1)' "$out"
run "$WAZA" schema-check list.json one.json
like 'draft 2020-12' 'list.json:1:11: /items: must be a schema; *' "$err"
run "$WAZA" schema-check --draft 4 list.json one.json
is 'unknown draft' 'waza: --draft must be 2020-12 or 7, not "4"' "$err"
run "$WAZA" schema-check s.json
is 'no file: status 2' 2 "$rc"

# the grader
cat >eval.yaml <<'YAML'
name: schemas
skill: s
tasks:
  - id: good
    prompt: x
    mock: {output: "{\"name\": \"a\"}\n"}
  - id: bad
    prompt: x
    mock: {output: '{"nam": 1}'}
  - id: prose
    prompt: x
    mock: {output: "Here:\n```json\n{\"name\": 1}\n```\n"}
  - id: marked
    prompt: x
    mock: {output: "\uFEFF{\"name\": \"a\"}"}
graders:
  - {type: json_schema, name: file, schema_file: s.json}
YAML
run "$WAZA" validate eval.yaml
is 'the suite is valid' 'eval.yaml: ok (4 tasks)' "$out"
run "$WAZA" run -o r.json eval.yaml
is 'the suite: status' 1 "$rc"
# verdict TASK KEY: print a member of the verdict of the only grader
verdict() {
	python3 - "$1" "$2" <<'PY'
import json, sys
for t in json.load(open('r.json'))['tasks']:
    if t['test_id'] == sys.argv[1]:
        v = list(t['runs'][0]['validations'].values())[0]
        print(json.dumps(v[sys.argv[2]]))
PY
}
if command -v python3 >/dev/null
then
	is 'fits: score' 1.0 "$(verdict good score | sed 's/^1$/1.0/')"
	is 'after a byte order mark: score' 1.0 "$(verdict marked score | sed 's/^1$/1.0/')"
	is 'does not fit: score' 0 "$(verdict bad score | sed 's/^0\.0$/0/')"
	is 'does not fit: feedback' '"/nam: is not allowed (did you mean \"name\"?); /: must have the property \"name\""' "$(verdict bad feedback)"
	is 'does not fit: details' '{"failures": "jsonschema validation failed\n- at '\''/nam'\'': is not allowed (did you mean \"name\"?)\n- at '\'''\'': must have the property \"name\""}' "$(verdict bad details)"
	like 'output without JSON: feedback' '*the output is not JSON: *line 1, column 1*extract_json: true*to read code fences*' "$(verdict prose feedback)"
	like 'output without JSON: details' '{"error": "the output is not JSON: *"}' "$(verdict prose details)"
else
	skip 'no python3 here'
fi

# grader TEXT: run validate on a suite with that grader
grader() {
	printf 'name: a\nskill: b\ntasks: [{id: x, prompt: y}]\ngraders:\n  - type: json_schema\n    name: g\n%b' "$1" >g.yaml
	run "$WAZA" validate g.yaml
}
grader '    schema: {type: object}\n'
is 'an inline schema is valid' 'g.yaml: ok (1 task)' "$out"
grader '    extract_json: true\n'
like 'neither schema nor schema_file' 'g.yaml:5:5: *"schema" or "schema_file" is required' "$(printf '%s\n' "$out" | head -n 1)"
grader '    schema:\n      properties:\n        a: {minLength: x}\n'
like 'an invalid schema in the suite' 'g.yaml:9:24: *schema: /properties/a/minLength: must be a whole number, 0 or more, is "x"' "$(printf '%s\n' "$out" | head -n 1)"
grader '    schema_file: wrong.json\n'
like 'an invalid schema in its file' 'wrong.json:2:32: */properties/a/type: must be a type *' "$out"
grader '    schema_file: none.json\n'
like 'missing schema_file' 'g.yaml:7:18: *none.json: No such file or directory' "$(printf '%s\n' "$out" | head -n 1)"
grader '    schema_file: s.json\n    schema: {}\n'
like 'both schema and schema_file' 'g.yaml:7:18: warning: "schema_file" has no effect beside "schema"*' "$out"
done_testing
