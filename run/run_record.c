/* SPDX-License-Identifier: ISC */
/*
 * Recordings of trials, for executor `replay`: one file per attempt,
 *
 *	{"waza_record":1,"task":...,"trial":n,"attempt":n,"executor":...,
 *	 "model":...,"prompt_sha256":...,"prompt":...}
 *	{"way":">","ms":n,"message":...}	and so on, also with "<"
 *	{"answer":{"duration_ms":n,"fault":...,...,"files":[...]}}
 *
 * The file is written when the answer is complete and before anything is
 * graded, since graders may change the workspace.  Secrets from the
 * environment are masked, because recordings are passed around.
 */
#include "run/run_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "base/os_spawn.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "results/cache.h"

enum {
	WIRE_MAX = 64 << 20,	/* bytes of messages in a recording */
	FILES_MAX = 16 << 20,	/* bytes of all files together */
	FILE_MAX = 4 << 20,	/* bytes of one file */
	COUNT_MAX = 2000,	/* number of files */
	NAMES_MAX = 50000,	/* names of others */
	DEPTH_MAX = 20
};

/*
 * Secrets.
 */
/* Masks the variables that settings name: api_key_env and the like. */
static void
add_named(struct arena *a, struct mask *s, const struct json *tree)
{
	const struct json *v;
	const char *value;
	char *name;

	for (v = json_first(tree); v != NULL; v = v->next) {
		if (v->type == JSON_OBJECT || v->type == JSON_ARRAY)
			add_named(a, s, v);
		if (v->type != JSON_STRING || json_key(v).p == NULL ||
		    !str_ends(json_key(v), STR("_env")))
			continue;
		name = arena_cstr(a, json_text(v));
		value = name != NULL && *name != '\0' ? getenv(name) : NULL;
		if (value != NULL)
			mask_add(a, s, str_of(value));
	}
}

void
run_add_secrets(struct arena *a, struct mask *s, const struct spec_suite *suite)
{
	add_named(a, s, suite->config.tree);
	add_named(a, s, suite->executors);
	add_named(a, s, suite->config.judge);
}

const struct mask *
run_secrets(struct run *run)
{
	struct arena *a = &run->arena;
	struct mask *s = run->secrets;

	if (s != NULL)
		return s;
	run->secrets = s = NEW(a, struct mask);
	mask_add_env(a, s, os_env(a, NULL, 0));
	run_add_secrets(a, s, run->suite);
	return s;
}

int
run_record_open(struct run *run, struct err *e)
{
	if (run->opts.record == NULL)
		return 0;
	if (mkdir(run->opts.record, 0777) == -1 && errno != EEXIST)
		return err_sys(e, run->opts.record);
	if (access(arena_fmt(&run->arena, "%s/.", run->opts.record).p,
	    W_OK | X_OK) == -1)
		return err_sys(e, run->opts.record);
	return 0;
}

/*
 * Messages.
 */
static void
put_message(struct json_out *o, struct str message)
{
	struct arena tmp = { 0 };
	const struct json *v = arena_json(&tmp, message, NULL);

	if (v != NULL)
		json_put(o, v);
	else
		json_put_str(o, message);
	arena_free(&tmp);
}

static void
on_message(void *arg, char way, struct str message)
{
	struct run_record *r = arg;
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };
	struct arena tmp = { 0 };

	json_open(&o, '{');
	json_put_member_str(&o, "way", (struct str){ &way, 1 });
	json_put_member_int(&o, "ms", loop_clock(r->run->loop) - r->started);
	json_put_key(&o, STR("message"));
	put_message(&o, message);
	json_close(&o, '}');
	buf_put(&r->messages, mask_json(&tmp, run_secrets(r->run),
	    buf_str(&b)));
	buf_putc(&r->messages, '\n');
	buf_free(&b);
	arena_free(&tmp);
}

void
run_record_start(struct run *run, struct run_record *r,
    struct agent_request *req)
{
	req->record = NULL;
	if (run->opts.record == NULL)
		return;
	*r = (struct run_record){ .run = run, .messages = { .max = WIRE_MAX },
		.started = loop_clock(run->loop), .active = true };
	req->record = on_message;
	req->record_arg = r;
}

void
run_record_drop(struct run_record *r)
{
	buf_free(&r->messages);
	r->active = false;
}

/*
 * The agent's files.
 */
struct files {
	struct buf *out;
	struct arena arena;
	const char *top;		/* the workspace */
	struct buf names;		/* of files without their content */
	size_t n, bytes, left_out;
	bool unnamed;			/* others are not even in names */
};

/* Its name tells a replay that the agent did not remove it. */
static void
leave_out(struct files *f, const char *inside)
{
	if (f->left_out >= NAMES_MAX || !utf8_valid(str_of(inside)))
		f->unnamed = true;
	else
		result_put_str(&f->names, f->names.n == 0 ? STR("") : STR(","),
		    str_of(inside));
	f->left_out++;
}

