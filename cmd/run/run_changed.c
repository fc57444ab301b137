/* SPDX-License-Identifier: ISC */
/*
 * waza run --changed[=REF]: selects the tasks that a change since a commit can
 * affect, and notes why.
 *
 * The suite is loaded twice, with its files as they are and as they were, and
 * both are compared part by part; so a comment selects nothing.  Files that
 * its parts name are compared by git.  Where the effect of a file is not
 * known, all tasks are selected:
 *
 *	task, its inputs and graders	the task
 *	shared settings and graders	all tasks, and the trigger tests
 *	file of a skill			the same; its description alone: see
 *					add_description()
 *	trigger tests			the trigger tests
 *	another file beside the suite	all tasks: a grader may read it
 */
#include "cmd/run.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "base/os.h"
#include "cmd/run/change_set.h"
#include "lib/front.h"
#include "lib/glob.h"
#include "json.h"
#include "suite/spec.h"

enum { REPOS_MAX = 100 };	/* of the suites of a call */

/* The selection of one suite. */
struct choice {
	struct cmd_run *run;
	struct cmd_suite *suite;
	struct cmd_changes *set;
	struct arena *arena;
	struct spec_suite *now, *was;	/* loaded from files alone */
	struct str dir;			/* of the suite, below the top */
	bool *claimed;			/* changes that are accounted for */
	const char *all, *triggers;	/* why they are selected, or NULL */
	const char **task;		/* the same for each task */
	struct buf skills;		/* struct str: their directories */
};

static void
note(const char **why, const char *reason)
{
	if (*why == NULL)
		*why = reason;
}

/* Also the trigger tests. */
static void
note_all(struct choice *c, const char *reason)
{
	note(&c->all, reason);
	note(&c->triggers, reason);
}

static const char *
claim(struct choice *c, const struct git_change *g, size_t n)
{
	size_t i, first = (size_t)(g - c->set->v);

	for (i = 0; i < n; i++)
		c->claimed[first + i] = true;
	return cmd_change_words(c->arena, g);
}

/* A path that a part of the suite names. */
static void
on_name(void *arg, enum run_part part, const struct spec_task *t,
    const char *path, bool tree)
{
	struct choice *c = arg;
	const struct git_change *g;
	struct str dir;
	size_t n;

	if (part == RUN_PART_SKILLS) {
		dir = arena_str(c->arena, str_of(path));
		buf_put(&c->skills, (struct str){ (const char *)&dir,
		    sizeof(dir) });
		return;
	}
	g = cmd_changes_find(c->set, path, tree, &n);
	if (g == NULL)
		return;
	if (part == RUN_PART_TASK)
		note(&c->task[t - c->now->tasks], claim(c, g, n));
	else if (part == RUN_PART_TRIGGERS)
		note(&c->triggers, claim(c, g, n));
	else
		note_all(c, claim(c, g, n));
}

static void
ignore_name(void *arg, enum run_part part, const struct spec_task *t,
    const char *path, bool tree)
{
	(void)arg;
	(void)part;
	(void)t;
	(void)path;
	(void)tree;
}

/* For the loader: the text of a file as it was, if it has changed. */
static bool
read_old(void *arg, const char *path, struct str *text)
{
	struct choice *c = arg;
	size_t n;
	const struct git_change *g = cmd_changes_find(c->set, path, false,
	    &n);
	struct err e;

	if (g == NULL)
		return false;
	(void)claim(c, g, n);
	if (g->how == 'A' || g->how == '?' || cmd_changes_old(c->set, g,
	    text, &e) == -1)
		return false;
	return text->p != NULL;
}

static struct spec_suite *
load(struct choice *c, bool old)
{
	struct spec_notes notes = { .arena = c->arena, .vars = c->run->vars,
		.trust = c->run->opt.execution.trust };

	if (old) {
		notes.edited = read_old;
		notes.editor = c;
	}
	return spec_load_part(c->arena, c->suite->path, &notes);
}

