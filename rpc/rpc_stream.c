/* SPDX-License-Identifier: ISC */
/*
 * Events, kept.
 *
 *	text	dropped | event first | event first + 1 | ... | event next - 1
 *		0       text_at                                         text.n
 *	ends	the offset in text after each, the first one's at end_at
 *
 * What is dropped is taken out when it is half of all, so that each byte is
 * moved once at most.
 */
#include "rpc/rpc_stream.h"

#include <assert.h>

#include "json.h"

enum { CUT_BYTES = 3000 };	/* of a text that is too long */

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

/* The last one always stays. */
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

static void
cut(struct str *s)
{
	s->n = s->n > CUT_BYTES ? CUT_BYTES : s->n;
}

/* The object of stream-json, with the run's id by the name it has here. */
static void
put(struct rpc_stream *s, const struct event *ev)
{
	struct json_out o = { .put = buf_sink, .ctx = &s->text };

	buf_fmt(&s->text, "id: %llu\nevent: %s\ndata: ",
	    (unsigned long long)ev->seq, event_name(ev->type));
	event_line(&s->text, ev);
	s->text.n -= 2;		/* a brace and a newline */
	buf_put(&s->text, STR(",\"runId\":"));
	json_put_cstr(&o, s->id);
	buf_put(&s->text, STR("}\n\n"));
}

void
rpc_stream_add(struct rpc_stream *s, const struct event *ev)
{
	struct rpc_tap *t, *next;
	struct event less = *ev;
	size_t from = s->text.n;

	if (s->max == 0)
		return;
	if (s->next == 0)
		s->first = s->next = ev->seq;
	assert(ev->seq == s->next);
	put(s, ev);
	if (s->text.n - from > RPC_EVENT_MAX) {
		s->text.n = from;
		cut(&less.prompt);
		cut(&less.detail);
		cut(&less.error);
		cut(&less.problem.message);
		cut(&less.task);
		cut(&less.name);
		put(s, &less);
	}
	buf_put(&s->ends, (struct str){ (char *)&s->text.n,
	    sizeof(s->text.n) });
	s->next = ev->seq + 1;
	drop(s);
	for (t = s->taps; t != NULL; t = next) {
		next = t->next;
		t->fn(t->arg);
	}
}

void
rpc_stream_end(struct rpc_stream *s)
{
	struct rpc_tap *t, *next;

	s->over = true;
	for (t = s->taps; t != NULL; t = next) {
		next = t->next;
		t->fn(t->arg);
	}
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

struct str
rpc_stream_get(const struct rpc_stream *s, uint64_t *next, size_t max)
{
	uint64_t lo, hi = s->next, mid;
	size_t from;

	if (*next < s->first)
		*next = s->first;
	if (*next >= s->next)
		return STR("");
	from = end_of(s, *next - 1);
	lo = *next + 1;		/* one at least */
	while (lo < hi) {
		mid = lo + (hi - lo + 1) / 2;
		if (end_of(s, mid - 1) - from <= max)
			lo = mid;
		else
			hi = mid - 1;
	}
	*next = lo;
	return (struct str){ s->text.p + from, end_of(s, lo - 1) - from };
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
	t->next = s->taps;
	t->prev = &s->taps;
	if (t->next != NULL)
		t->next->prev = &t->next;
	s->taps = t;
}

void
rpc_stream_untap(struct rpc_tap *t)
{
	if (t->prev == NULL)
		return;
	*t->prev = t->next;
	if (t->next != NULL)
		t->next->prev = t->prev;
	t->prev = NULL;
}
