/* SPDX-License-Identifier: ISC */
/*
 * Finds the skills and suites of a project; catalog.h has the rules.
 *
 * Every walk reads each directory once, told by device and inode, so links
 * that lead back or to the same place cost nothing and end.
 */
#include "skill/catalog.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "json.h"
#include "skill/skill.h"
#include "suite/config.h"
#include "suite/spec.h"
#include "yaml_lite.h"

enum { EVAL_MAX = 16 << 20 };	/* bytes of a suite that is looked into */

/* The places of skills after `paths.skills`, relative to the root. */
static const char *const skill_places[] = {
	".github/skills", ".agents/skills", ".claude/skills", ".apm/skills",
};

/* Where custom agents are, without skills and subdirectories. */
static const char *const agent_places[] = { "agents", ".github/agents" };

/* Where the suite of a skill is in its own directory. */
static const char *const own_places[] = { "evals/", "", "tests/" };

struct place {			/* a directory or file that was met */
	dev_t dev;
	ino_t ino;
	bool used;
};

struct places {			/* a hash table; the zero value is empty */
	struct place *v;
	size_t room, n;		/* room: a power of two */
};

struct search {
	struct arena *arena;
	struct arena scratch;		/* of one file */
	struct arena tables;
	struct catalog *out;
	struct buf entries;		/* of struct catalog_entry */
	size_t *names;			/* a hash table of 1 + index */
	size_t room;
	struct places dirs, evals;
	struct str files[3];		/* the names of suites */
	size_t nfiles;
	bool suites;			/* search suites, not skills */
	const char *base;		/* names are relative to it */
	struct err *err;
};

static struct place *
find_place(struct place *v, size_t room, const struct place *p)
{
	size_t i = ((size_t)p->ino * 2654435761U ^ (size_t)p->dev) &
	    (room - 1);

	while (v[i].used && (v[i].ino != p->ino || v[i].dev != p->dev))
		i = (i + 1) & (room - 1);
	return &v[i];
}

static void
grow_places(struct arena *a, struct places *t)
{
	size_t room = t->room > 0 ? t->room * 2 : 256, i;
	struct place *v = NEW_N(a, struct place, room);

	for (i = 0; i < t->room; i++)
		if (t->v[i].used)
			*find_place(v, room, &t->v[i]) = t->v[i];
	t->v = v;
	t->room = room;
}

/* Whether it has been met before; from now on it has. */
static bool
is_met(struct search *s, struct places *t, const struct stat *st)
{
	struct place p = { st->st_dev, st->st_ino, true }, *at;

	if (2 * t->n >= t->room)
		grow_places(&s->tables, t);
	at = find_place(t->v, t->room, &p);
	if (at->used)
		return true;
	*at = p;
	t->n++;
	return false;
}

