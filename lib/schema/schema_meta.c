/* SPDX-License-Identifier: ISC */
/*
 * The meta-schemas of draft 7 and of draft 2020-12 with its vocabularies,
 * without titles, defaults and comments.
 */
#include "lib/schema/schema_internal.h"

#define D2020 "https://json-schema.org/draft/2020-12/"
#define HEAD(name) "{\"$schema\":\"" D2020 "schema\"," \
	"\"$id\":\"" D2020 name "\"," \
	"\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],"
#define META "{\"$dynamicRef\":\"#meta\"}"
#define METAS "{\"type\":\"object\",\"additionalProperties\":" META "}"
#define STRING "{\"type\":\"string\"}"
#define REF(name) "{\"$ref\":\"#/$defs/" name "\"}"
#define DEF(name) "{\"$ref\":\"#/definitions/" name "\"}"
#define SELF "{\"$ref\":\"#\"}"
#define SELVES "{\"type\":\"object\",\"additionalProperties\":" SELF "}"
#define BOOLEAN "{\"type\":\"boolean\"}"
#define TYPES "{\"enum\":[\"array\",\"boolean\",\"integer\",\"null\"," \
	"\"number\",\"object\",\"string\"]}"
#define REGEX "\"propertyNames\":{\"format\":\"regex\"}"

static const char draft7[] =
	"{\"$schema\":\"http://json-schema.org/draft-07/schema#\","
	"\"$id\":\"http://json-schema.org/draft-07/schema#\",\"definitions\":{"
	"\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" SELF "},"
	"\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},"
	"\"nonNegativeIntegerDefault0\":{\"allOf\":[" DEF("nonNegativeInteger") ","
	"{\"default\":0}]},"
	"\"simpleTypes\":" TYPES ","
	"\"stringArray\":{\"type\":\"array\",\"items\":" STRING ",\"uniqueItems\":true}},"
	"\"type\":[\"object\",\"boolean\"],\"properties\":{"
	"\"$id\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
	"\"$schema\":{\"type\":\"string\",\"format\":\"uri\"},"
	"\"$ref\":{\"type\":\"string\",\"format\":\"uri-reference\"},"
	"\"$comment\":" STRING ",\"title\":" STRING ",\"description\":" STRING ","
	"\"default\":true,\"readOnly\":" BOOLEAN ",\"writeOnly\":" BOOLEAN ","
	"\"examples\":{\"type\":\"array\",\"items\":true},"
	"\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
	"\"maximum\":{\"type\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},"
	"\"minimum\":{\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"number\"},"
	"\"maxLength\":" DEF("nonNegativeInteger") ","
	"\"minLength\":" DEF("nonNegativeIntegerDefault0") ","
	"\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},"
	"\"additionalItems\":" SELF ",\"items\":{\"anyOf\":[" SELF "," DEF("schemaArray") "]},"
	"\"maxItems\":" DEF("nonNegativeInteger") ","
	"\"minItems\":" DEF("nonNegativeIntegerDefault0") ",\"uniqueItems\":" BOOLEAN ","
	"\"contains\":" SELF ",\"maxProperties\":" DEF("nonNegativeInteger") ","
	"\"minProperties\":" DEF("nonNegativeIntegerDefault0") ","
	"\"required\":" DEF("stringArray") ",\"additionalProperties\":" SELF ","
	"\"definitions\":" SELVES ",\"properties\":" SELVES ","
	"\"patternProperties\":{\"type\":\"object\",\"additionalProperties\":" SELF "," REGEX "},"
	"\"dependencies\":{\"type\":\"object\",\"additionalProperties\":{\"anyOf\":[" SELF ","
	DEF("stringArray") "]}},\"propertyNames\":" SELF ",\"const\":true,"
	"\"enum\":{\"type\":\"array\",\"items\":true},"
	"\"type\":{\"anyOf\":[" DEF("simpleTypes") ",{\"type\":\"array\",\"items\":"
	DEF("simpleTypes") ",\"minItems\":1,\"uniqueItems\":true}]},"
	"\"format\":" STRING ",\"contentMediaType\":" STRING ",\"contentEncoding\":" STRING ","
	"\"if\":" SELF ",\"then\":" SELF ",\"else\":" SELF ",\"allOf\":" DEF("schemaArray") ","
	"\"anyOf\":" DEF("schemaArray") ",\"oneOf\":" DEF("schemaArray") ",\"not\":" SELF "}}";

static const char schema[] = HEAD("schema") "\"$vocabulary\":{"
	"\"" D2020 "vocab/core\":true,\"" D2020 "vocab/applicator\":true,"
	"\"" D2020 "vocab/unevaluated\":true,\"" D2020 "vocab/validation\":true,"
	"\"" D2020 "vocab/meta-data\":true,\"" D2020 "vocab/format-annotation\":true,"
	"\"" D2020 "vocab/content\":true},\"allOf\":["
	"{\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},{\"$ref\":\"meta/unevaluated\"},"
	"{\"$ref\":\"meta/validation\"},{\"$ref\":\"meta/meta-data\"},"
	"{\"$ref\":\"meta/format-annotation\"},{\"$ref\":\"meta/content\"}],"
	"\"properties\":{\"definitions\":" METAS ",\"dependencies\":{\"type\":\"object\","
	"\"additionalProperties\":{\"anyOf\":[" META ","
	"{\"$ref\":\"meta/validation#/$defs/stringArray\"}]}},"
	"\"$recursiveAnchor\":{\"$ref\":\"meta/core#/$defs/anchorString\"},"
	"\"$recursiveRef\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\"}}}";

