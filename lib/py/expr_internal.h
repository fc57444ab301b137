/* SPDX-License-Identifier: ISC */
/*
 * expr_internal.h: expr_.  Nodes and values, and the functions that the files
 * of expr share.
 *
 * Functions that can fail return -1 after expr_raise() or expr_decline();
 * nothing is evaluated after that.  A value never changes once it is made,
 * but for what it remembers (a text its length, a tree that it was read, a
 * generator how far it is).
 */
#ifndef WAZA_EXPR_INTERNAL_H
#define WAZA_EXPR_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "lib/py/expr.h"

struct json;

enum {
	EXPR_NAMES_MAX = 256,		/* different variables */
	EXPR_ARGS_MAX  = 16,		/* of a call */
	EXPR_GENS_MAX  = 8,		/* generators that feed each other */
	EXPR_RES_MAX   = 32,		/* different patterns */
	EXPR_STEP_BYTES = 64		/* that are looked at in a step */
};

enum expr_kind {
	EXPR_NONE,
	EXPR_BOOL,		/* u.i */
	EXPR_INT,		/* u.i */
	EXPR_FLOAT,		/* u.d */
	EXPR_STR,		/* u.text */
	EXPR_LIST,		/* u.seq */
	EXPR_TUPLE,		/* u.seq */
	EXPR_DICT,		/* u.map */
	EXPR_SET,		/* u.map; values are None */
	EXPR_VIEW,		/* u.map; sub says of what */
	EXPR_GEN,		/* u.gen */
	EXPR_MATCH,		/* u.match */
	EXPR_FLAGS,		/* u.i; of re */
	EXPR_MODULE,		/* re */
	EXPR_BUILTIN,		/* u.builtin */
	EXPR_KIND__MAX
};
#define EXPR_ISNUM(v) ((v).kind >= EXPR_BOOL && (v).kind <= EXPR_FLOAT)
#define EXPR_ISINT(v) ((v).kind == EXPR_BOOL || (v).kind == EXPR_INT)
#define EXPR_ISSEQ(v) ((v).kind == EXPR_LIST || (v).kind == EXPR_TUPLE)

enum expr_view { EXPR_KEYS, EXPR_VALUES, EXPR_ITEMS };

#define EXPR_UNKNOWN SIZE_MAX

struct text {
	const char *p;		/* UTF-8 */
	size_t n;
	size_t len;		/* code points, or EXPR_UNKNOWN */
	struct text *low;	/* lower(), once it was asked for */
	bool fixed;		/* of the expression: nothing is remembered */
	uint8_t facts;		/* enum expr_fact, for patterns; 0: unknown */
};

enum expr_fact {
	EXPR_FACT_KNOWN  = 1,
	EXPR_FACT_WORD   = 2,	/* a letter or digit beyond ASCII */
	EXPR_FACT_FOLD   = 4,	/* a letter with the case of one in ASCII */
	EXPR_FACT_UNSURE = 8	/* a character that is new in Unicode */
};

struct value {
	uint8_t kind;		/* enum expr_kind */
	uint8_t sub;		/* enum expr_view */
	union {
		int64_t i;
		double d;
		struct text *text;
		struct seq *seq;
		struct map *map;
		struct gen *gen;
		struct match *match;
		const struct builtin *builtin;
	} u;
};

struct seq {
	struct value *v;
	size_t n;
	const struct json *src;	/* an array that is not read yet, or NULL */
};

struct pair {
	struct value key, val;
};

/* In order of insertion. */
struct map {
	struct pair *v;
	size_t n, cap;
	uint32_t *index;	/* number of a pair + 1 by hash; NULL: small */
	size_t nindex;		/* a power of two */
	const struct json *src;	/* an object that is not read yet, or NULL */
};

struct iter {
	struct value of;
	size_t at;
};

/* The variables of one run of a comprehension. */
struct frame {
	struct frame *up;
	struct value *v;
	bool *set;
};

struct gen {
	const struct node *node;
	struct frame frame;
	struct iter *it;	/* one for each "for" */
	bool started, done, busy;
};

enum expr_op {
	EXPR_OP_CONST,		/* u.value */
	EXPR_OP_GLOBAL,		/* u.var.slot */
	EXPR_OP_LOCAL,		/* u.var */
	EXPR_OP_LIST,
	EXPR_OP_TUPLE,
	EXPR_OP_SET,
	EXPR_OP_DICT,		/* kids: key, value, key, value */
	EXPR_OP_AND,
	EXPR_OP_OR,
	EXPR_OP_NOT,
	EXPR_OP_IF,		/* kids: condition, then, else */
	EXPR_OP_COMPARE,	/* sub of each kid but the first: expr_rel */
	EXPR_OP_BINARY,		/* sub: expr_arith */
	EXPR_OP_UNARY,		/* sub: '-' '+' '~' */
	EXPR_OP_ATTR,		/* kid: of what; u.name */
	EXPR_OP_CALL,		/* kids: what, arguments */
	EXPR_OP_KEYWORD,	/* an argument with a name */
	EXPR_OP_INDEX,		/* kids: of what, index */
	EXPR_OP_SLICE,		/* kids: of what, from, to, step */
	EXPR_OP_COMP,		/* sub: expr_comp; kids: element(s), FORs */
	EXPR_OP_FOR,		/* kids: target, iterable, conditions */
	EXPR_OP_FORMAT,		/* of an f-string; kids are its parts */
	EXPR_OP_FIELD		/* sub: 0 'r' 's'; u.name: how */
};

