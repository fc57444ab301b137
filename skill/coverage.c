/* SPDX-License-Identifier: ISC */
/* Finds skills and suites and counts; coverage.h has the rules. */
#include "skill/coverage.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"
#include "skill/skill.h"
#include "suite/spec.h"
#include "yaml_lite.h"

enum { EVAL_MAX = 16 << 20 };	/* bytes of a suite */

static const char *const skill_places[] = { "skills", ".github/skills",
	".agents/skills", ".claude/skills" };
static const char *const eval_names[] = { "eval.yaml", "eval.yml" };
static const char *const own_places[] = { "", "evals/", "tests/" };

/* A suite that was found. */
struct found {
	const char *path, *real;
};

struct search {
	struct arena *arena;
	struct arena scratch;	/* of one file */
	const struct coverage_opts *o;
	struct buf skills;	/* of struct coverage_skill */
	struct buf evals;	/* of struct found */
	struct buf warnings;	/* of struct str */
	struct err *err;
};

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Walks
 */
static int
add_skill(struct search *s, const char *file, struct str fallback)
{
	struct coverage_skill k = { .file = file };
	struct arena_mark mark = arena_save(&s->scratch);
	struct spec_skill skill;
	struct err ignored;

	if (s->skills.n / sizeof(k) == COVERAGE_MAX)
		return err_set(s->err, ERR_LIMIT, "more than %d skills",
		    COVERAGE_MAX);
	k.name = fallback;
	if (spec_read_skill(&s->scratch, file, &skill, &ignored) == 0 &&
	    str_trim(skill.name).n > 0)
		k.name = str_trim(skill.name);
	k.name = arena_str(s->arena, k.name);
	arena_restore(&s->scratch, mark);
	buf_put(&s->skills, (struct str){ (const char *)&k, sizeof(k) });
	return 0;
}

static int
add_eval(struct search *s, const char *path)
{
	struct found f = { path, os_real(s->arena, path) };

	if (s->evals.n / sizeof(f) == COVERAGE_MAX)
		return err_set(s->err, ERR_LIMIT, "more than %d suites",
		    COVERAGE_MAX);
	if (f.real != NULL)
		buf_put(&s->evals, (struct str){ (const char *)&f,
		    sizeof(f) });
	return 0;
}

/* The skills of one directory. */
static int
take_skills(struct search *s, const char *dir, const struct field_strs *names)
{
	struct str end = STR(".agent.md");
	const char *file = spec_join(s->arena, dir, STR("SKILL.md"));
	size_t i;

	if (is_file(file))
		return add_skill(s, file, skill_dir_name(s->arena, dir));
	for (i = 0; i < names->n; i++) {
		if (!str_ends(names->v[i], end) || names->v[i].n == end.n)
			continue;
		file = spec_join(s->arena, dir, names->v[i]);
		if (is_file(file) && add_skill(s, file, (struct str){
		    names->v[i].p, names->v[i].n - end.n }) == -1)
			return -1;
	}
	return 0;
}

static int
take_evals(struct search *s, const char *dir)
{
	const char *file;
	size_t i;

	for (i = 0; i < COUNTOF(eval_names); i++) {
		file = spec_join(s->arena, dir, str_of(eval_names[i]));
		if (is_file(file) && add_eval(s, file) == -1)
			return -1;
	}
	return 0;
}

static int
walk(struct search *s, const char *dir, bool skills, bool evals,
    unsigned depth)
{
	struct field_strs names;
	const char *path;
	struct stat st;
	size_t i;

	if (depth > COVERAGE_DEPTH || spec_list(s->arena, dir, &names) == -1)
		return 0;
	if ((skills && take_skills(s, dir, &names) == -1) ||
	    (evals && take_evals(s, dir) == -1))
		return -1;
	for (i = 0; i < names.n; i++) {
		if (names.v[i].p[0] == '.' || str_is(names.v[i],
		    "node_modules") || str_is(names.v[i], "vendor"))
			continue;
		path = spec_join(s->arena, dir, names.v[i]);
		if (lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    walk(s, path, skills, evals, depth + 1) == -1)
			return -1;
	}
	return 0;
}

