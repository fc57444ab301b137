/* SPDX-License-Identifier: ISC */
/*
 * triggers.h: triggers_.  The phrases of a skill's description that say when
 * to use the skill and when not: "USE FOR: a, b. DO NOT USE FOR: c."
 */
#ifndef WAZA_TRIGGERS_H
#define WAZA_TRIGGERS_H

#include <stddef.h>

#include "base/base.h"
#include "lib/field.h"

enum {
	TRIGGERS_MAX = 200,		/* phrases of each list */
	TRIGGERS_PHRASE_MAX = 500	/* bytes of a phrase */
};

struct triggers {
	struct field_strs use, avoid;
};

/*
 * Reads the phrases of a description, in their order, each on one line.
 *
 * A label with a colon (USE FOR, WHEN, TRIGGERS, DO NOT USE FOR, NOT FOR)
 * begins a list that ends at the next label or with its sentence.  If parts of
 * the list are in quotes, these are the phrases; otherwise its items between
 * semicolons, or else commas.  Without such a list, sentences such as "Use
 * when ..." give their quoted parts or, without any, the rest of the sentence.
 * Letters of labels match in both cases.
 */
void triggers_read(struct arena *, struct str description,
    struct triggers *);

enum triggers_label { TRIGGERS_USE_FOR, TRIGGERS_WHEN, TRIGGERS_DO_NOT };

/*
 * The number of phrases as the original counts them: items between commas
 * after the first USE FOR:, WHEN: or DO NOT USE FOR: of the text, up to the
 * next label or an empty line.
 */
size_t triggers_count(struct str text, enum triggers_label);

/*
 * At most four words that are typical of a skill: of its USE FOR phrases,
 * then of its name; in lower case, sorted, without the most common words.  If
 * there are none, the name.
 */
void triggers_keywords(struct arena *, const struct triggers *,
    struct str name, struct field_strs *);

#endif
