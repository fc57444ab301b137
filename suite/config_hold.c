/* SPDX-License-Identifier: ISC */
/*
 * What a project's file can set before the user trusts it.
 *
 * The file may come with a cloned repository.  The settings in the table are
 * names and numbers: they choose among what the user has set up.  All others
 * start programs, open ports, send requests, keys or files elsewhere, or
 * widen what clients may name.  A setting that is not in the table needs
 * trust, so a new one does until it is added here.
 *
 * The judge, and each entry of `executors`, is held back as a whole: without
 * its address, a model would be asked at another server than the file names.
 */
#include "suite/config_internal.h"

#include <string.h>

enum {
	WORDS = 4,		/* of the longest row */
	NAMES_MAX = 8		/* in a warning */
};

static const char *const plain[] = {	/* "*" is any name */
	"executor", "model", "timeout_seconds", "log_level",
	"keep_results",
	"limits.message_bytes", "limits.depth", "limits.connections",
	"limits.queue_bytes", "limits.idle_seconds", "limits.runs",
	"limits.kept_runs", "limits.tools",
	"sessions.max", "sessions.idle_seconds", "sessions.timeout_seconds",
	"sessions.temperature", "sessions.max_tokens",
	"remote.ping_seconds", "remote.idle_seconds", "remote.grace_seconds",
	"remote.lost_seconds",
	"judge.executor", "judge.model", "judge.max_tokens",
	"judge.temperature",
	"executors.*.max_cost", "executors.*.max_tokens",
	"executors.*.max_tokens_total", "executors.*.retries",
	"executors.*.temperature",
	"prices.*.input", "prices.*.output", "prices.*.cache_read",
	"prices.*.cache_write",
	"paths.skills", "paths.evals", "paths.results",
	"files.evalFile", "files.taskGlob", "files.taskFileSuffix",
	"defaults.engine", "defaults.model", "defaults.judgeModel",
	"defaults.timeout", "defaults.parallel", "defaults.workers",
	"defaults.verbose", "defaults.sessionLog",
	"tokens.warningThreshold", "tokens.fallbackLimit",
	"tokens.limits.defaults.*", "tokens.limits.overrides.*",
	"tokens.vocab",
};
static const char *const parts[] = {	/* mappings of such settings only */
	"paths", "files", "defaults", "tokens",
};
static const char *const inner[] = {	/* paths that must stay inside */
	"paths.skills", "paths.evals", "paths.results", "tokens.vocab",
};

struct hold {
	struct config_loader *loader;
	const struct config_layer *layer;
	struct str words[WORDS];	/* of the key in question */
	struct buf names;
	size_t n;			/* of them */
};

/* How the first n words compare with a row. */
enum match { NO_MATCH, BEGINS, IS_PLAIN };

static enum match
compare(const struct hold *h, size_t n, const char *row)
{
	const char *dot;
	struct str word;
	size_t i;

	for (i = 0; i < n && row != NULL; i++) {
		dot = strchr(row, '.');
		word = dot == NULL ? str_of(row) :
		    (struct str){ row, (size_t)(dot - row) };
		if (!str_is(word, "*") && !str_eq(word, h->words[i]))
			return NO_MATCH;
		row = dot == NULL ? NULL : dot + 1;
	}
	return i < n ? NO_MATCH : row == NULL ? IS_PLAIN : BEGINS;
}

static enum match
find(const struct hold *h, size_t n)
{
	enum match m, best = NO_MATCH;
	size_t i;

	for (i = 0; i < COUNTOF(plain); i++) {
		m = compare(h, n, plain[i]);
		best = m > best ? m : best;
	}
	return best;
}

/* Whether a path is relative and has no part "..". */
static bool
stays_inside(struct str s)
{
	size_t i = 0, k;

	if (s.n > 0 && (s.p[0] == '/' || s.p[0] == '~'))
		return false;
	for (; i < s.n; i = k + 1) {
		for (k = i; k < s.n && s.p[k] != '/'; k++)
			;
		if (k - i == 2 && memcmp(s.p + i, "..", 2) == 0)
			return false;
	}
	return true;
}

/* Whether the value, whose path has n words, can be set without trust. */
static bool
is_harmless(const struct hold *h, size_t n, const struct json *v)
{
	size_t i;

	if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
		return false;
	for (i = 0; i < COUNTOF(inner) && v->type == JSON_STRING; i++)
		if (compare(h, n, inner[i]) == IS_PLAIN)
			return stays_inside(json_text(v));
	return true;
}

