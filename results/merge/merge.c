/* SPDX-License-Identifier: ISC */
/*
 * merge.c: the merged runs: which parts are missing, their statistics, and
 * what reports need of them.
 */
#include "results/merge/merge.h"

#include <string.h>

#include "base/os.h"
#include "json.h"
#include "results/merge/merge_internal.h"
#include "results/result_internal.h"

enum { REPORT_MAX = 20000 };	/* trials that are always in memory */

struct merge *
merge_new(struct arena *a, const struct merge_opts *o)
{
	struct merge *m = NEW(a, struct merge);

	m->arena = a;
	m->opts = *o;
	m->last = &m->groups;
	m->names_fd = m->tasks.fd = m->trials.fd = -1;
	m->spool.journal.fd = -1;
	(void)NEW(&m->scratch, double);	/* a restored arena keeps its chunk */
	return m;
}

void
merge_free(struct merge *m)
{
	struct merge_group *g;

	for (g = m->groups; g != NULL; g = g->next) {
		buf_free(&g->pass[0].names);
		buf_free(&g->pass[1].names);
		arena_free(&g->pass[0].run.scratch);
		arena_free(&g->pass[1].run.scratch);
	}
	merge_close(m);
	buf_free(&m->seen);
	buf_free(&m->missing);
	arena_free(&m->scratch);
}

/*
 * Missing parts.
 */
static bool
may_name(struct merge *m)
{
	if (m->named == MERGE_NAMED_MAX) {
		m->unnamed++;
		return false;
	}
	m->named++;
	return true;
}

/* The run, if there are several. */
static void
put_run(const struct merge_pass *p)
{
	struct merge *m = p->group->m;
	struct buf *b = &m->missing;

	if (p == &p->group->pass[1])
		buf_puts(b, "baseline, ");
	if (m->groups->next == NULL)
		return;
	buf_fmt(b, "suite \"%.*s\"", STRF(p->group->suite.name));
	if (p->run.cell_name.n > 0)
		buf_fmt(b, " with %.*s", STRF(p->run.cell_name));
	else if (p->run.model.n > 0)
		buf_fmt(b, " with model %.*s", STRF(p->run.model));
	buf_puts(b, ", ");
}

static size_t
miss_shards(struct merge_group *g)
{
	size_t n = 0;
	int64_t k;

	for (k = 1; k <= g->n; k++) {
		if (merge_bit(g->seen, (size_t)k))
			continue;
		n++;
		if (!may_name(g->m))
			continue;
		put_run(&g->pass[0]);
		buf_fmt(&g->m->missing, "shard %lld/%lld\n", (long long)k,
		    (long long)g->n);
	}
	return n;
}

/* The trials of a task that are missing. */
static void
miss_trials(struct merge_pass *p, size_t i)
{
	struct merge *m = p->group->m;
	struct buf *b = &m->missing;
	const struct result_task *t;
	size_t k, n = 0;

	if (!may_name(m))
		return;
	t = merge_load(p, i, true);
	put_run(p);
	if (t->spec->id.n > 0)
		buf_fmt(b, "task \"%.*s\" of shard %u/%lld",
		    STRF(utf8_cut(t->spec->id, 100)), (unsigned)p->task.k,
		    (long long)p->group->n);
	else
		buf_fmt(b, "task number %zu", i + 1);
	for (k = 0; k < t->ntrials && t->ntrials > 1; k++)
		if (t->trials[k].status == RESULT_NONE && n++ < 10)
			buf_fmt(b, "%s%zu", n == 1 ? ": trial " : ", ", k + 1);
	buf_puts(b, n > 10 ? " and more\n" : "\n");
}

static void
miss_triggers(struct merge_pass *p)
{
	const struct result_triggers *t = &p->run.triggers;

	if (t->done == t->n || !may_name(p->group->m))
		return;
	put_run(p);
	buf_fmt(&p->group->m->missing, "%zu of %zu trigger tests of shard "
	    "1/%lld\n", t->n - t->done, t->n, (long long)p->group->n);
}

/*
 * Statistics.
 */

/* Ends a task; whether it is complete.  A failed hook ends it, too. */
static bool
end_task(struct merge_pass *p, size_t i)
{
	struct result_run *r = &p->run;
	struct merge *m = p->group->m;
	struct result_task *t;
	bool whole;
	size_t k;

	t = &p->task.t;
	(void)merge_load(p, i, false);
	if (t->more->skipped != NULL && r->skipped == NULL)
		(void)merge_load(p, i, true);
	p->more.error = (struct str){ "", p->task.n[MERGE_ERROR] };
	for (k = t->done = 0; k < t->ntrials; k++)
		t->done += t->trials[k].status != RESULT_NONE;
	whole = t->done == t->ntrials || t->more->error.n > 0;
	if (whole)
		p->task.n[MERGE_SKIP] = 0;
	else if (t->more->skipped != NULL && r->skipped == NULL)
		r->skipped = arena_str(m->arena, str_of(t->more->skipped)).p;
	p->more.skipped = NULL;
	p->more.partial = !whole;
	if (t->done > 0 || t->more->error.n > 0)
		result_finish_task(r, t, &p->task.stats);
	p->more.partial = false;
	t->trials = NULL;
	t->spec = NULL;
	t->more = NULL;
	t->stats = NULL;
	p->loaded = 0;
	if (merge_bit(p->known, i) && m->err.code == ERR_NONE)
		(void)merge_put(&m->tasks, p->tasks + i, &p->task, &m->err);
	return whole;
}