static bool
is_new(const struct git_change *g)
{
	return g != NULL && (g->how == 'A' || g->how == '?');
}

/* A task of the same id in the old suite; most have kept their place. */
static size_t
find_old(const struct spec_suite *was, struct str id, size_t at)
{
	size_t i;

	for (i = 0; i < was->ntasks; i++, at++)
		if (str_eq(was->tasks[at % was->ntasks].id, id))
			return at % was->ntasks;
	return was->ntasks;
}

static void
compare_tasks(struct choice *c, const struct run_digest *now,
    const struct run_digest *was)
{
	const struct spec_task *t;
	const struct git_change *g;
	size_t i, k, n;

	for (i = 0; i < c->now->ntasks; i++) {
		t = &c->now->tasks[i];
		g = t->at.file == NULL ? NULL :
		    cmd_changes_find(c->set, t->at.file, false, &n);
		k = find_old(c->was, t->id, i);
		if (is_new(g) || (g != NULL && (k == c->was->ntasks ||
		    strcmp(now->task[i], was->task[k]) != 0)))
			note(&c->task[i], cmd_change_words(c->arena, g));
		else if (k == c->was->ntasks)
			note(&c->task[i], "the task is new");
		else if (strcmp(now->task[i], was->task[k]) != 0)
			note(&c->task[i], "the task changed");
		else if (c->was->tasks[k].def->quarantined &&
		    !t->def->quarantined)
			note(&c->task[i], "its quarantine ended");
	}
}

/* The parts of the suite that its tasks share. */
static void
compare_parts(struct choice *c, const struct run_digest *now,
    const struct run_digest *was)
{
	static const char *const words[] = {
		[RUN_PART_NAMES] = "name or skill",
		[RUN_PART_VARIABLES] = "inputs",
		[RUN_PART_SETTINGS] = "config",
		[RUN_PART_MOCKS] = "mocks",
		[RUN_PART_SKILLS] = "skill_directories",
		[RUN_PART_INSTRUCTIONS] = "instruction_files",
		[RUN_PART_HOOKS] = "hooks",
		[RUN_PART_GRADERS] = "graders",
		[RUN_PART_TRIGGERS] = "the trigger tests",
	};
	const char *why;
	size_t i;

	for (i = 0; i < RUN_PART_TASK; i++) {
		if (strcmp(now->part[i], was->part[i]) == 0)
			continue;
		why = arena_fmt(c->arena, "%s changed", words[i]).p;
		if (i == RUN_PART_TRIGGERS)
			note(&c->triggers, why);
		else if (i == RUN_PART_GRADERS)
			note(&c->all, why);
		else
			note_all(c, why);
	}
}

static void
compare(struct choice *c)
{
	const char *context = c->run->opt.execution.context_dir;
	const struct run_naming names = { on_name, c },
	    none = { ignore_name, NULL };
	struct run_digest now, was;
	const struct git_change *g;
	size_t n;

	run_digest(c->arena, c->now, context, &names, &now);
	g = cmd_changes_find(c->set, c->suite->path, false, &n);
	if (is_new(g)) {
		note_all(c, claim(c, g, n));
		return;
	}
	c->was = load(c, true);
	if (c->was == NULL) {
		note_all(c, "the suite could not be read before");
		return;
	}
	run_digest(c->arena, c->was, context, &none, &was);
	compare_parts(c, &now, &was);
	compare_tasks(c, &now, &was);
	g = c->now->triggers == NULL ? NULL : cmd_changes_find(c->set,
	    c->now->triggers->file, false, &n);
	if (is_new(g))
		note(&c->triggers, claim(c, g, n));
}

/*
 * Settings that apply to the suite: the nearest .waza.yaml, and --config-path.
 */
