/* SPDX-License-Identifier: ISC */
/* Answers in results files and in the events of sessions. */
#include "cmd/skill/new_seen.h"

#include <string.h>

#include "base/os.h"
#include "json.h"
#include "results/outcome.h"

enum { TRANSCRIPT_MAX = 256 << 20 };	/* bytes */

static const struct outcome_trial *
choose_trial(const struct outcome_task *t)
{
	const struct outcome_trial *first = NULL;
	size_t i;

	for (i = 0; i < t->ntrials; i++) {
		if (t->trials[i].status == RESULT_PASSED)
			return &t->trials[i];
		if (first == NULL && json_str(t->trials[i].node,
		    "final_output").n > 0)
			first = &t->trials[i];
	}
	return first;
}

static int
choose_task(const struct outcome *o, const char *id,
    const struct outcome_task **out, struct err *e)
{
	struct str_nearest near = { .word = str_of(id != NULL ? id : "") };
	char hint[STR_HINT];
	size_t i;

	*out = id != NULL ? outcome_find(o, str_of(id)) : o->tasks;
	if (id == NULL && o->ntasks != 1)
		return err_set(e, ERR_SCHEMA, "%s has %zu tasks: choose one "
		    "with --task ID", o->path, o->ntasks);
	if (*out != NULL)
		return 0;
	for (i = 0; i < o->ntasks; i++)
		str_nearest(&near, o->tasks[i].id);
	return err_set(e, ERR_SCHEMA, "%s has no task \"%.60s\"%s", o->path,
	    id, str_hint(hint, "", near.best));
}

int
new_seen_results(struct arena *a, const char *path, const char *task,
    struct new_seen *s, struct err *e)
{
	const struct outcome *o = outcome_read(a, path, e);
	const struct outcome_trial *trial;
	const struct outcome_task *t;

	if (o == NULL || choose_task(o, task, &t, e) == -1)
		return -1;
	trial = choose_trial(t);
	if (trial == NULL)
		return err_set(e, ERR_SCHEMA, "%s: task \"%.*s\" has no "
		    "answer", path, STRF(utf8_cut(t->id, 60)));
	s->prompt = json_str(trial->node, "prompt");
	outcome_answer(a, trial, &s->answer);
	s->answer.patch = json_str(trial->node, "patch");
	return s->prompt.n > 0 ? 0 : err_set(e, ERR_SCHEMA, "%s does not "
	    "contain the prompt of task \"%.*s\": run it again with this "
	    "version", path, STRF(utf8_cut(t->id, 60)));
}

/*
 * Events of sessions.
 */
struct reader {
	struct arena *arena;
	struct new_seen *seen;
	struct buf output;		/* messages of the agent */
	struct answer_call **tail;
	struct buf skills;		/* of struct str */
};

/* The text of a message: a string, or a list of parts with texts. */
static void
put_content(struct buf *b, const struct json *v)
{
	const struct json *c;

	if (v == NULL)
		return;
	if (v->type == JSON_STRING)
		buf_put(b, json_text(v));
	for (c = json_first(v); v->type == JSON_ARRAY && c != NULL;
	    c = c->next)
		buf_put(b, json_str(c, "text"));
}

static void
add_call(struct reader *r, const struct json *data)
{
	struct answer_call *c = NEW(r->arena, struct answer_call);
	const struct json *args = json_getc(data, "arguments");
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	c->name = json_str(data, "toolName");
	if (c->name.n == 0)
		c->name = json_str(data, "tool_name");
	json_put(&o, args);
	c->arguments = args != NULL ? arena_take(r->arena, &b) : STR("{}");
	buf_free(&b);
	c->success = true;
	answer_classify(r->arena, c, STR(""));
	*r->tail = c;
	r->tail = &c->next;
	r->seen->answer.ncalls++;
	if (c->skill.n > 0)
		buf_put(&r->skills, (struct str){ (const char *)&c->skill,
		    sizeof(c->skill) });
}

