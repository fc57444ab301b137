/* SPDX-License-Identifier: ISC */
/*
 * waza __complete: candidates for the word at the cursor of a shell's command
 * line, for the scripts of `waza completion`.
 *
 * Options and their values come from the tables of the commands, operands from
 * their usage.  The first line of the output names what else the shell offers
 * ("files", "dirs" or "words": nothing), then a tab and the word at the cursor;
 * each further line is a candidate, a tab and a line of help.  Suites are read,
 * nothing is run, and no error is printed: a shell would show it in the middle
 * of the line.
 */
#include "waza.h"

#include <string.h>
#include <sys/stat.h>

#include "agent/agent.h"
#include "skill/catalog.h"
#include "suite/spec.h"

enum {
	SUITES_MAX = 100,	/* that are read for ids and tags */
	TAGS_MAX = 1000		/* of one suite */
};

struct complete_opt {
	bool line;
};
static const struct opt complete_rows[] = {
	CMD_OPT(complete_opt, line, OPT_FLAG, .name = "line",
	    .help = "the argument is a command line; split it"),
};

enum kind { NOTHING, WORDS, FILES, DIRS, SUITES, SKILLS, EXECUTORS, COMMANDS,
	TASKS, TAGS };

/* What the names of values and operands mean. */
static const struct {
	const char *name;
	enum kind kind;
} kinds[] = {
	{ "FILE", FILES }, { "PATH", FILES }, { "SCHEMA", FILES },
	{ "DIR", DIRS }, { "EVAL.yaml", SUITES }, { "SUITE", SUITES },
	{ "EVAL", SUITES }, { "NAME", SKILLS }, { "SKILL", SKILLS },
	{ "COMMAND", COMMANDS }, { "AGENT", EXECUTORS },
};

/* Options whose values are known, whatever they are called. */
static const struct {
	const char *name;
	enum kind kind;
} options[] = {
	{ "task", TASKS }, { "tags", TAGS }, { "executor", EXECUTORS },
	{ "skill", SKILLS },
};

struct completion {
	struct cmd_call *call;
	struct arena *arena;
	const struct cmd_command *cmd;	/* NULL: not typed yet */
	struct str *words;		/* after "waza" */
	size_t n;			/* the last is at the cursor */
	struct str *operands;		/* of the command, before the cursor */
	size_t noperands;
	struct str word;		/* at the cursor, or its value */
	struct str before;		/* "--format=", or empty */
	enum kind more;			/* FILES, DIRS or NOTHING */
	bool named;			/* names of the project are offered */
	struct buf out;
};

static void
add(struct completion *c, struct str word, struct str help)
{
	size_t i;

	if (!str_starts(word, c->word))
		return;
	for (i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] < ' ')
			return;
	buf_put(&c->out, c->before);
	buf_put(&c->out, word);
	buf_putc(&c->out, '\t');
	buf_put(&c->out, help);
	buf_putc(&c->out, '\n');
}

static void
add_commands(struct completion *c)
{
	const struct cmd_command *const *v = cmd_commands.v;
	size_t i;

	for (i = 0; i < cmd_commands.n; i++)
		if (v[i]->group != CMD_HIDDEN)
			add(c, str_of(v[i]->name), str_of(v[i]->help));
}

static void
add_executors(struct completion *c)
{
	const struct agent_kind *k;
	size_t i;

	for (i = 0; (k = agent_nth(i)) != NULL; i++)
		add(c, str_of(k->name), STR("executor"));
}

static bool
read_catalog(struct completion *c, struct catalog *out)
{
	struct catalog_opts o = { 0 };
	struct err e;

	return catalog_read(c->arena, &o, out, &e) == 0;
}

static void
add_entries(struct completion *c, bool suites)
{
	struct catalog list;
	const struct catalog_entry *v;
	size_t i;

	if (c->named || !read_catalog(c, &list))
		return;
	c->named = true;
	for (i = 0; i < list.n; i++) {
		v = &list.v[i];
		if (!suites || v->eval != NULL)
			add(c, v->name, str_of(suites ? v->eval :
			    v->skill_dir != NULL ? v->skill_dir : v->eval));
	}
}

