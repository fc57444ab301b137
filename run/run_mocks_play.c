/* SPDX-License-Identifier: ISC */
/*
 * Mocks and scripts: with executor mock there is no agent that could call them.
 * The calls of its script get the responses instead, so that a suite and its
 * mocks can be tested without an agent.
 *
 * A call of a tool is one of a mock by its name; a call of a shell is one of a
 * mocked command if it is one simple command without expansions.
 */
#include "run/run_internal.h"

#include <string.h>

#include "json.h"
#include "mock/mock.h"

struct play {
	struct run_ask *ask;
	const struct json *commands;
	struct buf *lines;		/* as mocks write them */
};

/* The words of a simple command, ended by NULL; NULL: it is none. */
static const char **
split(struct arena *a, struct str s)
{
	const char **word = NEW_N(a, const char *, s.n + 1);
	struct buf b = { 0 };
	bool open = false;
	char quote = 0;
	size_t i, n = 0;

	for (i = 0; i <= s.n; i++) {
		if (i == s.n || (quote == 0 && (s.p[i] == ' ' ||
		    s.p[i] == '\t'))) {
			if (open)
				word[n++] = arena_take(a, &b).p;
			open = false;
			continue;
		}
		open = true;
		if (quote != 0 ? s.p[i] == quote : s.p[i] == '\'' ||
		    s.p[i] == '"')
			quote = quote != 0 ? 0 : s.p[i];
		else if (s.p[i] == '\0' || (quote != '\'' && strchr(quote == 0 ?
		    "|&;<>()$`\\\n*?~#{[" : "$`\\", s.p[i]) != NULL))
			break;
		else
			buf_putc(&b, s.p[i]);
	}
	buf_free(&b);
	return i <= s.n || quote != 0 || n == 0 ? NULL : word;
}

static const char **
environment(struct arena *a, const struct json *map)
{
	const char **env = NEW_N(a, const char *, (map != NULL ?
	    json_count(map) : 0) + 1);
	const struct json *v;
	struct str value;
	size_t n = 0;

	for (v = json_first(map); v != NULL; v = v->next) {
		value = json_source(v);
		env[n++] = arena_fmt(a, "%.*s=%.*s", STRF(json_key(v)),
		    STRF(value)).p;
	}
	return env;
}

static void
put_index(struct json_out *o, int index, bool passed)
{
	json_put_member_int(o, "response_index", index);
	if (index == -1 && passed)
		json_put_member_bool(o, "passthrough", true);
	json_close(o, '}');
}

static void
play_command(struct play *p, const struct answer_call *c)
{
	struct arena *a = &p->ask->arena;
	const char **word = c->command.n > 0 ? split(a, c->command) : NULL;
	struct json_out o = { .put = buf_sink, .ctx = p->lines };
	const struct mock_output *r;
	struct mock_command m;
	struct mock_words w;
	struct err e = { 0 };
	int i;

	if (word == NULL || mock_find_command(a, p->commands, str_of(word[0]),
	    &m) != 1)
		return;
	w = (struct mock_words){ word + 1, environment(a,
	    p->ask->task->def->inputs.environment), "" };
	i = mock_match_command(a, &m, &w, &e);
	r = m.responses.v;
	json_open(&o, '{');
	json_put_member_cstr(&o, "command", word[0]);
	json_open_member(&o, "args", '[');
	mock_put_args(&o, word[0], w.argv, w.env);
	json_close(&o, ']');
	json_put_member_int(&o, "exit_code", i >= 0 ? r[i].exit_code : 127);
	put_index(&o, i >= 0 ? i : -1, m.passthrough);
	buf_putc(p->lines, '\n');
}

static struct str
as_json(struct arena *a, const struct json *v, struct str text)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (text.p != NULL)
		json_put_str(&o, text);
	else
		json_put(&o, v);
	return arena_take(a, &b);
}

/* The script's call of a tool of this server; tool NULL: it has no such. */
static void
play_tool(struct play *p, struct answer_call *c, const struct json *server,
    const struct json *tool)
{
	struct arena *a = &p->ask->arena;
	struct field_ctx ctx = { .arena = a, .flags = FIELD_LAX };
	const struct json *args = arena_json(a, c->arguments, NULL);
	struct json_out o = { .put = buf_sink, .ctx = p->lines };
	const struct mock_reply *r = NULL;
	struct mock_tool t;
	struct err e = { 0 };
	int i = -1;

	if (tool != NULL && mock_read_tool(&ctx, tool, json_key(tool),
	    &t) == 0)
		i = mock_match_tool(a, &t, args, &e);
	if (i >= 0) {
		r = (const struct mock_reply *)t.responses.v + i;
		if (c->result.n == 0)
			c->result = as_json(a, r->result != NULL ? r->result :
			    r->value, r->error);
		c->success = r->error.p == NULL;
	} else if (!mock_true(server, "passthrough"))
		c->success = false;
	json_open(&o, '{');
	json_put_member(&o, "server", json_getc(server, "name"));
	json_put_member_str(&o, "tool", tool != NULL ? json_key(tool) :
	    c->name);
	json_put_member(&o, "arguments", args);
	json_put_member_bool(&o, "is_error", i < 0 || r->error.p != NULL);
	put_index(&o, i >= 0 ? i : -1, mock_true(server, "passthrough"));
	buf_putc(p->lines, '\n');
}

/* The tool that the call names, alone or with its server. */
static bool
play_servers(struct play *p, struct answer_call *c)
{
	const struct json *s, *t;
	struct answer_call named = *c;
	struct str prefix;

	for (s = json_first(p->ask->run->suite->mcp_mocks); s != NULL;
	    s = s->next) {
		named.mock = json_str(s, "name");
		for (t = json_first(json_getc(s, "tools")); t != NULL;
		    t = t->next)
			if (answer_is_mock(&named, json_key(t))) {
				play_tool(p, c, s, t);
				return true;
			}
		prefix = arena_fmt(&p->ask->arena, "mcp__%.*s__",
		    STRF(named.mock));
		if (str_starts(c->name, prefix)) {
			play_tool(p, c, s, NULL);
			return true;
		}
	}
	return false;
}

struct str
run_mocks_play(struct run_ask *q, const struct json *commands,
    struct answer *ans)
{
	struct buf lines = { 0 };
	struct play p = { q, commands, &lines };
	struct answer_call *c;

	for (c = ans->calls; c != NULL; c = c->next)
		if (!c->denied && !play_servers(&p, c))
			play_command(&p, c);
	return arena_take(&q->arena, &lines);
}
