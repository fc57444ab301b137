/* SPDX-License-Identifier: ISC */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "json.h"
#include "suite/spec.h"
#include "test/tool/tap.h"

static struct arena arena;

static void
show(const struct spec_notes *notes)
{
	struct buf b = { 0 };
	const struct spec_note *n;

	for (n = notes->head; n != NULL; n = n->next) {
		buf_puts(&b, "# ");
		spec_note_put(&b, n);
	}
	printf("%.*s", STRF(buf_str(&b)));
	buf_free(&b);
}

static const struct spec_task *
task(const struct spec_suite *s, const char *id)
{
	static const struct spec_def def;
	static const struct spec_task none = { .def = &def };
	size_t i;

	for (i = 0; i < s->ntasks; i++)
		if (str_is(s->tasks[i].id, id))
			return &s->tasks[i];
	return &none;
}

static void
test_config(const struct spec_suite *s)
{
	const struct spec_config *c = &s->config;
	const struct spec_hook *h;
	const struct spec_metric *m = s->metrics.v;

	OK(str_is(s->name, "good") && str_is(s->version, "1.10"));
	OK(strcmp(s->dir, "test/suite/good") == 0);
	OK(str_is(s->skill, "writing") && !s->baseline);
	OK(c->trials_per_task == 2 && c->max_attempts == 1);
	OK(c->timeout_seconds == 120);		/* from .waza.yaml */
	OK(c->first_event_timeout_seconds == 5);
	OK(c->workers == 3 && c->parallel && c->fail_fast && c->verbose);
	OK(str_is(c->executor, "command") && str_is(c->judge_model, "judge-1"));
	OK(c->executor_at.line == 13 && c->executor_at.col == 13);
	OK(c->pass_threshold == 0.75 && c->task_pass_threshold == 0.5);
	OK(json_count(c->command) == 1 && str_is(c->output_format, "text"));
	OK(s->program_timeout == 12 && s->code_timeout == 10);
	OK(s->code_memory_mb == 512);
	OK(s->hooks[SPEC_BEFORE_RUN].n == 1 && s->hooks[SPEC_AFTER_RUN].n == 0);
	h = s->hooks[SPEC_AFTER_TASK].v;
	OK(s->hooks[SPEC_AFTER_TASK].n == 1 && h->error_on_fail);
	OK(h->exit_codes.n == 2 && h->exit_codes.v[1] == 3);
	OK(s->metrics.n == 1 && str_is(m->name, "trigger_accuracy"));
	OK(m->threshold == 0.25 && m->weight == 0.5 && m->enabled);
	OK(s->triggers != NULL && strcmp(s->triggers->file,
	    "test/suite/good/trigger_tests.yaml") == 0);
}

static void
test_graders(const struct spec_suite *s)
{
	const struct spec_grader *g = s->graders.v;
	const struct spec_graders *t = &task(s, "inline")->def->graders;
	const struct json *list;

	OK(s->graders.n == 3 && str_is(g[0].name, "polite"));
	OK(g[0].weight == 2 && g[1].weight == 1);
	OK(json_count(json_getc(g[0].config, "contains")) == 1);
	OK(str_is(g[1].name, "file_exists"));
	OK(str_is(json_text(json_getc(g[1].config, "path")), "out.txt"));
	OK(json_getc(g[1].config, "type") == NULL);
	list = json_getc(g[2].config, "assertions");
	OK(str_is(json_text(json_first(list)), "len(output) > 1"));
	OK(str_is(json_text(json_getc(g[2].config, "language")), "python"));
	OK(g[0].at.line == 29 && g[0].at.col == 5);
	OK(t->n == 3 && str_is(t->v[0].name, "polite-2"));
	OK(str_is(t->v[1].name, "text") && str_is(t->v[2].name, "text-2"));
	OK(t->v[1].config != NULL && t->v[1].config->type == JSON_OBJECT);
}

