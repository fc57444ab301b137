# Skills in the workspace, where an agent finds them, and evidence of their use.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp bin home
TMPDIR=$tmp/tmp HOME=$tmp/home
export TMPDIR HOME

# skill DIR NAME DESCRIPTION
skill() {
	mkdir -p "$1"
	printf -- '---\nname: %s\ndescription: %s\n---\nBody of %s.\n' "$2" "$3" "$2" >"$1/SKILL.md"
}
skill skills/greet greet 'How to greet'
skill skills/bake bake 'How to bake'
skill own/dance dance 'How to dance'
mkdir skills/greet/scripts
printf '#!/bin/sh\necho ran\n' >skills/greet/scripts/run.sh
chmod +x skills/greet/scripts/run.sh
ln -s /etc/passwd skills/greet/link
mkdir -p fixtures
echo given >fixtures/given.txt

# an agent that lists what it finds, then answers as $SAY says
cat >bin/claude <<'SH'
#!/bin/sh
cat >>"$ASKED"
find . -type f | sort >"$ASKED.found"
ls -a . >"$ASKED.top"
{ [ -x .claude/skills/greet/scripts/run.sh ] && echo executable; } >"$ASKED.mode"
(git rev-parse --show-toplevel; pwd -P) >"$ASKED.git" 2>&1
[ -z "$DO" ] || eval "$DO"
[ ! -e "$ASKED.say" ] || cat "$ASKED.say"
[ -n "$QUIET" ] || echo '{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"done"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":1}}'
SH
for a in codex gemini opencode copilot
do printf '#!/bin/sh\nfind . -type f | sort >"$ASKED.found"\nexit 1\n' >bin/$a
done
chmod +x bin/*
ASKED=$tmp/asked PATH=$tmp/bin:$PATH
export ASKED PATH

# call NAME INPUT [ERROR]: a call of a tool, as claude reports it
call() {
	id=$(printf '%s' "$*" | cksum | tr ' ' -)
	echo "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"$id\",\"name\":\"$1\",\"input\":$2}]}}"
	echo "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"$id\",\"content\":\"x\"${3:+,\"is_error\":true}}]}}"
}
# suite CONFIG [TASK]
suite() {
	cat <<YAML
name: e
skill: greet
config: {executor: claude, timeout_seconds: 300, skill_directories: [skills]${1:+, $1}}
tasks:
  - id: a
    prompt: Say hello
    inputs: {files: [{path: given.txt}]}
    ${2:-tags: [x]}
    graders:
      - {name: files, type: file, config: {must_exist: [given.txt], must_not_exist: [.claude/skills/greet/SKILL.md, .claude, .git]}}
YAML
}
# ask CONFIG [TASK] [OPTION...]
ask() {
	suite "$1" "${2-}" >e.yaml
	shift; [ $# -eq 0 ] || shift
	: >asked
	rm -f asked.*.old
	run "$WAZA" run -q -o r.json "$@" e.yaml
	"$WAZA" parse r.json >r
}
has() {
	like "$1" "*$2*" "$(cat r)"
}

DO=
export DO
ask '' 'skill_directories: [own]'
is 'native: status 0, and graders do not see the skills' 0 "$rc"
is 'native: the agent finds all files of the skills' './.claude/skills/bake/SKILL.md ./.claude/skills/dance/SKILL.md ./.claude/skills/greet/SKILL.md ./.claude/skills/greet/scripts/run.sh ./.git/HEAD ./.git/config ./given.txt ' \
    "$(tr '\n' ' ' <asked.found)"
is 'native: scripts are executable' executable "$(cat asked.mode)"
is 'native: the agent gets the plain prompt' '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Say hello"}]}}' "$(cat asked)"
has 'native: the results name the way' '"skills_way":"native"'
has 'native: no skill was used' '"skills":\[\]'
if command -v git >/dev/null
then is 'native: git takes the workspace as a repository' 1 "$(sort -u asked.git | grep -c .)"
else skip 'git is not installed'
fi
is 'native: no files are left' '' "$(ls tmp)"
ask '' 'skill_directories: [own]' --keep-workspace --record rec
is 'a kept workspace does not contain the skills' 'given.txt' "$(cd tmp/waza-*/1-1-1 && find . -type f | sed 's,^./,,')"
is 'a recording does not contain the skills' 1 "$(grep -c '"files":\[{"path":"given.txt","content":"given\\n"}\]' rec/*)"
rm -rf tmp/waza-* rec
DO='echo new >out.txt'
ask ''
has "the patch contains the agent's files" 'b/out.txt'
is 'the patch does not contain the skills' '' "$(grep -o '[ab]/.claude' r)"
DO=
ask 'disabled_skills: [bake]'
is 'disabled skills are not placed' './.claude/skills/greet/SKILL.md' "$(grep SKILL.md asked.found)"
ask '' '' --no-skills
is '--no-skills: none is placed' '' "$(grep SKILL asked.found)"
is '--no-skills: the workspace is still a repository' ./.git/HEAD "$(grep HEAD asked.found)"
has '--no-skills: the results say so' '"skills_way":"none"'
ask 'skills: prompt'
is 'skills: prompt: none is placed' '' "$(grep SKILL asked.found)"
like 'skills: prompt: the prompt contains them' '*You have these skills*Body of greet*' "$(cat asked)"
has 'skills: prompt: the results name the way' '"skills_way":"prompt"*"note":"skills were given in the prompt"'
ask 'skills: telepathy'
is 'skills: an unknown value: status 2' 2 "$rc"
like 'skills: an unknown value: message' '*e.yaml:3:*"skills" must be one of native, prompt*' "$err"

