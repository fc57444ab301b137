/* SPDX-License-Identifier: ISC */
/*
 * The store of sessions: found by id, forgotten when idle for too long.
 *
 * One list has the longest unused session first, so that the next one to
 * forget is at its head.  An id is a UUID, from us or from a client: knowing it
 * is the permission to use the session.
 */
#include "rpc/session_internal.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/os.h"

int
session_make_id(char id[SESSION_ID], struct err *e)
{
	unsigned char random[16];

	if (os_random(random, sizeof(random), e) == -1)
		return -1;
	hex_uuid(id, random);
	return 0;
}

void
session_time(char out[SESSION_TIME], int64_t wall_ns)
{
	time_t t = (time_t)(wall_ns / 1000000000);
	struct tm tm;

	out[0] = '\0';
	if (gmtime_r(&t, &tm) != NULL)
		strftime(out, SESSION_TIME, "%Y-%m-%dT%H:%M:%SZ", &tm);
}

struct sessions *
sessions_new(struct rpc *r, const struct session_opts *o)
{
	struct arena arena = { 0 };
	struct sessions *all = NEW(&arena, struct sessions);

	all->arena = arena;
	all->rpc = r;
	all->opts = *o;
	all->set = r->setup.settings != NULL ? &r->setup.settings->sessions :
	    &config_defaults.sessions;
	all->tail = &all->head;
	all->queue_tail = &all->queue;
	rpc_add(r, &session_module, all);
	return all;
}

void
session_log(struct sessions *all, const char *message)
{
	if (all->opts.log != NULL)
		all->opts.log(all->opts.arg, message);
}

bool
session_key(struct str id, unsigned char key[SESSION_KEY])
{
	size_t i, n = 0;
	int digit;

	if (id.n != SESSION_ID - 1)
		return false;
	memset(key, 0, SESSION_KEY);
	for (i = 0; i < id.n; i++) {
		if (i == 8 || i == 13 || i == 18 || i == 23) {
			if (id.p[i] != '-')
				return false;
			continue;
		}
		digit = hex_digit(id.p[i]);
		if (digit == -1)
			return false;
		key[n / 2] = (unsigned char)(key[n / 2] << 4 | digit);
		n++;
	}
	return true;
}

/* Clients may choose ids that collide: a chain has at most sessions.max. */
static struct session **
chain_of(struct sessions *all, const unsigned char key[SESSION_KEY])
{
	struct str s = { (const char *)key, SESSION_KEY };

	return &all->chain[str_hash(s) & (SESSION_CHAINS - 1)];
}

struct session *
session_find(struct sessions *all, struct str id)
{
	unsigned char key[SESSION_KEY];
	struct session *s;

	if (!session_key(id, key))
		return NULL;
	s = *chain_of(all, key);
	while (s != NULL && memcmp(s->key, key, sizeof(key)) != 0)
		s = s->next_id;
	return s;
}

static void
append(struct session *s)
{
	struct sessions *all = s->all;

	s->next = NULL;
	s->prev = all->tail;
	*all->tail = s;
	all->tail = &s->next;
}

static void
take_out(struct session *s)
{
	if (s->next == NULL)
		s->all->tail = s->prev;
	LIST_REMOVE(s);
}

struct session *
session_insert(struct sessions *all, struct str id)
{
	struct arena arena = { 0 };
	struct session *s = NEW(&arena, struct session), **chain;

	s->arena = arena;
	s->all = all;
	snprintf(s->id, sizeof(s->id), "%.*s", STRF(id));
	s->last = &s->turns;
	s->created_ns = s->used_ns = os_wall_ns();
	s->used_ms = loop_clock(all->rpc->loop);
	session_key(id, s->key);
	chain = chain_of(all, s->key);
	s->next_id = *chain;
	*chain = s;
	append(s);
	all->n++;
	return s;
}

static void
forget_turn(struct session *s)
{
	struct session_turn *one = s->turns;

	s->turns = one->next;
	if (s->turns == NULL)
		s->last = &s->turns;
	s->turn_bytes -= one->asked.n + one->answered.n;
	buf_free(&one->asked);
	buf_free(&one->answered);
}

void
session_drop(struct session *s)
{
	struct sessions *all = s->all;
	struct session **p = chain_of(all, s->key);

	while (*p != s)
		p = &(*p)->next_id;
	*p = s->next_id;
	take_out(s);
	all->n--;
	session_remove_file(s);
	session_agent_close(s->agent);
	while (s->turns != NULL)
		forget_turn(s);
	buf_free(&s->working_dir);
	buf_free(&s->executor);
	buf_free(&s->model);
	arena_free(&s->arena);
}

