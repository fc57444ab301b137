/* SPDX-License-Identifier: ISC */
/*
 * agent_probe.h: agent_.  Facts about the programs of known agents, and
 * whether an agent is logged in: the agent itself is asked, without a call of
 * a model.  For executors, which ask before their first trial, and `doctor`.
 */
#ifndef WAZA_AGENT_PROBE_H
#define WAZA_AGENT_PROBE_H

#include <stdbool.h>

#include "base/base.h"
#include "io/proc.h"
#include "io/wire.h"

struct agent;
struct agent_kind;
struct spec_suite;

enum agent_login {
	AGENT_LOGIN_UNKNOWN,	/* it cannot be asked, or did not answer */
	AGENT_LOGIN_NO,
	AGENT_LOGIN_YES		/* logged in, or it needs no login */
};

/* How an agent is asked; the words in struct agent_facts are its arguments. */
enum agent_ask {
	AGENT_ASK_NOBODY,	/* it does not answer before a prompt */
	AGENT_ASK_STATUS,	/* a command that prints {"loggedIn": ...} */
	AGENT_ASK_ACCOUNT,	/* account/read of codex's app server */
	AGENT_ASK_SESSION	/* ACP: a new session requires the login */
};

struct agent_facts {
	const char *name;	/* of the agent: "copilot" */
	const char *executors[2];	/* that run it without ACP */
	const char *program;
	const char *adapter;	/* program that speaks ACP for it, or NULL */
	const char *path_env;	/* variable with the program's path, or NULL */
	const char *keys[5];	/* variables; one makes a login unnecessary */
	const char *urls[2];	/* variables that name another model server */
	const char *install, *install_adapter;
	const char *login;	/* how to do that */
	const char *helper;	/* program that it needs, and what for */
	const char *helps;
	enum agent_ask ask;
	const char *words[2];
};

/* The facts of that executor or of that agent of `acp`; or NULL. */
const struct agent_facts *agent_facts(struct str name);
/* The facts of the agent that a suite configures; NULL: its own command. */
const struct agent_facts *agent_facts_of(struct arena *,
    const struct agent_kind *, const struct spec_suite *);

/* How the agent of an executor is asked: its own program, or its adapter. */
struct agent_question {
	const char *argv[6];
	enum agent_ask ask;
	const char *path;		/* of the program; NULL: missing */
	const char *path_from;		/* variable with that path, or NULL */
};
void agent_question(struct arena *, const struct agent_kind *,
    const struct spec_suite *, const struct agent_facts *,
    struct agent_question *);
/* The command that installs the program of the question. */
const char *agent_install(const struct agent_facts *,
    const struct agent_question *);

/* The first of the names that is set in an environment; or NULL. */
const char *agent_first_set(const char *const *names, size_t n,
    const char *const *env);

/*
 * One question.  A probe lives inside its owner and must not move while it
 * runs.  It completes once, with done(), after the child has ended.
 */
struct agent_probe {
	enum agent_login login;
	struct str why;			/* the agent's words, or empty */
	void (*done)(void *arg);
	void *arg;
	const struct os_bounds *bounds;	/* as in os_spawn.h */
	/* private: */
	struct arena *arena;
	enum agent_ask ask;
	const char *cwd;
	struct procs *procs;
	struct proc proc;		/* AGENT_ASK_STATUS */
	struct wire wire;		/* the others */
	struct timer timer;
};

enum { AGENT_PROBE_MS = 15000 };	/* at most, plus the child's end */

/*
 * The caller sets done, arg and bounds, the rest is zero.  argv and env are
 * those of os_spawn.h; argv is not needed after the call.  cwd is an absolute
 * path.  False: it cannot be asked, and done() is not called.  Cancelling makes
 * done() come sooner.
 */
bool agent_probe_start(struct agent_probe *, struct procs *, struct arena *,
    enum agent_ask, const char *const *argv, const char *const *env,
    const char *cwd);
void agent_probe_cancel(struct agent_probe *);

/*
 * Whether an agent can be used, without a job.  The caller sets done and arg.
 * False: it is known at once, see `missing`, and done() is not called.
 */
struct agent_ready {
	struct str missing;		/* the message, or empty */
	void (*done)(void *arg);
	void *arg;
	/* private: */
	struct arena *arena;
	const struct agent_facts *facts;
	struct agent_probe probe;
};
bool agent_ready_start(struct agent_ready *, const struct agent *);
void agent_ready_cancel(struct agent_ready *);	/* done() comes sooner */

/*
 * A job that waits until its agent has reported whether it is logged in; lives
 * inside its owner.
 */
struct agent_waiter {
	void (*fn)(void *arg);
	void *arg;
	struct str missing;		/* the message, or empty */
	struct agent_waiter *next;	/* private */
};

/*
 * The first job of an agent makes it ask, with the program, environment and
 * confinement of its own child; later ones wait for the same reply, which is
 * kept in agent->state.  True: the reply is known or not needed, see
 * `missing`; false: fn is called later, unless agent_gate_leave() takes the
 * waiter out again, which returns whether it waited.
 * agent_gate_close() is false if the question is still open; then
 * agent->closed() follows.
 */
bool agent_gate_pass(struct agent *, struct agent_waiter *,
    const struct agent_facts *, const struct proc_opts *, const char *cwd);
bool agent_gate_leave(struct agent *, struct agent_waiter *);
bool agent_gate_close(struct agent *);

/* "not logged in (why): how to log in", in the arena. */
struct str agent_login_missing(struct arena *, const struct agent_facts *,
    struct str why);

#endif
