/* SPDX-License-Identifier: ISC */
/*
 * The mocks of a trial: the files that they need, outside of the workspace, and
 * the calls that they recorded.
 *
 *	POOL/all-mocks/bin/NAME	link to this program, for each mocked command
 *	POOL/slot-N-mocks/	mocks.json and mcp-I.json for the mocks,
 *				calls.jsonl by them
 *
 * A call without a response makes the trial an error of its setup, whatever
 * the agent made of it: its result shows nothing about the agent.
 */
#include "run/run_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "mock/mock.h"

bool
run_mocks_any(const struct spec_suite *s)
{
	size_t i;

	if (json_first(s->command_mocks) != NULL)
		return true;
	for (i = 0; i < s->ntasks; i++)
		if (json_first(s->tasks[i].def->command_mocks) != NULL)
			return true;
	return false;
}

static bool
has_mocks(const struct run *run)
{
	return run->opts.stored == NULL && (json_first(run->suite->mcp_mocks) !=
	    NULL || run->command_mocks);
}

static const struct json *
commands_of(const struct run_ask *q)
{
	const struct json *own = q->task->def->command_mocks;

	return own != NULL ? own : q->run->suite->command_mocks;
}

static int
link_commands(struct run_ask *q, const struct json *list, const char *self,
    struct err *e)
{
	const struct json *v;
	const char *path;

	for (v = json_first(list); v != NULL; v = v->next) {
		path = arena_fmt(&q->arena, "%s/%.*s", q->run->agent->mock_bin,
		    STRF(json_str(v, "name"))).p;
		if (symlink(self, path) == -1 && errno != EEXIST)
			return err_sys(e, path);
	}
	return 0;
}

/* For bash -l: see agent_mocks_env(). */
static struct str
bash_file(struct arena *a, const char *bin)
{
	struct buf b = { 0 };
	const char *p;

	buf_puts(&b, "[ -z \"$WAZA_BASH_ENV\" ] || . \"$WAZA_BASH_ENV\"\n"
	    "waza_mocks='");
	for (p = bin; *p != '\0'; p++)
		if (*p == '\'')
			buf_puts(&b, "'\\''");
		else
			buf_putc(&b, *p);
	buf_puts(&b, "'\ncase $PATH: in\n$waza_mocks:*) ;;\n"
	    "*) PATH=$waza_mocks:$PATH ;;\nesac\nunset waza_mocks\n");
	return arena_take(a, &b);
}

/* The directory of commands, once per run. */
static int
make_bin(struct run_ask *q, const char *self, struct err *e)
{
	struct run *run = q->run;
	struct arena *a = &run->live;
	const char *root = os_absolute(a, arena_fmt(a, "%s/all-mocks",
	    run->pool.dir).p);
	const char *bin = arena_fmt(a, "%s/" MOCK_BIN, root).p;
	size_t i;

	if (run->agent->mock_bin != NULL)
		return 0;
	if (os_make_dirs(bin, 0700, true, e) == -1 ||
	    os_write_file(arena_fmt(a, "%s/" MOCK_MARK, bin).p, STR(""),
	    e) == -1 || os_write_file(arena_fmt(a, "%s/bash_env", root).p,
	    bash_file(a, bin), e) == -1)
		return -1;
	run->agent->mock_bin = bin;
	if (link_commands(q, run->suite->command_mocks, self, e) == -1)
		return -1;
	for (i = 0; i < run->suite->ntasks; i++)
		if (link_commands(q, run->suite->tasks[i].def->command_mocks,
		    self, e) == -1)
			return -1;
	return 0;
}

/* A response with the path of its fixture, for any working directory. */
static void
put_response(struct json_out *o, struct run_ask *q, const struct json *v)
{
	const struct json *m;

	json_open(o, '{');
	for (m = json_first(v); m != NULL; m = m->next) {
		json_put_key(o, json_key(m));
		if (str_is(json_key(m), "fixture"))
			json_put_cstr(o, os_absolute(&q->arena, spec_path(
			    &q->arena, q->run->suite->dir, json_text(m))));
		else
			json_put(o, m);
	}
	json_close(o, '}');
}

static struct str
config_text(struct run_ask *q)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *v, *r;

	json_open(&o, '{');
	json_put_member_cstr(&o, "workspace", q->req.workspace != NULL ?
	    os_absolute(&q->arena, q->req.workspace) : "");
	json_open_member(&o, "commands", '[');
	for (v = json_first(commands_of(q)); v != NULL; v = v->next) {
		json_open(&o, '{');
		json_put_member(&o, "name", json_getc(v, "name"));
		json_put_member(&o, "passthrough", json_getc(v,
		    "passthrough"));
		json_open_member(&o, "responses", '[');
		for (r = json_first(json_getc(v, "responses")); r != NULL;
		    r = r->next)
			put_response(&o, q, r);
		json_close(&o, ']');
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_close(&o, '}');
	return arena_take(&q->arena, &b);
}

