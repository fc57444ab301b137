/* SPDX-License-Identifier: ISC */
/*
 * join VERSION LICENCE FILE.c... [-- FILE.c...]: print the files, and the
 * headers that they include, as one C file (join.h).  Functions of the files
 * before -- are together in the program.  Paths begin at the current directory.
 */
#include "util/join.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
join_fail(const struct join_file *f, const struct join_token *t,
    const char *msg, struct str word)
{
	unsigned line = 1;
	const char *p;

	if (t != NULL)
		for (p = f->v->p - f->v->lead; p < t->p; p++)
			line += *p == '\n';
	fprintf(stderr, "join: %.*s:%u: %s: %.*s\n", STRF(f->path), line, msg,
	    STRF(word));
	exit(1);
}

/* The content of a file, which a NUL follows. */
static struct str
read_file(struct join *j, struct str path)
{
	struct buf b = { 0 };
	FILE *in = fopen(arena_cstr(&j->arena, path), "rb");
	size_t n;

	while (in != NULL && (n = fread(buf_room(&b, 65536), 1, 65536, in)) > 0)
		b.n += n;
	if (in == NULL || ferror(in)) {
		fprintf(stderr, "join: cannot read %.*s\n", STRF(path));
		exit(1);
	}
	fclose(in);
	return arena_take(&j->arena, &b);
}

static struct join_file *load(struct join *, struct str path);

static void
load_includes(struct join *j, struct join_file *f)
{
	const struct join_token *t;
	struct buf b = { 0 };

	for (t = f->v; t->kind != JOIN_END; t++) {
		struct join_file *h;

		if (!t->first || !t->directive || !join_is(t + 1, "include") ||
		    t[2].kind != JOIN_STRING)
			continue;
		h = load(j, (struct str){ t[2].p + 1, t[2].n - 2 });
		buf_put(&b, (struct str){ (const char *)&h, sizeof(h) });
		f->nincludes++;
	}
	f->includes = (void *)b.p;
}

static void
count_words(struct join *j, const struct join_file *f)
{
	const struct join_token *t;

	for (t = f->v; t->kind != JOIN_END; t++)
		if (t->kind == JOIN_WORD)
			join_add(j, &j->words, join_text(t))->n++;
}

static struct join_file *
load(struct join *j, struct str path)
{
	struct join_file *f;
	size_t i;

	for (i = 0; i < j->nfiles; i++)
		if (str_eq(j->files[i]->path, path))
			return j->files[i];
	f = NEW(&j->arena, struct join_file);
	f->path = path;
	f->header = str_ends(path, STR(".h"));
	if (j->nfiles == COUNTOF(j->files))
		join_fail(f, NULL, "too many files", STR(""));
	j->files[j->nfiles++] = f;
	join_lex(f, read_file(j, path));
	count_words(j, f);
	load_includes(j, f);
	join_find_macros(j, f);
	return f;
}

static struct join join;

int
main(int argc, char **argv)
{
	bool rest = false;
	size_t i;

	if (argc < 4) {
		fprintf(stderr, "usage: join VERSION LICENCE FILE.c... "
		    "[-- FILE.c...]\n");
		return 2;
	}
	for (i = 3; i < (size_t)argc; i++)
		if (strcmp(argv[i], "--") == 0)
			rest = true;
		else
			load(&join, str_of(argv[i]))->rest = rest;
	for (i = 0; i < join.nfiles; i++)
		if (join.files[i]->header)
			join_find_locals(&join, join.files[i]);
	for (i = 0; i < join.nfiles; i++)
		if (!join.files[i]->header)
			join_find_locals(&join, join.files[i]);
	join_write(&join, str_of(argv[1]), read_file(&join, str_of(argv[2])));
	if (fwrite(join.out.p, 1, join.out.n, stdout) != join.out.n ||
	    fflush(stdout) != 0) {
		fprintf(stderr, "join: cannot write\n");
		return 1;
	}
	return 0;
}