# the suite beside the SKILL.md is not for the agent
mkdir -p one/evals/fixtures one/.git
skill one one 'With its suite'
echo key >one/evals/answers.txt
echo x >one/.git/HEAD
sed 's/skill_directories: .skills./skill_directories: [..]/; /inputs: /d; s/must_exist: .given.txt., //' e.yaml |
    sed 's/, skills: telepathy//' >one/evals/eval.yaml
run "$WAZA" run -q one/evals/eval.yaml
is 'a suite in the skill is not placed' '0 ./.claude/skills/one/SKILL.md ./.git/HEAD ./.git/config ' "$rc $(tr '\n' ' ' <asked.found)"

# files of the task win
cat >w.yaml <<'YAML'
name: e
skill: greet
config: {executor: claude, skill_directories: [skills]}
tasks:
  - id: a
    prompt: Say hello
    inputs: {files: [{path: .claude/skills/greet/SKILL.md, content: mine}, {path: .claude/settings.json, content: "{}"}]}
    graders: [{name: f, type: file, config: {must_exist: [.claude/skills/greet/SKILL.md, .claude/settings.json], must_not_exist: [.claude/skills/bake]}}]
YAML
DO='cat .claude/skills/greet/SKILL.md >"$ASKED.mine"'
run "$WAZA" run -q -o r.json w.yaml
"$WAZA" parse r.json >r
is 'a skill of the workspace stays and wins' '0 mine' "$rc $(cat asked.mine)"
has 'a skill of the workspace: note' '"note":"the workspace has its own skill \\"greet\\""'

# what the agent leaves there
DO='mkdir -p .claude/skills/bake/__pycache__ .claude/skills/new; echo x >.claude/skills/bake/__pycache__/a; echo y >.claude/skills/new/SKILL.md; chmod 0 .claude/skills/bake'
sed 's/, .claude, .git\]/, .claude\/skills\/bake, .git], must_exist: [.claude\/skills\/new\/SKILL.md]/; s/must_exist: .given.txt., //' e.yaml | sed 's/, skills: telepathy//' >n.yaml
run "$WAZA" run -q n.yaml
is 'new files of the agent stay, those in placed skills do not' 0 "$rc"
# an agent that makes everything read-only; the superuser would not notice
DO='chmod -R a-w .'
suite '' >ro.yaml
as=
chmod 777 . tmp home
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups test -x "$WAZA" -a -x bin/claude 2>/dev/null
then as='setpriv --reuid 65534 --clear-groups'
fi
run $as "$WAZA" run -q ro.yaml
is 'skills in read-only directories are removed' 0 "$rc"
mkdir -p elsewhere/skills/greet
echo precious >elsewhere/skills/greet/SKILL.md
DO='rm -rf .claude; ln -s "$ELSEWHERE" .claude'
ELSEWHERE=$tmp/elsewhere
export ELSEWHERE
run "$WAZA" run -q n.yaml
is 'nothing is removed through a link' precious "$(cat elsewhere/skills/greet/SKILL.md)"
DO='git init -q . && git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x'
if command -v git >/dev/null
then
	sed 's/must_not_exist: .*/must_exist: [.git\/HEAD]}}/' n.yaml >g.yaml
	run "$WAZA" run -q g.yaml
	is 'a repository that the agent has used stays' 0 "$rc"
	DO='git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m x; git ls-files >"$ASKED.committed"'
	run "$WAZA" run -q g.yaml
	is 'the agent does not commit the skills' '0 given.txt' "$rc $(cat asked.committed)"
	git init -q repo && (cd repo && echo x >x && git add x && git -c user.name=a -c user.email=a@b commit -q -m x)
	cat >repo.yaml <<'YAML'
