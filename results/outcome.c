/* SPDX-License-Identifier: ISC */
/*
 * outcome.c: parses a results file into tasks and trials.
 *
 * Files may be old or written by hand: missing numbers are computed from the
 * rest, null means missing, and unknown members are ignored.  Totals are
 * computed from tasks and trials as in result.c; a summary in the file is used
 * only if it is all there is.
 */
#include "results/outcome.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "json.h"
#include "lib/stats.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { MAJOR = 1 };		/* version of the format */
#define MS_MAX INT64_C(1000000000000)	/* 31 years: their sum fits */

/* The first of the members that exists and is not null. */
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

/* Reads a score or a rate; false if it is missing. */
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

/* Words for a status; other words mean that it has not ended. */
static const struct {
	const char *word;
	enum result_status status;
} words[] = {
	{ "passed", RESULT_PASSED }, { "pass", RESULT_PASSED },
	{ "failed", RESULT_FAILED }, { "fail", RESULT_FAILED },
	{ "skipped", RESULT_SKIPPED },
	{ "error", RESULT_AGENT_ERROR }, { "timeout", RESULT_TIMEOUT },
};

/* False if the object has no status. */
static bool
read_status(const struct json *obj, enum result_status *out)
{
	struct str word = TEXT(obj, "status");
	size_t i;

	*out = result_of_class(TEXT(obj, "error_class"));
	if (*out != RESULT_NONE)
		return true;
	for (i = 0; i < COUNTOF(words); i++)
		if (str_is(word, words[i].word))
			*out = words[i].status;
	return word.n > 0;
}

/*
 * Verdicts are a map or, in files written by hand, a list.  Returns how many
 * were not skipped.
 */
static size_t
count_verdicts(struct arena *a, const struct json *all,
    struct outcome_trial *t, bool *passed)
{
	struct arena_mark mark = arena_save(a);
	size_t n = 0, max = json_count(all);
	double *x = NEW_N(a, double, max), *w = NEW_N(a, double, max);
	const struct json *v;

	*passed = true;
	for (v = json_first(all); v != NULL; v = v->next) {
		if (result_true(v, "skipped"))
			continue;
		*passed = *passed && result_true(v, "passed");
		if (!score(v, "score", &x[n]))
			x[n] = result_true(v, "passed");
		if (!result_num(v, "weight", &w[n]) || !(w[n] > 0))
			w[n] = 1;
		n++;
	}
	t->score = stats_mean(x, n);
	t->weighted = stats_weighted(x, w, n);
	arena_restore(a, mark);
	return n;
}

void
outcome_read_trial(struct arena *a, struct json *v, struct outcome_trial *t)
{
	const struct json *all = MEMBER(v, "validations");
	bool passed = false;
	size_t n = 0;

	t->node = v;
	if (all != NULL && (all->type == JSON_OBJECT ||
	    all->type == JSON_ARRAY))
		n = count_verdicts(a, all, t, &passed);
	if (!read_status(v, &t->status)) {
		if (TEXT(v, "error_msg").n > 0)
			t->status = RESULT_AGENT_ERROR;
		else if (json_first(all) != NULL)
			t->status = n == 0 ? RESULT_SKIPPED : passed ?
			    RESULT_PASSED : RESULT_FAILED;
	}
	(void)score(v, "score", &t->score);
	(void)score(v, "weighted_score", &t->weighted);
	(void)millis(v, "duration_ms", &t->duration_ms);
}

/* As in result.c, cancelled and skipped trials are left out of all means. */
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
		if (!result_is_scored(r->status))
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

/* For a task without a status: a failure, the first error, or passed. */
static enum result_status
status_of_trials(const struct outcome_task *t)
{
	enum result_status s, error = RESULT_NONE;
	size_t i, passed = 0, skipped = 0;

	for (i = 0; i < t->ntrials; i++) {
		s = t->trials[i].status;
		skipped += s == RESULT_SKIPPED;
		if (s == RESULT_FAILED)
			return s;
		passed += s == RESULT_PASSED;
		if (result_is_error(s) && error == RESULT_NONE)
			error = s;
	}
	if (error != RESULT_NONE || t->ntrials == 0 ||
	    passed + skipped < t->ntrials)
		return error;
	return passed > 0 ? RESULT_PASSED : RESULT_SKIPPED;
}

bool
outcome_is_graded(const struct outcome_task *t)
{
	return t->finished && t->status != RESULT_SKIPPED &&
	    t->quarantine.n == 0;
}

bool
outcome_is_left_out(const struct outcome_task *t)
{
	return t->finished && t->status == RESULT_SKIPPED &&
	    t->skipped != NULL;
}

