// agents: the lists of executors and models in the form for a new run.
import { field, h, plain } from './dom.js';

const OTHER = ' ';	/* a model that is not listed */
const groups = [['Ready', (e) => e.needs === 'nothing' || e.installed],
	['Configured by the suite', (e) => e.installed === undefined &&
	    e.needs !== 'nothing'],
	['Not installed here', (e) => e.installed === false]];
const needs = { __proto__: null,
	nothing: 'Built in.',
	command: 'Runs the command of the suite.',
	server: 'Calls the model server that the suite or the settings name.',
	program: 'Runs the agent’s own program.' };

function option(value, word, now) {
	return h('option', { value, selected: value === now ? '' : null }, word);
}

// executorField KNOWN NOW CHANGED: known is the server's list
export function executorField(known, now, changed) {
	const first = option('', '', now), help = h('span', { role: 'status' });
	const select = h('select', { onchange: () => {
		explain();
		changed();
	} }, first, groups.map(([label, fits]) => [label,
		known.executors.filter(fits)]).filter(([, list]) => list.length > 0)
		.map(([label, list]) => h('optgroup', { label },
		    list.map((e) => option(e.name, e.name, now)))));
	let own = '';

	function explain() {
		const e = known.executors.find((x) => x.name ===
		    (select.value || own));
		help.textContent = !e ? 'Produces the answers.' :
		    e.installed === false ? `Not installed: ${e.install}` :
			needs[e.needs];
	}

	explain();
	return { element: field('executor', 'Executor', select, help),
		value: () => select.value,
		usual(name) {
			own = known.executor || name;
			first.textContent = plain(`${own} (${known.executor ?
			    'server' : 'suite'})`);
			explain();
		} };
}

// modelField KNOWN RUNS NOW CHANGED: models of the settings and of earlier runs
export function modelField(known, runs, now, changed) {
	const select = h('select', { onchange: () => {
		other.hidden = select.value !== OTHER;
		if (!other.hidden)
			other.focus();
		changed();
	} });
	const other = h('input', { 'aria-label': 'Name of the model', value: now,
		hidden: true, autocomplete: 'off', spellcheck: 'false',
		placeholder: 'Name of the model', oninput: changed });
	let own = '', executor = null;

	function fill(keep) {
		const used = runs.filter((r) => !executor || r.executor === executor)
			.map((r) => r.model);
		const all = [...new Set([...used, ...known.models])]
			.filter((m) => m && m !== own).sort();
		if (keep && keep !== OTHER && keep !== own && !all.includes(keep))
			all.unshift(keep);
		select.replaceChildren(option('', own ? `${own} (suite)` :
		    'The executor’s default', keep), ...all.map((m) =>
			option(m, m, keep)), option(OTHER, 'Other …', keep));
	}

	fill(now);
	return { element: field('model', 'Model', select, 'From earlier runs ' +
	    'and the settings; ', h('code', 'waza models'), ' asks the executor.',
	other),
	value: () => select.value === OTHER ? other.value.trim() : select.value,
	of(name) {
		if (name === executor)
			return;
		executor = name;
		fill(select.value);
	},
	usual(name) {
		own = known.model || name || '';
		fill(select.value === own ? '' : select.value);
	} };
}
