/* SPDX-License-Identifier: ISC */
/* New suites and skills, from the description of the skill. */
#include "skill/scaffold.h"

#include <string.h>

#include "lib/tmpl.h"
#include "lib/yaml/yaml_out.h"

enum { NAME_MAX_BYTES = 64, TRIGGER_PROMPTS = 5 };

static const char *const unrelated[] = {
	"What is the capital of France?",
	"Write a limerick about a lighthouse.",
};

void
scaffold_schema_line(struct buf *b, struct str schemas, const char *which)
{
	if (schemas.n > 0)
		buf_fmt(b, "# yaml-language-server: $schema=%.*s/"
		    "%s.schema.json\n", STRF(schemas), which);
}

/* "KEY: VALUE" on its own line. */
static void
put(struct buf *b, unsigned indent, const char *key, struct str value)
{
	buf_fmt(b, "%*s%s ", (int)indent, "", key);
	yaml_put_str(b, value, indent + 2);
	buf_putc(b, '\n');
}

/*
 * Prompts.
 */
struct prompts {
	struct triggers said;
	struct str yes[TRIGGER_PROMPTS], no[TRIGGER_PROMPTS];
	size_t nyes, nno;
};

static struct str
first_sentence(struct arena *a, struct str s)
{
	struct buf b = { 0 };
	size_t i;

	s = str_trim(s);
	for (i = 0; i < s.n && b.n < TRIGGERS_PHRASE_MAX; i++) {
		if (s.p[i] == '.' && (i + 1 == s.n || s.p[i + 1] == ' ' ||
		    s.p[i + 1] == '\n'))
			break;
		buf_putc(&b, (char)(s.p[i] == '\n' ? ' ' : s.p[i]));
	}
	s = str_trim(utf8_cut(buf_str(&b), b.n));
	s = arena_str(a, utf8_valid(s) ? s : STR(""));
	buf_free(&b);
	return s;
}

/* What to ask if the description says too little. */
static void
add_general(struct arena *a, const struct scaffold_suite *s,
    struct prompts *p)
{
	struct str first = first_sentence(a, s->description);

	if (p->nyes == 0 && first.n > 0)
		p->yes[p->nyes++] = first;
	if (p->nyes == 0)
		p->yes[p->nyes++] = arena_fmt(a, "Help me with %.*s.",
		    STRF(s->skill));
	if (p->nyes == 1)
		p->yes[p->nyes++] = arena_fmt(a, "Show me how to use %.*s "
		    "with a small example.", STRF(s->skill));
}

/* "the user wants to ship it" as the user would say it: "ship it". */
static struct str
as_request(struct str s)
{
	static const char *const heads[] = { "the user wants to ",
		"the user asks to ", "the user asks you to ",
		"the user needs to ", "the user asks for ", "user wants to ",
		"user asks to ", "users want to ", "asked to ",
		"you need to " };
	size_t i;

	for (i = 0; i < COUNTOF(heads); i++)
		if (str_starts(s, str_of(heads[i])))
			return (struct str){ s.p + strlen(heads[i]),
			    s.n - strlen(heads[i]) };
	return s;
}

static void
choose_prompts(struct arena *a, const struct scaffold_suite *s,
    struct prompts *p)
{
	size_t i;

	p->nyes = p->nno = 0;
	triggers_read(a, s->description, &p->said);
	for (i = 0; i < p->said.use.n && i < TRIGGER_PROMPTS; i++)
		p->yes[p->nyes++] = as_request(p->said.use.v[i]);
	for (i = 0; i < p->said.avoid.n && i < TRIGGER_PROMPTS; i++)
		p->no[p->nno++] = as_request(p->said.avoid.v[i]);
	add_general(a, s, p);
	for (i = 0; p->nno < COUNTOF(unrelated); i++)
		p->no[p->nno++] = str_of(unrelated[i]);
}

/*
 * Suite.
 */
static void
put_config(struct buf *b, const struct scaffold_suite *s)
{
	buf_puts(b, "config:\n  trials_per_task: 1\n  timeout_seconds: 300\n");
	put(b, 2, "executor:", s->executor);
	if (s->model.n > 0)
		put(b, 2, "model:", s->model);
	if (s->skill_dir.n > 0) {
		buf_puts(b, "  skill_directories:\n");
		put(b, 4, "-", s->skill_dir);
	}
}

static void
put_metrics(struct buf *b, const struct scaffold_suite *s)
{
	buf_puts(b, "metrics:\n  - name: task_completion\n    weight: 0.7\n"
	    "    threshold: 0.8\n");
	if (s->triggers)
		buf_puts(b, "  # of the prompts in trigger_tests.yaml\n"
		    "  - name: trigger_accuracy\n    weight: 0.3\n"
		    "    threshold: 0.8\n");
}

