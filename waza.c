/* SPDX-License-Identifier: ISC */
/*
 * main and the command table.
 *
 * A command receives its decoded options and its operands, prints errors to
 * stderr and data to stdout, and returns the exit status (waza.h).
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "mock/mock.h"

static int help_main(struct cmd_call *);
static int version_main(struct cmd_call *);

static const struct cmd_command help = {
	.name = "help", .usage = "[COMMAND]", .max = 1, .fn = help_main,
	.help = "Show how to use a command"
};
static const struct cmd_command version = {
	.name = "version", .usage = "", .fn = version_main,
	.help = "Print the version"
};
static const struct cmd_command *const commands[] = {	/* sorted by name */
	&cmd_complete,
	&cmd_cache,
	&cmd_call_server,
	&cmd_check,
	&cmd_command_record,
	&cmd_compare,
	&cmd_completion,
	&cmd_config,
	&cmd_connect,
	&cmd_coverage,
	&cmd_delete_session,
	&cmd_disconnect,
	&cmd_doctor,
	&cmd_gate,
	&cmd_generate_fix,
	&cmd_grade,
	&help,
	&cmd_import,
	&cmd_init,
	&cmd_jsonrpc,
	&cmd_list,
	&cmd_lsp,
	&cmd_match,
	&cmd_mcp_mock,
	&cmd_mcp_record,
	&cmd_merge,
	&cmd_models,
	&cmd_new,
	&cmd_parse,
	&cmd_ping,
	&cmd_quality,
	&cmd_results,
	&cmd_run,
	&cmd_schema,
	&cmd_schema_check,
	&cmd_serve,
	&cmd_session,
	&cmd_suggest,
	&cmd_tokens,
	&cmd_validate,
	&version,
	&cmd_view,
	&cmd_worker,
};

static const struct cmd_command *
find_command(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(commands); i++)
		if (str_is(name, commands[i]->name))
			return commands[i];
	return NULL;
}

enum { NAME_COLS = 17 };	/* columns before the help of a command */

static const char usage[] =
    "usage: waza COMMAND [OPTION ...] [ARGUMENT ...]\n";

/* The commands of a group, under its heading. */
static void
put_group(struct buf *b, enum cmd_group group)
{
	static const char *const headings[] = {
		[CMD_TOOLS] = "Tools", [CMD_RUNS] = "Run",
		[CMD_RESULTS] = "Results", [CMD_SUITES] = "Suites and skills",
		[CMD_SERVERS] = "Server",
	};
	size_t i;

	buf_fmt(b, "\n%s:\n", headings[group]);
	for (i = 0; i < COUNTOF(commands); i++)
		if (commands[i]->group == group)
			buf_fmt(b, "  %-*s %s\n", NAME_COLS - 3,
			    commands[i]->name, commands[i]->help);
}

static void
put_commands(struct buf *b)
{
	int group;

	buf_puts(b, usage);
	for (group = CMD_TOOLS + 1; group < CMD_GROUP__MAX; group++)
		put_group(b, (enum cmd_group)group);
	put_group(b, CMD_TOOLS);
	buf_puts(b, "\nwaza help COMMAND lists the options of a command; "
	    "see waza(1) for more.\n");
}

static void
put_command_usage(const struct cmd_command *cmd, struct buf *b)
{
	buf_fmt(b, "usage: waza %s%s%s\n", cmd->name,
	    *cmd->usage != '\0' ? " " : "", cmd->usage);
}

static int
no_command(void)
{
	cmd_say("%s\n"
	    "  waza init            make this directory a project\n"
	    "  waza new skill NAME  create a skill with a suite\n"
	    "  waza run             run the suites of this directory\n"
	    "  waza help            list all commands\n", usage);
	return CMD_ERROR;
}

