/* SPDX-License-Identifier: ISC */
/*
 * Templates.
 *
 * One pass copies the text between templates and expands each template.
 * Values are not expanded again, so output of an agent or a table cannot
 * become a template.
 */
#include "lib/tmpl.h"

#include <string.h>

#include "json.h"

/* What double braces begin. */
enum braces { FOREIGN, OURS, UNSUPPORTED };

struct render {
	struct arena *arena;
	const struct tmpl_vars *vars;
	struct buf out;
	const char *p, *end;	/* the rest of the braces or of the text */
	enum braces braces;	/* of the template found last */
	bool handlebars;	/* its blocks ({{#if}}) are in the text */
	bool checks;		/* any variable is known, and empty */
	struct err *err;
};

static const char *
skip_space(const char *p, const char *end)
{
	while (p < end && strchr(" \t\r\n", *p) != NULL && *p != '\0')
		p++;
	return p;
}

/* Reads an identifier, maybe empty. */
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
	return utf8_cut(s, 60);
}

/* Reads a string in double quotes or backquotes; false: malformed. */
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

static int
unknown_var(struct render *r, struct str name)
{
	struct str_nearest near = { .word = name };
	char hint[STR_HINT];
	const struct json *v;
	size_t i;

	for (i = 0; i < COUNTOF(r->vars->vars); i++)
		for (v = json_first(r->vars->vars[i]); v != NULL; v = v->next)
			str_nearest(&near, json_key(v));
	return err_set(r->err, ERR_SCHEMA, "unknown variable \"%.*s\"%s",
	    STRF(shorten(name)), str_hint(hint, "", near.best));
}

static int
put_var(struct render *r, struct str name)
{
	struct json_out o = { .put = buf_sink, .ctx = &r->out };
	const struct json *v = json_get(r->vars->vars[0], name);

	if (v == NULL)
		v = json_get(r->vars->vars[1], name);
	if (v == NULL)
		return r->checks ? 0 : unknown_var(r, name);
	if (v->type == JSON_STRING || v->type == JSON_NUMBER)
		buf_put(&r->out, json_text(v));
	else if (v->type != JSON_NULL)
		json_put(&o, v);
	return 0;
}

/* Expands .Name or .Vars.name, from behind its first dot on. */
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
			return err_set(r->err, ERR_SYNTAX, "\"%.*s\": use "
			    "{{index .Vars \"name\"}} for such a name",
			    STRF(shorten(all)));
		return put_var(r, name);
	} else
		return err_set(r->err, ERR_SYNTAX, "\"%.*s\" is unknown; use "
		    ".TaskName .JobID .Iteration .Attempt .Timestamp "
		    "or .Vars.name", STRF(shorten(all)));
	return 0;
}

/* Expands index .Vars "name", from behind the first word on. */
static int
put_index(struct render *r, struct str all)
{
	struct buf name = { 0 };
	int rc;

	r->p = skip_space(r->p, r->end);
	if ((size_t)(r->end - r->p) > 5 && memcmp(r->p, ".Vars", 5) == 0) {
		r->p = skip_space(r->p + 5, r->end);
		if (quoted(r, &name)) {
			rc = put_var(r, buf_str(&name));
			buf_free(&name);
			return rc;
		}
		buf_free(&name);
	}
	return err_set(r->err, ERR_SYNTAX,
	    "\"%.*s\" must be {{index .Vars \"name\"}}", STRF(shorten(all)));
}

/* The end of the braces that open at p, ignoring those in strings; or NULL. */
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

