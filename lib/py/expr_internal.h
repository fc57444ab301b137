/* SPDX-License-Identifier: ISC */
/*
 * expr_internal.h: expr_.  Tokens, nodes and values, and the functions that
 * the files of lib/py share.
 *
 * Unless stated otherwise, a function that returns int returns 0, or -1 after
 * expr_raise(), expr_decline() or expr_exceed_*(); the evaluation ends
 * then.  A predicate that
 * can fail returns 1, 0 or -1.  Values are immutable, except for cached facts
 * (the length of a text, elements read from a tree, the state of a generator).
 * They are allocated in the evaluation's arena.
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
	EXPR_NAMES_MAX = 256,		/* distinct global variables */
	EXPR_ARGS_MAX  = 16,		/* arguments of a call */
	EXPR_GENS_MAX  = 8,		/* generators that consume each other */
	EXPR_RES_MAX   = 32,		/* distinct patterns */
	EXPR_STEP_BYTES = 64		/* bytes that can be read in a step */
};

/* Values. */

enum expr_kind {
	EXPR_NONE,
	EXPR_BOOL,		/* u.i */
	EXPR_INT,		/* u.i */
	EXPR_FLOAT,		/* u.d */
	EXPR_STR,		/* u.text */
	EXPR_LIST,		/* u.seq */
	EXPR_TUPLE,		/* u.seq */
	EXPR_DICT,		/* u.map */
	EXPR_SET,		/* u.map; its values are None */
	EXPR_VIEW,		/* u.map; sub: enum expr_view */
	EXPR_GEN,		/* u.gen */
	EXPR_MATCH,		/* u.match */
	EXPR_FLAGS,		/* u.i; flags of re */
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
	struct text *low;	/* cached result of lower(), or NULL */
	bool constant;		/* part of the expression: caches nothing */
	uint8_t facts;		/* cached enum expr_fact; 0: unknown */
};

/* Facts about a text that decide whether a pattern can be matched here. */
enum expr_fact {
	EXPR_FACT_KNOWN  = 1,
	EXPR_FACT_WORD   = 2,	/* has a letter or digit that is not ASCII */
	EXPR_FACT_FOLD   = 4,	/* has a letter that case folds to ASCII */
	EXPR_FACT_CHANGED = 8	/* has a character that Pythons disagree on */
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
	const struct json *src;	/* array whose elements are not read yet */
};

struct pair {
	struct value key, val;
};

/* In order of insertion. */
struct map {
	struct pair *v;
	size_t n, cap;
	uint32_t *index;	/* index of a pair + 1, by hash; NULL: small */
	size_t nindex;		/* a power of two */
	const struct json *src;	/* object whose members are not read yet */
};

struct iter {
	struct value of;
	size_t at;
};

/* The variables of one evaluation of a comprehension. */
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

/* Nodes. */

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
	EXPR_OP_COMPARE,	/* every kid but the first has a .rel */
	EXPR_OP_BINARY,		/* what: enum expr_arith */
	EXPR_OP_UNARY,		/* what: '-' or '+' */
	EXPR_OP_ATTR,		/* kid: object; u.name */
	EXPR_OP_CALL,		/* kids: callee, arguments */
	EXPR_OP_KEYWORD,	/* a named argument; u.name */
	EXPR_OP_INDEX,		/* kids: object, index */
	EXPR_OP_SLICE,		/* kids: object, from, to */
	EXPR_OP_COMP,		/* what: enum expr_comp; kids: element, FORs */
	EXPR_OP_FOR		/* kids: target, iterable, conditions */
};

enum expr_rel {
	EXPR_EQ, EXPR_NE, EXPR_LT, EXPR_LE, EXPR_GT, EXPR_GE,
	EXPR_IN, EXPR_NOT_IN, EXPR_IS, EXPR_IS_NOT
};

enum expr_arith {
	EXPR_ADD, EXPR_SUB, EXPR_MUL, EXPR_DIV, EXPR_FLOOR, EXPR_MOD,
	EXPR_BITOR, EXPR_POW, EXPR_ARITH__MAX
};

enum expr_comp { EXPR_COMP_LIST, EXPR_COMP_SET, EXPR_COMP_DICT,
	EXPR_COMP_GEN };

