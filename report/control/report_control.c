/* SPDX-License-Identifier: ISC */
/*
 * Controls in the reports for people: the tasks that accept the answer of no
 * agent, and the graders that let it pass.
 */
#include "report/report_internal.h"

#include "json.h"

enum {
	LISTED_MAX = 25,	/* tasks of a control, without -v */
	LINE_ROOM = 1 << 10	/* bytes of a line of Markdown, about */
};

struct list {
	struct buf *b;
	const struct report_opts *o;
	struct report_out *out;		/* for Markdown, else NULL */
	struct str control;
	size_t shown, more;
	const struct result_task *vacuous;	/* the last that was found */
};

static bool
has_verdict(const struct json *v, const char *word)
{
	return str_is(json_str(v, "verdict"), word);
}

/* What it means that tasks pass. */
static const char *
meaning(struct str control)
{
	return str_is(control, "null") ? "pass although the agent does "
	    "nothing: vacuous" : str_is(control, "echo") ? "pass if the "
	    "answer only repeats the prompt" : str_is(control, "mutate") ?
	    "accept every altered answer" : "pass with the answer of this "
	    "file";
}

static void
put_head(struct buf *b, const struct result_control *c, bool markdown)
{
	if (markdown)
		report_inline(b, c->name, 100);
	else
		report_line(b, c->name, 100, false);
	if (c->passed == 0)
		buf_fmt(b, ": no task of %zu %s", c->tasks, str_is(c->name,
		    "mutate") ? "accepts every altered answer" : "passes");
	else
		buf_fmt(b, ": %zu of %zu task%s %s", c->passed, c->tasks,
		    c->tasks == 1 ? "" : "s", meaning(c->name));
	if (c->unknown > 0)
		buf_fmt(b, "; %zu unknown", c->unknown);
}

static void
put_graders(struct buf *b, const struct json *v)
{
	const struct json *g = json_first(json_getc(v, "graders"));
	const char *sep = "";

	for (; g != NULL; g = g->next) {
		buf_fmt(b, "%s%.*s", sep, STRF(json_text(g)));
		sep = ", ";
	}
}

/* Why the task is listed, as one line. */
static void
explain(struct buf *b, const struct json *v)
{
	struct str note = json_str(v, "note");
	int64_t altered = 0, accepted = 0;

	if (has_verdict(v, "unknown")) {
		buf_fmt(b, "unknown: %.*s", STRF(note));
	} else if (json_int(json_getc(v, "altered"), &altered) &&
	    json_int(json_getc(v, "accepted"), &accepted)) {
		buf_fmt(b, "%lld of %lld altered answers pass",
		    (long long)accepted, (long long)altered);
		if (json_getc(v, "graders") != NULL) {
			buf_puts(b, "; never notice: ");
			put_graders(b, v);
		}
		if (note.n > 0)
			buf_fmt(b, "; %.*s", STRF(note));
	} else if (note.n > 0) {
		buf_put(b, note);
	} else {
		buf_puts(b, "graders: ");
		put_graders(b, v);
	}
}

/* Whether a finding of this control is listed. */
static bool
is_listed(struct list *l, const struct result_task *t, const struct json *v)
{
	bool passed = has_verdict(v, "passed");

	if (str_is(json_str(v, "control"), "null") && passed)
		l->vacuous = t;
	else if (l->vacuous == t && passed && !str_is(l->control, "mutate"))
		return false;		/* nothing passes it, too */
	if (!str_eq(json_str(v, "control"), l->control))
		return false;
	return passed || (has_verdict(v, "unknown") && l->o->verbose) ||
	    (str_is(l->control, "mutate") && json_getc(v, "graders") != NULL);
}

static void
put_text(struct list *l, const struct result_task *t, struct str why)
{
	struct report_flow f = { .b = l->b, .o = l->o, .at = 4, .indent = 6 };
	struct buf where = { 0 };

	buf_puts(l->b, "    ");
	report_flow(&f, NULL, t->spec->name);
	report_where(&where, t->spec->at);
	report_flow_part(&f, "2", "  ", buf_str(&where));
	report_flow_end(&f);
	report_reason(l->b, why, "      ", l->o);
	buf_free(&where);
}

static void
put_item(void *ctx, const struct result_task *t, const struct json *v)
{
	struct list *l = ctx;
	struct buf why = { 0 };

	if (!is_listed(l, t, v))
		return;
	if (l->out != NULL ? !report_room(l->out, LINE_ROOM) :
	    l->shown == LISTED_MAX && !l->o->verbose) {
		l->more++;
		return;
	}
	l->shown++;
	explain(&why, v);
	if (l->out == NULL) {
		put_text(l, t, buf_str(&why));
	} else {
		buf_puts(l->b, "  - ");
		report_inline(l->b, t->spec->name, 200);
		buf_puts(l->b, ": ");
		report_inline(l->b, buf_str(&why), 400);
		buf_putc(l->b, '\n');
	}
	buf_free(&why);
}

static void
put_controls(struct list l, const struct result_run *run)
{
	struct result_controls c;
	struct arena tmp = { 0 };
	size_t i;

	result_controls(&tmp, run, &c);
	for (i = 0; i < c.n; i++) {
		c.v[i].tasks += run->left_out;
		l.control = c.v[i].name;
		l.shown = l.more = 0;
		l.vacuous = NULL;
		buf_puts(l.b, l.out != NULL ? "- " : "  ");
		put_head(l.b, &c.v[i], l.out != NULL);
		buf_putc(l.b, '\n');
		result_each_control(run, put_item, &l);
		if (l.more > 0)
			buf_fmt(l.b, "%sand %zu more%s\n", l.out != NULL ?
			    "  - " : "    ", l.more, l.out != NULL ? "" :
			    "; use -v to list them");
	}
	arena_free(&tmp);
}

static bool
has_controls(const struct result_run *run)
{
	size_t i;

	for (i = 0; i < run->ntasks; i++)
		if (run->tasks[i].more->controls.n > 0)
			return true;
	return false;
}

void
report_controls_text(struct buf *b, const struct result_run *run, bool named,
    const struct report_opts *o)
{
	struct list l = { .b = b, .o = o };

	if (!has_controls(run))
		return;
	buf_putc(b, '\n');
	report_colored(b, "1", "Controls", o);
	if (named)
		report_part(b, " of ", run->suite->name, 100, o->ascii, "");
	buf_puts(b, "\n\n");
	put_controls(l, run);
}

void
report_controls_markdown(struct report_out *o, const struct result_run *run)
{
	struct list l = { .b = &o->b, .o = o->opts, .out = o };

	if (!has_controls(run))
		return;
	buf_puts(&o->b, "\n### Controls\n\n");
	put_controls(l, run);
}
