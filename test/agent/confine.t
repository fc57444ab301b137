# Confinement: what the processes of agents can write, and what the results, validate
# and doctor report about it.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
unset npm_config_cache XDG_CACHE_HOME XDG_CONFIG_HOME XDG_DATA_HOME XDG_STATE_HOME CLAUDE_CONFIG_DIR
mkdir bin tmp home outside
TMPDIR=$tmp/tmp HOME=$tmp/home OUTSIDE=$tmp/outside PATH=$tmp/bin:$PATH
export TMPDIR HOME OUTSIDE PATH

# the agent: writes to many places and reports those where it could
cat >bin/agent <<'SH'
#!/bin/sh
try() {
	if (eval "$2") 2>/dev/null
	then did="$did $1"
	fi
}
did=hello
try workspace 'mkdir a b && echo x >a/x && mv a/x b/x && ln b/x y && rm y'
try tmp 'echo x >"$TMPDIR/x"'
try state 'mkdir -p "$HOME/.claude" && echo x >"$HOME/.claude/x" && mv "$HOME/.claude/x" "$HOME/.claude/y"'
try json '[ -e "$HOME/.claude.json" ] && echo new >"$HOME/.claude.json"'
try cache 'echo x >"$HOME/.cache/x"'
try null 'echo x >/dev/null'
try home 'echo x >"$HOME/x"'
try outside 'echo x >"$OUTSIDE/x"'
try link 'ln -s "$OUTSIDE" link && echo x >link/x'
try truncate ': >"$OUTSIDE/kept"'
try remove 'rm "$OUTSIDE/kept"'
try move 'mv "$OUTSIDE/kept" kept'
try child 'sh -c "setsid sh -c \"echo x >$OUTSIDE/x\"; cat $OUTSIDE/x >/dev/null"'
try read 'cat "$OUTSIDE/read" >/dev/null'
try suite 'cat "$OUTSIDE/../e.yaml" >/dev/null'
try grader 'cat "$OUTSIDE/../check.sh" >/dev/null'
cat >/dev/null
SH
cp bin/agent bin/claude
cat >>bin/claude <<'SH'
echo "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"$did\",\"usage\":{}}"
SH
# codex is asked for its login first
{ printf '#!/bin/sh\ncase $* in *app-server*) exit ;; esac\n'; sed 1d bin/agent; } >bin/codex
cat >>bin/codex <<'SH'
echo "{\"type\":\"item.completed\",\"item\":{\"id\":\"i\",\"type\":\"agent_message\",\"text\":\"$did\"}}"
echo '{"type":"turn.completed","usage":{}}'
SH
echo 'echo "$did"' >>bin/agent
chmod +x bin/*

# ask CONFIG [GRADERS]: one trial; leaves r, and the places that were written in $did
ask() {
	rm -rf outside/* home/x
	echo kept >outside/kept
	echo x >outside/read
	cat >e.yaml <<YAML
name: e
skill: s
config: {timeout_seconds: 300, $1}
tasks:
  - id: a
    prompt: say hello
    graders: [{type: text, name: t, config: {contains: [hello]}}${2-}]
YAML
	run "$WAZA" run -q -o r.json e.yaml
	"$WAZA" parse r.json >r
	did=$(sed -n 's/.*"final_output":"hello \([a-z ]*\).*/\1/p' r)
}

inside='workspace tmp state cache null read'

cat >e.yaml <<'YAML'
name: e
skill: s
config: {executor: claude}
tasks: [{id: a, prompt: x, graders: [{type: text, name: t, config: {contains: [hello]}}]}]
YAML
run "$WAZA" validate e.yaml
case $out$err in
*'not confined'*)
	like 'validate names the reason' '*not confined: executor "claude" can write outside of the workspace (this system has no Landlock version 3)*' "$out$err"
	ask 'executor: claude'
	is 'an unconfined agent runs' 0 "$rc"
	like 'and the results say so' '*"confined":false*' "$(cat r)"
	done_testing
	exit ;;
esac

ask 'executor: claude'
is 'claude: status: a denied write does not end the trial' 0 "$rc"
is 'claude: writes in its directories, reads elsewhere' "$inside" "$did"
is 'claude: a file outside is untouched' kept "$(cat outside/kept)"
is 'claude: nothing outside is new' 'kept
read' "$(ls outside)"
like 'claude: the results say confined' '*"confined":true*' "$(cat r)"
is 'claude: no note about it' 0 "$(grep -c 'not confined' r)"
is 'claude: nothing is left in TMPDIR' '' "$(ls tmp)"

echo old >home/.claude.json
ask 'executor: claude'
is 'claude: an existing file of state can be overwritten' new "$(cat home/.claude.json)"
rm home/.claude.json

ask 'executor: claude' ", {type: program, name: p, config: {command: sh, args: [-c, 'echo x >\$OUTSIDE/x']}}"
is 'a program grader: status' 0 "$rc"
is 'a program grader is not confined' x "$(cat outside/x)"

echo 'exit 0' >check.sh
graded=", {type: program, name: p, config: {command: sh, args: [check.sh]}}"
ask 'executor: claude' "$graded"
is 'claude: cannot read the suite and its graders' "$inside" "$did"
is 'claude: the grader itself can be read' 0 "$rc"
ask 'executor: claude, confine: off' "$graded"
like 'off: it reads them' '* read suite grader' "$did"
rm check.sh

ask 'executor: claude, claude: {home: private}'
is 'private home: it is writable' 'workspace tmp state cache null home read' "$did"

ask 'executor: claude, confine: off'
like 'off: status' 0 "$rc"
like 'off: it writes anywhere' "*home outside link truncate*" "$did"
like 'off: the results say not confined' '*"confined":false*' "$(cat r)"
like 'off: so does the note of the trial' '*"note":"*not confined: the agent could write outside of the workspace*' "$(cat r)"
run "$WAZA" validate e.yaml
like 'off: validate warns' '*not confined: executor "claude" can write outside of the workspace ("confine" is off, or the permissions contain "path")*' "$out$err"

ask 'executor: codex'
like 'codex has a sandbox of its own: waza adds none' '*home outside*' "$did"
is 'codex: no word about confinement' 0 "$(grep -c '"confined"' r)"
ask 'executor: codex, codex: {confine: workspace}'
is 'codex: confined if asked for' 'workspace tmp cache null read' "$did"
ask 'executor: codex, codex: {args: [--dangerously-bypass-approvals-and-sandbox]}'
is 'codex: confined if its own sandbox is off' 'workspace tmp cache null read' "$did"

ask 'executor: command, command: [./bin/agent]'
like 'command: not confined by default' '*home outside*' "$did"
like 'command: the results say so' '*"confined":false*' "$(cat r)"
run "$WAZA" validate e.yaml
is 'command: validate does not warn' '' "$(echo "$out$err" | grep 'not confined')"
ask 'executor: command, command: [./bin/agent], confine: workspace'
is 'command: confined if asked for' 'workspace tmp cache null read' "$did"
like 'command: confined: the results' '*"confined":true*' "$(cat r)"

ask 'executor: claude, confine: everywhere'
is 'a wrong value: status' 2 "$rc"
like 'a wrong value' '*confine*off*workspace*' "$err"

done_testing
