# Every example in the manual and the README is run; every command and option
# is in the manual, and the versions agree.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1

# Examples are lines "$ command" and the output below them, in mdoc's
# .Bd -literal blocks and in README's ```console blocks.
extract() {
	case $1 in
	*.md) awk '/^```console$/ { on = 1; next } /^```/ { if (on) print "$ :"; on = 0 } on' "$1" ;;
	*)    awk '/^\.Bd -literal/ { on = 1; next } /^\.Ed/ { if (on) print "$ :"; on = 0 } on' "$1" |
	      sed 's/\\&//g; s/\\e/\\/g; s/\\-/-/g; s/\\(dq/"/g' ;;
	esac
}

# example: $cmd prints $want
example() {
	case $cmd in
	*examples/api/run.sh)
		command -v curl >/dev/null || {
			skip 'no curl'
			return
		} ;;
	esac
	examples=$((examples + 1))
	got=$(cd "$tmp/w" && PATH=$tmp/bin:$PATH sh -c "$cmd" 2>&1)
	is "$doc: $cmd" "$want" "$got"
}

mkdir "$tmp/bin" "$tmp/w"
ln -s "$WAZA" "$tmp/bin/waza"
cp -R examples "$tmp/w/"
examples=0
for doc in README.md man/*.[1-9]
do
	extract "$doc" >"$tmp/examples"
	cmd= want=
	while IFS= read -r line
	do
		case $line in
		'$ '*)
			case $cmd in
			''|:|make*|git*|cc*|'./waza'*) ;;
			*) example ;;
			esac
			cmd=${line#??} want= ;;
		*)	want=$want${want:+
}$line ;;
		esac
	done <"$tmp/examples"
done
ok 'there are examples' [ "$examples" -gt 5 ]

for c in $("$WAZA" help | sed -n 's/^  \([a-z-]*\) .*/\1/p')
do
	ok "waza(1) has the command $c" grep -q "^\.It Cm $c\|^\.It Ic $c" man/waza.1
	for o in $("$WAZA" help "$c" | sed -n 's/^  .*--\([a-z-]*\).*/\1/p')
	do
		ok "the manual has $c --$o" grep -qs "Fl Fl $o" man/waza.1 "man/waza-$c.1"
	done
done
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
