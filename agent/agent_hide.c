/* SPDX-License-Identifier: ISC */
/*
 * Skills that are not the suite's: the settings that make an agent leave
 * them out.
 *
 * An agent with the user's HOME finds the skills of the account.  Some agents
 * have a setting that switches off single skills: an option, a variable, a
 * member of ACP's session/new, or a file in the working directory, which the
 * caller writes.  A setting of the user in the same place is not replaced: then
 * the agent finds the skills.
 */
#include "agent/agent_internal.h"

#include <string.h>

#include "base/os_spawn.h"
#include "json.h"
#include "suite/spec.h"

/* Settings of the user that would collide with ours. */
static const struct {
	const char *variable;		/* of the environment, or NULL */
	const char *word;		/* in an argument, or NULL */
} taken[] = {
	[AGENT_HIDE_NEVER] = { NULL, NULL },
	[AGENT_HIDE_CLAUDE] = { NULL, "--settings" },
	[AGENT_HIDE_CODEX] = { "CODEX_CONFIG", "skills.config" },
	[AGENT_HIDE_GEMINI] = { NULL, NULL },
	[AGENT_HIDE_OPENCODE] = { "OPENCODE_PERMISSION", NULL },
};

/* Whether a list of words contains the text in one of them. */
static bool
has_word(struct arena *a, const struct json *list, const char *text)
{
	const struct json *v;
	const char *word;

	for (v = json_first(list); v != NULL; v = v->next) {
		word = v->type == JSON_STRING ?
		    arena_cstr(a, json_text(v)) : NULL;
		if (word != NULL && strstr(word, text) != NULL)
			return true;
	}
	return false;
}

enum agent_hiding
agent_hiding(const struct agent *agent)
{
	const struct agent_skill_place *p =
	    agent_skill_place_of(agent->kind, agent->suite);
	enum agent_hiding h = p == NULL ? AGENT_HIDE_NEVER : p->hiding;
	const char *variable = taken[h].variable, *word = taken[h].word;
	struct arena a = { 0 };
	const char *value = NULL;

	if (variable != NULL)
		value = os_env_value(agent_settings_env(&a, agent), variable);
	if ((value != NULL && *value != '\0') || (word != NULL && has_word(&a,
	    json_getc(agent_settings(&a, agent->suite, agent->kind->name),
	    "args"), word)))
		h = AGENT_HIDE_NEVER;
	arena_free(&a);
	return h;
}

/* "path" = "..." of TOML, or "path": "..." of JSON. */
static void
put_codex(struct buf *b, struct arena *a, const struct agent_request *r,
    char assign)
{
	struct json_out o = { .put = buf_sink, .ctx = b };
	size_t i;

	buf_putc(b, '[');
	for (i = 0; i < r->nhidden; i++) {
		buf_fmt(b, "%s{\"path\"%c", i > 0 ? "," : "", assign);
		o = (struct json_out){ .put = buf_sink, .ctx = b };
		json_put_str(&o, arena_fmt(a, "%s/SKILL.md",
		    r->hidden[i].path));
		buf_fmt(b, ",\"enabled\"%cfalse}", assign);
	}
	buf_putc(b, ']');
}

/* The name by which the agent knows a skill; Claude: that of its directory. */
static struct str
name_of(enum agent_hiding h, const struct agent_foreign *s)
{
	return h == AGENT_HIDE_CLAUDE ? s->dir : s->name;
}

static void
put_names(struct json_out *o, enum agent_hiding h,
    const struct agent_request *r, const char *value)
{
	size_t i;

	for (i = 0; i < r->nhidden; i++) {
		if (value == NULL) {
			json_put_str(o, name_of(h, &r->hidden[i]));
			continue;
		}
		json_put_key(o, name_of(h, &r->hidden[i]));
		json_put_str(o, str_of(value));
	}
}

struct str
agent_hide_words(struct arena *a, const struct agent_request *r)
{
	struct buf b = { 0 };

	put_codex(&b, a, r, '=');
	return arena_take(a, &b);
}

struct str
agent_hide_json(struct arena *a, enum agent_hiding h,
    const struct agent_request *r)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	switch (h) {
	case AGENT_HIDE_NEVER:
		break;
	case AGENT_HIDE_CODEX:
		buf_puts(&b, "{\"skills\":{\"config\":");
		put_codex(&b, a, r, ':');
		buf_puts(&b, "}}");
		break;
	case AGENT_HIDE_CLAUDE:
		json_open(&o, '{');
		json_open_member(&o, "skillOverrides", '{');
		put_names(&o, h, r, "off");
		json_close(&o, '}');
		json_close(&o, '}');
		break;
	case AGENT_HIDE_GEMINI:
		json_open(&o, '{');
		json_open_member(&o, "skills", '{');
		json_open_member(&o, "disabled", '[');
		put_names(&o, h, r, NULL);
		json_close(&o, ']');
		json_close(&o, '}');
		json_close(&o, '}');
		break;
	case AGENT_HIDE_OPENCODE:	/* the last rule that matches counts */
		json_open(&o, '{');
		json_put_member_cstr(&o, "*", "allow");
		put_names(&o, h, r, "deny");
		json_close(&o, '}');
		break;
	}
	return arena_take(a, &b);
}
