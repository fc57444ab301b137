/* SPDX-License-Identifier: ISC */
/* JSON Schema: the public suite, messages, numbers, limits. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "grade/grader_internal.h"
#include "json.h"
#include "lib/schema/schema.h"
#include "test/tool/help.h"
#include "test/tool/tap.h"

enum { DOCS = 400 };

/* Schemas that the suite serves from http://localhost:1234/. */
static struct schema_doc docs[DOCS];
static size_t ndocs;

static struct json *
json_of(struct arena *a, struct str text)
{
	struct json_mem mem = { arena_hook, a };
	struct json_error e;
	struct json *v = json_read(&mem, text, 0, &e);

	if (v == NULL)
		printf("# %.*s: %s\n", (int)(text.n < 60 ? text.n : 60),
		    text.p, e.msg);
	return v;
}

/* Lists JSON files below a directory. */
static void
load_docs(struct arena *a, const char *dir, const char *uri)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[1024], name[1024];
	struct str text;

	while (d != NULL && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		snprintf(name, sizeof(name), "%s/%s", uri, e->d_name);
		if (!str_ends(str_of(e->d_name), STR(".json"))) {
			load_docs(a, path, name);
			continue;
		}
		text = read_file(a, path);
		if (text.p == NULL || ndocs == DOCS)
			continue;
		docs[ndocs].uri = arena_str(a, str_of(name));
		docs[ndocs++].doc = json_of(a, text);
	}
	if (d != NULL)
		closedir(d);
}

struct score {
	unsigned right, wrong, refused, odd;
};

static void
count_finding(void *ctx, const struct schema_finding *f)
{
	size_t *n = ctx;

	if (f->msg.n > 0 && f->value != NULL && utf8_valid(f->msg) &&
	    (f->at.n == 0 || f->at.p[0] == '/'))
		++*n;
}

/* 1, 0, or -1 if the schema is refused. */
static int
verdict(struct arena *a, const struct json *schema, const struct json *data,
    const struct schema_opts *o, struct err *e)
{
	struct arena mem = { 0 };
	struct schema *s = schema_compile(a, schema, o, e);
	size_t told = 0;
	int ok;

	if (s == NULL)
		return -1;
	ok = schema_check(s, &mem, data, count_finding, &told, e);
	if (ok >= 0 && (ok == 0) != (told > 0))
		ok = 2;
	if (schema_check(s, &mem, data, NULL, NULL, e) != ok)
		ok = 3;
	if (mem.used != 0)
		ok = 4;
	arena_free(&mem);
	return ok;
}

static bool
says_remote(const struct err *e)
{
	return e->code == ERR_SCHEMA && strstr(e->msg,
	    "is outside this document; remote references are not fetched");
}

static bool
far(const struct json *features, const char *word)
{
	const struct json *f;

	for (f = json_first(features); f != NULL; f = f->next)
		if (str_is(json_text(f), word))
			return true;
	return false;
}

/* Runs one case with and without the documents that the suite serves. */
static void
suite_case(struct str line, struct score *s)
{
	struct arena a = { 0 };
	struct json *c = json_of(&a, line);
	const struct json *schema = json_getc(c, "schema");
	const struct json *data = json_getc(c, "data");
	bool want = json_bool(json_getc(c, "valid"));
	struct str id = json_text(json_getc(c, "id"));
	struct schema_opts o = { .docs = docs, .ndocs = ndocs };
	struct err e = { 0 };
	int got;

	o.draft = str_is(json_text(json_getc(c, "draft")), "draft7") ?
	    SCHEMA_7 : SCHEMA_2020_12;
	got = verdict(&a, schema, data, &o, &e);
	if (got == want)
		s->right++;
	else {
		s->wrong++;
		printf("# %.*s: %d %s\n", STRF(id), got,
		    got == -1 ? e.msg : "");
	}
	o.ndocs = 0;
	got = verdict(&a, schema, data, &o, &e);
	if (got == -1 && says_remote(&e))
		s->refused++;
	else if (got == -1 && far(json_getc(c, "features"), "vocabulary"))
		s->refused++;
	else if (got != want) {
		s->odd++;
		printf("# alone %.*s: %d %s\n", STRF(id), got,
		    got == -1 ? e.msg : "");
	}
	arena_free(&a);
}

