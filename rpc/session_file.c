/* SPDX-License-Identifier: ISC */
/*
 * Sessions that outlive the server: a JSON file each, in sessions.persist_dir.
 *
 * A file's name is not the session's id, so that no client chooses file names
 * and a listing of the directory reveals no id.  A file is written under a
 * temporary name, synced and renamed: it is always complete.
 */
#include "rpc/session_internal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"

enum {
	FILE_MAX = 4 << 20,	/* bytes */
	VERSION = 1
};

struct turn_in {
	struct str asked, answered;
};
static const struct field turn_rows[] = {
	FIELD(turn_in, asked, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(turn_in, answered, FIELD_STR, .flags = FIELD_REQUIRED),
};
static const struct field_table turn_table = FIELD_TABLE(turn_in, turn_rows);

struct file_in {
	int64_t version, created_ns, used_ns, fixes;
	struct str id, working_dir, executor, model;
	struct field_list turns;
};
static const struct field file_rows[] = {
	FIELD(file_in, version, FIELD_INT, .flags = FIELD_REQUIRED,
	    .min = VERSION, .max = VERSION),
	FIELD(file_in, id, FIELD_STR, .flags = FIELD_REQUIRED),
	FIELD(file_in, created_ns, FIELD_INT, .flags = FIELD_REQUIRED,
	    .min = 0, .max = INT64_MAX),
	FIELD(file_in, used_ns, FIELD_INT, .flags = FIELD_REQUIRED,
	    .min = 0, .max = INT64_MAX),
	FIELD(file_in, fixes, FIELD_INT, .min = 0, .max = INT64_MAX),
	FIELD(file_in, working_dir, FIELD_STR, .help = "of the last fix"),
	FIELD(file_in, executor, FIELD_STR, .help = "of the last fix"),
	FIELD(file_in, model, FIELD_STR, .help = "of the last fix"),
	FIELD(file_in, turns, FIELD_OBJECTS, .sub = &turn_table),
};
static const struct field_table file_table = FIELD_TABLE(file_in, file_rows);

static const char *
dir_of(const struct sessions *all)
{
	return all->set->persist_dir.n > 0 ? all->set->persist_dir.p : NULL;
}

static bool
is_uuid(struct str s)
{
	unsigned char key[SESSION_KEY];

	return session_key(s, key);
}

/*
 * Writing.
 */
static void
put_session(struct buf *b, const struct session *s)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	const struct session_turn *x;

	json_open(&o, '{');
	json_put_member_int(&o, "version", VERSION);
	json_put_member_str(&o, "id", str_of(s->id));
	json_put_member_int(&o, "created_ns", s->created_ns);
	json_put_member_int(&o, "used_ns", s->used_ns);
	json_put_member_int(&o, "fixes", s->fixes);
	json_put_member_str(&o, "working_dir", buf_str(&s->working_dir));
	json_put_member_str(&o, "executor", buf_str(&s->executor));
	json_put_member_str(&o, "model", buf_str(&s->model));
	json_open_member(&o, "turns", '[');
	for (x = s->turns; x != NULL; x = x->next) {
		json_open(&o, '{');
		json_put_member_str(&o, "asked", buf_str(&x->asked));
		json_put_member_str(&o, "answered", buf_str(&x->answered));
		json_close(&o, '}');
	}
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

static int
write_new(const char *path, struct str text, struct err *e)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW |
	    O_CLOEXEC, 0600);
	int r;

	if (fd == -1)
		return err_sys(e, path);
	r = os_write_all(fd, text, e);
	if (r == 0 && fsync(fd) == -1 && errno != EINVAL)
		r = err_sys(e, path);
	os_close(&fd);
	return r;
}

int
session_save(struct session *s, struct err *e)
{
	const char *dir = dir_of(s->all), *path, *tmp;
	struct arena a = { 0 };
	struct buf b = { 0 };
	int r;

	if (dir == NULL)
		return 0;
	if (s->file[0] == '\0' && session_make_id(s->file, e) == -1)
		return -1;
	path = arena_fmt(&a, "%s/session-%s.json", dir, s->file).p;
	tmp = arena_fmt(&a, "%s.new", path).p;
	put_session(&b, s);
	r = write_new(tmp, buf_str(&b), e);
	if (r == 0 && rename(tmp, path) == -1)
		r = err_sys(e, path);
	if (r == -1)
		unlink(tmp);
	buf_free(&b);
	arena_free(&a);
	return r;
}

