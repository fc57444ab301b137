/* SPDX-License-Identifier: ISC */
/*
 * kube_option.c: the options of a Job, and the files that its pods need.
 *
 * The working directory of a pod has the suites and all files that they name
 * at the same relative paths as here.
 */
#include "cmd/scale/kube_engine.h"

#include <stdlib.h>
#include <string.h>

#include "base/os.h"
#include "base/os_path.h"
#include "cmd/run.h"
#include "suite/config.h"
#include "suite/project.h"
#include "suite/spec.h"

enum { RETRIES = 3, RETRIES_MAX = 100 };

enum option_type { TEXT, LIST, NUMBER, TRUTH };
#define ROW(n, t, m, ...) { n, t, offsetof(struct kube, m), __VA_ARGS__ }
static const struct option {
	const char *name;
	enum option_type type;
	size_t off;
	int64_t min, max;
} options[] = {
	ROW("claim", TEXT, plan.claim, 0, 0),
	ROW("context", TEXT, context, 0, 0),
	ROW("cpu", TEXT, plan.cpu, 0, 0),
	ROW("files", LIST, paths, 0, 0),
	ROW("image", TEXT, plan.image, 0, 0),
	ROW("keep", TRUTH, keep, 0, 0),
	ROW("memory", TEXT, plan.memory, 0, 0),
	ROW("namespace", TEXT, plan.space, 0, 0),
	ROW("parallelism", NUMBER, plan.parallelism, 1, 1000000),
	ROW("retries", NUMBER, plan.retries, 0, RETRIES_MAX),
	ROW("secret", LIST, plan.secrets, 0, 0),
	ROW("send", TEXT, send, 0, 0),
	ROW("service-account", TEXT, plan.account, 0, 0),
	ROW("suite", TEXT, suite, 0, 0),
};

static int
unknown(struct on *on, struct str name, struct err *e)
{
	struct str v[COUNTOF(options)];
	struct buf b = { 0 };
	size_t i;

	for (i = 0; i < COUNTOF(options); i++)
		v[i] = str_of(options[i].name);
	buf_fmt(&b, "--on kubernetes has no option \"%.*s\"",
	    STRF(utf8_cut(name, 60)));
	str_put_choices(&b, name, "options", v, COUNTOF(options));
	return err_set(e, ERR_SCHEMA, "%s", arena_take(on->arena, &b).p);
}

static int
set_number(const struct option *o, const char *value, int64_t *to,
    struct err *e)
{
	char *end;
	long long n = strtoll(value, &end, 10);

	if (*value < '0' || *value > '9' || *end != '\0' || n < o->min ||
	    n > o->max)
		return err_set(e, ERR_SCHEMA, "--on-option %s must be a "
		    "number from %lld to %lld, not \"%.40s\"", o->name,
		    (long long)o->min, (long long)o->max, value);
	*to = n;
	return 0;
}

static int
set_option(struct kube *k, const struct option *o, const char *value,
    struct err *e)
{
	void *to = (char *)k + o->off;

	switch (o->type) {
	case TEXT:
		*(const char **)to = value;
		return 0;
	case LIST:
		opt_add(k->on->arena, to, value);
		return 0;
	case NUMBER:
		return set_number(o, value, to, e);
	case TRUTH:
		*(bool *)to = strcmp(value, "true") == 0;
		if (!*(bool *)to && strcmp(value, "false") != 0)
			return err_set(e, ERR_SCHEMA, "--on-option %s must be "
			    "true or false, not \"%.40s\"", o->name, value);
	}
	return 0;
}

static int
read_option(struct kube *k, const char *word, struct err *e)
{
	const char *eq = strchr(word, '=');
	struct str name = { word, eq != NULL ? (size_t)(eq - word) :
		strlen(word) };
	size_t i;

	for (i = 0; i < COUNTOF(options); i++) {
		if (!str_is(name, options[i].name))
			continue;
		if (eq == NULL || eq[1] == '\0')
			return err_set(e, ERR_SCHEMA, "--on-option %s needs a "
			    "value: %s=VALUE", word, options[i].name);
		return set_option(k, &options[i], eq + 1, e);
	}
	return unknown(k->on, name, e);
}

