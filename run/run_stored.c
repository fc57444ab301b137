/* SPDX-License-Identifier: ISC */
/*
 * A run that grades the answers of a results file again: which of its tasks
 * and trials are graded, and which are imported unchanged.
 *
 * The run has the tasks of the file in the file's order.  Tasks that are not
 * in the suite or not selected are imported whole, and so are trials that
 * ended before there was an answer.
 */
#include "run/run_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "results/outcome.h"

static const struct outcome_task *
stored_task(const struct run *run, size_t i)
{
	return &run->opts.stored->tasks[i];
}

const struct outcome_trial *
run_stored_trial(const struct run_trial *t)
{
	return &stored_task(t->run, t->task)->trials[t->trial];
}

static void
take_head(struct run *run)
{
	const struct outcome *o = run->opts.stored;
	struct result_run *r = &run->results;

	r->stored = o;
	r->executor = o->executor;
	r->model = o->model;
	if (o->run_id.n > 0)
		r->run_id = arena_str(&run->arena, o->run_id).p;
	r->trials = 0;			/* run_stored_fill() allocates them */
}

int
run_stored_select(struct run *run, struct err *e)
{
	const struct outcome *o = run->opts.stored;
	const struct spec_suite *s = run->suite;
	struct result_run *r = &run->results;
	const struct outcome_task *from;
	struct spec_task *task;
	size_t i, n = 0, known = 0;

	take_head(run);
	r->ntasks = o->ntasks;
	r->tasks = NEW_N(&run->arena, struct result_task, o->ntasks);
	run->regraded = NEW_N(&run->arena, bool, o->ntasks);
	for (i = 0; i < s->ntasks; i++) {
		from = outcome_find(o, s->tasks[i].id);
		if (from == NULL)
			continue;
		known++;
		r->tasks[from - o->tasks].spec = &s->tasks[i];
		if (run_selects(&run->opts, &s->tasks[i])) {
			run->regraded[from - o->tasks] = true;
			n++;
		}
	}
	if (n == 0)
		return known == 0 ? err_set(e, ERR_SCHEMA, "%s: contains no "
		    "task of this suite; name the suite of the run", o->path) :
		    run_no_match(run, e);
	for (i = 0; i < o->ntasks; i++) {
		/* the contract of struct result_task before result_init() */
		r->tasks[i].stats = &result_no_stats;
		r->tasks[i].more = &result_no_more;
		if (r->tasks[i].spec != NULL)
			continue;
		task = outcome_task_spec(&run->arena, &o->tasks[i]);
		task->at.file = s->path;
		r->tasks[i].spec = task;
	}
	return 0;
}

/* Whether the trial has an answer. */
static bool
answered(const struct outcome_trial *t)
{
	switch (t->status) {
	case RESULT_SKIPPED:
	case RESULT_PASSED:
	case RESULT_FAILED:
	case RESULT_GRADER_ERROR:
	case RESULT_JUDGE_ERROR:
	case RESULT_TAINTED:
		return true;
	case RESULT_NONE:		/* no status, or an unknown one */
		return json_getc(t->node, "status") == NULL;
	case RESULT_AGENT_ERROR:
	case RESULT_TIMEOUT:
	case RESULT_INFRA:
	case RESULT_CANCELLED:
	case RESULT__MAX:
		break;
	}
	return false;
}

static void
fill_task(struct run *run, size_t i)
{
	const struct outcome_task *from = stored_task(run, i);
	struct result_task *t = &run->results.tasks[i];
	struct result_more *more;
	size_t k;

	t->ntrials = (uint32_t)from->ntrials;
	t->trials = NEW_N(&run->arena, struct result_trial, t->ntrials);
	for (k = 0; k < t->ntrials; k++)
		t->trials[k].off = -1;
	if (run->results.trials < t->ntrials)
		run->results.trials = t->ntrials;
	if (!run->regraded[i] || t->ntrials == 0) {
		result_import_task(&run->results, i, from);
		return;
	}
	more = result_own_more(&run->arena, t);
	more->previous = from->node;
	more->skipped = from->skipped;
	more->partial = !from->finished;
	for (k = 0; k < t->ntrials; k++)
		if (!answered(&from->trials[k]))
			result_import_trial(&run->results, i, k,
			    &from->trials[k]);
}

