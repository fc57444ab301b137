// vscode-jsonrpc, the library of editors and their language clients.
'use strict';
const fs = require('node:fs');
const net = require('node:net');
const { dir, fails, hello, is, load, main, ok, server, slow } =
    require('./lib.js');
const { createMessageConnection, CancellationTokenSource,
    NotificationType, ParameterStructures, RequestType, RequestType0,
    StreamMessageReader, StreamMessageWriter, Trace } =
    load('vscode-jsonrpc/node');

function connect(input, output) {
	const c = createMessageConnection(new StreamMessageReader(input),
	    new StreamMessageWriter(output));
	c.faults = [];
	c.onError(([e]) => c.faults.push(e.message));
	c.onUnhandledNotification((m) => c.faults.push(m.method));
	c.heard = [];
	c.onNotification('eval.progress', (p) => c.heard.push(p.event));
	c.onNotification('eval.log', () => undefined);
	c.over = new Promise((done) => c.onNotification(
	    new NotificationType('eval.complete'), (p) => {
		c.heard.push('complete');
		done(p);
	}));
	c.listen();
	return c;
}

async function questions(c, via) {
	is(`${via}: ping`, await c.sendRequest('ping'), { status: 'ok' });
	is(`${via}: ping by type`, await c.sendRequest(
	    new RequestType0('ping')), { status: 'ok' });
	const list = await c.sendRequest('eval.list',
	    { directory: 'examples/hello' });
	is(`${via}: eval.list`, list.evals.map((e) => e.name), ['hello']);
	const get = await c.sendRequest(new RequestType('eval.get'),
	    { path: hello });
	is(`${via}: eval.get`, [get.name, get.skill, get.tasks],
	    ['hello', 'greeting', 1]);
	is(`${via}: eval.validate`, (await c.sendRequest('eval.validate',
	    { path: hello })).valid, true);
	is(`${via}: task.list`, (await c.sendRequest('task.list',
	    { path: hello })).tasks.map((t) => t.id), ['greet']);
	is(`${via}: task.get`, (await c.sendRequest('task.get',
	    { path: hello, taskId: 'greet' })).prompt,
	    'Say hello to Ada.\nBe brief.\n');
	const many = await Promise.all(Array.from({ length: 1000 },
	    () => c.sendRequest('ping', {})));
	ok(`${via}: a thousand at once`, many.every((r) => r.status === 'ok'));
}

async function refusals(c, via) {
	await fails(`${via}: unknown method`, c.sendRequest('no.such', {}),
	    -32601, 'method_not_found');
	await fails(`${via}: no such suite`, c.sendRequest('eval.get',
	    { path: 'nowhere/eval.yaml' }), -32000, 'eval_not_found');
	await fails(`${via}: an invalid suite`, c.sendRequest('eval.run',
	    { path: 'examples/broken/eval.yaml' }), -32001,
	    'validation_failed');
	await fails(`${via}: a parameter is missing`,
	    c.sendRequest('eval.get', {}), -32602, 'invalid_params');
	await fails(`${via}: parameters by position`, c.sendRequest('eval.get',
	    ParameterStructures.byPosition, hello), -32602, 'invalid_params');
	await fails(`${via}: no such run`, c.sendRequest('run.status',
	    { runId: 'r-0' }), -32602, 'run_not_found');
	const odd = `${dir}/ünï \u{1f980}\u0001.yaml`;
	is(`${via}: lengths are bytes`, await c.sendRequest('eval.get',
	    { path: odd }).catch((e) => e.data.path), odd);
	const long = `${dir}${'/x'.repeat(500000)}\u00e9`;
	is(`${via}: a message of a megabyte`, await c.sendRequest('eval.get',
	    { path: long }).catch((e) => e.data.path), long);
	await c.trace(Trace.Verbose, { log: () => undefined });
	await c.sendNotification('no.such.notification', { a: 1 });
	is(`${via}: the server still answers after errors`, await c.sendRequest('ping'),
	    { status: 'ok' });
}

async function runs(c, via) {
	const r = await c.sendRequest('eval.run', { path: hello, trials: 1 });
	is(`${via}: the answer precedes notifications`, c.heard, []);
	is(`${via}: eval.run`, r.status, 'running');
	const end = await c.over;
	is(`${via}: eval.complete`, [end.runId, end.summary.total,
	    end.summary.passed, end.summary.failed], [r.runId, 1, 1, 0]);
	is(`${via}: order of notifications`, c.heard, ['run_start', 'task_start',
	    'trial_start', 'trial_complete', 'task_complete',
	    'run_complete', 'complete']);
	const s = await c.sendRequest('run.status', { runId: r.runId });
	is(`${via}: run.status`, [s.status, s.result.tasks[0].status],
	    ['completed', 'passed']);
}

