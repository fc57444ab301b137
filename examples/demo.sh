#!/bin/sh
# demo.sh WAZA: does a skill help, why did a task fail, is a change more than
# chance, and where is the report?  Works in build/demo, or in a new directory
# below TMPDIR if that cannot be written.
set -eu
waza=$(cd "${1%/*}" && pwd)/${1##*/}
cd "${0%/*}/.."
suite=$PWD/examples/demo
out=$PWD/build/demo
rm -rf "$out" 2>/dev/null && mkdir -p "$out" 2>/dev/null || out=$(mktemp -d)
cp -R "$suite" "$out/shop"
chmod -R u+w "$out/shop"
cd "$out"

# show ARGUMENT ...: the command, and what it prints; status 1 is a verdict
show() {
	printf '\n$ waza %s\n' "$*"
	"$waza" "$@" || [ $? -eq 1 ]
}

cat <<.
A suite asks an agent eight questions about a shop. The agent, here a shell
script, gets a skill with the facts. Does the skill help? Each question is
asked with the skill, and again without it:
.
show run -q --baseline -o first.json shop

cat <<.

The skill helps, but one answer is wrong: the report shows where it was
expected and what was answered. Add the missing fact to the skill, run again,
and ask whether the change is more than chance:

\$ echo "- dog: welcome" >>shop/shop-policy/SKILL.md
.
echo '- dog: welcome' >>shop/shop-policy/SKILL.md
show run -q -o second.json shop
show compare first.json second.json

printf '\nAll answers with their verdicts, as a page in one file:\n'
show view first.json second.json -o report.html
cat <<.

Open this file:  file://$out/report.html
Or start a server with  $waza serve --results-dir $out
and open this page:  http://127.0.0.1:3000
.
