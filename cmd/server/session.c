/* SPDX-License-Identifier: ISC */
/*
 * waza session: lists the session logs that `waza run --session-log` wrote, and
 * prints one as a timeline.
 */
#include "waza.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/os.h"
#include "json.h"
#include "results/result.h"
#include "suite/spec.h"

enum {
	FILES_MAX = 10000,
	FILE_BYTES = 256 << 20,
	LINE_BYTES = 1 << 20	/* longer lines are skipped */
};

struct session_opt {
	const char *dir, *format;
};
static const struct opt session_rows[] = {
	CMD_OPT(session_opt, dir, OPT_STR, .name = "dir", .value = "DIR",
	    .help = "list: directory of the logs (default: .)"),
	CMD_OPT(session_opt, format, OPT_STR, .name = "format",
	    .value = "text|json", .help = "list: output format (default: "
	    "text)"),
};

struct log {
	const char *name;
	int64_t modified;	/* seconds */
	size_t events;
	bool unread;
};

/*
 * session list
 */
static int
newest_first(const void *x, const void *y)
{
	const struct log *a = x, *b = y;

	if (a->modified != b->modified)
		return a->modified > b->modified ? -1 : 1;
	return strcmp(b->name, a->name);
}

static size_t
count_lines(const char *path, bool *unread)
{
	struct arena a = { 0 };
	struct str text, line;
	struct err e;
	size_t n = 0;

	*unread = os_read_plain(&a, path, FILE_BYTES, &text, &e) == -1;
	while (!*unread && str_line(&text, &line))
		n += line.n > 0;
	arena_free(&a);
	return n;
}

/* The logs of a directory; -1 with *e. */
static int
find_logs(struct arena *a, const char *dir, struct buf *logs, struct err *e)
{
	struct dirent *d;
	struct stat st;
	struct log l;
	DIR *open = opendir(dir);
	const char *path;

	if (open == NULL)
		return err_sys(e, dir);
	while ((d = readdir(open)) != NULL &&
	    logs->n / sizeof(l) < FILES_MAX) {
		path = spec_join(a, dir, str_of(d->d_name));
		if (!str_ends(str_of(d->d_name), STR("-session.jsonl")) ||
		    lstat(path, &st) == -1 || !S_ISREG(st.st_mode))
			continue;
		l = (struct log){ .name = arena_str(a, str_of(d->d_name)).p,
			.modified = (int64_t)st.st_mtime };
		l.events = count_lines(path, &l.unread);
		buf_put(logs, (struct str){ (const char *)&l, sizeof(l) });
	}
	closedir(open);
	return 0;
}

static const char *
format_time(int64_t seconds, char out[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(out, 32, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		return "?";
	return out;
}

static void
put_log(struct buf *b, struct json_out *o, const struct log *l)
{
	char when[32];

	format_time(l->modified, when);
	if (o == NULL && l->unread)
		buf_fmt(b, "%-40s  %8s  %s\n", l->name, "?", when);
	else if (o == NULL)
		buf_fmt(b, "%-40s  %8zu  %s\n", l->name, l->events, when);
	else {
		json_open(o, '{');
		json_put_member_cstr(o, "file", l->name);
		if (!l->unread)
			json_put_member_int(o, "events", (int64_t)l->events);
		json_put_member_cstr(o, "modified", when);
		json_close(o, '}');
	}
}

static int
list(struct cmd_call *c, const struct session_opt *opt, bool json)
{
	const char *dir = opt->dir != NULL ? opt->dir : ".";
	struct buf logs = { 0 }, out = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &out, .indent = 2 };
	struct log *v;
	size_t i, n;

	if (find_logs(c->arena, dir, &logs, c->err) == -1)
		return cmd_complain(c->err);
	n = logs.n / sizeof(*v);
	v = (struct log *)(void *)logs.p;
	if (n > 0)
		qsort(v, n, sizeof(*v), newest_first);
	if (json)
		json_open(&o, '[');
	else if (n == 0)
		buf_fmt(&out, "No session logs in %s\n", dir);
	else
		buf_fmt(&out, "%-40s  %8s  %s\n", "File", "Events",
		    "Modified");
	for (i = 0; i < n; i++)
		put_log(&out, json ? &o : NULL, &v[i]);
	if (json) {
		json_close(&o, ']');
		buf_putc(&out, '\n');
	}
	buf_free(&logs);
	c->form = json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(c, &out, CMD_OK);
}

/*
 * session view
 */
static void
put_elapsed(struct buf *b, int64_t ms)
{
	if (ms < 1000)
		buf_fmt(b, "[%6lldms] ", (long long)ms);
	else
		buf_fmt(b, "[%6.1fs] ", (double)ms / 1000);
}

/* A number with the word before and after it; scores have two decimals. */
static void
put_number(struct buf *b, const struct json *data, const char *key,
    const char *before, const char *after)
{
	double d;

	if (json_double(json_getc(data, key), &d))
		buf_fmt(b, ", %s%.*f%s", before, strcmp(key, "score") == 0 ?
		    2 : 0, d, after);
}

/* Each type of event: the words before and the members of its line. */
static const struct {
	const char *type, *word, *strings[3];
	const char *number, *before, *after;
} kinds[] = {
	{ "session_start", "run of", { "spec_path", "engine", "model" },
	    "task_count", "", " tasks" },
	{ "task_start", "start", { "task_name", NULL, NULL }, "task_num",
	    "task ", "" },
	{ "task_complete", "end", { "task_name", "status", NULL }, "score",
	    "score ", "" },
	{ "session_complete", "run ended", { NULL, NULL, NULL }, "passed",
	    "", " passed" },
	{ "error", "error", { "error_type", "message", NULL }, NULL, NULL,
	    NULL },
};

static void
put_grade(struct buf *b, const struct json *data)
{
	struct str s = json_str(data, "feedback");

	buf_fmt(b, "grader %.*s (%.*s): %s", STRF(utf8_cut(json_str(data,
	    "grader_name"), 100)), STRF(utf8_cut(json_str(data,
	    "grader_type"), 100)), cmd_is_true(data, "passed") ? "passed" :
	    "failed");
	put_number(b, data, "score", "score ", "");
	if (s.n > 0)
		buf_fmt(b, ": %.*s", STRF(utf8_cut(s, 200)));
}

static void
put_event(struct buf *b, struct str type, const struct json *data)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	struct str s;
	size_t i, k, n = 0;

	for (i = 0; i < COUNTOF(kinds) && !str_is(type, kinds[i].type); i++)
		;
	if (str_is(type, "grader_result")) {
		put_grade(b, data);
		return;
	}
	if (i == COUNTOF(kinds)) {
		buf_fmt(b, "%.*s ", STRF(utf8_cut(type, 100)));
		if (data != NULL)
			json_put(&o, data);
		return;
	}
	buf_puts(b, kinds[i].word);
	for (k = 0; k < COUNTOF(kinds[i].strings); k++) {
		if (kinds[i].strings[k] == NULL)
			continue;
		s = json_str(data, kinds[i].strings[k]);
		if (s.n > 0)
			buf_fmt(b, "%s%.*s", n++ == 0 ? " " : ", ",
			    STRF(utf8_cut(s, 200)));
	}
	if (kinds[i].number != NULL)
		put_number(b, data, kinds[i].number, kinds[i].before,
		    kinds[i].after);
	put_number(b, data, "failed", "", " failed");
	put_number(b, data, "errors", "", " errors");
	put_number(b, data, "duration_ms", "", " ms");
}

