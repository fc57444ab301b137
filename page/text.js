// text: output of agents, graders and programs. Diffs are highlighted; very
// long texts are shortened until the user asks for the rest.
import { h, plain } from './dom.js';
import { count } from './format.js';

const LONG = 100000;

export function pre(text, name) {
	const all = plain(text);
	const box = h('pre', { class: name || 'text', tabindex: '0' },
	    all.slice(0, LONG));
	if (all.length <= LONG)
		return box;
	const more = h('button', { type: 'button', onclick: () => {
		box.textContent = all;
		more.remove();
	} }, `Show all (${count(all.length)} characters)`);
	return h('div', box, more);
}

// A value as JSON, without null and empty members.
export function value(v) {
	return pre(typeof v === 'string' ? v :
	    JSON.stringify(v, (k, x) => x === null || x === '' ? undefined : x, 2));
}

const kinds = [['+++ ', 'file'], ['--- ', 'file'], ['@@', 'hunk'], ['+', 'add'],
	['-', 'del'], ['\\', 'note']];

function diffLine(line, i) {
	// file names are only in the first two lines
	const kind = kinds.find(([start, name]) => line.startsWith(start) &&
	    (name !== 'file' || i < 2));
	return h('span', { class: kind ? kind[1] : 'same' }, `${line}\n`);
}

function diff(lines) {
	const all = lines.slice(0, 5000);
	return h('pre.diff', { tabindex: '0',
		'aria-label': 'Diff' }, all.map(diffLine),
	lines.length > all.length &&
	    h('span.note', `… ${lines.length - all.length} more\n`));
}

// The number of lines of a unified diff that starts at line i, or 0.
function diffLength(lines, i) {
	let k = i + 2, hunk = false;
	if (!lines[i].startsWith('--- ') || !(lines[i + 1] || '').startsWith('+++ '))
		return 0;
	for (; k < lines.length; k++)
		if (lines[k].startsWith('@@'))
			hunk = true;
		else if (!hunk || !/^[ +\\-]|^$/.test(lines[k]) ||
		    (lines[k].startsWith('--- ') &&
		    (lines[k + 1] || '').startsWith('+++ ')))
			break;
	return hunk ? k - i : 0;
}

// One file of a patch: its name, the number of lines, the diff or the reason
// why there is none.
function patchFile(part, open) {
	const [head, ...rest] = part.replace(/\n$/, '').split('\n');
	const at = rest.findIndex((l) => l.startsWith('--- '));
	const body = at < 0 ? [] : rest.slice(at), words = at < 0 ? rest :
		rest.slice(0, at);
	const n = (sign) => body.slice(2).filter((l) => l[0] === sign).length;
	return h('details.patch', { open }, h('summary',
	    h('code', head.replace(/^diff --git a\/.* b\//, '')), ' ',
	    body.length > 0 && h('small', h('span.passed', `+${count(n('+'))}`),
		' ', h('span.failed', `−${count(n('-'))}`))),
	words.length > 0 && h('p.dim.meta', words.join(' · ')),
	body.length > 0 && diff(body));
}

// patch TEXT: the files of a patch in the format of git
export function patch(text) {
	const parts = plain(text).split(/^(?=diff --git )/m);
	return parts.slice(0, 300).map((p) => patchFile(p, parts.length <= 5));
}

// Text with its diffs highlighted.
export function rich(text) {
	const lines = plain(text).split('\n'), out = [];
	let words = [];
	const flush = () => {
		const t = words.join('\n').trim();
		if (t)
			out.push(h('p.feedback', t.slice(0, LONG)));
		words = [];
	};

	for (let i = 0; i < lines.length;) {
		const n = diffLength(lines, i);
		if (n > 0) {
			flush();
			out.push(diff(lines.slice(i, i + n)));
		} else
			words.push(lines[i]);
		i += n || 1;
	}
	flush();
	return out;
}
