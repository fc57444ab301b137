/* SPDX-License-Identifier: ISC */
/*
 * The files of a skill, and paths in its directory.
 *
 * A skill may come from a stranger: symbolic links that lead out of the
 * directory are not followed, directories behind links are not entered, and
 * the numbers of files, levels and bytes are limited.
 */
#include "skill/check_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "lib/front.h"
#include "lib/http.h"
#include "suite/spec.h"

struct walk {
	struct arena *arena;
	const char *dir;
	struct check_files *out;
	struct buf files;	/* of struct check_file */
};

static bool
is_markdown(struct str name)
{
	static const char *const ends[] = { ".md", ".mdx" };
	size_t i, n;

	for (i = 0; i < COUNTOF(ends); i++) {
		n = strlen(ends[i]);
		if (name.n >= n && http_same((struct str){ name.p + name.n - n,
		    n }, ends[i]))
			return true;
	}
	return false;
}

static void
read_markdown(struct walk *w, const char *path, struct check_file *f)
{
	struct str body, front;
	unsigned line = 1;
	struct err ignored;
	size_t i;

	if (w->out->bytes > CHECK_BYTES_MAX || os_read_plain(w->arena, path,
	    SKILL_FILE_MAX, &f->text, &ignored) == -1) {
		w->out->full = true;
		return;
	}
	w->out->bytes += f->text.n;
	front = front_split(f->text, &body);
	if (front.n == 0)
		body = str_after_bom(f->text);
	f->body = (size_t)(body.p - f->text.p);
	for (i = 0; i < f->body; i++)
		line += f->text.p[i] == '\n';
	markdown_read(w->arena, body, line, &f->md);
}

static void
add_file(struct walk *w, const char *path, struct str rel)
{
	struct check_file f = { .rel = rel, .is_markdown = is_markdown(rel) };

	if (w->files.n / sizeof(f) >= CHECK_FILES_MAX) {
		w->out->full = true;
		return;
	}
	if (f.is_markdown)
		read_markdown(w, path, &f);
	buf_put(&w->files, (struct str){ (const char *)&f, sizeof(f) });
}

static void
add_link(struct walk *w, const char *path, struct str rel)
{
	struct check_text *t;
	struct stat st;

	if (!os_inside(w->dir, path)) {
		t = NEW(w->arena, struct check_text);
		t->s = rel;
		t->next = w->out->outside;
		w->out->outside = t;
	} else if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		add_file(w, path, rel);
}

/* Directories that hold no part of a skill. */
static bool
is_skipped(struct str name)
{
	return str_is(name, ".git") || str_is(name, "node_modules");
}

static void
walk(struct walk *w, const char *dir, struct str rel, unsigned depth)
{
	struct field_strs names;
	struct stat st;
	struct str r;
	const char *path;
	size_t i;

	if (depth > CHECK_DEPTH || spec_list(w->arena, dir, &names) == -1) {
		w->out->full = true;
		return;
	}
	for (i = 0; i < names.n && w->files.n / sizeof(struct check_file) <
	    CHECK_FILES_MAX; i++) {
		path = spec_join(w->arena, dir, names.v[i]);
		r = rel.n == 0 ? names.v[i] : arena_fmt(w->arena, "%.*s/%.*s",
		    STRF(rel), STRF(names.v[i]));
		if (lstat(path, &st) == -1)
			continue;
		if (S_ISLNK(st.st_mode))
			add_link(w, path, r);
		else if (S_ISREG(st.st_mode))
			add_file(w, path, r);
		else if (S_ISDIR(st.st_mode) && !is_skipped(names.v[i]))
			walk(w, path, r, depth + 1);
	}
	w->out->full = w->out->full || i < names.n;
}

static int
by_path(const void *a, const void *b)
{
	const struct check_file *x = a, *y = b;

	return str_cmp(x->rel, y->rel);
}

