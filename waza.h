/* SPDX-License-Identifier: ISC */
/*
 * waza.h: cmd_.  Shared by all commands: how they are declared and called,
 * their exit statuses, and how they read input and print errors.
 */
#ifndef WAZA_WAZA_H
#define WAZA_WAZA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/base.h"
#include "lib/guard.h"
#include "lib/opt.h"

struct config;
struct config_flag;
struct config_sources;
struct json;
struct spec_notes;
struct spec_suite;
struct cmd_command;
struct cmd_job;
struct report_opts;

/*
 * Exit statuses.  For `run` and `grade`, cmd_exit_status() decides; `gate`
 * returns enum compare_status (report/compare.h), as the original does.
 */
enum {
	CMD_OK,			/* everything passed */
	CMD_FAILED,		/* it ran, and something did not pass */
	CMD_ERROR,		/* usage, configuration or system error */
	CMD_BUDGET		/* `run`: trials were not started, because the
				 * budget is spent */
};

/*
 * The exit status of `run` and `grade`: 128 + the signal that interrupted the
 * job, CMD_ERROR if a pass or a report failed (errors), CMD_BUDGET if a budget
 * is spent, else by the results.
 * Defined in cmd/job.c.
 */
int cmd_exit_status(const struct cmd_job *, bool errors);

enum { CMD_INPUT_MAX = 64 << 20 };	/* bytes of a file named in argv */

/* One call of a command; lives until the program exits. */
struct cmd_call {
	struct arena *arena;
	const void *opt;	/* the command's own options struct */
	char **args;		/* operands */
	size_t nargs;
	struct err *err;
	const char *const *words;	/* the command line, ends with NULL */
	const char *token;	/* the value of WAZA_AUTH_TOKEN, or NULL */
	enum guard_form form;	/* of its output, for cmd_finish() */
};

/* `waza help` lists the commands by purpose, in this order. */
enum cmd_group {
	CMD_TOOLS,		/* the default; listed last */
	CMD_RUNS,
	CMD_RESULTS,
	CMD_SUITES,
	CMD_SERVERS,
	CMD_GROUP__MAX,
	CMD_HIDDEN = CMD_GROUP__MAX	/* not listed */
};

/*
 * A command returns an exit status, and prints the reason to stderr if it is
 * not CMD_OK.
 */
struct cmd_command {
	const char *name;
	enum cmd_group group;
	const char *usage;	/* options and operands */
	const char *help;	/* one line, begins with an imperative verb */
	struct opt_table opts;
	size_t size;		/* of the options struct */
	const char *required[3];	/* names of the required operands */
	size_t max;		/* operands */
	int (*fn)(struct cmd_call *);
	int misuse;		/* status for wrong usage; 0: CMD_ERROR */
};

/* The option table of a command, and one row of it for member m of struct T. */
#define CMD_OPTS(rows) { rows, COUNTOF(rows) }
#define CMD_OPT(T, m, t, ...) \
	{ .type = t, .off = offsetof(struct T, m), __VA_ARGS__ }

/* The row --trust of every command that reads the project's .waza.yaml. */
#define CMD_TRUST_OPT(T, m) \
	CMD_OPT(T, m, OPT_FLAG, .name = "trust", \
	    .help = "obey all of the project's .waza.yaml")
/* The rows of every command with settings. */
#define CMD_CONFIG_OPTS(T, path, json, trust) \
	CMD_TRUST_OPT(T, trust), \
	CMD_OPT(T, path, OPT_STR, .name = "config-path", .value = "FILE", \
	    .help = "settings that override the user's and the project's"), \
	CMD_OPT(T, json, OPT_STR, .name = "config-json", .value = "TEXT", \
	    .help = "settings that override all others, as JSON")

/* Options about colors; the rows of every command that prints some. */
struct cmd_color {
	const char *when;
	bool never;
};
#define CMD_COLOR_OPTS(T, m) \
	CMD_OPT(T, m.when, OPT_STR, .name = "color", \
	    .value = "auto|always|never", \
	    .help = "when to use colors (default: auto, on a terminal)"), \
	CMD_OPT(T, m.never, OPT_FLAG, .name = "no-color", \
	    .help = "the same as --color=never")

extern const char cmd_version_number[];	/* the version, "1.2.3" */

/* The commands, each defined in the file of its name or its group. */
extern const struct cmd_command
    cmd_cache,
    cmd_call_server,
    cmd_check,
    cmd_command_record,
    cmd_compare,
    cmd_complete,
    cmd_completion,
    cmd_config,
    cmd_connect,
    cmd_coverage,
    cmd_delete_session,
    cmd_disconnect,
    cmd_doctor,
    cmd_gate,
    cmd_generate_fix,
    cmd_grade,
    cmd_help,
    cmd_import,
    cmd_init,
    cmd_jsonrpc,
    cmd_list,
    cmd_lsp,
    cmd_match,
    cmd_mcp_mock,
    cmd_mcp_record,
    cmd_merge,
    cmd_models,
    cmd_new,
    cmd_parse,
    cmd_ping,
    cmd_quality,
    cmd_results,
    cmd_run,
    cmd_schema,
    cmd_schema_check,
    cmd_serve,
    cmd_session,
    cmd_suggest,
    cmd_tokens,
    cmd_validate,
    cmd_version,
    cmd_view,
    cmd_worker;

