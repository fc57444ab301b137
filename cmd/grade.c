/* SPDX-License-Identifier: ISC */
/*
 * waza grade: the answers of a results file, graded again by the suite as it
 * is now.  No agent is run, so that a suite's author can work on graders for
 * free.
 *
 * It is a run like others, whose executor plays the answers (run_stored.c).
 * A file that has a baseline is two of them, the baseline first: graders may
 * compare with it.
 */
#include "waza.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "grader.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/glob.h"
#include "report/report.h"
#include "results/event.h"
#include "results/outcome.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

enum { NAMES_MAX = 20 };	/* tasks named in warnings of one kind */

struct grade_opt {
	const char *results, *output, *workspace, *judge_model, *format;
	struct opt_list tasks, reporters;
	int64_t workers;
	bool update, verbose, quiet, strict, no_color, interpret;
};

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct grade_opt, m), __VA_ARGS__ }
static const struct opt grade_rows[] = {
	ROW(results, OPT_STR, .name = "results", .value = "FILE",
	    .help = "the answers: what run has written with -o"),
	ROW(output, OPT_STR, .name = "output", .letter = 'o', .value = "FILE",
	    .help = "write the new results there, as JSON"),
	ROW(tasks, OPT_LIST, .name = "task", .value = "GLOB",
	    .help = "only tasks with such an id or name; others are kept"),
	ROW(workspace, OPT_STR, .name = "workspace", .value = "DIR",
	    .help = "the agent's files, for graders that look at them"),
	ROW(judge_model, OPT_STR, .name = "judge-model", .value = "NAME",
	    .help = "the model that judges, instead of the suite's"),
	ROW(update, OPT_FLAG, .name = "update-snapshots",
	    .help = "diff graders write what they find as expected"),
	ROW(reporters, OPT_LIST, .name = "reporter", .value = "NAME[:FILE]",
	    .help = "json, junit, csv, tap, github, markdown or html"),
	ROW(format, OPT_STR, .name = "format", .value = "FORMAT",
	    .help = "text, or json: old and new scores of each task"),
	ROW(workers, OPT_INT, .name = "workers", .value = "N", .min = 1,
	    .max = 1024, .help = "trials at the same time"),
	ROW(interpret, OPT_FLAG, .name = "interpret",
	    .help = "explain the results in plain words"),
	ROW(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .help = "say more"),
	ROW(quiet, OPT_FLAG, .name = "quiet", .letter = 'q',
	    .help = "say nothing on the way"),
	ROW(no_color, OPT_FLAG, .name = "no-color",
	    .help = "no colours, even on a terminal"),
	ROW(strict, OPT_FLAG, .name = "strict",
	    .help = "take warnings about the suite for errors"),
};

struct interrupt {
	struct sig_watch w;
	struct job *job;
};

struct job {
	struct cmd_call *call;
	struct grade_opt opt;
	bool json;
	struct spec_suite *suite;
	const struct outcome *stored, *base;	/* base: NULL, if none */
	struct loop *loop;
	struct procs procs;
	struct event_bus bus;
	struct report_console console;
	struct timer tick;
	struct interrupt sig[3];
	int signo;
	struct run *cur;		/* NULL: none goes on */
	struct run *runs[2];
	size_t nruns;
	struct result_run *results;	/* of the one that is reported */
};

static int
check_options(struct job *j)
{
	const struct grade_opt *o = &j->opt;
	struct err *e = j->call->err;
	struct stat st;
	size_t i;

	if (o->results == NULL)
		return err_set(e, ERR_SCHEMA, "--results FILE is missing: "
		    "which answers are to be graded?");
	if (o->format != NULL && strcmp(o->format, "json") != 0 &&
	    strcmp(o->format, "text") != 0)
		return err_set(e, ERR_SCHEMA, "--format is text or json, not "
		    "\"%s\"", o->format);
	j->json = o->format != NULL && strcmp(o->format, "json") == 0;
	for (i = 0; i < o->reporters.n; i++) {
		if (report_check(o->reporters.v[i], e) == -1)
			return -1;
		if (j->json && report_flags(o->reporters.v[i]) & REPORT_STDOUT)
			return err_set(e, ERR_SCHEMA, "reporter %s needs a "
			    "file with --format json", o->reporters.v[i]);
	}
	if (run_check_output(j->call->arena, o->output, e) == -1)
		return -1;
	if (o->workspace == NULL)
		return 0;
	if (stat(o->workspace, &st) == -1)
		return err_sys(e, o->workspace);
	return S_ISDIR(st.st_mode) ? 0 : err_set(e, ERR_SCHEMA,
	    "--workspace %s: is not a directory", o->workspace);
}

