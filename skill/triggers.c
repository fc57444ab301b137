/* SPDX-License-Identifier: ISC */
/*
 * Phrases of descriptions.  A description is cut into sections at its labels;
 * a section with a colon is a list, one without is a sentence.
 */
#include "skill/triggers.h"

#include <stdlib.h>
#include <string.h>

enum role { USE, AVOID, OTHER };

/* A label that begins like another is before it. */
static const struct label {
	const char *word;
	enum role role;
	bool colon;		/* a label only with a colon */
	bool original;		/* ends the original's lists, with a colon */
} labels[] = {
	{ "do not use this skill for", AVOID, false, false },
	{ "do not use this skill when", AVOID, false, false },
	{ "do not use this skill to", AVOID, false, false },
	{ "do not use for", AVOID, false, true },
	{ "do not use when", AVOID, false, false },
	{ "do not use to", AVOID, false, false },
	{ "don't use this skill for", AVOID, false, false },
	{ "don't use this skill when", AVOID, false, false },
	{ "don't use for", AVOID, false, false },
	{ "don't use when", AVOID, false, false },
	{ "not for", AVOID, true, true },
	{ "load this skill when", USE, false, false },
	{ "trigger on", USE, false, false },
	{ "trigger when", USE, false, false },
	{ "triggers on", USE, false, false },
	{ "triggers when", USE, false, false },
	{ "triggers", USE, true, true },
	{ "use it when", USE, false, false },
	{ "use this skill for", USE, false, false },
	{ "use this skill when", USE, false, false },
	{ "use this skill to", USE, false, false },
	{ "use this when", USE, false, false },
	{ "use for", USE, false, true },
	{ "use when", USE, false, false },
	{ "when", USE, true, true },
	{ "invokes", OTHER, true, true },
	{ "for single operations", OTHER, true, true },
};

/* Pairs of quotation marks.  An apostrophe inside a word is not one. */
static const struct quote {
	const char *open, *close;
} quotes[] = {
	{ "\"", "\"" }, { "\342\200\234", "\342\200\235" },
	{ "\343\200\214", "\343\200\215" }, { "'", "'" },
};

struct section {
	enum role role;
	bool list;
	struct str text;
};

