/* SPDX-License-Identifier: ISC */
/*
 * Executor `openai`: one request to a model server, and its retries.
 *
 *	start -> try -> (answer) -> done
 *	           \-> (temporary failure) -> wait -> try
 *	           \-> (other failure, or no retries left) -> done
 *
 * A try is a fetch.  The body is split into messages by its type: server-sent
 * events, one JSON value per line, or one value; each is added to the reply.
 *
 * The caller may cancel the job from within event().  So events are only sent
 * from on_data(), which then ends the fetch, or as a function's last action.
 */
#include "agent/proto/openai.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "agent/agent_internal.h"
#include "base/os.h"
#include "io/fetch.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/tmpl.h"
#include "suite/spec.h"

enum {
	BACKOFF_MS = 500,		/* before the first retry; it doubles */
	BACKOFF_MAX_MS = 60 * 1000,
	WAIT_MAX_MS = 3600 * 1000,	/* if the server asks for more */
	ERROR_MAX = 64 << 10		/* bytes of an error that are read */
};

enum shape { UNKNOWN, WHOLE, LINES, EVENTS };

struct exchange {
	struct agent_job *job;
	struct openai *to;
	struct procs *procs;
	struct openai_question q;
	struct buf body;
	struct fetch fetch;
	struct timer timer;
	struct procs_wait room;		/* before a try: see wait_for_room() */
	int64_t tries;
	int status;
	enum shape shape;
	int64_t after_ms;		/* delay the server asks for; or -1 */
	struct str location;		/* of a redirect */
	struct buf raw;			/* a line, a whole body or an error */
	struct http_events events;
	struct openai_reply reply;
	struct arena scratch;		/* of one message */
	struct str why;			/* of the last failure */
	bool starting, early;		/* within start; done before its end */
	bool busy, cancelled;		/* within on_data; cancelled there */
	bool heard, answering;
	size_t nreported;		/* calls that were reported */
};

static void
free_try(struct exchange *k)
{
	openai_reply_free(&k->reply);
	http_events_free(&k->events);
	buf_free(&k->raw);
	arena_free(&k->scratch);
}

static void
finish(struct exchange *k)
{
	struct agent_job *j = k->job;

	timer_stop(k->procs->loop, &k->timer);
	procs_wait_stop(&k->room);
	fetch_stop(&k->fetch);
	free_try(k);
	buf_free(&k->body);
	if (k->starting)
		k->early = true;
	else
		agent_done(j);
}

/*
 * Failed tries.
 */
static void try_now(void *);

/* Doubled each time, with jitter so that trials do not retry together. */
static int64_t
backoff_ms(const struct exchange *k)
{
	int64_t most = BACKOFF_MS, i;
	uint16_t dice = 0;
	struct err e;

	os_random(&dice, sizeof(dice), &e);
	for (i = 1; i < k->tries && most < BACKOFF_MAX_MS; i++)
		most *= 2;
	most = most < BACKOFF_MAX_MS ? most : BACKOFF_MAX_MS;
	if (k->after_ms >= 0)
		return (k->after_ms < WAIT_MAX_MS ? k->after_ms :
		    WAIT_MAX_MS) + dice % 250;
	return most / 2 + most / 2 * dice / UINT16_MAX;
}

/*
 * True if descriptors ran out: the try is made again when some are released,
 * and does not count.  At the start of the job, its owner waits instead: the
 * time limit does not run yet.
 */
static bool
wait_for_room(struct exchange *k)
{
	if (!k->fetch.shortage || k->starting)
		return false;
	k->tries--;
	free_try(k);
	k->room = (struct procs_wait){ .fn = try_now, .arg = k };
	procs_wait(k->procs, &k->room);
	return true;
}

static void PRINTF(4, 5)
fail_try(struct exchange *k, enum answer_fault fault, bool again,
    const char *fmt, ...)
{
	struct agent_job *j = k->job;
	char wait[64];
	int64_t ms;
	va_list ap;

	va_start(ap, fmt);
	k->why = openai_clip(j->arena, mask_text(j->arena, &k->to->secrets,
	    arena_vfmt(j->arena, fmt, ap)), SIZE_MAX);
	va_end(ap);
	if (!again || k->tries > k->to->set.retries) {
		if (k->tries > 1)
			agent_fail(j, fault, "%.*s (%lld attempts)",
			    STRF(k->why), (long long)k->tries);
		else
			agent_fail(j, fault, "%.*s", STRF(k->why));
		finish(k);
		return;
	}
	ms = backoff_ms(k);
	free_try(k);
	timer_start(k->procs->loop, &k->timer, ms);
	if (k->status == 0 || j->event == NULL)
		return;
	snprintf(wait, sizeof(wait), "HTTP %d, waiting %lld ms", k->status,
	    (long long)ms);
	j->event(j->arg, AGENT_STEP, str_of(wait));
}

