/* SPDX-License-Identifier: ISC */
/*
 * The nine checks of the specification (agentskills.io), with the original's
 * names and order.  `compatibility` is a string there and a mapping in the
 * original: both are accepted.
 */
#include "skill/check_internal.h"

#include <string.h>

enum { PATH_BYTES = 200 };	/* of a key in a message */

static const struct json *
field(const struct check *c, const char *key)
{
	return json_getc(c->skill.fields, key);
}

static void
pass(struct check_item *item, struct str summary)
{
	if (item->passed)
		item->summary = summary;
}

static void
check_front(struct check *c, struct check_item *item)
{
	static const char *const keys[] = { "name", "description" };
	const struct json *v;
	size_t i;

	if (c->skill.fields == NULL) {
		check_fail(c, item, check_at_key(c, ""), "%s does not begin "
		    "with front matter: add the lines \"---\", \"name: ...\", "
		    "\"description: ...\" and \"---\"",
		    c->agent ? "the file" : "SKILL.md");
		item->summary = STR("front matter is missing");
		return;
	}
	for (i = 0; i < COUNTOF(keys); i++) {
		v = field(c, keys[i]);
		if (v != NULL && v->type == JSON_STRING &&
		    str_trim(json_text(v)).n > 0)
			continue;
		check_fail(c, item, check_at_key(c, keys[i]), v == NULL ||
		    v->type == JSON_NULL || v->type == JSON_STRING ?
		    "\"%s\" is missing or empty" :
		    "\"%s\" must be a string: put it in quotes", keys[i]);
		item->summary = STR("name or description is missing");
	}
	pass(item, STR("front matter has a name and a description"));
}

static void
check_fields(struct check *c, struct check_item *item)
{
	static const char *const allowed[] = { "name", "description", "license",
		"allowed-tools", "metadata", "compatibility", "tools", "model",
		"handoffs", "mcp-servers", "agents" };
	size_t n = c->agent ? COUNTOF(allowed) : 6, i;
	struct buf b = { 0 };
	const struct json *v;
	struct str_nearest near;
	char hint[STR_HINT];

	for (v = json_first(c->skill.fields); v != NULL; v = v->next) {
		near = (struct str_nearest){ .word = json_key(v) };
		for (i = 0; i < n && !str_is(json_key(v), allowed[i]); i++)
			str_nearest(&near, str_of(allowed[i]));
		if (i < n)
			continue;
		check_fail(c, item, (struct check_at){ c->skill.file,
		    v->key_line, v->key_col }, "unknown key \"%.*s\"%s",
		    STRF(utf8_cut(json_key(v), PATH_BYTES)),
		    str_hint(hint, "", near.best));
		buf_fmt(&b, "%s%.*s", b.n > 0 ? ", " : "",
		    STRF(utf8_cut(json_key(v), PATH_BYTES)));
	}
	item->summary = arena_fmt(c->arena, "unknown keys: %.*s",
	    STRF(buf_str(&b)));
	buf_free(&b);
	pass(item, STR("all keys are allowed"));
}

static bool
is_name_char(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= '0' && ch <= '9') ||
	    ch == '-';
}

static void
check_name(struct check *c, struct check_item *item)
{
	struct str s = c->skill.name;
	struct check_at at = check_at_key(c, "name");
	size_t i;

	for (i = 0; i < s.n && is_name_char(s.p[i]); i++)
		;
	if (s.n > CHECK_NAME_MAX)
		check_fail(c, item, at, "the name has %zu bytes, more than %d",
		    s.n, CHECK_NAME_MAX);
	if (s.n > 0 && (s.p[0] == '-' || s.p[s.n - 1] == '-'))
		check_fail(c, item, at, "the name begins or ends with \"-\"");
	if (check_count(s, "--") > 0)
		check_fail(c, item, at, "the name contains \"--\"");
	if (i < s.n)
		check_fail(c, item, at, "the name \"%.*s\" may contain only "
		    "lower-case letters, digits and \"-\"",
		    STRF(utf8_cut(s, PATH_BYTES)));
	item->summary = STR("the name is not valid");
	pass(item, s.n > 0 ? STR("the name is valid") : STR("no name to check"));
}

static void
check_dir(struct check *c, struct check_item *item)
{
	struct str s = c->skill.name;

	if (s.n > 0 && !c->agent && !str_eq(s, c->dir_name))
		check_fail(c, item, check_at_key(c, "name"), "the name "
		    "\"%.*s\" differs from that of its directory, \"%.*s\"",
		    STRF(utf8_cut(s, PATH_BYTES)),
		    STRF(utf8_cut(c->dir_name, PATH_BYTES)));
	item->summary = STR("name and directory differ");
	pass(item, STR("the directory has the name of the skill"));
}

static void
check_description(struct check *c, struct check_item *item)
{
	size_t n = check_chars(str_trim(c->skill.description));
	struct check_at at = check_at_key(c, "description");

	if (n == 0)
		check_fail(c, item, at, "the description is empty");
	else if (n > CHECK_DESCRIPTION_MAX)
		check_fail(c, item, at, "the description has %zu characters, "
		    "more than %d", n, CHECK_DESCRIPTION_MAX);
	item->summary = n == 0 ? STR("the description is empty") :
	    arena_fmt(c->arena, "the description has %zu characters, more "
	    "than %d", n, CHECK_DESCRIPTION_MAX);
	pass(item, arena_fmt(c->arena, "the description has %zu characters",
	    n));
}

/* Visits all strings below v; path is its name so far. */
static void
find_brackets(struct check *c, struct check_item *item, const struct json *v,
    struct buf *path)
{
	const struct json *m;
	size_t n = path->n, i = 0;
	struct str s;

