/* SPDX-License-Identifier: ISC */
/*
 * Other people's evals: evals/evals.json of the repositories of agentskills.io,
 * and lists of trigger queries.
 *
 * Both become the tree of an eval.yaml, so that one loader reads all.  The
 * values of a task get the place of its entry, for messages.  Prompts are not
 * templates there, so their braces are escaped.
 */
#include "suite/spec_internal.h"

#include <string.h>

#include "lib/tmpl.h"

/* Lists of expectations in words, which a judge decides. */
static const char *const word_lists[] = { "expectations", "assertions",
	"expected_behavior" };

/* Checks that some repositories add for programs of their own. */
static const char *const other_checks[] = { "scorers", "graders", "checks",
	"evaluation_criteria", "rubric", "validators" };

/* The text of such an entry: a string, or an object with one of these. */
static const char *const text_keys[] = { "text", "assertion", "expectation",
	"description", "criterion", "value" };

/* Where the skill is, from the directory of the file. */
static const char *const skill_places[] = { "..", ".", "../../skills/",
	"../../", "../skills/" };

struct foreign {
	struct spec_loader *l;
	const struct spec_file *file;
	struct buf text;		/* the tree as JSON */
	struct json_out out;
	struct str skill;		/* its name, or empty */
	const char *root;		/* of the skill, from file->dir */
	bool found;			/* the skill is there */
};

static void
note(struct foreign *f, const struct json *at, const char *key,
    const char *what)
{
	spec_warning(f->l, f->file->path, at, key, "\"%s\" %s", key, what);
}

/*
 * The skill.
 */
static bool
is_plain_name(struct str name)
{
	return name.n > 0 && memchr(name.p, '/', name.n) == NULL &&
	    name.p[0] != '.';
}

static void
find_skill(struct foreign *f)
{
	struct arena *a = f->l->arena;
	struct spec_skill s;
	struct err e;
	const char *dir, *file;
	size_t i;

	for (i = 0; i < COUNTOF(skill_places) && !f->found; i++) {
		dir = skill_places[i];
		if (dir[strlen(dir) - 1] == '/' && !is_plain_name(f->skill))
			continue;
		if (dir[strlen(dir) - 1] == '/')
			dir = arena_fmt(a, "%s%.*s", dir, STRF(f->skill)).p;
		file = spec_join(a, spec_join(a, f->file->dir, str_of(dir)),
		    STR("SKILL.md"));
		f->found = spec_check_path(f->l->notes, file, &e) == 0 &&
		    spec_exists(file);
		if (f->found)
			f->root = dir;
	}
	if (!f->found) {
		f->root = "..";
		spec_warning(f->l, f->file->path, f->file->root, "skill_name",
		    "no SKILL.md found in or above this directory: the agent "
		    "gets no skill");
	} else if (f->skill.n == 0 && spec_read_skill(a, spec_join(a,
	    f->file->dir, str_of(f->root)), &s, &e) == 0)
		f->skill = s.name;
}

/*
 * Entries.
 */
static struct str
text_of(const struct json *v, const char *const *keys, size_t n)
{
	struct str s = STR("");
	size_t i;

	if (v->type == JSON_STRING)
		return json_text(v);
	for (i = 0; i < n && s.n == 0; i++)
		s = json_str(v, keys[i]);
	return s;
}

static struct str
first_member(const struct json *v, const char *a, const char *b)
{
	struct str s = json_str(v, a);

	return s.n > 0 ? s : json_str(v, b);
}

static void
put_id(struct foreign *f, const struct json *entry, const char *word, size_t n)
{
	const struct json *id = json_getc(entry, "id");
	struct str s = id != NULL && (id->type == JSON_STRING ||
	    id->type == JSON_NUMBER) ? str_trim(json_text(id)) : STR("");

	if (s.n == 0)
		s = arena_fmt(f->l->arena, "%s-%zu", word, n);
	json_put_member_str(&f->out, "id", s);
}

