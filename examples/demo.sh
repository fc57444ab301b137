#!/bin/sh
# demo.sh WAZA: what waza can do so far, on files shipped here.
set -eu
waza=$1
dir=${0%/*}
export PATH

show() {
	printf '\n$ waza'
	for a
	do
		case $a in
		*[\ \(\|\\]*) printf " '%s'" "$a" ;;
		*) printf ' %s' "$a" ;;
		esac
	done
	printf '\n'
	"$waza" "$@" || printf '(exit status %d)\n' $?
}

echo 'waza reads suites. This one is YAML:'
sed 's/^/    /' "$dir/hello/eval.yaml"
show parse --pretty "$dir/hello/eval.yaml"
printf '\nA mistake is shown with its place:\n'
show parse "$dir/broken/eval.yaml" 2>&1
printf '\nGraders match an answer against patterns, in linear time:\n'
sed 's/^/    /' "$dir/hello/answer.txt"
show match -g '(?i)(hello),? (\w+)' "$dir/hello/answer.txt"
show match '(x+x+)+y' "$dir/hello/answer.txt"
show match 'a(?=b)' "$dir/hello/answer.txt" 2>&1
