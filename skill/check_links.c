/* SPDX-License-Identifier: ISC */
/*
 * The links of a skill's Markdown files: targets that exist, anchors, and
 * files of references/ that no chain of links from SKILL.md reaches.
 *
 * Each occurrence of a local link counts; of URLs each one counts once.
 */
#include "skill/check_internal.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/os_path.h"
#include "suite/spec.h"

enum { TARGET_BYTES = 200 };	/* of a target in a message */

struct links {
	struct check *c;
	struct arena *scratch;
	struct check_files files;
	struct buf urls;	/* of struct seen */
};

struct seen {			/* a URL in the order of the files */
	struct str url;
	size_t order;
	struct check_at at;
	struct str source;
};

/* The rule, severity and words for each kind of problem. */
static const struct {
	const char *rule;
	enum check_severity severity;
	const char *what;
} kinds[CHECK_LINK_KINDS] = {
	[CHECK_BROKEN] = { "link-broken", CHECK_ERROR, "broken link" },
	[CHECK_DIRECTORY] = { "link-directory", CHECK_ERROR, "link" },
	[CHECK_ESCAPE] = { "link-scope", CHECK_ERROR, "link" },
	[CHECK_DEAD] = { "link-dead-url", CHECK_ERROR, "dead URL" },
	[CHECK_ANCHOR] = { "link-anchor", CHECK_WARNING, "link" },
	[CHECK_ORPHAN] = { "link-orphan", CHECK_ERROR, "file" },
};

struct check_link *
check_add_link(struct check *c, enum check_link_kind kind, struct check_at at,
    struct str source, struct str target, const char *reason)
{
	struct check_link *l = NEW(c->arena, struct check_link);

	l->kind = kind;
	l->source = arena_str(c->arena, source);
	l->target = arena_str(c->arena, target);
	l->reason = reason;
	CHECK_APPEND(c, links, l);
	c->link_count[kind]++;
	check_add(c, kinds[kind].rule, kinds[kind].severity, at,
	    "%s \"%.*s\": %s", kinds[kind].what,
	    STRF(utf8_cut(target, TARGET_BYTES)), reason);
	return l;
}

static const char *
path_of(struct links *l, struct str rel)
{
	return spec_join(l->c->arena, l->c->skill.dir, rel);
}

static struct check_at
place(struct links *l, const struct check_file *f,
    const struct markdown_link *link)
{
	bool skill = str_is(f->rel, "SKILL.md") && !l->c->agent;

	return (struct check_at){ skill ? l->c->skill.file : path_of(l, f->rel),
		link->line, link->col };
}

/* What a path is: 1 a file, 2 a directory, 0 nothing, -1 leads out. */
static int
kind_of(struct links *l, struct str rel)
{
	const char *path;
	struct stat st;

	if (check_find_file(&l->files, rel) != NULL)
		return 1;
	path = spec_join(l->scratch, l->c->skill.dir, rel.n > 0 ? rel :
	    STR("."));
	if (stat(path, &st) == -1)
		return 0;
	if (!os_inside(l->c->skill.dir, path))
		return -1;
	return S_ISDIR(st.st_mode) ? 2 : 1;
}

/* The part of a target before "?", for "image.png?raw=true". */
static struct str
without_query(struct str s)
{
	const char *q = memchr(s.p, '?', s.n);

	return q != NULL ? (struct str){ s.p, (size_t)(q - s.p) } : s;
}

/*
 * Finds a target as spelt, without escapes and without its query; false if it
 * leads out of the directory.
 */
static bool
find_target(struct links *l, struct str source, struct str path,
    struct str *rel, int *kind)
{
	struct str forms[3];
	size_t i;

	forms[0] = path;
	forms[1] = check_unescape(l->scratch, path);
	forms[2] = without_query(forms[1]);
	for (i = 0; i < COUNTOF(forms); i++) {
		if (i > 0 && (forms[i].n == 0 ||
		    str_eq(forms[i], forms[i - 1])))
			continue;
		if (!check_resolve(l->scratch, l->c->absolute, source,
		    forms[i], rel))
			return false;
		*kind = kind_of(l, *rel);
		if (*kind != 0)
			return true;
	}
	check_resolve(l->scratch, l->c->absolute, source, forms[1], rel);
	return true;
}

/* Fragments that are not anchors: lines of code, text to highlight. */
static bool
is_other_fragment(struct str s)
{
	return s.n == 0 || str_is(s, "top") || str_starts(s, STR(":~:")) ||
	    (s.n > 1 && s.p[0] == 'L' && s.p[1] >= '0' && s.p[1] <= '9');
}

static void
check_anchor(struct links *l, const struct check_file *f,
    const struct markdown_link *link, const struct check_file *target,
    struct str fragment)
{
	if (target == NULL || !target->is_markdown ||
	    is_other_fragment(fragment) ||
	    markdown_has_anchor(&target->md, fragment) ||
	    markdown_has_anchor(&target->md, check_unescape(l->scratch,
	    fragment)))
		return;
	check_add_link(l->c, CHECK_ANCHOR, place(l, f, link), f->rel,
	    link->target, target == f ? "this file has no such heading" :
	    "the file has no such heading");
}