/* A feedback can have several lines: later ones are indented. */
static void
put_lines(struct buf *out, const struct buf *b)
{
	size_t i;

	for (i = 0; i < b->n; i++) {
		buf_putc(out, b->p[i]);
		if (b->p[i] == '\n')
			buf_puts(out, "          ");
	}
	buf_putc(out, '\n');
}

static int
view(struct cmd_call *c, const char *path)
{
	struct arena line_arena = { 0 };
	struct buf out = { 0 }, b = { 0 };
	struct str text, line;
	const struct json *v;
	int64_t first = 0, at;
	size_t skipped = 0;

	if (os_read_plain(c->arena, path, FILE_BYTES, &text, c->err) == -1)
		return cmd_complain(c->err);
	while (str_line(&text, &line)) {
		if (str_trim(line).n == 0)
			continue;
		v = line.n > LINE_BYTES ? NULL : arena_json(&line_arena, line,
		    NULL);
		if (v == NULL || v->type != JSON_OBJECT ||
		    json_str(v, "type").n == 0)
			skipped++;
		else {
			at = result_parse_time(json_str(v, "timestamp")) /
			    1000000;
			first = first == 0 ? at : first;
			b.n = 0;
			put_elapsed(&b, at > first ? at - first : 0);
			put_event(&b, json_str(v, "type"), json_getc(v,
			    "data"));
			put_lines(&out, &b);
		}
		arena_free(&line_arena);
	}
	buf_free(&b);
	if (skipped > 0)
		cmd_say("waza: %s: %zu lines are not events and were "
		    "skipped\n", path, skipped);
	return cmd_finish(c, &out, CMD_OK);
}

static int
session_main(struct cmd_call *c)
{
	const struct session_opt *opt = c->opt;
	int json = cmd_choose_json(opt->format, c->err);

	if (json == -1)
		return cmd_complain(c->err);
	if (strcmp(c->args[0], "list") == 0 && c->nargs == 1)
		return list(c, opt, json == 1);
	if (strcmp(c->args[0], "view") == 0 && c->nargs == 2)
		return view(c, c->args[1]);
	if (strcmp(c->args[0], "view") == 0)
		err_set(c->err, ERR_SCHEMA, "missing argument: FILE");
	else
		err_set(c->err, ERR_SCHEMA, "session: use \"session list\" or "
		    "\"session view FILE\"");
	return cmd_complain(c->err);
}

const struct cmd_command cmd_session = {
	.name = "session", .group = CMD_RESULTS,
	.usage = "list [--dir DIR] [--format text|json] | view FILE",
	.opts = CMD_OPTS(session_rows), .size = sizeof(struct session_opt),
	.required = { "list|view" }, .max = 2, .fn = session_main,
	.help = "List session logs, or print one as a timeline"
};
