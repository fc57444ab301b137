/* SPDX-License-Identifier: ISC */
/*
 * Two framers: a message per line, and blocks after a Content-Length header, as
 * language servers use them; and the choice of a framer by the first bytes.
 */
#include "io/conn_internal.h"

#include <string.h>

#include "lib/http.h"

enum { HEADER_ROOM = 40 };	/* "Content-Length: ", 20 digits, CRLF CRLF */

static int
too_long(struct err *e)
{
	return err_set(e, ERR_LIMIT, "Message exceeds maximum size");
}

/* Blank lines are skipped.  The last line may lack its line end. */
static int
line_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t *seen = &c->seen, max = c->set->limits.message_max;
	const char *eol;
	size_t n;

	*used = 0;
	for (;;) {
		eol = in.n > *seen ? memchr(in.p + *seen, '\n',
		    in.n - *seen) : NULL;
		n = eol != NULL ? (size_t)(eol - in.p) : in.n;
		if (n > max)
			return too_long(e);
		*seen = n;
		if (eol == NULL && (!last || in.n == 0))
			return 0;
		*msg = (struct str){ in.p, n };
		*used += n + (eol != NULL);
		*seen = 0;
		if (str_trim(*msg).n > 0)
			return 1;
		if (eol == NULL)
			return 0;
		in.p += n + 1;
		in.n -= n + 1;
	}
}

static void
line_wrap(struct buf *b, size_t from)
{
	(void)from;
	buf_putc(b, '\n');
}

const struct conn_framer conn_line = {
	.name = "line", .next = line_next, .wrap = line_wrap,
};

/* Digits only; the limit is checked before the body is read. */
static int
read_length(struct str s, size_t max, size_t *n, struct err *e)
{
	size_t i;

	*n = 0;
	for (i = 0; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9')
			return err_set(e, ERR_SYNTAX,
			    "Content-Length is not a number");
		if (*n <= max)
			*n = *n * 10 + (size_t)(s.p[i] - '0');
	}
	if (s.n == 0)
		return err_set(e, ERR_SYNTAX, "Content-Length is empty");
	return *n > max ? too_long(e) : 0;
}

struct head {
	size_t length;
	bool has;
};

/*
 * "Name: value"; the name is a token (RFC 9110, section 5.6.2).  Headers other
 * than Content-Length are ignored.
 */
static int
read_header(struct head *h, struct str line, size_t max, struct err *e)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct str name, value;
	size_t n;

	if (colon == NULL)
		return err_set(e, ERR_SYNTAX, "header line without a colon");
	name = (struct str){ line.p, (size_t)(colon - line.p) };
	value = (struct str){ colon + 1, line.n - name.n - 1 };
	if (!http_name_ok(name))
		return err_set(e, ERR_SYNTAX, "invalid header name");
	if (!http_same(name, "Content-Length"))
		return 0;
	if (read_length(str_trim(value), max, &n, e) == -1)
		return -1;
	if (h->has && h->length != n)
		return err_set(e, ERR_SYNTAX,
		    "two different Content-Length headers");
	h->length = n;
	h->has = true;
	return 0;
}

static int
head_too_long(struct err *e)
{
	return err_set(e, ERR_LIMIT, "header block is too long");
}

/* Whether the bytes are the beginning of the word, or begin with it. */
static bool
is_prefix(struct str s, const char *word)
{
	size_t i;
	char c;

	for (i = 0; i < s.n && word[i] != '\0'; i++) {
		c = s.p[i];
		if (c >= 'A' && c <= 'Z')
			c = (char)(c - 'A' + 'a');
		if (c != word[i])
			return false;
	}
	return true;
}

/*
 * The first header of a block.  An HTTP request has a request line there: a
 * page in a browser can send one to any port, and its body is a message that
 * the page has chosen.
 */
static bool
begins_head(struct str in)
{
	return is_prefix(in, "content-length:") ||
	    is_prefix(in, "content-type:");
}

/*
 * Reads the head up to its empty line: 1 and its length in *bytes, 0 if it is
 * incomplete, -1 if it is malformed.  Lines end in LF or CRLF.
 */
