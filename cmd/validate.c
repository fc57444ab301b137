/* SPDX-License-Identifier: ISC */
/*
 * waza validate: reports all problems in suites, without running anything.
 * With --controls it also tries answers that graders should not accept; then
 * graders that only compute are run, and programs only if that is asked for.
 *
 * Findings are data and go to stdout, one per line, in the order of files and
 * lines.
 */
#include "waza.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agent/agent.h"
#include "cmd/run/control.h"
#include "cmd/workspace.h"
#include "grader.h"
#include "json.h"
#include "report/report.h"
#include "suite/spec.h"

enum { REPEATS_SEARCHED = 64 };	/* findings before each */

struct validate_opt {
	bool strict, trust, controls, programs;
	const char *format;
};
static const struct opt validate_rows[] = {
	CMD_OPT(validate_opt, strict, OPT_FLAG, .name = "strict",
	    .help = "treat warnings and unknown keys as errors"),
	CMD_OPT(validate_opt, controls, OPT_FLAG, .name = "controls",
	    .help = "find tasks that pass although the agent does nothing"),
	CMD_OPT(validate_opt, programs, OPT_FLAG, .name = "run-programs",
	    .help = "with --controls: run the suite's hooks and programs"),
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
	bool tries;		/* controls */
	struct cmd_controls controls;
};

static void
add_finding(struct validation *v, const char *file,
    const struct spec_note *note)
{
	struct finding f = { note, file, v->findings.n / sizeof(f), 0 };

	buf_put(&v->findings, (struct str){ (const char *)&f, sizeof(f) });
}

/* What the controls show is noted after the verdict on the suite. */
static int
try_controls(struct validation *v, const char *path,
    const struct spec_suite *s, struct spec_notes *notes)
{
	struct cmd_controls *c = &v->controls, before = *c;

	if (cmd_controls_try(c, s, notes) == -1)
		return -1;
	buf_fmt(&v->ok, "%s: controls: %zu of %zu task%s vacuous, %zu "
	    "unknown", path, c->vacuous - before.vacuous, s->ntasks,
	    s->ntasks == 1 ? "" : "s", c->unknown - before.unknown);
	if (c->accepting > before.accepting)
		buf_fmt(&v->ok, ", %zu with another control",
		    c->accepting - before.accepting);
	buf_fmt(&v->ok, "\n%.*s", STRF(buf_str(&c->unknowns)));
	return 0;
}

/* Only a run of recorded answers can try this control. */
static void
check_mutate(const struct spec_suite *s, struct spec_notes *notes)
{
	const struct spec_controls *list = &s->config.controls;
	const struct agent_kind *k = agent_find(s->config.executor);
	size_t i;

	for (i = 0; i < list->n && (k == NULL || !k->replays); i++)
		if (list->v[i].kind == SPEC_CONTROL_MUTATE) {
			spec_note(notes, FIELD_WARNING, s->config.executor_at,
			    "control \"mutate\" alters recorded answers: the "
			    "suite runs only with --replay DIR");
			return;
		}
}

