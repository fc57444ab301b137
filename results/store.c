/* SPDX-License-Identifier: ISC */
/*
 * store.c: the lists of results files, by time and by id, and their filter.
 *
 * A file has the id of its run, or one made from its path if the run's id is
 * unsuitable.  If a run has several files (copies, or files graded again), its
 * id finds the first by path.  Each of them can be found by its long id, the
 * run's id followed by a hash of the path.  Both lists are rebuilt on request
 * after a change.
 */
#include "results/store_internal.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "results/result.h"

static const char *const words[] = {
	[STORE_PENDING] = "pending", [STORE_RUNNING] = "running",
	[STORE_COMPLETED] = "completed", [STORE_FAILED] = "failed",
	[STORE_CANCELLED] = "cancelled",
};
typedef char words_are_complete[COUNTOF(words) == STORE_STATE__MAX ? 1 : -1];

const char *
store_state_name(enum store_state state)
{
	return words[state];
}

int
store_init(struct store *s, struct err *e)
{
	s->last_dir = &s->dirs;
	s->stale = true;
	return store_scan_start(s, e);
}

void
store_fini(struct store *s)
{
	store_scan_stop(s);
	store_forget(s, NULL);
	buf_free(&s->by_time);
	buf_free(&s->by_id);
	arena_free(&s->scratch);
	arena_free(&s->arena);
}

/*
 * The two lists.
 */
static int
by_time(const void *x, const void *y)
{
	const struct store_file *a = *(struct store_file *const *)x;
	const struct store_file *b = *(struct store_file *const *)y;

	if (a->run.started_ns != b->run.started_ns)
		return a->run.started_ns > b->run.started_ns ? -1 : 1;
	return str_cmp(a->run.path, b->run.path);
}

static int
by_id(const void *x, const void *y)
{
	const struct store_file *a = *(struct store_file *const *)x;
	const struct store_file *b = *(struct store_file *const *)y;
	int c = str_cmp(a->eval_id, b->eval_id);

	return c != 0 ? c : str_cmp(a->run.path, b->run.path);
}

static void
add(struct buf *list, struct store_file *f)
{
	buf_put(list, (struct str){ (char *)&f, sizeof(f) });
}

static struct store_file **
entries(const struct buf *list, size_t *n)
{
	*n = list->n / sizeof(struct store_file *);
	return (struct store_file **)(void *)list->p;
}

/* The first file with an id gets it, the others get their long ids. */
static void
set_ids(struct store_file **v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		v[i]->run.id = i > 0 && str_eq(v[i]->eval_id,
		    v[i - 1]->eval_id) ? v[i]->long_id : v[i]->eval_id;
}

/* Rebuilds both lists if necessary. */
static void
update_lists(struct store *s)
{
	struct store_file **v, *f;
	struct store_dir *d;
	size_t n;

	if (!s->stale)
		return;
	s->stale = false;
	s->by_time.n = s->by_id.n = 0;
	for (d = s->dirs; d != NULL; d = d->next)
		for (f = d->files; f != NULL; f = f->next)
			if (f->results) {
				add(&s->by_time, f);
				add(&s->by_id, f);
			}
	v = entries(&s->by_time, &n);
	if (n > 1)
		qsort(v, n, sizeof(*v), by_time);
	v = entries(&s->by_id, &n);
	if (n > 1)
		qsort(v, n, sizeof(*v), by_id);
	set_ids(v, n);
}

struct store_file **
store_list(struct store *s, size_t *n)
{
	store_wake(s);
	update_lists(s);
	return entries(&s->by_time, n);
}

static int
cmp_id(const void *id, const void *file)
{
	const struct store_file *f = *(struct store_file *const *)file;

	return str_cmp(*(const struct str *)id, f->eval_id);
}

/* The index of the first file whose id is not less. */
static size_t
find_first(struct store_file **v, size_t n, struct str id)
{
	return search_first(&id, v, n, sizeof(*v), cmp_id);
}

