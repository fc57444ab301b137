/* SPDX-License-Identifier: ISC */
/*
 * result_import.c: trials and tasks of an earlier run, from its results file
 * or from the cache.
 *
 * Trials that are not graded again are written unchanged.  In the others only
 * the members that come from grading change: members that this program does
 * not know, or would write differently, stay as they were.
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

	t->trials[trial] = (struct result_trial){ .imported = from->node,
		.status = from->status != RESULT_NONE ? from->status :
		    RESULT_CANCELLED,
		.attempts = result_attempts(from->node),
		.score = from->score, .weighted = from->weighted,
		.duration_ms = from->duration_ms };
	result_read_used(&t->trials[trial], from->node);
	t->done++;
	result_count(run, from->node, 1);
}

void
result_import_task(struct result_run *run, size_t task,
    const struct outcome_task *from)
{
	struct result_task *t = &run->tasks[task];
	struct result_more *more;
	struct result_stats *stats;
	size_t i;

	for (i = 0; i < from->ntrials; i++)
		result_import_trial(run, task, i, &from->trials[i]);
	result_end_task(run, task);
	t->status = from->status;
	more = result_own_more(run->arena, t);
	more->imported = from->node;
	more->skipped = from->skipped;
	more->error = json_str(from->node, "error_msg");
	more->controls = result_json(run->arena, json_getc(from->node,
	    "controls"));
	if (from->ntrials > 0)
		return;
	stats = NEW(run->arena, struct result_stats);
	*stats = *t->stats;
	t->stats = stats;
	stats->avg = stats->min = stats->max = from->score;
	stats->weighted = from->weighted;
	stats->pass_rate = from->pass_rate;
	stats->avg_ms = from->duration_ms;
}

/* False unless the entry is a verdict: errors are not cached. */
static bool
read_entry(const struct json *entry, struct result_trial *t)
{
	struct str word = json_str(entry, "status");
	const struct json *run = json_getc(entry, "run");

	if (run == NULL || run->type != JSON_OBJECT)
		return false;
	t->status = str_is(word, "passed") ? RESULT_PASSED :
	    str_is(word, "failed") ? RESULT_FAILED : RESULT_NONE;
	t->attempts = result_attempts(run);
	return t->status != RESULT_NONE &&
	    result_num(entry, "score", &t->score) &&
	    result_num(entry, "weighted", &t->weighted) &&
	    result_int(run, "duration_ms", &t->duration_ms) &&
	    t->duration_ms >= 0 && t->duration_ms < INT64_C(1000000000000);
}

void
result_put_others(struct json_out *o, const struct json *obj,
    const char *const *names)
{
	const struct json *v;
	const char *const *name;

	for (v = json_first(obj); v != NULL; v = v->next) {
		for (name = names; *name != NULL; name++)
			if (str_is(json_key(v), *name))
				break;
		if (*name != NULL)
			continue;
		json_put_key(o, json_key(v));
		json_put(o, v);
	}
}

/* "cached" is the last member. */
static int
write_line(struct result_run *run, size_t task, size_t trial,
    const struct json *from, struct result_trial *t, struct err *e)
{
	static const char *const cached[] = { "cached", NULL };
	struct buf *b = result_line_begin(run);
	struct json_out o = { .put = buf_sink, .ctx = b };

	result_line_name(b, run, task, trial);
	result_line_numbers(b, t);
	json_open(&o, '{');
	result_put_others(&o, from, cached);
	json_put_member_bool(&o, cached[0], true);
	json_close(&o, '}');
	return result_line_end(run, t, e);
}

int
result_add_cached(struct result_run *run, size_t task, size_t trial,
    const struct json *entry, struct err *e)
{
	struct result_trial t = { .off = -1 };
	const struct json *from = json_getc(entry, "run");

	if (!read_entry(entry, &t))
		return 0;
	result_read_used(&t, from);
	t.used.free = true;
	if (run->journal.fd != -1 &&
	    write_line(run, task, trial, from, &t, e) == -1)
		return -1;
	result_replace(run, &run->tasks[task].trials[trial], &t,
	    &run->tasks[task].done);
	result_count_cached(run, from);
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
		else if (v->type == JSON_ARRAY && str_is(json_key(v), "runs"))
			put_runs(o, v);
		else
			json_put(o, v);
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

/* Notes in the metadata that the file was graded again, and when. */
static void
put_metadata(struct json_out *o, const struct result_run *run)
{
	static const char *const ours[] = { "regraded", NULL };
	char when[RESULT_TIME_MAX];
	int64_t n = 0;
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		n += run->tasks[i].more->imported == NULL;
	result_time(when, run->started_ns);
	json_open_member(o, "metadata", '{');
	result_put_others(o, json_getc(run->stored->root, "metadata"), ours);
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
		"skip_reason", "is_baseline", "baseline_outcome", "ref_outcome",
		"ref_effect", "source", "controls", "matrix", NULL };
	static const char *const base[] = { "is_baseline",
		"baseline_outcome" };
	const struct json *root, *v;
	size_t i;

	if (run->stored == NULL)
		return;
	root = run->stored->root;
	result_put_others(o, root, ours);
	put_metadata(o, run);
	for (i = 0; i < COUNTOF(base) && run->baseline == NULL; i++) {
		v = json_getc(root, base[i]);
		if (v != NULL)
			json_put_member(o, base[i], v);
	}
}

void
result_put_other_task_members(struct json_out *o, const struct result_task *t)
{
	static const char *const ours[] = { "test_id", "display_name",
		"group", "status", "runs", "trials", "stats", "skill_impact",
		"ref_impact", "error_class", "error_msg", "skip_reason",
		"golden", "quarantine", "quarantine_until", "source", "controls", NULL };

	result_put_others(o, t->more->previous, ours);
}