/* The model does not support tools: a judge can do without them. */
static bool
retry_without_tools(struct exchange *k)
{
	if (k->q.ntools == 0 || k->status < 400 || k->status >= 500 ||
	    k->status == 429 || !openai_mentions(k->reply.error, "tool"))
		return false;
	k->q.ntools = 0;
	k->body.n = 0;
	openai_put(&k->body, &k->q);
	free_try(k);
	k->tries--;
	try_now(k);
	return true;
}

/* The server, or a proxy, answered with an error status. */
static void
on_refusal(struct exchange *k)
{
	const struct json *v = arena_json(&k->scratch, buf_str(&k->raw), NULL);
	struct agent_job *j = k->job;
	bool pass = k->status == 408 || k->status == 429 || k->status >= 500;
	bool infra = pass || k->status == 401 || k->status == 403;
	struct str words, hint;

	if (k->status < 400) {
		fail_try(k, ANSWER_FAILED, false, "HTTP %d: redirects are not "
		    "followed%s%.*s", k->status, k->location.n > 0 ?
		    "; set base_url to its target: " : "", STRF(k->location));
		return;
	}
	if (v == NULL || !openai_read_error(&k->reply, v))
		k->reply.error = arena_str(j->arena, buf_str(&k->raw));
	if (retry_without_tools(k))
		return;
	if (str_is(k->reply.error_type, "insufficient_quota"))
		pass = false;		/* waiting does not help */
	words = k->reply.error;
	hint = openai_key_hint(j->arena, k->to, k->status);
	fail_try(k, infra ? ANSWER_INFRA : ANSWER_FAILED, pass,
	    "HTTP %d from %.*s%.*s%s%.*s", k->status,
	    STRF(k->to->url.authority), STRF(hint),
	    words.n > 0 ? ": " : "", STRF(words));
}

/* Error types that a retry may resolve. */
static bool
is_temporary(struct str type)
{
	return openai_mentions(type, "overloaded") ||
	    openai_mentions(type, "server_error") ||
	    openai_mentions(type, "rate_limit");
}

/* The body is complete. */
static void
finish_reply(struct exchange *k)
{
	struct openai_reply *r = &k->reply;

	if (r->error.n > 0) {
		k->status = 0;
		fail_try(k, ANSWER_FAILED, is_temporary(r->error_type),
		    "the server reported an error: %.*s", STRF(r->error));
	} else if (!r->finished)
		fail_try(k, ANSWER_INFRA, true, "%.*s closed the connection "
		    "before the end of its answer", STRF(k->to->url.authority));
	else {
		openai_answer(k->job, k->to, &k->q, r);
		finish(k);
	}
}

static void
on_message(void *arg, struct str text)
{
	struct exchange *k = arg;
	const struct agent_request *req = k->job->req;
	struct arena_mark mark = arena_save(&k->scratch);
	struct json_error e;
	const struct json *v;

	if (k->reply.over || text.n == 0)
		return;
	if (req->record != NULL)
		req->record(req->record_arg, '<', mask_json(&k->scratch,
		    &k->to->secrets, text));
	if (str_is(text, "[DONE]")) {
		k->reply.over = true;
		return;
	}
	v = arena_json(&k->scratch, text, &e);
	if (v != NULL)
		openai_read(&k->reply, v);
	else {
		text = openai_clip(&k->scratch, text, 40);
		k->reply.error = arena_fmt(k->job->arena, "its message is "
		    "not JSON (%s): %.*s", e.msg, STRF(text));
		k->reply.over = true;
	}
	arena_restore(&k->scratch, mark);
}

static void
take_lines(struct exchange *k, struct str s)
{
	const char *lf;
	struct str part;

	while (s.n > 0) {
		lf = memchr(s.p, '\n', s.n);
		part = s;
		if (lf != NULL)
			part.n = (size_t)(lf - s.p);
		buf_put(&k->raw, part);
		if (lf == NULL)
			return;
		if (k->raw.n > 0 && k->raw.p[k->raw.n - 1] == '\r')
			k->raw.n--;
		on_message(k, buf_str(&k->raw));
		k->raw.n = 0;
		s.p += part.n + 1;
		s.n -= part.n + 1;
	}
}