name: e
skill: greet
config: {executor: claude, skill_directories: [skills]}
tasks:
  - id: a
    prompt: Say hello
    inputs: {repos: [{source: repo, dest: .}]}
    graders: [{name: p, type: program, config: {command: sh, args: [-c, 'cd "$WAZA_WORKSPACE_DIR" && test -z "$(git status --porcelain)" && ! grep -q claude .git/info/exclude']}}]
YAML
	DO='git status --porcelain >"$ASKED.status"; git add -A; git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x; git ls-files >"$ASKED.committed"'
	run "$WAZA" run -o r.json repo.yaml
	is "the agent does not commit the skills to the task's repository" '0 x' "$rc $(cat asked.committed)"
	is 'git status does not show the skills' '' "$(cat asked.status)"
	# patterns of the user, whose place the file takes
	printf '*.swp\n' >home/ignored
	printf '[user]\n\tname = a\n[Core]\n\texcludesFile = ~/ignored\n' >home/.gitconfig
	DO=">a.swp; $DO"
	run "$WAZA" run -o r.json repo.yaml
	is "the user's own patterns still hold" '0 x' "$rc $(cat asked.committed)"
	mkdir -p home/.config/git
	mv home/ignored home/.config/git/ignore
	rm home/.gitconfig
	run "$WAZA" run -o r.json repo.yaml
	is "and those in git's own place" '0 x' "$rc $(cat asked.committed)"
	rm -r home/.config
	# a fixture with a link to a repository elsewhere, as worktrees have it
	git -C repo worktree add -q ../tree >/dev/null 2>&1
	cp repo/.git/info/exclude exclude.before 2>/dev/null || : >exclude.before
	cat >tree.yaml <<YAML
name: e
skill: greet
config: {executor: claude, skill_directories: [skills]}
tasks:
  - id: a
    prompt: Say hello
    inputs: {files: [{path: x, content: "x\\n"}, {path: .git, content: "$(cat tree/.git)\\n"}]}
    graders: [{name: f, type: file, config: {must_exist: [x], must_not_exist: [.claude]}}]
YAML
	DO='git add -A --dry-run >"$ASKED.committed" 2>&1; git rev-parse --git-common-dir >"$ASKED.common"; git status --porcelain >"$ASKED.status"; GIT_CONFIG_PARAMETERS= git status --porcelain >"$ASKED.bare"'
	run "$WAZA" run -o r.json tree.yaml
	is 'a worktree: git does not see the skills' '0  ' "$rc $(cat asked.committed) $(cat asked.status)"
	is "a worktree: it is the user's repository" "$(cd repo/.git && pwd -P)" "$(cat asked.common)"
	is 'a worktree: without the patterns it would' '?? .claude/' "$(cat asked.bare)"
	is "a worktree: the user's repository is not changed" "$(cat exclude.before)" "$(cat repo/.git/info/exclude 2>/dev/null)"
	git -C repo worktree remove --force ../tree
	# git init below the root of the workspace
	sed 's/^    graders.*/    graders: [{name: f, type: file, config: {must_exist: [sub\/x]}}]/; s/inputs: .*/inputs: {files: [{path: sub\/x, content: x}], workdir: sub}/' repo.yaml >sub.yaml
	DO='git init -q .; git add -A; git ls-files >"$ASKED.committed"'
	run "$WAZA" run -o r.json sub.yaml
	is 'a repository in the working directory: the skills are hidden' '0 x' "$rc $(cat asked.committed)"
