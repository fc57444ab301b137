/* SPDX-License-Identifier: ISC */
/*
 * The kind trigger: whether a task's prompt matches the description of a skill.
 * It compares words only and ignores the answer.
 *
 * The words of a skill are those of its name, of its description up to
 * "DO NOT USE FOR:", and of its body.  The score is the larger of two values:
 * the share of the prompt's words (each counted once) that are words of the
 * skill; and the score of the best phrase after "USE FOR:", which is 1 if the
 * prompt contains the phrase, else the share of its words in the prompt.
 */
#include "grade/grader_trace.h"

#include <string.h>

#include "json.h"
#include "lib/tmpl.h"
#include "lib/unicode.h"
#include "suite/spec.h"

enum {
	WORD_MIN = 3,		/* bytes; shorter words are ignored */
	PHRASES_MAX = 1000	/* each is searched in the prompt */
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
	struct str skill_path;	/* SKILL.md or its directory */
	int mode;		/* -1: as `expected:` of the task */
	double threshold;
};

static const struct field trigger_rows[] = {
	FIELD(trigger, skill_path, FIELD_STR, .flags = FIELD_REQUIRED,
	    .values = FIELD_FILES,
	    .help = "SKILL.md, or its directory"),
	FIELD(trigger, mode, FIELD_ENUM, .words = mode_words,
	    .help = "whether the prompt should trigger the skill"),
	FIELD(trigger, threshold, FIELD_NUM, .min = 0, .max = 1,
	    .help = "smallest score that counts as triggered"),
};

static const struct trigger trigger_init = { .mode = -1, .threshold = 0.6 };
static const struct field_table trigger_fields = {
	trigger_rows, COUNTOF(trigger_rows), sizeof(struct trigger),
	&trigger_init
};

/* Beside the file that names it, else in the working directory. */
static const char *
find_skill(struct arena *a, const struct spec_grader *spec, struct str path)
{
	return spec_path(a, spec_dir_of(a, spec->at.file), path);
}

static int
by_word(const void *word, const void *row)
{
	return str_cmp(*(const struct str *)word,
	    str_of(*(const char *const *)row));
}

static bool
is_stop_word(struct str s)
{
	size_t i = search_first(&s, stop_words, COUNTOF(stop_words),
	    sizeof(stop_words[0]), by_word);

	return i < COUNTOF(stop_words) && str_is(s, stop_words[i]);
}

static bool
in_word(uint32_t c)
{
	const char *category;

	if (c < 0x80)
		return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
	category = unicode_category(c);
	return category[0] == 'L' || category[0] == 'N';
}

