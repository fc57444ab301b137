# STYLE: width, tabs, banned calls, who may allocate, size of functions.
. "${0%/*}/../tool/lib.sh"
. "$top/test/rules/files.sh"
# shellcheck disable=SC2086 # $sources and $tests are lists of words
{

# a line is 80 columns with tabs of 8; a row of a table up to 100
is 'no line is too wide' '' "$(awk '
	{
		n = 0; s = $0
		for (i = 1; i <= length(s); i++)
			n = substr(s, i, 1) == "\t" ? n - n % 8 + 8 : n + 1
		wide = s ~ /^\t* *[{".\[0-9]/ || s ~ /STR\(|OK\(/ ? 100 : 80
		if (n > wide) print FILENAME ":" FNR ": " n
	}' $sources)"
is 'no trailing blanks' '' "$(grep -nE '[ 	]+$' $sources $tests Makefile test/*/*.t)"
is 'indentation is tabs' '' "$(grep -nE '^        ' $sources)"
is 'memory comes from base.c, loop.c and conn.c' '' "$(grep -nE \
    '(^|[^a-z_])(malloc|calloc|realloc|free|strdup|strndup)\(' $sources |
    grep -vE '^(base/base|io/loop|io/conn)\.c:')"
# Elements of arrays have no place for a name (json.h): these files know their nodes,
# which are members or of their own making
is 'names of members are read by json_key()' '' "$(grep -nE -e '->(nkey|key_line)($|[^a-z_])' $sources |
    grep -vE '^(json.h|lib/(csv|field|schema/schema_check|yaml/yaml_map).c|agent/proto/acp_setup.c|cmd/schema_check.c|editor/lsp_check.c|grade/grader_prompt_rubric.c|skill/(budget|check_fix|check_spec).c|suite/(config_layer|spec|spec_config|spec_foreign|spec_mock|spec_preset|spec_remote|spec_skill).c|web/web_api.c):')"
is 'no banned calls' '' "$(grep -nE \
    '(^|[^a-z_])(strcpy|strcat|sprintf|gets|alloca|setjmp|longjmp|system|popen|atof|strtok|tmpnam|signal|isalpha|isdigit|isspace|isalnum|tolower|toupper|setlocale)\(' \
    $sources | grep -v ':[0-9]*: \*')"
is 'functions fit on a screen' '' "$(awk '
	FNR == 1 { s = 0 }
	/^\{/ { s = FNR; name = prev }
	/^\}/ { if (s && FNR - s > 60) print FILENAME ":" s ": " name; s = 0 }
	$0 != "" { prev = $0 }' $sources)"
is 'messages are printed by cmd_say(), which makes them safe' '' "$(grep -nE \
    '(^|[^a-z_])(v?f?printf|f?puts|f?putc|putchar|fwrite|perror)\(' $sources |
    grep -vE '^(json.h|base/base.c):')"
is 'executors are asked for properties, not compared by name' '' "$(grep -nE \
    'str_(is|eq)\([^;]*"(mock|command|acp|openai|remote|replay|copilot-sdk)"' \
    run/*.c grade/*.c rpc/*.c cmd/*.c cmd/*/*.c grader.c rpc.c)"
is 'files are cut along a noun before 700 lines' '' "$(wc -l $sources | awk '
	$1 > 700 && $2 != "json.h" && $2 != "total" { print $2 ": " $1 }')"
is 'each file names its licence' '' \
    "$(grep -L '^/\* SPDX-License-Identifier: ISC \*/' $sources $tests)"
is 'only os files know systems' '' "$(grep -nE \
    '#[ 	]*(if|ifdef|ifndef|elif).*(__linux__|__APPLE__|__FreeBSD__|__OpenBSD__|__NetBSD__|_WIN32)' \
    $sources | grep -vE '^base/os[a-z_]*\.[ch]:')"
for f in $tests
do
	case $f in
	test/unit/*.c) want=${f#test/unit/} ;;
	test/tool/*.c) want=${f#test/tool/} ;;
	test/fuzz/fuzz_*.c) want=${f#test/fuzz/fuzz_} ;;
	*) continue ;;
	esac
	grep -q "[ 	]${want%.c}\b" test/test.mk || echo "$f"
done >"$tmp/bad"
is 'every test is in test/test.mk' '' "$(cat "$tmp/bad")"
{ make -n V=1 -B && make -n V=1 -B SMALL=1; } 2>/dev/null >"$tmp/make" || skip_all 'make -n -B does not work here'
for f in $sources
do
	case $f in
	*.c) grep -q " $f\( \|$\)" "$tmp/make" || echo "$f" ;;
	esac
done >"$tmp/bad"
is 'every source file is in the Makefile' '' "$(cat "$tmp/bad")"
is 'the root holds at most 18 files' '' "$(ls -A | grep -vE '^\.git$|\.o$|\.tar\.gz$|^waza$' |
    while read -r f; do [ ! -f "$f" ] || echo "$f"; done | sed -n '19,$p')"
is 'no folder holds more than 40 sources' '' "$(for d in $folders
	do n=$(ls "$d"/*.[ch] | wc -l)
	[ "$n" -le 40 ] || echo "$d: $n"
	done)"
}
looked_at "$(count $sources)"
done_testing