static void
suite(const char *corpus)
{
	struct arena a = { 0 };
	struct score s = { 0 };
	char path[1024];
	struct str text;
	const char *p, *nl;

	snprintf(path, sizeof(path), "%s/jsonschema/remotes", corpus);
	load_docs(&a, path, "http://localhost:1234");
	snprintf(path, sizeof(path), "%s/jsonschema/CASES.jsonl", corpus);
	text = read_file(&a, path);
	if (text.p == NULL) {
		SKIP("no corpus with jsonschema/CASES.jsonl");
		return;
	}
	for (p = text.p; p < text.p + text.n; p = nl + 1) {
		nl = memchr(p, '\n', (size_t)(text.p + text.n - p));
		if (nl == NULL)
			break;
		suite_case((struct str){ p, (size_t)(nl - p) }, &s);
	}
	printf("# suite: %u right, %u wrong; alone %u refused as remote, %u odd\n",
	    s.right, s.wrong, s.refused, s.odd);
	OK(s.right > 1300 && s.wrong == 0);
	OK(s.refused >= 41 && s.odd == 0);
	arena_free(&a);
}

/* The first finding as "pointer: message", or the error. */
static void
keep_first(void *ctx, const struct schema_finding *f)
{
	struct buf *b = ctx;

	if (b->n == 0)
		buf_fmt(b, "%.*s: %.*s", STRF(f->at), STRF(f->msg));
}

static bool
outcome_is(const char *schema, const char *value, enum schema_draft draft,
    const char *want)
{
	struct arena a = { 0 };
	struct schema_opts o = { .draft = draft, .steps = 1 << 22 };
	struct json *doc = json_of(&a, str_of(schema));
	struct json *v = json_of(&a, str_of(value));
	struct err e = { 0 };
	struct buf b = { 0 };
	struct schema *s = schema_compile(&a, doc, &o, &e);
	int ok;
	bool same;

	if (s == NULL)
		buf_fmt(&b, "schema %s", e.msg);
	else if ((ok = schema_check(s, &a, v, keep_first, &b, &e)) != 0)
		buf_fmt(&b, "%s", ok > 0 ? "valid" : e.msg);
	same = str_is(buf_str(&b), want);
	if (!same)
		printf("# %s\n#  %s\n#  want %s\n#  got  %.*s\n", schema, value,
		    want, STRF(buf_str(&b)));
	buf_free(&b);
	arena_free(&a);
	return same;
}

struct row {
	const char *schema, *value, *want;
};

static void
run_rows(const struct row *rows, size_t n, enum schema_draft draft)
{
	size_t i;

	for (i = 0; i < n; i++)
		tap_ok(outcome_is(rows[i].schema, rows[i].value, draft,
		    rows[i].want), rows[i].want, __FILE__, __LINE__);
}

#define TEN(x) "\"" x "0\":0,\"" x "1\":0,\"" x "2\":0,\"" x "3\":0,\"" x "4\":0,\"" \
	x "5\":0,\"" x "6\":0,\"" x "7\":0,\"" x "8\":0,\"" x "9\":0,"
#define MANY TEN("x") TEN("y") TEN("z")
#define WANTS_A_AND_B "{\"properties\":{\"a\":{\"type\":\"string\"}},\"required\":[\"a\",\"b\"]}"

