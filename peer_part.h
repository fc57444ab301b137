/* SPDX-License-Identifier: ISC */
/*
 * peer_part.h: peer_.  A client, as its parts see it.  Only for the peer*.c
 * files and tests.
 */
#ifndef WAZA_PEER_PART_H
#define WAZA_PEER_PART_H

#include "json.h"
#include "loop.h"
#include "peer.h"
#include "remote.h"

enum { PEER_RATE = -32003 };	/* the number of "Rate limit exceeded" */

struct peer {
	struct arena own;	/* this is in it */
	struct peers *set;
	struct conn *conn;
	struct remote_link link;
	struct json_out out;
	bool authed;		/* it need not show the token */
	bool closing;		/* it is sent away: nothing is read */
	int64_t since;
	double credit;		/* messages that it may send */
	int64_t credit_at;
	unsigned over;		/* messages that were too many */
	struct timer tick;
};

#endif
