/* SPDX-License-Identifier: ISC */
/*
 * /api/v1/openapi.json: the routes of this server as OpenAPI 3.1, made from
 * their tables.  WebSockets are left out: OpenAPI cannot describe them.
 */
#include "web/web_api_internal.h"

#include <string.h>

#include "json.h"

static const struct verb {
	unsigned bit;
	const char *name;
} verbs[] = {
	{ WEB_GET, "get" }, { WEB_POST, "post" }, { WEB_PUT, "put" },
	{ WEB_DELETE, "delete" }, { WEB_PATCH, "patch" },
};

/* The ith row of all tables, or NULL. */
static const struct web_route *
nth_row(const struct web *w, size_t i)
{
	size_t k;

	for (k = 0; k < w->ntables; k++) {
		if (i < w->table[k].n)
			return &w->table[k].rows[i];
		i -= w->table[k].n;
	}
	return NULL;
}

/* "/runs/:id" as "/runs/{id}". */
static struct str
path_of(struct arena *a, const char *path)
{
	struct buf b = { 0 };
	const char *p;
	bool in = false;

	for (p = path; *p != '\0'; p++) {
		if (*p == '/' && in)
			buf_putc(&b, '}');
		if (*p == ':')
			buf_putc(&b, '{');
		else
			buf_putc(&b, *p);
		in = *p == ':' || (in && *p != '/');
	}
	if (in)
		buf_putc(&b, '}');
	return arena_take(a, &b);
}

/* "get /api/v1/runs/:id" as "getApiV1RunsId"; unique, as the paths are. */
static struct str
operation_id(struct arena *a, const char *verb, const char *path)
{
	struct buf b = { 0 };
	bool upper = false;
	const char *p;
	char c;

	buf_puts(&b, verb);
	for (p = path; *p != '\0'; p++) {
		c = *p;
		if (c == '/' || c == ':' || c == '.') {
			upper = true;
			continue;
		}
		buf_putc(&b, upper && c >= 'a' && c <= 'z' ?
		    (char)(c - 'a' + 'A') : c);
		upper = false;
	}
	return arena_take(a, &b);
}

/*
 * Parameters.
 */
static void
put_type(struct json_out *o, const struct web_param *p)
{
	const char *const *w;

	json_open_member(o, "schema", '{');
	json_put_member_cstr(o, "type", p->number ? "integer" : "string");
	if (p->number)
		json_put_member_int(o, "minimum", 0);
	if (p->words != NULL) {
		json_open_member(o, "enum", '[');
		for (w = p->words; *w != NULL; w++)
			json_put_cstr(o, *w);
		json_close(o, ']');
	}
	json_close(o, '}');
}

static void
put_param(struct json_out *o, const struct web_param *p, const char *in)
{
	json_open(o, '{');
	json_put_member_cstr(o, "name", p->name);
	json_put_member_cstr(o, "in", in);
	if (p->required)
		json_put_member_bool(o, "required", true);
	if (p->help != NULL)
		json_put_member_cstr(o, "description", p->help);
	put_type(o, p);
	json_close(o, '}');
}

static void
put_params(struct json_out *o, struct arena *a, const struct web_route *r)
{
	struct web_param p = { .required = true };
	const char *at;
	size_t i;

	if (strchr(r->path, ':') == NULL && r->nquery == 0)
		return;
	json_open_member(o, "parameters", '[');
	for (at = strchr(r->path, ':'); at != NULL; at = strchr(at, ':')) {
		at++;
		p.name = arena_str(a, (struct str){ at,
		    strcspn(at, "/") }).p;
		put_param(o, &p, "path");
	}
	for (i = 0; i < r->nquery; i++)
		put_param(o, &r->query[i], "query");
	json_close(o, ']');
}

/*
 * Bodies.
 */
static void
put_body(struct json_out *o, struct rpc *rpc, const struct web_route *r)
{
	if (r->body == NULL)
		return;
	json_open_member(o, "requestBody", '{');
	json_put_member_bool(o, "required", true);
	json_open_member(o, "content", '{');
	json_open_member(o, "application/json", '{');
	json_put_key(o, STR("schema"));
	if (r->body[0] != '\0')
		rpc_view_params(rpc, r->body, o);
	else
		json_put_raw(o, STR("{}"));
	json_close(o, '}');
	json_close(o, '}');
	json_close(o, '}');
}

