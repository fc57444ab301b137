/* SPDX-License-Identifier: ISC */
/*
 * A mocked command: a link to this program in a directory that is first in the
 * agent's PATH.
 *
 *	POOL/all-mocks/bin/NAME -> waza, beside a file MOCK_MARK
 *	POOL/slot-N-mocks/	one directory per trial: MOCK_CONFIG, MOCK_LOG
 *
 * MOCK_SESSION names the directory of the trial.  A process that serves all
 * trials cannot set it: then the trial is the one whose workspace contains the
 * working directory.  A call that belongs to no trial fails, and is recorded in
 * all-mocks, so that the trials that run meanwhile are not trusted.
 */
#include "mock/mock.h"

#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_path.h"
#include "base/os_spawn.h"
#include "json.h"

enum { FAILED = 127, SESSIONS_MAX = 10000 };

struct shim {
	struct arena *arena;
	const char *bin;		/* the directory of links */
	const char *name;		/* of the command */
	const char *const *args;
	const char **env;		/* ours */
	const char *dir;		/* of the trial, or NULL */
	const struct json *config;	/* MOCK_CONFIG in it */
	const char *cwd;		/* all links followed */
};

static int PRINTF(2, 3)
complain(const struct shim *s, const char *fmt, ...)
{
	char msg[1000];
	va_list ap;
	struct err e;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	(void)os_write_all(2, arena_fmt(s->arena, "waza: mock of \"%s\": %s\n",
	    s->name, msg), &e);
	return FAILED;
}

static const char *
base_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static const char *
parent_of(struct arena *a, const char *path)
{
	return arena_fmt(a, "%.*s", (int)(base_of(path) - path) - 1, path).p;
}

const char *
mock_shim_dir(struct arena *a, const char *program)
{
	const char *found = strchr(program, '/') != NULL ? program :
	    os_find(a, program), *dir;

	if (found == NULL || *base_of(found) == '\0')
		return NULL;
	dir = parent_of(a, os_absolute(a, found));
	return access(arena_fmt(a, "%s/" MOCK_MARK, dir).p, F_OK) == 0 ? dir :
	    NULL;
}

static const struct json *
read_config(struct shim *s, const char *dir)
{
	struct str text;
	struct err e;

	if (os_read_plain(s->arena, arena_fmt(s->arena, "%s/" MOCK_CONFIG,
	    dir).p, MOCK_FILE_MAX, &text, &e) == -1)
		return NULL;
	return arena_json(s->arena, text, NULL);
}

/* The working directory below the workspace; NULL: it is not inside. */
static const char *
workdir(const struct shim *s, const struct json *config)
{
	const char *top = arena_cstr(s->arena, json_str(config, "workspace"));
	size_t n;

	if (top == NULL || *top == '\0' || s->cwd == NULL)
		return NULL;
	top = os_real(s->arena, top);
	n = top != NULL ? strlen(top) : 0;
	if (n == 0 || strncmp(s->cwd, top, n) != 0 ||
	    (s->cwd[n] != '\0' && s->cwd[n] != '/'))
		return NULL;
	return s->cwd[n] == '/' ? s->cwd + n + 1 : "";
}

static void
find_by_cwd(struct shim *s)
{
	const char *pool = parent_of(s->arena, parent_of(s->arena, s->bin));
	const struct json *config;
	struct dirent *d;
	const char *dir;
	size_t n = 0;
	DIR *list = opendir(pool);

	while (list != NULL && s->dir == NULL && n++ < SESSIONS_MAX &&
	    (d = readdir(list)) != NULL) {
		if (!str_ends(str_of(d->d_name), STR(MOCK_DIR_ENDING)))
			continue;
		dir = arena_fmt(s->arena, "%s/%s", pool, d->d_name).p;
		config = read_config(s, dir);
		if (config != NULL && workdir(s, config) != NULL) {
			s->dir = dir;
			s->config = config;
		}
	}
	if (list != NULL)
		closedir(list);
}

static void
find_trial(struct shim *s)
{
	const char *dir = getenv(MOCK_SESSION);

	if (dir != NULL && *dir != '\0') {
		s->config = read_config(s, dir);
		s->dir = s->config != NULL ? dir : NULL;
	}
	if (s->dir == NULL)
		find_by_cwd(s);
}

static int
record(struct shim *s, int response, int status, bool passed)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const char *dir = s->dir != NULL ? s->dir :
	    parent_of(s->arena, s->bin);
	struct err e = { 0 };
	int rc;

	json_open(&o, '{');
	json_put_member_cstr(&o, "command", s->name);
	json_open_member(&o, "args", '[');
	mock_put_args(&o, s->name, s->args, s->env);
	json_close(&o, ']');
	json_put_member_int(&o, "exit_code", status);
	json_put_member_int(&o, "response_index", response);
	if (passed)
		json_put_member_bool(&o, "passthrough", true);
	json_close(&o, '}');
	rc = mock_log(arena_fmt(s->arena, "%s/" MOCK_LOG, dir).p, buf_str(&b),
	    &e);
	buf_free(&b);
	if (rc == -1)
		complain(s, "cannot record the call: %s", e.msg);
	return rc;
}

