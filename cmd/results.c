/* SPDX-License-Identifier: ISC */
/*
 * waza results: lists the results files below a directory, and compares two of
 * them by their ids.
 */
#include "waza.h"

#include <string.h>
#include <unistd.h>

#include "cmd/stored.h"
#include "cmd/workspace.h"
#include "io/loop.h"
#include "json.h"
#include "report/compare.h"
#include "report/report.h"
#include "results/outcome.h"
#include "results/result.h"
#include "results/store.h"
#include "skill/catalog.h"

enum { LIMIT = 20 };		/* default of --limit */

struct results_opt {
	const char *dir, *skill, *model, *since, *format;
	int64_t limit;
	struct cmd_color color;
	bool verbose, trust;
};
#define OPT(m, t, ...) CMD_OPT(results_opt, m, t, __VA_ARGS__)
static const struct opt results_rows[] = {
	OPT(dir, OPT_STR, .name = "dir", .value = "DIR",
	    .help = "directory of results files (default: paths.results, or "
	    ".waza/results)"),
	OPT(format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "table|json", .help = "output format (default: table)"),
	CMD_TRUST_OPT(results_opt, trust),
	CMD_COLOR_OPTS(results_opt, color),
	OPT(skill, OPT_STR, .name = "skill", .value = "NAME",
	    .group = "results list", .help = "only runs of this skill"),
	OPT(model, OPT_STR, .name = "model", .value = "NAME",
	    .help = "only runs of this model"),
	OPT(since, OPT_STR, .name = "since", .value = "YYYY-MM-DD",
	    .help = "only runs of this day and later (UTC)"),
	OPT(limit, OPT_INT, .name = "limit", .value = "N", .min = 1,
	    .max = 1000000, .help = "number of runs (default: 20)"),
	OPT(verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .group = "results compare", .help = "list all tasks"),
};

struct results {
	struct cmd_call *call;
	const struct results_opt *opt;
	const char *dir;
	struct loop *loop;
	struct store store;
	int64_t since;		/* nanoseconds */
};

static int
get_since(struct results *r)
{
	const char *s = r->opt->since;

	r->since = INT64_MIN;
	if (s == NULL)
		return 0;
	r->since = strlen(s) == 10 ? result_parse_time(arena_fmt(
	    r->call->arena, "%sT00:00:00Z", s)) : 0;
	return r->since != 0 ? 0 : err_set(r->call->err, ERR_SCHEMA,
	    "--since must be a date YYYY-MM-DD, not \"%.40s\"", s);
}

static int
find_dir(struct results *r)
{
	struct cmd_find how = { .trust = r->opt->trust };
	struct catalog c;

	r->dir = r->opt->dir;
	if (r->dir != NULL)
		return 0;
	if (cmd_catalog(r->call, &how, NULL, &c) == -1 ||
	    cmd_stored_dir(r->call, &r->dir) == -1)
		return -1;
	if (access(c.results, F_OK) == 0 && (c.results_set ||
	    access(r->dir, F_OK) == -1))
		r->dir = c.results;
	return 0;
}

/* Reads all of the directory; -1 with the call's err. */
static int
scan(struct results *r)
{
	struct err *e = r->call->err;
	int turn = 1;

	r->loop = loop_new(NULL, e);
	if (r->loop == NULL)
		return -1;
	r->store = (struct store){ .loop = r->loop, .dir = r->dir,
		.eager = true };
	if (store_init(&r->store, e) == -1)
		return -1;
	while (!r->store.scanned && turn == 1)
		turn = loop_turn(r->loop, e);
	if (r->store.full)
		cmd_say("waza: %s: too many files; some are missing\n",
		    r->dir);
	if (r->store.nlarge > 0)
		cmd_say("waza: %s: %zu file%s larger than %d MiB: not listed\n",
		    r->dir, r->store.nlarge, r->store.nlarge == 1 ? " is" :
		    "s are", STORE_FILE_MAX >> 20);
	return turn == -1 ? -1 : 0;
}

/*
 * results list
 */
static bool
is_selected(const struct results *r, const struct store_run *run)
{
	return (r->opt->skill == NULL || str_is(run->skill, r->opt->skill)) &&
	    (r->opt->model == NULL || str_is(run->model, r->opt->model)) &&
	    run->started_ns >= r->since;
}

static void
put_item(struct json_out *o, const struct store_file *f)
{
	char when[RESULT_TIME_MAX];

	result_time(when, f->run.started_ns);
	json_open(o, '{');
	json_put_member_str(o, "run_id", f->run.id);
	json_put_member_str(o, "skill", f->run.skill);
	json_put_member_str(o, "model", f->run.model);
	json_put_member_cstr(o, "timestamp", when);
	json_put_member_double(o, "pass_rate", 100 * f->run.rate);
	json_put_member_str(o, "blob_path", f->run.path);
	json_put_member_str(o, "suite", f->run.name);
	json_put_member_cstr(o, "status", store_state_name(f->run.state));
	json_close(o, '}');
}

