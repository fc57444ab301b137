/* SPDX-License-Identifier: ISC */
/*
 * Datasets of Inspect as JSON lines: {input, target, choices, id, files}.  A
 * dataset has no scorer; the check is that of includes(): the answer contains
 * the target, or one of several, in any case of letters.
 */
#include "cmd/skill/import.h"

#include <string.h>

/* Members of a sample that have no counterpart. */
static const char *const ignored[] = { "metadata", "sandbox", "setup" };

struct reader {
	struct import *im;
	bool told[COUNTOF(ignored)];	/* each is listed once */
	size_t n;			/* samples */
};

/* Messages as one text; the roles of all but the user's are named. */
static struct str
prompt_of(struct arena *a, const struct json *input)
{
	const struct json *v, *p;
	struct buf b = { 0 };
	struct str role;

	if (input == NULL || input->type != JSON_ARRAY)
		return input == NULL ? STR("") : json_text(input);
	for (v = json_first(input); v != NULL; v = v->next) {
		role = json_str(v, "role");
		if (b.n > 0)
			buf_puts(&b, "\n\n");
		if (!str_is(role, "user"))
			buf_fmt(&b, "[%.*s]\n", STRF(role));
		p = json_getc(v, "content");
		if (p != NULL && p->type == JSON_STRING)
			buf_put(&b, json_text(p));
		for (p = json_first(p); p != NULL; p = p->next)
			buf_put(&b, json_str(p, "text"));
	}
	return arena_take(a, &b);
}

static struct str
with_choices(struct arena *a, struct str prompt, const struct json *choices)
{
	const struct json *v = json_first(choices);
	struct buf b = { 0 };
	char letter = 'A';

	buf_fmt(&b, "%.*s\n\n", STRF(prompt));
	for (; v != NULL; v = v->next, letter++)
		buf_fmt(&b, "%c) %.*s\n", letter, STRF(json_text(v)));
	buf_puts(&b, "\nEnd your answer with a line of the form ANSWER: "
	    "LETTER.");
	return arena_take(a, &b);
}

static void
put_choice(struct reader *r, struct import_task *t, struct str target)
{
	if (target.n != 1 || target.p[0] < 'A' || target.p[0] > 'Z') {
		import_leave(r->im, t->at, "target \"%.*s\" of a choice is not "
		    "a letter", STRF(utf8_cut(target, 60)));
		return;
	}
	import_open(r->im, t, "text", NULL);
	import_put_list(r->im, "regex_match", arena_fmt(r->im->arena,
	    "(?i)answer:\\W*%c\\b", target.p[0]));
	import_close(r->im);
}

/* A text, or a list of texts of which one is enough. */
static void
put_target(struct reader *r, struct import_task *t, const struct json *target)
{
	struct import *im = r->im;
	const struct json *v = json_first(target);
	struct buf b = { 0 };

	if (target == NULL || (target->type != JSON_STRING &&
	    target->type != JSON_NUMBER && v == NULL) ||
	    (v == NULL && json_text(target).n == 0))
		return;
	import_open(im, t, "text", NULL);
	if (v == NULL) {
		import_put_list(im, "contains", json_text(target));
	} else {
		buf_puts(&b, "(?i)(");
		for (; v != NULL; v = v->next)
			buf_fmt(&b, "%s%.*s", b.n > 5 ? "|" : "", STRF(
			    import_literal(im->arena, json_text(v))));
		buf_putc(&b, ')');
		import_put_list(im, "regex_match", buf_str(&b));
		buf_free(&b);
	}
	import_close(im);
}

static const struct json *
texts_only(struct reader *r, const struct json *s)
{
	const struct json *files = json_getc(s, "files");
	const struct json *v = json_first(files);

	for (; v != NULL; v = v->next)
		if (v->type != JSON_STRING || str_starts(json_text(v),
		    STR("data:")) || memchr(json_text(v).p, '/',
		    json_text(v).n) != NULL) {
			import_leave(r->im, s, "\"files\" that are paths "
			    "or data; add them to the task");
			return NULL;
		}
	return files;
}

static void
read_sample(struct reader *r, const struct json *s)
{
	struct import *im = r->im;
	const struct json *id = json_getc(s, "id");
	const struct json *choices = json_getc(s, "choices");
	struct import_task t = { .at = s };
	size_t i;

	r->n++;
	for (i = 0; i < COUNTOF(ignored); i++)
		if (json_is_set(json_getc(s, ignored[i])) && !r->told[i]) {
			r->told[i] = true;
			import_leave(im, s, "\"%s\", here and below",
			    ignored[i]);
		}
	t.prompt = prompt_of(im->arena, json_getc(s, "input"));
	if (str_trim(t.prompt).n == 0) {
		import_leave(im, s, "a sample without \"input\"");
		return;
	}
	t.id = json_is_set(id) && str_trim(json_text(id)).n > 0 ?
	    str_trim(json_text(id)) : arena_fmt(im->arena, "sample-%zu", r->n);
	t.files = texts_only(r, s);
	if (json_first(choices) != NULL)
		t.prompt = with_choices(im->arena, t.prompt, choices);
	import_begin(im, &t);
	if (json_first(choices) != NULL)
		put_choice(r, &t, json_str(s, "target"));
	else
		put_target(r, &t, json_getc(s, "target"));
	import_end(im, &t);
}

int
import_inspect(struct import *im, struct str text, struct err *e)
{
	struct reader r = { .im = im };
	struct json_error je = { 0 };
	const char *end;
	struct str line;
	struct json *v;
	unsigned n = 0;

	for (text = str_after_bom(text); text.n > 0;
	    text.n -= line.n + (end != NULL),
	    text.p = line.p + line.n + (end != NULL)) {
		end = memchr(text.p, '\n', text.n);
		line = (struct str){ text.p, end != NULL ?
		    (size_t)(end - text.p) : text.n };
		n++;
		if (str_trim(line).n == 0)
			continue;
		v = arena_json(im->arena, line, &je);
		if (v == NULL || v->type != JSON_OBJECT) {
			err_set(e, ERR_SYNTAX, "%s", v == NULL ? je.msg :
			    "a sample must be an object");
			return err_at(e, n, v == NULL ? je.col : 1);
		}
		v->line = n;
		read_sample(&r, v);
	}
	return 0;
}
