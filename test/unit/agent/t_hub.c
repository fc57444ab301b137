/* SPDX-License-Identifier: ISC */
/*
 * The hub, with clients that are only structs and a fake clock: which client
 * gets which evaluation, and what happens when clients answer, fail,
 * disconnect, return, or never answer.
 */
#include "agent/hub.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct loop *l;
static struct err e;
static struct hub hub;
static struct arena arena;

/* Advances the clock and fires timers that are due. */
static void
pass(int64_t ms)
{
	struct timer t = { .fn = no_op };
	int64_t until = fake_now + ms;

	while (fake_now < until) {
		fake_now += until - fake_now < 100 ? until - fake_now : 100;
		timer_start(l, &t, 0);
		loop_turn(l, &e);
		timer_start(l, &t, 0);
		loop_turn(l, &e);
	}
	timer_stop(l, &t);
}

/* An evaluation client. */
struct client {
	struct hub_link link;
	uint64_t got[64];		/* serials, in order */
	const char *what[64];		/* and the evaluations' ids */
	size_t n, stopped, replaced;
};

static void
on_evaluate(void *arg, const struct hub_eval *x)
{
	struct client *c = arg;

	if (c->n < COUNTOF(c->got)) {
		c->got[c->n] = x->serial;
		c->what[c->n] = x->id.p;
	}
	c->n++;
}

static void
on_stop(void *arg, const struct hub_eval *x)
{
	struct client *c = arg;

	(void)x;
	c->stopped++;
}

static void
on_replaced(void *arg)
{
	struct client *c = arg;

	c->replaced++;
}

static void
open_link(struct client *c)
{
	*c = (struct client){ .link = { .evaluate = on_evaluate,
		.cancel = on_stop, .replaced = on_replaced, .arg = c } };
}

static int
enter(struct client *c, const char *id, size_t room, const char *tool)
{
	struct str tools[1] = { str_of(tool != NULL ? tool : "") };
	struct hub_hello h = { .id = str_of(id), .capacity = room,
		.tools = { tools, tool != NULL }, .version = STR("1.0.0") };

	return hub_register(&hub, &c->link, &h, &e);
}

static void
come(struct client *c, const char *id, size_t room, const char *tool)
{
	open_link(c);
	enter(c, id, room, tool);
	hub_ready(&c->link);
}

/* An evaluation and its end. */
struct work {
	struct hub_eval x;
	int done;
	enum hub_how how;
	char client[40];
	unsigned tries;
	int64_t code;
	double progress;
	int told;
	struct work *next;		/* submitted when this is done */
};

static void submit(struct work *, const char *id, const char *tool);

static void
on_done(void *arg, const struct hub_end *end)
{
	struct work *w = arg;
	const struct json *code = json_getc(end->error, "code");

	w->done++;
	w->how = end->how;
	w->tries = end->tries;
	if (code != NULL)
		json_int(code, &w->code);
	if (end->client.n < sizeof(w->client)) {
		memcpy(w->client, end->client.p, end->client.n);
		w->client[end->client.n] = '\0';
	}
	if (w->next != NULL)
		submit(w->next, "next", "t");
}

static void
on_status(void *arg, const struct hub_status *s)
{
	struct work *w = arg;

	w->told++;
	w->progress = s->progress;
}

static void
submit(struct work *w, const char *id, const char *tool)
{
	unsigned retries = w->x.retries;
	int64_t ms = w->x.timeout_ms > 5000 ? w->x.timeout_ms : 5000;
	enum hub_priority p = w->x.priority;
	struct work *next = w->next;

	*w = (struct work){ .next = next, .x = { .id = str_of(id),
		.tool = str_of(tool), .params = STR("{}"), .retries = retries,
		.priority = p, .timeout_ms = ms, .wait_ms = 30000,
		.status = on_status, .done = on_done, .arg = w } };
	OK(hub_submit(&hub, &w->x, &e) == 0);
}

static const struct json *
value(const char *text)
{
	return read_json(&arena, str_of(text));
}

static bool
answer(struct client *c, size_t i, const char *result)
{
	return hub_answer(&c->link, c->got[i], value(result), NULL);
}

static bool
refuse(struct client *c, size_t i, const char *error)
{
	return hub_answer(&c->link, c->got[i], NULL, value(error));
}

