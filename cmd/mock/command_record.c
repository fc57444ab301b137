/* SPDX-License-Identifier: ISC */
/*
 * waza command-record: runs a command as it is, and appends the call with its
 * output to a fixture of `command_mocks`.
 *
 * Input and output pass through unchanged; the exit status is the command's.
 * Secrets are masked in the fixture only.
 */
#include "waza.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "mock/mock.h"
#include "yaml_lite.h"

enum { LOCK_TRIES = 500, LOCK_MS = 20 };

struct record_opt {
	const char *output;
};
static const struct opt rows[] = {
	CMD_OPT(record_opt, output, OPT_STR, .name = "output", .letter = 'o',
	    .value = "FILE", .help = "fixture to add to (default: NAME.json)"),
};

struct capture {
	struct cmd_call *call;
	const char *const *argv;
	struct buf out[2];		/* stdout, stderr */
	int fd[2];
	int status;
};

/* Copies what the child wrote; false at its end. */
static bool
copy(struct capture *c, int i)
{
	char block[1 << 16];
	ssize_t n = os_read(c->fd[i], block, sizeof(block));
	struct err e;

	if (n <= 0)
		return false;
	(void)os_write_all(i + 1, (struct str){ block, (size_t)n }, &e);
	c->out[i].max = MOCK_FILE_MAX;
	buf_put(&c->out[i], (struct str){ block, (size_t)n });
	return true;
}

static void
copy_all(struct capture *c)
{
	struct pollfd p[2];
	int i;

	for (i = 0; i < 2; i++)
		p[i] = (struct pollfd){ .fd = c->fd[i], .events = POLLIN };
	while (p[0].fd != -1 || p[1].fd != -1) {
		if (poll(p, 2, -1) == -1 && errno != EINTR)
			return;
		for (i = 0; i < 2; i++)
			if (p[i].fd != -1 && p[i].revents != 0 && !copy(c, i))
				p[i].fd = -1;
	}
}

static int
run_child(struct capture *c, struct err *e)
{
	int out[2] = { -1, -1 }, error[2] = { -1, -1 }, wstatus;
	struct os_spawn o = { .argv = c->argv, .fd = { OS_FD_KEEP } };
	pid_t pid = -1;

	if (os_pipe(out, 0, e) == 0 && os_pipe(error, 0, e) == 0) {
		o.fd[1] = out[1];
		o.fd[2] = error[1];
		pid = os_spawn(&o, e);
	}
	os_close(&out[1]);
	os_close(&error[1]);
	c->fd[0] = out[0];
	c->fd[1] = error[0];
	if (pid != -1)
		copy_all(c);
	os_close(&out[0]);
	os_close(&error[0]);
	if (pid == -1)
		return -1;
	while (waitpid(pid, &wstatus, 0) == -1)
		if (errno != EINTR)
			return err_sys(e, "waitpid");
	c->status = WIFEXITED(wstatus) ? WEXITSTATUS(wstatus) :
	    128 + WTERMSIG(wstatus);
	return 0;
}

static void
put_text(struct json_out *o, const char *key, struct arena *a,
    const struct mask *m, struct str text)
{
	if (text.n > 0)
		json_put_member_str(o, key, mask_text(a, m, text));
}

static void
put_response(struct json_out *o, struct capture *c)
{
	struct arena *a = c->call->arena;
	const char **env = os_env(a, NULL, 0);
	struct mask secrets = { .forms = true };

	mock_add_secrets(a, &secrets, c->argv[0], c->argv + 1, env);
	json_open(o, '{');
	json_open_member(o, "args", '[');
	mock_put_args(o, c->argv[0], c->argv + 1, env);
	json_close(o, ']');
	put_text(o, "stdout", a, &secrets, buf_str(&c->out[0]));
	put_text(o, "stderr", a, &secrets, buf_str(&c->out[1]));
	json_put_member_int(o, "exit_code", c->status);
	json_close(o, '}');
}