void
check_list_files(struct arena *a, const char *dir, struct check_files *out)
{
	struct walk w = { .arena = a, .dir = dir, .out = out };

	*out = (struct check_files){ 0 };
	walk(&w, dir, STR(""), 0);
	out->n = w.files.n / sizeof(*out->v);
	out->v = NEW_N(a, struct check_file, out->n);
	if (out->n > 0) {
		memcpy(out->v, w.files.p, w.files.n);
		qsort(out->v, out->n, sizeof(*out->v), by_path);
	}
	buf_free(&w.files);
}

struct check_file *
check_find_file(const struct check_files *files, struct str rel)
{
	struct check_file key = { .rel = rel };
	size_t i = search_first(&key, files->v, files->n, sizeof(key), by_path);

	return i < files->n && str_eq(files->v[i].rel, rel) ? &files->v[i] :
	    NULL;
}

/*
 * Targets and paths
 */
static bool
has_scheme(struct str s)
{
	size_t i;

	for (i = 0; i < s.n && (((s.p[i] | 0x20) >= 'a' &&
	    (s.p[i] | 0x20) <= 'z') || (i > 0 && ((s.p[i] >= '0' &&
	    s.p[i] <= '9') || s.p[i] == '+' || s.p[i] == '-' ||
	    s.p[i] == '.'))); i++)
		;
	return i >= 2 && i < s.n && s.p[i] == ':';
}

enum check_target
check_target_of(struct str target, struct str *path, struct str *fragment)
{
	const char *hash = target.n > 0 ? memchr(target.p, '#', target.n) :
	    NULL;
	size_t n = hash != NULL ? (size_t)(hash - target.p) : target.n;

	*path = (struct str){ target.p, n };
	*fragment = hash != NULL ? (struct str){ hash + 1, target.n - n - 1 } :
	    STR("");
	if (str_starts(target, STR("http://")) ||
	    str_starts(target, STR("https://")))
		return CHECK_EXTERNAL;
	if (target.n == 0 || has_scheme(target) ||
	    str_starts(target, STR("//")))
		return CHECK_SKIP;
	return CHECK_LOCAL;
}

struct str
check_unescape(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] == '%' && i + 2 < s.n &&
		    hex_digit(s.p[i + 1]) >= 0 && hex_digit(s.p[i + 2]) >= 0 &&
		    (s.p[i + 1] != '0' || s.p[i + 2] != '0')) {
			buf_putc(&b, (char)(hex_digit(s.p[i + 1]) << 4 |
			    hex_digit(s.p[i + 2])));
			i += 2;
		} else
			buf_putc(&b, s.p[i]);
	return arena_take(a, &b);
}

char *
check_clean(struct arena *a, const char *path)
{
	size_t n = strlen(path), len;
	char *out = arena_raw(a, n + 2, 1), *q = out;
	const char *p = path, *slash;

	while (*p != '\0') {
		while (*p == '/')
			p++;
		slash = strchr(p, '/');
		len = slash != NULL ? (size_t)(slash - p) : strlen(p);
		if (len == 2 && memcmp(p, "..", 2) == 0) {
			while (q > out && *--q != '/')
				;
		} else if (len > 0 && !(len == 1 && *p == '.')) {
			*q++ = '/';
			memcpy(q, p, len);
			q += len;
		}
		p += len;
	}
	if (q == out)
		*q++ = '/';
	*q = '\0';
	return out;
}

bool
check_resolve(struct arena *a, const char *absolute, struct str source,
    struct str target, struct str *rel)
{
	size_t n = source.n, len = strlen(absolute);
	const char *path;

	if (target.n > 0 && memchr(target.p, '\0', target.n) != NULL)
		return false;
	while (n > 0 && source.p[n - 1] != '/')
		n--;
	path = check_clean(a, arena_fmt(a, "%s/%.*s/%.*s", absolute, (int)n,
	    source.p, STRF(target)).p);
	while (len > 0 && absolute[len - 1] == '/')
		len--;
	if (strncmp(path, absolute, len) != 0 || (path[len] != '/' &&
	    path[len] != '\0'))
		return false;
	*rel = str_of(path[len] == '/' ? path + len + 1 : "");
	return true;
}