struct node {
	uint8_t op;		/* enum expr_op */
	uint8_t what;		/* depends on op */
	uint8_t rel;		/* enum expr_rel, as a kid of a comparison */
	bool bound;		/* a name whose variable is known */
	uint16_t depth;
	uint16_t nslots;	/* variables of a comprehension */
	uint32_t at;		/* offset in the source */
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
	struct budget *budget;
};

/* An evaluation (expr.c). */

struct eval {
	const struct json *names;
	struct arena *arena;
	struct err *err;
	enum expr_status status;
	size_t steps;		/* left */
	size_t memory;		/* left */
	unsigned depth;		/* of generators */
	const struct expr *expr;
	struct value *globals;
	bool *known;		/* which globals have been looked up */
	struct frame *frame;
	struct pattern *patterns;
	size_t npatterns;
};

/* Ends the evaluation as declined; the text names the unsupported part. */
int expr_decline(struct eval *, const char *fmt, ...) PRINTF(2, 3);
/* Ends it with an exception; declines if the text is too long for an err. */
int expr_raise(struct eval *, const char *fmt, ...) PRINTF(2, 3);
/* Ends it with the limit that it exceeds. */
int expr_exceed_steps(struct eval *);
int expr_exceed_memory(struct eval *);
/* Each charges time, n steps or those of n bytes. */
int expr_steps(struct eval *, size_t n);
int expr_bytes(struct eval *, size_t n);
/* Memory that is not zeroed, charged; NULL if that exceeds the limit. */
void *expr_alloc(struct eval *, size_t n);
/* Room for one more than n elements; may move them; NULL as expr_alloc(). */
void *expr_grow(struct eval *, void *, size_t n, size_t *cap, size_t size);

/* Tokens and literals (expr_lex.c). */

enum lex_kind { LEX_END, LEX_NAME, LEX_NUMBER, LEX_STRING, LEX_OP };

/* The .op of an operator of two characters. */
#define LEX2(a, b) ((a) << 8 | (b))

struct token {
	enum lex_kind kind;
	unsigned op;		/* a character, or two by LEX2 */
	size_t at, end;		/* in the source */
	size_t body, body_end;	/* of a string, between its quotes */
	bool raw;		/* r'' */
};

struct parser {
	struct arena *arena;
	struct err *err;
	struct str s;
	size_t i;		/* behind the token */
	unsigned brackets;	/* open at i; newlines in them are blanks */
	unsigned depth;
	struct token tok;
	struct node **refs;	/* names in source order, to be bound */
	size_t nrefs, caprefs;
};

/* Sets a syntax error at an offset of the source; returns -1. */
int expr_lex_fail(struct parser *, size_t at, const char *why);
/* Reads the next token into p->tok. */
int expr_lex_next(struct parser *);
/* The source text of the token; whether it is the name `keyword`. */
struct str expr_lex_text(const struct parser *);
bool expr_lex_is(const struct parser *, const char *keyword);
/* The value of a number or string token; -1 if it is declined. */
int expr_lex_number(struct parser *, struct value *);
int expr_lex_string(struct parser *, struct str *);

/*
 * The parser (expr_parse.c: operators, expr_atom.c: operands).  Functions
 * that return a node return NULL after setting p->err.
 */

/* Parses the whole source into expr; -1 if it is declined. */
int expr_parse(struct arena *, struct str, struct expr *, struct err *);
/* Sets a syntax error at the token; returns NULL. */
struct node *expr_fail(struct parser *, const char *why);
/* A new node without kids; at is its place in the source. */
struct node *expr_new(struct parser *, enum expr_op, size_t at);
/* Appends a kid at *tail, unless it is NULL; returns n. */
struct node *expr_add(struct parser *, struct node *n,
    struct node ***tail, struct node *kid);
/* A new node with one kid, or with two if b is not NULL. */
struct node *expr_of(struct parser *, enum expr_op, size_t at,
    struct node *a, struct node *b);
/* Whether the token is that operator. */
bool expr_is_op(const struct parser *, unsigned op);
/* Skips the operator; -1 if the token is another one. */
int expr_take_op(struct parser *, unsigned op);
/* An expression; one without "if ... else"; an operand with its suffixes. */
struct node *expr_any(struct parser *);
struct node *expr_or(struct parser *);
struct node *expr_primary(struct parser *);

