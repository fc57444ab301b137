/* SPDX-License-Identifier: ISC */
/*
 * waza grade: grades the answers of a results file again, with the suite as it
 * is now.  No agent is run, so that an author can work on graders for free.
 *
 * It is a run whose executor plays the stored answers (run_stored.c).  A file
 * with a baseline needs two or three runs, the baseline first, because graders
 * may compare with it.
 */
#include "waza.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "cmd/job.h"
#include "cmd/run/self_test.h"
#include "cmd/stored.h"
#include "cmd/workspace.h"
#include "grader.h"
#include "json.h"
#include "lib/glob.h"
#include "report/compare.h"
#include "results/outcome.h"
#include "results/result.h"
#include "suite/spec.h"

enum { NAMES_MAX = 20 };	/* tasks named in warnings of one kind */

struct grade_opt {
	struct cmd_job_opt job;		/* first */
	const char *results, *workspace;
	bool trust, self_test;
};

#define OPT(m, t, ...) CMD_OPT(grade_opt, m, t, __VA_ARGS__)
static const struct opt grade_rows[] = {
	OPT(results, OPT_STR, .name = "results", .value = "FILE",
	    .group = "Selection",
	    .help = "results file with the answers (default: the latest)"),
	CMD_JOB_OPT(tasks, OPT_LIST, .name = "task", .value = "GLOB",
	    .help = "only tasks with a matching id or name; others are kept"),
	OPT(self_test, OPT_FLAG, .name = "self-test",
	    .help = "grade the answers in \"tests\" of tasks instead"),
	OPT(workspace, OPT_STR, .name = "workspace", .value = "DIR",
	    .help = "the agent's files, for graders that read them"),
	CMD_JOB_EXECUTION,
	CMD_TRUST_OPT(grade_opt, trust),
	CMD_JOB_OUTPUT,
	CMD_JOB_OPT(format, OPT_STR, .name = "format", .value = "text|json",
	    .help = "json: old and new scores of each task"),
};

struct grade {
	struct cmd_job job;
	struct grade_opt opt;
	const struct outcome *stored, *baseline, *ref;	/* NULL: none */
	size_t done, trials;		/* graded so far; of the passes that
					 * have begun */
};

static int
check_options(struct grade *g)
{
	const struct grade_opt *o = &g->opt;
	struct err *e = g->job.call->err;
	struct stat st;
	int json;

	json = cmd_choose_json(o->job.format, e);
	if (json == -1)
		return -1;
	if (json)
		g->job.owns_stdout = "--format json";
	if (cmd_job_check(&g->job) == -1)
		return -1;
	if (o->self_test && (o->results != NULL || o->workspace != NULL ||
	    o->job.output != NULL || o->job.reporters.n > 0))
		return err_set(e, ERR_SCHEMA, "--self-test reads no results "
		    "and writes none: remove --results, --workspace, --output "
		    "and --reporter");
	if (o->workspace == NULL)
		return 0;
	if (stat(o->workspace, &st) == -1)
		return err_sys(e, o->workspace);
	return S_ISDIR(st.st_mode) ? 0 : err_set(e, ERR_SCHEMA,
	    "--workspace %s: is not a directory", o->workspace);
}

static int
load_suite(struct grade *g)
{
	struct cmd_job *j = &g->job;
	struct spec_notes notes = { .arena = j->call->arena,
		.strict = j->opt->strict, .updates = j->opt->update,
		.stored = true, .trust = g->opt.trust };
	struct cmd_find how = { .trust = g->opt.trust };
	const char *path;

	if (cmd_find_suite(j->call, &how, &path) == -1)
		return cmd_complain(j->call->err);
	agent_expect(&notes, STR(""));
	j->suite = spec_load(j->call->arena, path, &notes);
	if (j->suite != NULL) {
		cmd_settings(j->call, NULL, NULL, j->suite, &notes);
		grader_check(j->suite, &notes);
	}
	return cmd_job_print_notes(j, &notes);
}

/* The results of another pass in the file, if it has them. */
static int
load_arm(struct grade *g, enum result_arm arm, const struct outcome **out)
{
	struct json *v = json_getc(g->stored->root, result_arm_key(arm));

	if (v == NULL || v->type == JSON_NULL)
		return 0;
	*out = outcome_of(g->job.call->arena, v, g->opt.results,
	    g->job.call->err);
	return *out == NULL ? -1 : 0;
}

static int
load_results(struct grade *g)
{
	const char *path = g->opt.results != NULL ? g->opt.results :
	    cmd_latest_results(g->job.call, g->job.suite->name, 0);
	struct arena *a = g->job.call->arena;
	struct err *e = g->job.call->err;

	if (path == NULL)
		return cmd_complain(e);
	g->opt.results = path;
	g->stored = outcome_read(a, path, e);
	if (g->stored == NULL)
		return cmd_complain_at(path, e);
	return load_arm(g, RESULT_ARM_NONE, &g->baseline) == -1 ||
	    load_arm(g, RESULT_ARM_REF, &g->ref) == -1 ?
	    cmd_complain_at(path, e) : CMD_OK;
}

