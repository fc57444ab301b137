/* SPDX-License-Identifier: ISC */
/*
 * store.h: files of waza and of the original are found and followed when they
 * change; other files are skipped.
 */
#include "results/store.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "io/loop.h"
#include "json.h"
#include "results/outcome.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

static struct loop *l;
static struct store st;
static struct arena a;
static struct err e;
static char dir[] = "/tmp/waza-store-XXXXXX";
static size_t told;
static char last_told[200];

static void
on_changed(void *arg, const struct store_run *r)
{
	(void)arg;
	told++;
	snprintf(last_told, sizeof(last_told), "%.*s", STRF(r->name));
}

static const char *not_yet;

static bool
on_later(void *arg, const char *path)
{
	(void)arg;
	return not_yet != NULL && str_ends(str_of(path), str_of(not_yet));
}

static const char *
in(const char *name)
{
	return arena_fmt(&a, "%s/%s", dir, name).p;
}

static void
put(const char *name, const char *text)
{
	if (os_write_file(in("tmp"), str_of(text), &e) == -1 ||
	    rename(in("tmp"), in(name)) == -1)
		abort();
}

/* A results file: id, name, time, then members of the task, and of it all. */
static const char *
results(const char *id, const char *name, const char *when,
    const char *status, const char *more)
{
	return arena_fmt(&a, "{\"eval_id\":\"%s\",\"skill\":\"sk\","
	    "\"eval_name\":\"%s\",\"timestamp\":\"%s\",\"config\":"
	    "{\"model_id\":\"m1\",\"engine_type\":\"mock\","
	    "\"judge_model\":\"j\"},\"summary\":{\"duration_ms\":1500},"
	    "\"tasks\":[{\"test_id\":\"a\",\"display_name\":\"A\","
	    "\"status\":\"%s\",\"runs\":[{\"status\":\"%s\","
	    "\"duration_ms\":7,\"session_digest\":{\"usage\":"
	    "{\"input_tokens\":10,\"output_tokens\":5}},"
	    "\"validations\":{\"x\":{\"passed\":%s,\"score\":1}}}]}]%s}",
	    id, name, when, status, status,
	    strcmp(status, "passed") == 0 ? "true" : "false", more).p;
}

/* Turns the loop until a whole scan is complete. */
static void
look(void)
{
	int i;

	/* a slice of a scan ends by real time: a slow machine needs many */
	for (i = 0; i < 100000; i++) {
		fake_now += 20000;
		if (loop_turn(l, &e) != 1)
			abort();
		if (st.at == NULL)
			return;
	}
	abort();
}

/* The ids, the latest first. */
static const char *
ids(void)
{
	struct buf b = { 0 };
	size_t i, n;
	struct store_file **v = store_list(&st, &n);
	const char *s;

	for (i = 0; i < n; i++) {
		buf_put(&b, v[i]->run.id);
		buf_putc(&b, ' ');
	}
	s = arena_cstr(&a, buf_str(&b));
	buf_free(&b);
	return s;
}

static bool
are(const char *want)
{
	const char *got = ids();

	if (strcmp(got, want) != 0)
		printf("# want %s, got %s\n", want, got);
	return strcmp(got, want) == 0;
}

static const struct store_run *
get(const char *id)
{
	struct store_file *f = store_find(&st, str_of(id));

	return f != NULL ? &f->run : NULL;
}

static void
test_times(void)
{
	OK(result_parse_time(STR("1970-01-01T00:00:01Z")) == 1000000000);
	OK(result_parse_time(STR("2024-02-29T12:00:00.5+02:00")) ==
	    INT64_C(1709200800500000000));
	OK(result_parse_time(STR("2026-03-01T00:00:00.000000001-00:30")) ==
	    INT64_C(1772325000000000001));
	OK(result_parse_time(STR("2026-03-01 00:00:00")) ==
	    INT64_C(1772323200000000000));
	OK(result_parse_time(STR("")) == 0);
	OK(result_parse_time(STR("yesterday")) == 0);
	OK(result_parse_time(STR("2026-13-01T00:00:00Z")) == 0);
	OK(result_parse_time(STR("2026-03-01T00:00:00Zx")) == 0);
	OK(result_parse_time(STR("2026-03-01T00:00:00+0200")) ==
	    INT64_C(1772316000000000000));
	OK(result_parse_time(STR("2026-03-01T00:00:00+02")) == 0);
	OK(result_parse_time(STR("2026-03-01T00:00")) == 0);
}