/* The words of a text in lower case, in order, without stop words. */
static struct field_strs
split(struct arena *a, struct str text)
{
	struct field_strs words = { NULL, 0 };
	struct buf lower = { 0 };
	const char *p, *end, *from = NULL;
	uint32_t cp;
	size_t n;

	unicode_put_lower(&lower, text);
	text = arena_take(a, &lower);
	words.v = NEW_N(a, struct str, text.n / (WORD_MIN + 1) + 1);
	for (p = text.p, end = p + text.n; p <= end; p += n) {
		n = p < end ? utf8_get(p, end, &cp) : 1;
		if (p < end && n > 0 && in_word(cp)) {
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

/* The offset of a label, case-insensitively, or SIZE_MAX. */
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

/* The part of a description after "USE FOR:". */
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

/* Without a remark in parentheses at the end. */
static struct str
without_remark(struct str s)
{
	size_t i, n;

	s = str_trim(s);
	n = s.n;
	if (n > 0 && s.p[n - 1] == ')')
		for (i = s.n - 1; i > 0 && s.p[i - 1] != ')'; i--)
			if (s.p[i - 1] == '(')
				n = i - 1;
	return str_trim((struct str){ s.p, n });
}

/* The length of a straight or curly quotation mark at s.p[i], or 0. */
static size_t
quote_at(struct str s, size_t i)
{
	if (s.p[i] == '"')
		return 1;
	return s.n - i >= 3 && (memcmp(s.p + i, "\342\200\234", 3) == 0 ||
	    memcmp(s.p + i, "\342\200\235", 3) == 0) ? 3 : 0;
}

static void
add_phrase(struct field_strs *list, struct str s)
{
	if (s.n > 0)
		list->v[list->n++] = s;
}

/* Quoted phrases or, without any, phrases between commas. */
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
			add_phrase(&list, str_trim((struct str){ text.p + from,
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
	text = str_trim(text);
	while (text.n > 0 && text.p[text.n - 1] == '.')
		text.n--;
	for (i = from = 0; i <= text.n; i++)
		if (i == text.n || text.p[i] == ',') {
			add_phrase(&list, without_remark((struct str){
			    text.p + from, i - from }));
			from = i + 1;
		}
	return list;
}

/* The text on one line, since phrases may be wrapped. */
static struct str
join_lines(struct arena *a, struct str s)
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

/* The words and phrases of a skill. */
struct vocabulary {
	struct field_strs words;
	struct field_strs phrases;
};

static int
read_skill(struct arena *a, const char *path, struct vocabulary *k,
    struct err *e)
{
	struct spec_skill skill;
	struct field_strs words;
	struct buf b = { 0 };
	struct str about;
	size_t i, end;

	if (spec_read_skill(a, path, &skill, e) != 0)
		return -1;
	about = join_lines(a, skill.description);
	k->phrases = phrases_of(a, use_for(about));
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
	words = split(a, buf_str(&b));
	buf_free(&b);
	k->words = grader_index_new(a, &words);
	grader_index_unique(&k->words);
	return k->words.n > 0 ? 0 : err_set(e, ERR_SCHEMA,
	    "it contains no words to compare");
}

static bool
check_skill(struct grader_check *c, const struct json *node, struct str path)
{
	struct str q = grader_quote(c->tmp, path);
	const char *found = find_skill(c->tmp, c->spec, path);
	struct err e = { 0 };
	struct vocabulary k;

	if (!spec_allowed(c->notes, spec_at(c->file, node), found))
		return false;
	if (!spec_exists(found)) {
		grader_note(c, FIELD_ERROR, node, "skill %.*s not found "
		    "beside this file or in the working directory", STRF(q));
		return false;
	}
	if (read_skill(c->tmp, found, &k, &e) == 0)
		return true;
	grader_note(c, FIELD_ERROR, node, "skill %.*s: %s", STRF(q), e.msg);
	return false;
}

/* Without a mode, each task needs `expected.should_trigger`. */
static void
check_mode(struct grader_check *c)
{
	const struct spec_task *t = c->task != NULL ? c->task :
	    c->suite->tasks, *end = c->task != NULL ? t + 1 :
	    t + c->suite->ntasks;

	for (; t < end; t++)
		if (t->def->expected == NULL ||
		    !t->def->expected->trigger_given)
			break;
	if (t < end || c->suite->ntasks == 0)
		grader_note(c, FIELD_ERROR, NULL, "\"mode\" is required: "
		    "positive or negative (or \"should_trigger\" in the "
		    "task's \"expected\")");
}

static void
check(struct grader_check *c, const void *settings)
{
	const struct trigger *s = settings;

	if (s->mode < 0)
		check_mode(c);
	grader_check_each(c, c->spec->config, "skill_path", check_skill);
}

/* The comparison of a prompt with a skill. */
struct similarity {
	size_t words;			/* of the prompt, each once */
	struct field_strs matched;	/* those of the skill, in order */
	double phrase;			/* score of the best phrase */
	double score;
};

static double
phrase_score(struct arena *a, const struct field_strs *phrases,
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
		if (grader_search(a, buf_str(&low), buf_str(&lower)) !=
		    SIZE_MAX)
			best = 1;
		parts = split(a, phrases->v[i]);
		for (k = n = 0; k < parts.n; k++)
			n += grader_index_count(words, parts.v[k]) > 0;
		share = parts.n > 0 ? (double)n / (double)parts.n : 0;
		best = share > best ? share : best;
	}
	buf_free(&low);
	buf_free(&lower);
	return best;
}

static struct similarity
compare(struct arena *a, const struct vocabulary *k, struct str prompt)
{
	struct similarity x = { 0, { NULL, 0 }, 0, 0 };
	struct field_strs words = split(a, prompt);
	struct field_strs once = grader_index_new(a, &words);
	bool *seen;
	size_t i, at;

	grader_index_unique(&once);
	x.words = once.n;
	if (once.n == 0)
		return x;
	seen = NEW_N(a, bool, once.n);
	x.matched.v = NEW_N(a, struct str, once.n);
	for (i = 0; i < words.n; i++) {
		at = grader_index_find(&once, words.v[i]);
		if (!seen[at] && grader_index_count(&k->words, words.v[i]) > 0)
			x.matched.v[x.matched.n++] = words.v[i];
		seen[at] = true;
	}
	x.phrase = phrase_score(a, &k->phrases, prompt, &once);
	x.score = (double)x.matched.n / (double)once.n;
	x.score = x.phrase > x.score ? x.phrase : x.score;
	return x;
}

static struct str
details(struct arena *a, const struct trigger *s, int mode,
    const struct vocabulary *k, const struct similarity *x)
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
	return arena_take(a, &b);
}

static struct str
feedback(struct arena *a, const struct trigger *s, int mode,
    const struct similarity *x)
{
	bool over = x->score >= s->threshold;
	struct str list = grader_quote_list(a, &x->matched);

	return arena_fmt(a, "the prompt %s the skill%s: score %.2f, %s %.2f "
	    "(%zu of %zu words are words of the skill: %.*s; best phrase "
	    "%.2f)", over ? "matches" : "does not match",
	    over == (mode == POSITIVE) ? "" :
	    over ? ", but should not" : ", but should",
	    x->score, over ? "at least" : "below", s->threshold,
	    x->matched.n, x->words, STRF(list), x->phrase);
}

static enum grader_status
start(struct grading *g, const void *settings, struct arena *tmp)
{
	const struct trigger *s = settings;
	const struct spec_task *task = g->in->task;
	struct err e = { 0 };
	struct similarity x;
	struct vocabulary k;
	struct str prompt;
	int mode = s->mode;

	if (mode < 0 && (task->def->expected == NULL ||
	    !task->def->expected->trigger_given))
		return grader_error(g, "\"mode\" is required");
	if (mode < 0)
		mode = task->def->expected->should_trigger ? POSITIVE :
		    NEGATIVE;
	prompt = tmpl_render(tmp, task->prompt, g->in->vars, &e);
	if (prompt.p == NULL && e.code != ERR_NONE)
		return grader_error(g, "prompt: %s", e.msg);
	if (read_skill(tmp, find_skill(tmp, g->spec, s->skill_path), &k,
	    &e) != 0)
		return grader_error(g, "skill: %s", e.msg);
	x = compare(tmp, &k, prompt);
	g->out.score = x.score;
	g->out.passed = (x.score >= s->threshold) == (mode == POSITIVE);
	g->out.feedback = feedback(g->arena, s, mode, &x);
	g->out.details = details(g->arena, s, mode, &k, &x);
	return GRADER_DONE;
}

const struct grader_kind grader_trigger = {
	.name = "trigger", .fields = &trigger_fields, .check = check,
	.start = start,
};