static void
test_task_file(const struct spec_suite *s)
{
	const struct spec_task *t = task(s, "b-1");
	const struct spec_input_file *f = t->def->inputs.files.v;
	const struct spec_expected *x = t->def->expected;

	OK(str_is(t->name, "Task B") && str_is(t->def->group, "letters"));
	OK(t->def->tags.n == 2 && str_is(t->def->tags.v[1], "net"));
	OK(strcmp(t->at.file, "test/suite/good/tasks/b.yaml") == 0);
	OK(t->at.line == 1 && t->at.col == 5);
	OK(t->def->timeout_seconds == 9 && t->def->first_event_timeout_seconds == 2);
	OK(str_is(t->prompt, "Do B.\n"));
	OK(t->def->inputs.files.n == 3 && str_is(f[0].path, "a.txt"));
	OK(f[0].content.n == 0 && str_is(f[1].content, "hello"));
	OK(str_is(f[2].path, "c.txt"));
	OK(json_getc(t->def->inputs.context, "fixture") != NULL);
	OK(json_count(t->def->inputs.environment) == 2);
	OK(x != NULL && x->output_contains.n == 2);
	OK(x->output_not_contains.n == 2 &&
	    str_is(x->output_not_contains.v[1], "fail"));
	OK(x->output_contains_any.n == 2);
	OK(x->behavior.max_tool_calls == 0 && x->behavior.max_tokens == 100);
	OK(x->behavior.max_iterations == -1);
	OK(x->behavior.required_tools.n == 1);
	OK(x->trigger_given && !x->should_trigger && !x->activated_given);
	OK(x->outcomes != NULL && x->tool_calls != NULL);
	OK(t->def->mock != NULL && !spec_is_row(t));
}

static void
test_good(void)
{
	struct spec_notes notes = { .arena = &arena };
	struct spec_suite *s = spec_load(&arena, "test/suite/good/eval.yaml",
	    &notes);
	const struct spec_task *t;

	show(&notes);
	OK(s != NULL && notes.errors == 0 && notes.warnings == 4);
	if (s == NULL)
		return;
	test_config(s);
	test_graders(s);
	test_task_file(s);
	OK(s->ntasks == 7);
	OK(str_is(s->tasks[0].id, "a") && str_is(s->tasks[0].name, "a"));
	OK(str_is(s->tasks[1].id, "b-1") && str_is(s->tasks[2].id, "inline"));
	OK(s->tasks[2].def->expected == NULL);
	t = task(s, "Only a name");
	OK(str_is(t->name, "Only a name"));
	OK(str_is(t->prompt, "A long prompt.\n"));
	OK(str_is(task(s, "task-6")->prompt, "nameless"));
	t = task(s, "r2");
	OK(str_is(t->name, "r2") && t->at.line == 3);
	OK(str_is(json_text(json_getc(spec_vars(&arena, t), "lang")), "go"));
	OK(str_is(task(s, "row-2")->prompt, "third"));
	OK(json_count(s->inputs) == 3);
}

/* The bytes that a suite needs for each row of its table. */
static size_t
row_bytes(const char *name, bool is_json)
{
	enum { ROWS = 4000 };
	struct spec_notes notes = { .arena = &arena };
	char dir[] = "/tmp/t_spec.XXXXXX", path[64];
	struct arena a = { 0 };
	struct spec_suite *s;
	size_t used;
	FILE *f;
	int i;

	if (mkdtemp(dir) == NULL)
		return SIZE_MAX;
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	if (!is_json)
		fputs("id,prompt\n", f);
	for (i = 0; i < ROWS; i++)
		if (is_json)
			fprintf(f, "{\"id\":\"t%d\",\"prompt\":\"say %d\"}\n",
			    i, i);
		else
			fprintf(f, "t%d,say %d\n", i, i);
	fclose(f);
	snprintf(path, sizeof(path), "%s/eval.yaml", dir);
	f = fopen(path, "w");
	fprintf(f, "name: n\nskill: s\ntasks_from: %s\n"
	    "task_template: {graders: [{type: text, contains: x}]}\n", name);
	fclose(f);
	s = spec_load(&a, path, &notes);
	OK(s != NULL && s->ntasks == ROWS &&
	    str_is(s->tasks[7].prompt, "say 7"));
	OK(s != NULL && s->tasks[7].def == s->tasks[8].def &&
	    str_is(json_str(spec_vars(&arena, &s->tasks[9]), "id"), "t9"));
	used = a.used / ROWS;
	arena_free(&a);
	unlink(path);
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	rmdir(dir);
	return used;
}

