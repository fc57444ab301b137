/* SPDX-License-Identifier: ISC */
/*
 * Skills that an agent finds although they are not the suite's: of the account
 * and of the machine.
 *
 * They would compete with the suite's skills.  An agent with a setting for it
 * leaves them out (agent_hide.c); otherwise a warning and the notes of the
 * results name them.  Their use never counts as that of a skill of the suite.
 */
#include "run/run_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"

enum {
	TEXT_MAX = 64 << 20,	/* bytes of a SKILL.md */
	FOREIGN_MAX = 1000,	/* skills of the account */
	NAMES_MAX = 5		/* names in a message */
};

static bool
same_text(struct run_ask *q, const char *a, const char *b)
{
	struct str x, y;
	struct err e;

	return os_read_plain(&q->arena, arena_fmt(&q->arena, "%s/SKILL.md",
	    a).p, TEXT_MAX, &x, &e) == 0 && os_read_plain(&q->arena,
	    arena_fmt(&q->arena, "%s/SKILL.md", b).p, TEXT_MAX, &y,
	    &e) == 0 && str_eq(x, y);
}

/* Lists the skills in one of the directories. */
static void
add_dir(struct run_ask *q, const char *dir)
{
	struct run_skills *list = &q->skills;
	struct agent_foreign *f;
	struct spec_skills found;
	struct err ignored;
	size_t i;

	(void)spec_list_skills(&q->arena, dir, &found, &ignored);
	if (found.n > 0 && list->foreign == NULL)
		list->foreign = NEW_N(&q->arena, struct agent_foreign,
		    FOREIGN_MAX);
	for (i = 0; i < found.n && list->nforeign < FOREIGN_MAX; i++) {
		f = &list->foreign[list->nforeign++];
		f->path = found.v[i].dir;
		f->dir = run_skill_base(&q->arena, f->path);
		f->name = found.v[i].name.n > 0 ? found.v[i].name : f->dir;
	}
}

static void
list_foreign(struct run_ask *q, const struct agent_skill_place *p)
{
	bool own = agent_has_own_home(q->run->agent);
	const char *dir;
	size_t i;

	for (i = 0; p->home[i].dir != NULL; i++) {
		dir = own && p->home[i].base != NULL ? NULL :
		    agent_skill_home(&q->arena, p, i);
		if (dir != NULL)
			add_dir(q, dir);
	}
}

static const struct run_skill *
twin_of(const struct run_ask *q, const struct agent_foreign *f)
{
	const struct run_skill *s = run_find_skill(&q->skills, f->name);

	return s != NULL ? s : run_find_skill(&q->skills, f->dir);
}

/* A skill of the account that the agent cannot tell from the suite's. */
static int
check_twin(struct run_ask *q, const struct agent_foreign *f, struct err *e)
{
	const struct run_skill *s = twin_of(q, f);

	if (s == NULL || q->skills.way != AGENT_SKILLS_NATIVE ||
	    same_text(q, s->from, f->path))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s is another version of skill "
	    "\"%.*s\", and the agent might use it: set \"home: private\" or "
	    "remove it", f->path, STRF(utf8_cut(s->name, 60)));
}

/* Names those that the agent finds, in a warning and in the results. */
static void
report(struct run_ask *q)
{
	const struct run_skills *list = &q->skills;
	struct run *run = q->run;
	struct buf b = { .max = 1000 };
	size_t i, n = list->nforeign;

	for (i = 0; i < n && i < NAMES_MAX; i++)
		buf_fmt(&b, "%s%s", i > 0 ? ", " : "", list->foreign[i].path);
	if (n > NAMES_MAX)
		buf_puts(&b, ", ...");
	run_skills_note(q, arena_fmt(&q->arena, "the agent also finds %zu "
	    "skill%s of the account (%.*s)", n, n == 1 ? "" : "s",
	    STRF(buf_str(&b))));
	if (!run->warned_home)
		run_warn(run, "foreign_skills", arena_fmt(&q->arena, "the "
		    "agent also finds %zu skill%s of your account (%.*s): set "
		    "\"home: private\" to leave them out", n,
		    n == 1 ? "" : "s", STRF(buf_str(&b))).p);
	run->warned_home = true;
	buf_free(&b);
}

/* Writes the file that hides skills, unless the task has one. */
static int
place_file(struct run_ask *q, struct err *e)
{
	struct run_skills *list = &q->skills;
	struct str path = STR(AGENT_HIDE_FILE);
	const char *top = agent_cwd(&q->req);
	struct stat st;

	if (lstat(arena_fmt(&q->arena, "%s/%.*s", top, STRF(path)).p,
	    &st) == 0) {
		q->req.nhidden = 0;
		return 0;
	}
	list->hiding = agent_hide_json(&q->arena, AGENT_HIDE_GEMINI, &q->req);
	if (run_skills_make_dirs(q, STR(".gemini"), e) == -1 ||
	    workspace_put(&q->arena, top, path, list->hiding, e) == -1)
		return -1;
	run_skills_push(q, &list->placed, path);
	return 0;
}

/* By name it would hide the suite's own skill, too. */
static int
hide(struct run_ask *q, enum agent_hiding how, struct err *e)
{
	const struct run_skills *list = &q->skills;
	struct agent_foreign *v = NEW_N(&q->arena, struct agent_foreign,
	    list->nforeign);
	size_t i;

	q->req.hidden = v;
	for (i = 0; i < list->nforeign; i++)
		if (how == AGENT_HIDE_CODEX ||
		    twin_of(q, &list->foreign[i]) == NULL)
			v[q->req.nhidden++] = list->foreign[i];
	return how == AGENT_HIDE_GEMINI && q->req.nhidden > 0 ?
	    place_file(q, e) : 0;
}

/* Whether skills matter in this run: the suite has some, or tests their use. */
static bool
is_about_skills(struct run_ask *q)
{
	const struct spec_suite *s = q->run->suite;

	return q->skills.n > 0 || s->triggers != NULL ||
	    spec_skill_dirs(&q->arena, s, q->task).n > 0;
}

int
run_skills_home(struct run_ask *q, const struct agent_skill_place *p,
    struct err *e)
{
	struct run_skills *list = &q->skills;
	enum agent_hiding how = agent_hiding(q->run->agent);
	size_t i, twins = 0;

	list_foreign(q, p);
	if (list->nforeign == 0 || !is_about_skills(q))
		return 0;
	for (i = 0; how != AGENT_HIDE_CODEX && i < list->nforeign; i++) {
		if (check_twin(q, &list->foreign[i], e) == -1)
			return -1;
		twins += twin_of(q, &list->foreign[i]) != NULL;
	}
	if (how != AGENT_HIDE_NEVER && hide(q, how, e) == -1)
		return -1;
	if (q->req.nhidden + twins < list->nforeign)
		report(q);
	return 0;
}
