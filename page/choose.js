// choose: the form that picks two runs of a suite to compare.
import { dim, field, go, h, plain, title, to } from './dom.js';
import { allRuns, inside, localRuns } from './store.js';
import { minute, percent } from './format.js';
import { empty } from './command.js';

const ANY = '*';	/* runs of different suites */

function label(run) {
	return [minute(run.startedAt), run.model || run.executor,
		percent(run.summary.passRate),
		run.source === 'window' ? run.path : run.runId]
		.filter(Boolean).join(' · ');
}

function options(runs, chosen, name) {
	return runs.map((r, i) => h('option', { value: r.runId,
		selected: i === chosen ? '' : null },
	name ? `${r.name} · ${label(r)}` : label(r)));
}

// Suites by their newest run; those with two runs first.
function suitesOf(runs) {
	return [...Map.groupBy(runs, (r) => r.name)].sort((a, b) =>
		(b[1].length > 1) - (a[1].length > 1));
}

function nothing() {
	return empty('Comparing needs two finished runs', 'Run a suite twice, ' +
	    'or drop two results files here. In a terminal:',
	'waza compare OLD.json NEW.json');
}

export async function choose(root, at) {
	const { runs } = await allRuns();
	const all = [...localRuns(), ...runs].filter((r) => r.summary);
	const suites = suitesOf(all);
	const a = h('select', { onchange: name }), b = h('select',
	    { onchange: name });
	const named = [h('span.mono'), h('span.mono')];
	const suite = h('select', { onchange: fill },
	    suites.filter(([, list]) => list.length > 1).map(([name, list]) =>
		h('option', { value: name }, `${name} (${list.length} runs)`)),
	    suites.length > 1 && h('option', { value: ANY },
		'Runs of different suites'));

	// The two newest: the older one is the baseline.
	function fill() {
		const some = suite.value === ANY ? all :
		    suites.find(([name]) => name === suite.value)[1];
		a.replaceChildren(...options(some, 1, suite.value === ANY));
		b.replaceChildren(...options(some, 0, suite.value === ANY));
		name();
	}

	// A phone cuts the text of a select.
	function name() {
		[a, b].forEach((select, i) => {
			const r = all.find((x) => x.runId === select.value);
			named[i].textContent = plain(r.source === 'window' ?
			    r.path : r.runId);
		});
	}

	function open(e) {
		e.preventDefault();
		go(to('compare', a.value, b.value));
	}

	root.append(title('Compare'));
	if (all.length < 2) {
		root.append(nothing());
		return { title: 'Compare' };
	}
	const wanted = at.query.get('suite');
	if (wanted && [...suite.options].some((o) => o.value === wanted))
		suite.value = wanted;
	fill();
	root.append(h('form.pair.panel', { onsubmit: open },
	    field('suite', 'Suite', suite, 'Suites with at least two finished runs.'),
	    field('run-a', [h('span.letter', 'A'), ' Baseline'], a, named[0]),
	    field('run-b', [h('span.letter', 'B'), ' New run'], b, named[1]),
	    h('p.row', h('button.main', 'Compare'), inside.length === 0 &&
		dim('Or select two runs in the list with ', h('kbd', 'x'),
		    ', then press ', h('kbd', 'c'), '.'))));
	return { title: 'Compare' };
}