static const struct row messages[] = {
	/* few names, many members: they are looked up */
	{ WANTS_A_AND_B, "{" MANY "\"a\":\"x\",\"b\":1}", "valid" },
	{ WANTS_A_AND_B, "{" MANY "\"a\":1,\"b\":1}", "/a: must be a string, is a number (1)" },
	{ WANTS_A_AND_B, "{" MANY "\"a\":\"x\"}", ": must have the property \"b\"" },
	{ "{\"type\":\"string\"}", "12", ": must be a string, is a number (12)" },
	{ "{\"type\":[\"string\",\"null\"]}", "[1]",
	    ": must be a string or null, is an array (1 item)" },
	{ "{\"type\":\"integer\"}", "1.5", ": must be an integer, is a number (1.5)" },
	{ "{\"const\":{\"a\":[1]}}", "2", ": must be {\"a\":[1]}, is 2" },
	{ "{\"enum\":[\"red\",\"blue\"]}", "\"rde\"",
	    ": must be one of \"red\", \"blue\", is \"rde\" (did you mean \"red\"?)" },
	{ "{\"enum\":[1,2,3,4,5,6,7,8,9,10]}", "11",
	    ": must be one of 1, 2, 3, 4, 5, 6, 7, 8 and 2 more, is 11" },
	{ "{\"minimum\":5}", "4.999", ": must be at least 5, is 4.999" },
	{ "{\"exclusiveMaximum\":5}", "5.0", ": must be less than 5, is 5.0" },
	{ "{\"multipleOf\":0.01}", "19.995", ": must be a multiple of 0.01, is 19.995" },
	{ "{\"minLength\":3}", "\"éé\"",
	    ": must have at least 3 characters, has 2 (\"éé\")" },
	{ "{\"maxItems\":1}", "[1,2]", ": must have at most 1 item, has 2" },
	{ "{\"pattern\":\"^\\\\d+$\"}", "\"x\"", ": must match the pattern \"^\\d+$\", is \"x\"" },
	{ "{\"properties\":{\"a\":{\"required\":[\"b\"]}}}", "{\"a\":{}}",
	    "/a: must have the property \"b\"" },
	{ "{\"properties\":{\"name\":{}},\"additionalProperties\":false}", "{\"nmae\":1}",
	    "/nmae: is not allowed (did you mean \"name\"?)" },
	{ "{\"properties\":{\"name\":{}},\"unevaluatedProperties\":false}", "{\"nmae\":1}",
	    "/nmae: is not allowed (did you mean \"name\"?)" },
	{ "{\"additionalProperties\":{\"type\":\"null\"}}", "{\"a/b~c\":1}",
	    "/a~1b~0c: must be null, is a number (1)" },
	{ "{\"uniqueItems\":true}", "[1,2,1.0]",
	    ": must not have the same item twice: items 0 and 2 are both 1" },
	{ "{\"contains\":{\"type\":\"string\"},\"minContains\":2}", "[\"a\",1]",
	    ": must have at least 2 items that match \"contains\", has 1" },
	{ "{\"prefixItems\":[{}],\"items\":false}", "[1,2]",
	    "/1: is not allowed: too many items" },
	{ "{\"dependentRequired\":{\"a\":[\"b\"]}}", "{\"a\":1}",
	    ": must have the property \"b\" because it has \"a\"" },
	{ "{\"propertyNames\":{\"maxLength\":1}}", "{\"ab\":1}",
	    "/ab: the name must have at most 1 character, has 2 (\"ab\")" },
	{ "{\"not\":{\"type\":\"string\"}}", "\"x\"",
	    ": must not fit the schema of \"not\", is a string (\"x\")" },
	{ "{\"oneOf\":[{\"type\":\"number\"},{\"minimum\":1}]}", "2",
	    ": must fit exactly one of 2 schemas, fits 2" },
	{ "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"null\"}]}", "2",
	    ": must be a string or null, is a number (2)" },
	/* the alternative with the matching const, not the shorter message */
	{ "{\"anyOf\":[{\"properties\":{\"k\":{\"const\":\"a\"}}},"
	    "{\"properties\":{\"k\":{\"const\":\"b\"},\"x\":{\"type\":\"null\"}},"
	    "\"required\":[\"y\"]}]}", "{\"k\":\"b\",\"x\":1}",
	    "/x: must be null, is a number (1) (the closest of 2 alternatives)" },
	{ "{\"if\":{\"const\":1},\"then\":{\"type\":\"string\"}}", "1",
	    ": must be a string, is a number (1)" },
	{ "false", "1", ": is not allowed" },
};

