/* SPDX-License-Identifier: ISC */
/*
 * Files that are written during a run: the session log, one line per event,
 * and a transcript of each task.  Their formats are those of the original.
 */
#include "report/report_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"

enum { NAMES = 10000, NAME_MAX_BYTES = 100 };

static void
put_time(struct json_out *w, const char *key, int64_t ms)
{
	struct buf b = { 0 };

	report_stamp(&b, ms * 1000000, REPORT_ISO);
	buf_fmt(&b, ".%03dZ", (int)(ms % 1000));
	json_put_member_str(w, key, buf_str(&b));
	buf_free(&b);
}

/* Creates a new file: STEM.EXT, or STEM-2.EXT and so on if it exists. */
static int
make_new(struct arena *a, struct str stem, const char *ext, char **path,
    struct err *e)
{
	int i, fd = -1;

	for (i = 1; fd == -1 && i < NAMES; i++) {
		struct str s = i == 1 ?
		    arena_fmt(a, "%.*s%s", STRF(stem), ext) :
		    arena_fmt(a, "%.*s-%d%s", STRF(stem), i, ext);

		*path = arena_cstr(a, s);
		fd = open(*path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		    0666);
		if (fd == -1 && errno != EEXIST)
			break;
	}
	if (fd == -1)
		err_sys(e, *path);
	return fd;
}

/* The session log. */

static void
open_line(struct json_out *w, const struct event *e, const char *type)
{
	json_open(w, '{');
	put_time(w, "timestamp", e->time_ms);
	json_put_member_str(w, "type", str_of(type));
	json_open_member(w, "data", '{');
}

static void
close_line(struct report_log *l, struct json_out *w)
{
	json_close(w, '}');
	json_close(w, '}');
	buf_putc(&l->buf, '\n');
	w->more = false;
}

static void
log_verdicts(struct report_log *l, struct json_out *w, const struct event *e)
{
	struct arena_mark mark = arena_save(&l->arena);
	struct report_detail d;
	size_t i;

	if (e->source.run == NULL || e->source.task == NULL)
		return;
	report_detail(&l->arena, &l->opts, e->source.run, e->source.task,
	    e->source.trial, &d);
	for (i = 0; i < d.n; i++) {
		open_line(w, e, "grader_result");
		json_put_member_str(w, "task_name", e->name);
		json_put_member_int(w, "trial", e->trial);
		json_put_member_str(w, "grader_name", d.v[i].name);
		json_put_member_str(w, "grader_type", d.v[i].type);
		json_put_member_bool(w, "passed",
		    d.v[i].status == RESULT_PASSED);
		json_put_member_double(w, "score", d.v[i].score);
		json_put_member_str(w, "feedback", d.v[i].feedback);
		close_line(l, w);
	}
	arena_restore(&l->arena, mark);
}

/* The members of an event that is one line; false if it is not logged. */
static bool
log_event(struct report_log *l, struct json_out *w, const struct event *e)
{
	switch (e->type) {
	case EVENT_EVAL_START:
		open_line(w, e, "session_start");
		json_put_member_str(w, "spec_path", e->source.run != NULL ?
		    str_of(e->source.run->suite->path) : l->suite);
		json_put_member_str(w, "model", e->model);
		json_put_member_str(w, "engine", e->executor);
		json_put_member_int(w, "task_count", e->tasks);
		return true;
	case EVENT_TASK_START:
		open_line(w, e, event_name(e->type));
		json_put_member_str(w, "task_name", e->name);
		json_put_member_int(w, "task_num", e->idx + 1);
		json_put_member_int(w, "total_tasks", e->total);
		json_put_member_str(w, "task_id", e->task);
		return true;
	case EVENT_TASK_COMPLETE:
		open_line(w, e, event_name(e->type));
		json_put_member_str(w, "task_name", e->name);
		json_put_member_str(w, "status", e->status);
		json_put_member_double(w, "score", e->score);
		json_put_member_int(w, "duration_ms", e->took_ms);
		json_put_member_str(w, "task_id", e->task);
		return true;
	case EVENT_EVAL_COMPLETE:
		open_line(w, e, "session_complete");
		json_put_member_int(w, "total_tests", e->total);
		json_put_member_int(w, "passed", e->totals.passed);
		json_put_member_int(w, "failed", e->totals.failed);
		json_put_member_int(w, "errors", e->totals.errors);
		json_put_member_int(w, "duration_ms",
		    (int64_t)(e->totals.duration_sec * 1000 + 0.5));
		return true;
	case EVENT_ERROR:
		open_line(w, e, "error");
		json_put_member_str(w, "error_type", e->problem.error_type);
		json_put_member_str(w, "message", e->problem.message);
		return true;
	case EVENT_TRIAL_COMPLETE:
	case EVENT_TASK_PROGRESS:
	case EVENT_TRIAL_START:
	case EVENT_TRIGGER_COMPLETE:
	case EVENT__MAX:
		break;
	}
	return false;
}

static void
log_on_event(void *arg, const struct event *e)
{
	struct report_log *l = arg;
	struct json_out w = { .put = buf_sink, .ctx = &l->buf };

	if (l->fd == -1)
		return;
	if (e->type == EVENT_TRIAL_COMPLETE)
		log_verdicts(l, &w, e);
	else if (log_event(l, &w, e))
		close_line(l, &w);
	if (os_write_all(l->fd, buf_str(&l->buf), &l->err) == -1)
		os_close(&l->fd);
	l->buf.n = 0;
}

int
report_log_start(struct report_log *l, const char *dir, struct event_bus *bus,
    struct err *e)
{
	struct buf stem = { 0 };

