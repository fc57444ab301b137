/* SPDX-License-Identifier: ISC */
/*
 * Tasks for evaluation clients (seeds/004): which tool to use, on which page,
 * with which input.  The keys are in the task itself or under `evaluation`.  A
 * file of an evaluation server, which has `evaluation` at its top, is thus a
 * valid task file.
 *
 * `validation` becomes a grader: its criteria are the prompt of a judge.
 */
#include "suite/spec_internal.h"

#include <string.h>

enum {
	TOOL_MAX = 200,		/* bytes of a name */
	URL_MAX = 64 << 10,
	TIMEOUT_MAX = 7 * 24 * 3600 * 1000,	/* ms: a week */
	TIMEOUT_ODD = 100,	/* ms: less is probably meant as seconds */
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
	SPEC_KEY(metadata, tags, FIELD_STRS,
	    .help = "tags for the evaluation client"),
	SPEC_RANGE(metadata, retries, FIELD_INT, 0, RETRIES_MAX,
	    .help = "further tries after a failure"),
	SPEC_KEY(metadata, priority, FIELD_STR,
	    .help = "priority in the queue"),
	SPEC_RANGE(metadata, timeout, FIELD_INT, 1, TIMEOUT_MAX,
	    .help = "time limit in milliseconds"),
};
static const struct field_table metadata_table =
    FIELD_TABLE(metadata, metadata_rows);

struct evaluation {
	struct str id, name, description, tool, url;
	bool enabled;
	const struct json *target, *input, *model, *metadata, *validation;
	int64_t timeout;	/* ms */
};
static const struct field evaluation_rows[] = {
	SPEC_KEY(evaluation, id, FIELD_STR,
	    .help = "unique id of the task"),
	SPEC_KEY(evaluation, name, FIELD_STR,
	    .help = "name of the task"),
	SPEC_KEY(evaluation, description, FIELD_STR,
	    .help = "what the task is for"),
	SPEC_KEY(evaluation, enabled, FIELD_BOOL,
	    .help = "whether the task is part of the suite"),
	SPEC_KEY(evaluation, tool, FIELD_STR,
	    .help = "tool that an evaluation client uses"),
	SPEC_KEY(evaluation, url, FIELD_STR,
	    .help = "page on which it works"),
	SPEC_KEY(evaluation, target, FIELD_TREE,
	    .schema = "\"type\":[\"object\",\"null\"]",
	    .help = "target of the work; url is its page"),
	SPEC_KEY(evaluation, input, FIELD_TREE,
	    .help = "input of the tool"),
	SPEC_RANGE(evaluation, timeout, FIELD_INT, 1, TIMEOUT_MAX,
	    .help = "time limit in milliseconds"),
	SPEC_KEY(evaluation, metadata, FIELD_TREE,
	    .sub = &metadata_table,
	    .help = "tags, retries, priority and timeout"),
	SPEC_KEY(evaluation, model, FIELD_TREE,
	    .help = "model that the client uses"),
	SPEC_KEY(evaluation, validation, FIELD_TREE,
	    .help = "criteria of a judge"),
};
const struct field_table spec_evaluation_table =
    FIELD_TABLE(evaluation, evaluation_rows);
/* Without the first four keys, which every task has. */
static const struct field_table own_table = { evaluation_rows + 4,
	COUNTOF(evaluation_rows) - 4, sizeof(struct evaluation), NULL };

static void
read_metadata(struct spec_loader *l, const char *file, struct spec_remote *out)
{
	struct metadata m = { .retries = -1 };
	size_t i;

	if (out->metadata == NULL)
		return;
	spec_decode_open(l, file, &metadata_table, out->metadata, &m);
	out->tags = m.tags;
	if (m.retries >= 0)
		out->retries = m.retries;
	for (i = 0; priorities[i] != NULL; i++)
		if (str_is(m.priority, priorities[i]))
			break;
	if (priorities[i] != NULL)
		out->priority = m.priority;
	else if (m.priority.n > 0)
		spec_warning(l, file, json_getc(out->metadata, "priority"),
		    NULL, "\"priority\" must be low, normal, high or "
		    "critical, not \"%.*s\"; using normal",
		    SPEC_SHORT(m.priority));
	if (out->timeout_ms == 0)
		out->timeout_ms = m.timeout;
}

