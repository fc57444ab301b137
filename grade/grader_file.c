/* SPDX-License-Identifier: ISC */
/*
 * The kinds file and file_exists: files that the agent left in its workspace.
 * A path that leads out of the workspace is an error, not a verdict.
 */
#include "grade/grader_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

struct file_pattern {
	struct str path;
	struct field_strs must_match, must_not_match;
};

struct file {
	struct field_strs must_exist, must_not_exist, path, paths;
	struct field_list content_patterns;
};

static const struct field pattern_rows[] = {
	FIELD(file_pattern, path, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "file in the workspace"),
	GRADER_KEY(file_pattern, must_match, FIELD_STRS,
	    .help = "regular expressions that match"),
	GRADER_KEY(file_pattern, must_not_match, FIELD_STRS,
	    .help = "regular expressions that do not match"),
};
static const struct field_table pattern_fields =
    FIELD_TABLE(file_pattern, pattern_rows);

static const struct field file_rows[] = {
	GRADER_KEY(file, must_exist, FIELD_STRS,
	    .help = "files that must exist; patterns"),
	GRADER_KEY(file, must_not_exist, FIELD_STRS,
	    .help = "files that must not exist; patterns"),
	FIELD(file, content_patterns, FIELD_OBJECTS, .sub = &pattern_fields,
	    .help = "files and regular expressions for their text"),
	FIELD(file, path, FIELD_STRS, .alias = "file",
	    .help = "files that must exist"),
	FIELD(file, paths, FIELD_STRS, .alias = "files",
	    .help = "files that must exist"),
};
static const struct field_table file_fields = FIELD_TABLE(file, file_rows);

/* The state of one grading. */
struct work {
	struct grading *g;
	struct arena *tmp;
	struct grader_tally tally;
	struct str error;	/* empty: none */
};

static void
check(struct grader_check *c, const void *settings)
{
	const struct file *f = settings;
	const struct json *v, *config = c->spec->config;
	size_t i;

	if (f->must_exist.n + f->must_not_exist.n + f->path.n + f->paths.n +
	    f->content_patterns.n == 0)
		grader_note_empty(c);
	for (i = 0; i < COUNTOF(file_rows); i++) {
		if (file_rows[i].type != FIELD_STRS)
			continue;
		grader_check_each(c, config, file_rows[i].key,
		    grader_check_path);
		if (file_rows[i].alias != NULL)
			grader_check_each(c, config, file_rows[i].alias,
			    grader_check_path);
	}
	v = json_getc(config, "content_patterns");
	if (v == NULL)
		return;
	for (v = json_first(v); v != NULL; v = v->next) {
		grader_check_each(c, v, "path", grader_check_path);
		grader_check_each(c, v, "must_match", grader_check_pattern);
		grader_check_each(c, v, "must_not_match", grader_check_pattern);
	}
}

/* The full path, or NULL and w->error. */
static const char *
full_path(struct work *w, struct str path)
{
	return grader_workspace_path(w->tmp, w->g->in->workspace, path,
	    &w->error);
}

/* A link to nothing is a file that should not be there, but not a file. */
static void
check_exists(struct work *w, struct str path, bool required)
{
	const char *full = full_path(w, path);
	struct str q = grader_quote(w->tmp, path);
	struct stat st;
	bool found;

	if (full == NULL)
		return;
	found = stat(full, &st) == 0 || (!required && lstat(full, &st) == 0);
	if (!found && w->g->in->answer->few_files)
		w->error = grader_left_out(w->tmp, path);
	else if (!found && errno != ENOENT && errno != ENOTDIR)
		w->error = arena_fmt(w->tmp, "cannot be checked: file %.*s: "
		    "%s", STRF(q), strerror(errno));
	else if (found == required)
		grader_pass(&w->tally);
	else
		grader_fail(&w->tally, required ? "missing file %.*s" :
		    "unwanted file %.*s", STRF(q));
}

static void
check_content(struct work *w, const struct file_pattern *p, struct str text)
{
	struct str q = grader_quote(w->tmp, p->path);
	struct grader_subject s = { .tally = &w->tally, .tmp = w->tmp,
		.budget = w->g->budget,
		.text = text };
	size_t i;

	s.what = arena_cstr(w->tmp, arena_fmt(w->tmp, "file %.*s", STRF(q)));
	s.what = s.what != NULL ? s.what : "file";
	for (i = 0; i < p->must_match.n; i++)
		grader_check_match(&s, p->must_match.v[i], false);
	for (i = 0; i < p->must_not_match.n; i++)
		grader_check_match(&s, p->must_not_match.v[i], true);
	grader_subject_fini(&s);
}

