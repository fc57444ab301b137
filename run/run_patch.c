/* SPDX-License-Identifier: ISC */
/*
 * The agent's patch: what it changed in the workspace, as git prints it.
 *
 * The workspace is scanned before the agent is asked, and again after its last
 * answer, before graders can change files.  An unchanged file costs an lstat.
 * The contents before are those of the inputs on disk, if these have not
 * changed since.  Only files of repositories are copied: their checkout costs
 * much more.
 */
#include "run/run_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os.h"
#include "io/workspace_scan.h"
#include "json.h"
#include "lib/mask/mask.h"

enum {
	FILE_MAX = 256 << 10,	/* bytes of a compared file */
	COPY_MAX = 32 << 20,	/* of all copies of a trial */
	DIFF_MAX = 64 << 10,	/* of one file's diff, about */
	DIFFS_MAX = 256 << 10,	/* of all */
	NAMES_MAX = 64 << 10	/* of the lines about files without a diff */
};

/*
 * Whether the agent can change files of its own workspace.  Stored answers and
 * recordings bring their patch with them.
 */
static bool
is_wanted(const struct run_trial *t)
{
	const struct agent *a = t->run->agent;

	return t->ask.dir != NULL && t->ask.req.workspace == t->ask.dir &&
	    !a->kind->replays && (!a->kind->no_files ||
	    agent_needs_workspace(a, t->ask.task));
}

/*
 * The contents before.
 */
/* Reads an input, unless it is newer than its copy in the workspace. */
static bool
read_source(const struct run_trial *t, struct arena *a, const char *from,
    struct str below, struct str *out)
{
	struct stat st;
	struct err e;

	if (from != NULL && below.n > 0)
		from = arena_cstr(a, arena_fmt(a, "%s/%.*s", from,
		    STRF(below)));
	return from != NULL && stat(from, &st) == 0 &&
	    (int64_t)st.st_mtime <= t->ask.started_ns / 1000000000 &&
	    os_read_plain(a, from, FILE_MAX, out, &e) == 0;
}

/* A file fixture is copied to its name, a directory to the top. */
static bool
read_fixture(struct run_trial *t, struct arena *a, struct str path,
    struct str *out)
{
	const struct json *v = json_getc(t->ask.task->def->inputs.context,
	    "fixture");
	const char *from;
	struct stat st;

	if (v == NULL || v->type != JSON_STRING)
		return false;
	from = run_find_input(t, a, json_text(v));
	if (from == NULL || stat(from, &st) == -1)
		return false;
	if (S_ISDIR(st.st_mode))
		return read_source(t, a, from, path, out);
	return (str_eq(json_text(v), path) || str_ends(json_text(v),
	    arena_fmt(a, "/%.*s", STRF(path)))) &&
	    read_source(t, a, from, STR(""), out);
}

/* The input itself, or a file below a directory that is an input. */
static bool
read_input(struct run_trial *t, struct arena *a,
    const struct spec_input_file *f, struct str path, struct str *out)
{
	struct str rest = path;

	if (!str_starts(path, f->path))
		return false;
	rest.p += f->path.n;
	rest.n -= f->path.n;
	if (rest.n > 0 && *rest.p != '/')
		return false;
	if (f->content.n > 0) {
		*out = f->content;
		return rest.n == 0;
	}
	rest.p += rest.n > 0;
	rest.n -= rest.n > 0;
	return read_source(t, a, run_find_input(t, a, f->path), rest, out);
}

/* In reverse order of run_fill_workspace(): a later input wins. */
static bool
before(void *arg, struct arena *a, struct str path, struct str *out)
{
	struct run_trial *t = arg;
	const struct spec_inputs *in = &t->ask.task->def->inputs;
	const struct spec_input_file *files = in->files.v;
	size_t i;

	if (read_fixture(t, a, path, out))
		return true;
	for (i = in->files.n; i > 0; i--)
		if (read_input(t, a, &files[i - 1], path, out))
			return true;
	return false;
}

/*
 * The text.
 */
/* A file's name on one line, as in the diffs. */
static void
put_name(struct buf *b, struct str path)
{
	size_t i;

	for (i = 0; i < path.n; i++)
		buf_putc(b, path.p[i] == '\n' || path.p[i] == '\r' ||
		    path.p[i] == '\t' ? '?' : path.p[i]);
}

