# Skills and instructions for agents that do not find them themselves; HOME
# and TMPDIR of agents.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
mkdir tmp bin
TMPDIR=$tmp/tmp
export TMPDIR

# skill DIR NAME DESCRIPTION BODY
skill() {
	mkdir -p "$1"
	printf -- '---\nname: %s\ndescription: %s\n---\n%s\n' "$2" "$3" "$4" >"$1/SKILL.md"
}
skill greet greet 'How to greet' 'Always say "ahoy".'
skill many/bake bake 'How to bake' 'Use flour.'
skill many/cook cook 'How to cook' 'Use water.'
skill own/dance dance 'How to dance' 'Use feet.'
mkdir many/nothing

# an agent that prints what it was asked, in claude's words
cat >bin/claude <<'SH'
#!/bin/sh
cat >"$ASKED"
{ echo "HOME=$HOME TMPDIR=$TMPDIR XDG=${XDG_CONFIG_HOME-}"; ls -ld "$HOME/.cache" "$TMPDIR"; echo x >"$TMPDIR/litter"; echo y >"$HOME/.cache/warm"; } >"$ASKED.env" 2>&1
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":1}}'
SH
chmod +x bin/claude
ASKED=$tmp/asked PATH=$tmp/bin:$PATH
export ASKED PATH

# ask CONFIG [TASK] [OPTION...]: leaves $rc, what was asked in $said, r
ask() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: claude, timeout_seconds: 20${1:+, $1}}
tasks:
  - id: a
    prompt: Say hello
    ${2:-tags: [x]}
    expected: {output_contains: [done]}
YAML
	: >asked
	run "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json >r
	said=$(cat asked)
}
has() {
	like "$1" "*$2*" "$(cat r)"
}

ask
is 'none: status' 0 "$rc"
is 'none: the plain prompt' '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Say hello"}]}}' "$said"
ok 'none: no note' sh -c '! grep -q "\"note\"" r'
ask 'skill_directories: [greet]'
is 'one: status' 0 "$rc"
like 'one: the skill is before the prompt' '*"You have these skills*<skill name=\\"greet\\">\\nHow to greet\\n\\nAlways say \\"ahoy\\".\\n</skill>\\n\\nSay hello"*' "$said"
has 'one: said so' '"note":"skills were given in the prompt"'
has 'one: the prompt in the results is the task'"'"'s' '"prompt":"Say hello"'
ok 'one: that none was invoked means nothing' sh -c '! grep -q "\"skills\":\[\]" r'
ask 'skill_directories: [greet, many], required_skills: [cook]' 'skill_directories: [own]'
is 'many: status' 0 "$rc"
is 'many: all of them, in order' 'greet bake cook dance ' \
    "$(printf '%s' "$said" | grep -o 'skill name=..[a-z]*' | sed 's/.*"//' | tr '\n' ' ')"
ask 'skill_directories: [greet, many], disabled_skills: [bake]'
is 'disabled: the others' 'greet cook ' \
    "$(printf '%s' "$said" | grep -o 'skill name=..[a-z]*' | sed 's/.*"//' | tr '\n' ' ')"
ask 'skill_directories: [greet, many], disabled_skills: ["*"]'
like 'disabled: all' '*"text":"Say hello"*' "$said"
ask 'skill_directories: [greet], inject_skill_body: false'
like 'without bodies' '*How to greet\\n</skill>*' "$said"
is 'without bodies: none' 0 "$(printf '%s' "$said" | grep -c ahoy)"
ask 'skill_directories: [greet, nowhere]'
is 'a directory that is not there: status' 0 "$rc"
run "$WAZA" validate e.yaml
like 'a directory that is not there: warning' '*e.yaml:3:*warning: *nowhere*' "$out$err"
ask 'skill_directories: [many], required_skills: [juggle]'
is 'required: status' 2 "$rc"
like 'required: words' '*"juggle" not found in*bake, cook*' "$err"
mkdir big
{ printf -- '---\nname: big\ndescription: d\n---\n'; dd if=/dev/zero bs=1000 count=1100 2>/dev/null | tr '\0' x; } >big/SKILL.md
ask 'skill_directories: [big]'
is 'too large: status' 1 "$rc"
has 'too large: words' 'the skills are too large for a prompt*inject_skill_body: false*"error_class":"infrastructure"'
is 'too large: nobody was asked' '' "$said"
ask 'skill_directories: [big], inject_skill_body: false'
is 'too large: names are not' 0 "$rc"

# the baseline has none
cat >base.yaml <<'YAML'
name: e
skill: s
baseline: true
config: {executor: claude, skill_directories: [greet]}
tasks: [{id: a, prompt: Say hello, expected: {output_contains: [done]}}]
YAML
sed 's/^cat .*/cat >>"$ASKED"/' bin/claude >c && cat c >bin/claude
: >asked
run "$WAZA" run -q -o b.json base.yaml
is 'baseline: status' 0 "$rc"
is 'baseline: once with, once without' '1 2' "$(grep -c 'skill name' asked) $(grep -c Say asked)"
sed 's/^cat .*/cat >"$ASKED"/' bin/claude >c && cat c >bin/claude

# a command is told where they are
cat >cmd.sh <<'SH'
#!/bin/sh
cat
echo " skills=${WAZA_SKILLS-none} tmp=$TMPDIR home=$HOME"
SH
chmod +x cmd.sh
cmd() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: command, command: [./cmd.sh]${1:+, $1}}
tasks:
  - {id: a, prompt: Say hello, skill_directories: [own], expected: {output_contains: [hello]}}
