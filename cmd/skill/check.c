/* SPDX-License-Identifier: ISC */
/*
 * waza check: examines skills and reports whether they are ready.
 *
 * The graders of suites that only compute are given an empty answer, which no
 * task should accept; nothing else of a suite is run.
 *
 * With --fix it first makes the mechanical repairs and prints them as a diff;
 * the report then lists the remaining findings.
 */
#include "waza.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "agent/agent.h"
#include "base/os.h"
#include "cmd/run/control.h"
#include "grader.h"
#include "lib/diff.h"
#include "report/report.h"
#include "report/report_check.h"
#include "skill/budget.h"
#include "skill/catalog.h"
#include "skill/check.h"
#include "skill/files.h"
#include "suite/config.h"
#include "suite/spec.h"

struct check_opt {
	bool strict, fix, dry_run, urls, private_urls, exit_zero, trust;
	bool verbose;
	const char *format;
	struct cmd_color color;
};
static const struct opt check_rows[] = {
	CMD_OPT(check_opt, strict, OPT_FLAG, .name = "strict",
	    .help = "fail on warnings, too; unknown keys of suites are errors"),
	CMD_OPT(check_opt, fix, OPT_FLAG, .name = "fix",
	    .help = "repair what needs no judgement, and show the changes"),
	CMD_OPT(check_opt, dry_run, OPT_FLAG, .name = "dry-run",
	    .help = "with --fix: only show the changes"),
	CMD_OPT(check_opt, urls, OPT_FLAG, .name = "urls",
	    .help = "request the URLs of links, with curl"),
	CMD_OPT(check_opt, private_urls, OPT_FLAG, .name = "private-urls",
	    .help = "with --urls: also those of private addresses"),
	CMD_OPT(check_opt, exit_zero, OPT_FLAG, .name = "exit-zero",
	    .help = "exit with 0 although a skill is not ready"),
	CMD_OPT(check_opt, format, OPT_STR, .name = "format", .letter = 'f',
	    .value = "text|json|github|sarif",
	    .help = "output format (default: text)"),
	CMD_OPT(check_opt, verbose, OPT_FLAG, .name = "verbose", .letter = 'v',
	    .help = "list all findings of each section"),
	CMD_TRUST_OPT(check_opt, trust),
	CMD_COLOR_OPTS(check_opt, color),
};

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_GITHUB, FORMAT_SARIF };
static const char *const formats[] = { "text", "json", "github", "sarif" };

/* A skill to check. */
struct target {
	const char *file, *eval;
	const struct token_settings *tokens;
	const struct token_counter *counter;	/* NULL: estimate */
};

struct checking {
	struct cmd_call *call;
	const struct check_opt *opt;
	struct check_env env;
	const char *vocab;	/* that was read last, or NULL */
	const struct token_counter *counter;
	struct buf targets;	/* of struct target */
	struct buf skills;	/* of struct check * */
	struct buf diff;
	bool failed;		/* a file could not be read or written */
	struct report_opts shown;
	struct cmd_controls controls;
};

static void
check_suite(const struct spec_suite *s, struct spec_notes *notes)
{
	agent_check_all(s, notes);
	grader_check(s, notes);
	agent_check_files(s, notes);
}

static size_t
try_controls(void *arg, const struct spec_suite *s, struct spec_notes *notes)
{
	struct checking *k = arg;
	size_t before = k->controls.unknown;

	if (cmd_controls_try(&k->controls, s, notes) == -1) {
		k->failed = true;
		cmd_complain(k->call->err);
	}
	return k->controls.unknown - before;
}

/*
 * Targets
 */
static void
add_target(struct checking *k, const struct catalog_entry *e,
    const struct token_settings *tokens)
{
	struct target t = { e->skill_file, e->eval, tokens,
		tokens->vocab != NULL ? k->counter : NULL };

	if (e->skill_file != NULL)
		buf_put(&k->targets, (struct str){ (const char *)&t,
		    sizeof(t) });
}

