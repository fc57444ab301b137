/* SPDX-License-Identifier: ISC */
/*
 * waza run --list and --dry-run: prints what would run.  Everything is loaded
 * and checked as for a run; no agent is started and nothing is written.
 */
#include "cmd/run.h"

#include <string.h>
#include <unistd.h>

#include "json.h"
#include "suite/spec.h"

enum { WHY_MAX = 100 };	/* reasons of a suite in a matrix */

/* What one suite would run. */
struct plan {
	const struct cmd_suite *suite;
	struct run_planned *tasks;
	size_t ntasks, triggers, workers;
	int64_t trials, calls;		/* calls: of agents, in all passes */
	struct str executor;
	struct field_strs skills;
};

/* The limits of the options, which hold for all suites together. */
static struct spec_budget
run_limits(const struct cmd_run *r)
{
	const struct run_purse *v = r->budget.v;

	return (struct spec_budget){ .usd = v[RUN_USD].limit,
		.tokens = (int64_t)v[RUN_TOKENS].limit,
		.seconds = v[RUN_SECONDS].limit };
}

static bool
is_limited(const struct spec_budget *b)
{
	return b->usd > 0 || b->tokens > 0 || b->seconds > 0;
}

/* The names of the suite's skills, and of those of its tasks. */
static void
add_skills(struct arena *a, const struct cmd_suite *s,
    const struct spec_task *t, struct field_strs *out)
{
	struct field_strs dirs = spec_skill_dirs(a, s->spec, t);
	struct spec_skills found;
	struct str *v;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs.n; i++) {
		found = (struct spec_skills){ 0 };
		(void)spec_list_skills(a, dirs.v[i].p, &found, &e);
		v = NEW_N(a, struct str, out->n + found.n);
		for (k = 0; k < out->n; k++)
			v[k] = out->v[k];
		out->v = v;
		for (k = 0; k < found.n; k++)
			if (!field_has(out, found.v[k].name))
				v[out->n++] = found.v[k].name;
	}
}

static void
make_plan(struct cmd_run *r, const struct cmd_suite *s, struct plan *p)
{
	struct arena *a = r->job.call->arena;
	const struct spec_config *c = &s->spec->config;
	size_t i;

	*p = (struct plan){ .suite = s, .executor = s->run.executor.n > 0 ?
		s->run.executor : s->cells[0].executor.n > 0 ?
		s->cells[0].executor : c->executor,
		.trials = s->run.trials > 0 ? s->run.trials :
		    c->trials_per_task,
		.workers = run_count_workers(s->spec, &s->run),
		.triggers = run_count_triggers(s->spec, &s->run) };
	p->ntasks = run_list_tasks(a, s->spec, &s->run, &p->tasks);
	for (i = 0; i < p->ntasks; i++)
		p->calls += (int64_t)p->tasks[i].trials;
	p->calls *= (int64_t)cmd_run_passes(r, s);
	p->calls += (int64_t)(p->triggers * s->ncells);
	if (s->run.no_skills)
		return;
	add_skills(a, s, NULL, &p->skills);
	for (i = 0; i < p->ntasks; i++)
		if (p->tasks[i].task->def->skill_directories.n > 0)
			add_skills(a, s, p->tasks[i].task, &p->skills);
}

/*
 * As JSON.
 */
static void
put_strs(struct json_out *o, const char *key, const struct field_strs *list)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < list->n; i++)
		json_put_str(o, list->v[i]);
	json_close(o, ']');
}

static void
put_budget(struct json_out *o, const struct spec_budget *b)
{
	if (!is_limited(b))
		return;
	json_open_member(o, "budget", '{');
	if (b->usd > 0)
		json_put_member_double(o, "usd", b->usd);
	if (b->tokens > 0)
		json_put_member_int(o, "tokens", b->tokens);
	if (b->seconds > 0)
		json_put_member_double(o, "seconds", b->seconds);
	json_close(o, '}');
}

