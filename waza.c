/* SPDX-License-Identifier: ISC */
/*
 * main, the command table, exit status.
 *
 * A command gets its decoded options and its operands, and returns the exit
 * status; what it has to say about failure is in the struct err, printed
 * here.  stdout is for data, and is written only when all went well.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "json.h"
#include "opt.h"
#include "os.h"
#include "re.h"
#include "yaml_lite.h"

enum { EXIT_OK, EXIT_NO, EXIT_BAD };	/* passed, failed, could not tell */
enum { INPUT_MAX = 256 << 20 };		/* bytes of a file named in argv */

struct call {
	struct arena *arena;
	const void *opt;	/* the command's own struct */
	char **args;		/* operands */
	size_t nargs;
	struct err *err;
};

struct command {
	const char *name;
	const char *usage;	/* operands */
	const char *help;	/* one line */
	struct opt_table opts;
	size_t size;		/* of the options struct */
	size_t min, max;	/* operands */
	int (*fn)(struct call *);
};

static int
complain(const struct err *e)
{
	fprintf(stderr, "waza: %s\n", e->msg);
	return EXIT_BAD;
}

/* About a text: FILE:LINE:COL: message. */
static int
complain_at(const char *name, const struct err *e)
{
	fprintf(stderr, "%s:%u:%u: %s\n", name, e->line, e->col, e->msg);
	return EXIT_BAD;
}

static int
finish(struct call *c, struct buf *out, int status)
{
	int r = os_write_all(STDOUT_FILENO, buf_str(out), c->err);

	buf_free(out);
	return r == -1 ? complain(c->err) : status;
}

static void
put_buf(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, (struct str){ p, n });
}

/* The operand at i, or "-" where there is none. */
static const char *
input_name(const struct call *c, size_t i)
{
	if (i >= c->nargs || strcmp(c->args[i], "-") == 0)
		return "stdin";
	return c->args[i];
}

static int
read_input(struct call *c, size_t i, struct str *text)
{
	if (i >= c->nargs || strcmp(c->args[i], "-") == 0)
		return os_read_fd(c->arena, STDIN_FILENO, "stdin", INPUT_MAX,
		    text, c->err);
	return os_read_file(c->arena, c->args[i], INPUT_MAX, text, c->err);
}

/* waza parse */
struct parse_opt {
	bool yaml, json, pretty;
};
static const struct opt parse_opts[] = {
	{ .name = "yaml", .type = OPT_FLAG, .off = offsetof(struct parse_opt, yaml),
	    .help = "read YAML, whatever the name" },
	{ .name = "json", .type = OPT_FLAG, .off = offsetof(struct parse_opt, json),
	    .help = "read JSON, whatever the name" },
	{ .name = "pretty", .type = OPT_FLAG,
	    .off = offsetof(struct parse_opt, pretty),
	    .help = "print over several lines, indented" },
};

static struct json *
read_json(struct call *c, struct str text)
{
	struct json_mem mem = { arena_hook, c->arena };
	struct json_error je;
	struct json *v = json_read(&mem, text, 0, &je);

	if (v == NULL) {
		err_set(c->err, ERR_SYNTAX, "%s", je.msg);
		err_at(c->err, je.line, je.col);
	}
	return v;
}

static int
cmd_parse(struct call *c)
{
	const struct parse_opt *o = c->opt;
	const char *name = input_name(c, 0);
	struct json *v;
	struct buf out = { 0 };
	struct str text;
	bool json;

	if (o->yaml && o->json) {
		err_set(c->err, ERR_SCHEMA,
		    "--yaml and --json exclude each other");
		return complain(c->err);
	}
	if (read_input(c, 0, &text) == -1)
		return complain(c->err);
	json = o->json || (!o->yaml && str_ends(str_of(name), STR(".json")));
	v = json ? read_json(c, text) : yaml_read(c->arena, text, NULL, c->err);
	if (v == NULL)
		return complain_at(name, c->err);
	for (v = json ? v : json_first(v); v != NULL; v = v->next) {
		struct json_out w = { .put = put_buf, .ctx = &out,
			.indent = o->pretty ? 2 : 0 };

		json_put(&w, v);
		buf_putc(&out, '\n');
	}
	return finish(c, &out, EXIT_OK);
}

/* waza match */
struct match_opt {
	bool groups;
};
static const struct opt match_opts[] = {
	{ .name = "groups", .letter = 'g', .type = OPT_FLAG,
	    .off = offsetof(struct match_opt, groups),
	    .help = "print every group, the whole match first" },
};

/* The pattern again, with a mark under the place; only where it would fit. */
static int
complain_pattern(struct str pattern, const struct err *e)
{
	size_t i;

	fprintf(stderr, "pattern:1:%u: %s\n", e->col, e->msg);
	for (i = 0; i < pattern.n; i++)
		if (pattern.p[i] < ' ' || pattern.p[i] > '~')
			return EXIT_BAD;
	if (pattern.n <= 100 && e->col > 0)
		fprintf(stderr, "\t%.*s\n\t%*s^\n", STRF(pattern),
		    (int)e->col - 1, "");
	return EXIT_BAD;
}

static void
put_span(struct buf *out, struct re_span s)
{
	if (s.start == RE_UNSET)
		buf_putc(out, '-');
	else
		buf_fmt(out, "%zu-%zu", s.start, s.end);
}

