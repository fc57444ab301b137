# Graders with `ref`: presets in files.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir presets
cat >presets/base.yaml <<'YAML'
type: text
name: base
weight: 3
config:
  contains: [hello, world]
  not_contains: [zzz]
YAML
cat >presets/many.yaml <<'YAML'
graders:
  polite: {type: text, config: {contains: [please]}}
  again: {ref: base.yaml}
YAML

# suite GRADER: one task, whose answer is "hi"
suite() {
	cat >e.yaml <<YAML
name: e
skill: s
graders:
  - $1
tasks:
  - {id: a, inputs: {prompt: hi}}
YAML
	rm -f r.json*
	run "$WAZA" run -q -o r.json e.yaml
	json=$([ -f r.json ] && "$WAZA" parse r.json)
}

suite '{ref: presets/base.yaml}'
is 'as it is: status' 1 "$rc"
like 'as it is: name, type and weight' '*"base":{"identifier":"base","type":"text","score":*"weight":3*' "$json"
suite '{ref: presets/base.yaml, name: mine, config: {contains: [hi]}}'
is 'overridden: status' 0 "$rc"
like 'overridden: a list is replaced, other settings stay' \
    '*"mine":{*"weight":3*"contains":[[]"hi"],"not_contains":[[]"zzz"]*' "$json"
suite '{ref: presets/base.yaml, weight: 2, contains: [hi]}'
like 'overridden beside type' '*"weight":2*"contains":[[]"hi"],"not_contains":[[]"zzz"]*' "$json"
suite '{ref: "./presets/many.yaml#polite", name: p, contains: [hi]}'
is 'one of several' 0 "$rc"

suite '{ref: "./presets/many.yaml#rude"}'
is 'unknown entry: status' 2 "$rc"
like 'unknown entry: message' '*e.yaml:4:*no entry "rude"*' "$err"
suite '{ref: "./presets/many.yaml#again"}'
like 'a preset of a preset' '*presets/many.yaml:3:*cannot refer to another one*' "$err"
suite '{ref: presets/none.yaml}'
like 'no file' '*e.yaml:4:*preset file "presets/none.yaml" does not exist*' "$err"
suite '{ref: github.com/owner/repo/graders#tone@v1.2.0}'
is 'registry: status' 2 "$rc"
like 'registry: what to write instead' '*presets of a registry are not fetched; save the preset and write "ref: ./preset.yaml"*' "$err"

cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: mock, trials_per_task: 1, timeout_seconds: 10, model: m}
graders: [{ref: presets/base.yaml}]
tasks: [{id: a, inputs: {prompt: hi}}]
YAML
"$WAZA" schema eval >schema.json
run "$WAZA" schema-check schema.json e.yaml
is 'schema' "0 " "$rc $err"
done_testing
