/* SPDX-License-Identifier: ISC */
/*
 * Unified diffs.
 *
 * The common beginning and end are removed first, by bytes.  The lines between
 * get numbers, equal lines the same.  Lines that only one text contains are
 * changes in any case, so the search skips them: texts without common lines
 * cost almost nothing.
 *
 * Line numbers count from 0 here.  Index 0 is text a, 1 is text b.
 */
#include "lib/diff.h"

#include <stdint.h>
#include <string.h>

#include "lib/diff_internal.h"

enum {
	BLOCK = 4096,		/* bytes compared at once */
	PROBES = 64,		/* in the table of lines */
	LONG_PART = 4		/* lines over 1/4 of max are truncated */
};

/* The lines of one text between the first and the last change. */
struct side {
	struct str text;
	size_t from, to;	/* their bytes */
	size_t line;		/* lines before them */
	size_t *at;		/* n + 1 offsets; NULL: too many to compare */
	size_t n;
	uint32_t *id;		/* numbers; equal lines have the same */
	unsigned char *changed;
};

/* n[] lines from line[] on; they are the bytes at[] to end[]. */
struct change {
	size_t line[2], n[2], at[2], end[2];
};

struct place {
	size_t i[2];
	bool over;
};

struct out {
	struct buf *b;
	size_t start, max, context;
	size_t lines, bytes;	/* left out */
	bool cut;
};

static bool
line_starts(const struct side *s, size_t at)
{
	return at == s->from || s->text.p[at - 1] == '\n';
}

static size_t
count_lines(struct str text, size_t from, size_t to)
{
	const char *p = text.p + from, *end = text.p + to, *nl;
	size_t n = 0;

	for (; p < end; p = nl + 1, n++) {
		nl = memchr(p, '\n', (size_t)(end - p));
		if (nl == NULL)
			return n + 1;
	}
	return n;
}

/* The length of the common beginning of two texts. */
static size_t
common_head(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (most - n >= BLOCK && memcmp(a + n, b + n, BLOCK) == 0)
		n += BLOCK;
	while (n < most && a[n] == b[n])
		n++;
	return n;
}

/* The length of the common end; a and b point to the ends. */
static size_t
common_tail(const char *a, const char *b, size_t most)
{
	size_t n = 0;

	while (most - n >= BLOCK &&
	    memcmp(a - n - BLOCK, b - n - BLOCK, BLOCK) == 0)
		n += BLOCK;
	while (n < most && *(a - n - 1) == *(b - n - 1))
		n++;
	return n;
}

/* Excludes the lines that both texts begin and end with. */
static void
trim(struct side *a, struct side *b)
{
	struct str s = a->text, t = b->text;
	size_t most = s.n < t.n ? s.n : t.n, n;

	n = common_head(s.p, t.p, most);
	while (n > 0 && s.p[n - 1] != '\n')
		n--;
	a->from = b->from = n;
	a->line = b->line = count_lines(s, 0, n);
	n = common_tail(s.p + s.n, t.p + t.n, most - n);
	while (n > 0 && !(line_starts(a, s.n - n) && line_starts(b, t.n - n)))
		n--;
	a->to = s.n - n;
	b->to = t.n - n;
}

static void
split_lines(struct arena *a, struct side *s)
{
	const char *nl;
	size_t i, at = s->from;

	s->at = NEW_N(a, size_t, s->n + 1);
	s->id = NEW_N(a, uint32_t, s->n);
	s->changed = NEW_N(a, unsigned char, s->n);
	for (i = 0; i < s->n; i++) {
		s->at[i] = at;
		nl = memchr(s->text.p + at, '\n', s->to - at);
		at = nl != NULL ? (size_t)(nl + 1 - s->text.p) : s->to;
	}
	s->at[i] = at;
}

static struct str
line_of(const struct side *s, size_t i)
{
	return (struct str){ s->text.p + s->at[i], s->at[i + 1] - s->at[i] };
}