const char *
outcome_incomplete(struct arena *a, const struct outcome *o)
{
	struct str status = TEXT(o->root, "status");

	if (str_is(status, "running") || str_is(status, "cancelled"))
		return arena_fmt(a, "status: %.*s", STRF(status)).p;
	return o->skipped;
}

static int
wrong(struct err *e, const struct json *at, const char *what)
{
	err_set(e, ERR_SCHEMA, "not a results file: %s", what);
	return err_at(e, at->line, at->col);
}

/* -1 unless it is a list of objects, null or missing. */
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

	if (check_list(v, "\"runs\" is not a list of objects", e) == -1)
		return -1;
	t->trials = NEW_N(a, struct outcome_trial, v == NULL ? 0 :
	    json_count(v));
	for (el = json_first(v); el != NULL; el = el->next)
		outcome_read_trial(a, el, &t->trials[t->ntrials++]);
	return 0;
}

static void
read_stats(const struct json *stats, struct outcome_task *t)
{
	(void)score(stats, "avg_score", &t->score);
	if (!score(stats, "avg_weighted_score", &t->weighted))
		t->weighted = t->score;
	/* the original counted trials with errors as passed */
	if (t->ntrials == 0)
		(void)score(stats, "pass_rate", &t->pass_rate);
	(void)millis(stats, "avg_duration_ms", &t->duration_ms);
}

/* "source": {"file": "eval.yaml", "line": 6} */
static const char *
read_source(struct arena *a, const struct json *v, unsigned *line)
{
	const struct json *source = MEMBER(v, "source");
	struct str file = TEXT(source, "file");
	int64_t n;

	if (line != NULL && result_int(source, "line", &n) && n > 0 &&
	    n <= INT32_MAX)
		*line = (unsigned)n;
	return file.n > 0 ? arena_cstr(a, file) : NULL;
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
	t->golden = result_true(v, "golden");
	t->quarantine = TEXT(v, "quarantine");
	t->quarantine_until = TEXT(v, "quarantine_until");
	t->file = read_source(a, v, &t->line);
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
	if (t->status == RESULT_SKIPPED && TEXT(v, "skip_reason").n > 0)
		t->skipped = arena_cstr(a, TEXT(v, "skip_reason"));
	if (t->skipped != NULL && str_starts(str_of(t->skipped),
	    STR("budget")))
		t->status = RESULT_NONE;
	t->finished = t->status != RESULT_NONE &&
	    t->status != RESULT_CANCELLED;
	return 0;
}

static int
by_id(const void *x, const void *y)
{
	const struct outcome_task *const *a = x, *const *b = y;
	int c = str_cmp((*a)->id, (*b)->id);

	return c != 0 ? c : *a < *b ? -1 : *a > *b;
}

static int
cmp_id(const void *id, const void *task)
{
	const struct outcome_task *const *t = task;

	return str_cmp(*(const struct str *)id, (*t)->id);
}

static int
make_index(struct arena *a, struct outcome *o, struct err *e)
{
	struct outcome_task *twice = NULL;
	size_t i;

	o->by_id = NEW_N(a, struct outcome_task *, o->ntasks);
	for (i = 0; i < o->ntasks; i++)
		o->by_id[i] = &o->tasks[i];
	if (o->ntasks > 1)
		qsort(o->by_id, o->ntasks, sizeof(o->by_id[0]), by_id);
	for (i = 1; i < o->ntasks; i++)
		if (str_eq(o->by_id[i]->id, o->by_id[i - 1]->id) &&
		    (twice == NULL || o->by_id[i] < twice))
			twice = o->by_id[i];
	if (twice == NULL)
		return 0;
	err_set(e, ERR_SCHEMA, "two tasks have the id \"%.*s\"",
	    STRF(utf8_cut(twice->id, 80)));
	return err_at(e, twice->node->line, twice->node->col);
}

const struct outcome_task *
outcome_find(const struct outcome *o, struct str id)
{
	size_t i = search_first(&id, o->by_id, o->ntasks, sizeof(o->by_id[0]),
	    cmp_id);

	return i < o->ntasks && str_eq(o->by_id[i]->id, id) ? o->by_id[i] :
	    NULL;
}

/* "1.3" or 1.3: the part before the point must be MAJOR. */
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
	    "those of %d.x", STRF(s.n == 0 ? STR("?") : utf8_cut(s, 20)),
	    MAJOR);
	return err_at(e, v->line, v->col);
}