static int
load_suite(struct job *j)
{
	struct spec_notes notes = { .arena = j->call->arena,
		.strict = j->opt.strict, .updates = j->opt.update,
		.stored = true };
	const struct spec_note *n;
	struct buf b = { 0 };

	j->suite = spec_load(j->call->arena, cmd_suite_path(j->call),
	    &notes);
	if (j->suite != NULL) {
		cmd_settings(j->call, NULL, NULL, j->suite, &notes);
		grader_check(j->suite, &notes);
	}
	for (n = notes.head; n != NULL; n = n->next)
		if (n->level == FIELD_ERROR || notes.strict || !j->opt.quiet)
			spec_note_put(&b, n);
	fprintf(stderr, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return notes.errors > 0 || (notes.strict && notes.warnings > 0) ?
	    CMD_ERROR : CMD_OK;
}

static int
complain_about(const char *path, const struct err *e)
{
	return e->line > 0 ? cmd_complain_at(path, e) : cmd_complain(e);
}

static int
load_results(struct job *j)
{
	const char *path = j->opt.results;
	struct arena *a = j->call->arena;
	struct err *e = j->call->err;
	struct json *base;

	j->stored = outcome_read(a, path, e);
	if (j->stored == NULL)
		return complain_about(path, e);
	base = json_getc(j->stored->root, "baseline_outcome");
	if (base == NULL || base->type == JSON_NULL)
		return CMD_OK;
	j->base = outcome_of(a, base, path, e);
	return j->base == NULL ? complain_about(path, e) : CMD_OK;
}

static void
warn_of_task(struct job *j, size_t nth, struct str id, const char *what)
{
	if (nth > NAMES_MAX || j->opt.quiet)
		return;
	if (nth == NAMES_MAX)
		fprintf(stderr, "waza: warning: and so on\n");
	else
		fprintf(stderr, "waza: warning: task \"%.*s\" %s\n",
		    id.n > 100 ? 100 : (int)id.n, id.p, what);
}

static bool
selected(const struct job *j, const struct spec_task *t)
{
	const struct opt_list *l = &j->opt.tasks;
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

/* Tasks that are only in the suite, or only in the file, or have no answer. */
static void
warn_of_tasks(struct job *j)
{
	const struct spec_suite *s = j->suite;
	const struct outcome *o = j->stored;
	struct str *ids = NEW_N(j->call->arena, struct str, s->ntasks);
	const struct outcome_task *t;
	size_t i, n = 0, bare = 0;

	for (i = 0; i < s->ntasks; i++) {
		ids[i] = s->tasks[i].id;
		if (!selected(j, &s->tasks[i]))
			continue;
		t = outcome_find(o, ids[i]);
		if (t == NULL)
			warn_of_task(j, n++, ids[i], "has no results: it is "
			    "left out");
		else if (t->ntrials == 0)
			warn_of_task(j, bare++, ids[i], "has no answers: its "
			    "results stay");
	}
	if (s->ntasks > 1)
		qsort(ids, s->ntasks, sizeof(ids[0]), by_id);
	for (i = n = 0; i < o->ntasks; i++)
		if (s->ntasks == 0 || bsearch(&o->tasks[i].id, ids, s->ntasks,
		    sizeof(ids[0]), by_id) == NULL)
			warn_of_task(j, n++, o->tasks[i].id, "is no task of "
			    "the suite any more: its results stay");
}

static void
on_signal(void *arg)
{
	struct interrupt *i = arg;

	i->job->signo = i->w.signo;
	if (i->job->cur != NULL)
		run_cancel(i->job->cur);
}

static void
on_tick(void *arg)
{
	struct job *j = arg;

	report_console_tick(&j->console, os_wall_ns() / 1000000);
	timer_start(j->loop, &j->tick, 100);
}

static int
start_loop(struct job *j)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct report_console *c = &j->console;
	struct err *e = j->call->err;
	size_t i;

	j->loop = loop_new(NULL, e);
	if (j->loop == NULL)
		return -1;
	procs_init(&j->procs, j->loop, true);
	for (i = 0; i < COUNTOF(signals); i++) {
		j->sig[i] = (struct interrupt){ .job = j };
		j->sig[i].w = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = &j->sig[i] };
		if (sig_start(j->loop, &j->sig[i].w, e) == -1)
			return -1;
	}
	report_env(&c->opts, STDERR_FILENO);
	c->opts.color = c->opts.color && !j->opt.no_color;
	c->fd = STDERR_FILENO;
	c->level = j->opt.quiet ? REPORT_QUIET :
	    j->opt.verbose ? REPORT_VERBOSE : REPORT_NORMAL;
	c->live = c->level == REPORT_NORMAL && isatty(STDERR_FILENO);
	report_console_start(c, &j->bus);
	j->tick = (struct timer){ .fn = on_tick, .arg = j };
	return 0;
}

