/* SPDX-License-Identifier: ISC */
/*
 * The kind trigger: whether a task's prompt speaks of what a skill is for, or
 * does not.  It compares words, asks nobody and does not look at the answer.
 *
 * Words of the skill are those of its name, of its description as far as
 * "DO NOT USE FOR:", and of its body.  The score is the share of the prompt's
 * words that are among them, each counted once; or what the best phrase after
 * "USE FOR:" gets, if that is more: 1 when it is in the prompt as it stands,
 * else the share of its words that are.
 */
#include "grade/grader_trace.h"

#include <string.h>
#include <sys/stat.h>

#include "json.h"
#include "lib/re/re.h"
#include "lib/tmpl.h"
#include "lib/unicode.h"
#include "suite/spec.h"

enum {
	WORD_MIN = 3,		/* bytes; shorter ones are no words */
	PHRASES_MAX = 1000	/* each is looked for in the prompt */
};

static const char *const stop_words[] = {	/* sorted */
	"about", "all", "and", "any", "are", "but", "can", "for", "from",
	"get", "had", "has", "have", "how", "into", "let", "not", "out",
	"should", "that", "the", "this", "too", "using", "was", "were",
	"what", "where", "why", "with", "you", "your",
};

static const char *const mode_words[] = { "positive", "negative", NULL };
enum { POSITIVE, NEGATIVE };

struct trigger {
	struct str skill_path;
	int mode;		/* -1: as the task expects */
	double threshold;
};

static const struct field trigger_rows[] = {
	FIELD(trigger, skill_path, FIELD_STR, .flags = FIELD_REQUIRED,
	    .help = "SKILL.md, or its directory"),
	FIELD(trigger, mode, FIELD_ENUM, .words = mode_words,
	    .help = "whether the prompt is for the skill"),
	FIELD(trigger, threshold, FIELD_NUM, .min = 0, .max = 1,
	    .help = "the score of a prompt that is"),
};

static const struct trigger trigger_init = { .mode = -1, .threshold = 0.6 };
static const struct field_table trigger_fields = {
	trigger_rows, COUNTOF(trigger_rows), sizeof(struct trigger),
	&trigger_init
};

/* Beside the file that names it, or here. */
static const char *
locate(struct arena *a, const struct spec_grader *spec, struct str path)
{
	const char *file = spec->at.file, *slash, *dir = ".";

	slash = file != NULL ? strrchr(file, '/') : NULL;
	if (slash != NULL)
		dir = arena_cstr(a, (struct str){ file,
		    slash == file ? 1 : (size_t)(slash - file) });
	return spec_path(a, dir, path);
}

