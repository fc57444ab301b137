/* SPDX-License-Identifier: ISC */
/* Tries controls on suites that are examined, not run. */
#include "cmd/run/control.h"

#include "cmd/signals.h"
#include "io/loop.h"
#include "run/control/control.h"
#include "suite/spec.h"

int
cmd_controls_open(struct cmd_controls *c)
{
	c->loop = loop_new(NULL, c->call->err);
	if (c->loop == NULL)
		return -1;
	procs_init(&c->procs, c->loop, c->programs);
	return 0;
}

void
cmd_controls_close(struct cmd_controls *c)
{
	buf_free(&c->unknowns);
	if (c->loop == NULL)
		return;
	procs_fini(&c->procs);
	loop_free(c->loop);
	c->loop = NULL;
}

/* "null", then the suite's, except for those that need recordings. */
static struct spec_controls
choose(struct arena *a, const struct spec_suite *s)
{
	struct spec_controls out = { NULL, 0 };
	struct spec_control null;
	size_t i;

	(void)spec_control_word(STR("null"), &null);
	(void)spec_add_control(a, &out, &null);
	for (i = 0; i < s->config.controls.n; i++)
		if (s->config.controls.v[i].kind != SPEC_CONTROL_MUTATE)
			(void)spec_add_control(a, &out,
			    &s->config.controls.v[i]);
	return out;
}

static struct str
names(struct arena *a, const struct field_strs *list)
{
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < list->n; i++)
		buf_fmt(&b, "%s%.*s", i > 0 ? ", " : "", STRF(list->v[i]));
	return arena_take(a, &b);
}

static void
note(struct arena *a, const struct control_finding *f,
    struct spec_notes *notes)
{
	struct str id = utf8_cut(f->task->id, 100), list;
	struct spec_where at = f->task->at;

	list = names(a, &f->graders);
	switch (f->control->kind) {
	case SPEC_CONTROL_NULL:
		spec_note(notes, FIELD_WARNING, at, "task \"%.*s\" is "
		    "vacuous: it passes although the agent does nothing "
		    "(%.*s)", STRF(id), STRF(f->note));
		break;
	case SPEC_CONTROL_ECHO:
		spec_note(notes, FIELD_WARNING, at, "task \"%.*s\" passes if "
		    "the answer only repeats the prompt (graders: %.*s)",
		    STRF(id), STRF(list));
		break;
	case SPEC_CONTROL_FILE:
	case SPEC_CONTROL_MUTATE:
		spec_note(notes, FIELD_WARNING, at, "task \"%.*s\" passes "
		    "with the answer of control \"%.*s\" (graders: %.*s)",
		    STRF(id), STRF(f->control->name), STRF(list));
		break;
	}
}

/* The findings of one task; nothing more if it is vacuous. */
static void
take_task(struct cmd_controls *c, struct arena *a,
    const struct control_finding *f, size_t n, struct spec_notes *notes)
{
	bool accepts = false;
	size_t i;

	for (i = 0; i < n; i++)
		if (f[i].verdict == CONTROL_PASSED &&
		    (i == 0 || f[0].verdict != CONTROL_PASSED)) {
			note(a, &f[i], notes);
			accepts = true;
		}
	c->tasks++;
	c->vacuous += f[0].verdict == CONTROL_PASSED;
	c->accepting += accepts && f[0].verdict != CONTROL_PASSED;
	if (accepts || f[0].verdict != CONTROL_UNKNOWN)
		return;
	c->unknown++;
	buf_fmt(&c->unknowns, "  %.*s: unknown: %.*s\n",
	    STRF(utf8_cut(f->task->id, 100)), STRF(f->note));
}

static void
on_done(void *arg)
{
	*(bool *)arg = true;
}

int
cmd_controls_try(struct cmd_controls *c, const struct spec_suite *s,
    struct spec_notes *notes)
{
	struct arena a = { 0 };
	const struct spec_task **tasks = NEW_N(&a, const struct spec_task *,
	    s->ntasks);
	bool done = false;
	struct control_set set = { .env = { .arena = &a, .loop = c->loop,
		.procs = &c->procs, .suite = s, .programs = c->programs },
		.tasks = tasks, .ntasks = s->ntasks, .list = choose(&a, s),
		.done = on_done, .arg = &done };
	size_t i;
	int rc = 0;

	c->unknowns.n = 0;
	for (i = 0; i < s->ntasks; i++)
		tasks[i] = &s->tasks[i];
	if (s->ntasks > 0)
		control_start(&set);
	while (s->ntasks > 0 && !done && rc == 0)
		rc = cmd_turn(c->loop, c->call->err) == -1 ? -1 : 0;
	if (rc == -1)
		control_drop(&set);
	for (i = 0; i < s->ntasks && rc == 0; i++)
		take_task(c, &a, set.findings + i * set.list.n, set.list.n,
		    notes);
	arena_free(&a);
	return rc;
}