/* Commands of the original that are not here, and what to use instead. */
static const struct absent {
	const char *name, *instead;
} absent[] = {		/* sorted by name */
	{ "adversarial", "write the attacks as tasks of a suite, see "
	    "waza-eval(5)" },
	{ "assure", "use \"waza gate\" for releases" },
	{ "compare-assurance-plan", "use \"waza compare\" and \"waza gate\"" },
	{ "compare-collect", "use \"waza compare\" and \"waza gate\"" },
	{ "compare-plan", "use \"waza compare\" and \"waza gate\"" },
	{ "dev", "use \"waza check\" for findings, \"waza check --fix\" for "
	    "repairs, and \"waza quality\" for a model's opinion" },
	{ "eval", "use \"waza new eval NAME\"" },
	{ "generate", "use \"waza new skill NAME\"" },
	{ "get", "nothing is downloaded; write the grader into the suite" },
	{ "metadata", "use \"waza check --format json\"" },
	{ "migrate", "suites of all versions are read as they are; use "
	    "\"waza validate\"" },
	{ "preflight", "use \"waza validate\" for the suite and \"waza "
	    "doctor SUITE\" for what it needs" },
	{ "registry", "nothing is downloaded; write the grader into the "
	    "suite" },
	{ "replay", "use \"waza run --record DIR\" and \"waza run --replay "
	    "DIR\"" },
	{ "spec", "use \"waza check\" and \"waza coverage\"" },
	{ "update", "waza neither updates itself nor looks for updates; "
	    "install a new version" },
};

/* The line about a command that stays out, or NULL. */
static const char *
about_absent(struct arena *a, const char *name)
{
	size_t i;

	for (i = 0; i < COUNTOF(absent); i++)
		if (strcmp(absent[i].name, name) == 0)
			return arena_fmt(a, "\"%s\" is not a command here: "
			    "%s", name, absent[i].instead).p;
	return NULL;
}

static int
unknown_command(struct arena *a, const char *name)
{
	const char *about = about_absent(a, name);
	static const char *const options[] = { "--help", "--version" };
	struct str_nearest near = { .word = str_of(name) };
	char hint[STR_HINT];
	bool option = *name == '-';
	size_t i;

	if (about != NULL) {
		cmd_say("waza: %s\n", about);
		return CMD_ERROR;
	}
	for (i = 0; i < (option ? COUNTOF(options) : COUNTOF(commands)); i++)
		str_nearest(&near, str_of(option ? options[i] :
		    commands[i]->name));
	cmd_say("waza: unknown %s \"%s\"%s; \"waza help\" lists the "
	    "commands\n", option ? "option" : "command", name,
	    str_hint(hint, "", near.best));
	return CMD_ERROR;
}

static int
help_main(struct cmd_call *c)
{
	const struct cmd_command *cmd;
	struct buf out = { 0 };

	if (c->nargs == 0) {
		put_commands(&out);
		cmd_wrap(&out, NAME_COLS);
		return cmd_finish(c, &out, CMD_OK);
	}
	cmd = find_command(str_of(c->args[0]));
	if (cmd == NULL && about_absent(c->arena, c->args[0]) != NULL) {
		buf_fmt(&out, "%s\n", about_absent(c->arena, c->args[0]));
		cmd_wrap(&out, 0);
		return cmd_finish(c, &out, CMD_OK);
	}
	if (cmd == NULL)
		return unknown_command(c->arena, c->args[0]);
	buf_fmt(&out, "%s.\n\n", cmd->help);
	put_command_usage(cmd, &out);
	if (cmd->opts.n > 0)
		buf_putc(&out, '\n');
	opt_help(&cmd->opts, &out);
	buf_fmt(&out, "\nSee waza-%s(1) for more.\n", cmd->name);
	cmd_wrap(&out, OPT_HELP_COLS);
	return cmd_finish(c, &out, CMD_OK);
}

static int
version_main(struct cmd_call *c)
{
	struct buf out = { 0 };

	buf_fmt(&out, "waza %s\n", cmd_version_number);
	return cmd_finish(c, &out, CMD_OK);
}

/* The message is the last line: what is above it may scroll away. */
static int
wrong_use(const struct cmd_command *cmd, const struct err *e)
{
	struct buf b = { 0 };

	put_command_usage(cmd, &b);
	cmd_say("%.*swaza: %s; see \"waza help %s\"\n",
	    STRF(buf_str(&b)), e->msg, cmd->name);
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
	struct cmd_call call = { .arena = &arena, .err = &e,
		.commands = commands, .ncommands = COUNTOF(commands) };
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
		return no_command();
	}
	cmd = find_command(str_of(command_word(argv[1])));
	if (cmd == NULL) {
		status = unknown_command(&arena, argv[1]);
		arena_free(&arena);
		return status;
	}
	if (wants_help(argv + 2)) {
		argv[2] = argv[1];
		argv[3] = NULL;
		cmd = &help;
	}
	call.words = copy_words(&arena, program, argv + 1);
	call.token = take_token(&arena);
	status = run_command(&call, cmd, argv + 2);
	arena_free(&arena);
	return status;
}
