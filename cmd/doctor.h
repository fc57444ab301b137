/* SPDX-License-Identifier: ISC */
/*
 * doctor.h: doctor_.  `waza doctor`: its findings, for the files doctor*.c.
 * Everything lives in the arena of the call.
 */
#ifndef WAZA_DOCTOR_H
#define WAZA_DOCTOR_H

#include "agent/agent.h"
#include "agent/agent_probe.h"
#include "io/proc.h"
#include "suite/spec.h"

struct cmd_call;
struct json;

/* A program that some graders and tasks need. */
struct doctor_tool {
	const char *name, *purpose, *install;
};

/* The findings about one executor, an agent of `acp`, a tool or a server. */
struct doctor_finding {
	const char *name;
	const struct agent_kind *kind;		/* or NULL */
	const struct agent_facts *facts;	/* or NULL */
	const struct doctor_tool *tool;		/* or NULL */
	const struct spec_suite *suite;	/* with its settings; not of tools */
	const struct json *settings;
	struct agent_question question;	/* if there are facts */
	const char *path;		/* of the program, or NULL */
	struct str version, text, fix, login_by, url, note;
	int version_status;		/* exit status; above 0: it failed */
	bool version_late;		/* it did not exit in time */
	enum agent_login login;
	const char *skills, *confined, *permits;	/* or NULL */
	bool ok;
	struct proc proc;		/* prints the version */
	struct agent_probe probe;
	struct doctor *doctor;
};

enum { DOCTOR_MAX = 64 };
struct doctor {
	struct cmd_call *call;
	struct arena *arena;
	struct doctor_finding *v;	/* executors, then others */
	size_t n, nexecutors;
	const struct json *executors;	/* of the settings */
	const char *dir;		/* temporary; a private HOME */
	struct procs procs;
	size_t waiting, next;		/* for children; next to start */
};

/* Adds a finding with this name; NULL if there are too many. */
struct doctor_finding *doctor_add(struct doctor *, const char *name);

/* Adds the executor that a suite, or the settings, configure. */
void doctor_add_kind(struct doctor *, const struct agent_kind *,
    const struct spec_suite *);

/* Adds what a suite needs; 0, or -1 if the suite cannot be loaded. */
int doctor_add_suite(struct doctor *, const char *path, const char *config,
    const char *json, bool trust);

/*
 * The first executor whose agent is installed and, as far as it can be asked,
 * logged in; NULL: none.  executors: of the settings, or NULL.
 */
const char *doctor_first(struct cmd_call *, const struct json *executors);

/* Finds the programs, asks all of them, and judges; 0, or -1. */
int doctor_examine(struct doctor *);

#endif
