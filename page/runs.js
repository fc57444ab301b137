// runs: the list of all runs.
import { badge, bar, button, dim, go, h, slowly, swap, title, to } from './dom.js';
import { cost, count, duration, few, parts, percent, plural, points,
	runState, score, tally, time, when } from './format.js';
import { allRuns, inside, localRuns } from './store.js';
import { empty } from './command.js';
import { List } from './list.js';
import { get, listen } from './api.js';
import { spark } from './chart.js';

const CARDS = 4, SPARK = 24, DRAW_MS = 250;

export function rateBar(s) {
	const p = parts(s), n = s.total || 1;
	return bar([['passed', p.passed / n], ['failed', p.failed / n],
		['error', p.errors / n]], tally(s));
}

function rate(run) {
	const { summary, progress: p } = run;
	if (summary && !p)
		return [h('span', percent(summary.passRate)), rateBar(summary)];
	return p ? [h('span', `${count(p.done)} / ${count(p.total)}`),
		bar([['running', p.done / (p.total || 1)]],
		    `${p.done} of ${p.total} tasks done`)] : '–';
}

// Runs of a report may have the same suite: their files distinguish them.
function origin(r) {
	return r.source !== 'window' || [r.name, r.model].includes(r.path) ?
	    r.skill !== r.name && r.skill :
	    inside.length > 0 ? r.path : 'opened file';
}

const columns = (marks) => [
	{ id: 'mark', label: 'Selected', quiet: true, cell: (r) => h('input', {
		type: 'checkbox', checked: marks.ids.includes(r.runId),
		'aria-label': `Select ${r.name}, ${when(r.startedAt)}, to compare`,
		onchange: () => marks.toggle(r.runId) }) },
	{ id: 'state', label: 'Status', value: runState, show: badge },
	{ id: 'name', label: 'Suite', value: (r) => r.name,
		cell: (r) => [h('a', { href: to('run', r.runId) }, r.name || r.runId), ' ',
			h('small', origin(r))] },
	{ id: 'model', label: 'Model', value: (r) => r.model || r.executor,
		cell: (r) => r.model || dim(r.executor) },
	{ id: 'rate', label: 'Pass rate', number: true,
		value: (r) => r.summary && r.summary.passRate, cell: rate },
	{ id: 'score', label: 'Score', tag: 'score', number: true,
		value: (r) => r.summary && r.summary.score, show: score },
	{ id: 'took', label: 'Duration', number: true,
		value: (r) => r.durationMs, show: duration },
	{ id: 'tokens', label: 'Tokens', number: true, value: (r) => r.tokens,
		show: few },
	{ id: 'cost', label: 'Cost', number: true, value: (r) => r.cost,
		show: cost },
	{ id: 'when', label: 'When', number: true,
		value: (r) => Date.parse(r.startedAt),
		cell: (r) => time(r.startedAt) },
];

// The two runs that were selected last, and the link to compare them.
class Marks {
	constructor(known, changed) {
		Object.assign(this, { ids: [], known, changed });
		this.element = h('p.marked', { hidden: true });
	}

	toggle(id) {
		this.ids = this.ids.includes(id) ? this.ids.filter((x) => x !== id) :
		    [...this.ids, id].slice(-2);
		this.changed();
	}

	// The older run is the baseline.
	href() {
		const at = (id) => Date.parse((this.known(id) || {}).startedAt);
		return this.ids.length === 2 && to('compare',
		    ...[...this.ids].sort((a, b) => at(a) - at(b)));
	}

	draw() {
		const href = this.href();
		this.element.hidden = this.ids.length === 0;
		this.element.replaceChildren(href ? 'Two runs selected.' :
		    'One run selected. Select another to compare them.',
		href ? h('a.button.main', { href }, 'Compare') : '');
	}
}

// A recently run suite and the trend of the model that ran last; runs of a
// report are not a trend.
function card(name, model, rates, chosen, choose) {
	const by = Math.round((rates[0] - rates[1]) * 1000) / 1000;
	return button([h('span', name, ' ', h('small', model)),
		h('b', percent(rates[0])),
		h('span', { class: by > 0 ? 'up' : by < 0 ? 'down' : 'dim' },
		    by === 0 ? 'unchanged' : `${by > 0 ? '▲' : '▼'} ${points(by).slice(1)}`),
		spark([...rates].reverse(), 'pass rates')], choose,
	{ class: 'card', 'aria-pressed': String(chosen) });
}

