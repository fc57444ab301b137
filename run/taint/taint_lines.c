/* SPDX-License-Identifier: ISC */
/*
 * The lines of sealed files, and their text in what an agent has written.
 *
 * A right answer must not count as evidence, and neither must a common line of
 * code.  So a line of a YAML file is in the index only if it has a key and more
 * than one word: values in lists and blocks of text are left out, because they
 * may be what the agent is expected to write.  A line of a script is evidence
 * if it contains a quoted text; other lines are if most of the script is
 * there, and so are short settings of a YAML file.  Files of other kinds have
 * no lines here: they are expected values.
 */
#include "run/taint/taint_internal.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "json.h"

enum {
	LINE_MIN = 24, LINE_LONGEST = 4096,	/* bytes of a line */
	TELLING_MIN = 40, QUOTED_MIN = 12,	/* of one that tells alone */
	FILE_LARGEST = 1 << 20,
	DEPTH = 40
};

enum kind { KIND_DATA, KIND_YAML, KIND_SCRIPT };

static enum kind
kind_of(struct str name, struct str text)
{
	static const char *const scripts[] = { ".bash", ".cjs", ".js", ".mjs",
		".php", ".pl", ".ps1", ".py", ".rb", ".sh", ".ts" };
	size_t i;

	if (str_ends(name, STR(".yaml")) || str_ends(name, STR(".yml")))
		return KIND_YAML;
	for (i = 0; i < COUNTOF(scripts); i++)
		if (str_ends(name, str_of(scripts[i])))
			return KIND_SCRIPT;
	return str_starts(text, STR("#!")) ? KIND_SCRIPT : KIND_DATA;
}

/* Whether it contains a quoted text, which common code rarely has. */
static bool
has_quoted(struct str s)
{
	const char *p = s.p, *end = s.p + s.n, *q;

	for (; p < end; p++) {
		if (*p != '"' && *p != '\'')
			continue;
		q = memchr(p + 1, *p, (size_t)(end - p - 1));
		if (q == NULL)
			return false;
		if (q - p > QUOTED_MIN)
			return true;
		p = q;
	}
	return false;
}

static size_t
indent_of(struct str line)
{
	size_t i = 0;

	while (i < line.n && (line.p[i] == ' ' ||
	    (line.p[i] == '-' && i + 1 < line.n && line.p[i + 1] == ' ')))
		i++;
	return i;
}

/* Whether a line, without its indentation, is `key: several words`. */
static bool
is_member(struct str s)
{
	const char *colon = memchr(s.p, ':', s.n);
	size_t i, n = colon == NULL ? 0 : (size_t)(colon - s.p);

	if (n == 0 || n + 2 >= s.n || s.p[n + 1] != ' ')
		return false;
	for (i = 0; i < n; i++)
		if (taint_is_one(s.p[i], " \t`*#("))
			return false;
	s = str_trim((struct str){ s.p + n + 1, s.n - n - 1 });
	return memchr(s.p, ' ', s.n) != NULL || memchr(s.p, '"', s.n) != NULL;
}

/* Whether a line is one that many files have: `config: {executor: mock}`. */
static bool
is_setting(struct str s)
{
	const char *colon = memchr(s.p, ':', s.n);
	size_t n = colon == NULL ? s.n : (size_t)(colon - s.p) + 2;

	return s.n < TELLING_MIN && n < s.n && taint_is_one(s.p[n], "{[") &&
	    memchr(s.p, '"', s.n) == NULL && memchr(s.p, '\'', s.n) == NULL;
}

/* Whether a block of text begins after the line: it ends with | or >. */
static bool
opens_block(struct str line)
{
	size_t n = line.n;

	while (n > 0 && (line.p[n - 1] == '-' || line.p[n - 1] == '+' ||
	    (line.p[n - 1] >= '0' && line.p[n - 1] <= '9')))
		n--;
	return n > 1 && (line.p[n - 1] == '|' || line.p[n - 1] == '>') &&
	    line.p[n - 2] == ' ';
}

struct reader {
	struct taint *taint;
	struct buf lines;		/* of struct taint_line */
	uint32_t file;
	size_t block;			/* 1 + indentation of its key; 0: no */
};

/* Whether the line is in the index; *telling: alone it is evidence. */
static bool
is_indexed(struct reader *r, enum kind kind, struct str line, bool *telling)
{
	struct str s = str_trim(line);
	size_t indent = indent_of(line), plain = 0;

	if (kind == KIND_SCRIPT) {
		*telling = s.n >= TELLING_MIN && has_quoted(s);
		return s.n >= LINE_MIN && s.n <= LINE_LONGEST;
	}
	while (plain < line.n && line.p[plain] == ' ')
		plain++;
	if (r->block > 0 && (s.n == 0 || plain >= r->block))
		return false;
	/* the text of `- |` is indented more than the dash */
	r->block = !opens_block(s) ? 0 : line.p[indent] == '|' ||
	    line.p[indent] == '>' ? plain + 1 : indent + 1;
	*telling = !is_setting(s);
	return r->block == 0 && s.n >= LINE_MIN && s.n <= LINE_LONGEST &&
	    s.p[0] != '#' &&
	    is_member((struct str){ line.p + indent, line.n - indent });
}

