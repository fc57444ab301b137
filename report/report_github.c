/* SPDX-License-Identifier: ISC */
/*
 * GitHub workflow commands: an annotation at the grader that failed, or at its
 * task.  A command is one line of the job's output, so line breaks, and % which
 * could encode one, are written as %0A and %25.
 */
#include "report/report_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "base/os.h"

enum {
	MESSAGE_MAX = REPORT_REASON,
	SUMMARY_MAX = 1000 << 10	/* GitHub accepts 1 MiB per step */
};

void
report_annotation(struct buf *b, struct str s, bool property)
{
	struct buf clean = { 0 };
	size_t i;

	report_clean(&clean, s);
	for (i = 0; i < clean.n; i++) {
		char c = clean.p[i];

		if (c == '%' || c == '\n' || c == '\r' ||
		    (property && (c == ':' || c == ',')))
			buf_fmt(b, "%%%02X", (unsigned)c);
		else
			buf_putc(b, c);
	}
	buf_free(&clean);
}

static void
put_command(struct report_out *o, const char *level, struct spec_where at,
    struct str title)
{
	const char *file = at.file;

	while (file != NULL && strncmp(file, "./", 2) == 0)
		file += 2;
	buf_fmt(&o->b, "::%s ", level);
	if (file != NULL) {
		buf_puts(&o->b, "file=");
		report_annotation(&o->b, str_of(file), true);
		buf_putc(&o->b, ',');
		if (at.line > 0)
			buf_fmt(&o->b, "line=%u,", at.line);
		if (at.col > 0)
			buf_fmt(&o->b, "col=%u,", at.col);
	}
	buf_puts(&o->b, "title=");
	report_annotation(&o->b, title, true);
	buf_puts(&o->b, "::");
}

static void
put_failed(struct report_out *o, const struct result_run *run,
    const struct result_task *k)
{
	struct spec_where at = k->spec->at;
	struct report_detail d;
	struct buf msg = { 0 };
	bool found = false;
	size_t i;

	report_detail(&o->arena, o->opts, run, k, report_trial(k), &d);
	for (i = 0; i < d.n; i++) {
		if (d.v[i].status != RESULT_FAILED)
			continue;
		if (!found)
			at = d.v[i].at;
		found = true;
		buf_put(&msg, d.v[i].name);
		buf_puts(&msg, ": ");
		buf_put(&msg, d.v[i].feedback);
		buf_putc(&msg, '\n');
	}
	buf_put(&msg, d.error.n > 0 ? d.error : k->more->error);
	while (msg.n > 0 && msg.p[msg.n - 1] == '\n')
		msg.n--;
	if (msg.n == 0)
		buf_puts(&msg, report_status(k->status));
	put_command(o, k->spec->def->quarantined ? "warning" : "error", at,
	    arena_fmt(&o->arena, "%.*s: %s",
	    (int)(k->spec->name.n < 200 ? k->spec->name.n : 200),
	    k->spec->name.p, report_status(k->status)));
	report_annotation(&o->b, utf8_cut(buf_str(&msg), MESSAGE_MAX), false);
	buf_putc(&o->b, '\n');
	buf_free(&msg);
}

static void
put_flaky(struct report_out *o, const struct result_task *k)
{
	put_command(o, "warning", k->spec->at, STR("flaky"));
	report_annotation(&o->b, k->spec->name, false);
	buf_fmt(&o->b, " passed %zu of %u trials\n", report_passes(k),
	    k->ntrials);
}

/* They are errors only if they make the run fail. */
static void
put_triggers(struct report_out *o, const struct result_run *run)
{
	bool missed = report_triggers_missed(run);
	struct report_trigger t;
	size_t i;

	for (i = 0; i < run->triggers.n; i++) {
		if (report_trigger(&o->arena, run, i, &t) &&
		    t.status > RESULT_PASSED) {
			put_command(o, missed ? "error" : "warning",
			    t.spec->task.at, str_of(t.words));
			report_annotation(&o->b, t.error.n > 0 ? t.error :
			    t.spec->task.prompt, false);
			buf_putc(&o->b, '\n');
		}
		report_flush(o);
	}
}

static void
put_run(struct report_out *o, const struct result_run *run, bool base)
{
	bool broken;
	const char *end = report_end(run, &broken);
	size_t i;

	if (broken) {
		put_command(o, "error", (struct spec_where){ run->suite->path,
		    0, 0 }, STR("incomplete"));
		report_annotation(&o->b, str_of(end), false);
		buf_putc(&o->b, '\n');
	}
	for (i = 0; !base && i < run->ntasks; i++) {
		const struct result_task *k = &run->tasks[i];

		if (k->status > RESULT_PASSED)
			put_failed(o, run, k);
		else if (k->status == RESULT_PASSED && k->stats->flaky)
			put_flaky(o, k);
		report_flush(o);
	}
	put_triggers(o, run);
}

const struct report_kind report_github = {
	.name = "github", .form = GUARD_GITHUB, .flags = REPORT_STDOUT,
	.run = put_run
};

int
report_summary(struct result_run *const *runs, size_t n,
    const struct report_opts *opts, struct err *e)
{
	const char *path = getenv("GITHUB_STEP_SUMMARY");
	struct report_out o = {
		.opts = opts, .runs = runs, .nruns = n, .room = SUMMARY_MAX
	};

	if (path == NULL || *path == '\0')
		return 0;
	o.fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	if (o.fd == -1)
		return err_sys(e, path);
	if (report_render(&o, &report_markdown) == -1)
		*e = o.err;
	os_close(&o.fd);
	buf_free(&o.b);
	return o.err.code == ERR_NONE ? 0 : -1;
}
