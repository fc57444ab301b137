/* SPDX-License-Identifier: ISC */
/*
 * Evaluations: the queue by tool and priority, sending, retries and ends.
 *
 * Invariants:
 *	WAITING: the evaluation is in the list of its group and priority;
 *	SENT: it is in the list of its client, which counts it as running;
 *	its timer runs unless its client is lost;
 *	a group has at least one evaluation;
 *	no client with capacity could do a waiting evaluation, except one that
 *	the evaluation was taken from (`avoid`).
 *
 * done() may submit and cancel any evaluation: keep no pointer into a list
 * across it.
 */
#include "agent/hub_internal.h"

#include <string.h>

#include "json.h"

enum {
	DELAY_MS = 1000,	/* before a retry, by default */
	DELAY_MAX_MS = 60000,
	RESENDS_MAX = 3		/* to a client that keeps reconnecting */
};

static const char *const priorities[] = {
	[HUB_LOW] = "low", [HUB_NORMAL] = "normal",
	[HUB_HIGH] = "high", [HUB_CRITICAL] = "critical",
};

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
 * The queue.
 */
static struct str
group_name(const struct hub_group *g)
{
	return (struct str){ g->name, g->nname };
}

static struct hub_group *
get_group(struct hub *h, struct str tool)
{
	struct hub_group *g;

	for (g = h->groups; g != NULL; g = g->next)
		if (str_eq(group_name(g), tool))
			return g;
	g = h->spare;
	if (g != NULL)
		h->spare = g->next;
	else
		g = NEW(&h->arena, struct hub_group);
	*g = (struct hub_group){ .next = h->groups, .nname = tool.n };
	memcpy(g->name, tool.p, tool.n);
	h->groups = g;
	return g;
}

static void
drop_group(struct hub *h, struct hub_group *g)
{
	struct hub_group **p;

	for (p = &h->groups; *p != g; p = &(*p)->next)
		;
	*p = g->next;
	g->next = h->spare;
	h->spare = g;
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

/* Whether it will be able to do the tool, once it has capacity. */
static bool
is_able(const struct hub_client *c, struct str tool)
{
	return c->link != NULL && c->ready && c->held < c->capacity &&
	    hub_can(c, tool);
}

static bool
others_can(const struct hub *h, struct str tool, uint64_t except)
{
	const struct hub_client *c;

	for (c = h->list[HUB_KNOWN].head; c != NULL;
	    c = c->node[HUB_KNOWN].next)
		if (c->number != except && is_able(c, tool))
			return true;
	return false;
}

/* An evaluation returns to the client that lost it only if it must. */
static bool
may_get(const struct hub_client *c, const struct hub_eval *e)
{
	return e->avoid != c->number || !others_can(c->hub, e->tool, c->number);
}

static void on_deadline(void *);

static int64_t
deadline_ms(const struct hub_eval *e)
{
	return add_near(e->timeout_ms, e->hub->grace_ms);
}

static void
send_to(struct hub_client *c, struct hub_eval *e)
{
	struct hub *h = c->hub;

	dequeue(e);
	e->state = HUB_SENT;
	e->client = c;
	e->tries++;
	e->resends = 0;
	e->serial = ++h->serial;
	e->sent_at = loop_clock(h->loop);
	hub_list_add(&c->evals, e, false);
	c->running++;
	h->running++;
	h->dispatched++;
	hub_update_idle(c);
	start_timer(e, on_deadline, deadline_ms(e));
	c->link->evaluate(c->link->arg, e);
}

/* Takes the evaluation from its client. */
static void
detach(struct hub_eval *e)
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

/* Sends the evaluation to an idle client, else it waits. */
static void
dispatch(struct hub_eval *e, bool front)
{
	struct hub *h = e->hub;
	struct hub_client *c;

	enqueue(e, front);
	for (c = h->list[HUB_IDLE_CLIENTS].head; c != NULL;
	    c = c->node[HUB_IDLE_CLIENTS].next)
		if (hub_can(c, e->tool) && may_get(c, e)) {
			send_to(c, e);
			return;
		}
}

/* The oldest of the most urgent evaluations that this client can do. */
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
				if (may_get(c, e))
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
hub_assign_work(struct hub_client *c)
{
	struct hub_eval *e;

	while (hub_has_capacity(c) && (e = best_for(c)) != NULL)
		send_to(c, e);
}

static void
on_delay(void *arg)
{
	dispatch(arg, true);
}

/* Queues it for another client if retries are left, after a delay. */
static bool
try_again(struct hub_eval *e, const struct hub_client *c, int64_t delay)
{
	if (e->tries > e->retries)
		return false;
	e->avoid = c->number;
	if (delay > 0) {
		e->state = HUB_DELAYED;
		start_timer(e, on_delay, delay);
	} else
		dispatch(e, true);
	return true;
}

/*
 * Takes it from the client, which may continue to work on it: not every client
 * can cancel.
 */
static void
abandon(struct hub_eval *e)
{
	struct hub_client *c = e->client;

	detach(e);
	if (c->link == NULL)
		return;
	hub_hold_slot(c, e->timeout_ms);
	if (c->can_cancel)
		c->link->cancel(c->link->arg, e);
}

static void
on_deadline(void *arg)
{
	struct hub_eval *e = arg;

	e->client->failed++;
	abandon(e);
	finish(e, &(struct hub_end){ .how = HUB_TIMEOUT });
}

static void
on_wait(void *arg)
{
	struct hub_eval *e = arg;

	if (others_can(e->hub, e->tool, 0)) {
		start_timer(e, on_wait, e->wait_ms);
		return;
	}
	dequeue(e);
	finish(e, &(struct hub_end){ .how = HUB_NO_CLIENT });
}

/*
 * For the engine.
 */
int
hub_submit(struct hub *h, struct hub_eval *e, struct err *err)
{
	size_t max = h->queue_max > 0 ? h->queue_max : HUB_QUEUE_MAX;

	if (h->waiting >= max)
		return err_set(err, ERR_LIMIT, "the queue is full: %zu "
		    "evaluations are waiting", h->waiting);
	if (e->tool.n > HUB_NAME_MAX)
		return err_set(err, ERR_LIMIT, "the tool's name is longer "
		    "than %d bytes", HUB_NAME_MAX);
	e->hub = h;
	e->client = NULL;
	e->seq = ++h->seq;
	e->avoid = 0;
	e->tries = e->resends = 0;
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
	case HUB_DELAYED:
		break;
	}
	timer_stop(e->hub->loop, &e->timer);
	e->state = HUB_IDLE;
	e->client = NULL;
}

