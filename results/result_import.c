/* SPDX-License-Identifier: ISC */
/*
 * result_keep.c: what an earlier run has found, taken over from its results
 * file, so that its answers can be graded again.
 *
 * What is not graded again is written as it was, and of the rest only what
 * grading says is new: members that this program does not know, or would
 * have put in other words, stay as they were.
 */
#include "results/result.h"

#include "json.h"
#include "results/outcome.h"
#include "results/result_internal.h"
#include "suite/spec.h"

void
result_import_trial(struct result_run *run, size_t task, size_t trial,
    const struct outcome_trial *from)
{
	struct result_task *t = &run->tasks[task];
	int64_t n;

	t->trials[trial] = (struct result_trial){ .imported = from->node,
		.status = from->status != RESULT_NONE ? from->status :
		    RESULT_CANCELLED,
		.attempts = result_int(from->node, "attempts", &n) && n > 0 &&
		    n <= INT32_MAX ? (unsigned)n : 1,
		.score = from->score, .weighted = from->weighted,
		.duration_ms = from->duration_ms };
	t->done++;
	result_add_usage(&run->usage, from->node, 1);
}

void
result_import_task(struct result_run *run, size_t task,
    const struct outcome_task *from)
{
	struct result_task *t = &run->tasks[task];
	const struct json *why = json_getc(from->node, "error_msg");
	size_t i;

	for (i = 0; i < from->ntrials; i++)
		result_import_trial(run, task, i, &from->trials[i]);
	result_end_task(run, task);
	t->imported = from->node;
	t->status = from->status;
	if (why != NULL && why->type == JSON_STRING)
		t->error = json_text(why);
	if (from->ntrials > 0)
		return;
	t->stats.avg = t->stats.min = t->stats.max = from->score;
	t->stats.weighted = from->weighted;
	t->stats.pass_rate = from->pass_rate;
	t->stats.avg_ms = from->duration_ms;
}

/* Only verdicts are kept: no error gets better by being remembered. */
static bool
read_again(const struct json *entry, struct result_trial *t)
{
	const struct json *v = json_getc(entry, "status");
	const struct json *run = json_getc(entry, "run");
	int64_t n;

	if (v == NULL || v->type != JSON_STRING || run == NULL ||
	    run->type != JSON_OBJECT)
		return false;
	t->status = str_is(json_text(v), "passed") ? RESULT_PASSED :
	    str_is(json_text(v), "failed") ? RESULT_FAILED : RESULT_NONE;
	t->attempts = result_int(run, "attempts", &n) && n > 0 &&
	    n <= INT32_MAX ? (unsigned)n : 1;
	return t->status != RESULT_NONE &&
	    result_num(entry, "score", &t->score) &&
	    result_num(entry, "weighted", &t->weighted) &&
	    result_int(run, "duration_ms", &t->duration_ms) &&
	    t->duration_ms >= 0 && t->duration_ms < INT64_C(1000000000000);
}

/* As a line of the journal; "cached" is the last of its members. */
static void
put_again(struct result_run *run, size_t task, size_t trial,
    const struct json *from, struct result_trial *t)
{
	struct buf *b = &run->journal.line;
	struct json_out o = { .put = buf_sink, .ctx = b };
	const struct json *v;

	b->n = 0;
	b->full = false;
	result_put_str(b, STR("{\"task\":"), run->tasks[task].spec->id);
	result_put_int(b, STR(",\"trial\":"), (int64_t)trial + 1);
	result_put_str(b, STR(",\"status\":"),
	    str_of(result_word(t->status)));
	result_put_num(b, STR(",\"score\":"), t->score);
	result_put_num(b, STR(",\"weighted\":"), t->weighted);
	buf_put(b, STR(",\"run\":"));
	t->off = (int64_t)b->n;
	json_open(&o, '{');
	for (v = json_first(from); v != NULL; v = v->next) {
		if (str_is(json_key(v), "cached"))
			continue;
		json_put_key(&o, json_key(v));
		json_put(&o, v);
	}
	json_put_member_bool(&o, "cached", true);
	json_close(&o, '}');
	t->len = b->n - (size_t)t->off;
	buf_put(b, STR("}\n"));
}

