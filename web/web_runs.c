/* SPDX-License-Identifier: ISC */
/*
 * Runs, of this server and in results files: the list, one run with its tasks,
 * its results, one task, a comparison.
 *
 * The description of a run that is over does not change any more, so its bytes
 * are kept: with the run, or in a cache for some of the files.
 */
#include "web/web_api_internal.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"
#include "report/compare.h"
#include "results/outcome.h"

enum {
	LIST_DEFAULT = 50, LIST_MAX = 1000,
	WHOLE_MAX = 4 << 20,	/* bytes of a file that is sent at once; */
	PIECE = 256 << 10	/* a larger one is sent in such pieces */
};

/*
 * All runs.
 */
static int
by_age(const void *x, const void *y)
{
	struct store_run a, b;

	rpc_view_brief(*(struct rpc_run *const *)x, &a);
	rpc_view_brief(*(struct rpc_run *const *)y, &b);
	if (a.started_ns != b.started_ns)
		return a.started_ns > b.started_ns ? -1 : 1;
	return str_cmp(b.id, a.id);
}

static bool
is_same_file(struct arena *a, struct str x, struct str y)
{
	const char *p, *q;

	if (x.n == 0 || y.n == 0 || str_eq(x, y))
		return x.n > 0 && str_eq(x, y);
	p = os_real(a, arena_cstr(a, x));
	q = os_real(a, arena_cstr(a, y));
	return p != NULL && q != NULL && strcmp(p, q) == 0;
}

/* Marks the files with the run's id: its own is skipped, copies are listed. */
static void
mark(struct web_api *api, struct arena *a, struct rpc_run *r)
{
	struct store_run run;
	struct store_file **v;
	size_t i, n;

	rpc_view_brief(r, &run);
	v = store_group(&api->store, run.id, &n);
	for (i = 0; i < n; i++) {
		v[i]->turn = api->turn;
		v[i]->own = is_same_file(a, v[i]->run.path, rpc_view(r).output);
	}
}

void
web_runs_begin(struct web_runs *s, struct web_api *api, struct arena *a)
{
	struct rpc *rpc = api->web->rpc;
	struct rpc_run *r;

	*s = (struct web_runs){ .api = api };
	s->live = NEW_N(a, struct rpc_run *, rpc_view_counts(rpc).known);
	for (r = rpc_view_next(rpc, NULL); r != NULL;
	    r = rpc_view_next(rpc, r))
		s->live[s->nlive++] = r;
	if (s->nlive > 1)
		qsort(s->live, s->nlive, sizeof(*s->live), by_age);
	if (!api->stored)
		return;
	s->file = store_list(&api->store, &s->nfiles);
	api->turn++;
	for (r = rpc_view_next(rpc, NULL); r != NULL;
	    r = rpc_view_next(rpc, r))
		mark(api, a, r);
}

bool
web_runs_next(struct web_runs *s)
{
	struct store_file *f = NULL;

	for (; s->ifile < s->nfiles; s->ifile++) {
		f = s->file[s->ifile];
		if (f->turn != s->api->turn || !f->own)
			break;
		f = NULL;
	}
	if (s->ilive < s->nlive) {
		rpc_view_brief(s->live[s->ilive], &s->own);
		s->run = &s->own;
		if (f == NULL || s->own.started_ns >= f->run.started_ns) {
			s->at = (struct web_run){ s->live[s->ilive++], NULL };
			return true;
		}
	}
	if (f == NULL)
		return false;
	s->ifile++;
	s->at = (struct web_run){ NULL, f };
	s->run = &f->run;
	if (f->turn == s->api->turn) {
		s->own = f->run;
		s->own.id = f->long_id;
		s->run = &s->own;
	}
	return true;
}

bool
web_api_lookup(struct web_api *api, struct str id, struct web_run *out)
{
	out->live = rpc_view_find(api->web->rpc, id);
	out->file = out->live == NULL && api->stored ?
	    store_find(&api->store, id) : NULL;
	return out->live != NULL || out->file != NULL;
}

