/* SPDX-License-Identifier: ISC */
/*
 * ws.h: ws_.  WebSocket (RFC 6455): frames in, messages out, and back; the
 * handshake of both sides.  Pure: no descriptor, in pieces of any size.
 * Extensions are not offered, so that no bit of a frame is free.
 */
#ifndef WAZA_WS_H
#define WAZA_WS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/base.h"

struct http_head;
struct http_url;

/* Opcodes, section 5.2. */
enum ws_op {
	WS_MORE = 0, WS_TEXT = 1, WS_BINARY = 2,
	WS_CLOSE = 8, WS_PING = 9, WS_PONG = 10
};

/* Why a connection ends, section 7.4.1; of those that we send. */
enum {
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_PROTOCOL = 1002,
	WS_NO_CODE = 1005,	/* none was given; never on the wire */
	WS_NOT_UTF8 = 1007,
	WS_POLICY = 1008,
	WS_TOO_BIG = 1009
};

enum {
	WS_CONTROL_MAX = 125,	/* bytes of a ping, pong or close */
	WS_HEAD_MAX = 14,	/* bytes before the payload */
	WS_MASK = 4,		/* bytes of a mask */
	WS_NONCE = 16,		/* bytes of a client's nonce, */
	WS_KEY = 24,		/* spelt in base64 */
	WS_ACCEPT = 28		/* and of the server's answer to it */
};

/*
 * What comes.  Set client and max, zero the rest.
 */
struct ws {
	bool client;		/* we are: what comes is not masked */
	size_t max;		/* bytes of a message; 0: any */
	int code;		/* after -1: what to close with */
	/* private from here */
	bool done;		/* the message was handed on */
	bool fin;
	enum ws_op op;		/* of the frame */
	enum ws_op whole;	/* of the message, WS_MORE: none has begun */
	unsigned char head[WS_HEAD_MAX];
	size_t nhead;		/* bytes of it so far */
	bool body;		/* the head is done with */
	uint64_t left;		/* of the frame's payload */
	unsigned char mask[WS_MASK];
	size_t at;		/* the next byte's place in the mask */
	struct ws_text {	/* of UTF-8: what may come next */
		unsigned char need, low, high;
	} text;
	struct buf msg;
	char control[WS_CONTROL_MAX];
	size_t ncontrol;
};

/* A message that is whole, or a ping, pong or close. */
struct ws_event {
	enum ws_op op;
	struct str data;	/* until the next call; of a close: why */
	int code;		/* of a close: or WS_NO_CODE */
};

/*
 * Takes *used bytes of `in`: 1 and an event, 0 when all is used and it takes
 * more, -1 when the peer must be sent away with ws.code.  Text is checked as
 * it comes, so that what is no UTF-8 fails at its first wrong byte.
 */
int ws_next(struct ws *, struct str in, size_t *used, struct ws_event *,
    struct err *);
void ws_free(struct ws *);

/* Whether a close may have that code (sections 7.4.1 and 7.4.2). */
bool ws_code_ok(int code);

/*
 * One frame that is a whole message, or a control frame (then the payload is
 * cut at its maximum).  mask: NULL for a server's, four random bytes for a
 * client's.  ws_wrap() makes a frame of what was appended from `from` on.
 */
void ws_put(struct buf *, enum ws_op, struct str payload,
    const unsigned char *mask);
void ws_put_part(struct buf *, enum ws_op, bool fin, struct str payload,
    const unsigned char *mask);
void ws_put_close(struct buf *, int code, struct str reason,
    const unsigned char *mask);
void ws_wrap(struct buf *, size_t from, enum ws_op, const unsigned char *mask);

/*
 * The handshake, section 4.  A request wants a WebSocket when it says so; then
 * ws_refusal() is 0, or the status to refuse it with and why.
 */
bool ws_wanted(const struct http_head *);
int ws_refusal(const struct http_head *, const char **why);
void ws_accept(struct str key, char out[WS_ACCEPT]);
void ws_put_accept(struct buf *, const struct http_head *);	/* 101 */

/*
 * The client's side: a request, with fields (whole lines, each with its CRLF)
 * of the caller's, and what the answer must have; then whether it has it.
 * The head of the answer is read with http_head_read().
 */
void ws_put_request(struct buf *, const struct http_url *, struct str fields,
    const unsigned char nonce[WS_NONCE], char accept[WS_ACCEPT]);
int ws_check_answer(const struct http_head *, const char accept[WS_ACCEPT],
    struct err *);

/* ws://host:port/path, wss:// or their http equals. */
int ws_url_read(struct str, struct http_url *, struct err *);

#endif