static bool
is_listed(const struct field_strs *list, struct str s)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (str_eq(list->v[i], s))
			return true;
	return false;
}

/* Each tag once. */
static void
add_tags(struct completion *c, const struct spec_suite *s)
{
	struct field_strs seen = { NEW_N(c->arena, struct str, TAGS_MAX), 0 };
	const struct field_strs *tags;
	size_t i, k;

	for (i = 0; i < s->ntasks; i++) {
		tags = &s->tasks[i].def->tags;
		for (k = 0; k < tags->n && seen.n < TAGS_MAX; k++)
			if (!is_listed(&seen, tags->v[k])) {
				seen.v[seen.n++] = tags->v[k];
				add(c, tags->v[k], STR("tag"));
			}
	}
}

static void
add_tasks(struct completion *c, const char *path, bool tags)
{
	struct spec_notes notes = { .arena = c->arena };
	const struct spec_suite *s;
	size_t i;

	agent_expect(&notes, STR(""));
	s = spec_load_part(c->arena, path, &notes);
	if (s != NULL && tags)
		add_tags(c, s);
	for (i = 0; s != NULL && !tags && i < s->ntasks; i++)
		add(c, s->tasks[i].id, s->tasks[i].name);
}

/* The suite that an operand names: a path, a directory or a name. */
static const char *
suite_path(struct completion *c, struct str operand)
{
	struct cmd_call call = { .arena = c->arena };
	const struct catalog_entry *v;
	struct catalog list;
	char *arg = arena_cstr(c->arena, operand);

	if (operand.n > 0 && !catalog_is_path(arg)) {
		v = read_catalog(c, &list) ? catalog_find(&list, operand) :
		    NULL;
		return v != NULL ? v->eval : NULL;
	}
	call.args = &arg;
	call.nargs = operand.n > 0;
	return cmd_suite_path(&call);
}

/* The tasks of the suites on the line; if there are none, of the project's. */
static void
add_all_tasks(struct completion *c, bool tags)
{
	const char *path;
	struct catalog list;
	struct stat st;
	size_t i;

	for (i = 0; i < c->noperands && i < SUITES_MAX; i++)
		if ((path = suite_path(c, c->operands[i])) != NULL)
			add_tasks(c, path, tags);
	if (c->noperands > 0)
		return;
	path = suite_path(c, STR(""));
	if (stat(path, &st) == 0)
		add_tasks(c, path, tags);
	else if (read_catalog(c, &list))
		for (i = 0; i < list.n && i < SUITES_MAX; i++)
			if (list.v[i].eval != NULL)
				add_tasks(c, list.v[i].eval, tags);
}

static void
add_kind(struct completion *c, enum kind kind)
{
	switch (kind) {
	case NOTHING: case WORDS:
		break;
	case FILES: case DIRS:
		if (c->more != FILES)
			c->more = kind;
		break;
	case SUITES:
		add_entries(c, true);
		c->more = FILES;
		break;
	case SKILLS:
		add_entries(c, false);
		break;
	case EXECUTORS:
		add_executors(c);
		break;
	case COMMANDS:
		add_commands(c);
		break;
	case TASKS: case TAGS:
		add_all_tasks(c, kind == TAGS);
		break;
	}
}

static bool
is_word(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!(s.p[i] >= 'a' && s.p[i] <= 'z') && s.p[i] != '-' &&
		    s.p[i] != '.' && !(s.p[i] >= '0' && s.p[i] <= '9'))
			return false;
	return s.n > 1 && s.p[0] != '-' && s.p[0] != '.';
}

static enum kind
kind_of(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(kinds); i++)
		if (str_is(name, kinds[i].name))
			return kinds[i].kind;
	return is_word(name) ? WORDS : NOTHING;
}

/* The next name of "text|json" or "[EVAL.yaml|DIR] ...". */
static bool
next_name(const char **p, struct str *name)
{
	const char *s = *p + strspn(*p, "[]| ");
	size_t n = strcspn(s, "[]| ");

	*name = (struct str){ s, n };
	*p = s + n;
	return n > 0;
}