static char
lower(char c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

static bool
is_alnum(char c)
{
	c = lower(c);
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool
is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/*
 * The length of the word at the beginning of s, in any case and with any white
 * space for a blank, or 0.
 */
static size_t
match_word(struct str s, const char *word)
{
	size_t i = 0;

	for (; *word != '\0'; word++) {
		if (*word == ' ') {
			if (i == s.n || !is_space(s.p[i]))
				return 0;
			while (i < s.n && is_space(s.p[i]))
				i++;
		} else if (i == s.n || lower(s.p[i++]) != *word) {
			return 0;
		}
	}
	return i < s.n && is_alnum(s.p[i]) ? 0 : i;
}

/* The label at the beginning of s with its length and colon, or NULL. */
static const struct label *
match_label(struct str s, size_t *len, bool *colon)
{
	size_t i, n;

	for (i = 0; i < COUNTOF(labels); i++) {
		n = match_word(s, labels[i].word);
		if (n == 0)
			continue;
		*colon = n < s.n && s.p[n] == ':';
		if (labels[i].colon && !*colon)
			continue;
		*len = n + *colon;
		return &labels[i];
	}
	return NULL;
}

/* The place of the next label from i on, or s.n. */
static size_t
next_label(struct str s, size_t i, const struct label **label, size_t *len,
    bool *colon)
{
	*label = NULL;
	for (; i < s.n; i++) {
		if (i > 0 && is_alnum(s.p[i - 1]))
			continue;
		*label = match_label((struct str){ s.p + i, s.n - i }, len,
		    colon);
		if (*label != NULL)
			break;
	}
	return i;
}

/* Whether a sentence ends with the byte at i: "e.g. this" does not. */
static bool
ends_sentence(struct str s, size_t i)
{
	size_t k = i + 1;

	if (strchr(".!?", s.p[i]) == NULL || s.p[i] == '\0')
		return false;
	while (k < s.n && is_space(s.p[k]))
		k++;
	return k == s.n || (k > i + 1 && (!is_alnum(s.p[k]) ||
	    lower(s.p[k]) != s.p[k]));
}

/* Whether an empty line begins with the line's end at i. */
static bool
empty_line(struct str s, size_t i)
{
	if (s.p[i] != '\n')
		return false;
	for (i++; i < s.n && s.p[i] != '\n'; i++)
		if (!is_space(s.p[i]))
			return false;
	return i < s.n;
}

/* Up to the end of the first sentence or an empty line. */
static struct str
first_sentence(struct str s)
{
	static const char stop[] = "\343\200\202";	/* ideographic */
	size_t i;

	for (i = 0; i < s.n; i++)
		if (ends_sentence(s, i) || empty_line(s, i) || (s.n - i >= 3 &&
		    memcmp(s.p + i, stop, 3) == 0))
			break;
	return (struct str){ s.p, i };
}

/*
 * Phrases.
 */
static struct str
strip(struct str s)
{
	s = str_trim(s);
	while (s.n > 0 && strchr(".,;:\"'", s.p[s.n - 1]) != NULL)
		s = str_trim((struct str){ s.p, s.n - 1 });
	while (s.n > 0 && strchr("\"',;", s.p[0]) != NULL)
		s = str_trim((struct str){ s.p + 1, s.n - 1 });
	return s;
}

/* "a (see b)" without the parenthesis at its end. */
static struct str
without_aside(struct str s)
{
	size_t i;

	if (s.n == 0 || s.p[s.n - 1] != ')')
		return s;
	for (i = s.n; i > 0 && s.p[i - 1] != '('; i--)
		;
	return i > 1 ? (struct str){ s.p, i - 1 } : s;
}

/* "and this" as "this": the last item of a list. */
static struct str
without_join(struct str s)
{
	size_t n = match_word(s, "and");

	if (n == 0)
		n = match_word(s, "or");
	return n > 0 && n < s.n && is_space(s.p[n]) ?
	    (struct str){ s.p + n, s.n - n } : s;
}

/* Adds a phrase in one line; drops empty ones and repetitions. */
static void
add(struct arena *a, struct field_strs *out, struct str s)
{
	struct buf b = { .max = 0 };
	size_t i;

	s = utf8_cut(strip(s), TRIGGERS_PHRASE_MAX);
	for (i = 0; i < s.n; i++)
		if (!is_space(s.p[i]))
			buf_putc(&b, s.p[i]);
		else if (!is_space(s.p[i - 1]))
			buf_putc(&b, ' ');
	s = str_trim(buf_str(&b));
	for (i = 0; i < out->n; i++)
		if (str_eq(out->v[i], s))
			break;
	if (s.n > 0 && i == out->n && out->n < TRIGGERS_MAX)
		out->v[out->n++] = arena_str(a, s);
	buf_free(&b);
}

/* Whether a quotation mark at i opens; its pair, or NULL. */
static const struct quote *
opens(struct str s, size_t i)
{
	struct str rest = { s.p + i, s.n - i };
	size_t k;

	for (k = 0; k < COUNTOF(quotes); k++)
		if (str_starts(rest, str_of(quotes[k].open)))
			break;
	if (k == COUNTOF(quotes) || (rest.p[0] == '\'' && i > 0 &&
	    !is_space(s.p[i - 1]) && s.p[i - 1] != '(' && s.p[i - 1] != '/'))
		return NULL;
	return &quotes[k];
}

/* The place of the mark that closes the quotation, or s.n. */
static size_t
closes(struct str s, size_t i, const struct quote *q)
{
	struct str mark = str_of(q->close);

	for (; i < s.n; i++)
		if (str_starts((struct str){ s.p + i, s.n - i }, mark) &&
		    (*q->close != '\'' || i + 1 == s.n ||
		    !is_alnum(s.p[i + 1])))
			break;
	return i;
}

static void
add_quoted(struct arena *a, struct field_strs *out, struct str s)
{
	const struct quote *q;
	size_t i, end;

	for (i = 0; i < s.n; i++) {
		q = opens(s, i);
		if (q == NULL)
			continue;
		i += strlen(q->open);
		end = closes(s, i, q);
		if (end == s.n)
			return;
		add(a, out, (struct str){ s.p + i, end - i });
		i = end + strlen(q->close) - 1;
	}
}

/* The items of a list; separators inside parentheses do not count. */
static void
add_items(struct arena *a, struct field_strs *out, struct str s)
{
	char sep = memchr(s.p, ';', s.n) != NULL ? ';' : ',';
	size_t i, from = 0;
	int depth = 0;

	for (i = 0; i <= s.n; i++) {
		if (i < s.n && s.p[i] == '(')
			depth++;
		if (i < s.n && s.p[i] == ')' && depth > 0)
			depth--;
		if (i < s.n && (s.p[i] != sep || depth > 0))
			continue;
		add(a, out, without_aside(without_join(strip((struct str){
		    s.p + from, i - from }))));
		from = i + 1;
	}
}

static void
add_section(struct arena *a, struct field_strs *out, const struct section *s)
{
	struct str text = first_sentence(s->text);
	size_t before = out->n;

	add_quoted(a, out, s->text);
	if (out->n > before || text.n == 0)
		return;
	if (s->list)
		add_items(a, out, text);
	else
		add(a, out, text);
}

void
triggers_read(struct arena *a, struct str d, struct triggers *t)
{
	struct field_strs *to[] = { &t->use, &t->avoid };
	const struct label *label, *next;
	struct section s;
	size_t at, end, len, len2 = 0;
	bool colon, colon2 = false;
	int list;

	t->use.n = t->avoid.n = 0;
	t->use.v = NEW_N(a, struct str, TRIGGERS_MAX);
	t->avoid.v = NEW_N(a, struct str, TRIGGERS_MAX);
	for (list = 1; list >= 0; list--) {
		size_t had[] = { t->use.n, t->avoid.n };

		at = next_label(d, 0, &label, &len, &colon);
		for (; label != NULL; label = next, at = end, len = len2,
		    colon = colon2) {
			end = next_label(d, at + len, &next, &len2, &colon2);
			s = (struct section){ label->role, colon, { d.p + at +
			    len, end - at - len } };
			if (s.role != OTHER && colon == list &&
			    (list || had[s.role] == 0))
				add_section(a, to[s.role], &s);
		}
	}
}

/*
 * The original's count.
 */
static size_t
count_items(struct str s)
{
	size_t i, from = 0, n = 0;

	for (i = 0; i <= s.n; i++) {
		if (i < s.n && s.p[i] != ',')
			continue;
		n += strip((struct str){ s.p + from, i - from }).n > 0;
		from = i + 1;
	}
	return n;
}

size_t
triggers_count(struct str text, enum triggers_label which)
{
	static const char *const words[] = {
		[TRIGGERS_USE_FOR] = "use for", [TRIGGERS_WHEN] = "when",
		[TRIGGERS_DO_NOT] = "do not use for",
	};
	const struct label *label;
	size_t at, len = 0, from, end;
	bool colon;

	at = next_label(text, 0, &label, &len, &colon);
	while (label != NULL && (!colon ||
	    strcmp(label->word, words[which]) != 0))
		at = next_label(text, at + len, &label, &len, &colon);
	if (label == NULL)
		return 0;
	end = from = at + len;
	do {
		end = next_label(text, end, &label, &len, &colon);
		if (label == NULL || (colon && label->original))
			break;
		end += len;
	} while (true);
	for (at = from; at < end && !empty_line(text, at); at++)
		;
	return count_items((struct str){ text.p + from, at - from });
}

/*
 * Key words.
 */
enum { KEYWORDS = 4 };

static bool
is_common(struct str w)
{
	static const char *const words[] = { "the", "and", "with", "from",
		"this", "that", "help", "need", "please", "about", "your",
		"into", "have", "will", "task" };
	size_t i;

	for (i = 0; i < COUNTOF(words); i++)
		if (str_is(w, words[i]))
			return true;
	return false;
}

static void
add_keyword(struct arena *a, struct field_strs *out, struct str w)
{
	struct str low = arena_str(a, w);
	char *p = arena_raw(a, w.n, 1);
	size_t i;

	for (i = 0; i < w.n; i++)
		p[i] = lower(w.p[i]);
	low.p = p;
	for (i = 0; i < out->n; i++)
		if (str_eq(out->v[i], low))
			return;
	if (out->n < KEYWORDS && !is_common(low))
		out->v[out->n++] = low;
}

static bool
is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

/* Words: a letter, then at least two of letter, digit, '_' and '-'. */
static void
add_words(struct arena *a, struct field_strs *out, struct str s)
{
	size_t i, from;

	for (i = 0; i < s.n && out->n < KEYWORDS; i++) {
		if (!is_letter(s.p[i]))
			continue;
		from = i;
		while (i < s.n && (is_alnum(s.p[i]) || s.p[i] == '_' ||
		    s.p[i] == '-'))
			i++;
		if (i - from >= 3)
			add_keyword(a, out, (struct str){ s.p + from,
			    i - from });
	}
}

void
triggers_keywords(struct arena *a, const struct triggers *t, struct str name,
    struct field_strs *out)
{
	size_t i, from = 0;

	out->n = 0;
	out->v = NEW_N(a, struct str, KEYWORDS);
	for (i = 0; i < t->use.n; i++)
		add_words(a, out, t->use.v[i]);
	for (i = 0; i <= name.n; i++)
		if (i == name.n || name.p[i] == '-') {
			add_words(a, out, (struct str){ name.p + from,
			    i - from });
			from = i + 1;
		}
	if (out->n == 0 && name.n > 0)
		out->v[out->n++] = name;
	qsort(out->v, out->n, sizeof(*out->v), str_order);
}
