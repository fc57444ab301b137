/* SPDX-License-Identifier: ISC */
/*
 * The evaluations of `waza worker`: one command each, which reads the input as
 * JSON from stdin and prints the answer.
 *
 * Commands survive a lost connection: the reply is sent after reconnecting to
 * the same server.  The server may repeat a request whose reply it has not
 * seen; the request's id shows that it is known.  A reply may also have been
 * sent into a connection that was already lost: the last ones are kept, and
 * sent again if the server repeats their requests after reconnecting.
 */
#include "cmd/client/worker.h"

#include <stdio.h>

#include "agent/hub.h"
#include "base/os.h"
#include "base/os_spawn.h"
#include "waza.h"

enum {
	OUTPUT_MAX = 8 << 20,	/* bytes of an answer */
	STDERR_MAX = 4 << 10,
	TIMEOUT_MAX = 7 * 24 * 3600 * 1000,	/* ms */
	ENV_MAX = 4,
	KEPT_MAX = 64,		/* replies that were sent, of one connection */
	KEPT_BYTES = 16 << 20
};

struct cmd_worker_job {
	struct arena arena;	/* also of this struct */
	struct cmd_worker_jobs *all;
	struct cmd_worker_job *next, **prev;
	struct str id;		/* of the request, as JSON */
	struct str evaluation, url;
	const struct cmd_tool *tool;
	struct proc proc;
	int64_t began_ns, limit_ms;
	bool stopped;		/* cancelled by the server */
	bool over;		/* there is a reply */
	unsigned sent;		/* number of its connection; 0: not sent */
	struct str reply;
};

/*
 * Messages.
 */
struct reply {
	struct buf text;
	struct json_out out;
};

static void
put_now(struct json_out *o, int64_t ns)
{
	char text[HUB_STAMP];

	json_put_member_str(o, "timestamp", hub_stamp(text, ns));
}

static void
send_status(struct cmd_worker_job *j, const char *status, double progress)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "type", "status");
	json_put_member_str(&o, "evaluationId", j->evaluation);
	json_put_member_raw(&o, "requestId", j->id);
	json_put_member_cstr(&o, "status", status);
	json_put_member_double(&o, "progress", progress);
	json_close(&o, '}');
	if (j->all->conn != NULL)
		conn_send(j->all->conn, buf_str(&b));
	buf_free(&b);
}

static void
open_reply(struct reply *s, const char *member)
{
	*s = (struct reply){ .out = { .put = buf_sink, .ctx = &s->text } };
	json_open(&s->out, '{');
	json_put_member_cstr(&s->out, "jsonrpc", "2.0");
	json_open_member(&s->out, member, '{');
}

static struct str
close_reply(struct reply *s, struct str id)
{
	json_close(&s->out, '}');
	json_put_member_raw(&s->out, "id", id);
	json_close(&s->out, '}');
	return buf_str(&s->text);
}

struct refusal {
	int code;
	const char *message;
	struct str tool, url, why;
};

static void
open_refusal(struct reply *s, const struct refusal *r)
{
	struct json_out *o = &s->out;

	open_reply(s, "error");
	json_put_member_int(o, "code", r->code);
	json_put_member_cstr(o, "message", r->message);
	json_open_member(o, "data", '{');
	json_put_member_str(o, "tool", r->tool);
	json_put_member_str(o, "error", r->why);
	if (r->url.n > 0)
		json_put_member_str(o, "url", r->url);
	put_now(o, os_wall_ns());
	json_close(o, '}');
}

/* Replies an error to a request that starts no command. */
static void
refuse(struct cmd_worker_jobs *w, struct str id, const struct refusal *r)
{
	struct reply s;

	open_refusal(&s, r);
	if (w->conn != NULL)
		conn_send(w->conn, close_reply(&s, id));
	buf_free(&s.text);
}

/*
 * The end of a job.
 */
static void
forget(struct cmd_worker_job *j)
{
	struct arena arena = j->arena;

	LIST_REMOVE(j);
	proc_fini(&j->proc);
	arena_free(&arena);
}

/* Forgets sent replies beyond the limits, the oldest first. */
static void
trim(struct cmd_worker_jobs *w)
{
	struct cmd_worker_job *j, *next;
	size_t n = 0, bytes = 0;

	for (j = w->first; j != NULL; j = next) {
		next = j->next;
		if (j->sent == 0)
			continue;
		n++;
		bytes += j->reply.n;
		if (n > KEPT_MAX || bytes > KEPT_BYTES ||
		    w->connection - j->sent > 1)
			forget(j);
	}
}

static void
send_reply(struct cmd_worker_job *j)
{
	conn_send(j->all->conn, j->reply);
	j->sent = j->all->connection;
}

