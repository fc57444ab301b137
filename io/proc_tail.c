/* SPDX-License-Identifier: ISC */
/* The last bytes of a stream. */
#include "io/proc.h"

#include <string.h>

void
proc_tail_add(struct proc_tail *t, struct str s)
{
	size_t max = sizeof(t->text), keep;

	if (s.n > max) {
		s.p += s.n - max;
		s.n = max;
	}
	keep = t->n + s.n > max ? max - s.n : t->n;
	memmove(t->text, t->text + (t->n - keep), keep);
	memcpy(t->text + keep, s.p, s.n);
	t->n = keep + s.n;
}

struct str
proc_tail_get(struct arena *a, const struct proc_tail *t)
{
	struct str s = { t->text, t->n };
	const char *cut = NULL;

	if (t->n == sizeof(t->text)) {
		cut = memchr(t->text, '\n', t->n);
		cut = cut != NULL ? cut : memchr(t->text, ' ', t->n);
	}
	if (cut != NULL)
		s = (struct str){ cut + 1, t->n - (size_t)(cut + 1 - s.p) };
	while (s.n > 0 && ((unsigned char)*s.p & 0xC0) == 0x80) {
		s.p++;		/* the rest of a character */
		s.n--;
	}
	while (s.n > 0 && (s.p[s.n - 1] == '\n' || s.p[s.n - 1] == '\r'))
		s.n--;
	return arena_str(a, s);
}
