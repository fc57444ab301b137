/* SPDX-License-Identifier: ISC */
/*
 * waza mcp-mock: an MCP server that answers from fixtures.
 * waza mcp-record: an MCP server before a real one, which writes a fixture.
 */
#include "waza.h"

#include "mock/mock.h"

enum { WORDS_MAX = 4096 };

struct mock_opt {
	const char *name, *calls;
};
static const struct opt mock_rows[] = {
	CMD_OPT(mock_opt, name, OPT_STR, .name = "name", .value = "NAME",
	    .help = "name of the server (default: mock)"),
	CMD_OPT(mock_opt, calls, OPT_STR, .name = "calls", .value = "FILE",
	    .help = "append each call to FILE, as a line of JSON"),
};

/* The words of the real server, NULL if there are none. */
static const char *const *
real_words(struct cmd_call *c, size_t from)
{
	const char **argv;
	size_t i;

	if (c->nargs <= from)
		return NULL;
	argv = NEW_N(c->arena, const char *, c->nargs - from + 1);
	for (i = from; i < c->nargs; i++)
		argv[i - from] = c->args[i];
	return argv;
}

static int
mcp_mock(struct cmd_call *c)
{
	const struct mock_opt *o = c->opt;
	struct mock_tools tools = { .arena = c->arena };
	struct mock_serve s = { .name = str_of(o->name != NULL ? o->name :
		"mock"), .tools = &tools, .calls = o->calls,
		.real = real_words(c, 1) };
	const char *file = NULL;

	if (mock_add_path(&tools, c->args[0], &file, c->err) == -1) {
		if (c->err->line > 0)
			cmd_say("%s:%u:%u: %s\n", file, c->err->line,
			    c->err->col, c->err->msg);
		else
			(void)cmd_complain(c->err);
		return CMD_ERROR;
	}
	return mock_serve(&s, c->err) == 0 ? CMD_OK : cmd_complain(c->err);
}

const struct cmd_command cmd_mcp_mock = {
	.name = "mcp-mock", .group = CMD_SUITES,
	.usage = "[--name NAME] [--calls FILE] PATH [-- COMMAND [ARG ...]]",
	.help = "Serve MCP tools from fixtures over stdio",
	.opts = CMD_OPTS(mock_rows), .size = sizeof(struct mock_opt),
	.required = { "PATH" }, .max = WORDS_MAX, .fn = mcp_mock,
};

struct record_opt {
	const char *output;
};
static const struct opt record_rows[] = {
	CMD_OPT(record_opt, output, OPT_STR, .name = "output", .letter = 'o',
	    .value = "FILE", .help = "fixture to write (default: NAME.json)"),
};

static int
mcp_record(struct cmd_call *c)
{
	const struct record_opt *o = c->opt;
	struct mock_tools none = { .arena = c->arena };
	struct mock_serve s = { .name = str_of(c->args[0]), .tools = &none,
		.real = real_words(c, 1), .records = true,
		.fixture = o->output };

	if (s.fixture == NULL)
		s.fixture = arena_fmt(c->arena, "%s.json", c->args[0]).p;
	return mock_serve(&s, c->err) == 0 ? CMD_OK : cmd_complain(c->err);
}

const struct cmd_command cmd_mcp_record = {
	.name = "mcp-record", .group = CMD_SUITES,
	.usage = "[-o FILE] NAME -- COMMAND [ARG ...]",
	.help = "Record an MCP server's answers as a fixture of mcp_mocks",
	.opts = CMD_OPTS(record_rows), .size = sizeof(struct record_opt),
	.required = { "NAME", "COMMAND" }, .max = WORDS_MAX, .fn = mcp_record,
};
