/* SPDX-License-Identifier: ISC */
/*
 * Repairs that need no judgement.  Each step turns a text into another one and
 * is dropped if the result does not read as intended: a value in quotes must
 * be the same text, a new name must be the only difference, and removed blanks
 * must not change the front matter.
 */
#include "skill/check_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "lib/front.h"
#include "lib/http.h"
#include "suite/spec.h"
#include "yaml_lite.h"

struct fixer {
	struct arena *arena;
	const char *dir;	/* of the skill */
	const char *absolute;
	struct check_files files;
	struct check_change *first, **end;
};

/*
 * Front matter
 */
static struct str
front_of(struct str text)
{
	struct str body;

	return front_split(text, &body);
}

static const struct json *
read_front(struct arena *a, struct str text, struct err *e)
{
	struct str front = front_of(text);
	const struct json *v = front.n > 0 ? yaml_read_one(a, front, e) : NULL;

	return v != NULL && v->type == JSON_OBJECT ? v : NULL;
}

/* The text with [p, p + n) replaced. */
static struct str
splice(struct arena *a, struct str text, const char *p, size_t n,
    struct str by)
{
	struct buf b = { 0 };

	buf_put(&b, (struct str){ text.p, (size_t)(p - text.p) });
	buf_put(&b, by);
	buf_put(&b, (struct str){ p + n, (size_t)(text.p + text.n - p) - n });
	return arena_take(a, &b);
}

static struct str
line_at(struct str s, unsigned line)
{
	const char *p = s.p, *end = p + s.n, *lf;

	for (; line > 1 && p < end; line--) {
		lf = memchr(p, '\n', (size_t)(end - p));
		p = lf != NULL ? lf + 1 : end;
	}
	lf = p < end ? memchr(p, '\n', (size_t)(end - p)) : NULL;
	return (struct str){ p, (size_t)((lf != NULL ? lf : end) - p) };
}

static struct str
quoted(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i;

	buf_putc(&b, '"');
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_putc(&b, '\\');
		buf_putc(&b, s.p[i]);
	}
	buf_putc(&b, '"');
	return arena_take(a, &b);
}

/* The plain value of "key: value" on a line of its own; empty: none. */
static struct str
plain_value(struct str line, struct str *key)
{
	const char *colon = line.n > 0 ? memchr(line.p, ':', line.n) : NULL;
	struct str v;

	if (colon == NULL || colon + 1 >= line.p + line.n || colon[1] != ' ')
		return STR("");
	*key = (struct str){ line.p, (size_t)(colon - line.p) };
	v = str_trim((struct str){ colon + 2,
	    (size_t)(line.p + line.n - colon) - 2 });
	if (v.n == 0 || strchr("\"'|>[{&*!%@`#", v.p[0]) != NULL ||
	    key->n == 0 || key->p[0] == ' ' || key->p[0] == '-' ||
	    key->p[0] == '#')
		return STR("");
	return v;
}

/* Whether the value continues on the next line. */
static bool
continues(struct str front, struct str line)
{
	const char *next = line.p + line.n + 1;

	return next < front.p + front.n && (*next == ' ' || *next == '\t');
}

/* description: Use when: x   ->   description: "Use when: x" */
static struct str
fix_quotes(struct fixer *f, struct str text)
{
	struct str front = front_of(text), line, key, value, out;
	struct err e = { 0 };
	const struct json *v;

	if (front.n == 0 || read_front(f->arena, text, &e) != NULL ||
	    e.line == 0)
		return text;
	line = line_at(front, e.line);
	value = plain_value(line, &key);
	if (value.n == 0 || check_count(value, ": ") == 0 ||
	    check_count(value, " #") > 0 || continues(front, line))
		return text;
	out = splice(f->arena, text, value.p, value.n, quoted(f->arena, value));
	v = json_get(read_front(f->arena, out, &e), key);
	return v != NULL && v->type == JSON_STRING &&
	    str_eq(json_text(v), value) ? out : text;
}

static bool
is_valid_name(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!((s.p[i] >= 'a' && s.p[i] <= 'z') || (s.p[i] >= '0' &&
		    s.p[i] <= '9') || (s.p[i] == '-' && i > 0 &&
		    s.p[i - 1] != '-')))
			return false;
	return s.n > 0 && s.n <= CHECK_NAME_MAX && s.p[s.n - 1] != '-';
}

/* Whether two mappings differ in no key but this one. */
static bool
differ_only_in(const struct json *a, const struct json *b, const char *key)
{
	const struct json *v, *w;
	size_t n = 0;

	for (v = json_first(a); v != NULL; v = v->next) {
		if (str_is(json_key(v), key))
			continue;
		w = json_get(b, json_key(v));
		if (w == NULL || !json_equal(v, w))
			return false;
		n++;
	}
	return json_count(b) == n + 1;
}

