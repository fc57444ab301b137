/* SPDX-License-Identifier: ISC */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base.h"
#include "base/os.h"
#include "json.h"
#include "results/cache.h"
#include "test/tool/tap.h"

static struct arena arena;

static bool
hashes(struct str in, size_t step, const char *want)
{
	struct sha256 h;
	char hex[CACHE_KEY];
	size_t i, n;

	sha256_init(&h);
	for (i = 0; i < in.n; i += n) {
		n = in.n - i < step ? in.n - i : step;
		sha256_put(&h, (struct str){ in.p + i, n });
	}
	sha256_end(&h, hex);
	if (strcmp(hex, want) != 0)
		printf("# %s\n", hex);
	return strcmp(hex, want) == 0;
}

/* FIPS 180-4's examples, and those of NIST's CAVP around the block size. */
static void
test_hash(void)
{
	static char as[1000000];
	static const char two[] = "abcdbcdecdefdefgefghfghighijhijk"
	    "ijkljklmklmnlmnomnopnopq";
	size_t step;

	memset(as, 'a', sizeof(as));
	OK(hashes(STR(""), 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934"
	    "ca495991b7852b855"));
	OK(hashes(STR("abc"), 9, "ba7816bf8f01cfea414140de5dae2223b00361a3961"
	    "77a9cb410ff61f20015ad"));
	OK(hashes(str_of(two), 99, "248d6a61d20638b8e5c026930c3e6039a33ce45964"
	    "ff2167f6ecedd419db06c1"));
	for (step = 1; step < 70; step += 17)
		OK(hashes((struct str){ as, sizeof(as) }, step,
		    "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39cc"
		    "c7112cd0"));
	OK(hashes((struct str){ as, 55 }, 7, "9f4390f8d30c2dd92ec9f095b65e2b9a"
	    "e9b0a925a5258e241c9f1e910f734318"));
	OK(hashes((struct str){ as, 56 }, 64, "b35439a4ac6f0948b6d6f9e3c6af0f5"
	    "f590ce20f1bde7090ef7970686ec6738a"));
	OK(hashes((struct str){ as, 64 }, 64, "ffe054fe7ae0cb6dc65c3af9b61d520"
	    "9f439851db43d0ba5997337df154668eb"));
}

static void
key_of(char hex[CACHE_KEY], struct str a, struct str b)
{
	struct sha256 h;

	sha256_init(&h);
	cache_hash_part(&h, a);
	cache_hash_part(&h, b);
	sha256_end(&h, hex);
}

static void
test_parts(void)
{
	char x[CACHE_KEY], y[CACHE_KEY];

	key_of(x, STR("ab"), STR("c"));
	key_of(y, STR("a"), STR("bc"));
	OK(strcmp(x, y) != 0);
	key_of(y, STR("ab"), STR("c"));
	OK(strcmp(x, y) == 0);
}

static bool
dir_key(const char *dir, char hex[CACHE_KEY])
{
	struct sha256 h;
	bool ok;

	sha256_init(&h);
	ok = cache_hash_dir(&h, dir);
	sha256_end(&h, hex);
	return ok;
}

static void
put_file(const char *dir, const char *name, const char *text)
{
	struct err e;

	os_write_file(arena_fmt(&arena, "%s/%s", dir, name).p, str_of(text),
	    &e);
}

static void
test_dir(const char *dir)
{
	char x[CACHE_KEY], y[CACHE_KEY];
	struct sha256 h;

	put_file(dir, "a", "one");
	OK(dir_key(dir, x));
	OK(dir_key(dir, y) && strcmp(x, y) == 0);
	put_file(dir, "a", "two");
	OK(dir_key(dir, y) && strcmp(x, y) != 0);
	put_file(dir, "a", "one");
	OK(dir_key(dir, y) && strcmp(x, y) == 0);
	OK(rename(arena_fmt(&arena, "%s/a", dir).p,
	    arena_fmt(&arena, "%s/b", dir).p) == 0);
	OK(dir_key(dir, y) && strcmp(x, y) != 0);
	OK(symlink("..", arena_fmt(&arena, "%s/up", dir).p) == 0);
	OK(dir_key(dir, x) && strcmp(x, y) != 0);
	OK(!dir_key(arena_fmt(&arena, "%s/none", dir).p, x));
	sha256_init(&h);
	OK(!cache_hash_file(&h, dir));
	unlink(arena_fmt(&arena, "%s/up", dir).p);
	unlink(arena_fmt(&arena, "%s/b", dir).p);
}

static struct str
entry(const char *key)
{
	return arena_fmt(&arena, "{\"waza_cache\":1,\"key\":\"%s\",\"n\":7}",
	    key);
}

static void
test_store(const char *top)
{
	const char *dir = arena_fmt(&arena, "%s/store", top).p;
	struct cache_stats s;
	struct err e = { 0 };
	char key[CACHE_KEY], other[CACHE_KEY];
	struct json *v;
	int64_t n;

	key_of(key, STR("x"), STR("y"));
	key_of(other, STR("y"), STR("x"));
	OK(cache_stats(dir, &s, &e) == 0 && s.entries == 0);
	OK(cache_clear(dir, &s, &e) == 0);
	OK(cache_get(&arena, dir, key) == NULL);
	OK(cache_put(dir, key, entry(key), &e) == 0);
	v = cache_get(&arena, dir, key);
	OK(v != NULL && json_int(json_getc(v, "n"), &n) && n == 7);
	OK(cache_get(&arena, dir, other) == NULL);
	/* another key, truncated, or another version: not found */
	OK(cache_put(dir, other, entry(key), &e) == 0);
	OK(cache_get(&arena, dir, other) == NULL);
	OK(cache_put(dir, other, STR("{\"waza_cache\":1,"), &e) == 0);
	OK(cache_get(&arena, dir, other) == NULL);
	OK(cache_put(dir, other, STR("[]"), &e) == 0);
	OK(cache_get(&arena, dir, other) == NULL);
	OK(cache_stats(dir, &s, &e) == 0 && s.entries == 2 && s.others == 0);
	OK(s.bytes > 80 && s.oldest > 0 && s.newest >= s.oldest);
	put_file(dir, "notes.json", "{}");
	OK(cache_clear(dir, &s, &e) == -1 && e.code == ERR_SCHEMA);
	OK(strstr(e.msg, "notes.json") != NULL);
	OK(cache_get(&arena, dir, key) != NULL);
	unlink(arena_fmt(&arena, "%s/notes.json", dir).p);
	put_file(dir, arena_fmt(&arena, "%s.json.abc", key).p, "half");
	OK(cache_clear(dir, &s, &e) == 0 && s.entries == 2);
	OK(access(dir, F_OK) == -1);
}

int
main(void)
{
	char dir[] = "/tmp/t_cache-XXXXXX";

	if (mkdtemp(dir) == NULL)
		return 1;
	test_hash();
	test_parts();
	test_dir(dir);
	test_store(dir);
	rmdir(dir);
	arena_free(&arena);
	return tap_done();
}
