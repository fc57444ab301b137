/* SPDX-License-Identifier: ISC */
/* waza tokens profile: the structure of SKILL.md files. */
#include "cmd/skill/tokens.h"

#include <string.h>

#include "json.h"

enum { WARNINGS = 3 };

struct profile {
	struct str name;
	int64_t sections, blocks, steps;
	const char *level;
	const char *warnings[WARNINGS];
	size_t n;
};

/* "## " to "##### ". */
static bool
is_section(struct str s)
{
	size_t i;

	for (i = 0; i < s.n && s.p[i] == '#'; i++)
		;
	return i >= 2 && i <= 5 && i < s.n && s.p[i] == ' ';
}

/* Digits, a full stop and a blank, after white space. */
static bool
is_step(struct str s)
{
	size_t i = 0, k;

	while (i < s.n && (s.p[i] == ' ' || s.p[i] == '\t'))
		i++;
	for (k = i; k < s.n && s.p[k] >= '0' && s.p[k] <= '9'; k++)
		;
	return k > i && k + 1 < s.n && s.p[k] == '.' && s.p[k + 1] == ' ';
}

static void
look(struct tokens *t, struct profile *p, const struct tokens_file *f,
    struct str text)
{
	struct str line;
	int64_t fences = 0;

	while (str_line(&text, &line)) {
		p->sections += is_section(line);
		p->steps += is_step(line);
		fences += str_starts(str_trim(line), STR("```"));
	}
	p->blocks = fences / 2;
	p->level = p->sections >= 5 && p->blocks >= 2 ? "detailed" :
	    p->sections >= 3 ? "standard" : "minimal";
	if (p->steps == 0)
		p->warnings[p->n++] = "no numbered workflow steps";
	if (t->settings.warning > 0 && f->tokens > t->settings.warning)
		p->warnings[p->n++] = arena_fmt(t->arena, "%lld tokens, over "
		    "the warning threshold of %lld", (long long)f->tokens,
		    (long long)t->settings.warning).p;
	if (p->sections < 3)
		p->warnings[p->n++] = "fewer than 3 sections";
}

/* The directory of the file; in the working directory, its name. */
static struct str
name_of(struct tokens *t, const struct tokens_scope *s, struct str path)
{
	struct str dir = path;
	size_t i;

	if (s->skill.n > 0)
		return s->skill;
	while (dir.n > 0 && dir.p[dir.n - 1] != '/')
		dir.n--;
	if (dir.n == 0 && strcmp(s->dir, ".") != 0)
		dir = arena_fmt(t->arena, "%s/", s->dir);
	if (dir.n == 0) {
		for (i = path.n; i > 0 && path.p[i - 1] != '.'; i--)
			;
		return (struct str){ path.p, i > 0 ? i - 1 : path.n };
	}
	return str_base(dir);
}

static void
put_json(struct json_out *o, const struct tokens *t,
    const struct tokens_file *f, const struct profile *p)
{
	size_t i;

	json_open(o, '{');
	json_put_member_str(o, "name", p->name);
	json_put_member_str(o, "path", f->path);
	json_put_member_int(o, "tokens", f->tokens);
	tokens_put_counter(o, t);
	json_put_member_int(o, "sections", p->sections);
	json_put_member_int(o, "codeBlocks", p->blocks);
	json_put_member_int(o, "workflowSteps", p->steps);
	json_put_member_cstr(o, "detailLevel", p->level);
	if (p->n > 0) {
		json_open_member(o, "warnings", '[');
		for (i = 0; i < p->n; i++)
			json_put_cstr(o, p->warnings[i]);
		json_close(o, ']');
	}
	json_close(o, '}');
}

static void
put_number(struct buf *b, int64_t n, const char *what)
{
	buf_fmt(b, ", %lld %s%s", (long long)n, what, n == 1 ? "" : "s");
}

static void
put_text(struct tokens *t, const struct tokens_file *f,
    const struct profile *p)
{
	size_t i;

	buf_fmt(&t->out, "%.*s: %lld tokens (%s, %s)", STRF(p->name),
	    (long long)f->tokens, p->level, token_counter_name(&t->counter));
	put_number(&t->out, p->sections, "section");
	put_number(&t->out, p->blocks, "code block");
	put_number(&t->out, p->steps, "numbered step");
	buf_putc(&t->out, '\n');
	for (i = 0; i < p->n; i++)
		if (t->format == TOKENS_GITHUB)
			tokens_put_command(&t->out, "warning", f->path, 1,
			    p->warnings[i]);
		else
			buf_fmt(&t->out, "  ⚠️  %s\n", p->warnings[i]);
}

static size_t
count_files(const struct tokens_scopes *all)
{
	size_t i, k, n = 0;

	for (i = 0; i < all->n; i++)
		for (k = 0; k < all->v[i].n; k++)
			n += tokens_is_skill(all->v[i].v[k].path);
	return n;
}

static int
profile_scope(struct tokens *t, const struct tokens_scope *s,
    struct json_out *o)
{
	struct arena scratch = { 0 };
	struct tokens_file *f;
	struct profile p;
	struct str text;
	int status = CMD_OK;

	for (f = s->v; f < s->v + s->n; f++) {
		if (!tokens_is_skill(f->path))
			continue;
		p = (struct profile){ .name = name_of(t, s, f->path) };
		if (tokens_read(t, f, &scratch, &text) == -1)
			status = CMD_ERROR;
		else {
			look(t, &p, f, text);
			if (o != NULL)
				put_json(o, t, f, &p);
			else
				put_text(t, f, &p);
		}
		arena_free(&scratch);
	}
	return status;
}

int
tokens_profile(struct tokens *t)
{
	struct json_out o = { .put = buf_sink, .ctx = &t->out, .indent = 2 };
	struct tokens_scopes all;
	bool json = t->format == TOKENS_JSON;
	size_t i, n;
	int status = CMD_OK;

	if (tokens_find(t, true, &all) == -1)
		return cmd_complain(t->call->err);
	n = count_files(&all);
	if (n == 0) {
		buf_puts(&t->out, json ? "[]\n" : "No SKILL.md files found.\n");
		return CMD_OK;
	}
	if (json && n > 1)
		json_open(&o, '[');
	for (i = 0; i < all.n; i++)
		if (profile_scope(t, &all.v[i], json ? &o : NULL) != CMD_OK)
			status = CMD_ERROR;
	if (json && n > 1)
		json_close(&o, ']');
	if (json)
		buf_putc(&t->out, '\n');
	return status;
}
