/* SPDX-License-Identifier: ISC */
/*
 * The kind diff: compares files of the workspace with snapshots, byte by byte,
 * and checks for required and forbidden fragments.
 *
 * The file itself is one check, its snapshot is one, and each fragment is one;
 * a missing file fails all of them.
 *
 * To update snapshots, the first trial writes its files and the other trials
 * do not compare.  So the result does not depend on which trial is faster.
 */
#include "grade/grader_internal.h"

#include <errno.h>
#include <string.h>

#include "json.h"
#include "lib/diff.h"
#include "lib/tmpl.h"
#include "lib/unicode.h"
#include "results/answer.h"
#include "suite/spec.h"

enum {
	DIFF_MAX = 1500,	/* bytes of a diff in the details */
	FEEDBACK_MAX = 3000	/* bytes of all diffs in the feedback */
};

struct expected {
	struct str path;		/* in the workspace */
	struct str snapshot;		/* file with the expected content */
	struct field_strs contains;	/* a leading "-" forbids it */
};

struct diff {
	struct field_list expected_files;
	struct str context_dir;
	bool update_snapshots;
};

static const struct field expected_rows[] = {
	FIELD(expected, path, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "file in the workspace"),
	GRADER_KEY(expected, snapshot, FIELD_STR,
	    .values = FIELD_FILES,
	    .help = "file that it must equal"),
	GRADER_KEY(expected, contains, FIELD_STRS,
	    .help = "lines that it contains (+) or does not contain (-)"),
};
static const struct field_table expected_fields =
    FIELD_TABLE(expected, expected_rows);

static const struct field diff_rows[] = {
	FIELD(diff, expected_files, FIELD_OBJECTS, .flags = FIELD_REQUIRED,
	    .sub = &expected_fields,
	    .help = "files and what they must be"),
	GRADER_KEY(diff, context_dir, FIELD_STR,
	    .values = FIELD_FILES,
	    .help = "directory of the snapshots"),
	GRADER_KEY(diff, update_snapshots, FIELD_BOOL,
	    .help = "write the files as new snapshots"),
};
static const struct field_table diff_fields = FIELD_TABLE(diff, diff_rows);

/* The result for one file, for the details. */
struct finding {
	struct str diff;	/* from the snapshot, or empty */
	bool updated;		/* the snapshot was written */
};

/* The state of one grading. */
struct work {
	struct grading *g;
	struct arena *tmp;
	struct grader_tally tally;
	struct grader_snapshot_origin origin;
	struct str error;	/* empty: none */
	struct buf diffs, notes;	/* for the feedback */
	size_t omitted;		/* diffs that are not in the feedback */
	bool update;
};

/* White space as Unicode defines it. */
static bool
is_space(uint32_t c)
{
	return (c >= '\t' && c <= '\r') || c == 0x85 ||
	    unicode_category(c)[0] == 'Z';
}

static struct str
trim_unicode(struct str s)
{
	size_t n, from = 0, to = 0, i;
	uint32_t c;

	for (i = 0; i < s.n; i += n > 0 ? n : 1) {
		n = utf8_get(s.p + i, s.p + s.n, &c);
		if (n > 0 && is_space(c)) {
			if (to == 0)
				from = i + n;
		} else {
			to = i + (n > 0 ? n : 1);
		}
	}
	return (struct str){ s.p + from, to > from ? to - from : 0 };
}

/* A fragment without its sign; *forbid: the file must not contain it. */
static struct str
fragment(struct str s, bool *forbid)
{
	*forbid = s.n > 0 && s.p[0] == '-';
	if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+')) {
		s.p++;
		s.n--;
	}
	return trim_unicode(s);
}

static bool
check_fragment(struct grader_check *c, const struct json *node, struct str s)
{
	bool forbid;

	if (fragment(s, &forbid).n > 0)
		return true;
	grader_note(c, FIELD_WARNING, node,
	    "every file contains an empty fragment");
	return false;
}

