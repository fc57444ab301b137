/* SPDX-License-Identifier: ISC */
/*
 * Heads of HTTP/1.1 messages; sections refer to RFC 9112.  The parser is
 * strict where two readers could disagree about the end of a message (request
 * smuggling), and lenient elsewhere.
 */
#include "lib/http.h"

#include <string.h>

/* tchar of RFC 9110, section 5.6.2 */
static bool
is_token(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	    (c >= '0' && c <= '9') ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool
http_same(struct str s, const char *word)
{
	size_t i;

	for (i = 0; i < s.n && word[i] != '\0'; i++)
		if (lower(s.p[i]) != lower(word[i]))
			return false;
	return i == s.n && word[i] == '\0';
}

bool
http_name_ok(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (!is_token(s.p[i]))
			return false;
	return s.n > 0;
}

/* field-value of RFC 9110, section 5.5, including obs-text. */
bool
http_value_ok(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if (((unsigned char)s.p[i] < 0x20 && s.p[i] != '\t') ||
		    s.p[i] == 0x7F)
			return false;
	return true;
}

/* Removes OWS; unlike str_trim() not CR and LF, which must be refused. */
static struct str
trim(struct str s)
{
	while (s.n > 0 && is_blank(s.p[0])) {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && is_blank(s.p[s.n - 1]))
		s.n--;
	return s;
}

struct str
http_get(const struct http_head *h, const char *name)
{
	size_t i;

	for (i = 0; i < h->nfields; i++)
		if (http_same(h->field[i].name, name))
			return h->field[i].value;
	return (struct str){ NULL, 0 };
}

/* Removes the next element from a list; false at the end. */
static bool
next_word(struct str *list, struct str *word)
{
	const char *comma;

	while (list->n > 0) {
		comma = memchr(list->p, ',', list->n);
		*word = *list;
		if (comma != NULL)
			word->n = (size_t)(comma - list->p);
		list->p += word->n + (comma != NULL);
		list->n -= word->n + (comma != NULL);
		*word = trim(*word);
		if (word->n > 0)	/* empty elements are ignored */
			return true;
	}
	return false;
}

bool
http_has(const struct http_head *h, const char *name, const char *word)
{
	struct str list, w;
	size_t i;

	for (i = 0; i < h->nfields; i++) {
		if (!http_same(h->field[i].name, name))
			continue;
		for (list = h->field[i].value; next_word(&list, &w); )
			if (http_same(w, word))
				return true;
	}
	return false;
}

static int
refuse(struct http_head *h, int status, struct err *e, const char *why)
{
	if (h->side == HTTP_REQUEST)
		h->status = status;
	return err_set(e, status == 400 ? ERR_SYNTAX : ERR_LIMIT, "%s", why);
}

/*
 * The end of the head that begins at `from`, or 0.  *seen stays before a line
 * end that may turn out to be the last.
 */
static size_t
find_end(struct str in, size_t from, size_t *seen)
{
	size_t i = *seen > from ? *seen : from;
	const char *lf;

	for (; i < in.n; i++) {
		lf = memchr(in.p + i, '\n', in.n - i);
		if (lf == NULL)
			break;
		i = (size_t)(lf - in.p);
		if (i + 1 < in.n && in.p[i + 1] == '\n')
			return i + 2;
		if (i + 2 < in.n && in.p[i + 1] == '\r' &&
		    in.p[i + 2] == '\n')
			return i + 3;
		if (i + 1 == in.n || (i + 2 == in.n && in.p[i + 1] == '\r')) {
			*seen = i;
			return 0;
		}
	}
	*seen = in.n;
	return 0;
}

/* Removes the first line from *in; returns it without its end. */
static struct str
next_line(struct str *in)
{
	const char *lf = memchr(in->p, '\n', in->n);
	struct str line = { in->p, (size_t)(lf - in->p) };

	in->p += line.n + 1;
	in->n -= line.n + 1;
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return line;
}

/* The minor version of "HTTP/1.x" (section 2.3); -2: not 1, -1: malformed. */
static int
read_version(struct str v)
{
	if (v.n != 8 || memcmp(v.p, "HTTP/", 5) != 0 || !is_digit(v.p[5]) ||
	    v.p[6] != '.' || !is_digit(v.p[7]))
		return -1;
	return v.p[5] == '1' ? v.p[7] - '0' : -2;
}

static bool
is_target(struct str s)
{
	size_t i;

	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= 0x20 || s.p[i] == 0x7F)
			return false;
	return s.n > 0;
}

