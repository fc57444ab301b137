/* SPDX-License-Identifier: ISC */
/* waza cache: what `waza run --cache` has kept, and how to get rid of it. */
#include "waza.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "results/cache.h"
#include "suite/spec.h"

struct cache_opt {
	const char *dir, *format;
};

#define ROW(m, t, ...) \
	{ .type = t, .off = offsetof(struct cache_opt, m), __VA_ARGS__ }
static const struct opt cache_rows[] = {
	ROW(dir, OPT_STR, .name = "cache-dir", .value = "DIR",
	    .help = "which one, instead of .waza-cache"),
	ROW(format, OPT_STR, .name = "format", .value = "FORMAT",
	    .help = "of stats: text or json"),
};

static const char *
day(int64_t seconds, char out[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(out, 32, "%Y-%m-%d %H:%M", &tm) == 0)
		return "?";
	return out;
}

static void
put_text(struct buf *b, const char *dir, const struct cache_stats *s)
{
	char when[32];

	buf_fmt(b, "directory %s\nentries   %zu\nbytes     %llu\n", dir,
	    s->entries, (unsigned long long)s->bytes);
	if (s->entries > 0) {
		buf_fmt(b, "oldest    %s\n", day(s->oldest, when));
		buf_fmt(b, "newest    %s\n", day(s->newest, when));
	}
	if (s->others > 0)
		buf_fmt(b, "others    %zu that are no entries: %s\n",
		    s->others, s->other);
}

static void
put_json(struct buf *b, const char *dir, const struct cache_stats *s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "directory", dir);
	json_put_member_int(&o, "entries", (int64_t)s->entries);
	json_put_member_int(&o, "bytes", (int64_t)s->bytes);
	json_put_member_int(&o, "oldest", s->oldest);
	json_put_member_int(&o, "newest", s->newest);
	json_put_member_int(&o, "others", (int64_t)s->others);
	json_close(&o, '}');
	buf_putc(b, '\n');
}

/* Where a run here would keep it; NULL: .waza.yaml cannot be read. */
static const char *
find_dir(struct cmd_call *c, const char *option)
{
	struct spec_notes notes = { .arena = c->arena };
	struct str setting = STR("");
	const struct spec_note *n;
	struct buf b = { 0 };

	if (option == NULL)
		setting = spec_cache_dir(c->arena, ".", &notes);
	for (n = notes.head; n != NULL; n = n->next)
		if (n->level == FIELD_ERROR)
			spec_note_put(&b, n);
	fprintf(stderr, "%.*s", STRF(buf_str(&b)));
	buf_free(&b);
	return notes.errors > 0 ? NULL : cmd_cache_dir(c, option, setting);
}

static int
cache_main(struct cmd_call *c)
{
	const struct cache_opt *o = c->opt;
	const char *dir = find_dir(c, o->dir);
	bool json = o->format != NULL && strcmp(o->format, "json") == 0;
	struct cache_stats s;
	struct buf out = { 0 };

	if (dir == NULL)
		return CMD_ERROR;
	if (o->format != NULL && !json && strcmp(o->format, "text") != 0) {
		err_set(c->err, ERR_SCHEMA, "--format is text or json, not "
		    "\"%s\"", o->format);
		return cmd_complain(c->err);
	}
	if (strcmp(c->args[0], "stats") == 0) {
		if (cache_stats(dir, &s, c->err) == -1)
			return cmd_complain(c->err);
		(json ? put_json : put_text)(&out, dir, &s);
	} else if (strcmp(c->args[0], "clear") == 0) {
		if (cache_clear(dir, &s, c->err) == -1)
			return cmd_complain(c->err);
		buf_fmt(&out, "%zu %s removed from %s\n", s.entries,
		    s.entries == 1 ? "entry" : "entries", dir);
	} else {
		err_set(c->err, ERR_SCHEMA, "cache has clear and stats, no "
		    "\"%s\"", c->args[0]);
		return cmd_complain(c->err);
	}
	return cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_cache = {
	.name = "cache", .usage = "[OPTION ...] clear|stats",
	.opts = CMD_OPTS(cache_rows), .size = sizeof(struct cache_opt),
	.min = 1, .max = 1, .fn = cache_main,
	.help = "look at the cache of trials, or clear it"
};
