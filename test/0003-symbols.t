# What an object exports carries a prefix that its header declares in its
# first lines; the one writable variable is the signal pipe in loop.c.
. "${0%/*}/lib.sh"
cd "$top" || exit 1
command -v nm >/dev/null || skip_all 'no nm here'
set --
for o in *.o
do case $o in waza*) ;; *) set -- "$@" "$o" ;; esac
done

# noun prefix ...: what the first lines of each noun's headers declare
for h in *.h
do
	noun=${h%.h}
	printf '%s ' "${noun%%_*}"
	sed -n '2,4p' "$h" | tr -s ' .,*:' '\n' | grep '_$' | sort -u | tr '\n' ' '
	echo
done >"$tmp/prefixes"
nm -A -P "$@" | sed 's/^\([a-z_0-9]*\)\.o: /\1 /' | awk -v file="$tmp/prefixes" '
	BEGIN {
		while ((getline line < file) > 0) {
			n = split(line, w, " ")
			for (i = 2; i <= n; i++) has[w[1]] = has[w[1]] " " w[i]
		}
	}
	$3 ~ /^[TDRBC]$/ && $2 !~ /^__/ {
		noun = $1; sub(/_.*/, "", noun); ok = 0
		n = split(has[noun], w, " ")
		for (i = 1; i <= n; i++) if (index($2, w[i]) == 1) ok = 1
		if (!ok) print $1 ".o: " $2
	}' >"$tmp/bad"
is 'exports carry the prefix of their header' '' "$(cat "$tmp/bad")"

# read-only data with addresses in it is written by the loader only
nm -A -f sysv base.o >"$tmp/base" 2>/dev/null || skip_all 'no nm that names sections'
if grep -q ':L\.[0-9].*|\.data' "$tmp/base"
then skip_all 'this compiler keeps constants in .data'
fi
nm -A -f sysv "$@" | awk -F'|' '
	{ gsub(/ /, "", $1); gsub(/ /, "", $7) }
	$7 ~ /^(\.data|\.bss|\.tdata|\.tbss|COMMON)/ && $7 !~ /^\.data\.rel\.ro/ &&
	    $1 !~ /^loop\.o:sig/ { print $1 " in " $7 }' >"$tmp/bad"
is 'no writable data but the signal pipe' '' "$(cat "$tmp/bad")"
done_testing