static void
read_lines(struct reader *r, struct str name, struct str text)
{
	struct taint_line l = { .file = r->file };
	enum kind kind = kind_of(name, text);
	struct str line;

	r->block = 0;
	while (kind != KIND_DATA && str_line(&text, &line)) {
		l.number++;
		if (!is_indexed(r, kind, line, &l.telling))
			continue;
		l.hash = str_hash(str_trim(line));
		buf_put(&r->lines, (struct str){ (const char *)&l,
		    sizeof(l) });
		r->taint->files[r->file].lines++;
	}
}

static int
by_hash(const void *a, const void *b)
{
	const struct taint_line *x = a, *y = b;

	return x->hash != y->hash ? (x->hash < y->hash ? -1 : 1) :
	    x->file != y->file ? (x->file < y->file ? -1 : 1) :
	    x->number < y->number ? -1 : x->number > y->number;
}

void
taint_index(struct taint *t, struct arena *a)
{
	struct reader r = { .taint = t };
	struct arena tmp = { 0 };
	struct str text;
	struct err e;
	size_t left = TAINT_BYTES_MAX;

	for (; r.file < t->nfiles && left > 0; r.file++) {
		if (os_read_plain(&tmp, t->files[r.file].path, FILE_LARGEST,
		    &text, &e) == 0) {
			left -= text.n < left ? text.n : left;
			read_lines(&r, t->files[r.file].base, text);
		}
		arena_free(&tmp);
	}
	t->nlines = r.lines.n / sizeof(*t->lines);
	t->lines = NEW_N(a, struct taint_line, t->nlines + 1);
	if (t->nlines > 0)
		memcpy(t->lines, r.lines.p, r.lines.n);
	buf_free(&r.lines);
	qsort(t->lines, t->nlines, sizeof(*t->lines), by_hash);
}

/* What the agent can know. */
struct taint_given {
	const struct taint *taint;
	struct arena tmp;
	struct buf lines;		/* their hashes */
	size_t files, bytes;
	bool too_much;			/* to look into it */
	bool sealed;			/* sealed files are given, too */
};

/* A search for lines in the texts of one answer or result. */
struct search {
	const struct taint *taint;
	const struct taint_trial *trial;
	struct arena tmp;
	struct taint_given given;
	bool has_given;
	uint32_t *counts;		/* of each file: lines that were met */
	bool *met;			/* of each line */
	struct taint_match found;
	bool ok;
};

