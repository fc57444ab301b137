/* SPDX-License-Identifier: ISC */
/* result_time.c: times in results files, as RFC 3339 writes them. */
#include "results/result.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#define SECOND INT64_C(1000000000)	/* in nanoseconds */

/* Minutes that local time is ahead of universal time. */
static int
ahead(const struct tm *local, const struct tm *utc)
{
	int day = local->tm_yday - utc->tm_yday;

	if (local->tm_year != utc->tm_year)
		day = local->tm_year > utc->tm_year ? 1 : -1;
	return (day * 24 + local->tm_hour - utc->tm_hour) * 60 +
	    local->tm_min - utc->tm_min;
}

void
result_time(char out[RESULT_TIME_MAX], int64_t wall_ns)
{
	time_t sec = (time_t)(wall_ns / SECOND);
	int ns = (int)(wall_ns % SECOND), by;
	struct tm local = { 0 }, utc = { 0 };
	size_t n;

	if (ns < 0) {
		ns += (int)SECOND;
		sec--;
	}
	(void)localtime_r(&sec, &local);
	(void)gmtime_r(&sec, &utc);
	n = strftime(out, RESULT_TIME_MAX, "%Y-%m-%dT%H:%M:%S", &local);
	if (ns != 0) {
		n += (size_t)snprintf(out + n, 11, ".%09d", ns);
		while (out[n - 1] == '0')
			n--;
	}
	by = ahead(&local, &utc);
	if (by == 0)
		memcpy(out + n, "Z", 2);
	else
		(void)snprintf(out + n, 7, "%c%02d:%02d", by < 0 ? '-' : '+',
		    (by < 0 ? -by : by) / 60 % 100,
		    (by < 0 ? -by : by) % 60);
}

/* Takes one of the characters in `any` from the front, or returns '\0'. */
static char
take_char(struct str *s, const char *any)
{
	char c = s->n > 0 ? s->p[0] : '\0';

	if (c == '\0' || strchr(any, c) == NULL)
		return '\0';
	s->p++;
	s->n--;
	return c;
}

static bool
take_number(struct str *s, size_t digits, int64_t *out)
{
	char c;

	for (*out = 0; digits > 0; digits--) {
		c = take_char(s, "0123456789");
		if (c == '\0')
			return false;
		*out = *out * 10 + (c - '0');
	}
	return true;
}

/* Days since 1970.  Years begin in March, so that a leap day comes last. */
static int64_t
days(int64_t y, int64_t m, int64_t d)
{
	y -= m <= 2;
	m += m <= 2 ? 9 : -3;
	return y * 365 + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + d -
	    719469;
}

/* An optional fraction of a second. */
static int64_t
take_fraction(struct str *s)
{
	int64_t ns = 0, unit = SECOND / 10, digit;

	if (take_char(s, ".,"))
		for (; take_number(s, 1, &digit); unit /= 10)
			ns += digit * unit;
	return ns;
}

/* An optional zone, in minutes; without one the time is universal. */
static bool
take_zone(struct str *s, int64_t *minutes)
{
	int64_t h, m;
	char c = take_char(s, "Zz+-");

	*minutes = 0;
	if (c == '+' || c == '-') {
		if (!take_number(s, 2, &h))
			return false;
		(void)take_char(s, ":");
		if (!take_number(s, 2, &m) || h > 23 || m > 59)
			return false;
		*minutes = (c == '-' ? -1 : 1) * (h * 60 + m);
	}
	return s->n == 0;
}

int64_t
result_parse_time(struct str s)
{
	static const struct {
		size_t digits;
		const char *then;	/* the character that follows */
		int64_t min, max;
	} fields[] = {
		{ 4, "-", 1970, 2200 }, { 2, "-", 1, 12 }, { 2, "Tt ", 1, 31 },
		{ 2, ":", 0, 24 }, { 2, ":", 0, 59 }, { 2, "", 0, 60 },
	};
	int64_t v[COUNTOF(fields)], ns, zone;
	size_t i;

	for (i = 0; i < COUNTOF(fields); i++)
		if (!take_number(&s, fields[i].digits, &v[i]) ||
		    v[i] < fields[i].min || v[i] > fields[i].max ||
		    (*fields[i].then != '\0' &&
		    take_char(&s, fields[i].then) == '\0'))
			return 0;
	ns = take_fraction(&s);
	if (!take_zone(&s, &zone))
		return 0;
	return (((days(v[0], v[1], v[2]) * 24 + v[3]) * 60 + v[4] - zone) * 60 +
	    v[5]) * SECOND + ns;
}
