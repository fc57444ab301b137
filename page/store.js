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
		const tree = JSON.parse(text), run = asRun(tree, id, name);
		const add = (arm, file, words) => {
			if (!file || !Array.isArray(file.tasks))
				return;
			const other = asRun(file, `${id}-${arm}`, `${name}, ${words}`);
			opened.set(other.runId, { file, run: other });
			(run.arms = run.arms || []).push({ words, id: other.runId,
				passRate: other.summary && other.summary.passRate });
		};
		const ref = tree.ref_outcome && tree.ref_outcome.config &&
		    tree.ref_outcome.config.skills_ref;
		// the older ones first, as everywhere
		add('baseline', tree.baseline_outcome, 'without skills');
		add('ref', tree.ref_outcome, `skills of ${ref ? ref.ref : 'a revision'}`);
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
	return { runs, total: part.total, incomplete: part.incomplete };
}

export async function getRun(id) {
	return isLocal(id) ? local(id).run : get(path('runs', id));
}

// The results of a cell, by the id in its file; null: they are not here.
export async function getCell(evalId) {
	const found = [...opened.values()].find((o) => o.file.eval_id === evalId);
	if (found || inside.length > 0)
		return found ? found.run : null;
	return get(path('runs', evalId)).catch(() => null);
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
