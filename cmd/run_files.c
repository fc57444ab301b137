/* SPDX-License-Identifier: ISC */
/*
 * The files of `waza run`: where results, journals and the summary go.
 *
 *	-o OUT.json		OUT.json; of several suites OUT_SUITE.json, of
 *				several cells OUT_CELL.json; OUT_summary.json
 *	--output-dir DIR	DIR/STAMP/MODEL.json, of several cells
 *				DIR/STAMP/CELL.json, of several suites
 *				DIR/STAMP/SUITE/MODEL.json, and a summary.json
 *
 *	neither			paths.results as DIR, or the default place
 *				(run_history.c)
 *
 * A STAMP has a file STATE: a line "complete" or "incomplete", and a line for
 * each suite.  --resume continues the newest STAMP of the same suites that is
 * not complete.
 */
#include "cmd/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "report/matrix/matrix.h"
#include "report/report_suites.h"
#include "results/result.h"
#include "suite/config.h"
#include "suite/spec.h"

#define STATE ".waza-run"

enum {
	STAMP_MAX = 40, STAMP_TRIES = 1000,
	STATE_MAX = 64 << 20		/* bytes of the file */
};

int
cmd_run_files_check(struct cmd_run *r)
{
	const struct cmd_run_opt *o = &r->opt;
	struct err *e = r->job.call->err;

	if (o->output.no_results && (o->job.output != NULL ||
	    o->output.output_dir != NULL || cmd_run_resumes(r)))
		return err_set(e, ERR_SCHEMA, "--no-results writes neither "
		    "results nor a journal: remove it, or %s",
		    o->job.output != NULL ? "--output" :
		    o->output.output_dir != NULL ? "--output-dir" :
		    o->reuse.resume ? "--resume" : o->reuse.retry_errors ?
		    "--retry-errors" : "--rerun-failed");
	if (o->output.output_dir == NULL)
		return 0;
	if (o->job.output != NULL)
		return err_set(e, ERR_SCHEMA, "--output and --output-dir "
		    "exclude each other: --output names a file, --output-dir "
		    "a directory for a new directory of each run");
	return *o->output.output_dir != '\0' ? 0 : err_set(e, ERR_SCHEMA,
	    "--output-dir is empty");
}

/*
 * Names.
 */

/* A name as part of a file name. */
static char *
file_name(struct arena *a, struct str name)
{
	char *s = arena_cstr(a, utf8_cut(name, 100)), *p;

	if (s == NULL || *s == '\0')
		return arena_cstr(a, STR("suite"));
	for (p = s; *p != '\0'; p++)
		if (strchr("/\\: ", *p) != NULL || (unsigned char)*p < 0x20)
			*p = '-';
	if (s[0] == '.')
		s[0] = '-';
	return s;
}

/* Of several suites, none can have the file of their summary. */
static bool
is_taken(const struct cmd_run *r, size_t n, const char *file)
{
	size_t i;

	if (r->nsuites > 1 && strcmp(file, "summary") == 0)
		return true;
	for (i = 0; i < n; i++)
		if (strcmp(r->suites[i].file, file) == 0)
			return true;
	return false;
}

static void
name_suite(struct cmd_run *r, size_t i)
{
	struct cmd_suite *s = &r->suites[i];
	struct arena *a = r->job.call->arena;
	const char *base;
	int k;

	if (s->name.n == 0)
		s->name = s->spec->skill.n > 0 ? s->spec->skill :
		    s->spec->name.n > 0 ? s->spec->name : str_of(s->path);
	s->file = base = file_name(a, s->name);
	for (k = 2; is_taken(r, i, s->file); k++)
		s->file = arena_fmt(a, "%s-%d", base, k).p;
	if (s->file != base)
		s->name = str_of(s->path);
}

void
cmd_run_files_name(struct cmd_run *r)
{
	size_t i;

	for (i = 0; i < r->nsuites; i++)
		name_suite(r, i);
}

/*
 * The directory of --output-dir.
 */
static bool
is_stamp(struct str s)
{
	return s.n >= 17 && s.n < STAMP_MAX && s.p[4] == '-' &&
	    s.p[7] == '-' && s.p[10] == 'T';
}

