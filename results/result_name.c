/* SPDX-License-Identifier: ISC */
/*
 * result_name.c: whether a results file or a journal may be written at a name.
 *
 * A new file replaces only an empty regular file or one that begins as those
 * that waza writes: a results file with the member "eval_id", a journal with
 * "waza_journal".  So a mistyped name cannot destroy a suite, and a peer
 * cannot name a file that it wants to be gone.
 */
#include "results/result.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "results/result_internal.h"

enum { HEAD = 256 };		/* bytes that identify a file */

static const char *
skip_space(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' ||
	    *p == '\r'))
		p++;
	return p;
}

/* Whether text begins as an object with this first key, in quotes. */
static bool
begins_with(struct str s, struct str key)
{
	const char *end = s.p + s.n, *p = skip_space(s.p, end);

	if (p == end || *p != '{')
		return false;
	p = skip_space(p + 1, end);
	return str_starts((struct str){ p, (size_t)(end - p) }, key);
}

bool
result_is_ours(struct str head, bool journal)
{
	struct str first = STR("{\"waza_journal\":");

	if (!journal)
		return head.n == 0 || begins_with(head, STR("\"eval_id\""));
	/* a journal may have been cut off anywhere */
	return head.n < first.n ? str_starts(first, head) :
	    str_starts(head, first);
}

static const char *
kind_of(mode_t mode)
{
	return S_ISLNK(mode) ? "a symbolic link" : S_ISDIR(mode) ?
	    "a directory" : S_ISFIFO(mode) ? "a pipe" : S_ISSOCK(mode) ?
	    "a socket" : "a device";
}

static int
check_content(const char *path, bool journal, struct err *e)
{
	char head[HEAD];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd == -1 ? -1 : os_read_head(fd, head, sizeof(head));

	if (n == -1)
		result_fail(e, path, "cannot read the file that is there");
	os_close(&fd);
	if (n == -1)
		return -1;
	if (result_is_ours((struct str){ head, (size_t)n }, journal))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: exists and is not a %s: name "
	    "another file, or remove it", path,
	    journal ? "journal of waza" : "results file");
}

int
result_check_name(const char *path, bool journal, bool strict, struct err *e)
{
	struct stat st;

	if ((strict ? lstat(path, &st) : stat(path, &st)) == -1)
		return errno == ENOENT ? 0 : err_sys(e, path);
	if (S_ISREG(st.st_mode))
		return st.st_size == 0 ? 0 : check_content(path, journal, e);
	if (!strict && !journal && !S_ISDIR(st.st_mode))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: is %s: name a new file or an "
	    "earlier results file", path, kind_of(st.st_mode));
}
