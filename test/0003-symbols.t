# What an object exports carries a prefix that its header declares in its
# first lines; the one writable variable is the signal pipe in loop.c.
. "${0%/*}/lib.sh"
cd "$top" || exit 1
command -v nm >/dev/null || skip_all 'no nm here'
# prefixes FILE...: what the headers' first lines declare, as a pattern
prefixes() {
	for h
	do [ ! -f "$h" ] || sed -n '2,4p' "$h"
	done | tr -s ' .,*:' '\n' | grep '_$' | sort -u | tr '\n' '|' | sed 's/|$//'
}

for o in *.o
do
	case $o in waza*) continue ;; esac
	noun=${o%.o}
	nm -P "$o" | awk -v o="$o" -v pat="^($(prefixes "$noun.h" "${noun%%_*}".h \
	    "${noun%%_*}"_*.h))" '$2 ~ /^[TDRBC]$/ && $1 !~ pat { print o ": " $1 }'
done >"$tmp/bad"
is 'exports carry the prefix of their header' '' "$(cat "$tmp/bad")"

# read-only data with addresses in it counts as written by the loader only
nm -f sysv base.o >"$tmp/nm" 2>/dev/null || skip_all 'no nm that names sections'
for o in *.o
do
	case $o in waza*) continue ;; esac
	nm -f sysv "$o" | awk -F'|' -v o="$o" '
		{ gsub(/ /, "", $7); gsub(/ /, "", $1) }
		$7 ~ /^(\.data|\.bss|\.tdata|\.tbss|COMMON)/ && $7 !~ /^\.data\.rel\.ro/ &&
		    !(o == "loop.o" && $1 ~ /^sig/) { print o ": " $1 " in " $7 }'
done >"$tmp/bad"
is 'no writable data but the signal pipe' '' "$(cat "$tmp/bad")"
done_testing
