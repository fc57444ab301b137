// yaml-language-server, which most editors use for YAML, with our schemas: no
// false error about a suite that waza accepts, and errors about wrong ones.
'use strict';
const { execFileSync, spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { children, dir, is, load, main, ok, waza } = require('./lib.js');
const { createMessageConnection, StreamMessageReader, StreamMessageWriter } =
    load('vscode-jsonrpc/node');

const corpus = path.join(process.env.CORPUS || '../shared/corpus', 'waza-wild');

// start SCHEMA: a server that applies this schema to all files
async function start(name) {
	const file = path.join(dir, `${name}.json`);
	fs.writeFileSync(file, execFileSync(waza, ['schema', name]));
	const program = path.join(process.env.MODULES,
	    'node_modules/yaml-language-server/bin/yaml-language-server');
	const child = spawn('node', [program, '--stdio'],
	    { stdio: ['pipe', 'pipe', 'ignore'] });
	children.add(child);
	const c = createMessageConnection(new StreamMessageReader(child.stdout),
	    new StreamMessageWriter(child.stdin));
	const waiting = new Map();
	c.onNotification('textDocument/publishDiagnostics', (p) => {
		const done = waiting.get(p.uri);
		waiting.delete(p.uri);
		if (done)
			done(p.diagnostics);
	});
	const settings = { yaml: { validate: true, hover: true, completion: true,
	    schemaStore: { enable: false },
	    schemas: { [pathToFileURL(file)]: ['*.yaml', '*.yml'] } } };
	c.onRequest('workspace/configuration', (p) => p.items.map(
	    (i) => settings[i.section] ?? {}));
	c.onRequest('client/registerCapability', () => null);
	c.onRequest('custom/schema/content', () => null);
	c.onRequest('vscode/content', (uri) => fs.readFileSync(new URL(uri), 'utf8'));
	c.listen();
	await c.sendRequest('initialize', { processId: process.pid, rootUri: null,
	    capabilities: { workspace: { configuration: true } } });
	await c.sendNotification('initialized', {});
	await c.sendNotification('workspace/didChangeConfiguration', { settings });
	let n = 0;
	c.check = (text) => new Promise((done) => {
		const uri = pathToFileURL(path.join(dir, `${name}-${n++}.yaml`)).href;
		waiting.set(uri, done);
		c.sendNotification('textDocument/didOpen', { textDocument: {
		    uri, languageId: 'yaml', version: 1, text } });
	});
	c.uri = () => pathToFileURL(path.join(dir, `${name}-${n - 1}.yaml`)).href;
	c.end = () => {
		children.delete(child);
		child.kill();
	};
	return c;
}

function* files(top) {
	for (const e of fs.readdirSync(top, { withFileTypes: true })) {
		const file = path.join(top, e.name);
		if (e.isDirectory())
			yield* files(file);
		else if (/\.ya?ml$/.test(e.name))
			yield file;
	}
}

function accepts(file) {
	try {
		execFileSync(waza, ['validate', file], { stdio: 'ignore' });
		return true;
	} catch {
		return false;
	}
}

// checkAll SCHEMA FILES: what the server reports about them
async function checkAll(schema, list) {
	const c = await start(schema);
	const found = await Promise.all(list.map(async (f) =>
	    (await c.check(fs.readFileSync(f, 'utf8'))).map(
	    (d) => `${f}:${d.range.start.line + 1}: ${d.message}`)));
	c.end();
	return found.flat();
}

// taskFiles SUITE: the files of its tasks
function taskFiles(suite) {
	const list = JSON.parse(execFileSync(waza, ['list', '--format', 'json', suite]));
	return list.evals.flatMap((e) => e.tasks).map((t) => t.file).filter(
	    (f) => f !== suite && /\.ya?ml$/.test(f));
}

async function wild(top, least) {
	const suites = [...files(top)].filter((f) =>
	    /(^|\/)[^/]*eval[^/]*\.ya?ml$/.test(f) && accepts(f));
	const tasks = [...new Set(suites.flatMap(taskFiles))];
	ok(`${top}: suites and tasks were found`, suites.length >= least &&
	    tasks.length >= least, `${suites.length} ${tasks.length}`);
	is(`${top}: no false error about ${suites.length} suites`,
	    await checkAll('eval', suites), []);
	is(`${top}: no false error about ${tasks.length} tasks`,
	    await checkAll('task', tasks), []);
}

async function wrong() {
	const c = await start('eval');
	const lines = async (text) => (await c.check(text)).map(
	    (d) => d.range.start.line + 1);
	is('a suite without errors', await lines('name: a\ntasks: [{id: a}]\n'), []);
	is('a missing name', (await lines('tasks: [{id: a}]\n')).length, 1);
	is('a wrong type', await lines('name: a\nconfig:\n  trials_per_task: many\n'), [3]);
	is('a number out of range', await lines('name: a\nconfig:\n  trials_per_task: 0\n'), [3]);
	is('an unknown kind of grader', await lines('name: a\ngraders:\n- type: contains\n'), [3]);
	is('a setting of another type', await lines(
	    'name: a\ngraders:\n- type: json_schema\n  config:\n    extract_json: maybe\n'), [5]);
	is('the same beside the type', await lines(
	    'name: a\ngraders:\n- type: json_schema\n  extract_json: maybe\n'), [4]);
	is('the same setting in another kind', await lines(
	    'name: a\ngraders:\n- type: text\n  contains: x\n  extract_json: maybe\n'), []);
	is('a setting of an executor', await lines(
	    'name: a\nconfig:\n  openai:\n    retries: many\n    system: be brief\n'), [4]);
	is('a setting among those of all executors', await lines(
	    'name: a\nconfig:\n  executors:\n    openai: {api: none}\n    mine: {any: 1}\n'), [4]);
	is('a preset of a grader', await lines('name: a\ngraders:\n- ref: tone.yaml\n'), []);
	ok('a missing setting', (await lines(
	    'name: a\ngraders:\n- type: program\n  args: [x]\n')).length > 0);
	await c.check('name: a\nconfig:\n  trials_per_task: 2\ngraders:\n- type: \n');
	const at = (line, character) => ({ textDocument: { uri: c.uri() },
	    position: { line, character } });
	const hover = await c.sendRequest('textDocument/hover', at(2, 5));
	ok('hover shows the help', /trials of each task/.test(JSON.stringify(hover)));
	const list = await c.sendRequest('textDocument/completion', at(4, 8));
	ok('completion offers kinds of graders', list.items.some(
	    (i) => i.label === 'json_schema'), JSON.stringify(list).slice(0, 300));
	c.end();
}

main(async () => {
	await wrong();
	await wild('examples', 3);
	if (fs.existsSync(corpus))
		await wild(corpus, 100);
	else
		ok('suites of the corpus # SKIP no corpus', true);
});