static void
put_task(struct json_out *o, const struct run_planned *p,
    const struct run_only *only)
{
	const struct spec_task *t = p->task;

	json_open(o, '{');
	json_put_member_str(o, "id", t->id);
	json_put_member_str(o, "name", t->name);
	if (t->at.file != NULL)
		json_put_member_cstr(o, "file", t->at.file);
	json_put_member_int(o, "line", t->at.line);
	put_strs(o, "tags", &t->def->tags);
	json_put_member_int(o, "trials", (int64_t)p->trials);
	put_budget(o, &t->def->budget);
	if (only != NULL)
		json_put_member_cstr(o, "why", run_why(only, t->id));
	json_close(o, '}');
}

static void
put_models(struct json_out *o, const struct plan *p)
{
	const struct field_strs *m = &p->suite->spec->matrix.model;
	size_t i;

	json_open_member(o, "models", '[');
	for (i = 0; i < m->n; i++)
		json_put_str(o, m->v[i]);
	if (m->n == 0 && p->suite->spec->config.model.n > 0)
		json_put_str(o, p->suite->spec->config.model);
	json_close(o, ']');
	if (p->suite->ncells < 2)
		return;
	json_open_member(o, "cells", '[');
	for (i = 0; i < p->suite->ncells; i++)
		json_put_raw(o, p->suite->cells[i].json);
	json_close(o, ']');
}

static void
put_suite(struct cmd_run *r, struct json_out *o, const struct plan *p)
{
	size_t i;

	json_open(o, '{');
	json_put_member_cstr(o, "path", p->suite->path);
	json_put_member_str(o, "name", p->suite->spec->name);
	json_put_member_str(o, "skill", p->suite->spec->skill);
	json_put_member_str(o, "executor", p->executor);
	put_models(o, p);
	json_put_member_int(o, "trials", p->trials);
	if (r->opt.stop.rule != NULL)
		json_put_member_cstr(o, "stop", r->opt.stop.rule);
	put_budget(o, &p->suite->spec->config.budget);
	json_put_member_int(o, "workers", (int64_t)p->workers);
	json_put_member_bool(o, "baseline", p->suite->baseline);
	if (p->suite->baseline && r->opt.selection.baseline_ref != NULL)
		json_put_member_cstr(o, "baseline_ref",
		    r->opt.selection.baseline_ref);
	put_strs(o, "skills", &p->skills);
	json_put_member_int(o, "triggers", (int64_t)p->triggers);
	json_put_member_int(o, "agent_calls", p->calls);
	json_open_member(o, "tasks", '[');
	for (i = 0; i < p->ntasks; i++)
		put_task(o, &p->tasks[i], p->suite->run.only);
	json_close(o, ']');
	json_close(o, '}');
}

static void
put_json(struct cmd_run *r, struct buf *b, const struct plan *v, size_t n)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	struct spec_budget limits = run_limits(r);
	int64_t tasks = 0, calls = 0;
	size_t i;

	json_open(&o, '{');
	json_open_member(&o, "suites", '[');
	for (i = 0; i < n; i++) {
		put_suite(r, &o, &v[i]);
		tasks += (int64_t)v[i].ntasks;
		calls += v[i].calls;
	}
	json_close(&o, ']');
	json_put_member_int(&o, "tasks", tasks);
	json_put_member_int(&o, "agent_calls", calls);
	put_budget(&o, &limits);
	json_close(&o, '}');
	buf_putc(b, '\n');
}

/*
 * --changed as the matrix of a CI job.
 */
static void
put_reason(struct json_out *o, const char **seen, size_t *n, const char *why)
{
	size_t i;

	for (i = 0; i < *n; i++)
		if (strcmp(seen[i], why) == 0)
			return;
	if (*n == WHY_MAX)
		return;
	seen[(*n)++] = why;
	json_put_str(o, str_of(why));
}

/* Each reason once. */
static void
put_why(struct json_out *o, const struct plan *p)
{
	const char *seen[WHY_MAX];
	size_t i, n = 0;

	json_open_member(o, "why", '[');
	for (i = 0; i < p->ntasks; i++)
		put_reason(o, seen, &n, run_why(p->suite->run.only,
		    p->tasks[i].task->id));
	if (p->triggers > 0)
		put_reason(o, seen, &n, p->suite->why_triggers);
	json_close(o, ']');
}

