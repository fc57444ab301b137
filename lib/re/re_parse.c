/* SPDX-License-Identifier: ISC */
/*
 * The parser: one pass over the pattern that generates code directly.
 *
 * An atom is a fragment that a repetition can follow; a group records where
 * its code and its current alternative begin.  "x|y" becomes
 *
 *	SPLIT 1f  x  JMP 2f  1: y  2:
 *
 * where the JMPs of one group are chained through .x until its end is known.
 * If x can match without reading, x* is compiled as (x+)?, which preserves the
 * order of empty matches; x{2,4} is xx(x(x)?)?, whose exits all lead to the
 * same instruction.
 *
 * There is no recursion; a level of nesting costs a struct re_group.
 */
#include "lib/re/re_internal.h"

#include <string.h>

static int
too_big(struct re_parser *p, size_t at)
{
	err_set(p->e, ERR_LIMIT, "expression too large: more than %d "
	    "instructions or %d ranges", RE_PROG_MAX, RE_RANGE_MAX);
	return err_at(p->e, 0, (unsigned)at + 1);
}

/* Groups and alternatives. */

static int
open_group(struct re_parser *p, size_t open, size_t capture, unsigned flags)
{
	if (p->depth > RE_DEPTH_MAX) {		/* the pattern is one */
		err_set(p->e, ERR_LIMIT, "groups nest deeper than %d",
		    RE_DEPTH_MAX);
		return err_at(p->e, 0, (unsigned)open + 1);
	}
	p->stack = re_prog_grow(p->tmp, p->stack, p->depth, &p->cap,
	    p->depth + 1, sizeof(*p->stack));
	if (p->depth > 0) {
		p->top = &p->stack[p->depth - 1];
		re_atom_settle(p);
	}
	p->top = &p->stack[p->depth++];
	*p->top = (struct re_group){ .open = open, .start = p->code->n,
		.jumps = RE_NONE, .capture = capture, .weight = 1,
		.nullable = true, .flags = p->flags };
	p->flags = flags;
	if (capture > 0 || p->depth == 1)
		re_code_put(p->code, RE_SAVE, 0, (uint32_t)(2 * capture));
	p->top->alt = p->code->n;
	return 0;
}

static void
alternative(struct re_parser *p)
{
	struct re_code *c = p->code;
	struct re_group *g = p->top;

	re_code_insert(c, g->alt, RE_SPLIT, 0,
	    (uint32_t)(c->n + 2 - g->alt));
	re_code_put(c, RE_JMP, 0, (uint32_t)g->jumps);
	g->jumps = c->n - 1;
	g->alt = c->n;
	re_atom_settle(p);
	g->passable = g->passable || g->nullable;
	g->nullable = true;
}

static void
close_group(struct re_parser *p)
{
	struct re_code *c = p->code;
	struct re_group *g = p->top;
	size_t i, next;

	if (c->full)
		return;
	for (i = g->jumps; i != RE_NONE; i = next) {
		next = c->v[i].x == (uint32_t)RE_NONE ? RE_NONE : c->v[i].x;
		c->v[i].x = (uint32_t)(c->n - i);
	}
	if (g->capture > 0 || p->depth == 1)
		re_code_put(c, RE_SAVE, 0, (uint32_t)(2 * g->capture + 1));
	re_atom_settle(p);
	p->atom = g->start;
	p->weight = g->weight;
	p->nullable = g->nullable || g->passable;
	p->flags = g->flags;
	p->depth--;
	p->top = p->depth > 0 ? &p->stack[p->depth - 1] : NULL;
}

static void
name_group(struct re_parser *p, struct str name)
{
	struct str *v;

	if (p->out->ngroups > p->capnames) {
		p->capnames = p->out->ngroups * 2 + 8;
		v = NEW_N(p->tmp, struct str, p->capnames);
		if (p->out->names != NULL)
			memcpy(v, p->out->names,
			    (p->out->ngroups - 1) * sizeof(*v));
		p->out->names = v;
	}
	if (p->out->names != NULL)
		p->out->names[p->out->ngroups - 1] = name;
}

