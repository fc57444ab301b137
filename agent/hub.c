/* SPDX-License-Identifier: ISC */
/*
 * Evaluations: those that wait, by tool and priority; those that a client
 * has; and how they end.
 *
 * Invariants:
 *	WAITING: it is in the list of its group and priority;
 *	SENT: it is in the list of its client, which counts it as running;
 *	its timer runs unless its client is lost;
 *	a group has at least one evaluation;
 *	nobody who has room could do what waits, but for what was taken from
 *	him (`avoid`).
 *
 * done() may submit and cancel any evaluation, so that no pointer to a list
 * is kept over it.
 */
#include "agent/hub_internal.h"

#include <string.h>

#include "json.h"

enum {
	REST_MS = 1000,		/* before a client is asked again */
	REST_MAX_MS = 60000,
	AGAIN_MAX = 3		/* sent again to one that comes and goes */
};

static const char *const priorities[] = {
	[HUB_LOW] = "low", [HUB_NORMAL] = "normal",
	[HUB_HIGH] = "high", [HUB_CRITICAL] = "critical",
};

const char *
hub_priority_name(enum hub_priority p)
{
	return priorities[p];
}

bool
hub_priority_find(struct str s, enum hub_priority *out)
{
	size_t i;

	for (i = 0; i < COUNTOF(priorities); i++)
		if (str_is(s, priorities[i])) {
			*out = (enum hub_priority)i;
			return true;
		}
	return false;
}

void
hub_list_add(struct hub_list *l, struct hub_eval *e, bool front)
{
	if (l->last == NULL)
		l->last = &l->head;
	e->prev = front ? &l->head : l->last;
	e->next = *e->prev;
	*e->prev = e;
	if (e->next != NULL)
		e->next->prev = &e->next;
	else
		l->last = &e->next;
}

void
hub_list_del(struct hub_list *l, struct hub_eval *e)
{
	*e->prev = e->next;
	if (e->next != NULL)
		e->next->prev = e->prev;
	else
		l->last = e->prev;
	e->next = NULL;
	e->prev = NULL;
}

/*
 * Waiting.
 */
static struct str
group_name(const struct hub_group *g)
{
	return (struct str){ g->name, g->nname };
}

static struct hub_group *
get_group(struct hub *r, struct str tool)
{
	struct hub_group *g;

	for (g = r->groups; g != NULL; g = g->next)
		if (str_eq(group_name(g), tool))
			return g;
	g = r->spare;
	if (g != NULL)
		r->spare = g->next;
	else
		g = NEW(&r->arena, struct hub_group);
	*g = (struct hub_group){ .next = r->groups, .nname = tool.n };
	memcpy(g->name, tool.p, tool.n);
	r->groups = g;
	return g;
}

static void
drop_group(struct hub *r, struct hub_group *g)
{
	struct hub_group **p;

	for (p = &r->groups; *p != g; p = &(*p)->next)
		;
	*p = g->next;
	g->next = r->spare;
	r->spare = g;
}

static void on_wait(void *);

static void
start_timer(struct hub_eval *e, void (*fn)(void *), int64_t ms)
{
	timer_stop(e->hub->loop, &e->timer);
	e->timer.fn = fn;
	e->timer.arg = e;
	timer_start(e->hub->loop, &e->timer, ms);
}

static void
enqueue(struct hub_eval *e, bool front)
{
	e->state = HUB_WAITING;
	e->group = get_group(e->hub, e->tool);
	hub_list_add(&e->group->list[e->priority], e, front);
	e->group->n++;
	e->hub->waiting++;
	start_timer(e, on_wait, e->wait_ms);
}

static void
dequeue(struct hub_eval *e)
{
	hub_list_del(&e->group->list[e->priority], e);
	e->hub->waiting--;
	if (--e->group->n == 0)
		drop_group(e->hub, e->group);
	e->group = NULL;
}

/* Somebody has the tool, and is not stuck with all it can do. */
static bool
is_able(const struct hub_client *c, struct str tool)
{
	return c->link != NULL && c->ready && c->stuck < c->room &&
	    hub_can(c, tool);
}

static bool
others_able(const struct hub *r, struct str tool, uint64_t but)
{
	const struct hub_client *c;

	for (c = r->head; c != NULL; c = c->next)
		if (c->birth != but && is_able(c, tool))
			return true;
	return false;
}

/* One that was taken from a client goes back to it only in need. */
static bool
may_have(const struct hub_client *c, const struct hub_eval *e)
{
	return e->avoid != c->birth || !others_able(c->hub, e->tool, c->birth);
}

/*
 * At a client.
 */
static void on_deadline(void *);

static int64_t
deadline_ms(const struct hub_eval *e)
{
	return add_near(e->timeout_ms, e->hub->grace_ms);
}

