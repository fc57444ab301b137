/* SPDX-License-Identifier: ISC */
/*
 * waza run --on ENGINE: the common part.
 *
 * One timer drives it: each tick reads the journals, asks the engine at its own
 * pace, and settles the shards whose jobs have ended.  The run is over when all
 * shards are settled, when the engine has failed, or when it was cancelled and
 * its jobs have ended or the time for that is over.
 */
#include "cmd/scale/on.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "cmd/run.h"
#include "cmd/scale/on_internal.h"
#include "results/merge/merge.h"
#include "suite/spec.h"

enum {
	TICK_MS = 250,
	CANCEL_MS = 30000,	/* the engine's time to end all jobs */
	DEFAULT_SHARDS = 8,
	SHARDS_MAX = 10000,
	TAIL_LINES = 10, TAIL_BYTES = 2000,	/* of the log of a failure */
	NAMED_MAX = 10		/* failed shards that are named */
};

static const struct on_engine *const engines[] = { &on_kubernetes,
	&on_local, &on_parallel, &on_slurm };

/*
 * Options.
 */

/* Options of the whole run, which its shards do not get. */
static bool
is_own(const struct opt *o)
{
	static const char *const names[] = { "on", "on-option", "on-dir",
		"shards", "resume", "output", "output-dir", "no-results",
		"no-summary", "reporter", "format", "recommend", "interpret",
		"verbose", "quiet", "color", "no-color", "debug",
		"stream-json", "session-log", "session-dir", "dry-run",
		"no-update-check" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (strcmp(o->name, names[i]) == 0)
			return true;
	return false;
}

static int
check_others(const struct cmd_run *r)
{
	const struct cmd_run_opt *o = &r->opt;
	const struct {
		bool given;
		const char *name, *why;
	} other[] = {
		{ o->shard.shard != NULL, "shard", "the engine numbers them" },
		{ o->selection.watch, "watch", "it runs locally" },
		{ o->server.on_server, "remote", "choose one of them" },
		{ o->server.connect != NULL, "connect", "choose one of them" },
		{ o->server.http.n > 0, "http", "each shard would listen" },
		{ o->execution.fail_fast, "fail-fast",
		    "each shard would count for itself" },
		{ o->execution.max_failures > 0, "max-failures",
		    "each shard would count for itself" },
		{ o->reuse.retry_errors, "retry-errors",
		    "use it without --on, with the merged results" },
		{ o->reuse.rerun_failed, "rerun-failed",
		    "use it without --on, with the merged results" },
		{ o->budget.usd != NULL, "budget-usd",
		    "each shard would count for itself" },
		{ o->budget.tokens > 0, "budget-tokens",
		    "each shard would count for itself" },
		{ o->budget.time != NULL, "budget-time",
		    "each shard would count for itself" },
		{ o->server.send != NULL, "send",
		    "the results are merged here" },
		{ o->output.suggest, "suggest",
		    "use it without --on, with --resume" },
	};
	size_t i;

	for (i = 0; i < COUNTOF(other); i++)
		if (other[i].given)
			return err_set(r->job.call->err, ERR_SCHEMA, "--%s "
			    "cannot be used with --on: %s", other[i].name,
			    other[i].why);
	return 0;
}

static const struct on_engine *
find_engine(const char *name, struct err *e)
{
	const char *words[COUNTOF(engines)];
	size_t i;
	int k;

	for (i = 0; i < COUNTOF(engines); i++)
		words[i] = engines[i]->name;
	k = cmd_choose("on", name, words, COUNTOF(engines), e);
	return k == -1 ? NULL : engines[k];
}

static int
check_programs(struct on *on, struct err *e)
{
	const char *const *p;

	for (p = on->engine->programs; *p != NULL; p++)
		if (os_find(on->arena, *p) == NULL)
			return err_set(e, ERR_SCHEMA, "--on %s: `%s` is not "
			    "installed (not found in PATH)", on->engine->name,
			    *p);
	return 0;
}

/* Jobs run the same program in the same directory. */
static int
find_self(struct on *on, struct err *e)
{
	const char *word = on->run->job.call->words[0];

	on->waza = strchr(word, '/') != NULL ? os_absolute(on->arena, word) :
	    os_find(on->arena, word);
	on->cwd = os_real(on->arena, ".");
	if (on->cwd == NULL)
		return err_sys(e, ".");
	return on->waza != NULL ? 0 : err_sys(e, word);
}

int
cmd_on_check(struct cmd_run *r)
{
	const struct cmd_on_opt *o = &r->opt.on;
	struct err *e = r->job.call->err;
	struct on *on;

	if (o->engine == NULL) {
		if (o->options.n == 0 && o->dir == NULL)
			return 0;
		return err_set(e, ERR_SCHEMA, "--%s needs --on", o->dir !=
		    NULL ? "on-dir" : "on-option");
	}
	if (check_others(r) == -1)
		return -1;
	on = NEW(r->job.call->arena, struct on);
	*on = (struct on){ .run = r, .arena = r->job.call->arena,
		.options = &r->opt.on.options, .lock = -1 };
	on->engine = find_engine(o->engine, e);
	if (on->engine == NULL || find_self(on, e) == -1)
		return -1;
	on->words = opt_without(on->arena, &cmd_run.opts,
	    r->job.call->words + 2, is_own, &on->nwords);
	/* the shards write transcripts and traces, and send results */
	r->opt.output.transcript_dir = r->opt.output.otlp = NULL;
	r->opt.server.send = NULL;
	r->on = on;
	return check_programs(on, e);
}

/*
 * The plan.
 */

/* Settings by which a shard would end before its tasks are done. */
static int
check_suites(const struct cmd_run *r)
{
	const struct spec_config *c;
	size_t i;

	for (i = 0; i < r->nsuites; i++) {
		c = &r->suites[i].spec->config;
		if (c->fail_fast || c->budget.usd > 0 ||
		    c->budget.seconds > 0 || c->budget.tokens > 0)
			return err_set(r->job.call->err, ERR_SCHEMA, "%s: "
			    "\"%s\" cannot be used with --on: each shard "
			    "would count for itself", r->suites[i].path,
			    c->fail_fast ? "fail_fast" : "budget");
	}
	return 0;
}

int
cmd_on_plan(struct cmd_run *r)
{
	struct on *on = r->on;
	struct err *e = r->job.call->err;
	int64_t n = r->opt.shard.shards, k;

	if (check_suites(r) == -1)
		return -1;
	if (n == 0) {
		n = r->opt.shard.trials ? r->job.trials : r->job.tasks;
		n = n > DEFAULT_SHARDS ? DEFAULT_SHARDS : n > 0 ? n : 1;
	}
	if (n > SHARDS_MAX)
		return err_set(e, ERR_LIMIT, "--on: more than %d shards",
		    SHARDS_MAX);
	on->n = (size_t)n;
	on->shards = NEW_N(on->arena, struct on_shard, on->n);
	for (k = 1; k <= n; k++)
		on->shards[k - 1] = (struct on_shard){ .k = k,
			.wanted = true };
	return on->engine->check != NULL ? on->engine->check(on, e) : 0;
}

int
cmd_on_dry(struct cmd_run *r)
{
	struct on *on = r->on;
	struct buf b = { 0 };

	if (on_dir_place(on) == -1 ||
	    on->engine->write(on, &b, r->job.call->err) == -1) {
		buf_free(&b);
		return cmd_complain(r->job.call->err);
	}
	r->job.call->form = str_ends(str_of(on->engine->file), STR(".json")) ?
	    GUARD_JSON : GUARD_TEXT;
	return cmd_finish(r->job.call, &b, CMD_OK);
}

/*
 * For engines.
 */
static struct on_shard *
shard_of(struct on *on, int64_t k)
{
	return k >= 1 && (size_t)k <= on->n ? &on->shards[k - 1] : NULL;
}

/* A job that was preempted can end and come back. */
static void
set_state(struct on *on, int64_t k, enum on_state state)
{
	struct on_shard *s = shard_of(on, k);

	if (s != NULL && !s->settled)
		s->state = state;
}

void
on_began(struct on *on, int64_t k)
{
	set_state(on, k, ON_RUNNING);
}

void
on_waits(struct on *on, int64_t k)
{
	set_state(on, k, ON_WAITING);
}

void
on_ended(struct on *on, int64_t k, const char *why)
{
	struct on_shard *s = shard_of(on, k);

	if (s == NULL || s->state == ON_ENDED)
		return;
	s->state = ON_ENDED;
	s->ended_ms = os_now_ms();
	snprintf(s->why, sizeof(s->why), "%s", why);
}

/* The last lines of a text, each indented, on stderr. */
static void
print_tail(struct str text)
{
	struct str tail = utf8_cut_head(str_trim(text), TAIL_BYTES), line;
	size_t i, lines = 0;

	for (i = tail.n; i > 0; i--)
		if (tail.p[i - 1] == '\n' && ++lines == TAIL_LINES)
			break;
	tail = (struct str){ tail.p + i, tail.n - i };
	while (str_line(&tail, &line))
		cmd_say("  %.*s\n", STRF(line));
}

void
on_say(struct on *on, const char *fmt, ...)
{
	va_list ap;
	struct str text;

	va_start(ap, fmt);
	text = arena_vfmt(on->arena, fmt, ap);
	va_end(ap);
	report_console_clear(&on->run->job.console);
	cmd_say("waza: %.*s\n", STRF(text));
}

void
on_broke(struct on *on, const char *what, struct str output)
{
	if (on->broken)
		return;
	on->broken = true;
	on_say(on, "--on %s: %s", on->engine->name, what);
	print_tail(output);
}

static void
on_called(void *arg)
{
	struct on_call *c = arg;

	c->busy = false;
	c->done(c->on, c, c->proc.res.status);
}

void
on_call(struct on_call *c, const char *const *argv)
{
	struct proc_opts o = { .argv = argv, .done = on_called, .arg = c,
		.timeout_ms = CANCEL_MS };
	struct err e = { 0 };

	proc_fini(&c->proc);
	c->proc = (struct proc){ .pid = 0 };
	c->busy = true;
	if (proc_start(&c->on->run->job.procs, &c->proc, &o, &e) == 0)
		return;
	c->busy = false;
	c->done(c->on, c, -1);
}

/*
 * The loop.
 */
static void
settle(struct on *on, struct on_shard *s)
{
	if (!s->wanted || s->settled || s->state != ON_ENDED)
		return;
	s->complete = on_is_complete(on, s);
	if (!s->complete && os_now_ms() - s->ended_ms <
	    on->engine->settle_ms) {
		on_dir_refresh(on);
		return;
	}
	s->settled = true;
	on->left--;
	on_follow_shard(on, s);
}

static void
on_tick(void *arg)
{
	struct on *on = arg;
	bool more = on_follow_read(on);
	int64_t now = os_now_ms();
	size_t i;

	for (i = 0; i < on->n; i++)
		settle(on, &on->shards[i]);
	if (on->engine->ask_ms > 0 && on->left > 0 &&
	    now - on->asked_ms >= on->engine->ask_ms) {
		on->asked_ms = now;
		on->engine->ask(on);
	}
	timer_start(on->run->job.loop, &on->tick, more ? 1 : TICK_MS);
}

static void
on_late(void *arg)
{
	((struct on *)arg)->given_up = true;
}

/* The first signal cancels the jobs, the second one does not wait for them. */
void
cmd_on_cancel(struct cmd_run *r)
{
	struct on *on = r->on;

	if (on == NULL || on->follow == NULL)
		return;
	if (on->cancelled) {
		on->given_up = true;
		return;
	}
	on->cancelled = true;
	timer_start(r->job.loop, &on->late, CANCEL_MS);
	if (on->left > 0 && !on->broken)
		on->engine->cancel(on);
}

/* Whether the jobs that were cancelled have ended. */
static bool
all_ended(const struct on *on)
{
	size_t i;

	for (i = 0; i < on->n; i++)
		if (on->shards[i].wanted && on->shards[i].state != ON_ENDED)
			return false;
	return true;
}

static bool
is_over(const struct on *on)
{
	return on->left == 0 || on->broken || on->given_up ||
	    (on->cancelled && all_ended(on));
}

/* Counts the trials that shards finished after the last tick. */
static void
read_rest(struct on *on)
{
	struct on_shard *s;
	size_t i;

	for (i = 0; i < on->n; i++) {
		s = &on->shards[i];
		if (!s->wanted || s->settled)
			continue;
		s->complete = on_is_complete(on, s);
		on_follow_shard(on, s);
	}
}

static int
follow(struct on *on)
{
	struct cmd_job *j = &on->run->job;
	int rc = 0;

	on->tick = (struct timer){ .fn = on_tick, .arg = on };
	on->late = (struct timer){ .fn = on_late, .arg = on };
	on_follow_start(on);
	if (on->left > 0 && on->engine->submit(on, j->call->err) == -1)
		return cmd_job_fail(j, "system");
	on->asked_ms = os_now_ms();
	timer_start(j->loop, &on->tick, TICK_MS);
	cmd_job_tick(j, true);
	while (rc == 0 && !is_over(on))
		rc = cmd_turn(j->loop, j->call->err);
	read_rest(on);
	cmd_job_tick(j, false);
	timer_stop(j->loop, &on->tick);
	timer_stop(j->loop, &on->late);
	return rc == -1 ? cmd_job_fail(j, "system") : CMD_OK;
}

/*
 * The end.
 */
/* The last bytes of a log, which can be large; or why it cannot be read. */
static struct str
read_tail(const char *path, char *text, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = -1;
	struct stat st;

	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = pread(fd, text, size, st.st_size > (off_t)size ?
		    st.st_size - (off_t)size : 0);
	if (n == -1)
		n = snprintf(text, size, "(%s)", strerror(errno));
	else if (n == 0)
		n = snprintf(text, size, "(empty)");
	os_close(&fd);
	return (struct str){ text, (size_t)n };
}

static void
name_failure(struct on *on, const struct on_shard *s)
{
	char text[TAIL_BYTES];

	cmd_say("waza: shard %lld/%zu failed%s%s%s; the end of %s:\n",
	    (long long)s->k, on->n, s->why[0] != '\0' ? " (" : "", s->why,
	    s->why[0] != '\0' ? ")" : "", s->log);
	print_tail(read_tail(s->log, text, sizeof(text)));
}

/* Names the shards that failed; returns their number. */
static size_t
name_failures(struct on *on)
{
	size_t i, n = 0;

	for (i = 0; i < on->n; i++)
		if (on->shards[i].settled && !on->shards[i].complete &&
		    n++ < NAMED_MAX)
			name_failure(on, &on->shards[i]);
	if (n > NAMED_MAX)
		cmd_say("waza: %zu more shards failed\n", n - NAMED_MAX);
	return n;
}

/* Nothing is lost: how to continue, and what may still run. */
static int
say_resume(struct on *on)
{
	struct cmd_job *j = &on->run->job;
	size_t all, done = on_follow_done(on, &all);

	if (on->broken && done == 0 && on->made) {
		on->spent = true;	/* nothing has run: nothing to keep */
		return CMD_ERROR;
	}
	if (on->undo != NULL && !all_ended(on))
		cmd_say("waza: jobs may still run; cancel them with: %s\n",
		    on->undo);
	if (!j->opt->quiet)
		cmd_say("waza: %s; %zu of %zu trials are kept in %s; resume "
		    "with: %s\n", j->signals.signo != 0 ? "interrupted" :
		    "not complete", done, all, on->dir,
		    cmd_job_again(j).p);
	return CMD_ERROR;
}

/* The files of the units are checked before anything is paid for. */
static int
name_units(struct cmd_run *r)
{
	bool resume = r->opt.reuse.resume;
	struct run_opts *o;
	int rc = 0;
	size_t i;

	r->opt.reuse.resume = false;	/* the shards resume, not these */
	for (i = 0; i < r->nunits && rc == 0; i++) {
		o = &r->units[i].opts;
		rc = cmd_run_files_unit(r, &r->units[i]);
		if (rc == 0)
			rc = run_check_output(r->job.call->arena, o->output,
			    o->by_default, r->job.call->err);
	}
	r->opt.reuse.resume = resume;
	return rc;
}

int
cmd_on_run(struct cmd_run *r)
{
	struct on *on = r->on;
	int status;

	if (name_units(r) == -1 || on_dir_open(on) == -1)
		return cmd_job_fail(&r->job, "system");
	status = follow(on);
	report_console_clear(&r->job.console);
	if (status != CMD_OK || on->broken || on->left > 0 ||
	    name_failures(on) > 0)
		return say_resume(on);
	if (on_collect(on) != CMD_OK)
		return say_resume(on);
	on_follow_end(on);
	return CMD_OK;
}

void
cmd_on_close(struct cmd_run *r)
{
	struct on *on = r->on;

	if (on == NULL)
		return;
	if (on->engine->close != NULL)
		on->engine->close(on);
	if (on->merge != NULL)
		merge_free(on->merge);
	on->merge = NULL;
	on_follow_close(on);
	on_dir_close(on);
}
