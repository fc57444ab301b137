/* SPDX-License-Identifier: ISC */
/*
 * event.c: events as lines of JSON.
 *
 * Each row of the table is a key on the wire: its event types, its member, and
 * whether it is omitted while empty.  The order of the rows is the order of the
 * keys; a key that seeds/001 shows in two places has two rows.  The examples
 * there differ in the keys they show; events have all of them.
 */
#include "results/event.h"

#include <string.h>

#include "base/os.h"
#include "json.h"

enum kind {
	KIND_STR,
	KIND_BOOL,
	KIND_WORD,		/* struct str; "error" is written as "failed" */
	KIND_INT,		/* int64_t, or a uint64_t below 2^63 */
	KIND_SEC,		/* int64_t milliseconds, written as seconds */
	KIND_NUM		/* double, always with a fraction */
};

#define SEC_MAX INT64_C(1000000000000)	/* latest plausible time */

enum when { ALWAYS, NONZERO };	/* NONZERO: omitted if empty or zero */

#define ON(type)  (1u << EVENT_##type)
#define EVAL      (ON(EVAL_START) | ON(EVAL_COMPLETE))
#define TASK      (ON(TASK_START) | ON(TASK_PROGRESS) | ON(TASK_COMPLETE))
#define TRIAL     (ON(TRIAL_START) | ON(TRIAL_COMPLETE))
#define DONE      (ON(TRIAL_COMPLETE) | ON(TASK_COMPLETE))
#define TRIGGER   ON(TRIGGER_COMPLETE)
#define START     (ON(EVAL_START) | ON(TASK_START))
#define ALL       ((1u << EVENT__MAX) - 1)

