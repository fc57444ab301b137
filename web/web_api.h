/* SPDX-License-Identifier: ISC */
/*
 * web_api.h: web_api_.  The API by HTTP, version 1, and that of
 * microsoft/waza: runs of this server, those that results files tell of, and
 * what happens in them as server-sent events.  waza-rpc(5) has the routes.
 *
 * Whatever is done is done by the methods of JSON-RPC, with their gates and
 * their kinds of errors.  A run belongs to the server, not to whoever asked
 * for it.
 */
#ifndef WAZA_WEB_API_H
#define WAZA_WEB_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "results/store.h"
#include "web/web.h"

struct json_out;
struct outcome;
struct rpc_run;
struct rpc_why;
struct web_feed;
struct web_hub;

enum {
	WEB_API_PAGES = 32,		/* answers that are kept, */
	WEB_API_PAGE_MAX = 1 << 20	/* of that many bytes at most */
};

/* Set the public part, zero the rest. */
struct web_api {
	struct web *web;
	const char *results_dir;	/* or NULL */
	/* a list of the evaluation clients, and how many evaluations wait for
	 * one; or NULL */
	void (*put_clients)(void *arg, struct json_out *);
	size_t (*queued)(void *arg);
	void *clients_arg;
	/* private */
	struct store store;
	bool stored;		/* there is one */
	unsigned turn;		/* of marks in it */
	struct web_hub *hubs;	/* runs that are read, */
	struct web_feed *feeds;	/* and readers of all */
	struct timer beat, feed;
	bool beating, feeding;
	bool clients_new;
	struct {
		const struct store_file *file;
		struct store_stamp stamp;
		struct buf body;
		uint64_t used;
	} page[WEB_API_PAGES];
	uint64_t uses;
};

/*
 * After the server's loop and rpc have begun.  -1: there is no such directory
 * of results.
 */
int web_api_init(struct web_api *, struct err *);
void web_api_fini(struct web_api *);	/* before the server's */
void web_api_clients(void *web_api);	/* they have changed */

#endif