YAML
	run "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json >r
}
cmd 'skill_directories: [greet]'
has 'command: by WAZA_SKILLS' "Say hello skills=$tmp/greet:$tmp/own tmp=$TMPDIR home=$HOME"
cmd 'skill_directories: [greet, many], disabled_skills: [cook]'
has 'command: without those that are disabled' "skills=$tmp/greet:$tmp/many/bake:$tmp/own/dance "
cmd 'skill_directories: [greet], disabled_skills: ["*"]'
has 'command: none' 'skills=none '

# instructions
mkdir sub
echo 'Be brief.' >AGENTS.md
echo 'Be kind.' >sub/kind.md
ask 'instruction_files: [AGENTS.md], skill_directories: [greet]' 'instruction_files: sub/kind.md'
like 'instructions: before all else' '*"text":"<instructions>\\nBe brief.\\n</instructions>\\n<instructions>\\nBe kind.\\n</instructions>\\n\\nYou have these skills*Say hello"*' "$said"
has 'instructions: said so' '"note":"instructions were given in the prompt; skills were given in the prompt"'
cat >cmd.yaml <<'YAML'
name: e
skill: s
config: {executor: command, command: [./cmd.sh], instruction_files: [AGENTS.md]}
tasks: [{id: a, prompt: Say hello, inputs: {follow_up_prompts: [More]}, expected: {output_contains: [hello]}}]
YAML
run "$WAZA" run -q -o r.json cmd.yaml
"$WAZA" parse r.json >r
has 'instructions: again in each turn' '<instructions>*<instructions>*This is what was said so far*User:\\nSay hello\\n'
ask 'instruction_files: [AGENTS.md, gone.md]'
is 'instructions: missing: status' 2 "$rc"
like 'instructions: missing: place' '*e.yaml:3:*gone.md does not exist*' "$err"
ask '' 'instruction_files: [sub]'
like 'instructions: a directory' '*e.yaml:7:*sub is not a regular file*' "$err"
printf 'a\377b' >bad.md
ask '' 'instruction_files: [bad.md]'
has 'instructions: no text' 'instruction file \\"bad.md\\" is not UTF-8 text'

# TMPDIR is the trial's, HOME the user's
ask
env=$(cat asked.env)
like 'TMPDIR: in the run'"'"'s directory' "HOME=$HOME TMPDIR=$tmp/tmp/waza-*" "$env"
is 'TMPDIR: is gone, with what was left in it' '' "$(ls tmp)"
run "$WAZA" run -q --keep-workspace e.yaml
is 'TMPDIR: also when workspaces are kept' '1-1-1 *-tmp*' "$(cd tmp/waza-*/ && echo [0-9]* *-tmp*)"
rm -rf tmp/waza-*

cat >trigger_tests.yaml <<'YAML'
skill: s
should_trigger_prompts: [{prompt: greet}]
YAML
ask
rm trigger_tests.yaml
is 'TMPDIR: of trigger tests' "text\":\"greet yes" \
    "$(grep -o 'text":"greet' asked) $(grep -q "TMPDIR=$tmp/tmp/waza-" asked.env && echo yes)"
is 'TMPDIR: of trigger tests is gone' '' "$(ls tmp)"

# unless it is to be private
mkdir user
XDG_CONFIG_HOME=$tmp/elsewhere HOME=$tmp/user
export XDG_CONFIG_HOME HOME
ask 'home: private'
is 'private: status' 0 "$rc"
like 'private: HOME' "HOME=$tmp/tmp/waza-*home TMPDIR=$tmp/tmp/waza-*tmp XDG=
*.cache -> $tmp/user/.cache/waza/home
*" "$(cat asked.env)"
is 'private: what is in .cache stays' y "$(cat user/.cache/waza/home/warm)"
is 'private: the rest is gone' '' "$(ls tmp)"
ask 'claude: {home: private, cache_home: warm}'
is 'private: cache_home, of the suite' y "$(cat warm/warm)"
ask 'home: private, cache_home: "~/cold"'
is 'private: cache_home, of the user' y "$(cat user/cold/warm)"
ask 'home: private, cache_home: ""'
like 'private: no cache' '*No such file*' "$(cat asked.env)"
cmd 'home: private'
has 'private: a command, too' "tmp=$tmp/tmp/waza-*tmp home=$tmp/tmp/waza-*home"
is 'private: nothing is left' '' "$(ls tmp)"
cat >worker.sh <<'SH'
#!/bin/sh
while read -r line
do echo "{\"output\":\"hello $HOME\"}"
done
SH
chmod +x worker.sh
sed 's/cmd.sh/worker.sh/' e.yaml | sed 's/home: private/home: private, persistent: true, trials_per_task: 4, workers: 2/' >w.yaml
run "$WAZA" run -q -o r.json w.yaml
is 'private: workers share one: status' 0 "$rc"
is 'private: workers share one' 1 "$("$WAZA" parse r.json | grep -o '"final_output":"[^"]*"' | sort -u | grep -c 'waza-.*home')"
is 'private: nothing is left of workers' '' "$(ls tmp)"
ask 'home: public'
is 'home: another word: status' 2 "$rc"
like 'home: another word: place' '*e.yaml:3:*home*user*private*' "$err"
done_testing