/* Whether it is one of these mappings with nothing in it. */
static bool
is_empty_part(const struct json *v)
{
	size_t i;

	for (i = 0; i < COUNTOF(parts); i++)
		if (str_is(json_key(v), parts[i]))
			return v->type == JSON_NULL ||
			    (v->type == JSON_OBJECT && json_count(v) == 0);
	return false;
}

/* Lists a value that is held back, and those below it. */
static void
list(struct hold *h, struct str key, const struct json *v, bool hidden)
{
	struct arena *a = h->loader->arena;
	struct config_leaf leaf = { .key = key,
		.at = spec_at(h->layer->name, v) };
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *m;

	if (v->type == JSON_OBJECT && json_count(v) > 0) {
		for (m = json_first(v); m != NULL; m = m->next)
			list(h, config_path_add(a, key, json_key(m)), m,
			    hidden || config_is_hidden(json_key(m)));
		return;
	}
	if (!hidden)
		json_put(&o, v);
	leaf.value = arena_take(a, &b);
	buf_put(&h->loader->held, (struct str){ (char *)&leaf, sizeof(leaf) });
}

static void
hold_back(struct hold *h, size_t n, const struct json *v)
{
	struct str key = STR("");
	size_t i;

	for (i = 0; i < n; i++)
		key = config_path_add(h->loader->arena, key, h->words[i]);
	if (h->n++ < NAMES_MAX)
		buf_fmt(&h->names, "%s%.*s", h->n > 1 ? ", " : "",
		    SPEC_SHORT(key));
	list(h, key, v, config_is_hidden(h->words[n - 1]));
}

/* Keys of suites and unknown ones are not settings and have no effect. */
static bool
is_setting(const struct json *v)
{
	const struct field *f = field_find(&config_table, json_key(v));

	return f != NULL && !config_foreign(f);
}

/* Whether all of the object, whose path has n words, can be set. */
static bool
is_all_plain(struct hold *h, size_t n, const struct json *obj)
{
	const struct json *v;

	for (v = json_first(obj); v != NULL; v = v->next) {
		h->words[n] = json_key(v);
		if (find(h, n + 1) != IS_PLAIN || !is_harmless(h, n + 1, v))
			return false;
	}
	return json_count(obj) > 0;
}

/* Whether the object whose path has n words is kept as a whole or dropped. */
static bool
is_unit(const struct hold *h, size_t n)
{
	return n == 1 ? str_is(h->words[0], "judge") :
	    n == 2 && str_is(h->words[0], "executors");
}

/* A copy of the object, whose path has n words, without what needs trust. */
static struct json *
keep(struct hold *h, size_t n, const struct json *obj)
{
	struct arena *a = h->loader->arena;
	struct json_mem mem = { arena_hook, a };
	struct json *out = NEW(a, struct json), **tail = &out->u.child, *sub;
	const struct json *v;
	enum match m;

	*out = json_copy(obj);
	out->u.child = NULL;
	out->n = 0;
	out->indexed = 0;
	for (v = json_first(obj); v != NULL; v = v->next) {
		if (n == 0 && !is_setting(v))
			continue;
		h->words[n] = json_key(v);
		m = find(h, n + 1);
		if (m == IS_PLAIN && is_harmless(h, n + 1, v))
			spec_append(a, out, &tail, v, NULL);
		else if (n == 0 && is_empty_part(v))
			continue;
		else if (m == BEGINS && v->type == JSON_OBJECT &&
		    json_count(v) > 0 && (!is_unit(h, n + 1) ||
		    is_all_plain(h, n + 1, v))) {
			sub = keep(h, n + 1, v);
			if (sub->n > 0)
				spec_append(a, out, &tail, sub, NULL);
		} else
			hold_back(h, n + 1, v);
	}
	json_seal(&mem, out, true);
	return out;
}

struct str
config_hold(struct config_loader *l, struct config_layer *layer)
{
	struct hold h = { .loader = l, .layer = layer };

	layer->root = keep(&h, 0, layer->root);
	if (h.n > NAMES_MAX)
		buf_fmt(&h.names, " and %zu more", h.n - NAMES_MAX);
	if (h.n > 0)
		buf_puts(&h.names, h.n == 1 ? " is" : " are");
	return arena_take(l->arena, &h.names);
}

void
config_take_held(struct config_loader *l, const struct config_leaf **out,
    size_t *n)
{
	struct config_leaf *v;

	*n = l->held.n / sizeof(*v);
	*out = v = NEW_N(l->arena, struct config_leaf, *n);
	if (*n > 0)
		memcpy(v, l->held.p, l->held.n);
	buf_free(&l->held);
}
