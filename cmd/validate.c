/* SPDX-License-Identifier: ISC */
/*
 * waza validate: reports all problems in suites, without running anything.
 *
 * Findings are data and go to stdout, one per line, in the order of files and
 * lines.
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent.h"
#include "cmd/workspace.h"
#include "grader.h"
#include "json.h"
#include "suite/spec.h"

enum { REPEATS_SEARCHED = 64 };	/* findings before each */

struct validate_opt {
	bool strict, trust;
	const char *format;
};
static const struct opt validate_rows[] = {
	CMD_OPT(validate_opt, strict, OPT_FLAG, .name = "strict",
	    .help = "treat warnings and unknown keys as errors"),
	CMD_OPT(validate_opt, format, OPT_STR, .name = "format",
	    .value = "text|json", .help = "output format (default: text)"),
	CMD_TRUST_OPT(validate_opt, trust),
};

/* A note about a file, or a suite that was read. */
struct finding {
	const struct spec_note *note;	/* NULL: the suite itself */
	const char *file;
	size_t seq, group;	/* order of discovery; its file's first */
};

struct validation {
	struct cmd_call *call;
	bool strict, trust;
	struct buf findings;	/* of struct finding */
	struct buf ok;		/* lines about valid suites */
	bool invalid;
};

static void
add_finding(struct validation *v, const char *file,
    const struct spec_note *note)
{
	struct finding f = { note, file, v->findings.n / sizeof(f), 0 };

	buf_put(&v->findings, (struct str){ (const char *)&f, sizeof(f) });
}

static void
validate_file(struct validation *v, const char *path)
{
	struct spec_notes notes = { .arena = v->call->arena,
		.strict = v->strict, .trust = v->trust };
	const struct spec_note *n;
	struct spec_suite *s;

	agent_expect(&notes, STR(""));
	s = spec_load_part(v->call->arena, path, &notes);
	if (s != NULL) {
		agent_check(s, s->config.executor, &notes);
		grader_check(s, &notes);
	}
	add_finding(v, arena_cstr(v->call->arena, str_of(path)), NULL);
	for (n = notes.head; n != NULL; n = n->next)
		add_finding(v, n->at.file, n);
	if (notes.errors > 0 || (v->strict && notes.warnings > 0))
		v->invalid = true;
	else if (s != NULL)
		buf_fmt(&v->ok, "%s: ok (%zu task%s)\n", path, s->ntasks,
		    s->ntasks == 1 ? "" : "s");
}

static int
validate_path(struct validation *v, const char *path)
{
	struct cmd_find how = { .trust = v->trust };
	struct field_strs found;
	size_t i;

	if (cmd_list_suites(v->call, &how, path, &found) == -1)
		return -1;
	if (found.n == 0)
		return err_set(v->call->err, ERR_SCHEMA,
		    "%s: no eval.yaml found in or below it", path);
	for (i = 0; i < found.n; i++)
		validate_file(v, found.v[i].p);
	return 0;
}

static int
by_file(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	int r = strcmp(x->file, y->file);

	return r != 0 ? r : x->seq < y->seq ? -1 : 1;
}

static int
by_place(const void *a, const void *b)
{
	const struct finding *x = a, *y = b;
	const struct spec_note *m = x->note, *n = y->note;

	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	if (m == NULL || n == NULL)
		return m != NULL ? 1 : n != NULL ? -1 :
		    x->seq < y->seq ? -1 : 1;
	if (m->at.line != n->at.line)
		return m->at.line < n->at.line ? -1 : 1;
	if (m->at.col != n->at.col)
		return m->at.col < n->at.col ? -1 : 1;
	return x->seq < y->seq ? -1 : 1;
}

/* Files in the order in which they were read, and lines within a file. */
static void
sort_findings(struct finding *f, size_t n)
{
	size_t i;

	qsort(f, n, sizeof(*f), by_file);
	for (i = 0; i < n; i++)
		f[i].group = i > 0 && strcmp(f[i].file, f[i - 1].file) == 0 ?
		    f[i - 1].group : f[i].seq;
	qsort(f, n, sizeof(*f), by_place);
}