static void
put_file(struct files *f, const char *path, const char *inside)
{
	struct arena_mark mark = arena_save(&f->arena);
	struct str text;
	struct err e;

	if (f->n >= COUNT_MAX || f->bytes >= FILES_MAX ||
	    os_read_plain(&f->arena, path, FILE_MAX, &text, &e) == -1 ||
	    f->bytes + text.n > FILES_MAX || !utf8_valid(text) ||
	    !utf8_valid(str_of(inside))) {
		leave_out(f, inside);
		arena_restore(&f->arena, mark);
		return;
	}
	result_put_str(f->out, f->n++ == 0 ? STR("{\"path\":") :
	    STR(",{\"path\":"), str_of(inside));
	result_put_str(f->out, STR(",\"content\":"), text);
	buf_putc(f->out, '}');
	f->bytes += text.n;
	arena_restore(&f->arena, mark);
}

static void
put_dir(struct files *f, const char *dir, int depth)
{
	struct arena_mark mark = arena_save(&f->arena);
	const char *path;
	struct stat st;
	size_t i, n = 0;
	char **v = depth < DEPTH_MAX ? cache_names(&f->arena, dir, SIZE_MAX,
	    &n) : NULL;

	f->left_out += v == NULL;
	f->unnamed = f->unnamed || v == NULL;
	for (i = 0; i < n; i++) {
		if (strcmp(v[i], ".git") == 0)
			continue;
		path = arena_fmt(&f->arena, "%s/%s", dir, v[i]).p;
		if (lstat(path, &st) == -1 || f->unnamed)
			leave_out(f, path + strlen(f->top) + 1);
		else if (S_ISDIR(st.st_mode))
			put_dir(f, path, depth + 1);
		else if (S_ISREG(st.st_mode))
			put_file(f, path, path + strlen(f->top) + 1);
		else
			leave_out(f, path + strlen(f->top) + 1);
	}
	arena_restore(&f->arena, mark);
}

static void
put_files(struct buf *b, const char *workspace)
{
	struct files f = { .out = b, .top = workspace };

	if (workspace == NULL)
		return;
	buf_puts(b, ",\"files\":[");
	put_dir(&f, workspace, 0);
	buf_putc(b, ']');
	if (f.left_out > 0)
		result_put_int(b, STR(",\"files_left_out\":"),
		    (int64_t)f.left_out);
	if (f.left_out > 0 && !f.unnamed) {
		buf_puts(b, ",\"other_files\":[");
		buf_put(b, buf_str(&f.names));
		buf_putc(b, ']');
	}
	buf_free(&f.names);
	arena_free(&f.arena);
}

/*
 * The whole.
 */
static void
put_head(struct buf *b, const struct run_record *r,
    const struct agent_request *req)
{
	char hex[CACHE_KEY];

	agent_prompt_hash(req, hex);
	result_put_str(b, STR("{\"waza_record\":1,\"task\":"), req->task->id);
	result_put_int(b, STR(",\"trial\":"), req->trial);
	result_put_int(b, STR(",\"attempt\":"), req->attempt);
	result_put_str(b, STR(",\"executor\":"), r->run->results.executor);
	result_put_str(b, STR(",\"model\":"), req->model);
	result_put_str(b, STR(",\"prompt_sha256\":"), str_of(hex));
	result_put_str(b, STR(",\"prompt\":"), req->prompt);
	buf_puts(b, "}");
}

static void
put_answer(struct buf *b, const struct agent_request *req,
    const struct answer *ans, int64_t took_ms, bool late)
{
	struct arena tmp = { 0 };

	result_put_int(b, STR("{\"answer\":{\"duration_ms\":"), took_ms);
	result_put_str(b, STR(",\"fault\":"), str_of(late ? "timeout" :
	    ans->fault == ANSWER_OK ? "ok" :
	    ans->fault == ANSWER_INFRA ||
	    ans->fault == ANSWER_UNUSABLE ? "infrastructure" : "failed"));
	if (late)
		result_put_bool(b, STR(",\"late\":"), true);
	result_put_answer(b, &tmp, ans);
	if (ans->error.n > 0)
		result_put_str(b, STR(",\"error\":"), ans->error);
	put_files(b, req->workspace);
	buf_puts(b, "}}");
	arena_free(&tmp);
}

void
run_record_end(struct run_record *r, const struct agent_request *req,
    const struct answer *ans, int64_t took_ms, bool late)
{
	struct buf head = { 0 }, tail = { 0 }, all = { 0 };
	struct arena tmp = { 0 };
	struct err e = { 0 };

	if (!r->active)
		return;
	put_head(&head, r, req);
	put_answer(&tail, req, ans, took_ms, late);
	buf_put(&all, mask_json(&tmp, run_secrets(r->run), buf_str(&head)));
	buf_putc(&all, '\n');
	buf_put(&all, buf_str(&r->messages));
	if (r->messages.full)
		buf_puts(&all, "{\"note\":\"too many messages: the others are "
		    "missing\"}\n");
	buf_put(&all, mask_json(&tmp, run_secrets(r->run), buf_str(&tail)));
	buf_putc(&all, '\n');
	if (cache_write_file(agent_record_path(&tmp, r->run->opts.record, req),
	    buf_str(&all), &e) == -1)
		run_warn(r->run, "record_failed", e.msg);
	buf_free(&head);
	buf_free(&tail);
	buf_free(&all);
	arena_free(&tmp);
	run_record_drop(r);
}