/* Without a known Content-Type, the first byte decides. */
static enum shape
shape_of(const struct exchange *k, struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\n' ||
	    s.p[0] == '\r' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	if (s.n == 0)
		return UNKNOWN;
	if (s.p[0] == 'd' || s.p[0] == 'e' || s.p[0] == 'i' || s.p[0] == ':')
		return EVENTS;
	return k->to->set.api == OPENAI_OLLAMA && k->to->set.stream ? LINES :
	    WHOLE;
}

/* Reports the first text, and each call as soon as its name is known. */
static void
send_events(struct exchange *k)
{
	struct agent_job *j = k->job;
	const struct openai_call *c;
	size_t i = 0;

	if (j->event == NULL)
		return;
	if (!k->heard)
		j->event(j->arg, AGENT_STEP, STR("working"));
	k->heard = true;
	if (!k->answering && k->reply.text.n > 0) {
		k->answering = true;
		j->event(j->arg, AGENT_TEXT, STR("answering"));
	}
	for (c = k->reply.calls; c != NULL && c->name.n > 0; c = c->next)
		if (i++ == k->nreported) {
			k->nreported++;
			j->event(j->arg, AGENT_TOOL, c->name);
		}
}

static bool
on_data(void *arg, struct str s)
{
	struct exchange *k = arg;

	k->busy = true;
	if (k->status >= 300) {
		k->raw.max = ERROR_MAX;
		s.n = s.n < ERROR_MAX - k->raw.n ? s.n : ERROR_MAX - k->raw.n;
		buf_put(&k->raw, s);
	} else {
		if (k->shape == UNKNOWN)
			k->shape = shape_of(k, s);
		if (k->shape == EVENTS)
			http_events_put(&k->events, s);
		else if (k->shape == LINES)
			take_lines(k, s);
		else
			buf_put(&k->raw, s);
		send_events(k);
	}
	k->busy = false;
	return !k->cancelled && !k->reply.over && k->raw.n < FETCH_MAX &&
	    (k->status < 300 || k->raw.n < ERROR_MAX);
}

static int64_t
digits(struct str s)
{
	int64_t n = 0;
	size_t i;

	if (s.n == 0 || s.n > 9)
		return -1;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return -1;
		n = n * 10 + (s.p[i] - '0');
	}
	return n;
}

/* Retry-After: seconds or a date (RFC 9110, 10.2.3); or OpenAI's in ms. */
static int64_t
retry_after(const struct http_head *h)
{
	struct str s = http_get(h, "retry-after");
	int64_t n = digits(http_get(h, "retry-after-ms")), at;

	if (n >= 0)
		return n;
	n = digits(s);
	if (n >= 0)
		return n * 1000;
	if (s.n == 0 || !http_date(s, &at))
		return -1;
	n = at * 1000 - os_wall_ns() / 1000000;
	return n > 0 ? n : 0;
}

static bool
is_type(struct str s, const char *type)
{
	size_t n = strlen(type);

	return s.n >= n && http_same((struct str){ s.p, n }, type) &&
	    (s.n == n || s.p[n] == ';' || s.p[n] == ' ');
}

static void
on_head(void *arg, const struct http_head *h)
{
	struct exchange *k = arg;
	struct str type = http_get(h, "content-type");

	k->status = h->status;
	k->after_ms = retry_after(h);
	k->location = openai_clip(k->job->arena, http_get(h, "location"), 80);
	if (is_type(type, "text/event-stream"))
		k->shape = EVENTS;
	else if (is_type(type, "application/x-ndjson") ||
	    is_type(type, "application/jsonl"))
		k->shape = LINES;
	else if (is_type(type, "application/json"))
		k->shape = WHOLE;
}

static void
on_done(void *arg)
{
	struct exchange *k = arg;
	struct fetch *f = &k->fetch;

	if (k->cancelled) {
		agent_fail(k->job, ANSWER_CANCELLED, "cancelled");
		finish(k);
		return;
	}
	if (f->end != FETCH_OK && wait_for_room(k))
		return;
	if (f->end != FETCH_OK) {
		k->status = 0;
		fail_try(k, f->end == FETCH_BAD ? ANSWER_FAILED : ANSWER_INFRA,
		    f->end == FETCH_LOST, "%s", f->err.msg);
		return;
	}
	if (k->status >= 300) {
		on_refusal(k);
		return;
	}
	if (k->shape == EVENTS)
		http_events_end(&k->events);
	else if (k->raw.n > 0)
		on_message(k, buf_str(&k->raw));
	finish_reply(k);
}