static void
test_first(void)
{
	const struct store_run *r;

	put("one.json", results("run-1", "quick", "2026-01-01T00:00:00Z",
	    "passed", ",\"status\":\"passed\""));
	mkdir(in("sub"), 0755);
	mkdir(in("sub/deep"), 0755);
	mkdir(in(".hidden"), 0755);
	put(".hidden/no.json", results("run-h", "h", "", "passed", ""));
	put("sub/deep/two.json", results("run-2", "Other",
	    "2026-01-02T00:00:00Z", "failed", ""));
	put("bad.json", "{\"eval_id\": \"x\", \"tasks\": [");
	put("list.json", "[1,2]");
	put("object.json", "{\"a\":1}");
	put("empty.json", "");
	put("notes.txt", "no");
	if (symlink("one.json", in("link.json")) == -1 ||
	    symlink("/etc/passwd", in("out.json")) == -1 ||
	    symlink("..", in("sub/loop")) == -1 ||
	    mkfifo(in("pipe.json"), 0600) == -1)
		abort();
	OK(store_init(&st, &e) == 0);
	if (!st.scanned)
		look();
	OK(are("run-2 run-1 "));
	OK(st.nresults == 2 && st.nskipped == 6 && !st.full);
	OK(told == 0);
	r = get("run-1");
	OK(r != NULL && r->ok == 1 && r->state == STORE_COMPLETED);
	OK(r->total == 1 && r->passed == 1 && r->failed == 0 && r->summed);
	OK(r->duration_ms == 1500 && r->tokens == 15 && r->cost < 0);
	OK(str_is(r->executor, "mock") && str_is(r->model, "m1"));
	OK(str_is(r->judge, "j") && str_is(r->skill, "sk"));
	OK(str_ends(r->path, STR("/one.json")) && !r->live);
	r = get("run-2");
	OK(r->ok == 0 && r->state == STORE_COMPLETED && r->failed == 1);
	OK(get("") == NULL && get("run-3") == NULL && get("~") == NULL);
	OK(get("../one") == NULL && get("sub/deep/two") == NULL);
}

static void
test_change(void)
{
	put("one.json", results("run-1", "quick", "2026-01-03T00:00:00Z",
	    "failed", ""));
	look();
	OK(told == 1 && strcmp(last_told, "quick") == 0);
	OK(are("run-1 run-2 ") && get("run-1")->ok == 0);
	look();
	OK(told == 1);
	put("bad.json", results("run-b", "mended", "2025-01-01T00:00:00Z",
	    "passed", ""));
	not_yet = "bad.json";
	look();
	OK(told == 1 && get("run-b") == NULL);
	not_yet = NULL;
	look();
	OK(told == 2 && are("run-1 run-2 run-b ") && st.nskipped == 5);
	put("new.json", "{");
	not_yet = "new.json";
	look();
	OK(st.nskipped == 5 && st.nresults == 3);
	not_yet = NULL;
	look();
	OK(st.nskipped == 6);
	unlink(in("new.json"));
	unlink(in("sub/deep/two.json"));
	rmdir(in("sub/deep"));
	look();
	OK(are("run-1 run-b ") && st.ndirs == 2);
	mkdir(in("sub/deep"), 0755);
	put("sub/deep/new.json", results("run-n", "new",
	    "2026-02-01T00:00:00Z", "passed", ""));
	look();
	look();
	OK(are("run-n run-1 run-b ") && st.ndirs == 3);
	put("bad.json", "{");
	look();
	OK(are("run-n run-1 ") && get("run-b") == NULL);
	unlink(in("sub/deep/new.json"));
	unlink(in("sub/loop"));
	rmdir(in("sub/deep"));
	rmdir(in("sub"));
	put("sub", "a file now");
	look();
	OK(are("run-1 ") && st.ndirs == 1);
	unlink(in("sub"));
}

