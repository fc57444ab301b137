/* SPDX-License-Identifier: ISC */
/*
 * Access checks: Host, Origin, token, and the type of a body.
 *
 * A browser lets strangers reach loopback: a page from elsewhere can send
 * requests to this server, and its owner can make its name resolve to this
 * address.  So a name in Host must be a name of this server (an IP address
 * cannot resolve to another one), and Origin, which browsers send and pages
 * cannot forge, must equal Host.  Browsers also send Sec-Fetch-Site, with
 * requests that have no Origin, too.  Programs send neither.
 */
#include "web/web_internal.h"

#include <string.h>

#include "lib/http.h"

enum { REFUSED_MAX = 3 };	/* wrong tokens before disconnecting */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "a.b.c.d", each up to 255; *first is a. */
static bool
is_ipv4(struct str s, unsigned *first)
{
	unsigned parts = 0, n;
	size_t i = 0, k;

	while (parts < 4) {
		for (n = 0, k = 0; i < s.n && is_digit(s.p[i]) && k < 4; k++)
			n = n * 10 + (unsigned)(s.p[i++] - '0');
		if (k == 0 || k > 3 || n > 255)
			return false;
		if (parts++ == 0)
			*first = n;
		if (parts < 4 && (i == s.n || s.p[i++] != '.'))
			return false;
	}
	return i == s.n;
}

static bool
is_ipv6(struct str s)
{
	size_t i;

	if (s.n < 4 || s.p[0] != '[' || s.p[s.n - 1] != ']')
		return false;
	for (i = 1; i < s.n - 1; i++)
		if (hex_digit(s.p[i]) < 0 && s.p[i] != ':' && s.p[i] != '.')
			return false;
	return true;
}

/* An authority without its port and a final dot. */
static struct str
host_of(struct str s)
{
	size_t i = s.n;

	while (i > 0 && is_digit(s.p[i - 1]))
		i--;
	if (i > 0 && s.p[i - 1] == ':')
		s.n = i - 1;
	if (s.n > 1 && s.p[s.n - 1] == '.')
		s.n--;
	return s;
}

static bool
ends_in(struct str s, const char *tail)
{
	size_t n = strlen(tail);

	return s.n > n && http_same((struct str){ s.p + s.n - n, n }, tail);
}

static bool
is_ours(const struct web *w, struct str authority)
{
	struct str host = host_of(authority);
	unsigned first = 0;
	size_t i;

	if (http_same(host, "localhost") || ends_in(host, ".localhost") ||
	    http_same(host, "[::1]"))
		return true;
	if (is_ipv4(host, &first))
		return first == 127 || w->remote;
	if (is_ipv6(host))
		return w->remote;
	for (i = 0; i < w->nhosts; i++)
		if (http_same(host, w->hosts[i]))
			return true;
	return false;
}

static bool
is_same(struct str a, struct str b)
{
	size_t i;

	for (i = 0; i < a.n && i < b.n; i++)
		if ((a.p[i] | 0x20) != (b.p[i] | 0x20))
			return false;
	return a.n == b.n;
}

/* "http://" ("https://": behind a proxy) and the Host. */
static bool
is_own_origin(struct str origin, struct str authority)
{
	size_t n = str_starts(origin, STR("http://")) ? 7 :
	    str_starts(origin, STR("https://")) ? 8 : 0;

	return n > 0 && is_same((struct str){ origin.p + n, origin.n - n },
	    authority);
}

static bool
is_allowed_origin(const struct web *w, struct str origin)
{
	size_t i;

	for (i = 0; i < w->norigins; i++)
		if (str_is(origin, w->origins[i]))
			return true;
	return false;
}

/*
 * Whether a page of another server has caused the request.  It may send people
 * here: a link to the page of a run is a GET to navigate.
 */
static bool
is_foreign_page(const struct http_head *h)
{
	struct str site = http_get(h, "sec-fetch-site");

	if (site.p == NULL || http_same(site, "same-origin") ||
	    http_same(site, "none"))
		return false;
	return !http_same(http_get(h, "sec-fetch-mode"), "navigate") ||
	    (!str_is(h->method, "GET") && !str_is(h->method, "HEAD"));
}

static bool
forbid(struct web_conn *c, const char *why)
{
	web_fail(&c->req, 403, "forbidden", str_of(why), STR(""));
	return false;
}

/* Browsers cannot reach a unix socket, which has no host name either. */
bool
web_check_source(struct web_conn *c)
{
	struct str origin = http_get(c->req.head, "origin");

	if (c->authority.p != NULL && c->via != RPC_UNIX &&
	    !is_ours(c->web, c->authority))
		return forbid(c, "Host is not a name of this server");
	if (origin.p != NULL && is_allowed_origin(c->web, origin))
		return true;
	if (origin.p != NULL && !is_own_origin(origin, c->authority))
		return forbid(c, "Origin is not this server");
	if (is_foreign_page(c->req.head))
		return forbid(c, "Sec-Fetch-Site is not this server");
	return true;
}

/* The token that the request shows; p NULL: none. */
static struct str
shown(struct web_conn *c, bool query)
{
	struct str s = http_get(c->req.head, "authorization");
	struct str scheme = { s.p, s.n < 7 ? s.n : 7 };

	if (s.p != NULL && http_same(scheme, "bearer ")) {
		for (s.p += 7, s.n -= 7; s.n > 0 && s.p[0] == ' '; s.p++)
			s.n--;
		return s;
	}
	if (s.p == NULL && query &&
	    web_query(&c->req, "access_token", &s) && s.n > 0)
		return s;
	return (struct str){ NULL, 0 };
}

/*
 * A WebSocket can show the token later, with hello; one that shows a wrong
 * token is refused at once.
 */
bool
web_check_token(struct web_conn *c, unsigned flags, bool ws)
{
	struct web_req *r = &c->req;
	const struct rpc *rpc = c->web->rpc;
	struct str token;

	r->authed = c->authed || !rpc_needs_token(rpc, c->via);
	if (r->authed)
		return true;
	token = shown(c, ws || flags & WEB_QUERY_TOKEN);
	r->authed = token.p != NULL &&
	    rpc_same_secret(token, rpc->access.token);
	if (r->authed || (flags & WEB_OPEN && token.p == NULL) ||
	    (flags & WEB_OPEN && !ws))
		return true;
	if (token.p != NULL && ++c->refused >= REFUSED_MAX)
		c->keep = false;
	web_field(r, "WWW-Authenticate", STR("Bearer"));
	web_fail(r, 401, rpc_kind_name(RPC_AUTH_FAILED),
	    str_of(rpc_kind_text(RPC_AUTH_FAILED)), STR(""));
	return false;
}

/* A page can send other types, such as text/plain, without being asked. */
bool
web_check_type(struct web_conn *c, unsigned flags)
{
	struct str type = http_get(c->req.head, "content-type");
	const char *end = type.n > 0 ? memchr(type.p, ';', type.n) : NULL;

	if (end != NULL)
		type.n = (size_t)(end - type.p);
	if (!(flags & WEB_JSON) || c->via == RPC_UNIX || c->req.body.n == 0 ||
	    http_same(str_trim(type), "application/json"))
		return true;
	web_fail(&c->req, 415, "invalid_request",
	    STR("Content-Type must be application/json"), STR(""));
	return false;
}
