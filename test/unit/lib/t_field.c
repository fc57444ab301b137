/* SPDX-License-Identifier: ISC */
#include <string.h>

#include "base/base.h"
#include "json.h"
#include "lib/field.h"
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
	int64_t max_workers;
	struct field_ints range;
	int64_t size;
	int mood;
};

static const char *const colors[] = { "red", "green", "blue", NULL };
static const char *const moods[] = { "good", "goodness", NULL };
static const struct point origin = { 0, 7 };

static const struct field point_rows[] = {
	FIELD(point, x, FIELD_INT, .flags = FIELD_REQUIRED),
	FIELD(point, y, FIELD_INT, .help = "second"),
};
static const struct field_table point_table = {
	point_rows, COUNTOF(point_rows), sizeof(struct point), &origin
};
static const struct field job_rows[] = {
	FIELD(job, name, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(job, workers, FIELD_INT, .min = 1, .max = 100, .alias = "jobs"),
	FIELD(job, weight, FIELD_NUM, .min = 0, .max = 1),
	FIELD(job, verbose, FIELD_BOOL, .help = "say more"),
	FIELD(job, color, FIELD_ENUM, .words = colors),
	FIELD(job, tags, FIELD_STRS, .help = "words"),
	FIELD(job, at, FIELD_OBJECT, .sub = &point_table),
	FIELD(job, path, FIELD_OBJECTS, .sub = &point_table),
	FIELD(job, extra, FIELD_TREE, .help = "anything"),
	FIELD(job, range, FIELD_INTS, .min = 2, .max = 2),
	FIELD(job, size, FIELD_INT, .min = 1, .max = INT64_C(1) << 53),
	FIELD(job, mood, FIELD_ENUM, .words = moods),
	FIELD(job, max_workers, FIELD_INT, .flags = FIELD_RETIRED,
	    .instead = "workers"),
};
static const struct field_table job_table = FIELD_TABLE(job, job_rows);

static struct arena arena;
static struct buf said;		/* "level line:col path: message\n" ... */

static void
say(void *ctx, const struct field_finding *f)
{
	(void)ctx;
	buf_fmt(&said, "%s %u:%u %.*s: %s\n",
	    f->level == FIELD_ERROR ? "error" : "warning", f->line, f->col,
	    STRF(f->path), f->msg);
}

static const struct json *
tree(const char *text)
{
	return read_json(&arena, str_of(text));
}

/* Whether decoding reports exactly these findings. */
static bool
says(const char *text, unsigned flags, const char *want)
{
	struct field_ctx ctx = { &arena, flags, say, NULL, NULL };
	struct job job = { .workers = 3 };

	said.n = 0;
	field_decode(&ctx, &job_table, tree(text), &job);
	if (!str_is(buf_str(&said), want))
		printf("# got: %.*s\n", STRF(buf_str(&said)));
	return str_is(buf_str(&said), want);
}

static void
test_values(void)
{
	struct job job = { .workers = 3, .weight = 0.5 };
	struct err e;
	struct point *p;

	OK(field_decode_one(&arena, &job_table, tree("{\"name\":\"n\","
	    "\"jobs\":9,\"verbose\":true,\"color\":\"blue\",\"weight\":null,"
	    "\"tags\":[\"a\",\"b\"],\"at\":{\"x\":4},\"extra\":[1],"
	    "\"path\":[{\"x\":1},{\"x\":2,\"y\":3}]}"), &job, &e) == 0);
	OK(str_is(job.name, "n") && job.workers == 9 && job.verbose);
	OK(job.weight == 0.5);		/* null keeps the default */
	OK(job.color == 2);
	OK(job.tags.n == 2 && str_is(job.tags.v[1], "b"));
	OK(job.at.x == 4 && job.at.y == 0);
	OK(job.extra != NULL && json_count(job.extra) == 1);
	p = job.path.v;
	OK(job.path.n == 2 && p[0].x == 1 && p[0].y == 7 && p[1].y == 3);
	OK(field_decode_one(&arena, &job_table,
	    tree("{\"name\":\"n\",\"tags\":\"solo\"}"), &job, &e) == 0);
	OK(job.tags.n == 1 && str_is(job.tags.v[0], "solo"));
	OK(field_decode_one(&arena, &job_table,
	    tree("{\"name\":\"n\",\"range\":[3,-4]}"), &job, &e) == 0);
	OK(job.range.n == 2 && job.range.v[0] == 3 && job.range.v[1] == -4);
	OK(field_decode_one(&arena, &job_table, tree("{\n \"workers\": \"x\"}"),
	    &job, &e) == -1);
	OK(e.code == ERR_SCHEMA && e.line == 2 && e.col == 13);
	OK(strcmp(e.msg, "\"workers\" must be a whole number, not a string") == 0);
	OK(job.workers == 9);		/* an error keeps the default */
}

static void
test_errors(void)
{
	OK(says("{\"name\":\"n\",\"wokers\":1}", 0, "warning 1:13 wokers: "
	    "unknown key \"wokers\" (did you mean \"workers\"?)\n"));
	OK(says("{\"name\":\"n\",\"wokers\":1}", FIELD_STRICT, "error 1:13 "
	    "wokers: unknown key \"wokers\" (did you mean \"workers\"?)\n"));
	OK(says("{\"name\":\"n\",\"colour\":\"red\"}", 0, "warning 1:13 "
	    "colour: unknown key \"colour\" (did you mean \"color\"?)\n"));
	OK(says("{\"name\":\"n\",\"q\":1}", 0,
	    "warning 1:13 q: unknown key \"q\"\n"));
	OK(says("{\"name\":\"n\",\"zzz\":1}", 0,
	    "warning 1:13 zzz: unknown key \"zzz\"\n"));
	OK(says("{\"name\":\"n\",\"zzz\":1}", FIELD_OPEN, ""));
	OK(says("{\"max_workers\":2,\"name\":\"n\"}", 0, "warning 1:2 "
	    "max_workers: \"max_workers\" is an old name; use \"workers\"\n"));
	OK(says("{}", 0, "error 1:1 name: Missing required field: name\n"));
	OK(says("{\"name\":null}", 0,
	    "error 1:1 name: Missing required field: name\n"));
	OK(says("[]", 0, "error 1:1 : expected a mapping, not a list\n"));
	/* all errors, in the order of the text */
	OK(says("{\"name\":3,\"workers\":0,\"weight\":1.5,\"verbose\":1,"
	    "\"color\":\"blu\"}", 0,
	    "error 1:9 name: \"name\" must be a string, not a number\n"
	    "error 1:21 workers: \"workers\" must be from 1 to 100, not 0\n"
	    "error 1:32 weight: \"weight\" must be from 0 to 1, not 1.5\n"
	    "error 1:46 verbose: \"verbose\" must be true or false, "
	    "not a number\n"
	    "error 1:56 color: \"color\" cannot be \"blu\" "
	    "(did you mean \"blue\"?)\n"));
	OK(says("{\"name\":\"n\",\"color\":\"mauve\"}", 0, "error 1:21 color: "
	    "\"color\" must be one of red, green, blue, not \"mauve\"\n"));
	OK(says("{\"name\":\"n\",\"workers\":1.5}", 0, "error 1:23 workers: "
	    "\"workers\" must be a whole number, not 1.5\n"));
	/* more digits than a double can represent */
	OK(says("{\"name\":\"n\",\"size\":9007199254740992}", 0, ""));
	OK(says("{\"name\":\"n\",\"size\":9007199254740993}", 0, "error 1:20 "
	    "size: \"size\" must be from 1 to 9007199254740992, "
	    "not 9007199254740993\n"));
	/* the nearest, not the first */
	OK(says("{\"name\":\"n\",\"mood\":\"goodnes\"}", 0, "error 1:20 "
	    "mood: \"mood\" cannot be \"goodnes\" "
	    "(did you mean \"goodness\"?)\n"));
	OK(says("{\"name\":\"n\",\"path\":[{\"x\":1},{\"y\":2}]}", 0,
	    "error 1:29 path[1].x: Missing required field: x\n"));
	OK(says("{\"name\":\"n\",\"tags\":[\"a\",{}]}", 0, "error 1:25 tags[1]: "
	    "\"tags\" must be a string, not a mapping\n"));
	OK(says("{\"name\":\"n\",\"range\":[1]}", 0, "error 1:21 range: "
	    "\"range\" must have 2 to 2 numbers, not 1\n"));
	OK(says("{\"name\":\"n\",\"range\":[1,\"x\"]}", 0, "error 1:24 "
	    "range[1]: \"range\" must be whole numbers, not a string\n"));
	OK(says("{\"name\":\"n\",\"at\":5}", 0,
	    "error 1:18 at: expected a mapping, not a number\n"));
}

static bool
verbose(const char *word, unsigned flags)
{
	struct field_ctx ctx = { &arena, flags, say, NULL, NULL };
	struct job job = { 0 };
	struct str text = arena_fmt(&arena,
	    "{\"name\":\"n\",\"verbose\":\"%s\"}", word);

	said.n = 0;
	field_decode(&ctx, &job_table, tree(text.p), &job);
	return job.verbose;
}

/* Booleans of YAML 1.1, accepted in YAML only. */
static void
test_old_bools(void)
{
	OK(verbose("yes", FIELD_LAX) && verbose("On", FIELD_LAX));
	OK(verbose("Y", FIELD_LAX) && said.n == 0);
	OK(!verbose("no", FIELD_LAX) && said.n == 0);
	OK(!verbose("OFF", FIELD_LAX) && said.n == 0);
	OK(!verbose("n", FIELD_LAX) && said.n == 0);
	OK(!verbose("yess", FIELD_LAX) && said.n > 0);
	OK(!verbose("", FIELD_LAX) && said.n > 0);
	OK(!verbose("yes", 0) && said.n > 0);
}

/* Where a string is expected, a number keeps its spelling. */
static void
test_spelling(void)
{
	struct field_ctx ctx = { &arena, FIELD_LAX, say, NULL, NULL };
	struct job job = { .workers = 3 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct err e;
	const struct json *v = yaml_read_one(&arena, STR("name: 0x1F\n"
	    "tags: [007, +7, True, 1.50, .5]\nworkers: 007\n"), &e);

	said.n = 0;
	OK(v != NULL && field_decode(&ctx, &job_table, v, &job) == 0);
	OK(str_is(job.name, "0x1F") && job.workers == 7 && job.tags.n == 5);
	OK(str_is(job.tags.v[0], "007") && str_is(job.tags.v[1], "+7"));
	OK(str_is(job.tags.v[2], "True") && str_is(job.tags.v[3], "1.50"));
	OK(str_is(job.tags.v[4], ".5") && said.n == 0);
	json_open(&o, '{');
	field_put_strs(&o, "tags", &job.tags);
	json_close(&o, '}');
	OK(str_is(arena_take(&arena, &b), "{\"tags\":[\"007\",\"+7\",\"True\","
	    "\"1.50\",\".5\"]}") && b.p == NULL);
	v = yaml_read_one(&arena, STR("name: n\nworkers: 0xFF\n"), &e);
	OK(field_decode(&ctx, &job_table, v, &job) == 1);
	OK(str_is(buf_str(&said), "error 2:10 workers: "
	    "\"workers\" must be from 1 to 100, not 0xFF\n"));
}

int
main(void)
{
	RUN(test_values, test_errors, test_old_bools, test_spelling);
	OK(says("{\"name\":12,\"tags\":[true,1.50]}", FIELD_LAX, ""));
	OK(field_find(&job_table, STR("jobs")) == &job_rows[1]);
	arena_free(&arena);
	buf_free(&said);
	return tap_done();
}
