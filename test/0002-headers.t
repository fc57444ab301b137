# Each header compiles alone, and twice.
. "${0%/*}/lib.sh"
cd "$top" || exit 1
for h in *.h
do
	printf '#include "%s"\n#include "%s"\nint main(void) { return 0; }\n' \
	    "$h" "$h" >"$tmp/one.c"
	ok "$h alone" ${CC:-cc} -std=c99 -D_POSIX_C_SOURCE=200809L -Wall \
	    -Wextra -Wpedantic -I. -fsyntax-only "$tmp/one.c"
done
done_testing
