/* SPDX-License-Identifier: ISC */
/*
 * web_api_internal.h: web_api_ web_runs_ web_sse_ web_feed_ web_meet_
 * web_upstream_ web_openapi web_metrics.
 * Declarations shared by the files of the API.
 */
#ifndef WAZA_WEB_API_INTERNAL_H
#define WAZA_WEB_API_INTERNAL_H

#include "rpc/rpc_view.h"
#include "web/web_api.h"

struct outcome;

/*
 * Reads the query into the n arguments of the route's table, in its order and
 * decoded.  False: it has others or is malformed, and the request was refused.
 */
struct web_arg {
	const char *name;
	struct str value;
	bool given;
};
bool web_api_args(struct web_req *, struct web_arg *, size_t n);
/* A number from 0 to max, or the default.  False: refused. */
bool web_api_count(struct web_req *, const struct web_arg *, size_t otherwise,
    size_t max, size_t *out);

/*
 * Answer with an error: message NULL is the kind's own, key and value are a
 * member of `data` (key NULL: none); or with the error of a method.
 */
void web_api_fail(struct web_req *, enum rpc_kind, const char *message,
    const char *key, struct str value);
void web_api_why(struct web_req *, const struct rpc_why *);

/*
 * A run: one of the two is not NULL.  lookup returns false if there is no run
 * with that id; find also answers with an error then.
 */
struct web_run {
	struct rpc_run *live;
	struct store_file *file;
};
bool web_api_lookup(struct web_api *, struct str id, struct web_run *);
bool web_api_find(struct web_req *, struct str id, struct web_run *);

/*
 * All runs, the youngest first, each in `at` and `run`; next: false after the
 * last.  The file of a run that the server remembers is skipped.
 */
struct web_runs {
	struct web_api *api;
	struct rpc_run **live;
	size_t nlive, ilive;
	struct store_file **file;
	size_t nfiles, ifile;
	struct web_run at;
	const struct store_run *run;	/* its summary, in the store or own:
					 * copies of 100,000 take long */
	struct store_run own;		/* where the store has none */
};
void web_runs_begin(struct web_runs *, struct web_api *, struct arena *);
bool web_runs_next(struct web_runs *);

/*
 * The results of a run; NULL and *e: there are none.  With `keep`, those of a
 * file may be in the store's cache: they are valid until the next call.
 */
struct outcome *web_api_outcome(struct web_api *, const struct web_run *,
    struct arena *, bool keep, struct err *);

/* Writes an object with the evaluation clients and the waiting evaluations. */
void web_api_put_clients(struct web_api *, struct json_out *);

/* The functions of routes in other files; see the table in web_api.c. */
void web_api_list(struct web_req *);
void web_api_get(struct web_req *);
void web_api_result(struct web_req *);
void web_api_task(struct web_req *);
void web_api_compare(struct web_req *);
void web_sse_stream(struct web_req *);
void web_feed_stream(struct web_req *);
void web_openapi(struct web_req *);
void web_metrics(struct web_req *);
void web_upstream_health(struct web_req *);
void web_upstream_summary(struct web_req *);
void web_upstream_list(struct web_req *);
void web_upstream_get(struct web_req *);
void web_upstream_storage(struct web_req *);

/* Opens the store of a directory; -1 and *e. */
int web_api_store(struct web_api *, const char *dir, struct err *);

/*
 * web_meet.c: shards that send their results here.  init: after the store was
 * opened; -1 and *e.  put: store_put(), and which shards of the run are
 * missing.  put_met: for JSON-RPC, see rpc_setup.
 */
int web_meet_init(struct web_api *, struct err *);
void web_meet_put(struct web_api *, struct json_out *,
    const struct store_run *);
bool web_meet_put_met(void *web_api, struct json_out *, struct str id);
void web_meet_begin(struct web_req *);
void web_meet_append(struct web_req *);

/* A run, or a results file, has changed: the readers of the feed get it. */
void web_feed_run(void *web_api, struct rpc_run *);
void web_feed_file(void *web_api, const struct store_run *);

/*
 * web_api_beat sets a timer while streams have readers; it calls the other two,
 * which write to silent streams so that proxies keep them open.  fini detaches
 * all readers.
 */
void web_api_beat(struct web_api *);
void web_feed_beat(struct web_api *);
void web_sse_beat(struct web_api *);
void web_feed_fini(struct web_api *);
void web_sse_fini(struct web_api *);

#endif