static void
begin(void)
{
	hub = (struct hub){ .loop = l, .grace_ms = 2000, .lost_ms = 10000 };
	hub_init(&hub);
}

static void
end(void)
{
	OK(hub.running == 0 && hub.waiting == 0);
	hub_fini(&hub);
}

static void
test_ids(void)
{
	char text[HUB_STAMP];

	OK(hub_id_ok(STR("550e8400-e29b-41d4-a716-446655440000")));
	OK(hub_id_ok(STR("base:tab-1")) && hub_id_ok(STR("a")));
	OK(!hub_id_ok(STR("")) && !hub_id_ok(STR("a b")));
	OK(!hub_id_ok(STR("../../x")) && !hub_id_ok(STR("a\nb")));
	OK(!hub_id_ok(STR("\xC3\xA4")) && !hub_id_ok(STR("a\0b")));
	OK(str_is(hub_stamp(text, 1704067200123000000),
	    "2024-01-01T00:00:00.123Z"));
}

static void
test_dispatch(void)
{
	struct client a, b;
	struct work w[4] = { 0 };

	begin();
	open_link(&a);
	OK(enter(&a, "a", 1, "t") == 0 && hub.nclients == 1);
	submit(&w[0], "one", "t");
	OK(a.n == 0 && hub.waiting == 1);	/* the client is not ready */
	OK(hub_assigned(&hub, &a.link) == 1);
	hub_ready(&a.link);
	OK(a.n == 1 && strcmp(a.what[0], "one") == 0);
	submit(&w[1], "two", "t");
	submit(&w[2], "three", "other");
	OK(a.n == 1 && hub.waiting == 2);	/* capacity is 1 */
	OK(hub_assigned(&hub, &a.link) == 2);
	come(&b, "b", 3, NULL);			/* any tool */
	OK(b.n == 2 && strcmp(b.what[0], "two") == 0 &&
	    strcmp(b.what[1], "three") == 0);
	OK(hub_progress(&a.link, &(struct hub_status){ .progress = 0.5,
	    .evaluation = STR("one") }));
	OK(w[0].told == 1 && w[0].progress == 0.5);
	OK(hub_progress(&a.link, &(struct hub_status){ .progress = 0.75,
	    .serial = a.got[0] }) && w[0].progress == 0.75);
	OK(!hub_progress(&a.link, &(struct hub_status){ .progress = 0.5,
	    .evaluation = STR("two") }));
	OK(answer(&a, 0, "null") && w[0].done == 1);
	OK(w[0].how == HUB_RESULT && strcmp(w[0].client, "a") == 0);
	OK(!answer(&a, 0, "1") && w[0].done == 1);	/* only once */
	OK(!answer(&a, 0, "1") && hub.dropped == 2);
	OK(!hub_answer(&a.link, b.got[0], value("1"), NULL));
	submit(&w[3], "four", "t");
	OK(a.n == 2 || b.n == 3);
	OK(answer(&b, 0, "{}") && answer(&b, 1, "0") && w[2].done == 1);
	OK(a.n == 2 ? answer(&a, 1, "1") : answer(&b, 2, "1"));
	OK(w[1].done == 1 && w[3].done == 1);
	hub_disconnected(&a.link);
	hub_disconnected(&b.link);
	OK(hub.nclients == 0);
	end();
}

/* Priority, then age; done() may submit at once. */
static void
test_order(void)
{
	struct client a;
	struct work w[6] = { 0 }, last = { 0 };
	static const enum hub_priority p[] = { HUB_LOW, HUB_NORMAL,
		HUB_HIGH, HUB_NORMAL, HUB_CRITICAL, HUB_HIGH };
	static const char *const ids[] = { "0", "1", "2", "3", "4", "5" };
	static const char want[] = "425130n";
	char got[16] = "";
	size_t i;

	begin();
	for (i = 0; i < 6; i++) {
		w[i].x.priority = p[i];
		if (i == 4)
			w[i].next = &last;
		submit(&w[i], ids[i], i % 2 == 0 ? "t" : "u");
	}
	come(&a, "a", 1, NULL);
	for (i = 0; i < 7 && i < a.n; i++) {
		got[i] = a.what[i][0];
		answer(&a, i, "1");
	}
	OK(strcmp(got, want) == 0);
	OK(last.done == 1);
	hub_disconnected(&a.link);
	end();
}

