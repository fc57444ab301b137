/* SPDX-License-Identifier: ISC */
/* The YAML reader: rows of yaml.tab, places, limits, and the public data. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "json.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"
#include "yaml_lite.h"

enum { COLUMNS = 16 };

/* The result of a run over public data. */
struct score {
	const char *part;
	unsigned good, bad;
};

static void
fault(struct score *s, const char *name, const char *what)
{
	s->bad++;
	printf("# %s: %s\n", name, what);
}

static void
report(const struct score *s)
{
	char name[120];

	snprintf(name, sizeof(name), "%s: %u right, %u wrong", s->part,
	    s->good, s->bad);
	if (s->good + s->bad == 0)
		SKIP(s->part);
	else
		tap_ok(s->bad == 0, name, __FILE__, __LINE__);
}

static struct json *
json_of(struct arena *a, struct str text)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;

	return json_read(&mem, text, 0, &e);
}

static struct str
slurp2(struct arena *a, const char *path, const char *suffix)
{
	struct str name = arena_fmt(a, "%s%s", path, suffix);

	return read_file(a, arena_cstr(a, name));
}

static bool
placed(const struct err *e)
{
	return (e->code == ERR_SYNTAX || e->code == ERR_LIMIT) &&
	    e->line > 0 && e->col > 0 && e->msg[0] != '\0';
}

/* Every value and key has a place, and lookups find every member. */
static bool
sound(const struct json *v)
{
	const struct json *c;

	for (c = json_first(v); c != NULL; c = c->next) {
		if (c->line == 0 || c->col == 0 || !sound(c))
			return false;
		if (v->type == JSON_OBJECT && (c->key_line == 0 ||
		    c->key_col == 0 || json_get(v, json_key(c)) != c))
			return false;
	}
	return true;
}

static int
hex(char c)
{
	return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

static struct str
unescape(struct arena *a, struct str s)
{
	char *out = arena_raw(a, s.n + 1, 1), *o = out;
	size_t i;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] != '\\') {
			*o++ = s.p[i];
			continue;
		}
		switch (s.p[++i]) {
		case 'n':
			*o++ = '\n';
			break;
		case 't':
			*o++ = '\t';
			break;
		case 'r':
			*o++ = '\r';
			break;
		case 'x':
			*o++ = (char)(hex(s.p[i + 1]) << 4 | hex(s.p[i + 2]));
			i += 2;
			break;
		default:
			*o++ = s.p[i];
		}
	}
	return (struct str){ out, (size_t)(o - out) };
}

/* Every prefix of a text is read, or refused with a place. */
static bool
prefixes(struct str text)
{
	struct arena a = { 0 };
	struct err e;
	bool ok = true;

	for (; text.n > 0; text.n--) {
		e = (struct err){ 0 };
		ok = ok && (yaml_read(&a, text, NULL, &e) != NULL ||
		    placed(&e));
		arena_free(&a);
	}
	return ok;
}

static bool
row_ok(struct arena *a, struct str text, struct str want, char *got, size_t n)
{
	struct err e = { 0 };
	struct json *v = yaml_read(a, text, NULL, &e), *w;
	char kind = want.p[0];

	snprintf(got, n, "%u:%u %s", e.line, e.col, e.msg);
	want.p += 2;
	want.n -= 2;
	if (kind == '!')
		return v == NULL && str_is(want, got) && placed(&e);
	w = json_of(a, want);
	if (kind == '=' && v != NULL && json_count(v) == 1)
		v = json_first(v);
	return v != NULL && w != NULL && json_equal(v, w) && sound(v);
}

