/* SPDX-License-Identifier: ISC */
/*
 * Skills where an agent finds them, and the evidence that it used them.
 *
 * Copies of the suite's skills are placed in the directory of the workspace in
 * which the agent looks for them, and removed after its last turn, before
 * anything looks at its files.  A directory that exists already belongs to the
 * task and stays.
 *
 * Evidence is a successful call of the skill tool, the agent's own event, or a
 * successful read of the SKILL.md.
 */
#include "run/run_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "base/os_path.h"
#include "results/cache.h"

enum {
	FILES_MAX = 5000,	/* files of all skills of a trial */
	BYTES_MAX = 64 << 20	/* and their bytes */
};

const char *
run_skills_word(const struct run_ask *q)
{
	static const char *const words[] = { [AGENT_SKILLS_NONE] = "none",
		[AGENT_SKILLS_NATIVE] = "native",
		[AGENT_SKILLS_PROMPT] = "prompt",
		[AGENT_SKILLS_DIRECTORIES] = "directories" };

	return q->skills.known ? words[q->skills.way] : "";
}

/*
 * The list.
 */
/* The last name of a directory that may be given as "..". */
struct str
run_skill_base(struct arena *a, const char *dir)
{
	const char *real = os_real(a, dir);

	return str_base(str_of(real != NULL ? real : dir));
}

static bool
has_control(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < ' ' || s.p[i] == '\177')
			return true;
	return false;
}

/* The name of the skill's directory: that of the skill, if possible. */
static struct str
dir_name(struct arena *a, const struct spec_skill *s)
{
	return s->name.n > 0 && s->name.n < 200 && s->name.p[0] != '.' &&
	    memchr(s->name.p, '/', s->name.n) == NULL &&
	    !has_control(s->name) && workspace_inside(s->name) ? s->name :
	    run_skill_base(a, s->dir);
}

const struct run_skill *
run_find_skill(const struct run_skills *list, struct str name)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i].name, name) ||
		    str_eq(list->v[i].dir, name))
			return &list->v[i];
	return NULL;
}

/* Errors in directories were reported when the suite was loaded. */
static void
list_skills(struct run_ask *q)
{
	const struct spec_suite *s = q->run->suite;
	struct field_strs dirs = spec_skill_dirs(&q->arena, s, q->task);
	struct run_skills *list = &q->skills;
	struct spec_skills found;
	struct run_skill *to;
	struct str dir;
	struct err e;
	size_t i, k;

	if (dirs.n > 0)
		list->v = NEW_N(&q->arena, struct run_skill, SPEC_SKILLS_MAX);
	for (i = 0; i < dirs.n; i++) {
		(void)spec_list_skills(&q->arena, dirs.v[i].p, &found, &e);
		for (k = 0; k < found.n && list->n < SPEC_SKILLS_MAX; k++) {
			dir = dir_name(&q->arena, &found.v[k]);
			if (spec_names(&s->config.disabled_skills,
			    found.v[k].name) ||
			    run_find_skill(list, dir) != NULL)
				continue;
			to = &list->v[list->n++];
			to->from = os_absolute(&q->arena, found.v[k].dir);
			to->dir = dir;
			to->name = found.v[k].name.n > 0 ? found.v[k].name :
			    to->dir;
			to->root = to->from;
			to->spec = &found.v[k];
		}
	}
}

/*
 * Placing.
 */
struct own_files {		/* of the suite: not for the agent */
	const struct run_ask *ask;
	const struct stat *top;	/* the skill itself */
};

static bool
is_file(const struct stat *st, const char *path)
{
	struct stat other;

	return path != NULL && stat(path, &other) == 0 &&
	    other.st_dev == st->st_dev && other.st_ino == st->st_ino;
}

/* Leaves out the suite, if it is beside the SKILL.md: it has the answers. */
static bool
skip_own(void *arg, const char *name, const struct stat *st)
{
	const struct own_files *o = arg;
	const struct spec_suite *s = o->ask->run->suite;
	size_t i;

	if (st->st_dev == o->top->st_dev && st->st_ino == o->top->st_ino)
		return false;
	if (strcmp(name, ".git") == 0 || strcmp(name, ".waza") == 0)
		return true;
	if (S_ISDIR(st->st_mode))
		return is_file(st, s->dir) || is_file(st,
		    arena_fmt(&o->ask->run->arena, "%s/fixtures", s->dir).p);
	if (is_file(st, s->path) || (s->triggers != NULL &&
	    is_file(st, s->triggers->file)))
		return true;
	for (i = 0; i < s->ntasks; i++)
		if (is_file(st, s->tasks[i].at.file))
			return true;
	return false;
}

void
run_skills_push(struct run_ask *q, struct field_strs *list, struct str path)
{
	struct str *v = NEW_N(&q->arena, struct str, list->n + 1);

	if (list->n > 0)
		memcpy(v, list->v, list->n * sizeof(*v));
	v[list->n++] = path;
	list->v = v;
}

