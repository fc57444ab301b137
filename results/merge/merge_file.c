/* SPDX-License-Identifier: ISC */
/*
 * merge_file.c: reads the results file of a shard, one trial at a time.
 *
 * The members come in the order in which result_file.c writes them: `config`
 * with the shard before the tasks, the index of a task before its trials.
 */
#include "results/merge/merge_internal.h"

#include <string.h>

#include "json.h"
#include "results/result_internal.h"

struct reader {
	struct merge *m;
	struct merge_input *in;		/* of the file, */
	struct merge_input base;	/* and of its baseline_outcome */
	struct merge_scan scan;
	struct buf key, text;
	int64_t number;			/* of a trigger test */
	struct err *err;
};

struct task {
	struct merge_about about;
	int64_t index;
};

/* The value as a tree in scratch memory; NULL and the error. */
static struct json *
take_value(struct reader *r)
{
	struct json_error je;
	struct json *v;

	if (merge_value(&r->scan, &r->text) == -1)
		return NULL;
	v = arena_json(&r->m->scratch, buf_str(&r->text), &je);
	if (v == NULL)
		err_set(r->err, ERR_SYNTAX, "%s: is not JSON before byte %lld",
		    r->scan.path, (long long)r->scan.before +
		    (long long)r->scan.at);
	return v;
}

static int
take_str(struct reader *r, struct arena *a, struct str *out)
{
	struct json *v = take_value(r);

	if (v == NULL)
		return -1;
	if (v->type == JSON_STRING)
		*out = arena_str(a, json_text(v));
	return 0;
}

/* Calls item for each element of a list. */
static int
read_list(struct reader *r, struct merge_input *in, struct task *t,
    int (*item)(struct reader *, struct merge_input *, struct task *))
{
	bool first = true;
	int more;

	if (merge_enter(&r->scan, '[') == -1)
		return -1;
	while ((more = merge_more(&r->scan, ']', &first)) == 1)
		if (item(r, in, t) == -1)
			return -1;
	return more;
}

/*
 * Tasks.
 */
static int
read_trial(struct reader *r, struct merge_input *in, struct task *t)
{
	struct merge_part part = { .in = in, .index = (size_t)t->index,
		.pass = &in->group->pass[in->baseline] };
	struct arena_mark mark = arena_save(&r->m->scratch);
	struct json *v = take_value(r);
	int rc = -1;

	if (v != NULL && (t->index < 0 || v->type != JSON_OBJECT ||
	    !result_int(v, "run_number", &part.number)))
		merge_fail(r->err, in, "a trial without a number, or a task "
		    "without an index");
	else if (v != NULL)
		rc = merge_take_trial(r->m, &part, buf_str(&r->text), v,
		    r->err);
	arena_restore(&r->m->scratch, mark);
	return rc;
}

static int
take_source(struct reader *r, struct merge_about *t)
{
	struct json *v = take_value(r);

	if (v == NULL)
		return -1;
	merge_take_source(t, v);
	t->s[MERGE_FILE] = arena_str(&r->m->scratch, t->s[MERGE_FILE]);
	return 0;
}

static int
read_member(struct reader *r, struct merge_input *in, struct task *t)
{
	static const char *const keys[] = {
		[MERGE_ID] = "test_id", [MERGE_NAME] = "display_name",
		[MERGE_GROUP] = "group", [MERGE_ERROR] = "error_msg",
		[MERGE_SKIP] = "skip_reason",
		[MERGE_QUARANTINE] = "quarantine",
		[MERGE_UNTIL] = "quarantine_until",
		[MERGE_SELECTED] = "selected_because"
	};
	struct str key = buf_str(&r->key);
	struct json *v;
	size_t i;

	if (str_is(key, "runs"))
		return read_list(r, in, t, read_trial);
	for (i = 0; i < COUNTOF(keys); i++)
		if (keys[i] != NULL && str_is(key, keys[i]))
			return take_str(r, &r->m->scratch, &t->about.s[i]);
	if (str_is(key, "source"))
		return take_source(r, &t->about);
	if (str_is(key, "controls")) {
		v = take_value(r);
		if (v != NULL)
			t->about.s[MERGE_CONTROLS] =
			    result_json(&r->m->scratch, v);
		return v == NULL ? -1 : 0;
	}
	if (!str_is(key, "index") && !str_is(key, "golden") &&
	    !str_is(key, "trials"))
		return merge_value(&r->scan, NULL);
	v = take_value(r);
	if (v != NULL && str_is(key, "golden"))
		t->about.golden = v->type == JSON_BOOL && json_bool(v);
	else if (v != NULL && str_is(key, "trials"))
		(void)json_int(v, &t->about.trials);
	else if (v != NULL && (!json_int(v, &t->index) || t->index < 0))
		t->index = -1;
	return v == NULL ? -1 : 0;
}

static int
read_task(struct reader *r, struct merge_input *in, struct task *t)
{
	struct arena_mark mark = arena_save(&r->m->scratch);
	struct merge_part part = { .in = in,
		.pass = &in->group->pass[in->baseline] };
	bool first = true;
	int more;

	*t = (struct task){ .index = -1 };
	if (merge_enter(&r->scan, '{') == -1)
		return -1;
	while ((more = merge_more(&r->scan, '}', &first)) == 1)
		if (merge_key(&r->scan, &r->key) == -1 ||
		    read_member(r, in, t) == -1)
			return -1;
	if (more == 0 && t->index < 0)
		more = merge_fail(r->err, in, "a task without an index");
	part.index = (size_t)t->index;
	if (more == 0)
		more = merge_take_task(r->m, &part, &t->about, r->err);
	arena_restore(&r->m->scratch, mark);
	return more;
}

