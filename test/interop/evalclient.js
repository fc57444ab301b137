// Evaluation clients made with ws: one that does what BrowserOperator's does,
// for `waza run --http`; and a server made with ws, for `waza worker`.
'use strict';
const { spawn } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { children, dir, is, load, main, ok } = require('./lib.js');
const { WebSocket, WebSocketServer } = load('ws');
const waza = process.env.WAZA;

const suite = path.join(dir, 'remote.yaml');
fs.writeFileSync(suite, `name: remote
skill: s
config: {executor: remote, workers: 4}
tasks:
  - {id: page, tool: extract, url: 'https://example.com', input: {schema: {type: object}}, metadata: {tags: [x], retries: 1}, expected: {output_contains: ['"title":"Example"']}}
  - {id: none, tool: nothing, expected: {output_contains: ['null']}}
`);

// start ARGS: a child, and the first match of a pattern in its standard error
function start(args, pattern) {
	const child = spawn(waza, args, { stdio: ['ignore', 'pipe', 'pipe'] });
	children.add(child);
	child.text = '';
	child.gone = new Promise((done) => child.on('exit', (status, signal) => {
		children.delete(child);
		done(signal || status);
	}));
	child.at = new Promise((done) => child.stderr.on('data', (b) => {
		child.text += b;
		const m = pattern.exec(child.text);
		if (m)
			done(m[1]);
	}));
	return child;
}

const run = () => start(['run', suite, '--http', '127.0.0.1:0', '-o',
	path.join(dir, 'r.json')], /clients on (ws:\S+)\n/);

// A client like BrowserOperator's: same registration, same order of messages.
class Agent {
	constructor(url, id, work) {
		this.heard = [];
		this.id = id;
		this.work = work;
		this.ws = new WebSocket(url);
		this.closed = new Promise((done) =>
			this.ws.on('close', (code, why) => done([code, String(why)])));
		this.ws.on('message', (data) => this.on(JSON.parse(data)));
	}
	send(m) {
		this.ws.send(JSON.stringify(m));
	}
	status(evaluationId, status, progress, message) {
		this.send({ type: 'status', evaluationId, status, progress, message });
	}
	on(m) {
		this.heard.push(m);
		if (m.type === 'welcome')
			this.send({ type: 'register', clientId: this.id, secretKey: undefined,
				capabilities: { tools: [], maxConcurrency: 3, version: '1.0.0' } });
		else if (m.type === 'registration_ack' && m.status === 'accepted') {
			this.send({ type: 'ready', timestamp: new Date().toISOString() });
			this.send({ type: 'ping', timestamp: new Date().toISOString() });
		} else if (m.jsonrpc === '2.0' && m.method === 'evaluate')
			this.evaluate(m);
	}
	async evaluate({ id, params }) {
		this.status(params.evaluationId, 'running', 0.1, 'Starting evaluation...');
		if (params.url)
			this.status(params.evaluationId, 'running', 0.2, 'Navigating to URL...');
		const output = await this.work(params, this);
		if (this.ws.readyState !== WebSocket.OPEN)
			return;
		this.send({ jsonrpc: '2.0', result: { status: 'success', output,
			executionTime: 5, toolCalls: [{ tool: params.tool,
				timestamp: new Date().toISOString(), duration: 4, status: 'success' }],
			metadata: {} }, id });
		this.status(params.evaluationId, 'completed', 1, 'done');
	}
}

const answers = (params) => params.tool === 'extract' ? { title: 'Example' } : null;

async function asTheirs() {
	const child = run();
	const agent = new Agent(await child.at, '550e8400-e29b-41d4-a716-446655440000', answers);
	is('their client: the run passes', await child.gone, 0);
	is('their client: the server closes with 1001', (await agent.closed)[0], 1001);
	is('their client: the messages that arrive', agent.heard.map((m) => m.type || m.method).sort(),
		['evaluate', 'evaluate', 'pong', 'registration_ack', 'welcome']);
	const { params } = agent.heard.find((m) => m.params && m.params.tool === 'extract');
	is('their client: every field of the request', params, { evaluationId: 'page', name: 'page',
		url: 'https://example.com', tool: 'extract', input: { schema: { type: 'object' } },
		timeout: 300000, metadata: { tags: ['x'], retries: 1, priority: 'normal' } });
}

async function comesBack() {
	const child = run(), url = await child.at;
	const first = new Agent(url, 'me', (params, agent) => {
		agent.ws.terminate();
		return new Promise(() => {});
	});
	is('a client that crashes is disconnected', (await first.closed)[0], 1006);
	const second = new Agent(url, 'me', answers);
	is('a client that reconnects: the run passes', await child.gone, 0);
	await second.closed;
	const ids = (a) => a.heard.filter((m) => m.method).map((m) => m.id);
	ok('a client that reconnects gets the same request', ids(second).includes(ids(first)[0]));
}

async function asServer() {
	const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
	await new Promise((done) => server.once('listening', done));
	const url = `ws://127.0.0.1:${server.address().port}/`;
	const worker = start(['worker', url, '--id', 'w', '--concurrency', '2',
		'--tool', 'up=tr a-z A-Z', '--tool', 'bad=exit 3'], /registered as (\S+)/);
	const heard = [];
	let met = 0;
	// one connection: the requests, and how many answers are expected
	const meet = (requests) => new Promise((done) => server.once('connection', (c) => {
		const say = (m) => c.send(JSON.stringify(m));
		let left = requests.length;
		met++;
		c.on('message', (data) => {
			const m = JSON.parse(data);
			heard.push(m);
			if (m.type === 'register')
				say({ type: 'registration_ack', clientId: m.clientId, status: 'accepted' });
			else if (m.type === 'ready')
				requests.forEach((r, i) => say({ jsonrpc: '2.0', method: 'evaluate',
					params: r, id: `r-${met}-${i}` }));
			else if (m.id !== undefined && --left === 0)
				c.close(1001, 'soon back');
		});
		c.on('close', done);
		say({ type: 'welcome', serverId: 'server-001', version: '1.0.0', timestamp: 1 });
	}));
	await meet([{ evaluationId: 'e', tool: 'up', input: { a: 'b' }, timeout: 5000 },
		{ evaluationId: 'f', tool: 'bad', input: {} }]);
	const of = (id) => heard.find((m) => m.id === id);
	is('worker: registers', heard[0].capabilities.tools, ['up', 'bad']);
	is('worker: a result', of('r-1-0').result.output, { A: 'B' });
	is('worker: an error', of('r-1-1').error.code, -32000);
	ok('worker: sends its status', heard.some((m) => m.type === 'status' &&
		m.evaluationId === 'e' && m.status === 'completed'));
	await meet([{ evaluationId: 'g', tool: 'none', input: {} }]);
	is('worker: reconnects with the same id', heard.filter((m) => m.type === 'register')
		.map((m) => m.clientId), ['w', 'w']);
	is('worker: refuses an unknown tool', of('r-2-0').error.code, -32004);
	worker.kill('SIGTERM');
	is('worker: exits on request', await worker.gone, 0);
	server.close();
}

main(async () => {
	await asTheirs();
	await comesBack();
	await asServer();
});
