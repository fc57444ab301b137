/* SPDX-License-Identifier: ISC */
/*
 * The kind program: somebody else's program looks at the answer.
 *
 * It gets the output on its standard input and the workspace by name in its
 * environment, and says by its exit status whether the answer is good.  What
 * cannot be started has not judged, so that is an error; whatever ends badly
 * after that is a verdict.
 *
 * It is run where we run, as the original does.  The program, when it is
 * named by a path, and the script that an interpreter is to run, may also
 * stand beside the file that names them.  Other arguments are passed as they
 * are: they may well name files of the workspace.
 */
#include "grade/grader_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "base/os_spawn.h"
#include "io/proc.h"
#include "json.h"
#include "suite/spec.h"

enum {
	KEPT_MAX = 64 << 10,	/* bytes of each stream that are kept */
	TIMEOUT = 30,		/* seconds, unless settings say otherwise */
	TIMEOUT_MAX = 24 * 3600
};

struct program {
	struct str command;
	struct field_strs args;
	double timeout;
};

static const struct field program_rows[] = {
	FIELD(program, command, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "program, by path or by name"),
	FIELD(program, args, FIELD_STRS, .help = "its arguments"),
	FIELD(program, timeout, FIELD_NUM, .alias = "timeout_seconds",
	    .help = "seconds it may take"),
};
static const struct field_table program_fields =
    FIELD_TABLE(program, program_rows);

struct state {
	struct proc proc;
	struct grading *g;
	struct program set;
	double seconds;
};

static void
check(struct grader_check *c, const void *settings)
{
	const struct program *p = settings;

	if (p->command.n == 0)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "command"), "\"command\" is empty");
	if (p->timeout > TIMEOUT_MAX)
		grader_note(c, FIELD_ERROR, json_getc(c->spec->config,
		    "timeout"), "\"timeout\" is more than a day");
}