static int
read_tasks(struct reader *r, struct merge_input *in)
{
	struct task t;

	if (!in->known)
		return merge_fail(r->err, in, "is of a whole run, not of a "
		    "shard, or was not written by waza");
	return read_list(r, in, &t, read_task);
}

/*
 * Trigger tests.  The file has those that were done, without their numbers:
 * they are taken if all are there.  Otherwise the journal has them.
 */
static int
read_trigger(struct reader *r, struct merge_input *in, struct task *unused)
{
	struct arena_mark mark = arena_save(&r->m->scratch);
	struct json *v = take_value(r);
	int rc = -1;

	(void)unused;
	if (v != NULL)
		rc = merge_take_trigger(r->m, in, ++r->number,
		    buf_str(&r->text), v, r->err);
	arena_restore(&r->m->scratch, mark);
	return rc;
}

static int
read_triggers(struct reader *r, struct merge_input *in)
{
	return !in->known || in->baseline ? merge_value(&r->scan, NULL) :
	    read_list(r, in, NULL, read_trigger);
}

/*
 * The file.
 */
static int
read_config(struct reader *r, struct merge_input *in)
{
	struct json *v = take_value(r);

	if (v == NULL)
		return -1;
	return merge_take_head(r->m, in, v, r->err);
}

/* The suite, which is named after the tasks. */
static int
read_source(struct reader *r, struct merge_input *in)
{
	struct json *v = take_value(r);
	struct str file = json_str(v, "file");

	if (v == NULL)
		return -1;
	if (in->known && in->group->suite.path == NULL && file.n > 0)
		in->group->suite.path = arena_cstr(r->m->arena, file);
	return 0;
}

static int
read_summary(struct reader *r, struct merge_input *in)
{
	struct json *v = take_value(r);
	int64_t ms, end;

	if (v == NULL)
		return -1;
	if (in->known && result_int(v, "duration_ms", &ms) && ms >= 0 &&
	    ms < INT64_C(1000000000000)) {
		end = in->started_ns + ms * 1000000;
		if (end > in->group->ended_ns)
			in->group->ended_ns = end;
	}
	return 0;
}

static int
check_version(struct reader *r, struct merge_input *in)
{
	struct json *v = take_value(r);
	struct str s = v != NULL && v->type == JSON_STRING ? json_text(v) :
	    STR("");

	if (v == NULL)
		return -1;
	return str_starts(s, STR("1.")) ? 0 : merge_fail(r->err, in,
	    "was written by another version of waza (schema_version "
	    "\"%.*s\", not 1.0)", STRF(utf8_cut(s, 40)));
}

static int read_run(struct reader *, struct merge_input *);

static int
read_baseline(struct reader *r, struct merge_input *in)
{
	if (in == &r->base || merge_peek(&r->scan) != '{')
		return merge_value(&r->scan, NULL);
	r->base = *in;
	r->base.known = false;
	return read_run(r, &r->base);
}

static int
read_part(struct reader *r, struct merge_input *in)
{
	static const struct {
		const char *key;
		int (*fn)(struct reader *, struct merge_input *);
	} parts[] = {
		{ "config", read_config }, { "summary", read_summary },
		{ "tasks", read_tasks }, { "trigger_results", read_triggers },
		{ "baseline_outcome", read_baseline },
		{ "schema_version", check_version }, { "source", read_source },
	};
	struct str key = buf_str(&r->key), when = STR("");
	struct arena *a = r->m->arena;
	size_t i;

	if (str_is(key, "eval_id"))
		return take_str(r, a, &in->run_id);
	if (str_is(key, "eval_name"))
		return take_str(r, a, &in->suite);
	if (str_is(key, "skill"))
		return take_str(r, a, &in->skill);
	if (str_is(key, "timestamp")) {
		if (take_str(r, &r->m->scratch, &when) == -1)
			return -1;
		in->started_ns = result_parse_time(when);
		return 0;
	}
	for (i = 0; i < COUNTOF(parts); i++)
		if (str_is(key, parts[i].key))
			return parts[i].fn(r, in);
	return merge_value(&r->scan, NULL);
}

static int
read_run(struct reader *r, struct merge_input *in)
{
	bool first = true;
	int more;

	if (merge_enter(&r->scan, '{') == -1)
		return -1;
	while ((more = merge_more(&r->scan, '}', &first)) == 1)
		if (merge_key(&r->scan, &r->key) == -1 ||
		    read_part(r, in) == -1)
			return -1;
	if (more == 0 && !in->known)
		return merge_fail(r->err, in, "is not the results file of a "
		    "shard");
	return more;
}

int
merge_read_file(struct merge *m, struct merge_input *in, int fd,
    struct err *e)
{
	struct arena_mark mark = arena_save(&m->scratch);
	struct reader r = { .m = m, .in = in, .err = e,
		.key = { .max = RESULT_LINE_MAX },
		.text = { .max = RESULT_LINE_MAX },
		.scan = { .fd = fd, .path = in->path, .err = e } };
	int rc;

	r.scan.p = arena_raw(&m->scratch, MERGE_BLOCK, 1);
	rc = read_run(&r, in);
	if (rc == 0)
		rc = merge_end(&r.scan);
	buf_free(&r.key);
	buf_free(&r.text);
	arena_restore(&m->scratch, mark);
	return rc;
}