static bool
check_snapshot(struct grader_check *c, const struct json *node, struct str s)
{
	const struct json *dir = json_getc(c->spec->config, "context_dir");
	struct grader_snapshot_origin origin = { .suite = c->suite,
		.task = c->task, .file = c->spec->at.file };
	struct str q = grader_quote(c->tmp, s);
	struct grader_snapshot found;

	if (dir != NULL && dir->type == JSON_STRING)
		origin.context_dir = json_text(dir);
	if (tmpl_any(origin.context_dir))
		return true;
	if (grader_snapshot_find(c->tmp, &origin, s, &found) == -1) {
		grader_note(c, FIELD_ERROR, node, "snapshot %.*s is not a path",
		    STRF(q));
		return false;
	}
	if (!spec_allowed(c->notes, spec_at(c->file, node), found.path))
		return false;
	if (found.exists || c->notes->updates)
		return true;
	q = grader_quote(c->tmp, str_of(found.path));
	grader_note(c, FIELD_WARNING, node,
	    "snapshot %.*s is missing; --update-snapshots creates it", STRF(q));
	return false;
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct diff *d = settings;
	const struct expected *x = d->expected_files.v;
	const struct json *v = json_getc(c->spec->config, "expected_files");

	if (d->expected_files.n == 0) {
		grader_note_empty(c);
		return;
	}
	for (v = json_first(v); v != NULL; v = v->next, x++) {
		if (x->snapshot.n + x->contains.n == 0)
			grader_note(c, FIELD_ERROR, v,
			    "\"snapshot\" or \"contains\" is missing");
		grader_check_each(c, v, "path", grader_check_path);
		if (x->snapshot.n > 0 && !d->update_snapshots)
			grader_check_each(c, v, "snapshot", check_snapshot);
		grader_check_each(c, v, "contains", check_fragment);
	}
}

/* Where the first different byte is. */
static struct str
first_difference(struct arena *a, struct str x, struct str y, bool binary)
{
	size_t i, line = 1, col = 1;

	for (i = 0; i < x.n && i < y.n && x.p[i] == y.p[i]; i++) {
		col = x.p[i] == '\n' ? 1 : col + 1;
		line += x.p[i] == '\n';
	}
	if (binary)
		return arena_fmt(a, "at byte %zu", i);
	return arena_fmt(a, "at line %zu, column %zu", line, col);
}

static bool
is_binary(struct str s)
{
	return s.n > 0 && memchr(s.p, '\0', s.n) != NULL;
}

/* A bound of the steps of a diff, for lines of eight bytes. */
static uint64_t
diff_cost(struct str a, struct str b)
{
	uint64_t n = (uint64_t)(a.n / 8 + 1) * (b.n / 8 + 1);

	return 4 * (n < DIFF_WORK_MAX ? n : DIFF_WORK_MAX);
}

/* The shortened, printable diff; sets *n to the number of changed lines. */
static struct str
diff_text(struct work *w, struct str path, const char *snapshot,
    struct str want, struct str have, size_t *n)
{
	struct buf raw = { 0 }, b = { 0 };
	struct diff_opts o = { .context = DIFF_CONTEXT, .max = DIFF_MAX };

	*n = 0;
	if (!budget_take(w->g->budget, diff_cost(want, have)))
		return STR("\n");
	buf_puts(&b, "--- ");
	grader_put_printable(&b, str_of(snapshot), false);
	buf_puts(&b, "\n+++ ");
	grader_put_printable(&b, path, false);
	buf_putc(&b, '\n');
	*n = diff_unified(&raw, want, have, &o);
	grader_put_printable(&b, buf_str(&raw), true);
	buf_free(&raw);
	return arena_take(w->tmp, &b);
}

static void
fail_different(struct work *w, const struct expected *x,
    const struct grader_snapshot *snap, struct str have, struct finding *f)
{
	struct str p = grader_quote(w->tmp, x->path);
	struct str q = grader_quote(w->tmp, str_of(snap->path)), at;
	bool binary = is_binary(have) || is_binary(snap->text);
	size_t n;

	at = first_difference(w->tmp, snap->text, have, binary);
	if (binary) {
		grader_fail(&w->tally, "binary file %.*s differs from snapshot "
		    "%.*s %.*s (%zu bytes, expected %zu)", STRF(p), STRF(q),
		    STRF(at), have.n, snap->text.n);
		return;
	}
	f->diff = diff_text(w, x->path, snap->path, snap->text, have, &n);
	grader_fail(&w->tally, "file %.*s differs from snapshot %.*s %.*s "
	    "(%zu line%s removed or added)", STRF(p), STRF(q), STRF(at), n,
	    n == 1 ? "" : "s");
	if (w->diffs.n + f->diff.n > FEEDBACK_MAX) {
		w->omitted++;
		return;
	}
	buf_putc(&w->diffs, '\n');
	buf_put(&w->diffs, (struct str){ f->diff.p, f->diff.n - 1 });
}