/* nth counts the warnings of this kind, which end at NAMES_MAX. */
static void
warn_of_task(struct grade *g, size_t nth, struct str id, const char *what)
{
	if (nth > NAMES_MAX || g->opt.job.quiet)
		return;
	if (nth == NAMES_MAX)
		cmd_say("waza: warning: more tasks like this are not "
		    "listed\n");
	else
		cmd_say("waza: warning: task \"%.*s\" %s\n",
		    id.n > 100 ? 100 : (int)id.n, id.p, what);
}

static bool
is_selected(const struct grade *g, const struct spec_task *t)
{
	const struct opt_list *l = &g->opt.job.tasks;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (glob_match(str_of(l->v[i]), t->id) ||
		    glob_match(str_of(l->v[i]), t->name))
			return true;
	return l->n == 0;
}

static int
by_id(const void *a, const void *b)
{
	const struct str *x = a, *y = b;

	return str_cmp(*x, *y);
}

/* Tasks that are only in the suite, only in the file, or have no answer. */
static void
warn_of_tasks(struct grade *g)
{
	const struct spec_suite *s = g->job.suite;
	const struct outcome *o = g->stored;
	struct str *ids = NEW_N(g->job.call->arena, struct str, s->ntasks);
	const struct outcome_task *t;
	size_t i, n = 0, bare = 0;

	for (i = 0; i < s->ntasks; i++) {
		ids[i] = s->tasks[i].id;
		if (!is_selected(g, &s->tasks[i]))
			continue;
		t = outcome_find(o, ids[i]);
		if (t == NULL)
			warn_of_task(g, n++, ids[i], "is not in the results "
			    "file: skipped");
		else if (t->ntrials == 0)
			warn_of_task(g, bare++, ids[i], "has no answers: its "
			    "results are kept");
	}
	if (s->ntasks > 1)
		qsort(ids, s->ntasks, sizeof(ids[0]), by_id);
	for (i = n = 0; i < o->ntasks; i++)
		if (s->ntasks == 0 || bsearch(&o->tasks[i].id, ids, s->ntasks,
		    sizeof(ids[0]), by_id) == NULL)
			warn_of_task(g, n++, o->tasks[i].id, "is not in the "
			    "suite: its results are kept");
}

/* One pass: the answers with skills, or those of a baseline. */
static int
grade_pass(struct grade *g, const struct outcome *stored,
    struct result_run *against, struct result_run **out)
{
	const struct cmd_job_opt *o = &g->opt.job;
	struct run_opts opts = { .tasks = o->tasks.v, .ntasks = o->tasks.n,
		.workers = o->workers, .workspace = g->opt.workspace,
		.update_snapshots = o->update, .verbose = o->verbose,
		.no_triggers = true, .no_skills = stored == g->baseline,
		.no_controls = stored == g->baseline,
		.strict_controls = o->strict,
		.stored = stored, .baseline = against };
	const struct json *at = json_getc(json_getc(stored->root, "config"),
	    "skills_ref");
	struct run_ref *ref = NEW(g->job.call->arena, struct run_ref);
	struct run *run;
	size_t i;
	int status;

	*ref = (struct run_ref){ json_str(at, "ref"), json_str(at,
	    "commit") };
	if (stored == g->ref)
		opts.ref = ref;
	if (o->judge_model != NULL)
		opts.judge_model = str_of(o->judge_model);
	status = cmd_job_pass(&g->job, &opts, &run);
	if (run != NULL)
		*out = run_results(run);
	for (i = 0; run != NULL && i < (*out)->ntasks; i++) {
		g->done += (*out)->tasks[i].done;
		g->trials += (*out)->tasks[i].ntrials;
	}
	return status;
}

static int
grade_all(struct grade *g)
{
	struct cmd_job *j = &g->job;
	struct result_run *base = NULL, *ref = NULL, *r = NULL;
	struct err *e = j->call->err;
	struct buf effect = { 0 };
	const struct json *was;
	int status;

	if (g->baseline != NULL) {
		status = grade_pass(g, g->baseline, NULL, &base);
		if (status != CMD_OK || j->signals.signo != 0)
			return status;
	}
	if (g->ref != NULL) {
		status = grade_pass(g, g->ref, base, &ref);
		if (status != CMD_OK || j->signals.signo != 0)
			return status;
	}
	status = grade_pass(g, g->stored, base, &r);
	if (status != CMD_OK || j->signals.signo != 0)
		return status;
	r->baseline = base;
	r->ref = ref;
	if (ref != NULL) {
		was = json_getc(json_getc(g->stored->root, "ref_effect"),
		    "interleaved");
		compare_ref_json(&effect, r, was != NULL &&
		    was->type == JSON_BOOL && json_bool(was));
		r->ref_effect = arena_take(j->call->arena, &effect);
	}
	cmd_job_add_results(j, r, g->opt.job.output);
	if (g->opt.job.output != NULL)
		result_sweep(g->opt.job.output);
	if (g->opt.job.output != NULL &&
	    (result_write(r, g->opt.job.output, e) == -1 ||
	    result_note_regraded(g->opt.job.output, e) == -1))
		return cmd_job_fail(j, "results_failed");
	return CMD_OK;
}

