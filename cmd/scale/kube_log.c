/* SPDX-License-Identifier: ISC */
/*
 * kube_log.c: logs of pods, and the results in them.
 *
 * A log is written to the file of the shard as it arrives, and read from there
 * when it is complete: results do not have to fit in a pipe.  Afterwards the
 * file has what the shard printed besides.
 */
#include "cmd/scale/kube_engine.h"

#include <fcntl.h>
#include <string.h>

#include "base/os.h"
#include "cmd/run.h"
#include "cmd/scale/on_internal.h"
#include "json.h"
#include "results/result.h"

enum {
	TRIES = 3,		/* to read a log */
	TIMEOUT_MS = 10 * 60 * 1000,
	HEAD = 4096		/* of results: their fingerprint is in it */
};

/* A member as results have it. */
static const char *
member(struct arena *a, const char *name, struct str value)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	buf_fmt(&b, "\"%s\": ", name);
	json_put_str(&o, value);
	return arena_take(a, &b).p;
}

/* What results of a unit must have: those of a run here would. */
static const struct kube_want *
want_of(struct kube *k, const struct cmd_unit *u)
{
	struct kube_want *w = &k->wants[u - k->on->run->units];
	struct cmd_job *j = &k->on->run->job;
	struct arena *a = k->on->arena;
	struct run_opts o = u->opts;
	const struct result_run *r;
	struct run *run;
	struct err e;

	if (w->v[0] != NULL)
		return w;
	o.output = NULL;
	o.resume = false;
	run = run_new(j->loop, &j->procs, u->cell->spec, &o, &j->bus, &e);
	if (run == NULL)
		return NULL;
	r = run_results(run);
	w->v[0] = member(a, "fingerprint", str_of(r->fingerprint));
	w->v[1] = member(a, "engine_type", r->executor);
	w->v[2] = member(a, "model_id", r->model);
	w->v[3] = arena_fmt(a, "\"runs_per_test\": %zu,", r->trials).p;
	run_free(run);
	return w;
}

/*
 * The suite of a pod must be the local one, with the same settings: an image
 * can be older, and files can be missing there.
 */
static bool
is_our_suite(struct kube *k, const struct cmd_unit *u, struct str text)
{
	const struct kube_want *w = want_of(k, u);
	char head[HEAD + 1];
	size_t i, n = text.n < HEAD ? text.n : HEAD;

	if (n > 0)
		memcpy(head, text.p, n);
	head[n] = '\0';
	for (i = 0; w != NULL && i < COUNTOF(w->v); i++)
		if (strstr(head, w->v[i]) == NULL)
			return false;
	return w != NULL;
}

/* The unit whose results of the shard have this name. */
static const struct cmd_unit *
find_unit(struct kube *k, const struct on_shard *s, struct str name,
    const char **path)
{
	const struct cmd_run *r = k->on->run;
	const char *slash;
	size_t i;

	for (i = 0; i < r->nunits; i++) {
		*path = on_unit_output(k->on, &r->units[i], s->output);
		slash = strrchr(*path, '/');
		if (str_is(name, slash != NULL ? slash + 1 : *path))
			return &r->units[i];
	}
	return NULL;
}

static int
take_block(struct kube *k, const struct on_shard *s,
    const struct kube_block *b, struct err *e)
{
	const char *path;
	const struct cmd_unit *u = find_unit(k, s, b->name, &path);

	if (u == NULL)
		return err_set(e, ERR_SCHEMA, "its log has results of another "
		    "name: %.*s", STRF(utf8_cut(b->name, 50)));
	if (!is_our_suite(k, u, b->text))
		return err_set(e, ERR_SCHEMA, "the suite or its settings in "
		    "the pod differ from the local ones");
	return os_replace_file(path, b->text, e);
}

static int
take_results(struct kube *k, const struct on_shard *s, struct err *e)
{
	struct arena a = { 0 };
	struct kube_block b;
	struct str text, rest;
	size_t n = 0;
	int more = -1;

	if (os_read_plain(&a, s->log, KUBE_LOG_MAX, &text, e) == 0)
		for (rest = text; (more = kube_pod_block(&rest, &b, e)) == 1;
		    n++)
			if (take_block(k, s, &b, e) == -1) {
				more = -1;
				break;
			}
	if (more == 0 && n == 0)
		more = err_set(e, ERR_SCHEMA, "its log has no results");
	if (more == 0)
		more = os_replace_file(s->log, kube_pod_talk(text), e);
	arena_free(&a);
	return more;
}

static void
finish(struct kube *k, struct kube_shard *s, bool complete)
{
	struct err e = { 0 };

	if (s->phase != KUBE_SUCCEEDED)
		kube_shard_done(k, s, s->why);
	else if (!complete)
		kube_shard_done(k, s, "its log could not be read");
	else if (take_results(k, &k->on->shards[s->k - 1], &e) == -1)
		kube_shard_done(k, s, e.msg);
	else
		kube_shard_done(k, s, "");
}

static void
on_out(void *arg, struct str s)
{
	struct kube_fetch *f = arg;
	struct err e;

	f->bytes += s.n;
	if (f->bytes > KUBE_LOG_MAX || f->fd == -1 ||
	    os_write_all(f->fd, s, &e) == -1)
		proc_cancel(&f->proc);
}

/* A log that could not be read is tried again when the states are known. */
static void
on_done(void *arg)
{
	struct kube_fetch *f = arg;
	struct kube_shard *s = f->shard;
	bool ok = f->proc.res.status == 0;

	os_close(&f->fd);
	f->busy = false;
	s->fetching = false;
	if (!f->kube->cancelled && (ok || s->tries >= TRIES))
		finish(f->kube, s, ok);
}

static int
start(struct kube_fetch *f, struct err *e)
{
	struct on *on = f->kube->on;
	struct on_words w = kube_command(f->kube);
	struct proc_opts o = { .on_out = on_out, .done = on_done, .arg = f,
		.timeout_ms = TIMEOUT_MS };
	const char *log = on->shards[f->shard->k - 1].log;

	on_add(&w, "logs");
	on_add(&w, arena_str(on->arena, str_of(f->shard->pod)).p);
	on_add(&w, "--container=" KUBE_CONTAINER);
	o.argv = w.v;
	f->bytes = 0;
	f->fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	if (f->fd == -1)
		return err_sys(e, log);
	proc_fini(&f->proc);
	f->proc = (struct proc){ .pid = 0 };
	return proc_start(&on->run->job.procs, &f->proc, &o, e);
}

void
kube_fetch(struct kube *k, struct kube_shard *s)
{
	struct kube_fetch *f;
	struct err e;

	if (s->pod[0] == '\0') {	/* nothing was started */
		kube_shard_done(k, s, s->why);
		return;
	}
	for (f = k->fetch; f < k->fetch + KUBE_FETCHES && f->busy; f++)
		;
	if (s->fetching || f == k->fetch + KUBE_FETCHES)
		return;
	f->kube = k;
	f->shard = s;
	s->tries++;
	f->busy = s->fetching = true;
	if (start(f, &e) == 0)
		return;
	os_close(&f->fd);
	f->busy = s->fetching = false;
	if (s->tries >= TRIES)
		finish(k, s, false);
}

void
kube_fetch_end(struct kube *k)
{
	struct kube_fetch *f;

	for (f = k->fetch; f < k->fetch + KUBE_FETCHES; f++) {
		proc_fini(&f->proc);
		if (f->busy)
			os_close(&f->fd);
		f->busy = false;
	}
}