static void
test_cancel(void)
{
	struct client a;
	struct work w[3] = { 0 };
	struct hub_hello h = { .id = STR("a"), .capacity = 1,
		.can_cancel = true };

	begin();
	submit(&w[0], "waits", "t");
	hub_cancel(&w[0].x);
	OK(w[0].done == 0 && hub.waiting == 0 && !hub_busy(&w[0].x));
	come(&a, "a", 1, "t");
	submit(&w[0], "runs", "t");
	submit(&w[1], "next", "t");
	OK(a.n == 1);
	hub_cancel(&w[0].x);
	OK(w[0].done == 0 && hub.running == 0 && a.stopped == 0);
	OK(a.n == 1);			/* it may still work on it */
	OK(!answer(&a, 0, "1") && w[0].done == 0);
	OK(a.n == 2);			/* now it is free */
	OK(answer(&a, 1, "1") && w[1].done == 1);
	/* a client that can cancel is notified */
	OK(hub_register(&hub, &a.link, &h, &e) == 0);
	submit(&w[2], "told", "t");
	hub_cancel(&w[2].x);
	OK(a.stopped == 1);
	hub_cancel(&w[2].x);		/* harmless */
	OK(a.stopped == 1);
	hub_disconnected(&a.link);
	end();
}

static void
test_deadline(void)
{
	struct client a;
	struct work w[3] = { 0 };

	begin();
	come(&a, "a", 1, "t");
	submit(&w[0], "slow", "t");
	submit(&w[1], "next", "t");
	pass(6900);			/* timeout 5 s, grace 2 s */
	OK(w[0].done == 0);
	pass(200);
	OK(w[0].done == 1 && w[0].how == HUB_TIMEOUT);
	OK(strcmp(w[0].client, "a") == 0 && a.n == 1);
	OK(!answer(&a, 0, "\"late\"") && w[0].done == 1);
	OK(a.n == 2 && answer(&a, 1, "1") && w[1].done == 1);
	/* a client that never answers gets the next one later */
	submit(&w[0], "black", "t");
	submit(&w[1], "hole", "t");
	pass(7100);
	OK(w[0].done == 1 && a.n == 3 && w[1].done == 0);
	pass(6100);
	OK(a.n == 4);
	pass(7100);
	OK(w[1].done == 1 && w[1].how == HUB_TIMEOUT);
	/* a client with held slots does not extend the wait */
	submit(&w[2], "waits", "t");
	hub_disconnected(&a.link);
	pass(30100);
	OK(w[2].done == 1 && w[2].how == HUB_NO_CLIENT);
	OK(w[2].client[0] == '\0' && w[2].tries == 0);
	end();
}

/* It waits while any client could do it, even a busy one. */
static void
test_wait(void)
{
	struct client a;
	struct work w[2] = { 0 };

	begin();
	come(&a, "a", 1, "t");
	submit(&w[0], "nobody", "x");
	pass(29900);
	OK(w[0].done == 0);
	pass(200);
	OK(w[0].done == 1 && w[0].how == HUB_NO_CLIENT);
	w[0].x.timeout_ms = 200000;
	submit(&w[0], "long", "t");
	submit(&w[1], "waits", "t");
	pass(100000);
	OK(w[0].done == 0 && w[1].done == 0);
	OK(answer(&a, 0, "1") && answer(&a, 1, "1"));
	OK(w[1].done == 1 && w[1].how == HUB_RESULT);
	hub_disconnected(&a.link);
	end();
}

static void
test_lost(void)
{
	struct client a, b;
	struct work w[3] = { 0 };

	begin();
	come(&a, "a", 2, "t");
	w[1].x.retries = 1;
	submit(&w[0], "none", "t");
	submit(&w[1], "one", "t");
	come(&b, "b", 2, "t");
	hub_disconnected(&a.link);
	pass(9900);
	OK(w[0].done == 0 && b.n == 0);	/* the deadline is suspended, too */
	pass(200);
	OK(w[0].done == 1 && w[0].how == HUB_LOST && w[0].tries == 1);
	OK(strcmp(w[0].client, "a") == 0);
	OK(b.n == 1 && strcmp(b.what[0], "one") == 0);
	OK(answer(&b, 0, "1") && w[1].done == 1 && w[1].tries == 2);
	/* if no other client has the tool, it gets it again */
	w[2].x.retries = 2;
	submit(&w[2], "back", "t");
	OK(b.n == 2);
	hub_disconnected(&b.link);
	pass(10100);
	OK(w[2].done == 0 && hub.waiting == 1);
	come(&a, "a", 2, "u");
	OK(a.n == 0);
	come(&b, "b", 1, "t");
	OK(b.n == 1 && answer(&b, 0, "1") && w[2].done == 1);
	hub_disconnected(&a.link);
	hub_disconnected(&b.link);
	end();
}