/* Creates a directory and those above it; remembers the new ones. */
int
run_skills_make_dirs(struct run_ask *q, struct str path, struct err *e)
{
	const char *top = agent_cwd(&q->req);
	struct str part = path;
	int r;

	for (part.n = 1; part.n <= path.n; part.n++) {
		if (part.n < path.n && path.p[part.n] != '/')
			continue;
		r = workspace_make_dir(&q->arena, top, part, e);
		if (r == -1)
			return -1;
		if (r == 1)
			run_skills_push(q, &q->skills.made, part);
	}
	return 0;
}

static int
place_skill(struct run_ask *q, struct run_skill *s, const char *dir,
    struct workspace_part *part, struct err *e)
{
	const char *top = agent_cwd(&q->req);
	struct str path = arena_fmt(&q->arena, "%s/%.*s", dir, STRF(s->dir));
	struct own_files own = { .ask = q };
	struct stat st;
	struct err why = { 0 };
	int failed;

	s->root = arena_fmt(&q->arena, "%s/%.*s", top, STRF(path)).p;
	if (lstat(s->root, &st) == 0) {
		run_skills_note(q, arena_fmt(&q->arena, "the workspace has its "
		    "own skill \"%.*s\"", STRF(utf8_cut(s->name, 60))));
		return 0;
	}
	if (stat(s->from, &st) == -1)
		return err_sys(e, s->from);
	own.top = &st;
	part->arg = &own;
	run_skills_push(q, &q->skills.placed, path);
	failed = workspace_copy_part(&q->arena, top, s->from, path, part,
	    &why);
	part->arg = NULL;
	if (failed == 0)
		return 0;
	return why.code == ERR_LIMIT ? err_set(e, ERR_LIMIT, "the skills are "
	    "too large to copy them into a workspace: %s (at %s)", why.msg,
	    s->from) : err_set(e, why.code, "skill \"%.*s\": %s",
	    STRF(utf8_cut(s->name, 60)), why.msg);
}

/* Nothing is placed in a directory of the user. */
static bool
has_own_workspace(const struct run_ask *q)
{
	return q->dir != NULL && q->req.workspace == q->dir;
}

void
run_skills_choose(struct run_ask *q)
{
	const struct run *run = q->run;
	struct run_skills *list = &q->skills;

	*list = (struct run_skills){ .known = !run->agent->kind->all_turns };
	if (!list->known || q->req.no_skills)
		return;
	list_skills(q);
	if (list->n == 0)
		return;
	list->way = agent_skills_way(run->agent->kind, run->suite);
	if (list->way == AGENT_SKILLS_NATIVE &&
	    run->opts.shared_workspace != NULL)
		list->way = AGENT_SKILLS_PROMPT;
}

int
run_skills_place(struct run_ask *q, struct err *e)
{
	struct run *run = q->run;
	const struct agent_skill_place *p =
	    agent_skill_place_of(run->agent->kind, run->suite);
	struct workspace_part part = { .skip = skip_own,
		.max_files = FILES_MAX, .max_bytes = BYTES_MAX };
	struct run_skills *list = &q->skills;
	size_t i;

	if (p == NULL || !has_own_workspace(q))
		return run_mcp_place(q, e);
	if (run_skills_home(q, p, e) == -1 || run_mcp_place(q, e) == -1 ||
	    run_repository_place(q, e) == -1 || run_agent_place(q, e) == -1)
		return -1;
	if (list->way != AGENT_SKILLS_NATIVE)
		return run_hide_from_git(q, e);
	if (run_skills_make_dirs(q, str_of(p->dir), e) == -1)
		return -1;
	for (i = 0; i < list->n; i++)
		if (place_skill(q, &list->v[i], p->dir, &part, e) == -1)
			return -1;
	return run_hide_from_git(q, e);
}

/*
 * Removing.
 */
/* Whether it is the file that hides skills, and the agent has written to it. */
static bool
is_changed_file(struct run_ask *q, struct str path)
{
	return str_eq(path, STR(AGENT_HIDE_FILE)) && !run_file_is(q,
	    arena_fmt(&q->arena, "%s/" AGENT_HIDE_FILE,
	    agent_cwd(&q->req)).p, q->skills.hiding);
}

void
run_skills_remove(struct run_ask *q)
{
	struct run_skills *list = &q->skills;
	size_t i;

	for (i = 0; i < list->placed.n; i++)
		if (!is_changed_file(q, list->placed.v[i]))
			workspace_take_out(&q->arena, agent_cwd(&q->req),
			    list->placed.v[i], false);
	for (i = list->made.n; i > 0; i--)
		workspace_take_out(&q->arena, agent_cwd(&q->req),
		    list->made.v[i - 1], true);
	run_repository_remove(q);
	list->placed.n = list->made.n = 0;
}

