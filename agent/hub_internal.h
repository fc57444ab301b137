/* SPDX-License-Identifier: ISC */
/*
 * hub_internal.h: hub_.  The parts of the hub: evaluations (hub.c) and
 * clients (hub_client.c).  Only for these.
 */
#ifndef WAZA_HUB_INTERNAL_H
#define WAZA_HUB_INTERNAL_H

#include "agent/hub.h"

enum hub_state {
	HUB_IDLE, HUB_WAITING, HUB_SENT, HUB_RESTING
};

struct hub_list {
	struct hub_eval *head, **last;	/* last NULL: not used yet */
};

/* Those that wait for the same tool. */
struct hub_group {
	struct hub_group *next;
	char name[HUB_NAME_MAX];
	size_t nname;
	struct hub_list list[HUB_PRIORITY__MAX];
	size_t n;
};

/*
 * The record is in an arena of its own, with the id; what it can do is in
 * another one, since that changes.
 */
struct hub_client {
	struct arena arena, own;
	struct hub *hub;
	struct str id;
	uint64_t birth;
	struct hub_link *link;	/* NULL: not connected */
	struct str name, version;
	struct field_strs tools;	/* sorted */
	size_t room;
	bool stops, ready;
	bool stale;			/* what it has is to be sent again */
	bool lost, is_idle, is_away;
	struct hub_list evals;	/* the oldest first */
	size_t running;
	size_t stuck;			/* places that may still be taken by
					 * what is wanted no more */
	int64_t stuck_until;
	struct str lacks[HUB_LACKS];	/* tools that it said it has not */
	size_t nlacks;
	uint64_t done, failed, round;
	int64_t since_ns, seen_ns;
	struct timer lost_timer;
	struct hub_client *next_hash;
	struct hub_client *next, **prev;
	struct hub_client *next_idle, **prev_idle;
	struct hub_client *next_away, **prev_away;
};

void hub_list_add(struct hub_list *, struct hub_eval *, bool front);
void hub_list_del(struct hub_list *, struct hub_eval *);

/* hub_client.c */
bool hub_can(const struct hub_client *, struct str tool);
bool hub_has_room(const struct hub_client *);
void hub_settle(struct hub_client *);	/* among those with room */
void hub_learn_lack(struct hub_client *, struct str tool);
void hub_stick(struct hub_client *, int64_t ms);
void hub_unstick(struct hub_client *, size_t n);

/* hub.c: evaluations of a client that are to be sent, or taken away. */
void hub_take_work(struct hub_client *);
void hub_send_again(struct hub_client *);
void hub_take_away(struct hub_client *);	/* it does not come back */
void hub_clock(struct hub_client *, bool on);	/* their deadlines */

#endif