static bool
is_stop_word(struct str s)
{
	size_t lo = 0, hi = COUNTOF(stop_words), mid;
	int c;

	while (lo < hi) {
		mid = lo + (hi - lo) / 2;
		c = str_cmp(s, str_of(stop_words[mid]));
		if (c == 0)
			return true;
		if (c < 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return false;
}

/* What takes texts apart; the pattern is made when it is first needed. */
struct reader {
	struct arena *arena;
	struct re *letter;
};

static bool
in_word(struct reader *r, const char *p, size_t n)
{
	struct err e = { 0 };

	if (n == 1 && (unsigned char)*p < 0x80)
		return (*p >= 'a' && *p <= 'z') || (*p >= '0' && *p <= '9');
	if (r->letter == NULL)
		r->letter = re_compile(r->arena, STR("^[\\pL\\pN]"), &e);
	return r->letter != NULL && re_test(r->letter, (struct str){ p, n });
}

/* The words of a text in small letters, in their order. */
static struct field_strs
split(struct reader *r, struct str text)
{
	struct field_strs words = { NULL, 0 };
	struct buf lower = { 0 };
	const char *p, *end, *from = NULL;
	uint32_t cp;
	size_t n;

	unicode_put_lower(&lower, text);
	text = grader_take(r->arena, &lower);
	words.v = NEW_N(r->arena, struct str, text.n / (WORD_MIN + 1) + 1);
	for (p = text.p, end = p + text.n; p <= end; p += n) {
		n = p < end ? utf8_get(p, end, &cp) : 1;
		if (p < end && n > 0 && in_word(r, p, n)) {
			from = from != NULL ? from : p;
			continue;
		}
		n = n > 0 ? n : 1;
		if (from != NULL && p - from >= WORD_MIN && !is_stop_word(
		    (struct str){ from, (size_t)(p - from) }))
			words.v[words.n++] = (struct str){ from,
				(size_t)(p - from) };
		from = NULL;
	}
	return words;
}

/* Where the label, in capitals, is in the text; SIZE_MAX: nowhere. */
static size_t
find_label(struct str text, const char *label, size_t from)
{
	size_t i, k, n = strlen(label);
	char c;

	for (i = from; i + n <= text.n; i++) {
		for (k = 0; k < n; k++) {
			c = text.p[i + k];
			if ((c >= 'a' && c <= 'z' ? c - 32 : c) != label[k])
				break;
		}
		if (k == n)
			return i;
	}
	return SIZE_MAX;
}

/* The part of a description that says what the skill is for. */
static struct str
use_for(struct str text)
{
	static const char *const ends[] = { "DO NOT USE FOR:", "INVOKES:",
		"FOR SINGLE OPERATIONS:" };
	size_t at, i, end;

	at = find_label(text, "USE FOR:", 0);
	while (at != SIZE_MAX && find_label((struct str){ text.p, at },
	    "NOT ", at > 11 ? at - 11 : 0) != SIZE_MAX)
		at = find_label(text, "USE FOR:", at + 1);
	if (at == SIZE_MAX)
		return STR("");
	at += sizeof("USE FOR:") - 1;
	text = (struct str){ text.p + at, text.n - at };
	for (i = 0; i < COUNTOF(ends); i++) {
		end = find_label(text, ends[i], 0);
		text.n = end != SIZE_MAX ? end : text.n;
	}
	return text;
}

static struct str
trim(struct str s)
{
	while (s.n > 0 && (unsigned char)s.p[0] <= ' ') {
		s.p++;
		s.n--;
	}
	while (s.n > 0 && (unsigned char)s.p[s.n - 1] <= ' ')
		s.n--;
	return s;
}

/* Without the remark in brackets at its end. */
static struct str
plain(struct str s)
{
	size_t i, n;

	s = trim(s);
	n = s.n;
	if (n > 0 && s.p[n - 1] == ')')
		for (i = s.n - 1; i > 0 && s.p[i - 1] != ')'; i--)
			if (s.p[i - 1] == '(')
				n = i - 1;
	return trim((struct str){ s.p, n });
}

/* The bytes of a quotation mark at p: ", or a curly one; 0: there is none. */
static size_t
quote_at(struct str s, size_t i)
{
	if (s.p[i] == '"')
		return 1;
	return s.n - i >= 3 && (memcmp(s.p + i, "\342\200\234", 3) == 0 ||
	    memcmp(s.p + i, "\342\200\235", 3) == 0) ? 3 : 0;
}

static void
add(struct field_strs *list, struct str s)
{
	if (s.n > 0)
		list->v[list->n++] = s;
}

/* What is in quotes; without any, what is between commas. */
static struct field_strs
phrases_of(struct arena *a, struct str text)
{
	struct field_strs list = { NEW_N(a, struct str, text.n / 2 + 1), 0 };
	size_t i, n, from = 0;
	bool open = false, any = false;

	for (i = 0; i < text.n; i += n > 0 ? n : 1) {
		n = quote_at(text, i);
		if (n == 0)
			continue;
		if (open && i > from) {
			add(&list, trim((struct str){ text.p + from,
			    i - from }));
			any = true;
			open = false;
		} else {
			open = true;
		}
		from = i + n;
	}
	if (any)
		return list;
	text = trim(text);
	while (text.n > 0 && text.p[text.n - 1] == '.')
		text.n--;
	for (i = from = 0; i <= text.n; i++)
		if (i == text.n || text.p[i] == ',') {
			add(&list, plain((struct str){ text.p + from,
			    i - from }));
			from = i + 1;
		}
	return list;
}

/* On one line, as phrases are meant. */
static struct str
flat(struct arena *a, struct str s)
{
	char *p = arena_raw(a, s.n + 1, 1);
	size_t i, n = 0;

	for (i = 0; i < s.n; i++) {
		if (s.p[i] == '\r' && i + 1 < s.n && s.p[i + 1] == '\n')
			continue;
		p[n++] = (char)(s.p[i] == '\n' ? ' ' : s.p[i]);
	}
	return (struct str){ p, n };
}

/* What a skill is known by. */
struct known {
	struct field_strs words;
	struct field_strs phrases;
};

static int
learn(struct reader *r, const char *path, struct known *k, struct err *e)
{
	struct spec_skill skill;
	struct field_strs words;
	struct buf b = { 0 };
	struct str about;
	size_t i, end;

	if (spec_read_skill(r->arena, path, &skill, e) != 0)
		return -1;
	about = flat(r->arena, skill.description);
	k->phrases = phrases_of(r->arena, use_for(about));
	if (k->phrases.n > PHRASES_MAX)
		return err_set(e, ERR_LIMIT, "more than %d phrases after "
		    "\"USE FOR:\"", PHRASES_MAX);
	end = find_label(about, "DO NOT USE FOR:", 0);
	about.n = end != SIZE_MAX ? end : about.n;
	buf_put(&b, skill.name);
	buf_putc(&b, ' ');
	buf_put(&b, about);
	for (i = 0; i < k->phrases.n; i++) {
		buf_putc(&b, ' ');
		buf_put(&b, k->phrases.v[i]);
	}
	buf_putc(&b, ' ');
	buf_put(&b, skill.body);
	words = split(r, buf_str(&b));
	buf_free(&b);
	k->words = grader_index_new(r->arena, &words);
	grader_index_unique(&k->words);
	return k->words.n > 0 ? 0 : err_set(e, ERR_SCHEMA,
	    "it has no words that a prompt could have");
}

static bool
check_skill(struct grader_check *c, const struct json *node, struct str path)
{
	struct reader r = { .arena = c->tmp };
	struct str q = grader_quote(c->tmp, path);
	const char *found = locate(c->tmp, c->spec, path);
	struct err e = { 0 };
	struct stat st;
	struct known k;

	if (stat(found, &st) != 0) {
		grader_note(c, FIELD_ERROR, node, "there is no skill %.*s, "
		    "neither beside this file nor in the working directory",
		    STRF(q));
		return false;
	}
	if (learn(&r, found, &k, &e) == 0)
		return true;
	grader_note(c, FIELD_ERROR, node, "skill %.*s: %s", STRF(q), e.msg);
	return false;
}

/* Where no mode is given, each task has to say what it expects. */
static void
check_mode(struct grader_check *c)
{
	const struct spec_task *t = c->task != NULL ? c->task :
	    c->suite->tasks, *end = c->task != NULL ? t + 1 :
	    t + c->suite->ntasks;

	for (; t < end; t++)
		if (t->expected == NULL || !t->expected->says_trigger)
			break;
	if (t < end || c->suite->ntasks == 0)
		grader_note(c, FIELD_ERROR, NULL, "\"mode\" is needed: "
		    "positive or negative (or \"should_trigger\" in what the "
		    "task expects)");
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct trigger *s = settings;

	if (s->mode < 0)
		check_mode(c);
	grader_check_each(c, c->spec->config, "skill_path", check_skill);
}

/* What a prompt and a skill have in common. */
struct likeness {
	size_t words;			/* of the prompt, each once */
	struct field_strs matched;	/* of them, in their order */
	double phrase;			/* of the best phrase */
	double score;
};

static double
phrase_score(struct reader *r, const struct field_strs *phrases,
    struct str prompt, const struct field_strs *words)
{
	struct buf low = { 0 }, lower = { 0 };
	struct field_strs parts;
	double best = 0, share;
	size_t i, k, n;

	unicode_put_lower(&low, prompt);
	for (i = 0; i < phrases->n && best < 1; i++) {
		lower.n = 0;
		unicode_put_lower(&lower, phrases->v[i]);
		if (grader_search(r->arena, buf_str(&low), buf_str(&lower)) !=
		    SIZE_MAX)
			best = 1;
		parts = split(r, phrases->v[i]);
		for (k = n = 0; k < parts.n; k++)
			n += grader_index_count(words, parts.v[k]) > 0;
		share = parts.n > 0 ? (double)n / (double)parts.n : 0;
		best = share > best ? share : best;
	}
	buf_free(&low);
	buf_free(&lower);
	return best;
}

static struct likeness
compare(struct reader *r, const struct known *k, struct str prompt)
{
	struct likeness x = { 0, { NULL, 0 }, 0, 0 };
	struct field_strs words = split(r, prompt);
	struct field_strs once = grader_index_new(r->arena, &words);
	bool *seen;
	size_t i, at;

	grader_index_unique(&once);
	x.words = once.n;
	if (once.n == 0)
		return x;
	seen = NEW_N(r->arena, bool, once.n);
	x.matched.v = NEW_N(r->arena, struct str, once.n);
	for (i = 0; i < words.n; i++) {
		at = grader_index_find(&once, words.v[i]);
		if (!seen[at] && grader_index_count(&k->words, words.v[i]) > 0)
			x.matched.v[x.matched.n++] = words.v[i];
		seen[at] = true;
	}
	x.phrase = phrase_score(r, &k->phrases, prompt, &once);
	x.score = (double)x.matched.n / (double)once.n;
	x.score = x.phrase > x.score ? x.phrase : x.score;
	return x;
}

static struct str
details(struct arena *a, const struct trigger *s, int mode,
    const struct known *k, const struct likeness *x)
{
	struct buf b = { 0 };
	struct json_out o = { .put = buf_sink, .ctx = &b };

	json_open(&o, '{');
	json_put_member_str(&o, "mode", str_of(mode_words[mode]));
	json_put_member_double(&o, "threshold", s->threshold);
	json_put_member_str(&o, "skill_path", s->skill_path);
	grader_put_strs(&o, "matched_keywords", &x->matched);
	json_put_member_int(&o, "matched_count", (int64_t)x->matched.n);
	json_put_member_int(&o, "keyword_count", (int64_t)k->words.n);
	json_put_member_double(&o, "phrase_score", x->phrase);
	json_close(&o, '}');
	return grader_take(a, &b);
}

static struct str
feedback(struct arena *a, const struct trigger *s, int mode,
    const struct likeness *x)
{
	bool over = x->score >= s->threshold;
	struct str list = grader_quote_list(a, &x->matched);

	return arena_fmt(a, "the prompt %s for the skill%s: score %.2f, %s "
	    "%.2f (%zu of its %zu words are the skill's: %.*s; best phrase "
	    "%.2f)", over ? "is" : "is not",
	    over == (mode == POSITIVE) ? "" :
	    over ? ", and should not be" : ", and should be",
	    x->score, over ? "at least" : "below", s->threshold,
	    x->matched.n, x->words, STRF(list), x->phrase);
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct trigger *s = settings;
	const struct spec_task *task = g->in->task;
	struct reader r = { .arena = tmp };
	struct err e = { 0 };
	struct likeness x;
	struct known k;
	struct str prompt;
	int mode = s->mode;

	if (mode < 0 && (task->expected == NULL ||
	    !task->expected->says_trigger))
		return grader_error(g, "\"mode\" is needed");
	if (mode < 0)
		mode = task->expected->should_trigger ? POSITIVE : NEGATIVE;
	prompt = tmpl_render(tmp, task->inputs.prompt, g->in->vars, &e);
	if (prompt.p == NULL && e.code != ERR_NONE)
		return grader_error(g, "prompt: %s", e.msg);
	if (learn(&r, locate(tmp, g->spec, s->skill_path), &k, &e) != 0)
		return grader_error(g, "skill: %s", e.msg);
	x = compare(&r, &k, prompt);
	g->out.score = x.score;
	g->out.passed = (x.score >= s->threshold) == (mode == POSITIVE);
	g->out.feedback = feedback(g->arena, s, mode, &x);
	g->out.details = details(g->arena, s, mode, &k, &x);
	return GRADER_DONE;
}

const struct grader_kind grader_trigger = {
	.name = "trigger",
	.fields = &trigger_fields,
	.check = check,
	.start = start,
};
