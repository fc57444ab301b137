/* SPDX-License-Identifier: ISC */
/*
 * Requests the URLs of skills, each once, a few at a time.
 *
 *	next URL -> look up its host -> HEAD -> done
 *	            ^ private: dead      | 403, 405, no answer: GET
 *	            +---- redirect ------+
 *
 * A skill may come from a stranger, who must not learn through it what answers
 * on the user's network: a host with a private address is not asked, on every
 * hop, and curl connects only to the addresses that were examined.  curl gets
 * its settings on stdin and is not told about any credentials.
 */
#include "skill/check_internal.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/os.h"
#include "base/os_path.h"
#include "io/loop.h"
#include "io/proc.h"
#include "lib/http.h"
#include "suite/spec.h"

enum {
	PARALLEL = 5,
	HOPS_MAX = 10,
	REQUEST_SECONDS = 10,
	CHILD_MS = 20 * 1000,
	OUTPUT_MAX = 16 << 10,
	ADDRESSES_MAX = 16
};

/* A use of a URL by a skill. */
struct use {
	struct check *c;
	struct check_url *u;
};

struct pool {
	struct arena arena;
	struct procs procs;
	struct use *use;	/* sorted by URL */
	size_t n, next;		/* the first that is not yet asked */
	size_t running;
	bool allow_private;
	struct err *err;
	bool failed;
};

struct probe {
	struct pool *pool;
	struct proc proc;
	size_t first, n;	/* uses of this URL */
	struct str url;		/* of this hop */
	struct http_url parts;
	const char *host;
	struct buf config;	/* input of curl */
	unsigned hops;
	bool get;		/* HEAD was in vain */
};

static void next_url(struct probe *);

static int
by_url(const void *a, const void *b)
{
	const struct use *x = a, *y = b;

	return str_cmp(x->u->url, y->u->url);
}

/*
 * Results
 */
static void
end_url(struct probe *p, const char *reason)
{
	const struct use *v = p->pool->use + p->first;
	struct check *c;
	size_t i;

	for (i = 0; reason != NULL && i < p->n; i++) {
		c = v[i].c;
		check_add_link(c, CHECK_DEAD, (struct check_at){
		    str_is(v[i].u->source, "SKILL.md") && !c->agent ?
		    c->skill.file : spec_join(c->arena, c->skill.dir,
		    v[i].u->source), v[i].u->line, v[i].u->col },
		    v[i].u->source, v[i].u->url, arena_str(c->arena,
		    str_of(reason)).p);
	}
	buf_free(&p->config);
}

/* Ends this URL and begins the next one. */
static void
finish(struct probe *p, const char *reason)
{
	end_url(p, reason);
	next_url(p);
}

/* The first line of what a child printed. */
static const char *
first_line(struct probe *p, struct str s)
{
	const char *lf = s.n > 0 ? memchr(s.p, '\n', s.n) : NULL;

	if (lf != NULL)
		s.n = (size_t)(lf - s.p);
	s = str_trim(utf8_cut(s, 200));
	return s.n > 0 ? arena_cstr(&p->pool->arena, s) : NULL;
}

/*
 * Addresses, in a copy of the process, because a lookup blocks
 */
static bool
is_private4(const unsigned char *b)
{
	return b[0] == 0 || b[0] == 10 || b[0] == 127 || (b[0] == 100 &&
	    (b[1] & 0xC0) == 64) || (b[0] == 169 && b[1] == 254) ||
	    (b[0] == 172 && (b[1] & 0xF0) == 16) || (b[0] == 192 &&
	    b[1] == 168) || b[0] >= 224;
}

static bool
is_private6(const unsigned char *b)
{
	static const unsigned char zero[16], mapped[12] = { [10] = 0xFF,
		[11] = 0xFF };

	if (memcmp(b, mapped, sizeof(mapped)) == 0)
		return is_private4(b + 12);
	return memcmp(b, zero, 15) == 0 || (b[0] & 0xFE) == 0xFC ||
	    (b[0] == 0xFE && (b[1] & 0xC0) == 0x80) || b[0] == 0xFF;
}

