/* SPDX-License-Identifier: ISC */
/*
 * merge_store.c: the temporary files of a merge: the trials' text as a journal,
 * and records of fixed size for tasks and trials, so that memory does not grow
 * with either.  The files have no name and end with the process.
 *
 * Records are written as trials arrive and read in order, through a window.
 */
#include "results/merge/merge_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"
#include "results/result_internal.h"

static int
open_unnamed(struct arena *a, struct err *e)
{
	char *path = arena_cstr(a, arena_fmt(a, "%s/waza-XXXXXX",
	    workspace_tmp()));
	int fd = mkstemp(path);

	if (fd == -1)
		return err_sys(e, path);
	(void)unlink(path);
	(void)fcntl(fd, F_SETFD, FD_CLOEXEC);
	return fd;
}

static int
open_records(struct merge *m, struct merge_records *r, size_t size,
    struct err *e)
{
	*r = (struct merge_records){ .size = size,
		.window = arena_raw(m->arena, MERGE_BLOCK, 8) };
	r->fd = open_unnamed(m->arena, e);
	return r->fd == -1 ? -1 : 0;
}

int
merge_open(struct merge *m, struct err *e)
{
	struct spec_suite *none = NEW(m->arena, struct spec_suite);

	m->spool.arena = m->arena;
	m->spool.suite = none;
	result_init(&m->spool);
	m->names_fd = m->tasks.fd = m->trials.fd = -1;
	if (result_open_unnamed(&m->spool, e) == -1 ||
	    open_records(m, &m->tasks, sizeof(struct merge_task), e) == -1 ||
	    open_records(m, &m->trials, sizeof(struct merge_trial), e) == -1)
		return -1;
	m->names_fd = open_unnamed(m->arena, e);
	return m->names_fd == -1 ? -1 : 0;
}

void
merge_close(struct merge *m)
{
	result_close(&m->spool);
	buf_free(&m->names);
	os_close(&m->names_fd);
	os_close(&m->tasks.fd);
	os_close(&m->trials.fd);
}

static int
put_at(int fd, const void *p, size_t n, int64_t at, struct err *e)
{
	const char *from = p;
	ssize_t k;

	for (; n > 0; n -= (size_t)k, from += k, at += k) {
		do
			k = pwrite(fd, from, n, (off_t)at);
		while (k == -1 && errno == EINTR);
		if (k <= 0)
			return err_sys(e, "cannot write a temporary file");
	}
	return 0;
}

/* Reads up to n bytes; fewer at the end of the file. */
static ssize_t
get_at(int fd, void *p, size_t n, int64_t at)
{
	size_t got = 0;
	ssize_t k = 1;

	for (; got < n && k > 0; got += k > 0 ? (size_t)k : 0)
		do
			k = pread(fd, (char *)p + got, n - got,
			    (off_t)(at + (int64_t)got));
		while (k == -1 && errno == EINTR);
	return k == -1 ? -1 : (ssize_t)got;
}

/* A record in the window is written with it, when the window moves. */
int
merge_put(struct merge_records *r, size_t i, const void *rec, struct err *e)
{
	if (i - r->first >= r->count)
		return put_at(r->fd, rec, r->size, (int64_t)(i * r->size), e);
	memcpy(r->window + (i - r->first) * r->size, rec, r->size);
	r->changed = true;
	return 0;
}

static int
flush_records(struct merge_records *r, struct err *e)
{
	if (!r->changed)
		return 0;
	r->changed = false;
	return put_at(r->fd, r->window, r->count * r->size,
	    (int64_t)(r->first * r->size), e);
}

int
merge_get(struct merge_records *r, size_t i, void *rec, struct err *e)
{
	ssize_t n;

	if (i - r->first >= r->count) {
		if (flush_records(r, e) == -1)
			return -1;
		n = get_at(r->fd, r->window, MERGE_BLOCK / r->size * r->size,
		    (int64_t)(i * r->size));
		r->first = i;
		r->count = n <= 0 ? 0 : (size_t)n / r->size;
		if (n < 0 || r->count == 0)
			return err_sys(e, "cannot read a temporary file");
	}
	memcpy(rec, r->window + (i - r->first) * r->size, r->size);
	return 0;
}

static int
flush_names(struct merge *m, struct err *e)
{
	struct str s = buf_str(&m->names);

	m->names.n = 0;
	m->names_end += (int64_t)s.n;
	return put_at(m->names_fd, s.p, s.n, m->names_end - (int64_t)s.n, e);
}

int
merge_put_names(struct merge *m, const struct str *s, struct merge_task *t,
    struct err *e)
{
	size_t i;