/* method SP target SP version (section 3) */
static int
read_request(struct http_head *h, struct str line, struct err *e)
{
	const char *a = memchr(line.p, ' ', line.n), *b;
	struct str rest;

	if (a == NULL)
		return refuse(h, 400, e, "malformed request line");
	h->method = (struct str){ line.p, (size_t)(a - line.p) };
	rest = (struct str){ a + 1, line.n - h->method.n - 1 };
	b = memchr(rest.p, ' ', rest.n);
	if (b == NULL || !http_name_ok(h->method))
		return refuse(h, 400, e, "malformed request line");
	h->target = (struct str){ rest.p, (size_t)(b - rest.p) };
	h->minor = read_version((struct str){ b + 1,
	    rest.n - h->target.n - 1 });
	if (h->minor == -2)
		return refuse(h, 505, e, "the HTTP version is not 1.0 or 1.1");
	if (h->minor < 0 || !is_target(h->target))
		return refuse(h, 400, e, "malformed request line");
	if (h->target.n > HTTP_TARGET_MAX)
		return refuse(h, 414, e, "the request target is too long");
	return 0;
}

/* version SP status SP reason (section 4); some servers omit the last SP */
static int
read_status(struct http_head *h, struct str line, struct err *e)
{
	struct str v = { line.p, line.n < 8 ? line.n : 8 };
	const char *p = line.p + 9;

	h->minor = read_version(v);
	if (h->minor < 0 || line.n < 12 || line.p[8] != ' ' ||
	    !is_digit(p[0]) || !is_digit(p[1]) || !is_digit(p[2]) ||
	    (line.n > 12 && p[3] != ' '))
		return refuse(h, 400, e, "malformed status line");
	h->status = (p[0] - '0') * 100 + (p[1] - '0') * 10 + (p[2] - '0');
	if (h->status < 100)
		return refuse(h, 400, e, "the status is below 100");
	h->reason = trim((struct str){ line.p + 12, line.n - 12 });
	return http_value_ok(h->reason) ? 0 :
	    refuse(h, 400, e, "a control character in the first line");
}

/* Section 5; a folded line (5.2) begins with a blank. */
static int
read_field(struct http_head *h, struct str line, struct err *e)
{
	const char *colon = memchr(line.p, ':', line.n);
	struct http_field *f;

	if (h->nfields == HTTP_FIELDS_MAX)
		return refuse(h, 431, e, "too many header fields");
	if (colon == NULL || is_blank(line.p[0]))
		return refuse(h, 400, e, "malformed header field");
	f = &h->field[h->nfields++];
	f->name = (struct str){ line.p, (size_t)(colon - line.p) };
	f->value = trim((struct str){ colon + 1, line.n - f->name.n - 1 });
	if (h->side == HTTP_RESPONSE)	/* section 5.1 */
		f->name = trim(f->name);
	if (!http_name_ok(f->name) || !http_value_ok(f->value))
		return refuse(h, 400, e, "invalid character in a header field");
	return 0;
}

/* Content-Length; may be repeated with the same value (section 6.3, 5). */
static int
read_size(struct http_head *h, bool *given, struct err *e)
{
	struct str list, w;
	uint64_t n;
	size_t i, k;

	for (i = 0; i < h->nfields; i++) {
		if (!http_same(h->field[i].name, "content-length"))
			continue;
		list = h->field[i].value;
		if (list.n == 0)
			return refuse(h, 400, e,
			    "Content-Length is not a number");
		while (next_word(&list, &w)) {
			for (n = 0, k = 0; k < w.n; k++) {
				if (!is_digit(w.p[k]) || k >= 18)
					return refuse(h, k >= 18 ? 413 : 400, e,
					    "Content-Length is not a number");
				n = n * 10 + (uint64_t)(w.p[k] - '0');
			}
			if (*given && n != h->size)
				return refuse(h, 400, e,
				    "conflicting Content-Length fields");
			*given = true;
			h->size = n;
		}
	}
	return 0;
}