static bool
is_file(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* The directory of the file that the grader stands in. */
static struct str
home(const struct grading *g)
{
	const char *file = g->spec->at.file, *slash;

	if (file == NULL || (slash = strrchr(file, '/')) == NULL)
		return STR(".");
	return (struct str){ file, slash == file ? 1 : (size_t)(slash - file) };
}

/* A path as it is to be used: beside the grader's file, the suite, or here. */
static const char *
path(struct grading *g, struct str s)
{
	const char *plain = arena_cstr(g->arena, s), *beside;
	struct str dirs[2];
	size_t i;

	if (plain == NULL || s.n == 0 || s.p[0] == '-' || s.p[0] == '/')
		return plain;
	dirs[0] = home(g);
	dirs[1] = str_of(g->in->suite->dir);
	for (i = 0; i < COUNTOF(dirs); i++) {
		beside = arena_fmt(g->arena, "%.*s/%s", STRF(dirs[i]), plain).p;
		if (is_file(beside))
			return beside;
	}
	return plain;
}

static bool
runs_scripts(struct str command)
{
	static const char *const names[] = { "bash", "bun", "dash", "deno",
		"ksh", "node", "perl", "php", "pwsh", "python", "python3",
		"ruby", "sh", "zsh" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (str_is(command, names[i]))
			return true;
	return false;
}

static const char **
command_line(struct grading *g, const struct program *p)
{
	const char **argv = NEW_N(g->arena, const char *, p->args.n + 2);
	bool script = runs_scripts(p->command);
	size_t i;

	argv[0] = memchr(p->command.p, '/', p->command.n) != NULL ?
	    path(g, p->command) : arena_cstr(g->arena, p->command);
	if (argv[0] == NULL)
		return NULL;
	for (i = 0; i < p->args.n; i++) {
		argv[i + 1] = script && i == 0 ? path(g, p->args.v[i]) :
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

static bool
blank(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && blank(s.p[s.n - 1]))
		s.n--;
	while (s.n > 0 && blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	return s;
}

/* What was wrong, in the original's words where it has some. */
static struct str
failure(struct state *s)
{
	const struct proc_result *r = &s->proc.res;

	if (r->timed_out)
		return arena_fmt(s->g->arena, "timed out after %g s",
		    s->seconds);
	if (r->signo != 0)
		return arena_fmt(s->g->arena, "killed by signal %d", r->signo);
	return arena_fmt(s->g->arena, "exit status %d", r->status);
}

static struct str
details(struct state *s, struct str out, struct str err, struct str failed)
{
	struct grading *g = s->g;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	grader_put_text(&o, "command", s->set.command);
	grader_put_strs(&o, "args", &s->set.args);
	grader_put_text(&o, "stdout", out);
	grader_put_text(&o, "stderr", err);
	grader_put_text(&o, "workspace_dir",
	    str_of(g->in->workspace != NULL ? g->in->workspace : ""));
	if (failed.n > 0)
		grader_put_text(&o, "exit_error", failed);
	json_close(&o, '}');
	return grader_take(g->arena, &b);
}

/* Enough for people; the details have more. */
static struct str
shorten(struct arena *a, struct str s)
{
	enum { HEAD = 1000 };
	size_t n = HEAD;

	if (s.n <= HEAD)
		return arena_str(a, s);
	while (n > HEAD - 3 && ((unsigned char)s.p[n] & 0xC0) == 0x80)
		n--;
	return arena_fmt(a, "%.*s...", (int)n, s.p);
}

static void
judge(struct state *s)
{
	struct grading *g = s->g;
	struct verdict *v = &g->out;
	struct str out = trim(buf_str(&s->proc.out.buf));
	struct str err = trim(buf_str(&s->proc.err.buf)), failed = STR("");
	struct str brief = shorten(g->arena, err.n > 0 ? err : out);

	v->passed = !s->proc.res.timed_out && s->proc.res.status == 0;
	v->score = v->passed ? 1 : 0;
	if (!v->passed)
		failed = failure(s);
	v->details = details(s, out, err, failed);
	if (v->passed)
		v->feedback = out.n > 0 ? shorten(g->arena, out) :
		    STR("the program is content");
	else if (brief.n > 0)
		v->feedback = arena_fmt(g->arena, "%.*s; %s: %.*s",
		    STRF(failed), err.n > 0 ? "stderr" : "stdout", STRF(brief));
	else
		v->feedback = failed;
}

static void
ended(void *arg)
{
	struct state *s = arg;
	struct grading *g = s->g;

	g->out.duration_ms = s->proc.res.duration_ms;
	if (s->proc.res.cancelled)
		grader_error(g, "cancelled");
	else
		judge(s);
	proc_fini(&s->proc);
	g->state = NULL;
	g->done(g->arg);
}

static double
seconds(const struct grading *g, const struct program *p)
{
	if (p->timeout > 0)
		return p->timeout < TIMEOUT_MAX ? p->timeout : TIMEOUT_MAX;
	return g->in->suite->program_timeout > 0 ?
	    (double)g->in->suite->program_timeout : TIMEOUT;
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	struct state *s = NEW(g->arena, struct state);
	struct proc_opts o = { .in = g->in->answer->output,
		.out_max = KEPT_MAX, .err_max = KEPT_MAX,
		.done = ended, .arg = s };
	struct err e = { 0 };

	(void)tmp;		/* is g->arena */
	s->g = g;
	s->set = *(const struct program *)settings;
	s->seconds = seconds(g, &s->set);
	o.timeout_ms = (int64_t)(s->seconds * 1000) + 1;
	o.argv = command_line(g, &s->set);
	if (o.argv == NULL)
		return grader_error(g, "command or argument with a NUL byte");
	o.env = environment(g);
	if (proc_start(g->in->procs, &s->proc, &o, &e) != 0)
		return grader_error(g, "%s", e.msg);
	g->state = s;
	return GRADER_LATER;
}

static void
cancel(struct grading *g)
{
	struct state *s = g->state;

	if (s != NULL)
		proc_cancel(&s->proc);
}

const struct grader_kind grader_program = {
	.name = "program",
	.fields = &program_fields,
	.flags = GRADER_WORKSPACE,
	.check = check,
	.start = start,
	.cancel = cancel,
};
