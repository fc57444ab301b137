// The client of the Model Context Protocol's own SDK, as agents have it.
'use strict';
const { fails, hello, is, load, main, ok, slow, waza } = require('./lib.js');
const { Client } = load('@modelcontextprotocol/sdk/client');
const { StdioClientTransport } =
    load('@modelcontextprotocol/sdk/client/stdio.js');
const Ajv = load('ajv').default;

const names = ['eval_get', 'eval_list', 'eval_run', 'eval_validate',
	'run_cancel', 'run_list', 'run_result', 'run_status', 'skill_check', 'task_get',
	'task_list'];

async function lists(c) {
	const { tools } = await c.listTools();
	const ajv = new Ajv();
	is('tools/list', tools.map((t) => t.name).sort(), names);
	for (const t of tools) {
		ok(`${t.name}: described`, t.description.length > 0);
		ok(`${t.name}: a schema of an object`,
		    t.inputSchema.type === 'object' &&
		    ajv.validateSchema(t.inputSchema), ajv.errorsText());
	}
	const run = ajv.compile(tools.find(
	    (t) => t.name === 'eval_run').inputSchema);
	is('the schema accepts the arguments of the tool',
	    [run({ path: hello, trials: 2 }), run({}), run({ path: 1 }),
	    run({ path: hello, trials: 0 })], [true, false, false, false]);
}

function call(c, name, args, options) {
	return c.callTool({ name, arguments: args }, undefined, options);
}

// the text is for clients that do not support structured content
function agrees(r) {
	return JSON.stringify(JSON.parse(r.content[0].text)) ===
	    JSON.stringify(r.structuredContent);
}

async function calls(c) {
	let r = await call(c, 'eval_list', { directory: 'examples/hello' });
	is('eval_list', [r.isError, r.structuredContent.evals[0].name],
	    [false, 'hello']);
	ok('text and value agree', agrees(r));
	r = await call(c, 'eval_validate', { path: hello });
	is('eval_validate', r.structuredContent.valid, true);
	r = await call(c, 'eval_validate',
	    { path: 'examples/broken/eval.yaml' });
	is('eval_validate of an invalid suite', [r.isError,
	    r.structuredContent.valid], [false, false]);
	r = await call(c, 'waza_eval_get', { path: hello });
	is('eval_get is also available under its other name', r.structuredContent.name, 'hello');
	r = await call(c, 'eval_run', { path: hello });
	is('eval_run waits for the end', [r.isError,
	    r.structuredContent.total, r.structuredContent.passed,
	    r.structuredContent.tasks[0].trials], [false, 1, 1, 3]);
	ok('eval_run: text and value agree', agrees(r));
	r = await call(c, 'run_list', {});
	is('run_list', r.structuredContent.runs.map((x) => x.status),
	    ['completed']);
}

// progress by the token that the SDK sends with onprogress
async function progress(c) {
	const heard = [];
	const r = await call(c, 'eval_run', { path: hello }, {
		onprogress: (p) => heard.push([p.progress, p.total]) });
	is('progress: from the start to the end', [heard[0], heard.at(-1)],
	    [[0, 3], [3, 3]]);
	ok('progress: it increases', heard.every(([n], i) =>
	    i === 0 || n > heard[i - 1][0]));
	ok('eval_run: its id', r.structuredContent.runId.startsWith('run-'));
	const s = await call(c, 'waza_run_status',
	    { run_id: r.structuredContent.runId });
	is('run_status of it', s.structuredContent.status, 'completed');
}

async function refusals(c) {
	let r = await call(c, 'eval_get', { path: 'nowhere' });
	is('a tool that fails', [r.isError, r.content[0].type],
	    [true, 'text']);
	ok('a tool that fails: the text has the reason', r.content[0].text.includes('not found'),
	    r.content[0].text);
	r = await call(c, 'eval_run', { path: 'examples/broken/eval.yaml' });
	is('a run of an invalid suite is an error', r.isError, true);
	r = await call(c, 'eval_get', {});
	is('a missing argument is an error', r.isError, true);
	await fails('an unknown tool', call(c, 'no_such_tool', {}), -32602,
	    'tool_unknown');
	await c.listPrompts().then(() => ok('prompts', false),
	    (e) => ok('prompts are not supported', true, e));
}

async function cancels(c) {
	const stop = new AbortController();
	const p = call(c, 'eval_run', { path: slow }, { signal: stop.signal });
	is('ping during a run', await c.ping(), {});
	stop.abort();
	await p.then(() => ok('the cancelled call does not return', false), () => undefined);
	let r;
	do
		r = await call(c, 'run_list', {});
	while (r.structuredContent.runs.some((x) => x.status === 'running'));
	is('cancelling a call cancels its run',
	    r.structuredContent.runs.at(-1).status, 'cancelled');
}

main(async () => {
	const t = new StdioClientTransport({ command: waza,
		args: ['jsonrpc'], stderr: 'pipe' });
	const c = new Client({ name: 'interop', version: '1.0.0' });
	const faults = [];
	c.onerror = (e) => faults.push(e.message);
	await c.connect(t);
	is('initialize', c.getServerVersion().name, 'waza');
	ok('the server has tools', c.getServerCapabilities().tools);
	is('ping', await c.ping(), {});
	await lists(c);
	await calls(c);
	await progress(c);
	await refusals(c);
	await cancels(c);
	is('the client reports no faults', faults, []);
	const { pid } = t;
	await c.close();
	let there = true;
	try {
		process.kill(pid, 0);
	} catch (e) {
		there = false;
	}
	is('the server exits with its client', there, false);
});
