/* SPDX-License-Identifier: ISC */
/*
 * Executor `replay`: plays answers that `waza run --record` recorded, at once,
 * and restores the files of the workspace.  Also the answers of results files.
 *
 * A recording's name contains the task's id as far as a file name can, and part
 * of its SHA-256, so that ids never share a file, even if the file system
 * ignores case.
 */
#include "agent/agent_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "lib/tmpl.h"
#include "results/cache.h"
#include "results/outcome.h"
#include "suite/spec.h"

enum {
	NAME_MAX_KEPT = 60, HASH_KEPT = 12,
	DEPTH_MAX = 20		/* directories inside each other */
};

static bool
is_plain(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

char *
agent_record_path(struct arena *a, const char *dir,
    const struct agent_request *r)
{
	char name[NAME_MAX_KEPT + 1], hex[CACHE_KEY];
	struct str id = r->task->id;
	struct sha256 h;
	size_t i;

	sha256_init(&h);
	sha256_put(&h, id);
	sha256_end(&h, hex);
	for (i = 0; i < id.n && i < NAME_MAX_KEPT; i++)
		name[i] = id.p[i];
	name[i] = '\0';
	while (i-- > 0)
		if (!is_plain(name[i]))
			name[i] = '-';
	return arena_cstr(a, arena_fmt(a, "%s/t-%s-%.*s%s.%u.%u.jsonl", dir,
	    name, HASH_KEPT, hex, r->no_skills ? ".baseline" :
	    r->ref_skills ? ".ref" : "", r->trial, r->attempt));
}

void
agent_prompt_hash(const struct agent_request *r, char hex[CACHE_KEY])
{
	const struct spec_inputs *in = &r->task->def->inputs;
	struct tmpl_vars vars = *r->vars;
	struct arena tmp = { 0 };
	struct sha256 h;
	struct str s;
	struct err e;
	size_t i;

	vars.job_id = vars.timestamp = STR("");
	sha256_init(&h);
	s = tmpl_render(&tmp, r->task->prompt, &vars, &e);
	cache_hash_part(&h, s.p != NULL ? s : r->task->prompt);
	for (i = 0; i < in->follow_up_prompts.n; i++) {
		s = tmpl_render(&tmp, in->follow_up_prompts.v[i], &vars, &e);
		cache_hash_part(&h, s.p != NULL ? s :
		    in->follow_up_prompts.v[i]);
	}
	sha256_end(&h, hex);
	arena_free(&tmp);
}

/*
 * Settings.
 */
static const char *
dir_of(struct arena *a, const struct spec_suite *s)
{
	struct str dir = json_str(agent_settings(a, s, "replay"), "dir");

	return dir.n > 0 ? spec_path(a, s->dir, dir) : NULL;
}

static void
check(const struct spec_suite *s, struct spec_notes *notes)
{
	struct arena tmp = { 0 };
	const char *dir = dir_of(&tmp, s);
	struct stat st;

	if (dir != NULL && spec_allowed(notes, s->config.executor_at, dir) &&
	    (stat(dir, &st) == -1 || !S_ISDIR(st.st_mode)))
		spec_note(notes, FIELD_WARNING, s->config.executor_at,
		    "%s is not a directory of recordings", dir);
	arena_free(&tmp);
}

static int
open_dir(struct agent *a, struct err *e)
{
	const char *const *given = a->state;
	const char **dir = NEW(a->arena, const char *);
	struct stat st;

	*dir = given != NULL ? *given : dir_of(a->arena, a->suite);
	a->state = dir;
	if (*dir == NULL)
		return err_set(e, ERR_SCHEMA, "executor \"replay\" needs a "
		    "directory of recordings: set \"dir\" in its settings, or "
		    "use --replay DIR");
	if (stat(*dir, &st) == -1)
		return err_sys(e, *dir);
	if (!S_ISDIR(st.st_mode))
		return err_set(e, ERR_SCHEMA, "%s: not a directory of "
		    "recordings", *dir);
	return 0;
}

bool
agent_has_answer(const struct agent *a, const struct agent_request *req)
{
	const char *const *dir = a->state;
	struct arena tmp = { 0 };
	bool yes;

	if (a->kind != &agent_replay)
		return true;
	yes = access(agent_record_path(&tmp, *dir, req), R_OK) == 0;
	arena_free(&tmp);
	return yes;
}

/* The first and the last whole line. */
static bool
find_ends(struct str text, struct str *first, struct str *last)
{
	const char *nl = memchr(text.p, '\n', text.n);
	size_t i;

	if (nl == NULL || text.p[text.n - 1] != '\n')
		return false;
	*first = (struct str){ text.p, (size_t)(nl - text.p) };
	text.n--;
	for (i = text.n; i > 0 && text.p[i - 1] != '\n'; i--)
		;
	*last = (struct str){ text.p + i, text.n - i };
	return true;
}

static void
take_fault(struct agent_job *j, const struct json *ans)
{
	struct str word = json_str(ans, "fault"), why = json_str(ans, "error");

	j->ans.late = agent_is_true(ans, "late");
	j->ans.error = why;
	if (str_is(word, "ok") || word.n == 0 || j->ans.late)
		return;
	j->ans.fault = str_is(word, "infrastructure") ? ANSWER_INFRA :
	    ANSWER_FAILED;
	if (why.n == 0)
		j->ans.error = STR("the recording has an error without a "
		    "message");
}

/* Notes differences between the recording and the task. */
static void
compare(struct agent_job *j, const struct json *head, const struct json *ans,
    const char *path)
{
	char hex[CACHE_KEY];

	agent_prompt_hash(j->req, hex);
	if (!str_is(json_str(head, "prompt_sha256"), hex))
		j->ans.note = arena_fmt(j->arena, "%s: recorded with "
		    "another prompt than the task has now", path);
	else if (j->req->workspace != NULL &&
	    json_getc(ans, "files_left_out") != NULL)
		j->ans.note = arena_fmt(j->arena, "%s: not all files of the "
		    "workspace were recorded", path);
}

/* Whether agent_write_files() can take them. */
static bool
are_files(const struct json *files)
{
	const struct json *v, *path, *content;

	for (v = json_first(files); v != NULL; v = v->next) {
		path = json_getc(v, "path");
		content = json_getc(v, "content");
		if (path == NULL || path->type != JSON_STRING ||
		    content == NULL || content->type != JSON_STRING)
			return false;
	}
	return true;
}

/*
 * Files that the agent had removed: those of the new workspace that the
 * recording does not name.
 */
struct pruning {
	struct arena *arena;
	const char *root;
	struct str *kept;		/* sorted */
	size_t n;
};

static void
keep_files(struct pruning *p, const struct json *list)
{
	for (list = json_first(list); list != NULL; list = list->next)
		p->kept[p->n++] = list->type == JSON_STRING ? json_text(list) :
		    json_str(list, "path");
}

static bool
is_kept(const struct pruning *p, const char *path)
{
	struct str inside = str_of(path + strlen(p->root) + 1);

	return p->n > 0 && bsearch(&inside, p->kept, p->n, sizeof(inside),
	    str_order) != NULL;
}

/* True if files were removed from it. */
static bool
prune_dir(struct pruning *p, const char *dir, int depth)
{
	struct arena_mark mark = arena_save(p->arena);
	bool removed = false;
	const char *path;
	struct stat st;
	size_t i, n = 0;
	char **v = depth < DEPTH_MAX ? cache_names(p->arena, dir, SIZE_MAX,
	    &n) : NULL;

	for (i = 0; v != NULL && i < n; i++) {
		path = arena_fmt(p->arena, "%s/%s", dir, v[i]).p;
		if (strcmp(v[i], ".git") == 0 || lstat(path, &st) == -1)
			continue;
		if (S_ISDIR(st.st_mode)) {
			if (prune_dir(p, path, depth + 1) && rmdir(path) == 0)
				removed = true;
		} else if (!is_kept(p, path) && unlink(path) == 0)
			removed = true;
	}
	arena_restore(p->arena, mark);
	return removed;
}

/* Nothing, if the recording does not name all files. */
static void
prune(struct agent_job *j, const struct json *ans)
{
	const struct json *files = json_getc(ans, "files");
	const struct json *others = json_getc(ans, "other_files");
	struct pruning p = { .arena = j->arena, .root = j->req->workspace };

	if (files == NULL || (j->ans.few_files && others == NULL))
		return;
	p.kept = NEW_N(j->arena, struct str, json_count(files) +
	    (others != NULL ? json_count(others) : 0));
	keep_files(&p, files);
	keep_files(&p, others);
	if (p.n > 0)
		qsort(p.kept, p.n, sizeof(*p.kept), str_order);
	(void)prune_dir(&p, p.root, 0);
}

static enum agent_status
play(struct agent_job *j, struct str text, const char *path, bool *wrote)
{
	const struct json *head, *n;
	struct json *v;
	struct str first, last;

	if (!find_ends(text, &first, &last) ||
	    (head = arena_json(j->arena, first, NULL)) == NULL ||
	    json_getc(head, "waza_record") == NULL ||
	    (v = json_getc(arena_json(j->arena, last, NULL), "answer")) ==
	    NULL || v->type != JSON_OBJECT || !are_files(json_getc(v, "files")))
		return agent_fail(j, ANSWER_INFRA, "%s: not a recording, or an "
		    "incomplete one", path);
	outcome_answer(j->arena, &(struct outcome_trial){ .node = v }, &j->ans);
	n = json_getc(v, "duration_ms");
	if (!json_int(n, &j->ans.took_ms) || j->ans.took_ms < 0) {
		j->ans.took_ms = 0;
		j->ans.no_took = true;
	}
	j->ans.session_id = json_str(v, "session_id");
	j->ans.few_files = json_getc(v, "files_left_out") != NULL;
	*wrote = json_first(json_getc(v, "files")) != NULL;
	take_fault(j, v);
	compare(j, head, v, path);
	if (j->req->workspace != NULL && j->ans.fault == ANSWER_OK) {
		prune(j, v);
		agent_write_files(j, json_getc(v, "files"));
	}
	return AGENT_DONE;
}

enum agent_status
agent_play_recording(struct agent_job *j, const char *dir, bool *wrote)
{
	const char *path;
	struct str text;
	struct err e = { 0 };

	if (j->req->sample > 0)
		return agent_fail(j, ANSWER_INFRA, "recordings cannot judge: "
		    "name another executor in \"judge\"");
	path = agent_record_path(j->arena, dir, j->req);
	if (os_read_plain(j->arena, path, AGENT_RECORD_MAX, &text, &e) == 0)
		return play(j, str_after_bom(text), path, wrote);
	return agent_fail(j, ANSWER_INFRA, "no recording of this trial: %s",
	    e.msg);
}

static enum agent_status
start(struct agent *a, struct agent_job *j)
{
	const char *const *dir = a->state;
	bool wrote;

	return agent_play_recording(j, *dir, &wrote);
}

const struct agent_kind agent_replay = {
	.name = "replay", .evaluates = true, .loads_skills = true,
	.all_turns = true, .replays = true,
	.check = check, .needs_workspace = agent_no_workspace,
	.open = open_dir, .start = start
};

/*
 * The answers of a results file.
 */
static enum agent_status
start_stored(struct agent *a, struct agent_job *j)
{
	const struct outcome *const *o = a->state;
	const struct outcome_task *t = outcome_find(*o, j->req->task->id);
	const struct json *node;

	assert(t != NULL && j->req->trial <= t->ntrials);
	node = t->trials[j->req->trial - 1].node;
	outcome_answer(j->arena, &t->trials[j->req->trial - 1], &j->ans);
	if (j->ans.calls == NULL && json_getc(node, "session_digest") == NULL)
		j->ans.no_calls = true;		/* the file does not tell */
	return AGENT_DONE;
}

const struct agent_kind agent_stored = {
	.name = "stored", .needs_workspace = agent_no_workspace,
	.start = start_stored
};
