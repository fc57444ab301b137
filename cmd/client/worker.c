/* SPDX-License-Identifier: ISC */
/*
 * waza worker: an evaluation client of `waza serve` or `waza run --http`, which
 * runs a command for each evaluation (seeds/004).
 */
#include "waza.h"

#include <string.h>

#include "agent/hub.h"
#include "base/os.h"
#include "cmd/signals.h"
#include "cmd/client/worker.h"
#include "suite/config.h"

enum { ROOM_MAX = 256 };

struct worker_opt {
	struct opt_list tools;
	const char *id, *name, *token_file;
	int64_t room, attempts;
	bool once, verbose, quiet;
};

#define OPT(m, t, ...) CMD_OPT(worker_opt, m, t, __VA_ARGS__)
static const struct opt rows[] = {
	OPT(tools, OPT_LIST, .name = "tool", .value = "NAME=COMMAND",
	    .group = "Evaluations",
	    .help = "a tool and its shell command (required, repeatable)"),
	OPT(room, OPT_INT, .name = "concurrency", .value = "N", .min = 1,
	    .max = ROOM_MAX, .help = "evaluations at once (default: 1)"),
	OPT(id, OPT_STR, .name = "id", .value = "ID", .group = "Connection",
	    .help = "id after a reconnection (default: random)"),
	OPT(name, OPT_STR, .name = "name", .value = "NAME",
	    .help = "name that people see"),
	OPT(token_file, OPT_STR, .name = "token-file", .value = "FILE",
	    .help = "file with the token for the server"),
	OPT(attempts, OPT_INT, .name = "attempts", .value = "N", .min = 1,
	    .max = 1000000, .help = "failures to connect in a row before "
	    "giving up (default: no limit)"),
	OPT(once, OPT_FLAG, .name = "once",
	    .help = "exit when the server closes; do not reconnect"),
	OPT(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .group = "Output", .help = "print each evaluation"),
	OPT(quiet, OPT_FLAG, .name = "quiet", .letter = 'q',
	    .help = "print only the reason for the exit"),
};

struct worker {
	struct cmd_call *call;
	const struct worker_opt *opt;
	struct loop *loop;
	struct procs procs;
	struct cmd_worker_jobs jobs;
	struct cmd_worker_link link;
	struct cmd_signals signals;
};

static void
on_idle(void *arg)
{
	struct worker *w = arg;

	if (w->link.stopping)
		cmd_worker_link_leave(&w->link);
}

/* The first signal ends the commands, then leaves; the second ends at once. */
static void
on_signal(void *arg)
{
	struct worker *w = arg;

	if (w->link.stopping) {
		cmd_worker_link_end(&w->link);
		return;
	}
	w->link.stopping = true;
	cmd_worker_jobs_cancel(&w->jobs);
	if (w->jobs.running == 0)
		cmd_worker_link_leave(&w->link);
}

static struct str
make_id(struct arena *a)
{
	unsigned char random[16] = { 0 };
	char id[37];
	struct err e;

	os_random(random, sizeof(random), &e);
	hex_uuid(id, random);
	return arena_str(a, str_of(id));
}

static int
read_tools(struct worker *w)
{
	const struct opt_list *list = &w->opt->tools;
	struct cmd_tool *v = NEW_N(w->call->arena, struct cmd_tool, list->n);
	const char *eq;
	size_t i, k;

	if (list->n == 0)
		return err_set(w->call->err, ERR_SCHEMA, "a worker needs at "
		    "least one --tool NAME=COMMAND");
	if (list->n > HUB_TOOLS_MAX)
		return err_set(w->call->err, ERR_LIMIT, "more than %d tools",
		    HUB_TOOLS_MAX);
	for (i = 0; i < list->n; i++) {
		eq = strchr(list->v[i], '=');
		if (eq == NULL || eq == list->v[i] || eq[1] == '\0' ||
		    eq - list->v[i] > HUB_NAME_MAX)
			return err_set(w->call->err, ERR_SCHEMA, "--tool must "
			    "be NAME=COMMAND, not \"%s\"", list->v[i]);
		v[i].name = (struct str){ list->v[i],
			(size_t)(eq - list->v[i]) };
		v[i].command = eq + 1;
		for (k = 0; k < i; k++)
			if (str_eq(v[k].name, v[i].name))
				return err_set(w->call->err, ERR_SCHEMA,
				    "--tool %.*s is given twice",
				    STRF(v[i].name));
	}
	w->jobs.tools = v;
	w->jobs.ntools = list->n;
	return 0;
}

