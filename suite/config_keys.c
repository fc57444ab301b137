/* SPDX-License-Identifier: ISC */
/*
 * The keys of the settings and their defaults; waza-config(5) explains them.
 */
#include "suite/config_internal.h"

#include <stdint.h>
#include <string.h>

enum {
	SECONDS_MAX = 366 * 24 * 3600,
	BYTES_MAX = 1 << 30,
	DEPTH_MAX = 1024,	/* safe for readers that recurse */
	COUNT_MAX = 1000000
};

static const char *const framings[] = { "auto", "line", "lsp", NULL };
static const char *const log_levels[] = { "error", "warning", "info", "debug",
	NULL };

#define INT(T, m, lo, hi) SPEC_RANGE(T, m, FIELD_INT, lo, hi)
#define COUNT(T, m) INT(T, m, 1, COUNT_MAX)
#define STRING(T, m) SPEC_KEY(T, m, FIELD_STR)

static const struct field limit_rows[] = {
	INT(config_limits, message_bytes, 1024, BYTES_MAX),
	INT(config_limits, depth, 1, DEPTH_MAX),
	COUNT(config_limits, connections),
	INT(config_limits, queue_bytes, 4096, BYTES_MAX),
	INT(config_limits, idle_seconds, 0, SECONDS_MAX),
	COUNT(config_limits, runs),
	COUNT(config_limits, kept_runs),
	COUNT(config_limits, tools),
};
static const struct field_table limit_table =
    FIELD_TABLE(config_limits, limit_rows);

static const struct field session_rows[] = {
	COUNT(config_sessions, max),
	INT(config_sessions, idle_seconds, 1, SECONDS_MAX),
	INT(config_sessions, timeout_seconds, 1, SECONDS_MAX),
	STRING(config_sessions, executor),
	STRING(config_sessions, provider),
	SPEC_RANGE(config_sessions, temperature, FIELD_NUM, 0, 1),
	INT(config_sessions, max_tokens, 1, INT32_MAX),
	STRING(config_sessions, working_dir),
	STRING(config_sessions, persist_dir),
	STRING(config_sessions, prompt_template),
};
static const struct field_table session_table =
    FIELD_TABLE(config_sessions, session_rows);

static const struct field remote_rows[] = {
	INT(config_remote, ping_seconds, 1, SECONDS_MAX),
	INT(config_remote, idle_seconds, 1, SECONDS_MAX),
	INT(config_remote, grace_seconds, 0, SECONDS_MAX),
	INT(config_remote, lost_seconds, 0, SECONDS_MAX),
};
static const struct field_table remote_table =
    FIELD_TABLE(config_remote, remote_rows);

/* An entry of `tools`; config.c checks after merging that it has a command. */
static const struct field tool_rows[] = {
	SPEC_KEY(config_tool, command, FIELD_STRS),
	STRING(config_tool, description),
	SPEC_KEY(config_tool, input_schema, FIELD_TREE),
	SPEC_RANGE(config_tool, timeout_seconds, FIELD_NUM, 0, 86400),
};
const struct field_table config_tool_table =
    FIELD_TABLE(config_tool, tool_rows);
const struct config_tool config_tool_init = { .timeout_seconds = 60 };

static const struct field price_rows[] = {
	SPEC_RANGE(config_price, input, FIELD_NUM, 0, COUNT_MAX),
	SPEC_RANGE(config_price, output, FIELD_NUM, 0, COUNT_MAX),
	SPEC_RANGE(config_price, cache_read, FIELD_NUM, 0, COUNT_MAX),
	SPEC_RANGE(config_price, cache_write, FIELD_NUM, 0, COUNT_MAX),
};
const struct field_table config_price_table =
    FIELD_TABLE(config_price, price_rows);

static const struct field path_rows[] = {
	STRING(config_paths, skills),
	STRING(config_paths, evals),
	STRING(config_paths, results),
};
static const struct field_table path_table =
    FIELD_TABLE(config_paths, path_rows);

static const struct field file_rows[] = {
	SPEC_AS(config_files, "evalFile", eval_file, FIELD_STR),
	SPEC_AS(config_files, "taskGlob", task_glob, FIELD_STR),
	SPEC_AS(config_files, "taskFileSuffix", task_suffix, FIELD_STR),
};
static const struct field_table file_table =
    FIELD_TABLE(config_files, file_rows);