static void
add_value(struct completion *c, const struct opt *o)
{
	const char *p = o->value;
	struct str name;
	size_t i;

	for (i = 0; i < COUNTOF(options); i++)
		if (strcmp(o->name, options[i].name) == 0) {
			add_kind(c, options[i].kind);
			return;
		}
	while (p != NULL && next_name(&p, &name)) {
		if (!str_is(name, "NAME"))
			add_kind(c, kind_of(name));
		if (kind_of(name) == WORDS)
			add(c, name, STR(""));
	}
}

/* The bracket that closes the one at p, or NULL. */
static const char *
closing(const char *p)
{
	int depth = 0;

	for (; *p != '\0'; p++) {
		depth += *p == '[';
		depth -= *p == ']';
		if (depth == 0)
			return p;
	}
	return NULL;
}

/* The part of a usage behind the options: "clear|stats", "SCHEMA FILE". */
static const char *
operand_usage(const struct cmd_command *cmd)
{
	const char *p = cmd->usage, *end;

	for (;;) {
		p += strspn(p, " ");
		if (strncmp(p, "[OPTION", 7) == 0 ||
		    strncmp(p, "[-", 2) == 0) {
			end = closing(p);
			if (end == NULL)
				return "";
			p = end + 1;
		} else if (*p == '-') {		/* --results FILE */
			p += strcspn(p, " ");
			p += strspn(p, " ");
			if (*p >= 'A' && *p <= 'Z')
				p += strcspn(p, " ");
		} else
			return p;
	}
}

/* If the first operand is one of some words, only these are offered. */
static void
add_operands(struct completion *c)
{
	const char *usage = operand_usage(c->cmd), *p = usage;
	struct field_strs words = { NEW_N(c->arena, struct str,
		strlen(usage) + 1), 0 };
	struct str name;

	if (c->cmd->max <= c->noperands)
		return;
	while (c->noperands == 0 && next_name(&p, &name))
		if (kind_of(name) == WORDS && !is_listed(&words, name)) {
			add(c, name, STR(""));
			words.v[words.n++] = name;
		}
	for (p = usage; words.n == 0 && next_name(&p, &name); )
		if (kind_of(name) != WORDS)
			add_kind(c, kind_of(name));
}

static bool
is_used(const struct completion *c, const struct opt *o)
{
	struct str name = str_of(o->name), s;
	size_t i;

	for (i = 1; i + 1 < c->n && o->type != OPT_LIST; i++) {
		s = c->words[i];
		if (s.n > 2 && s.p[0] == '-' && s.p[1] == '-' &&
		    str_eq((struct str){ s.p + 2, s.n - 2 }, name))
			return true;
	}
	return false;
}

static void
add_options(struct completion *c)
{
	const struct opt_table *t = &c->cmd->opts;
	size_t i;

	for (i = 0; i < t->n; i++)
		if (t->rows[i].help != NULL && !is_used(c, &t->rows[i]))
			add(c, arena_fmt(c->arena, "--%s", t->rows[i].name),
			    str_of(t->rows[i].help));
	if (opt_has_json(t))
		add(c, STR("--json"), STR("the same as --format json"));
	add(c, STR("--help"), STR("show how to use this command"));
}

/* The option of a word "--name" or "-x", or of "--name=value"; or NULL. */
static const struct opt *
option_of(const struct cmd_command *cmd, struct str word)
{
	const struct opt *o;
	const char *eq = memchr(word.p, '=', word.n);
	struct str name = { word.p + 2, (eq != NULL ? (size_t)(eq - word.p) :
		word.n) - 2 };
	size_t i;

	for (i = 0; i < cmd->opts.n && word.n > 1 && word.p[0] == '-'; i++) {
		o = &cmd->opts.rows[i];
		if (word.p[1] == '-' ? str_eq(name, str_of(o->name)) :
		    word.n == 2 && o->letter == word.p[1])
			return o;
	}
	return NULL;
}

