/* SPDX-License-Identifier: ISC */
/*
 * --send of `waza run`: journals while the passes run, then the results files,
 * to a server that merges the shards of a run.
 *
 * A run that is not a shard is sent as shard 1/1.  Trials never wait for the
 * server, and the run's exit status does not depend on it: results that cannot
 * be delivered are kept here, and a warning names them.
 */
#include "cmd/run.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "cmd/client/deliver.h"
#include "results/result.h"
#include "suite/config.h"
#include "suite/spec.h"

enum {
	TICK_MS = 500,			/* between looks at the journals */
	HINT_MS = 2000,			/* until the wait is explained */
	END_MS = 30000,			/* after the run, without progress; */
	STOP_MS = 5000			/* after a signal */
};

struct cmd_send {
	struct deliver deliver;
	struct cmd_run *run;
	struct timer tick;
	/* of each unit: the journals of both passes, and its results */
	struct send_unit {
		struct deliver_file journal[2], results;
		bool added[2];
		const char *file;	/* that was to be sent, or NULL */
	} *units;
	bool warned;
	bool ending;
};

/*
 * Options.
 */
int
cmd_run_send_check(struct cmd_run *r)
{
	const struct cmd_run_opt *o = &r->opt;
	const struct {
		bool given;
		const char *name, *why;
	} other[] = {
		{ o->selection.watch, "watch", "it repeats parts of a run" },
		{ o->server.on_server, "remote", "the server has the run" },
		{ o->server.connect != NULL, "connect",
		    "the server has the run" },
		{ o->output.no_results, "no-results", "it sends the results" },
	};
	struct err *e = r->job.call->err, why;
	struct http_url url;
	size_t i;

	if (o->server.send == NULL)
		return 0;
	for (i = 0; i < COUNTOF(other); i++)
		if (other[i].given)
			return err_set(e, ERR_SCHEMA, "--%s cannot be used "
			    "with --send: %s", other[i].name, other[i].why);
	if (http_url_read(str_of(o->server.send), &url, &why) == -1)
		return err_set(e, ERR_SCHEMA, "--send: %s: give the address "
		    "of a server, such as http://127.0.0.1:3000", why.msg);
	if (memchr(url.path.p, '?', url.path.n) != NULL)
		return err_set(e, ERR_SCHEMA, "--send: \"%s\" has a query: "
		    "give the address of a server", o->server.send);
	if (r->run.shards == 0)
		r->run.shard = r->run.shards = 1;
	return 0;
}

static int
find_token(struct cmd_run *r, struct str *token)
{
	const struct cmd_run_opt *o = &r->opt;
	struct cmd_call *c = r->job.call;
	struct config_flag flags[] = {
		{ "--token-file", "token_file", o->server.token_file },
	};
	struct config_sources from = { .path = o->execution.config_path,
		.json = o->execution.config_json, .token = c->token,
		.flags = flags, .trust = o->execution.trust,
		.nflags = cmd_given_flags(flags, COUNTOF(flags)) };
	struct spec_notes notes = { .arena = c->arena };
	const struct config *config = config_load(c->arena, &from, &notes);

	if (config == NULL)
		return err_set(c->err, ERR_SCHEMA, "--send: the settings are "
		    "invalid: see waza config");
	return config_token(c->arena, config, token, NULL, c->err);
}

/*
 * While it runs.
 */
static void
look_at_pass(struct cmd_send *s, struct send_unit *x, struct run *pass, int i)
{
	struct deliver_file *f = &x->journal[i];

	f->fd = -1;
	if (pass == NULL || s->ending)
		return;
	f->fd = result_journal_fd(run_results(pass), &f->end);
	if (x->added[i] || f->fd == -1)
		return;
	x->added[i] = f->journal = true;
	deliver_add(&s->deliver, f);
}

static void
on_refresh(void *arg)
{
	struct cmd_send *s = arg;
	size_t i;

	for (i = 0; i < s->run->next; i++) {
		look_at_pass(s, &s->units[i], s->run->units[i].with, 0);
		look_at_pass(s, &s->units[i], s->run->units[i].without, 1);
	}
}

static void
on_tick(void *arg)
{
	struct cmd_send *s = arg;

	deliver_pump(&s->deliver);
	if (s->deliver.refused) {
		if (s->warned)
			return;
		s->warned = true;
		report_console_clear(&s->run->job.console);
		cmd_say("waza: warning: %s does not take the results: %.*s\n",
		    s->run->opt.server.send, STRF(buf_str(&s->deliver.why)));
		return;
	}
	timer_once(s->run->job.loop, &s->tick, TICK_MS, on_tick, s);
}

