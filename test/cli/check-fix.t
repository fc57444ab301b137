#!/bin/sh
# waza check: operands, formats for programs, and --fix.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

good='Reads tables from documents and writes them as CSV files that other programs can use. **UTILITY SKILL** USE FOR: extract a table, convert a page. DO NOT USE FOR: editing.'
# skill DIR NAME BODY
skill() {
	mkdir -p "$1"
	printf -- '---\nname: %s\ndescription: "%s"\n---\n%b' "$2" "$good" "$3" >"$1/SKILL.md"
}

#
# Operands
#
skill p/skills/one one '# One\n'
skill p/skills/two two '# Two\n[x](none.md)\n'
skill p/.github/skills/three three '# Three\n'
cd p || exit 1
run "$WAZA" check
is 'all skills of the project: exit 1, one is not ready' 1 "$rc"
like 'a table at the end' '*Skill*Compliance*Tokens*one*two*three*2 of 3 skills are ready' "$out"
like 'details of the skill with a problem' 'two (skills/two/SKILL.md)*SKILL.md:6:1: broken link "none.md"*' "$out"
run "$WAZA" check one three
is 'skills by name' 0 "$rc"
run "$WAZA" check skills/one/SKILL.md
is 'a SKILL.md' 0 "$rc"
like 'a SKILL.md: its report' 'one (skills/one/SKILL.md)*Ready*' "$out"
cd skills/one || exit 1
run "$WAZA" check .
is 'the current directory' 0 "$rc"
cd ../.. || exit 1
run "$WAZA" check ..
like 'a directory above' '*2 of 3 skills are ready' "$out"
run "$WAZA" check tow
is 'an unknown name: exit 2' 2 "$rc"
like 'an unknown name: a correction' '*finding skill*tow*not found in workspace*two*' "$err"
run "$WAZA" check skills/none/SKILL.md
is 'a missing file: exit 2' 2 "$rc"
mkdir empty
run "$WAZA" check empty/
is 'a directory without skills: exit 2' 2 "$rc"
like 'a directory without skills: message' '*no SKILL.md found*' "$err"
run "$WAZA" check --format xml
is 'an unknown format: exit 2' 2 "$rc"
run "$WAZA" check --dry-run
is '--dry-run without --fix: exit 2' 2 "$rc"
mkdir copy && cp -R skills/one copy/one
run "$WAZA" check --format json ..
is 'skills of the same name are all checked' 4 "$(printf '%s\n' "$out" | grep -c '"compliance"')"
rm -r copy empty

#
# Formats
#
printf '[x](a%%b,c:d.md)\n' >>skills/two/SKILL.md
run "$WAZA" check --format github two
is 'github: one command for each error' "::error file=skills/two/SKILL.md,line=6,col=1,title=link-broken::broken link \"none.md\": the file does not exist
::error file=skills/two/SKILL.md,line=7,col=1,title=link-broken::broken link \"a%25b,c:d.md\": the file does not exist" "$out"
is 'github: exit 1' 1 "$rc"
mkdir 'x,y%z'
cp -R skills/two 'x,y%z/two'
run "$WAZA" check --format github 'x,y%z/two'
like 'github: names of files are escaped' '::error file=x%2Cy%25z/two/SKILL.md,line=6*' "$out"
run "$WAZA" check --format sarif 'x,y%z/two'
like 'sarif: version and rules' '*"version": "2.1.0"*"id": "link-broken"*' "$out"
like 'sarif: a result with its place' '*"ruleId": "link-broken"*"level": "error"*"uri": "x%2Cy%25z/two/SKILL.md"*"startLine": 6*' "$out"
ok 'sarif: JSON' "$WAZA" parse "$tmp/out"
if command -v python3 >/dev/null
then
	ok 'sarif: each result has a rule that is described' python3 -c '
import json, sys
run = json.load(open(sys.argv[1]))["runs"][0]
ids = {r["id"] for r in run["tool"]["driver"]["rules"]}
assert run["results"] and all(r["ruleId"] in ids for r in run["results"])' "$tmp/out"
else
	skip 'no python3'
