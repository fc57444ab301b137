/* SPDX-License-Identifier: ISC */
/*
 * kube_manifest.c: the Job and the ConfigMap.
 *
 * backoffLimitPerIndex keeps a shard that fails from ending the others; servers
 * before 1.29 ignore it and count all retries together, by backoffLimit.  Both
 * need pods that are not restarted in place.  Agents do not get the token of
 * the cluster.
 */
#include "cmd/scale/kube.h"

#include <stdio.h>

#include "json.h"
#include "lib/base64.h"

enum {
	MODE_FILE = 0644, MODE_PROGRAM = 0755,
	GRACE_SECONDS = 10,		/* for a pod that is deleted */
	TTL_SECONDS = 7 * 24 * 3600	/* if the collector was killed */
};

static void
put_labels(struct json_out *o, const struct kube_plan *p)
{
	json_open_member(o, "labels", '{');
	json_put_member_cstr(o, "app.kubernetes.io/name", "waza");
	json_put_member_cstr(o, KUBE_LABEL, p->name);
	json_close(o, '}');
}

static void
put_head(struct json_out *o, const struct kube_plan *p, const char *api,
    const char *kind)
{
	json_open(o, '{');
	json_put_member_cstr(o, "apiVersion", api);
	json_put_member_cstr(o, "kind", kind);
	json_open_member(o, "metadata", '{');
	json_put_member_cstr(o, "name", p->name);
	if (p->space != NULL)
		json_put_member_cstr(o, "namespace", p->space);
	put_labels(o, p);
	json_close(o, '}');
}

/*
 * The files, as f0, f1, ...: keys must not contain slashes.
 */
static void
put_base64(struct json_out *o, struct str text)
{
	struct buf b = { 0 };
	size_t n = BASE64_SIZE(text.n);

	base64_put((const unsigned char *)text.p, text.n, buf_room(&b, n));
	b.n += n;
	json_put_str(o, buf_str(&b));
	buf_free(&b);
}

static void
put_files(struct json_out *o, const struct kube_plan *p, bool binary)
{
	char key[24];
	size_t i;

	json_open_member(o, binary ? "binaryData" : "data", '{');
	for (i = 0; i < p->nfiles; i++) {
		if (utf8_valid(p->files[i].text) == binary)
			continue;
		snprintf(key, sizeof(key), "f%zu", i);
		json_put_key(o, str_of(key));
		if (binary)
			put_base64(o, p->files[i].text);
		else
			json_put_str(o, p->files[i].text);
	}
	json_close(o, '}');
}

static void
put_config_map(struct json_out *o, const struct kube_plan *p)
{
	put_head(o, p, "v1", "ConfigMap");
	json_put_member_bool(o, "immutable", true);
	put_files(o, p, false);
	put_files(o, p, true);
	json_close(o, '}');
}

/*
 * The pod.
 */

/* The volume adds entries of its own: the files have a directory for them. */
static void
put_item(struct json_out *o, const struct kube_file *f, size_t i)
{
	struct buf b = { 0 };

	json_open(o, '{');
	buf_fmt(&b, "f%zu", i);
	json_put_member_str(o, "key", buf_str(&b));
	b.n = 0;
	buf_fmt(&b, KUBE_SUITE "/%.*s", STRF(f->path));
	json_put_member_str(o, "path", buf_str(&b));
	json_put_member_int(o, "mode", f->executable ? MODE_PROGRAM :
	    MODE_FILE);
	json_close(o, '}');
	buf_free(&b);
}

static void
put_volumes(struct json_out *o, const struct kube_plan *p)
{
	size_t i;

	json_open_member(o, "volumes", '[');
	json_open(o, '{');
	json_put_member_cstr(o, "name", "work");
	json_open_member(o, "emptyDir", '{');
	json_close(o, '}');
	json_close(o, '}');
	if (p->nfiles > 0) {
		json_open(o, '{');
		json_put_member_cstr(o, "name", "files");
		json_open_member(o, "configMap", '{');
		json_put_member_cstr(o, "name", p->name);
		json_open_member(o, "items", '[');
		for (i = 0; i < p->nfiles; i++)
			put_item(o, &p->files[i], i);
		json_close(o, ']');
		json_close(o, '}');
		json_close(o, '}');
	}
	if (p->claim != NULL) {
		json_open(o, '{');
		json_put_member_cstr(o, "name", "results");
		json_open_member(o, "persistentVolumeClaim", '{');
		json_put_member_cstr(o, "claimName", p->claim);
		json_close(o, '}');
		json_close(o, '}');
	}
	json_close(o, ']');
}

static void
put_mount(struct json_out *o, const char *name, const char *path,
    const char *below)
{
	json_open(o, '{');
	json_put_member_cstr(o, "name", name);
	json_put_member_cstr(o, "mountPath", path);
	if (below != NULL)
		json_put_member_cstr(o, "subPath", below);
	json_close(o, '}');
}

