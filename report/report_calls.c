/* SPDX-License-Identifier: ISC */
/*
 * What an agent did in a trial: its tool calls, and what it used.
 *
 * A number that the agent does not report is shown as unknown, never as 0.
 */
#include "report/report_internal.h"

#include <stdio.h>

#include "json.h"

static struct str
first_text(const struct json *args)
{
	const struct json *v;

	if (args != NULL && args->type == JSON_STRING)
		return json_text(args);
	for (v = json_first(args); v != NULL; v = v->next)
		if (v->type == JSON_STRING)
			return json_text(v);
	return STR("");
}

/* The argument that says most: command, path and so on, else any text. */
static struct str
gist(const struct json *call, const struct json *args)
{
	static const char *const keys[] = { "command", "path", "url", "skill",
	    "file_path", "pattern", "query" };
	const struct json *canonical = json_getc(call, "canonical");
	struct str s = STR("");
	size_t i;

	for (i = 0; i < 4 && s.n == 0; i++)
		s = json_str(canonical, keys[i]);
	for (i = 0; i < COUNTOF(keys) && s.n == 0; i++)
		s = json_str(args, keys[i]);
	return s.n > 0 ? s : first_text(args);
}

static struct str
result_text(struct arena *a, const struct json *v)
{
	if (v == NULL || v->type == JSON_NULL)
		return STR("");
	return v->type == JSON_STRING ? json_text(v) : result_json(a, v);
}

static void
read_call(struct arena *a, const struct json *v, struct report_call *c)
{
	const struct json *args = json_getc(v, "args");
	const struct json *ok = json_getc(v, "success");

	if (args == NULL)
		args = json_getc(v, "arguments");
	c->name = json_str(v, "tool_name");
	if (c->name.n == 0)
		c->name = json_str(v, "name");
	c->tool = json_str(v, "tool");
	if (str_is(c->tool, "other") || str_eq(c->tool, c->name))
		c->tool = STR("");
	c->about = gist(v, args);
	c->result = result_text(a, json_getc(v, "result"));
	c->failed = ok != NULL && ok->type == JSON_BOOL && !json_bool(ok);
	c->denied = json_getc(v, "denied") != NULL;
}

/* A call of a mocked command: its arguments, and how it ended. */
static void
read_mocked(struct arena *a, const struct json *v, struct report_call *c)
{
	const struct json *w = json_first(json_getc(v, "args"));
	const struct json *passed = json_getc(v, "passthrough");
	int64_t status = 0, response = 0;
	struct buf b = { .max = 2000 };

	(void)json_int(json_getc(v, "exit_code"), &status);
	(void)json_int(json_getc(v, "response_index"), &response);
	for (; w != NULL; w = w->next) {
		buf_puts(&b, b.n > 0 ? " " : "");
		buf_put(&b, json_text(w));
	}
	c->name = json_str(v, "command");
	c->about = arena_take(a, &b);
	c->failed = response < 0 && passed == NULL;
	c->result = c->failed ? STR("no response fits") : arena_fmt(a,
	    "exit status %lld%s", (long long)status, passed != NULL ?
	    " of the real command" : "");
}

static void
read_all_mocked(struct arena *a, struct report_detail *d)
{
	const struct json *list = json_getc(d->json, "command_invocations"), *v;

	if (json_first(list) == NULL)
		return;
	d->mocked = NEW_N(a, struct report_call, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next)
		read_mocked(a, v, &d->mocked[d->nmocked++]);
}

void
report_read_calls(struct arena *a, struct report_detail *d)
{
	const struct json *list = json_getc(d->json, "tool_events"), *v;

	read_all_mocked(a, d);
	if (json_first(list) == NULL)
		list = json_getc(json_getc(d->json, "session_digest"),
		    "tool_calls");
	if (json_first(list) == NULL)
		return;
	d->calls = NEW_N(a, struct report_call, json_count(list));
	for (v = json_first(list); v != NULL; v = v->next)
		read_call(a, v, &d->calls[d->ncalls++]);
}

