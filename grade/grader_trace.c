/* SPDX-License-Identifier: ISC */
/*
 * Names of tools and skills: counted, compared with required and forbidden
 * names, and listed.
 *
 * Counting uses a sorted copy.  A hash table would be faster on ordinary names,
 * but an agent could choose names that make it slow.
 */
#include "grade/grader_trace.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "results/answer.h"

enum {
	LIST_MAX = 300,		/* bytes of listed names */
	CALLS_MAX = 100,	/* calls in details */
	VALUE_MAX = 200		/* bytes of what one of them did */
};

struct field_strs
grader_index_new(struct arena *a, const struct field_strs *list)
{
	struct field_strs x = { NEW_N(a, struct str, list->n), list->n };

	if (x.n == 0)
		return x;
	memcpy(x.v, list->v, x.n * sizeof(*x.v));
	qsort(x.v, x.n, sizeof(*x.v), str_order);
	return x;
}

size_t
grader_index_find(const struct field_strs *x, struct str s)
{
	size_t i = search_first(&s, x->v, x->n, sizeof(*x->v), str_order);

	return i < x->n && str_eq(x->v[i], s) ? i : x->n;
}

/* Never 0, so that search_first() finds the end of the equal names. */
static int
above_name(const void *a, const void *b)
{
	return str_order(a, b) >= 0 ? 1 : -1;
}

size_t
grader_index_count(const struct field_strs *x, struct str s)
{
	return search_first(&s, x->v, x->n, sizeof(*x->v), above_name) -
	    search_first(&s, x->v, x->n, sizeof(*x->v), str_order);
}

void
grader_index_unique(struct field_strs *x)
{
	size_t i, n = 0;

	for (i = 0; i < x->n; i++)
		if (n == 0 || !str_eq(x->v[n - 1], x->v[i]))
			x->v[n++] = x->v[i];
	x->n = n;
}

void
grader_trace_read(struct arena *a, const struct grader_input *in,
    struct grader_trace *t)
{
	const struct answer_call *c;
	struct str tool;
	size_t n = 0;

	*t = (struct grader_trace){ .in = in };
	for (c = in->answer->calls; c != NULL; c = c->next)
		n++;
	t->names.v = NEW_N(a, struct str, n);
	t->tools.v = NEW_N(a, struct str, n);
	t->both.v = NEW_N(a, struct str, mul_max(n, 2));
	for (c = in->answer->calls; c != NULL; c = c->next) {
		if (c->denied)
			continue;
		tool = str_of(answer_tool_name(c->tool));
		t->names.v[t->names.n++] = c->name;
		t->tools.v[t->tools.n++] = tool;
		t->both.v[t->both.n++] = tool;
		if (!c->no_name && !str_eq(c->name, tool))
			t->both.v[t->both.n++] = c->name;
		t->vague = t->vague || c->no_name || c->any_edit;
	}
	if (t->both.n > 0)
		qsort(t->both.v, t->both.n, sizeof(*t->both.v), str_order);
}

size_t
grader_trace_count(const struct grader_trace *t, struct str name)
{
	return grader_index_count(&t->both, name);
}

enum grader_fit
grader_call_is(const struct answer_call *c, struct str name)
{
	if (str_is(name, answer_tool_name(c->tool)))
		return GRADER_YES;
	if (c->any_edit && str_is(name, answer_tool_name(ANSWER_WRITE)))
		return GRADER_MAYBE;
	if (!c->no_name)
		return str_eq(name, c->name) ? GRADER_YES : GRADER_NO;
	/* a kind tells what the tool does, a title does not */
	return (answer_tool_of(name) != ANSWER_OTHER || str_is(name,
	    answer_tool_name(ANSWER_OTHER))) && (c->tool != ANSWER_OTHER ||
	    answer_is_kind(c->name)) ? GRADER_NO : GRADER_MAYBE;
}

const char *
grader_trace_doubt(const struct grader_trace *t, struct str name)
{
	const struct answer_call *c = t->in->answer->calls;

	if (t->in->answer->no_calls)
		return "tool calls";
	for (; t->vague && c != NULL; c = c->next)
		if (!c->denied && grader_call_is(c, name) == GRADER_MAYBE)
			return c->no_name ? "the names of tools" :
			    "whether a file is written or edited";
	return NULL;
}

struct str
grader_quote_list(struct arena *a, const struct field_strs *list)
{
	struct buf b = { 0 };
	size_t i;

	if (list->n == 0)
		return STR("none");
	for (i = 0; i < list->n && b.n < LIST_MAX; i++) {
		if (i > 0)
			buf_puts(&b, ", ");
		buf_put(&b, grader_quote(a, list->v[i]));
	}
	if (i < list->n)
		buf_fmt(&b, " and %zu more", list->n - i);
	return arena_take(a, &b);
}

/* Those that were denied were not made. */
static int64_t
count_made(const struct answer *a)
{
	const struct answer_call *c;
	int64_t n = (int64_t)a->ncalls;

	for (c = a->calls; c != NULL; c = c->next)
		n -= c->denied;
	return n;
}