struct str
scaffold_suite(struct arena *a, const struct scaffold_suite *s)
{
	struct buf b = { 0 };

	scaffold_schema_line(&b, s->schemas, "eval");
	put(&b, 0, "name:", arena_fmt(a, "%.*s-eval", STRF(s->skill)));
	put(&b, 0, "description:", arena_fmt(a, "Evaluation of the skill "
	    "%.*s", STRF(s->skill)));
	put(&b, 0, "skill:", s->skill);
	buf_puts(&b, "version: \"1.0\"\n");
	put_config(&b, s);
	put_metrics(&b, s);
	buf_puts(&b, "# for every task, before its own\ngraders:\n"
	    "  - type: text\n    name: has-output\n    config:\n"
	    "      regex_match:\n        - \"\\\\S\"\n");
	buf_puts(&b, "tasks:\n");
	put(&b, 2, "-", s->task_glob);
	return arena_take(a, &b);
}

static void
put_graders(struct arena *a, struct buf *b, struct str prompt)
{
	struct triggers t = { .use = { &prompt, 1 } };
	struct field_strs words;
	size_t i;

	triggers_keywords(a, &t, STR(""), &words);
	if (words.n == 0)
		return;
	buf_puts(b, "graders:\n  # replace the words by what every good "
	    "answer contains\n  - type: text\n    name: contains-keywords\n"
	    "    config:\n      regex_match:\n        - \"(?i)(");
	for (i = 0; i < words.n; i++)
		buf_fmt(b, "%s%.*s", i > 0 ? "|" : "", STRF(words.v[i]));
	buf_puts(b, ")\"\n");
}

/* The mock repeats the prompt; a script says which skill it "used". */
static void
put_script(struct buf *b, struct str skill)
{
	buf_puts(b, "# for the executor mock, which repeats the prompt; other "
	    "executors ignore it\nmock:\n  skills: [");
	if (skill.n > 0)
		yaml_put_word(b, skill);
	buf_puts(b, "]\n");
}

static struct str
task_text(struct arena *a, const struct scaffold_suite *s, struct str prompt,
    bool positive, size_t n)
{
	const char *word = positive ? "positive" : "negative";
	struct buf b = { 0 };

	scaffold_schema_line(&b, s->schemas, "task");
	buf_fmt(&b, "id: %s-trigger-%03zu\n", word, n);
	buf_fmt(&b, "name: %s trigger %zu\n", positive ? "Positive" :
	    "Negative", n);
	put(&b, 0, "description:", arena_fmt(a, "A request that the skill "
	    "%.*s is %sfor", STRF(s->skill), positive ? "" : "not "));
	buf_fmt(&b, "tags:\n  - %s-trigger\n", word);
	buf_puts(&b, "inputs:\n");
	put(&b, 2, "prompt:", tmpl_escape(a, prompt));
	buf_fmt(&b, "expected:\n  should_trigger: %s\n", positive ? "true" :
	    "false");
	if (positive)
		put_graders(a, &b, prompt);
	if (str_is(s->executor, "mock"))
		put_script(&b, positive ? s->skill : STR(""));
	return arena_take(a, &b);
}

void
scaffold_tasks(struct arena *a, const struct scaffold_suite *s,
    struct scaffold_task out[SCAFFOLD_TASKS])
{
	struct str schemas = s->schemas;
	struct scaffold_suite below = *s;
	struct prompts p;

	/* tasks are one directory below the suite */
	if (schemas.n > 0 && schemas.p[0] != '/')
		below.schemas = arena_fmt(a, "../%.*s", STRF(schemas));
	choose_prompts(a, s, &p);
	out[0] = (struct scaffold_task){ "positive-trigger-1",
		"task that the skill is for", task_text(a, &below, p.yes[0],
		true, 1) };
	out[1] = (struct scaffold_task){ "positive-trigger-2",
		"task that the skill is for", task_text(a, &below, p.yes[1],
		true, 2) };
	out[2] = (struct scaffold_task){ "negative-trigger-1",
		"task that it is not for", task_text(a, &below, p.no[0],
		false, 1) };
}

static void
put_prompts(struct buf *b, const char *key, const struct str *v, size_t n)
{
	size_t i;

	buf_fmt(b, "%s:\n", key);
	for (i = 0; i < n; i++)
		put(b, 2, "- prompt:", v[i]);
}