/* Numbers are compared exactly, to the last digit. */
static const struct row numbers[] = {
	{ "{\"multipleOf\":0.01}", "19.99", "valid" },
	{ "{\"multipleOf\":0.0001}", "0.0075", "valid" },
	{ "{\"multipleOf\":0.123456789}", "1e308", ": must be a multiple of 0.123456789, is 1e308" },
	{ "{\"multipleOf\":1e-300}", "1e300", "valid" },
	{ "{\"multipleOf\":3}", "1e999999999999", ": must be a multiple of 3, is 1e999999999999" },
	{ "{\"multipleOf\":7}", "-4.9e1", "valid" },
	{ "{\"multipleOf\":1234567890123456789}", "0", "schema /multipleOf: has more than 18 digits" },
	{ "{\"type\":\"integer\"}", "1.0", "valid" },
	{ "{\"type\":\"integer\"}", "12300e-2", "valid" },
	{ "{\"type\":\"integer\"}", "12345678901234567890123", "valid" },
	{ "{\"maximum\":18446744073709551615}", "18446744073709551616",
	    ": must be at most 18446744073709551615, is 18446744073709551616" },
	{ "{\"maximum\":0.1}", "0.10000000000000000001",
	    ": must be at most 0.1, is 0.10000000000000000001" },
	{ "{\"minimum\":-1e400}", "-1e401", ": must be at least -1e400, is -1e401" },
	{ "{\"minimum\":0}", "-0.0", "valid" },
	{ "{\"exclusiveMinimum\":0}", "1e-9999", "valid" },
	{ "{\"const\":100}", "1.00e2", "valid" },
	{ "{\"const\":9007199254740993}", "9007199254740992",
	    ": must be 9007199254740993, is 9007199254740992" },
	{ "{\"enum\":[1,2,3,4,5,6,7,8,9,1e1]}", "10.0", "valid" },
	{ "{\"minLength\":1e1000}", "\"\"", ": must have at least 1e1000 characters, has 0" },
};

/* Three schemas that apply themselves to the same value, and one to parts. */
#define CYCLE "\"$defs\":{" \
	"\"a\":{\"allOf\":[{\"$ref\":\"#/$defs/b\"}]}," \
	"\"b\":{\"not\":{\"$ref\":\"#/$defs/a\"}}," \
	"\"c\":{\"$ref\":\"#/$defs/d\"}," \
	"\"d\":{\"$ref\":\"#/$defs/c\"}," \
	"\"e\":{\"$ref\":\"#/$defs/e\"}," \
	"\"f\":{\"items\":{\"$ref\":\"#/$defs/f\"}}}"
#define TOO_DEEP "schemas are nested too deeply; a reference may lead back " \
	"to itself"

static const struct row refusals[] = {
	{ "12", "1", "schema /: must be a schema (an object, true or false), is 12" },
	{ "{\"type\":\"strnig\"}", "1", "schema /type: must be a type or a list of types (null, "
	    "boolean, object, array, number, integer, string), is \"strnig\"" },
	{ "{\"properties\":{\"a\":{\"minLength\":-1}}}", "1",
	    "schema /properties/a/minLength: must be a whole number, 0 or more, is -1" },
	{ "{\"required\":\"a\"}", "1", "schema /required: must be a list of strings, is \"a\"" },
	{ "{\"allOf\":[{},3]}", "1", "schema /allOf: must be a list of schemas, has 3" },
	{ "{\"items\":[{}]}", "1", "schema /items: must be a schema; a list of schemas is "
	    "\"prefixItems\" in draft 2020-12" },
	{ "{\"multipleOf\":0}", "1", "schema /multipleOf: must be a number above 0, is 0" },
	{ "{\"$ref\":\"http://x.org/y.json#/a\"}", "1", "schema /$ref: \"http://x.org/y.json\" is "
	    "outside this document; remote references are not fetched" },
	{ "{\"$ref\":\"#/$defs/a\"}", "1", "schema /$ref: \"#/$defs/a\" does not exist" },
	{ "{\"$ref\":\"#\"}", "1",
	    "schema /$ref: refers to itself without end" },
	{ "{\"$ref\":\"#/$defs/a\"," CYCLE "}", "1",
	    "schema /$defs/b/not/$ref: refers to itself without end" },
	{ "{\"pattern\":\"(?=a)\"}", "1", "schema /pattern: pattern \"(?=a)\": lookahead and "
	    "lookbehind are not supported" },
	{ "{\"pattern\":\"(a)\\\\1\"}", "1",
	    "schema /pattern: pattern \"(a)\\1\": backreferences are not supported" },
	{ "{\"patternProperties\":{\"(\":{}}}", "1",
	    "schema /patternProperties: pattern \"(\": `(`: missing ) for this group" },
	{ "{\"$schema\":\"http://json-schema.org/draft-04/schema#\"}", "1",
	    "schema /$schema: \"http://json-schema.org/draft-04/schema#\" is not supported; use "
	    "draft 7 or 2020-12" },
	{ "{\"$defs\":{\"a\":{\"$id\":\"x\"},\"b\":{\"$id\":\"x\"}}}", "1",
	    "schema /$defs/b/$id: two schemas have this name" },
};