/* The spelling of a scalar that begins at p. */
static size_t
scalar_length(const char *p, const char *end)
{
	const char *q = p + 1;
	size_t n;

	if (p < end && (*p == '"' || *p == '\'')) {
		while (q < end && *q != *p)
			q += *q == '\\' ? 2 : 1;
		return q < end ? (size_t)(q - p) + 1 : 0;
	}
	for (n = 0; p + n < end && !(p[n] == ' ' && p + n + 1 < end &&
	    p[n + 1] == '#'); n++)
		;
	return str_trim((struct str){ p, n }).n;
}

static struct str
fix_name(struct fixer *f, struct str text, struct str dir_name)
{
	struct str front = front_of(text), line, out, by;
	struct err e = { 0 };
	const struct json *v = read_front(f->arena, text, &e), *w, *name;
	const char *p;

	if (v == NULL || !is_valid_name(dir_name))
		return text;
	name = json_getc(v, "name");
	if (name == NULL) {
		by = arena_fmt(f->arena, "name: %.*s\n", STRF(dir_name));
		out = splice(f->arena, text, front.p, 0, by);
	} else {
		if (name->type != JSON_STRING || name->line != name->key_line ||
		    name->col == 0 || str_eq(json_text(name), dir_name))
			return text;
		line = line_at(front, name->line);
		p = line.p + name->col - 1;
		if (p >= line.p + line.n || strchr("|>&*!", *p) != NULL)
			return text;
		out = splice(f->arena, text, p, scalar_length(p, line.p +
		    line.n), dir_name);
	}
	w = read_front(f->arena, out, &e);
	return w != NULL && differ_only_in(v, w, "name") &&
	    str_eq(json_str(w, "name"), dir_name) ? out : text;
}

/*
 * Blanks
 */
static bool
in_fence(const struct markdown *m, unsigned line)
{
	size_t i;

	for (i = 0; i < m->nfences && m->fence[i].line <= line; i++)
		if (line <= m->fence[i].line + m->fence[i].lines)
			return true;
	return false;
}

/* The length of a line without blanks that mean nothing. */
static size_t
line_length(struct str s)
{
	size_t n = s.n;
	bool cr = n > 0 && s.p[n - 1] == '\r';

	n -= cr;
	while (n > 0 && (s.p[n - 1] == ' ' || s.p[n - 1] == '\t'))
		n--;
	if (n > 0 && s.n - cr - n >= 2 && s.p[n] == ' ' && s.p[n + 1] == ' ')
		return s.n;		/* a line break of Markdown */
	return n;
}

static struct str
trim_lines(struct arena *a, struct str text, const struct markdown *m,
    unsigned number)
{
	const char *p = text.p, *end = p + text.n, *lf;
	struct buf b = { 0 };
	struct str line;
	size_t n;

	for (; p < end; p += line.n, number++) {
		lf = memchr(p, '\n', (size_t)(end - p));
		line = (struct str){ p, (size_t)((lf != NULL ? lf : end) - p) };
		n = m != NULL && in_fence(m, number) ? line.n :
		    line_length(line);
		buf_put(&b, (struct str){ line.p, n });
		if (n < line.n && line.p[line.n - 1] == '\r')
			buf_putc(&b, '\r');
		line.n += lf != NULL;
		if (lf != NULL)
			buf_putc(&b, '\n');
	}
	return arena_take(a, &b);
}

static struct str
fix_blanks(struct fixer *f, struct str text)
{
	struct str body, front = front_split(text, &body), out;
	const struct json *v, *w;
	struct markdown m;
	struct err e = { 0 };

	markdown_read(f->arena, body, 1, &m);
	out = trim_lines(f->arena, body, &m, 1);
	out = splice(f->arena, text, body.p, body.n, out);
	if (front.n == 0)
		return out;
	v = read_front(f->arena, text, &e);
	text = splice(f->arena, out, out.p + (front.p - text.p), front.n,
	    trim_lines(f->arena, front, NULL, 1));
	w = read_front(f->arena, text, &e);
	return v != NULL && w != NULL && json_equal(v, w) ? text : out;
}

/*
 * Links
 */
static bool
same_letters(struct str a, struct str b)
{
	return a.n == b.n && memchr(a.p, '\0', a.n) == NULL &&
	    http_same(b, a.p);
}

/* The one file with the name of a missing one, else NULL. */
static const struct check_file *
only_candidate(const struct fixer *f, struct str missing)
{
	struct str name = arena_str(f->arena, str_base(missing)), other;
	const struct check_file *found = NULL;
	size_t i, exact;

	for (exact = 0; exact < 2 && name.n > 0; exact++) {
		for (found = NULL, i = 0; i < f->files.n; i++) {
			other = str_base(f->files.v[i].rel);
			if (exact == 0 ? !str_eq(name, other) :
			    !same_letters(name, other))
				continue;
			if (found != NULL)
				return NULL;
			found = &f->files.v[i];
		}
		if (found != NULL)
			return found;
	}
	return NULL;
}

