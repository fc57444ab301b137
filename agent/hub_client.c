/* SPDX-License-Identifier: ISC */
/*
 * Clients: who is known, who is connected, who has room.
 *
 * Invariants:
 *	is_idle == hub_has_room(), after each call from outside;
 *	is_away: no link, not lost, nothing running;
 *	lost: no link, and lost_timer runs.
 *
 * Places that are stuck: a client that was given up on an evaluation may
 * still be at it, and is not to have more at once than it said.  They are
 * free again when it answers, however late, when it says that it is ready,
 * or when the time is over that it had for it.  So one that never answers
 * gets little to spoil.
 */
#include "agent/hub_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/os.h"
#include "json.h"

enum { SWEEP_MS = 1000 };

static void on_lost(void *);
static void on_sweep(void *);

void
hub_init(struct hub *r)
{
	r->last = &r->head;
	r->last_idle = &r->idle;
	r->last_away = &r->away;
	r->sweep = (struct timer){ .fn = on_sweep, .arg = r };
}

bool
hub_id_ok(struct str s)
{
	static const char other[] = "._:@+=~-";
	size_t i, k;
	char c;

	for (i = 0; i < s.n; i++) {
		c = s.p[i];
		if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
		    (c >= 'A' && c <= 'Z'))
			continue;
		for (k = 0; k < sizeof(other) - 1 && c != other[k]; k++)
			;
		if (k == sizeof(other) - 1)
			return false;
	}
	return s.n > 0 && s.n <= HUB_ID_MAX;
}

struct str
hub_stamp(char out[HUB_STAMP], int64_t wall_ns)
{
	time_t sec = (time_t)(wall_ns / 1000000000);
	struct tm tm;
	size_t n = 0;

	if (gmtime_r(&sec, &tm) != NULL)
		n = strftime(out, HUB_STAMP, "%Y-%m-%dT%H:%M:%S", &tm);
	n += (size_t)snprintf(out + n, HUB_STAMP - n, ".%03dZ",
	    (int)(wall_ns / 1000000 % 1000));
	return (struct str){ out, n };
}

/*
 * The table.
 */
static struct hub_client **
bucket_of(struct hub *r, struct str id)
{
	uint64_t h = 14695981039346656037u;
	size_t i;

	for (i = 0; i < id.n; i++)
		h = (h ^ (unsigned char)id.p[i]) * 1099511628211u;
	return &r->bucket[(h ^ h >> 32) % HUB_BUCKETS];
}

static struct hub_client *
find(struct hub *r, struct str id)
{
	struct hub_client *c;

	for (c = *bucket_of(r, id); c != NULL; c = c->next_hash)
		if (str_eq(c->id, id))
			return c;
	return NULL;
}

static void
set_away(struct hub_client *c, bool away)
{
	struct hub *r = c->hub;

	if (away == c->is_away)
		return;
	c->is_away = away;
	if (away) {
		c->next_away = NULL;
		c->prev_away = r->last_away;
		*r->last_away = c;
		r->last_away = &c->next_away;
		r->naway++;
		return;
	}
	*c->prev_away = c->next_away;
	if (c->next_away != NULL)
		c->next_away->prev_away = c->prev_away;
	else
		r->last_away = c->prev_away;
	r->naway--;
}

static void
forget(struct hub_client *c)
{
	struct hub *r = c->hub;
	struct hub_client **p = bucket_of(r, c->id);
	struct arena arena = c->arena;	/* the record is in it */

	while (*p != c)
		p = &(*p)->next_hash;
	*p = c->next_hash;
	set_away(c, false);
	*c->prev = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	else
		r->last = c->prev;
	r->known--;
	arena_free(&c->own);
	arena_free(&arena);
}

static struct hub_client *
create(struct hub *r, struct str id)
{
	struct arena arena = { 0 };
	struct hub_client *c = NEW(&arena, struct hub_client);
	struct hub_client **b = bucket_of(r, id);

	c->arena = arena;
	c->hub = r;
	c->id = arena_str(&c->arena, id);
	c->birth = ++r->births;
	c->lost_timer = (struct timer){ .fn = on_lost, .arg = c };
	c->next_hash = *b;
	*b = c;
	c->prev = r->last;
	*r->last = c;
	r->last = &c->next;
	r->known++;
	return c;
}

