/* SPDX-License-Identifier: ISC */
/*
 * The table of reporters.  Their paths are checked before the run, because an
 * error after it would lose the report.
 */
#include "report/report.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os_path.h"
#include "report/matrix/matrix.h"
#include "report/report_internal.h"
#include "results/result.h"

/* A results file for each run, so it is not rendered. */
static const struct report_kind report_json = {
	.name = "json:PATH", .path = true
};

static const struct report_kind *const kinds[] = {	/* sorted by name */
	&report_csv, &report_github, &report_html, &report_json, &report_junit,
	&report_markdown, &report_tap,
};

static const char *const names[] = {	/* the names of kinds[], for usage */
	"csv:PATH", "github", "html:PATH", "json:PATH", "junit:PATH",
	"markdown:PATH", "tap[:PATH]",
};
typedef char names_are_complete[COUNTOF(names) == COUNTOF(kinds) ? 1 : -1];

size_t
report_names(const char *const **list)
{
	*list = names;
	return COUNTOF(names);
}

static struct str
name_of(const struct report_kind *k)
{
	return (struct str){ k->name, strcspn(k->name, ":[") };
}

static const struct report_kind *
find(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_eq(name_of(kinds[i]), name))
			return kinds[i];
	return NULL;
}

static int
unknown(struct str name, struct err *e)
{
	struct str_nearest near = { .word = name };
	char hint[STR_HINT];
	struct buf shown = { 0 };
	size_t i;

	report_line(&shown, name, 40, false);
	for (i = 0; i < COUNTOF(kinds); i++)
		str_nearest(&near, name_of(kinds[i]));
	if (near.best.p != NULL)
		err_set(e, ERR_SCHEMA, "unknown reporter \"%.*s\"%s",
		    STRF(buf_str(&shown)), str_hint(hint, "", near.best));
	else
		err_set(e, ERR_SCHEMA, "unknown reporter \"%.*s\" (reporters: "
		    "csv, github, html, json, junit, markdown, tap)",
		    STRF(buf_str(&shown)));
	buf_free(&shown);
	return -1;
}

struct parts {
	const struct report_kind *kind;
	const char *path;	/* NULL or - : stdout */
};

static int
split(const char *spec, struct parts *p, struct err *e)
{
	struct str name = { spec, strcspn(spec, ":") };
	const char *path = spec[name.n] == ':' ? spec + name.n + 1 : NULL;

	p->kind = find(name);
	p->path = path;
	if (p->kind == NULL)
		return unknown(name, e);
	if (p->kind->left_out)
		return err_set(e, ERR_SCHEMA, ERR_LEFT_OUT, "reporter html");
	if (path != NULL && *path == '\0')
		return err_set(e, ERR_SCHEMA, "reporter %.*s: the path after "
		    "the colon is missing", STRF(name));
	if (path == NULL && p->kind == &report_json)
		return 0;	/* --output is the report */
	if (path == NULL && p->kind->path)
		return err_set(e, ERR_SCHEMA, "reporter %.*s needs a path: %s",
		    STRF(name), p->kind->name);
	if (path == NULL || strcmp(path, "-") != 0)
		return 0;
	p->path = NULL;
	return p->kind != &report_json ? 0 : err_set(e, ERR_SCHEMA,
	    "reporter json writes to a file, not to stdout");
}

/* The nearest existing directory above the path must be writable. */
static int
check_dir(const char *path, struct err *e)
{
	struct buf b = { 0 };
	struct stat st;
	size_t n = strlen(path);
	int r = 0;

	if (stat(path, &st) == 0) {
		if (S_ISDIR(st.st_mode))
			return err_set(e, ERR_SYS, "cannot write %s: it is a "
			    "directory", path);
		if (!S_ISREG(st.st_mode))
			return 0;
	}
	buf_puts(&b, path);
	buf_putc(&b, '\0');
	do {
		while (n > 0 && b.p[n - 1] != '/')
			n--;
		while (n > 1 && b.p[n - 1] == '/')
			n--;
		b.p[n] = '\0';
	} while (n > 0 && stat(b.p, &st) == -1 && errno == ENOENT);
	if (access(n == 0 ? "." : b.p, W_OK | X_OK) == -1) {
		int sys = errno;

		r = err_set(e, ERR_SYS, "cannot write %s: %s: %s", path,
		    n == 0 ? "." : b.p, strerror(sys));
		e->sys = sys;
	}
	buf_free(&b);
	return r;
}

int
report_check(const char *spec, struct err *e)
{
	struct parts p;

	if (split(spec, &p, e) == -1)
		return -1;
	return p.path != NULL ? check_dir(p.path, e) : 0;
}

unsigned
report_flags(const char *spec)
{
	struct err e = { 0 };
	struct parts p;

	if (split(spec, &p, &e) == -1 || p.path != NULL)
		return 0;
	return p.kind->flags;
}

/* With several cells, results.json becomes results_CELL.json for each. */
static int
write_json(const char *path, struct result_run *const *runs, size_t n,
    struct err *e)
{
	const char *slash = strrchr(path, '/'), *dot = strrchr(path, '.');
	size_t stem = strlen(path), i, j;
	struct buf b = { 0 };
	struct str name;
	int r = os_make_dirs(path, 0777, false, e);

	if (n == 1 && r == 0)
		return result_write(runs[0], path, e);
	if (dot != NULL && dot > path && (slash == NULL || dot > slash + 1))
		stem = (size_t)(dot - path);
	for (i = 0; r == 0 && i < n; i++) {
		b.n = 0;
		buf_put(&b, (struct str){ path, stem });
		buf_putc(&b, '_');
		name = matrix_name(runs[i]);
		for (j = 0; j < name.n; j++) {
			char c = name.p[j];

			if (c == ' ' && j > 0 && name.p[j - 1] == ',')
				continue;
			buf_putc(&b, c == ',' ? '_' : c == '\0' ||
			    strchr("/\\: ", c) != NULL ? '-' : c);
		}
		buf_puts(&b, path + stem);
		buf_putc(&b, '\0');
		r = result_write(runs[i], b.p, e);
	}
	buf_free(&b);
	return r;
}

/* Renders to a file, or to stdout if the path is NULL. */
static int
render(struct report_out *o, const struct report_kind *k, const char *path,
    struct err *e)
{
	int r;

	if (path != NULL)
		r = report_render_file(o, k, path, e);
	else if ((r = report_render(o, k)) == -1) {
		errno = o->err.sys;
		err_sys(e, "cannot write to standard output");
	}
	buf_free(&o->b);
	return r;
}

int
report_files(const char *path, const struct report_file *files, size_t n,
    struct err *e)
{
	struct report_out o = { .fd = STDOUT_FILENO, .log = true,
		.files = files, .count = n };

	return render(&o, &report_view, strcmp(path, "-") == 0 ? NULL : path,
	    e);
}

int
report_write(const char *spec, struct result_run *const *runs, size_t n,
    const struct report_opts *opts, struct err *e)
{
	struct report_opts plain = *opts;
	struct report_out o = {
		.fd = STDOUT_FILENO, .opts = &plain, .runs = runs, .nruns = n,
		.log = true
	};
	struct parts p;
	int r;

	plain.color = plain.ascii = false;
	if (split(spec, &p, e) == -1)
		return -1;
	if (p.kind == &report_json)
		return p.path == NULL ? 0 : write_json(p.path, runs, n, e);
	r = render(&o, p.kind, p.path, e);
	if (r == 0 && p.kind == &report_github)
		r = report_summary(runs, n, &plain, e);
	return r;
}
