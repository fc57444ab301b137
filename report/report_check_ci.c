/* SPDX-License-Identifier: ISC */
/* The reports of `waza check` for programs: GitHub, SARIF and JSON. */
#include "report/report_check.h"

#include <string.h>

#include "json.h"
#include "report/report_internal.h"
#include "skill/check.h"

static const char *
plain_path(const char *file)
{
	while (strncmp(file, "./", 2) == 0)
		file += 2;
	return file;
}

void
report_check_github(struct buf *b, const struct check *const *v, size_t n)
{
	const struct check_finding *f;
	size_t i;

	for (i = 0; i < n; i++)
		for (f = v[i]->findings; f != NULL; f = f->next) {
			if (f->severity == CHECK_NOTE)
				continue;
			buf_fmt(b, "::%s file=",
			    check_severity_name(f->severity));
			report_annotation(b, str_of(plain_path(f->file)), true);
			if (f->line > 0)
				buf_fmt(b, ",line=%u,col=%u", f->line, f->col);
			buf_fmt(b, ",title=%s::", f->rule);
			report_annotation(b, utf8_cut(f->message,
			    REPORT_REASON), false);
			buf_putc(b, '\n');
		}
}

/*
 * SARIF 2.1.0 (OASIS)
 */
static void
put_text(struct json_out *o, const char *key, struct str text)
{
	json_open_member(o, key, '{');
	json_put_member_str(o, "text", text);
	json_close(o, '}');
}

static void
put_rules(struct json_out *o)
{
	const struct check_rule *r;

	json_open_member(o, "rules", '[');
	for (r = check_rules; r->name != NULL; r++) {
		json_open(o, '{');
		json_put_member_cstr(o, "id", r->name);
		put_text(o, "shortDescription", str_of(r->help));
		json_close(o, '}');
	}
	json_close(o, ']');
}

/* A path as a relative or file URI. */
static void
put_uri(struct json_out *o, const char *file)
{
	struct buf b = { 0 };

	if (*file == '/')
		buf_puts(&b, "file://");
	for (file = plain_path(file); *file != '\0'; file++)
		if ((*file >= 'a' && *file <= 'z') || (*file >= 'A' &&
		    *file <= 'Z') || (*file >= '0' && *file <= '9') ||
		    strchr("/-._~", *file) != NULL)
			buf_putc(&b, *file);
		else
			buf_fmt(&b, "%%%02X", (unsigned char)*file);
	json_put_member_str(o, "uri", buf_str(&b));
	buf_free(&b);
}

static void
put_result(struct json_out *o, const struct check_finding *f)
{
	json_open(o, '{');
	json_put_member_cstr(o, "ruleId", f->rule);
	json_put_member_cstr(o, "level", check_severity_name(f->severity));
	put_text(o, "message", f->message);
	json_open_member(o, "locations", '[');
	json_open(o, '{');
	json_open_member(o, "physicalLocation", '{');
	json_open_member(o, "artifactLocation", '{');
	put_uri(o, f->file);
	json_close(o, '}');
	if (f->line > 0) {
		json_open_member(o, "region", '{');
		json_put_member_int(o, "startLine", f->line);
		if (f->col > 0)
			json_put_member_int(o, "startColumn", f->col);
		json_close(o, '}');
	}
	json_close(o, '}');
	json_close(o, '}');
	json_close(o, ']');
	json_close(o, '}');
}

void
report_check_sarif(struct buf *b, const struct check *const *v, size_t n,
    const char *version)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	const struct check_finding *f;
	size_t i;

	json_open(&o, '{');
	json_put_member_cstr(&o, "$schema", "https://docs.oasis-open.org/sarif/"
	    "sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json");
	json_put_member_cstr(&o, "version", "2.1.0");
	json_open_member(&o, "runs", '[');
	json_open(&o, '{');
	json_open_member(&o, "tool", '{');
	json_open_member(&o, "driver", '{');
	json_put_member_cstr(&o, "name", "waza check");
	json_put_member_cstr(&o, "version", version);
	put_rules(&o);
	json_close(&o, '}');
	json_close(&o, '}');
	json_put_member_cstr(&o, "columnKind", "unicodeCodePoints");
	json_open_member(&o, "results", '[');
	for (i = 0; i < n; i++)
		for (f = v[i]->findings; f != NULL; f = f->next)
			put_result(&o, f);
	json_close(&o, ']');
	json_close(&o, '}');
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
}

void
report_check_json(struct buf *b, const struct check *const *v, size_t n,
    int64_t wall_ns)
{
	struct json_out o = { .put = buf_sink, .ctx = b, .indent = 2 };
	struct buf time = { 0 };
	size_t i;

	report_stamp(&time, wall_ns, REPORT_ISO);
	buf_fmt(&time, ".%09dZ", (int)(wall_ns % 1000000000));
	json_open(&o, '{');
	json_put_member_str(&o, "timestamp", buf_str(&time));
	json_open_member(&o, "skills", '[');
	for (i = 0; i < n; i++)
		check_put(&o, v[i]);
	json_close(&o, ']');
	json_close(&o, '}');
	buf_putc(b, '\n');
	buf_free(&time);
}