static void
test_rows(void)
{
	struct score s = { "yaml.tab", 0, 0 };
	struct arena a = { 0 };
	struct str file = read_file(&a, "test/unit/lib/yaml.tab"), text, want;
	const char *p = file.p, *end = p + file.n, *nl, *tab;
	char got[sizeof(((struct err *)0)->msg) + 40];

	for (; p != NULL && p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			break;
		tab = memchr(p, '\t', (size_t)(nl - p));
		if (tab == NULL)
			continue;
		text = unescape(&a, (struct str){ p, (size_t)(tab - p) });
		want = (struct str){ tab + 1, (size_t)(nl - tab - 1) };
		if (row_ok(&a, text, want, got, sizeof(got)) && prefixes(text))
			s.good++;
		else
			fault(&s, arena_cstr(&a, (struct str){ p,
			    (size_t)(tab - p) }), got);
	}
	OK(s.good > 150);
	report(&s);
	arena_free(&a);
}

static bool
at(const struct json *v, unsigned line, unsigned col)
{
	return v != NULL && v->line == line && v->col == col;
}

static bool
key_at(const struct json *v, unsigned line, unsigned col)
{
	return v != NULL && v->key_line == line && v->key_col == col;
}

#define PLACES "# x\n" \
	"name: \"t\xc3\xa9st\"  # y\n" \
	"list:\n" \
	"  - a\n" \
	"  - {b: 1, 'c' : [2,\n" \
	"      3]}\n" \
	"none:\n" \
	"text: |\n" \
	"  x\n" \
	"flow: {p: , q}\n"

static void
test_places(void)
{
	struct arena a = { 0 };
	struct err e;
	struct json *v, *w;

	v = yaml_read_one(&a, STR(PLACES
	    "last: &x\n"
	    "  k: *y\n"), &e);
	OK(v == NULL && e.line == 12 && e.col == 6);
	v = yaml_read_one(&a, STR(PLACES
	    "anch: &x\n"
	    "  k: v\n"
	    "last: *x\n"), &e);
	OK(at(v, 2, 1));
	w = json_getc(v, "name");
	OK(at(w, 2, 7) && key_at(w, 2, 1));
	w = json_first(json_getc(v, "list"));
	OK(at(json_getc(v, "list"), 4, 3) && at(w, 4, 5) && at(w->next, 5, 5));
	OK(key_at(w, 0, 0));
	w = w->next;
	OK(at(json_getc(w, "b"), 5, 9) && key_at(json_getc(w, "b"), 5, 6));
	w = json_getc(w, "c");
	OK(at(w, 5, 18) && key_at(w, 5, 12) && at(json_first(w), 5, 19));
	OK(at(json_first(w)->next, 6, 7));
	OK(at(json_getc(v, "none"), 7, 6));
	OK(at(json_getc(v, "text"), 8, 7));
	w = json_getc(v, "flow");
	OK(at(json_getc(w, "p"), 10, 10) && at(json_getc(w, "q"), 10, 14));
	OK(at(json_getc(v, "anch"), 12, 3));
	w = json_getc(v, "last");
	OK(at(w, 13, 7) && at(json_getc(w, "k"), 12, 6));
	arena_free(&a);
}

static void
test_numbers(void)
{
	static const struct { const char *in, *out; } rows[] = {
		{ "0o17", "15" }, { "0x1F", "31" }, { "0x0", "0" },
		{ "0xFFFFFFFFFFFFFFFFF", "295147905179352825855" },
		{ "+1", "1" }, { "-01", "-1" }, { "00", "0" }, { "-0", "-0" },
		{ ".5", "0.5" }, { "5.", "5.0" }, { "-.5e3", "-0.5e3" },
		{ "1.50", "1.50" }, { "1E+2", "1E+2" },
		{ "9007199254740993", "9007199254740993" },
		{ ".inf", ".inf" }, { "+.Inf", ".inf" }, { "-.INF", "-.inf" },
		{ ".NaN", ".nan" },
	};
	struct arena a = { 0 };
	struct json *v;
	struct err e;
	size_t i;
	double d;
	bool ok;

	for (i = 0; i < COUNTOF(rows); i++) {
		v = yaml_read_one(&a, str_of(rows[i].in), &e);
		ok = v != NULL && v->type == JSON_NUMBER &&
		    str_is(json_text(v), rows[i].out) &&
		    str_is(json_source(v), rows[i].in);
		tap_ok(ok, rows[i].in, __FILE__, __LINE__);
	}
	v = yaml_read_one(&a, STR(".inf"), &e);
	OK(!json_double(v, &d));
	v = json_first(yaml_read_one(&a, STR("[True, &x 007, *x, false, "
	    "{<<: {k: +7}}, '07']"), &e));
	OK(json_bool(v) && str_is(json_source(v), "True"));
	v = v->next->next;
	OK(str_is(json_text(v), "7") && str_is(json_source(v), "007"));
	v = v->next;
	OK(!json_bool(v) && str_is(json_source(v), "false"));
	v = v->next;
	OK(str_is(json_source(json_getc(v, "k")), "+7"));
	OK(str_is(json_source(v->next), "07"));
	OK(sizeof(void *) != 8 || sizeof(*v) == 48);
	arena_free(&a);
}

