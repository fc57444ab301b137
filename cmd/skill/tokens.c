/* SPDX-License-Identifier: ISC */
/*
 * waza tokens: counts the tokens of Markdown files and compares them with
 * their limits.  This file has the options and `count`.
 */
#include "cmd/skill/tokens.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/os.h"
#include "json.h"
#include "report/report.h"
#include "results/result.h"
#include "suite/config.h"

#define OPT(m, t, ...) CMD_OPT(tokens_opt, m, t, __VA_ARGS__)
static const struct opt tokens_rows[] = {
	OPT(format, OPT_STR, .name = "format", .value = "FORMAT",
	    .help = "table (default), json or github (annotations)"),
	OPT(tokenizer, OPT_STR, .name = "tokenizer", .value = "estimate|bpe",
	    .help = "how to count (default: bpe with a vocabulary, else "
	    "estimate)"),
	OPT(vocab, OPT_STR, .name = "vocab", .value = "FILE",
	    .help = "vocabulary o200k_base.tiktoken or cl100k_base.tiktoken "
	    "(default: tokens.vocab)"),
	CMD_TRUST_OPT(tokens_opt, trust),
	OPT(sort, OPT_STR, .name = "sort", .value = "path|tokens|name",
	    .group = "tokens count", .help = "order of the table (default: "
	    "path)"),
	OPT(min_tokens, OPT_INT, .name = "min-tokens", .value = "N",
	    .min = 0, .max = INT64_MAX, .help = "leave out smaller files"),
	OPT(no_total, OPT_FLAG, .name = "no-total",
	    .help = "leave out the total"),
	OPT(strict, OPT_FLAG, .name = "strict",
	    .group = "tokens check and tokens compare",
	    .help = "exit with 1 if a file exceeds its limit (check: always)"),
	OPT(quiet, OPT_FLAG, .name = "quiet",
	    .help = "check: print nothing"),
	OPT(unchanged, OPT_FLAG, .name = "show-unchanged",
	    .help = "compare: list unchanged files, too"),
	OPT(skills, OPT_FLAG, .name = "skills",
	    .help = "compare: only SKILL.md files of skills"),
	OPT(threshold, OPT_STR, .name = "threshold", .value = "PERCENT",
	    .help = "compare: exit with 1 if a file grew by more"),
	OPT(min_savings, OPT_STR, .name = "min-savings", .value = "N",
	    .group = "tokens suggest",
	    .help = "leave out suggestions that save fewer tokens (default: "
	    "10)"),
	OPT(copilot, OPT_FLAG, .name = "copilot",
	    .help = "not supported; the message names the replacement"),
	OPT(model, OPT_STR, .name = "model", .value = "NAME",
	    .help = "only with --copilot"),
};

void
tokens_put_counter(struct json_out *o, const struct tokens *t)
{
	json_put_member_cstr(o, "tokenizer", t->counter.bpe != NULL ? "bpe" :
	    "estimate");
	if (t->counter.encoding != NULL)
		json_put_member_cstr(o, "encoding", t->counter.encoding);
}

void
tokens_put_time(struct json_out *o, const char *key)
{
	char now[RESULT_TIME_MAX];

	result_time(now, os_wall_ns());
	json_put_member_cstr(o, key, now);
}

void
tokens_put_heading(struct buf *b, struct str skill)
{
	buf_fmt(b, "%s─── %.*s ───\n", b->n > 0 ? "\n" : "",
	    STRF(skill));
}

enum { PATH_MIN = 8 };		/* columns of a path */

/* Characters, as far as they are valid. */
static size_t
columns(struct str s)
{
	const char *p = s.p, *end = s.p + s.n;
	uint32_t cp;
	size_t n, k;

	for (n = 0; p < end; p += k > 0 ? k : 1, n++)
		k = utf8_get(p, end, &cp);
	return n;
}

size_t
tokens_width(struct str path, size_t least)
{
	size_t n = columns(path);

	return n > least ? n : least;
}

size_t
tokens_fit(size_t width, size_t rest)
{
	struct report_opts o = { 0 };

	report_env(&o, STDOUT_FILENO, REPORT_AUTO);
	if (o.width == 0 || width + rest <= o.width)
		return width;
	return o.width > rest + PATH_MIN ? o.width - rest : PATH_MIN;
}

void
tokens_put_rule(struct buf *b, size_t width)
{
	for (width = tokens_fit(width, 0); width > 0; width--)
		buf_putc(b, '-');
	buf_putc(b, '\n');
}