/*
 * The commands of this program, sorted by name, and the names of those that it
 * was built without: cmd/full/commands.c, or cmd/small/commands.c.
 */
extern const struct cmd_table {
	const struct cmd_command *const *v;
	size_t n;
	const char *const *left_out;
	size_t nleft;
} cmd_commands;

/* The command of that name, or NULL; its line of usage. */
const struct cmd_command *cmd_find(struct str name);
void cmd_put_usage(const struct cmd_command *, struct buf *);
/* Each prints to stderr: there is no command, or none of that name. */
int cmd_none(void);
int cmd_unknown(struct arena *, const char *name);

/*
 * The path of the suite that the first operand names (default eval.yaml); for
 * a directory, the eval.yml or eval.yaml in it.
 */
const char *cmd_suite_path(const struct cmd_call *);

/*
 * Loads the settings and applies executors, prices and the judge to the suite
 * where it does not set them.  path and json are --config-path and
 * --config-json, or NULL.  Problems are added to the notes.
 */
void cmd_settings(const struct cmd_call *, const char *path,
    const char *json, struct spec_suite *, struct spec_notes *);

/*
 * Loads the settings for a command without a suite and prints errors and
 * warnings to stderr.  NULL after an error.
 */
struct config *cmd_load_config(struct cmd_call *,
    const struct config_sources *);

/* Moves the flags that have a value to the front; returns how many. */
size_t cmd_given_flags(struct config_flag *, size_t n);

/* The cache directory: the option's, else the setting's, else the default. */
const char *cmd_cache_dir(const struct cmd_call *, const char *option,
    struct str setting);

/*
 * With several models, each has its own results file (results_MODEL.json) and
 * its own directory for recordings (DIR/MODEL; NULL if dir is NULL).  make
 * creates dir.  name: as a part of a file name.  All live in the arena.
 */
char *cmd_file_name(struct arena *, const char *model);
const char *cmd_model_path(struct arena *, const char *path,
    const char *model);
const char *cmd_model_dir(struct arena *, const char *dir, const char *model,
    bool make);
/* A path without "../" and the like at its beginning, and "/" at its end. */
struct str cmd_short_path(struct str);

/*
 * The index of an option's value among n words; a NULL value is the first.
 * -1 with a message that lists the words.
 */
int cmd_choose(const char *option, const char *value,
    const char *const *words, size_t n, struct err *);
/* report_env() with these options.  -1 with a message: --color is wrong. */
int cmd_report_env(struct report_opts *, int fd, const struct cmd_color *,
    struct err *);
/* --format text|json of several commands: 1 for json, 0 for text, or -1. */
int cmd_choose_json(const char *value, struct err *);

/* Reads a file, or stdin if the name is "-".  -1 with a message. */
int cmd_read_input(struct arena *, const char *name, struct str *text,
    struct err *);
/* What messages call that input: the name, or "stdin". */
const char *cmd_input_name(const char *name);
/*
 * json_read() of a file's text into an arena; NULL with message, line and
 * column.
 */
struct json *cmd_read_json(struct arena *, struct str text, struct err *);

/* Whether the object has this member with the value true. */
bool cmd_is_true(const struct json *, const char *key);

/* Prints a message to stderr, made safe by guard_output(). */
void cmd_say(const char *fmt, ...) PRINTF(1, 2);
/* Each prints to stderr and returns CMD_ERROR. */
int cmd_complain(const struct err *);			/* waza: message */
int cmd_complain_at(const char *file, const struct err *); /* file:1:2: ... */

/*
 * Reports to stderr that stdout cannot be written, errno being sys.  A reader
 * that has closed its pipe (EPIPE) has read enough: nothing is printed.
 * Returns CMD_ERROR.
 */
int cmd_complain_stdout(int sys);

/*
 * Prints errors (and, if all is true, warnings) to stderr.  Returns CMD_ERROR
 * if there is an error, or a warning in strict mode; else CMD_OK.
 */
int cmd_print_notes(const struct spec_notes *, bool all);

/*
 * Writes out to stdout, after guard_output(), and frees it.  Returns the
 * status, or CMD_ERROR on failure.
 */
int cmd_finish(struct cmd_call *, struct buf *out, int status);
/* Wraps text with report_wrap(), if the descriptor is a terminal. */
void cmd_wrap(struct buf *, size_t hang, int fd);

#endif
