/* SPDX-License-Identifier: ISC */
/*
 * evalclient_internal.h: evalclient_.  A client, as its parts see it.
 */
#ifndef WAZA_EVALCLIENT_INTERNAL_H
#define WAZA_EVALCLIENT_INTERNAL_H

#include "agent/hub.h"
#include "io/loop.h"
#include "json.h"
#include "web/evalclient.h"

enum { EVALCLIENT_RATE = -32003 };	/* "Rate limit exceeded" */

struct evalclient {
	struct arena own;	/* this is in it */
	struct evalclients *set;
	struct conn *conn;
	struct hub_link link;
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
