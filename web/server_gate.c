/* SPDX-License-Identifier: ISC */
/*
 * Decides which peers are served without a token.
 *
 * A loopback port can be reached by every user of the machine, and its peers
 * run commands as the user of the server.  So without a token a peer is served
 * only if its socket belongs to that user or to root, who could run commands
 * as that user anyway.
 */
#include "web/server_internal.h"

#include <stdio.h>

#include "base/os_peer.h"

enum {
	LOG_MAX = 20,		/* lines in LOG_MS */
	LOG_MS = 10000
};

/*
 * The rules for TCP.  A server with a token demands it of every peer, unless
 * no_token is set, and of a peer elsewhere in any case.
 */
static const struct rule {
	enum server_entry usual, no_token;
	const char *why;	/* for the peer */
	const char *log;	/* for the server's owner */
} rules[] = {
	[OS_SAME_USER] = { SERVER_SERVED, SERVER_SERVED, NULL, NULL },
	[OS_ROOT] = { SERVER_SERVED, SERVER_SERVED, NULL, NULL },
	[OS_OTHER_USER] = { SERVER_REFUSED, SERVER_SERVED,
	    "Access denied: this server serves only the user who started it; "
	    "its owner can set a token, or use --no-token",
	    "its socket belongs to another user" },
	[OS_NOBODY] = { SERVER_REFUSED, SERVER_SERVED,
	    "Access denied: your socket is closed",
	    "its socket is closed already, so it belongs to nobody" },
	[OS_NOT_KNOWN] = { SERVER_REFUSED, SERVER_SERVED,
	    "Access denied: the server cannot find out which user you are; "
	    "its owner can set a token, or use --no-token",
	    "this system cannot tell whose socket it is" },
	[OS_ELSEWHERE] = { SERVER_REFUSED, SERVER_REFUSED,
	    "Access denied: other hosts need a token, and this server has "
	    "none",
	    "it is not on this machine, and there is no token" },
};

/* Fails to compile if an owner has no row. */
typedef char rows_are_complete[COUNTOF(rules) == OS_OWNER__MAX ? 1 : -1];

static void
log_refusal(struct server *s, int fd, enum os_owner owner, unsigned long uid)
{
	int64_t now = loop_now(s->rpc.loop);
	char msg[300], name[OS_ADDR_MAX], user[32] = "";

	if (s->log == NULL)
		return;
	if (s->logged == 0 || now - s->log_since > LOG_MS) {
		s->log_since = now;
		s->logged = 0;
	}
	if (++s->logged > LOG_MAX)
		return;
	os_peer_name(fd, name);
	if (owner == OS_OTHER_USER)
		snprintf(user, sizeof(user), " (uid %lu)", uid);
	snprintf(msg, sizeof(msg), "refused a connection from %s: %s%s; "
	    "set a token (WAZA_AUTH_TOKEN, --token-file)%s%s", name,
	    rules[owner].log, user, owner == OS_ELSEWHERE ? "" :
	    " or use --no-token", s->logged < LOG_MAX ? "" :
	    "; more of these are not logged for 10 seconds");
	s->log(msg);
}

enum server_entry
server_gate(struct server_port *port, int fd, const char **why)
{
	struct server *s = port->server;
	bool token = s->rpc.access.token.n > 0, open = s->no_token;
	enum server_entry entry;
	enum os_owner owner;
	unsigned long uid;

	*why = NULL;
	if (port->path != NULL)
		return rpc_needs_token(&s->rpc, RPC_UNIX) ? SERVER_TOKEN :
		    SERVER_SERVED;
	if (token && !open)
		return SERVER_TOKEN;
	owner = os_peer(fd, &uid);
	entry = open ? rules[owner].no_token : rules[owner].usual;
	if (entry != SERVER_REFUSED)
		return entry;
	if (token)
		return SERVER_TOKEN;
	*why = rules[owner].why;
	log_refusal(s, fd, owner, uid);
	return SERVER_REFUSED;
}
