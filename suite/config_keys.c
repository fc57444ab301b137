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

#define INT(T, m, lo, ...) SPEC_RANGE(T, m, FIELD_INT, lo, __VA_ARGS__)
#define COUNT(T, m, ...) INT(T, m, 1, COUNT_MAX, __VA_ARGS__)
#define STRING(T, m, ...) SPEC_KEY(T, m, FIELD_STR, __VA_ARGS__)

static const struct field limit_rows[] = {
	INT(config_limits, message_bytes, 1024, BYTES_MAX,
	    .help = "bytes of a message"),
	INT(config_limits, depth, 1, DEPTH_MAX,
	    .help = "nesting of a message"),
	COUNT(config_limits, connections,
	    .help = "connections"),
	INT(config_limits, queue_bytes, 4096, BYTES_MAX,
	    .help = "unsent bytes of a connection"),
	INT(config_limits, idle_seconds, 0, SECONDS_MAX,
	    .help = "seconds until an idle connection is closed; 0: never"),
	COUNT(config_limits, runs,
	    .help = "concurrent runs"),
	COUNT(config_limits, kept_runs,
	    .help = "finished runs that are remembered"),
	COUNT(config_limits, tools,
	    .help = "concurrent commands of tools"),
};
static const struct field_table limit_table =
    FIELD_TABLE(config_limits, limit_rows);

static const struct field session_rows[] = {
	COUNT(config_sessions, max,
	    .help = "sessions"),
	INT(config_sessions, idle_seconds, 1, SECONDS_MAX,
	    .help = "seconds until an unused session is deleted"),
	INT(config_sessions, timeout_seconds, 1, SECONDS_MAX,
	    .help = "time limit of a fix, in seconds"),
	STRING(config_sessions, executor,
	    .help = "executor of fixes"),
	STRING(config_sessions, provider,
	    .help = "model provider of fixes"),
	SPEC_RANGE(config_sessions, temperature, FIELD_NUM, 0, 1,
	    .help = "temperature of the model"),
	INT(config_sessions, max_tokens, 1, INT32_MAX,
	    .help = "tokens of an answer at most"),
	STRING(config_sessions, working_dir,
	    .help = "directory of fixes that name none"),
	STRING(config_sessions, persist_dir,
	    .help = "directory in which sessions are kept"),
	STRING(config_sessions, prompt_template,
	    .help = "file with the template of the prompt"),
};
static const struct field_table session_table =
    FIELD_TABLE(config_sessions, session_rows);

static const struct field remote_rows[] = {
	INT(config_remote, ping_seconds, 1, SECONDS_MAX,
	    .help = "seconds between pings of an evaluation client"),
	INT(config_remote, idle_seconds, 1, SECONDS_MAX,
	    .help = "seconds without a message until it is disconnected"),
	INT(config_remote, grace_seconds, 0, SECONDS_MAX,
	    .help = "seconds that a late answer is waited for"),
	INT(config_remote, lost_seconds, 0, SECONDS_MAX,
	    .help = "seconds until the work of a disconnected client is given to another"),
};
static const struct field_table remote_table =
    FIELD_TABLE(config_remote, remote_rows);

/* An entry of `tools`; config.c checks after merging that it has a command. */
static const struct field tool_rows[] = {
	SPEC_KEY(config_tool, command, FIELD_STRS,
	    .help = "program and its arguments"),
	STRING(config_tool, description,
	    .help = "what the tool does"),
	SPEC_KEY(config_tool, input_schema, FIELD_TREE,
	    .help = "JSON Schema of its input"),
	SPEC_RANGE(config_tool, timeout_seconds, FIELD_NUM, 0, 86400,
	    .help = "time limit in seconds; 0: none"),
};
const struct field_table config_tool_table =
    FIELD_TABLE(config_tool, tool_rows);
const struct config_tool config_tool_init = { .timeout_seconds = 60 };