/* A suite may have a million rows. */
static void
test_rows(void)
{
	OK(row_bytes("t.csv", false) < 140);
	OK(row_bytes("t.jsonl", true) < 170);
}

static void
test_paths(void)
{
	char *p = spec_path(&arena, "test/suite", STR("good/eval.yaml"));
	struct field_strs found;
	struct err e;

	OK(strcmp(p, "test/suite/good/eval.yaml") == 0);
	p = spec_path(&arena, "test/suite", STR("Makefile"));
	OK(strcmp(p, "Makefile") == 0);		/* only here */
	p = spec_path(&arena, "test/suite/", STR("none"));
	OK(strcmp(p, "test/suite/none") == 0);
	p = spec_path(&arena, ".", STR("none"));
	OK(strcmp(p, "none") == 0);
	p = spec_path(&arena, "test", STR("/none/x"));
	OK(strcmp(p, "/none/x") == 0);
	p = spec_path(&arena, "test", STR("a\0b"));
	OK(strcmp(p, "test/a?b") == 0);
	OK(spec_find(&arena, "test/suite/good", &found, &e) == 0);
	OK(found.n == 1 && str_is(found.v[0], "test/suite/good/eval.yaml"));
	OK(spec_find(&arena, "test/none", &found, &e) == -1);
	OK(e.code == ERR_SYS && strstr(e.msg, "test/none") != NULL);
}

/* All notes are counted, but only SPEC_NOTES_MAX are kept. */
static void
test_many_notes(void)
{
	struct arena a = { 0 };
	struct spec_notes notes = { .arena = &a };
	struct spec_where at = { "x", 1, 2 };
	const struct spec_note *n;
	size_t i, kept = 0;

	for (i = 0; i < 3 * SPEC_NOTES_MAX; i++)
		spec_note(&notes, i % 3 ? FIELD_WARNING : FIELD_ERROR, at,
		    "note %zu", i);
	for (n = notes.head; n != NULL; n = n->next)
		kept++;
	OK(notes.errors == SPEC_NOTES_MAX);
	OK(notes.warnings == 2 * SPEC_NOTES_MAX);
	OK(kept == SPEC_NOTES_MAX + 1);
	OK(strcmp(notes.last->msg, "too many problems; the rest is not shown") == 0);
	arena_free(&a);
}

/* Loads a suite in its own directory; returns the CPU time. */
static double
load_time(struct buf *text, struct arena *a, size_t *tasks, size_t *used)
{
	char dir[] = "/tmp/t_spec.XXXXXX", *path;
	struct spec_notes notes = { .arena = a };
	struct spec_suite *s;
	double t;
	FILE *f;

	if (mkdtemp(dir) == NULL)
		return 1e9;
	path = arena_fmt(a, "%s/eval.yaml", dir).p == NULL ? NULL :
	    arena_cstr(a, arena_fmt(a, "%s/eval.yaml", dir));
	f = fopen(path, "w");
	if (f == NULL || fwrite(text->p, 1, text->n, f) != text->n ||
	    fclose(f) != 0)
		return 1e9;
	t = tap_cpu();
	s = spec_load(a, path, &notes);
	t = tap_cpu() - t;
	*tasks = s == NULL ? 0 : s->ntasks;
	*used = a->used;
	unlink(path);
	rmdir(dir);
	buf_free(text);
	return t;
}

/* Ten thousand tasks load fast and take little more memory than their text. */
static void
test_large(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	size_t i, tasks, used, text;
	double took;

	buf_puts(&b, "name: big\nskill: s\ntasks:\n");
	for (i = 0; i < 10000; i++)
		buf_fmt(&b, "  - id: task-%zu\n    prompt: Say %zu\n"
		    "    graders:\n      - type: text\n"
		    "        config: {contains: [hello]}\n", i, i);
	text = b.n;
	took = load_time(&b, &a, &tasks, &used);
	printf("# %.3f s, %zu bytes a task above the text\n", took,
	    (used - text) / 10000);
	OK(tasks == 10000);
	OK(used - text < 10000 * 1500);
	OK(took < 10);		/* 0.02 without sanitizers or valgrind */
	arena_free(&a);
}

