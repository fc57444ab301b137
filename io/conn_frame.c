/* SPDX-License-Identifier: ISC */
/*
 * Two framers: a message a line, and blocks with a Content-Length before
 * them, as language servers have it.
 */
#include "io/conn.h"

#include <string.h>

enum { HEADER_ROOM = 40 };	/* "Content-Length: ", 20 digits, CRLF CRLF */

static int
too_long(struct err *e)
{
	return err_set(e, ERR_LIMIT, "Message exceeds maximum size");
}

static bool
is_blank(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (s.p[i] != ' ' && s.p[i] != '\t' && s.p[i] != '\r')
			return false;
	return true;
}

/* Blank lines are nothing.  The last line needs no end. */
static int
line_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t *seen = conn_seen(c), max = conn_limits(c)->message_max;
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
		if (!is_blank(*msg))
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

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
}

static bool
same_name(struct str a, struct str b)
{
	size_t i;

	for (i = 0; i < a.n && i < b.n; i++)
		if (lower(a.p[i]) != lower(b.p[i]))
			return false;
	return a.n == b.n;
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t')) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (s.p[s.n - 1] == ' ' || s.p[s.n - 1] == '\t' ||
	    s.p[s.n - 1] == '\r'))
		s.n--;
	return s;
}

/* Digits only; the limit is checked before anything is stored. */
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

/* "Name: value"; of headers other than the length nobody cares. */
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
	if (!same_name(trim(name), STR("Content-Length")))
		return 0;
	if (read_length(trim(value), max, &n, e) == -1)
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

/*
 * The bytes of the head with its empty line, 0 when that is not there yet,
 * -1 when it makes no sense.  Lines end in LF or CRLF.
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
		if (trim(line).n > 0) {
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

/* The head is read again until it is whole; it is short, and bounded. */
static int
lsp_next(struct conn *c, struct str in, bool last, size_t *used,
    struct str *msg, struct err *e)
{
	size_t *seen = conn_seen(c), bytes = 0;
	struct head h = { 0 };
	int rc;

	*used = 0;
	if (in.n < *seen && !last)
		return 0;		/* the body is not all here */
	*used = conn_blank(in);	/* between messages they do no harm */
	in.p += *used;
	in.n -= *used;
	*seen = 0;
	rc = read_head(in, conn_limits(c)->message_max, &bytes, &h, e);
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

/* Capital letters, and maybe a blank after them: a method of HTTP. */
static bool
is_method(struct str s)
{
	size_t i;

	for (i = 0; i < s.n && s.p[i] >= 'A' && s.p[i] <= 'Z'; i++)
		;
	return i == s.n || (i > 0 && s.p[i] == ' ');
}

/*
 * Content-Length, Content-Type: the first four letters tell, in any case.
 * Everything else that JSON cannot begin with is a line too: a line that is
 * answered with an error.
 */
const struct conn_framer *
conn_sniff(struct str head, bool last, bool http)
{
	static const char word[] = "cont";
	bool block = true;
	size_t i;

	head.n = head.n < sizeof(word) - 1 ? head.n : sizeof(word) - 1;
	for (i = 0; i < head.n; i++)
		block &= lower(head.p[i]) == word[i];
	http = http && is_method(head);
	if (i < sizeof(word) - 1 && (block || http) && !last)
		return NULL;
	if (block && i == sizeof(word) - 1)
		return &conn_lsp;
	return http && i > 0 ? &conn_http : &conn_line;
}