async function cancels(c, via) {
	const token = new CancellationTokenSource();
	await c.sendRequest('hello', { name: 'interop', version: '1',
	    agent: 'vscode-jsonrpc', pid: process.pid });
	const call = c.sendRequest('tools/call', { name: 'eval_run',
	    arguments: { path: slow } }, token.token);
	is(`${via}: other requests are answered during a run`,
	    await c.sendRequest('ping'), { status: 'ok' });
	token.cancel();
	await fails(`${via}: a call is cancelled by its token`, call, -32031,
	    'cancelled');
	const r = await c.sendRequest('eval.run', { path: slow });
	is(`${via}: run.cancel`, (await c.sendRequest('run.cancel',
	    { runId: r.runId })).status, 'cancelled');
}

// A fix with its progress, another in the same session, and one cancelled.
const project = `${dir}/project`;
const settings = JSON.stringify({ executors: {
	fast: { executor: 'command', command: ['sh', '-c',
	    'cat >/dev/null; echo fixed >a.txt; echo done'] },
	slow: { executor: 'command', command: ['sh', '-c',
	    'cat >/dev/null; tail -f /dev/null'] },
} });

async function fixes(c, via) {
	const heard = [];
	c.onNotification('kaiak/generateFix/progress', (p) =>
	    heard.push(`${p.stage} ${p.progress}`));
	const ask = (provider, more, ...token) => c.sendRequest(
	    'kaiak/generate_fix', { incidents: [{ id: 'dep-1',
	    rule_id: 'deprecated-api', message: 'Replace it' }],
	    agent_config: { workspace: { working_dir: project },
	    model: { provider, model_id: 'm' } }, ...more }, ...token);
	fs.mkdirSync(project, { recursive: true });
	fs.writeFileSync(`${project}/a.txt`, 'broken\n');
	const one = await ask('fast');
	is(`${via}: generate_fix: progress precedes the answer`, heard,
	    ['started 0', 'analyzing 25', 'generating 50', 'completed 100']);
	is(`${via}: generate_fix: changes`, one.changes, [{ path: 'a.txt',
	    status: 'modified', diff: '--- a/a.txt\n+++ b/a.txt\n' +
	    '@@ -1 +1 @@\n-broken\n+fixed\n' }]);
	const two = await ask('fast', { session_id: one.session_id });
	is(`${via}: generate_fix: a second request in the session`, [two.session_id, two.changes],
	    [one.session_id, []]);
	const token = new CancellationTokenSource();
	const call = ask('slow', { session_id: one.session_id }, token.token);
	while (heard.length < 11)	// it is at work
		await c.sendRequest('ping');
	await fails(`${via}: generate_fix: one at a time`, ask('fast',
	    { session_id: one.session_id }), -32013, 'session_busy');
	token.cancel();
	await fails(`${via}: generate_fix: cancelled by its token`, call,
	    -32031, 'cancelled');
	is(`${via}: generate_fix: the cancellation is reported`, heard.slice(8),
	    ['started 0', 'analyzing 25', 'generating 50', 'failed 50']);
	is(`${via}: delete_session`, (await c.sendRequest(
	    'kaiak/delete_session', { session_id: one.session_id })).deleted,
	    true);
	await fails(`${via}: delete_session: the session is removed`, c.sendRequest(
	    'kaiak/delete_session', { session_id: one.session_id }), -32003,
	    'session_not_found');
	await fails(`${via}: generate_fix: a field is missing`, c.sendRequest(
	    'kaiak/generate_fix', { incidents: [{}], agent_config: {} }),
	    -32602, 'invalid_params');
	await c.sendNotification('kaiak/client/user_message',
	    { kind: 'x' });
}

async function all(c, via) {
	await questions(c, via);
	await refusals(c, via);
	await runs(c, via);
	await cancels(c, via);
	await fixes(c, via);
	is(`${via}: the client reports no faults`, c.faults, []);
}

// A client that vanishes takes its runs along, and nothing else.
async function vanish(place) {
	const one = net.connect(place), two = net.connect(place);
	const a = connect(one, one), b = connect(two, two);
	const { runId } = await a.sendRequest('eval.run', { path: slow });
	one.on('error', () => undefined);
	if (typeof place === 'number')
		one.resetAndDestroy();	// else it has only ended its half
	else
		one.destroy();
	let s;
	do
		s = await b.sendRequest('run.status', { runId });
	while (s.status === 'running');
	is('a client disconnects: its run is cancelled', s.status, 'cancelled');
	two.destroy();
}

main(async () => {
	const stdio = server('--config-json', settings);
	const c = connect(stdio.stdout, stdio.stdin);
	await all(c, 'stdio');
	stdio.stdin.end();
	is('stdio: the server exits at the end of its input', await stdio.gone, 0);
	for (const how of [['--unix', `${dir}/s`], ['--tcp', '127.0.0.1:0']]) {
		const s = server(...how, '--root', '.', '--root', dir,
		    '--config-json', settings);
		const at = await s.at, m = /^127.0.0.1:(\d+)$/.exec(at);
		const place = m ? Number(m[1]) : at;
		const socket = net.connect(place);
		await all(connect(socket, socket), how[0].slice(2));
		socket.end();
		await vanish(place);
		s.kill('SIGTERM');
		is(`${how[0].slice(2)}: the server exits on SIGTERM`, await s.gone, 0);
	}
});
