/* SPDX-License-Identifier: ISC */
/*
 * web_api.h: web_api_.  The HTTP API, version 1, and the one of
 * microsoft/waza: the runs of this server, the runs in results files, and their
 * events as server-sent events.  The routes are documented in waza-rpc(5).
 *
 * The methods of JSON-RPC do the work, with their checks and their kinds of
 * errors.  A run belongs to the server, not to the client that started it.
 */
#ifndef WAZA_WEB_API_H
#define WAZA_WEB_API_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/loop.h"
#include "results/meet/meet.h"
#include "results/store.h"
#include "web/web.h"

struct json_out;
struct web_feed;
struct web_readers;

enum {
	WEB_API_PAGES = 32,		/* cached answers, */
	WEB_API_PAGE_MAX = 1 << 20	/* each of at most that many bytes */
};

/* The answer for one run of a results file. */
struct web_api_page {
	const struct store_file *file;
	struct store_stamp stamp;
	struct buf body;
	uint64_t used;
};

/* Set the public part, zero the rest. */
struct web_api {
	struct web *web;
	const char *results_dir;	/* or NULL */
	bool read_only;			/* runs are not written there */
	const char *root;		/* where the directory is created when
					 * a shard arrives, or NULL */
	/* write the list of evaluation clients; the number of evaluations that
	 * wait for one; or NULL */
	void (*put_clients)(void *arg, struct json_out *);
	size_t (*queued)(void *arg);
	void *clients_arg;
	/* private */
	int64_t started_ms;	/* since 1970 */
	struct store store;
	bool stored;		/* the store is open */
	struct meet meet;
	bool meets;		/* it is open */
	struct arena arena;	/* of names */
	unsigned turn;		/* of marks in it */
	struct web_readers *readers;	/* of single runs, */
	struct web_feed *feeds;	/* and of all changes */
	struct timer beat, feed;
	bool feeding;		/* the timer `feed` is set */
	bool clients_changed;
	struct web_api_page page[WEB_API_PAGES];
	uint64_t uses;
};

/*
 * init: after rpc_init() and rpc_add_evals(); -1 and *e: the directory of
 * results cannot be read.  fini: before rpc_fini(); no effect without init.
 */
int web_api_init(struct web_api *, struct err *);
void web_api_fini(struct web_api *);
/* To be called when the evaluation clients have changed. */
void web_api_clients(void *web_api);

#endif