/* Reads the vocabulary of the settings, unless it was the last one read. */
static int
read_vocab(struct checking *k, const struct token_settings *t)
{
	struct token_counter *counter;

	if (t->vocab == NULL || (k->vocab != NULL && strcmp(t->vocab,
	    k->vocab) == 0))
		return 0;
	counter = NEW(k->call->arena, struct token_counter);
	k->vocab = t->vocab;
	k->counter = counter;
	return token_counter_read(k->call->arena, t->vocab, counter,
	    k->call->err);
}

/* The settings of a directory: limits of tokens, and the catalog. */
static int
open_catalog(struct checking *k, const char *dir, bool walk,
    struct catalog *out, const struct token_settings **tokens)
{
	struct arena *a = k->call->arena;
	struct config_sources from = { .dir = dir, .token = k->call->token,
		.trust = k->opt->trust };
	struct spec_notes notes = { .arena = a };
	struct catalog_opts o = { .dir = dir, .walk = walk };
	struct token_settings *t = NEW(a, struct token_settings);

	o.config = config_load(a, &from, &notes);
	if (o.config == NULL || token_settings(a, &from, t, &notes) == -1) {
		cmd_print_notes(&notes, false);
		return err_set(k->call->err, ERR_SCHEMA, "the settings of %s "
		    "cannot be read", dir);
	}
	*tokens = t;
	return read_vocab(k, t) == -1 ? -1 :
	    catalog_read(a, &o, out, k->call->err);
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* A SKILL.md or its directory, with the suite that belongs to it. */
static int
add_skill(struct checking *k, const char *file)
{
	const char *dir = spec_dir_of(k->call->arena, file);
	const struct token_settings *tokens;
	struct catalog_entry one = { .skill_file = file };
	struct catalog cat;
	size_t i;

	if (open_catalog(k, dir, false, &cat, &tokens) == -1)
		return -1;
	for (i = 0; i < cat.nskills && cat.single; i++)
		if (!spec_is_agent(str_of(file)) ||
		    strcmp(cat.v[i].skill_file, file) == 0)
			one.eval = cat.v[i].eval;
	add_target(k, &one, tokens);
	return 0;
}

/* A file below a directory; the catalog may know its suite. */
static int
add_known(struct checking *k, const char *file, const struct catalog *cat,
    const struct token_settings *tokens)
{
	size_t i;

	for (i = 0; i < cat->nskills; i++)
		if (strcmp(cat->v[i].skill_file, file) == 0)
			break;
	if (i == cat->nskills)
		return add_skill(k, file);
	add_target(k, &cat->v[i], tokens);
	return 0;
}

/* Hidden directories in which skills are kept are searched, too. */
static bool
is_searched(struct str name)
{
	static const char *const hidden[] = { ".agents", ".apm", ".claude",
		".github" };
	size_t i;

	if (name.p[0] != '.')
		return !str_is(name, "node_modules") && !str_is(name, "vendor");
	for (i = 0; i < COUNTOF(hidden); i++)
		if (str_is(name, hidden[i]))
			return true;
	return false;
}

/*
 * The skills below a directory.  The catalog knows the suites of most; it
 * lacks skills with the name of another one.
 */
static int
add_below(struct checking *k, const char *dir, unsigned depth,
    const struct catalog *cat, const struct token_settings *tokens)
{
	struct arena *a = k->call->arena;
	const char *file = spec_join(a, dir, STR("SKILL.md")), *path;
	struct field_strs names;
	struct stat st;
	size_t i;

	if (is_file(file))
		return add_known(k, file, cat, tokens);
	if (depth == CATALOG_DEPTH || spec_list(a, dir, &names) == -1)
		return 0;
	for (i = 0; i < names.n; i++) {
		path = spec_join(a, dir, names.v[i]);
		if (spec_is_agent(names.v[i]) && is_file(path) &&
		    add_known(k, path, cat, tokens) == -1)
			return -1;
		if (is_searched(names.v[i]) && lstat(path, &st) == 0 &&
		    S_ISDIR(st.st_mode) && add_below(k, path, depth + 1, cat,
		    tokens) == -1)
			return -1;
	}
	return 0;
}

static int
add_path(struct checking *k, const char *path)
{
	const struct token_settings *tokens;
	struct catalog cat;
	struct stat st;
	const char *file;
	size_t before = k->targets.n;

	if (stat(path, &st) == -1)
		return err_sys(k->call->err, path);
	if (!S_ISDIR(st.st_mode))
		return add_skill(k, path);
	file = spec_join(k->call->arena, path, STR("SKILL.md"));
	if (is_file(file))
		return add_skill(k, file);
	if (open_catalog(k, path, true, &cat, &tokens) == -1 ||
	    add_below(k, path, 0, &cat, tokens) == -1)
		return -1;
	return k->targets.n > before ? 0 : err_set(k->call->err, ERR_SCHEMA,
	    "%s: no SKILL.md found in or below it, nor NAME.agent.md; create "
	    "one with: waza new skill NAME", path);
}

static int
add_name(struct checking *k, const char *name)
{
	const struct token_settings *tokens;
	const struct catalog_entry *e;
	struct catalog cat;

	if (open_catalog(k, ".", false, &cat, &tokens) == -1)
		return -1;
	e = catalog_find(&cat, str_of(name));
	if (e == NULL || e->skill_file == NULL)
		return catalog_not_found(&cat, str_of(name), k->call->err);
	add_target(k, e, tokens);
	return 0;
}

static int
add_workspace(struct checking *k)
{
	const struct token_settings *tokens;
	struct catalog cat;
	size_t i;

	if (open_catalog(k, ".", false, &cat, &tokens) == -1)
		return -1;
	if (cat.nskills == 0)
		return err_set(k->call->err, ERR_SCHEMA, "no SKILL.md found, "
		    "nor NAME.agent.md (searched: %.*s); create one with: waza "
		    "new skill NAME", STRF(cat.searched));
	for (i = 0; i < cat.n; i++)
		add_target(k, &cat.v[i], tokens);
	return 0;
}

static int
find_targets(struct checking *k)
{
	size_t i;

	if (k->call->nargs == 0)
		return add_workspace(k);
	for (i = 0; i < k->call->nargs; i++)
		if ((catalog_is_path(k->call->args[i]) ? add_path :
		    add_name)(k, k->call->args[i]) == -1)
			return -1;
	return 0;
}

/*
 * Repairs
 */
static void
show_change(struct checking *k, const struct check_change *c)
{
	struct arena a = { 0 };
	struct diff_opts o = { .context = DIFF_CONTEXT };

	o.from = arena_fmt(&a, "a/%s", c->file);
	o.to = arena_fmt(&a, "b/%s", c->file);
	diff_unified(&k->diff, c->before, c->after, &o);
	arena_free(&a);
}

static int
write_change(struct arena *a, const struct check_change *c, struct err *e)
{
	if (files_check_dir(a, ".", spec_dir_of(a, c->file), e) == -1)
		return -1;
	return os_replace_file_mode(c->file, c->after, c->mode, e);
}

static void
fix_skill(struct checking *k, const char *file)
{
	struct arena a = { 0 };
	struct check_change *c;
	struct err e = { 0 };

	if (check_fix(&a, file, &c, &e) == -1) {
		k->failed = true;
		cmd_complain(&e);
		c = NULL;
	}
	for (; c != NULL; c = c->next) {
		if (!k->opt->dry_run && write_change(&a, c, &e) == -1) {
			k->failed = true;
			cmd_complain(&e);
			continue;
		}
		show_change(k, c);
	}
	arena_free(&a);
}

/*
 * Checks
 */
static void
check_target(struct checking *k, const struct target *t)
{
	struct arena *a = k->call->arena;
	struct check *made = NEW(a, struct check);
	struct str item = { (const char *)&made, sizeof(made) };
	struct err e = { 0 };

	if (k->opt->fix)
		fix_skill(k, t->file);
	k->env.tokens = t->tokens;
	k->env.counter = t->counter;
	if (check_skill(a, &k->env, t->file, t->eval, made, &e) == -1) {
		k->failed = true;
		cmd_complain(&e);
		return;
	}
	buf_put(&k->skills, item);
}

static int
check_all(struct checking *k)
{
	const struct target *t = (const struct target *)(void *)k->targets.p;
	struct check **v;
	size_t i, n = k->targets.n / sizeof(*t);

	for (i = 0; i < n; i++)
		check_target(k, &t[i]);
	v = (struct check **)(void *)k->skills.p;
	n = k->skills.n / sizeof(struct check *);
	cmd_controls_close(&k->controls);
	if (k->opt->urls && check_urls(v, n, k->opt->private_urls,
	    k->call->err) == -1)
		return -1;
	for (i = 0; i < n; i++)
		check_finish(v[i]);
	return 0;
}

static int
status_of(const struct checking *k)
{
	struct check *const *v = (struct check *const *)(void *)k->skills.p;
	size_t i, n = k->skills.n / sizeof(struct check *);
	bool ready = true;

	for (i = 0; i < n; i++)
		ready = ready && v[i]->ready && !(k->opt->strict &&
		    v[i]->count[CHECK_ERROR] + v[i]->count[CHECK_WARNING] > 0);
	if (k->failed)
		return CMD_ERROR;
	return ready || k->opt->exit_zero ? CMD_OK : CMD_FAILED;
}

static void
put_report(struct checking *k, int format, struct buf *out)
{
	const struct check *const *v =
	    (const struct check *const *)(void *)k->skills.p;
	size_t n = k->skills.n / sizeof(struct check *);

	if (format == FORMAT_JSON)
		report_check_json(out, v, n, os_wall_ns());
	else if (format == FORMAT_GITHUB)
		report_check_github(out, v, n);
	else if (format == FORMAT_SARIF)
		report_check_sarif(out, v, n, cmd_version_number);
	else if (n > 0)
		report_check_text(out, v, n, &k->shown);
}

/* The diff: before a report for people, else on stderr. */
static void
put_diff(struct checking *k, int format, struct buf *out)
{
	if (format != FORMAT_TEXT)
		cmd_say("%.*s", STRF(buf_str(&k->diff)));
	else if (k->diff.n > 0) {
		buf_put(out, buf_str(&k->diff));
		buf_putc(out, '\n');
	}
}

static int
check_main(struct cmd_call *c)
{
	static const enum guard_form forms[] = { GUARD_TEXT, GUARD_JSON,
		GUARD_GITHUB, GUARD_JSON };
	struct checking k = { .call = c, .opt = c->opt };
	struct buf out = { 0 };
	int format = cmd_choose("format", k.opt->format, formats,
	    COUNTOF(formats), c->err), status = CMD_ERROR;

	k.shown.verbose = k.opt->verbose;
	if (format == -1 || cmd_report_env(&k.shown, STDOUT_FILENO,
	    &k.opt->color, c->err) == -1)
		return cmd_complain(c->err);
	if (k.opt->dry_run && !k.opt->fix) {
		err_set(c->err, ERR_SCHEMA, "--dry-run needs --fix");
		return cmd_complain(c->err);
	}
	k.env.strict = k.opt->strict;
	k.env.trust = k.opt->trust;
	k.env.check_suite = check_suite;
	k.env.try_controls = try_controls;
	k.env.arg = &k;
	k.controls.call = c;
	check_prepare(c->arena, &k.env);
	if (cmd_controls_open(&k.controls) == -1 || find_targets(&k) == -1 ||
	    check_all(&k) == -1)
		cmd_complain(c->err);
	else {
		put_diff(&k, format, &out);
		put_report(&k, format, &out);
		status = status_of(&k);
	}
	buf_free(&k.targets);
	buf_free(&k.skills);
	buf_free(&k.diff);
	cmd_controls_close(&k.controls);
	c->form = forms[format];
	return cmd_finish(c, &out, status);
}

const struct cmd_command cmd_check = {
	.name = "check", .group = CMD_SUITES, .usage = "[--format FORMAT] [--strict] "
	    "[--fix [--dry-run]] [--urls] [PATH|NAME ...]",
	.opts = CMD_OPTS(check_rows), .size = sizeof(struct check_opt),
	.max = SIZE_MAX, .fn = check_main,
	.help = "Check whether skills are ready, and repair them"
};
