# Each header compiles alone, and twice.  The files that are looked at are those
# of the product: a header that nobody includes is found as well.  So do the
# measurements, which are run rarely.
. "${0%/*}/../tool/lib.sh"
. "$top/test/rules/files.sh"
# the headers that a source includes
grep -h '^#include "' $sources | sed 's/.*"\(.*\)".*/\1/' | sort -u >"$tmp/included"
for h in $sources
do
	case $h in
	*.h) ;;
	*) continue ;;
	esac
	printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' \
	    "$h" "$h" >"$tmp/one.c"
	ok "$h alone" ${CC:-cc} -std=c99 -D_POSIX_C_SOURCE=200809L -Wall \
	    -Wextra -Wpedantic -I. -c -o "$tmp/one.o" "$tmp/one.c"
	grep -qxF "$h" "$tmp/included" || echo "$h"
done >"$tmp/tap"
grep -v '\.h$' "$tmp/tap"
tap_n=$(grep -cE '^(not )?ok ' "$tmp/tap")
! grep -q '^not ok' "$tmp/tap" || tap_bad=1
is 'each header is included somewhere' '' "$(grep '\.h$' "$tmp/tap")"
for c in test/bench/*.c
do ok "$c" ${CC:-cc} -std=c99 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Werror -DWAZA_VERSION=0 -I. -c -o "$tmp/one.o" "$c"
done
looked_at "$(count $sources)"
done_testing