static void
on_done(void *arg)
{
	struct job *j = arg;

	timer_stop(j->loop, &j->tick);
	j->cur = NULL;
}

/* One pass: the answers with skills, or those of the baseline. */
static int
grade_pass(struct job *j, const struct outcome *stored,
    struct result_run *against)
{
	const struct grade_opt *o = &j->opt;
	struct run_opts opts = { .tasks = o->tasks.v, .ntasks = o->tasks.n,
		.workers = o->workers, .workspace = o->workspace,
		.update_snapshots = o->update, .verbose = o->verbose,
		.no_triggers = true, .no_skills = stored == j->base,
		.stored = stored, .baseline = against };
	struct err *e = j->call->err;
	struct run *run;
	int r;

	if (o->judge_model != NULL)
		opts.judge_model = str_of(o->judge_model);
	run = run_new(j->loop, &j->procs, j->suite, &opts, &j->bus, e);
	if (run == NULL)
		return cmd_complain(e);
	j->runs[j->nruns++] = j->cur = run;
	if (j->console.live)
		timer_start(j->loop, &j->tick, 100);
	run_start(run, on_done, j);
	while (j->cur != NULL) {
		r = loop_turn(j->loop, e);
		if (r == 0)		/* a bug of ours; better than a hang */
			err_set(e, ERR_SYS, "nothing left to wait for");
		if (r != 1)
			return cmd_complain(e);
	}
	j->results = run_results(run);
	return run_error(run)->code != ERR_NONE ? CMD_ERROR : CMD_OK;
}

static int
grade_all(struct job *j)
{
	struct result_run *base = NULL;
	int status;

	if (j->base != NULL) {
		status = grade_pass(j, j->base, NULL);
		if (status != CMD_OK || j->signo != 0)
			return status;
		base = j->results;
	}
	status = grade_pass(j, j->stored, base);
	if (status != CMD_OK || j->signo != 0)
		return status;
	j->results->baseline = base;
	if (j->opt.output != NULL &&
	    (result_write(j->results, j->opt.output, j->call->err) == -1 ||
	    result_note_regraded(j->opt.output, j->call->err) == -1))
		return cmd_complain(j->call->err);
	return CMD_OK;
}

static bool
all_ok(const struct job *j)
{
	const struct result_run *r = j->results;

	return result_ok(r) &&
	    (r->baseline == NULL || r->sum.rate >= r->baseline->sum.rate);
}

static void
put_standing(struct json_out *o, const char *key, enum result_status status,
    double score)
{
	json_open_member(o, key, '{');
	json_put_member_cstr(o, "status", result_word(status));
	if (result_is_error(status)) {
		json_put_member_cstr(o, "error_class", result_class(status));
	}
	json_put_member_double(o, "score", score);
	json_close(o, '}');
}

