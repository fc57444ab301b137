# waza tokens: counts, limits, revisions, profiles and suggestions.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1

# words N: that many words of five bytes
words() {
	awk -v n="$1" 'BEGIN { for (i = 0; i < n; i++) printf "%04d ", (i * 7919) % 9973 }'
}

# skill DIR N: a skill with N more words
skill() {
	mkdir -p "$1/references"
	{ printf -- '---\nname: %s\ndescription: d\n---\n## A\n\n1. go\n' "${1##*/}"
	  words "$2"; } >"$1/SKILL.md"
	printf 'reference\n' >"$1/references/one.md"
}

mkdir p && cd p || exit 1
skill skills/small 10
skill skills/large 500
printf 'x\n' >Notes.MDX
printf 'x\n' >notes.txt
mkdir -p node_modules/a dist .git2
printf 'x\n' >node_modules/a/README.md
printf 'x\n' >dist/README.md

# count
run "$WAZA" tokens count
is 'count: the table' 'File                              Tokens     Chars   Lines
----------------------------------------------------------
Notes.MDX                              1         2       1
skills/large/SKILL.md                637      2547       8
skills/large/references/one.md         3        10       1
skills/small/SKILL.md                 25        97       8
skills/small/references/one.md         3        10       1
----------------------------------------------------------
Total                                669      2666      19

5 file(s) scanned (estimate, one token for 4 bytes)' "$out"
is 'count: exit 0' 0 "$rc"
run "$WAZA" tokens count --sort tokens --no-total skills/small
is 'count: by tokens, without a total' 'skills/small/SKILL.md skills/small/references/one.md' \
    "$(printf '%s\n' "$out" | awk 'NR > 2 { print $1 }' | xargs)"
run "$WAZA" tokens count --sort=name
is 'count: by name' 'Notes.MDX one.md one.md SKILL.md SKILL.md' \
    "$(printf '%s\n' "$out" | awk '/\.(md|MDX)/ { sub(".*/", "", $1); print $1 }' | xargs)"
run "$WAZA" tokens count --format json --min-tokens 30 small
is 'count: the name of a skill, files that are large enough' '{} 0 0 estimate' \
    "$("$WAZA" parse - <<EOT | tr -d '\n ' | sed 's/.*"tokenizer":"\([a-z]*\)","totalTokens":\([0-9]*\),"totalFiles":\([0-9]*\),"files":{}}/{} \3 \2 \1/'
$out
EOT
)"
run "$WAZA" tokens count "$PWD/skills/small/SKILL.md" --format json
like 'count: an absolute path is shown from here' '*"skills/small/SKILL.md": {*' "$out"
run "$WAZA" tokens count notes.txt
like 'count: a file that is named may have any ending' '*notes.txt *1 file(s) scanned*' "$out"
run "$WAZA" tokens count node_modules dist
like 'count: a directory that is named is searched' '*2 file(s) scanned*' "$out"
run "$WAZA" tokens count .git2
is 'count: nothing found' 'No Markdown files found.' "$out"
run "$WAZA" tokens count no/such
is 'count: a missing path' '2 waza: no/such: No such file or directory; check the path' "$rc $err"
run "$WAZA" tokens count smal
like 'count: an unknown skill' '2 waza: finding skill "smal": not found in workspace*did you mean "small"*' "$rc $err"
run "$WAZA" tokens count --format json --sort name
is 'count: --sort is for tables' '2 waza: --sort is only supported with table output' "$rc $err"
run "$WAZA" tokens count --tokenizer tiktoken
is 'an unknown tokenizer' '2 waza: --tokenizer must be estimate or bpe, not "tiktoken"' "$rc $err"
run "$WAZA" tokens count --tokenizer bpe
like 'bpe needs a vocabulary' '2 waza: --tokenizer bpe needs a vocabulary*--vocab FILE*' "$rc $err"
run "$WAZA" tokens count --format github skills/small/SKILL.md
is 'count: annotations' '::notice file=skills/small/SKILL.md,line=1::25 tokens' \
    "$(printf '%s\n' "$out" | sed -n 1p)"
run "$WAZA" tokens chekc
like 'an unknown subcommand' '2 *did you mean "check"*' "$rc $err"
run "$WAZA" tokens check --sort name
is 'an option of another subcommand' '2 waza: tokens check has no option --sort' "$rc $err"

