/* SPDX-License-Identifier: ISC */
/*
 * The stored events of a run.
 *
 *	text	dropped | event first | event first + 1 | ... | event next - 1
 *		0       text_at                                         text.n
 *	ends	the offset in text after each, the first one's at end_at
 *
 * Dropped bytes are removed when they are half of the text, so that each byte
 * is moved at most once.
 */
#include "rpc/rpc_stream.h"

#include <assert.h>

#include "json.h"

enum { CUT_BYTES = 3000 };	/* left of a long string */

static size_t
end_of(const struct rpc_stream *s, uint64_t i)
{
	const size_t *v = (const size_t *)(const void *)s->ends.p;

	return i < s->first ? s->text_at :
	    v[s->end_at + (size_t)(i - s->first)];
}

static void
compact(struct rpc_stream *s)
{
	size_t *v = (size_t *)(void *)s->ends.p;
	size_t i, n = s->ends.n / sizeof(*v);

	if (s->text_at < s->text.n / 2)
		return;
	for (i = s->end_at; i < n; i++)
		v[i] -= s->text_at;
	buf_eat(&s->text, s->text_at);
	buf_eat(&s->ends, s->end_at * sizeof(*v));
	s->text_at = s->end_at = 0;
}

/* Drops the oldest events, never the last. */
static void
drop(struct rpc_stream *s)
{
	bool some = false;

	while (s->text.n - s->text_at > s->max && s->first + 1 < s->next) {
		s->text_at = end_of(s, s->first);
		s->end_at++;
		s->first++;
		some = true;
	}
	if (some)
		compact(s);
}

/* The object of stream-json, with the run's id under the key of the API. */
static void
put(struct rpc_stream *s, const struct event *ev)
{
	struct json_out o = { .put = buf_sink, .ctx = &s->text };

	buf_fmt(&s->text, "id: %llu\nevent: %s\ndata: ",
	    (unsigned long long)ev->seq, event_name(ev->type));
	event_line(&s->text, ev);
	s->text.n -= 2;		/* the brace and the newline */
	buf_put(&s->text, STR(",\"runId\":"));
	json_put_cstr(&o, s->id);
	buf_put(&s->text, STR("}\n\n"));
}

static void
call_listeners(struct rpc_stream *s)
{
	struct rpc_tap *t, *next;

	for (t = s->taps; t != NULL; t = next) {
		next = t->next;
		t->fn(t->arg);
	}
}

void
rpc_stream_add(struct rpc_stream *s, const struct event *ev)
{
	struct event less = *ev;
	struct str *texts[] = { &less.prompt, &less.detail, &less.error,
		&less.problem.message, &less.task, &less.name };
	size_t i, from = s->text.n;

	if (s->max == 0)
		return;
	if (s->next == 0)
		s->first = s->next = ev->seq;
	assert(ev->seq == s->next);
	put(s, ev);
	if (s->text.n - from > RPC_EVENT_MAX) {
		s->text.n = from;
		for (i = 0; i < COUNTOF(texts); i++)
			*texts[i] = utf8_cut(*texts[i], CUT_BYTES);
		put(s, &less);
	}
	buf_put(&s->ends, (struct str){ (char *)&s->text.n,
	    sizeof(s->text.n) });
	s->next = ev->seq + 1;
	drop(s);
	call_listeners(s);
}

void
rpc_stream_end(struct rpc_stream *s)
{
	s->over = true;
	call_listeners(s);
}

void
rpc_stream_free(struct rpc_stream *s)
{
	struct rpc_tap *t;

	while ((t = s->taps) != NULL) {
		rpc_stream_untap(t);
		t->gone(t->arg);
	}
	buf_free(&s->text);
	buf_free(&s->ends);
	s->text_at = s->end_at = 0;
	s->first = s->next;
}

static int
by_offset(const void *key, const void *row)
{
	const size_t *a = key, *b = row;

	return (*a > *b) - (*a < *b);
}

struct str
rpc_stream_get(const struct rpc_stream *s, uint64_t *next, size_t max)
{
	const size_t *v = (const size_t *)(const void *)s->ends.p;
	size_t from, beyond, n;

	if (*next < s->first)
		*next = s->first;
	if (*next >= s->next)
		return STR("");
	from = end_of(s, *next - 1);
	beyond = from + max + 1;
	n = search_first(&beyond, v + s->end_at + (*next - s->first),
	    (size_t)(s->next - *next), sizeof(*v), by_offset);
	*next += n > 0 ? n : 1;		/* at least one */
	return (struct str){ s->text.p + from, end_of(s, *next - 1) - from };
}

size_t
rpc_stream_bytes(const struct rpc_stream *s, uint64_t next)
{
	if (next < s->first)
		next = s->first;
	return next >= s->next ? 0 : s->text.n - end_of(s, next - 1);
}

void
rpc_stream_tap(struct rpc_stream *s, struct rpc_tap *t)
{
	LIST_PUSH(&s->taps, t);
}

void
rpc_stream_untap(struct rpc_tap *t)
{
	if (t->prev == NULL)
		return;
	LIST_REMOVE(t);
	t->prev = NULL;
}