/*
 * Files.
 */
struct listing {
	struct kube *kube;
	struct on_words paths;
	const char *suite;	/* real directory of the current suite */
	struct err *err;
};

/* A path that pods need, relative to the working directory. */
static void
add_path(struct listing *l, const char *path)
{
	const struct on *on = l->kube->on;
	const char *real = os_real(on->arena, path);
	size_t n = strlen(on->cwd);

	if (real == NULL || l->err->code != ERR_NONE ||
	    (l->suite != NULL && os_inside(l->suite, real)))
		return;
	if (strcmp(real, on->cwd) == 0)
		on_add(&l->paths, ".");
	else if (strncmp(real, on->cwd, n) == 0 && real[n] == '/')
		on_add(&l->paths, real + n + 1);
	else
		err_set(l->err, ERR_SCHEMA, "%s: is needed by the suite and is "
		    "outside of the working directory: start waza in a "
		    "directory above all files of the suite, or put the suite "
		    "into the image and give --on-option suite=PATH", path);
}

static void
on_name(void *arg, enum run_part part, const struct spec_task *t,
    const char *path, bool tree)
{
	(void)part;
	(void)t;
	(void)tree;
	add_path(arg, path);
}

static void
add_suite(struct listing *l, const struct cmd_suite *s)
{
	const struct on *on = l->kube->on;
	const struct run_naming naming = { on_name, l };
	struct run_digest digest;
	size_t i;

	l->suite = NULL;
	add_path(l, spec_dir_of(on->arena, s->path));
	l->suite = os_real(on->arena, spec_dir_of(on->arena, s->path));
	add_path(l, s->spec->dir);
	if (s->spec->triggers != NULL)
		add_path(l, s->spec->triggers->file);
	for (i = 0; i < s->spec->ntasks; i++)
		if (s->spec->tasks[i].at.file != NULL)
			add_path(l, s->spec->tasks[i].at.file);
	run_digest(on->arena, s->spec, on->run->opt.execution.context_dir,
	    &naming, &digest);
	l->suite = NULL;
}

/*
 * The settings of the project.  They are trusted there as here; a file that
 * others could have written is ignored here, and therefore not sent.
 */
static void
add_settings(struct listing *l, const struct cmd_suite *s)
{
	struct kube *k = l->kube;
	struct config_sources from = { .dir = s->spec->dir,
		.trust = k->on->run->opt.execution.trust };
	struct project p;

	if (l->err->code != ERR_NONE || project_find(k->on->arena, &from, &p,
	    l->err) == -1 || p.state == PROJECT_NONE ||
	    p.state == PROJECT_FOREIGN)
		return;
	k->trust |= p.state == PROJECT_TRUSTED && !from.trust;
	add_path(l, p.key);
}

static int
read_files(struct kube *k, struct err *e)
{
	const struct cmd_run *r = k->on->run;
	const char *by = r->opt.shard.by;
	struct listing l = { .kube = k, .paths = { .arena = k->on->arena },
		.err = e };
	size_t i;

	for (i = 0; i < r->nsuites; i++) {
		add_suite(&l, &r->suites[i]);
		add_settings(&l, &r->suites[i]);
	}
	if (by != NULL && strncmp(by, "time=", 5) == 0)
		add_path(&l, by + 5);
	if (r->opt.execution.config_path != NULL)
		add_path(&l, r->opt.execution.config_path);
	if (r->opt.reuse.replay != NULL)
		add_path(&l, r->opt.reuse.replay);
	for (i = 0; i < k->paths.n; i++)
		add_path(&l, k->paths.v[i]);
	if (e->code != ERR_NONE)
		return -1;
	k->plan.files = kube_files(k->on->arena, l.paths.v, l.paths.n,
	    &k->plan.nfiles, e);
	return k->plan.files == NULL ? -1 : 0;
}

