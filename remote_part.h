/* SPDX-License-Identifier: ISC */
/*
 * remote_part.h: remote_.  The parts of the hub: evaluations (remote.c) and
 * clients (remote_client.c).  Only for these.
 */
#ifndef WAZA_REMOTE_PART_H
#define WAZA_REMOTE_PART_H

#include "remote.h"

enum remote_state {
	REMOTE_IDLE, REMOTE_WAITING, REMOTE_SENT, REMOTE_RESTING
};

struct remote_list {
	struct remote_eval *head, **last;	/* last NULL: not used yet */
};

/* Those that wait for the same tool. */
struct remote_group {
	struct remote_group *next;
	char name[REMOTE_NAME_MAX];
	size_t nname;
	struct remote_list list[REMOTE_PRIORITY__MAX];
	size_t n;
};

/*
 * The record is in an arena of its own, with the id; what it can do is in
 * another one, since that changes.
 */
struct remote_client {
	struct arena arena, own;
	struct remote *hub;
	struct str id;
	uint64_t birth;
	struct remote_link *link;	/* NULL: not connected */
	struct str name, version;
	struct field_strs tools;	/* sorted */
	size_t room;
	bool stops, ready;
	bool stale;			/* what it has is to be sent again */
	bool lost, is_idle, is_away;
	struct remote_list evals;	/* the oldest first */
	size_t running;
	size_t stuck;			/* places that may still be taken by
					 * what is wanted no more */
	int64_t stuck_until;
	struct str lacks[REMOTE_LACKS];	/* tools that it said it has not */
	size_t nlacks;
	uint64_t done, failed, round;
	int64_t since_ns, seen_ns;
	struct timer lost_timer;
	struct remote_client *next_hash;
	struct remote_client *next, **prev;
	struct remote_client *next_idle, **prev_idle;
	struct remote_client *next_away, **prev_away;
};

void remote_list_add(struct remote_list *, struct remote_eval *, bool front);
void remote_list_del(struct remote_list *, struct remote_eval *);

/* remote_client.c */
bool remote_can(const struct remote_client *, struct str tool);
bool remote_has_room(const struct remote_client *);
void remote_settle(struct remote_client *);	/* among those with room */
void remote_learn_lack(struct remote_client *, struct str tool);
void remote_stick(struct remote_client *, int64_t ms);
void remote_unstick(struct remote_client *, size_t n);

/* remote.c: evaluations of a client that are to be sent, or taken away. */
void remote_take_work(struct remote_client *);
void remote_send_again(struct remote_client *);
void remote_take_away(struct remote_client *);	/* it does not come back */
void remote_clock(struct remote_client *, bool on);	/* their deadlines */

#endif