static void
test_one(void)
{
	struct arena a = { 0 };
	struct yaml_opt opt = { .bytes = 10 };
	struct err e;
	struct json *v;

	v = yaml_read_one(&a, STR(" # nothing\n"), &e);
	OK(v != NULL && v->type == JSON_NULL && at(v, 1, 1));
	OK(yaml_read_one(&a, STR("a\n---\nb\n"), &e) == NULL);
	OK(e.code == ERR_SYNTAX && e.line == 3 && e.col == 1);
	OK(yaml_read(&a, STR("0123456789"), &opt, &e) != NULL);
	OK(yaml_read(&a, STR("0123456789 "), &opt, &e) == NULL);
	OK(e.code == ERR_LIMIT);
	opt = (struct yaml_opt){ .depth = 2 };
	OK(yaml_read(&a, STR("- - a\n"), &opt, &e) != NULL);
	OK(yaml_read(&a, STR("- - [a]\n"), &opt, &e) == NULL);
	OK(e.code == ERR_LIMIT && e.line == 1 && e.col == 5);
	OK(yaml_read(&a, STR("- &x [a]\n- *x\n"), &opt, &e) != NULL);
	OK(yaml_read(&a, STR("- &x [a]\n- [*x]\n"), &opt, &e) == NULL);
	OK(e.code == ERR_LIMIT && e.line == 2 && e.col == 4);
	opt = (struct yaml_opt){ .aliased = 4 };
	OK(yaml_read(&a, STR("- &x [a]\n- *x\n- *x\n"), &opt, &e) != NULL);
	OK(yaml_read(&a, STR("- &x [a]\n- [*x, *x, *x]\n"), &opt, &e) == NULL);
	OK(e.code == ERR_LIMIT && e.line == 2 && e.col == 12);
	arena_free(&a);
}

/* Reads a hostile text within a time limit; returns the error code. */
static enum err_code
hard(struct buf *b, struct json **v, struct arena *a)
{
	clock_t t = clock();
	struct err e = { 0 };

	arena_free(a);
	*v = yaml_read(a, buf_str(b), NULL, &e);
	b->n = 0;
	if (*v == NULL && !placed(&e))
		return ERR_SYS;
	/* generous: sanitizers and valgrind are slow */
	return clock() - t < 20 * CLOCKS_PER_SEC ? e.code : ERR_TIMEOUT;
}

static void
repeat(struct buf *b, const char *s, int n)
{
	while (n-- > 0)
		buf_puts(b, s);
}