static void
finish_pass(struct merge_pass *p, size_t lacking)
{
	struct result_run *r = &p->run;
	struct merge_group *g = p->group;
	size_t i, gaps = 0;

	r->journal = g->m->spool.journal;
	for (i = 0; i < r->ntasks && g->m->err.code == ERR_NONE; i++) {
		if (end_task(p, i))
			continue;
		gaps++;
		/* the tasks of a missing shard are not known */
		if (lacking == 0 || merge_bit(p->known, i))
			miss_trials(p, i);
	}
	miss_triggers(p);
	r->started_ns = g->started_ns;
	r->duration_ms = g->ended_ns > g->started_ns ?
	    (g->ended_ns - g->started_ns) / 1000000 : 0;
	r->ended = true;
	r->complete = gaps == 0 && lacking == 0 &&
	    r->triggers.done == r->triggers.n;
	result_sum(r);
}

static int
finish_group(struct merge *m, struct merge_group *g, struct err *e)
{
	size_t lacking;

	if (g->pass[0].config == NULL)
		return err_set(e, ERR_SCHEMA, "%s: only the baseline of suite "
		    "\"%.*s\": its run with skills is missing",
		    g->pass[1].first, STRF(utf8_cut(g->suite.name, 60)));
	lacking = miss_shards(g);
	if (g->has_baseline && g->pass[1].config == NULL) {
		put_run(&g->pass[0]);
		buf_puts(&m->missing, "the baseline of all shards\n");
		m->named++;
	}
	finish_pass(&g->pass[0], lacking);
	if (g->pass[1].config == NULL)
		return 0;
	finish_pass(&g->pass[1], lacking);
	g->pass[0].run.baseline = &g->pass[1].run;
	return 0;
}

int
merge_finish(struct merge *m, struct err *e)
{
	struct merge_group *g;

	*e = (struct err){ 0 };
	for (g = m->groups; g != NULL; g = g->next)
		if (finish_group(m, g, e) == -1)
			return -1;
	if (m->err.code != ERR_NONE) {
		*e = m->err;
		return -1;
	}
	if (m->unnamed > 0)
		buf_fmt(&m->missing, "%zu more parts\n", m->unnamed);
	if (m->missing.n == 0 || m->opts.allow_missing)
		return 0;
	return err_set(e, ERR_SCHEMA, "the shards are not complete: run or "
	    "resume the missing parts, or use --allow-missing");
}

struct str
merge_missing(const struct merge *m)
{
	return buf_str(&m->missing);
}

size_t
merge_count(const struct merge *m)
{
	const struct merge_group *g;
	size_t n = 0;

	for (g = m->groups; g != NULL; g = g->next)
		n++;
	return n;
}

struct merge_group *
merge_at(struct merge *m, size_t i)
{
	struct merge_group *g = m->groups;

	while (i-- > 0)
		g = g->next;
	return g;
}

struct result_run *
merge_results(struct merge_group *g)
{
	return &g->pass[0].run;
}

size_t
merge_bad_lines(const struct merge *m)
{
	return m->bad;
}

/*
 * Reports.
 */
static void
keep_task(struct arena *a, const struct result_task *from,
    struct result_task *to)
{
	struct spec_task *s = NEW(a, struct spec_task);
	struct spec_def *d = NEW(a, struct spec_def);
	struct result_stats *stats = NEW(a, struct result_stats);
	struct result_more *m;

	*s = *from->spec;
	*d = *s->def;
	s->def = d;
	s->id = arena_str(a, s->id);
	/* that of a task of a missing shard is not known */
	s->name = s->name.n > 0 ? arena_str(a, s->name) :
	    arena_fmt(a, "task %u", from->index + 1);
	d->group = arena_str(a, d->group);
	d->quarantine = arena_str(a, d->quarantine);
	d->quarantine_until = arena_str(a, d->quarantine_until);
	if (s->at.file != NULL)
		s->at.file = arena_str(a, str_of(s->at.file)).p;
	*to = *from;
	to->spec = s;
	m = result_own_more(a, to);
	m->error = arena_str(a, m->error);
	m->selected = arena_str(a, m->selected);
	if (m->skipped != NULL)
		m->skipped = arena_str(a, str_of(m->skipped)).p;
	m->controls = arena_str(a, m->controls);
	*stats = *from->stats;
	to->stats = stats;
	to->trials = NEW_N(a, struct result_trial, from->ntrials);
	memcpy(to->trials, from->trials, from->ntrials *
	    sizeof(to->trials[0]));
}

static struct result_run *
report(struct merge_pass *p, bool all)
{
	struct arena *a = p->group->m->arena;
	struct result_run *r = NEW(a, struct result_run);
	const struct result_task *t;
	struct buf list = { 0 };
	struct result_task kept;
	size_t i;

	*r = p->run;
	r->source = NULL;
	r->ntasks = 0;
	r->scratch = (struct arena){ NULL, 0 };
	for (i = 0; i < p->run.ntasks; i++) {
		t = merge_load(p, i, false);
		if (!all && !p->task.accepts && ((t->status == RESULT_PASSED &&
		    !t->stats->flaky) ||
		    (t->status == RESULT_NONE && t->done == 0))) {
			r->left_out++;
			continue;
		}
		keep_task(a, merge_load(p, i, true), &kept);
		buf_put(&list, (struct str){ (char *)&kept, sizeof(kept) });
		r->ntasks++;
	}
	r->tasks = NEW_N(a, struct result_task, r->ntasks);
	if (list.n > 0)
		memcpy(r->tasks, list.p, list.n);
	buf_free(&list);
	return r;
}

struct result_run *
merge_report(struct merge_group *g, bool all)
{
	struct result_run *r;

	all = all || g->pass[0].run.ntasks * g->pass[0].run.trials <=
	    REPORT_MAX;
	r = report(&g->pass[0], all);
	if (r->baseline != NULL)
		r->baseline = report(&g->pass[1], all);
	return r;
}
