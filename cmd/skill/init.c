/* SPDX-License-Identifier: ISC */
/*
 * waza init: makes a directory a project: settings, directories, a workflow for
 * CI, and a suite for each skill that lacks one.  Only missing files are
 * created.
 */
#include "cmd/skill/new.h"

#include <string.h>
#include <unistd.h>

#include "base/os_path.h"
#include "editor/editor_schema.h"
#include "json.h"
#include "skill/skill.h"
#include "suite/config.h"
#include "suite/spec.h"

struct init_opt {
	const char *skills, *evals, *results, *executor, *model;
	bool no_skill, no_evals, trust;
};

#define OPT(m, t, ...) CMD_OPT(init_opt, m, t, __VA_ARGS__)
static const struct opt init_rows[] = {
	OPT(skills, OPT_STR, .name = "skills-dir", .value = "DIR",
	    .help = "directory of skills (default: where they are, or skills)"),
	OPT(evals, OPT_STR, .name = "evals-dir", .value = "DIR",
	    .help = "directory of suites (default: where they are, or evals)"),
	OPT(results, OPT_STR, .name = "results-dir", .value = "DIR",
	    .help = "directory of results (default: results)"),
	OPT(executor, OPT_STR, .name = "executor", .value = "NAME",
	    .help = "executor of suites (default: the first agent found, or "
	    "mock)"),
	OPT(model, OPT_STR, .name = "model", .value = "NAME",
	    .help = "model of suites"),
	OPT(no_evals, OPT_FLAG, .name = "no-evals",
	    .help = "create no suites for skills without one"),
	OPT(no_skill, OPT_FLAG, .name = "no-skill",
	    .help = "do not offer to create a skill"),
	CMD_TRUST_OPT(init_opt, trust),
};

/* A path in settings: relative, inside, and plain in YAML and workflows. */
static int
check_dir(const char *option, const char *dir, struct err *e)
{
	const char *p;

	if (dir == NULL)
		return 0;
	for (p = dir; *p != '\0'; p++)
		if (strchr(":#\"'\\$`", *p) != NULL || (unsigned char)*p <= ' ')
			break;
	if (*dir != '\0' && *dir != '/' && *p == '\0' &&
	    strncmp(dir, "..", 2) != 0 && strstr(dir, "/..") == NULL)
		return 0;
	return err_set(e, ERR_SCHEMA, "--%s must be a relative path inside the "
	    "project, without blanks, \":\" and \"#\", not \"%.60s\"", option,
	    dir);
}

static int
check_dirs(const struct init_opt *opt, struct err *e)
{
	return check_dir("skills-dir", opt->skills, e) == -1 ||
	    check_dir("evals-dir", opt->evals, e) == -1 ||
	    check_dir("results-dir", opt->results, e) == -1 ? -1 : 0;
}

static struct str
without_slash(struct str s)
{
	while (s.n > 1 && s.p[s.n - 1] == '/')
		s.n--;
	return s;
}

/*
 * The directory two above a file, if its name contains the word: that of
 * skills/NAME/SKILL.md is skills.
 */
static struct str
grandparent(struct arena *a, const char *file, const char *word)
{
	const char *up = file == NULL ? NULL : spec_dir_of(a,
	    spec_dir_of(a, file));
	const char *last;

	if (up == NULL || strcmp(up, ".") == 0 || *up == '/')
		return STR("");
	last = strrchr(up, '/');
	return strstr(last != NULL ? last : up, word) != NULL ? str_of(up) :
	    STR("");
}

/* Existing directories of skills and suites, wherever they are. */
static void
detect(struct new *n, struct scaffold_project *p)
{
	struct catalog_opts o = { .dir = ".", .walk = true };
	struct catalog c;
	struct err e;
	size_t i;

	if (catalog_read(n->arena, &o, &c, &e) == -1)
		return;
	for (i = 0; i < c.n; i++) {
		if (p->skills.n == 0)
			p->skills = grandparent(n->arena, c.v[i].skill_file,
			    "skill");
		if (p->evals.n == 0)
			p->evals = grandparent(n->arena, c.v[i].eval, "eval");
	}
}

static void
or_default(struct str *s, const char *given, struct str set, const char *other)
{
	if (given != NULL)
		*s = str_of(given);
	else if (set.n > 0)
		*s = set;
	else if (s->n == 0)
		*s = str_of(other);
	*s = without_slash(*s);
}

static void
choose_dirs(struct new *n, struct scaffold_project *p)
{
	const struct init_opt *opt = n->call->opt;
	bool project = n->config->project_dir != NULL;

	if (!project)
		detect(n, p);
	or_default(&p->skills, opt->skills, n->config->paths.skills, "skills");
	or_default(&p->evals, opt->evals, n->config->paths.evals, "evals");
	or_default(&p->results, opt->results, n->config->paths.results,
	    "results");
	if (project)
		return;
	if (opt->skills == NULL)
		p->skills = new_ask(n, "directory of skills", p->skills);
	if (opt->evals == NULL)
		p->evals = new_ask(n, "directory of suites", p->evals);
}

static void
add_dir(struct new *n, struct str dir, const char *label)
{
	files_add(&n->files, arena_cstr(n->arena, dir),
	    (struct str){ NULL, 0 }, label);
}

