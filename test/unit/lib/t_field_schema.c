/* SPDX-License-Identifier: ISC */
#include <stdio.h>

#include "base/base.h"
#include "json.h"
#include "lib/field.h"
#include "lib/field_schema.h"
#include "lib/schema/schema.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"
#include "yaml_lite.h"

struct point {
	int64_t x, y;
};

struct job {
	struct str name;
	int64_t workers;
	double weight;
	bool verbose;
	int color;
	struct field_strs tags;
	struct point at;
	struct field_list path;
	const struct json *extra;
	struct field_ints range;
};

static const char *const colors[] = { "red", "green", NULL };
static const struct job init = { .workers = 4, .weight = -1, .color = 1,
	.verbose = true, .name = { "none", 4 } };

static const struct field point_rows[] = {
	FIELD(point, x, FIELD_INT, .flags = FIELD_REQUIRED),
	FIELD(point, y, FIELD_INT, .help = "second"),
};
static const struct field_table point_table =
    FIELD_TABLE(point, point_rows);
static const struct field job_rows[] = {
	FIELD(job, name, FIELD_STR, .flags = FIELD_REQUIRED, .alias = "title"),
	FIELD(job, workers, FIELD_INT, .min = 1, .max = 100),
	FIELD(job, weight, FIELD_NUM, .min = 0, .max = 1),
	FIELD(job, verbose, FIELD_BOOL, .help = "say more"),
	FIELD(job, color, FIELD_ENUM, .words = colors),
	FIELD(job, tags, FIELD_STRS, .values = FIELD_FILES),
	FIELD(job, at, FIELD_OBJECT, .sub = &point_table),
	FIELD(job, path, FIELD_OBJECTS, .sub = &point_table),
	FIELD(job, extra, FIELD_TREE, .schema = "\"minimum\":3"),
	FIELD(job, range, FIELD_INTS, .min = 2, .max = 2),
};
static const struct field_table job_table = { job_rows, COUNTOF(job_rows),
	sizeof(struct job), &init };

static struct arena arena;

static const struct json *
schema_of(const struct field_table *t, bool strict, bool exact)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct arena tmp = { 0 };
	struct field_schema s = { .out = &o, .tmp = &tmp, .strict = strict,
		.exact = exact, .values = true };
	const struct json *v;

	field_put_schema(&s, t, false);
	arena_free(&tmp);
	v = arena_json(&arena, arena_take(&arena, &b), NULL);
	return v;
}

static struct schema *
compiled(const struct field_table *t, bool strict)
{
	struct schema_opts o = { .draft = SCHEMA_7 };
	struct err e = { 0 };

	return schema_compile(&arena, schema_of(t, strict, false), &o, &e);
}

static bool
accepts(struct schema *s, const char *text)
{
	struct arena tmp = { 0 };
	struct err e = { 0 };
	int r = schema_check(s, &tmp, yaml_read_one(&arena, str_of(text), &e),
	    NULL, NULL, &e);

	arena_free(&tmp);
	return r == 1;
}

static bool
decodes(const char *text, bool strict)
{
	struct field_ctx ctx = { .arena = &arena, .flags = FIELD_LAX |
		(strict ? (unsigned)FIELD_STRICT : 0) };
	struct job job = init;
	struct err e = { 0 };

	return field_decode(&ctx, &job_table, yaml_read_one(&arena,
	    str_of(text), &e), &job) == 0;
}

/* The schema accepts exactly the values that the decoder does. */
static void
test_same_as_decoder(void)
{
	static const char *const keys[] = { "name", "title", "workers",
		"weight", "verbose", "color", "tags", "at", "path", "range",
		"unknown" };
	static const char *const values[] = { "x", "1", "1.5", "0", "-1",
		"100", "101", "0.5", "true", "yes", "OFF", "maybe", "\"\"",
		"null", "red", "green", "blue", "[]", "[a, b]", "[1, true]",
		"[null]", "[[a]]", "{}", "{x: 1}", "{x: 1.5}", "{x: null}",
		"{y: 1}", "{x: 1, z: 2}", "[{x: 1}]", "[{x: a}]", "[{}]",
		"[1, 2]", "[1]", "[1, 2, 3]", "[1, a]", "100.0", "1e1" };
	struct schema *s[] = { compiled(&job_table, false),
		compiled(&job_table, true) };
	size_t i, k, strict, bad = 0;
	struct str text;

	OK(s[0] != NULL && s[1] != NULL);
	for (strict = 0; strict < 2; strict++)
		for (i = 0; i < COUNTOF(keys); i++)
			for (k = 0; k < COUNTOF(values); k++) {
				text = arena_fmt(&arena, "%s%s: %s\n",
				    i > 1 ? "name: n\n" : "", keys[i],
				    values[k]);
				if (accepts(s[strict], text.p) ==
				    decodes(text.p, strict != 0))
					continue;
				printf("# %s", text.p);
				bad++;
			}
	OK(bad == 0);
	OK(!accepts(s[0], "workers: 1\n"));
	OK(!accepts(s[0], "[name]\n"));
}

