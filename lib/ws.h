/* SPDX-License-Identifier: ISC */
/*
 * ws.h: ws_.  WebSocket (RFC 6455): frames, messages, and the handshake of
 * both sides.  The reader takes input in pieces of any size.  Extensions are
 * not offered, so reserved bits must be 0.
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

/* Close codes, section 7.4.1, as far as waza sends them. */
enum {
	WS_NORMAL = 1000,
	WS_GOING_AWAY = 1001,
	WS_PROTOCOL = 1002,
	WS_NO_CODE = 1005,	/* the close frame is empty; never sent */
	WS_NOT_UTF8 = 1007,
	WS_POLICY = 1008,
	WS_TOO_BIG = 1009
};

enum {
	WS_CONTROL_MAX = 125,	/* bytes of a ping, pong or close */
	WS_HEAD_MAX = 14,	/* bytes before the payload */
	WS_MASK = 4,		/* bytes of a mask */
	WS_NONCE = 16,		/* bytes of a client's nonce */
	WS_KEY = 24,		/* the nonce in base64 */
	WS_ACCEPT = 28		/* bytes of the server's response to it */
};

/* A reader.  Set client and max, zero the rest. */
struct ws {
	bool client;		/* we are the client: input is not masked */
	size_t max;		/* bytes of a message; 0: unlimited */
	int code;		/* after -1: the code to close with */
	/* private from here */
	bool done;		/* the message was returned */
	bool fin;
	enum ws_op op;		/* of the frame */
	enum ws_op whole;	/* of the message; WS_MORE: none has begun */
	unsigned char head[WS_HEAD_MAX];
	size_t nhead;		/* bytes of it so far */
	bool body;		/* the head is complete */
	uint64_t left;		/* of the frame's payload */
	unsigned char mask[WS_MASK];
	size_t at;		/* index into the mask for the next byte */
	struct ws_text {	/* incremental UTF-8 check */
		unsigned char need, low, high;
	} text;
	struct buf msg;
	char control[WS_CONTROL_MAX];
	size_t ncontrol;
};

/* A complete message, or a ping, pong or close. */
struct ws_event {
	enum ws_op op;
	struct str data;	/* until the next call; of a close: reason */
	int code;		/* of a close; WS_NO_CODE if it has none */
};

/*
 * Consumes *used bytes of `in`.  Returns 1 with an event, 0 if all input was
 * used and more is needed, -1 if the connection must be closed with ws.code.
 * Text is checked as it arrives: invalid UTF-8 fails at its first wrong byte.
 */
int ws_next(struct ws *, struct str in, size_t *used, struct ws_event *,
    struct err *);
void ws_free(struct ws *);	/* frees the message buffer */

/* Whether a close frame may have that code (sections 7.4.1 and 7.4.2). */
bool ws_code_ok(int code);

/*
 * Each appends a frame.  mask is NULL for a server, four random bytes for a
 * client.  ws_put() writes a whole message or a control frame, ws_put_part()
 * a fragment, ws_put_close() a close frame; payloads of control frames are
 * truncated to their maximum.  ws_wrap() turns the bytes of the buffer from
 * `from` on into a frame.
 */
void ws_put(struct buf *, enum ws_op, struct str payload,
    const unsigned char *mask);
void ws_put_part(struct buf *, enum ws_op, bool fin, struct str payload,
    const unsigned char *mask);
void ws_put_close(struct buf *, int code, struct str reason,
    const unsigned char *mask);
void ws_wrap(struct buf *, size_t from, enum ws_op, const unsigned char *mask);

/*
 * The server's handshake, section 4.2.  ws_wanted(): whether the request asks
 * for an upgrade.  ws_refusal(): 0 if the request is valid, else the HTTP
 * status and the reason to refuse it.  ws_accept(): the response to a key.
 * ws_put_accept(): appends the head of a 101 response.
 */
bool ws_wanted(const struct http_head *);
int ws_refusal(const struct http_head *, const char **why);
void ws_accept(struct str key, char out[WS_ACCEPT]);
void ws_put_accept(struct buf *, const struct http_head *);

/*
 * The client's handshake, section 4.1.  ws_put_request() appends the request,
 * with the caller's fields (whole lines, each with its CRLF), and stores the
 * expected Sec-WebSocket-Accept.  ws_check_answer() checks the response,
 * whose head http_head_read() has read: 0, or -1.
 */
void ws_put_request(struct buf *, const struct http_url *, struct str fields,
    const unsigned char nonce[WS_NONCE], char accept[WS_ACCEPT]);
int ws_check_answer(const struct http_head *, const char accept[WS_ACCEPT],
    struct err *);

/* Parses ws://host:port/path; also accepts wss://, http:// and https://. */
int ws_url_read(struct str, struct http_url *, struct err *);

#endif