/* Cycles that no value reaches, and values that reach one. */
static const struct row cycles[] = {
	{ "{\"type\":\"number\"," CYCLE "}", "1", "valid" },
	{ "{\"type\":\"number\"," CYCLE "}", "\"1\"",
	    ": must be a number, is a string (\"1\")" },
	{ "{\"$ref\":\"#/$defs/f\"," CYCLE "}", "[[1],[]]", "valid" },
	{ "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/c\"}}," CYCLE "}",
	    "{\"y\":1}", "valid" },
	{ "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/a\"}}," CYCLE "}",
	    "{\"x\":1}", TOO_DEEP },
	{ "{\"properties\":{\"x\":{\"$ref\":\"#/$defs/c\"}}," CYCLE "}",
	    "{\"x\":1}", TOO_DEEP },
	{ "{\"properties\":{\"x\":{\"not\":{\"$ref\":\"#/$defs/e\"}}}," CYCLE
	    "}", "{\"x\":1}", TOO_DEEP },
	{ "{\"anyOf\":[{\"$ref\":\"#/$defs/d\"},true]," CYCLE "}", "1",
	    "schema /$defs/c/$ref: refers to itself without end" },
};

/* Patterns of ECMA-262 that re.h interprets differently or refuses. */
static const struct row patterns[] = {
	{ "{\"pattern\":\"^\\\\cC$\"}", "\"\\u0003\"", "valid" },
	{ "{\"pattern\":\"^\\\\u00e9\\\\/$\"}", "\"é/\"", "valid" },
	{ "{\"pattern\":\"^\\\\uD83D\\\\uDE00$\"}", "\"😀\"", "valid" },
	{ "{\"pattern\":\"^\\\\u{1F600}$\"}", "\"😀\"", "valid" },
	{ "{\"pattern\":\"^\\\\p{Letter}\\\\P{Lu}$\"}", "\"Éé\"", "valid" },
	{ "{\"pattern\":\"^\\\\p{Script=Greek}$\"}", "\"α\"", "valid" },
	{ "{\"pattern\":\"^\\\\s[\\\\s]$\"}", "\"\\u00a0\\u2028\"", "valid" },
	{ "{\"pattern\":\"^[\\\\s\\\\S]$\"}", "\"\\n\"", "valid" },
	{ "{\"pattern\":\"^[^]$\"}", "\"\\n\"", "valid" },
	{ "{\"pattern\":\"[]\"}", "\"]\"", ": must match the pattern \"[]\", is \"]\"" },
	{ "{\"pattern\":\"^[[:alpha:]]$\"}", "\"a\"",
	    ": must match the pattern \"^[[:alpha:]]$\", is \"a\"" },
	{ "{\"pattern\":\"^.$\"}", "\"\\u2028\"", ": must match the pattern \"^.$\", is \"\\u2028\"" },
	{ "{\"pattern\":\"^\\\\d$\"}", "\"٣\"", ": must match the pattern \"^\\d$\", is \"٣\"" },
	{ "{\"pattern\":\"^[\\\\b]\\\\0$\"}", "\"\\b\\u0000\"", "valid" },
	{ "{\"pattern\":\"^a$\"}", "\"a\\n\"", ": must match the pattern \"^a$\", is \"a\\n\"" },
};

static const struct row old[] = {
	{ "{\"items\":[{\"type\":\"null\"}],\"additionalItems\":false}", "[null,1]",
	    "/1: is not allowed: too many items" },
	{ "{\"$ref\":\"#/definitions/a\",\"type\":\"null\",\"definitions\":{\"a\":{}}}", "1", "valid" },
	{ "{\"dependencies\":{\"a\":[\"b\"],\"c\":{\"required\":[\"d\"]}}}", "{\"c\":1}",
	    ": must have the property \"d\"" },
	{ "{\"unevaluatedProperties\":false}", "{\"a\":1}", "valid" },
};

