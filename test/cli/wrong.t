# Messages about wrong invocations and broken suites.  Each row of wrong.tab is
# one: its message names the thing, the place and the next step, in at most three
# lines, and the exit status is the documented one.
. "${0%/*}/../tool/lib.sh"
cd "$tmp" || exit 1
export HOME="$tmp/home" WAZA_HOME="$tmp/home"
unset WAZA_CONFIG WAZA_PORT OPENAI_API_KEY
mkdir home empty base base/ok base/s
printf '%s\n' 'name: ok' 'skill: s' 'tasks: [{id: capital, prompt: a, tags: [geo]}]' \
    'graders: [{type: text, contains: a}]' >base/ok/eval.yaml
printf '%s\n' --- 'name: s' 'description: "x"' --- body >base/s/SKILL.md
"$WAZA" run -q -o base/r.json base/ok >/dev/null || echo 'Bail out! no results'
printf '{"a": [1,\n' >base/bad.json
printf 'a: [\n' >base/bad.yaml
echo abc >base/e.txt

# write_files FILES: the files of a row, in the current directory
write_files() {
	printf '%s\n' "$1" | awk '{ n = split($0, f, " ;; "); for (i = 1; i <= n; i++) print f[i] }' |
	while IFS= read -r file
	do
		case ${file%%=*} in */*) mkdir -p "${file%%/*}" ;; esac
		printf '%b' "${file#*=}" >"${file%%=*}"
	done
}

# call ARGUMENTS: waza with these words, into ./out (both streams) and $rc
call() {
	set -f
	# shellcheck disable=SC2086
	set -- $1
	set +f
	rc=0
	if [ "$1" = env ]
	then
		set_to=$2
		shift 2
		env "$set_to" "$WAZA" "$@" >../out 2>&1 </dev/null || rc=$?
	else
		"$WAZA" "$@" >../out 2>&1 </dev/null || rc=$?
	fi
}

# problems STATUS THING PLACE NEXT: what is wrong with the last call, or nothing
problems() {
	message=$(cat out)
	[ "$rc" = "$1" ] || echo "exit status $rc, not $1"
	[ "$(wc -l <out)" -le 3 ] || echo "more than three lines"
	shift
	for part
	do
		case $message in
		*"$part"*) ;;
		*) echo "lacks: $part" ;;
		esac
	done
	# a message begins with the program or a place, and has no full stop
	awk '!/^usage: waza / && !/^\t/ && !/^[^ ]+: ./ { print "begins wrong: " $0 }
	/[a-z"]\.$/ { print "full stop: " $0 }' out
}

tab=$(printf '\t')
n=0
while IFS="$tab" read -r name status files args thing place next
do
	case $name in \#*) continue ;; esac
	n=$((n + 1))
	case $name:$next in
	*'(git: '*) command -v git >/dev/null || { skip "$name: git is not installed"; continue; } ;;
	esac
	rm -rf work
	case $name in
	*'empty directory') mkdir work ;;
	*) cp -R base work ;;
	esac
	cd work || exit 1
	[ "$files" = - ] || write_files "$files"
	call "$args"
	cd ..
	is "$name" '' "$(problems "$status" "$thing" "$place" "$next" &&
	    [ -n "$next" ] || echo "incomplete row")$(
	    [ -z "$(problems "$status" "$thing" "$place" "$next")" ] || sed 's/^/	| /' out)"
done <"$top/test/cli/wrong.tab"
is 'at least 200 rows' yes "$([ "$n" -ge 200 ] && echo yes)"

# a row can fail
cd base || exit 1
call 'run --nosuch'
cd ..
is 'a right row' '' "$(problems 2 'unknown option "--nosuch"' 'usage: waza run' 'see "waza help run"')"
like 'another status' 'exit status 2, not 3' "$(problems 3 --nosuch usage help)"
like 'a part that is missing' 'lacks: the moon' "$(problems 2 --nosuch usage 'the moon')"
printf 'waza: a.\nb\nc: d\ne: f\n' >out
is 'a message of another form' 'more than three lines
full stop: waza: a.
begins wrong: b' "$(problems 2)"
done_testing