static void
put_prompt(struct foreign *f, const struct json *entry, struct str prompt)
{
	if (str_trim(prompt).n == 0)
		spec_error(f->l, f->file->path, entry, "prompt",
		    "the entry has no \"prompt\"");
	json_put_member_str(&f->out, "prompt", tmpl_escape(f->l->arena,
	    prompt));
}

/* Appends the expectations; how many there are. */
static size_t
put_words(struct foreign *f, struct buf *b, const struct json *entry)
{
	const struct json *v;
	struct str s;
	size_t i, n = 0;

	for (i = 0; i < COUNTOF(word_lists); i++) {
		v = spec_array(f->l, f->file->path, json_getc(entry,
		    word_lists[i]));
		for (v = json_first(v); v != NULL; v = v->next) {
			s = str_trim(text_of(v, text_keys,
			    COUNTOF(text_keys)));
			if (s.n == 0)
				spec_error(f->l, f->file->path, v,
				    word_lists[i], "an expectation must be a "
				    "text");
			buf_fmt(b, "%zu. %s%.*s\n", ++n, str_is(json_str(v,
			    "type"), "string_match") ? "The answer contains "
			    "this text: " : "", STRF(s));
		}
	}
	return n;
}

static void
put_graders(struct foreign *f, const struct json *entry)
{
	struct str want = str_trim(first_member(entry, "expected_output",
	    "expected"));
	struct buf b = { 0 };
	size_t i, n;

	for (i = 0; i < COUNTOF(other_checks); i++)
		if (spec_given(json_getc(entry, other_checks[i])))
			note(f, json_getc(entry, other_checks[i]),
			    other_checks[i], "is not supported here; it is "
			    "ignored");
	buf_puts(&b, "The answer must meet every one of these "
	    "expectations:\n");
	n = put_words(f, &b, entry);
	if (n == 0)
		b.n = 0;
	if (want.n > 0)
		buf_fmt(&b, "%s\n%.*s\n", n == 0 ? "The answer must agree "
		    "with this description of the expected result:" : "\n"
		    "For orientation, a description of the expected result:",
		    STRF(want));
	if (b.n > 0) {
		json_open_member(&f->out, "graders", '[');
		json_open(&f->out, '{');
		json_put_member_cstr(&f->out, "type", "prompt");
		json_put_member_cstr(&f->out, "name", "expectations");
		json_put_member_str(&f->out, "prompt", tmpl_escape(
		    f->l->arena, buf_str(&b)));
		json_close(&f->out, '}');
		json_close(&f->out, ']');
	}
	buf_free(&b);
}

static void
put_files(struct foreign *f, const struct json *entry)
{
	const struct json *v = spec_array(f->l, f->file->path,
	    json_getc(entry, "files"));

	if (json_first(v) == NULL)
		return;
	json_put_member_cstr(&f->out, "context_dir", f->root);
	json_open_member(&f->out, "inputs", '{');
	json_put_member(&f->out, "files", v);
	json_close(&f->out, '}');
}

static void
put_eval(struct foreign *f, const struct json *entry, size_t n)
{
	struct str name = first_member(entry, "name", "eval_name");

	put_id(f, entry, "eval", n);
	json_put_member_nonempty(&f->out, "name", name);
	put_prompt(f, entry, json_str(entry, "prompt"));
	put_files(f, entry);
	put_graders(f, entry);
}

static void
put_query(struct foreign *f, const struct json *entry, size_t n)
{
	const struct json *should = json_getc(entry, "should_trigger");

	put_id(f, entry, "query", n);
	put_prompt(f, entry, first_member(entry, "query", "prompt"));
	if (should == NULL || should->type != JSON_BOOL)
		spec_error(f->l, f->file->path, entry, "should_trigger",
		    "\"should_trigger\" must be true or false");
	json_open_member(&f->out, "expected", '{');
	json_put_member_bool(&f->out, "should_trigger", should != NULL &&
	    json_bool(should));
	json_close(&f->out, '}');
}