static void
put_json(const struct job *j, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	const struct result_run *r = j->results;
	const struct outcome_task *old = j->stored->tasks;
	const struct result_task *t;
	size_t i;

	json_open(&o, '{');
	json_put_member_double(&o, "score", r->sum.score);
	json_put_member_bool(&o, "passed", all_ok(j));
	json_put_member_double(&o, "success_rate", r->sum.rate);
	json_open_member(&o, "tasks", '{');
	for (i = 0; i < r->ntasks; i++) {
		t = &r->tasks[i];
		json_put_key(&o, old[i].id);
		json_open(&o, '{');
		json_put_member_double(&o, "score", t->stats.avg);
		json_put_member_bool(&o, "passed", t->status == RESULT_PASSED);
		json_put_member_bool(&o, "regraded", t->imported == NULL);
		put_standing(&o, "old", old[i].status, old[i].score);
		put_standing(&o, "new", t->status, t->stats.avg);
		json_close(&o, '}');
	}
	json_close(&o, '}');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

/* On stdout, unless a reporter has it to itself. */
static int
print_report(struct job *j)
{
	struct report_opts o = { 0 };
	struct buf out = { 0 };
	size_t i;

	if (j->json) {
		put_json(j, &out);
		return cmd_finish(j->call, &out, CMD_OK);
	}
	for (i = 0; i < j->opt.reporters.n; i++)
		if (report_flags(j->opt.reporters.v[i]) & REPORT_ALONE)
			return CMD_OK;
	report_env(&o, STDOUT_FILENO);
	o.color = o.color && !j->opt.no_color;
	o.verbose = j->opt.verbose;
	o.interpret = j->opt.interpret;
	report_text(&out, j->results, &o);
	report_changes(&out, j->results, &o);
	return cmd_finish(j->call, &out, CMD_OK);
}

static int
write_reports(struct job *j)
{
	const struct opt_list *r = &j->opt.reporters;
	struct report_opts o = { 0 };
	int status = print_report(j);
	size_t i;

	for (i = 0; i < r->n; i++)
		if (report_write(r->v[i], &j->results, 1, &o,
		    j->call->err) == -1)
			status = cmd_complain(j->call->err);
	return status;
}

static int
grade(struct job *j)
{
	int status;

	if (load_suite(j) != CMD_OK || load_results(j) != CMD_OK)
		return CMD_ERROR;
	warn_of_tasks(j);
	if (start_loop(j) == -1)
		return cmd_complain(j->call->err);
	status = grade_all(j);
	report_console_clear(&j->console);
	if (j->signo != 0)
		return 128 + j->signo;
	if (status != CMD_OK || write_reports(j) != CMD_OK)
		return CMD_ERROR;
	return all_ok(j) ? CMD_OK : CMD_FAILED;
}

static void
clean_up(struct job *j)
{
	size_t i;

	report_console_end(&j->console);
	while (j->nruns > 0)
		run_free(j->runs[--j->nruns]);
	if (j->loop == NULL)
		return;
	for (i = 0; i < COUNTOF(j->sig); i++)
		sig_stop(j->loop, &j->sig[i].w);
	procs_fini(&j->procs);
	loop_free(j->loop);
}

static int
grade_main(struct cmd_call *c)
{
	struct job *j = NEW(c->arena, struct job);
	int status;

	j->call = c;
	j->opt = *(const struct grade_opt *)c->opt;
	if (check_options(j) == -1)
		return cmd_complain(c->err);
	status = grade(j);
	clean_up(j);
	return status;
}

const struct cmd_command cmd_grade = {
	.name = "grade",
	.usage = "--results FILE [OPTION ...] [EVAL.yaml|DIR]",
	.opts = CMD_OPTS(grade_rows), .size = sizeof(struct grade_opt),
	.max = 1, .fn = grade_main,
	.help = "grade stored answers again, without running agents"
};
