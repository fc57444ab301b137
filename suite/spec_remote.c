/* SPDX-License-Identifier: ISC */
/*
 * Tasks for clients elsewhere (seeds/004): which tool, on which page, with
 * what input.  The keys stand in the task itself, or under `evaluation`; a
 * file of an evaluation server, which has them at its top, is a task as it
 * is.
 *
 * Its `validation` becomes a grader: the criteria are what a judge is asked.
 */
#include "suite/spec_internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "json.h"

enum {
	TOOL_MAX = 200,		/* bytes of a name */
	URL_MAX = 64 << 10,
	TIMEOUT_MAX = 7 * 24 * 3600 * 1000,	/* ms: a week */
	TIMEOUT_ODD = 100,	/* ms: somebody meant seconds */
	RETRIES_MAX = 100
};

static const char *const priorities[] = { "low", "normal", "high", "critical",
	NULL };

struct metadata {
	struct field_strs tags;
	int64_t retries, timeout;
	struct str priority;
};
static const struct field metadata_rows[] = {
	FIELD(metadata, tags, FIELD_STRS, .help = "to select it"),
	FIELD(metadata, retries, FIELD_INT, .min = 0, .max = RETRIES_MAX,
	    .help = "by other clients"),
	FIELD(metadata, priority, FIELD_STR, .help = "which comes first"),
	FIELD(metadata, timeout, FIELD_INT, .min = 1, .max = TIMEOUT_MAX,
	    .help = "milliseconds"),
};
static const struct field_table metadata_table =
    FIELD_TABLE(metadata, metadata_rows);

struct evaluation {
	struct str id, name, description, tool, url;
	bool enabled;
	const struct json *target, *input, *model, *metadata, *validation;
	int64_t timeout;
};
static const struct field evaluation_rows[] = {
	FIELD(evaluation, id, FIELD_STR, .help = "what it is known by"),
	FIELD(evaluation, name, FIELD_STR, .help = "what people see"),
	FIELD(evaluation, description, FIELD_STR, .help = "what it is for"),
	FIELD(evaluation, enabled, FIELD_BOOL, .help = "or not"),
	FIELD(evaluation, tool, FIELD_STR, .help = "to be used"),
	FIELD(evaluation, url, FIELD_STR, .help = "on that page"),
	FIELD(evaluation, target, FIELD_TREE, .help = "the same"),
	FIELD(evaluation, input, FIELD_TREE, .help = "of the tool"),
	FIELD(evaluation, timeout, FIELD_INT, .min = 1, .max = TIMEOUT_MAX,
	    .help = "milliseconds"),
	FIELD(evaluation, metadata, FIELD_TREE,
	    .help = "tags, retries, priority"),
	FIELD(evaluation, model, FIELD_TREE, .help = "for the client"),
	FIELD(evaluation, validation, FIELD_TREE,
	    .help = "criteria for a judge"),
};
static const struct field_table evaluation_table =
    FIELD_TABLE(evaluation, evaluation_rows);
/* Without the first four, which every task has. */
static const struct field_table own_table = { evaluation_rows + 4,
	COUNTOF(evaluation_rows) - 4, sizeof(struct evaluation), NULL };

/* A reading: where what is said goes to. */
struct reading {
	struct arena *arena;
	struct spec_notes *notes;	/* NULL: nobody wants to know */
	const char *file;
};

