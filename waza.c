/* SPDX-License-Identifier: ISC */
/*
 * main.  The table of commands is cmd/full/commands.c.
 *
 * A command receives its decoded options and its operands, prints errors to
 * stderr and data to stdout, and returns the exit status (waza.h).
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "mock/mock.h"

/* The message is the last line: what is above it may scroll away. */
static int
wrong_use(const struct cmd_command *cmd, const struct err *e)
{
	struct buf b = { 0 };

	cmd_put_usage(cmd, &b);
	buf_fmt(&b, "waza: %s; see \"waza help %s\"\n", e->msg, cmd->name);
	cmd_wrap(&b, 0, STDERR_FILENO);
	cmd_say("%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return cmd->misuse != 0 ? cmd->misuse : CMD_ERROR;
}

static int
run_command(struct cmd_call *c, const struct cmd_command *cmd, char **argv)
{
	void *opt = arena_alloc(c->arena, cmd->size + 1, sizeof(int64_t));

	if (opt_parse(c->arena, &cmd->opts, argv, &c->nargs, opt, c->err) == -1)
		return wrong_use(cmd, c->err);
	c->opt = opt;
	c->args = argv;
	if (c->nargs < COUNTOF(cmd->required) &&
	    cmd->required[c->nargs] != NULL)
		err_set(c->err, ERR_SCHEMA, "missing argument: %s",
		    cmd->required[c->nargs]);
	else if (c->nargs > cmd->max)
		err_set(c->err, ERR_SCHEMA, "unexpected argument: %s",
		    argv[cmd->max]);
	else
		return cmd->fn(c);
	return wrong_use(cmd, c->err);
}

/* --version and --help instead of a command. */
static const char *
command_word(const char *arg)
{
	if (strcmp(arg, "--version") == 0 || strcmp(arg, "-V") == 0)
		return "version";
	if (strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0)
		return "help";
	return arg;
}

/* waza COMMAND ... --help */
static bool
wants_help(char **argv)
{
	for (; *argv != NULL && strcmp(*argv, "--") != 0; argv++)
		if (strcmp(*argv, "--help") == 0 || strcmp(*argv, "-h") == 0)
			return true;
	return false;
}

/* Erases the token from the environment, so that children do not see it. */
static const char *
take_token(struct arena *a)
{
	const char *token = getenv("WAZA_AUTH_TOKEN");

	if (token != NULL)
		token = arena_str(a, str_of(token)).p;
	os_env_erase("WAZA_AUTH_TOKEN");
	return token;
}

/* Options of other versions before the command, which have no effect. */
static bool
is_ignored(const char *arg)
{
	return strcmp(arg, "--no-update-check") == 0 ||
	    strcmp(arg, "--debug") == 0;
}

/* A copy of the command line: opt_parse() moves its words. */
static const char *const *
copy_words(struct arena *a, const char *program, char **argv)
{
	size_t i, n = 0;
	const char **v;

	while (argv[n] != NULL)
		n++;
	v = NEW_N(a, const char *, n + 2);
	v[0] = program;
	for (i = 0; i <= n; i++)
		v[i + 1] = argv[i];
	return v;
}

int
main(int argc, char **argv)
{
	const char *program = argc > 0 ? argv[0] : "waza";
	struct arena arena = { 0 };
	struct err e = { 0 };
	struct cmd_call call = { .arena = &arena, .err = &e };
	const struct cmd_command *cmd;
	const char *mocks;
	int status = CMD_ERROR;

	if (os_init(&e) == -1)
		return cmd_complain(&e);
	if ((mocks = mock_shim_dir(&arena, program)) != NULL) {
		status = mock_shim(&arena, mocks, program,
		    (const char *const *)(argc > 0 ? argv + 1 : argv));
		arena_free(&arena);
		return status;
	}
	for (; argc > 1 && is_ignored(argv[1]); argc--)
		argv++;
	if (argc < 2) {
		arena_free(&arena);
		return cmd_none();
	}
	cmd = cmd_find(str_of(command_word(argv[1])));
	if (cmd == NULL) {
		status = cmd_unknown(&arena, argv[1]);
		arena_free(&arena);
		return status;
	}
	if (wants_help(argv + 2)) {
		argv[2] = argv[1];
		argv[3] = NULL;
		cmd = &cmd_help;
	}
	call.words = copy_words(&arena, program, argv + 1);
	call.token = take_token(&arena);
	status = run_command(&call, cmd, argv + 2);
	arena_free(&arena);
	return status;
}