/*
 * The tree.
 */
static void
put_config(struct foreign *f, bool queries)
{
	json_open_member(&f->out, "config", '{');
	if (queries) {
		/* the defaults of the tools that these lists are for */
		json_put_member_int(&f->out, "trials_per_task", 3);
		json_put_member_raw(&f->out, "task_pass_threshold",
		    STR("0.5"));
	}
	if (f->found) {
		json_open_member(&f->out, "skill_directories", '[');
		json_put_cstr(&f->out, f->root);
		json_close(&f->out, ']');
	}
	json_close(&f->out, '}');
}

static void
put_tasks(struct foreign *f, const struct json *list, bool queries)
{
	const struct json *v;
	size_t n = 0;

	json_open_member(&f->out, "tasks", '[');
	for (v = json_first(list); v != NULL && list->type == JSON_ARRAY;
	    v = v->next) {
		json_open(&f->out, '{');
		if (v->type != JSON_OBJECT)
			spec_error(f->l, f->file->path, v, "", "expected an "
			    "object, not %s", json_type_name(
			    (enum json_type)v->type));
		else
			(queries ? put_query : put_eval)(f, v, ++n);
		json_close(&f->out, '}');
	}
	json_close(&f->out, ']');
}

/* Gives a value and all below it the place of another. */
static void
place(struct json *v, const struct json *at)
{
	struct json *c;

	v->line = at->line;
	v->col = at->col;
	if (json_key(v).p != NULL) {
		v->key_line = at->line;
		v->key_col = at->col;
	}
	for (c = json_first(v); c != NULL; c = c->next)
		place(c, at);
}

static const struct json *
finish(struct foreign *f, const struct json *list)
{
	struct json *root = arena_json(f->l->arena, arena_take(f->l->arena,
	    &f->text), NULL), *t;
	const struct json *v = json_first(list);

	place(root, f->file->root);
	for (t = json_first(json_getc(root, "tasks")); t != NULL && v != NULL;
	    t = t->next, v = v->next)
		place(t, v);
	return root;
}

/* The entries of a file of one of the two kinds, or NULL. */
static const struct json *
entries(const struct json *root, bool *queries)
{
	const struct json *v = json_first(root);

	*queries = root->type == JSON_ARRAY;
	if (*queries)
		return json_getc(v, "should_trigger") != NULL ? root : NULL;
	if (json_getc(root, "tasks") != NULL ||
	    json_getc(root, "config") != NULL)
		return NULL;
	v = json_getc(root, "evals");
	if (v == NULL)
		v = json_getc(root, "test_cases");
	return json_is_set(v) ? v : NULL;
}

const struct json *
spec_read_foreign(struct spec_loader *l, const struct spec_file *file)
{
	struct foreign f = { .l = l, .file = file };
	const struct json *list;
	bool queries;

	list = entries(file->root, &queries);
	if (list == NULL)
		return NULL;
	if (list->type != JSON_ARRAY)
		spec_error(l, file->path, list, NULL, "\"%.*s\" must be a "
		    "list, not %s", STRF(json_key(list)), json_type_name(
		    (enum json_type)list->type));
	else if (json_first(list) == NULL)
		spec_error(l, file->path, list, NULL, "the file has no evals: "
		    "\"%.*s\" is empty", STRF(json_key(list).n > 0 ?
		    json_key(list) : STR("the list")));
	f.out = (struct json_out){ .put = buf_sink, .ctx = &f.text };
	f.skill = str_trim(json_str(file->root, "skill_name"));
	find_skill(&f);
	json_open(&f.out, '{');
	json_put_member_str(&f.out, "name", f.skill.n > 0 ? f.skill :
	    STR("evals"));
	json_put_member_nonempty(&f.out, "skill", f.skill);
	put_config(&f, queries);
	put_tasks(&f, list, queries);
	json_close(&f.out, '}');
	return finish(&f, list);
}