static bool
is_entered(struct str name)
{
	return name.p[0] != '.' && !str_is(name, "node_modules") &&
	    !str_is(name, "vendor");
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/*
 * Entries.
 */
static struct catalog_entry *
entry_at(const struct search *s, size_t i)
{
	return (struct catalog_entry *)(void *)s->entries.p + i;
}

static size_t
count(const struct search *s)
{
	return s->entries.n / sizeof(struct catalog_entry);
}

/* The cell of a name in the table: its own, or a free one. */
static size_t *
find_cell(const struct search *s, struct str name)
{
	size_t i = (size_t)str_hash(name) & (s->room - 1);

	while (s->names[i] != 0 &&
	    !str_eq(entry_at(s, s->names[i] - 1)->name, name))
		i = (i + 1) & (s->room - 1);
	return &s->names[i];
}

static struct catalog_entry *
find_entry(const struct search *s, struct str name)
{
	size_t i = s->room > 0 ? *find_cell(s, name) : 0;

	return i > 0 ? entry_at(s, i - 1) : NULL;
}

static void
grow_names(struct search *s)
{
	size_t i, n = count(s);

	s->room = s->room > 0 ? s->room * 2 : 256;
	s->names = NEW_N(&s->tables, size_t, s->room);
	for (i = 0; i < n; i++)
		*find_cell(s, entry_at(s, i)->name) = i + 1;
}

/* The name is new. */
static int
add_entry(struct search *s, const struct catalog_entry *e)
{
	if (count(s) == CATALOG_MAX)
		return err_set(s->err, ERR_LIMIT, "%s has more than %d skills "
		    "and suites", s->out->root != NULL ? s->out->root : ".",
		    CATALOG_MAX);
	if (2 * count(s) >= s->room)
		grow_names(s);
	*find_cell(s, e->name) = count(s) + 1;
	buf_put(&s->entries, (struct str){ (const char *)e, sizeof(*e) });
	s->out->nskills += e->skill_dir != NULL;
	s->out->nevals += e->eval != NULL;
	return 0;
}

/* `other`: the name of a skill whose front matter has none. */
static int
add_named(struct search *s, const char *dir, const char *file,
    struct str other)
{
	struct arena_mark mark = arena_save(&s->scratch);
	struct catalog_entry e = { .skill_dir = arena_cstr(s->arena,
		str_of(dir)), .skill_file = arena_cstr(s->arena,
		str_of(file)) };
	struct spec_skill skill;
	struct err bad;

	if (spec_read_skill(&s->scratch, file, &skill, &bad) == 0 &&
	    str_trim(skill.name).n > 0)
		other = str_trim(skill.name);
	e.name = arena_str(s->arena, other);
	arena_restore(&s->scratch, mark);
	return find_entry(s, e.name) != NULL ? 0 : add_entry(s, &e);
}

static int
add_skill(struct search *s, const char *dir, const char *file)
{
	return add_named(s, dir, file, skill_dir_name(s->arena, dir));
}

/* Adds the custom agents of a directory; 1 if it has any, 0, or -1. */
static int
add_agents(struct search *s, const char *dir, const struct field_strs *names)
{
	struct str stem;
	const char *file;
	size_t i;
	int r = 0;

	for (i = 0; i < names->n; i++) {
		if (!spec_is_agent(names->v[i]))
			continue;
		file = spec_join(s->arena, dir, names->v[i]);
		stem = names->v[i];
		stem.n -= sizeof(SPEC_AGENT_ENDING) - 1;
		if (!is_file(file))
			continue;
		if (add_named(s, dir, file, stem) == -1)
			return -1;
		r = 1;
	}
	return r;
}

/*
 * Suites.
 */

/* The first file of that directory with the name of a suite, or NULL. */
static const char *
eval_in(struct search *s, const char *dir, struct str sub)
{
	const char *path;
	size_t i;

	for (i = 0; i < s->nfiles; i++) {
		path = arena_fmt(s->arena, "%s%s%.*s%.*s",
		    strcmp(dir, ".") == 0 ? "" : dir,
		    strcmp(dir, ".") == 0 || str_ends(str_of(dir), STR("/")) ?
		    "" : "/", STRF(sub), STRF(s->files[i])).p;
		if (is_file(path))
			return path;
	}
	return NULL;
}

/* The skill that a suite names; empty if it names none or is not readable. */
static struct str
skill_of(struct search *s, const char *eval)
{
	const struct json *v, *m = NULL;
	struct str text;
	struct err bad;

	if (os_read_plain(&s->scratch, eval, EVAL_MAX, &text, &bad) == 0 &&
	    (v = yaml_read_one(&s->scratch, text, &bad)) != NULL)
		m = json_getc(v, "skill");
	return m != NULL && m->type == JSON_STRING ? json_text(m) : STR("");
}

/* The directory of a custom agent is not its own: others can be beside it. */
static bool
is_agent(const struct catalog_entry *e)
{
	return e->skill_file != NULL && spec_is_agent(str_of(e->skill_file));
}

/* Whether a suite in the directory of an agent is for another one. */
static bool
is_for_other(struct search *s, const struct catalog_entry *e, const char *eval)
{
	struct arena_mark mark = arena_save(&s->scratch);
	struct str name;
	bool other;

	if (eval == NULL || !is_agent(e))
		return false;
	name = skill_of(s, eval);
	other = name.n > 0 && !str_eq(name, e->name);
	arena_restore(&s->scratch, mark);
	return other;
}

static const char *
eval_of(struct search *s, const struct catalog_entry *e)
{
	struct str dirs[2] = { e->name, str_base(str_of(e->skill_dir)) };
	size_t i, n = is_agent(e) ? 1 : COUNTOF(dirs);
	const char *found = NULL;

	for (i = 0; i < n && found == NULL; i++)
		if (dirs[i].n > 0 && memchr(dirs[i].p, '/', dirs[i].n) == NULL)
			found = eval_in(s, spec_join(s->arena, s->out->evals,
			    dirs[i]), STR(""));
	for (i = 0; i < COUNTOF(own_places) && found == NULL; i++) {
		found = eval_in(s, e->skill_dir, str_of(own_places[i]));
		if (is_for_other(s, e, found))
			found = NULL;
	}
	return found;
}

static void
set_eval(struct search *s, struct catalog_entry *e, const char *eval)
{
	struct stat st;

	e->eval = eval;
	if (eval == NULL)
		return;
	s->out->nevals++;
	if (stat(eval, &st) == 0)
		(void)is_met(s, &s->evals, &st);
}

/* The path from one directory to another below it; empty: not below it. */
static struct str
path_below(const char *base, const char *dir)
{
	size_t n = strlen(base);

	if (strcmp(base, ".") == 0)
		return dir[0] == '/' || dir[0] == '.' ? STR("") : str_of(dir);
	return strncmp(dir, base, n) == 0 && dir[n] == '/' ?
	    str_of(dir + n + 1) : STR("");
}

/* The name of a suite: its directory's path in its place, or in the root. */
static struct str
suite_name(struct search *s, const char *dir)
{
	struct str name = path_below(s->base, dir);

	if (name.n == 0)
		name = skill_dir_name(s->arena, dir);
	if (find_entry(s, name) != NULL)
		name = path_below(s->out->root, dir);
	return name.n > 0 && find_entry(s, name) == NULL ? name : str_of(dir);
}

static int
add_suite(struct search *s, const char *dir, const char *eval)
{
	struct arena_mark mark = arena_save(&s->scratch);
	struct catalog_entry e = { .eval = eval }, *skill = NULL;
	struct stat st;
	struct str name;

	if (stat(eval, &st) == -1 || is_met(s, &s->evals, &st))
		return 0;
	name = skill_of(s, eval);
	if (name.n > 0)
		skill = find_entry(s, name);
	arena_restore(&s->scratch, mark);
	if (skill != NULL && skill->eval == NULL) {
		set_eval(s, skill, eval);
		return 0;
	}
	e.name = arena_str(s->arena, suite_name(s, dir));
	return find_entry(s, e.name) != NULL ? 0 : add_entry(s, &e);
}

/*
 * Walks.
 */

/* Takes what the directory itself is: 1 to read on below it, 0, or -1. */
static int
take(struct search *s, const char *dir)
{
	const char *file;

	if (s->suites) {
		file = eval_in(s, dir, STR(""));
		return file != NULL && add_suite(s, dir, file) == -1 ? -1 : 1;
	}
	file = spec_join(s->arena, dir, STR("SKILL.md"));
	return is_file(file) ? add_skill(s, dir, file) : 1;
}

/* The entries of a directory in which take() found nothing. */
static int
take_agents(struct search *s, const char *dir, const struct field_strs *names)
{
	return s->suites ? 0 : add_agents(s, dir, names);
}

static int
walk(struct search *s, const char *dir, unsigned depth)
{
	struct field_strs names;
	struct stat st;
	const char *path;
	size_t i;
	int r;

	if (stat(dir, &st) == -1 || !S_ISDIR(st.st_mode) ||
	    is_met(s, &s->dirs, &st))
		return 0;
	if (s->dirs.n > CATALOG_DIRS_MAX)
		return err_set(s->err, ERR_LIMIT, "%s has more than %d "
		    "directories", s->out->root, CATALOG_DIRS_MAX);
	r = take(s, dir);
	if (r != 1 || depth == CATALOG_DEPTH ||
	    spec_list(s->arena, dir, &names) == -1)
		return r == -1 ? -1 : 0;
	if (take_agents(s, dir, &names) == -1)
		return -1;
	for (i = 0; i < names.n; i++) {
		if (!is_entered(names.v[i]))
			continue;
		path = spec_join(s->arena, dir, names.v[i]);
		if (walk(s, path, depth + 1) == -1)
			return -1;
	}
	return 0;
}

static int
search_place(struct search *s, const char *dir)
{
	s->base = dir;
	return walk(s, dir, 0);
}

static const char *
below_root(const struct search *s, const char *path)
{
	return spec_join(s->arena, s->out->root, str_of(path));
}

/* The subdirectories of the root, for a directory of skills. */
static int
search_children(struct search *s)
{
	struct field_strs names, below;
	const char *dir, *file;
	size_t i;

	if (spec_list(s->arena, s->out->root, &names) == -1)
		return 0;
	for (i = 0; i < names.n; i++) {
		dir = below_root(s, names.v[i].p);
		file = spec_join(s->arena, dir, STR("SKILL.md"));
		if (!is_entered(names.v[i]))
			continue;
		if (is_file(file) ? add_skill(s, dir, file) == -1 :
		    spec_list(s->arena, dir, &below) == 0 &&
		    add_agents(s, dir, &below) == -1)
			return -1;
	}
	return 0;
}

static int
search_skills(struct search *s, bool whole)
{
	struct field_strs names;
	const char *dir;
	size_t i;

	if (search_place(s, whole ? s->out->root : s->out->skills) == -1)
		return -1;
	for (i = 0; i < COUNTOF(skill_places); i++)
		if (search_place(s, below_root(s, skill_places[i])) == -1)
			return -1;
	for (i = 0; i < COUNTOF(agent_places) && !whole; i++) {
		dir = below_root(s, agent_places[i]);
		if (spec_list(s->arena, dir, &names) == 0 &&
		    add_agents(s, dir, &names) == -1)
			return -1;
	}
	return whole || count(s) > 0 ? 0 : search_children(s);
}

/* Evals in the format of agentskills.io, of skills without a suite. */
static void
search_foreign(struct search *s)
{
	struct catalog_entry *e;
	const char *path;
	size_t i;

	for (i = 0; i < s->out->nskills; i++) {
		e = entry_at(s, i);
		path = spec_join(s->arena, e->skill_dir,
		    STR("evals/evals.json"));
		if (e->eval != NULL || !is_file(path))
			continue;
		e->foreign = path;
		s->out->nforeign++;
	}
}

/* The suite in the root, if it names a skill without another one. */
static void
take_root_suite(struct search *s)
{
	const char *eval = eval_in(s, s->out->root, STR(""));
	struct arena_mark mark = arena_save(&s->scratch);
	struct catalog_entry *skill = eval == NULL ? NULL :
	    find_entry(s, skill_of(s, eval));

	if (skill != NULL && skill->eval == NULL)
		set_eval(s, skill, eval);
	arena_restore(&s->scratch, mark);
}

static int
search_suites(struct search *s, bool whole)
{
	size_t i, n = count(s);

	for (i = 0; i < n; i++)
		set_eval(s, entry_at(s, i), eval_of(s, entry_at(s, i)));
	if (s->out->single)
		return 0;
	s->suites = true;
	s->dirs = (struct places){ 0 };
	if (whole)
		return search_place(s, s->out->root);
	if (search_place(s, s->out->evals) == -1 ||
	    search_place(s, below_root(s, "tests")) == -1)
		return -1;
	take_root_suite(s);
	return 0;
}

/*
 * The whole.
 */

/* Finds the skill that the directory belongs to. */
static int
search_above(struct search *s, const char *dir)
{
	struct field_strs names;
	const char *file;
	size_t i;
	int r;

	for (i = 0; dir != NULL && i <= CATALOG_LEVELS; i++) {
		file = spec_join(s->arena, dir, STR("SKILL.md"));
		if (is_file(file)) {
			s->out->single = true;
			return add_skill(s, dir, file);
		}
		r = spec_list(s->arena, dir, &names) == -1 ? 0 :
		    add_agents(s, dir, &names);
		if (r != 0) {
			s->out->single = true;
			return r == -1 ? -1 : 0;
		}
		if (s->out->root != NULL && spec_same_dir(dir, s->out->root))
			break;
		dir = spec_parent(s->arena, dir);
	}
	return 0;
}

/* Without .waza.yaml, the suite of a single skill may be above it. */
static void
search_evals_above(struct search *s, struct catalog_entry *e)
{
	const char *dir = e->skill_dir, *found = NULL;
	size_t i;

	if (e->eval != NULL)
		return;
	for (i = 0; dir != NULL && found == NULL && i < CATALOG_LEVELS; i++) {
		found = eval_in(s, spec_join(s->arena, spec_join(s->arena, dir,
		    STR("evals")), e->name), STR(""));
		dir = spec_parent(s->arena, dir);
	}
	set_eval(s, e, found);
}

static const char *
set_dir(struct search *s, struct str setting, const char *name)
{
	return setting.n > 0 ? arena_cstr(s->arena, setting) :
	    below_root(s, name);
}

static void
set_names(struct search *s, const struct config *c, bool whole)
{
	struct catalog *out = s->out;
	static const struct config_paths no_paths;
	const struct config_paths *p = c != NULL ? &c->paths : &no_paths;
	struct buf b = { 0 };
	size_t i;

	out->skills = set_dir(s, p->skills, "skills");
	out->evals = set_dir(s, p->evals, "evals");
	out->results = set_dir(s, p->results, "results");
	out->results_set = p->results.n > 0;
	out->places_set = p->skills.n > 0 || p->evals.n > 0;
	out->eval_file = c != NULL && c->files.eval_file.n > 0 ?
	    c->files.eval_file : STR("eval.yaml");
	out->task_glob = c != NULL && c->files.task_glob.n > 0 ?
	    c->files.task_glob : STR("tasks/*.yaml");
	out->task_suffix = c != NULL && c->files.task_suffix.n > 0 ?
	    c->files.task_suffix : STR(".yaml");
	s->files[s->nfiles++] = out->eval_file;
	if (!str_is(out->eval_file, "eval.yaml"))
		s->files[s->nfiles++] = STR("eval.yaml");
	s->files[s->nfiles++] = STR("eval.yml");
	buf_fmt(&b, "%s", whole ? "all directories" : out->skills);
	for (i = 0; i < COUNTOF(skill_places) && !whole; i++)
		buf_fmt(&b, ", %s", skill_places[i]);
	if (!whole)
		buf_fmt(&b, "; suites: %s, tests", out->evals);
	out->searched = arena_take(s->arena, &b);
}

static void
take_entries(struct search *s)
{
	struct catalog *c = s->out;

	c->n = count(s);
	c->v = NEW_N(s->arena, struct catalog_entry, c->n);
	if (c->n > 0)
		memcpy(c->v, s->entries.p, s->entries.n);
	buf_free(&s->entries);
	arena_free(&s->scratch);
	arena_free(&s->tables);
}

int
catalog_read(struct arena *a, const struct catalog_opts *o,
    struct catalog *out, struct err *e)
{
	struct search s = { .arena = a, .out = out, .err = e };
	const char *dir = o->dir != NULL ? o->dir : ".";
	const char *project = o->config != NULL ? o->config->project_dir :
	    NULL;
	struct field_strs names;
	size_t i;
	int r;

	*out = (struct catalog){ .root = o->walk ? dir : project };
	if (spec_list(a, dir, &names) == -1)
		return err_sys(e, dir);
	r = o->walk ? 0 : search_above(&s, dir);
	if (out->root == NULL)
		out->root = out->single ? entry_at(&s, 0)->skill_dir : dir;
	set_names(&s, o->config, o->walk);
	if (r == 0 && !out->single)
		r = search_skills(&s, o->walk);
	if (r == 0)
		r = search_suites(&s, o->walk);
	for (i = 0; r == 0 && out->single && i < count(&s); i++)
		search_evals_above(&s, entry_at(&s, i));
	if (r == 0)
		search_foreign(&s);
	take_entries(&s);
	return r;
}
