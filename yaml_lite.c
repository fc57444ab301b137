/* SPDX-License-Identifier: ISC */
/*
 * The YAML reader: streams, documents and block collections (YAML 1.2.2
 * chapters 8.2 and 9).  Scalars, flow collections, anchors and mappings have
 * files of their own.
 *
 * It descends by the productions of the specification, straight over the
 * text.  Each byte is looked at a bounded number of times: whether a scalar
 * is a key is known when it has been read, because keys are single lines.
 *
 * Invariant: a function that reads a block node leaves the cursor on a fresh
 * line (yaml_in.c), so that the caller sees by y->indent whether that line is
 * the next entry of its own collection, belongs further up, or is misplaced.
 */
#include "yaml_lite.h"

#include "json.h"
#include "lib/yaml/yaml_anchor.h"
#include "lib/yaml/yaml_block.h"
#include "lib/yaml/yaml_flow.h"
#include "lib/yaml/yaml_internal.h"
#include "lib/yaml/yaml_map.h"
#include "lib/yaml/yaml_scalar.h"

/* Why no block collection can start where a node stands. */
enum {
	AT_LINE = -1,		/* on the line of a key or of "---" */
	AT_ANCHOR = -2,		/* on the line of its anchor */
	AT_TAB = -3		/* behind a tab */
};

/* Where a node stands. */
struct spot {
	int n;			/* indentation of the parent */
	int at;			/* column of a collection here, or AT_... */
	bool seq;		/* a sequence may stand in column n */
	bool anchored;		/* an anchor came before */
};

static int content(struct yaml_in *, struct json *, struct spot);

static bool
is_blank(char c)
{
	return yaml_in_is(c, YAML_IN_WHITE | YAML_IN_EOL);
}

static bool
is_dash(const char *p)
{
	return *p == '-' && is_blank(p[1]);
}

/* A tab in the white space before p. */
static int
bad_tab(struct yaml_in *y, const char *p)
{
	while (p > y->bol && yaml_in_is(p[-1], YAML_IN_WHITE))
		p--;
	while (*p == ' ')
		p++;
	return yaml_in_bad(y, p, "tab used for indentation; use spaces");
}

/* A collection starts at p where none can; a mapping has its ':' at colon. */
static int
bad_start(struct yaml_in *y, int at, const char *p, const char *colon)
{
	if (at == AT_TAB)
		return bad_tab(y, p);
	if (colon == NULL)
		return yaml_in_bad(y, p, at == AT_ANCHOR ?
		    "a list cannot start on the line of its anchor" :
		    "a \"- \" list must start on a line of its own");
	if (at == AT_ANCHOR)
		return yaml_in_bad(y, p,
		    "an anchor on a key is not supported");
	return yaml_in_bad(y, colon, "mapping values are not allowed here: "
	    "quote the text that holds \": \"");
}

static int
bad_directive(struct yaml_in *y)
{
	const char *e = y->p;

	while (!is_blank(*e))
		e++;
	return yaml_in_bad(y, y->p, "the directive %s is not supported",
	    YAML_IN_SHOW((struct str){ y->p, (size_t)(e - y->p) }));
}

/* A fresh line that nothing above it can take. */
static int
bad_line(struct yaml_in *y)
{
	if (y->tabbed)
		return bad_tab(y, y->p);
	if (*y->p == '%' && y->p == y->bol)
		return bad_directive(y);
	return yaml_in_bad(y, y->p, "this line does not fit what stands above "
	    "it: check its indentation");
}

/* No node starts at the cursor. */
static int
bad_first(struct yaml_in *y)
{
	if (*y->p == '%' && y->p == y->bol)
		return bad_directive(y);
	if (*y->p == '-')
		return yaml_in_bad(y, y->p, "a list item stands among the keys "
		    "of a mapping: check its indentation");
	return yaml_scalar_none(y);
}

/* Whether a plain or quoted scalar starts at p. */
static bool
is_scalar(const char *p)
{
	return *p == '"' || *p == '\'' ||
	    !yaml_in_is(*p, YAML_IN_INDICATOR) ||
	    ((*p == '-' || *p == '?' || *p == ':') && !is_blank(p[1]));
}

static void
skip_white(struct yaml_in *y)
{
	while (yaml_in_is(*y->p, YAML_IN_WHITE))
		y->p++;
}

/* A node on a line of its own, or none: then it is empty, and null. */
static int
fresh(struct yaml_in *y, struct json *v, struct spot s)
{
	if (y->indent <= s.n && !(s.seq && y->indent == s.n && !y->tabbed &&
	    is_dash(y->p)))
		return 0;
	s.at = y->tabbed ? AT_TAB : y->indent;
	return content(y, v, s);
}