/* Equal ids do not hide each other. */
static void
test_twins(void)
{
	const struct store_run *r;
	char *other;

	put("a-copy.json", results("run-1", "copy", "2026-01-04T00:00:00Z",
	    "passed", ""));
	put("weird.json", results("../../x y", "weird", "", "passed", ""));
	put("none.json", "{\"eval_name\":\"none\",\"tasks\":null,\"summary\":"
	    "{\"succeeded\":3,\"failed\":1,\"errors\":1,\"skipped\":2}}");
	look();
	OK(st.nresults == 4);
	r = get("run-1");
	OK(str_is(r->name, "copy"));
	other = strstr(ids(), "run-1~");
	OK(other != NULL);
	other[strcspn(other, " ")] = '\0';
	r = get(other);
	OK(r != NULL && str_is(r->name, "quick"));
	unlink(in("a-copy.json"));
	look();
	OK(str_is(get("run-1")->name, "quick"));
	OK(get(other) == get("run-1"));
	OK(strstr(ids(), "x y") == NULL);
	other = strstr(ids(), "file-");
	OK(other != NULL);
	other[strcspn(other, " ")] = '\0';
	r = get(other);
	OK(r != NULL && (str_is(r->name, "none") || str_is(r->name, "weird")));
	unlink(in("weird.json"));
	look();
	other = strstr(ids(), "file-");
	other[strcspn(other, " ")] = '\0';
	r = get(other);
	OK(r->passed == 3 && r->failed == 2 && r->errors == 1);
	OK(r->skipped == 2 && r->total == 7 && r->ok == 0);
	unlink(in("none.json"));
	look();
}

static void
test_state(void)
{
	static const struct timespec old[2] = { { 1000000000, 0 },
		{ 1000000000, 0 } };

	put("r.json", results("run-r", "r", "2026-01-01T00:00:00Z", "running",
	    ",\"status\":\"running\""));
	put("c.json", results("run-c", "c", "2026-01-01T00:00:00Z", "passed",
	    ",\"status\":\"cancelled\""));
	look();
	OK(get("run-r")->state == STORE_RUNNING && get("run-r")->ok == -1);
	OK(get("run-c")->state == STORE_CANCELLED && get("run-c")->ok == 0);
	utimensat(AT_FDCWD, in("r.json"), old, 0);
	look();
	OK(get("run-r")->state == STORE_CANCELLED);
	unlink(in("r.json"));
	unlink(in("c.json"));
	look();
}

static void
test_query(void)
{
	struct store_run r = { .name = STR("Quick Suite"), .id = STR("run-1"),
		.model = STR("gpt-X"), .state = STORE_FAILED };
	struct store_query q = { .state = -1 };

	OK(store_matches(&r, &q));
	q.q = STR("k su");
	OK(store_matches(&r, &q));
	q.q = STR("GPT-x");
	OK(store_matches(&r, &q));
	q.q = STR("gpt-xy");
	OK(!store_matches(&r, &q));
	q = (struct store_query){ .state = STORE_FAILED };
	OK(store_matches(&r, &q));
	q.state = STORE_RUNNING;
	OK(!store_matches(&r, &q));
	q = (struct store_query){ .suite = STR("Quick Suite"), .state = -1 };
	OK(store_matches(&r, &q));
	q.suite = STR("Quick");
	OK(!store_matches(&r, &q));
}

static void
test_demand(void)
{
	struct store_file *f = store_find(&st, STR("run-1"));
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct outcome *oc;
	int64_t size;
	int fd;

	oc = store_outcome(&st, f, &e);
	OK(oc != NULL && oc->ntasks == 1);
	OK(store_outcome(&st, f, &e) == oc);
	json_open(&o, '{');
	store_put(&o, &f->run);
	store_put_tasks(&o, oc);
	json_close(&o, '}');
	OK(strstr(arena_cstr(&a, buf_str(&b)), "\"tasks\":[{\"id\":\"a\","
	    "\"name\":\"A\",\"status\":\"failed\",\"score\":1,\"trials\":1,"
	    "\"passed\":0,\"durationMs\":7,"
	    "\"failedGraders\":[\"x\"]}]") != NULL);
	OK(strstr(b.p, "\"source\":\"file\",\"status\":\"completed\","
	    "\"ok\":false,\"executor\":\"mock\"") != NULL);
	buf_free(&b);
	fd = store_open(&st, f, &size, &e);
	OK(fd > 2 && size > 300);
	os_close(&fd);
	put("one.json", results("run-1", "quick", "2026-01-03T00:00:00Z",
	    "passed", ""));
	oc = store_outcome(&st, f, &e);
	OK(oc != NULL && oc->tasks[0].status == RESULT_PASSED);
	fd = store_open(&st, f, &size, &e);
	OK(fd > 2);
	os_close(&fd);
	put("one.json", "{\"eval_id\":\"run-1\"}}");	/* invalid now */
	OK(store_open(&st, f, &size, &e) == -1);
	unlink(in("one.json"));
	OK(store_outcome(&st, f, &e) == NULL && e.code == ERR_SYS);
	OK(store_open(&st, f, &size, &e) == -1);
	if (symlink("/etc/passwd", in("one.json")) == -1)
		abort();
	OK(store_outcome(&st, f, &e) == NULL);
	OK(store_open(&st, f, &size, &e) == -1);
	unlink(in("one.json"));
	look();
	OK(st.nresults == 0 && store_find(&st, STR("run-1")) == NULL);
}