/* Whether one of our templates, or something like it, begins at p. */
static bool
is_value(const char *p, const char *end)
{
	struct str s = { p, (size_t)(end - p) };

	if (s.n == 0)
		return false;
	if (*p == '"' || *p == '`')	/* {{"key": 1}} is not a template */
		return s.n >= 4 && p[3] == *p && (memcmp(p + 1, "{{", 2) == 0 ||
		    memcmp(p + 1, "}}", 2) == 0);
	return (*p == '.' && s.n > 1 && ((p[1] >= 'A' && p[1] <= 'Z') ||
	    (p[1] >= 'a' && p[1] <= 'z'))) || (str_starts(s, STR("index")) &&
	    s.n > 5 && strchr(" \t", p[5]) != NULL && p[5] != '\0');
}

/*
 * The actions and functions of Go's templates, and what has to follow for the
 * braces to be Go's and not a text in braces: anything that ends a word, the
 * closing braces, a string, or an argument.
 */
enum follow { WORD_END, CLOSING, STRING, ARGUMENT };

static const struct {
	const char *word;
	enum follow follow;
} actions[] = {
	{ "and", ARGUMENT }, { "block", STRING }, { "call", ARGUMENT },
	{ "define", STRING }, { "else", WORD_END }, { "end", CLOSING },
	{ "eq", ARGUMENT }, { "ge", ARGUMENT }, { "gt", ARGUMENT },
	{ "html", ARGUMENT }, { "if", WORD_END }, { "js", ARGUMENT },
	{ "le", ARGUMENT }, { "len", ARGUMENT }, { "lt", ARGUMENT },
	{ "ne", ARGUMENT }, { "not", ARGUMENT }, { "or", ARGUMENT },
	{ "print", ARGUMENT }, { "printf", ARGUMENT },
	{ "println", ARGUMENT }, { "range", WORD_END }, { "slice", ARGUMENT },
	{ "template", STRING }, { "urlquery", ARGUMENT }, { "with", WORD_END },
};

/* Whether the rest of an action, behind its word, is as that demands. */
static bool
follows(enum follow follow, const char *p, const char *end)
{
	const char *q = skip_space(p, end);
	char c = q < end ? *q : '\0';

	switch (follow) {
	case WORD_END:
		return q > p || q == end || strchr(".$(\"`}", c) != NULL;
	case CLOSING:
		if (c == '-')
			c = q + 1 < end ? q[1] : '\0';
		return c == '}';
	case STRING:
		return c == '"' || c == '`';
	case ARGUMENT:
		return c == '"' || c == '`' || c == '$' || c == '(' ||
		    (c == '.' && is_value(q, end));
	}
	return false;
}

/*
 * Whether an action of Go's templates begins at p.  Handlebars also has
 * {{else}}, between {{#if}} and {{/if}}.
 */
static bool
is_action(const char *p, const char *end, bool handlebars)
{
	struct render r = { .p = p, .end = end };
	struct str s = { p, (size_t)(end - p) };
	size_t i;

	if (str_starts(s, STR("/*")))
		return true;
	if (str_starts(s, STR("(")))
		return is_value(skip_space(p + 1, end), end);
	if (str_starts(s, STR("$"))) {
		r.p++;
		word(&r);
		r.p = skip_space(r.p, end);
		s = (struct str){ r.p, (size_t)(end - r.p) };
		return str_starts(s, STR(":=")) || (str_starts(s, STR("=")) &&
		    !str_starts(s, STR("==")));
	}
	s = word(&r);
	for (i = 0; i < COUNTOF(actions); i++)
		if (str_is(s, actions[i].word))
			return follows(actions[i].follow, r.p, end) &&
			    !(handlebars && str_is(s, "else"));
	return false;
}

static enum braces
classify(const char *p, const char *end, bool handlebars)
{
	const char *q = skip_space(p + 2, end);
	bool trims = q == p + 2 && q + 1 < end && *q == '-' &&
	    skip_space(q + 1, end) > q + 1;

	if (trims)
		q = skip_space(q + 1, end);
	if (is_value(q, end))
		return trims ? UNSUPPORTED : OURS;
	return is_action(q, end, handlebars) ? UNSUPPORTED : FOREIGN;
}

