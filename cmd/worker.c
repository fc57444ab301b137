/* SPDX-License-Identifier: ISC */
/*
 * waza worker: a client of `waza serve` or `waza run --http` that does
 * evaluations by commands (seeds/004).
 */
#include "waza.h"

#include <signal.h>
#include <string.h>

#include "agent/hub.h"
#include "base/os.h"
#include "cmd/worker.h"
#include "io/loop.h"
#include "lib/ws.h"
#include "suite/config.h"

enum { ROOM_MAX = 256 };

struct worker_opt {
	struct opt_list tools;
	const char *id, *name, *token_file;
	int64_t room, attempts;
	bool once, verbose, quiet;
};

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct worker_opt, m), __VA_ARGS__ }
static const struct opt rows[] = {
	ROW(tools, OPT_LIST, .name = "tool", .value = "NAME=COMMAND",
	    .help = "a tool, and the command that does it"),
	ROW(room, OPT_INT, .name = "concurrency", .value = "N", .min = 1,
	    .max = ROOM_MAX, .help = "evaluations at the same time; 1"),
	ROW(id, OPT_STR, .name = "id", .value = "ID",
	    .help = "who it is, to be known again; else made up"),
	ROW(name, OPT_STR, .name = "name", .value = "NAME",
	    .help = "what people see"),
	ROW(token_file, OPT_STR, .name = "token-file", .value = "FILE",
	    .help = "what the server wants to be shown"),
	ROW(attempts, OPT_INT, .name = "attempts", .value = "N", .min = 1,
	    .max = 1000000, .help = "to connect, in a row; then it gives up"),
	ROW(once, OPT_FLAG, .name = "once",
	    .help = "end when the server does"),
	ROW(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .help = "say what is done"),
	ROW(quiet, OPT_FLAG, .name = "quiet", .letter = 'q',
	    .help = "say only why it ends"),
};

struct worker {
	struct cmd_call *call;
	const struct worker_opt *opt;
	struct loop *loop;
	struct procs procs;
	struct cmd_worker_jobs work;
	struct cmd_worker_link link;
	struct sig_watch sig[3];
};

static void
on_idle(void *arg)
{
	struct worker *w = arg;

	if (w->link.stopping)
		cmd_worker_link_part(&w->link);
}

/* The first asks the commands to end, and tells the server; the second ends. */
static void
on_signal(void *arg)
{
	struct worker *w = arg;

	if (w->link.stopping) {
		cmd_worker_link_end(&w->link);
		return;
	}
	w->link.stopping = true;
	cmd_worker_cancel_job(&w->work);
	if (w->work.running == 0)
		cmd_worker_link_part(&w->link);
}

/* A UUID, version 4 (RFC 9562, 5.4). */
static struct str
make_id(struct arena *a)
{
	unsigned char b[16] = { 0 };
	struct err e;

	os_random(b, sizeof(b), &e);
	b[6] = (unsigned char)((b[6] & 0x0F) | 0x40);
	b[8] = (unsigned char)((b[8] & 0x3F) | 0x80);
	return arena_fmt(a, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
	    "%02x%02x%02x%02x%02x%02x", b[0], b[1], b[2], b[3], b[4], b[5],
	    b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
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
			return err_set(w->call->err, ERR_SCHEMA, "--tool needs "
			    "NAME=COMMAND, not \"%.100s\"", list->v[i]);
		v[i].name = (struct str){ list->v[i],
			(size_t)(eq - list->v[i]) };
		v[i].command = eq + 1;
		for (k = 0; k < i; k++)
			if (str_eq(v[k].name, v[i].name))
				return err_set(w->call->err, ERR_SCHEMA,
				    "--tool %.*s is given twice",
				    STRF(v[i].name));
	}
	w->work.tools = v;
	w->work.ntools = list->n;
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
		return err_set(e, ERR_SCHEMA, "%.100s: only ws:// is spoken "
		    "here; for wss:// put a TLS proxy (stunnel, socat) before "
		    "it", w->call->args[0]);
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
	struct spec_notes notes = { .arena = w->call->arena };
	struct config *c = config_load(w->call->arena, &from, &notes);
	const struct spec_note *n;

	for (n = notes.head; n != NULL && c == NULL; n = n->next)
		if (n->level == FIELD_ERROR)
			return err_set(w->call->err, ERR_SCHEMA, "%s: %s",
			    n->at.file, n->msg);
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
		return err_set(w->call->err, ERR_SCHEMA, "--id is made of up "
		    "to %d letters, digits and ._:@+=~-", HUB_ID_MAX);
	w->work.procs = &w->procs;
	w->work.room = w->opt->room > 0 ? (size_t)w->opt->room : 1;
	w->work.verbose = w->opt->verbose && !w->opt->quiet;
	w->work.idle = on_idle;
	w->work.arg = w;
	w->link.work = &w->work;
	w->link.name = w->opt->name;
	w->link.attempts = w->opt->attempts;
	w->link.once = w->opt->once;
	w->link.quiet = w->opt->quiet;
	return 0;
}

static int
work(struct worker *w)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct err *e = w->call->err;
	size_t i;

	for (i = 0; i < COUNTOF(signals); i++) {
		w->sig[i] = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = w };
		if (sig_start(w->loop, &w->sig[i], e) == -1)
			return cmd_complain(e);
	}
	cmd_worker_link_start(&w->link);
	while (w->link.state != CMD_WORKER_ENDED)
		if (loop_turn(w->loop, e) != 1)
			return cmd_complain(e);
	return w->link.status;
}

static void
clean_up(struct worker *w)
{
	size_t i;

	cmd_worker_drop_job(&w->work);
	cmd_worker_link_fini(&w->link);
	for (i = 0; i < COUNTOF(w->sig); i++)
		if (w->sig[i].fn != NULL)
			sig_stop(w->loop, &w->sig[i]);
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
	.name = "worker",
	.usage = "ws://HOST:PORT --tool NAME=COMMAND [OPTION ...]",
	.help = "do evaluations for a server, by commands",
	.opts = CMD_OPTS(rows), .size = sizeof(struct worker_opt),
	.min = 1, .max = 1, .fn = worker,
};