static int
capture(struct re_parser *p, size_t open, struct str name)
{
	p->out->ngroups++;
	if (name.n > 0 || p->out->names != NULL)
		name_group(p, name);
	return open_group(p, open, p->out->ngroups - 1, p->flags);
}

/* (?P<name> or (?<name>; the name begins after `skip` bytes. */
static int
named_group(struct re_parser *p, size_t skip)
{
	size_t open = p->i, from = p->i + skip, i;
	char c;

	for (i = from; i < p->s.n && p->s.p[i] != '>'; i++)
		;
	if (i == p->s.n)
		return re_refuse(p, open, i, "missing `>` of the group name");
	if (i == from)
		return re_refuse(p, open, i + 1, "empty group name");
	p->i = i + 1;
	while (i-- > from) {
		c = p->s.p[i];
		if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || c == '_'))
			return re_refuse(p, open, p->i, "a group name "
			    "consists of letters, digits and _");
	}
	return capture(p, open,
	    (struct str){ p->s.p + from, p->i - 1 - from });
}

static const struct {
	const char *piece, *why;
} unsupported[] = {
	{ "(?=",  "lookahead is not supported" },
	{ "(?!",  "negative lookahead is not supported" },
	{ "(?<=", "lookbehind is not supported" },
	{ "(?<!", "negative lookbehind is not supported" },
	{ "(?>",  "atomic groups are not supported" },
	{ "(?#",  "comments are not supported" },
	{ "(?P=", "backreferences are not supported" },
	{ "(?P>", "recursion is not supported" },
	{ "(?R",  "recursion is not supported" },
	{ "(?&",  "recursion is not supported" },
	{ "(?(",  "conditionals are not supported" },
	{ "(?|",  "branch reset is not supported" },
	{ "(?x",  "the flag x is not supported; flags are i, m, s and U" },
	{ "(?'",  "write a named group as (?P<name>...)" },
};

static int
bad_flags(struct re_parser *p, size_t open)
{
	size_t i, to = p->i;
	struct str rest = { p->s.p + open, p->s.n - open };

	for (i = 0; i < COUNTOF(unsupported); i++)
		if (str_starts(rest, str_of(unsupported[i].piece)))
			return re_refuse(p, open, open +
			    strlen(unsupported[i].piece), unsupported[i].why);
	return re_refuse(p, open, to, re_lex_end(p) && to == p->s.n ?
	    "incomplete group or flags" :
	    "unknown kind of group; flags are i, m, s and U");
}

/* (?i), (?i-s:...), (?:...) and named groups. */
static int
group_flags(struct re_parser *p)
{
	static const char letters[] = "imsU";
	size_t open = p->i;
	unsigned set = p->flags;
	bool minus = false, seen = false;
	const char *at;
	uint32_t r;

	if (re_lex_peek(p, 2) == 'P' && re_lex_peek(p, 3) == '<')
		return named_group(p, 4);
	if (re_lex_peek(p, 2) == '<' && re_lex_peek(p, 3) != '=' &&
	    re_lex_peek(p, 3) != '!')
		return named_group(p, 3);
	for (p->i += 2; !re_lex_end(p);) {
		r = re_lex_rune(p);
		at = r > 0 && r < 128 ? strchr(letters, (int)r) : NULL;
		if (at != NULL) {
			if (minus)
				set &= ~(1u << (at - letters));
			else
				set |= 1u << (at - letters);
			seen = true;
		} else if (r == '-' && !minus) {
			minus = true;
			seen = false;
		} else if ((r == ':' || r == ')') && (!minus || seen)) {
			if (r == ':')
				return open_group(p, open, 0, set);
			p->flags = set;
			return 0;
		} else {
			break;
		}
	}
	return bad_flags(p, open);
}

/* Repetition. */

