/* SPDX-License-Identifier: ISC */
/*
 * outcome.c: a results file, from its text to tasks and trials.
 *
 * Files are older than programs, and some were made by hand: what is missing
 * is computed from what is there, a null is what is not there, and unknown
 * members are left alone.  The numbers of a whole are made from its parts
 * where it has any, as result.c makes them; what a summary says is believed
 * only where it is all there is.
 */
#include "results/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "json.h"
#include "lib/stats.h"
#include "results/result_internal.h"

enum { MAJOR = 1 };		/* of the shape */
#define MS_MAX INT64_C(1000000000000)	/* 31 years: their sum fits */

/* The first of the members that is there, and not null. */
static const struct json *
member(const struct json *obj, const char *const *keys)
{
	const struct json *v;

	for (; *keys != NULL; keys++) {
		v = json_getc(obj, *keys);
		if (v != NULL && v->type != JSON_NULL)
			return v;
	}
	return NULL;
}
#define MEMBER(obj, ...) \
	member(obj, (const char *const[]){ __VA_ARGS__, NULL })

static struct str
text(const struct json *v)
{
	return v != NULL && v->type == JSON_STRING ? json_text(v) : STR("");
}
#define TEXT(obj, ...) text(MEMBER(obj, __VA_ARGS__))

static bool
truth(const struct json *v)
{
	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

/* A score or a rate; false: it has none. */
static bool
score(const struct json *obj, const char *key, double *out)
{
	double d;

	if (!result_num(obj, key, &d) || !(d >= 0))
		return false;
	*out = d > 1 ? 1 : d;
	return true;
}

static bool
millis(const struct json *obj, const char *key, int64_t *out)
{
	double d;

	if (!result_num(obj, key, &d) || !(d >= 0 && d <= (double)MS_MAX))
		return false;
	*out = (int64_t)d;
	return true;
}

/* The words of a status; not all of them say how it ended. */
static const struct {
	const char *word;
	enum result_status status;
} words[] = {
	{ "passed", RESULT_PASSED }, { "pass", RESULT_PASSED },
	{ "failed", RESULT_FAILED }, { "fail", RESULT_FAILED },
	{ "error", RESULT_AGENT_ERROR }, { "timeout", RESULT_TIMEOUT },
};

/* False: there is no such word. */
static bool
read_status(const struct json *obj, enum result_status *out)
{
	struct str word = TEXT(obj, "status");
	struct str class = TEXT(obj, "error_class");
	int i;

	*out = RESULT_NONE;
	for (i = RESULT_FAILED + 1; i < RESULT__MAX && class.n > 0; i++)
		if (str_is(class, result_class((enum result_status)i))) {
			*out = (enum result_status)i;
			return true;
		}
	for (i = 0; i < (int)COUNTOF(words); i++)
		if (str_is(word, words[i].word))
			*out = words[i].status;
	return word.n > 0;
}

/* Verdicts: a map of them or, made by hand, a list. */
static void
count_verdicts(struct arena *a, const struct json *all,
    struct outcome_trial *t, bool *passed)
{
	struct arena_mark mark = arena_save(a);
	size_t n = 0, max = json_count(all);	/* it is a list or map */
	double *x = NEW_N(a, double, max), *w = NEW_N(a, double, max);
	const struct json *v;

	*passed = max > 0;
	for (v = json_first(all); v != NULL; v = v->next, n++) {
		*passed = *passed && truth(json_getc(v, "passed"));
		if (!score(v, "score", &x[n]))
			x[n] = truth(json_getc(v, "passed"));
		if (!result_num(v, "weight", &w[n]) || !(w[n] > 0))
			w[n] = 1;
	}
	t->score = stats_mean(x, n);
	t->weighted = stats_weighted(x, w, n);
	arena_restore(a, mark);
}

static void
read_trial(struct arena *a, struct json *v, struct outcome_trial *t)
{
	const struct json *all = MEMBER(v, "validations");
	bool passed = false;

	t->node = v;
	if (all != NULL && (all->type == JSON_OBJECT ||
	    all->type == JSON_ARRAY))
		count_verdicts(a, all, t, &passed);
	if (!read_status(v, &t->status)) {
		if (TEXT(v, "error_msg").n > 0)
			t->status = RESULT_AGENT_ERROR;
		else if (json_first(all) != NULL)
			t->status = passed ? RESULT_PASSED : RESULT_FAILED;
	}
	(void)score(v, "score", &t->score);
	(void)score(v, "weighted_score", &t->weighted);
	(void)millis(v, "duration_ms", &t->duration_ms);
}

/* As result.c has it: those cancelled are in no mean. */
static void
count_trials(struct arena *a, struct outcome_task *t)
{
	struct arena_mark mark = arena_save(a);
	double *x = NEW_N(a, double, t->ntrials);
	double *w = NEW_N(a, double, t->ntrials);
	const struct outcome_trial *r;
	size_t n = 0, passed = 0;
	int64_t ms = 0;

	for (r = t->trials; r < t->trials + t->ntrials; r++) {
		if (r->status == RESULT_NONE || r->status == RESULT_CANCELLED)
			continue;
		x[n] = r->score;
		w[n++] = r->weighted;
		ms += r->duration_ms;
		passed += r->status == RESULT_PASSED;
	}
	t->score = stats_mean(x, n);
	t->weighted = stats_mean(w, n);
	t->pass_rate = stats_pass_at(n, passed, 1);
	t->duration_ms = n == 0 ? 0 : ms / (int64_t)n;
	arena_restore(a, mark);
}

/* Of one that has no status: all passed, one failed, or the first error. */
static enum result_status
status_of_trials(const struct outcome_task *t)
{
	enum result_status s, error = RESULT_NONE;
	size_t i, passed = 0;

	for (i = 0; i < t->ntrials; i++) {
		s = t->trials[i].status;
		if (s == RESULT_FAILED)
			return s;
		passed += s == RESULT_PASSED;
		if (result_is_error(s) && error == RESULT_NONE)
			error = s;
	}
	return error == RESULT_NONE && passed == t->ntrials && passed > 0 ?
	    RESULT_PASSED : error;
}

/* Where an error stands, or ought to. */
static int
wrong(struct err *e, const struct json *at, const char *what)
{
	err_set(e, ERR_SCHEMA, "not a results file: %s", what);
	return err_at(e, at->line, at->col);
}

/* A list that may be null or missing; -1 when it is something else. */
static int
check_list(const struct json *v, const char *what, struct err *e)
{
	const struct json *el;

	if (v == NULL || v->type == JSON_NULL)
		return 0;
	if (v->type != JSON_ARRAY)
		return wrong(e, v, what);
	for (el = json_first(v); el != NULL; el = el->next)
		if (el->type != JSON_OBJECT)
			return wrong(e, el, what);
	return 0;
}

static int
read_trials(struct arena *a, const struct json *v, struct outcome_task *t,
    struct err *e)
{
	struct json *el;

	if (check_list(v, "the runs of a task are a list of objects", e) == -1)
		return -1;
	t->trials = NEW_N(a, struct outcome_trial, v == NULL ? 0 :
	    json_count(v));
	for (el = json_first(v); el != NULL; el = el->next)
		read_trial(a, el, &t->trials[t->ntrials++]);
	return 0;
}

static void
read_stats(const struct json *stats, struct outcome_task *t)
{
	(void)score(stats, "avg_score", &t->score);
	if (!score(stats, "avg_weighted_score", &t->weighted))
		t->weighted = t->score;
	/* the original has counted trials that were errors as passed */
	if (t->ntrials == 0)
		(void)score(stats, "pass_rate", &t->pass_rate);
	(void)millis(stats, "avg_duration_ms", &t->duration_ms);
}

static int
read_task(struct arena *a, struct json *v, struct outcome_task *t,
    struct err *e)
{
	const struct json *stats = MEMBER(v, "stats");

	t->node = v;
	t->id = TEXT(v, "test_id", "id", "task_id");
	t->name = TEXT(v, "display_name", "name", "test_name");
	t->group = TEXT(v, "group");
	t->golden = truth(json_getc(v, "golden"));
	if (t->id.n == 0)
		t->id = t->name;
	if (t->name.n == 0)
		t->name = t->id;
	if (t->id.n == 0)
		return wrong(e, v, "a task has no \"test_id\"");
	if (read_trials(a, MEMBER(v, "runs", "trials"), t, e) == -1)
		return -1;
	count_trials(a, t);
	if (stats != NULL && stats->type == JSON_OBJECT)
		read_stats(stats, t);
	else if (t->ntrials == 0) {
		(void)score(v, "score", &t->score);
		t->weighted = t->score;
	}
	if (!read_status(v, &t->status))
		t->status = status_of_trials(t);
	if (t->ntrials == 0 && t->status == RESULT_PASSED &&
	    json_getc(stats, "pass_rate") == NULL)
		t->pass_rate = 1;
	t->finished = t->status != RESULT_NONE &&
	    t->status != RESULT_CANCELLED;
	return 0;
}

/* Tasks by id, for qsort, which has no argument for the caller's own. */
struct entry {
	struct str id;
	size_t task;
};

static int
by_id(const void *x, const void *y)
{
	const struct entry *a = x, *b = y;
	int c = str_cmp(a->id, b->id);

	return c != 0 ? c : a->task < b->task ? -1 : a->task > b->task;
}

static int
make_index(struct arena *a, struct outcome *o, struct err *e)
{
	struct entry *all;
	struct arena_mark mark;
	const struct json *node;
	size_t i, twice = 0;

	o->index = NEW_N(a, size_t, o->ntasks);
	mark = arena_save(a);
	all = NEW_N(a, struct entry, o->ntasks);
	for (i = 0; i < o->ntasks; i++)
		all[i] = (struct entry){ o->tasks[i].id, i };
	if (o->ntasks > 1)
		qsort(all, o->ntasks, sizeof(all[0]), by_id);
	for (i = 0; i < o->ntasks; i++) {
		o->index[i] = all[i].task;
		if (i > 0 && str_eq(all[i].id, all[i - 1].id))
			twice = twice == 0 || all[i].task < twice ?
			    all[i].task : twice;
	}
	arena_restore(a, mark);
	if (twice == 0)
		return 0;
	node = o->tasks[twice].node;
	err_set(e, ERR_SCHEMA, "two tasks have the id \"%.*s\"",
	    o->tasks[twice].id.n > 80 ? 80 : (int)o->tasks[twice].id.n,
	    o->tasks[twice].id.p);
	return err_at(e, node->line, node->col);
}

const struct outcome_task *
outcome_find(const struct outcome *o, struct str id)
{
	size_t lo = 0, hi = o->ntasks, mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = str_cmp(o->tasks[o->index[mid]].id, id);
		if (c == 0)
			return &o->tasks[o->index[mid]];
		if (c < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* "1.3", or 1.3: the part before the point has to be ours. */
static int
check_version(const struct json *root, struct err *e)
{
	const struct json *v = MEMBER(root, "schemaVersion", "schema_version");
	struct str s;
	size_t i;
	int major = 0;

	if (v == NULL)
		return 0;
	s = v->type == JSON_STRING || v->type == JSON_NUMBER ? json_text(v) :
	    STR("");
	for (i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' &&
	    major < 100000; i++)
		major = major * 10 + (s.p[i] - '0');
	if (i > 0 && (i == s.n || s.p[i] == '.') && major == MAJOR)
		return 0;
	err_set(e, ERR_SCHEMA, "results of version %.*s cannot be read, only "
	    "those of %d.x", s.n == 0 ? 1 : s.n > 20 ? 20 : (int)s.n,
	    s.n == 0 ? "?" : s.p, MAJOR);
	return err_at(e, v->line, v->col);
}

static void
read_head(struct outcome *o)
{
	const struct json *r = o->root, *config = MEMBER(r, "config");

	o->run_id = TEXT(r, "eval_id", "run_id");
	o->skill = TEXT(r, "skill");
	o->name = TEXT(r, "eval_name", "name");
	o->timestamp = TEXT(r, "timestamp");
	o->model = TEXT(config, "model_id", "model");
	o->executor = TEXT(config, "engine_type", "executor");
}

/* From the tasks, or from the summary where there are none. */
static void
count_tasks(struct arena *a, struct outcome *o)
{
	const struct json *sum = MEMBER(o->root, "summary");
	struct arena_mark mark = arena_save(a);
	double *x = NEW_N(a, double, o->ntasks);
	double *w = NEW_N(a, double, o->ntasks);
	const struct outcome_task *t;
	size_t n = 0;

	for (t = o->tasks; t < o->tasks + o->ntasks; t++) {
		o->passed += t->status == RESULT_PASSED;
		if (t->status == RESULT_NONE)
			continue;
		x[n] = t->score;
		w[n++] = t->weighted;
	}
	o->rate = stats_pass_at(n, o->passed, 1);
	o->score = stats_mean(x, n);
	o->weighted = stats_mean(w, n);
	arena_restore(a, mark);
	(void)millis(sum, "duration_ms", &o->duration_ms);
	if (o->ntasks > 0)
		return;
	(void)score(sum, "success_rate", &o->rate);
	(void)score(sum, "aggregate_score", &o->score);
	o->weighted = o->score;
	(void)score(sum, "weighted_score", &o->weighted);
}

struct outcome *
outcome_of(struct arena *a, struct json *root, const char *path,
    struct err *e)
{
	struct outcome *o = NEW(a, struct outcome);
	const struct json *tasks = json_getc(root, "tasks");
	struct json *v;

	o->path = path;
	o->root = root;
	if (root->type != JSON_OBJECT) {
		wrong(e, root, "it is not an object");
		return NULL;
	}
	if (check_version(root, e) == -1)
		return NULL;
	if (tasks == NULL) {
		wrong(e, root, "it has no \"tasks\"");
		return NULL;
	}
	if (check_list(tasks, "\"tasks\" is a list of objects", e) == -1)
		return NULL;
	read_head(o);
	o->tasks = NEW_N(a, struct outcome_task, json_count(tasks));
	for (v = json_first(tasks); v != NULL; v = v->next)
		if (read_task(a, v, &o->tasks[o->ntasks++], e) == -1)
			return NULL;
	if (make_index(a, o, e) == -1)
		return NULL;
	count_tasks(a, o);
	return o;
}

struct outcome *
outcome_read(struct arena *a, const char *path, struct err *e)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct json *root;
	struct str s;

	if (os_read_file(a, path, OUTCOME_MAX, &s, e) == -1)
		return NULL;
	root = json_read(&mem, s, 0, &je);
	if (root == NULL) {
		err_set(e, ERR_SYNTAX, "%s", je.msg);
		err_at(e, je.line, je.col);
		return NULL;
	}
	return outcome_of(a, root, path, e);
}