/* Many files, and a directory below the depth limit. */
static void
test_many(void)
{
	char deep[400];
	size_t n, i;

	for (i = 0; i < 300; i++)
		put(arena_fmt(&a, "m%03zu.json", i).p, results(
		    arena_fmt(&a, "run-%03zu", i).p, "many",
		    arena_fmt(&a, "2026-01-01T00:%02zu:%02zuZ", i / 60,
		    i % 60).p, "passed", ""));
	look();
	store_list(&st, &n);
	OK(n == 300 && st.nresults == 300);
	OK(strncmp(ids(), "run-299 run-298 ", 16) == 0);
	OK(get("run-150") != NULL);
	for (i = 0; i < 300; i++)
		unlink(in(arena_fmt(&a, "m%03zu.json", i).p));
	snprintf(deep, sizeof(deep), "d");
	for (i = 0; i < 20; i++) {
		mkdir(in(deep), 0755);
		if (i == 10 || i == 19)
			put(arena_fmt(&a, "%s/x.json", deep).p, results(
			    arena_fmt(&a, "run-%zu", i).p, "deep", "",
			    "passed", ""));
		snprintf(deep + strlen(deep), 10, "/d");
	}
	look();
	OK(are("run-10 ") && st.full);
	if (system(arena_fmt(&a, "rm -rf %s", in("d")).p) != 0)
		abort();
	look();
	OK(st.nresults == 0 && st.ndirs == 1);
}

/* A file must not enlarge the list: it is not read, or its names are cut. */
static void
test_large(void)
{
	char name[STORE_TEXT_MAX + 100];
	size_t others = st.nskipped;

	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	put("long.json", results("run-long", name, "", "passed", ""));
	put("large.json", results("run-large", "large", "", "passed", ""));
	look();
	OK(st.nresults == 2 && st.nlarge == 0);
	OK(get("run-long")->name.n == STORE_TEXT_MAX);
	if (truncate(in("large.json"), (off_t)STORE_FILE_MAX + 1) == -1)
		abort();
	look();
	OK(st.nresults == 1 && st.nlarge == 1);
	OK(st.nskipped == others + 1);
	OK(get("run-large") == NULL);
	unlink(in("large.json"));
	unlink(in("long.json"));
	look();
	OK(st.nresults == 0 && st.nlarge == 0 && st.nskipped == others);
}

/* Without requests scans are rare; a request starts one at once. */
static void
test_idle(void)
{
	size_t n;

	fake_now += 100000;
	while (loop_turn(l, &e) == 1 && !(st.at == NULL && st.idle))
		fake_now = st.timer.at;
	OK(st.timer.at - fake_now > 5000);
	put("idle.json", results("run-i", "idle", "", "passed", ""));
	store_list(&st, &n);
	OK(n == 0 && st.timer.at <= fake_now);
	while (loop_turn(l, &e) == 1 && st.at != NULL)
		fake_now = st.timer.at;
	OK(get("run-i") != NULL && st.timer.at - fake_now <= 2000);
	unlink(in("idle.json"));
}

int
main(void)
{
	struct store none = { .dir = "/nonexistent/x" };

	if (mkdtemp(dir) == NULL || os_init(&e) == -1)
		return 1;
	l = loop_new(fake_clock, &e);
	none.loop = l;
	OK(store_init(&none, &e) == -1 && e.code == ERR_SYS);
	store_fini(&none);
	st = (struct store){ .loop = l, .dir = dir, .changed = on_changed,
		.later = on_later };
	RUN(test_times, test_first, test_change, test_twins, test_state,
	    test_query, test_demand, test_many, test_large, test_idle);
	store_fini(&st);
	loop_free(l);
	if (system(arena_fmt(&a, "rm -rf %s", dir).p) != 0)
		return 1;
	arena_free(&a);
	return tap_done();
}