/* PATH without the directory of links. */
static const char *
path_without(struct shim *s)
{
	const char *path = getenv("PATH"), *end;
	struct buf b = { 0 };
	size_t n;

	buf_puts(&b, "PATH=");
	for (; path != NULL && *path != '\0'; path = end + (*end == ':')) {
		end = strchr(path, ':');
		end = end != NULL ? end : path + strlen(path);
		n = (size_t)(end - path);
		if (str_is((struct str){ path, n }, s->bin))
			continue;
		buf_fmt(&b, "%s%.*s", b.n > 5 ? ":" : "", (int)n, path);
	}
	return arena_take(s->arena, &b).p;
}

/* Runs the real command and returns its status. */
static int
pass(struct shim *s)
{
	const char *path = path_without(s);
	const char *change[3] = { path, MOCK_SESSION, "BASH_ENV" };
	const char *program = os_find_in(s->arena, s->name, path + 5), **argv;
	struct os_spawn o = { .fd = { OS_FD_KEEP, OS_FD_KEEP, OS_FD_KEEP } };
	struct err e = { 0 };
	size_t n = 0;
	pid_t pid;
	int status;

	while (s->args[n] != NULL)
		n++;
	argv = NEW_N(s->arena, const char *, n + 2);
	memcpy(argv + 1, s->args, n * sizeof(argv[0]));
	argv[0] = program;
	if (program == NULL)
		return complain(s, "the real command is not installed (not "
		    "found in PATH)");
	o.argv = argv;
	o.env = os_env_change(s->arena, s->env, change, 3);
	pid = os_spawn(&o, &e);
	if (pid == -1)
		return complain(s, "%s", e.msg);
	while (waitpid(pid, &status, 0) == -1)
		if (errno != EINTR)
			return complain(s, "waitpid: %s", strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

/* The bytes of a response for stdout; -1 after a message. */
static int
output_of(struct shim *s, const struct mock_output *r, struct str *out)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct err e = { 0 };

	*out = STR("");
	if (r->fixture.n > 0) {
		if (os_read_plain(s->arena, arena_cstr(s->arena, r->fixture),
		    MOCK_FILE_MAX, out, &e) == 0)
			return 0;
		complain(s, "%s", e.msg);
		return -1;
	}
	if (r->output != NULL && r->output->type == JSON_STRING)
		*out = json_text(r->output);
	else if (r->output != NULL) {
		json_put(&o, r->output);
		*out = arena_take(s->arena, &b);
	}
	return 0;
}

static int
respond(struct shim *s, const struct mock_output *r, int index)
{
	struct str out;
	struct err e;

	if (output_of(s, r, &out) == -1) {
		(void)record(s, -1, FAILED, false);
		return FAILED;
	}
	if (record(s, index, (int)r->exit_code, false) == -1)
		return FAILED;
	if (r->delay_ms > 0)
		(void)poll(NULL, 0, (int)r->delay_ms);
	(void)os_write_all(1, out, &e);
	(void)os_write_all(2, r->errors, &e);
	return (int)r->exit_code;
}

static int
answer(struct shim *s, const struct mock_command *c)
{
	struct mock_words w = { s->args, s->env, workdir(s, s->config) };
	const struct mock_output *r = c->responses.v;
	struct err e = { 0 };
	int i = mock_match_command(s->arena, c, &w, &e), status;

	if (i >= 0)
		return respond(s, &r[i], i);
	if (i == -1 && c->passthrough) {
		status = pass(s);
		return record(s, -1, status, true) == -1 ? FAILED : status;
	}
	(void)record(s, -1, FAILED, false);
	return i == -2 ? complain(s, "%s", e.msg) :
	    complain(s, "no response fits these arguments");
}

int
mock_shim(struct arena *a, const char *dir, const char *program,
    const char *const *args)
{
	struct shim s = { .arena = a, .bin = dir, .name = base_of(program),
		.args = args, .env = os_env(a, NULL, 0),
		.cwd = os_real(a, ".") };
	struct mock_command c;
	const struct json *list;
	int found;

	find_trial(&s);
	if (s.dir == NULL) {
		(void)record(&s, -1, FAILED, false);
		return complain(&s, "the call belongs to no trial");
	}
	list = json_getc(s.config, "commands");
	found = mock_find_command(a, list, str_of(s.name), &c);
	if (found == 1)
		return answer(&s, &c);
	if (found == 0)
		return pass(&s);	/* this task does not mock it */
	(void)record(&s, -1, FAILED, false);
	return complain(&s, "its description cannot be read");
}