static void
read_head(struct arena *a, struct outcome *o)
{
	const struct json *r = o->root, *config = MEMBER(r, "config");
	int64_t n;

	o->run_id = TEXT(r, "eval_id", "run_id");
	o->skill = TEXT(r, "skill");
	o->name = TEXT(r, "eval_name", "name");
	o->timestamp = TEXT(r, "timestamp");
	if (TEXT(r, "skip_reason").n > 0)
		o->skipped = arena_cstr(a, TEXT(r, "skip_reason"));
	if (TEXT(config, "stop").n > 0)
		o->stop = arena_cstr(a, TEXT(config, "stop"));
	if (result_int(config, "runs_per_test", &n) && n > 0 && n <= 100000)
		o->trials = (size_t)n;
	o->model = TEXT(config, "model_id", "model");
	o->executor = TEXT(config, "engine_type", "executor");
	o->suite = read_source(a, r, NULL);
}

/* From the tasks, or from the summary if there are none. */
static void
count_tasks(struct arena *a, struct outcome *o)
{
	const struct json *sum = MEMBER(o->root, "summary");
	struct arena_mark mark = arena_save(a);
	double *x = NEW_N(a, double, o->ntasks);
	double *w = NEW_N(a, double, o->ntasks);
	const struct outcome_task *t;
	size_t n = 0, listed = 0;
	int64_t skipped;

	for (t = o->tasks; t < o->tasks + o->ntasks; t++) {
		listed += t->status < RESULT_PASSED;
		if (t->status < RESULT_PASSED || t->quarantine.n > 0)
			continue;
		o->passed += t->status == RESULT_PASSED;
		x[n] = t->score;
		w[n++] = t->weighted;
	}
	o->rate = stats_pass_at(n, o->passed, 1);
	o->score = stats_mean(x, n);
	o->weighted = stats_mean(w, n);
	arena_restore(a, mark);
	(void)millis(sum, "duration_ms", &o->duration_ms);
	if (result_int(sum, "skipped", &skipped) && skipped > (int64_t)listed)
		o->unlisted = (size_t)skipped - listed;
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
		wrong(e, root, "not an object");
		return NULL;
	}
	if (check_version(root, e) == -1)
		return NULL;
	if (tasks == NULL) {
		wrong(e, root, "\"tasks\" is missing");
		return NULL;
	}
	if (check_list(tasks, "\"tasks\" is not a list of objects", e) == -1)
		return NULL;
	read_head(a, o);
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
outcome_from_run(struct arena *a, const struct result_run *run,
    const char *path)
{
	struct outcome *o = NEW(a, struct outcome);
	struct err e;
	size_t i;

	*o = (struct outcome){ .path = path, .name = run->suite->name,
		.model = run->model, .rate = run->sum.rate,
		.score = run->sum.score, .ntasks = run->ntasks,
		.stop = run->stop, .trials = run->trials };
	o->tasks = NEW_N(a, struct outcome_task, run->ntasks);
	for (i = 0; i < run->ntasks; i++) {
		const struct result_task *t = &run->tasks[i];

		o->tasks[i] = (struct outcome_task){ .id = t->spec->id,
			.name = t->spec->name, .status = t->status,
			.score = t->stats->avg, .pass_rate = t->stats->pass_rate,
			.duration_ms = t->stats->avg_ms,
			.quarantine = t->spec->def->quarantine,
			.finished = t->status != RESULT_NONE &&
			    t->status != RESULT_CANCELLED };
	}
	/* the loader of suites has refused equal ids */
	(void)make_index(a, o, &e);
	return o;
}

struct outcome *
outcome_baseline(struct arena *a, const struct outcome *o, struct err *e)
{
	struct json *base = json_getc(o->root, "baseline_outcome");

	if (base != NULL && base->type == JSON_OBJECT)
		return outcome_of(a, base, "without the skill", e);
	err_set(e, ERR_SCHEMA, "%.100s has no results without the skill; name "
	    "a second file, or run the suite with --baseline", o->path);
	return NULL;
}

struct outcome *
outcome_parse(struct arena *a, struct str text, const char *path,
    struct err *e)
{
	struct json_error je;
	struct json *root = arena_json(a, str_after_bom(text), &je);

	if (root != NULL)
		return outcome_of(a, root, path, e);
	err_set(e, ERR_SYNTAX, "%s; name a results file (waza run -o FILE "
	    "writes one)", je.msg);
	err_at(e, je.line, je.col);
	return NULL;
}

struct outcome *
outcome_read(struct arena *a, const char *path, struct err *e)
{
	struct str s;

	return os_read_file(a, path, OUTCOME_MAX, &s, e) == -1 ? NULL :
	    outcome_parse(a, s, path, e);
}
