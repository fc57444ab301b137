/* SPDX-License-Identifier: ISC */
/* URLs (RFC 3986, RFC 9110 section 4) and dates (RFC 9110 section 5.6.7). */
#include "lib/http.h"

#include <stdio.h>
#include <string.h>

static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
starts(struct str s, const char *word)
{
	size_t n = strlen(word);

	return s.n >= n && http_same((struct str){ s.p, n }, word);
}

static void
skip(struct str *s, size_t n)
{
	s->p += n;
	s->n -= n;
}

static int
read_port(struct str s, struct http_url *u, struct err *e)
{
	unsigned n = 0;
	size_t i;

	if (s.n == 0)
		return 0;
	for (i = 0; i < s.n && i < 6; i++) {
		if (!is_digit(s.p[i]))
			return err_set(e, ERR_SYNTAX, "the port of the URL is "
			    "not a number");
		n = n * 10 + (unsigned)(s.p[i] - '0');
	}
	if (n == 0 || n > 65535)
		return err_set(e, ERR_SYNTAX, "the port of the URL is not "
		    "from 1 to 65535");
	u->port = s;
	return 0;
}

/* Whether the characters can be a name or address; six: IPv6. */
static bool
is_host(struct str s, bool six)
{
	size_t i;

	for (i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!is_digit(c) && !(c >= 'a' && c <= 'z') &&
		    !(c >= 'A' && c <= 'Z') && c != '.' &&
		    (six ? c != ':' && c != '%' : c != '-' && c != '_'))
			return false;
	}
	return s.n > 0;
}

static int
read_authority(struct str s, struct http_url *u, struct err *e)
{
	const char *end;
	bool six = s.n > 0 && s.p[0] == '[';

	u->authority = s;
	if (memchr(s.p, '@', s.n) != NULL)
		return err_set(e, ERR_SYNTAX, "the URL contains a user name; "
		    "set keys in the environment instead");
	end = memchr(s.p, six ? ']' : ':', s.n);
	if (six && end == NULL)
		return err_set(e, ERR_SYNTAX, "\"]\" is missing in the URL");
	u->host = s;
	if (end != NULL)
		u->host.n = (size_t)(end - s.p);
	skip(&s, u->host.n + six);
	if (six)
		skip(&u->host, 1);
	if (!is_host(u->host, six))
		return err_set(e, ERR_SYNTAX, "the host of the URL is missing "
		    "or invalid");
	if (s.n > 0 && s.p[0] != ':')
		return err_set(e, ERR_SYNTAX, "unexpected text after \"]\" in "
		    "the URL");
	if (s.n > 0)
		skip(&s, 1);
	return read_port(s, u, e);
}

int
http_url_rest(struct str s, bool tls, struct http_url *u, struct err *e)
{
	const char *end = memchr(s.p, '#', s.n);
	struct str auth;
	size_t i;

	*u = (struct http_url){ .tls = tls };
	u->port = tls ? STR("443") : STR("80");
	if (end != NULL)
		s.n = (size_t)(end - s.p);
	for (i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] <= 0x20 || s.p[i] == 0x7F)
			return err_set(e, ERR_SYNTAX, "the URL contains a "
			    "space or control character");
	for (i = 0; i < s.n && s.p[i] != '/' && s.p[i] != '?'; i++)
		;
	auth = (struct str){ s.p, i };
	skip(&s, i);
	if (s.n > 0 && s.p[0] == '?')
		return err_set(e, ERR_SYNTAX, "the path before \"?\" is "
		    "missing in the URL");
	u->path = s.n > 0 ? s : STR("/");
	return read_authority(auth, u, e);
}

int
http_url_read(struct str s, struct http_url *u, struct err *e)
{
	bool tls = starts(s, "https://");

	if (!tls && !starts(s, "http://"))
		return err_set(e, ERR_SYNTAX, "the URL must begin with http:// "
		    "or https://");
	skip(&s, tls ? 8 : 7);
	return http_url_rest(s, tls, u, e);
}

/* Days since 1970 of a date in the Gregorian calendar. */
static int64_t
days(int64_t y, int m, int d)
{
	int64_t era;
	unsigned yoe, doy, doe;

	y -= m <= 2;
	era = y / 400;
	yoe = (unsigned)(y - era * 400);
	doy = (unsigned)((153 * (m + (m > 2 ? -3 : 9)) + 2) / 5 + d - 1);
	doe = yoe * 365 + yoe / 4 - yoe / 100 + doy;
	return era * 146097 + (int64_t)doe - 719468;
}

