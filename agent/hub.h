/* SPDX-License-Identifier: ISC */
/*
 * hub.h: hub_.  The hub distributes evaluations to evaluation clients.  The
 * engine submits evaluations; web/ connects clients to the hub by links.  The
 * hub itself does not use connections.
 *
 * Each evaluation ends once, with done(), which is never called from within
 * hub_submit() or hub_cancel().  The hub sends it to a client that is ready,
 * has the tool and has capacity; until there is one it waits.  Higher priority
 * comes first, then the older evaluation.
 *
 *	evaluation: IDLE -> WAITING -> SENT -> IDLE, done()
 *	            SENT -> DELAYED -> WAITING, for a retry
 *	client:     connected -> lost -> away -> forgotten; registering again
 *	            makes it connected from any of these
 *
 * A client that lost its connection has lost_ms to return; the hub then sends
 * its evaluations to it again.  Otherwise they go to another client while
 * retries are left, else they end as HUB_LOST.  An evaluation that a client has
 * for longer than its timeout plus grace_ms ends as HUB_TIMEOUT; an answer that
 * arrives later is dropped.
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
	HUB_NAME_MAX = 200,	/* bytes of a tool's name, of a version */
	HUB_TOOLS_MAX = 256,	/* tools of a client */
	HUB_CAPACITY_MAX = 1024,	/* evaluations at a client at once */
	HUB_QUEUE_MAX = 200000,	/* waiting evaluations */
	HUB_CLIENTS_MAX = 10000,	/* known clients */
	HUB_AWAY_MAX = 1000,	/* known clients that are away */
	HUB_RETRIES_MAX = 100,
	HUB_BUCKETS = 1024,
	HUB_MISSING_MAX = 16	/* remembered tools that a client refused */
};

enum hub_priority {
	HUB_LOW, HUB_NORMAL, HUB_HIGH, HUB_CRITICAL,
	HUB_PRIORITY__MAX
};

enum hub_how {
	HUB_RESULT,		/* the client sent a result */
	HUB_ERROR,		/* the client sent an error */
	HUB_TIMEOUT,		/* the client did not answer in time */
	HUB_LOST,		/* the client is gone, no retries are left */
	HUB_NO_CLIENT		/* no client with the tool connected */
};

/* How an evaluation ended; valid only during done(). */
struct hub_end {
	enum hub_how how;
	const struct json *result;	/* any value; NULL: none */
	const struct json *error;	/* {code, message, data} */
	struct str client;		/* id of the last client, or empty */
	unsigned tries;			/* number of clients that got it */
	int64_t took_ms;		/* since the last one got it */
};

/* A client's report about a running evaluation. */
struct hub_status {
	uint64_t serial;		/* of the request; 0: unknown */
	struct str evaluation;
	struct str status;		/* running, completed, failed */
	double progress;		/* 0 to 1; negative: unknown */
	struct str message;
};

/* An evaluation; part of its owner, and must not move while submitted. */
struct hub_eval {
	struct str id;			/* evaluationId */
	struct str tool;
	struct str params;		/* of `evaluate`: one JSON object */
	int64_t timeout_ms;		/* for the client's work */
	int64_t wait_ms;		/* for a client with the tool */
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
	uint64_t avoid;			/* number of the client that had it */
	int64_t sent_at;
	unsigned tries, resends;
	struct timer timer;
};

/* A client's registration; the hub copies it. */
struct hub_hello {
	struct str id;
	struct str name, version;	/* or empty */
	struct field_strs tools;	/* empty: all */
	size_t capacity;		/* evaluations at once; 0: one */
	bool can_cancel;		/* wants to know of cancelled ones */
};

/* A connection of a client; part of its owner. */
struct hub_link {
	void (*evaluate)(void *arg, const struct hub_eval *);
	void (*cancel)(void *arg, const struct hub_eval *);
	void (*replaced)(void *arg);	/* another link registered its id */
	void *arg;
	struct hub_client *client;	/* read-only; NULL: not registered */
};

/* A list of clients; last is NULL while it was never used. */
struct hub_clients {
	struct hub_client *head, **last;
	size_t n;
};
enum hub_membership { HUB_KNOWN, HUB_IDLE_CLIENTS, HUB_AWAY, HUB_LISTS };

/* Set loop and times, zero the rest. */
struct hub {
	struct loop *loop;
	int64_t grace_ms, lost_ms;
	size_t queue_max;		/* 0: HUB_QUEUE_MAX */
	/* the set of clients changed, or the capabilities of one */
	void (*changed)(void *arg);
	void *arg;
	/* read-only: */
	size_t nclients;		/* connected */
	size_t waiting;			/* evaluations */
	size_t running;
	uint64_t dispatched, dropped;	/* sent; answers to nothing */
	/* private: */
	struct arena arena;
	struct hub_client *bucket[HUB_BUCKETS];
	struct hub_clients list[HUB_LISTS];	/* oldest first */
	size_t nheld;			/* clients with held slots */
	struct hub_group *groups, *spare;
	uint64_t seq, serial, numbers;
	struct timer sweep;
};

/* Starts with the fields above; ends when no evaluation is submitted. */
void hub_init(struct hub *);
void hub_fini(struct hub *);

/* Queues an evaluation, or sends it at once; -1: the queue is full. */
int hub_submit(struct hub *, struct hub_eval *, struct err *);
/* Withdraws it without done(); harmless after its end. */
void hub_cancel(struct hub_eval *);
bool hub_busy(const struct hub_eval *);	/* done() will be called */

/*
 * Registers a client by a new link, which replaces an older one, or again by
 * its own link; 0, or -1 with the reason.  Work follows after hub_ready().
 */
int hub_register(struct hub *, struct hub_link *,
    const struct hub_hello *, struct err *);
void hub_ready(struct hub_link *);
/* The connection is closed; harmless if the link is not registered. */
void hub_disconnected(struct hub_link *);
/* Evaluations that the client has, plus waiting ones that it could do. */
size_t hub_assigned(const struct hub *, const struct hub_link *);
/*
 * The client's answer to the request of that serial: a result or an error.
 * False: the client has no such request, or it has ended.
 */
bool hub_answer(struct hub_link *, uint64_t serial,
    const struct json *result, const struct json *error);
/* Passes on a report; false: the client has no such evaluation. */
bool hub_progress(struct hub_link *, const struct hub_status *);
void hub_seen(struct hub_link *);	/* updates lastSeen */

bool hub_id_ok(struct str);		/* valid as a client's id */
/* The time as 2026-01-31T12:00:00.000Z, in `out`. */
enum { HUB_STAMP = 32 };
struct str hub_stamp(char out[HUB_STAMP], int64_t wall_ns);
/* By name: low, normal, high, critical; false: unknown. */
bool hub_priority_find(struct str, enum hub_priority *);

/* Writes connected and lost clients as a list of objects. */
void hub_put_clients(struct json_out *, const struct hub *);

#endif
