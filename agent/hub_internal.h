/* SPDX-License-Identifier: ISC */
/*
 * hub_internal.h: hub_.  Shared by the evaluations (hub.c) and the clients
 * (hub_client.c) of a hub.
 */
#ifndef WAZA_HUB_INTERNAL_H
#define WAZA_HUB_INTERNAL_H

#include "agent/hub.h"

enum hub_state { HUB_IDLE, HUB_WAITING, HUB_SENT, HUB_DELAYED };

struct hub_list {
	struct hub_eval *head, **last;	/* last NULL: not used yet */
};

/* Evaluations that wait for the same tool. */
struct hub_group {
	struct hub_group *next;
	char name[HUB_NAME_MAX];
	size_t nname;
	struct hub_list list[HUB_PRIORITY__MAX];
	size_t n;
};

/*
 * The record and the id are in `arena`; the capabilities, which a client may
 * change by registering again, are in `own`.
 */
struct hub_client {
	struct arena arena, own;
	struct hub *hub;
	struct str id;
	uint64_t number;		/* unique, from 1 */
	struct hub_link *link;		/* NULL: not connected */
	struct str name, version;
	struct field_strs tools;	/* sorted */
	size_t capacity;
	bool can_cancel, ready;
	bool must_resend;		/* its evaluations, when it is ready */
	bool lost;
	struct hub_list evals;		/* oldest first */
	size_t running;
	size_t held;			/* slots that abandoned evaluations
					 * may still occupy */
	int64_t held_until;
	struct str missing[HUB_MISSING_MAX];	/* tools that it refused */
	size_t nmissing;
	uint64_t done, failed;
	int64_t since_ns, seen_ns;
	struct timer lost_timer;
	struct hub_client *next_hash;
	struct hub_node {
		struct hub_client *next, **prev;	/* NULL: not in it */
	} node[HUB_LISTS];
};

/* Insert an evaluation at one end of a list; remove it from its list. */
void hub_list_add(struct hub_list *, struct hub_eval *, bool front);
void hub_list_del(struct hub_list *, struct hub_eval *);

/* hub_client.c: what a client can do now. */
bool hub_can(const struct hub_client *, struct str tool);
bool hub_has_capacity(const struct hub_client *);
/* Puts the client at the end of the idle list, or removes it. */
void hub_update_idle(struct hub_client *);
/* Remembers that the client refused the tool. */
void hub_add_missing(struct hub_client *, struct str tool);
/* Marks a slot as occupied for ms at most; frees n of these slots. */
void hub_hold_slot(struct hub_client *, int64_t ms);
void hub_free_slots(struct hub_client *, size_t n);

/* hub.c: sends waiting evaluations to the client while it has capacity. */
void hub_assign_work(struct hub_client *);
/* Sends its evaluations again, after it reconnected. */
void hub_resend(struct hub_client *);
/* Takes all its evaluations away: it does not return. */
void hub_reassign(struct hub_client *);
/* Starts or stops the deadlines of its evaluations. */
void hub_deadlines(struct hub_client *, bool on);

#endif
