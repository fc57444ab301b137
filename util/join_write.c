/* SPDX-License-Identifier: ISC */
/*
 * Writes the one file: macros that select what system headers declare, the
 * system headers, then the files in order, each header before the first file
 * that includes it.
 */
#include "util/join.h"

#include <string.h>

/* The macro before functions of headers and of the files before --. */
#define FIRST "WAZA_FIRST"

/* A file while it is written. */
struct writer {
	struct join *join;
	struct join_file *file;
	const char *at;			/* up to here it is written */
};

/* Words that compilers define as macros unless they are told to follow C99. */
static const char *const predefined[] = { "linux", "unix", "i386" };

static void
put(struct join *j, const char *from, const char *to)
{
	buf_put(&j->out, (struct str){ from, (size_t)(to - from) });
}

static const char *
begin(const struct join_token *t)
{
	return t->p - t->lead;
}

/* Whether the group is a header's protection against a second inclusion. */
static bool
is_guard(const struct join_file *f, const struct join_token *t)
{
	return f->header && t == f->v && join_is(t + 1, "ifndef");
}

static bool
opens_group(const struct join_token *t)
{
	return join_is(t + 1, "if") || join_is(t + 1, "ifdef") ||
	    join_is(t + 1, "ifndef");
}

enum part { PART_FEATURES, PART_HEADERS, PART_GROUPS, PART_BODY };

/*
 * Where a directive, or the conditional group that it opens, belongs.  A group
 * with code stays where it is.
 */
static enum part
part_of(const struct join_file *f, const struct join_token *t)
{
	const struct join_token *end;
	enum part part = PART_BODY;

	if (!t->first || !t->directive || is_guard(f, t))
		return PART_BODY;
	if (join_is(t + 1, "include"))
		return join_is(t + 2, "<") ? PART_HEADERS : PART_BODY;
	if (join_is(t + 1, "define"))
		return !f->header && *t[2].p == '_' ? PART_FEATURES : PART_BODY;
	if (!opens_group(t))
		return PART_BODY;
	for (end = join_group_end(f, t); t < end; t++) {
		if (!t->directive)
			return PART_BODY;
		if (t->first && join_is(t + 1, "include"))
			part = PART_GROUPS;
		if (t->first && join_is(t + 1, "define") && *t[2].p == '_')
			part = PART_FEATURES;
	}
	return part;
}

static const struct join_token *
part_end(const struct join_file *f, const struct join_token *t)
{
	return opens_group(t) ? join_group_end(f, t) : join_next_line(t);
}

/* Appends the directives of a part, each text once. */
static void
put_part(struct join *j, enum part part)
{
	struct join_words done = { 0 };
	size_t i;

	for (i = 0; i < j->nfiles; i++) {
		const struct join_file *f = j->files[i];
		const struct join_token *t = f->v, *end;

		for (; t->kind != JOIN_END; t = end) {
			struct join_word *w;
			struct str text;

			end = t + 1;
			if (part_of(f, t) == PART_BODY)
				continue;
			end = part_end(f, t);
			if (part_of(f, t) != part)
				continue;
			text = (struct str){ t->p, (size_t)(end[-1].p +
			    end[-1].n - t->p) };
			w = join_add(j, &done, text);
			if (w->n++ == 0)
				buf_fmt(&j->out, "%.*s\n", STRF(text));
		}
	}
}

/* Whether t begins the prototype of a function that is used. */
static bool
is_prototype(const struct join *j, const struct join_token *t)
{
	const struct join_token *name = NULL;

	if (t->kind != JOIN_WORD || join_is(t, "static") ||
	    join_is(t, "typedef") || join_is(t, "extern"))
		return false;
	for (; !join_is(t, ";"); t++) {
		if (t->kind == JOIN_END || t->directive || join_is(t, "{") ||
		    join_is(t, "="))
			return false;
		if (join_is(t, "(") && name == NULL)
			name = t - 1;
	}
	/* the prototype, the definition, a call */
	return name != NULL && name->kind == JOIN_WORD &&
	    join_find(&j->words, join_text(name))->n >= 3;
}

static void
put_word(void *ctx, const struct join_token *t, unsigned use)
{
	struct writer *w = ctx;
	const struct join_word *local = w->file->header ? NULL :
	    join_find(&w->file->locals, join_text(t));
	const char *p = w->file->path.p;

	if (local == NULL || (local->bits & use) == 0)
		return;
	put(w->join, w->at, t->p + t->n);
	w->at = t->p + t->n;
	buf_puts(&w->join->out, "__");
	for (; p < w->file->path.p + w->file->path.n - 2; p++)
		buf_putc(&w->join->out, *p == '/' ? '_' : *p);
}

/* Appends tokens with the new names, and the comment before `to`. */
static void
put_renamed(struct writer *w, const struct join_token *from,
    const struct join_token *to)
{
	join_visit(w->join, w->file, from, to,
	    (struct join_visit){ put_word, w });
	put(w->join, w->at, to->p);
	w->at = to->p;
}

/* Whether t begins the definition of a function. */
static bool
is_function(const struct join_token *t)
{
	int depth = 0;

	if (join_is(t, "typedef"))
		return false;
	for (; !join_is(t, "("); t++)
		if (t->directive || (t->kind != JOIN_WORD && !join_is(t, "*")))
			return false;
	if (t[-1].kind != JOIN_WORD)
		return false;
	for (; t->kind != JOIN_END; t++) {
		depth += join_is(t, "(");
		depth -= join_is(t, ")");
		if (depth == 0)
			return join_is(t + 1, "{");
	}
	return false;
}

