/* SPDX-License-Identifier: ISC */
/*
 * main, the command table, exit status.
 *
 * A command gets its decoded options and its operands, says on stderr what
 * went wrong, and returns the exit status.  stdout is for data.
 */
#include "waza.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "os.h"

/* The Makefile has the number; a number it is to the compiler, too. */
#define QUOTE_(x) #x
#define QUOTE(x) QUOTE_(x)

const char waza_number[] = QUOTE(WAZA_VERSION);

int
waza_complain(const struct err *e)
{
	fprintf(stderr, "waza: %s\n", e->msg);
	return WAZA_BAD;
}

/* About a text: FILE:LINE:COL: message. */
int
waza_complain_at(const char *name, const struct err *e)
{
	fprintf(stderr, "%s:%u:%u: %s\n", name, e->line, e->col, e->msg);
	return WAZA_BAD;
}

int
waza_finish(struct waza_call *c, struct buf *out, int status)
{
	int r = os_write_all(STDOUT_FILENO, buf_str(out), c->err);

	buf_free(out);
	return r == -1 ? waza_complain(c->err) : status;
}

static int cmd_help(struct waza_call *);
static int cmd_version(struct waza_call *);

static const struct waza_command help = {
	.name = "help", .usage = "[COMMAND]", .max = 1, .fn = cmd_help,
	.help = "say how a command is used"
};
static const struct waza_command version = {
	.name = "version", .usage = "", .fn = cmd_version,
	.help = "print the version"
};
static const struct waza_command *const commands[] = {	/* sorted by name */
	&waza_cache, &waza_call_server,
	&waza_compare, &waza_config,
	&waza_connect, &waza_delete_session, &waza_disconnect,
	&waza_doctor, &waza_gate,
	&waza_generate_fix,
	&waza_grade,
	&help, &waza_jsonrpc, &waza_list, &waza_match, &waza_parse,
	&waza_ping,
	&waza_run,
	&waza_schema_check, &waza_serve,
	&waza_validate, &version, &waza_worker,
};

static const struct waza_command *
find_command(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(commands); i++)
		if (str_is(name, commands[i]->name))
			return commands[i];
	return NULL;
}

static void
put_usage(struct buf *b)
{
	size_t i;

	buf_puts(b, "usage: waza COMMAND [OPTION ...] [OPERAND ...]\n\n");
	for (i = 0; i < COUNTOF(commands); i++)
		buf_fmt(b, "  %-14s %s\n", commands[i]->name,
		    commands[i]->help);
	buf_puts(b, "\nwaza help COMMAND says more; waza(1) says all.\n");
}

static void
put_command_usage(const struct waza_command *cmd, struct buf *b)
{
	buf_fmt(b, "usage: waza %s%s%s\n", cmd->name,
	    *cmd->usage != '\0' ? " " : "", cmd->usage);
	if (cmd->opts.n > 0)
		buf_putc(b, '\n');
	opt_help(&cmd->opts, b);
}

/* The word most like the misspelt one among n; NULL when none is. */
static const char *
nearest(const char *word, const char *const *words, size_t n)
{
	const char *best = NULL;
	size_t i, d, least = SIZE_MAX;

	for (i = 0; i < n; i++) {
		if (!str_similar(str_of(word), str_of(words[i])))
			continue;
		d = str_distance(str_of(word), str_of(words[i]), 60);
		if (d < least) {
			least = d;
			best = words[i];
		}
	}
	return best;
}

static int
unknown_command(const char *name)
{
	static const char *const options[] = { "--help", "--version" };
	const char *words[COUNTOF(commands)], *near;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(commands); i++)
		words[i] = commands[i]->name;
	near = *name == '-' ? nearest(name, options, COUNTOF(options)) :
	    nearest(name, words, COUNTOF(words));
	fprintf(stderr, "waza: unknown %s \"%s\"",
	    *name == '-' ? "option" : "command", name);
	if (near != NULL)
		fprintf(stderr, "; did you mean \"%s\"?", near);
	put_usage(&b);
	fprintf(stderr, "\n%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return WAZA_BAD;
}

static int
cmd_help(struct waza_call *c)
{
	const struct waza_command *cmd;
	struct buf out = { 0 };

	if (c->nargs == 0) {
		put_usage(&out);
		return waza_finish(c, &out, WAZA_OK);
	}
	cmd = find_command(str_of(c->args[0]));
	if (cmd == NULL)
		return unknown_command(c->args[0]);
	put_command_usage(cmd, &out);
	buf_fmt(&out, "\nTo %s.\n", cmd->help);
	return waza_finish(c, &out, WAZA_OK);
}

static int
cmd_version(struct waza_call *c)
{
	struct buf out = { 0 };

	buf_puts(&out, "waza " QUOTE(WAZA_VERSION) "\n");
	return waza_finish(c, &out, WAZA_OK);
}

static int
wrong_use(const struct waza_command *cmd, const struct err *e)
{
	struct buf b = { 0 };

	put_command_usage(cmd, &b);
	fprintf(stderr, "waza %s: %s\n%.*s", cmd->name, e->msg,
	    STRF(buf_str(&b)));
	buf_free(&b);
	return cmd->misuse != 0 ? cmd->misuse : WAZA_BAD;
}

static int
run_command(struct waza_call *c, const struct waza_command *cmd, char **argv)
{
	void *opt = arena_alloc(c->arena, cmd->size + 1, sizeof(int64_t));

	if (opt_parse(c->arena, &cmd->opts, argv, &c->nargs, opt, c->err) == -1)
		return wrong_use(cmd, c->err);
	c->opt = opt;
	c->args = argv;
	if (c->nargs < cmd->min) {
		err_set(c->err, ERR_SCHEMA, "an operand is missing");
		return wrong_use(cmd, c->err);
	}
	if (c->nargs > cmd->max) {
		err_set(c->err, ERR_SCHEMA, "one operand too many: \"%s\"",
		    argv[cmd->max]);
		return wrong_use(cmd, c->err);
	}
	return cmd->fn(c);
}

/* Options that stand in for a command. */
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

/* No child's business: from here on only we know it. */
static const char *
take_token(struct arena *a)
{
	const char *token = getenv("WAZA_AUTH_TOKEN");

	if (token != NULL)
		token = arena_str(a, str_of(token)).p;
	unsetenv("WAZA_AUTH_TOKEN");
	return token;
}

int
main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct err e = { 0 };
	struct waza_call call = { .arena = &arena, .err = &e };
	const struct waza_command *cmd;
	struct buf b = { 0 };
	int status = WAZA_BAD;

	if (os_init(&e) == -1)
		return waza_complain(&e);
	if (argc < 2) {
		put_usage(&b);
		fprintf(stderr, "%.*s", STRF(buf_str(&b)));
		buf_free(&b);
		return WAZA_BAD;
	}
	cmd = find_command(str_of(command_word(argv[1])));
	if (cmd == NULL)
		return unknown_command(argv[1]);
	if (wants_help(argv + 2)) {
		argv[2] = argv[1];
		argv[3] = NULL;
		cmd = &help;
	}
	call.token = take_token(&arena);
	status = run_command(&call, cmd, argv + 2);
	arena_free(&arena);
	return status;
}
