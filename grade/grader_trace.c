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

enum { LIST_MAX = 300 };	/* bytes of listed names */

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

struct field_strs
grader_tool_names(struct arena *a, const struct answer *answer)
{
	struct field_strs names = { NULL, 0 };
	const struct answer_call *c;
	size_t n = 0;

	for (c = answer->calls; c != NULL; c = c->next)
		n++;
	names.v = NEW_N(a, struct str, n);
	for (c = answer->calls; c != NULL; c = c->next)
		names.v[names.n++] = c->name;
	return names;
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

void
grader_limit(struct grader_tally *t, const char *what, int64_t max,
    int64_t got, bool known)
{
	if (max < 0)
		return;
	if (known && got > max)
		grader_fail(t, "%lld %s, at most %lld expected",
		    (long long)got, what, (long long)max);
	else
		grader_pass(t);
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
    const struct field_strs *called, const struct field_strs *required,
    const struct field_strs *forbidden)
{
	struct str q, others = { NULL, 0 };
	struct field_strs x;
	size_t i, n;

	if (required->n + forbidden->n == 0)
		return;
	x = grader_index_new(tmp, called);
	for (i = 0; i < required->n; i++) {
		if (grader_index_count(&x, required->v[i]) > 0) {
			grader_pass(t);
			continue;
		}
		if (others.p == NULL)
			others = list_called(tmp, &x);
		q = grader_quote(tmp, required->v[i]);
		grader_fail(t, "required tool %.*s was not called (called: "
		    "%.*s)", STRF(q), STRF(others));
	}
	for (i = 0; i < forbidden->n; i++) {
		n = grader_index_count(&x, forbidden->v[i]);
		q = grader_quote(tmp, forbidden->v[i]);
		if (n > 0)
			grader_fail(t, "forbidden tool %.*s was called (%zu "
			    "of %zu calls)", STRF(q), n, x.n);
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