/* The node after an indicator: "-", ":" or "---". */
static int
after(struct yaml_in *y, struct json *v, struct spot s)
{
	const char *from = y->p;

	while (*y->p == ' ')
		y->p++;
	if (s.at >= 0)		/* compact collections [187] */
		s.at = *y->p == '\t' ? AT_TAB : (int)(y->p - y->bol);
	skip_white(y);
	if (*y->p != '#' && !yaml_in_is(*y->p, YAML_IN_EOL))
		return content(y, v, s);
	y->p = from;
	return yaml_in_rest(y, "this") != 0 ? -1 : fresh(y, v, s);
}

/* A list in column `at`: l+block-sequence [183]. */
static int
block_seq(struct yaml_in *y, struct json *v, int at)
{
	struct json **tail = &v->u.child;

	if (yaml_in_enter(y) != 0)
		return -1;
	v->type = JSON_ARRAY;
	do {
		y->p++;
		*tail = yaml_in_node(y, y->p);
		v->n++;
		if (after(y, *tail, (struct spot){ .n = at, .at = 0 }) != 0)
			return -1;
		tail = &(*tail)->next;
	} while (y->indent == at && !y->tabbed && is_dash(y->p));
	if (y->indent > at || (y->indent == at && y->tabbed))
		return bad_line(y);
	y->depth--;
	return 0;
}

/* The next key of a mapping [193], and its ':'. */
static int
block_key(struct yaml_in *y, int at, struct yaml_scalar *key)
{
	const char *what = *y->p == '&' ? "an anchor on" : *y->p == '*' ?
	    "an alias as" : *y->p == '[' || *y->p == '{' ?
	    "a collection as" : NULL;

	if (what != NULL)
		return yaml_in_bad(y, y->p, "%s a key is not supported", what);
	if (!is_scalar(y->p))
		return bad_first(y);
	if (yaml_scalar_read(y, at + 1, false, key) != 0)
		return -1;
	skip_white(y);
	if (*y->p != ':' || !is_blank(y->p[1])) {
		yaml_in_bad(y, y->p, "expected \": \" after the key \"%s\"",
		    YAML_IN_SHOW(key->text));
		return err_at(y->err, key->line, key->col);
	}
	return yaml_scalar_key(y, key, y->p);
}

/* A mapping in column `at` [187], the cursor on the ':' of its first key. */
static int
block_map(struct yaml_in *y, struct json *v, int at, struct yaml_scalar *key)
{
	struct yaml_map m;
	struct json *entry;

	if (yaml_in_enter(y) != 0)
		return -1;
	yaml_map_init(&m, v);
	for (;;) {
		y->p++;
		entry = yaml_map_add(y, &m, key);
		if (entry == NULL || after(y, entry, (struct spot){ .n = at,
		    .at = AT_LINE, .seq = true }) != 0)
			return -1;
		if (y->indent < at)
			break;
		if (y->indent > at || y->tabbed)
			return bad_line(y);
		if (block_key(y, at, key) != 0)
			return -1;
	}
	y->depth--;
	return yaml_map_done(y, &m);
}

/* A plain or quoted scalar; with ':' behind it, a mapping. */
static int
scalar(struct yaml_in *y, struct json *v, struct spot s)
{
	struct yaml_scalar key;
	const char *from = y->p, *e;

	if (yaml_scalar_read(y, s.n + 1, false, &key) != 0)
		return -1;
	e = y->p;
	skip_white(y);
	if (*y->p == ':' && is_blank(y->p[1])) {
		if (yaml_scalar_key(y, &key, y->p) != 0)
			return -1;
		if (s.at < 0)
			return bad_start(y, s.at, from, y->p);
		return block_map(y, v, s.at, &key);
	}
	y->p = e;
	if (yaml_scalar_value(y, &key, v) != 0)
		return -1;
	return yaml_in_rest(y, key.plain ? "this value" :
	    "the closing quote");
}

/* A node after its anchor; AT_ANCHOR while on the anchor's line. */
static int
anchored(struct yaml_in *y, struct json *v, struct spot s)
{
	struct yaml_anchor *a;

	if (s.anchored)
		return yaml_in_bad(y, y->p, "a second anchor: a value can have "
		    "one, and an anchor on a key is not supported");
	a = yaml_anchor_open(y);
	if (a == NULL)
		return -1;
	if (!is_blank(*y->p))
		return yaml_in_bad(y, y->p,
		    "a space is needed after the anchor's name");
	s.anchored = true;
	s.at = AT_ANCHOR;
	if (after(y, v, s) != 0)
		return -1;
	yaml_anchor_close(y, a, v);
	return 0;
}

