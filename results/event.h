/* SPDX-License-Identifier: ISC */
/*
 * event.h: event_.  The events of a run, sent once to all listeners.
 *
 * One struct serves all events; a table in event.c defines which members each
 * type has and their names on the wire (seeds/001).  Strings are valid only
 * during the call.  Sinks are called in the order in which they were added and
 * must not emit events.
 */
#ifndef WAZA_EVENT_H
#define WAZA_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

enum {
	EVENT_ERROR_MAX = 4096,		/* bytes of an event's error, */
	EVENT_FEEDBACK_MAX = 1000	/* of its feedback */
};

struct json;
struct result_run;
struct result_task;
struct result_trial;

enum event_type {
	EVENT_EVAL_START,
	EVENT_TASK_START,
	EVENT_TASK_PROGRESS,
	EVENT_TRIAL_START,
	EVENT_TRIAL_COMPLETE,
	EVENT_TASK_COMPLETE,
	EVENT_TRIGGER_COMPLETE,
	EVENT_EVAL_COMPLETE,
	EVENT_ERROR,
	EVENT__MAX
};

/* EVENT_EVAL_COMPLETE: the numbers of the whole run. */
struct event_totals {
	int64_t passed, failed;		/* tasks; failed includes errors */
	int64_t errors, skipped;
	double rate;			/* pass rate */
	double duration_sec;
	struct str results;		/* path of the results file, or empty */
};

/* EVENT_ERROR: a warning or an error that belongs to no trial. */
struct event_problem {
	struct str error_type, message;
	struct str file;		/* where it was found; empty: unknown */
	int64_t line, col;		/* from 1; 0: unknown */
};

/* The results behind an event, for sinks in this process; may be NULL. */
struct event_source {
	const struct result_trial *trial;
	const struct result_task *task;
	const struct result_run *run;
};

struct event {
	enum event_type type;
	uint64_t seq;			/* set by event_emit, as is time_ms */
	int64_t time_ms;		/* since 1970 */
	struct str run_id, eval, skill, executor, model;
	int64_t tasks, trials;		/* of the whole run */
	int64_t idx, total;		/* task or prompt, from 0; how many */
	struct str task, name, prompt;	/* task: its id; name: for display */
	int64_t trial, attempt;		/* from 1 */
	struct str step, detail;	/* of EVENT_TASK_PROGRESS */
	struct str status;		/* passed, failed, error */
	struct str error_class;		/* empty: none */
	struct str error;		/* message of an error */
	struct str feedback;		/* of the first grader that failed */
	bool should_trigger, did_trigger;	/* of a trigger test */
	double score;
	int64_t took_ms;
	bool cached;			/* the trial came from the cache */
	struct event_totals totals;
	struct event_problem problem;
	struct event_source source;
};

struct event_sink {
	void (*fn)(void *arg, const struct event *);
	void *arg;
	struct event_sink *next;	/* private */
};

/* The zero value has no sinks. */
struct event_bus {
	uint64_t seq;
	struct event_sink *head, **tail;
};

/* Adds a sink, which must live as long as the bus. */
void event_listen(struct event_bus *, struct event_sink *);
/* Sets seq and time_ms and calls all sinks. */
void event_emit(struct event_bus *, struct event *);

/* "eval_start" and so on; a constant. */
const char *event_name(enum event_type);

/*
 * Appends the event as one line of stream-json with its newline; always valid
 * JSON.  The status is "passed" or "failed" there: an error is a failure with
 * error_class and error.
 */
void event_line(struct buf *, const struct event *);

/*
 * Reads such an object; false if it is not an event.  Members of the wrong
 * type are ignored.  Strings are borrowed from the tree.
 */
bool event_read(const struct json *, struct event *);

#endif
