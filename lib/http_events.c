/* SPDX-License-Identifier: ISC */
/*
 * Server-sent events, read as browsers do: lines end in LF, CR or CRLF, a line
 * that begins with a colon is a comment, data lines are joined by LF, and a
 * blank line ends an event.
 */
#include "lib/http.h"

#include <string.h>

static void
end_event(struct http_events *s)
{
	if (s->some)
		s->event(s->arg, buf_str(&s->data));
	s->some = false;
	s->data.n = 0;
}

static void
take_line(struct http_events *s)
{
	struct str line = buf_str(&s->line);

	if (line.n == 0) {
		end_event(s);
		return;
	}
	if (!str_starts(line, STR("data")) ||
	    (line.n > 4 && line.p[4] != ':'))
		return;
	line.p += line.n > 4 ? 5 : 4;
	line.n -= line.n > 4 ? 5 : 4;
	if (line.n > 0 && line.p[0] == ' ') {
		line.p++;
		line.n--;
	}
	if (s->some)
		buf_putc(&s->data, '\n');
	s->some = true;
	buf_put(&s->data, line);
}

void
http_events_put(struct http_events *s, struct str in)
{
	size_t i;

	while (in.n > 0) {
		if (s->cr && in.p[0] == '\n') {
			s->cr = false;
			in.p++;
			in.n--;
			continue;
		}
		s->cr = false;
		for (i = 0; i < in.n && in.p[i] != '\n' && in.p[i] != '\r'; )
			i++;
		buf_put(&s->line, (struct str){ in.p, i });
		if (i == in.n)
			return;
		s->cr = in.p[i] == '\r';
		take_line(s);
		s->line.n = 0;
		in.p += i + 1;
		in.n -= i + 1;
	}
}

/* Some servers omit the last blank line; an incomplete line is dropped. */
void
http_events_end(struct http_events *s)
{
	if (s->line.n == 0)
		end_event(s);
	http_events_free(s);
}

void
http_events_free(struct http_events *s)
{
	buf_free(&s->line);
	buf_free(&s->data);
	s->some = s->cr = false;
}
