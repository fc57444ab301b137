/* SPDX-License-Identifier: ISC */
/*
 * A fix: scan the directory, run the agent in it, scan again, reply.
 *
 *   phase      event                      action
 *   WAITING    a step                     started, analyzing; SCANNING
 *   SCANNING   the scan is complete       launch the run; RUNNING
 *   RUNNING    the run has ended          COMPARING
 *   COMPARING  the scan is complete       completed or failed; reply
 *   any        cancelled                  reply as cancelled
 *
 * The fixes take their steps in turn, for a few milliseconds in each turn of
 * the loop.  If the caller has disconnected, the second scan is skipped.  A fix
 * has its own arena; the call lives longer.
 */
#include "rpc/session_internal.h"

#include <assert.h>
#include <stdio.h>

#include "base/os.h"
#include "io/workspace_scan.h"
#include "json.h"
#include "results/result.h"
#include "run/run.h"
#include "suite/spec.h"

enum {
	STEP_MS = 5,		/* in a turn of the loop, for all fixes */
	PENDING_MAX = 256 << 10,	/* bytes queued: no tool progress */
	TEXT_BYTES = 200,	/* of an error or a tool's name */
	AT_START = 0, AT_SCAN = 25, AT_RUN = 50, AT_MOST = 95, AT_END = 100
};

enum phase { WAITING, SCANNING, RUNNING, COMPARING };

struct session_fix {
	struct arena arena;		/* holds the fix itself */
	struct session *session;
	struct rpc_call *call;
	const struct session_params *p;
	struct str plan, executor;
	char id[4 + SESSION_ID];	/* "req-" UUID */
	int64_t created_ns;
	enum phase phase;
	bool fresh;			/* the session was made for it */
	bool queued, cancelled;
	bool asked;			/* the agent got the prompt */
	int progress;
	int64_t tools;			/* calls so far */
	struct workspace_scan *scan;
	struct rpc_run *run;		/* while RUNNING */
	struct event_sink sink;
	/* the outcome: */
	enum rpc_kind kind;		/* RPC_KIND__MAX: success */
	struct str error;
	struct str run_id, output;
	const struct json *trial;	/* in the results */
	int64_t took_ms;
	struct session_fix *next;	/* of the queue */
};

static bool
is_connected(const struct session_fix *f)
{
	return f->call->peer != NULL && f->call->peer->conn != NULL;
}

/*
 * Progress.
 */
static void
notify_detail(struct session_fix *f, const char *stage, int progress,
    const char *key, struct str detail, const char *text)
{
	struct rpc_peer *p = f->call->peer;
	struct json_out *o;
	char when[SESSION_TIME];

	f->progress = progress;
	if (!is_connected(f))
		return;
	session_time(when, os_wall_ns());
	o = rpc_notify(p, "kaiak/generateFix/progress");
	json_open(o, '{');
	json_put_member_str(o, "session_id", str_of(f->session->id));
	json_put_member_str(o, "request_id", str_of(f->id));
	json_put_member_str(o, "stage", str_of(stage));
	json_put_member_int(o, "progress", progress);
	json_put_member_str(o, "timestamp", str_of(when));
	json_open_member(o, "data", '{');
	json_put_member_str(o, "message", str_of(text));
	if (key != NULL)
		json_put_member_str(o, key, detail);
	json_close(o, '}');
	json_close(o, '}');
	rpc_notify_end(p);
}

static void
notify(struct session_fix *f, const char *stage, int progress, const char *text)
{
	notify_detail(f, stage, progress, NULL, STR(""), text);
}

/* The number of tool calls is unknown: approach the end ever more slowly. */
static void
notify_tool(struct session_fix *f, struct str tool)
{
	int64_t room = AT_MOST - AT_RUN;

	f->tools++;
	if (is_connected(f) && conn_pending(f->call->peer->conn) <= PENDING_MAX)
		notify_detail(f, "generating", AT_RUN + (int)(room *
		    f->tools / (f->tools + 10)), "tool", utf8_cut(tool,
		    TEXT_BYTES), "The agent calls a tool");
}

static void
on_event(void *arg, const struct event *ev)
{
	struct session_fix *f = arg;

	if (ev->type == EVENT_TRIAL_START)
		notify(f, "generating", AT_RUN, "Generating fixes");
	else if (ev->type == EVENT_TASK_PROGRESS && str_is(ev->step, "tool"))
		notify_tool(f, ev->detail);
	else if (ev->type == EVENT_TRIAL_COMPLETE && ev->error.n > 0)
		f->error = arena_str(&f->arena, ev->error);
}

/*
 * The queue.
 */
static void
enqueue(struct session_fix *f)
{
	struct sessions *all = f->session->all;

	if (!f->queued) {
		f->queued = true;
		f->next = NULL;
		*all->queue_tail = f;
		all->queue_tail = &f->next;
	}
	timer_once(all->rpc->loop, &all->step, 0, session_step, all);
}

