/* SPDX-License-Identifier: ISC */
/*
 * Values that the text around them tells to be secret.
 *
 *	scheme://user:SECRET@host	https://SECRET@host, if it is long
 *	-u user:SECRET			--user=user:SECRET
 *	--password=SECRET		--api-token SECRET
 *	mysql -pSECRET			sshpass -p SECRET
 *	API_KEY=SECRET			Authorization: SECRET
 *
 * A reference to a variable, as in --token $TOKEN, is not a secret, and ids as
 * in -u 1000:1000 are none.
 */
#include "lib/mask/mask.h"

#include <string.h>

#include "lib/http.h"

enum {
	URL_MAX = 2048,		/* bytes of user, password, host and port */
	USER_MIN = 20,		/* bytes of a user that may be a token */
	COMMAND_MAX = 256	/* bytes of a command before its -p */
};

static const struct str none = { NULL, 0 };

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static bool
is_quote(char c)
{
	return c == '"' || c == '\'' || c == '`';
}

/* Whether the character ends a word of a shell, or of a similar text. */
static bool
is_break(char c)
{
	return is_blank(c) || is_quote(c) || strchr(";|&()<>", c) != NULL;
}

static struct str
rest(struct str text, size_t at)
{
	return (struct str){ text.p + at, text.n - at };
}

static struct str
word_of(struct str text)
{
	size_t n = 0;

	while (n < text.n && !is_break(text.p[n]))
		n++;
	return (struct str){ text.p, n };
}

/* The word at the start of the text, or what its quotes contain. */
static struct str
value_of(struct str text)
{
	size_t n = 1;

	if (text.n == 0 || !is_quote(text.p[0]))
		return word_of(text);
	while (n < text.n && text.p[n] != text.p[0])
		n++;
	return (struct str){ text.p + 1, n - 1 };
}

/* The value of an option: after its = sign, or the next word. */
static struct str
option_value(struct str text, size_t name)
{
	struct str s = rest(text, name);

	if (s.n > 0 && s.p[0] == '=')
		return value_of(rest(s, 1));
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = rest(s, 1);
	return s.n > 0 && s.p[0] != '-' && s.p > text.p + name ? value_of(s) :
	    none;
}

static bool
is_digits(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9')
		i++;
	return i == s.n;
}

/* The password of user:password, which ends before `end`. */
static struct str
after_user(struct str s, const char *end)
{
	const char *colon = s.n > 0 ? memchr(s.p, ':', s.n) : NULL;
	struct str user, secret;

	if (colon == NULL || colon == s.p)
		return none;
	user = (struct str){ s.p, (size_t)(colon - s.p) };
	secret = rest(s, user.n + 1);
	if (secret.n == 0 && !is_quote(s.p[-1]) && s.p + s.n < end &&
	    is_quote(s.p[s.n])) {	/* user:"password" */
		secret = value_of((struct str){ s.p + s.n, (size_t)(end -
		    s.p) - s.n });
		if (secret.p + secret.n == end)	/* the quote is not closed */
			return none;
	}
	return is_digits(user) && is_digits(secret) ? none : secret;
}

static bool
ends_in(struct str name, const char *const *words, size_t n)
{
	struct str tail;
	size_t i;

	for (i = 0; i < n; i++) {
		if (name.n < strlen(words[i]))
			continue;
		tail = rest(name, name.n - strlen(words[i]));
		if (http_same(tail, words[i]) && (tail.n == name.n ||
		    strchr("-_.", tail.p[-1]) != NULL))
			return true;
	}
	return false;
}

static struct str
in_option(struct str text)
{
	static const char *const secrets[] = { "password", "passwd",
		"passphrase", "secret", "token", "apikey", "api-key",
		"api_key", "access-key", "access_key" };
	static const char *const users[] = { "u", "U", "user", "proxy-user" };
	struct str word = word_of(text), name;
	size_t n = 0, i;

	while (n < word.n && word.p[n] != '=')
		n++;
	for (i = 0; i < n && i < 2 && word.p[i] == '-'; )
		i++;
	name = (struct str){ word.p + i, n - i };
	if (ends_in(name, secrets, COUNTOF(secrets)))
		return option_value(text, n);
	for (i = 0; i < COUNTOF(users); i++)
		if (str_is(name, users[i]))
			return after_user(option_value(text, n),
			    text.p + text.n);
	/* -uuser:password */
	return str_starts(word, STR("-u")) ? after_user(rest(word, 2),
	    text.p + text.n) : none;
}

enum program { PROGRAM_OTHER, PROGRAM_MYSQL, PROGRAM_SSHPASS };

static enum program
program_of(struct str word)
{
	static const char *const names[] = { "mysql", "mysqladmin",
		"mysqlcheck", "mysqldump", "mysqlimport", "mysqlpump",
		"mysqlshow", "mariadb", "mariadb-admin", "mariadb-dump" };
	size_t i, n = word.n;

	while (n > 0 && word.p[n - 1] != '/')
		n--;
	word = rest(word, n);
	for (i = 0; i < COUNTOF(names); i++)
		if (str_is(word, names[i]))
			return PROGRAM_MYSQL;
	return str_is(word, "sshpass") ? PROGRAM_SSHPASS : PROGRAM_OTHER;
}

