/* SPDX-License-Identifier: ISC */
/*
 * SKILL.md files and the skills that a suite requires.  A required skill must
 * be in one of the suite's skill directories; its name is in the front matter
 * of its SKILL.md.
 *
 * A skill directory contains a SKILL.md, or subdirectories that do.
 */
#include "suite/spec_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "lib/front.h"
#include "yaml_lite.h"

enum {
	SKILL_MAX = 4 << 20,	/* bytes of a SKILL.md */
	DIR_MAX = 32 << 20,	/* bytes of all in a skill directory */
	NAME_BYTES = 1000,	/* bytes of a name that can be required */
	SKILLS_MAX = 1000	/* required skills; skill directories */
};

static struct str
member(const struct json *v, const char *key)
{
	const struct json *m = json_getc(v, key);

	return m != NULL && m->type == JSON_STRING ? json_text(m) : STR("");
}

const struct json *
spec_read_front(struct arena *a, struct str front, struct err *warning,
    struct err *e)
{
	const struct json *v;
	struct front_place at = { 0, 0, STR("") };
	struct str quoted;
	struct err ignored = { 0 };

	*warning = (struct err){ 0 };
	/* an empty line for "---": lines are counted as in the file */
	front = arena_fmt(a, "\n%.*s", STRF(front));
	v = yaml_read_one(a, front, e);
	if (v == NULL && (quoted = front_quote(a, front, &at)).n > 0)
		v = yaml_read_one(a, quoted, &ignored);
	if (v != NULL && at.line > 0) {
		err_set(warning, ERR_SYNTAX, "\"%.*s\" contains \": \" and is "
		    "not quoted: it is read as text; put quotes around it, "
		    "since Copilot ignores the skill", SPEC_SHORT(at.key));
		err_at(warning, at.line, at.col);
	}
	return v;
}

int
spec_read_skill(struct arena *a, const char *path, struct spec_skill *skill,
    struct err *e)
{
	const struct json *v;
	struct err warning;
	struct str text;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		path = spec_join(a, path, STR("SKILL.md"));
	if (os_read_plain(a, path, SKILL_MAX, &text, e) == -1)
		return -1;
	*skill = (struct spec_skill){ .body = STR(""), .file = path };
	skill->dir = spec_dir_of(a, path);
	text = front_split(text, &skill->body);
	if (text.n == 0)
		return 0;
	if ((v = spec_read_front(a, text, &warning, e)) == NULL)
		return -1;
	if (warning.line > 0) {
		skill->warning = NEW(a, struct err);
		*skill->warning = warning;
	}
	skill->name = member(v, "name");
	skill->description = member(v, "description");
	if (json_getc(v, "description") != NULL)
		skill->line = json_getc(v, "description")->key_line;
	return 0;
}

static int
read_one(struct arena *a, const char *dir, struct spec_skills *out,
    struct err *e)
{
	if (spec_read_skill(a, dir, &out->v[out->n], e) == -1) {
		out->broken = spec_join(a, dir, STR("SKILL.md"));
		return -1;
	}
	out->n++;
	return 0;
}

static bool
has_skill(struct arena *a, const char *dir)
{
	return spec_exists(spec_join(a, dir, STR("SKILL.md")));
}

int
spec_list_skills(struct arena *a, const char *dir, struct spec_skills *out,
    struct err *e)
{
	struct field_strs names;
	size_t i, used = a->used;
	const char *path;

	*out = (struct spec_skills){ NEW_N(a, struct spec_skill, 1), 0, NULL };
	if (has_skill(a, dir))
		return read_one(a, dir, out, e);
	if (spec_list(a, dir, &names) == -1)
		return err_sys(e, dir);
	if (names.n > SPEC_SKILLS_MAX)
		return err_set(e, ERR_LIMIT, "%s has more than %d entries",
		    dir, SPEC_SKILLS_MAX);
	out->v = NEW_N(a, struct spec_skill, names.n);
	for (i = 0; i < names.n; i++) {
		path = spec_join(a, dir, names.v[i]);
		if (has_skill(a, path) && read_one(a, path, out, e) == -1)
			return -1;
		if (a->used - used > DIR_MAX)
			return err_set(e, ERR_LIMIT, "the skills in %s "
			    "are larger than %d MiB", dir, DIR_MAX >> 20);
	}
	return out->n > 0 ? 0 : err_set(e, ERR_SCHEMA, "no SKILL.md in "
	    "%s or its subdirectories", dir);
}

bool
spec_names(const struct field_strs *list, struct str name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i], name) || str_is(list->v[i], "*"))
			return true;
	return false;
}

/* A directory whose skills cannot be listed is added as a whole. */
static void
add_dirs(struct arena *a, const struct spec_suite *s, const char *base,
    const struct field_strs *dirs, struct buf *out)
{
	const struct field_strs *off = &s->config.disabled_skills;
	struct spec_skills found;
	struct str path;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs->n; i++) {
		path = str_of(spec_path(a, base, dirs->v[i]));
		if (off->n == 0 ||
		    spec_list_skills(a, path.p, &found, &e) == -1) {
			spec_push(out, path);
			continue;
		}
		for (k = 0; k < found.n; k++)
			if (!spec_names(off, found.v[k].name))
				spec_push(out, str_of(found.v[k].dir));
	}
}

struct field_strs
spec_skill_dirs(struct arena *a, const struct spec_suite *s,
    const struct spec_task *t)
{
	struct buf list = { 0 };

	if (!spec_names(&s->config.disabled_skills, STR("*"))) {
		add_dirs(a, s, s->dir, &s->config.skill_directories, &list);
		if (t != NULL)
			add_dirs(a, s, spec_task_dir(a, t),
			    &t->def->skill_directories, &list);
	}
	return spec_take(a, &list);
}