/* "head", n times "middle", "tail". */
static char *
repeat(struct arena *a, const char *head, const char *middle, size_t n,
    const char *tail)
{
	struct buf b = { 0 };
	char *s;

	buf_puts(&b, head);
	while (n-- > 0)
		buf_puts(&b, middle);
	buf_puts(&b, tail);
	s = arena_cstr(a, buf_str(&b));
	buf_free(&b);
	return s;
}

/* Schemas that would never terminate or overflow the stack are refused. */
static void
limits(void)
{
	static const char steps[] =
	    "the check takes too many steps and was stopped";
	struct arena a = { 0 };
	struct buf b = { 0 };
	unsigned i;
	char *s;

	/* two references per level: 2^40 paths */
	buf_puts(&b, "{\"$ref\":\"#/$defs/n0\",\"$defs\":{");
	for (i = 0; i < 40; i++)
		buf_fmt(&b, "\"n%u\":{\"anyOf\":[{\"$ref\":\"#/$defs/n%u\"},"
		    "{\"$ref\":\"#/$defs/n%u\"}]},", i, i + 1, i + 1);
	buf_fmt(&b, "\"n%u\":false}}", i);
	s = arena_cstr(&a, buf_str(&b));
	OK(outcome_is(s, "1", SCHEMA_2020_12, steps));
	b.n = 0;
	/* a chain of references that exceeds the depth limit */
	buf_puts(&b, "{\"$ref\":\"#/$defs/n0\",\"$defs\":{");
	for (i = 0; i < 5000; i++)
		buf_fmt(&b, "\"n%u\":{\"type\":\"number\",\"$ref\":"
		    "\"#/$defs/n%u\"},", i, i + 1);
	buf_fmt(&b, "\"n%u\":true}}", i);
	s = arena_cstr(&a, buf_str(&b));
	OK(outcome_is(s, "1", SCHEMA_2020_12, TOO_DEEP));
	buf_free(&b);
	OK(outcome_is("{\"$dynamicAnchor\":\"a\",\"$dynamicRef\":\"#a\"}", "1",
	    SCHEMA_2020_12, TOO_DEEP));
	/* deep values */
	s = repeat(&a, "", "[", 120, "");
	s = repeat(&a, s, "]", 120, "");
	OK(outcome_is("{\"items\":{\"$ref\":\"#\"}}", s, SCHEMA_2020_12,
	    "valid"));
	OK(outcome_is("{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}",
	    repeat(&a, repeat(&a, "", "{\"not\":", 120, "true"), "}", 120, ""),
	    SCHEMA_2020_12, "valid"));
	/* long values */
	s = repeat(&a, "[0", ",[1],{\"a\":2}", 1, "");
	s = repeat(&a, s, ",\"x\"", 1, "]");
	OK(outcome_is("{\"uniqueItems\":true}", s, SCHEMA_2020_12, "valid"));
	s = repeat(&a, "[0", ",0", 100000, "]");
	OK(outcome_is("{\"uniqueItems\":true}", s, SCHEMA_2020_12,
	    ": must not have the same item twice: items 0 and 1 are both 0"));
	OK(outcome_is(repeat(&a, "{\"enum\":[0", ",0", 100000, "]}"), "1",
	    SCHEMA_2020_12, ": must be one of 0, 0, 0, 0, 0, 0, 0, 0 and "
	    "99993 more, is 1"));
	OK(outcome_is("{\"maximum\":1}", repeat(&a, "0.", "1", 1000000, ""),
	    SCHEMA_2020_12, "valid"));
	arena_free(&a);
}

static void
distinct(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	unsigned i;

	buf_puts(&b, "[");
	for (i = 0; i < 200000; i++)
		buf_fmt(&b, "%s{\"id\":%u,\"v\":[%u.5]}", i > 0 ? "," : "", i, i);
	buf_puts(&b, "]");
	OK(outcome_is("{\"uniqueItems\":true}", arena_cstr(&a, buf_str(&b)),
	    SCHEMA_2020_12, "valid"));
	buf_free(&b);
	arena_free(&a);
}

/* Findings are limited; each has its place. */
static void
count_all(void *ctx, const struct schema_finding *f)
{
	size_t *n = ctx;

	(void)f;
	++*n;
}

