/* SPDX-License-Identifier: ISC */
/* cache_hash.c: SHA-256 as in FIPS 180-4, of values, files, directories. */
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

/* The first 32 bits of the fractions of cube roots, section 4.2.2. */
static const uint32_t cubes[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1,
	0x923f82a4, 0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3,
	0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
	0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
	0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147,
	0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
	0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
	0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
	0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208,
	0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

void
cache_hash_init(struct cache_hash *s)
{
	static const uint32_t roots[8] = {	/* of squares, 5.3.3 */
		0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
		0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
	};

	memcpy(s->h, roots, sizeof(roots));
	s->n = 0;
}

static uint32_t
turn(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

/* The message schedule, 6.2.2 step 1. */
static void
expand(const unsigned char *p, uint32_t w[64])
{
	uint32_t x, y;
	int i;

	for (i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
		    (uint32_t)p[2] << 8 | p[3];
	for (; i < 64; i++) {
		x = w[i - 15];
		y = w[i - 2];
		w[i] = (turn(y, 17) ^ turn(y, 19) ^ y >> 10) + w[i - 7] +
		    (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 16];
	}
}

static void
mix(struct cache_hash *s, const unsigned char *block)
{
	uint32_t w[64], v[8], x, y;
	int i;

	expand(block, w);
	memcpy(v, s->h, sizeof(v));
	for (i = 0; i < 64; i++) {
		x = v[7] + (turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25)) +
		    ((v[4] & v[5]) ^ (~v[4] & v[6])) + cubes[i] + w[i];
		y = (turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22)) +
		    ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
		memmove(v + 1, v, 7 * sizeof(v[0]));
		v[4] += x;
		v[0] = x + y;
	}
	for (i = 0; i < 8; i++)
		s->h[i] += v[i];
}

void
cache_hash_put(struct cache_hash *s, struct str in)
{
	size_t have = (size_t)(s->n % 64), n;

	s->n += in.n;
	while (in.n > 0) {
		n = 64 - have < in.n ? 64 - have : in.n;
		memcpy(s->block + have, in.p, n);
		in.p += n;
		in.n -= n;
		have += n;
		if (have < 64)
			return;
		mix(s, s->block);
		have = 0;
	}
}

void
cache_hash_end(struct cache_hash *s, char hex[CACHE_KEY])
{
	static const char digits[] = "0123456789abcdef";
	unsigned char tail[72] = { 0x80 };
	uint64_t bits = s->n * 8;
	size_t n = 64 - (size_t)(s->n + 8) % 64, i;

	for (i = 0; i < 8; i++)
		tail[n + i] = (unsigned char)(bits >> (56 - 8 * i));
	cache_hash_put(s, (struct str){ (const char *)tail, n + 8 });
	for (i = 0; i < 64; i++)
		hex[i] = digits[s->h[i / 8] >> (28 - i % 8 * 4) & 15];
	hex[64] = '\0';
}

void
cache_hash_int(struct cache_hash *s, int64_t i)
{
	unsigned char b[8];
	int k;

	for (k = 0; k < 8; k++)
		b[k] = (unsigned char)((uint64_t)i >> (56 - 8 * k));
	cache_hash_put(s, (struct str){ (const char *)b, sizeof(b) });
}

void
cache_hash_part(struct cache_hash *s, struct str in)
{
	cache_hash_int(s, (int64_t)in.n);
	cache_hash_put(s, in);
}

void
cache_hash_json(struct cache_hash *s, const struct json *v)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_put(&o, v);
	cache_hash_part(s, buf_str(&b));
	buf_free(&b);
}

bool
cache_hash_file(struct cache_hash *s, const char *path)
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
		cache_hash_put(s, (struct str){ chunk, (size_t)n });
		total += n;
	}
	close(fd);
	cache_hash_int(s, total);
	return n == 0;
}

struct walk {
	struct cache_hash *hash;
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
cache_hash_dir(struct cache_hash *s, const char *path)
{
	struct walk w = { .hash = s };
	bool ok = walk(&w, path, 0);

	arena_free(&w.arena);
	return ok;
}