static void
put_head(struct buf *b, const struct workspace_change *c)
{
	buf_puts(b, "diff --git a/");
	put_name(b, c->path);
	buf_puts(b, " b/");
	put_name(b, c->path);
	buf_putc(b, '\n');
	if (c->old_mode == 0)
		buf_fmt(b, "new file mode %o\n", c->new_mode);
	else if (c->new_mode == 0)
		buf_fmt(b, "deleted file mode %o\n", c->old_mode);
	else if (c->old_mode != c->new_mode)
		buf_fmt(b, "old mode %o\nnew mode %o\n", c->old_mode,
		    c->new_mode);
}

/* A change without a diff, with the reason. */
static void
put_words(struct buf *b, const struct workspace_change *c)
{
	static const char *const did[] = {
		[WORKSPACE_ADDED] = "was added",
		[WORKSPACE_MODIFIED] = "differs",
		[WORKSPACE_DELETED] = "was removed",
	};
	static const struct {
		const char *no_diff, *what, *why;
	} words[] = {
		{ "mode", NULL, NULL },		/* the head says it */
		{ "binary", "Binary file", "" },
		{ "too large", "File", ", too large for a diff" },
		{ "not kept", "File", ", content before was not kept" },
		{ "too many diffs", "File", ", left out: the patch is too "
		    "long" },
		{ "", "File", ", not compared" },	/* any other */
	};
	size_t i;

	for (i = 0; *words[i].no_diff != '\0' &&
	    strcmp(words[i].no_diff, c->no_diff) != 0; i++)
		;
	if (words[i].what == NULL)
		return;
	buf_fmt(b, "%s ", words[i].what);
	put_name(b, c->path);
	buf_fmt(b, " %s (%lld bytes%s)\n", did[c->kind], (long long)c->size,
	    words[i].why);
}

static void
put_patch(struct buf *b, const struct workspace_scan *scan)
{
	const struct workspace_change *c;
	size_t i, names = 0, at;

	for (i = 0; i < scan->nchanges && names < NAMES_MAX; i++) {
		c = &scan->changes[i];
		at = b->n;
		put_head(b, c);
		if (c->no_diff != NULL)
			put_words(b, c);
		names += b->n - at;
		buf_put(b, c->diff);
	}
	if (i < scan->nchanges)
		buf_fmt(b, "(%zu more changes)\n", scan->nchanges - i);
	if (scan->incomplete != NULL)
		buf_fmt(b, "(incomplete: %s)\n", scan->incomplete);
}

/*
 * The steps.
 */
/* True when the scan is done; false: continue in the next turn. */
static bool
step(struct run_trial *t)
{
	const struct loop *loop = t->run->loop;
	int64_t left = RUN_SLICE_MS - (loop_clock(loop) - loop_now(loop));

	return workspace_scan_step(t->scan, left > 0 ? left : 0);
}

bool
run_patch_scan(struct run_trial *t)
{
	bool copy = t->ask.task->def->inputs.repos.n > 0;

	if (t->scan == NULL && !is_wanted(t))
		return true;
	if (t->scan == NULL)
		t->scan = workspace_scan_new(t->ask.dir,
		    &(struct workspace_scan_opts){ .file_max = FILE_MAX,
		    .copy_max = copy ? COPY_MAX : 0, .diff_max = DIFF_MAX,
		    .diffs_max = DIFFS_MAX, .patch = true, .before = before,
		    .arg = t });
	return step(t);
}

bool
run_patch_make(struct run_trial *t)
{
	struct answer *ans = &t->ask.job.ans;
	struct buf b = { 0 };

	if (t->scan == NULL)
		return true;
	if (!t->scanned)
		workspace_scan_again(t->scan);
	t->scanned = true;
	if (!step(t))
		return false;
	put_patch(&b, t->scan);
	ans->patch = mask_text(&t->ask.arena, run_secrets(t->run),
	    arena_take(&t->ask.arena, &b));
	run_patch_drop(t);
	return true;
}

void
run_patch_drop(struct run_trial *t)
{
	workspace_scan_free(t->scan);
	t->scan = NULL;
	t->scanned = false;
}