int
result_add_cached(struct result_run *run, size_t task, size_t trial,
    const struct json *entry, struct err *e)
{
	struct result_trial t = { .off = -1 }, *old;
	const struct json *from = json_getc(entry, "run");

	if (!read_again(entry, &t))
		return 0;
	if (run->journal.fd != -1) {
		put_again(run, task, trial, from, &t);
		t.off += run->journal.end;
		if (result_append(run, e) == -1)
			return -1;
	}
	old = &run->tasks[task].trials[trial];
	result_subtract_usage(run, old);
	result_add_usage(&run->usage, from, 1);
	run->tasks[task].done += old->status == RESULT_NONE;
	*old = t;
	return 1;
}

void
result_put_on_one_line(struct json_out *o, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out flat = { .put = buf_sink, .ctx = &b };

	json_put(&flat, v);
	json_put_raw(o, buf_str(&b));
	buf_free(&b);
}

static void
put_runs(struct json_out *o, const struct json *runs)
{
	const struct json *run;

	json_open(o, '[');
	for (run = json_first(runs); run != NULL; run = run->next)
		result_put_on_one_line(o, run);
	json_close(o, ']');
}

void
result_put_imported_task(struct json_out *o, const struct json *task)
{
	const struct json *v;

	json_open(o, '{');
	for (v = json_first(task); v != NULL; v = v->next) {
		json_put_key(o, json_key(v));
		if (str_is(json_key(v), "stats"))
			result_put_on_one_line(o, v);
		else if (v->type != JSON_ARRAY ||
		    !str_is(json_key(v), "runs"))
			json_put(o, v);
		else
			put_runs(o, v);
	}
	json_close(o, '}');
}

void
result_put_imported_file(struct json_out *o, const struct json *root)
{
	const struct json *v, *task;

	json_open(o, '{');
	for (v = json_first(root); v != NULL; v = v->next) {
		json_put_key(o, json_key(v));
		if (v->type != JSON_ARRAY || !str_is(json_key(v), "tasks")) {
			json_put(o, v);
			continue;
		}
		json_open(o, '[');
		for (task = json_first(v); task != NULL; task = task->next)
			result_put_imported_task(o, task);
		json_close(o, ']');
	}
	json_close(o, '}');
}

static bool
among(const char *const *names, struct str name)
{
	for (; *names != NULL; names++)
		if (str_is(name, *names))
			return true;
	return false;
}

/* The members of obj but those named. */
static void
put_others(struct json_out *o, const struct json *obj,
    const char *const *names)
{
	const struct json *v;

	for (v = json_first(obj); v != NULL; v = v->next) {
		if (among(names, json_key(v)))
			continue;
		json_put_key(o, json_key(v));
		json_put(o, v);
	}
}

/* That it is not as the run has left it. */
static void
put_metadata(struct json_out *o, const struct result_run *run)
{
	static const char *const ours[] = { "regraded", NULL };
	char when[RESULT_TIME_MAX];
	int64_t n = 0;
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		n += run->tasks[i].imported == NULL;
	result_time(when, run->started_ns);
	json_open_member(o, "metadata", '{');
	put_others(o, json_getc(run->stored->root, "metadata"), ours);
	json_open_member(o, "regraded", '{');
	json_put_member_cstr(o, "at", when);
	json_put_member_int(o, "tasks", n);
	json_close(o, '}');
	json_close(o, '}');
}

void
result_put_other_members(struct json_out *o, const struct result_run *run)
{
	static const char *const ours[] = { "eval_id", "skill", "eval_name",
		"timestamp", "config", "summary", "metrics", "tasks",
		"metadata", "schema_version", "schemaVersion", "status",
		"is_baseline", "baseline_outcome", NULL };
	static const char *const base[] = { "is_baseline",
		"baseline_outcome" };
	const struct json *root, *v;
	size_t i;

	if (run->stored == NULL)
		return;
	root = run->stored->root;
	put_others(o, root, ours);
	put_metadata(o, run);
	for (i = 0; i < COUNTOF(base) && run->baseline == NULL; i++) {
		v = json_getc(root, base[i]);
		if (v == NULL)
			continue;
		json_put_member(o, base[i], v);
	}
}

void
result_put_other_task_members(struct json_out *o, const struct result_task *t)
{
	static const char *const ours[] = { "test_id", "display_name",
		"group", "status", "runs", "stats", "skill_impact",
		"error_class", "error_msg", "golden", NULL };

	put_others(o, t->previous, ours);
}