else
	skip 'git is not installed'
fi
DO=

# where each agent looks
for a in codex gemini opencode copilot-cli
do
	sed "s/executor: claude/executor: $a/" n.yaml >a.yaml
	"$WAZA" run -q -o r.json a.yaml >/dev/null 2>&1
	is "$a: .agents/skills" './.agents/skills/bake/SKILL.md ./.agents/skills/greet/SKILL.md' "$(grep SKILL asked.found | tr '\n' ' ' | sed 's/ $//')"
done

# workdir
cat >d.yaml <<'YAML'
name: e
skill: greet
config: {executor: claude, skill_directories: [skills]}
tasks:
  - id: a
    prompt: Say hello
    inputs: {files: [{path: sub/x, content: x}], workdir: sub}
    graders: [{name: f, type: file, config: {must_exist: [sub/x], must_not_exist: [sub/.claude, .git, .claude]}}]
YAML
run "$WAZA" run -q d.yaml
is 'workdir: the skills are in the working directory' '0 ./.claude/skills/bake/SKILL.md' "$rc $(grep bake asked.found)"

# skills of the account
skill home/.claude/skills/other other 'Not of the suite'
cat >bin/claude.args <<'SH'
for a
do printf '%s\n' "$a"
done >"$ASKED.args"
SH
sed -i.old '1r bin/claude.args' bin/claude && rm bin/claude.old bin/claude.args
ask ''
is 'home: claude leaves out skills of the account' '--settings={"skillOverrides":{"other":"off"}}' "$(grep settings asked.args)"
is 'home: claude: no warning' '0 0' "$rc $(printf '%s\n' "$err$out" | grep -c 'of your account')"
is 'home: claude: nothing in the notes' '' "$(grep -o 'of the account' r)"
ask '' '' --no-skills
is 'home: also without the skills of the suite' 1 "$(grep -c settings asked.args)"
sed 's/skill_directories: .skills.//; s/, *}/}/' e.yaml >noskill.yaml
run "$WAZA" run -q noskill.yaml
is 'home: a suite without skills gets the agent as it is' 0 "$(grep -c settings asked.args)"
ask 'args: [--settings=own.json]'
is "home: the user's own setting stays" '--settings=own.json' "$(grep settings asked.args)"
like 'home: a warning names foreign skills' "*the agent also finds 1 skill of your account ($tmp/home/.claude/skills/other): set \"home: private\"*" "$err$out"
has 'home: so do the results' "\"note\":\"the agent also finds 1 skill of the account ($tmp/home/.claude/skills/other)\""
ask 'args: [--settings=own.json], trials_per_task: 3'
is 'home: one warning per run' 1 "$(printf '%s\n' "$err$out" | grep -c 'of your account')"
ask 'args: [--settings=own.json], home: private'
is 'home: private: no warning' 0 "$(printf '%s\n' "$err$out" | grep -c 'of your account')"
ask 'home: private'
is 'home: private: nothing to hide' 0 "$(grep -c settings asked.args)"
skill home/.claude/skills/greet greet 'How to greet'
cp skills/greet/SKILL.md home/.claude/skills/greet
ask ''
is 'home: the same skill is allowed, and not hidden' '0 --settings={"skillOverrides":{"other":"off"}}' "$rc $(grep settings asked.args)"
echo old >>home/.claude/skills/greet/SKILL.md
: >asked
ask ''
is 'home: another version of a skill is an error' '1 ' "$rc $(cat asked)"
has 'home: another version: message' "$tmp/home/.claude/skills/greet is another version of skill*home: private*\"error_class\":\"infrastructure\""