/* The first response in the file, or NULL; -1 with the error. */
static int
read_fixture(struct cmd_call *c, const char *path, const char *name,
    const struct json **first, struct err *e)
{
	struct field_ctx ctx = { .arena = c->arena, .flags = FIELD_LAX };
	const struct json *root;
	struct mock_command m;
	struct str text;

	*first = NULL;
	if (os_read_plain(c->arena, path, MOCK_FILE_MAX, &text, e) == -1)
		return -1;
	if (text.n == 0)
		return 0;		/* it is new */
	root = yaml_read_one(c->arena, text, e);
	if (root == NULL || root->type != JSON_OBJECT ||
	    mock_read_command(&ctx, root, &m) > 0 || !str_is(m.name, name))
		return err_set(e, ERR_SCHEMA, "%s is not a fixture of the "
		    "command \"%s\"; name another file", path, name);
	*first = json_first(json_getc(root, "responses"));
	return 0;
}

static bool
is_recorded(const struct json *v, const struct json *new)
{
	for (; v != NULL; v = v->next)
		if (json_equal(json_getc(v, "args"), json_getc(new, "args")))
			return true;
	return false;
}

static int
add_response(struct capture *c, const char *path, const char *name,
    struct err *e)
{
	struct arena *a = c->call->arena;
	struct buf b = { 0 }, one = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b, .indent = 2 };
	struct json_out r = { .put = buf_sink, .ctx = &one };
	const struct json *old = NULL, *v;
	int rc;

	if (read_fixture(c->call, path, name, &old, e) == -1)
		return -1;
	put_response(&r, c);
	v = arena_json(a, arena_take(a, &one), NULL);
	if (v == NULL || is_recorded(old, v))
		return 0;		/* the first of equal calls stays */
	json_open(&o, '{');
	json_put_member_cstr(&o, "name", name);
	json_open_member(&o, "responses", '[');
	for (; old != NULL; old = old->next)
		json_put(&o, old);
	json_put(&o, v);
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(&b, '\n');
	rc = os_write_file(path, buf_str(&b), e);
	buf_free(&b);
	return rc;
}

/*
 * Several calls may be recorded at once.  A link in a stranger's directory
 * could lead anywhere: it is refused.
 */
static int
lock(const char *path, struct err *e)
{
	int tries, fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC |
	    O_NOFOLLOW, 0644);

	if (fd == -1)
		return err_sys(e, path);
	for (tries = 0; os_lock(fd) == -1; tries++) {
		if (tries == LOCK_TRIES) {
			os_close(&fd);
			return err_set(e, ERR_TIMEOUT, "%s is locked", path);
		}
		(void)poll(NULL, 0, LOCK_MS);
	}
	return fd;
}

static int
command_record(struct cmd_call *c)
{
	const struct record_opt *o = c->opt;
	const char *name = c->args[0], *path = o->output, **argv;
	struct capture cap = { .call = c, .fd = { -1, -1 } };
	size_t i;
	int fd, rc;

	if (!mock_is_command_name(str_of(name))) {
		cmd_say("waza: \"%s\" is not the name of a command\n", name);
		return CMD_ERROR;
	}
	if (path == NULL)
		path = arena_fmt(c->arena, "%s.json", name).p;
	argv = NEW_N(c->arena, const char *, c->nargs);
	for (i = 1; i < c->nargs; i++)
		argv[i - 1] = c->args[i];
	cap.argv = argv;
	if (run_child(&cap, c->err) == -1)
		return cmd_complain(c->err);
	if (cap.out[0].full || cap.out[1].full ||
	    !utf8_valid(buf_str(&cap.out[0])) ||
	    !utf8_valid(buf_str(&cap.out[1]))) {
		cmd_say("waza: the call of %s is not recorded: its output is "
		    "not text, or over %d MiB\n", name, MOCK_FILE_MAX >> 20);
		rc = -1;
	} else {
		fd = lock(path, c->err);
		rc = fd == -1 ? -1 : add_response(&cap, path, name, c->err);
		os_close(&fd);
		if (rc == -1)
			(void)cmd_complain(c->err);
	}
	buf_free(&cap.out[0]);
	buf_free(&cap.out[1]);
	return rc == -1 && cap.status == 0 ? CMD_ERROR : cap.status;
}

const struct cmd_command cmd_command_record = {
	.name = "command-record", .group = CMD_SUITES,
	.usage = "[-o FILE] NAME -- COMMAND [ARG ...]",
	.help = "Run a command and record the call for command_mocks",
	.opts = CMD_OPTS(rows), .size = sizeof(struct record_opt),
	.required = { "NAME", "COMMAND" }, .max = 4096,
	.fn = command_record,
};