bool
web_api_find(struct web_req *r, struct str id, struct web_run *out)
{
	if (web_api_lookup(r->arg, id, out))
		return true;
	web_api_fail(r, RPC_RUN_NOT_FOUND, NULL, "runId", id);
	return false;
}

/*
 * The list.
 */
static bool
read_state(struct web_req *r, const struct web_arg *a, int *state)
{
	int i;

	*state = -1;
	if (!a->given || a->value.n == 0)
		return true;
	for (i = 0; i < STORE_STATE__MAX; i++)
		if (str_is(a->value, store_state_name((enum store_state)i))) {
			*state = i;
			return true;
		}
	web_api_fail(r, RPC_INVALID_PARAMS, "Invalid params: \"status\" is "
	    "pending, running, completed, failed or cancelled", "field",
	    STR("status"));
	return false;
}

void
web_api_list(struct web_req *r)
{
	enum { LIMIT, OFFSET, Q, STATUS, SUITE };
	struct web_arg args[SUITE + 1];
	struct web_api *api = r->arg;
	struct store_query q = { .state = -1 };
	size_t limit, offset, total = 0;
	struct web_runs all;
	struct json_out *o;

	if (!web_api_args(r, args, COUNTOF(args)) ||
	    !web_api_count(r, &args[LIMIT], LIST_DEFAULT, LIST_MAX, &limit) ||
	    !web_api_count(r, &args[OFFSET], 0, 1000000, &offset) ||
	    !read_state(r, &args[STATUS], &q.state))
		return;
	q.q = args[Q].value;
	q.suite = args[SUITE].value;
	o = web_json(r);
	json_open(o, '{');
	json_open_member(o, "runs", '[');
	for (web_runs_begin(&all, api, r->arena); web_runs_next(&all); ) {
		if (!store_matches(all.run, &q))
			continue;
		if (total >= offset && total - offset < limit) {
			json_open(o, '{');
			web_meet_put(api, o, all.run);
			json_close(o, '}');
		}
		total++;
	}
	json_close(o, ']');
	json_put_member_int(o, "total", (int64_t)total);
	if (api->stored)
		json_put_member_int(o, "skippedFiles",
		    (int64_t)api->store.nskipped);
	if (api->stored && api->store.full)
		json_put_member_bool(o, "incomplete", true);
	if (api->stored && !api->store.scanned)
		json_put_member_bool(o, "scanning", true);
	json_close(o, '}');
	web_end_json(r, 200);
}

/*
 * Results.
 */
struct outcome *
web_api_outcome(struct web_api *api, const struct web_run *run,
    struct arena *a, bool keep, struct err *e)
{
	struct str text, path;

	if (run->file != NULL)
		return keep ? store_outcome(&api->store, run->file, e) :
		    store_read(&api->store, run->file, a, e);
	if (!rpc_view_over(run->live)) {
		err_set(e, ERR_SCHEMA, "the run is not over");
		return NULL;
	}
	path = rpc_view(run->live).output;
	text = rpc_view(run->live).results;
	if (text.n > 0) {
		struct store_run b;

		rpc_view_brief(run->live, &b);
		return outcome_parse(a, text, arena_cstr(a, path.n > 0 ? path :
		    b.id), e);
	}
	if (path.n > 0)
		return outcome_read(a, arena_cstr(a, path), e);
	err_set(e, ERR_LIMIT, "the results were too large to be kept");
	return NULL;
}

static void
no_result(struct web_req *r, struct str id, const char *why)
{
	web_api_fail(r, RPC_NO_RESULT, arena_fmt(r->arena, "No results: %s",
	    why).p, "runId", id);
}

/* A large file that is sent in pieces. */
struct sending {
	struct web_req *req;
	int fd;
	char *piece;
};

static void
on_sent_gone(void *arg)
{
	struct sending *s = arg;

	os_close(&s->fd);
}

static void
send_more(void *arg)
{
	struct sending *s = arg;
	ssize_t n = os_read(s->fd, s->piece, PIECE);

	if (n > 0) {
		web_stream_put(s->req, (struct str){ s->piece, (size_t)n });
		return;
	}
	os_close(&s->fd);
	web_stream_end(s->req);
}

