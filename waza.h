/* SPDX-License-Identifier: ISC */
/*
 * waza.h: waza_.  What the commands share: how they are called, how they say
 * what is wrong, how they end.
 */
#ifndef WAZA_WAZA_H
#define WAZA_WAZA_H

#include <stddef.h>

#include "base.h"
#include "opt.h"

struct spec_notes;
struct spec_suite;

enum { WAZA_OK, WAZA_NO, WAZA_BAD };	/* passed, failed, could not tell */
enum { WAZA_INPUT_MAX = 64 << 20 };	/* bytes of a file named in argv */

struct waza_call {
	struct arena *arena;
	const void *opt;	/* the command's own struct */
	char **args;		/* operands */
	size_t nargs;
	struct err *err;
	const char *token;	/* what WAZA_AUTH_TOKEN was, or NULL */
};

/* A command returns the exit status; it has said why it is not 0. */
struct waza_command {
	const char *name;
	const char *usage;	/* options and operands */
	const char *help;	/* one line */
	struct opt_table opts;
	size_t size;		/* of the options struct */
	size_t min, max;	/* operands */
	int (*fn)(struct waza_call *);
	int misuse;		/* status for wrong use; 0: WAZA_BAD */
};
#define WAZA_OPTS(rows) { rows, COUNTOF(rows) }

extern const char waza_number[];	/* our version, "1.2.3" */

/* The commands, beside those in waza.c itself. */
extern const struct waza_command waza_compare, waza_config, waza_gate,
    waza_grade, waza_jsonrpc, waza_cache, waza_doctor, waza_serve,
    waza_worker;
extern const struct waza_command waza_list, waza_match, waza_parse, waza_run,
    waza_schema_check, waza_validate;

extern const struct waza_command waza_call_server, waza_connect,
    waza_delete_session, waza_disconnect, waza_generate_fix, waza_ping;

/* The suite that the first operand names; a directory: the one in it. */
const char *waza_suite_path(const struct waza_call *);

/*
 * What the settings say of executors, prices and judges, for a suite that
 * says nothing; path and json as in config.h, or NULL.
 */
void waza_settings(const struct waza_call *, const char *path,
    const char *json, struct spec_suite *, struct spec_notes *);

/* Where trials are cached: the option's, the setting's, or the default. */
const char *waza_cache_dir(const struct waza_call *, const char *option,
    struct str setting);

/*
 * Of one of several models: its results file, results_MODEL.json; and its
 * recordings, a directory in the directory (NULL: none).
 */
const char *waza_model_path(struct arena *, const char *path,
    const char *model);
const char *waza_model_dir(struct arena *, const char *dir, const char *model,
    bool make);

/* Each prints to stderr and returns WAZA_BAD. */
int waza_complain(const struct err *);			/* waza: message */
int waza_complain_at(const char *file, const struct err *);	/* with place */

/* Writes out to stdout and frees it; the status, or WAZA_BAD if it cannot. */
int waza_finish(struct waza_call *, struct buf *out, int status);

#endif