static void
test_hard(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	struct json *v;
	int i;

	repeat(&b, "- ", 10000);
	OK(hard(&b, &v, &a) == ERR_LIMIT);
	repeat(&b, "[", 1 << 20);
	OK(hard(&b, &v, &a) == ERR_LIMIT);
	repeat(&b, "{a: ", 100000);
	OK(hard(&b, &v, &a) == ERR_LIMIT);
	repeat(&b, "[", 128);
	repeat(&b, "]", 128);
	OK(hard(&b, &v, &a) == ERR_NONE);
	for (i = 0; i < 1000; i++)
		buf_fmt(&b, "%*sa:\n", i, "");
	OK(hard(&b, &v, &a) == ERR_LIMIT);
	for (i = 0; i < 100000; i++)
		buf_fmt(&b, "key%d: %d\n", i, i);
	OK(hard(&b, &v, &a) == ERR_NONE && json_first(v)->n == 100000);
	for (i = 0; i < 100000; i++)
		buf_fmt(&b, "key%d: %d\n", i % 99999, i);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);
	repeat(&b, "a ", 1 << 19);
	OK(hard(&b, &v, &a) == ERR_NONE);
	repeat(&b, "a\n", 1 << 19);
	OK(hard(&b, &v, &a) == ERR_NONE);
	repeat(&b, "- a\n\n\n\n\n\n\n\n", 1 << 16);
	OK(hard(&b, &v, &a) == ERR_NONE);
	repeat(&b, "\"a\" ", 1 << 18);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);
	repeat(&b, "a:", 1 << 19);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);	/* a key of a megabyte */
	repeat(&b, ":a", 1 << 19);
	OK(hard(&b, &v, &a) == ERR_NONE);
	repeat(&b, "? ", 1 << 19);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);
	repeat(&b, "&a ", 1 << 19);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);
	repeat(&b, "---\n", 1 << 18);
	OK(hard(&b, &v, &a) == ERR_NONE && json_count(v) == 1 << 18);
	repeat(&b, "- |\n", 1 << 16);
	OK(hard(&b, &v, &a) == ERR_NONE);
	repeat(&b, "\"\\\n", 1 << 18);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);
	buf_puts(&b, "0x");
	repeat(&b, "f", 1 << 20);
	OK(hard(&b, &v, &a) == ERR_SYNTAX);
	repeat(&b, "9", 1 << 20);
	OK(hard(&b, &v, &a) == ERR_NONE);
	buf_free(&b);
	arena_free(&a);
}

