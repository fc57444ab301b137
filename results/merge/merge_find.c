/* SPDX-License-Identifier: ISC */
/*
 * merge_find.c: the files of an operand.
 *
 * A results file and the journals of its run are a family: X.json,
 * X.json.journal, X.json.baseline.journal; in .waza, X.journal and
 * X.journal.baseline.  All of a family are read: the journal of a run that
 * continues, or was killed, has trials that its results file lacks.
 */
#include "results/merge/merge_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "results/cache.h"
#include "results/result_internal.h"

enum { HEAD = 256 };

static const char *const journals[] = { ".baseline.journal",
	".journal.baseline", ".journal" };

/* The part of the path that a family has in common. */
static struct str
family_of(const char *path)
{
	struct str s = str_of(path), end;
	size_t i;

	for (i = 0; i < COUNTOF(journals); i++) {
		end = str_of(journals[i]);
		if (s.n > end.n && str_ends(s, end))
			return (struct str){ s.p, s.n - end.n };
	}
	return s;
}

static bool
is_journal(const char *path)
{
	return family_of(path).n < strlen(path);
}

/* Reads a file; *skipped if it is not of a shard, and was not named. */
static int
read_input(struct merge *m, struct merge_input *in, struct err *e)
{
	int fd = open(in->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	char head[HEAD];
	struct stat st;
	ssize_t n;
	bool journal;
	int rc = 0;

	if (fd == -1 || fstat(fd, &st) == -1)
		rc = err_sys(e, in->path);
	else if (!S_ISREG(st.st_mode))
		rc = merge_fail(e, in, "is not a regular file");
	n = rc == 0 ? os_read_head(fd, head, sizeof(head)) : -1;
	journal = n > 0 && result_is_ours((struct str){ head, (size_t)n },
	    true);
	if (rc == 0 && (n <= 0 || (!journal && !result_is_ours((struct str){
	    head, (size_t)n }, false)))) {
		if (in->named)
			rc = merge_fail(e, in, n == 0 ? "is empty" : "is "
			    "neither a results file nor a journal of waza");
	} else if (rc == 0 && lseek(fd, 0, SEEK_SET) == -1)
		rc = err_sys(e, in->path);
	else if (rc == 0) {
		m->files++;
		in->journal = journal;
		rc = journal ? merge_read_journal(m, in, fd, e) :
		    merge_read_file(m, in, fd, e);
	}
	os_close(&fd);
	return rc;
}

/* Results of whole runs, in a directory: there is nothing to merge in them. */
static bool
is_whole(const char *path)
{
	struct arena a = { 0 };
	char head[4096];
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	ssize_t n = fd == -1 ? -1 : os_read_head(fd, head, sizeof(head) - 1);
	bool whole;

	os_close(&fd);
	if (n <= 0) {
		arena_free(&a);
		return true;
	}
	head[n] = '\0';
	whole = strstr(head, "\"shard\"") == NULL &&
	    strlen(head) == (size_t)n && (is_journal(path) ?
	    strchr(head, '\n') != NULL : strstr(head, "\"summary\"") != NULL);
	arena_free(&a);
	return whole;
}

static int
add_file(struct merge *m, const char *path, uint32_t family, bool named,
    struct err *e)
{
	struct merge_input *in = NEW(m->arena, struct merge_input);

	if (m->files >= MERGE_FILES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d files",
		    MERGE_FILES_MAX);
	in->path = arena_str(m->arena, str_of(path)).p;
	in->family = family;
	in->named = named;
	if (m->first == NULL)
		m->first = in;
	return read_input(m, in, e);
}

/* A results file that was named, and its journals. */
static int
add_family(struct merge *m, const char *path, struct err *e)
{
	uint32_t family = ++m->families;
	const char *other;
	struct stat st;
	size_t i, n = 0;

	for (i = 0; i < COUNTOF(journals) && !is_journal(path); i++) {
		other = arena_fmt(m->arena, "%s%s", path, journals[i]).p;
		if (stat(other, &st) == -1 || !S_ISREG(st.st_mode))
			continue;
		if (add_file(m, other, family, true, e) == -1)
			return -1;
		n++;
	}
	if (n > 0 && stat(path, &st) == -1 && errno == ENOENT)
		return 0;		/* killed before it was written */
	return add_file(m, path, family, true, e);
}

static int
add_dir(struct merge *m, const char *dir, int depth, struct err *e);

static int
add_entry(struct merge *m, const char *path, int depth, struct str *last,
    struct err *e)
{
	struct str family = family_of(path);
	struct stat st;

	if (lstat(path, &st) == -1)
		return errno == ENOENT ? 0 : err_sys(e, path);
	if (S_ISDIR(st.st_mode))
		return add_dir(m, path, depth + 1, e);
	if (!S_ISREG(st.st_mode) || (!is_journal(path) &&
	    !str_ends(str_of(path), STR(".json"))) || is_whole(path))
		return 0;
	if (!str_eq(family, *last))
		m->families++;
	*last = family;
	return add_file(m, path, m->families, false, e);
}

static int
add_dir(struct merge *m, const char *dir, int depth, struct err *e)
{
	struct str last = STR("");
	size_t i, n = 0;
	char **v;

	if (depth > MERGE_DEPTH_MAX)
		return err_set(e, ERR_LIMIT, "%s: more than %d directories "
		    "inside each other", dir, MERGE_DEPTH_MAX);
	v = cache_names(m->arena, dir, MERGE_FILES_MAX, &n);
	if (v == NULL)
		return err_sys(e, dir);
	for (i = 0; i < n; i++)
		if ((v[i][0] != '.' || strcmp(v[i], ".waza") == 0) &&
		    add_entry(m, arena_fmt(m->arena, "%s%s%s", dir,
		    dir[strlen(dir) - 1] == '/' ? "" : "/", v[i]).p, depth,
		    &last, e) == -1)
			return -1;
	return 0;
}

int
merge_add(struct merge *m, const char *path, struct err *e)
{
	size_t before = m->files;
	struct stat st;

	*e = (struct err){ 0 };
	if (m->spool.arena == NULL && merge_open(m, e) == -1)
		return -1;
	if (*path == '\0')
		return err_set(e, ERR_SCHEMA, "the name of a file is empty");
	if (stat(path, &st) == -1 || !S_ISDIR(st.st_mode))
		return add_family(m, path, e);
	if (add_dir(m, path, 0, e) == -1)
		return -1;
	return m->files > before ? 0 : err_set(e, ERR_SCHEMA, "%s: has no "
	    "results of shards", path);
}

int
merge_describe(struct arena *a, const char *path, struct merge_shard *s,
    struct err *e)
{
	struct merge_opts o = { .allow_missing = true };
	struct merge *m = merge_new(a, &o);
	const struct merge_input *in;
	int rc = merge_add(m, path, e);

	in = m->first;
	if (rc == 0) {
		*s = (struct merge_shard){ .k = in->k, .n = in->group->n,
			.run_id = in->run_id, .suite = in->suite,
			.started_ns = in->started_ns,
			.ended_ns = in->group->ended_ns,
			.journal = in->journal };
		merge_run_key(in, s->key);
	}
	merge_free(m);
	return rc;
}
