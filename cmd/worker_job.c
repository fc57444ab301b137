/* SPDX-License-Identifier: ISC */
/*
 * The evaluations of `waza worker`: a command for each, the input as JSON on
 * its stdin, what it prints as the answer.
 *
 * Commands outlive a connection that is lost: what they print is told to the
 * server when it is there again, if it is the same one.  It may ask again for
 * what it does not know to be done; that is known by the id of the request.
 */
#include "cmd/worker.h"

#include <stdio.h>
#include <string.h>

#include "agent/hub.h"
#include "base/os.h"
#include "base/os_spawn.h"
#include "io/conn.h"
#include "io/loop.h"

enum {
	OUTPUT_MAX = 8 << 20,	/* bytes of an answer */
	STDERR_MAX = 4 << 10,
	TIMEOUT_MAX = 7 * 24 * 3600 * 1000,	/* ms */
	ENV_MAX = 4
};

struct cmd_worker_job {
	struct arena arena;	/* this is in it */
	struct cmd_worker_jobs *work;
	struct cmd_worker_job *next, **prev;
	struct str id;		/* of the request, as JSON */
	struct str evaluation, url;
	const struct cmd_tool *tool;
	struct proc proc;
	int64_t began_ns, limit_ms;
	bool stopped;		/* nobody wants it */
	bool over;		/* the reply waits to be sent */
	struct str reply;
};

/*
 * Messages.
 */
struct saying {
	struct buf text;
	struct json_out out;
};

void
cmd_put_text(struct json_out *o, const char *key, struct str s)
{
	json_put_member_str(o, key, s);
}

static void
put_now(struct json_out *o, int64_t ns)
{
	char text[HUB_STAMP];

	cmd_put_text(o, "timestamp", hub_stamp(text, ns));
}

static void
say_status(struct cmd_worker_job *j, const char *status, double progress)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	cmd_put_text(&o, "type", STR("status"));
	cmd_put_text(&o, "evaluationId", j->evaluation);
	json_put_member_raw(&o, "requestId", j->id);
	cmd_put_text(&o, "status", str_of(status));
	json_put_member_double(&o, "progress", progress);
	json_close(&o, '}');
	if (j->work->conn != NULL)
		conn_send(j->work->conn, buf_str(&b));
	buf_free(&b);
}

static void
open_reply(struct saying *s)
{
	s->out = (struct json_out){ .put = buf_sink, .ctx = &s->text };
	json_open(&s->out, '{');
	cmd_put_text(&s->out, "jsonrpc", STR("2.0"));
}

static struct str
close_reply(struct saying *s, struct str id)
{
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
put_refusal(struct json_out *o, const struct refusal *r)
{
	json_open_member(o, "error", '{');
	json_put_member_int(o, "code", r->code);
	cmd_put_text(o, "message", str_of(r->message));
	json_open_member(o, "data", '{');
	cmd_put_text(o, "tool", r->tool);
	cmd_put_text(o, "error", r->why);
	if (r->url.n > 0)
		cmd_put_text(o, "url", r->url);
	put_now(o, os_wall_ns());
	json_close(o, '}');
	json_close(o, '}');
}

/* What was never begun. */
static void
refuse(struct cmd_worker_jobs *w, struct str id, const struct refusal *r)
{
	struct saying s = { 0 };

	open_reply(&s);
	put_refusal(&s.out, r);
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

	*j->prev = j->next;
	if (j->next != NULL)
		j->next->prev = j->prev;
	proc_fini(&j->proc);
	arena_free(&arena);
}

/* Now, or when there is somebody to tell. */
static void
reply(struct cmd_worker_job *j, struct str text, const char *status)
{
	struct cmd_worker_jobs *w = j->work;

	if (w->conn == NULL) {
		j->over = true;
		j->reply = arena_str(&j->arena, text);
		return;
	}
	conn_send(w->conn, text);
	say_status(j, status, 1);
	forget(j);
}

static void
fail(struct cmd_worker_job *j, int code, const char *message, struct str why)
{
	struct saying s = { 0 };
	struct refusal r = { code, message, j->tool->name, j->url, why };

	if (j->work->verbose)
		fprintf(stderr, "waza: %.*s: %.*s\n", STRF(j->evaluation),
		    STRF(why));
	open_reply(&s);
	put_refusal(&s.out, &r);
	reply(j, close_reply(&s, j->id), "failed");
	buf_free(&s.text);
}

/* One JSON value is that; anything else is a text, without its last LF. */
static void
put_output(struct json_out *o, struct arena *a, struct str text)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	const struct json *v = json_read(&mem, text, 0, &e);

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
	struct saying s = { 0 };
	struct json_out *o = &s.out;
	int64_t ms = j->proc.res.duration_ms;

	open_reply(&s);
	json_open_member(o, "result", '{');
	cmd_put_text(o, "status", STR("success"));
	json_put_key(o, STR("output"));
	put_output(o, &j->arena, output);
	json_put_member_int(o, "executionTime", ms);
	json_open_member(o, "toolCalls", '[');
	json_open(o, '{');
	cmd_put_text(o, "tool", j->tool->name);
	put_now(o, j->began_ns);
	json_put_member_int(o, "duration", ms);
	cmd_put_text(o, "status", STR("success"));
	json_close(o, '}');
	json_close(o, ']');
	json_close(o, '}');
	reply(j, close_reply(&s, j->id), "completed");
	buf_free(&s.text);
}