static void
fail_patterns(struct work *w, const struct field_strs *patterns,
    struct str file)
{
	struct str q;
	size_t i;

	for (i = 0; i < patterns->n; i++) {
		q = grader_quote(w->tmp, patterns->v[i]);
		grader_fail(&w->tally, "pattern %.*s: file %.*s cannot be read",
		    STRF(q), STRF(file));
	}
}

/* A file that cannot be read fails one check, and one for each pattern. */
static void
check_patterns(struct work *w, const struct file_pattern *p)
{
	const char *full = full_path(w, p->path);
	struct str q = grader_quote(w->tmp, p->path), text;
	struct arena mem = { 0 };	/* for the file, which can be large */
	struct err e = { 0 };

	if (full == NULL)
		return;
	if (grader_workspace_read(&mem, full, &text, w->g->budget,
	    &e) == 0) {
		grader_pass(&w->tally);
		check_content(w, p, text);
	} else if (w->g->in->answer->few_files) {
		w->error = grader_left_out(w->tmp, p->path);
	} else if (e.code == ERR_LIMIT) {
		w->error = arena_fmt(w->tmp, "file %.*s is %s", STRF(q), e.msg);
	} else {
		grader_fail(&w->tally, "cannot read file %.*s: %s", STRF(q),
		    e.msg);
		fail_patterns(w, &p->must_match, q);
		fail_patterns(w, &p->must_not_match, q);
	}
	arena_free(&mem);
}

static void
put_patterns(struct json_out *o, const struct field_list *list)
{
	const struct file_pattern *p = list->v;
	size_t i;

	if (list->n == 0) {
		json_put_member_null(o, "content_patterns");
		return;
	}
	json_open_member(o, "content_patterns", '[');
	for (i = 0; i < list->n; i++) {
		json_open(o, '{');
		json_put_member_str(o, "Path", p[i].path);
		grader_put_strs(o, "MustMatch", &p[i].must_match);
		grader_put_strs(o, "MustNotMatch", &p[i].must_not_match);
		json_close(o, '}');
	}
	json_close(o, ']');
}

static struct str
details(struct work *w, const struct file *f, const struct field_strs *exist)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const char *dir = w->g->in->workspace;

	json_open(&o, '{');
	grader_put_strs(&o, "must_exist", exist);
	grader_put_strs(&o, "must_not_exist", &f->must_not_exist);
	put_patterns(&o, &f->content_patterns);
	grader_put_failures(&o, &w->tally);
	json_put_member_cstr(&o, "workspace_dir", dir != NULL ? dir : "");
	json_close(&o, '}');
	return arena_take(w->g->arena, &b);
}

/* must_exist and its other spellings. */
static struct field_strs
required_files(struct arena *a, const struct file *f)
{
	const struct field_strs *from[] = { &f->must_exist, &f->path,
		&f->paths };
	struct field_strs all = { 0 };
	size_t i, j;

	all.v = NEW_N(a, struct str, f->must_exist.n + f->path.n + f->paths.n);
	for (i = 0; i < COUNTOF(from); i++)
		for (j = 0; j < from[i]->n; j++)
			all.v[all.n++] = from[i]->v[j];
	return all;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct file *f = settings;
	const struct file_pattern *p = f->content_patterns.v;
	struct work w = { .g = g, .tmp = tmp, .tally = { .arena = tmp } };
	struct field_strs exist = required_files(tmp, f);
	const char *why;
	size_t i;

	if (g->in->workspace == NULL) {
		grader_fail(&w.tally, "the trial has no workspace");
	} else if ((why = grader_workspace_problem(g->in->workspace)) != NULL) {
		return grader_error(g, "%s", why);
	} else {
		for (i = 0; i < exist.n && w.error.n == 0; i++)
			check_exists(&w, exist.v[i], true);
		for (i = 0; i < f->must_not_exist.n && w.error.n == 0; i++)
			check_exists(&w, f->must_not_exist.v[i], false);
		for (i = 0; i < f->content_patterns.n && w.error.n == 0; i++)
			check_patterns(&w, &p[i]);
	}
	if (w.error.n > 0)
		return grader_error(g, "%.*s", STRF(w.error));
	grader_conclude(g->arena, &g->out, &w.tally, "all file checks passed");
	g->out.details = details(&w, f, &exist);
	return GRADER_DONE;
}

#define FILE_KIND(word) { .name = word, .fields = &file_fields, \
	.flags = GRADER_WORKSPACE, .check = check, .start = start }

const struct grader_kind grader_file = FILE_KIND("file");
const struct grader_kind grader_file_exists = FILE_KIND("file_exists");
