/* SPDX-License-Identifier: ISC */
/*
 * The reports of `waza run` and `waza grade`: the one for people on stdout,
 * with the places of all files and the command that continues an interrupted
 * run, and those of --reporter.
 */
#include "cmd/job.h"

#include <string.h>
#include <unistd.h>

#include "report/matrix/matrix.h"
#include "results/result.h"

enum { PLACES_MAX = 40 };

/* The files that the last line of a report names. */
struct places {
	struct report_path v[PLACES_MAX];
	size_t n;
};

static void
add_place(struct places *p, const char *what, const char *path)
{
	if (path != NULL && p->n < PLACES_MAX)
		p->v[p->n++] = (struct report_path){ what, path };
}

/* The journal is of use as long as it has what the results file lacks. */
static void
add_results(struct places *p, const struct result_run *r, const char *output)
{
	const char *journal = r->journal.path;

	if (r->unwritten)
		output = NULL;
	add_place(p, "results", output);
	if (journal != NULL && (output == NULL || !r->complete) &&
	    access(journal, F_OK) == 0)
		add_place(p, "journal", journal);
}

static void
add_reports(struct places *p, const struct cmd_job *j)
{
	const struct opt_list *l = &j->opt->reporters;
	const char *path;
	size_t i;

	for (i = 0; i < l->n; i++) {
		path = strchr(l->v[i], ':');
		if (path != NULL && strcmp(path, ":-") != 0)
			add_place(p, "report", path + 1);
	}
}

/*
 * The command that continues.
 */

/* A word for a shell; with control characters in the form $'...'. */
static const char *
quote(struct arena *a, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";
	struct buf b = { 0 };
	bool control = false;
	const char *p;

	if (*word != '\0' && word[strspn(word, safe)] == '\0')
		return word;
	for (p = word; *p != '\0'; p++)
		control |= (unsigned char)*p < ' ' || *p == 0x7F;
	buf_puts(&b, control ? "$'" : "'");
	for (p = word; *p != '\0'; p++)
		if (control && ((unsigned char)*p < ' ' || *p == 0x7F))
			buf_fmt(&b, "\\%03o", (unsigned)*p);
		else if (control && (*p == '\'' || *p == '\\'))
			buf_fmt(&b, "\\%c", *p);
		else if (*p == '\'')
			buf_puts(&b, "'\\''");
		else
			buf_putc(&b, *p);
	buf_putc(&b, '\'');
	return arena_take(a, &b).p;
}

/* Whether there is something left that a journal helps to continue. */
static bool
can_resume(const struct cmd_job *j)
{
	bool left = j->signals.signo != 0;
	size_t i;

	if (j->on_server || !j->resumable)
		return false;
	for (i = 0; i < j->nresults; i++) {
		left |= result_interrupted(j->results[i]);
		if (j->results[i]->journal.path == NULL ||
		    access(j->results[i]->journal.path, F_OK) == -1)
			return false;
	}
	return left;
}

/* The words of this call, with --resume if the command has it. */
static const char *const *
words_again(const struct cmd_job *j)
{
	const char *const *words = j->call->words;
	struct arena *a = j->call->arena;
	size_t i, n = 0;
	const char **v;

	while (words[n] != NULL)
		n++;
	v = NEW_N(a, const char *, n + 2);
	for (i = n = 0; words[i] != NULL; i++) {
		v[n++] = quote(a, words[i]);
		if (i == 1 && j->resumable && !j->resumes)
			v[n++] = "--resume";
	}
	return v;
}

struct str
cmd_job_again(const struct cmd_job *j)
{
	const char *const *words = words_again(j);
	struct buf b = { 0 };

	for (; *words != NULL; words++)
		buf_fmt(&b, "%s%s", b.n > 0 ? " " : "", *words);
	return arena_take(j->call->arena, &b);
}

/* NULL: it cannot be continued. */
static const char *const *
resume_words(const struct cmd_job *j)
{
	return can_resume(j) ? words_again(j) : NULL;
}

