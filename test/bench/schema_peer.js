// SPDX-License-Identifier: ISC
// ajv's compiled validators over the suite's documents, in one process.
// node schema_peer.js CASES.jsonl IDS RECORDS: writes the ids of the cases
// that it takes and judges as the suite does to IDS, and prints ns for a
// check, for a compilation, and for one of the records.
'use strict';
const fs = require('fs');
const Ajv7 = require('ajv').default;
const Ajv20 = require('ajv/dist/2020').default;

const [cases, ids, file] = process.argv.slice(2);
const groups = new Map();
for (const line of fs.readFileSync(cases, 'utf8').split('\n')) {
	if (line === '')
		continue;
	const c = JSON.parse(line);
	const key = c.draft + JSON.stringify(c.schema);
	if (!groups.has(key))
		groups.set(key, { draft: c.draft, schema: c.schema, cases: [] });
	groups.get(key).cases.push(c);
}

function compile(g) {
	const Ajv = g.draft === 'draft7' ? Ajv7 : Ajv20;
	const options = { strict: false, validateFormats: false, logger: false };
	return new Ajv(options).compile(g.schema);
}

const pairs = [], taken = [], used = [];
for (const g of groups.values()) {
	let validate;
	try {
		validate = compile(g);
	} catch (e) {
		continue;
	}
	used.push(g);
	for (const c of g.cases) {
		try {
			if (validate(c.data) !== c.valid)
				continue;
		} catch (e) {	// it overflows its stack now and then
			continue;
		}
		pairs.push([validate, c.data]);
		taken.push(c.id);
	}
}
fs.writeFileSync(ids, taken.join('\n') + '\n');

// ns of processor time, so that the neighbours' work does not count
function now() {
	const { user, system } = process.cpuUsage();
	return (user + system) * 1000;
}

// ns for one, in the best of ten rounds
function measure(count, fn) {
	let best = Infinity;
	for (let i = 0; i < 10; i++) {
		const t = now();
		let k = 0, d;
		do {
			fn();
			k++;
			d = now() - t;
		} while (d < 200000000);
		best = Math.min(best, d / k / count);
	}
	return best;
}

const check = measure(pairs.length, () => {
	for (const [validate, data] of pairs)
		validate(data);
});
let t = now();
for (const g of used)
	compile(g);
t = (now() - t) / used.length;

// the same as in schema_bench.c
const { schema, records } = JSON.parse(fs.readFileSync(file, 'utf8'));
const validate = compile({ draft: 'draft2020-12', schema });
if (!validate(records))
	throw new Error('the records are not valid');
const each = measure(records.length, () => validate(records));
console.log(check.toFixed(1), t.toFixed(0), each.toFixed(1));
