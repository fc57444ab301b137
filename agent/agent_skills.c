/* SPDX-License-Identifier: ISC */
/*
 * Where agents look for skills, and the skills that they bring along.
 *
 * One row serves all wires of an agent.  All agents but Claude read
 * .agents/skills in their working directory.  Directories of the account are
 * listed because skills in them reach the agent unless its HOME is private;
 * those of the machine always do.
 */
#include "agent/agent.h"

#include <stdlib.h>
#include <string.h>

#include "agent/agent_internal.h"
#include "agent/proto/acp.h"
#include "suite/spec.h"

#define AGENTS { NULL, ".agents", "skills" }
#define CLAUDE { "CLAUDE_CONFIG_DIR", ".claude", "skills" }

static const struct agent_skill_place places[] = {	/* sorted by name */
	{ .name = "claude", .dir = ".claude/skills",
	    .home = { CLAUDE, { NULL, NULL, "/etc/claude-code/.claude/skills" } },
	    .hiding = AGENT_HIDE_CLAUDE,
	    .builtin = { "batch", "claude-api", "code-review", "debug", "deep-research",
		"fewer-permission-prompts", "init", "keybindings-help", "loop", "review", "run",
		"run-skill-generator", "security-review", "simplify", "update-config",
		"verify" } },
	{ .name = "codex", .dir = ".agents/skills", .hiding = AGENT_HIDE_CODEX,
	    .home = { AGENTS, { "CODEX_HOME", ".codex", "skills" },
		{ NULL, NULL, "/etc/codex/skills" } },
	    .builtin = { "imagegen", "openai-docs", "skill-creator", "skill-installer" } },
	{ .name = "copilot", .alias = "copilot-cli", .dir = ".agents/skills",
	    .home = { { "COPILOT_HOME", ".copilot", "skills" }, AGENTS },
	    .builtin = { "customize-cloud-agent", "discover-resources", "github-pr-media" } },
	{ .name = "gemini", .dir = ".agents/skills", .hiding = AGENT_HIDE_GEMINI,
	    .home = { { NULL, ".gemini", "skills" }, AGENTS },
	    .builtin = { "antigravity-support", "skill-creator" } },
	{ .name = "goose", .dir = ".agents/skills", .unproven = true,
	    .home = { AGENTS, { NULL, ".claude", "skills" } } },
	{ .name = "opencode", .dir = ".agents/skills", .hiding = AGENT_HIDE_OPENCODE,
	    .home = { { "XDG_CONFIG_HOME", ".config", "opencode/skills" },
		{ "XDG_CONFIG_HOME", ".config", "opencode/skill" },
		{ NULL, ".opencode", "skills" }, { NULL, ".claude", "skills" }, AGENTS },
	    .builtin = { "customize-opencode" } },
	{ .name = "qwen", .dir = ".agents/skills",
	    .home = { { "QWEN_HOME", ".qwen", "skills" }, AGENTS },
	    .builtin = { "batch", "loop", "qc-helper", "review" } },
};

const struct agent_skill_place *
agent_skill_place(struct str agent)
{
	size_t i;

	for (i = 0; i < COUNTOF(places); i++)
		if (str_is(agent, places[i].name) ||
		    (places[i].alias != NULL &&
		    str_is(agent, places[i].alias)))
			return &places[i];
	return NULL;
}

const struct agent_skill_place *
agent_skill_place_of(const struct agent_kind *k, const struct spec_suite *s)
{
	const struct agent_skill_place *p;
	struct acp_settings set = { .agent = { NULL, 0 } };
	struct arena a = { 0 };

	if (k != &agent_acp)
		return agent_skill_place(str_of(k->name));
	acp_read(&a, s, &set);
	p = agent_skill_place(set.agent);
	arena_free(&a);
	return p;
}

enum agent_skills_way
agent_skills_way(const struct agent_kind *k, const struct spec_suite *s)
{
	if (k->no_files)
		return AGENT_SKILLS_NONE;
	if (k->loads_skills)
		return AGENT_SKILLS_DIRECTORIES;
	if (agent_skill_place_of(k, s) == NULL ||
	    s->config.skills == SPEC_SKILLS_PROMPT)
		return AGENT_SKILLS_PROMPT;
	return AGENT_SKILLS_NATIVE;
}

bool
agent_finds_skills(const struct agent_kind *k, const struct spec_suite *s)
{
	return k == &agent_copilot || agent_skill_place_of(k, s) != NULL;
}

bool
agent_brings_skill(const struct agent_kind *k, const struct spec_suite *s,
    struct str name)
{
	const struct agent_skill_place *p = k == &agent_copilot ?
	    agent_skill_place(STR("copilot")) : agent_skill_place_of(k, s);
	size_t i;

	for (i = 0; p != NULL && p->builtin[i] != NULL; i++)
		if (str_is(name, p->builtin[i]))
			return true;
	return false;
}

const char *
agent_skill_home(struct arena *a, const struct agent_skill_place *p, size_t i)
{
	const struct agent_skill_home *h = &p->home[i];
	const char *dir = h->env != NULL ? getenv(h->env) : NULL;
	const char *home = getenv("HOME");

	if (h->base == NULL)
		return h->dir;
	if (dir != NULL && *dir == '/')
		return arena_fmt(a, "%s/%s", dir, h->dir).p;
	if (home == NULL || *home != '/')
		return NULL;
	return arena_fmt(a, "%s/%s/%s", home, h->base, h->dir).p;
}

bool
agent_has_own_home(const struct agent *a)
{
	return a->home.own;
}

/*
 * What the list of used skills means if the agent finds them by itself: each
 * use is a call that the agent reports.
 */
enum agent_skills
agent_skills(const struct agent_kind *k, const struct spec_suite *s,
    const struct spec_task *t)
{
	const struct agent_skill_place *p = agent_skill_place_of(k, s);

	if (p != NULL)
		return p->unproven || s->config.skills == SPEC_SKILLS_PROMPT ?
		    AGENT_SKILLS_SOMETIMES : AGENT_SKILLS_REPORTED;
	return k->skills == NULL ? AGENT_SKILLS_REPORTED : k->skills(s, t);
}
