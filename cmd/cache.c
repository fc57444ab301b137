/* SPDX-License-Identifier: ISC */
/* waza cache: shows or clears the trials that `waza run --cache` has stored. */
#include "waza.h"

#include <string.h>
#include <time.h>

#include "json.h"
#include "results/cache.h"
#include "suite/spec.h"

struct cache_opt {
	const char *dir, *format;
	bool trust;
};

static const struct opt cache_rows[] = {
	CMD_OPT(cache_opt, dir, OPT_STR, .name = "cache-dir", .value = "DIR",
	    .help = "directory of the cache (default: .waza-cache)"),
	CMD_OPT(cache_opt, format, OPT_STR, .name = "format",
	    .value = "text|json",
	    .help = "output format of stats (default: text)"),
	CMD_TRUST_OPT(cache_opt, trust),
};

static const char *
format_time(int64_t seconds, char out[32])
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
		buf_fmt(b, "oldest    %s\n", format_time(s->oldest, when));
		buf_fmt(b, "newest    %s\n", format_time(s->newest, when));
	}
	if (s->others > 0)
		buf_fmt(b, "others    %zu that are not entries: %s\n",
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

/* The directory that a run here would use; NULL: .waza.yaml is invalid. */
static const char *
find_dir(struct cmd_call *c, const char *option)
{
	const struct cache_opt *o = c->opt;
	struct spec_notes notes = { .arena = c->arena, .trust = o->trust };
	struct str setting = STR("");

	if (option == NULL)
		setting = spec_cache_dir(c->arena, ".", &notes);
	return cmd_print_notes(&notes, true) != CMD_OK ? NULL :
	    cmd_cache_dir(c, option, setting);
}

static int
show_stats(struct cmd_call *c, const char *dir, struct buf *out)
{
	const struct cache_opt *o = c->opt;
	int json = cmd_choose_json(o->format, c->err);
	struct cache_stats s;

	if (json == -1 || cache_stats(dir, &s, c->err) == -1)
		return -1;
	(json ? put_json : put_text)(out, dir, &s);
	c->form = json ? GUARD_JSON : GUARD_PLAIN;
	return 0;
}

static int
clear(struct cmd_call *c, const char *dir, struct buf *out)
{
	struct cache_stats s;

	if (cache_clear(dir, &s, c->err) == -1)
		return -1;
	buf_fmt(out, "%zu %s removed from %s\n", s.entries,
	    s.entries == 1 ? "entry" : "entries", dir);
	return 0;
}

static int
cache_main(struct cmd_call *c)
{
	const struct cache_opt *o = c->opt;
	const char *dir = find_dir(c, o->dir);
	struct buf out = { 0 };
	int r;

	if (dir == NULL)
		return CMD_ERROR;
	if (strcmp(c->args[0], "stats") == 0)
		r = show_stats(c, dir, &out);
	else if (strcmp(c->args[0], "clear") == 0)
		r = clear(c, dir, &out);
	else
		r = err_set(c->err, ERR_SCHEMA, "unknown argument \"%s\": "
		    "must be clear or stats", c->args[0]);
	return r == -1 ? cmd_complain(c->err) : cmd_finish(c, &out, CMD_OK);
}

const struct cmd_command cmd_cache = {
	.name = "cache", .group = CMD_RESULTS, .usage = "[OPTION ...] clear|stats",
	.opts = CMD_OPTS(cache_rows), .size = sizeof(struct cache_opt),
	.required = { "clear|stats" }, .max = 1, .fn = cache_main,
	.help = "Show or clear the cache of trials"
};
