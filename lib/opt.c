/* SPDX-License-Identifier: ISC */
/* Command-line options. */
#include "lib/opt.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct opt *
find_name(const struct opt_table *t, struct str name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (str_is(name, t->rows[i].name))
			return &t->rows[i];
	return NULL;
}

bool
opt_has_json(const struct opt_table *t)
{
	const struct opt *f = find_name(t, STR("format"));

	return f != NULL && find_name(t, STR("json")) == NULL &&
	    (strstr(f->value, "json") != NULL ||
	    strstr(f->help, "json") != NULL);
}

static const struct opt *
find_letter(const struct opt_table *t, char letter)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->rows[i].letter == letter)
			return &t->rows[i];
	return NULL;
}

static int
unknown(const struct opt_table *t, struct str name, struct err *e)
{
	struct str_nearest s = { .word = name };
	char hint[STR_HINT];
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->rows[i].help != NULL)
			str_nearest(&s, str_of(t->rows[i].name));
	return err_set(e, ERR_SCHEMA, "unknown option \"--%.*s\"%s",
	    STRF(name), str_hint(hint, "--", s.best));
}

static int
set_int(const struct opt *o, const char *value, int64_t *out, struct err *e)
{
	long long i;
	char *end;

	errno = 0;
	i = strtoll(value, &end, 10);
	if (*value == '\0' || *end != '\0' || errno != 0)
		return err_set(e, ERR_SCHEMA,
		    "--%s needs a whole number, not \"%s\"", o->name, value);
	if ((o->min != 0 || o->max != 0) && (i < o->min || i > o->max))
		return err_set(e, ERR_SCHEMA,
		    "--%s must be from %lld to %lld, not %s", o->name,
		    (long long)o->min, (long long)o->max, value);
	*out = i;
	return 0;
}

/* A value of NULL is true. */
static int
set_flag(const struct opt *o, const char *value, bool *out, struct err *e)
{
	if (value != NULL && strcmp(value, "true") != 0 &&
	    strcmp(value, "false") != 0)
		return err_set(e, ERR_SCHEMA, "--%s is true or false, not "
		    "\"%s\"", o->name, value);
	*out = value == NULL || strcmp(value, "true") == 0;
	return 0;
}

void
opt_add(struct arena *a, struct opt_list *list, const char *value)
{
	const char **v = NEW_N(a, const char *, list->n + 1);

	if (list->n > 0)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = value;
	list->v = v;
}

static int
set(struct arena *a, const struct opt *o, const char *value, void *out,
    struct err *e)
{
	void *member = (char *)out + o->off;

	switch ((enum opt_type)o->type) {
	case OPT_FLAG:
		return set_flag(o, value, member, e);
	case OPT_MAYBE:
		*(const char **)member = value == NULL ||
		    strcmp(value, "true") == 0 ? "" :
		    strcmp(value, "false") == 0 ? NULL : value;
		return 0;
	case OPT_STR:
		*(const char **)member = value;
		return 0;
	case OPT_INT:
		return set_int(o, value, member, e);
	case OPT_LIST:
		opt_add(a, member, value);
		return 0;
	}
	return 0;
}

/* Whether the option never takes the next word of argv. */
static bool
has_no_word(const struct opt *o)
{
	return o->type == OPT_FLAG || o->type == OPT_MAYBE;
}

/* Sets an option to the next word of argv. */
static int
take_next(struct arena *a, const struct opt *o, char ***argv, void *out,
    struct err *e)
{
	if ((*argv)[1] == NULL)
		return err_set(e, ERR_SCHEMA, "--%s needs a value: %s",
		    o->name, o->value);
	return set(a, o, *++*argv, out, e);
}

/* *argv is "--name" or "--name=value"; leaves it at the last word used. */
static int
take_name(struct arena *a, const struct opt_table *t, char ***argv, void *out,
    struct err *e)
{
	char *arg = **argv + 2, *eq = strchr(arg, '=');
	size_t n = eq != NULL ? (size_t)(eq - arg) : strlen(arg);
	struct str name = { arg, n };
	const struct opt *o = find_name(t, name);

	if (o == NULL && eq == NULL && str_is(name, "json") &&
	    opt_has_json(t))
		return set(a, find_name(t, STR("format")), "json", out, e);
	if (o == NULL)
		return unknown(t, name, e);
	if (o->instead != NULL)
		return err_set(e, ERR_SCHEMA, "--%s is not supported: %s",
		    o->name, o->instead);
	if (!has_no_word(o) && eq == NULL)
		return take_next(a, o, argv, out, e);
	return set(a, o, eq != NULL ? eq + 1 : NULL, out, e);
}