static bool
is_private(const struct sockaddr *sa)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	if (sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof(in));
		return is_private4((const unsigned char *)&in.sin_addr);
	}
	if (sa->sa_family != AF_INET6)
		return true;
	memcpy(&in6, sa, sizeof(in6));
	return is_private6((const unsigned char *)&in6.sin6_addr);
}

/* Prints "+ADDRESS" or "-ADDRESS" (private) lines, or "!REASON". */
static void
print_addresses(void *arg, struct buf *out)
{
	const struct probe *p = arg;
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list, *ai;
	char name[64];
	int r = getaddrinfo(p->host, NULL, &hints, &list);

	if (r != 0) {
		buf_fmt(out, "!%s\n", gai_strerror(r));
		return;
	}
	for (ai = list; ai != NULL; ai = ai->ai_next)
		if (getnameinfo(ai->ai_addr, ai->ai_addrlen, name,
		    sizeof(name), NULL, 0, NI_NUMERICHOST) == 0)
			buf_fmt(out, "%c%s\n", is_private(ai->ai_addr) ? '-' :
			    '+', name);
	freeaddrinfo(list);
}

static void on_addresses(void *);

/* Begins a hop; -1 if the URL has ended with it. */
static int
look_up(struct probe *p)
{
	struct proc_opts o = { .work = print_addresses, .out_max = OUTPUT_MAX,
		.err_max = OUTPUT_MAX, .timeout_ms = CHILD_MS,
		.done = on_addresses };
	struct err e = { 0 };

	if (http_url_read(p->url, &p->parts, &e) == -1 || (p->host =
	    arena_cstr(&p->pool->arena, p->parts.host)) == NULL) {
		end_url(p, e.msg[0] != '\0' ? e.msg : "not a URL");
		return -1;
	}
	o.arg = p;
	if (proc_start(&p->pool->procs, &p->proc, &o, &e) == 0)
		return 0;
	*p->pool->err = e;
	p->pool->failed = true;
	end_url(p, NULL);
	return -1;
}

static void
look_up_again(struct probe *p)
{
	if (look_up(p) == -1)
		next_url(p);
}

/*
 * Requests
 */
static void
put_quoted(struct buf *b, const char *key, struct str s)
{
	size_t i;

	buf_fmt(b, "%s = \"", key);
	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '"' || s.p[i] == '\\')
			buf_putc(b, '\\');
		if ((unsigned char)s.p[i] >= ' ')
			buf_putc(b, s.p[i]);
	}
	buf_puts(b, "\"\n");
}

static void
on_answer(void *arg)
{
	struct probe *p = arg;
	struct str out = buf_str(&p->proc.out.buf), to = { NULL, 0 };
	char *end = NULL;
	const char *why;
	long code;

	out = arena_str(&p->pool->arena, out);
	why = first_line(p, buf_str(&p->proc.err.buf));
	proc_fini(&p->proc);
	code = strtol(out.p, &end, 10);
	if (end != out.p)
		to = str_trim(str_of(end));
	if ((code == 0 || code == 403 || code == 405) && !p->get) {
		p->get = true;
		look_up_again(p);
	} else if (code == 0)
		finish(p, why != NULL ? why : "no answer");
	else if (code >= 400)
		finish(p, arena_fmt(&p->pool->arena, "HTTP %ld", code).p);
	else if (code >= 300 && to.n > 0 && ++p->hops > HOPS_MAX)
		finish(p, "too many redirects");
	else if (code >= 300 && to.n > 0) {
		p->url = to;
		look_up_again(p);
	} else
		finish(p, NULL);
}

static void
request(struct probe *p, struct str addresses)
{
	static const char *const argv[] = { "curl", "-q", "-K", "-", NULL };
	struct proc_opts o = { .argv = argv, .out_max = OUTPUT_MAX,
		.err_max = OUTPUT_MAX, .timeout_ms = CHILD_MS,
		.done = on_answer };
	struct arena *a = &p->pool->arena;
	struct err e = { 0 };

	p->config.n = 0;
	buf_fmt(&p->config, "silent\nshow-error\ngloboff\n%smax-time = %d\n"
	    "proto = \"=http,https\"\noutput = \"/dev/null\"\n"
	    "write-out = \"%%{http_code} %%{redirect_url}\"\n",
	    p->get ? "max-filesize = 1\n" : "head\n", REQUEST_SECONDS);
	put_quoted(&p->config, "user-agent", STR("waza-link-checker/1.0"));
	put_quoted(&p->config, "resolve", arena_fmt(a, "%s:%.*s:%.*s",
	    p->host, STRF(p->parts.port), STRF(addresses)));
	put_quoted(&p->config, "url", p->url);
	o.arg = p;
	o.in = buf_str(&p->config);
	if (proc_start(&p->pool->procs, &p->proc, &o, &e) == 0)
		return;
	*p->pool->err = e;
	p->pool->failed = true;
	finish(p, NULL);
}