	t->names = m->names_end + (int64_t)m->names.n;
	for (i = 0; i < MERGE_STRINGS; i++) {
		t->n[i] = (uint32_t)s[i].n;
		buf_put(&m->names, s[i]);
		buf_putc(&m->names, '\0');
	}
	return m->names.n < MERGE_BLOCK ? 0 : flush_names(m, e);
}

static int
load_names(struct merge_pass *p, struct err *e)
{
	struct str file, skip, *to[MERGE_STRINGS] = { &p->spec.id,
		&p->spec.name, &p->def.group, &p->more.error,
		&p->more.controls, &file,
		&p->def.quarantine, &p->def.quarantine_until,
		&p->more.selected, &skip };
	size_t i, n = 0, at = 0;
	char *room;

	for (i = 0; i < MERGE_STRINGS; i++)
		n += p->task.n[i] + 1;
	p->names.n = 0;
	room = buf_room(&p->names, n);
	if (flush_names(p->group->m, e) == -1)
		return -1;
	if (get_at(p->group->m->names_fd, room, n, p->task.names) !=
	    (ssize_t)n)
		return err_sys(e, "cannot read a temporary file");
	for (i = 0; i < MERGE_STRINGS; at += p->task.n[i++] + 1)
		*to[i] = (struct str){ room + at, p->task.n[i] };
	p->spec.at = (struct spec_where){ .file = file.n > 0 &&
	    memchr(file.p, '\0', file.n) == NULL ? file.p : NULL,
	    .line = p->task.line };
	if (p->more.skipped != NULL)
		p->more.skipped = skip.p;
	return 0;
}

/* The trials that are missing keep their place, and have no status. */
static int
load_trials(struct merge_pass *p, size_t i, struct err *e)
{
	struct merge *m = p->group->m;
	struct merge_trial rec;
	size_t k, n = p->run.trials;

	for (k = 0; k < n; k++) {
		p->slots[k] = (struct result_trial){ .off = -1 };
		if (!merge_bit(p->have, i * n + k))
			continue;
		if (merge_get(&m->trials, p->trials + i * n + k, &rec, e) ==
		    -1)
			return -1;
		p->slots[k] = rec.t;
	}
	return 0;
}

const struct result_task *
merge_load(struct merge_pass *p, size_t i, bool names)
{
	struct merge *m = p->group->m;
	struct result_task *t = &p->task.t;
	struct err *e = &m->err;

	if (p->loaded == i + 1 && (p->named || !names))
		return t;
	p->loaded = i + 1;
	p->named = names;
	p->task = (struct merge_task){ .t = { .index = (uint32_t)i } };
	p->spec = (struct spec_task){ .id = STR(""), .def = &p->def };
	p->def = (struct spec_def){ .rows = NULL };
	if (m->err.code == ERR_NONE && merge_bit(p->known, i) &&
	    merge_get(&m->tasks, p->tasks + i, &p->task, e) == 0)
		p->def.golden = p->task.golden;
	p->def.quarantined = p->task.n[MERGE_QUARANTINE] > 0;
	t->ntrials = p->task.trials > 0 ? p->task.trials :
	    (uint32_t)p->run.trials;
	t->trials = p->slots;
	t->spec = &p->spec;
	p->more = (struct result_more){ .skipped =
	    p->task.n[MERGE_SKIP] > 0 ? "" : NULL };
	t->more = &p->more;
	t->stats = &p->task.stats;
	if (m->err.code != ERR_NONE || load_trials(p, i, e) == -1 ||
	    (names && merge_bit(p->known, i) && load_names(p, e) == -1))
		t->status = RESULT_NONE;
	return t;
}

static const struct result_task *
load(void *ctx, size_t i, bool names)
{
	return merge_load(ctx, i, names);
}

int
merge_open_pass(struct merge *m, struct merge_pass *p, struct err *e)
{
	struct result_run *r = &p->run;
	size_t n = r->ntasks * r->trials;
	struct merge_task none;

	memset(&none, 0, sizeof(none));
	p->have = NEW_N(m->arena, unsigned char, n / 8 + 1);
	p->known = NEW_N(m->arena, unsigned char, r->ntasks / 8 + 1);
	p->slots = NEW_N(m->arena, struct result_trial, r->trials);
	p->tasks = m->next_task;
	p->trials = m->next_trial;
	m->next_task += r->ntasks + 1;
	m->next_trial += n + 1;
	p->source = (struct result_source){ .get = load, .ctx = p };
	/* the last record exists, so that windows can be read to it */
	return merge_put(&m->tasks, m->next_task - 1, &none, e);
}
