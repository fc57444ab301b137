/* SPDX-License-Identifier: ISC */
/*
 * The files of the page.  They contain nothing secret and need no token: the
 * page asks the user for it.
 *
 * The page shows what agents wrote, so its policy trusts only these files: no
 * script, style or address from elsewhere, no markup made from text (trusted
 * types), no frame around it.
 */
#include "web/web_page.h"

#include "lib/http.h"
#include "report/page.h"
#include "web/web.h"

#define POLICY "default-src 'none'; script-src 'self'; style-src 'self'; " \
	"img-src 'self'; connect-src 'self'; base-uri 'none'; " \
	"form-action 'none'; frame-ancestors 'none'; " \
	"require-trusted-types-for 'script'; trusted-types 'none'"

static const struct {
	const char *end, *type;
} types[] = {
	{ ".css", "text/css; charset=utf-8" },
	{ ".html", "text/html; charset=utf-8" },
	{ ".js", "text/javascript; charset=utf-8" },
	{ ".svg", "image/svg+xml" },
};

static const char *
type_of(struct str name)
{
	size_t i;

	for (i = 0; i < COUNTOF(types); i++)
		if (str_ends(name, str_of(types[i].end)))
			return types[i].type;
	return "application/octet-stream";
}

static void
answer(struct web_req *r, struct str name)
{
	bool gzip = http_has(r->head, "accept-encoding", "gzip");
	struct str text = gzip ? page_gzip(name) : page_file(r->arena, name);

	if (text.p == NULL) {
		web_fail(r, 404, "not_found", STR("Not found"), STR(""));
		return;
	}
	web_field(r, "Content-Security-Policy", STR(POLICY));
	web_field(r, "Cross-Origin-Opener-Policy", STR("same-origin"));
	/* a newer version of the program may have newer files */
	web_field(r, "Cache-Control", STR("no-cache"));
	web_field(r, "Vary", STR("Accept-Encoding"));
	if (gzip)
		web_field(r, "Content-Encoding", STR("gzip"));
	web_answer(r, 200, type_of(name), text);
}

static void
index_html(struct web_req *r)
{
	answer(r, STR("index.html"));
}

static void
file(struct web_req *r)
{
	answer(r, r->param[0]);
}

static const struct web_route rows[] = {
	{ WEB_GET, "/", WEB_OPEN, index_html,
	    .help = "Return the page", .type = "text/html" },
	{ WEB_GET, "/page/:name", WEB_OPEN, file,
	    .help = "Return a file of the page", .type = "*/*" },
};

void
web_page_add(struct web *w)
{
	web_add(w, rows, COUNTOF(rows), NULL);
}
