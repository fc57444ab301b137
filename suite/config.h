/* SPDX-License-Identifier: ISC */
/*
 * config.h: config_.  Settings: the defaults of servers, clients, tools and
 * executors; suites and calls take precedence.  waza-config(5) has the keys.
 *
 * They come from several sources, in ascending precedence: built-in defaults,
 * the user's file, the project's .waza.yaml, --config-path (or WAZA_CONFIG),
 * the environment, --config-json, flags.  Objects are merged member by member,
 * other values replace, and null removes the value of lower sources.  Every
 * value keeps its source.
 *
 * A project's file that the user has not trusted (project.h) sets only names
 * and numbers; its other settings are held back.
 *
 * Secrets are not settings: a token is in a file that only its owner can read,
 * or in WAZA_AUTH_TOKEN.  A secret in a settings file is an error.
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

enum config_level {		/* of a source, lowest precedence first */
	CONFIG_DEFAULT, CONFIG_USER, CONFIG_PROJECT, CONFIG_FILE, CONFIG_ENV,
	CONFIG_JSON, CONFIG_FLAG
};

/*
 * A command-line flag that sets a setting.  Several flags with the key of a
 * list form one list.
 */
struct config_flag {
	const char *flag;	/* "--framing", for messages */
	const char *key;	/* "framing", "limits.runs"; no map entry */
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
	const char *dir;	/* search .waza.yaml from here; NULL: "." */
	const char *token;	/* value of WAZA_AUTH_TOKEN; NULL: not set */
	bool trust;		/* --trust: obey all of .waza.yaml */
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
	const struct json *input_schema;	/* valid, or NULL */
	double timeout_seconds;
	struct spec_where at;
};

struct config_price {		/* dollars per million tokens */
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
	double temperature;	/* negative: not given */
	int64_t max_tokens;	/* 0: not given */
};

struct config_remote {
	int64_t ping_seconds, idle_seconds, grace_seconds, lost_seconds;
};

/* Where a project keeps its skills, suites and results; empty: the default. */
struct config_paths {
	struct str skills, evals, results;
};

/* The names of a project's files; empty: the default. */
struct config_files {
	struct str eval_file, task_glob, task_suffix;
};

/*
 * Defaults of new suites.  The suite loader reads the same key by itself, for
 * runs (spec_config.c).
 */
struct config_suite_defaults {
	struct str engine, model, judge_model;	/* or empty */
	int64_t timeout, workers;		/* 0: not given */
	bool parallel, verbose, session_log;
};

struct config_token_limits {
	int64_t warning_threshold, fallback_limit;
	const struct json *limits;	/* {defaults: {PATTERN: N}, overrides:
					 * {FILE: N}}, or NULL */
	struct str vocab;		/* the file of a vocabulary, or empty */
};

struct config_leaf {
	struct str key;		/* "limits.runs", "prices.\"gpt-4.1\".input" */
	struct str value;	/* as JSON; empty: hidden */
	struct spec_where at;	/* file NULL: the default */
};

/*
 * The settings, decoded.  Strings are NUL-terminated and contain no other NUL.
 * Paths are relative to the working directory.
 */
struct config {
	struct field_strs listen;	/* the same as ports, as strings */
	struct config_port *ports;	/* none: the command's default */
	size_t nports;
	int framing;			/* enum config_framing */
	bool allow_remote, require_hello, unix_token;
	struct str token_file;		/* or empty */
	struct field_strs roots;	/* none: the command's default */
	struct field_strs hosts, origins;	/* of HTTP, besides loopback */
	struct str host;		/* of the server, for clients */
	int64_t port, timeout_seconds;
	struct str executor, model;	/* empty: the suite's */
	struct str own_executor;	/* the same, but never named only by
					 * a project that is not trusted */
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
	struct config_paths paths;
	int64_t keep_results;		/* files of a suite in .waza/results;
					 * 0: all */
	struct config_files files;
	struct config_suite_defaults defaults;
	struct config_token_limits tokens;
	const char *project_dir;	/* of the .waza.yaml, or NULL */
	bool trust;			/* of the sources */
	const struct config_leaf *held;	/* back from an untrusted project */
	size_t nheld;
	const struct json *tree;	/* all sources merged; private */
	const struct json *other;	/* private from here */
	const char *env_token;
	bool file_token;		/* token_file takes precedence */
};

/*
 * Reads all sources.  All problems are noted; the "file" of a note can be a
 * flag or variable.  NULL if there is an error.  The result and the file names
 * in the notes live in the arena.
 */
struct config *config_load(struct arena *, const struct config_sources *,
    struct spec_notes *);

/*
 * Whether the settings have an entry of `executors` with that name that a
 * project's file without trust did not add.
 */
bool config_has_executor(const struct config *, struct str name);

/*
 * The settings of a project's file that need trust, and their number.  -1 if
 * the file has errors, which are noted.
 */
struct project;
int config_need_trust(struct arena *, const struct config_sources *,
    const struct project *, struct spec_notes *, const struct config_leaf **,
    size_t *);

/* Gives a suite the executors, the prices and, if it has none, the judge. */
void config_apply(const struct config *, struct spec_suite *);

/* The built-in defaults. */
extern const struct config config_defaults;

/* The keys of a settings file; those of others are FIELD_IGNORED. */
extern const struct field_table config_table;
/* Those of `tokens`. */
extern const struct field_table config_token_table;

/* Lists all settings in the order of the manual; returns their number. */
size_t config_leaves(struct arena *, const struct config *,
    struct config_leaf **);

enum { CONFIG_TOKEN_MAX = 4096 };	/* bytes */

/*
 * The token that peers must present; empty if none is set.  -1 if its file
 * cannot be read or other users can read it.  *source, unless NULL, is the
 * file or variable.
 */
int config_token(struct arena *, const struct config *, struct str *token,
    const char **source, struct err *);

#endif