struct store_file *
store_find(struct store *s, struct str id)
{
	struct store_file **v;
	struct str stem = id;
	size_t i, n;

	store_wake(s);
	update_lists(s);
	v = entries(&s->by_id, &n);
	i = find_first(v, n, id);
	if (i < n && str_eq(v[i]->eval_id, id))
		return v[i];
	/* a long id is ID~HASH */
	while (stem.n > 0 && stem.p[stem.n - 1] != '~')
		stem.n--;
	if (stem.n == 0)
		return NULL;
	stem.n--;
	i = find_first(v, n, stem);
	for (; i < n && str_eq(v[i]->eval_id, stem); i++)
		if (str_eq(v[i]->long_id, id))
			return v[i];
	return NULL;
}

struct store_file **
store_group(struct store *s, struct str id, size_t *n)
{
	struct store_file **v;
	size_t i, all;

	update_lists(s);
	v = entries(&s->by_id, &all);
	i = find_first(v, all, id);
	for (*n = 0; i + *n < all && str_eq(v[i + *n]->eval_id, id); )
		++*n;
	return *n > 0 ? v + i : NULL;
}

/*
 * Summaries.
 */
static void
put_ok(struct json_out *o, int ok)
{
	if (ok < 0)
		json_put_member_null(o, "ok");
	else
		json_put_member_bool(o, "ok", ok > 0);
}

void
store_put_counts(struct json_out *o, const struct store_run *r)
{
	json_put_member_int(o, "total", (int64_t)r->total);
	json_put_member_int(o, "passed", (int64_t)r->passed);
	json_put_member_int(o, "failed", (int64_t)r->failed);
	json_put_member_int(o, "errors", (int64_t)r->errors);
	json_put_member_int(o, "skipped", (int64_t)r->skipped);
	json_put_member_double(o, "passRate", r->rate);
	json_put_member_double(o, "score", r->score);
	json_put_member_int(o, "durationMs", r->sum_ms);
}

void
store_put_summary(struct json_out *o, const struct store_run *r)
{
	if (!r->summed) {
		json_put_member_null(o, "summary");
		return;
	}
	json_open_member(o, "summary", '{');
	store_put_counts(o, r);
	put_ok(o, r->ok);
	json_close(o, '}');
}

void
store_put(struct json_out *o, const struct store_run *r)
{
	char when[RESULT_TIME_MAX];

	result_time(when, r->started_ns);
	json_put_member_str(o, "runId", r->id);
	json_put_member_str(o, "name", r->name);
	json_put_member_str(o, "skill", r->skill);
	json_put_member_str(o, "path", r->path);
	json_put_member_str(o, "source", r->live ? STR("live") : STR("file"));
	json_put_member_str(o, "status", str_of(words[r->state]));
	put_ok(o, r->ok);
	json_put_member_str(o, "executor", r->executor);
	json_put_member_str(o, "model", r->model);
	json_put_member_str(o, "startedAt", str_of(when));
	json_put_member_int(o, "durationMs", r->duration_ms);
	store_put_summary(o, r);
	if (r->state < STORE_COMPLETED) {
		json_open_member(o, "progress", '{');
		json_put_member_int(o, "done", (int64_t)r->done);
		json_put_member_int(o, "total", (int64_t)r->tasks);
		json_close(o, '}');
	}
	if (r->tokens < 0)
		json_put_member_null(o, "tokens");
	else
		json_put_member_int(o, "tokens", r->tokens);
	if (r->cost < 0)
		json_put_member_null(o, "cost");
	else
		json_put_member_double(o, "cost", r->cost);
}

static char
lower_case(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Whether part occurs in s; ASCII letters match in either case. */
static bool
contains(struct str s, struct str part)
{
	size_t i, k;

	for (i = 0; i + part.n <= s.n; i++) {
		for (k = 0; k < part.n && lower_case(s.p[i + k]) ==
		    lower_case(part.p[k]); k++)
			;
		if (k == part.n)
			return true;
	}
	return false;
}

bool
store_matches(const struct store_run *r, const struct store_query *q)
{
	const struct str *const in[] = { &r->name, &r->id, &r->skill,
		&r->model, &r->executor, &r->path };
	size_t i;

	if (q->state >= 0 && (int)r->state != q->state)
		return false;
	if (q->suite.n > 0 && !str_eq(r->name, q->suite))
		return false;
	if (q->q.n == 0)
		return true;
	for (i = 0; i < COUNTOF(in); i++)
		if (contains(*in[i], q->q))
			return true;
	return false;
}