# the setting of each agent
cat >bin/codex <<'SH'
#!/bin/sh
for a
do printf '%s\n' "$a"
done >"$ASKED.args"
env >"$ASKED.env"
cat .gemini/settings.json >"$ASKED.gemini" 2>&1
eval "$DO"
exit 1
SH
for a in gemini opencode qwen copilot
do cp bin/codex bin/$a
done
for d in .agents .gemini
do skill "home/$d/skills/old" 'the "old" one' 'Not of the suite'
done
skill home/.agents/skills/greet greet 'Another version'
# told EXECUTOR [CONFIG]: runs it; sets $err and files
told() {
	sed "s/executor: claude/executor: $1${2:+, $2}/" n.yaml >a.yaml
	run "$WAZA" run -q -o r.json a.yaml
	"$WAZA" parse r.json >r
}
told codex
is 'codex leaves them out by their paths' "skills.config=[{\"path\"=\"$tmp/home/.agents/skills/greet/SKILL.md\",\"enabled\"=false},{\"path\"=\"$tmp/home/.agents/skills/old/SKILL.md\",\"enabled\"=false}]" "$(grep skills.config asked.args)"
is 'codex: another version of a skill is left out, too' 0 "$(printf '%s\n' "$err" | grep -c 'your account\|another version')"
rm -r home/.agents/skills/greet
rm -r home/.claude
told opencode
is 'opencode leaves them out by permissions' 'OPENCODE_PERMISSION={"skill":{"*":"allow","the \"old\" one":"deny"}}' "$(grep OPENCODE_PERMISSION asked.env)"
told opencode 'permissions: [read]'
like 'opencode: with other permissions' '*"skill":{"\*":"allow","the \\"old\\" one":"deny"},"edit":"deny"*' "$(grep OPENCODE_PERMISSION asked.env)"
OPENCODE_PERMISSION='{"bash":"deny"}' told opencode
is "opencode: the user's own permissions stay" 'OPENCODE_PERMISSION={"bash":"deny"}' "$(grep OPENCODE_PERMISSION asked.env)"
like 'opencode: then a warning names the skills' '*also finds 1 skill of your account*' "$err"
told gemini
is 'gemini leaves them out by a file' '{"skills":{"disabled":["the \"old\" one","the \"old\" one"]}}' "$(cat asked.gemini)"
is 'gemini: no warning' 0 "$(printf '%s\n' "$err" | grep -c 'your account')"
is 'gemini: the file is not in the patch' 0 "$(grep -c gemini/settings r)"
sed 's/given.txt}/.gemini\/settings.json, content: "{}"}/' n.yaml >own.yaml
sed "s/executor: claude/executor: gemini/" own.yaml >a.yaml
run "$WAZA" run -q -o r.json a.yaml
is "gemini: the task's own file stays" '{}' "$(cat asked.gemini)"
like 'gemini: then a warning names the skills' '*also finds 2 skills of your account*' "$err"
DO='echo changed >.gemini/settings.json' told gemini
like 'gemini: a file that the agent has written is its own' '*b/.gemini/settings.json*+changed*' "$("$WAZA" parse r.json)"
for a in qwen copilot-cli
do
	told $a
	like "$a cannot be told: a warning" "*the agent also finds 1 skill of your account ($tmp/home/.agents/skills/old)*" "$err"
	has "$a cannot be told: a note" 'the agent also finds 1 skill of the account'
done
if command -v git >/dev/null
then
	DO='git init -q .; git add -A; git ls-files >"$ASKED.committed"' told gemini
	is 'gemini does not commit placed files' given.txt "$(cat asked.committed)"
	DO='git init -q .; git add -A; git ls-files >"$ASKED.committed"' told opencode
	is 'opencode does not commit placed files' given.txt "$(cat asked.committed)"
else
	skip 'git is not installed'
fi

# limits
mkdir skills/bake/many
i=0
while [ $i -lt 5001 ]
do : >skills/bake/many/$i; i=$((i + 1))
done
ask ''
is 'too many files: status 1' 1 "$rc"
has 'too many files: message' 'the skills are too large to copy them into a workspace: more than 5000 files or 64 MiB'
rm -rf skills/bake/many

