/* SPDX-License-Identifier: ISC */
/*
 * lsp.h: lsp_.  A language server (Language Server Protocol 3.17) for suites,
 * tasks, trigger tests, settings and skills.
 *
 * It works on the text in the editor, saved or not.  Diagnostics come from the
 * loader of suites, which reads the editor's text of the files that are open;
 * completion and hover come from the schemas (editor_schema.h) and need no
 * text that can be parsed.  It writes no file and starts no process.
 */
#ifndef WAZA_LSP_H
#define WAZA_LSP_H

#include <stddef.h>

#include "base/base.h"
#include "io/loop.h"

struct json;
struct rpc;
struct rpc_peer;

enum {
	LSP_DOCS_MAX = 1000,		/* open documents */
	LSP_TEXT_MAX = 16 << 20,	/* bytes of one */
	LSP_URI_MAX = 8 << 10,		/* bytes of a name */
	LSP_ITEMS_MAX = 1000,		/* candidates of a completion */
	LSP_SYMBOLS_MAX = 20000,	/* symbols and lenses of a document */
	LSP_FINDINGS_MAX = 1000,	/* diagnostics of a document */
	LSP_CHECK_MS = 150		/* from a change to its diagnostics */
};

/* The kinds of documents, each with a schema. */
enum lsp_kind { LSP_OTHER, LSP_EVAL, LSP_TASK, LSP_TRIGGER, LSP_CONFIG,
	LSP_SKILL, LSP_KIND__MAX };

/* One server, for one client.  Zero it. */
struct lsp {
	struct rpc *rpc;		/* private from here */
	struct rpc_peer *peer;		/* the client; NULL: not yet */
	struct lsp_doc *docs;
	size_t ndocs;
	struct timer check;
	struct arena arena;		/* holds the schemas */
	const struct json *schemas[LSP_KIND__MAX];	/* NULL: not made */
};

/* Registers the methods, after rpc_init(). */
void lsp_add(struct rpc *, struct lsp *);

#endif
