/* SPDX-License-Identifier: ISC */
/*
 * The other libraries behind one interface; each only with its HAVE_ macro.
 * All are used as their manuals show first: default flags, one document per
 * text.  RapidJSON gets its pool allocator back between texts where ours
 * gets its arena back.  (Jansson, too, has a json_equal(); nothing here
 * calls it, so that it does not matter whose is linked.)
 */
#include "json_bench.h"

#include <string.h>

#ifdef HAVE_RAPIDJSON
#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

static int
rapid_read(const struct bench_text *t, size_t n)
{
	static char buffer[65536];
	size_t i;

	/* One text: a document of its own; many small ones: pools reused. */
	if (n == 1) {
		rapidjson::Document d;

		return !d.Parse(t->p, t->n).HasParseError();
	}
	for (i = 0; i < n; i++) {
		static char stack[8192];
		rapidjson::MemoryPoolAllocator<> values(buffer, sizeof(buffer));
		rapidjson::MemoryPoolAllocator<> levels(stack, sizeof(stack));
		rapidjson::GenericDocument<rapidjson::UTF8<>,
		    rapidjson::MemoryPoolAllocator<>,
		    rapidjson::MemoryPoolAllocator<> >
		    d(&values, 1024, &levels);

		if (d.Parse(t[i].p, t[i].n).HasParseError())
			return 0;
	}
	return 1;
}

static double
rapid_add(const rapidjson::Value &v)
{
	double sum = 0;

	if (v.IsNumber())
		return v.GetDouble();
	if (v.IsArray())
		for (auto &c : v.GetArray())
			sum += rapid_add(c);
	if (v.IsObject())
		for (auto &m : v.GetObject())
			sum += rapid_add(m.value);
	return sum;
}

static double
rapid_sum(const struct bench_text *t, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		rapidjson::Document d;

		d.Parse(t[i].p, t[i].n);
		sum += rapid_add(d);
	}
	return sum;
}

static void *
rapid_tree(const struct bench_text *t)
{
	rapidjson::Document *d = new rapidjson::Document;

	d->Parse(t->p, t->n);
	return d;
}

static size_t
rapid_write(void *tree)
{
	rapidjson::StringBuffer b;
	rapidjson::Writer<rapidjson::StringBuffer> w(b);

	static_cast<rapidjson::Document *>(tree)->Accept(w);
	return b.GetSize();
}

static void
rapid_drop(void *tree)
{
	delete static_cast<rapidjson::Document *>(tree);
}
#endif

#ifdef HAVE_SIMDJSON
#include <simdjson.h>

static simdjson::dom::parser simd_parser;

static int
simd_read(const struct bench_text *t, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (simd_parser.parse(t[i].p, t[i].n).error())
			return 0;
	return 1;
}

static double
simd_add(simdjson::dom::element v)
{
	double sum = 0;

	if (v.is_number())
		return double(v);
	if (v.is_array())
		for (auto c : simdjson::dom::array(v))
			sum += simd_add(c);
	if (v.is_object())
		for (auto m : simdjson::dom::object(v))
			sum += simd_add(m.value);
	return sum;
}

static double
simd_sum(const struct bench_text *t, size_t n)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < n; i++)
		sum += simd_add(simd_parser.parse(t[i].p, t[i].n).value());
	return sum;
}
#endif

#ifdef HAVE_CJSON
#include <cjson/cJSON.h>

#include <stdlib.h>

static int
cjson_read(const struct bench_text *t, size_t n)
{
	cJSON *v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = cJSON_ParseWithLength(t[i].p, t[i].n);
		if (v == NULL)
			return 0;
		cJSON_Delete(v);
	}
	return 1;
}

static double
cjson_add(const cJSON *v)
{
	double sum = 0;

	if (cJSON_IsNumber(v))
		return v->valuedouble;
	for (v = v->child; v != NULL; v = v->next)
		sum += cjson_add(v);
	return sum;
}

static double
cjson_sum(const struct bench_text *t, size_t n)
{
	double sum = 0;
	size_t i;
	cJSON *v;

	for (i = 0; i < n; i++) {
		v = cJSON_ParseWithLength(t[i].p, t[i].n);
		sum += cjson_add(v);
		cJSON_Delete(v);
	}
	return sum;
}

static void *
cjson_tree(const struct bench_text *t)
{
	return cJSON_ParseWithLength(t->p, t->n);
}

static size_t
cjson_write(void *tree)
{
	char *s = cJSON_PrintUnformatted(static_cast<cJSON *>(tree));
	size_t n = strlen(s);

	free(s);
	return n;
}

static void
cjson_drop(void *tree)
{
	cJSON_Delete(static_cast<cJSON *>(tree));
}
#endif

#ifdef HAVE_JANSSON
#include <jansson.h>

#include <stdlib.h>

static int
jansson_read(const struct bench_text *t, size_t n)
{
	json_error_t e;
	json_t *v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = json_loadb(t[i].p, t[i].n, JSON_DECODE_ANY, &e);
		if (v == NULL)
			return 0;
		json_decref(v);
	}
	return 1;
}

static double
jansson_add(json_t *v)
{
	const char *key;
	double sum = 0;
	json_t *c;
	size_t i;

	if (json_is_number(v))
		return json_number_value(v);
	json_array_foreach(v, i, c)
		sum += jansson_add(c);
	json_object_foreach(v, key, c)
		sum += jansson_add(c);
	return sum;
}

static double
jansson_sum(const struct bench_text *t, size_t n)
{
	json_error_t e;
	double sum = 0;
	json_t *v;
	size_t i;

	for (i = 0; i < n; i++) {
		v = json_loadb(t[i].p, t[i].n, JSON_DECODE_ANY, &e);
		sum += jansson_add(v);
		json_decref(v);
	}
	return sum;
}
#endif

const struct bench_peer bench_peers[] = {
#ifdef HAVE_RAPIDJSON
	{ "rapidjson", rapid_read, rapid_sum, rapid_tree, rapid_write, rapid_drop },
#endif
#ifdef HAVE_SIMDJSON
	{ "simdjson", simd_read, simd_sum, NULL, NULL, NULL },
#endif
#ifdef HAVE_CJSON
	{ "cjson", cjson_read, cjson_sum, cjson_tree, cjson_write, cjson_drop },
#endif
#ifdef HAVE_JANSSON
	{ "jansson", jansson_read, jansson_sum, NULL, NULL, NULL },
#endif
	{ NULL, NULL, NULL, NULL, NULL, NULL }
};