static void
put_items(struct buf *out, struct store_file *const *v, size_t n)
{
	struct json_out o = { .put = buf_sink, .ctx = out, .indent = 2 };
	size_t i;

	json_open(&o, '[');
	for (i = 0; i < n; i++)
		put_item(&o, v[i]);
	json_close(&o, ']');
	buf_putc(out, '\n');
}

static int
list(struct results *r, int format, struct buf *out)
{
	size_t i, n, k = 0, limit = r->opt->limit > 0 ?
	    (size_t)r->opt->limit : LIMIT;
	struct store_file **all = store_list(&r->store, &n), **v;
	struct report_opts opts = { 0 };

	if (cmd_report_env(&opts, STDOUT_FILENO, &r->opt->color,
	    r->call->err) == -1)
		return cmd_complain(r->call->err);
	v = NEW_N(r->call->arena, struct store_file *, n);
	for (i = 0; i < n && k < limit; i++)
		if (is_selected(r, &all[i]->run))
			v[k++] = all[i];
	if (format == 1)
		put_items(out, v, k);
	else if (k == 0)
		buf_fmt(out, "No results in %s.\n", r->dir);
	else
		report_stored(out, v, k, &opts);
	return CMD_OK;
}

/*
 * results compare
 */
static const struct outcome *
find(struct results *r, const char *id)
{
	const struct store_file *f = store_find(&r->store, str_of(id));

	if (f == NULL && strchr(id, '/') != NULL)
		return outcome_read(r->call->arena, id, r->call->err);
	if (f == NULL) {
		err_set(r->call->err, ERR_SCHEMA, "no run \"%.100s\" in %s; "
		    "\"waza results list\" prints the ids", id, r->dir);
		return NULL;
	}
	return store_read(&r->store, f, r->call->arena, r->call->err);
}

static int
compare(struct results *r, int format, struct buf *out)
{
	struct report_opts opts = { .verbose = r->opt->verbose };
	const struct outcome *files[2];
	struct compare both;
	size_t i;

	if (cmd_report_env(&opts, STDOUT_FILENO, &r->opt->color,
	    r->call->err) == -1)
		return cmd_complain(r->call->err);
	for (i = 0; i < COUNTOF(files); i++) {
		files[i] = find(r, r->call->args[i]);
		if (files[i] == NULL)
			return cmd_complain(r->call->err);
	}
	compare_make(r->call->arena, &both, files, COUNTOF(files));
	if (format == 0)
		compare_text(out, &both, &opts);
	else
		compare_json(out, &both);
	return CMD_OK;
}

static int
run(struct results *r, int (*fn)(struct results *, int, struct buf *))
{
	static const char *const formats[] = { "table", "json" };
	int format = cmd_choose("format", r->opt->format, formats,
	    COUNTOF(formats), r->call->err), status = CMD_ERROR;
	struct buf out = { 0 };

	if (format == -1 || get_since(r) == -1 || find_dir(r) == -1)
		return cmd_complain(r->call->err);
	if (fn == list && r->opt->dir == NULL && access(r->dir, F_OK) == -1) {
		if (format == 1)
			buf_puts(&out, "[]\n");
		else
			buf_fmt(&out, "No results in %s.\n", r->dir);
		return cmd_finish(r->call, &out, CMD_OK);
	}
	if (scan(r) == -1)
		cmd_complain(r->call->err);
	else
		status = fn(r, format, &out);
	store_fini(&r->store);
	loop_free(r->loop);
	r->call->form = format == 1 ? GUARD_JSON : GUARD_TEXT;
	return cmd_finish(r->call, &out, status);
}

static int
results_main(struct cmd_call *c)
{
	struct results r = { .call = c, .opt = c->opt };
	const char *word = c->nargs > 0 ? c->args[0] : "list";

	if (c->nargs > 0) {
		c->args++;
		c->nargs--;
	}
	if (strcmp(word, "list") == 0 && c->nargs == 0)
		return run(&r, list);
	if (strcmp(word, "compare") == 0 && c->nargs == 2)
		return run(&r, compare);
	err_set(c->err, ERR_SCHEMA, strcmp(word, "compare") == 0 ?
	    "results compare needs two ids; \"waza results list\" prints them" :
	    strcmp(word, "list") == 0 ? "unexpected argument: %.60s" :
	    "results: unknown subcommand \"%.60s\"; use list or compare",
	    c->nargs > 0 && strcmp(word, "list") == 0 ? c->args[0] : word);
	return cmd_complain(c->err);
}

const struct cmd_command cmd_results = {
	.name = "results", .group = CMD_RESULTS,
	.usage = "[list] [OPTION ...] | compare [OPTION ...] ID ID",
	.opts = CMD_OPTS(results_rows), .size = sizeof(struct results_opt),
	.max = 3, .fn = results_main,
	.help = "List stored results, or compare two of them"
};
