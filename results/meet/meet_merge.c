/* SPDX-License-Identifier: ISC */
/*
 * meet_merge.c: merges the parts of runs, one run at a time, in a copy of the
 * process.
 *
 * A run that gets new parts is merged again after a pause of at least a second
 * and five times as long as its last merge took; at once, if all shards have
 * sent their results.  A part that cannot be
 * merged is removed, so that the others can be; later pieces of it are
 * refused.
 */
#include "results/meet/meet_internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "results/result.h"
#include "results/result_internal.h"

enum {
	SOON_MS = 200,			/* to combine pieces */
	PAUSE_MS = 1000, SHARE = 5,	/* between merges of a run, */
	PAUSE_MAX = 60000,
	FAILED_MS = 60000,		/* after a merge that failed */
	REFUSED_MAX = 100		/* parts in one merge */
};

static void plan(struct meet *);

/*
 * The copy.  Its output: {"complete":b,"ended":"ns","refused":[{"k":n,
 * "hash":...,"why":...}]}, or {"error":...}.
 */
struct refusals {
	struct json_out *out;
	bool *skip;			/* a flag for each part */
	size_t n;
};

static void
put_refusal(struct refusals *x, const struct meet_part *p, const char *why)
{
	json_open(x->out, '{');
	json_put_member_int(x->out, "k", p->k);
	json_put_member_cstr(x->out, "hash", p->hash);
	json_put_member_cstr(x->out, "why", why);
	json_close(x->out, '}');
	x->n++;
}

/* Adds all parts.  1; 0: one was refused, start again; -1 and *e. */
static int
add_parts(struct merge *m, struct arena *a, const struct meet_run *r,
    struct refusals *x, struct err *e)
{
	size_t i, n;
	const struct meet_part *v = meet_parts(r, &n);
	const char *path;

	for (i = 0; i < n; i++) {
		if (x->skip[i] || v[i].refused)
			continue;
		path = meet_path(a, r, &v[i], false);
		if (merge_add(m, path, e) == 0)
			continue;
		if (e->code == ERR_SYS || x->n == REFUSED_MAX)
			return -1;
		x->skip[i] = true;
		put_refusal(x, &v[i], e->msg);
		return 0;
	}
	return 1;
}

/* A run without all of its trials is written as one that still runs. */
static int
write_merged(struct merge *m, const struct meet_run *r, struct json_out *o,
    struct err *e)
{
	struct result_run *run;
	struct arena a = { 0 };
	long long ended_ns;
	bool complete;
	int rc;

	if (merge_count(m) != 1)
		return err_set(e, ERR_SCHEMA, "no part can be merged");
	if (merge_finish(m, e) == -1)
		return -1;
	run = merge_results(merge_at(m, 0));
	complete = merge_missing(m).n == 0;
	run->run_id = r->id;
	if (run->baseline != NULL) {
		run->baseline->run_id = arena_fmt(&a, "%s-baseline", r->id).p;
		run->baseline->ended = complete;
	}
	run->ended = complete;
	result_sweep(r->file);
	rc = result_write(run, r->file, e);
	json_put_member_bool(o, "complete", complete);
	ended_ns = run->started_ns + run->duration_ms * 1000000;
	json_put_member_str(o, "ended", arena_fmt(&a, "%lld",
	    ended_ns));
	arena_free(&a);
	return rc;
}

static int
merge_once(const struct meet_run *r, struct refusals *x, struct json_out *o,
    struct err *e)
{
	struct merge_opts opts = { .allow_missing = true };
	struct arena a = { 0 };
	struct merge *m = merge_new(&a, &opts);
	int rc = add_parts(m, &a, r, x, e);

	if (rc == 1) {
		json_close(o, ']');
		if (write_merged(m, r, o, e) == -1)
			json_put_member_cstr(o, "error", e->msg);
	}
	merge_free(m);
	arena_free(&a);
	return rc;
}

static void
work(void *arg, struct buf *out)
{
	const struct meet *meet = arg;
	const struct meet_run *r = meet->merging;
	struct json_out o = { .put = buf_sink, .ctx = out };
	struct arena a = { 0 };
	struct refusals x = { .out = &o };
	struct err e = { 0 };
	int rc;

	x.skip = NEW_N(&a, bool, r->parts.n / sizeof(struct meet_part) + 1);
	json_open(&o, '{');
	json_open_member(&o, "refused", '[');
	do
		rc = merge_once(r, &x, &o, &e);
	while (rc == 0);
	if (rc == -1) {
		json_close(&o, ']');
		json_put_member_cstr(&o, "error", e.msg);
	}
	json_close(&o, '}');
	arena_free(&a);
}

/* Whether all shards have sent their results. */
static bool
has_all(const struct meet_run *r)
{
	struct arena a = { 0 };
	unsigned char *seen = NEW_N(&a, unsigned char, (size_t)r->n + 1);
	size_t i, n;
	const struct meet_part *v = meet_parts(r, &n);
	int64_t all = 0;

	for (i = 0; i < n; i++)
		if (v[i].results >= 0 && seen[v[i].k]++ == 0)
			all++;
	arena_free(&a);
	return all == r->n;
}