# check
run "$WAZA" tokens check
is 'check: over the limit, exit 1' 1 "$rc"
is 'check: a heading for each skill, and the overrun' '─── large ───
File               Tokens  Limit  Status
--------------------------------------------------
SKILL.md              637    500  ❌ EXCEEDED
references/one.md       3   1000  ✅ OK
--------------------------------------------------

1/2 files within limits

⚠️  1 file(s) exceed their token limits:
   SKILL.md: 637 tokens (137 over limit of 500)

─── small ───
File               Tokens  Limit  Status
--------------------------------------------------
SKILL.md               25    500  ✅ OK
references/one.md       3   1000  ✅ OK
--------------------------------------------------

2/2 files within limits

counted by: estimate, one token for 4 bytes' "$out"
run "$WAZA" tokens check --quiet --strict
is 'check --quiet' '1 ' "$rc $out$err"
run "$WAZA" tokens check small
is 'check: one skill within limits' 0 "$rc"
run "$WAZA" tokens check --format json
like 'check: JSON of all skills' '{*"skills": \[*"skill": "large",*"exceededCount": 1,*"pattern": "SKILL.md",*"exceeded": true*"skill": "small"*' "$out"
run "$WAZA" tokens check --format github
like 'check: annotations' '::error file=*skills/large/SKILL.md,line=1::637 tokens *137 over the limit of 500 for SKILL.md*' "$out"
printf '{"defaults": {"*.md": 700}, "overrides": {"SKILL.md": 640}}' >skills/large/.token-limits.json
run "$WAZA" tokens check large --format json
like 'check: .token-limits.json' '0 *"limit": 640,*"limit": 700,*' "$rc $out"
like 'check: it is deprecated' '*.token-limits.json is deprecated*' "$err"
printf 'tokens:\n  limits:\n    defaults:\n      skills/**/SKILL.md: 10\n      "*.md": 2\n' >.waza.yaml
run "$WAZA" tokens check --format json
like 'check: .waza.yaml takes precedence, with paths from its directory' \
    '1  *"limit": 10,*"pattern": "skills/\*\*/SKILL.md"*"limit": 2,*' "$rc $err $out"
printf 'tokens:\n  limits:\n    defaults:\n      "*.md": x\n' >.waza.yaml
run "$WAZA" tokens check
like 'check: bad limits are an error' '2*.waza.yaml:4:15: *' "$rc$err"
rm .waza.yaml skills/large/.token-limits.json

# hostile files
mkdir h && cd h || exit 1
ln -s / root.md
ln -s .. loop
ln -s /dev/zero zero.md
ln -s nowhere dangling.md
mkdir dir.md
mkfifo pipe.md
printf '\000\377\376' >binary.md
printf '::error::x\n' >'a
::error::b.md'
: >empty.md
run "$WAZA" tokens count
is 'links to directories, devices and pipes are not read' '3 file(s) scanned' \
    "$(printf '%s\n' "$out" | sed -n '/scanned/s/ (.*//p')"
is 'a name cannot print a command' '' "$(printf '%s\n' "$out" | grep '^::')"
run "$WAZA" tokens count pipe.md
is 'a pipe that is named is refused' 2 "$rc"
cd .. && rm -rf h
dd if=/dev/zero of=huge.md bs=1 count=1 seek=16777216 2>/dev/null
run "$WAZA" tokens count
like 'a file that is too large is an error' '2 waza: *huge.md: *' "$rc $err"
rm huge.md

# profile
run "$WAZA" tokens profile
like 'profile: a line for each skill' 'large: 637 tokens (minimal, *), 1 section, 0 code blocks, 1 numbered step*over the warning threshold of 500*small: 25 tokens*' "$out"
run "$WAZA" tokens profile small --format json
like 'profile: one skill is an object' '{*"name": "small",*"path": "SKILL.md",*"sections": 1,*"workflowSteps": 1,*"detailLevel": "minimal",*"fewer than 3 sections"*}' "$out"
run "$WAZA" tokens profile --format json
like 'profile: several are a list' '\[*' "$out"
run "$WAZA" tokens profile Notes.MDX
is 'profile: none' '0 No SKILL.md files found.' "$rc $out"