static int
write_servers(struct run_ask *q, const char *dir, struct err *e)
{
	const struct json *v = json_first(q->run->suite->mcp_mocks);
	struct buf b = { 0 };
	struct json_out o;
	size_t i;
	int rc = 0;

	for (i = 0; v != NULL && rc == 0; v = v->next, i++) {
		b.n = 0;
		o = (struct json_out){ .put = buf_sink, .ctx = &b };
		json_open(&o, '{');
		json_put_member(&o, "tools", json_getc(v, "tools"));
		json_close(&o, '}');
		rc = os_write_file(agent_mock_file(&q->arena, dir, i),
		    buf_str(&b), e);
	}
	buf_free(&b);
	return rc;
}

/* Calls that belong to no trial, so far. */
static int64_t
stray_bytes(const struct run_ask *q)
{
	struct arena a = { 0 };
	const char *bin = q->run->agent->mock_bin;
	struct stat st = { .st_size = 0 };

	if (bin != NULL && stat(arena_fmt(&a, "%.*s/" MOCK_LOG,
	    (int)(strlen(bin) - sizeof("/" MOCK_BIN) + 1), bin).p, &st) == -1)
		st.st_size = 0;
	arena_free(&a);
	return (int64_t)st.st_size;
}

int
run_mocks_place(struct run_ask *q, struct err *e)
{
	struct run *run = q->run;
	bool commands = run->command_mocks;
	struct arena *a = &q->arena;
	const char *dir, *self;

	if (!has_mocks(run) || !agent_takes_mocks(run->agent->kind))
		return 0;
	if (run->opts.agent != NULL)	/* it would outlive them */
		return err_set(e, ERR_SCHEMA, "mocks cannot be given to the "
		    "agent of a session");
	self = os_self(a);
	if (q->req.scratch == NULL || self == NULL)
		return err_set(e, ERR_SYS, "the mocks of the suite cannot be "
		    "set up: %s", self == NULL ? "the path of this program is "
		    "not known" : "the trial has no workspace");
	dir = os_absolute(a, arena_fmt(a, "%.*s" MOCK_DIR_ENDING,
	    (int)strlen(q->req.scratch) - 1, q->req.scratch).p);
	if ((commands && make_bin(q, self, e) == -1) ||
	    os_make_dirs(dir, 0700, true, e) == -1)
		return -1;
	q->req.mocks = dir;
	q->mocks = (struct run_mocks){ .stray = stray_bytes(q) };
	if (os_write_file(arena_fmt(a, "%s/" MOCK_LOG, dir).p, STR(""),
	    e) == -1 || os_write_file(arena_fmt(a, "%s/" MOCK_CONFIG, dir).p,
	    config_text(q), e) == -1)
		return -1;
	return write_servers(q, dir, e);
}

/* The file may be there already, to hide skills: then it gets both. */
int
run_mcp_place(struct run_ask *q, struct err *e)
{
	struct run_skills *list = &q->skills;
	struct str text = agent_mcp_settings(&q->arena, q->run->agent, &q->req);
	const char *path = arena_fmt(&q->arena, "%s/" AGENT_HIDE_FILE,
	    agent_cwd(&q->req)).p;
	struct stat st;

	if (text.n == 0)
		return 0;
	if (list->hiding.n > 0)
		text = arena_fmt(&q->arena, "%.*s,%.*s",
		    (int)list->hiding.n - 1, list->hiding.p, (int)text.n - 1,
		    text.p + 1);
	else if (q->dir == NULL || q->req.workspace != q->dir ||
	    lstat(path, &st) == 0)
		return err_set(e, ERR_SCHEMA, "MCP servers cannot be given to "
		    "the agent: it takes them from " AGENT_HIDE_FILE ", which "
		    "%s", q->dir != NULL && q->req.workspace == q->dir ?
		    "the workspace has already" : "would be placed in your "
		    "directory");
	else if (run_skills_make_dirs(q, STR(".gemini"), e) == -1)
		return -1;
	else
		run_skills_push(q, &list->placed, STR(AGENT_HIDE_FILE));
	list->hiding = text;
	return os_write_file(path, text, e);
}

void
run_mocks_remove(struct run_ask *q)
{
	struct err e;

	if (q->req.mocks != NULL && workspace_remove(q->req.mocks, &e) == -1)
		run_warn(q->run, "workspace_left", e.msg);
	q->req.mocks = NULL;
}

