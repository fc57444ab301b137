# The project's .waza.yaml: who could have written it, and whether it is trusted.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1

# every setting in the table exists: a renamed one would need trust silently
sed -n '/^static const char .const plain/,/^};/s/.*/&/p' suite/config_hold.c | tr ',' '\n' |
    sed -n 's/.*"\([A-Za-z_.]*\)".*/\1/p' >"$tmp/plain"
"$WAZA" config --format json | sed -n 's/^  "\([A-Za-z_.]*\)":.*/\1/p' >"$tmp/keys"
is 'the table of plain settings has known keys' '' \
    "$(grep -v '^judge\.' "$tmp/plain" | while read -r k; do grep -qx "$k" "$tmp/keys" || echo "$k"; done)"
ok 'the table was read' [ "$(grep -c . "$tmp/plain")" -gt 20 ]

HOME=$tmp/home
unset WAZA_HOME
export HOME
mkdir -p "$HOME" "$tmp/p/sub/deep" || exit 1
cd "$tmp/p/sub/deep" || exit 1
dir=$(cd ../.. && pwd -P)
yaml=../../.waza.yaml
cat >$yaml <<YAML
model: m1
limits: {runs: 3}
roots: [/]
tools: {t: {command: [touch, $tmp/ran]}}
framing: line
YAML

# without trust: names and numbers, one warning
run "$WAZA" config
is 'not trusted: status' 0 "$rc"
is 'not trusted: one warning' "$yaml: warning: not trusted: roots, tools, framing are ignored; if you trust this file, run \"waza config trust ../..\", or in CI set WAZA_TRUST_PROJECT=1" "$err"
is 'not trusted: names and numbers are used' 'model = "m1" # ../../.waza.yaml:1:8
limits.runs = 3 # ../../.waza.yaml:2:16' \
    "$(printf '%s\n' "$out" | grep -v '^#\|# default$' | tr -s ' ')"
is 'not trusted: the listing has what is ignored' "# roots = [\"/\"] # ../../.waza.yaml:3:8: ignored, not trusted
# tools.t.command = [\"touch\",\"$tmp/ran\"] # ../../.waza.yaml:4:22: ignored, not trusted
# framing = \"line\" # ../../.waza.yaml:5:10: ignored, not trusted" \
    "$(printf '%s\n' "$out" | grep '^#' | tr -s ' ')"
is 'not trusted: the same in JSON' '{"key":"roots","value":["/"],"source":"../../.waza.yaml:3:8"}' \
    "$("$WAZA" config --format json 2>/dev/null | "$WAZA" parse --json - |
    sed -n 's/.*"ignored":\[\([^}]*}\).*/\1/p')"

# a server there has neither the tool nor the root; trust gives both
ask() {
	printf '%s\n' '{"jsonrpc":"2.0","id":0,"method":"hello","params":{"name":"t","version":"1","agent":"a","pid":1}}' \
	    '{"jsonrpc":"2.0","id":1,"method":"tools/list"}' \
	    '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"t","arguments":{}}}' |
	    "$WAZA" jsonrpc "$@" 2>"$tmp/log" | tr '\n' ' '
}
is 'a server: no tool' '' "$(ask | grep '"name":"t"')"
is 'a server: the warning, once' 1 "$(grep -c 'waza config trust' "$tmp/log")"
ok 'a server: the command was not run' [ ! -e "$tmp/ran" ]
ask --trust >"$tmp/answer"
ok 'a server with --trust: the command was run' [ -e "$tmp/ran" ]
is 'a server with --trust: no warning' '' "$(cat "$tmp/log")"