/* Removes n digits and returns their value, or -1; " 6" is allowed. */
static int
number(struct str *s, size_t n)
{
	int v = 0;
	size_t i;

	if (s->n < n)
		return -1;
	for (i = 0; i < n; i++) {
		if (i == 0 && n == 2 && s->p[0] == ' ')
			continue;
		if (!is_digit(s->p[i]))
			return -1;
		v = v * 10 + (s->p[i] - '0');
	}
	skip(s, n);
	return v;
}

static bool
word(struct str *s, const char *w)
{
	if (!starts(*s, w))
		return false;
	skip(s, strlen(w));
	return true;
}

static int
month(struct str *s)
{
	int i;

	for (i = 0; i < 12 && s->n >= 3; i++)
		if (memcmp(s->p, months + (ptrdiff_t)i * 3, 3) == 0) {
			skip(s, 3);
			return i + 1;
		}
	return -1;
}

struct moment {
	int year, month, day, hour, min, sec;
};

static bool
clock_time(struct str *s, struct moment *m)
{
	m->hour = number(s, 2);
	if (!word(s, ":"))
		return false;
	m->min = number(s, 2);
	if (!word(s, ":"))
		return false;
	m->sec = number(s, 2);
	return true;
}

/*
 * "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT" or
 * "Sun Nov  6 08:49:37 1994".  The day of the week is ignored.
 */
static bool
read_moment(struct str s, struct moment *m)
{
	const char *comma = memchr(s.p, ',', s.n);
	bool old;

	if (comma == NULL) {
		if (s.n < 4)
			return false;
		skip(&s, 4);
		m->month = month(&s);
		if (!word(&s, " "))
			return false;
		m->day = number(&s, 2);
		if (!word(&s, " ") || !clock_time(&s, m) || !word(&s, " "))
			return false;
		m->year = number(&s, 4);
		return s.n == 0;
	}
	skip(&s, (size_t)(comma - s.p) + 1);
	if (!word(&s, " "))
		return false;
	m->day = number(&s, 2);
	old = word(&s, "-");
	if (!old && !word(&s, " "))
		return false;
	m->month = month(&s);
	if (!word(&s, old ? "-" : " "))
		return false;
	m->year = number(&s, old ? 2 : 4);
	if (old && m->year >= 0)
		m->year += m->year < 70 ? 2000 : 1900;
	return word(&s, " ") && clock_time(&s, m) && word(&s, " GMT") &&
	    s.n == 0;
}

bool
http_date(struct str s, int64_t *seconds)
{
	struct moment m;

	if (s.n == 0 || !read_moment(s, &m) || m.year < 0 || m.month < 1 ||
	    m.day < 1 || m.day > 31 || m.hour < 0 || m.hour > 23 ||
	    m.min < 0 || m.min > 59 || m.sec < 0 || m.sec > 60)
		return false;
	*seconds = days(m.year, m.month, m.day) * 86400 + m.hour * 3600 +
	    m.min * 60 + m.sec;
	return true;
}

/* The year, month and day of a day since 1970. */
static void
civil(int64_t day, int *y, int *m, int *d)
{
	int64_t z = day + 719468, era = z / 146097;
	unsigned doe = (unsigned)(z - era * 146097);
	unsigned yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
	unsigned doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
	unsigned mp = (5 * doy + 2) / 153;

	*d = (int)(doy - (153 * mp + 2) / 5) + 1;
	*m = (int)(mp < 10 ? mp + 3 : mp - 9);
	*y = (int)(era * 400 + yoe) + (*m <= 2);
}

void
http_date_put(int64_t seconds, char out[HTTP_DATE])
{
	static const char names[] = "ThuFriSatSunMonTueWed";
	int64_t day = seconds / 86400;
	int y, m, d, s = (int)(seconds % 86400);
	char text[128];

	civil(day, &y, &m, &d);
	snprintf(text, sizeof(text),
	    "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", names + day % 7 * 3, d,
	    months + (ptrdiff_t)(m - 1) * 3, y, s / 3600, s / 60 % 60, s % 60);
	memcpy(out, text, HTTP_DATE);
}