/*
 * For links and clients.
 */
void
hub_deadlines(struct hub_client *c, bool on)
{
	struct hub_eval *e;

	for (e = c->evals.head; e != NULL; e = e->next)
		if (on)
			start_timer(e, on_deadline, deadline_ms(e));
		else
			timer_stop(c->hub->loop, &e->timer);
}

/* The client does not return, or lost the tool. */
static void
reassign_one(struct hub_client *c, struct hub_eval *e)
{
	detach(e);
	c->failed++;
	if (!try_again(e, c, 0))
		finish(e, &(struct hub_end){ .how = HUB_LOST });
}

void
hub_reassign(struct hub_client *c)
{
	while (c->evals.head != NULL)
		reassign_one(c, c->evals.head);
}

/* The serial stays: an answer to the earlier request counts. */
void
hub_resend(struct hub_client *c)
{
	uint64_t last = c->hub->serial;
	struct hub_eval *e;
	uint64_t at = 0;

	/* by serial, since the list may change meanwhile */
	while (c->link != NULL) {
		for (e = c->evals.head; e != NULL; e = e->next)
			if (e->serial > at)
				break;
		if (e == NULL || e->serial > last)
			return;
		at = e->serial;
		if (!hub_can(c, e->tool) || e->resends++ >= RESENDS_MAX) {
			reassign_one(c, e);
			continue;
		}
		start_timer(e, on_deadline, deadline_ms(e));
		c->link->evaluate(c->link->arg, e);
	}
}

/* The delay that the client asks for: retryAfterMs, or retryAfter (s). */
static int64_t
retry_delay(const struct json *error)
{
	const struct json *data = json_getc(error, "data");
	const struct json *s = json_getc(data, "retryAfter");
	double delay = DELAY_MS;

	if (json_double(json_getc(data, "retryAfterMs"), &delay))
		;
	else if (s != NULL && json_double(s, &delay))
		delay *= 1000;
	return !(delay > 1) ? 1 : delay > (double)DELAY_MAX_MS ? DELAY_MAX_MS :
	    (int64_t)delay;
}

/*
 * Errors of this client at this time, not of the evaluation (seeds/004): retry
 * while retries are left.  True: it was queued again.
 */
static bool
retry_error(struct hub_client *c, struct hub_eval *e, const struct json *error)
{
	int64_t code;

	if (!json_int(json_getc(error, "code"), &code))
		return false;
	switch (code) {
	case -32003:			/* rate limit */
	case -32005:			/* resource */
		return try_again(e, c, retry_delay(error));
	case -32004:			/* invalid tool */
		hub_add_missing(c, e->tool);
		return others_can(c->hub, e->tool, c->number) &&
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
		if (serial > 0 && serial <= c->hub->serial && c->held > 0) {
			hub_free_slots(c, 1);
			hub_assign_work(c);
		}
		return false;
	}
	detach(e);
	if (error != NULL)
		c->failed++;
	else
		c->done++;
	hub_update_idle(c);
	hub_assign_work(c);	/* before done() submits more */
	if (error == NULL || !retry_error(c, e, error))
		finish(e, &(struct hub_end){ .how = error != NULL ?
		    HUB_ERROR : HUB_RESULT, .result = result, .error = error });
	return true;
}

/* By id, the oldest: several trials share the id of an evaluation. */
bool
hub_progress(struct hub_link *link, const struct hub_status *s)
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
hub_assigned(const struct hub *h, const struct hub_link *link)
{
	const struct hub_client *c = link->client;
	const struct hub_group *g;
	size_t n;

	if (c == NULL)
		return 0;
	n = c->running;
	for (g = h->groups; g != NULL; g = g->next)
		if (hub_can(c, group_name(g)))
			n += g->n;
	return n;
}
