// /api/v1/openapi.json through a validator from npm; the answers of all paths without
// parameters have the described type.
'use strict';
const http = require('node:http');
const path = require('node:path');
const { pathToFileURL } = require('node:url');
const { is, main, ok, server } = require('./lib.js');

const get = (at) => new Promise((done, fail) => http.get(at, (res) => {
	let text = '';
	res.on('data', (b) => { text += b; });
	res.on('end', () => done({ status: res.statusCode, text,
	    type: res.headers['content-type'] }));
}).on('error', fail));

main(async () => {
	const { Validator } = await import(pathToFileURL(path.join(process.env.MODULES,
	    'node_modules/@seriousme/openapi-schema-validator/index.js')));
	const child = server('serve', '--http', '127.0.0.1:0');
	const at = await child.at;
	const doc = JSON.parse((await get(`${at}/api/v1/openapi.json`)).text);
	const validator = new Validator();
	const found = await validator.validate(structuredClone(doc));
	is('the document is valid', found.errors ?? [], []);
	is('as OpenAPI 3.1', [found.valid, validator.version], [true, '3.1']);
	const ids = Object.values(doc.paths).flatMap((p) => Object.values(p).map(
	    (o) => o.operationId));
	is('ids of operations are unique', new Set(ids).size, ids.length);
	for (const [p, item] of Object.entries(doc.paths)) {
		const need = (item.get?.parameters ?? []).some((x) => x.required);
		const [type, { schema }] = Object.entries(item.get?.responses[200]?.content ??
		    { none: {} })[0];
		if (!item.get || need || type === 'text/event-stream')
			continue;
		const answer = await get(at + p);
		is(`${p}: status and type`, [answer.status, answer.type.split(';')[0]], [200, type]);
		const value = type === 'application/json' ? JSON.parse(answer.text) : answer.text;
		is(`${p}: value`, Array.isArray(value) ? 'array' : typeof value, schema.type);
	}
	const wrong = JSON.parse((await get(`${at}/api/v1/runs/none`)).text);
	ok('an error has the described members', doc.components.schemas.Error.properties.error
	    .required.every((k) => k in wrong.error));
	child.kill();
	await child.gone;
});