static int
read_head(struct str in, size_t max, size_t *bytes, struct head *h,
    struct err *e)
{
	struct str line;
	const char *eol;
	size_t at = 0;

	while (at < in.n &&
	    (eol = memchr(in.p + at, '\n', in.n - at)) != NULL) {
		line = (struct str){ in.p + at, (size_t)(eol - in.p) - at };
		at += line.n + 1;
		if (at > CONN_HEAD_MAX)
			return head_too_long(e);
		if (str_trim(line).n > 0) {
			if (read_header(h, line, max, e) == -1)
				return -1;
			continue;
		}
		*bytes = at;
		return h->has ? 1 : err_set(e, ERR_SYNTAX,
		    "no Content-Length header");
	}
	return in.n > CONN_HEAD_MAX ? head_too_long(e) : 0;
}

size_t
conn_blank(struct str s)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == '\r' || s.p[n] == '\n'))
		n++;
	return n;
}

/* An incomplete head is read again each time; it is short and bounded. */
static int
lsp_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t *seen = &c->seen, bytes = 0;
	struct head h = { 0 };
	int rc;

	*used = 0;
	if (in.n < *seen && !last)
		return 0;		/* the body is incomplete */
	*used = conn_blank(in);	/* allowed between messages */
	in.p += *used;
	in.n -= *used;
	*seen = 0;
	if (!begins_head(in))
		return err_set(e, ERR_SYNTAX, "a message begins with the "
		    "header Content-Length or Content-Type");
	rc = read_head(in, c->set->limits.message_max, &bytes, &h, e);
	if (rc != 1)
		return rc;
	if (in.n - bytes < h.length) {
		*seen = bytes + h.length;
		return 0;
	}
	*msg = (struct str){ in.p + bytes, h.length };
	*used += bytes + h.length;
	return 1;
}

static void
lsp_wrap(struct buf *b, size_t from)
{
	static const struct str name = { "Content-Length: ", 16 };
	char text[HEADER_ROOM], *p = text + sizeof(text);
	size_t n = b->n - from, left = n, head;

	p -= 4;
	memcpy(p, "\r\n\r\n", 4);
	do
		*--p = (char)('0' + left % 10);
	while ((left /= 10) > 0);
	p -= name.n;
	memcpy(p, name.p, name.n);
	head = (size_t)(text + sizeof(text) - p);
	buf_put(b, (struct str){ p, head });
	if (b->full)
		return;
	memmove(b->p + from + head, b->p + from, n);
	memcpy(b->p + from, p, head);
}

const struct conn_framer conn_lsp = {
	.name = "lsp", .next = lsp_next, .wrap = lsp_wrap,
};

/* The other framers refuse a wrong start themselves. */
int
conn_check_start(const struct conn *c, struct str in, struct err *e)
{
	size_t i = c->seen;	/* white space so far */

	if (c->framer != &conn_line)
		return 1;
	in = i < in.n ? str_trim((struct str){ in.p + i, in.n - i }) : STR("");
	if (in.n == 0)
		return 0;
	if (in.p[0] == '{' || in.p[0] == '[')
		return 1;
	return err_set(e, ERR_SYNTAX, "the first byte of this connection, "
	    "0x%02x, does not begin a message; expected \"{\" or \"[\"",
	    (unsigned char)in.p[0]);
}

/* An HTTP method: capital letters, possibly followed by a space. */
static bool
is_method(struct str s)
{
	size_t i;

	for (i = 0; i < s.n && s.p[i] >= 'A' && s.p[i] <= 'Z'; i++)
		;
	return i == s.n || (i > 0 && s.p[i] == ' ');
}

/*
 * "cont" (case-insensitive) begins Content-Length or Content-Type.  Anything
 * else, even if it is not JSON, is a line and is answered with an error.
 */
const struct conn_framer *
conn_sniff(struct str head, bool last, bool http)
{
	bool block = is_prefix(head, "cont");

	head.n = head.n < 4 ? head.n : 4;
	http = http && is_method(head);
	if (head.n < 4 && (block || http) && !last)
		return NULL;
	if (block && head.n == 4)
		return &conn_lsp;
	return http && head.n > 0 ? &conn_http : &conn_line;
}
