# The agent's patch: what it changed in the workspace, in the results.
. "${0%/*}/../tool/lib.sh"
. "$top/test/tool/ask.sh"
cd "$tmp" || exit 1
mkdir tmp home fixtures fixtures/tree
TMPDIR=$tmp/tmp HOME=$tmp/home
export TMPDIR HOME

# suite CONFIG INPUTS: print a suite with one task
suite() {
	cat <<YAML
name: e
skill: s
config: {timeout_seconds: 300, $1}
tasks:
  - id: a
    prompt: First
    inputs: {$2}
    expected: {output_contains: [First]}
YAML
}
# patch: print the patch of the only trial, which has no quotes, without JSON's
# escapes
patch() {
	sed -n 's/.*,"patch":"\([^"]*\)".*/\1/p' r |
	    sed 's/\\n/\
/g; s/\\\\/\\/g'
}
sh='executor: command, command'
printf 'x\ny' >fixtures/tree/end.txt
printf 'bye\n' >fixtures/tree/gone.txt
echo : >fixtures/tree/run.sh
echo same >fixtures/tree/same.txt

cat >agent.sh <<'SH'
#!/bin/sh
cat
sed s/two/2/ a.txt >b && cat b >a.txt && rm b gone.txt
printf 'x\nz' >end.txt
chmod +x run.sh
touch same.txt
: >empty
ln -s a.txt link
printf 'a\0b' >bin
mkdir d .git
echo "key=$MY_API_KEY" >d/new.txt
echo no >.git/x
SH
chmod +x agent.sh
MY_API_KEY=sekret12345
export MY_API_KEY
tree='files: [{path: a.txt, content: "one\ntwo\nthree\n"}], context: {fixture: tree}'
ask "$sh: $tmp/agent.sh" "$tree"
is 'status 0' 0 "$rc"
want='diff --git a/a.txt b/a.txt
--- a/a.txt
+++ b/a.txt
@@ -1,3 +1,3 @@
 one
-two
+2
 three
diff --git a/bin b/bin
new file mode 100644
Binary file bin was added (3 bytes)
diff --git a/d/new.txt b/d/new.txt
new file mode 100644
--- /dev/null
+++ b/d/new.txt
@@ -0,0 +1 @@
+key=***
diff --git a/empty b/empty
new file mode 100644
diff --git a/end.txt b/end.txt
--- a/end.txt
+++ b/end.txt
@@ -1,2 +1,2 @@
 x
-y
\ No newline at end of file
+z
\ No newline at end of file
diff --git a/gone.txt b/gone.txt
deleted file mode 100644
--- a/gone.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/link b/link
new file mode 120000
--- /dev/null
+++ b/link
@@ -0,0 +1 @@
+a.txt
\ No newline at end of file
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755'
is 'the patch has all changes, masked, without .git' "$want" "$(patch)"
is 'no files are left' '' "$(ls tmp)"

# graders, stored answers
cp r.json old.json
run "$WAZA" grade -q --results old.json -o r.json e.yaml
"$WAZA" parse r.json >r
is 'grade: the patch stays' "$want" "$(patch)"
run "$WAZA" run -q --record rec -o r.json e.yaml
run "$WAZA" run -q --replay rec -o r.json e.yaml
"$WAZA" parse r.json >r
is 'replay: the patch is that of the recording' "$want" "$(patch)"
cat >>e.yaml <<'YAML'
graders:
  - {type: program, name: p, config: {command: sh, args: [-c, 'echo g >made']}}
YAML
run "$WAZA" run -q -o r.json e.yaml
"$WAZA" parse r.json >r
is 'changes of graders are not in the patch' "$want" "$(patch)"

# without changes, and without an agent that has files
ask "$sh: 'cat; touch same.txt'" "$tree"
is 'no change: no patch' '' "$(patch)"
has 'no change: no member' '"final_output":"First*"started_at"'
ask 'executor: mock' "$tree"
is 'mock: no patch' '' "$(patch)"
ask 'executor: mock, mock: {output: First, files: [{path: a.txt, content: "1\n"}]}' \
    'files: [{path: a.txt, content: "0\n"}]'
like 'mock: files of its script are a patch' '*-0
+1' "$(patch)"

# errors
ask "$sh: 'echo x >made; exit 3'" ''
has 'an error of the agent: its changes are kept' '"patch":"diff --git a/made b/made\\n*+x\\n"'
ask "$sh: 'cat; rm -rf \"\$PWD\"/*'" 'files: [{path: f, content: "1\n"}]'
like 'an empty workspace: the files were deleted' '*deleted file mode 100644
--- a/f
+++ /dev/null
@@ -1 +0,0 @@
-1' "$(patch)"

# limits
cat >long.sh <<'SH'
#!/bin/sh
cat
lines() {
	awk -v n="$1" 'BEGIN { for (i = 1; i <= n; i++) print i }'
}
lines 100000 >big
for i in 1 2 3 4 5 6
do lines 20000 >l$i
done
SH
chmod +x long.sh
ask "$sh: $tmp/long.sh" ''
echo "$(patch)" >p
is 'a large file is named' 'File big was added (588895 bytes, too large for a diff)' "$(grep big, p; grep '^File big' p)"
ok 'a long diff ends with a note' grep -q '^\.\.\. .* lines, .* bytes left out' p
is 'too many diffs: the others are named' 'File l6 was added (108894 bytes, left out: the patch is too long)
(incomplete: there are too many diffs)' "$(tail -n 2 p)"
ok 'the patch is limited' test "$(wc -c <p)" -lt 300000
cat >edit.sh <<SH
#!/bin/sh
cat
echo 2 >f
touch -t 209901010000 "$tmp/fixtures/f"
SH
chmod +x edit.sh
echo 1 >fixtures/f
ask "$sh: $tmp/edit.sh" 'files: [{path: f}]'
is 'an input that has changed since is not believed' 'diff --git a/f b/f
File f differs (2 bytes, content before was not kept)' "$(patch)"
rm fixtures/f

# repositories
command -v git >/dev/null || { skip 'git is not installed'; done_testing; }
git init -q repo
(cd repo && echo 1 >f && ln -s f l && git add . &&
    git -c user.name=n -c user.email=e@x commit -qm c)
ask "$sh: 'cat; cd repo && echo 2 >f && ln -sf g l && git checkout -qb b && git -c user.name=n -c user.email=e@x commit -qam d'" \
    "repos: [{source: $tmp/repo}]"
is 'a repository: files and links, committed or not' 'diff --git a/repo/f b/repo/f
--- a/repo/f
+++ b/repo/f
@@ -1 +1 @@
-1
+2
diff --git a/repo/l b/repo/l
--- a/repo/l
+++ b/repo/l
@@ -1 +1 @@
-f
\ No newline at end of file
+g
\ No newline at end of file' "$(patch)"
is 'nothing is left' '' "$(ls tmp)"
done_testing