static int
validate_file(struct validation *v, const char *path)
{
	struct spec_notes notes = { .arena = v->call->arena,
		.strict = v->strict, .trust = v->trust };
	const struct spec_note *n;
	struct spec_suite *s;
	bool bad;

	agent_expect(&notes, STR(""));
	s = spec_load_part(v->call->arena, path, &notes);
	if (s != NULL) {
		cmd_settings(v->call, NULL, NULL, s, &notes);
		agent_check_all(s, &notes);
		grader_check(s, &notes);
		agent_check_files(s, &notes);
		check_mutate(s, &notes);
	}
	bad = s == NULL || notes.errors > 0 ||
	    (v->strict && notes.warnings > 0);
	if (!bad)
		buf_fmt(&v->ok, "%s: ok (%zu task%s)\n", path, s->ntasks,
		    s->ntasks == 1 ? "" : "s");
	v->invalid |= bad;
	if (v->tries && s != NULL && notes.errors == 0 &&
	    try_controls(v, path, s, &notes) == -1)
		return -1;
	add_finding(v, arena_cstr(v->call->arena, str_of(path)), NULL);
	for (n = notes.head; n != NULL; n = n->next)
		add_finding(v, n->at.file, n);
	return 0;
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
		    "%s: no suite found; create one with: "
		    "waza new eval NAME", path);
	for (i = 0; i < found.n; i++)
		if (validate_file(v, found.v[i].p) == -1)
			return -1;
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
put_findings_json(struct buf *out, const struct finding *f, size_t n,
    const struct validation *of)
{
	struct json_out o = { .put = buf_sink, .ctx = out, .indent = 2 };
	size_t i, k;

	json_open(&o, '{');
	json_put_member_bool(&o, "valid", !of->invalid);
	if (of->tries) {
		json_open_member(&o, "controls", '{');
		json_put_member_int(&o, "tasks", (int64_t)of->controls.tasks);
		json_put_member_int(&o, "vacuous",
		    (int64_t)of->controls.vacuous);
		json_put_member_int(&o, "other",
		    (int64_t)of->controls.accepting);
		json_put_member_int(&o, "unknown",
		    (int64_t)of->controls.unknown);
		json_close(&o, '}');
	}
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

static void
put_findings(struct buf *out, const struct finding *f, size_t n)
{
	struct report_sources src;
	const struct spec_where *at;
	size_t i;

	report_sources_init(&src, STDOUT_FILENO);
	for (i = 0; i < n; i++) {
		if (f[i].note == NULL)
			continue;
		at = &f[i].note->at;
		spec_note_put(out, f[i].note);
		report_source(&src, out, at->file, (struct report_place){
		    at->line, at->col, 0 });
	}
	report_sources_end(&src);
}

static int
validate_all(struct validation *v)
{
	struct cmd_call *c = v->call;
	size_t i;

	if (v->tries && cmd_controls_open(&v->controls) == -1)
		return -1;
	for (i = 0; i < (c->nargs > 0 ? c->nargs : 1); i++)
		if (validate_path(v, c->nargs > 0 ? c->args[i] : ".") == -1)
			return -1;
	return 0;
}

static void
put_all(struct validation *v, bool json, struct buf *out)
{
	struct finding *f = (struct finding *)(void *)v->findings.p;
	size_t n = v->findings.n / sizeof(*f);

	sort_findings(f, n);
	n = drop_repeats(f, n);
	if (json) {
		put_findings_json(out, f, n, v);
		return;
	}
	put_findings(out, f, n);
	buf_put(out, buf_str(&v->ok));
}

static int
validate_main(struct cmd_call *c)
{
	const struct validate_opt *opt = c->opt;
	struct validation v = { .call = c, .strict = opt->strict,
		.trust = opt->trust, .tries = opt->controls,
		.controls = { .call = c, .programs = opt->programs } };
	struct buf out = { 0 };
	int json = cmd_choose_json(opt->format, c->err), status = CMD_OK;

	if (json != -1 && opt->programs && !opt->controls)
		json = err_set(c->err, ERR_SCHEMA, "--run-programs needs "
		    "--controls");
	if (json == -1 || validate_all(&v) == -1)
		status = cmd_complain(c->err);
	else {
		put_all(&v, json == 1, &out);
		status = v.invalid ? CMD_ERROR : v.strict &&
		    v.controls.vacuous + v.controls.accepting > 0 ?
		    CMD_FAILED : CMD_OK;
	}
	buf_free(&v.findings);
	buf_free(&v.ok);
	cmd_controls_close(&v.controls);
	c->form = json == 1 ? GUARD_JSON : GUARD_PLAIN;
	return cmd_finish(c, &out, status);
}

const struct cmd_command cmd_validate = {
	.name = "validate", .group = CMD_SUITES,
	.usage = "[--strict] [--controls [--run-programs]] [--format text|json] "
	    "[--trust] [PATH|SKILL ...]",
	.opts = CMD_OPTS(validate_rows), .size = sizeof(struct validate_opt),
	.max = SIZE_MAX, .fn = validate_main,
	.help = "Report all problems in suites"
};