int
cmd_run_send_open(struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;
	struct cmd_send *s;

	if (r->opt.server.send == NULL)
		return 0;
	s = NEW(a, struct cmd_send);
	s->run = r;
	s->units = NEW_N(a, struct send_unit, r->nunits);
	s->deliver.procs = &r->job.procs;
	s->deliver.version = cmd_version_number;
	s->deliver.refresh = on_refresh;
	s->deliver.arg = s;
	if (find_token(r, &s->deliver.token) == -1 || http_url_read(
	    str_of(r->opt.server.send), &s->deliver.url, r->job.call->err) ==
	    -1)
		return -1;
	r->send = s;
	timer_once(r->job.loop, &s->tick, TICK_MS, on_tick, s);
	return 0;
}

/*
 * The end.
 */
static void
add_results(struct cmd_send *s, size_t i)
{
	const struct cmd_unit *u = &s->run->units[i];
	struct send_unit *x = &s->units[i];
	struct stat st;

	x->results.fd = -1;
	if (u->with == NULL || u->opts.output == NULL ||
	    run_results(u->with)->unwritten)
		return;
	x->file = u->opts.output;
	x->results.fd = open(x->file, O_RDONLY | O_CLOEXEC | O_NOCTTY |
	    O_NONBLOCK);
	if (x->results.fd == -1 || fstat(x->results.fd, &st) == -1 ||
	    !S_ISREG(st.st_mode) || st.st_size == 0) {
		os_close(&x->results.fd);
		return;
	}
	x->results.end = (int64_t)st.st_size;
	deliver_add(&s->deliver, &x->results);
}

static void
on_over(void *arg)
{
	*(bool *)arg = true;
}

static void
on_hint(void *arg)
{
	struct cmd_send *s = arg;

	cmd_say("waza: delivering the results to %s; Ctrl-C stops that\n",
	    s->run->opt.server.send);
}

/* Turns the loop until the results are delivered; a signal ends it. */
static void
wait_for(struct cmd_send *s)
{
	struct cmd_job *j = &s->run->job;
	bool over = false;
	struct timer limit = { .fn = on_over, .arg = &over };
	int before = j->signals.signo;
	int64_t stored = -1;
	struct err e;

	if (!j->opt->quiet)
		timer_once(j->loop, &s->tick, HINT_MS, on_hint, s);
	deliver_hurry(&s->deliver);
	while (deliver_busy(&s->deliver) && !over &&
	    j->signals.signo == before) {
		if (s->deliver.stored != stored)
			timer_start(j->loop, &limit, before != 0 ? STOP_MS :
			    END_MS);
		stored = s->deliver.stored;
		if (loop_turn(j->loop, &e) != 1)
			break;
	}
	timer_stop(j->loop, &limit);
	timer_stop(j->loop, &s->tick);
}

static void
report_unit(struct cmd_send *s, struct send_unit *x)
{
	struct str why = buf_str(x->results.why.n > 0 ? &x->results.why :
	    &s->deliver.why);
	const char *to = s->run->opt.server.send;

	if (why.n == 0)
		why = STR("it did not answer in time");
	if (x->file == NULL)
		cmd_say("waza: warning: nothing was delivered to %s: the "
		    "results were not written\n", to);
	else if (x->results.needless)
		cmd_say("waza: warning: %s has completed the run without "
		    "these results, which are in %s\n", to, x->file);
	else if (!x->results.stored)
		cmd_say("waza: warning: the results were not delivered to %s: "
		    "%.*s; they are in %s: send that file, or merge it with "
		    "waza merge\n", to, STRF(why), x->file);
}

void
cmd_run_send_end(struct cmd_run *r)
{
	struct cmd_send *s = r->send;
	size_t i, stored = 0;

	if (s == NULL)
		return;
	timer_stop(r->job.loop, &s->tick);
	s->ending = true;
	for (i = 0; i < r->next; i++)
		add_results(s, i);
	wait_for(s);
	for (i = 0; i < r->next; i++) {
		stored += s->units[i].results.stored &&
		    !s->units[i].results.needless;
		report_unit(s, &s->units[i]);
		os_close(&s->units[i].results.fd);
	}
	if (stored > 0 && !r->job.opt->quiet)
		cmd_say("waza: results delivered to %s (%.*s, shard %lld of "
		    "%lld)\n", r->opt.server.send,
		    STRF(buf_str(&s->deliver.run_id)),
		    (long long)r->run.shard, (long long)r->run.shards);
}

void
cmd_run_send_close(struct cmd_run *r)
{
	if (r->send == NULL)
		return;
	timer_stop(r->job.loop, &r->send->tick);
	deliver_end(&r->send->deliver);
	r->send = NULL;
}
