/* SPDX-License-Identifier: ISC */
/*
 * waza.h: cmd_.  What the commands share: how they are called, how they say
 * what is wrong, how they end.
 */
#ifndef WAZA_WAZA_H
#define WAZA_WAZA_H

#include <stddef.h>

#include "base/base.h"
#include "lib/opt.h"

struct spec_notes;
struct spec_suite;

enum { CMD_OK, CMD_FAILED, CMD_ERROR };	/* passed, failed, could not tell */
enum { CMD_INPUT_MAX = 64 << 20 };	/* bytes of a file named in argv */

struct cmd_call {
	struct arena *arena;
	const void *opt;	/* the command's own struct */
	char **args;		/* operands */
	size_t nargs;
	struct err *err;
	const char *token;	/* what WAZA_AUTH_TOKEN was, or NULL */
};

/* A command returns the exit status; it has said why it is not 0. */
struct cmd_command {
	const char *name;
	const char *usage;	/* options and operands */
	const char *help;	/* one line */
	struct opt_table opts;
	size_t size;		/* of the options struct */
	size_t min, max;	/* operands */
	int (*fn)(struct cmd_call *);
	int misuse;		/* status for wrong use; 0: CMD_ERROR */
};
#define CMD_OPTS(rows) { rows, COUNTOF(rows) }

extern const char cmd_version_number[];	/* our version, "1.2.3" */

/* The commands, beside those in waza.c itself. */
extern const struct cmd_command cmd_compare, cmd_config, cmd_gate,
    cmd_grade, cmd_jsonrpc, cmd_cache, cmd_doctor, cmd_serve,
    cmd_worker;
extern const struct cmd_command cmd_list, cmd_match, cmd_parse, cmd_run,
    cmd_schema_check, cmd_validate;

extern const struct cmd_command cmd_call_server, cmd_connect,
    cmd_delete_session, cmd_disconnect, cmd_generate_fix, cmd_ping;

/* The suite that the first operand names; a directory: the one in it. */
const char *cmd_suite_path(const struct cmd_call *);

/*
 * What the settings say of executors, prices and judges, for a suite that
 * says nothing; path and json as in config.h, or NULL.
 */
void cmd_settings(const struct cmd_call *, const char *path,
    const char *json, struct spec_suite *, struct spec_notes *);

/* Where trials are cached: the option's, the setting's, or the default. */
const char *cmd_cache_dir(const struct cmd_call *, const char *option,
    struct str setting);

/*
 * Of one of several models: its results file, results_MODEL.json; and its
 * recordings, a directory in the directory (NULL: none).
 */
const char *cmd_model_path(struct arena *, const char *path,
    const char *model);
const char *cmd_model_dir(struct arena *, const char *dir, const char *model,
    bool make);

/* Each prints to stderr and returns CMD_ERROR. */
int cmd_complain(const struct err *);			/* waza: message */
int cmd_complain_at(const char *file, const struct err *);	/* with place */

/* Writes out to stdout and frees it; the status, or CMD_ERROR if it cannot. */
int cmd_finish(struct cmd_call *, struct buf *out, int status);

#endif
