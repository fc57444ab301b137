/* SPDX-License-Identifier: ISC */
/*
 * The methods of the language server.  Their parameters are read from the tree:
 * clients send many members that do not matter here.
 */
#include "editor/lsp.h"

#include "editor/lsp_internal.h"
#include "rpc/rpc_view.h"

static enum rpc_status
initialize(struct rpc_call *c, void *params)
{
	struct lsp *l = c->arg;
	struct json_out *o = &c->out;

	(void)params;
	l->peer = c->peer;
	json_open(o, '{');
	json_open_member(o, "capabilities", '{');
	json_put_member_cstr(o, "positionEncoding", "utf-16");
	json_put_member_raw(o, "textDocumentSync", STR("{\"openClose\":true,"
	    "\"change\":2,\"save\":{\"includeText\":false}}"));
	json_put_member_raw(o, "completionProvider",
	    STR("{\"triggerCharacters\":[\":\",\" \",\"/\",\"-\"]}"));
	json_put_member_bool(o, "hoverProvider", true);
	json_put_member_bool(o, "documentSymbolProvider", true);
	json_put_member_raw(o, "codeLensProvider",
	    STR("{\"resolveProvider\":false}"));
	json_close(o, '}');
	json_open_member(o, "serverInfo", '{');
	json_put_member_cstr(o, "name", "waza");
	json_put_member_cstr(o, "version", c->rpc->version);
	json_close(o, '}');
	json_close(o, '}');
	return RPC_DONE;
}

static void
on_check(void *arg)
{
	lsp_check(arg);
}

/* Checks the documents when the client has been silent for a while. */
static void
check_later(struct lsp *l, int64_t ms)
{
	timer_once(l->rpc->loop, &l->check, ms, on_check, l);
}

static enum rpc_status
nothing(struct rpc_call *c, void *params)
{
	(void)params;
	json_put_null(&c->out);
	return RPC_DONE;
}

static enum rpc_status
did_open(struct rpc_call *c, void *params)
{
	struct lsp *l = c->arg;
	const struct json *d = json_getc(c->params, "textDocument");

	l->peer = c->peer;
	if (lsp_open(l, json_str(d, "uri"), json_str(d, "text")) != NULL)
		check_later(l, 0);
	return nothing(c, params);
}

/* A document whose change cannot be applied is forgotten: it would be wrong. */
static enum rpc_status
did_change(struct rpc_call *c, void *params)
{
	struct lsp *l = c->arg;
	struct lsp_doc *d = lsp_doc_of(c);
	const struct json *v = json_first(json_getc(c->params,
	    "contentChanges"));

	for (; v != NULL && d != NULL; v = v->next)
		if (!lsp_change(d, v)) {
			lsp_withdraw(d);
			lsp_close(d);
			d = NULL;
		}
	check_later(l, LSP_CHECK_MS);
	return nothing(c, params);
}

/* Other documents can depend on the saved file. */
static enum rpc_status
did_save(struct rpc_call *c, void *params)
{
	struct lsp *l = c->arg;
	struct lsp_doc *d;

	for (d = l->docs; d != NULL; d = d->next)
		d->stale = true;
	check_later(l, 0);
	return nothing(c, params);
}

static enum rpc_status
did_close(struct rpc_call *c, void *params)
{
	struct lsp_doc *d = lsp_doc_of(c);

	if (d != NULL) {
		lsp_withdraw(d);
		lsp_close(d);
	}
	return nothing(c, params);
}

#define METHOD(n, f, text) { .name = n, .family = RPC_SESSION, .fn = f, \
	.help = text }
static const struct rpc_method methods[] = {
	METHOD("initialize", initialize, "introduce client and server"),
	METHOD("initialized", nothing, "the client is ready"),
	METHOD("textDocument/codeLens", lsp_lenses, "commands above tasks"),
	METHOD("textDocument/completion", lsp_complete,
	    "candidates at a position"),
	METHOD("textDocument/didChange", did_change, "a document was edited"),
	METHOD("textDocument/didClose", did_close, "a document was closed"),
	METHOD("textDocument/didOpen", did_open, "a document was opened"),
	METHOD("textDocument/didSave", did_save, "a document was saved"),
	METHOD("textDocument/documentSymbol", lsp_symbols,
	    "parts of a document"),
	METHOD("textDocument/hover", lsp_hover, "help about a position"),
	METHOD("workspace/didChangeWatchedFiles", did_save,
	    "files were changed by other programs"),
};

static void
on_gone(void *arg, struct rpc_peer *p)
{
	struct lsp *l = arg;

	if (l->peer == p)
		l->peer = NULL;
}

static void
on_cancel(void *arg)
{
	struct lsp *l = arg;

	timer_stop(l->rpc->loop, &l->check);
}

static void
on_close(void *arg)
{
	struct lsp *l = arg;

	on_cancel(l);
	while (l->docs != NULL)
		lsp_close(l->docs);
	arena_free(&l->arena);
}

static const struct rpc_module module = { .methods = methods,
	.nmethods = COUNTOF(methods), .gone = on_gone, .cancel = on_cancel,
	.close = on_close };

void
lsp_add(struct rpc *r, struct lsp *l)
{
	l->rpc = r;
	rpc_add_about(r);
	rpc_add(r, &module, l);
}
