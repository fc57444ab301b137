/* SPDX-License-Identifier: ISC */
/*
 * A fixture made of the answers of a real MCP server.  It is written after each
 * answer, because clients kill their servers.  Values of secret variables of
 * the environment are masked.
 *
 * Of equal calls the first one is kept: a mock answers them alike.
 */
#include "mock/mock_internal.h"

#include "base/os.h"

struct mock_learnt {
	struct mock_learnt *next;
	struct str name, description, schema;	/* the last two as JSON */
	struct heard {
		struct heard *next;
		struct str arguments, answer;	/* answer: members of a reply */
	} *calls, **tail;
	size_t n;
};

static struct mock_learnt *
learnt(struct mock_fixture *f, struct str name)
{
	struct mock_learnt **at = &f->tools, *t;
	size_t n = 0;

	for (; *at != NULL; at = &(*at)->next, n++)
		if (str_eq((*at)->name, name))
			return *at;
	if (n >= MOCK_TOOLS_MAX)
		return NULL;
	t = NEW(&f->arena, struct mock_learnt);
	t->name = arena_str(&f->arena, name);
	t->tail = &t->calls;
	*at = t;
	return t;
}

static struct str
masked(struct mock_fixture *f, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (v == NULL)
		return STR("");
	json_put(&o, v);
	return mask_json(&f->arena, &f->secrets, arena_take(&f->arena, &b));
}

static void
put_call(struct json_out *o, const struct heard *h)
{
	json_open(o, '{');
	if (str_is(h->arguments, "{}"))		/* match: {} fits all calls */
		json_put_member_raw(o, "match_schema",
		    STR("{\"maxProperties\":0}"));
	else
		json_put_member_raw(o, "match", h->arguments);
	json_put_key(o, h->answer.p[0] == 'r' ? STR("return") :
	    h->answer.p[0] == 'e' ? STR("error") : STR("result"));
	json_put_raw(o, (struct str){ h->answer.p + 1, h->answer.n - 1 });
	json_close(o, '}');
}

static int
write_fixture(struct mock_link *l, struct err *e)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b, .indent = 2 };
	const struct mock_learnt *t;
	const struct heard *h;
	int rc;

	json_open(&o, '{');
	json_put_member_str(&o, "name", l->o->name);
	json_open_member(&o, "tools", '{');
	for (t = l->fixture.tools; t != NULL; t = t->next) {
		json_put_key(&o, t->name);
		json_open(&o, '{');
		if (t->description.n > 0)
			json_put_member_raw(&o, "description", t->description);
		if (t->schema.n > 0)
			json_put_member_raw(&o, "input_schema", t->schema);
		json_open_member(&o, "responses", '[');
		for (h = t->calls; h != NULL; h = h->next)
			put_call(&o, h);
		json_close(&o, ']');
		json_close(&o, '}');
	}
	json_close(&o, '}');
	json_close(&o, '}');
	buf_putc(&b, '\n');
	rc = os_replace_file_mode(l->o->fixture, buf_str(&b), 0644, e);
	buf_free(&b);
	return rc;
}

int
mock_learn_tools(struct mock_link *l, const struct json *list, struct err *e)
{
	struct mock_learnt *t;
	const struct json *v;

	for (v = json_first(list); v != NULL; v = v->next) {
		t = learnt(&l->fixture, json_str(v, "name"));
		if (t == NULL || t->schema.n > 0)
			continue;
		t->description = masked(&l->fixture, json_getc(v,
		    "description"));
		t->schema = masked(&l->fixture, json_getc(v, "inputSchema"));
	}
	return write_fixture(l, e);
}

/* The text of a result that is nothing else, if `return` repeats it. */
static const struct json *
plain_value(struct arena *a, const struct json *result)
{
	const struct json *content = json_getc(result, "content");
	const struct json *one = json_first(content), *v;
	struct str text = json_str(one, "text");
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	if (one == NULL || json_count(content) != 1 || json_count(one) != 2 ||
	    !str_is(json_str(one, "type"), "text") ||
	    mock_true(result, "isError") ||
	    json_count(result) != 1 + (json_getc(result, "isError") != NULL) ||
	    (v = arena_json(a, text, NULL)) == NULL)
		return NULL;
	json_put(&o, v);
	if (!str_eq(buf_str(&b), text))
		v = NULL;
	buf_free(&b);
	return v;
}

/* 'r', 'e' or 'w' (return, error, whole result), then JSON. */
static struct str
answer_of(struct mock_fixture *f, const struct json *m)
{
	const struct json *result = json_getc(m, "result"), *value;
	const struct json *error = json_getc(m, "error");
	struct arena *a = &f->arena;
	struct str text;

	value = result != NULL ? plain_value(a, result) : NULL;
	text = masked(f, value != NULL ? value : result != NULL ? result :
	    json_getc(error, "message"));
	return arena_fmt(a, "%c%.*s", value != NULL ? 'r' : result != NULL ?
	    'w' : 'e', STRF(text));
}

/* Values that are secret by their names; answers may repeat them. */
static void
add_secrets(struct mock_fixture *f, const struct json *v)
{
	for (v = json_first(v); v != NULL; v = v->next) {
		if (v->type == JSON_STRING && mock_is_secret(json_key(v)))
			mask_add(&f->arena, &f->secrets, json_text(v));
		else if (v->type == JSON_STRING)
			mask_add_forms(&f->arena, &f->secrets, json_text(v));
		add_secrets(f, v);
	}
}

int
mock_learn_call(struct mock_link *l, const struct mock_pending *p,
    const struct json *m, struct err *e)
{
	struct mock_fixture *f = &l->fixture;
	struct mock_learnt *t = learnt(f, p->tool);
	struct str args = STR("{}");
	struct heard *h;

	if (p->arguments.n > 0) {
		add_secrets(f, arena_json(&f->arena, p->arguments, NULL));
		args = mask_json(&f->arena, &f->secrets,
		    arena_str(&f->arena, p->arguments));
	}
	if (t == NULL || t->n == MOCK_CALLS_MAX)
		return err_set(e, ERR_LIMIT, "too many calls to record");
	for (h = t->calls; h != NULL; h = h->next)
		if (str_eq(h->arguments, args))
			return 0;
	h = NEW(&f->arena, struct heard);
	h->arguments = args;
	h->answer = answer_of(f, m);
	if (h->answer.n < 2)
		h->answer = STR("e\"\"");
	*t->tail = h;
	t->tail = &h->next;
	t->n++;
	return write_fixture(l, e);
}