static void
put_mounts(struct json_out *o, const struct kube_plan *p)
{
	json_open_member(o, "volumeMounts", '[');
	put_mount(o, "work", KUBE_DIR, NULL);
	if (p->nfiles > 0)
		put_mount(o, "files", KUBE_DIR "/" KUBE_FILES, NULL);
	if (p->claim != NULL)
		put_mount(o, "results", KUBE_DIR "/" KUBE_RESULTS, p->name);
	json_close(o, ']');
}

/* Memory is also a limit: an agent that needs more ends alone. */
static void
put_resources(struct json_out *o, const struct kube_plan *p)
{
	if (p->cpu == NULL && p->memory == NULL)
		return;
	json_open_member(o, "resources", '{');
	json_open_member(o, "requests", '{');
	if (p->cpu != NULL)
		json_put_member_cstr(o, "cpu", p->cpu);
	if (p->memory != NULL)
		json_put_member_cstr(o, "memory", p->memory);
	json_close(o, '}');
	if (p->memory != NULL) {
		json_open_member(o, "limits", '{');
		json_put_member_cstr(o, "memory", p->memory);
		json_close(o, '}');
	}
	json_close(o, '}');
}

static void
put_secrets(struct json_out *o, const struct kube_plan *p)
{
	size_t i;

	if (p->secrets.n == 0)
		return;
	json_open_member(o, "envFrom", '[');
	for (i = 0; i < p->secrets.n; i++) {
		json_open(o, '{');
		json_open_member(o, "secretRef", '{');
		json_put_member_cstr(o, "name", p->secrets.v[i]);
		json_close(o, '}');
		json_close(o, '}');
	}
	json_close(o, ']');
}

/* Kubernetes replaces $(NAME) in arguments; $$ is a dollar sign. */
static void
put_word(struct json_out *o, const char *word)
{
	struct buf b = { 0 };

	for (; *word != '\0'; word++) {
		if (*word == '$')
			buf_putc(&b, '$');
		buf_putc(&b, *word);
	}
	json_put_str(o, buf_str(&b));
	buf_free(&b);
}

static void
put_container(struct json_out *o, const struct kube_plan *p)
{
	struct buf script = { 0 };
	size_t i;

	kube_pod_script(&script, p);
	json_open(o, '{');
	json_put_member_cstr(o, "name", KUBE_CONTAINER);
	json_put_member_cstr(o, "image", p->image);
	json_open_member(o, "command", '[');
	json_put_cstr(o, "sh");
	json_put_cstr(o, "-c");
	json_put_str(o, buf_str(&script));
	json_put_cstr(o, "sh");
	json_close(o, ']');
	json_open_member(o, "args", '[');
	for (i = 0; i < p->nwords; i++)
		put_word(o, p->words[i]);
	json_close(o, ']');
	put_secrets(o, p);
	put_resources(o, p);
	put_mounts(o, p);
	json_close(o, '}');
	buf_free(&script);
}

static void
put_pod(struct json_out *o, const struct kube_plan *p)
{
	json_open_member(o, "template", '{');
	json_open_member(o, "metadata", '{');
	put_labels(o, p);
	json_close(o, '}');
	json_open_member(o, "spec", '{');
	json_put_member_cstr(o, "restartPolicy", "Never");
	json_put_member_int(o, "terminationGracePeriodSeconds", GRACE_SECONDS);
	json_put_member_bool(o, "automountServiceAccountToken", false);
	if (p->account != NULL)
		json_put_member_cstr(o, "serviceAccountName", p->account);
	json_open_member(o, "containers", '[');
	put_container(o, p);
	json_close(o, ']');
	put_volumes(o, p);
	json_close(o, '}');
	json_close(o, '}');
}

static void
put_job(struct json_out *o, const struct kube_plan *p)
{
	int64_t n = p->list != NULL ? (int64_t)p->nlist : p->shards;

	put_head(o, p, "batch/v1", "Job");
	json_open_member(o, "spec", '{');
	json_put_member_cstr(o, "completionMode", "Indexed");
	json_put_member_int(o, "completions", n);
	json_put_member_int(o, "parallelism", p->parallelism > 0 &&
	    p->parallelism < n ? p->parallelism : n);
	json_put_member_int(o, "backoffLimitPerIndex", p->retries);
	json_put_member_int(o, "backoffLimit", (p->retries + 1) * n);
	json_put_member_int(o, "ttlSecondsAfterFinished", TTL_SECONDS);
	put_pod(o, p);
	json_close(o, '}');
	json_close(o, '}');
}

void
kube_manifest(struct buf *out, const struct kube_plan *p)
{
	struct json_out o = { .put = buf_sink, .ctx = out, .indent = 2 };

	json_open(&o, '{');
	json_put_member_cstr(&o, "apiVersion", "v1");
	json_put_member_cstr(&o, "kind", "List");
	json_open_member(&o, "items", '[');
	if (p->nfiles > 0)
		put_config_map(&o, p);
	put_job(&o, p);
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(out, '\n');
}