static void
check_limits(struct spec_loader *l, const char *file, const struct json *v,
    const struct spec_remote *out)
{
	const struct json *tool = json_getc(v, "tool");

	if (tool != NULL && tool->type == JSON_STRING && out->tool.n == 0)
		spec_error(l, file, tool, NULL, "\"tool\" is empty");
	if (out->tool.n > TOOL_MAX)
		spec_error(l, file, tool, "tool",
		    "\"tool\" is longer than %d bytes", TOOL_MAX);
	if (out->url.n > URL_MAX)
		spec_error(l, file, v, "url", "\"url\" is longer than %d "
		    "bytes", URL_MAX);
	if (spec_given(json_getc(v, "timeout")) && out->timeout_ms > 0 &&
	    out->timeout_ms < TIMEOUT_ODD)
		spec_warning(l, file, json_getc(v, "timeout"), "timeout",
		    "\"timeout\" is in milliseconds: %d is probably too short",
		    (int)out->timeout_ms);
}

/* Copies the keys that are given; the others keep their values. */
static void
apply(struct spec_loader *l, const char *file, const struct json *v,
    const struct evaluation *e, struct spec_remote *out)
{
	const struct json *target = spec_object(l, file, e->target), *url;

	if (e->tool.p != NULL)
		out->tool = str_trim(e->tool);
	if (target != NULL) {
		out->target = target;
		url = json_getc(target, "url");
		if (url != NULL && url->type == JSON_STRING)
			out->url = json_text(url);
		else if (spec_given(url))
			spec_wrong_type(l, file, url, "a string");
	}
	if (e->url.p != NULL)
		out->url = e->url;
	if (e->input != NULL)
		out->input = e->input;
	if (spec_given(e->model))
		out->model = e->model;
	if (spec_object(l, file, e->metadata) != NULL)
		out->metadata = e->metadata;
	if (e->timeout > 0)
		out->timeout_ms = e->timeout;
	read_metadata(l, file, out);
	check_limits(l, file, v, out);
}

void
spec_read_remote(struct arena *a, const struct json *v, bool open,
    const char *file, struct spec_notes *notes, struct spec_remote *out)
{
	struct spec_loader l = { .arena = a, .notes = notes };
	struct evaluation e = { 0 };

	if (open)
		spec_decode_open(&l, file, &own_table, v, &e);
	else
		spec_decode(&l, file, &own_table, v, &e);
	apply(&l, file, v, &e, out);
	out->at = spec_at(file, v);
}

/* Without a tool, such keys are more likely mistakes than an evaluation. */
static void
warn_unused(struct spec_loader *l, const char *file, const struct json *task)
{
	const struct field *f = own_table.rows;
	const struct json *v;

	for (; f < own_table.rows + own_table.n; f++) {
		v = json_getc(task, f->key);
		if (v == NULL)
			continue;
		spec_note_key(l->notes, l->notes->strict ? FIELD_ERROR :
		    FIELD_WARNING, (struct spec_where){ file, v->key_line,
		    v->key_col }, json_key(v), "\"%s\" has no effect without "
		    "\"tool\"%s", f->key, strcmp(f->key, "input") == 0 ?
		    " (did you mean \"inputs\"?)" :
		    strcmp(f->key, "timeout") == 0 ?
		    " (did you mean \"timeout_seconds\"?)" : "");
	}
}

static bool
has_key(const struct json *task)
{
	const struct field *f = own_table.rows;

	for (; f < own_table.rows + own_table.n; f++)
		if (spec_given(json_getc(task, f->key)))
			return true;
	return false;
}