static void
test_aliases(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	struct json *v;
	int i, k;

	buf_puts(&b, "a0: &a0 [x, x]\n");
	for (i = 1; i < 60; i++)
		buf_fmt(&b, "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1);
	OK(hard(&b, &v, &a) == ERR_LIMIT);
	for (i = 0; i < 60; i++) {	/* nesting by aliases */
		buf_fmt(&b, "- &a%d ", i);
		repeat(&b, "[", 100);
		if (i > 0)
			buf_fmt(&b, "*a%d", i - 1);
		repeat(&b, "]", 100);
		buf_puts(&b, "\n");
	}
	OK(hard(&b, &v, &a) == ERR_LIMIT);
	for (i = 0; i < 100000; i++)
		buf_fmt(&b, "- &a%d %d\n- *a%d\n", i, i, i / 2);
	OK(hard(&b, &v, &a) == ERR_NONE && json_first(v)->n == 200000);
	buf_puts(&b, "- &m {");
	for (i = 0; i < 1000; i++)
		buf_fmt(&b, "k%d: %d, ", i, i);
	buf_puts(&b, "}\n");
	for (k = 0; k < 100; k++)
		buf_fmt(&b, "- <<: *m\n  k%d: x\n", k);
	OK(hard(&b, &v, &a) == ERR_NONE);
	v = json_first(json_first(v))->next->next;
	OK(json_count(v) == 1000 && str_is(json_text(json_getc(v, "k1")), "x"));
	OK(str_is(json_text(json_getc(v, "k2")), "2") && sound(v));
	buf_puts(&b, "- &m0 {k0: 0}\n");	/* merging does not nest */
	for (i = 1; i < 300; i++)
		buf_fmt(&b, "- &m%d {<<: *m%d, k%d: %d}\n", i, i - 1, i, i);
	OK(hard(&b, &v, &a) == ERR_NONE);
	v = json_first(json_first(v));
	while (v != NULL && v->next != NULL)
		v = v->next;
	OK(v != NULL && json_count(v) == 300 && sound(v));
	for (k = 0; k < 3; k++) {	/* but nested values in it do */
		buf_puts(&b, "- &m {k: ");
		repeat(&b, "[", 126);
		repeat(&b, "]", 126);
		buf_puts(&b, k == 0 ? "}\n- <<: *m\n" : k == 1 ?
		    "}\n- - <<: *m\n" : "}\n- \"<<\": *m\n");
		OK(hard(&b, &v, &a) == (k == 0 ? ERR_NONE : ERR_LIMIT));
	}
	buf_free(&b);
	arena_free(&a);
}

/* Public data.  Each file is compared with the expected one beside it. */
static void
judge(struct score *s, struct arena *a, const char *name, struct str text,
    struct str want, bool refuse)
{
	struct err e = { 0 };
	struct json *v = yaml_read(a, text, NULL, &e), *w;

	if (v == NULL && !placed(&e)) {
		fault(s, name, "refused without a place");
	} else if (refuse != (v == NULL)) {
		fault(s, name, v != NULL ? "read" : e.msg);
	} else if (v != NULL) {
		w = want.p == NULL ? NULL : json_of(a, want);
		if (!sound(v))
			fault(s, name, "unsound");
		else if (w == NULL || (!json_equal(v, w) &&
		    (json_count(v) != 1 || !json_equal(json_first(v), w))))
			fault(s, name, "another value");
		else
			s->good++;
	} else {
		s->good++;
	}
}

/* Calls fn for every file under path. */
static void
walk(const char *path, void (*fn)(struct score *, const char *),
    struct score *s)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	char name[4096];

	if (dir == NULL) {
		fn(s, path);
		return;
	}
	while ((d = readdir(dir)) != NULL) {
		snprintf(name, sizeof(name), "%s/%s", path, d->d_name);
		if (strcmp(d->d_name, ".") != 0 && strcmp(d->d_name, "..") != 0)
			walk(name, fn, s);
	}
	closedir(dir);
}

static void
yaml_file(struct score *s, const char *path)
{
	struct str name = str_of(path), want, text, bad;
	struct arena a = { 0 };
	struct err e = { 0 };

	if (!str_ends(name, STR(".yaml")) && !str_ends(name, STR(".yml")))
		return;
	text = read_file(&a, path);
	want = slurp2(&a, path, ".json");
	bad = slurp2(&a, path, ".error");
	/* other files may use syntax outside the subset: see DESIGN.md */
	if (strstr(path, "/yaml-generic/") != NULL && bad.p == NULL &&
	    yaml_read(&a, text, NULL, &e) == NULL && placed(&e) &&
	    strstr(e.msg, "not supported") != NULL)
		s->good++;
	else if (want.p != NULL || bad.p != NULL)
		judge(s, &a, path, text, want, bad.p != NULL);
	arena_free(&a);
}

/* The frontmatter: lines between two "---" at the top of SKILL.md. */
static void
skill_file(struct score *s, const char *path)
{
	struct arena a = { 0 };
	struct str text, want, bad;
	const char *end;

	if (!str_ends(str_of(path), STR(".md")))
		return;
	text = read_file(&a, path);
	want = slurp2(&a, path, ".frontmatter.json");
	bad = slurp2(&a, path, ".frontmatter.error");
	if (str_starts(text, STR("\xef\xbb\xbf"))) {
		text.p += 3;
		text.n -= 3;
	}
	end = text.n < 4 ? NULL : strstr(text.p + 3, "\n---");
	if ((want.p != NULL || bad.p != NULL) && end != NULL) {
		text.n = (size_t)(end - text.p) + 1;
		judge(s, &a, path, text, want, bad.p != NULL);
	}
	arena_free(&a);
}

