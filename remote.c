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
#include "remote_part.h"

#include <string.h>

#include "json.h"

enum {
	REST_MS = 1000,		/* before a client is asked again */
	REST_MAX_MS = 60000,
	AGAIN_MAX = 3		/* sent again to one that comes and goes */
};

static const char *const priorities[] = {
	[REMOTE_LOW] = "low", [REMOTE_NORMAL] = "normal",
	[REMOTE_HIGH] = "high", [REMOTE_CRITICAL] = "critical",
};

const char *
remote_priority_name(enum remote_priority p)
{
	return priorities[p];
}

bool
remote_priority_find(struct str s, enum remote_priority *out)
{
	size_t i;

	for (i = 0; i < COUNTOF(priorities); i++)
		if (str_is(s, priorities[i])) {
			*out = (enum remote_priority)i;
			return true;
		}
	return false;
}

void
remote_list_add(struct remote_list *l, struct remote_eval *e, bool front)
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
remote_list_del(struct remote_list *l, struct remote_eval *e)
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
group_name(const struct remote_group *g)
{
	return (struct str){ g->name, g->nname };
}

static struct remote_group *
get_group(struct remote *r, struct str tool)
{
	struct remote_group *g;

	for (g = r->groups; g != NULL; g = g->next)
		if (str_eq(group_name(g), tool))
			return g;
	g = r->spare;
	if (g != NULL)
		r->spare = g->next;
	else
		g = NEW(&r->arena, struct remote_group);
	*g = (struct remote_group){ .next = r->groups, .nname = tool.n };
	memcpy(g->name, tool.p, tool.n);
	r->groups = g;
	return g;
}

static void
drop_group(struct remote *r, struct remote_group *g)
{
	struct remote_group **p;

	for (p = &r->groups; *p != g; p = &(*p)->next)
		;
	*p = g->next;
	g->next = r->spare;
	r->spare = g;
}

static void on_wait(void *);

static void
start_timer(struct remote_eval *e, void (*fn)(void *), int64_t ms)
{
	timer_stop(e->hub->loop, &e->timer);
	e->timer.fn = fn;
	e->timer.arg = e;
	timer_start(e->hub->loop, &e->timer, ms);
}

static void
enqueue(struct remote_eval *e, bool front)
{
	e->state = REMOTE_WAITING;
	e->group = get_group(e->hub, e->tool);
	remote_list_add(&e->group->list[e->priority], e, front);
	e->group->n++;
	e->hub->waiting++;
	start_timer(e, on_wait, e->wait_ms);
}

static void
dequeue(struct remote_eval *e)
{
	remote_list_del(&e->group->list[e->priority], e);
	e->hub->waiting--;
	if (--e->group->n == 0)
		drop_group(e->hub, e->group);
	e->group = NULL;
}

/* Somebody has the tool, and is not stuck with all it can do. */
static bool
is_able(const struct remote_client *c, struct str tool)
{
	return c->link != NULL && c->ready && c->stuck < c->room &&
	    remote_can(c, tool);
}

static bool
others_able(const struct remote *r, struct str tool, uint64_t but)
{
	const struct remote_client *c;

	for (c = r->head; c != NULL; c = c->next)
		if (c->birth != but && is_able(c, tool))
			return true;
	return false;
}

/* One that was taken from a client goes back to it only in need. */
static bool
may_have(const struct remote_client *c, const struct remote_eval *e)
{
	return e->avoid != c->birth || !others_able(c->hub, e->tool, c->birth);
}

/*
 * At a client.
 */
static void on_deadline(void *);

static int64_t
deadline_ms(const struct remote_eval *e)
{
	return add_near(e->timeout_ms, e->hub->grace_ms);
}

static void
give(struct remote_client *c, struct remote_eval *e)
{
	struct remote *r = c->hub;

	dequeue(e);
	e->state = REMOTE_SENT;
	e->client = c;
	e->tries++;
	e->again = 0;
	e->serial = ++r->serial;
	e->sent_at = loop_clock(r->loop);
	remote_list_add(&c->evals, e, false);
	c->running++;
	r->running++;
	r->dispatched++;
	remote_settle(c);
	start_timer(e, on_deadline, deadline_ms(e));
	c->link->evaluate(c->link->arg, e);
}

/* From its client; that may have others now. */
static void
take(struct remote_eval *e)
{
	struct remote_client *c = e->client;

	timer_stop(e->hub->loop, &e->timer);
	remote_list_del(&c->evals, e);
	c->running--;
	e->hub->running--;
	e->state = REMOTE_IDLE;
}

static void
finish(struct remote_eval *e, const struct remote_end *end)
{
	struct remote_end full = *end;

	full.client = e->client != NULL ? e->client->id : STR("");
	full.tries = e->tries;
	if (e->client != NULL)
		full.took_ms = loop_clock(e->hub->loop) - e->sent_at;
	e->state = REMOTE_IDLE;
	e->client = NULL;
	e->done(e->arg, &full);
}

/* To whoever can do it now; else it waits. */
static void
dispatch(struct remote_eval *e, bool front)
{
	struct remote *r = e->hub;
	struct remote_client *c;

	enqueue(e, front);
	for (c = r->idle; c != NULL; c = c->next_idle)
		if (remote_can(c, e->tool) && may_have(c, e)) {
			give(c, e);
			return;
		}
}

