/* SPDX-License-Identifier: ISC */
/* The contract of rpc_stream.h: events are kept, found by number, dropped. */
#include "rpc/rpc_stream.h"

#include <string.h>

#include "results/event.h"
#include "test/tool/tap.h"

static struct rpc_stream s;
static struct event_bus bus;
static unsigned heard, left;

static void
add(const char *task)
{
	struct event ev = { .type = EVENT_TASK_START, .task = str_of(task),
		.seq = ++bus.seq, .time_ms = 5000 };

	rpc_stream_add(&s, &ev);
}

static void
on_tap(void *arg)
{
	(void)arg;
	heard++;
}

static void
on_gone(void *arg)
{
	(void)arg;
	left++;
}

/* Counts the events, each complete. */
static size_t
count(struct str t)
{
	size_t i, n = 0;

	for (i = 1; i < t.n; i++)
		n += t.p[i] == '\n' && t.p[i - 1] == '\n';
	return t.n == 0 ? 0 : str_starts(t, STR("id: ")) &&
	    str_ends(t, STR("}\n\n")) ? n : 999;
}

static void
test_few(void)
{
	struct rpc_tap tap = { .fn = on_tap, .gone = on_gone };
	struct str t;
	uint64_t next = 0;

	s = (struct rpc_stream){ .max = 10000, .id = "run-\"1" };
	OK(rpc_stream_get(&s, &next, 100).n == 0 && next == 0);
	rpc_stream_tap(&s, &tap);
	add("a");
	add("b\n");
	add("c");
	OK(heard == 3);
	next = 0;
	t = rpc_stream_get(&s, &next, 100000);
	OK(count(t) == 3 && next == 4);
	OK(str_starts(t, STR("id: 1\nevent: task_start\ndata: {\"type\":"
	    "\"task_start\",\"idx\":0,\"task\":\"a\",")));
	OK(str_ends(t, STR("\"seq\":3,\"runId\":\"run-\\\"1\"}\n\n")));
	next = 2;
	t = rpc_stream_get(&s, &next, 100000);
	OK(count(t) == 2 && str_starts(t, STR("id: 2\n")) && next == 4);
	next = 2;
	t = rpc_stream_get(&s, &next, 1);
	OK(count(t) == 1 && str_starts(t, STR("id: 2\n")) && next == 3);
	next = 4;
	OK(rpc_stream_get(&s, &next, 100).n == 0 && next == 4);
	next = 9;
	OK(rpc_stream_get(&s, &next, 100).n == 0 && next == 9);
	rpc_stream_untap(&tap);
	rpc_stream_untap(&tap);
	add("d");
	OK(heard == 3);
	rpc_stream_tap(&s, &tap);
	OK(!s.over);
	rpc_stream_end(&s);
	OK(s.over && heard == 4);
	rpc_stream_free(&s);
	OK(left == 1);
	next = 1;
	OK(rpc_stream_get(&s, &next, 100).n == 0 && next == 5);
}

/* Never above the maximum, always the youngest, cut between events. */
static void
test_many(void)
{
	bool bounded = true, whole = true, in_order = true;
	uint64_t next, from;
	struct str t;
	unsigned i;
	char id[32];

	bus.seq = 0;
	s = (struct rpc_stream){ .max = 5000, .id = "r" };
	for (i = 0; i < 3000; i++) {
		add(i % 7 == 0 ? "a-somewhat-longer-name-of-a-task" : "b");
		bounded = bounded && s.text.n <= 12000 && s.ends.n < 2000;
		next = 0;
		t = rpc_stream_get(&s, &next, 100000);
		whole = whole && t.n <= 5000 && count(t) == next - s.first &&
		    next == i + 2;
		for (next = from = s.first; next < s.next; from = next) {
			t = rpc_stream_get(&s, &next, 700);
			snprintf(id, sizeof(id), "id: %u\n", (unsigned)from);
			in_order = in_order && count(t) == next - from &&
			    next > from && t.n <= 700 &&
			    str_starts(t, str_of(id));
		}
	}
	OK(bounded);
	OK(whole);
	OK(in_order);
	OK(s.first > 2900 && s.next == 3001);
	rpc_stream_free(&s);
}

/* An event above the maximum is kept, alone. */
static void
test_large(void)
{
	static char text[3000];
	uint64_t next = 0;

	bus.seq = 0;
	s = (struct rpc_stream){ .max = 1000, .id = "r" };
	add("a");
	memset(text, 'x', sizeof(text) - 1);
	add(text);
	OK(count(rpc_stream_get(&s, &next, 10)) == 1 && next == 3);
	OK(s.first == 2);
	add("b");
	OK(s.first == 3);
	rpc_stream_free(&s);
	s = (struct rpc_stream){ .max = 0 };
	add("a");
	next = 0;
	OK(rpc_stream_get(&s, &next, 10).n == 0);
}

int
main(void)
{
	RUN(test_few, test_many, test_large);
	return tap_done();
}
