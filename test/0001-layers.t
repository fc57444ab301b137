# Includes point downwards only (DESIGN.md section 3), and every source file
# has its place in the map below.
. "${0%/*}/lib.sh"
cd "$top" || exit 1

# a name with an underscore belongs to the part before it
cat >"$tmp/map" <<'MAP'
0 base os
1 json yaml re expr schema diff field opt http ws csv glob mask tmpl stats
2 loop proc conn wire fetch workspace
3 run agent remote acp copilot openai grader judge spec event result outcome cache config store
4 rpc server tool session peer web client report compare
5 waza
MAP

# base may not look at anything, os only at base; elsewhere downwards, or
# sideways to what the file is made of
grep '^#include "' ./*.[ch] | sed 's|^\./||; s|:#include "| |; s|\.h".*||' |
awk -v map="$tmp/map" '
	BEGIN {
		while ((getline line < map) > 0) {
			n = split(line, w, " ")
			for (i = 2; i <= n; i++) layer[w[i]] = w[1]
		}
	}
	{
		from = $1; sub(/\.[ch]$/, "", from); sub(/_.*/, "", from)
		to = $2; sub(/_.*/, "", to)
		if (!(from in layer)) print from ": not in the map"
		else if (!(to in layer)) print to ": not in the map"
		else if (layer[to] > layer[from]) print $1 " includes " to ".h, which is above it"
		else if (from == "base" && to != "base") print "base.c includes " to ".h"
	}' | sort -u >"$tmp/bad"
is 'includes point downwards' '' "$(cat "$tmp/bad")"

# layer 1 is pure: no descriptor, clock, process or global state
set --
for m in $(sed -n 's/^1 //p' "$tmp/map")
do
	for f in "$m".[ch] "$m"_*.[ch]
	do [ ! -f "$f" ] || set -- "$@" "$f"
	done
done
is 'layer 1 includes no system interface' '' "$(grep -nE \
    '#include <(unistd|fcntl|time|signal|poll|pthread|dirent|sys/.*)\.h>' "$@")"
is 'layer 1 opens, reads and prints nothing' '' "$(grep -nE \
    '(^|[^a-z_>.])(open|read|write|fopen|printf|fprintf|puts|getenv|time|clock_gettime)\(' "$@")"

# its own header, or one that the files of its noun share
for f in *.c
do
	first=$(grep -m1 '^#include' "$f")
	case $f in
	json.c) continue ;;
	*_*) noun=${f%%_*} ;;
	*)   noun=${f%.c} ;;
	esac
	case $first in
	'#include "'"${f%.c}.h"'"'|'#include "'"$noun".h'"'|'#include "'"$noun"_*.h'"') ;;
	*) grep -q '^#define _' "$f" || echo "$f: $first" ;;
	esac
done >"$tmp/bad"
is 'each .c includes its own header first' '' "$(cat "$tmp/bad")"
done_testing
