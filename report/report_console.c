/* SPDX-License-Identifier: ISC */
/*
 * The console during a run.
 *
 * Time is taken from the events, so that tests need no clock.  The progress
 * line is the last line on the screen or not shown at all (`shown`): before
 * anything else is printed it is erased, and the next event or tick redraws it.
 * It is drawn for the width that the terminal has at that moment.
 */
#include "report/report_internal.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/os.h"

enum {
	REDRAW_MS = 100,
	NAMES_MIN = 8, NAMED = 3	/* running trials: columns, names */
};

static size_t
width_of(const struct report_console *c)
{
	return c->opts.width > 0 ? c->opts.width : 80;
}

/* Columns of text on a terminal; 0, that is all of it, elsewhere. */
static size_t
limit(const struct report_console *c, size_t cols)
{
	return report_limit(&c->opts, cols);
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

/*
 * Erases the progress line, if it is on the screen.  The cursor is at its
 * start, where it also stays when a narrower screen wraps the line: then the
 * rows below are erased as well.
 */
static void
erase(struct report_console *c)
{
	unsigned cols = report_columns(c->fd), row;

	if (!c->shown)
		return;
	c->shown = false;
	buf_puts(&c->out, "\r\033[K");
	if (cols == 0 || cols >= c->drawn_cols)
		return;
	buf_puts(&c->out, "\0337");
	for (row = 0; row < (c->drawn_cols - 1) / cols; row++)
		buf_puts(&c->out, "\033[B\033[2K");
	buf_puts(&c->out, "\0338");
}

/* Before a line that stays. */
static void
begin_line(struct report_console *c)
{
	erase(c);
	c->printed = true;
}

/*
 * The progress line.
 */

/* The line so far, and its columns. */
struct live {
	struct buf b;
	size_t at, room;
	const struct report_opts *o;
};

/* Appends a part, unless it does not fit. */
static bool PRINTF(3, 4)
put_part(struct live *l, const char *sgr, const char *fmt, ...)
{
	char text[100];
	size_t cols;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	cols = report_cols(str_of(text), SIZE_MAX);
	if (l->at + cols > l->room)
		return false;
	if (sgr != NULL)
		report_color(&l->b, sgr, l->o);
	buf_puts(&l->b, text);
	if (sgr != NULL)
		report_plain(&l->b, l->o);
	l->at += cols;
	return true;
}

/* "12s", "2m03s" or "1h02m". */
static const char *
seconds(char *text, size_t size, int64_t ms)
{
	int64_t s = ms > 0 ? ms / 1000 : 0;

	if (s < 60)
		snprintf(text, size, "%ds", (int)s);
	else if (s < 3600)
		snprintf(text, size, "%dm%02ds", (int)(s / 60), (int)(s % 60));
	else
		snprintf(text, size, "%lldh%02dm", (long long)(s / 3600),
		    (int)(s / 60 % 60));
	return text;
}

/*
 * The time left, if the trials that were run take as long as those so far did;
 * -1: not known yet, as long as fewer have ended than run at a time.
 */
static int64_t
time_left(const struct report_console *c, int64_t spent)
{
	int64_t left = c->trials_all - c->trials_done;

	if (c->own == 0 || c->own < c->active || left <= 0 || spent <= 0)
		return -1;
	return (int64_t)((double)spent / (double)c->own * (double)left);
}

static void
put_numbers(struct report_console *c, struct live *l, int64_t spent)
{
	int64_t left = time_left(c, spent);
	char text[32];

	if (c->trials_all > c->tasks)
		put_part(l, NULL, "%lld/%lld trials",
		    (long long)c->trials_done, (long long)c->trials_all);
	else
		put_part(l, NULL, "%lld/%lld", (long long)c->done,
		    (long long)c->tasks);
	if (c->failed > 0)
		put_part(l, "31", "  %lld failed", (long long)c->failed);
	if (c->errors > 0)
		put_part(l, "33", "  %lld error%s", (long long)c->errors,
		    c->errors == 1 ? "" : "s");
	if (c->triggers > 0)
		put_part(l, NULL, "  trigger tests %lld/%lld",
		    (long long)c->triggers_done, (long long)c->triggers);
	if (put_part(l, NULL, "  %s", seconds(text, sizeof(text), spent)) &&
	    left >= 0)
		put_part(l, NULL, ", %s left", seconds(text, sizeof(text),
		    left + 999));
}

/* The bar is before the numbers, if they leave room.  Returns its columns. */
static size_t
put_bar(struct report_console *c, size_t room)
{
	bool ascii = c->opts.ascii;
	int64_t all = c->trials_all, done = c->trials_done;
	size_t width = width_of(c), full, i;
	size_t cols = width >= 100 ? 30 : width >= 70 ? 20 : 10;

	if (cols + 2 > room || all <= 0)
		return 0;
	full = done >= all ? cols : (size_t)((double)cols * (double)done /
	    (double)all);
	if (c->failed + c->errors == 0)
		report_color(&c->out, "32", &c->opts);
	for (i = 0; i < cols; i++)
		buf_puts(&c->out, i < full ? (ascii ? "#" : "█") :
		    ascii ? "-" : "░");
	report_plain(&c->out, &c->opts);
	buf_puts(&c->out, "  ");
	return cols + 2;
}

/* Whether an earlier running trial is of the same task. */
static bool
is_named(const struct report_console *c, size_t i)
{
	size_t k;

	for (k = 0; k < i; k++)
		if (c->running[k].trial != 0 &&
		    c->running[k].run == c->running[i].run &&
		    c->running[k].idx == c->running[i].idx)
			return true;
	return false;
}

/* The names of up to three running tasks, and how many more trials run. */
static void
put_running(struct report_console *c, size_t room)
{
	struct buf names = { 0 };
	char more[40] = "";
	int64_t named = 0, others = c->active;
	size_t i, w;

	for (i = 0; i < REPORT_RUNNING; i++) {
		if (c->running[i].trial == 0)
			continue;
		if (!is_named(c, i)) {
			if (named == NAMED)
				continue;
			buf_puts(&names, named++ == 0 ? "" : ", ");
			buf_puts(&names, c->running[i].name);
		}
		others--;
	}
	if (others > 0)
		snprintf(more, sizeof(more), " +%lld", (long long)others);
	w = strlen(more) + 2;
	if (named > 0 && room >= NAMES_MIN + w) {
		report_color(&c->out, "2", &c->opts);
		buf_puts(&c->out, "  ");
		report_line(&c->out, buf_str(&names), room - w,
		    c->opts.ascii);
		buf_puts(&c->out, more);
		report_plain(&c->out, &c->opts);
	}
	buf_free(&names);
}

static void
draw(struct report_console *c, int64_t now)
{
	int64_t spent = now > c->began_ms ? now - c->began_ms : 0;
	struct live l = { .o = &c->opts };
	size_t room;
	unsigned cols = report_columns(c->fd);

	if (cols > 0)
		c->opts.width = cols;
	l.room = width_of(c) - 1;
	put_numbers(c, &l, spent);
	room = l.room - l.at;
	erase(c);
	/* With wrapping off, a narrower screen truncates the line. */
	buf_puts(&c->out, "\033[?7l");
	room -= put_bar(c, room);
	buf_put(&c->out, buf_str(&l.b));
	put_running(c, room);
	buf_puts(&c->out, "\033[?7h\r");
	c->shown = true;
	c->drawn_ms = now;
	c->drawn_cols = cols;
	buf_free(&l.b);
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
			report_line(&b, e->name.n > 0 ? e->name : e->task, 24,
			    c->opts.ascii);
			snprintf(c->running[i].name,
			    sizeof(c->running[i].name), "%.*s",
			    STRF(utf8_cut(buf_str(&b),
			    sizeof(c->running[i].name) - 1)));
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
	c->own += !e->cached;
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

/* The columns of the last line of the output, without its colors. */
static size_t
columns_so_far(const struct report_console *c)
{
	size_t i = c->out.n, cols;
	const char *p = c->out.p;
	struct buf b = { 0 };

	while (i > 0 && p[i - 1] != '\n')
		i--;
	for (; i < c->out.n; i++)
		if (p[i] == '\033')	/* up to its letter */
			while (i + 1 < c->out.n && (p[i] < 'A' || p[i] > 'z' ||
			    p[i] == '['))
				i++;
		else if (p[i] != '\r')
			buf_putc(&b, p[i]);
	cols = report_cols(buf_str(&b), SIZE_MAX);
	buf_free(&b);
	return cols;
}

/* Error and reason at the end of a line; cut: as far as the line reaches. */
static void
put_reason(struct report_console *c, const struct event *e, bool cut)
{
	struct report_flow f = { .b = &c->out, .o = &c->opts, .indent = 6,
		.at = columns_so_far(c) };
	struct arena a = { 0 };
	struct buf b = { 0 }, line = { 0 };

	buf_put(&b, e->error_class);
	if (e->error.n > 0)
		buf_fmt(&b, "%s%.*s", b.n > 0 ? ": " : "", STRF(e->error));
	else if (e->type == EVENT_TASK_COMPLETE && e->source.task != NULL &&
	    status_of(e) > RESULT_PASSED)
		buf_put(&b, report_why(&a, &c->opts, e->source.run,
		    e->source.task));
	else if (e->type == EVENT_TASK_COMPLETE)
		buf_put(&b, e->feedback);	/* of a run on a server */
	if (!cut)
		report_reason_line(&line, buf_str(&b), c->opts.ascii);
	else if (f.at + 10 < width_of(c))
		report_line(&line, buf_str(&b), width_of(c) - f.at - 2,
		    c->opts.ascii);
	report_flow_part(&f, NULL, "  ", buf_str(&line));
	buf_putc(&c->out, '\n');
	buf_free(&line);
	buf_free(&b);
	arena_free(&a);
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
	put_reason(c, e, false);
}

static void
put_text(struct report_console *c, const char *what, struct str s)
{
	if (s.n == 0)
		return;
	buf_puts(&c->out, what);
	if (c->opts.wrap)
		report_line(&c->out, s, width_of(c) - strlen(what),
		    c->opts.ascii);
	else
		report_reason_line(&c->out, s, c->opts.ascii);
	buf_putc(&c->out, '\n');
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
	put_text(c, "      prompt ", d.prompt);
	put_text(c, "      answer ", d.output);
	for (i = 0; i < d.n; i++) {
		struct report_flow f = { .b = &c->out, .o = &c->opts, .at = 8,
			.indent = 10 };

		buf_puts(&c->out, "      ");
		report_mark(&c->out, d.v[i].status, &c->opts);
		report_flow(&f, NULL, d.v[i].name);
		report_flow_fmt(&f, NULL, " %.2f", d.v[i].score);
		report_flow_reason(&f, " ", d.v[i].feedback);
		report_flow_end(&f);
	}
	arena_free(&a);
}

static void
put_trial(struct report_console *c, const struct event *e)
{
	begin_line(c);
	buf_puts(&c->out, "    ");
	report_mark(&c->out, status_of(e), &c->opts);
	report_line(&c->out, e->task, limit(c, width_of(c) / 2),
	    c->opts.ascii);
	buf_fmt(&c->out, " trial %lld", (long long)e->trial);
	if (c->trials > 0)
		buf_fmt(&c->out, "/%lld", (long long)c->trials);
	if (e->attempt > 1)
		buf_fmt(&c->out, " attempt %lld", (long long)e->attempt);
	put_result(c, e);
	put_verdicts(c, e);
}

/*
 * The name of a task, after that of its suite if there are many, and before
 * that of its pass if several overlap.
 */
static void
put_name(struct report_console *c, const struct event *e, size_t cols)
{
	const struct result_run *run = e->source.run;
	struct buf b = { 0 };

	if (c->all_tasks > 0 && !c->arms && run != NULL)
		buf_fmt(&b, "%.*s: ", STRF(run->suite->name));
	buf_put(&b, e->type == EVENT_TRIGGER_COMPLETE ? e->prompt :
	    e->name.n > 0 ? e->name : e->task);
	if (run != NULL && run->ref_commit.n > 0)
		buf_fmt(&b, " (skills of %.*s)", STRF(run->ref_name));
	else if (run != NULL && run->no_skills && c->arms)
		buf_puts(&b, " (without skills)");
	report_line(&c->out, buf_str(&b), cols, c->opts.ascii);
	buf_free(&b);
}

/* On a terminal, up to half of a line, and a result has room after it. */
static size_t
room_for_name(const struct report_console *c)
{
	size_t at = columns_so_far(c) + 18, width = width_of(c);

	return limit(c, at + 6 > width ? 6 : at + width / 2 < width ?
	    width / 2 : width - at);
}

static void
put_task(struct report_console *c, const struct event *e)
{
	begin_line(c);
	buf_fmt(&c->out, "[%lld/%lld] ", (long long)c->done,
	    (long long)c->tasks);
	report_mark(&c->out, status_of(e), &c->opts);
	put_name(c, e, room_for_name(c));
	put_result(c, e);
}

/* Above the progress line: one line, the report has the whole reason. */
static void
put_failure(struct report_console *c, const struct event *e)
{
	begin_line(c);
	report_mark(&c->out, status_of(e), &c->opts);
	put_name(c, e, width_of(c) / 2);
	put_reason(c, e, true);
}

static void
put_trigger(struct report_console *c, const struct event *e)
{
	begin_line(c);
	buf_puts(&c->out, "[trigger");
	if (c->triggers > 0)
		buf_fmt(&c->out, " %lld/%lld", (long long)c->triggers_done,
		    (long long)c->triggers);
	buf_puts(&c->out, "] ");
	report_mark(&c->out, status_of(e), &c->opts);
	put_name(c, e, room_for_name(c));
	buf_puts(&c->out, e->should_trigger ? "  should" : "  should not");
	if (status_of(e) == RESULT_SKIPPED)
		buf_puts(&c->out, ", skipped");
	else if (e->error_class.n == 0)
		buf_puts(&c->out, e->did_trigger ? ", did" : ", did not");
	put_reason(c, e, false);
}

static void
put_error(struct report_console *c, const struct event *e)
{
	struct report_flow f = { .b = &c->out, .o = &c->opts, .indent = 2 };

	begin_line(c);
	report_flow(&f, NULL, e->problem.file.n > 0 ? e->problem.file :
	    STR("waza"));
	if (e->problem.file.n > 0 && e->problem.line > 0)
		report_flow_fmt(&f, NULL, ":%lld:%lld",
		    (long long)e->problem.line, (long long)e->problem.col);
	report_flow_part(&f, NULL, ": ", e->problem.message);
	report_flow_end(&f);
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

static void
begin_run(struct report_console *c, const struct event *e)
{
	const struct result_reuse *reuse = e->source.run != NULL ?
	    &e->source.run->reuse : NULL;

	if (c->began_ms == 0 || c->all_tasks == 0) {
		/* each pass of one suite counts from zero */
		c->tasks = c->all_tasks > 0 ? c->all_tasks : e->tasks;
		c->trials = e->trials;
		c->trials_all = c->all_trials > 0 ? c->all_trials : e->tasks *
		    (e->trials > 0 ? e->trials : 1);
		c->done = c->passed = c->failed = c->errors = 0;
		c->trials_done = c->active = c->own = 0;
		c->triggers = c->triggers_done = 0;
		memset(c->running, 0, sizeof(c->running));
		c->began_ms = e->time_ms;
	}
	if (reuse != NULL)
		c->trials_done += (int64_t)reuse->resumed;
}

/*
 * Tasks are printed as lines with -v, and where the progress line cannot be
 * shown; above it, those that did not pass.  Of trigger tests, those that
 * passed are printed with -v only.
 */
static void
on_event(void *arg, const struct event *e)
{
	struct report_console *c = arg;
	bool lines = c->level == REPORT_VERBOSE ||
	    (c->level == REPORT_NORMAL && !c->live);

	switch (e->type) {
	case EVENT_EVAL_START:
		begin_run(c, e);
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
		else if (c->live && status_of(e) > RESULT_PASSED)
			put_failure(c, e);
		break;
	case EVENT_TRIGGER_COMPLETE:
		if (c->all_tasks == 0) {	/* of one suite */
			c->triggers = e->total;
			c->triggers_done++;
		}
		if (c->level == REPORT_VERBOSE || ((lines || c->live) &&
		    status_of(e) != RESULT_PASSED))
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
	c->opts.wrap = c->opts.wrap || c->live;
	c->sink = (struct event_sink){ .fn = on_event, .arg = c };
	event_listen(bus, &c->sink);
}

void
report_console_end(struct report_console *c)
{
	report_console_clear(c);
	buf_free(&c->out);
}