static void
test_return(void)
{
	struct client a, again, third;
	struct work w[3] = { 0 };
	uint64_t serial;

	begin();
	come(&a, "a", 2, "t");
	submit(&w[0], "one", "t");
	submit(&w[1], "two", "t");
	submit(&w[2], "three", "t");
	OK(answer(&a, 0, "1") && a.n == 3);
	serial = a.got[1];
	hub_disconnected(&a.link);
	pass(5000);
	open_link(&again);
	OK(enter(&again, "a", 2, "t") == 0);
	OK(hub_assigned(&hub, &again.link) == 2);	/* they stay */
	OK(again.n == 0);
	/* an answer to the earlier request counts */
	OK(hub_answer(&again.link, serial, value("1"), NULL));
	OK(w[1].done == 1);
	hub_ready(&again.link);
	OK(again.n == 1 && strcmp(again.what[0], "three") == 0);
	OK(again.got[0] == a.got[2]);
	pass(6000);
	/* the newest link wins; the old one is notified and ignored */
	open_link(&third);
	OK(enter(&third, "a", 2, "t") == 0 && again.replaced == 1);
	OK(hub.nclients == 1);
	OK(!answer(&again, 0, "1") && w[2].done == 0);
	hub_disconnected(&again.link);
	OK(hub.nclients == 1);
	pass(6000);			/* its deadline starts again */
	OK(w[2].done == 0);
	hub_ready(&third.link);
	OK(third.n == 1 && answer(&third, 0, "1") && w[2].done == 1);
	OK(w[2].tries == 1);
	hub_disconnected(&third.link);
	end();
}

/* A client that disconnects each time does not get it forever. */
static void
test_crash(void)
{
	struct client a;
	struct work w = { 0 };
	int i;

	begin();
	come(&a, "a", 1, "t");
	submit(&w, "deadly", "t");
	for (i = 0; i < 10 && w.done == 0; i++) {
		hub_disconnected(&a.link);
		pass(1000);
		come(&a, "a", 1, "t");
	}
	OK(i == 4 && w.how == HUB_LOST);
	hub_disconnected(&a.link);
	/* a client that returns without the tool */
	come(&a, "a", 1, "t");
	submit(&w, "other", "t");
	hub_disconnected(&a.link);
	come(&a, "a", 1, "u");
	OK(w.done == 1 && w.how == HUB_LOST);
	/* a client that returns but is never ready */
	come(&a, "a", 1, "t");
	submit(&w, "never", "t");
	hub_disconnected(&a.link);
	open_link(&a);
	enter(&a, "a", 1, "t");
	pass(7100);
	OK(w.done == 1 && w.how == HUB_TIMEOUT);
	hub_disconnected(&a.link);
	end();
}

