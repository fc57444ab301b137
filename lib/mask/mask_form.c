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
	COMMAND_MAX = 256,	/* bytes of a command before its -p */
	STARTS_MAX = 16		/* places in them where it may start */
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

/*
 * Few programs take a password as -p; for others it is a port, or a flag.
 * Therefore -p counts only if the command word is such a program: the first
 * word after assignments and after wrappers such as sudo and docker exec.
 */
enum program { PROGRAM_OTHER, PROGRAM_MYSQL, PROGRAM_SSHPASS };

struct wrapper {
	const char *name;
	const char *flags;	/* letters of options that take a value */
	size_t operands;	/* before the command; 2: exec NAME */
};

struct command {
	const struct wrapper *in;	/* the last one; NULL: none yet */
	size_t left;		/* operands of it */
	bool value;		/* the next word is the value of an option */
	bool named;		/* the command word was read */
	enum program program;
	int quote;		/* the command is inside these quotes, or 0 */
};

#define CONTAINER_FLAGS "acefhlmnpuvw"
static const struct wrapper wrappers[] = {
	{ "command", "", 0 }, { "do", "", 0 }, { "docker", CONTAINER_FLAGS, 2 },
	{ "docker-compose", CONTAINER_FLAGS, 2 }, { "else", "", 0 },
	{ "env", "CSu", 0 }, { "exec", "a", 0 }, { "if", "", 0 },
	{ "kubectl", CONTAINER_FLAGS, 2 }, { "nice", "n", 0 },
	{ "nohup", "", 0 }, { "podman", CONTAINER_FLAGS, 2 },
	{ "ssh", "BDEFIJLOPQRSWbceilmopw", 1 }, { "sshpass", "Pdfp", 0 },
	{ "sudo", "CDRTUghpu", 0 }, { "then", "", 0 }, { "time", "fo", 0 },
	{ "timeout", "ks", 1 },
};