# used CALLS...: runs with these calls of claude; prints skills and others
used() {
	for line
	do printf '%s\n' "$line"
	done >asked.say
	ask ''
	rm asked.say
	echo "$(grep -o '"skills":[^]]*]' r | tail -n 1) $(grep -o '"other_skills":[^]]*]' r)"
}
is 'evidence: a successful call' '"skills":["greet"] ' "$(used "$(call Skill '{"skill":"greet"}')")"
QUIET=1; export QUIET
is 'evidence: only a result, without messages, tells nothing' ' ' "$(used '')"
unset QUIET
is 'evidence: an event that cannot be read may have been a use' ' ' "$(used '{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Skill","inp')"
is 'evidence: a failed call does not count' '"skills":[] ' "$(used "$(call Skill '{"skill":"greet"}' error)")"
is 'evidence: a second, successful call counts, each skill once' '"skills":["greet","bake"] ' \
    "$(used "$(call Skill '{"skill":"greet"}' error)" "$(call Skill '{"skill":"greet"}')" "$(call Skill '{"skill":"bake"}')" "$(call Skill '{"skill":"greet"}')")"
is 'evidence: built-in skills are listed apart' '"skills":["bake"] "other_skills":["review"]' \
    "$(used "$(call Skill '{"skill":"review"}')" "$(call Skill '{"skill":"bake"}')")"
is 'evidence: reading the SKILL.md' '"skills":["greet"] ' "$(used "$(call Read '{"file_path":".claude/skills/greet/SKILL.md"}')")"
is 'evidence: a failed read does not count' '"skills":[] ' "$(used "$(call Read '{"file_path":".claude/skills/greet/SKILL.md"}' error)")"
is 'evidence: reading another file does not count' '"skills":[] ' \
    "$(used "$(call Read '{"file_path":"given.txt"}')" "$(call Write '{"file_path":".claude/skills/greet/SKILL.md","content":""}')")"
is 'evidence: reading a SKILL.md elsewhere does not count' '"skills":[] ' \
    "$(used "$(call Read "{\"file_path\":\"$tmp/skills/greet/SKILL.md\"}")" "$(call Bash '{"command":"cat ~/.claude/skills/greet/SKILL.md"}')")"
is 'evidence: a shell command' '"skills":["greet","bake"] ' \
    "$(used "$(call Bash '{"command":"sed -n 1,20p \"./.claude/skills/greet/SKILL.md\" | head"}')" "$(call Bash '{"command":"cd .claude/skills/bake && cat SKILL.md"}')")"
# shell CALL: the skills that a command of the shell uses
shell() {
	used "$(call Bash "{\"command\":\"$1\"}")"
}
is 'evidence: a skill that the command only lists does not count' '"skills":["bake"] ' \
    "$(shell 'ls .claude/skills/greet; cat .claude/skills/bake/SKILL.md')"
for c in 'ls -l .claude/skills/greet/SKILL.md' 'find .claude/skills/greet -name SKILL.md' 'echo x > .claude/skills/greet/SKILL.md' \
    'if [ -f .claude/skills/greet/SKILL.md ]; then echo yes; fi' 'cat .claude/skills/greet/NOSKILL.md'
do is "evidence: no read: $c" '"skills":[] ' "$(shell "$c")"
done
for c in 'cd .claude/skills && cat greet/SKILL.md' 'cat $PWD/.claude/skills/greet/SKILL.md 2>/dev/null' 'for d in .claude/skills/greet; do cat $d/SKILL.md; done' \
    "python3 -c \\\"print(open('.claude/skills/greet/SKILL.md').read())\\\""
do is "evidence: a read: $c" '"skills":["greet"] ' "$(shell "$c")"
done
DO='rm -rf .claude'
is 'evidence: a file that the agent has read and removed' '"skills":["greet"] ' "$(used "$(call Read '{"file_path":".claude/skills/greet/SKILL.md"}')")"
DO=

skill home/.claude/skills/other other 'Not of the suite'
is 'evidence: a skill of the account is listed apart' '"skills":[] "other_skills":["other"]' "$(used "$(call Skill '{"skill":"other"}')")"
is 'evidence: reading one, too' '"skills":["greet"] "other_skills":["other"]' \
    "$(used "$(call Read "{\"file_path\":\"$tmp/home/.claude/skills/other/SKILL.md\"}")" "$(call Skill '{"skill":"greet"}')")"
