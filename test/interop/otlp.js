// The traces of `waza run --otlp`, in a file and over HTTP, against the protobuf
// definitions of OTLP as @opentelemetry/otlp-transformer has them: every member is
// known and has the type of the JSON mapping.  Names of attributes are those of the
// semantic conventions.
'use strict';
const { execFile, execFileSync } = require('node:child_process');
const fs = require('node:fs');
const http = require('node:http');
const path = require('node:path');
const { dir, is, load, main, ok, waza } = require('./lib.js');
const root = load('@opentelemetry/otlp-transformer/build/src/generated/root.js');
const names = new Set(Object.values(
    load('@opentelemetry/semantic-conventions/incubating')).filter(
    (v) => typeof v === 'string'));
const { trace, logs } = root.opentelemetry.proto.collector;
const types = { resourceSpans: trace.v1.ExportTraceServiceRequest,
    resourceLogs: logs.v1.ExportLogsServiceRequest };
const suite = path.join(dir, 'eval.yaml');
fs.writeFileSync(suite, `name: traced
skill: s
config: {executor: mock, trials_per_task: 2, mock: {output: the answer,
  tool_calls: [{name: bash, arguments: {command: ls}}]}}
graders: [{type: regex, name: n, config: {must_match: [nothing]}}]
tasks: [{id: a, prompt: p, expected: {output_contains: [answer]}}]
`);

// ids are hexadecimal in OTLP, base64 in other protobuf JSON
const hex = (v) => Array.isArray(v) ? v.map(hex) : v === null || typeof v !== 'object' ? v :
    Object.fromEntries(Object.entries(v).map(([k, x]) =>
	[k, /^(traceId|spanId|parentSpanId)$/.test(k) ? Buffer.from(x, 'hex') : hex(x)]));
const back = (v) => Buffer.isBuffer(v) || v instanceof Uint8Array ?
    Buffer.from(v).toString('hex') : Array.isArray(v) ? v.map(back) :
    v === null || typeof v !== 'object' ? v :
    Object.fromEntries(Object.entries(v).map(([k, x]) => [k, back(x)]));

// through the wire format and back: an unknown member or a wrong type differs
function check(name, text) {
	const json = JSON.parse(text);
	const type = types[Object.keys(json)[0]];
	const message = type.fromObject(hex(json));
	is(`${name}: no member has a wrong type`, type.verify(message), null);
	const again = type.toObject(type.decode(type.encode(message).finish()),
	    { longs: String, enums: Number });
	is(`${name}: nothing is lost on the wire`, back(again), json);
	return json;
}

function* keys(v) {
	if (v === null || typeof v !== 'object')
		return;
	if (typeof v.key === 'string' && v.value)
		yield v.key;
	for (const x of Object.values(v))
		yield* keys(x);
}

main(async () => {
	const file = path.join(dir, 't.jsonl');
	try {
		execFileSync(waza, ['run', suite, '-q', '--no-results', '--otlp', file,
		    '--otlp-payloads'], { stdio: 'ignore' });
	} catch (e) {
		is('the run has failed tasks', e.status, 1);
	}
	const lines = fs.readFileSync(file, 'utf8').trim().split('\n');
	ok('there are spans and events', lines.length >= 2);
	const used = new Set();
	lines.forEach((l, i) => {
		for (const k of keys(check(`line ${i + 1}`, l)))
			used.add(k);
	});
	is('attributes are ours or of the conventions',
	    [...used].filter((k) => !k.startsWith('waza.') && !names.has(k)), []);

	const got = [];
	const server = http.createServer((req, res) => {
		let text = '';
		req.on('data', (b) => { text += b; });
		req.on('end', () => {
			got.push([req.url, text]);
			res.setHeader('Content-Type', 'application/json');
			res.end('{}');
		});
	});
	await new Promise((done) => server.listen(0, '127.0.0.1', done));
	await new Promise((done) => execFile(waza, ['run', suite, '-q', '--no-results', '--otlp',
	    `http://127.0.0.1:${server.address().port}`], done));
	server.close();
	is('a server gets both signals', [...new Set(got.map((g) => g[0]))].sort(),
	    ['/v1/logs', '/v1/traces']);
	for (const [url, text] of got)
		check(url, text);
});
