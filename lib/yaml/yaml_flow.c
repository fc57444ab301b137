/* SPDX-License-Identifier: ISC */
/*
 * Flow collections.
 *
 * A known deviation: section 7.4 requires a closing bracket to be indented
 * like the other lines.  A bracket in the column of the key is common, every
 * reader accepts it and it is unambiguous, so it is accepted here too.
 */
#include "lib/yaml/yaml_internal.h"

#include "json.h"

/* The collection that is being read. */
struct flow {
	int n;			/* spaces that its lines need */
	char close;		/* its closing bracket */
	const char *type;	/* "sequence" or "mapping" */
	unsigned line;		/* where it starts */
};

static int flow_value(struct yaml_in *, const struct flow *, struct json *);

/* Whether c ends a plain scalar in flow context. */
static bool
is_end(char c)
{
	return yaml_in_is(c, YAML_IN_WHITE | YAML_IN_EOL | YAML_IN_FLOW);
}

/* Checks the indentation of the line at y->p (s-flow-line-prefix [69]). */
static int
check_line(struct yaml_in *y, const struct flow *f)
{
	const char *p = y->p;
	int indent;

	while (*p == ' ')
		p++;
	indent = (int)(p - y->bol);
	y->p = p;
	p = yaml_in_skip_white(p);
	if (*p == '#' || yaml_in_is(*p, YAML_IN_EOL) || indent >= f->n)
		return 0;
	if (indent == f->n - 1 && p == y->p && (*p == ']' || *p == '}'))
		return 0;
	if (*y->p == '\t')
		return yaml_in_bad(y, y->p,
		    "tab used for indentation; use spaces");
	return yaml_in_bad(y, p, "the %s that starts at line %u is not closed, "
	    "or this line of it needs %d or more spaces", f->type, f->line,
	    f->n);
}

/* Skips s-separate [80]: white space, comments, line breaks. */
static int
separate(struct yaml_in *y, const struct flow *f)
{
	for (;;) {
		y->p = yaml_in_skip_white(y->p);
		if (*y->p == '#') {
			if (y->p > y->bol && !yaml_in_is(y->p[-1],
			    YAML_IN_WHITE))
				return yaml_in_bad(y, y->p,
				    "a comment needs a space before #");
			y->p = yaml_in_eol(y, y->p);
		}
		if (*y->p != '\n')
			return 0;
		y->bol = ++y->p;
		y->line++;
		if (yaml_in_marker(y->p))
			return yaml_in_bad(y, y->p, "a document marker inside "
			    "the %s that starts at line %u", f->type, f->line);
		if (check_line(y, f) != 0)
			return -1;
	}
}

/* Sets the error when neither "," nor the closing bracket follows. */
static int
no_comma(struct yaml_in *y, const struct flow *f)
{
	if (*y->p == '\0')
		return yaml_in_bad(y, y->p, "found the end of the file inside "
		    "a %s that starts at line %u: %c is missing", f->type,
		    f->line, f->close);
	if (*y->p == ':')
		return yaml_in_bad(y, y->p, "mapping values are not allowed "
		    "here: quote the text that contains \":\"");
	return yaml_in_bad(y, y->p, "expected , or %c in the %s that starts "
	    "at line %u", f->close, f->type, f->line);
}

/* Requires that a scalar starts at y->p (ns-plain-first [126]). */
static int
check_first(struct yaml_in *y, const struct flow *f)
{
	char c = *y->p;

	if (c == '"' || c == '\'' || !yaml_in_is(c,
	    YAML_IN_INDICATOR | YAML_IN_EOL))
		return 0;
	if ((c == '-' || c == '?' || c == ':') && !is_end(y->p[1]))
		return 0;
	if (c == '\0')
		return no_comma(y, f);
	if (c == ',')
		return yaml_in_bad(y, y->p,
		    "a value is missing before this comma");
	if (c == '-')
		return yaml_in_bad(y, y->p, "a \"- \" list is not allowed "
		    "inside [ ] or { }; quote it if it is text");
	return yaml_scalar_bad_start(y);
}

/* A node with an anchor; the node may be empty [161]. */
static int
anchored(struct yaml_in *y, const struct flow *f, struct json *v)
{
	const char *at = y->p;
	struct yaml_anchor *a = yaml_anchor_open(y);

	if (a == NULL)
		return -1;
	if (*y->p == '[' || *y->p == '{')
		return yaml_in_bad(y, y->p,
		    "a space is needed after the anchor's name");
	if (separate(y, f) != 0)
		return -1;
	if (*y->p == '&' || *y->p == '*')
		return yaml_in_bad(y, y->p, "an anchor cannot precede another "
		    "anchor or an alias");
	if (*y->p == ':' && is_end(y->p[1]))
		return yaml_scalar_bad_key(y, at, '&');
	if (*y->p != ',' && *y->p != ']' && *y->p != '}' &&
	    flow_value(y, f, v) != 0)
		return -1;
	yaml_anchor_close(y, a, v);
	return 0;
}

