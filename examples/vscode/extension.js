// A client of `waza lsp` for VS Code that needs no build step and no package.
// SPDX-License-Identifier: ISC
'use strict';
const { spawn } = require('node:child_process');
const vscode = require('vscode');

const selector = [
	{ scheme: 'file', pattern: '**/*.{yaml,yml}' },
	{ scheme: 'file', pattern: '**/SKILL.md' },
];
const concerns = (doc) => vscode.languages.match(selector, doc) > 0;

// JSON-RPC over the pipes of a child, with Content-Length before each message.
class Server {
	constructor(program, onNotification, onExit) {
		this.waiting = new Map();
		this.id = 0;
		this.input = Buffer.alloc(0);
		this.child = spawn(program, ['lsp'], { stdio: ['pipe', 'pipe', 'ignore'] });
		this.child.on('error', onExit);
		this.child.on('exit', (status) => onExit(new Error(`waza exited with status ${status}`)));
		this.child.stdin.on('error', () => {});
		this.child.stdout.on('data', (b) => this.read(b, onNotification));
	}
	send(message) {
		const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message }));
		this.child.stdin.write(`Content-Length: ${body.length}\r\n\r\n`);
		this.child.stdin.write(body);
	}
	notify(method, params) {
		this.send({ method, params });
	}
	request(method, params) {
		const id = ++this.id;
		return new Promise((done, fail) => {
			this.waiting.set(id, { done, fail });
			this.send({ id, method, params });
		});
	}
	read(bytes, onNotification) {
		this.input = Buffer.concat([this.input, bytes]);
		for (;;) {
			const end = this.input.indexOf('\r\n\r\n');
			if (end < 0)
				return;
			const length = Number(/Content-Length: *(\d+)/i.exec(this.input.toString('latin1', 0, end))[1]);
			if (this.input.length < end + 4 + length)
				return;
			const m = JSON.parse(this.input.toString('utf8', end + 4, end + 4 + length));
			this.input = this.input.subarray(end + 4 + length);
			const call = this.waiting.get(m.id);
			this.waiting.delete(m.id);
			if (m.method)
				onNotification(m.method, m.params);
			else if (call && m.error)
				call.fail(new Error(m.error.message));
			else if (call)
				call.done(m.result);
		}
	}
	stop() {
		this.child.removeAllListeners('exit');
		this.request('shutdown').then(() => this.notify('exit'), () => this.child.kill());
	}
}

const range = (r) => new vscode.Range(r.start.line, r.start.character, r.end.line, r.end.character);
const at = (doc, position) => ({ textDocument: { uri: doc.uri.toString() },
    position: { line: position.line, character: position.character } });

function symbol(s) {
	const out = new vscode.DocumentSymbol(s.name, '', s.kind - 1, range(s.range), range(s.selectionRange));
	out.children = (s.children || []).map(symbol);
	return out;
}

// what VS Code asks, and how the server's answer becomes its own
const providers = (ask) => [
	vscode.languages.registerCompletionItemProvider(selector, {
		async provideCompletionItems(doc, position) {
			const r = await ask('textDocument/completion', at(doc, position));
			return r.items.map((i) => {
				const item = new vscode.CompletionItem(i.label, i.kind - 1);
				item.documentation = i.documentation;
				item.range = range(i.textEdit.range);
				item.insertText = i.textEdit.newText;
				item.filterText = i.label;
				return item;
			});
		},
	}, ':', ' ', '/', '-'),
	vscode.languages.registerHoverProvider(selector, {
		async provideHover(doc, position) {
			const r = await ask('textDocument/hover', at(doc, position));
			return r && new vscode.Hover(new vscode.MarkdownString(r.contents.value), range(r.range));
		},
	}),
	vscode.languages.registerDocumentSymbolProvider(selector, {
		async provideDocumentSymbols(doc) {
			return (await ask('textDocument/documentSymbol', at(doc, { line: 0, character: 0 }))).map(symbol);
		},
	}),
	vscode.languages.registerCodeLensProvider(selector, {
		async provideCodeLenses(doc) {
			const r = await ask('textDocument/codeLens', at(doc, { line: 0, character: 0 }));
			return r.map((l) => new vscode.CodeLens(range(l.range), l.command));
		},
	}),
];

function activate(context) {
	const program = () => vscode.workspace.getConfiguration('waza').get('path');
	const found = vscode.languages.createDiagnosticCollection('waza');
	let server;

	// The server reports severities from 1, VS Code counts them from 0.
	const onNotification = (method, params) => {
		if (method === 'textDocument/publishDiagnostics')
			found.set(vscode.Uri.parse(params.uri), params.diagnostics.map((d) => Object.assign(
			    new vscode.Diagnostic(range(d.range), d.message, d.severity - 1), { source: d.source })));
	};
	const open = (doc) => concerns(doc) && server.notify('textDocument/didOpen', { textDocument: {
	    uri: doc.uri.toString(), languageId: doc.languageId, version: doc.version, text: doc.getText() } });
	const start = () => {
		if (server)
			server.stop();
		found.clear();
		server = new Server(program(), onNotification, (e) => vscode.window.showErrorMessage(
		    `waza lsp: ${e.message} (setting waza.path)`));
		server.request('initialize', { processId: process.pid, rootUri: null, capabilities: {} })
		    .then(() => {
			server.notify('initialized', {});
			vscode.workspace.textDocuments.forEach(open);
		}, () => {});
	};
	const run = (...args) => {
		const terminal = vscode.window.createTerminal({ name: 'waza', shellPath: program(), shellArgs: ['run', ...args] });
		terminal.show();
	};
	start();
	context.subscriptions.push(found,
	    vscode.workspace.onDidOpenTextDocument(open),
	    vscode.workspace.onDidChangeTextDocument((e) => concerns(e.document) && e.contentChanges.length > 0 &&
		server.notify('textDocument/didChange', { textDocument: { uri: e.document.uri.toString(),
		    version: e.document.version }, contentChanges: e.contentChanges.map((c) => ({ range: {
			start: c.range.start, end: c.range.end }, text: c.text })) })),
	    vscode.workspace.onDidSaveTextDocument((doc) => concerns(doc) && server.notify(
		'textDocument/didSave', { textDocument: { uri: doc.uri.toString() } })),
	    vscode.workspace.onDidCloseTextDocument((doc) => concerns(doc) && server.notify(
		'textDocument/didClose', { textDocument: { uri: doc.uri.toString() } })),
	    vscode.commands.registerCommand('waza.restart', start),
	    vscode.commands.registerCommand('waza.runTask', (suite, id) => run(suite, '--task', id)),
	    vscode.commands.registerCommand('waza.runSuite', (suite) => run(suite)),
	    ...providers((method, params) => server.request(method, params)),
	    { dispose: () => server.stop() });
}

module.exports = { activate };