static bool
is_mysql(struct str name)
{
	static const char *const names[] = { "mariadb", "mariadb-admin",
		"mariadb-binlog", "mariadb-check", "mariadb-dump",
		"mariadb-import", "mariadb-show", "mariadb-slap",
		"mariadb-upgrade", "mysql", "mysql_upgrade", "mysqladmin",
		"mysqlbinlog", "mysqlcheck", "mysqldump", "mysqlimport",
		"mysqlpump", "mysqlsh", "mysqlshow", "mysqlslap" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (str_is(name, names[i]))
			return true;
	return false;
}

static bool
has_alnum(struct str s)
{
	size_t i = 0;

	while (i < s.n && !((s.p[i] | 32) >= 'a' && (s.p[i] | 32) <= 'z') &&
	    !(s.p[i] >= '0' && s.p[i] <= '9') && !(s.p[i] & 0x80))
		i++;
	return i < s.n;
}

/* Whether the option of a wrapper takes the next word: -u root, -it, -uroot. */
static bool
takes_next(const struct wrapper *w, struct str word)
{
	static const char *const names[] = { "--container", "--env", "--name",
		"--namespace", "--network", "--user", "--volume",
		"--workdir" };
	size_t i;

	for (i = 0; i < COUNTOF(names); i++)
		if (str_is(word, names[i]))
			return true;
	if (str_starts(word, STR("--")))
		return false;
	for (i = 1; i < word.n && strchr(w->flags, word.p[i]) == NULL; )
		i++;
	return i + 1 == word.n;
}

static void
read_name(struct command *c, struct str word)
{
	size_t i, n = word.n;

	while (n > 0 && word.p[n - 1] != '/')
		n--;
	word = rest(word, n);
	for (i = 0; i < COUNTOF(wrappers); i++)
		if (str_is(word, wrappers[i].name)) {
			c->in = &wrappers[i];
			c->left = c->in->operands;
			c->program = str_is(word, "sshpass") ?
			    PROGRAM_SSHPASS : PROGRAM_OTHER;
			return;
		}
	c->named = true;
	c->program = is_mysql(word) ? PROGRAM_MYSQL : PROGRAM_OTHER;
}

static void
read_word(struct command *c, struct str word)
{
	if (c->named)
		return;
	if (c->value)
		c->value = false;
	else if (!has_alnum(word))
		return;			/* --, a prompt, a bracket */
	else if (word.p[0] == '-' && c->in == NULL)
		c->named = true;
	else if (word.p[0] == '-')
		c->value = takes_next(c->in, word);
	else if (memchr(word.p, '=', word.n) != NULL)
		return;			/* NAME=value */
	else if (c->left == 0)
		read_name(c, word);
	else if (c->left != 2 || str_is(word, "exec") || str_is(word, "run"))
		c->left--;
}

/* A quotation mark; negative after a backslash, as in JSON; 0: it is none. */
static int
quote_at(struct str text, size_t i)
{
	if (!is_quote(text.p[i]))
		return 0;
	return i > 0 && text.p[i - 1] == '\\' ? -text.p[i] : text.p[i];
}

static bool
is_newline(struct str text, size_t i)
{
	return text.p[i] == '\n' && (i == 0 || text.p[i - 1] != '\\');
}

/* Whether a command may start here; it need not. */
static bool
starts_command(struct str text, size_t at)
{
	if (at == 0)
		return true;
	switch (text.p[at - 1]) {
	case '\n':
		return is_newline(text, at - 1);
	case ';': case '|': case '&': case '(': case '[': case '{':
		return is_blank(text.p[at]) || !is_break(text.p[at]);
	case '"': case '\'': case '`':
		return !is_break(text.p[at]) && text.p[at] != ',';
	case ':': case '$': case '#': case '>':	/* run: COMMAND, a prompt */
		return is_blank(text.p[at]);
	}
	return false;
}

/* The end of the quotation, or of $(...), that starts at `at`; or `end`. */
static size_t
group_end(struct str text, size_t at, size_t end)
{
	int q = quote_at(text, at);

	while (++at < end)
		if (q != 0 ? quote_at(text, at) == q : text.p[at] == ')')
			break;
	return at;
}

/* Whether the quote begins or ends an element of "mysql", "-pSECRET". */
static bool
is_in_list(struct str text, size_t i)
{
	return text.p[i + 1] == ',' || (i > 1 && (text.p[i - 1] == ',' ||
	    (text.p[i - 1] == ' ' && text.p[i - 2] == ',')));
}

/*
 * Reads the words from `from` to the option at `at`.  Returns false if the
 * command ends before it, or if it is another program.
 */
static bool
read_command(struct command *c, struct str text, size_t from, size_t at)
{
	size_t i, word = from;
	bool list = false;
	int q;

	for (i = from; i < at; i++) {
		q = quote_at(text, i);
		if (q != 0 && q == c->quote) {
			if (!is_in_list(text, i))
				return false;
			list = true;
		} else if (q != 0 || text.p[i] == '(') {
			if (q != 0 && i + 1 == at)	/* mysql "-pSECRET" */
				break;
			i = group_end(text, i, at);
			if (i == at)
				return false;
			continue;
		} else if (strchr(";|&)", text.p[i]) != NULL ||
		    is_newline(text, i))
			return false;
		else if (!is_blank(text.p[i]))
			continue;
		if (i > word)
			read_word(c, (struct str){ text.p + word, i - word });
		if (c->named && c->program == PROGRAM_OTHER)
			return false;
		word = i + 1;
	}
	return c->program != PROGRAM_OTHER && !c->value &&
	    (!list || is_quote(text.p[at - 1]));
}

/* The command to which an option belongs; PROGRAM_OTHER if not known. */
static struct command
command_of(struct str text, size_t at)
{
	struct command c;
	size_t n, starts = 0;

	for (n = 1; n <= at && n < COMMAND_MAX && starts < STARTS_MAX; n++) {
		if (!starts_command(text, at - n))
			continue;
		starts++;
		c = (struct command){ .quote = n == at ? 0 : quote_at(text,
		    at - n - 1) };
		if (read_command(&c, text, at - n, at))
			return c;
	}
	return (struct command){ 0 };
}

/*
 * A quote opens a password unless a blank follows: then it ends a quotation.
 * Without its other end, as in a text that was cut, it is one word.
 */
static struct str
password_at(struct str text, size_t at)
{
	size_t end;
	bool escaped = text.p[at] == '\\' && at + 1 < text.n &&
	    is_quote(text.p[at + 1]);

	at += escaped;
	if (!is_quote(text.p[at]))
		return word_of(rest(text, at));
	end = group_end(text, at++, text.n);
	if (end == text.n || is_blank(text.p[at]))
		return word_of(rest(text, at));
	return (struct str){ text.p + at, end - escaped - at };
}

static struct str
in_short_option(struct str text, size_t at)
{
	size_t i = at + 2;
	struct command c;
	struct str found;
	int q;

	if (!str_starts(rest(text, at), STR("-p")))
		return none;
	while (i < text.n && (text.p[i] == ' ' || text.p[i] == '\t'))
		i++;
	if (i == text.n || (i > at + 2 && text.p[i] == '-'))
		return none;
	found = password_at(text, i);
	if (!has_alnum(found))		/* the end of a sentence */
		return none;
	c = command_of(text, at);
	if (c.program == PROGRAM_OTHER ||
	    (i > at + 2 && c.program != PROGRAM_SSHPASS))
		return none;
	q = quote_at(text, (size_t)(found.p - text.p) - 1);
	return q != 0 && q == c.quote ? none : found;
}

struct str
mask_argument(const char *command, const char *const *argv, size_t i)
{
	bool apart = i > 0 && strcmp(argv[i - 1], "-p") == 0;
	struct str arg = str_of(argv[i]);
	struct command c = { 0 };
	size_t k;

	if (!apart && !str_starts(arg, STR("-p")))
		return none;
	read_name(&c, str_of(command));
	for (k = 0; k + apart < i && !c.named; k++)
		read_word(&c, str_of(argv[k]));
	if (c.value || c.program == PROGRAM_OTHER)
		return none;
	if (apart && c.program == PROGRAM_SSHPASS)
		return arg;
	return str_starts(arg, STR("-p")) ? rest(arg, 2) : none;
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
