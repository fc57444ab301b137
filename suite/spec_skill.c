/* SPDX-License-Identifier: ISC */
/*
 * SKILL.md files, and the skills that a suite requires: each has to be in one
 * of its directories, by the name in the front matter of the SKILL.md there.
 *
 * A skill directory is that of a skill, or has such directories in it.
 */
#include "suite/spec_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "json.h"
#include "yaml_lite.h"

enum {
	SKILL_MAX = 4 << 20,	/* bytes of a SKILL.md */
	DIR_MAX = 32 << 20,	/* of all in a directory */
	NAME_BYTES = 1000,	/* of a name that can be required */
	SKILLS_MAX = 1000	/* that are required, and directories then */
};

/*
 * The lines between the first "---" and the next, empty when there are none,
 * and what comes after them.
 */
static struct str
front_matter(struct str s, struct str *body)
{
	const char *p, *end, *from, *eol;
	struct str line;

	if (str_starts(s, STR("\xEF\xBB\xBF"))) {
		s.p += 3;
		s.n -= 3;
	}
	*body = s;
	if (!str_starts(s, STR("---")))
		return STR("");
	end = s.p + s.n;
	from = memchr(s.p, '\n', s.n);
	for (p = from; p != NULL && p + 1 < end; p = eol) {
		eol = memchr(p + 1, '\n', (size_t)(end - p - 1));
		line = (struct str){ p + 1, (size_t)((eol != NULL ? eol : end) -
		    p - 1) };
		if (!str_is(spec_trim(line), "---"))
			continue;
		*body = (struct str){ line.p + line.n,
			(size_t)(end - line.p) - line.n };
		return (struct str){ from + 1, (size_t)(p - from) };
	}
	return STR("");
}

static struct str
member(const struct json *v, const char *key)
{
	const struct json *m = json_getc(v, key);

	return m != NULL && m->type == JSON_STRING ? json_text(m) : STR("");
}

int
spec_read_skill(struct arena *a, const char *path, struct spec_skill *skill,
    struct err *e)
{
	const struct json *v;
	struct str text;
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		path = spec_join(a, path, STR("SKILL.md"));
	if (os_read_plain(a, path, SKILL_MAX, &text, e) == -1)
		return -1;
	*skill = (struct spec_skill){ .body = STR("") };
	skill->dir = spec_dir_of(a, path);
	text = front_matter(text, &skill->body);
	if (text.n == 0)
		return 0;
	if ((v = yaml_read_one(a, text, e)) == NULL) {
		e->line++;	/* the first is "---" */
		return -1;
	}
	skill->name = member(v, "name");
	skill->description = member(v, "description");
	return 0;
}

static int
read_one(struct arena *a, const char *dir, struct spec_skills *out,
    struct err *e)
{
	if (spec_read_skill(a, dir, &out->v[out->n], e) == -1)
		return -1;
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
	struct spec_paths names;
	size_t i, used = a->used;
	const char *path;

	*out = (struct spec_skills){ NEW_N(a, struct spec_skill, 1), 0 };
	if (has_skill(a, dir))
		return read_one(a, dir, out, e);
	if (spec_list(a, dir, &names) == -1)
		return err_sys(e, dir);
	if (names.n > SPEC_SKILLS_MAX)
		return err_set(e, ERR_LIMIT, "%.100s has more than %d entries",
		    dir, SPEC_SKILLS_MAX);
	out->v = NEW_N(a, struct spec_skill, names.n);
	for (i = 0; i < names.n; i++) {
		path = spec_join(a, dir, str_of(names.v[i]));
		if (has_skill(a, path) && read_one(a, path, out, e) == -1)
			return -1;
		if (a->used - used > DIR_MAX)
			return err_set(e, ERR_LIMIT, "the skills in %.100s "
			    "have more than %d MiB", dir, DIR_MAX >> 20);
	}
	return out->n > 0 ? 0 : err_set(e, ERR_SCHEMA, "there is no SKILL.md "
	    "in %.100s, nor in a directory of it", dir);
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

/* A directory whose skills cannot be told apart goes as it is. */
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
			buf_put(out, (struct str){ (char *)&path,
			    sizeof(path) });
			continue;
		}
		for (k = 0; k < found.n; k++) {
			path = str_of(found.v[k].dir);
			if (!spec_names(off, found.v[k].name))
				buf_put(out, (struct str){ (char *)&path,
				    sizeof(path) });
		}
	}
}