static void
add_settings(struct choice *c, const char *dir)
{
	const char *path, *up;
	const struct git_change *g = NULL;
	size_t i, n;

	for (i = 0; dir != NULL && i < 10 && g == NULL; i++, dir = up) {
		path = spec_join(c->arena, dir, STR(".waza.yaml"));
		g = cmd_changes_find(c->set, path, false, &n);
		if (g != NULL)
			note_all(c, claim(c, g, n));
		up = spec_exists(path) ? NULL : spec_parent(c->arena, dir);
	}
}

/*
 * Skills.
 */

/* The front matter without its description, and the body, as one hash. */
static bool
same_but_description(struct choice *c, struct str was, struct str now)
{
	struct str text[2] = { was, now }, body[2], front;
	const struct json *v[2], *m, *o;
	struct err e, warning;
	size_t i;

	for (i = 0; i < 2; i++) {
		front = front_split(text[i], &body[i]);
		v[i] = front.n > 0 ? spec_read_front(c->arena, front,
		    &warning, &e) : NULL;
		if (v[i] == NULL || v[i]->type != JSON_OBJECT)
			return false;
	}
	if (!str_eq(body[0], body[1]))
		return false;
	for (i = 0; i < 2; i++)
		for (m = json_first(v[i]); m != NULL; m = m->next) {
			o = json_get(v[1 - i], json_key(m));
			if (!str_is(json_key(m), "description") &&
			    (o == NULL || !json_equal(m, o)))
				return false;
		}
	return !json_equal(json_getc(v[0], "description"),
	    json_getc(v[1], "description"));
}

static bool
is_description(struct choice *c, const struct git_change *g)
{
	struct str was, now;
	struct err e;

	return g->how == 'M' && (str_is(g->path, "SKILL.md") ||
	    str_ends(g->path, STR("/SKILL.md"))) &&
	    cmd_changes_old(c->set, g, &was, &e) == 0 && was.p != NULL &&
	    os_read_plain(c->arena, spec_join(c->arena, c->set->git.top,
	    g->path), CMD_CHANGE_OLD, &now, &e) == 0 &&
	    same_but_description(c, was, now);
}

/*
 * Agents that find skills choose them by their descriptions; a prompt that
 * has no bodies has nothing else.
 */
static bool
chooses(const struct spec_suite *s, struct str executor)
{
	const struct agent_kind *k = agent_find(executor);
	enum agent_skills_way way = k == NULL ? AGENT_SKILLS_NONE :
	    agent_skills_way(k, s);

	return way == AGENT_SKILLS_NATIVE || way == AGENT_SKILLS_DIRECTORIES ||
	    (way == AGENT_SKILLS_PROMPT && !s->config.inject_skill_body);
}

static void
add_description(struct choice *c, const struct git_change *g)
{
	const struct spec_suite *s = c->suite->spec;
	const struct field_strs *all = &s->matrix.executor;
	struct str one = c->suite->run.executor;
	const char *why = arena_fmt(c->arena, "the description in %.*s "
	    "changed", STRF(utf8_cut(g->path, 200))).p;
	size_t i;

	note(&c->triggers, why);
	if ((one.n > 0 || all->n == 0) && chooses(s, one.n > 0 ? one :
	    s->config.executor))
		note(&c->all, why);
	for (i = 0; i < all->n && one.n == 0; i++)
		if (chooses(s, all->v[i]))
			note(&c->all, why);
}

/* Whether a directory between the two holds another suite. */
static bool
is_in_suite_below(struct choice *c, struct str dir, struct str path)
{
	static const char *const names[] = { "eval.yaml", "eval.yml" };
	size_t i, k;

	for (i = dir.n > 0 ? dir.n + 1 : 0; i < path.n; i++)
		for (k = 0; path.p[i] == '/' && k < COUNTOF(names); k++)
			if (spec_exists(arena_fmt(c->arena, "%s/%.*s/%s",
			    c->set->git.top, (int)i, path.p, names[k]).p))
				return true;
	return false;
}