static const char core[] = HEAD("meta/core") "\"properties\":{"
	"\"$id\":{\"$ref\":\"#/$defs/uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},"
	"\"$schema\":" REF("uriString") ",\"$ref\":" REF("uriReferenceString") ","
	"\"$anchor\":" REF("anchorString") ",\"$dynamicRef\":" REF("uriReferenceString") ","
	"\"$dynamicAnchor\":" REF("anchorString") ",\"$vocabulary\":{\"type\":\"object\","
	"\"propertyNames\":" REF("uriString") ",\"additionalProperties\":" BOOLEAN "},"
	"\"$comment\":" STRING ",\"$defs\":" METAS "},\"$defs\":{"
	"\"anchorString\":{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},"
	"\"uriString\":{\"type\":\"string\",\"format\":\"uri\"},"
	"\"uriReferenceString\":{\"type\":\"string\",\"format\":\"uri-reference\"}}}";

static const char applicator[] = HEAD("meta/applicator") "\"properties\":{"
	"\"prefixItems\":" REF("schemaArray") ",\"items\":" META ",\"contains\":" META ","
	"\"additionalProperties\":" META ",\"properties\":" METAS ","
	"\"patternProperties\":{\"type\":\"object\",\"additionalProperties\":" META "," REGEX "},"
	"\"dependentSchemas\":" METAS ",\"propertyNames\":" META ",\"if\":" META ","
	"\"then\":" META ",\"else\":" META ",\"allOf\":" REF("schemaArray") ","
	"\"anyOf\":" REF("schemaArray") ",\"oneOf\":" REF("schemaArray") ",\"not\":" META "},"
	"\"$defs\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":" META "}}}";

static const char unevaluated[] = HEAD("meta/unevaluated") "\"properties\":{"
	"\"unevaluatedItems\":" META ",\"unevaluatedProperties\":" META "}}";

static const char validation[] = HEAD("meta/validation") "\"properties\":{"
	"\"type\":{\"anyOf\":[" REF("simpleTypes") ",{\"type\":\"array\",\"items\":"
	REF("simpleTypes") ",\"minItems\":1,\"uniqueItems\":true}]},"
	"\"const\":true,\"enum\":{\"type\":\"array\",\"items\":true},"
	"\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},"
	"\"maximum\":{\"type\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},"
	"\"minimum\":{\"type\":\"number\"},\"exclusiveMinimum\":{\"type\":\"number\"},"
	"\"maxLength\":" REF("nonNegativeInteger") ","
	"\"minLength\":" REF("nonNegativeIntegerDefault0") ","
	"\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},"
	"\"maxItems\":" REF("nonNegativeInteger") ","
	"\"minItems\":" REF("nonNegativeIntegerDefault0") ",\"uniqueItems\":" BOOLEAN ","
	"\"maxContains\":" REF("nonNegativeInteger") ","
	"\"minContains\":" REF("nonNegativeInteger") ","
	"\"maxProperties\":" REF("nonNegativeInteger") ","
	"\"minProperties\":" REF("nonNegativeIntegerDefault0") ","
	"\"required\":" REF("stringArray") ",\"dependentRequired\":{\"type\":\"object\","
	"\"additionalProperties\":" REF("stringArray") "}},\"$defs\":{"
	"\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},"
	"\"nonNegativeIntegerDefault0\":{\"$ref\":\"#/$defs/nonNegativeInteger\",\"default\":0},"
	"\"simpleTypes\":" TYPES ","
	"\"stringArray\":{\"type\":\"array\",\"items\":" STRING ",\"uniqueItems\":true}}}";

static const char meta_data[] = HEAD("meta/meta-data") "\"properties\":{"
	"\"title\":" STRING ",\"description\":" STRING ",\"default\":true,"
	"\"deprecated\":" BOOLEAN ",\"readOnly\":" BOOLEAN ",\"writeOnly\":" BOOLEAN ","
	"\"examples\":{\"type\":\"array\",\"items\":true}}}";

static const char format[] = HEAD("meta/format-annotation") "\"properties\":{"
	"\"format\":" STRING "}}";

static const char content[] = HEAD("meta/content") "\"properties\":{"
	"\"contentEncoding\":" STRING ",\"contentMediaType\":" STRING ","
	"\"contentSchema\":" META "}}";

#define ROW(uri, text) { uri, text, sizeof(text) - 1 }
static const struct {
	const char *uri, *text;
	size_t n;
} texts[] = {
	ROW("http://json-schema.org/draft-07/schema", draft7),
	ROW(D2020 "schema", schema),
	ROW(D2020 "meta/core", core),
	ROW(D2020 "meta/applicator", applicator),
	ROW(D2020 "meta/unevaluated", unevaluated),
	ROW(D2020 "meta/validation", validation),
	ROW(D2020 "meta/meta-data", meta_data),
	ROW(D2020 "meta/format-annotation", format),
	ROW(D2020 "meta/content", content),
};

struct str
schema_meta_text(struct str uri)
{
	size_t i;

	for (i = 0; i < COUNTOF(texts); i++)
		if (str_is(uri, texts[i].uri))
			return (struct str){ texts[i].text, texts[i].n };
	return STR("");
}