/* An alias or a flow collection: nothing that can be a key. */
static int
alias_or_flow(struct yaml_in *y, struct json *v, struct spot s)
{
	const char *e, *what = *y->p == '*' ? "an alias" : "a collection";
	const char *at = y->p;

	if ((*y->p == '*' ? yaml_anchor_alias(y, v) :
	    yaml_flow_read(y, s.n + 1, v)) != 0)
		return -1;
	e = y->p;
	skip_white(y);
	if (*y->p == ':' && is_blank(y->p[1]))
		return yaml_in_bad(y, y->p,
		    "%s as a key is not supported", what);
	if (*at == '*' && s.anchored)
		return yaml_in_bad(y, at,
		    "an anchor cannot stand before an alias");
	y->p = e;
	return yaml_in_rest(y, *at == '*' ? what : "the closing bracket; "
	    "quote the whole if it is meant as text");
}

/* A block node, the cursor on its first byte [196]. */
static int
content(struct yaml_in *y, struct json *v, struct spot s)
{
	yaml_in_place(y, v, y->p);
	switch (*y->p) {
	case '&':
		return anchored(y, v, s);
	case '*':
	case '[':
	case '{':
		return alias_or_flow(y, v, s);
	case '|':
	case '>':
		return yaml_block_read(y, s.n, v);
	}
	if (is_scalar(y->p))
		return scalar(y, v, s);
	if (*y->p != '-')
		return bad_first(y);
	return s.at < 0 ? bad_start(y, s.at, y->p, NULL) :
	    block_seq(y, v, s.at);
}

/* One document [211], its node into v. */
static int
document(struct yaml_in *y, struct json *v)
{
	struct spot s = { .n = -1, .at = AT_LINE };
	int rc;

	y->anchors = NULL;
	y->depth = y->deepest = 0;
	if (y->indent >= 0) {
		rc = fresh(y, v, s);
	} else {
		y->p += 3;
		yaml_in_place(y, v, y->p);
		rc = after(y, v, s);
	}
	if (rc == 0 && y->indent >= 0)
		return bad_line(y);
	return rc;
}

/* All documents [211]: markers, and what stands between them. */
static int
stream(struct yaml_in *y, struct json *docs)
{
	struct json **tail = &docs->u.child;

	yaml_in_lines(y);
	while (*y->p != '\0') {
		if (y->p == y->bol &&
		    str_starts((struct str){ y->p, (size_t)(y->end - y->p) },
		    STR("\xef\xbb\xbf"))) {	/* l-document-prefix [202] */
			y->p += 3;
			yaml_in_lines(y);
			continue;
		}
		if (y->indent < 0 && *y->p == '.') {
			y->p += 3;
			if (yaml_in_rest(y, "the document end marker") != 0)
				return -1;
			continue;
		}
		if (*y->p == '%' && y->p == y->bol)
			return bad_directive(y);
		*tail = yaml_in_node(y, y->p);
		docs->n++;
		if (document(y, *tail) != 0)
			return -1;
		tail = &(*tail)->next;
	}
	return 0;
}

struct json *
yaml_read(struct arena *a, struct str text, const struct yaml_opt *opt,
    struct err *e)
{
	const struct yaml_opt none = { 0 };
	const struct yaml_opt *o = opt == NULL ? &none : opt;
	const size_t bytes = o->bytes == 0 ? YAML_BYTES : o->bytes;
	struct yaml_in y = {
		.max_depth = o->depth == 0 ? YAML_DEPTH :
		    o->depth > YAML_DEPTH_MAX ? YAML_DEPTH_MAX : o->depth,
		.max_aliased = o->aliased == 0 ? YAML_ALIASED : o->aliased,
		.mem = a,
		.err = e,
	};
	struct json *docs;

	if (text.n > bytes || text.n > 1 << 30) {
		err_set(e, ERR_LIMIT, "the text has %zu bytes; the limit is "
		    "%zu", text.n, bytes);
		err_at(e, 1, 1);
		return NULL;
	}
	if (yaml_in_open(&y, text) != 0)
		return NULL;
	docs = yaml_in_node(&y, y.p);
	docs->type = JSON_ARRAY;
	return stream(&y, docs) != 0 ? NULL : docs;
}

struct json *
yaml_read_one(struct arena *a, struct str text, struct err *e)
{
	struct json *docs = yaml_read(a, text, NULL, e), *v;

	if (docs == NULL)
		return NULL;
	if (docs->n == 0) {
		v = NEW(a, struct json);
		v->line = v->col = 1;
		return v;
	}
	v = docs->u.child;
	if (docs->n > 1) {
		err_set(e, ERR_SYNTAX, "the file holds %u documents; one is "
		    "expected here", (unsigned)docs->n);
		err_at(e, v->next->line, v->next->col);
		return NULL;
	}
	return v;
}
