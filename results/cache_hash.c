/* SPDX-License-Identifier: ISC */
/* cache_hash.c: SHA-256 of values, files and directories. */
#include "results/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"

enum {
	CHUNK = 64 << 10,
	NAMES_MAX = 20000,	/* in a directory and below */
	DEPTH_MAX = 40,
	LINK_MAX = 4096
};

void
cache_hash_int(struct sha256 *s, int64_t i)
{
	unsigned char b[8];
	int k;

	for (k = 0; k < 8; k++)
		b[k] = (unsigned char)((uint64_t)i >> (56 - 8 * k));
	sha256_put(s, (struct str){ (const char *)b, sizeof(b) });
}

void
cache_hash_part(struct sha256 *s, struct str in)
{
	cache_hash_int(s, (int64_t)in.n);
	sha256_put(s, in);
}

void
cache_hash_json(struct sha256 *s, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	cache_hash_part(s, buf_str(&b));
	buf_free(&b);
}

bool
cache_hash_file(struct sha256 *s, const char *path)
{
	char chunk[CHUNK];
	struct stat st;
	int64_t total = 0;
	ssize_t n = -1;
	int fd = -1;

	/* opening a pipe would wait for a writer */
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
		fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	if (fd == -1)
		return false;
	while ((n = os_read(fd, chunk, sizeof(chunk))) > 0) {
		sha256_put(s, (struct str){ chunk, (size_t)n });
		total += n;
	}
	close(fd);
	cache_hash_int(s, total);
	return n == 0;
}

struct walk {
	struct sha256 *hash;
	struct arena arena;
	size_t names;
};

static bool
hash_link(struct walk *w, const char *path)
{
	char to[LINK_MAX];
	ssize_t n = readlink(path, to, sizeof(to));

	if (n >= 0)
		cache_hash_part(w->hash, (struct str){ to, (size_t)n });
	return n >= 0;
}

/* Directories of git and of waza itself do not affect a trial. */
static bool
is_ignored(const char *name)
{
	return strcmp(name, ".git") == 0 || strcmp(name, ".waza") == 0 ||
	    strcmp(name, ".waza-cache") == 0;
}

static bool
walk(struct walk *w, const char *dir, int depth)
{
	const char *path;
	struct stat st;
	size_t i, n;
	char **v = depth < DEPTH_MAX ? cache_names(&w->arena, dir,
	    NAMES_MAX + 1 - w->names, &n) : NULL;

	if (v == NULL || (w->names += n) > NAMES_MAX)
		return false;
	for (i = 0; i < n; i++) {
		if (is_ignored(v[i]))
			continue;
		path = arena_fmt(&w->arena, "%s/%s", dir, v[i]).p;
		cache_hash_part(w->hash, str_of(v[i]));
		if (lstat(path, &st) == -1)
			return false;
		cache_hash_int(w->hash, S_ISDIR(st.st_mode) ? 'd' :
		    S_ISLNK(st.st_mode) ? 'l' : S_ISREG(st.st_mode) ?
		    'f' + (st.st_mode & S_IXUSR) : 'o');
		if ((S_ISDIR(st.st_mode) && !walk(w, path, depth + 1)) ||
		    (S_ISLNK(st.st_mode) && !hash_link(w, path)) ||
		    (S_ISREG(st.st_mode) && !cache_hash_file(w->hash, path)))
			return false;
	}
	cache_hash_int(w->hash, -1);
	return true;
}

bool
cache_hash_dir(struct sha256 *s, const char *path)
{
	struct walk w = { .hash = s };
	bool ok = walk(&w, path, 0);

	arena_free(&w.arena);
	return ok;
}