void
run_stored_fill(struct run *run)
{
	const struct json *config = json_getc(run->opts.stored->root,
	    "config");
	const struct json *v = json_getc(config, "runs_per_test");
	int64_t n;
	size_t i;

	for (i = 0; i < run->results.ntasks; i++)
		fill_task(run, i);
	run->results.skipped = run->opts.stored->skipped;
	run->results.stop = run->opts.stored->stop;
	if (v != NULL && json_int(v, &n) && n >= 1 && n <= 100000)
		run->results.trials = (size_t)n;
	if (run->results.trials == 0)
		run->results.trials = 1;
	v = json_getc(config, "timeout_sec");
	if (v != NULL && json_int(v, &n) && n > 0)
		run->results.timeout_seconds = n;
}

struct str
run_stored_error(const struct run *run, size_t i)
{
	const struct result_task *t = &run->results.tasks[i];
	struct str error = STR("");
	size_t k;

	for (k = 0; k < t->ntrials && error.n == 0; k++)
		error = json_str(t->trials[k].imported, "error_msg");
	return error;
}

/* The agent's files: from --workspace, or kept by the run; else NULL. */
static const char *
workspace(struct run_trial *t, const struct json *node)
{
	const struct json *v = json_getc(node, "workspace");
	const char *dir = t->run->opts.workspace;
	struct stat st;

	if (dir == NULL && v != NULL && v->type == JSON_STRING)
		dir = arena_cstr(&t->ask.arena, json_text(v));
	return dir != NULL && stat(dir, &st) == 0 && S_ISDIR(st.st_mode) ?
	    dir : NULL;
}

void
run_stored_prepare(struct run_trial *t)
{
	const struct json *node = run_stored_trial(t)->node, *v;
	int64_t n;

	v = json_getc(node, "run_number");
	if (v != NULL && json_int(v, &n) && n > 0)
		t->ask.vars.iteration = n;
	v = json_getc(node, "attempts");
	if (v != NULL && json_int(v, &n) && n > 0 && n <= INT32_MAX)
		t->ask.req.attempt = (unsigned)n;
	t->ask.vars.attempt = t->ask.req.attempt;
	v = json_getc(node, "prompt");
	if (v != NULL && v->type == JSON_STRING)
		t->ask.req.prompt = json_text(v);
	t->ask.req.workspace = workspace(t, node);
}

/* Verdicts are a map or, in files written by hand, a list. */
static const struct json *
old_verdict(const struct run_trial *t, struct str name)
{
	const struct json *all = json_getc(run_stored_trial(t)->node,
	    "validations");
	const struct json *v;

	if (all == NULL || all->type == JSON_OBJECT)
		return json_get(all, name);
	for (v = json_first(all); v != NULL; v = v->next)
		if (str_eq(json_str(v, "identifier"), name))
			return v;
	return NULL;
}

/* Warns once per run that graders need files that are gone. */
static void
warn_files(struct run_trial *t, struct str grader)
{
	if (t->run->warned_files)
		return;
	t->run->warned_files = true;
	run_warn(t->run, "verdicts_kept", arena_fmt(&t->ask.arena,
	    "the agent's files are missing: graders like \"%.*s\" cannot "
	    "run, their old verdicts are kept; use --workspace DIR to name "
	    "the directory of the files", STRF(utf8_cut(grader, 80))).p);
}

static bool
is_true(const struct json *v)
{
	return v != NULL && v->type == JSON_BOOL && json_bool(v);
}

bool
run_stored_take(struct run_trial *t, const struct spec_grader *g,
    struct str name, struct verdict *out)
{
	const struct json *v = old_verdict(t, name), *b;
	int64_t ms;

	*out = (struct verdict){ .name = name, .type = g->type,
		.weight = g->weight, .spec = g };
	if (v == NULL || !str_eq(json_str(v, "type"), g->type))
		return false;
	if (json_getc(v, "score") == NULL ||
	    !json_double(json_getc(v, "score"), &out->score) ||
	    !(out->score >= 0 && out->score <= 1))
		out->score = 0;
	out->passed = is_true(json_getc(v, "passed"));
	out->skipped = is_true(json_getc(v, "skipped"));
	out->feedback = json_str(v, "feedback");
	out->error = json_str(v, "error");
	out->details = result_json(&t->ask.arena, json_getc(v, "details"));
	b = json_getc(v, "duration_ms");
	if (b != NULL && json_int(b, &ms) && ms >= 0)
		out->duration_ms = ms;
	t->old_verdicts = true;
	return true;
}

bool
run_stored_verdict(struct run_trial *t, const struct spec_grader *g,
    struct verdict *out)
{
	if (t->ask.req.workspace != NULL ||
	    !(grader_flags_of(g) & GRADER_WORKSPACE))
		return false;
	warn_files(t, g->name);
	if (!run_stored_take(t, g, g->name, out))
		out->error = STR("the agent's files are missing: use "
		    "--workspace DIR");
	return true;
}
