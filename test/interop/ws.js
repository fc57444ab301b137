// ws, as client of `waza serve` and of test/tool/ws_echo, and as the server that
// test/tool/ws_cases, whose handshake and frames are waza's own, talks to.
'use strict';
const { spawn } = require('node:child_process');
const path = require('node:path');
const { hello, is, load, main, ok, server } = require('./lib.js');
const { WebSocket, WebSocketServer } = load('ws');
const doubles = process.env.DOUBLES;

// until EMITTER NAME: the arguments of the next such event
function until(emitter, name) {
	return new Promise((done, fail) => {
		emitter.once('error', fail);
		emitter.once(name, (...args) => {
			emitter.off('error', fail);
			done(args);
		});
	});
}

async function open(url, options) {
	const c = new WebSocket(url, options);
	await until(c, 'open');
	return c;
}

async function ask(c, message) {
	c.send(JSON.stringify(message));
	return JSON.parse((await until(c, 'message'))[0]);
}

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const pong = { jsonrpc: '2.0', id: 1, result: { status: 'ok' } };

async function asClient() {
	const child = server('serve', '--http', '127.0.0.1:0');
	const base = (await child.at).replace(/^http/, 'ws');
	const url = `${base}/rpc`;
	let c = await open(url);	// which offers permessage-deflate
	is('client: no extension', c.extensions, '');
	is('client: a call', await ask(c, ping), pong);
	is('client: a batch', await ask(c, [ping, ping]), [pong, pong]);
	const text = JSON.stringify(ping);
	c.send(Buffer.from(text));
	is('client: a binary frame', JSON.parse((await until(c, 'message'))[0]), pong);
	c.send(text.slice(0, 5), { fin: false });
	c.send(text.slice(5, 10), { fin: false });
	c.ping('between');
	is('client: a ping between fragments', String((await until(c, 'pong'))[0]), 'between');
	c.send(text.slice(10), { fin: true });
	is('client: fragments', JSON.parse((await until(c, 'message'))[0]), pong);
	const big = { ...ping, params: { x: 'ä'.repeat(4500000) } };
	is('client: 9 MB', await ask(c, big), pong);
	const heard = [];
	c.on('message', (m) => heard.push(JSON.parse(m)));
	c.send(JSON.stringify({ jsonrpc: '2.0', id: 2, method: 'eval.run',
		params: { path: hello } }));
	while (!heard.some((m) => m.method === 'eval.complete'))
		await until(c, 'message');
	is('client: a run', heard.at(-1).params.summary.failed, 0);
	c.close(4001, 'enough');
	const [code, why] = await until(c, 'close');
	is('client: the server echoes its close frame', [code, String(why)], [4001, '']);

	c = await open(url);
	c.send('x'.repeat(11 << 20));
	is('client: a message of 11 MB closes with 1009', (await until(c, 'close'))[0], 1009);
	c = await open(url);
	c.send(Buffer.from([0xc3, 0x28]), { binary: false });
	is('client: invalid UTF-8 closes with 1007', (await until(c, 'close'))[0], 1007);
	c = await open(url);
	c._socket.write(Buffer.from([0x81, 0x01, 0x61]));
	is('client: an unmasked frame closes with 1002', (await until(c, 'close'))[0], 1002);
	await new Promise((done) => {
		const bad = new WebSocket(`${base}/nothing`);
		bad.on('unexpected-response', (q, r) => {
			is('client: unknown path: status 404', r.statusCode, 404);
			bad.on('error', () => {});
			q.destroy();
			done();
		});
	});
	await new Promise((done) => {
		const bad = new WebSocket(url, { origin: 'http://evil.example' });
		bad.on('unexpected-response', (q, r) => {
			is('client: another origin: status 403', r.statusCode, 403);
			bad.on('error', () => {});
			q.destroy();
			done();
		});
	});
	c = await open(url);
	child.kill('SIGTERM');
	is('client: the server closes with 1001', (await until(c, 'close'))[0], 1001);
	is('client: the server exits with 0', await child.gone, 0);
}

async function echoes() {
	const child = spawn(path.join(doubles, 'ws_echo'), { stdio: ['ignore', 'ignore', 'pipe'] });
	const said = String((await until(child.stderr, 'data'))[0]);
	const c = await open(`ws://127.0.0.1:${/:(\d+)\n/.exec(said)[1]}/`);
	const binary = Buffer.alloc(1 << 20, '\0\xff\x80abc', 'latin1');
	let good = 0;
	c.on('message', (m, isBinary) => {
		good += isBinary ? m.equals(binary) : String(m) === 'grüße';
	});
	for (let i = 0; i < 50; i++) {
		c.send(binary);
		c.send('grüße');
	}
	while (good < 100)
		await until(c, 'message');
	is('echo: 50 MB and as many texts', good, 100);
	c.terminate();
	child.kill('SIGKILL');
}

// Cases that ws does not check: UTF-8 of incomplete text, number of fragments.
const sections = ['1.', '2.', '3.', '4.', '5.', '6.1', '6.2', '6.3', '6.5', '6.6', '6.7', '6.8',
	'6.9', '7.', '9.1', '9.2', '9.3.5', '9.5', '9.7', '9.8', '10.'];

async function asServer() {
	const s = new WebSocketServer({ port: 0, host: '127.0.0.1', maxPayload: 32 << 20 });
	s.on('connection', (c) => {
		c.on('error', () => {});
		c.on('message', (d, binary) => c.send(d, { binary }));
	});
	await until(s, 'listening');
	const cases = spawn(path.join(doubles, 'ws_cases'), [s.address().port, ...sections]);
	let out = '';
	cases.stdout.on('data', (b) => { out += b; });
	const [status] = await until(cases, 'close');
	ok('server: ws_cases pass', status === 0, out);
	s.close();
}

main(async () => {
	await asClient();
	await echoes();
	await asServer();
});
