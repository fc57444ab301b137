/* SPDX-License-Identifier: ISC */
#include <stdio.h>
#include <string.h>

#include "base/base.h"
#include "lib/opt.h"
#include "test/tool/tap.h"

struct o {
	bool quiet, verbose;
	const char *out;
	int64_t workers;
	struct opt_list models;
	const char *found;
	bool old;
};

static const struct opt rows[] = {
	{ .name = "quiet", .letter = 'q', .type = OPT_FLAG,
	    .off = offsetof(struct o, quiet), .help = "less" },
	{ .name = "verbose", .letter = 'v', .type = OPT_FLAG,
	    .off = offsetof(struct o, verbose), .help = "more" },
	{ .name = "output", .letter = 'o', .type = OPT_STR, .value = "FILE",
	    .off = offsetof(struct o, out), .help = "where" },
	{ .name = "workers", .type = OPT_INT, .value = "N", .min = 1, .max = 9,
	    .off = offsetof(struct o, workers), .help = "how many" },
	{ .name = "modelset", .type = OPT_STR, .value = "NAME",
	    .group = "Models", .off = offsetof(struct o, out), .help = "how" },
	{ .name = "model", .letter = 'm', .type = OPT_LIST, .value = "NAME",
	    .off = offsetof(struct o, models), .help = "whom" },
	{ .name = "find", .type = OPT_MAYBE, .value = "DIR",
	    .off = offsetof(struct o, found), .help = "where" },
	{ .name = "old", .off = offsetof(struct o, old) },
	{ .name = "gone", .instead = "use --quiet" },
};
static const struct opt_table table = { rows, COUNTOF(rows) };

static struct arena arena;
static struct err e;
static size_t nargs;

static int
parse(struct o *o, const char *a, const char *b, const char *c)
{
	static char text[4][40];
	static char *argv[4];
	const char *in[] = { a, b, c };
	size_t i;

	for (i = 0; i < 3; i++) {
		argv[i] = NULL;
		if (in[i] != NULL) {
			strncpy(text[i], in[i], sizeof(text[i]) - 1);
			argv[i] = text[i];
		}
	}
	memset(o, 0, sizeof(*o));
	return opt_parse(&arena, &table, argv, &nargs, o, &e);
}

/* What the options q, o and find leave of a command line. */
static bool
drop(const struct opt *o)
{
	return o->letter == 'q' || o->letter == 'o' ||
	    strcmp(o->name, "find") == 0;
}

static bool
leaves(const char *in, const char *want)
{
	const char *v[20];
	char text[100];
	struct buf b = { 0 };
	size_t i, n = 0;
	bool same;

	snprintf(text, sizeof(text), "%s", in);
	for (v[0] = strtok(text, " "); v[n] != NULL; v[n] = strtok(NULL, " "))
		n++;
	const char **rest = opt_without(&arena, &table, v, drop, &n);

	for (i = 0; i < n; i++)
		buf_fmt(&b, "%s%s", i > 0 ? " " : "", rest[i]);
	same = str_is(buf_str(&b), want);
	buf_free(&b);
	return same;
}

int
main(void)
{
	struct buf b = { 0 };
	struct o o;

	OK(parse(&o, "--quiet=true", "--verbose=false", NULL) == 0 &&
	    o.quiet && !o.verbose);
	OK(parse(&o, "-v", "--verbose=false", NULL) == 0 && !o.verbose);
	OK(parse(&o, "--quiet=1", NULL, NULL) == -1 &&
	    strstr(e.msg, "true or false") != NULL);
	OK(parse(&o, "--find", "x", NULL) == 0 && nargs == 1 &&
	    o.found != NULL && *o.found == '\0');
	OK(parse(&o, "--find=x", NULL, NULL) == 0 && nargs == 0 &&
	    strcmp(o.found, "x") == 0);
	OK(parse(&o, "--find=false", NULL, NULL) == 0 && o.found == NULL);
	OK(parse(&o, "--find=true", NULL, NULL) == 0 && *o.found == '\0');
	OK(parse(&o, "--old", NULL, NULL) == 0 && o.old);
	OK(parse(&o, "--gone", "x", NULL) == -1 && strcmp(e.msg,
	    "--gone is not supported: use --quiet") == 0);
	OK(parse(&o, "-qv", "x", NULL) == 0 && o.quiet && o.verbose && nargs == 1);
	OK(parse(&o, "x", "--output", "f") == 0 && strcmp(o.out, "f") == 0);
	OK(nargs == 1);
	OK(parse(&o, "--output=f=g", NULL, NULL) == 0 && strcmp(o.out, "f=g") == 0);
	OK(parse(&o, "-of", "-", NULL) == 0 && strcmp(o.out, "f") == 0 && nargs == 1);
	OK(parse(&o, "-ma", "--model", "b") == 0 && o.models.n == 2);
	OK(strcmp(o.models.v[0], "a") == 0 && strcmp(o.models.v[1], "b") == 0);
	OK(parse(&o, "--", "-q", "--output") == 0 && !o.quiet && nargs == 2);
	OK(parse(&o, "--workers=9", NULL, NULL) == 0 && o.workers == 9);
	OK(parse(&o, "--workers=0", NULL, NULL) == -1);
	OK(strcmp(e.msg, "--workers must be from 1 to 9, not 0") == 0);
	OK(parse(&o, "--workers=2x", NULL, NULL) == -1);
	OK(strcmp(e.msg, "--workers needs a whole number, not \"2x\"") == 0);
	OK(parse(&o, "--output", NULL, NULL) == -1);
	OK(strcmp(e.msg, "--output needs a value: FILE") == 0);
	OK(parse(&o, "--quiet=1", NULL, NULL) == -1);
	OK(parse(&o, "--modle=x", NULL, NULL) == -1);
	OK(strcmp(e.msg, "unknown option \"--modle\" "
	    "(did you mean \"--model\"?)") == 0);
	OK(parse(&o, "--models=x", NULL, NULL) == -1);	/* not modelset */
	OK(strcmp(e.msg, "unknown option \"--models\" "
	    "(did you mean \"--model\"?)") == 0);
	OK(parse(&o, "--zzz", NULL, NULL) == -1);
	OK(strcmp(e.msg, "unknown option \"--zzz\"") == 0);
	OK(leaves("x --quiet --output f --model a y", "x --model a y"));
	OK(leaves("--output=f --find --find=x --quiet=false x", "x"));
	OK(leaves("-qvo f -of -m a -mb x", "-v -m a -mb x"));
	OK(leaves("-vm q -q", "-v -m q"));
	OK(leaves("--model --output x -- -q --output", "--model --output x -- "
	    "-q --output"));
	OK(leaves("- --workers 3 -q", "- --workers 3"));
	OK(leaves("", ""));
	opt_help(&table, &b);
	OK(str_starts(buf_str(&b), STR("  -q, --quiet             less\n")));
	OK(str_ends(buf_str(&b), STR("\nModels:\n"
	    "      --modelset NAME     how\n"
	    "  -m, --model NAME        whom\n"
	    "      --find[=DIR]        where\n")));
	buf_free(&b);
	arena_free(&arena);
	return tap_done();
}