/* Sends the reply now, or keeps it until there is a connection. */
static void
finish(struct cmd_worker_job *j, struct str text, const char *status)
{
	struct cmd_worker_jobs *w = j->all;

	j->over = true;
	j->reply = arena_str(&j->arena, text);
	proc_fini(&j->proc);
	if (w->conn == NULL)
		return;
	send_reply(j);
	send_status(j, status, 1);
	LIST_REMOVE(j);
	LIST_PUSH(&w->first, j);
	trim(w);
}

static void
fail(struct cmd_worker_job *j, int code, const char *message, struct str why)
{
	struct reply s;
	struct refusal r = { code, message, j->tool->name, j->url, why };

	if (j->all->verbose)
		cmd_say("waza: %.*s: %.*s\n", STRF(j->evaluation),
		    STRF(why));
	open_refusal(&s, &r);
	finish(j, close_reply(&s, j->id), "failed");
	buf_free(&s.text);
}

/* One JSON value is used as it is; other output is a text without its LF. */
static void
put_output(struct json_out *o, struct arena *a, struct str text)
{
	const struct json *v = arena_json(a, text, NULL);

	if (v != NULL) {
		json_put(o, v);
		return;
	}
	if (text.n > 0 && text.p[text.n - 1] == '\n')
		text.n--;
	json_put_str(o, text);
}

static void
succeed(struct cmd_worker_job *j, struct str output)
{
	struct reply s;
	struct json_out *o = &s.out;
	int64_t ms = j->proc.res.duration_ms;

	open_reply(&s, "result");
	json_put_member_cstr(o, "status", "success");
	json_put_key(o, STR("output"));
	put_output(o, &j->arena, output);
	json_put_member_int(o, "executionTime", ms);
	json_open_member(o, "toolCalls", '[');
	json_open(o, '{');
	json_put_member_str(o, "tool", j->tool->name);
	put_now(o, j->began_ns);
	json_put_member_int(o, "duration", ms);
	json_put_member_cstr(o, "status", "success");
	json_close(o, '}');
	json_close(o, ']');
	finish(j, close_reply(&s, j->id), "completed");
	buf_free(&s.text);
}

/* What went wrong: stderr, else the signal or the exit status. */
static struct str
failure_text(struct cmd_worker_job *j)
{
	struct str err = buf_str(&j->proc.err.buf);

	if (str_trim(err).n > 0)
		return str_trim(err);
	if (j->proc.res.signo != 0)
		return arena_fmt(&j->arena, "killed by signal %d",
		    j->proc.res.signo);
	return arena_fmt(&j->arena, "exit status %d", j->proc.res.status);
}

static void
on_done(void *arg)
{
	struct cmd_worker_job *j = arg;
	struct cmd_worker_jobs *w = j->all;
	const struct proc_result *r = &j->proc.res;

	w->running--;
	if (w->ending)
		fail(j, -32005, "Resource error", STR("the worker ends"));
	else if (j->stopped)
		fail(j, -32000, "Tool execution failed", STR("cancelled"));
	else if (r->timed_out)
		fail(j, -32001, "Evaluation exceeded timeout",
		    arena_fmt(&j->arena, "no answer within %lld ms",
		    (long long)j->limit_ms));
	else if (r->truncated)
		fail(j, -32000, "Tool execution failed", arena_fmt(&j->arena,
		    "the tool printed more than %d bytes", OUTPUT_MAX));
	else if (r->status != 0)
		fail(j, -32000, "Tool execution failed", failure_text(j));
	else
		succeed(j, buf_str(&j->proc.out.buf));
	if (w->running == 0)
		w->idle(w->arg);
}

/*
 * The start of a job.
 */
static struct str
text_of(struct arena *a, const struct json *v, const char *more)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str s;

	json_put(&o, v);
	buf_puts(&b, more);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static const struct cmd_tool *
find_tool(const struct cmd_worker_jobs *w, struct str name)
{
	size_t i;

	for (i = 0; i < w->ntools; i++)
		if (str_eq(w->tools[i].name, name))
			return &w->tools[i];
	return NULL;
}

static struct cmd_worker_job *
find_job(const struct cmd_worker_jobs *w, struct str id)
{
	struct cmd_worker_job *j;

	for (j = w->first; j != NULL; j = j->next)
		if (str_eq(j->id, id))
			return j;
	return NULL;
}

static void
add_env(struct cmd_worker_job *j, const char **env, size_t *n, const char *name,
    struct str value)
{
	char *s = arena_cstr(&j->arena, arena_fmt(&j->arena, "%s=%.*s", name,
	    STRF(value)));

	if (s != NULL)			/* a value with a NUL is left out */
		env[(*n)++] = s;
}