static void
send_file(struct web_req *r, int fd)
{
	struct web_stream st = { .gone = on_sent_gone, .drained = send_more };
	struct sending *s;

	web_later(r, NULL, NULL);
	s = NEW(r->arena, struct sending);
	*s = (struct sending){ r, fd, arena_raw(r->arena, PIECE, 1) };
	st.arg = s;
	if (web_stream_begin(r, "application/json", &st))
		send_more(s);
	else
		os_close(&fd);
}

static void
answer_file(struct web_req *r, int fd, int64_t size)
{
	struct str text;
	struct err e;
	int rc;

	if (size > WHOLE_MAX) {
		send_file(r, fd);
		return;
	}
	rc = os_read_fd(r->arena, fd, "the results", WHOLE_MAX, &text, &e);
	os_close(&fd);
	if (rc == -1)
		no_result(r, r->param[0], e.msg);
	else
		web_answer(r, 200, "application/json", text);
}

/* The file is sent as it is, so it must be the one that the run wrote. */
static int
open_output(struct arena *a, const struct rpc_view *v, int64_t *size,
    struct err *e)
{
	const char *p = arena_cstr(a, v->output);
	struct store_stamp now;
	struct stat st;
	int fd = open(p, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC |
	    O_NOCTTY);

	if (fd == -1)
		return err_sys(e, p);
	if (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode)) {
		os_close(&fd);
		return err_set(e, ERR_SYS, "not a regular file");
	}
	store_stamp(&now, &st);
	if (!store_same(&now, v->stamp)) {
		os_close(&fd);
		return err_set(e, ERR_SYS, "%s has changed since the run "
		    "ended", p);
	}
	*size = (int64_t)st.st_size;
	return fd;
}

void
web_api_result(struct web_req *r)
{
	struct web_api *api = r->arg;
	struct rpc_view v = { 0 };
	struct web_run run;
	struct err e;
	int64_t size;
	int fd;

	if (!web_api_args(r, NULL, 0) || !web_api_find(r, r->param[0], &run))
		return;
	if (run.file == NULL)
		v = rpc_view(run.live);
	if (run.file != NULL)
		fd = store_open(&api->store, run.file, &size, &e);
	else if (!rpc_view_over(run.live)) {
		no_result(r, r->param[0], "the run is not over");
		return;
	} else if (v.results.n > 0) {
		web_answer(r, 200, "application/json", v.results);
		return;
	} else if (v.output.n > 0)
		fd = open_output(r->arena, &v, &size, &e);
	else
		fd = err_set(&e, ERR_LIMIT, "they were too large to be kept");
	if (fd == -1)
		no_result(r, r->param[0], e.msg);
	else
		answer_file(r, fd, size);
}

/*
 * One run.
 */
static void
put_end(struct web_req *r, struct json_out *o, struct str error, bool results)
{
	json_put_member_nonempty(o, "error", error);
	if (results)
		json_put_member_str(o, "resultsUrl", arena_fmt(r->arena,
		    "/api/v1/runs/%.*s/result", STRF(r->param[0])));
	else
		json_put_member_null(o, "resultsUrl");
	json_close(o, '}');
}

/* The tasks of a completed run come from its results: those name graders. */
static void
make_live(struct web_req *r, struct rpc_run *run, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	struct web_run which = { run, NULL };
	struct rpc_view v = rpc_view(run);
	struct outcome *oc = NULL;
	struct store_run brief;
	struct err e;

	rpc_view_brief(run, &brief);
	if (brief.state == STORE_COMPLETED)
		oc = web_api_outcome(r->arg, &which, r->arena, false, &e);
	json_open(&o, '{');
	store_put(&o, &brief);
	if (oc != NULL) {
		store_put_reasons(&o, oc);
		store_put_tasks(&o, oc);
	} else
		rpc_view_tasks(&o, run);
	put_end(r, &o, v.error, rpc_view_over(run) &&
	    v.results.n + v.output.n > 0);
	buf_putc(b, '\n');
}

