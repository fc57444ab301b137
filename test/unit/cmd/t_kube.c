/* SPDX-License-Identifier: ISC */
/* Manifests for Kubernetes, and results in the logs of pods. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "base/os_path.h"
#include "cmd/scale/kube.h"
#include "json.h"
#include "lib/sha256.h"
#include "test/tool/tap.h"

static struct arena a;

/* The member at a path of names, and of numbers for elements. */
static const struct json *
at(const struct json *v, const char *path)
{
	struct str rest = str_of(path), word;
	const char *dot;
	long i;

	while (rest.n > 0 && v != NULL) {
		dot = memchr(rest.p, '/', rest.n);
		word = (struct str){ rest.p, dot != NULL ?
		    (size_t)(dot - rest.p) : rest.n };
		rest.p += word.n + (dot != NULL);
		rest.n -= word.n + (dot != NULL);
		if (word.p[0] < '0' || word.p[0] > '9') {
			v = json_get(v, word);
			continue;
		}
		for (i = atol(word.p), v = json_first(v); i > 0 && v != NULL; i--)
			v = v->next;
	}
	return v;
}

static bool
has(const struct json *v, const char *path, const char *text)
{
	v = at(v, path);
	return v != NULL && str_is(json_text(v), text);
}

static const struct json *
manifest(const struct kube_plan *p)
{
	struct buf b = { 0 };
	struct json_error e;

	kube_manifest(&b, p);
	return arena_json(&a, arena_take(&a, &b), &e);
}

static const char *const words[] = { "eval.yaml", "--trials", "2" };
static const struct kube_plan small = { .name = "waza-1", .image = "img",
	.shards = 4, .retries = 2, .words = words, .nwords = 3 };

static void
test_job(void)
{
	const struct json *v = manifest(&small), *token;

	OK(at(v, "items/1") == NULL);
	OK(has(v, "items/0/kind", "Job"));
	OK(at(v, "items/0/metadata/namespace") == NULL);
	OK(has(v, "items/0/spec/completionMode", "Indexed"));
	OK(has(v, "items/0/spec/completions", "4"));
	OK(has(v, "items/0/spec/parallelism", "4"));
	OK(has(v, "items/0/spec/backoffLimitPerIndex", "2"));
	OK(has(v, "items/0/spec/backoffLimit", "12"));
#define POD "items/0/spec/template/spec/"
	OK(has(v, POD "restartPolicy", "Never"));
	token = at(v, POD "automountServiceAccountToken");
	OK(token != NULL && token->type == JSON_BOOL && !json_bool(token));
	OK(has(v, POD "containers/0/image", "img"));
	OK(has(v, POD "containers/0/args/0", "eval.yaml"));
	OK(at(v, POD "containers/0/envFrom") == NULL &&
	    at(v, POD "containers/0/env") == NULL &&
	    at(v, POD "containers/0/resources") == NULL);
	OK(at(v, POD "volumes/1") == NULL);
}

static void
test_options(void)
{
	const char *secrets[] = { "keys", "more" };
	const char *dollars[] = { "-m", "a$(KEY)$b" };
	struct kube_plan p = small;
	const struct json *v;

	p.space = "evals";
	p.cpu = "500m";
	p.memory = "1Gi";
	p.account = "runner";
	p.claim = "shared";
	p.secrets = (struct opt_list){ secrets, 2 };
	p.parallelism = 3;
	p.words = dollars;
	p.nwords = 2;
	v = manifest(&p);
	OK(has(v, POD "containers/0/args/1", "a$$(KEY)$$b"));
	OK(has(v, "items/0/metadata/namespace", "evals"));
	OK(has(v, "items/0/spec/parallelism", "3"));
	OK(has(v, POD "serviceAccountName", "runner"));
	OK(has(v, POD "containers/0/envFrom/1/secretRef/name", "more"));
	OK(has(v, POD "containers/0/resources/requests/cpu", "500m"));
	OK(has(v, POD "containers/0/resources/limits/memory", "1Gi"));
	OK(has(v, POD "containers/0/volumeMounts/1/mountPath", "/waza/results"));
	OK(has(v, POD "containers/0/volumeMounts/1/subPath", "waza-1"));
	OK(has(v, POD "volumes/1/persistentVolumeClaim/claimName", "shared"));
}