/* A budget that could not be kept is an error: a larger one does not help. */
static bool
is_broke(const struct cmd_job *j)
{
	size_t i;

	for (i = 0; i < j->nresults; i++)
		if (result_is_skipped(j->results[i]) && !j->results[i]->aborted)
			return true;
	return false;
}

static void
add_resume(const struct cmd_job *j, struct report_opts *o)
{
	o->resume = resume_words(j);
	o->larger = is_broke(j);
}

/*
 * The report on stdout.
 */
static const char *
verdict_of(const struct cmd_job *j)
{
	size_t i;

	if (j->signals.signo != 0)
		return "INTERRUPTED";
	if (is_broke(j))
		return "OUT OF BUDGET";
	for (i = 0; i < j->nresults; i++)
		if (!result_only_answers(j->results[i]))
			return cmd_job_passed(j) ? "PASSED" : "FAILED";
	return "NOT GRADED";
}

/* The models of one suite, or a single run. */
static void
put_runs(struct cmd_job *j, struct buf *out, struct report_opts o)
{
	struct places p = { .n = 0 };
	bool one = j->nresults == 1 && (j->signals.signo == 0 ||
	    result_interrupted(j->results[0]));
	size_t i;

	o.places = p.v;
	for (i = 0; i < j->nresults; i++) {
		p.n = 0;
		add_results(&p, j->results[i], j->outputs[i]);
		if (one)
			add_reports(&p, j);
		o.nplaces = p.n;
		if (one)
			add_resume(j, &o);
		if (i > 0)
			buf_putc(out, '\n');
		report_text(out, j->results[i], &o);
	}
	if (one)
		return;
	if (j->matrix != NULL)
		matrix_text(out, j->matrix, &o);
	else if (j->nresults > 1)
		report_models(out, j->results, j->nresults, &o);
	p.n = 0;
	add_place(&p, "summary", j->summary);
	add_reports(&p, j);
	o.nplaces = p.n;
	add_resume(j, &o);
	report_verdict(out, verdict_of(j), STR(""), &o);
}

static void
put_suites(struct cmd_job *j, struct buf *out, struct report_opts o)
{
	struct places p = { .n = 0 };
	size_t i;

	for (i = 0; i < j->nresults && j->opt->verbose; i++) {
		report_text(out, j->results[i], &o);
		buf_putc(out, '\n');
	}
	add_place(&p, "results", j->summary);
	add_reports(&p, j);
	o.places = p.v;
	o.nplaces = p.n;
	add_resume(j, &o);
	j->print(j, out, &o);
}

/* For programs, stdout has no report: people get the command on stderr. */
static void
say_resume(const struct cmd_job *j)
{
	if (can_resume(j) && !j->opt->quiet && j->signals.signo != 0)
		cmd_say("waza: interrupted; resume with: %s\n",
		    cmd_job_again(j).p);
}

/* To stdout, unless an option or a reporter has it to itself. */
static int
print_report(struct cmd_job *j)
{
	struct report_opts o = cmd_job_report_opts(j, STDOUT_FILENO);
	struct buf out = { 0 };
	size_t i;

	for (i = 0; i < j->opt->reporters.n; i++)
		if (report_flags(j->opt->reporters.v[i]) & REPORT_ALONE)
			return CMD_OK;
	if (j->console.printed && o.wrap)
		buf_putc(&out, '\n');	/* below the lines of the console */
	if (j->many)
		put_suites(j, &out, o);
	else
		put_runs(j, &out, o);
	j->call->form = GUARD_TEXT;
	return cmd_finish(j->call, &out, CMD_OK);
}

/* A reporter that fails does not keep the others from writing. */
int
cmd_job_report(struct cmd_job *j)
{
	const struct opt_list *r = &j->opt->reporters;
	struct report_opts o = { 0 };
	int status = CMD_OK;
	size_t i;

	if (j->nresults == 0)
		return CMD_OK;
	if (j->owns_stdout != NULL)
		say_resume(j);
	else
		status = print_report(j);
	for (i = 0; i < r->n; i++)
		if (report_write(r->v[i], j->results, j->nresults, &o,
		    j->call->err) == -1)
			status = cmd_job_fail(j, "report_failed");
	return status;
}
