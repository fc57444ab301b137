# Skills and instructions in the prompts of agents that do not load them; HOME
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

# an agent that records its input and answers in the format of claude
cat >bin/claude <<'SH'
#!/bin/sh
cat >"$ASKED"
{ echo "HOME=$HOME TMPDIR=$TMPDIR XDG=${XDG_CONFIG_HOME-}"; ls -ld "$HOME/.cache" "$TMPDIR"; echo x >"$TMPDIR/litter"; echo y >"$HOME/.cache/warm"; } >"$ASKED.env" 2>&1
echo '{"type":"result","subtype":"success","is_error":false,"result":"done","usage":{"input_tokens":1,"output_tokens":1}}'
SH
chmod +x bin/claude
ASKED=$tmp/asked PATH=$tmp/bin:$PATH
export ASKED PATH

# ask CONFIG [TASK] [OPTION...]: sets $rc and $said, the input of the agent; writes r
ask() {
	cat >e.yaml <<YAML
name: e
skill: s
config: {executor: claude, timeout_seconds: 300${1:+, $1}}
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
is 'no skills: status 0' 0 "$rc"
is 'no skills: the agent gets the plain prompt' '{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Say hello"}]}}' "$said"
ok 'no skills: the results have no note' sh -c '! grep -q "\"note\"" r'
ask 'skills: prompt, skill_directories: [greet]'
is 'one skill: status 0' 0 "$rc"
like 'one skill: the skill precedes the prompt' '*"You have these skills*<skill name=\\"greet\\">\\nHow to greet\\n\\nAlways say \\"ahoy\\".\\n</skill>\\n\\nSay hello"*' "$said"
has 'one skill: the note reports the injection' '"note":"skills were given in the prompt"'
has 'one skill: the results contain the plain prompt' '"prompt":"Say hello"'
ok 'one skill: an injected skill does not count as "not used"' sh -c '! grep -q "\"skills\":\[\]" r'
ask 'skills: prompt, skill_directories: [greet, many], required_skills: [cook]' 'skill_directories: [own]'
is 'many skills: status 0' 0 "$rc"
is 'many skills: the prompt contains all of them in order' 'greet bake cook dance ' \
    "$(printf '%s' "$said" | grep -o 'skill name=..[a-z]*' | sed 's/.*"//' | tr '\n' ' ')"
ask 'skills: prompt, skill_directories: [greet, many], disabled_skills: [bake]'
is 'disabled skills: the prompt contains the others' 'greet cook ' \
    "$(printf '%s' "$said" | grep -o 'skill name=..[a-z]*' | sed 's/.*"//' | tr '\n' ' ')"
ask 'skills: prompt, skill_directories: [greet, many], disabled_skills: ["*"]'
like 'disabled skills: "*" disables all of them' '*"text":"Say hello"*' "$said"
ask 'skills: prompt, skill_directories: [greet], inject_skill_body: false'
like 'without bodies: the prompt contains the description' '*How to greet\\n</skill>*' "$said"
is 'without bodies: the prompt contains no body' 0 "$(printf '%s' "$said" | grep -c ahoy)"
ask 'skills: prompt, skill_directories: [greet, nowhere]'
is 'a missing skill directory: status 0' 0 "$rc"
run "$WAZA" validate e.yaml
like 'a missing skill directory: warning' '*e.yaml:3:*warning: *nowhere*' "$out$err"
ask 'skills: prompt, skill_directories: [many], required_skills: [juggle]'
is 'a required skill is missing: status 2' 2 "$rc"
like 'a required skill is missing: message' '*"juggle" not found in*bake, cook*' "$err"
mkdir big
{ printf -- '---\nname: big\ndescription: d\n---\n'; dd if=/dev/zero bs=1000 count=1100 2>/dev/null | tr '\0' x; } >big/SKILL.md
ask 'skills: prompt, skill_directories: [big]'
is 'skills too large for a prompt: status 1' 1 "$rc"
has 'skills too large for a prompt: message' 'the skills are too large for a prompt*inject_skill_body: false*"error_class":"infrastructure"'
is 'skills too large for a prompt: the agent does not run' '' "$said"
ask 'skills: prompt, skill_directories: [big], inject_skill_body: false'
is 'names without bodies fit into the prompt' 0 "$rc"

# the baseline runs without skills
cat >base.yaml <<'YAML'
name: e
skill: s
baseline: true
config: {executor: claude, skills: prompt, skill_directories: [greet]}
tasks: [{id: a, prompt: Say hello, expected: {output_contains: [done]}}]
YAML
sed 's/^cat .*/cat >>"$ASKED"/' bin/claude >c && cat c >bin/claude
: >asked
run "$WAZA" run -q -o b.json base.yaml
is 'baseline: status 0' 0 "$rc"
is 'baseline: one prompt with the skill, one without' '1 2' "$(grep -c 'skill name' asked) $(grep -c Say asked)"
sed 's/^cat .*/cat >"$ASKED"/' bin/claude >c && cat c >bin/claude

# the command executor passes the directories in WAZA_SKILLS
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
has 'command: WAZA_SKILLS lists the directories' "Say hello skills=$tmp/greet:$tmp/own tmp=$TMPDIR home=$HOME"
cmd 'skill_directories: [greet, many], disabled_skills: [cook]'
has 'command: WAZA_SKILLS omits disabled skills' "skills=$tmp/greet:$tmp/many/bake:$tmp/own/dance "
cmd 'skill_directories: [greet], disabled_skills: ["*"]'
has 'command: WAZA_SKILLS is unset without skills' 'skills=none '

# instructions
mkdir sub
echo 'Be brief.' >AGENTS.md
echo 'Be kind.' >sub/kind.md
ask 'instruction_files: [AGENTS.md], skills: prompt, skill_directories: [greet]' 'instruction_files: sub/kind.md'
like 'instructions: they precede skills and prompt' '*"text":"<instructions>\\nBe brief.\\n</instructions>\\n<instructions>\\nBe kind.\\n</instructions>\\n\\nYou have these skills*Say hello"*' "$said"
has 'instructions: the note reports the injection' '"note":"instructions were given in the prompt; skills were given in the prompt"'
cat >cmd.yaml <<'YAML'
name: e
skill: s
config: {executor: command, command: [./cmd.sh], instruction_files: [AGENTS.md]}
tasks: [{id: a, prompt: Say hello, inputs: {follow_up_prompts: [More]}, expected: {output_contains: [hello]}}]
YAML
run "$WAZA" run -q -o r.json cmd.yaml
"$WAZA" parse r.json >r
has 'instructions: each turn repeats them' '<instructions>*<instructions>*This is what was said so far*User:\\nSay hello\\n'
ask 'instruction_files: [AGENTS.md, gone.md]'
is 'instructions: a missing file: status 2' 2 "$rc"
like 'instructions: a missing file: place' '*e.yaml:3:*gone.md does not exist*' "$err"
ask '' 'instruction_files: [sub]'
like 'instructions: a directory is refused' '*e.yaml:7:*sub is not a regular file*' "$err"
printf 'a\377b' >bad.md
ask '' 'instruction_files: [bad.md]'
has 'instructions: a binary file is refused' 'instruction file \\"bad.md\\" is not UTF-8 text'

# each trial has its own TMPDIR and the user's HOME
ask
env=$(cat asked.env)
like 'TMPDIR: below the directory of the run' "HOME=$HOME TMPDIR=$tmp/tmp/waza-*" "$env"
is 'TMPDIR: removed with its content after the run' '' "$(ls tmp)"
run "$WAZA" run -q --keep-workspace e.yaml
is 'TMPDIR: removed even if workspaces are kept' '1-1-1 *-tmp*' "$(cd tmp/waza-*/ && echo [0-9]* *-tmp*)"
rm -rf tmp/waza-*

cat >trigger_tests.yaml <<'YAML'
skill: s
should_trigger_prompts: [{prompt: greet}]
YAML
ask
rm trigger_tests.yaml
is 'TMPDIR: trigger tests have their own' "text\":\"greet yes" \
    "$(grep -o 'text":"greet' asked) $(grep -q "TMPDIR=$tmp/tmp/waza-" asked.env && echo yes)"
is 'TMPDIR: removed after trigger tests' '' "$(ls tmp)"

# "home: private" gives agents their own HOME
mkdir user
XDG_CONFIG_HOME=$tmp/elsewhere HOME=$tmp/user
export XDG_CONFIG_HOME HOME
ask 'home: private'
is 'home: private: status 0' 0 "$rc"
like 'home: private: HOME is below the directory of the run' "HOME=$tmp/tmp/waza-*home TMPDIR=$tmp/tmp/waza-*tmp XDG=
*.cache -> $tmp/user/.cache/waza/home
*" "$(cat asked.env)"
is 'home: private: the cache directory persists' y "$(cat user/.cache/waza/home/warm)"
is 'home: private: the rest is removed' '' "$(ls tmp)"
ask 'claude: {home: private, cache_home: warm}'
is 'home: private: cache_home relative to the suite' y "$(cat warm/warm)"
ask 'home: private, cache_home: "~/cold"'
is 'home: private: cache_home relative to HOME' y "$(cat user/cold/warm)"
ask 'home: private, cache_home: ""'
like 'home: private: an empty cache_home disables the cache' '*No such file*' "$(cat asked.env)"
cmd 'home: private'
has 'home: private: applies to the command executor' "tmp=$tmp/tmp/waza-*tmp home=$tmp/tmp/waza-*home"
is 'home: private: no files are left' '' "$(ls tmp)"
cat >worker.sh <<'SH'
#!/bin/sh
while read -r line
do echo "{\"output\":\"hello $HOME\"}"
done
SH
chmod +x worker.sh
sed 's/cmd.sh/worker.sh/' e.yaml | sed 's/home: private/home: private, persistent: true, trials_per_task: 4, workers: 2/' >w.yaml
run "$WAZA" run -q -o r.json w.yaml
is 'home: private: persistent workers: status 0' 0 "$rc"
is 'home: private: persistent workers share one HOME' 1 "$("$WAZA" parse r.json | grep -o '"final_output":"[^"]*"' | sort -u | grep -c 'waza-.*home')"
is 'home: private: persistent workers leave no files' '' "$(ls tmp)"
ask 'home: public'
is 'home: an unknown value: status 2' 2 "$rc"
like 'home: an unknown value: place' '*e.yaml:3:*home*user*private*' "$err"
done_testing
