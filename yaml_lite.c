/* SPDX-License-Identifier: ISC */
/*
 * The YAML reader: streams, documents and block collections (YAML 1.2.2
 * chapters 8.2 and 9).  The files of lib/yaml/ read scalars, flow collections,
 * anchors and mappings.
 *
 * A recursive descent that follows the productions of the specification.
 * Each byte is read a bounded number of times: keys are single lines, so a
 * scalar is known to be a key as soon as it has been read.
 *
 * Invariant: a function that reads a block node leaves the cursor on a fresh
 * line (yaml_in.c), so that y->indent shows the caller whether that line is
 * the next entry of its own collection, belongs to an outer one, or is
 * misplaced.
 */
#include "yaml_lite.h"

#include "json.h"
#include "lib/yaml/yaml_internal.h"

/* Reasons why no block collection can start at a place. */
enum {
	AT_LINE = -1,		/* on the line of a key or of "---" */
	AT_ANCHOR = -2,		/* on the line of its anchor */
	AT_TAB = -3		/* behind a tab */
};

/* The place of a node. */
struct place {
	int n;			/* indentation of the parent */
	int at;			/* column of a collection here, or AT_... */
	bool seq;		/* a sequence may start in column n */
	bool anchored;		/* an anchor precedes it */
};

static int read_node(struct yaml_in *, struct json *, struct place);

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

/* Refuses a tab in the white space before p. */
static int
bad_tab(struct yaml_in *y, const char *p)
{
	while (p > y->bol && yaml_in_is(p[-1], YAML_IN_WHITE))
		p--;
	while (*p == ' ')
		p++;
	return yaml_in_bad(y, p, "tab used for indentation; use spaces");
}

/* Refuses a collection at p; colon is the ':' of a mapping, or NULL. */
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
		return yaml_scalar_bad_key(y, p, '&');
	return yaml_in_bad(y, colon, "mapping values are not allowed here: "
	    "quote the text that contains \": \"");
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

/* Refuses a fresh line that does not continue any collection. */
static int
bad_line(struct yaml_in *y)
{
	if (y->tabbed)
		return bad_tab(y, y->p);
	if (*y->p == '%' && y->p == y->bol)
		return bad_directive(y);
	return yaml_in_bad(y, y->p, "this line does not fit the lines above "
	    "it: check its indentation");
}

/* Refuses an indicator that cannot start a node. */
static int
bad_first(struct yaml_in *y)
{
	if (*y->p == '%' && y->p == y->bol)
		return bad_directive(y);
	if (*y->p == '-')
		return yaml_in_bad(y, y->p, "a list item among the keys of a "
		    "mapping: check its indentation");
	return yaml_scalar_bad_start(y);
}

/* Whether a plain or quoted scalar starts at p. */
static bool
is_scalar(const char *p)
{
	return *p == '"' || *p == '\'' ||
	    !yaml_in_is(*p, YAML_IN_INDICATOR) ||
	    ((*p == '-' || *p == '?' || *p == ':') && !is_blank(p[1]));
}

/* Reads a node from a fresh line; if the line is not part of it, it is null. */
static int
node_on_line(struct yaml_in *y, struct json *v, struct place s)
{
	if (y->indent <= s.n && !(s.seq && y->indent == s.n && !y->tabbed &&
	    is_dash(y->p)))
		return 0;
	s.at = y->tabbed ? AT_TAB : y->indent;
	return read_node(y, v, s);
}

/* Reads the node after an indicator: "-", ":" or "---". */
static int
node_after(struct yaml_in *y, struct json *v, struct place s)
{
	const char *from = y->p;

	while (*y->p == ' ')
		y->p++;
	if (s.at >= 0)		/* compact collections [187] */
		s.at = *y->p == '\t' ? AT_TAB : (int)(y->p - y->bol);
	y->p = yaml_in_skip_white(y->p);
	if (*y->p != '#' && !yaml_in_is(*y->p, YAML_IN_EOL))
		return read_node(y, v, s);
	y->p = from;
	return yaml_in_end_line(y, "this") != 0 ? -1 : node_on_line(y, v, s);
}

/* Reads a sequence in column `at`: l+block-sequence [183]. */
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
		if (node_after(y, *tail,
		    (struct place){ .n = at, .at = 0 }) != 0)
			return -1;
		tail = &(*tail)->next;
	} while (y->indent == at && !y->tabbed && is_dash(y->p));
	if (y->indent > at || (y->indent == at && y->tabbed))
		return bad_line(y);
	y->depth--;
	return 0;
}