static void
give(struct hub_client *c, struct hub_eval *e)
{
	struct hub *r = c->hub;

	dequeue(e);
	e->state = HUB_SENT;
	e->client = c;
	e->tries++;
	e->again = 0;
	e->serial = ++r->serial;
	e->sent_at = loop_clock(r->loop);
	hub_list_add(&c->evals, e, false);
	c->running++;
	r->running++;
	r->dispatched++;
	hub_settle(c);
	start_timer(e, on_deadline, deadline_ms(e));
	c->link->evaluate(c->link->arg, e);
}

/* From its client; that may have others now. */
static void
take(struct hub_eval *e)
{
	struct hub_client *c = e->client;

	timer_stop(e->hub->loop, &e->timer);
	hub_list_del(&c->evals, e);
	c->running--;
	e->hub->running--;
	e->state = HUB_IDLE;
}

static void
finish(struct hub_eval *e, const struct hub_end *end)
{
	struct hub_end full = *end;

	full.client = e->client != NULL ? e->client->id : STR("");
	full.tries = e->tries;
	if (e->client != NULL)
		full.took_ms = loop_clock(e->hub->loop) - e->sent_at;
	e->state = HUB_IDLE;
	e->client = NULL;
	e->done(e->arg, &full);
}

/* To whoever can do it now; else it waits. */
static void
dispatch(struct hub_eval *e, bool front)
{
	struct hub *r = e->hub;
	struct hub_client *c;

	enqueue(e, front);
	for (c = r->idle; c != NULL; c = c->next_idle)
		if (hub_can(c, e->tool) && may_have(c, e)) {
			give(c, e);
			return;
		}
}

/* What waits longest of the most urgent, of what this one can do. */
static struct hub_eval *
best_for(const struct hub_client *c)
{
	const struct hub_group *g;
	struct hub_eval *e, *best = NULL;
	size_t p;

	for (g = c->hub->groups; g != NULL; g = g->next) {
		if (!hub_can(c, group_name(g)))
			continue;
		for (p = HUB_PRIORITY__MAX; p-- > 0; ) {
			if (best != NULL && p < (size_t)best->priority)
				break;
			for (e = g->list[p].head; e != NULL; e = e->next)
				if (may_have(c, e))
					break;
			if (e == NULL)
				continue;
			if (best == NULL || p > (size_t)best->priority ||
			    e->seq < best->seq)
				best = e;
			break;
		}
	}
	return best;
}

void
hub_take_work(struct hub_client *c)
{
	struct hub_eval *e;

	while (hub_has_room(c) && (e = best_for(c)) != NULL)
		give(c, e);
}

static void
on_rest(void *arg)
{
	dispatch(arg, true);
}

/* Taken from c: another try, if one is left. */
static bool
try_again(struct hub_eval *e, const struct hub_client *c, int64_t rest)
{
	if (e->tries > e->retries)
		return false;
	e->avoid = c->birth;
	if (rest > 0) {
		e->state = HUB_RESTING;
		start_timer(e, on_rest, rest);
	} else
		dispatch(e, true);
	return true;
}

/* It goes on at the client, which may not be told; nobody waits for it. */
static void
abandon(struct hub_eval *e)
{
	struct hub_client *c = e->client;

	take(e);
	if (c->link == NULL)
		return;
	hub_stick(c, e->timeout_ms);
	if (c->stops)
		c->link->stop(c->link->arg, e);
}

static void
on_deadline(void *arg)
{
	struct hub_eval *e = arg;

	e->client->failed++;
	abandon(e);
	finish(e, &(struct hub_end){ .how = HUB_LATE });
}

static void
on_wait(void *arg)
{
	struct hub_eval *e = arg;

	if (others_able(e->hub, e->tool, 0)) {
		start_timer(e, on_wait, e->wait_ms);
		return;
	}
	dequeue(e);
	finish(e, &(struct hub_end){ .how = HUB_NOBODY });
}

/*
 * The engine's side.
 */
int
hub_submit(struct hub *r, struct hub_eval *e, struct err *err)
{
	size_t max = r->queue_max > 0 ? r->queue_max : HUB_QUEUE_MAX;

	if (r->waiting >= max)
		return err_set(err, ERR_LIMIT,
		    "%zu evaluations wait already", r->waiting);
	if (e->tool.n > HUB_NAME_MAX)
		return err_set(err, ERR_LIMIT, "the tool's name is too long");
	e->hub = r;
	e->client = NULL;
	e->seq = ++r->seq;
	e->avoid = 0;
	e->tries = e->again = 0;
	dispatch(e, false);
	return 0;
}

bool
hub_busy(const struct hub_eval *e)
{
	return e->state != HUB_IDLE;
}

void
hub_cancel(struct hub_eval *e)
{
	switch ((enum hub_state)e->state) {
	case HUB_IDLE:
		return;
	case HUB_WAITING:
		dequeue(e);
		break;
	case HUB_SENT:
		abandon(e);
		break;
	case HUB_RESTING:
		break;
	}
	timer_stop(e->hub->loop, &e->timer);
	e->state = HUB_IDLE;
	e->client = NULL;
}

