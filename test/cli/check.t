#!/bin/sh
# waza check: each rule with a skill that follows it and one that does not,
# repairs, formats and exit statuses.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

good='Reads tables from documents and writes them as CSV files that other programs can use. **UTILITY SKILL** USE FOR: extract a table, convert a page. DO NOT USE FOR: editing.'
body='
# Tables

## Steps

1. Run the tool:

```sh
tables x.pdf
```

## Example

One page.

## Troubleshooting

Note: scanned pages need OCR.
'
# front LINES: SKILL.md with this front matter and the good body
front() {
	mkdir -p s/tables
	printf -- '---\n%s\n---\n%s' "$1" "$body" >s/tables/SKILL.md
}
# describe TEXT: the front matter with this description
describe() {
	front "name: tables
description: \"$1\""
}
# text TEXT: the good front matter and this body
text() {
	mkdir -p s/tables
	printf -- '---\nname: tables\ndescription: "%s"\nlicense: MIT\nmetadata: {version: "1"}\n---\n%s' \
	    "$good" "$1" >s/tables/SKILL.md
}
# findings: "RULE SEVERITY FILE:LINE:COL" of each finding in $out
findings() {
	printf '%s\n' "$out" | awk -F'"' '
	/^      "findings": \[/ { on = 1 }
	on && $2 == "rule" { r = $4 }
	on && $2 == "severity" { s = $4 }
	on && $2 == "file" { f = $4; sub(/.*\//, "", f) }
	on && $2 == "line" { l = $3; gsub(/[^0-9]/, "", l) }
	on && $2 == "col" { c = $3; gsub(/[^0-9]/, "", c); print r, s, f ":" l ":" c }'
}
# has NAME RULE SEVERITY PLACE: one such finding
has() {
	run "$WAZA" check --format json s/tables
	is "$1" "$2 $3 $4" "$(findings | grep "^$2 ")"
}
# lacks NAME RULE
lacks() {
	run "$WAZA" check --format json s/tables
	is "$1" '' "$(findings | grep "^$2 ")"
}
# value KEY: the first value of a key in $out
value() { printf '%s\n' "$out" | sed -n 's/^ *"'"$1"'": \(.*[^,]\),*$/\1/p' | head -n 1; }
# level WANT NAME
level() {
	run "$WAZA" check --format json s/tables
	is "level $1: $2" "\"$1\"" "$(value level)"
}

#
# A good skill
#
text "$body"
run "$WAZA" check s/tables
is 'a good skill: exit 0' 0 "$rc"
is 'a good skill: nothing on stderr' '' "$err"
like 'a good skill: ready' '*Ready: 0 errors, 0 warnings*' "$out"
like 'a good skill: the missing suite is a next step' '*waza new eval tables*' "$out"
is 'no line is wider than 80 columns' '' "$(printf '%s\n' "$out" | awk 'length($0) > 84')"
run "$WAZA" check --format json s/tables
is 'only the missing suite is noted' 'eval-missing note SKILL.md:1:1' "$(findings)"
is 'JSON: the keys of the original' 'advisoryChecks compliance eval links name nextSteps path ready specCompliance tokenBudget' \
    "$(printf '%s\n' "$out" | sed -n 's/^      "\([A-Za-z]*\)":.*/\1/p' | grep -v 'findings\|triggers' | sort | tr '\n' ' ' | sed 's/ $//')"
like 'JSON: a time with nanoseconds' '"20??-??-??T??:??:??.?????????Z"' "$(value timestamp)"
is 'JSON: nine checks of the specification, nine advisory' 18 "$(printf '%s\n' "$out" | grep -c '"summary"')"
is 'JSON: phrases' '2,1' "$(value use),$(value avoid)"
run "$WAZA" check --strict s/tables
is 'notes do not matter with --strict' 0 "$rc"

#
# Specification
#
front 'name: tables'
has 'no description' spec-description error SKILL.md:2:1
front "description: \"$good\""
has 'no name' spec-frontmatter error SKILL.md:2:1
printf '%s' "$body" >s/tables/SKILL.md
has 'no front matter' spec-frontmatter error SKILL.md:1:1
run "$WAZA" check s/tables
is 'not ready: exit 1' 1 "$rc"
run "$WAZA" check --exit-zero s/tables
is 'not ready with --exit-zero: exit 0' 0 "$rc"
front "name: tables
description: \"$good\"
licence: MIT"
has 'an unknown key' spec-allowed-fields error SKILL.md:4:1
ok 'an unknown key: a correction' grep -q 'did you mean .*license' "$tmp/out"
for name in Tables ta_bles tables- -tables ta--bles "$(printf '%065d' 0)"
do
	front "name: \"$name\"
description: \"$good\""
	run "$WAZA" check --format json s/tables
	like "the name $name" '*spec-name error SKILL.md:2:7*' "$(findings)"
done
front "name: other
description: \"$good\""
has 'the name of another directory' spec-dir-match error SKILL.md:2:7
lacks 'it is a valid name' spec-name
describe "$(printf '%01025d' 0 | tr 0 x)"
has 'a description of 1025 characters' spec-description error SKILL.md:3:14
level Invalid 'the description is too long'
describe "$(printf '%01020d' 0 | tr 0 x)ääää"
lacks 'a description of 1024 characters, not bytes' spec-description
describe "$good <b>"
has 'markup in the description' spec-security error SKILL.md:3:14
front "name: tables
description: \"$good\"
metadata: {a: [x, \"y<\"]}"
has 'markup in a list' spec-security error SKILL.md:4:19
ok 'its path' grep -q 'metadata.a\[1\]' "$tmp/out"
mkdir -p s/claude-x
printf -- '---\nname: claude-x\ndescription: "%s"\n---\n%s' "$good" "$body" >s/claude-x/SKILL.md
run "$WAZA" check --format json s/claude-x
like 'a reserved name' '*spec-security error SKILL.md:2:7*' "$(findings)"
for c in 'needs git' '{os: linux}'
do
	front "name: tables
description: \"$good\"
compatibility: $c"
	lacks "compatibility: $c" spec-compatibility
done
for c in '[x]' '5' '""' '{os: 5}' "$(printf '%0501d' 0 | tr 0 x)"
do
	front "name: tables
description: \"$good\"
compatibility: $c"
	run "$WAZA" check --format json s/tables
	like "compatibility: $(printf %.9s "$c")" '*spec-compatibility error SKILL.md:4:*' "$(findings)"
done
describe "$good"
has 'no license' spec-license note SKILL.md:2:1
has 'no version' spec-version note SKILL.md:2:1
front "name: tables
description: \"$good\"
allowed-tools: 5
metadata: x"
run "$WAZA" check --format json s/tables
is 'wrong types are warnings' 'field-type warning SKILL.md:4:16
field-type warning SKILL.md:5:11' "$(findings | grep field-type)"
is 'a warning: exit 0' 0 "$rc"
run "$WAZA" check --strict s/tables
is 'a warning with --strict: exit 1' 1 "$rc"
printf -- '---\nname: tables\ndescription: Reads it. USE FOR: "a", it'\''s.\n  DO NOT USE FOR: b\nlicense: MIT\n---\n' >s/tables/SKILL.md
has 'a description that needs quotes' front-matter warning SKILL.md:3:14
is 'it is read as text, with its next line' 'true 47' "$(printf '%s\n' "$out" | awk '
/"spec-description"/ { getline; sub(/.*: /, ""); sub(/,/, ""); p = $0; getline; gsub(/[^0-9]/, ""); print p, $0; exit }')"
printf 'name: t\nskill: tables\nconfig: {skill_directories: [s/tables]}\ntasks: [{id: a, prompt: b}]\ngraders: [{type: text, contains: b}]\n' >q.yaml
run "$WAZA" validate q.yaml
like 'validate: a description that needs quotes' 's/tables/SKILL.md:3:14: warning: "description" contains ": "*q.yaml: ok (1 task)' "$out"
printf -- '---\nname: tables\ndescription: [a\n---\n' >s/tables/SKILL.md
run "$WAZA" validate q.yaml
like 'validate: the file and line of a broken skill' 's/tables/SKILL.md:4:1: warning: *starts at line 3*q.yaml: ok (1 task)' "$out"
has 'front matter that is not YAML' front-matter error SKILL.md:4:1
is 'then no check of the specification passes' 0 "$(printf '%s\n' "$out" | sed '/"links"/q' | grep -c '"passed": true')"
is 'then it is not ready' false "$(value ready)"
printf -- '---\nname: tables\n' >s/tables/SKILL.md
has 'front matter without an end' front-matter error SKILL.md:1:1

#
# Compliance
#
long=$(printf '%0140d' 0 | tr 0 x)
describe "$long"
level Low 'a short description'
has 'a short description' description-length error SKILL.md:3:14
describe "$long $long"
level Low 'no triggers'
has 'no triggers' triggers error SKILL.md:3:14
describe "$long USE FOR: a, b"
level Medium 'no anti-triggers'
has 'no anti-triggers' anti-triggers error SKILL.md:3:14
lacks 'USE FOR is a trigger' triggers
describe "$long WHEN: a page has a table"
level Medium 'WHEN is a trigger'
describe "$long DO NOT USE FOR: a"
level Low 'DO NOT USE FOR alone is not a trigger'
describe "$long USE FOR: a. DO NOT USE FOR: b"
level Medium-High 'no routing'
has 'no routing' routing note SKILL.md:3:14
run "$WAZA" check s/tables
is 'Medium-High is ready' 0 "$rc"
describe "$long use for: a. Not for: b. **Workflow skill**"
level High 'in any case'

#
# Tokens
#
text "$body$(printf '%02000d' 0 | tr 0 x)"
has 'too many tokens' token-limit error SKILL.md:1:1
is 'too many tokens: status' '"exceeded"' "$(value status)"
printf 'tokens:\n  limits:\n    defaults:\n      "*.md": 9000\n' >.waza.yaml
has 'more than the threshold' token-warning warning SKILL.md:1:1
lacks 'within the limit of .waza.yaml' token-limit
printf 'tokens:\n  warningThreshold: 9000\n  limits:\n    defaults:\n      "*.md": 9000\n' >.waza.yaml
lacks 'within the threshold of .waza.yaml' token-warning
# a vocabulary of single bytes
awk 'BEGIN {
	b = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for (i = 0; i < 256; i++)
		print substr(b, int(i / 4) + 1, 1) substr(b, i % 4 * 16 + 1, 1) "== " i
}' >bytes-o200k_base.tiktoken
printf 'tokens: {vocab: bytes-o200k_base.tiktoken}\n' >.waza.yaml
text "$body"
run "$WAZA" check --format json s/tables
is 'tokens.vocab: a token for each byte' "$(wc -c <s/tables/SKILL.md | tr -d ' ') \"o200k_base\"" "$(value count) $(value counter)"
rm .waza.yaml

#
# MCP
#
describe "$long USE FOR: a. DO NOT USE FOR: b. INVOKES: bash, table-tool"
run "$WAZA" check --format json s/tables
is 'MCP: all four' 'mcp-cli-fallback warning SKILL.md:3:14
mcp-name-collision warning SKILL.md:3:14
mcp-prerequisites warning SKILL.md:3:14
mcp-tools-table warning SKILL.md:3:14' "$(findings | grep mcp-)"
is 'MCP: score' 0 "$(value score)"
ok 'MCP: messages name the rule' grep -q '"\[mcp-name-collision\] the tool' "$tmp/out"
body0=$body
body="$body
Prerequisites: the server.  Fallback: do it by hand.

| Tool | Use |
|------|-----|
| table-tool | all |
"
describe "$long USE FOR: a. DO NOT USE FOR: b. INVOKES: table-tool"
lacks 'MCP: nothing' mcp-
is 'MCP: full score' 4 "$(value score)"
describe "$good"
run "$WAZA" check --format json s/tables
is 'MCP: only with INVOKES' '' "$(value mcpIntegration)"
body=$body0

#
# Links
#
mkdir -p s/tables/references s/tables/assets
echo '# Deep *part*' >s/tables/references/a.md
echo 'x' >s/tables/assets/x.txt
text "[a](references/a.md) [b](references/a.md#deep-part) ![c](assets/x.txt) [d](#tables)
$body"
run "$WAZA" check --format json s/tables
is 'good links' '' "$(findings | grep link-)"
is 'good links: counts' '3,3' "$(value valid),$(value total)"
text "[a](references/none.md)
$body
[ref]: references/a.md
\`[code](none.md)\` [ref]"
has 'a broken link' link-broken error SKILL.md:7:1
is 'a broken link: counts' '1,2' "$(value valid),$(value total)"
text "[a](references/a.md) [b](assets/)$body"
has 'a link to a directory' link-directory error SKILL.md:7:22
text "[a](references/a.md) [b](../../x.md)$body"
has 'a link that leads out' link-scope error SKILL.md:7:22
text "[a](references/a.md#none) [b](#none)$body"
run "$WAZA" check --format json s/tables
is 'anchors' 'link-anchor warning SKILL.md:7:1
link-anchor warning SKILL.md:7:27' "$(findings | grep link-)"
is 'a missing anchor is a warning' 0 "$rc"
text "$body"
has 'a file that no link reaches' link-orphan error a.md:1:1
text "[b](references/b.md)$body"
echo '[a](a.md) [top](../SKILL.md)' >s/tables/references/b.md
lacks 'a file that a chain of links reaches' link-
text "[a](references/a%2Emd) [b](<references/b.md>) [m](mailto:a@b.c) [v](vscode://x)$body"
lacks 'escapes, angle brackets, other schemes' link-
text "[a](references/a.md) [b](references/b.md) <https://example.com/x#y> [z](https://example.com/x)$body"
run "$WAZA" check --format json s/tables
is 'URLs are not requested without --urls' 1 "$(value uncheckedURLs)"
is 'URLs that are not requested do not count' '4,4' "$(value valid),$(value total)"
echo >outside
ln -s "$PWD/outside" s/tables/references/out.md
text "[a](references/a.md) [b](references/b.md) [o](references/out.md)$body"
run "$WAZA" check --format json s/tables
is 'a symbolic link out of the directory' 'link-outside warning out.md:1:1
link-scope error SKILL.md:7:43' "$(findings | grep 'link-' | sort)"
rm s/tables/references/out.md

#
# Suites
#
mkdir -p s/tables/evals/tasks
printf 'name: e\nskill: tables\ntasks: ["tasks/*.yaml"]\ngraders: [{name: g, type: text, contains: y}]\n' >s/tables/evals/eval.yaml
printf 'id: x\nprompt: y\n' >s/tables/evals/tasks/1.yaml
text "[a](references/a.md) [b](references/b.md)$body"
run "$WAZA" check --format json s/tables
is 'a suite is found' 's/tables/evals/eval.yaml' "$(printf '%s\n' "$out" | sed -n 's/.*"path": "\(.*eval.yaml\)".*/\1/p')"
is 'a valid suite' true "$(printf '%s\n' "$out" | sed -n 's/.*"valid": \([a-z][a-z]*\).*/\1/p')"
lacks 'a valid suite: no finding' eval-
printf 'id: x\nprompt: [y]\n' >s/tables/evals/tasks/1.yaml
run "$WAZA" check --format json s/tables
is 'an error in a task file' 'eval-schema error 1.yaml:2:9' "$(findings | grep 'eval-schema error')"
like 'taskErrors are listed by file' '*"taskErrors": {*"tasks/1.yaml": \[*' "$out"
is 'then it is not ready' false "$(value ready)"
printf 'name: e\nskill: tables\ntasks: ["tasks/*.yaml"]\ngraders: [{name: g, type: texts}]\n' >s/tables/evals/eval.yaml
printf 'id: x\nprompt: y\n' >s/tables/evals/tasks/1.yaml
run "$WAZA" check --format json s/tables
like 'an unknown kind of grader' '*eval-schema error eval.yaml:4:*' "$(findings)"
rm -r s/tables/evals

#
# Advice
#
# advises NAME RULE STATUS
advises() {
	run "$WAZA" check --format json s/tables
	is "$1" "$3" "$(printf '%s\n' "$out" | awk -F'"' -v r="$2" '
	    $2 == "name" { on = $4 == r } on && $2 == "status" { print $4 }')"
}
text "[a](references/a.md) [b](references/b.md)$body"
advises 'two modules' module-count optimal
advises 'a short file' complexity ok
advises 'no verb first' cross-model-density ok
for r in negative-delta-risk procedural-content over-specificity body-structure progressive-disclosure scope-reduction
do advises "good: $r" $r ok
done
for i in 1 2; do echo x >s/tables/references/m$i.md; done
advises 'four modules' module-count warning
advises 'four modules are complex' complexity warning
rm s/tables/references/m?.md
text "$body never never never always always forbidden"
advises 'many constraints' negative-delta-risk warning
text "${body}Step 1: a

Step 1: b"
advises 'two procedures' negative-delta-risk warning
text "${body}but alternatively"
advises 'several ways' negative-delta-risk warning
describe "$long $long"
advises 'no action' procedural-content warning
for s in /usr/bin 'C:\x' 10.0.0.1 https://a.b/c localhost:8080
do
	text "$body $s"
	advises "specific: $s" over-specificity warning
done
text "$body https://github.com/a/b"
advises 'not specific: a well-known site' over-specificity ok
describe "$(awk 'BEGIN { for (i = 0; i < 61; i++) printf "w " }')"
advises '61 words' cross-model-density warning
describe "Use this. $long"
advises 'a verb first' cross-model-density optimal
text 'nothing'
advises 'no structure' body-structure warning
advises 'no scope' scope-reduction warning
text "$body$(awk 'BEGIN { for (i = 0; i < 500; i++) print "" }'; echo x)"
advises 'a long body' progressive-disclosure warning
text "$body\`\`\`
$(awk 'BEGIN { for (i = 0; i < 51; i++) print "x" }')
\`\`\`"
advises 'a long block' progressive-disclosure warning
text 'USE FOR: a, b
'
advises 'two phrases' scope-reduction ok
done_testing