static void
repeat_code(struct re_parser *p, size_t min, size_t max, bool lazy)
{
	struct re_code *c = p->code;
	size_t a = p->atom, len = c->n - a, i, end;

	if (len == 0 || c->full)
		return;
	if (max == 0) {
		c->n = a;
		return;
	}
	if (min > 1)
		re_code_repeat(c, a, a + len, min - 1);
	if (max == RE_NONE && min == 0 && !p->nullable) {
		re_code_insert(c, a, RE_SPLIT, lazy, (uint32_t)len + 2);
		re_code_put(c, RE_JMP, 0, 0u - (uint32_t)len - 1);
		return;
	}
	if (max == RE_NONE) {
		re_code_put(c, RE_SPLIT, !lazy, 0u - (uint32_t)len);
		if (min == 0)
			re_code_insert(c, a, RE_SPLIT, lazy,
			    (uint32_t)len + 2);
		return;
	}
	if (max == min)
		return;
	if (min == 0) {
		re_code_insert(c, a, RE_SPLIT, lazy, 0);
		re_code_repeat(c, a, a + len + 1, max - 1);
	} else {
		i = c->n;
		re_code_put(c, RE_SPLIT, lazy, 0);
		re_code_repeat(c, a, a + len, 1);
		re_code_repeat(c, i, i + len + 1, max - min - 1);
		a = i;
	}
	end = c->n;
	if (!c->full)
		for (i = a; i < end; i += len + 1)
			c->v[i].x = (uint32_t)(end - i);
}

/* Applies the repetition operator at [from, p->i) to the atom. */
static int
repeat(struct re_parser *p, size_t from, size_t min, size_t max)
{
	bool lazy = (p->flags & RE_FLAG_LAZY) != 0;
	size_t count = max == RE_NONE ? min : max;

	if (re_lex_peek(p, 0) == '?') {
		p->i++;
		lazy = !lazy;
	}
	if (p->repeat != RE_NONE)
		return re_refuse(p, p->repeat, p->i, p->s.p[from] == '+' ?
		    "possessive repetition is not supported" :
		    "a repetition cannot follow another; use (?:...)");
	if (p->atom == RE_NONE)
		return re_refuse(p, from, p->i, "nothing to repeat");
	if (max == 0)
		p->weight = 1;
	else if (count > 0)
		p->weight *= (unsigned)count;
	if (count > 1 && p->weight > RE_REPEAT_MAX) {
		err_set(p->e, ERR_LIMIT, "product of nested counts is %u, "
		    "above the limit of %d", p->weight, RE_REPEAT_MAX);
		return err_at(p->e, 0, (unsigned)from + 1);
	}
	repeat_code(p, min, max, lazy);
	p->nullable = p->nullable || min == 0;
	p->repeat = from;
	return 0;
}

static bool
is_digit(int c)
{
	return c >= '0' && c <= '9';
}

/* Reads a count; values above the limit become RE_REPEAT_MAX + 1. */
static bool
number(struct re_parser *p, size_t *n)
{
	int c = re_lex_peek(p, 0);

	if (!is_digit(c) || (c == '0' && is_digit(re_lex_peek(p, 1))))
		return false;
	for (*n = 0; is_digit(c = re_lex_peek(p, 0)); p->i++) {
		*n = *n * 10 + (size_t)(c - '0');
		if (*n > RE_REPEAT_MAX)
			*n = RE_REPEAT_MAX + 1;
	}
	return true;
}

static bool
counts(struct re_parser *p, size_t *min, size_t *max)
{
	p->i++;
	if (!number(p, min))
		return false;
	*max = *min;
	if (re_lex_peek(p, 0) == ',') {
		p->i++;
		*max = RE_NONE;
		if (re_lex_peek(p, 0) != '}' && !number(p, max))
			return false;
	}
	return re_lex_peek(p, 0) == '}' && p->i++ < p->s.n;
}

/* {n}, {n,} or {n,m}; otherwise the brace is an ordinary character. */
static int
counted(struct re_parser *p)
{
	size_t from = p->i, min, max;

	if (!counts(p, &min, &max)) {
		p->i = from + 1;
		re_atom_rune(p, '{');
		return 0;
	}
	if (min > RE_REPEAT_MAX || (max != RE_NONE && max > RE_REPEAT_MAX)) {
		re_refuse(p, from, p->i, "count above the limit of 1000");
		p->e->code = ERR_LIMIT;
		return -1;
	}
	if (min > max)
		return re_refuse(p, from, p->i, "reversed counts");
	return repeat(p, from, min, max);
}

