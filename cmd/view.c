/* SPDX-License-Identifier: ISC */
/*
 * waza view: writes results files as one HTML file that needs no server, and
 * can open it in a browser.
 */
#include "waza.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "cmd/stored.h"
#include "report/report.h"
#include "results/outcome.h"

enum { FILES_MAX = 20 };

struct view_opt {
	const char *output;
	bool open;
};
#define VIEW(m, t, ...) CMD_OPT(view_opt, m, t, __VA_ARGS__)
static const struct opt view_rows[] = {
	VIEW(output, OPT_STR, .name = "output", .letter = 'o',
	    .value = "FILE.html", .help = "the file to write (default: the "
	    "first name with .html; -: stdout)"),
	VIEW(open, OPT_FLAG, .name = "open", .help = "open it in a browser"),
};

/* results.json becomes results.html. */
static const char *
html_name(struct arena *a, const char *path)
{
	struct str s = str_of(path);

	if (str_ends(s, STR(".json")))
		s.n -= 5;
	return arena_cstr(a, arena_fmt(a, "%.*s.html", STRF(s)));
}

/* The browser keeps running after us: it is not waited for. */
static int
open_in_browser(struct cmd_call *c, const char *path)
{
	const char *argv[] = { "xdg-open", path, NULL };
	struct os_spawn s = { .argv = argv, .group = true, .outlives = true,
		.fd = { OS_FD_NULL, OS_FD_NULL, OS_FD_NULL } };
	struct utsname u;

	if (uname(&u) == 0 && strcmp(u.sysname, "Darwin") == 0)
		argv[0] = "open";
	if (os_spawn(&s, c->err) != -1)
		return CMD_OK;
	cmd_say("waza: cannot open a browser (%s); open %s yourself\n",
	    c->err->msg, path);
	return CMD_ERROR;
}

static int
view_main(struct cmd_call *c)
{
	const struct view_opt *opt = c->opt;
	struct report_file files[FILES_MAX];
	const char *path;
	char *latest[1];
	struct buf out = { 0 };
	int status;
	size_t i;

	if (c->nargs == 0) {
		path = cmd_latest_results(c, STR(""), 0);
		if (path == NULL)
			return cmd_complain(c->err);
		latest[0] = arena_cstr(c->arena, str_of(path));
		c->args = latest;
		c->nargs = 1;
	}
	path = opt->output;
	for (i = 0; i < c->nargs; i++) {
		files[i].name = str_of(c->args[i]);
		if (os_read_file(c->arena, c->args[i], OUTCOME_MAX,
		    &files[i].json, c->err) == -1)
			return cmd_complain(c->err);
		files[i].json = str_after_bom(files[i].json);
		if (outcome_parse(c->arena, files[i].json, c->args[i],
		    c->err) == NULL)
			return cmd_complain_at(c->args[i], c->err);
	}
	if (path == NULL)
		path = html_name(c->arena, c->args[0]);
	if (opt->open && strcmp(path, "-") == 0) {
		cmd_say("waza: --open needs a file, not standard output: name "
		    "one with -o FILE.html\n");
		return CMD_ERROR;
	}
	if (report_files(path, files, c->nargs, c->err) == -1)
		return cmd_complain(c->err);
	if (strcmp(path, "-") == 0)
		return CMD_OK;
	buf_fmt(&out, "%s\n", path);
	status = cmd_finish(c, &out, CMD_OK);
	return opt->open ? open_in_browser(c, path) : status;
}

const struct cmd_command cmd_view = {
	.name = "view", .group = CMD_RESULTS,
	.usage = "[-o FILE.html] [--open] [RESULTS.json ...]",
	.opts = CMD_OPTS(view_rows), .size = sizeof(struct view_opt),
	.max = FILES_MAX, .fn = view_main,
	.help = "Write results as one HTML page that needs no server"
};
