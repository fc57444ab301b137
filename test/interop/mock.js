// A mocked MCP server, its proxy and the recorder, with the SDK's own client and,
// behind the proxy, the SDK's own server.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const { dir, is, load, main, ok, waza } = require('./lib.js');
const { Client } = load('@modelcontextprotocol/sdk/client');
const { StdioClientTransport } =
    load('@modelcontextprotocol/sdk/client/stdio.js');

const at = (name) => path.join(dir, name);

// open NAME ARGS: a client of `waza ARGS`
async function open(name, ...args) {
	const c = new Client({ name, version: '1.0.0' });
	c.faults = [];
	c.onerror = (e) => c.faults.push(e.message);
	await c.connect(new StdioClientTransport({ command: waza, args,
		stderr: 'inherit', env: { ...process.env, MY_TOKEN: 'hidden-value-1' } }));
	return c;
}

async function close(c) {
	is(`${c.getServerVersion().name}: no message was malformed`, c.faults, []);
	await c.close();
}

const call = (c, name, args, options) =>
    c.callTool({ name, arguments: args }, undefined, options);

async function mocks() {
	const tools = { slow: { responses: [{ return: 1, delay_ms: 60000 }] },
		find: { description: 'Find', input_schema: { type: 'object',
			properties: { n: { type: 'integer' } }, required: ['n'] },
		responses: [{ match: { n: 7 }, return: { title: 'seven' } },
			{ match: { n: 8 }, error: 'gone' }] } };
	for (let i = 0; i < 1000; i++)
		tools[`t${i}`] = { responses: [{ return: i, delay_ms: 5 }] };
	fs.writeFileSync(at('tools.json'), JSON.stringify({ tools }));
	const c = await open('mock', 'mcp-mock', '--name=hub',
	    '--calls', at('calls'), at('tools.json'));
	is('initialize', c.getServerVersion(), { name: 'hub', version: '0.0.0-mock' });
	const list = (await c.listTools()).tools;
	is('tools/list', [list.length, list[0].name, list[0].inputSchema.required],
	    [1002, 'find', ['n']]);
	is('ping', await c.ping(), {});
	let r = await call(c, 'find', { n: 7 });
	is('a call', [r.isError, JSON.parse(r.content[0].text)], [false, { title: 'seven' }]);
	r = await call(c, 'find', { n: 8 });
	is('an error', [r.isError, r.content[0].text.endsWith('gone')], [true, true]);
	r = await call(c, 'find', { n: 9 });
	is('an unknown call', r.isError, true);
	const all = await Promise.all([...Array(50).keys()].map((i) =>
	    call(c, `t${i}`, {})));
	is('calls at the same time', all.map((x) => Number(x.content[0].text)),
	    [...Array(50).keys()]);
	const stop = new AbortController();
	const p = call(c, 'slow', {}, { signal: stop.signal });
	is('ping during a delay', await c.ping(), {});
	stop.abort();
	await p.then(() => ok('a cancelled call', false), () => undefined);
	is('after it', await c.ping(), {});
	await c.listPrompts().then(() => ok('prompts', false),
	    () => ok('prompts are not supported', true));
	await close(c);
	is('recorded', fs.readFileSync(at('calls'), 'utf8').trim().split('\n').length, 54);
}

// a server of the SDK: a tool, a resource, and progress
const server = `
const { createRequire } = require('node:module');
const load = createRequire(${JSON.stringify(path.join(process.env.MODULES, 'x.js'))});
const { McpServer } = load('@modelcontextprotocol/sdk/server/mcp.js');
const { StdioServerTransport } = load('@modelcontextprotocol/sdk/server/stdio.js');
const z = load('zod');
const s = new McpServer({ name: 'real', version: '1.2.3' });
s.registerTool('add', { description: 'Add', inputSchema: { a: z.number(), b: z.number() } },
    async ({ a, b }, extra) => {
	if (extra._meta && extra._meta.progressToken !== undefined)
		await extra.sendNotification({ method: 'notifications/progress',
			params: { progressToken: extra._meta.progressToken, progress: 1, total: 1 } });
	return { content: [{ type: 'text', text: JSON.stringify({ sum: a + b, key: process.env.MY_TOKEN }) }] };
});
s.registerResource('r', 'mem://r', {}, async (u) => ({ contents: [{ uri: u.href, text: 'memory' }] }));
s.connect(new StdioServerTransport());
`;

async function proxies() {
	fs.writeFileSync(at('server.js'), server);
	const run = ['--', process.execPath, at('server.js')];
	let c = await open('record', 'mcp-record', 'real', '-o', at('rec.json'), ...run);
	is('record: the real server', c.getServerVersion().name, 'real');
	is('record: its tools', (await c.listTools()).tools.map((t) => t.name), ['add']);
	const heard = [];
	let r = await call(c, 'add', { a: 1, b: 2 }, { onprogress: (p) => heard.push(p.progress) });
	is('record: its answer', JSON.parse(r.content[0].text), { sum: 3, key: 'hidden-value-1' });
	is('record: its notifications', heard, [1]);
	is('record: its resources', (await c.readResource({ uri: 'mem://r' })).contents[0].text, 'memory');
	await close(c);
	const text = fs.readFileSync(at('rec.json'), 'utf8');
	ok('record: no secret in the fixture', !text.includes('hidden-value'), text);

	c = await open('replay', 'mcp-mock', at('rec.json'));
	r = await call(c, 'add', { a: 1, b: 2 });
	is('the fixture answers', JSON.parse(r.content[0].text), { sum: 3, key: '***' });
	await close(c);

	fs.writeFileSync(at('one.json'), JSON.stringify({ tools: { add: { responses: [
	    { match: { a: 1, b: 1 }, return: 'mocked' }] }, more: { responses: [{ return: 1 }] } } }));
	c = await open('proxy', 'mcp-mock', at('one.json'), ...run);
	is('passthrough: tools of both', (await c.listTools()).tools.map((t) => t.name).sort(),
	    ['add', 'more']);
	is('passthrough: the mock', (await call(c, 'add', { a: 1, b: 1 })).content[0].text, '"mocked"');
	is('passthrough: the real server', JSON.parse((await call(c, 'add', { a: 2, b: 1 })).content[0].text).sum, 3);
	await close(c);
}

main(async () => {
	await mocks();
	await proxies();
});