# suggest
{ printf '# T\n```sh\n'; words 3 | tr ' ' '\n'; printf '```\n'
  i=0; while [ $i -lt 14 ]; do echo "line $i"; i=$((i + 1)); done
  printf '```\n'; i=0; while [ $i -lt 14 ]; do echo "code $i"; i=$((i + 1)); done; printf '```\n'
  i=0; while [ $i -lt 12 ]; do echo "| $i | b |"; i=$((i + 1)); done
  printf '\n---\n***\n___\n---\n🎉🚀🎉\n'
  printf 'this is said two times.this is said two times.\n'; } >s.md
run "$WAZA" tokens suggest s.md --min-savings 0
is 'suggest: the rules' '1:Found 3 emojis (1 over recommended 2)
1:Found 4 horizontal rules
21:Code block with 14 lines (4 over 10)
37:Table with 12 rows (2 over 10)
55:Potential duplicate content detected' \
    "$(printf '%s\n' "$out" | sed -n 's/^  line \([0-9]*\): /\1:/p' | sort -n)"
run "$WAZA" tokens suggest s.md --format json
like 'suggest: JSON; small savings are left out' \
    '*"analyses": \[*"file": "s.md",*"line": 21,*"estimatedSavings": 64*"totalPotentialSavings": 88*' "$out"
like 'suggest: no emojis then' 'no' "$(case $out in *emojis*) echo yes ;; *) echo no ;; esac)"
run "$WAZA" tokens suggest large
like 'suggest: over the limit' '*File exceeds token limit (637/500)*' "$out"
run "$WAZA" tokens suggest --copilot
like 'suggest --copilot names its replacement' '2 waza: --copilot is not supported: use "waza quality*' "$rc $err"
yes 'abcdefghijklmnopqrstuvwxy' | head -n 40000 >repeat.md
run "$WAZA" tokens suggest repeat.md --format json
like 'suggest: a long file of repeats' '0 *"line": 1,*duplicate*' "$rc $out"
rm -f repeat.md s.md

# compare
if ! command -v git >/dev/null
then
	skip 'git is not installed'
	done_testing
fi
mkdir nogit
run env PATH="$tmp/p/nogit" "$WAZA" tokens compare
is 'compare: without git' '2 waza: git is not installed (not found in PATH); tokens compare needs it' "$rc $err"
GIT_CEILING_DIRECTORIES=$tmp GIT_CONFIG_NOSYSTEM=1 HOME=$tmp
export GIT_CEILING_DIRECTORIES GIT_CONFIG_NOSYSTEM HOME
run "$WAZA" tokens compare
like 'compare: outside of a repository' '2 waza: not a git repository; *' "$rc $err"
git init -q . && git config user.name t && git config user.email t
run "$WAZA" tokens compare --format json
like 'compare: a repository without a commit' '0 *"baseRef": "HEAD",*"headRef": "WORKING",*"filesAdded": 7,*' "$rc $out"
git add . && git commit -qm 1 && git tag one
run "$WAZA" tokens compare
is 'compare: no changes' '0 No token changes from HEAD to WORKING.' \
    "$rc $(printf '%s\n' "$out" | sed -n 1p)"
words 10 >>skills/small/SKILL.md
printf 'new file\n' >'ü b.md'
rm skills/large/references/one.md
run "$WAZA" tokens compare
is 'compare: the table' 'HEAD -> WORKING

  File                              Before     After      Diff   Change
-----------------------------------------------------------------------
- skills/large/references/one.md         3         -        -3  -100.0%
~ skills/small/SKILL.md                 25        37       +12   +48.0%
+ ü b.md                                 -         3        +3  +100.0%
-----------------------------------------------------------------------
  Total                                671       683       +12    +1.8%