static struct str
complaint(struct cmd_worker_job *j)
{
	struct str err = buf_str(&j->proc.err.buf);

	while (err.n > 0 && err.p[err.n - 1] == '\n')
		err.n--;
	if (err.n > 0)
		return err;
	if (j->proc.res.signo != 0)
		return arena_fmt(&j->arena, "killed by signal %d",
		    j->proc.res.signo);
	return arena_fmt(&j->arena, "exit status %d", j->proc.res.status);
}

static void
on_done(void *arg)
{
	struct cmd_worker_job *j = arg;
	struct cmd_worker_jobs *w = j->work;
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
		fail(j, -32000, "Tool execution failed", complaint(j));
	else
		succeed(j, buf_str(&j->proc.out.buf));
	if (w->running == 0)
		w->idle(w->arg);
}

/*
 * The beginning of one.
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

	for (j = w->jobs; j != NULL; j = j->next)
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

	if (s != NULL)			/* a NUL: then it is not said */
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
	return proc_start(j->work->procs, &j->proc, &o, e);
}

static struct cmd_worker_job *
new_job(struct cmd_worker_jobs *w, struct str id, const struct cmd_tool *tool,
    const struct json *params)
{
	struct arena arena = { 0 };
	struct cmd_worker_job *j = NEW(&arena, struct cmd_worker_job);

	j->arena = arena;
	j->work = w;
	j->id = arena_str(&j->arena, id);
	j->evaluation = arena_str(&j->arena, json_str(params,
	    "evaluationId"));
	j->url = arena_str(&j->arena, json_str(params, "url"));
	j->tool = tool;
	j->began_ns = os_wall_ns();
	j->next = w->jobs;
	j->prev = &w->jobs;
	if (j->next != NULL)
		j->next->prev = &j->next;
	w->jobs = j;
	return j;
}

static void
begin(struct cmd_worker_jobs *w, struct str id, const struct json *params)
{
	struct str name = json_str(params, "tool");
	const struct cmd_tool *tool = find_tool(w, name);
	struct cmd_worker_job *j;
	struct err e = { 0 };

	if (tool == NULL) {
		refuse(w, id, &(struct refusal){ -32004, "Invalid tool", name,
		    json_str(params, "url"), STR("there is no such tool") });
		return;
	}
	if (w->running >= w->room || w->ending) {
		refuse(w, id, &(struct refusal){ -32003,
		    "Rate limit exceeded", name, json_str(params, "url"),
		    w->ending ? STR("the worker ends") :
		    STR("all places are taken") });
		return;
	}
	j = new_job(w, id, tool, params);
	if (w->verbose)
		fprintf(stderr, "waza: %.*s: %.*s\n", STRF(j->evaluation),
		    STRF(name));
	if (start(j, params, &e) == -1) {
		fail(j, -32005, "Resource error", str_of(e.msg));
		return;
	}
	w->running++;
	say_status(j, "running", 0);
}

void
cmd_worker_begin_job(struct cmd_worker_jobs *w, const struct json *request)
{
	const struct json *id = json_getc(request, "id");
	struct arena scratch = { 0 };
	struct cmd_worker_job *j;
	struct str text;

	if (id == NULL)
		return;			/* nobody wants an answer */
	text = text_of(&scratch, id, "");
	j = find_job(w, text);
	if (j == NULL)
		begin(w, text, json_getc(request, "params"));
	arena_free(&scratch);
}

void
cmd_worker_stop_job(struct cmd_worker_jobs *w, const struct json *id)
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
cmd_worker_report_job(struct cmd_worker_jobs *w)
{
	struct cmd_worker_job *j, *next;

	for (j = w->jobs; j != NULL; j = next) {
		next = j->next;
		if (j->over) {
			conn_send(w->conn, j->reply);
			forget(j);
		}
	}
}

void
cmd_worker_cancel_job(struct cmd_worker_jobs *w)
{
	struct cmd_worker_job *j;

	w->ending = true;
	for (j = w->jobs; j != NULL; j = j->next)
		if (!j->over)
			proc_cancel(&j->proc);
}

void
cmd_worker_drop_job(struct cmd_worker_jobs *w)
{
	while (w->jobs != NULL)
		forget(w->jobs);
	w->running = 0;
}
