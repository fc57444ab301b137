/* SPDX-License-Identifier: ISC */
/*
 * The console during a run.
 *
 * Time is taken from the events, so that tests need no clock.  The progress
 * line is the last line on the screen or not shown at all (`shown`): before
 * anything else is printed it is erased, and the next event or tick redraws it.
 */
#include "report/report_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_term.h"

enum {
	REDRAW_MS = 100,
	SHORT = 200		/* columns of a prompt or an answer with -v */
};

/* The C locale is in effect, so read the variables that would set it. */
static bool
locale_is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *v = NULL;
	size_t i;

	for (i = 0; i < COUNTOF(names) && (v == NULL || *v == '\0'); i++)
		v = getenv(names[i]);
	if (v == NULL)
		return false;
	return strstr(v, "UTF-8") != NULL || strstr(v, "utf8") != NULL ||
	    strstr(v, "UTF8") != NULL || strstr(v, "utf-8") != NULL;
}

void
report_env(struct report_opts *o, int fd)
{
	const char *none = getenv("NO_COLOR"), *term = getenv("TERM");
	const char *cols = getenv("COLUMNS");
	long n = cols != NULL ? strtol(cols, NULL, 10) : 0;

	o->ascii = !locale_is_utf8();
	o->dumb = term == NULL || *term == '\0' || strcmp(term, "dumb") == 0;
	o->color = false;
	o->width = 0;
	o->wrap = isatty(fd) == 1;
	if (!o->wrap)
		return;
	o->color = (none == NULL || *none == '\0') && !o->dumb;
	if (cols == NULL)
		n = (long)os_columns(fd);
	if (n >= 20 && n <= 1000)
		o->width = (unsigned)n;
}

static size_t
width_of(const struct report_console *c)
{
	return c->opts.width > 0 ? c->opts.width : 80;
}

static void
flush(struct report_console *c)
{
	struct err e = { 0 };

	guard_output(&c->out, 0, GUARD_TEXT);
	if (c->out.n > 0)	/* the run continues without its terminal */
		os_write_all(c->fd, buf_str(&c->out), &e);
	c->out.n = 0;
}

/* Erases the progress line, if it is on the screen. */
static void
erase(struct report_console *c)
{
	if (c->shown)
		buf_puts(&c->out, "\r\033[K");
	c->shown = false;
}

/* The names of up to three running trials, and how many more there are. */
static void
put_running(struct report_console *c, struct buf *b)
{
	int64_t named = 0;
	size_t i;

	for (i = 0; i < REPORT_RUNNING && named < 3; i++) {
		if (c->running[i].trial == 0)
			continue;
		buf_puts(b, named++ == 0 ? " | " : ", ");
		buf_puts(b, c->running[i].name);
	}
	if (c->active > named && named > 0)
		buf_fmt(b, " +%lld", (long long)(c->active - named));
}

/* Assumes that the remaining trials take as long as those so far. */
static void
draw(struct report_console *c, int64_t now)
{
	int64_t all = c->tasks * (c->trials > 0 ? c->trials : 1);
	int64_t spent = now - c->began_ms;
	struct buf b = { 0 };

	buf_fmt(&b, "%lld/%lld %lld passed", (long long)c->done,
	    (long long)c->tasks, (long long)c->passed);
	if (c->failed > 0)
		buf_fmt(&b, ", %lld failed", (long long)c->failed);
	if (c->errors > 0)
		buf_fmt(&b, ", %lld error%s", (long long)c->errors,
		    c->errors == 1 ? "" : "s");
	if (c->done > 0)
		buf_fmt(&b, ", %.1f%%",
		    report_rate((double)c->passed / (double)c->done));
	buf_puts(&b, ", ");
	report_took(&b, spent > 0 ? spent : 0, 0);
	if (c->trials_done > 0 && c->trials_done < all && spent > 0) {
		double each = (double)spent / (double)c->trials_done;

		buf_puts(&b, ", left ");
		report_took(&b, (int64_t)(each * (double)(all -
		    c->trials_done)), 0);
	}
	if (c->triggers > 0)
		buf_fmt(&b, " | trigger tests %lld/%lld",
		    (long long)c->triggers_done, (long long)c->triggers);
	put_running(c, &b);
	erase(c);
	/* With wrapping off, a narrower screen truncates the line. */
	buf_puts(&c->out, "\033[?7l");
	report_line(&c->out, buf_str(&b), width_of(c) - 1, c->opts.ascii);
	buf_puts(&c->out, "\033[?7h");
	c->shown = true;
	c->drawn_ms = now;
	buf_free(&b);
	flush(c);
}

