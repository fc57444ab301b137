# `make amalgamation`: one file that compiles without options and warnings, and
# whose names stay apart.  CI builds the program from it and tests that.
. "${0%/*}/../tool/lib.sh"
cd "$top" || exit 1
unset MAKEFLAGS MAKELEVEL

run make -s amalgamation
is 'make amalgamation' '0 ' "$rc $err"
all=build/waza-all.c
is 'it includes system headers only' '' "$(grep -n '^#[ 	]*include "' "$all")"
cc=${CC:-cc}
case $cc in
*gcc*|*clang*|cc)
	# gcc reads the file again for each function to judge its indentation
	run $cc -fsyntax-only -Wall -Wno-misleading-indentation "$all" ;;
*)
	run $cc -c -o "$tmp/all.o" "$all" ;;
esac
is 'it compiles without options and warnings' '0 ' "$rc $err"

# names that meet in each other's files, in each way that C can use a name
mkdir "$tmp/lib"
cat >"$tmp/lib/row.h" <<'END'
#ifndef ROW_H
#define ROW_H
#include <stddef.h>
struct hidden;
struct row { const char *name; size_t at; int kind; };
#define ROW(T, m, k) { #m, offsetof(struct T, m), KIND_##k }
enum { KIND_A = 1, KIND_B = 2 };
int one(int send);
int two(int send);
struct hidden *hide(void);
static inline int three(void) { return 3; }
#endif
END
for f in one two
do
	[ $f = one ] && n=1 || n=2
	cat >"$tmp/$f.c" <<END
#include "lib/row.h"
#include <string.h>
#define LIMIT $n
#define NAMED(x) { x, #x }
#if defined(__GNUC__)
typedef int number __attribute__((aligned(16)));
#else
typedef int number;
#endif
enum mode { OFF, ON = LIMIT, MODE_$f };
struct item { number send; int limit[ON]; struct item *next; enum mode mode : 3; };
static const struct row rows[] = { ROW(item, send, A), ROW(item, next, B) };
static int text = $n;
static const struct { int v; const char *s; } named[] = { NAMED(MODE_$f) };
static int send(struct item *item) { return item->send + (int)rows[1].at * 0 + text; }
static int (*const calls[])(struct item *) = { send };
int
$f(int linux)
{
	struct item item = { .send = linux, .limit = { 0 } };
	int next = named[0].v;

	item.next = &item;
	return calls[0](item.next) * 100 + next * 10 + rows[0].kind +
	    (int)strlen(rows[0].name) + (int)strlen(named[0].s);
}
END
done
cat >>"$tmp/two.c" <<'END'
struct hidden { int send; };
static struct hidden hidden = { 5 };
struct hidden *
hide(void)
{
	return &hidden;
}
END
cat >"$tmp/main.c" <<'END'
#include "lib/row.h"
#include <stdio.h>
int
main(void)
{
	printf("%d %d %d\n", one(3), two(3), hide() != NULL);
	return 0;
}
END
echo 'the licence' >"$tmp/LICENSE"
(cd "$tmp" && "$top/build/join" 1.2 LICENSE one.c -- two.c main.c >all.c)
ok 'names of files that do not know each other' $cc -o "$tmp/all" "$tmp/all.c"
is 'the program does the same' '433 543 1' "$("$tmp/all")"
is 'functions of headers become static' 'static int one(int send);' \
    "$(grep 'int one(int send)' "$tmp/all.c")"
is 'functions of headers and of the files before -- are marked' 'WAZA_FIRST static inline int three
WAZA_FIRST static int send__one
WAZA_FIRST int' "$(sed -n '/^WAZA_FIRST/{ s/(.*//; p; }' "$tmp/all.c")"
like 'licence and version' '*the licence*#define WAZA_VERSION 1.2*' "$(cat "$tmp/all.c")"
done_testing
