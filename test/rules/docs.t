# Every example in the manual and the README is run; every command and option
# is in the manual, and the versions agree.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1

# Examples are lines "$ command" and the output below them, in mdoc's
# .Bd -literal blocks and in README's ```console blocks.  A backslash at the end
# of a command continues it on the next line.  A block without commands is a file
# if the line before it ends in its name: .Pa NAME : or `NAME`:
extract() {
	case $1 in
	*.md) sed 's/^```$/.Ed/; s/^```[a-z]*$/.Bd -literal/; s/.*`\([^`]*\)`:$/.Pa \1 :/' "$1" ;;
	*)    sed 's/\\&//g; s/\\e/\\/g; s/\\-/-/g; s/\\(dq/"/g' "$1" ;;
	esac | awk '/^\.Bd -literal/ { on = 1; name = before; next }
	    /^\.Ed/ { if (on) print "$ :"; on = 0; before = ""; next }
	    on && name != "" && !/^\$ / { print "$ @" name; name = "" }
	    on { name = ""; print }
	    !/^ *$/ { before = /^\.Pa [^ ]* :$/ ? $2 : "" }'
}

# example: $cmd prints $want
example() {
	case $cmd in
	*examples/api/run.sh*)
		command -v curl >/dev/null || {
			skip 'no curl'
			return
		} ;;
	esac
	examples=$((examples + 1))
	got=$(cd "$work" && PATH=$tmp/bin:$PATH LC_ALL=C.UTF-8 sh -c "$cmd" 2>&1)
	is "$doc: $cmd" "$(printf '%s\n' "$want" | timeless)" "$(printf '%s\n' "$got" | timeless)"
}

# timeless: without durations, and without the blanks that their widths change
timeless() {
	sed 's/  */ /g; s/ [0-9][0-9.]*m*s$/ N/; s/ [0-9][0-9.]*m*s\([ ,;]\)/ N\1/g; s/ $//'
}

mkdir "$tmp/bin"
ln -s "$WAZA" "$tmp/bin/waza"
examples=0
for doc in README.md man/*.[1-9]
do
	work=$tmp/w/${doc##*/}
	mkdir -p "$work"
	case $doc in
	README.md) ;;	# a stranger has only the program
	*)	cp -R examples "$work/" ;;
	esac
	extract "$doc" >"$tmp/examples"
	cmd= want=
	while IFS= read -r line
	do
		case $cmd in
		*\\)	cmd=$cmd'
'$line
			continue ;;
		esac
		case $line in
		'$ '*)
			case $cmd in
			''|:|make*|git*|cc*|'./waza'*) ;;
			@*)	file=$work/${cmd#@}
				mkdir -p "${file%/*}" && printf '%s\n' "$want" >"$file" ;;
			*)	example ;;
			esac
			cmd=${line#??} want= ;;
		*)	want=$want${want:+
}$line ;;
		esac
	done <"$tmp/examples"
done
ok 'there are examples' [ "$examples" -gt 5 ]
ok 'README.md: the files of its quickstart' [ -s "$tmp/w/README.md/eval.yaml" ] &&
    ok 'README.md: the agent of its quickstart' [ -s "$tmp/w/README.md/agent.sh" ]

# The table of graders, and their details, are those that an error lists.
printf '%s\n' 'name: t' 'skill: s' 'tasks: [{id: a, prompt: x}]' 'graders: [{type: zzzzzzzz}]' >"$tmp/kinds.yaml"
"$WAZA" validate "$tmp/kinds.yaml" 2>&1 | sed -n 's/.*kinds: \([a-z_, ]*\).*/\1/p' | tr -d ' ' | tr , '\n' >"$tmp/kinds"
ok 'there are kinds of graders' [ "$(wc -l <"$tmp/kinds")" -gt 10 ]
is 'waza-eval(5): the table of graders' "$(cat "$tmp/kinds")" \
    "$(sed -n '/^\.Sh GRADERS/,/^\.El/s/^\.It Cm //p' man/waza-eval.5 | tr -d ' ' | tr , '\n' | sort)"
is 'waza-eval(5): details of graders' "$(cat "$tmp/kinds")" \
    "$(sed -n '/^\.Sh GRADERS/,/^\.Sh EXP/s/^\.Ss \([a-z_]*\)$/\1/p' man/waza-eval.5 | sort)"

for c in $("$WAZA" help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
do
	is "waza(1) has the command $c and its summary" "$("$WAZA" help "$c" | head -n 1)" \
	    "$(sed -n "/^\.It Xr waza-$c 1/{n;p;}" man/waza.1)"
	page=$(grep -lE "^\.Nm waza-$c( ,)?\$" man/*.1)
	is "one page has the name waza-$c" 1 "$(echo "$page" | grep -c .)"
	is "help $c ends with the name of its page" "See waza-$c(1) for more." \
	    "$("$WAZA" help "$c" | tail -n 1)"
	for o in $("$WAZA" help "$c" | sed -n 's/^  .*--\([a-z-]*\).*/\1/p')
	do
		ok "$page has $c --$o" grep -q "Fl Fl $o" "$page"
	done
done
# The executors of README's table of agents exist.
"$WAZA" run --executor zzzzzzzz examples/hello 2>&1 | grep -o '[a-z-]*' | sort -u >"$tmp/words"
sed -n '/^## Agents/,/^## /p' README.md | cut -d '|' -f 3 | grep -o '`[a-z-]*`' | tr -d '`' | sort -u >"$tmp/executors"
ok "README.md: a table of agents" [ "$(wc -l <"$tmp/executors")" -gt 5 ]
is 'README.md: executors of agents' '' "$(comm -23 "$tmp/executors" "$tmp/words")"
# Paths in backticks, with a folder or an ending of the source, exist.
for doc in README.md DESIGN.md CHANGES.md SECURITY.md
do
	grep -oE '`[A-Za-z_./-]+`' "$doc" | tr -d '`' | sort -u >"$tmp/paths"
	while read -r path
	do
		case $path in
		*NAME*|http*|../*|/*|results/) continue ;;
		?*.c|?*.h|?*.t|?*.js|*/) ;;
		*) continue ;;
		esac
		[ -e "$path" ] || [ "$path" = build/page_files.c ] || echo "$doc: $path"
	done <"$tmp/paths"
done >"$tmp/bad"
is 'the documents name files that exist' '' "$(cat "$tmp/bad")"
v=$("$WAZA" --version)
is 'CHANGES.md begins with this version' "${v#waza }" \
    "$(sed -n 's/^## \([0-9.]*\).*/\1/p' CHANGES.md | head -n 1)"
done_testing