static void
update(struct work *w, const struct grader_snapshot *snap, struct str have,
    struct finding *f)
{
	struct str q = grader_quote(w->tmp, str_of(snap->path));
	struct err e = { 0 };

	if (w->g->in->trial > 1) {
		buf_fmt(&w->notes, "; snapshot %.*s not compared: the first "
		    "trial updates it", STRF(q));
	} else if (grader_snapshot_write(w->tmp, snap, have, &e) == -1) {
		grader_fail(&w->tally, "snapshot %.*s not updated: %s",
		    STRF(q), e.msg);
		return;
	} else {
		f->updated = true;
		buf_fmt(&w->notes, "; snapshot updated: %.*s", STRF(q));
	}
	grader_pass(&w->tally);
}

static void
compare(struct work *w, struct arena *mem, const struct expected *x,
    struct str have, struct finding *f)
{
	struct str q = grader_quote(w->tmp, x->snapshot);
	struct grader_snapshot snap;
	struct err e = { 0 };
	int rc;

	if (grader_snapshot_find(w->tmp, &w->origin, x->snapshot,
	    &snap) == -1) {
		grader_fail(&w->tally, "snapshot %.*s is not a path", STRF(q));
		return;
	}
	q = grader_quote(w->tmp, str_of(snap.path));
	rc = grader_workspace_read(mem, snap.path, &snap.text, w->g->budget,
	    &e);
	if (rc == 0 && str_eq(snap.text, have))
		grader_pass(&w->tally);
	else if (w->update)
		update(w, &snap, have, f);
	else if (rc == 0)
		fail_different(w, x, &snap, have, f);
	else if (e.code == ERR_LIMIT)
		w->error = arena_fmt(w->tmp, "snapshot %.*s is %s", STRF(q),
		    e.msg);
	else if (e.sys == ENOENT)
		grader_fail(&w->tally, "snapshot %.*s is missing; "
		    "--update-snapshots creates it", STRF(q));
	else
		grader_fail(&w->tally, "cannot read snapshot %.*s: %s",
		    STRF(q), e.msg);
}

static void
check_fragment_in(struct work *w, const struct expected *x, struct str text,
    struct str item)
{
	struct str p = grader_quote(w->tmp, x->path), q, part;
	size_t at, i, line = 1;
	bool forbid;

	part = fragment(item, &forbid);
	at = part.n == 0 ? SIZE_MAX : grader_search(w->tmp, text, part);
	q = grader_quote(w->tmp, part);
	for (i = 0; at != SIZE_MAX && i < at; i++)
		line += text.p[i] == '\n';
	if (part.n == 0 || forbid == (at == SIZE_MAX))
		grader_pass(&w->tally);
	else if (forbid)
		grader_fail(&w->tally, "unwanted %.*s in file %.*s, line %zu",
		    STRF(q), STRF(p), line);
	else
		grader_fail(&w->tally, "missing %.*s in file %.*s (%zu bytes)",
		    STRF(q), STRF(p), text.n);
}

/* A file that cannot be read fails all its checks. */
static void
fail_unread(struct work *w, const struct expected *x, const struct err *e)
{
	struct str file = grader_quote(w->tmp, x->path), q;
	size_t i;

	if (e->sys == ENOENT || e->sys == ENOTDIR)
		grader_fail(&w->tally, "missing file %.*s", STRF(file));
	else
		grader_fail(&w->tally, "cannot read file %.*s: %s", STRF(file),
		    e->msg);
	q = grader_quote(w->tmp, x->snapshot);
	if (x->snapshot.n > 0)
		grader_fail(&w->tally, "snapshot %.*s: file %.*s cannot be "
		    "read", STRF(q), STRF(file));
	for (i = 0; i < x->contains.n; i++) {
		q = grader_quote(w->tmp, x->contains.v[i]);
		grader_fail(&w->tally, "fragment %.*s: file %.*s cannot be "
		    "read", STRF(q), STRF(file));
	}
}