/*
 * Evidence.
 */
static bool
contains(struct str s, struct str part)
{
	for (; s.n >= part.n; s.p++, s.n--)
		if (memcmp(s.p, part.p, part.n) == 0)
			return true;
	return false;
}

void
run_skills_note(struct run_ask *q, struct str note)
{
	struct str *to = &q->skills.note;

	*to = arena_fmt(&q->arena, "%.*s%s%.*s", STRF(*to),
	    to->n > 0 ? "; " : "", STRF(note));
}

static void
add_once(struct run_ask *q, struct field_strs *list, struct str name)
{
	if (name.n > 0 && !run_has_skill(list, name))
		run_skills_push(q, list, arena_str(&q->arena, name));
}

/* Whether a skill is among the files of the task. */
static bool
in_workspace(struct run_ask *q, struct str name)
{
	static const char *const dirs[] = { ".agents/skills",
		".claude/skills" };
	const char *top = agent_cwd(&q->req);
	struct stat st;
	char *path;
	size_t i;

	for (i = 0; top != NULL && i < COUNTOF(dirs); i++) {
		path = arena_cstr(&q->arena, arena_fmt(&q->arena,
		    "%s/%s/%.*s/SKILL.md", top, dirs[i], STRF(name)));
		if (path != NULL && lstat(path, &st) == 0)
			return true;
	}
	return false;
}

static bool
is_foreign(const struct run_ask *q, struct str name)
{
	size_t i;

	for (i = 0; i < q->skills.nforeign; i++)
		if (str_eq(q->skills.foreign[i].name, name) ||
		    str_eq(q->skills.foreign[i].dir, name))
			return true;
	return false;
}

/*
 * Sorts a name into skills of the suite and others.  A suite that names no
 * skills may expect any that the agent does not bring along.
 */
static void
add_use(struct run_ask *q, struct str name, struct field_strs *ours,
    struct field_strs *others)
{
	const struct run *run = q->run;
	const struct run_skill *s = run_find_skill(&q->skills, name);
	bool other = q->skills.n > 0 ? !in_workspace(q, name) :
	    is_foreign(q, name) || agent_brings_skill(run->agent->kind,
	    run->suite, name);

	if (s != NULL)
		add_once(q, ours, s->name);
	else
		add_once(q, other ? others : ours, name);
}

/* Whether calls name the skill, but none of them succeeded. */
static bool
has_failed(const struct answer *ans, struct str name)
{
	const struct answer_call *c;
	bool failed = false;

	for (c = ans->calls; c != NULL; c = c->next) {
		if (c->skill.n == 0 || !str_eq(c->skill, name))
			continue;
		if (c->success)
			return false;
		failed = true;
	}
	return failed;
}

/* An agent that cannot load skills has neither used nor ignored one. */
static bool
cannot_load(struct run_ask *q)
{
	const struct answer_call *c;

	for (c = q->job.ans.calls; c != NULL; c = c->next)
		if (c->skill.n > 0 && !c->success &&
		    (contains(c->result, STR("ripgrep")) ||
		    contains(c->result, STR("/rg'")))) {
			run_ask_fail(q, RESULT_INFRA, "the agent could not "
			    "load skill \"%.*s\": it needs `rg` (ripgrep) "
			    "in PATH", STRF(utf8_cut(c->skill, 60)));
			return true;
		}
	return false;
}

/* Skills of the suite, and of the account, whose SKILL.md the call reads. */
static void
add_reads(struct run_ask *q, const struct answer_call *c,
    struct field_strs *ours, struct field_strs *others)
{
	const struct run_skills *list = &q->skills;
	struct run_skill s = { .root = NULL };
	size_t i;

	for (i = 0; i < list->n; i++)
		if (run_reads_skill(q, &list->v[i], c))
			add_once(q, ours, list->v[i].name);
	for (i = 0; i < list->nforeign; i++) {
		s.root = list->foreign[i].path;
		if (run_reads_skill(q, &s, c))
			add_once(q, others, list->foreign[i].name);
	}
}

bool
run_skills_find(struct run_ask *q)
{
	struct answer *ans = &q->job.ans;
	struct field_strs ours = { NULL, 0 }, others = { NULL, 0 };
	const struct answer_call *c;
	size_t i;

	if (!agent_finds_skills(q->run->agent->kind, q->run->suite))
		return true;
	if (cannot_load(q))
		return false;
	for (c = ans->calls; c != NULL; c = c->next) {
		if (!c->success)
			continue;
		add_use(q, c->skill, &ours, &others);
		add_reads(q, c, &ours, &others);
	}
	for (i = 0; i < ans->skills.n; i++)
		if (!has_failed(ans, ans->skills.v[i]))
			add_use(q, ans->skills.v[i], &ours, &others);
	ans->skills = ours;
	ans->other_skills = others;
	return true;
}
