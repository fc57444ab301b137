/* SPDX-License-Identifier: ISC */
/*
 * guard.h: guard_.  Text of suites, agents and peers, made safe for logs and
 * terminals.
 *
 * CI systems obey lines of a job's log: GitHub a line that begins with "::",
 * GitHub and Azure "##[" and "##vso[" anywhere in a line, TeamCity
 * "##teamcity[".  An answer could so set variables of the job or mask its
 * output.  Every text that waza prints is therefore passed through
 * guard_output() as the last step before it is written: earlier steps remove
 * characters, which can put such a command together.  Files are exact.
 */
#ifndef WAZA_GUARD_H
#define WAZA_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

/* True if a character is invisible or changes the direction of writing. */
bool guard_hidden(uint32_t);

/* The language of an output, which decides how a command is broken up. */
enum guard_form {
	GUARD_PLAIN,	/* as GUARD_TEXT; without control characters except
			 * newlines and tabs, hidden ones and invalid bytes,
			 * which become "?" */
	GUARD_TEXT,	/* "#\#[", ":\:": a backslash */
	GUARD_GITHUB,	/* the same, but "::" is a command of our own */
	GUARD_JSON,	/* "\u0023#[": the same value */
	GUARD_XML	/* "&#35;#[", "&#58;:": the same text */
};

/*
 * Breaks up the commands in the part of the buffer from offset `from` on.  It
 * finds them also with hidden characters between theirs, which some systems
 * ignore, and after white space at the start of a line.  Linear in the text.
 */
void guard_output(struct buf *, size_t from, enum guard_form);

#endif