/*
 * After it.
 */
void
meet_remove_part(struct meet_run *r, struct meet_part *p)
{
	struct arena a = { 0 };

	(void)unlink(meet_path(&a, r, p, false));
	(void)unlink(meet_path(&a, r, p, true));
	r->meet->bytes -= (p->journal > 0 ? p->journal : 0) +
	    (p->results > 0 ? p->results : 0);
	p->journal = p->results = -1;
	arena_free(&a);
}

void
meet_close(struct meet_run *r)
{
	size_t i, n;
	struct meet_part *v = meet_parts(r, &n);
	struct err e;

	r->closed = true;
	if (meet_save(r, &e) == -1) {	/* later, then */
		r->closed = false;
		return;
	}
	for (i = 0; i < n; i++)
		meet_remove_part(r, &v[i]);
	r->dirty = false;
}

/* The path in a message is of this machine, and the part is named. */
static void
refuse_part(struct meet_run *r, const struct json *v)
{
	struct str hash = json_str(v, "hash"), why = json_str(v, "why");
	struct meet_part *p;
	char text[MEET_HASH];
	const char *colon;
	int64_t k = 0;

	snprintf(text, sizeof(text), "%.*s", STRF(utf8_cut(hash,
	    MEET_HASH - 1)));
	if (!result_int(v, "k", &k) ||
	    (p = meet_find_part(r, k, text)) == NULL)
		return;
	meet_remove_part(r, p);
	p->refused = true;
	if (str_starts(why, str_of(r->dir)) &&
	    (colon = memchr(why.p, ':', why.n)) != NULL) {
		why.n -= (size_t)(colon + 1 - why.p);
		why.p = colon + 1;
	}
	if (r->why.n < 16 << 10)
		buf_fmt(&r->why, "shard %lld/%lld: %.*s\n", (long long)k,
		    (long long)r->n, STRF(utf8_cut(str_trim(why), 300)));
}

/* False: the merge has failed and is repeated. */
static bool
take_answer(struct meet_run *r, const struct json *v)
{
	struct str ended = json_str(v, "ended");
	const struct json *x;
	size_t i;

	for (x = json_first(json_getc(v, "refused")); x != NULL; x = x->next)
		refuse_part(r, x);
	if (v == NULL || json_str(v, "error").n > 0) {
		r->dirty = true;
		r->due = loop_now(r->meet->loop) + FAILED_MS;
		return false;
	}
	r->complete = result_true(v, "complete");
	for (i = 0, r->ended_ns = 0; i < ended.n && i < 19; i++)
		r->ended_ns = r->ended_ns * 10 + (ended.p[i] - '0');
	return true;
}

static void
on_merged(void *arg)
{
	struct meet *m = arg;
	struct meet_run *r = m->merging;
	struct arena a = { 0 };
	const struct json *v;
	int64_t pause = m->merge.duration_ms * SHARE;

	v = arena_json(&a, arena_str(&a, m->merge.out), NULL);
	m->merging = NULL;
	r->fresh = loop_now(m->loop);
	pause = pause > PAUSE_MAX ? PAUSE_MAX : pause;
	r->due = loop_now(m->loop) + (pause > PAUSE_MS ? pause : PAUSE_MS);
	if (take_answer(r, v) && r->dirty)
		meet_touch(r);		/* it may be urgent */
	arena_free(&a);
	if (r->complete && !r->dirty && has_all(r))
		meet_close(r);
	if (m->changed != NULL)
		m->changed(m->arg);
	plan(m);
}

static void
start(struct meet *m, struct meet_run *r)
{
	m->merging = r;
	r->dirty = false;
	m->merge = (struct offload){ .work = work, .done = on_merged,
		.arg = m };
	offload_start(m->procs, &m->merge);
}

static void
on_time(void *arg)
{
	plan(arg);
}

/* Starts the merge that is due first, or waits for it. */
static void
plan(struct meet *m)
{
	struct meet_run *r, *first = NULL;
	int64_t now = loop_now(m->loop);

	if (m->merging != NULL)
		return;
	for (r = m->runs; r != NULL; r = r->next)
		if (r->dirty && !r->closed &&
		    (first == NULL || r->due < first->due))
			first = r;
	if (first == NULL)
		return;
	if (first->due <= now)
		start(m, first);
	else
		timer_once(m->loop, &m->timer, first->due - now, on_time, m);
}

void
meet_touch(struct meet_run *r)
{
	int64_t soon = loop_now(r->meet->loop) + SOON_MS;

	if (r->closed)
		return;
	if (r->due < soon && !r->dirty)
		r->due = soon;
	if (r->due > soon && has_all(r))
		r->due = soon;
	r->dirty = true;
	plan(r->meet);
}
