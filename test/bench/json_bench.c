/* SPDX-License-Identifier: ISC */
/*
 * JSON to a tree and back, beside other libraries.  One row a measurement:
 * MB/s of each, and how many times as fast as RapidJSON and cJSON we are.
 * The data is made here, the same in each run.  Libraries take turns, and
 * the best of several rounds counts, because the machine has other work.
 *
 *	json_bench [rounds [row]]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/base.h"
#include "json.h"
#include "test/bench/json_bench.h"

enum { SMALL = 1000, PEERS = 8 };

/* Ours, in the form of a peer. */
static void
put(void *ctx, const char *p, size_t n)
{
	buf_put(ctx, (struct str){ p, n });
}

/* Texts share an arena that is wound back, as a connection's is. */
static int
cmd_read(const struct bench_text *t, size_t n)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error e;
	struct arena_mark m;
	struct json *v = NULL;
	size_t i;

	if (n > 1)
		arena_raw(&a, 1, 1);
	for (i = 0; i < n; i++) {
		m = arena_save(&a);
		v = json_read(&mem, (struct str){ t[i].p, t[i].n }, 0, &e);
		if (v == NULL)
			break;
		if (n > 1)
			arena_restore(&a, m);
	}
	arena_free(&a);
	return v != NULL;
}

static double
cmd_add(const struct json *v)
{
	double d, sum = 0;

	if (v->type == JSON_NUMBER)
		return json_double(v, &d) ? d : 0;
	for (v = json_first(v); v != NULL; v = v->next)
		sum += cmd_add(v);
	return sum;
}

static double
cmd_sum(const struct bench_text *t, size_t n)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error e;
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += cmd_add(json_read(&mem, (struct str){ t[i].p, t[i].n },
		    0, &e));
		arena_free(&a);
	}
	return sum;
}

static struct arena cmd_arena;

static void *
cmd_tree(const struct bench_text *t)
{
	struct json_mem mem = { arena_hook, &cmd_arena };
	struct json_error e;

	return json_read(&mem, (struct str){ t->p, t->n }, 0, &e);
}

static size_t
cmd_write(void *tree)
{
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b };
	size_t n;

	json_put(&o, tree);
	n = b.n;
	buf_free(&b);
	return n;
}

static void
cmd_drop(void *tree)
{
	(void)tree;
	arena_free(&cmd_arena);
}

#ifdef NO_PEERS		/* no C++ compiler, or no library to compare with */
const struct bench_peer bench_peers[] = { { .name = NULL } };
#endif

static const struct bench_peer waza = {
	"waza", cmd_read, cmd_sum, cmd_tree, cmd_write, cmd_drop
};

/* Data. */
static uint64_t seed;

static unsigned
rnd(unsigned below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 32) % below;
}

static const char *
pick_word(void)
{
	static const char *const words[] = {
		"the", "agent", "evaluation", "of", "skills", "finished", "with",
		"a", "score", "that", "nobody", "expected", "in", "this",
		"morning", "but", "we", "will", "try", "again", "tomorrow",
		"https://t.co/x8Qk2", "@someone", "RT", "great", "work",
	};

	return words[rnd((unsigned)COUNTOF(words))];
}

static void
put_sentence(struct buf *b)
{
	static const char *const other[] = {
		"\xE8\xA9\x95\xE4\xBE\xA1\xE3\x81\xAF\xE5\xAE\x8C\xE4\xBA\x86",
		"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E\xE3\x81\xAE\xE6\x96\x87",
		"na\xC3\xAFve", "\xF0\x9F\x98\x80", "\\n", "\\\"quoted\\\"",
		"\\u2026", "\\ud83d\\ude80", "https:\\/\\/example.org\\/a",
	};
	unsigned n = 8 + rnd(16), kind = rnd(5);

	for (; n > 0; n--) {
		if (kind == 0 || rnd(12) == 0)
			buf_puts(b, other[rnd(kind == 0 ? 4 :
			    (unsigned)COUNTOF(other))]);
		else
			buf_puts(b, pick_word());
		if (n > 1)
			buf_putc(b, ' ');
	}
}

static void
put_tweet(struct buf *b)
{
	unsigned i, n = rnd(4);

	buf_fmt(b, "{\"created_at\":\"Mon Sep %02u 09:%02u:%02u +0000 2025\","
	    "\"id\":50587%u%06u,\"id_str\":\"50587%06u\",\"text\":\"",
	    1 + rnd(30), rnd(60), rnd(60), rnd(10), rnd(1000000), rnd(1000000));
	put_sentence(b);
	buf_fmt(b, "\",\"truncated\":%s,\"in_reply_to\":null,\"user\":{"
	    "\"name\":\"%s %s\",\"screen_name\":\"%s_%u\",\"description\":\"",
	    rnd(2) ? "true" : "false", pick_word(), pick_word(), pick_word(),
	    rnd(1000));
	put_sentence(b);
	buf_fmt(b, "\",\"followers_count\":%u,\"friends_count\":%u,"
	    "\"verified\":false,\"profile_image_url\":"
	    "\"http://img.example.com/profile_images/%u/normal.jpeg\"},"
	    "\"entities\":{\"hashtags\":[", rnd(100000), rnd(2000),
	    rnd(1u << 30));
	for (i = 0; i < n; i++)
		buf_fmt(b, "%s{\"text\":\"%s\",\"indices\":[%u,%u]}",
		    i > 0 ? "," : "", pick_word(), rnd(70), 70 + rnd(70));
	buf_fmt(b, "],\"urls\":[]},\"retweet_count\":%u,\"favorited\":false,"
	    "\"lang\":\"%s\"}", rnd(500), rnd(2) ? "ja" : "en");
}