/* The path from the directory of one file to another file, escaped. */
static struct str
path_between(struct arena *a, struct str from, struct str to)
{
	static const char special[] = " ()<>\\%#?";
	size_t same = 0, i;
	struct buf b = { 0 };

	for (i = 0; i < from.n && i < to.n && from.p[i] == to.p[i]; i++)
		if (from.p[i] == '/')
			same = i + 1;
	for (i = same; i < from.n; i++)
		if (from.p[i] == '/')
			buf_puts(&b, "../");
	for (i = same; i < to.n; i++)
		if (memchr(special, to.p[i], sizeof(special) - 1) != NULL)
			buf_fmt(&b, "%%%02X", (unsigned char)to.p[i]);
		else
			buf_putc(&b, to.p[i]);
	return arena_take(a, &b);
}

static bool
exists(struct fixer *f, struct str rel)
{
	return check_find_file(&f->files, rel) != NULL ||
	    spec_exists(spec_join(f->arena, f->dir, rel.n > 0 ? rel :
	    STR(".")));
}

/* The new spelling of a broken link's target; empty: leave it. */
static struct str
better_target(struct fixer *f, struct str source,
    const struct markdown_link *link)
{
	struct str path, fragment, rel, plain;
	const struct check_file *to;

	if (check_target_of(link->target, &path, &fragment) != CHECK_LOCAL ||
	    path.n == 0 || !check_resolve(f->arena, f->absolute, source, path,
	    &rel) || exists(f, rel))
		return STR("");
	plain = check_unescape(f->arena, path);
	if (!check_resolve(f->arena, f->absolute, source, plain, &rel) ||
	    exists(f, rel) || memchr(plain.p, '?', plain.n) != NULL)
		return STR("");
	to = only_candidate(f, rel);
	if (to == NULL)
		return STR("");
	path = path_between(f->arena, source, to->rel);
	return fragment.n == 0 ? path : arena_fmt(f->arena, "%.*s#%.*s",
	    STRF(path), STRF(fragment));
}

static struct str
fix_links(struct fixer *f, struct str source, struct str text)
{
	struct str body, target, out = text;
	struct markdown m;
	const char *from = text.p;
	struct buf b = { 0 };
	size_t i;

	(void)front_split(text, &body);
	markdown_read(f->arena, body, 1, &m);
	for (i = 0; i < m.nlinks; i++) {
		/* a definition serves several links, in any order */
		if (m.link[i].raw.p < from || m.link[i].raw.n == 0)
			continue;
		target = better_target(f, source, &m.link[i]);
		if (target.n == 0)
			continue;
		buf_put(&b, (struct str){ from, (size_t)(m.link[i].raw.p -
		    from) });
		buf_put(&b, target);
		from = m.link[i].raw.p + m.link[i].raw.n;
	}
	if (b.n > 0) {
		buf_put(&b, (struct str){ from, (size_t)(text.p + text.n -
		    from) });
		out = arena_take(f->arena, &b);
	}
	return out;
}

/* Repeats until nothing changes: definitions may be out of order. */
static struct str
fix_all_links(struct fixer *f, struct str source, struct str text)
{
	struct str out = text;
	size_t i;

	for (i = 0; i < CHECK_FILES_MAX; i++) {
		out = fix_links(f, source, text);
		if (str_eq(out, text))
			break;
		text = out;
	}
	return out;
}

/*
 * Files
 */
static void
add_change(struct fixer *f, const char *file, struct str before,
    struct str after)
{
	struct check_change *c;
	struct stat st;

	if (str_eq(before, after) || lstat(file, &st) == -1 ||
	    !S_ISREG(st.st_mode))
		return;		/* replacing a link would break it */
	c = NEW(f->arena, struct check_change);
	*c = (struct check_change){ NULL, file, before, after,
		(unsigned)st.st_mode & 07777 };
	*f->end = c;
	f->end = &c->next;
}

int
check_fix(struct arena *a, const char *path, struct check_change **out,
    struct err *e)
{
	struct fixer f = { .arena = a };
	struct err bad = { 0 };
	struct skill s;
	struct str text, name;
	size_t i;

	f.end = &f.first;
	*out = NULL;
	if (skill_read(a, path, &s, &bad) == -1 && s.text.p == NULL) {
		*e = bad;
		return -1;
	}
	f.dir = s.dir;
	f.absolute = check_clean(a, os_absolute(a, s.dir));
	name = str_base(str_of(f.absolute));
	check_list_files(a, s.dir, &f.files);
	if (f.files.full)
		return err_set(e, ERR_LIMIT, "%s: not all files could be read, "
		    "so nothing is repaired", s.dir);
	text = fix_quotes(&f, s.text);
	if (!str_ends(str_of(s.file), STR(".agent.md")))
		text = fix_name(&f, text, name);
	text = fix_all_links(&f, str_base(str_of(s.file)), text);
	add_change(&f, s.file, s.text, fix_blanks(&f, text));
	for (i = 0; i < f.files.n; i++)
		if (f.files.v[i].is_markdown && !str_eq(f.files.v[i].rel,
		    str_base(str_of(s.file))))
			add_change(&f, spec_join(a, s.dir, f.files.v[i].rel),
			    f.files.v[i].text, fix_all_links(&f,
			    f.files.v[i].rel, f.files.v[i].text));
	*out = f.first;
	return 0;
}