/* *argv is "-x", "-xVALUE" or "-xyz"; leaves it at the last word used. */
static int
take_letters(struct arena *a, const struct opt_table *t, char ***argv,
    void *out, struct err *e)
{
	char *p = **argv + 1;
	const struct opt *o;

	for (; *p != '\0'; p++) {
		o = find_letter(t, *p);
		if (o == NULL)
			return err_set(e, ERR_SCHEMA,
			    "unknown option \"-%c\"", *p);
		if (!has_no_word(o))
			return p[1] != '\0' ? set(a, o, p + 1, out, e) :
			    take_next(a, o, argv, out, e);
		set(a, o, NULL, out, e);
	}
	return 0;
}

int
opt_parse(struct arena *a, const struct opt_table *t, char **argv,
    size_t *nargs, void *out, struct err *e)
{
	char **args = argv;
	int r = 0;

	for (*nargs = 0; *argv != NULL && r == 0; argv++) {
		if (strcmp(*argv, "--") == 0) {
			while (*++argv != NULL)
				args[(*nargs)++] = *argv;
			break;
		}
		if (strncmp(*argv, "--", 2) == 0)
			r = take_name(a, t, &argv, out, e);
		else if (**argv == '-' && (*argv)[1] != '\0')
			r = take_letters(a, t, &argv, out, e);
		else
			args[(*nargs)++] = *argv;
	}
	return r;
}

/* The words of one command line that are kept. */
struct rest {
	const char **v;
	size_t n;
	bool (*drop)(const struct opt *);
};

/* "--name" or "--name=value"; returns how many words it has. */
static size_t
rest_name(const struct opt_table *t, const char *const *words, struct rest *r)
{
	struct str name = str_of(words[0] + 2);
	const char *eq = strchr(words[0], '=');
	const struct opt *o;
	size_t n;

	if (eq != NULL)
		name.n = (size_t)(eq - name.p);
	o = find_name(t, name);
	if (o == NULL && str_is(name, "json"))
		o = find_name(t, STR("format"));
	n = o != NULL && !has_no_word(o) && eq == NULL && words[1] != NULL &&
	    !str_is(name, "json") ? 2 : 1;
	if (o == NULL || !r->drop(o)) {
		r->v[r->n++] = words[0];
		if (n == 2)
			r->v[r->n++] = words[1];
	}
	return n;
}

/* "-x", "-xVALUE" or "-xyz": flags are written apart. */
static size_t
rest_letters(struct arena *a, const struct opt_table *t,
    const char *const *words, struct rest *r)
{
	const char *p = words[0] + 1;
	const struct opt *o;
	size_t n = 1;
	bool keep;

	for (; *p != '\0'; p++) {
		o = find_letter(t, *p);
		keep = o == NULL || !r->drop(o);
		if (o == NULL || has_no_word(o)) {
			if (keep)
				r->v[r->n++] = arena_fmt(a, "-%c", *p).p;
			continue;
		}
		if (keep)
			r->v[r->n++] = arena_fmt(a, "-%s", p).p;
		if (p[1] == '\0' && words[1] != NULL) {
			n = 2;
			if (keep)
				r->v[r->n++] = words[1];
		}
		break;
	}
	return n;
}

const char **
opt_without(struct arena *a, const struct opt_table *t,
    const char *const *words, bool (*drop)(const struct opt *), size_t *n)
{
	struct rest r = { .drop = drop };
	size_t i, max = 1;

	for (i = 0; words[i] != NULL; i++)
		max += strlen(words[i]) + 1;
	r.v = NEW_N(a, const char *, max);
	for (i = 0; words[i] != NULL && strcmp(words[i], "--") != 0;)
		if (strncmp(words[i], "--", 2) == 0)
			i += rest_name(t, words + i, &r);
		else if (words[i][0] == '-' && words[i][1] != '\0')
			i += rest_letters(a, t, words + i, &r);
		else
			r.v[r.n++] = words[i++];
	while (words[i] != NULL)
		r.v[r.n++] = words[i++];
	*n = r.n;
	return r.v;
}

void
opt_help(const struct opt_table *t, struct buf *b)
{
	const struct opt *o;
	const char *group = NULL;
	size_t i, start;

	for (i = 0; i < t->n; i++) {
		o = &t->rows[i];
		if (o->help == NULL)
			continue;
		if (o->group != NULL && (group == NULL ||
		    strcmp(o->group, group) != 0)) {
			group = o->group;
			buf_fmt(b, "%s%s:\n", i > 0 ? "\n" : "", group);
		}
		start = b->n;
		if (o->letter != 0)
			buf_fmt(b, "  -%c, --%s", o->letter, o->name);
		else
			buf_fmt(b, "      --%s", o->name);
		if (o->type == OPT_MAYBE)
			buf_fmt(b, "[=%s]", o->value);
		else if (o->type != OPT_FLAG)
			buf_fmt(b, " %s", o->value);
		buf_fmt(b, "%*s%s\n", b->n - start < OPT_HELP_COLS ?
		    (int)(OPT_HELP_COLS - (b->n - start)) : 1, "", o->help);
		if (strcmp(o->name, "format") == 0 && opt_has_json(t))
			buf_fmt(b, "      %-20s%s\n", "--json",
			    "the same as --format json");
	}
}