static int
quantifier(struct re_parser *p)
{
	size_t from = p->i++;

	switch (p->s.p[from]) {
	case '*':
		return repeat(p, from, 0, RE_NONE);
	case '+':
		return repeat(p, from, 1, RE_NONE);
	default:
		return repeat(p, from, 0, 1);
	}
}

/* The pattern. */

static int
right_paren(struct re_parser *p)
{
	if (p->depth == 1)
		return re_refuse(p, p->i, p->i + 1, "missing ( for this )");
	close_group(p);
	p->i++;
	return 0;
}

static int
left_paren(struct re_parser *p)
{
	if (re_lex_peek(p, 1) == '?')
		return group_flags(p);
	p->i++;
	return capture(p, p->i - 1, STR(""));
}

static int
item(struct re_parser *p)
{
	bool lines = (p->flags & RE_FLAG_LINES) != 0;
	bool nl = (p->flags & RE_FLAG_DOT_NL) != 0;

	switch (p->s.p[p->i]) {
	case '(':
		return left_paren(p);
	case ')':
		return right_paren(p);
	case '|':
		alternative(p);
		break;
	case '^':
		re_atom_assert(p, lines ? RE_BEGIN_LINE : RE_BEGIN_TEXT);
		break;
	case '$':
		re_atom_assert(p, lines ? RE_END_LINE : RE_END_TEXT);
		break;
	case '.':
		re_atom_begin(p);
		re_code_put(p->code, nl ? RE_ANY : RE_NOTNL, 0, 0);
		break;
	case '[':
		return re_atom_class(p);
	case '*':
	case '+':
	case '?':
		return quantifier(p);
	case '{':
		return counted(p);
	case '\\':
		return re_atom_escape(p);
	default:
		re_atom_rune(p, re_lex_rune(p));
		return 0;
	}
	p->i++;
	return 0;
}

static int
check_utf8(struct re_parser *p)
{
	const char *s = p->s.p, *end = s + p->s.n;
	uint32_t r;
	size_t k;

	for (; s < end; s += k)
		if ((k = utf8_get(s, end, &r)) == 0) {
			err_set(p->e, ERR_SYNTAX,
			    "pattern is not valid UTF-8");
			return err_at(p->e, 0, (unsigned)(s - p->s.p) + 1);
		}
	return 0;
}

static int
parse(struct re_parser *p)
{
	size_t before, from;

	if (p->s.n > RE_PATTERN_MAX) {
		err_set(p->e, ERR_LIMIT, "pattern longer than %d bytes",
		    RE_PATTERN_MAX);
		return err_at(p->e, 0, RE_PATTERN_MAX + 1);
	}
	if (check_utf8(p) == -1 || open_group(p, 0, 0, 0) == -1)
		return -1;
	while (!re_lex_end(p)) {
		before = p->repeat;
		from = p->i;
		if (item(p) == -1)
			return -1;
		if (p->repeat == before)
			p->repeat = RE_NONE;
		if (p->code->full)
			return too_big(p, from);
	}
	if (p->depth > 1)
		return re_refuse(p, p->top->open, p->top->open + 1,
		    "missing ) for this group");
	close_group(p);
	re_code_put(p->code, RE_MATCH, 0, 0);
	return p->code->full ? too_big(p, p->s.n) : 0;
}

int
re_parse(struct arena *tmp, struct str pattern, struct re_parsed *out,
    struct err *e)
{
	struct re_parser p = { .tmp = tmp, .s = pattern, .e = e, .out = out,
		.code = &out->code, .atom = RE_NONE, .repeat = RE_NONE };
	int status;

	*out = (struct re_parsed){ .code = { .arena = tmp }, .ngroups = 1 };
	status = parse(&p);
	arena_free(&p.sets);
	re_names_free(&p.names);
	return status;
}
