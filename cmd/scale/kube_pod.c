/* SPDX-License-Identifier: ISC */
/*
 * kube_pod.c: what a pod runs, and its results in its log.
 *
 * A log can be cut by rotation, and agents can write to it.  A results file is
 * therefore between two lines, of which the first has its size and SHA-256:
 *
 *	waza-results-begin SIZE SHA256 NAME
 *	waza-results-end NAME
 */
#include "cmd/scale/kube.h"

#include <string.h>

#include "lib/sha256.h"

#define BEGIN "waza-results-begin "
#define END "waza-results-end "

static const char copy_files[] =
    "cp -RL \"$d/" KUBE_FILES "/" KUBE_SUITE "\" \"$d/\"\n"
    "cd \"$d/" KUBE_SUITE "\"\n";

/* Status 1: tasks did not pass, which is a result. */
static const char run_and_print[] =
    "mkdir -p \"$d/" KUBE_RESULTS "/$k\"\n"
    "s=0\n"
    "waza run --shard \"$k/$n\" --resume -q --no-summary "
	"-o \"$d/" KUBE_RESULTS "/$k/shard-$k.json\" \"$@\" || s=$?\n"
    "[ $s -le 1 ] || exit $s\n"
    "for f in \"$d/" KUBE_RESULTS "/$k/shard-$k\"*.json; do\n"
    "\tsum=$(sha256sum <\"$f\")\n"
    "\tprintf '\\n" BEGIN "%d %s %s\\n' \"$(wc -c <\"$f\")\" "
	"\"${sum%% *}\" \"${f##*/}\"\n"
    "\tcat \"$f\"\n"
    "\tprintf '\\n" END "%s\\n' \"${f##*/}\"\n"
    "done\n";

void
kube_pod_script(struct buf *b, const struct kube_plan *p)
{
	size_t i;

	buf_puts(b, "set -eu\nd=${" KUBE_DIR_ENV ":-" KUBE_DIR "}\n");
	buf_fmt(b, "n=%lld\n", (long long)p->shards);
	if (p->list == NULL)
		buf_puts(b, "k=$((JOB_COMPLETION_INDEX + 1))\n");
	else {
		buf_puts(b, "i=0\nfor k in");
		for (i = 0; i < p->nlist; i++)
			buf_fmt(b, " %lld", (long long)p->list[i]);
		buf_puts(b, "; do\n\t[ $i != \"$JOB_COMPLETION_INDEX\" ] || "
		    "break\n\ti=$((i + 1))\ndone\n");
	}
	if (p->nfiles > 0)
		buf_puts(b, copy_files);
	buf_puts(b, run_and_print);
}

/*
 * Logs.
 */

/* The next line that begins with the mark; rest is then what follows it. */
static bool
find_mark(struct str *rest, struct str *before, struct str *line, bool *ends)
{
	const char *start = rest->p;
	struct str l;

	while (str_line(rest, &l)) {
		*ends = str_starts(l, STR(END));
		if (!*ends && !str_starts(l, STR(BEGIN)))
			continue;
		*before = (struct str){ start, (size_t)(l.p - start) };
		*line = l;
		return true;
	}
	return false;
}

static struct str
take_word(struct str *s)
{
	const char *p = s->n > 0 ? memchr(s->p, ' ', s->n) : NULL;
	struct str w = { s->p, p != NULL ? (size_t)(p - s->p) : s->n };
	size_t n = w.n + (p != NULL);

	s->p += n;
	s->n -= n;
	return w;
}

static bool
read_size(struct str s, size_t *n)
{
	size_t i;

	for (*n = i = 0; i < s.n && s.p[i] >= '0' && s.p[i] <= '9' &&
	    *n <= KUBE_LOG_MAX; i++)
		*n = *n * 10 + (size_t)(s.p[i] - '0');
	return i > 0 && i == s.n;
}

static int
fail(struct err *e, struct str name, const char *why)
{
	return err_set(e, ERR_SCHEMA, "%.*s in its log %s",
	    STRF(utf8_cut(name, 100)), why);
}

int
kube_pod_block(struct str *log, struct kube_block *out, struct err *e)
{
	struct str before, line, size, sum, end;
	char hex[SHA256_HEX];
	bool ends;
	size_t n;

	if (!find_mark(log, &before, &line, &ends))
		return 0;
	if (ends)
		return fail(e, (struct str){ line.p + strlen(END),
		    line.n - strlen(END) }, "lacks its beginning: the log was "
		    "rotated, use more shards");
	line.p += strlen(BEGIN);
	line.n -= strlen(BEGIN);
	size = take_word(&line);
	sum = take_word(&line);
	out->name = line;
	if (!read_size(size, &n))
		return fail(e, line, "has no size");
	if (n > log->n)
		return fail(e, line, "is cut");
	out->text = (struct str){ log->p, n };
	log->p += n;
	log->n -= n;
	sha256_hex(out->text, hex);
	if (!str_is(sum, hex))
		return fail(e, line, "is damaged: its SHA-256 differs");
	if (!find_mark(log, &before, &end, &ends) || !ends)
		return fail(e, line, "has no end");
	return 1;
}

struct str
kube_pod_talk(struct str log)
{
	struct str rest = log, before, line;
	bool ends;

	return find_mark(&rest, &before, &line, &ends) ? before : log;
}