static void
unqueue(struct session_fix *f)
{
	struct sessions *all = f->session->all;
	struct session_fix **p = &all->queue;

	if (!f->queued)
		return;
	while (*p != f)
		p = &(*p)->next;
	*p = f->next;
	if (*p == NULL)
		all->queue_tail = p;
	f->queued = false;
}

/*
 * The end.
 */
static void
put_change(struct json_out *o, const struct workspace_change *c)
{
	static const char *const words[] = {
		[WORKSPACE_ADDED] = "added",
		[WORKSPACE_MODIFIED] = "modified",
		[WORKSPACE_DELETED] = "deleted",
	};

	json_open(o, '{');
	json_put_member_str(o, "path", c->path);
	json_put_member_str(o, "status", str_of(words[c->kind]));
	if (c->diff.p != NULL)
		json_put_member_str(o, "diff", c->diff);
	else
		json_put_member_null(o, "diff");
	if (c->diff.p == NULL && c->no_diff != NULL)
		json_put_member_str(o, "no_diff", str_of(c->no_diff));
	if (c->excluded)
		json_put_member_bool(o, "excluded", true);
	json_close(o, '}');
}

static void
put_changes(struct json_out *o, const struct workspace_scan *l)
{
	size_t i;

	json_open(o, '[');
	for (i = 0; i < l->nchanges; i++)
		put_change(o, &l->changes[i]);
	json_close(o, ']');
}

static void
put_result(struct session_fix *f)
{
	struct json_out *o = &f->call->out;
	const struct json *t = json_getc(f->trial, "transcript");
	const struct json *d = json_getc(f->trial, "session_digest");
	char when[SESSION_TIME];

	session_time(when, f->created_ns);
	json_open(o, '{');
	json_put_member_str(o, "request_id", str_of(f->id));
	json_put_member_str(o, "session_id", str_of(f->session->id));
	json_put_member_str(o, "created_at", str_of(when));
	json_put_member_str(o, "run_id", f->run_id);
	json_put_member_str(o, "executor", f->executor);
	json_put_member_str(o, "model", f->p->model.model_id);
	json_put_member_str(o, "output", f->output);
	json_put_key(o, STR("changes"));
	put_changes(o, f->scan);
	if (f->scan->incomplete != NULL)
		json_put_member_cstr(o, "changes_cut", f->scan->incomplete);
	json_put_member(o, "usage", json_getc(d, "usage"));
	json_put_member_int(o, "duration_ms", f->took_ms);
	if (f->p->transcript && t != NULL)
		json_put_member(o, "transcript", t);
	else if (f->p->transcript)
		json_put_member_raw(o, "transcript", STR("[]"));
	json_close(o, '}');
}

/* A failed fix reports its changes, too: the files are the user's own. */
static void
add_data(struct session_fix *f)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct str words = json_str(f->trial, "stderr_tail");

	rpc_data(f->call, "request_id", str_of(f->id));
	if (words.n > 0)
		rpc_data(f->call, "stderr", words);
	if (!f->asked)
		return;
	rpc_data(f->call, "session_id", str_of(f->session->id));
	if (f->phase != COMPARING)
		return;
	put_changes(&o, f->scan);
	rpc_data_json(f->call, "changes", buf_str(&b));
	if (f->scan->incomplete != NULL)
		rpc_data(f->call, "changes_cut", str_of(f->scan->incomplete));
	buf_free(&b);
}

/* Keeps the session if the client can know its id, and the conversation. */
static void
update_session(struct session_fix *f)
{
	struct session *s = f->session;
	struct sessions *all = s->all;
	bool ok = f->kind == RPC_KIND__MAX;
	bool named = f->p->session_id.p != NULL;
	struct buf asked = { 0 };
	struct err e;

	s->fix = NULL;
	if (!ok && s->agent != NULL)
		agent_conversation_end(&s->agent->agent,
		    &s->agent->conversation);
	if (all->stopping || s->agent == NULL || s->agent->sent >
	    SESSION_TALK_MAX) {
		session_agent_close(s->agent);
		s->agent = NULL;
	}
	if (f->fresh && (!f->asked || (!named && !is_connected(f)))) {
		session_drop(s);
		session_expire_later(all);
		return;
	}
	if (f->asked) {
		session_put_request(&asked, f->p);
		session_remember(s, buf_str(&asked), ok ? f->output :
		    STR("(I was interrupted before I could answer.)"));
		buf_free(&asked);
		s->working_dir.n = s->executor.n = s->model.n = 0;
		buf_puts(&s->working_dir, f->p->dir);
		buf_put(&s->executor, f->executor);
		buf_put(&s->model, f->p->model.model_id);
	}
	s->fixes += ok;
	session_touch(s);
	if (session_save(s, &e) == -1)
		session_log(all, e.msg);
}