struct field_strs
spec_skill_dirs(struct arena *a, const struct spec_suite *s,
    const struct spec_task *t)
{
	struct field_strs out = { 0 };
	struct buf b = { 0 };

	if (spec_names(&s->config.disabled_skills, STR("*")))
		return out;
	add_dirs(a, s, s->dir, &s->config.skill_directories, &b);
	if (t != NULL)
		add_dirs(a, s, spec_task_dir(a, t), &t->skill_directories, &b);
	out.n = b.n / sizeof(struct str);
	out.v = NEW_N(a, struct str, out.n);
	if (out.n > 0)
		memcpy(out.v, b.p, b.n);
	buf_free(&b);
	return out;
}

/* The names that there are, for a message. */
static struct str
list_names(struct spec_loader *l, const struct field_strs *names)
{
	struct buf b = { .max = 120 };
	struct str out;
	size_t i;

	for (i = 0; i < names->n; i++)
		buf_fmt(&b, "%s%.*s", i > 0 ? ", " : "",
		    STRF(spec_short(names->v[i])));
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
	struct field_strs out = { 0 };
	struct arena_mark mark = arena_save(&l->scratch);
	struct spec_skills found;
	struct buf b = { 0 };
	struct str name;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs->n; i++) {
		(void)spec_list_skills(&l->scratch, spec_path(&l->scratch,
		    l->suite->dir, dirs->v[i]), &found, &e);
		for (k = 0; k < found.n; k++) {
			if (found.v[k].name.n == 0 ||
			    found.v[k].name.n > NAME_BYTES)
				continue;
			name = arena_str(l->arena, found.v[k].name);
			buf_put(&b, (struct str){ (char *)&name,
			    sizeof(name) });
		}
		arena_restore(&l->scratch, mark);
	}
	out.n = b.n / sizeof(struct str);
	out.v = NEW_N(l->arena, struct str, out.n);
	if (out.n > 0)
		memcpy(out.v, b.p, b.n);
	buf_free(&b);
	return out;
}

static void
check_required(struct spec_loader *l, struct spec_where at, struct str name,
    const struct field_strs *names)
{
	size_t i;

	for (i = 0; i < names->n; i++)
		if (str_eq(names->v[i], name))
			break;
	if (i == names->n)
		spec_note_key(l->notes, FIELD_ERROR, at,
		    STR("required_skills"), "the skill \"%.*s\" is in none of "
		    "\"skill_directories\" (there: %.*s)",
		    STRF(spec_short(name)), STRF(list_names(l, names)));
	else if (spec_names(&l->suite->config.disabled_skills, name))
		spec_note_key(l->notes, FIELD_WARNING, at,
		    STR("required_skills"), "the skill \"%.*s\" is required, "
		    "but \"disabled_skills\" has it", STRF(spec_short(name)));
}

void
spec_check_skills(struct spec_loader *l, const struct spec_file *f,
    const struct json *config)
{
	const struct spec_config *c = &l->suite->config;
	struct spec_where at = spec_at(f->path, json_getc(config,
	    "required_skills"));
	struct arena_mark mark = arena_save(&l->scratch);
	struct field_strs names;
	size_t i;

	if (c->required_skills.n == 0)
		return;
	if (c->required_skills.n > SKILLS_MAX ||
	    c->skill_directories.n > SKILLS_MAX) {
		spec_note_key(l->notes, FIELD_ERROR, at, STR("required_skills"),
		    "there are more than %d skills", SKILLS_MAX);
		return;
	}
	names = all_names(l);
	for (i = 0; i < c->required_skills.n; i++)
		check_required(l, at, c->required_skills.v[i], &names);
	arena_restore(&l->scratch, mark);
}

static void
note_dir(struct spec_loader *l, struct spec_where at, struct str dir,
    const struct err *e)
{
	if (e->code == ERR_SYS && e->sys == ENOENT)
		spec_note_key(l->notes, FIELD_WARNING, at,
		    STR("skill_directories"), "there is no directory "
		    "\"%.*s\"", STRF(spec_short(dir)));
	else
		spec_note_key(l->notes, FIELD_WARNING, at,
		    STR("skill_directories"), "%s", e->msg);
}

void
spec_check_skill_dirs(struct spec_loader *l, const struct spec_file *f,
    const struct json *list, const struct field_strs *dirs)
{
	struct arena_mark mark = arena_save(&l->scratch);
	const struct json *v = list;
	struct spec_skills found;
	struct err e;
	size_t i;

	if (list != NULL && list->type == JSON_ARRAY)
		v = json_first(list);
	for (i = 0; i < dirs->n && v != NULL; i++, v = v->next) {
		e = (struct err){ 0 };
		if (spec_list_skills(&l->scratch, spec_path(&l->scratch,
		    f->dir, dirs->v[i]), &found, &e) == -1)
			note_dir(l, spec_at(f->path, v), dirs->v[i], &e);
		arena_restore(&l->scratch, mark);
		if (list->type != JSON_ARRAY)
			break;
	}
}
