/* SPDX-License-Identifier: ISC */
/*
 * Block scalars: header, extent, text.
 *
 * The extent is found first, then the decoded text is written over it,
 * starting at the break before it: no line gets longer, and that byte makes
 * room for the break which a last line without one gains.
 */
#include "lib/yaml/yaml_internal.h"

#include <string.h>

#include "json.h"

struct block {
	const char *from, *to;	/* its lines */
	int n;			/* indentation of the parent */
	int indent;		/* of the content; -1: not known yet */
	bool fold;		/* '>' */
	char chomp;		/* '-', '+', or 0 for clip */
	unsigned line;		/* of the header */
};

/* c-b-block-header [162]; its two indicators come in any order. */
static int
header(struct yaml_in *y, struct block *b)
{
	const char *p = y->p;

	b->fold = *p == '>';
	b->line = y->line;
	for (p++; !yaml_in_is(*p, YAML_IN_WHITE | YAML_IN_EOL); p++) {
		if ((*p == '-' || *p == '+') && b->chomp == 0)
			b->chomp = *p;
		else if (*p >= '1' && *p <= '9' && b->indent < 0)
			b->indent = (b->n < 0 ? 0 : b->n) + (*p - '0');
		else
			return yaml_in_bad(y, p, "only a digit from 1 to 9, + "
			    "or - may follow %c; the text starts on the next "
			    "line", *y->p);
	}
	y->p = p;
	p = yaml_in_skip_white(p);
	if (*p != '#' && !yaml_in_is(*p, YAML_IN_EOL))
		return yaml_in_bad(y, p, "the text after %c must start on the "
		    "next line", b->fold ? '>' : '|');
	y->p = p = yaml_in_eol(y, p);
	if (*p == '\n') {
		y->line++;
		y->bol = ++y->p;
	}
	b->from = y->p;
	return 0;
}

/* Auto-detection (section 8.1.1.1): the first line that is not empty. */
static int
detect(struct yaml_in *y, struct block *b)
{
	const char *p = y->p, *bol = p, *longest = p, *longest_bol = p;
	unsigned line = y->line, longest_line = line;

	for (;; p++, line++) {
		bol = p;
		while (*p == ' ')
			p++;
		if (*p != '\n')
			break;
		if (p - bol > longest - longest_bol) {
			longest = p;
			longest_bol = bol;
			longest_line = line;
		}
	}
	b->indent = (int)(p - bol);
	if (b->indent <= b->n || *p == '\0' ||
	    (p == bol && yaml_in_marker(p))) {	/* no content */
		b->indent = b->n + 1;
		if (longest - longest_bol > b->indent)
			b->indent = (int)(longest - longest_bol);
		if (*p == '\0' && p - bol > b->indent)
			b->indent = (int)(p - bol);
	} else if (longest - longest_bol > b->indent) {
		y->line = longest_line;
		y->bol = longest_bol;
		return yaml_in_bad(y, longest, "this empty line has more "
		    "spaces than the first line of the text after it");
	}
	return 0;
}

/* Moves y->p to the line that ends the scalar. */
static int
extent(struct yaml_in *y, struct block *b)
{
	const char *p;

	for (; *y->p != '\0'; y->bol = y->p, y->line++) {
		y->bol = p = y->p;
		while (*p == ' ' && p - y->bol < b->indent)
			p++;
		if (p - y->bol < b->indent && *p != '\n') {
			if (*p == '\t')
				return yaml_in_bad(y, p, "tab used for "
				    "indentation in the text that starts at "
				    "line %u; use spaces", b->line + 1);
			break;
		}
		if (p == y->bol && yaml_in_marker(p))
			break;
		if (p == y->bol && *p == '%')
			return yaml_in_bad(y, p, "a line of text that begins "
			    "with %% looks like a directive, which is not "
			    "supported; indent the text");
		p = yaml_in_eol(y, p);
		if (yaml_in_printable(y, y->p, p) != 0)
			return -1;
		y->p = p + (*p == '\n');
		if (*p == '\0')
			break;
	}
	b->to = y->p;
	return 0;
}

/* The content of the line at *p; moves *p to the next line. */
static struct str
take_line(const struct block *b, const char **p)
{
	const char *s = *p, *e;

	e = memchr(s, '\n', (size_t)(b->to - s));
	*p = e == NULL ? b->to : e + 1;
	e = e == NULL ? b->to : e;
	if (e - s < b->indent)
		return (struct str){ e, 0 };
	s += b->indent;
	return (struct str){ s, (size_t)(e - s) };
}

static char *
put_breaks(char *o, size_t n)
{
	memset(o, '\n', n);
	return o + n;
}

/*
 * Writes the lines with the breaks between them.  '>' folds [174-182]: a
 * single break between two lines that start with text becomes a space.
 * *blank is the number of empty lines at the end.
 */
static char *
write_lines(const struct block *b, char *o, size_t *blank)
{
	const char *p = b->from;
	bool first = true, text, was_text = false;
	struct str s;

	*blank = 0;
	while (p < b->to) {
		s = take_line(b, &p);
		if (s.n == 0) {
			/* spaces at the end of the file are not a line, unless
			 * there is no other */
			*blank += p[-1] == '\n' || (first && *blank == 0);
			continue;
		}
		text = !yaml_in_is(s.p[0], YAML_IN_WHITE);
		if (!first && b->fold && text && was_text) {
			if (*blank == 0)
				*o++ = ' ';
		} else if (!first) {
			*o++ = '\n';
		}
		o = put_breaks(o, *blank);
		memmove(o, s.p, s.n);
		o += s.n;
		*blank = 0;
		was_text = text;
		first = false;
	}
	return o;
}

int
yaml_block_read(struct yaml_in *y, int n, struct json *v)
{
	struct block b = { .n = n, .indent = -1 };
	char *text, *o;
	size_t blank;
	bool given;

	if (header(y, &b) != 0)
		return -1;
	given = b.indent >= 0;
	if ((!given && detect(y, &b) != 0) || extent(y, &b) != 0)
		return -1;
	text = yaml_in_write(y, b.from - 1);
	o = write_lines(&b, text, &blank);
	if (given && n < 0 && o > text) {
		yaml_in_bad(y, y->p, "an indentation indicator at the top "
		    "level is ambiguous: remove it");
		return err_at(y->err, v->line, v->col);
	}
	/* chomping, section 8.1.1.2 */
	if (o > text && b.chomp != '-')
		*o++ = '\n';
	if (b.chomp == '+')
		o = put_breaks(o, blank);
	v->type = JSON_STRING;
	v->u.text = text;
	v->n = (uint32_t)(o - text);
	yaml_in_lines(y);
	return 0;
}