/*
 * The program to which an option belongs.  The value of an option before it is
 * not a program: docker run --name mysql -p3306:3306.
 */
static enum program
program_before(struct str text, size_t at)
{
	enum program found = PROGRAM_OTHER, p;
	struct str word, last = STR("");
	size_t from = at;

	while (from > 0 && at - from < COMMAND_MAX &&
	    strchr(";|&()\n", text.p[from - 1]) == NULL)
		from--;
	for (; from < at; from += word.n + 1) {
		word = word_of((struct str){ text.p + from, at - from });
		if (word.n == 0)
			continue;
		p = program_of(word);
		if (p != PROGRAM_OTHER && (last.n == 0 || last.p[0] != '-' ||
		    str_is(last, "--")))
			found = p;
		else if (found == PROGRAM_SSHPASS && word.p[0] != '-' &&
		    !str_is(last, "-P"))
			found = PROGRAM_OTHER;	/* the command that it runs */
		last = word;
	}
	return found;
}

/* Few programs take a password as -p; for others it is a port, or a flag. */
static struct str
in_short_option(struct str text, size_t at)
{
	struct str s = rest(text, at), found;
	enum program p;

	if (!str_starts(s, STR("-p")) || s.n == 2)
		return none;
	p = program_before(text, at);
	if (p == PROGRAM_OTHER)
		return none;
	if (is_blank(s.p[2]))
		return p == PROGRAM_SSHPASS ? option_value(s, 2) : none;
	found = value_of(rest(s, 2));
	return found.n > 0 && found.p[0] >= '0' && found.p[0] <= '9' &&
	    memchr(found.p, ':', found.n) != NULL ? none : found;
}

static struct str
in_header(struct str text)
{
	static const char *const names[] = { "authorization", "api-key",
		"apikey", "private-token", "auth-token", "access-token" };
	struct str s = word_of(text);
	size_t n = 0;

	while (n < s.n && s.p[n] != ':')
		n++;
	if (n == s.n || !ends_in((struct str){ s.p, n }, names,
	    COUNTOF(names)))
		return none;
	s = rest(text, n + 1);
	while (s.n > 0 && (s.p[0] == ' ' || s.p[0] == '\t'))
		s = rest(s, 1);
	if (s.n > 0 && s.p[0] == '$')	/* do not read a long line each time */
		return none;
	for (n = 0; n < s.n && s.p[n] != '\n' && s.p[n] != '\r' &&
	    !is_quote(s.p[n]); )
		n++;
	return (struct str){ s.p, n };
}

static struct str
in_assignment(struct str text)
{
	size_t n = 0;

	while (n < text.n && ((text.p[n] >= 'A' && text.p[n] <= 'Z') ||
	    (text.p[n] >= '0' && text.p[n] <= '9') || text.p[n] == '_'))
		n++;
	if (n == text.n || text.p[n] != '=' ||
	    !mask_is_name((struct str){ text.p, n }))
		return none;
	return value_of(rest(text, n + 1));
}

/* The text begins after a scheme. */
static struct str
in_url(struct str text, bool web)
{
	size_t n = 0, at = 0, colon = 0;

	while (n < text.n && n < URL_MAX && !is_blank(text.p[n]) &&
	    !is_quote(text.p[n]) && strchr("/?#<>", text.p[n]) == NULL) {
		if (text.p[n] == ':' && colon == 0)
			colon = n;
		if (text.p[n++] == '@')
			at = n - 1;
	}
	if (colon > 0 && colon < at)
		return (struct str){ text.p + colon + 1, at - colon - 1 };
	return web && at >= USER_MIN ? (struct str){ text.p, at } : none;
}

static struct str
secret_in(struct str text, size_t at)
{
	struct str s = rest(text, at), found;

	if (str_starts(s, STR("://")))
		return in_url(rest(s, 3), (at >= 4 && memcmp(s.p - 4, "http",
		    4) == 0) || (at >= 5 && memcmp(s.p - 5, "https", 5) == 0));
	if (at > 0 && !is_break(text.p[at - 1]))
		return none;
	if (s.p[0] == '-') {
		found = in_option(s);
		return found.n > 0 ? found : in_short_option(text, at);
	}
	found = in_assignment(s);
	return found.n > 0 ? found : in_header(s);
}

struct str
mask_form(struct str text, size_t *at)
{
	struct str s;

	for (; *at < text.n; (*at)++) {
		s = secret_in(text, *at);
		if (s.n == 0 || s.p[0] == '$' || str_is(s, "***") ||
		    str_is(s, "[REDACTED]"))
			continue;
		*at = (size_t)(s.p - text.p) + s.n;
		return s;
	}
	return none;
}
