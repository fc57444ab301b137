/* SPDX-License-Identifier: ISC */
/*
 * Every setting with its value and its source.
 *
 * Keys of the tables are shown as decoded, with paths as they will be used;
 * entries of maps are shown as written.
 */
#include "suite/config_internal.h"

#include <string.h>

struct show {
	struct arena *arena;
	struct buf leaves;	/* of struct config_leaf */
};

/* Appends a setting; frees the value. */
static void
add_leaf(struct show *s, struct str key, const struct json *v,
    struct buf *value)
{
	const struct config_item *i = (const struct config_item *)v;
	struct config_leaf leaf = { .key = key,
		.value = arena_str(s->arena, buf_str(value)) };

	if (i != NULL)
		leaf.at = spec_at(i->from->name, v);
	buf_put(&s->leaves, (struct str){ (char *)&leaf, sizeof(leaf) });
	buf_free(value);
}

static bool
is_plain(struct str key)
{
	size_t i;

	for (i = 0; i < key.n; i++)
		if (!config_is_word(key.p[i]))
			return false;
	return key.n > 0;
}

struct str
config_path_add(struct arena *a, struct str path, struct str word)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	buf_put(&b, path);
	if (path.n > 0)
		buf_putc(&b, '.');
	if (is_plain(word))
		buf_put(&b, word);
	else
		json_put_str(&o, word);
	path = arena_str(a, buf_str(&b));
	buf_free(&b);
	return path;
}

static void
put_strs(struct json_out *o, const struct field_strs *list)
{
	size_t i;

	json_open(o, '[');
	for (i = 0; i < list->n; i++)
		json_put_str(o, list->v[i]);
	json_close(o, ']');
}

static void
put_member(struct json_out *o, const struct field *f, const void *at)
{
	switch ((enum field_type)f->type) {
	case FIELD_STR:
		json_put_str(o, *(const struct str *)at);
		break;
	case FIELD_INT:
		json_put_int(o, *(const int64_t *)at);
		break;
	case FIELD_NUM:
		json_put_double(o, *(const double *)at);
		break;
	case FIELD_BOOL:
		json_put_bool(o, *(const bool *)at);
		break;
	case FIELD_ENUM:
		json_put_cstr(o, f->words[*(const int *)at]);
		break;
	case FIELD_STRS:
		put_strs(o, at);
		break;
	case FIELD_INTS:
	case FIELD_OBJECT:
	case FIELD_OBJECTS:
	case FIELD_TREE:
		json_put_raw(o, STR("{}"));
		break;
	}
}

bool
config_is_hidden(struct str key)
{
	static const char *const words[] = { "headers", "env", "environment" };
	size_t i;

	for (i = 0; i < COUNTOF(words); i++)
		if (str_is(key, words[i]))
			return true;
	return false;
}

static void
show_tree(struct show *s, struct str path, const struct json *v, bool hidden)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	const struct json *m;

	if (v->type == JSON_OBJECT && json_count(v) > 0) {
		for (m = json_first(v); m != NULL; m = m->next)
			show_tree(s, config_path_add(s->arena, path,
			    json_key(m)), m, hidden ||
			    config_is_hidden(json_key(m)));
		return;
	}
	if (!hidden)
		json_put(&o, v);
	add_leaf(s, path, v, &b);
}

static void
show_table(struct show *s, struct str path, const struct field_table *t,
    const struct json *obj, const void *in)
{
	const struct field *f;
	const struct json *v;
	const char *member;
	struct str key;

	for (f = t->rows; f < t->rows + t->n; f++) {
		struct buf b = { 0 };
		struct json_out o = { .put = buf_sink, .ctx = &b };

		if (config_foreign(f))
			continue;
		v = json_getc(obj, f->key);
		key = config_path_add(s->arena, path, str_of(f->key));
		member = (const char *)in + f->off;
		if (f->type == FIELD_OBJECT)
			show_table(s, key, f->sub, v, member);
		else if (f->type == FIELD_TREE && v != NULL)
			show_tree(s, key, v, false);
		else {
			put_member(&o, f, member);
			add_leaf(s, key, v, &b);
		}
	}
}

size_t
config_leaves(struct arena *a, const struct config *c,
    struct config_leaf **out)
{
	struct show s = { .arena = a };
	size_t n;

	show_table(&s, STR(""), &config_table, c->tree, c);
	n = s.leaves.n / sizeof(**out);
	*out = NEW_N(a, struct config_leaf, n);
	memcpy(*out, s.leaves.p, s.leaves.n);
	buf_free(&s.leaves);
	return n;
}