call Skill '{"skill":"other"}' >asked.say
sed 's/, skill_directories: .skills.//' e.yaml >noskill.yaml
run "$WAZA" run -q -o r.json noskill.yaml
is 'evidence: also in a suite without skills' '"skills":[] "other_skills":["other"]' \
    "$("$WAZA" parse r.json | grep -o '"skills":[^]]*]' | tail -n 1) $("$WAZA" parse r.json | grep -o '"other_skills":[^]]*]')"
rm -rf asked.say home/.claude

# names that do not fit a directory
mkdir odd && odd=$tmp/odd
skill "$odd/br" '"[br]*"' 'Pattern'
skill "$odd/up" '"../../up"' 'Upwards'
skill "$odd/nl" '"a\nb"' 'Two lines'
mkdir -p plain/evals
echo 'no name' >plain/SKILL.md
sed 's/\[skills\]/[odd, plain\/evals\/..]/; s/must_not_exist: .*/must_exist: [given.txt]}}/' n.yaml >odd.yaml
if command -v git >/dev/null
then
	DO='git init -q . && git add -A && git -c user.name=a -c user.email=a@b commit -q -m x; git ls-files >"$ASKED.committed"'
	run "$WAZA" run -q odd.yaml
	is 'odd names: the agent does not commit the skills' '0 given.txt' "$rc $(cat asked.committed)"
else
	DO=
	"$WAZA" run -q odd.yaml >/dev/null
fi
is 'odd names: each skill has a directory' '[br]* nl plain up ' "$(sed -n 's,^./.claude/skills/\(.*\)/SKILL.md$,\1,p' asked.found | tr '\n' ' ')"
DO=

call Skill '{"skill":"review"}' >asked.say
sed '/must_not_exist/d' e.yaml >b.yaml
echo '      - {name: s, type: skill_invocation, config: {forbidden_skills: [review]}}' >>b.yaml
run "$WAZA" run -o r.json b.yaml
like 'a forbidden built-in skill is found' '1 *forbidden skills were used: "review"*' "$rc $out"
run "$WAZA" grade b.yaml --results r.json -o g.json
like 'also when the answer is graded again' '1 *forbidden skills were used: "review"*' "$rc $out"
rm asked.say

# the same from codex and opencode
cat >bin/codex <<'SH'
#!/bin/sh
# the question for the login
case $* in *app-server*) exit ;; esac
cat >/dev/null
echo '{"type":"thread.started","thread_id":"t"}'
echo "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"command_execution\",\"command\":\"/bin/bash -lc 'cat $PWD/.agents/skills/bake/SKILL.md'\",\"aggregated_output\":\"x\",\"exit_code\":0,\"status\":\"completed\"}}"
echo '{"type":"item.completed","item":{"id":"m","type":"agent_message","text":"done"}}'
echo '{"type":"turn.completed","usage":{"input_tokens":1,"output_tokens":1}}'
SH
cat >bin/opencode <<'SH'
#!/bin/sh
echo '{"type":"tool_use","part":{"callID":"c","tool":"skill","state":{"status":"error","input":{"name":"greet"},"error":"ripgrep execution failed"}}}'
echo '{"type":"text","part":{"text":"done"}}'
echo '{"type":"step_finish","part":{"reason":"stop"}}'
SH
sed 's/executor: claude/executor: codex/' e.yaml >c.yaml
run "$WAZA" run -q -o r.json c.yaml
is 'codex: reading the file is a use' '"skills":["bake"]' "$("$WAZA" parse r.json | grep -o '"skills":[^]]*]' | tail -n 1)"
sed 's/executor: claude/executor: opencode/' e.yaml >c.yaml
run "$WAZA" run -q -o r.json c.yaml
"$WAZA" parse r.json >r
is 'opencode without ripgrep: status 1' 1 "$rc"
has 'opencode without ripgrep: an infrastructure error' 'could not load skill*it needs `rg`*"error_class":"infrastructure"'

# an agent that speaks ACP
cat >acp.yaml <<YAML
name: e
skill: greet
config: {executor: acp, agent: gemini, command: ["$DOUBLES/double_acp"], skill_directories: [skills]}
tasks:
  - id: a
    prompt: "[[run:find . -name SKILL.md | sort | tee \$ASKED.found]] [[skill:greet]] [[say:done]]"
    graders: [{name: s, type: skill_invocation, config: {required_skills: [greet], mode: exact_match}}, {name: f, type: file, config: {must_not_exist: [.agents, .git]}}]
