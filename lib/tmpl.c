/* SPDX-License-Identifier: ISC */
/*
 * Templates.
 *
 * One pass: text up to the next braces is copied, what is in them is read by
 * a few functions that each take one word of it.  Values are not rendered
 * again, so what an agent or a table says cannot become a template.
 */
#include "lib/tmpl.h"

#include <string.h>

#include "json.h"

struct render {
	struct arena *arena;
	const struct tmpl_vars *vars;
	struct buf out;
	const char *p, *end;	/* within the braces, or behind them */
	struct err *err;
};

static void
put(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, (struct str){ p, n });
}

static void
blanks(struct render *r)
{
	while (r->p < r->end && strchr(" \t\r\n", *r->p) != NULL &&
	    *r->p != '\0')
		r->p++;
}

/* A name: what may follow a dot. */
static struct str
word(struct render *r)
{
	const char *from = r->p;
	unsigned char c;

	for (; r->p < r->end; r->p++) {
		c = (unsigned char)*r->p;
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') &&
		    !(c >= '0' && c <= '9') && c != '_' && c < 0x80)
			break;
	}
	return (struct str){ from, (size_t)(r->p - from) };
}

static struct str
shorten(struct str s)
{
	size_t n = s.n < 60 ? s.n : 60;

	while (n < s.n && n > 0 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return (struct str){ s.p, n };
}

/* The quoted string at p, "so" or `so`; false: there is none, or no end. */
static bool
quoted(struct render *r, struct buf *out)
{
	char quote = r->p < r->end ? *r->p : '\0';

	if (quote != '"' && quote != '`')
		return false;
	for (r->p++; r->p < r->end && *r->p != quote; r->p++) {
		if (*r->p == '\n' && quote == '"')
			return false;
		if (*r->p == '\\' && quote == '"' && ++r->p == r->end)
			return false;
		buf_putc(out, *r->p);
	}
	if (r->p == r->end)
		return false;
	r->p++;
	return true;
}

static const char *
nearest_var(const struct render *r, struct str name, size_t *n)
{
	const struct json *v;
	size_t i;

	for (i = 0; i < COUNTOF(r->vars->vars); i++)
		for (v = r->vars->vars[i] == NULL ? NULL :
		    json_first(r->vars->vars[i]); v != NULL; v = v->next)
			if (str_similar(name, json_key(v))) {
				*n = v->nkey;
				return v->key;
			}
	return NULL;
}

static int
put_var(struct render *r, struct str name)
{
	struct json_out o = { .put = put, .ctx = &r->out };
	const struct json *v = json_get(r->vars->vars[0], name);
	const char *near;
	size_t n;

	if (v == NULL)
		v = json_get(r->vars->vars[1], name);
	if (v == NULL) {
		near = nearest_var(r, name, &n);
		if (near == NULL)
			return err_set(r->err, ERR_SCHEMA,
			    "there is no variable \"%.*s\"",
			    STRF(shorten(name)));
		return err_set(r->err, ERR_SCHEMA, "there is no variable "
		    "\"%.*s\"; did you mean \"%.*s\"?", STRF(shorten(name)),
		    STRF(shorten((struct str){ near, n })));
	}
	if (v->type == JSON_STRING || v->type == JSON_NUMBER)
		buf_put(&r->out, json_text(v));
	else if (v->type != JSON_NULL)
		json_put(&o, v);
	return 0;
}

/* Behind the dot of .Name or .Vars.name. */
static int
put_field(struct render *r, struct str all)
{
	const struct tmpl_vars *v = r->vars;
	struct str name = word(r);

	if (str_is(name, "TaskName"))
		buf_put(&r->out, v->task_name);
	else if (str_is(name, "JobID"))
		buf_put(&r->out, v->job_id);
	else if (str_is(name, "Timestamp"))
		buf_put(&r->out, v->timestamp);
	else if (str_is(name, "Iteration"))
		buf_fmt(&r->out, "%lld", (long long)v->iteration);
	else if (str_is(name, "Attempt"))
		buf_fmt(&r->out, "%lld", (long long)v->attempt);
	else if (str_is(name, "Vars") && r->p < r->end && *r->p == '.') {
		r->p++;
		name = word(r);
		if (name.n == 0 || (r->p < r->end && *r->p == '-'))
			return err_set(r->err, ERR_SYNTAX, "\"%.*s\": such a "
			    "name needs {{index .Vars \"name\"}}",
			    STRF(shorten(all)));
		return put_var(r, name);
	} else
		return err_set(r->err, ERR_SYNTAX, "\"%.*s\" is unknown; there "
		    "are .TaskName .JobID .Iteration .Attempt .Timestamp "
		    "and .Vars.name", STRF(shorten(all)));
	return 0;
}

/* Behind the word index: .Vars "name". */
static int
put_index(struct render *r, struct str all)
{
	struct buf name = { 0 };
	int rc;

	blanks(r);
	if ((size_t)(r->end - r->p) > 5 && memcmp(r->p, ".Vars", 5) == 0) {
		r->p += 5;
		blanks(r);
		if (quoted(r, &name)) {
			rc = put_var(r, buf_str(&name));
			buf_free(&name);
			return rc;
		}
		buf_free(&name);
	}
	return err_set(r->err, ERR_SYNTAX,
	    "\"%.*s\" must read {{index .Vars \"name\"}}", STRF(shorten(all)));
}

/* Where the braces that open at p close, strings aside; NULL: nowhere. */
static const char *
closing(const char *p, const char *end)
{
	char quote = '\0';

	for (p += 2; p < end; p++) {
		if (quote != '\0') {
			if (*p == '\\' && quote == '"')
				p++;
			else if (*p == quote || *p == '\n')
				quote = '\0';
		} else if (*p == '"' || *p == '`')
			quote = *p;
		else if (*p == '}' && p + 1 < end && p[1] == '}')
			return p + 2;
	}
	return NULL;
}

/* Whether the braces hold one of ours, by how it begins. */
static bool
is_ours(const char *p, const char *end)
{
	struct str s;

	for (p += 2; p < end && strchr(" \t\r\n", *p) != NULL && *p != '\0';)
		p++;
	s = (struct str){ p, (size_t)(end - p) };
	if (s.n == 0)
		return false;
	if (*p == '"' || *p == '`')	/* {{"key": 1}} is JSON in a format */
		return s.n >= 4 && p[3] == *p && (memcmp(p + 1, "{{", 2) == 0 ||
		    memcmp(p + 1, "}}", 2) == 0);
	return (*p == '.' && s.n > 1 && ((p[1] >= 'A' && p[1] <= 'Z') ||
	    (p[1] >= 'a' && p[1] <= 'z'))) || (str_starts(s, STR("index")) &&
	    s.n > 5 && strchr(" \t", p[5]) != NULL && p[5] != '\0');
}

/* The braces at r->p, all of them: the text is what stands from open on. */
static int
put_action(struct render *r, struct str all)
{
	const char *end = r->end;
	struct buf lit = { 0 };
	int rc = 0;

	r->p += 2;
	r->end = all.p + all.n - 2;
	blanks(r);
	if (*r->p == '.') {
		r->p++;
		rc = put_field(r, all);
	} else if (*r->p == 'i') {
		r->p += 5;
		rc = put_index(r, all);
	} else if (quoted(r, &lit))
		buf_put(&r->out, buf_str(&lit));
	buf_free(&lit);
	if (rc == 0) {
		blanks(r);
		if (r->p != r->end)
			rc = err_set(r->err, ERR_SYNTAX, "\"%.*s\" is more "
			    "than a name", STRF(shorten(all)));
	}
	r->end = end;
	r->p = all.p + all.n;
	return rc;
}

/* The next of our templates from p on; NULL: there is none. */
static const char *
next_open(const char *p, const char *end)
{
	while ((p = memchr(p, '{', (size_t)(end - p))) != NULL) {
		if (p + 1 < end && p[1] == '{' && is_ours(p, end))
			return p;
		p++;
	}
	return NULL;
}

struct str
tmpl_render(struct arena *a, struct str text, const struct tmpl_vars *vars,
    struct err *e)
{
	struct render r = { .arena = a, .vars = vars, .err = e };
	const char *open, *close;
	struct str out = { 0 };
	unsigned line, col;
	int rc = 0;

	if (text.n == 0)
		return STR("");		/* p must not be NULL */
	if (!tmpl_any(text))
		return text;
	r.p = text.p;
	r.end = text.p + text.n;
	while (rc == 0 && (open = next_open(r.p, r.end)) != NULL) {
		buf_put(&r.out, (struct str){ r.p, (size_t)(open - r.p) });
		r.p = open;
		close = closing(open, r.end);
		rc = close == NULL ? err_set(e, ERR_SYNTAX,
		    "{{ is not closed") : put_action(&r,
		    (struct str){ open, (size_t)(close - open) });
		if (rc == -1) {
			json_place(text, (size_t)(open - text.p), &line, &col);
			err_at(e, line, col);
		}
	}
	buf_put(&r.out, (struct str){ r.p, (size_t)(r.end - r.p) });
	if (rc == 0)
		out = arena_str(a, buf_str(&r.out));
	buf_free(&r.out);
	return out;
}

bool
tmpl_any(struct str text)
{
	return text.n > 0 && next_open(text.p, text.p + text.n) != NULL;
}