1 added, 1 removed, 1 modified; 2 increased, 1 decreased
counted by: estimate, one token for 4 bytes' "$out"
run "$WAZA" tokens compare --threshold 48
is 'compare: at the threshold' 0 "$rc"
run "$WAZA" tokens compare --threshold 47.9
like 'compare: over the threshold' '1 *small/SKILL.md: modified: 25 -> 37 tokens (+48.0%), more than the threshold of 47.9%*' "$rc $out"
run "$WAZA" tokens compare --strict --format json --show-unchanged
like 'compare --strict: over the limit' '1 *"passed": false,*"exceededCount": 1*"limit": 500,*"exceeded": true*' "$rc $out"
git add . && git commit -qm 2
run "$WAZA" tokens compare one HEAD --format json
like 'compare: two revisions' '0 *"totalDiff": 12,*"file": "skills/large/references/one.md",*"after": null,*"status": "removed"*"file": "ü b.md",*"before": null,*"characters": 9,*' "$rc $out"
run "$WAZA" tokens compare one --skills --format json
like 'compare --skills: only skills' '0 *"filesAdded": 0,*"filesRemoved": 0,*"filesModified": 1,*' "$rc $out"
run "$WAZA" tokens compare none
is 'compare: an unknown revision' '2 waza: git knows no commit "none"' "$rc $err"
run "$WAZA" tokens compare -- --output=x
is 'compare: a revision is not an option' '2 waza: "--output=x" is not a revision' "$rc $err"
printf '#!/bin/sh\n: >"%s/ran"\n' "$tmp" >"$tmp/evil"
chmod +x "$tmp/evil"
git config core.fsmonitor "$tmp/evil"
git config diff.external "$tmp/evil"
run "$WAZA" tokens compare one
is 'compare: programs of the repository are not started' '0 no' \
    "$rc $([ -e "$tmp/ran" ] && echo yes || echo no)"
cd skills || exit 1
run "$WAZA" tokens compare one --format json
like 'compare: in a subdirectory, its files' '0 *"file": "large/references/one.md"*' "$rc $out"
cd .. || exit 1

# a vocabulary
{ awk 'BEGIN {
	a = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for (i = 0; i < 256; i++)
		printf "%s%s== %d\n", substr(a, int(i / 4) + 1, 1), substr(a, i % 4 * 16 + 1, 1), i
  }'
  echo 'YWI= 256'; echo 'IGFi 257'; } >my-o200k_base.tiktoken
printf 'ab ab abab' >ab.md
run "$WAZA" tokens count --vocab my-o200k_base.tiktoken ab.md
like 'bpe: the tokens of a vocabulary' '*ab.md  *4  *10  *1 file(s) scanned (o200k_base)' "$out"
printf 'tokens: {vocab: my-o200k_base.tiktoken}\n' >.waza.yaml
run "$WAZA" tokens count ab.md --format json
like 'bpe: tokens.vocab' '*"tokenizer": "bpe",*"encoding": "o200k_base",*"totalTokens": 4,*' "$out"
run "$WAZA" tokens count ab.md --tokenizer estimate
like 'bpe: --tokenizer estimate takes precedence' '*ab.md *3 *(estimate, *' "$out"
printf 'tokens: {vocab: %s/my-o200k_base.tiktoken}\n' "$tmp/p" >.waza.yaml
run "$WAZA" tokens count ab.md
like 'bpe: a path of an untrusted project is ignored' '*tokens.vocab is ignored*' "$err"
echo 'YWI= x' >bad-cl100k_base.tiktoken
run "$WAZA" tokens count --vocab bad-cl100k_base.tiktoken ab.md
is 'bpe: a bad vocabulary, with its place' \
    '2 waza: bad-cl100k_base.tiktoken:1:6: the rank is not a number below 2^27' "$rc $(printf '%s\n' "$err" | tail -n 1)"
cp my-o200k_base.tiktoken v.tiktoken
run "$WAZA" tokens count --vocab v.tiktoken ab.md
like 'bpe: the name says which encoding' '2 *v.tiktoken: the name of a vocabulary must contain that of its encoding, o200k_base or cl100k_base' "$rc $err"

# a file over the limit is named, and the others are counted
mkdir huge
dd if=/dev/zero bs=1048576 count=17 2>/dev/null | tr '\0' a >huge/big.md
echo hello >huge/small.md
run "$WAZA" tokens count huge
is 'a file over 16 MiB: status' 2 "$rc"
like 'a file over 16 MiB: named' '*big.md: larger than 16777216 bytes*' "$err"
like 'a file over 16 MiB: the others are counted' '*small.md*Total*1 file(s) scanned*' "$out"
rm -r huge
done_testing