static const struct field default_rows[] = {
	STRING(config_suite_defaults, engine),
	STRING(config_suite_defaults, model),
	SPEC_AS(config_suite_defaults, "judgeModel", judge_model, FIELD_STR),
	INT(config_suite_defaults, timeout, 1, SPEC_SECONDS_MAX),
	SPEC_KEY(config_suite_defaults, parallel, FIELD_BOOL),
	INT(config_suite_defaults, workers, 0, 10000),
	SPEC_KEY(config_suite_defaults, verbose, FIELD_BOOL),
	SPEC_AS(config_suite_defaults, "sessionLog", session_log, FIELD_BOOL),
};
static const struct field_table default_table =
    FIELD_TABLE(config_suite_defaults, default_rows);

static const struct field token_rows[] = {
	SPEC_ROW(config_token_limits, "warningThreshold", warning_threshold,
	    FIELD_INT, .min = 0, .max = BYTES_MAX),
	SPEC_ROW(config_token_limits, "fallbackLimit", fallback_limit,
	    FIELD_INT, .min = 0, .max = BYTES_MAX),
	SPEC_KEY(config_token_limits, limits, FIELD_TREE),
	STRING(config_token_limits, vocab),
};
static const struct field_table token_table =
    FIELD_TABLE(config_token_limits, token_rows);

/* A key of .waza.yaml that the suite loader or nothing reads. */
#define OTHER(k) \
	SPEC_ROW(config, k, other, FIELD_TREE, .flags = FIELD_IGNORED)
/* A secret, which is refused; such keys are never suggested. */
#define SECRET(k) \
	SPEC_ROW(config, k, other, FIELD_TREE, .flags = FIELD_RETIRED)

static const struct field config_rows[] = {
	SPEC_KEY(config, listen, FIELD_STRS),
	FIELD(config, framing, FIELD_ENUM, .words = framings),
	SPEC_KEY(config, allow_remote, FIELD_BOOL),
	SPEC_KEY(config, require_hello, FIELD_BOOL),
	SPEC_KEY(config, unix_token, FIELD_BOOL),
	STRING(config, token_file),
	SPEC_KEY(config, roots, FIELD_STRS),
	SPEC_KEY(config, hosts, FIELD_STRS),
	SPEC_KEY(config, origins, FIELD_STRS),
	STRING(config, host),
	INT(config, port, 0, 65535),
	INT(config, timeout_seconds, 0, SECONDS_MAX),
	STRING(config, executor),
	STRING(config, model),
	SPEC_KEY(config, judge, FIELD_TREE),
	SPEC_KEY(config, executors, FIELD_TREE),
	SPEC_KEY(config, tools, FIELD_TREE),
	FIELD(config, limits, FIELD_OBJECT, .sub = &limit_table),
	FIELD(config, sessions, FIELD_OBJECT, .sub = &session_table),
	FIELD(config, remote, FIELD_OBJECT, .sub = &remote_table),
	SPEC_KEY(config, prices, FIELD_TREE),
	FIELD(config, log_level, FIELD_ENUM, .words = log_levels),
	FIELD(config, paths, FIELD_OBJECT, .sub = &path_table),
	FIELD(config, files, FIELD_OBJECT, .sub = &file_table),
	FIELD(config, defaults, FIELD_OBJECT, .sub = &default_table),
	FIELD(config, tokens, FIELD_OBJECT, .sub = &token_table),
	SECRET("token"), SECRET("auth_token"), SECRET("auth"),
	OTHER("cache"), OTHER("dev"), OTHER("graders"), OTHER("registries"),
	OTHER("server"), OTHER("storage"),
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
	.paths = { { "", 0 }, { "", 0 }, { "", 0 } },
	.files = { { "", 0 }, { "", 0 }, { "", 0 } },
	.defaults = { .engine = { "", 0 }, .model = { "", 0 },
	    .judge_model = { "", 0 } },
	.tokens = { .vocab = { "", 0 } },
};

bool
config_foreign(const struct field *f)
{
	return (f->flags & (FIELD_IGNORED | FIELD_RETIRED)) != 0;
}

/* Keys have at most two levels. */
const struct field *
config_row(struct str key)
{
	const char *dot = memchr(key.p, '.', key.n);
	struct str first = { key.p, dot != NULL ? (size_t)(dot - key.p) :
		key.n };
	const struct field *f = field_find(&config_table, first);

	if (f == NULL || dot == NULL)
		return f;
	return f->sub == NULL ? NULL : field_find(f->sub,
	    (struct str){ dot + 1, key.n - first.n - 1 });
}