static const struct field price_rows[] = {
	SPEC_RANGE(config_price, input, FIELD_NUM, 0, COUNT_MAX,
	    .help = "dollars per million input tokens"),
	SPEC_RANGE(config_price, output, FIELD_NUM, 0, COUNT_MAX,
	    .help = "dollars per million output tokens"),
	SPEC_RANGE(config_price, cache_read, FIELD_NUM, 0, COUNT_MAX,
	    .help = "dollars per million tokens read from a cache"),
	SPEC_RANGE(config_price, cache_write, FIELD_NUM, 0, COUNT_MAX,
	    .help = "dollars per million tokens written to a cache"),
};
const struct field_table config_price_table =
    FIELD_TABLE(config_price, price_rows);

static const struct field path_rows[] = {
	STRING(config_paths, skills,
	    .help = "directory of the skills"),
	STRING(config_paths, evals,
	    .help = "directory of the suites"),
	STRING(config_paths, results,
	    .help = "directory of the results"),
};
static const struct field_table path_table =
    FIELD_TABLE(config_paths, path_rows);

static const struct field file_rows[] = {
	SPEC_ROW(config_files, "evalFile", eval_file, FIELD_STR,
	    .help = "name of a suite"),
	SPEC_ROW(config_files, "taskGlob", task_glob, FIELD_STR,
	    .help = "pattern of the task files of a new suite"),
	SPEC_ROW(config_files, "taskFileSuffix", task_suffix, FIELD_STR,
	    .help = "end of the name of a task file"),
};
static const struct field_table file_table =
    FIELD_TABLE(config_files, file_rows);

static const struct field default_rows[] = {
	STRING(config_suite_defaults, engine,
	    .help = "executor that produces the answers"),
	STRING(config_suite_defaults, model,
	    .help = "model of the agent"),
	SPEC_ROW(config_suite_defaults, "judgeModel", judge_model, FIELD_STR,
	    .help = "model of the judge"),
	INT(config_suite_defaults, timeout, 1, SPEC_SECONDS_MAX,
	    .help = "time limit of an answer, in seconds"),
	SPEC_KEY(config_suite_defaults, parallel, FIELD_BOOL,
	    .help = "run four trials concurrently unless workers is set"),
	INT(config_suite_defaults, workers, 0, 10000,
	    .help = "concurrent trials"),
	SPEC_KEY(config_suite_defaults, verbose, FIELD_BOOL,
	    .help = "print what the agents do"),
	SPEC_ROW(config_suite_defaults, "sessionLog", session_log, FIELD_BOOL,
	    .help = "write the events of each run to a file"),
};
static const struct field_table default_table =
    FIELD_TABLE(config_suite_defaults, default_rows);

static const struct field token_rows[] = {
	SPEC_ROW(config_token_limits, "warningThreshold", warning_threshold,
	    FIELD_INT, .min = 0, .max = BYTES_MAX,
	    .help = "tokens from which a SKILL.md gives a warning"),
	SPEC_ROW(config_token_limits, "fallbackLimit", fallback_limit,
	    FIELD_INT, .min = 0, .max = BYTES_MAX,
	    .help = "limit of files that no pattern names"),
	SPEC_KEY(config_token_limits, limits, FIELD_TREE,
	    .help = "limits by pattern: {defaults, overrides}"),
	STRING(config_token_limits, vocab,
	    .help = "vocabulary for exact counts, in the format of tiktoken"),
};
const struct field_table config_token_table =
    FIELD_TABLE(config_token_limits, token_rows);

/* A key of .waza.yaml that the suite loader or nothing reads. */
#define OTHER(k) \
	SPEC_ROW(config, k, other, FIELD_TREE, .flags = FIELD_IGNORED)
/* A secret, which is refused; such keys are never suggested. */
#define SECRET(k) \
	SPEC_ROW(config, k, other, FIELD_TREE, .flags = FIELD_RETIRED)