void
report_call(struct buf *b, const struct report_call *c, size_t cols,
    bool ascii)
{
	struct buf line = { 0 };

	buf_put(&line, c->name);
	if (c->tool.n > 0)
		buf_fmt(&line, " (%.*s)", STRF(c->tool));
	if (c->about.n > 0)
		buf_fmt(&line, " %.*s", STRF(utf8_cut(c->about, 2000)));
	if (c->denied || c->failed)
		buf_puts(&line, c->denied ? " [denied]" : " [failed]");
	if (c->result.n > 0)
		buf_fmt(&line, " => %.*s", STRF(utf8_cut(c->result, 500)));
	report_line(b, buf_str(&line), cols, ascii);
	buf_free(&line);
}

void
report_call_lines(struct buf *b, const struct report_detail *d)
{
	size_t i;

	for (i = 0; i < d->ncalls && i < REPORT_CALLS; i++) {
		report_call(b, &d->calls[i], 200, false);
		buf_putc(b, '\n');
	}
	if (i < d->ncalls)
		buf_fmt(b, "(%zu more calls)\n", d->ncalls - i);
	for (i = 0; i < d->nmocked && i < REPORT_CALLS; i++) {
		buf_puts(b, "mocked: ");
		report_call(b, &d->mocked[i], 200, false);
		buf_putc(b, '\n');
	}
}

/*
 * Usage.
 */
static void
put_right(struct buf *b, const char *s, int cols, bool wide)
{
	/* a dash of three bytes takes one column */
	buf_fmt(b, "%*s", cols > 0 && wide ? cols + 2 : cols, s);
}

void
report_tokens(struct buf *b, const struct result_used *u, int cols, bool ascii)
{
	double n = (double)u->input_tokens + (double)u->output_tokens;
	char s[40];

	if (!u->tokens_known)
		put_right(b, ascii ? "-" : "–", cols, !ascii);
	else {
		if (n < 1000)
			snprintf(s, sizeof(s), "%.0f", n);
		else if (n < 999950)
			snprintf(s, sizeof(s), "%.1fk", n / 1e3);
		else
			snprintf(s, sizeof(s), "%.1fM", n / 1e6);
		put_right(b, s, cols, false);
	}
}

void
report_cost(struct buf *b, const struct result_used *u, int cols, bool ascii)
{
	char s[40];

	if (!u->cost_known)
		put_right(b, ascii ? "-" : "–", cols, !ascii);
	else {
		snprintf(s, sizeof(s), "$%.4f", u->free ? 0.0 : u->cost);
		put_right(b, s, cols, false);
	}
}

void
report_count(struct buf *b, const struct result_used *u, int cols, bool ascii)
{
	char s[40];

	if (!u->calls_known)
		put_right(b, ascii ? "-" : "–", cols, !ascii);
	else {
		snprintf(s, sizeof(s), "%u", u->calls);
		put_right(b, s, cols, false);
	}
}

/* 1234567 as 1,234,567. */
static void
put_grouped(struct buf *b, int64_t n)
{
	if (n >= 1000) {
		put_grouped(b, n / 1000);
		buf_fmt(b, ",%03d", (int)(n % 1000));
	} else
		buf_fmt(b, "%d", (int)n);
}

/* Some trials of the sum do not report their part. */
static void
put_at_least(struct buf *b, const struct answer_usage *u, enum answer_count i)
{
	buf_puts(b, u->missing[i] > 0 ? "at least " : "");
}

bool
report_usage(struct buf *b, const struct answer_usage *u)
{
	if (u->input_tokens <= 0 && u->output_tokens <= 0)
		return false;
	put_at_least(b, u, ANSWER_TOKENS);
	put_grouped(b, u->input_tokens);
	buf_puts(b, " tokens in, ");
	put_grouped(b, u->output_tokens);
	buf_puts(b, " out");
	if (u->turns > 0) {
		buf_puts(b, ", ");
		put_at_least(b, u, ANSWER_TURNS);
		buf_fmt(b, "%lld turns", (long long)u->turns);
	}
	if (u->premium_requests > 0)
		buf_fmt(b, ", %.6g premium requests", u->premium_requests);
	if (u->cost > 0) {
		buf_puts(b, ", cost ");
		put_at_least(b, u, ANSWER_COST);
		buf_fmt(b, "$%.4f", u->cost);
	}
	return true;
}