void
report_console_tick(struct report_console *c, int64_t now)
{
	/* Limit redraws; a clock that went back must not stop them. */
	if (c->live && c->level != REPORT_QUIET && c->tasks > 0 &&
	    (!c->shown || now - c->drawn_ms >= REDRAW_MS ||
	    now < c->drawn_ms))
		draw(c, now);
}

void
report_console_clear(struct report_console *c)
{
	erase(c);
	flush(c);
}

/* Remembers a running trial; beyond REPORT_RUNNING they are only counted. */
static void
add_running(struct report_console *c, const struct event *e)
{
	struct buf b = { 0 };
	size_t i;

	c->active++;
	for (i = 0; i < REPORT_RUNNING; i++)
		if (c->running[i].trial == 0) {
			c->running[i].run = e->source.run;
			c->running[i].idx = e->idx;
			c->running[i].trial = e->trial > 0 ? e->trial : 1;
			report_line(&b, e->task, 24, true);
			snprintf(c->running[i].name,
			    sizeof(c->running[i].name), "%.*s",
			    STRF(buf_str(&b)));
			break;
		}
	buf_free(&b);
}

static void
remove_running(struct report_console *c, const struct event *e)
{
	size_t i;

	if (c->active > 0)
		c->active--;
	c->trials_done++;
	for (i = 0; i < REPORT_RUNNING; i++)
		if (c->running[i].idx == e->idx && c->running[i].trial != 0 &&
		    c->running[i].run == e->source.run &&
		    c->running[i].trial == (e->trial > 0 ? e->trial : 1)) {
			c->running[i].trial = 0;
			break;
		}
}

/* Any error has the same mark; its class is printed beside it. */
static enum result_status
status_of(const struct event *e)
{
	if (str_is(e->status, "passed"))
		return RESULT_PASSED;
	if (str_is(e->status, "skipped"))
		return RESULT_SKIPPED;
	return str_is(e->status, "failed") ? RESULT_FAILED :
	    RESULT_AGENT_ERROR;
}

static void
put_error_of(struct report_console *c, const struct event *e)
{
	report_part(&c->out, "  ", e->error_class, 20, c->opts.ascii, "");
	if (e->error.n > 0)
		buf_puts(&c->out, ": ");
	report_reason_line(&c->out, e->error, c->opts.ascii);
}

/* Score, duration and error. */
static void
put_result(struct report_console *c, const struct event *e)
{
	if (status_of(e) == RESULT_SKIPPED)
		buf_puts(&c->out, "  skipped  ");
	else
		buf_fmt(&c->out, "  %.2f  ", e->score);
	report_took(&c->out, e->took_ms, 0);
	put_error_of(c, e);
	buf_putc(&c->out, '\n');
}

static void
put_short(struct report_console *c, const char *what, struct str s)
{
	size_t cols = width_of(c) > SHORT ? SHORT : width_of(c) - 1;

	report_part(&c->out, what, s, cols > 20 ? cols - 14 : 10,
	    c->opts.ascii, "\n");
}

/* With -v, for a local run: prompt, answer and verdicts of a trial. */
static void
put_verdicts(struct report_console *c, const struct event *e)
{
	struct arena a = { 0 };
	struct report_detail d;
	size_t i;

	if (e->source.run == NULL || e->source.task == NULL ||
	    e->source.trial == NULL)
		return;
	report_detail(&a, &c->opts, e->source.run, e->source.task,
	    e->source.trial, &d);
	put_short(c, "      prompt ", d.prompt);
	put_short(c, "      answer ", d.output);
	for (i = 0; i < d.n; i++) {
		buf_puts(&c->out, "      ");
		report_mark(&c->out, d.v[i].status, &c->opts);
		report_line(&c->out, d.v[i].name, 40, c->opts.ascii);
		buf_fmt(&c->out, " %.2f ", d.v[i].score);
		report_reason_line(&c->out, d.v[i].feedback, c->opts.ascii);
		buf_putc(&c->out, '\n');
	}
	arena_free(&a);
}

static void
put_trial(struct report_console *c, const struct event *e)
{
	erase(c);
	buf_puts(&c->out, "    ");
	report_mark(&c->out, status_of(e), &c->opts);
	report_line(&c->out, e->task, width_of(c) / 2, c->opts.ascii);
	buf_fmt(&c->out, " trial %lld", (long long)e->trial);
	if (c->trials > 0)
		buf_fmt(&c->out, "/%lld", (long long)c->trials);
	if (e->attempt > 1)
		buf_fmt(&c->out, " attempt %lld", (long long)e->attempt);
	put_result(c, e);
	put_verdicts(c, e);
}

