/* SPDX-License-Identifier: ISC */
/*
 * YAML to a tree, beside libyaml's parser to events (with -DHAVE_LIBYAML
 * -lyaml).  One row a measurement: MB/s of both and the ratio.  Readers take
 * turns, and the best of several rounds counts, because the machine has other
 * work.  "wild" is the suites named on standard input, one path a line; the
 * other texts are made here, the same in each run.
 *
 *	find ... -name '*.yaml' | yaml_bench [rounds]
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef HAVE_LIBYAML
#include <yaml.h>
#endif

#include "base/base.h"
#include "json.h"
#include "test/tool/help.h"
#include "yaml_lite.h"

enum { TEXTS = 4096, BIG = 8 << 20 };

struct set {
	const char *name;
	struct str text[TEXTS];
	size_t n, bytes;
};

/* Texts share an arena that is wound back, as the files of a suite would. */
static bool
ours(struct str text)
{
	static struct arena a;
	struct arena_mark m;
	struct err e;
	bool ok;

	if (a.head == NULL)
		arena_raw(&a, 1, 1);
	m = arena_save(&a);
	ok = yaml_read(&a, text, NULL, &e) != NULL;
	arena_restore(&a, m);
	return ok;
}

#ifdef HAVE_LIBYAML
static bool
libyaml(struct str text)
{
	yaml_parser_t p;
	yaml_event_t ev;
	bool ok = true, end = false;

	yaml_parser_initialize(&p);
	yaml_parser_set_input_string(&p, (const unsigned char *)text.p, text.n);
	while (ok && !end) {
		ok = yaml_parser_parse(&p, &ev) != 0;
		if (ok) {
			end = ev.type == YAML_STREAM_END_EVENT;
			yaml_event_delete(&ev);
		}
	}
	yaml_parser_delete(&p);
	return ok;
}
#else
static bool
libyaml(struct str text)
{
	(void)text;
	return false;
}
#endif

/* Seconds for the whole set, repeated until it takes a while. */
static double
once(const struct set *s, bool (*fn)(struct str))
{
	double t = seconds_now(), d;
	size_t i, k = 0;

	do {
		for (i = 0; i < s->n; i++)
			if (!fn(s->text[i]))
				return -1;
		k++;
		d = seconds_now() - t;
	} while (d < 0.1);
	return d / (double)k;
}

static void
row(const struct set *s, int rounds)
{
	double a, b, best[2] = { -1, -1 }, mb = (double)s->bytes / 1e6;
	int i;

	for (i = 0; i < rounds; i++) {
		a = once(s, ours);
		b = once(s, libyaml);
		if (best[0] < 0 || a < best[0])
			best[0] = a;
		if (best[1] < 0 || b < best[1])
			best[1] = b;
	}
	if (best[0] < 0)
		printf("yaml %-8s not read\n", s->name);
	else if (best[1] < 0)
		printf("yaml %-8s waza %6.0f MB/s\n", s->name, mb / best[0]);
	else
		printf("yaml %-8s waza %6.0f MB/s  libyaml %6.0f MB/s  "
		    "ratio %4.1f\n", s->name, mb / best[0], mb / best[1],
		    best[1] / best[0]);
}

static void
add(struct set *s, struct str text)
{
	if (s->n < TEXTS) {
		s->text[s->n++] = text;
		s->bytes += text.n;
	}
}

static struct str
slurp(struct arena *a, const char *path)
{
	FILE *f = fopen(path, "rb");
	struct str s = { NULL, 0 };
	char *p;
	long n;

	if (f == NULL)
		return s;
	if (fseek(f, 0, SEEK_END) == 0 && (n = ftell(f)) > 0) {
		rewind(f);
		p = arena_raw(a, (size_t)n, 1);
		s = (struct str){ p, fread(p, 1, (size_t)n, f) };
	}
	fclose(f);
	return s;
}

/* The files of which both readers make something. */
static void
make_wild(struct set *s, struct arena *a)
{
	char path[4096];
	struct str text;

	while (fgets(path, sizeof(path), stdin) != NULL) {
		path[strcspn(path, "\n")] = '\0';
		text = slurp(a, path);
		if (text.n == 0 || !ours(text))
			continue;
#ifdef HAVE_LIBYAML
		if (!libyaml(text))
			continue;
#endif
		add(s, text);
	}
}

static void
make_block(struct buf *b)
{
	unsigned i;

	for (i = 0; b->n < BIG; i++)
		buf_fmt(b, "- id: task-%u\n"
		    "  name: Explain what the function number %u does\n"
		    "  enabled: true\n"
		    "  # a remark that nobody reads\n"
		    "  inputs:\n"
		    "    prompt: \"Read main.c and say what \\\"f%u\\\" is\"\n"
		    "    files: [main.c, util.c, 'it''s.txt']\n"
		    "    weight: %u.%u\n"
		    "  graders:\n"
		    "    - type: text\n"
		    "      pattern: (?i)returns?\n"
		    "      limit: {min: 1, max: %u}\n", i, i, i, i % 10,
		    i % 100, i);
}

static void
make_text(struct buf *b)
{
	unsigned i, k;

	for (i = 0; b->n < BIG; i++) {
		buf_fmt(b, "doc%u: %s\n", i, i % 4 == 0 ? ">-" : "|");
		for (k = 0; k < 20; k++)
			buf_fmt(b, "  Line %u of a longer text, as prompts "
			    "have it: \"quoted\", # and all.\n%s", k,
			    k % 7 == 0 ? "\n" : "");
	}
}

static void
make_json(struct buf *b)
{
	unsigned i;

	buf_puts(b, "[\n");
	for (i = 0; b->n < BIG; i++)
		buf_fmt(b, "%s {\"id\": %u, \"name\": \"number %u\", \"tags\": "
		    "[\"a\", \"b\\n\", true, null, %u.5]}\n",
		    i == 0 ? "" : ",", i, i, i);
	buf_puts(b, "]\n");
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*make)(struct buf *);
	} big[] = {
		{ "block", make_block }, { "text", make_text },
		{ "json", make_json }
	};
	static struct set s;
	int rounds = argc > 1 ? atoi(argv[1]) : 5;
	struct arena a = { 0 };
	struct buf b = { 0 };
	size_t i;

	s.name = "wild";
	make_wild(&s, &a);
	if (s.n > 0)
		row(&s, rounds);
	for (i = 0; i < COUNTOF(big); i++) {
		b.n = 0;
		big[i].make(&b);
		s.name = big[i].name;
		s.n = s.bytes = 0;
		add(&s, buf_str(&b));
		row(&s, rounds);
	}
	buf_free(&b);
	arena_free(&a);
	return 0;
}
