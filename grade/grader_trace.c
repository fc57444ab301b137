/* SPDX-License-Identifier: ISC */
/*
 * Names of tools and skills: counted, compared with what is required and
 * forbidden, and shown.
 *
 * Counting is by a sorted copy.  A table of hashes would be faster on friendly
 * names, and slow on those that an agent chooses to be slow.
 */
#include "grade/grader_trace.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum { LIST_MAX = 300 };	/* bytes of names that are shown */

static int
by_name(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

struct grader_index
grader_sort(struct arena *a, const struct field_strs *list)
{
	struct grader_index x = { NEW_N(a, struct str, list->n), list->n };

	if (x.n == 0)
		return x;
	memcpy(x.v, list->v, x.n * sizeof(*x.v));
	qsort(x.v, x.n, sizeof(*x.v), by_name);
	return x;
}

/* The first that is not below s, or with `past` the first above it. */
static size_t
bound(const struct grader_index *x, struct str s, bool past)
{
	size_t lo = 0, hi = x->n, mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = str_cmp(x->v[mid], s);
		if (c < 0 || (past && c == 0))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

size_t
grader_count(const struct grader_index *x, struct str s)
{
	return bound(x, s, true) - bound(x, s, false);
}

size_t
grader_place(const struct grader_index *x, struct str s)
{
	size_t i = bound(x, s, false);

	return i < x->n && str_eq(x->v[i], s) ? i : x->n;
}

void
grader_unique(struct grader_index *x)
{
	size_t i, n = 0;

	for (i = 0; i < x->n; i++)
		if (n == 0 || !str_eq(x->v[n - 1], x->v[i]))
			x->v[n++] = x->v[i];
	x->n = n;
}

struct field_strs
grader_tools(struct arena *a, const struct answer *answer)
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
grader_list(struct arena *a, const struct field_strs *list)
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
	return grader_take(a, &b);
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

/* Which tools there were, for somebody who expected another one. */
static struct str
called_instead(struct arena *tmp, const struct grader_index *called)
{
	struct grader_index once = { NEW_N(tmp, struct str, called->n),
		called->n };
	struct field_strs names;

	if (called->n > 0)
		memcpy(once.v, called->v, called->n * sizeof(*once.v));
	grader_unique(&once);
	names = (struct field_strs){ once.v, once.n };
	return grader_list(tmp, &names);
}

void
grader_want_tools(struct grader_tally *t, struct arena *tmp,
    const struct field_strs *called, const struct field_strs *required,
    const struct field_strs *forbidden)
{
	struct str q, others = { NULL, 0 };
	struct grader_index x;
	size_t i, n;

	if (required->n + forbidden->n == 0)
		return;
	x = grader_sort(tmp, called);
	for (i = 0; i < required->n; i++) {
		if (grader_count(&x, required->v[i]) > 0) {
			grader_pass(t);
			continue;
		}
		if (others.p == NULL)
			others = called_instead(tmp, &x);
		q = grader_quote(tmp, required->v[i]);
		grader_fail(t, "required tool %.*s was not called (called: "
		    "%.*s)", STRF(q), STRF(others));
	}
	for (i = 0; i < forbidden->n; i++) {
		n = grader_count(&x, forbidden->v[i]);
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

void
grader_put_list(struct json_out *o, const char *key,
    const struct field_strs *list)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < list->n; i++)
		json_put_str(o, list->v[i]);
	json_close(o, ']');
}

void
grader_put_number(struct json_out *o, const char *key, double d)
{
	json_put_member_double(o, key, d);
}

bool
grader_check_name(struct grader_check *c, const struct json *node,
    struct str name)
{
	if (name.n > 0)
		return true;
	grader_note(c, FIELD_ERROR, node, "a name is empty here");
	return false;
}

/* A command that prints only its answer, as far as the suite says. */
static bool
tells_calls(const struct spec_config *c)
{
	return !str_is(c->executor, "command") || c->persistent ||
	    (c->output_format.n > 0 && !str_is(c->output_format, "text"));
}

void
grader_check_calls(struct grader_check *c)
{
	if (c->told_calls || tells_calls(&c->suite->config))
		return;
	c->told_calls = true;
	grader_note(c, FIELD_WARNING, NULL,
	    "executor \"command\" does not tell which tools are called: this "
	    "grader will see none");
}

void
grader_check_skills(struct grader_check *c)
{
	if (c->told_skills || grader_tells_skills(c->suite, c->task))
		return;
	c->told_skills = true;
	grader_note(c, FIELD_WARNING, NULL,
	    "executor \"%.*s\" does not tell which skills are used: this "
	    "grader will see none", (int)(c->suite->config.executor.n < 40 ?
	    c->suite->config.executor.n : 40), c->suite->config.executor.p);
}

static bool
any_template(const struct json *v)
{
	const struct json *child;

	if (v->type == JSON_STRING)
		return tmpl_any(json_text(v));
	if (v->type == JSON_ARRAY || v->type == JSON_OBJECT)
		for (child = json_first(v); child != NULL; child = child->next)
			if (any_template(child))
				return true;
	return false;
}

static struct json *
render(struct arena *a, const struct json *v, const struct tmpl_vars *vars,
    struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json *copy = NEW(a, struct json), **tail;
	const struct json *child;
	struct str s;

	*copy = *v;
	copy->next = NULL;
	if (v->type == JSON_STRING) {
		s = tmpl_render(a, json_text(v), vars, e);
		if (s.p == NULL || s.n > UINT32_MAX)
			return NULL;
		copy->u.text = s.p;
		copy->n = (uint32_t)s.n;
	} else if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
		copy->u.child = NULL;
		copy->indexed = 0;
		tail = &copy->u.child;
		for (child = json_first(v); child != NULL;
		    child = child->next) {
			if ((*tail = render(a, child, vars, e)) == NULL)
				return NULL;
			tail = &(*tail)->next;
		}
		if (v->type == JSON_OBJECT)
			json_seal(&mem, copy, true);
	}
	return copy;
}

const struct json *
grader_render_tree(struct arena *a, const struct json *v,
    const struct tmpl_vars *vars, struct err *e)
{
	return any_template(v) ? render(a, v, vars, e) : v;
}
