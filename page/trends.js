// trends: the pass rate of each suite over its runs, a line for each model.
import { allRuns, localRuns } from './store.js';
import { dim, h, slowly, title, to } from './dom.js';
import { exactly, percent, plural, points as change, runState, score,
	shortDay } from './format.js';
import { legendMark, lines } from './chart.js';
import { empty } from './command.js';
import { plainTable } from './table.js';

const LAST = 40, SUITES = 30;

const modelOf = (run) => run.model || run.executor || 'no model';

function point(run, series) {
	const { passRate: rate, score: s } = run.summary;
	return { rate, score: s, state: runState(run), run, series,
		day: shortDay(run.startedAt), href: to('run', run.runId),
		words: `${exactly(run.startedAt)}, ${modelOf(run)}: ` +
		    `${percent(rate)} passed, score ${score(s)}, ${runState(run)}` };
}

function numbers(points) {
	return h('details.more', h('summary', 'As a table'), h('div.scroll',
	    { tabindex: '0', role: 'group', 'aria-label': 'Runs as a table' },
	    plainTable(['When', 'Model', 'Pass rate', 'Score'],
		[...points].reverse().map((p) => [h('a', { href: p.href },
		    exactly(p.run.startedAt)), modelOf(p.run),
		percent(p.rate), score(p.score)]))));
}

// The lines with their newest value, and how much it has changed.
function legend(models, points) {
	return h('ul.legend', models.map((name, i) => {
		const own = points.filter((p) => p.series === i);
		const last = own[own.length - 1];
		return h('li', legendMark(i), name, ' ', h('b', percent(last.rate)),
		    own.length > 1 && dim(' ', change(last.rate - own[0].rate),
			`, ${plural(own.length, 'run')}`));
	}));
}

// A suite: the chart, and the same data as a table. Call draw() once the width
// is known.
function panel(name, runs) {
	const shown = runs.slice(0, LAST).reverse();
	const models = [...new Set(shown.map(modelOf))].sort();
	const points = shown.map((r) => point(r, models.indexOf(modelOf(r))));
	const first = points[0], last = points[points.length - 1];
	const text = `${name}: pass rate over ${plural(points.length, 'run')}, ` +
	    `from ${percent(first.rate)} to ${percent(last.rate)}; score from ` +
	    `${score(first.score)} to ${score(last.score)}`;
	const place = h('div.chart');
	return { draw() {
		place.replaceChildren(lines(points, place.clientWidth, text));
	}, element: h('section.panel', { 'aria-label': name },
	    h('h2', h('a', { href: `#/?suite=${encodeURIComponent(name)}` },
		name), ' ', h('small', models.length === 1 ?
		'pass rate, dashed: score' : 'pass rate')),
	    legend(models, points), place, numbers(points)) };
}

export async function showTrends(root, at) {
	let panels = [];
	const model = h('select', { 'aria-label': 'Model', onchange: () => {
		at.keep({ model: model.value });
		draw();
	} });
	const place = h('div.panels'), rest = h('div.dim');
	const key = h('p.dim.meta', 'Each point is a run; filled ones passed.');
	const runs = [...localRuns(), ...(await allRuns()).runs].filter(
	    (r) => r.summary && r.summary.total > 0 && r.status !== 'running');

	function note(all, some) {
		const once = all.filter(([, list]) => list.length === 1);
		return some.length === 0 ? empty('No suite has run more than once yet',
		    'A trend needs two runs of a suite. To run one again:',
		    `waza run --connect ${location.host} eval.yaml`) :
		    once.length > 0 ? `Run only once: ${once.map(([n]) => n)
			    .join(', ')}` : '';
	}

	function draw() {
		const all = [...Map.groupBy(runs.filter((r) => !model.value ||
		    r.model === model.value), (r) => r.name)];
		const some = all.filter(([, list]) => list.length > 1);
		panels = some.slice(0, SUITES).map(([n, list]) => panel(n, list));
		place.replaceChildren(...panels.map((p) => p.element));
		place.classList.toggle('alone', panels.length === 1);
		rest.replaceChildren(note(all, some));
		key.hidden = some.length === 0;
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
	root.append(h('div.title', h('div', title('Trends'), key),
	model.options.length > 2 && model), place, rest);
	const later = slowly(fit, 100), watch = new ResizeObserver(later);
	return { title: 'Trends', drawn: () => {
		draw();
		watch.observe(place);
	}, stop: () => {
		later.stop();
		watch.disconnect();
	} };
}