	buf_fmt(&stem, "%s/", dir);
	report_stamp(&stem, os_wall_ns(), REPORT_TIGHT);
	buf_puts(&stem, "-session");
	l->fd = os_make_dirs(dir, 0777, true, e) == -1 ? -1 :
	    make_new(&l->arena, buf_str(&stem), ".jsonl", &l->path, e);
	buf_free(&stem);
	if (l->fd == -1) {
		l->path = NULL;
		arena_free(&l->arena);
		return -1;
	}
	l->sink = (struct event_sink){ .fn = log_on_event, .arg = l };
	event_listen(bus, &l->sink);
	return 0;
}

void
report_log_end(struct report_log *l)
{
	if (l->path == NULL)
		return;
	os_close(&l->fd);
	buf_free(&l->buf);
	arena_free(&l->arena);
	l->path = NULL;
}

/* Transcripts. */

static void
put_file_name(struct buf *b, struct str name)
{
	size_t i, from = b->n;

	for (i = 0; i < name.n && b->n - from < NAME_MAX_BYTES; i++) {
		char c = name.p[i];

		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c == ' ')
			c = '-';
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
		    c == '-' || c == '_')
			buf_putc(b, c);
	}
	if (b->n == from)
		buf_puts(b, "unnamed");
}

/* All items of the lists that the trials have under this key. */
static void
put_joined(struct json_out *w, const char *key, const struct json *const *v,
    size_t n)
{
	const struct json *list, *m;
	size_t i;

	json_open_member(w, key, '[');
	for (i = 0; i < n; i++) {
		list = json_getc(v[i], key);
		if (list == NULL || list->type != JSON_ARRAY)
			continue;
		for (m = json_first(list); m != NULL; m = m->next)
			json_put(w, m);
	}
	json_close(w, ']');
}

/* The value of the last trial that has this key; or NULL. */
static const struct json *
last_of(const char *key, const struct json *const *v, size_t n)
{
	const struct json *m = NULL;

	while (n-- > 0 && (m == NULL || m->type == JSON_NULL))
		m = json_getc(v[n], key);
	return m != NULL && m->type != JSON_NULL ? m : NULL;
}

static void
put_transcript(struct report_transcripts *t, const struct event *e,
    const struct json *const *v, size_t n)
{
	struct json_out w = { .put = buf_sink, .ctx = &t->buf, .indent = 2 };
	const struct result_task *k = e->source.task;
	const struct json *error;
	int64_t ms = report_task_ms(k);

	json_open(&w, '{');
	json_put_member_str(&w, "task_id", k->spec->id);
	json_put_member_str(&w, "task_name", k->spec->name);
	json_put_member_str(&w, "status", str_of(result_word(k->status)));
	put_time(&w, "started_at", e->time_ms - ms * (int64_t)k->done);
	put_time(&w, "completed_at", e->time_ms);
	json_put_member_int(&w, "duration_ms", ms);
	json_put_member(&w, "prompt", last_of("prompt", v, n));
	json_put_member(&w, "final_output", last_of("final_output", v, n));
	put_joined(&w, "transcript", v, n);
	json_put_member(&w, "validations", last_of("validations", v, n));
	json_put_member(&w, "session", last_of("session_digest", v, n));
	if (k->more->error.n > 0)
		json_put_member_str(&w, "error_msg", k->more->error);
	else if ((error = last_of("error_msg", v, n)) != NULL)
		json_put_member(&w, "error_msg", error);
	json_close(&w, '}');
	buf_putc(&t->buf, '\n');
}

static void
transcript_on_event(void *arg, const struct event *e)
{
	struct report_transcripts *t = arg;
	const struct result_task *k = e->source.task;
	struct arena_mark mark = arena_save(&t->arena);
	const struct json **v;
	struct report_detail d;
	size_t i, n = 0;
	char *path;
	int fd;

	if (e->type != EVENT_TASK_COMPLETE || t->err.code != ERR_NONE ||
	    k == NULL || e->source.run == NULL)
		return;
	v = NEW_N(&t->arena, const struct json *, k->ntrials + 1);
	for (i = 0; i < k->ntrials; i++) {
		if (k->trials[i].status == RESULT_NONE)
			continue;
		report_detail(&t->arena, &t->opts, e->source.run, k,
		    &k->trials[i], &d);
		v[n] = d.json;
		n += d.json != NULL;
	}
	t->buf.n = 0;
	buf_fmt(&t->buf, "%s/", t->dir);
	put_file_name(&t->buf, k->spec->name);
	buf_putc(&t->buf, '-');
	report_stamp(&t->buf, e->time_ms * 1000000, REPORT_DASH);
	fd = make_new(&t->arena, buf_str(&t->buf), ".json", &path, &t->err);
	t->buf.n = 0;
	put_transcript(t, e, v, n);
	if (fd != -1)
		os_write_all(fd, buf_str(&t->buf), &t->err);
	os_close(&fd);
	arena_restore(&t->arena, mark);
}

int
report_transcripts_start(struct report_transcripts *t, const char *dir,
    struct event_bus *bus, struct err *e)
{
	if (os_make_dirs(dir, 0777, true, e) == -1)
		return -1;
	if (access(dir, W_OK | X_OK) == -1)
		return err_sys(e, dir);
	t->dir = dir;
	t->sink = (struct event_sink){ .fn = transcript_on_event, .arg = t };
	event_listen(bus, &t->sink);
	return 0;
}

void
report_transcripts_end(struct report_transcripts *t)
{
	buf_free(&t->buf);
	arena_free(&t->arena);
}