static uint32_t
hash(struct str s)
{
	const uint64_t mult = 0x9E3779B97F4A7C15;
	uint64_t h = s.n * mult, w;
	size_t i;

	for (; s.n >= sizeof(w); s.p += sizeof(w), s.n -= sizeof(w)) {
		memcpy(&w, s.p, sizeof(w));
		h = (h ^ w) * mult;
		h ^= h >> 32;
	}
	for (i = 0, w = 0; i < s.n; i++)
		w = w << 8 | (unsigned char)s.p[i];
	h = (h ^ w) * mult;
	return (uint32_t)(h ^ h >> 32);
}

/* A class of equal lines. */
struct class {
	uint32_t hash;
	uint32_t line;		/* one of them: 2 * line + side */
};

struct classes {
	struct side *side;
	struct class *v;
	uint32_t *table;	/* number of a class + 1; 0: free */
	size_t mask;		/* of the table's size, a power of two */
	uint32_t n;
};

/*
 * In a crowded table, which takes crafted texts, a line may get a class of its
 * own.  It then counts as changed, which is still correct.
 */
static uint32_t
class_of(struct classes *c, unsigned which, size_t i)
{
	struct str s = line_of(&c->side[which], i);
	uint32_t h = hash(s), slot;
	size_t k, probe;

	for (probe = 0; probe < PROBES; probe++) {
		k = (h + probe * (probe + 1) / 2) & c->mask;
		slot = c->table[k];
		if (slot == 0) {
			c->table[k] = c->n + 1;
			break;
		}
		if (c->v[slot - 1].hash == h && str_eq(s,
		    line_of(&c->side[c->v[slot - 1].line & 1],
		    c->v[slot - 1].line >> 1)))
			return slot - 1;
	}
	c->v[c->n] = (struct class){ h, (uint32_t)(i << 1 | which) };
	return c->n++;
}

/*
 * The lines of b are mostly in the order of those of a: try the line after the
 * last match before the table.
 */
static void
number_b(struct classes *c)
{
	struct side *a = &c->side[0], *b = &c->side[1];
	size_t i, next = 0;

	for (i = 0; i < b->n; i++) {
		if (next < a->n && str_eq(line_of(b, i), line_of(a, next))) {
			b->id[i] = a->id[next++];
			continue;
		}
		b->id[i] = class_of(c, 1, i);
		if ((c->v[b->id[i]].line & 1) == 0)
			next = (c->v[b->id[i]].line >> 1) + 1;
		else
			next++;
	}
}

static void
number(struct arena *a, struct side *side)
{
	struct classes set = { .side = side };
	size_t all = side[0].n + side[1].n, size = 16, i;
	unsigned char *seen;
	unsigned s;

	while (size < all * 2)
		size *= 2;
	set.mask = size - 1;
	set.v = NEW_N(a, struct class, all);
	set.table = NEW_N(a, uint32_t, size);
	for (i = 0; i < side[0].n; i++)
		side[0].id[i] = class_of(&set, 0, i);
	number_b(&set);
	seen = NEW_N(a, unsigned char, set.n);
	for (s = 0; s < 2; s++)
		for (i = 0; i < side[s].n; i++)
			seen[side[s].id[i]] |= (unsigned char)(1 << s);
	for (s = 0; s < 2; s++)
		for (i = 0; i < side[s].n; i++)
			side[s].changed[i] = seen[side[s].id[i]] != 3;
}

/* The lines of one text that both texts contain. */
static struct diff_seq
shared(struct arena *a, const struct side *s)
{
	uint32_t *id = NEW_N(a, uint32_t, s->n);
	unsigned char *changed = NEW_N(a, unsigned char, s->n);
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (!s->changed[i])
			id[n++] = s->id[i];
	return (struct diff_seq){ id, changed, (int)n };
}

static void
take_marks(struct side *s, const struct diff_seq *q)
{
	size_t i, n = 0;

	for (i = 0; i < s->n; i++)
		if (!s->changed[i])
			s->changed[i] = q->changed[n++];
}