static struct str
as_json(struct arena *a, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	return arena_take(a, &b);
}

/* One call in words: git push --force, or github: create_issue. */
static struct str
words_of(struct arena *a, const struct json *call)
{
	const struct json *v = json_first(json_getc(call, "args"));
	struct buf b = { .max = 300 };
	struct str text;

	if (json_getc(call, "tool") != NULL)
		return arena_fmt(a, "tool \"%.*s\" of MCP server \"%.*s\"",
		    STRF(utf8_cut(json_str(call, "tool"), 100)),
		    STRF(utf8_cut(json_str(call, "server"), 100)));
	buf_put(&b, json_str(call, "command"));
	for (; v != NULL; v = v->next) {
		buf_putc(&b, ' ');
		buf_put(&b, json_text(v));
	}
	text = arena_take(a, &b);
	return arena_fmt(a, "\"%.*s\"", STRF(text));
}

/*
 * The calls in the order of their answers; NULL with the error.  Those of a
 * script are in *ans.
 */
static const struct json *
read_calls(struct run_ask *q, struct answer *ans, struct err *e)
{
	struct arena *a = &q->arena;
	struct json *all = NEW(a, struct json), **tail = &all->u.child;
	struct str text, line;
	struct json *v;

	all->type = JSON_ARRAY;
	if (q->run->agent->kind->scripted)
		text = run_mocks_play(q, commands_of(q), ans);
	else if (os_read_plain(a, arena_fmt(a, "%s/" MOCK_LOG,
	    q->req.mocks).p, MOCK_LOG_MAX, &text, e) == -1)
		return NULL;
	text = mask_text(a, run_secrets(q->run), text);
	while (str_line(&text, &line)) {
		v = arena_json(a, line, NULL);
		if (v == NULL || v->type != JSON_OBJECT) {
			err_set(e, ERR_SYNTAX, "the calls of mocks were not "
			    "recorded properly");
			return NULL;
		}
		if (++all->n > 2 * MOCK_CALLS_MAX) {
			err_set(e, ERR_LIMIT, "more than %d calls of mocks",
			    2 * MOCK_CALLS_MAX);
			return NULL;
		}
		*tail = v;
		tail = &v->next;
	}
	return all;
}

static bool
is_unknown(const struct json *call)
{
	int64_t i;

	return json_int(json_getc(call, "response_index"), &i) && i == -1 &&
	    !mock_true(call, "passthrough");
}

static int64_t
count_calls(const struct json *calls, const char *key, struct str name,
    struct str tool)
{
	const struct json *v;
	int64_t n = 0;

	for (v = json_first(calls); v != NULL; v = v->next)
		n += str_eq(json_str(v, key), name) && json_getc(v, key) !=
		    NULL && (tool.p == NULL || str_eq(json_str(v, "tool"),
		    tool));
	return n;
}

/* Whether the number of calls differs from `expect_calls`; then *error. */
static bool
differs(struct run_ask *q, const struct json *mock, const char *what,
    struct str name, int64_t n)
{
	int64_t want;

	if (!json_int(json_getc(mock, "expect_calls"), &want) || want == n)
		return false;
	run_ask_fail(q, RESULT_AGENT_ERROR, "%s \"%.*s\": expected %lld "
	    "call%s, got %lld", what, STRF(utf8_cut(name, 100)), (long long)want,
	    want == 1 ? "" : "s", (long long)n);
	return true;
}

static bool
check_servers(struct run_ask *q, const struct json *calls)
{
	const struct json *v, *t;
	struct str name;

	for (v = json_first(q->run->suite->mcp_mocks); v != NULL;
	    v = v->next) {
		name = json_str(v, "name");
		if (differs(q, v, "mocked MCP server", name, count_calls(calls,
		    "server", name, (struct str){ NULL, 0 })))
			return false;
		for (t = json_first(json_getc(v, "tools")); t != NULL;
		    t = t->next)
			if (differs(q, t, "mocked tool", json_key(t),
			    count_calls(calls, "server", name, json_key(t))))
				return false;
	}
	return true;
}

static void
check_numbers(struct run_ask *q, const struct json *calls)
{
	const struct json *v;
	struct str name;

	for (v = json_first(commands_of(q)); v != NULL; v = v->next) {
		name = json_str(v, "name");
		if (differs(q, v, "mocked command", name, count_calls(calls,
		    "command", name, (struct str){ NULL, 0 })))
			return;
	}
	(void)check_servers(q, calls);
}