/* As a whole: readers see the old file or the new one. */
static int
write_file(struct cmd_run *r, const char *path, struct str text)
{
	struct arena *a = r->job.call->arena;
	const char *temp = arena_fmt(a, "%s.tmp.%ld", path,
	    (long)getpid()).p;
	struct err *e = r->job.call->err;
	int fd = open(temp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	int rc;

	if (fd == -1)
		return err_sys(e, temp);
	rc = os_write_all(fd, text, e);
	os_close(&fd);
	if (rc == 0 && rename(temp, path) == -1)
		rc = err_sys(e, path);
	if (rc == -1)
		(void)unlink(temp);
	return rc;
}

/* What STATE contains. */
static struct str
state(struct cmd_run *r, bool complete)
{
	struct buf b = { 0 };
	size_t i;

	buf_puts(&b, complete ? "complete\n" : "incomplete\n");
	for (i = 0; i < r->nsuites; i++)
		buf_fmt(&b, "%s\n", r->suites[i].path);
	return arena_take(r->job.call->arena, &b);
}

static bool
has_state(struct cmd_run *r, const char *path, bool complete)
{
	struct arena a = { 0 };
	struct str text;
	struct err e;
	bool same = os_read_plain(&a, path, STATE_MAX, &text, &e) == 0 &&
	    str_eq(text, state(r, complete));

	arena_free(&a);
	return same;
}

/*
 * The newest STAMP of these suites, or the newest that is not complete; NULL:
 * none.
 */
static const char *
newest(struct cmd_run *r, const char *dir, bool incomplete)
{
	struct arena *a = r->job.call->arena;
	struct field_strs names;
	const char *path, *file;
	size_t i;

	if (spec_list(a, dir, &names) == -1)
		return NULL;
	for (i = names.n; i > 0; i--) {
		if (!is_stamp(names.v[i - 1]))
			continue;
		path = spec_join(a, dir, names.v[i - 1]);
		file = spec_join(a, path, STR(STATE));
		if (has_state(r, file, false) ||
		    (!incomplete && has_state(r, file, true)))
			return path;
	}
	return NULL;
}

static int
make_stamp(struct cmd_run *r, const char *dir)
{
	int64_t ms = os_wall_ns() / 1000000;
	struct arena *a = r->job.call->arena;
	struct err *e = r->job.call->err;
	char text[STAMP_MAX];
	time_t s;
	struct tm tm;
	int i;

	if (os_make_dirs(dir, 0777, true, e) == -1)
		return -1;
	for (i = 0; i < STAMP_TRIES; i++, ms++) {
		s = (time_t)(ms / 1000);
		if (gmtime_r(&s, &tm) == NULL)
			break;
		strftime(text, sizeof(text), "%Y-%m-%dT%H%M%S", &tm);
		r->stamp_dir = arena_fmt(a, "%s.%03d", spec_join(a, dir,
		    str_of(text)), (int)(ms % 1000)).p;
		if (mkdir(r->stamp_dir, 0777) == 0)
			return 0;
		if (errno != EEXIST)
			break;
	}
	return err_sys(e, r->stamp_dir != NULL ? r->stamp_dir : dir);
}

bool
cmd_run_resumes(const struct cmd_run *r)
{
	return r->opt.reuse.resume || r->opt.reuse.retry_errors ||
	    r->opt.reuse.rerun_failed;
}

/* `paths.results` of the project, if it is set. */
static const char *
default_dir(struct cmd_run *r)
{
	struct spec_notes notes = { .arena = r->job.call->arena };
	struct config_sources from = {
		.path = r->opt.execution.config_path,
		.json = r->opt.execution.config_json,
		.dir = r->job.suite->dir, .token = r->job.call->token,
		.trust = r->opt.execution.trust };
	const struct config *c = config_load(notes.arena, &from, &notes);

	return c != NULL && c->paths.results.n > 0 ? c->paths.results.p :
	    NULL;
}

int
cmd_run_files_open(struct cmd_run *r)
{
	const char *dir = r->opt.output.output_dir;

	if (r->job.on_server || r->opt.output.no_results ||
	    r->opt.job.output != NULL)
		return 0;
	if (dir == NULL)
		dir = default_dir(r);
	if (dir == NULL)
		return cmd_run_history_open(r);
	if (cmd_run_resumes(r)) {
		r->stamp_dir = newest(r, dir, r->opt.reuse.resume);
		if (r->stamp_dir == NULL && !r->job.opt->quiet)
			cmd_say("waza: nothing to resume in %s: a new run "
			    "starts\n", dir);
	}
	if (r->stamp_dir == NULL) {
		if (make_stamp(r, dir) == -1)
			return -1;
		r->made_stamp = true;
	}
	return write_file(r, spec_join(r->job.call->arena, r->stamp_dir,
	    STR(STATE)), state(r, false));
}

/*
 * The files of one unit.
 */
struct str
cmd_unit_model(const struct cmd_unit *u)
{
	return u->cell->model.n > 0 ? u->cell->model :
	    u->cell->spec->config.model;
}

static const char *
stamp_output(struct cmd_run *r, const struct cmd_unit *u)
{
	struct arena *a = r->job.call->arena;
	const char *dir = r->stamp_dir;
	struct str model = u->cell->file != NULL ? str_of(u->cell->file) :
	    cmd_unit_model(u);
	const char *path;

	if (r->job.many)
		dir = spec_join(a, dir, str_of(u->suite->file));
	path = arena_fmt(a, "%s/%s.json", dir, model.n > 0 ?
	    file_name(a, model) : "results").p;
	return os_make_dirs(path, 0777, false, r->job.call->err) == -1 ?
	    NULL : path;
}

const char *
cmd_run_unit_path(const struct cmd_run *r, const struct cmd_unit *u,
    const char *output)
{
	struct arena *a = r->job.call->arena;

	if (output != NULL && r->job.many)
		output = cmd_model_path(a, output, u->suite->file);
	if (output != NULL && u->cell->file != NULL)
		output = cmd_model_path(a, output, u->cell->file);
	return output;
}

int
cmd_run_files_unit(struct cmd_run *r, struct cmd_unit *u)
{
	struct arena *a = r->job.call->arena;
	struct run_opts *o = &u->opts;
	const char *file = u->suite->file;

	*o = u->suite->run;
	o->hub = r->run.hub;
	o->failures = &r->failures;
	o->output = cmd_run_unit_path(r, u, r->opt.job.output);
	o->model = u->cell->model;
	if (u->cell->executor.n > 0 && o->replay == NULL)
		o->executor = u->cell->executor;
	o->no_skills |= u->cell->no_skills;
	o->has_baseline = u->baseline;
	o->cell = u->cell->json;
	o->cell_name = u->cell->label;
	if (r->job.many) {
		o->share = &r->share;
		o->record = cmd_model_dir(a, o->record, file, true);
		o->replay = cmd_model_dir(a, o->replay, file, false);
	}
	if (u->cell->file != NULL) {
		o->record = cmd_model_dir(a, o->record, u->cell->file, true);
		o->replay = cmd_model_dir(a, o->replay, u->cell->file, false);
	}
	if (r->stamp_dir != NULL) {
		o->output = stamp_output(r, u);
		return o->output == NULL ? -1 : 0;
	}
	if (o->output == NULL)
		cmd_run_history_unit(r, u);
	return 0;
}

/*
 * The end.
 */

struct result_run *
cmd_unit_results(const struct cmd_unit *u)
{
	return u->merged != NULL ? u->merged : u->with != NULL ?
	    run_results(u->with) : NULL;
}

struct result_run *
cmd_unit_whole(const struct cmd_unit *u)
{
	return u->whole != NULL ? u->whole : cmd_unit_results(u);
}

/* The results of all suites, for the table and the summary. */
struct report_suites
cmd_run_results(const struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;
	struct report_suite *v = NEW_N(a, struct report_suite, r->nsuites);
	struct report_suites out = { .v = v, .n = r->nsuites,
		.skipped = r->skipped, .ended_ns = os_wall_ns(),
		.duration_ms = os_now_ms() - r->started_ms, .complete = true };
	const struct cmd_unit *u;
	size_t i, k, n;

	for (i = 0; i < r->nsuites; i++) {
		n = r->suites[i].ncells;
		v[i] = (struct report_suite){ .name = r->suites[i].name,
			.skill = r->suites[i].spec->skill,
			.path = r->suites[i].path, .n = n,
			.matrix = r->suites[i].matrix };
		v[i].runs = NEW_N(a, struct result_run *, n);
		v[i].models = NEW_N(a, const char *, n);
		v[i].cells = NEW_N(a, struct str, n);
		v[i].files = NEW_N(a, const char *, n);
		for (k = 0; k < n; k++) {
			u = &r->units[r->suites[i].unit + k];
			v[i].runs[k] = cmd_unit_results(u);
			v[i].models[k] = arena_str(a, cmd_unit_model(u)).p;
			v[i].cells[k] = u->cell->label;
			v[i].files[k] = v[i].runs[k] != NULL ?
			    u->opts.output : NULL;
			v[i].planned |= u->state != CMD_UNIT_ENDED;
			v[i].failed |= u->status != CMD_OK;
			out.complete = out.complete && v[i].runs[k] != NULL &&
			    u->status == CMD_OK && v[i].runs[k]->complete;
		}
	}
	return out;
}

/* NULL: it is not written. */
static const char *
summary_path(const struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;

	if (r->nunits < 2 || r->opt.output.no_summary)
		return NULL;
	if (r->stamp_dir != NULL)
		return spec_join(a, r->stamp_dir, STR("summary.json"));
	return r->opt.job.output == NULL ? NULL : cmd_model_path(a,
	    r->opt.job.output, "summary");
}

static int
write_summary(struct cmd_run *r, const struct report_suites *all)
{
	const char *path = summary_path(r);
	struct buf b = { 0 };
	int rc;

	if (path == NULL)
		return 0;
	report_suites_json(&b, all);
	rc = write_file(r, path, buf_str(&b));
	buf_free(&b);
	return rc;
}

/* The reports of one suite beside its results. */
static int
write_reports(struct cmd_run *r, const struct cmd_unit *u)
{
	const struct opt_list *l = &r->opt.job.reporters;
	struct result_run *run = cmd_unit_results(u);
	struct report_opts o = { 0 };
	const char *path, *slash;
	struct arena *a = r->job.call->arena;
	size_t i;

	for (i = 0; i < l->n; i++) {
		path = strchr(l->v[i], ':');
		if (path == NULL || strcmp(path, ":-") == 0)
			continue;
		slash = strrchr(path, '/');
		slash = slash != NULL ? slash + 1 : path + 1;
		if (report_write(arena_fmt(a, "%.*s:%s/%s",
		    (int)(path - l->v[i]), l->v[i], spec_dir_of(a,
		    u->opts.output), slash).p, &run, 1, &o,
		    r->job.call->err) == -1)
			return -1;
	}
	return 0;
}

void
cmd_run_compare(struct cmd_run *r)
{
	struct report_suites all = cmd_run_results(r);
	struct arena *a = r->job.call->arena;
	struct result_run *run, *whole;
	struct buf b = { 0 };
	struct str json;
	size_t i, k;

	for (i = 0; i < all.n; i++) {
		r->suites[i].matrix = matrix_of(a, all.v[i].runs, all.v[i].n);
		if (r->suites[i].matrix == NULL)
			continue;
		matrix_json(&b, r->suites[i].matrix, false);
		json = arena_take(a, &b);
		for (k = 0; k < all.v[i].n; k++) {
			run = all.v[i].runs[k];
			whole = cmd_unit_whole(&r->units[r->suites[i].unit +
			    k]);
			if (run != NULL)
				run->matrix = whole->matrix = json;
		}
	}
	if (!r->job.many && r->nsuites > 0) {
		r->job.matrix = r->suites[0].matrix;
		r->job.summary = summary_path(r);
	}
}

/* Adds the comparisons of all cells to the results files. */
static int
write_again(struct cmd_run *r)
{
	const struct cmd_unit *u;
	struct result_run *whole;
	int rc = 0;
	size_t i;

	for (i = 0; i < r->nunits; i++) {
		u = &r->units[i];
		whole = cmd_unit_whole(u);
		if (whole != NULL && whole->complete && !whole->unwritten &&
		    u->opts.output != NULL && whole->matrix.n > 0 &&
		    result_write(whole, u->opts.output, r->job.call->err) ==
		    -1)
			rc = -1;
	}
	return rc;
}

/* Recommends a cell of each suite. */
static int
recommend(struct cmd_run *r, const struct report_suites *all)
{
	struct cmd_job *j = &r->job;
	const struct report_suite *s;
	struct buf b = { 0 };
	struct str json;
	size_t i, k;
	int rc = 0;

	if (!all->complete)
		cmd_say("waza: nothing is recommended: not everything has "
		    "run\n");
	for (i = 0; i < all->n && all->complete; i++) {
		s = &all->v[i];
		if (j->many)
			buf_fmt(&b, "%.*s: ", STRF(s->name));
		json = report_recommend(j->call->arena, s->runs, s->n, &b);
		for (k = 0; k < s->n; k++)
			cmd_unit_whole(&r->units[r->suites[i].unit +
			    k])->recommendation = json;
	}
	if (j->owns_stdout == NULL) {
		j->call->form = GUARD_TEXT;
		if (cmd_finish(j->call, &b, CMD_OK) != CMD_OK)
			rc = -1;
	}
	buf_free(&b);
	return rc;
}

static bool
has_started(const struct cmd_run *r)
{
	size_t i;

	for (i = 0; i < r->nunits; i++)
		if (cmd_unit_results(&r->units[i]) != NULL)
			return true;
	return false;
}

/* Removes the new STAMP of a run that did not start: nothing to resume. */
static void
remove_stamp(struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;
	size_t i;

	if (!r->made_stamp)
		return;
	for (i = 0; r->job.many && i < r->nunits; i++)
		if (r->units[i].opts.output != NULL)
			(void)rmdir(spec_dir_of(a, r->units[i].opts.output));
	(void)unlink(spec_join(a, r->stamp_dir, STR(STATE)));
	(void)rmdir(r->stamp_dir);
}

/* The results in a place that the call did not name. */
const char *
cmd_run_where(const struct cmd_run *r)
{
	const struct cmd_unit *u = r->units;

	if (r->stamp_dir != NULL || r->history == NULL)
		return r->stamp_dir;
	if (r->nunits > 1)
		return r->history;
	return u->opts.output != NULL && spec_exists(u->opts.output) ?
	    u->opts.output : NULL;
}

int
cmd_run_files_close(struct cmd_run *r)
{
	struct report_suites all = cmd_run_results(r);
	struct cmd_job *j = &r->job;
	int status = CMD_OK;
	size_t i;

	if (r->stamp_dir != NULL && !has_started(r)) {
		remove_stamp(r);
		return status;
	}
	if (r->opt.output.recommend && recommend(r, &all) == -1)
		status = cmd_job_fail(j, "results_failed");
	if (write_again(r) == -1)
		status = cmd_job_fail(j, "results_failed");
	if (r->opt.output.suggest && !cmd_run_interrupted(r) &&
	    cmd_run_suggest(r, &all) == -1)
		status = cmd_job_fail(j, "results_failed");
	if (write_summary(r, &all) == -1)
		status = cmd_job_fail(j, "results_failed");
	if (r->history != NULL)
		cmd_run_history_close(r);
	if (r->stamp_dir == NULL)
		return status;
	for (i = 0; j->many && i < r->nunits; i++)
		if (cmd_unit_results(&r->units[i]) != NULL &&
		    write_reports(r, &r->units[i]) == -1)
			status = cmd_job_fail(j, "report_failed");
	if (all.complete && status == CMD_OK &&
	    write_file(r, spec_join(j->call->arena, r->stamp_dir, STR(STATE)),
	    state(r, true)) == -1)
		status = cmd_job_fail(j, "results_failed");
	return status;
}