/* Finds the operands; the option whose value is at the cursor, or NULL. */
static const struct opt *
scan(struct completion *c, bool *literal)
{
	const struct opt *o;
	size_t i;

	c->operands = NEW_N(c->arena, struct str, c->n);
	for (i = 1; i + 1 < c->n; i++) {
		if (*literal || c->words[i].n < 2 || c->words[i].p[0] != '-') {
			c->operands[c->noperands++] = c->words[i];
			continue;
		}
		*literal = str_is(c->words[i], "--");
		o = option_of(c->cmd, c->words[i]);
		if (o == NULL || o->type == OPT_FLAG || o->type == OPT_MAYBE ||
		    memchr(c->words[i].p, '=', c->words[i].n) != NULL)
			continue;
		if (i + 2 == c->n)
			return o;
		i++;
	}
	return NULL;
}

static void
complete_word(struct completion *c)
{
	const struct opt *o;
	bool literal = false;
	const char *eq;

	o = scan(c, &literal);
	if (o != NULL) {
		add_value(c, o);
		return;
	}
	if (literal || c->word.n == 0 || c->word.p[0] != '-') {
		add_operands(c);
		return;
	}
	eq = memchr(c->word.p, '=', c->word.n);
	if (eq == NULL) {
		add_options(c);
		return;
	}
	o = option_of(c->cmd, c->word);
	c->before = (struct str){ c->word.p, (size_t)(eq + 1 - c->word.p) };
	c->word.p += c->before.n;
	c->word.n -= c->before.n;
	if (o != NULL && o->type != OPT_FLAG)
		add_value(c, o);
}

/*
 * One word of a shell's command line, without its quotes; *p moves behind it.
 * The last word may lack its closing quote.
 */
static struct str
shell_word(struct arena *a, const char **p)
{
	struct buf b = { 0 };
	char quote = 0;
	const char *s;

	for (s = *p; *s != '\0'; s++) {
		if (quote == 0 && (*s == ' ' || *s == '\t'))
			break;
		if (quote == 0 && (*s == '"' || *s == '\''))
			quote = *s;
		else if (*s == quote)
			quote = 0;
		else if (*s == '\\' && quote != '\'' && s[1] != '\0')
			buf_putc(&b, *++s);
		else
			buf_putc(&b, *s);
	}
	*p = s;
	return arena_take(a, &b);
}

static void
split_line(struct completion *c, const char *line)
{
	const char *p = line;

	c->words = NEW_N(c->arena, struct str, strlen(line) + 2);
	for (;;) {
		p += strspn(p, " \t");
		c->words[c->n++] = shell_word(c->arena, &p);
		if (*p == '\0')
			break;
	}
	c->words++;			/* the name of the program */
	c->n--;
}

static void
take_words(struct completion *c)
{
	const struct complete_opt *o = c->call->opt;
	size_t i;

	if (o->line && c->call->nargs == 1) {
		split_line(c, c->call->args[0]);
		return;
	}
	c->n = c->call->nargs;
	c->words = NEW_N(c->arena, struct str, c->n + 1);
	for (i = 0; i < c->n; i++)
		c->words[i] = str_of(c->call->args[i]);
}

static int
complete_main(struct cmd_call *call)
{
	static const char *const names[] = { [FILES] = "files",
		[DIRS] = "dirs" };
	struct completion c = { .call = call, .arena = call->arena };
	struct buf out = { 0 };
	struct str whole;

	take_words(&c);
	if (c.n == 0)
		return CMD_OK;
	c.word = whole = c.words[c.n - 1];
	if (c.n == 1) {
		add_commands(&c);
		add(&c, STR("--help"), STR("list the commands"));
		add(&c, STR("--version"), STR("print the version"));
	} else if ((c.cmd = cmd_find(c.words[0])) != NULL)
		complete_word(&c);
	buf_fmt(&out, "%s\t", c.more == NOTHING ? "words" : names[c.more]);
	buf_put(&out, whole);
	buf_putc(&out, '\n');
	buf_put(&out, buf_str(&c.out));
	buf_free(&c.out);
	return cmd_finish(call, &out, CMD_OK);
}

const struct cmd_command cmd_complete = {
	.name = "__complete", .group = CMD_HIDDEN,
	.usage = "[--line] -- WORD ...",
	.opts = CMD_OPTS(complete_rows), .size = sizeof(struct complete_opt),
	.max = SIZE_MAX, .fn = complete_main,
	.help = "Print candidates for a shell's completion"
};