/* Whether the agent of the last answer had mocks. */
static bool
is_mocked(const struct run_ask *q)
{
	return q->req.mocks != NULL || (q->run->agent->kind->scripted &&
	    q->job.req != NULL && has_mocks(q->run));
}

void
run_mocks_check(struct run_ask *q, bool numbers)
{
	const struct json *v;
	struct err e = { 0 };
	struct str words;

	if (q->mocks.checked || q->cancelled || !is_mocked(q))
		return;
	q->mocks.checked = true;
	q->mocks.calls = read_calls(q, &q->job.ans, &e);
	if (q->mocks.calls == NULL) {
		run_ask_fail(q, RESULT_INFRA, "mocks: %s", e.msg);
		return;
	}
	for (v = json_first(q->mocks.calls); v != NULL; v = v->next)
		if (is_unknown(v)) {
			words = words_of(&q->arena, v);
			run_ask_fail(q, RESULT_INFRA, "mocks: no response for "
			    "%.*s; add one, or set \"passthrough: true\"",
			    STRF(words));
			return;
		}
	if (stray_bytes(q) != q->mocks.stray)
		run_ask_fail(q, RESULT_INFRA, "mocks: a mocked command was "
		    "called outside of the workspaces: it is not known by "
		    "which trial");
	else if (numbers && q->status == RESULT_NONE)
		check_numbers(q, q->mocks.calls);
}

/* Whether a name that an agent reports is that of the tool of a server. */
static bool
is_tool(struct str name, struct str tool)
{
	char before;

	if (!str_ends(name, tool))
		return false;
	if (name.n == tool.n)
		return true;
	before = name.p[name.n - tool.n - 1];
	return strchr("_-./: ", before) != NULL;
}

/* The call as the agent reported it, or NULL. */
static struct answer_call *
find_call(const struct answer *ans, const struct json *v)
{
	const struct json *args = json_getc(v, "arguments");
	struct answer_call *c;
	struct arena tmp = { 0 };
	bool same;

	for (c = ans->calls; c != NULL; c = c->next) {
		if (c->mock.n > 0 || (c->no_name ? c->tool != ANSWER_OTHER :
		    !is_tool(c->name, json_str(v, "tool"))))
			continue;
		same = c->no_arguments || json_equal(args, arena_json(&tmp,
		    c->arguments, NULL));
		arena_free(&tmp);
		if (same)
			return c;
	}
	return NULL;
}

static void
add_tool_call(struct arena *a, struct answer *ans, const struct json *v)
{
	struct answer_call *c = find_call(ans, v), **tail = &ans->calls;

	if (c == NULL) {
		c = NEW(a, struct answer_call);
		c->name = json_str(v, "tool");
		c->arguments = as_json(a, json_getc(v, "arguments"));
		c->result = as_json(a, json_getc(v, "result"));
		c->success = !mock_true(v, "is_error");
		while (*tail != NULL)
			tail = &(*tail)->next;
		*tail = c;
		ans->ncalls++;
	}
	c->mock = json_str(v, "server");
	if (c->no_name)			/* the mock knows more than the agent */
		c->name = json_str(v, "tool");
	if (c->no_arguments)
		c->arguments = as_json(a, json_getc(v, "arguments"));
	if (c->no_result && json_getc(v, "result") != NULL)
		c->result = as_json(a, json_getc(v, "result"));
	c->no_name = c->no_arguments = c->no_result = false;
}

static void
add_calls(struct arena *a, struct answer *ans, const struct json *calls)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *v;

	json_open(&o, '[');
	for (v = json_first(calls); v != NULL; v = v->next)
		if (json_getc(v, "command") != NULL)
			json_put(&o, v);
		else
			add_tool_call(a, ans, v);
	json_close(&o, ']');
	if (b.n > 2)
		ans->command_invocations = arena_str(a, buf_str(&b));
	buf_free(&b);
}

void
run_mocks_add(struct run_ask *q)
{
	if (q->mocks.calls == NULL || q->mocks.added)
		return;
	q->mocks.added = true;
	add_calls(&q->arena, &q->job.ans, q->mocks.calls);
}

int
run_mocks_so_far(struct run_ask *q, struct answer *ans)
{
	struct answer_call **at, *c;
	const struct json *calls;
	struct err e = { 0 };

	if (!is_mocked(q))
		return 0;
	for (at = &ans->calls; *at != NULL; at = &c->next) {
		c = NEW(&q->arena, struct answer_call);
		*c = **at;
		*at = c;
	}
	calls = read_calls(q, ans, &e);
	if (calls == NULL) {
		run_ask_fail(q, RESULT_INFRA, "mocks: %s", e.msg);
		return -1;
	}
	add_calls(&q->arena, ans, calls);
	return 0;
}
