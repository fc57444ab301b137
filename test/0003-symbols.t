# What an object exports carries a prefix that its header declares in its
# first lines; the one writable variable is the signal pipe in loop.c.
. "${0%/*}/lib.sh"
cd "$top" || exit 1
command -v nm >/dev/null || skip_all 'no nm here'
for o in *.o
do
	[ "$o" = waza.o ] && continue
	h=${o%.o}.h
	prefixes=$(sed -n '2,4p' "$h" | tr -s ' .,*' '\n' | grep '_$' | tr '\n' '|')
	nm -P "$o" | awk -v o="$o" -v pat="^(${prefixes%|})" '
		$2 ~ /^[TDRBC]$/ && $1 !~ pat { print o ": " $1 }
		$2 ~ /^[DdBbC]$/ && !(o == "loop.o" && $1 ~ /sig/) { print o ": writable " $1 }'
done | grep -v 'writable \(__\|DW\.ref\|_GLOBAL_\)' >"$tmp/bad"
is 'exports and writable data' '' "$(cat "$tmp/bad")"
done_testing
