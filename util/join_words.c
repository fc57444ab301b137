/* SPDX-License-Identifier: ISC */
/* Sets of words: a hash table with linear probing. */
#include "util/join.h"

static struct join_word *
slot(const struct join_words *w, struct str word)
{
	size_t i = (size_t)str_hash(word) & (w->cap - 1);

	while (w->v[i].word.p != NULL && !str_eq(w->v[i].word, word))
		i = (i + 1) & (w->cap - 1);
	return &w->v[i];
}

static void
grow(struct join *j, struct join_words *w)
{
	struct join_words old = *w;
	size_t i;

	w->cap = old.cap == 0 ? 64 : old.cap * 2;
	w->v = NEW_N(&j->arena, struct join_word, w->cap);
	for (i = 0; i < old.cap; i++)
		if (old.v[i].word.p != NULL)
			*slot(w, old.v[i].word) = old.v[i];
}

struct join_word *
join_find(const struct join_words *w, struct str word)
{
	struct join_word *s = w->cap == 0 ? NULL : slot(w, word);

	return s != NULL && s->word.p != NULL ? s : NULL;
}

struct join_word *
join_add(struct join *j, struct join_words *w, struct str word)
{
	struct join_word *s = join_find(w, word);

	if (s != NULL)
		return s;
	if ((w->n + 1) * 4 > w->cap * 3)
		grow(j, w);
	s = slot(w, word);
	s->word = word;
	w->n++;
	return s;
}