void
session_end(struct session *s)
{
	struct sessions *all = s->all;
	struct buf *b = &all->ended;

	if (b->n < SESSION_ENDED_MAX * SESSION_KEY)
		buf_put(b, (struct str){ (const char *)s->key, SESSION_KEY });
	else
		memcpy(b->p + all->ended_at, s->key, SESSION_KEY);
	all->ended_at = (all->ended_at + SESSION_KEY) %
	    (SESSION_ENDED_MAX * SESSION_KEY);
	session_drop(s);
}

bool
session_has_ended(const struct sessions *all, struct str id)
{
	unsigned char key[SESSION_KEY];
	size_t i;

	if (!session_key(id, key))
		return false;
	for (i = 0; i < all->ended.n; i += SESSION_KEY)
		if (memcmp(all->ended.p + i, key, SESSION_KEY) == 0)
			return true;
	return false;
}

/* The end of a long text matters most: it has the outcome. */
static struct str
last_part(struct str s)
{
	if (s.n > SESSION_ANSWER_MAX) {
		s.p += s.n - SESSION_ANSWER_MAX;
		s.n = SESSION_ANSWER_MAX;
	}
	while (s.n > 0 && ((unsigned char)*s.p & 0xC0) == 0x80) {
		s.p++;
		s.n--;
	}
	return s;
}

void
session_remember(struct session *s, struct str asked, struct str answered)
{
	struct session_turn *one = NEW(&s->arena, struct session_turn);

	buf_put(&one->asked, last_part(asked));
	buf_put(&one->answered, last_part(answered));
	s->turn_bytes += one->asked.n + one->answered.n;
	*s->last = one;
	s->last = &one->next;
	while (s->turn_bytes > SESSION_HISTORY_MAX && s->turns != one)
		forget_turn(s);
}

/*
 * Time.
 */
static void
expire(struct sessions *all)
{
	int64_t before = loop_clock(all->rpc->loop) -
	    all->set->idle_seconds * 1000;
	struct session *s, *next;

	for (s = all->head; s != NULL && (s->fix != NULL ||
	    s->used_ms <= before); s = next) {
		next = s->next;
		if (s->fix == NULL)
			session_end(s);
	}
}

static void
on_expiry(void *arg)
{
	struct sessions *all = arg;

	expire(all);
	session_expire_later(all);
}

/* At the time when the first session without a fix expires. */
void
session_expire_later(struct sessions *all)
{
	const struct session *s = all->head;
	int64_t left;

	timer_stop(all->rpc->loop, &all->expiry);
	while (s != NULL && s->fix != NULL)
		s = s->next;
	if (s == NULL || all->stopping)
		return;
	left = s->used_ms + all->set->idle_seconds * 1000 -
	    loop_clock(all->rpc->loop);
	all->expiry = (struct timer){ .fn = on_expiry, .arg = all };
	timer_start(all->rpc->loop, &all->expiry, left > 0 ? left : 0);
}

/* Open agents are processes: closes those of the longest unused sessions. */
static void
limit_agents(struct sessions *all)
{
	struct session *s;
	size_t n = 0;

	for (s = all->head; s != NULL; s = s->next)
		n += s->agent != NULL && s->fix == NULL;
	for (s = all->head; s != NULL && n > SESSION_AGENTS_MAX; s = s->next)
		if (s->agent != NULL && s->fix == NULL) {
			session_agent_close(s->agent);
			s->agent = NULL;
			n--;
		}
}

void
session_touch(struct session *s)
{
	take_out(s);
	append(s);
	s->used_ms = loop_clock(s->all->rpc->loop);
	s->used_ns = os_wall_ns();
	limit_agents(s->all);
	session_expire_later(s->all);
}

struct session *
session_new(struct sessions *all, struct str id, struct err *e)
{
	char random[SESSION_ID];

	if (all->n >= (size_t)all->set->max)
		expire(all);
	if (all->n >= (size_t)all->set->max) {
		err_set(e, ERR_LIMIT, "Resource exhausted: there are %lld "
		    "sessions, the maximum; delete some",
		    (long long)all->set->max);
		return NULL;
	}
	if (id.p != NULL)
		return session_insert(all, id);
	return session_make_id(random, e) == -1 ? NULL :
	    session_insert(all, str_of(random));
}

void
session_sort(struct sessions *all, struct session *const *v, size_t n)
{
	size_t i;

	all->head = NULL;
	all->tail = &all->head;
	for (i = 0; i < n; i++)
		append(v[i]);
}