void
session_fix_free(struct session_fix *f)
{
	unqueue(f);
	f->session->fix = NULL;
	if (f->run != NULL) {
		f->run->waiter = (struct rpc_run_waiter){ 0 };
		f->session->agent = NULL;	/* the run still uses it */
	}
	workspace_scan_free(f->scan);
	rpc_drop(f->call);
	arena_free(&f->arena);
}

static void
finish(struct session_fix *f)
{
	struct rpc_call *c = f->call;
	struct workspace_scan *scan = f->scan;
	struct arena arena;

	unqueue(f);
	if (f->kind == RPC_KIND__MAX) {
		notify(f, "completed", AT_END, "The fix is complete");
		rpc_begin(c);
		put_result(f);
	} else {
		notify_detail(f, "failed", f->progress, "error", f->error,
		    "The fix has failed");
		add_data(f);
		rpc_fail(c, f->kind, "%.*s",
		    STRF(utf8_cut(f->error, TEXT_BYTES)));
	}
	update_session(f);
	arena = f->arena;		/* the fix is in it */
	if (f->kind == RPC_KIND__MAX)
		rpc_done(c);
	else
		rpc_failed(c);
	workspace_scan_free(scan);
	arena_free(&arena);
}

static void
fail(struct session_fix *f, enum rpc_kind kind, const char *what,
    struct str why)
{
	f->kind = kind;
	f->error = why.n == 0 ? str_of(what) : arena_fmt(&f->arena,
	    "%s: %.*s", what, STRF(utf8_cut(why, TEXT_BYTES)));
}

/*
 * The run.
 */
static void
take_results(struct session_fix *f)
{
	struct result_run *r = run_results(f->run->engine.run);
	const struct result_trial *t = &r->tasks[0].trials[0];
	const struct json *output;
	struct err e;

	f->took_ms = t->duration_ms;
	f->trial = t->status == RESULT_NONE ? NULL :
	    result_read(&f->arena, r, t, &e);
	output = json_getc(f->trial, "final_output");
	if (output != NULL && output->type == JSON_STRING)
		f->output = json_text(output);
	if (t->status == RESULT_PASSED)
		f->kind = RPC_KIND__MAX;
	else if (t->status == RESULT_INFRA) {
		f->asked = false;
		fail(f, RPC_AGENT_INIT, "Agent initialization failed",
		    f->error);
	} else
		fail(f, t->status == RESULT_TIMEOUT ? RPC_TIMEOUT :
		    RPC_RUN_FAILED, "Agent error", f->error);
}

static void
on_run(struct rpc_call *c, enum rpc_kind kind, struct str text)
{
	struct session_fix *f = c->state;

	if (kind == RPC_KIND__MAX)
		take_results(f);
	else if (kind == RPC_CANCELLED)
		fail(f, kind, "Cancelled", STR(""));
	else
		fail(f, RPC_RUN_FAILED, "Agent error", text);
}

/* The agent's suite is unused from now on. */
static void
on_released(void *arg)
{
	struct session_fix *f = arg;

	f->run = NULL;
	f->phase = COMPARING;
	if (is_connected(f))
		workspace_scan_again(f->scan);
	enqueue(f);
}

/* The rendered prompt goes through a variable: its text is not a template. */
static void
set_prompt(struct session_fix *f, struct spec_task *t, struct str prompt)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	assert(t->def->rows == NULL);	/* else the row is text, not a tree */
	json_open(&o, '{');
	json_put_member_str(&o, "prompt", prompt);
	json_close(&o, '}');
	t->row = arena_json(&f->arena, arena_take(&f->arena, &b), NULL);
	t->prompt = STR("{{.Vars.prompt}}");
}

/* Opens the session's agent, unless the one there has the same plan. */
static int
find_agent(struct session_fix *f, struct err *e)
{
	struct session *s = f->session;

	if (s->agent != NULL && !str_eq(s->agent->plan, f->plan)) {
		session_agent_close(s->agent);
		s->agent = NULL;
	}
	if (s->agent == NULL)
		s->agent = session_agent_open(s->all, f->plan, e);
	return s->agent == NULL ? -1 : 0;
}

