/* SPDX-License-Identifier: ISC */
/*
 * The kind program: an external program grades the answer.
 *
 * The program gets the output on standard input and the workspace in its
 * environment.  Exit status 0 passes, another one fails.  A program that was
 * killed, timed out, or could not be started gave no verdict: that is an error.
 * So are the statuses 126 and 127, by which shells, env(1) and others report
 * that the command itself was not run.
 *
 * The working directory is waza's, as in the original.  A program named by a
 * path, and the script of an interpreter, may also be beside the file that
 * names them.  Other arguments are passed unchanged: they may name files of
 * the workspace.
 */
#include "grade/grader_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os_spawn.h"
#include "json.h"
#include "results/answer.h"
#include "suite/spec.h"

enum {
	STREAM_MAX = 64 << 10,	/* bytes kept of each stream, */
	SHOWN_MAX = 60 << 10,	/* and of those in the feedback */
	TIMEOUT_MAX = 24 * 3600,	/* seconds */
	CANNOT_RUN = 126, NOT_FOUND = 127	/* statuses of POSIX shells */
};

struct program {
	struct str command;
	struct field_strs args;
	double timeout;
};

static const struct field program_rows[] = {
	FIELD(program, command, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "program that gets the answer on its stdin; status 0 passes"),
	GRADER_KEY(program, args, FIELD_STRS,
	    .help = "arguments of the program"),
	FIELD(program, timeout, FIELD_NUM, .alias = "timeout_seconds",
	    .help = "time limit in seconds"),
};
static const struct field_table program_fields =
    FIELD_TABLE(program, program_rows);

struct state {
	struct grader_child child;
	struct grading *g;
	struct program set;
};

/* Where files are looked up: beside the grader's file, beside the suite. */
static void
beside(struct arena *a, const char *file, const struct spec_suite *s,
    const char *dirs[2])
{
	dirs[0] = spec_dir_of(a, file);
	dirs[1] = s->dir;
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct program *p = settings;
	const char *dirs[2], *why;

	beside(c->tmp, c->file, c->suite, dirs);
	why = spec_missing_program(c->tmp, dirs, COUNTOF(dirs), p->command);
	if (why != NULL)
		grader_note(c, FIELD_WARNING, json_getc(c->spec->config,
		    "command"), "%s", why);
	if (p->command.n == 0)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "command"), "\"command\" is empty: name a program");
	if (p->timeout > (double)TIMEOUT_MAX)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "timeout"), "\"timeout\" must be at most %d seconds",
		    TIMEOUT_MAX);
}

/* Finds a file beside the grader's file or beside the suite, else as named. */
static const char *
find_file(struct grading *g, struct str s)
{
	const char *dirs[2], *path;

	beside(g->arena, g->spec->at.file, g->in->suite, dirs);
	path = spec_script(g->arena, dirs, COUNTOF(dirs), s);
	return path != NULL ? path : arena_cstr(g->arena, s);
}

static const char **
command_line(struct grading *g, const struct program *p)
{
	const char **argv = NEW_N(g->arena, const char *, p->args.n + 2);
	bool script = spec_is_interpreter(p->command);
	size_t i;

	argv[0] = memchr(p->command.p, '/', p->command.n) != NULL ?
	    find_file(g, p->command) : arena_cstr(g->arena, p->command);
	if (argv[0] == NULL)
		return NULL;
	for (i = 0; i < p->args.n; i++) {
		argv[i + 1] = script && i == 0 ? find_file(g, p->args.v[i]) :
		    arena_cstr(g->arena, p->args.v[i]);
		if (argv[i + 1] == NULL)
			return NULL;
	}
	return argv;
}

static const char **
environment(struct grading *g)
{
	const char *dir = g->in->workspace != NULL ? g->in->workspace : "";
	struct str id = g->in->task->id;
	const char *set[3];

	if (memchr(id.p, '\0', id.n) != NULL)
		id = STR("");
	set[0] = arena_fmt(g->arena, "WAZA_WORKSPACE_DIR=%s", dir).p;
	set[1] = arena_fmt(g->arena, "WAZA_WORKSPACE=%s", dir).p;
	set[2] = arena_fmt(g->arena, "WAZA_TASK_ID=%.*s", STRF(id)).p;
	return os_env(g->arena, set, COUNTOF(set));
}

