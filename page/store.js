// store: runs on the server, and files opened in this window, which are not
// sent to the server.
import { asRun, compare } from './results.js';
import { get, path } from './api.js';

const opened = new Map();	/* id -> { run, file } */
const CHUNK = 500, RUNS_MAX = 5000;

export function isLocal(id) {
	return id.startsWith('file:');
}

function openText(name, text) {
	const id = `file:${opened.size + 1}`;
	try {
		const tree = JSON.parse(text), base = tree && tree.baseline_outcome;
		const run = asRun(tree, id, name);
		// the older one first, as everywhere
		if (base && Array.isArray(base.tasks))
			opened.set(`${id}-baseline`, { file: base, run: asRun(base,
			    `${id}-baseline`, `${name}, without skills`) });
		opened.set(id, { file: tree, run });
	} catch (e) {
		throw new Error(`${name}: ${e.message}`);
	}
	return id;
}

export async function openFile(file) {
	return openText(file.name, await file.text());
}

/*
 * A report is this page as one document, with results inside and without a
 * server. The ids of its runs; empty: there is a server.
 */
export const inside = [...document.querySelectorAll('script.results')].map(
    (el) => openText(el.dataset.name, el.textContent));

function local(id) {
	if (!opened.has(id))
		throw new Error('This file is no longer open: the page was reloaded, or it ' +
		    'was opened in another window. Open it again.');
	return opened.get(id);
}

export function countLocal() {
	return opened.size;
}

export function localRuns() {
	return [...opened.values()].map((o) => o.run).reverse();
}

// Newest first, at most RUNS_MAX.
export async function allRuns() {
	let runs = [], part;
	if (inside.length > 0)
		return { runs, total: 0 };
	do {
		part = await get(`runs?limit=${CHUNK}&offset=${runs.length}`);
		runs = runs.concat(part.runs);
	} while (part.runs.length > 0 && runs.length < part.total &&
	    runs.length < RUNS_MAX);
	return { runs, total: part.total };
}

export async function getRun(id) {
	return isLocal(id) ? local(id).run : get(path('runs', id));
}

export async function getTask(id, task) {
	if (!isLocal(id))
		return get(path('runs', id, 'tasks', task));
	const found = local(id).file.tasks.find((t) => t.test_id === task);
	if (!found)
		throw new Error(`This run has no task "${task}".`);
	return found;
}

export async function getResult(id) {
	return isLocal(id) ? local(id).file : get(path('runs', id, 'result'));
}

export async function getComparison(a, b, runA, runB) {
	return isLocal(a) || isLocal(b) ? compare(runA, runB) :
	    get(path('runs', a, 'compare', b));
}