/* The walk over the tree (expr_eval.c). */

/* Evaluates a node. */
int expr_node(struct eval *, const struct node *, struct value *);
/* The next element of a generator: 1, 0 at the end, -1. */
int expr_gen_next(struct eval *, struct gen *, struct value *);

/* expr_value.c: makes values. */

/* Python's name of the value's type; its truth in Python's sense. */
const char *expr_type(struct value);
bool expr_true(struct value);
struct value expr_none(void);
struct value expr_bool(bool);
struct value expr_int(int64_t);
struct value expr_float(double);
/* A text that refers to the bytes. */
int expr_str(struct eval *, struct str, struct value *);
/* The bytes of a text. */
struct str expr_bytes_of(struct value text);
/* A list or tuple that takes over the array. */
int expr_seq(struct eval *, enum expr_kind, struct value *, size_t n,
    struct value *);
/* The value of a tree; its elements are read when they are needed. */
int expr_json(struct eval *, const struct json *, struct value *);
/* Reads the elements of a tree, if that has not been done. */
int expr_read_seq(struct eval *, struct seq *);
int expr_read_map(struct eval *, struct map *);
size_t expr_map_n(struct value);

/* expr_equal.c: predicates. */

/* Python's ==. */
int expr_equal(struct eval *, struct value, struct value);
/* rel is one of EXPR_LT to EXPR_GE. */
int expr_compare(struct eval *, enum expr_rel rel, struct value, struct value);
/* The operator `in`: 1, 0, or -1. */
int expr_in(struct eval *, struct value what, struct value where);
/* Equality of elements of containers: declines NaN. */
int expr_same(struct eval *, struct value, struct value);

/* expr_map.c: dicts and sets. */

/* An empty dict or set. */
int expr_map_new(struct eval *, enum expr_kind, struct value *);
/* Replaces the value of an equal key. */
int expr_map_put(struct eval *, struct map *, struct value key,
    struct value val);
/* 1 and the value, 0 if the key is missing, -1. */
int expr_map_get(struct eval *, struct map *, struct value key,
    struct value *);
/* A predicate; rel is one of EXPR_EQ, EXPR_LT to EXPR_GE. */
int expr_set_compare(struct eval *, enum expr_rel, struct map *,
    struct map *);

/* expr_num.c: operators. */

/* A binary operator of any types; a sign, '-' or '+'. */
int expr_arith(struct eval *, enum expr_arith, struct value, struct value,
    struct value *);
int expr_sign(struct eval *, int sign, struct value, struct value *);
/* Reads decimal digits; false if there are others, or too many. */
bool expr_read_int(struct str, int64_t *);
/* Reads digits with a point and an exponent; false if out of range. */
bool expr_read_float(struct str, double *);

/* expr_seq.c: sequences and iteration. */

/* of[at], of[from:to], a + b, a * times; None is an absent bound. */
int expr_index(struct eval *, struct value of, struct value at,
    struct value *);
int expr_slice(struct eval *, struct value of, const struct value bounds[2],
    struct value *);
int expr_concat(struct eval *, struct value, struct value, struct value *);
int expr_repeat(struct eval *, struct value, int64_t times, struct value *);
/* All elements of an iterable. */
int expr_as_list(struct eval *, struct value, struct value *);
/* Starts an iteration; expr_next() returns 1, 0 at the end, -1. */
int expr_iter(struct eval *, struct value of, struct iter *);
int expr_next(struct eval *, struct iter *, struct value *);

/* expr_text.c: lengths, offsets and search. */

/* Length in code points; whether all are ASCII; bytes before a code point. */
size_t expr_len(struct text *);
bool expr_ascii(struct text *);
size_t expr_offset(struct text *, size_t cp);
/* Bytes [from, to) as a text of its own. */
int expr_sub(struct eval *, const struct text *, size_t from, size_t to,
    struct value *);
/* The code point at byte i and its width; U+FFFD and 1 for a bad byte. */
uint32_t expr_code_at(const struct text *, size_t i, size_t *width);
/* The byte where the code point before byte i > 0 begins. */
size_t expr_code_before(const struct text *, size_t i);
/* Whether str.strip() removes the code point. */
bool expr_is_space(uint32_t);

