// vscode-languageserver-protocol, the client side of VS Code's language clients,
// with `waza lsp`.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { children, dir, is, load, main, ok, waza } = require('./lib.js');
const p = load('vscode-languageserver-protocol/node');

function start() {
	const child = spawn(waza, ['lsp', '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
	children.add(child);
	child.gone = new Promise((done) => child.on('exit', (status, signal) => {
		children.delete(child);
		done(signal || status);
	}));
	const c = p.createProtocolConnection(new p.StreamMessageReader(child.stdout),
	    new p.StreamMessageWriter(child.stdin));
	c.gone = child.gone;
	c.faults = [];
	c.onError(([e]) => c.faults.push(e.message));
	c.onUnhandledNotification((m) => c.faults.push(m.method));
	c.found = new Map();
	c.waiting = [];
	c.onNotification(p.PublishDiagnosticsNotification.type, (d) => {
		c.found.set(d.uri, d.diagnostics);
		c.waiting = c.waiting.filter((w) => !w());
	});
	// until TEST: once the diagnostics of a document are so
	c.until = (uri, test) => new Promise((done) => {
		const look = () => {
			const d = c.found.get(uri);
			if (!d || !test(d))
				return false;
			done(d);
			return true;
		};
		if (!look())
			c.waiting.push(look);
	});
	c.listen();
	return c;
}

const text = `name: t
skill: s
tasks:
- id: one
  prompt: p
  graders:
  - type: text
    contain: x
`;

main(async () => {
	const c = start();
	const root = path.join(dir, 'lsp');
	fs.mkdirSync(root);
	const uri = pathToFileURL(path.join(root, 'eval.yaml')).href;
	const doc = { uri };
	const r = await c.sendRequest(p.InitializeRequest.type, { processId: process.pid,
	    rootUri: pathToFileURL(root).href, workspaceFolders: null, capabilities: {
		textDocument: { completion: { completionItem: { snippetSupport: true } },
		    publishDiagnostics: { relatedInformation: true } } } });
	is('initialize', [r.serverInfo.name, r.capabilities.textDocumentSync.change],
	    ['waza', p.TextDocumentSyncKind.Incremental]);
	await c.sendNotification(p.InitializedNotification.type, {});
	await c.sendNotification(p.DidOpenTextDocumentNotification.type, { textDocument: {
	    uri, languageId: 'yaml', version: 1, text } });
	const found = await c.until(uri, (d) => d.length > 0);
	const typo = found.find((d) => /contain/.test(d.message));
	is('a diagnostic with its range', typo.range, { start: { line: 7, character: 4 },
	    end: { line: 7, character: 11 } });
	is('an unknown key is a warning', typo.severity, p.DiagnosticSeverity.Warning);

	const at = (line, character) => ({ textDocument: doc, position: { line, character } });
	const list = await c.sendRequest(p.CompletionRequest.type, at(7, 11));
	ok('completion offers the right key', list.items.some((i) => i.label === 'contains' &&
	    i.kind === p.CompletionItemKind.Property && i.textEdit.newText === 'contains'));
	const fix = list.items.find((i) => i.label === 'contains').textEdit;
	await c.sendNotification(p.DidChangeTextDocumentNotification.type, { textDocument:
	    { uri, version: 2 }, contentChanges: [{ range: fix.range, text: fix.newText }] });
	ok('the edit of a completion mends the text', await c.until(uri, (d) => d.length === 0));

	const hover = await c.sendRequest(p.HoverRequest.type, at(7, 6));
	ok('hover', p.MarkupContent.is(hover.contents) && /case-insensitive/.test(hover.contents.value));
	const symbols = await c.sendRequest(p.DocumentSymbolRequest.type, { textDocument: doc });
	is('symbols', symbols.map((s) => p.DocumentSymbol.is(s) && s.name), ['name', 'skill', 'tasks']);
	is('symbols of tasks', symbols[2].children.map((s) => s.name), ['one']);
	const lenses = await c.sendRequest(p.CodeLensRequest.type, { textDocument: doc });
	ok('lenses', lenses.every((l) => p.CodeLens.is(l)));
	is('the command of a task', lenses[1].command.command, 'waza.runTask');
	is('its arguments', lenses[1].command.arguments, [path.join(root, 'eval.yaml'), 'one']);

	// typing fast: every answer is for the text at that time
	let line = 8;
	const words = [];
	for (const ch of 'graders') {
		c.sendNotification(p.DidChangeTextDocumentNotification.type, { textDocument:
		    { uri, version: 3 }, contentChanges: [{ range: { start: { line, character: words.length },
			end: { line, character: words.length } }, text: ch }] });
		words.push(c.sendRequest(p.CompletionRequest.type, at(line, words.length + 1)));
	}
	const answers = await Promise.all(words);
	is('the word that is replaced grows', answers.map((a) => a.items.find(
	    (i) => i.label === 'graders').textEdit.range.end.character), [1, 2, 3, 4, 5, 6, 7]);
	await c.sendNotification(p.DidCloseTextDocumentNotification.type, { textDocument: doc });
	is('closing withdraws diagnostics', (await c.until(uri, (d) => d.length === 0)).length, 0);
	is('unknown requests are refused', await c.sendRequest('textDocument/rename', {}).catch(
	    (e) => e.code), p.ErrorCodes.MethodNotFound);
	await c.sendRequest(p.ShutdownRequest.type);
	await c.sendNotification(p.ExitNotification.type);
	is('exit status', await c.gone, 0);
	is('no fault of the client', c.faults, []);
	is('no file was written', fs.readdirSync(root), []);
});
