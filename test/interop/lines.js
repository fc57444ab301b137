// jayson and json-rpc-2.0: small clients that send a message a line.
'use strict';
const net = require('node:net');
const readline = require('node:readline');
const { promisify } = require('node:util');
const { dir, hello, is, load, main, server } = require('./lib.js');
const jayson = load('jayson');
const { JSONRPCClient, JSONRPCServer, JSONRPCServerAndClient } =
    load('json-rpc-2.0');

// It opens a connection for each request.
async function withJayson(name, options) {
	const c = jayson.Client.tcp(options);
	const ask = promisify(c.request.bind(c));
	let r = await ask('ping', {});
	is(`${name}: ping`, r.result, { status: 'ok' });
	r = await ask('eval.get', { path: 'nowhere' });
	is(`${name}: an error`, [r.error.code, r.error.data.kind],
	    [-32000, 'eval_not_found']);
	r = await ask([c.request('ping', {}, undefined, false),
		c.request('no.such', {}, undefined, false),
		c.request('ping', {}, null, false)]);
	is(`${name}: a batch`, r.map((x) => x.error ? x.error.code :
	    x.result.status), ['ok', -32601]);
	r = await ask('ping', {}, null);
	is(`${name}: a notification`, r, undefined);
}

async function withJsonRpc2(place) {
	const socket = net.connect(place), heard = [];
	const c = new JSONRPCServerAndClient(new JSONRPCServer(),
	    new JSONRPCClient((m) => {
		socket.write(`${JSON.stringify(m)}\n`);
		return Promise.resolve();
	}));
	let told;
	const over = new Promise((done) => { told = done; });
	for (const m of ['eval.progress', 'eval.complete'])
		c.addMethod(m, (p) => {
			heard.push(p.event || m);
			if (m === 'eval.complete')
				told(p);
		});
	readline.createInterface({ input: socket }).on('line',
	    (line) => c.receiveAndSend(JSON.parse(line)));
	is('json-rpc-2.0: ping', await c.request('ping', {}),
	    { status: 'ok' });
	await c.request('no.such', {}).then(
	    () => is('json-rpc-2.0: an error', 0, 1),
	    (e) => is('json-rpc-2.0: an error', e.code, -32601));
	const batch = await c.requestAdvanced([
		{ jsonrpc: '2.0', id: 'a', method: 'ping' },
		{ jsonrpc: '2.0', id: 7, method: 'eval.get',
			params: { path: hello } }]);
	is('json-rpc-2.0: a batch', batch.map((r) => r.id).sort(), [7, 'a']);
	await c.request('eval.run', { path: hello, trials: 1 });
	const end = await over;
	is('json-rpc-2.0: a run', [end.summary.passed, heard.at(0),
	    heard.at(-1)], [1, 'run_start', 'eval.complete']);
	socket.end();
}

main(async () => {
	const tcp = server('--tcp', '127.0.0.1:0', '--root', '.');
	const port = Number((await tcp.at).split(':')[1]);
	const unix = server('--unix', `${dir}/s`, '--root', '.');
	const path = await unix.at;
	await withJayson('jayson, tcp', { host: '127.0.0.1', port });
	await withJayson('jayson, unix', { path });
	await withJsonRpc2(path);
	for (const s of [tcp, unix]) {
		s.kill('SIGTERM');
		is('the server exits on SIGTERM', await s.gone, 0);
	}
});