static int
start(struct cmd_worker_job *j, const struct json *params, struct err *e)
{
	const char *argv[] = { "/bin/sh", "-c", j->tool->command, NULL };
	const char *env[ENV_MAX];
	const struct json *v = json_getc(params, "timeout");
	struct proc_opts o = { .argv = argv, .out_max = OUTPUT_MAX,
		.err_max = STDERR_MAX, .stop_at_max = true, .done = on_done,
		.arg = j };
	size_t n = 0;

	add_env(j, env, &n, "WAZA_URL", j->url);
	add_env(j, env, &n, "WAZA_EVALUATION_ID", j->evaluation);
	add_env(j, env, &n, "WAZA_TOOL", j->tool->name);
	if (v != NULL && json_int(v, &j->limit_ms) && j->limit_ms > 0 &&
	    j->limit_ms <= TIMEOUT_MAX)
		o.timeout_ms = j->limit_ms;
	if (o.timeout_ms > 0)
		add_env(j, env, &n, "WAZA_TIMEOUT_MS",
		    arena_fmt(&j->arena, "%lld", (long long)j->limit_ms));
	o.env = os_env(&j->arena, env, n);
	o.in = text_of(&j->arena, json_getc(params, "input"), "\n");
	return proc_start(j->all->procs, &j->proc, &o, e);
}

static struct cmd_worker_job *
new_job(struct cmd_worker_jobs *w, struct str id, const struct cmd_tool *tool,
    const struct json *params)
{
	struct arena arena = { 0 };
	struct cmd_worker_job *j = NEW(&arena, struct cmd_worker_job);

	j->arena = arena;
	j->all = w;
	j->id = arena_str(&j->arena, id);
	j->evaluation = arena_str(&j->arena, json_str(params,
	    "evaluationId"));
	j->url = arena_str(&j->arena, json_str(params, "url"));
	j->tool = tool;
	j->began_ns = os_wall_ns();
	LIST_PUSH(&w->first, j);
	return j;
}

static void
begin(struct cmd_worker_jobs *w, struct str id, const struct json *params)
{
	struct str name = json_str(params, "tool");
	const struct cmd_tool *tool = find_tool(w, name);
	struct cmd_worker_job *j;
	struct err e = { 0 };

	if (tool == NULL || w->running >= w->room || w->ending) {
		refuse(w, id, &(struct refusal){ tool == NULL ? -32004 : -32003,
		    tool == NULL ? "Invalid tool" : "Rate limit exceeded",
		    name, json_str(params, "url"), tool == NULL ?
		    STR("unknown tool") : w->ending ? STR("the worker ends") :
		    STR("the worker is busy") });
		return;
	}
	j = new_job(w, id, tool, params);
	if (w->verbose)
		cmd_say("waza: %.*s: %.*s\n", STRF(j->evaluation),
		    STRF(name));
	if (start(j, params, &e) == -1) {
		fail(j, -32005, "Resource error", str_of(e.msg));
		return;
	}
	w->running++;
	send_status(j, "running", 0);
}

void
cmd_worker_jobs_start(struct cmd_worker_jobs *w, const struct json *request)
{
	const struct json *id = json_getc(request, "id");
	struct cmd_worker_job *j;
	struct arena scratch = { 0 };
	struct str text;

	if (id == NULL)
		return;			/* a notification */
	text = text_of(&scratch, id, "");
	j = find_job(w, text);
	if (j != NULL && j->sent == w->connection) {
		forget(j);		/* a new request with an old id */
		j = NULL;
	}
	if (j == NULL)
		begin(w, text, json_getc(request, "params"));
	else if (j->sent != 0)
		send_reply(j);
	arena_free(&scratch);
}

void
cmd_worker_jobs_stop(struct cmd_worker_jobs *w, const struct json *id)
{
	struct arena scratch = { 0 };
	struct cmd_worker_job *j = id != NULL ?
	    find_job(w, text_of(&scratch, id, "")) : NULL;

	if (j != NULL && !j->over) {
		j->stopped = true;
		proc_cancel(&j->proc);
	}
	arena_free(&scratch);
}

void
cmd_worker_jobs_report(struct cmd_worker_jobs *w)
{
	struct cmd_worker_job *j;

	w->connection++;
	for (j = w->first; j != NULL; j = j->next)
		if (j->over && j->sent == 0)
			send_reply(j);
	trim(w);
}

void
cmd_worker_jobs_cancel(struct cmd_worker_jobs *w)
{
	struct cmd_worker_job *j;

	w->ending = true;
	for (j = w->first; j != NULL; j = j->next)
		if (!j->over)
			proc_cancel(&j->proc);
}

void
cmd_worker_jobs_drop(struct cmd_worker_jobs *w)
{
	while (w->first != NULL)
		forget(w->first);
	w->running = 0;
}
