/* SPDX-License-Identifier: ISC */
/*
 * The real MCP server behind a mock.  Its messages go to the client unchanged,
 * except that the first page of its list of tools gets those of the mock; the
 * results of calls are recorded.
 */
#include "mock/mock_internal.h"

#include <signal.h>
#include <string.h>

#include "base/os.h"

enum { GRACE_MS = 3000 };	/* from the end of its input to SIGTERM */

static struct str
json_of(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (v == NULL)
		return STR("");
	json_put(&o, v);
	return arena_take(a, &b);
}

static void
drop_pending(struct mock_pending *p)
{
	LIST_REMOVE(p);
	arena_free(&p->arena);
}

static struct mock_pending *
find_pending(struct mock_link *l, struct str id)
{
	struct mock_pending *p;

	for (p = l->pending; p != NULL && !str_eq(p->id, id); p = p->next)
		;
	return p;
}

/* A server that does not read is about to end, or is ended; see on_done(). */
void
mock_forward(struct mock_link *l, struct str message)
{
	if (l->running && (proc_write(&l->proc, message) == -1 ||
	    proc_write(&l->proc, STR("\n")) == -1))
		mock_real_end(l);
}

void
mock_expect(struct mock_link *l, const struct json *m, struct str text,
    bool lists)
{
	const struct json *params = json_getc(m, "params");
	struct arena own = { 0 };
	struct mock_pending *p = NEW(&own, struct mock_pending);

	p->id = json_of(&own, json_getc(m, "id"));
	p->lists = lists;
	p->first = json_getc(params, "cursor") == NULL;
	p->tool = arena_str(&own, json_str(params, "name"));
	p->arguments = json_of(&own, json_getc(params, "arguments"));
	p->arena = own;
	LIST_PUSH(&l->pending, p);
	mock_forward(l, text);
}

/* The message with our tools; those of the real server of that name go. */
static struct str
merge_list(struct mock_link *l, struct arena *a, const struct json *m,
    bool first)
{
	const struct json *result = json_getc(m, "result"), *v;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_cstr(&o, "jsonrpc", "2.0");
	json_put_member(&o, "id", json_getc(m, "id"));
	json_open_member(&o, "result", '{');
	json_open_member(&o, "tools", '[');
	if (first)
		mock_put_list(&o, l->o->tools);
	for (v = json_first(json_getc(result, "tools")); v != NULL;
	    v = v->next)
		if (mock_find_entry(l->o->tools, json_str(v, "name")) == NULL)
			json_put(&o, v);
	json_close(&o, ']');
	for (v = json_first(result); v != NULL; v = v->next)
		if (!str_is(json_key(v), "tools")) {
			json_put_key(&o, json_key(v));
			json_put(&o, v);
		}
	json_close(&o, '}');
	json_close(&o, '}');
	return arena_take(a, &b);
}

static void
note_failure(struct mock_link *l, const struct err *e)
{
	if (l->err.code == ERR_NONE)
		l->err = *e;
	proc_cancel(&l->proc);
}

static struct str
take_answer(struct mock_link *l, struct arena *a, const struct json *m,
    struct mock_pending *p, struct str text)
{
	const struct json *result = json_getc(m, "result");
	const struct json *error = json_getc(m, "error");
	struct err e = { 0 };
	int rc = 0;

	if (!p->lists) {
		rc = mock_log_call(l, p->tool, p->arguments, json_of(a,
		    result != NULL ? result : error), result == NULL ||
		    mock_true(result, "isError"), -1);
		if (rc == 0 && l->o->records)
			rc = mock_learn_call(l, p, m, &e);
	} else if (result != NULL) {
		if (l->o->records)
			rc = mock_learn_tools(l, json_getc(result, "tools"),
			    &e);
		if (l->o->tools->n > 0)
			text = merge_list(l, a, m, p->first);
	}
	if (rc == -1)
		note_failure(l, &e);
	drop_pending(p);
	return text;
}