/* Checks the templates of all strings in a value. */
static void
check_texts(struct spec_loader *l, const char *file, const char *key,
    const struct json *v)
{
	const struct json *c;

	if (v == NULL)
		return;
	if (v->type == JSON_STRING)
		spec_check_text(l, file, v, key, json_text(v), NULL);
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

/* Returns the description. */
static struct str
read_block(struct spec_loader *l, const char *file, const struct json *v,
    struct spec_task *t, bool *enabled, struct spec_remote *out)
{
	struct evaluation e = { .enabled = true };

	spec_decode(l, file, &spec_evaluation_table, v, &e);
	if (t->id.n == 0)
		t->id = e.id;
	if (t->name.n == 0)
		t->name = e.name;
	*enabled = *enabled && e.enabled;
	apply(l, file, v, &e, out);
	check_templates(l, file, v);
	return e.description;
}

bool
spec_evaluates(const struct spec_loader *l)
{
	const struct spec_notes *n = l->notes;

	return n != NULL && n->evaluates != NULL && n->evaluates(
	    n->executor.n > 0 ? n->executor : l->suite->config.executor);
}

void
spec_read_evaluation(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct spec_task *t, struct spec_def *d,
    bool *enabled)
{
	const struct json *block = spec_object(l, f->path,
	    json_getc(task, "evaluation"));
	struct spec_remote *out;
	struct str text;

	if (block == NULL && !has_key(task))
		return;
	if (block == NULL && !spec_given(json_getc(task, "tool")) &&
	    !spec_evaluates(l)) {
		warn_unused(l, f->path, task);
		return;
	}
	out = NEW(l->arena, struct spec_remote);
	out->retries = -1;
	spec_read_remote(l->arena, task, true, f->path, l->notes, out);
	check_templates(l, f->path, task);
	if (block != NULL) {
		if (spec_given(json_getc(task, "tool")) &&
		    spec_given(json_getc(block, "tool")))
			spec_error(l, f->path, json_getc(block, "tool"), NULL,
			    "\"tool\" is given twice: here and in the task "
			    "itself");
		text = read_block(l, f->path, block, t, enabled, out);
		if (d->description.n == 0)
			d->description = text;
		out->at = spec_at(f->path, block);
	}
	if (d->tags.n == 0)
		d->tags = out->tags;
	d->remote = out;
}

/* Appends a string at the place of another node. */
static void
append_text(struct arena *a, struct json *obj, struct json ***tail,
    const char *key, struct str text, const struct json *at)
{
	struct json v = { .type = JSON_STRING, .u = { text.p },
		.n = (uint32_t)text.n, .line = at->line, .col = at->col,
		.key_line = at->line, .key_col = at->col };

	spec_append(a, obj, tail, &v, key);
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
	struct json *obj = NEW(a, struct json), **tail = &obj->u.child;
	const struct json *model = json_getc(judge, "model");

	obj->type = JSON_OBJECT;
	obj->line = judge->line;
	obj->col = judge->col;
	append_text(a, obj, &tail, "prompt", criteria_text(a, criteria),
	    criteria);
	if (model != NULL && model->type == JSON_STRING)
		append_text(a, obj, &tail, "model", json_text(model), model);
	json_seal(&mem, obj, true);
	return obj;
}

static void
read_judge(struct spec_loader *l, const char *file, const struct json *v,
    struct spec_def *d)
{
	const struct json *judge = json_getc(v, "llm_judge"), *criteria;
	const struct spec_graders old = d->graders;
	struct spec_grader *g;

	if (judge == NULL)
		judge = json_getc(v, "llm-judge");
	criteria = json_getc(judge, "criteria");
	if (criteria == NULL || criteria->type != JSON_ARRAY ||
	    json_count(criteria) == 0) {
		spec_warning(l, file, v, "validation", "\"validation\" is "
		    "ignored: its list \"llm_judge.criteria\" is missing or "
		    "empty");
		return;
	}
	g = NEW_N(l->arena, struct spec_grader, old.n + 1);
	if (old.n > 0)
		memcpy(g, old.v, old.n * sizeof(*g));
	g[old.n] = (struct spec_grader){ .name = STR("validation"),
		.type = STR("prompt"), .weight = 1, .at = spec_at(file, v),
		.config = judge_settings(l->arena, judge, criteria) };
	d->graders = (struct spec_graders){ g, old.n + 1 };
}

/* validation: {type: llm-judge, llm_judge: {model, criteria: [...]}} */
void
spec_read_validation(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct spec_def *d)
{
	const struct json *v = json_getc(json_getc(task, "evaluation"),
	    "validation"), *type;
	struct str word = STR("llm-judge");

	if (d->remote == NULL)
		return;
	if (!spec_given(v))
		v = json_getc(task, "validation");
	v = spec_object(l, f->path, v);
	if (v == NULL)
		return;
	type = json_getc(v, "type");
	if (type != NULL && type->type == JSON_STRING)
		word = json_text(type);
	if (str_is(word, "llm-judge") || str_is(word, "llm_judge") ||
	    str_is(word, "hybrid"))
		read_judge(l, f->path, v, d);
	else
		spec_warning(l, f->path, type != NULL ? type : v, "validation",
		    "validation type \"%.*s\" is not supported and is "
		    "ignored; use \"graders\"", SPEC_SHORT(word));
}