static const struct json *
at(const struct json *v, const char *key)
{
	return json_getc(json_getc(v, "properties"), key);
}

static void
test_annotations(void)
{
	const struct json *v = schema_of(&job_table, false, false);
	int64_t i;

	OK(str_is(json_str(at(v, "verbose"), "description"), "say more"));
	OK(json_int(json_getc(at(v, "workers"), "default"), &i) && i == 4);
	OK(json_getc(at(v, "weight"), "default") == NULL);
	OK(str_is(json_str(at(v, "color"), "default"), "green"));
	OK(json_bool(json_getc(at(v, "verbose"), "default")));
	OK(json_getc(at(v, "name"), "default") == NULL);
	OK(json_int(json_getc(at(v, "extra"), "minimum"), &i) && i == 3);
	OK(str_is(json_str(at(v, "tags"), "x-values"), "files"));
	OK(json_int(json_getc(at(v, "workers"), "maximum"), &i) && i == 100);
}

static const struct field part_rows[] = {
	FIELD(job, extra, FIELD_TREE, .sub = &point_table),
	{ .key = "list", .type = FIELD_TREE, .sub = &point_table,
	    .shape = FIELD_AS_LIST | FIELD_OR_SCALAR },
	{ .key = "map", .type = FIELD_TREE, .sub = &point_table,
	    .shape = FIELD_AS_MAP },
	{ .key = "either", .type = FIELD_TREE, .sub = &point_table,
	    .shape = FIELD_OR_SCALAR },
	{ .key = "workers", .type = FIELD_TREE, .sub = &job_table,
	    .shape = FIELD_AS_ROW },
	{ .key = "nobody", .type = FIELD_TREE, .sub = &job_table,
	    .shape = FIELD_AS_ROW },
};
static const struct field_table part_table = FIELD_TABLE(job, part_rows);

static void
test_shapes(void)
{
	struct schema *s = compiled(&part_table, true);

	OK(accepts(s, "extra: {x: 1}"));
	OK(!accepts(s, "extra: [{x: 1}]"));
	OK(accepts(s, "list: [a, {x: 1}, 2]"));
	OK(!accepts(s, "list: [{}]"));
	OK(!accepts(s, "list: a"));
	OK(accepts(s, "map: {a: {x: 1}, b: {x: 2, y: 3}}"));
	OK(!accepts(s, "map: {a: 1}"));
	OK(accepts(s, "either: a"));
	OK(accepts(s, "either: {x: 1}"));
	OK(!accepts(s, "either: [a]"));
	OK(accepts(s, "workers: 7"));
	OK(!accepts(s, "workers: 700"));
	OK(!accepts(s, "nobody: 1"));
}

static void
test_exact(void)
{
	const struct json *v = schema_of(&job_table, false, true);
	struct schema_opts o = { .draft = SCHEMA_7 };
	struct err e = { 0 };
	struct schema *s = schema_compile(&arena, v, &o, &e);

	OK(accepts(s, "{name: a, verbose: true, tags: [a]}"));
	OK(!accepts(s, "{name: 1}"));
	OK(!accepts(s, "{name: a, verbose: \"yes\"}"));
	OK(!accepts(s, "{name: a, tags: a}"));
	OK(!accepts(s, "{name: a, workers: null}"));
}

int
main(void)
{
	RUN(test_same_as_decoder, test_annotations, test_shapes, test_exact);
	arena_free(&arena);
	return tap_done();
}
