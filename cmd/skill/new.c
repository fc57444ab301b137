/* SPDX-License-Identifier: ISC */
/*
 * waza new: creates skills, suites and tasks.  It only adds files that are
 * missing; called again, it changes nothing.
 */
#include "cmd/skill/new.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_path.h"
#include "skill/skill.h"
#include "suite/config.h"
#include "suite/spec.h"

#define OPT(m, t, ...) CMD_OPT(new_opt, m, t, __VA_ARGS__)
static const struct opt new_rows[] = {
	OPT(executor, OPT_STR, .name = "executor", .value = "NAME",
	    .help = "executor of the suite (default: the project's, the first "
	    "agent found, or mock)"),
	OPT(model, OPT_STR, .name = "model", .value = "NAME",
	    .help = "model of the suite or of the agent"),
	CMD_TRUST_OPT(new_opt, trust),
	OPT(description, OPT_STR, .name = "description", .value = "TEXT",
	    .group = "new skill", .help = "what the skill does, and when to "
	    "use it"),
	OPT(dir, OPT_STR, .name = "output-dir", .letter = 'd', .value = "DIR",
	    .help = "work in this directory, which is created if needed"),
	OPT(template, OPT_STR, .name = "template", .letter = 't',
	    .value = "NAME", .help = "accepted for other versions; no effect"),
	OPT(output, OPT_STR, .name = "output", .value = "FILE",
	    .group = "new eval and new task",
	    .help = "the file to create (default: see waza-new(1))"),
	OPT(scenario, OPT_FLAG, .name = "scenario",
	    .help = "not supported; the message says what to do"),
	OPT(eval, OPT_STR, .name = "eval", .value = "SUITE|NAME",
	    .group = "new task", .help = "the suite that gets the task"),
	OPT(results, OPT_STR, .name = "from-results", .value = "FILE",
	    .help = "make graders from an answer in a results file"),
	OPT(task, OPT_STR, .name = "task", .value = "ID",
	    .help = "the task of that file (default: the only one)"),
	OPT(transcript, OPT_STR, .name = "from-transcript", .value = "FILE",
	    .help = "make graders from the events of a session"),
	OPT(testname, OPT_STR, .name = "testname", .value = "NAME",
	    .group = "new task from-prompt",
	    .help = "id of the task (default: the name of the file)"),
	OPT(tags, OPT_STR, .name = "tags", .value = "A,B",
	    .help = "its tags"),
	OPT(timeout, OPT_STR, .name = "timeout", .value = "TIME",
	    .help = "time limit of the agent, such as 90s or 5m (default: 5m)"),
	OPT(overwrite, OPT_FLAG, .name = "overwrite",
	    .help = "replace the file if it exists"),
	OPT(root, OPT_STR, .name = "root", .value = "DIR",
	    .help = "where skills are looked for (default: .)"),
};

/*
 * Skills.
 */
/* The nearest directory upwards that contains skills/, or NULL. */
static const char *
project_above(struct arena *a)
{
	const char *dir = os_absolute(a, "."), *up;
	struct stat st;

	for (;; dir = up) {
		if (stat(spec_join(a, dir, STR("skills")), &st) == 0 &&
		    S_ISDIR(st.st_mode))
			return dir;
		up = spec_dir_of(a, dir);
		if (strcmp(up, dir) == 0)
			return NULL;
	}
}

/* Adds SKILL.md, unless there is one; its description is that of the file. */
static int
add_skill(struct new *n, const char *dir, struct str name,
    struct str *description)
{
	const char *file = spec_join(n->arena, dir, STR("SKILL.md"));
	struct skill s;
	bool exists = spec_exists(file);

	if (exists && skill_read(n->arena, file, &s, n->call->err) == -1) {
		cmd_complain_at(file, n->call->err);
		return -1;
	}
	if (exists && str_trim(s.text).n > 0) {
		*description = s.description;
		files_add(&n->files, file, STR(""), "skill");
		return 0;
	}
	if (description->n == 0)
		*description = new_ask(n, "what does the skill do, and when "
		    "should it be used", STR(""));
	files_replace(&n->files, file, scaffold_skill(n->arena, name,
	    *description), "skill");
	return 0;
}

