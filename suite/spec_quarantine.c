/* SPDX-License-Identifier: ISC */
/*
 * quarantine.yaml beside the suite: tasks that run and are reported, but do
 * not count until they are repaired.  An entry is an error once its day has
 * passed, so that none is forgotten.
 */
#include "suite/spec_internal.h"

#include "base/os.h"

enum { DATE = 10 };		/* characters of YYYY-MM-DD */

struct entry {
	struct str task, why, until;
};
static const struct field entry_rows[] = {
	FIELD(entry, task, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "id of the task"),
	FIELD(entry, why, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "why it does not count"),
	FIELD(entry, until, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "last day, as YYYY-MM-DD (UTC)"),
};
static const struct field_table table = FIELD_TABLE(entry, entry_rows);

static int
number(const char *p, size_t n)
{
	int v = 0;

	while (n-- > 0)
		v = *p >= '0' && *p <= '9' && v >= 0 ? v * 10 + (*p++ - '0') :
		    -1;
	return v;
}

/* Whether it is a day of the calendar. */
static bool
is_date(struct str s)
{
	static const int days[] = { 31, 29, 31, 30, 31, 30, 31, 31, 30, 31,
		30, 31 };
	int y, m, d;

	if (s.n != DATE || s.p[4] != '-' || s.p[7] != '-')
		return false;
	y = number(s.p, 4);
	m = number(s.p + 5, 2);
	d = number(s.p + 8, 2);
	if (y < 1 || m < 1 || m > 12 || d < 1 || d > days[m - 1])
		return false;
	return m != 2 || d < 29 || (y % 4 == 0 && (y % 100 != 0 ||
	    y % 400 == 0));
}

/* The current day (UTC), by the civil calendar of 400-year eras. */
static struct str
today(struct arena *a)
{
	int64_t z = os_wall_ns() / 1000000000 / 86400 + 719468;
	int64_t era = z / 146097, doe = z - era * 146097;
	int64_t yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	int64_t doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	int64_t mp = (5 * doy + 2) / 153, m = mp < 10 ? mp + 3 : mp - 9;

	return arena_fmt(a, "%04d-%02d-%02d", (int)(yoe + era * 400 +
	    (m <= 2)), (int)m, (int)(doy - (153 * mp + 2) / 5 + 1));
}

static struct spec_task *
find_task(const struct spec_suite *s, struct str id)
{
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		if (str_eq(s->tasks[i].id, id))
			return &s->tasks[i];
	return NULL;
}

static void
read_entry(struct spec_loader *l, const struct spec_file *f,
    const struct json *v, struct str now)
{
	struct entry in = { STR(""), STR(""), STR("") };
	const struct json *until = json_getc(v, "until");
	struct spec_task *t;
	struct spec_def *d;

	if (spec_decode(l, f->path, &table, v, &in) > 0)
		return;
	t = find_task(l->suite, in.task);
	if (!is_date(in.until))
		spec_error(l, f->path, until, NULL, "\"%.*s\" is not a date: "
		    "write YYYY-MM-DD", SPEC_SHORT(in.until));
	else if (str_cmp(in.until, now) < 0)
		spec_error(l, f->path, until, NULL, "the quarantine of task "
		    "\"%.*s\" ended on %.*s: repair the task and remove the "
		    "entry, or set a later date", SPEC_SHORT(in.task),
		    STRF(in.until));
	else if (t == NULL)
		spec_warning(l, f->path, json_getc(v, "task"), NULL, "the "
		    "suite has no task \"%.*s\"", SPEC_SHORT(in.task));
	else if (t->def->quarantined)
		spec_error(l, f->path, json_getc(v, "task"), NULL, "task "
		    "\"%.*s\" is listed twice", SPEC_SHORT(in.task));
	else {
		d = spec_own_def(l, t);
		d->quarantined = true;
		d->quarantine = in.why.n > 0 ? in.why : STR("no reason");
		d->quarantine_until = in.until;
	}
}

void
spec_read_quarantine(struct spec_loader *l)
{
	static const char *const names[] = { "quarantine.yaml",
		"quarantine.yml" };
	const char *path = NULL;
	const struct json *v;
	struct spec_file f;
	struct str now;
	size_t i;

	for (i = 0; i < COUNTOF(names); i++) {
		path = spec_join(l->arena, l->suite->dir, str_of(names[i]));
		if (spec_exists(path))
			break;
	}
	if (i == COUNTOF(names) || !spec_allowed(l->notes,
	    (struct spec_where){ l->suite->path, 0, 0 }, path) ||
	    spec_read_yaml(l, path, &f) == -1 ||
	    spec_array(l, path, f.root) == NULL)
		return;
	now = today(l->arena);
	for (v = json_first(f.root); v != NULL; v = v->next)
		read_entry(l, &f, v, now);
}