static void PRINTF(5, 6)
note(const struct reading *r, enum field_level level, const struct json *at,
    const char *key, const char *fmt, ...)
{
	char msg[300];
	va_list ap;

	if (r->notes == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	spec_note_key(r->notes, level, spec_at(r->file, at), str_of(key),
	    "%s", msg);
}

static void
decode(const struct reading *r, const struct field_table *t,
    const struct json *v, bool open, void *out)
{
	struct spec_source src = { r->notes, r->file };
	struct field_ctx ctx = { .arena = r->arena, .flags = FIELD_LAX |
		(open ? (unsigned)FIELD_OPEN : 0) };

	if (r->notes != NULL) {
		ctx.report = spec_report;
		ctx.ctx = &src;
		ctx.flags |= r->notes->strict ? (unsigned)FIELD_STRICT : 0;
	}
	field_decode(&ctx, t, v, out);
}

static const struct json *
object(const struct reading *r, const struct json *v)
{
	if (v == NULL || v->type == JSON_NULL || v->type == JSON_OBJECT)
		return v != NULL && v->type == JSON_OBJECT ? v : NULL;
	note(r, FIELD_ERROR, v, "", "\"%.*s\" must be a mapping, not %s",
	    STRF(spec_short(json_key(v))),
	    json_type_name((enum json_type)v->type));
	return NULL;
}

static bool
is_given(const struct json *v)
{
	return v != NULL && v->type != JSON_NULL;
}

static void
read_metadata(const struct reading *r, struct spec_remote *out)
{
	struct metadata m = { .retries = -1 };
	size_t i;

	if (out->metadata == NULL)
		return;
	decode(r, &metadata_table, out->metadata, true, &m);
	out->tags = m.tags;
	if (m.retries >= 0)
		out->retries = m.retries;
	for (i = 0; priorities[i] != NULL; i++)
		if (str_is(m.priority, priorities[i]))
			break;
	if (priorities[i] != NULL)
		out->priority = m.priority;
	else if (m.priority.n > 0)
		note(r, FIELD_WARNING, json_getc(out->metadata, "priority"),
		    "priority", "\"priority\" is low, normal, high or "
		    "critical: \"%.*s\" is taken as normal",
		    STRF(spec_short(m.priority)));
	if (out->timeout_ms == 0)
		out->timeout_ms = m.timeout;
}

static void
check_limits(const struct reading *r, const struct json *v,
    const struct spec_remote *out)
{
	const struct json *tool = json_getc(v, "tool");

	if (tool != NULL && tool->type == JSON_STRING && out->tool.n == 0)
		note(r, FIELD_ERROR, tool, "tool", "\"tool\" is empty");
	if (out->tool.n > TOOL_MAX)
		note(r, FIELD_ERROR, tool, "tool",
		    "\"tool\" has more than %d bytes", TOOL_MAX);
	if (out->url.n > URL_MAX)
		note(r, FIELD_ERROR, v, "url", "\"url\" has more than %d "
		    "bytes", URL_MAX);
	if (out->timeout_ms > 0 && out->timeout_ms < TIMEOUT_ODD)
		note(r, FIELD_WARNING, json_getc(v, "timeout"), "timeout",
		    "\"timeout\" is in milliseconds: %d are hardly meant",
		    (int)out->timeout_ms);
}

static void
take(const struct reading *r, const struct json *v,
    const struct evaluation *e, struct spec_remote *out)
{
	const struct json *target = object(r, e->target), *url;

	if (e->tool.p != NULL)
		out->tool = spec_trim(e->tool);
	if (target != NULL) {
		out->target = target;
		url = json_getc(target, "url");
		if (url != NULL && url->type == JSON_STRING)
			out->url = json_text(url);
		else if (is_given(url))
			note(r, FIELD_ERROR, url, "url", "\"url\" must be a "
			    "text, not %s",
			    json_type_name((enum json_type)url->type));
	}
	if (e->url.p != NULL)
		out->url = e->url;
	if (e->input != NULL)
		out->input = e->input;
	if (is_given(e->model))
		out->model = e->model;
	if (object(r, e->metadata) != NULL)
		out->metadata = e->metadata;
	if (e->timeout > 0)
		out->timeout_ms = e->timeout;
	read_metadata(r, out);
	check_limits(r, v, out);
}

void
spec_read_remote(struct arena *a, const struct json *v, bool open,
    const char *file, struct spec_notes *notes, struct spec_remote *out)
{
	struct reading r = { a, notes, file };
	struct evaluation e = { 0 };

	decode(&r, &own_table, v, open, &e);
	take(&r, v, &e, out);
	out->at = spec_at(file, v);
}

/*
 * Of a task.
 */
static const char *const keys[] = { "tool", "url", "target", "input",
	"timeout", "metadata", "model", "validation" };

/* Keys that are slips, rather than an evaluation without a tool. */
static void
warn_idle(struct spec_loader *l, const char *file, const struct json *task)
{
	const struct json *v;
	size_t i;

	for (i = 0; i < COUNTOF(keys); i++) {
		v = json_getc(task, keys[i]);
		if (v == NULL)
			continue;
		spec_note_key(l->notes, l->notes->strict ? FIELD_ERROR :
		    FIELD_WARNING, (struct spec_where){ file, v->key_line,
		    v->key_col }, json_key(v), "\"%s\" has no effect without "
		    "\"tool\"%s", keys[i],
		    strcmp(keys[i], "input") == 0 ?
		    "; did you mean \"inputs\"?" :
		    strcmp(keys[i], "timeout") == 0 ?
		    "; did you mean \"timeout_seconds\"?" : "");
	}
}

static bool
has_key(const struct json *task)
{
	size_t i;

	for (i = 0; i < COUNTOF(keys); i++)
		if (is_given(json_getc(task, keys[i])))
			return true;
	return false;
}

/* Templates, wherever there is a text. */
static void
check_texts(struct spec_loader *l, const char *file, const char *key,
    const struct json *v)
{
	const struct json *c;

	if (v == NULL)
		return;
	if (v->type == JSON_STRING)
		spec_check_text(l, spec_at(file, v), key, json_text(v), NULL);
	for (c = json_first(v); c != NULL; c = c->next)
		check_texts(l, file, key, c);
}

static void
check_templates(struct spec_loader *l, const char *file,
    const struct json *v)
{
	check_texts(l, file, "tool", json_getc(v, "tool"));
	check_texts(l, file, "url", json_getc(v, "url"));
	check_texts(l, file, "url", json_getc(json_getc(v, "target"), "url"));
	check_texts(l, file, "input", json_getc(v, "input"));
}

static void
read_block(struct spec_loader *l, const char *file, const struct json *v,
    struct spec_task *t, bool *enabled, struct spec_remote *out)
{
	struct reading r = { l->arena, l->notes, file };
	struct evaluation e = { .enabled = true };

	decode(&r, &evaluation_table, v, false, &e);
	if (t->id.n == 0)
		t->id = e.id;
	if (t->name.n == 0)
		t->name = e.name;
	if (t->description.n == 0)
		t->description = e.description;
	*enabled = *enabled && e.enabled;
	take(&r, v, &e, out);
	check_templates(l, file, v);
}

void
spec_read_evaluation(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct spec_task *t, bool *enabled)
{
	const struct json *block = spec_object(l, f->path,
	    json_getc(task, "evaluation"));
	struct spec_remote *out;

	if (block == NULL && !has_key(task))
		return;
	if (block == NULL && !is_given(json_getc(task, "tool")) &&
	    !str_is(l->suite->config.executor, "remote")) {
		warn_idle(l, f->path, task);
		return;
	}
	out = NEW(l->arena, struct spec_remote);
	out->retries = -1;
	spec_read_remote(l->arena, task, true, f->path, l->notes, out);
	check_templates(l, f->path, task);
	if (block != NULL) {
		if (is_given(json_getc(task, "tool")) &&
		    is_given(json_getc(block, "tool")))
			spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
			    json_getc(block, "tool")), STR("tool"), "\"tool\" "
			    "is given twice: here, and beside \"evaluation\"");
		read_block(l, f->path, block, t, enabled, out);
		out->at = spec_at(f->path, block);
	}
	if (t->tags.n == 0)
		t->tags = out->tags;
	t->remote = out;
}

