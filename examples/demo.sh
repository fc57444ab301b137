#!/bin/sh
# demo.sh WAZA: a suite with passing and failing answers, as a person, a CI
# job and an IDE see it.
set -eu
waza=$(cd "${1%/*}" && pwd)/${1##*/}
cd "${0%/*}/.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

show() {
	printf '\n$ waza %s\n' "$*"
	"$waza" "$@" || printf '(exit status %d)\n' $?
}

echo 'A suite is YAML. waza reports all its problems with file, line and column:'
show validate examples/demo examples/broken
printf '\nwaza gives each task to an executor, here a script, and grades the answers:\n'
show run -q examples/demo -o "$tmp/results.json" --reporter "junit:$tmp/junit.xml"
printf '\nFor an IDE the run is a stream of events:\n'
show run examples/hello --stream-json --trials 1 -o "$tmp/hello.json"
printf '\nPrograms read the results file:\n'
printf '\n$ waza parse --pretty results.json | head -n 24\n'
"$waza" parse --pretty "$tmp/results.json" | head -n 24