/*
 * The client's side.
 */
void
hub_clock(struct hub_client *c, bool on)
{
	struct hub_eval *e;

	for (e = c->evals.head; e != NULL; e = e->next)
		if (on)
			start_timer(e, on_deadline, deadline_ms(e));
		else
			timer_stop(c->hub->loop, &e->timer);
}

/* It is not coming back, or cannot do it any more. */
static void
move_on(struct hub_client *c, struct hub_eval *e)
{
	take(e);
	c->failed++;
	if (!try_again(e, c, 0))
		finish(e, &(struct hub_end){ .how = HUB_LOST });
}

void
hub_take_away(struct hub_client *c)
{
	while (c->evals.head != NULL)
		move_on(c, c->evals.head);
}

/* The serial stays: an answer to what was sent before is as good. */
void
hub_send_again(struct hub_client *c)
{
	uint64_t last = c->hub->serial;
	struct hub_eval *e;
	uint64_t at = 0;

	/* by serial, as the list may change on the way */
	while (c->link != NULL) {
		for (e = c->evals.head; e != NULL; e = e->next)
			if (e->serial > at)
				break;
		if (e == NULL || e->serial > last)
			return;
		at = e->serial;
		if (!hub_can(c, e->tool) || e->again++ >= AGAIN_MAX) {
			move_on(c, e);
			continue;
		}
		start_timer(e, on_deadline, deadline_ms(e));
		c->link->evaluate(c->link->arg, e);
	}
}

/* When to ask again, as the client says: retryAfter in s, or ...Ms. */
static int64_t
rest_of(const struct json *error)
{
	const struct json *data = json_getc(error, "data");
	const struct json *ms = json_getc(data, "retryAfterMs");
	const struct json *s = json_getc(data, "retryAfter");
	double rest = REST_MS;

	if (ms != NULL && json_double(ms, &rest))
		;
	else if (s != NULL && json_double(s, &rest))
		rest *= 1000;
	return !(rest > 1) ? 1 : rest > REST_MAX_MS ? REST_MAX_MS :
	    (int64_t)rest;
}

/*
 * Errors that say nothing of the evaluation, only of this client at this
 * time (seeds/004): it is tried again, as long as there are retries.
 */
static bool
is_passing(struct hub_client *c, struct hub_eval *e,
    const struct json *error)
{
	const struct json *v = json_getc(error, "code");
	int64_t code;

	if (v == NULL || !json_int(v, &code))
		return false;
	switch (code) {
	case -32003:			/* rate limit */
	case -32005:			/* resource */
		return try_again(e, c, rest_of(error));
	case -32004:			/* invalid tool */
		hub_learn_lack(c, e->tool);
		return others_able(c->hub, e->tool, c->birth) &&
		    try_again(e, c, 0);
	}
	return false;
}

static struct hub_eval *
find_serial(const struct hub_client *c, uint64_t serial)
{
	struct hub_eval *e;

	for (e = c->evals.head; e != NULL; e = e->next)
		if (e->serial == serial)
			return e;
	return NULL;
}

bool
hub_answer(struct hub_link *link, uint64_t serial,
    const struct json *result, const struct json *error)
{
	struct hub_client *c = link->client;
	struct hub_eval *e = c != NULL ? find_serial(c, serial) : NULL;

	if (c == NULL)
		return false;
	if (e == NULL) {
		c->hub->dropped++;
		if (serial > 0 && serial <= c->hub->serial && c->stuck > 0) {
			hub_unstick(c, 1);
			hub_take_work(c);
		}
		return false;
	}
	take(e);
	if (error != NULL)
		c->failed++;
	else
		c->done++;
	hub_settle(c);
	hub_take_work(c);	/* before what done() may submit */
	if (error == NULL || !is_passing(c, e, error))
		finish(e, &(struct hub_end){ .how = error != NULL ?
		    HUB_ERROR : HUB_RESULT, .result = result,
		    .error = error });
	return true;
}

/* Of several trials of the same evaluation it is the oldest. */
bool
hub_tell(struct hub_link *link, const struct hub_status *s)
{
	struct hub_client *c = link->client;
	struct hub_eval *e;

	if (c == NULL)
		return false;
	for (e = c->evals.head; e != NULL; e = e->next)
		if (s->serial != 0 ? e->serial == s->serial :
		    str_eq(e->id, s->evaluation)) {
			if (e->status != NULL)
				e->status(e->arg, s);
			return true;
		}
	return false;
}

size_t
hub_assigned(const struct hub *r, const struct hub_link *link)
{
	const struct hub_client *c = link->client;
	const struct hub_group *g;
	size_t n;

	if (c == NULL)
		return 0;
	n = c->running;
	for (g = r->groups; g != NULL; g = g->next)
		if (hub_can(c, group_name(g)))
			n += g->n;
	return n;
}