void
hub_fini(struct hub *r)
{
	struct hub_client *c;

	timer_stop(r->loop, &r->sweep);
	while ((c = r->head) != NULL) {
		timer_stop(r->loop, &c->lost_timer);
		if (c->link != NULL)
			c->link->client = NULL;
		forget(c);
	}
	arena_free(&r->arena);
}

/*
 * What they can do.
 */
static int
by_name(const void *a, const void *b)
{
	return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

bool
hub_can(const struct hub_client *c, struct str tool)
{
	size_t i;

	for (i = 0; i < c->nlacks; i++)
		if (str_eq(c->lacks[i], tool))
			return false;
	return c->tools.n == 0 || bsearch(&tool, c->tools.v, c->tools.n,
	    sizeof(*c->tools.v), by_name) != NULL;
}

bool
hub_has_room(const struct hub_client *c)
{
	return c->link != NULL && c->ready && c->running + c->stuck < c->room;
}

/* Those that just got something go behind the others. */
void
hub_settle(struct hub_client *c)
{
	struct hub *r = c->hub;
	bool room = hub_has_room(c);

	if (c->is_idle) {
		*c->prev_idle = c->next_idle;
		if (c->next_idle != NULL)
			c->next_idle->prev_idle = c->prev_idle;
		else
			r->last_idle = c->prev_idle;
	}
	c->is_idle = room;
	if (!room)
		return;
	c->next_idle = NULL;
	c->prev_idle = r->last_idle;
	*r->last_idle = c;
	r->last_idle = &c->next_idle;
}

void
hub_learn_lack(struct hub_client *c, struct str tool)
{
	if (c->nlacks < HUB_LACKS && hub_can(c, tool))
		c->lacks[c->nlacks++] = arena_str(&c->own, tool);
}

static void
learn(struct hub_client *c, const struct hub_hello *h)
{
	struct arena own = { 0 };	/* for h may be from the old one */
	struct field_strs tools = { NEW_N(&own, struct str, h->tools.n), 0 };
	size_t i;

	for (i = 0; i < h->tools.n; i++)
		tools.v[tools.n++] = arena_str(&own, h->tools.v[i]);
	if (tools.n > 0)
		qsort(tools.v, tools.n, sizeof(*tools.v), by_name);
	c->name = arena_str(&own, h->name);
	c->version = arena_str(&own, h->version);
	c->tools = tools;
	c->nlacks = 0;
	c->room = h->room == 0 ? 1 : h->room > HUB_ROOM_MAX ?
	    HUB_ROOM_MAX : h->room;
	c->stops = h->stops;
	arena_free(&c->own);
	c->own = own;
}

/*
 * Places that are stuck.
 */
void
hub_stick(struct hub_client *c, int64_t ms)
{
	struct hub *r = c->hub;
	int64_t until = add_near(loop_now(r->loop), ms);

	if (until > c->stuck_until)
		c->stuck_until = until;
	if (c->stuck++ == 0 && r->nstuck++ == 0)
		timer_start(r->loop, &r->sweep, SWEEP_MS);
	hub_settle(c);
}

void
hub_unstick(struct hub_client *c, size_t n)
{
	if (c->stuck == 0)
		return;
	c->stuck -= n < c->stuck ? n : c->stuck;
	if (c->stuck == 0) {
		c->hub->nstuck--;
		c->stuck_until = 0;
	}
	hub_settle(c);
}

static void
on_sweep(void *arg)
{
	struct hub *r = arg;
	int64_t now = loop_now(r->loop);
	struct hub_client *c;

	for (c = r->head; c != NULL; c = c->next)
		if (c->stuck > 0 && now >= c->stuck_until) {
			hub_unstick(c, c->stuck);
			hub_take_work(c);
		}
	if (r->nstuck > 0)
		timer_start(r->loop, &r->sweep, SWEEP_MS);
}

/*
 * Coming and going.
 */
static void
changed(struct hub *r)
{
	if (r->changed != NULL)
		r->changed(r->arg);
}

static void
attach(struct hub_client *c, struct hub_link *link)
{
	struct hub *r = c->hub;
	struct hub_link *old = c->link;

	timer_stop(r->loop, &c->lost_timer);
	c->lost = false;
	set_away(c, false);
	c->link = link;
	link->client = c;
	c->ready = false;
	c->stale = c->running > 0;
	c->since_ns = os_wall_ns();
	hub_unstick(c, c->stuck);
	hub_clock(c, true);
	if (old == NULL) {
		r->nclients++;
	} else {
		old->client = NULL;
		old->replaced(old->arg);
	}
}

int
hub_register(struct hub *r, struct hub_link *link,
    const struct hub_hello *h, struct err *e)
{
	struct hub_client *c = find(r, h->id);

	if (link->client != NULL && link->client != c)
		return err_set(e, ERR_SCHEMA, "this connection is "
		    "registered with another clientId");
	if (c == NULL && r->known >= HUB_CLIENTS_MAX && r->away != NULL)
		forget(r->away);
	if (c == NULL && r->known >= HUB_CLIENTS_MAX)
		return err_set(e, ERR_LIMIT, "too many clients");
	if (c == NULL)
		c = create(r, h->id);
	learn(c, h);
	if (c->link != link)
		attach(c, link);
	c->seen_ns = os_wall_ns();
	hub_settle(c);
	hub_take_work(c);
	changed(r);
	return 0;
}

void
hub_ready(struct hub_link *link)
{
	struct hub_client *c = link->client;

	if (c == NULL)
		return;
	c->ready = true;
	hub_unstick(c, c->stuck);
	hub_settle(c);
	if (c->stale) {
		c->stale = false;
		hub_send_again(c);
	}
	hub_take_work(c);
	changed(c->hub);
}

void
hub_part(struct hub_link *link)
{
	struct hub_client *c = link->client;
	struct hub *r;

	if (c == NULL)
		return;
	r = c->hub;
	link->client = NULL;
	c->link = NULL;
	c->ready = false;
	c->lost = true;
	c->seen_ns = os_wall_ns();
	r->nclients--;
	hub_unstick(c, c->stuck);
	hub_settle(c);
	hub_clock(c, false);
	timer_start(r->loop, &c->lost_timer, r->lost_ms);
	changed(r);
}

static void
on_lost(void *arg)
{
	struct hub_client *c = arg;
	struct hub *r = c->hub;

	c->lost = false;
	hub_take_away(c);
	set_away(c, true);
	if (r->naway > HUB_AWAY_MAX)
		forget(r->away);
	changed(r);
}

void
hub_heard(struct hub_link *link)
{
	if (link->client != NULL)
		link->client->seen_ns = os_wall_ns();
}

/*
 * The list of them.
 */
static void
put_number(struct json_out *o, const char *key, uint64_t n)
{
	json_put_member_int(o, key, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

static void
put_client(struct json_out *o, const struct hub_client *c)
{
	char text[HUB_STAMP];
	size_t i;

	json_open(o, '{');
	json_put_member_str(o, "clientId", c->id);
	if (c->name.n > 0)
		json_put_member_str(o, "name", c->name);
	json_open_member(o, "tools", '[');
	for (i = 0; i < c->tools.n; i++)
		json_put_str(o, c->tools.v[i]);
	json_close(o, ']');
	put_number(o, "maxConcurrency", c->room);
	json_put_member_str(o, "version", c->version);
	json_put_member_bool(o, "connected", c->link != NULL);
	json_put_member_bool(o, "ready", c->ready);
	put_number(o, "running", c->running);
	put_number(o, "done", c->done);
	put_number(o, "failed", c->failed);
	json_put_member_str(o, "connectedAt", hub_stamp(text, c->since_ns));
	json_put_member_str(o, "lastSeen", hub_stamp(text, c->seen_ns));
	json_close(o, '}');
}

void
hub_put_clients(struct json_out *o, const struct hub *r)
{
	const struct hub_client *c;

	json_open(o, '[');
	for (c = r->head; c != NULL; c = c->next)
		if (c->link != NULL || c->lost)
			put_client(o, c);
	json_close(o, ']');
}