struct row {
	unsigned types;		/* ON() of each */
	const char *key;
	enum kind kind;
	enum when when;
	size_t off;
};
#define ROW(types, k, m, kind, when) \
	{ types, k, KIND_##kind, when, offsetof(struct event, m) }
#define SAME(types, m, kind, when) ROW(types, #m, m, kind, when)
#define PART(types, part, m, kind, when) ROW(types, #m, part.m, kind, when)

static const struct row rows[] = {
	SAME(ON(EVAL_START),    eval,        STR, ALWAYS),
	SAME(ON(EVAL_COMPLETE), eval,        STR, NONZERO),
	SAME(ON(EVAL_START),    skill,       STR, ALWAYS),
	SAME(ON(EVAL_START),    tasks,       INT, ALWAYS),
	SAME(TASK | TRIAL | TRIGGER, idx,    INT, ALWAYS),
	SAME(TASK | TRIAL,      task,        STR, ALWAYS),
	SAME(TASK | TRIAL,      name,        STR, ALWAYS),
	SAME(ON(TASK_START) | TRIGGER, prompt, STR, ALWAYS),
	SAME(TRIGGER,           should_trigger, BOOL, ALWAYS),
	SAME(TRIGGER,           did_trigger, BOOL, ALWAYS),
	SAME(ON(TASK_PROGRESS), step,        STR, ALWAYS),
	SAME(ON(TASK_PROGRESS), detail,      STR, ALWAYS),
	SAME(TRIAL,             trial,       INT, ALWAYS),
	SAME(ON(TASK_PROGRESS), trial,       INT, NONZERO),
	SAME(TASK | TRIAL,      attempt,     INT, NONZERO),
	SAME(DONE | TRIGGER,    status,      WORD, ALWAYS),
	SAME(DONE,              score,       NUM, ALWAYS),
	SAME(DONE | TRIGGER,    took_ms,     INT, ALWAYS),
	SAME(ON(TRIAL_COMPLETE), cached,     BOOL, NONZERO),
	SAME(TASK | TRIAL | TRIGGER, total,  INT, NONZERO),
	PART(ON(EVAL_COMPLETE), totals, passed,     INT, ALWAYS),
	PART(ON(EVAL_COMPLETE), totals, failed,     INT, ALWAYS),
	SAME(ON(EVAL_COMPLETE), total,       INT, ALWAYS),
	PART(ON(EVAL_COMPLETE), totals, rate,       NUM, ALWAYS),
	PART(ON(EVAL_COMPLETE), totals, duration_sec, NUM, ALWAYS),
	PART(ON(EVAL_COMPLETE), totals, errors,     INT, ALWAYS),
	PART(ON(EVAL_COMPLETE), totals, skipped,    INT, ALWAYS),
	SAME(ON(EVAL_COMPLETE), score,       NUM, ALWAYS),
	SAME(ON(EVAL_COMPLETE), status,      WORD, NONZERO),
	PART(ON(EVAL_COMPLETE), totals, results,    STR, NONZERO),
	SAME(START | TRIAL | ON(TASK_COMPLETE), trials, INT, NONZERO),
	PART(ON(ERROR), problem, error_type,  STR, ALWAYS),
	PART(ON(ERROR), problem, message,     STR, ALWAYS),
	PART(ON(ERROR), problem, file,        STR, NONZERO),
	PART(ON(ERROR), problem, line,        INT, NONZERO),
	PART(ON(ERROR), problem, col,         INT, NONZERO),
	SAME(ON(ERROR),         task,        STR, NONZERO),
	SAME(DONE | TRIGGER | ON(EVAL_COMPLETE), error_class, STR, NONZERO),
	SAME(DONE | TRIGGER | ON(EVAL_COMPLETE), error, STR, NONZERO),
	SAME(DONE,              feedback,    STR, NONZERO),
	SAME(EVAL,              executor,    STR, NONZERO),
	SAME(EVAL,              model,       STR, NONZERO),
	ROW(ALL,  "timestamp",  time_ms,     SEC, ALWAYS),
	SAME(ALL,               run_id,      STR, NONZERO),
	SAME(ALL,               seq,         INT, NONZERO),
};

static const char *const names[] = {
	[EVENT_EVAL_START] = "eval_start",
	[EVENT_TASK_START] = "task_start",
	[EVENT_TASK_PROGRESS] = "task_progress",
	[EVENT_TRIAL_START] = "trial_start",
	[EVENT_TRIAL_COMPLETE] = "trial_complete",
	[EVENT_TASK_COMPLETE] = "task_complete",
	[EVENT_TRIGGER_COMPLETE] = "trigger_complete",
	[EVENT_EVAL_COMPLETE] = "eval_complete",
	[EVENT_ERROR] = "error",
};
typedef char names_are_complete[COUNTOF(names) == EVENT__MAX ? 1 : -1];

const char *
event_name(enum event_type type)
{
	return names[type];
}

void
event_listen(struct event_bus *bus, struct event_sink *sink)
{
	if (bus->tail == NULL)
		bus->tail = &bus->head;
	sink->next = NULL;
	*bus->tail = sink;
	bus->tail = &sink->next;
}

void
event_emit(struct event_bus *bus, struct event *e)
{
	struct str error = e->error;
	struct arena a = { 0 };
	struct event_sink *s;

	e->seq = ++bus->seq;
	e->time_ms = os_wall_ns() / 1000000;
	e->error = arena_head(&a, error, EVENT_ERROR_MAX);
	for (s = bus->head; s != NULL; s = s->next)
		s->fn(s->arg, e);
	e->error = error;
	arena_free(&a);
}

/* Writes 1 as "1.0", for readers that derive the type from the spelling. */
static void
put_num(struct json_out *w, double d)
{
	char s[40];
	size_t n = json_format_double(s, d);

	if (n == 0 || strspn(s, "-0123456789") != n) {
		json_put_double(w, d);
		return;
	}
	s[n] = '.';
	s[n + 1] = '0';
	json_put_raw(w, (struct str){ s, n + 2 });
}

static void
put_member(struct json_out *w, const struct row *r, const void *m)
{
	struct str s;

	switch (r->kind) {
	case KIND_STR:
	case KIND_WORD:
		memcpy(&s, m, sizeof(s));
		if (r->when == NONZERO && s.n == 0)
			return;
		if (r->kind == KIND_WORD && str_is(s, "error"))
			s = STR("failed");
		json_put_member_str(w, r->key, s);
		return;
	case KIND_BOOL:
		if (r->when == NONZERO && !*(const bool *)m)
			return;
		json_put_member_bool(w, r->key, *(const bool *)m);
		return;
	case KIND_INT:
		if (r->when == NONZERO && *(const int64_t *)m == 0)
			return;
		json_put_member_int(w, r->key, *(const int64_t *)m);
		return;
	case KIND_SEC:
		json_put_member_int(w, r->key, *(const int64_t *)m / 1000);
		return;
	case KIND_NUM:
		json_put_key(w, str_of(r->key));
		put_num(w, *(const double *)m);
		return;
	}
}

void
event_line(struct buf *b, const struct event *e)
{
	struct json_out w = { .put = buf_sink, .ctx = b };
	const struct row *r;

	json_open(&w, '{');
	json_put_member_cstr(&w, "type", event_name(e->type));
	for (r = rows; r < rows + COUNTOF(rows); r++)
		if ((r->types & 1u << e->type) != 0)
			put_member(&w, r, (const char *)e + r->off);
	json_close(&w, '}');
	buf_putc(b, '\n');
}

static void
read_member(const struct json *v, const struct row *r, void *m)
{
	struct str s;
	int64_t n;
	double d;

	switch (r->kind) {
	case KIND_STR:
	case KIND_WORD:
		if (v->type != JSON_STRING)
			return;
		s = json_text(v);
		memcpy(m, &s, sizeof(s));
		return;
	case KIND_BOOL:
		if (v->type == JSON_BOOL)
			*(bool *)m = json_bool(v);
		return;
	case KIND_INT:
		if (json_int(v, &n))
			*(int64_t *)m = n;
		return;
	case KIND_SEC:
		if (json_int(v, &n) && n > -SEC_MAX && n < SEC_MAX)
			*(int64_t *)m = n * 1000;
		return;
	case KIND_NUM:
		if (json_double(v, &d))
			*(double *)m = d;
		return;
	}
}

bool
event_read(const struct json *v, struct event *e)
{
	const struct json *type = json_getc(v, "type"), *m;
	const struct str none = STR("");
	const struct row *r;
	int i;

	*e = (struct event){ .type = EVENT__MAX };
	for (i = 0; i < EVENT__MAX && type != NULL &&
	    type->type == JSON_STRING; i++)
		if (str_is(json_text(type), names[i]))
			e->type = (enum event_type)i;
	if (e->type == EVENT__MAX)
		return false;
	for (r = rows; r < rows + COUNTOF(rows); r++)
		if (r->kind == KIND_STR || r->kind == KIND_WORD)
			memcpy((char *)e + r->off, &none, sizeof(none));
	for (r = rows; r < rows + COUNTOF(rows); r++)
		if ((r->types & 1u << e->type) != 0 &&
		    (m = json_getc(v, r->key)) != NULL)
			read_member(m, r, (char *)e + r->off);
	if (e->error_class.n > 0 && str_is(e->status, "failed"))
		e->status = STR("error");
	return true;
}
