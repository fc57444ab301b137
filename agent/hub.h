/* SPDX-License-Identifier: ISC */
/*
 * hub.h: hub_.  Evaluations that clients elsewhere do: the hub between
 * the engine, which has work, and whoever speaks with those clients.
 *
 * The engine submits an evaluation and hears once how it ended, by done(),
 * which is not called from within hub_submit() or hub_cancel().  It
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
 * left, else they end as HUB_LOST.  Whatever else a client has had for
 * longer than its timeout and grace_ms ends as HUB_LATE.  An answer that
 * comes after that is dropped.
 *
 * Nothing here knows of connections: a link stands for one.
 */
#ifndef WAZA_HUB_H
#define WAZA_HUB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "lib/field.h"

struct json;
struct json_out;
struct hub;
struct hub_client;
struct hub_eval;

enum {
	HUB_ID_MAX = 200,	/* bytes of a client's id */
	HUB_NAME_MAX = 200,	/* of a tool's name, a version */
	HUB_TOOLS_MAX = 256,	/* of a client */
	HUB_ROOM_MAX = 1024,	/* evaluations at a client at once */
	HUB_QUEUE_MAX = 200000,	/* that wait */
	HUB_CLIENTS_MAX = 10000,	/* that are known */
	HUB_AWAY_MAX = 1000,	/* of these, without connection or work */
	HUB_RETRIES_MAX = 100,
	HUB_BUCKETS = 1024,
	HUB_LACKS = 16
};

enum hub_priority {
	HUB_LOW, HUB_NORMAL, HUB_HIGH, HUB_CRITICAL,
	HUB_PRIORITY__MAX
};

enum hub_how {
	HUB_RESULT,		/* the client has one */
	HUB_ERROR,		/* the client says what went wrong */
	HUB_LATE,		/* the client does not answer */
	HUB_LOST,		/* the client has gone, and no try is left */
	HUB_NOBODY		/* no client came that has the tool */
};

/* How an evaluation ended; all of it only for the call. */
struct hub_end {
	enum hub_how how;
	const struct json *result;	/* any value; NULL: none */
	const struct json *error;	/* {code, message, data} */
	struct str client;		/* the last that had it, or empty */
	unsigned tries;			/* clients that it was given to */
	int64_t took_ms;		/* since the last of them got it */
};

/* What a client says of one that it is at. */
struct hub_status {
	uint64_t serial;		/* of the request; 0: not said */
	struct str evaluation;
	struct str status;		/* running, completed, failed */
	double progress;		/* 0 to 1; below 0: not said */
	struct str message;
};

/* An evaluation; lives inside its owner, and may not move meanwhile. */
struct hub_eval {
	struct str id;			/* evaluationId */
	struct str tool;
	struct str params;		/* of `evaluate`: one JSON object */
	int64_t timeout_ms;		/* that the client has */
	int64_t wait_ms;		/* that it waits for such a client */
	unsigned retries;
	enum hub_priority priority;
	void (*status)(void *arg, const struct hub_status *);
	void (*done)(void *arg, const struct hub_end *);
	void *arg;
	/* for links: */
	uint64_t serial;		/* of the request */
	/* private: */
	int state;
	struct hub *hub;
	struct hub_client *client;
	struct hub_group *group;
	struct hub_eval *next, **prev;
	uint64_t seq;
	uint64_t avoid;			/* the client that it was taken from */
	int64_t sent_at;
	unsigned tries, again;
	struct timer timer;
};

/* What a client says of itself; copied. */
struct hub_hello {
	struct str id;
	struct str name, version;	/* or empty */
	struct field_strs tools;	/* none: any */
	size_t room;			/* at once; 0: one */
	bool stops;			/* understands that one is not wanted
					 * any more */
};

/* A connection of a client; lives inside its owner. */
struct hub_link {
	void (*evaluate)(void *arg, const struct hub_eval *);
	void (*stop)(void *arg, const struct hub_eval *);
	void (*replaced)(void *arg);	/* another link has its id now */
	void *arg;
	struct hub_client *client;	/* read-only; NULL: not registered */
};

/* Set loop and times, zero the rest. */
struct hub {
	struct loop *loop;
	int64_t grace_ms, lost_ms;
	size_t queue_max;		/* 0: HUB_QUEUE_MAX */
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
	struct hub_client *bucket[HUB_BUCKETS];
	struct hub_client *head, **last;	/* all, the oldest first */
	struct hub_client *idle, **last_idle;	/* that have room */
	struct hub_client *away, **last_away;
	size_t known, naway, nstuck;
	struct hub_group *groups, *spare;
	uint64_t seq, serial, births;
	struct timer sweep;
};

void hub_init(struct hub *);
void hub_fini(struct hub *);	/* no evaluation is submitted */

/* -1: there are too many already. */
int hub_submit(struct hub *, struct hub_eval *, struct err *);
/* It is wanted no more; harmless when it is over. */
void hub_cancel(struct hub_eval *);
bool hub_busy(const struct hub_eval *);	/* done() will come */

/*
 * A client says who it is: by a new link, which then has it, or by the one
 * that has it already.  -1: why not.
 */
int hub_register(struct hub *, struct hub_link *,
    const struct hub_hello *, struct err *);
void hub_ready(struct hub_link *);
void hub_part(struct hub_link *);	/* the connection has gone */
/* The client's, and those that wait and that it could do. */
size_t hub_assigned(const struct hub *, const struct hub_link *);
/*
 * An answer to the request of that serial, with one of the two.  False: it
 * was not asked for, or is late.
 */
bool hub_answer(struct hub_link *, uint64_t serial,
    const struct json *result, const struct json *error);
/* False: it has no such evaluation. */
bool hub_tell(struct hub_link *, const struct hub_status *);
void hub_heard(struct hub_link *);	/* it is alive */

bool hub_id_ok(struct str);		/* whether it can be a client's */
enum { HUB_STAMP = 32 };
struct str hub_stamp(char out[HUB_STAMP], int64_t wall_ns);
const char *hub_priority_name(enum hub_priority);
bool hub_priority_find(struct str, enum hub_priority *);

/* All that are known: a list of objects. */
void hub_put_clients(struct json_out *, const struct hub *);

#endif