/* Expands the template `all`, which starts at r->p. */
static int
put_action(struct render *r, struct str all)
{
	const char *end = r->end;
	struct buf lit = { 0 };
	int rc = 0;

	if (r->braces == UNSUPPORTED)
		return err_set(r->err, ERR_SYNTAX, "\"%.*s\" is not supported "
		    "in templates (write {{\"{{\"}} for literal braces)",
		    STRF(shorten(all)));
	r->end = all.p + all.n - 2;
	r->p = skip_space(r->p + 2, r->end);
	if (*r->p == '.') {
		r->p++;
		rc = put_field(r, all);
	} else if (*r->p == 'i') {
		r->p += 5;
		rc = put_index(r, all);
	} else if (quoted(r, &lit))
		buf_put(&r->out, buf_str(&lit));
	buf_free(&lit);
	if (rc == 0 && skip_space(r->p, r->end) != r->end)
		rc = err_set(r->err, ERR_SYNTAX, "\"%.*s\" has unexpected text "
		    "after the name", STRF(shorten(all)));
	r->end = end;
	r->p = all.p + all.n;
	return rc;
}

/* The next template from r->p on, or NULL. */
static const char *
next_open(struct render *r)
{
	const char *p = r->p, *end = r->end;

	while ((p = memchr(p, '{', (size_t)(end - p))) != NULL) {
		if (p + 1 < end && p[1] == '{') {
			r->braces = classify(p, end, r->handlebars);
			if (r->braces != FOREIGN)
				return p;
			if (p + 2 < end && p[2] == '#')
				r->handlebars = true;
		}
		p++;
	}
	return NULL;
}

static struct str
expand(struct render *r, struct str text)
{
	const char *open, *close;
	struct str out = { 0 };
	unsigned line, col;
	int rc = 0;

	r->p = text.p;
	r->end = text.p + text.n;
	while (rc == 0 && (open = next_open(r)) != NULL) {
		buf_put(&r->out, (struct str){ r->p, (size_t)(open - r->p) });
		r->p = open;
		close = closing(open, r->end);
		rc = close == NULL ? err_set(r->err, ERR_SYNTAX,
		    "{{ is not closed") : put_action(r,
		    (struct str){ open, (size_t)(close - open) });
		if (rc == -1) {
			json_place(text, (size_t)(open - text.p), &line, &col);
			err_at(r->err, line, col);
		}
	}
	buf_put(&r->out, (struct str){ r->p, (size_t)(r->end - r->p) });
	if (rc == 0)
		out = arena_str(r->arena, buf_str(&r->out));
	buf_free(&r->out);
	return out;
}

struct str
tmpl_render(struct arena *a, struct str text, const struct tmpl_vars *vars,
    struct err *e)
{
	struct render r = { .arena = a, .vars = vars, .err = e };

	if (text.n == 0)
		return STR("");		/* NULL would mean failure */
	return tmpl_any(text) ? expand(&r, text) : text;
}

int
tmpl_check(struct str text, struct err *e)
{
	static const struct tmpl_vars none;
	struct arena a = { 0 };
	struct render r = { .arena = &a, .vars = &none, .err = e,
		.checks = true };
	int rc = 0;

	if (tmpl_any(text) && expand(&r, text).p == NULL)
		rc = -1;
	arena_free(&a);
	return rc;
}

bool
tmpl_any(struct str text)
{
	struct render r = { .p = text.p };

	if (text.n == 0)
		return false;
	r.end = text.p + text.n;
	return next_open(&r) != NULL;
}

struct str
tmpl_escape(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i;

	if (!tmpl_any(s))
		return s;
	for (i = 0; i < s.n; i++)
		if (i + 1 < s.n && s.p[i] == '{' && s.p[i + 1] == '{') {
			buf_puts(&b, "{{\"{{\"}}");
			i++;
		} else
			buf_putc(&b, s.p[i]);
	return arena_take(a, &b);
}
