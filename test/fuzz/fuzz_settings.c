/* SPDX-License-Identifier: ISC */
/*
 * Input: settings.  As a file that the user names they are refused with a note
 * that has a place, or each of them can be listed as JSON.  As a project's file
 * that is not trusted they set no program, address, directory or token.
 */
#include "json.h"
#include "suite/config.h"
#include "test/fuzz/scratch.h"
#include "test/tool/help.h"

int LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char *
env(void *ctx, const char *name)
{
	(void)ctx;
	return strcmp(name, "HOME") == 0 ? "/nonexistent" : NULL;
}

static struct config *
load(struct arena *a, struct config_sources s)
{
	struct spec_notes notes = { .arena = a };
	const struct spec_note *n;
	struct config *c;
	size_t errors = 0;

	s.env = env;
	c = config_load(a, &s, &notes);
	for (n = notes.head; n != NULL; n = n->next) {
		assert(n->at.file != NULL && n->msg[0] != '\0');
		errors += n->level == FIELD_ERROR;
	}
	assert((c == NULL) == (errors > 0));
	return c;
}

static void
check_listed(struct arena *a, const struct config *c)
{
	struct config_leaf *v;
	size_t n = config_leaves(a, c, &v), i;

	for (i = 0; i < n; i++)
		assert(v[i].key.n > 0 && (v[i].value.n == 0 ||
		    read_json(a, v[i].value) != NULL));
}

static void
check_untrusted(const struct config *c)
{
	const struct json *v;

	assert(c->nports == 0 && c->listen.n == 0 && c->roots.n == 0);
	assert(c->hosts.n == 0 && c->origins.n == 0 && c->ntools == 0);
	assert(!c->allow_remote && c->token_file.n == 0);
	assert(str_eq(c->host, config_defaults.host));
	assert(c->framing == config_defaults.framing);
	assert(c->sessions.persist_dir.n == 0);
	assert(c->sessions.prompt_template.n == 0);
	assert(c->sessions.working_dir.n == 0);
	assert(c->own_executor.n == 0);
	for (v = c->executors != NULL ? json_first(c->executors) : NULL;
	    v != NULL; v = v->next) {
		assert(json_getc(v, "command") == NULL);
		assert(json_getc(v, "base_url") == NULL);
		assert(json_getc(v, "env") == NULL);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena a = { 0 };
	const char *dir = scratch_dir(), *path;
	struct config *c;

	path = arena_fmt(&a, "%s/settings.yaml", dir).p;
	scratch_put(path, data, size);
	c = load(&a, (struct config_sources){ .path = path,
	    .dir = "/nonexistent" });
	if (c != NULL)
		check_listed(&a, c);
	path = arena_fmt(&a, "%s/.waza.yaml", dir).p;
	scratch_put(path, data, size);
	c = load(&a, (struct config_sources){ .dir = dir });
	if (c != NULL) {
		check_listed(&a, c);
		check_untrusted(c);
	}
	unlink(path);
	arena_free(&a);
	return 0;
}
