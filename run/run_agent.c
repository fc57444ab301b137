/* SPDX-License-Identifier: ISC */
/*
 * A custom agent (NAME.agent.md) that the suite tests.  Its body reaches the
 * executor as the system message, else as a file where the executor's agent
 * looks for custom agents, else as a part of the prompt.
 *
 * Its tools are enforced by executors that can deny them; a denied call fails
 * the trial, whatever the graders find.
 */
#include "run/run_internal.h"

#include <string.h>
#include <sys/stat.h>

#include "base/os_path.h"
#include "json.h"

static bool
can_place(const struct run_ask *q)
{
	return agent_custom_place(q->run->agent->kind) != NULL &&
	    q->run->opts.shared_workspace == NULL && q->dir != NULL &&
	    q->req.workspace == q->dir;
}

void
run_agent_choose(struct run_ask *q)
{
	const struct spec_agent *a = agent_custom(&q->req);
	const struct agent_kind *k = q->run->agent->kind;
	struct str text;

	q->agent_way = RUN_AGENT_NONE;
	if (a == NULL || k->all_turns || q->run->opts.stored != NULL)
		return;
	text = arena_fmt(&q->arena, "Base directory for this skill: %s\n\n"
	    "%.*s", os_absolute(&q->arena, a->dir), STRF(str_trim(a->body)));
	q->agent_text = text;
	if (k->takes_system)
		q->req.system = text;
	else if (!k->no_files)
		q->agent_way = can_place(q) ? RUN_AGENT_PLACED :
		    RUN_AGENT_PROMPT;
	if (q->agent_way == RUN_AGENT_PROMPT)
		run_skills_note(q, STR("the custom agent was given in the "
		    "prompt"));
	if (a->has_tools && !k->no_files && !agent_enforces_tools(k))
		run_skills_note(q, STR("the executor cannot deny tools: only "
		    "graders check the tools of the custom agent"));
}

/* A file for agents of all kinds: name, description and body. */
static struct str
agent_file(struct run_ask *q, const struct spec_agent *a)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	buf_puts(&b, "---\nname: ");
	json_put_str(&o, a->stem);
	o = (struct json_out){ .put = buf_sink, .ctx = &b };
	buf_puts(&b, "\ndescription: ");
	json_put_str(&o, a->description.n > 0 ? a->description : a->name);
	buf_puts(&b, "\nmode: primary\n---\n");
	buf_put(&b, q->agent_text);
	buf_putc(&b, '\n');
	return arena_take(&q->arena, &b);
}

int
run_agent_place(struct run_ask *q, struct err *e)
{
	const struct agent_custom_place *p;
	const struct spec_agent *a = agent_custom(&q->req);
	const char *top = agent_cwd(&q->req);
	struct str path;
	struct stat st;

	if (q->agent_way != RUN_AGENT_PLACED)
		return 0;
	p = agent_custom_place(q->run->agent->kind);
	path = arena_fmt(&q->arena, "%s/%.*s%s", p->dir, STRF(a->stem),
	    p->ending);
	q->req.custom = arena_cstr(&q->arena, a->stem);
	if (lstat(arena_fmt(&q->arena, "%s/%.*s", top, STRF(path)).p,
	    &st) == 0)
		return err_set(e, ERR_SCHEMA, "the workspace has its own "
		    "custom agent %.*s", STRF(path));
	if (run_skills_make_dirs(q, str_of(p->dir), e) == -1)
		return -1;
	run_skills_push(q, &q->skills.placed, path);
	return workspace_put(&q->arena, top, path, agent_file(q, a), e);
}

void
run_agent_preamble(const struct run_ask *q, struct buf *out)
{
	const struct spec_agent *a = agent_custom(&q->req);

	if (q->agent_way != RUN_AGENT_PROMPT)
		return;
	buf_puts(out, "You are this agent; follow its instructions.\n\n"
	    "<agent name=\"");
	buf_put(out, a->name);
	buf_puts(out, "\">\n");
	buf_put(out, q->agent_text);
	buf_puts(out, "\n</agent>\n\n");
}

void
run_agent_verdict(struct run_trial *t)
{
	const struct answer *ans = &t->ask.job.ans;
	struct verdict v = { .name = STR("agent_tools_policy"),
		.type = STR("tool_policy"), .weight = 1,
		.details = STR("") };
	struct buf b = { .max = 1000 };
	size_t i;

	if (ans->denied.n == 0 || t->ask.job.req == NULL)
		return;
	buf_puts(&b, "denied before they ran: ");
	for (i = 0; i < ans->denied.n; i++)
		buf_fmt(&b, "%s\"%.*s\"", i > 0 ? ", " : "",
		    STRF(ans->denied.v[i]));
	buf_puts(&b, "; the custom agent does not declare them in \"tools\"");
	v.feedback = arena_take(&t->ask.arena, &b);
	run_add_verdict(t, &v);
}