static int
by_number(const void *a, const void *b)
{
	uint64_t x, y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

void
taint_give_text(struct taint_given *g, struct str text)
{
	struct str line;
	uint64_t h;

	while (str_line(&text, &line)) {
		line = str_trim(line);
		if (line.n < LINE_MIN)
			continue;
		h = str_hash(line);
		buf_put(&g->lines, (struct str){ (const char *)&h,
		    sizeof(h) });
	}
}

static bool
is_sealed(const struct taint *t, const struct stat *st)
{
	size_t i;

	for (i = 0; i < t->nfiles; i++)
		if (t->files[i].ino == st->st_ino &&
		    t->files[i].dev == st->st_dev)
			return true;
	return false;
}

static void
give_file(struct taint_given *g, const char *path, const struct stat *st)
{
	struct arena a = { 0 };
	struct str text;
	struct err e;

	g->files++;
	g->bytes += (size_t)st->st_size;
	if (g->files > TAINT_GIVEN_FILES || g->bytes > TAINT_GIVEN_BYTES) {
		g->too_much = true;
		return;
	}
	if ((g->sealed || !is_sealed(g->taint, st)) && os_read_plain(&a, path,
	    TAINT_GIVEN_BYTES, &text, &e) == 0)
		taint_give_text(g, text);
	arena_free(&a);
}

static void
give_tree(struct taint_given *g, const char *path, int depth)
{
	struct arena_mark mark = arena_save(&g->tmp);
	struct dirent *d;
	struct stat st;
	DIR *list;

	if (g->too_much || depth > DEPTH || stat(path, &st) == -1)
		return;
	if (S_ISREG(st.st_mode))
		give_file(g, path, &st);
	if (!S_ISDIR(st.st_mode) || (list = opendir(path)) == NULL)
		return;
	while (!g->too_much && (d = readdir(list)) != NULL) {
		if (d->d_name[0] != '.')
			give_tree(g, arena_fmt(&g->tmp, "%s/%s", path,
			    d->d_name).p, depth + 1);
		arena_restore(&g->tmp, mark);
	}
	closedir(list);
}

void
taint_give_path(struct taint_given *g, const char *path, bool sealed)
{
	g->sealed = sealed;
	if (path != NULL)
		give_tree(g, path, 0);
}

static void
read_given(struct search *s)
{
	struct taint_given *g = &s->given;

	s->has_given = true;
	g->taint = s->taint;
	s->trial->give(s->trial->arg, g);
	if (g->lines.n > 0)
		qsort(g->lines.p, g->lines.n / sizeof(uint64_t),
		    sizeof(uint64_t), by_number);
}

static bool
was_given(struct search *s, uint64_t hash)
{
	if (!s->has_given)
		read_given(s);
	return s->given.too_much || (s->given.lines.n > 0 && bsearch(&hash,
	    s->given.lines.p, s->given.lines.n / sizeof(hash), sizeof(hash),
	    by_number) != NULL);
}

/* A line of the index was met: is that enough? */
static void
count_line(struct search *s, size_t i)
{
	const struct taint_line *l = &s->taint->lines[i];
	const struct taint_file *f = &s->taint->files[l->file];

	if (s->counts == NULL) {
		s->counts = NEW_N(&s->tmp, uint32_t, s->taint->nfiles);
		s->met = NEW_N(&s->tmp, bool, s->taint->nlines);
	}
	if (s->met[i] || was_given(s, l->hash))
		return;
	s->met[i] = true;
	s->counts[l->file]++;
	if (!l->telling && (s->counts[l->file] < 3 ||
	    s->counts[l->file] * 2 < f->lines))
		return;
	s->found = (struct taint_match){ f, l->number };
	s->ok = true;
}

static int
by_key(const void *key, const void *row)
{
	const struct taint_line *l = row;
	uint64_t h = *(const uint64_t *)key;

	return h < l->hash ? -1 : h > l->hash;
}

static void
try_line(struct search *s, struct str line)
{
	const struct taint *t = s->taint;
	uint64_t h;
	size_t i;

	line = str_trim(line);
	if (line.n < LINE_MIN || line.n > LINE_LONGEST)
		return;
	h = str_hash(line);
	i = search_first(&h, t->lines, t->nlines, sizeof(*t->lines), by_key);
	for (; i < t->nlines && t->lines[i].hash == h && !s->ok; i++)
		count_line(s, i);
}

/* The line without the number that tools put before it. */
static struct str
without_number(struct str line)
{
	size_t i = 0, digits;

	while (i < line.n && line.p[i] == ' ')
		i++;
	digits = i;
	while (i < line.n && line.p[i] >= '0' && line.p[i] <= '9')
		i++;
	if (i == digits)
		return STR("");
	line = (struct str){ line.p + i, line.n - i };
	if (str_starts(line, STR("\xE2\x86\x92")))
		return (struct str){ line.p + 3, line.n - 3 };
	return line.n > 0 && taint_is_one(line.p[0], "\t:|-") ?
	    (struct str){ line.p + 1, line.n - 1 } : STR("");
}

static void
try_text(struct search *s, struct str text)
{
	struct str line;

	while (!s->ok && str_line(&text, &line)) {
		try_line(s, line);
		if (!s->ok)
			try_line(s, without_number(line));
	}
}

/* All strings in a value. */
static void
try_value(struct search *s, const struct json *v, int depth)
{
	const struct json *c;

	if (v == NULL || depth > DEPTH || s->ok)
		return;
	if (v->type == JSON_STRING)
		try_text(s, json_text(v));
	for (c = json_first(v); c != NULL; c = c->next)
		try_value(s, c, depth + 1);
}

static bool
finish(struct search *s, struct taint_match *m)
{
	*m = s->found;
	buf_free(&s->given.lines);
	arena_free(&s->given.tmp);
	arena_free(&s->tmp);
	return s->ok;
}

bool
taint_match(const struct taint *t, struct str text,
    const struct taint_trial *trial, struct taint_match *m)
{
	struct search s = { .taint = t, .trial = trial };

	if (t->nlines > 0 && !trial->whole_repository)
		try_text(&s, text);
	return finish(&s, m);
}

bool
taint_match_json(const struct taint *t, struct str json,
    const struct taint_trial *trial, struct taint_match *m)
{
	struct search s = { .taint = t, .trial = trial };
	struct json_mem mem = { arena_hook, &s.tmp };
	struct json_error e;

	if (t->nlines > 0 && !trial->whole_repository && json.n > 0)
		try_value(&s, json_read(&mem, json, 0, &e), 0);
	return finish(&s, m);
}