/* Objects with k0, k1, ... around arrays, 100 levels and back. */
static void
put_deep(struct buf *b, unsigned level)
{
	if (level == 0) {
		buf_puts(b, "null");
		return;
	}
	if (level % 2 == 0) {
		buf_putc(b, '[');
		if (rnd(3) == 0)
			buf_fmt(b, "%u,", rnd(100));
		put_deep(b, level - 1);
		buf_putc(b, ']');
	} else {
		buf_fmt(b, "{\"k%u\":", level);
		put_deep(b, level - 1);
		buf_putc(b, '}');
	}
}

static void
put_floats(struct buf *b)
{
	unsigned i;

	buf_putc(b, '[');
	for (i = 0; i < 3; i++)
		buf_fmt(b, "%s%s%u.%0*u%0*u", i > 0 ? "," : "",
		    rnd(2) ? "-" : "", rnd(180), 5, rnd(100000),
		    (int)(1 + rnd(9)), rnd(10));
	buf_fmt(b, ",%u.%uE-%u]", 1 + rnd(9), rnd(1000000), rnd(10));
}

static void
put_ints(struct buf *b)
{
	unsigned i;

	buf_putc(b, '[');
	for (i = 0; i < 16; i++)
		buf_fmt(b, "%s%s%u", i > 0 ? "," : "", rnd(4) ? "" : "-",
		    rnd(1u << (4 + rnd(27))));
	buf_putc(b, ']');
}

static void
put_deep_one(struct buf *b)
{
	put_deep(b, 20 + rnd(80));
}

/* About a MiB of items in one array. */
static struct bench_text
many(void (*item)(struct buf *))
{
	struct buf b = { 0 };

	seed = 88172645463325252u;
	buf_putc(&b, '[');
	while (b.n < 1 << 20) {
		if (b.n > 1)
			buf_putc(&b, ',');
		item(&b);
	}
	buf_putc(&b, ']');
	buf_putc(&b, '\0');
	return (struct bench_text){ b.p, b.n - 1 };
}

static struct bench_text
pretty(struct bench_text t)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error e;
	struct buf b = { 0 };
	struct json_out o = { .put = put, .ctx = &b, .indent = 2 };

	json_put(&o, json_read(&mem, (struct str){ t.p, t.n }, 0, &e));
	arena_free(&a);
	buf_putc(&b, '\0');
	return (struct bench_text){ b.p, b.n - 1 };
}

/* JSON-RPC of about 150 bytes, of four kinds. */
static void
put_call(struct buf *b, unsigned id)
{
	buf_fmt(b, "{\"jsonrpc\":\"2.0\",\"id\":%u,\"method\":\"eval.run\","
	    "\"params\":{\"path\":\"suites/%s/eval.yaml\",\"workers\":%u,"
	    "\"model\":\"%s-%u\",\"verbose\":true}}", id, pick_word(), rnd(9),
	    pick_word(), rnd(99));
}

static void
put_progress(struct buf *b, unsigned id)
{
	buf_fmt(b, "{\"jsonrpc\":\"2.0\",\"method\":\"eval.progress\","
	    "\"params\":{\"runId\":\"run-%06u\",\"taskName\":\"%s-%s\","
	    "\"taskNum\":%u,\"totalTasks\":%u,\"status\":\"passed\"}}", id,
	    pick_word(), pick_word(), rnd(99), rnd(999));
}

static void
put_result(struct buf *b, unsigned id)
{
	buf_fmt(b, "{\"jsonrpc\":\"2.0\",\"id\":\"%u\",\"result\":"
	    "{\"success\":true,\"output\":\"%s %s\\n%s\",\"score\":0.%u,"
	    "\"durationMs\":%u,\"tags\":[\"%s\",\"%s\"]}}", id, pick_word(),
	    pick_word(), pick_word(), rnd(1000), rnd(100000), pick_word(),
	    pick_word());
}

static void
put_error(struct buf *b, unsigned id)
{
	buf_fmt(b, "{\"jsonrpc\": \"2.0\", \"id\": %u, \"error\": "
	    "{\"code\": -32602, \"message\": \"%s %s %s %s\", "
	    "\"data\": {\"kind\": \"schema\", \"line\": %u}}}", id,
	    pick_word(), pick_word(), pick_word(), pick_word(), rnd(500));
}

