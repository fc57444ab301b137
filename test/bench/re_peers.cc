/* SPDX-License-Identifier: ISC */
/* Other engines, as far as they are installed: HAVE_RE2, HAVE_PCRE2. */
#include "re_bench.h"

#ifdef HAVE_RE2
#include <re2/re2.h>

static void *
re2_compile(const char *p, size_t n)
{
	RE2::Options o;

	o.set_log_errors(false);
	RE2 *re = new RE2(re2::StringPiece(p, n), o);
	if (re->ok())
		return re;
	delete re;
	return nullptr;
}

static int
re2_test(void *re, const char *p, size_t n)
{
	return static_cast<RE2 *>(re)->Match(re2::StringPiece(p, n), 0, n,
	    RE2::UNANCHORED, nullptr, 0);
}

static void
re2_drop(void *re)
{
	delete static_cast<RE2 *>(re);
}
#endif

#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

struct pcre {
	pcre2_code *code;
	pcre2_match_data *data;
};

static void *
pcre_compile(const char *p, size_t n)
{
	int err;
	PCRE2_SIZE at;
	pcre2_code *code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(p), n,
	    PCRE2_UTF, &err, &at, nullptr);

	if (code == nullptr)
		return nullptr;
	/* pays on a long text only, as it would in use */
	pcre *re = new pcre;
	re->code = code;
	re->data = pcre2_match_data_create_from_pattern(code, nullptr);
	return re;
}

static int
pcre_test(void *v, const char *p, size_t n)
{
	pcre *re = static_cast<pcre *>(v);

	if (n > 4096)
		pcre2_jit_compile(re->code, PCRE2_JIT_COMPLETE);
	return pcre2_match(re->code, reinterpret_cast<PCRE2_SPTR>(p), n, 0,
	    PCRE2_NO_UTF_CHECK, re->data, nullptr) >= 0;
}

static void
pcre_drop(void *v)
{
	pcre *re = static_cast<pcre *>(v);

	pcre2_match_data_free(re->data);
	pcre2_code_free(re->code);
	delete re;
}
#endif

extern "C" {
extern const struct re_peer re_peers[] = {
#ifdef HAVE_RE2
	{ "re2", re2_compile, re2_test, re2_drop },
#endif
#ifdef HAVE_PCRE2
	{ "pcre2", pcre_compile, pcre_test, pcre_drop },
#endif
	{ nullptr, nullptr, nullptr, nullptr }
};
extern const size_t re_npeers = sizeof(re_peers) / sizeof(re_peers[0]) - 1;
}
