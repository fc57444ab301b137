/* SPDX-License-Identifier: ISC */
/*
 * cmd/run/self_test.h: cmd_.  `waza grade --self-test`: gives the answers in
 * `tests` of tasks to their graders.
 */
#ifndef WAZA_CMD_RUN_SELF_TEST_H
#define WAZA_CMD_RUN_SELF_TEST_H

#include <stdbool.h>

struct cmd_job;

/*
 * Runs the tests of the selected tasks of the job's suite and prints what they
 * show, as JSON if the job owns stdout.  An exit status: CMD_FAILED if the
 * graders decide otherwise than a test expects, or not at all.
 */
int cmd_self_test(struct cmd_job *);

#endif
