/* SPDX-License-Identifier: ISC */
/*
 * remote.h: remote_.  Evaluations that clients elsewhere do: the hub between
 * the engine, which has work, and whoever speaks with those clients.
 *
 * The engine submits an evaluation and hears once how it ended, by done(),
 * which is not called from within remote_submit() or remote_cancel().  It
 * goes to a client that is ready, has the tool and has room; until there is
 * one, it waits, the more urgent first, then the older.
 *
 *	evaluation: IDLE -> WAITING -> SENT -> IDLE, done()
 *	            SENT -> RESTING -> WAITING, when it is tried again
 *	client:     here -> lost -> away -> forgotten, from any of them back
 *	            to here by registering again
 *
 * A client that is lost has lost_ms to come back: then its evaluations are
 * sent to it again.  If it does not, they go to another client if retries are
 * left, else they end as REMOTE_LOST.  Whatever else a client has had for
 * longer than its timeout and grace_ms ends as REMOTE_LATE.  An answer that
 * comes after that is dropped.
 *
 * Nothing here knows of connections: a link stands for one.
 */
#ifndef WAZA_REMOTE_H
#define WAZA_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base.h"
#include "field.h"
#include "loop.h"

struct json;
struct json_out;
struct remote;
struct remote_client;
struct remote_eval;

enum {
	REMOTE_ID_MAX = 200,	/* bytes of a client's id */
	REMOTE_NAME_MAX = 200,	/* of a tool's name, a version */
	REMOTE_TOOLS_MAX = 256,	/* of a client */
	REMOTE_ROOM_MAX = 1024,	/* evaluations at a client at once */
	REMOTE_QUEUE_MAX = 200000,	/* that wait */
	REMOTE_CLIENTS_MAX = 10000,	/* that are known */
	REMOTE_AWAY_MAX = 1000,	/* of these, without connection or work */
	REMOTE_RETRIES_MAX = 100,
	REMOTE_BUCKETS = 1024,
	REMOTE_LACKS = 16
};

enum remote_priority {
	REMOTE_LOW, REMOTE_NORMAL, REMOTE_HIGH, REMOTE_CRITICAL,
	REMOTE_PRIORITY__MAX
};

enum remote_how {
	REMOTE_RESULT,		/* the client has one */
	REMOTE_ERROR,		/* the client says what went wrong */
	REMOTE_LATE,		/* the client does not answer */
	REMOTE_LOST,		/* the client has gone, and no try is left */
	REMOTE_NOBODY		/* no client came that has the tool */
};

/* How an evaluation ended; all of it only for the call. */
struct remote_end {
	enum remote_how how;
	const struct json *result;	/* any value; NULL: none */
	const struct json *error;	/* {code, message, data} */
	struct str client;		/* the last that had it, or empty */
	unsigned tries;			/* clients that it was given to */
	int64_t took_ms;		/* since the last of them got it */
};

/* What a client says of one that it is at. */
struct remote_status {
	uint64_t serial;		/* of the request; 0: not said */
	struct str evaluation;
	struct str status;		/* running, completed, failed */
	double progress;		/* 0 to 1; below 0: not said */
	struct str message;
};

/* An evaluation; lives inside its owner, and may not move meanwhile. */
struct remote_eval {
	struct str id;			/* evaluationId */
	struct str tool;
	struct str params;		/* of `evaluate`: one JSON object */
	int64_t timeout_ms;		/* that the client has */
	int64_t wait_ms;		/* that it waits for such a client */
	unsigned retries;
	enum remote_priority priority;
	void (*status)(void *arg, const struct remote_status *);
	void (*done)(void *arg, const struct remote_end *);
	void *arg;
	/* for links: */
	uint64_t serial;		/* of the request */
	/* private: */
	int state;
	struct remote *hub;
	struct remote_client *client;
	struct remote_group *group;
	struct remote_eval *next, **prev;
	uint64_t seq;
	uint64_t avoid;			/* the client that it was taken from */
	int64_t sent_at;
	unsigned tries, again;
	struct timer timer;
};

/* What a client says of itself; copied. */
struct remote_hello {
	struct str id;
	struct str name, version;	/* or empty */
	struct field_strs tools;	/* none: any */
	size_t room;			/* at once; 0: one */
	bool stops;			/* understands that one is not wanted
					 * any more */
};

/* A connection of a client; lives inside its owner. */
struct remote_link {
	void (*evaluate)(void *arg, const struct remote_eval *);
	void (*stop)(void *arg, const struct remote_eval *);
	void (*replaced)(void *arg);	/* another link has its id now */
	void *arg;
	struct remote_client *client;	/* read-only; NULL: not registered */
};

/* Set loop and times, zero the rest. */
struct remote {
	struct loop *loop;
	int64_t grace_ms, lost_ms;
	size_t queue_max;		/* 0: REMOTE_QUEUE_MAX */
	/* the set of clients, or what one of them can do, has changed */
	void (*changed)(void *arg);
	void *arg;
	/* read-only: */
	size_t nclients;		/* with a connection */
	size_t waiting;			/* evaluations */
	size_t running;
	uint64_t dispatched, dropped;	/* sent; answers nobody waited for */
	/* private: */
	struct arena arena;
	struct remote_client *bucket[REMOTE_BUCKETS];
	struct remote_client *head, **last;	/* all, the oldest first */
	struct remote_client *idle, **last_idle;	/* that have room */
	struct remote_client *away, **last_away;
	size_t known, naway, nstuck;
	struct remote_group *groups, *spare;
	uint64_t seq, serial, births;
	struct timer sweep;
};

void remote_init(struct remote *);
void remote_fini(struct remote *);	/* no evaluation is submitted */

/* -1: there are too many already. */
int remote_submit(struct remote *, struct remote_eval *, struct err *);
/* It is wanted no more; harmless when it is over. */
void remote_cancel(struct remote_eval *);
bool remote_busy(const struct remote_eval *);	/* done() will come */

/*
 * A client says who it is: by a new link, which then has it, or by the one
 * that has it already.  -1: why not.
 */
int remote_register(struct remote *, struct remote_link *,
    const struct remote_hello *, struct err *);
void remote_ready(struct remote_link *);
void remote_part(struct remote_link *);	/* the connection has gone */
/* The client's, and those that wait and that it could do. */
size_t remote_assigned(const struct remote *, const struct remote_link *);
/*
 * An answer to the request of that serial, with one of the two.  False: it
 * was not asked for, or is late.
 */
bool remote_answer(struct remote_link *, uint64_t serial,
    const struct json *result, const struct json *error);
/* False: it has no such evaluation. */
bool remote_tell(struct remote_link *, const struct remote_status *);
void remote_heard(struct remote_link *);	/* it is alive */

bool remote_id_ok(struct str);		/* whether it can be a client's */
enum { REMOTE_STAMP = 32 };
struct str remote_stamp(char out[REMOTE_STAMP], int64_t wall_ns);
const char *remote_priority_name(enum remote_priority);
bool remote_priority_find(struct str, enum remote_priority *);

/* All that are known: a list of objects. */
void remote_put_clients(struct json_out *, const struct remote *);

#endif
