/* SPDX-License-Identifier: ISC */
/*
 * agent_preset.h: agent_.  Programs that are known: how each is called, and
 * what it prints.  Only for the agent_*.c files.
 */
#ifndef WAZA_AGENT_PRESET_H
#define WAZA_AGENT_PRESET_H

#include <stdbool.h>

#include "agent/agent_internal.h"

struct proc_opts;

enum agent_prompt_way {
	AGENT_BY_STDIN,			/* as it is */
	AGENT_BY_MESSAGE,		/* as a line of JSON, Claude's */
	AGENT_BY_ARGUMENT		/* after prompt_flag, or its = */
};

struct agent_preset {
	const char *name, *program, *format;
	const char *args[12];		/* before model and prompt */
	const char *model_flag, *prompt_flag;
	const char *effort[2], *mcp[2];	/* words; the last one's value is the
					 * level, or the name of a file */
	enum agent_prompt_way way;
	const char *env[3];
};

/* That of an executor's name, or NULL. */
const struct agent_preset *agent_preset(const char *name);

/* argv, environment and stdin for a job. */
int agent_preset_set(const struct agent_preset *, struct agent *,
    struct agent_job *, struct proc_opts *, struct err *);

void agent_preset_check(const struct spec_suite *, struct spec_notes *);

#endif
