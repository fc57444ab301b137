/* SPDX-License-Identifier: ISC */
/*
 * web_api_internal.h: web_api_ web_old_ web_feed_ web_hub_.  What the files of
 * the API share.
 */
#ifndef WAZA_WEB_API_INTERNAL_H
#define WAZA_WEB_API_INTERNAL_H

#include "rpc/rpc_view.h"
#include "web/web_api.h"

/*
 * What a query may have: values by name, decoded.  False: it has something
 * else, and has been refused.
 */
struct web_arg {
	const char *name;
	struct str value;
	bool given;
};
bool web_api_args(struct web_req *, struct web_arg *, size_t n);
/* A number from 0 to max, or the usual where there is none. */
bool web_api_count(struct web_req *, const struct web_arg *, size_t usual,
    size_t max, size_t *out);

void web_api_fail(struct web_req *, enum rpc_kind, const char *message,
    const char *key, struct str value);
void web_api_why(struct web_req *, const struct rpc_why *);

/* A run that was asked for by its id: one of the two is not NULL. */
struct web_run {
	struct rpc_run *live;
	struct store_file *file;
};
bool web_api_find(struct web_req *, struct str id, struct web_run *);

/*
 * All runs, the youngest first: next gives false after the last.  A file of a
 * run that is remembered is passed over.
 */
struct web_runs {
	struct web_api *api;
	struct rpc_run **live;
	size_t nlive, ilive;
	struct store_file **file;
	size_t nfiles, ifile;
	struct web_run at;
	struct store_run run;
};
void web_runs_begin(struct web_runs *, struct web_api *, struct arena *);
bool web_runs_next(struct web_runs *);

/*
 * The results of a run, whole; NULL: there are none, and *e says why.  Those
 * of a file may be kept for a moment: then only until the next call.
 */
struct outcome *web_api_outcome(struct web_api *, const struct web_run *,
    struct arena *, bool keep, struct err *);

/* Routes of the other files. */
void web_api_list(struct web_req *);
void web_api_get(struct web_req *);
void web_api_result(struct web_req *);
void web_api_task(struct web_req *);
void web_api_compare(struct web_req *);
void web_hub_stream(struct web_req *);	/* the events of a run, */
void web_feed_stream(struct web_req *);	/* and of all that goes on */
void web_old_health(struct web_req *);
void web_old_summary(struct web_req *);
void web_old_list(struct web_req *);
void web_old_get(struct web_req *);
void web_old_storage(struct web_req *);

/* Something that the list has is new. */
void web_feed_run(void *web_api, struct rpc_run *);
void web_feed_file(void *web_api, const struct store_run *);
void web_feed_beat(struct web_api *);
void web_feed_fini(struct web_api *);
void web_hub_beat(struct web_api *);
void web_hub_fini(struct web_api *);

/* There is a reader to be kept awake. */
void web_api_beat(struct web_api *);

#endif