enum expr_rel {
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE,
	EXPR_IN, EXPR_NOT_IN, EXPR_IS, EXPR_IS_NOT
};

enum expr_arith {
	EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_FLOOR, EXPR_MOD,
	EXPR_POW, EXPR_BITOR, EXPR_BITXOR, EXPR_BITAND, EXPR_SHL, EXPR_SHR,
	EXPR_ARITH__MAX
};

enum expr_comp { EXPR_COMP_LIST, EXPR_COMP_SET, EXPR_COMP_DICT,
	EXPR_COMP_GEN };

struct node {
	uint8_t op;		/* enum expr_op */
	uint8_t what;		/* what the op says of it */
	uint8_t rel;		/* as a kid of a comparison */
	bool bound;		/* a name whose variable is known */
	uint16_t depth;
	uint16_t nslots;	/* of a comprehension */
	uint32_t at;		/* in the source */
	uint32_t nkids;
	struct node *kid, *next;
	union {
		struct value value;
		struct str name;
		struct {
			struct str name;
			uint32_t slot, up;
		} var;
	} u;
};

struct expr {
	const struct node *root;
	struct str *names;	/* of global variables */
	size_t nnames;
};

struct eval {
	const struct json *names;
	struct arena *arena;
	struct err *err;
	enum expr_status status;
	size_t steps;		/* left */
	size_t memory;		/* left */
	unsigned depth;
	const struct expr *expr;
	struct value *globals;
	bool *known;		/* which globals have been looked up */
	struct frame *frame;
	struct pattern *patterns;
	size_t npatterns;
	struct uni *uni;	/* what is known of code points, once needed */
};

/* The arguments of a call: n without names, then nnamed with. */
struct args {
	struct value *v;
	const struct str *names;
	size_t n, nnamed;
};

/* A text being made, in the arena. */
struct sink {
	char *p;
	size_t n, cap;
};

/* A text that is looked for, perhaps several times. */
struct finder {
	struct str needle;
	size_t rare;		/* where its rarest byte is */
	size_t work;		/* bytes compared in vain */
	uint32_t *fail;		/* once that was too much */
};

struct builtin {
	const char *name;
	int (*call)(struct eval *, const struct args *, struct value *);
	bool type;		/* a type in Python, not a function */
};

struct method {
	const char *name;
	enum expr_kind kind;
	int (*call)(struct eval *, struct value self, const struct args *,
	    struct value *);
	unsigned min, max;	/* arguments */
};

/* expr.c */
int expr_decline(struct eval *, const char *fmt, ...) PRINTF(2, 3);
int expr_raise(struct eval *, const char *fmt, ...) PRINTF(2, 3);
int expr_steps(struct eval *, size_t n);
int expr_bytes(struct eval *, size_t n);	/* the steps of n bytes */
void *expr_alloc(struct eval *, size_t n);	/* NULL: declined */
void *expr_grow(struct eval *, void *, size_t n, size_t *cap, size_t size);

/* expr_parse.c */
int expr_parse(struct arena *, struct str, struct expr *, struct err *);

/* expr_eval.c */
int expr_node(struct eval *, const struct node *, struct value *);
int expr_gen_next(struct eval *, struct gen *, struct value *);
int expr_iter(struct eval *, struct value of, struct iter *);
/* 1 and a value, 0 at the end, -1. */
int expr_next(struct eval *, struct iter *, struct value *);

/* expr_value.c */
const char *expr_type(struct value);	/* Python's name of the type */
bool expr_true(struct value);
struct value expr_none(void);
struct value expr_bool(bool);
struct value expr_int(int64_t);
struct value expr_float(double);
int expr_str(struct eval *, struct str, struct value *);	/* borrows */
int expr_seq(struct eval *, enum expr_kind, struct value *, size_t n,
    struct value *);		/* takes over the values */
int expr_json(struct eval *, const struct json *, struct value *);
int expr_read_seq(struct eval *, struct seq *);	/* if it is not yet */
int expr_read_map(struct eval *, struct map *);
size_t expr_seq_n(struct value);
size_t expr_map_n(struct value);

/* expr_equal.c: 1, 0, -1 */
int expr_equal(struct eval *, struct value, struct value);
int expr_compare(struct eval *, enum expr_rel, struct value, struct value);
int expr_in(struct eval *, struct value what, struct value where);
int expr_same(struct eval *, struct value, struct value);	/* in a list */
int expr_num_compare(struct value, struct value, bool *unordered);

