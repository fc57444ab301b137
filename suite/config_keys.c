/* SPDX-License-Identifier: ISC */
/*
 * Which settings there are, and what holds where nobody says anything.
 */
#include "suite/config_internal.h"

#include <stdint.h>
#include <string.h>

/* ROW(tag, "key", member, type, .help = "...") */
#define ROW(T, k, m, t, ...) \
	{ .key = k, .type = t, .off = offsetof(struct T, m), __VA_ARGS__ }

enum {
	SECONDS_MAX = 366 * 24 * 3600,
	BYTES_MAX = 1 << 30,
	DEPTH_MAX = 1024,	/* readers that recurse stand this */
	COUNT_MAX = 1000000
};

static const char *const framings[] = { "auto", "line", "lsp", NULL };
static const char *const log_levels[] = { "error", "warning", "info", "debug",
	NULL };

static const struct field limit_rows[] = {
	FIELD(config_limits, message_bytes, FIELD_INT,
	    .min = 1024, .max = BYTES_MAX, .help = "of one message"),
	FIELD(config_limits, depth, FIELD_INT,
	    .min = 1, .max = DEPTH_MAX, .help = "of nesting in it"),
	FIELD(config_limits, connections, FIELD_INT,
	    .min = 1, .max = COUNT_MAX, .help = "at the same time"),
	FIELD(config_limits, queue_bytes, FIELD_INT,
	    .min = 4096, .max = BYTES_MAX, .help = "that wait to be sent"),
	FIELD(config_limits, idle_seconds, FIELD_INT,
	    .min = 0, .max = SECONDS_MAX, .help = "of silence; 0: forever"),
	FIELD(config_limits, runs, FIELD_INT,
	    .min = 1, .max = COUNT_MAX, .help = "at the same time"),
	FIELD(config_limits, kept_runs, FIELD_INT,
	    .min = 1, .max = COUNT_MAX, .help = "ended ones, remembered"),
	FIELD(config_limits, tools, FIELD_INT,
	    .min = 1, .max = COUNT_MAX, .help = "commands at the same time"),
};
static const struct field_table limit_table =
    FIELD_TABLE(config_limits, limit_rows);

static const struct field session_rows[] = {
	FIELD(config_sessions, max, FIELD_INT,
	    .min = 1, .max = COUNT_MAX, .help = "at the same time"),
	FIELD(config_sessions, idle_seconds, FIELD_INT,
	    .min = 1, .max = SECONDS_MAX, .help = "until one is forgotten"),
	FIELD(config_sessions, timeout_seconds, FIELD_INT,
	    .min = 1, .max = SECONDS_MAX, .help = "of one fix"),
	FIELD(config_sessions, executor, FIELD_STR,
	    .help = "who fixes; else by the provider"),
	FIELD(config_sessions, provider, FIELD_STR,
	    .help = "where a call names none"),
	FIELD(config_sessions, temperature, FIELD_NUM,
	    .min = 0, .max = 1, .help = "where a call has none"),
	FIELD(config_sessions, max_tokens, FIELD_INT,
	    .min = 1, .max = INT32_MAX, .help = "where a call has none"),
	FIELD(config_sessions, working_dir, FIELD_STR,
	    .help = "where a call names none"),
	FIELD(config_sessions, persist_dir, FIELD_STR,
	    .help = "where they outlive the server"),
	FIELD(config_sessions, prompt_template, FIELD_STR,
	    .help = "a file, instead of the template that is built in"),
};
static const struct field_table session_table =
    FIELD_TABLE(config_sessions, session_rows);

static const struct field remote_rows[] = {
	FIELD(config_remote, ping_seconds, FIELD_INT,
	    .min = 1, .max = SECONDS_MAX, .help = "between pings"),
	FIELD(config_remote, idle_seconds, FIELD_INT,
	    .min = 1, .max = SECONDS_MAX, .help = "of silence"),
	FIELD(config_remote, grace_seconds, FIELD_INT,
	    .min = 0, .max = SECONDS_MAX, .help = "after a deadline"),
	FIELD(config_remote, lost_seconds, FIELD_INT,
	    .min = 0, .max = SECONDS_MAX, .help = "to come back"),
};
static const struct field_table remote_table =
    FIELD_TABLE(config_remote, remote_rows);

/* Of the map `tools`; that a command is there is seen after merging. */
static const struct field tool_rows[] = {
	FIELD(config_tool, command, FIELD_STRS, .help = "and its arguments"),
	FIELD(config_tool, description, FIELD_STR, .help = "for agents"),
	FIELD(config_tool, input_schema, FIELD_TREE, .help = "of arguments"),
	FIELD(config_tool, timeout_seconds, FIELD_NUM,
	    .min = 0, .max = 86400, .help = "then it is ended"),
};
const struct field_table config_tool_table =
    FIELD_TABLE(config_tool, tool_rows);
const struct config_tool config_tool_init = { .timeout_seconds = 60 };