void
grader_limit(struct grader_tally *t, const struct grader_input *in,
    enum grader_count which, int64_t max)
{
	const struct answer *a = in->answer;
	const struct answer_usage *u = &a->usage;
	const struct {
		const char *what;
		int64_t got;		/* at least, if it is not known */
		bool known;
	} counts[] = {
		[GRADER_CALLS] = { "tool calls", count_made(a),
		    !a->no_calls },
		[GRADER_TOKENS] = { "tokens", add_near(u->input_tokens,
		    u->output_tokens), u->known },
		[GRADER_TURNS] = { "turns", u->turns, u->turns_known },
		[GRADER_TIME] = { "ms until the answer", in->duration_ms,
		    !in->no_duration },
	};

	if (max < 0)
		return;
	if (counts[which].got > max)
		grader_fail(t, "%lld %s, at most %lld expected",
		    (long long)counts[which].got, counts[which].what,
		    (long long)max);
	else if (counts[which].known)
		grader_pass(t);
	else
		grader_unknown(t, in, counts[which].what);
}

/* The names of all called tools, each once. */
static struct str
list_called(struct arena *tmp, const struct field_strs *called)
{
	struct field_strs once = grader_index_new(tmp, called);

	grader_index_unique(&once);
	return grader_quote_list(tmp, &once);
}

void
grader_expect_tools(struct grader_tally *t, struct arena *tmp,
    const struct grader_trace *trace, const struct field_strs *required,
    const struct field_strs *forbidden)
{
	struct str q, others = { NULL, 0 };
	const char *doubt;
	size_t i, n;

	for (i = 0; i < required->n; i++) {
		if (grader_trace_count(trace, required->v[i]) > 0) {
			grader_pass(t);
			continue;
		}
		doubt = grader_trace_doubt(trace, required->v[i]);
		if (doubt != NULL) {
			grader_unknown(t, trace->in, doubt);
			continue;
		}
		if (others.p == NULL)
			others = list_called(tmp, &trace->names);
		q = grader_quote(tmp, required->v[i]);
		grader_fail(t, "required tool %.*s was not called (called: "
		    "%.*s)", STRF(q), STRF(others));
	}
	for (i = 0; i < forbidden->n; i++) {
		n = grader_trace_count(trace, forbidden->v[i]);
		doubt = grader_trace_doubt(trace, forbidden->v[i]);
		q = grader_quote(tmp, forbidden->v[i]);
		if (n > 0)
			grader_fail(t, "forbidden tool %.*s was called (%zu "
			    "of %zu calls)", STRF(q), n, trace->names.n);
		else if (doubt != NULL)
			grader_unknown(t, trace->in, doubt);
		else
			grader_pass(t);
	}
}

void
grader_put_counts(struct json_out *o, const struct grader_input *in)
{
	json_put_member_int(o, "tool_call_count", (int64_t)in->answer->ncalls);
	json_put_member_int(o, "actual_duration", in->duration_ms);
}

void
grader_put_tokens(struct json_out *o, const struct answer *a)
{
	if (!a->usage.known)
		return;
	json_put_member_int(o, "tokens_total",
	    add_near(a->usage.input_tokens, a->usage.output_tokens));
}

/* What the call acted on, or "". */
static struct str
object_of(const struct answer_call *c, const char **key)
{
	const struct { const char *key; struct str value; } all[] = {
		{ "command", c->command }, { "path", c->path },
		{ "url", c->url }, { "skill", c->skill },
	};
	size_t i;

	for (i = 0; i < COUNTOF(all); i++)
		if (all[i].value.n > 0) {
			*key = all[i].key;
			return all[i].value;
		}
	return STR("");
}

void
grader_put_calls(struct json_out *o, const struct answer *a)
{
	const struct answer_call *c = a->calls;
	const char *key = NULL;
	struct str value;
	size_t n;

	json_open_member(o, "calls", '[');
	for (n = 0; n < CALLS_MAX && c != NULL; n++, c = c->next) {
		json_open(o, '{');
		json_put_member_str(o, "name", utf8_cut(c->name, VALUE_MAX));
		json_put_member_cstr(o, "tool", answer_tool_name(c->tool));
		value = object_of(c, &key);
		if (value.n > 0)
			json_put_member_str(o, key, utf8_cut(value,
			    VALUE_MAX));
		json_put_member_bool(o, "success", c->success);
		if (c->denied)
			json_put_member_bool(o, "denied", true);
		json_close(o, '}');
	}
	json_close(o, ']');
}

void
grader_add_calls(struct arena *a, struct verdict *v,
    const struct answer *answer)
{
	const struct answer_call *c = answer->calls;
	const char *key = NULL;
	struct buf b = { 0 };
	struct str value;
	size_t n;

	if (v->passed || v->error.n > 0 || c == NULL)
		return;
	buf_put(&b, v->feedback);
	buf_puts(&b, "; calls:");
	for (n = 0; c != NULL && b.n < v->feedback.n + LIST_MAX;
	    n++, c = c->next) {
		buf_puts(&b, n > 0 ? ", " : " ");
		grader_put_printable(&b, utf8_cut(c->name, VALUE_MAX), false);
		value = object_of(c, &key);
		if (value.n > 0) {
			buf_putc(&b, ' ');
			buf_put(&b, grader_quote(a, value));
		}
		buf_puts(&b, c->denied ? " (denied)" : "");
	}
	if (c != NULL)
		buf_fmt(&b, " and %zu more", answer->ncalls - n);
	v->feedback = arena_take(a, &b);
}