static int
flow_value(struct yaml_in *y, const struct flow *f, struct json *v)
{
	struct yaml_scalar s;

	yaml_in_place(y, v, y->p);
	switch (*y->p) {
	case '[':
	case '{':
		return yaml_flow_read(y, f->n, v);
	case '&':
		return anchored(y, f, v);
	case '*':
		return yaml_anchor_alias(y, v);
	}
	if (check_first(y, f) != 0 ||
	    yaml_scalar_read(y, f->n, true, &s) != 0)
		return -1;
	return yaml_scalar_value(y, &s, v);
}

/* The value after ':' [146], or null if it is missing. */
static int
after_colon(struct yaml_in *y, const struct flow *f, struct json *v)
{
	if (separate(y, f) != 0)
		return -1;
	if (*y->p == ',' || *y->p == f->close)
		return 0;
	return flow_value(y, f, v);
}

/* An entry of a sequence that is a mapping of one pair [150]. */
static int
pair(struct yaml_in *y, const struct flow *f, const struct yaml_scalar *key,
    struct json *v)
{
	struct json *entry;
	struct yaml_map m;

	if (yaml_scalar_key(y, key, y->p) != 0 || yaml_in_enter(y) != 0)
		return -1;
	yaml_map_init(&m, v);
	y->p++;
	entry = yaml_map_add(y, &m, key);
	if (entry == NULL || after_colon(y, f, entry) != 0)
		return -1;
	y->depth--;
	return yaml_map_done(y, &m);
}

/* One entry of a sequence: a node, or the only pair of a mapping. */
static int
item(struct yaml_in *y, const struct flow *f, struct json *v)
{
	const char *at = y->p, *p;
	struct yaml_scalar s;
	char c = *at;

	if (c == '[' || c == '{' || c == '&' || c == '*') {
		if (flow_value(y, f, v) != 0)
			return -1;
		p = yaml_in_skip_white(y->p);
		if (*p == ':' && (c == '[' || c == '{' || is_end(p[1])))
			return yaml_scalar_bad_key(y, p, c);
		return 0;
	}
	if (check_first(y, f) != 0 ||
	    yaml_scalar_read(y, f->n, true, &s) != 0)
		return -1;
	p = yaml_in_skip_white(y->p);
	if (*p != ':' || (s.plain && !is_end(p[1])))
		return yaml_scalar_value(y, &s, v);
	y->p = p;
	return pair(y, f, &s, v);
}

static int
flow_seq(struct yaml_in *y, const struct flow *f, struct json *v)
{
	struct json **tail = &v->u.child;

	v->type = JSON_ARRAY;
	for (;;) {
		if (separate(y, f) != 0)
			return -1;
		if (*y->p == ']')
			return 0;
		*tail = yaml_in_node(y, y->p);
		v->n++;
		if (item(y, f, *tail) != 0 || separate(y, f) != 0)
			return -1;
		tail = &(*tail)->next;
		if (*y->p == ',')
			y->p++;
		else if (*y->p != ']')
			return no_comma(y, f);
	}
}

/* A key of a mapping, which may span lines in flow context [144]. */
static int
key(struct yaml_in *y, const struct flow *f, struct yaml_scalar *s)
{
	if (yaml_scalar_bad_key(y, y->p, *y->p) != 0 || check_first(y, f) != 0)
		return -1;
	return yaml_scalar_read(y, f->n, true, s);
}

static int
flow_map(struct yaml_in *y, const struct flow *f, struct json *v)
{
	struct yaml_scalar s;
	struct json *entry;
	struct yaml_map m;

	yaml_map_init(&m, v);
	for (;;) {
		if (separate(y, f) != 0)
			return -1;
		if (*y->p == '}')
			return yaml_map_done(y, &m);
		if (key(y, f, &s) != 0)
			return -1;
		entry = yaml_map_add(y, &m, &s);
		if (entry == NULL || separate(y, f) != 0)
			return -1;
		if (*y->p == ':' && (!s.plain || is_end(y->p[1]))) {
			y->p++;
			yaml_in_place(y, entry, y->p);
			if (after_colon(y, f, entry) != 0 ||
			    separate(y, f) != 0)
				return -1;
		}
		if (*y->p == ',')
			y->p++;
		else if (*y->p != '}')
			return no_comma(y, f);
	}
}

int
yaml_flow_read(struct yaml_in *y, int n, struct json *v)
{
	bool seq = *y->p == '[';
	struct flow f = { n, seq ? ']' : '}', seq ? "sequence" : "mapping",
	    y->line };

	if (yaml_in_enter(y) != 0)
		return -1;
	y->p++;
	if ((seq ? flow_seq(y, &f, v) : flow_map(y, &f, v)) != 0)
		return -1;
	y->p++;
	y->depth--;
	return 0;
}
