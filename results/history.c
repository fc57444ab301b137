/* SPDX-License-Identifier: ISC */
/* The default place for results. */
#include "results/history.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "suite/spec.h"

enum {
	STAMP = 21,		/* bytes of 2026-11-17T141500.123 */
	NOISE = 8,		/* hexadecimal digits at the end of an id */
	SUITE_MAX = 100,	/* bytes of a suite's name in a file name */
	BEGINNING = 8192,	/* bytes that have names of suite and model */
	HEAD = 256, TAIL = 64,	/* bytes that show that a file is whole */
	LINE_MAX_BYTES = 64 << 10	/* of the first line of a journal */
};

/* Schemas that `waza init` wrote may belong to the repository. */
static const char ignore[] = "# Written by waza: results and journals are not "
    "part of the repository.\n*\n!/schemas/\n!/schemas/**\n";

const char *
history_dir(struct arena *a, const char *root)
{
	return spec_join(a, root, STR(".waza/results"));
}

static bool
is_dir(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool
history_exists(struct arena *a, const char *root)
{
	return is_dir(spec_join(a, root, STR(".waza"))) &&
	    is_dir(history_dir(a, root));
}

/* Creates a directory; an existing one must not be a link. */
static int
make_dir(const char *path, struct err *e)
{
	struct stat st;

	if (mkdir(path, 0777) == -1 && errno != EEXIST)
		return err_sys(e, path);
	if (lstat(path, &st) == -1)
		return err_sys(e, path);
	if (S_ISDIR(st.st_mode))
		return 0;
	return err_set(e, ERR_SCHEMA, "%s: is %s, not a directory", path,
	    S_ISLNK(st.st_mode) ? "a symbolic link" : "a file");
}

/* An existing file is the user's own. */
static void
write_ignore(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	struct err e;

	if (fd != -1 && os_write_all(fd, str_of(ignore), &e) == -1)
		(void)unlink(path);
	os_close(&fd);
}

const char *
history_make_dir(struct arena *a, const char *root, struct str name,
    struct err *e)
{
	const char *top = spec_join(a, root, STR(".waza"));
	const char *dir = spec_join(a, top, name);

	if (make_dir(top, e) == -1)
		return NULL;
	write_ignore(spec_join(a, top, STR(".gitignore")));
	if (make_dir(dir, e) == -1)
		return NULL;
	if (access(dir, W_OK | X_OK) == 0)
		return dir;
	err_sys(e, dir);
	return NULL;
}

int
history_make(struct arena *a, const char *root, struct err *e)
{
	return history_make_dir(a, root, STR("results"), e) != NULL ? 0 : -1;
}

/*
 * Names.
 */
static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Each digit of the pattern is any digit. */
bool
history_is_stamp(struct str s)
{
	static const char like[] = "0000-00-00T000000.000";
	size_t i;

	for (i = 0; i < s.n && i < STAMP; i++)
		if (like[i] == '0' ? !is_digit(s.p[i]) : s.p[i] != like[i])
			return false;
	return s.n == STAMP;
}

/* The bytes of "run-SECONDS-NOISE" at the end of s; 0: it has another end. */
static size_t
id_length(struct str s)
{
	size_t i = s.n, digits;

	while (i > 0 && s.n - i < NOISE && hex_digit(s.p[i - 1]) >= 0)
		i--;
	if (s.n - i != NOISE || i == 0 || s.p[--i] != '-')
		return 0;
	for (digits = 0; i > 0 && is_digit(s.p[i - 1]) && digits < 20; i--)
		digits++;
	if (digits == 0 || i < 4 || memcmp(s.p + i - 4, "run-", 4) != 0)
		return 0;
	return s.n - i + 4;
}

/* The end of s, separated by "-", and s without it. */
static struct str
split(struct str *s, size_t n)
{
	struct str end;

	if (n == 0 || s->n <= n || s->p[s->n - n - 1] != '-')
		return STR("");
	end = (struct str){ s->p + s->n - n, n };
	s->n -= n + 1;
	return end;
}

static bool
parse_name(struct str name, struct history_file *f)
{
	if (!str_ends(name, STR(".json")))
		return false;
	name.n -= 5;
	f->run_id = split(&name, id_length(name));
	f->stamp = split(&name, STAMP);
	f->suite = name;
	return f->run_id.n > 0 && history_is_stamp(f->stamp) && name.n > 0;
}

struct str
history_suite(struct arena *a, struct str name)
{
	char *s = arena_cstr(a, utf8_cut(name, SUITE_MAX)), *p;

	if (s == NULL || *s == '\0')
		return STR("suite");
	for (p = s; *p != '\0'; p++)
		if (strchr("/\\: ", *p) != NULL || (unsigned char)*p < 0x20 ||
		    (p == s && *p == '.'))
			*p = '-';
	return str_of(s);
}

const char *
history_name(struct arena *a, const char *dir, struct str suite,
    int64_t started_ns, const char *run_id)
{
	int64_t ms = started_ns / 1000000;
	time_t s = (time_t)(ms / 1000);
	struct tm tm = { 0 };
	char text[STAMP + 1];

	(void)gmtime_r(&s, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H%M%S", &tm);
	return arena_cstr(a, arena_fmt(a, "%s/%.*s-%s.%03d-%s.json", dir,
	    STRF(suite), text, (int)(ms % 1000), run_id));
}

const char *
history_journal_id(struct arena *a, const char *journal)
{
	int fd = open(journal, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY);
	char *head = arena_raw(a, LINE_MAX_BYTES, 1), *nl = NULL;
	ssize_t n = fd == -1 ? -1 : os_read_head(fd, head, LINE_MAX_BYTES);
	struct json_error je;
	struct str id;

	os_close(&fd);
	if (n > 0)
		nl = memchr(head, '\n', (size_t)n);
	if (nl == NULL)
		return NULL;
	id = json_str(arena_json(a, (struct str){ head,
	    (size_t)(nl - head) }, &je), "run_id");
	return id.n > 0 && id_length(id) == id.n ? arena_cstr(a, id) : NULL;
}

/* The string of which `"key": "` is the beginning in a results file. */
static struct str
find_text(struct arena *a, const char *text, const char *key)
{
	const char *p = strstr(text, key);
	const char *end;
	struct json_error je;
	struct json *v;

	if (p == NULL)
		return STR("");
	p += strlen(key) - 1;
	for (end = p + 1; *end != '"' && *end != '\0'; end++)
		if (*end == '\\' && end[1] != '\0')
			end++;
	v = *end == '\0' ? NULL : arena_json(a, (struct str){ p,
	    (size_t)(end + 1 - p) }, &je);
	return v == NULL ? STR("") : json_text(v);
}

/* The path of the suite is after the tasks, near the end. */
static struct str
find_source(struct arena *a, int fd, const struct stat *st)
{
	off_t from = st->st_size > BEGINNING ? st->st_size - BEGINNING : 0;
	char *text = arena_raw(a, BEGINNING + 1, 1);
	size_t n = 0;
	ssize_t k = lseek(fd, from, SEEK_SET) == -1 ? -1 : 1;

	while (k > 0 && n < BEGINNING) {
		k = os_read(fd, text + n, BEGINNING - n);
		n += k > 0 ? (size_t)k : 0;
	}
	text[n] = '\0';
	return find_text(a, text, "\n  \"source\": {\"file\":\"");
}

bool
history_head(struct arena *a, const char *path, struct history_head *h)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = arena_raw(a, BEGINNING + 1, 1);
	ssize_t n = -1;
	struct stat st;

	if (fd != -1 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
		n = os_read_head(fd, text, BEGINNING);
	if (n >= 0) {
		text[n] = '\0';
		*h = (struct history_head){
			find_text(a, text, "\"eval_id\": \""),
			find_text(a, text, "\"skill\": \""),
			find_text(a, text, "\"eval_name\": \""),
			find_text(a, text, "\"engine_type\": \""),
			find_text(a, text, "\"model_id\": \""), STR(""),
			strstr(text, "\n    \"no_skills\": true") != NULL };
		h->source = find_source(a, fd, &st);
	}
	os_close(&fd);
	return n >= 0;
}

/*
 * Files.
 */
static int
newest_first(const void *x, const void *y)
{
	const struct history_file *a = x, *b = y;
	int c = str_cmp(b->stamp, a->stamp);

	return c != 0 ? c : strcmp(b->path, a->path);
}

static bool
is_plain(int dir, const char *name)
{
	struct stat st;

	return fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode);
}

static DIR *
open_dir(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	DIR *list = fd == -1 ? NULL : fdopendir(fd);

	if (list == NULL)
		os_close(&fd);
	return list;
}

struct history_file *
history_list(struct arena *a, const char *dir, size_t *n)
{
	DIR *list = open_dir(dir);
	struct history_file f, *v;
	struct buf b = { 0 };
	struct dirent *d;

	while (list != NULL && (d = readdir(list)) != NULL) {
		if (!parse_name(str_of(d->d_name), &f) ||
		    !is_plain(dirfd(list), d->d_name))
			continue;
		f.path = spec_join(a, dir, str_of(d->d_name));
		(void)parse_name(str_of(f.path + strlen(f.path) -
		    strlen(d->d_name)), &f);
		buf_put(&b, (struct str){ (const char *)&f, sizeof(f) });
	}
	if (list != NULL)
		closedir(list);
	*n = b.n / sizeof(f);
	v = NEW_N(a, struct history_file, *n);
	if (*n > 0) {
		memcpy(v, b.p, b.n);
		qsort(v, *n, sizeof(f), newest_first);
	}
	buf_free(&b);
	return v;
}

/* Whether the open file has the results of that run, which has ended. */
static bool
is_finished(int fd, struct str run_id)
{
	static const char *const ends[] = { "\"passed\"\n}\n",
		"\"failed\"\n}\n", "\"skipped\"\n}\n" };
	char head[HEAD], tail[TAIL], want[HEAD];
	ssize_t n = os_read_head(fd, head, sizeof(head));
	off_t size = lseek(fd, 0, SEEK_END);
	size_t i;

	snprintf(want, sizeof(want), "{\n  \"eval_id\": \"%.*s\"",
	    STRF(run_id));
	if (n <= 0 || size < TAIL || !str_starts((struct str){ head,
	    (size_t)n }, str_of(want)) ||
	    pread(fd, tail, TAIL, size - TAIL) != TAIL)
		return false;
	for (i = 0; i < COUNTOF(ends); i++)
		if (str_ends((struct str){ tail, TAIL }, str_of(ends[i])))
			return true;
	return false;
}

/* Opens a regular file that is ours and has no other link; -1: it is not. */
static int
open_own(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd != -1 && (fstat(fd, &st) == -1 || !S_ISREG(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_nlink != 1))
		os_close(&fd);
	return fd;
}

/* The page that `waza view` wrote beside the results. */
static void
remove_page(int dir, const char *results)
{
	static const char begin[] = "<!doctype html>";
	char head[sizeof(begin) - 1], name[HEAD];
	int fd;

	(void)snprintf(name, sizeof(name), "%.*s.html",
	    (int)(strlen(results) - strlen(".json")), results);
	fd = open_own(dir, name);
	if (fd != -1 && os_read_head(fd, head, sizeof(head)) ==
	    (ssize_t)sizeof(head) && memcmp(head, begin, sizeof(head)) == 0)
		(void)unlinkat(dir, name, 0);
	os_close(&fd);
}

static void
remove_file(int dir, const char *name, struct str run_id)
{
	int fd = open_own(dir, name);

	if (fd != -1 && is_finished(fd, run_id) && unlinkat(dir, name, 0) == 0)
		remove_page(dir, name);
	os_close(&fd);
}

void
history_prune(const char *dir, struct str suite, size_t keep)
{
	struct arena a = { 0 };
	size_t i, n, seen = 0;
	const struct history_file *v = history_list(&a, dir, &n);
	DIR *at = open_dir(dir);

	for (i = 0; at != NULL && i < n; i++)
		if (str_eq(v[i].suite, suite) && seen++ >= keep)
			remove_file(dirfd(at), strrchr(v[i].path, '/') + 1,
			    v[i].run_id);
	if (at != NULL)
		closedir(at);
	arena_free(&a);
}

void
history_replace(const char *dir, struct str run_id, const char *path)
{
	struct arena a = { 0 };
	size_t i, n;
	const struct history_file *v = history_list(&a, dir, &n);
	DIR *at = open_dir(dir);

	for (i = 0; at != NULL && i < n; i++)
		if (str_eq(v[i].run_id, run_id) && strcmp(strrchr(v[i].path,
		    '/'), strrchr(path, '/')) != 0)
			remove_file(dirfd(at), strrchr(v[i].path, '/') + 1,
			    run_id);
	if (at != NULL)
		closedir(at);
	arena_free(&a);
}
