// lib: TAP, servers, and suites to run, for the clients in this directory.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const { createRequire } = require('node:module');
const os = require('node:os');
const path = require('node:path');
const tap = require('../tool/tap.js');

const waza = process.env.WAZA;
const load = createRequire(path.join(process.env.MODULES, 'x.js'));
const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'interop-'));
const children = new Set();
const { is, ok } = tap;

// No step takes a second; a client that hangs has failed.
const limit = setTimeout(() => {
	ok('the test ends within three minutes', false);
	finish(1);
}, 180000);

function finish(status) {
	clearTimeout(limit);
	tap.plan();
	for (const c of children)
		c.kill('SIGKILL');
	fs.rmSync(dir, { recursive: true, force: true });
	process.exit(status);
}

// fails NAME PROMISE CODE KIND: the call is refused with this code and kind
async function fails(name, promise, code, kind) {
	try {
		ok(name, false, JSON.stringify(await promise));
	} catch (e) {
		is(name, { code: e.code, kind: e.data && e.data.kind },
		    { code, kind });
	}
}

// server ARGS: start `waza jsonrpc`, or `waza serve` if that is the first argument;
// .at is the address that it prints, .gone its exit status
function server(...args) {
	const command = args[0] === 'serve' ? [] : ['jsonrpc'];
	const child = spawn(waza, [...command, ...args],
	    { stdio: ['pipe', 'pipe', 'pipe'] });
	children.add(child);
	child.gone = new Promise((done) => child.on('exit', (status, signal) => {
		children.delete(child);
		done(signal || status);
	}));
	child.at = new Promise((done) => {
		let text = '';
		child.stderr.on('data', (b) => {
			text += b;
			const m = /listening on (\S+)\n/.exec(text);
			if (m)
				done(m[1]);
		});
	});
	return child;
}

function suite(name, text) {
	const file = path.join(dir, `${name}.yaml`);
	fs.writeFileSync(file, text);
	return file;
}

// a suite that takes a minute unless it is cancelled
const slow = suite('slow', `name: slow
skill: s
config: {executor: mock, mock: {output: late, delay_ms: 60000}}
tasks: [{id: a, prompt: p, expected: {output_contains: [late]}}]
`);
const hello = 'examples/hello/eval.yaml';

const main = (fn) => tap.main(fn, finish);

module.exports = { children, dir, fails, hello, is, load, main, ok, server, slow, waza };
