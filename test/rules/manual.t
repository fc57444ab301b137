# The manual as it is installed: every page, under every name that it has, and
# every reference in it leads to a page.  uninstall removes all of it.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL

# names PAGE: the names in its section NAME, with the section
names() {
	awk -v section="${1##*.}" '/^\.Nd/ { exit }
	    /^\.Nm / { print $2 "." section }' "$1"
}

root="$tmp/a root"
make -s install-man DESTDIR="$root" PREFIX=/usr >"$tmp/out" 2>&1
is 'install-man works' '' "$(cat "$tmp/out")"
for page in man/*.[1-9]
do names "$page"
done | sort >"$tmp/want"
find "$root" -type f | sed 's,.*/,,' | sort >"$tmp/installed"
is 'a page is installed under each of its names' "$(cat "$tmp/want")" "$(cat "$tmp/installed")"

for page in man/*.[1-9]
do
	for name in $(names "$page")
	do
		f=$root/usr/share/man/man${name##*.}/$name
		case $page in
		*/"$name") ok "$name is $page" cmp -s "$page" "$f" ;;
		*)	is "$name is $page" ".so man1/${page#man/}" "$(cat "$f")" ;;
		esac
	done
done

# References of .Xr waza-NAME SECTION
sed -n 's/^\.\(.* \)\{0,1\}Xr \(waza[a-z-]*\) \([1-9]\).*/\2.\3/p' man/*.[1-9] | sort -u |
    comm -23 - "$tmp/installed" >"$tmp/bad"
is 'references lead to pages' '' "$(cat "$tmp/bad")"
make -s uninstall DESTDIR="$root" PREFIX=/usr >"$tmp/out" 2>&1
is 'uninstall removes all pages' '' "$(cat "$tmp/out"; find "$root" -type f)"

# wider COLUMNS: the lines of a rendered page that are wider
wider() {
	LC_ALL=C.UTF-8 col -bx | LC_ALL=C tr -d '\200-\277' |
	    LC_ALL=C awk -v w="$1" 'length($0) > w' | head -n 5
}

# fits PROGRAM: pages fit 80 columns, and without literal blocks 60
fits() {
	command -v "$1" >/dev/null && command -v col >/dev/null || {
		skip "no $1, or no col"
		return
	}
	is "$1: pages fit 80 columns" '' "$("$1_at" 80 man/*.[1-9] | wider 80)"
	is "$1: text and tables fit 60 columns" '' "$("$1_at" 60 "$tmp"/text/* | wider 60)"
}

mandoc_at() {
	columns=$1
	shift
	for page
	do mandoc -Tutf8 -Owidth="$columns" "$page"
	done
}

man_at() {
	columns=$1
	shift
	MANWIDTH=$columns LC_ALL=C.UTF-8 man -l "$@" 2>&1
}

mkdir "$tmp/text"
for page in man/*.[1-9]
do
	awk '/^\.Bd -literal/ { off = 1 } !off && !/^\.Dl / { print } /^\.Ed/ { off = 0 }' \
	    "$page" >"$tmp/text/${page##*/}"
done
fits mandoc
if man --version 2>/dev/null | grep -q '^man [0-9]'
then fits man
else skip 'man is not that of man-db'
fi

# The HTML of every page, and links that lead somewhere.
if command -v mandoc >/dev/null
then
	is 'make html names the index' "$tmp/html/index.html" "$(make -s html HTML="$tmp/html" 2>&1)"
	is 'make html: all pages' "$(cat "$tmp/installed")" \
	    "$(cd "$tmp/html" && ls ./*.[1-9].html | sed 's,.*/,,; s/\.html$//' | sort)"
	is 'make html: the index names all pages' "$(cat "$tmp/installed")" \
	    "$(sed -n 's/.*href="\([^"]*\.[1-9]\)\.html".*/\1/p' "$tmp/html/index.html" | sort -u)"
	(
		cd "$tmp/html" || exit
		ls
		grep -o ' id="[^"]*"' ./*.html | sed 's,^\./,,; s/: id="/#/; s/"$//'
	) | sort -u >"$tmp/targets"
	(cd "$tmp/html" && grep -o 'href="[^"]*"' ./*.html) |
	    sed 's,^\./,,; /"http/d; s/\([^:]*\):href="#/\1#/; s/.*href="//; s/"$//' | sort -u |
	    comm -23 - "$tmp/targets" >"$tmp/bad"
	is 'make html: links lead somewhere' '' "$(head -n 10 "$tmp/bad")"
else skip 'no mandoc'
fi
is 'make html without mandoc: a message' 'html: mandoc is not installed; nothing was written' \
    "$(PATH=/nonexistent MAN= MAN_NAMES= /bin/sh man/html "$tmp/none" 2>&1)"
done_testing