/* expr_map.c */
int expr_map_new(struct eval *, enum expr_kind, struct value *);
int expr_map_put(struct eval *, struct map *, struct value key,
    struct value val);
int expr_map_get(struct eval *, struct map *, struct value key,
    struct value *);			/* 1, 0, -1 */
int expr_set_op(struct eval *, enum expr_arith, struct map *, struct map *,
    struct value *);
int expr_set_compare(struct eval *, enum expr_rel, struct map *,
    struct map *);

/* expr_num.c */
int expr_arith(struct eval *, enum expr_arith, struct value, struct value,
    struct value *);
int expr_unary(struct eval *, int op, struct value, struct value *);
bool expr_read_int(struct str, int64_t *);	/* digits only */
bool expr_read_float(struct str, double *);
int expr_unsupported(struct eval *, const char *op, struct value,
    struct value);

/* expr_seq.c */
int expr_index(struct eval *, struct value of, struct value at,
    struct value *);
int expr_slice(struct eval *, struct value of, const struct value v[3],
    struct value *);
int expr_concat(struct eval *, struct value, struct value, struct value *);
int expr_repeat(struct eval *, struct value, int64_t, struct value *);
int expr_as_list(struct eval *, struct value, struct value *);

/* expr_text.c */
size_t expr_len(struct text *);		/* in code points */
bool expr_ascii(struct text *);
size_t expr_offset(struct text *, size_t cp);	/* bytes before it */
void expr_find_init(struct finder *, struct str needle);
/* The first at or after byte `from`; with back the last before it. */
int expr_find(struct eval *, struct finder *, struct str hay, size_t from,
    size_t *at);		/* 1, 0, -1 */
int expr_find_back(struct eval *, struct finder *, struct str hay,
    size_t to, size_t *at);
int expr_sub(struct eval *, const struct text *, size_t from, size_t to,
    struct value *);		/* bytes of it, as a text of its own */
bool expr_is_space(uint32_t);

/* expr_case.c */
enum expr_case { EXPR_LOWER, EXPR_UPPER, EXPR_TITLE, EXPR_FOLD };
int expr_case(struct eval *, struct text *, enum expr_case, struct value *);
int expr_title(struct eval *, struct text *, struct value *);
int expr_capitalize(struct eval *, struct text *, struct value *);
int expr_swapcase(struct eval *, struct text *, struct value *);
int expr_props(struct eval *, uint32_t, unsigned *);	/* EXPR_UNI_ bits */
int expr_test(struct eval *, struct text *, const char *name,
    struct value *);

/* expr_repr.c */
int expr_put(struct eval *, struct sink *, struct str);
int expr_put_repr(struct eval *, struct sink *, struct value);
int expr_put_str(struct eval *, struct sink *, struct value);
size_t expr_put_float(char out[40], double);
int expr_take(struct eval *, const struct sink *, struct value *);
/* Raises with the repr of v between two texts. */
int expr_raise_repr(struct eval *, const char *before, struct value v,
    const char *after);

/* expr_format.c */
int expr_put_format(struct eval *, struct sink *, struct value,
    struct str how);
int expr_percent(struct eval *, struct text *, struct value, struct value *);
int expr_str_format(struct eval *, struct value self, const struct args *,
    struct value *);

/* expr_call.c */
const struct builtin *expr_builtin(struct str name);
int expr_call_method(struct eval *, struct value self, struct str name,
    const struct args *, struct value *);
/* 0 when it has it; else raises or declines. */
int expr_attr(struct eval *, struct value self, struct str name,
    const struct method **);
int expr_split(struct eval *, struct value, const struct args *,
    struct value *);
extern const struct method expr_str_methods[], expr_split_methods[];
extern const struct method expr_other_methods[], expr_re_methods[];

/* expr_re.c */
int expr_re_attr(struct eval *, struct str name, struct value *);

/* expr_pattern.c: a pattern of Python's re in the language of re.h */

enum expr_flag {		/* with Python's values */
	EXPR_FLAG_FOLD    = 2,
	EXPR_FLAG_LINES   = 8,
	EXPR_FLAG_DOT_ALL = 16,
	EXPR_FLAG_UNICODE = 32
};

enum expr_match { EXPR_SEARCH, EXPR_MATCH_START, EXPR_MATCH_FULL };

enum { EXPR_GROUPS_MAX = 20 };

struct translation {
	struct sink out;
	size_t ngroups;		/* without the whole */
	size_t group[EXPR_GROUPS_MAX + 1];	/* their numbers in out */
	size_t marks[EXPR_GROUPS_MAX];	/* empty groups where the match ends */
	size_t nmarks;
	size_t weight;		/* instructions, about */
	bool nullable;		/* it can match nothing */
	bool looped;		/* a group is repeated */
	bool dollar;		/* it depends on a newline at the end */
	bool not_empty;		/* it is not for the empty text */
	unsigned taboo;		/* facts that may not be of the text */
};

int expr_translate(struct eval *, struct text *pattern, int64_t flags,
    enum expr_match, struct text *subject, struct translation *);

#endif