/* Calls are taken where they start; where only ends are listed, from these. */
static void
read_event(struct reader *r, const struct json *event, const char *call)
{
	const struct json *data = json_getc(event, "data");
	struct str type = json_str(event, "type");
	struct buf b = { 0 };

	if (data == NULL || data->type != JSON_OBJECT)
		data = event;
	if (str_is(type, "user.message")) {
		put_content(&b, json_getc(data, "content"));
		if (b.n > 0) {
			r->seen->prompt = arena_str(r->arena, buf_str(&b));
			r->output.n = 0;
		}
	} else if (str_is(type, "assistant.message")) {
		put_content(&b, json_getc(data, "content"));
		if (b.n > 0 && r->output.n > 0)
			buf_puts(&r->output, "\n\n");
		buf_put(&r->output, buf_str(&b));
	} else if (str_is(type, call))
		add_call(r, data);
	buf_free(&b);
}

static bool
has_type(const struct json *list, const char *type)
{
	const struct json *v = json_first(list);

	while (v != NULL && !str_is(json_str(v, "type"), type))
		v = v->next;
	return v != NULL;
}

static void
read_events(struct reader *r, const struct json *list)
{
	const char *call = has_type(list, "tool.execution_start") ?
	    "tool.execution_start" : "tool.execution_complete";
	const struct json *v;
	struct field_strs *s = &r->seen->answer.skills;

	r->tail = &r->seen->answer.calls;
	for (v = json_first(list); v != NULL; v = v->next)
		read_event(r, v, call);
	s->n = r->skills.n / sizeof(struct str);
	s->v = NEW_N(r->arena, struct str, s->n);
	if (s->n > 0)
		memcpy(s->v, r->skills.p, r->skills.n);
	r->seen->answer.output = arena_take(r->arena, &r->output);
	buf_free(&r->skills);
}

/* One value per line as a list; NULL and *e with the line. */
static const struct json *
read_lines(struct arena *a, struct str text, struct err *e)
{
	struct buf b = { 0 };
	struct json_error je = { 0 };
	struct str line;
	const char *end;
	unsigned n = 0;

	buf_putc(&b, '[');
	while (text.n > 0) {
		end = memchr(text.p, '\n', text.n);
		line = (struct str){ text.p, end != NULL ?
		    (size_t)(end - text.p) : text.n };
		text = (struct str){ text.p + line.n + (end != NULL),
		    text.n - line.n - (end != NULL) };
		n++;
		if (str_trim(line).n == 0)
			continue;
		if (arena_json(a, line, &je) == NULL) {
			err_set(e, ERR_SYNTAX, "%s", je.msg);
			err_at(e, n, je.col);
			buf_free(&b);
			return NULL;
		}
		if (b.n > 1)
			buf_putc(&b, ',');
		buf_put(&b, line);
	}
	buf_putc(&b, ']');
	return arena_json(a, arena_take(a, &b), &je);
}

int
new_seen_transcript(struct arena *a, const char *path, struct new_seen *s,
    struct err *e)
{
	struct reader r = { .arena = a, .seen = s };
	const struct json *v, *list;
	struct str text;

	if (os_read_file(a, path, TRANSCRIPT_MAX, &text, e) == -1)
		return -1;
	text = str_after_bom(text);
	v = arena_json(a, text, NULL);
	if (v == NULL || (v->type == JSON_OBJECT &&
	    json_getc(v, "transcript") == NULL))
		v = read_lines(a, text, e);
	if (v == NULL)
		return -1;
	list = v->type == JSON_OBJECT ? json_getc(v, "transcript") : v;
	s->prompt = json_str(v, "prompt");
	read_events(&r, list);
	if (json_str(v, "final_output").n > 0)
		s->answer.output = json_str(v, "final_output");
	if (s->prompt.n > 0 && (s->answer.output.n > 0 ||
	    s->answer.calls != NULL))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: %s in its events (expected a file "
	    "of run --transcript-dir, or events such as user.message and "
	    "assistant.message)", path, s->prompt.n == 0 ? "no prompt" :
	    "no answer");
}
