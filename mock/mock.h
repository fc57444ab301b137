/* SPDX-License-Identifier: ISC */
/*
 * mock.h: mock_.  Mocked MCP servers and commands: how a suite describes them,
 * which answer a call gets, and the file in which calls are recorded.
 *
 * A mock never decides by chance or by order: the same call gets the same
 * answer.  A call without an answer fails and is recorded as unknown.
 *
 * Decoded mocks borrow from the tree and live in the arena of its reader.
 */
#ifndef WAZA_MOCK_H
#define WAZA_MOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/field.h"

struct json;
struct json_out;

enum {
	MOCK_FILE_MAX = 16 << 20,	/* bytes of a fixture */
	MOCK_TOOLS_MAX = 10000,		/* of a server */
	MOCK_DELAY_MAX = 600000,	/* ms before a response */
	MOCK_LOG_MAX = 64 << 20,	/* bytes of the calls of a trial */
	MOCK_CALLS_MAX = 10000		/* of a trial, per kind */
};

/* A response of a tool; without a matcher it fits every call. */
struct mock_reply {
	const struct json *match;	/* equal to the arguments */
	const struct json *match_schema, *match_regex;
	const struct json *value;	/* `return`; NULL: null */
	const struct json *result;	/* the whole MCP result instead */
	struct str error;		/* message; p NULL: none */
	int64_t delay_ms;
};

struct mock_tool {
	struct str name, description;
	const struct json *input_schema;	/* NULL: any object */
	struct field_list responses;	/* of struct mock_reply */
	int64_t expect_calls;		/* -1: any number */
};

/* An entry of `mcp_mocks` as it is written. */
struct mock_server {
	struct str name, fixtures;
	const struct json *tools;	/* {NAME: tool} */
	bool passthrough;
	int64_t expect_calls;
};

/* A response of a command. */
struct mock_output {
	const struct json *args, *args_regex;	/* exactly one is not NULL */
	const struct json *environment;
	struct str workdir;		/* p NULL: any */
	const struct json *output;	/* `stdout`: text, or JSON to print */
	struct str fixture;		/* file with it */
	struct str errors;		/* `stderr` */
	int64_t exit_code, delay_ms;
};

/* An entry of `command_mocks`. */
struct mock_command {
	struct str name, fixtures;
	struct field_list responses;	/* of struct mock_output */
	bool passthrough;
	int64_t expect_calls;		/* -1: any number */
};

/* The keys of these, and of a file of recorded responses of a command. */
extern const struct field_table mock_server_table, mock_tool_table,
    mock_command_table;

/*
 * mock_read.c.  Each decodes a tree and returns the number of errors, which
 * ctx->report gets with their places.  mock_read_tool(): `name` is that of
 * the tool; a tool of a server with passthrough needs no responses.
 */
size_t mock_read_server(const struct field_ctx *, const struct json *,
    struct mock_server *);
size_t mock_read_tool(const struct field_ctx *, const struct json *,
    struct str name, struct mock_tool *);
size_t mock_read_command(const struct field_ctx *, const struct json *,
    struct mock_command *);
/*
 * The command of that name in an array of such entries, which were checked
 * before: 1; 0: there is none; -1: it cannot be read.
 */
int mock_find_command(struct arena *, const struct json *list, struct str name,
    struct mock_command *);
/* Whether the object has this member, and it is true. */
bool mock_true(const struct json *obj, const char *key);
/* Whether it is a name for a mocked command: letters, digits, ". _ -". */
bool mock_is_command_name(struct str);

/*
 * mock_file.c: the tools of a server, by name.  mock_add_tools() adds those of
 * a mapping; mock_add_path() those of a fixture, a file with `tools` or with
 * one tool, or a directory of such files.  Later ones replace earlier ones of
 * the same name.  0, or -1 with the error, whose place is in *file.
 */
struct mock_tools {
	struct arena *arena;
	struct mock_entry {
		struct str name;
		const struct json *tree;
		const char *file;	/* of the tree */
	} *v;				/* sorted by name */
	size_t n, room;
};
int mock_add_tools(struct mock_tools *, const struct json *map,
    const char *file, struct err *);
int mock_add_path(struct mock_tools *, const char *path, const char **file,
    struct err *);
const struct mock_entry *mock_find_entry(const struct mock_tools *,
    struct str name);
/* Writes {"tools": {...}}, which mock_add_path() reads. */
void mock_put_tools(struct json_out *, const struct mock_tools *);

/*
 * mock_match.c: the index of the response, or -1: none fits.  -2 with *e: it is
 * unknown whether one fits.  args: an object, or NULL for {}.
 */
int mock_match_tool(struct arena *, const struct mock_tool *,
    const struct json *args, struct err *);
/* env: value of a variable; workdir: the cwd below the workspace, or NULL. */
struct mock_words {
	const char *const *argv;	/* arguments, ends with NULL */
	const char *const *env;		/* "K=V", ends with NULL */
	const char *workdir;
};
int mock_match_command(struct arena *, const struct mock_command *,
    const struct mock_words *, struct err *);

/*
 * mock_call.c: the file with a line of JSON for each call.  An MCP call has
 * server, tool, arguments, result and is_error; a command has command, args and
 * exit_code; both have response_index, -1 if no response fitted, and
 * passthrough: true if the real thing answered.
 */
int mock_log(const char *path, struct str line, struct err *);
/*
 * Whether the name of an argument or a header means that its value is secret;
 * "token" and "key" alone do not: they are also cursors and the like.
 */
bool mock_is_secret(struct str name);
/* Adds secrets of the environment, and those that the arguments show. */
struct mask;
void mock_add_secrets(struct arena *, struct mask *, const char *command,
    const char *const *argv, const char *const *env);
/* Appends arguments of a command to a list, without secrets. */
void mock_put_args(struct json_out *, const char *command,
    const char *const *argv, const char *const *env);

/*
 * mock_serve.c: an MCP server on descriptors 0 and 1, until the client closes
 * it.  Returns 0, or -1 with the error.
 */
struct mock_serve {
	struct str name;
	struct mock_tools *tools;
	const char *calls;		/* file for mock_log(), or NULL */
	const char *const *real;	/* argv of the real server, or NULL */
	bool records;			/* asks it for everything */
	const char *fixture;		/* with records: written here */
};
int mock_serve(const struct mock_serve *, struct err *);

/*
 * mock_shim.c: this program called by the name of a mocked command.
 * mock_shim_dir(): the directory of mocked commands, if the program was found
 * there; else NULL.  mock_shim(): answers the call; returns the exit status.
 */
#define MOCK_BIN "bin"
#define MOCK_MARK ".waza-mocks"		/* a file in it */
#define MOCK_SESSION "WAZA_MOCKS"	/* variable: directory of the trial */
#define MOCK_CONFIG "mocks.json"	/* in that directory */
#define MOCK_LOG "calls.jsonl"
#define MOCK_DIR_ENDING "-mocks"	/* of directories of trials */
const char *mock_shim_dir(struct arena *, const char *program);
int mock_shim(struct arena *, const char *dir, const char *program,
    const char *const *args);

#endif