static void
check_file(struct work *w, const struct expected *x, struct finding *f)
{
	struct str q = grader_quote(w->tmp, x->path), text;
	const char *full = grader_workspace_path(w->tmp, w->g->in->workspace,
	    x->path, &w->error);
	struct arena mem = { 0 };	/* for files, which can be large */
	struct err e = { 0 };
	size_t i;

	if (full == NULL)
		return;
	if (grader_workspace_read(&mem, full, &text, w->g->budget,
	    &e) == 0) {
		grader_pass(&w->tally);
		if (x->snapshot.n > 0)
			compare(w, &mem, x, text, f);
		for (i = 0; i < x->contains.n; i++)
			check_fragment_in(w, x, text, x->contains.v[i]);
	} else if (w->g->in->answer->few_files) {
		w->error = grader_left_out(w->tmp, x->path);
	} else if (e.code == ERR_LIMIT) {
		w->error = arena_fmt(w->tmp, "file %.*s is %s", STRF(q), e.msg);
	} else
		fail_unread(w, x, &e);
	arena_free(&mem);
}

static struct str
details(struct work *w, const struct diff *d, const struct finding *f)
{
	const struct expected *x = d->expected_files.v;
	const char *dir = w->g->in->workspace;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	size_t i;

	json_open(&o, '{');
	json_open_member(&o, "expected_files", '[');
	for (i = 0; i < d->expected_files.n; i++) {
		json_open(&o, '{');
		json_put_member_str(&o, "path", x[i].path);
		json_put_member_nonempty(&o, "snapshot", x[i].snapshot);
		if (x[i].contains.n > 0)
			grader_put_strs(&o, "contains", &x[i].contains);
		json_put_member_nonempty(&o, "diff", f[i].diff);
		if (f[i].updated)
			json_put_member_bool(&o, "updated", true);
		json_close(&o, '}');
	}
	json_close(&o, ']');
	grader_put_failures(&o, &w->tally);
	json_put_member_cstr(&o, "workspace_dir", dir != NULL ? dir : "");
	json_close(&o, '}');
	return arena_take(w->g->arena, &b);
}

/* The feedback: failures, updated snapshots, and diffs below. */
static void
conclude(struct work *w)
{
	struct verdict *v = &w->g->out;
	struct buf b = { 0 };

	grader_conclude(w->tmp, v, &w->tally, "all files are as expected");
	buf_put(&b, v->feedback);
	buf_put(&b, buf_str(&w->notes));
	buf_put(&b, buf_str(&w->diffs));
	if (w->omitted > 0)
		buf_fmt(&b, "\n(%zu more diff%s in the details)", w->omitted,
		    w->omitted == 1 ? "" : "s");
	v->feedback = arena_take(w->g->arena, &b);
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct diff *d = settings;
	const struct grader_input *in = g->in;
	const struct expected *x = d->expected_files.v;
	struct finding *f = NEW_N(tmp, struct finding, d->expected_files.n);
	struct work w = { .g = g, .tmp = tmp, .tally = { .arena = tmp } };
	const char *why;
	size_t i;

	w.origin = (struct grader_snapshot_origin){ in->suite, in->task,
		g->spec->at.file, d->context_dir };
	w.update = (d->update_snapshots || in->update_snapshots) &&
	    !in->no_skills && !in->grader_failed;
	if (w.update)
		g->budget = NULL;	/* written files cannot be undone */
	if (in->workspace == NULL)
		grader_fail(&w.tally, "the trial has no workspace");
	else if ((why = grader_workspace_problem(in->workspace)) != NULL)
		return grader_error(g, "%s", why);
	else
		for (i = 0; i < d->expected_files.n && w.error.n == 0; i++)
			check_file(&w, &x[i], &f[i]);
	if (w.error.n > 0) {
		grader_error(g, "%.*s", STRF(w.error));
	} else {
		conclude(&w);
		g->out.details = details(&w, d, f);
	}
	buf_free(&w.diffs);
	buf_free(&w.notes);
	return GRADER_DONE;
}

const struct grader_kind grader_diff = {
	.name = "diff", .fields = &diff_fields,
	.flags = GRADER_WORKSPACE, .check = check, .start = start,
};
