# Repositories in the workspace, and where in it the agent starts.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
mkdir tmp home
TMPDIR=$tmp/tmp HOME=$tmp/home PIDS=$tmp
export TMPDIR HOME PIDS

# suite CONFIG INPUTS [EXPECTED]: print a suite with one task
suite() {
	cat <<YAML
name: e
skill: s
config: {timeout_seconds: 300, $1}
tasks:
  - id: a
    prompt: First
    inputs: {$2}
    expected: {output_contains: ['${3:-First}']}
YAML
}

bad() {
	name=$1 words=$2
	shift 2
	ask "$@"
	is "$name: status" 1 "$rc"
	has "$name: words" "$words*\"error_class\":\"infrastructure\""
	is "$name: no files are left" '' "$(ls tmp)"
}
sh='executor: command, command'

# where the agent starts, without repositories
ask "$sh: 'cat; pwd; ls'" 'files: [{path: a/b/c.txt, content: x}], workdir: a/b'
is 'workdir: status 0' 0 "$rc"
has 'workdir: the agent starts there' 'First/*/1-1-1/a/b\\nc.txt\\n'
ask "$sh: 'cat; echo \$PWD; echo \$WAZA_WORKSPACE'" 'files: [{path: a/b/c.txt, content: x}], workdir: a/b'
has 'workdir: PWD and WAZA_WORKSPACE are set' 'First/*/1-1-1/a/b\\n/*/1-1-1\\n'
ask "$sh: 'cat; pwd'" 'workdir: .'
has 'workdir: "." is the workspace' 'First/*/1-1-1\\n'
bad 'workdir: missing' 'workdir \\"x\\" does not exist' "$sh: cat" 'workdir: x'
bad 'workdir: a regular file is refused' 'workdir \\"x\\" is not a directory' "$sh: cat" 'files: [{path: x, content: y}], workdir: x'
cat >worker.sh <<'SH'
#!/bin/sh
while read -r line
do
	line=${line#*'"cwd":"'}
	echo "{\"output\":\"First ${line%%\"*}\"}"
done
SH
chmod +x worker.sh
ask "$sh: [./worker.sh], persistent: true" 'files: [{path: a/b, content: x}], workdir: a'
has 'workdir: a persistent worker receives it' '"final_output":"First /*/1-1-1/a"'
cat >worker.sh <<'SH'
#!/bin/sh
while read -r line
do
	line=${line#*'"environment":{'}
	echo "{\"output\":\"First $(echo "${line%%\}*}" | tr -d '"')\"}"
done
SH
ask "$sh: [./worker.sh], persistent: true" 'environment: {KEY: value}'
has 'environment: a persistent worker receives it' '"final_output":"First KEY:value"'
ask "$sh: 'cat; echo \$KEY'" 'environment: {KEY: value}'
has 'environment: the command has it' '"final_output":"Firstvalue'
check() {
	suite "$sh: cat" "$2" >e.yaml
	run "$WAZA" validate e.yaml
	like "$1" "*e.yaml:7:*$3*" "$out$err"
}
check 'check: workdir outside the workspace' 'workdir: ../x' 'not a path inside'
check 'check: absolute workdir' 'workdir: /etc' 'not a path inside'
check 'check: dest outside the workspace' 'repos: [{source: ., dest: a/../..}]' 'not a path inside'
check 'check: source is required' 'repos: [{dest: a}]' 'source'
check 'check: a missing source is a warning' 'repos: [{source: nowhere}]' 'warning: *nowhere does not exist'
check 'check: unknown type' 'repos: [{source: ., type: tarball}]' 'worktree'
check 'check: invalid commit name' 'repos: [{source: ., commit: --upload-pack=x}]' 'is not a valid commit name'
check 'check: unknown key' 'repos: [{source: ., comit: x}]' 'did you mean "commit"'

command -v git >/dev/null || { skip 'no git'; done_testing; }
git init -q app
(
	cd app || exit 1
	git config user.email a@example.org
	git config user.name A
	mkdir dir
	echo one >dir/f
	ln -s /etc link
	git add .
	git commit -qm one
	git tag v1
	echo two >dir/f
	git commit -qam two
	echo dirty >dir/f
	printf '#!/bin/sh\necho hook >>"%s/hooked"\n' "$tmp" >.git/hooks/post-checkout
	chmod +x .git/hooks/post-checkout
)
state() {
	(cd app && git status --porcelain=v2 --branch && git for-each-ref &&
	    git worktree list && cksum .git/index .git/config && ls .git)
}
before=$(state)

ask "$sh: 'cat; cat app/dir/f; git -C app log --format=%s; git -C app status --short'" 'repos: [{type: worktree, source: app}]'
is 'HEAD: status 0' 0 "$rc"
has 'HEAD: the committed files and the history are there' '"final_output":"Firsttwo\\ntwo\\none\\n"'
has 'HEAD: the note names the commit' "\"note\":\"repository app at $(git -C app rev-parse HEAD | cut -c1-12)\""
is 'no files are left' '' "$(ls tmp)"
ask "$sh: 'cat; cat dir/f; pwd'" 'repos: [{source: app, commit: v1, dest: x/y}, {source: app/dir}], workdir: x/y'
has 'commit and dest' '"final_output":"Firstone\\n/*/1-1-1/x/y\\n"'
ask "$sh: 'cat; ls -a'" 'repos: [{source: app/dir, dest: .}], files: [{path: dir/g, content: x}]'
has 'dest can be the workspace, source a directory of a repository' '.git\\ndir\\nlink\\n'
ask "$sh: 'cat; ls dir'" 'repos: [{source: app, dest: .}], files: [{path: dir/g, content: x}]'
has 'files are written after the checkout' 'Firstf\\ng\\n'
git clone -q --bare app bare.git 2>/dev/null
ask "$sh: 'cat; ls; cat bare/dir/f'" "repos: [{source: bare.git, commit: $(git -C app rev-parse v1)}]"
has 'a bare repository at a commit hash' 'Firstbare\\none\\n'

# parallel trials do not see each other's changes
ask "$sh: 'cat; cd app && echo three >dir/f && git -c user.name=x -c user.email=x commit -qam three && git branch mine && git tag -f v1 && git config a.b c; git push -q origin HEAD:refs/heads/theirs 2>/dev/null || echo no push; git log --oneline | grep -c .', workers: 8, trials_per_task: 16" \
    'repos: [{source: app}]' 'no push'
is 'parallel: status 0' 0 "$rc"
is 'parallel: each trial has its own clone' 16 "$(grep -o 'no push.n3' r | grep -c .)"
is 'parallel: no files are left' '' "$(ls tmp)"
is 'the source repository is unchanged' "$before" "$(state)"
ok 'hooks of the source repository do not run' [ ! -e hooked ]

# GIT_DIR of the environment is not passed to git or the agent
GIT_DIR=$tmp/app/.git GIT_INDEX_FILE=$tmp/app/.git/index
export GIT_DIR GIT_INDEX_FILE
ask "$sh: 'cat; cd app && git rev-parse --git-dir; git add .'" 'repos: [{source: app}]'
unset GIT_DIR GIT_INDEX_FILE
has 'GIT_DIR: is not the agent'"'"'s' '"final_output":"First.git\\n"'
is 'GIT_DIR: the source repository is unchanged' "$before" "$(state)"

# all trials use the same commit
ask "$sh: 'cat; cd $tmp/app && git commit -q --allow-empty -m more; git -C \$WAZA_WORKSPACE/app log --oneline | grep -c .', trials_per_task: 3" 'repos: [{source: app}]'
is 'commits made during the run are ignored' '2 2 2 ' "$(grep -o '"final_output":"First[0-9]' r | sed 's/.*First//' | tr '\n' ' ')"

# error messages
mkdir plain
bad 'not a repository' 'repository \\"plain\\": not a git repository' "$sh: cat" 'repos: [{source: plain}]'
bad 'missing directory' 'repository \\"nowhere\\": ' "$sh: cat" 'repos: [{source: nowhere}]'
bad 'unknown commit' 'repository \\"app\\": commit \\"v9\\" not found' "$sh: cat" 'repos: [{source: app, commit: v9}]'
git init -q empty
bad 'repository without commits' 'commit \\"HEAD\\" not found' "$sh: cat" 'repos: [{source: empty}]'
bad 'two repositories with the same dest' 'already exists' "$sh: cat" 'repos: [{source: app}, {source: app}]'
bad 'dest through a symbolic link' 'is not a path inside the workspace' "$sh: cat" 'repos: [{source: app}, {source: app, dest: app/link/x}]'
bad 'workdir through a symbolic link' 'workdir \\"app/link\\" is not a path inside' "$sh: cat" 'repos: [{source: app}], workdir: app/link'
mkdir nogit
ask "executor: mock" 'repos: [{source: plain}]'
is 'mock: runs without a checkout' 0 "$rc"
suite "$sh: cat" 'repos: [{source: app}]' >e.yaml
for p in sh cat
do ln -s "$(command -v $p)" nogit/
done
run env PATH="$tmp/nogit" "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
has 'git is not installed: message' 'repository \\"app\\": git is not installed'

# a git that hangs: time-out and interrupt
mkdir slow
cat >slow/git <<'SH'
#!/bin/sh
case $* in
*clone*) echo $$ >"$PIDS/pid"; exec tail -f /dev/null ;;
esac
PATH=${PATH#*:} exec git "$@"
SH
chmod +x slow/git
sed 's/timeout_seconds: 300/timeout_seconds: 1/' e.yaml >t.yaml
run env PATH="$tmp/slow:$PATH" "$WAZA" run -q -o r.json t.yaml
"$WAZA" parse r.json >r
has 'time-out: message' 'git took longer than 1 s'
ok 'time-out: git is terminated' sh -c '! kill -0 "$(cat pid)" 2>/dev/null'
is 'time-out: no files are left' '' "$(ls tmp)"
rm -f pid
PATH="$tmp/slow:$PATH" "$WAZA" run -q -o r.json e.yaml >/dev/null 2>&1 &
waza=$!
ok 'interrupt: git is running' wait_until 120 [ -s pid ]
kill -INT "$waza"
wait "$waza"
is 'interrupt: status' 130 "$?"
ok 'interrupt: git is terminated' sh -c '! kill -0 "$(cat pid)" 2>/dev/null'
is 'interrupt: no files are left' '' "$(ls tmp)"

# --keep-workspace keeps the checkout
run "$WAZA" run -q --keep-workspace -o r.json e.yaml
is 'the checkout is kept with the workspace' two "$(cat tmp/waza-*/1-1-1/app/dir/f)"
"$WAZA" parse r.json >r
has 'the note names the commit and the kept workspace' '"note":"repository app at *; workspace kept at '
done_testing
