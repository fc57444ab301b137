/* SPDX-License-Identifier: ISC */
/*
 * The inputs of a task besides its prompt and files: follow-up prompts, a
 * responder, repositories, a working directory and instruction files.  They
 * are checked as far as is possible without an agent.
 */
#include "suite/spec_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "io/workspace.h"

enum {
	FOLLOW_UPS_MAX = 1000,
	REPLIES_MAX = 100,	/* by a responder */
	REPOS_MAX = 100
};

static const struct field responder_rows[] = {
	SPEC_KEY(spec_responder, model, FIELD_STR,
	    .help = "model of the responder"),
	SPEC_KEY(spec_responder, instructions, FIELD_STR,
	    .help = "how it answers"),
	SPEC_RANGE(spec_responder, max_followups, FIELD_INT, 0, REPLIES_MAX,
	    .help = "answers at most"),
};
static const struct spec_responder no_responder = { .max_followups = 5 };
const struct field_table spec_responder_table = { responder_rows,
	COUNTOF(responder_rows), sizeof(struct spec_responder), &no_responder };

static const char *const repo_types[] = { "worktree", NULL };
static const struct field repo_rows[] = {
	FIELD(spec_repo, type, FIELD_ENUM, .words = repo_types,
	    .help = "how the repository is made"),
	FIELD(spec_repo, source, FIELD_STR, .flags = FIELD_REQUIRED,
	    .values = FIELD_FILES,
	    .help = "directory in a local repository"),
	SPEC_KEY(spec_repo, commit, FIELD_STR,
	    .help = "commit to check out"),
	SPEC_KEY(spec_repo, dest, FIELD_STR,
	    .help = "directory in the workspace"),
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
	*r = no_responder;
	spec_decode(l, file, &spec_responder_table, v, r);
	out->responder = r;
}

/* Whether git takes it for the name of a commit and not for an option. */
static bool
is_commit_name(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= ' ' || s.p[i] == 0x7F)
			return false;
	return s.n == 0 || s.p[0] != '-';
}

static void
check_inside(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct str path)
{
	if (path.n > 0 && !str_is(path, ".") && !workspace_inside(path))
		spec_error(l, f->path, v, NULL, "\"%.*s\" is not a path "
		    "inside the workspace", SPEC_SHORT(path));
}

static void
check_repo(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, const struct spec_repo *r)
{
	struct arena_mark mark = arena_save(&l->scratch);
	const struct json *source = json_getc(v, "source");
	const char *path = spec_path(&l->scratch, f->dir, r->source);

	if (r->source.p != NULL && r->source.n == 0)
		spec_error(l, f->path, source, NULL, "\"source\" is empty");
	if (r->source.n > 0 &&
	    spec_allowed(l->notes, spec_at(f->path, source), path) &&
	    !spec_exists(path))
		spec_warning(l, f->path, source, NULL, "%.*s does not exist",
		    STRF(spec_tail(path)));
	if (!is_commit_name(r->commit))
		spec_error(l, f->path, json_getc(v, "commit"), NULL,
		    "\"%.*s\" is not a valid commit name",
		    SPEC_SHORT(r->commit));
	check_inside(l, f, json_getc(v, "dest"), r->dest);
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
		spec_error(l, f->path, list, NULL, "more than %d repositories",
		    REPOS_MAX);
	for (i = 0; i < repos->n && v != NULL; i++, v = v->next)
		check_repo(l, f, v, &r[i]);
}

void
spec_read_dialogue(struct spec_loader *l, const struct spec_file *f,
    const struct json *inputs, const struct json *responder,
    struct spec_inputs *in)
{
	read_responder(l, f->path, responder, in);
	if (in->follow_up_prompts.n > FOLLOW_UPS_MAX)
		spec_error(l, f->path, json_getc(inputs, "follow_up_prompts"),
		    NULL, "more than %d follow-up prompts", FOLLOW_UPS_MAX);
	check_repos(l, f, json_getc(inputs, "repos"), &in->repos);
	check_inside(l, f, json_getc(inputs, "workdir"), in->workdir);
}

char *
spec_instruction(struct arena *a, const char *fixtures, const char *dir,
    struct str path)
{
	char *there = spec_join(a, fixtures, path);

	return spec_exists(there) ? there : spec_path(a, dir, path);
}

void
spec_check_instructions(struct spec_loader *l, const struct spec_file *f,
    const char *context, const struct json *list,
    const struct field_strs *files)
{
	struct arena_mark mark = arena_save(&l->scratch);
	const char *fixtures = context != NULL ? context :
	    l->notes != NULL && l->notes->context_dir != NULL ?
	    l->notes->context_dir :
	    spec_join(&l->scratch, l->suite->dir, STR("fixtures"));
	const struct json *v;
	const char *path;
	struct stat st;
	size_t i;

	for (i = 0; i < files->n && i < SPEC_NOTES_MAX; i++) {
		v = spec_nth(list, i);
		path = spec_instruction(&l->scratch, fixtures, f->dir,
		    files->v[i]);
		if (!spec_allowed(l->notes, spec_at(f->path, v), path))
			continue;
		if (stat(path, &st) == -1)
			spec_error(l, f->path, v, "instruction_files",
			    "%.*s does not exist; check the path",
			    STRF(spec_tail(path)));
		else if (!S_ISREG(st.st_mode))
			spec_error(l, f->path, v, "instruction_files",
			    "%.*s is not a regular file",
			    STRF(spec_tail(path)));
		else if (st.st_size > SPEC_INSTRUCTIONS_MAX)
			spec_error(l, f->path, v, "instruction_files",
			    "%.*s is larger than %d MiB",
			    STRF(spec_tail(path)),
			    SPEC_INSTRUCTIONS_MAX >> 20);
	}
	arena_restore(&l->scratch, mark);
}