/* Transfer-Encoding; only chunked is supported. */
static int
read_coding(struct http_head *h, bool *given, struct err *e)
{
	struct str list, w;
	size_t i;

	for (i = 0; i < h->nfields; i++) {
		if (!http_same(h->field[i].name, "transfer-encoding"))
			continue;
		for (list = h->field[i].value; next_word(&list, &w); ) {
			if (!http_same(w, "chunked"))
				return refuse(h, 501, e, "Transfer-Encoding "
				    "other than chunked is not supported");
			if (*given)
				return refuse(h, 400, e, "the body is chunked "
				    "twice");
			*given = true;
		}
		if (!*given)
			return refuse(h, 400, e, "Transfer-Encoding is empty");
	}
	return 0;
}

/* Section 6.3. */
static int
settle_length(struct http_head *h, struct err *e)
{
	bool sized = false, coded = false;

	if (read_size(h, &sized, e) == -1 || read_coding(h, &coded, e) == -1)
		return -1;
	if (h->side == HTTP_REQUEST && coded && (sized || h->minor == 0))
		return refuse(h, 400, e, "both Content-Length and "
		    "Transfer-Encoding");
	if (h->side == HTTP_RESPONSE && (h->status < 200 ||
	    h->status == 204 || h->status == 304))
		h->length = HTTP_NONE;
	else if (coded)
		h->length = HTTP_CHUNKED;
	else if (sized)
		h->length = HTTP_FIXED;
	else
		h->length = h->side == HTTP_REQUEST ? HTTP_NONE : HTTP_TO_END;
	h->keep = h->minor > 0 ? !http_has(h, "connection", "close") :
	    http_has(h, "connection", "keep-alive");
	if (h->length == HTTP_TO_END || (coded && (sized || h->minor == 0)))
		h->keep = false;
	return 0;
}

/* Section 3.2. */
static int
check_host(struct http_head *h, struct err *e)
{
	size_t i, n = 0;

	for (i = 0; i < h->nfields; i++)
		n += http_same(h->field[i].name, "host");
	if (n > 1 || (n == 0 && h->minor > 0))
		return refuse(h, 400, e, "a request must have one Host field");
	h->expects = h->minor > 0 && http_has(h, "expect", "100-continue");
	return 0;
}

static int
parse(struct http_head *h, struct str in, struct err *e)
{
	struct str line = next_line(&in);

	if ((h->side == HTTP_REQUEST ? read_request(h, line, e) :
	    read_status(h, line, e)) == -1)
		return -1;
	for (;;) {
		line = next_line(&in);
		if (line.n == 0)
			break;
		if (read_field(h, line, e) == -1)
			return -1;
	}
	if (h->side == HTTP_REQUEST && check_host(h, e) == -1)
		return -1;
	return settle_length(h, e);
}

/* Whether the input so far can be the beginning of a response. */
static bool
may_be_status(struct str in)
{
	return memcmp(in.p, "HTTP/1.", in.n < 7 ? in.n : 7) == 0;
}

int
http_head_read(struct http_head *h, enum http_side side, struct str in,
    size_t *seen, size_t *used, struct err *e)
{
	size_t from = 0, end;

	h->side = side;
	h->status = 0;
	h->nfields = 0;
	h->size = 0;
	h->method = h->target = h->reason = (struct str){ NULL, 0 };
	h->expects = h->keep = false;
	*used = 0;
	/* empty lines before a request (section 2.2) */
	while (side == HTTP_REQUEST && from < in.n &&
	    (in.p[from] == '\r' || in.p[from] == '\n'))
		from++;
	if (from == in.n)
		return from <= HTTP_HEAD_MAX ? 0 :
		    refuse(h, 400, e, "too many empty lines");
	if (side == HTTP_RESPONSE && !may_be_status(in))
		return refuse(h, 400, e, "the response is not HTTP/1.0 or "
		    "HTTP/1.1");
	end = find_end(in, from, seen);
	if ((end == 0 ? in.n : end) - from > HTTP_HEAD_MAX)
		return memchr(in.p + from, '\n', HTTP_HEAD_MAX) == NULL ?
		    refuse(h, 414, e, "the first line is too long") :
		    refuse(h, 431, e, "the header fields are too long");
	if (end == 0)
		return 0;
	*used = end;
	return parse(h, (struct str){ in.p + from, end - from }, e) == -1 ?
	    -1 : 1;
}