fi
rm -r 'x,y%z'
printf '::set-output name=x::y [z](::error.md)\n' >>skills/two/SKILL.md
run "$WAZA" check two
is 'text: no line is a command of a CI system' '' "$(printf '%s\n' "$out" | grep '^ *::')"

#
# Repairs
#
cd "$tmp" || exit 1
mkdir -p f/my-skill/references/deep
# in these texts _ is a blank and ^ a tab
tr '_^' ' \t' >f/my-skill/SKILL.md <<'END'
---
name: Other  # why
description: Use when: tables are "wide"
license: MIT_
---
# T_
break__
line
^
```
code__
x_
```
[a](a.md) [b](references/B.md#x) [c](twice.md) [d](none.md) [r]

[r]: <other dir/a.md> "t"
END
echo '[up](../a.md) ' >f/my-skill/references/deep/a.md
echo '[s](SKILL.md)' >f/my-skill/references/b.md
mkdir f/my-skill/x f/my-skill/y
touch f/my-skill/x/twice.md f/my-skill/y/twice.md
cp -R f before
chmod 640 f/my-skill/SKILL.md
run "$WAZA" check --fix --dry-run f/my-skill
like '--dry-run shows a diff' '--- a/f/my-skill/SKILL.md
+++ b/f/my-skill/SKILL.md
@@ *' "$out"
is '--dry-run changes nothing' '' "$(diff -r before f)"
run "$WAZA" check --fix f/my-skill
printf '%s\n' "$out" | sed '/^my-skill (/,$d' >fix.diff
tr _ ' ' >want <<'END'
---
name: my-skill  # why
description: "Use when: tables are \"wide\""
license: MIT
---
# T
break__
line

```
code__
x_
```
[a](references/deep/a.md) [b](references/b.md#x) [c](twice.md) [d](none.md) [r]

[r]: <references/deep/a.md> "t"
END
is 'all repairs, and nothing else' "$(cat want)" "$(cat f/my-skill/SKILL.md)"
is 'the mode is kept' '-rw-r-----' "$(ls -l f/my-skill/SKILL.md | cut -c1-10)"
is 'links of other files' '[up](a.md) ' "$(cat f/my-skill/references/deep/a.md)"
is 'no other file is left' "$(cd before && find . | sort)" "$(cd f && find . | sort)"
if patch --version >/dev/null 2>&1	# BusyBox has another
then
	(cd before && sed 's|f/my-skill|my-skill|' ../fix.diff | patch -s -p1) >/dev/null 2>&1
	is 'the diff is what was done' '' "$(diff -r before f)"
else
	skip 'no patch'
fi
cp -R f after
run "$WAZA" check --fix f/my-skill
is 'the second time changes nothing' '' "$(diff -r after f)"
like 'the second time shows no diff' 'my-skill (f/my-skill/SKILL.md)*' "$out"
run "$WAZA" check --fix --format json f/my-skill
ok 'JSON is not mixed with a diff' "$WAZA" parse "$tmp/out"

# never guess
mkdir -p g/Bad_Dir
printf -- '---\nname: x-y\ndescription: |\n  a: b \n---\n' >g/Bad_Dir/SKILL.md
cp -R g gb
run "$WAZA" check --fix g/Bad_Dir
is 'a directory whose name is not valid, blanks that are content' '' "$(diff -r gb g)"
mkdir -p h/ok
printf -- '---\ndescription: x\n---\n' >h/ok/SKILL.md
run "$WAZA" check --fix h/ok
is 'a missing name is added' '---
name: ok
description: x
---' "$(cat h/ok/SKILL.md)"
printf -- '---\r\nname: no\r\ndescription: a\r\n---\r\nx \r\n' >h/ok/SKILL.md
run "$WAZA" check --fix h/ok
is 'CR LF is kept' "$(printf -- '---\r\nname: ok\r\ndescription: a\r\n---\r\nx\r\n')" "$(cat h/ok/SKILL.md)"
mkdir -p l/sk
printf -- '---\nname: no\n---\n' >real.md
ln -s ../../real.md l/sk/SKILL.md
run "$WAZA" check --fix l/sk
is 'a symbolic link is not replaced' 'name: no' "$(sed -n 2p l/sk/SKILL.md)"
# a link of the project does not decide which files outside are changed
mkdir -p away/sk in/skills
printf -- '---\nname: no\n---\n' >away/sk/SKILL.md
ln -s ../../away/sk in/skills/sk
(cd in && "$WAZA" check --fix skills/sk >/dev/null 2>"$tmp/err")
is 'a directory outside, through a link: unchanged' 'name: no' "$(sed -n 2p away/sk/SKILL.md)"
like 'a directory outside, through a link: the reason' '*skills/sk is a symbolic link out of the project: *' "$(cat "$tmp/err")"
(cd in && "$WAZA" check --fix ../away/sk >/dev/null 2>&1)
is 'the same directory by its own name' 'name: sk' "$(sed -n 2p away/sk/SKILL.md)"

if [ "$(id -u)" -ne 0 ]
then
	mkdir -p ro/sk
	printf -- '---\nname: no\n---\n' >ro/sk/SKILL.md
	chmod 500 ro/sk
	run "$WAZA" check --fix ro/sk
	is 'a read-only directory: exit 2' 2 "$rc"
	like 'a read-only directory: message' '*ro/sk/SKILL.md: Permission denied*' "$err"
	is 'a read-only directory: nothing is left' SKILL.md "$(ls -A ro/sk)"
	chmod 700 ro/sk
else
	skip 'root may write everywhere'
fi
if (ulimit -f 1) 2>/dev/null
then
	mkdir -p full/sk
	{
		printf -- '---\nname: no\n---\n'
		awk 'BEGIN { for (i = 0; i < 2000; i++) print "a line of text" }'
	} >full/sk/SKILL.md
	cp full/sk/SKILL.md full.before
	(ulimit -f 1; "$WAZA" check --fix full/sk) >/dev/null 2>"$tmp/err"
	is 'no room for the file: exit 2' 2 $?
	ok 'no room for the file: it is unchanged' cmp full.before full/sk/SKILL.md
	is 'no room for the file: nothing is left' SKILL.md "$(ls -A full/sk)"
else
	skip 'no ulimit -f'
fi

#
# Skills of strangers
#
[ -d "$CORPUS/skills" ] || skip_all "no corpus in $CORPUS"
cp -R "$CORPUS/skills" corpus
find corpus ! -name SKILL.md -type f -exec rm {} +
# PATH NAME LEVEL TOKENS FAILED VALID TOTAL: made from the files without waza
while read -r path name level tokens failed valid total
do
	run "$WAZA" check --format json "corpus/$path/SKILL.md"
	got="$(printf '%s\n' "$out" | awk -F'"' '
	/^      "name":/ { name = $4 }
	$2 == "level" { level = $4 }
	$2 == "count" { tokens = $3 }
	/"specCompliance"/ { spec = 1 }
	/"links"/ { spec = 0 }
	spec && $2 == "name" { rule = $4 }
	spec && $2 == "passed" && $3 ~ /false/ { failed = failed rule "," }
	$2 == "valid" && valid == "" { valid = $3 }
	$2 == "total" && total == "" { total = $3 }
	END {
		gsub(/[^0-9]/, "", tokens); gsub(/[^0-9]/, "", valid); gsub(/[^0-9]/, "", total)
		print name, level, tokens, failed == "" ? "-" : failed, valid, total
	}')"
	is "corpus: $path" "$name $level $tokens $failed $valid $total" "$got"
done <"$top/test/suite/skills.tab"
run "$WAZA" check --format json corpus
is 'corpus: no error of the program' 1 "$rc"
is 'corpus: nothing on stderr' '' "$err"
done_testing