static void
test_files(void)
{
	const struct kube_file files[] = {
		{ STR("eval.yaml"), STR("name: x\n"), false },
		{ STR("tools/a b.sh"), STR("echo \"\xc3\xa9\"\n"), true },
		{ STR("x.bin"), STR("\xff\x00\x01"), false },
	};
	struct kube_plan p = small;
	const struct json *v;

	p.files = files;
	p.nfiles = 3;
	v = manifest(&p);
	OK(has(v, "items/0/kind", "ConfigMap"));
	OK(has(v, "items/0/metadata/name", "waza-1"));
	OK(has(v, "items/0/data/f0", "name: x\n"));
	OK(has(v, "items/0/data/f1", "echo \"\xc3\xa9\"\n"));
	OK(at(v, "items/0/data/f2") == NULL);
	OK(has(v, "items/0/binaryData/f2", "/wAB"));
#undef POD
#define POD "items/1/spec/template/spec/"
	OK(has(v, POD "volumes/1/configMap/items/1/path", "suite/tools/a b.sh"));
	OK(has(v, POD "volumes/1/configMap/items/1/mode", "493"));
	OK(has(v, POD "volumes/1/configMap/items/0/mode", "420"));
	OK(has(v, POD "containers/0/volumeMounts/1/mountPath", "/waza/files"));
}

static void
test_list(void)
{
	int64_t list[] = { 2, 5 };
	struct kube_plan p = small;
	struct buf b = { 0 };

	p.list = list;
	p.nlist = 2;
	OK(has(manifest(&p), "items/0/spec/completions", "2"));
	kube_pod_script(&b, &p);
	buf_putc(&b, '\0');
	OK(strstr(b.p, "n=4\n") != NULL && strstr(b.p, "in 2 5;") != NULL);
	buf_free(&b);
}

/* A directory as it is in a suite, and the files of it. */
static void
test_read(void)
{
	static const char *const dot[] = { "." }, *const two[] = { "b",
		"b/x.yaml" }, *const out[] = { ".." };
	char dir[] = "/tmp/waza-kube-XXXXXX";
	struct str big = { arena_alloc(&a, KUBE_BYTES_MAX, 1),
		KUBE_BYTES_MAX };
	struct err e = { 0 };
	struct kube_file *v;
	size_t n;

	OK(mkdtemp(dir) != NULL && chdir(dir) == 0);
	mkdir("b", 0777);
	mkdir(".git", 0777);
	os_write_file("b/x.yaml", STR("x"), &e);
	os_write_file("run.sh", STR("#!"), &e);
	os_write_file(".git/config", STR("x"), &e);
	os_write_file(".env", STR("KEY=secret"), &e);
	os_write_file(".env.local", STR("KEY=secret"), &e);
	os_write_file("b/keys.env", STR("KEY=secret"), &e);
	os_write_file("r.json.journal", STR("x"), &e);
	chmod("run.sh", 0755);
	v = kube_files(&a, dot, 1, &n, &e);
	OK(v != NULL && n == 2);
	OK(str_is(v[0].path, "b/x.yaml"));
	OK(!v[0].executable && v[1].executable);
	v = kube_files(&a, two, 2, &n, &e);
	OK(v != NULL && n == 1);
	OK(kube_files(&a, out, 1, &n, &e) == NULL &&
	    strstr(e.msg, "outside of the working directory") != NULL);
	os_write_file("b/big", big, &e);
	OK(kube_files(&a, dot, 1, &n, &e) == NULL &&
	    strstr(e.msg, "more than 1 MiB (b/big has 1024 KiB)") != NULL);
	unlink("b/big");
	unlink("b/x.yaml");
	unlink("run.sh");
	unlink(".git/config");
	unlink(".env");
	unlink(".env.local");
	unlink("b/keys.env");
	unlink("r.json.journal");
	rmdir("b");
	rmdir(".git");
	OK(chdir("/") == 0 && rmdir(dir) == 0);
}

