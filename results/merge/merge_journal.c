/* SPDX-License-Identifier: ISC */
/*
 * merge_journal.c: reads the journal of a shard, line by line, while another
 * process may append to it.  An incomplete last line is ignored; lines that
 * waza did not write are counted and ignored: their trials are missing.
 */
#include "results/merge/merge_internal.h"

#include <string.h>

#include "base/os.h"
#include "json.h"
#include "lib/siphash.h"
#include "results/result_internal.h"

enum { CHUNK = 256 << 10 };

struct reader {
	struct merge *m;
	struct merge_input *in;
	unsigned char key[SIPHASH_KEY];
	int64_t at;		/* of the line in the file */
	struct err *err;
};

static int
read_header(struct reader *r, struct str line)
{
	struct merge_input *in = r->in;
	struct arena *a = r->m->arena;
	struct json_error je;
	struct json *v = arena_json(&r->m->scratch, line, &je);
	int64_t version;

	if (v == NULL || !result_int(v, "waza_journal", &version))
		return merge_fail(r->err, in, "is not a journal of waza");
	if (version != RESULT_VERSION ||
	    !result_read_key(r->key, json_str(v, "key")))
		return merge_fail(r->err, in, "was written by another version "
		    "of waza (journal version %lld, not %d)",
		    (long long)version, RESULT_VERSION);
	in->run_id = arena_str(a, json_str(v, "run_id"));
	in->suite = arena_str(a, json_str(v, "suite"));
	in->skill = arena_str(a, json_str(v, "skill"));
	if (json_str(v, "path").n > 0)
		in->source = arena_cstr(a, json_str(v, "path"));
	in->started_ns = result_parse_time(json_str(v, "started"));
	return merge_take_head(r->m, in, json_getc(v, "config"), r->err);
}

static int
read_plan(struct reader *r, const struct json *list)
{
	struct merge_part part = { .in = r->in,
		.pass = &r->in->group->pass[r->in->baseline] };
	struct merge_about t = { .line = 0 };
	const struct json *v;
	int64_t index;

	for (v = json_first(list); v != NULL; v = v->next) {
		if (!result_int(v, "index", &index) || index < 0)
			return merge_fail(r->err, r->in, "a task without an "
			    "index");
		part.index = (size_t)index;
		t.s[MERGE_ID] = json_str(v, "id");
		t.s[MERGE_NAME] = json_str(v, "name");
		t.s[MERGE_GROUP] = json_str(v, "group");
		t.s[MERGE_QUARANTINE] = json_str(v, "quarantine");
		t.s[MERGE_UNTIL] = json_str(v, "quarantine_until");
		t.s[MERGE_SELECTED] = json_str(v, "selected_because");
		t.golden = result_true(v, "golden");
		merge_take_source(&t, json_getc(v, "source"));
		if (merge_take_task(r->m, &part, &t, r->err) == -1)
			return -1;
	}
	return 0;
}

/* The text of the last member, "run", and its value. */
static struct json *
find_run(const struct json *v, struct str line, struct str *text)
{
	struct json *run = json_getc(v, "run");
	struct str key;
	size_t off;

	if (run == NULL || run->type != JSON_OBJECT || run->next != NULL)
		return NULL;
	key = json_key(run);
	if (key.p < line.p || key.p >= line.p + line.n)
		return NULL;
	off = (size_t)(key.p - line.p) + key.n + 2;
	if (off >= line.n)
		return NULL;
	*text = (struct str){ line.p + off, line.n - off - 1 };
	return run;
}

static int
read_line(struct reader *r, struct str line)
{
	struct merge_part part = { .in = r->in,
		.pass = &r->in->group->pass[r->in->baseline] };
	struct json_error je;
	struct json *v, *run;
	struct str text;
	int64_t n;
	uint64_t sum;

	if (line.n == 0)
		return 0;
	v = result_sealed(r->key, r->at, line, &sum) ?
	    arena_json(&r->m->scratch, line, &je) : NULL;
	if (v == NULL) {
		r->m->bad++;
		return 0;
	}
	if (json_getc(v, "plan") != NULL)
		return read_plan(r, json_getc(v, "plan"));
	run = find_run(v, line, &text);
	if (run == NULL)
		return 0;		/* a note */
	if (result_int(v, "trigger", &n))
		return merge_take_trigger(r->m, r->in, n, text, run, r->err);
	if (!result_int(v, "index", &n) || n < 0 ||
	    !result_int(v, "trial", &part.number))
		return merge_fail(r->err, r->in, "a trial without an index");
	part.index = (size_t)n;
	return merge_take_trial(r->m, &part, text, run, r->err);
}

/* Reads the whole lines of b and removes them from it. */
static int
read_lines(struct reader *r, struct buf *b, size_t *seen)
{
	struct arena_mark mark;
	struct str line;
	size_t from = 0;
	char *nl;
	int rc = 0;

	while (rc == 0 &&
	    (nl = memchr(b->p + *seen, '\n', b->n - *seen)) != NULL) {
		line = (struct str){ b->p + from, (size_t)(nl - b->p) - from };
		mark = arena_save(&r->m->scratch);
		rc = r->in->known ? read_line(r, line) : read_header(r, line);
		arena_restore(&r->m->scratch, mark);
		r->at += (int64_t)line.n + 1;
		from += line.n + 1;
		*seen = from;
	}
	buf_eat(b, from);
	*seen = b->n;
	return rc;
}

int
merge_read_journal(struct merge *m, struct merge_input *in, int fd,
    struct err *e)
{
	struct reader r = { .m = m, .in = in, .err = e };
	struct buf b = { .max = RESULT_LINE_MAX + 2 * CHUNK };
	size_t seen = 0;
	ssize_t n = 1;
	int rc = 0;
	char *p;

	while (rc == 0 && n > 0) {
		p = buf_room(&b, CHUNK);
		if (p == NULL) {
			rc = merge_fail(e, in, "a line of more than %d MiB",
			    RESULT_LINE_MAX >> 20);
			break;
		}
		n = os_read(fd, p, CHUNK);
		if (n == -1)
			rc = err_sys(e, in->path);
		b.n += n > 0 ? (size_t)n : 0;
		if (rc == 0)
			rc = read_lines(&r, &b, &seen);
	}
	if (rc == 0 && !in->known && b.n > 0)
		rc = merge_fail(e, in, "is cut off in its first line");
	buf_free(&b);
	return rc;
}