/* The names of the skills that were found, for a message. */
static struct str
list_names(struct spec_loader *l, const struct field_strs *names)
{
	struct buf b = { .max = 120 };
	struct str out;
	size_t i;

	for (i = 0; i < names->n; i++)
		buf_fmt(&b, "%s%.*s", i > 0 ? ", " : "",
		    SPEC_SHORT(names->v[i]));
	if (names->n == 0)
		buf_puts(&b, "none");
	out = arena_str(&l->scratch, buf_str(&b));
	buf_free(&b);
	return out;
}

/* The names of all skills in the suite's directories. */
static struct field_strs
all_names(struct spec_loader *l)
{
	const struct field_strs *dirs = &l->suite->config.skill_directories;
	struct arena_mark mark = arena_save(&l->scratch);
	struct spec_skills found;
	struct buf list = { 0 };
	struct str name;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs->n; i++) {
		(void)spec_list_skills(&l->scratch, spec_path(&l->scratch,
		    l->suite->dir, dirs->v[i]), &found, &e);
		for (k = 0; k < found.n; k++) {
			name = found.v[k].name;
			if (name.n > 0 && name.n <= NAME_BYTES)
				spec_push(&list, arena_str(l->arena, name));
		}
		arena_restore(&l->scratch, mark);
	}
	return spec_take(l->arena, &list);
}

static void
check_required(struct spec_loader *l, const char *file, const struct json *at,
    struct str name, const struct field_strs *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (str_eq(names->v[i], name))
			break;
	if (i == names->n)
		spec_error(l, file, at, NULL, "skill \"%.*s\" not found in "
		    "\"skill_directories\" (found: %.*s)",
		    SPEC_SHORT(name), STRF(list_names(l, names)));
	else if (spec_names(&l->suite->config.disabled_skills, name))
		spec_warning(l, file, at, NULL,
		    "skill \"%.*s\" is both required and disabled",
		    SPEC_SHORT(name));
}

void
spec_check_skills(struct spec_loader *l, const struct spec_file *f,
    const struct json *config)
{
	const struct spec_config *c = &l->suite->config;
	const struct json *at = json_getc(config, "required_skills");
	struct arena_mark mark = arena_save(&l->scratch);
	struct field_strs names;
	size_t i;

	if (c->required_skills.n == 0)
		return;
	if (c->required_skills.n > SKILLS_MAX ||
	    c->skill_directories.n > SKILLS_MAX) {
		spec_error(l, f->path, at, NULL, "more than %d skills",
		    SKILLS_MAX);
		return;
	}
	names = all_names(l);
	for (i = 0; i < c->required_skills.n; i++)
		check_required(l, f->path, at, c->required_skills.v[i], &names);
	arena_restore(&l->scratch, mark);
}

/* Whether the directory, or one below it, contains a custom agent. */
static bool
has_agent(struct arena *a, const char *dir, unsigned depth)
{
	struct field_strs names;
	size_t i;

	if (spec_list(a, dir, &names) == -1)
		return false;
	for (i = 0; i < names.n; i++)
		if (spec_is_agent(names.v[i]) || (depth > 0 &&
		    names.v[i].p[0] != '.' &&
		    has_agent(a, spec_join(a, dir, names.v[i]), depth - 1)))
			return true;
	return false;
}

static void
warn_of_skills(struct spec_loader *l, const struct spec_skills *found)
{
	const struct err *w;
	size_t i;

	for (i = 0; i < found->n; i++)
		if ((w = found->v[i].warning) != NULL)
			spec_note(l->notes, FIELD_WARNING, (struct spec_where){
			    spec_shorten(l->arena, found->v[i].file),
			    w->line, w->col }, "%s", w->msg);
}

bool
spec_check_skill_dirs(struct spec_loader *l, const struct spec_file *f,
    const struct json *list, const struct field_strs *dirs)
{
	struct arena_mark mark = arena_save(&l->scratch);
	const struct json *v = list;
	struct spec_skills found;
	const char *path;
	bool allowed = true;
	struct err e;
	size_t i;

	if (list != NULL && list->type == JSON_ARRAY)
		v = json_first(list);
	for (i = 0; i < dirs->n && v != NULL; i++, v = v->next) {
		e = (struct err){ 0 };
		path = spec_path(&l->scratch, f->dir, dirs->v[i]);
		if (!spec_allowed(l->notes, spec_at(f->path, v), path))
			allowed = false;
		else if (spec_list_skills(&l->scratch, path, &found, &e) == 0)
			warn_of_skills(l, &found);
		else if (found.broken != NULL && e.line > 0)
			spec_note(l->notes, FIELD_WARNING, (struct spec_where){
			    spec_shorten(l->arena, found.broken),
			    e.line, e.col }, "%s; agents may ignore this "
			    "skill", e.msg);
		else if (e.code == ERR_SCHEMA && has_agent(&l->scratch, path,
		    1))
			;
		else if (e.code == ERR_SYS && e.sys == ENOENT)
			spec_warning(l, f->path, v, "skill_directories",
			    "directory \"%.*s\" does not exist",
			    SPEC_SHORT(dirs->v[i]));
		else
			spec_warning(l, f->path, v, "skill_directories", "%s",
			    e.msg);
		arena_restore(&l->scratch, mark);
		if (list->type != JSON_ARRAY)
			break;
	}
	return allowed;
}