static void
get_live(struct web_req *r, struct rpc_run *run)
{
	struct buf *page = &rpc_view(run).shown->page, *b;

	if (!rpc_view_over(run)) {
		b = web_begin(r);
		make_live(r, run, b);
		web_end(r, 200, "application/json");
		return;
	}
	if (page->n == 0)
		make_live(r, run, page);
	web_answer(r, 200, "application/json", buf_str(page));
}

/* The file's page in the cache, or the longest unused one. */
static struct web_api_page *
page_of(struct web_api *api, const struct store_file *f)
{
	struct web_api_page *p, *oldest = api->page;

	for (p = api->page; p < api->page + WEB_API_PAGES; p++) {
		if (p->file == f)
			return p;
		if (p->used < oldest->used)
			oldest = p;
	}
	return oldest;
}

static void
make_file(struct web_req *r, const struct store_file *f,
    const struct outcome *oc, struct buf *b)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	struct store_run run = f->run;

	run.id = r->param[0];
	json_open(&o, '{');
	web_meet_put(r->arg, &o, &run);
	store_put_reasons(&o, oc);
	store_put_tasks(&o, oc);
	put_end(r, &o, STR(""), true);
	buf_putc(b, '\n');
}

static bool
is_same_id(struct str page, struct str id)
{
	static const char head[] = "{\"runId\":\"";
	size_t n = sizeof(head) - 1;

	return page.n > n + id.n && page.p[n + id.n] == '"' &&
	    memcmp(page.p + n, id.p, id.n) == 0;
}

static void
get_file(struct web_req *r, const struct store_file *f)
{
	struct web_api *api = r->arg;
	struct web_api_page *p = page_of(api, f);
	struct buf *b = &p->body;
	struct outcome *oc;
	struct err e;

	if (p->file != f || b->n == 0 || !store_same(&p->stamp, &f->stamp) ||
	    !is_same_id(buf_str(b), r->param[0])) {
		oc = store_outcome(&api->store, f, &e);
		if (oc == NULL) {
			no_result(r, r->param[0], e.msg);
			return;
		}
		b->n = 0;
		make_file(r, f, oc, b);
		p->file = f;
		p->stamp = f->stamp;
	}
	p->used = ++api->uses;
	web_answer(r, 200, "application/json", buf_str(b));
	if (b->n > WEB_API_PAGE_MAX)
		buf_free(b);
}

void
web_api_get(struct web_req *r)
{
	struct web_run run;

	if (!web_api_args(r, NULL, 0) || !web_api_find(r, r->param[0], &run))
		return;
	if (run.live != NULL)
		get_live(r, run.live);
	else
		get_file(r, run.file);
}

/*
 * One task, with all of its trials.
 */
void
web_api_task(struct web_req *r)
{
	struct web_api *api = r->arg;
	const struct outcome_task *t;
	struct outcome *oc;
	struct web_run run;
	struct err e;
	bool found;

	if (!web_api_args(r, NULL, 0) || !web_api_find(r, r->param[0], &run))
		return;
	if (run.live != NULL && !rpc_view_over(run.live))
		found = rpc_view_task(run.live, r->param[1], web_begin(r));
	else {
		oc = web_api_outcome(api, &run, r->arena, true, &e);
		if (oc == NULL) {
			no_result(r, r->param[0], e.msg);
			return;
		}
		t = outcome_find(oc, r->param[1]);
		found = t != NULL;
		if (found)
			json_put(web_json(r), t->node);
	}
	if (found)
		web_end_json(r, 200);
	else
		web_api_fail(r, RPC_TASK_NOT_FOUND, NULL, "taskId",
		    r->param[1]);
}

void
web_api_compare(struct web_req *r)
{
	struct web_api *api = r->arg;
	const struct outcome *files[2];
	struct compare c;
	struct web_run run;
	struct err e;
	size_t i;

	if (!web_api_args(r, NULL, 0))
		return;
	for (i = 0; i < 2; i++) {
		if (!web_api_find(r, r->param[i], &run))
			return;
		files[i] = web_api_outcome(api, &run, r->arena, false, &e);
		if (files[i] == NULL) {
			no_result(r, r->param[i], e.msg);
			return;
		}
	}
	compare_make(r->arena, &c, files, 2);
	compare_json(web_begin(r), &c);
	web_end(r, 200, "application/json");
}