static struct str
details(struct state *s, struct str out, struct str err, struct str failed)
{
	struct grading *g = s->g;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "command", s->set.command);
	grader_put_strs(&o, "args", &s->set.args);
	json_put_member_str(&o, "stdout", out);
	json_put_member_str(&o, "stderr", err);
	json_put_member_str(&o, "workspace_dir",
	    str_of(g->in->workspace != NULL ? g->in->workspace : ""));
	json_put_member_nonempty(&o, "exit_error", failed);
	json_close(&o, '}');
	return arena_take(g->arena, &b);
}

/* Whether the way the program ended is a verdict on the answer. */
static bool
is_verdict(const struct proc_result *r)
{
	return !r->timed_out && r->signo == 0 && r->status != CANNOT_RUN &&
	    r->status != NOT_FOUND;
}

/* A stream for the feedback; the end of a long one is counted. */
static struct str
shown_of(struct arena *a, const struct proc_pipe *p)
{
	struct str all = str_trim(buf_str(&p->buf));
	struct str s = utf8_cut(all, SHOWN_MAX);

	if (s.n == all.n && p->total == p->buf.n)
		return arena_str(a, s);
	return arena_fmt(a, "%.*s... (%llu more bytes)", STRF(s),
	    (unsigned long long)(p->total - s.n));
}

static void
judge(void *arg)
{
	struct state *s = arg;
	struct grading *g = s->g;
	struct verdict *v = &g->out;
	const struct proc_result *r = &s->child.proc.res;
	struct str out = str_trim(buf_str(&s->child.proc.out.buf));
	struct str err = str_trim(buf_str(&s->child.proc.err.buf));
	struct str failed = STR(""), shown;

	v->passed = is_verdict(r) && r->status == 0;
	v->score = v->passed ? 1 : 0;
	if (!v->passed)
		failed = grader_child_failure(&s->child);
	v->details = details(s, out, err, failed);
	shown = shown_of(g->arena, !v->passed && err.n > 0 ?
	    &s->child.proc.err : &s->child.proc.out);
	if (v->passed)
		v->feedback = out.n > 0 ? shown :
		    STR("program exited with status 0");
	else if (shown.n > 0)
		v->feedback = arena_fmt(g->arena, "%.*s; %s: %.*s",
		    STRF(failed), err.n > 0 ? "stderr" : "stdout", STRF(shown));
	else
		v->feedback = failed;
	if (!is_verdict(r))
		grader_error(g, "program %.*s: %.*s", STRF(s->set.command),
		    STRF(v->feedback));
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	struct state *s = NEW(g->arena, struct state);
	struct proc_opts o = { .in = g->in->answer->output,
		.out_max = STREAM_MAX, .err_max = STREAM_MAX };
	struct err e = { 0 };

	(void)tmp;		/* is g->arena */
	if (g->in->no_programs)
		return grader_skip(g, "not run: it starts a program");
	if (g->in->answer->few_files)
		return grader_error(g, "cannot be checked: not all files of "
		    "the workspace are recorded");
	s->g = g;
	s->set = *(const struct program *)settings;
	s->child = (struct grader_child){ .g = g, .judge = judge, .arg = s,
		.seconds = grader_child_seconds(s->set.timeout, TIMEOUT_MAX,
		g->in->suite->program_timeout) };
	o.argv = command_line(g, &s->set);
	if (o.argv == NULL)
		return grader_error(g,
		    "command or argument contains a NUL byte");
	o.env = environment(g);
	if (grader_child_start(&s->child, &o, &e) != 0)
		return grader_error(g, "%s", e.msg);
	return GRADER_LATER;
}

const struct grader_kind grader_program = {
	.name = "program", .fields = &program_fields,
	.flags = GRADER_WORKSPACE, .check = check, .start = start,
	.cancel = grader_child_cancel,
};
