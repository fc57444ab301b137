/* SPDX-License-Identifier: ISC */
/*
 * otlp_internal.h: otlp_.  The queue (otlp_send.c), the JSON of spans and log
 * records (otlp_span.c), and the parts of a trial (otlp_trial.c).
 */
#ifndef WAZA_OTLP_INTERNAL_H
#define WAZA_OTLP_INTERNAL_H

#include <stdint.h>

#include "io/fetch.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "otlp/otlp.h"
#include "results/event.h"

enum {
	OTLP_TRACE_ID = 33, OTLP_SPAN_ID = 17,	/* hexadecimal, with NUL */
	OTLP_TOOLS_MAX = 128,	/* tool calls of a trial with a known time */
	OTLP_HEADERS_MAX = 16,	/* of OTEL_EXPORTER_OTLP_HEADERS */
	OTLP_QUEUE_MAX = 8 << 20,	/* bytes that wait, of each signal */
	OTLP_VALUE_MAX = 64 << 10	/* bytes of a payload */
};

/* What a request contains: one path of the collector each. */
enum otlp_signal { OTLP_TRACES, OTLP_LOGS, OTLP_SIGNALS };

struct otlp_queue {
	struct buf waiting;	/* items, separated by commas */
	size_t nwaiting;
	struct buf body;	/* of the request, until it is delivered */
	size_t nbody;
	struct str path;
};

/* A run that has not ended. */
struct otlp_run {
	struct otlp_run *next, **prev;
	struct arena arena;	/* holds this struct */
	struct str run_id;
	char trace[OTLP_TRACE_ID], root[OTLP_SPAN_ID];
	struct str seed;	/* of its ids */
	int64_t start_ns;
	struct otlp_task {
		int64_t start_ms;	/* 0: not started */
		bool ran;	/* a trial of it, in this run */
	} *tasks;
	size_t ntasks;
};

/* A trial that is running. */
struct otlp_live {
	struct otlp_live *next, **prev;
	const struct otlp_run *run;
	int64_t task, trial, start_ms;
	int64_t tool_ms[OTLP_TOOLS_MAX];
	size_t ntools;		/* may exceed OTLP_TOOLS_MAX */
};

struct otlp {
	struct event_sink sink;
	struct arena *arena;
	struct otlp_opts opts;
	struct procs *procs;
	struct otlp_run *runs;
	struct otlp_live *live, *unused;
	struct mask secrets;
	struct arena tmp;	/* of the event being handled */
	/* the queue */
	int fd;			/* of a file, or -1 */
	struct http_url url;
	struct http_field field[OTLP_HEADERS_MAX + 2];
	size_t nfields;
	struct fetch_names names;
	struct fetch fetch;
	int status;		/* of the answer, and its text */
	struct buf answer;
	enum otlp_signal now;	/* of the request */
	struct timer due, late;
	int tries;
	bool ending, given_up;
	struct otlp_queue queue[OTLP_SIGNALS];
	size_t all, dropped;
	struct str why;
};

/*
 * otlp_send.c.  open: -1 with a message.  add: queues an item, or drops it.
 * close: drops the rest.
 */
int otlp_send_check(const struct otlp_opts *, struct err *);
int otlp_send_open(struct otlp *, struct err *);
void otlp_send_add(struct otlp *, enum otlp_signal, struct str item);
void otlp_send_close(struct otlp *);

/* otlp_span.c. */
enum { OTLP_INTERNAL = 1, OTLP_CLIENT = 3 };	/* SpanKind */
struct otlp_span {
	const char *trace, *id, *parent;	/* parent may be "" */
	struct str name;
	int kind;
	int64_t start_ns, end_ns;
	bool error;
};
/* Between begin and end, attributes are added; end queues the item. */
struct otlp_item {
	struct otlp *otlp;
	enum otlp_signal signal;
	bool error;
	struct buf text;
	struct json_out w;
};
void otlp_span_begin(struct otlp_item *, struct otlp *,
    const struct otlp_span *);
/* A log record about a span, at this time. */
void otlp_event_begin(struct otlp_item *, struct otlp *, const char *name,
    const struct otlp_span *about, int64_t at_ns);
void otlp_item_end(struct otlp_item *);
/* Attributes; an empty string is omitted. */
void otlp_str(struct otlp_item *, const char *key, struct str);
void otlp_int(struct otlp_item *, const char *key, int64_t);
void otlp_num(struct otlp_item *, const char *key, double);
void otlp_bool(struct otlp_item *, const char *key, bool);
/* A payload: only if they are wanted, without secrets, and shortened. */
void otlp_payload(struct otlp_item *, const char *key, struct str);
/* The same as the message of a conversation, by a role. */
void otlp_message(struct otlp_item *, const char *key, const char *role,
    struct str text);
/* The text around the items of a signal: a whole request. */
void otlp_put_request(struct buf *, enum otlp_signal, const char *version,
    struct str items);

/* Writes the id of a span: a hash of the run and these words. */
void otlp_id(char out[OTLP_SPAN_ID], const struct otlp_run *, const char *kind,
    struct str name, int64_t n);
/* "pass", "fail" or "skipped" for a status of results. */
struct str otlp_verdict(struct str status);

/* otlp_trial.c: the spans and events of a finished trial. */
void otlp_trial(struct otlp *, const struct otlp_run *, const struct event *,
    const struct otlp_live *);

#endif
