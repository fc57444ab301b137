# The folder graph has no cycles: a folder includes, and calls, only what the
# table in DESIGN.md section 2 allows.
. "${0%/*}/../tool/lib.sh"
. "$top/test/rules/files.sh"

# The table as lines "FOLDER ALLOWED...".  A row's third column lists the folders
# that it may include; "all above" means every earlier row.
awk -F'|' '
	/^## / { on = /^## 2\./ }
	on && /^\| `/ {
		split($2, cell, "`"); name = cell[2]; sub(/\/$/, "", name)
		may = $4; gsub(/[`\/]* /, " ", may); gsub(/`/, "", may)
		if (may ~ /all above/) may = above
		print name, may
		above = above " " name
	}' DESIGN.md >"$tmp/table"
is 'the table has every folder' "$(echo $folders | tr ' ' '\n' | grep '^lib/\|^[a-z]*$')" \
    "$(cut -d' ' -f1 "$tmp/table")"

# judge: lines "FILE FOLDER WHAT FOLDER-OF-WHAT"; prints the edges that are refused
judge() {
	awk -v table="$tmp/table" '
	BEGIN {
		while ((getline line < table) > 0) {
			n = split(line, w, " ")
			for (i = 2; i <= n; i++) may[w[1], w[i]] = 1
			may[w[1], w[1]] = 1
		}
	}
	!(($2, $4) in may) { print $1 " (" $2 "/) uses " $3 " of " $4 "/" }' | sort -u
}

# folder_of: adds to lines "FILE WHAT FILE-OF-WHAT" the folders of both files.  A file
# in the root is a member of a folder; a folder inside another counts as the outer
# one, apart from those of lib/.
folder_of() {
	awk '
	BEGIN { root["json.h"] = "base"; root["yaml_lite"] = "lib/yaml"; root["rpc"] = "rpc"
		root["grader"] = "grade"; root["waza"] = "cmd" }
	function folder(f) {
		if (f == "json.h") return "base"
		if (f ~ /^build\//) return "report"
		if (f ~ /^lib\/.*\//) { sub(/\/[^\/]*$/, "", f); return f }
		if (f ~ /\//) { sub(/\/.*/, "", f); return f }
		sub(/\.[cho]$/, "", f)
		return f in root ? root[f] : "(none)"
	}
	{ print $1, folder($1), $2, folder($3) }'
}

# shellcheck disable=SC2086 # lists of words, here and below
grep -H '^#include "' $sources | sed 's|:#include "| |; s|".*||' >"$tmp/includes"
is 'includes follow the table' '' \
    "$(awk '{ print $1, $2, $2 }' "$tmp/includes" | folder_of | judge)"
is 'includes are qualified by their folder' '' "$(while read -r from to
	do [ -f "$to" ] || echo "$from: $to"
	done <"$tmp/includes")"
# shellcheck disable=SC2086
is 'includes are written #include "FOLDER/FILE.h"' '' "$(grep -nE '^[ 	]*#[ 	]*include' $sources |
    grep -vE ':#include ("|<[a-z0-9_]+\.h>|<(sys|net|netinet|arpa|linux)/[a-z0-9_]+\.h>)')"
is 'every C file is in a folder of the table' '' "$(find . -name '*.[ch]' | sed 's|^\./||' |
    grep -vE '^(test|build|util|examples)/' | grep -vxF "$sources")"
is 'private headers stay in their folder' '' "$(awk '$2 ~ /_internal\.h$/ { print $1, $2, $2 }' \
    "$tmp/includes" | folder_of | awk '$2 != $4')"

# lib/ is pure: no descriptor, clock, process or global state
pure=$(printf '%s\n' $sources | grep '^lib/')
is 'lib/ includes no system interface' '' "$(grep -nE \
    '#include <(unistd|fcntl|time|signal|poll|pthread|dirent|sys/.*)\.h>' $pure yaml_lite.c)"
is 'lib/ opens, reads and prints nothing' '' "$(grep -nE \
    '(^|[^a-z_>.])(open|read|write|fopen|printf|fprintf|puts|getenv|time|clock_gettime)\(' $pure yaml_lite.c)"

# its own header, or one that the files of its noun share
for f in $sources
do
	case $f in
	*.h|base/json.c) continue ;;
	cmd/*) noun='[a-z_]*' ;;
	*) noun=${f##*/} noun=${noun%.c} noun=${noun%%_*} ;;
	esac
	own=${f%.c}.h
	[ -f "$own" ] || own=
	first=$(grep -m1 '^#include' "$f")
	printf '%s\n' "$first" | grep -qE "^#include \"(${own:-none}|([a-z/]*/)?(${noun}|waza)(_[a-z_]+)?\.h)\"" ||
	    grep -q '^#define _' "$f" || echo "$f: $first"
done >"$tmp/bad"
is 'each .c includes its own header first' '' "$(cat "$tmp/bad")"
is 'basenames are unique outside of cmd/' '' \
    "$(printf '%s\n' $sources | grep -v '^cmd/' | sed 's|.*/||' | sort | uniq -d)"
looked_at "$(count $sources)"

# the same by symbols: what an object calls is defined in a folder that it may use
command -v nm >/dev/null || { skip 'symbols: nm is not installed'; done_testing; }
objects=$(printf '%s\n' $sources build/page_files.c | sed -n 's/\.c$/.o/p' | grep -v /small/)
for o in $objects
do [ -f "$o" ] || { skip "symbols: $o is not built"; done_testing; }
done
nm -A -P $objects | sed 's/: / /' >"$tmp/symbols"
awk '$3 ~ /^[TDRBCV]$/ { home[$2] = $1; next }
	$3 == "U" { use[$1 " " $2] }
	END { for (u in use) { split(u, w, " "); if (w[2] in home) print w[1], w[2], home[w[2]] } }' \
    "$tmp/symbols" >"$tmp/uses"
is 'calls follow the table' '' "$(folder_of <"$tmp/uses" | judge)"
ok "looked at $(wc -l <"$tmp/uses") calls" [ "$(wc -l <"$tmp/uses")" -ge 3000 ]
done_testing