static bool
is_same(const struct finding *a, const struct finding *b)
{
	const struct spec_note *m = a->note, *n = b->note;

	return m != NULL && n != NULL && a->group == b->group &&
	    m->at.line == n->at.line && m->at.col == n->at.col &&
	    m->level == n->level && strcmp(m->msg, n->msg) == 0;
}

/*
 * Removes findings that several suites share, such as those about the
 * project's file; the number of the others.
 */
static size_t
drop_repeats(struct finding *f, size_t n)
{
	size_t i, k, kept = 0;

	for (i = 0; i < n; i++) {
		for (k = kept; k > 0 && kept - k < REPEATS_SEARCHED &&
		    f[k - 1].group == f[i].group; k--)
			if (is_same(&f[k - 1], &f[i]))
				break;
		if (k == 0 || !is_same(&f[k - 1], &f[i]))
			f[kept++] = f[i];
	}
	return kept;
}

static void
put_note(struct json_out *o, const struct spec_note *n)
{
	json_open(o, '{');
	json_put_member_int(o, "line", n->at.line);
	json_put_member_int(o, "col", n->at.col);
	json_put_member_cstr(o, "message", n->msg);
	if (n->key.n > 0)
		json_put_member_str(o, "key", n->key);
	json_close(o, '}');
}

static void
put_level(struct json_out *o, const char *key, enum field_level level,
    const struct finding *f, size_t n)
{
	size_t i;

	json_open_member(o, key, '[');
	for (i = 0; i < n; i++)
		if (f[i].note != NULL && f[i].note->level == level)
			put_note(o, f[i].note);
	json_close(o, ']');
}

static void
put_findings_json(struct buf *out, const struct finding *f, size_t n, bool ok)
{
	struct json_out o = { .put = buf_sink, .ctx = out, .indent = 2 };
	size_t i, k;

	json_open(&o, '{');
	json_put_member_bool(&o, "valid", ok);
	json_open_member(&o, "files", '[');
	for (i = 0; i < n; i = k) {
		for (k = i; k < n && f[k].group == f[i].group; k++)
			;
		json_open(&o, '{');
		json_put_member_cstr(&o, "path", f[i].file);
		put_level(&o, "errors", FIELD_ERROR, f + i, k - i);
		put_level(&o, "warnings", FIELD_WARNING, f + i, k - i);
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(out, '\n');
}

static int
validate_main(struct cmd_call *c)
{
	const struct validate_opt *opt = c->opt;
	struct validation v = { .call = c, .strict = opt->strict,
		.trust = opt->trust };
	struct buf out = { 0 };
	struct finding *f;
	int json = cmd_choose_json(opt->format, c->err);
	size_t i, n;

	if (json == -1)
		return cmd_complain(c->err);
	for (i = 0; i < (c->nargs > 0 ? c->nargs : 1); i++)
		if (validate_path(&v, c->nargs > 0 ? c->args[i] : ".") == -1) {
			buf_free(&v.findings);
			buf_free(&v.ok);
			return cmd_complain(c->err);
		}
	f = (struct finding *)(void *)v.findings.p;
	n = v.findings.n / sizeof(*f);
	sort_findings(f, n);
	n = drop_repeats(f, n);
	if (json)
		put_findings_json(&out, f, n, !v.invalid);
	else {
		for (i = 0; i < n; i++)
			if (f[i].note != NULL)
				spec_note_put(&out, f[i].note);
		buf_put(&out, buf_str(&v.ok));
	}
	buf_free(&v.findings);
	buf_free(&v.ok);
	c->form = json ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(c, &out, v.invalid ? CMD_ERROR : CMD_OK);
}

const struct cmd_command cmd_validate = {
	.name = "validate", .group = CMD_SUITES,
	.usage = "[--strict] [--format text|json] [--trust] "
	    "[PATH|SKILL ...]",
	.opts = CMD_OPTS(validate_rows), .size = sizeof(struct validate_opt),
	.max = SIZE_MAX, .fn = validate_main,
	.help = "Report all problems in suites"
};
