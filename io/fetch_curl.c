/* SPDX-License-Identifier: ISC */
/*
 * https through a curl child, which handles TLS, certificates and proxies.
 *
 * Its arguments are always the same.  It reads a configuration from stdin, so
 * that neither keys nor prompts appear in a process list or on disk.  A body
 * that is too long for a line there (curl's limit is 10 MiB) is passed in a
 * temporary file that only we can read.  curl prints the raw response.
 */
#include "io/fetch_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "io/workspace.h"

enum {
	LINE_MAX_BYTES = 8 << 20,	/* of the configuration */
	STDERR_MAX = 512
};

/* Within quotes, \, " and line ends are escaped with a backslash. */
static void
put_quoted(struct buf *b, struct str s)
{
	size_t i, from = 0;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] != '"' && s.p[i] != '\\' && s.p[i] != '\n' &&
		    s.p[i] != '\r')
			continue;
		buf_put(b, (struct str){ s.p + from, i - from });
		buf_putc(b, '\\');
		buf_putc(b, s.p[i] == '\n' ? 'n' : s.p[i] == '\r' ? 'r' :
		    s.p[i]);
		from = i + 1;
	}
	buf_put(b, (struct str){ s.p + from, s.n - from });
}

static bool
fits_line(struct str body)
{
	return body.n == 0 || (body.p[0] != '@' &&
	    body.n <= LINE_MAX_BYTES / 2 &&
	    memchr(body.p, '\0', body.n) == NULL);
}

static int
write_body(struct fetch *f)
{
	int fd, r;

	f->file = arena_cstr(&f->arena, arena_fmt(&f->arena,
	    "%s/waza-body.XXXXXX", workspace_tmp()));
	fd = mkstemp(f->file);
	if (fd == -1) {
		err_sys(&f->err, f->file);
		f->file = NULL;
		return -1;
	}
	r = os_write_all(fd, f->o.body, &f->err);
	os_close(&fd);
	return r;
}

void
fetch_curl_end(struct fetch *f)
{
	if (f->file != NULL)
		unlink(f->file);
	f->file = NULL;
}

static int
put_config(struct fetch *f)
{
	struct buf *b = &f->out;
	size_t i;

	buf_puts(b, "silent\nshow-error\ninclude\nraw\nno-buffer\nhttp1.1\n"
	    "suppress-connect-headers\ngloboff\npath-as-is\n"
	    "connect-timeout = 60\nproto = \"=https\"\nheader = \"Expect:\"\n"
	    "header = \"Accept:\"\nheader = \"User-Agent:\"\n");
	buf_fmt(b, "request = \"%s\"\nurl = \"https://", f->o.method);
	put_quoted(b, f->o.url.authority);
	put_quoted(b, f->o.url.path);
	buf_puts(b, "\"\n");
	for (i = 0; i < f->o.nfields; i++) {
		buf_puts(b, "header = \"");
		put_quoted(b, f->o.field[i].name);
		buf_puts(b, f->o.field[i].value.n > 0 ? ": " : ";");
		put_quoted(b, f->o.field[i].value);
		buf_puts(b, "\"\n");
	}
	if (f->o.body.n == 0)
		return 0;
	buf_puts(b, "data-binary = \"");
	if (fits_line(f->o.body))
		put_quoted(b, f->o.body);
	else {
		if (write_body(f) == -1)
			return -1;
		buf_putc(b, '@');
		put_quoted(b, str_of(f->file));
	}
	buf_puts(b, "\"\n");
	return 0;
}

static void
on_out(void *arg, struct str s)
{
	fetch_feed(arg, s, false);
}

/* The first line of its stderr, or its exit status. */
static void
set_err(struct fetch *f)
{
	struct str s = buf_str(&f->proc.err.buf);
	const char *lf = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;

	if (lf != NULL)
		s.n = (size_t)(lf - s.p);
	if (s.n > 0)
		err_set(&f->err, ERR_SYS, "%.*s", (int)(s.n < 180 ? s.n : 180),
		    s.p);
	else if (f->proc.res.signo != 0)
		err_set(&f->err, ERR_SYS, "curl was killed by signal %d",
		    f->proc.res.signo);
	else
		err_set(&f->err, ERR_SYS, "curl: exit status %d",
		    f->proc.res.status);
}

/* Classifies the exit status; a retry may help only with FETCH_LOST. */
static enum fetch_end
end_of(int status)
{
	static const unsigned char unable[] = { 1, 2, 3, 4, 5, 26, 27, 43 };
	static const unsigned char bad[] = { 35, 51, 53, 54, 58, 59, 60, 66,
		77, 80, 82, 83, 90, 91 };

	if (memchr(unable, status, sizeof(unable)) != NULL)
		return FETCH_UNABLE;
	return memchr(bad, status, sizeof(bad)) != NULL ? FETCH_BAD :
	    FETCH_LOST;
}

static void
on_done(void *arg)
{
	struct fetch *f = arg;

	if (f->proc.res.status == 0 || (f->proc.res.status == 18 &&
	    f->headed)) {
		fetch_feed(f, STR(""), true);
		return;
	}
	set_err(f);
	fetch_finish(f, end_of(f->proc.res.status));
}

int
fetch_curl_start(struct fetch *f)
{
	static const char *const argv[] = { "curl", "-q", "-K", "-", NULL };
	struct proc_opts o = { .argv = argv, .env = f->o.env,
		.err_max = STDERR_MAX, .on_out = on_out, .done = on_done };

	o.arg = f;
	if (put_config(f) == -1)
		return -1;
	o.in = buf_str(&f->out);
	if (proc_start(f->o.procs, &f->proc, &o, &f->err) == 0)
		return 0;
	f->shortage = f->proc.res.shortage;
	if (f->proc.res.exec_errno == ENOENT)
		return err_set(&f->err, ERR_SYS, "https needs `curl`, which "
		    "is not installed (not found in PATH)");
	return -1;
}