static int
walk_places(struct search *s)
{
	const struct coverage_opts *o = s->o;
	size_t i;

	for (i = 0; i < COUNTOF(skill_places); i++)
		if (walk(s, spec_join(s->arena, o->root,
		    str_of(skill_places[i])), true, false, 0) == -1)
			return -1;
	if ((o->skills != NULL && walk(s, o->skills, true, false, 0) == -1) ||
	    (o->evals != NULL && walk(s, o->evals, false, true, 0) == -1) ||
	    walk(s, spec_join(s->arena, o->root, STR("evals")), false, true,
	    0) == -1 || take_evals(s, o->root) == -1)
		return -1;
	for (i = 0; i < o->npaths; i++)
		if (walk(s, spec_join(s->arena, o->root, str_of(o->paths[i])),
		    true, true, 0) == -1)
			return -1;
	return 0;
}

/*
 * Skills by name
 */
static int
by_name(const void *a, const void *b)
{
	const struct coverage_skill *x = a, *y = b;

	return str_cmp(x->name, y->name);
}

/* Sorts by name and keeps the first of each; qsort() is not stable. */
static int
by_name_and_order(const void *a, const void *b)
{
	const struct coverage_skill *x = a, *y = b;
	int r = str_cmp(x->name, y->name);

	return r != 0 ? r : x->evals < y->evals ? -1 : x->evals > y->evals;
}

static void
sort_skills(struct search *s, struct coverage *out)
{
	struct coverage_skill *v = (struct coverage_skill *)(void *)s->skills.p;
	size_t n = s->skills.n / sizeof(*v), i;

	for (i = 0; i < n; i++)
		v[i].evals = i;		/* the order, until they are sorted */
	if (n > 0)
		qsort(v, n, sizeof(*v), by_name_and_order);
	out->v = NEW_N(s->arena, struct coverage_skill, n);
	for (i = 0; i < n; i++)
		if (out->n == 0 || !str_eq(out->v[out->n - 1].name,
		    v[i].name)) {
			out->v[out->n] = v[i];
			out->v[out->n++].evals = 0;
		}
}

static struct coverage_skill *
find_skill(struct coverage *c, struct str name)
{
	struct coverage_skill key = { .name = name };
	size_t i = search_first(&key, c->v, c->n, sizeof(key), by_name);

	return i < c->n && str_eq(c->v[i].name, name) ? &c->v[i] : NULL;
}

static int
take_own_evals(struct search *s, const struct coverage *c)
{
	const char *dir;
	size_t i, k;

	for (i = 0; i < c->n; i++)
		for (k = 0; k < COUNTOF(own_places); k++) {
			dir = spec_dir_of(s->arena, c->v[i].file);
			if (take_evals(s, *own_places[k] == '\0' ? dir :
			    spec_join(s->arena, dir, (struct str){
			    own_places[k], strlen(own_places[k]) - 1 })) == -1)
				return -1;
		}
	return 0;
}

/*
 * Suites
 */
static void
add_kinds(struct arena *a, struct buf *kinds, const struct spec_graders *g)
{
	const struct str *v;
	struct str kind;
	size_t i, n;

	for (i = 0; i < g->n; i++) {
		v = (const struct str *)(void *)kinds->p;
		for (n = 0; n < kinds->n / sizeof(*v); n++)
			if (str_eq(v[n], g->v[i].type))
				break;
		if (n < kinds->n / sizeof(*v) || g->v[i].type.n == 0)
			continue;
		kind = arena_str(a, g->v[i].type);
		buf_put(kinds, (struct str){ (const char *)&kind,
		    sizeof(kind) });
	}
}

/* Adds what a suite has to its skill. */
static void
count_suite(struct search *s, const char *path, const struct json *root,
    struct coverage_skill *k)
{
	struct spec_notes notes = { .arena = &s->scratch };
	const struct spec_suite *suite = spec_load_part(&s->scratch, path,
	    &notes);
	const struct json *tasks = json_getc(root, "tasks");
	const struct json *foreign = json_getc(root, "evals");
	struct buf kinds = { 0 };
	size_t i;

	k->evals++;
	if (tasks == NULL)
		tasks = foreign;
	k->patterns += tasks == NULL || tasks->type == JSON_NULL ?
	    json_getc(root, "tasks_from") != NULL : tasks->type == JSON_ARRAY ?
	    json_count(tasks) : 1;
	if (suite == NULL)
		return;
	k->tasks += suite->ntasks;
	k->triggers += suite->triggers != NULL ? suite->triggers->n : 0;
	for (i = 0; i < k->kinds.n; i++)
		buf_put(&kinds, (struct str){ (const char *)&k->kinds.v[i],
		    sizeof(struct str) });
	add_kinds(s->arena, &kinds, &suite->graders);
	for (i = 0; i < suite->ntasks; i++)
		add_kinds(s->arena, &kinds, &suite->tasks[i].def->graders);
	k->kinds.n = kinds.n / sizeof(struct str);
	k->kinds.v = NEW_N(s->arena, struct str, k->kinds.n);
	if (kinds.n > 0) {
		memcpy(k->kinds.v, kinds.p, kinds.n);
		qsort(k->kinds.v, k->kinds.n, sizeof(struct str), str_order);
	}
	buf_free(&kinds);
}