/* A path that is too long begins with dots. */
void
tokens_put_path(struct buf *b, struct str path, size_t width)
{
	size_t n = columns(path);

	if (n > width) {
		buf_puts(b, "..");
		for (; n > width - 2; n--)
			do
				path = (struct str){ path.p + 1, path.n - 1 };
			while (path.n > 0 && (path.p[0] & 0xc0) == 0x80);
		n += 2;
	}
	buf_put(b, path);
	for (; n < width; n++)
		buf_putc(b, ' ');
}

void
tokens_put_command(struct buf *b, const char *level, struct str path,
    int64_t line, const char *text)
{
	while (str_starts(path, STR("./")))
		path = (struct str){ path.p + 2, path.n - 2 };
	buf_fmt(b, "::%s file=", level);
	report_annotation(b, path, true);
	if (line > 0)
		buf_fmt(b, ",line=%lld", (long long)line);
	buf_puts(b, "::");
	report_annotation(b, str_of(text), false);
	buf_putc(b, '\n');
}

/*
 * tokens count
 */
static int
by_tokens(const void *x, const void *y)
{
	const struct tokens_file *a = x, *b = y;

	if (a->tokens != b->tokens)
		return a->tokens > b->tokens ? -1 : 1;
	return str_cmp(a->path, b->path);
}

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static int
by_name(const void *x, const void *y)
{
	const struct tokens_file *a = x, *b = y;
	struct str s = str_base(a->path), t = str_base(b->path);
	size_t i;

	for (i = 0; i < s.n && i < t.n; i++)
		if (lower(s.p[i]) != lower(t.p[i]))
			return (unsigned char)lower(s.p[i]) <
			    (unsigned char)lower(t.p[i]) ? -1 : 1;
	return s.n != t.n ? (s.n < t.n ? -1 : 1) : str_cmp(a->path, b->path);
}

static void
put_count_row(struct buf *b, size_t width, struct str name, int64_t tokens,
    size_t bytes, int64_t lines)
{
	tokens_put_path(b, name, width);
	buf_fmt(b, "  %8lld  %8zu  %6lld\n", (long long)tokens, bytes,
	    (long long)lines);
}

static void
put_count_table(struct tokens *t, const struct tokens_scope *s,
    const struct tokens_file *sum)
{
	struct buf *b = &t->out;
	size_t i, width = 5;	/* of Total */

	for (i = 0; i < s->n; i++)
		width = tokens_width(s->v[i].path, width);
	width = tokens_fit(width, 28);
	buf_fmt(b, "%-*s    Tokens     Chars   Lines\n", (int)width, "File");
	tokens_put_rule(b, width + 28);
	for (i = 0; i < s->n; i++)
		put_count_row(b, width, s->v[i].path, s->v[i].tokens,
		    s->v[i].bytes, s->v[i].lines);
	if (t->opt->no_total)
		return;
	tokens_put_rule(b, width + 28);
	put_count_row(b, width, STR("Total"), sum->tokens, sum->bytes,
	    sum->lines);
	buf_fmt(b, "\n%zu file(s) scanned (%s)\n", s->n,
	    token_counter_name(&t->counter));
}

static void
put_numbers(struct json_out *o, const struct tokens_file *f)
{
	json_put_member_int(o, "tokens", f->tokens);
	json_put_member_int(o, "characters", (int64_t)f->bytes);
	json_put_member_int(o, "lines", f->lines);
}

static void
put_count_json(struct tokens *t, const struct tokens_scope *s,
    const struct tokens_file *sum)
{
	struct json_out o = { .put = buf_sink, .ctx = &t->out, .indent = 2 };
	size_t i;

	json_open(&o, '{');
	tokens_put_time(&o, "generatedAt");
	tokens_put_counter(&o, t);
	json_put_member_int(&o, "totalTokens", sum->tokens);
	json_put_member_int(&o, "totalFiles", (int64_t)s->n);
	json_open_member(&o, "files", '{');
	for (i = 0; i < s->n; i++) {
		json_put_key(&o, s->v[i].path);
		json_open(&o, '{');
		put_numbers(&o, &s->v[i]);
		json_close(&o, '}');
	}
	json_close(&o, '}');
	json_close(&o, '}');
	buf_putc(&t->out, '\n');
}

