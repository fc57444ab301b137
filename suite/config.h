/* SPDX-License-Identifier: ISC */
/*
 * config.h: config_.  Settings: what servers, clients, tools and executors go
 * by, where a suite or a call does not say.  waza-config(5) has the keys.
 *
 * They come from several places, each over those before: what stands here,
 * the user's file, the project's .waza.yaml, --config-path (or WAZA_CONFIG),
 * the environment, --config-json, flags.  Objects merge member by member,
 * all else replaces, and null takes away what was said before, so that the
 * default holds.  Every value knows where it came from.
 *
 * Secrets are not among them: a token is in a file that only its owner can
 * read, or in WAZA_AUTH_TOKEN.  A secret in a settings file is an error.
 */
#ifndef WAZA_CONFIG_H
#define WAZA_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/field.h"
#include "suite/spec.h"

struct json;

enum config_level {		/* where a value came from, lowest first */
	CONFIG_DEFAULT, CONFIG_USER, CONFIG_PROJECT, CONFIG_FILE, CONFIG_ENV,
	CONFIG_JSON, CONFIG_FLAG
};

/*
 * A flag of a command that stands for a setting.  Several with the key of a
 * list make one list of them all.
 */
struct config_flag {
	const char *flag;	/* "--framing", for messages */
	const char *key;	/* "framing", "limits.runs"; not in a map */
	const char *value;
};

struct config_sources {
	const char *path;	/* --config-path, or NULL */
	const char *json;	/* --config-json, or NULL */
	const struct config_flag *flags;
	size_t nflags;
	/* NULL: getenv */
	const char *(*env)(void *ctx, const char *name);
	void *ctx;
	const char *dir;	/* where .waza.yaml is looked for; NULL: "." */
	const char *token;	/* what WAZA_AUTH_TOKEN was; NULL: not set */
};

enum config_via { CONFIG_STDIO, CONFIG_TCP, CONFIG_UNIX, CONFIG_HTTP };

struct config_port {
	enum config_via via;
	const char *where;	/* HOST:PORT, or a path; empty for stdio */
	struct spec_where at;
};

enum config_framing { CONFIG_AUTO, CONFIG_LINE, CONFIG_LSP };
enum config_log { CONFIG_ERROR, CONFIG_WARNING, CONFIG_INFO, CONFIG_DEBUG };

struct config_tool {
	struct str name;
	struct field_strs command;	/* one string or more */
	struct str description;
	const struct json *input_schema;	/* one that compiles, or NULL */
	double timeout_seconds;
	struct spec_where at;
};

struct config_price {		/* dollars for a million tokens */
	struct str model;
	double input, output, cache_read, cache_write;
};

struct config_limits {
	int64_t message_bytes, depth, connections, queue_bytes;
	int64_t idle_seconds;	/* 0: never */
	int64_t runs, kept_runs, tools;
};

struct config_sessions {
	int64_t max, idle_seconds, timeout_seconds;
	struct str persist_dir, prompt_template;	/* or empty */
	struct str executor, provider, working_dir;	/* or empty */
	double temperature;	/* below 0: not said */
	int64_t max_tokens;	/* 0: not said */
};

struct config_remote {
	int64_t ping_seconds, idle_seconds, grace_seconds, lost_seconds;
};

/*
 * The settings, decoded.  Strings end in a NUL, and have no other.  Paths are
 * relative to the working directory, wherever they were written.
 */
struct config {
	struct field_strs listen;	/* as ports, in words */
	struct config_port *ports;	/* none: as the command sees fit */
	size_t nports;
	int framing;			/* enum config_framing */
	bool allow_remote, require_hello, unix_token;
	struct str token_file;		/* or empty */
	struct field_strs roots;	/* none: as the command sees fit */
	struct field_strs hosts, origins;	/* of HTTP, besides loopback */
	struct str host;		/* where a server is to be found */
	int64_t port, timeout_seconds;
	struct str executor, model;	/* empty: the suite's */
	const struct json *judge;	/* {executor, model, ...}, or NULL */
	const struct json *executors;	/* {name: {...}}, or NULL */
	const struct json *tools;	/* {name: {...}}, or NULL */
	struct config_tool *tool;	/* the same, decoded */
	size_t ntools;
	const struct json *prices;
	struct config_price *price;
	size_t nprices;
	struct config_limits limits;
	struct config_sessions sessions;
	struct config_remote remote;
	int log_level;			/* enum config_log */
	const struct json *tree;	/* all that was said; private */
	const struct json *other;	/* private from here */
	const char *env_token;
	bool file_token;		/* token_file goes before env_token */
};

/*
 * Everything that is wrong is in the notes; a flag or variable is a "file"
 * there.  NULL when there is an error among them.  The result lives in the
 * arena, which also has the names of files in the notes.
 */
struct config *config_load(struct arena *, const struct config_sources *,
    struct spec_notes *);

/* Where the suite says nothing: executors, prices, and who judges. */
void config_apply(const struct config *, struct spec_suite *);

/* What holds where nothing is said. */
extern const struct config config_defaults;

struct config_leaf {
	struct str key;		/* "limits.runs", "prices.\"gpt-4.1\".input" */
	struct str value;	/* as JSON; empty: not for everybody's eyes */
	struct spec_where at;	/* file NULL: the default */
};

/* Every setting with its value and source, sorted as in the manual. */
size_t config_leaves(struct arena *, const struct config *,
    struct config_leaf **);

enum { CONFIG_TOKEN_MAX = 4096 };	/* bytes */

/*
 * The token that peers have to show; empty when none is set.  -1 when it
 * cannot be had, or others could have read it.  *source, unless NULL, is
 * where it is from.
 */
int config_token(struct arena *, const struct config *, struct str *token,
    const char **source, struct err *);

#endif
