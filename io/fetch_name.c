/* SPDX-License-Identifier: ISC */
/*
 * Looks up the addresses of a host with a child: getaddrinfo(3) blocks for as
 * long as a name server takes, and all trials would wait for it.  getent(1)
 * prints the addresses, one per line.  Where it is missing or lacks `ahosts`,
 * getaddrinfo(3) is used.
 *
 * All requests of a run share the addresses for a minute.
 */
#include "io/fetch_internal.h"

#include <string.h>

enum {
	FRESH_MS = 60 * 1000,
	OUTPUT_MAX = 16 << 10,
	NOT_FOUND = 2		/* exit status; others: not supported */
};

/* An address consists of digits and dots, or contains a colon. */
bool
fetch_name_plain(struct str host)
{
	size_t i;
	bool digits = true;

	for (i = 0; i < host.n; i++) {
		if (host.p[i] == ':')
			return true;
		digits = digits && ((host.p[i] >= '0' && host.p[i] <= '9') ||
		    host.p[i] == '.');
	}
	return digits || http_same(host, "localhost");
}

bool
fetch_name_known(const struct fetch *f)
{
	const struct fetch_names *k = f->o.names;

	return k != NULL && k->n > 0 && str_eq(k->host, f->o.url.host) &&
	    loop_now(f->o.procs->loop) - k->at < FRESH_MS;
}

void
fetch_name_forget(struct fetch *f)
{
	if (f->o.names != NULL)
		f->o.names->n = 0;
}

static void
add_address(struct fetch_names *k, struct str addr)
{
	size_t i;

	if (addr.n == 0 || addr.n >= sizeof(k->v[0]) ||
	    k->n == FETCH_NAMES_MAX)
		return;
	for (i = 0; i < k->n; i++)
		if (str_is(addr, k->v[i]))
			return;
	memcpy(k->v[k->n], addr.p, addr.n);
	k->v[k->n++][addr.n] = '\0';
}

/* Lines like "93.184.215.14  STREAM example.com", several per address. */
static void
read_addresses(struct fetch_names *k, struct str text)
{
	const char *end;
	size_t n;

	for (; text.n > 0; text.p += n, text.n -= n) {
		end = memchr(text.p, '\n', text.n);
		n = end != NULL ? (size_t)(end - text.p) + 1 : text.n;
		for (end = text.p; end < text.p + n && *end != ' ' &&
		    *end != '\t' && *end != '\n'; )
			end++;
		add_address(k, (struct str){ text.p, (size_t)(end - text.p) });
	}
}

static void
on_done(void *arg)
{
	struct fetch *f = arg;
	struct fetch_names *k = f->o.names;
	struct str out = buf_str(&f->proc.out.buf);
	int status = f->proc.res.status;

	k->n = 0;
	k->at = loop_now(f->o.procs->loop);
	k->host = f->o.url.host;
	if (status == 0)
		read_addresses(k, out);
	proc_fini(&f->proc);
	if (k->n > 0 || status != NOT_FOUND) {
		fetch_connect(f, k->n > 0);
		return;
	}
	err_set(&f->err, ERR_SYS, "cannot resolve %.*s: no such host",
	    STRF(f->o.url.host));
	fetch_finish(f, FETCH_LOST);
}

int
fetch_name_start(struct fetch *f)
{
	const char *argv[] = { "getent", "ahosts", NULL, NULL };
	struct proc_opts o = { .argv = argv, .env = f->o.env,
		.out_max = OUTPUT_MAX, .err_max = 1, .done = on_done,
		.arg = f };
	struct err e;

	argv[2] = arena_cstr(&f->arena, f->o.url.host);
	if (argv[2] == NULL || argv[2][0] == '-')
		return -1;
	return proc_start(f->o.procs, &f->proc, &o, &e);
}