/* A skill may contain its suites, which are not part of it. */
static void
add_skill(struct choice *c, const char *path)
{
	const struct git_change *g;
	struct str dir;
	size_t i, n;

	if (!cmd_changes_locate(c->set, path, &dir)) {
		note_all(c, arena_fmt(c->arena, "changes of the skills in "
		    "%.200s are unknown: it is not in the repository",
		    path).p);
		return;
	}
	g = cmd_changes_find(c->set, path, true, &n);
	for (i = 0; g != NULL && i < n; i++, g++) {
		if (c->claimed[g - c->set->v] ||
		    is_in_suite_below(c, dir, g->path))
			continue;
		if (is_description(c, g)) {
			(void)claim(c, g, 1);
			add_description(c, g);
		} else
			note_all(c, claim(c, g, 1));
	}
}

static void
add_skills(struct choice *c)
{
	const struct str *v = (const struct str *)(const void *)c->skills.p;
	size_t i;

	for (i = 0; i < c->skills.n / sizeof(*v); i++)
		add_skill(c, v[i].p);
}

/* Whether a deleted file was that of a task: it was beside those of others. */
static bool
was_task(struct choice *c, const struct git_change *g)
{
	const char *path = spec_join(c->arena, c->set->git.top, g->path);
	const struct spec_task *t = c->now->tasks;
	size_t i;

	if (g->how != 'D' || (!str_ends(g->path, STR(".yaml")) &&
	    !str_ends(g->path, STR(".yml"))))
		return false;
	for (i = 0; i < c->now->ntasks; i++)
		if (t[i].at.file != NULL && spec_same_dir(spec_dir_of(
		    c->arena, t[i].at.file), spec_dir_of(c->arena, path)))
			return true;
	return str_ends(str_of(spec_dir_of(c->arena, path)), STR("/tasks"));
}

/* Whether a file beside the suite that nothing names can affect no task. */
static bool
is_harmless(struct choice *c, const struct git_change *g)
{
	static const char *const names[] = { "README*", "CHANGE*",
		"LICENSE*", ".*" };
	struct str name = str_base(g->path);
	size_t k;

	for (k = 0; k < COUNTOF(names); k++)
		if (glob_match(str_of(names[k]), name))
			return true;
	return g->how == '?' || was_task(c, g) ||
	    is_in_suite_below(c, c->dir, g->path);
}

/* Files beside the suite that nothing names, but a program may read. */
static void
add_others(struct choice *c)
{
	const struct git_change *g;
	size_t i, n;

	g = cmd_changes_at(c->set, c->dir, true, &n);
	for (i = 0; g != NULL && i < n; i++, g++) {
		if (c->claimed[g - c->set->v] || is_harmless(c, g))
			continue;
		note_all(c, arena_fmt(c->arena, "%s, and any task may use it",
		    claim(c, g, 1)).p);
	}
}

/*
 * The result.
 */
struct picked {
	struct str id;
	const char *why;
};

static int
by_id(const void *a, const void *b)
{
	return str_cmp(((const struct picked *)a)->id,
	    ((const struct picked *)b)->id);
}

/*
 * Tasks and trigger tests of all shards: also a shard without one of them has a
 * results file.
 */
static size_t
count_changed(const struct cmd_suite *s)
{
	struct run_opts all = s->run;

	all.shards = 0;
	return run_count_tasks(s->spec, &all) +
	    run_count_triggers(s->spec, &all);
}

static void
pick(struct choice *c)
{
	struct cmd_suite *s = c->suite;
	struct arena *a = c->run->job.call->arena;
	struct picked *v = NEW_N(c->arena, struct picked, c->now->ntasks);
	struct run_only *only = NEW(a, struct run_only);
	const char *why;
	size_t i, n = 0;

	for (i = 0; i < c->now->ntasks; i++) {
		why = c->task[i] != NULL ? c->task[i] : c->all;
		if (why != NULL)
			v[n++] = (struct picked){ c->now->tasks[i].id,
			    arena_str(a, str_of(why)).p };
	}
	if (n > 0)
		qsort(v, n, sizeof(*v), by_id);
	only->ids = NEW_N(a, struct str, n);
	only->why = NEW_N(a, const char *, n);
	only->n = n;
	for (i = 0; i < n; i++) {
		only->ids[i] = arena_str(a, v[i].id);
		only->why[i] = v[i].why;
	}
	s->run.only = only;
	if (c->triggers == NULL)
		s->run.no_triggers = true;
	else
		s->why_triggers = arena_str(a, str_of(c->triggers)).p;
	s->selected = count_changed(s) > 0;
}