static void
make_small(struct bench_text *t)
{
	static void (*const kinds[])(struct buf *, unsigned) = {
		put_call, put_progress, put_result, put_error
	};
	struct buf b;
	unsigned i;

	seed = 1234567;
	for (i = 0; i < SMALL; i++) {
		b = (struct buf){ 0 };
		kinds[i % COUNTOF(kinds)](&b, i);
		buf_putc(&b, '\0');
		t[i] = (struct bench_text){ b.p, b.n - 1 };
	}
}

/* Measuring. */
enum kind { READ, SUM, WRITE };

struct row {
	const char *name;
	enum kind kind;
	const struct bench_text *t;
	size_t n;
};

/* This process's time, so that the neighbours' work does not count. */
static double
now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static volatile double sink;

static void
once(const struct bench_peer *p, const struct row *r, void *tree)
{
	switch (r->kind) {
	case READ:
		if (!p->read(r->t, r->n)) {
			fprintf(stderr, "%s: %s refused\n", p->name, r->name);
			exit(1);
		}
		break;
	case SUM:
		sink = p->sum(r->t, r->n);
		break;
	case WRITE:
		sink = (double)p->write(tree);
		break;
	}
}

/* Seconds for one pass, from enough passes for the clock. */
static double
measure(const struct bench_peer *p, const struct row *r)
{
	void *tree = r->kind == WRITE ? p->tree(r->t) : NULL;
	double from, t;
	int n = 0;

	once(p, r, tree);
	from = now();
	do {
		once(p, r, tree);
		n++;
		t = now() - from;
	} while (t < 0.01);
	if (tree != NULL)
		p->drop(tree);
	return t / n;
}

static double
ratio(const char *name, const struct bench_peer *const *all,
    const double *best, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (strcmp(all[i]->name, name) == 0 && best[i] > 0)
			return best[i] / best[0];
	return 0;
}

static void
print_row(const struct row *r, const struct bench_peer *const *all, size_t n,
    int rounds)
{
	double best[PEERS] = { 0 }, t, bytes = 0;
	size_t i;
	int k;

	for (k = 0; k < rounds; k++)
		for (i = 0; i < n; i++) {
			if (r->kind == WRITE && all[i]->tree == NULL)
				continue;
			t = measure(all[i], r);
			if (best[i] <= 0 || t < best[i])
				best[i] = t;
		}
	for (i = 0; i < r->n; i++)
		bytes += (double)r->t[i].n;
	printf("%-24s", r->name);
	for (i = 0; i < n; i++)
		if (best[i] > 0)
			printf("%10.0f", bytes / best[i] / 1e6);
		else
			printf("%10s", "-");
	printf("%12.2f%9.2f\n", ratio("rapidjson", all, best, n),
	    ratio("cjson", all, best, n));
	fflush(stdout);
}

/* Bytes that the trees take from the arena for each byte of text. */
static double
memory(const struct bench_text *t, size_t n)
{
	struct arena a = { 0 };
	struct json_mem mem = { arena_hook, &a };
	struct json_error e;
	double used = 0, bytes = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		json_read(&mem, (struct str){ t[i].p, t[i].n }, 0, &e);
		used += (double)a.used;
		bytes += (double)t[i].n;
		arena_free(&a);
	}
	return used / bytes;
}

int
main(int argc, char **argv)
{
	static struct bench_text small[SMALL];
	struct bench_text tweets = many(put_tweet), wide = pretty(tweets),
	    floats = many(put_floats), ints = many(put_ints),
	    deep = many(put_deep_one);
	const struct row rows[] = {
		{ "strings, minified",    READ,  &tweets, 1 },
		{ "strings, pretty",      READ,  &wide,   1 },
		{ "floats",               READ,  &floats, 1 },
		{ "integers",             READ,  &ints,   1 },
		{ "deep",                 READ,  &deep,   1 },
		{ "small messages",       READ,  small,   SMALL },
		{ "floats, as doubles",   SUM,   &floats, 1 },
		{ "integers, as doubles", SUM,   &ints,   1 },
		{ "write strings",        WRITE, &tweets, 1 },
		{ "write floats",         WRITE, &floats, 1 },
	};
	const struct bench_peer *all[PEERS] = { &waza };
	size_t i, n = 1;

	make_small(small);
	while (n < PEERS && bench_peers[n - 1].name != NULL) {
		all[n] = &bench_peers[n - 1];
		n++;
	}
	printf("%-24s", "JSON, MB/s");
	for (i = 0; i < n; i++)
		printf("%10s", all[i]->name);
	printf("%12s%9s\n", "x rapidjson", "x cjson");
	for (i = 0; i < COUNTOF(rows); i++)
		if (argc < 3 || strcmp(argv[2], rows[i].name) == 0)
			print_row(&rows[i], all, n,
			    argc > 1 ? atoi(argv[1]) : 10);
	printf("tree/text bytes: small messages %.2f, strings %.2f, "
	    "floats %.2f, integers %.2f, deep %.2f\n", memory(small, SMALL),
	    memory(&tweets, 1), memory(&floats, 1), memory(&ints, 1),
	    memory(&deep, 1));
	return 0;
}