/*
 * validation: {type: llm-judge, llm_judge: {model, criteria: [...]}}
 */
static struct json *
text_node(struct arena *a, const char *key, struct str text,
    const struct json *at)
{
	struct json *v = NEW(a, struct json);

	v->type = JSON_STRING;
	v->key = key;
	v->nkey = (uint32_t)strlen(key);
	v->u.text = text.p;
	v->n = (uint32_t)text.n;
	v->line = at->line;
	v->col = at->col;
	v->key_line = at->line;
	v->key_col = at->col;
	return v;
}

static struct str
criteria_text(struct arena *a, const struct json *criteria)
{
	struct buf b = { 0 };
	const struct json *v;
	struct str s;

	buf_puts(&b, "The answer has to meet all of these criteria:\n");
	for (v = json_first(criteria); v != NULL; v = v->next)
		if (v->type == JSON_STRING) {
			buf_puts(&b, "- ");
			buf_put(&b, json_text(v));
			buf_putc(&b, '\n');
		}
	s = arena_str(a, buf_str(&b));
	buf_free(&b);
	return s;
}

static const struct json *
judge_settings(struct arena *a, const struct json *judge,
    const struct json *criteria)
{
	struct json_mem mem = { arena_hook, a };
	struct json *obj = NEW(a, struct json);
	const struct json *model = json_getc(judge, "model");

	obj->type = JSON_OBJECT;
	obj->line = judge->line;
	obj->col = judge->col;
	obj->u.child = text_node(a, "prompt", criteria_text(a, criteria),
	    criteria);
	obj->n = 1;
	if (model != NULL && model->type == JSON_STRING) {
		obj->u.child->next = text_node(a, "model", json_text(model),
		    model);
		obj->n = 2;
	}
	json_seal(&mem, obj, true);
	return obj;
}

