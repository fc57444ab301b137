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
	VALUE_MAX = 200,	/* bytes of what one of them did */
	NAME_COST = 2000,	/* of a name, in units of a budget, */
	FIT_COST = 10		/* of comparing it with a call */
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
    struct budget *budget, struct grader_trace *t)
{
	const struct answer_call *c;
	size_t n = 0;

	*t = (struct grader_trace){ .in = in, .budget = budget };
	for (c = in->answer->calls; c != NULL; c = c->next)
		n++;
	t->names.v = NEW_N(a, struct str, n);
	t->calls = NEW_N(a, const struct answer_call *, n);
	for (c = in->answer->calls; c != NULL; c = c->next) {
		if (c->denied)
			continue;
		t->calls[t->names.n] = c;
		t->names.v[t->names.n++] = c->name;
	}
}

bool
grader_trace_afford(const struct grader_trace *t, size_t names)
{
	return budget_take(t->budget, (uint64_t)names * (NAME_COST +
	    (uint64_t)t->names.n * FIT_COST));
}

/* By a kind only, it is known what the call does, but not for which purpose. */
static enum grader_fit
vague_fit(const struct answer_call *c, uint64_t does)
{
	static const bool plain[ANSWER_TOOL__MAX] = { [ANSWER_SHELL] = true,
		[ANSWER_WRITE] = true, [ANSWER_EDIT] = true,
		[ANSWER_SKILL] = true, [ANSWER_TASK] = true };

	if ((does & answer_any(c->tool)) == 0)
		return GRADER_NO;
	return plain[c->tool] && (does & answer_plain(c->tool)) != 0 ?
	    GRADER_YES : GRADER_MAYBE;
}

enum grader_fit
grader_call_does(const struct answer_call *c, const struct answer_name *n)
{
	enum grader_fit fit;

	if (n->own && (c->tool == n->tool ||
	    (c->does & answer_any(n->tool)) != 0))
		return GRADER_YES;
	fit = c->does != 0 ? (c->does & n->does) != 0 ? GRADER_YES :
	    GRADER_NO : vague_fit(c, n->does);
	if (fit == GRADER_NO && c->any_edit &&
	    (n->does & answer_plain(ANSWER_WRITE)) != 0)
		return GRADER_MAYBE;
	if (fit != GRADER_NO || !c->no_name)
		return fit;
	/* a kind tells what the tool does, a title does not */
	return (n->own || n->does != 0) && (c->tool != ANSWER_OTHER ||
	    answer_is_kind(c->name)) ? GRADER_NO : GRADER_MAYBE;
}

enum grader_fit
grader_call_is(const struct answer_call *c, const struct answer_name *n)
{
	return !c->no_name && (answer_same_name(c->name, n->text) ||
	    answer_is_mock(c, n->text)) ? GRADER_YES : grader_call_does(c, n);
}

const char *
grader_call_doubt(const struct answer_call *c)
{
	return c->no_name ? "the names of tools" :
	    "whether a file is written or edited";
}

size_t
grader_trace_count(const struct grader_trace *t, struct str name,
    const char **doubt)
{
	struct answer_name n = answer_name(name);
	const char *unknown = NULL;
	enum grader_fit fit;
	size_t i, count = 0;

	*doubt = NULL;
	if (!grader_trace_afford(t, 1))
		return 0;
	for (i = 0; i < t->names.n; i++) {
		fit = grader_call_is(t->calls[i], &n);
		count += fit == GRADER_YES;
		if (fit == GRADER_MAYBE)
			unknown = grader_call_doubt(t->calls[i]);
	}
	*doubt = t->in->answer->no_calls ? "tool calls" : unknown;
	return count;
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
		if (grader_trace_count(trace, required->v[i], &doubt) > 0) {
			grader_pass(t);
			continue;
		}
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
		n = grader_trace_count(trace, forbidden->v[i], &doubt);
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