/* Chooses among the addresses of a host. */
static void
on_addresses(void *arg)
{
	struct probe *p = arg;
	struct arena *a = &p->pool->arena;
	struct str out = arena_str(a, buf_str(&p->proc.out.buf)), line;
	struct buf list = { 0 };
	const char *bad = NULL, *lf;
	size_t n = 0;

	proc_fini(&p->proc);
	while (out.n > 1 && (lf = memchr(out.p, '\n', out.n)) != NULL) {
		line = (struct str){ out.p + 1, (size_t)(lf - out.p) - 1 };
		if (*out.p == '!')
			bad = arena_fmt(a, "name lookup failed: %.*s",
			    STRF(line)).p;
		else if (*out.p == '-' && !p->pool->allow_private)
			bad = arena_fmt(a, "it leads to a private address "
			    "(%.*s), which is not requested", STRF(line)).p;
		else if (n++ < ADDRESSES_MAX)
			buf_fmt(&list, memchr(line.p, ':', line.n) != NULL ?
			    "%s[%.*s]" : "%s%.*s", list.n > 0 ? "," : "",
			    STRF(line));
		out.n -= (size_t)(lf - out.p) + 1;
		out.p = lf + 1;
	}
	if (bad == NULL && n == 0)
		bad = "name lookup failed";
	if (bad != NULL)
		finish(p, bad);
	else
		request(p, arena_str(a, buf_str(&list)));
	buf_free(&list);
}

static void
next_url(struct probe *p)
{
	struct pool *k = p->pool;

	do {
		if (k->failed || k->next == k->n) {
			k->running--;
			return;
		}
		p->first = k->next;
		while (k->next < k->n && str_eq(k->use[k->next].u->url,
		    k->use[p->first].u->url))
			k->next++;
		p->n = k->next - p->first;
		p->url = k->use[p->first].u->url;
		p->hops = 0;
		p->get = false;
	} while (look_up(p) == -1);
}

static void
collect(struct pool *k, struct check *const *v, size_t n)
{
	struct check_url *u;
	size_t i;

	for (i = 0; i < n; i++)
		k->n += v[i]->nurls;
	k->use = NEW_N(&k->arena, struct use, k->n);
	k->n = 0;
	for (i = 0; i < n; i++) {
		v[i]->urls_checked = true;
		v[i]->links_total += v[i]->nurls;
		for (u = v[i]->urls; u != NULL; u = u->next)
			k->use[k->n++] = (struct use){ v[i], u };
	}
	if (k->n > 0)
		qsort(k->use, k->n, sizeof(*k->use), by_url);
}

int
check_urls(struct check *const *v, size_t n, bool allow_private, struct err *e)
{
	struct pool k = { .allow_private = allow_private, .err = e };
	struct probe probe[PARALLEL];
	struct loop *loop;
	size_t i;
	int r = 1;

	if (os_find(&k.arena, "curl") == NULL) {
		arena_free(&k.arena);
		return err_set(e, ERR_SYS, "--urls needs `curl`, which is not "
		    "installed (not found in PATH)");
	}
	loop = loop_new(NULL, e);
	if (loop == NULL)
		return -1;
	procs_init(&k.procs, loop, false);
	collect(&k, v, n);
	memset(probe, 0, sizeof(probe));
	for (i = 0; i < PARALLEL; i++) {
		probe[i].pool = &k;
		k.running++;
		next_url(&probe[i]);
	}
	while (k.running > 0 && r == 1)
		r = loop_turn(loop, e);
	procs_fini(&k.procs);
	loop_free(loop);
	arena_free(&k.arena);
	return k.failed || r == -1 ? -1 : 0;
}