static void
put_count_github(struct tokens *t, const struct tokens_scope *s,
    const struct tokens_file *sum)
{
	size_t i;

	for (i = 0; i < s->n; i++)
		tokens_put_command(&t->out, "notice", s->v[i].path, 1,
		    arena_fmt(t->arena, "%lld tokens", (long long)
		    s->v[i].tokens).p);
	buf_fmt(&t->out, "%lld tokens in %zu file(s) (%s)\n",
	    (long long)sum->tokens, s->n, token_counter_name(&t->counter));
}

/* Counts all files; those below --min-tokens are left out. */
static int
count_files(struct tokens *t, struct tokens_scope *s, struct tokens_file *sum)
{
	struct arena scratch = { 0 };
	struct str text;
	size_t i, n = 0;
	int r = 0;

	for (i = 0; i < s->n; i++) {
		struct tokens_file *f = &s->v[i];

		if (tokens_read(t, f, &scratch, &text) == -1)
			r = -1;
		else if (f->tokens >= t->opt->min_tokens) {
			sum->tokens += f->tokens;
			sum->bytes += f->bytes;
			sum->lines += f->lines;
			s->v[n++] = *f;
		}
		arena_free(&scratch);
	}
	s->n = n;
	return r;
}

static int
tokens_count(struct tokens *t)
{
	static const char *const orders[] = { "path", "tokens", "name" };
	int sort = cmd_choose("sort", t->opt->sort, orders, COUNTOF(orders),
	    t->call->err);
	struct tokens_file sum = { .tokens = 0 };
	struct tokens_scopes all;
	struct tokens_scope *s;
	int status;

	if (sort == -1)
		return cmd_complain(t->call->err);
	if (t->format == TOKENS_JSON && (t->opt->sort != NULL ||
	    t->opt->no_total)) {
		err_set(t->call->err, ERR_SCHEMA, "--%s is only supported "
		    "with table output", t->opt->sort != NULL ? "sort" :
		    "no-total");
		return cmd_complain(t->call->err);
	}
	if (tokens_find(t, false, &all) == -1)
		return cmd_complain(t->call->err);
	s = all.v;
	/* the others are counted although one cannot be read */
	status = count_files(t, s, &sum) == -1 ? CMD_ERROR : CMD_OK;
	if (sort > 0)
		qsort(s->v, s->n, sizeof(*s->v), sort == 1 ? by_tokens :
		    by_name);
	if (t->format == TOKENS_JSON)
		put_count_json(t, s, &sum);
	else if (s->n == 0)
		buf_puts(&t->out, "No Markdown files found.\n");
	else if (t->format == TOKENS_GITHUB)
		put_count_github(t, s, &sum);
	else
		put_count_table(t, s, &sum);
	return status;
}

/*
 * The command.
 */
enum { COUNT = 1, CHECK = 2, COMPARE = 4, PROFILE = 8, SUGGEST = 16 };

static const struct {
	const char *name;
	unsigned bit;
	int (*fn)(struct tokens *);
	size_t max;		/* operands */
} subcommands[] = {
	{ "check", CHECK, tokens_check, SIZE_MAX },
	{ "compare", COMPARE, tokens_compare, 2 },
	{ "count", COUNT, tokens_count, SIZE_MAX },
	{ "profile", PROFILE, tokens_profile, SIZE_MAX },
	{ "suggest", SUGGEST, tokens_suggest, SIZE_MAX },
};

/* Refuses options of other subcommands. */
static int
check_options(const struct tokens_opt *o, const char *name, unsigned bit,
    struct err *e)
{
	const struct {
		const char *name;
		bool given;
		unsigned of;
	} rows[] = {
		{ "sort", o->sort != NULL, COUNT },
		{ "min-tokens", o->min_tokens != 0, COUNT },
		{ "no-total", o->no_total, COUNT },
		{ "strict", o->strict, CHECK | COMPARE },
		{ "quiet", o->quiet, CHECK },
		{ "show-unchanged", o->unchanged, COMPARE },
		{ "skills", o->skills, COMPARE },
		{ "threshold", o->threshold != NULL, COMPARE },
		{ "min-savings", o->min_savings != NULL, SUGGEST },
		{ "copilot", o->copilot, SUGGEST },
		{ "model", o->model != NULL, SUGGEST },
	};
	size_t i;

	for (i = 0; i < COUNTOF(rows); i++)
		if (rows[i].given && (rows[i].of & bit) == 0)
			return err_set(e, ERR_SCHEMA, "tokens %s has no option "
			    "--%s", name, rows[i].name);
	return 0;
}