/* What waits longest of the most urgent, of what this one can do. */
static struct remote_eval *
best_for(const struct remote_client *c)
{
	const struct remote_group *g;
	struct remote_eval *e, *best = NULL;
	size_t p;

	for (g = c->hub->groups; g != NULL; g = g->next) {
		if (!remote_can(c, group_name(g)))
			continue;
		for (p = REMOTE_PRIORITY__MAX; p-- > 0; ) {
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
remote_take_work(struct remote_client *c)
{
	struct remote_eval *e;

	while (remote_has_room(c) && (e = best_for(c)) != NULL)
		give(c, e);
}

static void
on_rest(void *arg)
{
	dispatch(arg, true);
}

/* Taken from c: another try, if one is left. */
static bool
try_again(struct remote_eval *e, const struct remote_client *c, int64_t rest)
{
	if (e->tries > e->retries)
		return false;
	e->avoid = c->birth;
	if (rest > 0) {
		e->state = REMOTE_RESTING;
		start_timer(e, on_rest, rest);
	} else
		dispatch(e, true);
	return true;
}

/* It goes on at the client, which may not be told; nobody waits for it. */
static void
abandon(struct remote_eval *e)
{
	struct remote_client *c = e->client;

	take(e);
	if (c->link == NULL)
		return;
	remote_stick(c, e->timeout_ms);
	if (c->stops)
		c->link->stop(c->link->arg, e);
}

static void
on_deadline(void *arg)
{
	struct remote_eval *e = arg;

	e->client->failed++;
	abandon(e);
	finish(e, &(struct remote_end){ .how = REMOTE_LATE });
}

static void
on_wait(void *arg)
{
	struct remote_eval *e = arg;

	if (others_able(e->hub, e->tool, 0)) {
		start_timer(e, on_wait, e->wait_ms);
		return;
	}
	dequeue(e);
	finish(e, &(struct remote_end){ .how = REMOTE_NOBODY });
}

/*
 * The engine's side.
 */
int
remote_submit(struct remote *r, struct remote_eval *e, struct err *err)
{
	size_t max = r->queue_max > 0 ? r->queue_max : REMOTE_QUEUE_MAX;

	if (r->waiting >= max)
		return err_set(err, ERR_LIMIT,
		    "%zu evaluations wait already", r->waiting);
	if (e->tool.n > REMOTE_NAME_MAX)
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
remote_busy(const struct remote_eval *e)
{
	return e->state != REMOTE_IDLE;
}

void
remote_cancel(struct remote_eval *e)
{
	switch ((enum remote_state)e->state) {
	case REMOTE_IDLE:
		return;
	case REMOTE_WAITING:
		dequeue(e);
		break;
	case REMOTE_SENT:
		abandon(e);
		break;
	case REMOTE_RESTING:
		break;
	}
	timer_stop(e->hub->loop, &e->timer);
	e->state = REMOTE_IDLE;
	e->client = NULL;
}

/*
 * The client's side.
 */
void
remote_clock(struct remote_client *c, bool on)
{
	struct remote_eval *e;

	for (e = c->evals.head; e != NULL; e = e->next)
		if (on)
			start_timer(e, on_deadline, deadline_ms(e));
		else
			timer_stop(c->hub->loop, &e->timer);
}

/* It is not coming back, or cannot do it any more. */
static void
move_on(struct remote_client *c, struct remote_eval *e)
{
	take(e);
	c->failed++;
	if (!try_again(e, c, 0))
		finish(e, &(struct remote_end){ .how = REMOTE_LOST });
}

void
remote_take_away(struct remote_client *c)
{
	while (c->evals.head != NULL)
		move_on(c, c->evals.head);
}

/* The serial stays: an answer to what was sent before is as good. */
void
remote_send_again(struct remote_client *c)
{
	uint64_t last = c->hub->serial;
	struct remote_eval *e;
	uint64_t at = 0;

	/* by serial, as the list may change on the way */
	while (c->link != NULL) {
		for (e = c->evals.head; e != NULL; e = e->next)
			if (e->serial > at)
				break;
		if (e == NULL || e->serial > last)
			return;
		at = e->serial;
		if (!remote_can(c, e->tool) || e->again++ >= AGAIN_MAX) {
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
is_passing(struct remote_client *c, struct remote_eval *e,
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
		remote_learn_lack(c, e->tool);
		return others_able(c->hub, e->tool, c->birth) &&
		    try_again(e, c, 0);
	}
	return false;
}

static struct remote_eval *
find_serial(const struct remote_client *c, uint64_t serial)
{
	struct remote_eval *e;

	for (e = c->evals.head; e != NULL; e = e->next)
		if (e->serial == serial)
			return e;
	return NULL;
}

bool
remote_answer(struct remote_link *link, uint64_t serial,
    const struct json *result, const struct json *error)
{
	struct remote_client *c = link->client;
	struct remote_eval *e = c != NULL ? find_serial(c, serial) : NULL;

	if (c == NULL)
		return false;
	if (e == NULL) {
		c->hub->dropped++;
		if (serial > 0 && serial <= c->hub->serial && c->stuck > 0) {
			remote_unstick(c, 1);
			remote_take_work(c);
		}
		return false;
	}
	take(e);
	if (error != NULL)
		c->failed++;
	else
		c->done++;
	remote_settle(c);
	remote_take_work(c);	/* before what done() may submit */
	if (error == NULL || !is_passing(c, e, error))
		finish(e, &(struct remote_end){ .how = error != NULL ?
		    REMOTE_ERROR : REMOTE_RESULT, .result = result,
		    .error = error });
	return true;
}

/* Of several trials of the same evaluation it is the oldest. */
bool
remote_tell(struct remote_link *link, const struct remote_status *s)
{
	struct remote_client *c = link->client;
	struct remote_eval *e;

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
remote_assigned(const struct remote *r, const struct remote_link *link)
{
	const struct remote_client *c = link->client;
	const struct remote_group *g;
	size_t n;

	if (c == NULL)
		return 0;
	n = c->running;
	for (g = r->groups; g != NULL; g = g->next)
		if (remote_can(c, group_name(g)))
			n += g->n;
	return n;
}
