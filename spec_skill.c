/* SPDX-License-Identifier: ISC */
/*
 * Skills that a suite requires: each has to be in one of its directories, by
 * the name in the front matter of the SKILL.md there.  Only the names are
 * read; what else a SKILL.md has is not this file's business.
 */
#include "spec_in.h"

#include <string.h>

#include "json.h"
#include "os.h"
#include "yaml_lite.h"

enum {
	SKILL_MAX = 4 << 20,	/* bytes of a SKILL.md */
	SKILLS_MAX = 1000	/* that are compared with as many */
};

/* The lines between the first "---" and the next; empty: there are none. */
static struct str
front_matter(struct str s)
{
	const char *p, *end = s.p + s.n, *from, *eol;
	struct str line;

	if (str_starts(s, STR("\xEF\xBB\xBF"))) {
		s.p += 3;
		s.n -= 3;
	}
	if (!str_starts(s, STR("---")))
		return STR("");
	from = memchr(s.p, '\n', s.n);
	for (p = from; p != NULL && p + 1 < end; p = eol) {
		eol = memchr(p + 1, '\n', (size_t)(end - p - 1));
		line = (struct str){ p + 1, (size_t)((eol != NULL ? eol : end) -
		    p - 1) };
		if (str_is(spec_trim(line), "---"))
			return (struct str){ from + 1, (size_t)(p - from) };
	}
	return STR("");
}

/* The name of the skill in a directory; empty when there is none. */
static struct str
skill_name(struct spec_loader *l, struct str dir)
{
	const char *path = spec_join(&l->scratch, spec_path(&l->scratch,
	    l->suite->dir, dir), STR("SKILL.md"));
	const struct json *v;
	struct str text;
	struct err e;

	if (os_read_file(&l->scratch, path, SKILL_MAX, &text, &e) == -1)
		return STR("");
	text = front_matter(text);
	if (text.n == 0)
		return STR("");
	v = yaml_read_one(&l->scratch, text, &e);
	v = v == NULL ? NULL : json_getc(v, "name");
	return v != NULL && v->type == JSON_STRING ? json_text(v) : STR("");
}

/* The names that there are, for a message. */
static struct str
list_names(struct spec_loader *l, const struct str *names, size_t n)
{
	struct buf b = { .max = 120 };
	struct str out;
	size_t i, k = 0;

	for (i = 0; i < n; i++)
		if (names[i].n > 0)
			buf_fmt(&b, "%s%.*s", k++ > 0 ? ", " : "",
			    STRF(spec_short(names[i])));
	if (k == 0)
		buf_puts(&b, "none");
	out = arena_str(&l->scratch, buf_str(&b));
	buf_free(&b);
	return out;
}

void
spec_check_skills(struct spec_loader *l, const struct spec_file *f,
    const struct json *config)
{
	const struct spec_config *c = &l->suite->config;
	struct spec_where at = spec_at(f->path, json_getc(config,
	    "required_skills"));
	struct arena_mark mark = arena_save(&l->scratch);
	size_t i, k, n = c->skill_directories.n;
	struct str *names = NEW_N(&l->scratch, struct str, n + 1);

	if (c->required_skills.n > SKILLS_MAX || (n > SKILLS_MAX &&
	    c->required_skills.n > 0)) {
		spec_note_key(l->notes, FIELD_ERROR, at, STR("required_skills"),
		    "there are more than %d skills", SKILLS_MAX);
		return;
	}
	for (i = 0; i < n && c->required_skills.n > 0; i++)
		names[i] = skill_name(l, c->skill_directories.v[i]);
	for (i = 0; i < c->required_skills.n; i++) {
		for (k = 0; k < n; k++)
			if (str_eq(names[k], c->required_skills.v[i]))
				break;
		if (k == n)
			spec_note_key(l->notes, FIELD_ERROR, at,
			    STR("required_skills"), "the skill \"%.*s\" is in "
			    "none of \"skill_directories\" (there: %.*s)",
			    STRF(spec_short(c->required_skills.v[i])),
			    STRF(list_names(l, names, n)));
	}
	arena_restore(&l->scratch, mark);
}