static void
check_local(struct links *l, const struct check_file *f,
    const struct markdown_link *link, struct str path, struct str fragment)
{
	static const struct {
		enum check_link_kind kind;
		const char *reason;
	} bad[] = {
		{ CHECK_ESCAPE, "a symbolic link leads out of the skill's "
		    "directory" },
		{ CHECK_BROKEN, "the file does not exist" },
		{ CHECK_ORPHAN, "" },
		{ CHECK_DIRECTORY, "it is a directory, not a file" },
	};
	struct str rel;
	int kind = 0;

	if (path.n == 0) {
		check_anchor(l, f, link, f, fragment);
		return;
	}
	l->c->links_total++;
	if (!find_target(l, f->rel, path, &rel, &kind))
		check_add_link(l->c, CHECK_ESCAPE, place(l, f, link), f->rel,
		    link->target, "it leads out of the skill's directory");
	else if (kind == 1)
		check_anchor(l, f, link, check_find_file(&l->files, rel),
		    fragment);
	else
		check_add_link(l->c, bad[kind + 1].kind, place(l, f, link),
		    f->rel, link->target, bad[kind + 1].reason);
}

static void
check_file_links(struct links *l, const struct check_file *f)
{
	struct str path, fragment;
	struct seen s;
	size_t i;

	for (i = 0; i < f->md.nlinks; i++)
		switch (check_target_of(f->md.link[i].target, &path,
		    &fragment)) {
		case CHECK_LOCAL:
			check_local(l, f, &f->md.link[i], path, fragment);
			break;
		case CHECK_EXTERNAL:
			s = (struct seen){ path, l->urls.n,
				place(l, f, &f->md.link[i]), f->rel };
			buf_put(&l->urls, (struct str){ (const char *)&s,
			    sizeof(s) });
			break;
		case CHECK_SKIP:
			break;
		}
}

/*
 * URLs
 */
static int
by_url(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;
	int r = str_cmp(x->url, y->url);

	return r != 0 ? r : x->order < y->order ? -1 : x->order > y->order;
}

static int
by_order(const void *a, const void *b)
{
	const struct seen *x = a, *y = b;

	return x->order < y->order ? -1 : x->order > y->order;
}

static void
keep_urls(struct links *l)
{
	struct seen *v = (struct seen *)(void *)l->urls.p;
	size_t n = l->urls.n / sizeof(*v), i, kept = 0;
	struct check_url *u;

	if (n == 0)
		return;
	qsort(v, n, sizeof(*v), by_url);
	for (i = 0; i < n; i++)
		if (kept == 0 || !str_eq(v[kept - 1].url, v[i].url))
			v[kept++] = v[i];
	qsort(v, kept, sizeof(*v), by_order);
	for (i = 0; i < kept; i++) {
		u = NEW(l->c->arena, struct check_url);
		*u = (struct check_url){ NULL, arena_str(l->c->arena, v[i].url),
			arena_str(l->c->arena, v[i].source), v[i].at.line,
			v[i].at.col };
		CHECK_APPEND(l->c, urls, u);
	}
	l->c->nurls = kept;
}

/*
 * Orphans
 */
static void
reach(struct links *l)
{
	struct buf stack = { 0 };	/* of struct check_file * */
	struct check_file *f = check_find_file(&l->files, STR("SKILL.md")), *g;
	struct str path, fragment, rel;
	size_t i;
	int kind;

	if (f == NULL)
		return;
	f->reached = true;
	buf_put(&stack, (struct str){ (const char *)&f, sizeof(f) });
	while (stack.n > 0) {
		stack.n -= sizeof(f);
		memcpy(&f, stack.p + stack.n, sizeof(f));
		for (i = 0; i < f->md.nlinks; i++) {
			if (check_target_of(f->md.link[i].target, &path,
			    &fragment) != CHECK_LOCAL || path.n == 0 ||
			    !find_target(l, f->rel, path, &rel, &kind))
				continue;
			g = check_find_file(&l->files, rel);
			if (g == NULL || g->reached)
				continue;
			g->reached = true;
			buf_put(&stack, (struct str){ (const char *)&g,
			    sizeof(g) });
		}
	}
	buf_free(&stack);
}

static void
find_orphans(struct links *l)
{
	const struct check_file *f;
	size_t i;

	for (i = 0; i < l->files.n; i++) {
		f = &l->files.v[i];
		if (!str_starts(f->rel, STR("references/")))
			continue;
		l->c->modules += str_ends(f->rel, STR(".md")) ||
		    str_ends(f->rel, STR(".MD"));
		if (!f->reached && !l->c->agent)
			check_add_link(l->c, CHECK_ORPHAN, (struct check_at){
			    path_of(l, f->rel), 1, 1 }, f->rel, f->rel,
			    "no link leads to it from SKILL.md");
	}
}

void
check_run_links(struct check *c, struct arena *scratch)
{
	struct links l = { .c = c, .scratch = scratch };
	const struct check_text *t;
	size_t i;

	check_list_files(scratch, c->skill.dir, &l.files);
	for (i = 0; i < l.files.n; i++)
		check_file_links(&l, &l.files.v[i]);
	keep_urls(&l);
	reach(&l);
	find_orphans(&l);
	for (t = l.files.outside; t != NULL; t = t->next)
		check_add(c, "link-outside", CHECK_WARNING, (struct check_at){
		    path_of(&l, t->s), 1, 1 }, "a symbolic link leads out of "
		    "the skill's directory; it is not followed");
	c->links_incomplete = l.files.full;
	if (l.files.full)
		check_add(c, "link-limit", CHECK_ERROR, (struct check_at){
		    c->skill.file, 1, 1 }, "not all files could be read: links "
		    "are checked in up to %d files, %d levels of directories "
		    "and %d MiB of Markdown", CHECK_FILES_MAX, CHECK_DEPTH,
		    CHECK_BYTES_MAX >> 20);
	buf_free(&l.urls);
}