static const struct field price_rows[] = {
	FIELD(config_price, input, FIELD_NUM, .min = 0, .max = COUNT_MAX),
	FIELD(config_price, output, FIELD_NUM, .min = 0, .max = COUNT_MAX),
	FIELD(config_price, cache_read, FIELD_NUM, .min = 0, .max = COUNT_MAX),
	FIELD(config_price, cache_write, FIELD_NUM, .min = 0, .max = COUNT_MAX),
};
const struct field_table config_price_table =
    FIELD_TABLE(config_price, price_rows);

/* A part of .waza.yaml that is read by the loader of suites, or by nobody. */
#define OTHER(k) \
	ROW(config, k, other, FIELD_TREE, .flags = FIELD_IGNORED)
/* A secret, which is refused; nobody is to be led to such a key. */
#define SECRET(k) \
	ROW(config, k, other, FIELD_TREE, .flags = FIELD_RETIRED)

static const struct field config_rows[] = {
	FIELD(config, listen, FIELD_STRS, .help = "where a server listens"),
	FIELD(config, framing, FIELD_ENUM, .words = framings,
	    .help = "how messages are told apart"),
	FIELD(config, allow_remote, FIELD_BOOL, .help = "not only loopback"),
	FIELD(config, require_hello, FIELD_BOOL, .help = "of all on sockets"),
	FIELD(config, unix_token, FIELD_BOOL, .help = "on unix sockets too"),
	FIELD(config, token_file, FIELD_STR, .help = "what peers must show"),
	FIELD(config, roots, FIELD_STRS, .help = "where files may be"),
	FIELD(config, hosts, FIELD_STRS, .help = "names of the server"),
	FIELD(config, origins, FIELD_STRS, .help = "pages that may ask it"),
	FIELD(config, host, FIELD_STR, .help = "of the server"),
	FIELD(config, port, FIELD_INT, .min = 0, .max = 65535),
	FIELD(config, timeout_seconds, FIELD_INT,
	    .min = 0, .max = SECONDS_MAX, .help = "of a client; 0: none"),
	FIELD(config, executor, FIELD_STR, .help = "instead of the suite's"),
	FIELD(config, model, FIELD_STR, .help = "instead of the suite's"),
	FIELD(config, judge, FIELD_TREE, .help = "who grades"),
	FIELD(config, executors, FIELD_TREE, .help = "by name"),
	FIELD(config, tools, FIELD_TREE, .help = "commands, by name"),
	FIELD(config, limits, FIELD_OBJECT, .sub = &limit_table),
	FIELD(config, sessions, FIELD_OBJECT, .sub = &session_table),
	FIELD(config, remote, FIELD_OBJECT, .sub = &remote_table),
	FIELD(config, prices, FIELD_TREE, .help = "of models"),
	FIELD(config, log_level, FIELD_ENUM, .words = log_levels,
	    .help = "what a server says"),
	SECRET("token"), SECRET("auth_token"), SECRET("auth"),
	OTHER("cache"), OTHER("defaults"), OTHER("dev"), OTHER("files"),
	OTHER("graders"), OTHER("paths"), OTHER("server"), OTHER("storage"),
	OTHER("tokens"),
};
const struct field_table config_table = FIELD_TABLE(config, config_rows);

const struct config config_defaults = {
	.host = { "127.0.0.1", 9 }, .port = 9000, .timeout_seconds = 30,
	.token_file = { "", 0 }, .executor = { "", 0 }, .model = { "", 0 },
	.limits = { .message_bytes = 10 << 20, .depth = 128,
	    .connections = 1024, .queue_bytes = 64 << 20, .runs = 128,
	    .kept_runs = 100, .tools = 64 },
	.sessions = { .max = 1000, .idle_seconds = 3600,
	    .timeout_seconds = 1800, .executor = { "", 0 },
	    .provider = { "", 0 }, .working_dir = { "", 0 },
	    .temperature = -1,
	    .persist_dir = { "", 0 }, .prompt_template = { "", 0 } },
	.remote = { .ping_seconds = 30, .idle_seconds = 60,
	    .grace_seconds = 2, .lost_seconds = 10 },
	.log_level = CONFIG_WARNING,
};

bool
config_foreign(const struct field *f)
{
	return (f->flags & (FIELD_IGNORED | FIELD_RETIRED)) != 0;
}

const struct field *
config_row(struct str key)
{
	const struct field_table *t = &config_table;
	const struct field *f = NULL;
	const char *dot;
	struct str word;

	while (key.n > 0) {
		if (t == NULL)
			return NULL;
		dot = memchr(key.p, '.', key.n);
		word = key;
		if (dot != NULL)
			word.n = (size_t)(dot - key.p);
		f = field_find(t, word);
		if (f == NULL)
			return NULL;
		t = f->sub;
		word.n += dot != NULL;
		key = (struct str){ key.p + word.n, key.n - word.n };
	}
	return f;
}
