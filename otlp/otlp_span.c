/* SPDX-License-Identifier: ISC */
/*
 * Spans and log records in the JSON mapping of OTLP: ids are hexadecimal,
 * 64-bit integers are strings, enumerations are numbers, names are
 * lowerCamelCase.
 */
#include "otlp/otlp_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/sha256.h"

enum {
	STATUS_ERROR = 2, SEVERITY_INFO = 9, SAMPLED = 1,
	CUT_MARGIN = 4 << 10	/* bytes of a secret that a text shows */
};

/* A time, or another integer of 64 bits. */
static void
put_long(struct json_out *w, const char *key, int64_t n)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, n);
	json_put_member_cstr(w, key, text);
}

static void
item_begin(struct otlp_item *i, struct otlp *o, enum otlp_signal signal)
{
	*i = (struct otlp_item){ .otlp = o, .signal = signal };
	i->w = (struct json_out){ .put = buf_sink, .ctx = &i->text };
	json_open(&i->w, '{');
}

void
otlp_span_begin(struct otlp_item *i, struct otlp *o,
    const struct otlp_span *s)
{
	item_begin(i, o, OTLP_TRACES);
	i->error = s->error;
	json_put_member_cstr(&i->w, "traceId", s->trace);
	json_put_member_cstr(&i->w, "spanId", s->id);
	if (s->parent[0] != '\0')
		json_put_member_cstr(&i->w, "parentSpanId", s->parent);
	json_put_member_str(&i->w, "name", s->name);
	json_put_member_int(&i->w, "kind", s->kind);
	put_long(&i->w, "startTimeUnixNano", s->start_ns);
	put_long(&i->w, "endTimeUnixNano", s->end_ns > s->start_ns ?
	    s->end_ns : s->start_ns);	/* the clock was set back */
	json_open_member(&i->w, "attributes", '[');
}

void
otlp_event_begin(struct otlp_item *i, struct otlp *o, const char *name,
    const struct otlp_span *about, int64_t at_ns)
{
	item_begin(i, o, OTLP_LOGS);
	put_long(&i->w, "timeUnixNano", at_ns);
	put_long(&i->w, "observedTimeUnixNano", at_ns);
	json_put_member_int(&i->w, "severityNumber", SEVERITY_INFO);
	json_put_member_cstr(&i->w, "eventName", name);
	json_put_member_cstr(&i->w, "traceId", about->trace);
	json_put_member_cstr(&i->w, "spanId", about->id);
	json_put_member_int(&i->w, "flags", SAMPLED);
	json_open_member(&i->w, "attributes", '[');
}

void
otlp_item_end(struct otlp_item *i)
{
	json_close(&i->w, ']');
	if (i->error) {
		json_open_member(&i->w, "status", '{');
		json_put_member_int(&i->w, "code", STATUS_ERROR);
		json_close(&i->w, '}');
	}
	json_close(&i->w, '}');
	otlp_send_add(i->otlp, i->signal, buf_str(&i->text));
	buf_free(&i->text);
}

/*
 * Attributes.
 */
static void
open_value(struct otlp_item *i, const char *key)
{
	json_open(&i->w, '{');
	json_put_member_cstr(&i->w, "key", key);
	json_open_member(&i->w, "value", '{');
}

static void
close_value(struct otlp_item *i)
{
	json_close(&i->w, '}');
	json_close(&i->w, '}');
}

void
otlp_str(struct otlp_item *i, const char *key, struct str s)
{
	if (s.n == 0)
		return;
	open_value(i, key);
	json_put_member_str(&i->w, "stringValue", s);
	close_value(i);
}

void
otlp_int(struct otlp_item *i, const char *key, int64_t n)
{
	open_value(i, key);
	put_long(&i->w, "intValue", n);
	close_value(i);
}

void
otlp_num(struct otlp_item *i, const char *key, double d)
{
	open_value(i, key);
	json_put_member_double(&i->w, "doubleValue", d);
	close_value(i);
}

