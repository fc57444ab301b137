# STYLE: width, tabs, banned calls, who may allocate, size of functions.
. "${0%/*}/lib.sh"
cd "$top" || exit 1

# a line is 80 columns with tabs of 8; a row of a table may have 100
is 'no line is too wide' '' "$(awk '
	{
		n = 0; s = $0
		for (i = 1; i <= length(s); i++)
			n = substr(s, i, 1) == "\t" ? n - n % 8 + 8 : n + 1
		wide = s ~ /^\t* *[{".\[0-9]/ || s ~ /STR\(|OK\(/ ? 100 : 80
		if (n > wide) print FILENAME ":" FNR ": " n
	}' ./*.[ch])"
is 'no trailing blanks' '' "$(grep -nE '[ 	]+$' ./*.[ch] Makefile test/*.t test/*.c)"
is 'indentation is tabs' '' "$(grep -nE '^        ' ./*.[ch])"
is 'memory comes from base.c, loop.c and conn.c' '' "$(grep -nE \
    '(^|[^a-z_])(malloc|calloc|realloc|free|strdup|strndup)\(' ./*.[ch] |
    grep -vE '^\./(base|loop|conn)\.c:')"
is 'no banned calls' '' "$(grep -nE \
    '(^|[^a-z_])(strcpy|strcat|sprintf|gets|alloca|setjmp|longjmp|system|popen|atof|strtok|tmpnam|signal|isalpha|isdigit|isspace|isalnum|tolower|toupper|setlocale)\(' \
    ./*.[ch] | grep -v ':[0-9]*: \*')"
is 'functions fit on a screen' '' "$(awk '
	FNR == 1 { s = 0 }
	/^\{/ { s = FNR; name = prev }
	/^\}/ { if (s && FNR - s > 80) print FILENAME ":" s ": " name; s = 0 }
	$0 != "" { prev = $0 }' ./*.[ch])"
is 'files are cut along a noun before 700 lines' '' "$(wc -l ./*.[ch] | awk '
	$1 > 700 && $2 !~ /^\.\/(json\.h|re_unicode\.c)$/ && $2 != "total" { print $2 ": " $1 }')"
is 'each file names its licence' '' \
    "$(grep -L '^/\* SPDX-License-Identifier: ISC \*/' ./*.[ch] test/*.[ch] test/fuzz/*.c)"
is 'only os files know systems' '' "$(grep -nE \
    '#[ 	]*(if|ifdef|ifndef|elif).*(__linux__|__APPLE__|__FreeBSD__|__OpenBSD__|__NetBSD__|_WIN32)' \
    ./*.[ch] | grep -vE '^\./os[a-z_]*\.[ch]:')"
for f in test/t_*.c
do grep -q "${f%.c}\b" Makefile || echo "$f"
done >"$tmp/bad"
is 'every unit test is in the Makefile' '' "$(cat "$tmp/bad")"
for f in *.c
do grep -q "[ 	]$f\b" Makefile || echo "$f"
done >"$tmp/bad"
is 'every source file is in the Makefile' '' "$(cat "$tmp/bad")"
done_testing