	if (v->type == JSON_STRING) {
		s = json_text(v);
		if (s.n > 0 && (memchr(s.p, '<', s.n) != NULL ||
		    memchr(s.p, '>', s.n) != NULL))
			check_fail(c, item, check_at_node(c, v), "\"%.*s\" "
			    "contains \"<\" or \">\"",
			    STRF(utf8_cut(buf_str(path), PATH_BYTES)));
		return;
	}
	for (m = json_first(v); m != NULL; m = m->next) {
		if (v->type == JSON_ARRAY)
			buf_fmt(path, "[%zu]", i++);
		else
			buf_fmt(path, "%s%.*s", n > 0 ? "." : "",
			    STRF(json_key(m)));
		find_brackets(c, item, m, path);
		path->n = n;
	}
}

static void
check_security(struct check *c, struct check_item *item)
{
	struct buf path = { 0 };

	if (str_starts(c->skill.name, STR("claude-")) ||
	    str_starts(c->skill.name, STR("anthropic-")))
		check_fail(c, item, check_at_key(c, "name"), "names that begin "
		    "with \"claude-\" or \"anthropic-\" are reserved");
	if (c->skill.fields != NULL)
		find_brackets(c, item, c->skill.fields, &path);
	buf_free(&path);
	item->summary = STR("reserved name, or \"<\" or \">\" in the front "
	    "matter");
	pass(item, STR("no reserved name and no markup in the front matter"));
}

static void
check_compatibility(struct check *c, struct check_item *item)
{
	const struct json *v = field(c, "compatibility"), *m;
	size_t n;

	item->summary = STR("compatibility is not valid");
	if (v != NULL && v->type == JSON_STRING) {
		n = check_chars(str_trim(json_text(v)));
		if (n == 0 || n > CHECK_COMPATIBILITY_MAX)
			check_fail(c, item, check_at_node(c, v),
			    "\"compatibility\" has %zu characters, not 1 to %d",
			    n, CHECK_COMPATIBILITY_MAX);
	} else if (v != NULL && v->type != JSON_OBJECT)
		check_fail(c, item, check_at_node(c, v), "\"compatibility\" "
		    "must be a string or a mapping of strings, not %s",
		    json_type_name((enum json_type)v->type));
	else
		for (m = json_first(v); m != NULL; m = m->next)
			if (m->type != JSON_STRING)
				check_fail(c, item, check_at_node(c, m),
				    "\"compatibility.%.*s\" must be a string, "
				    "not %s", STRF(utf8_cut(json_key(m),
				    PATH_BYTES)), json_type_name(
				    (enum json_type)m->type));
	pass(item, v == NULL ? STR("compatibility is not given") :
	    STR("compatibility is valid"));
}

/* A recommended value: its absence is a note. */
static void
recommend(struct check *c, struct check_item *item, const struct json *v,
    const char *key)
{
	bool given = v != NULL && v->type != JSON_NULL &&
	    (v->type != JSON_STRING || str_trim(json_text(v)).n > 0);

	item->status = given ? CHECK_OPTIMAL : CHECK_WARN;
	item->summary = arena_fmt(c->arena, given ? "%s is given" :
	    "%s is not given", key);
	if (!given)
		check_add(c, item->name, CHECK_NOTE, check_at_key(c, ""),
		    "\"%s\" is not given", key);
}

static void
check_license(struct check *c, struct check_item *item)
{
	recommend(c, item, field(c, "license"), "license");
}

static void
check_version(struct check *c, struct check_item *item)
{
	recommend(c, item, json_getc(field(c, "metadata"), "version"),
	    "metadata.version");
}

static const struct {
	const char *name;
	void (*fn)(struct check *, struct check_item *);
} rules[CHECK_SPEC] = {
	{ "spec-frontmatter", check_front },
	{ "spec-allowed-fields", check_fields },
	{ "spec-name", check_name },
	{ "spec-dir-match", check_dir },
	{ "spec-description", check_description },
	{ "spec-security", check_security },
	{ "spec-compatibility", check_compatibility },
	{ "spec-license", check_license },
	{ "spec-version", check_version },
};

/* Types that the specification gives and the original does not check. */
static void
check_types(struct check *c)
{
	const struct json *v = field(c, "allowed-tools"), *m;

	if (v != NULL && v->type != JSON_STRING && v->type != JSON_ARRAY)
		check_add(c, "field-type", CHECK_WARNING, check_at_node(c, v),
		    "\"allowed-tools\" should be a string or a list, not %s",
		    json_type_name((enum json_type)v->type));
	for (m = v != NULL && v->type == JSON_ARRAY ? json_first(v) : NULL;
	    m != NULL; m = m->next)
		if (m->type != JSON_STRING)
			check_add(c, "field-type", CHECK_WARNING,
			    check_at_node(c, m), "\"allowed-tools\" should "
			    "contain strings, not %s",
			    json_type_name((enum json_type)m->type));
	v = field(c, "metadata");
	if (v != NULL && v->type != JSON_OBJECT && v->type != JSON_NULL)
		check_add(c, "field-type", CHECK_WARNING, check_at_node(c, v),
		    "\"metadata\" should be a mapping, not %s",
		    json_type_name((enum json_type)v->type));
}

void
check_run_spec(struct check *c)
{
	struct check_item *item;
	size_t i;

	for (i = 0; i < CHECK_SPEC; i++) {
		item = &c->spec[i];
		*item = (struct check_item){ .name = rules[i].name,
			.passed = true, .status = CHECK_OK };
		if (!c->unread) {
			rules[i].fn(c, item);
			continue;
		}
		item->passed = false;
		item->status = CHECK_WARN;
		item->summary = i == 0 ? STR("the front matter cannot be read") :
		    STR("not checked: the front matter cannot be read");
	}
	if (!c->unread)
		check_types(c);
}
