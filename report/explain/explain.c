/* SPDX-License-Identifier: ISC */
/*
 * Differences of tool calls.  All numbers are means over the trials of a task,
 * so that results with another number of trials can be compared.  An agent that
 * does not report its calls makes them unknown: then nothing is compared.
 */
#include "report/explain/explain.h"

#include <stdlib.h>

#include "json.h"
#include "report/report_internal.h"
#include "results/answer.h"
#include "results/outcome.h"

enum { TALLIES_MAX = 64 };	/* names that are counted */

struct tally {
	struct explain_change change;
	size_t n[2];
};

struct tallies {
	struct tally v[TALLIES_MAX];
	size_t n;
	int side;		/* 0: before, 1: after */
};

static void
count(struct tallies *t, const char *what, struct str name)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->v[i].change.what == what &&
		    str_eq(t->v[i].change.name, name))
			break;
	if (i == TALLIES_MAX)
		return;
	if (i == t->n)
		t->v[t->n++] = (struct tally){
			.change = { .what = what, .name = name } };
	t->v[i].n[t->side]++;
}

static const char calls_of[] = "calls of", failed[] = "failed calls",
    denied[] = "denied calls", skill_uses[] = "uses of the skill";

static bool
is_set(const struct json *obj, const char *key)
{
	const struct json *v = json_getc(obj, key);

	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

/* False: the trial does not tell its calls. */
static bool
count_trial(struct tallies *t, const struct json *trial)
{
	const struct json *c, *list;

	if (answer_lists_unknown(trial, "tool_calls"))
		return false;
	list = json_getc(trial, "tool_events");
	for (c = json_first(list); c != NULL; c = c->next) {
		count(t, calls_of, json_str(c, "tool_name"));
		if (is_set(c, "denied"))
			count(t, denied, STR(""));
		else if (!is_set(c, "success"))
			count(t, failed, STR(""));
	}
	if (list == NULL) {	/* of the original */
		c = json_getc(json_getc(trial, "session_digest"),
		    "tools_used");
		for (c = json_first(c); c != NULL; c = c->next)
			count(t, calls_of, json_text(c));
	}
	for (c = json_first(json_getc(trial, "skills")); c != NULL;
	    c = c->next)
		count(t, skill_uses, json_text(c));
	return true;
}

static bool
count_task(struct tallies *t, const struct outcome_task *task, int side)
{
	size_t i;

	t->side = side;
	for (i = 0; i < task->ntrials; i++)
		if (!count_trial(t, task->trials[i].node))
			return false;
	return task->ntrials > 0;
}

static double
distance(const struct explain_change *c)
{
	return c->from > c->to ? c->from - c->to : c->to - c->from;
}

/* The largest change first; of equal ones the first that was found. */
static int
by_distance(const void *x, const void *y)
{
	const struct tally *a = x, *b = y;
	double d = distance(&b->change) - distance(&a->change);

	return d > 0 ? 1 : d < 0 ? -1 : (int)a->n[0] - (int)b->n[0];
}

void
explain_calls(struct arena *a, const struct outcome_task *from,
    const struct outcome_task *to, struct explain *out)
{
	struct tallies *t = NEW(a, struct tallies);
	struct tally *v;
	size_t i;

	*out = (struct explain){ .n = 0 };
	if (!count_task(t, from, 0) || !count_task(t, to, 1))
		return;
	for (i = 0; i < t->n; i++) {
		v = &t->v[i];
		v->change.from = (double)v->n[0] / (double)from->ntrials;
		v->change.to = (double)v->n[1] / (double)to->ntrials;
		v->n[0] = i;		/* keeps the order of equal ones */
	}
	qsort(t->v, t->n, sizeof(t->v[0]), by_distance);
	for (i = 0; i < t->n && out->n < EXPLAIN_MAX; i++)
		if (distance(&t->v[i].change) > 0)
			out->v[out->n++] = t->v[i].change;
}

static void
put_mean(struct buf *b, double d)
{
	if (d >= 100 || d - (double)(int)d < 0.05)
		buf_fmt(b, "%.0f", d);
	else
		buf_fmt(b, "%.1f", d);
}

void
explain_put(struct buf *b, const struct explain *e, bool ascii)
{
	const struct explain_change *c;

	for (c = e->v; c < e->v + e->n; c++) {
		buf_fmt(b, "%s%s ", c == e->v ? "" : ", ", c->what);
		if (c->name.n > 0) {
			report_line(b, c->name, 40, ascii);
			buf_putc(b, ' ');
		}
		put_mean(b, c->from);
		buf_puts(b, ascii ? " -> " : " → ");
		put_mean(b, c->to);
	}
}

void
explain_json(struct json_out *o, const struct explain *e)
{
	const struct explain_change *c;

	json_open(o, '[');
	for (c = e->v; c < e->v + e->n; c++) {
		json_open(o, '{');
		json_put_member_cstr(o, "what", c->what);
		json_put_member_nonempty(o, "name", c->name);
		json_put_member_double(o, "from", c->from);
		json_put_member_double(o, "to", c->to);
		json_close(o, '}');
	}
	json_close(o, ']');
}