static void
test_errors(void)
{
	static const char tool[] = "{\"code\":-32004,\"message\":\"no\"}";
	static const char busy[] =
	    "{\"code\":-32003,\"data\":{\"retryAfterMs\":300}}";
	struct client a, b;
	struct work w[3] = { 0 };

	begin();
	come(&a, "a", 1, NULL);
	come(&b, "b", 1, NULL);
	/* an error of the tool is final */
	w[0].x.retries = 3;
	submit(&w[0], "fails", "t");
	OK(a.n == 1 && refuse(&a, 0, "{\"code\":-32000}"));
	OK(w[0].done == 1 && w[0].how == HUB_ERROR && w[0].code == -32000);
	/* a client that refused the tool does not get it again */
	submit(&w[0], "lacks", "t");
	OK(b.n == 1 && refuse(&b, 0, tool));
	OK(w[0].done == 0 && a.n == 2 && answer(&a, 1, "1"));
	OK(w[0].done == 1 && w[0].tries == 2);
	submit(&w[0], "again", "t");
	OK(a.n == 3 && b.n == 1 && refuse(&a, 2, tool));
	OK(w[0].done == 1 && w[0].code == -32004);	/* no other client */
	/* a busy client gets it later */
	hub_disconnected(&a.link);
	come(&a, "a", 1, "t");
	w[1].x.retries = 1;
	submit(&w[1], "busy", "t");
	OK(a.n == 1 && refuse(&a, 0, busy));
	OK(w[1].done == 0 && a.n == 1);
	pass(200);
	OK(a.n == 1);
	pass(200);
	OK(a.n == 2 && refuse(&a, 1, busy));
	OK(w[1].done == 1 && w[1].how == HUB_ERROR && w[1].tries == 2);
	/* it can be cancelled meanwhile */
	w[2].x.retries = 5;
	submit(&w[2], "rests", "t");
	OK(refuse(&a, 2, "{\"code\":-32005}") && hub_busy(&w[2].x));
	hub_cancel(&w[2].x);
	pass(2000);
	OK(a.n == 3 && w[2].done == 0);
	hub_disconnected(&a.link);
	hub_disconnected(&b.link);
	end();
}

static void
test_limits(void)
{
	struct client a;
	struct work w[3] = { 0 };
	char id[32];
	size_t i, known;

	begin();
	hub.queue_max = 2;
	submit(&w[0], "1", "t");
	submit(&w[1], "2", "t");
	w[2].x = (struct hub_eval){ .tool = STR("t") };
	OK(hub_submit(&hub, &w[2].x, &e) == -1);
	OK(!hub_busy(&w[2].x) && hub.waiting == 2);
	hub_cancel(&w[0].x);
	hub_cancel(&w[1].x);
	/* few of the clients that are away are remembered */
	for (i = 0; i < 3000; i++) {
		open_link(&a);
		snprintf(id, sizeof(id), "c-%zu", i);
		enter(&a, id, 1, NULL);
		hub_disconnected(&a.link);
	}
	pass(10100);
	known = hub.list[HUB_KNOWN].n;
	OK(known == HUB_AWAY_MAX);
	/* the number of connected clients is limited */
	for (i = 0; i < HUB_CLIENTS_MAX; i++) {
		open_link(&a);
		snprintf(id, sizeof(id), "d-%zu", i);
		if (enter(&a, id, 1, NULL) == -1)
			break;
		hub_disconnected(&a.link);
	}
	OK(i == HUB_CLIENTS_MAX);	/* those that are away are forgotten */
	open_link(&a);
	OK(enter(&a, "one-more", 1, NULL) == -1);
	OK(enter(&a, "d-5", 1, NULL) == 0);
	OK(enter(&a, "d-6", 1, NULL) == -1);	/* another id */
	hub_disconnected(&a.link);
	end();
}

/* Its counters continue when it returns. */
static void
test_list(void)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct client a;
	struct work w = { 0 };
	const struct json *v;
	int64_t n;

	begin();
	come(&a, "a", 2, "t");
	submit(&w, "1", "t");
	answer(&a, 0, "1");
	hub_disconnected(&a.link);
	come(&a, "a", 2, "t");
	submit(&w, "2", "t");
	answer(&a, 0, "1");
	submit(&w, "3", "t");
	refuse(&a, 1, "{\"code\":-32000}");
	hub_put_clients(&o, &hub);
	v = json_first(value(arena_cstr(&arena, buf_str(&b))));
	OK(v != NULL && v->next == NULL);
	OK(str_is(json_text(json_getc(v, "clientId")), "a"));
	OK(json_int(json_getc(v, "done"), &n) && n == 2);
	OK(json_int(json_getc(v, "failed"), &n) && n == 1);
	OK(json_int(json_getc(v, "maxConcurrency"), &n) && n == 2);
	OK(json_bool(json_getc(v, "ready")));
	OK(json_count(json_getc(v, "tools")) == 1);
	hub_disconnected(&a.link);
	buf_free(&b);
	end();
}

int
main(void)
{
	l = loop_new(fake_clock, &e);
	RUN(test_ids, test_dispatch, test_order, test_cancel, test_deadline,
	    test_wait, test_lost, test_return, test_crash, test_errors,
	    test_limits, test_list);
	loop_free(l);
	arena_free(&arena);
	return tap_done();
}
