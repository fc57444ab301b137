/* SPDX-License-Identifier: ISC */
/*
 * The interface: compiles, and chooses an engine for each call.
 *
 *	a plain string		memchr and memcmp (re_seek.c)
 *	no required byte	the same: no match (re_lit_need())
 *	re_test()		the DFA over bytes (re_dfa.c), or bitmaps if it
 *				has too many states (re_bits.c)
 *	re_match()		the DFA finds a lower bound of the start, then
 *				the backtracker if the rest is short, threads
 *				otherwise (re_nfa.c)
 */
#include "lib/re/re.h"

#include <string.h>

#include "lib/re/re_internal.h"

enum { CALL_COST = 200 };	/* in units of a budget */

static struct str
not_null(struct str s)
{
	return s.p != NULL ? s : STR("");
}

static const struct str *
copy_names(struct arena *a, const struct re_parsed *p)
{
	struct str *v;
	size_t i;

	if (p->names == NULL)
		return NULL;
	v = NEW_N(a, struct str, p->ngroups);
	for (i = 0; i < p->ngroups; i++)
		v[i] = p->names[i].n > 0 ? arena_str(a, p->names[i]) : STR("");
	return v;
}

struct re *
re_compile(struct arena *a, struct str pattern, struct err *e)
{
	struct arena tmp = { 0 };
	struct re_parsed parsed;
	struct re *re = NULL;

	if (re_parse(&tmp, not_null(pattern), &parsed, e) == 0) {
		if (mul_max(parsed.code.n, 2 * parsed.ngroups) > RE_SLOT_MAX) {
			err_set(e, ERR_LIMIT, "%zu groups are too many for an "
			    "expression of this size", parsed.ngroups - 1);
			err_at(e, 0, 1);
		} else {
			re = NEW(a, struct re);
			re->arena = a;
			re->ngroups = parsed.ngroups;
			re->names = copy_names(a, &parsed);
			re_prog_end(re, &parsed.code);
			re_lit_find(re);
			re->longest = re_prog_longest(re, &tmp);
		}
	}
	arena_free(&tmp);
	return re;
}

void
re_limit(struct re *re, struct budget *b)
{
	re->budget = b;
}

bool
re_test(struct re *re, struct str text)
{
	struct re_seek seek;
	size_t from = 0;

	text = not_null(text);
	if (!budget_take(re->budget, CALL_COST + text.n / 8))
		return false;
	if (re->lit.whole) {
		seek = re_seek_begin(&re->lit, text.n);
		from = re_seek_next(&seek, &re->lit, text, 0);
		if (seek.way != RE_SEEK_OFF || from == RE_UNSET)
			return from != RE_UNSET;
	}
	return re_dfa_search(re, text, from, NULL);
}

bool
re_match(struct re *re, struct str text, size_t from, struct re_span *spans,
    size_t nspans)
{
	text = not_null(text);
	if (!budget_take(re->budget, CALL_COST))
		return false;
	if (from > text.n || !re_dfa_search(re, text, from, &from))
		return false;
	if (re_nfa_fits(re, text.n - from))
		return re_nfa_back(re, text, from, spans, nspans);
	return re_nfa_pike(re, text, from, spans, nspans);
}

size_t
re_groups(const struct re *re)
{
	return re->ngroups;
}

struct str
re_group_name(const struct re *re, size_t group)
{
	if (re->names == NULL || group >= re->ngroups)
		return STR("");
	return re->names[group];
}