/* A search for a text, which can be repeated. */
struct finder {
	struct str needle;
	size_t rare;		/* offset of its rarest byte */
	size_t work;		/* bytes compared without a match */
	uint32_t *fail;		/* table, once the work was too much */
};
/* Prepares a search; refers to the needle. */
void expr_find_init(struct finder *, struct str needle);
/* The first match at or after byte `from`: 1 and its offset, 0, -1. */
int expr_find(struct eval *, struct finder *, struct str hay, size_t from,
    size_t *at);

/* expr_case.c: case and classes of characters. */

enum expr_case { EXPR_LOWER, EXPR_UPPER, EXPR_FOLD, EXPR_TITLE,
	EXPR_CAPITALIZE };
/* The text in another case; declines letters with special mappings. */
int expr_case(struct eval *, struct text *, enum expr_case, struct value *);
enum expr_test { EXPR_ALNUM, EXPR_ALPHA, EXPR_DIGIT, EXPR_IS_LOWER,
	EXPR_IS_UPPER, EXPR_SPACE };
/* The result of a method such as isdigit. */
int expr_test(struct eval *, struct text *, enum expr_test, struct value *);

/* expr_repr.c: str() and repr(). */

/* A text under construction. */
struct sink {
	char *p;
	size_t n, cap;
};
int expr_put(struct eval *, struct sink *, struct str);
int expr_put_repr(struct eval *, struct sink *, struct value);
int expr_put_str(struct eval *, struct sink *, struct value);
/* The finished text as a value. */
int expr_take(struct eval *, const struct sink *, struct value *);
/* Raises with the repr of v between two texts. */
int expr_raise_repr(struct eval *, const char *before, struct value v,
    const char *after);

/* Calls (expr_call.c). */

/* The arguments of a call: n without names, then nnamed with names. */
struct args {
	struct value *v;
	const struct str *names;
	size_t n, nnamed;
	int variant;		/* of the function that is called */
};

/*
 * Functions and methods.  The number of arguments is checked before the call:
 * min to max without names, and names only if .named is set.
 */
struct builtin {
	const char *name;
	int (*call)(struct eval *, const struct args *, struct value *);
	int variant;
	unsigned min, max;
	bool named;
};

struct method {
	const char *name;
	enum expr_kind kind;
	int (*call)(struct eval *, struct value self, const struct args *,
	    struct value *);
	int variant;
	unsigned min, max;
};

/* The builtin function of that name, or NULL. */
const struct builtin *expr_builtin(struct str name);
/* Each calls, after checking the arguments. */
int expr_call(struct eval *, const struct builtin *, struct args *,
    struct value *);
int expr_call_method(struct eval *, const struct method *, struct value self,
    struct args *, struct value *);
/* Finds a method; if there is none, raises or declines. */
int expr_attr(struct eval *, struct value self, struct str name,
    const struct method **);
/* True if Python has an attribute of that name that is not supported. */
bool expr_attr_unsupported(struct str name);
/* An attribute of the module re. */
int expr_re_attr(struct eval *, struct str name, struct value *);
/* Tables that end with a row without a name. */
extern const struct method expr_str_methods[], expr_re_methods[];

/* Translates patterns of Python's re for lib/re (expr_pattern.c). */

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
	size_t ngroups;		/* without the whole match */
	size_t group[EXPR_GROUPS_MAX + 1];	/* their numbers in out */
	size_t marks[EXPR_GROUPS_MAX];	/* empty groups at the match's end */
	size_t nmarks;
	size_t weight;		/* estimated number of instructions */
	bool nullable;		/* can match the empty text */
	bool looped;		/* a group is repeated */
	bool dollar;		/* depends on a newline at the end */
	unsigned taboo;		/* facts that the text must not have */
};

/*
 * Writes a pattern for the subject to t->out; the pattern also applies to
 * other texts that are ASCII, and end in a newline, as the subject does.
 */
int expr_translate(struct eval *, struct text *pattern, int64_t flags,
    enum expr_match, struct text *subject, struct translation *t);

#endif