/*
 * Of a run of equal lines, the last ones are marked as added or removed, since
 * people append.  Moves the changed lines i to e of s down until they meet a
 * change of the other text, whose line is j; returns by how many lines.
 */
static size_t
slide(struct side *s, size_t i, size_t e, const struct side *other, size_t j)
{
	size_t n = 0;

	while (e < s->n && !s->changed[e] && s->id[i] == s->id[e] &&
	    !other->changed[j + n]) {
		s->changed[i++] = 0;
		s->changed[e++] = 1;
		n++;
	}
	return n;
}

static void
slide_all(struct side *side)
{
	struct side *a = &side[0], *b = &side[1];
	size_t i = 0, j = 0, ie, je, n;

	while (i < a->n || j < b->n) {
		for (ie = i; ie < a->n && a->changed[ie]; ie++)
			;
		for (je = j; je < b->n && b->changed[je]; je++)
			;
		n = 0;
		if (ie == i && je == j)
			n = 1;
		else if (je == j)
			n = slide(a, i, ie, b, j);
		else if (ie == i)
			n = slide(b, j, je, a, i);
		i = ie + n;
		j = je + n;
	}
}

static void
compare(struct arena *mem, struct side *side)
{
	struct diff_seq a, b;

	split_lines(mem, &side[0]);
	split_lines(mem, &side[1]);
	number(mem, side);
	a = shared(mem, &side[0]);
	b = shared(mem, &side[1]);
	diff_search(mem, a, b, DIFF_WORK_MAX);
	take_marks(&side[0], &a);
	take_marks(&side[1], &b);
	slide_all(side);
}

/* Finds the next change and moves the place behind it. */
static bool
next_change(const struct side *side, struct place *p, struct change *c)
{
	size_t first;
	unsigned s;

	if (p->over)
		return false;
	if (side[0].at == NULL) {
		p->over = true;
		for (s = 0; s < 2; s++) {
			c->line[s] = side[s].line;
			c->n[s] = side[s].n;
			c->at[s] = side[s].from;
			c->end[s] = side[s].to;
		}
		return true;
	}
	while (p->i[0] < side[0].n && p->i[1] < side[1].n &&
	    !side[0].changed[p->i[0]] && !side[1].changed[p->i[1]]) {
		p->i[0]++;
		p->i[1]++;
	}
	for (s = 0; s < 2; s++) {
		first = p->i[s];
		while (p->i[s] < side[s].n && side[s].changed[p->i[s]])
			p->i[s]++;
		c->line[s] = side[s].line + first;
		c->n[s] = p->i[s] - first;
		c->at[s] = side[s].at[first];
		c->end[s] = side[s].at[p->i[s]];
	}
	return c->n[0] + c->n[1] > 0;
}

static void
put_line(struct out *o, char sign, struct str line)
{
	size_t n = o->max == 0 ? line.n : utf8_cut(line, o->max / LONG_PART).n;

	if (o->max > 0 && o->b->n - o->start + n > o->max)
		o->cut = true;
	if (o->cut) {
		o->lines++;
		o->bytes += line.n;
		return;
	}
	buf_putc(o->b, sign);
	buf_put(o->b, (struct str){ line.p, n });
	if (n < line.n) {
		buf_puts(o->b, "...\n");
		o->bytes += line.n - n;
	} else if (line.p[n - 1] != '\n') {
		buf_puts(o->b, "\n\\ No newline at end of file\n");
	}
}

static void
put_lines(struct out *o, char sign, struct str text, size_t from, size_t to)
{
	const char *nl;
	size_t end;

	for (; from < to; from = end) {
		nl = memchr(text.p + from, '\n', to - from);
		end = nl != NULL ? (size_t)(nl + 1 - text.p) : to;
		put_line(o, sign, (struct str){ text.p + from, end - from });
	}
}

static void
put_range(struct buf *b, char sign, size_t line, size_t n)
{
	buf_fmt(b, " %c%zu", sign, line + (n > 0));
	if (n != 1)
		buf_fmt(b, ",%zu", n);
}