void
session_remove_file(struct session *s)
{
	const char *dir = dir_of(s->all);
	struct arena a = { 0 };

	if (dir == NULL || s->file[0] == '\0')
		return;
	unlink(arena_fmt(&a, "%s/session-%s.json", dir, s->file).p);
	s->file[0] = '\0';
	arena_free(&a);
}

/*
 * Reading.
 */
/* The UUID in "session-UUID" and the suffix; or empty. */
static struct str
name_in(struct str name, const char *suffix)
{
	struct str head = STR("session-"), tail = str_of(suffix);

	if (!str_starts(name, head) || !str_ends(name, tail) ||
	    name.n != head.n + SESSION_ID - 1 + tail.n)
		return STR("");
	name = (struct str){ name.p + head.n, SESSION_ID - 1 };
	return is_uuid(name) ? name : STR("");
}

static int
read_session(struct sessions *all, struct arena *a, const char *path,
    struct file_in *in, struct err *e)
{
	struct json_error je;
	const struct json *v;
	struct str text;
	struct err bad;

	if (os_read_plain(a, path, FILE_MAX, &text, e) == -1)
		return -1;
	v = arena_json(a, text, &je);
	if (v == NULL)
		return err_set(e, ERR_SYNTAX, "%s: %s", path, je.msg);
	if (field_decode_one(a, &file_table, v, in, &bad) == -1)
		return err_set(e, ERR_SCHEMA, "%s: %s", path, bad.msg);
	if (!is_uuid(in->id))
		return err_set(e, ERR_SCHEMA, "%s: \"id\" is not a UUID",
		    path);
	if (session_find(all, in->id) != NULL)
		return err_set(e, ERR_SCHEMA, "%s: another file has the "
		    "same session", path);
	return 0;
}

static void
add_session(struct sessions *all, const struct file_in *in, struct str file)
{
	const struct turn_in *t = in->turns.v;
	struct session *s = session_insert(all, in->id);
	int64_t idle = (os_wall_ns() - in->used_ns) / 1000000;
	size_t i;

	snprintf(s->file, sizeof(s->file), "%.*s", STRF(file));
	s->created_ns = in->created_ns;
	s->used_ns = in->used_ns;
	s->used_ms -= idle > 0 ? idle : 0;
	s->fixes = in->fixes;
	buf_put(&s->working_dir, in->working_dir);
	buf_put(&s->executor, in->executor);
	buf_put(&s->model, in->model);
	for (i = 0; i < in->turns.n; i++)
		session_remember(s, t[i].asked, t[i].answered);
}

static void
read_entry(struct sessions *all, const char *dir, struct str name)
{
	struct arena a = { 0 };
	const char *path = arena_fmt(&a, "%s/%.*s", dir, STRF(name)).p;
	struct str file = name_in(name, ".json");
	struct file_in in = { 0 };
	struct err e = { 0 };

	if (name_in(name, ".json.new").n > 0)
		unlink(path);		/* left by an interrupted save */
	else if (file.n > 0) {
		if (read_session(all, &a, path, &in, &e) == 0)
			add_session(all, &in, file);
		else
			session_log(all, e.msg);
	}
	arena_free(&a);
}

static int
by_use(const void *a, const void *b)
{
	const struct session *const *x = a, *const *y = b;

	return ((*x)->used_ns > (*y)->used_ns) -
	    ((*x)->used_ns < (*y)->used_ns);
}

/* Sorts by time of use and drops the oldest sessions beyond the maximum. */
static void
sort_and_trim(struct sessions *all, const char *dir)
{
	struct arena a = { 0 };
	struct session **v = NEW_N(&a, struct session *, all->n), *s;
	size_t i, n = 0;

	for (s = all->head; s != NULL; s = s->next)
		v[n++] = s;
	if (n > 0)
		qsort(v, n, sizeof(*v), by_use);
	session_sort(all, v, n);
	for (i = 0; i + (size_t)all->set->max < n; i++)
		session_end(v[i]);
	if (i > 0)
		session_log(all, arena_fmt(&a, "%s: deleted the %zu oldest "
		    "sessions: more than sessions.max", dir, i).p);
	arena_free(&a);
}

int
session_restore(struct sessions *all, struct err *e)
{
	const char *dir = dir_of(all);
	const struct dirent *d;
	DIR *in;

	if (dir == NULL)
		return 0;
	if (mkdir(dir, 0700) == -1 && errno != EEXIST)
		return err_sys(e, dir);
	in = opendir(dir);
	if (in == NULL)
		return err_sys(e, dir);
	while ((d = readdir(in)) != NULL)
		read_entry(all, dir, str_of(d->d_name));
	closedir(in);
	sort_and_trim(all, dir);
	session_expire_later(all);
	return 0;
}