/* A skill outside of a project has everything in its own directory. */
static void
add_alone(struct new *n, const char *dir)
{
	struct arena *a = n->arena;

	files_add(&n->files, spec_join(a, dir,
	    STR(".github/workflows/waza.yml")), scaffold_workflow(a,
	    STR("evals"), STR("results")), "CI workflow");
	files_add(&n->files, spec_join(a, dir, STR(".gitignore")),
	    str_of(scaffold_skill_ignore), "ignored files");
}

/* Enters --output-dir, which is created. */
static int
enter(const char *dir, struct err *e)
{
	if (dir == NULL)
		return 0;
	if (os_make_dirs(dir, 0777, true, e) == -1)
		return -1;
	return chdir(dir) == -1 ? err_sys(e, dir) : 0;
}

/* Where the skill and its suite belong. */
struct home {
	const char *skill, *evals;	/* directories */
	bool alone;
};

static struct home
find_home(struct new *n, struct str name)
{
	struct arena *a = n->arena;
	const char *root;

	if (n->config->project_dir != NULL)
		return (struct home){ spec_join(a, n->catalog.skills, name),
			spec_join(a, n->catalog.evals, name), false };
	root = project_above(a);
	if (root != NULL) {
		root = new_relative(a, ".", root).p;
		return (struct home){ spec_join(a, root, arena_fmt(a,
			"skills/%.*s", STRF(name))), spec_join(a, root,
			arena_fmt(a, "evals/%.*s", STRF(name))), false };
	}
	return (struct home){ arena_cstr(a, name), arena_fmt(a, "%.*s/evals",
		STRF(name)).p, true };
}

static int
add_skill_and_suite(struct new *n, struct str name)
{
	const struct new_opt *opt = n->call->opt;
	struct str description = opt->description != NULL ?
	    str_of(opt->description) : STR("");
	struct home h = find_home(n, name);
	const char *eval = spec_join(n->arena, h.evals, n->catalog.eval_file);

	n->next = arena_fmt(n->arena, "next: write %s/SKILL.md and the tasks, "
	    "then: waza run %s\n", h.skill, eval).p;
	if (add_skill(n, h.skill, name, &description) == -1 ||
	    new_add_suite(n, name, description.n > 0 ? description :
	    STR("USE FOR: a first typical request, a second typical request. "
	    "DO NOT USE FOR: work that another skill does."), h.skill,
	    eval) == -1)
		return -1;
	if (h.alone)
		add_alone(n, h.skill);
	return 0;
}

int
new_skill(struct cmd_call *c, const char *name)
{
	const struct new_opt *opt = c->opt;
	struct new n = { .call = c, .executor = opt->executor,
		.model = opt->model };

	if (scaffold_check_name(str_of(name), c->err) == -1 ||
	    enter(opt->dir, c->err) == -1)
		return cmd_complain(c->err);
	if (opt->template != NULL)
		cmd_say("waza: --template has no effect: there is one "
		    "template\n");
	if (new_open(&n, ".", opt->trust) == -1 ||
	    add_skill_and_suite(&n, str_of(name)) == -1)
		return CMD_ERROR;
	return new_finish(&n, arena_fmt(c->arena, "skill %s:", name).p);
}

/*
 * Suites.
 */
/*
 * The skill as the suite can name it.  A suite outside of this project, such
 * as that of an editor that works on a copy, looks around itself.
 */
static const char *
skill_dir_for(struct new *n, const struct catalog_entry *e, const char *eval)
{
	struct arena *a = n->arena;
	struct catalog_opts o = { .dir = spec_dir_of(a, spec_dir_of(a,
		spec_dir_of(a, eval))) };
	const struct catalog_entry *other;
	struct catalog there;

	if (os_inside(n->catalog.root, eval))
		return e->skill_dir;
	if (!spec_exists(o.dir) ||
	    catalog_read(n->arena, &o, &there, n->call->err) == -1)
		return NULL;
	other = catalog_find(&there, e->name);
	return other != NULL ? other->skill_dir : NULL;
}