const is = (...states) => (r) => states.includes(runState(r));
const kinds = [['all', 'All'], ['passed', 'Passed', is('passed')],
	['failed', 'Failed', is('failed')], ['error', 'Errors', is('error')],
	['running', 'Running', is('running', 'pending')],
	['cancelled', 'Cancelled', is('cancelled')]];

export async function showRuns(root, at) {
	let total = 0, incomplete = false, suite = at.query.get('suite') || '', drawnSuites = '';
	let known = new Map();
	const cards = h('div.cards');
	const select = h('select', { 'aria-label': 'Suite',
		onchange: () => choose(select.value) });
	const marks = new Marks((id) => known.get(id), () => draw());
	const list = new List({ at, label: 'runs', name: 'runs', kinds, start: 'all',
		columns: columns(marks), more: select, sort: '-when',
		key: (r) => r.runId, href: (r) => to('run', r.runId),
		stamp: (r) => JSON.stringify([r, marks.ids.includes(r.runId)]),
		also: (r) => !suite || r.name === suite,
		words: (r) => [r.name, r.skill, r.model, r.executor, r.runId, r.path,
			runState(r)].join(' ') });
	const note = h('p.sum');
	const nothing = empty('No runs yet', 'Start one with New run, drop a ' +
	    'results file here, or run a suite on this server:',
	`waza run --connect ${location.host} eval.yaml`);

	function choose(name) {
		suite = name === suite ? '' : name;
		list.change({ suite });
		draw();
	}

	// Redraws only after changes, since the user may be choosing.
	function drawSuites(all) {
		const by = [...Map.groupBy(all, (r) => r.name)];
		const some = by.map(([name, runs]) => [name, runs[0].model,
			runs.filter((r) => r.summary && r.model === runs[0].model)
				.slice(0, SPARK).map((r) => r.summary.passRate)])
			.filter(([, , rates]) => rates.length > 1)
			.slice(0, inside.length > 0 ? 0 : CARDS);
		const drawn = JSON.stringify([suite, some, by.length]);
		if (drawn === drawnSuites)
			return;
		drawnSuites = drawn;
		cards.hidden = some.length === 0;
		swap(cards, ...some.map(([name, model, rates]) =>
			card(name, model, rates, name === suite, () => choose(name))));
		select.replaceChildren(h('option', { value: '' }, 'All suites'),
		    ...by.map(([n]) => n).sort().map((n) => h('option', { value: n }, n)));
		select.value = suite;
	}

	function draw() {
		const all = [...localRuns(), ...known.values()];
		note.hidden = total <= known.size && !incomplete;
		note.textContent = `Showing the newest ${count(known.size)} of ` +
		    `${plural(total, 'run')}.` + (incomplete ? ' The results ' +
		    'directory is too large to read: some runs are missing.' : '');
		list.table.empty = all.length > 0 ? 'No matching runs.' : nothing;
		list.toolbar.hidden = all.length === 0;
		drawSuites(all);
		marks.draw();
		list.set(all);
	}

	const later = slowly(draw, DRAW_MS);
	async function load() {
		const found = await allRuns();
		({ total, incomplete } = found);
		known = new Map(found.runs.map((r) => [r.runId, r]));
		draw();
	}

	function update(r) {
		if (!known.has(r.runId)) {
			known = new Map([[r.runId, r], ...known]);
			total++;
		}
		known.set(r.runId, r);
		later();
	}

	// Fetches runs that started after the list was loaded.
	async function catchUp(again) {
		if (again)
			await load();
		else
			(await get('runs?limit=50')).runs.reverse().forEach(update);
	}

	await load();
	root.append(h('div.hidden', title('Runs')), cards,
	    marks.element, list.element, note);
	const stop = inside.length > 0 ? () => undefined : listen('events',
	    { run: update }, { pauses: true,
		    opened: (again) => catchUp(again).catch(() => undefined) });
	return { title: 'Runs', table: list.table, search: list.search,
		keys: {
			x: () => list.table.current() &&
			    marks.toggle(list.table.current().runId),
			c: () => go(marks.href()),
		},
		stop: () => {
			later.stop();
			stop();
		} };
}
