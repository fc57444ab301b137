/* SPDX-License-Identifier: ISC */
/*
 * Checks against compiled schemas, over the documents of the public suite:
 * those that are named in IDS, one a line, when the peer has written that
 * list.  Then one small document as a person checks it, with the start of
 * the program.
 *
 *	schema_bench -records >RECORDS
 *	schema_bench CASES.jsonl IDS RECORDS CHECK_NS COMPILE_NS RECORD_NS
 *	schema_bench -start COUNT program argument ...
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/base.h"
#include "json.h"
#include "lib/schema/schema.h"

enum { CASES = 4096, ROUNDS = 10 };

struct one {
	struct schema *schema;
	const struct json *doc, *data;
	enum schema_draft draft;
};

/* ns of a clock. */
static double
clock_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* This process's time, so that the neighbours' work does not count. */
static double
now(void)
{
	return clock_now(CLOCK_PROCESS_CPUTIME_ID);
}

static struct str
slurp(struct arena *a, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct buf b = { 0 };
	struct str s;
	char chunk[65536];
	size_t n;

	while (f != NULL && (n = fread(chunk, 1, sizeof(chunk), f)) > 0)
		buf_put(&b, (struct str){ chunk, n });
	if (f != NULL)
		fclose(f);
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* Whether the list has the id on a line of its own; an empty one has all. */
static bool
listed(struct str ids, struct str id)
{
	const char *p = ids.p, *end = p + ids.n, *nl;

	for (; p < end; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			return false;
		if (str_eq(id, (struct str){ p, (size_t)(nl - p) }))
			return true;
	}
	return ids.n == 0;
}

/* Cases of one schema are adjacent and share the compiled schema. */
static size_t
load(struct arena *a, struct str text, struct str ids, struct one *v)
{
	struct json_mem mem = { arena_hook, a };
	const char *p = text.p, *end = p + text.n, *nl;
	struct schema_opts o = { .draft = SCHEMA_7 };
	struct json_error je;
	struct err e;
	struct json *c;
	size_t n = 0;

	for (; p < end && n < CASES; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			break;
		c = json_read(&mem, (struct str){ p, (size_t)(nl - p) }, 0, &je);
		if (c == NULL || !listed(ids, json_text(json_getc(c, "id"))))
			continue;
		o.draft = str_is(json_text(json_getc(c, "draft")), "draft7") ?
		    SCHEMA_7 : SCHEMA_2020_12;
		v[n].doc = json_getc(c, "schema");
		v[n].data = json_getc(c, "data");
		v[n].draft = o.draft;
		if (n > 0 && v[n - 1].draft == o.draft &&
		    json_equal(v[n - 1].doc, v[n].doc))
			v[n].schema = v[n - 1].schema;
		else
			v[n].schema = schema_compile(a, v[n].doc, &o, &e);
		n += v[n].schema != NULL;
	}
	return n;
}

static void
hear(void *ctx, const struct schema_finding *f)
{
	*(size_t *)ctx += f->msg.n;
}

static double
check_all(const struct one *v, size_t n, schema_report_fn *report)
{
	static struct arena tmp;
	size_t heard = 0;
	double t = now(), d, k = 0;
	struct err e;
	size_t i;

	do {
		for (i = 0; i < n; i++)
			schema_check(v[i].schema, &tmp, v[i].data, report,
			    &heard, &e);
		k++;
		d = now() - t;
	} while (d < 2e8);
	return d / k / (double)n;
}

static double
compile_all(const struct one *v, size_t n)
{
	double t = now();
	size_t i, k = 0;

	for (i = 0; i < n; i++) {
		struct schema_opts o = { .draft = v[i].draft };
		struct arena a = { 0 };
		struct err e;

		if (i > 0 && v[i].schema == v[i - 1].schema)
			continue;
		schema_compile(&a, v[i].doc, &o, &e);
		arena_free(&a);
		k++;
	}
	return (now() - t) / (double)k;
}

static void
row(const char *what, double ours, double peer)
{
	if (peer > 0)
		printf("schema %-8s waza %8.0f ns  ajv %8.0f ns  ratio %6.1f\n",
		    what, ours, peer, peer / ours);
	else
		printf("schema %-8s waza %8.0f ns\n", what, ours);
}

/* ms for a run of a program, its output thrown away. */
static int
start(int count, char **argv)
{
	double t = clock_now(CLOCK_MONOTONIC);
	int i, status = 0;
	pid_t pid;

	for (i = 0; i < count; i++) {
		pid = fork();
		if (pid == 0) {
			if (freopen("/dev/null", "w", stdout) != NULL)
				execvp(argv[0], argv);
			_exit(127);
		}
		if (pid < 0 || waitpid(pid, &status, 0) < 0 || status != 0)
			return 1;
	}
	printf("%.3f\n", (clock_now(CLOCK_MONOTONIC) - t) / 1e6 /
	    count);
	return 0;
}

/* Records as a program would hand them on, and their schema. */
static int
put_records(void)
{
	unsigned i;

	printf("{\"schema\":{\"type\":\"array\",\"items\":{\"type\":"
	    "\"object\",\"required\":[\"id\",\"name\",\"tags\"],"
	    "\"additionalProperties\":false,\"properties\":{"
	    "\"id\":{\"type\":\"integer\",\"minimum\":0},"
	    "\"name\":{\"type\":\"string\",\"minLength\":1,"
	    "\"maxLength\":40},\"mail\":{\"type\":\"string\",\"pattern\":"
	    "\"^[^@ ]+@[a-z.]+$\"},\"kind\":{\"enum\":[\"a\",\"b\",\"c\"]},"
	    "\"score\":{\"type\":\"number\",\"maximum\":100},"
	    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"
	    "\"uniqueItems\":true},\"at\":{\"$ref\":\"#/$defs/place\"}}},"
	    "\"$defs\":{\"place\":{\"type\":\"object\",\"properties\":{"
	    "\"x\":{\"type\":\"number\"},\"y\":{\"type\":\"number\"}},"
	    "\"required\":[\"x\",\"y\"]}}},\"records\":[");
	for (i = 0; i < 5000; i++)
		printf("%s{\"id\":%u,\"name\":\"person %u\",\"mail\":"
		    "\"p%u@example.org\",\"kind\":\"%c\",\"score\":%u.%u,"
		    "\"tags\":[\"red\",\"blue\",\"t%u\"],\"at\":{\"x\":%u.25,"
		    "\"y\":-%u}}", i > 0 ? "," : "", i, i, i, "abc"[i % 3],
		    i % 99, i % 10, i, i, i);
	printf("]}\n");
	return 0;
}

static double
check_records(struct arena *a, struct str text)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error je;
	struct err e;
	struct json *doc = json_read(&mem, text, 0, &je);
	struct one v = { .data = json_getc(doc, "records") };

	v.schema = schema_compile(a, json_getc(doc, "schema"), NULL, &e);
	if (v.schema == NULL || schema_check(v.schema, a, v.data, NULL, NULL,
	    &e) != 1)
		return 0;
	return check_all(&v, 1, NULL) / (double)json_count(v.data);
}

static double
best_of(const struct one *v, size_t n, schema_report_fn *report)
{
	double best = 0, d;
	int i;

	for (i = 0; i < ROUNDS; i++) {
		d = check_all(v, n, report);
		best = i == 0 || d < best ? d : best;
	}
	return best;
}

int
main(int argc, char **argv)
{
	static struct one v[CASES];
	struct arena a = { 0 };
	size_t n;

	if (argc > 1 && strcmp(argv[1], "-records") == 0)
		return put_records();
	if (argc > 3 && strcmp(argv[1], "-start") == 0)
		return start(atoi(argv[2]), argv + 3);
	if (argc < 7)
		return 2;
	n = load(&a, slurp(&a, argv[1]), slurp(&a, argv[2]), v);
	if (n > 0) {
		printf("schema: %zu documents of the suite\n", n);
		row("check", best_of(v, n, NULL), strtod(argv[4], NULL));
		row("reasons", best_of(v, n, hear), strtod(argv[4], NULL));
		row("compile", compile_all(v, n), strtod(argv[5], NULL));
	} else
		printf("schema: no %s\n", argv[1]);
	row("record", check_records(&a, slurp(&a, argv[3])),
	    strtod(argv[6], NULL));
	arena_free(&a);
	return 0;
}