static int
read_url(struct worker *w)
{
	struct arena *a = w->call->arena;
	struct err *e = w->call->err;

	if (ws_url_read(str_of(w->call->args[0]), &w->link.url, e) == -1)
		return -1;
	if (w->link.url.tls)
		return err_set(e, ERR_SCHEMA, "%s: wss:// is not "
		    "supported: use ws:// and a TLS proxy (stunnel, socat)",
		    w->call->args[0]);
	w->link.where = w->call->args[0];
	w->link.host = arena_cstr(a, w->link.url.host);
	w->link.port = arena_cstr(a, w->link.url.port);
	return 0;
}

static int
read_token(struct worker *w)
{
	struct config_flag flag = { "--token-file", "token_file",
		w->opt->token_file };
	struct config_sources from = { .token = w->call->token,
		.flags = &flag, .nflags = flag.value != NULL };
	struct config *c = cmd_load_config(w->call, &from);

	if (c == NULL)
		return err_set(w->call->err, ERR_SCHEMA, "invalid settings");
	return config_token(w->call->arena, c, &w->link.token, NULL,
	    w->call->err);
}

static int
set_up(struct worker *w)
{
	if (read_url(w) == -1 || read_tools(w) == -1 || read_token(w) == -1)
		return -1;
	w->link.id = w->opt->id != NULL ? str_of(w->opt->id) :
	    make_id(w->call->arena);
	if (!hub_id_ok(w->link.id))
		return err_set(w->call->err, ERR_SCHEMA, "--id must be 1 to "
		    "%d letters, digits or ._:@+=~-", HUB_ID_MAX);
	w->jobs.procs = &w->procs;
	w->jobs.room = w->opt->room > 0 ? (size_t)w->opt->room : 1;
	w->jobs.verbose = w->opt->verbose && !w->opt->quiet;
	w->jobs.idle = on_idle;
	w->jobs.arg = w;
	w->link.jobs = &w->jobs;
	w->link.name = w->opt->name;
	w->link.attempts = w->opt->attempts;
	w->link.once = w->opt->once;
	w->link.quiet = w->opt->quiet;
	return 0;
}

static int
work(struct worker *w)
{
	struct err *e = w->call->err;

	if (cmd_signals_start(&w->signals, w->loop, on_signal, w, e) == -1)
		return cmd_complain(e);
	cmd_worker_link_start(&w->link);
	while (w->link.state != CMD_WORKER_ENDED)
		if (cmd_turn(w->loop, e) == -1)
			return cmd_complain(e);
	return w->link.status;
}

static void
clean_up(struct worker *w)
{
	cmd_worker_jobs_drop(&w->jobs);
	cmd_worker_link_fini(&w->link);
	cmd_signals_stop(&w->signals);
	procs_fini(&w->procs);
	loop_free(w->loop);
}

static int
worker(struct cmd_call *c)
{
	struct worker *w = NEW(c->arena, struct worker);
	int status;

	w->call = c;
	w->opt = c->opt;
	if (set_up(w) == -1)
		return cmd_complain(c->err);
	w->loop = loop_new(NULL, c->err);
	if (w->loop == NULL)
		return cmd_complain(c->err);
	procs_init(&w->procs, w->loop, true);
	w->link.loop = w->loop;
	status = work(w);
	clean_up(w);
	return status;
}

const struct cmd_command cmd_worker = {
	.name = "worker", .group = CMD_SERVERS,
	.usage = "ws://HOST:PORT --tool NAME=COMMAND [OPTION ...]",
	.help = "Run a server's evaluations as shell commands",
	.opts = CMD_OPTS(rows), .size = sizeof(struct worker_opt),
	.required = { "ws://HOST:PORT" }, .max = 1, .fn = worker,
};
