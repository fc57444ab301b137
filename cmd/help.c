/* SPDX-License-Identifier: ISC */
/*
 * waza help, waza version, and what is printed instead of a command: that none
 * was given, or that there is none of that name.
 */
#include "waza.h"

#include <string.h>
#include <unistd.h>

const struct cmd_command *
cmd_find(struct str name)
{
	size_t i;

	for (i = 0; i < cmd_commands.n; i++)
		if (str_is(name, cmd_commands.v[i]->name))
			return cmd_commands.v[i];
	return NULL;
}

static const char usage[] =
    "usage: waza COMMAND [OPTION ...] [ARGUMENT ...]\n";

enum { NAME_COLS = 17 };	/* columns before the help of a command */

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
	for (i = 0; i < cmd_commands.n; i++)
		if (cmd_commands.v[i]->group == group)
			buf_fmt(b, "  %-*s %s\n", NAME_COLS - 3,
			    cmd_commands.v[i]->name, cmd_commands.v[i]->help);
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

void
cmd_put_usage(const struct cmd_command *cmd, struct buf *b)
{
	buf_fmt(b, "usage: waza %s%s%s\n", cmd->name,
	    *cmd->usage != '\0' ? " " : "", cmd->usage);
}

int
cmd_none(void)
{
	static const struct {
		const char *name, *line;
	} first[] = {
		{ "init", "init            make this directory a project" },
		{ "new", "new skill NAME  create a skill with a suite" },
		{ "run", "run             run the suites of this directory" },
		{ "help", "help            list all commands" },
	};
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(first); i++)
		if (cmd_find(str_of(first[i].name)) != NULL)
			buf_fmt(&b, "  waza %s\n", first[i].line);
	cmd_say("%s\n%.*s", usage, STRF(buf_str(&b)));
	buf_free(&b);
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

	for (i = 0; i < cmd_commands.nleft; i++)
		if (strcmp(cmd_commands.left_out[i], name) == 0)
			return arena_fmt(a, ERR_LEFT_OUT, name).p;
	for (i = 0; i < COUNTOF(absent); i++)
		if (strcmp(absent[i].name, name) == 0)
			return arena_fmt(a, "\"%s\" is not a command here: "
			    "%s", name, absent[i].instead).p;
	return NULL;
}

int
cmd_unknown(struct arena *a, const char *name)
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
	for (i = 0; i < (option ? COUNTOF(options) : cmd_commands.n); i++)
		str_nearest(&near, str_of(option ? options[i] :
		    cmd_commands.v[i]->name));
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
		cmd_wrap(&out, NAME_COLS, STDOUT_FILENO);
		return cmd_finish(c, &out, CMD_OK);
	}
	cmd = cmd_find(str_of(c->args[0]));
	if (cmd == NULL && about_absent(c->arena, c->args[0]) != NULL) {
		buf_fmt(&out, "%s\n", about_absent(c->arena, c->args[0]));
		cmd_wrap(&out, 0, STDOUT_FILENO);
		return cmd_finish(c, &out, CMD_OK);
	}
	if (cmd == NULL)
		return cmd_unknown(c->arena, c->args[0]);
	buf_fmt(&out, "%s.\n\n", cmd->help);
	cmd_put_usage(cmd, &out);
	if (cmd->opts.n > 0)
		buf_putc(&out, '\n');
	opt_help(&cmd->opts, &out);
	buf_fmt(&out, "\nSee waza-%s(1) for more.\n", cmd->name);
	cmd_wrap(&out, OPT_HELP_COLS, STDOUT_FILENO);
	return cmd_finish(c, &out, CMD_OK);
}

static int
version_main(struct cmd_call *c)
{
	struct buf out = { 0 };

	buf_fmt(&out, "waza %s\n", cmd_version_number);
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_help = {
	.name = "help", .usage = "[COMMAND]", .max = 1, .fn = help_main,
	.help = "Show how to use a command"
};
const struct cmd_command cmd_version = {
	.name = "version", .usage = "", .fn = version_main,
	.help = "Print the version"
};