static void
put_matrix(struct buf *b, const struct plan *v, size_t n)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	size_t i, k;

	json_open(&o, '{');
	json_open_member(&o, "include", '[');
	for (i = 0; i < n; i++) {
		if (!v[i].suite->selected)
			continue;
		json_open(&o, '{');
		json_put_member_cstr(&o, "suite", v[i].suite->path);
		json_put_member_str(&o, "name", v[i].suite->spec->name);
		json_open_member(&o, "tasks", '[');
		for (k = 0; k < v[i].ntasks; k++)
			json_put_str(&o, v[i].tasks[k].task->id);
		json_close(&o, ']');
		json_put_member_int(&o, "triggers", (int64_t)v[i].triggers);
		put_why(&o, &v[i]);
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

/*
 * As text.
 */
static void
put_words(struct buf *b, const char *before, const struct field_strs *list,
    const char *after)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		buf_fmt(b, "%s%.*s", i == 0 ? before : ", ",
		    STRF(list->v[i]));
	if (list->n > 0)
		buf_puts(b, after);
}

static void
put_limits(struct buf *b, const char *before, const struct spec_budget *limit,
    const char *after)
{
	const char *comma = "";

	if (!is_limited(limit))
		return;
	buf_puts(b, before);
	if (limit->usd > 0) {
		buf_fmt(b, "$%.10g", limit->usd);
		comma = ", ";
	}
	if (limit->tokens > 0) {
		buf_fmt(b, "%s%lld tokens", comma, (long long)limit->tokens);
		comma = ", ";
	}
	if (limit->seconds > 0)
		buf_fmt(b, "%s%.10g s", comma, limit->seconds);
	buf_puts(b, after);
}

static void
put_tasks(struct buf *b, const struct plan *p, const char *indent)
{
	const struct spec_task *t;
	size_t i;

	for (i = 0; i < p->ntasks; i++) {
		t = p->tasks[i].task;
		buf_fmt(b, "%s%.*s", indent, STRF(t->id));
		if (t->name.n > 0 && !str_eq(t->name, t->id))
			buf_fmt(b, "  %.*s", STRF(t->name));
		put_words(b, "  [", &t->def->tags, "]");
		put_limits(b, "  (budget ", &t->def->budget, ")");
		if (p->suite->run.only != NULL)
			buf_fmt(b, ": %s", run_why(p->suite->run.only,
			    t->id));
		buf_putc(b, '\n');
	}
	if (p->suite->why_triggers != NULL && p->triggers > 0)
		buf_fmt(b, "%s(trigger tests): %s\n", indent,
		    p->suite->why_triggers);
}

/* Each combination that the tasks run in, if there are several. */
static void
put_cells(struct buf *b, const struct plan *p, const char *indent)
{
	const struct cmd_suite *s = p->suite;
	size_t i;

	if (s->ncells < 2)
		return;
	buf_fmt(b, "%s%zu combinations", indent, s->ncells);
	for (i = 0; i < s->ncells; i++)
		buf_fmt(b, "%s%.*s", i == 0 ? ": " : "; ",
		    STRF(s->cells[i].label));
	buf_putc(b, '\n');
}

static void
put_axis(struct buf *b, const char *before, const struct field_strs *axis)
{
	size_t i;

	for (i = 0; i < axis->n; i++)
		buf_fmt(b, "%s%.*s", i == 0 ? before : " and ",
		    STRF(axis->v[i]));
}