static int
launch(struct session_fix *f, struct str prompt)
{
	struct session_agent *x = f->session->agent;
	struct run_opts o = { .shared_workspace = x->dir,
		.allow_ungraded = true, .agent = &x->agent,
		.agent_dirs = &x->dirs };
	struct err e = { 0 };
	struct rpc_run *r;

	if (agent_has_conversations(&x->agent))
		o.conversation = &x->conversation;
	r = rpc_run_new(f->call, str_of(x->dir));
	set_prompt(f, &x->suite->tasks[0], prompt);
	r->engine.suite = x->suite;
	r->audience.silent = true;
	r->waiter = (struct rpc_run_waiter){ .call = f->call,
		.answer = on_run, .released = on_released, .arg = f };
	f->sink = (struct event_sink){ .fn = on_event, .arg = f };
	event_listen(&r->engine.bus, &f->sink);
	x->sent += prompt.n;
	if (rpc_run_launch(r, f->call->peer, &o, &e) == -1) {
		rpc_run_discard(r);
		if (e.code == ERR_LIMIT)
			fail(f, RPC_RATE_LIMITED, "Resource exhausted",
			    str_of(e.msg));
		else
			fail(f, RPC_AGENT_INIT, "Agent initialization failed",
			    str_of(e.msg));
		return -1;
	}
	f->run = r;
	f->run_id = arena_str(&f->arena, str_of(r->id));
	f->asked = true;
	f->phase = RUNNING;
	return 0;
}

static int
start_run(struct session_fix *f)
{
	struct session *s = f->session;
	struct str template = s->all->opts.template, prompt;
	struct err e = { 0 };
	bool remembers;

	if (find_agent(f, &e) == -1) {
		fail(f, RPC_AGENT_INIT, "Agent initialization failed",
		    str_of(e.msg));
		return -1;
	}
	remembers = agent_conversation_open(&s->agent->agent,
	    &s->agent->conversation);
	if (!remembers)
		agent_conversation_end(&s->agent->agent,
		    &s->agent->conversation);
	if (template.n == 0)
		template = str_of(session_template);
	prompt = session_prompt(&f->arena, template, f->p, f->scan,
	    remembers ? NULL : s->turns, &e);
	if (prompt.p == NULL) {
		fail(f, RPC_CONFIG, "Configuration error: the prompt template",
		    str_of(e.msg));
		return -1;
	}
	return launch(f, prompt);
}

/*
 * Steps.
 */
/* True: the fix needs no further step for now. */
static bool
step(struct session_fix *f, int64_t ms)
{
	bool comparing = f->phase == COMPARING;

	if (f->cancelled && !comparing) {
		fail(f, RPC_CANCELLED, "Cancelled", STR(""));
		finish(f);
		return true;
	}
	if (f->phase == WAITING) {
		notify(f, "started", AT_START, "Processing has begun");
		notify(f, "analyzing", AT_SCAN,
		    "Analyzing code incidents and generating context");
		f->phase = SCANNING;
	}
	if (!(comparing && !is_connected(f)) &&
	    !workspace_scan_step(f->scan, ms))
		return false;
	if (comparing || start_run(f) == -1)
		finish(f);
	return true;
}

void
session_step(void *arg)
{
	struct sessions *all = arg;
	struct loop *loop = all->rpc->loop;
	int64_t until = loop_clock(loop) + STEP_MS, left;
	struct session_fix *f;

	while ((f = all->queue) != NULL &&
	    (left = until - loop_clock(loop)) > 0) {
		unqueue(f);
		if (!step(f, left))
			enqueue(f);
	}
	if (all->queue != NULL)
		enqueue(all->queue);
}

/* Answers from the loop: a reply must not begin within another. */
void
session_fix_stop(struct session_fix *f)
{
	if (f->cancelled)
		return;
	f->cancelled = true;
	if (f->phase == RUNNING)
		rpc_run_cancel(f->run);
	else
		enqueue(f);
}

static void
on_stop(struct rpc_call *c)
{
	struct session_fix *f = c->state;

	session_fix_stop(f);
	if (f->phase != RUNNING)
		enqueue(f);		/* also if the peer has disconnected */
}

enum rpc_status
session_fix(struct rpc_call *c, const struct session_params *p,
    struct session *s, bool fresh, struct str plan, struct str executor)
{
	struct arena arena = { 0 };
	struct session_fix *f = NEW(&arena, struct session_fix);
	char id[SESSION_ID];
	struct err e;

	*f = (struct session_fix){ .arena = arena, .session = s, .call = c,
		.p = p, .plan = plan, .executor = executor, .fresh = fresh,
		.kind = RPC_INTERNAL, .error = STR("internal error"),
		.created_ns = os_wall_ns() };
	if (session_make_id(id, &e) == -1) {
		arena_free(&f->arena);
		if (fresh)
			session_drop(s);
		return rpc_fail(c, RPC_INTERNAL, "%s", e.msg);
	}
	snprintf(f->id, sizeof(f->id), "req-%s", id);
	f->scan = workspace_scan_new(p->dir, &(struct workspace_scan_opts){
		WORKSPACE_SCAN_LIMITS, .include = &p->include,
		.exclude = &p->exclude });
	s->fix = f;
	c->state = f;
	c->stop = on_stop;
	enqueue(f);
	return RPC_LATER;
}
