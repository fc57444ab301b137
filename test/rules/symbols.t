# What an object exports carries a prefix that a header of its noun declares in
# its first lines; the one writable variable is the signal pipe in io/loop.c.
. "${0%/*}/../tool/lib.sh"
. "$top/test/rules/files.sh"
command -v nm >/dev/null || skip_all 'nm is not installed'
objects=$(printf '%s\n' $sources build/page_files.c | sed -n 's/\.c$/.o/p' | grep -v '^waza\.o$\|/small/')

# "NOUN PREFIX...": what the first lines of each noun's headers declare.  In cmd/
# a file is named after its command, and all exports begin with cmd_.
for h in $sources
do
	case $h in
	*.h) ;;
	*) continue ;;
	esac
	noun=${h##*/} noun=${noun%.h}
	printf '%s ' "${noun%%_*}"
	sed -n '2,4p' "$h" | tr -s ' .,*:' '\n' | grep '_$' | sort -u | tr '\n' ' '
	echo
done >"$tmp/prefixes"
# shellcheck disable=SC2086 # lists of words, here and below
nm -A -P $objects | sed 's/^\([a-z_0-9/]*\)\.o: /\1 /' | awk -v file="$tmp/prefixes" '
	BEGIN {
		while ((getline line < file) > 0) {
			n = split(line, w, " ")
			for (i = 2; i <= n; i++) has[w[1]] = has[w[1]] " " w[i]
		}
	}
	$3 ~ /^[TDRBC]$/ && $2 !~ /^__/ {
		noun = $1; sub(/.*\//, "", noun); sub(/_.*/, "", noun); ok = 0
		if ($1 ~ /^cmd\// && $2 ~ /^cmd_/) next
		n = split(has[noun], w, " ")
		for (i = 1; i <= n; i++) if (index($2, w[i]) == 1) ok = 1
		if (!ok) print $1 ".o: " $2
	}' >"$tmp/bad"
is 'exports carry the prefix of their header' '' "$(cat "$tmp/bad")"
looked_at "$(count $sources)"

# read-only data with addresses in it is written by the loader only
nm -A -f sysv base/base.o >"$tmp/base" 2>/dev/null || skip_all 'this nm does not name sections'
if grep -q ':L\.[0-9].*|\.data' "$tmp/base"
then skip_all 'this compiler keeps constants in .data'
fi
nm -A -f sysv $objects | awk -F'|' '
	{ gsub(/ /, "", $1); gsub(/ /, "", $7) }
	$7 ~ /^(\.data|\.bss|\.tdata|\.tbss|COMMON)/ && $7 !~ /^\.data\.rel\.ro/ &&
	    $1 !~ /^io\/loop\.o:sig/ { print $1 " in " $7 }' >"$tmp/bad"
is 'no writable data but the signal pipe' '' "$(cat "$tmp/bad")"
done_testing