/* Reads the next key of a mapping [193], up to its ':'. */
static int
block_key(struct yaml_in *y, int at, struct yaml_scalar *key)
{
	if (yaml_scalar_bad_key(y, y->p, *y->p) != 0)
		return -1;
	if (!is_scalar(y->p))
		return bad_first(y);
	if (yaml_scalar_read(y, at + 1, false, key) != 0)
		return -1;
	y->p = yaml_in_skip_white(y->p);
	if (*y->p != ':' || !is_blank(y->p[1])) {
		yaml_in_bad(y, y->p, "expected \": \" after the key \"%s\"",
		    YAML_IN_SHOW(key->text));
		return err_at(y->err, key->line, key->col);
	}
	return yaml_scalar_key(y, key, y->p);
}

/* Reads a mapping in column `at` [187] from the ':' of its first key on. */
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
		if (entry == NULL || node_after(y, entry, (struct place){
		    .n = at, .at = AT_LINE, .seq = true }) != 0)
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

/* Reads a plain or quoted scalar or, if ':' follows it, a mapping. */
static int
scalar(struct yaml_in *y, struct json *v, struct place s)
{
	struct yaml_scalar key;
	const char *from = y->p, *e;

	if (yaml_scalar_read(y, s.n + 1, false, &key) != 0)
		return -1;
	e = y->p;
	y->p = yaml_in_skip_white(e);
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
	return yaml_in_end_line(y, key.plain ? "this value" :
	    "the closing quote");
}

/* Reads an anchor and its node; AT_ANCHOR while on the anchor's line. */
static int
anchored(struct yaml_in *y, struct json *v, struct place s)
{
	struct yaml_anchor *a;

	if (s.anchored)
		return yaml_in_bad(y, y->p, "a second anchor: a value can have "
		    "only one, and an anchor on a key is not supported");
	a = yaml_anchor_open(y);
	if (a == NULL)
		return -1;
	if (!is_blank(*y->p))
		return yaml_in_bad(y, y->p,
		    "a space is needed after the anchor's name");
	s.anchored = true;
	s.at = AT_ANCHOR;
	if (node_after(y, v, s) != 0)
		return -1;
	yaml_anchor_close(y, a, v);
	return 0;
}

/* Reads an alias or a flow collection, neither of which can be a key. */
static int
alias_or_flow(struct yaml_in *y, struct json *v, struct place s)
{
	const char *e, *at = y->p;

	if ((*y->p == '*' ? yaml_anchor_alias(y, v) :
	    yaml_flow_read(y, s.n + 1, v)) != 0)
		return -1;
	e = yaml_in_skip_white(y->p);
	if (*e == ':' && is_blank(e[1]))
		return yaml_scalar_bad_key(y, e, *at);
	if (*at == '*' && s.anchored)
		return yaml_in_bad(y, at, "an anchor cannot precede an alias");
	return yaml_in_end_line(y, *at == '*' ? "an alias" :
	    "the closing bracket; quote all of it if it is text");
}

/* Reads the block node at the cursor [196]. */
static int
read_node(struct yaml_in *y, struct json *v, struct place s)
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

/* Reads one document [211] into v. */
static int
document(struct yaml_in *y, struct json *v)
{
	struct place s = { .n = -1, .at = AT_LINE };
	int rc;

	y->anchors = NULL;
	y->depth = y->deepest = 0;
	if (y->indent >= 0) {
		rc = node_on_line(y, v, s);
	} else {
		y->p += 3;
		yaml_in_place(y, v, y->p);
		rc = node_after(y, v, s);
	}
	if (rc == 0 && y->indent >= 0)
		return bad_line(y);
	return rc;
}

/* Reads all documents [211] and the markers between them. */
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
			if (yaml_in_end_line(y, "the document end marker") != 0)
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
		err_set(e, ERR_SYNTAX, "the file contains %u documents; only "
		    "one is allowed here", (unsigned)docs->n);
		err_at(e, v->next->line, v->next->col);
		return NULL;
	}
	return v;
}

int
yaml_check_json(const struct json *v, struct err *e)
{
	const struct json *k;
	struct str s = json_text(v);

	if (v->type == JSON_NUMBER && (s.p[s.n - 1] < '0' ||
	    s.p[s.n - 1] > '9')) {
		err_set(e, ERR_SCHEMA, "JSON has no number %.*s (quote it if "
		    "it is text)", STRF(json_source(v)));
		return err_at(e, v->line, v->col);
	}
	for (k = json_first(v); k != NULL; k = k->next)
		if (yaml_check_json(k, e) == -1)
			return -1;
	return 0;
}
