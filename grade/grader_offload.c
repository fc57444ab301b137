/* SPDX-License-Identifier: ISC */
/*
 * Gradings that take long: a copy of this process computes the verdict, so
 * that the loop continues.
 *
 * The copy is the same program, so its result comes back as the bytes of
 * structs, each followed by its strings.
 */
#include "grade/grader_internal.h"

#include <string.h>

#include "io/offload.h"

struct grader_away {
	struct grading *g;
	enum grader_status (*compute)(struct grading *);
	struct offload o;
};

/*
 * What a copy returns: n verdicts, or n bytes that kind->start() carries.  The
 * structs have no padding, which would be undefined.
 */
struct head {
	size_t carries, n;
};

enum { NAME, FEEDBACK, DETAILS, ERROR, STRINGS };

struct sent {
	double score, weight;
	uint64_t passed, judge, advisory, skipped;
	size_t n[STRINGS];		/* lengths */
};

static void
put_bytes(struct buf *b, const void *p, size_t n)
{
	buf_put(b, (struct str){ p, n });
}

static void
put_verdict(struct buf *b, const struct verdict *v)
{
	struct sent s = { v->score, v->weight, v->passed, v->judge,
		v->advisory, v->skipped, { v->name.n, v->feedback.n,
		v->details.n, v->error.n } };

	put_bytes(b, &s, sizeof(s));
	buf_put(b, v->name);
	buf_put(b, v->feedback);
	buf_put(b, v->details);
	buf_put(b, v->error);
}

static void
work(void *arg, struct buf *out)
{
	struct grader_away *w = arg;
	struct grading *g = w->g;
	struct head h;
	size_t i;

	g->copied = true;
	h.carries = w->compute(g) == GRADER_LATER;
	h.n = h.carries ? g->carry.n : g->spec != NULL ? 1 : g->nexpected;
	put_bytes(out, &h, sizeof(h));
	if (h.carries)
		buf_put(out, g->carry);
	else if (g->spec != NULL)
		put_verdict(out, &g->out);
	for (i = 0; i < g->nexpected; i++)
		put_verdict(out, &g->expected[i]);
}

static bool
take_bytes(struct str *s, void *to, size_t n)
{
	if (s->n < n)
		return false;
	memcpy(to, s->p, n);
	s->p += n;
	s->n -= n;
	return true;
}

static bool
take_str(struct arena *a, struct str *s, size_t n, struct str *text)
{
	if (s->n < n)
		return false;
	*text = n > 0 ? arena_str(a, (struct str){ s->p, n }) : STR("");
	s->p += n;
	s->n -= n;
	return true;
}

static bool
take_verdict(struct grading *g, struct str *s, struct verdict *v)
{
	struct arena *a = g->arena;
	struct sent x;

	if (!take_bytes(s, &x, sizeof(x)) ||
	    !take_str(a, s, x.n[NAME], &v->name) ||
	    !take_str(a, s, x.n[FEEDBACK], &v->feedback) ||
	    !take_str(a, s, x.n[DETAILS], &v->details) ||
	    !take_str(a, s, x.n[ERROR], &v->error))
		return false;
	v->score = x.score;
	v->weight = x.weight;
	v->passed = x.passed != 0;
	v->judge = x.judge != 0;
	v->advisory = x.advisory != 0;
	v->skipped = x.skipped != 0;
	return true;
}

/* Reads the result of the copy; false if it is not complete. */
static bool
take_result(struct grading *g, struct str s, struct head *h)
{
	size_t i;

	if (!take_bytes(&s, h, sizeof(*h)))
		return false;
	if (h->carries)
		return take_str(g->arena, &s, h->n, &g->carry);
	if (g->spec != NULL)
		return take_verdict(g, &s, &g->out);
	g->expected = NEW_N(g->arena, struct verdict, h->n);
	g->nexpected = h->n;
	for (i = 0; i < h->n; i++)
		if (!take_verdict(g, &s, &g->expected[i]))
			return false;
	return true;
}

static void
fail(struct grading *g, const char *what, const char *why)
{
	grader_error(g, "%s%s", what, why);
	if (g->spec != NULL)
		return;
	g->out.name = STR("_expected");
	g->expected = &g->out;
	g->nexpected = 1;
}

static void
on_done(void *arg)
{
	struct grader_away *w = arg;
	struct grading *g = w->g;
	const struct offload *o = &w->o;
	struct head h = { 0, 0 };

	g->away = NULL;
	if (o->cancelled)
		fail(g, "cancelled", "");
	else if (o->error[0] != '\0')
		fail(g, "the process that computes the verdict: ", o->error);
	else if (!take_result(g, o->out, &h))
		fail(g, "the process that computes the verdict: ",
		    "its result is not complete");
	else if (h.carries && w->compute(g) == GRADER_LATER)
		return;			/* the kind calls done() */
	g->out.duration_ms = o->duration_ms;
	g->done(g->arg);
}

enum grader_status
grader_offload(struct grading *g,
    enum grader_status (*compute)(struct grading *))
{
	struct grader_away *w = NEW(g->arena, struct grader_away);

	w->g = g;
	w->compute = compute;
	w->o = (struct offload){ .work = work, .done = on_done, .arg = w };
	g->away = w;
	offload_start(g->in->procs, &w->o);
	return GRADER_LATER;
}

void
grader_offload_cancel(struct grading *g)
{
	offload_cancel(&g->away->o);
}

void
grader_offload_drop(struct grading *g)
{
	offload_drop(&g->away->o);
}