/* The suite, if there are many. */
static void
put_suite(struct report_console *c, const struct event *e)
{
	if (c->all_tasks > 0 && e->source.run != NULL) {
		report_line(&c->out, e->source.run->suite->name,
		    width_of(c) / 4, c->opts.ascii);
		buf_puts(&c->out, ": ");
	}
}

static void
put_task(struct report_console *c, const struct event *e)
{
	erase(c);
	buf_fmt(&c->out, "[%lld/%lld] ", (long long)c->done,
	    (long long)c->tasks);
	report_mark(&c->out, status_of(e), &c->opts);
	put_suite(c, e);
	report_line(&c->out, e->name.n > 0 ? e->name : e->task,
	    width_of(c) / 2, c->opts.ascii);
	put_result(c, e);
}

static void
put_trigger(struct report_console *c, const struct event *e)
{
	erase(c);
	buf_puts(&c->out, "[trigger");
	if (c->triggers > 0)
		buf_fmt(&c->out, " %lld/%lld", (long long)c->triggers_done,
		    (long long)c->triggers);
	buf_puts(&c->out, "] ");
	report_mark(&c->out, status_of(e), &c->opts);
	put_suite(c, e);
	report_line(&c->out, e->prompt, width_of(c) / 2, c->opts.ascii);
	buf_puts(&c->out, e->should_trigger ? "  should" : "  should not");
	if (status_of(e) == RESULT_SKIPPED)
		buf_puts(&c->out, ", skipped");
	else if (e->error_class.n == 0)
		buf_puts(&c->out, e->did_trigger ? ", did" : ", did not");
	put_error_of(c, e);
	buf_putc(&c->out, '\n');
}

static void
put_error(struct report_console *c, const struct event *e)
{
	erase(c);
	report_line(&c->out, e->problem.file.n > 0 ? e->problem.file :
	    STR("waza"), 0, c->opts.ascii);
	if (e->problem.file.n > 0 && e->problem.line > 0)
		buf_fmt(&c->out, ":%lld:%lld", (long long)e->problem.line,
		    (long long)e->problem.col);
	buf_puts(&c->out, ": ");
	report_line(&c->out, e->problem.message, 0, c->opts.ascii);
	buf_putc(&c->out, '\n');
}

static void
count_task(struct report_console *c, const struct event *e)
{
	enum result_status st = status_of(e);

	c->done++;
	c->passed += st == RESULT_PASSED;
	c->failed += st == RESULT_FAILED;
	c->errors += result_is_error(st);
}

/*
 * Tasks are printed as lines with -v, and where the progress line cannot be
 * shown.  Of trigger tests, those that passed are printed with -v only.
 */
static void
on_event(void *arg, const struct event *e)
{
	struct report_console *c = arg;
	bool lines = c->level == REPORT_VERBOSE ||
	    (c->level == REPORT_NORMAL && !c->live);

	switch (e->type) {
	case EVENT_EVAL_START:	/* each pass counts from zero */
		if (c->began_ms != 0 && c->all_tasks > 0)
			break;
		c->tasks = c->all_tasks > 0 ? c->all_tasks : e->tasks;
		c->trials = e->trials;
		c->done = c->passed = c->failed = c->errors = 0;
		c->trials_done = c->active = 0;
		c->triggers = c->triggers_done = 0;
		memset(c->running, 0, sizeof(c->running));
		c->began_ms = e->time_ms;
		break;
	case EVENT_TRIAL_START:
		add_running(c, e);
		break;
	case EVENT_TRIAL_COMPLETE:
		remove_running(c, e);
		if (c->level == REPORT_VERBOSE)
			put_trial(c, e);
		break;
	case EVENT_TASK_COMPLETE:
		count_task(c, e);
		if (lines)
			put_task(c, e);
		break;
	case EVENT_TRIGGER_COMPLETE:
		if (c->all_tasks == 0) {	/* of one suite */
			c->triggers = e->total;
			c->triggers_done++;
		}
		if (c->level == REPORT_VERBOSE ||
		    (lines && status_of(e) != RESULT_PASSED))
			put_trigger(c, e);
		break;
	case EVENT_EVAL_COMPLETE:
		report_console_clear(c);
		return;
	case EVENT_ERROR:
		put_error(c, e);
		break;
	case EVENT_TASK_START:
	case EVENT_TASK_PROGRESS:
	case EVENT__MAX:
		break;
	}
	flush(c);
	report_console_tick(c, e->time_ms);
}

void
report_console_start(struct report_console *c, struct event_bus *bus)
{
	c->live = c->live && !c->opts.dumb;
	c->sink = (struct event_sink){ .fn = on_event, .arg = c };
	event_listen(bus, &c->sink);
}

void
report_console_end(struct report_console *c)
{
	report_console_clear(c);
	buf_free(&c->out);
}