/* Chooses the counter; -1 with the call's err. */
static int
choose_counter(struct tokens *t)
{
	static const char *const words[] = { "", "estimate", "bpe" };
	const char *vocab = t->opt->vocab != NULL ? t->opt->vocab :
	    t->settings.vocab;
	struct err *e = t->call->err;

	if (t->opt->tokenizer != NULL && cmd_choose("tokenizer",
	    t->opt->tokenizer, words + 1, 2, e) == -1)
		return -1;
	if (t->opt->tokenizer != NULL && strcmp(t->opt->tokenizer,
	    "estimate") == 0)
		return 0;
	if (vocab != NULL)
		return token_counter_read(t->arena, vocab, &t->counter, e);
	return t->opt->tokenizer == NULL ? 0 : err_set(e, ERR_SCHEMA,
	    "--tokenizer bpe needs a vocabulary: name the file "
	    "o200k_base.tiktoken or cl100k_base.tiktoken with --vocab FILE or "
	    "tokens.vocab in .waza.yaml");
}

/* Reads the settings, and runs the subcommand. */
static int
run(struct tokens *t, int (*fn)(struct tokens *))
{
	static const char *const formats[] = { "table", "json", "github",
		"text" };
	static const enum guard_form forms[] = { GUARD_PLAIN, GUARD_JSON,
		GUARD_GITHUB };
	struct config_sources from = { .token = t->call->token,
		.trust = t->opt->trust };
	int format = cmd_choose("format", t->opt->format, formats,
	    COUNTOF(formats), t->call->err), status;

	if (format == -1)
		return cmd_complain(t->call->err);
	t->format = format == 3 ? TOKENS_TABLE : (enum tokens_format)format;
	t->config = cmd_load_config(t->call, &from);
	if (t->config == NULL)
		return CMD_ERROR;
	if (token_settings(t->arena, &from, &t->settings, &t->notes) == -1)
		return cmd_print_notes(&t->notes, false);
	if (choose_counter(t) == -1)
		return cmd_complain(t->call->err);
	status = fn(t);
	if (cmd_print_notes(&t->notes, true) != CMD_OK)
		status = CMD_ERROR;
	t->call->form = forms[t->format];
	if (t->format == TOKENS_TABLE)
		cmd_wrap(&t->out, 4, STDOUT_FILENO);
	return cmd_finish(t->call, &t->out, status);
}

static int
tokens_main(struct cmd_call *c)
{
	struct tokens t = { .call = c, .opt = c->opt, .arena = c->arena,
		.notes = { .arena = c->arena } };
	struct str_nearest near = { .word = str_of(c->args[0]) };
	char hint[STR_HINT];
	size_t i;

	for (i = 0; i < COUNTOF(subcommands); i++) {
		str_nearest(&near, str_of(subcommands[i].name));
		if (strcmp(c->args[0], subcommands[i].name) != 0)
			continue;
		c->args++;
		c->nargs--;
		if (c->nargs > subcommands[i].max)
			err_set(c->err, ERR_SCHEMA, "unexpected argument: %s",
			    c->args[subcommands[i].max]);
		else if (check_options(t.opt, subcommands[i].name,
		    subcommands[i].bit, c->err) == 0)
			return run(&t, subcommands[i].fn);
		return cmd_complain(c->err);
	}
	if (strcmp(c->args[0], "diff") == 0)
		err_set(c->err, ERR_SCHEMA, "tokens diff is not a command "
		    "here: use \"waza tokens compare --skills REF\"");
	else
		err_set(c->err, ERR_SCHEMA, "tokens: unknown subcommand "
		    "\"%.60s\"%s; use count, check, compare, profile or "
		    "suggest", c->args[0], str_hint(hint, "", near.best));
	return cmd_complain(c->err);
}

const struct cmd_command cmd_tokens = {
	.name = "tokens", .group = CMD_SUITES,
	.usage = "count|check|compare|profile|suggest [OPTION ...] "
	    "[SKILL|PATH ... | REF [REF]]",
	.opts = CMD_OPTS(tokens_rows), .size = sizeof(struct tokens_opt),
	.required = { "count|check|compare|profile|suggest" },
	.max = SIZE_MAX, .fn = tokens_main,
	.help = "Count the tokens of Markdown files and check their limits"
};