static void
warn(struct search *s, struct str message)
{
	buf_put(&s->warnings, (struct str){ (const char *)&message,
	    sizeof(message) });
}

/* The skill that a suite belongs to; NULL: none of the project's. */
static struct coverage_skill *
owner_of(struct search *s, struct coverage *c, const char *path,
    const struct json *root)
{
	struct str skill = json_str(root, "skill"), name;
	const char *dir = spec_dir_of(&s->scratch, path), *up;

	if (skill.n > 0)
		return find_skill(c, skill);
	if (json_str(root, "scenario").n > 0)
		return NULL;
	name = skill_dir_name(&s->scratch, dir);
	if (str_is(name, "evals") || str_is(name, "tests")) {
		up = spec_parent(&s->scratch, dir);
		name = up != NULL ? skill_dir_name(&s->scratch, up) : name;
	}
	return find_skill(c, name);
}

/* k: the skill that the suite belongs to; NULL: the suite decides. */
static void
read_eval(struct search *s, struct coverage *c, const char *path,
    struct coverage_skill *k)
{
	struct arena_mark mark = arena_save(&s->scratch);
	const struct json *root = NULL;
	struct err e = { 0 };
	struct str text;

	if (os_read_plain(&s->scratch, path, EVAL_MAX, &text, &e) == 0)
		root = yaml_read_one(&s->scratch, text, &e);
	if (root == NULL || root->type != JSON_OBJECT)
		warn(s, arena_fmt(s->arena, "%s: %s", path, root == NULL ?
		    e.msg : "not a mapping"));
	else if (k != NULL || (k = owner_of(s, c, path, root)) != NULL)
		count_suite(s, path, root, k);
	arena_restore(&s->scratch, mark);
}

static int
by_real(const void *a, const void *b)
{
	const struct found *x = a, *y = b;
	int r = strcmp(x->real, y->real);

	return r != 0 ? r : strcmp(x->path, y->path);
}

static void
read_evals(struct search *s, struct coverage *c)
{
	struct found *v = (struct found *)(void *)s->evals.p;
	size_t n = s->evals.n / sizeof(*v), i;

	if (n > 0)
		qsort(v, n, sizeof(*v), by_real);
	for (i = 0; i < n; i++)
		if (i == 0 || strcmp(v[i].real, v[i - 1].real) != 0)
			read_eval(s, c, v[i].path, NULL);
}

/* Evals in the format of agentskills.io, of skills without a suite. */
static void
read_foreign(struct search *s, struct coverage *c)
{
	const char *path;
	size_t i;

	for (i = 0; i < c->n; i++) {
		path = spec_join(s->arena, spec_dir_of(s->arena,
		    c->v[i].file), STR("evals/evals.json"));
		if (c->v[i].evals == 0 && is_file(path))
			read_eval(s, c, path, &c->v[i]);
	}
}

int
coverage_read(struct arena *a, const struct coverage_opts *o,
    struct coverage *c, struct err *e)
{
	struct search s = { .arena = a, .o = o, .err = e };
	struct coverage_skill *k;
	struct stat st;
	size_t i;
	int r = -1;

	*c = (struct coverage){ 0 };
	if (stat(o->root, &st) == -1)
		return err_sys(e, o->root);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_SCHEMA, "%s: not a directory", o->root);
	if (walk_places(&s) == 0) {
		sort_skills(&s, c);
		r = take_own_evals(&s, c);
	}
	if (r == 0) {
		read_evals(&s, c);
		read_foreign(&s, c);
	}
	for (i = 0; i < c->n; i++) {
		k = &c->v[i];
		k->level = k->evals == 0 ? COVERAGE_NONE : k->tasks > 0 &&
		    k->kinds.n >= COVERAGE_KINDS ? COVERAGE_FULL :
		    COVERAGE_PARTIAL;
		c->count[k->level]++;
	}
	c->warnings.n = s.warnings.n / sizeof(struct str);
	c->warnings.v = NEW_N(a, struct str, c->warnings.n);
	if (s.warnings.n > 0)
		memcpy(c->warnings.v, s.warnings.p, s.warnings.n);
	buf_free(&s.skills);
	buf_free(&s.evals);
	buf_free(&s.warnings);
	arena_free(&s.scratch);
	return r;
}