/* The number of agent calls and where it comes from. */
static void
put_calls(struct cmd_run *r, struct buf *b, const struct plan *p)
{
	const char *most = r->opt.stop.rule != NULL ? "at most " : "";

	buf_fmt(b, "  %zu task%s, %s%lld trial%s each%s", p->ntasks,
	    p->ntasks == 1 ? "" : "s", most, (long long)p->trials,
	    p->trials == 1 ? "" : "s",
	    p->suite->baseline ? ", with and without skills" : "");
	if (p->suite->baseline && r->opt.selection.baseline_ref != NULL)
		buf_fmt(b, ", and with those of %s",
		    r->opt.selection.baseline_ref);
	if (p->triggers > 0)
		buf_fmt(b, ", %zu trigger test%s", p->triggers,
		    p->triggers == 1 ? "" : "s");
	buf_fmt(b, ": %s%lld agent call%s\n", most, (long long)p->calls,
	    p->calls == 1 ? "" : "s");
}

static void
put_plan(struct cmd_run *r, struct buf *b, const struct plan *p)
{
	const struct spec_suite *s = p->suite->spec;
	const struct spec_matrix *m = &s->matrix;

	buf_fmt(b, "%s: %.*s\n", p->suite->path, STRF(s->name));
	if (m->executor.n > 1 && r->opt.reuse.replay == NULL)
		put_axis(b, "  executor ", &m->executor);
	else
		buf_fmt(b, "  executor %.*s", STRF(p->executor));
	put_axis(b, ", model ", &m->model);
	if (m->model.n == 0 && s->config.model.n > 0)
		buf_fmt(b, ", model %.*s", STRF(s->config.model));
	put_axis(b, ", skill ", &m->skill);
	buf_fmt(b, ", %zu at a time\n", p->workers);
	put_words(b, "  skills: ", &p->skills, "\n");
	put_calls(r, b, p);
	put_limits(b, "  budget of the suite: ", &s->config.budget, "\n");
	put_cells(b, p, "  ");
	put_tasks(b, p, "    ");
}

static void
put_text(struct cmd_run *r, struct buf *b, const struct plan *v, size_t n)
{
	struct spec_budget limits = run_limits(r);
	int64_t tasks = 0, calls = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		tasks += (int64_t)v[i].ntasks;
		calls += v[i].calls;
		if (r->opt.selection.dry_run)
			put_plan(r, b, &v[i]);
		else if (n > 1) {
			buf_fmt(b, "%s:\n", v[i].suite->path);
			put_cells(b, &v[i], "  ");
			put_tasks(b, &v[i], "  ");
		} else {
			put_cells(b, &v[i], "");
			put_tasks(b, &v[i], "");
		}
	}
	if (!r->opt.selection.dry_run)
		return;
	if (r->opt.stop.rule != NULL)
		buf_fmt(b, "stop rule: %s\n", r->opt.stop.rule);
	put_limits(b, "budget of the run: ", &limits, "\n");
	buf_fmt(b, "%lld task%s, %s%lld agent call%s; nothing was run\n",
	    (long long)tasks, tasks == 1 ? "" : "s", r->opt.stop.rule != NULL ?
	    "at most " : "", (long long)calls, calls == 1 ? "" : "s");
}

int
cmd_run_dry(struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;
	struct plan *v = NEW_N(a, struct plan, r->nsuites);
	bool json = r->opt.output.stream;
	bool matrix = r->opt.selection.changed != NULL &&
	    r->opt.selection.dry_run;
	struct buf b = { 0 };
	size_t i, n = 0;

	for (i = 0; i < r->nsuites; i++) {
		make_plan(r, &r->suites[i], &v[i]);
		n += v[i].ntasks;
	}
	if (n == 0 && !r->job.sharded && r->since.n == 0 &&
	    run_explain_selection(a, r->suites[0].spec, &r->suites[0].run,
	    r->job.call->err) == -1)
		return cmd_complain(r->job.call->err);
	if (json && matrix)
		put_matrix(&b, v, r->nsuites);
	else if (json)
		put_json(r, &b, v, r->nsuites);
	else if (r->idle)
		buf_fmt(&b, "nothing that the suites use has changed since "
		    "%.*s\n", STRF(r->since));
	else {
		put_text(r, &b, v, r->nsuites);
		cmd_wrap(&b, 6, STDOUT_FILENO);
	}
	r->job.call->form = json ? GUARD_JSON : GUARD_TEXT;
	return cmd_finish(r->job.call, &b, CMD_OK);
}
