// compare: two runs side by side, and whether the change is significant.
import { badge, dim, h, icon, title, to } from './dom.js';
import { choose } from './choose.js';
import { getComparison, getRun } from './store.js';
import { cost, count, duration, exactly, few, percent, points, runState, score,
	signed, taskState } from './format.js';
import { interval } from './chart.js';
import { List } from './list.js';
import { tile } from './tile.js';

const verdicts = { better: 'passed', worse: 'failed', unclear: 'pending',
	too_few: 'pending' };

function side(letter, run) {
	const s = run.summary || {};
	return h('section.panel', h('h2', h('span.letter', letter), ' ',
	    h('a', { href: to('run', run.runId) }, run.name)),
	h('p', badge(runState(run)), ', ', h('b', percent(s.passRate)),
	    ' passed, score ', h('b', score(s.score))),
	h('p.dim', [run.model || run.executor, exactly(run.startedAt)]
		.filter(Boolean).join(' · ')),
	h('p.dim.mono', run.source === 'window' ? run.path : run.runId));
}

// The change of a number, with both values below it.
function change(label, a, b, show, by) {
	const d = typeof a === 'number' && typeof b === 'number' ? b - a : NaN;
	return tile(label, d === 0 ? 'unchanged' : by ? by(d) :
	    Number.isNaN(d) ? '–' :
	    `${d > 0 ? '+' : d < 0 ? '−' : ''}${show(Math.abs(d))}`,
	`${show(a)} → ${show(b)}`);
}

function significance(c) {
	const pair = (c.comparisons || [])[0], range = pair && pair.interval;
	const way = range && (range.lower > 0 ? 'up' : range.upper < 0 ? 'down' :
	    'dim');
	return h('section.panel', h('h2', 'Significance'),
	    h('p', c.verdict && icon(verdicts[c.verdict] || 'skipped'), ' ',
		c.summary[0].toUpperCase() + c.summary.slice(1)),
	    range && range.num_bootstraps > 0 && interval(pair.mean_delta,
		range.lower, range.upper, way, 'mean score change ' +
		`${signed(pair.mean_delta)}, 95 % interval ` +
		`${signed(range.lower)} to ${signed(range.upper)}`),
	    pair && h('p.dim', `${count(pair.improved)} better, ` +
		`${count(pair.worsened)} worse, ${count(pair.unchanged)} unchanged`),
	    c.warnings.map((w) => h('p.warning', w)));
}

// A bar to the left (worse) or right (better) of the zero line.
function tilt(d) {
	if (d === null)
		return dim('not in both');
	const part = h('span', { class: d > 0 ? 'passed' : 'failed' });
	part.style.width = `${Math.min(1, Math.abs(d)) * 50}%`;
	part.style[d > 0 ? 'left' : 'right'] = '50%';
	return [signed(d), h('span.tilt', part)];
}

function outcome(r, i) {
	const s = r.statuses[i];
	return r.scores[i] === null || r.scores[i] === undefined ?
	    dim(s === 'skipped' ? s : 'missing') :
	    [badge(taskState(s)), ' ', score(r.scores[i])];
}

const changed = (r) => r.flip || Math.abs(r.score_delta) > 1e-9;
const fixed = (r) => Boolean(r.flip) && !r.flip.startsWith('pass');
const broken = (r) => Boolean(r.flip) && r.flip.startsWith('pass');
const kinds = [['all', 'All'], ['changed', 'Changed', changed],
	['broken', 'Broken', broken], ['fixed', 'Fixed', fixed],
	['worse', 'Worse', (r) => r.score_delta < -1e-9],
	['better', 'Better', (r) => r.score_delta > 1e-9],
	['missing', 'Not in both', (r) => r.score_delta === null]];

// What changed in the tool calls of a task that got worse.
function calls(r) {
	const number = (d) => String(Math.round(d * 10) / 10);
	return (r.call_changes || []).map((c) => [c.what, c.name,
		`${number(c.from)} → ${number(c.to)}`].filter(Boolean).join(' '))
		.join(', ');
}

const columns = (href) => [
	{ id: 'name', label: 'Task', value: (r) => r.display_name,
		cell: (r) => [h('a', { href: href(r) }, r.display_name || r.task_id), ' ',
			r.display_name !== r.task_id && h('small', r.task_id),
			calls(r) && h('p.dim', `Per trial: ${calls(r)}`)] },
	{ id: 'a', label: 'A', tag: 'A', value: (r) => r.scores[0],
		cell: (r) => outcome(r, 0) },
	{ id: 'b', label: 'B', tag: 'B', value: (r) => r.scores[1],
		cell: (r) => outcome(r, 1) },
	{ id: 'flip', label: 'Flip', value: (r) => r.flip,
		cell: (r) => fixed(r) ? badge('passed', 'fixed') :
		    broken(r) && badge('failed', 'broken') },
	{ id: 'delta', label: 'Change', number: true,
		value: (r) => r.score_delta, show: tilt },
];

export async function showCompare(root, at) {
	const [, a, b] = at.parts;
	if (!b)
		return choose(root, at);
	const [runA, runB] = await Promise.all([getRun(a), getRun(b)]);
	const c = await getComparison(a, b, runA, runB), rows = c.task_deltas;
	const [x, y] = [runA.summary || {}, runB.summary || {}];
	const href = (r) => to('run', r.scores[1] === null ? a : b, 'task',
	    r.task_id);
	const list = new List({ at, title: 'Tasks', label: 'tasks',
		name: 'deltas', kinds, start: rows.some(changed) ? 'changed' : 'all',
		columns: columns(href), href, key: (r) => r.task_id,
		stamp: () => '', sort: 'delta', empty: 'No matching tasks.', order: 'Suite order',
		words: (r) => `${r.task_id} ${r.display_name}` });

	root.append(h('div.title', title('Compare'), h('p.row',
	    h('a.button', { href: to('compare', b, a) }, 'Swap'),
	    h('a.button', { href: runA.name === runB.name ?
		`#/compare?suite=${encodeURIComponent(runA.name)}` : '#/compare' }, 'Choose other runs'))),
	h('div.sides', side('A', runA), side('B', runB)),
	h('dl.tiles',
	    change('Pass rate', x.passRate, y.passRate, percent, points),
	    change('Score', x.score, y.score, score, signed),
	    change('Duration', runA.durationMs, runB.durationMs, duration),
	    change('Tokens', runA.tokens, runB.tokens, few),
	    change('Cost', runA.cost, runB.cost, cost)),
	significance(c), list.element);
	list.set(rows);
	return { title: `Compare: ${runA.name}`, table: list.table,
		search: list.search };
}