static void
put_response(struct json_out *o, const char *status, const char *words,
    const char *type, const char *schema)
{
	json_open_member(o, status, '{');
	json_put_member_cstr(o, "description", words);
	json_open_member(o, "content", '{');
	json_open_member(o, type, '{');
	json_put_member_raw(o, "schema", str_of(schema));
	json_close(o, '}');
	json_close(o, '}');
	json_close(o, '}');
}

static void
put_responses(struct json_out *o, struct arena *a, const struct web_route *r)
{
	const char *type = r->type != NULL ? r->type : "application/json";
	const char *status = arena_fmt(a, "%d", r->status != 0 ? r->status :
	    200).p;

	json_open_member(o, "responses", '{');
	put_response(o, status, "Success", type, r->type != NULL ?
	    "{\"type\":\"string\"}" : r->list ? "{\"type\":\"array\"}" :
	    "{\"type\":\"object\"}");
	put_response(o, "default", "The request was refused",
	    "application/json", "{\"$ref\":\"#/components/schemas/Error\"}");
	json_close(o, '}');
}

/*
 * Routes.
 */
static void
put_operation(struct web_req *req, struct json_out *o, const char *verb,
    const struct web_route *r)
{
	json_open_member(o, verb, '{');
	json_put_member_str(o, "operationId",
	    operation_id(req->arena, verb, r->path));
	json_put_member_cstr(o, "summary", r->help);
	if (r->flags & WEB_OPEN)
		json_put_member_raw(o, "security", STR("[]"));
	put_params(o, req->arena, r);
	put_body(o, req->web->rpc, r);
	put_responses(o, req->arena, r);
	json_close(o, '}');
}

/* All rows of the path, in one object; nothing after its first row. */
static void
put_path(struct web_req *req, struct json_out *o, size_t first)
{
	const struct web_route *r = nth_row(req->web, first), *other;
	size_t i, k;

	for (i = 0; i < first; i++)
		if (nth_row(req->web, i)->help != NULL &&
		    strcmp(nth_row(req->web, i)->path, r->path) == 0)
			return;
	json_put_key(o, path_of(req->arena, r->path));
	json_open(o, '{');
	for (i = first; (other = nth_row(req->web, i)) != NULL; i++)
		for (k = 0; k < COUNTOF(verbs); k++)
			if (other->methods & verbs[k].bit &&
			    other->help != NULL &&
			    strcmp(other->path, r->path) == 0)
				put_operation(req, o, verbs[k].name, other);
	json_close(o, '}');
}

static void
put_components(struct json_out *o)
{
	json_put_member_raw(o, "components", STR("{\"securitySchemes\":"
	    "{\"token\":{\"type\":\"http\",\"scheme\":\"bearer\"}},"
	    "\"schemas\":{\"Error\":{\"type\":\"object\","
	    "\"required\":[\"error\"],\"properties\":{\"error\":"
	    "{\"type\":\"object\",\"required\":[\"code\",\"kind\","
	    "\"message\"],\"properties\":{\"code\":{\"type\":\"integer\"},"
	    "\"kind\":{\"type\":\"string\"},\"message\":"
	    "{\"type\":\"string\"},\"data\":{\"type\":\"object\"}}}}}}}"));
}

void
web_openapi(struct web_req *req)
{
	const struct web_route *r;
	struct json_out *o;
	size_t i;

	if (!web_api_args(req, NULL, 0))
		return;
	o = web_json(req);
	json_open(o, '{');
	json_put_member_cstr(o, "openapi", "3.1.0");
	json_open_member(o, "info", '{');
	json_put_member_cstr(o, "title", "waza");
	json_put_member_cstr(o, "version", req->web->rpc->version);
	json_put_member_cstr(o, "description", "The HTTP API of waza serve, "
	    "described in waza-rpc(5).");
	json_close(o, '}');
	json_put_member_raw(o, "security", STR("[{\"token\":[]},{}]"));
	json_open_member(o, "paths", '{');
	for (i = 0; (r = nth_row(req->web, i)) != NULL; i++)
		if (r->help != NULL)
			put_path(req, o, i);
	json_close(o, '}');
	put_components(o);
	json_close(o, '}');
	web_end_json(req, 200);
}