/*
 * Words.
 */
static bool
drop_all(const struct opt *o)
{
	(void)o;
	return true;
}

/* An argument that names a suite, as a pod finds it. */
static const char *
map_suite(const struct on *on, const char *word)
{
	size_t n = strlen(on->cwd);

	if (strcmp(word, on->cwd) == 0)
		return ".";
	return strncmp(word, on->cwd, n) == 0 && word[n] == '/' ?
	    word + n + 1 : word;
}

static void
make_words(struct kube *k)
{
	struct on *on = k->on;
	struct on_words w = { .arena = on->arena };
	const char **args;
	size_t i, j, n;

	args = opt_without(on->arena, &cmd_run.opts, on->words, drop_all, &n);
	if (k->suite != NULL)
		on_add(&w, k->suite);
	if (k->trust)
		on_add(&w, "--trust");
	if (k->send != NULL)
		on_add(&w, arena_fmt(on->arena, "--send=%s", k->send).p);
	for (i = 0; i < on->nwords; i++) {
		for (j = 0; j < n && args[j] != on->words[i]; j++)
			;
		if (j == n)
			on_add(&w, on->words[i]);
		else if (strcmp(on->words[i], "--") == 0 || k->suite == NULL)
			on_add(&w, map_suite(on, on->words[i]));
	}
	k->plan.words = w.v;
	k->plan.nwords = w.n;
}

static int
check_plan(struct kube *k, struct err *e)
{
	const struct cmd_run *r = k->on->run;

	if (k->plan.image == NULL)
		return err_set(e, ERR_SCHEMA, "--on kubernetes needs an image "
		    "that contains waza: --on-option image=NAME");
	if (k->suite != NULL && (r->nsuites > 1 || k->paths.n > 0))
		return err_set(e, ERR_SCHEMA, "--on-option suite names one "
		    "suite in the image: %s", r->nsuites > 1 ?
		    "run the suites one by one" : "remove --on-option files");
	if (r->opt.reuse.record != NULL)
		return err_set(e, ERR_SCHEMA, "--record cannot be used with "
		    "--on kubernetes: recordings would stay in the pods");
	return 0;
}

/* A name that no other run has: the API accepts lower case and digits. */
static int
make_name(struct kube *k, struct err *e)
{
	unsigned char b[5];

	if (os_random(b, sizeof(b), e) == -1)
		return -1;
	k->plan.name = arena_fmt(k->on->arena, "waza-%02x%02x%02x%02x%02x",
	    b[0], b[1], b[2], b[3], b[4]).p;
	return 0;
}

int
kube_options(struct on *on, struct err *e)
{
	struct kube *k = NEW(on->arena, struct kube);
	size_t i;

	*e = (struct err){ 0 };
	k->on = on;
	k->plan.shards = (int64_t)on->n;
	k->plan.retries = RETRIES;
	on->engine_state = k;
	for (i = 0; i < on->options->n; i++)
		if (read_option(k, on->options->v[i], e) == -1)
			return -1;
	if (check_plan(k, e) == -1 || make_name(k, e) == -1)
		return -1;
	if (k->suite == NULL && read_files(k, e) == -1)
		return -1;
	make_words(k);
	return 0;
}

struct on_words
kube_command(const struct kube *k)
{
	struct on_words w = { .arena = k->on->arena };

	on_add(&w, "kubectl");
	if (k->context != NULL)
		on_add(&w, arena_fmt(w.arena, "--context=%s", k->context).p);
	if (k->plan.space != NULL)
		on_add(&w, arena_fmt(w.arena, "--namespace=%s",
		    k->plan.space).p);
	return w;
}