YAML
run "$WAZA" run -q -o r.json acp.yaml
is 'acp: the skill is found and used' '0 ./.agents/skills/bake/SKILL.md ./.agents/skills/greet/SKILL.md ' "$rc $(tr '\n' ' ' <asked.found)"
sed '/agent: gemini/s/agent: gemini, //' acp.yaml >own.yaml
run "$WAZA" run -q -o r.json own.yaml
"$WAZA" parse r.json >r
is 'acp: a command without a name: nothing is placed' '' "$(cat asked.found)"
has 'acp: a command without a name: the prompt' '"skills_way":"prompt"'

# skills of the account over ACP
skill home/.claude/skills/other other 'Not of the suite'
skill home/.agents/skills/old old 'Not of the suite'
for a in claude codex
do
	sed "s/agent: gemini/agent: $a/; s/prompt: .*/prompt: '[[run:printenv CODEX_CONFIG >\$ASKED.env || :]] [[say:done]]'/; /graders: /s/.*/    graders: [{name: t, type: text, config: {contains: [done]}}]/" acp.yaml >h.yaml
	run "$WAZA" run -q --record rec -o r.json h.yaml
	is "acp: $a: status, no warning" '0 0' "$rc $(printf '%s\n' "$err" | grep -c 'your account')"
	case $a in
	claude) is 'acp: claude leaves them out by the session' 1 "$(grep -c '_meta.*claudeCode.*options.*settings.*skillOverrides.*other.*off' rec/*)" ;;
	codex) is 'acp: codex leaves them out by a variable' "{\"skills\":{\"config\":[{\"path\":\"$tmp/home/.agents/skills/old/SKILL.md\",\"enabled\":false}]}}" "$(cat asked.env)" ;;
	esac
	rm -rf rec
done
CODEX_CONFIG='{}' run "$WAZA" run -q -o r.json h.yaml
like "acp: codex: the user's own variable stays, a warning names the skills" '{} *also finds 1 skill of your account*' "$(cat asked.env) $err"
rm -rf home/.claude home/.agents

# trigger tests with a real format
cat >trigger_tests.yaml <<'YAML'
skill: greet
should_trigger_prompts: [{prompt: hello}]
should_not_trigger_prompts: [{prompt: bread}]
YAML
cat >bin/claude <<'SH'
#!/bin/sh
prompt=$(cat)
find . -name SKILL.md | sort >"$ASKED.found"
case $prompt in
*hello*) s=greet ;;
*bread*) s=bake ;;
esac
echo "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"Skill\",\"input\":{\"skill\":\"$s\"}}]}}"
echo '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t","content":"Launching"}]}}'
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":1}}'
SH
ask ''
like 'triggers: claude has the skills and uses them' '*"recall":1*"confusion":\[{"expected":"greet","used":"greet","count":1},{"expected":null,"used":"bake","count":1}\]*' "$(cat r)"
is 'triggers: all skills are placed' 2 "$(grep -c SKILL asked.found)"
ask 'skills: prompt'
like 'triggers: skills in the prompt give no evidence' '*"trigger_metrics":{"skipped":2}*' "$(cat r)"
rm trigger_tests.yaml
cat >bin/claude <<'SH'
#!/bin/sh
cat >/dev/null
eval "$DO"
SH

# kill -9 leaves a directory that the next run removes
DO='echo $$ >"$ASKED.pid"; exec tail -f /dev/null'
suite '' >e.yaml
rm -f asked.pid
"$WAZA" run -q e.yaml >/dev/null 2>&1 &
pid=$!
wait_until 120 [ -s asked.pid ]
kill -9 "$pid"
wait "$pid" 2>/dev/null
kill "$(cat asked.pid)"
ok 'kill -9: the skills are still there' [ -n "$(find tmp -name SKILL.md)" ]
DO=
run "$WAZA" run -q e.yaml
is 'kill -9: the next run removes them' '' "$(ls tmp)"
done_testing