static const struct field config_rows[] = {
	SPEC_KEY(config, listen, FIELD_STRS,
	    .help = "addresses that servers listen on"),
	FIELD(config, framing, FIELD_ENUM, .words = framings,
	    .help = "framing of messages"),
	SPEC_KEY(config, allow_remote, FIELD_BOOL,
	    .help = "listen on more than loopback"),
	SPEC_KEY(config, require_hello, FIELD_BOOL,
	    .help = "require hello before other requests"),
	SPEC_KEY(config, unix_token, FIELD_BOOL,
	    .help = "require the token on unix sockets, too"),
	STRING(config, token_file,
	    .values = FIELD_FILES,
	    .help = "file with the token for clients"),
	SPEC_KEY(config, roots, FIELD_STRS,
	    .values = FIELD_FILES,
	    .help = "directories whose files clients can name"),
	SPEC_KEY(config, hosts, FIELD_STRS,
	    .help = "further names of this machine in HTTP requests"),
	SPEC_KEY(config, origins, FIELD_STRS,
	    .help = "further origins of pages"),
	STRING(config, host,
	    .help = "host of the server that clients call"),
	INT(config, port, 0, 65535,
	    .help = "port of the server that clients call"),
	INT(config, timeout_seconds, 0, SECONDS_MAX,
	    .help = "time limit of a call to a server, in seconds; 0: none"),
	STRING(config, executor,
	    .values = FIELD_EXECUTORS,
	    .help = "executor for suites that name none"),
	STRING(config, model,
	    .help = "model for suites that name none"),
	SPEC_KEY(config, judge, FIELD_TREE,
	    .schema = FIELD_REF("judge"),
	    .help = "judge for suites that name none"),
	SPEC_KEY(config, executors, FIELD_TREE,
	    .schema = FIELD_REF("executors"),
	    .help = "settings of executors by name"),
	SPEC_KEY(config, tools, FIELD_TREE,
	    .sub = &config_tool_table, .shape = FIELD_AS_MAP,
	    .help = "commands that clients can call as tools, by name"),
	FIELD(config, limits, FIELD_OBJECT, .sub = &limit_table,
	    .help = "limits of servers"),
	FIELD(config, sessions, FIELD_OBJECT, .sub = &session_table,
	    .help = "sessions of fixes"),
	FIELD(config, remote, FIELD_OBJECT, .sub = &remote_table,
	    .help = "evaluation clients"),
	SPEC_KEY(config, prices, FIELD_TREE,
	    .sub = &config_price_table, .shape = FIELD_AS_MAP,
	    .help = "prices of models by name"),
	FIELD(config, log_level, FIELD_ENUM, .words = log_levels,
	    .help = "least important messages that are printed"),
	FIELD(config, paths, FIELD_OBJECT, .sub = &path_table,
	    .help = "directories of skills, evals and results"),
	INT(config, keep_results, 0, COUNT_MAX,
	    .help = "results files of a suite kept in .waza/results; 0: all"),
	FIELD(config, files, FIELD_OBJECT, .sub = &file_table,
	    .help = "names of suites and task files"),
	FIELD(config, defaults, FIELD_OBJECT, .sub = &default_table,
	    .help = "defaults for the suites of the project"),
	FIELD(config, tokens, FIELD_OBJECT, .sub = &config_token_table,
	    .help = "limits of tokens, and how they are counted"),
	SECRET("token"), SECRET("auth_token"), SECRET("auth"),
	OTHER("cache"), OTHER("dev"), OTHER("graders"), OTHER("registries"),
	OTHER("server"), OTHER("storage"),
};

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
	.log_level = CONFIG_WARNING, .keep_results = 20,
	.paths = { { "", 0 }, { "", 0 }, { "", 0 } },
	.files = { { "", 0 }, { "", 0 }, { "", 0 } },
	.defaults = { .engine = { "", 0 }, .model = { "", 0 },
	    .judge_model = { "", 0 } },
	.tokens = { .warning_threshold = 500, .fallback_limit = 2000,
	    .vocab = { "", 0 } },
};

const struct field_table config_table = { config_rows, COUNTOF(config_rows),
	sizeof(struct config), &config_defaults };

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