static struct str
log_of(const char *before, struct str text)
{
	char hex[SHA256_HEX];

	sha256_hex(text, hex);
	return arena_fmt(&a, "%s\nwaza-results-begin %zu %s shard-1.json\n"
	    "%.*s\nwaza-results-end shard-1.json\n", before, text.n, hex,
	    STRF(text));
}

static void
test_blocks(void)
{
	struct str log = log_of("hello", STR("{\n}\n")), two, cut;
	struct kube_block b;
	struct err e = { 0 };
	size_t i;

	two = arena_fmt(&a, "%.*s%.*s", STRF(log), STRF(log));
	OK(kube_pod_block(&two, &b, &e) == 1 &&
	    str_is(b.name, "shard-1.json") && str_is(b.text, "{\n}\n"));
	OK(kube_pod_block(&two, &b, &e) == 1);
	OK(kube_pod_block(&two, &b, &e) == 0);
	OK(str_is(kube_pod_talk(log), "hello\n"));
	for (i = log.n - 2; i > 6; i--) {
		cut = (struct str){ log.p, i };
		if (kube_pod_block(&cut, &b, &e) == 1 && !str_is(b.text,
		    "{\n}\n"))
			break;
	}
	OK(i == 6);
	cut = (struct str){ log.p + 20, log.n - 20 };
	OK(kube_pod_block(&cut, &b, &e) == -1 &&
	    strstr(e.msg, "lacks its beginning") != NULL);
	((char *)(uintptr_t)strchr(log.p, '{'))[0] = '[';
	OK(kube_pod_block(&log, &b, &e) == -1 &&
	    strstr(e.msg, "SHA-256 differs") != NULL);
}

static void
test_state(void)
{
	struct str t = STR("Job\twaza-1\t\t\t\t\t\t\t1,3-5\tFailedIndexes\n"
	    "Pod\tp0\t0\tRunning\t\t\t\t\t\t\n"
	    "Pod\tp1\t1\tFailed\t\tOOMKilled\t137\t\t\t\n"
	    "warning: another line\n"
	    "Pod\tp2\t2\tPending\tErrImagePull\t\t\t\t\t\n"
	    "Pod\tp3\t3\tFailed\t\t\t\tEvicted\t\t\n"
	    "Pod\tp4\tx\tFailed\t\t\t\t\t\t\n"
	    "Pod\tp5\t12\tSucceeded\t\tCompleted\t0\t\t\t\n");
	struct kube_line l;

	OK(kube_state_line(&t, &l) && l.is_job && str_is(l.name, "waza-1"));
	OK(str_is(l.failed_indexes, "1,3-5"));
	OK(str_is(l.failed, "FailedIndexes"));
	OK(kube_state_line(&t, &l) && !l.is_job && l.index == 0);
	OK(l.phase == KUBE_RUNNING && l.failed.n == 0);
	OK(kube_state_line(&t, &l) && l.index == 1);
	OK(strcmp(l.why, "OOMKilled, exit status 137") == 0);
	OK(kube_state_line(&t, &l) && str_is(l.waits, "ErrImagePull"));
	OK(kube_state_line(&t, &l) && strcmp(l.why, "Evicted") == 0);
	OK(kube_state_line(&t, &l) && l.index == 12);
	OK(l.phase == KUBE_SUCCEEDED);
	OK(!kube_state_line(&t, &l));
	OK(kube_state_has(STR("1,3-5"), 1) && kube_state_has(STR("1,3-5"), 4));
	OK(!kube_state_has(STR("1,3-5"), 2) && !kube_state_has(STR(""), 0));
	OK(!kube_state_has(STR("1,x"), 0) && !kube_state_has(STR("-"), 0));
}

int
main(void)
{
	RUN(test_job, test_options, test_files, test_list, test_read,
	    test_blocks, test_state);
	arena_free(&a);
	return tap_done();
}
