/* SPDX-License-Identifier: ISC */
/*
 * What `waza run --on` submits: words, quoted for sh, and the script of jobs
 * that share a file system with this process.
 */
#include "cmd/scale/on.h"

#include <string.h>

void
on_quote(struct buf *b, const char *word)
{
	static const char safe[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+=:,./-";

	if (*word != '\0' && word[strspn(word, safe)] == '\0') {
		buf_puts(b, word);
		return;
	}
	buf_putc(b, '\'');
	for (; *word != '\0'; word++)
		if (*word == '\'')
			buf_puts(b, "'\\''");
		else
			buf_putc(b, *word);
	buf_putc(b, '\'');
}

void
on_quote_words(struct buf *b, const char *const *v, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (i > 0)
			buf_putc(b, ' ');
		on_quote(b, v[i]);
	}
}

/* A command as a comment; a line break in a word must not end it. */
static void
put_comment(struct buf *b, const char *what, const char *const *argv)
{
	struct buf text = { 0 };
	size_t i, n = 0;

	while (argv[n] != NULL)
		n++;
	on_quote_words(&text, argv, n);
	buf_fmt(b, "# %s", what);
	for (i = 0; i < text.n; i++) {
		buf_putc(b, text.p[i]);
		if (text.p[i] == '\n')
			buf_puts(b, "# ");
	}
	buf_putc(b, '\n');
	buf_free(&text);
}

void
on_put_script(struct on *on, struct buf *b, const char *number)
{
	const char *const make[] = { "mkdir", "-p", on->dir, NULL };
	const char *const merge[] = { on->waza, "merge", on->dir, NULL };

	buf_fmt(b, "#!/bin/sh\n# Runs shard K of %zu; written by waza run --on "
	    "%s.\n", on->n, on->engine->name);
	put_comment(b, "before:  ", make);
	put_comment(b, "submit:  ", on->engine->command(on));
	put_comment(b, "collect: ", merge);
	if (number != NULL)	/* we do not take its jobs with us */
		buf_fmt(b, "unset " PROC_MARK "\nk=${1:-%s}\ncd ", number);
	else
		buf_puts(b, "k=${1:?number of a shard}\ncd ");
	on_quote(b, on->cwd);
	buf_puts(b, " || exit 2\nexec ");
	on_quote(b, on->waza);
	buf_fmt(b, " run --shard \"$k/%zu\" --resume --no-summary -o ", on->n);
	on_quote(b, on->dir);
	buf_puts(b, "/\"shard-$k.json\"");
	if (on->nwords > 0)
		buf_putc(b, ' ');
	on_quote_words(b, on->words, on->nwords);
	buf_putc(b, '\n');
}

const char *
on_range(const struct on *on)
{
	struct buf b = { 0 };
	size_t i, last;

	for (i = 0; i < on->n; i = last + 1) {
		last = i;
		if (!on->shards[i].wanted)
			continue;
		while (last + 1 < on->n && on->shards[last + 1].wanted)
			last++;
		buf_fmt(&b, "%s%zu", b.n > 0 ? "," : "", i + 1);
		if (last > i)
			buf_fmt(&b, "-%zu", last + 1);
	}
	return arena_take(on->arena, &b).p;
}

void
on_add(struct on_words *w, const char *word)
{
	const char **v;

	if (w->n + 1 >= w->cap) {
		w->cap = w->cap > 0 ? 2 * w->cap : 16;
		v = NEW_N(w->arena, const char *, w->cap);
		if (w->n > 0)
			memcpy(v, w->v, w->n * sizeof(*v));
		w->v = v;
	}
	w->v[w->n++] = word;
	w->v[w->n] = NULL;
}

void
on_add_all(struct on_words *w, const struct opt_list *list)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		on_add(w, list->v[i]);
}
