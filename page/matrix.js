// matrix: the cells of a run with several executors, models or skills: their
// results, a table of tasks and cells, and the comparisons of all pairs.
import { badge, dim, h, icon, to } from './dom.js';
import { count, duration, percent, plural, score, taskState } from './format.js';
import { getCell } from './store.js';
import { plainTable } from './table.js';

const TASKS = 500;
const meaning = { __proto__: null, better: 'passed', worse: 'failed' };

const list = (v) => Array.isArray(v) ? v : [];

// A cell whose results cannot be opened is not a link.
function link(cell, run, here) {
	return run && run.runId !== here ?
	    h('a', { href: to('run', run.runId) }, cell.name) :
	    run ? h('b', cell.name) : cell.name;
}

function cellTable(cells, runs, here) {
	return h('div.scroll', plainTable(['Cell', 'Passed', 'Pass rate', 'Score',
		'Duration'], cells.map((c, i) => [link(c, runs[i], here),
		`${count(c.passed)}/${count(c.tasks)}`,
		c.complete === false ? dim('not finished') : percent(c.pass_rate),
		score(c.score), duration(c.duration_ms)])));
}

function result(run, id, known) {
	const t = known.get(id);
	return !t ? dim('–') : h('a', { href: to('run', run.runId, 'task', id),
		'aria-label': `${id}: ${taskState(t.status)}, ${score(t.score)}` },
	badge(taskState(t.status), score(t.score)));
}

function taskTable(cells, runs) {
	const tasks = runs.map((r) => new Map(list(r && r.tasks).map((t) =>
		[t.id, t])));
	const ids = [...new Set(tasks.flatMap((m) => [...m.keys()]))];
	return ids.length > 0 && h('div.scroll',
	    plainTable(['Task', ...cells.map((c) => c.name)],
		ids.slice(0, TASKS).map((id) => [id, ...runs.map((r, i) =>
			result(r, id, tasks[i]))])),
	    ids.length > TASKS &&
		h('p', dim(`and ${plural(ids.length - TASKS, 'more task')}`)));
}

function pairs(m) {
	const all = list(m.comparisons);
	return all.length > 0 && [h('ul.plain', all.map((c) => h('li',
	    icon(meaning[c.verdict] || 'skipped'), ' ', h('b', c.cell), ' vs ',
	    h('b', c.than), ': ', c.summary))),
	m.tasks_left_out > 0 && h('p.dim', plural(m.tasks_left_out, 'task') +
	    ' with errors of the infrastructure, a grader or a judge: not ' +
	    'compared there.'),
	all.length > 1 && h('p.dim', 'p values are corrected for ' +
	    `${count(all.length)} comparisons (Holm).`)];
}

// matrix M ID: a section of the run; M may be missing
export function matrix(m, id) {
	const cells = m && typeof m === 'object' ? list(m.cells) : [];
	if (cells.length < 2)
		return null;
	const box = h('section.panel', h('h2', 'Matrix'));
	const draw = (runs) => box.replaceChildren(...[h('h2', 'Matrix'),
		cellTable(cells, runs, id), taskTable(cells, runs), pairs(m)].flat()
		.filter(Boolean));
	draw(cells.map(() => null));
	Promise.all(cells.map((c) => getCell(c.eval_id))).then(draw);
	return box;
}
