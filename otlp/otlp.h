/* SPDX-License-Identifier: ISC */
/*
 * otlp.h: otlp_.  Traces of runs for OpenTelemetry: spans and events as
 * OTLP/JSON, sent to a collector over HTTP or appended to a file.
 *
 * A run is a trace: run > task > trial > agent > tool calls, and the graders
 * of a trial beside its agent.  Each verdict is also a log record with the
 * event name gen_ai.evaluation.result.  Ids are hashes of the run's id and of
 * what they identify, so that the same thing sent twice has the same id; a
 * resumed run continues the trace of the run that it resumes.
 *
 * A run never waits for its trace and never fails because of it: what exceeds
 * the queue or cannot be delivered is dropped and counted.
 */
#ifndef WAZA_OTLP_H
#define WAZA_OTLP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"

struct event_bus;
struct otlp;
struct procs;

struct otlp_opts {
	const char *to;		/* URL of a collector, path of a file, or
				 * "env": OTEL_EXPORTER_OTLP_ENDPOINT */
	const char *version;	/* of waza */
	bool payloads;		/* prompts, answers, arguments and reasons */
};

/* Whether `to` can be used; -1 with a message. */
int otlp_check(const struct otlp_opts *, struct err *);

/*
 * Listens to the bus, and must live as long.  The arena holds the exporter,
 * which otlp_end() closes.  NULL with a message: the file cannot be written.
 */
struct otlp *otlp_start(struct arena *, const struct otlp_opts *,
    struct procs *, struct event_bus *, struct err *);

/*
 * After the last event: turns the loop until everything is sent, for at most
 * OTLP_FLUSH_MS, or until *signo changes.  The rest is dropped.
 */
enum { OTLP_FLUSH_MS = 2000 };
void otlp_flush(struct otlp *, const int *signo);

/* After otlp_flush(): the number of dropped items, and the first reason. */
struct otlp_loss {
	size_t dropped, all;	/* spans and events */
	struct str why;		/* or empty: the queue was full */
};
struct otlp_loss otlp_loss(const struct otlp *);

/* Stops and frees everything but the arena's memory; NULL is harmless. */
void otlp_end(struct otlp *);

#endif
