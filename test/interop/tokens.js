// tokens: counts of `waza tokens --vocab` beside those of tiktoken, with the
// vocabularies of that package.
'use strict';
const { execFileSync } = require('node:child_process');
const fs = require('node:fs');
const path = require('node:path');
const { dir, is, load, main, ok, waza } = require('./lib.js');

// The package stores ranks as "! FIRST TOKEN TOKEN ..."; ours are a line each.
function vocabulary(name, ranks) {
	const file = path.join(dir, `${name}.tiktoken`);
	const lines = [];
	for (const line of ranks.split('\n')) {
		const [, first, ...tokens] = line.split(' ');
		tokens.forEach((t, i) => lines.push(`${t} ${Number(first) + i}\n`));
	}
	fs.writeFileSync(file, lines.join(''));
	return file;
}

// waza's counts of texts, by name
function count(vocab, texts) {
	const at = fs.mkdtempSync(path.join(dir, 'texts-'));
	for (const [name, text] of Object.entries(texts))
		fs.writeFileSync(path.join(at, `${name}.md`), text);
	const out = JSON.parse(execFileSync(waza, ['tokens', 'count', '--format',
	    'json', '--vocab', vocab, at], { cwd: dir }));
	const counts = {};
	for (const [file, n] of Object.entries(out.files))
		counts[path.basename(file, '.md')] = n.tokens;
	return counts;
}

// a generator of numbers below n, the same in each run
function random(seed) {
	let x = seed;
	return (n) => {
		x = (Math.imul(x, 1664525) + 1013904223) >>> 0;
		return Math.floor(x / 4294967296 * n);
	};
}

function made() {
	const next = random(7);
	const pick = (list) => list[next(list.length)];
	const many = (n, fn) => Array.from({ length: n }, fn).join('');
	const mixed = [...'aAzZ \'sS\n\r\t/.,!0129\u00a0\u0085\u2028\u3000\ufeffʰǅ中文ñÉ\u0301٣½🎉\u200d’\0'];
	return {
		mixed: many(50000, () => pick(mixed)),
		few: many(50000, () => pick([...'aA中\u0301 \'\nsS/1ǅ'])),
		letters: many(20000, () => pick([...'abcdefghijklmnopqrstuvwxyz '])),
		ascii: many(50000, () => String.fromCharCode(next(128))),
		unicode: many(50000, () => String.fromCodePoint(pick([next(0xd800),
		    0x10000 + next(0x20000), 0x3000 + next(0x4000)])))
		    .replace(/\p{Cn}/gu, '?'),
		bytes: Buffer.from(Array.from({ length: 100000 },
		    () => next(256))).toString('utf8'),
		runs: `${'a'.repeat(2000)} ${'ab'.repeat(1000)} ${'=-'.repeat(1000)}` +
		    `${'\n'.repeat(500)}${' '.repeat(2000)}x${'中A'.repeat(500)}`,
	};
}

// upstream's own values for o200k_base
const vectors = {
	'# V1': 3, '# Feature A': 3, 'this is reference content': 4,
	'# Feature B docs': 4, '# V2 with more content here': 7,
	'# Hello from branch A with extra content': 8,
	'# Hello from branch B with different and longer content added': 11,
	'# V3 is like V2 but has even more content': 12,
};

main(async () => {
	const { Tiktoken } = load('tiktoken/lite');
	const texts = made();
	for (const f of ['README.md', 'DESIGN.md', 'man/waza.1', 'json.h', 'lib/unicode.c'])
		texts[f.replace('/', '-')] = fs.readFileSync(f, 'utf8');
	for (const name of ['o200k_base', 'cl100k_base']) {
		const data = load(`tiktoken/encoders/${name}.json`);
		const peer = new Tiktoken(data.bpe_ranks, {}, data.pat_str);
		const vocab = vocabulary(name, data.bpe_ranks);
		const ours = count(vocab, texts);
		for (const [t, text] of Object.entries(texts))
			is(`${name}: ${t}`, ours[t], peer.encode(text, [], []).length);
		peer.free();
		if (name !== 'o200k_base')
			continue;
		const small = Object.keys(vectors);
		const got = count(vocab, Object.assign({}, small));
		small.forEach((t, i) => is(`${name}: ${t}`, got[i], vectors[t]));
		ok('every text was counted', Object.keys(ours).length ===
		    Object.keys(texts).length);
	}
});
