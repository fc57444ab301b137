/* SPDX-License-Identifier: ISC */
/*
 * agent_models.h: agent_.  The models that an executor offers, asked where it
 * can be asked without a call of a model: `openai` by its server's list,
 * `copilot-sdk` by models.list, `acp` by a new session.
 */
#ifndef WAZA_AGENT_MODELS_H
#define WAZA_AGENT_MODELS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "io/fetch.h"
#include "io/proc.h"
#include "io/wire.h"
#include "lib/mask/mask.h"

struct json;
struct openai;
struct spec_suite;

enum {
	AGENT_MODELS_MS = 20000,		/* for a list */
	AGENT_MODELS_MAX = 10000,		/* models of a list */
	AGENT_MODELS_BYTES = 16 << 20		/* of a server's reply */
};

struct agent_model {
	struct str id, name;
	int64_t context;		/* tokens; 0: not known */
	int vision;			/* 1 yes, 0 no, -1 not known */
	const struct json *node;	/* as it was described */
};

/* How an executor is asked. */
enum agent_models_by {
	AGENT_MODELS_UNKNOWN,		/* it cannot be asked */
	AGENT_MODELS_SERVER, AGENT_MODELS_COPILOT, AGENT_MODELS_ACP
};
enum agent_models_by agent_models_by(struct str executor);

/*
 * One question.  It lives inside its owner, must not move while it runs, and
 * ends once, with done().  Everything in it lives in the arena.
 */
struct agent_models {
	void (*done)(void *arg);	/* set by the caller */
	void *arg;
	struct agent_model *v;		/* by id */
	size_t n;
	struct str error;		/* why there is no list; else empty */
	/* private: */
	struct arena *arena;
	struct procs *procs;
	enum agent_models_by by;
	const char *cwd;
	struct timer timer;
	struct wire wire;
	struct fetch fetch;
	struct openai *server;
	struct mask secrets;		/* of an agent */
	struct buf body;
	int status;
	bool answered;
};

/*
 * Asks the executor of the suite with the suite's settings.  cwd is an
 * absolute path for the agent.  -1 and *e: it could not be asked, and done()
 * is not called.
 */
int agent_models_start(struct agent_models *, struct procs *, struct arena *,
    const struct spec_suite *, const char *cwd, struct err *);

#endif