/* Schemas by which editors complete and check the files of a project. */
static void
add_schemas(struct new *n)
{
	static const char *const names[] = { "config", "eval", "task",
		"trigger" };
	struct editor_schema_opts opts = { .strict = false };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++) {
		struct buf b = { 0 };
		struct json_out o = { .put = buf_sink, .ctx = &b,
			.indent = 2 };

		(void)editor_put_schema(&o, str_of(names[i]), &opts);
		buf_putc(&b, '\n');
		files_add(&n->files, arena_fmt(n->arena, NEW_SCHEMAS
		    "/%s.schema.json", names[i]).p, arena_take(n->arena, &b),
		    "schema for editors");
	}
	n->schemas = true;
}

static void
add_project(struct new *n, const struct scaffold_project *p)
{
	struct arena *a = n->arena;

	add_dir(n, p->skills, "skills");
	add_dir(n, p->evals, "suites");
	files_add(&n->files, ".waza.yaml", scaffold_settings(a, p),
	    "settings");
	files_add(&n->files, ".github/workflows/waza.yml",
	    scaffold_workflow(a, p->evals, p->results), "CI workflow");
	files_add(&n->files, ".gitignore", scaffold_ignore(a, p->results),
	    "ignored files");
	files_add(&n->files, "README.md", scaffold_readme(a, p), "guide");
}

/* A suite for each skill without one; a skill that is broken is reported. */
static int
add_suites(struct new *n, const struct scaffold_project *p)
{
	const struct catalog_entry *e;
	struct skill s;
	size_t i;

	for (i = 0; i < n->catalog.n; i++) {
		e = &n->catalog.v[i];
		if (e->skill_file == NULL || e->eval != NULL ||
		    scaffold_check_part(e->name, n->call->err) == -1)
			continue;
		if (skill_read(n->arena, e->skill_file, &s, n->call->err) ==
		    -1) {
			cmd_complain_at(e->skill_file, n->call->err);
			continue;
		}
		if (new_add_suite(n, e->name, s.description, e->skill_dir,
		    spec_join(n->arena, arena_cstr(n->arena, p->evals),
		    arena_fmt(n->arena, "%.*s/%.*s", STRF(e->name),
		    STRF(n->catalog.eval_file)))) == -1)
			return -1;
	}
	return 0;
}

static bool
says_yes(struct new *n, const char *question)
{
	struct str s = new_ask(n, question, STR("yes"));

	return s.n > 0 && (s.p[0] == 'y' || s.p[0] == 'Y');
}

/* On a terminal: a first skill, if the user names one. */
static int
offer_skill(struct new *n, const struct scaffold_project *p)
{
	const struct init_opt *opt = n->call->opt;
	struct str name = opt->no_skill || n->catalog.nskills > 0 ? STR("") :
	    new_ask(n, "name of a first skill (empty: none)", STR(""));
	const char *dir;

	if (name.n == 0)
		return 0;
	if (scaffold_check_name(name, n->call->err) == -1) {
		cmd_complain(n->call->err);
		return -1;
	}
	dir = arena_fmt(n->arena, "%.*s/%.*s", STRF(p->skills), STRF(name)).p;
	files_add(&n->files, spec_join(n->arena, dir, STR("SKILL.md")),
	    scaffold_skill(n->arena, name, STR("")), "skill");
	return new_add_suite(n, name, STR(""), dir, arena_fmt(n->arena,
	    "%.*s/%.*s/%.*s", STRF(p->evals), STRF(name),
	    STRF(n->catalog.eval_file)).p);
}

static int
init_here(struct new *n)
{
	const struct init_opt *opt = n->call->opt;
	struct scaffold_project p = { .model = opt->model != NULL ?
		str_of(opt->model) : STR("") };

	if (new_open(n, ".", opt->trust) == -1 || new_executor(n) == NULL)
		return CMD_ERROR;
	choose_dirs(n, &p);
	if (check_dir("skills-dir", p.skills.p, n->call->err) == -1 ||
	    check_dir("evals-dir", p.evals.p, n->call->err) == -1 ||
	    check_dir("results-dir", p.results.p, n->call->err) == -1)
		return cmd_complain(n->call->err);
	p.executor = str_of(n->executor);
	p.schemas = STR(NEW_SCHEMAS);
	add_project(n, &p);
	add_schemas(n);
	if (!opt->no_evals && n->catalog.nskills > 0 &&
	    says_yes(n, "create suites for skills without one") &&
	    add_suites(n, &p) == -1)
		return CMD_ERROR;
	if (offer_skill(n, &p) == -1)
		return CMD_ERROR;
	return new_finish(n, "project:");
}

static int
init_main(struct cmd_call *c)
{
	const struct init_opt *opt = c->opt;
	const char *dir = c->nargs > 0 ? c->args[0] : ".";
	struct new n = { .call = c, .executor = opt->executor,
		.model = opt->model };

	if (check_dirs(opt, c->err) == -1 ||
	    os_make_dirs(dir, 0777, true, c->err) == -1)
		return cmd_complain(c->err);
	if (chdir(dir) == -1) {
		err_sys(c->err, dir);
		return cmd_complain(c->err);
	}
	return init_here(&n);
}

const struct cmd_command cmd_init = {
	.name = "init", .usage = "[OPTION ...] [DIR]",
	.opts = CMD_OPTS(init_rows), .size = sizeof(struct init_opt),
	.max = 1, .fn = init_main, .group = CMD_SUITES,
	.help = "Make a directory a project, with suites for its skills"
};