# the ways to trust it
is '--trust' 'roots = ["/"] # ../../.waza.yaml:3:8' "$("$WAZA" config --trust | grep ^roots | tr -s ' ')"
is 'WAZA_TRUST_PROJECT=1' 'roots = ["/"]' "$(WAZA_TRUST_PROJECT=1 "$WAZA" config | grep ^roots | tr -s ' ' | cut -d ' ' -f 1-3)"
is 'WAZA_TRUST_PROJECT=0' 'roots = []' "$(WAZA_TRUST_PROJECT=0 "$WAZA" config 2>/dev/null | grep ^roots | tr -s ' ' | cut -d ' ' -f 1-3)"
run "$WAZA" config untrust
is 'untrust: without a list: status' 2 "$rc"
ok 'untrust: it makes no directory' [ ! -e "$HOME/.waza" ]
run "$WAZA" config trust
is 'trust: status' 0 "$rc"
is 'trust: it prints what is trusted' "trusted: $dir/.waza.yaml
 roots = [\"/\"] # ../../.waza.yaml:3:8
 tools.t.command = [\"touch\",\"$tmp/ran\"] # ../../.waza.yaml:4:22
 framing = \"line\" # ../../.waza.yaml:5:10" "$(printf '%s\n' "$out" | tr -s ' ')"
is 'trust: nothing on stderr' '' "$err"
run "$WAZA" config
is 'trusted: no warning' '' "$err"
is 'trusted: everything is used' 5 "$(printf '%s\n' "$out" | grep -c 'waza.yaml')"
like 'the list is private' '-rw-------*' "$(ls -l "$HOME/.waza/trusted")"
like 'and its directory' 'drwx------*' "$(ls -ld "$HOME/.waza")"
is 'no other file is left' trusted "$(ls -A "$HOME/.waza")"
run "$WAZA" config untrust no-such-directory
is 'untrust: a directory that does not exist: status' 2 "$rc"
is 'untrust: the file above it stays trusted' 1 "$("$WAZA" config trusted | grep -c .)"
mkdir typo
echo 'roots: [/]' >typo/.waza.yaml
run "$WAZA" config trust typo/no-such-directory
is 'trust: a directory that does not exist: status' 2 "$rc"
is 'trust: a directory that does not exist: message' 'waza: typo/no-such-directory: No such file or directory; check the path' "$err"
is 'trust: the file above it is not trusted' '' "$("$WAZA" config trusted | grep typo)"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
do
	mkdir -p "many/$i"
	echo "model: m$i" >"many/$i/.waza.yaml"
done
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
do "$WAZA" config trust "many/$i" >said 2>&1 &
done
wait
is 'trust at the same time: none is lost' 16 "$("$WAZA" config trusted | grep -c /many/)"
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16
do "$WAZA" config untrust "many/$i" >said 2>&1 &
done
wait
is 'untrust at the same time: none is left' 0 "$("$WAZA" config trusted | grep -c /many/)"
is 'no lock is left' trusted "$(ls -A "$HOME/.waza")"
is 'trusted lists it' "$dir/.waza.yaml" "$("$WAZA" config trusted)"

# content and path are trusted, nothing else
echo 'timeout_seconds: 9' >>$yaml
run "$WAZA" config
like 'changed: the warning says so' "$yaml: warning: changed since you trusted it: roots, tools, framing are ignored;*\"waza config trust ../..\"*" "$err"
is 'changed: trusted says so' "$dir/.waza.yaml (changed, not trusted)" "$("$WAZA" config trusted)"
"$WAZA" config trust ../.. >"$tmp/said"
is 'trusted again: no warning' '' "$("$WAZA" config 2>&1 >/dev/null)"
cp -R "$tmp/p" "$tmp/worktree"
like 'a copy elsewhere, such as a worktree, is not trusted' '../../.waza.yaml: warning: not trusted:*' \
    "$(cd "$tmp/worktree/sub/deep" && "$WAZA" config 2>&1 >/dev/null)"
ln -s "$tmp/p" "$tmp/link"
is 'another way to the same directory is' '' "$(cd "$tmp/link/sub" && "$WAZA" config 2>&1 >/dev/null)"
run "$WAZA" config untrust
is 'untrust' "0 no longer trusted: $dir/.waza.yaml" "$rc $out"
like 'untrust: it is not trusted' '*: warning: not trusted: *' "$("$WAZA" config 2>&1 >/dev/null)"
run "$WAZA" config untrust
is 'untrust again: an error' "2 waza: $dir/.waza.yaml is not trusted" "$rc $err"
"$WAZA" config trust "$tmp/worktree" >"$tmp/said"
rm -r "$tmp/worktree"
like 'a removed file is listed' '*/worktree/.waza.yaml (missing)' "$("$WAZA" config trusted)"
mkdir "$tmp/worktree"
ok 'and can be forgotten' sh -c '"$WAZA" config untrust "$1" >"$1/said"' sh "$tmp/worktree"
is 'the list is empty' '' "$("$WAZA" config trusted)"

# what cannot be trusted
run "$WAZA" config trust "$tmp/home"
is 'no file: status' 2 "$rc"
is 'no file' "waza: $tmp/home: no .waza.yaml in this directory or the 9 above it" "$err"
cp $yaml "$tmp/keep"
echo 'port: many' >$yaml
run "$WAZA" config trust
is 'an invalid file: status' 2 "$rc"
is 'an invalid file' "$yaml:1:7: \"port\" must be a whole number, not a string" "$err"
cp "$tmp/keep" $yaml
run "$WAZA" config trusty
is 'an unknown operation' '2 waza: unknown operation "trusty" (trust, trusted or untrust)' "$rc $err"
run env -u HOME "$WAZA" config trust
like 'no place for the list' '2 waza: no list of trusted files: neither WAZA_HOME nor HOME is set' "$rc $err"
"$WAZA" config trust >"$tmp/said"
chmod 622 "$HOME/.waza/trusted"
like 'a list that others can write is not used' '*: not trusted: *(*/trusted: is writable by others; remove it)*' "$("$WAZA" config 2>&1 >/dev/null)"
echo '[' >"$HOME/.waza/trusted"
chmod 600 "$HOME/.waza/trusted"
like 'nor one that is damaged' '*: not trusted: *(*/trusted: not a list of trusted files; remove it)*' "$("$WAZA" config 2>&1 >/dev/null)"
rm "$HOME/.waza/trusted"
printf 'roots: [/]\n' >"$tmp/p/sub/.waza.yaml"
like 'the nearest file counts' '../.waza.yaml: warning: not trusted: roots is ignored; if*trust .."*' "$("$WAZA" config 2>&1 >/dev/null)"
rm "$tmp/p/sub/.waza.yaml"
mkdir "$tmp/a b"
cp $yaml "$tmp/a b"
like 'the command is one that a shell takes' "*run \"waza config trust '$tmp/a b'\"*" \
    "$(mkdir "$tmp/a b/e" && cp "$top/examples/hello/eval.yaml" "$tmp/a b/e/" && "$WAZA" run "$tmp/a b/e" 2>&1 >/dev/null | grep trust)"

# a file that others could have written is not read at all
refused() {
	run "$WAZA" config
	is "$1: status" 0 "$rc"
	like "$1: warning" "$yaml: warning: not read: $2; if you trust this file, run \"waza config trust ../..\", or in CI set WAZA_TRUST_PROJECT=1" "$err"
	is "$1: nothing is used" '' "$(printf '%s\n' "$out" | grep 'waza.yaml')"
}
for mode in 646 666
do
	chmod $mode $yaml
	refused "file of mode $mode" "it is writable by others (mode 0$mode)"
done
chmod 644 $yaml
for where in ../.. .. .
do
	chmod 757 $where
	refused "directory $where of mode 757" "the directory $where is writable by others (mode 0757)"
	chmod 755 $where
done
chmod 1777 ../..
is 'a sticky directory is fine' 1 "$("$WAZA" config 2>&1 >/dev/null | grep -c 'not trusted')"
chmod 755 ../..
"$WAZA" config trust >"$tmp/said"
chmod 666 $yaml
is 'a trusted content is read whoever can write it' '["/"]' "$("$WAZA" config | sed -n 's/^roots *= \([^ ]*\).*/\1/p')"
echo '# more' >>$yaml
refused 'changed by others' 'it is writable by others (mode 0666); it has changed since you trusted it'
is 'read with --trust' '["/"]' "$("$WAZA" config --trust | sed -n 's/^roots *= \([^ ]*\).*/\1/p')"
chmod 644 $yaml
"$WAZA" config untrust >"$tmp/said"
mv $yaml "$tmp/target"
ln -s ../target $yaml
is 'a link to a file of the same user is fine' 1 "$("$WAZA" config 2>&1 >/dev/null | grep -c 'not trusted: roots')"
chmod 666 "$tmp/target"
refused 'a link to a file that others can write' 'it is writable by others (mode 0666)'
chmod 644 "$tmp/target"
rm $yaml
mv "$tmp/target" $yaml
if [ "$(id -u)" -eq 0 ]
then
	chown 4242 $yaml
	refused "somebody else's file" 'it belongs to user 4242, not to you (user 0) or root'
	is "somebody else's file, trusted in CI" '["/"]' "$(WAZA_TRUST_PROJECT=1 "$WAZA" config | sed -n 's/^roots *= \([^ ]*\).*/\1/p')"
	"$WAZA" config trust >"$tmp/said"
	is "somebody else's file, trusted" '["/"]' "$("$WAZA" config | sed -n 's/^roots *= \([^ ]*\).*/\1/p')"
	"$WAZA" config untrust >"$tmp/said"
	chown 0:0 $yaml
	chmod 664 $yaml
	is 'a private group may write' 1 "$("$WAZA" config 2>&1 >/dev/null | grep -c 'not trusted')"
	chgrp 4242 $yaml
	refused 'another group may write' 'it is writable by others (mode 0664)'
	chgrp 0 $yaml
	chmod 644 $yaml
	chown 4242 ..
	refused "somebody else's directory on the way" 'the directory .. belongs to user 4242, not to you (user 0) or root'
	chown 0 ..
	mv $yaml "$tmp/target"
	ln -s ../target $yaml
	chown -h 4242 $yaml
	refused "somebody else's link" 'the link belongs to user 4242, not to you (user 0) or root'
	rm $yaml
	mkfifo $yaml
	chown 4242 $yaml
	refused "somebody else's pipe" 'it belongs to user 4242, not to you (user 0) or root'
	rm $yaml
	mv "$tmp/target" $yaml
else
	skip 'only root can give files away'
fi
if [ "$(id -u)" -ne 0 ]
then
	chmod 0 $yaml
	run "$WAZA" config
	is 'a file that cannot be read: an error' "2 $yaml: Permission denied" "$rc $err"
else
	skip 'root reads everything'
fi
rm -f $yaml
mkfifo $yaml
run "$WAZA" config
is 'a pipe: an error' "2 $yaml: not a regular file" "$rc $err"
rm $yaml

# suites read their defaults from the same file under the same rules
mkdir "$tmp/s"
cp -R "$top/examples/hello" "$tmp/s/hello"
printf 'cache: {enabled: true, dir: mine}\ndefaults: {workers: 2}\nroots: [/]\n' >"$tmp/s/.waza.yaml"
cd "$tmp/s/hello" || exit 1
is 'a run: one warning' 1 "$("$WAZA" run 2>&1 >/dev/null | grep -c 'waza.yaml: warning: not trusted: roots is ignored')"
ok 'a run: names and numbers are used' [ -d "$tmp/s/mine" ]
rm -rf "$tmp/s/mine"
is 'a run with --trust: no warning' 0 "$("$WAZA" run --trust 2>&1 >/dev/null | grep -c 'waza.yaml: ')"
rm -rf "$tmp/s/mine"
chmod 666 "$tmp/s/.waza.yaml"
is 'a run: a file of others: one warning' 1 "$("$WAZA" run 2>&1 >/dev/null | grep -c 'waza.yaml: warning: not read: it is writable by others')"
ok 'a run: a file of others is not used' [ ! -e "$tmp/s/mine" ]
like 'validate: the same warning' '*.waza.yaml: warning: not read: it is writable by others (mode 0666);*' "$("$WAZA" validate eval.yaml 2>&1)"
mkdir ../twice && cp eval.yaml ../twice/
is 'validate: several suites, one warning' 1 "$("$WAZA" validate eval.yaml ../twice/eval.yaml 2>&1 | grep -c 'not read')"
is 'validate --trust: none' '' "$("$WAZA" validate --trust eval.yaml 2>&1 | grep 'not read')"
"$WAZA" run --trust >"$tmp/said" 2>&1
ok 'a run with --trust: it is used' [ -d "$tmp/s/mine" ]
like 'cache stats --trust' '*mine*' "$("$WAZA" cache stats --trust)"
run "$WAZA" cache stats
is 'cache stats without' '' "$(printf '%s\n' "$out" | grep mine)"
like 'cache stats without: the warning' '*.waza.yaml: warning: not read: it is writable by others*' "$err"
chmod 644 "$tmp/s/.waza.yaml"
sed 's/\..*//' "$tmp/keys" | sort -u | sed 's/$/: null/' >"$tmp/s/.waza.yaml"
is 'suites know all settings of a project' '' "$("$WAZA" validate eval.yaml 2>&1 | grep 'unknown key')"
chmod 666 "$tmp/s/.waza.yaml"
printf '%s\n' '{"jsonrpc":"2.0","id":1,"method":"eval.validate","params":{"path":"eval.yaml"}}' >"$tmp/ask"
like 'a server: eval.validate reports it' '*not read: it is writable by others*' "$("$WAZA" jsonrpc <"$tmp/ask" 2>/dev/null)"
is 'a server with --trust does not' '' "$("$WAZA" jsonrpc --trust <"$tmp/ask" 2>/dev/null | grep 'not read')"
done_testing
