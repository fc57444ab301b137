/* SPDX-License-Identifier: ISC */
/*
 * What an agent is told before its prompt: instructions, and the skills where
 * it does not find them itself.
 */
#include "run/run_internal.h"

#include <string.h>

#include "base/os.h"
#include "suite/spec.h"

enum { GIVEN_MAX = 1 << 20 };	/* bytes of each, in a prompt */

/* Whether the prompt has to contain the skills. */
static bool
wants_skills(const struct run_trial *t)
{
	const struct agent_kind *k = t->run->agent->kind;

	return !t->req.no_skills && !k->loads_skills && !k->no_files;
}

static void
put_skill(struct buf *b, const struct spec_skill *s, bool body)
{
	const char *slash = strrchr(s->dir, '/');

	buf_puts(b, "<skill name=\"");
	buf_put(b, s->name.n > 0 ? s->name :
	    str_of(slash != NULL ? slash + 1 : s->dir));
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

static bool
has_skill(const struct field_strs *seen, struct str name)
{
	size_t i;

	for (i = 0; i < seen->n && name.n > 0; i++)
		if (str_eq(seen->v[i], name))
			return true;
	return false;
}

/* What is wrong with a directory was said when the suite was read. */
static size_t
put_skills(struct run_trial *t, struct buf *b)
{
	const struct spec_config *c = &t->run->suite->config;
	struct field_strs dirs = spec_skill_dirs(&t->arena, t->run->suite,
	    run_trial_spec(t));
	struct field_strs seen = { NEW_N(&t->arena, struct str,
	    SPEC_SKILLS_MAX), 0 };
	struct spec_skills found;
	struct err e;
	size_t i, k;

	for (i = 0; i < dirs.n; i++) {
		(void)spec_list_skills(&t->arena, dirs.v[i].p, &found, &e);
		for (k = 0; k < found.n; k++) {
			if (spec_names(&c->disabled_skills, found.v[k].name) ||
			    has_skill(&seen, found.v[k].name))
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
note(struct run_trial *t, const char *what)
{
	t->note = t->note.n == 0 ? str_of(what) : arena_fmt(&t->arena,
	    "%.*s; %s", STRF(t->note), what);
}

static int
give_skills(struct run_trial *t, struct buf *out, struct err *e)
{
	struct buf b = { .max = GIVEN_MAX };
	size_t n;

	if (!wants_skills(t) || t->run->suite->config.skill_directories.n +
	    run_trial_spec(t)->skill_directories.n == 0)
		return 0;
	n = put_skills(t, &b);
	if (b.full) {
		buf_free(&b);
		return err_set(e, ERR_LIMIT, "the skills are too large for a "
		    "prompt, which takes %d, and %d KiB: give fewer, or say "
		    "inject_skill_body: false", SPEC_SKILLS_MAX,
		    GIVEN_MAX >> 10);
	}
	if (n > 0) {
		buf_puts(out, "You have these skills; use one where it "
		    "fits.\n\n");
		buf_put(out, buf_str(&b));
		buf_putc(out, '\n');
		note(t, "skills were given in the prompt");
		t->told_skills = true;
	}
	buf_free(&b);
	return 0;
}

static int
put_files(struct run_trial *t, struct buf *b, const char *dir,
    const struct field_strs *files, struct err *e)
{
	struct str text;
	size_t i;

	for (i = 0; i < files->n; i++) {
		if (os_read_plain(&t->arena, spec_path(&t->arena, dir,
		    files->v[i]), SPEC_INSTRUCTIONS_MAX, &text, e) == -1)
			return -1;
		if (!utf8_valid(text))
			return err_set(e, ERR_SCHEMA, "instruction file "
			    "\"%.*s\" is not a text in UTF-8",
			    (int)(files->v[i].n < 100 ? files->v[i].n : 100),
			    files->v[i].p);
		buf_puts(b, "<instructions>\n");
		buf_put(b, str_trim(text));
		buf_puts(b, "\n</instructions>\n");
	}
	return 0;
}

static int
give_instructions(struct run_trial *t, struct buf *out, struct err *e)
{
	const struct spec_suite *s = t->run->suite;
	const struct spec_task *task = run_trial_spec(t);
	struct buf b = { .max = GIVEN_MAX };
	int r = -1;

	if (s->config.instruction_files.n + task->instruction_files.n == 0 ||
	    t->run->agent->kind->no_files)
		return 0;
	if (put_files(t, &b, s->dir, &s->config.instruction_files, e) == 0 &&
	    put_files(t, &b, spec_task_dir(&t->arena, task),
	    &task->instruction_files, e) == 0)
		r = b.full ? err_set(e, ERR_LIMIT, "the instruction files are "
		    "too large for a prompt, which takes %d KiB of them",
		    GIVEN_MAX >> 10) : 0;
	if (r == 0) {
		buf_put(out, buf_str(&b));
		buf_putc(out, '\n');
		note(t, "instructions were given in the prompt");
	}
	buf_free(&b);
	return r;
}

int
run_make_preamble(struct run_trial *t, struct err *e)
{
	struct buf b = { 0 };
	int r = -1;

	t->given = STR("");
	t->told_skills = false;
	if (give_instructions(t, &b, e) == 0 && give_skills(t, &b, e) == 0) {
		t->given = arena_str(&t->arena, buf_str(&b));
		r = 0;
	}
	buf_free(&b);
	return r;
}