/* The first definition of a function in [t, to), or `to`. */
static const struct join_token *
next_function(const struct join_token *t, const struct join_token *to)
{
	bool start = true;
	int depth = 0;

	for (; t < to; t++) {
		if (t->directive)
			continue;
		if (start && depth == 0 && is_function(t))
			break;
		depth += join_is(t, "{");
		depth -= join_is(t, "}");
		start = join_is(t, ";") || join_is(t, "}");
	}
	return t;
}

/* The same, with the macro before functions. */
static void
put_tokens(struct writer *w, const struct join_token *from,
    const struct join_token *to)
{
	const struct join_token *t;

	w->at = begin(from);
	while (!w->file->rest && (t = next_function(from, to)) < to) {
		put_renamed(w, from, t);
		buf_puts(&w->join->out, FIRST " ");
		for (from = t; !join_is(from, "{"); from++)
			;
		put_renamed(w, t, from);
	}
	put_renamed(w, from, to);
}

static void put_file(struct join *, struct join_file *);

static void
put_include(struct join *j, const struct join_file *f,
    const struct join_token *t)
{
	size_t i;

	for (i = 0; i < f->nincludes; i++)
		if (t[2].n == f->includes[i]->path.n + 2 && memcmp(t[2].p + 1,
		    f->includes[i]->path.p, f->includes[i]->path.n) == 0)
			put_file(j, f->includes[i]);
}

/* Appends tokens up to t, the word, and t. */
static void
insert(struct writer *w, const struct join_token **from,
    const struct join_token *t, const char *word)
{
	put(w->join, begin(*from), t->p);
	buf_puts(&w->join->out, word);
	put(w->join, t->p, t->p + t->n);
	*from = t + 1;
}

/* Appends a header's tokens; functions become static. */
static void
put_declarations(struct writer *w, const struct join_token *from,
    const struct join_token *to)
{
	/* some of its functions are defined by macros */
	const bool whole = str_is(w->file->path, "json.h");
	const struct join_token *t;
	bool start = true;
	int depth = 0;

	for (t = from; t < to; t++) {
		if (t->directive)
			continue;
		if (start && depth == 0 && is_prototype(w->join, t))
			insert(w, &from, t, whole ? FIRST " static " :
			    "static ");
		else if (start && depth == 0 && is_function(t))
			insert(w, &from, t, FIRST " ");
		depth += join_is(t, "{");
		depth -= join_is(t, "}");
		start = join_is(t, ";") || join_is(t, "}");
	}
	put(w->join, begin(from), to->p);
}

static void
put_file(struct join *j, struct join_file *f)
{
	struct writer w = { .join = j, .file = f };
	const struct join_token *t, *from, *end = f->v + f->n - 1;
	void (*put_some)(struct writer *, const struct join_token *,
	    const struct join_token *) = f->header ? put_declarations :
	    put_tokens;

	if (f->written)
		return;
	f->written = true;
	for (t = from = f->v; t < end; ) {
		bool include = t->first && t->directive &&
		    join_is(t + 1, "include") && t[2].kind == JOIN_STRING;

		if (!include && part_of(f, t) == PART_BODY) {
			t++;
			continue;
		}
		put_some(&w, from, t);
		if (include)
			put_include(j, f, t);
		t = from = part_end(f, t);
	}
	put_some(&w, from, end);
	buf_putc(&j->out, '\n');
}

static void
put_licence(struct join *j, struct str version, struct str licence)
{
	struct str line;

	buf_fmt(&j->out, "/* SPDX-License-Identifier: ISC */\n/*\n"
	    " * waza %.*s in one file.  To build it:\n *\n"
	    " *\tcc -O2 -o waza waza-all.c\n *\n"
	    " * util/join made it from the sources, which are the place for"
	    " changes.\n *\n", STRF(version));
	while (str_line(&licence, &line))
		buf_fmt(&j->out, " *%s%.*s\n", line.n > 0 ? " " : "",
		    STRF(line));
	buf_puts(&j->out, " */\n");
}

void
join_write(struct join *j, struct str version, struct str licence)
{
	size_t i;

	put_licence(j, version, licence);
	buf_fmt(&j->out, "#define WAZA_VERSION %.*s\n"
	    "#define _POSIX_C_SOURCE 200809L\n"
	    "#define _FILE_OFFSET_BITS 64\n"
	    "#define _TIME_BITS 64\n", STRF(version));
	put_part(j, PART_FEATURES);
	put_part(j, PART_HEADERS);
	put_part(j, PART_GROUPS);
	buf_puts(&j->out, "#if defined(__GNUC__) && defined(__ELF__)\n"
	    "/* the functions of a plain run; linkers put sections of this name"
	    " first */\n"
	    "#define " FIRST " __attribute__((section(\".text.unlikely.first\")))"
	    "\n#else\n#define " FIRST "\n#endif\n");
	for (i = 0; i < COUNTOF(predefined); i++)
		buf_fmt(&j->out, "#undef %s\n", predefined[i]);
	for (i = 0; i < j->nfiles; i++)
		if (!j->files[i]->header)
			put_file(j, j->files[i]);
}