static const char *
default_eval(const struct new *n, const struct catalog_entry *e,
    const char *name)
{
	if (e->eval != NULL)
		return e->eval;
	if (n->catalog.single && n->config->project_dir == NULL &&
	    !spec_is_agent(str_of(e->skill_file)))
		return spec_join(n->arena, e->skill_dir, arena_fmt(n->arena,
		    "evals/%.*s", STRF(n->catalog.eval_file)));
	return spec_join(n->arena, n->catalog.evals, arena_fmt(n->arena,
	    "%s/%.*s", name, STRF(n->catalog.eval_file)));
}

int
new_eval(struct cmd_call *c, const char *name)
{
	const struct new_opt *opt = c->opt;
	struct new n = { .call = c, .executor = opt->executor,
		.model = opt->model };
	const struct catalog_entry *e;
	const char *eval;
	struct skill s;

	if (opt->scenario) {
		cmd_say("waza: --scenario is not supported: write a suite "
		    "without \"skill\", see waza-eval(5)\n");
		return CMD_ERROR;
	}
	if (scaffold_check_part(str_of(name), c->err) == -1)
		return cmd_complain(c->err);
	if (new_open(&n, ".", opt->trust) == -1)
		return CMD_ERROR;
	e = catalog_find(&n.catalog, str_of(name));
	if (e == NULL || e->skill_file == NULL) {
		catalog_not_found(&n.catalog, str_of(name), c->err);
		return cmd_complain(c->err);
	}
	if (skill_read(c->arena, e->skill_file, &s, c->err) == -1)
		return cmd_complain_at(e->skill_file, c->err);
	n.agent = spec_is_agent(str_of(e->skill_file));
	eval = opt->output != NULL ? opt->output : default_eval(&n, e, name);
	if (new_add_suite(&n, e->name, s.description, skill_dir_for(&n, e,
	    eval), eval) == -1)
		return CMD_ERROR;
	return new_finish(&n, arena_fmt(c->arena, "suite for the skill %.*s:",
	    STRF(e->name)).p);
}

/* A missing name is asked for on a terminal. */
static int
new_without_name(struct cmd_call *c)
{
	struct new n = { .call = c, .arena = c->arena };
	struct str name = strcmp(c->args[0], "skill") == 0 ? new_ask(&n,
	    "name of the skill", STR("")) : STR("");

	if (name.n > 0)
		return new_skill(c, name.p);
	cmd_say("waza: new %s: missing argument: NAME; see \"waza help "
	    "new\"\n", c->args[0]);
	return CMD_ERROR;
}

static int
new_main(struct cmd_call *c)
{
	const struct new_opt *opt = c->opt;
	const char *word = c->args[0];
	bool task = strcmp(word, "task") == 0;

	if (task)
		return new_task(c, c->args + 1, c->nargs - 1);
	if (strcmp(word, "skill") == 0 || strcmp(word, "eval") == 0) {
		if (c->nargs < 2)
			return new_without_name(c);
		/* new_eval() refuses --scenario, and so its template */
		if (c->nargs > 2 && !(opt->scenario && *word == 'e')) {
			err_set(c->err, ERR_SCHEMA, "unexpected argument: %s",
			    c->args[2]);
			return cmd_complain(c->err);
		}
		return (*word == 's' ? new_skill : new_eval)(c, c->args[1]);
	}
	if (c->nargs > 1) {
		err_set(c->err, ERR_SCHEMA, "unknown kind \"%.60s\" (skill, "
		    "eval or task)", word);
		return cmd_complain(c->err);
	}
	return new_skill(c, word);
}

const struct cmd_command cmd_new = {
	.name = "new", .usage = "[OPTION ...] skill NAME | eval NAME | task "
	    "NAME | task from-prompt PROMPT FILE", .opts = CMD_OPTS(new_rows),
	.size = sizeof(struct new_opt), .required = { "skill, eval or task" },
	.max = 4, .fn = new_main, .group = CMD_SUITES,
	.help = "Create a skill, a suite or a task"
};
