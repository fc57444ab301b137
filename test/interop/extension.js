// The extension for VS Code, with a double of the editor's API: it starts `waza lsp`,
// shows diagnostics, completes, and runs tasks in a terminal.
'use strict';
const fs = require('node:fs');
const Module = require('node:module');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { children, dir, is, main, ok, waza } = require('./lib.js');

const handlers = {}, providers = {}, commands = {}, terminals = [], errors = [];
const shown = new Map();
let onShown = () => {};
class Range {
	constructor(...at) { this.at = at; }
}
const on = (name) => (fn) => { handlers[name] = fn; };
const provide = (name) => (_, p) => { providers[name] = p; };
const vscode = {
	Range, Hover: class { constructor(text) { this.text = text.value; } },
	MarkdownString: class { constructor(value) { this.value = value; } },
	CompletionItem: class { constructor(label) { this.label = label; } },
	DocumentSymbol: class { constructor(name) { this.name = name; } },
	CodeLens: class { constructor(r, command) { this.command = command; } },
	Diagnostic: class { constructor(r, message, severity) { Object.assign(this, { range: r, message, severity }); } },
	Uri: { parse: (s) => s },
	languages: { match: () => 10,
	    createDiagnosticCollection: () => ({ clear() {}, dispose() {},
		set(uri, list) { shown.set(uri, list); onShown(); } }),
	    registerCompletionItemProvider: provide('completion'), registerHoverProvider: provide('hover'),
	    registerDocumentSymbolProvider: provide('symbols'), registerCodeLensProvider: provide('lenses') },
	workspace: { textDocuments: [], getConfiguration: () => ({ get: () => waza }),
	    onDidOpenTextDocument: on('open'), onDidChangeTextDocument: on('change'),
	    onDidSaveTextDocument: on('save'), onDidCloseTextDocument: on('close') },
	commands: { registerCommand: (name, fn) => { commands[name] = fn; } },
	window: { showErrorMessage: (m) => errors.push(m),
	    createTerminal: (o) => { terminals.push(o); return { show() {} }; } },
};
const load = Module._load;
Module._load = (name, ...rest) => name === 'vscode' ? vscode : load(name, ...rest);
const { activate } = require('../../examples/vscode/extension.js');

main(async () => {
	const pack = JSON.parse(fs.readFileSync('examples/vscode/package.json'));
	ok('the entry exists', fs.existsSync(path.join('examples/vscode', pack.main)));
	const file = path.join(dir, 'eval.yaml');
	const uri = pathToFileURL(file).href;
	const doc = { uri: { toString: () => uri }, languageId: 'yaml', version: 1,
	    getText: () => 'name: é\nskill: s\ntasks:\n- id: one\n  prompt: p\n  graders: [{type: txt}]\n' };
	vscode.workspace.textDocuments.push(doc);
	const context = { subscriptions: [] };
	activate(context);
	await new Promise((done) => { onShown = () => shown.get(uri)?.length > 0 && done(); });
	ok('diagnostics', shown.get(uri).some((d) => /unknown grader type/.test(d.message) && d.severity === 0 &&
	    d.range.at[0] === 5));
	const items = await providers.completion.provideCompletionItems(doc, { line: 4, character: 3 });
	ok('completion', items.some((i) => i.label === 'inputs'));
	is('hover', (await providers.hover.provideHover(doc, { line: 3, character: 3 })).text, 'unique id of the task');
	is('symbols', (await providers.symbols.provideDocumentSymbols(doc)).map((s) => s.name), ['name', 'skill', 'tasks']);
	const lenses = await providers.lenses.provideCodeLenses(doc);
	const { command, arguments: args } = lenses[1].command;
	commands[command](...args);
	is('run this task', terminals.map((t) => [t.shellPath, ...t.shellArgs]), [[waza, 'run', file, '--task', 'one']]);
	const mended = new Promise((done) => { onShown = () => shown.get(uri).length === 0 && done(true); });
	handlers.change({ document: doc, contentChanges: [{ range: { start: { line: 5, character: 19 },
	    end: { line: 5, character: 22 } }, text: 'text, contains: p' }] });
	ok('a change is sent', await mended);
	for (const s of context.subscriptions)
		if (s)
			s.dispose();
	is('no error', errors, []);
	is('no child is left to the test', children.size, 0);
});