void
otlp_bool(struct otlp_item *i, const char *key, bool yes)
{
	open_value(i, key);
	json_put_member_bool(&i->w, "boolValue", yes);
	close_value(i);
}

/*
 * Payloads.
 */

/*
 * Cuts a long text before it is masked.  The end of the part that remains is
 * not shown: it may be half of a secret, which masking does not recognize.
 */
static struct str
safe(struct otlp *o, struct str text)
{
	size_t margin = CUT_MARGIN + (o->secrets.n > 0 ? o->secrets.v[0].n : 0);
	struct str head = utf8_cut(text, OTLP_VALUE_MAX + margin);
	struct str out = mask_text(&o->tmp, &o->secrets, head);

	if (head.n < text.n)
		out = utf8_cut(out, out.n > margin ? out.n - margin : 0);
	return utf8_cut(out, OTLP_VALUE_MAX);
}

void
otlp_payload(struct otlp_item *i, const char *key, struct str text)
{
	if (i->otlp->opts.payloads)
		otlp_str(i, key, safe(i->otlp, text));
}

/* The conventions have a list of messages, each with a list of parts. */
void
otlp_message(struct otlp_item *i, const char *key, const char *role,
    struct str text)
{
	struct buf b = { 0 };
	struct json_out w = { .put = buf_sink, .ctx = &b };

	if (!i->otlp->opts.payloads || text.n == 0)
		return;
	json_open(&w, '[');
	json_open(&w, '{');
	json_put_member_cstr(&w, "role", role);
	json_open_member(&w, "parts", '[');
	json_open(&w, '{');
	json_put_member_cstr(&w, "type", "text");
	json_put_member_str(&w, "content", safe(i->otlp, text));
	json_close(&w, '}');
	json_close(&w, ']');
	json_close(&w, '}');
	json_close(&w, ']');
	otlp_str(i, key, buf_str(&b));
	buf_free(&b);
}

/*
 * Whole requests.
 */
void
otlp_put_request(struct buf *b, enum otlp_signal signal, const char *version,
    struct str items)
{
	static const struct {
		const char *all, *scope, *items;
	} names[] = {
		[OTLP_TRACES] = { "resourceSpans", "scopeSpans", "spans" },
		[OTLP_LOGS] = { "resourceLogs", "scopeLogs", "logRecords" },
	};

	buf_fmt(b, "{\"%s\":[{\"resource\":{\"attributes\":["
	    "{\"key\":\"service.name\",\"value\":{\"stringValue\":\"waza\"}},"
	    "{\"key\":\"service.version\",\"value\":{\"stringValue\":\"%s\"}}"
	    "]},\"%s\":[{\"scope\":{\"name\":\"waza\",\"version\":\"%s\"},"
	    "\"%s\":[", names[signal].all, version, names[signal].scope,
	    version, names[signal].items);
	buf_put(b, items);
	buf_puts(b, "]}]}]}");
}

void
otlp_id(char out[OTLP_SPAN_ID], const struct otlp_run *r, const char *kind,
    struct str name, int64_t n)
{
	struct sha256 h;
	char hex[SHA256_HEX], text[24];

	snprintf(text, sizeof(text), "%" PRId64, n);
	sha256_init(&h);
	sha256_put(&h, r->seed);
	sha256_put(&h, (struct str){ "\0", 1 });
	sha256_put(&h, str_of(kind));
	sha256_put(&h, (struct str){ "\0", 1 });
	sha256_put(&h, name);
	sha256_put(&h, (struct str){ "\0", 1 });
	sha256_put(&h, str_of(text));
	sha256_end(&h, hex);
	memcpy(out, hex, OTLP_SPAN_ID - 1);
	out[OTLP_SPAN_ID - 1] = '\0';
}

struct str
otlp_verdict(struct str status)
{
	return str_is(status, "passed") ? STR("pass") :
	    str_is(status, "skipped") ? STR("skipped") : STR("fail");
}
