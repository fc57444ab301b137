/* SPDX-License-Identifier: ISC */
/* Reads a SKILL.md; skill.h describes the result. */
#include "skill/skill.h"

#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"
#include "lib/front.h"
#include "suite/spec.h"

static unsigned
count_lines(struct str s)
{
	unsigned n = 0;
	size_t i;

	for (i = 0; i < s.n; i++)
		n += s.p[i] == '\n';
	return n;
}

static struct str
member(const struct json *v, const char *key)
{
	const struct json *m = json_getc(v, key);

	return m != NULL && m->type == JSON_STRING ? json_text(m) : STR("");
}

static const struct json *
read_fields(struct arena *a, struct skill *s, struct err *e)
{
	const struct json *v = spec_read_front(a, s->front, &s->warning, e);

	if (v != NULL && v->type != JSON_OBJECT) {
		err_set(e, ERR_SYNTAX, "the front matter is not a mapping of "
		    "keys to values");
		e->line = 2;
		e->col = 1;
		return NULL;
	}
	return v;
}

int
skill_read(struct arena *a, const char *path, struct skill *s, struct err *e)
{
	struct str text;
	struct stat st;

	*s = (struct skill){ .body_line = 1 };
	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		path = spec_join(a, path, STR("SKILL.md"));
	s->file = arena_cstr(a, str_of(path));
	s->dir = spec_dir_of(a, path);
	if (os_read_plain(a, path, SKILL_FILE_MAX, &text, e) == -1)
		return -1;
	return skill_parse(a, path, text, s, e);
}

int
skill_parse(struct arena *a, const char *path, struct str text,
    struct skill *s, struct err *e)
{
	*s = (struct skill){ .body_line = 1, .text = text };
	s->file = arena_cstr(a, str_of(path));
	s->dir = spec_dir_of(a, path);
	s->front = front_split(s->text, &s->body);
	s->body_line += count_lines((struct str){ s->text.p,
	    (size_t)(s->body.p - s->text.p) });
	if (s->front.n == 0) {
		if (!str_starts(s->body, STR("---")))
			return 0;
		err_set(e, ERR_SYNTAX, "the front matter has no end: add a "
		    "line \"---\" after its last key");
		e->line = e->col = 1;
		return -1;
	}
	s->fields = read_fields(a, s, e);
	if (s->fields == NULL)
		return -1;
	s->name = member(s->fields, "name");
	s->description = member(s->fields, "description");
	return 0;
}

struct str
skill_dir_name(struct arena *a, const char *dir)
{
	struct str name = str_base(str_of(dir));
	const char *real;

	if (name.n > 0 && !str_is(name, ".") && !str_is(name, ".."))
		return name;
	real = os_real(a, dir);
	return real != NULL ? str_base(str_of(real)) : name;
}