static int
cmd_match(struct call *c)
{
	const struct match_opt *o = c->opt;
	struct str text, pattern = str_of(c->args[0]);
	struct re *re = re_compile(c->arena, pattern, c->err);
	struct re_span *spans;
	struct buf out = { 0 };
	size_t i, n;

	if (re == NULL)
		return complain_pattern(pattern, c->err);
	if (read_input(c, 1, &text) == -1)
		return complain(c->err);
	n = o->groups ? re_groups(re) : 1;
	spans = NEW_N(c->arena, struct re_span, n);
	if (!re_match(re, text, 0, spans, n))
		return EXIT_NO;
	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(&out, ',');
		put_span(&out, spans[i]);
	}
	buf_putc(&out, '\n');
	return finish(c, &out, EXIT_OK);
}

static int cmd_help(struct call *);
static int cmd_version(struct call *);

#define OPTS(rows) { rows, COUNTOF(rows) }
static const struct command commands[] = {	/* sorted by name */
	{ .name = "help", .usage = "[COMMAND]", .max = 1, .fn = cmd_help,
	    .help = "say how a command is used" },
	{ .name = "match", .usage = "[-g] PATTERN [FILE|-]",
	    .opts = OPTS(match_opts), .size = sizeof(struct match_opt),
	    .min = 1, .max = 2, .fn = cmd_match,
	    .help = "find a regular expression in a text" },
	{ .name = "parse", .usage = "[--yaml|--json] [--pretty] [FILE|-]",
	    .opts = OPTS(parse_opts), .size = sizeof(struct parse_opt),
	    .max = 1, .fn = cmd_parse,
	    .help = "read YAML or JSON and print it as JSON" },
	{ .name = "version", .usage = "", .fn = cmd_version,
	    .help = "print the version" },
};

static const struct command *
find_command(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(commands); i++)
		if (str_is(name, commands[i].name))
			return &commands[i];
	return NULL;
}

static void
put_usage(struct buf *b)
{
	size_t i;

	buf_puts(b, "usage: waza COMMAND [OPTION ...] [OPERAND ...]\n\n");
	for (i = 0; i < COUNTOF(commands); i++)
		buf_fmt(b, "  %-10s %s\n", commands[i].name, commands[i].help);
	buf_puts(b, "\nwaza help COMMAND says more; waza(1) says all.\n");
}

static void
put_command_usage(const struct command *cmd, struct buf *b)
{
	buf_fmt(b, "usage: waza %s %s\n", cmd->name, cmd->usage);
	if (cmd->opts.n > 0)
		buf_putc(b, '\n');
	opt_help(&cmd->opts, b);
}

static int
unknown_command(const char *name)
{
	const char *near = NULL;
	struct buf b = { 0 };
	size_t i;

	for (i = 0; near == NULL && i < COUNTOF(commands); i++)
		if (str_similar(str_of(name), str_of(commands[i].name)))
			near = commands[i].name;
	fprintf(stderr, "waza: unknown command \"%s\"", name);
	if (near != NULL)
		fprintf(stderr, "; did you mean \"%s\"?", near);
	put_usage(&b);
	fprintf(stderr, "\n%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return EXIT_BAD;
}

static int
cmd_help(struct call *c)
{
	const struct command *cmd;
	struct buf out = { 0 };

	if (c->nargs == 0) {
		put_usage(&out);
		return finish(c, &out, EXIT_OK);
	}
	cmd = find_command(str_of(c->args[0]));
	if (cmd == NULL)
		return unknown_command(c->args[0]);
	put_command_usage(cmd, &out);
	buf_fmt(&out, "\nTo %s.\n", cmd->help);
	return finish(c, &out, EXIT_OK);
}

static int
cmd_version(struct call *c)
{
	struct buf out = { 0 };

	buf_puts(&out, "waza " WAZA_VERSION "\n");
	return finish(c, &out, EXIT_OK);
}

static int
wrong_use(const struct command *cmd, const struct err *e)
{
	struct buf b = { 0 };

	put_command_usage(cmd, &b);
	fprintf(stderr, "waza %s: %s\n%.*s", cmd->name, e->msg,
	    STRF(buf_str(&b)));
	buf_free(&b);
	return EXIT_BAD;
}

static int
run_command(struct call *c, const struct command *cmd, char **argv)
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

int
main(int argc, char **argv)
{
	struct arena arena = { 0 };
	struct err e = { 0 };
	struct call call = { .arena = &arena, .err = &e };
	const struct command *cmd;
	struct buf b = { 0 };
	int status = EXIT_BAD;

	if (os_init(&e) == -1)
		return complain(&e);
	if (argc < 2) {
		put_usage(&b);
		fprintf(stderr, "%.*s", STRF(buf_str(&b)));
		buf_free(&b);
		return EXIT_BAD;
	}
	cmd = find_command(str_of(command_word(argv[1])));
	if (cmd == NULL)
		return unknown_command(argv[1]);
	if (argc == 3 && strcmp(command_word(argv[2]), "help") == 0 &&
	    argv[2][0] == '-') {	/* waza COMMAND --help */
		argv[2] = argv[1];
		cmd = find_command(STR("help"));
	}
	status = run_command(&call, cmd, argv + 2);
	arena_free(&arena);
	return status;
}
