/* SPDX-License-Identifier: ISC */
/*
 * `checkpoints` of a task: graders that run after a turn of its conversation.
 * Turn 1 is the answer to the prompt.
 */
#include "suite/spec_internal.h"

enum { CHECKPOINTS_MAX = 1000 };	/* of a task */

static const char *const ways[] = { "continue", "stop", NULL };
enum { WAY_CONTINUE, WAY_STOP };

struct entry {
	int64_t after_turn;
	const struct json *graders;
	int on_failure;
};
static const struct field entry_rows[] = {
	FIELD(entry, after_turn, FIELD_INT, .flags = FIELD_REQUIRED, .min = 1,
	    .max = 1000000, .help = "turn after which the graders run; 1: the first answer"),
	FIELD(entry, graders, FIELD_TREE, .flags = FIELD_REQUIRED,
	    .schema = FIELD_REF("graders"), .help = "graders of this turn"),
	FIELD(entry, on_failure, FIELD_ENUM, .words = ways,
	    .help = "whether a failure ends the conversation"),
};
const struct field_table spec_checkpoint_table =
    FIELD_TABLE(entry, entry_rows);

/* Names are unique in a checkpoint; a missing one is the type. */
static void
name_graders(struct spec_loader *l, struct spec_graders *g)
{
	size_t i, k;

	for (i = 0; i < g->n; i++) {
		if (g->v[i].name.n == 0)
			g->v[i].name = g->v[i].type;
		for (k = 0; k < i; k++)
			if (str_eq(g->v[k].name, g->v[i].name)) {
				spec_note_key(l->notes, FIELD_ERROR,
				    g->v[i].at, STR("name"), "duplicate grader "
				    "name \"%.*s\" in a checkpoint",
				    SPEC_SHORT(g->v[i].name));
				break;
			}
	}
}

static void
read_checkpoint(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct spec_def *d)
{
	struct spec_checkpoint *out = &d->checkpoints.v[d->checkpoints.n];
	struct entry in = { .on_failure = WAY_CONTINUE };
	size_t i;

	if (spec_decode(l, f->path, &spec_checkpoint_table, v, &in) > 0)
		return;
	for (i = 0; i < d->checkpoints.n; i++)
		if (d->checkpoints.v[i].after_turn == in.after_turn) {
			spec_error(l, f->path, json_getc(v, "after_turn"), NULL,
			    "duplicate checkpoint after turn %lld",
			    (long long)in.after_turn);
			return;
		}
	out->after_turn = in.after_turn;
	out->stop = in.on_failure == WAY_STOP;
	spec_read_graders(l, f->path, in.graders, &out->graders);
	name_graders(l, &out->graders);
	if (out->graders.n == 0)
		spec_error(l, f->path, v, "graders", "the checkpoint has no "
		    "graders");
	d->checkpoints.n++;
}

static int64_t
last_turn(const struct spec_inputs *in)
{
	return 1 + (int64_t)in->follow_up_prompts.n +
	    (in->responder != NULL ? in->responder->max_followups : 0);
}

void
spec_read_checkpoints(struct spec_loader *l, const struct spec_file *f,
    const struct json *task, struct spec_def *d)
{
	const struct json *list = spec_array(l, f->path, json_getc(task,
	    "checkpoints")), *v;
	size_t n = list != NULL ? json_count(list) : 0;

	if (n > CHECKPOINTS_MAX) {
		spec_error(l, f->path, list, NULL, "more than %d checkpoints",
		    CHECKPOINTS_MAX);
		return;
	}
	d->checkpoints.v = NEW_N(l->arena, struct spec_checkpoint, n);
	for (v = json_first(list); v != NULL; v = v->next) {
		read_checkpoint(l, f, v, d);
		n = d->checkpoints.n;
		if (n > 0 && d->checkpoints.v[n - 1].after_turn >
		    last_turn(&d->inputs))
			spec_warning(l, f->path, v, "after_turn", "turn %lld "
			    "is never reached: the conversation has at most "
			    "%lld", (long long)d->checkpoints.v[n - 1]
			    .after_turn, (long long)last_turn(&d->inputs));
	}
}
