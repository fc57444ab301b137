// trends: pass rate and score of each suite over its runs.
import { allRuns, localRuns } from './store.js';
import { dim, h, slowly, title, to } from './dom.js';
import { exactly, percent, plural, points as change, runState, score,
	when } from './format.js';
import { lines } from './chart.js';
import { plainTable } from './table.js';

const LAST = 40, SUITES = 30;

function point(run) {
	const { passRate: rate, score: s } = run.summary;
	return { rate, score: s, state: runState(run), run,
		when: when(run.startedAt), href: to('run', run.runId),
		words: `${exactly(run.startedAt)}: ${percent(rate)} passed, score ` +
		    `${score(s)}${run.model ? `, ${run.model}` : ''}` };
}

function numbers(points) {
	return h('details.more', h('summary', 'As a table'), h('div.scroll',
	    plainTable(['When', 'Model', 'Pass rate', 'Score'],
		[...points].reverse().map((p) => [h('a', { href: p.href },
		    exactly(p.run.startedAt)), p.run.model || p.run.executor,
		percent(p.rate), score(p.score)]))));
}

// A suite: its latest numbers, the chart, and the same data as a table. Call
// draw() once the width is known.
function panel(name, runs) {
	const points = runs.slice(0, LAST).reverse().map(point);
	const first = points[0], last = points[points.length - 1];
	const text = `${name}: pass rate over ${plural(points.length, 'run')}, ` +
	    `from ${percent(first.rate)} to ${percent(last.rate)}; score from ` +
	    `${score(first.score)} to ${score(last.score)}`;
	const place = h('div.chart');
	return { draw() {
		place.replaceChildren(lines(points, place.clientWidth, text));
	}, element: h('section.panel', { 'aria-label': name },
	    h('h2', h('a', { href: `#/?suite=${encodeURIComponent(name)}` },
		name)),
	    h('p', h('b', percent(last.rate)), ' passed, score ',
		h('b', score(last.score)), dim(`, ${change(last.rate -
		    first.rate)} over ${plural(points.length, 'run')}`)),
	    place, numbers(points)) };
}

export async function showTrends(root, at) {
	let panels = [];
	const model = h('select', { 'aria-label': 'Model', onchange: () => {
		at.keep({ model: model.value });
		draw();
	} });
	const place = h('div.panels'), rest = h('p.dim');
	const runs = [...localRuns(), ...(await allRuns()).runs].filter(
	    (r) => r.summary && r.summary.total > 0 && r.status !== 'running');

	function draw() {
		const all = [...Map.groupBy(runs.filter((r) => !model.value ||
		    r.model === model.value), (r) => r.name)];
		const some = all.filter(([, list]) => list.length > 1);
		panels = some.slice(0, SUITES).map(([n, list]) => panel(n, list));
		place.replaceChildren(...panels.map((p) => p.element));
		rest.textContent = some.length === 0 ?
		    'No suite has run more than once yet.' :
		    all.length > some.length ? `Run only once: ${all.filter(
			([, list]) => list.length === 1).map(([n]) => n).join(', ')}` : '';
		fit();
	}

	function fit() {
		for (const p of panels)
			p.draw();
	}

	runs.sort((a, b) => Date.parse(b.startedAt) - Date.parse(a.startedAt));
	model.append(h('option', { value: '' }, 'All models'),
	    ...[...new Set(runs.map((r) => r.model).filter(Boolean))].sort().map(
		(m) => h('option', { value: m }, m)));
	model.value = at.query.get('model') || '';
	root.append(h('div.title', title('Trends'),
	    h('p.legend', h('span.key', 'pass rate'),
		h('span.key.score', 'score')), model), place, rest);
	const later = slowly(fit, 100), watch = new ResizeObserver(later);
	return { title: 'Trends', drawn: () => {
		draw();
		watch.observe(place);
	}, stop: () => {
		later.stop();
		watch.disconnect();
	} };
}
