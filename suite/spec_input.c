/* SPDX-License-Identifier: ISC */
/*
 * What a task gives an agent beside its prompt and files: a talk, somebody to
 * talk with, repositories, a place to work in, instructions.  All of it is
 * checked here, as far as that can be done without an agent.
 */
#include "suite/spec_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "io/workspace.h"
#include "json.h"

enum {
	FOLLOW_UPS_MAX = 1000,
	REPLIES_MAX = 100,	/* of a responder */
	REPOS_MAX = 100
};

static const struct field responder_rows[] = {
	FIELD(spec_responder, model, FIELD_STR, .help = "who answers"),
	FIELD(spec_responder, instructions, FIELD_STR, .help = "whom it plays"),
	FIELD(spec_responder, max_followups, FIELD_INT, .min = 0,
	    .max = REPLIES_MAX, .help = "at most so many"),
};
static const struct field_table responder_table =
    FIELD_TABLE(spec_responder, responder_rows);

static const char *const repo_types[] = { "worktree", NULL };
static const struct field repo_rows[] = {
	FIELD(spec_repo, type, FIELD_ENUM, .words = repo_types,
	    .help = "how it is made"),
	FIELD(spec_repo, source, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "a directory in it"),
	FIELD(spec_repo, commit, FIELD_STR, .help = "which state of it"),
	FIELD(spec_repo, dest, FIELD_STR, .help = "where in the workspace"),
};
const struct field_table spec_repo_table = FIELD_TABLE(spec_repo, repo_rows);

static void
read_responder(struct spec_loader *l, const char *file, const struct json *v,
    struct spec_inputs *out)
{
	struct spec_responder *r;

	v = spec_object(l, file, v);
	if (v == NULL)
		return;
	r = NEW(l->arena, struct spec_responder);
	r->max_followups = 5;
	spec_decode(l, file, &responder_table, v, r);
	out->responder = r;
}

/* A name that git takes for an option, or that is none. */
static bool
is_name(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7F)
			return false;
	return s.n == 0 || s.p[0] != '-';
}

static void
check_repo(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, const struct spec_repo *r)
{
	struct arena_mark mark = arena_save(&l->scratch);
	const char *path;

	if (r->source.p != NULL && r->source.n == 0)
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(v, "source")), STR("source"),
		    "\"source\" is empty");
	path = spec_path(&l->scratch, f->dir, r->source);
	if (r->source.n > 0 && !spec_exists(path))
		spec_note_key(l->notes, FIELD_WARNING, spec_at(f->path,
		    json_getc(v, "source")), STR("source"),
		    "%.*s does not exist", STRF(spec_tail(path)));
	if (!is_name(r->commit))
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(v, "commit")), STR("commit"),
		    "\"%.*s\" cannot be the name of a commit",
		    STRF(spec_short(r->commit)));
	if (r->dest.n > 0 && !str_is(r->dest, ".") &&
	    !workspace_inside(r->dest))
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(v, "dest")), STR("dest"), "\"%.*s\" is not a "
		    "path inside the workspace", STRF(spec_short(r->dest)));
	arena_restore(&l->scratch, mark);
}

static void
check_repos(struct spec_loader *l, const struct spec_file *f,
    const struct json *list, const struct field_list *repos)
{
	const struct spec_repo *r = repos->v;
	const struct json *v = json_first(list);
	size_t i;

	if (repos->n > REPOS_MAX)
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path, list),
		    STR("repos"), "there are more than %d repositories",
		    REPOS_MAX);
	for (i = 0; i < repos->n && v != NULL; i++, v = v->next)
		check_repo(l, f, v, &r[i]);
}

void
spec_read_talk(struct spec_loader *l, const struct spec_file *f,
    const struct json *inputs, const struct json *responder,
    struct spec_inputs *in)
{
	read_responder(l, f->path, responder, in);
	if (in->follow_up_prompts.n > FOLLOW_UPS_MAX)
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(inputs, "follow_up_prompts")),
		    STR("follow_up_prompts"),
		    "there are more than %d follow-up prompts",
		    FOLLOW_UPS_MAX);
	check_repos(l, f, json_getc(inputs, "repos"), &in->repos);
	if (in->workdir.n > 0 && !str_is(in->workdir, ".") &&
	    !workspace_inside(in->workdir))
		spec_note_key(l->notes, FIELD_ERROR, spec_at(f->path,
		    json_getc(inputs, "workdir")), STR("workdir"),
		    "\"%.*s\" is not a path inside the workspace",
		    STRF(spec_short(in->workdir)));
}

/* Where the ith text of a list stands, which may be one text alone. */
static struct spec_where
entry_at(const char *file, const struct json *list, size_t i)
{
	const struct json *v = list;

	if (list != NULL && list->type == JSON_ARRAY)
		for (v = json_first(list); v != NULL && i > 0; i--)
			v = v->next;
	return spec_at(file, v != NULL ? v : list);
}

void
spec_check_instructions(struct spec_loader *l, const struct spec_file *f,
    const struct json *list, const struct field_strs *files)
{
	struct arena_mark mark = arena_save(&l->scratch);
	struct spec_where at;
	const char *path;
	struct stat st;
	size_t i;

	for (i = 0; i < files->n && i < SPEC_NOTES_MAX; i++) {
		at = entry_at(f->path, list, i);
		path = spec_path(&l->scratch, f->dir, files->v[i]);
		if (stat(path, &st) == -1)
			spec_note_key(l->notes, FIELD_ERROR, at,
			    STR("instruction_files"), "%.*s does not exist",
			    STRF(spec_tail(path)));
		else if (!S_ISREG(st.st_mode))
			spec_note_key(l->notes, FIELD_ERROR, at,
			    STR("instruction_files"), "%.*s is not a file",
			    STRF(spec_tail(path)));
		else if (st.st_size > SPEC_INSTRUCTIONS_MAX)
			spec_note_key(l->notes, FIELD_ERROR, at,
			    STR("instruction_files"), "%.*s is larger than "
			    "%d MiB", STRF(spec_tail(path)),
			    SPEC_INSTRUCTIONS_MAX >> 20);
	}
	arena_restore(&l->scratch, mark);
}
