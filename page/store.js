// store: runs on the server, and files opened in this window, which are not
// sent to the server.
import { asRun, compare } from './results.js';
import { get, path } from './api.js';

const opened = new Map();	/* id -> { run, file } */
const CHUNK = 500, RUNS_MAX = 5000;

export function isLocal(id) {
	return id.startsWith('file:');
}

export async function openFile(file) {
	const id = `file:${opened.size + 1}`;
	try {
		const tree = JSON.parse(await file.text());
		opened.set(id, { file: tree, run: asRun(tree, id, file.name) });
	} catch (e) {
		throw new Error(`${file.name}: ${e.message}`);
	}
	return id;
}

function local(id) {
	if (!opened.has(id))
		throw new Error('This file is no longer open: the page was reloaded, or it ' +
		    'was opened in another window. Open it again.');
	return opened.get(id);
}

export function localRuns() {
	return [...opened.values()].map((o) => o.run).reverse();
}

// Newest first, at most RUNS_MAX.
export async function allRuns() {
	let runs = [], part;
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
	return isLocal(id) ? local(id).file.tasks.find((t) => t.test_id === task) :
	    get(path('runs', id, 'tasks', task));
}

export async function getResult(id) {
	return isLocal(id) ? local(id).file : get(path('runs', id, 'result'));
}

export async function getComparison(a, b, runA, runB) {
	return isLocal(a) || isLocal(b) ? compare(runA, runB) :
	    get(path('runs', a, 'compare', b));
}
