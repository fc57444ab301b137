/* SPDX-License-Identifier: ISC */
/*
 * Clients: registration, connections, capacity.
 *
 * Invariants:
 *	in list HUB_IDLE_CLIENTS == hub_has_capacity(), after each call;
 *	in list HUB_AWAY: no link, not lost, nothing running;
 *	lost: no link, and lost_timer runs.
 *
 * Held slots: a client may still work on an evaluation that was abandoned, and
 * must not get more at once than its capacity.  A slot is free again when the
 * client answers, however late, when it reports that it is ready, or when the
 * evaluation's time is over.  So a client that never answers gets little work.
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
hub_init(struct hub *h)
{
	h->sweep = (struct timer){ .fn = on_sweep, .arg = h };
}

static void
list_del(struct hub_client *c, enum hub_membership k)
{
	struct hub_clients *l = &c->hub->list[k];
	struct hub_node *n = &c->node[k];

	if (n->prev == NULL)
		return;
	*n->prev = n->next;
	if (n->next != NULL)
		n->next->node[k].prev = n->prev;
	else
		l->last = n->prev;
	*n = (struct hub_node){ NULL, NULL };
	l->n--;
}

/* At the end; a member moves there. */
static void
list_add(struct hub_client *c, enum hub_membership k)
{
	struct hub_clients *l = &c->hub->list[k];

	list_del(c, k);
	if (l->last == NULL)
		l->last = &l->head;
	c->node[k].prev = l->last;
	*l->last = c;
	l->last = &c->node[k].next;
	l->n++;
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
bucket_of(struct hub *h, struct str id)
{
	uint64_t hash = str_hash(id);

	return &h->bucket[(hash ^ hash >> 32) % HUB_BUCKETS];
}

static struct hub_client *
find(struct hub *h, struct str id)
{
	struct hub_client *c;

	for (c = *bucket_of(h, id); c != NULL; c = c->next_hash)
		if (str_eq(c->id, id))
			return c;
	return NULL;
}

static void
forget(struct hub_client *c)
{
	struct hub_client **p = bucket_of(c->hub, c->id);
	struct arena arena = c->arena;	/* the record is in it */

	while (*p != c)
		p = &(*p)->next_hash;
	*p = c->next_hash;
	list_del(c, HUB_IDLE_CLIENTS);
	list_del(c, HUB_AWAY);
	list_del(c, HUB_KNOWN);
	arena_free(&c->own);
	arena_free(&arena);
}

static struct hub_client *
add_client(struct hub *h, struct str id)
{
	struct arena arena = { 0 };
	struct hub_client *c = NEW(&arena, struct hub_client);
	struct hub_client **b = bucket_of(h, id);

	*c = (struct hub_client){ .arena = arena, .hub = h, .next_hash = *b,
		.number = ++h->numbers,
		.lost_timer = { .fn = on_lost, .arg = c } };
	c->id = arena_str(&c->arena, id);
	*b = c;
	list_add(c, HUB_KNOWN);
	return c;
}

void
hub_fini(struct hub *h)
{
	struct hub_client *c;

	timer_stop(h->loop, &h->sweep);
	while ((c = h->list[HUB_KNOWN].head) != NULL) {
		timer_stop(h->loop, &c->lost_timer);
		if (c->link != NULL)
			c->link->client = NULL;
		forget(c);
	}
	arena_free(&h->arena);
}

/*
 * Capabilities.
 */
bool
hub_can(const struct hub_client *c, struct str tool)
{
	size_t i;

	for (i = 0; i < c->nmissing; i++)
		if (str_eq(c->missing[i], tool))
			return false;
	return c->tools.n == 0 || bsearch(&tool, c->tools.v, c->tools.n,
	    sizeof(*c->tools.v), str_order) != NULL;
}

bool
hub_has_capacity(const struct hub_client *c)
{
	return c->link != NULL && c->ready &&
	    c->running + c->held < c->capacity;
}

/* At the end of the list, so that clients take turns. */
void
hub_update_idle(struct hub_client *c)
{
	if (hub_has_capacity(c))
		list_add(c, HUB_IDLE_CLIENTS);
	else
		list_del(c, HUB_IDLE_CLIENTS);
}

void
hub_add_missing(struct hub_client *c, struct str tool)
{
	if (c->nmissing < HUB_MISSING_MAX && hub_can(c, tool))
		c->missing[c->nmissing++] = arena_str(&c->own, tool);
}

static void
set_capabilities(struct hub_client *c, const struct hub_hello *h)
{
	struct arena own = { 0 };	/* h may point into the old one */
	struct field_strs tools = { NEW_N(&own, struct str, h->tools.n), 0 };
	size_t i;

	for (i = 0; i < h->tools.n; i++)
		tools.v[tools.n++] = arena_str(&own, h->tools.v[i]);
	if (tools.n > 0)
		qsort(tools.v, tools.n, sizeof(*tools.v), str_order);
	c->name = arena_str(&own, h->name);
	c->version = arena_str(&own, h->version);
	c->tools = tools;
	c->nmissing = 0;
	c->capacity = h->capacity == 0 ? 1 : h->capacity > HUB_CAPACITY_MAX ?
	    HUB_CAPACITY_MAX : h->capacity;
	c->can_cancel = h->can_cancel;
	arena_free(&c->own);
	c->own = own;
}

/*
 * Held slots.
 */
void
hub_hold_slot(struct hub_client *c, int64_t ms)
{
	struct hub *h = c->hub;
	int64_t until = add_near(loop_now(h->loop), ms);

	if (until > c->held_until)
		c->held_until = until;
	if (c->held++ == 0 && h->nheld++ == 0)
		timer_start(h->loop, &h->sweep, SWEEP_MS);
	hub_update_idle(c);
}

void
hub_free_slots(struct hub_client *c, size_t n)
{
	if (c->held == 0)
		return;
	c->held -= n < c->held ? n : c->held;
	if (c->held == 0) {
		c->hub->nheld--;
		c->held_until = 0;
	}
	hub_update_idle(c);
}

static void
on_sweep(void *arg)
{
	struct hub *h = arg;
	int64_t now = loop_now(h->loop);
	struct hub_client *c;

	for (c = h->list[HUB_KNOWN].head; c != NULL;
	    c = c->node[HUB_KNOWN].next)
		if (c->held > 0 && now >= c->held_until) {
			hub_free_slots(c, c->held);
			hub_assign_work(c);
		}
	if (h->nheld > 0)
		timer_start(h->loop, &h->sweep, SWEEP_MS);
}

/*
 * Connections.
 */
static void
changed(struct hub *h)
{
	if (h->changed != NULL)
		h->changed(h->arg);
}

static void
attach(struct hub_client *c, struct hub_link *link)
{
	struct hub *h = c->hub;
	struct hub_link *old = c->link;

	timer_stop(h->loop, &c->lost_timer);
	c->lost = false;
	list_del(c, HUB_AWAY);
	c->link = link;
	link->client = c;
	c->ready = false;
	c->must_resend = c->running > 0;
	c->since_ns = os_wall_ns();
	hub_free_slots(c, c->held);
	hub_deadlines(c, true);
	if (old == NULL) {
		h->nclients++;
	} else {
		old->client = NULL;
		old->replaced(old->arg);
	}
}

int
hub_register(struct hub *h, struct hub_link *link,
    const struct hub_hello *hello, struct err *e)
{
	struct hub_client *c = find(h, hello->id);

	if (link->client != NULL && link->client != c)
		return err_set(e, ERR_SCHEMA, "this connection is "
		    "registered with another clientId");
	if (c == NULL && h->list[HUB_KNOWN].n >= HUB_CLIENTS_MAX &&
	    h->list[HUB_AWAY].head != NULL)
		forget(h->list[HUB_AWAY].head);
	if (c == NULL && h->list[HUB_KNOWN].n >= HUB_CLIENTS_MAX)
		return err_set(e, ERR_LIMIT, "too many clients");
	if (c == NULL)
		c = add_client(h, hello->id);
	set_capabilities(c, hello);
	if (c->link != link)
		attach(c, link);
	c->seen_ns = os_wall_ns();
	hub_update_idle(c);
	hub_assign_work(c);
	changed(h);
	return 0;
}

void
hub_ready(struct hub_link *link)
{
	struct hub_client *c = link->client;

	if (c == NULL)
		return;
	c->ready = true;
	hub_free_slots(c, c->held);
	hub_update_idle(c);
	if (c->must_resend) {
		c->must_resend = false;
		hub_resend(c);
	}
	hub_assign_work(c);
	changed(c->hub);
}

void
hub_disconnected(struct hub_link *link)
{
	struct hub_client *c = link->client;
	struct hub *h;

	if (c == NULL)
		return;
	h = c->hub;
	link->client = NULL;
	c->link = NULL;
	c->ready = false;
	c->lost = true;
	c->seen_ns = os_wall_ns();
	h->nclients--;
	hub_free_slots(c, c->held);
	hub_update_idle(c);
	hub_deadlines(c, false);
	timer_start(h->loop, &c->lost_timer, h->lost_ms);
	changed(h);
}

static void
on_lost(void *arg)
{
	struct hub_client *c = arg;
	struct hub *h = c->hub;

	c->lost = false;
	hub_reassign(c);
	list_add(c, HUB_AWAY);
	if (h->list[HUB_AWAY].n > HUB_AWAY_MAX)
		forget(h->list[HUB_AWAY].head);
	changed(h);
}

void
hub_seen(struct hub_link *link)
{
	if (link->client != NULL)
		link->client->seen_ns = os_wall_ns();
}

static void
put_number(struct json_out *o, const char *key, uint64_t n)
{
	json_put_member_int(o, key, n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

static void
put_client(struct json_out *o, const struct hub_client *c)
{
	char text[HUB_STAMP];

	json_open(o, '{');
	json_put_member_str(o, "clientId", c->id);
	json_put_member_nonempty(o, "name", c->name);
	field_put_strs(o, "tools", &c->tools);
	put_number(o, "maxConcurrency", c->capacity);
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
hub_put_clients(struct json_out *o, const struct hub *h)
{
	const struct hub_client *c;

	json_open(o, '[');
	for (c = h->list[HUB_KNOWN].head; c != NULL;
	    c = c->node[HUB_KNOWN].next)
		if (c->link != NULL || c->lost)
			put_client(o, c);
	json_close(o, ']');
}