static void
add_grader(struct arena *a, struct spec_graders *g,
    const struct spec_grader *one)
{
	struct spec_grader *v = NEW_N(a, struct spec_grader, g->n + 1);

	if (g->n > 0)
		memcpy(v, g->v, g->n * sizeof(*v));
	v[g->n] = *one;
	g->v = v;
	g->n++;
}

static void
read_judge(struct spec_loader *l, const char *file, const struct json *v,
    struct spec_task *t)
{
	const struct json *judge = json_getc(v, "llm_judge"), *criteria;

	if (judge == NULL)
		judge = json_getc(v, "llm-judge");
	criteria = json_getc(judge, "criteria");
	if (criteria == NULL || criteria->type != JSON_ARRAY ||
	    json_count(criteria) == 0) {
		spec_note_key(l->notes, FIELD_WARNING, spec_at(file, v),
		    STR("validation"), "\"validation\" has no list "
		    "\"llm_judge.criteria\": nothing is judged by it");
		return;
	}
	add_grader(l->arena, &t->graders, &(struct spec_grader){
	    .name = STR("validation"), .type = STR("prompt"), .weight = 1,
	    .config = judge_settings(l->arena, judge, criteria),
	    .at = spec_at(file, v) });
}

void
spec_read_validation(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct spec_task *t)
{
	const struct json *v = json_getc(json_getc(task, "evaluation"),
	    "validation"), *type;
	struct str word = STR("llm-judge");

	if (t->remote == NULL)
		return;
	if (!is_given(v))
		v = json_getc(task, "validation");
	v = spec_object(l, f->path, v);
	if (v == NULL)
		return;
	type = json_getc(v, "type");
	if (type != NULL && type->type == JSON_STRING)
		word = json_text(type);
	if (str_is(word, "llm-judge") || str_is(word, "llm_judge") ||
	    str_is(word, "hybrid"))
		read_judge(l, f->path, v, t);
	else
		spec_note_key(l->notes, FIELD_WARNING, spec_at(f->path,
		    type != NULL ? type : v), STR("validation"),
		    "validation of type \"%.*s\" is not done; \"graders\" "
		    "can do more", STRF(spec_short(word)));
}