/* The offset *n lines before (after) another; sets *n if there are fewer. */
static size_t
lines_before(struct str text, size_t at, size_t *n)
{
	size_t k;

	for (k = 0; k < *n && at > 0; k++)
		for (at--; at > 0 && text.p[at - 1] != '\n'; at--)
			;
	*n = k;
	return at;
}

static size_t
lines_after(struct str text, size_t at, size_t *n)
{
	const char *nl;
	size_t k;

	for (k = 0; k < *n && at < text.n; k++) {
		nl = memchr(text.p + at, '\n', text.n - at);
		at = nl != NULL ? (size_t)(nl + 1 - text.p) : text.n;
	}
	*n = k;
	return at;
}

/* Writes the changes from first to last as one hunk; p is behind first. */
static size_t
put_hunk(struct out *o, const struct side *side, struct place p,
    const struct change *first, const struct change *last)
{
	static const char sign[2] = { '-', '+' };
	struct str a = side[0].text;
	struct change c = *first, next = *first;
	size_t before = o->context, after = o->context, from, to, line, n = 0;
	unsigned s;

	from = lines_before(a, first->at[0], &before);
	to = lines_after(a, last->end[0], &after);
	if (!o->cut) {
		buf_puts(o->b, "@@");
		for (s = 0; s < 2; s++) {
			line = first->line[s] - before;
			put_range(o->b, sign[s], line, last->line[s] +
			    last->n[s] + after - line);
		}
		buf_puts(o->b, " @@\n");
	}
	put_lines(o, ' ', a, from, first->at[0]);
	for (;; c = next) {
		for (s = 0; s < 2; s++)
			put_lines(o, sign[s], side[s].text, c.at[s], c.end[s]);
		n += c.n[0] + c.n[1];
		if (c.at[0] == last->at[0] && c.at[1] == last->at[1])
			break;
		next_change(side, &p, &next);
		put_lines(o, ' ', a, c.end[0], next.at[0]);
	}
	put_lines(o, ' ', a, last->end[0], to);
	return n;
}

/* Changes with at most twice the context between them form one hunk. */
static size_t
put_hunks(struct out *o, const struct side *side)
{
	struct place p = { { 0, 0 }, false }, q;
	struct change first, last, c;
	size_t n = 0;
	bool more = next_change(side, &p, &first);

	while (more) {
		last = first;
		q = p;
		while ((more = next_change(side, &q, &c)) && c.line[0] -
		    (last.line[0] + last.n[0]) <= 2 * o->context)
			last = c;
		n += put_hunk(o, side, p, &first, &last);
		first = c;
		p = q;
	}
	return n;
}

size_t
diff_unified(struct buf *b, struct str from, struct str to,
    const struct diff_opts *opts)
{
	struct side side[2] = { { .text = from }, { .text = to } };
	struct out o = { .b = b, .start = b->n, .max = opts->max,
		.context = opts->context };
	struct arena mem = { 0 };
	size_t n;
	unsigned s;

	if (str_eq(from, to))
		return 0;
	for (s = 0; s < 2; s++)
		if (side[s].text.n == 0)
			side[s].text = STR("");
	if (o.context > DIFF_LINES_MAX)
		o.context = DIFF_LINES_MAX;
	trim(&side[0], &side[1]);
	for (s = 0; s < 2; s++)
		side[s].n = count_lines(side[s].text, side[s].from, side[s].to);
	if (side[0].n + side[1].n <= DIFF_LINES_MAX)
		compare(&mem, side);
	if (opts->from.n + opts->to.n > 0)
		buf_fmt(b, "--- %.*s\n+++ %.*s\n", STRF(opts->from),
		    STRF(opts->to));
	n = put_hunks(&o, side);
	if (o.lines + o.bytes > 0)
		buf_fmt(b, "... %zu lines, %zu bytes left out\n", o.lines,
		    o.bytes);
	arena_free(&mem);
	return n;
}