/* Many equal names must not take quadratic time. */
static void
test_equal_names(void)
{
	struct arena a = { 0 };
	struct buf b = { 0 };
	size_t i, tasks, used;
	double took;

	buf_puts(&b, "name: big\nskill: s\ngraders:\n");
	for (i = 0; i < 5000; i++)
		buf_puts(&b, "- {type: text, name: n}\n");
	buf_puts(&b, "tasks:\n");
	for (i = 0; i < 5000; i++)
		buf_fmt(&b, "- {id: t%zu, prompt: x, graders: "
		    "[{type: text, name: n}]}\n", i);
	took = load_time(&b, &a, &tasks, &used);
	printf("# %.3f s\n", took);
	OK(tasks == 5000);
	OK(took < 20);
	arena_free(&a);
}

/* "dir/a.yaml,dir/b.yaml" of a suite's tasks, relative to its directory. */
static bool
same_files(const struct spec_suite *s, struct str want)
{
	size_t skip = strlen(s->dir) + 1, i;
	struct buf b = { 0 };
	bool same;

	for (i = 0; i < s->ntasks; i++)
		buf_fmt(&b, "%s%s", i > 0 ? "," : "",
		    s->tasks[i].at.file + skip);
	same = str_eq(buf_str(&b), want);
	if (!same)
		printf("# %s: %.*s\n", s->path, STRF(buf_str(&b)));
	buf_free(&b);
	return same;
}

static struct str
column(struct str line, int n)
{
	const char *tab;

	for (;; n--) {
		tab = memchr(line.p, '\t', line.n);
		if (n == 0)
			return (struct str){ line.p, tab == NULL ? line.n :
			    (size_t)(tab - line.p) };
		if (tab == NULL)
			return (struct str){ line.p, 0 };
		line.n -= (size_t)(tab + 1 - line.p);
		line.p = tab + 1;
	}
}

/* Every public suite loads, with the tasks that the original finds. */
static void
test_wild(const char *corpus)
{
	struct str root = arena_fmt(&arena, "%s/waza-wild", corpus), all, line;
	struct arena a = { 0 };
	size_t n = 0, bad = 0;
	struct spec_suite *s;
	struct stat st;
	struct err e;
	char *path, *eol;

	path = arena_cstr(&arena, arena_fmt(&arena,
	    "%.*s/UPSTREAM-RESOLVE.tsv", STRF(root)));
	if (os_read_file(&arena, path, 1 << 24, &all, &e) == -1) {
		SKIP("no corpus");
		return;
	}
	for (; all.n > 0; arena_free(&a)) {
		struct spec_notes notes = { .arena = &a };

		eol = memchr(all.p, '\n', all.n);
		line = (struct str){ all.p, eol == NULL ? all.n :
		    (size_t)(eol - all.p) };
		all.p += line.n + (eol != NULL);
		all.n -= line.n + (eol != NULL);
		path = arena_cstr(&a, arena_fmt(&a, "%.*s/%.*s", STRF(root),
		    STRF(column(line, 0))));
		if (path == NULL || stat(path, &st) == -1)
			continue;
		n++;
		s = spec_load(&a, path, &notes);
		if (str_is(column(line, 1), "0") ? s != NULL : s == NULL ||
		    !same_files(s, column(line, 2))) {
			bad++;
			show(&notes);
		}
	}
	printf("# %zu suites\n", n);
	OK(n > 100);
	OK(bad == 0);
}

int
main(void)
{
	const char *corpus = getenv("CORPUS");

	RUN(test_good, test_rows, test_paths, test_many_notes, test_large,
	    test_equal_names);
	test_wild(corpus != NULL ? corpus : "../shared/corpus");
	arena_free(&arena);
	return tap_done();
}