static void
put_standing(struct json_out *o, const char *key, enum result_status status,
    double score)
{
	json_open_member(o, key, '{');
	json_put_member_cstr(o, "status", result_word(status));
	if (result_is_error(status))
		json_put_member_cstr(o, "error_class", result_class(status));
	json_put_member_double(o, "score", score);
	json_close(o, '}');
}

static void
put_json(const struct grade *g, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	const struct result_run *r = g->job.results[0];
	const struct outcome_task *old = g->stored->tasks;
	const struct result_task *t;
	size_t i;

	json_open(&o, '{');
	json_put_member_double(&o, "score", r->sum.score);
	json_put_member_bool(&o, "passed", cmd_job_passed(&g->job));
	json_put_member_double(&o, "success_rate", r->sum.rate);
	json_open_member(&o, "tasks", '{');
	for (i = 0; i < r->ntasks; i++) {
		t = &r->tasks[i];
		json_put_key(&o, old[i].id);
		json_open(&o, '{');
		json_put_member_double(&o, "score", t->stats->avg);
		json_put_member_bool(&o, "passed", t->status == RESULT_PASSED);
		json_put_member_bool(&o, "regraded", t->more->imported == NULL);
		put_standing(&o, "old", old[i].status, old[i].score);
		put_standing(&o, "new", t->status, t->stats->avg);
		json_close(&o, '}');
	}
	json_close(&o, '}');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

static int
report(struct grade *g)
{
	struct buf out = { 0 };
	int status = cmd_job_report(&g->job);

	if (g->job.owns_stdout == NULL)
		return status;
	put_json(g, &out);
	g->job.call->form = GUARD_JSON;
	return cmd_finish(g->job.call, &out, status);
}

/* The file of the answers may be replaced, whichever program wrote it. */
static int
check_output(struct grade *g)
{
	const char *out = g->opt.job.output;
	struct stat st, own;

	if (out != NULL && stat(out, &st) == 0 &&
	    stat(g->opt.results, &own) == 0 && st.st_dev == own.st_dev &&
	    st.st_ino == own.st_ino)
		return 0;
	return run_check_output(g->job.call->arena, out, false,
	    g->job.call->err);
}

static int
grade(struct grade *g)
{
	struct cmd_job *j = &g->job;
	struct err *e = j->call->err;
	int status;

	if (load_suite(g) != CMD_OK)
		return CMD_ERROR;
	if (g->opt.self_test)
		return cmd_job_start(j) == -1 ? cmd_complain(e) :
		    cmd_self_test(j);
	if (load_results(g) != CMD_OK)
		return CMD_ERROR;
	warn_of_tasks(g);
	if (cmd_job_start(j) == -1 || check_output(g) == -1)
		return cmd_complain(e);
	status = grade_all(g);
	report_console_clear(&j->console);
	if (j->signals.signo != 0 && !j->opt->quiet)
		cmd_say("waza: interrupted after %zu of %zu trials; nothing "
		    "was written; repeat with: %s\n", g->done, g->trials,
		    cmd_job_again(j).p);
	if (status == CMD_OK && j->signals.signo == 0)
		status = report(g);
	return cmd_exit_status(j, status != CMD_OK);
}

static int
grade_main(struct cmd_call *c)
{
	struct grade *g = NEW(c->arena, struct grade);
	int status;

	g->opt = *(const struct grade_opt *)c->opt;
	g->job.call = c;
	g->job.opt = &g->opt.job;
	g->job.adopt = true;
	if (check_options(g) == -1)
		return cmd_complain(c->err);
	status = grade(g);
	cmd_job_end(&g->job);
	return status;
}

const struct cmd_command cmd_grade = {
	.name = "grade", .group = CMD_RUNS,
	.usage = "[--results FILE|--self-test] [OPTION ...] "
	    "[EVAL.yaml|DIR|SKILL]",
	.opts = CMD_OPTS(grade_rows), .size = sizeof(struct grade_opt),
	.max = 1, .fn = grade_main,
	.help = "Grade the answers of a results file again, without agents"
};
