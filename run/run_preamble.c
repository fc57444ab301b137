/* SPDX-License-Identifier: ISC */
/*
 * The text before a prompt: instruction files, and skills if the agent does
 * not load them itself.
 */
#include "run/run_internal.h"

#include "base/os.h"
#include "suite/spec.h"

enum { PART_MAX = 1 << 20 };	/* bytes of skills, or of instructions */

static void
put_skill(struct buf *b, const struct spec_skill *s, bool body)
{
	buf_puts(b, "<skill name=\"");
	buf_put(b, s->name.n > 0 ? s->name : str_base(str_of(s->dir)));
	buf_puts(b, "\">\n");
	if (s->description.n > 0) {
		buf_put(b, s->description);
		buf_putc(b, '\n');
	}
	if (body) {
		buf_putc(b, '\n');
		buf_put(b, str_trim(s->body));
		buf_putc(b, '\n');
	}
	buf_puts(b, "</skill>\n");
}

bool
run_has_skill(const struct field_strs *skills, struct str name)
{
	size_t i;

	for (i = 0; i < skills->n && name.n > 0; i++)
		if (str_eq(skills->v[i], name))
			return true;
	return false;
}

/* Errors in directories were reported when the suite was loaded. */
static size_t
put_skills(struct run_trial *t, struct buf *b)
{
	const struct spec_config *c = &t->run->suite->config;
	struct field_strs dirs = spec_skill_dirs(&t->ask.arena, t->run->suite,
	    t->ask.task);
	struct field_strs seen = { NEW_N(&t->ask.arena, struct str,
	    SPEC_SKILLS_MAX), 0 };
	struct spec_skills found;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs.n; i++) {
		(void)spec_list_skills(&t->ask.arena, dirs.v[i].p, &found, &e);
		for (k = 0; k < found.n; k++) {
			if (spec_names(&c->disabled_skills, found.v[k].name) ||
			    run_has_skill(&seen, found.v[k].name))
				continue;
			b->full = b->full || seen.n == SPEC_SKILLS_MAX;
			if (b->full)
				return seen.n;
			seen.v[seen.n++] = found.v[k].name;
			put_skill(b, &found.v[k], c->inject_skill_body);
		}
	}
	return seen.n;
}

static void
add_note(struct run_trial *t, const char *what)
{
	struct str *note = &t->dialog.note;

	*note = note->n == 0 ? str_of(what) : arena_fmt(&t->ask.arena,
	    "%.*s; %s", STRF(*note), what);
}

static int
add_skills(struct run_trial *t, struct buf *out, struct err *e)
{
	struct buf b = { .max = PART_MAX };
	size_t n;

	if (t->ask.skills.way != AGENT_SKILLS_PROMPT)
		return 0;
	n = put_skills(t, &b);
	if (b.full) {
		buf_free(&b);
		return err_set(e, ERR_LIMIT, "the skills are too large for a "
		    "prompt (limit: %d skills, %d KiB): use fewer, or set "
		    "inject_skill_body: false", SPEC_SKILLS_MAX,
		    PART_MAX >> 10);
	}
	if (n > 0) {
		buf_puts(out, "You have these skills; use one where it "
		    "fits.\n\n");
		buf_put(out, buf_str(&b));
		buf_putc(out, '\n');
		add_note(t, "skills were given in the prompt");
	}
	buf_free(&b);
	return 0;
}

static int
put_files(struct run_trial *t, struct buf *b, const char *dir,
    const struct field_strs *files, struct err *e)
{
	const char *dirs[RUN_INPUT_DIRS], *path;
	struct str text;
	size_t i;

	(void)run_input_dirs(&t->ask.arena, t->run, t->ask.task, dirs);
	for (i = 0; i < files->n; i++) {
		path = spec_instruction(&t->ask.arena, dirs[0], dir,
		    files->v[i]);
		if (os_read_plain(&t->ask.arena, path, SPEC_INSTRUCTIONS_MAX,
		    &text, e) == -1)
			return -1;
		if (!utf8_valid(text))
			return err_set(e, ERR_SCHEMA, "instruction file "
			    "\"%.*s\" is not UTF-8 text",
			    STRF(utf8_cut(files->v[i], 100)));
		buf_puts(b, "<instructions>\n");
		buf_put(b, str_trim(text));
		buf_puts(b, "\n</instructions>\n");
	}
	return 0;
}

static int
add_instructions(struct run_trial *t, struct buf *out, struct err *e)
{
	const struct spec_suite *s = t->run->suite;
	const struct spec_task *task = t->ask.task;
	struct buf b = { .max = PART_MAX };
	int r = -1;

	if (s->config.instruction_files.n +
	    task->def->instruction_files.n == 0 ||
	    t->run->agent->kind->no_files)
		return 0;
	if (put_files(t, &b, s->dir, &s->config.instruction_files, e) == 0 &&
	    put_files(t, &b, spec_task_dir(&t->ask.arena, task),
	    &task->def->instruction_files, e) == 0)
		r = b.full ? err_set(e, ERR_LIMIT, "the instruction files are "
		    "too large for a prompt (limit: %d KiB)",
		    PART_MAX >> 10) : 0;
	if (r == 0) {
		buf_put(out, buf_str(&b));
		buf_putc(out, '\n');
		add_note(t, "instructions were given in the prompt");
	}
	buf_free(&b);
	return r;
}

int
run_make_preamble(struct run_trial *t, struct err *e)
{
	struct buf b = { 0 };
	int r = -1;

	t->dialog.preamble = STR("");
	run_agent_preamble(&t->ask, &b);
	if (add_instructions(t, &b, e) == 0 && add_skills(t, &b, e) == 0) {
		t->dialog.preamble = arena_str(&t->ask.arena, buf_str(&b));
		r = 0;
	}
	buf_free(&b);
	return r;
}
