/* SPDX-License-Identifier: ISC */
/* waza tokens check: the files that exceed their limit of tokens. */
#include "cmd/skill/tokens.h"

#include <stdlib.h>

#include "json.h"

/* Exceeded first, then by path. */
static int
by_excess(const void *x, const void *y)
{
	const struct tokens_file *a = x, *b = y;

	if (a->exceeded != b->exceeded)
		return a->exceeded ? -1 : 1;
	return str_cmp(a->path, b->path);
}

/* Counts the files of a scope; -1 with the reason for the report. */
static int
count(struct tokens *t, struct tokens_scope *s, size_t *exceeded,
    const char **error)
{
	struct arena scratch = { 0 };
	struct str text;
	size_t i;

	*exceeded = 0;
	*error = NULL;
	if (tokens_limits(t, s) == -1) {
		*error = "the limits cannot be read";
		return -1;
	}
	for (i = 0; i < s->n; i++) {
		struct tokens_file *f = &s->v[i];

		if (tokens_read(t, f, &scratch, &text) == -1 && *error == NULL)
			*error = f->error;
		f->exceeded = f->tokens > f->limit.limit;
		*exceeded += f->exceeded;
		arena_free(&scratch);
	}
	qsort(s->v, s->n, sizeof(*s->v), by_excess);
	return *error == NULL ? 0 : -1;
}

static int
digits(int64_t n)
{
	int d;

	for (d = 1; n >= 10; n /= 10)
		d++;
	return d;
}

static void
put_table(struct buf *b, const struct tokens_scope *s, size_t exceeded)
{
	size_t path = 4;
	int tokens = 6, limit = 5;
	const struct tokens_file *f;

	for (f = s->v; f < s->v + s->n; f++) {
		path = tokens_width(f->path, path);
		tokens = digits(f->tokens) > tokens ? digits(f->tokens) :
		    tokens;
		limit = digits(f->limit.limit) > limit ?
		    digits(f->limit.limit) : limit;
	}
	path = tokens_fit(path, (size_t)(tokens + limit) + 17);
	buf_fmt(b, "%-*s  %*s  %*s  Status\n", (int)path, "File", tokens,
	    "Tokens", limit, "Limit");
	tokens_put_rule(b, path + (size_t)(tokens + limit + 22));
	for (f = s->v; f < s->v + s->n; f++) {
		tokens_put_path(b, f->path, path);
		buf_fmt(b, "  %*lld  %*lld  %s\n", tokens,
		    (long long)f->tokens, limit, (long long)f->limit.limit,
		    f->exceeded ? "❌ EXCEEDED" : "✅ OK");
	}
	tokens_put_rule(b, path + (size_t)(tokens + limit + 22));
	buf_fmt(b, "\n%zu/%zu files within limits\n", s->n - exceeded, s->n);
	if (exceeded == 0)
		return;
	buf_fmt(b, "\n⚠️  %zu file(s) exceed their token limits:\n",
	    exceeded);
	for (f = s->v; f < s->v + s->n && f->exceeded; f++)
		buf_fmt(b, "   %.*s: %lld tokens (%lld over limit of %lld)\n",
		    STRF(f->path), (long long)f->tokens,
		    (long long)(f->tokens - f->limit.limit),
		    (long long)f->limit.limit);
}

static void
put_results(struct json_out *o, const struct tokens_scope *s)
{
	const struct tokens_file *f;

	json_open_member(o, "results", '[');
	for (f = s->v; f < s->v + s->n; f++) {
		json_open(o, '{');
		json_put_member_str(o, "file", f->path);
		json_put_member_int(o, "tokens", f->tokens);
		json_put_member_int(o, "limit", f->limit.limit);
		json_put_member_nonempty(o, "pattern", f->limit.pattern);
		json_put_member_bool(o, "exceeded", f->exceeded);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_scope_json(struct json_out *o, const struct tokens_scope *s,
    size_t exceeded, const char *error, bool batch)
{
	if (batch) {
		json_open(o, '{');
		json_put_member_str(o, "skill", s->skill);
	}
	json_put_member_int(o, "totalFiles", error != NULL ? 0 :
	    (int64_t)s->n);
	json_put_member_int(o, "exceededCount", error != NULL ? 0 :
	    (int64_t)exceeded);
	if (error != NULL)
		json_put_member_cstr(o, "error", error);
	else
		put_results(o, s);
	if (batch)
		json_close(o, '}');
}

/* The path of a file from the working directory, for annotations. */
static struct str
from_here(struct tokens *t, const struct tokens_scope *s, struct str path)
{
	const char *dir = s->dir;

	return str_is(str_of(dir), ".") ? path : arena_fmt(t->arena, "%s/%.*s",
	    dir, STRF(path));
}

static void
put_github(struct tokens *t, const struct tokens_scope *s)
{
	const struct tokens_file *f;

	for (f = s->v; f < s->v + s->n && f->exceeded; f++)
		tokens_put_command(&t->out, "error", from_here(t, s, f->path),
		    1, arena_fmt(t->arena, "%lld tokens (%s), %lld over the "
		    "limit of %lld for %.*s", (long long)f->tokens,
		    token_counter_name(&t->counter),
		    (long long)(f->tokens - f->limit.limit),
		    (long long)f->limit.limit, STRF(f->limit.pattern.n > 0 ?
		    f->limit.pattern : STR("other files"))).p);
	buf_fmt(&t->out, "%.*s%s%zu file(s) checked\n", STRF(s->skill),
	    s->skill.n > 0 ? ": " : "", s->n);
}

static void
put_scope(struct tokens *t, const struct tokens_scope *s, size_t exceeded,
    bool batch)
{
	if (batch && t->format == TOKENS_TABLE)
		tokens_put_heading(&t->out, s->skill);
	if (t->format == TOKENS_GITHUB)
		put_github(t, s);
	else if (s->n == 0)
		buf_puts(&t->out, "No Markdown files found.\n");
	else
		put_table(&t->out, s, exceeded);
}

int
tokens_check(struct tokens *t)
{
	struct json_out o = { .put = buf_sink, .ctx = &t->out, .indent = 2 };
	struct tokens_scopes all;
	const char *error;
	size_t i, n;
	bool any = false;
	int status = CMD_OK;

	if (tokens_find(t, true, &all) == -1)
		return cmd_complain(t->call->err);
	if (t->format == TOKENS_JSON) {
		json_open(&o, '{');
		tokens_put_time(&o, "timestamp");
		tokens_put_counter(&o, t);
		if (all.batch)
			json_open_member(&o, "skills", '[');
	}
	for (i = 0; i < all.n; i++) {
		any = any || all.v[i].n > 0;
		if (count(t, &all.v[i], &n, &error) == -1)
			status = CMD_ERROR;
		else if (n > 0 && status == CMD_OK)
			status = CMD_FAILED;
		if (t->format == TOKENS_JSON)
			put_scope_json(&o, &all.v[i], n, error, all.batch);
		else if (error == NULL)
			put_scope(t, &all.v[i], n, all.batch);
	}
	if (t->format == TOKENS_JSON) {
		if (all.batch)
			json_close(&o, ']');
		json_close(&o, '}');
		buf_putc(&t->out, '\n');
	} else if (t->out.n > 0 && any)
		buf_fmt(&t->out, "\ncounted by: %s\n",
		    token_counter_name(&t->counter));
	if (t->opt->quiet)
		t->out.n = 0;
	return status;
}