/* JSON is YAML, except for duplicate names. */
static void
json_file(struct score *s, const char *path)
{
	struct arena a = { 0 };
	const char *name = strrchr(path, '/') + 1;
	struct str text;

	if (strncmp(name, "y_", 2) == 0) {
		text = read_file(&a, path);
		judge(s, &a, name, text, text,
		    strstr(name, "duplicated_key") != NULL);
	}
	arena_free(&a);
}

/* Cases that CASES.tsv marks as outside, but that stay inside. */
static bool
is_inside(const char *id)
{
	static const char *const inside[] = {
		"2EBW", "4ABK", "FBC9"
	};
	size_t i;

	for (i = 0; i < COUNTOF(inside); i++)
		if (strcmp(id, inside[i]) == 0)
			return true;
	return false;
}

/* Prints documents as an array, one line of JSON each. */
static struct str
join(struct arena *a, struct str lines)
{
	struct buf b = { 0 };
	struct str s;
	size_t i;

	buf_puts(&b, "[");
	for (i = 0; i < lines.n; i++)
		buf_putc(&b, lines.p[i] == '\n' && i + 1 < lines.n ?
		    ',' : lines.p[i]);
	buf_puts(&b, "]");
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static void
suite_case(struct score *s, const char *dir, char *const f[COLUMNS])
{
	struct arena a = { 0 };
	struct str path = arena_fmt(&a, "%s/yaml/cases/%s/", dir, f[0]);
	const char *base = arena_cstr(&a, path);
	struct str text = slurp2(&a, base, "in.yaml");
	struct str want = slurp2(&a, base, "out.json");
	bool refuse = strcmp(f[1], "error") == 0 ||
	    (strcmp(f[3], "outside") == 0 && !is_inside(f[0]));

	if (strcmp(f[0], "4ABK") == 0)
		want = STR("{\"unquoted\":\"separate\","
		    "\"http://foo.com\":null,\"omitted value\":null}");
	if (text.p == NULL)
		fault(s, f[0], "no in.yaml");
	else
		judge(s, &a, f[0], text, join(&a, want), refuse);
	arena_free(&a);
}

static void
test_suite(const char *dir, const char *tier)
{
	struct arena a = { 0 };
	struct str file = arena_fmt(&a, "%s/yaml/CASES.tsv", dir);
	FILE *cases = fopen(arena_cstr(&a, file), "r");
	struct score s = { tier, 0, 0 };
	char line[1024], *f[COLUMNS], *p;
	int n;

	while (cases != NULL && fgets(line, sizeof(line), cases) != NULL) {
		for (n = 0, p = line; p != NULL && n < COLUMNS; n++) {
			f[n] = p;
			p = strchr(p, '\t');
			if (p != NULL)
				*p++ = '\0';
		}
		if (n > 3 && strcmp(f[3], tier) == 0)
			suite_case(&s, dir, f);
	}
	if (cases != NULL)
		fclose(cases);
	report(&s);
	arena_free(&a);
}

static void
test_corpus(void)
{
	static const struct {
		const char *part;
		void (*fn)(struct score *, const char *);
	} parts[] = {
		{ "waza-wild", yaml_file }, { "yaml-generic", yaml_file },
		{ "skills", skill_file }, { "json/parsing", json_file }
	};
	const char *dir = getenv("CORPUS");
	struct score s;
	char path[4096];
	size_t i;

	dir = dir != NULL ? dir : "../shared/corpus";
	test_suite(dir, "core");
	test_suite(dir, "common");
	test_suite(dir, "spec");
	test_suite(dir, "outside");
	for (i = 0; i < COUNTOF(parts); i++) {
		s = (struct score){ parts[i].part, 0, 0 };
		snprintf(path, sizeof(path), "%s/%s", dir, parts[i].part);
		walk(path, parts[i].fn, &s);
		report(&s);
	}
}

int
main(void)
{
	RUN(test_rows, test_places, test_numbers, test_one, test_hard,
	    test_aliases, test_corpus);
	return tap_done();
}