struct str
scaffold_triggers(struct arena *a, const struct scaffold_suite *s)
{
	struct buf b = { 0 };
	struct prompts p;

	choose_prompts(a, s, &p);
	scaffold_schema_line(&b, s->schemas, "trigger");
	put(&b, 0, "skill:", s->skill);
	put_prompts(&b, "should_trigger_prompts", p.yes, p.nyes);
	put_prompts(&b, "should_not_trigger_prompts", p.no, p.nno);
	return arena_take(a, &b);
}

/*
 * Skills.
 */
struct str
scaffold_title(struct arena *a, struct str name)
{
	char *p = arena_cstr(a, name);
	size_t i;

	for (i = 0; p != NULL && i < name.n; i++) {
		if (p[i] == '-' || p[i] == '_')
			p[i] = ' ';
		if ((i == 0 || p[i - 1] == ' ') && p[i] >= 'a' && p[i] <= 'z')
			p[i] = (char)(p[i] - 'a' + 'A');
	}
	return p != NULL ? (struct str){ p, name.n } : name;
}

struct str
scaffold_skill(struct arena *a, struct str name, struct str description)
{
	struct str title = scaffold_title(a, name);
	struct buf b = { 0 };

	if (description.n == 0)
		description = arena_fmt(a, "**UTILITY SKILL** %.*s: replace "
		    "this sentence by what the skill does, and for whom.\n"
		    "USE FOR: a first typical request, a second typical "
		    "request, a third typical request.\n"
		    "DO NOT USE FOR: work that another skill does, "
		    "general questions.", STRF(title));
	buf_puts(&b, "---\n");
	put(&b, 0, "name:", name);
	put(&b, 0, "description:", description);
	buf_fmt(&b, "---\n\n# %.*s\n\n", STRF(title));
	buf_puts(&b, "## Overview\n\nDescribe the task that this skill is "
	    "for, and what the result looks like.\n\n"
	    "## Usage\n\n1. Look at the request and the files it names.\n"
	    "2. Do the work.\n3. Check the result, and report what was "
	    "done.\n\n"
	    "## Examples\n\nRequest: a first typical request\n\n"
	    "```text\nwhat the agent should answer or do\n```\n\n"
	    "## Troubleshooting\n\nIf an input is missing, ask for it "
	    "instead of guessing.\n");
	return arena_take(a, &b);
}

int
scaffold_check_part(struct str name, struct err *e)
{
	size_t i;

	if (name.n == 0)
		return err_set(e, ERR_SCHEMA, "the name is empty");
	for (i = 0; i < name.n; i++)
		if ((unsigned char)name.p[i] < 0x20 || name.p[i] == 0x7F ||
		    name.p[i] == '/' || name.p[i] == '\\' ||
		    (name.p[i] == '.' && i > 0 && name.p[i - 1] == '.'))
			break;
	if (i < name.n || str_is(name, ".") || name.n > 200)
		return err_set(e, ERR_SCHEMA, "\"%.*s\" is not a name: it must "
		    "not be a path or contain \"/\", \"\\\", \"..\" or control "
		    "characters", STRF(utf8_cut(name, 60)));
	return 0;
}

/* Letters, digits and single hyphens: what the name could be instead. */
static struct str
similar_name(char out[NAME_MAX_BYTES], struct str name)
{
	size_t i, n = 0;
	char c;

	for (i = 0; i < name.n && n < NAME_MAX_BYTES; i++) {
		c = name.p[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			out[n++] = c;
		else if (n > 0 && out[n - 1] != '-')
			out[n++] = '-';
	}
	while (n > 0 && out[n - 1] == '-')
		n--;
	return (struct str){ out, n };
}

int
scaffold_check_name(struct str name, struct err *e)
{
	char room[NAME_MAX_BYTES], hint[STR_HINT];
	struct str good = similar_name(room, name);

	if (scaffold_check_part(name, e) == -1)
		return -1;
	if (str_starts(name, STR("claude-")) ||
	    str_starts(name, STR("anthropic-")))
		return err_set(e, ERR_SCHEMA, "\"%.*s\": names that begin "
		    "with \"claude-\" or \"anthropic-\" are reserved",
		    STRF(utf8_cut(name, 60)));
	if (str_eq(good, name))
		return 0;
	if (good.n == 0)
		good.p = NULL;
	return err_set(e, ERR_SCHEMA, "\"%.*s\" is not the name of a skill: "
	    "use lower-case letters, digits and single hyphens, at most %d%s",
	    STRF(utf8_cut(name, 60)), NAME_MAX_BYTES,
	    str_hint(hint, "", good));
}
