/* SPDX-License-Identifier: ISC */
/*
 * rpc_internal.h: rpc_.  What the methods of the eval family share.  Only for
 * the rpc_*.c files.
 */
#ifndef WAZA_RPC_INTERNAL_H
#define WAZA_RPC_INTERNAL_H

#include "rpc.h"

struct spec_notes;
struct spec_suite;

/* A batch: answered as a whole. */
struct rpc_batch {
	struct arena arena;	/* the batch is in it */
	struct rpc_peer *peer;	/* NULL: it has gone */
	struct buf buf;		/* the answers, with their commas */
	size_t waiting;		/* for so many calls, and for itself */
	struct rpc_batch *next, **prev;
};

/*
 * An answer up to the member after the id; its end; all of it taken back.
 * Or an error, from what rpc_fail() has noted.
 */
void rpc_open_answer(struct rpc_call *);
void rpc_close_answer(struct rpc_call *);
void rpc_take_back(struct rpc_call *);
void rpc_answer_error(struct rpc_call *);

/* Members of an object; the first ones are those of rpc_data(). */
void rpc_put_data(struct json_out *, const struct rpc_call *);
void rpc_put_text(struct json_out *, const char *key, struct str);
void rpc_put_int(struct json_out *, const char *key, int64_t);

/*
 * The first line of a request of HTTP, which a page in a browser can send to
 * any port; the lines behind it may be calls of its making.
 */
bool rpc_is_http(struct str line);

/* RPC_DONE: the peer may call it. */
enum rpc_status rpc_check_peer(struct rpc_call *);

/* The file of a suite that was named by it or by its directory. */
enum rpc_status rpc_find_suite(struct rpc_call *, struct str path,
    const char **out);

/* What is wrong with its executor and graders. */
void rpc_check_suite(const struct spec_suite *, struct str executor,
    struct spec_notes *);

/* errors, warnings, details: members of an object. */
void rpc_put_notes(struct json_out *, const struct spec_notes *);
enum rpc_status rpc_refuse_suite(struct rpc_call *, struct str path,
    const struct spec_notes *);

/* A table of parameters as a JSON Schema; NULL: none. */
void rpc_put_schema(struct json_out *, const struct field_table *);

/*
 * Answers of eval.get by path, as long as the suite's file and the project's
 * are the same.
 */
bool rpc_cached(struct rpc *, struct str path, struct buf *out);
void rpc_cache_keep(struct rpc *, struct str path, const char *file,
    struct str answer);

#endif