static void
on_line(struct mock_link *l, struct str text)
{
	struct arena a = { 0 };
	const struct json *m = arena_json(&a, text, NULL);
	struct mock_pending *p;

	if (m != NULL && m->type == JSON_OBJECT &&
	    json_getc(m, "method") == NULL &&
	    (p = find_pending(l, json_of(&a, json_getc(m, "id")))) != NULL)
		text = take_answer(l, &a, m, p, text);
	if (m != NULL)		/* other output is not for the client */
		mock_send(l, text);
	arena_free(&a);
}

static void
on_out(void *arg, struct str s)
{
	struct mock_link *l = arg;
	struct err e = { 0 };
	struct str line;
	const char *nl;

	l->line.max = MOCK_MESSAGE_MAX;
	buf_put(&l->line, s);
	if (l->line.full) {
		err_set(&e, ERR_LIMIT, "the MCP server sent a message over "
		    "%d MiB", MOCK_MESSAGE_MAX >> 20);
		note_failure(l, &e);
		return;
	}
	while (l->line.n > 0 &&
	    (nl = memchr(l->line.p, '\n', l->line.n)) != NULL) {
		line = (struct str){ l->line.p, (size_t)(nl - l->line.p) };
		if (str_trim(line).n > 0)
			on_line(l, line);
		buf_eat(&l->line, line.n + 1);
	}
}

static void
on_err(void *arg, struct str s)
{
	struct err e;

	(void)arg;
	(void)os_write_all(2, s, &e);
}

static void
on_done(void *arg)
{
	struct mock_link *l = arg;

	l->running = false;
	timer_stop(l->loop, &l->grace);
	if (l->conn != NULL && l->err.code == ERR_NONE && (!l->ended ||
	    (l->pending != NULL && l->proc.res.status != 0)))
		err_set(&l->err, ERR_SYS, "the MCP server \"%.*s\" ended with "
		    "status %d", STRF(l->o->name), l->proc.res.status);
	mock_check_end(l);
}

static void
on_signal(void *arg)
{
	struct mock_link *l = arg;

	l->ended = true;
	if (l->running)
		proc_cancel(&l->proc);
	if (l->conn != NULL)
		conn_drop(l->conn);
}

static int
watch_signals(struct mock_link *l, struct err *e)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	size_t i;

	for (i = 0; i < COUNTOF(signals); i++) {
		l->sig[i] = (struct sig_watch){ .signo = signals[i],
			.fn = on_signal, .arg = l };
		if (sig_start(l->loop, &l->sig[i], e) == -1)
			return -1;
	}
	return 0;
}

int
mock_real_start(struct mock_link *l, struct err *e)
{
	struct proc_opts o = { .argv = l->o->real, .in_open = true,
		.on_out = on_out, .on_err = on_err, .done = on_done,
		.arg = l };

	procs_init(&l->procs, l->loop, true);
	l->fixture.secrets.forms = true;
	mask_add_env(&l->fixture.arena, &l->fixture.secrets,
	    os_env(&l->fixture.arena, NULL, 0));
	if (watch_signals(l, e) == -1 ||
	    proc_start(&l->procs, &l->proc, &o, e) == -1)
		return -1;
	l->running = true;
	return 0;
}

static void
on_grace(void *arg)
{
	struct mock_link *l = arg;

	proc_cancel(&l->proc);
}

void
mock_real_end(struct mock_link *l)
{
	if (!l->running)
		return;
	proc_close_in(&l->proc);
	timer_once(l->loop, &l->grace, GRACE_MS, on_grace, l);
}

void
mock_real_fini(struct mock_link *l)
{
	if (l->o->real == NULL)
		return;
	timer_stop(l->loop, &l->grace);
	proc_fini(&l->proc);
	procs_fini(&l->procs);
	while (l->pending != NULL)
		drop_pending(l->pending);
	buf_free(&l->line);
	arena_free(&l->fixture.arena);
}