static int
choose(struct cmd_run *r, struct cmd_suite *s, struct cmd_changes *set)
{
	struct arena a = { 0 };
	struct choice it = { .run = r, .suite = s, .set = set, .arena = &a };
	const char *dir = spec_dir_of(&a, s->path);
	int status = 0;

	it.claimed = NEW_N(&a, bool, set->n + 1);
	it.now = load(&it, false);
	if (it.now == NULL || !cmd_changes_locate(set, dir, &it.dir))
		status = err_set(r->job.call->err, ERR_SCHEMA, "%s: the "
		    "suite is not in the repository %s", s->path,
		    set->git.top);
	else {
		it.task = NEW_N(&a, const char *, it.now->ntasks);
		compare(&it);
		add_settings(&it, dir);
		add_settings(&it, ".");
		add_skills(&it);
		add_others(&it);
		pick(&it);
	}
	buf_free(&it.skills);
	arena_free(&a);
	return status;
}

/* The changes of the repository around the suite, found once for each. */
static struct cmd_changes *
changes_of(struct cmd_run *r, const struct cmd_suite *s,
    struct cmd_changes *v, size_t *n)
{
	struct arena *a = r->job.call->arena;
	const char *dir = spec_dir_of(a, s->path);
	struct str below;
	size_t i;

	for (i = 0; i < *n; i++)
		if (cmd_changes_locate(&v[i], dir, &below))
			return &v[i];
	if (*n == REPOS_MAX) {
		err_set(r->job.call->err, ERR_LIMIT, "the suites are in more "
		    "than %d repositories", REPOS_MAX);
		return NULL;
	}
	if (cmd_changes_open(&v[*n], a, dir, r->opt.selection.changed,
	    r->job.call->err) == -1)
		return NULL;
	return &v[(*n)++];
}

int
cmd_run_changed(struct cmd_run *r)
{
	struct arena *a = r->job.call->arena;
	struct cmd_changes *v, *set;
	size_t i, n = 0, selected = 0;
	int status = 0;

	if (r->opt.selection.changed == NULL)
		return 0;
	v = NEW_N(a, struct cmd_changes, REPOS_MAX);
	for (i = 0; i < r->nsuites && status == 0; i++) {
		if (!r->suites[i].selected)
			continue;
		set = changes_of(r, &r->suites[i], v, &n);
		if (set == NULL)
			status = -1;
		else {
			r->since = cmd_changes_since(set);
			status = choose(r, &r->suites[i], set);
			selected += r->suites[i].selected;
		}
	}
	r->idle = r->since.n > 0 && selected == 0;
	for (i = 0; i < n; i++)
		cmd_changes_close(&v[i]);
	return status;
}

bool
cmd_run_report_changed(const struct cmd_run *r)
{
	size_t i, n = 0, all = 0;

	for (i = 0; i < r->nsuites && r->since.n > 0; i++) {
		n += run_count_tasks(r->suites[i].spec, &r->suites[i].run);
		all += r->suites[i].spec->ntasks;
	}
	if (r->idle)
		cmd_say("waza: nothing that the suites use has changed since "
		    "%.*s: no task to run\n", STRF(r->since));
	else if (r->since.n > 0 && !r->opt.job.quiet)
		cmd_say("waza: %zu of %zu task%s changed since %.*s\n", n, all,
		    all == 1 ? "" : "s", STRF(r->since));
	return r->idle;
}