static void
try_now(void *arg)
{
	struct exchange *k = arg;
	const struct agent_request *req = k->job->req;
	struct fetch_opts o = { .procs = k->procs, .method = "POST",
		.url = k->to->url, .field = k->to->field,
		.nfields = k->to->nfields, .body = buf_str(&k->body),
		.env = k->to->env, .names = &k->to->names, .head = on_head,
		.data = on_data, .done = on_done, .arg = k };
	int r;

	k->tries++;
	k->status = 0;
	k->shape = UNKNOWN;
	k->after_ms = -1;
	k->nreported = 0;
	k->answering = false;
	k->events = (struct http_events){ .event = on_message, .arg = k };
	openai_reply_init(&k->reply, k->job->arena,
	    (enum openai_api)k->to->set.api);
	r = fetch_start(&k->fetch, &o);
	if (r == -1 && wait_for_room(k))
		return;
	if (req->record != NULL && !k->fetch.shortage)
		req->record(req->record_arg, '>', o.body);
	if (r == -1)
		fail_try(k, ANSWER_INFRA, k->fetch.end == FETCH_LOST &&
		    !k->fetch.shortage, "%s", k->fetch.err.msg);
}

/*
 * The executor.
 */
static int
openai_open(struct agent *a, struct err *e)
{
	struct openai *o = NEW(a->arena, struct openai);
	int r = openai_set_up(a->arena, a->suite, o, e);

	a->state = o;
	return r;
}

static void
openai_limits(const struct agent *a, struct spec_budget *out)
{
	const struct openai *o = a->state;

	out->usd = o->set.max_cost;
	out->tokens = o->set.max_tokens_total;
}

static int
make_question(struct exchange *k)
{
	const struct agent_request *req = k->job->req;
	struct openai_question *q = &k->q;
	struct agent_conversation *t = req->conversation;
	struct openai_history *history;
	struct err e = { 0 };

	*q = (struct openai_question){ .to = k->to, .prompt = req->prompt,
		.model = req->model, .tools = req->tools,
		.ntools = req->ntools, .system = k->to->set.system };
	if (q->model.n == 0)
		q->model = k->to->set.model;
	if (q->model.n == 0) {
		agent_fail(k->job, ANSWER_INFRA, "executor \"openai\" needs a "
		    "model: set config.model, or use --model");
		return -1;
	}
	if (req->vars != NULL)
		q->system = tmpl_render(k->job->arena, q->system, req->vars,
		    &e);
	if (q->system.p == NULL) {
		agent_fail(k->job, ANSWER_INFRA, "system: %s", e.msg);
		return -1;
	}
	q->system = agent_system(k->job->arena, req, q->system);
	if (t != NULL && t->state == NULL) {
		history = t->state = NEW(t->arena, struct openai_history);
		history->tail = &history->head;
	}
	if (t != NULL)
		q->before = ((struct openai_history *)t->state)->head;
	return 0;
}

static enum agent_status
openai_start(struct agent *a, struct agent_job *j)
{
	struct exchange *k;

	k = j->state = NEW(j->arena, struct exchange);
	k->job = j;
	k->to = a->state;
	k->procs = a->procs;
	k->timer = (struct timer){ .fn = try_now, .arg = k };
	if (make_question(k) == -1)
		return AGENT_DONE;
	openai_put(&k->body, &k->q);
	k->starting = true;
	try_now(k);
	k->starting = false;
	return k->early ? AGENT_DONE : AGENT_LATER;
}

static void
openai_cancel(struct agent *a, struct agent_job *j)
{
	struct exchange *k = j->state;

	(void)a;
	if (k->busy) {
		k->cancelled = true;
		return;
	}
	if (k->why.n > 0)
		agent_fail(j, ANSWER_CANCELLED, "cancelled; before that: %.*s",
		    STRF(k->why));
	else
		agent_fail(j, ANSWER_CANCELLED, "cancelled");
	finish(k);
}

static void
end_conversation(struct agent *a, struct agent_conversation *t)
{
	(void)a;
	t->state = NULL;	/* all of it is in the conversation's arena */
}

const struct agent_kind agent_openai = {
	.name = "openai", .needs = AGENT_NEEDS_SERVER,
	.offers_tools = true, .takes_effort = true, .takes_system = true,
	.check = openai_check,
	.needs_workspace = agent_no_workspace, .skills = agent_no_skills,
	.open = openai_open, .limits = openai_limits,
	.start = openai_start, .cancel = openai_cancel,
	.conversation_end = end_conversation
};
