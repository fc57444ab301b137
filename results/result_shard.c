/* SPDX-License-Identifier: ISC */
/*
 * result_shard.c: the description of a shard, by which merge.c joins it with
 * the others without the suite.
 *
 * The results file has it as config.shard, the journal's first line has the
 * same object.  The next lines of the journal list the tasks of the shard, so
 * that one which has not started can be named:
 *
 *	{"check":sum,"plan":[{"index":n,"id":...,"name":...,"group":...,
 *	 "golden":true,"source":{"file":...,"line":n}}, ...]}
 */
#include "results/result.h"

#include "json.h"
#include "results/result_internal.h"
#include "suite/spec.h"

enum { PLAN_TASKS = 1000 };	/* of one line */

static void
put_metrics(struct json_out *o, const struct spec_suite *s)
{
	const struct spec_metric *m = s->metrics.v;
	size_t i;

	json_open_member(o, "metrics", '[');
	for (i = 0; i < s->metrics.n; i++) {
		json_open(o, '{');
		json_put_member_str(o, "name", m[i].name);
		json_put_member_double(o, "threshold", m[i].threshold);
		json_put_member_double(o, "weight", m[i].weight);
		json_put_member_bool(o, "enabled", m[i].enabled);
		json_close(o, '}');
	}
	json_close(o, ']');
}

void
result_put_shard(struct json_out *o, const struct result_run *run)
{
	const struct result_shard *s = &run->shard;
	const struct spec_config *c = &run->suite->config;
	const struct result_triggers *t = &run->triggers;

	json_open_member(o, "shard", '{');
	json_put_member_int(o, "version", RESULT_SHARD_VERSION);
	json_put_member_int(o, "k", s->k);
	json_put_member_int(o, "n", s->n);
	json_put_member_int(o, "tasks", (int64_t)s->tasks);
	json_put_member_cstr(o, "plan", s->plan);
	json_put_member_bool(o, "has_baseline", s->has_baseline);
	json_put_member_bool(o, "is_baseline", s->is_baseline);
	json_put_member_bool(o, "compares", result_any_compares(run));
	json_put_member_bool(o, "ungraded", run->ungraded);
	json_put_member_double(o, "pass_threshold", c->pass_threshold);
	json_put_member_double(o, "task_pass_threshold",
	    c->task_pass_threshold);
	put_metrics(o, run->suite);
	json_put_member_int(o, "triggers", (int64_t)t->n);
	if (t->n > 0)
		json_put_member_str(o, "trigger_skill",
		    run->suite->triggers->skill);
	json_put_member_bool(o, "simulated", t->simulated);
	json_close(o, '}');
}

static void
put_task(struct json_out *o, struct result_run *run,
    const struct result_task *t)
{
	struct str group = result_group(&run->scratch, run, t->spec);

	json_open(o, '{');
	json_put_member_int(o, "index", (int64_t)t->index);
	json_put_member_str(o, "id", t->spec->id);
	json_put_member_str(o, "name", t->spec->name);
	if (group.n > 0)
		json_put_member_str(o, "group", group);
	if (t->spec->def->golden)
		json_put_member_bool(o, "golden", true);
	json_put_member_nonempty(o, "selected_because", t->more->selected);
	json_put_member_nonempty(o, "quarantine", t->spec->def->quarantine);
	json_put_member_nonempty(o, "quarantine_until",
	    t->spec->def->quarantine_until);
	if (t->spec->at.file != NULL) {
		json_open_member(o, "source", '{');
		json_put_member_cstr(o, "file", t->spec->at.file);
		json_put_member_int(o, "line", t->spec->at.line);
		json_close(o, '}');
	}
	json_close(o, '}');
}

int
result_put_plan(struct result_run *run, struct err *e)
{
	size_t i = 0, end;

	while (run->shard.n > 0 && i < run->ntasks) {
		struct buf *b = result_line_begin(run);
		struct json_out o = { .put = buf_sink, .ctx = b };

		buf_puts(b, "\"plan\":");
		json_open(&o, '[');
		end = run->ntasks - i > PLAN_TASKS ? i + PLAN_TASKS :
		    run->ntasks;
		for (; i < end; i++)
			put_task(&o, run, &run->tasks[i]);
		json_close(&o, ']');
		if (result_line_end(run, NULL, e) == -1)
			return -1;
	}
	return 0;
}

int
result_check_shard(const struct result_run *run, const struct json *header,
    const char *path, struct err *e)
{
	const struct json *v = json_getc(json_getc(header, "config"), "shard");
	const struct result_shard *s = &run->shard;
	int64_t k = 0, n = 0;

	(void)result_int(v, "k", &k);
	(void)result_int(v, "n", &n);
	if (k != s->k || n != s->n)
		return err_set(e, ERR_SCHEMA, n == 0 ? "%s: cannot be resumed: "
		    "it is of a whole run, not of shard %lld/%lld" :
		    s->n == 0 ? "%s: cannot be resumed: it is of a shard, not "
		    "of a whole run" : "%s: cannot be resumed: it is of "
		    "another shard, not of %lld/%lld", path, (long long)s->k,
		    (long long)s->n);
	if (n > 0 && !str_is(json_str(v, "plan"), s->plan))
		return err_set(e, ERR_SCHEMA, "%s: cannot be resumed: its "
		    "shard has other tasks: the suite, the selection, the "
		    "number of trials or --shard-by has changed", path);
	return 0;
}
