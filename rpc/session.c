/* SPDX-License-Identifier: ISC */
/*
 * The methods of sessions: generate_fix, delete_session and user_message.
 * Each has two names, that of the protocol document and ours.
 */
#include "rpc/session.h"

#include "base/os.h"
#include "json.h"
#include "rpc/session_internal.h"

static enum rpc_status
not_found(struct rpc_call *c, struct str id)
{
	rpc_data(c, "session_id", id);
	return rpc_fail(c, RPC_SESSION_NOT_FOUND, NULL);
}

static enum rpc_status
busy(struct rpc_call *c, const struct session *s)
{
	rpc_data(c, "session_id", str_of(s->id));
	return rpc_fail(c, RPC_SESSION_BUSY, NULL);
}

/* A client may name the session that its first request creates. */
static bool
can_be_new(const struct sessions *all, struct str id)
{
	unsigned char key[SESSION_KEY];

	return session_key(id, key) && !session_has_ended(all, id);
}

static enum rpc_status
generate_fix(struct rpc_call *c, void *params)
{
	struct sessions *all = c->arg;
	struct session_params *p = NEW(c->arena, struct session_params);
	struct session *s = NULL;
	struct str plan, executor;
	struct err e = { 0 };
	bool fresh;

	if (session_read_params(c, params, p) != RPC_DONE)
		return RPC_FAIL;
	if (p->session_id.p != NULL) {
		s = session_find(all, p->session_id);
		if (s == NULL && !can_be_new(all, p->session_id))
			return not_found(c, p->session_id);
		if (s != NULL && s->fix != NULL)
			return busy(c, s);
	}
	if (session_plan(c, p, &plan, &executor) != RPC_DONE)
		return RPC_FAIL;
	if (all->stopping)
		return rpc_fail(c, RPC_RESOURCE,
		    "Resource exhausted: the server is shutting down");
	fresh = s == NULL;
	if (fresh)
		s = session_new(all, p->session_id, &e);
	if (s == NULL)
		return rpc_fail(c, e.code == ERR_LIMIT ? RPC_RESOURCE :
		    RPC_INTERNAL, "%s", e.msg);
	return session_fix(c, p, s, fresh, plan, executor);
}

struct id_in {
	struct str session_id;
};
static const struct field id_rows[] = {
	FIELD(id_in, session_id, FIELD_STR, .flags = FIELD_REQUIRED),
};
static const struct field_table id_table = FIELD_TABLE(id_in, id_rows);

/* The original's client sends the parameters inside of `inner`. */
struct delete_in {
	struct str session_id;
	const struct json *inner;
};
static const struct field delete_rows[] = {
	FIELD(delete_in, session_id, FIELD_STR,
	    .help = "as generate_fix returned it; required"),
	FIELD(delete_in, inner, FIELD_TREE,
	    .help = "an object with session_id instead"),
};
static const struct field_table delete_table =
    FIELD_TABLE(delete_in, delete_rows);

static enum rpc_status
delete_session(struct rpc_call *c, void *params)
{
	static const struct json none = { .type = JSON_OBJECT };
	const struct delete_in *p = params;
	struct sessions *all = c->arg;
	struct id_in in = { p->session_id };
	struct session *s;
	char when[SESSION_TIME];

	if (in.session_id.p == NULL && rpc_decode_part(c, &id_table,
	    p->inner != NULL ? p->inner : &none, p->inner != NULL ?
	    "inner" : NULL, &in) != RPC_DONE)
		return RPC_FAIL;
	s = session_find(all, in.session_id);
	if (s == NULL)
		return not_found(c, in.session_id);
	if (s->fix != NULL)
		return busy(c, s);
	session_time(when, os_wall_ns());
	json_open(&c->out, '{');
	json_put_member_cstr(&c->out, "session_id", s->id);
	json_put_member_bool(&c->out, "deleted", true);
	json_put_member_cstr(&c->out, "deleted_at", when);
	json_close(&c->out, '}');
	session_end(s);
	session_expire_later(all);
	return RPC_DONE;
}

/* No agent asks its user anything, so that no one waits for a message. */
static enum rpc_status
message(struct rpc_call *c, void *params)
{
	(void)params;
	json_open(&c->out, '{');
	json_put_member_bool(&c->out, "received", true);
	json_close(&c->out, '}');
	return RPC_DONE;
}

static void
stop(void *arg)
{
	struct sessions *all = arg;
	struct session *s;

	if (all->stopping)
		return;
	all->stopping = true;
	timer_stop(all->rpc->loop, &all->expiry);
	for (s = all->head; s != NULL; s = s->next)
		if (s->fix != NULL)
			session_fix_stop(s->fix);
		else {
			session_agent_close(s->agent);
			s->agent = NULL;
		}
}

static bool
is_busy(const void *arg)
{
	const struct sessions *all = arg;

	return all->nagents > 0;
}

/* Saved sessions stay on disk. */
static void
close_all(void *arg)
{
	struct sessions *all = arg;
	struct session *s;

	stop(all);
	timer_stop(all->rpc->loop, &all->step);
	while ((s = all->head) != NULL) {
		if (s->fix != NULL)
			session_fix_free(s->fix);
		s->file[0] = '\0';
		session_drop(s);
	}
	buf_free(&all->ended);
	if (all->agents == NULL)	/* else their children still run */
		arena_free(&all->arena);
}

#define FIX(n) { .name = n, .family = RPC_SESSION, .flags = RPC_SLOW, \
	.params = &session_fix_table, .fn = generate_fix, \
	.help = "let an agent fix incidents in a directory" }
#define DELETE(n) { .name = n, .family = RPC_SESSION, \
	.params = &delete_table, .fn = delete_session, \
	.help = "delete a session" }
#define MESSAGE(n) { .name = n, .family = RPC_SESSION, .fn = message, \
	.help = "accepted and ignored" }
static const struct rpc_method methods[] = {
	FIX("kaiak/generate_fix"), FIX("waza/generate_fix"),
	DELETE("kaiak/delete_session"), DELETE("waza/delete_session"),
	MESSAGE("kaiak/client/user_message"),
	MESSAGE("waza/client/user_message"),
};

const struct rpc_module session_module = {
	.methods = methods, .nmethods = COUNTOF(methods), .cancel = stop,
	.busy = is_busy, .close = close_all,
};

int
session_open(struct rpc *r, const struct session_opts *o, struct err *e)
{
	return session_restore(sessions_new(r, o), e);
}