static void
findings(void)
{
	struct arena a = { 0 };
	struct err e = { 0 };
	struct json *doc = json_of(&a, STR("{\"items\":{\"type\":\"null\"}}"));
	struct json *v = json_of(&a, str_of(repeat(&a, "[0", ",1", 999, "]")));
	struct schema *s = schema_compile(&a, doc, NULL, &e);
	size_t n = 0;

	OK(schema_check(s, &a, v, count_all, &n, &e) == 0);
	OK(n == SCHEMA_FINDINGS_MAX);
	doc = json_of(&a, STR("{\n \"type\": \"x\"}"));
	OK(schema_compile(&a, doc, NULL, &e) == NULL && e.line == 2 &&
	    e.col == 10 && e.code == ERR_SCHEMA);
	arena_free(&a);
}

/* The only JSON value in an answer, or why there is none. */
static bool
extracts(struct str text, const char *want)
{
	struct arena a = { 0 };
	struct err e = { 0 };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct json *v = grader_extract_json(&a, text, &e);
	bool same;

	if (v != NULL)
		json_put(&o, v);
	else
		buf_puts(&b, e.msg);
	same = str_is(buf_str(&b), want);
	if (!same)
		printf("# want %s, got %.*s\n", want, STRF(buf_str(&b)));
	buf_free(&b);
	arena_free(&a);
	return same;
}

static void
extraction(void)
{
	static const char none[] = "the output contains no JSON value";
	static const char many[] =
	    "the output contains several different JSON values";
	struct arena a = { 0 };

	OK(extracts(STR(" {\"a\": 1}\n"), "{\"a\":1}"));
	OK(extracts(STR("42"), "42"));
	OK(extracts(STR("Here: {\"a\": [1, 2]}. Fine?"), "{\"a\":[1,2]}"));
	OK(extracts(STR("x\n```json\n{\"a\": 1}\n```\nor [2]"), "{\"a\":1}"));
	OK(extracts(STR("x\n  ```\n\"s\"\n  ```"), "\"s\""));
	OK(extracts(STR("```\n{\"a\": 1}"), "{\"a\":1}"));
	OK(extracts(STR("```c\nint x[] = {1};\n```\n{\"b\": 0} or {\"b\":0.0}"),
	    "{\"b\":0}"));
	OK(extracts(STR("[see](x) and {not} json"), none));
	OK(extracts(STR(""), none));
	OK(extracts(STR("no 12 true \"x\""), none));
	OK(extracts(STR("{\"a\":1} {\"a\":2}"), many));
	OK(extracts(STR("As in [1], [2, 3]: {\"a\":1}, {}.\n- [ ] done"),
	    "{\"a\":1}"));
	OK(extracts(STR("[1] and [\"a\", 1]"), "[\"a\",1]"));
	OK(extracts(STR("It is [1, 2]; yes, [1,2]."), "[1,2]"));
	OK(extracts(STR("It is [1], or [2]."), many));
	OK(extracts(STR("```\n[1]\n```\n```\n{\"a\":1}\n```"), many));
	OK(extracts(STR("```\n1\n```\n```\n2\n```"), many));
	OK(extracts(STR("a\0\xff{\"a\":\"\xff\"} [1]"), "[1]"));
	OK(extracts(STR("```\n$ cat x\n{\"a\": 1}\n```"), "{\"a\":1}"));
	OK(extracts(str_of(repeat(&a, "", "[", 1000, "")), none));
	OK(extracts(str_of(repeat(&a, "", "[0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,"
	    "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,", 20000, "")),
	    "the output contains too much text that only looks like JSON"));
	arena_free(&a);
}

int
main(void)
{
	const char *corpus = getenv("CORPUS");

	suite(corpus != NULL ? corpus : "../shared/corpus");
	run_rows(messages, COUNTOF(messages), SCHEMA_2020_12);
	run_rows(numbers, COUNTOF(numbers), SCHEMA_2020_12);
	run_rows(refusals, COUNTOF(refusals), SCHEMA_2020_12);
	run_rows(cycles, COUNTOF(cycles), SCHEMA_2020_12);
	run_rows(patterns, COUNTOF(patterns), SCHEMA_2020_12);
	run_rows(old, COUNTOF(old), SCHEMA_7);
	RUN(limits, distinct, findings, extraction);
	return tap_done();
}
