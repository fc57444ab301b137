/* SPDX-License-Identifier: ISC */
/*
 * mock_internal.h: mock_.  The parts of a mocked MCP server: its client
 * (mock_serve.c), the real server behind it (mock_real.c), and the fixture that
 * is made of its answers (mock_fixture.c).
 */
#ifndef WAZA_MOCK_INTERNAL_H
#define WAZA_MOCK_INTERNAL_H

#include "io/conn.h"
#include "io/loop.h"
#include "io/proc.h"
#include "json.h"
#include "lib/mask/mask.h"
#include "mock/mock.h"

enum { MOCK_MESSAGE_MAX = 64 << 20 };	/* bytes from client or server */

/* A request of the client whose answer by the real server is looked at. */
struct mock_pending {
	struct mock_pending *next, **prev;
	struct arena arena;		/* which holds this struct, too */
	struct str id;			/* as JSON */
	bool lists;			/* tools/list, else tools/call */
	bool first;			/* of the pages of a list */
	struct str tool, arguments;	/* of a call; JSON */
};

/* A response that waits for its delay. */
struct mock_delayed {
	struct mock_delayed *next, **prev;
	struct arena arena;		/* which holds this struct, too */
	struct mock_link *link;
	struct timer timer;
	struct str id, message;
};

/* Tools and responses for a fixture. */
struct mock_fixture {
	struct arena arena;
	struct mock_learnt *tools;	/* in the order they were seen */
	struct mask secrets;
};

/* A server with its client. */
struct mock_link {
	const struct mock_serve *o;
	struct loop *loop;
	struct conns conns;
	struct conn *conn;		/* NULL: gone */
	struct mock_delayed *delayed;
	bool ended;			/* the client sends no more */
	/* the real server: */
	struct procs procs;
	struct proc proc;
	bool running;
	struct buf line;		/* an incomplete message of it */
	struct mock_pending *pending;
	struct timer grace;
	struct sig_watch sig[3];
	struct mock_fixture fixture;
	struct err err;			/* why it ended; code 0: properly */
};

/* Sends a message; writes [the tools] of the mock into a list. */
void mock_send(struct mock_link *, struct str message);
void mock_put_list(struct json_out *, const struct mock_tools *);
/* Ends the connection if nothing is left to send. */
void mock_check_end(struct mock_link *);
/* Records an MCP call; result is JSON.  -1: the call must fail. */
int mock_log_call(struct mock_link *, struct str tool, struct str arguments,
    struct str result, bool is_error, int response);

/*
 * mock_real.c.  start: 0, or -1 and *e.  forward: gives a message to the real
 * server; expect: the same for a request whose answer is looked at.  end:
 * closes its input.  fini: kills it.
 */
int mock_real_start(struct mock_link *, struct err *);
void mock_forward(struct mock_link *, struct str message);
void mock_expect(struct mock_link *, const struct json *message,
    struct str text, bool lists);
void mock_real_end(struct mock_link *);
void mock_real_fini(struct mock_link *);

/*
 * mock_fixture.c.  tools: a result of tools/list; call: a result, or an error,
 * of tools/call.  Both write the file again; -1 with the error.
 */
int mock_learn_tools(struct mock_link *, const struct json *list,
    struct err *);
int mock_learn_call(struct mock_link *, const struct mock_pending *,
    const struct json *answer, struct err *);

#endif
